"""Measures what the README and the documents state, and writes it there: `make figures`.

    figures.py [--only export,run]   measures those tables, or all of them (it takes hours)
    figures.py --check               measures nothing; says which tables are older than their code, and
                                     fails if one that repeats another document's figures differs
    figures.py --list                the tables, how long each takes, and the commands of documents

A table of a document stands between two marks, and below it what it was measured with:

    <!-- figures NAME -->
    | ... |
    Commit 1a2b3c4, 2026-11-26; x86_64 with avx2, fma; 2 cores.
    <!-- end of figures -->

Other documents are written whole by a script, which states the commit in them in the same words. A
table is old when commits after that one changed the paths whose speed or size it shows. Needs Python
alone; what tables are measured with may need the environment of scripts/venv.sh.
"""

import argparse
import os
import re
import subprocess
import sys

import provenance
from tables import DOCUMENTS, TABLES

MARKED = r"(<!-- figures {name} -->\n)(.*?)(<!-- end of figures -->)"


def read(document):
    with open(os.path.join(provenance.ROOT, document)) as file:
        return file.read()


def part_of(table):
    """The text between the table's marks."""
    found = re.search(MARKED.format(name=table.name), read(table.document), re.S)
    if not found:
        raise SystemExit(f"figures.py: {table.document} has no marks for the table '{table.name}'")
    return found.group(2)


def write(table, lines):
    """Replaces what stands between the marks."""
    body = "\n".join(lines) + "\n"
    if not table.derived:
        body += "\n" + provenance.line() + "\n"
    text, count = re.subn(
        MARKED.format(name=table.name),
        lambda found: found.group(1) + body + found.group(3),
        read(table.document),
        flags=re.S,
    )
    assert count == 1, table.name
    with open(os.path.join(provenance.ROOT, table.document), "w") as file:
        file.write(text)


def age(text, sources):
    """What --check says of a text with a stated commit."""
    stated = provenance.STATED.search(text)
    if not text.strip():
        return "not measured yet"
    if not stated:
        return "states no commit"
    commit, day = stated.groups()
    if provenance.git("cat-file", "-e", commit + "^{commit}") is None:
        return f"of {day}, by a commit that is not in this history: {commit}"
    since = ["rev-list", "--count", f"{commit}..HEAD", "--"]
    later = provenance.git(*since, *sources)
    if later == "0":
        return f"up to date ({commit}, {day})"
    changed = [path for path in sources if provenance.git(*since, path) != "0"]
    return f"of {day}: {later} commits since {commit} changed {', '.join(changed)}"


def check():
    """Returns 1 if a table that repeats figures has others than their document, else 0."""
    status = 0
    for table in TABLES:
        if table.derived:
            same = part_of(table).split() == "\n".join(table.measure()).split()
            now = "agrees with" if same else "DIFFERS from"
            print(f"{table.document}, {table.name}: {now} {table.derived}")
            status = status if same else 1
        else:
            print(f"{table.document}, {table.name}: {age(part_of(table), table.sources)}")
    for document in DOCUMENTS:
        print(f"{document.name}: {age(read(document.name), document.sources)}")
    return status


def listing():
    for table in TABLES:
        how = f"from {table.derived}" if table.derived else f"about {table.minutes} minutes"
        print(f"{table.name:12} {table.document}, {how}")
    for document in DOCUMENTS:
        needs = f", on a machine with {document.needs}" if document.needs else ""
        print(f"{'':12} {document.name}, by {document.command}{needs}")


def measure(names):
    """Measures the tables; without names all, the documents that have scripts of their own first."""
    known = {table.name for table in TABLES}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"figures.py: no table '{unknown[0]}'; there are {', '.join(sorted(known))}")
    if not names:
        for document in DOCUMENTS:
            if document.needs:
                print(f"== {document.name} needs a machine with {document.needs}", flush=True)
                continue
            print(f"== {document.command}", flush=True)
            subprocess.run(document.command, shell=True, cwd=provenance.ROOT, check=True)
    for table in TABLES:
        if not names or table.name in names:
            print(f"== {table.name}", flush=True)
            lines = table.measure()
            write(table, lines)
            print("\n".join(lines), flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="", help="comma-separated names of tables")
    parser.add_argument("--check", action="store_true", help="only say which are old")
    parser.add_argument("--list", action="store_true", help="only list them")
    options = parser.parse_args()
    if options.check:
        return check()
    if options.list:
        listing()
    else:
        measure([name for name in options.only.split(",") if name])
    return 0


if __name__ == "__main__":
    sys.exit(main())
