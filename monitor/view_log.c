// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What happened to a process, newest first: phases, verdicts that turned, gaps,
// children, memory that was refused. Each line with its time and how many
// candidates were attempted by then.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "view_roll.h"

#include "../libtelemetry/banned.h"

#define LINES_OF_BLOCK 8 // on the process screen

enum column { TIME, CANDIDATE, WHAT, TEXT, COLUMN_COUNT };

static const struct mon_table_column columns[COLUMN_COUNT] = {
	[TIME] = {"TIME", 8, false, 9, false},
	[CANDIDATE] = {"CAND", 6, false, 3, false},
	[WHAT] = {"WHAT", 15, true, 5, false},
	[TEXT] = {"", 0, true, 9, false},
};

const char *mon_log_text(const struct mon_process *process, const struct mon_log_entry *entry, char *buffer,
			 size_t size)
{
	unsigned long long subject = entry->subject, value = entry->value;
	char bytes[MON_NUMBER_BYTES];
	(void)process;
	switch (entry->type) {
	case TELE_EVENT_FORK:
		if (entry->n_joined)
			snprintf(buffer, size, "%u children, the last is %llu", entry->n_joined + 1, subject);
		else
			snprintf(buffer, size, "child %llu", subject);
		break;
	case TELE_EVENT_OUT_OF_MEMORY:
		snprintf(buffer, size, "%s refused %s", entry->text[0] ? entry->text : "the kernel",
			 mon_format_bytes(subject, MON_UNITS_IEC, bytes, sizeof(bytes)));
		break;
	case TELE_EVENT_DISCARD_REFUSED:
		snprintf(buffer, size, "%s: %s",
			 mon_format_bytes(subject, MON_UNITS_IEC, bytes, sizeof(bytes)),
			 tele_strerror(value <= 4095 ? -(int)value : 0));
		break;
	case TELE_EVENT_OWNER_CLOSED:
		if (entry->n_joined)
			snprintf(buffer, size, "%llu pool%s left by %u owners, the last is %s", value,
				 value == 1 ? "" : "s", entry->n_joined + 1, entry->text);
		else
			snprintf(buffer, size, "%llu pool%s left by %s", value, value == 1 ? "" : "s", entry->text);
		break;
	case TELE_EVENT_GAP:
		snprintf(buffer, size, "%llu records lost from %llu on", value, subject);
		break;
	case TELE_EVENT_STATE:
		snprintf(buffer, size, "%s",
			 tele_state_name(value < UINT32_MAX ? (unsigned)value : UINT32_MAX));
		break;
	default:
		snprintf(buffer, size, "%s", entry->text);
		break;
	}
	return buffer;
}

unsigned mon_log_style(const struct mon_log_entry *entry)
{
	switch (entry->type) {
	case TELE_EVENT_OUT_OF_MEMORY:
		return MON_BAD;
	case TELE_EVENT_DISCARD_REFUSED:
	case TELE_EVENT_GAP:
		return MON_WARN;
	case TELE_EVENT_VERDICT:
		return analysis_shape_grows((enum analysis_shape)entry->value) ? MON_BAD : MON_GOOD;
	case TELE_EVENT_PHASE:
		return MON_BOLD;
	default:
		return MON_NORMAL;
	}
}

static const char *clock_text(const struct mon_process *process, uint64_t at_ns, char *buffer, size_t size)
{
	uint64_t offset_ns = mon_process_field(process, TELE_ID_self_realtime_offset_ns);
	if (offset_ns != TELE_UNKNOWN && !process->identity.is_untimed)
		return mon_format_clock(at_ns + offset_ns, buffer, size);
	snprintf(buffer, size, "n/a");
	return buffer;
}

static const struct mon_log_entry *entry_at(const struct mon_process *process, uint64_t n)
{
	return &process->log[n % MON_LOG_MAX];
}

