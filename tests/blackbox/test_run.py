# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""`rollcall run`: what the command sees of it, and what it says beforehand."""

import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

from tests.blackbox.support import BUILD, LIBRARY, LIMIT_S, ROLLCALL, SCRIPT, Case, Script, needs_mount, needs_preload, needs_root, wait_for

HELLO = '#include <stdio.h>\nint main(void) { puts("hello"); return 3; }\n'
OWN_MALLOC = """
#include <stddef.h>
#include <stdio.h>
static char heap[1 << 20]; static size_t used;
void *malloc(size_t n) { void *p = heap + used; used += (n + 15) & ~(size_t)15; return p; }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *p, size_t n) { return p ? p : malloc(n); }
void free(void *p) { (void)p; }
int main(void) { char *p = malloc(10); p[0] = 'h'; printf("%cello\\n", p[0]); return 3; }
"""


def set_interpreter(path, interpreter):
    """Puts another PT_INTERP of the same length or less into a 64-bit ELF file."""
    with open(path, "r+b") as file:
        header = file.read(64)
        offset, size, count = struct.unpack_from("<Q", header, 32)[0], *struct.unpack_from("<HH", header, 54)
        for i in range(count):
            file.seek(offset + i * size)
            kind, _, at, _, _, length = struct.unpack_from("<IIQQQQ", file.read(size))
            if kind == 3:
                file.seek(at)
                file.write(interpreter.encode()[:length - 1].ljust(length, b"\0"))


