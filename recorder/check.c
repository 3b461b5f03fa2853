// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// One pass: every record goes to the watch of its process and to the rules that
// look at rows; at the end the rules of growth ask the watches. All verdicts
// are judged once, over all there is, as a report does.

#include "check.h"

#include "../analysis/derived.h"
#include "../libtelemetry/trace.h"
#include "../monitor/json.h"
#include "../monitor/monitor.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "../libtelemetry/banned.h"

// What the rows of one process say of a rule.
struct seen {
	uint32_t n_fields; // of the schema that class and field were looked up in
	int class_index;   // or -1
	int64_t position;  // or -1
	unsigned unit;
	uint64_t n_known, n_over; // rows
	bool has_peak;
	uint64_t peak; // the highest that is not below 0
	uint64_t peak_at_ns, peak_candidate;
	uint64_t first_at_ns, first_candidate; // of the first row over, or unbalanced
	int64_t off; // BALANCED: what the first such row does not explain
};

struct checked {
	struct tele_instance *instance;
	struct analysis_watch *watch;
	struct seen *seen; // one a rule
	uint64_t n_rows, first_at_ns;
	bool is_selected;
};

struct check {
	const struct rec_check_options *options;
	struct checked *items;
	size_t n_items, capacity;
	bool *is_found; // a rule: some process has its class or field
	uint64_t *values; // scratch, one a class
	struct mon_model model; // for JSON
	bool is_complete;
	char damage[200];
};

static struct checked *checked_of(struct check *check, struct tele_instance *instance)
{
	for (size_t i = check->n_items; i-- > 0;)
		if (check->items[i].instance == instance)
			return &check->items[i];
	if (check->n_items == check->capacity) {
		size_t capacity = check->capacity ? 2 * check->capacity : 16;
		void *grown = realloc(check->items, capacity * sizeof(check->items[0]));
		if (!grown)
			return NULL;
		check->items = grown;
		check->capacity = capacity;
	}
	const char *select = check->options->select;
	struct checked item = {
		.instance = instance,
		.watch = analysis_watch_new(ANALYSIS_FINAL, check->options->limits),
		.seen = calloc(check->options->n_rules, sizeof(*item.seen)),
		.is_selected = !select || mon_identity_match(&instance->identity, select) > 0,
	};
	if (!item.watch || !item.seen) {
		analysis_watch_free(item.watch);
		free(item.seen);
		return NULL;
	}
	check->items[check->n_items++] = item;
	return &check->items[check->n_items - 1];
}

// ---- Rows -----------------------------------------------------------------------

static uint64_t candidate_of(const struct tele_record *record)
{
	return tele_schema_value(record->instance->schema, TELE_ID_search_candidates_attempted, TELE_NO_INSTANCE,
				 record->row, record->n_fields);
}

// Finds what the rule names, where the schema is not the one it was looked up
// in. A field goes before a class of the same name: it is read unsigned.
static void look_up(struct check *check, const struct rec_rule *rule, const struct checked *item, struct seen *seen)
{
	const struct tele_schema *schema = item->instance->schema;
	const struct analysis_classes *classes = analysis_watch_classes(item->watch);
	if (seen->n_fields == schema->n_fields)
		return;
	seen->n_fields = schema->n_fields;
	seen->position = rule->kind == REC_RULE_MAX ? tele_schema_find(schema, rule->name) : -1;
	seen->class_index = seen->position < 0 ? analysis_classes_find(classes, rule->name) : -1;
	if (seen->position >= 0)
		seen->unit = schema->fields[seen->position].unit;
	else if (seen->class_index >= 0)
		seen->unit = classes->items[seen->class_index].unit;
	else
		return;
	check->is_found[rule - check->options->rules] = true;
}

