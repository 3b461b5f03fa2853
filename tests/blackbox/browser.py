# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""A headless Chromium, spoken to through its debugging pipe: messages of JSON,
each with a zero byte behind it, on descriptors 3 and 4."""

import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LIMIT_S = 90


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="rollcall-chromium-")
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (theirs_in, theirs_out)]
        os.close(theirs_in)
        os.close(theirs_out)

        def place():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)
        self.process = subprocess.Popen(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe", "--user-data-dir=" + self.profile, "about:blank"],
            preexec_fn=place, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=dict(os.environ, HOME=self.profile), start_new_session=True)
        for fd in high:
            os.close(fd)
        self.reader, self.writer = ours_in, ours_out
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        try:
            self.attach()
        except BaseException:
            self.close()  # nobody else has it yet
            raise

    def attach(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        os.close(self.reader)
        os.close(self.writer)
        if self.process.poll() is None:
            # It is not reaped, so the group is still its own.
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, until):
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.reader], [], [], left)[0]:
                raise AssertionError("the browser did not answer within %d s" % LIMIT_S)
            got = os.read(self.reader, 1 << 20)
            if not got:
                raise AssertionError("the browser ended")
            self.buffer += got
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + LIMIT_S
        while True:
            answer = self.receive(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def open(self, path):
        """Opens a file and waits until it is loaded."""
        self.events = []
        self.call("Page.navigate", url="file://" + path)
        until = time.monotonic() + LIMIT_S
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive(until))

    def run(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError("%s: %s" % (expression, answer["exceptionDetails"]))
        return answer["result"].get("value")

    def complaints(self):
        """What the console would show, and what was asked of any network."""
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method in ("Runtime.exceptionThrown", "Log.entryAdded"):
                found.append(parameters)
            elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(parameters)
            elif method == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith("file://"):
                found.append(parameters["request"]["url"])
        return found
