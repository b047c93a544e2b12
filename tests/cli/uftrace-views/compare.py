#!/usr/bin/env python3
"""Compare every view of every recording with what uftrace 0.19 printed.

differences.txt, or real/differences.txt for real recordings, lists the outputs that differ: how many lines of the original are missing,
how many are new, a hash of the changed lines, and the heading of docs/uftrace-differences.md
that gives the reason. Any other difference is printed and makes the test fail; so does an
entry of the list that is no longer true. With --list, print the list as it should be.
"""
import difflib
import hashlib
import os
import pathlib
import re
import subprocess
import sys

CASE = pathlib.Path(os.environ["CASE"])
sys.path.insert(0, str(CASE.parents[1] / "generators"))
sys.dont_write_bytecode = True
from expectations import VIEWS


def read_list(path):
    known = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            name, removed, added, digest, reason = line.split()
            known[name] = ((int(removed), int(added), digest), reason)
    return known


def headings(source):
    text = (source / "docs" / "uftrace-differences.md").read_text()
    return set(re.findall(r"^## `([a-z-]+)`", text, re.MULTILINE))


def run(recording, words):
    env = dict(os.environ, TZ="UTC", LC_ALL="C")
    command = ["cairn", *words, "--no-pager", "-d", str(recording)]
    return subprocess.run(command, capture_output=True, env=env, check=False).stdout


def changed_lines(want, got):
    want, got = (text.decode(errors="replace").split("\n") for text in (want, got))
    diff = list(difflib.unified_diff(want, got, lineterm="", n=0))[2:]
    return [line for line in diff if line[0] in "-+"]


def describe(lines):
    """What the list says about a difference: lines missing, lines new, a hash of them."""
    removed = sum(line[0] == "-" for line in lines)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12] if lines else "-"
    return removed, len(lines) - removed, digest


def compare_all(folder):
    for expected in sorted(folder.glob("*.expected")):
        recording = expected.with_suffix("")
        for view, words in VIEWS.items():
            want = expected / f"{view}.txt"
            if want.exists():
                lines = changed_lines(want.read_bytes(), run(recording, words))
                yield f"{recording.name}/{view}", lines


def main():
    data = os.environ["data"]
    known = read_list(CASE / ("real" if data == "../fixtures" else "") / "differences.txt")
    documented = headings(CASE.parents[2])
    wants_list = "--list" in sys.argv
    failed = False
    for name, lines in compare_all(pathlib.Path(data) / "uftrace"):
        found = describe(lines)
        expected, reason = known.pop(name, ((0, 0, "-"), "unknown"))
        if wants_list and lines:
            print(name, *found, reason)
        elif found != expected:
            failed = True
            print(f"{name}: -{found[0]} +{found[1]} {found[2]},"
                  f" expected -{expected[0]} +{expected[1]} {expected[2]}")
            print("\n".join(lines[:10]))
        elif lines and reason not in documented:
            failed = True
            print(f"{name}: no heading `{reason}` in docs/uftrace-differences.md")
    for name in known:
        failed = True
        print(f"{name}: listed, but there is no such output")
    sys.exit(failed)


if __name__ == "__main__":
    main()
