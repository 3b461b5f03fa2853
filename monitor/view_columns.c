// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The columns of the overview: what each is called, what it says of a process,
// and what it means. A column is sorted and summed by the number it shows.

#include "view_list.h"

#include <stdio.h>
#include <string.h>

#include "format.h"
#include "view_parts.h"

#include "../libtelemetry/banned.h"

static const struct mon_column_row columns[MON_COLUMN_COUNT] = {
	[MON_COLUMN_PID] = {"PID", 7, true, false, "the process"},
	[MON_COLUMN_LABEL] = {"LABEL", 12, false, false,
			      "its name: ROLLCALL_LABEL, else the command line"},
	[MON_COLUMN_STATE] = {"STATE", 8, false, false,
			      "whether it still publishes, and how it ended if not"},
	[MON_COLUMN_UP] = {"UP", 6, true, false, "time since it began to publish"},
	[MON_COLUMN_MAPPED] = {"MAPPED", 0, true, true,
			       "memory that its malloc holds mapped, in use or not"},
	[MON_COLUMN_LIVE] = {"LIVE", 0, true, true, "memory that it asked malloc for and holds"},
	[MON_COLUMN_PREDICTED] = {"PREDICT", 0, true, true,
				  "what the malloc's books say is resident"},
	[MON_COLUMN_RSS] = {"RSS", 0, true, true, "what the kernel says is resident"},
	[MON_COLUMN_RESIDUAL] = {"RESIDUAL", -1, true, true,
				 "RSS minus predicted: files, other mappings, memory never written"},
	[MON_COLUMN_POOLS] = {"POOLS", 6, true, true,
			      "pools that live now: working + constant and all others"},
	[MON_COLUMN_POOL_BYTES] = {"POOLMEM", 0, true, true, "bytes of the pools that live now"},
	[MON_COLUMN_CONTEXTS] = {"CTX", 6, true, true,
				 "contexts created and not released explicitly; no live count"},
	[MON_COLUMN_MODULES] = {"MOD", 6, true, true, "modules loaded and not unloaded"},
	[MON_COLUMN_CANDIDATES] = {"CAND", 6, true, true,
				   "candidates that the search has attempted"},
	[MON_COLUMN_HISTORY] = {"TREND", 5, false, false,
				"course of the pools' bytes, without pools of RSS, over the time seen"},
	[MON_COLUMN_VERDICT] = {"VERDICT", 26, false, false,
				"what grows fastest per candidate or second, and when it is full"},
};

const struct mon_column_row *mon_column_row(enum mon_column column)
{
	TELE_ASSERT(column < MON_COLUMN_COUNT);
	return &columns[column];
}

const char *mon_column_title(enum mon_column column)
{
	return mon_column_row(column)->title;
}

static struct analysis_signed of_u64(uint64_t value)
{
	if (value == TELE_UNKNOWN)
		return (struct analysis_signed){false, 0};
	return (struct analysis_signed){true, value > INT64_MAX ? INT64_MAX : (int64_t)value};
}

static struct analysis_signed change(const struct mon_process *process)
{
	if (process->trend.n == 0)
		return (struct analysis_signed){false, 0};
	return analysis_difference(
		mon_process_course_bytes(process, mon_process_latest(process)),
		process->trend.points[0].bytes);
}

// What grows stands first, the most first; then what is quiet, then what cannot
// be told.
static struct analysis_signed verdict_value(const struct mon_process *process)
{
	double growth = process->growth < 1e18 ? process->growth : 1e18;
	if (process->mark == MON_MARK_GROWING)
		return (struct analysis_signed){true, growth > 1 ? (int64_t)growth : 1};
	return (struct analysis_signed){process->mark != MON_MARK_NONE, -(int64_t)process->mark};
}

