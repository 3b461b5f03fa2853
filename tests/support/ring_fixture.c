// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See ring_fixture.h.

#include "ring_fixture.h"

#include "libtelemetry/publish/process.h"
#include "libtelemetry/publish/publisher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define MARK_TEXT_BYTES 200

static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ x >> 32;
}

static uint64_t at_of(uint64_t seq)
{
	return (seq + 1000) * 1024 * 977;
}

static bool is_string_field(const struct test_ring *self, uint32_t field)
{
	for (uint32_t i = 0; i < self->n_string_fields; i++)
		if (self->string_fields[i] == field)
			return true;
	return false;
}

static uint64_t value_of(const struct test_ring *self, uint64_t seq, uint32_t field)
{
	uint64_t value;
	if (field == 0)
		return at_of(seq);
	if (is_string_field(self, field))
		return seq % 6 ? 1 + (seq / 50 + field) % 5 : TELE_UNKNOWN;
	if (self->is_noisy)
		value = mixed(seq * 4096 + field);
	else if (field % 4 == 0)
		value = seq * field * 1024;
	else if (field % 7 == 0)
		value = seq * field % 5 ? field : TELE_UNKNOWN;
	else
		value = field % 3 ? 0 : TELE_UNKNOWN;
	uint64_t mask = (UINT64_C(1) << self->plan.fields[field].shift) - 1;
	return value == TELE_UNKNOWN ? value : value & ~mask;
}

static const char *name_of(uint64_t id, size_t *ret_len)
{
	static const char *const names[] = {"zero", "one", "two", "three", "four", "five"};
	if (id == 0 || id > 5)
		return NULL;
	*ret_len = strlen(names[id]);
	return names[id];
}

// The text of an event, or an empty one. Two events share each.
static size_t mark_of(const struct test_ring *self, uint64_t seq, char text[MARK_TEXT_BYTES + 1])
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-";
	if (!self->is_noisy)
		return seq % 3 ? (size_t)snprintf(text, MARK_TEXT_BYTES, "mark %llu",
						  (unsigned long long)(seq / 40)) :
				 0;
	for (uint32_t i = 0; i < MARK_TEXT_BYTES; i++)
		text[i] = digits[mixed(seq * 256 + i) % 64];
	return MARK_TEXT_BYTES;
}

static struct tele_event event_of(uint64_t seq)
{
	return (struct tele_event){
		.at_ns = at_of(seq),
		.subject = seq / 3,
		.value = seq % 4 ? seq : TELE_UNKNOWN,
		.type = TELE_EVENT_MARK,
	};
}

struct test_ring *test_ring_new_in(const char *parent, size_t ring_bytes, bool is_dead)
{
	const char *what = "";
	static const struct tele_settings settings = {.label = "ring", .period_ns = 1000000};
	struct test_ring *self = calloc(1, sizeof(*self));
	assert_non_null(self);
	assert_true(test_folder_make(parent, self->directory));
	assert_int_equal(tele_schema_write_start(&self->writer, self->schema, sizeof(self->schema),
						 &self->plan), 0);
	for (uint32_t id = 0; id < self->plan.n_fields; id++)
		if (tele_builtin_fields[id].unit == TELE_STRING)
			self->string_fields[self->n_string_fields++] = id;
	tele_identity_of_self(&settings, tele_random_id(), 0, &self->identity);
	if (is_dead)
		self->identity.start_ticks = 1;
	// The descriptors of this program are nobody else's.
	tele_has_own_table = true;
	if (tele_segment_create(&self->identity, self->directory, ring_bytes, self->schema,
				self->writer.used_bytes, &self->file, &what) != 0)
		fail_msg("cannot %s in %s", what, self->directory);
	assert_int_equal(tele_ring_init(&self->ring, &self->file, &self->plan,
					self->identity.instance_id, (uint32_t)self->writer.used_bytes), 0);
	tele_ring_set_texts(&self->ring, name_of, self->string_fields, &self->n_string_fields);
	tele_ring_control(&self->ring, TELE_CONTROL_STATE, TELE_LIVE);
	return self;
}

struct test_ring *test_ring_new(size_t ring_bytes, bool is_dead)
{
	return test_ring_new_in(test_folder_of_segments(), ring_bytes, is_dead);
}

void test_ring_free(struct test_ring *self)
{
	tele_ring_fini(&self->ring);
	munmap(self->file.bytes, self->file.layout.segment_bytes);
	close(self->file.fd);
	unlink(self->file.path);
	assert_int_equal(test_folder_remove(self->directory), 0);
	free(self);
}

void test_ring_commit(struct test_ring *self, const struct tele_commit *commit)
{
	if (self->around)
		self->around(self, false);
	assert_int_equal(tele_ring_commit(&self->ring, commit), 0);
	if (self->around)
		self->around(self, true);
}

uint64_t test_ring_value(const struct test_ring *self, uint64_t seq, uint32_t field)
{
	return value_of(self, seq, field);
}

