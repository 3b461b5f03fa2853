// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The rules are read once and only looked at then. Which object a call came from
// is asked of the loader once for each place it comes from: the answers are kept
// in a small table that threads fill without a lock, a wrong guess in which only
// costs the question again.

#include "labels.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "../../libtelemetry/banned.h"

#define RULES_MAX 32
#define NAME_BYTES 64
#define CALLERS 256

enum condition { AT_LEAST, AT_MOST, ABOVE, BELOW, EXACTLY, CALLER };

struct rule {
	enum condition condition;
	unsigned label;
	uint64_t bytes;
	char name[NAME_BYTES];
};

static struct rule rules[RULES_MAX];
static unsigned n_rules, n_refused;
static bool asks_callers;

// The bits of the caller rules that hold for a return address; bit 63 says known.
static struct {
	_Atomic uintptr_t address;
	_Atomic uint64_t bits;
} callers[CALLERS];

// ---- Reading ---------------------------------------------------------------------

static bool read_label(const char *text, size_t length, unsigned *ret_label)
{
	static const char *const names[] = {"working", "constant", "staging"};
	for (unsigned i = 0; i < TELE_ARRAY_LEN(names); i++) {
		if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0) {
			*ret_label = i + 1;
			return true;
		}
	}
	return false;
}

static bool read_bytes(const char *text, const char *end, uint64_t *ret_bytes)
{
	uint64_t bytes = 0;
	unsigned shift = 0;
	if (text == end || *text < '0' || *text > '9')
		return false;
	for (; text < end && *text >= '0' && *text <= '9'; text++) {
		if (bytes > (UINT64_C(1) << 58) / 10)
			return false;
		bytes = bytes * 10 + (uint64_t)(*text - '0');
	}
	if (text < end && (*text == 'K' || *text == 'M' || *text == 'G'))
		shift = *text++ == 'K' ? 10 : text[-1] == 'M' ? 20 : 30;
	if (text != end || bytes > UINT64_MAX >> shift)
		return false;
	*ret_bytes = bytes << shift;
	return true;
}

static bool read_condition(const char *text, const char *end, struct rule *rule)
{
	static const struct {
		const char *text;
		enum condition condition;
	} conditions[] = {{"size>=", AT_LEAST}, {"size<=", AT_MOST}, {"size>", ABOVE},
			  {"size<", BELOW},	{"size=", EXACTLY},  {"caller=", CALLER}};
	for (size_t i = 0; i < TELE_ARRAY_LEN(conditions); i++) {
		size_t length = strlen(conditions[i].text);
		if ((size_t)(end - text) < length || memcmp(text, conditions[i].text, length) != 0)
			continue;
		text += length;
		rule->condition = conditions[i].condition;
		if (rule->condition != CALLER)
			return read_bytes(text, end, &rule->bytes);
		size_t name = (size_t)(end - text);
		if (name == 0 || name >= NAME_BYTES)
			return false;
		memcpy(rule->name, text, name);
		return true;
	}
	return false;
}

static bool read_rule(const char *text, const char *end)
{
	struct rule rule = {0};
	const char *colon = memrchr(text, ':', (size_t)(end - text));
	if (!colon || n_rules == RULES_MAX || !read_condition(text, colon, &rule) ||
	    !read_label(colon + 1, (size_t)(end - colon - 1), &rule.label))
		return false;
	asks_callers |= rule.condition == CALLER;
	rules[n_rules++] = rule;
	return true;
}

void cuda_labels_read(const char *text)
{
	while (text && *text) {
		const char *end = strchrnul(text, ',');
		if (end > text && !read_rule(text, end))
			n_refused++;
		text = *end ? end + 1 : end;
	}
}

unsigned cuda_labels_known(void)
{
	return n_rules;
}

unsigned cuda_labels_refused(void)
{
	return n_refused;
}

// ---- Deciding -----------------------------------------------------------------------

static uint64_t ask_caller(const void *caller)
{
	Dl_info object;
	uint64_t bits = UINT64_C(1) << 63;
	if (!dladdr(caller, &object) || !object.dli_fname)
		return bits;
	const char *slash = strrchr(object.dli_fname, '/');
	const char *name = slash ? slash + 1 : object.dli_fname;
	for (unsigned i = 0; i < n_rules; i++)
		if (rules[i].condition == CALLER &&
		    strncmp(name, rules[i].name, strlen(rules[i].name)) == 0)
			bits |= UINT64_C(1) << i;
	return bits;
}

static uint64_t caller_bits(const void *caller)
{
	uintptr_t address = (uintptr_t)caller;
	size_t place = (address >> 2) % CALLERS;
	// The bits were stored before the address that is seen here, or are another's
	// that took the place since: then the address has changed as well.
	if (atomic_load_explicit(&callers[place].address, memory_order_acquire) == address) {
		uint64_t bits = atomic_load_explicit(&callers[place].bits, memory_order_acquire);
		if (atomic_load_explicit(&callers[place].address, memory_order_acquire) == address && bits)
			return bits;
	}
	uint64_t bits = ask_caller(caller);
	atomic_store_explicit(&callers[place].address, 0, memory_order_release);
	atomic_store_explicit(&callers[place].bits, bits, memory_order_release);
	atomic_store_explicit(&callers[place].address, address, memory_order_release);
	return bits;
}

static bool holds(const struct rule *rule, unsigned number, uint64_t bytes, uint64_t caller)
{
	switch (rule->condition) {
	case AT_LEAST:
		return bytes >= rule->bytes;
	case AT_MOST:
		return bytes <= rule->bytes;
	case ABOVE:
		return bytes > rule->bytes;
	case BELOW:
		return bytes < rule->bytes;
	case EXACTLY:
		return bytes == rule->bytes;
	default:
		return caller >> number & 1;
	}
}

unsigned cuda_label_of(uint64_t bytes, const void *caller)
{
	if (TELE_LIKELY(n_rules == 0))
		return 0;
	uint64_t bits = asks_callers ? caller_bits(caller) : 0;
	for (unsigned i = 0; i < n_rules; i++)
		if (holds(&rules[i], i, bytes, bits))
			return rules[i].label;
	return 0;
}
