// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A fuzz target without a fuzzer: replay CORPUS RUNS SEED gives it each file of
// a folder, then RUNS inputs that are changed from those, the same for the same
// seed. Needs no clang, so that every `make test` does it. The input at hand is
// kept in a mapped file beside the program, NAME.last, which survives its death.

#include "tests/support/random.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define INPUT_BYTES_MAX 8192
#define INPUTS_MAX	256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

struct input {
	uint8_t *bytes;
	size_t n_bytes;
};

static struct input inputs[INPUTS_MAX];
static size_t n_inputs;
static uint64_t *last; // its length, then its bytes

static void run(const uint8_t *bytes, size_t n_bytes)
{
	if (last) {
		last[0] = n_bytes;
		memcpy(last + 1, bytes, n_bytes);
	}
	// A copy of the exact size, so that a sanitizer sees a read behind it.
	uint8_t *copy = malloc(n_bytes ? n_bytes : 1);
	if (!copy)
		abort();
	memcpy(copy, bytes, n_bytes);
	LLVMFuzzerTestOneInput(copy, n_bytes);
	free(copy);
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_corpus(const char *directory)
{
	struct dirent **names;
	int n = scandir(directory, &names, NULL, compare_names);
	for (int i = 0; i < n; i++) {
		char path[1024];
		snprintf(path, sizeof(path), "%s/%s", directory, names[i]->d_name);
		int fd = names[i]->d_name[0] == '.' ? -1 : open(path, O_RDONLY | O_CLOEXEC);
		free(names[i]);
		if (fd < 0 || n_inputs == INPUTS_MAX)
			continue;
		struct input *input = &inputs[n_inputs++];
		input->bytes = calloc(1, INPUT_BYTES_MAX);
		ssize_t got = input->bytes ? read(fd, input->bytes, INPUT_BYTES_MAX) : -1;
		input->n_bytes = got > 0 ? (size_t)got : 0;
		close(fd);
	}
	if (n >= 0)
		free(names);
	return n_inputs ? 0 : -1;
}

// One change: a bit, a byte, a number of interest, a cut, a piece repeated, or a
// piece of another input.
static size_t change(struct test_random *random, uint8_t *bytes, size_t n_bytes)
{
	static const uint64_t numbers[] = {0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff,
					   INT64_MAX, UINT64_MAX, 1ull << 32, 4096, 65536};
	size_t at = n_bytes ? test_random_below(random, n_bytes) : 0;
	const struct input *other = &inputs[test_random_below(random, n_inputs)];
	size_t len = 1 + test_random_below(random, 32);
	switch (test_random_below(random, 7)) {
	case 0:
		bytes[at] ^= (uint8_t)(1u << test_random_below(random, 8));
		break;
	case 1:
		bytes[at] = (uint8_t)test_random_next(random);
		break;
	case 2:
		memcpy(bytes + at, &numbers[test_random_below(random, sizeof(numbers) / sizeof(numbers[0]))],
		       n_bytes - at < 8 ? n_bytes - at : 8);
		break;
	case 3:
		return at;
	case 4: // room for a piece
		len = n_bytes + len > INPUT_BYTES_MAX ? 0 : len;
		memmove(bytes + at + len, bytes + at, n_bytes - at);
		return n_bytes + len;
	case 5: // a piece out
		len = len > n_bytes - at ? n_bytes - at : len;
		memmove(bytes + at, bytes + at + len, n_bytes - at - len);
		return n_bytes - len;
	default:
		if (other->n_bytes) {
			size_t from = test_random_below(random, other->n_bytes);
			len = 1 + test_random_below(random, other->n_bytes - from);
			len = len > INPUT_BYTES_MAX - at ? INPUT_BYTES_MAX - at : len;
			memcpy(bytes + at, other->bytes + from, len);
			n_bytes = at + len > n_bytes ? at + len : n_bytes;
		}
	}
	return n_bytes;
}

static void keep_last(const char *program)
{
	char path[1024];
	snprintf(path, sizeof(path), "%s.last", program);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, 8 + INPUT_BYTES_MAX) != 0)
		return;
	void *mapped = mmap(NULL, 8 + INPUT_BYTES_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	last = mapped == MAP_FAILED ? NULL : mapped;
	close(fd);
}

int main(int argc, char **argv)
{
	static uint8_t bytes[INPUT_BYTES_MAX + 64];
	if (argc != 4 || read_corpus(argv[1]) != 0) {
		fprintf(stderr, "usage: %s CORPUS RUNS SEED\n", argv[0]);
		return 2;
	}
	keep_last(argv[0]);
	unsigned long n_runs = strtoul(argv[2], NULL, 10);
	struct test_random random = {strtoul(argv[3], NULL, 10)};
	for (size_t i = 0; i < n_inputs; i++)
		run(inputs[i].bytes, inputs[i].n_bytes);
	for (unsigned long i = 0; i < n_runs; i++) {
		const struct input *input = &inputs[test_random_below(&random, n_inputs)];
		size_t n_bytes = input->n_bytes;
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, input->bytes, n_bytes);
		for (uint64_t n = 1 + test_random_below(&random, 6); n; n--)
			n_bytes = change(&random, bytes, n_bytes);
		run(bytes, n_bytes);
	}
	printf("executions=%zu\n", n_inputs + n_runs);
	for (size_t i = 0; i < n_inputs; i++)
		free(inputs[i].bytes);
	return 0;
}
