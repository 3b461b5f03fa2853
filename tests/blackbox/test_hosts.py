# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""Real programs under `rollcall run`, each doing its own work: what they print, how
they end and what they leave behind is what it is without us. A program that is not
here is skipped by name. `make test` takes those that are quick; a soak takes all, in
every manner of `run`."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import unittest

from tests.blackbox.support import BUILD, ROLLCALL, SOAK, Case, needs_preload, tell_soak

MANNERS = ([], ["--children", "all"], ["--children", "all", "--no-alloc", "--interval", "1"])


class Host:
    """One program: what it needs and a shell script that lets it work in an empty folder.
    `main` is run itself instead of a shell. `keep` are the files whose content counts.
    `blind` is what is said of a program that cannot be seen."""

    def __init__(self, name, needs, script="", main=None, quick=False, keep=(), blind=None, root=False, setup=None, limit_s=300):
        self.name, self.needs, self.script, self.main, self.quick = name, needs, script, main, quick
        self.keep, self.blind, self.root, self.setup, self.limit_s = keep, blind, root, setup, limit_s


C_PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { struct node *left, *right; char key[24]; };
static struct node *add(struct node *n, const char *key) {
    if (!n) { n = calloc(1, sizeof(*n)); strcpy(n->key, key); return n; }
    int order = strcmp(key, n->key);
    if (order < 0) n->left = add(n->left, key);
    if (order > 0) n->right = add(n->right, key);
    return n;
}
static unsigned drop(struct node *n) {
    if (!n) return 0;
    unsigned sum = drop(n->left) + drop(n->right) + (unsigned char)n->key[0];
    free(n);
    return sum;
}
static void *work(void *seed) {
    unsigned x = *(unsigned *)seed; struct node *tree = NULL; char key[24];
    for (int i = 0; i < 20000; i++) { x = x * 1103515245 + 12345; snprintf(key, sizeof(key), "%u", x); tree = add(tree, key); }
    *(unsigned *)seed = drop(tree);
    return NULL;
}
int main(void) {
    pthread_t threads[4]; unsigned seeds[4] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, &seeds[i]);
    for (int i = 0; i < 4; i++) { pthread_join(threads[i], NULL); printf("%u\n", seeds[i]); }
    return 3;
}
"""

CXX_PROGRAM = r"""
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
int main() {
    std::map<std::string, std::vector<int>> all;
    for (int i = 0; i < 50000; i++) all[std::to_string(i * 7919 % 1000)].push_back(i);
    long sum = 0;
    std::thread other([&] { for (auto &e : all) for (int v : e.second) sum += v; });
    other.join();
    try { throw std::runtime_error("thrown"); } catch (const std::exception &e) { std::cout << e.what() << "\n"; }
    auto shared = std::make_shared<std::string>(100, 'x');
    std::cout << all.size() << " " << sum << " " << shared->size() << "\n";
}
"""

SECCOMP_PROGRAM = r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static void *work(void *n) { for (int i = 0; i < 1000; i++) free(malloc((size_t)i * 10 + 1)); return n; }
int main(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pread64, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter)) { perror("seccomp"); return 1; }
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    usleep(300000);
    printf("%ld %s\n", syscall(SYS_getpid), strerror(errno));
    return 7;
}
"""

# Says once what all of its threads may do, which is one line if they may the same.
RIGHTS_PROGRAM = r"""
#include <dirent.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int capset(struct __user_cap_header_struct *, struct __user_cap_data_struct *);
static void say(const char *when) {
    char seen[4096] = ""; DIR *tasks = opendir("/proc/self/task"); struct dirent *task; int kinds = 0;
    while ((task = readdir(tasks))) {
        char path[300], line[200], all[600] = ""; snprintf(path, sizeof(path), "/proc/self/task/%s/status", task->d_name);
        FILE *file = task->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (!file) continue;
        while (fgets(line, sizeof(line), file))
            if (!strncmp(line, "Uid", 3) || !strncmp(line, "Gid", 3) || !strncmp(line, "Cap", 3)) strncat(all, line, 100);
        fclose(file);
        if (!strstr(seen, all)) { kinds++; strncat(seen, all, sizeof(seen) - strlen(seen) - 1); }
    }
    closedir(tasks); printf("%s: %d\n%s", when, kinds, seen); fflush(stdout);
}
int main(void) {
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct caps[2] = {{1u << CAP_SETGID | 1u << CAP_SETUID | 1u << CAP_SETPCAP, 1u << CAP_SETGID | 1u << CAP_SETUID | 1u << CAP_SETPCAP, 0}, {0, 0, 0}};
    say("start");
    printf("%d %d\n", prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0), prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0)); say("bound");
    printf("%d %d\n", setgroups(0, NULL), setresgid(65534, 65534, 65534)); say("group");
    printf("%d\n", setresuid(65534, 65534, 65534)); say("user");
    printf("%d\n", capset(&head, caps)); say("few");
    memset(caps, 0, sizeof(caps)); printf("%ld\n", syscall(SYS_capset, &head, caps)); say("none");
    usleep(200000); printf("%d\n", setresuid(0, 0, 0)); return 0;
}
"""

