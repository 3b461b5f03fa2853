// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Texts of a liar on their way to a terminal: labels, names, phases, candidates,
// marks, devices, gauges and error texts on every screen, in UTF-8 and in ASCII,
// as cells, as text and as JSON. What reaches a cell, which is all that the
// painter gets, is a visible character; what reaches a pipe is valid UTF-8
// without a control byte. What is visible is said here once more, by hand.

#include "monitor/json.h"
#include "monitor/text.h"
#include "monitor/utf8.h"
#include "monitor/view.h"
#include "tests/support/mon_fixture.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS 10

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void check_visible(uint32_t ch, bool is_ascii)
{
	bool is_control = ch < 0x20 || (ch >= 0x7f && ch < 0xa0);
	bool is_direction = (ch >= 0x202a && ch <= 0x202e) || (ch >= 0x2066 && ch <= 0x2069) ||
			    ch == 0x200e || ch == 0x200f || ch == 0x061c;
	bool is_nothing = ch > 0x10ffff || (ch >= 0xd800 && ch <= 0xdfff) || ch == 0xfeff ||
			  (ch >= 0x200b && ch <= 0x200d);
	if (is_control || is_direction || is_nothing || (is_ascii && ch >= 0x80))
		abort();
}

static void check_cells(const struct mon_grid *grid)
{
	for (int y = 0; y < grid->height; y++) {
		for (int x = 0; x < grid->width; x++) {
			const struct mon_cell *cell = mon_grid_at(grid, x, y);
			if (cell->ch == 0 && (x == 0 || mon_char_width(mon_grid_at(grid, x - 1, y)->ch) != 2))
				abort();
			if (cell->ch)
				check_visible(cell->ch, grid->is_ascii);
			if (cell->mark)
				check_visible(cell->mark, grid->is_ascii);
		}
	}
}

// A text of ours for a terminal or a pipe: lines of visible characters.
static void check_text(const char *text, bool is_ascii)
{
	for (uint32_t ch = mon_utf8_next(&text); ch; ch = mon_utf8_next(&text))
		if (ch != '\n')
			check_visible(ch, is_ascii);
}

static void draw(const struct mon_model *model, uint64_t opened, int width, int height, bool is_ascii)
{
	struct mon_grid grid = {0};
	struct mon_out out = {0};
	struct mon_view view;
	mon_view_init(&view);
	view.opened = opened;
	view.is_ascii = is_ascii;
	if (mon_grid_reset(&grid, width, height, is_ascii) != 0)
		abort();
	mon_view_draw(&grid, model, &view);
	check_cells(&grid);
	mon_text_write(&grid, &out);
	if (out.bytes)
		check_text(out.bytes, is_ascii);
	mon_out_fini(&out);
	mon_grid_fini(&grid);
}

static void write_json(const struct mon_model *model)
{
	struct mon_out out = {0};
	mon_json_write(&out, model, NULL);
	check_text(out.bytes, false);
	mon_out_fini(&out);
}

// The k-th of the texts, which NULs part.
static const char *text_of(const uint8_t *data, size_t n_bytes, unsigned k, char buffer[300])
{
	size_t at = 0;
	for (unsigned i = 0; i < k && at < n_bytes; i++) {
		const uint8_t *end = memchr(data + at, 0, n_bytes - at);
		at = end ? (size_t)(end - data) + 1 : n_bytes;
	}
	size_t n = 0;
	while (at < n_bytes && data[at] && n < 255)
		buffer[n++] = (char)data[at++];
	buffer[n] = '\0';
	return buffer;
}

static struct fixture *make_process(struct mon_model *model, const uint8_t *data, size_t n_bytes)
{
	char text[300];
	struct fixture *fixture = fixture_new(4711, text_of(data, n_bytes, 0, text));
	struct tele_identity *identity = &fixture->instance.identity;
	text_of(data, n_bytes, 1, text);
	memcpy(identity->comm, text, sizeof(identity->comm) - 1);
	fixture_add_device(fixture, 0);
	if (text_of(data, n_bytes, 2, text)[0] && strlen(text) < 100)
		fixture_add_app(fixture, text, TELE_GAUGE, TELE_COUNT);
	fixture_tell(model, fixture);
	fixture_set(fixture, "device[0].name", fixture_string(fixture, text_of(data, n_bytes, 3, text)));
	fixture_set(fixture, "device[0].used_bytes", 1 << 20);
	fixture_set(fixture, "host.rss_bytes", 1 << 20);
	fixture_event(model, fixture, TELE_EVENT_PHASE, 3 * FIXTURE_S, 0, 0, text_of(data, n_bytes, 4, text));
	fixture_event(model, fixture, TELE_EVENT_CANDIDATE_BEGIN, 4 * FIXTURE_S, 1, 0,
		      text_of(data, n_bytes, 5, text));
	fixture_row(model, fixture, 5 * FIXTURE_S);
	fixture_event(model, fixture, TELE_EVENT_MARK, 6 * FIXTURE_S, 0, 0, text_of(data, n_bytes, 6, text));
	fixture_event(model, fixture, TELE_EVENT_OUT_OF_MEMORY, 7 * FIXTURE_S, 5, 0,
		      text_of(data, n_bytes, 7, text));
	fixture_row(model, fixture, 8 * FIXTURE_S);
	return fixture;
}

static void clean(const uint8_t *data, size_t n_bytes)
{
	char text[300], buffer[300];
	for (unsigned k = 0; k < TEXTS; k++) {
		for (int is_ascii = 0; is_ascii < 2; is_ascii++) {
			text_of(data, n_bytes, k, text);
			mon_text_clean(text, is_ascii, buffer, 1 + k * 29);
			check_text(buffer, is_ascii);
			mon_text_clean(text, is_ascii, text, strlen(text) + 1);
			check_text(text, is_ascii);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static bool is_started;
	char path[300], why[300];
	struct mon_model model;
	if (!is_started && !setlocale(LC_CTYPE, "C.UTF-8"))
		abort();
	is_started = true;
	if (n_bytes < 2)
		return 0;
	int width = 1 + data[0] % 220;
	int height = 1 + data[1] % 64;
	data += 2;
	n_bytes -= 2;
	mon_model_init(&model, MON_HISTORY_SHORT);
	struct fixture *fixture = make_process(&model, data, n_bytes);
	mon_model_add_unreadable(&model, text_of(data, n_bytes, 8, path), text_of(data, n_bytes, 9, why));
	mon_model_settle(&model);
	for (int is_ascii = 0; is_ascii < 2; is_ascii++) {
		draw(&model, 0, width, height, is_ascii);
		draw(&model, fixture->instance.identity.instance_id, width, height, is_ascii);
	}
	write_json(&model);
	clean(data, n_bytes);
	mon_model_fini(&model);
	fixture_free(fixture);
	return 0;
}
