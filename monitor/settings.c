// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The configuration as a table: a setting is a row with its words, and reading,
// writing and the words in errors follow from it. A file is taken whole or not
// at all, so that a damaged one gives the usual settings and one sentence.

#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "view.h"

#include "../libtelemetry/banned.h"

#define FILE_BYTES_MAX 65536
#define LINE_BYTES     200

static const char *const units_words[] = {"iec", "si", "plain", NULL};
static const char *const colours_words[] = {"auto", "dark", "light", "none", NULL};
static const char *const on_words[] = {"off", "on", NULL};
static const char *const dead_words[] = {"hide", "show", NULL};

static const struct setting {
	const char *name;
	size_t offset;		  // of an unsigned in struct mon_settings
	const char *const *words; // NULL: `sort`, a column; or a number
	unsigned least, most;	  // of a number; 0 and 0: a column
	const char *help;
} table[] = {
#define AT(name) offsetof(struct mon_settings, name)
	{"units", AT(units), units_words, 0, 0, "of sizes: iec (1.20G is 1.20 * 2^30), si (10^9), plain bytes"},
	{"colours", AT(colours), colours_words, 0, 0, "for a dark or a light background, or none"},
	{"mouse", AT(mouse), on_words, 0, 0, "off leaves the mouse to the terminal, to select text"},
	{"interval_ms", AT(interval_ms), NULL, MON_INTERVAL_MS_MIN, MON_INTERVAL_MS_MAX,
	 "time between refreshes"},
	{"sort", AT(sort), NULL, 0, 0, "the column that the overview is sorted by"},
	{"invert", AT(invert), on_words, 0, 0, "its order upside down"},
	{"tree", AT(tree), on_words, 0, 0, "children below their parents"},
	{"dead", AT(dead), dead_words, 0, 0, "processes that have ended"},
#undef AT
};

void mon_settings_init(struct mon_settings *settings)
{
	*settings = (struct mon_settings){.mouse = 1,
					  .sort = MON_COLUMN_VERDICT,
					  .dead = 1,
					  .interval_ms = MON_INTERVAL_MS_DEFAULT};
}

int mon_settings_path(char *buffer, size_t size)
{
	const char *base = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	int len = -1;
	if (base && base[0] == '/')
		len = snprintf(buffer, size, "%s/rollcall/config", base);
	else if (home && home[0] == '/')
		len = snprintf(buffer, size, "%s/.config/rollcall/config", home);
	return len < 0 || (size_t)len >= size ? -ENOENT : 0;
}

// ---- One setting ----------------------------------------------------------------

static unsigned *value_of(struct mon_settings *settings, const struct setting *setting)
{
	return (unsigned *)(void *)((char *)settings + setting->offset);
}

static int parse_column(const char *value, unsigned *ret_value)
{
	for (int c = 0; c < MON_COLUMN_COUNT; c++) {
		if (strcasecmp(value, mon_column_title((enum mon_column)c)) != 0)
			continue;
		*ret_value = (unsigned)c;
		return 0;
	}
	return TELE_ESYNTAX;
}

static int parse_value(const struct setting *setting, const char *value, unsigned *ret_value)
{
	if (!setting->words && !setting->most)
		return parse_column(value, ret_value);
	if (!setting->words) {
		char *end;
		errno = 0;
		unsigned long number = strtoul(value, &end, 10);
		if (!isdigit((unsigned char)value[0]) || *end || errno || number < setting->least ||
		    number > setting->most)
			return TELE_ESYNTAX;
		*ret_value = (unsigned)number;
		return 0;
	}
	for (unsigned i = 0; setting->words[i]; i++) {
		if (strcmp(setting->words[i], value) != 0)
			continue;
		*ret_value = i;
		return 0;
	}
	return TELE_ESYNTAX;
}

