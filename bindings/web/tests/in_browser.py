"""Runs the checks and the example page in a headless Chromium.

    in_browser.py PACKAGE PROGRAMS EXAMPLE

PACKAGE is the assembled package, with these tests in it; PROGRAMS what programs.py compiled;
EXAMPLE the folder with the page. A plain file server serves them, which knows few types and sends
no special headers; threads are tested on another, which sends them. Needs what `scripts/deps.sh browser` installs.
"""

import functools
import http.server
import pathlib
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test/view"))
from browser import Browser  # noqa: E402

# A digit as strokes on a paper of 100 x 100.
DIGITS = {
    0: [[(50, 5), (25, 25), (22, 60), (35, 92), (60, 95), (75, 70), (75, 35), (62, 8), (50, 5)]],
    1: [[(35, 25), (52, 5), (52, 50), (52, 95)]],
    2: [[(25, 25), (35, 8), (60, 6), (72, 25), (60, 50), (28, 92), (50, 93), (80, 92)]],
    3: [[(28, 12), (50, 5), (70, 18), (65, 38), (45, 48), (68, 58), (74, 78), (55, 95), (26, 88)]],
    4: [[(50, 5), (25, 55), (20, 65), (80, 65)], [(58, 42), (58, 95)]],
    5: [[(72, 6), (32, 6), (30, 42), (55, 40), (72, 58), (68, 85), (48, 95), (26, 88)]],
    6: [[(62, 5), (40, 25), (28, 60), (32, 88), (52, 95), (70, 80), (66, 60), (48, 54), (30, 68)]],
    7: [[(30, 12), (50, 5), (72, 8), (60, 40), (48, 95)], [(34, 52), (78, 46)]],
    8: [[(66, 18), (50, 5), (32, 20), (50, 45), (70, 72), (50, 95), (30, 75), (48, 47), (66, 18)]],
    9: [[(66, 25), (50, 5), (30, 20), (38, 42), (66, 36), (68, 10), (70, 60), (62, 90), (34, 94)]],
}


class Files(http.server.SimpleHTTPRequestHandler):
    """Serves folders under names of their own. It knows no other types."""

    folders = {}
    headers_sent = {}
    extensions_map = {"": "application/octet-stream", ".html": "text/html"}
    extensions_map[".js"] = "text/javascript"

    def translate_path(self, path):
        first, _, rest = path.split("?")[0].lstrip("/").partition("/")
        return str(self.folders.get(first, ROOT / first) / rest)

    def end_headers(self):
        for name, value in self.headers_sent.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, *_):
        pass


# With these a browser gives a page shared memory.
ISOLATED = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}


def serve(folders, headers_sent=()):
    attributes = {"folders": folders, "headers_sent": dict(headers_sent)}
    handler = type("Served", (Files,), attributes)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def wait_for(page, condition, what, seconds=600):
    end = time.monotonic() + seconds
    while not page.value(condition):
        if time.monotonic() > end:
            raise AssertionError(f"{what}: nothing happened; the console says {page.complaints}")
        time.sleep(0.05)


def require(holds, what):
    if not holds:
        raise AssertionError(what)


def checks(browser, address, names=""):
    page = browser.open(address + "/package/tests/page.html" + names)
    wait_for(page, "globalThis.results !== undefined", "checks")
    failed = 0
    for name, passed, text in page.value("results"):
        print(f"{'ok      ' if passed else 'FAILED  '}{name}{': ' + text if text else ''}")
        failed += not passed
    page.close()
    return failed


def draws(page):
    """Digits that are drawn with the mouse are recognised."""
    box = page.value("(({x, y, width}) => [x, y, width])(paper.getBoundingClientRect())")
    for digit, strokes in DIGITS.items():
        page.click(*page.value("(({x, y}) => [x + 5, y + 5])(clear.getBoundingClientRect())"))
        for stroke in strokes:
            page.drag([(box[0] + box[2] * x / 100, box[1] + box[2] * y / 100) for x, y in stroke])
        wait_for(page, "answer.textContent !== ''", f"digit {digit}", 10)
        page.settle()
        given, took = page.value("[answer.textContent, time.textContent]")
        require(given == str(digit), f"{digit} was read as {given}")
        require(took.endswith(" ms"), f"the time is {took}")
    return f"{len(DIGITS)} digits"


def choose(page, *paths):
    found = page.call("Runtime.evaluate", expression="files")["result"]["objectId"]
    page.value("report.textContent = ''; outputs.replaceChildren(); 0")
    page.call("DOM.setFileInputFiles", files=[str(p) for p in paths], objectId=found)
    wait_for(page, "report.textContent !== '' && progress.hidden", "files", 20)
    return page.value("[report.textContent, report.className, outputs.textContent]")


def runs_files(page, programs):
    """A program and its inputs give outputs; what is wrong is said in a line."""
    data = ROOT / "test/models/data"
    inputs = [data / f"bert_mini.in{i}.npy" for i in range(3)]
    report, style, outputs = choose(page, programs / "bert_mini.pte", *inputs)
    require("takes input0: int64 (2, 16)" in report and "ran in" in report and style == "", report)
    require("output1 = float32 (2, 32): " in outputs, outputs)
    report, style, _ = choose(page, programs / "cut.pte")
    require(style == "error" and report.startswith("the file is truncated"), report)
    report, style, _ = choose(page, programs / "bert_mini.pte", inputs[0])
    require(style == "error" and "takes 3 inputs (input0, input1, input2)" in report, report)
    return "a program, and two mistakes"


def example(browser, address, programs):
    page = browser.open(address + "/example/index.html")
    failed = 0
    for test in (draws, lambda page: runs_files(page, programs)):
        try:
            print(f"ok      example: {test(page)}")
        except AssertionError as error:
            print(f"FAILED  example: {error}")
            failed += 1
    if page.complaints:
        print(f"FAILED  example: the console says {page.complaints}")
        failed += 1
    return failed


def main():
    package, programs, page = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
    folders = {"package": package, "programs": programs, "example": page}
    address, isolated = serve(folders), serve(folders, ISOLATED)
    with Browser() as browser:
        failed = checks(browser, address) + example(browser, address, programs)
        failed += checks(browser, isolated, "?withThreads")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
