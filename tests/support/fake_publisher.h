// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A publisher that only remembers what it was given, so that a test of the
// census sees each boundary and each section as they were handed over. Include
// it in one file of a test program; it takes the place of libtelemetry/publish.

#ifndef TESTS_FAKE_PUBLISHER_H
#define TESTS_FAKE_PUBLISHER_H

#include "../../libtelemetry/publish/publisher.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define FAKE_ROWS 256
#define FAKE_PARTS 24
#define FAKE_COLLECTORS 128
#define FAKE_STRINGS 64

struct fake_part {
	unsigned section;
	uint32_t instance;
	uint32_t n_values;
	uint64_t values[32];
};

struct fake_row {
	uint32_t type;
	uint64_t subject, value;
	char text[256];
	unsigned n_parts;
	bool published;
	struct fake_part parts[FAKE_PARTS];
};

static struct {
	pthread_mutex_t lock;
	_Atomic uint64_t touches, refused;
	_Atomic bool inactive, strings_full, slots_full, keep_no_rows;
	unsigned parts_max;
	unsigned n_rows, n_events, n_strings;
	_Atomic unsigned n_collectors; // those before it never change again
	struct fake_row rows[FAKE_ROWS];
	struct fake_row events[FAKE_ROWS];
	struct rollcall_collector collectors[FAKE_COLLECTORS];
	char strings[FAKE_STRINGS][256];
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER, .parts_max = FAKE_PARTS};

static void fake_lock(void)
{
	pthread_mutex_lock(&fake.lock);
}

static void fake_unlock(void)
{
	pthread_mutex_unlock(&fake.lock);
}

// Before the handlers of the census, so that this lock is taken last.
__attribute__((constructor(101))) static void fake_register_fork_handlers(void)
{
	pthread_atfork(fake_lock, fake_unlock, fake_unlock);
}

void tele_publisher_touch(void)
{
	atomic_fetch_add_explicit(&fake.touches, 1, memory_order_relaxed);
}

bool tele_publisher_is_active(void)
{
	return !fake.inactive;
}

void tele_count_refused(void)
{
	fake.refused++;
}

uint64_t rollcall_clock_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) & ~UINT64_C(1023);
}

uint64_t tele_intern(const char *text)
{
	uint64_t id = TELE_UNKNOWN;
	pthread_mutex_lock(&fake.lock);
	for (unsigned i = 0; i < fake.n_strings; i++) {
		if (strcmp(fake.strings[i], text) == 0)
			id = i + 1;
	}
	if (id == TELE_UNKNOWN && !fake.strings_full && fake.n_strings < FAKE_STRINGS) {
		snprintf(fake.strings[fake.n_strings], 256, "%s", text);
		id = ++fake.n_strings;
	}
	pthread_mutex_unlock(&fake.lock);
	if (id == TELE_UNKNOWN)
		tele_count_refused();
	return id;
}

static void fake_fill(struct fake_row *row, uint32_t type, uint64_t subject, uint64_t value,
		      const char *text)
{
	*row = (struct fake_row){.type = type, .subject = subject, .value = value};
	snprintf(row->text, sizeof(row->text), "%s", text ? text : "");
}

int tele_slot_claim(struct tele_slot *ret_slot, uint32_t type, uint64_t subject, uint64_t value,
		    const char *text)
{
	if (fake.inactive)
		return -ENODATA;
	if (fake.slots_full || fake.keep_no_rows || fake.n_rows == FAKE_ROWS)
		return -EAGAIN;
	pthread_mutex_lock(&fake.lock);
	*ret_slot = (struct tele_slot){.ticket = fake.n_rows++};
	fake_fill(&fake.rows[ret_slot->ticket], type, subject, value, text);
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

uint64_t *tele_slot_section(struct tele_slot *slot, unsigned section, uint32_t instance,
			    uint32_t n_values)
{
	struct fake_row *row = &fake.rows[slot->ticket];
	if (row->n_parts >= fake.parts_max)
		return NULL;
	struct fake_part *part = &row->parts[row->n_parts++];
	part->section = section;
	part->instance = instance;
	part->n_values = n_values;
	return part->values;
}

void tele_slot_publish(struct tele_slot *slot)
{
	fake.rows[slot->ticket].published = true;
}

int rollcall_event(uint32_t type, uint64_t subject, uint64_t value, const char *text)
{
	pthread_mutex_lock(&fake.lock);
	if (fake.n_events < FAKE_ROWS)
		fake_fill(&fake.events[fake.n_events++], type, subject, value, text);
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

int rollcall_collector_register(const struct rollcall_collector *collector)
{
	int rc = -ENOSPC;
	pthread_mutex_lock(&fake.lock);
	unsigned n = fake.n_collectors;
	if (n < FAKE_COLLECTORS) {
		fake.collectors[n] = *collector;
		fake.n_collectors = n + 1;
		rc = (int)n;
	}
	pthread_mutex_unlock(&fake.lock);
	return rc;
}

// What a tick would read of a section now; false when nobody registered it.
static inline bool fake_collect(const char *section, uint32_t instance, void *ret_values,
				size_t size_bytes)
{
	memset(ret_values, 0xff, size_bytes);
	for (unsigned i = 0; i < fake.n_collectors; i++) {
		const struct rollcall_collector *collector = &fake.collectors[i];
		if (strcmp(collector->section, section) != 0 || collector->instance != instance)
			continue;
		collector->collect(collector->context, ret_values, collector->n_values);
		return true;
	}
	return false;
}

// The part of a boundary row that holds a section, or NULL.
static inline const struct fake_part *fake_part_of(const struct fake_row *row, unsigned section,
						   uint32_t instance)
{
	for (unsigned i = 0; i < row->n_parts; i++) {
		if (row->parts[i].section == section && row->parts[i].instance == instance)
			return &row->parts[i];
	}
	return NULL;
}

#endif