void mon_draw_log(struct mon_pen *pen)
{
	const struct mon_process *process = pen->process;
	uint64_t n = process->n_log;
	uint64_t oldest = n > LINES_OF_BLOCK ? n - LINES_OF_BLOCK : 0;
	if (n == 0)
		return;
	mon_draw_title(pen, "LOG", "newest first", MON_DIM);
	for (uint64_t i = n; i > oldest; i--) {
		const struct mon_log_entry *entry = entry_at(process, i - 1);
		char clock[MON_NUMBER_BYTES], text[320];
		unsigned style = mon_log_style(entry);
		clock_text(process, entry->at_ns, clock, sizeof(clock));
		mon_log_text(process, entry, text, sizeof(text));
		mon_draw_text(pen->grid, pen->x, pen->y, 8, MON_DIM, clock);
		mon_draw_text(pen->grid, pen->x + 10, pen->y, 15, style, tele_event_name(entry->type));
		mon_draw_text(pen->grid, pen->x + 26, pen->y, pen->width - 26, style, text);
		pen->y++;
	}
}

// ---- The view -------------------------------------------------------------------

static uint64_t count(const struct mon_process *process)
{
	return process->n_log;
}

static bool has_text(const struct mon_process *process, uint64_t number, const char *text)
{
	const struct mon_log_entry *entry = entry_at(process, number);
	char line[320];
	return strstr(tele_event_name(entry->type), text) ||
	       strstr(mon_log_text(process, entry, line, sizeof(line)), text);
}

static void set_key(const struct mon_process *process, uint64_t number, int column, struct mon_table_row *row)
{
	const struct mon_log_entry *entry = entry_at(process, number);
	if (column == WHAT)
		row->text = tele_event_name(entry->type);
	else if (column == CANDIDATE)
		row->number = entry->candidate == TELE_UNKNOWN ? NAN : (double)entry->candidate;
	else // a line of many has the time of the last
		row->number = (double)entry->at_ns;
}

static void draw_row(const struct mon_table *table, const struct mon_process *process, uint32_t row, uint64_t number)
{
	const struct mon_log_entry *entry = entry_at(process, number);
	char text[320];
	unsigned style = mon_log_style(entry);
	mon_table_cell(table, row, TIME, MON_DIM, clock_text(process, entry->at_ns, text, sizeof(text)));
	if (entry->candidate != TELE_UNKNOWN)
		mon_table_cell(table, row, CANDIDATE, MON_DIM, mon_format_count(entry->candidate, text, sizeof(text)));
	mon_table_cell(table, row, WHAT, style, tele_event_name(entry->type));
	mon_table_cell(table, row, TEXT, style, mon_log_text(process, entry, text, sizeof(text)));
}

static const char *about(uint32_t type)
{
	switch (type) {
	case TELE_EVENT_PHASE:
		return "The search went on to another phase (arm)";
	case TELE_EVENT_FORK:
		return "The process forked; several in a row are one line";
	case TELE_EVENT_OUT_OF_MEMORY:
		return "Memory was asked for and refused";
	case TELE_EVENT_DISCARD_REFUSED:
		return "The kernel refused pages that were given back: they stay hysteresis";
	case TELE_EVENT_OWNER_CLOSED:
		return "An owner closed and left pools, which outlive it";
	case TELE_EVENT_GAP:
		return "Records are missing here: a gap, never a slope";
	case TELE_EVENT_VERDICT:
		return "A class turned to growing, or was taken back, at this row";
	default:
		return "What the program or the publisher told";
	}
}

static void tell(const struct mon_process *process, uint64_t number, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s; Enter goes there", about(entry_at(process, number)->type));
}

static uint64_t at_ns(const struct mon_process *process, uint64_t number)
{
	return entry_at(process, number)->at_ns;
}

const struct mon_roll mon_log_roll = {
	.screen = MON_SCREEN_LOG,
	.columns = columns,
	.n_columns = COLUMN_COUNT,
	.empty = "Nothing has happened yet.",
	.n_known = MON_LOG_MAX,
	.count = count,
	.has_text = has_text,
	.set_key = set_key,
	.draw_row = draw_row,
	.tell = tell,
	.at_ns = at_ns,
};

void mon_log_draw(struct mon_grid *grid, const struct mon_model *model, const struct mon_process *process,
		  struct mon_view *view, int y, int height)
{
	(void)model;
	mon_roll_draw(&mon_log_roll, grid, process, view, y, height);
}
