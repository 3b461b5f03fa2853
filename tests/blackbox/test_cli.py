# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""The command line itself: help, errors, exit statuses."""

import json
import os
import re
import unittest

from tests.blackbox.support import REPOSITORY, ROLLCALL, Case, Script, needs_preload

VERBS = ["run", "list", "top", "record", "replay", "report", "info", "import", "export", "check", "diff", "serve", "gc",
         "doctor"]


def read_text(name):
    with open(os.path.join(REPOSITORY, name), encoding="utf-8") as file:
        return file.read()


class Help(Case):
    def test_help_names_every_verb(self):
        text = self.rollcall("--help").stdout
        for verb in VERBS:
            self.assertRegex(text, r"(?m)^  %s +\S" % verb)
        self.assertNotRegex(text, r"(?m)^  docs ")

    def test_help_of_each_verb_has_usage_options_and_examples(self):
        for verb in VERBS:
            with self.subTest(verb=verb):
                text = self.rollcall(verb, "--help").stdout
                self.assertIn("  rollcall %s" % verb, text)
                self.assertIn("--help", text)
                self.assertIn("Examples:\n  ", text)
                self.assertEqual(text, self.rollcall("help", verb).stdout)
                self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)

    def test_version_is_that_of_the_header(self):
        version = re.search(r'ROLLCALL_VERSION "(.*)"', read_text("libtelemetry/rollcall.h")).group(1)
        for words in (["--version"], ["-V"], ["run", "--version"], ["gc", "--version"]):
            self.assertEqual(self.rollcall(*words).stdout, "rollcall %s\n" % version)

    def test_man_page_names_every_verb_and_option(self):
        text = self.rollcall("docs", "--man").stdout
        for verb in VERBS:
            self.assertIn(".SS rollcall %s" % verb, text)
            for option in re.findall(r"--([a-z-]+)", self.rollcall(verb, "--help").stdout.split("Examples:")[0].split("Options:")[1]):
                if option != "help":
                    self.assertIn(option.replace("-", "\\-"), text)

    def test_fields_document_names_every_field(self):
        text = self.rollcall("docs", "--fields").stdout
        for name in os.listdir(os.path.join(REPOSITORY, "libtelemetry/schema")):
            rows = read_text("libtelemetry/schema/" + name)
            for section, field in re.findall(r"(?m)^TELE_FIELD\((\w+), (\w+),", rows):
                self.assertIn("| `%s` |" % field, text.split("\n## %s" % section)[1])


