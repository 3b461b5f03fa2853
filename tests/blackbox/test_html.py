# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""`rollcall report --html`: the page as text, and in a real browser."""

import html.parser
import json
import os
import re
import unittest

from tests.blackbox import forge
from tests.blackbox.browser import CHROMIUM, Browser
from tests.blackbox.blocks import blocks_of
from tests.blackbox.support import BUILD, Case, Script, needs_mount, needs_preload

HOSTILE = ["</title></style></script><script>window.pwned=1</script>", "\"><img src=x onerror=window.pwned=2>",
           "' onmouseover='window.pwned=3", "<!--", "&lt;b&gt;&amp;", "javascript:alert(1)", "\x1b[7m\x07\x00up", "{{7*7}}${7*7}`"]
VOID = {"meta", "input", "br", "img", "link", "hr"}


class Checker(html.parser.HTMLParser):
    """Every element is closed in order; where text stands is kept."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.ids, self.uses, self.wrong = [], {}, set(), [], []
        self.feed(page)
        self.close()
        if self.open:
            self.wrong.append("never closed: %s" % self.open)

    def handle_starttag(self, tag, attributes):
        self.seen[tag] = self.seen.get(tag, 0) + 1
        for name, value in attributes:
            if name.startswith("on") or name in ("src", "srcset", "action") or (name == "href" and not value.startswith("#")):
                self.wrong.append("%s %s=%s" % (tag, name, value))
            if name == "id":
                if value in self.ids:
                    self.wrong.append("id %s twice" % value)
                self.ids.add(value)
            if tag == "use" and name == "href":
                self.uses.append(value[1:])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append("</%s> where %s is open" % (tag, self.open))


class PageCase(Case):
    def page_of(self, trace, *options):
        path = self.file("t.html")
        done = self.rollcall("report", trace, "--html", path, *options)
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        with open(path, encoding="utf-8") as file:
            page = file.read()
        checker = Checker(page)
        self.assertEqual(checker.wrong, [])
        self.assertLessEqual(set(checker.uses), checker.ids)
        self.assertEqual(checker.seen["script"], 1)
        return path, page

    def import_csv(self, lines):
        table, trace = self.file("t.csv"), self.file("i.rct")
        with open(table, "w") as file:
            file.write("\n".join(lines) + "\n")
        self.rollcall("import", "-q", "-f", table, "-o", trace)
        return trace

    def searched(self):
        """A leaking search with two phases and gh550's capacity."""
        lines = ["time_s,candidate,phase,outcome,census.live_working_pools,census.live_working_bytes,device.used_bytes"]
        for k in range(1, 121):
            outcome = ["timed", "declined", "failed"][k % 3]
            pools = k - k // 3
            phase = "B" if k > 60 else "A"
            lines.append("%d.0,c%d,%s,,%d,%d,%d" % (2 * k, k, phase, pools - 1, (pools - 1) << 26, (pools << 26) + 1000))
            lines.append("%d.5,c%d,%s,%s,%d,%d,%d" % (2 * k, k, phase, outcome, pools, pools << 26, (pools << 26) + 1000))
        return self.import_csv(lines)


