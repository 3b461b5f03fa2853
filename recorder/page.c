// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A page has its families in one piece each, while processes have their fields
// in a row: so samples are listed first, each with the family it belongs to,
// and written family by family. Its size is bounded: so many processes, so many
// gauges of each, and neither size classes nor owners, which come and go.

#include "page.h"

#include "../libtelemetry/rollcall.h"

#include <math.h>

#include "../libtelemetry/banned.h"

#define NONE UINT32_MAX

// What a sample shows.
enum what {
	WHAT_FIELD,   // number: its position
	WHAT_DERIVED, // number: of rec_metric_of_derived
	WHAT_PROCESS, // number: of process_metrics
	WHAT_VERDICT, // number: of the verdict * VERDICT_METRICS + of verdict_metrics
};

struct sample {
	uint32_t family, process, number;
	uint32_t what; // enum what
};

struct family {
	struct rec_metric metric;
	uint32_t n_samples, first; // of the ordered samples
};

struct page {
	struct mon_out *out;
	const struct rec_page_options *options;
	const struct mon_process *processes[REC_PAGE_PROCESSES_MAX];
	char *identities[REC_PAGE_PROCESSES_MAX];
	uint32_t n_processes, n_left_out;
	struct family *families;
	uint32_t n_families, families_capacity;
	uint32_t by_field[TELE_ID_COUNT]; // family of each built-in field
	struct sample *samples;
	uint32_t n_samples, samples_capacity;
	bool is_failed;
};

// ---- Metrics of a process that are no fields --------------------------------------

enum { PROCESS_UP, PROCESS_STATE, PROCESS_LOST, PROCESS_LAST_ROW, PROCESS_STARTED, PROCESS_METRICS };

static const struct rec_metric process_metrics[PROCESS_METRICS] = {
	[PROCESS_UP] = {"rollcall_up", REC_METRIC_GAUGE, "", "1 while the process publishes, 0 when it has ended or is stale", false, false, false},
	[PROCESS_STATE] = {"rollcall_state", REC_METRIC_GAUGE, "", "1 for the state that the process is in", false, false, false},
	[PROCESS_LOST] = {"rollcall_lost_records", REC_METRIC_COUNTER, "", "Records that were overwritten before they could be read", false, false, false},
	[PROCESS_LAST_ROW] = {"rollcall_last_row_timestamp_seconds", REC_METRIC_GAUGE, "seconds", "Unix time of the last row", true, false, false},
	[PROCESS_STARTED] = {"rollcall_start_timestamp_seconds", REC_METRIC_GAUGE, "seconds", "Unix time at which the process began to publish", true, false, false},
};

enum {
	VERDICT_SHAPE,
	VERDICT_SLOPE,
	VERDICT_SLOPE_LOW,
	VERDICT_SLOPE_HIGH,
	VERDICT_FORECAST_SECONDS,
	VERDICT_FORECAST_CANDIDATES,
	VERDICT_SHARE,
	VERDICT_METRICS
};

static const struct rec_metric verdict_metrics[VERDICT_METRICS] = {
	[VERDICT_SHAPE] = {"rollcall_verdict", REC_METRIC_GAUGE, "", "1 for the shape of a class along the axis that tells best of it", false, false, false},
	[VERDICT_SLOPE] = {"rollcall_verdict_slope", REC_METRIC_GAUGE, "", "Growth of a class in its unit for each second or candidate of the axis", false, false, false},
	[VERDICT_SLOPE_LOW] = {"rollcall_verdict_slope_low", REC_METRIC_GAUGE, "", "Lower end of the 95 % interval of the slope", false, false, false},
	[VERDICT_SLOPE_HIGH] = {"rollcall_verdict_slope_high", REC_METRIC_GAUGE, "", "Upper end of the 95 % interval of the slope", false, false, false},
	[VERDICT_FORECAST_SECONDS] = {"rollcall_verdict_forecast_seconds", REC_METRIC_GAUGE, "seconds", "Time until a growing class reaches its limit", false, false, false},
	[VERDICT_FORECAST_CANDIDATES] = {"rollcall_verdict_forecast_candidates", REC_METRIC_GAUGE, "", "Candidates until a growing class reaches its limit", false, false, false},
	[VERDICT_SHARE] = {"rollcall_verdict_share_ratio", REC_METRIC_GAUGE, "", "Part of the growth of the whole that a class explains", false, false, false},
};

