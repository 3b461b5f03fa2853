# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""Traces of other versions: those of every version that is out, which must be
read for ever, and some that a later version might write."""

import glob
import json
import os
import unittest

from tests.blackbox import forge
from tests.blackbox.support import REPOSITORY, Case
from tests.blackbox.wire import UNKNOWN

OLD = sorted(glob.glob(os.path.join(REPOSITORY, "tests", "traces", "old", "*.rct")))
MS = 1024 * 1000
FIRST = 5000 * MS


class Old(Case):
    def assert_holds(self, actual, expected, where):
        """Later versions may add keys, and never change one."""
        if isinstance(expected, dict):
            for key, value in expected.items():
                self.assertIn(key, actual, where)
                self.assert_holds(actual[key], value, "%s.%s" % (where, key))
        elif isinstance(expected, list):
            self.assertEqual(len(actual), len(expected), where)
            for k, value in enumerate(expected):
                self.assert_holds(actual[k], value, "%s[%d]" % (where, k))
        else:
            self.assertEqual(actual, expected, where)

    def test_there_are_some(self):
        self.assertGreaterEqual(len(OLD), 2)

    def test_every_old_trace_is_read_as_it_was(self):
        for trace in OLD:
            with self.subTest(trace=os.path.basename(trace)):
                with open(trace[:-3] + "json") as file:
                    expected = json.load(file)
                self.assert_holds(self.report(trace), expected["report"], "report")
                self.assert_holds(json.loads(self.rollcall("info", "--json", trace).stdout), expected["info"], "info")
                with open(trace[:-3] + "csv") as file:
                    self.assertEqual(self.rollcall("export", "-q", "--format", "csv", trace).stdout, file.read())
                self.assertIn("whole:", self.rollcall("verify", trace).stdout)
                for verb in (["report"], ["info"], ["replay", "--once"], ["report", "--html", self.file("t.html")]):
                    self.rollcall(*verb, trace)


class Forged(Case):
    """What this version does not know is shown as the trace describes it."""

    def write(self, *parts):
        path = self.file("forged.rct")
        with open(path, "wb") as file:
            file.write(b"".join(parts))
        return path

    def schema(self):
        return (forge.section(0, "self") + forge.section(3, "host") + forge.section(200, "gpu", scope=9)
                + forge.schema_record(99, b"of a later version")
                + forge.field(0, "captured_at_ns", unit=3, kind=3, predictor=1, shift=10)
                + forge.field(3, "rss_bytes", label="rss", help_text="resident")
                + forge.field(200, "fancy_bytes", instance=1, label="fancy", help_text="Bytes of a fancy kind")
                + forge.field(200, "oddness", instance=1, unit=77, kind=66, label="odd", help_text="What is \x1b[7modd"))

    def newer(self):
        schema = self.schema()
        shifts = [10, 0, 0, 0]
        rows = [forge.row(1, 2 * k, [FIRST + k * MS, 1000 + k, 2000 + k, 3000 + k], shifts, len(schema),
                          events=[(4711, 5, 6, 1)], strings=[(1, b"of later")]) for k in range(40)]
        return [forge.header_page(minor=9, size=8192, compatible=1 << 40), forge.stream(1, schema, "from tomorrow", minor=7, compatible=1 << 50),
                forge.block(88, 1, b"something else")] + rows[:20] + [forge.block(89, 0, b"")] + rows[20:]

    def test_fields_of_a_later_version_are_shown(self):
        trace = self.write(*self.newer())
        process, = self.report(trace)
        self.assertEqual(process["fields"]["gpu[1].fancy_bytes"], 2039)
        self.assertEqual(process["fields"]["gpu[1].oddness"], 3039)
        self.assertEqual(process["fields"]["host.rss_bytes"], 1039)
        self.assertEqual(process["lost"], 0)
        info = json.loads(self.rollcall("info", "--json", trace).stdout)
        self.assertEqual(info["format"], "1.9")
        process, = info["processes"]
        self.assertEqual((process["rows"], process["events"], process["label"]), (40, 40, "from tomorrow"))
        odd = [f for f in process["schema"] if f["name"] == "gpu[1].oddness"][0]
        self.assertEqual((odd["kind"], odd["unit"], odd["is_known"], odd["label"]), ("?", "?", False, "odd"))
        text = self.rollcall("info", "--schema", trace).stdout
        self.assertRegex(text, r"gpu\[1\]\.fancy_bytes +gauge +bytes +Bytes of a fancy kind")
        self.assertNotIn("\x1b", text)
        self.assertIn("from tomorrow", self.rollcall("report", trace).stdout)
        self.assertIn("from tomorrow", self.rollcall("replay", "--once", trace).stdout)
        table = self.rollcall("export", "-q", "--format", "csv", trace).stdout.splitlines()
        self.assertIn("gpu[1].fancy_bytes", table[0])
        self.rollcall("report", "--html", self.file("t.html"), trace)

    def test_verify_says_no_more_than_that_it_was_cut_off(self):
        text = self.rollcall("verify", self.write(*self.newer()), status=1).stdout
        self.assertEqual(text.count("damaged at"), 1)
        self.assertIn("no trailer", text)

    def test_a_pipe_of_a_later_version_too(self):
        with open(self.write(*self.newer()), "rb") as file:
            done = self.rollcall("report", "--json", "-", stdin=file)
        self.assertEqual(json.loads(done.stdout)[0]["fields"]["gpu[1].fancy_bytes"], 2039)

    def test_a_growth_of_fields_nobody_knows(self):
        schema = self.schema()
        more = schema + forge.field(200, "later_bytes", instance=2)
        parts = [forge.header_page(), forge.stream(1, schema, "grows"),
                 forge.row(1, 0, [FIRST, 1, 2, 3], [10, 0, 0, 0], len(schema)), forge.growth(1, more, len(schema)),
                 forge.row(1, 1, [FIRST + MS, 4, 5, 6, 7], [10, 0, 0, 0, 0], len(more))]
        process, = self.report(self.write(*parts))
        self.assertEqual(process["fields"]["gpu[2].later_bytes"], 7)
        # Without its begin a growth says nothing, and what rests on it is lost.
        process, = self.report(self.write(*parts[:3], forge.growth(1, more + forge.field(200, "x", instance=3), len(more)), parts[4]))
        self.assertEqual(process["fields"]["host.rss_bytes"], 1)

    def test_what_must_be_refused_is(self):
        rest = self.newer()[1:]
        self.assertIn("2.0", self.fails("report", self.write(forge.header_page(major=2, minor=0), *rest)))
        self.assertIn("bit 3", self.fails("report", self.write(forge.header_page(incompatible=8), *rest)))
        for verb in (["info"], ["replay", "--once"], ["report", "--html", self.file("t.html")]):
            self.fails(*verb, self.write(forge.header_page(major=2, minor=0), *rest))
        self.fails("verify", self.write(forge.header_page(major=2, minor=0), *rest), status=2)

    def test_a_clock_that_jumps_is_no_slope(self):
        """C1: the monotonic clock stands still in a suspend, or goes on an hour; the wall clock is not asked."""
        schema = self.schema()
        times = [FIRST + k * MS for k in range(60)] + [FIRST + (3600000 + k) * MS for k in range(60)]
        parts = [forge.header_page(), forge.stream(1, schema, "sleeps")]
        parts += [forge.row(1, k, [at, 10000 + (k % 2), UNKNOWN, UNKNOWN], [10, 0, 0, 0], len(schema)) for k, at in enumerate(times)]
        trace = self.write(*parts)
        process, = self.report(trace)
        shapes = {(v["class"], v["axis"]): v["shape"] for v in process["verdicts"]}
        self.assertNotIn(shapes[("rss_bytes", "time")], ("growing", "stepping", "draining"))
        for verb in (["report"], ["info"], ["replay", "--once"], ["report", "--html", self.file("t.html")]):
            self.rollcall(*verb, trace)


if __name__ == "__main__":
    unittest.main()
