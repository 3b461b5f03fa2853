# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""The publisher inside programs that do not expect it: whatever they do, they run
as without it, and what is known of them stays true."""

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from tests.blackbox.support import BUILD, LIBRARY, Case, Script, needs_preload, needs_root, wait_for

SYS_CLOSE_RANGE = "436"
SLOW = {"ROLLCALL_INTERVAL_MS": "60000"}
FAST = {"ROLLCALL_INTERVAL_MS": "1"}


PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 0x4206, 0x4207, 0x40000000


def ptrace(request, tid):
    call = ctypes.CDLL(None).ptrace
    call.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    return call(request, tid, None, None)


def read_line(path):
    with open(path) as file:
        return file.readline().strip()


def program(name):
    return os.path.join(BUILD, "tests", "prog", name)


class Publishing(Case):
    def launch(self, name, *words, before=(), **environment):
        """Starts a program under the preload; its lines are read by `line`."""
        env = dict(self.environment, LD_PRELOAD=LIBRARY, **environment)
        said = os.path.join(self.files, "said-%d" % len(self.processes))
        with open(said, "w") as stderr:
            process = self.start([*before, program(name), *words], env=env, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=stderr, text=True)
        process.said = said
        process.published_pid = int(self.line(process))
        return process

    def said(self, process):
        """What it wrote to standard error; children may still hold that open."""
        with open(process.said) as file:
            return file.read()

    def line(self, process):
        line = process.stdout.readline().strip()
        if not line:
            process.wait(10)
            self.fail("it ended with %s: %s" % (process.returncode, self.said(process)))
        return line

    def end(self, process):
        process.stdin.close()
        process.stdin = None
        self.assertEqual(process.wait(30), 0, self.said(process))

    def fields(self, pid):
        return self.listed(pid)["fields"]

    def all_listed(self, pid):
        return [p for p in self.list() if p["pid"] == pid]

    def published(self):
        return os.listdir(self.directory)


@needs_preload
class Descriptors(Publishing):
    def test_a_program_that_closes_everything_keeps_its_files(self):
        process = self.launch("descriptors", "closefrom", self.files, **FAST)
        self.assertEqual(self.line(process), "ok")
        self.assertEqual(self.listed(process.published_pid)["state"], "live")
        self.end(process)
        self.assertEqual(self.listed(process.published_pid)["state"], "exited")

    def test_the_same_without_a_descriptor_table_of_our_own(self):
        process = self.launch("descriptors", "closefrom", self.files, before=[program("without"), SYS_CLOSE_RANGE], **FAST)
        self.assertEqual(self.line(process), "ok")
        self.assertIn(self.listed(process.published_pid)["state"], ("live", "live_unlocked"))
        self.end(process)

    def test_the_same_off_tmpfs(self):
        process = self.launch("descriptors", "closefrom", self.files, ROLLCALL_DIR=self.off_tmpfs(), **FAST)
        self.assertEqual(self.line(process), "ok")
        self.end(process)

    def test_descriptor_0_stays_the_lowest(self):
        process = self.launch("descriptors", "stdin", ROLLCALL_CHILDREN="all", **FAST)
        self.assertEqual(self.line(process), "ok")
        self.assertIsNotNone(self.listed(process.published_pid))
        self.end(process)

    def test_no_descriptor_of_ours_is_seen(self):
        script = Script(self)
        script.do("pool 1 1")
        self.assertEqual(sorted(map(int, os.listdir("/proc/%d/fd" % script.pid))), [0, 1, 2])

    def off_tmpfs(self):
        directory = os.path.join(BUILD, "segments-%d" % os.getpid())
        self.addCleanup(shutil.rmtree, directory, True)
        kind = subprocess.run(["stat", "-f", "-c", "%T", BUILD], capture_output=True, text=True).stdout.strip()
        if kind == "tmpfs":
            self.skipTest("the build is on tmpfs")
        return directory


@needs_preload
class Sandboxes(Publishing):
    def test_unshare(self):
        plain = self.run_command(["unshare", "-Ur", "true"])
        if plain.returncode != 0:
            self.skipTest("unshare -Ur does not work here")
        for children in ("lazy", "all"):
            env = dict(self.environment, LD_PRELOAD=LIBRARY, ROLLCALL_CHILDREN=children)
            for _ in range(20):
                done = self.run_command(["unshare", "-Ur", "true"], env=env)
                self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_a_process_goes_into_a_user_namespace_and_publishes_on(self):
        if self.run_command(["unshare", "-Ur", "true"]).returncode != 0:
            self.skipTest("unshare -Ur does not work here")
        for how in ("unshare", "syscall"):
            process = self.launch("sandbox", how, **FAST)
            self.assertEqual(self.line(process), "inside")
            self.assertEqual(self.line(process), "0")
            self.assertIn(self.listed(process.published_pid)["state"], ("live", "live_unlocked"))
            self.end(process)

    def test_a_filter_for_all_threads_kills_nobody(self):
        for how in ("prctl", "seccomp"):
            for end in ("return", "_exit", "fork"):
                process = self.launch("sandbox", how, end, **FAST)
                self.assertEqual(self.line(process), "inside", (how, end))
                self.end(process)
                self.assertEqual(self.listed(process.published_pid)["state"], "exited", (how, end))

    def test_a_browsers_helper_has_no_thread_of_ours(self):
        code = "import os; print(len(os.listdir('/proc/self/task')))"
        for words, threads in (([], "2"), (["--type=zygote"], "1")):
            for children in ("lazy", "all"):
                done = self.run_command([sys.executable, "-c", code, *words],
                                        env=dict(self.environment, LD_PRELOAD=LIBRARY, ROLLCALL_CHILDREN=children))
                self.assertEqual(done.stdout.decode().strip(), threads, (words, children))

    @unittest.skipIf(not shutil.which("chromium"), "no chromium")
    def test_a_browser_renders_a_page(self):
        """S9."""
        page = self.file("page.html")
        with open(page, "w") as file:
            file.write("<p id=p>no</p><script>document.getElementById('p').textContent = 6 * 7</script>")
        words = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync",
                 "--user-data-dir=" + self.file("profile"), "--dump-dom", "file://" + page]
        done = self.rollcall("run", "--", *words)
        self.assertEqual(done.returncode, 0)
        self.assertIn('<p id="p">42</p>', done.stdout)

    def test_a_filter_off_tmpfs(self):
        directory = Descriptors.off_tmpfs(self)
        for end in ("return", "_exit", "fork"):
            process = self.launch("sandbox", "seccomp", end, ROLLCALL_DIR=directory, **FAST)
            self.assertEqual(self.line(process), "inside", end)
            self.end(process)

    def test_the_strict_mode(self):
        process = self.launch("sandbox", "strict", **FAST)
        self.assertEqual(self.line(process), "inside")
        self.end(process)

    def test_a_process_in_a_filter_is_parked(self):
        process = self.launch("sandbox", "seccomp", "fork", **FAST)
        self.assertEqual(self.line(process), "inside")
        process.wait()
        self.assertEqual(len(self.all_listed(process.published_pid)), 1)


@needs_preload
class Children(Publishing):
    def family(self, how):
        process = self.launch("children", how, **FAST)
        child = int(self.line(process))
        self.assertEqual(self.line(process), "ok")
        return process, child

    def check_child(self, how):
        process, child = self.family(how)
        self.addCleanup(lambda: os.kill(child, signal.SIGKILL))
        wait_for(lambda: self.listed(child) and "app.child" in self.fields(child), "the child to publish")
        parent_fields, child_fields = self.fields(process.published_pid), self.fields(child)
        self.assertEqual(parent_fields["app.parent"], 1)
        self.assertIsNone(parent_fields.get("app.child"))
        self.assertEqual(child_fields["app.child"], 1)
        self.assertIsNone(child_fields.get("app.parent"))
        self.assertEqual(self.listed(process.published_pid)["state"], "live")
        self.assertEqual(len(self.all_listed(child)), 1)
        named = self.headers()
        self.assertEqual(named[child]["parent"], named[process.published_pid]["instance"])
        self.end(process)
        self.assertEqual(self.listed(process.published_pid)["state"], "exited")
        self.assertEqual(self.listed(child)["state"], "live")

    def headers(self):
        found = {}
        for name in os.listdir(self.directory):
            with open(os.path.join(self.directory, name), "rb") as file:
                words = [int.from_bytes(file.read(8), "little") for _ in range(64)]
            found[words[11]] = {"instance": words[7], "parent": words[15]}
        return found

    def test_fork(self):
        self.check_child("fork")

    def test_clone_by_its_number(self):
        self.check_child("raw")

    def test_fork_without_handlers(self):
        self.check_child("_Fork")

    def test_children_by_the_hundred(self):
        for how in ("spawn", "vfork", "vfork_exit", "fork_exit"):
            with self.subTest(how):
                process, _ = self.family(how)
                self.assertEqual(self.listed(process.published_pid)["state"], "live")
                # One compiler call is five processes: none of these shows.
                self.assertEqual(len(self.published()), 1)
                self.end(process)
                for name in self.published():
                    os.unlink(os.path.join(self.directory, name))

    def test_children_by_the_hundred_that_all_publish(self):
        process = self.launch("children", "spawn", ROLLCALL_CHILDREN="all", **FAST)
        self.line(process)
        self.assertEqual(self.line(process), "ok")
        self.end(process)
        self.assertEqual({p["state"] for p in self.list()}, {"exited"})
        self.assertEqual(len(self.list()), 101)

    def test_no_children(self):
        process = self.launch("children", "fork", ROLLCALL_CHILDREN="no", ROLLCALL_ROOT="1")
        self.line(process)
        self.line(process)
        self.assertEqual(self.published(), [])


@needs_preload
class Ends(Publishing):
    def test_every_way_to_end_leaves_the_last_row(self):
        for how in ("return", "exit", "_exit", "_Exit", "quick_exit", "thread"):
            with self.subTest(how):
                process = self.launch("life", how, **SLOW)
                process.wait(30)
                listed = self.listed(process.published_pid)
                self.assertEqual(listed["state"], "exited")
                self.assertEqual(listed["fields"]["app.last"], 7)

    def test_an_exit_on_a_machine_too_busy_for_our_thread_is_no_kill(self):
        process = Script(self, **SLOW)
        process.do("pool 1 4096")
        tid = next(int(tid) for tid in os.listdir("/proc/%d/task" % process.pid)
                   if read_line("/proc/%d/task/%s/comm" % (process.pid, tid)) == "rollcall")
        if ptrace(PTRACE_SEIZE, tid) or ptrace(PTRACE_INTERRUPT, tid):
            self.skipTest("no ptrace here")
        os.waitpid(tid, WALL)
        process.process.stdin.close()
        process.process.stdin = None
        os.waitpid(tid, WALL)
        self.assertEqual(process.process.wait(30), 0)
        self.assertEqual(self.listed(process.pid)["state"], "exited")

    def test_abort_and_kill_are_seen(self):
        process = self.launch("life", "abort")
        process.wait(30)
        self.assertEqual(self.listed(process.published_pid)["state"], "killed")
        process = self.launch("life", "pause")
        self.line(process)
        process.kill()
        process.wait()
        self.assertEqual(self.listed(process.published_pid)["state"], "killed")

    def test_a_killed_process_keeps_its_last_boundary(self):
        script = Script(self, **SLOW)
        for i in range(5):
            script.candidate("candidate %d" % i, "timed")
        script.do("begin:the last")
        script.kill()
        fields = self.fields(script.pid)
        self.assertEqual(fields["search.candidates_attempted"], 6)
        self.assertEqual(fields["search.open_candidates"], 1)

    def test_exec_replaces(self):
        process = self.launch("life", "exec", **FAST)
        self.wait_state(process.published_pid, "replaced")
        self.assertIsNone(process.poll())
        # What the next program dies of is not its end.
        process.kill()
        process.wait()
        self.assertEqual(self.listed(process.published_pid)["state"], "replaced")

    def test_a_failed_exec_changes_nothing(self):
        process = self.launch("life", "failed_exec", **FAST)
        self.line(process)
        self.assertEqual(self.listed(process.published_pid)["state"], "live")
        process.kill()
        process.wait()
        self.assertEqual(self.listed(process.published_pid)["state"], "killed")

    def test_children_that_exec_leave_their_parent_what_it_was(self):
        process = self.launch("children", "vfork", **FAST)
        self.line(process)
        self.assertEqual(self.line(process), "ok")
        process.kill()
        process.wait()
        self.assertEqual(self.listed(process.published_pid)["state"], "killed")

    def test_a_daemon(self):
        process = self.launch("life", "daemon", **FAST)
        daemon = int(self.line(process))
        self.addCleanup(lambda: os.kill(daemon, signal.SIGKILL))
        process.wait(30)
        self.assertEqual(self.listed(process.published_pid)["state"], "exited")
        self.assertEqual(self.fields(process.published_pid)["app.last"], 7)
        self.wait_state(daemon, "live")

    def test_a_changed_environment_changes_nothing(self):
        process = self.launch("life", "environment", **FAST)
        child = int(self.line(process))
        self.addCleanup(lambda: os.kill(child, signal.SIGKILL))
        self.wait_state(child, "live")
        self.assertEqual(self.listed(process.published_pid)["state"], "live")

    def test_a_stopped_process_is_stale_and_read_at_once(self):
        process = self.launch("life", "pause", **FAST)
        self.line(process)
        os.kill(process.published_pid, signal.SIGSTOP)
        listed = self.wait_state(process.published_pid, "stale")
        self.assertEqual(listed["fields"]["app.last"], 7)
        self.assertIn("stale", self.rollcall("top", "--once", str(process.published_pid)).stdout)
        os.kill(process.published_pid, signal.SIGCONT)
        self.wait_state(process.published_pid, "live")


@needs_preload
class Refusals(Publishing):
    def quiet(self, process):
        process.kill()
        process.wait()
        return self.said(process)

    def test_off(self):
        for off in ("off", "0"):
            process = self.launch("life", "exit", ROLLCALL=off)
            self.assertEqual(process.wait(30), 0)
            self.assertEqual((self.published(), self.said(process)), ([], ""))

    def test_a_directory_others_may_write_into(self):
        os.chmod(self.directory, 0o770)
        process = self.launch("life", "exit")
        self.assertEqual(process.wait(30), 0)
        self.assertEqual(self.published(), [])
        self.assert_one_line(self.said(process))

    @needs_root
    def test_the_directory_of_somebody_else(self):
        os.chown(self.directory, 12345, -1)
        process = self.launch("life", "exit")
        self.assertEqual(process.wait(30), 0)
        self.assertEqual(self.published(), [])
        self.assert_one_line(self.said(process))

    def test_a_directory_that_is_a_link(self):
        link = self.file("link")
        os.symlink(self.directory, link)
        process = self.launch("life", "exit", ROLLCALL_DIR=link)
        self.assertEqual(process.wait(30), 0)
        self.assertEqual(self.published(), [])
        self.assert_one_line(self.said(process))

    def test_a_directory_that_cannot_be_made(self):
        process = self.launch("life", "exit", ROLLCALL_DIR="/proc/nowhere/rollcall")
        self.assertEqual(process.wait(30), 0)
        self.assert_one_line(self.said(process))

    def test_a_limit_on_the_size_of_files(self):
        limit = ["prlimit", "--fsize=100000", "--"]
        process = self.launch("life", "exit", before=limit)
        self.assertEqual(process.wait(30), 0)
        self.assertEqual(self.published(), [])
        self.assert_one_line(self.said(process))
        # Room for a smaller ring than was asked for.
        limit = ["prlimit", "--fsize=%d" % (1200 << 10), "--"]
        process = self.launch("life", "exit", before=limit, ROLLCALL_RING_BYTES=str(8 << 20))
        self.assertEqual(process.wait(30), 0)
        self.assertEqual(self.said(process), "")
        self.assertEqual(self.listed(process.published_pid)["state"], "exited")

    def test_a_limit_while_it_writes(self):
        directory = Descriptors.off_tmpfs(self)
        process = self.launch("life", "limit", ROLLCALL_DIR=directory, **FAST)
        self.line(process)
        found = json.loads(self.rollcall("list", "--json", env=dict(self.environment, ROLLCALL_DIR=directory)).stdout)
        self.assertEqual([p["state"] for p in found], ["disabled"])
        self.assertEqual(self.quiet(process), "")

    def test_a_line_is_not_written_into_a_file_of_the_program(self):
        source = b"""
            #include <rollcall.h>
            #include <fcntl.h>
            #include <unistd.h>
            int main(int argc, char **argv) {
                close(2);
                if (open(argv[1], O_RDWR | O_CREAT, 0600) != 2) return 1;
                rollcall_mark("somewhere");
                return lseek(2, 0, SEEK_END) != 0;
            }"""
        header = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "libtelemetry")
        path = self.compile("silent", source.decode(), "-I" + header)
        done = self.run_command([path, self.file("own")], env=dict(self.environment, LD_PRELOAD=LIBRARY, ROLLCALL_DIR="/proc/no"))
        self.assertEqual(done.returncode, 0)

    def test_a_full_table_of_threads(self):
        process = self.launch("life", "exit", before=["prlimit", "--as=%d" % (64 << 20), "--"])
        self.assertEqual(process.wait(30), 0)


@needs_preload
class OtherLibcs(Publishing):
    """A program whose loader is musl's by name; that loader is the glibc's here,
    which does not mind, so that the program can tell what it was given."""

    CALLS = ("execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "vfork",
             "posix_spawn", "posix_spawnp")
    SOURCE = r'''
        #include <stdio.h>
        #include <stdlib.h>
        int main(int argc, char **argv) {
            const char *preload = getenv("LD_PRELOAD");
            printf("%s %s %s\\n", argc > 1 ? argv[argc - 1] : "", preload ? preload : "none", getenv("MARK"));
            return 5;
        }'''.replace("\\\\", "\\")

    def setUp(self):
        super().setUp()
        loader = next((p for p in ("/lib64/ld-linux-x86-64.so.2",) if os.path.exists(p)), None)
        if not loader:
            self.skipTest("another machine")
        shutil.copy(loader, self.file("ld-musl-x86_64.so.1"))
        os.chmod(self.file("ld-musl-x86_64.so.1"), 0o755)
        self.musl = self.compile("musl", self.SOURCE, "-Wl,--dynamic-linker=" + self.file("ld-musl-x86_64.so.1"))
        self.glibc = self.compile("glibc", self.SOURCE)
        self.other = self.compile("other.so", "int other;", "-shared", "-fPIC")

    def told(self, how, target, preload):
        env = dict(self.environment, LD_PRELOAD=preload, MARK="kept", PATH="/nowhere:%s:%s" % (self.files, os.environ["PATH"]))
        done = self.run_command([program("runs"), how, target], env=env)
        self.assertEqual(done.returncode, 5, (how, target, done.stderr))
        return done.stdout.decode().strip()

    def test_our_libraries_are_left_out_and_nothing_else(self):
        for how in self.CALLS:
            with self.subTest(how):
                self.assertEqual(self.told(how, self.musl, LIBRARY), "two none kept")
                self.assertEqual(self.told(how, self.musl, LIBRARY + ":" + self.other), "two %s kept" % self.other)
                both = self.other + ":" + LIBRARY
                self.assertEqual(self.told(how, self.glibc, both), "two %s kept" % both)

    def test_along_the_path_and_through_a_script(self):
        for how in ("execvp", "execvpe", "execlp", "posix_spawnp"):
            self.assertEqual(self.told(how, "musl", LIBRARY), "two none kept")
        script = self.file("script")
        with open(script, "w") as file:
            file.write("#!%s\n" % self.musl)
        os.chmod(script, 0o755)
        for how in ("execve", "execvp", "posix_spawn", "vfork"):
            self.assertEqual(self.told(how, script, LIBRARY), "two none kept")

    def test_a_program_that_is_not_there(self):
        env = dict(self.environment, LD_PRELOAD=LIBRARY)
        for how in self.CALLS[:9]:
            done = self.run_command([program("runs"), how, "/nowhere/at/all"], env=env)
            self.assertEqual(done.returncode, 126)


@needs_preload
class Crowds(Publishing):
    def test_names_by_many_threads(self):
        process = self.launch("crowd", "gauges", "200")
        self.assertEqual(self.line(process), "200")
        fields = self.fields(process.published_pid)
        for i in range(200):
            name = "app.%s_%d" % ("gauge" if i % 2 else "counter", i)
            self.assertEqual(fields[name], i if i % 2 else 8, name)
        self.assertEqual(fields["self.registrations_refused"], 0)
        self.end(process)

    def test_more_names_than_there_is_room_for(self):
        process = self.launch("crowd", "gauges", "2000", **FAST)
        got = int(self.line(process))
        self.assertGreater(got, 500)
        self.assertLess(got, 2000)
        fields = self.fields(process.published_pid)
        self.assertEqual(len([name for name in fields if name.startswith("app.gauge") or name.startswith("app.counter")]), got)
        self.assertEqual(fields["self.registrations_refused"], 8 * (2000 - got))
        self.assertEqual(fields["self.rows_dropped"], 0)
        self.assertEqual(self.listed(process.published_pid)["lost"], 0)
        self.end(process)

    def test_more_boundaries_than_slots_are_counted(self):
        process = self.launch("crowd", "burst", "20000", ROLLCALL_RING_BYTES=str(16 << 20), **SLOW)
        taken = int(self.line(process))
        dropped = self.fields(process.published_pid)["self.boundaries_dropped"]
        self.assertEqual(taken + dropped, 20001)
        self.end(process)
        listed = self.listed(process.published_pid)
        self.assertEqual(listed["lost"], 0)
        self.assertEqual(listed["state"], "exited")
        self.assertGreaterEqual(taken, 64)


if __name__ == "__main__":
    unittest.main()