PYTHON = r"""
import collections, concurrent.futures, hashlib, json, multiprocessing, re, sqlite3, subprocess, sys, threading, zlib
def work(n):
    return hashlib.sha256(b"x" * n).hexdigest()[:8]
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(3) as pool:
        print(pool.map(work, range(1000, 1020)))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(work, [5]))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        print(sum(len(x) for x in pool.map(lambda n: zlib.compress(bytes(range(256)) * n), range(1, 60))))
    data = json.loads(json.dumps({str(i): list(range(i % 50)) for i in range(3000)}))
    print(sum(map(sum, data.values())), len(re.findall(r"\b\w+ing\b", "sing ring thing " * 5000)))
    db = sqlite3.connect(":memory:")
    db.execute("create table t(a, b)")
    db.executemany("insert into t values (?, ?)", ((i, str(i)) for i in range(20000)))
    print(db.execute("select count(*), sum(a), max(length(b)) from t").fetchone())
    print(subprocess.run(["sh", "-c", "echo child; exit 4"], capture_output=True))
    print(collections.Counter(threading.Thread(target=len, args=("",)).name[:6] for _ in range(100)))
    sys.exit(5)
"""

PERL = r"""
use strict; my %h; my $x = 1;
for (1 .. 60000) { $x = ($x * 1103515245 + 12345) % 2147483648; $h{$x % 5000} .= chr(97 + $x % 26); }
print join(",", map { length $h{$_} } (sort { $a <=> $b } keys %h)[0 .. 20]), "\n";
my $t = join " ", map { "w$_" } 1 .. 20000; my $n = () = $t =~ /w\d*7\b/g; print "$n\n";
my $pid = fork(); if (!$pid) { exit 9 } waitpid($pid, 0); print $? >> 8, "\n";
print `echo from a shell`; exit 6;
"""

NODE = r"""
const { Worker, isMainThread, parentPort } = require('worker_threads');
const { execFileSync } = require('child_process'), zlib = require('zlib'), crypto = require('crypto'), fs = require('fs');
if (!isMainThread) { let s = 0; for (let i = 0; i < 1e6; i++) s = (s + i * i) % 1000003; parentPort.postMessage(s); }
else {
  const text = 'the quick brown fox '.repeat(50000);
  console.log(crypto.createHash('sha256').update(zlib.gunzipSync(zlib.gzipSync(text))).digest('hex'));
  console.log(execFileSync('sh', ['-c', 'echo child']).toString().trim());
  fs.writeFileSync('out.bin', Buffer.alloc(1 << 20, 7));
  const jobs = [1, 2, 3].map(() => new Promise(done => new Worker(__filename).on('message', done)));
  Promise.all(jobs).then(all => { console.log(all, fs.statSync('out.bin').size); process.exitCode = 3; });
}
"""

GIT = r"""
export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE=1000000000+0000 GIT_COMMITTER_DATE=1000000000+0000
git -c init.defaultBranch=main init -q r && cd r && git config user.name N && git config user.email e@example.org && git config gc.autoDetach false
i=0; while [ $i -lt 12 ]; do seq $i 2000 > f$((i % 5)); git add . && git commit -qm "c $i"; i=$((i + 1)); done
git checkout -qb side HEAD~5 && echo x >> f9 && git add f9 && git commit -qm side && git checkout -q main && git merge -q --no-edit side
git log --format='%H %s' && git diff --stat HEAD~9 && git gc -q && git fsck --strict && git blame f1 | md5sum && git archive HEAD | md5sum
cd .. && git clone -q r s && git -C s rev-parse HEAD
"""

