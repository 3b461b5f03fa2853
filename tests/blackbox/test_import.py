# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""import: tables and census logs become traces; what is wrong is said in one
line and leaves nothing behind."""

import csv
import io
import os
import signal
import subprocess
import unittest

from tests.blackbox.imports import TRACES, ImportCase, census_line, published_log, published_readings
from tests.blackbox.support import LIMIT_S, ROLLCALL, wait_for


class Tables(ImportCase):
    def test_the_search_of_issue_550_names_working_pools_first(self):
        path = self.search("g1")
        lines = [line for line in self.rollcall("report", path).stdout.splitlines() if line.startswith(("  ▲", "  ●"))]
        self.assertRegex(lines[0], r"▲ working pools grow: \+1\.00 per linked candidate, \+\d+ MiB each .*100\.0 % of device "
                                   r"growth; 11\.9 GiB reached, over by 16\.\d GiB")
        self.assertRegex(lines[1], r"▲ contexts grow: \+1\.00 per linked candidate")
        self.assertTrue(any("modules are bounded" in line for line in lines))
        (process,) = self.report(path)
        slopes = {v["axis"]: v["slope"] for v in process["verdicts"] if v["class"] == "working_pools"}
        self.assertAlmostEqual(slopes["linked"], 1.0, places=2)
        self.assertAlmostEqual(slopes["attempted"], 0.49, delta=0.03)
        self.assertGreater(slopes["timed"], 1.1)
        self.assertTrue(all("by_outcome" in verdict for verdict in process["verdicts"]))
        self.assertEqual(process["candidates"]["declined"], 134)
        self.assertEqual(process["candidates"]["timed"] + process["candidates"]["kept"], 101)
        self.assertIsNone(process["pid"])
        self.assertEqual(process["state"], "exited")

    def test_every_search_has_its_right_answer(self):
        for name, growing in (("g2", set()), ("g3", {"modules"}), ("g4", set()), ("g5a", set()), ("g6", set()),
                              ("g5b", {"working_pools", "working_bytes", "device_used_bytes"}),
                              ("g7", {"working_pools", "working_bytes"})):
            with self.subTest(search=name):
                verdicts = self.headlines(self.search(name))
                shapes = {c for c, v in verdicts.items() if v["shape"] in ("growing", "stepping")}
                self.assertEqual(shapes, growing)
        self.assertEqual(self.headlines(self.search("g4"))["working_pools"]["shape"], "one_time")

    def test_not_available_is_never_a_number(self):
        """nvtop issue 432, WSL issue 11050: all ones is unknown."""
        path = self.search("g7")
        (process,) = self.report(path)
        self.assertIsNone(process["fields"]["device[0].used_bytes"])
        self.assertIsNone(process["derived"]["rss_bytes"])
        for text in (self.rollcall("report", path).stdout, self.rollcall("replay", "--once", path).stdout,
                     self.rollcall("report", "--json", path).stdout):
            self.assertNotIn("17179869184", text)
            self.assertNotIn("18446744073709551615", text)

    def test_a_table_has_no_process_number(self):
        path = self.search("g7")
        self.assertRegex(self.rollcall("replay", "--once", path).stdout, r"\A stdin  exited ")

    def test_past_the_capacity_it_says_over(self):
        """HAMi-core issue 200: a limit below what is used."""
        path = self.search("g8")
        self.assertIn("over by 3.87 GiB", self.rollcall("report", path).stdout)
        verdict = self.headlines(path)["device_used_bytes"]
        self.assertEqual(verdict["capacity_bytes"], 2048 << 20)
        self.assertIsNone(verdict["forecast_candidates"])

    def test_a_table_has_names_quotes_and_unknown_cells(self):
        path = self.imported('\ufefftime_s,candidate,outcome,phase,"app.queue",gpu mem [MiB],cache_bytes,device[2].name\r\n'
                             '0,"a,1",,warm,3,,10,"A ""big"" card"\r\n'
                             '1.5,,,,4.0,,,\r\n'
                             '1.50,"a,1",timed,,,7,12,\r\n')
        (process,) = self.report(path)
        fields = process["fields"]
        self.assertIsNone(fields["app.queue"])
        self.assertEqual(fields["app.gpu_mem__MiB_"], 7)
        self.assertEqual(fields["app.cache_bytes"], 12)
        self.assertEqual(fields["search.phase"], "warm")
        self.assertEqual(fields["search.open_candidates"], 0)
        self.assertEqual(process["candidates"]["timed"], 1)
        self.assertEqual(fields["self.captured_at_ns"], 1500000000 // 1024 * 1024)
        self.assertEqual(fields["app.captured_at_ns"], fields["self.captured_at_ns"])
        early = self.rollcall("replay", "--once", "--at", "0s", "--size", "99x60", path).stdout
        self.assertIn('A "big" card', early)
        self.assertIn("candidate a,1  open", early)
        self.assertIn("a,1", self.rollcall("report", path).stdout)

    def test_a_bad_line_has_a_number_a_column_and_a_reason(self):
        for text, where, why in (
                (b"", "line 1", "empty"),
                (b"time_s,x\n", "line 1", "no row"),
                (b"x,y\n1,2\n", "line 1", "no column time_s"),
                (b"time_s,x,y,x\n1,2,3,4\n", "line 1, column 4", "twice"),
                (b"time_s,device.used_bytes,device[0].used_bytes\n1,2,3\n", "line 1, column 3", "twice"),
                (b"time_s,,x\n", "line 1, column 2", "no name"),
                (b"time_s,x\n1,2\n0.5,3\n", "line 3, column 1", "goes back"),
                (b"time_s,x\n,2\n", "line 2, column 1", "needs a time"),
                (b"time_s,x\nnan,2\n", "line 2, column 1", "not a time"),
                (b"time_s,x\n-1,2\n", "line 2, column 1", "not a time"),
                (b"time_s,x\n1,2x\n", "line 2, column 2", "not a whole number"),
                (b"time_s,x\n1,-2\n", "line 2, column 2", "not a whole number"),
                (b"time_s,x\n1,2.5\n", "line 2, column 2", "not a whole number"),
                (b"time_s,x\n1,18446744073709551616\n", "line 2, column 2", "not a whole number"),
                (b"time_s,x\n1\n", "line 2, column 2", "fewer cells"),
                (b"time_s,x\n1,2,3\n", "line 2, column 3", "more cells"),
                (b"time_s,x\n1,\0\n", "line 2, column 2", "NUL"),
                (b"time_s,x\n1,2\n2,\xff\n", "line 3, column 2", "not UTF-8"),
                (b"time_s,x\n1,\"2\n", "line 2, column 2", "quote"),
                (b"time_s,outcome\n1,timed\n", "line 2, column 2", "needs a candidate"),
                (b"time_s,candidate,outcome\n1,a,lost\n", "line 2, column 3", "none of declined"),
                (b"time_s," + b",".join(b"c%d" % i for i in range(10 ** 6)) + b"\n1\n", "line 1", "longer than"),
                (b"time_s" + b",c" * 5000 + b"\n1\n", "line 1, column 4097", "more columns"),
                (b"time_s,x\n1," + b"9" * (2 << 20) + b"\n", "line 2", "longer than"),
                (b"time_s," + b"x" * 64 + b"\n1,2\n", "line 1, column 2", "63 characters"),
                (b"\xff\xfe" * 1000, "line 1, column 1", "not UTF-8")):
            with self.subTest(text=text[:40]):
                path = self.file("bad.rct")
                done = self.rollcall("import", "-", "-o", path, input=text, text=False, status=2)
                said = done.stderr.decode()
                self.assert_one_line(said)
                self.assertIn(where + (":" if "column" not in where and "longer" not in why else ""), said)
                self.assertIn(why, said)
                self.assertEqual(os.listdir(self.files), [])

    def test_a_bad_line_writes_nothing_to_a_pipe_nor_over_a_trace(self):
        bad = b"time_s,x\n" + b"".join(b"%d,%d\n" % (i, i) for i in range(5000)) + b"oops\n"
        done = self.rollcall("import", "-", "-o", "-", input=bad, text=False, status=2)
        self.assertEqual(done.stdout, b"")
        path = self.imported("time_s,x\n1,2\n")
        before = self.report(path)
        self.rollcall("import", "-f", "-", "-o", path, input=bad, text=False, status=2)
        self.assertEqual(self.report(path), before)
        self.assertEqual(os.listdir(self.files), ["table.rct"])

    def test_an_existing_trace_is_kept_unless_forced(self):
        path = self.imported("time_s,x\n1,2\n")
        self.assertIn("--force", self.fails("import", "-", "-o", path, input="time_s,x\n1,3\n"))
        self.assertEqual(self.report(path)[0]["fields"]["app.x"], 2)
        self.imported("time_s,x\n1,3\n")
        self.assertEqual(self.report(path)[0]["fields"]["app.x"], 3)
        self.fails("import", "-", "-f", "-o", "/dev/full", input="time_s,x\n1,3\n")
        self.fails("import", "-", "-o", self.file("no/such.rct"), input="time_s,x\n1,3\n")
        self.fails("import", self.files, "-o", self.file("x.rct"))
        self.fails("import", "/dev/null", status=2)

    def test_pipes_on_both_sides_and_the_same_identity(self):
        table = self.run_command([TRACES, "g2"]).stdout
        first = self.rollcall("import", "-", "-o", "-", "-q", input=table, text=False).stdout
        report = self.rollcall("report", "-", input=first, text=False).stdout.decode()
        self.assertIn("working pools are bounded", report)
        with open(self.file("g2.csv"), "wb") as file:
            file.write(table)
        self.rollcall("import", self.file("g2.csv"), "-q", "-o", self.file("g2.rct"))
        instance = [self.rollcall("info", "-", input=first, text=False).stdout.decode().split("instance ")[1],
                    self.rollcall("info", self.file("g2.rct")).stdout.split("instance ")[1]]
        self.assertEqual(instance[0], instance[1])
        self.assertEqual(self.report(self.file("g2.rct"))[0]["label"], "g2.csv")

    def test_a_file_of_ends_alone_has_candidates_too(self):
        rows = ["time_s,candidate,outcome,census.live_working_pools,phase"]
        for i in range(100):
            rows.append("%d,%d,%s,%d,%s" % (2 * i, i, "failed" if i % 4 == 0 else "timed", (i + 4) // 4, "AB"[i > 50]))
            rows.append("%d,,,%d," % (2 * i + 1, (i + 4) // 4))
        path = self.imported("\n".join(rows))
        (process,) = self.report(path)
        self.assertEqual(process["fields"]["search.candidates_attempted"], 100)
        self.assertEqual(process["candidates"]["failed"], 25)
        verdict = self.headlines(path)["working_pools"]
        self.assertEqual(verdict["shape"], "growing")
        self.assertEqual(verdict["blame"], "failed")
        self.assertRegex(self.rollcall("report", path).stdout, r"A: 51 candidates")

    def test_many_rows_in_bounded_memory(self):
        """Half a million rows in 96 MiB of address space beyond what it starts with."""
        rows = 500000

        def table():
            out = io.StringIO()
            out.write("time_s,candidate,outcome,rss\n")
            for i in range(rows):
                out.write("%d,%d,timed,%d\n" % (i, i, i % 7))
            return out.getvalue()
        with open(self.file("big.csv"), "w") as file:
            file.write(table())
        command = [ROLLCALL, "import", self.file("big.csv"), "-q", "-o", self.file("big.rct")]
        done = self.run_command(["/usr/bin/env", "bash", "-c", 'ulimit -d 131072; exec "$@"', "bash", *command])
        if done.returncode != 0 and b"anitizer" in done.stderr:
            self.skipTest("a sanitizer needs more address space")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("records     %d" % (2 * rows + 2), self.rollcall("info", self.file("big.rct")).stdout)


    def test_an_end_by_signal_leaves_no_temporary_file(self):
        there = self.file("temporary")
        os.mkdir(there)
        importer = self.start([ROLLCALL, "import", "-o", "-", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              env=dict(os.environ, TMPDIR=there))
        wait_for(lambda: os.listdir(there), "the temporary file")
        importer.send_signal(signal.SIGTERM)
        self.assertEqual(importer.wait(LIMIT_S), -signal.SIGTERM)
        importer.stdin.close()
        self.assertEqual(os.listdir(there), [])


class CensusLogs(ImportCase):
    def test_the_published_readings_come_back(self):
        path = self.imported(published_log(), "--format", "census-log")
        (process,) = self.report(path)
        last = published_readings()[-1]
        fields = process["fields"]
        self.assertEqual(fields["census.live_working_pools"], last["live_pools"] - 1)
        self.assertEqual(fields["census.live_working_bytes"], round(last["working_mib"] * 1048576))
        self.assertEqual(fields["census.live_constant_bytes"], round(9.3 * 1048576))
        self.assertEqual(fields["census.peak_pool_bytes"], round(last["device_mib"] * 1048576))
        self.assertEqual(fields["census.contexts_created"], last["live_contexts"])
        self.assertEqual(process["derived"]["live_modules"], last["live_modules"])
        self.assertEqual(process["derived"]["live_pools"], last["live_pools"])
        self.assertEqual(process["candidates"]["timed"], 8)
        self.assertIn("rounded to a tenth", self.rollcall("replay", "--once", "--size", "99x60", path).stdout)

    def test_a_log_has_no_time_and_its_verdict_none_either(self):
        table = self.run_command([TRACES, "g1"], text=True).stdout
        log = []
        for row in csv.DictReader(io.StringIO(table)):
            if not row["outcome"] or row["outcome"] == "declined":
                continue
            label = "F[%s]" % row["candidate"]
            if row["outcome"] == "deduplicated":
                log.append("autotune: %s: dedup (digest 6bf339c4/84848ff5)\n" % label)
            log.append("noise\n")
            log.append(census_line(label, int(row["census.live_working_pools"]), int(row["census.live_working_bytes"]) / 1048576,
                                   1, 9.3, int(row["census.contexts_created"]), 0, int(row["census.modules_loaded"]),
                                   int(row["census.modules_unloaded"])))
        path = self.file("log.rct")
        done = self.rollcall("import", "--format", "census-log", "-", "-o", path, input="".join(log))
        self.assertIn("127 rows, 127 candidates; 127 other lines skipped", done.stderr)
        (process,) = self.report(path)
        self.assertEqual(process["candidates"]["deduplicated"], 20)
        self.assertEqual({v["axis"] for v in process["verdicts"]} & {"time"}, set())
        verdicts = self.headlines(path)
        self.assertEqual(verdicts["working_pools"]["shape"], "growing")
        self.assertAlmostEqual(verdicts["working_pools"]["slope"], 1.0, places=3)
        self.assertEqual(verdicts["modules"]["shape"], "bounded")
        self.assertNotRegex(self.rollcall("report", path).stdout, r"\d s\b|\dm\d")

    def test_a_duplicate_may_be_told_before_or_after_its_census(self):
        census = [census_line(label, 1, 1, 1, 9.3, 1, 0, 1, 0) for label in "abc"]
        dedup = ["autotune: %s: dedup (digest 0/0)\n" % label for label in "abcd"]
        path = self.imported(census[0] + dedup[0] + dedup[1] + census[1] + census[2] + dedup[3], "--format", "census-log")
        (process,) = self.report(path)
        self.assertEqual(process["candidates"]["deduplicated"], 3)
        self.assertEqual(process["candidates"]["timed"], 1)

    def test_noise_and_cut_lines_are_skipped_and_counted(self):
        line = census_line("a: pools b", 1, 1, 1, 9.3, 1, 0, 1, 0, 10)
        path = self.file("noise.rct")
        done = self.rollcall("import", "--format", "census-log", "-", "-o", path, text=False, input=b"\0\xff\n" + b"x" * (3 << 20)
                             + b"\n" + b"12:00 " + line.encode() + line[:150].encode())
        self.assertIn(b"1 row, 1 candidate; 2 other lines skipped; 1 census line not whole, the first is line 4", done.stderr)
        self.assertIn("ended: a: pools b", self.rollcall("report", path).stdout)
        self.assertEqual(self.report(path)[0]["fields"]["census.peak_pool_bytes"], 10 << 20)

    def test_a_log_without_a_census_is_refused(self):
        for text in (b"", b"nothing\n", os.urandom(100000), bytes(3 << 20),
                     census_line("a", 1, 1, 1, 9.3, 1, 0, 1, 0)[:99].encode()):
            done = self.rollcall("import", "--format", "census-log", "-", "-o", self.file("x.rct"), input=text, text=False, status=2)
            self.assert_one_line(done.stderr.decode())
            self.assertEqual(os.listdir(self.files), [])


if __name__ == "__main__":
    unittest.main()
