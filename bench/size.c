// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Bytes that the rows of a recording take here and in other encodings:
// bench/size TRACE ... All counts are exact. A sample is one field of one row,
// of the fields that change at all:
// those that never do cost ours next to nothing, and would flatter it. Gorilla is
// charged for the fields that change and for no other.
//
// Beside ours stand the rows as they are; the same with LZ4, in blocks of as
// many rows as ours; a CSV through gzip -6; and Gorilla as its paper has it: the
// XOR of neighbouring values, here also of the whole numbers themselves instead
// of doubles, in chunks of as many rows, with times written once for all fields
// as differences of differences.

#include "bench/measure.h"
#include "bench/recorded.h"
#include "libtelemetry/block.h"
#include "libtelemetry/codec.h"

#include <lz4.h>
#include <unistd.h>

#define OPEN_ROWS 64 // of an open chunk, between full rows

struct rows {
	const struct tele_plan *plan;
	uint32_t n_fields;
	size_t n_rows;
	const uint64_t *values;
	bool *changes; // by field
};

static bool changes(const struct rows *rows, uint32_t field)
{
	for (size_t r = 1; r < rows->n_rows; r++)
		if (rows->values[r * rows->n_fields + field] != rows->values[field])
			return true;
	return false;
}

static size_t block_rows(const struct rows *rows, size_t begin)
{
	return rows->n_rows - begin < TELE_BLOCK_ROWS_MAX ? rows->n_rows - begin : TELE_BLOCK_ROWS_MAX;
}

// ---- Gorilla ----------------------------------------------------------------------

// Bits that one chunk of one field takes. Nothing is written: a count is enough.
struct gorilla {
	uint64_t n_bits;
	uint64_t last;
	unsigned leading, meaningful; // of the window at hand; 0 meaningful: none yet
	bool is_started;
};

static void gorilla_put(struct gorilla *self, uint64_t value)
{
	uint64_t changed = value ^ self->last;
	self->last = value;
	if (!self->is_started) {
		self->is_started = true;
		self->n_bits += 64;
		return;
	}
	self->n_bits++;
	if (changed == 0)
		return;
	unsigned leading = (unsigned)__builtin_clzll(changed);
	unsigned trailing = (unsigned)__builtin_ctzll(changed);
	if (leading > 31)
		leading = 31; // five bits say it
	bool fits = self->meaningful && leading >= self->leading &&
		    trailing >= 64 - self->leading - self->meaningful;
	self->n_bits++;
	if (!fits) {
		self->leading = leading;
		self->meaningful = 64 - leading - trailing;
		self->n_bits += 5 + 6;
	}
	self->n_bits += self->meaningful;
}

// A time, as its second difference in the paper's steps, of 1,024 ns.
static void gorilla_put_time(struct gorilla *self, uint64_t at, uint64_t *delta)
{
	int64_t second = (int64_t)(at - self->last - *delta);
	*delta = self->is_started ? at - self->last : 0;
	self->n_bits += !self->is_started ? 64
			: second == 0	   ? 1
			: second >= -63 && second <= 64	    ? 2 + 7
			: second >= -255 && second <= 256   ? 3 + 9
			: second >= -2047 && second <= 2048 ? 4 + 12
							    : 4 + 32;
	self->is_started = true;
	self->last = at;
}

static size_t gorilla_bytes(const struct rows *rows, bool as_doubles)
{
	uint64_t n_bytes = 0;
	for (size_t begin = 0; begin < rows->n_rows; begin += TELE_BLOCK_ROWS_MAX) {
		size_t end = begin + block_rows(rows, begin);
		struct gorilla time = {0};
		uint64_t delta = 0;
		for (size_t r = begin; r < end; r++)
			gorilla_put_time(&time, rows->values[r * rows->n_fields] >> 10, &delta);
		n_bytes += (time.n_bits + 7) / 8;
		for (uint32_t f = 1; f < rows->n_fields; f++) {
			struct gorilla field = {0};
			if (!rows->changes[f])
				continue;
			for (size_t r = begin; r < end; r++) {
				uint64_t value = rows->values[r * rows->n_fields + f];
				double number = (double)value;
				if (as_doubles)
					memcpy(&value, &number, sizeof(value));
				gorilla_put(&field, value);
			}
			n_bytes += (field.n_bits + 7) / 8;
		}
	}
	return n_bytes;
}

// ---- The others -------------------------------------------------------------------

static size_t lz4_bytes(const struct rows *rows)
{
	size_t n_bytes = 0;
	size_t most = TELE_BLOCK_ROWS_MAX * rows->n_fields * sizeof(uint64_t);
	char *out = must(malloc((size_t)LZ4_compressBound((int)most)));
	for (size_t begin = 0; begin < rows->n_rows; begin += TELE_BLOCK_ROWS_MAX) {
		size_t raw = block_rows(rows, begin) * rows->n_fields * sizeof(uint64_t);
		n_bytes += (size_t)LZ4_compress_default((const char *)(rows->values + begin * rows->n_fields), out,
							(int)raw, LZ4_compressBound((int)most));
	}
	free(out);
	return n_bytes;
}

