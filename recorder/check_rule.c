// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Rules of growth against verdicts. A rule is broken when the whole interval of
// the slope lies beyond its limit, and kept when none of it does; between the
// two there is not enough data, and where the class does not grow there is
// nothing to hold against the limit. The class's headline alone says whether
// it grows.

#include "check_rule.h"

#include "../monitor/monitor.h"

#include <math.h>

#include "../libtelemetry/banned.h"

// A slope that is exactly the limit keeps it, whatever its last digits are.
#define SLACK 1e-9

static const char *const options[REC_RULE_KINDS] = {"--max-growth", "--max", "--balanced", "--no-growing"};
static const char *const forms[REC_RULE_KINDS] = {
	"CLASS<=NUMBER[UNIT]/AXIS, for example working_bytes<=1MiB/linked (AXIS: attempted, linked, timed, kept or s)",
	"NAME<=NUMBER[UNIT], for example host.rss_bytes<=4GiB",
};

const char *rec_rule_option(enum rec_rule_kind kind)
{
	return options[kind];
}

const char *rec_rule_status_name(enum rec_rule_status status)
{
	static const char *const names[] = {"ok", "not_enough_data", "broken"};
	return names[status];
}

// A unit at `text`; returns what follows it and its bytes, 1 and no unit where
// there is none.
static const char *scan_unit(const char *text, double *ret_bytes, bool *ret_has_unit)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	*ret_bytes = 1;
	*ret_has_unit = true;
	for (int i = 0; i < (int)TELE_ARRAY_LEN(units); i++) {
		size_t len = strlen(units[i]);
		if (strncmp(text, units[i], len) != 0)
			continue;
		*ret_bytes = ldexp(1, 10 * i);
		return text + len;
	}
	*ret_has_unit = false;
	return text;
}

static int fail(const struct rec_rule *rule, struct tele_error *ret_error)
{
	return tele_fail(ret_error, TELE_ESYNTAX, "%s '%s' is not of the form %s", options[rule->kind], rule->text,
			 forms[rule->kind]);
}

int rec_rule_parse(enum rec_rule_kind kind, const char *text, struct rec_rule *ret_rule,
		   struct tele_error *ret_error)
{
	struct rec_rule rule = {.kind = kind};
	double unit;
	char *end;
	snprintf(rule.text, sizeof(rule.text), "%s", text ? text : "");
	if (!text) {
		*ret_rule = rule;
		return 0;
	}
	const char *less = strstr(text, "<=");
	if (!less || less == text || strlen(text) >= sizeof(rule.text))
		return fail(&rule, ret_error);
	memcpy(rule.name, text, (size_t)(less - text));
	const char *number = less + 2;
	double value = strtod(number, &end);
	if (*number < '0' || *number > '9' || end != number + strspn(number, "0123456789."))
		return fail(&rule, ret_error);
	const char *at = scan_unit(end, &unit, &rule.has_unit);
	rule.limit = value * unit;
	rule.limit_value = rule.limit >= 0x1p64 ? UINT64_MAX - 1 : (uint64_t)rule.limit;
	// A whole number without a unit is taken to its last digit.
	if (!rule.has_unit && number[strspn(number, "0123456789")] == '\0')
		rule.limit_value = strtoull(number, NULL, 10);
	if (kind == REC_RULE_MAX_GROWTH) {
		int axis = *at == '/' ? analysis_axis_of(at + 1) : -1;
		if (axis < 0)
			return fail(&rule, ret_error);
		rule.axis = (enum analysis_axis)axis;
	} else if (*at) {
		return fail(&rule, ret_error);
	}
	*ret_rule = rule;
	return 0;
}

// ---- Verdicts -------------------------------------------------------------------

struct verdicts {
	const struct analysis_verdicts *engine;
	struct analysis_verdict *list;
	size_t n;
};

static const char *class_name(const struct verdicts *verdicts, const struct analysis_verdict *verdict)
{
	return analysis_verdicts_class(verdicts->engine, verdict->class_index)->name;
}

static const struct analysis_verdict *find(const struct verdicts *verdicts, const char *name, int axis)
{
	for (size_t i = 0; i < verdicts->n; i++) {
		const struct analysis_verdict *verdict = &verdicts->list[i];
		bool is_it = axis < 0 ? verdict->is_headline : (int)verdict->axis == axis;
		if (is_it && strcmp(class_name(verdicts, verdict), name) == 0)
			return verdict;
	}
	return NULL;
}

static void say(struct rec_finding *finding, enum rec_rule_status status, const struct verdicts *verdicts,
		const struct analysis_verdict *verdict, const char *more)
{
	char sentence[ANALYSIS_SENTENCE_MAX];
	analysis_sentence(verdicts->engine, verdict, sentence, sizeof(sentence));
	finding->status = status;
	snprintf(finding->evidence, sizeof(finding->evidence), "%s%s", sentence, more);
}

// The sentence may tell the interval of the bytes; this rule is about another.
static void say_inside(struct rec_finding *finding, const struct verdicts *verdicts,
		       const struct analysis_verdict *verdict)
{
	char low[32], high[32], more[120];
	bool is_bytes = analysis_verdicts_class(verdicts->engine, verdict->class_index)->unit == TELE_BYTES;
	if (is_bytes) {
		mon_format_size(finding->low, MON_UNITS_IEC, low, sizeof(low));
		mon_format_size(finding->high, MON_UNITS_IEC, high, sizeof(high));
	} else {
		snprintf(low, sizeof(low), "%.3g", finding->low);
		snprintf(high, sizeof(high), "%.3g", finding->high);
	}
	snprintf(more, sizeof(more), "; the limit lies inside the interval, %s to %s", low, high);
	say(finding, REC_RULE_NOT_TOLD, verdicts, verdict, more);
}

