#!/usr/bin/env python3
"""Profiles of JavaScript from a random run of a program, in each form that is read, against sums of that run.
Prints what is wrong."""
import collections
import json
import pathlib
import random
import re
import subprocess
import sys

DEEP = 700  # frames
sys.setrecursionlimit(10 * DEEP)
failures = []


def check(is_fine, text):
    if not is_fine:
        failures.append(text)


def cairn(*words, status=0):
    done = subprocess.run(["cairn", *words], capture_output=True, check=False)
    check(done.returncode == status, f"cairn {' '.join(words)}: {done.returncode}, {done.stderr.decode()[-300:]}")
    return done.stdout.decode(), done.stderr.decode()


def stacks(path, *more, status=0):
    found = collections.Counter()
    for line in cairn("convert", "-q", path, "-", "--to", "folded", *more, status=status)[0].splitlines():
        stack, value = line.rsplit(" ", 1)
        found[stack] += int(value)
    return found


class Run:
    """Samples of nodes of a tree. Node 1 is the root, 2 is idle, 3 collects garbage, 4 has no name."""

    def __init__(self):
        random.seed(11)
        self.names = {1: "(root)", 2: "(idle)", 3: "(garbage collector)", 4: ""}
        self.parents = {2: 1, 3: 1, 4: 1}
        for node in range(5, 40):
            self.names[node], self.parents[node] = f"f{node % 9}", random.choice([4, *range(5, node)])
        self.samples = [random.randrange(2, 40) for _ in range(500)]
        self.samples[0] = 4
        self.deltas = [random.randrange(100, 3000) for _ in self.samples]
        self.start, self.sum = 1_000_000, sum(self.deltas)

    def frame(self, node):
        line = -1 if node < 4 else node % 9 + 1
        return {"functionName": self.names[node], "scriptId": "7", "url": "" if node < 4 else "file:///srv/app.js",
                "lineNumber": line, "columnNumber": 2}

    def path(self, node):
        names = []
        while node in self.parents:
            names.append(self.names[node] or "(anonymous)")
            node = self.parents[node]
        return names[::-1]

    def stacks(self, last_us):
        """Nanoseconds by stack: a sample lasts until the next, the last one for `last_us`."""
        found, before = collections.Counter(), []
        for sample, us in zip(self.samples, [*self.deltas[1:], last_us]):
            if sample == 2:
                before = []
                continue
            path = before + [self.names[3]] if sample == 3 else self.path(sample)
            before = before if sample == 3 else path
            found[";".join(path)] += us * 1000
        return +found

    def hits(self):
        return collections.Counter(self.samples)

    def children(self, node):
        return [child for child, parent in self.parents.items() if parent == node]

    def cpuprofile(self, by_parent):
        nodes = []
        for node in sorted(self.names, reverse=not by_parent):
            about = {"id": node, "callFrame": self.frame(node), "hitCount": self.hits()[node]}
            if by_parent:
                about.update({"parent": self.parents[node]} if node in self.parents else {})
            else:
                about["children"] = self.children(node)
                about["positionTicks"] = [{"line": 10 + node, "ticks": self.hits()[node]}]
            nodes.append(about)
        return {"nodes": nodes, "startTime": self.start, "endTime": self.start + self.sum + 5000,
                "samples": self.samples, "timeDeltas": self.deltas}

    def old_cpuprofile(self):
        def tree(node):
            return {**self.frame(node), "id": node, "hitCount": 0, "children": [tree(child) for child in self.children(node)]}

        times = [self.start + sum(self.deltas[: i + 1]) for i in range(len(self.deltas))]
        return {"head": tree(1), "startTime": 1, "endTime": 2, "samples": self.samples, "timestamps": times}

    def chrome(self):
        """Parts of nodes and samples; arguments come before the name. Another thread has an event."""
        events = [{"args": {"data": {"startTime": self.start}}, "cat": "p", "id": "0x1", "name": "Profile", "ph": "P", "pid": 8,
                   "tid": 9, "ts": self.start},
                  {"args": {"data": {"lines": ["x"], "nodes": 7}}, "name": "task", "ph": "X", "ts": self.start, "dur": 77, "pid": 8,
                   "tid": 9}]
        nodes = [{"id": node, "callFrame": self.frame(node), **({"parent": self.parents[node]} if node in self.parents else {})}
                 for node in sorted(self.names)]
        for i in range(0, len(self.samples), 50):
            part = {"samples": self.samples[i : i + 50], **({"nodes": nodes} if i == 0 else {})}
            events.append({"args": {"data": {"cpuProfile": part, "timeDeltas": self.deltas[i : i + 50]}}, "cat": "p", "id": "0x1",
                           "name": "ProfileChunk", "ph": "P", "pid": 8, "tid": 77, "ts": self.start + i})
        return {"traceEvents": events}

    def hermes(self):
        frames = {str(node): {"category": "JavaScript", **({"parent": self.parents[node]} if node in self.parents else {}),
                              "name": "[root]" if node == 1 else f"g{node}(http://host:81/app.js:{node}:3)"}
                  for node in self.names}
        samples = [{"cpu": "-1", "name": "", "pid": 5, "tid": str(6 + i % 2), "weight": "1", "sf": sample,
                    "ts": str(self.start + sum(self.deltas[: i + 1]))} for i, sample in enumerate(self.samples)]
        return {"traceEvents": [], "samples": samples, "stackFrames": frames}

    def hermes_stacks(self):
        found = collections.Counter()
        for first in (0, 1):
            chosen = range(first, len(self.samples), 2)
            for i, after in zip(chosen, chosen[1:]):
                path, node = [], self.samples[i]
                while node != 1:
                    path, node = [f"g{node}", *path], self.parents[node]
                found[";".join(path)] += sum(self.deltas[i + 1 : after + 1]) * 1000
        return +found


