// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See watched.h. The segment is compared with how it was an instruction before;
// what a reader may find then is what it was before the call that the writer is
// in, or what it is after: nothing between, nothing less.

#include "watched.h"

#include "readers.h"
#include "stepped.h"

#include "libtelemetry/attach.h"
#include "libtelemetry/publish/publisher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cmocka.h>

#define BASES 4	 // how many calls ago a reader may have begun
#define SLOTS_WATCHED 64

// One run that is watched.
struct watch {
	struct proof_script *script;
	const struct proof_plan *plan;
	struct proof_sum *sum;
	struct proof_stage *stage;
	struct proof_stepped stepped;
	uint8_t *seen;	       // the segment as it was last
	uint8_t *bases[BASES]; // as it was some calls ago, in turn
	struct proof_found *found, *followed, *glanced;
	struct tele_source *follower;
	struct tele_attach *recorder, *glancer; // as those do that take blocks, or the latest row only
	uint64_t kept_end;		       // after the last block that the recorder took
	bool is_handed_over;		       // the last change was of a chunk's epoch or header
	uint64_t first_before;
	uint64_t opening_words; // that attaching reads
};

static struct proof_stage *stage_of_child; // NULL where nobody is stepped

static void around(struct proof_script *script, bool is_after)
{
	(void)script;
	if (is_after) {
		stage_of_child->n_calls++;
		stage_of_child->is_watched = 0;
		return;
	}
	stage_of_child->is_watched = 1;
	proof_stepped_pause();
}

// Encoding is most of the instructions and touches private memory only: where
// not all are stepped, it runs at full speed, and the watcher sees that the
// segment is as before. The linker puts these in the place of the real ones.
static bool leave_stepping(void)
{
	if (!stage_of_child || !stage_of_child->skips_encoding || !stage_of_child->is_watched)
		return false;
	stage_of_child->is_inside = 1;
	stage_of_child->is_watched = 0;
	return true;
}

static void enter_stepping(void)
{
	stage_of_child->is_watched = 1;
	proof_stepped_pause();
	stage_of_child->is_inside = 0;
}

int64_t __real_tele_block_encode(const struct tele_block_input *input, void *scratch, size_t scratch_bytes,
				 uint8_t *out, size_t capacity);
int64_t __wrap_tele_block_encode(const struct tele_block_input *input, void *scratch, size_t scratch_bytes,
				 uint8_t *out, size_t capacity);
size_t __real_tele_codec_encode(struct tele_codec *codec, const uint64_t *row, uint8_t *out);
size_t __wrap_tele_codec_encode(struct tele_codec *codec, const uint64_t *row, uint8_t *out);

int64_t __wrap_tele_block_encode(const struct tele_block_input *input, void *scratch, size_t scratch_bytes,
				 uint8_t *out, size_t capacity)
{
	bool is_left = leave_stepping();
	int64_t n_bytes = __real_tele_block_encode(input, scratch, scratch_bytes, out, capacity);
	if (is_left)
		enter_stepping();
	return n_bytes;
}

size_t __wrap_tele_codec_encode(struct tele_codec *codec, const uint64_t *row, uint8_t *out)
{
	bool is_left = leave_stepping();
	size_t n_bytes = __real_tele_codec_encode(codec, row, out);
	if (is_left)
		enter_stepping();
	return n_bytes;
}

static void write_watched(void *context)
{
	struct watch *watch = context;
	stage_of_child = watch->stage;
	watch->script->around = around;
	proof_script_run(watch->script, watch->plan->n_publishes, watch->plan->seal_every);
}

// ---- What changed --------------------------------------------------------------------

// Brings `seen` up to date within [offset, offset + n_bytes). True when it was not.
static bool catch_up(struct watch *watch, uint64_t offset, size_t n_bytes)
{
	const uint8_t *now = watch->script->ring->file.bytes;
	if (memcmp(now + offset, watch->seen + offset, n_bytes) == 0)
		return false;
	memcpy(watch->seen + offset, now + offset, n_bytes);
	return true;
}

