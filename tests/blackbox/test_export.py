# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""`rollcall export`: each format is read by something that is not ours, or held
to its rules line by line; what is unknown is never a number."""

import csv
import io
import os
import subprocess
import unittest

from tests.blackbox.exports import FORMATS, HOSTILE, ExportCase, check_trace_events
from tests.blackbox.prometheus import PROMTOOL, Prometheus, needs_prometheus, parse
from tests.blackbox.support import Script, needs_preload


class Tables(ExportCase):
    def test_an_exported_table_gives_the_same_verdicts(self):
        for name in ("g1", "g2", "g3", "g4", "g5a", "g5b", "g6", "g7", "g8"):
            with self.subTest(search=name):
                path = self.search(name)
                again = self.imported(self.export(path, "csv"), name=name)
                self.assertEqual(self.verdicts(again), self.verdicts(path))
                a, b = self.report(path)[0], self.report(again)[0]
                self.assertEqual(a["candidates"], b["candidates"])
                self.assertEqual(self.export(again, "csv"), self.export(path, "csv"))

    def test_unknown_is_an_empty_cell(self):
        path = self.search("g7")
        text = self.export(path, "csv")
        self.assertNotIn("18446744073709551615", text)
        self.assertEqual({row["device[0].used_bytes"] for row in self.rows(path, "--from", "2")}, {""})

    def test_a_table_has_candidates_phases_and_exact_numbers(self):
        path = self.imported("time_s,candidate,outcome,phase,queue\n0,,,warm,18446744073709551614\n1.5,x,,,\n2,x,timed,cold,3\n")
        rows = self.rows(path)
        self.assertEqual([(r["time_s"], r["candidate"], r["outcome"], r["phase"], r["app.queue"]) for r in rows],
                         [("0", "", "", "warm", "18446744073709551614"), (rows[1]["time_s"], "x", "", "warm", ""),
                          (rows[2]["time_s"], "x", "timed", "cold", "3")])
        self.assertAlmostEqual(float(rows[1]["time_s"]), 1.5, places=5)

    def test_fields_are_chosen_by_pattern(self):
        path = self.search("g1")
        header = self.export(path, "csv", "--fields", "device.used_bytes,census.live_*_pools").splitlines()[0].split(",")
        self.assertEqual(header[:4], ["time_s", "candidate", "phase", "outcome"])
        self.assertEqual(header[4:], ["census.live_working_pools", "census.live_constant_pools", "census.live_staging_pools",
                                      "census.live_unlabelled_pools", "device[0].used_bytes"])
        self.assertIn("nosuch.*", self.fails("export", path, "--format", "csv", "--fields", "heap.*,nosuch.*"))

    def test_a_part_is_between_times_or_candidates(self):
        path = self.search("g1")
        everything = self.rows(path)
        part = self.rows(path, "--from", "10s", "--to", "20s")
        self.assertEqual(part, [r for r in everything if 10 <= float(r["time_s"]) <= 20.000001])
        part = self.rows(path, "--from", "100", "--to", "103")
        ended = [r["candidate"] for r in part if r["outcome"]]
        self.assertEqual(ended, ["101", "102", "103"])
        self.assertEqual({k: v for k, v in part[0].items() if k not in ("candidate", "outcome")},
                         [{k: v for k, v in r.items() if k not in ("candidate", "outcome")}
                          for r in everything if (r["candidate"], r["outcome"] != "") == ("100", True)][0])
        self.assertIn("no row", self.fails("export", path, "--format", "csv", "--from", "9999"))
        self.assertEqual(len(self.rows(path, "--to", "9999")), len(everything))

    def test_thinning_keeps_the_rows_of_candidates(self):
        path = self.long_trace(1000)
        rows = self.rows(path, "--every", "10")
        self.assertEqual(len([r for r in rows if r["outcome"]]), 10)
        self.assertLess(len(rows), 115)
        rows = self.rows(path, "--every", "5s")
        plain = [float(r["time_s"]) for r in rows if not r["outcome"]]
        self.assertEqual(len(plain), 20)
        self.assertTrue(all(b - a > 4.5 for a, b in zip(plain, plain[1:])), plain)
        again = self.imported(self.export(path, "csv", "--every", "10"), name="again")
        self.assertEqual(self.report(again)[0]["candidates"]["timed"], 10)

    def test_thinning_takes_the_first_every_nth_and_the_last(self):
        path = self.imported("time_s,queue\n" + "".join("%d,%d\n" % (i, i) for i in range(24)))
        taken = [int(r["app.queue"]) for r in self.rows(path, "--every", "10")]
        self.assertEqual(taken, [0, 10, 20, 23])
        taken = [int(r["app.queue"]) for r in self.rows(path, "--every", "10s", "--from", "3s")]
        self.assertEqual(taken, [3, 10, 20, 23])

    @needs_preload
    def test_thinning_keeps_the_row_before_something_happens(self):
        script = Script(self, ROLLCALL_RING_BYTES=str(1 << 20), ROLLCALL_INTERVAL_MS="60000")
        for i in range(5):
            script.do("gauge depth %d" % i)
            script.do("flush")
        script.do("phase:next")
        script.do("gauge depth 5")
        script.do("flush")
        script.finish()
        path = self.file("t.rct")
        self.rollcall("record", "-q", "-o", path, str(script.pid))
        depths = [r["app.depth"] for r in self.rows(path, "--every", "100")]
        everything = [r["app.depth"] for r in self.rows(path)]
        self.assertIn("4", depths)
        self.assertEqual((depths[0], depths[-1]), (everything[0], everything[-1]))
        self.assertLess(len(depths), len(everything))

    def test_jsonl_has_an_object_for_each_row(self):
        path = self.search("g7")
        lines, rows = self.lines(path), self.rows(path)
        whole = [line for line in lines if "fields" in line]
        self.assertEqual(len(whole), len(rows))
        self.assertTrue(all(line["fields"]["device[0].used_bytes"] is None for line in whole[2:]))
        ended = [e for line in lines for e in line.get("events", []) if e["type"] == "candidate_end"]
        self.assertEqual([(e["text"], e["outcome"]) for e in ended],
                         [(r["candidate"], r["outcome"]) for r in rows if r["outcome"]])
        self.assertIsNone(lines[0]["pid"])
        self.assertEqual([w["time_s"] for w in whole], sorted(w["time_s"] for w in whole))

    def test_both_sides_are_pipes(self):
        path = self.search("g1")
        with open(path, "rb") as file:
            trace = file.read()
        for format in FORMATS:
            with self.subTest(format=format):
                piped = self.export("-", format, "-o", "-", input=trace, text=False)
                self.assertEqual(piped[4096:] if format == "trace" else piped,
                                 self.export(path, format, text=False)[4096 if format == "trace" else 0:])


class Cuts(ExportCase):
    def test_a_whole_cut_is_the_trace(self):
        path = self.search("g1")
        part = self.cut(path)
        self.assertEqual(self.report(part), self.report(path))
        for format in ("csv", "jsonl", "openmetrics", "perfetto"):
            self.assertEqual(self.export(part, format), self.export(path, format))

    def test_a_cut_between_candidates_says_what_the_whole_says_of_them(self):
        path = self.search("g1")
        part = self.cut(path, "--from", "50", "--to", "150")
        (process,) = self.report(part)
        self.assertEqual(process["lost"], 0)
        self.assertEqual(process["fields"]["search.candidates_attempted"] - process["fields"]["search.open_candidates"], 150)
        shape = {v["class"]: v["shape"] for v in process["verdicts"] if v["is_headline"]}
        self.assertEqual(shape["working_pools"], "growing")
        rows = self.rows(part)
        self.assertEqual([r["candidate"] for r in rows if r["outcome"]], [str(i) for i in range(51, 151)])

    def test_fields_that_were_not_chosen_are_unknown(self):
        part = self.cut(self.search("g1"), "--fields", "device.used_bytes,search.*")
        (process,) = self.report(part)
        self.assertIsNone(process["fields"]["census.live_working_pools"])
        self.assertGreater(process["fields"]["device[0].used_bytes"], 1 << 30)

    def test_a_thinned_cut_has_nothing_lost_and_its_labels(self):
        path = self.long_trace(5000)
        part = self.cut(path, "--every", "7")
        (process,) = self.report(part)
        self.assertEqual((process["lost"], process["candidates"]["timed"]), (0, 50))
        self.assertEqual([r["candidate"] for r in self.rows(part) if r["outcome"]], ["c%d" % i for i in range(50)])
        self.assertLess(os.path.getsize(part), os.path.getsize(path))


class Perfetto(ExportCase):
    def test_counters_phases_and_candidates_are_trace_events(self):
        path = self.search("g1")
        events, processes = check_trace_events(self, self.export(path, "perfetto"))
        self.assertEqual(list(processes.values()), ["stdin"])
        phases = [e["name"] for e in events if e["ph"] == "B" and e["cat"] == "phase"]
        self.assertEqual(phases, ["A", "B"])
        candidates = [e["name"] for e in events if e["ph"] == "B" and e["cat"] == "candidate"]
        self.assertEqual(len(candidates), 261)
        outcomes = [e["args"]["outcome"] for e in events if e["ph"] == "E" and "args" in e]
        self.assertEqual(outcomes.count("declined"), 134)
        used = [e["args"]["bytes"] for e in events if e["ph"] == "C" and e["name"] == "device[0].used_bytes"]
        rows = [int(r["device[0].used_bytes"]) for r in self.rows(path)]
        self.assertEqual(used, [v for i, v in enumerate(rows) if i == 0 or v != rows[i - 1]])

    def test_a_part_keeps_its_phase(self):
        events, _ = check_trace_events(self, self.export(self.search("g1"), "perfetto", "--from", "200"))
        self.assertEqual([e["name"] for e in events if e["ph"] == "B" and e["cat"] == "phase"], ["B"])

    def test_ends_without_begins_are_moments(self):
        events, _ = check_trace_events(self, self.export(self.long_trace(300), "perfetto"))
        self.assertEqual([e["name"] for e in events if e["ph"] == "i" and "outcome" in e["args"]], ["c0", "c1", "c2"])


class OpenMetrics(ExportCase):
    def test_metrics_follow_the_format_and_the_table(self):
        path = self.search("g1")
        families = parse(self.export(path, "openmetrics"))
        used = families["rollcall_device_used_bytes"]
        self.assertEqual((used["type"], used["unit"]), ("gauge", "bytes"))
        self.assertEqual(used["help"], "Device memory in use by everybody, as last observed")
        rows = self.rows(path)
        self.assertEqual([s[1] for s in used["samples"]], [float(r["device[0].used_bytes"]) for r in rows])
        self.assertEqual(used["samples"][0][0]["device"], "0")
        loaded = families["rollcall_census_modules_loaded"]
        self.assertEqual((loaded["type"], loaded["unit"]), ("counter", ""))
        phases = families["rollcall_search_phase"]["samples"]
        self.assertEqual({s[0]["value"] for s in phases}, {"A", "B"})

    def test_gauges_that_would_be_one_series_are_told_apart(self):
        path = self.imported("time_s,x,x_total,y,y_info\n0,1,2,3,4\n")
        text = self.export(path, "openmetrics", "--fields", "app.*")
        parse(text)
        series = [line.rsplit(" ", 2)[0] for line in text.splitlines() if not line.startswith("#")]
        self.assertEqual(len(series), len(set(series)))
        self.assertEqual({line.rsplit(" ", 2)[1] for line in text.splitlines() if line.startswith("rollcall_app_") and "captured" not in line},
                         {"1", "2", "3", "4"})

    def test_unknown_is_no_sample(self):
        families = parse(self.export(self.search("g7"), "openmetrics"))
        self.assertEqual(len(families["rollcall_device_used_bytes"]["samples"]), 2)
        self.assertNotIn("rollcall_residual_bytes", families)

    def test_a_clock_that_is_set_back_moves_no_sample(self):
        """C1: times go by the monotonic clock and the wall clock of the first row."""
        hour = 3600 * 10**9
        path = self.imported("time_s,self.realtime_offset_ns,queue\n" + "".join(
            "%d,%d,%d\n" % (i, 1700000000 * 10**9 + (0, -hour, 24 * hour)[i // 10 % 3], i) for i in range(60)))
        families = parse(self.export(path, "openmetrics"))
        times = [s[2] for s in families["rollcall_app_queue"]["samples"]]
        self.assertEqual(times, [1700000000 + i for i in range(60)])
        self.assertEqual(len({s[1] for s in families["rollcall_self_realtime_offset_seconds"]["samples"]}), 3)
        self.assertEqual([float(r["time_s"]) // 1 for r in self.rows(path)][-1], 58)

    def test_rows_of_one_millisecond_are_one_sample(self):
        path = self.imported("time_s,queue\n1.0000,1\n1.0002,2\n1.0004,3\n1.0052,4\n")
        samples = parse(self.export(path, "openmetrics", "--fields", "app.queue"))["rollcall_app_queue"]["samples"]
        self.assertEqual([(s[1], s[2]) for s in samples], [(3, 1.0), (4, 1.005)])

    def test_each_text_is_a_series(self):
        path = self.imported("time_s,device.name\n" + "".join("%d,card %d\n" % (i, i % 3) for i in range(9)))
        samples = parse(self.export(path, "openmetrics"))["rollcall_device_name"]["samples"]
        self.assertEqual([(s[0]["value"], s[2]) for s in samples], [("card %d" % (i % 3), i) for k in range(3) for i in range(k, 9, 3)])
        path = self.imported("time_s," + ",".join("device[%d].name" % n for n in range(2)) + "\n" +
                             "".join("%d,a%d,b%d\n" % (i, i % 2040, i % 2040) for i in range(2050)), name="many")
        self.assertEqual(len(parse(self.export(path, "openmetrics"))["rollcall_device_name"]["samples"]), 4100)

    def test_names_that_differ_in_spelling_only_stay_apart(self):
        path = self.imported("time_s,app.a.b,a_b,x_total,y_info,z_bytes\n0,1,2,3,4,5\n1,6,7,8,9,10\n")
        families = parse(self.export(path, "openmetrics", "--fields", "app.*"))
        both = families["rollcall_app_a_b"]["samples"]
        self.assertEqual({(s[0].get("field"), s[1]) for s in both}, {("a.b", 1), ("a.b", 6), (None, 2), (None, 7)})
        self.assertEqual({n for n in families if n.startswith("rollcall_app_") and "captured" not in n},
                         {"rollcall_app_a_b", "rollcall_app_x", "rollcall_app_y", "rollcall_app_z_bytes"})

    @needs_prometheus
    def test_a_real_prometheus_takes_it_in_and_answers(self):
        path = self.search("g1")
        text = self.file("g1.om")
        self.rollcall("export", path, "--format", "openmetrics", "-o", text)
        done = self.run_command([PROMTOOL, "tsdb", "create-blocks-from", "openmetrics", text, self.file("data")], text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        prometheus = Prometheus(self, self.file("data"))
        (labels, value), = prometheus.query("rollcall_census_live_working_pools", time=119.99)
        self.assertEqual((value, labels["label"]), (127, "stdin"))
        (_, most), = prometheus.query("max_over_time(rollcall_device_used_bytes[2m])", time=120)
        self.assertEqual(most, max(float(r["device[0].used_bytes"]) for r in self.rows(path)))
        (_, growth), = prometheus.query("increase(rollcall_census_contexts_created_total[100s])", time=110)
        self.assertGreater(growth, 50)
        prometheus.stop()


@needs_preload
class Processes(ExportCase):
    def test_several_processes_have_a_section_or_a_label_set_each(self):
        path = self.recorded()
        sections = self.export(path, "csv").split("\n\n")
        self.assertEqual(len(sections), 2)
        for section, pid, label in zip(sections, self.pids, ("first", "second")):
            self.assertRegex(section.split("\n")[0], r"\A# process %d [0-9a-f]{16} %s\Z" % (pid, label))
        rows = list(csv.DictReader(io.StringIO(sections[1].split("\n", 1)[1])))
        self.assertEqual(rows[-1]["census.live_working_pools"], "1")
        alone = self.export(path, "csv", "-p", "first")
        self.assertTrue(alone.startswith("time_s,"))
        self.assertEqual(self.report(self.imported(alone))[0]["candidates"]["timed"], 5)
        lines = self.lines(path)
        self.assertEqual({(line["pid"], line["label"]) for line in lines}, set(zip(self.pids, ("first", "second"))))
        families = parse(self.export(path, "openmetrics"))
        self.assertEqual({s[0]["label"] for s in families["rollcall_census_live_working_pools"]["samples"]}, {"first", "second"})
        events, processes = check_trace_events(self, self.export(path, "perfetto"))
        self.assertEqual(processes, dict(zip(self.pids, ("first", "second"))))
        opened = [e["args"]["outcome"] for e in events if e["ph"] == "E" and e["pid"] == self.pids[1] and "args" in e]
        self.assertEqual(opened, ["open"])
        self.assertIn("nosuch", self.fails("export", path, "--format", "csv", "-p", "nosuch"))

    def test_a_cut_of_a_recording_keeps_states_and_times(self):
        path = self.recorded()
        self.assertEqual(self.report(self.cut(path)), self.report(path))
        (only,) = self.report(self.cut(path, "-p", "second"))
        self.assertEqual((only["label"], only["state"]), ("second", "killed"))

    def test_candidates_that_are_open_at_once_are_told_apart(self):
        script = Script(self, ROLLCALL_LABEL="parallel")
        handles = [script.do("begin:same") for _ in range(3)]
        for handle, outcome in zip(handles[::-1], ("declined", "failed", "timed")):
            script.do("end %d %s" % (handle, outcome))
        script.candidate("same", "kept")
        script.finish()
        path = self.file("parallel.rct")
        self.rollcall("record", "-q", "-o", path, "parallel")
        rows = [(r["candidate"], r["outcome"]) for r in self.rows(path) if r["candidate"]]
        second, third = "same #%d" % handles[1], "same #%d" % handles[2]
        self.assertEqual(rows, [("same", ""), (second, ""), (third, ""), (third, "declined"), (second, "failed"),
                                ("same", "timed"), ("same", ""), ("same", "kept")])
        again = self.report(self.imported(self.export(path, "csv", "--fields", "host.rss_bytes")))[0]
        self.assertEqual({k: v for k, v in again["candidates"].items() if v and k != "phase"},
                         {"declined": 1, "failed": 1, "timed": 1, "kept": 1})
        events, _ = check_trace_events(self, self.export(path, "perfetto"))
        lanes = [e["args"]["name"] for e in events if e["name"] == "thread_name"]
        self.assertEqual(lanes, ["phases", "candidates", "candidates 2", "candidates 3"])
        begins = [e["tid"] for e in events if e["ph"] == "B"]
        self.assertEqual(begins, [2, 3, 4, 2])

    def test_times_are_of_the_wall_clock(self):
        path = self.recorded()
        rss = parse(self.export(path, "openmetrics"))["rollcall_host_rss_bytes"]["samples"]
        now = float(subprocess.run(["date", "+%s.%N"], stdout=subprocess.PIPE, text=True).stdout)
        self.assertTrue(all(now - 120 < s[2] <= now for s in rss))

    def test_hostile_names_are_escaped(self):
        path = self.recorded(label=HOSTILE, phase=HOSTILE, candidate=HOSTILE)
        for format in ("csv", "jsonl", "openmetrics", "perfetto"):
            text = self.export(path, format)
            for char in "\x1b\x7f\u202e":
                self.assertNotIn(char, text)
        shown = HOSTILE.replace("\x1b", "\ufffd").replace("\x7f", "\ufffd").replace("\u202e", "\ufffd")
        families = parse(self.export(path, "openmetrics"))
        self.assertIn(shown, {s[0]["label"] for s in families["rollcall_host_rss_bytes"]["samples"]})
        self.assertIn(shown, {s[0]["value"] for s in families["rollcall_search_phase"]["samples"]})
        rows = self.rows(path, "-p", str(self.pids[1]))
        self.assertEqual([r["candidate"] for r in rows if r["candidate"]], [shown])
        self.assertEqual(self.lines(path, "-p", str(self.pids[1]))[-1]["label"], HOSTILE)
        _, processes = check_trace_events(self, self.export(path, "perfetto"))
        self.assertIn(HOSTILE, processes.values())
        if not PROMTOOL:
            print("NOT TESTED: hostile names in promtool, which is not installed")
        else:
            with open(self.file("h.om"), "w") as file:
                file.write(self.export(path, "openmetrics"))
            done = self.run_command([PROMTOOL, "tsdb", "create-blocks-from", "openmetrics", self.file("h.om"), self.file("data")],
                                    text=True)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