POSTGRES = r"""
PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin | tail -1); chmod 777 .
[ "$(id -u)" = 0 ] && as="setpriv --reuid 65534 --regid 65534 --clear-groups" || as=
$as mkdir -m 700 segments; export ROLLCALL_DIR="$PWD/segments" HOME="$PWD" LC_ALL=C; $as initdb -D data -U u -A trust -N >/dev/null && $as pg_ctl -s -w -D data -l log -o "-k $PWD -c listen_addresses= -F" start || exit 1
q() { psql -X -h "$PWD" -U u -d postgres -Atc "$1"; }
q "create table t as select i, md5(i::text) m from generate_series(1, 30000) i; create index on t(m);"
q "select count(*), min(m), max(m) from t" & q "select sum(i) from t where m < '8'" > second; wait; cat second
q "set max_parallel_workers_per_gather=2; select md5(string_agg(m, '' order by i)) from t"
$as pg_ctl -s -w -D data stop; echo "status $?"; rm -rf segments data
"""

REDIS = r"""
redis-server --port 0 --unixsocket "$PWD/s" --save '' --appendonly yes --appendfsync no --daemonize no --dir "$PWD" > log 2>&1 &
server=$!
until redis-cli -s s ping 2>/dev/null | grep -q PONG; do kill -0 $server || exit 1; sleep 0.05; done
redis-benchmark -s s -t set,get,incr,lpush,rpop,sadd,hset,zadd,mset -n 10000 -c 10 -d 200 -q > bench; echo "benchmark $?"
redis-cli -s s eval 'for i = 1, 20000 do redis.call("set", "k" .. i, string.rep("v", i % 300)) end return 1' 0
redis-cli -s s dbsize; redis-cli -s s debug digest; redis-cli -s s bgrewriteaof > /dev/null; redis-cli -s s llen mylist
while redis-cli -s s info persistence | grep -q aof_rewrite_in_progress:1; do sleep 0.05; done
redis-cli -s s info persistence | grep aof_last_bgrewrite_status; redis-cli -s s shutdown nosave; wait $server; echo "server $?"; rm -f log bench s; rm -r appendonlydir
"""

CHROMIUM = (r"""printf "<p id=p>no</p><script>document.getElementById('p').textContent = [1,2,3].map(x => x * 14).join()</script>" > page.html
chromium --headless %s --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update """
            r"""--disable-sync --user-data-dir="$PWD/profile" --dump-dom "file://$PWD/page.html" 2>/dev/null; echo "status $?"; rm -rf profile""")

COREUTILS = r"""
seq 1 40000 | awk '{ print ($1 * 7919) % 10007, $1 }' > n; sort -n n | uniq -c | tail -3; sort -k2,2nr --parallel=4 -S 1M n | md5sum
split -l 5000 n part. && cat part.* | cmp - n && ls | wc -l; cut -d' ' -f1 n | sort | uniq -c | sort -rn | head -3; tr 0-9 a-j < n | sha256sum
find . -name 'part.*' -print0 | xargs -0 -P 3 -n 1 wc -l | sort | head -4; join <(sort n) <(sort n) | tail -1; tac n | head -1; shuf --random-source=n n | md5sum
paste n n | sed 's/\t/,/' | grep -c 77; timeout 0.2 sleep 5; echo "timeout $?"; env -i /bin/echo bare; nohup true; nice -n 5 date -u -d @0; factor 123456789; dd if=n bs=1k count=3 status=none | cksum
"""