static bool has_changed(struct watch *watch)
{
	const struct tele_layout *layout = &watch->script->ring->file.layout;
	watch->is_handed_over = false;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t chunk = layout->chunk_offset + i * layout->chunk_bytes;
		watch->is_handed_over |= catch_up(watch, chunk + 8 * TELE_CHUNK_EPOCH, 8);
		watch->is_handed_over |= catch_up(watch, chunk + 8 * TELE_CHUNK_FIRST_SEQ, 24);
	}
	bool changed = watch->is_handed_over;
	changed |= catch_up(watch, layout->control_offset, 8 * (TELE_CONTROL_DRAINED + 1));
	changed |= catch_up(watch, layout->chunk_offset, 2 * layout->chunk_bytes);
	for (unsigned i = 0; i < 2; i++)
		changed |= catch_up(watch, layout->latest_offset + i * layout->latest_slot_bytes, 4096);
	for (uint64_t i = 0; i < SLOTS_WATCHED; i++)
		changed |= catch_up(watch, layout->slots_offset + i * layout->slot_bytes, 1024);
	changed |= catch_up(watch, layout->schema_offset, layout->schema_capacity_bytes / 2);
	changed |= catch_up(watch, layout->ring_offset, layout->ring_bytes);
	return changed;
}

static uint64_t control_of(const struct watch *watch, enum tele_control word)
{
	const struct tele_layout *layout = &watch->script->ring->file.layout;
	return ((const uint64_t *)(const void *)(watch->seen + layout->control_offset))[word];
}

// ---- Readers ----------------------------------------------------------------------------

static uint64_t told_of_dead(const struct proof_facts *facts)
{
	return facts->n_records + 2 * (facts->n_claimed - facts->n_drained);
}

// As if the writer had been killed here.
static const char *read_dead(struct watch *watch)
{
	const struct proof_facts *facts = &watch->script->after[watch->stage->n_calls];
	struct proof_found *found = watch->found;
	struct proof_served served = {.before = watch->seen, .after = watch->seen, .is_dead = true};
	memset(found, 0, offsetof(struct proof_found, row));
	found->n_sure = facts->n_records;
	const char *wrong = proof_read(watch->script, &served, found, watch->glanced, false);
	watch->sum->n_reads++;
	if (wrong)
		return wrong;
	uint64_t last = found->next_seq ? found->next_seq - 1 : 0;
	if (last != told_of_dead(&facts[0]) && last != told_of_dead(&facts[1]))
		return last < told_of_dead(&facts[0]) ? "a committed record lost" : "a record from nowhere";
	if (found->n_lost)
		return "a gap";
	if (found->next_ticket && found->next_ticket != facts[0].n_claimed &&
	    found->next_ticket != facts[1].n_claimed)
		return "the last boundary lost";
	if (watch->glanced->last_row_seq != found->last_row_seq ||
	    memcmp(watch->glanced->row, found->row, 8 * watch->glanced->n_fields) != 0)
		return "another latest row";
	if (control_of(watch, TELE_CONTROL_HEAD) == 0 && last && found->first_seq != 1)
		return "the oldest record lost";
	uint64_t in_ring = control_of(watch, TELE_CONTROL_TAIL) - control_of(watch, TELE_CONTROL_HEAD);
	if (control_of(watch, TELE_CONTROL_HEAD) && in_ring < watch->script->ring->file.layout.ring_bytes / 4)
		return "more of the history lost than need be";
	if (found->first_seq < watch->first_before)
		return "history that was lost before";
	watch->first_before = found->first_seq;
	return NULL;
}

// Beside a living writer, from the first state on.
static const char *read_on(struct watch *watch)
{
	const struct proof_facts *facts = &watch->script->after[watch->stage->n_calls];
	struct proof_served served = {.before = watch->seen, .after = watch->seen};
	watch->followed->n_sure = UINT64_MAX;
	proof_serve(&served);
	const char *wrong = proof_listen(watch->script, watch->follower, watch->followed);
	proof_serve(NULL);
	if (wrong)
		return wrong;
	if (watch->followed->n_lost)
		return "a record lost beside the writer";
	uint64_t last = watch->followed->next_seq ? watch->followed->next_seq - 1 : 0;
	if (last != facts[0].n_records && last != facts[1].n_records)
		return "not all that was committed";
	return NULL;
}

