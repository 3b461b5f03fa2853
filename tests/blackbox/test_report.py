# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""`rollcall report` and `info`: figures, and traces that are damaged."""

import unittest

from tests.blackbox.support import Case, Script, needs_preload

OUTCOMES = ["declined", "link_failed", "non_dispatchable", "deduplicated", "failed", "timed", "kept"]


@needs_preload
class Report(Case):
    def setUp(self):
        super().setUp()
        script = Script(self, ROLLCALL_LABEL="the \x1b[7msearch")
        script.do("phase:A")
        for n, outcome in enumerate(OUTCOMES, 1):
            for i in range(n):
                script.candidate("%s %d" % (outcome, i), outcome)
        script.do("phase:B")
        for i in range(10):
            script.do("pool %d %d" % (i, 1 << 20))
            script.do("flush")
        for i in range(8):
            script.do("forget %d" % i)
        script.do("context")
        script.do("gauge queue.depth 41")
        script.do("flush")
        script.do("gauge queue.depth 3")
        script.do("flush")
        script.do("begin:the last\x1b[0m one")
        script.kill()
        self.pid = script.pid
        self.trace = self.file("t.rct")
        self.rollcall("record", "-q", "-o", self.trace, str(self.pid))

    def test_the_text_has_candidates_phases_and_classes(self):
        text = self.rollcall("report", self.trace).stdout
        self.assertNotIn("\x1b", text)
        self.assertRegex(text, r"(?m)^%d  the .*search  \(killed\)$" % self.pid)
        self.assertIn("29 attempted, 27 linked: 1 declined, 2 link_failed, 3 non_dispatchable, 4 deduplicated, 5 failed, 6 timed, 7 kept; 1 still open", text)
        self.assertRegex(text, r"last +begun: the last")
        self.assertRegex(text, r"A: 28 candidates in [0-9.]+ s")
        self.assertRegex(text, r"B: 1 candidate in [0-9.]+ s")
        self.assertRegex(text, r"(?m)^  working_pools +1 +10 +2 +\+1$")
        self.assertRegex(text, r"(?m)^  working_bytes .* 10\.0M +2\.00M +\+")
        self.assertRegex(text, r"(?m)^  contexts +[01] +1 +1 ")
        self.assertRegex(text, r"(?m)^  app\.queue\.depth +41 +41 +3 +-38$")
        self.assertNotIn("staging", text)
        self.assertNotIn("device[0]", text)

    def test_json_agrees_with_the_text(self):
        process, = self.report(self.trace)
        for n, outcome in enumerate(OUTCOMES, 1):
            self.assertEqual(process["candidates"][outcome], n)
        self.assertEqual(process["fields"]["census.live_working_pools"], 2)

    def test_info_says_what_the_trace_is(self):
        text = self.rollcall("info", self.trace).stdout
        self.assertRegex(text, r"1 process, [0-9.]+ s, .*, complete")
        self.assertRegex(text, r"blocks +[1-9]")
        self.assertIn(str(self.pid), text)

    def test_a_trace_cut_anywhere_gives_what_is_whole(self):
        with open(self.trace, "rb") as file:
            whole = file.read()
        path = self.file("cut.rct")
        rows_before = 0
        for cut in sorted(set(list(range(0, len(whole), max(1, len(whole) // 40))) + [len(whole) - 1])):
            with open(path, "wb") as file:
                file.write(whole[:cut])
            done = self.rollcall("report", path, status=None)
            with self.subTest(cut=cut):
                self.assertIn(done.returncode, (0, 1))
                if done.returncode == 0:
                    self.assertIn("incomplete", done.stdout)
                    rows = sum(int(part.split()[-1]) for part in done.stdout.split(" row")[:-1])
                    self.assertGreaterEqual(rows, rows_before)
                    rows_before = rows
                else:
                    self.assert_one_line(done.stderr)

    def test_a_trace_with_a_wrong_byte_is_read_around(self):
        with open(self.trace, "rb") as file:
            whole = file.read()
        path = self.file("wrong.rct")
        for at in range(0, len(whole), max(1, len(whole) // 60)):
            with open(path, "wb") as file:
                file.write(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:])
            done = self.rollcall("report", path, status=None)
            with self.subTest(at=at):
                self.assertIn(done.returncode, (0, 1))
                self.assertNotIn("\x1b", done.stdout)

    def test_replay_at_a_candidate_and_at_a_time(self):
        early = self.rollcall("replay", self.trace, "--once", "--at", "5", "--size", "100x30").stdout
        late = self.rollcall("replay", self.trace, "--once", "--size", "100x30").stdout
        self.assertNotEqual(early, late)
        self.rollcall("replay", self.trace, "--once", "--at", "0s")
        self.fails("replay", self.trace, "--once", "--at", "100000")
        self.assertTrue(all(len(line) <= 100 for line in late.splitlines()))


if __name__ == "__main__":
    unittest.main()
