#!/usr/bin/env python3
"""Questions about traces of a store: parts of one, its methods, and finding calls.

Usage: test_store.py --cairn PROGRAM
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import agent
from schema import check
from service import serving

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = json.loads((ROOT / "docs" / "http-api.schema.json").read_text(encoding="utf-8"))


class Damage(unittest.TestCase):
    def test_a_damaged_segment_is_reported_with_what_remains(self):
        with tempfile.TemporaryDirectory() as folder:
            store = os.path.join(folder, "store")
            for number in (0, 1):
                requests = os.path.join(folder, "requests.http")
                pathlib.Path(requests).write_bytes(
                    agent.request("agd", agent.SYMBOLS) + agent.request("trc", agent.trace(number), number))
                subprocess.check_call([OPTIONS.cairn, "store", "add", "-q", "--create", store, requests])
                subprocess.check_call([OPTIONS.cairn, "store", "seal", "-q", store])
            with serving(OPTIONS.cairn, store) as service:
                whole = service.get("sources/0/traces", q="")
            for path in sorted(pathlib.Path(store).glob("*0/*")):
                if path.suffix != ".props":
                    path.chmod(0o644)
                    path.write_bytes(bytes(byte ^ 0x55 for byte in path.read_bytes()))
            with serving(OPTIONS.cairn, store) as service:
                for question in ("traces", "histogram"):
                    check(service.get(f"sources/0/{question}", q=""), SCHEMAS[question])
                left = service.get("sources/0/traces", q="")
        self.assertIsNone(whole["damage"])
        self.assertEqual((whole["count"], left["count"]), (2, 1))
        self.assertIn("000000", left["damage"])


class Traces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        requests = os.path.join(cls.folder.name, "requests.http")
        pathlib.Path(requests).write_bytes(
            agent.request("agd", agent.SYMBOLS)
            + agent.request("trc", agent.failing_trace(0), 0)
            + agent.request("trc", agent.deep_trace(1, 1200), 1))
        store = os.path.join(cls.folder.name, "store")
        subprocess.check_call([OPTIONS.cairn, "store", "add", "-q", "--create", store, requests])
        cls.block = serving(OPTIONS.cairn, store)
        cls.service = cls.block.__enter__()
        cls.deep, cls.failing = (cls.key_of(uri) for uri in ("/deep", "/failing"))

    @classmethod
    def tearDownClass(cls):
        cls.block.__exit__(None, None, None)
        cls.folder.cleanup()

    @classmethod
    def key_of(cls, uri):
        return cls.service.get("sources/0/traces", q=f"uri = {uri}")["traces"][0]["key"]

    def ask(self, question, schema=None, **parameters):
        answer = self.service.get(f"sources/0/{question}", **parameters)
        check(answer, SCHEMAS[schema or question])
        return answer

    def test_a_small_trace_comes_whole(self):
        trace = self.ask("trace", key=self.failing)
        self.assertEqual([(n["node"], n["depth"], n["below"]) for n in trace["nodes"]],
                         [(0, 0, 3), (1, 1, 0), (2, 1, 1), (3, 2, 0)])
        self.assertNotIn("next", trace)
        # One tick is 65,536 ns on this wire or 1 ns: either way, parts add up.
        root, call, *_ = trace["nodes"]
        inner = trace["nodes"][2]
        self.assertEqual(root["self"], root["duration"] - call["duration"] - inner["duration"])

    def test_exceptions_have_stacks_and_causes(self):
        thrown = self.ask("trace", key=self.failing)["nodes"][3]["exceptions"]
        self.assertEqual([e["class"] for e in thrown], ["com.example.Failure", "java.io.IOException"])
        self.assertEqual([len(e["stack"]) for e in thrown], [3, 2])
        self.assertIn("Dao.java:40", thrown[0]["stack"][0])

    def test_the_parts_of_a_large_trace_are_the_whole(self):
        whole = {}
        todo = [{"node": 0}]
        while todo:
            asked = todo.pop()
            part = self.ask("trace", key=self.deep, limit=200, **asked)
            self.assertLessEqual(len(part["nodes"]), 201)
            nodes = part["nodes"]
            for at, node in enumerate(nodes):
                follows = nodes[at + 1]["depth"] if at + 1 < len(nodes) else 0
                isclosed = node["below"] > 0 and follows <= node["depth"] and at > 0
                if node["node"] not in whole and isclosed:
                    todo.append({"node": node["node"]})
                whole[node["node"]] = node
            if "next" in part:
                todo.append({"node": asked["node"], "from": part["next"]})
        self.assertEqual(sorted(whole), list(range(part["nodeCount"])))
        self.assertEqual(max(node["depth"] for node in whole.values()), 60)

    def test_short_calls_can_be_left_out(self):
        long = self.ask("trace", key=self.deep, min=1000, limit=100000)["nodes"]
        everything = self.ask("trace", key=self.deep, limit=100000)["nodes"]
        self.assertEqual([n["node"] for n in long],
                         [n["node"] for n in everything if n["duration"] >= 1000])
        self.assertLess(len(long), len(everything))

    def test_a_part_has_the_path_around_it(self):
        last = self.ask("trace", key=self.deep)["nodeCount"] - 1
        part = self.ask("trace", key=self.deep, node=last, limit=1)
        self.assertEqual(len(part["path"]), 60)
        self.assertEqual((part["path"][0], part["nodes"][0]["depth"]), (0, 60))

    def test_methods_are_what_the_calls_add_up_to(self):
        nodes = self.ask("trace", key=self.deep, limit=100000)["nodes"]
        answer = self.ask("methods", key=self.deep)
        self.assertEqual(answer["count"], 1)
        row = answer["methods"][0]
        self.assertEqual(row["calls"], len(nodes))
        self.assertEqual(row["self"], sum(node["self"] for node in nodes))
        # Every call is inside another one of the same method but the first.
        self.assertEqual((row["total"], row["longest"]), (nodes[0]["duration"],) * 2)
        self.assertEqual(self.ask("methods", key=self.failing)["methods"][0]["errors"],
                         sum(n["isError"] for n in self.ask("trace", key=self.failing)["nodes"]))

    def find(self, key, **parameters):
        return self.ask("find", "trace-find", key=key, **parameters)

    def test_calls_are_found_forwards_and_backwards(self):
        first = self.find(self.failing, errors=1)
        self.assertTrue(first["isFound"])
        self.assertEqual((first["node"], first["path"], first["place"]), (3, [0, 2], first["count"]))
        self.assertEqual(self.find(self.failing, method="handle$", at=1)["node"], 2)
        self.assertEqual(self.find(self.failing, method="handle$", at=1, reverse=1)["node"], 0)
        self.assertEqual(self.find(self.failing, method="handle$", at=3)["node"], 0)
        self.assertEqual(self.find(self.failing, method="handle$", at=0, reverse=1)["node"], 3)
        self.assertEqual(self.find(self.failing, longer=10 ** 15), {"isFound": False, "count": 0})
        self.assertEqual(self.find(self.failing, method="nowhere")["count"], 0)

    def test_wrong_questions_get_the_reason(self):
        for path in (f"trace?key={self.deep}&node=999999", f"trace?key={self.deep}&node=3&from=9",
                     f"trace?key={self.deep}&limit=0", f"find?key={self.deep}&method=(",
                     "methods", "find?key=1.1", "methods?key=0.77", "trace?key=&node=1"):
            status, _, body = self.service.ask(f"/api/v1/sources/0/{path}")
            self.assertIn(status, (400, 404), path)
            check(json.loads(body), SCHEMAS["error"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
