// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// hostile DIRECTORY TEMPLATE SEED: a writer of a segment that never stops lying.
// It has a copy of the template, holds its lock and keeps its heartbeat fresh,
// and flips words, restores pages, cuts the file, punches holes, changes its
// mode, unlinks it and makes it anew under another name, as fast as it can.

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES_MAX (4u << 20)

static uint64_t template[FILE_BYTES_MAX / 8];
static size_t file_bytes;
static uint64_t state;
static char path[600];
static int fd = -1;

static uint64_t any(void)
{
	uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void put(uint64_t at, const void *bytes, size_t n_bytes)
{
	if (pwrite(fd, bytes, n_bytes, (off_t)at) < 0)
		exit(1);
}

static uint32_t crc32c(const void *bytes, size_t n_bytes)
{
	uint32_t crc = UINT32_MAX;
	for (size_t i = 0; i < n_bytes; i++) {
		crc ^= ((const uint8_t *)bytes)[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

// Another instance each time, so that nobody knows it already.
static void make(const char *directory)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	if (fd >= 0) {
		unlink(path);
		close(fd);
	}
	snprintf(path, sizeof(path), "%s/%ld.%016llx.rcs", directory, (long)getpid(), (unsigned long long)any());
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || fcntl(fd, F_SETLK, &lock) != 0)
		exit(1);
	template[7] = any();
	template[63] = crc32c(template, 63 * 8);
	put(0, template, file_bytes);
}

static uint64_t number(uint64_t at)
{
	static const uint64_t odd[] = {0, 1, 255, 4096, 65535, 65536, 1u << 20, UINT32_MAX, 1ull << 32,
				       1ull << 62, INT64_MAX, UINT64_MAX - 8, UINT64_MAX};
	switch (any() % 4) {
	case 0:
		return any();
	case 1:
		return odd[any() % (sizeof(odd) / sizeof(odd[0]))];
	case 2:
		return template[at / 8] ^ UINT64_C(1) << any() % 64;
	default:
		return template[at / 8] + any() % 64 - 32;
	}
}

// Where a reader looks: control page, latest rows, chunks, slots, ring, schema.
static uint64_t place(void)
{
	static const unsigned words[] = {28, 28, 28, 23, 24, 24, 26, 19};
	uint64_t from = template[words[any() % 8]];
	uint64_t at = from + any() % (any() % 4 ? 1024 : 65536);
	return at / 8 * 8 < file_bytes ? at / 8 * 8 : 0;
}

static void act(const char *directory)
{
	uint64_t at = place();
	uint64_t what = any() % 1000;
	if (what < 500) {
		uint64_t value = number(at);
		put(at, &value, sizeof(value));
	} else if (what < 800) {
		at = at / 4096 * 4096;
		put(at, (const uint8_t *)template + at, file_bytes - at < 4096 ? file_bytes - at : 4096);
	} else if (what < 950) {
		put(0, template, file_bytes);
	} else if (what < 970) {
		if (ftruncate(fd, (off_t)(any() % (file_bytes + 65536))) != 0)
			exit(1);
		if (any() % 2)
			put(0, template, file_bytes);
	} else if (what < 980) {
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)(any() % 65536 + 1));
	} else if (what < 990) {
		fchmod(fd, any() % 2 ? 0 : 0600);
	} else {
		make(directory);
	}
}

int main(int argc, char **argv)
{
	struct timespec now;
	int template_fd = argc == 4 ? open(argv[2], O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = template_fd < 0 ? -1 : read(template_fd, template, sizeof(template));
	if (n < 65536)
		return 2;
	file_bytes = (size_t)n;
	state = strtoull(argv[3], NULL, 10);
	make(argv[1]);
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	for (;;) {
		act(argv[1]);
		clock_gettime(CLOCK_MONOTONIC, &now);
		uint64_t beat[2] = {1, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec};
		put(template[28], beat, sizeof(beat));
	}
}
