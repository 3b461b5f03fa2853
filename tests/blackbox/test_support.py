# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""What the tests stand on cleans up, whatever a test does."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

from tests.blackbox import browser
from tests.blackbox.support import REPOSITORY, Case, fresh_folder, wait_for


def is_alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(") ", 1)[1][0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Cleaning(unittest.TestCase):
    def run_case(self, body, set_up=None):
        """Runs a test of that body, which must fail; returns the Case."""
        class Inner(Case):
            def setUp(self):
                super().setUp()
                if set_up:
                    set_up(self)

            def runTest(self):
                body(self)
        inner = Inner()
        result = unittest.TestResult()
        inner.run(result)
        self.assertEqual(len(result.errors), 1, result.errors)
        self.assertFalse(os.path.exists(inner.files) or os.path.exists(inner.directory))
        return inner

    def test_what_a_test_adds_ends_before_its_folders_go(self):
        seen = []

        def body(inner):
            inner.addCleanup(lambda: seen.append(os.path.isdir(inner.files)))
            raise RuntimeError
        self.run_case(body)
        self.assertEqual(seen, [True])

    def test_a_set_up_that_fails_leaves_no_process(self):
        started = []

        def set_up(inner):
            started.append(inner.start(["sleep", "600"]).pid)
            raise RuntimeError
        self.run_case(None, set_up)
        self.assertFalse(is_alive(started[0]))

    def test_a_command_that_takes_too_long_goes_with_its_children(self):
        started = []

        def body(inner):
            path = inner.file("pid")
            try:
                inner.run_command(["sh", "-c", "sleep 600 & echo $! > pid.new; mv pid.new pid; wait"], timeout=0)
            except subprocess.TimeoutExpired:
                def written():
                    return os.path.exists(path)
                wait_for(written, "the child")
                with open(path) as file:
                    started.append(int(file.read()))
                self.assertTrue(is_alive(started[0]))
                raise
        self.run_case(body)
        wait_for(lambda: not is_alive(started[0]), "the child to go")

    def test_a_browser_that_does_not_answer_is_not_left_running(self):
        profiles = []
        before, browser.CHROMIUM = browser.CHROMIUM, sys.executable
        made = browser.tempfile.mkdtemp
        browser.tempfile.mkdtemp = lambda **options: profiles.append(made(**options)) or profiles[-1]
        try:
            # Python knows none of these options, and ends.
            self.assertRaises(Exception, browser.Browser)
        finally:
            browser.CHROMIUM, browser.tempfile.mkdtemp = before, made
        self.assertFalse(os.path.exists(profiles[0]))

    def runner(self):
        """tests/run as a module."""
        spec = spec_from_loader("run", SourceFileLoader("run", os.path.join(REPOSITORY, "tests", "run")))
        runner = module_from_spec(spec)
        spec.loader.exec_module(runner)
        return runner

    def test_what_a_program_leaves_out_is_shown_once(self):
        skipped = "[  SKIPPED ] a_test\n"
        output = ("[ RUN      ] a_test\nNOT TESTED: needs root\n" + skipped + "[  SKIPPED ] 1 test(s), listed below:\n" + skipped
                  + " 1 SKIPPED TEST(S)\ntest_b (c) ... skipped 'no d'\ntest_e (f) ... ok\n")
        self.assertEqual(list(self.runner().not_tested(output)),
                         ["NOT TESTED: needs root", "[  SKIPPED ] a_test", "test_b (c) ... skipped 'no d'"])

    def test_a_test_program_that_takes_too_long_goes_with_all_that_it_started(self):
        runner = self.runner()
        script = "trap '' TERM; setsid sh -c 'sleep 600 & echo $!; wait' & wait"
        _, code, output, _ = runner.run("late", ["sh", "-c", script], 5, dict(os.environ))
        self.assertEqual(code, 124)
        self.assertIn("TIMED OUT", output)
        child = int(output.split()[0])
        wait_for(lambda: not is_alive(child), "the child to go")

    def test_a_runner_called_wrongly_runs_nothing(self):
        folder = fresh_folder(tempfile.gettempdir())
        self.addCleanup(shutil.rmtree, folder)

        def call(name, *words):
            return subprocess.run([os.path.join(REPOSITORY, "tests", name), *words], cwd=folder,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        for name in ("run", "gpu/run", "fuzz/run"):
            with self.subTest(name=name):
                asked, wrong = call(name, "--help"), call(name, "--no-such-option")
                self.assertEqual((asked.returncode, asked.stderr), (0, ""))
                self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))
                for text in (asked.stdout, wrong.stderr):
                    self.assertRegex(text, r"\Ausage: tests/%s " % name)
        for words in ((), ("no-such-folder",), (".", "."), ("--match", "(", "."), ("--quick", "--soak", ".")):
            with self.subTest(words=words):
                done = call("run", *words)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"(?s)\Ausage: tests/run .*\ntests/run: error: [^\n]+\n\Z")
        self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