@needs_preload
class Passing(Case):
    """CMD is started as the shell would start it."""

    def test_words_output_and_status_are_the_commands(self):
        done = self.rollcall("run", "--", "sh", "-c", 'echo "$1"; echo err >&2; exit 7', "x", "a b", status=7)
        self.assertEqual((done.stdout, done.stderr), ("a b\n", "err\n"))

    def test_options_after_the_command_are_the_commands(self):
        self.assertEqual(self.rollcall("run", "echo", "--record", "-x").stdout, "--record -x\n")

    def test_standard_input_is_the_commands(self):
        self.assertEqual(self.rollcall("run", "cat", input="through\n").stdout, "through\n")

    def test_a_command_that_a_signal_ends_gives_128_and_the_signal(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV):
            self.rollcall("run", "sh", "-c", "kill -%d $$" % number, status=128 + number)

    def test_a_program_whose_first_thread_ends_before_the_others(self):
        # Our thread must not be the one that the process then waits for.
        program = os.path.join(BUILD, "tests", "prog", "first_thread_ends")
        for words in ([program], [program, "fork"]):
            for children in ("lazy", "all"):
                with self.subTest(words=words, children=children):
                    done = self.rollcall("run", "--children", children, *words)
                    self.assertEqual(done.stdout, "last thread\n")
        states = [process["state"] for process in json.loads(self.rollcall("list", "--json", "--all").stdout)]
        self.assertEqual(set(states), {"exited"})

    def test_commands_that_cannot_be_started(self):
        plain = self.file("plain")
        open(plain, "w").close()
        bad = self.file("bad")
        with open(bad, "w") as file:
            file.write("#!/no/such/interpreter\n")
        os.chmod(bad, 0o755)
        self.assertIn("no-such-command", self.fails("run", "no-such-command", status=127))
        self.assertIn(plain, self.fails("run", plain, status=126))
        self.assertIn("a directory", self.fails("run", self.files, status=126))
        self.assertIn("/no/such/interpreter", self.fails("run", bad, status=127))
        self.fails("run", "", status=127)

    def test_the_environment_is_extended_and_not_replaced(self):
        done = self.rollcall("run", "--label", "me", "--interval", "50", "--children", "no", "--no-cmdline",
                             "env", env=dict(self.environment, LD_PRELOAD="libc.so.6", KEEP="1"))
        found = dict(line.split("=", 1) for line in done.stdout.splitlines())
        self.assertEqual(found["KEEP"], "1")
        self.assertRegex(found["LD_PRELOAD"], "^%s(:.*)?:libc.so.6$" % re.escape(LIBRARY))
        self.assertEqual(found["ROLLCALL_LABEL"], "me")
        self.assertEqual(found["ROLLCALL_INTERVAL_MS"], "50")
        self.assertEqual(found["ROLLCALL_CHILDREN"], "no")
        self.assertEqual(found["ROLLCALL_CMDLINE"], "no")

    def test_signals_sent_to_rollcall_alone_reach_the_command(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
            with self.subTest(number=number):
                run = self.start_rollcall("run", "sh", "-c", 'trap "echo got; exit 5" %d; echo ready; while :; do sleep 0.05; done' % number)
                self.assertEqual(run.stdout.readline(), "ready\n")
                run.send_signal(number)
                self.assertEqual(run.communicate(timeout=LIMIT_S)[0], "got\n")
                self.assertEqual(run.returncode, 5)

    def test_ignored_signals_stay_ignored(self):
        done = self.run_command(["sh", "-c", 'trap "" HUP; exec "$0" run sh -c "kill -HUP \\$\\$; echo alive"', ROLLCALL], text=True)
        self.assertEqual(done.stdout, "alive\n")

    def test_no_descriptor_of_ours_reaches_the_command(self):
        done = self.rollcall("run", "--record", self.file("t.rct"), "--", "ls", "/proc/self/fd")
        # ls itself has the directory open.
        self.assertEqual(done.stdout.split(), ["0", "1", "2", "3"])

    def test_a_trace_that_cannot_be_made_keeps_the_command_from_starting(self):
        taken = self.file("taken.rct")
        with open(taken, "w") as file:
            file.write("evidence")
        for path, word in ((taken, "--force"), (self.file("no/where.rct"), "No such file")):
            self.assertIn(word, self.fails("run", "--record", path, "touch", self.file("started")))
            self.assertFalse(os.path.exists(self.file("started")))
        with open(taken) as file:
            self.assertEqual(file.read(), "evidence")


@needs_preload
class Terminal(Case):
    """The terminal stays the command's: keys, job control, no progress lines."""

    def in_terminal(self, *command):
        pid, master = pty.fork()
        if pid == 0:
            os.execve(command[0], command, dict(self.environment, TERM="xterm"))
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.addCleanup(os.close, master)
        return pid, master

    def read_until(self, master, text):
        """Reads until the pattern `text` was seen; returns what was read."""
        seen = b""
        while not re.search(text, seen):
            try:
                more = os.read(master, 4096)
            except OSError:
                break
            if not more:
                break
            seen += more
        self.assertRegex(seen, text)
        return seen

    def status_of(self, pid):
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def test_the_command_reads_from_the_terminal(self):
        pid, master = self.in_terminal(ROLLCALL, "run", "--record", self.file("t.rct"), "--", "sh", "-c", 'echo ready; read x; echo "<$x>"')
        self.read_until(master, b"ready")
        os.write(master, b"typed\n")
        self.read_until(master, b"<typed>")
        self.assertEqual(self.status_of(pid), 0)

    def test_control_c_reaches_the_command_once(self):
        # No shell: bash goes round for ever where the signal comes as it begins to wait.
        program = ("import signal, sys, time\n"
                   "def count(*_):\n"
                   "    times.append(1)\n"
                   "    print('int%d' % len(times), flush=True)\n"
                   "times = []\n"
                   "signal.signal(signal.SIGINT, count)\n"
                   "print('ready', flush=True)\n"
                   "time.sleep(0.5)\n"
                   "sys.exit(4)\n")
        pid, master = self.in_terminal(ROLLCALL, "run", "--", sys.executable, "-c", program)
        self.read_until(master, b"ready")
        os.write(master, b"\x03")
        seen = self.read_until(master, b"int")
        self.assertEqual(self.status_of(pid), 4)
        self.assertNotIn(b"int2", seen)

    def test_a_trace_that_cannot_be_made_leaves_no_output_behind(self):
        with open(self.file("taken"), "w"):
            pass
        pid, master = self.in_terminal(ROLLCALL, "run", "--top", "--record", self.file("taken"), "--", "true")
        self.read_until(master, b"--force")
        self.assertEqual(self.status_of(pid), 1)
        self.assertEqual(os.listdir(self.files), ["taken"])

    def test_a_replay_says_that_a_candidate_is_not_there(self):
        trace = self.file("t.rct")
        self.rollcall("run", "--record", trace, "--", "true")
        pid, master = self.in_terminal(ROLLCALL, "replay", trace)
        self.read_until(master, b"go to")
        os.write(master, b"b7\r")
        self.read_until(master, b"ends before candidate 7")
        os.write(master, b"q")
        self.assertEqual(self.status_of(pid), 0)

    def test_the_monitor_has_the_terminal_and_leaves_the_command_running(self):
        pid, master = self.in_terminal(ROLLCALL, "run", "--record", self.file("t.rct"), "--top", "--label", "watched", "--",
                                       "sh", "-c", 'echo printed; trap "exit 9" INT; while :; do sleep 0.05; done')
        self.read_until(master, b"watched")
        os.write(master, b"q")
        path = self.read_until(master, rb"what it prints is in \S+\r\n").decode().split("prints is in ")[1].split()[0]
        with open(path) as file:
            self.assertEqual(file.read(), "printed\n")
        os.write(master, b"\x03")
        self.assertEqual(self.status_of(pid), 9)
        self.assertEqual([p["state"] for p in self.report(self.file("t.rct"))][:1], ["exited"])

    def test_a_monitor_that_was_stopped_draws_anew(self):
        pid, master = self.in_terminal(ROLLCALL, "top")
        self.read_until(master, b"rollcall run")
        modes = termios.tcgetattr(master)
        os.kill(pid, signal.SIGSTOP)
        os.waitpid(pid, os.WUNTRACED)
        while self.readable(master):
            os.read(master, 4096)
        # What a shell does to a terminal that it takes back.
        cooked = termios.tcgetattr(master)
        cooked[3] |= termios.ICANON | termios.ECHO
        termios.tcsetattr(master, termios.TCSANOW, cooked)
        os.kill(pid, signal.SIGCONT)
        wait_for(lambda: termios.tcgetattr(master)[3] == modes[3], "the monitor's modes")
        self.read_until(master, b"rollcall run")
        os.write(master, b"q")
        self.assertEqual(self.status_of(pid), 0)

    def test_an_interactive_shell_has_job_control(self):
        pid, master = self.in_terminal(ROLLCALL, "run", "--", "bash", "--norc", "-i")
        os.write(master, b"sleep 0.1 & fg; echo do''ne; exit 6\n")
        seen = self.read_until(master, b"done")
        self.assertNotIn(b"no job control", seen)
        try:
            while os.read(master, 4096):
                pass
        except OSError:
            pass
        self.assertEqual(self.status_of(pid), 6)


@needs_preload
class Blind(Case):
    """S10: what cannot be seen runs all the same, and one line says so."""

    def hello(self, path, words, *options):
        done = self.rollcall("run", *options, path, status=3)
        self.assertEqual(done.stdout, "hello\n")
        self.assert_one_line(done.stderr)
        self.assertIn(words, done.stderr)
        self.assertIn("it was not started", self.fails("run", "--strict", path))

    def test_an_ordinary_program_gives_no_line(self):
        self.assertEqual(self.rollcall("run", "--strict", self.compile("plain", HELLO), status=3).stderr, "")

    def test_a_static_program(self):
        self.hello(self.compile("static", HELLO, "-static"), "statically linked")

    def test_a_static_pie(self):
        self.hello(self.compile("pie", HELLO, "-static-pie"), "statically linked")

    def test_a_program_with_its_own_malloc(self):
        path = self.compile("own", OWN_MALLOC)
        self.hello(path, "its own malloc")
        self.assertEqual(self.rollcall("run", "--strict", "--no-alloc", path, status=3).stderr, "")

    @needs_root
    def test_a_setuid_program(self):
        path = self.compile("setuid", HELLO)
        os.chmod(self.files, 0o755)
        os.chown(path, 65534, 65534)
        os.chmod(path, 0o4755)
        self.hello(path, "set-user-id")

    def test_a_program_for_musl(self):
        if shutil.which("musl-gcc"):
            path = self.file("musl")
            subprocess.run(["musl-gcc", "-x", "c", "-", "-o", path], input=HELLO.encode(), check=True)
        else:
            # Its loader is glibc's under musl's name, which is how it is told.
            path = self.compile("musl", HELLO)
            interpreter = subprocess.run(["readelf", "-p", ".interp", path], capture_output=True, text=True).stdout
            short = tempfile.mkdtemp(prefix="", dir="/tmp")
            self.addCleanup(shutil.rmtree, short)
            os.symlink(re.search(r"/\S+", interpreter.split("\n", 2)[2]).group(), short + "/ld-musl.so")
            set_interpreter(path, short + "/ld-musl.so")
        self.hello(path, "musl")

    def test_a_script_is_judged_by_its_interpreter(self):
        static = self.compile("interpreter", HELLO, "-static")
        for line in ("#!" + static, "#! %s -x" % static, "#!/usr/bin/env -S %s" % static):
            path = self.file("script")
            with open(path, "w") as file:
                file.write(line + "\n")
            os.chmod(path, 0o755)
            self.hello(path, "statically linked")

    def test_a_program_of_another_machine_is_told_apart(self):
        path = self.compile("foreign", HELLO)
        with open(path, "r+b") as file:
            file.seek(18)
            file.write(struct.pack("<H", 2))  # SPARC
        done = self.rollcall("run", path, status=None)
        self.assertIn("another machine", done.stderr)
        self.assertIn(done.returncode, (126, 2))

    def test_damaged_programs_are_only_looked_at(self):
        whole = self.compile("whole", HELLO)
        with open(whole, "rb") as file:
            bytes_ = file.read()
        path = self.file("damaged")
        for at in list(range(16, 64)) + [len(bytes_) // 2]:
            with open(path, "wb") as file:
                file.write(bytes_[:at] + b"\xff" * 8 + bytes_[at + 8:])
            os.chmod(path, 0o755)
            done = self.rollcall("run", "--strict", path, status=None)
            self.assertGreaterEqual(done.returncode, 0)
        self.assertEqual(sorted(os.listdir(self.files)), ["damaged", "whole"])
        for cut in (16, 63, 64):
            with open(path, "wb") as file:
                file.write(bytes_[:cut])
            self.rollcall("run", path, status=126)

    def test_a_text_without_an_interpreter_goes_to_the_shell(self):
        path = self.file("text")
        with open(path, "w") as file:
            file.write("echo $0 $1; exit 4\n")
        os.chmod(path, 0o755)
        self.assertEqual(self.rollcall("run", path, "word", status=4).stdout, path + " word\n")


@needs_preload
class Publishing(Case):
    def test_the_command_publishes_at_once_under_its_label(self):
        run = self.start_rollcall("run", "--label", "the label", "cat", stdin=subprocess.PIPE)
        process = wait_for(lambda: self.list(), "a process")[0]
        self.assertEqual((process["label"], process["state"]), ("the label", "live"))
        self.assertGreater(process["fields"]["host.rss_bytes"], 0)
        run.communicate("", timeout=LIMIT_S)
        self.assertEqual(self.listed(process["pid"])["state"], "exited")

    def test_compiler_children_leave_no_litter(self):
        source = self.file("a.c")
        with open(source, "w") as file:
            file.write(HELLO)
        command = "for i in 1 2 3 4 5 6 7 8 9 10; do gcc -O0 -o %s %s && true; done" % (self.file("a"), source)
        self.rollcall("run", "--", "sh", "-c", command + "; exit 0")
        self.assertEqual(len(self.list()), 1)

    def test_children_are_seen_as_asked(self):
        for how, n in (("all", 2), ("no", 1)):
            directory = os.path.join(self.directory, how)
            os.mkdir(directory, 0o700)
            env = dict(self.environment, ROLLCALL_DIR=directory)
            self.rollcall("run", "--children", how, "sh", "-c", "sleep 0.2; exit 0", env=env)
            self.assertEqual(len(os.listdir(directory)), n, how)

    def test_a_child_that_counts_is_seen(self):
        run = Script(self, [ROLLCALL, "run", "--", "sh", "-c", '"%s"; exit 0' % SCRIPT])
        run.do("pool 1 4096")
        wait_for(lambda: self.listed(run.pid), "the child")
        self.assertEqual(len(self.list()), 2)
        run.finish()

    def test_arguments_can_be_kept_secret(self):
        self.rollcall("run", "--no-cmdline", "echo", "hunter2")
        for name in os.listdir(self.directory):
            with open(os.path.join(self.directory, name), "rb") as file:
                self.assertNotIn(b"hunter2", file.read())

    def test_off_is_off(self):
        self.rollcall("run", "true", env=dict(self.environment, ROLLCALL="off"))
        self.assertEqual(self.list(), [])


@needs_preload
class NoRoom(Case):
    """P7: a host whose shared memory is 64 KiB, or full, or not to be used."""

    def in_mount(self, script):
        done = self.run_command(["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=64k none "$0" && ' + script, self.directory, ROLLCALL], text=True)
        return done

    @needs_mount
    def test_a_tmpfs_of_64_kib(self):
        done = self.in_mount('chmod 700 "$0"; "$1" run sh -c "echo works; exit 5"')
        self.assertEqual((done.stdout, done.returncode), ("works\n", 5))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_directory_that_others_may_write(self):
        os.chmod(self.directory, 0o777)
        done = self.rollcall("run", "sh", "-c", "echo works; exit 5", status=5)
        self.assertEqual(done.stdout, "works\n")
        self.assertLessEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertEqual(os.listdir(self.directory), [])


if __name__ == "__main__":
    unittest.main()