// The first record of the open chunk: all before it is sealed.
static uint64_t open_since(const struct watch *watch)
{
	const struct tele_layout *layout = &watch->script->ring->file.layout;
	const uint64_t *chunks[2];
	for (unsigned i = 0; i < 2; i++)
		chunks[i] = (const uint64_t *)(const void *)(watch->seen + layout->chunk_offset + i * layout->chunk_bytes);
	return chunks[chunks[1][TELE_CHUNK_EPOCH] > chunks[0][TELE_CHUNK_EPOCH]][TELE_CHUNK_FIRST_SEQ];
}

// A recorder that wants sealed blocks alone, beside a living writer.
static const char *read_blocks(struct watch *watch)
{
	const uint8_t *block;
	size_t n_bytes;
	bool is_provisional;
	uint64_t from, to;
	struct tele_block_header header;
	struct proof_served served = {.before = watch->seen, .after = watch->seen};
	int got;
	proof_serve(&served);
	while ((got = tele_attach_next_block(watch->recorder, false, &block, &n_bytes, &is_provisional, &from, &to,
					     NULL)) > 0) {
		if (tele_block_check(block, n_bytes, &header) < 0)
			return "a torn block";
		if (watch->kept_end && header.first_seq != watch->kept_end)
			return "a block lost beside the writer";
		watch->kept_end = header.first_seq + header.n_rows + header.n_events;
	}
	proof_serve(NULL);
	if (open_since(watch) > watch->kept_end)
		return "a sealed block that does not come";
	return got < 0 ? "an error" : NULL;
}

// The latest row, by readers that began some calls ago and were stopped before
// their i-th read.
static const char *glance_late(struct watch *watch)
{
	const char *wrong = NULL;
	for (unsigned b = 0; b < BASES && !wrong; b++) {
		struct proof_served served = {.before = watch->bases[b], .after = watch->seen, .by_call = true};
		for (uint64_t i = 0; i < 5 && !wrong; i++) {
			uint32_t n_fields;
			served.switch_at = i;
			served.calls = served.words = 0;
			watch->glanced->last_row_seq = 0;
			proof_serve(&served);
			if (tele_attach_latest(watch->glancer, watch->glanced->row, TELE_FIELDS_MAX, &n_fields,
					       &watch->glanced->last_row_seq, NULL) == 0)
				watch->glanced->n_fields = n_fields;
			proof_serve(NULL);
			wrong = proof_check_latest(watch->script, watch->glanced);
		}
	}
	return wrong;
}

// What is open, likewise: stopped before each read, or at each word.
static const char *read_late(struct watch *watch, bool by_call)
{
	for (unsigned b = 0; b < BASES; b++) {
		struct proof_served served = {.before = watch->bases[b], .after = watch->seen, .by_call = by_call};
		// Up to the control page nothing is open yet.
		uint64_t i = by_call ? 2 : watch->opening_words;
		for (uint64_t end = UINT64_MAX; i < end; i++) {
			served.switch_at = i;
			served.calls = served.words = 0;
			memset(watch->found, 0, offsetof(struct proof_found, row));
			watch->found->n_sure = UINT64_MAX;
			const char *wrong = proof_read(watch->script, &served, watch->found, watch->glanced, true);
			if (!wrong)
				wrong = proof_check_latest(watch->script, watch->glanced);
			watch->sum->n_reads++;
			watch->sum->n_torn++;
			if (wrong)
				return wrong;
			end = by_call ? served.calls : served.words;
		}
	}
	return NULL;
}

static void check(struct watch *watch)
{
	struct proof_sum *sum = watch->sum;
	sum->n_states++;
	const char *wrong = read_dead(watch);
	if (!wrong)
		wrong = read_on(watch);
	if (!wrong)
		wrong = read_blocks(watch);
	if (!wrong)
		wrong = glance_late(watch);
	if (!wrong && sum->n_states % watch->plan->stride == 0)
		wrong = read_late(watch, true);
	if (!wrong && watch->is_handed_over && watch->plan->stops_at_words)
		wrong = read_late(watch, false);
	if (!wrong)
		return;
	sum->wrong = wrong;
	sum->at_call = watch->stage->n_calls;
	sum->at_state = sum->n_states;
}

// ---- The writer stopped at every instruction -----------------------------------------------

