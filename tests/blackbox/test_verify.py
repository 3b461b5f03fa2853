# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""`rollcall verify` and `info`: exit status, what is said, repair, segments."""

import glob
import json
import os
import re
import signal
import unittest

from tests.blackbox.blocks import blocks_of
from tests.blackbox.support import ROLLCALL, Case, Script, needs_preload


@needs_preload
class Verify(Case):
    def setUp(self):
        super().setUp()
        script = Script(self, ROLLCALL_LABEL="the \x1b[7msearch", ROLLCALL_RING_BYTES=str(1 << 20))
        script.do("phase:A")
        script.do("search 40")
        script.do("gauge depth 3")
        for _ in range(35):
            script.do("search 20")
        script.do("flush")
        script.kill()
        self.pid = script.pid
        self.trace = self.file("t.rct")
        self.rollcall("record", "-q", "-o", self.trace, str(self.pid))
        self.segment, = glob.glob(os.path.join(self.directory, "*.rcs"))

    def flipped(self, path, at):
        with open(path, "rb") as file:
            data = bytearray(file.read())
        data[at] ^= 0x55
        copy = self.file("flipped" + os.path.splitext(path)[1])
        with open(copy, "wb") as file:
            file.write(data)
        return copy

    def test_a_whole_trace_and_a_whole_segment(self):
        for path in (self.trace, self.segment):
            done = self.rollcall("verify", path)
            self.assertRegex(done.stdout, r"whole: [\d,]+ blocks, [\d,]+ records\n\Z")
            self.assertEqual(self.rollcall("verify", "-q", path).stdout, "")

    def test_one_flipped_byte_names_the_block_and_its_records(self):
        size = os.path.getsize(self.trace)
        for at in range(4096, size, size // 25):
            done = self.rollcall("verify", self.flipped(self.trace, at), status=1)
            with self.subTest(at=at):
                offset = int(re.search(r"damaged at byte ([\d,]+): (block|trailer|no trailer)", done.stdout).group(1).replace(",", ""))
                self.assertLessEqual(offset, at)
                self.assertRegex(done.stdout, r"recoverable: [\d,]+ of [\d,]+ blocks")
                self.assertNotIn("\x1b", done.stdout)

    def test_what_is_whole_can_be_saved(self):
        blocks = blocks_of(self.trace)
        data = [i for i, block in enumerate(blocks) if block[0] == 1]
        self.assertGreater(len(data), 3)
        at = 4096 + sum(size for _, _, size in blocks[:data[1]]) + 100
        bad, good = self.flipped(self.trace, at), self.file("good.rct")
        self.rollcall("verify", bad, "--repair", good, status=1)
        self.rollcall("verify", good)
        before, after = self.report(bad), self.report(good)
        self.assertEqual(before, after)
        self.assertGreater(after[0]["lost"], 0)
        self.fails("verify", bad, "--repair", good, status=2)
        self.rollcall("verify", bad, "--repair", good, "--force", status=1)
        self.fails("verify", bad, "--repair", bad, "--force", status=2)
        self.fails("verify", bad, "--repair", self.file("no/where.rct"), status=2)
        self.fails("verify", bad, "--repair", "/dev/full", status=2)

    def test_who_reads_no_further_hears_of_no_damage(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = self.run_command([ROLLCALL, "verify", self.trace], stdout=writer)
        os.close(writer)
        self.assertEqual(done.returncode, -signal.SIGPIPE)

    def test_a_repair_that_fails_leaves_what_was_there(self):
        with open(self.file("old.rct"), "w") as file:
            file.write("precious")
        self.fails("verify", self.file("nothing.rct"), "--repair", self.file("old.rct"), "-f", status=2)
        with open(self.file("none.rct"), "wb") as file:
            file.write(b"x" * 5000)
        self.fails("verify", self.file("none.rct"), "--repair", self.file("old.rct"), "-f", status=2)
        with open(self.file("old.rct")) as file:
            self.assertEqual(file.read(), "precious")
        self.assertEqual([n for n in os.listdir(self.files) if n.startswith("old.rct.")], [])

    def test_a_segment_with_a_wrong_byte(self):
        with open(self.segment, "rb") as file:
            header = file.read(512)

        def word(n):
            return int.from_bytes(header[8 * n:8 * n + 8], "little")
        for at in (9, 100, word(19) + 40, word(19) + 2000, word(26) + 100, word(26) + 3000):
            done = self.rollcall("verify", self.flipped(self.segment, at), status=1)
            self.assertIn("damaged at byte", done.stdout, at)
        copy = self.file("cut.rcs")
        with open(self.segment, "rb") as file:
            data = file.read()
        for cut in (8, 600, 5000, len(data) // 2, len(data) - 1):
            with open(copy, "wb") as file:
                file.write(data[:cut])
            with self.subTest(cut=cut):
                self.assertIn("damaged at byte", self.rollcall("verify", copy, status=1).stdout)

    def test_a_segment_that_is_being_written_is_whole(self):
        script = Script(self, ROLLCALL_INTERVAL_MS="1")
        script.do("search 10")
        segment = glob.glob(os.path.join(self.directory, "%d.*.rcs" % script.pid))[0]
        for _ in range(20):
            script.do("search 100")
            self.rollcall("verify", segment)

    def test_what_is_no_file_of_ours(self):
        for path, status in (("/dev/null", 2), (self.files, 2), ("/nowhere", 2), (self.segment + "x", 2)):
            self.fails("verify", path, status=status)
        for words in ((), (self.trace, self.trace), ("-",), (self.trace, "--force")):
            self.fails("verify", *words, status=2)
        empty = self.file("empty")
        open(empty, "w").close()
        self.fails("verify", empty, status=2)

    def test_verbs_that_read_say_one_line_of_what_they_cannot(self):
        """R1: a 0-byte file, a directory, and bytes that are nothing."""
        nothing = self.file("nothing")
        with open(nothing, "wb") as file:
            file.write(os.urandom(10000))
        empty = self.file("empty")
        open(empty, "w").close()
        for verb in (["report"], ["report", "--json"], ["info"], ["info", "--json"], ["replay", "--once"]):
            for path in (nothing, empty, self.files, "/nowhere", "/dev/null"):
                with self.subTest(verb=verb, path=path):
                    self.fails(*verb, path)

    def test_info_as_json_is_all_of_it(self):
        info = json.loads(self.rollcall("info", "--json", self.trace).stdout)
        self.assertTrue(info["is_complete"])
        self.assertEqual(info["bytes"], os.path.getsize(self.trace))
        self.assertEqual(info["blocks"]["data"] > 1 and info["blocks"]["stream"] >= 1, True)
        process, = info["processes"]
        self.assertEqual((process["pid"], process["state"], process["lost"]), (self.pid, "killed", 0))
        self.assertEqual(process["candidates"]["timed"], 740)
        self.assertEqual([(p["name"], p["candidates"]) for p in process["phases"]], [("A", 740)])
        names = {field["name"]: field for field in process["schema"]}
        self.assertEqual(names["app.depth"]["kind"], "gauge")
        self.assertEqual(names["heap.live_bytes"]["unit"], "bytes")
        self.assertTrue(names["heap.live_bytes"]["is_known"])
        self.assertGreater(info["records"], process["rows"])
        text = self.rollcall("info", "--schema", self.trace).stdout
        self.assertIn("heap.live_bytes", text)
        self.assertNotIn("\x1b", text)


if __name__ == "__main__":
    unittest.main()
