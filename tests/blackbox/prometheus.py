# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""A reader of OpenMetrics that forgives nothing, and a real Prometheus."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import unittest
import urllib.error
import urllib.parse
import urllib.request

from tests.blackbox.support import wait_for

PROMETHEUS = shutil.which("prometheus")
PROMTOOL = shutil.which("promtool")
needs_prometheus = unittest.skipIf(not PROMETHEUS or not PROMTOOL, "needs Debian's package prometheus")

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(r"(%s)(?:\{(.*)\})? (\S+)(?: (\S+))?\Z" % NAME)
LABEL = re.compile(r'(%s)="((?:[^"\\\n]|\\[n"\\])*)"(?:,|\Z)' % NAME)
SUFFIXES = {"counter": "_total", "info": "_info", "gauge": ""}


def labels_of(text):
    labels, at = {}, 0
    while at < len(text or ""):
        match = LABEL.match(text, at)
        if not match:
            raise AssertionError("not labels: %r" % text[at:])
        if match[1] in labels:
            raise AssertionError("label %s twice" % match[1])
        labels[match[1]] = re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), match[2])
        at = match.end()
    return labels


def parse(text, openmetrics=True):
    """Families by name: {"type", "unit", "help", "samples": [(labels, value, time)]}.
    Holds the text to the rules of OpenMetrics 1.0.0, or of Prometheus' 0.0.4."""
    families, family, series, seen = {}, None, None, set()
    lines = text.split("\n")
    if lines.pop() != "":
        raise AssertionError("the last line does not end")
    if openmetrics and lines.pop() != "# EOF":
        raise AssertionError("no # EOF at the end")
    for line in lines:
        if line.startswith("# "):
            _, word, name, rest = (line + " ").split(" ", 3)
            rest = rest[:-1]
            if family is None or family["name"] != name:
                if name in families:
                    raise AssertionError("family %s is not in one piece" % name)
                family = families[name] = {"name": name, "type": None, "unit": "", "help": None, "samples": []}
                series = None
            if word == "TYPE" and rest not in ("gauge", "counter", "info"):
                raise AssertionError(line)
            if family["samples"] or word not in ("HELP", "TYPE", "UNIT"):
                raise AssertionError("out of place: " + line)
            if word == "UNIT" and (not openmetrics or not name.endswith("_" + rest)):
                raise AssertionError(line)
            family[word.lower()] = rest
            continue
        match = SAMPLE.match(line)
        if not match:
            raise AssertionError("not a sample: %r" % line)
        suffix = SUFFIXES[family["type"]] if openmetrics else ""
        if match[1] != family["name"] + suffix:
            raise AssertionError("%s in family %s" % (match[1], family["name"]))
        labels = labels_of(match[2])
        key = (match[1], tuple(sorted(labels.items())))
        if key != series and key in seen:
            raise AssertionError("series %r is not in one piece" % (key,))
        if key == series and (not match[4] or float(match[4]) <= family["samples"][-1][2]):
            raise AssertionError("times of %r do not rise" % (key,))
        series = key
        seen.add(key)
        value = float(match[3])
        if value >= 1.8e19:
            raise AssertionError("unknown as a number: " + line)
        family["samples"].append((labels, value, float(match[4]) if match[4] else None))
    for name, one in families.items():
        if one["type"] is None or not one["help"]:
            raise AssertionError("%s lacks TYPE or HELP" % name)
    return families


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def get(url, **headers):
    """Status, headers and body."""
    request = urllib.request.Request(url, headers={k.replace("_", "-"): v for k, v in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read().decode()


class Prometheus:
    """A server of its own, over a folder of blocks or with something to scrape."""

    def __init__(self, case, folder, target=None, rules=None):
        self.port = free_port()
        config = os.path.join(case.files, "prometheus.yml")
        with open(config, "w") as file:
            file.write("global: {scrape_interval: 1s, evaluation_interval: 1s}\n")
            if rules:
                file.write("rule_files: [%s]\n" % json.dumps(rules))
            if target:
                file.write("scrape_configs: [{job_name: rollcall, static_configs: [{targets: [%s]}]}]\n" % json.dumps(target))
        self.log = open(os.path.join(case.files, "prometheus.log"), "w")
        self.process = case.start([PROMETHEUS, "--config.file=" + config, "--storage.tsdb.path=" + folder,
                                   "--storage.tsdb.retention.time=100y", "--web.listen-address=127.0.0.1:%d" % self.port,
                                   "--log.level=warn"], stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        self.log.close()

        def is_ready():
            if self.process.poll() is not None:
                with open(self.log.name) as log:
                    raise AssertionError("prometheus ended: " + log.read())
            try:
                return get("http://127.0.0.1:%d/-/ready" % self.port)[0] == 200
            except OSError:
                return False
        wait_for(is_ready, "prometheus to be ready")

    def api(self, path, **arguments):
        url = "http://127.0.0.1:%d/api/v1/%s?%s" % (self.port, path, urllib.parse.urlencode(arguments))
        answer = json.loads(get(url)[2])
        if answer["status"] != "success":
            raise AssertionError(answer)
        return answer["data"]

    def query(self, expression, **arguments):
        """A list of (labels, value)."""
        found = self.api("query", query=expression, **arguments)
        return [(one["metric"], float(one["value"][1])) for one in found["result"]]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
