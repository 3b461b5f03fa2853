// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See script.h. Rows and events follow from their numbers (ring_fixture.h);
// those that a boundary made follow from its ticket, too.

#include "script.h"

#include "mutants.h"

#include "libtelemetry/publish/process.h"
#include "libtelemetry/publish/publisher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FILL_TEXT "boundary"

// ---- The publisher of this program: only what slots.c asks of it ------------------

static uint64_t ticks;

bool tele_publisher_is_active(void)
{
	return true;
}

void tele_ask_drain(void)
{
}

uint64_t rollcall_clock_ns(void)
{
	return ++ticks * 1024 + (UINT64_C(1) << 44);
}

// ---- The writer ------------------------------------------------------------------

static void note_call(struct proof_script *script, uint64_t n_claimed, uint64_t n_drained)
{
	struct proof_facts *now = &script->after[script->n_calls];
	assert_true(script->n_calls < PROOF_CALLS_MAX);
	now[1] = (struct proof_facts){
		.n_records = script->ring->n_records,
		.n_claimed = now->n_claimed + n_claimed,
		.n_drained = now->n_drained + n_drained,
	};
	script->n_calls++;
}

static struct proof_script *owner_of_ring; // of the fixture's hook

static void around_ring(struct test_ring *ring, bool is_after)
{
	struct proof_script *script = owner_of_ring;
	if (script->ring != ring)
		return;
	if (is_after)
		note_call(script, 0, 0);
	if (script->around)
		script->around(script, is_after);
}

static uint64_t boundary_value(uint64_t ticket, uint32_t i)
{
	return (ticket * 64 + i + 1) * 1024;
}

static void claim(struct proof_script *script)
{
	struct tele_slot slot;
	uint64_t ticket = script->after[script->n_calls].n_claimed;
	uint32_t n_values = tele_builtin_sections[TELE_SECTION_CENSUS].n_fields;
	if (script->around)
		script->around(script, false);
	assert_int_equal(tele_slot_claim(&slot, TELE_EVENT_MARK, ticket, ticket * 3, FILL_TEXT), 0);
	uint64_t *values = tele_slot_section(&slot, TELE_SECTION_CENSUS, TELE_NO_INSTANCE, n_values);
	bool is_early = proof_get_mutant() == PROOF_SLOT_MARKED_EARLY;
	if (is_early)
		tele_slot_publish(&slot);
	for (uint32_t i = 0; i < n_values; i++)
		values[i] = boundary_value(ticket, i);
	if (!is_early)
		tele_slot_publish(&slot);
	note_call(script, 1, 0);
	if (script->around)
		script->around(script, true);
}

// As tele_sampler_drain does it, for one slot.
static void drain(struct proof_script *script)
{
	struct test_ring *ring = script->ring;
	const uint64_t *slot = tele_slots_front();
	if (!slot)
		return;
	uint32_t first = tele_builtin_sections[TELE_SECTION_CENSUS].first_id;
	uint32_t n_values = tele_builtin_sections[TELE_SECTION_CENSUS].n_fields;
	uint32_t ticket = (uint32_t)tele_slots_drained();
	struct tele_event event = {
		.at_ns = slot[TELE_SLOT_AT],
		.subject = slot[TELE_SLOT_SUBJECT],
		.value = slot[TELE_SLOT_VALUE],
		.type = (uint32_t)slot[TELE_SLOT_TYPE],
	};
	uint64_t seq = ring->n_records + 2;
	for (uint32_t f = 0; f < ring->plan.n_fields; f++)
		ring->row[f] = test_ring_value(ring, seq, f);
	memcpy(ring->row + first, slot + TELE_SLOT_PARTS + 1, 8 * (size_t)n_values);
	ring->n_records += 2;
	script->ticket_of[seq] = script->ticket_of[seq - 1] = ticket + 1;
	ring->n_fields_of[seq] = (uint16_t)ring->plan.n_fields;
	test_ring_commit(ring, &(struct tele_commit){
				       .event = &event,
				       .text = (const char *)(slot + TELE_SLOT_TEXT),
				       .text_len = slot[TELE_SLOT_TEXT_LEN],
				       .row = ring->row,
				       .drained = ticket + (proof_get_mutant() != PROOF_DRAINED_LATE),
			       });
	script->after[script->n_calls].n_drained++;
	if (script->around)
		script->around(script, false);
	tele_slots_pop();
	note_call(script, 0, 0);
	if (script->around)
		script->around(script, true);
}

static void seal(struct proof_script *script)
{
	around_ring(script->ring, false);
	tele_ring_seal(&script->ring->ring);
	around_ring(script->ring, true);
}

struct proof_script *proof_script_new(uint64_t n_before, bool is_noisy)
{
	struct proof_script *script = calloc(1, sizeof(*script));
	assert_non_null(script);
	script->ring = test_ring_new(TELE_RING_BYTES_MIN, false);
	script->ring->is_noisy = is_noisy;
	test_ring_steps(script->ring, n_before);
	script->after[0].n_records = script->ring->n_records;
	return script;
}

void proof_script_free(struct proof_script *script)
{
	tele_slots_detach();
	test_ring_free(script->ring);
	free(script);
}

void proof_script_run(struct proof_script *script, uint64_t n_publishes, uint64_t seal_every)
{
	struct test_ring *ring = script->ring;
	ticks = 0;
	owner_of_ring = script;
	ring->around = around_ring;
	tele_slots_attach(ring->file.bytes + ring->file.layout.control_offset,
			  ring->file.bytes + ring->file.layout.slots_offset);
	for (uint64_t i = 0; i < n_publishes; i++) {
		test_ring_steps(ring, 1);
		if (i % 5 == 1 || i % 5 == 2)
			claim(script);
		if (i % 5 == 4) {
			drain(script);
			drain(script);
		}
		if (i % 41 == 13)
			test_ring_grow(ring, i % 82 == 13);
		if (seal_every && i % seal_every == seal_every - 1)
			seal(script);
	}
	ring->around = NULL;
}