class AsText(PageCase):
    def test_a_search_has_charts_bars_and_candidates(self):
        _, page = self.page_of(self.searched(), "--capacity", "device=12227MiB")
        self.assertRegex(page, r"working pools grow: \+1\.00 per linked")
        self.assertEqual(page.count("<td class=\"label\">"), 120)
        for wanted in ('class="capacity"', 'class="phase odd"', 'class="o6"', "capacity 11.9 GiB", 'id="b1-0"', 'id="b1-2"'):
            self.assertIn(wanted, page)
        self.assertNotIn("http", re.sub(r"http-equiv", "", page))

    def test_a_bar_at_the_end_has_its_own_figures(self):
        trace = self.import_csv(["time_s,census.live_working_bytes,census.live_constant_bytes",
                                 "0,1048576,2097152", "1,8388608,2097152", "2,0,3145728", "3,,3145728"])
        _, page = self.page_of(trace)
        legend = re.sub("<[^>]*>", "", page.split("<h4>Pools</h4>")[1].split("<p class=\"legend\">")[1].split("</p>")[0])
        self.assertIn("working n/a (peak 8.00 MiB)", legend)
        self.assertIn("constant 3.00 MiB (peak 2.00 MiB)", legend)

    def test_a_flat_line_goes_up_to_a_gap_and_to_the_end(self):
        values = ["%d" % (5 << 20)] * 30 + [""] * 10 + ["%d" % (9 << 20)] + ["%d" % (5 << 20)] * 29 + [""]
        trace = self.import_csv(["time_s,census.live_working_bytes"] + ["%d,%s" % pair for pair in enumerate(values)])
        _, page = self.page_of(trace)
        lines = re.findall(r'class="line" d="([^"]*)"', page)
        self.assertTrue(any(re.fullmatch(r"M\d+ (\d+)h1H\d+M\d+ \d+h1L\d+ \1H\d+", line) for line in lines), lines)

    def test_an_untimed_log_has_no_axis_of_time(self):
        log = self.file("tune.log")
        with open(log, "w") as file:
            for k in range(40):
                file.write("autotune: census after P%d: pools %d live = %d working (%d.0 MiB) + 0 constant (0.0 MiB); %d allocated, 0 freed | "
                           "contexts 1 unreleased (1 created, 0 released) | modules 1 live (1 loaded, 0 unloaded)\n" % (k, k, k, k, k))
        trace = self.file("l.rct")
        self.rollcall("import", "-q", "--format", "census-log", log, "-o", trace)
        _, page = self.page_of(trace)
        self.assertIn('id="b1-1"', page)
        self.assertNotIn('id="b1-0"', page)

    def test_a_trace_of_nothing_and_one_without_figures(self):
        _, page = self.page_of(self.import_csv(["time_s,device.used_bytes", "1,", "2,"]))
        self.assertIn("no verdict", page)

    def test_a_long_search_is_a_page_of_bounded_size(self):
        lines = ["time_s,candidate,outcome,census.live_working_bytes"]
        for k in range(1, 12001):
            lines.append("%d,c%d,timed,%d" % (k, k, k * (1 << 20) + (1 << 26) * (k % 97 == 0)))
        _, page = self.page_of(self.import_csv(lines))
        self.assertEqual(page.count("<td class=\"label\">"), 2000)
        self.assertIn("of 12000", page)
        self.assertLess(len(page), 1 << 20)

    def test_a_crowd_of_processes_is_a_page_of_bounded_size(self):
        schema = (forge.section(0, "self") + forge.section(3, "host") + forge.field(0, "captured_at_ns", unit=3, kind=3, predictor=1, shift=10)
                  + forge.field(3, "rss_bytes", label="rss"))
        parts = [forge.header_page()]
        for k in range(1, 201):
            parts.append(forge.stream(k, schema, "process %d" % k, pid=1000 + k))
            parts += [forge.row(k, n, [(5000 + n) * 1024000, n * n * k], [10, 0], len(schema)) for n in range(12)]
        trace = self.file("crowd.rct")
        with open(trace, "wb") as file:
            file.write(b"".join(parts))
        _, page = self.page_of(trace)
        self.assertEqual(page.count('<section class="process"'), 64)
        self.assertIn("process 200", page)
        self.assertLess(len(page), 1 << 20)

    def test_a_cut_trace_says_so(self):
        trace = self.searched()
        size = os.path.getsize(trace)
        with open(trace, "r+b") as file:
            file.truncate(size - 10)
        _, page = self.page_of(trace)
        self.assertIn("Incomplete: at byte", page)

    def test_a_page_through_a_pipe_and_to_standard_output(self):
        trace = self.searched()
        with open(trace, "rb") as file:
            done = self.run_command([os.path.join(BUILD, "rollcall"), "report", "-", "--html", "-"], stdin=file)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"standard input", done.stdout)
        self.assertTrue(done.stdout.endswith(b"</html>\n"))

    def test_what_cannot_be_written_is_one_line_and_leaves_nothing(self):
        """R2."""
        trace = self.searched()
        self.assertIn("No space", self.fails("report", trace, "--html", "/dev/full"))
        self.assertTrue(os.path.exists("/dev/full"))
        self.fails("report", trace, "--html", self.file("no/t.html"))
        self.fails("report", trace, "--html", self.files)
        self.fails("report", trace, "--html", self.file("t.html"), "--json", status=2)
        self.fails("report", "/nowhere", "--html", self.file("t.html"))
        with open(trace, "rb") as file:
            whole = file.read()
        os.link(trace, self.file("same"))
        for page in (trace, self.file("same")):
            self.assertIn("the input itself", self.fails("report", trace, "--html", page))
        with open(trace, "rb") as file:
            self.assertEqual(file.read(), whole)
        self.assertFalse(os.path.exists(self.file("t.html")))

    def test_a_page_goes_where_a_link_leads_and_keeps_its_mode(self):
        trace = self.searched()
        with open(self.file("real.html"), "w") as file:
            file.write("old")
        os.chmod(self.file("real.html"), 0o640)
        os.symlink("real.html", self.file("link.html"))
        self.rollcall("report", trace, "--html", self.file("link.html"))
        self.assertTrue(os.path.islink(self.file("link.html")))
        self.assertEqual(os.stat(self.file("real.html")).st_mode & 0o777, 0o640)
        with open(self.file("real.html")) as file:
            page = file.read()
        self.assertIn("<html", page)
        os.symlink("/proc/self/fd/1", self.file("out.html"))
        for name in ("/dev/stdout", self.file("out.html")):
            with open(self.file("redirected"), "w") as file:
                self.rollcall("report", trace, "--html", name, stdout=file)
            with open(self.file("redirected")) as file:
                self.assertEqual(file.read(), page)
        with open(self.file("after"), "w") as file:
            file.write("before ")
            file.flush()
            self.rollcall("report", trace, "--html", "/dev/stdout", stdout=file)
        with open(self.file("after")) as file:
            self.assertEqual(file.read(), "before " + page)
        self.assertTrue(os.path.islink("/dev/stdout"))
        self.assertTrue(os.path.islink(self.file("out.html")))
        os.symlink("nowhere", self.file("nothing.html"))
        self.assertIn("a link to what is not there", self.fails("report", trace, "--html", self.file("nothing.html")))
        os.symlink("loop", self.file("loop"))
        self.assertIn("Too many levels", self.fails("report", trace, "--html", self.file("loop")))

    @needs_mount
    def test_a_small_file_system_is_not_left_with_half_a_page(self):
        trace, small = self.searched(), self.file("small")
        os.mkdir(small)
        shell = 'mount -t tmpfs -o size=16k none "$0" && "$1" report "$2" --html "$0/t.html"; echo "status $?"; ls "$0"'
        done = self.run_command(["unshare", "-m", "sh", "-c", shell, small, os.path.join(BUILD, "rollcall"), trace], text=True)
        self.assertEqual(done.stdout, "status 1\n")
        self.assert_one_line(done.stderr)


