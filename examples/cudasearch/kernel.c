// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Each thread keeps a small block of C in registers and walks along the sum,
// `unroll` steps at a time. The size of the matrices is part of the text, so
// every address but two is a constant offset.

#include "kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static uint8_t power(struct common_random *random, unsigned most)
{
	return (uint8_t)(1u << common_random_below(random, most + 1));
}

enum { CHOICE_NARROW = 7, CHOICES = 9 };

static void choose(struct common_random *random, unsigned choice, struct search_kernel *kernel)
{
	static const uint8_t targets[] = { 70, 70, 75, 80, 80, 90 };

	switch (choice) {
	case 0:
		kernel->block_x = (uint8_t)(4 * power(random, 3));
		break;
	case 1:
		kernel->block_y = power(random, 5);
		break;
	case 2:
		kernel->rows = power(random, 3);
		break;
	case 3:
		kernel->columns = power(random, 2);
		break;
	case 4:
		kernel->unroll = power(random, 3);
		break;
	case 5:
		kernel->cached = (uint8_t)common_random_below(random, 2);
		break;
	case 6:
		kernel->wide = (uint8_t)common_random_below(random, 2);
		break;
	case CHOICE_NARROW:
		kernel->narrow = common_random_below(random, 3) == 0;
		break;
	default:
		kernel->target = targets[common_random_below(random, sizeof(targets))];
		break;
	}
}

void search_kernel_draw(struct common_random *random, struct search_kernel *ret_kernel)
{
	memset(ret_kernel, 0, sizeof(*ret_kernel));
	for (unsigned choice = 0; choice < CHOICES; choice++)
		choose(random, choice, ret_kernel);
}

void search_kernel_vary(struct common_random *random, const struct search_kernel *parent,
		struct search_kernel *ret_kernel)
{
	*ret_kernel = *parent;
	choose(random, common_random_below(random, CHOICES), ret_kernel);
	// No parent is narrow, since those fail: or later candidates would rarely fail.
	choose(random, CHOICE_NARROW, ret_kernel);
}

void search_kernel_label(const struct search_kernel *kernel, char ret_label[LABEL_BYTES])
{
	snprintf(ret_label, LABEL_BYTES, "%ux%u_t%ux%u_u%u%s%s%s_sm%u", kernel->block_x, kernel->block_y,
			kernel->rows, kernel->columns, kernel->unroll, kernel->cached ? "_nc" : "",
			kernel->wide ? "_w" : "", kernel->narrow ? "_b16" : "", kernel->target);
}

const char *search_kernel_refuse(const struct search_kernel *kernel, unsigned n)
{
	unsigned threads = kernel->block_x * kernel->block_y;

	if (threads < 32)
		return "less than a warp";
	if (threads > 1024)
		return "more threads than a block may have";
	if (n % (kernel->block_x * kernel->columns) || n % (kernel->block_y * kernel->rows))
		return "its blocks do not divide the matrix";
	return NULL;
}

double search_kernel_model(const struct search_kernel *kernel)
{
	unsigned threads = kernel->block_x * kernel->block_y;
	double reuse = 2.0 * kernel->rows * kernel->columns / (kernel->rows + kernel->columns);
	double filled = threads >= 256 ? 1.0 : threads / 256.0;
	double spilled = kernel->rows * kernel->columns > 16 ? 0.6 : 1.0;

	return 1000.0 * reuse * filled * spilled * (1.0 + 0.05 * kernel->wide + 0.04 * kernel->cached +
			0.02 * kernel->unroll);
}

struct sink {
	char *text;
	size_t len;
};

__attribute__((format(printf, 2, 3)))
static void put(struct sink *sink, const char *format, ...)
{
	va_list arguments;
	size_t room = sink->len < KERNEL_TEXT_BYTES ? KERNEL_TEXT_BYTES - sink->len : 0;

	va_start(arguments, format);
	int len = vsnprintf(room ? sink->text + sink->len : NULL, room, format, arguments);
	va_end(arguments);
	sink->len += len > 0 ? (size_t)len : 0;
}

