// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Prints a search of tests/support/traces.h as CSV for `rollcall import`:
//   traces g1 [seed, 1] > g1.csv
// What is unknown is an empty cell; g7 writes it as the driver does, all ones.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/traces.c"

static void print_row(void *context, const struct trace_row *row)
{
	const char *name = context;

	printf("%.3f,", row->time_s);
	if (row->candidate)
		printf("%u", row->candidate);
	printf(",%s,%s", row->phase ? row->phase : "", row->outcome ? row->outcome : "");
	for (int c = 0; c < TRACE_COLUMNS; c++) {
		if (row->values[c] == TRACE_UNKNOWN && strcmp(name, "g7") != 0)
			printf(",");
		else
			printf(",%" PRIu64, row->values[c]);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: traces g1|g2|g3|g4|g5a|g5b|g6|g7|g8 [seed]\n");
		return 2;
	}
	printf("time_s,candidate,phase,outcome");
	for (int c = 0; c < TRACE_COLUMNS; c++)
		printf(",%s", trace_columns[c]);
	printf("\n");
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	if (!trace_make(argv[1], seed, print_row, argv[1])) {
		fprintf(stderr, "traces: no search is called %s\n", argv[1]);
		return 2;
	}
	return 0;
}
