# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""The library as a guest: where its own files stand, what it needs of a thread,
and programs that load it and let it go."""

import os
import shutil
import subprocess
import sys
import unittest

from tests.blackbox.support import BUILD, LIBRARY, Case, Script, needs_preload, wait_for

LOAD_AND_DROP = """
import _ctypes, ctypes, sys, time
library = ctypes.CDLL(sys.argv[1])
library.rollcall_gauge(b"g", 0)
library.rollcall_flush()
_ctypes.dlclose(library._handle)
time.sleep(0.3)
print("still here")
"""


def thread_of_ours(pid):
    for thread in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/comm" % (pid, thread)) as name:
            if name.read() == "rollcall\n":
                return "/proc/%d/task/%s" % (pid, thread)
    return None


@needs_preload
class Guest(Case):
    def test_nothing_of_ours_stands_at_0_1_or_2(self):
        """Whatever a thread says on standard error must not go into the segment."""
        script = Script(self)
        script.do("pool 1 1")
        numbers = sorted(map(int, os.listdir(thread_of_ours(script.pid) + "/fd")))
        self.assertGreater(len(numbers), 1)
        self.assertGreaterEqual(numbers[0], 3)

    def test_a_program_with_large_thread_local_storage_is_published(self):
        env = dict(self.environment, LD_PRELOAD=LIBRARY)
        process = self.start([os.path.join(BUILD, "tests", "prog", "storage")], env=env, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
        pid = int(process.stdout.readline())
        self.assertEqual(self.listed(pid)["state"], "live")

    def test_a_program_that_drops_the_library_goes_on(self):
        done = self.run_command([sys.executable, "-c", LOAD_AND_DROP, LIBRARY], env=self.environment)
        self.assertEqual((done.returncode, done.stdout), (0, b"still here\n"), done.stderr)

    def test_the_stack_of_a_caller_is_not_written_to(self):
        env = dict(self.environment, LD_PRELOAD=LIBRARY)
        done = self.run_command([os.path.join(BUILD, "tests", "prog", "bystack")], env=env)
        self.assertEqual((done.returncode, done.stdout), (0, b"ok\n"))

    def test_the_copy_of_a_written_segment_is_counted_as_ours(self):
        elsewhere = os.path.join(BUILD, "guest-%d" % os.getpid())
        kind = subprocess.run(["stat", "-f", "-c", "%T", BUILD], capture_output=True, text=True).stdout.strip()
        if kind == "tmpfs":
            self.skipTest("the build is on tmpfs")
        self.addCleanup(shutil.rmtree, elsewhere, True)
        resident = []
        for directory in (self.directory, elsewhere):
            script = Script(self, ROLLCALL_DIR=directory)
            script.do("pool 1 1")
            self.environment["ROLLCALL_DIR"] = directory
            fields = self.listed(script.pid)["fields"]
            resident.append(fields["self.resident_bytes"])
        # The header and the schema at least.
        self.assertGreater(resident[1], resident[0] + 8192)

    def test_a_relative_directory_is_that_of_the_start(self):
        os.mkdir(os.path.join(self.files, "elsewhere"))
        name = os.path.relpath(self.directory, self.files)
        code = "import os, ctypes, sys; os.chdir('elsewhere'); print(os.getpid(), flush=True); sys.stdin.read()"
        env = dict(self.environment, LD_PRELOAD=LIBRARY, ROLLCALL_DIR=name)
        process = self.start([sys.executable, "-c", code], env=env, cwd=self.files, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
        pid = int(process.stdout.readline())
        wait_for(lambda: self.listed(pid), "it is published where it started")
        self.assertEqual(os.listdir(os.path.join(self.files, "elsewhere")), [])

    def test_a_directory_name_beyond_all_limits_is_refused_whole(self):
        os.mkdir(os.path.join(self.files, "x" * 200))
        long_name = os.path.join(self.files, "x" * 200, "y" * 250)
        env = dict(self.environment, LD_PRELOAD=LIBRARY, ROLLCALL_DIR=long_name, ROLLCALL_CHILDREN="all")
        script = Script(self, **{k: env[k] for k in ("ROLLCALL_DIR", "ROLLCALL_CHILDREN")})
        script.ask("pool 1 1")
        self.assertEqual(os.listdir(os.path.join(self.files, "x" * 200)), [])


if __name__ == "__main__":
    unittest.main()
