# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""The malloc in other people's programs: misuse is stopped with one line, real
programs do a piece of their own work under the preload, forks and other
preloads do it no harm, and mutants of it fail its own ledger."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from tests.blackbox.prometheus import free_port
from tests.blackbox.support import BUILD, LIBRARY, REPOSITORY, SANITIZED, Case, wait_for

ALLOC = os.path.join(BUILD, "librollcall-alloc.so")


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("ROLLCALL") and k != "LD_PRELOAD"}
    kept.update(LD_PRELOAD=ALLOC, ROLLCALL="off", **more)
    return kept


def run(command, timeout=120, env=None, **keywords):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=timeout, env=env or environment(), **keywords)


def prog(name):
    return os.path.join(BUILD, "tests", "prog", name)


@unittest.skipIf(SANITIZED, "a sanitizer brings its own malloc")
class Misuse(unittest.TestCase):
    def stopped(self, name, line, *arguments):
        done = run([prog(name), *arguments])
        self.assertEqual(done.returncode, -signal.SIGABRT, done.stderr)
        self.assertRegex(done.stderr, r"\Arollcall: %s: 0x[0-9a-f]+\n\Z" % line)

    def test_double_free_of_a_small_block(self):
        self.stopped("double_free_small", "double free")

    def test_double_free_of_a_mapping(self):
        self.stopped("double_free_large", "double free")

    def test_double_free_by_two_other_threads(self):
        self.stopped("double_free_foreign", "double free")

    def test_free_of_the_stack(self):
        self.stopped("free_of_stack", "free of a pointer that is no block")

    def test_free_of_the_middle_of_a_block(self):
        self.stopped("free_of_middle", "free of a pointer into a block")

    def test_free_of_the_middle_of_a_run(self):
        self.stopped("free_of_run_middle", "free of a pointer into a block")

    def test_damaged_metadata_is_told(self):
        for kind in ("C", "H", "S"):  # a chunk of it, a heap, a segment's descriptors
            self.stopped("damage_metadata", "heap metadata is damaged", kind)

    def test_an_overflow_dies_before_it_reaches_metadata(self):
        done = run([prog("overflow_upwards")])
        self.assertEqual(done.returncode, -signal.SIGSEGV)

    def test_the_knob_lets_a_misuse_pass(self):
        done = run([prog("double_free_small")], env=environment(ROLLCALL_MALLOC="abort=no"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("rollcall: double free", done.stderr)


@unittest.skipIf(SANITIZED, "a sanitizer brings its own malloc")
class Processes(Case):
    def test_every_child_of_a_fork_among_16_threads_finishes(self):
        done = run([prog("fork_while_allocating"), "1000"], timeout=300)
        self.assertEqual((done.returncode, done.stdout), (0, "1000\n"), done.stderr)

    def test_memory_mapped_by_the_program_changes_no_bucket(self):
        done = run([prog("heap_outside")])
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_other_preloads_and_an_empty_environment(self):
        wrap = self.compile("wrap.so", """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
void *mmap(void *at, size_t n, int p, int f, int fd, off_t o) {
	static void *(*real)(void *, size_t, int, int, int, off_t);
	if (!real) real = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
	free(malloc(100));
	return real(at, n, p, f, fd, o);
}
ssize_t read(int fd, void *at, size_t n) {
	static ssize_t (*real)(int, void *, size_t);
	if (!real) real = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
	free(malloc(100));
	return real(fd, at, n);
}
int open(const char *path, int flags, ...) {
	static int (*real)(const char *, int, ...);
	va_list arguments; va_start(arguments, flags); int mode = va_arg(arguments, int); va_end(arguments);
	if (!real) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	free(malloc(100));
	return real(path, flags, mode);
}
""", "-shared", "-fPIC", "-ldl")
        programs = [["/bin/true"], ["/bin/ls", "/"], ["/bin/bash", "-c", "echo $((1+1))"],
                    [os.path.realpath(sys.executable), "-c", "print(1)"]]
        for preload in (ALLOC, ALLOC + ":" + wrap, wrap + ":" + ALLOC):
            for command in programs:
                started = time.monotonic()
                done = run(command, env={"LD_PRELOAD": preload}, timeout=30)
                self.assertEqual((done.returncode, done.stderr), (0, ""), (preload, command))
                self.assertLess(time.monotonic() - started, 20)

    def test_sandboxes_work_as_without_us(self):
        commands = [["unshare", "-Ur", "true"]]
        if shutil.which("bwrap"):
            commands.append(["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "true"])
        tried = 0
        for command in commands:
            if subprocess.run(command, capture_output=True).returncode != 0:
                continue  # not allowed here anyway
            tried += 1
            # Both, as `rollcall run` does: the parking is librollcall's.
            on = environment()
            del on["ROLLCALL"]
            on["LD_PRELOAD"] += ":" + LIBRARY
            done = run(command, env=on)
            self.assertEqual(done.returncode, 0, done.stderr)
        if not tried:
            self.skipTest("neither unshare nor bwrap may work here")

    def test_what_it_needs_from_libc_neither_allocates_nor_prints(self):
        out = subprocess.run(["nm", "-D", "-u", ALLOC], capture_output=True, text=True, check=True).stdout
        needed = {line.split()[-1].split("@")[0] for line in out.splitlines()}
        banned = re.compile(r"malloc|calloc|realloc|strdup|printf|fopen|fwrite|dlsym|setenv|opendir|popen")
        self.assertEqual([name for name in needed if banned.search(name)], [])


@unittest.skipIf(SANITIZED, "a sanitizer brings its own malloc")
class RealPrograms(Case):
    def need(self, *names):
        for name in names:
            if not shutil.which(name):
                self.skipTest("%s is not installed here" % name)

    def same(self, command, **keywords):
        """The output under the preload is the output without it."""
        plain = environment()
        del plain["LD_PRELOAD"]
        expected = run(command, env=plain, **keywords)
        got = run(command, **keywords)
        self.assertEqual(expected.returncode, 0, expected.stderr)
        self.assertEqual((got.returncode, got.stdout, got.stderr), (0, expected.stdout, expected.stderr))
        return got.stdout

    def test_bash(self):
        self.same(["bash", "-c", "for i in {1..20000}; do a[i]=$((i*i)); done; echo ${#a[@]} ${a[777]} $(echo x | tr x y)"])

    def test_coreutils(self):
        self.same(["sh", "-c", "seq 1 200000 | sort -R --random-source=/bin/sh | sort -n | md5sum | cut -c1-8; "
                   "ls -laR /usr/include | wc -l; seq 1 100000 | tac | tr 1 2 | uniq | sha256sum"])

    def test_git(self):
        self.need("git")
        self.same(["sh", "-c", "rm -rf r && git -c init.defaultBranch=m init -q r && cd r && "
                   "for i in 1 2 3 4 5; do seq 1 $((i*1000)) > f$i; git add .; "
                   "GIT_AUTHOR_DATE='2020-01-01T00:00:0'$i'Z' GIT_COMMITTER_DATE='2020-01-01T00:00:0'$i'Z' "
                   "git -c user.name=a -c user.email=a@b commit -qm c$i; done; "
                   "git -c gc.auto=0 repack -adq && git fsck --full && git log --stat | cat"], cwd=self.files)

    def test_gcc(self):
        self.need("g++")
        source = self.file("a.cc")
        with open(source, "w") as out:
            out.write("#include <map>\n#include <string>\n#include <iostream>\n#include <regex>\n"
                      "int main() { std::map<std::string, int> m; for (int i = 0; i < 1000; i++) "
                      "m[std::to_string(i)] = i; std::cout << m.size() << "
                      "std::regex_match(\"aab\", std::regex(\"a+b\")) << std::endl; }\n")
        self.assertEqual(run(["g++", "-O1", "-o", "a.out", "a.cc"], cwd=self.files, timeout=300).returncode, 0)
        self.assertEqual(run(["./a.out"], cwd=self.files).stdout, "10001\n")

    def test_python(self):
        script = ("import json, re, threading, zlib\n"
                  "d = {str(i): [i] * (i % 50) for i in range(30000)}\n"
                  "t = [threading.Thread(target=lambda: [bytes(i % 9000) for i in range(5000)]) for _ in range(6)]\n"
                  "[x.start() for x in t]; [x.join() for x in t]\n"
                  "s = json.dumps(d)\n"
                  "print(len(s), len(json.loads(s)), len(re.findall('1+', s)), zlib.crc32(s.encode()))\n")
        for more in ({}, {"PYTHONMALLOC": "malloc"}):
            done = run([os.path.realpath(sys.executable), "-c", script], env=environment(**more))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"^\d+ 30000 \d+ \d+$")

    def test_perl(self):
        self.need("perl")
        self.same(["perl", "-e", "my %h; $h{$_ % 5000} .= $_ for 1..300000; print scalar(keys %h), ' ', length($h{7}), "
                   "' ', join(',', (sort { $a <=> $b } keys %h)[0..5]), qq(\\n)"])

    def test_sqlite(self):
        self.need("sqlite3")
        self.same(["sqlite3", ":memory:",
                   "create table t(a integer primary key, b text, c real);"
                   "with recursive n(i) as (select 1 union all select i+1 from n where i < 50000) "
                   "insert into t select i, hex(i*i), i*0.5 from n; create index x on t(b); "
                   "update t set c = c*2 where a % 3 = 0; delete from t where a % 7 = 0; vacuum;"
                   "select count(*), sum(length(b)), round(sum(c)) from t; pragma integrity_check;"])

    def test_redis(self):
        self.need("redis-server", "redis-benchmark", "redis-cli")
        port = str(free_port())
        server = self.start(["redis-server", "--port", port, "--save", "", "--appendonly", "no"],
                            cwd=self.files, env=environment(), stdout=subprocess.DEVNULL)
        wait_for(lambda: run(["redis-cli", "-p", port, "ping"]).stdout == "PONG\n", "the server")
        done = run(["redis-benchmark", "-p", port, "-n", "30000", "-P", "16", "-q", "-r", "10000", "-d", "400",
                    "-t", "set,get,lpush,hset,zadd"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(run(["redis-cli", "-p", port, "flushall"]).stdout, "OK\n")
        self.assertIn("used_memory", run(["redis-cli", "-p", port, "info", "memory"]).stdout)
        server.terminate()
        self.assertEqual(server.wait(timeout=30), 0)


# Each changes one place of the source; what the ledger must notice.
MUTANTS = {
    "a missing drain": ("alloc/remote.c", "span->n_free = (uint16_t)(span->n_free + n);",
                        "span->n_free = (uint16_t)(span->n_free + 0 * n);"),
    "a double count of a parked free": ("alloc/remote.h",
                                        "alloc_word_add(&heap->c, alloc_pair_word(span->slot_bytes, slack_bytes));",
                                        "alloc_word_add(&heap->c, 2 * alloc_pair_word(span->slot_bytes, slack_bytes));"),
    "B not lowered by a fold": ("alloc/remote.c", "atomic_fetch_sub_explicit(&span->b, pair, memory_order_release);",
                                "atomic_fetch_sub_explicit(&span->b, 0 * pair, memory_order_release);"),
    "a wrong clip at a page border": ("alloc/reclaim.c",
                                      "(begin + class->slot_bytes - 1) / ALLOC_PAGE_BYTES);",
                                      "begin / ALLOC_PAGE_BYTES);"),
    "a segment that is not counted": ("alloc/directory.c", "alloc_directory_end((int64_t)ALLOC_SEGMENT_BYTES);",
                                      "alloc_directory_end(0);"),
}


@unittest.skipIf(SANITIZED, "the mutants are built once, without a sanitizer")
class Mutants(Case):
    def test_the_ledger_fails_on_every_mutant_and_on_no_other(self):
        for part in ("alloc", "libtelemetry", "tests", "Makefile"):
            source = os.path.join(REPOSITORY, part)
            target = self.file(part)
            if os.path.isdir(source):
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("golden", "traces", "blackbox"))
            else:
                shutil.copy(source, target)
        program = "build/tests/test_alloc_ledger"
        for name, change in [("none", None)] + sorted(MUTANTS.items()):
            if change:
                path, old, new = change
                path = self.file(path)
                text = pathlib.Path(path).read_text()
                self.assertEqual(text.count(old), 1, name)
                pathlib.Path(path).write_text(text.replace(old, new))
            subprocess.run(["make", "-s", "O=build", program], cwd=self.files, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            done = subprocess.run([self.file(program)], capture_output=True, timeout=300,
                                  env=dict(os.environ, ALLOC_LEDGER_SNAPSHOTS="3000"))
            if change:
                self.assertNotEqual(done.returncode, 0, name)
                pathlib.Path(path).write_text(text)
            else:
                self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
