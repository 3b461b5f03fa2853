# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""The CUDA census in programs that were never changed, on the fake driver.

Each client reaches the driver in a way of its own and then makes the same
calls; the figures must be the same whichever it was. What cannot be seen must
show in the self-report."""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
import unittest
import urllib.request

from tests.blackbox.support import BUILD, LIBRARY, LIMIT_S, ROLLCALL, SANITIZED, Case, needs_mount, wait_for
from tests.blackbox.terminal import Terminal, TerminalCase, needs_tmux

FAKE = os.path.join(BUILD, "fake")
CUDA = os.path.join(BUILD, "librollcall-cuda.so")
ALLOC = os.path.join(BUILD, "librollcall-alloc.so")
CLIENT = os.path.join(FAKE, "client")
DRIVER = os.path.join(FAKE, "libcuda.so.1")
CUDASEARCH = os.path.join(BUILD, "cudasearch")
MIB = 1 << 20
UUID = "GPU-f0001020-3040-5060-7080-90a0b0c0d0e0"  # of device 0


def system_library(name):
    found = glob.glob("/usr/lib/*/" + name) + glob.glob("/lib/*/" + name)
    return found[0] if found else None


@unittest.skipIf(SANITIZED, "a sanitized library cannot be preloaded")
class CudaCase(Case):
    preload = LIBRARY + ":" + CUDA

    def setUp(self):
        super().setUp()
        self.environment.update(LD_LIBRARY_PATH=FAKE, ROLLCALL_INTERVAL_MS="20")

    def client(self, *command, preload=None, **environment):
        """Starts a client and waits until it holds what it took. Returns its pid."""
        env = dict(self.environment, LD_PRELOAD=self.preload if preload is None else preload, **environment)
        process = self.start(list(command), env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        line = process.stdout.readline()
        if not line.startswith("ready "):
            process.stdin.close()
            self.fail("%s: %r %r (%s)" % (command, line, process.stderr.read(), process.wait()))
        self.client_process = process
        return int(line.split()[1])

    def environment_with_nvml(self, text):
        """The environment of a monitor whom the management library says that."""
        with open(self.file("nvml"), "w") as file:
            file.write(text)
        return dict(self.environment, FAKE_NVML=self.file("nvml"))

    def reading(self, pid, condition=None):
        """The process's fields, once `condition` of them holds."""
        def look():
            done = subprocess.run([ROLLCALL, "top", "--json", str(pid)], env=self.environment,
                                  capture_output=True, text=True)
            found = [p for p in json.loads(done.stdout or "[]") if p["pid"] == pid]
            fields = found[0]["fields"] if found else {}
            return fields if fields and (condition is None or condition(fields)) else None
        return wait_for(look, "a reading of %d" % pid)

    def check_work(self, pid):
        """What every client's work must have come to."""
        fields = self.reading(pid, lambda f: f.get("device[0].modules_loaded") == 1)
        wanted = {"device[0].live_unlabelled_pools": 2, "device[0].live_unlabelled_bytes": 2 * MIB,
                  "device[0].pools_freed": 1, "device[0].contexts_created": 1, "device[0].contexts_released": 0,
                  "driver[0].live_pools": 2, "driver[0].live_bytes": 2 * MIB, "driver[0].linear_pools": 2,
                  "driver[0].primary_references": 1, "driver[0].modules": 1, "census.live_unlabelled_pools": 2,
                  "device[0].name": "Fake 0", "device[0].uuid": UUID}
        self.assertEqual(wanted, {name: fields.get(name) for name in wanted})
        for name in ("identity_mismatch", "foreign_libcuda", "unknown_frees", "untracked", "failures",
                     "discovered_contexts", "unplaced_allocations"):
            self.assertEqual(0, fields["cuda[0]." + name], name)
        return fields

    def finish(self):
        out, err = self.client_process.communicate(timeout=LIMIT_S)
        self.assertEqual("", err)
        self.assertEqual(0, self.client_process.returncode)


