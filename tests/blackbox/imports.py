# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""The searches of tests/prog/traces and census logs, for the tests of what is
imported, checked and compared."""

import csv
import os

from tests.blackbox.support import BUILD, REPOSITORY, Case

TRACES = os.path.join(BUILD, "tests", "prog", "traces")
PUBLISHED = os.path.join(REPOSITORY, "tests", "traces", "gh550-table.csv")


def census_line(label, working, working_mib, constant, constant_mib, contexts, released, loaded, unloaded, peak_mib=None):
    peak = "; peak %.1f MiB" % peak_mib if peak_mib is not None else ""
    return ("autotune: census after %s: pools %d live = %d working (%.1f MiB) + %d constant (%.1f MiB); %d allocated, 0 freed%s"
            " | contexts %d unreleased (%d created, %d released) | modules %d live (%d loaded, %d unloaded)\n"
            % (label, working + constant, working, working_mib, constant, constant_mib, working + constant, peak,
               contexts, contexts + released, released, loaded - unloaded, loaded, unloaded))


def published_readings():
    with open(PUBLISHED) as file:
        return [{name: float(cell) for name, cell in row.items()} for row in csv.DictReader(file)]


def published_log():
    """The eight readings of ocannl's issue 550 as its log prints them."""
    return "".join(census_line("F_preset[%d]" % row["candidate"], row["live_pools"] - 1, row["working_mib"], 1, 9.3,
                               row["live_contexts"], row["contexts_released"], row["modules_loaded"],
                               row["modules_unloaded"], row["device_mib"]) for row in published_readings())


class ImportCase(Case):
    def search(self, name, seed=1):
        """A search as a trace; imported once for each test."""
        path = self.file("%s-%d.rct" % (name, seed))
        if not os.path.exists(path):
            table = self.run_command([TRACES, name, str(seed)]).stdout
            self.rollcall("import", "-", "-q", "-o", path, input=table, text=False)
        return path

    def imported(self, text, *options, name="table"):
        if isinstance(text, str):
            text = text.encode()
        path = self.file(name + ".rct")
        self.rollcall("import", "-f", "-q", *options, "-", "-o", path, input=text, text=False)
        return path

    def headlines(self, path):
        """Of the only process: its headline verdicts by class."""
        (process,) = self.report(path)
        return {v["class"]: v for v in process["verdicts"] if v["is_headline"]}