static void take_value(struct seen *seen, const struct rec_rule *rule, const struct tele_record *record,
		       uint64_t value, bool is_signed)
{
	bool is_negative = is_signed && value > INT64_MAX;
	if (value == TELE_UNKNOWN)
		return;
	seen->n_known++;
	if (is_negative)
		return;
	if (!seen->has_peak || value > seen->peak) {
		seen->has_peak = true;
		seen->peak = value;
		seen->peak_at_ns = record->row[0];
		seen->peak_candidate = candidate_of(record);
	}
	if (value > rule->limit_value && seen->n_over++ == 0) {
		seen->first_at_ns = record->row[0];
		seen->first_candidate = candidate_of(record);
	}
}

static void take_max(struct check *check, const struct rec_rule *rule, const struct checked *item, struct seen *seen,
		     const struct tele_record *record)
{
	const struct analysis_classes *classes = analysis_watch_classes(item->watch);
	if (seen->class_index >= 0) {
		analysis_classes_read(classes, record->instance->schema, record->row, record->n_fields, check->values);
		take_value(seen, rule, record, check->values[seen->class_index], true);
	} else if (seen->position >= 0 && seen->position < record->n_fields) {
		take_value(seen, rule, record, record->row[seen->position], false);
	}
}

static void take_books(struct seen *seen, const struct tele_record *record)
{
	struct analysis_books books;
	analysis_books_read(record->instance->schema, record->row, record->n_fields, &books);
	if (!books.is_known)
		return;
	seen->n_known++;
	if (books.is_balanced || seen->n_over++)
		return;
	seen->off = books.unexplained_bytes.value;
	seen->first_at_ns = record->row[0];
	seen->first_candidate = candidate_of(record);
}

static int take_record(struct check *check, const struct tele_record *record)
{
	const struct rec_check_options *options = check->options;
	if (options->is_json && mon_model_apply(&check->model, record) < 0)
		return -ENOMEM;
	if (record->instance->identity.is_observer)
		return 0;
	struct checked *item = checked_of(check, record->instance);
	if (!item)
		return -ENOMEM;
	if (!item->is_selected)
		return 0;
	int result = analysis_watch_take(item->watch, record);
	if (result < 0 || record->kind != TELE_RECORD_ROW || record->n_fields == 0 || record->row[0] == TELE_UNKNOWN)
		return result < 0 ? result : 0;
	if (item->n_rows++ == 0)
		item->first_at_ns = record->row[0];
	for (size_t i = 0; i < options->n_rules; i++) {
		const struct rec_rule *rule = &options->rules[i];
		look_up(check, rule, item, &item->seen[i]);
		if (rule->kind == REC_RULE_MAX)
			take_max(check, rule, item, &item->seen[i], record);
		else if (rule->kind == REC_RULE_BALANCED)
			take_books(&item->seen[i], record);
	}
	return 0;
}

// ---- Findings -------------------------------------------------------------------

// "28.1 GiB (30202016563 bytes)" or "127".
static void put_value(struct mon_out *out, uint64_t value, unsigned unit)
{
	char text[32];
	if (unit != TELE_BYTES)
		mon_out_format(out, "%" PRIu64, value);
	else
		mon_out_format(out, "%s (%" PRIu64 " bytes)", mon_format_bytes(value, MON_UNITS_IEC, text, sizeof(text)),
			       value);
}

// Where a row is: by candidate, and by time where there is one.
static void put_place(struct mon_out *out, const struct checked *item, uint64_t at_ns, uint64_t candidate)
{
	if (candidate != TELE_UNKNOWN && candidate > 0)
		mon_out_format(out, " at candidate %" PRIu64, candidate);
	if (!item->instance->identity.is_untimed && at_ns >= item->first_at_ns)
		mon_out_format(out, "%s %.1f s", candidate != TELE_UNKNOWN && candidate > 0 ? "," : " at",
			       (double)(at_ns - item->first_at_ns) / 1e9);
}