enum { OWN_BUILD, OWN_SHOWN, OWN_LEFT_OUT, OWN_UNREADABLE, OWN_METRICS };

static const struct rec_metric own_metrics[OWN_METRICS] = {
	[OWN_BUILD] = {"rollcall_build", REC_METRIC_INFO, "", "Version of the rollcall that serves this", false, false, false},
	[OWN_SHOWN] = {"rollcall_processes", REC_METRIC_GAUGE, "", "Processes on this page", false, false, false},
	[OWN_LEFT_OUT] = {"rollcall_processes_left_out", REC_METRIC_GAUGE, "", "Processes beyond the most that a page shows", false, false, false},
	[OWN_UNREADABLE] = {"rollcall_unreadable_segments", REC_METRIC_GAUGE, "", "Segments that could not be read", false, false, false},
};

// Whether a metric of a field would be taken for one of those that are none.
static bool is_own_name(const char *name)
{
	struct rec_metric derived;
	for (size_t i = 0; i < OWN_METRICS; i++)
		if (strcmp(name, own_metrics[i].name) == 0)
			return true;
	for (size_t i = 0; i < PROCESS_METRICS; i++)
		if (strcmp(name, process_metrics[i].name) == 0)
			return true;
	for (size_t i = 0; i < VERDICT_METRICS; i++)
		if (strcmp(name, verdict_metrics[i].name) == 0)
			return true;
	for (size_t i = 0; rec_metric_of_derived(i, &derived); i++)
		if (strcmp(name, derived.name) == 0)
			return true;
	return false;
}

static double verdict_value(const struct analysis_verdict *verdict, unsigned number)
{
	double known = verdict->growth.shape == ANALYSIS_NOT_ENOUGH_DATA ? NAN : 0;
	switch (number) {
	case VERDICT_SHAPE:
		return 1;
	case VERDICT_SLOPE:
		return verdict->growth.slope + known;
	case VERDICT_SLOPE_LOW:
		return verdict->growth.slope_low + known;
	case VERDICT_SLOPE_HIGH:
		return verdict->growth.slope_high + known;
	case VERDICT_FORECAST_SECONDS:
		return verdict->forecast_seconds;
	case VERDICT_FORECAST_CANDIDATES:
		return verdict->axis == ANALYSIS_TIME ? NAN : verdict->forecast;
	default:
		return verdict->share;
	}
}

// ---- Which processes -----------------------------------------------------------------

static bool is_shown(const struct mon_process *process, const struct rec_page_options *options)
{
	const struct mon_row *row = mon_process_latest(process);
	if (!mon_process_is_listed(process) || process->identity.is_observer)
		return false;
	if (tele_state_is_alive(process->state))
		return true;
	uint64_t at_ns = row ? row->at_ns : process->identity.created_at_ns;
	return at_ns <= options->now_ns && options->now_ns - at_ns < options->linger_ns;
}

static bool is_before(const struct mon_process *a, const struct mon_process *b)
{
	bool is_alive = tele_state_is_alive(a->state);
	if (is_alive != tele_state_is_alive(b->state))
		return is_alive;
	return a->identity.created_at_ns > b->identity.created_at_ns;
}

// The first of all, in order; each is put where it belongs, and the last falls off.
static void choose_processes(struct page *page, const struct mon_model *model)
{
	for (uint32_t i = 0; i < model->n_processes; i++) {
		const struct mon_process *process = model->processes[i];
		if (!is_shown(process, page->options))
			continue;
		uint32_t at = page->n_processes;
		while (at > 0 && is_before(process, page->processes[at - 1]))
			at--;
		if (at == REC_PAGE_PROCESSES_MAX) {
			page->n_left_out++;
			continue;
		}
		if (page->n_processes == REC_PAGE_PROCESSES_MAX) {
			page->n_processes--;
			page->n_left_out++;
		}
		memmove(&page->processes[at + 1], &page->processes[at],
			(page->n_processes - at) * sizeof(page->processes[0]));
		page->processes[at] = process;
		page->n_processes++;
	}
}

