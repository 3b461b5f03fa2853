# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""What the black-box tests share: the build, a private directory for segments,
programs that do what they are told, and cleaning up after all of it.

Nothing here waits for a fixed time in order to be right: `wait_for` waits for a
condition, and its limit is only there so that a broken build ends."""

import atexit
import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("ROLLCALL_BUILD", os.path.join(REPOSITORY, "build")))
ROLLCALL = os.path.join(BUILD, "rollcall")
LIBRARY = os.path.join(BUILD, "librollcall.so.0")
SCRIPT = os.path.join(BUILD, "tests", "prog", "script")
TILESEARCH = os.path.join(BUILD, "tilesearch")
LIMIT_S = 60
SOAK = os.environ.get("ROLLCALL_TEST_MODE") == "soak"


def is_sanitized():
    """A sanitizer's runtime must come first, so such a library is not preloaded
    into programs that lack it."""
    symbols = subprocess.run(["nm", "-D", LIBRARY], capture_output=True, text=True).stdout
    return "__asan_" in symbols or "__tsan_" in symbols


SANITIZED = os.path.exists(LIBRARY) and is_sanitized()
needs_preload = unittest.skipIf(SANITIZED, "a sanitized library cannot be preloaded")


def needs_shm(mib):
    """Skips where /dev/shm has less room, as in a container."""
    room = os.statvfs("/dev/shm")
    return unittest.skipIf(room.f_bavail * room.f_frsize < mib << 20, "needs %d MiB in /dev/shm" % mib)


needs_root = unittest.skipIf(os.geteuid() != 0, "NOT TESTED: needs root")


def can_mount():
    """In a namespace of its own, as a test of a small file system does."""
    probe = ["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=16k", "none", "/dev/shm"]
    return os.geteuid() == 0 and subprocess.run(probe, capture_output=True).returncode == 0


needs_mount = unittest.skipUnless(can_mount(), "NOT TESTED: no tmpfs can be mounted here")


def tell_soak(name, **counts):
    """A line for the table at the end of a soak; written when all tests are done, so
    that it stands in no test's line."""
    if SOAK:
        atexit.register(print, "soak: %s %s" % (name, " ".join("%s=%s" % item for item in counts.items())))


def wait_for(condition, what, limit_s=LIMIT_S):
    """Returns the first true answer of condition()."""
    until = time.monotonic() + limit_s
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > until:
            raise AssertionError("waited %d s in vain for %s" % (limit_s, what))
        time.sleep(0.02)


class Script:
    """tests/prog/script, published from its first census call on."""

    def __init__(self, case, command=None, stderr=None, **environment):
        env = dict(case.environment, **environment)
        if command is None:
            env["LD_PRELOAD"] = LIBRARY
            command = [SCRIPT]
        self.process = case.start(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=stderr, text=True)
        self.pid = int(self.process.stdout.readline())

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def do(self, line):
        """One command that must succeed; returns its number."""
        result = int(self.ask(line))
        if result < 0:
            raise AssertionError("script: %s: %d" % (line, result))
        return result

    def candidate(self, label, outcome):
        handle = self.do("begin:" + label)
        self.do("end %d %s" % (handle, outcome))

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        self.process.wait()

    def finish(self):
        self.process.stdin.close()
        self.process.stdin = None
        self.process.wait(LIMIT_S)


def fresh_folder(parent):
    """A new folder whose name no test's pattern can be found in by chance, as mkdtemp's letters can."""
    for number in itertools.count():
        folder = os.path.join(parent, "rollcall-test-%d-%d" % (os.getpid(), number))
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            continue
        return folder


class Case(unittest.TestCase):
    """A test with a directory of segments and one of files of its own."""

    def setUp(self):
        self.directory = fresh_folder("/dev/shm")
        self.files = fresh_folder(tempfile.gettempdir())
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("ROLLCALL") and k != "LD_PRELOAD"}
        self.environment.update(ROLLCALL_DIR=self.directory, ROLLCALL_RING_BYTES="65536", LC_ALL="C.UTF-8", TMPDIR=self.files)
        self.processes = []
        # Not tearDown, which is left out where a setUp fails, and comes before what
        # tests have added: a server is told to end through a socket in these folders.
        self.addCleanup(self.clean_up)

    def clean_up(self):
        for process in self.processes:
            if process.returncode is None:
                # Not reaped, so the group is still its own; what it started goes too.
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()
        shutil.rmtree(self.directory, ignore_errors=True)
        shutil.rmtree(self.files, ignore_errors=True)

    def file(self, name):
        return os.path.join(self.files, name)

    def start(self, command, **options):
        options.setdefault("env", self.environment)
        options.setdefault("start_new_session", True)
        process = subprocess.Popen(command, **options)
        self.processes.append(process)
        return process

    def start_rollcall(self, *words, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("text", True)
        return self.start([ROLLCALL, *words], **options)

    def run_command(self, command, **options):
        """Runs it to its end. What takes too long goes with all that it started."""
        options.setdefault("stdout", subprocess.PIPE)
        timeout, check, text = options.pop("timeout", LIMIT_S), options.pop("check", False), options.pop("input", None)
        options.setdefault("stdin", subprocess.DEVNULL if text is None else subprocess.PIPE)
        options.setdefault("cwd", self.files)
        process = self.start(command, stderr=subprocess.PIPE, **options)
        out, said = process.communicate(text, timeout)
        done = subprocess.CompletedProcess(process.args, process.returncode, out, said)
        if check:
            done.check_returncode()
        return done

    def rollcall(self, *words, status=0, **options):
        """Runs the command; its output is text unless text=False."""
        options.setdefault("text", True)
        done = self.run_command([ROLLCALL, *words], **options)
        if status is not None:
            self.assertEqual(done.returncode, status, "rollcall %s\n%s%s" % (" ".join(words), done.stdout, done.stderr))
        return done

    def fails(self, *words, status=1, **options):
        """Runs the command, which must fail with exactly one line; returns it."""
        done = self.rollcall(*words, status=status, **options)
        self.assert_one_line(done.stderr)
        return done.stderr

    def assert_one_line(self, text):
        self.assertRegex(text, r"\Arollcall[^\n]*: [^\n]+\n\Z")

    def readable(self, stream):
        """Whether the stream has something to read, or has ended."""
        return select.select([stream], [], [], 0)[0]

    def list(self):
        return json.loads(self.rollcall("list", "--json").stdout)

    def listed(self, pid):
        found = [p for p in self.list() if p["pid"] == pid]
        return found[-1] if found else None

    def wait_state(self, pid, *states):
        def look():
            process = self.listed(pid)
            return process if process and process["state"] in states else None
        return wait_for(look, "process %d to be %s" % (pid, " or ".join(states)))

    def report(self, path):
        return json.loads(self.rollcall("report", "--json", path).stdout)

    def compile(self, name, source, *options):
        """Compiles a C program; skips the test where gcc cannot do anything that way."""
        path = self.file(name)
        command = ["gcc", "-x", "c", "-", "-o", path, *options]
        done = self.run_command(command, input=source.encode())
        if done.returncode != 0:
            if self.run_command(command, input=b"int main(void) { return 0; }\n").returncode == 0:
                self.fail("%s is no C: %s" % (name, done.stderr.decode()))
            self.skipTest("NOT TESTED: gcc %s does not work here" % " ".join(options))
        return path
