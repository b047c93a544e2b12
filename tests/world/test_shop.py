#!/usr/bin/env python3
"""Every answer about traces equals a plain reading of the spans that were sent, however they were sent.

Usage: test_shop.py --cairn PROGRAM [unittest options]
"""
import argparse
import collections
import contextlib
import http.client
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import shop

for beside in ("server", "store"):
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / beside))
import object_storage  # noqa: E402
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
        return subprocess.run([OPTIONS.cairn, "store", "add", "--create", self.store, *map(str, paths)], capture_output=True, text=True,
                              timeout=120, check=True).stderr

    def first_spans(self):
        """How many traces have the span that no other called."""
        return sum(any(not s.parent for s in t.values()) for t in self.traces.values())

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
            services = [shop.roots_of(t)[0].service]
            services += sorted({s.service for s in t.values()} - set(services))
            self.assertEqual((r["spans"], r["errors"], r["duration_ns"], r["method"], r["services"]),
                             (len(t), sum(s.error for s in t.values()), shop.duration_ns(t), shop.roots_of(t)[0].name,
                              ", ".join(services)))

    def check_statistics(self, rows, names, truth):
        """Rows with the statistics of shop.statistics(), by the values of some columns."""
        found = {tuple(r[n] for n in names): r for r in rows}
        self.assertEqual(set(found), {k if isinstance(k, tuple) else (k,) for k in truth})
        for key, numbers in truth.items():
            r = found[key if isinstance(key, tuple) else (key,)]
            self.assertEqual({n: r["calls" if n == "count" and "calls" in r else n] for n in numbers}, numbers, key)

    def groups(self, query, name):
        return self.json("store", "search", self.store, query, "--group-by", name.replace("_", "."), "--limit", "10000")

    def check_groups(self):
        # Also of the traces that a query finds, by an attribute of another span.
        paid = {k: t for k, t in self.traces.items() if shop.of("payment")(t)}
        for query, traces in (("", self.traces), ("service = payment", paid)):
            for name in ("card_type", "item", "db_system", "service", "method"):
                with self.subTest(query, by=name):
                    self.check_statistics(self.groups(query, name), ["value"], shop.groups(traces, name))
        self.check_statistics(self.groups("", "operation"), ["value"], shop.operations(self.traces))

    def check_services(self):
        self.check_statistics(self.json("store", "services", self.store), ["caller", "callee"], shop.edges(self.traces))

    def check_report(self):
        rows = {r["name"]: (r["calls"], r["total_ns"], r["self_ns"])
                for r in self.json("sql", self.store, "SELECT name, calls, total_ns, self_ns FROM report")}
        for name, truth in shop.report(self.traces).items():
            self.assertEqual(rows.get(name), tuple(truth), name)

    def check_tree(self):
        found, path = collections.Counter(), []
        for r in self.json("tree", self.store):
            path[r["depth"]:] = [r["name"]]
            # Below the entry of the first thread, and that of the others.
            if r["kind"] == "function":
                found[tuple(path[1:])] += r["time_sec_exclusive"] or 0
        truth = shop.paths(self.traces)
        self.assertEqual(set(found), set(truth))
        for path, ns in truth.items():
            self.assertAlmostEqual(found[path], ns / 1e9, places=7, msg=path)

    def check_critical_paths(self):
        for trace in list(self.traces.values())[::7]:
            first = min(s.begin for s in shop.roots_of(trace))
            rows = self.json("store", "show", self.store, shop.roots_of(trace)[0].trace, "--critical-path")
            truth = [(trace[i].begin - first, trace[i].service, trace[i].name, ns)
                     for i, ns in shop.critical_path(trace).items() if i]
            self.assertEqual(sorted((r["start_ns"], r["service"], r["method"], r["path_ns"]) for r in rows if r["method"]),
                             sorted(truth))

    def sides(self, queries):
        """Options of diff for two of shop.QUERIES, and their traces."""
        tests = dict(shop.QUERIES)
        options = [f"--query-{side}={query}" for side, query in zip("ab", queries)]
        return options, [list(filter(tests[query], self.traces.values())) for query in queries]

    def check_facets(self, rows, sides):
        values, seen = {}, 0
        for r in rows:
            has = (r["has_a"], r["has_b"])
            self.assertEqual((r["of_a"], r["of_b"]), tuple(map(len, sides)))
            if r["relation"] == "=":
                values[r["side"], r["key"], r["value"]] = has
            else:
                seen += 1
                limit = float(r["value"])
                self.assertEqual(has, tuple(shop.beyond(side, r["key"], r["relation"], limit) for side in sides), r)
        self.assertEqual(values, shop.facets(sides))
        return seen

    def check_comparisons(self):
        seen = 0
        for queries in (("NOT service = payment", "service = payment service = frontend"), ("card.type != visa", "cart.items >= 3"),
                        ("errors", "duration > 40ms"), ("", "errors item < 5")):
            options, sides = self.sides(queries)
            if not all(sides):
                continue
            with self.subTest(queries):
                seen += self.check_facets(self.json("diff", "--facets", *options, self.store), sides)
                costs = [shop.report({i: t for i, t in enumerate(side)}) for side in sides]
                rows = self.json("diff", "--per=trace", "--flat", "--cost=self", *options, self.store)
                for r in rows:
                    for side, cost, name in zip(sides, costs, "ab"):
                        truth = cost.get(r["function"], (0, 0, 0))[2] / len(side) / 1e9
                        self.assertAlmostEqual(r[name] or 0, truth, places=9, msg=(r["function"], name))
                different = {f for f in set(costs[0]) | set(costs[1]) if f not in costs[0] or f not in costs[1]}
                self.assertLessEqual(different, {r["function"] for r in rows})
        self.assertTrue(seen > 0 or len(self.traces) < 100)

    def check_why(self):
        tests, name = dict(shop.QUERIES), "GET /checkout"
        for query in ("", "card.type = visa item = 7", "service = payment service = frontend"):
            spans = [(s, t) for t in self.traces.values() if tests[query](t) for s in t.values() if s.name == name]
            if len(spans) < 20:
                continue
            with self.subTest(query):
                answer = self.json("why", name, self.store, "--query", query, "--slowest", "20")
                groups = [[t for s, t in spans if g["shortest_ns"] <= s.ns <= g["longest_ns"]]
                          for g in (answer["slow"], answer["typical"])]
                self.assertEqual([answer["slow"]["calls"], answer["typical"]["calls"]], list(map(len, groups)))
                self.assertGreaterEqual(answer["slow"]["calls"], len(spans) // 5)
                for sign in answer["signs"]:
                    fact = (sign["key"], sign["value"])
                    truth = [sum(fact in shop.facts_of(t) for t in g) if sign["relation"] == "=" else
                             shop.beyond(g, sign["key"], sign["relation"], float(sign["value"])) for g in groups]
                    self.assertEqual([sign["slow_calls"], sign["typical_calls"]], truth, sign)

    def check_served(self, service):
        """The same answers of the HTTP API."""
        for query, test in shop.QUERIES:
            self.assertEqual(service.get_counted("sources/0/traces", sum(map(test, self.traces.values())), q=query, limit=1)["count"],
                             sum(map(test, self.traces.values())), query)
        names = {"count": "count", "errors": "error_count", "total": "total_ns", **{f"p{p}": f"p{p}_ns" for p in (50, 90, 99)}}

        def named(row, *more):
            return {**{new: row[old] for old, new in names.items()}, **{name: row[name] for name in more}}
        for name in ("item", "service"):
            rows = service.get("sources/0/groups", by=name, limit=1000)["groups"]
            self.check_statistics([named(r, "value") for r in rows], ["value"], shop.groups(self.traces, name))
        edges = service.get("sources/0/services")["edges"]
        self.check_statistics([named(r, "caller", "callee") for r in edges], ["caller", "callee"], shop.edges(self.traces))
        _, sides = self.sides(queries := ("NOT service = payment", "service = payment service = frontend"))
        facets = service.get("diff", form="facets", a="0", b="0", aQuery=queries[0], bQuery=queries[1])["facets"]
        self.check_facets([{"side": f["side"].upper(), "key": f["key"], "relation": f["relation"], "value": f["value"], "has_a": f["hasA"],
                            "has_b": f["hasB"], "of_a": f["ofA"], "of_b": f["ofB"]} for f in facets], sides)

    def check_exports(self):
        """A copy of the store, and the spans of one trace in a format of others."""
        copy = str(self.folder / f"copy{len(list(self.folder.iterdir()))}")
        told = subprocess.run([OPTIONS.cairn, "store", "export", self.store, "-o", copy], capture_output=True, text=True,
                              timeout=120, check=True).stderr
        self.assertIn(f"{len(self.traces)} traces written", told)
        for path in (self.store, copy):
            info = self.json("info", path)
            self.assertEqual((info["traces"], info["failed_traces"], info["spans"]),
                             (len(self.traces), sum(map(shop.failed, self.traces.values())), sum(map(len, self.traces.values()))))
        self.assertEqual(int(self.cairn("store", "search", copy, "--count")), len(self.traces))
        self.assertEqual(int(self.cairn("store", "search", copy, "--count", "--spans")), sum(map(len, self.traces.values())))
        for trace in list(self.traces.values())[:3]:
            shown = json.loads(self.cairn("store", "show", copy, shop.roots_of(trace)[0].trace, "--format", "otlp-json"))
            spans = {s["spanId"]: (s["name"], s.get("parentSpanId", ""), int(s["startTimeUnixNano"]), int(s["endTimeUnixNano"]))
                     for r in shown["resourceSpans"] for scope in r["scopeSpans"] for s in scope["spans"]}
            self.assertEqual(spans, {s.id: (s.name, s.parent.id if s.parent else "", s.begin, s.end) for s in trace.values()})

    def check_all(self):
        self.check_searches()
        self.check_list()
        self.check_groups()
        self.check_services()
        self.check_report()
        self.check_tree()
        self.check_critical_paths()
        self.check_comparisons()
        self.check_why()
        self.check_exports()


class Stored(World):
    def test_one_span_per_request(self):
        self.traces = shop.make_traces(30, 3)
        told = self.add(shop.batches(self.traces, 1, 1), "all")
        spans = sum(map(len, self.traces.values()))
        self.assertIn(f"add: {self.first_spans()} traces and {spans - self.first_spans()} parts of traces added ({spans} calls), ", told)
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
        with serving(OPTIONS.cairn, self.store, checks=False) as service:
            self.check_served(service)

    def test_everything_twice_in_other_segments(self):
        requests = shop.batches(self.traces, 50, 4)
        for i in range(2):
            for j in range(2):
                self.add(requests[j::2], f"{i}{j}")
                self.cairn("store", "seal", "-q", self.store)
        self.check_all()

    def test_repeated_spans_beside_new_ones(self):
        """A Collector between sender and store puts batches together, also one that it sends again; some twice in a body."""
        requests = [request["resourceSpans"] for request in shop.batches(self.traces, 20, 6)]
        joined = [{"resourceSpans": before + now + before} for before, now in zip([[], *requests], requests)]
        self.add(joined[::2], "even")
        self.add(joined[1::2], "odd")
        self.check_all()

    def check_same_ids(self, count, ids):
        """Traces whose spans have few ids, in segments of two collectors that come together: some traces are in both."""
        self.traces = {}
        for name, trace in shop.make_traces(count, 5).items():
            for span in trace.values():
                span.id = f"{int(span.id, 16) % ids + 1:016x}"
            self.traces[name] = {span.id: span for span in trace.values()}
        own, other = self.store, str(self.folder / "other")
        for self.store, sent in ((other, slice(count * 2 // 3)), (own, slice(count // 3, count))):
            self.add(shop.batches(dict(list(self.traces.items())[sent]), 50, 8), "all")
            self.cairn("store", "seal", "-q", self.store)
        pathlib.Path(other, "000000").rename(pathlib.Path(own, "000009"))
        self.check_searches()

    def test_spans_of_many_traces_with_the_same_ids(self):
        self.check_same_ids(30, 100)
        self.check_list()

    def test_ids_that_every_trace_uses(self):
        self.check_same_ids(150, 4)


class Collected(World):
    def send(self, services, requests):
        """Requests to collectors, each to one of them by chance, as senders repeat them elsewhere."""
        chance = random.Random(9)
        with contextlib.ExitStack() as stack:
            connections = [stack.enter_context(contextlib.closing(http.client.HTTPConnection(s.host, s.port, timeout=60)))
                           for s in services]
            for i, request in enumerate(requests):
                connection = chance.choice(connections)
                connection.request("POST", "/v1/traces", body=json.dumps(request), headers={"Content-Type": "application/json"})
                answer = connection.getresponse()
                answer.read()
                self.assertLess(answer.status, 300, i)

    def test_while_collecting_and_afterwards(self):
        with serving(OPTIONS.cairn, "--collect", self.store, "--collect-lanes", "3", checks=False) as service:
            self.send([service], shop.batches(self.traces, 64, 5))
            self.check_searches()
            self.check_report()
            self.check_served(service)
            self.assertIn(f"\ncairn_collector_traces_total {self.first_spans()}\n", service.ask("/metrics")[2].decode())
        self.check_all()


class Shared(Collected):
    """Two collectors with one store in object storage: traces and repeated requests are split between them."""

    def setUp(self):
        super().setUp()
        if not object_storage.is_installed():
            self.skipTest("the packages ceph-mon, ceph-osd, radosgw and ceph-common are not installed")
        gateway = self.enterContext(object_storage.Gateway(self.folder / "ceph"))
        self.enterContext(unittest.mock.patch.dict(
            os.environ, object_storage.environment(gateway.port, self.folder / "cache"), clear=True))
        gateway.ask("PUT", "/traces")
        self.bucket, self.token = "s3://traces/shop", self.folder / "token"
        self.token.write_text("0123456789abcdef0123456789abcdef\n", encoding="utf-8")
        self.token.chmod(0o600)
        self.store = f"{self.bucket}?fresh=60&collector-token={self.token}"
        self.cairn("store", "init", "-q", self.bucket)
        self.gateway = gateway

    def test_while_collecting_and_afterwards(self):
        spools = [str(self.folder / f"spool{i}") for i in range(2)]
        with contextlib.ExitStack() as stack:
            services = []
            for spool in spools:
                self.cairn("store", "init", "-q", spool, "--rotate-size=16K")
                services.append(stack.enter_context(serving(
                    OPTIONS.cairn, "--collect", spool, "--collect-lanes=1", "--upload", self.bucket, "--advertise=http://127.0.0.1",
                    f"--token-file={self.token}", checks=False)))
            # Readers see what is not uploaded when the collectors have registered.
            while sum("collector-" in key for key in self.gateway.keys("traces", "shop/manifest/")) < 2:
                time.sleep(0.05)
            self.send(services, shop.batches(self.traces, 40, 6))
            self.check_searches()
            self.check_comparisons()
        for spool in spools:
            self.cairn("store", "seal", "-q", spool, "--upload", self.bucket)
        self.check_all()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.cairn = os.path.abspath(OPTIONS.cairn)
    unittest.main(argv=[sys.argv[0], *rest])
