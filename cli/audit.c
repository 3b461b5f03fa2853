// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The verb `audit`: the prediction bucket by bucket against what the process
// itself measured with mincore. The measurement is slow and has a time of its
// own, which is printed; the difference is what happened in between, too.

#include "commands.h"
#include "devices.h"
#include "pick.h"
#include "text.h"

#include "../analysis/residency.h"
#include "../monitor/monitor.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../libtelemetry/banned.h"

struct reading {
	const struct tele_schema *schema;
	const uint64_t *row;
	uint32_t n_fields;
};

static uint64_t value(const struct reading *reading, enum tele_field_id id)
{
	return tele_schema_value(reading->schema, id, TELE_NO_INSTANCE, reading->row, reading->n_fields);
}

static const struct {
	unsigned bucket;
	enum tele_field_id bytes, resident;
} buckets[] = {
	{TELE_BUCKET_LIVE, TELE_ID_heap_live_bytes, TELE_ID_heap_live_resident_bytes},
	{TELE_BUCKET_ROUNDING, TELE_ID_heap_rounding_bytes, TELE_ID_heap_rounding_resident_bytes},
	{TELE_BUCKET_CACHE, TELE_ID_heap_cache_bytes, TELE_ID_heap_cache_resident_bytes},
	{TELE_BUCKET_SPAN_FREE, TELE_ID_heap_span_free_bytes, TELE_ID_heap_span_free_resident_bytes},
	{TELE_BUCKET_RETURNED, TELE_ID_heap_returned_bytes, TELE_ID_heap_returned_resident_bytes},
	{TELE_BUCKET_VIRGIN, TELE_ID_heap_virgin_bytes, TELE_ID_heap_virgin_resident_bytes},
	{TELE_BUCKET_HYSTERESIS, TELE_ID_heap_hysteresis_bytes, TELE_ID_heap_hysteresis_resident_bytes},
	{TELE_BUCKET_OVERHEAD, TELE_ID_heap_segment_overhead_bytes, TELE_ID_heap_segment_overhead_resident_bytes},
};

static void print_signed(const char *name, struct analysis_signed amount, const char *what)
{
	char size[CLI_SIZE_TEXT];
	char text[CLI_SIZE_TEXT + 1] = "n/a";
	if (amount.is_known) {
		bool is_negative = amount.value < 0;
		cli_bytes_text(is_negative ? 0 - (uint64_t)amount.value : (uint64_t)amount.value, size);
		snprintf(text, sizeof(text), "%c%s", is_negative ? '-' : '+', size);
	}
	printf("  %-18s %14s  %s\n", name, text, what);
}

static void print_line(const char *name, uint64_t bytes, uint64_t predicted, uint64_t measured)
{
	printf("  %-18s %14" PRIu64 " %14" PRIu64, name, bytes, predicted);
	if (measured == TELE_UNKNOWN)
		printf(" %14s %14s\n", "n/a", "n/a");
	else
		printf(" %14" PRIu64 " %+14" PRId64 "\n", measured, (int64_t)(measured - predicted));
}

static void print_buckets(const struct reading *reading, const struct analysis_residency *residency)
{
	printf("  %-18s %14s %14s %14s %14s\n", "bucket", "bytes", "predicted", "resident", "difference");
	for (size_t i = 0; i < TELE_ARRAY_LEN(buckets); i++) {
		uint64_t bytes = value(reading, buckets[i].bytes);
		bool is_resident =
			analysis_bucket_residency(reading->schema, buckets[i].bucket) != TELE_RESIDENT_NO;
		print_line(tele_bucket_name(buckets[i].bucket), bytes, is_resident ? bytes : 0,
			   value(reading, buckets[i].resident));
	}
	print_line("mapped", value(reading, TELE_ID_heap_mapped_bytes), residency->predicted_bytes,
		   value(reading, TELE_ID_heap_resident_bytes));
}

static void print_process(const struct tele_instance *instance, const struct reading *reading,
			  const struct analysis_books *books)
{
	struct analysis_residency residency;
	char text[sizeof(instance->identity.label) * 2];
	char rss[CLI_SIZE_TEXT], predicted[CLI_SIZE_TEXT];
	analysis_residency_read(reading->schema, reading->row, reading->n_fields, &residency);
	mon_text_clean(instance->identity.label, !mon_is_utf8_locale(), text, sizeof(text));
	printf("%" PRIu64 "  %s  (%s)\n", instance->identity.pid, text, tele_state_name(instance->state));
	if (books->is_balanced)
		printf("  the books balance to the byte\n\n");
	else
		printf("  THE BOOKS DO NOT BALANCE: %" PRId64 " bytes unexplained\n\n", books->unexplained_bytes.value);
	print_buckets(reading, &residency);
	uint64_t walked = value(reading, TELE_ID_heap_captured_at_ns);
	uint64_t measured = value(reading, TELE_ID_heap_resident_captured_at_ns);
	if (measured == TELE_UNKNOWN)
		printf("  residency was not measured yet\n\n");
	else
		printf("  residency measured %.1f s before the books were read\n\n",
		       walked > measured ? (double)(walked - measured) / 1e9 : 0.0);
	print_signed("error", residency.error_bytes,
		     "of the prediction in the malloc's mappings, untouched and huge pages apart");
	print_signed("residual", residency.residual_bytes, "RSS less the prediction, made of:");
	print_signed("  untouched", residency.untouched_bytes, "asked for and never written");
	if (residency.huge_bytes.is_known)
		print_signed("  huge pages", residency.huge_bytes, "came along with a page that was touched");
	print_signed("  file", residency.file_bytes, "pages of files");
	print_signed("  shmem", residency.shmem_bytes, "shared memory of the program");
	print_signed("  ours", residency.own_bytes, "Rollcall's own");
	print_signed("  other", residency.other_bytes, "stacks, and what was mapped past the malloc");
	printf("  RSS %s, predicted %s\n", cli_bytes_text(residency.rss_bytes, rss),
	       cli_bytes_text(residency.predicted_bytes, predicted));
}

int cli_audit(const struct cli_call *call)
{
	static uint64_t row[TELE_FIELDS_MAX];
	struct tele_attach *attach;
	struct tele_error error = {0};
	struct analysis_books books;
	uint64_t seq;
	if (cli_expect_operands(call, 1, 1, "a PID or a label") != CLI_OK)
		return CLI_USAGE;
	if (cli_pick_process(call->operands[0], &attach, &error) < 0)
		return cli_fail_with(call, &error, "`rollcall list` shows which do");
	const struct tele_instance *instance = tele_attach_instance(attach);
	struct reading reading = {.schema = instance->schema, .row = row};
	int status = CLI_FAILED;
	if (tele_attach_latest(attach, row, TELE_ARRAY_LEN(row), &reading.n_fields, &seq, &error) < 0) {
		cli_fail_with(call, &error, "try again in a moment");
		goto out;
	}
	const struct cli_reading devices = {instance, row, reading.n_fields};
	analysis_books_read(reading.schema, row, reading.n_fields, &books);
	if (books.is_known)
		print_process(instance, &reading, &books);
	if (cli_print_devices(&devices) == 0 && !books.is_known) {
		cli_fail(call, CLI_FAILED,
			 "%s does not run on Rollcall's malloc, nor on a counted CUDA driver; start it with "
			 "`rollcall run -- CMD`",
			 call->operands[0]);
		goto out;
	}
	status = cli_finish_output(call);
	if (status == CLI_OK && books.is_known && !books.is_balanced)
		status = CLI_FAILED;
out:
	tele_attach_close(attach);
	return status;
}
