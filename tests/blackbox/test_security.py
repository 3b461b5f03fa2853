# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""The threat model of docs/security.md: a command, run by root too, over the
segments of users who mean harm."""

import json
import os
import shutil
import subprocess
import unittest

from tests.blackbox.support import BUILD, LIMIT_S, ROLLCALL, Case, Script, needs_mount, needs_preload

HOSTILE = os.path.join(BUILD, "tests", "prog", "hostile")

# A /dev/shm of its own in which user 60001 has 1,500 files with the names of
# segments (copies of $3, so that each could be opened) and user 60002 one process.
CROWD = r"""
mount -t tmpfs none /dev/shm || exit 99
mkdir -m 700 /dev/shm/rollcall-60001 /dev/shm/rollcall-60002
i=1000
while [ $i -lt 2500 ]; do
    ln -s /nowhere /dev/shm/rollcall-60001/$i.000000000000$i.rcs
    i=$((i + 1))
done
cp "$3" /dev/shm/rollcall-60001/1.0000000000000001.rcs
cp "$3" /dev/shm/rollcall-60002/1.0000000000000002.rcs
chown -hR 60001:60001 /dev/shm/rollcall-60001
chown -hR 60002:60002 /dev/shm/rollcall-60002
ulimit -n 256
exec "$1" list --all
"""


@needs_preload
class Root(Case):
    def segment(self, label):
        script = Script(self, ROLLCALL_LABEL=label)
        script.do("pool 1 1")
        script.kill()
        return os.path.join(self.directory, os.listdir(self.directory)[0])

    @needs_mount
    def test_a_user_with_many_files_does_not_hide_another(self):
        path = self.segment("of 60002")
        kept = self.file("segment")
        shutil.copy(path, kept)
        env = {k: v for k, v in self.environment.items() if k != "ROLLCALL_DIR"}
        done = self.run_command(["unshare", "-m", "sh", "-c", CROWD, "crowd", ROLLCALL, "", kept], env=env, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("of 60002", done.stdout)
        self.assertIn("/dev/shm/rollcall-60001 holds more segments than the", done.stderr)
        self.assertNotIn("rollcall-60002", done.stderr)

    @needs_mount
    def test_a_directory_under_the_name_of_another_user_is_not_read(self):
        path = self.segment("forged")
        script = ('mount -t tmpfs none /dev/shm && mkdir -m 700 /dev/shm/rollcall-60003 && '
                  'cp "$2" /dev/shm/rollcall-60003/1.0000000000000001.rcs && chown -R 60001 /dev/shm/rollcall-60003 && exec "$1" list --all')
        kept = self.file("segment")
        shutil.copy(path, kept)
        env = {k: v for k, v in self.environment.items() if k != "ROLLCALL_DIR"}
        done = self.run_command(["unshare", "-m", "sh", "-c", script, "x", ROLLCALL, kept], env=env, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("forged", done.stdout)

    def test_gc_does_not_follow_a_name_that_is_a_link(self):
        path = self.segment("x")
        kept = self.file("precious")
        shutil.move(path, kept)
        os.symlink(kept, path)
        self.rollcall("gc", "--force")
        self.assertTrue(os.path.exists(kept))


@needs_preload
class Liars(Case):
    """A writer that lies without end, under every verb that reads."""

    def setUp(self):
        super().setUp()
        script = Script(self, ROLLCALL_LABEL="template")
        script.do("pool 1 1")
        script.do("search 100")
        script.kill()
        name = os.listdir(self.directory)[0]
        template = self.file("template")
        shutil.move(os.path.join(self.directory, name), template)
        for seed in range(3):
            writer = self.start([HOSTILE, self.directory, template, str(seed)], stdout=subprocess.PIPE, text=True)
            writer.stdout.readline()
            self.addCleanup(self.check_alive, writer)

    def check_alive(self, writer):
        self.assertIsNone(writer.poll(), "a writer has ended by itself")

    def test_every_verb_that_reads_answers(self):
        read = 0
        for _ in range(8):
            for words in (["list"], ["list", "--all"], ["list", "--json"], ["top", "--once"], ["top", "--once", "--size", "200x60"],
                          ["top", "--json"], ["top", "--json", "--batch", "5", "--interval", "20"], ["gc", "--dry-run"]):
                done = self.rollcall(*words, status=None)
                self.assertIn(done.returncode, (0, 1), words)
                self.assertNotRegex(done.stdout + done.stderr, "[\x00-\x08\x0b-\x1f\x7f-\x9f]")
                if "--json" in words:
                    for line in done.stdout.splitlines():
                        read += len(json.loads(line))
        self.assertGreater(read, 0)

    def test_what_they_say_can_be_recorded_and_told(self):
        trace = self.file("lies.rct")
        done = self.rollcall("record", "--for", "2", "-o", trace, status=None)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        for words in (["info", trace], ["report", trace], ["report", "--json", trace], ["replay", "--once", trace]):
            done = self.rollcall(*words, status=None, timeout=4 * LIMIT_S)
            self.assertIn(done.returncode, (0, 1), (words, done.stderr))
            self.assertNotRegex(done.stdout + done.stderr, "[\x00-\x08\x0b-\x1f\x7f-\x9f]")


if __name__ == "__main__":
    unittest.main()
