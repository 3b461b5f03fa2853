# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""check: exit status 0 kept, 1 broken, 2 used wrongly or unreadable, 3 not
enough data; every rule in one line with its evidence."""

import json
import unittest

from tests.blackbox.imports import ImportCase
from tests.blackbox.support import Script, needs_preload, wait_for

HEAP = ("mapped", "live", "rounding", "cache", "span_free", "returned", "virgin", "hysteresis", "segment_overhead")


class Check(ImportCase):
    def check(self, status, path, *rules):
        done = self.rollcall("check", path, *rules, status=status)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_the_search_of_issue_550_is_stopped_and_says_why(self):
        said = self.check(1, self.search("g1"), "--max-growth", "working_pools<=0.01/linked")
        self.assertRegex(said, r"\Abroken: --max-growth 'working_pools<=0\.01/linked': working pools grow: \+1\.00 per linked "
                               r"candidate, \+\d+ MiB each .*over by 16\.\d GiB\n\Z")

    def test_the_search_after_the_fix_passes(self):
        said = self.check(0, self.search("g2"), "--max-growth", "working_pools<=0.01/linked", "--max-growth",
                          "working_bytes<=0/attempted", "--no-growing", "--max", "working_pools<=7")
        self.assertEqual([line.split(":")[0] for line in said.splitlines()], ["ok"] * 4)
        self.assertIn("working pools are bounded: 4 to 7", said)
        self.assertEqual(self.check(0, self.search("g2"), "--no-growing", "-q"), "")

    def test_each_axis_has_its_own_slope(self):
        path = self.search("g1")
        self.check(0, path, "--max-growth", "working_pools<=1/linked")
        self.check(1, path, "--max-growth", "working_pools<=0.9/linked")
        self.check(0, path, "--max-growth", "working_pools<=0.6/attempted")
        self.check(1, path, "--max-growth", "working_pools<=0.2/attempted")
        self.check(1, path, "--max-growth", "working_pools<=1.1/timed")
        self.check(1, path, "--max-growth", "working_pools<=0.5/s")
        self.check(0, path, "--max-growth", "working_pools<=2/s")
        self.check(0, path, "--max-growth", "working_bytes<=1GiB/linked")
        self.check(0, path, "--max-growth", "modules<=0/attempted")

    def test_what_is_not_known_is_status_3(self):
        path = self.search("g1")
        said = self.check(3, path, "--max-growth", "working_pools<=1/kept")  # one was kept
        self.assertIn("not enough data along kept", said)
        said = self.check(3, path, "--max-growth", "working_bytes<=300MiB/linked")
        self.assertIn("the limit lies inside the interval", said)
        self.assertIn("no reading of rss_bytes", self.check(3, path, "--max-growth", "rss_bytes<=0/s"))
        self.assertIn("no row has the books", self.check(3, path, "--balanced"))
        self.check(3, path, "--max", "host.rss_bytes<=1GiB")
        short = self.imported("time_s,x\n1,5\n2,9\n3,1\n")
        self.assertIn("not enough data on app.x", self.check(3, short, "--no-growing"))

    def test_broken_goes_before_not_known_and_that_before_ok(self):
        path = self.search("g1")
        growth, unknown, kept = "working_pools<=0/linked", "rss_bytes<=0/s", "modules<=0/linked"
        self.check(1, path, "--max-growth", unknown, "--max-growth", growth, "--max-growth", kept)
        self.check(3, path, "--max-growth", kept, "--max-growth", unknown)

    def test_no_growing_names_all_that_grow(self):
        said = self.check(1, self.search("g1"), "--no-growing")
        self.assertIn("4 classes grow: working_pools, working_bytes, contexts, device_used_bytes", said)
        self.assertEqual(len(said.splitlines()), 1)
        for name in ("g4", "g5a", "g6"):
            self.check(0, self.search(name), "--no-growing")
        for name in ("g3", "g5b"):
            self.check(1, self.search(name), "--no-growing")
        for seed in range(2, 8):
            self.assertNotIn("broken", self.rollcall("check", self.search("g6", seed), "--no-growing", status=None).stdout)

    def test_a_maximum_is_of_a_field_or_a_class(self):
        path = self.search("g1")
        said = self.check(1, path, "--max", "modules<=4", "--max", "census.live_working_pools<=126")
        self.assertRegex(said, r"modules is 5 at candidate \d+, \d+\.\d s, and above the limit in \d+ of 777 rows, the first at")
        self.assertRegex(said, r"census.live_working_pools is 127 at candidate 26\d.* in \d of 777 rows")
        self.check(0, path, "--max", "modules<=5", "--max", "device.used_bytes<=28.2GiB")
        self.check(1, path, "--max", "device_used_bytes<=12227MiB")
        exact = self.imported("time_s,x_bytes\n1,18446744073709551614\n")
        self.check(1, exact, "--max", "app.x_bytes<=18446744073709551613")
        self.check(0, exact, "--max", "app.x_bytes<=18446744073709551614")

    def test_not_available_breaks_no_rule(self):
        path = self.search("g7")
        said = self.check(0, path, "--max", "device.used_bytes<=1GiB")
        self.assertIn("9.30M", said)
        self.assertIn("9751756 bytes", said)

    def test_past_the_capacity_it_says_over(self):
        said = self.check(1, self.search("g8"), "--no-growing")
        self.assertIn("2.00 GiB reached, over by 3.87 GiB", said)

    def heap(self, mapped):
        head = "time_s," + ",".join("heap.%s_bytes" % name for name in HEAP)
        rows = ["%d,%d,%s" % (i, value, ",".join(["100"] * 8)) for i, value in enumerate(mapped)]
        return self.imported("\n".join([head] + rows))

    def test_books_balance_or_not(self):
        self.assertIn("in all 3 rows", self.check(0, self.heap([800, 800, 800]), "--balanced"))
        said = self.check(1, self.heap([800, 808, 700]), "--balanced")
        self.assertIn("in 2 of 3 rows: +8 bytes unexplained in the first, at 1.0 s", said)

    def test_a_lost_tail_gives_no_verdict(self):
        with open(self.search("g1"), "rb") as file:
            whole = file.read()
        path = self.file("cut.rct")
        rules = ("--max-growth", "working_pools<=5/linked", "--max", "modules<=5", "--no-growing")
        for at in (len(whole) - 1, len(whole) - 40, 15000, 9000):
            with open(path, "wb") as file:
                file.write(whole[:at])
            done = self.rollcall("check", path, *rules, status=None)
            with self.subTest(at=at):
                self.assertIn(done.returncode, (1, 3))
                self.assertNotRegex(done.stdout, r"(?m)^ok: ")
                self.assertIn("the trace is incomplete", done.stdout)
        with open(path, "wb") as file:
            file.write(self.search_bytes("g2")[:-1])
        self.check(3, path, "--max-growth", "working_pools<=0.01/linked")

    def search_bytes(self, name):
        with open(self.search(name), "rb") as file:
            return file.read()

    def test_used_wrongly_or_unreadable_is_status_2(self):
        path = self.search("g6")
        for words in (("check",), ("check", path), ("check", path, path, "--no-growing"),
                      ("check", path, "--max-growth", "working_pools<=1"),
                      ("check", path, "--max-growth", "working_pools<1/linked"),
                      ("check", path, "--max-growth", "working_pools<=x/linked"),
                      ("check", path, "--max-growth", "working_pools<=-1/linked"),
                      ("check", path, "--max-growth", "working_pools<=1/candidate"),
                      ("check", path, "--max-growth", "<=1/s"),
                      ("check", path, "--max-growth", "nothing<=1/s"),
                      ("check", path, "--max-growth", "working_pools<=1MiB/s"),
                      ("check", path, "--max-growth", "census.live_working_pools<=1/s"),
                      ("check", path, "--max", "working_pools<=1/s"),
                      ("check", path, "--max", "working_pools<=1parsec"),
                      ("check", path, "--max", "search.phase<=1"),
                      ("check", path, "--max", "x" * 300 + "<=1"),
                      ("check", path, "--no-growing", "--process", "nobody"),
                      ("check", path, "--no-growing", "--capacity", "device"),
                      ("check", self.file("none.rct"), "--no-growing"), ("check", self.files, "--no-growing"),
                      ("check", "/dev/null", "--no-growing"), ("check", "999999999", "--no-growing")):
            with self.subTest(words=words):
                self.fails(*words, status=2)
        self.assertIn("working_bytes<=1MiB/linked", self.fails("check", path, "--max-growth", "x", status=2))

    def test_json_is_the_process_and_its_rules(self):
        path = self.search("g1")
        done = self.rollcall("check", "--json", path, "--max-growth", "working_pools<=0.01/linked", "--max", "modules<=5",
                             "--balanced", status=1)
        (process,) = json.loads(done.stdout)
        (told,) = self.report(path)
        rules = process.pop("rules")
        self.assertEqual(process, told)
        self.assertEqual([rule["status"] for rule in rules], ["broken", "ok", "not_enough_data"])
        self.assertEqual(rules[0]["rule"], "--max-growth working_pools<=0.01/linked")
        self.assertAlmostEqual(rules[0]["value"], 1.0, places=3)
        self.assertLessEqual(rules[0]["low"], rules[0]["value"])
        self.assertEqual(rules[1]["value"], 5)
        self.assertIsNone(rules[2]["value"])
        self.assertIn("working pools grow", rules[0]["evidence"])

    def test_a_trace_without_rows_is_not_enough_data(self):
        path = self.file("empty.rct")
        self.rollcall("record", "-q", "--for", "1", "-o", path)
        self.assertIn("no row", self.check(3, path, "--no-growing"))
        self.assertEqual(self.rollcall("check", path, "--no-growing", "--json", status=3).stdout, "[]\n")

    @needs_preload
    def test_a_process_is_checked_by_its_pid(self):
        script = Script(self)
        for i in range(80):
            script.candidate("c%d" % i, "timed")
        wait_for(lambda: self.listed(script.pid)["fields"]["search.candidates_attempted"] == 80, "the candidates")
        self.check(0, str(script.pid), "--max", "search.candidates_attempted<=80")
        self.check(1, str(script.pid), "--max", "search.candidates_attempted<=79")
        script.kill()
        self.check(1, str(script.pid), "--max", "search.candidates_attempted<=79")

    def test_help_teaches_with_examples(self):
        text = self.rollcall("check", "--help").stdout
        self.assertEqual(text.split("Examples:")[1].count("\n  rollcall "), 3)
        self.assertIn("3 when one rests on not enough data", text.replace("\n", " "))


if __name__ == "__main__":
    unittest.main()
