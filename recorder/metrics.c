// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A name is rollcall_SECTION_FIELD in base units, as the table has it: bytes
// stay, nanoseconds become seconds, times become Unix times. Nothing here is a
// list of fields: a later version's are named by the same rules.

#include "metrics.h"

#include "../analysis/derived.h"
#include "../monitor/utf8.h"

#include "../libtelemetry/banned.h"

static bool ends_in(const char *name, const char *suffix)
{
	size_t len = strlen(name), suffix_len = strlen(suffix);
	return len >= suffix_len && strcmp(name + len - suffix_len, suffix) == 0;
}

static void cut_end(char *name, const char *suffix)
{
	if (ends_in(name, suffix))
		name[strlen(name) - strlen(suffix)] = '\0';
}

static void add_end(char *name, const char *suffix)
{
	size_t len = strlen(name);
	snprintf(name + len, REC_METRIC_NAME_MAX - len, "%s", suffix);
}

// Whether a character of a field's name is one of a metric's name.
static bool is_plain(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void name_field(const struct tele_field *field, char *name)
{
	int len = snprintf(name, REC_METRIC_NAME_MAX - 32, "rollcall_%s_%s", field->section, field->name);
	if (len >= REC_METRIC_NAME_MAX - 32)
		len = REC_METRIC_NAME_MAX - 33;
	for (int i = 0; i < len; i++)
		if (!is_plain(name[i]))
			name[i] = '_';
}

bool rec_metric_of_field(const struct tele_field *field, struct rec_metric *ret_metric)
{
	struct rec_metric *metric = ret_metric;
	*metric = (struct rec_metric){
		.unit = "",
		.help = field->help && *field->help ? field->help : "A figure that the program registered itself",
	};
	if (field->kind == TELE_RETIRED)
		return false;
	name_field(field, metric->name);
	metric->type = field->unit == TELE_STRING    ? REC_METRIC_INFO
		       : field->kind == TELE_COUNTER ? REC_METRIC_COUNTER
						     : REC_METRIC_GAUGE;
	// Ends that mean something to a parser are given by the type alone.
	cut_end(metric->name, "_info");
	cut_end(metric->name, "_count");
	bool is_taken = ends_in(metric->name, "_sum") || ends_in(metric->name, "_bucket") || ends_in(metric->name, "_created");
	if (is_taken && metric->type == REC_METRIC_GAUGE)
		add_end(metric->name, "_value");
	if (metric->type != REC_METRIC_GAUGE || strcmp(field->section, "app") == 0)
		cut_end(metric->name, "_total");
	switch (field->unit) {
	case TELE_BYTES:
		metric->unit = "bytes";
		break;
	case TELE_NS:
		metric->is_ns = true;
		metric->unit = "seconds";
		cut_end(metric->name, "_ns");
		break;
	case TELE_TIME_NS:
		metric->is_time = true;
		metric->unit = "seconds";
		cut_end(metric->name, "_at_ns");
		add_end(metric->name, "_timestamp");
		break;
	default:
		break;
	}
	if (*metric->unit && !ends_in(metric->name, metric->unit)) {
		add_end(metric->name, "_");
		add_end(metric->name, metric->unit);
	}
	return true;
}

static const char *derived_help(const char *name)
{
	static const struct {
		const char *name, *help;
	} helps[] = {
		{"unexplained_bytes", "Mapped bytes minus the sum of all buckets; 0 when the books balance"},
		{"predicted_resident_bytes", "Bytes of the malloc that should be resident: mapped - virgin - returned"},
		{"predicted_resident_floor_bytes", "The same minus hysteresis"},
		{"rss_bytes", "Resident set that the residual is reckoned with"},
		{"residual_bytes", "RSS minus predicted resident"},
		{"residual_untouched_bytes", "Part of the residual: asked for and never written, 0 or below"},
		{"residual_file_bytes", "Part of the residual: resident file pages"},
		{"residual_shmem_bytes", "Part of the residual: shared memory"},
		{"residual_own_bytes", "Part of the residual: Rollcall's own pages and segment"},
		{"residual_other_bytes", "Part of the residual: other anonymous memory"},
		{"live_pools", "Pools that are allocated now, of all labels"},
		{"live_pool_bytes", "Bytes of those pools"},
		{"live_modules", "Modules loaded minus unloaded"},
		{"unreleased_contexts", "Contexts created minus released; not a count of live ones"},
		{"residual_huge_bytes", "Part of the residual: brought along by huge pages"},
		{"unattributed_bytes", "Device memory used by everybody minus what the process holds"},
		{"overhead_bytes", "Device memory that the driver says the process has minus what it holds"},
		{"foreign_bytes", "Device memory in use and of no process that the driver tells of"},
	};
	for (size_t i = 0; i < TELE_ARRAY_LEN(helps); i++)
		if (strcmp(name, helps[i].name) == 0)
			return helps[i].help;
	return "Derived from one row";
}

bool rec_metric_of_derived(size_t index, struct rec_metric *ret_metric)
{
	static const struct analysis_derived nothing;
	struct analysis_derived_number number;
	if (!analysis_derived_at(&nothing, index, &number)) {
		*ret_metric = (struct rec_metric){
			.name = "rollcall_balanced",
			.unit = "",
			.help = "1 when the books of the heap balance to the byte, 0 when they do not",
		};
		return index == 0 || analysis_derived_at(&nothing, index - 1, &number);
	}
	*ret_metric = (struct rec_metric){
		.unit = ends_in(number.name, "_bytes") ? "bytes" : "",
		.help = derived_help(number.name),
		.is_signed = true,
	};
	snprintf(ret_metric->name, sizeof(ret_metric->name), "rollcall_%s", number.name);
	return true;
}

bool rec_metric_is_of(const struct rec_metric *known, struct rec_metric *wanted)
{
	if (strcmp(known->name, wanted->name) != 0)
		return false;
	if (known->type == wanted->type && known->is_ns == wanted->is_ns && known->is_time == wanted->is_time)
		return true;
	wanted->name[REC_METRIC_NAME_MAX - 8] = '\0';
	add_end(wanted->name, "_other");
	wanted->unit = "";
	return false;
}

// ---- Text -----------------------------------------------------------------------

// Foreign text with \, " and line ends escaped; what is not UTF-8, and what a
// terminal would act upon, becomes U+FFFD.
static void write_escaped(struct mon_out *out, const char *text, bool with_quotes)
{
	for (uint32_t ch = mon_utf8_next(&text); ch; ch = mon_utf8_next(&text)) {
		char bytes[MON_CHAR_BYTES_MAX];
		if (ch == '\n')
			mon_out_text(out, "\\n");
		else if (ch == '\\')
			mon_out_text(out, "\\\\");
		else if (ch == '"' && with_quotes)
			mon_out_text(out, "\\\"");
		else
			mon_out_bytes(out, bytes, mon_utf8_put(mon_char_is_safe(ch) ? ch : 0xfffd, bytes));
	}
}

static const char *suffix_of(const struct rec_metric *metric)
{
	return metric->type == REC_METRIC_COUNTER ? "_total" : metric->type == REC_METRIC_INFO ? "_info" : "";
}

void rec_metric_write_head(struct mon_out *out, const struct rec_metric *metric, enum rec_metric_syntax syntax)
{
	static const char *const types[] = {"gauge", "counter", "info"};
	bool is_open = syntax == REC_METRICS_OPENMETRICS;
	const char *suffix = is_open ? "" : suffix_of(metric);
	const char *type = !is_open && metric->type == REC_METRIC_INFO ? "gauge" : types[metric->type];
	mon_out_format(out, "# HELP %s%s ", metric->name, suffix);
	write_escaped(out, metric->help, is_open);
	mon_out_format(out, "\n# TYPE %s%s %s\n", metric->name, suffix, type);
	if (is_open && *metric->unit)
		mon_out_format(out, "# UNIT %s %s\n", metric->name, metric->unit);
}

void rec_metric_write_label(struct mon_out *out, const char *name, const char *value)
{
	mon_out_format(out, ",%s=\"", name);
	write_escaped(out, value, true);
	mon_out_text(out, "\"");
}

void rec_metric_write_identity(struct mon_out *out, const struct tele_identity *identity)
{
	mon_out_format(out, "pid=\"%llu\",start_id=\"%016llx\"", (unsigned long long)identity->pid,
		       (unsigned long long)identity->instance_id);
	rec_metric_write_label(out, "label", identity->label[0] ? identity->label : identity->comm);
}

// Whether the name says all: else the field's own is a label. A program's own
// fields may differ in nothing but an end that was cut or added.
static bool is_named_whole(const struct tele_field *field, const struct rec_metric *metric)
{
	char name[REC_METRIC_NAME_MAX];
	int len = snprintf(name, sizeof(name), "rollcall_%s_%s", field->section, field->name);
	return field->builtin >= 0 || (len < (int)sizeof(name) && strcmp(name, metric->name) == 0);
}

// The label that says which one of a section it is: the section's name, where a
// label can have it.
static const char *label_of(const struct tele_field *field)
{
	static const char *const taken[] = {"pid", "start_id", "label", "field", "value"};
	bool is_label = *field->section && *field->section != '_' && !(*field->section >= '0' && *field->section <= '9');
	for (const char *at = field->section; *at; at++)
		is_label &= is_plain(*at);
	for (size_t i = 0; i < TELE_ARRAY_LEN(taken); i++)
		is_label &= strcmp(field->section, taken[i]) != 0;
	return is_label ? field->section : "number";
}

void rec_metric_write_series(struct mon_out *out, const struct rec_metric *metric, const char *identity,
			     const struct tele_field *field, const char *text)
{
	char number[16];
	mon_out_format(out, "%s%s{", metric->name, suffix_of(metric));
	mon_out_text(out, identity);
	if (field && field->instance != TELE_NO_INSTANCE) {
		snprintf(number, sizeof(number), "%u", field->instance);
		rec_metric_write_label(out, label_of(field), number);
	}
	if (field && !is_named_whole(field, metric))
		rec_metric_write_label(out, "field", field->name);
	if (metric->type == REC_METRIC_INFO)
		rec_metric_write_label(out, "value", text ? text : "");
	mon_out_text(out, "} ");
}

void rec_metric_write_value(struct mon_out *out, const struct rec_metric *metric, bool is_negative,
			    uint64_t magnitude)
{
	if (is_negative)
		mon_out_text(out, "-");
	if (!metric->is_ns && !metric->is_time)
		mon_out_format(out, "%llu", (unsigned long long)magnitude);
	else
		mon_out_format(out, "%llu.%09llu", (unsigned long long)(magnitude / 1000000000),
			       (unsigned long long)(magnitude % 1000000000));
}
