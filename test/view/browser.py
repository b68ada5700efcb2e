"""A headless Chromium that a test drives: DevTools' protocol over a pipe, without a package.

with Browser() as browser:
    page = browser.open("page.html", width=1280, height=800)    # or an address
    page.value("document.title")
    page.click(100, 50)
    page.key("Enter")
    page.complaints   # what the console and the page's scripts reported
"""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
KEYS = {
    "Enter": 13,
    "Escape": 27,
    "ArrowUp": 38,
    "ArrowDown": 40,
    "ArrowLeft": 37,
    "ArrowRight": 39,
}


class Browser:
    def __enter__(self):
        name = next((n for n in NAMES if shutil.which(n)), None)
        if name is None:
            raise SystemExit("browser.py: no Chromium: run scripts/deps.sh browser")
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read_commands, self.to = os.pipe()
        self.answers, write_answers = os.pipe()

        def connect():  # The protocol is spoken on 3 and 4.
            commands, answers = os.dup(read_commands), os.dup(write_answers)
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        self.process = subprocess.Popen(
            [
                name,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
                "--user-data-dir=" + self.folder.name,
            ],
            preexec_fn=connect,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_commands)
        os.close(write_answers)
        self.rest = b""
        self.number = 0
        self.pages = {}
        return self

    def __exit__(self, *_):
        os.close(self.to)
        self.process.terminate()
        self.process.wait()
        os.close(self.answers)
        self.folder.cleanup()

    def call(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            page = self.pages.get(answer.get("sessionId"))
            if page:
                page.note(answer)

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.answers, 1 << 20)
            if not more:
                raise RuntimeError("the browser is gone")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def open(self, path, width=1280, height=800, dark=False):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session, target)
        for domain in ["Page", "Runtime", "Log", "Network"]:
            page.call(domain + ".enable")
        page.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.call("Emulation.setEmulatedMedia", features=[scheme])
        address = str(path)
        if "://" not in address:
            address = pathlib.Path(path).resolve().as_uri()
        page.call("Page.navigate", url=address)
        page.value(
            "new Promise(done => document.readyState === 'complete' ? done() :"
            " addEventListener('load', () => done()))"
        )
        return page


class Page:
    def __init__(self, browser, session, target):
        self.browser = browser
        self.session = session
        self.target = target
        self.complaints = []
        self.requests = []

    def close(self):
        del self.browser.pages[self.session]
        self.browser.call("Target.closeTarget", targetId=self.target)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def note(self, event):
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(str([a.get("value") for a in params["args"]]))
        elif method == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def value(self, script):
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(script + ": " + str(answer["exceptionDetails"].get("exception")))
        return answer["result"].get("value")

    # Waits until what was changed is drawn.
    def settle(self):
        self.value(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
            ".then(() => 0)"
        )

    def click(self, x, y, count=1):
        for kind in ["mousePressed", "mouseReleased"]:
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=count
            )
        self.settle()

    def drag(self, points):
        """Presses the button at the first point and moves along the others."""
        mouse = "Input.dispatchMouseEvent"
        (x, y), *others = points
        self.call(mouse, type="mousePressed", x=x, y=y, button="left", buttons=1, clickCount=1)
        for x, y in others:
            self.call(mouse, type="mouseMoved", x=x, y=y, button="left", buttons=1)
        self.call(mouse, type="mouseReleased", x=x, y=y, button="left", clickCount=1)
        self.settle()

    def key(self, key):
        text = key if len(key) == 1 else ""
        code = KEYS.get(key, ord(key[0].upper()))
        for kind in ["keyDown", "keyUp"]:
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, text=text, windowsVirtualKeyCode=code
            )
        self.settle()

    def write(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
