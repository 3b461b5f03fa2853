// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A kernel: one way of computing C = A * B for square matrices of floats on the
// device, and its text in PTX, which the driver compiles.

#ifndef SEARCH_KERNEL_H
#define SEARCH_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "examples/common/random.h"
#include "examples/common/search.h"

enum { KERNEL_TEXT_BYTES = 65536 };

// No padding: kernels are compared as bytes.
struct search_kernel {
	uint8_t block_x, block_y; // threads of a block
	uint8_t rows, columns;	  // of C that a thread computes
	uint8_t unroll;		  // steps along the sum at a time
	uint8_t cached;		  // loads by way of the read-only cache
	uint8_t wide;		  // loads B by pairs or fours
	uint8_t narrow;		  // takes 16 bits of B: too few, as it turns out
	uint8_t target;		  // architecture it is compiled for, 70 for sm_70
};

void search_kernel_draw(struct common_random *random, struct search_kernel *ret_kernel);
// Changes one choice of `parent`.
void search_kernel_vary(struct common_random *random, const struct search_kernel *parent,
		struct search_kernel *ret_kernel);

// As `32x8_t4x2_u4_nc_w_sm80`.
void search_kernel_label(const struct search_kernel *kernel, char ret_label[LABEL_BYTES]);

// NULL, or why it is turned down for matrices of n rows without being compiled.
const char *search_kernel_refuse(const struct search_kernel *kernel, unsigned n);

// What it ought to be worth, higher is better: for devices that run nothing.
double search_kernel_model(const struct search_kernel *kernel);

// Writes its PTX. Returns the length, or 0 when it does not fit.
size_t search_kernel_emit(const struct search_kernel *kernel, unsigned n, char ret_text[KERNEL_TEXT_BYTES]);

#endif
