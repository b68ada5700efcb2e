"""Runs tests as `python -m unittest` does, with the same arguments. It also reports their counts, as
GoogleTest's programs do, into the folder of GTEST_OUTPUT (xml:FOLDER/), for a caller that adds them up.
That no test was found is a failure."""

import os
import sys
import tempfile
import unittest


def report(result, folder):
    file, _ = tempfile.mkstemp(".xml", "unittest_", folder)
    failures = len(result.failures) + len(result.unexpectedSuccesses)
    with os.fdopen(file, "w") as out:
        out.write(f'<testsuites tests="{result.testsRun}" failures="{failures}" '
                  f'errors="{len(result.errors)}">\n')
        out.write("<skipped/>\n" * len(result.skipped))
        out.write("</testsuites>\n")


def main(arguments):
    result = unittest.main(None, argv=["run.py", *arguments], exit=False).result
    where = os.environ.get("GTEST_OUTPUT", "")
    if where.startswith("xml:") and where.endswith("/"):
        report(result, where[len("xml:"):])
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
