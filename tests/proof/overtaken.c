// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See watched.h. A reader is told one segment up to some word and another one
// from there on, as when the writer goes on between two of its loads; and, as the
// words of one read may come in any order, from the other end of each read, too.

#include "watched.h"

#include "readers.h"
#include "stepped.h"

#include "libtelemetry/attach.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cmocka.h>

static const char *read_across(const struct proof_script *script, struct proof_served *served,
			       struct proof_found *found, struct proof_found *latest, uint64_t oldest_seq)
{
	uint64_t n_records = script->ring->n_records;
	served->words = served->calls = 0;
	memset(found, 0, offsetof(struct proof_found, row));
	found->n_sure = UINT64_MAX;
	const char *wrong = proof_read(script, served, found, latest, false);
	if (!wrong)
		wrong = proof_check_latest(script, latest);
	if (wrong)
		return wrong;
	if (found->next_seq != n_records + 1)
		return "not all that was published";
	if (found->n_records + found->n_lost != n_records - found->first_seq + 1)
		return "received and gaps are not what was published";
	if (found->gap_end > oldest_seq)
		return "records lost that nobody overwrote";
	return NULL;
}

void proof_overtake(const struct proof_plan *plan, struct proof_sum *sum)
{
	struct proof_script *script = proof_script_new(plan->n_before, plan->is_noisy);
	struct proof_found *found = calloc(1, sizeof(*found));
	struct proof_found *latest = calloc(1, sizeof(*latest));
	size_t bytes = script->ring->file.layout.segment_bytes;
	uint8_t *before = malloc(bytes);
	uint8_t *after = malloc(bytes);
	assert_true(found && latest && before && after);
	proof_serve_init(&script->ring->identity, &script->ring->file.layout);
	memcpy(before, script->ring->file.bytes, bytes);
	proof_script_run(script, plan->n_publishes, plan->seal_every);
	memcpy(after, script->ring->file.bytes, bytes);
	struct proof_served served = {.before = after, .after = after};
	sum->wrong = read_across(script, &served, found, latest, UINT64_MAX);
	uint64_t oldest_seq = found->first_seq;
	served.before = before;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t n_words = UINT64_MAX;
		served.is_descending = i;
		for (uint64_t word = 0; word < n_words && !sum->wrong; word += plan->stride) {
			served.switch_at = word;
			sum->wrong = read_across(script, &served, found, latest, oldest_seq);
			sum->at_state = word;
			n_words = served.words;
			sum->n_reads++;
			sum->n_torn += word && word < n_words;
		}
	}
	free(before);
	free(after);
	free(found);
	free(latest);
	proof_script_free(script);
}

void proof_exit_between(struct proof_sum *sum)
{
	struct tele_attach *attach;
	struct tele_source *source;
	struct proof_script *script = proof_script_new(20, false);
	struct proof_found *found = calloc(1, sizeof(*found));
	size_t bytes = script->ring->file.layout.segment_bytes;
	uint8_t *before = malloc(bytes);
	assert_true(found && before);
	proof_serve_init(&script->ring->identity, &script->ring->file.layout);
	memcpy(before, script->ring->file.bytes, bytes);
	proof_script_run(script, 23, 0);
	tele_ring_control(&script->ring->ring, TELE_CONTROL_STATE, TELE_EXITED);
	struct proof_served served = {
		.before = before,
		.after = script->ring->file.bytes,
		.is_dead = true,
		.by_call = true,
		.switch_at = 2, // the header, the control page, then the process is gone
	};
	found->n_sure = script->ring->n_records;
	proof_serve(&served);
	assert_int_equal(tele_attach_open(script->ring->file.path, &attach, NULL), 0);
	if (tele_attach_instance(attach)->state != TELE_EXITED)
		sum->wrong = "killed, it is said of a process that exited";
	assert_int_equal(tele_ring_source_open(attach, false, &source, NULL), 0);
	const char *wrong = proof_listen(script, source, found);
	const struct proof_facts *end = &script->after[script->n_calls];
	if (!wrong && (end->n_claimed == end->n_drained || found->next_ticket != end->n_claimed))
		wrong = "a boundary lost";
	sum->wrong = sum->wrong ? sum->wrong : wrong;
	tele_source_close(source);
	proof_serve(NULL);
	free(before);
	free(found);
	proof_script_free(script);
}

// ---- The reader stopped at an instruction -------------------------------------------------

// Shared with the reader's process.
struct lap {
	struct proof_stage stage;
	struct proof_script *script;
	struct proof_found found, latest;
	char wrong[64];
};

static void read_stepped(void *context)
{
	struct lap *lap = context;
	struct proof_found *found = &lap->found;
	lap->stage.is_watched = 1;
	proof_stepped_pause();
	found->n_sure = UINT64_MAX;
	const char *wrong = proof_read(lap->script, NULL, found, &lap->latest, false);
	lap->stage.is_watched = 0;
	proof_stepped_pause();
	if (wrong)
		snprintf(lap->wrong, sizeof(lap->wrong), "%s", wrong);
}

// One reader, stopped after n_steps. False where it was at its end by then.
// `truth` has made the records already that the writer makes meanwhile.
static bool lap_once(const struct proof_plan *plan, struct proof_sum *sum, struct lap *lap,
		     const struct test_ring *truth, uint64_t n_steps)
{
	struct proof_stepped stepped;
	int status;
	struct test_ring *ring = lap->script->ring;
	const struct proof_found *found = &lap->found;
	memset(&lap->found, 0, sizeof(lap->found));
	lap->wrong[0] = '\0';
	memcpy(ring->n_fields_of, truth->n_fields_of, sizeof(ring->n_fields_of));
	uint64_t n_before = ring->n_records;
	ring->n_records = truth->n_records; // as the reader's process shall know it
	assert_true(proof_stepped_start(&stepped, read_stepped, lap));
	ring->n_records = n_before;
	assert_true(proof_stepped_run(&stepped, &status));
	while (stepped.n_steps < n_steps && lap->stage.is_watched)
		assert_true(plan->by_call ? proof_stepped_call(&stepped) : proof_stepped_step(&stepped));
	bool is_inside = lap->stage.is_watched;
	test_ring_steps(ring, plan->n_publishes);
	while (proof_stepped_run(&stepped, &status))
		continue;
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	sum->n_steps += plan->by_call ? 0 : stepped.n_steps;
	sum->n_reads++;
	uint64_t last = found->next_seq - 1;
	if (lap->wrong[0])
		sum->wrong = "the reader found something wrong";
	else if (last < n_before || last > ring->n_records)
		sum->wrong = "not all that was published";
	else if (found->n_records + found->n_lost != last - found->first_seq + 1)
		sum->wrong = "received and gaps are not what was published";
	return is_inside;
}

void proof_lap(const struct proof_plan *plan, struct proof_sum *sum)
{
	struct lap *lap = mmap(NULL, sizeof(*lap), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(lap != MAP_FAILED);
	struct proof_script *truth = proof_script_new(plan->n_before, plan->is_noisy);
	lap->script = proof_script_new(plan->n_before, plan->is_noisy);
	bool is_inside = true;
	for (uint64_t k = 0; is_inside && !sum->wrong; k += plan->stride) {
		test_ring_steps(truth->ring, plan->n_publishes);
		is_inside = lap_once(plan, sum, lap, truth->ring, k);
		sum->at_state = k;
	}
	proof_script_free(truth);
	proof_script_free(lap->script);
	munmap(lap, sizeof(*lap));
}
