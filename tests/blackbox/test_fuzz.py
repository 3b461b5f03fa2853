# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""The fuzzers with coverage as their guide, in a soak only: what `make fuzz` does."""

import os
import shutil
import subprocess
import unittest

from tests.blackbox.support import REPOSITORY, SOAK, tell_soak

SECONDS = os.environ.get("FUZZ_SECONDS", "60")


@unittest.skipUnless(SOAK, "only in a soak; `make fuzz` does it alone")
class Fuzzers(unittest.TestCase):
    @unittest.skipUnless(shutil.which("clang"), "no clang")
    def test_no_target_crashes(self):
        done = subprocess.run([os.path.join(REPOSITORY, "tests", "fuzz", "run"), SECONDS], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        for line in done.stdout.splitlines():
            if line.startswith("soak: "):
                _, name, *counts = line.split()
                tell_soak(name, **dict(count.split("=") for count in counts))
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