class TestClients(CudaCase):
    def check(self, *command, by_symbol=None, by_gpa=None, **options):
        fields = self.check_work(self.client(*command, **options))
        if by_symbol is not None:
            self.assertGreaterEqual(fields["cuda[0].resolved_by_symbol"], by_symbol)
        if by_gpa is not None:
            self.assertGreaterEqual(fields["cuda[0].resolved_by_gpa"], by_gpa)
        self.finish()

    def test_linked_lazily(self):
        self.check(os.path.join(FAKE, "client-linked"), by_symbol=5)

    def test_linked_now(self):
        self.check(os.path.join(FAKE, "client-now"), by_symbol=5)

    def test_dlopen_by_name(self):
        self.check(CLIENT, "dlopen", by_symbol=5)

    def test_dlopen_by_absolute_path(self):
        self.check(CLIENT, "dlopen", DRIVER, by_symbol=5)

    def test_dlsym_of_the_global_scope(self):
        self.check(CLIENT, "default", by_symbol=5)

    def test_dlsym_of_the_main_program(self):
        self.check(CLIENT, "main", by_symbol=5)

    def test_get_proc_address_of_both_versions_and_flags(self):
        for how in ("gpa1", "gpa1-ptds", "gpa2", "gpa2-ptds"):
            with self.subTest(how):
                self.check(CLIENT, how, by_gpa=5)

    def test_get_proc_address_with_addresses_of_its_own(self):
        self.check(CLIENT, "gpa2", by_gpa=5, FAKE_GPA_DISTINCT="1")

    def test_as_the_runtime_looks_up(self):
        self.check(CLIENT, "runtime", by_gpa=7)

    def test_a_plugin_that_is_linked(self):
        self.check(CLIENT, "plugin", os.path.join(FAKE, "libplugin.so"))

    def test_a_plugin_with_stubs_of_its_own_is_counted_once(self):
        for name in ("libstub.so", "libstub-hidden.so"):
            with self.subTest(name):
                self.check(CLIENT, "plugin", os.path.join(FAKE, name))

    def test_python_by_ctypes(self):
        self.check("python3", "-c", CTYPES, by_symbol=5)

    def test_a_driver_that_calls_itself(self):
        self.check(CLIENT, "dlopen", FAKE_WSL="1", FAKE_NESTED="1", FAKE_CONSTRUCTOR="1")

    def test_a_driver_that_forks_in_a_call_of_ours(self):
        self.check(CLIENT, "dlopen", FAKE_FORK="1")

    def test_earlier_drivers(self):
        for version, how in (("11020", "dlopen"), ("11080", "gpa1"), ("12040", "gpa2"), ("12080", "gpa2")):
            with self.subTest(version):
                folder = os.path.join(FAKE, version)
                self.check(CLIENT, how, LD_LIBRARY_PATH=folder)

    def test_threads(self):
        pid = self.client(CLIENT, "dlopen", "libcuda.so.1", "threads")
        fields = self.reading(pid, lambda f: f.get("driver[0].pools_allocated") == 3 + 8 * 200)
        self.assertEqual(2, fields["driver[0].live_pools"])
        self.assertEqual(9, fields["driver[0].primary_references"])
        self.finish()


CTYPES = """
import ctypes, os, sys
cuda = ctypes.CDLL("libcuda.so.1")
context, address, module = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_void_p()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0
for i in range(3):
    assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(1 << 20)) == 0
assert cuda.cuMemFree_v2(address) == 0 and cuda.cuModuleLoadData(ctypes.byref(module), b"code") == 0
print("ready", os.getpid(), flush=True)
sys.stdin.read()
"""


class TestMisses(CudaCase):
    """What this way of counting cannot see, and that it shows."""

    def check_miss(self, how, is_mapped_here):
        pid = self.client(CLIENT, how, os.path.join(FAKE, "libplugin.so"), ROLLCALL_CHILDREN="all",
                          ROLLCALL_ROOT="1")
        fields = self.reading(pid)
        self.assertIn(fields.get("cuda[0].calls"), (None, 0))
        self.assertIsNone(fields.get("device[0].live_unlabelled_pools"))
        said = subprocess.run([ROLLCALL, "doctor"], env=self.environment, capture_output=True, text=True).stdout
        self.assertIn("CUDA %d" % pid, said)
        self.assertIn("none of its calls came through", said)
        self.finish()

    def test_deepbind(self):
        self.check_miss("deepbind", True)

    def test_dlmopen(self):
        self.check_miss("dlmopen", False)

    def test_a_second_copy_of_the_driver(self):
        # The first is counted, look-ups in the second are passed on and told of.
        second = os.path.join(FAKE, "second", "libcuda.so.1")
        pid = self.client("python3", "-c", CTYPES.replace(
            'print("ready"', 'other = ctypes.CDLL(%r); other.cuInit; other.cuMemAlloc_v2; print("ready"' % second))
        fields = self.reading(pid, lambda f: f.get("cuda[0].foreign_libcuda", 0) > 0)
        self.assertEqual(2, fields["cuda[0].foreign_libcuda"])
        self.assertEqual(2, fields["driver[0].live_pools"])
        said = subprocess.run([ROLLCALL, "doctor"], env=self.environment, capture_output=True, text=True).stdout
        self.assertIn("2 copies of the driver", said)

    def test_a_free_of_what_was_not_known(self):
        pid = self.client("python3", "-c", CTYPES.replace('print("ready"', """
os.environ.clear()
hidden = ctypes.CDLL(None)
array = ctypes.c_uint64()
cuda.cuMemAllocHost_v2(ctypes.byref(array), ctypes.c_size_t(100))
assert cuda.cuMemFree_v2(ctypes.c_uint64(0)) == 0
print("ready\""""))
        fields = self.reading(pid, lambda f: f.get("driver[0].pinned_pools") == 1)
        self.assertEqual(0, fields["cuda[0].unknown_frees"])