uint32_t rec_page_count(const struct mon_model *model, const struct rec_page_options *options)
{
	uint32_t n_shown = 0;
	for (uint32_t i = 0; i < model->n_processes; i++)
		n_shown += is_shown(model->processes[i], options);
	return n_shown < REC_PAGE_PROCESSES_MAX ? n_shown : REC_PAGE_PROCESSES_MAX;
}

// ---- Samples ---------------------------------------------------------------------------

static bool grow(struct page *page, void **items, uint32_t n_items, uint32_t *capacity, size_t item_bytes)
{
	if (n_items < *capacity)
		return true;
	uint32_t wanted = *capacity ? 2 * *capacity : 1024;
	void *grown = realloc(*items, wanted * item_bytes);
	if (!grown) {
		page->is_failed = true;
		return false;
	}
	*items = grown;
	*capacity = wanted;
	return true;
}

static uint32_t family_of(struct page *page, const struct rec_metric *metric)
{
	struct rec_metric wanted = *metric;
	for (uint32_t i = 0; i < page->n_families; i++)
		if (rec_metric_is_of(&page->families[i].metric, &wanted))
			return i;
	void *families = page->families;
	if (!grow(page, &families, page->n_families, &page->families_capacity, sizeof(page->families[0])))
		return NONE;
	page->families = families;
	page->families[page->n_families] = (struct family){.metric = wanted};
	return page->n_families++;
}

static void add_sample(struct page *page, uint32_t family, uint32_t process, enum what what, uint32_t number)
{
	void *samples = page->samples;
	if (family == NONE || !grow(page, &samples, page->n_samples, &page->samples_capacity, sizeof(page->samples[0])))
		return;
	page->samples = samples;
	page->samples[page->n_samples++] = (struct sample){family, process, number, what};
	page->families[family].n_samples++;
}

static uint32_t family_of_field(struct page *page, const struct tele_field *field)
{
	struct rec_metric metric;
	uint32_t *known = field->builtin >= 0 ? &page->by_field[field->builtin] : NULL;
	if (known && *known != NONE)
		return *known;
	if (!rec_metric_of_field(field, &metric))
		return NONE;
	if (field->builtin < 0 && is_own_name(metric.name)) {
		struct rec_metric plain = metric;
		snprintf(metric.name, sizeof(metric.name), "rollcall_field_%.120s", plain.name + strlen("rollcall_"));
	}
	uint32_t family = family_of(page, &metric);
	if (known)
		*known = family;
	return family;
}

static bool is_exported(const struct tele_field *field)
{
	return strcmp(field->section, "class") != 0 && strcmp(field->section, "owner") != 0;
}

static void add_fields(struct page *page, uint32_t number)
{
	const struct mon_process *process = page->processes[number];
	const struct tele_schema *schema = process->instance->schema;
	const struct mon_row *row = mon_process_latest(process);
	uint32_t n_app = 0;
	for (uint32_t i = 0; row && i < schema->n_fields && i < row->n_fields; i++) {
		const struct tele_field *field = &schema->fields[i];
		if (row->values[i] == TELE_UNKNOWN || !is_exported(field))
			continue;
		if (field->builtin < 0 && n_app++ >= REC_PAGE_APP_FIELDS_MAX)
			continue;
		if (field->unit == TELE_STRING && !tele_instance_string(process->instance, row->values[i]))
			continue;
		add_sample(page, family_of_field(page, field), number, WHAT_FIELD, i);
	}
}

static void add_derived(struct page *page, uint32_t number)
{
	const struct mon_process *process = page->processes[number];
	struct analysis_derived_number derived;
	struct rec_metric metric;
	if (!mon_process_latest(process))
		return;
	for (uint32_t i = 0; rec_metric_of_derived(i, &metric); i++) {
		bool is_known = analysis_derived_at(&process->derived, i, &derived) ? derived.is_known
										    : process->derived.books.is_known;
		if (is_known)
			add_sample(page, family_of(page, &metric), number, WHAT_DERIVED, i);
	}
}

