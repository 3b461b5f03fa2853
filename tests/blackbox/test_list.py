# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""Who is listed, as what, and what `gc` removes."""

import json
import os
import signal
import struct
import subprocess
import unittest

from tests.blackbox.support import LIBRARY, SCRIPT, Case, Script, needs_preload, needs_root, needs_shm, wait_for

SLOW = {"ROLLCALL_INTERVAL_MS": "60000"}  # no tick comes between two commands


@needs_preload
class Listing(Case):
    def test_json_has_the_keys_of_the_contract(self):
        script = Script(self, ROLLCALL_LABEL="mine")
        script.do("phase:A")
        script.do("pool 1 1000")
        script.do("pool 2 500 constant")
        script.do("context")
        script.do("module")
        script.candidate("first", "kept")
        script.candidate("second", "timed")
        script.candidate("third", "declined")
        script.do("gauge depth 7")
        script.do("flush")
        process = self.listed(script.pid)
        self.assertEqual((process["label"], process["state"], process["lost"]), ("mine", "live", 0))
        with open("/proc/%d/stat" % script.pid) as file:
            self.assertEqual(process["start_ticks"], int(file.read().rsplit(")", 1)[1].split()[19]))
        fields = process["fields"]
        self.assertEqual(fields["census.live_working_pools"], 1)
        self.assertEqual(fields["census.live_working_bytes"], 1000)
        self.assertEqual(fields["census.live_constant_bytes"], 500)
        self.assertEqual(fields["census.contexts_created"], 1)
        self.assertEqual(fields["device[0].modules_loaded"], 1)
        self.assertEqual(fields["app.depth"], 7)
        self.assertEqual(fields["search.phase"], "A")
        self.assertEqual(process["derived"]["live_pools"], 2)
        self.assertEqual(process["derived"]["live_pool_bytes"], 1500)
        self.assertEqual(process["derived"]["unreleased_contexts"], 1)
        self.assertEqual(process["candidates"]["timed"], 1)
        self.assertEqual(process["candidates"]["kept"], 1)
        self.assertEqual(process["candidates"]["declined"], 1)
        self.assertIsInstance(process["verdicts"], list)
        self.assertGreater(process["captured_at_ns"], 0)

    def test_pools_of_every_label_are_counted(self):
        script = Script(self)
        script.do("pool 1 1000")
        script.do("pool 2 500 constant")
        script.do("pool 3 500 staging")
        script.do("flush")
        self.assertIn(" 1+2 ", self.rollcall("list").stdout)

    def test_labels_are_cleaned_for_the_terminal_there_is(self):
        script = Script(self, ROLLCALL_LABEL="a\u200bb \u00db")
        script.do("flush")
        self.assertIn(" a?b \u00db\n", self.rollcall("list").stdout)
        # In an 8-bit terminal the second byte of that letter is a control character.
        plain = dict(self.environment, LC_ALL="C")
        self.assertIn(b" a?b ?\n", self.rollcall("list", env=plain, text=False).stdout)
        self.assertIn(b"'?'", self.rollcall("record", "-o", self.file("t"), "\u00dc", env=plain, status=1, text=False).stderr)

    def test_a_command_on_growth_is_for_the_chosen_process_alone(self):
        chosen, other = Script(self, ROLLCALL_LABEL="chosen"), Script(self, ROLLCALL_LABEL="other")
        for script in (chosen, other):
            script.do("search 200")
            script.do("flush")
        told = self.file("told")
        # Readings go on until it was told; it is, of both, without a choice.
        for words, expected in ((["chosen"], {chosen.pid}), ([], {chosen.pid, other.pid})):
            monitor = self.start_rollcall("top", *words, "--batch", "1000", "--interval", "20", "--on",
                                          "growing=echo $ROLLCALL_VERDICT_PID >> %s" % told, stdout=subprocess.DEVNULL)
            wait_for(lambda: expected <= self.pids_in(told), "the commands")
            monitor.kill()
            self.assertEqual(self.pids_in(told), expected)

    def pids_in(self, path):
        if not os.path.exists(path):
            return set()
        with open(path) as file:
            return {int(line) for line in file.read().split("\n")[:-1]}

    def test_a_killed_process_is_listed_with_its_last_boundary(self):
        script = Script(self, **SLOW)
        for i in range(5):
            script.candidate("candidate %d" % i, "timed")
            script.do("pool %d 100" % i)
        script.do("begin:the last")
        script.kill()
        process = self.listed(script.pid)
        self.assertEqual(process["state"], "killed")
        self.assertEqual(process["fields"]["search.candidates_attempted"], 6)
        self.assertEqual(process["fields"]["search.open_candidates"], 1)
        self.assertEqual(process["fields"]["census.live_working_pools"], 5)
        self.assertRegex(self.rollcall("list").stdout, r"(?m)^ *%d +killed " % script.pid)

    def test_a_program_that_ended_is_exited_and_not_killed(self):
        script = Script(self)
        script.do("pool 1 1")
        script.finish()
        self.assertEqual(self.listed(script.pid)["state"], "exited")

    @needs_shm(64)
    def test_fifty_processes_in_one_list(self):
        scripts = [Script(self, ROLLCALL_LABEL="number %d" % i, **SLOW) for i in range(50)]
        for i, script in enumerate(scripts):
            script.do("pool 1 %d" % (i + 1))
            script.do("flush")
        listed = {p["label"]: p for p in self.list()}
        self.assertEqual(len(listed), 50)
        for i, script in enumerate(scripts):
            process = listed["number %d" % i]
            self.assertEqual((process["pid"], process["state"]), (script.pid, "live"))
            self.assertEqual(process["fields"]["census.live_working_bytes"], i + 1)
        lines = self.rollcall("list").stdout.splitlines()
        self.assertEqual(len([line for line in lines if " live " in line and line.split()[0].isdigit()]), 50)

    def test_labels_reach_the_terminal_without_controls(self):
        script = Script(self, ROLLCALL_LABEL="a\x1b[31mb\x9bc\u202ed\ne")
        script.do("pool 1 1")
        for words in (["list"], ["list", "--json"], ["top", "--once"], ["top", "--once", str(script.pid)]):
            text = self.rollcall(*words, text=False).stdout
            self.assertIn(b"b", text)
            for bad in (b"\x1b", b"\xc2\x9b", b"\xe2\x80\xae"):
                self.assertNotIn(bad, text)
        json.loads(self.rollcall("list", "--json").stdout)

    @needs_shm(64)
    def test_a_restarted_label_is_a_new_run_each_time(self):
        """S5: the same label 50 times."""
        for i in range(50):
            script = Script(self, ROLLCALL_LABEL="again", **SLOW)
            script.do("pool 1 %d" % (i + 1))
            if i < 49:
                script.kill()
        script.do("flush")
        runs = [p for p in self.list() if p["label"] == "again"]
        self.assertEqual(len(runs), 50)
        live = [p for p in runs if p["state"] == "live"]
        self.assertEqual([p["pid"] for p in live], [script.pid])
        self.assertEqual(live[0]["fields"]["census.pools_freed"], 0)
        self.assertEqual(live[0]["fields"]["census.live_working_bytes"], 50)
        one = json.loads(self.rollcall("top", "--json", str(script.pid)).stdout)
        self.assertEqual([p["state"] for p in one], ["live"])


