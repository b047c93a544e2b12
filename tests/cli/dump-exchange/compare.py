#!/usr/bin/env python3
"""Compare cairn dump --format chrome, flame-graph, graphviz and mermaid of every
recording with what uftrace 0.19 printed: the same events, names, counts and times,
whatever their order.

differences.txt lists what differs: how many items of the original are missing, how many
are new, and under which heading of docs/uftrace-differences.md the reason stands. With
--list, print the list as it would have to be.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys


def chrome(text):
    # Times have more digits than a float; where records were lost uftrace writes commas
    # without an event between them.
    text = re.sub(r"(,\s*)+\n\{", ",\n{", text)
    trace = json.loads(text, parse_float=str)
    assert trace["displayTimeUnit"] == "ns"
    events = [json.dumps(e, sort_keys=True) for e in trace["traceEvents"]]
    return events + [f"{k}={v}" for k, v in trace["metadata"].items() if k != "version"]


def flame(text):
    return text.splitlines()


def graphviz(text):
    return [re.sub(r"\s+", " ", line) for line in text.splitlines() if "->" in line]


def mermaid(text):
    arrow = re.compile(r'^  (\d+)_\d+\["(.*)"\] -->\|(\d+)\| (\d+)_\d+\["(.*)"\];$', re.M)
    text = re.sub(r"#(\d+);", lambda m: chr(int(m[1])), text)
    return [" ".join(match) for match in arrow.findall(text)]


FORMATS = {
    "chrome": ("chrome", chrome),
    "flame": ("flame-graph", flame),
    "graphviz": ("graphviz", graphviz),
    "mermaid": ("mermaid", mermaid),
}


def read_list(path):
    known = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            name, removed, added, reason = line.split()
            known[name] = (int(removed), int(added), reason)
    return known


def dump(recording, name):
    command = ["cairn", "dump", "--no-pager", "--format", name, "-d", str(recording)]
    env = dict(os.environ, TZ="UTC", LC_ALL="C")
    return subprocess.run(command, capture_output=True, env=env, check=False).stdout


def compare(folder):
    """Yield NAME, items missing, items new."""
    for expected in sorted(folder.glob("*.expected")):
        recording = expected.with_suffix("")
        for name, (format_name, items) in FORMATS.items():
            if not (expected / f"dump-{name}.txt").exists():
                continue
            want = collections.Counter(items((expected / f"dump-{name}.txt").read_text()))
            have = dump(recording, format_name).decode("utf-8", "replace")
            have = collections.Counter(items(have))
            yield f"{recording.name}/{name}", want - have, have - want


def main():
    here = pathlib.Path(__file__).resolve().parent
    data = os.environ["data"]
    known = read_list(here / ("real" if data == "../fixtures" else "") / "differences.txt")
    docs = (here.parents[2] / "docs" / "uftrace-differences.md").read_text()
    headings = set(re.findall(r"^## `([a-z-]+)`", docs, re.MULTILINE))
    failures = 0
    for name, missing, new in compare(pathlib.Path(data) / "uftrace"):
        counts = (missing.total(), new.total())
        if "--list" in sys.argv:
            if any(counts):
                print(f"{name} {counts[0]} {counts[1]} {known.get(name, (0, 0, '?'))[2]}")
            if "-v" in sys.argv:
                for item in list(missing)[:6]:
                    print("   -", item)
                for item in list(new)[:6]:
                    print("   +", item)
        elif known.get(name, (0, 0, ""))[:2] != counts or (
            any(counts) and known[name][2] not in headings
        ):
            failures += 1
            print(f"{name}: {counts[0]} items missing, {counts[1]} new")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