static void add_process(struct page *page, uint32_t number)
{
	const struct mon_process *process = page->processes[number];
	for (uint32_t i = 0; i < PROCESS_METRICS; i++) {
		bool is_known = (i != PROCESS_LAST_ROW || mon_process_latest(process)) &&
				((i != PROCESS_LAST_ROW && i != PROCESS_STARTED) || process->identity.created_realtime_ns);
		if (is_known)
			add_sample(page, family_of(page, &process_metrics[i]), number, WHAT_PROCESS, i);
	}
	for (uint32_t i = 0; i < process->n_judged && process->watch; i++)
		for (uint32_t k = 0; k < VERDICT_METRICS && process->judged[i].is_headline; k++)
			if (isfinite(verdict_value(&process->judged[i], k)))
				add_sample(page, family_of(page, &verdict_metrics[k]), number, WHAT_VERDICT,
					   i * VERDICT_METRICS + k);
}

// ---- Writing ---------------------------------------------------------------------------

static uint64_t wall_offset_ns(const struct mon_process *process)
{
	uint64_t offset = mon_process_field(process, TELE_ID_self_realtime_offset_ns);
	return offset != TELE_UNKNOWN ? offset : process->identity.created_realtime_ns - process->identity.created_at_ns;
}

static void write_field(struct page *page, const struct sample *sample)
{
	const struct rec_metric *metric = &page->families[sample->family].metric;
	const struct mon_process *process = page->processes[sample->process];
	const struct tele_field *field = &process->instance->schema->fields[sample->number];
	uint64_t value = mon_process_latest(process)->values[sample->number];
	const char *text = field->unit == TELE_STRING ? tele_instance_string(process->instance, value) : NULL;
	rec_metric_write_series(page->out, metric, page->identities[sample->process], field, text);
	if (metric->type == REC_METRIC_INFO)
		value = 1;
	else if (metric->is_time)
		value += wall_offset_ns(process);
	rec_metric_write_value(page->out, metric, false, value);
}

static void write_derived(struct page *page, const struct sample *sample)
{
	const struct rec_metric *metric = &page->families[sample->family].metric;
	const struct analysis_derived *derived = &page->processes[sample->process]->derived;
	struct analysis_derived_number number;
	rec_metric_write_series(page->out, metric, page->identities[sample->process], NULL, NULL);
	if (analysis_derived_at(derived, sample->number, &number))
		rec_metric_write_value(page->out, metric, number.is_negative, number.magnitude);
	else
		rec_metric_write_value(page->out, metric, false, derived->books.is_balanced);
}

static void write_process(struct page *page, const struct sample *sample)
{
	const struct mon_process *process = page->processes[sample->process];
	const struct rec_metric *metric = &page->families[sample->family].metric;
	const struct tele_identity *identity = &process->identity;
	uint64_t value = 1;
	mon_out_format(page->out, "%s%s{%s", metric->name, metric->type == REC_METRIC_COUNTER ? "_total" : "",
		       page->identities[sample->process]);
	switch (sample->number) {
	case PROCESS_UP:
		value = tele_state_is_alive(process->state) && process->state != TELE_STALE;
		break;
	case PROCESS_STATE:
		rec_metric_write_label(page->out, "state", tele_state_name(process->state));
		break;
	case PROCESS_LOST:
		value = process->lost;
		break;
	case PROCESS_LAST_ROW:
		value = mon_process_latest(process)->at_ns + wall_offset_ns(process);
		break;
	default:
		value = identity->created_realtime_ns;
	}
	mon_out_text(page->out, "} ");
	rec_metric_write_value(page->out, metric, false, value);
}

