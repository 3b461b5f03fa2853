# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""diff: what a fix changed, and what it did not."""

import json
import unittest

from tests.blackbox.imports import ImportCase
from tests.blackbox.support import Script, needs_preload


class Diff(ImportCase):
    def diff(self, *words):
        return json.loads(self.rollcall("diff", "--json", *words).stdout)

    def changes(self, *words):
        return {c["class"]: c for c in self.diff(*words)["classes"]}

    def test_before_the_fix_and_after_it(self):
        classes = self.changes(self.search("g1"), self.search("g2"))
        for name in ("working_pools", "working_bytes", "contexts", "device_used_bytes"):
            self.assertEqual(classes[name]["change"], "fixed", name)
        for name in ("modules", "constant_pools", "constant_bytes"):
            self.assertEqual(classes[name]["change"], "same", name)
        pools = classes["working_pools"]
        self.assertEqual((pools["a"]["shape"], pools["b"]["shape"]), ("growing", "bounded"))
        self.assertAlmostEqual(pools["a"]["slope"], 1, places=3)
        self.assertEqual((pools["a"]["peak"], pools["b"]["peak"]), (127, 7))
        self.assertNotIn("device[0].working_bytes", classes)
        text = self.rollcall("diff", self.search("g1"), self.search("g2")).stdout
        self.assertRegex(text, r"working_pools +fixed +growing -> bounded, slope 1 -> 0 per linked; .*peak 127 -> 7, last 127")

    def test_the_other_way_round_it_is_broken(self):
        classes = self.changes(self.search("g2"), self.search("g1"))
        self.assertEqual(classes["working_pools"]["change"], "broken")

    def test_the_same_trace_twice_is_the_same(self):
        told = self.diff(self.search("g1"), self.search("g1"))
        self.assertEqual({c["change"] for c in told["classes"]}, {"same"})
        self.assertEqual(told["candidates"], {"matched": 261, "only_a": 0, "only_b": 0, "changed": 0, "examples": []})
        self.assertIn("no class changed", self.rollcall("diff", self.search("g1"), self.search("g1")).stdout)

    def test_two_parts_of_one_run(self):
        path = self.search("g1")
        told = self.diff(path, "--before", "115")
        self.assertEqual(sum(told["a"]["outcomes"].values()), 115)
        self.assertEqual(sum(told["b"]["outcomes"].values()), 146)
        self.assertEqual(told["candidates"]["matched"], 0)
        classes = {c["class"]: c for c in told["classes"]}
        self.assertEqual(classes["device_used_bytes"]["change"], "faster")
        self.assertEqual(told, self.diff(path, "--after", "115"))
        timed = self.diff(path, "--before", "30s", "--after", "1:30")
        self.assertLess(timed["a"]["rows"] + timed["b"]["rows"], 777)

    def test_candidates_are_matched_by_label(self):
        rows = {"a": ["x,timed", "y,failed", "x,timed", "z,timed"], "b": ["x,timed", "x,failed", "y,failed", "w,kept"]}
        paths = [self.imported("time_s,candidate,outcome,v\n" + "".join("%d,%s,%d\n%d,,,1\n" % (2 * i, row, i, 2 * i + 1)
                                                                     for i, row in enumerate(rows[side])), name=side)
                 for side in "ab"]
        told = self.diff(*paths)
        self.assertEqual(told["candidates"], {"matched": 3, "only_a": 1, "only_b": 1, "changed": 1,
                                              "examples": [{"label": "x", "a": "timed", "b": "failed"}]})
        self.assertEqual(told["a"]["outcomes"]["timed"], 3)
        self.assertIn("x: timed -> failed", self.rollcall("diff", *paths).stdout)

    @needs_preload
    def test_a_candidate_that_is_kept_after_it_was_timed_is_one(self):
        script = Script(self, ROLLCALL_INTERVAL_MS="60000")
        for label in "abc":
            script.candidate(label, "timed")
        last = script.do("begin:d")
        script.do("end %d timed" % last)
        script.do("end %d kept" % last)
        script.do("flush")
        script.finish()
        path = self.file("kept.rct")
        self.rollcall("record", "-o", path, str(script.pid))
        told = self.diff(path, path)
        self.assertEqual({k: n for k, n in told["a"]["outcomes"].items() if n}, {"timed": 3, "kept": 1})
        self.assertEqual(told["candidates"], {"matched": 4, "only_a": 0, "only_b": 0, "changed": 0, "examples": []})

    def test_a_class_of_one_side_alone_and_too_few_rows(self):
        a = self.imported("time_s,here\n1,5\n2,5\n", name="a")
        b = self.imported("time_s,there\n1,5\n2,5\n", name="b")
        classes = self.changes(a, b)
        self.assertEqual(classes["app.here"]["change"], "only in a")
        self.assertEqual(classes["app.there"]["change"], "only in b")
        self.assertIsNone(classes["app.here"]["b"])
        self.assertEqual(self.changes(a, a)["app.here"]["change"], "not enough data")
        self.assertIsNone(self.changes(a, a)["app.here"]["a"]["slope"])

    def test_a_cut_trace_is_said_to_be_one(self):
        with open(self.search("g1"), "rb") as file:
            whole = file.read()
        with open(self.file("cut.rct"), "wb") as file:
            file.write(whole[:15000])
        self.assertIn("incomplete", self.rollcall("diff", self.search("g1"), self.file("cut.rct")).stdout)

    def test_from_a_pipe(self):
        with open(self.search("g2"), "rb") as file:
            told = json.loads(self.rollcall("diff", "--json", self.search("g1"), "-", input=file.read(), text=False).stdout)
        self.assertEqual(told["b"]["rows"], 648)
        self.fails("diff", "-", "-", status=2)

    def test_used_wrongly(self):
        path = self.search("g6")
        self.fails("diff", status=2)
        self.fails("diff", path, status=2)
        self.fails("diff", path, path, path, status=2)
        self.fails("diff", path, "--before", "soon", status=2)
        self.fails("diff", path, self.file("none.rct"))
        self.fails("diff", path, "/dev/null")
        self.fails("diff", path, path, "-p", "nobody")
        self.fails("diff", path, "--after", "100000")


if __name__ == "__main__":
    unittest.main()