class Errors(Case):
    def test_an_unknown_verb_suggests_the_nearest(self):
        self.assertIn("'record'", self.fails("reocrd", status=2))
        self.assertIn("'list'", self.fails("lst", status=2))
        self.assertNotIn("did you mean", self.fails("xyzzy", status=2))

    def test_wrong_use_is_one_line_and_status_2(self):
        for words in (["run"], ["run", "--nonsense", "true"], ["run", "--interval", "0", "true"],
                      ["run", "--interval", "1e3", "true"], ["run", "--interval"], ["run", "--children=some", "true"],
                      ["run", "--alloc", "--no-alloc", "true"], ["run", "--record", "-", "true"],
                      ["run", "--force", "true"], ["run", "--top", "true"],
                      ["list", "extra"], ["list", "--json=yes"], ["top", "a", "b"], ["top", "--size", "80"],
                      ["top", "--size", "0x10"], ["top", "--size", "80x24x1"], ["top", "--batch", "0"],
                      ["top", "--batch", "2", "--once"], ["record"], ["record", "-o"], ["record", "-o", "x", "--"],
                      ["record", "-o", "x", "1", "--", "true"], ["record", "-o", "x", "--for", "0"],
                      ["replay"], ["replay", "a", "b"], ["replay", "a", "--at", "soon"], ["report"], ["info"],
                      ["gc", "now"], ["doctor", "me"], ["docs"], ["--no-such-option"], ["help", "nothing"]):
            with self.subTest(words=words):
                self.fails(*words, status=2)

    def test_files_that_are_no_traces_are_one_line_and_status_1(self):
        empty = self.file("empty")
        open(empty, "wb").close()
        other = self.file("other")
        with open(other, "wb") as f:
            f.write(b"GIF89a" * 1000)
        for verb in ("report", "info", "replay"):
            for path in (self.file("missing"), empty, other, self.files):
                with self.subTest(verb=verb, path=os.path.basename(path)):
                    self.assertIn(path, self.fails(verb, path))

    def test_names_never_reach_the_terminal_as_controls(self):
        nasty = "\x1b]0;owned\x07\x9b31m\u202e\n"
        for words in ([nasty], ["run", nasty], ["report", nasty], ["top", nasty], ["record", "-o", self.file("t"), nasty]):
            done = self.rollcall(*words, status=None, text=False)
            self.assertIn(done.returncode, (1, 2, 127))
            self.assertEqual(done.stderr.count(b"\n"), 1)
            for bad in (b"\x1b", b"\x07", b"\xc2\x9b", b"\xe2\x80\xae"):
                self.assertNotIn(bad, done.stderr + done.stdout)

    def test_a_full_output_is_an_error(self):
        with open("/dev/full", "wb") as full:
            for words in (["--help"], ["--version"], ["list"], ["list", "--json"], ["top", "--once"], ["top", "--json"],
                          ["top", "--batch", "2"], ["gc"], ["doctor"]):
                with self.subTest(words=words):
                    self.assertIn("No space left on device; free some", self.fails(*words, stdout=full))

    def test_a_closed_output_is_an_error(self):
        for words in ("list", "top --batch 2", "doctor"):
            done = self.run_command(["sh", "-c", "exec %s %s >&-" % (ROLLCALL, words)], text=True)
            self.assertEqual((done.returncode, done.stderr), (1, "rollcall %s: cannot write to standard output: "
                                                                 "Bad file descriptor\n" % words.split()[0]))


class Nothing(Case):
    def test_without_a_terminal_rollcall_prints_a_screen(self):
        text = self.rollcall().stdout
        self.assertIn("rollcall run", text)
        self.assertNotIn("\x1b", text)

    def test_an_empty_list_teaches_how_to_start(self):
        self.assertIn("rollcall run -- CMD", self.rollcall("list").stdout)
        self.assertEqual(self.rollcall("list", "--json").stdout.strip(), "[]")

    def test_gc_of_nothing_removes_nothing(self):
        self.assertIn("0 segments", self.rollcall("gc").stdout)

    def test_doctor_says_what_works(self):
        text = self.rollcall("doctor", status=None).stdout
        for word in ("shared memory", "directory", "record locks", "close_range", "ptrace", "cgroup", "CUDA", "locale"):
            self.assertRegex(text, r"(?m)^(ok|warn|fail) +%s" % word)

    @needs_preload
    def test_doctor_and_the_publisher_agree_on_the_cgroup(self):
        script = Script(self)
        script.do("flush")
        process, = json.loads(self.rollcall("list", "--json").stdout)
        known = process["fields"]["host.cgroup_current_bytes"] is not None
        text = self.rollcall("doctor", status=None).stdout
        self.assertRegex(text, r"(?m)^%s +cgroup" % ("ok" if known else "warn"))

    def test_doctor_of_a_directory_that_is_not_there(self):
        for name in (self.directory + "/new", self.directory + "/new/", "new"):
            text = self.rollcall("doctor", status=None, env=dict(self.environment, ROLLCALL_DIR=name)).stdout
            self.assertRegex(text, r"(?m)^ok +directory .*not there yet")
            self.assertNotRegex(text, r"(?m)^fail +shared memory")

    def test_doctor_fails_where_others_may_write(self):
        os.chmod(self.directory, 0o777)
        done = self.rollcall("doctor", status=1)
        self.assertRegex(done.stdout, r"(?m)^fail +directory .*chmod 700")
        self.fails("list")


if __name__ == "__main__":
    unittest.main()