static void write_verdict(struct page *page, const struct sample *sample)
{
	const struct mon_process *process = page->processes[sample->process];
	const struct rec_metric *metric = &page->families[sample->family].metric;
	const struct analysis_verdict *verdict = &process->judged[sample->number / VERDICT_METRICS];
	const struct analysis_class *class =
		analysis_verdicts_class(analysis_watch_engine(process->watch), verdict->class_index);
	unsigned number = sample->number % VERDICT_METRICS;
	mon_out_format(page->out, "%s{%s", metric->name, page->identities[sample->process]);
	rec_metric_write_label(page->out, "class", class->name);
	rec_metric_write_label(page->out, "axis", analysis_axis_name(verdict->axis));
	if (number == VERDICT_SHAPE)
		rec_metric_write_label(page->out, "shape", analysis_shape_name(verdict->growth.shape));
	if (number >= VERDICT_SLOPE && number <= VERDICT_SLOPE_HIGH)
		rec_metric_write_label(page->out, "unit", tele_unit_name(class->unit));
	mon_out_format(page->out, "} %.15g", verdict_value(verdict, number));
}

static void write_sample(struct page *page, const struct sample *sample)
{
	static void (*const writers[])(struct page *, const struct sample *) = {
		[WHAT_FIELD] = write_field,
		[WHAT_DERIVED] = write_derived,
		[WHAT_PROCESS] = write_process,
		[WHAT_VERDICT] = write_verdict,
	};
	writers[sample->what](page, sample);
	mon_out_text(page->out, "\n");
}

static void write_families(struct page *page)
{
	uint32_t *order = calloc(page->n_samples + 1, sizeof(*order));
	uint32_t n = 0;
	if (!order) {
		page->is_failed = true;
		return;
	}
	for (uint32_t i = 0; i < page->n_families; i++) {
		page->families[i].first = n;
		n += page->families[i].n_samples;
		page->families[i].n_samples = 0;
	}
	for (uint32_t i = 0; i < page->n_samples; i++) {
		struct family *family = &page->families[page->samples[i].family];
		order[family->first + family->n_samples++] = i;
	}
	for (uint32_t i = 0; i < page->n_families; i++) {
		const struct family *family = &page->families[i];
		if (family->n_samples)
			rec_metric_write_head(page->out, &family->metric, page->options->syntax);
		for (uint32_t k = 0; k < family->n_samples; k++)
			write_sample(page, &page->samples[order[family->first + k]]);
	}
	free(order);
}

// What the page tells of itself.
static void write_own(struct page *page, const struct mon_model *model)
{
	enum rec_metric_syntax syntax = page->options->syntax;
	rec_metric_write_head(page->out, &own_metrics[OWN_BUILD], syntax);
	mon_out_format(page->out, "rollcall_build_info{version=\"%s\"} 1\n", ROLLCALL_VERSION);
	rec_metric_write_head(page->out, &own_metrics[OWN_SHOWN], syntax);
	mon_out_format(page->out, "rollcall_processes %u\n", page->n_processes);
	rec_metric_write_head(page->out, &own_metrics[OWN_LEFT_OUT], syntax);
	mon_out_format(page->out, "rollcall_processes_left_out %u\n", page->n_left_out);
	rec_metric_write_head(page->out, &own_metrics[OWN_UNREADABLE], syntax);
	mon_out_format(page->out, "rollcall_unreadable_segments %u\n", model->n_unreadable);
}

void rec_page_write(struct mon_out *out, const struct mon_model *model, const struct rec_page_options *options)
{
	struct page page = {.out = out, .options = options};
	for (size_t i = 0; i < TELE_ARRAY_LEN(page.by_field); i++)
		page.by_field[i] = NONE;
	choose_processes(&page, model);
	write_own(&page, model);
	for (uint32_t i = 0; i < page.n_processes; i++) {
		struct mon_out identity = {0};
		rec_metric_write_identity(&identity, &page.processes[i]->identity);
		page.is_failed |= mon_out_status(&identity) < 0;
		page.identities[i] = identity.bytes;
		add_process(&page, i);
		add_derived(&page, i);
		add_fields(&page, i);
	}
	if (!page.is_failed)
		write_families(&page);
	if (options->syntax == REC_METRICS_OPENMETRICS)
		mon_out_text(out, "# EOF\n");
	out->is_failed |= page.is_failed;
	for (uint32_t i = 0; i < page.n_processes; i++)
		free(page.identities[i]);
	free(page.families);
	free(page.samples);
}