BASH = r"""
trap 'echo exit trap' EXIT; trap 'echo usr1' USR1; kill -USR1 $$
a=(); for i in {1..5000}; do a+=("x$i"); done; echo "${#a[@]} ${a[@]: -2}"; declare -A m; for k in a b c; do m[$k]=$(echo $k | tr a-c A-C); done; echo "${m[@]}" | tr ' ' '\n' | sort | tr '\n' ' '
echo $(for i in 1 2 3; do echo $i & done 2>/dev/null; wait) | wc -w; (sleep 0.1; echo job) & wait $!; cat <<< "here"; coproc cat; echo co >&${COPROC[1]}; read -u ${COPROC[0]} x; echo "$x"
printf '%s\n' {c,a,b} | while read -r l; do echo "<$l>"; done; f() { local n=$1; ((n > 1)) && echo $((n * $(f $((n - 1))))) || echo 1; }; f 10; exec 9>f9; (exec sleep 30) & sleep 0.3; { kill $!; wait $!; } 2>/dev/null; echo $?; echo nine >&9; exec 9>&-; cat f9; (exit 13); echo $?; exit 21
"""


def write_files(**files):
    def setup(case, folder):
        for name, content in files.items():
            with open(os.path.join(folder, name.replace("__", ".")), "w") as file:
                file.write(content)
    return setup


def compiled(command, source, suid=False):
    """Compiled once, outside of the folder, so that its path is the same each time."""
    def setup(case, folder):
        path = os.path.join(os.path.dirname(folder), "program")
        done = subprocess.run([*command, "-", "-o", path], input=source.encode(), capture_output=True)
        case.assertEqual(0, done.returncode, done.stderr.decode())
        if suid:
            os.chown(path, 65534, 65534)
            os.chmod(path, 0o4755)
            os.chmod(os.path.dirname(path), 0o755)
    return setup


