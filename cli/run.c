// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The verb `run`. Everything that can fail is tried before the command starts:
// the file, the libraries, the trace. From then on nothing of ours may change
// what the command does; a recorder that fails says so, and the command goes on.

#include "run.h"

#include "beside.h"
#include "clean.h"
#include "recording.h"
#include "target.h"
#include "text.h"

#include "../libtelemetry/discover.h"
#include "../monitor/monitor.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

// ---- Before the start -----------------------------------------------------------

// Whether this machine has the CUDA driver.
static bool has_driver(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (driver)
		dlclose(driver);
	return driver != NULL;
}

static void join(char *preload, size_t size, const struct cli_libraries *libraries, bool has_alloc,
		 bool has_cuda)
{
	snprintf(preload, size, "%s%s%s%s%s", libraries->core, has_alloc ? ":" : "",
		 has_alloc ? libraries->alloc : "", has_cuda ? ":" : "", has_cuda ? libraries->cuda : "");
}

// Says what will not be seen. Fills the preload, or leaves it NULL for a target
// that would not survive it.
static int prepare(const struct cli_call *call, const struct cli_run_options *options,
		   const struct cli_target *target, struct cli_spawn *spawn, char *preload,
		   size_t preload_size)
{
	struct cli_libraries libraries;
	struct tele_error error;
	bool is_blind;
	const char *why = cli_target_blindness(target, &is_blind);
	if (why && target->has_own_malloc && !is_blind && options->without_alloc)
		why = NULL;
	if (why && options->is_strict)
		return cli_fail(call, CLI_FAILED, "%s %s; it was not started, without --strict it would be",
				target->path, why);
	if (why)
		cli_note(call, "%s %s", target->path, why);
	if (target->is_musl)
		return CLI_OK;
	if (cli_find_libraries(&libraries, &error) < 0)
		return cli_fail_with(call, &error, NULL);
	bool has_alloc = libraries.alloc[0] && !options->without_alloc && !target->has_asan;
	bool has_cuda = libraries.cuda[0] && !options->without_cuda && (options->must_cuda || has_driver());
	if (options->must_alloc && !has_alloc)
		return cli_fail(call, CLI_FAILED,
				"librollcall-alloc.so is not beside librollcall.so.0; install it, or leave out --alloc");
	if (options->must_cuda && !has_cuda)
		return cli_fail(call, CLI_FAILED,
				"librollcall-cuda.so is not beside librollcall.so.0; install it, or leave out --cuda");
	join(preload, preload_size, &libraries, has_alloc, has_cuda);
	if (cli_probe_preload(preload, &error) < 0 && has_cuda && !options->must_cuda) {
		cli_note(call, "%s; the CUDA driver's calls will not be counted", error.text);
		join(preload, preload_size, &libraries, has_alloc, false);
	}
	if (cli_probe_preload(preload, &error) < 0)
		return cli_fail_with(call, &error, "see `rollcall doctor`");
	char hook[PATH_MAX + 200];
	if (has_cuda && cli_has_global_hook(hook, sizeof(hook)))
		cli_note(call, "%s", hook);
	spawn->has_asan = target->has_asan;
	spawn->preload = preload;
	return CLI_OK;
}

// ---- Beside the command ------------------------------------------------------------

// Waits for the command, recording when `recording` is given.
// Returns how the recording ended.
static int attend(struct cli_child *child, struct cli_recording *recording, uint64_t until_ns)
{
	int status = CLI_OK;
	while (!child->is_done) {
		cli_child_wait(child, recording ? cli_recording_wait_ms(recording) : -1);
		if (!recording)
			continue;
		status = cli_recording_step(recording, NULL);
		if (status != CLI_OK || cli_now_ns() >= until_ns) {
			status = cli_recording_close(recording, status);
			recording = NULL;
		}
	}
	return recording ? cli_recording_close(recording, status) : status;
}

static struct cli_child *watched_child;

static void on_child_signal(int number)
{
	int saved = errno;
	(void)number;
	cli_child_reap(watched_child);
	errno = saved;
}

// Waits until the child publishes, or has ended.
static bool await_segment(struct cli_child *child)
{
	char pid[24];
	bool found = false;
	snprintf(pid, sizeof(pid), "%ld", (long)child->pid);
	for (int tries = 0; tries < 100 && !found; tries++) {
		struct tele_found_list list = {0};
		if (tele_discover(NULL, &list, NULL) >= 0)
			for (size_t i = 0; i < list.n_items && !found; i++)
				found = list.items[i].attach &&
					tele_attach_instance(list.items[i].attach)->identity.pid ==
						(uint64_t)child->pid;
		tele_found_list_close(&list);
		if (!found && child->is_done)
			break;
		if (!found)
			cli_child_wait(child, 20);
	}
	return found;
}

