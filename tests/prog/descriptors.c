// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// descriptors closefrom DIR: closes everything from 3 on, then writes files of
// its own and reads them back; descriptors stdin: closes 0 and opens again, many
// times over. Prints what went wrong, or "ok", and waits for the end of input.

#include <rollcall.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILES 600 // beyond 512

static const char *own_files(const char *directory)
{
	static int files[FILES];
	char path[512], text[64], back[64];
	closefrom(3);
	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/own-%d", directory, i);
		files[i] = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (files[i] != 3 + i)
			return "a number was taken";
	}
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < FILES; i++) {
			int len = snprintf(text, sizeof(text), "round %d of file %d\n", round, i);
			if (lseek(files[i], 0, SEEK_SET) != 0 || write(files[i], text, (size_t)len) != len)
				return "cannot write";
		}
		rollcall_mark("a round");
		rollcall_flush();
		for (int i = 0; i < FILES; i++) {
			int len = snprintf(text, sizeof(text), "round %d of file %d\n", round, i);
			if (lseek(files[i], 0, SEEK_CUR) != len || lseek(files[i], 0, SEEK_END) != len ||
			    pread(files[i], back, sizeof(back), 0) != len ||
			    memcmp(text, back, (size_t)len) != 0)
				return "somebody else wrote into a file";
		}
	}
	return "ok";
}

static const char *again(void)
{
	for (int i = 0; i < 20000; i++) {
		close(0);
		if (open("/dev/null", O_RDONLY) != 0)
			return "0 was taken";
		if (i % 4000 == 2000)
			rollcall_mark("opening files by the dozen");
	}
	return "ok";
}

int main(int argc, char **argv)
{
	char line[16];
	if (argc > 2)
		rollcall_mark("before");
	int input = argc > 2 ? 0 : dup(0);
	printf("%ld\n%s\n", (long)getpid(), argc > 2 ? own_files(argv[2]) : again());
	fflush(stdout);
	return read(input, line, sizeof(line)) < 0;
}