@needs_preload
class Identity(Case):
    def in_namespace(self, script, **options):
        command = ["unshare", "-pf", "--mount-proc", "--kill-child", "sh", "-c", script, LIBRARY, SCRIPT]
        process = self.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        if not process.stdout.readline():
            if self.run_command(["unshare", "-pf", "--mount-proc", "true"]).returncode == 0:
                self.fail(process.stderr.read())
            self.skipTest("NOT TESTED: no PID namespaces here")
        return process

    @needs_root
    def test_two_publishers_that_are_both_pid_1(self):
        """S2."""
        for label in ("one", "two"):
            process = self.in_namespace('export LD_PRELOAD="$0"; exec "$1"', env=dict(self.environment, ROLLCALL_LABEL=label))
            process.stdin.write("pool 1 %d\n" % len(label))
            process.stdin.flush()
            process.stdout.readline()
        found = wait_for(lambda: [p for p in self.list() if p["state"] == "live"], "both")
        self.assertEqual(sorted((p["pid"], p["label"]) for p in found), [(1, "one"), (1, "two")])

    @needs_root
    def test_a_pid_used_again_is_another_process(self):
        """C2: identity is pid, start ticks and boot id."""
        script = ('echo ready; read go; '
                  'printf "pool 1 11\\nflush\\ndie\\n" | LD_PRELOAD="$0" "$1" > /dev/null & pid=$!; wait $pid; sleep 0.05; '
                  'echo $((pid - 1)) > /proc/sys/kernel/ns_last_pid; '
                  '{ printf "pool 1 22\\nflush\\n"; sleep 60; } | LD_PRELOAD="$0" "$1"')
        process = self.in_namespace(script, env=dict(self.environment, ROLLCALL_CHILDREN="all"))
        process.stdin.write("go\n")
        process.stdin.flush()
        self.assertTrue(process.stdout.readline())

        def both():
            runs = [p for p in self.list() if p["fields"].get("census.live_working_bytes") in (11, 22)]
            runs.sort(key=lambda p: p["fields"]["census.live_working_bytes"])
            return runs if [p["state"] for p in runs] == ["killed", "live"] else None
        dead, live = wait_for(both, "a killed run and a live one")
        self.assertNotEqual(dead["start_ticks"], live["start_ticks"])

    def test_exec_starts_a_new_instance_of_the_same_pid(self):
        script = Script(self)
        script.do("pool 1 1")
        script.do("flush")
        self.assertEqual(script.ask("exec"), str(script.pid))
        script.do("pool 1 1")

        def both():
            return sorted(p["state"] for p in self.list() if p["pid"] == script.pid) == ["live", "replaced"]
        wait_for(both, "the instance before exec to be replaced")

    def test_a_forked_child_is_an_instance_of_its_own(self):
        script = Script(self)
        script.do("pool 1 5")
        script.do("flush")
        child = script.do("fork")
        self.addCleanup(os.kill, child, signal.SIGKILL)
        process = wait_for(lambda: self.listed(child), "the child")
        self.assertNotEqual(process["fields"].get("census.live_working_pools"), 1)
        self.assertEqual(self.listed(script.pid)["fields"]["census.live_working_pools"], 1)