static size_t csv_gzip_bytes(const struct rows *rows)
{
	char command[300], path[256];
	temporary_path(path, sizeof(path));
	snprintf(command, sizeof(command), "gzip -6 -n > '%s'", path);
	FILE *pipe = popen(command, "w");
	for (size_t r = 0; pipe && r < rows->n_rows; r++) {
		for (uint32_t f = 0; f < rows->n_fields; f++) {
			uint64_t value = rows->values[r * rows->n_fields + f];
			if (value != TELE_UNKNOWN)
				fprintf(pipe, "%llu", (unsigned long long)value);
			fputc(f + 1 < rows->n_fields ? ',' : '\n', pipe);
		}
	}
	bool is_done = pipe && pclose(pipe) == 0;
	FILE *file = is_done ? fopen(path, "r") : NULL;
	long n_bytes = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
	if (file)
		fclose(file);
	unlink(path);
	return n_bytes > 0 ? (size_t)n_bytes : 0;
}

static size_t open_bytes(const struct rows *rows)
{
	struct tele_codec codec;
	uint64_t *words = must(malloc(TELE_CODEC_WORDS(rows->n_fields) * sizeof(*words)));
	uint8_t *out = must(malloc(TELE_ROW_BYTES_MAX(rows->n_fields)));
	size_t n_bytes = 0;
	for (size_t r = 0; r < rows->n_rows; r++) {
		if (r % OPEN_ROWS == 0)
			tele_codec_init(&codec, rows->plan, rows->n_fields, words);
		n_bytes += 1 + tele_codec_encode(&codec, rows->values + r * rows->n_fields, out);
	}
	free(words);
	free(out);
	return n_bytes;
}

static size_t sealed_bytes(const struct rows *rows)
{
	size_t scratch_bytes = tele_block_scratch_bytes(rows->n_fields);
	size_t capacity = tele_block_bytes_max(rows->n_fields, TELE_BLOCK_ROWS_MAX, 0, 0);
	void *scratch = must(malloc(scratch_bytes));
	uint8_t *out = must(malloc(capacity));
	size_t n_bytes = 0;
	for (size_t begin = 0; begin < rows->n_rows; begin += TELE_BLOCK_ROWS_MAX) {
		const uint64_t *first = rows->values + begin * rows->n_fields;
		struct tele_block_input input = {
			.plan = rows->plan,
			.n_fields = rows->n_fields,
			.first_seq = begin,
			.first_at_ns = first[0],
			.rows = first,
			.row_stride = rows->n_fields,
			.n_rows = (uint32_t)block_rows(rows, begin),
		};
		int64_t n = tele_block_encode(&input, scratch, scratch_bytes, out, capacity);
		if (n < 0)
			exit(1);
		n_bytes += (size_t)n;
	}
	free(scratch);
	free(out);
	return n_bytes;
}

// ---- The table --------------------------------------------------------------------

static void print_line(const char *what, size_t n_bytes, const struct rows *rows, double n_changing,
		       const char *rest)
{
	if (n_bytes)
		printf("  %-28s %9.1f B/row %8.4f B/sample%s\n", what, (double)n_bytes / (double)rows->n_rows,
		       (double)n_bytes / (double)rows->n_rows / n_changing, rest);
	else
		printf("  %-28s (no gzip)\n", what);
}

static void measure(const char *name, struct rows *rows)
{
	char rest[120] = "";
	double n_changing = 0;
	if (rows->n_rows < 2)
		return;
	rows->changes = must(calloc(rows->n_fields, sizeof(*rows->changes)));
	for (uint32_t f = 0; f < rows->n_fields; f++)
		n_changing += rows->changes[f] = changes(rows, f);
	double seconds = (double)(rows->values[(rows->n_rows - 1) * rows->n_fields] - rows->values[0]) / 1e9;
	double rate_hz = (double)(rows->n_rows - 1) / seconds;
	double goal = rate_hz > 300 ? 0.20 : rate_hz > 45 ? 0.35 : 0.50;
	printf("%s: %zu rows, %.0f a second, %u fields, %.0f of them change\n", name, rows->n_rows, rate_hz,
	       rows->n_fields, n_changing);
	size_t gorilla[2] = {gorilla_bytes(rows, true), gorilla_bytes(rows, false)};
	size_t sealed = sealed_bytes(rows);
	print_line("raw", rows->n_rows * rows->n_fields * sizeof(uint64_t), rows, n_changing, rest);
	print_line("raw, LZ4", lz4_bytes(rows), rows, n_changing, rest);
	print_line("CSV, gzip -6", csv_gzip_bytes(rows), rows, n_changing, rest);
	print_line("Gorilla, doubles", gorilla[0], rows, n_changing, rest);
	print_line("Gorilla, whole numbers", gorilla[1], rows, n_changing, rest);
	print_line("ours, open chunk", open_bytes(rows), rows, n_changing, rest);
	snprintf(rest, sizeof(rest), "  goal %.2f; Gorilla takes %.2f times as much, goal 1.60", goal,
		 (double)(gorilla[0] < gorilla[1] ? gorilla[0] : gorilla[1]) / (double)sealed);
	print_line("ours, sealed and in a trace", sealed, rows, n_changing, rest);
	free(rows->changes);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct recorded recorded = recorded_read(argv[i]);
		const char *name = strrchr(argv[i], '/');
		measure(name ? name + 1 : argv[i],
			&(struct rows){recorded.plan, recorded.n_fields, recorded.n_rows, recorded.rows, NULL});
		free(recorded.rows);
		tele_source_close(recorded.source);
	}
	return 0;
}
