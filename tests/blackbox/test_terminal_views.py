# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""The views of a process and the keys of time in a real terminal: tmux types, and
reads what the screen says, on a search that leaks as it is watched."""

import os
import re
import subprocess
import unittest

from tests.blackbox.support import REPOSITORY, ROLLCALL, TILESEARCH, needs_preload, wait_for
from tests.blackbox.terminal import Terminal, TerminalCase, needs_tmux

EXAMPLE = os.path.join(REPOSITORY, "docs", "example.rct")


def monitor(case, *words):
    """The monitor, alone in a terminal."""
    return Terminal(case, 120, 40, ["env", "TERM=xterm-256color", ROLLCALL, *words])


@needs_tmux
@needs_preload
class Live(TerminalCase):
    def setUp(self):
        super().setUp()
        self.environment["ROLLCALL_RING_BYTES"] = "1048576"
        self.search = self.start([ROLLCALL, "run", "--label", "the search", "--", TILESEARCH, "--candidates", "100000",
                                  "--pause-ms", "50", "--leak", "pools", "--size", "64"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        wait_for(lambda: any(p["fields"].get("search.candidates_timed") for p in self.list()), "the search to run")
        self.terminal = monitor(self, "top", "-i", "100", "the search")
        self.terminal.wait(r"SEARCH +\d+ attempted")

    def attempted(self):
        return int(self.terminal.wait(r"SEARCH +(\d+) attempted").group(1))

    def test_every_view_shows_what_it_is_for(self):
        terminal = self.terminal
        terminal.wait(r"▲ working pools grow")
        terminal.type("Tab")
        terminal.wait(r"working pools  over linked candidates")
        terminal.wait(r"┤┊A explore")
        terminal.type("Tab")
        terminal.wait(r"# +CANDIDATE +PHASE +OUTCOME")
        terminal.wait(r"\d+ · \w+ +A explore +timed +[\d.]+ms +\+1 +\+\S+[KM]")
        terminal.type("Tab")
        terminal.wait(r"SLOT +LIVE +FREE")
        terminal.type("Tab")
        terminal.wait(r"OWNERS .* outlived their owner")
        terminal.type("Tab")
        terminal.wait(r"phase +A explore")
        terminal.wait(r"verdict +working pools grow")
        terminal.type("Tab")
        terminal.wait(r"^ HEAP ")
        terminal.type("BTab")
        terminal.wait(r"TIME +CAND WHAT")
        for digit, pattern in (("2", "over linked candidates"), ("4", "SLOT +LIVE"), ("1", "^ HEAP ")):
            terminal.type(digit)
            terminal.wait(pattern)
        terminal.type("?")
        terminal.wait("In a process")
        terminal.type("Escape")
        terminal.wait("^ HEAP ")
        terminal.type("Escape")
        terminal.wait(r"\d+ the search +live")

    def test_a_pause_stands_still_and_loses_nothing(self):
        terminal = self.terminal
        terminal.type("Space")
        terminal.wait(r"PAUSED  \d+s ago")
        paused = self.attempted()
        pid = self.list()[-1]["pid"]
        wait_for(lambda: self.listed(pid)["fields"]["search.candidates_attempted"] > paused + 5, "the search to go on")
        self.assertEqual(self.attempted(), paused)
        terminal.type("Right")  # what came meanwhile was taped
        terminal.type("]", "]", "]")
        wait_for(lambda: self.attempted() > paused, "the next candidates")
        terminal.type("Space")
        terminal.wait_gone("PAUSED")
        wait_for(lambda: self.attempted() > paused + 5, "the newest row")

    def test_steps_lead_back_through_what_the_ring_holds(self):
        terminal = self.terminal
        wait_for(lambda: self.attempted() > 25, "some candidates")
        terminal.type("[")
        terminal.wait(r"PAUSED  \d+s ago")
        before = self.attempted()
        for n in range(5):
            terminal.type("[")
        wait_for(lambda: self.attempted() <= before - 4, "candidates before")
        here = self.attempted()
        terminal.type("b", "1", "0", "Enter")
        terminal.wait(r"candidate +10 of")
        self.assertIn(self.attempted(), (10, 11))
        terminal.type("{")
        terminal.wait(r"no phase before this one|SEARCH +[01] attempted")
        terminal.type("b", "1", "s", "Enter")
        terminal.wait(r"00:00:0[01] / ")
        terminal.type("Left", "Left", "Right")
        terminal.resize(80, 24)
        terminal.wait(r"PAUSED  .*●")
        terminal.resize(120, 40)
        self.assertLess(self.attempted(), here)

    def test_a_mark_tells_what_has_changed_since(self):
        terminal = self.terminal
        terminal.type("'")
        terminal.wait("there is no mark: m sets one")
        terminal.type("m")
        terminal.wait("marked: ' shows")
        marked = self.attempted()
        wait_for(lambda: self.attempted() > marked + 5, "more candidates")
        terminal.type("'")
        terminal.wait("since mark")
        terminal.wait(r"working .* \+\d+")

    def test_enter_on_a_candidate_goes_there(self):
        terminal = self.terminal
        wait_for(lambda: self.attempted() > 15, "some candidates")
        terminal.type("3", "Space")
        terminal.wait("PAUSED")
        terminal.type("Down", "Down", "Down", "Down", "Down")
        line = terminal.wait(r"^ +(\d+) . \w+")
        newest = int(line.group(1))
        terminal.type("Enter")
        terminal.wait(r"^ +%d ●?.? ?" % (newest - 5))
        wait_for(lambda: int(terminal.wait(r"^ +(\d+) . \w+").group(1)) in (newest - 5, newest - 4), "that candidate")
        terminal.type("/", "t", "8", "Enter")
        terminal.type("s", "s", "s", "I", "\\", "x", "Enter")
        terminal.type("q")
        wait_for(lambda: self.terminal.run("list-sessions", check=False) == "", "the end of the monitor")


@needs_tmux
class Replay(TerminalCase):
    def test_the_example_plays_and_is_scrubbed(self):
        terminal = monitor(self, "replay", EXAMPLE)
        terminal.wait(r"■ 1x  example.rct  (\S+) / \1  candidate 120 of 120 .*│.*●")
        terminal.type("{")
        at_phase = int(terminal.wait(r"candidate +(?!120)(\d+) of 120").group(1))
        terminal.wait(r"phase B refine")
        terminal.type("{")
        terminal.wait(r"candidate +[0-] of 120|phase A explore")
        terminal.type("}")
        terminal.wait(r"candidate +%d of 120" % at_phase)
        terminal.type(",")
        terminal.wait_gone(r"phase B refine")
        terminal.type("]")
        terminal.wait(r"candidate +(%d|%d) of 120" % (at_phase, at_phase + 1))
        terminal.type(">", ">", ">", ">", "Space")
        terminal.wait(r"▶ 16x")
        terminal.wait(r"■ 16x .*candidate 120 of 120")
        terminal.type("b", "9", "9", "9", "Enter")
        terminal.wait("the trace ends before candidate 999")
        before, track = re.search(r"^(.*?)([━┈│●]+)", terminal.wait(r"^ ■.*$").group(0)).groups()
        x = len(before) + len(track) // 2 + 1
        terminal.run("send-keys", "-l", "\x1b[<0;%d;2M\x1b[<0;%d;2m" % (x, x))
        terminal.wait(r"■ 16x  example.rct  00:00:1[4-7] / ")
        terminal.type("2", "+", "x")
        terminal.wait(r"the last 1/2")
        terminal.type("Left")
        terminal.wait(r"■ 16x")
        terminal.type("q")
        wait_for(lambda: terminal.run("list-sessions", check=False) == "", "the end of the monitor")


if __name__ == "__main__":
    unittest.main()