GCC = ["gcc", "-x", "c", "-O1", "-pthread"]
PROGRAM = ["../program"]
HOSTS = [
    Host("bash", ["bash"], main=["bash", "-c", BASH], quick=True, keep=["f9"]),
    Host("coreutils", ["bash", "awk"], main=["bash", "-c", COREUTILS], quick=True),
    Host("git", ["git"], GIT, quick=True),
    Host("gcc", ["gcc"], "gcc -O2 -c a.c -o a.o && gcc -O2 -flto -pthread a.c -o a && ./a; echo $?; md5sum a.o a; gcc -c bad.c; echo $?",
         setup=write_files(a__c=C_PROGRAM, bad__c="int main(void) { return x; }\n"), quick=True),
    Host("a C program with threads", ["gcc"], main=PROGRAM, setup=compiled(GCC, C_PROGRAM), quick=True),
    Host("a C++ program", ["g++"], main=PROGRAM, setup=compiled(["g++", "-x", "c++", "-O1", "-pthread"], CXX_PROGRAM), quick=True),
    Host("python3", ["python3"], main=[sys.executable, "work.py"], setup=write_files(work__py=PYTHON), quick=True),
    Host("perl", ["perl"], main=["perl", "-e", PERL], quick=True),
    Host("redis-server and redis-benchmark", ["redis-server", "redis-benchmark", "redis-cli"], REDIS),
    Host("sqlite3", ["sqlite3"], "sqlite3 db \"pragma journal_mode=wal; create table t(a integer primary key, b text); "
         "with recursive n(i) as (values(1) union all select i + 1 from n where i < 50000) insert into t select i, printf('%08d', i * 7919 % 10007) from n; "
         "create index x on t(b); delete from t where a % 3 = 0; select count(*), min(b), max(b) from t; pragma integrity_check; vacuum;\"; sqlite3 db .dump | md5sum",
         quick=True),
    Host("node", ["node"], main=["node", "work.js"], setup=write_files(work__js=NODE), quick=True, keep=["out.bin"]),
    Host("chromium", ["chromium"], CHROMIUM % "--no-sandbox"),
    Host("chromium in its sandbox", ["chromium", "setpriv"], "chmod 777 . ..; mkdir -m 700 segments; chown 65534 segments; export HOME=\"$PWD\" ROLLCALL_DIR=\"$PWD/segments\"; "
         "setpriv --reuid 65534 --regid 65534 --clear-groups sh -c '%s'; rm -rf segments" % (CHROMIUM % "").replace("'", "'\\''"), root=True),
    Host("bwrap", ["bwrap"], "bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --unshare-all --die-with-parent sh -c 'echo inside $$; ls /tmp; id -u'; echo $?", quick=True),
    Host("unshare", ["unshare"], main=["unshare", "-Ur", "sh", "-c", "id -u; unshare -m true && echo mounts; exit 4"], quick=True),
    Host("a TSYNC seccomp filter", ["gcc"], main=PROGRAM, setup=compiled(GCC, SECCOMP_PROGRAM), quick=True),
    Host("a program that gives up its rights", ["gcc"], main=PROGRAM, setup=compiled(GCC, RIGHTS_PROGRAM), quick=True, root=True),
    Host("setpriv", ["setpriv"], main=["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set", "-all", "sh", "-c", "id -u; grep -h Cap /proc/self/status"],
         quick=True, root=True, blind="runs on, unwatched"),
    Host("a static program", ["gcc"], main=PROGRAM, setup=compiled([*GCC, "-static"], C_PROGRAM), quick=True, blind="statically linked"),
    Host("a setuid program", ["gcc"], main=PROGRAM, setup=compiled(GCC, C_PROGRAM, suid=True), quick=True, blind="set-user-id", root=True),
    Host("a musl program", ["musl-gcc"], main=PROGRAM, setup=compiled(["musl-gcc", "-x", "c", "-O1"], C_PROGRAM), quick=True, blind="musl"),
    Host("musl children of a shell", ["musl-gcc"], "../program; echo $?; env ../program | md5sum; echo ../program | xargs sh -c '$0'",
         setup=compiled(["musl-gcc", "-x", "c", "-O1"], C_PROGRAM), quick=True),
    Host("java", ["javac", "java"], "javac W.java && java -Xmx64m W; echo $?", setup=write_files(W__java="""
        import java.util.*; import java.util.stream.*;
        class W { public static void main(String[] a) throws Exception {
            List<byte[]> l = new ArrayList<>(); for (int i = 0; i < 20000; i++) { l.add(new byte[1000]); if (l.size() > 900) l.clear(); }
            System.out.println(IntStream.range(0, 1000000).parallel().mapToLong(x -> x * 3L).sum());
            System.out.println(new String(new ProcessBuilder("echo", "child").start().getInputStream().readAllBytes())); System.exit(8); } }"""), keep=["W.class"]),
    Host("rustc", ["rustc"], "rustc -O a.rs 2>/dev/null && ./a; echo $?", setup=write_files(a__rs="""
        use std::collections::BTreeMap; use std::thread;
        fn main() { let h: Vec<_> = (0..4).map(|t| thread::spawn(move || { let mut m = BTreeMap::new(); for i in 0..20000u64 { m.insert(i * 7919 % 10007, vec![t; 10]); } m.len() })).collect();
            println!("{:?}", h.into_iter().map(|x| x.join().unwrap()).collect::<Vec<_>>()); std::process::exit(9) }""")),
    Host("make and cmake", ["cmake", "make", "gcc"], "cmake -S . -B b > /dev/null && make -s -j2 -C b > /dev/null && b/p; echo $?",
         setup=write_files(CMakeLists__txt="cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(p a.c b.c)\nfind_package(Threads)\ntarget_link_libraries(p Threads::Threads)\n",
                           a__c=C_PROGRAM, b__c="int b(void) { return 1; }\n")),
    Host("tar, gzip, xz and zstd", ["tar", "gzip", "xz", "zstd"], "seq 1 200000 > n; tar --mtime=@0 --owner=0 --group=0 -cf - n | gzip -n | md5sum; xz -T2 -k n && xz -dc n.xz | cmp - n; "
         "zstd -q -T2 n && zstd -dqc n.zst | cmp - n; md5sum n.xz n.zst", quick=True),
    Host("openssl", ["openssl"], "seq 1 100000 > n; openssl dgst -sha256 n; openssl enc -aes-256-cbc -pbkdf2 -S 0102030405060708 -k p -in n | openssl dgst -md5; "
         "openssl genrsa 2048 2>/dev/null > k && openssl dgst -sha256 -sign k n > s && openssl rsa -in k -pubout 2>/dev/null > p && openssl dgst -sha256 -verify p -signature s n; rm k p s", quick=True),
    Host("strace", ["strace"], "strace -f -o log sh -c 'echo traced; (exit 3); true' ; echo $?; grep -c exit_group log > /dev/null; echo $?; rm log"),
    Host("gdb", ["gdb", "gcc"], "gdb -q -batch -nx -ex 'break drop' -ex run -ex 'p seed' -ex 'p 6*7' -ex kill ../program 2>/dev/null | grep -E '^.1 = 42|^Breakpoint 1 at' | sed 's/0x[0-9a-f]*/A/'",
         setup=compiled([*GCC, "-g"], C_PROGRAM)),
    Host("valgrind", ["valgrind", "gcc"], "valgrind -q --error-exitcode=99 ../program; echo $?", setup=compiled(GCC, C_PROGRAM)),
    Host("a program under ASan", ["gcc"], "../program; echo $?", setup=compiled([*GCC, "-fsanitize=address", "-static-libasan"], C_PROGRAM)),
    Host("postgres", ["postgres", "psql", "setpriv"], POSTGRES),
    Host("vim", ["vim"], "seq 1 2000 > f; vim -u NONE -N -es -c '%s/7/seven/g' -c 'g/0/d' -c wq f; echo $?", keep=["f"], quick=True),
    Host("jq and bc", ["jq", "bc"], "jq -n '[range(20000)|{a:., b:(.*7|tostring)}]|map(select(.a%3==0))|length'; echo 'scale=200; 4*a(1)' | bc -l", quick=True),
    Host("ffmpeg", ["ffmpeg"], "ffmpeg -nostdin -v error -f lavfi -i testsrc=d=1:s=160x120:r=10 -threads 3 -f rawvideo -pix_fmt yuv420p - | md5sum"),
]


