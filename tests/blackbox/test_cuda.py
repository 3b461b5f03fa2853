# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""The CUDA census in programs that were never changed, on the fake driver.

Each client reaches the driver in a way of its own and then makes the same
calls; the figures must be the same whichever it was. What cannot be seen must
show in the self-report."""

import glob
import json
import os
import shutil
import subprocess
import unittest

from tests.blackbox.cuda_case import ALLOC, CLIENT, CTYPES, DRIVER, FAKE, CudaCase, system_library
from tests.blackbox.support import BUILD, LIMIT_S, ROLLCALL, needs_mount


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
                  '{ echo /not/there.so; echo libhook.so; } > /etc/ld.so.preload; "$1" doctor; true')
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
