#!/usr/bin/env python3
"""Every answer about traces equals a plain reading of the spans that were sent, however they were sent.

Usage: test_shop.py --cairn PROGRAM [unittest options]
"""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import shop

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "server"))
from service import serving  # noqa: E402


class World(unittest.TestCase):
    """One store, and the spans that were sent to it."""
    COUNT = 120

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.store = str(self.folder / "store")
        self.traces = shop.make_traces(self.COUNT, 7)

    def cairn(self, *words):
        done = subprocess.run([OPTIONS.cairn, *words], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
        return done.stdout

    def json(self, *words):
        return json.loads(self.cairn(*words, "--format", "json"))

    def add(self, requests, name):
        paths = [self.folder / f"{name}-{i:04}.json" for i in range(len(requests))]
        for path, request in zip(paths, requests):
            path.write_text(json.dumps(request), encoding="utf-8")
        self.cairn("store", "add", "-q", "--create", self.store, *map(str, paths))

    def count(self, query, *options):
        return int(self.cairn("store", "search", self.store, query, "--count", *options))

    def check_searches(self):
        for query, test in shop.QUERIES:
            with self.subTest(query):
                self.assertEqual(self.count(query), sum(map(test, self.traces.values())))
        spans = [s for t in self.traces.values() for s in t.values()]
        for query, test in shop.SPAN_QUERIES:
            with self.subTest(spans=query):
                self.assertEqual(self.count(query, "--spans"), sum(map(test, spans)))

    def check_list(self):
        rows = self.json("store", "search", self.store, "--limit", "100000")
        self.assertEqual({r["trace_id"] for r in rows}, set(self.traces))
        for r in rows:
            t = self.traces[r["trace_id"]]
            root = shop.root_of(t)
            self.assertEqual((r["spans"], r["errors"], r["duration_ns"], r["method"]),
                             (len(t), sum(s.error for s in t.values()), root.ns, root.name))

    def check_groups(self):
        for name in ("card_type", "item", "db_system"):
            found = {r["value"]: r for r in self.json("store", "search", self.store, "--group-by", name.replace("_", "."))}
            truth = shop.groups(self.traces, name)
            self.assertEqual(set(found), set(truth))
            for value, (count, errors, durations) in truth.items():
                r = found[value]
                p50 = durations[(count * 50 + 99) // 100 - 1]
                self.assertEqual((r["count"], r["error_count"], r["p50_ns"], r["max_ns"]), (count, errors, p50, durations[-1]))
        # A group of the traces that a query finds, by an attribute of another span.
        matching = {k: t for k, t in self.traces.items() if shop.of("payment")(t)}
        found = {r["value"]: r["count"] for r in self.json("store", "search", self.store, "service = payment", "--group-by", "item")}
        self.assertEqual(found, {v: g[0] for v, g in shop.groups(matching, "item").items()})

    def check_services(self):
        found = {(r["caller"], r["callee"]): r["calls"] for r in self.json("store", "services", self.store)}
        self.assertEqual(found, shop.edges(self.traces))

    def check_report(self):
        rows = {r["name"]: (r["calls"], r["total_ns"], r["self_ns"])
                for r in self.json("sql", self.store, "SELECT name, calls, total_ns, self_ns FROM report")}
        for name, truth in shop.report(self.traces).items():
            self.assertEqual(rows.get(name), tuple(truth), name)

    def check_all(self):
        self.check_searches()
        self.check_list()
        self.check_groups()
        self.check_services()
        self.check_report()


class Stored(World):
    def test_one_span_per_request(self):
        self.traces = shop.make_traces(30, 3)
        self.add(shop.batches(self.traces, 1, 1), "all")
        self.check_all()

    def test_parts_in_many_segments(self):
        requests = shop.batches(self.traces, 20, 2)
        for i in range(5):
            self.add(requests[i::5], str(i))
            self.cairn("store", "seal", "-q", self.store)
        self.check_all()
        self.cairn("store", "compact", "-q", self.store)
        self.check_all()

    def test_big_batches_and_an_open_segment(self):
        self.add(shop.batches(self.traces, 512, 3), "all")
        self.check_all()

    def test_everything_twice_in_other_segments(self):
        requests = shop.batches(self.traces, 50, 4)
        for i in range(2):
            for j in range(2):
                self.add(requests[j::2], f"{i}{j}")
                self.cairn("store", "seal", "-q", self.store)
        self.check_all()


class Collected(World):
    def test_while_collecting_and_afterwards(self):
        with serving(OPTIONS.cairn, "--collect", self.store, "--collect-lanes", "3", checks=False) as service:
            connection = http.client.HTTPConnection(service.host, service.port, timeout=60)
            with contextlib.closing(connection):
                for i, request in enumerate(shop.batches(self.traces, 64, 5)):
                    connection.request("POST", "/v1/traces", body=json.dumps(request),
                                       headers={"Content-Type": "application/json"})
                    answer = connection.getresponse()
                    answer.read()
                    self.assertLess(answer.status, 300, i)
            self.check_searches()
            self.check_report()
        self.check_all()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.cairn = os.path.abspath(OPTIONS.cairn)
    unittest.main(argv=[sys.argv[0], *rest])
