// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A segment with its writer, as a publisher has them, whose every record
// follows from its number. The test commits steps; a step is a row, an event,
// or both; `kinds` remembers what became of each number.

#ifndef TESTS_SUPPORT_RING_FIXTURE_H
#define TESTS_SUPPORT_RING_FIXTURE_H

#include "libtelemetry/attach.h"
#include "libtelemetry/publish/ring.h"
#include "libtelemetry/schema.h"
#include "tests/support/folder.h"

#define TEST_RING_RECORDS_MAX 400000

struct test_ring {
	char directory[TEST_FOLDER_BYTES];
	struct tele_identity identity;
	struct tele_segment_file file;
	struct tele_ring ring;
	struct tele_plan plan;
	struct tele_schema_writer writer;
	uint8_t schema[TELE_SCHEMA_BYTES_DEFAULT];
	uint32_t string_fields[TELE_FIELDS_MAX], n_string_fields;
	uint32_t n_devices, n_apps;
	uint64_t n_records; // numbers 1 .. n_records are taken
	uint64_t n_steps;
	uint64_t row[TELE_FIELDS_MAX];
	uint16_t n_fields_of[TEST_RING_RECORDS_MAX]; // 0: an event
	bool is_noisy;	    // values and texts that do not compress
	void (*around)(struct test_ring *self, bool is_after); // each call of the writer
};

// Makes a directory and a segment in it, live. Fails the test when it cannot.
// With is_dead the identity is of a process that is gone.
struct test_ring *test_ring_new(size_t ring_bytes, bool is_dead);

// The same with the directory below `parent`, not where segments belong.
struct test_ring *test_ring_new_in(const char *parent, size_t ring_bytes, bool is_dead);

// Removes segment and directory.
void test_ring_free(struct test_ring *self);

// Commits n steps. Every tenth is an event, every tenth an event with a row.
void test_ring_steps(struct test_ring *self, uint64_t n);

// Commits what the test has made, as those steps do.
void test_ring_commit(struct test_ring *self, const struct tele_commit *commit);

// What field `field` of row `seq` is.
uint64_t test_ring_value(const struct test_ring *self, uint64_t seq, uint32_t field);

// Adds a device or an app gauge to the schema.
void test_ring_grow(struct test_ring *self, bool with_device);

// Whether a ROW or EVENT record is what its number says.
bool test_ring_is_right(const struct test_ring *self, const struct tele_record *record);

// The number of fields of row `seq`, 0 where it is an event.
uint32_t test_ring_fields_of(const struct test_ring *self, uint64_t seq);

// Claims boundary slot `ticket` as a thread of the program would, and fills it
// with a mark and, with_part, the census section.
void test_ring_claim(struct test_ring *self, const char *text, bool with_part, bool is_filled);

#endif
