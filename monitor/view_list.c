// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The rows of the overview. The living stand before the dead, whatever the
// order is; what is equal keeps the order in which it appeared, so that nothing
// moves without a reason. A tree hangs children below their parents, each level
// in the same order, and sums up each tree below it.

#include "view_list.h"

#include <stdlib.h>
#include <string.h>

#include "utf8.h"

#include "../libtelemetry/banned.h"

#define NO_ROW UINT32_MAX

struct member {
	const struct mon_process *process;
	struct analysis_signed key;
	uint32_t number; // of appearance
	uint32_t parent, first_child, next_sibling;
};

// ---- Who is listed ------------------------------------------------------------

static uint32_t lower(uint32_t ch)
{
	return ch >= 'A' && ch <= 'Z' ? ch - 'A' + 'a' : ch;
}

// Whether `text` holds `part`; capitals do not matter.
static bool contains(const char *text, const char *part)
{
	size_t len = strlen(part);
	for (; *text; text++) {
		size_t i = 0;
		while (i < len && text[i] &&
		       lower((unsigned char)text[i]) == lower((unsigned char)part[i]))
			i++;
		if (i == len)
			return true;
	}
	return len == 0;
}

bool mon_overview_matches(const struct mon_process *process, const char *text)
{
	return mon_identity_match(&process->identity, text) >= 2 ||
	       contains(process->identity.label, text) || contains(process->identity.comm, text);
}

static bool is_wanted(const struct mon_process *process, const struct mon_view *view)
{
	const char *filter = view->filters[MON_SCREEN_OVERVIEW];
	if (view->is_dead_hidden && !tele_state_is_alive(process->state))
		return false;
	if (view->has_user && process->identity.euid != view->user)
		return false;
	return !filter[0] || mon_overview_matches(process, filter);
}

// ---- The order ----------------------------------------------------------------

struct order {
	enum mon_column sort;
	bool is_inverted;
};

static int compare(const void *left, const void *right, void *context)
{
	const struct member *a = left, *b = right;
	const struct order *want = context;
	bool is_alive_a = tele_state_is_alive(a->process->state);
	bool is_alive_b = tele_state_is_alive(b->process->state);
	int order = 0;
	if (is_alive_a != is_alive_b)
		return is_alive_a ? -1 : 1;
	if (want->sort == MON_COLUMN_LABEL)
		order = strcmp(a->process->identity.label, b->process->identity.label);
	else if (a->key.is_known != b->key.is_known)
		return a->key.is_known ? -1 : 1; // unknown is last in any direction
	else if (a->key.value != b->key.value)
		order = a->key.value > b->key.value ? -1 : 1;
	// Names, numbers of processes and states read upwards.
	bool is_upwards = want->sort == MON_COLUMN_PID || want->sort == MON_COLUMN_STATE;
	if (is_upwards != want->is_inverted)
		order = -order;
	return order ? order : (a->number < b->number ? -1 : 1);
}

// The wanted processes in order. NULL when there is no memory.
static struct member *sorted(const struct mon_model *model, const struct mon_view *view,
			     uint32_t *ret_n, uint32_t *ret_n_left_out)
{
	uint32_t n = 0;
	struct order order = {view->sort, view->is_inverted};
	struct member *members = malloc((model->n_processes + 1u) * sizeof(*members));
	*ret_n_left_out = 0;
	for (uint32_t i = 0; members && i < model->n_processes && n < MON_OVERVIEW_ROWS_MAX; i++) {
		const struct mon_process *process = model->processes[i];
		if (!mon_process_is_listed(process))
			continue;
		if (!is_wanted(process, view)) {
			++*ret_n_left_out;
			continue;
		}
		members[n++] = (struct member){process, mon_column_value(process, view->sort), i,
					       NO_ROW, NO_ROW, NO_ROW};
	}
	if (members)
		qsort_r(members, n, sizeof(*members), compare, &order);
	*ret_n = n;
	return members;
}

// ---- The tree -----------------------------------------------------------------

// Who could be meant as a parent, and by what: once by instance, once by PID.
// What was born later stands later.
struct birth {
	uint64_t key[6]; // kind, boot (2), number, namespace, time
	uint32_t member;
};

enum birth_kind { BY_INSTANCE, BY_PID };

static struct birth birth_of(const struct tele_identity *identity, enum birth_kind kind, uint64_t number)
{
	return (struct birth){.key = {kind, identity->boot_id[0], identity->boot_id[1], number,
				      kind == BY_PID ? identity->pid_namespace : 0, identity->created_at_ns}};
}

static int compare_keys(const struct birth *a, const struct birth *b, size_t n_keys)
{
	for (size_t i = 0; i < n_keys; i++)
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	return 0;
}

static int compare_births(const void *left, const void *right)
{
	const struct birth *a = left, *b = right;
	int order = compare_keys(a, b, TELE_ARRAY_LEN(a->key));
	return order ? order : (a->member > b->member) - (a->member < b->member);
}

