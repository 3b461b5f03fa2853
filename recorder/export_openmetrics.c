// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// OpenMetrics with times. The format wants each series in one piece, and a
// trace has rows: so samples go, as differences of a few bytes, into one stream
// of a spill for each series, and text is made of the streams at the end.
// Prometheus keeps milliseconds: of rows within one the last counts.

#include "export_format.h"
#include "metrics.h"

#include "../analysis/derived.h"
#include "../libtelemetry/strings.h"
#include "../libtelemetry/varint.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

enum { SERIES_MAX = 50000, TEXTS_MAX = 4096 };
#define NO_SERIES UINT32_MAX
#define NS_A_MS 1000000

struct series {
	struct rec_stream stream;
	char *prefix; // name and labels, and a blank
	uint32_t family;
	uint32_t next; // of its family
	bool has_pending;
	uint64_t pending_ms, pending_value; // not yet in the stream
	uint64_t put_ms, put_value;	    // the last in the stream
};

struct family {
	struct rec_metric metric;
	char *help;
	uint32_t first, last; // series
};

struct openmetrics {
	struct rec_spill *spill;
	struct series *series;
	uint32_t n_series, series_capacity;
	struct family *families;
	uint32_t n_families, families_capacity;
	struct mon_out line;
};

struct metrics_process {
	char *identity;
	uint32_t *by_field; // series of each field (of a text: of the last one), or NO_SERIES
	uint64_t *text_ids; // of each field's last text, 0: none
	uint32_t n_fields;
	uint32_t derived[32];
	struct text_series {
		uint32_t field, series;
		char *text;
	} *texts;
	uint32_t n_texts;
};

static int out_of_memory(struct tele_error *ret_error)
{
	return tele_fail(ret_error, -ENOMEM, "out of memory for series");
}

static int begin(struct rec_exporter *exporter, struct tele_error *ret_error)
{
	struct openmetrics *metrics = exporter->own = calloc(1, sizeof(*metrics));
	if (metrics)
		metrics->spill = rec_spill_new();
	return metrics && metrics->spill ? 0 : out_of_memory(ret_error);
}

static void fini(struct rec_exporter *exporter)
{
	struct openmetrics *metrics = exporter->own;
	if (!metrics)
		return;
	for (uint32_t i = 0; i < metrics->n_series; i++) {
		rec_stream_fini(&metrics->series[i].stream);
		free(metrics->series[i].prefix);
	}
	for (uint32_t i = 0; i < metrics->n_families; i++)
		free(metrics->families[i].help);
	free(metrics->series);
	free(metrics->families);
	mon_out_fini(&metrics->line);
	rec_spill_free(metrics->spill);
	free(metrics);
}

static void drop(struct rec_exported *process)
{
	struct metrics_process *own = process->own;
	if (!own)
		return;
	for (uint32_t i = 0; i < own->n_texts; i++)
		free(own->texts[i].text);
	free(own->texts);
	free(own->identity);
	free(own->by_field);
	free(own->text_ids);
	free(own);
}

// ---- Series -------------------------------------------------------------------------

static int64_t family_of(struct openmetrics *metrics, const struct rec_metric *metric)
{
	struct rec_metric wanted = *metric;
	for (uint32_t i = 0; i < metrics->n_families; i++)
		if (rec_metric_is_of(&metrics->families[i].metric, &wanted))
			return i;
	if (metrics->n_families == metrics->families_capacity) {
		uint32_t capacity = metrics->families_capacity ? 2 * metrics->families_capacity : 64;
		void *grown = realloc(metrics->families, capacity * sizeof(metrics->families[0]));
		if (!grown)
			return -ENOMEM;
		metrics->families = grown;
		metrics->families_capacity = capacity;
	}
	struct family *family = &metrics->families[metrics->n_families];
	*family = (struct family){.metric = wanted, .help = strdup(metric->help ? metric->help : ""), .first = NO_SERIES};
	if (!family->help)
		return -ENOMEM;
	family->metric.help = family->help;
	return metrics->n_families++;
}

