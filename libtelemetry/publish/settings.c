// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What the environment asks for, and who this process is. Values out of range
// fall back to the default: a typo must not change a program's fate.

#include "process.h"

#include "../collector.h"
#include "../identity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "../banned.h"

static uint64_t number_of(const char *name, uint64_t low, uint64_t high, uint64_t otherwise)
{
	const char *text = secure_getenv(name);
	char *end;
	if (!text || *text < '0' || *text > '9')
		return otherwise;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	return errno || *end || value < low || value > high ? otherwise : value;
}

static bool is_word(const char *name, const char *word)
{
	const char *text = secure_getenv(name);
	return text && strcmp(text, word) == 0;
}

// A relative one is below the directory that the program started in: by the
// time of publishing it may have gone to another. One that is too long becomes
// the empty name, in which nothing can be made.
static void set_directory(char *ret_directory, size_t size)
{
	const char *given = secure_getenv("ROLLCALL_DIR");
	size_t len = 0;
	if (!given || !*given) {
		snprintf(ret_directory, size, "/dev/shm/rollcall-%u", (unsigned)geteuid());
		return;
	}
	if (*given != '/' && getcwd(ret_directory, size)) {
		len = strlen(ret_directory);
		if (len + 1 < size)
			ret_directory[len++] = '/';
	}
	if (len + strlen(given) >= size)
		ret_directory[0] = '\0';
	else
		memcpy(ret_directory + len, given, strlen(given) + 1);
}

bool tele_is_browser_helper(int argc, char **argv)
{
	for (int i = 1; i < argc && argv[i]; i++)
		if (strncmp(argv[i], "--type=", 7) == 0)
			return true;
	return false;
}

void tele_settings_read(struct tele_settings *ret_settings)
{
	memset(ret_settings, 0, sizeof(*ret_settings));
	const char *label = secure_getenv("ROLLCALL_LABEL");
	ret_settings->is_off = is_word("ROLLCALL", "off") || is_word("ROLLCALL", "0");
	ret_settings->is_root = number_of("ROLLCALL_ROOT", 1, INT32_MAX, 0) == (uint64_t)getpid();
	ret_settings->children = is_word("ROLLCALL_CHILDREN", "no")    ? TELE_CHILDREN_NO
				 : is_word("ROLLCALL_CHILDREN", "all") ? TELE_CHILDREN_ALL
								       : TELE_CHILDREN_LAZY;
	ret_settings->has_cmdline = !is_word("ROLLCALL_CMDLINE", "no");
	ret_settings->period_ns = number_of("ROLLCALL_INTERVAL_MS", 1, 60000, 100) * 1000000;
	uint64_t ring = number_of("ROLLCALL_RING_BYTES", TELE_RING_BYTES_MIN, TELE_RING_BYTES_MAX,
				  TELE_RING_BYTES_DEFAULT);
	ret_settings->ring_bytes = (ring & (ring - 1)) == 0 ? ring : TELE_RING_BYTES_DEFAULT;
	if (label)
		snprintf(ret_settings->label, sizeof(ret_settings->label), "%s", label);
	set_directory(ret_settings->directory, sizeof(ret_settings->directory));
}

// Without one (an old kernel, a filter) our files stand in the program's table,
// at numbers out of its way.
bool tele_has_own_table;

void tele_take_own_table(void)
{
	if (!tele_has_own_table)
		tele_has_own_table = syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE) == 0;
}

int tele_open(int directory_fd, const char *path, int flags, unsigned mode)
{
	int fd = openat(directory_fd, path, flags | O_CLOEXEC | O_NOCTTY, mode);
	if (fd < 0)
		return -errno;
	// Not at 0 to 2 either: what something in this thread says on standard error
	// must not go into the segment.
	int lowest = tele_has_own_table ? 3 : 512;
	if (fd >= lowest)
		return fd;
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
	int saved = errno;
	close(fd);
	return moved < 0 ? -saved : moved;
}

static ssize_t read_file(const char *path, char *buffer, size_t size)
{
	int fd = tele_open(AT_FDCWD, path, O_RDONLY, 0);
	if (fd < 0)
		return -1;
	ssize_t n;
	do {
		n = read(fd, buffer, size - 1);
	} while (n < 0 && errno == EINTR);
	close(fd);
	if (n >= 0)
		buffer[n] = '\0';
	return n;
}

// Field 22 of /proc/self/stat; the second may hold blanks and brackets.
static uint64_t start_ticks(void)
{
	char text[1024];
	if (read_file("/proc/self/stat", text, sizeof(text)) <= 0)
		return 0;
	const char *at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at + 1, NULL, 10) : 0;
}

// The command line with its arguments apart, or the name alone.
static void default_label(const struct tele_settings *settings, const char *comm, char *label,
			  size_t size)
{
	char text[512];
	ssize_t n = settings->has_cmdline ? read_file("/proc/self/cmdline", text, sizeof(text)) : -1;
	if (n <= 0) {
		snprintf(label, size, "%s", comm);
		return;
	}
	for (ssize_t i = 0; i + 1 < n; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	// The path of the program says less than its name.
	char *end = strchr(text, ' ');
	char *name = text;
	for (char *at = text; *at && at != end; at++)
		if (*at == '/')
			name = at + 1;
	snprintf(label, size, "%.*s", (int)size - 1, name);
}

uint64_t tele_random_id(void)
{
	uint64_t id = 0;
	if (getrandom(&id, sizeof(id), GRND_NONBLOCK) != (ssize_t)sizeof(id)) {
		struct timespec now;
		clock_gettime(CLOCK_REALTIME, &now);
		id = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^ (uint64_t)getpid() << 16;
	}
	return id ? id : 1;
}

void tele_identity_of_self(const struct tele_settings *settings, uint64_t instance_id,
			   uint64_t parent_instance_id, struct tele_identity *ret_identity)
{
	struct stat status;
	struct timespec now;
	char boot_id[64];
	memset(ret_identity, 0, sizeof(*ret_identity));
	ret_identity->instance_id = instance_id;
	ret_identity->parent_instance_id = parent_instance_id;
	if (read_file("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id)) > 0)
		tele_boot_id_parse(boot_id, ret_identity->boot_id);
	ret_identity->pid = (uint64_t)getpid();
	ret_identity->parent_pid = (uint64_t)getppid();
	ret_identity->start_ticks = start_ticks();
	if (stat("/proc/self/ns/pid", &status) == 0)
		ret_identity->pid_namespace = status.st_ino;
	ret_identity->euid = geteuid();
	ret_identity->created_at_ns = rollcall_clock_ns();
	clock_gettime(CLOCK_REALTIME, &now);
	ret_identity->created_realtime_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	ret_identity->period_ns = settings->period_ns;
	if (read_file("/proc/self/comm", ret_identity->comm, 17) > 0)
		ret_identity->comm[strcspn(ret_identity->comm, "\n")] = '\0';
	if (settings->label[0])
		memcpy(ret_identity->label, settings->label, sizeof(ret_identity->label));
	else
		default_label(settings, ret_identity->comm, ret_identity->label,
			      sizeof(ret_identity->label));
}
