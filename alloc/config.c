// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Parsing of ROLLCALL_MALLOC, without libc's number parsers: the text comes
// from the environment of any program and is never trusted.

#include "config.h"

#include <string.h>

#include "../libtelemetry/banned.h"

#define DECAY_MS_DEFAULT 200u
#define DECAY_MS_MAX 3600000u

struct alloc_config alloc_config = {
	.decay_ns = DECAY_MS_DEFAULT * 1000000ull,
	.aborts = true,
	.huge = ALLOC_HUGE_NEVER,
};

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && memcmp(text, word, len) == 0;
}

static bool parse_decay(struct alloc_config *config, const char *digits, size_t len)
{
	uint64_t decay_ms = 0;
	if (len == 0 || len > 9)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (digits[i] < '0' || digits[i] > '9')
			return false;
		decay_ms = decay_ms * 10 + (uint64_t)(digits[i] - '0');
	}
	config->decay_ns = tele_min_u64(decay_ms, DECAY_MS_MAX) * 1000000u;
	return true;
}

static bool parse_word(struct alloc_config *config, const char *text, size_t len)
{
	static const char decay[] = "decay_ms=";
	if (len >= sizeof(decay) - 1 && memcmp(text, decay, sizeof(decay) - 1) == 0)
		return parse_decay(config, text + sizeof(decay) - 1, len - (sizeof(decay) - 1));
	if (is_word(text, len, "keep=yes"))
		config->keeps = true;
	else if (is_word(text, len, "keep=no"))
		config->keeps = false;
	else if (is_word(text, len, "huge=never"))
		config->huge = ALLOC_HUGE_NEVER;
	else if (is_word(text, len, "huge=always"))
		config->huge = ALLOC_HUGE_ALWAYS;
	else if (is_word(text, len, "huge=system"))
		config->huge = ALLOC_HUGE_SYSTEM;
	else if (is_word(text, len, "abort=yes"))
		config->aborts = true;
	else if (is_word(text, len, "abort=no"))
		config->aborts = false;
	else
		return false;
	return true;
}

int alloc_config_parse(struct alloc_config *config, const char *text)
{
	int unknown = 0;
	while (*text) {
		size_t len = strcspn(text, ",");
		if (len > 0 && !parse_word(config, text, len))
			unknown++;
		text += len;
		if (*text == ',')
			text++;
	}
	return unknown;
}