static int64_t add_series(struct openmetrics *metrics, const struct rec_metric *metric, const char *identity,
			  const struct tele_field *field, const char *text)
{
	if (metrics->n_series == SERIES_MAX)
		return TELE_ELIMIT;
	if (metrics->n_series == metrics->series_capacity) {
		uint32_t capacity = metrics->series_capacity ? 2 * metrics->series_capacity : 256;
		void *grown = realloc(metrics->series, capacity * sizeof(metrics->series[0]));
		if (!grown)
			return -ENOMEM;
		metrics->series = grown;
		metrics->series_capacity = capacity;
	}
	int64_t family = family_of(metrics, metric);
	if (family < 0)
		return family;
	metrics->line.n_bytes = 0;
	rec_metric_write_series(&metrics->line, &metrics->families[family].metric, identity, field, text);
	char *prefix = mon_out_status(&metrics->line) == 0 ? strdup(metrics->line.bytes) : NULL;
	if (!prefix)
		return -ENOMEM;
	uint32_t number = metrics->n_series++;
	metrics->series[number] = (struct series){.prefix = prefix, .family = (uint32_t)family, .next = NO_SERIES};
	struct family *its = &metrics->families[family];
	if (its->first == NO_SERIES)
		its->first = number;
	else
		metrics->series[its->last].next = number;
	its->last = number;
	return number;
}

static int fail_series(int64_t code, struct tele_error *ret_error)
{
	if (code == TELE_ELIMIT)
		return tele_fail(ret_error, TELE_ELIMIT, "more than %d series; choose fields or a process", SERIES_MAX);
	return out_of_memory(ret_error);
}

static int add_derived(struct rec_exporter *exporter, struct metrics_process *own, struct tele_error *ret_error)
{
	struct rec_metric metric;
	const char *patterns = exporter->options->fields;
	for (size_t i = 0; i < TELE_ARRAY_LEN(own->derived); i++) {
		own->derived[i] = NO_SERIES;
		if (patterns || !rec_metric_of_derived(i, &metric))
			continue;
		int64_t number = add_series(exporter->own, &metric, own->identity, NULL, NULL);
		if (number < 0)
			return fail_series(number, ret_error);
		own->derived[i] = (uint32_t)number;
	}
	return 0;
}

static int take_process(struct rec_exporter *exporter, struct rec_exported *process, struct tele_error *ret_error)
{
	struct metrics_process *own = process->own;
	const struct tele_schema *schema = process->instance->schema;
	if (!own) {
		struct mon_out identity = {0};
		own = process->own = calloc(1, sizeof(*own));
		rec_metric_write_identity(&identity, &process->instance->identity);
		if (!own || mon_out_status(&identity) < 0) {
			mon_out_fini(&identity);
			return out_of_memory(ret_error);
		}
		own->identity = identity.bytes;
		int result = add_derived(exporter, own, ret_error);
		if (result < 0)
			return result;
	}
	uint32_t *grown = realloc(own->by_field, process->n_fields * sizeof(*grown));
	own->by_field = grown ? grown : own->by_field;
	uint64_t *ids = realloc(own->text_ids, process->n_fields * sizeof(*ids));
	own->text_ids = ids ? ids : own->text_ids;
	if (!grown || !ids)
		return out_of_memory(ret_error);
	for (; own->n_fields < process->n_fields; own->n_fields++) {
		struct rec_metric metric;
		const struct tele_field *field = &schema->fields[own->n_fields];
		grown[own->n_fields] = NO_SERIES;
		ids[own->n_fields] = 0;
		if (!rec_export_has(process, own->n_fields) || !rec_metric_of_field(field, &metric) ||
		    metric.type == REC_METRIC_INFO)
			continue;
		int64_t number = add_series(exporter->own, &metric, own->identity, field, NULL);
		if (number < 0)
			return fail_series(number, ret_error);
		grown[own->n_fields] = (uint32_t)number;
	}
	return 0;
}

// The series of a text; NO_SERIES when there were too many.
static int64_t series_of_text(struct rec_exporter *exporter, struct rec_exported *process, uint32_t position,
			      const char *text)
{
	struct metrics_process *own = process->own;
	const struct tele_field *field = &process->instance->schema->fields[position];
	struct rec_metric metric;
	for (uint32_t i = own->n_texts; i-- > 0;)
		if (own->texts[i].field == position && strcmp(own->texts[i].text, text) == 0)
			return own->texts[i].series;
	if (own->n_texts == TEXTS_MAX || !rec_metric_of_field(field, &metric)) {
		exporter->n_texts_left_out++;
		return NO_SERIES;
	}
	void *grown = realloc(own->texts, (own->n_texts + 1) * sizeof(own->texts[0]));
	if (!grown)
		return -ENOMEM;
	own->texts = grown;
	int64_t number = add_series(exporter->own, &metric, own->identity, field, text);
	char *copy = number < 0 ? NULL : strdup(text);
	if (number >= 0 && !copy)
		return -ENOMEM;
	if (number >= 0)
		own->texts[own->n_texts++] = (struct text_series){position, (uint32_t)number, copy};
	return number;
}

