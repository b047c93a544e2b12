#!/usr/bin/env python3
"""TraceQL finds what a plain reading of the spans finds: random traces, random queries, several ways of storing.

Usage: test_traceql.py --cairn PROGRAM [unittest options]
"""
import argparse
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

import traceql

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
import seeds  # noqa: E402

SECOND = traceql.SECOND


def value_of(text, value):
    """What the command prints for a value."""
    kind, content = value
    if kind in ("float", "duration"):
        return math.isclose(float(number_of(text, kind)), content, rel_tol=1e-9, abs_tol=1e-9)
    return text == printed(value)


def printed(value):
    kind, content = value
    if kind == "list":
        return "[" + ", ".join(f'"{v[1]}"' if v[0] == "string" else printed(v) for v in content) + "]"
    if kind == "any":
        return printed(content[0])
    if kind == "float":
        return repr(content)
    if kind == "bool":
        return str(content).lower()
    return {"status": lambda: traceql.STATUSES[content], "kind": lambda: traceql.KINDS[content], "nil": lambda: "nil"}.get(
        kind, lambda: str(content))()


UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}


def number_of(text, kind):
    if kind == "float":
        return float(text)
    number, unit = re.fullmatch(r"(-?[0-9.]+)([a-z]+)", text).groups()
    return float(number) * UNITS[unit]


class TraceQL(unittest.TestCase):
    QUERIES = 400 if os.environ.get("CAIRN_THOROUGH") else 10

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.store = str(self.folder / "store")
        self.rng = random.Random(SEED)

    def cairn(self, *words):
        return subprocess.run([OPTIONS.cairn, *words], capture_output=True, text=True, timeout=120, check=False)

    def ask(self, query, *options):
        done = self.cairn("store", "search", self.store, "--traceql", query, *options, "--format", "json")
        self.assertEqual(done.returncode, 0, f"{query}: {done.stderr}")
        return json.loads(done.stdout) if done.stdout else []

    def send(self, traces, batch, parts):
        """In batches of spans in random order, so that parts of a trace are in several segments; some twice."""
        spans = [span for trace in traces for span in trace]
        self.rng.shuffle(spans)
        share, again = -(-len(spans) // parts), []
        for part in range(parts):
            mine = spans[part * share:(part + 1) * share]
            paths = []
            for batched in [mine[first:first + batch] for first in range(0, len(mine), batch)] + again:
                paths.append(self.folder / f"{part}-{len(paths)}.json")
                paths[-1].write_text(json.dumps(traceql.request(batched)), encoding="utf-8")
            again = [mine[:batch]]  # its sender did not get the answer
            done = self.cairn("store", "add", "--create", self.store, *map(str, paths))
            self.assertEqual(done.returncode, 0, done.stderr)
            if part + 1 < parts:
                self.assertEqual(self.cairn("store", "seal", self.store).returncode, 0)

    def compare_sets(self, query, found, rows):
        """Spansets as the command lists them, one row each, with the spans that a plain reading finds."""
        wanted = sorted((trace, " ".join(s.id for s in spans)) for trace, sets in found.items() for spans, _ in sets)
        self.assertEqual(sorted((r["trace_id"], r["span_ids"]) for r in rows), wanted, query)
        given = {(trace, " ".join(s.id for s in spans)): more for trace, sets in found.items() for spans, more in sets}
        for row in rows:
            attributes = given[row["trace_id"], row["span_ids"]]
            listed = re.findall(r"(by|count|sum|avg|min|max)\(.*?\)=(.*?)(?=, (?:by|count|sum|avg|min|max)\(|$)", row["attributes"] or "", re.S)
            said = dict(("by" if name == "by" else "aggregate", text) for name, text in listed)
            for name, value in attributes.items():
                self.assertTrue(value_of(said.get(name, ""), value), f"{query}: {row['attributes']} and not {attributes}")

    def check_search(self, maker, traces):
        query = maker.query()
        text = traceql.text(query)
        try:
            found = traceql.search(traces, query)
        except RecursionError:
            return
        rows = self.cairn("store", "search", self.store, "--traceql", text, "--spansets", "--format", "json", "--limit", "100000")
        if rows.returncode == 2 and "use coalesce()" in rows.stderr:
            return
        self.assertEqual(rows.returncode, 0, f"{text}: {rows.stderr}")
        self.compare_sets(text, found, json.loads(rows.stdout) if rows.stdout else [])
        if self.rng.random() < .3:  # the other way, through the queries of every other command
            spans = {(r["trace_id"], r["span_id"]) for r in self.ask(text, "--spans", "--limit", "100000")}
            self.assertEqual(spans, {(t, s.id) for t, sets in found.items() for s in traceql.spans_of(sets)}, text)
            self.assertEqual(len(self.ask(text, "--limit", "100000")), len(found), text)

    def check_metric(self, maker, traces):
        metric = maker.metric()
        text = traceql.text(metric)
        step, count = self.rng.choice(((SECOND, 12), (5 * SECOND, 4)))
        begin = traceql.BEGIN - step
        first, last = (self.date(t) for t in (begin, begin + step * count))
        rows = self.ask(text, "--since", first, "--until", last, "--step", f"{step // SECOND}s")
        wanted = traceql.measure(traces, metric, begin, step, count)
        points = {}
        for row in rows:
            points.setdefault(row["series"], {})[(row["time_ns"] - begin) // step - 1] = row["value"]
        named = {self.labels(labels): values for labels, values in wanted}
        self.assertEqual(sorted(points), sorted(named), text)
        for labels, values in named.items():
            self.assertEqual(sorted(points[labels]), sorted(values), f"{text} {labels}")
            for i, value in values.items():
                self.assertTrue(math.isclose(points[labels][i], value, rel_tol=1e-9, abs_tol=1e-9),
                                f"{text} {labels} {i}: {points[labels][i]} and not {value}")

    @staticmethod
    def labels(labels):
        return "{" + ", ".join(f'{name}="{value[1]}"' if value[0] == "string" else f"{name}={printed(value)}"
                               for name, value in labels) + "}"

    @staticmethod
    def date(ns):
        seconds, rest = divmod(ns, SECOND)
        import datetime
        return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S") + f".{rest:09}"

    def check(self, count, batch, parts):
        sent = traceql.make_traces(self.rng, count)
        self.send(sent, batch, parts)
        traces = [traceql.Trace(spans) for spans in sent]
        maker = traceql.Maker(self.rng)
        for _ in range(self.QUERIES):
            self.check_search(maker, traces)
            if self.rng.random() < .5:
                self.check_metric(maker, traces)

    def test_whole_traces(self):
        self.check(20, 1000, 1)

    def test_scattered_spans(self):
        self.check(30, 7, 3)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    OPTIONS, rest = parser.parse_known_args()
    SEED = seeds.source().getrandbits(32)
    unittest.main(argv=[sys.argv[0], *rest])