static void put_head(struct sink *sink, const struct search_kernel *kernel, unsigned n)
{
	put(sink, ".version 7.8\n.target sm_%u\n.address_size 64\n"
		".visible .entry kernel(.param .u64 pa, .param .u64 pb, .param .u64 pc)\n"
		".maxntid %u, %u, 1\n{\n"
		"\t.reg .pred %%p;\n\t.reg .b32 %%r<8>;\n\t.reg .b64 %%d<8>;\n"
		"\t.reg .f32 %%a<8>, %%b<4>, %%c<32>;\n", kernel->target, kernel->block_x, kernel->block_y);
	put(sink, "\tld.param.u64 %%d0, [pa];\n\tld.param.u64 %%d1, [pb];\n\tld.param.u64 %%d2, [pc];\n"
		"\tcvta.to.global.u64 %%d0, %%d0;\n\tcvta.to.global.u64 %%d1, %%d1;\n\tcvta.to.global.u64 %%d2, %%d2;\n"
		"\tmov.u32 %%r0, %%ctaid.x;\n\tmov.u32 %%r1, %%ctaid.y;\n\tmov.u32 %%r2, %%tid.x;\n\tmov.u32 %%r3, %%tid.y;\n"
		"\tmad.lo.u32 %%r4, %%r1, %u, %%r3;\n\tmul.lo.u32 %%r4, %%r4, %u;\n"
		"\tmad.lo.u32 %%r5, %%r0, %u, %%r2;\n\tmul.lo.u32 %%r5, %%r5, %u;\n", kernel->block_y, kernel->rows,
		kernel->block_x, kernel->columns);
	put(sink, "\tmul.wide.u32 %%d3, %%r4, %u;\n\tmul.wide.u32 %%d4, %%r5, 4;\n"
		"\tadd.u64 %%d5, %%d2, %%d3;\n\tadd.u64 %%d5, %%d5, %%d4;\n"
		"\tadd.u64 %%d3, %%d0, %%d3;\n\tadd.u64 %%d4, %%d1, %%d4;\n\tmov.u32 %%r6, 0;\n", n * 4);
	for (unsigned i = 0; i < (unsigned)kernel->rows * kernel->columns; i++)
		put(sink, "\tmov.f32 %%c%u, 0f00000000;\n", i);
}

static void put_loads(struct sink *sink, const struct search_kernel *kernel, unsigned n, unsigned step)
{
	const char *cached = kernel->cached ? ".nc" : "";

	for (unsigned i = 0; i < kernel->rows; i++)
		put(sink, "\tld.global%s.f32 %%a%u, [%%d3 + %u];\n", cached, i, i * n * 4 + step * 4);
	if (kernel->wide && kernel->columns == 4)
		put(sink, "\tld.global%s.v4.f32 {%%b0, %%b1, %%b2, %%b3}, [%%d4 + %u];\n", cached, step * n * 4);
	else if (kernel->wide && kernel->columns == 2)
		put(sink, "\tld.global%s.v2.f32 {%%b0, %%b1}, [%%d4 + %u];\n", cached, step * n * 4);
	else
		for (unsigned j = 0; j < kernel->columns; j++)
			put(sink, "\tld.global%s.f32 %%b%u, [%%d4 + %u];\n", cached, j, step * n * 4 + j * 4);
	for (unsigned j = 0; kernel->narrow && j < kernel->columns; j++)
		put(sink, "\tmov.b32 %%r7, %%b%u;\n\tand.b32 %%r7, %%r7, 0xFFFF0000;\n\tmov.b32 %%b%u, %%r7;\n", j, j);
}

size_t search_kernel_emit(const struct search_kernel *kernel, unsigned n, char ret_text[KERNEL_TEXT_BYTES])
{
	struct sink sink = { .text = ret_text };

	put_head(&sink, kernel, n);
	put(&sink, "again:\n");
	for (unsigned step = 0; step < kernel->unroll; step++) {
		put_loads(&sink, kernel, n, step);
		for (unsigned i = 0; i < kernel->rows; i++)
			for (unsigned j = 0; j < kernel->columns; j++) {
				unsigned c = i * kernel->columns + j;
				put(&sink, "\tfma.rn.f32 %%c%u, %%a%u, %%b%u, %%c%u;\n", c, i, j, c);
			}
	}
	put(&sink, "\tadd.u64 %%d3, %%d3, %u;\n\tadd.u64 %%d4, %%d4, %u;\n\tadd.u32 %%r6, %%r6, %u;\n"
		"\tsetp.lt.u32 %%p, %%r6, %u;\n\t@%%p bra again;\n", kernel->unroll * 4u, kernel->unroll * n * 4,
		kernel->unroll, n);
	for (unsigned i = 0; i < kernel->rows; i++)
		for (unsigned j = 0; j < kernel->columns; j++)
			put(&sink, "\tst.global.f32 [%%d5 + %u], %%c%u;\n", i * n * 4 + j * 4, i * kernel->columns + j);
	put(&sink, "\tret;\n}\n");
	return sink.len < KERNEL_TEXT_BYTES ? sink.len : 0;
}
