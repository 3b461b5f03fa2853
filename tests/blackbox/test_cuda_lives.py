# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""What a process on the fake driver shows while it lives and after: forks, ends,
what the driver takes for itself, labels, and a search that leaks."""

import json
import re
import signal
import subprocess
import unittest
import urllib.request

from tests.blackbox.cuda_case import CLIENT, CTYPES, CUDASEARCH, MIB, UUID, CudaCase
from tests.blackbox.support import LIMIT_S, ROLLCALL, wait_for
from tests.blackbox.terminal import Terminal, TerminalCase, needs_tmux


class TestLives(CudaCase):
    def test_a_child_counts_for_itself(self):
        for how in ("fork-first", "fork-raw"):
            with self.subTest(how):
                pid = self.client(CLIENT, "dlopen", "libcuda.so.1", how)
                self.check_work(pid)
                self.finish()

    def test_exec_starts_anew(self):
        self.check_work(self.client(CLIENT, "dlopen", "libcuda.so.1", "exec"))
        self.finish()

    def test_kill_leaves_the_evidence(self):
        pid = self.client(CLIENT, "dlopen")
        self.check_work(pid)
        self.client_process.send_signal(signal.SIGKILL)
        self.client_process.wait()
        done = subprocess.run([ROLLCALL, "list", "--json"], env=self.environment, capture_output=True, text=True)
        dead = [p for p in json.loads(done.stdout) if p["pid"] == pid][0]
        self.assertEqual("killed", dead["state"])
        self.assertEqual(2, dead["fields"]["driver[0].live_pools"])

    def test_the_residual_is_what_the_driver_took(self):
        pid = self.client("python3", "-c", CTYPES.replace('print("ready"', """
