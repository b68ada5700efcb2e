"""The command lines `taper` and `executor_runner`, as in a build from source."""

import signal
import sys

from taper import _taper


def taper():
    if sys.argv[1:2] == ["--version"]:
        print("taper", _taper.version)
        return 0
    _take_signals()
    return _taper.run_taper(["taper"] + sys.argv[1:])


def executor_runner():
    _take_signals()
    return _taper.run_executor_runner(["executor_runner"] + sys.argv[1:])


def _take_signals():
    """Ctrl-C and a closed pipe end the command at once: Python would wait for its end."""
    for name in ("SIGINT", "SIGPIPE"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