// The same of a string id. Most are what they were in the row before.
static int64_t find_text(struct rec_exporter *exporter, struct rec_exported *process, uint32_t position, uint64_t id)
{
	struct metrics_process *own = process->own;
	if (own->text_ids[position] == id && !TELE_STRING_IS_TRANSIENT(id))
		return own->by_field[position];
	const char *text = tele_instance_string(process->instance, id);
	int64_t number = text ? series_of_text(exporter, process, position, text) : (int64_t)NO_SERIES;
	if (number < 0)
		return number;
	own->text_ids[position] = id;
	own->by_field[position] = (uint32_t)number;
	return number;
}

// ---- Samples ------------------------------------------------------------------------

// What a parser that multiplies the seconds it read by 1,000 makes of them.
static int64_t as_read(uint64_t ms)
{
	return (int64_t)((double)ms / 1000 * 1000);
}

static int put_pending(struct openmetrics *metrics, struct series *series, struct tele_error *ret_error)
{
	uint8_t bytes[2 * TELE_VARINT_BYTES_MAX];
	size_t n_bytes = tele_varint_put(bytes, series->pending_ms - series->put_ms);
	n_bytes += tele_varint_put(bytes + n_bytes, tele_zigzag(series->pending_value - series->put_value));
	series->put_ms = series->pending_ms;
	series->put_value = series->pending_value;
	return rec_spill_put(metrics->spill, &series->stream, bytes, n_bytes, ret_error);
}

static int add_sample(struct openmetrics *metrics, uint32_t number, uint64_t at_ms, uint64_t value,
		      struct tele_error *ret_error)
{
	struct series *series = &metrics->series[number];
	int result = 0;
	if (series->has_pending && as_read(at_ms) > as_read(series->pending_ms))
		result = put_pending(metrics, series, ret_error);
	else if (series->has_pending)
		at_ms = series->pending_ms;
	series->has_pending = true;
	series->pending_ms = at_ms;
	series->pending_value = value;
	return result;
}

static int add_derived_samples(struct rec_exporter *exporter, const struct rec_exported *process,
			       const struct tele_record *record, uint64_t at_ms, struct tele_error *ret_error)
{
	const struct metrics_process *own = process->own;
	struct openmetrics *metrics = exporter->own;
	struct analysis_derived derived;
	struct analysis_derived_number number;
	size_t i;
	int result = 0;
	analysis_derived_read(process->instance->schema, record->row, record->n_fields, &derived);
	analysis_outside_read(&exporter->outside, record, &derived.overhead, &derived.foreign);
	for (i = 0; analysis_derived_at(&derived, i, &number) && result == 0; i++)
		if (number.is_known && own->derived[i] != NO_SERIES)
			result = add_sample(metrics, own->derived[i], at_ms,
					    number.is_negative ? 0 - number.magnitude : number.magnitude, ret_error);
	if (result == 0 && derived.books.is_known && own->derived[i] != NO_SERIES)
		result = add_sample(metrics, own->derived[i], at_ms, derived.books.is_balanced, ret_error);
	return result;
}

static int take_row(struct rec_exporter *exporter, struct rec_exported *process, const struct tele_record *record,
		    uint64_t at_ns, struct tele_error *ret_error)
{
	struct metrics_process *own = process->own;
	struct openmetrics *metrics = exporter->own;
	const struct tele_schema *schema = process->instance->schema;
	uint64_t wall_ns = at_ns + process->wall_offset_ns;
	uint64_t at_ms = (wall_ns + NS_A_MS / 2) / NS_A_MS;
	int result = 0;
	for (uint32_t i = 0; i < own->n_fields && i < record->n_fields && result == 0; i++) {
		uint64_t value = record->row[i];
		uint32_t number = own->by_field[i];
		if (value == TELE_UNKNOWN)
			continue;
		if (schema->fields[i].unit == TELE_STRING && rec_export_has(process, i)) {
			int64_t found = find_text(exporter, process, i, value);
			if (found < 0)
				return fail_series(found, ret_error);
			number = (uint32_t)found;
			value = 1;
		} else if (schema->fields[i].unit == TELE_TIME_NS) {
			value += process->wall_offset_ns;
		}
		if (number != NO_SERIES)
			result = add_sample(metrics, number, at_ms, value, ret_error);
	}
	if (result == 0 && !exporter->options->fields)
		result = add_derived_samples(exporter, process, record, at_ms, ret_error);
	return result;
}

