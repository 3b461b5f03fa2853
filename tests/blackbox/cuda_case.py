# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""What tests of the CUDA census share: the fake driver, its clients, readings."""

import glob
import json
import os
import subprocess
import unittest

from tests.blackbox.support import BUILD, LIBRARY, LIMIT_S, ROLLCALL, SANITIZED, Case, wait_for

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
