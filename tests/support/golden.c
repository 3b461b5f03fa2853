// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers

#include "golden.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../monitor/text.h"

void golden_write(const struct mon_grid *grid, struct mon_out *out)
{
	mon_text_write(grid, out);
	mon_out_text(out, "---- styles\n");
	mon_text_write_styles(grid, out);
}

static void write_file(const char *path, const struct mon_out *out)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(out->bytes, 1, out->n_bytes, file), out->n_bytes);
	assert_int_equal(fclose(file), 0);
}

static void compare_with_file(const char *path, const struct mon_out *out)
{
	FILE *file = fopen(path, "r");
	if (!file)
		fail_msg("%s is not there: make it with UPDATE=1", path);
	char *expected = calloc(1, 1 << 20);
	assert_non_null(expected);
	size_t n_bytes = fread(expected, 1, (1 << 20) - 1, file);
	fclose(file);
	if (n_bytes != out->n_bytes || memcmp(expected, out->bytes, n_bytes) != 0)
		fail_msg("%s differs; the screen is now:\n%s", path, out->bytes);
	free(expected);
}

void golden_check(const struct mon_grid *grid, const char *name)
{
	struct mon_out out = {0};
	char path[256];
	golden_write(grid, &out);
	snprintf(path, sizeof(path), "tests/golden/%s_%dx%d.screen", name, grid->width, grid->height);
	if (getenv("UPDATE"))
		write_file(path, &out);
	else
		compare_with_file(path, &out);
	mon_out_fini(&out);
}