@needs_preload
class Hosts(Case):
    def work(self, host, before):
        """Runs it in a fresh folder, always of the same path. Returns what can be seen of it."""
        folder = self.file("work")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        if host.setup:
            host.setup(self, folder)
        env = dict(self.environment, HOME=folder, TMPDIR=folder, TZ="UTC", ROLLCALL_RING_BYTES="65536")
        command = [*before, *(host.main or ["sh", "-c", host.script])]
        done = self.run_command(command, cwd=folder, env=env, timeout=host.limit_s)
        left = sorted(os.listdir(folder))
        kept = {}
        for name in host.keep:
            with open(os.path.join(folder, name), "rb") as file:
                kept[name] = hashlib.sha256(file.read()).hexdigest()
        return {"status": done.returncode, "out": done.stdout.decode(errors="replace"),
                "err": done.stderr.decode(errors="replace"), "left": left, "kept": kept}

    def without_our_line(self, host, seen):
        """One line says what cannot be seen, and nothing else of ours is said."""
        ours = re.findall(r"^rollcall.*\n", seen["err"], re.M)
        self.assertEqual(len(ours), 1 if host.blind else 0, seen["err"])
        if host.blind:
            self.assertIn(host.blind, ours[0])
        return dict(seen, err=re.sub(r"^rollcall.*\n", "", seen["err"], flags=re.M))

    def check(self, host, manners):
        plain = self.work(host, [])
        for manner in manners:
            seen = self.without_our_line(host, self.work(host, [ROLLCALL, "run", *manner, "--"]))
            self.assertEqual(seen, plain, "%s differs under rollcall run %s" % (host.name, " ".join(manner)))
            if not host.blind:
                self.assertGreater(len(os.listdir(self.directory)), 0, "%s did not publish" % host.name)
            for name in os.listdir(self.directory):
                os.unlink(os.path.join(self.directory, name))

    counts = {"programs": 0, "runs": 0, "different": 0, "missing": 0}

    @classmethod
    def tearDownClass(cls):
        tell_soak("hosts", **cls.counts)

    def run_host(self, host):
        lacking = [name for name in host.needs if not shutil.which(name)] or (["root"] if host.root and os.geteuid() else [])
        if lacking:
            self.counts["missing"] += 1
            self.skipTest("%s: no %s here" % (host.name, ", ".join(lacking)))
        manners = MANNERS if SOAK else MANNERS[1:2]
        self.counts["programs"] += 1
        self.counts["runs"] += len(manners)
        self.counts["different"] += 1
        self.check(host, manners)
        self.counts["different"] -= 1


def add_tests():
    """A test for each program, so that the run reads as a list of them."""
    for host in HOSTS:
        if host.quick or SOAK:
            name = "test_" + re.sub(r"\W+", "_", host.name) + "_does_the_same_as_without_us"
            setattr(Hosts, name, lambda self, host=host: self.run_host(host))


add_tests()

if __name__ == "__main__":
    unittest.main()