// "iec, si or plain"
static void name_values(const struct setting *setting, char *buffer, size_t size)
{
	size_t len = 0;
	if (setting->most) {
		snprintf(buffer, size, "%u to %u", setting->least, setting->most);
		return;
	}
	for (unsigned i = 0; len < size; i++) {
		bool is_column = !setting->words;
		const char *word = is_column ? mon_column_title((enum mon_column)i) : setting->words[i];
		bool is_last = is_column ? i + 1 == MON_COLUMN_COUNT : !setting->words[i + 1];
		len += (size_t)snprintf(buffer + len, size - len, "%s%s",
					i == 0 ? "" : is_last ? " or " : ", ", word);
		if (is_last)
			return;
	}
}

int mon_settings_set(struct mon_settings *settings, const char *name, const char *value,
		     struct tele_error *ret_error)
{
	char words[160], shown[LINE_BYTES];
	for (size_t i = 0; i < TELE_ARRAY_LEN(table); i++) {
		if (strcmp(table[i].name, name) != 0)
			continue;
		if (parse_value(&table[i], value, value_of(settings, &table[i])) == 0)
			return 0;
		name_values(&table[i], words, sizeof(words));
		mon_text_clean(value, false, shown, sizeof(shown));
		return tele_fail(ret_error, TELE_ESYNTAX, "%s is not '%.40s' but %s", name, shown, words);
	}
	mon_text_clean(name, false, shown, sizeof(shown));
	return tele_fail(ret_error, TELE_ESYNTAX, "there is no setting '%.40s'", shown);
}

// ---- Reading --------------------------------------------------------------------

static char *trim(char *text)
{
	text += strspn(text, " \t\r");
	size_t len = strlen(text);
	while (len > 0 && strchr(" \t\r", text[len - 1]))
		text[--len] = '\0';
	return text;
}

static int read_line(char *line, struct mon_settings *settings, struct tele_error *ret_error)
{
	char *name = trim(line);
	if (!name[0] || name[0] == '#')
		return 0;
	char *equals = strchr(name, '=');
	if (!equals)
		return tele_fail(ret_error, TELE_ESYNTAX, "a setting is `name = value`");
	*equals = '\0';
	return mon_settings_set(settings, trim(name), trim(equals + 1), ret_error);
}

static int read_lines(const char *path, char *text, size_t n_bytes, struct mon_settings *settings,
		      struct tele_error *ret_error)
{
	unsigned number = 0;
	if (memchr(text, 0, n_bytes))
		return tele_fail(ret_error, TELE_ESYNTAX, "%s is no text", path);
	for (char *line = text, *next; line; line = next) {
		struct tele_error error = {0};
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		number++;
		int failed = strlen(line) >= LINE_BYTES
				     ? tele_fail(&error, TELE_ESYNTAX, "the line is too long")
				     : read_line(line, settings, &error);
		if (failed)
			return tele_fail(ret_error, failed, "%s:%u: %s", path, number, error.text);
	}
	return 0;
}

// The file's bytes and a NUL into `text`; the bytes, or an error.
static ssize_t read_file(const char *path, char text[FILE_BYTES_MAX + 1], struct tele_error *ret_error)
{
	struct stat status;
	// A FIFO must not stop us, a device not be started.
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0)
		return tele_fail(ret_error, -errno, "cannot read %s: %s", path, tele_strerror(-errno));
	ssize_t n_bytes = -1;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= FILE_BYTES_MAX)
		n_bytes = read(fd, text, FILE_BYTES_MAX);
	close(fd);
	if (n_bytes < 0)
		return tele_fail(ret_error, TELE_ESYNTAX, "%s is no file of at most 64 KiB", path);
	text[n_bytes] = '\0';
	return n_bytes;
}

int mon_settings_read(const char *path, struct mon_settings *settings, struct tele_error *ret_error)
{
	struct mon_settings read = *settings;
	char *text = malloc(FILE_BYTES_MAX + 1);
	if (!text)
		return tele_fail(ret_error, -ENOMEM, "out of memory");
	ssize_t n_bytes = read_file(path, text, ret_error);
	int status = (int)n_bytes;
	if (n_bytes > 0)
		status = read_lines(path, text, (size_t)n_bytes, &read, ret_error);
	free(text);
	if (status < 0)
		return status;
	*settings = read;
	return 0;
}

// ---- Writing --------------------------------------------------------------------

