// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// See folder.h. Nothing follows a link: what tests make may point anywhere.

#include "folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *folder_of_files(void)
{
	const char *folder = getenv("TMPDIR");
	return folder && *folder ? folder : "/tmp";
}

const char *test_folder_of_segments(void)
{
	return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : folder_of_files();
}

bool test_folder_make(const char *parent, char ret_folder[TEST_FOLDER_BYTES])
{
	char folder[TEST_FOLDER_BYTES];
	if (!parent)
		parent = folder_of_files();
	int len = snprintf(folder, sizeof(folder), "%s/rollcall-test-XXXXXX", parent);
	if (len < 0 || (size_t)len >= sizeof(folder))
		errno = ENAMETOOLONG;
	else if (mkdtemp(folder)) {
		memcpy(ret_folder, folder, sizeof(folder));
		return true;
	}
	fprintf(stderr, "a folder in %s: %s\n", parent, strerror(errno));
	return false;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	if (where->level > 0)
		remove(path);
	return 0;
}

static int name_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	if (where->level > 0)
		fprintf(stderr, "left behind: %s\n", path);
	return 0;
}

void test_folder_clear(const char *folder)
{
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int test_folder_remove(const char *folder)
{
	if (rmdir(folder) == 0)
		return 0;
	nftw(folder, name_one, 8, FTW_PHYS);
	test_folder_clear(folder);
	rmdir(folder);
	return -1;
}
