# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""The monitor in a real terminal: tmux types, clicks, resizes and stops it, and
reads what the screen says."""

import os
import pty
import signal
import subprocess
import unicodedata
import unittest

from tests.blackbox.support import LIMIT_S, ROLLCALL, TILESEARCH, Case, Script, needs_preload, wait_for
from tests.blackbox.terminal import Terminal, TerminalCase, needs_tmux


@needs_tmux
@needs_preload
class Monitor(TerminalCase):
    def setUp(self):
        super().setUp()
        self.scripts = []

    def program(self, label, **environment):
        script = Script(self, ROLLCALL_LABEL=label, **environment)
        script.do("gauge depth 7")
        script.do("flush")
        self.scripts.append(script)
        return script

    def monitor(self, *words, term="xterm-256color", width=80, height=24, **environment):
        terminal = Terminal(self, width, height, **environment)
        terminal.enter("TERM=%s %s %s; echo status=$?" % (term, ROLLCALL, " ".join(words)))
        return terminal

    def leaking_search(self, candidates=100000):
        return self.start([ROLLCALL, "run", "--label", "the search", "--", TILESEARCH, "--candidates", str(candidates),
                           "--pause-ms", "20", "--leak", "pools", "--size", "16"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL)

    def test_the_empty_list_teaches_and_fills_by_itself(self):
        terminal = self.monitor("top", "-i", "100")
        screen = terminal.wait("No process publishes here").string
        self.assertIn("rollcall run -- CMD", screen)
        self.program("newcomer")
        terminal.wait(r"\d+ newcomer +live")
        self.scripts[0].kill()
        terminal.wait(r"\d+ newcomer +killed")
        terminal.type("H")
        terminal.wait("no dead ×")
        self.assertNotIn("newcomer", terminal.text())
        terminal.type("H", "q")
        terminal.wait("status=0")

    def test_rows_are_sorted_found_filtered_and_opened(self):
        for label in ("alpha", "beta", "gamma"):
            self.program(label)
        terminal = self.monitor()  # no verb: the same as top
        terminal.wait("alpha[^$]*beta[^$]*gamma")
        terminal.type("s")  # verdict, and then the first column
        terminal.wait("PID▴|PID▾")
        terminal.type("s", "I")
        terminal.wait("gamma[^$]*beta[^$]*alpha")
        terminal.type("/")
        terminal.enter("BET")
        terminal.wait(r"^ \d+ beta +user")  # the selected one, in full
        terminal.type("\\")
        terminal.enter("alp")
        terminal.wait(r"\\ alp ×")
        self.assertNotIn("gamma", terminal.text())
        terminal.type("Enter")
        screen = terminal.wait("APPLICATION|depth").string
        self.assertIn("alpha", screen.split("\n")[0])
        terminal.type("Escape")
        terminal.wait(r"\\ alp ×")
        terminal.type("Escape")  # never quits
        terminal.type("?")
        terminal.wait("In a list")
        terminal.type("?", "\\", "C-u")
        terminal.wait("show only:")
        for _ in range(3):
            terminal.type("BSpace")
        terminal.type("Enter")
        terminal.wait("gamma")
        terminal.type("q")
        terminal.wait("status=0")

    def test_a_tree_shows_children_below_their_parents(self):
        self.start([ROLLCALL, "run", "--children", "all", "--label", "family", "--", "sh", "-c", "sleep 1000 & sleep 1001 & wait"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        terminal = self.monitor("top", "-i", "100")
        terminal.wait("3 live")
        terminal.type("t")
        screen = terminal.wait("Σ 3 together").string
        self.assertRegex(screen, r"├ [^\n]*\n[^\n]*└ ")

    def test_the_mouse_sorts_selects_opens_and_presses_keys(self):
        for label in ("alpha", "beta"):
            self.program(label)
        terminal = self.monitor()
        terminal.wait("beta")
        terminal.click(10, 1)  # LABEL
        terminal.wait("LABEL▾")
        terminal.click(10, 1)
        terminal.wait("LABEL▴")
        terminal.wait("beta[^$]*alpha")
        terminal.click(20, 3)
        terminal.wait(r"^ \d+ alpha +user")
        terminal.click(20, 3)
        terminal.wait("Esc back")
        terminal.click(2, 23)
        terminal.wait("Enter open")
        terminal.click(20, 3, button=64)  # the wheel, up
        terminal.wait(r"^ \d+ beta +user")
        terminal.type("M")
        terminal.wait("the terminal's, to select text")

    def test_a_leaking_search_is_named(self):
        self.leaking_search()
        terminal = self.monitor("top", "-i", "100")
        terminal.wait(r"the search +live .*▲ working")
        terminal.type("Enter")
        terminal.wait(r"▲ working (pools|bytes) grow[^$]*SEARCH +\d+ attempted")

    def test_what_happens_during_a_pause_is_there_after_it(self):
        script = self.program("the search")
        for n in range(7):
            script.candidate("before %d" % n, "timed")
        script.do("flush")
        recorder = self.start_rollcall("record", "-q", "-o", self.file("t.rct"), str(script.pid))
        terminal = self.monitor("top", "-i", "100", "'the search'")
        terminal.wait("SEARCH +7 attempted")
        terminal.type("Space")
        terminal.wait("PAUSED")
        for n in range(30):
            script.candidate("meanwhile %d" % n, "timed")
        script.do("flush")
        wait_for(lambda: self.listed(script.pid)["fields"]["search.candidates_attempted"] == 37, "the candidates")
        self.assertRegex(terminal.text(), "SEARCH +7 attempted")
        terminal.type("z")
        screen = terminal.wait("SEARCH +37 attempted").string
        self.assertNotIn("PAUSED", screen)
        self.assertIn("lost 0", screen)
        script.finish()
        recorder.wait(LIMIT_S)
        self.assertEqual(self.report(self.file("t.rct"))[0]["candidates"]["timed"], 37)

    def test_a_storm_of_resizes_while_a_search_runs(self):
        self.leaking_search()
        self.program("beside")
        terminal = self.monitor("top", "-i", "20")
        terminal.wait("the search")
        sizes = [(1, 1), (200, 60), (2, 50), (39, 12), (40, 11), (40, 12), (200, 1), (1, 60), (80, 24), (41, 13), (120, 40),
                 (10, 3), (100, 30), (60, 20), (199, 59), (3, 3)]
        for keys in ("Escape", "Enter", "Tab", "?"):
            terminal.type(keys)
            for width, height in sizes:
                terminal.resize(width, height)
        terminal.resize(39, 12)
        terminal.wait("rollcall needs 40x12\n *this is 39x12")
        terminal.resize(80, 24)
        terminal.type("?", "Escape", "Escape")
        terminal.wait("Enter open")
        terminal.type("q")
        terminal.wait("status=0")

    def test_suspended_and_brought_back(self):
        self.program("alpha")
        terminal = self.monitor()
        terminal.wait("alpha")
        terminal.type("C-z")
        terminal.wait_gone("Enter open")
        terminal.resize(100, 30)
        terminal.enter("fg")
        terminal.wait(r"alpha[^$]*Enter open")
        self.assertEqual(len(terminal.lines()), 31)
        terminal.type("q")
        terminal.wait(r"rollcall *\n\$ *$")

    def test_signals_give_the_terminal_back(self):
        self.program("alpha")
        terminal = Terminal(self)
        terminal.enter("cd %s; stty -g > before; trap : INT; echo ready" % self.files)
        terminal.wait("ready$")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            terminal.enter("clear; TERM=xterm-256color %s; echo status=$?" % ROLLCALL)
            terminal.wait("Enter open")
            os.kill(terminal.pid_of("rollcall"), number)
            terminal.wait("status=%d" % (128 + number))
            terminal.enter("stty -g | cmp - before && echo same")
            terminal.wait("^same")

    def test_a_closed_terminal_leaves_no_process(self):
        self.program("alpha")
        terminal = self.monitor()
        terminal.wait("alpha")
        pid = terminal.pid_of("rollcall")
        terminal.close()
        wait_for(lambda: not os.path.exists("/proc/%d" % pid), "the monitor to end with its terminal")

    def test_no_colour_where_none_is_wanted(self):
        self.program("alpha")
        for term, environment in (("xterm-256color", {"NO_COLOR": "1"}), ("vt100", {})):
            terminal = self.monitor("top", term=term, **environment)
            terminal.wait("alpha")
            self.assertNotRegex(terminal.text(styles=True), r"\x1b\[[0-9;]*[34][0-8][;m]")
            terminal.close()
        terminal = self.monitor("top")
        terminal.wait("alpha")
        dark = terminal.text(styles=True)
        self.assertRegex(dark, r"\x1b\[[0-9;]*38;5;")
        terminal.type("c", "c")
        terminal.wait("for a light background")
        terminal.type("k")  # the note goes
        terminal.wait("Enter open")
        self.assertNotEqual(dark.split("\n")[1], terminal.text(styles=True).split("\n")[1])
        self.assertNotEqual(dark.split("\n")[0], terminal.text(styles=True).split("\n")[0])

    def test_labels_of_any_script_keep_their_columns(self):
        for label in ("日本語のラベル長い長い長い", "e\u0301combining", "plain"):
            self.program(label)
        terminal = self.monitor(width=120)
        screen = terminal.wait("plain[^$]*Enter open").string
        rows = [line for line in screen.split("\n") if " live " in line and "dead" not in line]

        def column(row):
            before = row[:row.index(" live ")]
            return sum(2 if unicodedata.east_asian_width(ch) == "W" else 0 if unicodedata.combining(ch) else 1 for ch in before)
        self.assertEqual(len({column(row) for row in rows}), 1, screen)

    def test_a_locale_without_utf8_gets_ascii(self):
        self.program("λ alpha")
        terminal = self.monitor(LC_ALL="C")
        screen = terminal.wait("\\? alpha|\\?\\? alpha").string
        self.assertTrue(screen.isascii(), screen)

    def test_settings_are_written_on_request_alone_and_used_again(self):
        config = os.path.join(self.file("config"), "rollcall", "config")
        self.program("alpha")
        terminal = self.monitor(width=160)
        terminal.wait("alpha")
        terminal.type("e", "s", "q")
        terminal.wait("status=0")
        self.assertFalse(os.path.exists(config))
        terminal.enter("clear; TERM=xterm-256color %s; echo status=$?" % ROLLCALL)
        terminal.wait("alpha")
        terminal.type("s", "s", "W")
        terminal.wait("written: ")
        terminal.type("q")
        terminal.wait("status=0")
        with open(config) as file:
            self.assertIn("\nsort = LABEL\n", file.read())
        terminal.enter("clear; TERM=xterm-256color %s; echo status=$?" % ROLLCALL)
        terminal.wait("LABEL▾")
        terminal.type("q")
        terminal.wait("status=0")
        with open(config, "w") as file:
            file.write("units = si\nsort = nonsense\n")
        terminal.enter("clear; TERM=xterm-256color %s; echo status=$?" % ROLLCALL)
        terminal.wait(r"config:2: sort is not 'nonsense' but PID")
        terminal.wait("VERDICT▾")


@needs_preload
class WithoutTerminal(Case):
    def test_a_terminal_that_cannot_do_it_gets_text_or_advice(self):
        for term in (None, "dumb", "no-such-terminal"):
            environment = dict(self.environment)
            environment.pop("TERM", None)
            if term:
                environment["TERM"] = term
            main, side = pty.openpty()
            try:
                done = self.run_command([ROLLCALL, "top"], env=environment, stdin=side, stdout=side)
                said = os.read(main, 65536).decode() if self.readable(main) else ""
            finally:
                os.close(main)
                os.close(side)
            if term == "dumb":  # the same screen, as text
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertIn("No process publishes here", said)
                self.assertNotIn("\x1b", said)
                continue
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr.decode(), r"\Arollcall[^\n]*TERM[^\n]*--once[^\n]*\n\Z")

    def test_a_pipe_gets_the_screen_as_text(self):
        script = Script(self, ROLLCALL_LABEL="alpha")
        script.do("flush")
        for environment in ({"TERM": "dumb"}, {"TERM": "dumb", "LC_ALL": "C"}):
            done = self.rollcall(env=dict(self.environment, **environment))
            self.assertIn("alpha", done.stdout)
            self.assertNotIn("\x1b", done.stdout)
            if "LC_ALL" in environment:
                self.assertTrue(done.stdout.isascii())

    def test_a_name_that_nobody_has_is_named(self):
        self.assertIn("'999999'", self.fails("top", "999999", "--once"))

    def test_once_runs_the_command_of_on(self):
        witness = self.file("witness")
        self.start([ROLLCALL, "run", "--", TILESEARCH, "--candidates", "100000", "--pause-ms", "5", "--leak", "pools", "--size", "16"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

        def look():
            self.rollcall("top", "--once", "--on", "growing=echo $ROLLCALL_VERDICT_CLASS >> " + witness)
            return os.path.exists(witness)
        wait_for(look, "the command of --on")


if __name__ == "__main__":
    unittest.main()