static void find_max(const struct rec_rule *rule, const struct checked *item, const struct seen *seen,
		     struct rec_finding *ret_finding, struct mon_out *out)
{
	ret_finding->is_absent = seen->n_known == 0;
	if (seen->n_known == 0) {
		ret_finding->status = REC_RULE_NOT_TOLD;
		mon_out_format(out, "no reading of %s", rule->name);
		return;
	}
	ret_finding->status = seen->n_over ? REC_RULE_BROKEN : REC_RULE_OK;
	mon_out_format(out, "%s is ", rule->name);
	if (!seen->has_peak) {
		mon_out_text(out, "always below 0");
		return;
	}
	ret_finding->value = (double)seen->peak;
	put_value(out, seen->peak, seen->unit);
	put_place(out, item, seen->peak_at_ns, seen->peak_candidate);
	if (!seen->n_over) {
		mon_out_text(out, " at the most");
		return;
	}
	mon_out_format(out, ", and above the limit in %" PRIu64 " of %" PRIu64 " rows, the first", seen->n_over,
		       seen->n_known);
	put_place(out, item, seen->first_at_ns, seen->first_candidate);
}

static void find_balance(const struct checked *item, const struct seen *seen, struct rec_finding *ret_finding,
			 struct mon_out *out)
{
	ret_finding->is_absent = seen->n_known == 0;
	if (seen->n_known == 0) {
		ret_finding->status = REC_RULE_NOT_TOLD;
		mon_out_text(out, "no row has the books of a heap");
		return;
	}
	ret_finding->status = seen->n_over ? REC_RULE_BROKEN : REC_RULE_OK;
	if (!seen->n_over) {
		mon_out_format(out, "the books balance in all %" PRIu64 " rows", seen->n_known);
		return;
	}
	ret_finding->value = (double)seen->off;
	mon_out_format(out, "the books do not balance in %" PRIu64 " of %" PRIu64 " rows: %+" PRId64
		       " bytes unexplained in the first,", seen->n_over, seen->n_known, seen->off);
	put_place(out, item, seen->first_at_ns, seen->first_candidate);
}

static void find(const struct check *check, size_t number, const struct checked *item,
		 struct rec_finding *ret_finding)
{
	const struct rec_rule *rule = &check->options->rules[number];
	const struct seen *seen = &item->seen[number];
	struct mon_out out = {0};
	if (rule->kind == REC_RULE_MAX_GROWTH || rule->kind == REC_RULE_NO_GROWING) {
		rec_rule_judge(rule, item->watch, ret_finding);
	} else {
		*ret_finding = (struct rec_finding){.value = NAN, .low = NAN, .high = NAN};
		if (rule->kind == REC_RULE_MAX)
			find_max(rule, item, seen, ret_finding, &out);
		else
			find_balance(item, seen, ret_finding, &out);
		snprintf(ret_finding->evidence, sizeof(ret_finding->evidence), "%s", out.bytes ? out.bytes : "");
		mon_out_fini(&out);
	}
	if (ret_finding->status != REC_RULE_OK || check->is_complete)
		return;
	// What was kept so far may have been broken in what is lost.
	size_t len = strlen(ret_finding->evidence);
	ret_finding->status = REC_RULE_NOT_TOLD;
	snprintf(ret_finding->evidence + len, sizeof(ret_finding->evidence) - len, "; the trace is incomplete%s%s",
		 check->damage[0] ? ": " : "", check->damage);
}

// Whether a rule that is absent in a process is told by another one.
static bool is_told_elsewhere(const struct check *check, size_t number, const struct checked *self)
{
	for (size_t i = 0; i < check->n_items; i++) {
		struct rec_finding finding;
		if (&check->items[i] == self || !check->items[i].is_selected || check->items[i].n_rows == 0)
			continue;
		find(check, number, &check->items[i], &finding);
		if (!finding.is_absent)
			return true;
	}
	return false;
}

// ---- Output ---------------------------------------------------------------------

