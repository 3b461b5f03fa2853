# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""`rollcall export` of what is damaged, which is said, into what cannot be written,
where nothing is left behind, and of what is long, in constant memory."""

import json
import os
import signal
import subprocess
import unittest

from tests.blackbox.exports import FORMATS, ExportCase, check_trace_events
from tests.blackbox.prometheus import parse
from tests.blackbox.support import LIMIT_S, ROLLCALL, SANITIZED, needs_mount, wait_for


class Damage(ExportCase):
    """R1: whole blocks are exported, and what is not is said."""

    def test_a_trace_cut_anywhere_exports_its_whole_blocks(self):
        path = self.long_trace(2000)
        with open(path, "rb") as file:
            whole = file.read()
        everything = self.export(path, "csv").splitlines()
        part, seen = self.file("cut.rct"), set()
        for at in list(range(4096, len(whole), max(1, len(whole) // 40))) + [len(whole) - 1, len(whole) - 33]:
            with open(part, "wb") as file:
                file.write(whole[:at])
            for format in FORMATS:
                done = self.rollcall("export", part, "--format", format, text=False)
                self.assert_one_line(done.stderr.decode())
                self.assertIn(b"incomplete", done.stderr)
                if format == "csv":
                    lines = done.stdout.decode().splitlines()
                    self.assertEqual(lines, everything[:len(lines)])
                    seen.add(len(lines))
                if format == "openmetrics":
                    parse(done.stdout.decode())
                if format == "perfetto":
                    check_trace_events(self, done.stdout)
        self.assertGreater(len(seen), 3)

    def test_a_flipped_byte_costs_a_block_and_is_said(self):
        path = self.long_trace(2000)
        with open(path, "rb") as file:
            whole = bytearray(file.read())
        n_rows = len(self.rows(path))
        for at in range(0, len(whole), len(whole) // 60):
            whole[at] ^= 0x10
            with open(self.file("flip.rct"), "wb") as file:
                file.write(whole)
            whole[at] ^= 0x10
            done = self.rollcall("export", self.file("flip.rct"), "--format", "csv", status=None)
            self.assertIn(done.returncode, (0, 1))
            if done.returncode == 0:
                self.assertLessEqual(n_rows - len(done.stdout.splitlines()) + 1, n_rows + 1 if at < 12000 else 256)
            if done.stderr:
                self.assert_one_line(done.stderr)

    def test_what_is_lost_is_told_exactly(self):
        """S6: in a trace and in every export of it the same number is lost."""
        path = self.long_trace(2000)
        with open(path, "rb") as file:
            whole = bytearray(file.read())
        blocks = [at for at in range(4096, len(whole), 8) if whole[at:at + 4] == b"RLBK"]
        whole[blocks[len(blocks) // 2] + 70] ^= 1
        holed = self.file("holed.rct")
        with open(holed, "wb") as file:
            file.write(whole)
        lost = self.report(holed)[0]["lost"]
        self.assertGreater(lost, 100)
        lines = [json.loads(line) for line in self.rollcall("export", holed, "--format", "jsonl").stdout.splitlines()]
        self.assertEqual(sum(line.get("lost_before", 0) for line in lines), lost)
        events, _ = check_trace_events(self, self.rollcall("export", holed, "--format", "perfetto").stdout)
        self.assertEqual([int(e["args"]["records"]) for e in events if e["name"] == "lost"], [lost])
        for options in ([], ["--every", "3"]):
            part = self.file("part.rct")
            self.rollcall("export", holed, "--format", "trace", "-f", "-o", part, *options)
            self.assertEqual(self.report(part)[0]["lost"], lost)
            self.assertIn(", complete", self.rollcall("info", part).stdout)

    def test_what_is_no_trace_is_refused(self):
        empty = self.file("empty")
        open(empty, "w").close()
        for word, what in ((empty, "empty"), (self.files, "directory"), ("/etc/passwd", "not a Rollcall trace"),
                           (self.file("none"), "No such file")):
            self.assertIn(what, self.fails("export", word, "--format", "csv"))
        self.assertIn("standard input: empty", self.fails("export", "-", "--format", "csv", input=""))

    def test_words_are_checked(self):
        path = self.search("g7")
        for words in (["--format", "xml"], [], ["--format", "csv", "--every", "0"], ["--format", "csv", "--every", "x"],
                      ["--format", "csv", "--from", "later"], ["--format", "csv", "--to", "1:99"]):
            self.fails("export", path, *words, status=2)


class Faults(ExportCase):
    """R2: one line, a failure, and nothing half-made."""

    def test_a_full_device(self):
        path = self.search("g1")
        for format in FORMATS:
            with self.subTest(format=format):
                self.assertIn("/dev/full", self.fails("export", path, "--format", format, "-o", "/dev/full"))
                with open("/dev/full", "w") as full:
                    self.assertIn("standard output", self.fails("export", path, "--format", format, stdout=full))

    def test_an_output_is_never_the_input(self):
        path = self.imported("time_s,queue\n0,1\n1,2\n")
        with open(path, "rb") as file:
            whole = file.read()
        for format in ("csv", "trace"):
            self.assertIn("the input itself", self.fails("export", path, "--format", format, "-f", "-o", path))
        self.assertIn("the input itself", self.fails("verify", path, "--repair", path, "-f", status=2))
        roundabout = "/proc/self/root" + path
        self.assertIn("the input itself", self.fails("export", path, "--format", "csv", "-o", roundabout))
        self.assertIn("the verdict", self.fails("verify", path, "--repair", "/dev/stdout", "-f", status=2))
        table = self.file("t.csv")
        self.export_to(path, table)
        self.assertIn("the input itself", self.fails("import", table, "-f", "-o", table))
        with open(path, "rb") as file:
            self.assertEqual(file.read(), whole)

    def test_a_trace_that_replaces_one_is_for_its_maker_alone(self):
        path, old = self.search("g7"), self.file("old.rct")
        with open(old, "w") as file:
            file.write("old")
        os.chmod(old, 0o644)
        self.rollcall("export", path, "--format", "trace", "-f", "-o", old)
        self.assertEqual(os.stat(old).st_mode & 0o777, 0o600)
        with open(self.file("piped.rct"), "wb") as file:
            self.rollcall("export", path, "--format", "trace", "-o", "/dev/stdout", stdout=file, text=False)
        self.assertIn("complete", self.rollcall("info", self.file("piped.rct")).stdout.split("\n")[0])

    def export_to(self, path, output):
        self.rollcall("export", path, "--format", "csv", "-o", output)

    def test_a_file_that_is_there_stays_unless_forced(self):
        path, old = self.search("g7"), self.file("old")
        with open(old, "w") as file:
            file.write("evidence")
        for format in FORMATS:
            self.assertIn("--force", self.fails("export", path, "--format", format, "-o", old))
        self.fails("export", path, "--format", "csv", "-o", self.file("no/such/folder"))
        self.fails("export", path, "--format", "trace", "-o", self.files)
        self.fails("export", path, "--format", "csv", "-f", "--fields", "no.thing", "-o", old)
        with open(old) as file:
            self.assertEqual(file.read(), "evidence")
        for format in FORMATS:
            self.rollcall("export", path, "--format", format, "-f", "-o", old)
        self.assertEqual(len(self.report(old)), 1)
        self.assertEqual(sorted(os.listdir(self.files)), ["g7-1.rct", "old"])

    @needs_mount
    def test_a_small_file_system_is_left_empty(self):
        path, small = self.long_trace(20000), self.file("small")
        os.mkdir(small)
        for format in FORMATS:
            shell = ('mount -t tmpfs -o size=16k none "$0" && { "$1" export "$2" --format %s -o "$0/out"; echo "status $?"; '
                     'ls -A "$0"; }' % format)
            done = self.run_command(["unshare", "-m", "sh", "-c", shell, small, ROLLCALL, path], text=True)
            self.assertEqual(done.stdout, "status 1\n", format)
            self.assert_one_line(done.stderr)

    def test_a_signal_leaves_nothing_behind(self):
        path, folder = self.long_trace(3000), self.file("folder")
        os.mkdir(folder)
        with open(path, "rb") as file:
            half = file.read()[:12000]
        for format in ("jsonl", "trace"):
            export = self.start_rollcall("export", "-", "--format", format, "-o", os.path.join(folder, "out"),
                                         stdin=subprocess.PIPE, text=False)
            export.stdin.write(half)
            export.stdin.flush()
            wait_for(lambda: os.listdir(folder), "the draft")
            export.send_signal(signal.SIGTERM)
            self.assertEqual(export.wait(LIMIT_S), -signal.SIGTERM)
            self.assertEqual(os.listdir(folder), [])

    def test_a_reader_that_leaves_ends_it(self):
        path = self.long_trace(20000)
        done = self.run_command(["sh", "-c", '"$0" export "$1" --format jsonl | head -1; true', ROLLCALL, path], text=True)
        self.assertEqual((len(done.stdout.splitlines()), done.stderr), (1, ""))


@unittest.skipIf(SANITIZED, "a sanitizer takes the address space")
class Memory(ExportCase):
    def peak_kib(self, path, format):
        """The most memory an export takes, within an address space of 96 MiB."""
        process = subprocess.Popen(["sh", "-c", 'ulimit -v 98304; exec "$0" export "$1" --format "$2"', ROLLCALL, path, format],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=self.environment)
        said = process.stderr.read()
        process.stderr.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        self.assertEqual((status, said), (0, b""))
        return usage.ru_maxrss

    def test_memory_does_not_grow_with_the_trace(self):
        """Ten times the trace, the same memory: so would a hundred thousand times be."""
        short, long = self.long_trace(30000), self.long_trace(300000)
        self.assertGreater(os.path.getsize(long), 7 * os.path.getsize(short))
        for format in FORMATS:
            with self.subTest(format=format):
                self.assertLess(self.peak_kib(long, format), self.peak_kib(short, format) + 1024)


if __name__ == "__main__":
    unittest.main()
