// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See readers.h.

#include "readers.h"

#include "libtelemetry/attach.h"

#include <string.h>

const char *proof_read(const struct proof_script *script, struct proof_served *served,
		       struct proof_found *found, struct proof_found *ret_latest, bool from_now)
{
	proof_serve(served);
	struct tele_attach *attach;
	struct tele_source *source;
	if (tele_attach_open(script->ring->file.path, &attach, NULL) != 0)
		return "cannot attach";
	uint32_t n_fields = 0;
	ret_latest->last_row_seq = 0;
	int failed = tele_attach_latest(attach, ret_latest->row, TELE_FIELDS_MAX, &n_fields,
					&ret_latest->last_row_seq, NULL);
	ret_latest->n_fields = n_fields;
	if (failed && failed != TELE_ENOTREADY) {
		tele_attach_close(attach);
		return "no latest row";
	}
	if (tele_ring_source_open(attach, from_now, &source, NULL) != 0)
		return "no source";
	const char *wrong = proof_listen(script, source, found);
	if (served)
		served->switch_at = 0;
	if (!wrong && served && !served->is_dead)
		wrong = proof_listen(script, source, found);
	tele_source_close(source);
	proof_serve(NULL);
	return wrong;
}

const char *proof_check_latest(const struct proof_script *script, const struct proof_found *latest)
{
	uint64_t seq = latest->last_row_seq;
	uint32_t first = tele_builtin_sections[TELE_SECTION_CENSUS].first_id;
	uint32_t n_values = tele_builtin_sections[TELE_SECTION_CENSUS].n_fields;
	if (seq == 0)
		return NULL;
	if (seq > script->ring->n_records || latest->n_fields != script->ring->n_fields_of[seq])
		return "a latest row of another length";
	for (uint32_t f = 0; f < latest->n_fields; f++) {
		bool is_of_boundary = script->ticket_of[seq] && f >= first && f < first + n_values;
		if (!is_of_boundary && latest->row[f] != test_ring_value(script->ring, seq, f))
			return "a torn latest row";
	}
	return NULL;
}
