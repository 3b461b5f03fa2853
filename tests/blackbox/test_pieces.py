# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""`rollcall record` for long: pieces, thinning, choices, locks, growing schemas,
and ends that come early."""

import glob
import json
import os
import select
import signal
import subprocess
import unittest

from tests.blackbox.blocks import blocks_of
from tests.blackbox.support import LIMIT_S, ROLLCALL, SCRIPT, Case, Script, needs_mount, needs_preload, wait_for


@needs_preload
class Pieces(Case):
    def record_pieces(self, *words, n=100):
        """A search whose trace takes several pieces of 64 KiB."""
        script = Script(self, ROLLCALL_RING_BYTES=str(1 << 20))
        script.do("gauge early 1")
        trace = self.file("t.rct")
        recorder = self.start_rollcall("record", "-o", trace, "--max-size", "64KiB", *words, str(script.pid))
        # What it takes from the ring in one go is denser than what it follows.
        wait_for(lambda: os.path.exists(trace) and os.path.getsize(trace) > 0, "the recording to begin")
        for k in range(n):
            script.do("search 100")
            if k == n // 2:
                script.do("gauge late 2")
        script.finish()
        _, said = recorder.communicate(timeout=LIMIT_S)
        self.assertEqual(recorder.returncode, 0, said)
        return trace, said, 100 * n

    def pieces_of(self, trace):
        names = sorted(glob.glob(trace + ".*"), key=lambda name: int(name.rsplit(".", 1)[1]))
        return names + [trace]

    def test_each_piece_is_a_trace_of_its_own(self):
        trace, said, n = self.record_pieces()
        pieces = self.pieces_of(trace)
        self.assertGreater(len(pieces), 1)
        self.assertIn("in %d pieces" % len(pieces), said)
        self.assertEqual(pieces[0], trace + ".1")
        last = 0
        for piece in pieces:
            self.assertLessEqual(os.path.getsize(piece), 64 << 10)
            self.assertIn("complete", self.rollcall("info", piece).stdout)
            process, = self.report(piece)
            self.assertEqual(process["lost"], 0)
            self.assertTrue("script" in process["label"])
            self.assertGreaterEqual(process["candidates"]["timed"], last)
            last = process["candidates"]["timed"]
            self.rollcall("replay", "--once", piece)
        self.assertEqual(last, n)
        self.assertEqual(self.report(pieces[0])[0]["fields"]["app.early"], 1)
        self.assertEqual(self.report(trace)[0]["fields"]["app.late"], 2)

    def test_the_oldest_pieces_go_where_only_some_are_kept(self):
        trace, said, n = self.record_pieces("--keep", "1")
        pieces = self.pieces_of(trace)
        self.assertEqual(len(pieces), 2)
        self.assertRegex(said, r"in \d+ pieces")
        self.assertEqual(self.report(trace)[0]["candidates"]["timed"], n)

    def test_a_thinned_recording_in_pieces(self):
        trace, _, n = self.record_pieces("--every", "1ms")
        pieces = self.pieces_of(trace)
        self.assertGreater(len(pieces), 1)
        for piece in pieces:
            self.rollcall("verify", piece)
            self.assertEqual(self.report(piece)[0]["lost"], 0)
        self.assertEqual(self.report(trace)[0]["candidates"]["timed"], n)

    def test_a_piece_never_takes_the_name_of_another_file(self):
        with open(self.file("t.rct.1"), "w") as file:
            file.write("evidence")
        trace, _, _ = self.record_pieces()
        with open(self.file("t.rct.1")) as file:
            self.assertEqual(file.read(), "evidence")
        self.assertTrue(os.path.exists(self.file("t.rct.2")))

    def test_a_recording_that_begins_again_goes_on_with_the_pieces(self):
        trace, _, n = self.record_pieces()
        before = self.pieces_of(trace)
        last = os.path.getsize(trace)
        self.assertIn("--force", self.fails("record", "-o", trace, "--max-size", "64KiB", "--for", "1", "--all"))
        self.rollcall("record", "-q", "-f", "-o", trace, "--max-size", "64KiB", "--for", "1ms", "--all")
        after = self.pieces_of(trace)
        self.assertEqual(len(after), len(before) + 1)
        self.assertEqual(os.path.getsize(after[-2]), last)
        self.rollcall("record", "-q", "-f", "-o", trace, "--max-size", "64KiB", "--keep", "1", "--for", "1ms", "--all")
        self.record_again(trace, "--keep", "1")
        self.assertEqual(len(self.pieces_of(trace)), 2)

    def test_files_that_are_no_pieces_do_not_count_as_some(self):
        trace, _, _ = self.record_pieces("--keep", "2")
        before = len(self.pieces_of(trace))
        for number in range(90, 95):
            with open("%s.%d" % (trace, number), "w") as file:
                file.write("notes")
        self.rollcall("record", "-q", "-f", "-o", trace, "--max-size", "64KiB", "--keep", str(before), "--for", "1ms", "--all")
        left = self.pieces_of(trace)
        self.assertEqual(len(left), before + 1 + 5)
        for number in range(90, 95):
            with open("%s.%d" % (trace, number)) as file:
                self.assertEqual(file.read(), "notes")

    def record_again(self, trace, *words):
        script = Script(self, ROLLCALL_RING_BYTES=str(1 << 20))
        for _ in range(40):
            script.do("search 100")
        script.kill()
        self.rollcall("record", "-q", "-f", "-o", trace, "--max-size", "64KiB", *words, str(script.pid))

    def test_what_cannot_be_in_pieces_is_refused(self):
        self.fails("record", "-o", "-", "--max-size", "1MiB", "--all", status=2)
        self.fails("record", "-o", self.file("t.rct"), "--keep", "2", "--all", status=2)
        self.fails("record", "-o", self.file("t.rct"), "--max-size", "1K", "--all", status=2)
        self.fails("record", "-o", "/dev/full", "--max-size", "1MiB", "--all")
        self.assertTrue(os.path.exists("/dev/full"))

    @needs_mount
    def test_on_a_full_disk_the_oldest_piece_makes_room(self):
        script = Script(self, ROLLCALL_RING_BYTES=str(1 << 20))
        script.do("search 10")
        small = self.file("small")
        os.mkdir(small)
        shell = ('mount -t tmpfs -o size=160k none "$0" && { "$1" record -q -o "$0/t.rct" --max-size 64KiB --keep 9 %d; '
                 'echo "status $?"; ls "$0"; "$1" report --json "$0/t.rct"; }' % script.pid)
        recorder = self.start(["unshare", "-m", "sh", "-c", shell, small, ROLLCALL], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        n = 10
        for _ in range(150):
            script.do("search 100")
            n += 100
        script.finish()
        out, said = recorder.communicate(timeout=LIMIT_S)
        self.assertTrue(out.startswith("status 0\n"), said)
        self.assertNotIn("t.rct.1\n", out[:200])
        self.assertEqual(json.loads(out[out.index("["):])[0]["candidates"]["timed"], n)


@needs_preload
class Thinned(Case):
    def test_boundaries_and_ends_stay_and_rows_between_go(self):
        script = Script(self, ROLLCALL_INTERVAL_MS="2", ROLLCALL_RING_BYTES=str(1 << 20))
        script.do("phase:zero")
        whole, thin = self.file("whole.rct"), self.file("thin.rct")
        recorders = [self.start_rollcall("record", "-o", whole, str(script.pid)),
                     self.start_rollcall("record", "--every", "1h", "-o", thin, str(script.pid))]
        wait_for(lambda: os.path.exists(whole) and os.path.exists(thin), "both recorders")
        script.do("phase:one")
        script.do("search 300")
        for k in range(200):
            script.do("gauge level %d" % k)
            script.do("flush")
        script.do("phase:two")
        script.do("search 7")
        script.do("gauge level 4711")
        script.finish()
        for recorder in recorders:
            _, said = recorder.communicate(timeout=LIMIT_S)
            self.assertEqual(recorder.returncode, 0, said)
        (a,), (b,) = self.report(whole), self.report(thin)
        self.assertEqual(a["fields"], b["fields"])
        self.assertEqual(a["candidates"], b["candidates"])
        self.assertEqual((b["lost"], b["state"]), (0, "exited"))
        rows = [int(self.rollcall("report", t).stdout.split("seen")[1].split(" row")[0].split()[-1]) for t in (whole, thin)]
        self.assertLessEqual(rows[1], 2 * 307 + 2)
        self.assertGreater(rows[0], rows[1] + 100)
        text = self.rollcall("report", thin).stdout
        self.assertRegex(text, "one: 300 candidates")
        self.assertRegex(text, "two: 7 candidates")
        self.assertIn("complete", self.rollcall("info", thin).stdout)

    def test_a_grid_of_time_is_kept(self):
        script = Script(self, ROLLCALL_INTERVAL_MS="5")
        script.do("pool 1 1")
        for _ in range(100):
            script.do("flush")
        script.kill()
        trace = self.file("t.rct")
        self.rollcall("record", "--every", "50ms", "-o", trace, str(script.pid))
        process, = self.report(trace)
        self.assertEqual(process["fields"]["census.live_working_pools"], 1)

    def test_a_gap_is_counted_in_a_thinned_trace_too(self):
        """S6 for --every."""
        script = Script(self, ROLLCALL_INTERVAL_MS="20")
        script.do("search 20")
        trace = self.file("slow.rct")
        recorder = self.start_rollcall("record", "--every", "1ms", "-o", trace, str(script.pid))
        wait_for(lambda: os.path.exists(trace) and os.path.getsize(trace) > 4096, "the trace")
        recorder.send_signal(signal.SIGSTOP)
        for _ in range(20):
            script.do("search 1000")
        script.do("flush")
        recorder.send_signal(signal.SIGCONT)
        script.finish()
        recorder.communicate(timeout=LIMIT_S)
        process, = self.report(trace)
        self.assertGreater(process["lost"], 0)
        self.assertEqual(process["candidates"]["timed"], 20020)


@needs_preload
class Choices(Case):
    def test_a_pattern_takes_what_matches_now_and_later(self):
        first = Script(self, ROLLCALL_LABEL="server one")
        first.do("pool 1 1")
        other = Script(self, ROLLCALL_LABEL="client")
        other.do("pool 1 1")
        trace = self.file("t.rct")
        recorder = self.start_rollcall("record", "-o", trace, "server*")
        wait_for(lambda: os.path.exists(trace) and os.path.getsize(trace) > 4096, "the trace")
        second = Script(self, ROLLCALL_LABEL="server two")
        second.do("pool 1 1")
        wait_for(lambda: len(self.report(trace)) == 2, "the second")
        for script in (first, second):
            script.finish()
        recorder.communicate(timeout=LIMIT_S)
        self.assertEqual(recorder.returncode, 0)
        self.assertEqual({p["label"] for p in self.report(trace)}, {"server one", "server two"})

    def test_all_excludes_what_is_named(self):
        self.fails("record", "-o", self.file("t.rct"), "--all", "4711", status=2)
        self.fails("record", "-o", self.file("t.rct"), "--all", "--", "true", status=2)
        for wrong in ("5 parsecs", "-1", "", "0"):
            self.fails("record", "-o", self.file("t.rct"), "--for", wrong, status=2)
            self.fails("record", "-o", self.file("t.rct"), "--every", wrong, status=2)

    def test_a_second_recorder_does_not_take_the_file_away(self):
        script = Script(self)
        script.do("pool 1 1")
        trace = self.file("t.rct")
        recorder = self.start_rollcall("record", "-o", trace, str(script.pid))
        wait_for(lambda: os.path.exists(trace) and os.path.getsize(trace) > 4096, "the trace")
        self.assertIn("another recorder", self.fails("record", "--force", "-o", trace, str(script.pid)))
        script.do("pool 2 2")
        script.finish()
        recorder.communicate(timeout=LIMIT_S)
        self.assertEqual(self.report(trace)[0]["fields"]["census.live_working_pools"], 2)
        self.rollcall("record", "--force", "-o", trace, str(script.pid))


@needs_preload
class Schemas(Case):
    def test_a_gauge_that_comes_late_costs_little(self):
        script = Script(self, ROLLCALL_INTERVAL_MS="5")
        script.do("gauge first 1")
        trace = self.file("t.rct")
        recorder = self.start_rollcall("record", "-o", trace, str(script.pid))
        for k in range(12):
            script.do("gauge late%d %d" % (k, k))
            script.do("flush")
            size = os.path.getsize(trace) if os.path.exists(trace) else 0
            wait_for(lambda: os.path.exists(trace) and os.path.getsize(trace) > size, "rows with it")
        script.finish()
        recorder.communicate(timeout=LIMIT_S)
        process, = self.report(trace)
        self.assertEqual([process["fields"]["app.late%d" % k] for k in range(12)], list(range(12)))
        sizes = {}
        for kind, _, size in blocks_of(trace):
            sizes.setdefault(kind, []).append(size)
        self.assertGreaterEqual(len(sizes[5]), 1)
        self.assertLess(max(sizes[5]), 1500)
        # One of the process at its begin, one at its end, one of the observer.
        self.assertLessEqual(len(sizes[3]), 3)

    def test_a_cut_trace_has_what_grew(self):
        script = Script(self, ROLLCALL_INTERVAL_MS="5")
        script.do("gauge first 1")
        trace = self.file("t.rct")
        recorder = self.start_rollcall("record", "-o", trace, str(script.pid))
        wait_for(lambda: os.path.exists(trace) and os.path.getsize(trace) > 4096, "the trace")
        script.do("gauge late 7")
        script.do("flush")

        def has_late():
            done = self.rollcall("report", "--json", trace, status=None)
            processes = json.loads(done.stdout or "[]")
            return processes and processes[0]["fields"].get("app.late") == 7
        wait_for(has_late, "the late gauge")
        recorder.kill()
        recorder.wait()
        self.assertTrue(has_late())
        self.assertIn("incomplete", self.rollcall("info", trace).stdout)


@needs_preload
class EarlyEnds(Case):
    def test_a_kill_in_the_first_second_leaves_the_first_rows(self):
        script = Script(self)
        script.do("search 10")
        trace = self.file("t.rct")
        recorder = self.start_rollcall("record", "-o", trace, str(script.pid))
        wait_for(lambda: os.path.exists(trace) and os.path.getsize(trace) > 4096 + 512, "the first blocks")
        recorder.kill()
        recorder.wait()
        done = self.rollcall("report", "--json", trace)
        self.assertEqual(len(json.loads(done.stdout)), 1)

    def test_a_file_that_is_removed_is_missed(self):
        script = Script(self)
        script.do("search 10")
        trace = self.file("t.rct")
        recorder = self.start_rollcall("record", "-o", trace, str(script.pid))
        wait_for(lambda: os.path.exists(trace) and os.path.getsize(trace) > 4096 + 512, "the first blocks")
        os.unlink(trace)
        script.do("search 10")
        _, said = recorder.communicate(timeout=LIMIT_S)
        self.assertEqual(recorder.returncode, 1)
        self.assertIn("was removed", said)
        self.assert_one_line(said)

    def test_a_command_that_is_recorded_is_on_disk_at_once(self):
        trace = self.file("t.rct")
        run = self.start_rollcall("record", "-o", trace, "--", SCRIPT, stdin=subprocess.PIPE)
        pid = int(run.stdout.readline())
        run.stdin.write("pool 1 1\n")
        run.stdin.flush()

        def has_rows():
            if not os.path.exists(trace):
                return False
            done = self.rollcall("report", "--json", trace, status=None)
            return done.returncode == 0 and json.loads(done.stdout)
        wait_for(has_rows, "the first rows")
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        self.assertEqual(self.report(trace)[0]["pid"], pid)

    def test_progress_is_for_a_terminal_alone(self):
        script = Script(self)
        script.do("search 5")
        ours, theirs = os.openpty()
        recorder = self.start_rollcall("record", "-o", self.file("t.rct"), str(script.pid), stderr=theirs)
        os.close(theirs)
        seen = b""
        while b" rows, " not in seen or b"lost 0" not in seen:
            self.assertTrue(select.select([ours], [], [], LIMIT_S)[0], seen)
            seen += os.read(ours, 4096)
        self.assertRegex(seen, rb"1 process, \d+ rows, [\d.]+ [KMi]*B, [\d.]+ [KMi]*B/s, lost 0")
        script.finish()
        recorder.wait(LIMIT_S)
        os.close(ours)

    def test_a_recording_that_fails_is_a_failure_of_record(self):
        done = self.rollcall("record", "-o", "/dev/full", "--", "true", status=None)
        self.assertNotEqual(done.returncode, 0)
        self.assert_one_line(done.stderr)


if __name__ == "__main__":
    unittest.main()
