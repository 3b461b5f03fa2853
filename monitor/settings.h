// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What a user may want to keep: the file rollcall/config in $XDG_CONFIG_HOME
// (~/.config). It is read when the interactive monitor starts, and written when
// the user says so and never else. docs/monitor.md describes it.

#ifndef MON_SETTINGS_H
#define MON_SETTINGS_H

#include "../libtelemetry/error.h"
#include "monitor.h"

struct mon_settings {
	unsigned units;	  // enum mon_units
	unsigned colours; // enum mon_colours
	unsigned mouse;	  // 1: clicks are ours, 0: the terminal's
	unsigned sort;	  // enum mon_column, of the overview
	unsigned invert, tree, dead; // 1: yes
	unsigned interval_ms;
};

void mon_settings_init(struct mon_settings *settings);

// The path of the file into buffer: 0, or -ENOENT when neither XDG_CONFIG_HOME
// nor HOME is an absolute path that fits.
int mon_settings_path(char *buffer, size_t size);

// Reads the file at `path`. A file that is not there changes nothing and is no
// error. After an error, which names the line, *settings is as it was.
int mon_settings_read(const char *path, struct mon_settings *settings, struct tele_error *ret_error);

// Writes the file whole, and makes its folder; what stood in it before is
// replaced or, after an error, untouched.
int mon_settings_write(const char *path, const struct mon_settings *settings,
		       struct tele_error *ret_error);

// The value that a word means for a setting: `mon_settings_set(s, "units", "si")`.
// TELE_ESYNTAX says what there is.
int mon_settings_set(struct mon_settings *settings, const char *name, const char *value,
		     struct tele_error *ret_error);

// `set` and interval_ms of the options.
int mon_settings_apply(struct mon_settings *settings, const struct mon_options *options,
		       struct tele_error *ret_error);

struct mon_view;

// Between settings and what a view shows; colours and mouse are the painter's.
void mon_settings_to_view(const struct mon_settings *settings, struct mon_view *view);
void mon_settings_from_view(struct mon_settings *settings, const struct mon_view *view);

#endif