void proof_script_learn(struct proof_script *script, const struct proof_script *from)
{
	struct test_ring *ring = script->ring;
	memcpy(script->after, from->after, sizeof(script->after));
	memcpy(script->ticket_of, from->ticket_of, sizeof(script->ticket_of));
	script->n_calls = from->n_calls;
	memcpy(ring->n_fields_of, from->ring->n_fields_of, sizeof(ring->n_fields_of));
	memcpy(ring->string_fields, from->ring->string_fields, sizeof(ring->string_fields));
	ring->n_string_fields = from->ring->n_string_fields;
	ring->plan = from->ring->plan;
	ring->n_records = from->ring->n_records;
}

// ---- The reader --------------------------------------------------------------------

static const char *take_event(const struct proof_script *script, struct proof_found *found,
			      const struct tele_record *record)
{
	const struct tele_event *event = &record->event;
	const char *text = tele_instance_string(record->instance, event->string_id);
	found->at_boundary = text && strcmp(text, FILL_TEXT) == 0;
	if (!found->at_boundary)
		return test_ring_is_right(script->ring, record) ? NULL : "a wrong event";
	uint64_t ticket = event->subject;
	if (event->type != TELE_EVENT_MARK || event->value != ticket * 3)
		return "a wrong boundary";
	if (record->seq <= found->n_sure && script->ticket_of[record->seq] != ticket + 1)
		return "another boundary";
	if (found->next_ticket && ticket != found->next_ticket)
		return ticket < found->next_ticket ? "a boundary told twice" : "a boundary lost";
	found->next_ticket = ticket + 1;
	return NULL;
}

// The census is the boundary's; all else is of the row's number, or, from a slot
// that nobody drained, as in the row before.
static bool is_boundary_row(const struct proof_script *script, const struct proof_found *found,
			    const struct tele_record *record, bool is_slot)
{
	uint32_t first = tele_builtin_sections[TELE_SECTION_CENSUS].first_id;
	uint32_t n_values = tele_builtin_sections[TELE_SECTION_CENSUS].n_fields;
	uint64_t ticket = is_slot ? found->next_ticket - 1 : script->ticket_of[record->seq] - UINT64_C(1);
	if (!is_slot && record->n_fields != script->ring->n_fields_of[record->seq])
		return false;
	for (uint32_t f = is_slot ? 1 : 0; f < record->n_fields; f++) {
		uint64_t expected = is_slot ? (f < found->n_fields ? found->row[f] : TELE_UNKNOWN) :
					      test_ring_value(script->ring, record->seq, f);
		if (f >= first && f < first + n_values)
			expected = boundary_value(ticket, f - first);
		else if (is_slot && !found->last_row_seq)
			continue; // the row before is not in the history any more
		if (record->row[f] != expected)
			return false;
	}
	return true;
}

static const char *take_row(const struct proof_script *script, struct proof_found *found,
			    const struct tele_record *record)
{
	bool is_right;
	if (record->n_fields > record->instance->schema->n_fields)
		return "a row longer than its schema";
	bool may_be_slot = found->at_boundary && record->seq > found->n_sure;
	if (script->ticket_of[record->seq])
		is_right = is_boundary_row(script, found, record, false);
	else
		is_right = test_ring_is_right(script->ring, record);
	if (!is_right && may_be_slot)
		is_right = is_boundary_row(script, found, record, true);
	found->at_boundary = false;
	found->last_row_seq = record->seq;
	found->n_fields = record->n_fields;
	memcpy(found->row, record->row, 8 * (size_t)record->n_fields);
	return is_right ? NULL : "a wrong row";
}

const char *proof_take(const struct proof_script *script, struct proof_found *found,
		       const struct tele_record *record)
{
	if (record->kind == TELE_RECORD_SCHEMA)
		found->n_schemas++;
	if (record->kind == TELE_RECORD_GAP) {
		if (found->next_seq && record->gap_from != found->next_seq)
			return "a gap from elsewhere";
		if (!found->first_seq)
			found->first_seq = record->gap_from;
		found->n_lost += record->gap_to - record->gap_from;
		found->next_seq = found->gap_end = record->gap_to;
		found->next_ticket = 0; // those in the gap are unknown
		if (record->instance->lost != found->n_lost)
			return "another number of lost records";
	}
	if (record->kind != TELE_RECORD_ROW && record->kind != TELE_RECORD_EVENT)
		return NULL;
	if (!found->n_schemas)
		return "a record before its schema";
	if (found->next_seq && record->seq != found->next_seq)
		return "a record out of order";
	if (!found->first_seq)
		found->first_seq = record->seq;
	found->next_seq = record->seq + 1;
	found->n_records++;
	return record->kind == TELE_RECORD_ROW ? take_row(script, found, record) :
						 take_event(script, found, record);
}

const char *proof_listen(const struct proof_script *script, struct tele_source *source,
			 struct proof_found *found)
{
	struct tele_record record;
	struct tele_error error = {0};
	int more;
	while ((more = tele_source_next(source, &record, &error)) > 0) {
		const char *wrong = proof_take(script, found, &record);
		if (wrong)
			return wrong;
	}
	return more < 0 ? "an error" : NULL;
}