static void judge_growth(const struct rec_rule *rule, const struct verdicts *verdicts, struct rec_finding *finding)
{
	const struct analysis_verdict *head = find(verdicts, rule->name, -1);
	const struct analysis_verdict *verdict = find(verdicts, rule->name, (int)rule->axis);
	char more[160];
	finding->is_absent = !head;
	if (!head) {
		finding->status = REC_RULE_NOT_TOLD;
		snprintf(finding->evidence, sizeof(finding->evidence), "no reading of %s", rule->name);
		return;
	}
	if (!analysis_shape_grows(head->growth.shape)) {
		bool is_told = head->growth.shape != ANALYSIS_NOT_ENOUGH_DATA;
		finding->value = is_told ? head->growth.slope : NAN;
		say(finding, is_told ? REC_RULE_OK : REC_RULE_NOT_TOLD, verdicts, head, "");
		return;
	}
	if (!verdict || verdict->growth.shape == ANALYSIS_NOT_ENOUGH_DATA) {
		snprintf(more, sizeof(more), "; not enough data along %s", analysis_axis_name(rule->axis));
		say(finding, REC_RULE_NOT_TOLD, verdicts, head, more);
		return;
	}
	const struct analysis_growth *growth = &verdict->growth;
	double limit = rule->limit + SLACK * fmax(rule->limit, 1);
	finding->value = growth->slope;
	finding->low = growth->slope_low;
	finding->high = growth->slope_high;
	if (!analysis_shape_grows(growth->shape) || growth->slope_high <= limit)
		say(finding, REC_RULE_OK, verdicts, verdict, "");
	else if (growth->slope_low > limit)
		say(finding, REC_RULE_BROKEN, verdicts, verdict, "");
	else
		say_inside(finding, verdicts, verdict);
}

// The names of headlines that `grows` (or of which too little is known), up to
// a few, and their number.
static unsigned name_some(const struct verdicts *verdicts, bool growing, const char *separator, char *buffer,
			  size_t size)
{
	enum { NAMES_MAX = 4 };
	unsigned n = 0;
	buffer[0] = '\0';
	for (size_t i = 0; i < verdicts->n; i++) {
		const struct analysis_verdict *verdict = &verdicts->list[i];
		bool is_it = growing ? analysis_shape_grows(verdict->growth.shape)
				     : verdict->growth.shape == ANALYSIS_NOT_ENOUGH_DATA;
		if (!verdict->is_headline || !is_it)
			continue;
		size_t len = strlen(buffer);
		if (n++ < NAMES_MAX)
			snprintf(buffer + len, size - len, "%s%s", len ? separator : "", class_name(verdicts, verdict));
	}
	size_t len = strlen(buffer);
	if (n > NAMES_MAX)
		snprintf(buffer + len, size - len, " and %u more", n - NAMES_MAX);
	return n;
}

static void judge_all(const struct verdicts *verdicts, struct rec_finding *finding)
{
	char names[400], more[440];
	finding->is_absent = verdicts->n == 0;
	unsigned n_growing = name_some(verdicts, true, ", ", names, sizeof(names));
	for (size_t i = 0; i < verdicts->n && n_growing; i++) {
		const struct analysis_verdict *verdict = &verdicts->list[i];
		if (!verdict->is_headline || !analysis_shape_grows(verdict->growth.shape))
			continue;
		snprintf(more, sizeof(more), "; %u classes grow: %s", n_growing, names);
		finding->value = verdict->growth.slope;
		finding->low = verdict->growth.slope_low;
		finding->high = verdict->growth.slope_high;
		say(finding, REC_RULE_BROKEN, verdicts, verdict, n_growing > 1 ? more : "");
		return;
	}
	unsigned n_untold = name_some(verdicts, false, ", ", names, sizeof(names));
	finding->status = n_untold || verdicts->n == 0 ? REC_RULE_NOT_TOLD : REC_RULE_OK;
	if (verdicts->n == 0)
		snprintf(finding->evidence, sizeof(finding->evidence), "no reading of any class");
	else if (n_untold)
		snprintf(finding->evidence, sizeof(finding->evidence), "not enough data on %s", names);
	else
		snprintf(finding->evidence, sizeof(finding->evidence), "no class grows");
}

void rec_rule_judge(const struct rec_rule *rule, const struct analysis_watch *watch,
		    struct rec_finding *ret_finding)
{
	const struct analysis_verdicts *engine = analysis_watch_engine(watch);
	struct verdicts verdicts = {.engine = engine};
	*ret_finding = (struct rec_finding){.value = NAN, .low = NAN, .high = NAN};
	if (engine && rule->kind == REC_RULE_NO_GROWING) {
		int n = analysis_watch_list(watch, &verdicts.list);
		verdicts.n = n > 0 ? (size_t)n : 0;
	} else if (engine) {
		// A device's own classes too, also where there is but one.
		size_t max = analysis_verdicts_classes(engine) * ANALYSIS_AXIS_COUNT;
		verdicts.list = calloc(max, sizeof(*verdicts.list));
		verdicts.n = verdicts.list ? analysis_verdicts_list(engine, ANALYSIS_FINAL, verdicts.list, max) : 0;
	}
	if (rule->kind == REC_RULE_NO_GROWING)
		judge_all(&verdicts, ret_finding);
	else
		judge_growth(rule, &verdicts, ret_finding);
	free(verdicts.list);
}
