// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Words are resolved once at the start, so that a dead process of the same name
// is never recorded by accident; whatever starts later is taken by the same
// words. A PID alone never says who a process is: with it goes the start time,
// where this machine still knows it.

#include "choice.h"

#include "text.h"

#include "../libtelemetry/discover.h"
#include "../monitor/model.h"
#include "../recorder/process.h"

#include <fnmatch.h>

#include "../libtelemetry/banned.h"

#define FORGOTTEN_NS (60 * UINT64_C(1000000000))

struct cli_chosen {
	uint64_t instance_id;
	uint64_t pid, start_ticks;
	uint64_t forgotten_at_ns; // 0: not
};

// Drops those that were forgotten long ago.
static void prune(struct cli_choice *choice)
{
	uint64_t now_ns = cli_now_ns();
	size_t kept = 0;
	for (size_t i = 0; i < choice->n_chosen; i++) {
		const struct cli_chosen *chosen = &choice->chosen[i];
		if (!chosen->forgotten_at_ns || now_ns - chosen->forgotten_at_ns < FORGOTTEN_NS)
			choice->chosen[kept++] = *chosen;
	}
	choice->n_chosen = kept;
}

static bool add_chosen(struct cli_choice *choice, const struct tele_identity *identity)
{
	if (choice->n_chosen == choice->capacity)
		prune(choice);
	if (choice->n_chosen == choice->capacity) {
		size_t capacity = choice->capacity ? 2 * choice->capacity : 16;
		void *grown = realloc(choice->chosen, capacity * sizeof(choice->chosen[0]));
		if (!grown)
			return false;
		choice->chosen = grown;
		choice->capacity = capacity;
	}
	choice->chosen[choice->n_chosen++] = (struct cli_chosen){
		.instance_id = identity->instance_id,
		.pid = identity->pid,
		.start_ticks = identity->start_ticks,
	};
	return true;
}

void cli_choice_forget(void *context, uint64_t instance_id)
{
	struct cli_choice *choice = context;
	for (size_t i = 0; i < choice->n_chosen; i++)
		if (choice->chosen[i].instance_id == instance_id)
			choice->chosen[i].forgotten_at_ns = cli_now_ns();
}

void cli_choice_fini(struct cli_choice *choice)
{
	free(choice->chosen);
	free(choice->scores);
	choice->chosen = NULL;
	choice->scores = NULL;
	choice->n_chosen = choice->capacity = 0;
}

static bool is_pattern(const char *word)
{
	return strpbrk(word, "*?[") != NULL;
}

// How well a word names a process: 0 for not at all.
static unsigned match(const struct tele_identity *identity, const char *word)
{
	unsigned score = mon_identity_match(identity, word);
	if (score == 0 && is_pattern(word))
		score = fnmatch(word, identity->label, 0) == 0 || fnmatch(word, identity->comm, 0) == 0;
	return score;
}

// The instance of a list's item, or NULL.
static const struct tele_instance *instance_at(const struct tele_found_list *list, size_t i)
{
	return list->items[i].attach ? tele_attach_instance(list->items[i].attach) : NULL;
}

// The live processes that a word names best, else the newest dead one. Returns
// how well, 0 for not at all.
static unsigned choose_word(struct cli_choice *choice, const struct tele_found_list *list,
			    const char *word)
{
	const struct tele_identity *newest = NULL;
	unsigned best_alive = 0;
	unsigned best_dead = 0;
	for (size_t i = 0; i < list->n_items; i++) {
		const struct tele_instance *instance = instance_at(list, i);
		unsigned score = instance ? match(&instance->identity, word) : 0;
		if (score && tele_state_is_alive(instance->state)) {
			best_alive = score > best_alive ? score : best_alive;
		} else if (score && score >= best_dead) {
			// The list is in order of creation.
			best_dead = score;
			newest = &instance->identity;
		}
	}
	if (!best_alive)
		return newest && add_chosen(choice, newest) ? best_dead : 0;
	for (size_t i = 0; i < list->n_items; i++) {
		const struct tele_instance *instance = instance_at(list, i);
		if (instance && tele_state_is_alive(instance->state) &&
		    match(&instance->identity, word) == best_alive &&
		    !add_chosen(choice, &instance->identity))
			return 0;
	}
	return best_alive;
}

int cli_choose(const struct cli_call *call, struct cli_choice *choice)
{
	struct tele_found_list list = {0};
	struct tele_error error;
	int status = CLI_OK;
	if (choice->n_words == 0)
		return CLI_OK;
	choice->scores = calloc((size_t)choice->n_words, sizeof(choice->scores[0]));
	if (!choice->scores)
		return cli_fail(call, CLI_FAILED, "out of memory; close something");
	if (tele_discover(NULL, &list, &error) < 0)
		return cli_fail_with(call, &error, "see `rollcall doctor`");
	for (int i = 0; i < choice->n_words && status == CLI_OK; i++) {
		choice->scores[i] = choose_word(choice, &list, choice->words[i]);
		if (!choice->scores[i] && is_pattern(choice->words[i]))
			choice->scores[i] = 1;
		if (!choice->scores[i])
			status = cli_fail(call, CLI_FAILED,
					  "nothing that publishes is called '%s'; `rollcall list` shows what does",
					  choice->words[i]);
	}
	tele_found_list_close(&list);
	return status;
}

// Whether the PID of a chosen process is still its own, as far as is known.
static bool is_still(const struct cli_chosen *chosen)
{
	uint64_t start_ticks;
	return !rec_process_stat(chosen->pid, NULL, &start_ticks) || start_ticks == chosen->start_ticks;
}

// Whether a new instance comes from a chosen one: forked by it, the next program
// of its process, or its child.
static bool comes_from(const struct tele_identity *identity, const struct cli_chosen *chosen)
{
	if (identity->parent_instance_id == chosen->instance_id)
		return true;
	if (identity->pid == chosen->pid)
		return identity->start_ticks == chosen->start_ticks;
	return identity->parent_pid == chosen->pid && is_still(chosen);
}

bool cli_choice_wants(void *context, const struct tele_instance *instance)
{
	struct cli_choice *choice = context;
	const struct tele_identity *identity = &instance->identity;
	bool is_new = identity->created_at_ns + 1000000 >= choice->since_ns;
	for (size_t i = 0; i < choice->n_chosen; i++) {
		const struct cli_chosen *chosen = &choice->chosen[i];
		if (identity->instance_id == chosen->instance_id)
			return true;
		if (is_new && comes_from(identity, chosen))
			return add_chosen(choice, identity);
	}
	if (choice->root) {
		if (!is_new || !rec_process_descends(identity->pid, (uint64_t)choice->root))
			return false;
	} else if (choice->n_words > 0) {
		bool is_named = false;
		for (int i = 0; i < choice->n_words; i++)
			is_named |= match(identity, choice->words[i]) >= choice->scores[i];
		if (!is_new || !is_named)
			return false;
	} else if (!is_new && !tele_state_is_alive(instance->state)) {
		return false;
	}
	return add_chosen(choice, identity);
}
