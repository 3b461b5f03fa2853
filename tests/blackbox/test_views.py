# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""Every view as text: of a live process and of its recording the same bytes, and
docs/example.rct at any point."""

import os
import unittest

from tests.blackbox.support import REPOSITORY, ROLLCALL, TILESEARCH, Case, needs_preload

EXAMPLE = os.path.join(REPOSITORY, "docs", "example.rct")
VIEWS = ("process", "trends", "candidates", "classes", "devices", "log")


class Text(Case):
    @needs_preload
    def test_a_view_is_the_same_live_and_replayed(self):
        search = self.run_command([ROLLCALL, "run", "--label", "the search", "--", TILESEARCH, "--candidates", "20",
                                   "--leak", "pools", "--quiet"], env=dict(self.environment, ROLLCALL_RING_BYTES="1048576"))
        self.assertEqual(search.returncode, 0, search.stderr)
        trace = self.file("search.rct")
        self.rollcall("record", "-o", trace, "the search", "-q")
        for view in VIEWS:
            for size in ("80x24", "120x40"):
                live = self.rollcall("top", "--once", "--view", view, "--size", size, "the search").stdout
                replayed = self.rollcall("replay", "--once", "--view", view, "--size", size, trace).stdout
                self.assertEqual(live, replayed, view)
                self.assertLessEqual(live.count("\n"), int(size.split("x")[1]))
                self.assertTrue(live.startswith(" the search "), live)

    def test_the_example_opens_at_its_end_and_anywhere(self):
        screen = self.rollcall("replay", "--once", "--size", "120x40", EXAMPLE).stdout
        self.assertIn("▲ working pools grow", screen)
        self.assertIn("SEARCH  120 attempted", screen)
        self.assertLess(os.path.getsize(EXAMPLE), 300000)
        screen = self.rollcall("replay", "--once", "--at", "60", EXAMPLE).stdout
        self.assertRegex(screen, r"SEARCH  6[01] attempted")
        screen = self.rollcall("replay", "--once", "--at", "2s", EXAMPLE).stdout
        self.assertIn("not enough data", screen)
        screen = self.rollcall("replay", "--once", "--at", "60", "--view", "candidates", EXAMPLE).stdout
        self.assertIn("     60 ", screen)
        self.assertNotIn("     70 ", screen)

    def test_views_in_ascii_are_ascii(self):
        for view in VIEWS:
            screen = self.rollcall("replay", "--once", "--view", view, EXAMPLE, env=dict(self.environment, LC_ALL="C"),
                                   text=False).stdout
            self.assertTrue(all(byte < 128 for byte in screen), view)

    def test_a_view_that_is_not_there_is_named_with_those_that_are(self):
        error = self.fails("replay", "--view", "tendrils", EXAMPLE, status=2)
        self.assertIn("there is no view tendrils: say overview, process, trends", error)
        error = self.fails("top", "--view", "trends")
        self.assertIn("say which by PID or LABEL", error)


if __name__ == "__main__":
    unittest.main()
