// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A recorder seen from the command line: who is recorded, and the one line that
// tells how it goes. Words are resolved once at the start, so that a dead
// process of the same name is never recorded by accident; whatever starts later
// is taken by the same words.

#include "recording.h"

#include "text.h"

#include "../libtelemetry/discover.h"
#include "../monitor/model.h"
#include "../recorder/process.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

static bool add_chosen(struct cli_choice *choice, const struct tele_identity *identity)
{
	if (choice->n_chosen == choice->capacity) {
		size_t capacity = choice->capacity ? 2 * choice->capacity : 16;
		void *grown = realloc(choice->chosen, capacity * sizeof(choice->chosen[0]));
		if (!grown)
			return false;
		choice->chosen = grown;
		choice->capacity = capacity;
	}
	choice->chosen[choice->n_chosen].instance_id = identity->instance_id;
	choice->chosen[choice->n_chosen++].pid = identity->pid;
	return true;
}

void cli_choice_fini(struct cli_choice *choice)
{
	free(choice->chosen);
	free(choice->scores);
	choice->chosen = NULL;
	choice->scores = NULL;
	choice->n_chosen = choice->capacity = 0;
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
		unsigned score = instance ? mon_identity_match(&instance->identity, word) : 0;
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
		    mon_identity_match(&instance->identity, word) == best_alive &&
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
		if (!choice->scores[i])
			status = cli_fail(call, CLI_FAILED,
					  "nothing that publishes is called '%s'; `rollcall list` shows what does",
					  choice->words[i]);
	}
	tele_found_list_close(&list);
	return status;
}

static bool wants(void *context, const struct tele_instance *instance)
{
	struct cli_choice *choice = context;
	const struct tele_identity *identity = &instance->identity;
	bool is_new = identity->created_at_ns + 1000000 >= choice->since_ns;
	for (size_t i = 0; i < choice->n_chosen; i++) {
		const struct cli_chosen *chosen = &choice->chosen[i];
		if (identity->instance_id == chosen->instance_id)
			return true;
		if (is_new && (identity->parent_instance_id == chosen->instance_id ||
			       identity->pid == chosen->pid || identity->parent_pid == chosen->pid))
			return add_chosen(choice, identity);
	}
	if (choice->root) {
		if (!is_new || !rec_process_descends(identity->pid, (uint64_t)choice->root))
			return false;
	} else if (choice->n_words > 0) {
		bool is_named = false;
		for (int i = 0; i < choice->n_words; i++)
			is_named |= mon_identity_match(identity, choice->words[i]) >= choice->scores[i];
		if (!is_new || !is_named)
			return false;
	} else if (!is_new && !tele_state_is_alive(instance->state)) {
		return false;
	}
	return add_chosen(choice, identity);
}

int cli_recording_open(struct cli_recording *recording, const struct cli_call *call,
		       const char *path, bool replace, bool has_progress)
{
	struct tele_error error;
	recording->call = call;
	recording->path = path;
	recording->has_progress = has_progress && isatty(STDERR_FILENO);
	recording->started_at_ns = cli_now_ns();
	recording->choice.since_ns = recording->started_at_ns;
	const struct rec_settings settings = {
		.path = path,
		.replace = replace,
		.wants = wants,
		.context = &recording->choice,
	};
	int result = rec_open(&settings, &recording->recorder, &error);
	if (result == -EEXIST)
		return cli_fail_with(call, &error, "choose another name, or replace it with --force");
	if (result < 0)
		return cli_fail_with(call, &error, "choose another file with room and permission");
	return CLI_OK;
}

static void show_progress(struct cli_recording *recording, const struct rec_progress *progress)
{
	char written[CLI_SIZE_TEXT];
	char rate[CLI_SIZE_TEXT];
	char line[256];
	uint64_t now_ns = cli_now_ns();
	if (recording->has_line && now_ns - recording->said_at_ns < 900000000u)
		return;
	if (recording->has_line)
		recording->bytes_per_s = (progress->written_bytes - recording->said_bytes) * 1000000000u /
					 (now_ns - recording->said_at_ns);
	recording->said_at_ns = now_ns;
	recording->said_bytes = progress->written_bytes;
	recording->has_line = true;
	int n = snprintf(line, sizeof(line),
			 "\r\033[K%llu process%s, %llu rows, %s, %s/s, lost %llu",
			 (unsigned long long)progress->n_processes, progress->n_processes == 1 ? "" : "es",
			 (unsigned long long)progress->n_rows,
			 cli_bytes_text(progress->written_bytes, written),
			 cli_bytes_text(recording->bytes_per_s, rate), (unsigned long long)progress->lost);
	ssize_t ignored = write(STDERR_FILENO, line, (size_t)n);
	(void)ignored;
}

static void clear_progress(struct cli_recording *recording)
{
	if (!recording->has_line)
		return;
	ssize_t ignored = write(STDERR_FILENO, "\r\033[K", 4);
	(void)ignored;
	recording->has_line = false;
}

int cli_recording_step(struct cli_recording *recording, bool *ret_is_over)
{
	struct tele_error error;
	struct rec_progress progress;
	if (rec_step(recording->recorder, cli_now_ns(), &error) < 0) {
		clear_progress(recording);
		return cli_fail_with(recording->call, &error,
				     "what was recorded before is whole and can be read");
	}
	rec_get_progress(recording->recorder, &progress);
	if (recording->has_progress)
		show_progress(recording, &progress);
	if (ret_is_over)
		*ret_is_over = progress.n_processes > 0 && progress.n_alive == 0;
	return CLI_OK;
}

int cli_recording_close(struct cli_recording *recording, int status)
{
	struct tele_error error;
	struct rec_progress progress;
	if (status == CLI_OK && cli_recording_step(recording, NULL) != CLI_OK)
		status = CLI_FAILED;
	rec_get_progress(recording->recorder, &progress);
	clear_progress(recording);
	int result = rec_close(recording->recorder, &error);
	recording->recorder = NULL;
	cli_choice_fini(&recording->choice);
	if (status != CLI_OK)
		return status;
	if (result < 0)
		return cli_fail_with(recording->call, &error,
				     "what was recorded before is whole and can be read");
	char written[CLI_SIZE_TEXT];
	struct stat file;
	if (stat(recording->path, &file) == 0 && S_ISREG(file.st_mode))
		progress.written_bytes = (uint64_t)file.st_size; // with index and trailer
	cli_note(recording->call, "%s holds %llu process%s, %llu rows, %s%s",
		 strcmp(recording->path, "-") == 0 ? "the trace" : recording->path,
		 (unsigned long long)progress.n_processes, progress.n_processes == 1 ? "" : "es",
		 (unsigned long long)progress.n_rows, cli_bytes_text(progress.written_bytes, written),
		 progress.lost ? "; some records were lost" : "");
	return CLI_OK;
}