static size_t count_processes(const struct check *check)
{
	size_t n = 0;
	for (size_t i = 0; i < check->n_items; i++)
		n += check->items[i].is_selected && check->items[i].n_rows > 0;
	return n;
}

static void write_line(const struct check *check, const struct rec_rule *rule, const struct checked *item,
		       const struct rec_finding *finding, struct mon_out *out)
{
	static const char *const words[] = {"ok", "not enough data", "broken"};
	char text[sizeof(finding->evidence)];
	const struct tele_identity *identity = &item->instance->identity;
	if (finding->status == REC_RULE_OK && check->options->is_quiet)
		return;
	mon_out_format(out, "%s: ", words[finding->status]);
	if (count_processes(check) > 1) {
		if (identity->pid)
			mon_out_format(out, "%" PRIu64 " ", identity->pid);
		mon_out_format(out, "%s: ", mon_text_clean(identity->label, check->options->is_ascii, text, sizeof(text)));
	}
	mon_out_text(out, rec_rule_option(rule->kind));
	if (rule->text[0])
		mon_out_format(out, " '%s'", mon_text_clean(rule->text, check->options->is_ascii, text, sizeof(text)));
	mon_out_format(out, ": %s\n",
		       mon_text_clean(finding->evidence, check->options->is_ascii, text, sizeof(text)));
}

static void put_double(struct mon_out *out, const char *key, double value)
{
	if (isfinite(value))
		mon_out_format(out, ",\"%s\":%.17g", key, value);
	else
		mon_out_format(out, ",\"%s\":null", key);
}

static void write_json(const struct rec_rule *rule, const struct rec_finding *finding, struct mon_out *out)
{
	char text[REC_RULE_TEXT_MAX + 32];
	snprintf(text, sizeof(text), "%s%s%s", rec_rule_option(rule->kind), rule->text[0] ? " " : "", rule->text);
	mon_out_text(out, "{\"rule\":");
	mon_json_string(out, text);
	mon_out_format(out, ",\"status\":\"%s\"", rec_rule_status_name(finding->status));
	put_double(out, "value", finding->value);
	put_double(out, "low", finding->low);
	put_double(out, "high", finding->high);
	mon_out_text(out, ",\"evidence\":");
	mon_json_string(out, finding->evidence);
	mon_out_text(out, "}");
}

// The process as every verb tells it, and its rules.
static void open_object(struct check *check, const struct checked *item, struct mon_out *out)
{
	const struct mon_process *process = mon_model_find(&check->model, item->instance->identity.instance_id);
	TELE_ASSERT(process);
	mon_json_process(out, process);
	if (out->n_bytes && out->bytes[out->n_bytes - 1] == '}')
		out->n_bytes--;
	mon_out_text(out, ",\"rules\":[");
}

static enum rec_rule_status write_findings(struct check *check, struct mon_out *out)
{
	const struct rec_check_options *options = check->options;
	enum rec_rule_status worst = REC_RULE_OK;
	bool has_any = false;
	for (size_t i = 0; i < check->n_items; i++) {
		const struct checked *item = &check->items[i];
		bool has_rule = false;
		if (!item->is_selected || item->n_rows == 0)
			continue;
		if (options->is_json) {
			mon_out_text(out, has_any ? "," : "");
			open_object(check, item, out);
		}
		has_any = true;
		for (size_t k = 0; k < options->n_rules; k++) {
			struct rec_finding finding;
			find(check, k, item, &finding);
			if (finding.is_absent && is_told_elsewhere(check, k, item))
				continue;
			if (finding.status > worst)
				worst = finding.status;
			if (!options->is_json) {
				write_line(check, &options->rules[k], item, &finding, out);
				continue;
			}
			mon_out_text(out, has_rule ? "," : "");
			write_json(&options->rules[k], &finding, out);
			has_rule = true;
		}
		if (options->is_json)
			mon_out_text(out, "]}");
	}
	if (has_any)
		return worst;
	if (!options->is_json)
		mon_out_format(out, "not enough data: there is no row of any process%s%s%s\n",
			       check->is_complete ? "" : "; the trace is incomplete", check->damage[0] ? ": " : "",
			       check->damage);
	return REC_RULE_NOT_TOLD;
}