@needs_preload
class Collecting(Case):
    @needs_shm(128)
    def test_a_hundred_killed_ones_and_a_live_one(self):
        """S1: dead ones listed as dead with their last reading; gc removes exactly those."""
        live = Script(self)
        live.do("pool 1 1")
        for i in range(0, 100, 20):
            scripts = [Script(self) for _ in range(20)]
            for k, script in enumerate(scripts):
                script.do("pool 1 %d" % (1000 + i + k))
                script.do("flush")
                script.kill()
        processes = self.list()
        self.assertEqual(len(processes), 101)
        dead = [p for p in processes if p["state"] == "killed"]
        self.assertEqual(sorted(p["fields"]["census.live_working_bytes"] for p in dead), list(range(1000, 1100)))
        self.assertEqual(len(os.listdir(self.directory)), 101)
        # A heartbeat must be old before a segment goes.
        wait_for(lambda: "100 segments" in self.rollcall("gc", "--dry-run").stdout, "a hundred to remove")
        self.assertEqual(len(os.listdir(self.directory)), 101)
        self.assertIn("100 segments", self.rollcall("gc").stdout)
        self.assertEqual([p["pid"] for p in self.list()], [live.pid])
        live.do("pool 2 2")

    def test_gc_says_what_it_keeps_and_the_list_what_its_columns_are(self):
        script = Script(self, **SLOW)
        script.do("pool 1 1000")
        script.do("pool 2 500 constant")
        script.do("flush")
        said = self.rollcall("list").stdout
        self.assertRegex(said, r"\b1\+1\b")
        self.assertIn("POOLS live now: labelled working + all others", said)
        script.kill()
        with open(os.path.join(self.directory, "1.0123456789abcdef.rcs"), "wb") as file:
            file.write(b"no segment")
        said = self.rollcall("gc").stdout  # its publisher had a minute to the next sign of life
        self.assertRegex(said, r"0 segments, 0 B\n1 dead kept for now: the last sign of life is too young")
        self.assertIn("1 unreadable kept: `rollcall gc --force`", said)

    def test_evidence_stays_until_gc(self):
        script = Script(self)
        script.do("pool 1 1")
        script.kill()
        name = os.listdir(self.directory)[0]
        for words in (["list"], ["top", "--once"], ["run", "true"]):
            self.rollcall(*words)
            self.assertIn(name, os.listdir(self.directory))

        def removed():
            self.rollcall("gc")
            return name not in os.listdir(self.directory)
        wait_for(removed, "the removal")

    @needs_shm(192)
    def test_plain_dead_ones_go_while_they_are_more_than_64_mib(self):
        env = dict(self.environment, ROLLCALL_RING_BYTES=str(16 << 20))
        for _ in range(6):
            self.rollcall("run", "true", env=env)

        def removed():
            self.rollcall("list")
            return len(os.listdir(self.directory)) < 6
        wait_for(removed, "a removal")
        self.assertGreaterEqual(len(os.listdir(self.directory)), 3)


@needs_preload
class Damage(Case):
    """S3: another version, size or magic; cut anywhere."""

    def setUp(self):
        super().setUp()
        script = Script(self)
        script.do("pool 1 1")
        script.candidate("one", "timed")
        script.finish()
        self.path = os.path.join(self.directory, os.listdir(self.directory)[0])
        with open(self.path, "rb") as file:
            self.whole = file.read()

    def with_bytes(self, content):
        with open(self.path, "wb") as file:
            file.write(content)
        for words in (["list"], ["list", "--json"], ["top", "--once"]):
            self.rollcall(*words)
        return self.rollcall("list", "--all").stderr

    def test_another_version_is_refused_and_both_are_named(self):
        words = bytearray(self.whole)
        words[16:24] = struct.pack("<HHI", 99, 0, 64)
        said = self.with_bytes(words)
        self.assert_one_line(said)
        self.assertIn("99", said)
        self.assertRegex(said, r"\b1\b")

    def test_another_magic_is_refused(self):
        self.assert_one_line(self.with_bytes(b"ELFELFEL" + self.whole[8:]))

    def test_a_segment_cut_anywhere_is_refused_or_read(self):
        for cut in [0, 8, 511, 512, 4095, 4096, 65536] + list(range(8192, len(self.whole), len(self.whole) // 16)):
            with self.subTest(cut=cut):
                self.with_bytes(self.whole[:cut])

    def test_gc_leaves_the_unreadable_unless_it_is_forced(self):
        self.with_bytes(b"?" * len(self.whole))
        os.utime(self.path, (1, 1))
        self.rollcall("gc")
        self.assertTrue(os.path.exists(self.path))
        self.rollcall("gc", "--force")
        self.assertFalse(os.path.exists(self.path))


if __name__ == "__main__":
    unittest.main()