@needs_preload
class OfProcesses(PageCase):
    def test_hostile_names_are_text(self):
        script = Script(self, ROLLCALL_LABEL=HOSTILE[0])
        for name in HOSTILE[:-2]:
            script.do("phase:" + name)
            script.candidate(name, "timed")
        script.kill()
        trace = self.file("<b>&\"'.rct")
        self.rollcall("record", "-q", "-o", trace, str(script.pid))
        _, page = self.page_of(trace)
        self.assertNotIn("<img", page)
        self.assertNotIn("pwned=1<", page)
        self.assertNotIn("\x1b", page)

    def test_each_process_has_a_section(self):
        scripts = [Script(self, ROLLCALL_LABEL="worker %d" % k) for k in range(3)]
        for script in scripts:
            script.do("search 30")
            script.kill()
        trace = self.file("t.rct")
        self.rollcall("record", "-q", "-o", trace, *[str(script.pid) for script in scripts])
        _, page = self.page_of(trace)
        self.assertEqual(page.count('<section class="process"'), 3)
        for k in range(3):
            self.assertIn("#p%d" % (k + 1), page)
            self.assertIn("worker %d" % k, page)

    def test_a_gap_is_drawn(self):
        """S6: what was lost is no line."""
        script = Script(self, ROLLCALL_RING_BYTES=str(1 << 20))
        for _ in range(20):
            script.do("search 50")
        script.kill()
        trace = self.file("t.rct")
        self.rollcall("record", "-q", "-o", trace, str(script.pid))
        blocks = blocks_of(trace)
        data = [i for i, block in enumerate(blocks) if block[0] == 1]
        with open(trace, "r+b") as file:
            file.seek(4096 + sum(size for _, _, size in blocks[:data[len(data) // 2]]) + 80)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))
        _, page = self.page_of(trace)
        self.assertIn('class="gap"', page)
        self.assertRegex(page, r"<title>\d+ records lost")
        self.assertIn("in 1 gap", page)


@unittest.skipUnless(CHROMIUM, "no Chromium here: the page is not tested in a browser")
class InABrowser(PageCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def open(self, trace, *options):
        path, page = self.page_of(trace, *options)
        self.browser.open(path)
        self.assertEqual(self.browser.complaints(), [])
        return page

    def column(self, number):
        return json.loads(self.browser.run(
            "JSON.stringify(Array.from(document.querySelector('table.candidates').tBodies[0].rows, r => r.cells[%d].dataset.v ?? r.cells[%d].textContent))"
            % (number, number)))

    def click(self, selector):
        self.browser.run("document.querySelector(%s).click()" % json.dumps(selector))

    def test_it_renders_without_a_complaint(self):
        self.open(self.searched(), "--capacity", "device=12227MiB")
        self.assertEqual(self.browser.run("document.title"), "i.rct - Rollcall report")
        drawn = self.browser.run("Array.from(document.querySelectorAll('.figures svg')).filter(s => s.getBoundingClientRect().height > 50).length")
        self.assertEqual(drawn, self.browser.run("document.querySelectorAll('figure').length"))
        self.assertGreater(drawn, 2)
        # The lines are where the pictures are, and rise.
        self.assertTrue(self.browser.run(
            "(() => { const p = document.querySelector('svg.x2 path.line'); const b = p.getBBox(); return b.width > 700 && b.height > 150; })()"))
        self.assertTrue(self.browser.run("document.querySelector('svg.x2 use').getBBox().width > 700"))

    def test_sorting_and_filtering_work(self):
        self.open(self.searched())
        self.assertEqual(self.column(0), [str(k) for k in range(1, 121)])
        self.click("table.candidates th:nth-child(1) button")
        self.assertEqual(self.column(0), [str(k) for k in range(120, 0, -1)])
        self.click("table.candidates th:nth-child(1) button")
        self.assertEqual(self.column(0), [str(k) for k in range(1, 121)])
        self.assertEqual(self.browser.run("document.querySelector('table.candidates th').getAttribute('aria-sort')"), "ascending")
        self.click("table.candidates th:nth-child(2) button")
        self.assertEqual(self.column(1)[:4], ["c1", "c2", "c3", "c4"])
        self.click("table.candidates th:nth-child(4) button")
        self.assertEqual(self.column(3), sorted(self.column(3)))
        self.click("table.candidates th:nth-child(7) button")
        left = [float(v) for v in self.column(6)]
        self.assertEqual(left, sorted(left, reverse=True))
        self.browser.run("(() => { const f = document.querySelector('input.filter'); f.value = 'FAILED'; f.dispatchEvent(new Event('input')); })()")
        shown = self.browser.run("Array.from(document.querySelector('table.candidates').tBodies[0].rows).filter(r => r.offsetHeight).length")
        self.assertEqual(shown, 40)
        self.assertEqual(self.browser.complaints(), [])

    def test_the_value_under_the_pointer_is_said(self):
        self.open(self.searched())
        self.click("label[for='a1-2']")
        said = json.loads(self.browser.run("""(() => {
            const svg = document.querySelector('svg.x2'), box = svg.getBoundingClientRect(), said = [];
            for (const share of [0.2, 0.5, 0.8]) {
                svg.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + box.width * share, clientY: box.top + 9}));
                said.push(svg.parentNode.querySelector('output').textContent);
            }
            svg.dispatchEvent(new PointerEvent('pointerleave'));
            return JSON.stringify(said.concat([svg.parentNode.querySelector('output').textContent]));
        })()"""))
        self.assertEqual(said[3], "")
        for text in said[:3]:
            linked, pools = re.fullmatch(r"at (\d+) linked: (\d+)", text).groups()
            self.assertAlmostEqual(int(linked), int(pools), delta=2)
        self.assertEqual(self.browser.complaints(), [])

    def test_another_axis_shows_other_pictures(self):
        self.open(self.searched())
        for axis in (0, 1, 2):
            self.click("label[for='a1-%d']" % axis)
            shown = json.loads(self.browser.run(
                "JSON.stringify(Array.from(new Set(Array.from(document.querySelectorAll('.figures svg')).filter(s => s.getBoundingClientRect().height).map(s => s.classList[0]))))"))
            self.assertEqual(shown, ["x%d" % axis])

    def test_a_phone_needs_no_sideways_scrolling(self):
        self.open(self.searched())
        self.browser.call("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=2, mobile=True)
        self.assertLessEqual(self.browser.run("document.scrollingElement.scrollWidth"), 360)
        self.browser.call("Emulation.clearDeviceMetricsOverride")

    def test_dark_is_dark_and_paper_is_white(self):
        self.open(self.searched())

        def brightness():
            numbers = re.findall(r"\d+", self.browser.run("getComputedStyle(document.body).backgroundColor"))
            return sum(int(n) for n in numbers[:3])
        self.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
        self.assertGreater(brightness(), 700)
        self.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.assertLess(brightness(), 150)
        self.browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.assertGreater(brightness(), 700)
        self.browser.call("Emulation.setEmulatedMedia", media="", features=[])
        self.assertGreater(len(self.browser.call("Page.printToPDF")["data"]), 10000)

    def test_hostile_names_do_nothing(self):
        lines = ["time_s,candidate,phase,outcome,census.live_working_bytes"]
        for k, name in enumerate(HOSTILE):
            name = '"%s"' % name.replace("\x00", "").replace('"', '""')
            lines.append("%d,%s,%s,timed,%d" % (k + 1, name, name, k << 20))
        self.open(self.import_csv(lines))
        self.assertIsNone(self.browser.run("window.pwned"))
        self.assertEqual(self.browser.run("document.querySelectorAll('img, script:not(:last-of-type), iframe, b > *').length"), 0)
        labels = self.column(1)
        self.assertEqual(labels[0], HOSTILE[0])
        self.assertEqual(labels[1], HOSTILE[1])
        self.assertEqual(labels[4], HOSTILE[4])


if __name__ == "__main__":
    unittest.main()