// A rule must name something, and a unit of bytes must meet bytes.
static int check_names(const struct check *check, struct tele_error *ret_error)
{
	const struct rec_check_options *options = check->options;
	for (size_t k = 0; k < options->n_rules; k++) {
		const struct rec_rule *rule = &options->rules[k];
		if (!rule->name[0] || count_processes(check) == 0)
			continue;
		if (!check->is_found[k])
			return tele_fail(ret_error, TELE_ESYNTAX, "%s '%s': there is no %s '%s'", rec_rule_option(rule->kind),
					 rule->text, rule->kind == REC_RULE_MAX ? "field or class" : "class", rule->name);
		for (size_t i = 0; i < check->n_items; i++) {
			const struct seen *seen = &check->items[i].seen[k];
			bool is_there = seen->n_fields && (seen->class_index >= 0 || seen->position >= 0);
			bool is_number = seen->unit != TELE_STRING && seen->unit != TELE_TIME_NS;
			if (is_there && (!is_number || (rule->has_unit && seen->unit != TELE_BYTES)))
				return tele_fail(ret_error, TELE_ESYNTAX, "%s '%s': %s %s", rec_rule_option(rule->kind),
						 rule->text, rule->name, is_number ? "is not in bytes" : "is not a quantity");
		}
	}
	return 0;
}

static int run(struct check *check, struct tele_source *source, struct mon_out *out,
	       enum rec_rule_status *ret_status, struct tele_error *ret_error)
{
	struct tele_record record;
	struct tele_trace_info info;
	int got;
	while ((got = tele_source_next(source, &record, ret_error)) > 0)
		if (take_record(check, &record) < 0)
			return tele_fail(ret_error, -ENOMEM, "out of memory for %zu processes", check->n_items);
	if (got < 0)
		return got;
	check->is_complete = true;
	if (check->options->is_trace) {
		tele_trace_get_info(source, &info);
		check->is_complete = info.is_complete;
		snprintf(check->damage, sizeof(check->damage), "%s", info.damage);
	}
	if (check->options->select && count_processes(check) == 0)
		return tele_fail(ret_error, TELE_ENOTFOUND, "no process in it is called '%s'", check->options->select);
	got = check_names(check, ret_error);
	if (got < 0)
		return got;
	mon_model_settle(&check->model);
	mon_out_text(out, check->options->is_json ? "[" : "");
	*ret_status = write_findings(check, out);
	mon_out_text(out, check->options->is_json ? "]\n" : "");
	got = mon_out_status(out);
	return got < 0 ? tele_fail(ret_error, got, "out of memory for the output") : 0;
}

int rec_check(struct tele_source *source, const struct rec_check_options *options, struct mon_out *out,
	      enum rec_rule_status *ret_status, struct tele_error *ret_error)
{
	struct check check = {.options = options};
	int result = -ENOMEM;
	mon_model_init(&check.model, MON_HISTORY_MIN);
	check.model.look = ANALYSIS_FINAL;
	check.model.limits = *options->limits;
	check.is_found = calloc(options->n_rules, sizeof(*check.is_found));
	check.values = calloc(ANALYSIS_CLASSES_MAX, sizeof(*check.values));
	if (check.is_found && check.values)
		result = run(&check, source, out, ret_status, ret_error);
	else
		tele_fail(ret_error, result, "out of memory for rules");
	mon_model_fini(&check.model);
	for (size_t i = 0; i < check.n_items; i++) {
		analysis_watch_free(check.items[i].watch);
		free(check.items[i].seen);
	}
	free(check.items);
	free(check.is_found);
	free(check.values);
	return result;
}
