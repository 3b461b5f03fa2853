# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""What `make install` leaves behind, used as a stranger uses it."""

import os
import subprocess
import shutil

from tests.blackbox.support import BUILD, REPOSITORY, Case, needs_preload

PROGRAM = """
#include <rollcall.h>
#include <stdio.h>
int main(void)
{
	struct rollcall_census census;
	uint64_t candidate = rollcall_candidate_begin("one");
	rollcall_record_pool(0, 1, ROLLCALL_WORKING, 4096);
	rollcall_candidate_end(candidate, ROLLCALL_TIMED);
	int result = rollcall_census_snapshot(-1, &census, sizeof(census));
	printf("%d %d\\n", result, result ? -1 : (int)census.live_working_bytes);
	rollcall_flush();
	return 0;
}
"""
ABSENT = "-61 -1\n"
COUNTED = "0 4096\n"


@needs_preload
class Install(Case):
    def setUp(self):
        super().setUp()
        self.root = os.path.join(self.files, "root")
        done = subprocess.run(["make", "-s", "install", "O=" + BUILD, "DESTDIR=" + self.root, "PREFIX=/usr"],
                              cwd=REPOSITORY, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.library = os.path.join(self.root, "usr", "lib")
        self.command = os.path.join(self.root, "usr", "bin", "rollcall")
        self.flags = dict(os.environ, PKG_CONFIG_PATH=os.path.join(self.library, "pkgconfig"),
                          PKG_CONFIG_SYSROOT_DIR=self.root)

    def compile(self, *words, compiler="gcc", suffix=".c"):
        source = os.path.join(self.files, "program" + suffix)
        program = os.path.join(self.files, "program")
        with open(source, "w") as file:
            file.write(PROGRAM)
        subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", source, "-o", program, *words], check=True)
        return program

    def pkg_config(self, *words):
        out = subprocess.run(["pkg-config", *words, "rollcall"], env=self.flags, capture_output=True, text=True,
                             check=True)
        return out.stdout.split()

    def output_of(self, *command, **environment):
        return subprocess.run(command, env=dict(self.environment, **environment), capture_output=True, text=True,
                              timeout=60).stdout

    def test_a_program_without_the_library_runs_and_nothing_happens(self):
        program = self.compile(*self.pkg_config("--cflags"))
        self.assertEqual(self.output_of(program), ABSENT)
        self.assertEqual(os.listdir(self.directory), [])

    def test_the_same_program_counts_under_the_installed_command(self):
        program = self.compile(*self.pkg_config("--cflags"))
        self.assertEqual(self.output_of(self.command, "run", "--", program), COUNTED)

    def test_a_program_linked_by_pkg_config_counts_by_itself(self):
        for words in ([], ["-no-pie"], ["-Wl,--as-needed"], ["-DROLLCALL_STRONG"]):
            program = self.compile(*words, *self.pkg_config("--cflags", "--libs"))
            self.assertEqual(self.output_of(program, LD_LIBRARY_PATH=self.library), COUNTED, words)

    def test_the_header_is_cxx_too(self):
        if not shutil.which("g++"):
            self.skipTest("no g++")
        program = self.compile(*self.pkg_config("--cflags", "--libs"), compiler="g++", suffix=".cc")
        self.assertEqual(self.output_of(program, LD_LIBRARY_PATH=self.library), COUNTED)

    def test_the_manual_is_there(self):
        with open(os.path.join(self.root, "usr", "share", "man", "man1", "rollcall.1")) as page:
            self.assertIn("rollcall", page.read())

    def test_uninstall_leaves_no_file(self):
        subprocess.run(["make", "-s", "uninstall", "O=" + BUILD, "DESTDIR=" + self.root, "PREFIX=/usr"],
                       cwd=REPOSITORY, check=True, capture_output=True)
        files = [name for _, _, names in os.walk(self.root) for name in names]
        self.assertEqual(files, [])