static void open_watch(struct watch *watch)
{
	const struct proof_plan *plan = watch->plan;
	struct proof_script *truth = proof_script_new(plan->n_before, plan->is_noisy);
	proof_script_run(truth, plan->n_publishes, plan->seal_every);
	watch->script = proof_script_new(plan->n_before, plan->is_noisy);
	struct tele_segment_file *file = &watch->script->ring->file;
	size_t bytes = file->layout.segment_bytes;
	watch->stage = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(watch->stage != MAP_FAILED);
	watch->stage->skips_encoding = !plan->is_whole;
	watch->seen = malloc(bytes);
	watch->found = calloc(1, sizeof(*watch->found));
	watch->followed = calloc(1, sizeof(*watch->followed));
	watch->glanced = calloc(1, sizeof(*watch->glanced));
	assert_true(watch->seen && watch->found && watch->followed && watch->glanced);
	memcpy(watch->seen, file->bytes, bytes);
	for (unsigned i = 0; i < BASES; i++) {
		watch->bases[i] = malloc(bytes);
		assert_non_null(watch->bases[i]);
		memcpy(watch->bases[i], file->bytes, bytes);
	}
	proof_serve_init(&watch->script->ring->identity, &file->layout);
	madvise(file->bytes, bytes, MADV_DOFORK);
	madvise(watch->script->ring->ring.memory, watch->script->ring->ring.memory_bytes, MADV_DOFORK);
	assert_true(proof_stepped_start(&watch->stepped, write_watched, watch));
	proof_script_learn(watch->script, truth);
	proof_script_free(truth);
}

static void close_watch(struct watch *watch)
{
	proof_serve(NULL);
	tele_source_close(watch->follower);
	tele_attach_close(watch->recorder);
	tele_attach_close(watch->glancer);
	proof_stepped_kill(&watch->stepped);
	munmap(watch->stage, 4096);
	for (unsigned i = 0; i < BASES; i++)
		free(watch->bases[i]);
	free(watch->seen);
	free(watch->found);
	free(watch->followed);
	free(watch->glanced);
	proof_script_free(watch->script);
}

static void start_readers(struct watch *watch)
{
	struct tele_attach *attach;
	const char *path = watch->script->ring->file.path;
	struct proof_served served = {.before = watch->seen, .after = watch->seen};
	proof_serve(&served);
	assert_int_equal(tele_attach_open(path, &attach, NULL), 0);
	assert_int_equal(tele_ring_source_open(attach, false, &watch->follower, NULL), 0);
	assert_int_equal(tele_attach_open(path, &watch->recorder, NULL), 0);
	served.words = 0;
	assert_int_equal(tele_attach_open(path, &watch->glancer, NULL), 0);
	watch->opening_words = served.words;
	watch->kept_end = control_of(watch, TELE_CONTROL_TAIL) == 0; // the first, or whichever
	proof_serve(NULL);
}

void proof_kill(const struct proof_plan *plan, struct proof_sum *sum)
{
	struct watch watch = {.plan = plan, .sum = sum};
	int status;
	open_watch(&watch);
	start_readers(&watch);
	check(&watch);
	while (!sum->wrong && proof_stepped_run(&watch.stepped, &status)) {
		size_t bytes = watch.script->ring->file.layout.segment_bytes;
		// Between two calls the test itself stores.
		if (has_changed(&watch) && watch.stage->is_inside)
			sum->wrong = "the encoder stored into the segment";
		if (!watch.stage->is_inside)
			memcpy(watch.bases[watch.stage->n_calls % BASES], watch.seen, bytes);
		while (!sum->wrong && watch.stage->is_watched) {
			assert_true(proof_stepped_step(&watch.stepped));
			if (has_changed(&watch))
				check(&watch);
		}
		if (!sum->wrong && !watch.stage->is_inside && memcmp(watch.script->ring->file.bytes + 4096, watch.seen + 4096, bytes - 4096) != 0)
			sum->wrong = "a store where nobody watched";
	}
	sum->n_steps += watch.stepped.n_steps;
	if (!sum->wrong) {
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		watch.stepped.pid = 0;
		assert_true(watch.stage->n_calls == watch.script->n_calls);
	}
	close_watch(&watch);
}
