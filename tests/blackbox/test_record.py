# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""`rollcall record` and `run --record`: what a trace holds, whatever happens."""

import json
import os
import signal
import subprocess
import unittest

from tests.blackbox.support import LIMIT_S, ROLLCALL, SCRIPT, TILESEARCH, Case, Script, needs_mount, needs_preload, wait_for


def working_pools(process):
    return process["fields"]["census.live_working_pools"]


@needs_preload
class Recording(Case):
    def info(self, path):
        return self.rollcall("info", path).stdout

    def test_a_late_recorder_has_the_whole_history(self):
        script = Script(self, ROLLCALL_RING_BYTES=str(1 << 20))
        script.do("phase:early")
        script.do("search 100")
        script.do("flush")
        trace = self.file("late.rct")
        recorder = self.start_rollcall("record", "-o", trace, str(script.pid))
        script.do("phase:late")
        script.do("search 50")
        script.finish()
        _, said = recorder.communicate(timeout=LIMIT_S)
        self.assertEqual(recorder.returncode, 0, said)
        self.assert_one_line(said)
        process, = self.report(trace)
        self.assertEqual((process["state"], process["lost"]), ("exited", 0))
        self.assertEqual(working_pools(process), 150)
        self.assertEqual(process["candidates"]["timed"], 150)
        text = self.rollcall("report", trace).stdout
        self.assertRegex(text, r"early: 100 candidates")
        self.assertRegex(text, r"late: 50 candidates")
        self.assertIn("complete", self.info(trace))

    def test_a_dead_process_can_still_be_recorded_and_replayed(self):
        script = Script(self)
        script.do("search 30")
        script.do("begin:unfinished")
        script.kill()
        trace = self.file("dead.rct")
        live = self.rollcall("top", "--once", str(script.pid)).stdout
        self.rollcall("record", "-o", trace, str(script.pid))
        process, = self.report(trace)
        self.assertEqual(process["state"], "killed")
        self.assertEqual(process["candidates"]["timed"], 30)
        self.assertIn("begun: unfinished", self.rollcall("report", trace).stdout)
        for text in (live, self.rollcall("replay", "--once", trace).stdout):
            self.assertIn("killed", text)

    def test_replay_shows_what_the_live_screen_showed(self):
        script = Script(self, ROLLCALL_LABEL="same")
        script.do("search 40")
        script.finish()
        trace = self.file("same.rct")
        self.rollcall("record", "-o", trace, "same")
        live = json.loads(self.rollcall("top", "--json", "same").stdout)
        self.assertEqual(json.loads(self.rollcall("replay", "--json", trace).stdout), live)
        for size in ("80x24", "120x40"):
            screen = self.rollcall("top", "--once", "--size", size, "same").stdout
            self.assertEqual(self.rollcall("replay", "--once", "--size", size, trace).stdout, screen)

    def test_run_records_from_the_first_row_to_the_last(self):
        trace = self.file("run.rct")
        done = self.rollcall("run", "--record", trace, "--", SCRIPT, input="search 20\nflush\n")
        self.assert_one_line(done.stderr)
        process, = self.report(trace)
        self.assertEqual((process["state"], working_pools(process)), ("exited", 20))

    def test_record_runs_a_command(self):
        trace = self.file("command.rct")
        done = self.rollcall("record", "-o", trace, "--", SCRIPT, input="pool 1 5\n", status=0)
        self.assertEqual(done.stdout.splitlines()[1:], ["0"])
        self.assertEqual(working_pools(self.report(trace)[0]), 1)

    def test_a_child_that_forks_off_is_followed(self):
        script = Script(self)
        script.do("pool 1 5")
        trace = self.file("fork.rct")
        recorder = self.start_rollcall("record", "-o", trace, str(script.pid))
        wait_for(lambda: os.path.exists(trace), "the trace")
        child = script.do("fork")
        wait_for(lambda: self.listed(child), "the child")
        os.kill(child, signal.SIGKILL)
        script.finish()
        recorder.communicate(timeout=LIMIT_S)
        self.assertEqual(sorted(p["pid"] for p in self.report(trace)), sorted([script.pid, child]))

    def test_everything_is_recorded_until_control_c(self):
        trace = self.file("all.rct")
        scripts = [Script(self) for _ in range(3)]
        for script in scripts[:2]:
            script.do("pool 1 1")
        recorder = self.start_rollcall("record", "-o", trace)
        wait_for(lambda: os.path.exists(trace) and os.path.getsize(trace) > 4096, "the trace")
        scripts[2].do("pool 1 1")
        wait_for(lambda: self.listed(scripts[2].pid), "the third")
        recorder.send_signal(signal.SIGINT)
        _, said = recorder.communicate(timeout=LIMIT_S)
        self.assertEqual(recorder.returncode, 0, said)
        self.assertIn("complete", self.info(trace))
        self.assertEqual(sorted(p["pid"] for p in self.report(trace)), sorted(s.pid for s in scripts))
        for script in scripts:
            script.do("pool 2 2")

    def test_term_and_a_time_limit_end_a_recording_well(self):
        script = Script(self)
        script.do("pool 1 1")
        trace = self.file("term.rct")
        recorder = self.start_rollcall("record", "-o", trace, str(script.pid))
        wait_for(lambda: os.path.exists(trace), "the trace")
        recorder.send_signal(signal.SIGTERM)
        recorder.communicate(timeout=LIMIT_S)
        self.assertEqual(recorder.returncode, 0)
        self.assertIn("complete", self.info(trace))
        self.rollcall("record", "--force", "--for", "1", "-o", trace, str(script.pid))
        self.assertIn("complete", self.info(trace))

    def test_a_recorder_that_is_killed_leaves_what_it_had_synced(self):
        script = Script(self)
        script.do("search 10")
        script.do("flush")
        trace = self.file("killed.rct")
        recorder = self.start_rollcall("record", "-o", trace, str(script.pid))

        def synced():
            done = self.rollcall("report", "--json", trace, status=None)
            processes = json.loads(done.stdout or "[]") if done.returncode == 0 else []
            return processes and working_pools(processes[0]) == 10
        wait_for(synced, "a provisional block")
        recorder.kill()
        recorder.wait()
        self.assertIn("incomplete", self.info(trace))
        self.assertEqual(working_pools(self.report(trace)[0]), 10)

    def test_two_monitors_and_a_recorder_on_one_process(self):
        script = Script(self, ROLLCALL_INTERVAL_MS="10")
        script.do("pool 1 1")
        trace = self.file("shared.rct")
        recorder = self.start_rollcall("record", "-o", trace, str(script.pid))
        monitors = [self.start_rollcall("top", "--json", "--batch", "20", "--interval", "20", str(script.pid)) for _ in range(2)]
        script.do("search 200")
        script.do("flush")
        for monitor in monitors:
            lines = monitor.communicate(timeout=LIMIT_S)[0].splitlines()
            self.assertEqual(len(lines), 20)
            counts = [working_pools(json.loads(line)[0]) for line in lines]
            known = [count for count in counts if count is not None]
            self.assertEqual(known, sorted(known))
        script.finish()
        recorder.communicate(timeout=LIMIT_S)
        process, = self.report(trace)
        self.assertEqual((working_pools(process), process["lost"]), (201, 0))

    def test_a_recorder_slower_than_the_ring_counts_what_it_lost(self):
        """S6: received and lost add up to published, exactly."""
        script = Script(self, ROLLCALL_INTERVAL_MS="20")
        script.do("search 20")
        script.do("flush")
        trace = self.file("slow.rct")
        recorder = self.start_rollcall("record", "-o", trace, str(script.pid))
        wait_for(lambda: os.path.exists(trace) and os.path.getsize(trace) > 4096, "the trace")
        recorder.send_signal(signal.SIGSTOP)
        n = 20
        for _ in range(20):
            script.do("search 1000")
            n += 1000
        script.do("flush")
        recorder.send_signal(signal.SIGCONT)
        script.finish()
        _, said = recorder.communicate(timeout=LIMIT_S)
        process, = self.report(trace)
        self.assertGreater(process["lost"], 0)
        self.assertEqual(process["fields"]["self.boundaries_dropped"], 0)
        self.assertEqual(process["candidates"]["timed"], n)
        records = int(self.info(trace).split("records")[1].split()[0])
        text = self.rollcall("report", trace).stdout
        rows, events, lost = [int(text.split("seen")[1].split(word)[0].split()[-1]) for word in ("row", "event", "lost")]
        self.assertEqual(lost, process["lost"])
        self.assertEqual(rows + events + lost, process["fields"]["self.rows_published"] + 2 * n)
        self.assertGreaterEqual(records, rows + events)
        self.assertIn(" %d rows" % rows, said)

    def test_a_trace_through_a_pipe(self):
        script = Script(self)
        script.do("search 5")
        script.kill()
        done = self.run_command(["sh", "-c", '"$0" record -q -o - %d | "$0" report --json -' % script.pid, ROLLCALL], text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(working_pools(json.loads(done.stdout)[0]), 5)
        done = self.run_command(["sh", "-c", '"$0" record -q -o - %d | "$0" replay --once -' % script.pid, ROLLCALL], text=True)
        self.assertIn(str(script.pid), done.stdout)


@needs_preload
class Refusals(Case):
    """R2: a full device, a small file system, a directory that is read-only."""

    def published(self):
        script = Script(self, ROLLCALL_RING_BYTES=str(1 << 20))
        script.do("search 500")
        script.kill()
        return str(script.pid)

    def test_a_word_that_names_nothing(self):
        self.assertIn("nosuch", self.fails("record", "-o", self.file("t.rct"), "nosuch"))
        self.assertFalse(os.path.exists(self.file("t.rct")))

    def test_a_full_device(self):
        self.assertIn("/dev/full", self.fails("record", "-o", "/dev/full", self.published()))

    def test_an_existing_file_stays_unless_forced(self):
        path = self.file("old.rct")
        with open(path, "w") as file:
            file.write("evidence")
        pid = self.published()
        self.assertIn("--force", self.fails("record", "-o", path, pid))
        with open(path) as file:
            self.assertEqual(file.read(), "evidence")
        self.rollcall("record", "--force", "-o", path, pid)
        self.assertEqual(len(self.report(path)), 1)

    def test_a_directory_that_is_not_there_or_not_writable(self):
        pid = self.published()
        self.assertIn("No such file", self.fails("record", "-o", self.file("no/t.rct"), pid))
        self.fails("record", "-o", self.files, pid)
        self.fails("record", "-o", "/proc/t.rct", pid)

    @needs_mount
    def test_a_small_file_system_keeps_the_earlier_blocks(self):
        script = Script(self, ROLLCALL_INTERVAL_MS="5")
        script.do("search 50")
        small = self.file("small")
        os.mkdir(small)
        shell = ('mount -t tmpfs -o size=64k none "$0" && { "$1" record -q -o "$0/t.rct" %d; echo "status $?"; '
                 '"$1" report --json "$0/t.rct"; }' % script.pid)
        recorder = self.start(["unshare", "-m", "sh", "-c", shell, small, ROLLCALL], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        while recorder.poll() is None and script.do("search 200") == 0:
            script.do("flush")
        out, said = recorder.communicate(timeout=LIMIT_S)
        self.assert_one_line(said)
        status, report = out.split("\n", 1)
        self.assertEqual(status, "status 1")
        self.assertGreaterEqual(working_pools(json.loads(report)[0]), 50)

    @needs_mount
    def test_a_command_outlives_a_recording_that_fails(self):
        small = self.file("small")
        os.mkdir(small)
        shell = 'mount -t tmpfs -o size=64k none "$0" && exec "$1" run --record "$0/t.rct" -- "$2"'
        script = Script(self, ["unshare", "-m", "sh", "-c", shell, small, ROLLCALL, SCRIPT], stderr=subprocess.PIPE)
        ended = []
        while not ended:
            script.do("search 200")
            script.do("flush")
            ended = self.readable(script.process.stderr)
        self.assert_one_line(script.process.stderr.readline())
        self.assertEqual(script.do("pool 1 1"), 0)
        script.finish()
        self.assertEqual(script.process.returncode, 0)


@needs_preload
class TheSearch(Case):
    def test_a_leaking_search_is_seen_live_and_in_its_trace(self):
        trace = self.file("t.rct")
        run = self.start_rollcall("run", "--record", trace, "--", TILESEARCH, "--candidates", "60", "--leak", "pools")

        def is_live():
            found = [p for p in self.list() if "tilesearch" in p["label"] and p["state"] == "live"]
            return found and found[0]["fields"].get("search.candidates_attempted")
        wait_for(is_live, "the live search")
        run.communicate(timeout=300)
        self.assertEqual(run.returncode, 0)
        process, = self.report(trace)
        fields = process["fields"]
        self.assertEqual(fields["search.candidates_attempted"], 60)
        self.assertEqual(fields["census.live_working_pools"], fields["census.working_pools_allocated"])
        self.assertGreater(fields["census.live_working_pools"], 20)
        self.assertEqual(len(self.list()), 1)
        text = self.rollcall("replay", trace, "--once").stdout
        self.assertIn("tilesearch", text)


if __name__ == "__main__":
    unittest.main()
