# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""Exports, read back."""

import csv
import io
import json

from tests.blackbox.imports import ImportCase
from tests.blackbox.support import Script

FORMATS = ("csv", "jsonl", "openmetrics", "perfetto", "trace")
HOSTILE = 'a"b\\c,d\x1b[31m\u202e<&>{}=\x7f\'' + "\u00e9"


class ExportCase(ImportCase):
    def export(self, path, format, *options, **more):
        done = self.rollcall("export", path, "--format", format, *options, **more)
        self.assertEqual(done.stderr, "" if more.get("text", True) else b"")
        return done.stdout

    def rows(self, path, *options):
        return list(csv.DictReader(io.StringIO(self.export(path, "csv", *options))))

    def lines(self, path, *options):
        return [json.loads(line) for line in self.export(path, "jsonl", *options).splitlines()]

    def cut(self, path, *options):
        part = self.file("part.rct")
        self.rollcall("export", path, "--format", "trace", "-f", "-o", part, *options)
        self.assertIn("complete", self.rollcall("info", part).stdout.split("\n")[0])
        self.assertNotIn("incomplete", self.rollcall("info", part).stdout)
        return part

    def verdicts(self, path):
        (process,) = self.report(path)
        return {(v["class"], v["axis"]): (v["shape"], round(v["slope"] or 0, 6), v["points"]) for v in process["verdicts"]}

    def long_trace(self, n_rows):
        text = ["time_s,candidate,outcome,device.used_bytes,queue,host.rss_bytes\n"]
        for i in range(n_rows):
            end = i % 100 == 99
            text.append("%.3f,%s,%s,%d,%d,%d\n" % (i / 10, "c%d" % (i // 100) if end else "", "timed" if end else "",
                                                   (i * 7919) % 1000003, i % 17, 1 << 20))
        return self.imported("".join(text), name="long-%d" % n_rows)

    def recorded(self, **environment):
        """A trace of two processes, of which one was killed with a candidate open."""
        first, second = Script(self, ROLLCALL_LABEL="first"), Script(self, ROLLCALL_LABEL=environment.get("label", "second"))
        first.do("phase:warm")
        first.do("search 5")
        second.do("pool 1 77")
        second.do("phase:" + environment.get("phase", "cold"))
        second.do("begin:" + environment.get("candidate", "never ended"))
        second.do("flush")
        first.finish()
        second.kill()
        path = self.file("two.rct")
        self.rollcall("record", "-q", "-o", path, str(first.pid), str(second.pid))
        self.pids = (first.pid, second.pid)
        return path


def check_trace_events(case, text):
    """Chrome's Trace Event Format: every event has its keys, times are numbers,
    slices of a thread nest, counters are numbers."""
    document = json.loads(text)
    case.assertIsInstance(document["traceEvents"], list)
    open_slices, processes, last = {}, {}, {}
    for event in document["traceEvents"]:
        case.assertIn(event["ph"], "MCBEi")
        case.assertIsInstance(event["pid"], int)
        case.assertLess(event["pid"], 1 << 31)
        case.assertIsInstance(event["tid"], int)
        case.assertIsInstance(event["name"], str)
        if event["ph"] == "M":
            case.assertIn(event["name"], ("process_name", "process_labels", "thread_name"))
            case.assertTrue(all(isinstance(v, str) for v in event["args"].values()))
            if event["name"] == "process_name":
                case.assertNotIn(event["pid"], processes)
                processes[event["pid"]] = event["args"]["name"]
            continue
        case.assertIn(event["pid"], processes)
        case.assertIsInstance(event["ts"], (int, float))
        thread = event["pid"], event["tid"]
        if event["ph"] == "C":
            case.assertTrue(event["args"] and all(isinstance(v, int) and 0 <= v < 2**64 - 1 for v in event["args"].values()))
            continue
        case.assertGreaterEqual(event["ts"], last.get(thread, 0))
        last[thread] = event["ts"]
        if event["ph"] == "B":
            open_slices.setdefault(thread, []).append(event["name"])
        elif event["ph"] == "E":
            open_slices[thread].pop()
        else:
            case.assertIn(event["s"], "gpt")
    case.assertFalse(any(open_slices.values()), "slices that never end")
    return document["traceEvents"], processes
