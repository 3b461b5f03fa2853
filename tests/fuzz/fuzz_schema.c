// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Schemas of a liar: the input is a list of records whose lengths and checksums
// are put right, parsed as they come, as a growing schema is, behind our own
// sections or from nothing. Whatever parses must be sound: names end, positions
// lead back, and a row of its plan comes back from the codec as it went in.

#include "libtelemetry/schema.h"

#include "libtelemetry/codec.h"
#include "libtelemetry/crc32c.h"
#include "libtelemetry/schema_wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static uint8_t bytes[TELE_SCHEMA_BYTES_DEFAULT];
static size_t used;

static void put_record(uint8_t type, const uint8_t *body, size_t body_bytes)
{
	struct tele_schema_head head = {
		.bytes = (uint16_t)tele_align_up(sizeof(head) + body_bytes, 8),
		.type = type,
	};
	if (head.bytes > sizeof(bytes) - used)
		return;
	memset(bytes + used, 0, head.bytes);
	memcpy(bytes + used + sizeof(head), body, body_bytes);
	memcpy(bytes + used, &head, sizeof(head));
	head.checksum = tele_crc32c(0, bytes + used, head.bytes);
	memcpy(bytes + used, &head, sizeof(head));
	used += head.bytes;
}

static void check_names(const struct tele_schema *schema)
{
	char name[1024];
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		const struct tele_field *field = &schema->fields[i];
		if (strlen(field->section) > 255 || strlen(field->name) > 255 || strlen(field->help) > 255 ||
		    strlen(field->label) > 255)
			abort();
		tele_field_full_name(field, name, sizeof(name));
		int64_t at = tele_schema_find(schema, name);
		if (at >= schema->n_fields)
			abort();
		if (field->builtin >= 0 &&
		    tele_schema_position(schema, (enum tele_field_id)field->builtin, field->instance) < 0)
			abort();
	}
}

static void check_codec(const struct tele_schema *schema)
{
	static uint64_t row[TELE_FIELDS_MAX], back[TELE_FIELDS_MAX];
	static uint64_t words[2][TELE_CODEC_WORDS(TELE_FIELDS_MAX)];
	static uint8_t frame[TELE_FIELDS_MAX * 16 + 1024];
	struct tele_codec encoder, decoder;
	tele_codec_init(&encoder, schema->plan, schema->n_fields, words[0]);
	tele_codec_init(&decoder, schema->plan, schema->n_fields, words[1]);
	for (uint64_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < schema->n_fields; i++) {
			uint64_t mask = (UINT64_C(1) << schema->plan->fields[i].shift) - 1;
			uint64_t value = (i + 1) * (round + 1) * UINT64_C(0x9e3779b97f4a7c15);
			row[i] = (i + round) % 5 ? value & ~mask : TELE_UNKNOWN;
		}
		size_t n = tele_codec_encode(&encoder, row, frame);
		if (n > sizeof(frame) ||
		    tele_codec_decode(&decoder, frame, n, back) != (int64_t)n ||
		    memcmp(row, back, schema->n_fields * sizeof(row[0])) != 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static struct tele_plan plan;
	if (n_bytes < 1)
		return 0;
	struct tele_schema *schema = tele_schema_new();
	struct tele_schema_writer writer = {0};
	if (!schema)
		abort();
	used = 0;
	if (data[0] & 1) {
		memset(&plan, 0, sizeof(plan));
		if (tele_schema_write_start(&writer, bytes, sizeof(bytes), &plan) != 0)
			abort();
		used = writer.used_bytes;
	}
	data++;
	n_bytes--;
	int failed = tele_schema_parse(schema, bytes, used, NULL);
	while (n_bytes >= 2 && !failed) {
		size_t len = tele_min_u64(data[1], n_bytes - 2);
		put_record(data[0] % 6, data + 2, len);
		data += 2 + len;
		n_bytes -= 2 + len;
		failed = tele_schema_parse(schema, bytes, used, NULL);
	}
	check_names(schema);
	if (schema->n_fields)
		check_codec(schema);
	tele_schema_free(schema);
	return 0;
}