// The latest that was born before the child and is what it calls its parent. What
// began later is nobody's parent: no circles, whatever segments say.
static uint32_t parent_of(const struct birth *births, uint32_t n_births, const struct tele_identity *child)
{
	struct birth wanted = child->parent_instance_id ? birth_of(child, BY_INSTANCE, child->parent_instance_id)
							: birth_of(child, BY_PID, child->parent_pid);
	uint32_t begin = 0, end = n_births;
	if (!child->parent_instance_id && !child->parent_pid)
		return NO_ROW;
	while (begin < end) {
		uint32_t middle = begin + (end - begin) / 2;
		if (compare_keys(&births[middle], &wanted, TELE_ARRAY_LEN(wanted.key)) < 0)
			begin = middle + 1;
		else
			end = middle;
	}
	bool is_found = begin > 0 && compare_keys(&births[begin - 1], &wanted, TELE_ARRAY_LEN(wanted.key) - 1) == 0;
	return is_found ? births[begin - 1].member : NO_ROW;
}

// Links each member to its parent. In order, because children are pushed in
// front. Without memory nobody has one.
static void link_members(struct member *members, uint32_t n)
{
	struct birth *births = malloc((2 * (size_t)n + 1) * sizeof(*births));
	for (uint32_t i = 0; births && i < n; i++) {
		const struct tele_identity *identity = &members[i].process->identity;
		births[2 * i] = birth_of(identity, BY_INSTANCE, identity->instance_id);
		births[2 * i + 1] = birth_of(identity, BY_PID, identity->pid);
		births[2 * i].member = births[2 * i + 1].member = i;
	}
	if (births)
		qsort(births, 2 * (size_t)n, sizeof(*births), compare_births);
	for (uint32_t i = n; births && i > 0; i--) {
		struct member *child = &members[i - 1];
		child->parent = parent_of(births, 2 * n, &child->process->identity);
		if (child->parent == NO_ROW)
			continue;
		child->next_sibling = members[child->parent].first_child;
		members[child->parent].first_child = i - 1;
	}
	free(births);
}

static void add_row(struct mon_list *list, struct mon_list_row row)
{
	list->rows[list->n_rows++] = row;
}

static void add_branch(struct mon_list *list, const struct member *members, uint32_t at,
		       unsigned depth, uint32_t rails)
{
	add_row(list, (struct mon_list_row){
			      .process = members[at].process, .depth = depth, .rails = rails});
	unsigned below = depth + 1 < MON_LIST_DEPTH_MAX ? depth + 1 : depth;
	for (uint32_t c = members[at].first_child; c != NO_ROW; c = members[c].next_sibling) {
		// The rail of this level goes on while siblings follow.
		uint32_t bit = UINT32_C(1) << (below - 1);
		bool has_next = members[c].next_sibling != NO_ROW;
		add_branch(list, members, c, below, has_next ? rails | bit : rails & ~bit);
	}
}

static void add_tree(struct mon_list *list, const struct member *members, uint32_t root)
{
	uint32_t begin = list->n_rows;
	add_branch(list, members, root, 0, 0);
	uint32_t n_members = list->n_rows - begin;
	if (n_members > 1)
		add_row(list, (struct mon_list_row){.root = members[root].process,
						    .n_members = n_members,
						    .tree_begin = begin,
						    .tree_end = list->n_rows});
}

// ---- The list -----------------------------------------------------------------

void mon_list_build(struct mon_list *list, const struct mon_model *model, const struct mon_view *view)
{
	uint32_t n = 0;
	const char *filter = view->filters[MON_SCREEN_OVERVIEW];
	*list = (struct mon_list){0};
	struct member *members = sorted(model, view, &n, &list->n_left_out);
	// A total has two members at least.
	list->rows = calloc(n + n / 2 + model->n_unreadable + 1u, sizeof(*list->rows));
	if (!members || !list->rows) {
		free(members);
		return;
	}
	if (view->is_tree)
		link_members(members, n);
	for (uint32_t i = 0; i < n; i++)
		if (members[i].parent == NO_ROW)
			add_tree(list, members, i);
	for (uint32_t i = 0; i < model->n_unreadable && !view->has_user; i++)
		if (!filter[0] || contains(model->unreadable[i].path, filter))
			add_row(list, (struct mon_list_row){.unreadable = &model->unreadable[i]});
	free(members);
}

void mon_list_fini(struct mon_list *list)
{
	free(list->rows);
	*list = (struct mon_list){0};
}

uint32_t mon_overview_order(const struct mon_model *model, const struct mon_view *view,
			    uint64_t *ret_ids, uint32_t capacity)
{
	struct mon_list list;
	uint32_t n = 0;
	mon_list_build(&list, model, view);
	for (uint32_t i = 0; i < list.n_rows; i++) {
		if (!list.rows[i].process)
			continue;
		if (n < capacity)
			ret_ids[n] = list.rows[i].process->identity.instance_id;
		n++;
	}
	mon_list_fini(&list);
	return n;
}

uint64_t mon_overview_row(const struct mon_model *model, const struct mon_view *view, uint64_t row)
{
	struct mon_list list;
	uint64_t id = 0;
	mon_list_build(&list, model, view);
	if (row < list.n_rows && list.rows[row].process)
		id = list.rows[row].process->identity.instance_id;
	mon_list_fini(&list);
	return id;
}