class TestBesideOthers(CudaCase):
    def test_other_mallocs(self):
        for name in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", ALLOC):
            path = name if name == ALLOC else system_library(name)
            if not path:
                print("NOT TESTED: %s is not installed" % name)
                continue
            for preload in (self.preload + ":" + path, path + ":" + self.preload):
                with self.subTest(preload):
                    self.check_work(self.client(CLIENT, "gpa2", preload=preload))
                    self.finish()

    @needs_mount
    def test_a_hook_in_every_program_is_warned_of(self):
        script = ('mount -t tmpfs none /etc; { echo "# none"; echo "$3"; } > /etc/ld.so.preload; "$1" run --cuda -- true; '
                  'echo "$2" >> /etc/ld.so.preload; "$1" run --cuda -- true; "$1" doctor; '
                  'echo libhook.so > /etc/ld.so.preload; "$1" doctor; true')
        hook = os.path.join(FAKE, "libhook.so")
        done = self.run_command(["unshare", "-m", "sh", "-c", script, "x", ROLLCALL, hook, self.preload], env=self.environment, text=True)
        warning = "/etc/ld.so.preload loads %s into every program, which hooks dlsym" % hook
        self.assertEqual(1, done.stderr.count(warning), done.stderr)
        self.assertEqual(1, done.stdout.count(warning), done.stdout)
        self.assertEqual(1, done.stdout.count("loads libhook.so into every program, which may hook dlsym"), done.stdout)

    def test_another_preload_that_asks_for_the_next(self):
        victim = os.path.join(FAKE, "libvictim.so")
        for preload in (victim + ":" + self.preload, self.preload + ":" + victim):
            with self.subTest(preload):
                self.check_work(self.client(CLIENT, "dlopen", preload=preload))
                self.finish()

    def test_another_hook_behind_ours_sees_every_call_too(self):
        pid = self.client(CLIENT, "dlopen", preload=self.preload + ":" + os.path.join(FAKE, "libhook.so"))
        self.check_work(pid)
        _, err = self.client_process.communicate(timeout=LIMIT_S)
        self.assertEqual("hook: 3 allocations\n", err)

    def test_an_address_sanitized_program(self):
        source, program = self.file("asan.c"), self.file("asan")
        with open(source, "w") as file:
            file.write('#include <dlfcn.h>\n#include <stdio.h>\n#include <stdlib.h>\n'
                       'int main(void) { char *p = malloc(9); p[0] = 1;\n'
                       'void *h = dlopen("libcuda.so.1", RTLD_NOW);\n'
                       'unsigned (*init)(unsigned) = h ? (unsigned (*)(unsigned))dlsym(h, "cuInit") : 0;\n'
                       'free(p); printf("%u\\n", init ? init(0) : 9); return 0; }\n')
        built = subprocess.run(["gcc", "-fsanitize=address", source, "-o", program], capture_output=True)
        if built.returncode:
            self.skipTest("NOT TESTED: no gcc with the address sanitizer")
        done = subprocess.run([ROLLCALL, "run", "--cuda", "--", program], capture_output=True, text=True,
                              env=dict(self.environment, ASAN_OPTIONS="detect_leaks=0"))
        self.assertEqual((0, "0\n"), (done.returncode, done.stdout), done.stderr)

    def test_programs_without_cuda_run_as_before(self):
        environment = dict(self.environment, LD_PRELOAD=self.preload)
        commands = [["true"], ["python3", "-c", "print(1)"], ["bash", "-c", "echo $((1+1))"], ["git", "--version"],
                    ["gcc", "--version"], ["ffmpeg", "-version"]]
        for command in commands:
            if not shutil.which(command[0]):
                print("NOT TESTED: %s is not installed" % command[0])
                continue
            with self.subTest(command[0]):
                plain = subprocess.run(command, capture_output=True, env=self.environment)
                with_us = subprocess.run(command, capture_output=True, env=environment)
                self.assertEqual((plain.returncode, plain.stdout, plain.stderr),
                                 (with_us.returncode, with_us.stdout, with_us.stderr))

    def test_no_driver_is_no_driver(self):
        # Ours is in the global scope, and must not look like a driver.
        environment = dict(self.environment, LD_PRELOAD=self.preload, LD_LIBRARY_PATH="")
        done = subprocess.run([CLIENT, "none"], env=environment, stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(0, done.returncode)

    def test_off_is_off(self):
        self.client(CLIENT, "gpa2", ROLLCALL="off")
        self.finish()
        self.assertEqual([], os.listdir(self.directory))


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


@unittest.skipUnless(shutil.which("ffmpeg"), "NOT TESTED: ffmpeg is not installed")
class TestFfmpeg(CudaCase):
    def test_an_upload_is_one_allocation_and_one_free(self):
        trace, ledger = self.file("t.rct"), self.file("ledger")
        run = subprocess.run(
            [ROLLCALL, "run", "--cuda", "--record", trace, "--", "ffmpeg", "-v", "error", "-init_hw_device",
             "cuda=gpu:0", "-f", "lavfi", "-i", "color=red:size=64x64:rate=1:duration=1", "-vf",
             "format=nv12,hwupload,hwdownload,format=nv12", "-frames:v", "1", "-f", "null", "-"],
            env=dict(self.environment, FAKE_LEDGER=ledger), capture_output=True, text=True)
        self.assertEqual(0, run.returncode, run.stderr)
        fields = json.loads(subprocess.run([ROLLCALL, "report", "--json", trace], env=self.environment,
                                           capture_output=True, text=True).stdout)[0]["fields"]
        self.assertEqual(1, fields["driver[0].pools_allocated"])
        self.assertEqual(0, fields["driver[0].live_pools"])
        self.assertEqual(1, fields["device[0].pools_freed"])
        self.assertEqual(fields["device[0].contexts_created"], fields["device[0].contexts_released"])
        for name in ("identity_mismatch", "foreign_libcuda", "unknown_frees", "untracked", "discovered_contexts"):
            self.assertEqual(0, fields["cuda[0]." + name], name)
        with open(ledger) as file:
            last = json.loads(file.readlines()[-1])
        self.assertEqual(0, last["devices"][0]["linear_pools"])


class TestGpuScript(CudaCase):
    def test_it_runs_on_the_fake_driver(self):
        script = os.path.join(os.path.dirname(__file__), "..", "gpu", "run")
        done = subprocess.run([script, BUILD], env=self.environment, capture_output=True, text=True)
        failed = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
        self.assertEqual(([], 0), (failed, done.returncode), done.stderr)
        for check in "ABCDJK":
            self.assertRegex(done.stdout, r"(?m)^(PASS|FACT) %s " % check)

    def test_it_says_so_where_there_is_no_gpu(self):
        script = os.path.join(os.path.dirname(__file__), "..", "gpu", "run")
        done = subprocess.run([script, BUILD], env=dict(self.environment, LD_LIBRARY_PATH=""), capture_output=True,
                              text=True)
        if done.returncode == 77:
            self.assertIn("NOT CHECKED", done.stdout)


RUNTIME = system_library("libcudart.so.13") or next(iter(glob.glob("/usr/local/cuda/lib*/libcudart.so.13")), None)


@unittest.skipUnless(RUNTIME, "NOT TESTED: no libcudart.so.13 here")
class TestRuntime(CudaCase):
    def test_the_real_runtime_is_given_wrappers(self):
        # It refuses any driver but the real one (error 103), after it has looked everything up.
        pid = self.client("python3", "-c", """
import ctypes, os, sys
runtime = ctypes.CDLL(%r)
pointer = ctypes.c_void_p()
assert runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(100)) != 0
print("ready", os.getpid(), flush=True)
sys.stdin.read()
""" % RUNTIME)
        fields = self.reading(pid, lambda f: f.get("cuda[0].resolved_by_gpa", 0) > 0)
        self.assertGreaterEqual(fields["cuda[0].calls"], 400)
        self.assertGreaterEqual(fields["cuda[0].resolved_by_gpa"], 50)
        self.assertEqual(0, fields["cuda[0].identity_mismatch"])


if __name__ == "__main__":
    unittest.main()