static int take_event(struct rec_exporter *exporter, struct rec_exported *process, const struct tele_event *event,
		      uint64_t at_ns, struct tele_error *ret_error)
{
	(void)exporter;
	(void)process;
	(void)event;
	(void)at_ns;
	(void)ret_error;
	return 0;
}

static int take_gap(struct rec_exporter *exporter, struct rec_exported *process, uint64_t n_lost,
		    struct tele_error *ret_error)
{
	(void)exporter;
	(void)process;
	(void)n_lost;
	(void)ret_error;
	return 0;
}

// ---- Text ---------------------------------------------------------------------------

struct writing {
	struct rec_exporter *exporter;
	const struct series *series;
	const struct rec_metric *metric;
	size_t prefix_len;
	uint64_t at_ms, value;
};

static void put_sample(struct writing *writing, uint64_t at_ms, uint64_t value)
{
	struct rec_outfile *out = &writing->exporter->out;
	const struct rec_metric *metric = writing->metric;
	rec_outfile_put(out, writing->series->prefix, writing->prefix_len);
	if (metric->is_ns || metric->is_time)
		rec_outfile_decimal(out, value, 9);
	else if (metric->is_signed)
		rec_outfile_i64(out, (int64_t)value);
	else
		rec_outfile_u64(out, value);
	rec_outfile_text(out, " ");
	rec_outfile_decimal(out, at_ms, 3);
	rec_outfile_text(out, "\n");
}

static int take_piece(void *context, const uint8_t *bytes, size_t n_bytes)
{
	struct writing *writing = context;
	const uint8_t *end = bytes + n_bytes;
	while (bytes < end) {
		uint64_t ms = 0, difference = 0;
		bytes += tele_varint_get(bytes, (size_t)(end - bytes), &ms);
		bytes += tele_varint_get(bytes, (size_t)(end - bytes), &difference);
		writing->at_ms += ms;
		writing->value += tele_unzigzag(difference);
		put_sample(writing, writing->at_ms, writing->value);
	}
	return writing->exporter->out.failure.code;
}

static int write_family(struct rec_exporter *exporter, const struct family *family, struct tele_error *ret_error)
{
	struct openmetrics *metrics = exporter->own;
	bool has_head = false;
	for (uint32_t i = family->first; i != NO_SERIES; i = metrics->series[i].next) {
		const struct series *series = &metrics->series[i];
		struct writing writing = {exporter, series, &family->metric, strlen(series->prefix), 0, 0};
		if (!series->has_pending)
			continue;
		if (!has_head) {
			metrics->line.n_bytes = 0;
			rec_metric_write_head(&metrics->line, &family->metric, REC_METRICS_OPENMETRICS);
			rec_outfile_put(&exporter->out, metrics->line.bytes, metrics->line.n_bytes);
			has_head = true;
		}
		int result = rec_spill_read(metrics->spill, &series->stream, take_piece, &writing, ret_error);
		if (result < 0)
			return rec_outfile_status(&exporter->out, ret_error) < 0 ? exporter->out.failure.code : result;
		put_sample(&writing, series->pending_ms, series->pending_value);
		rec_export_tell_progress(exporter);
	}
	return 0;
}

static int end(struct rec_exporter *exporter, struct tele_error *ret_error)
{
	struct openmetrics *metrics = exporter->own;
	for (uint32_t i = 0; i < metrics->n_families; i++) {
		int result = write_family(exporter, &metrics->families[i], ret_error);
		if (result < 0)
			return result;
	}
	rec_outfile_text(&exporter->out, "# EOF\n");
	return mon_out_status(&metrics->line) < 0 ? out_of_memory(ret_error) : 0;
}

const struct rec_format rec_format_openmetrics = {
	.begin = begin,
	.process = take_process,
	.row = take_row,
	.event = take_event,
	.gap = take_gap,
	.end = end,
	.drop = drop,
	.fini = fini,
};