static void write_setting(FILE *file, const struct mon_settings *settings, const struct setting *setting)
{
	char words[160];
	unsigned value;
	memcpy(&value, (const char *)settings + setting->offset, sizeof(value));
	name_values(setting, words, sizeof(words));
	fprintf(file, "\n# %s\n# (%s)\n%s = ", setting->help, words, setting->name);
	if (setting->words)
		fprintf(file, "%s\n", setting->words[value]);
	else if (setting->most)
		fprintf(file, "%u\n", value);
	else
		fprintf(file, "%s\n", mon_column_title((enum mon_column)value));
}

// Makes the folders above a path.
static int make_folders(const char *path)
{
	char folder[512];
	snprintf(folder, sizeof(folder), "%s", path);
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(folder, 0700) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

int mon_settings_write(const char *path, const struct mon_settings *settings,
		       struct tele_error *ret_error)
{
	char fresh[600];
	// Where the name is a link, what it leads to is written.
	char *target = realpath(path, NULL);
	const char *to = target ? target : path;
	snprintf(fresh, sizeof(fresh), "%s.%ld", to, (long)getpid());
	int status = make_folders(to);
	FILE *file = NULL;
	int fd = status ? -1 : open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		file = fdopen(fd, "w");
	if (!status && !file)
		status = -errno;
	if (file) {
		fprintf(file, "# What `rollcall top` and `rollcall replay` start with; W writes it anew.\n");
		for (size_t i = 0; i < TELE_ARRAY_LEN(table); i++)
			write_setting(file, settings, &table[i]);
		errno = EIO;
		bool is_bad = fflush(file) != 0 || fsync(fd) != 0;
		is_bad = fclose(file) != 0 || is_bad;
		if (is_bad || rename(fresh, to) != 0)
			status = -errno;
		if (status)
			unlink(fresh);
	}
	if (status)
		tele_fail(ret_error, status, "cannot write %s: %s", to, tele_strerror(status));
	free(target);
	return status;
}

// ---- Options and views ------------------------------------------------------------

static int set_word(struct mon_settings *settings, const char *word, struct tele_error *ret_error)
{
	char name[LINE_BYTES];
	const char *equals = strchr(word, '=');
	if (!equals || (size_t)snprintf(name, sizeof(name), "%.*s", (int)(equals - word), word) >= sizeof(name))
		return tele_fail(ret_error, TELE_ESYNTAX, "a setting is name=value");
	return mon_settings_set(settings, name, equals + 1, ret_error);
}

int mon_check_setting(const char *word, struct tele_error *ret_error)
{
	struct mon_settings unused;
	mon_settings_init(&unused);
	return set_word(&unused, word, ret_error);
}

int mon_settings_apply(struct mon_settings *settings, const struct mon_options *options,
		       struct tele_error *ret_error)
{
	for (unsigned i = 0; options->set && options->set[i]; i++) {
		int failed = set_word(settings, options->set[i], ret_error);
		if (failed)
			return failed;
	}
	if (options->interval_ms)
		settings->interval_ms = (unsigned)options->interval_ms;
	return 0;
}

int mon_save_settings(const struct mon_options *options, char *path, size_t size,
		      struct tele_error *ret_error)
{
	struct mon_settings settings;
	mon_settings_init(&settings);
	int status = mon_settings_path(path, size);
	if (status)
		return tele_fail(ret_error, status, "neither XDG_CONFIG_HOME nor HOME says where to");
	status = mon_settings_read(path, &settings, ret_error);
	if (status == 0)
		status = mon_settings_apply(&settings, options, ret_error);
	return status ? status : mon_settings_write(path, &settings, ret_error);
}

void mon_settings_to_view(const struct mon_settings *settings, struct mon_view *view)
{
	view->units = (enum mon_units)settings->units;
	view->sort = (enum mon_column)settings->sort;
	view->is_inverted = settings->invert;
	view->is_tree = settings->tree;
	view->is_dead_hidden = settings->dead == 0;
}

void mon_settings_from_view(struct mon_settings *settings, const struct mon_view *view)
{
	settings->units = view->units;
	settings->sort = view->sort;
	settings->invert = view->is_inverted;
	settings->tree = view->is_tree;
	settings->dead = !view->is_dead_hidden;
}
