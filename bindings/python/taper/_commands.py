"""The command lines `taper` and `executor_runner`, as in a build from source."""

import sys

from taper import _taper


def taper():
    if sys.argv[1:2] == ["--version"]:
        print("taper", _taper.version)
        return 0
    return _taper.run_taper(["taper"] + sys.argv[1:])


def executor_runner():
    return _taper.run_executor_runner(["executor_runner"] + sys.argv[1:])