free, total = ctypes.c_size_t(), ctypes.c_size_t()
assert cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)) == 0
assert cuda.cuMemGetInfo_v2(None, ctypes.byref(total)) == 0
print("ready\""""))
        self.reading(pid, lambda f: f.get("device[0].used_bytes") is not None)
        done = subprocess.run([ROLLCALL, "top", "--json", str(pid)], env=self.environment, capture_output=True,
                              text=True)
        derived = json.loads(done.stdout)[0]["derived"]
        self.assertEqual(64 * MIB + 1 * MIB, derived["unattributed_bytes"])  # a context and a module

    def test_a_replay_shows_the_overhead_that_was_seen_live(self):
        pid = self.client(CLIENT, "dlopen")
        self.check_work(pid)
        trace = self.file("trace.rct")
        env = self.environment_with_nvml("device %s %d %d\nprocess %s %d %d\nprocess %s 1 %d\n" %
                                         (UUID, 12 << 30, 200 * MIB, UUID, pid, 67 * MIB, UUID, 100 * MIB))

        def derived(env, *arguments):
            done = subprocess.run([ROLLCALL, *arguments], env=env, capture_output=True, text=True)
            return json.loads(done.stdout)[0]["derived"]

        live = derived(env, "top", "--json", str(pid))
        self.assertEqual((65 * MIB, 33 * MIB), (live["overhead_bytes"], live["foreign_bytes"]))
        unknown = derived(self.environment, "top", "--json", str(pid))
        self.assertEqual((None, None), (unknown["overhead_bytes"], unknown["foreign_bytes"]))
        done = subprocess.run([ROLLCALL, "record", "--for", "2s", "-o", trace, str(pid)], env=env,
                              capture_output=True, text=True)
        self.assertEqual(0, done.returncode, done.stderr)
        replayed = derived(self.environment, "replay", "--json", trace)
        self.assertEqual((65 * MIB, 33 * MIB), (replayed["overhead_bytes"], replayed["foreign_bytes"]))
        screen = subprocess.run([ROLLCALL, "replay", "--once", "--view", "devices", trace], env=self.environment,
                                capture_output=True, text=True).stdout
        self.assertRegex(screen, r"overhead +\+65\.0M")
        def says(*arguments):
            done = subprocess.run([ROLLCALL, *arguments, trace], env=self.environment, capture_output=True, text=True)
            self.assertEqual(0, done.returncode, arguments[0] + ": " + done.stdout + done.stderr)
            return done.stdout

        says("verify")
        says("info")
        report = says("report")
        self.assertRegex(report, r"overhead_bytes +65\.0M +65\.0M +65\.0M +\+0B")
        self.assertRegex(report, r"foreign_bytes +33\.0M +33\.0M")
        self.assertEqual(65 * MIB, json.loads(says("report", "--json"))[0]["derived"]["overhead_bytes"])
        says("report", "--html", self.file("page.html"))
        with open(self.file("page.html")) as file:
            self.assertRegex(file.read(), r'overhead_bytes</td>.*data-v="%d"' % (65 * MIB))
        metrics = says("export", "--format", "openmetrics")
        self.assertRegex(metrics, r"(?m)^rollcall_overhead_bytes\{[^}]*\} %d " % (65 * MIB))
        self.assertRegex(metrics, r"(?m)^rollcall_foreign_bytes\{[^}]*\} %d " % (33 * MIB))
        self.assertIn("rollcall_overhead_bytes{", says("export", "--format", "openmetrics", "--every", "7"))

    def test_each_process_has_its_own_overhead_on_all_its_devices_until_it_ends(self):
        both = CTYPES.replace('print("ready"', """
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 1) == 0 and cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(4 << 20)) == 0
print("ready\"""")
        pids = [self.client("python3", "-c", both), self.client(CLIENT, "dlopen")]
        clients = [self.client_process]
        self.check_work(pids[1])
        self.reading(pids[0], lambda f: f.get("driver[1].live_bytes") == 4 * MIB)
        other = UUID.replace("f0001020", "f1011121").replace("3040-5060-7080-90a0b0c0d0e0",
                                                             "3141-5161-7181-91a1b1c1d1e1")
        lines = ["device %s %d %d" % (UUID, 12 << 30, 300 * MIB), "device %s %d %d" % (other, 12 << 30, 90 * MIB),
                 "process %s %d %d" % (UUID, pids[0], 67 * MIB), "process %s %d %d" % (UUID, pids[1], 72 * MIB),
                 "process %s %d %d" % (other, pids[0], 80 * MIB)]
        env = self.environment_with_nvml("\n".join(lines))

        def overheads():
            done = subprocess.run([ROLLCALL, "top", "--json"], env=env, capture_output=True, text=True)
            found = {p["pid"]: p["derived"] for p in json.loads(done.stdout)}
            return [(found[pid]["overhead_bytes"], found[pid]["foreign_bytes"]) for pid in pids]

        # Of two devices the sums: 67 + 80 less 2 + 4, and what no process has of both.
        self.assertEqual([(141 * MIB, 171 * MIB), (70 * MIB, 161 * MIB)], overheads())
        clients[0].kill()
        clients[0].wait()
        env = self.environment_with_nvml("\n".join(lines[:3] + lines[4:]))
        self.assertEqual([(141 * MIB, 243 * MIB), (None, None)], overheads())
        env = self.environment_with_nvml("\n".join(lines[:3] + lines[4:]) + "\nfail nvmlDeviceGetMemoryInfo 3")
        self.assertEqual([(141 * MIB, None), (None, None)], overheads())

    def test_serve_asks_from_outside(self):
        pid = self.client(CLIENT, "dlopen")
        self.check_work(pid)
        env = self.environment_with_nvml("device %s %d %d\nprocess %s %d %d\n" %
                                         (UUID, 12 << 30, 200 * MIB, UUID, pid, 67 * MIB))
        server = subprocess.Popen([ROLLCALL, "serve", "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True,
                                  env=env)
        self.addCleanup(lambda: (server.kill(), server.wait(), server.stderr.close()))
        line = server.stderr.readline()
        if "libmicrohttpd is not installed" in line:
            self.skipTest("needs Debian's package libmicrohttpd12")
        address = re.search(r"http://(\S+?)/", line).group(1)

        def overhead():
            page = urllib.request.urlopen("http://%s/metrics" % address, timeout=LIMIT_S).read().decode()
            return re.findall(r"(?m)^rollcall_overhead_bytes\{[^}]*\} (\d+)", page)

        wait_for(lambda: overhead() == [str(65 * MIB)], "the overhead")

    def test_audit_names_the_overhead(self):
        pid = self.client(CLIENT, "dlopen")
        self.check_work(pid)
        env = self.environment_with_nvml("device %s %d %d\nprocess %s %d %d\nprocess %s 1 %d\n" %
                                         (UUID, 12 << 30, 200 * MIB, UUID, pid, 67 * MIB, UUID, 100 * MIB))
        said = subprocess.run([ROLLCALL, "audit", str(pid)], env=env, capture_output=True, text=True).stdout
        lines = {words[0]: words[1:3] for words in (line.split() for line in said.splitlines()) if len(words) > 2}
        self.assertEqual(["2.0", "MiB"], lines["live"])
        self.assertEqual(["65.0", "MiB"], lines["overhead"])
        self.assertEqual(["33.0", "MiB"], lines["foreign"])
        # Without the library the rest of the device is all there is to tell.
        said = subprocess.run([ROLLCALL, "audit", str(pid)], env=self.environment, capture_output=True,
                              text=True).stdout
        self.assertIn("unattributed", said)
        self.assertRegex(said, r"overhead +n/a")


@needs_tmux
class TestMonitor(CudaCase, TerminalCase):
    def test_the_overhead_is_there_when_one_steps_back(self):
        pid = self.client(CLIENT, "dlopen")
        self.check_work(pid)
        env = self.environment_with_nvml("device %s %d %d\nprocess %s %d %d\n" %
                                         (UUID, 12 << 30, 200 * MIB, UUID, pid, 67 * MIB))
        terminal = Terminal(self, 100, 40, FAKE_NVML=env["FAKE_NVML"])
        terminal.enter("TERM=xterm-256color %s top -i 100 %d" % (ROLLCALL, pid))
        terminal.wait("5 devices")
        terminal.type("5")
        terminal.wait(r"overhead +\+65\.0M")
        terminal.wait(r"live  [1-9]s")  # rows enough to step back over
        terminal.type("Left", "Left")
        screen = terminal.wait("PAUSED").string
        self.assertRegex(screen, r"overhead +\+65\.0M")
        terminal.type("q")


class TestLabels(CudaCase):
    def test_rules_of_the_environment(self):
        pid = self.client(CLIENT, "dlopen", ROLLCALL_LABELS="size<1M:staging,nonsense,caller=client:constant")
        fields = self.reading(pid, lambda f: f.get("device[0].live_constant_pools") == 2)
        self.assertEqual(0, fields["device[0].live_unlabelled_pools"])
        self.assertEqual(3, fields["cuda[0].labelled_by_rule"])
        self.assertEqual(1, fields["cuda[0].rules_refused"])

    def test_the_programs_own_label_goes_first(self):
        pid = self.client("python3", "-c", CTYPES.replace("for i in range(3):", """
rollcall = ctypes.CDLL(None)
rollcall.rollcall_owner_open.restype = ctypes.c_uint64
owner = rollcall.rollcall_owner_open(b"step")
rollcall.rollcall_label_push(1, ctypes.c_uint64(owner))
for i in range(3):"""), ROLLCALL_LABELS="size>=1:constant")
        fields = self.reading(pid, lambda f: f.get("device[0].live_working_pools") == 2)
        self.assertEqual(3, fields["cuda[0].labelled_by_program"])
        self.assertEqual(0, fields["device[0].live_constant_pools"])


class TestSearch(CudaCase):
    # Paced: else it is over before the publisher of a busy machine gets its turn.
    def test_a_search_that_leaks_modules_is_told_from_its_pools(self):
        trace = self.file("t.rct")
        run = subprocess.run([ROLLCALL, "run", "--cuda", "--record", trace, "--", CUDASEARCH, "--leak", "modules",
                              "--candidates", "80", "--quiet", "--pause-ms", "1"], env=self.environment, capture_output=True, text=True)
        self.assertEqual(0, run.returncode, run.stderr)
        report = json.loads(subprocess.run([ROLLCALL, "report", "--json", trace], env=self.environment,
                                           capture_output=True, text=True).stdout)[0]
        shapes = {v["class"]: v["shape"] for v in report["verdicts"] if v["axis"] == "linked"}
        slopes = {v["class"]: v["slope"] for v in report["verdicts"] if v["axis"] == "linked"}
        self.assertEqual("growing", shapes["modules"])
        self.assertAlmostEqual(1.0, slopes["modules"], 2)
        for name in ("working_pools", "working_bytes", "constant_pools", "contexts"):
            self.assertIn(shapes[name], ("flat", "bounded"), name)
        fields = report["fields"]
        for name in ("identity_mismatch", "foreign_libcuda", "unknown_frees", "untracked", "discovered_contexts"):
            self.assertEqual(0, fields["cuda[0]." + name], name)
        # Its own ledger says the same.
        ledger = dict(word.split("=") for word in run.stdout.split("after the search:")[1].split("\n")[0].split())
        self.assertEqual(int(ledger["modules_loaded"]), fields["device[0].modules_loaded"])
        self.assertEqual(int(ledger["modules_loaded"]), fields["driver[0].modules"])

    def test_every_leak_is_named_within_120_candidates(self):
        leaked = {"none": None, "pools": "working_pools", "contexts": "contexts", "modules": "modules",
                  "failed": "working_pools"}
        for leak, name in leaked.items():
            with self.subTest(leak):
                trace = self.file(leak + ".rct")
                run = subprocess.run([ROLLCALL, "run", "--cuda", "--record", trace, "--", CUDASEARCH, "--leak", leak, "--pause-ms", "1",
                                      "--candidates", "120", "--quiet"], env=self.environment, capture_output=True,
                                     text=True)
                self.assertEqual(0, run.returncode, run.stderr)
                report = json.loads(subprocess.run([ROLLCALL, "report", "--json", trace], env=self.environment,
                                                   capture_output=True, text=True).stdout)[0]
                growing = {v["class"] for v in report["verdicts"]
                           if v["axis"] == "attempted" and v["shape"] == "growing"}
                self.assertEqual({name} if name else set(),
                                 growing & {"working_pools", "constant_pools", "contexts", "modules"})


if __name__ == "__main__":
    unittest.main()