static void step(struct test_ring *self)
{
	static char text[MARK_TEXT_BYTES + 1];
	uint64_t kind = self->n_steps++ % 10;
	struct tele_commit commit = {.drained = self->ring.drained};
	struct tele_event event;
	assert_true(self->n_records + 2 < TEST_RING_RECORDS_MAX);
	if (kind == 3 || kind == 7) {
		uint64_t seq = ++self->n_records;
		event = event_of(seq);
		commit.event = &event;
		commit.text = text;
		commit.text_len = mark_of(self, seq, text);
	}
	if (kind != 7) {
		uint64_t seq = ++self->n_records;
		for (uint32_t f = 0; f < self->plan.n_fields; f++)
			self->row[f] = value_of(self, seq, f);
		self->n_fields_of[seq] = (uint16_t)self->plan.n_fields;
		commit.row = self->row;
	}
	test_ring_commit(self, &commit);
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	tele_ring_control(&self->ring, TELE_CONTROL_HEARTBEAT,
			  (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
}

void test_ring_steps(struct test_ring *self, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		step(self);
}

void test_ring_grow(struct test_ring *self, bool with_device)
{
	char name[32];
	if (with_device) {
		int64_t position = tele_schema_write_instance(&self->writer, TELE_SECTION_DEVICE,
							      self->n_devices, UINT32_MAX);
		assert_true(position > 0);
		for (uint32_t i = 0; i < tele_builtin_sections[TELE_SECTION_DEVICE].n_fields; i++)
			if (tele_builtin_fields[tele_builtin_sections[TELE_SECTION_DEVICE].first_id + i].unit ==
			    TELE_STRING)
				self->string_fields[self->n_string_fields++] = (uint32_t)position + i;
		self->n_devices++;
	} else {
		snprintf(name, sizeof(name), "gauge_%u", self->n_apps++);
		assert_true(tele_schema_write_app(&self->writer, name, TELE_GAUGE, TELE_COUNT) > 0);
	}
	if (self->around)
		self->around(self, false);
	tele_ring_grow(&self->ring, self->schema, (uint32_t)self->writer.used_bytes);
	if (self->around)
		self->around(self, true);
}

uint32_t test_ring_fields_of(const struct test_ring *self, uint64_t seq)
{
	return self->n_fields_of[seq];
}

static bool is_row_right(const struct test_ring *self, const struct tele_record *record)
{
	if (record->n_fields != self->n_fields_of[record->seq])
		return false;
	for (uint32_t f = 0; f < record->n_fields; f++) {
		if (record->row[f] != value_of(self, record->seq, f))
			return false;
		size_t len;
		if (!is_string_field(self, f) || record->row[f] == TELE_UNKNOWN)
			continue;
		const char *found = tele_instance_string(record->instance, record->row[f]);
		if (!found || strcmp(found, name_of(record->row[f], &len)) != 0)
			return false;
	}
	return true;
}

bool test_ring_is_right(const struct test_ring *self, const struct tele_record *record)
{
	static char text[MARK_TEXT_BYTES + 1];
	if (record->seq == 0 || record->seq > self->n_records ||
	    record->instance->identity.instance_id != self->identity.instance_id)
		return false;
	if (record->kind == TELE_RECORD_ROW)
		return is_row_right(self, record);
	struct tele_event expected = event_of(record->seq);
	const struct tele_event *event = &record->event;
	size_t len = mark_of(self, record->seq, text);
	const char *found = tele_instance_string(record->instance, event->string_id);
	bool is_text_right = len ? found && strlen(found) == len && memcmp(found, text, len) == 0 :
				   event->string_id == 0;
	return record->kind == TELE_RECORD_EVENT && self->n_fields_of[record->seq] == 0 &&
	       event->seq == record->seq && event->at_ns == expected.at_ns &&
	       event->subject == expected.subject && event->value == expected.value &&
	       event->type == expected.type && is_text_right;
}

void test_ring_claim(struct test_ring *self, const char *text, bool with_part, bool is_filled)
{
	uint64_t *control = (uint64_t *)(void *)(self->file.bytes + self->file.layout.control_offset);
	uint64_t ticket = control[TELE_CONTROL_CLAIMED]++;
	uint64_t *slot = (uint64_t *)(void *)(self->file.bytes + self->file.layout.slots_offset +
					      ticket % TELE_SLOTS * TELE_SLOT_BYTES);
	if (!is_filled)
		return;
	size_t used = TELE_SLOT_PARTS;
	slot[TELE_SLOT_THREAD] = (uint64_t)gettid();
	slot[TELE_SLOT_AT] = at_of(1000000 + ticket);
	slot[TELE_SLOT_SUBJECT] = ticket;
	slot[TELE_SLOT_VALUE] = TELE_UNKNOWN;
	slot[TELE_SLOT_TEXT_LEN] = strlen(text);
	memcpy(slot + TELE_SLOT_TEXT, text, strlen(text));
	if (with_part) {
		uint32_t n_values = tele_builtin_sections[TELE_SECTION_CENSUS].n_fields;
		slot[used++] = TELE_SECTION_CENSUS | (uint64_t)n_values << 16 |
			       (uint64_t)TELE_NO_INSTANCE << 32;
		for (uint32_t i = 0; i < n_values; i++)
			slot[used++] = ticket * 1024 + i * 1024;
	}
	slot[TELE_SLOT_TYPE] = TELE_EVENT_MARK | (uint64_t)used << 32;
	slot[TELE_SLOT_FILLED] = ticket + 1;
}
