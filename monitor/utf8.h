// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// UTF-8 of unknown origin: decoding that never trusts its input, and the one
// place that says which characters may reach a terminal. mon_text_clean, which
// everybody calls, is declared in monitor.h.

#ifndef MON_UTF8_H
#define MON_UTF8_H

#include "../libtelemetry/base.h"

#define MON_CHAR_INVALID   UINT32_MAX
#define MON_CHAR_BYTES_MAX 4

// The character at *text, which it moves on; 0 at the NUL, where it stays. A
// byte that is not valid UTF-8 (overlong forms and surrogates are not) is
// MON_CHAR_INVALID, one byte long.
uint32_t mon_utf8_next(const char **text);

// Writes ch as UTF-8 (no NUL) and returns its bytes, 1 to 4.
size_t mon_utf8_put(uint32_t ch, char bytes[MON_CHAR_BYTES_MAX]);

// Whether a character shows as itself and nothing else: no control, no
// invisible one, none that reorders what is around it.
bool mon_char_is_safe(uint32_t ch);

// Columns of a character on a terminal: 0 (combines), 1, 2, or -1 for one that
// must not be shown. Goes by the locale's table (wcwidth).
int mon_char_width(uint32_t ch);

#endif
