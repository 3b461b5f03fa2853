// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Error codes and the sentence that explains one. Every function of the
// project returns >= 0 for success and a negative code for failure: either
// -errno, or one of the codes below, which lie outside errno's range.

#ifndef TELE_ERROR_H
#define TELE_ERROR_H

#include "base.h"

#define TELE_ERROR_MAP(X)                                                          \
	X(TELE_EMAGIC, -10001, "not a Rollcall file")                               \
	X(TELE_EVERSION, -10002, "made by an incompatible version")                 \
	X(TELE_EDAMAGED, -10003, "damaged")                                         \
	X(TELE_ETRUNCATED, -10004, "cut short")                                     \
	X(TELE_ECHECKSUM, -10005, "checksum does not match")                        \
	X(TELE_ELIMIT, -10006, "beyond a limit of the format")                      \
	X(TELE_ENOTREADY, -10007, "not ready yet")                                  \
	X(TELE_EOVERRUN, -10008, "overwritten while it was read")                   \
	X(TELE_EUNSAFE, -10009, "owner or permissions are not safe")                \
	X(TELE_EDISABLED, -10010, "switched off")                                   \
	X(TELE_ESYNTAX, -10011, "syntax error")                                     \
	X(TELE_ENOTFOUND, -10012, "no such process, label or field")

enum tele_error_code {
#define X(name, value, text) name = (value),
	TELE_ERROR_MAP(X)
#undef X
};

// What went wrong and where: one sentence without a final full stop, naming
// the path and offset. Filled by functions that take a last `ret_error`, which
// may be NULL.
struct tele_error {
	int code;
	char text[512];
};

// The text of a code: a TELE_E* or a -errno. Never NULL. Thread-safe, points
// at static storage.
const char *tele_strerror(int code);

// Fills *ret_error (if not NULL) and returns `code`, so that a failure can be
// one statement.
int tele_fail(struct tele_error *ret_error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
