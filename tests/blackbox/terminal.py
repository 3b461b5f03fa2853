# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""A real terminal for tests: tmux types, clicks and resizes, and reads the screen."""

import itertools
import re
import shutil
import subprocess
import unittest

from tests.blackbox.support import LIMIT_S, Case, wait_for

TMUX = shutil.which("tmux")
needs_tmux = unittest.skipIf(TMUX is None, "needs tmux: the screens were NOT tested in a terminal")


class Terminal:
    """A terminal on a tmux server of its own, with `command` or a shell in it."""

    numbers = itertools.count()

    def __init__(self, case, width=80, height=24, command=None, **environment):
        self.socket = case.file("tmux-%d" % next(Terminal.numbers))
        env = dict(case.environment, XDG_CONFIG_HOME=case.file("config"), PS1="$ ", ENV="", HISTFILE="", **environment)
        for name in ("TMUX", "NO_COLOR", "COLORFGBG"):
            if name not in environment:
                env.pop(name, None)
        self.run("-f", "/dev/null", "-u", "new-session", "-d", "-x", str(width), "-y", str(height),
                 *(command or ["sh", "-i"]), env=env)
        case.terminals.append(self)
        if not command:
            self.wait(r"\$")

    def run(self, *words, check=True, **options):
        done = subprocess.run([TMUX, "-S", self.socket, *words], capture_output=True, text=True, timeout=LIMIT_S, **options)
        if check and done.returncode != 0:
            raise AssertionError("tmux %s: %s" % (words[0], done.stderr))
        return done.stdout

    def close(self):
        self.run("kill-server", check=False)

    def type(self, *keys):
        self.run("send-keys", *keys)

    def send(self, text):
        self.run("send-keys", "-l", text)

    def enter(self, line):
        self.send(line)
        self.type("Enter")

    def click(self, x, y, button=0):
        """A press and a release in the SGR form, at a cell counted from 0."""
        self.send("\x1b[<%d;%d;%dM" % (button, x + 1, y + 1))
        self.send("\x1b[<%d;%d;%dm" % (button, x + 1, y + 1))

    def text(self, styles=False):
        return self.run("capture-pane", "-p", *(["-e"] if styles else []))

    def lines(self):
        return self.text().split("\n")

    def resize(self, width, height):
        self.run("resize-window", "-x", str(width), "-y", str(height))

    def wait(self, pattern, what=None):
        """Waits until the screen matches; returns the match, whose string is the screen."""
        last = [""]

        def look():
            last[0] = self.text()
            return re.search(pattern, last[0], re.M)
        try:
            return wait_for(look, what or pattern)
        except AssertionError:
            raise AssertionError("waited for %r in vain; the screen is:\n%s" % (what or pattern, last[0]))

    def wait_gone(self, pattern):
        wait_for(lambda: not re.search(pattern, self.text(), re.M), "%r to go" % pattern)

    def pid_of(self, name):
        shell = int(self.run("display-message", "-p", "#{pane_pid}"))

        def look():
            with open("/proc/%d/task/%d/children" % (shell, shell)) as file:
                for pid in file.read().split():
                    with open("/proc/%s/comm" % pid) as comm:
                        if comm.read().strip() == name:
                            return int(pid)
            return None
        return wait_for(look, "%s in the terminal" % name)


class TerminalCase(Case):
    """Its terminals end before the folder with their sockets goes: a server that
    cannot be reached any more would live on, and the monitor in it."""

    def setUp(self):
        super().setUp()
        self.terminals = []

    def tearDown(self):
        for terminal in self.terminals:
            terminal.close()
        super().tearDown()