def write(name, data):
    pathlib.Path(name).write_text(json.dumps(data, separators=(",", ":")), encoding="utf-8")
    return name


def check_cpu(run):
    for by_parent in (False, True):
        name = write(f"{by_parent}.cpuprofile", run.cpuprofile(by_parent))
        check(stacks(name, "--metric", "time") == run.stacks(5000), f"{name}: times differ")
        want = collections.Counter()
        for sample in run.samples:
            if sample != 2:
                want[";".join(run.path(sample))] += 1
        check(stacks(name, "--metric", "samples") == want, f"{name}: hits differ")
    tree = cairn("tree", "--metric", "samples", "--format", "csv", "False.cpuprofile")[0]
    check("app.js:15" in tree, "lines of hits are missing")
    text = cairn("convert", "-q", "False.cpuprofile", "-", "--to", "callgrind")[0]
    check(re.search(r"^fl=(\(\d+\) )?/srv/app.js$", text, re.M), "no file")
    check(re.search(r"^cfn=\(\d+\) f7\ncalls=0 9$", text, re.M), "no line of the definition")
    name = write("old.cpuprofile", run.old_cpuprofile())
    check(stacks(name) == run.stacks(0), f"{name}: times differ")


def check_heap():
    node, want = {"callFrame": {"functionName": f"d{DEEP}", "url": "", "lineNumber": 0}, "selfSize": 5, "id": 1, "children": []}, 5
    for depth in range(DEEP - 1, 0, -1):
        node = {"callFrame": {"functionName": f"d{depth}", "url": "a.js", "lineNumber": depth}, "selfSize": depth % 3,
                "children": [node]}
        want += depth % 3
    head = {"callFrame": {"functionName": "(root)", "url": "", "lineNumber": -1}, "selfSize": 0, "children": [node]}
    found = stacks(write("x.heapprofile", {"head": head, "samples": [{"size": 5, "nodeId": 1, "ordinal": 3}]}))
    check(sum(found.values()) == want, f"heap: {sum(found.values())} bytes, not {want}")
    check(found[";".join(f"d{i}" for i in range(1, DEEP + 1))] == 5, "heap: the deepest stack")


def check_traces(run):
    found = stacks(write("chrome.json", run.chrome()))
    check(found.pop("chrome;task", 0) + found.pop("task", 0) == 77000, f"chrome: the event is missing: {found}")
    check({k.removeprefix("chrome;"): v for k, v in found.items()} == run.stacks(0), "chrome: times differ")
    found = stacks(write("hermes.json", run.hermes()))
    check({k.removeprefix("chrome;"): v for k, v in found.items()} == run.hermes_stacks(), "hermes: times differ")
    source = cairn("replay", "--srcline", "hermes.json")[0]
    check("http://host:81/app.js:17" in source, "hermes: no lines")


def check_damage(run):
    text = json.dumps(run.cpuprofile(True))
    for part in (0.4, 0.9, 0.99):
        pathlib.Path("cut.cpuprofile").write_text(text[: int(len(text) * part)], encoding="utf-8")
        out, err = cairn("tree", "cut.cpuprofile", status=3)
        check("cut.cpuprofile: " in err and "JSON ends at" in err, f"cut: {err}")
        check("f7" in out or part < 0.5, f"cut at {part}: {out}")
    data = run.cpuprofile(True)
    data["samples"][3] = 4711
    err = cairn("tree", write("unknown.cpuprofile", data), status=3)[1]
    check("the first is sample 3, of node 4711" in err, f"unknown node: {err}")
    data["nodes"][4]["parent"] = 6
    data["nodes"][5]["parent"] = 5
    err = cairn("tree", write("cycle.cpuprofile", data), status=3)[1]
    check("node 5 is its own caller" in err, f"cycle: {err}")


def main():
    run = Run()
    check_cpu(run)
    check_heap()
    check_traces(run)
    check_damage(run)
    for text in failures:
        print(text)
    return bool(failures)


sys.exit(main())