struct analysis_signed mon_column_value(const struct mon_process *process, enum mon_column column)
{
	const struct analysis_derived *derived = &process->derived;
	if (column == MON_COLUMN_PID)
		return of_u64(process->identity.pid);
	if (column == MON_COLUMN_STATE)
		return of_u64(process->state);
	if (column == MON_COLUMN_LABEL || !mon_process_latest(process))
		return (struct analysis_signed){false, 0};
	switch (column) {
	case MON_COLUMN_UP:
		return of_u64(mon_process_age_ns(process));
	case MON_COLUMN_MAPPED:
		return of_u64(derived->books.mapped_bytes);
	case MON_COLUMN_LIVE:
		return of_u64(derived->books.bucket_bytes[TELE_BUCKET_LIVE]);
	case MON_COLUMN_PREDICTED:
		return of_u64(derived->residency.predicted_bytes);
	case MON_COLUMN_RSS:
		return of_u64(derived->residency.rss_bytes);
	case MON_COLUMN_RESIDUAL:
		return derived->residency.residual_bytes;
	case MON_COLUMN_POOLS:
		return of_u64(derived->live_pools);
	case MON_COLUMN_POOL_BYTES:
		return of_u64(derived->live_pool_bytes);
	case MON_COLUMN_CONTEXTS:
		return derived->unreleased_contexts;
	case MON_COLUMN_MODULES:
		return derived->live_modules;
	case MON_COLUMN_CANDIDATES:
		return of_u64(mon_process_field(process, TELE_ID_search_candidates_attempted));
	case MON_COLUMN_HISTORY:
		return change(process);
	default:
		return verdict_value(process);
	}
}

const char *mon_column_format(enum mon_column column, struct analysis_signed value,
			      enum mon_units units, char *buffer, size_t size)
{
	if (!value.is_known)
		return "-";
	switch (column) {
	case MON_COLUMN_PID:
		snprintf(buffer, size, "%lld", (long long)value.value);
		return value.value ? buffer : "-"; // an import has none
	case MON_COLUMN_UP:
		return mon_format_duration((uint64_t)value.value, buffer, size);
	case MON_COLUMN_RESIDUAL:
		return mon_format_signed_bytes(value, units, buffer, size);
	case MON_COLUMN_MAPPED:
	case MON_COLUMN_LIVE:
	case MON_COLUMN_PREDICTED:
	case MON_COLUMN_RSS:
	case MON_COLUMN_POOL_BYTES:
		return mon_format_bytes((uint64_t)value.value, units, buffer, size);
	default:
		return mon_format_signed_count(value, buffer, size);
	}
}

// "82+1" while there is room for it.
static const char *pools_text(const struct mon_process *process, char *buffer, size_t size)
{
	uint64_t all = process->derived.live_pools;
	uint64_t working = mon_process_field(process, TELE_ID_census_live_working_pools);
	if (working == TELE_UNKNOWN || all == TELE_UNKNOWN || working > all)
		return mon_column_format(MON_COLUMN_POOLS, of_u64(all), MON_UNITS_IEC, buffer, size);
	int len = snprintf(buffer, size, "%llu+%llu", (unsigned long long)working,
			   (unsigned long long)(all - working));
	if (len > columns[MON_COLUMN_POOLS].width)
		return mon_format_count(all, buffer, size);
	return buffer;
}

const char *mon_column_text(const struct mon_process *process, enum mon_column column,
			    enum mon_units units, char *buffer, size_t size)
{
	if (column == MON_COLUMN_LABEL)
		return process->identity.label;
	if (column == MON_COLUMN_STATE)
		return mon_state_text(process->state);
	if (column == MON_COLUMN_POOLS && mon_process_latest(process))
		return pools_text(process, buffer, size);
	return mon_column_format(column, mon_column_value(process, column), units, buffer, size);
}

struct analysis_signed mon_list_total(const struct mon_list *list, const struct mon_list_row *total,
				      enum mon_column column)
{
	struct analysis_wide sum = {0, 0};
	bool is_known = false;
	if (!columns[column].is_summed)
		return (struct analysis_signed){false, 0};
	for (uint32_t i = total->tree_begin; i < total->tree_end; i++) {
		struct analysis_signed value = mon_column_value(list->rows[i].process, column);
		if (!value.is_known)
			continue;
		is_known = true;
		analysis_wide_add(&sum, (uint64_t)(value.value < 0 ? -value.value : value.value),
				  value.value < 0 ? -1 : 1);
	}
	return (struct analysis_signed){is_known, analysis_wide_to_i64(&sum)};
}
