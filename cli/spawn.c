// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The command stays in our process group and keeps the terminal, so keys reach
// both of us and job control works as if we were not there. What the terminal
// sends to the group (the kernel is the sender) is not passed on; what was sent
// to us alone is.

#include "spawn.h"

#include "elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};

static sigset_t mask_before;
static struct sigaction child_action_before;
static struct sigaction pipe_action_before;
static struct sigaction size_action_before; // of SIGXFSZ: a full trace is an error

static bool library_at(const char *directory, const char *name, char ret_path[PATH_MAX])
{
	int n = snprintf(ret_path, PATH_MAX, "%s/%s", directory, name);
	if (n > 0 && n < PATH_MAX && access(ret_path, R_OK) == 0)
		return true;
	ret_path[0] = '\0';
	return false;
}

int cli_find_libraries(struct cli_libraries *ret_libraries, struct tele_error *ret_error)
{
	char directory[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", directory, sizeof(directory) - 8);
	if (len <= 0)
		return tele_fail(ret_error, -errno, "cannot tell where this command lies: %s",
				 tele_strerror(errno));
	directory[len] = '\0';
	char *slash = strrchr(directory, '/');
	*slash = '\0';
	struct cli_libraries libraries;
	if (!library_at(directory, "librollcall.so.0", libraries.core)) {
		memcpy(slash, "/../lib", sizeof("/../lib"));
		if (!library_at(directory, "librollcall.so.0", libraries.core)) {
			*slash = '\0';
			return tele_fail(ret_error, -ENOENT,
					 "librollcall.so.0 is neither in %s nor in its ../lib; install it there",
					 directory);
		}
	}
	if (strpbrk(libraries.core, ": "))
		return tele_fail(ret_error, -EINVAL,
				 "a library cannot be preloaded from a path with blanks or colons (%s); move it",
				 libraries.core);
	library_at(directory, "librollcall-alloc.so", libraries.alloc);
	library_at(directory, "librollcall-cuda.so", libraries.cuda);
	*ret_libraries = libraries;
	return 0;
}

static void set_preload(const char *preload)
{
	const char *before = getenv("LD_PRELOAD");
	char both[4 * PATH_MAX];
	int n = snprintf(both, sizeof(both), "%s%s%s", preload, before && *before ? ":" : "",
			 before ? before : "");
	setenv("LD_PRELOAD", n > 0 && (size_t)n < sizeof(both) ? both : preload, 1);
}

// Collects what a child writes to `fd` until it closes it, cut at the buffer.
static void read_all(int fd, char *buffer, size_t size)
{
	size_t used = 0;
	char rest[256];
	for (;;) {
		bool is_full = used + 1 >= size;
		ssize_t got = is_full ? read(fd, rest, sizeof(rest)) : read(fd, buffer + used, size - 1 - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		if (!is_full)
			used += (size_t)got;
	}
	buffer[used] = '\0';
	buffer[strcspn(buffer, "\n")] = '\0';
}

int cli_probe_preload(const char *preload, struct tele_error *ret_error)
{
	int said[2];
	char words[400];
	int status;
	if (pipe2(said, O_CLOEXEC) < 0)
		return tele_fail(ret_error, -errno, "cannot make a pipe: %s", tele_strerror(errno));
	pid_t pid = fork();
	if (pid < 0) {
		int error = errno;
		close(said[0]);
		close(said[1]);
		return tele_fail(ret_error, -error, "cannot fork: %s", tele_strerror(error));
	}
	if (pid == 0) {
		dup2(said[1], STDERR_FILENO);
		setenv("ROLLCALL", "off", 1);
		set_preload(preload);
		execlp("true", "true", (char *)NULL);
		_exit(127);
	}
	close(said[1]);
	read_all(said[0], words, sizeof(words));
	close(said[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status == 0 && words[0] == '\0')
		return 0;
	return tele_fail(ret_error, TELE_EDISABLED, "programs here do not start with Rollcall preloaded: %s",
			 words[0] ? words : "`true` failed");
}

// Whether the library defines dlsym: 1, 0, or -1 when that cannot be seen, since
// the loader searches for a name without a folder and fills in what a $ says.
static int hooks_dlsym(const char *path)
{
	struct cli_elf elf = {0};
	bool is_path = strchr(path, '/') && !strchr(path, '$');
	int fd = is_path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	if (is_path && fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0; // as the loader does
	int is_hook = fd < 0 || cli_elf_read(fd, &elf) != 1 ? -1 : elf.defines_dlsym;
	if (fd >= 0)
		close(fd);
	return is_hook;
}

static bool is_ours(const char *path)
{
	const char *slash = strrchr(path, '/');
	return strcmp(slash ? slash + 1 : path, "librollcall-cuda.so") == 0;
}

bool cli_has_global_hook(char *ret_text, size_t size)
{
	char line[PATH_MAX + 2], *rest;
	bool has_hook = false;
	FILE *file = fopen("/etc/ld.so.preload", "re");
	while (file && !has_hook && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "#")] = '\0';
		for (char *path = strtok_r(line, " \t\n:", &rest); path && !has_hook; path = strtok_r(NULL, " \t\n:", &rest)) {
			int is_hook = is_ours(path) ? 0 : hooks_dlsym(path);
			has_hook = is_hook != 0;
			if (has_hook)
				snprintf(ret_text, size, "/etc/ld.so.preload loads %s into every program, which %s dlsym: the CUDA "
							 "census may see less; compare cuda[0].calls",
					 path, is_hook > 0 ? "hooks" : "may hook");
		}
	}
	if (file)
		fclose(file);
	return has_hook;
}

// The address sanitizer's runtime refuses to come after a preload.
static void calm_sanitizer(void)
{
	const char *before = getenv("ASAN_OPTIONS");
	char options[1024];
	int n = snprintf(options, sizeof(options), "%s%sverify_asan_link_order=0", before ? before : "",
			 before && *before ? ":" : "");
	if (n > 0 && (size_t)n < sizeof(options))
		setenv("ASAN_OPTIONS", options, 1);
}

static void set_environment(const struct cli_spawn *spawn)
{
	char pid[24];
	snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	if (!spawn->preload)
		return;
	set_preload(spawn->preload);
	if (spawn->has_asan)
		calm_sanitizer();
	setenv("ROLLCALL_ROOT", pid, 1);
	if (spawn->interval_ms)
		setenv("ROLLCALL_INTERVAL_MS", spawn->interval_ms, 1);
	if (spawn->label)
		setenv("ROLLCALL_LABEL", spawn->label, 1);
	if (spawn->children)
		setenv("ROLLCALL_CHILDREN", spawn->children, 1);
	if (spawn->without_cmdline)
		setenv("ROLLCALL_CMDLINE", "no", 1);
}

static int redirect(const char *output_path)
{
	int output = open(output_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (output < 0 || input < 0 || dup2(input, STDIN_FILENO) < 0 ||
	    dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
		return -errno;
	return 0;
}

// Executes the file; returns only on failure. A file that the kernel does not
// know goes to the shell only when it is text, else the shell would make what it
// can of a damaged binary.
static void execute(const struct cli_spawn *spawn)
{
	execv(spawn->path, spawn->argv);
	if (errno != ENOEXEC || !spawn->is_shell_text)
		return;
	size_t n_words = 0;
	while (spawn->argv[n_words])
		n_words++;
	char **words = calloc(n_words + 2, sizeof(words[0]));
	if (!words)
		return;
	words[0] = strdup("sh");
	words[1] = strdup(spawn->path);
	memcpy(words + 2, spawn->argv + 1, n_words * sizeof(words[0]));
	execv("/bin/sh", words);
}

static _Noreturn void become(const struct cli_spawn *spawn, int failed)
{
	int error = 0;
	sigaction(SIGCHLD, &child_action_before, NULL);
	sigaction(SIGPIPE, &pipe_action_before, NULL);
	sigaction(SIGXFSZ, &size_action_before, NULL);
	// The monitor owns the terminal: keep its keys away from the command.
	if (spawn->output_path && (setpgid(0, 0) < 0 || redirect(spawn->output_path) < 0))
		error = errno;
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
	if (!error) {
		set_environment(spawn);
		execute(spawn);
		error = errno;
	}
	ssize_t ignored = write(failed, &error, sizeof(error));
	(void)ignored;
	_exit(127);
}

static void signals_of_interest(sigset_t *ret_set)
{
	sigemptyset(ret_set);
	for (size_t i = 0; i < TELE_ARRAY_LEN(passed_on); i++)
		sigaddset(ret_set, passed_on[i]);
	sigaddset(ret_set, SIGCHLD);
}

int cli_spawn(const struct cli_spawn *spawn, struct cli_child *ret_child,
	      struct tele_error *ret_error)
{
	struct cli_child child = {.signals = -1, .has_own_group = spawn->output_path};
	struct sigaction by_default = {.sa_handler = SIG_DFL};
	struct sigaction ignored = {.sa_handler = SIG_IGN};
	int failed[2];
	sigset_t set;
	if (pipe2(failed, O_CLOEXEC) < 0)
		return tele_fail(ret_error, -errno, "cannot make a pipe: %s", tele_strerror(errno));
	sigaction(SIGCHLD, &by_default, &child_action_before);
	sigaction(SIGPIPE, &ignored, &pipe_action_before);
	sigaction(SIGXFSZ, &ignored, &size_action_before);
	signals_of_interest(&set);
	sigprocmask(SIG_BLOCK, &set, &mask_before);
	child.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	child.pid = child.signals < 0 ? -1 : fork();
	if (child.pid == 0)
		become(spawn, failed[1]);
	int error = errno;
	close(failed[1]);
	if (child.pid < 0) {
		close(failed[0]);
		cli_signals_release();
		return tele_fail(ret_error, -error, "cannot start a process: %s", tele_strerror(error));
	}
	ssize_t got;
	while ((got = read(failed[0], &error, sizeof(error))) < 0 && errno == EINTR)
		;
	close(failed[0]);
	if (got > 0) {
		while (waitpid(child.pid, NULL, 0) < 0 && errno == EINTR)
			;
		close(child.signals);
		cli_signals_release();
		return tele_fail(ret_error, -error, "cannot start %s: %s", spawn->argv[0], tele_strerror(error));
	}
	*ret_child = child;
	return 0;
}

void cli_signals_release(void)
{
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

void cli_signals_hold(void)
{
	sigset_t set;
	signals_of_interest(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

void cli_child_reap(struct cli_child *child)
{
	int status;
	if (!child->is_done && waitpid(child->pid, &status, WNOHANG) == child->pid) {
		child->wait_status = status;
		child->is_done = true;
	}
}

void cli_child_signal(const struct cli_child *child, int number)
{
	if (!child->is_done)
		kill(child->has_own_group ? -child->pid : child->pid, number);
}

void cli_child_wait(struct cli_child *child, int timeout_ms)
{
	struct pollfd waited = {.fd = child->signals, .events = POLLIN};
	struct signalfd_siginfo signal;
	if (poll(&waited, 1, timeout_ms) > 0)
		while (read(child->signals, &signal, sizeof(signal)) == (ssize_t)sizeof(signal))
			if (signal.ssi_signo != SIGCHLD &&
			    (signal.ssi_code != SI_KERNEL || child->has_own_group))
				cli_child_signal(child, (int)signal.ssi_signo);
	cli_child_reap(child);
}

int cli_child_status(const struct cli_child *child)
{
	if (WIFSIGNALED(child->wait_status))
		return 128 + WTERMSIG(child->wait_status);
	return WEXITSTATUS(child->wait_status);
}