// The monitor on the child until the user leaves it.
static void monitor(const struct cli_call *call, struct cli_child *child, const char *output_path)
{
	struct tele_error error;
	struct sigaction reap = {.sa_handler = on_child_signal, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
	struct sigaction by_default = {.sa_handler = SIG_DFL};
	char pid[24];
	snprintf(pid, sizeof(pid), "%ld", (long)child->pid);
	if (await_segment(child)) {
		const struct mon_options options = {.select = pid, .is_ascii = !mon_is_utf8_locale()};
		watched_child = child;
		sigaction(SIGCHLD, &reap, NULL);
		cli_signals_release();
		cli_child_reap(child);
		int result = mon_top(&options, &error);
		cli_signals_hold();
		sigaction(SIGCHLD, &by_default, NULL);
		cli_child_reap(child);
		if (result < 0)
			cli_fail_with(call, &error, NULL);
		else if (result > 128)
			cli_child_signal(child, result - 128);
	} else {
		cli_note(call, "process %s does not publish, so there is nothing to watch", pid);
	}
	if (!child->is_done)
		cli_note(call, "%s goes on as process %s; Ctrl-C ends it", call->command[0], pid);
	cli_note(call, "what it prints is in %s", output_path);
}

// ---- The verb --------------------------------------------------------------------------

static int fail_start(const struct cli_call *call, int result, const struct tele_error *error)
{
	return cli_fail(call, result == -ENOENT ? 127 : 126, "%s; check the name, PATH and permissions",
			error->text);
}

static int make_output_file(const struct cli_call *call, char *path, size_t size)
{
	const char *directory = getenv("TMPDIR");
	snprintf(path, size, "%s/rollcall-output-XXXXXX", directory && *directory ? directory : "/tmp");
	int fd = mkstemp(path);
	if (fd < 0)
		return cli_fail(call, CLI_FAILED, "cannot make %s for what the command prints: %s; set TMPDIR",
				path, tele_strerror(errno));
	close(fd);
	return CLI_OK;
}

int cli_run_command(const struct cli_call *call, const struct cli_run_options *options,
		    const struct cli_spawn *wanted)
{
	struct cli_spawn spawn = *wanted;
	char preload[3 * PATH_MAX + 3];
	char output_path[PATH_MAX];
	struct cli_recording recording = {0};
	struct cli_target target;
	struct cli_child child;
	struct tele_error error;
	struct cli_beside beside = {0};
	int result = cli_examine(call->command, &target, &error);
	if (result < 0)
		return fail_start(call, result, &error);
	spawn.argv = call->command;
	spawn.path = target.command;
	spawn.is_shell_text = target.is_text;
	int status = prepare(call, options, &target, &spawn, preload, sizeof(preload));
	if (status == CLI_OK && options->has_top)
		status = make_output_file(call, output_path, sizeof(output_path));
	if (status != CLI_OK)
		return status;
	if (options->has_top)
		spawn.output_path = output_path;
	cli_clean_automatically();
	if (options->record.path && options->has_top)
		status = cli_beside_start(call, &options->record, &beside);
	else if (options->record.path)
		status = cli_recording_open(&recording, call, &options->record);
	if (status != CLI_OK) {
		if (options->has_top)
			unlink(output_path);
		return status;
	}
	result = cli_spawn(&spawn, &child, &error);
	if (result < 0) {
		if (recording.recorder)
			cli_recording_close(&recording, CLI_FAILED);
		cli_beside_end(&beside);
		if (options->has_top)
			unlink(output_path);
		return fail_start(call, result, &error);
	}
	recording.choice.root = child.pid;
	cli_beside_record(&beside, child.pid);
	if (options->has_top)
		monitor(call, &child, output_path);
	status = attend(&child, recording.recorder ? &recording : NULL,
			options->record.for_ns ? cli_now_ns() + options->record.for_ns : UINT64_MAX);
	cli_beside_end(&beside);
	int ended = cli_child_status(&child);
	return options->is_for_trace && ended == 0 ? status : ended;
}

int cli_run(const struct cli_call *call)
{
	struct cli_run_options options = {
		.record = {.path = call->values[CLI_run_record], .replace = call->values[CLI_run_force]},
		.has_top = call->values[CLI_run_top],
		.must_alloc = call->values[CLI_run_alloc],
		.without_alloc = call->values[CLI_run_no_alloc],
		.must_cuda = call->values[CLI_run_cuda],
		.without_cuda = call->values[CLI_run_no_cuda],
		.is_strict = call->values[CLI_run_strict],
	};
	struct cli_spawn spawn = {
		.interval_ms = call->values[CLI_run_interval],
		.label = call->values[CLI_run_label],
		.children = call->values[CLI_run_children],
		.without_cmdline = call->values[CLI_run_no_cmdline],
	};
	uint64_t interval_ms;
	if (!call->command)
		return cli_fail(call, CLI_USAGE, "CMD is missing; see `rollcall run --help`");
	if (cli_number(call, CLI_run_interval, 1, 60000, &interval_ms) != CLI_OK)
		return CLI_USAGE;
	if (spawn.children && strcmp(spawn.children, "no") != 0 && strcmp(spawn.children, "lazy") != 0 &&
	    strcmp(spawn.children, "all") != 0)
		return cli_fail(call, CLI_USAGE, "--children %s is none of no, lazy and all", spawn.children);
	if (options.must_alloc && options.without_alloc)
		return cli_fail(call, CLI_USAGE, "--alloc and --no-alloc exclude each other; say one of them");
	if (options.must_cuda && options.without_cuda)
		return cli_fail(call, CLI_USAGE, "--cuda and --no-cuda exclude each other; say one of them");
	if (options.record.replace && !options.record.path)
		return cli_fail(call, CLI_USAGE, "--force replaces the FILE of --record; say --record FILE");
	if (options.record.path && strcmp(options.record.path, "-") == 0)
		return cli_fail(call, CLI_USAGE, "standard output is CMD's; use `rollcall record -o -`");
	if (options.has_top && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
		return cli_fail(call, CLI_USAGE, "--top needs a terminal; without one use --record FILE");
	return cli_run_command(call, &options, &spawn);
}
