# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""Faults from outside: writes that fail, a recorder killed in the middle of one,
clocks that jump, shared memory that fills up or goes away. What was recorded up to
the fault can be read, the fault is said in one line, and no program notices."""

import json
import os
import signal
import shutil
import struct
import subprocess
import time
import unittest

from tests.blackbox.support import (BUILD, LIBRARY, ROLLCALL, SCRIPT, SOAK, Case, Script, needs_mount, needs_preload, tell_soak,
                                    wait_for)

FAULTY = os.path.join(BUILD, "tests", "prog", "shims", "faulty.so")
CLOCK = os.path.join(BUILD, "tests", "prog", "shims", "clock.so")
HOUR = 3600 * 10**9


@needs_preload
class Writes(Case):
    """Each write and each sync of a recording fails once, in every way."""

    def setUp(self):
        super().setUp()
        script = Script(self, ROLLCALL_RING_BYTES=str(1 << 20))
        script.do("search %d" % (2000 if SOAK else 400))
        script.do("flush")
        script.kill()
        self.pid = str(script.pid)
        whole = self.file("whole.rct")
        self.rollcall("record", "-q", "-o", whole, self.pid)
        self.whole, = self.report(whole)
        self.n_rows = self.rows(whole)
        self.n_faults = 0

    def rows(self, path):
        return int(self.rollcall("report", path).stdout.split(" row")[0].split()[-1])

    def each(self, how):
        """Records under a fault at the n-th call, for n = 1 until there is no n-th any more."""
        n = 0
        while True:
            n += 1
            trace, mark = self.file("%s-%d.rct" % (how, n)), self.file("mark-%s-%d" % (how, n))
            env = dict(self.environment, LD_PRELOAD=FAULTY, FAULT="%s %d" % (how, n), FAULT_MARK=mark)
            done = self.rollcall("record", "-q", "-o", trace, self.pid, status=None, env=env)
            if not os.path.exists(mark):
                self.assertEqual(done.returncode, 0)
                self.assertGreater(n, 1 if how.startswith("sync") else 4)
                return
            self.n_faults += 1
            yield n, trace, done
            if os.path.exists(trace):
                os.unlink(trace)

    def check_part(self, trace, rows_before):
        """A trace that was broken off: never a row less than the last one that was broken off
        earlier had, never one that was not published, and it is said that it has no end."""
        if not os.path.exists(trace):
            return 0
        done = self.rollcall("report", "--json", trace, status=None)
        if done.returncode:
            # Not even an instance: refused in one line, or nothing in it.
            self.assertEqual(rows_before, 0, done.stderr)
            return 0
        processes = json.loads(done.stdout)
        if not processes:
            self.assertEqual(rows_before, 0)
            return 0
        process, = processes
        rows = self.rows(trace)
        self.assertGreaterEqual(rows, rows_before)
        self.assertLessEqual(rows, self.n_rows)
        if rows:
            self.assertLessEqual(process["fields"]["self.rows_published"], self.whole["fields"]["self.rows_published"])
        self.assertIn("incomplete", self.rollcall("info", trace).stdout)
        return rows

    def test_an_error_at_any_write_is_told_and_leaves_what_was_before(self):
        for how, word in (("eio", "Input/output"), ("full", "No space")):
            rows = 0
            for n, trace, done in self.each(how):
                with self.subTest(how=how, n=n):
                    self.assertEqual(done.returncode, 1)
                    self.assert_one_line(done.stderr)
                    self.assertIn(word, done.stderr)
                    rows = self.check_part(trace, rows)
            self.assertGreater(rows, 0)
        self.tell("errors")

    def test_an_error_of_a_sync_is_told(self):
        for n, trace, done in self.each("synceio"):
            self.assertEqual(done.returncode, 1)
            self.assert_one_line(done.stderr)

    def test_a_short_or_interrupted_call_changes_nothing(self):
        for how in ("short", "intr", "syncintr"):
            for n, trace, done in self.each(how):
                with self.subTest(how=how, n=n):
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(self.report(trace), [self.whole])
                    self.assertIn("complete", self.rollcall("info", trace).stdout)
        self.tell("short")

    def test_a_recorder_killed_in_the_middle_of_any_write_leaves_what_was_before(self):
        rows = 0
        for n, trace, done in self.each("kill"):
            with self.subTest(n=n):
                self.assertEqual(done.returncode, -signal.SIGKILL)
                rows = self.check_part(trace, rows)
        self.assertEqual(rows, self.n_rows)
        self.tell("killed")

    def tell(self, name):
        tell_soak("recorder_" + name, faults=self.n_faults, failures=0)

    def test_a_limit_on_the_size_of_files_is_an_error_and_no_signal(self):
        trace = self.file("limited.rct")
        done = self.run_command(["prlimit", "--fsize=9000", "--", ROLLCALL, "record", "-q", "-o", trace, self.pid], text=True)
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertLessEqual(os.path.getsize(trace), 9000)
        self.check_part(trace, 0)


@needs_preload
class Clocks(Case):
    """C1: the wall clock goes back an hour and forward a day; the machine is suspended."""

    def shift(self, wall_ns, monotonic_ns=0):
        with open(self.file("next"), "wb") as file:
            file.write(struct.pack("<qq", wall_ns, monotonic_ns))
        os.rename(self.file("next"), self.file("shift"))

    def start_shifted(self):
        self.shift(0)
        return Script(self, [SCRIPT], LD_PRELOAD=CLOCK + ":" + LIBRARY, CLOCK_SHIFT=self.file("shift"),
                      ROLLCALL_INTERVAL_MS="10", ROLLCALL_LABEL="shifted", ROLLCALL_RING_BYTES=str(1 << 20))

    def offset(self, pid):
        return self.listed(pid)["fields"]["self.realtime_offset_ns"]

    def test_jumps_of_the_wall_clock_are_told_and_change_no_rate(self):
        script = self.start_shifted()
        script.do("pool 1 1")
        script.do("search 40")
        script.do("flush")
        before = self.offset(script.pid)
        for shift in (-HOUR, 24 * HOUR, 0):
            self.shift(shift)
            wait_for(lambda: abs(self.offset(script.pid) - before - shift) < 10**9, "the new offset")
            script.do("search 40")
        script.do("flush")
        trace = self.file("shifted.rct")
        script.finish()
        self.rollcall("record", "-q", "-o", trace, "shifted")
        process, = self.report(trace)
        self.assertEqual(process["lost"], 0)
        self.assertEqual(process["candidates"]["timed"], 160)
        screen = self.rollcall("replay", "--once", "--size", "120x60", trace).stdout
        self.assertNotRegex(screen, r"-\d+(\.\d+)?/s")
        # Its time is the monotonic one: seconds, not a day.
        text = self.rollcall("report", trace).stdout
        self.assertNotRegex(text, r"\b(1d|23h|24h|25h)")
        for verdict in process["verdicts"]:
            if verdict["axis"] == "time" and verdict["forecast_seconds"] is not None:
                self.assertGreater(verdict["forecast_seconds"], 0)
        # Three jumps, each an event.
        events = self.rollcall("replay", "--once", "--size", "200x200", trace).stdout
        self.assertEqual(events.lower().count("clock"), 3, events)

    def test_a_monotonic_clock_that_stands_still_or_jumps_ahead_is_no_slope(self):
        script = self.start_shifted()
        script.do("pool 1 1")
        script.do("search 40")
        script.do("flush")
        # As after a suspend on a kernel whose clock counts it.
        self.shift(5 * HOUR, 5 * HOUR)
        script.do("search 40")
        script.do("flush")
        # And back, which no kernel does: by a bug of a virtual machine.
        self.shift(0, 0)
        script.do("search 40")
        script.do("flush")
        self.assertEqual(self.listed(script.pid)["lost"], 0)
        trace = self.file("jumped.rct")
        script.finish()
        self.rollcall("record", "-q", "-o", trace, "shifted")
        process, = self.report(trace)
        self.assertEqual(process["candidates"]["timed"], 120)
        self.assertEqual(process["lost"], 0)
        for size in ("80x24", "120x60"):
            self.assertNotRegex(self.rollcall("replay", "--once", "--size", size, trace).stdout, r"-\d+(\.\d+)?/s")


@needs_preload
class SharedMemory(Case):
    """P7, and what comes later: full after the start, gone after the start."""

    @needs_mount
    def test_a_tmpfs_that_fills_up_after_the_start_changes_nothing(self):
        small = self.file("small")
        os.mkdir(small, 0o700)
        shell = ('mount -t tmpfs -o size=1536k,mode=700 none "$0" || exit 99; export ROLLCALL_DIR="$0" ROLLCALL_RING_BYTES=1048576; '
                 '{ echo "search 100"; echo flush; sleep 0.3; dd if=/dev/zero of="$0/full" bs=4096 2>/dev/null; echo full >&2; '
                 'echo "search 3000"; echo flush; } | LD_PRELOAD="$3" "$2"; echo "status $?"; "$1" list --json --all; '
                 'echo "pool 1 1" | LD_PRELOAD="$3" "$2"; echo "status $?"')
        done = self.run_command(["unshare", "-m", "sh", "-c", shell, small, ROLLCALL, SCRIPT, LIBRARY], text=True)
        lines = done.stdout.splitlines()
        self.assertEqual([line for line in lines if line.startswith("status")], ["status 0", "status 0"], done.stdout)
        process, = json.loads(next(line for line in lines if line.startswith("[")))
        self.assertEqual((process["state"], process["fields"]["census.live_working_pools"]), ("exited", 1000))
        self.assertEqual(process["fields"]["self.rows_dropped"], 0)
        # The second found no room: one line, and it ran.
        said = [line for line in done.stderr.splitlines() if line != "full"]
        self.assertEqual(len(said), 1, done.stderr)
        self.assertTrue(said[0].startswith("rollcall: "), done.stderr)

    def test_a_directory_removed_under_a_program_changes_nothing(self):
        script = Script(self, ROLLCALL_INTERVAL_MS="1")
        script.do("pool 1 1")
        script.do("flush")
        monitor = self.start_rollcall("top", "--json", "--batch", "30", "--interval", "20")
        json.loads(monitor.stdout.readline())
        shutil.rmtree(self.directory)
        script.do("search 500")
        script.do("flush")
        self.assertEqual(self.list(), [])
        out, said = monitor.communicate(timeout=60)
        self.assertEqual((monitor.returncode, said), (0, ""))
        self.assertEqual(json.loads(out.splitlines()[-1]), [])
        script.finish()
        self.assertEqual(script.process.returncode, 0)

    def test_a_stopped_writer_is_read_at_once_wherever_it_stands(self):
        """S4: SIGSTOP at a random moment of publishing; the reader is not kept waiting."""
        script = Script(self, ROLLCALL_INTERVAL_MS="1")
        script.do("search 100")
        for _ in range(200 if SOAK else 15):
            script.process.stdin.write("search 20\n")
            script.process.stdin.flush()
            time.sleep(0.0007)
            os.kill(script.pid, signal.SIGSTOP)
            process = self.listed(script.pid)
            self.assertIn(process["state"], ("live", "stale"))
            self.assertIsNotNone(process["fields"]["census.live_working_pools"])
            os.kill(script.pid, signal.SIGCONT)
            script.process.stdout.readline()
        self.assertEqual(self.listed(script.pid)["lost"], 0)


if __name__ == "__main__":
    unittest.main()
