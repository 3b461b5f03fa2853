# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""The example search, without Rollcall's library: its own ledger must be right,
for other tests hold the census against it."""

import os
import re
import signal
import stat
import subprocess
import unittest

from tests.blackbox.support import TILESEARCH, Case, wait_for

OUTCOMES = ("declined", "link_failed", "non_dispatchable", "deduplicated", "failed", "timed", "kept")
TIMEOUT_S = 240


def pairs(output, title):
    """The name=value pairs of the one line with that title."""
    lines = [line for line in output.splitlines() if line.startswith("tilesearch: %s:" % title)]
    assert len(lines) == 1, "not one line '%s' in: %s" % (title, output)
    return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", lines[0])}


def without_speeds(output):
    """What must repeat exactly: who was tried, in which order, to what end."""
    kept = [line for line in output.splitlines() if not line.startswith("tilesearch: best")]
    return [re.sub(r" [\d.]+ GFLOP/s", "", line) for line in kept]


class TileSearch(Case):
    def setUp(self):
        super().setUp()
        self.temporary = self.file("tmp")
        os.mkdir(self.temporary)
        self.environment["TMPDIR"] = self.temporary
        self.environment.pop("CC", None)

    def run_search(self, *options, status=0, **variables):
        done = self.run_command([TILESEARCH, *options], env=dict(self.environment, **variables), text=True,
                                timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(os.listdir(self.temporary), [], "temporary files stayed")
        return done.stdout if status == 0 else done.stderr

    def script(self, text):
        path = self.file("compiler")
        with open(path, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n" + text)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return path

    def compiler_of(self, source):
        """A compiler that makes the same module of everything."""
        path = self.file("fixed.c")
        with open(path, "w", encoding="ascii") as file:
            file.write(source)
        return self.script("while [ \"$1\" != -o ]; do shift; done\nexec cc -shared -fPIC -o \"$2\" %s\n" % path)

    def test_every_outcome_occurs_and_the_books_balance(self):
        output = self.run_search()
        outcomes = pairs(output, "outcomes")
        self.assertEqual(outcomes["attempted"], 120)
        self.assertEqual(sum(outcomes[name] for name in OUTCOMES), 120)
        for name in OUTCOMES:
            if name != "non_dispatchable" or os.uname().machine == "x86_64":
                self.assertGreater(outcomes[name], 0, name)
        self.assertEqual(outcomes["kept"], 8)
        self.assertRegex(output, r"tilesearch: best \w+: [\d.]+ GFLOP/s")
        self.assertNotIn("tilesearch: census", output)

        ledger = pairs(output, "ledger after the search")
        reached = 120 - outcomes["declined"]
        self.assertEqual(ledger["working_pools_allocated"], reached)
        self.assertEqual(ledger["contexts_created"], reached)
        self.assertEqual(ledger["modules_loaded"], reached - outcomes["link_failed"] - outcomes["deduplicated"])
        self.assertEqual(ledger["live_working_pools"], 4)
        self.assertEqual(ledger["contexts_created"] - ledger["contexts_released"], 4)
        self.assertEqual(ledger["modules_loaded"] - ledger["modules_unloaded"], 4)
        self.assertEqual(ledger["outlived_pools"], 0)
        # Never more at once than the beam and one under way, beside the constants.
        pool_bytes = ledger["live_working_bytes"] // 4
        self.assertLessEqual(ledger["peak_pool_bytes"], 5 * pool_bytes + ledger["live_constant_bytes"])

        ledger = pairs(output, "ledger at exit")
        self.assertEqual(ledger["live_working_pools"] + ledger["live_constant_pools"], 0)
        self.assertEqual(ledger["live_working_bytes"] + ledger["live_constant_bytes"], 0)
        self.assertEqual(ledger["pools_freed"], ledger["working_pools_allocated"] + ledger["constant_pools_allocated"])
        self.assertEqual(ledger["contexts_created"], ledger["contexts_released"])
        self.assertEqual(ledger["modules_loaded"], ledger["modules_unloaded"])

    def test_one_line_for_each_candidate_and_each_that_is_kept(self):
        output = self.run_search("--candidates", "25", "--beam", "3")
        ends = re.findall(r"^tilesearch: \[ *(\d+)\] [a-z]{3}_t\d+x\d+x\d+_u\d_O\w+: (\w+) (?:\(.+\)|[\d.]+ GFLOP/s)$",
                          output, re.M)
        kept = [number for number, outcome in ends if outcome == "kept"]
        others = [int(number) for number, outcome in ends if outcome != "kept"]
        self.assertEqual(others, list(range(1, 26)))
        self.assertEqual(len(kept), pairs(output, "outcomes")["kept"])
        timed = {number for number, outcome in ends if outcome == "timed"}
        self.assertLessEqual(set(kept), timed)

    def test_quiet_prints_the_result_only(self):
        output = self.run_search("--candidates", "5", "--quiet")
        self.assertNotIn("tilesearch: [", output)
        self.assertEqual(len(output.splitlines()), 4)

    def test_a_search_ranked_by_the_model_repeats_exactly(self):
        options = ("--candidates", "40", "--rank", "model", "--seed", "5")
        first = self.run_search(*options)
        self.assertEqual(without_speeds(first), without_speeds(self.run_search(*options)))
        other = self.run_search("--candidates", "40", "--rank", "model", "--seed", "6")
        self.assertNotEqual(without_speeds(first), without_speeds(other))

    def test_phase_a_depends_on_the_seed_alone(self):
        def phase_a(output):
            lines = without_speeds(output.split("tilesearch: phase B")[0])
            return [line for line in lines if not line.endswith(" kept")]

        first = phase_a(self.run_search("--candidates", "25"))
        self.assertEqual(first, phase_a(self.run_search("--candidates", "25")))
        self.assertEqual(first, phase_a(self.run_search("--candidates", "25", "--jobs", "2", "--leak", "pools")))

    def test_leaked_pools_are_near_the_candidates_and_none_is_freed(self):
        output = self.run_search("--candidates", "60", "--leak", "pools")
        for when in ("after the search", "at exit"):
            ledger = pairs(output, "ledger " + when)
            self.assertEqual(ledger["pools_freed"], 0)
            self.assertGreaterEqual(ledger["live_working_pools"], 50)
            self.assertEqual(ledger["live_working_pools"], ledger["working_pools_allocated"])
        self.assertEqual(ledger["outlived_pools"], ledger["live_working_pools"])
        self.assertEqual(ledger["contexts_created"], ledger["contexts_released"])
        self.assertEqual(ledger["modules_loaded"], ledger["modules_unloaded"])

    def test_leaked_contexts_leave_pools_and_modules_in_balance(self):
        ledger = pairs(self.run_search("--candidates", "25", "--leak", "contexts"), "ledger at exit")
        self.assertGreater(ledger["contexts_created"], 15)
        self.assertEqual(ledger["contexts_released"], 0)
        self.assertEqual(ledger["live_working_pools"], 0)
        self.assertEqual(ledger["modules_loaded"], ledger["modules_unloaded"])

    def test_leaked_modules_leave_pools_and_contexts_in_balance(self):
        ledger = pairs(self.run_search("--candidates", "25", "--leak", "modules"), "ledger at exit")
        self.assertGreater(ledger["modules_loaded"], 10)
        self.assertEqual(ledger["modules_unloaded"], 0)
        self.assertEqual(ledger["live_working_pools"], 0)
        self.assertEqual(ledger["contexts_created"], ledger["contexts_released"])

    def test_leak_failed_leaks_the_pools_of_failed_candidates_only(self):
        output = self.run_search("--candidates", "60", "--leak", "failed")
        failed = pairs(output, "outcomes")["failed"]
        self.assertGreater(failed, 0)
        self.assertEqual(pairs(output, "ledger after the search")["live_working_pools"], 4 + failed)
        self.assertEqual(pairs(output, "ledger at exit")["live_working_pools"], failed)

    def test_two_compilers_at_a_time_balance_too(self):
        output = self.run_search("--candidates", "30", "--jobs", "2")
        self.assertEqual(pairs(output, "outcomes")["attempted"], 30)
        ledger = pairs(output, "ledger at exit")
        self.assertEqual(ledger["live_working_pools"], 0)
        self.assertEqual(ledger["contexts_created"], ledger["contexts_released"])

    def test_odd_sizes_and_few_candidates(self):
        for options in (("--candidates", "1"), ("--candidates", "2", "--beam", "1"),
                        ("--candidates", "12", "--size", "97"), ("--candidates", "40", "--size", "16")):
            output = self.run_search(*options)
            self.assertEqual(pairs(output, "outcomes")["attempted"], int(options[1]), options)
            self.assertEqual(pairs(output, "ledger at exit")["live_working_pools"], 0, options)

    def stop(self, number, *options, **variables):
        process = self.start([TILESEARCH, *options], env=dict(self.environment, **variables), text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        line = process.stdout.readline()
        self.assertIn("phase A", line)
        if "CC" in variables:
            wait_for(lambda: os.path.exists(self.file("at-work")), "the compiler")
        else:
            process.stdout.readline()
        self.assertNotEqual(os.listdir(self.temporary), [])
        process.send_signal(number)
        output, errors = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, -number, output + errors)
        self.assertEqual(errors, "")
        self.assertIn("stopped by signal %d" % number, output)
        self.assertEqual(pairs(output, "ledger at exit")["live_working_pools"], 0)
        self.assertEqual(os.listdir(self.temporary), [], "temporary files stayed")

    def test_signals_leave_no_temporary_files(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self.stop(number, "--candidates", "2000")
        self.stop(signal.SIGTERM, "--candidates", "2000", "--jobs", "2")
        self.stop(signal.SIGTERM, "--candidates", "9", "--pause-ms", "60000")

    def test_a_signal_ends_a_compiler_that_hangs(self):
        hanging = self.script("cp /dev/null \"$TMPDIR/cc-pass.s\"\n: > %s/at-work\nsleep 1000\n" % self.files)
        self.stop(signal.SIGTERM, "--jobs", "3", CC=hanging)

    def test_a_reader_that_goes_away_leaves_no_temporary_files(self):
        process = self.start([TILESEARCH, "--candidates", "2000"], text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=TIMEOUT_S), 1)
        self.assertEqual(os.listdir(self.temporary), [])

    def test_without_a_compiler_there_is_one_clear_line(self):
        for compiler in ("no-such-compiler", "/dev/null", "false", " "):
            errors = self.run_search(status=1, CC=compiler)
            self.assertEqual(len(errors.splitlines()), 1, errors)
            self.assertRegex(errors, r"^tilesearch: .*CC")

    def test_without_a_place_for_temporary_files_there_is_one_clear_line(self):
        for folder in (self.file("none"), "/proc", self.files + "/x" * 300):
            errors = self.run_search(status=1, TMPDIR=folder)
            self.assertEqual(len(errors.splitlines()), 1, errors)

    def test_the_compiler_may_be_several_words(self):
        output = self.run_search("--candidates", "3", CC="cc  -DUNUSED=1")
        self.assertGreater(pairs(output, "ledger at exit")["modules_loaded"], 0)

    def test_a_compiler_that_refuses_everything_ends_with_no_schedule(self):
        output = self.run_search("--candidates", "10", CC=self.script("echo 'x.c:1: error: no thanks'\nexit 1\n"))
        outcomes = pairs(output, "outcomes")
        self.assertEqual(outcomes["link_failed"] + outcomes["declined"], 10)
        self.assertIn("(no thanks)", output)
        self.assertIn("best: none", output)

    def test_a_kernel_that_kills_its_process_does_not_kill_the_search(self):
        crashing = "void tile_kernel(void) { *(volatile int *)0 = 1; }\n"
        outcomes = pairs(self.run_search("--candidates", "10", CC=self.compiler_of(crashing)), "outcomes")
        # Once in each phase; the others are the same code.
        self.assertEqual(outcomes["failed"], 2)
        self.assertEqual(outcomes["failed"] + outcomes["deduplicated"] + outcomes["declined"], 10)

    @unittest.skipUnless(os.uname().machine == "x86_64", "the illegal instruction is x86-64's")
    def test_an_illegal_instruction_is_not_dispatchable(self):
        illegal = "void tile_kernel(void) { __asm__ volatile(\"ud2\"); }\n"
        outcomes = pairs(self.run_search("--candidates", "10", CC=self.compiler_of(illegal)), "outcomes")
        self.assertEqual(outcomes["non_dispatchable"], 2)
        self.assertEqual(outcomes["timed"] + outcomes["kept"] + outcomes["failed"], 0)

    def test_a_module_without_a_kernel_fails_to_link(self):
        outcomes = pairs(self.run_search("--candidates", "6", CC=self.compiler_of("int other;\n")), "outcomes")
        self.assertEqual(outcomes["link_failed"], 2)

    def test_a_wrong_command_line_is_a_usage_error(self):
        for options in (("--candidates", "0"), ("--candidates", "-1"), ("--candidates", "1x"), ("--seed", ""),
                        ("--leak", "everything"), ("--beam", "257"), ("--size", "15"), ("--jobs", "0"),
                        ("--rank", "luck"), ("extra",), ("--no-such-option",)):
            errors = self.run_search(*options, status=2)
            self.assertIn("tilesearch:", errors, options)

    def test_the_help_names_every_leak_and_every_outcome(self):
        text = self.run_search("--help")
        for word in OUTCOMES + ("none", "pools", "contexts", "modules", "--candidates", "TMPDIR"):
            self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()
