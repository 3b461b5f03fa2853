# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""The live search and its verdicts: what leaks is named, what does not is not,
and a replay says what the live screen said, to the last digit."""

import json
import os
import subprocess
import threading
import unittest

from tests.blackbox.support import LIBRARY, ROLLCALL, SOAK, TILESEARCH, Case, needs_preload, wait_for

GROWING = ("growing", "stepping")
KINDS = {
    "pools": ("working_pools", "working_bytes"),
    "contexts": ("contexts",),
    "modules": ("modules",),
    "failed": ("working_pools", "working_bytes"),
}
KEYS = {"class", "axis", "shape", "slope", "slope_low", "slope_high", "unit", "points", "window", "low", "high",
        "by_outcome", "share", "forecast_candidates", "forecast_seconds", "sentence"}
OUTCOMES = {"declined", "link_failed", "non_dispatchable", "deduplicated", "failed", "timed", "kept", "between"}


def growing(process):
    """Classes that grow, ranked."""
    return [v for v in process["verdicts"] if v["is_headline"] and v["shape"] in GROWING]


def is_census(name):
    return not name.startswith(("app.", "heap_", "rss_", "residual_", "device_used"))


class Verdicts(Case):
    def search(self, leak, candidates, name="t.rct"):
        """Records a search and returns the trace."""
        trace = self.file(name)
        self.run_command([ROLLCALL, "run", "--record", trace, "--", TILESEARCH, "--quiet", "--leak=" + leak,
                          "--candidates=%d" % candidates, "--size=64", "--rank=model"], timeout=300, check=True)
        return trace

    def replay(self, trace, at=None):
        words = ["replay", "--json", trace] + (["--at", str(at)] if at else [])
        return json.loads(self.rollcall(*words).stdout)[0]

    def assert_leak_is_found(self, leak):
        """In one search of 100: by candidate 60 its class ranks first, and no
        census class of another kind has been called growing until then."""
        trace = self.search(leak, 100)
        found = None
        for at in range(15, 61, 5):
            names = growing(self.replay(trace, at))
            others = [v["class"] for v in names if is_census(v["class"]) and v["class"] not in KINDS[leak]]
            self.assertEqual(others, [], "at %d" % at)
            if names and names[0]["class"] in KINDS[leak]:
                found = found or at
        self.assertIsNotNone(found, "%s was not first by candidate 60" % leak)
        process = self.replay(trace, 60)
        self.assertIn(growing(process)[0]["class"], KINDS[leak])
        return growing(process)[0], trace

    @needs_preload
    def test_leaking_pools_come_first(self):
        verdict, trace = self.assert_leak_is_found("pools")
        self.assertEqual(verdict["class"], "working_pools")
        self.assertAlmostEqual(verdict["slope"], 1.0, delta=0.05)
        self.assertIn("so far", verdict["sentence"])
        self.assert_report_ranks_it(trace, "working pools")
        self.assert_the_contract_is_kept(trace)

    @needs_preload
    def test_leaking_contexts_come_first(self):
        verdict, trace = self.assert_leak_is_found("contexts")
        self.assertEqual(verdict["class"], "contexts")
        self.assert_report_ranks_it(trace, "contexts")

    @needs_preload
    def test_leaking_modules_come_first(self):
        self.assert_leak_is_found("modules")

    @needs_preload
    def test_a_leak_of_failed_candidates_is_blamed_on_them(self):
        verdict, trace = self.assert_leak_is_found("failed")
        self.assertEqual(verdict["class"], "working_pools")
        self.assertEqual(verdict["blame"], "failed")
        self.assertIn("after failed candidates only", verdict["sentence"])
        split = verdict["by_outcome"]
        self.assertGreater(split["failed"], 0.8 * sum(v for v in split.values() if v and v > 0 and v != split["timed"]))
        self.assertIn("after failed candidates only", self.rollcall("report", trace).stdout)

    @needs_preload
    def test_a_search_that_gives_everything_back_is_quiet(self):
        trace = self.search("none", 300 if SOAK else 120)
        self.assertEqual([v["class"] for v in growing(self.report(trace)[0]) if is_census(v["class"])], [])
        self.assertEqual([v["class"] for v in growing(self.replay(trace)) if is_census(v["class"])], [])
        self.assertNotIn("▲ working", self.rollcall("report", trace).stdout)

    @needs_preload
    def test_live_and_replay_say_the_same_to_the_last_digit(self):
        trace = self.file("t.rct")
        environment = dict(self.environment, LD_PRELOAD=LIBRARY)
        self.start([TILESEARCH, "--quiet", "--leak=pools", "--candidates=30", "--size=64", "--rank=model"], env=environment,
                   stdout=subprocess.DEVNULL).wait()
        wait_for(lambda: self.list() and self.list()[0]["state"] in ("exited", "killed"), "the search to be over")
        live, = self.list()
        self.rollcall("record", "-q", "-o", trace, str(live["pid"]))
        self.assertEqual(live["verdicts"], self.replay(trace)["verdicts"])
        self.assertEqual(json.loads(self.rollcall("top", "--json").stdout)[0]["verdicts"], live["verdicts"])
        self.assertTrue(growing(live))
        for size in ("80x24", "120x40"):
            self.assertEqual(self.rollcall("top", "--once", "--size", size, str(live["pid"])).stdout,
                             self.rollcall("replay", "--once", "--size", size, trace).stdout)

    def assert_report_ranks_it(self, trace, name):
        lines = [line for line in self.rollcall("report", trace).stdout.splitlines() if line.startswith("  ▲")]
        self.assertTrue(lines[0].startswith("  ▲ %s grow: +" % name), lines)
        ascii_text = self.rollcall("report", trace, env=dict(self.environment, LC_ALL="C")).stdout
        self.assertIn("  ^ %s grow: +" % name, ascii_text)
        self.assertTrue(ascii_text.isascii())

    def assert_the_contract_is_kept(self, trace):
        for process in (self.replay(trace), self.report(trace)[0]):
            for verdict in process["verdicts"]:
                self.assertEqual(KEYS - set(verdict), set())
                self.assertEqual(set(verdict["by_outcome"]), OUTCOMES)
                if verdict["shape"] == "not_enough_data":
                    self.assertIsNone(verdict["slope"])
        tight = self.rollcall("replay", "--json", "--capacity", "device=64MiB", trace, "--at", "60").stdout
        verdict = growing(json.loads(tight)[0])[0]
        self.assertEqual(verdict["capacity_bytes"], 64 << 20)
        self.assertGreater(verdict["forecast_candidates"], 0)
        self.assertIn("64.0 MiB reached in about", verdict["sentence"])
        self.fails("report", "--capacity", "device", trace, status=2)

    @needs_preload
    def test_a_command_is_run_when_a_class_turns(self):
        told = self.file("told")
        environment = dict(self.environment, LD_PRELOAD=LIBRARY)
        command = "echo \"$ROLLCALL_VERDICT_CLASS: $ROLLCALL_VERDICT_SENTENCE\" >> " + told
        top = self.start_rollcall("top", "--json", "--batch", "100000", "--interval", "50", "--on", "growing=" + command)
        # Only then the search, and one that does not end: on a busy machine a short one is over before it is seen.
        self.assertEqual(json.loads(top.stdout.readline()), [])
        self.start([TILESEARCH, "--quiet", "--leak=pools", "--candidates=4000", "--size=64", "--rank=model"], env=environment,
                   stdout=subprocess.DEVNULL)
        drain = threading.Thread(target=lambda: [None for _ in top.stdout])
        drain.start()

        def pools():
            if not os.path.exists(told):
                return []
            with open(told, encoding="utf-8") as file:
                return [line for line in file if line.startswith("working_pools: ")]
        wait_for(pools, "the command")
        top.kill()
        drain.join()
        lines = pools()
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], r"working pools grow so far: \+1.00 per (linked|attempted) candidate")
        self.fails("top", "--once", "--on", "shrinking=true", status=2)


if __name__ == "__main__":
    unittest.main()
