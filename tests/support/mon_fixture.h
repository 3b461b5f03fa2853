// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Processes made by hand for tests of the model, the views and JSON: a real
// schema written and parsed, rows by field name, records applied to a model.

#ifndef TESTS_MON_FIXTURE_H
#define TESTS_MON_FIXTURE_H

#include "../../libtelemetry/source.h"
#include "../../libtelemetry/strings.h"
#include "../../monitor/model.h"

#define FIXTURE_S UINT64_C(1024000000) // about a second, a multiple of 1,024 ns

struct fixture {
	struct tele_instance instance;
	struct tele_strings *strings;
	struct tele_schema_writer writer;
	uint64_t row[TELE_FIELDS_MAX]; // what the next row says; unknown at first
	uint64_t seq;
	uint64_t next_string;
	uint32_t device_like;
};

// A live process that was created at second 1 and knows nothing of itself.
struct fixture *fixture_new(uint64_t pid, const char *label);
void fixture_free(struct fixture *fixture);

// Schema growth.
void fixture_add_device(struct fixture *fixture, uint32_t device);
void fixture_add_instance(struct fixture *fixture, enum tele_section section, uint32_t number);
void fixture_add_app(struct fixture *fixture, const char *name, unsigned kind, unsigned unit);

// Sets a field of the next row. The field has to exist.
void fixture_set(struct fixture *fixture, const char *name, uint64_t value);
uint64_t fixture_string(struct fixture *fixture, const char *text);

// Applies records.
void fixture_tell(struct mon_model *model, struct fixture *fixture);
void fixture_row(struct mon_model *model, struct fixture *fixture, uint64_t at_ns);
void fixture_event(struct mon_model *model, struct fixture *fixture, uint32_t type, uint64_t at_ns,
		   uint64_t subject, uint64_t value, const char *text);
void fixture_gap(struct mon_model *model, struct fixture *fixture, uint64_t n_records);
void fixture_state(struct mon_model *model, struct fixture *fixture, enum tele_state state);

// A search that leaks working pools, as in the report the project starts from,
// after `n_linked` linked candidates. It has told its rows and events.
struct fixture *fixture_search(struct mon_model *model, uint64_t pid, uint64_t n_linked);

// A process with the malloc's books and nothing else.
struct fixture *fixture_server(struct mon_model *model, uint64_t pid, const char *label);

#endif
