# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""The protocols of the segment under reordering: docs/proof.md."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROOF = os.path.join(TOP, "tests", "proof")
sys.path.insert(0, PROOF)

from machine import Explorer, Step  # noqa: E402


TOLD = []  # for the table of the soak


def tearDownModule():
    # Not while a test's own line is half written.
    print("\n".join(TOLD), flush=True)


def outcomes(*threads):
    """Every set of registers that the threads can end with."""
    found = set()

    def check(registers):
        found.add(tuple(sorted(registers.items())))
    Explorer(list(threads), {}, check).run()
    return found


def store(place, order="relaxed"):
    return Step("st", place, 1, order=order)


def load(place, reg, order="relaxed"):
    return Step("ld", place, reg=reg, order=order)


class TheMachine(unittest.TestCase):
    STALE = (("flag", 1), ("data", 0))

    def passing(self, writer, reader):
        return tuple(sorted(self.STALE)) in outcomes(writer, reader)

    def test_relaxed_messages_pass_in_any_order(self):
        self.assertTrue(self.passing([store("data"), store("flag")], [load("flag", "flag"), load("data", "data")]))

    def test_release_and_acquire_pass_them_in_order(self):
        self.assertFalse(self.passing([store("data"), store("flag", "release")],
                                      [load("flag", "flag", "acquire"), load("data", "data")]))

    def test_one_of_both_is_not_enough(self):
        self.assertTrue(self.passing([store("data"), store("flag", "release")],
                                     [load("flag", "flag"), load("data", "data")]))
        self.assertTrue(self.passing([store("data"), store("flag")],
                                     [load("flag", "flag", "acquire"), load("data", "data")]))

    def test_fences_do_as_well(self):
        self.assertFalse(self.passing([store("data"), Step("fence", order="release"), store("flag")],
                                      [load("flag", "flag"), Step("fence", order="acquire"), load("data", "data")]))

    def test_a_release_does_not_hold_back_what_comes_after_it(self):
        self.assertTrue(self.passing([store("flag", "release"), store("data")],
                                     [load("data", "flag"), Step("fence", order="acquire"), load("flag", "data")]))

    def test_stores_are_buffered_and_loads_are_early(self):
        both = outcomes([store("x"), load("y", "a")], [store("y"), load("x", "b")])
        self.assertIn((("a", 0), ("b", 0)), both)
        both = outcomes([load("x", "a"), store("y")], [load("y", "b"), store("x")])
        self.assertIn((("a", 1), ("b", 1)), both)

    def test_one_place_has_one_order(self):
        both = outcomes([store("x")], [load("x", "a"), load("x", "b")])
        self.assertNotIn((("a", 1), ("b", 0)), both)


class TheProtocols(unittest.TestCase):
    def run_on(self, top):
        return subprocess.run([sys.executable, "-B", os.path.join(PROOF, "weak.py")], text=True, timeout=300,
                              capture_output=True, env=dict(os.environ, PROOF_TOP=top))

    def test_hold_and_need_all_that_orders_them(self):
        done = self.run_on(TOP)
        TOLD.append(done.stdout.strip().split("\n")[-1])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def changed(self, path, old, new, protocol_fails=True):
        """weak.py on sources in which `old` became `new`: it must complain."""
        with tempfile.TemporaryDirectory() as top:
            shutil.copytree(os.path.join(TOP, "libtelemetry"), os.path.join(top, "libtelemetry"))
            name = os.path.join(top, "libtelemetry", path)
            with open(name, encoding="utf-8") as file:
                text = file.read()
            self.assertEqual(text.count(old), 1, old)
            with open(name, "w", encoding="utf-8") as file:
                file.write(text.replace(old, new))
            done = self.run_on(top)
        self.assertNotEqual(done.returncode, 0, "%s: %s went unnoticed" % (path, new))
        if not protocol_fails:
            self.assertIn("does not know", done.stderr)
        return done

    def test_follow_the_sources(self):
        self.changed("publish/ring.c", "\ttele_fence_release();\n\tif (pad", "\tif (pad")
        self.changed("publish/store.h", "value, memory_order_release", "value, memory_order_relaxed")
        self.changed("attach.c", "\ttele_fence_acquire();\n", "")
        self.changed("attach_open.c", "if (epoch == header[TELE_CHUNK_EPOCH])", "if (true)")
        self.changed("publish/slots.c", "1, memory_order_release);", "1, memory_order_relaxed);")

    def test_do_not_guess_what_a_new_store_means(self):
        self.changed("publish/ring_commit.c", "\ttele_ring_store_word(ring, offset, seq);",
                     "\ttele_ring_store_word(ring, offset + 24, seq);", protocol_fails=False)


if __name__ == "__main__":
    unittest.main()
