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
from service import serving

ROOT = pathlib.Path(__file__).resolve().parents[2]


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
                    service.get(f"sources/0/{question}", q="")
                left = service.get("sources/0/traces", q="")
        self.assertIsNone(whole["damage"])
        self.assertEqual((whole["count"], left["count"]), (2, 1))
        self.assertIn("000000", left["damage"])


def otlp(spans):
    """A request of OpenTelemetry: one resource for each service."""
    return {"resourceSpans": [
        {"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]},
         "scopeSpans": [{"scope": {"name": "tracer", "version": "1.0"}, "spans": [span for name, span in spans if name == service]}]}
        for service in sorted({name for name, _ in spans})]}


def spans_of(number):
    """Four spans of a request through three services, the last of which fails now and then."""
    def span(index, parent, name, start_ms, duration_ms, failed=False):
        begin = 1_700_000_000_000_000_000 + number * 10_000_000 + start_ms * 1_000_000
        return {"traceId": f"{number + 1:032x}", "spanId": f"{number * 4 + index + 1:016x}",
                "parentSpanId": f"{number * 4 + parent + 1:016x}" if parent is not None else "", "name": name,
                "startTimeUnixNano": str(begin), "endTimeUnixNano": str(begin + duration_ms * 1_000_000),
                # The span of the other service has a link to one of this trace.
                "links": [{"traceId": f"{number + 1:032x}", "spanId": f"{number * 4 + 2:016x}", "traceState": "a=1", "flags": 1,
                           "droppedAttributesCount": 2}] if index == 2 else [],
                "events": [{"timeUnixNano": str(begin + 3_000_000), "name": "retry", "droppedAttributesCount": 4,
                            "attributes": [{"key": "n", "value": {"intValue": "7"}}]}] if index == 2 else [],
                "droppedAttributesCount": 1, "droppedEventsCount": 2, "droppedLinksCount": 3, "traceState": "b=2",
                "status": {"code": 2 if failed else 1, "message": "said"}}
    return [("gateway", span(0, None, "GET /cart", 0, 40 + number)),
            ("gateway", span(1, 0, "authorize", 1, 5)),
            ("cart", span(2, 0, "load", 10, 20 + number)),
            ("database", span(3, 2, "select", 12, 10, number % 10 == 0))]


class Requests(unittest.TestCase):
    """Fifty requests of four spans, each service sending its own: fifty rows, through every door."""

    @staticmethod
    def flame_of(service):
        """All boxes as (depth, method, total in ms, self in ms), of all traces."""
        answer = {"isPartial": True}
        while answer["isPartial"]:
            answer = service.get("sources/0/flame", min=0)
        return answer, sorted((depth, answer["names"][name], round(total * 1e3), round(own * 1e3))
                              for depth, name, _, total, own, _ in answer["nodes"])

    def test_callees_of_a_flame_graph_fit_into_their_callers(self):
        def span(index, parent, name, start_ms, end_ms):
            begin = 1_700_000_000_000_000_000
            return (name, {"traceId": f"{1:032x}", "spanId": f"{index:016x}",
                           "parentSpanId": f"{parent:016x}" if parent else "", "name": name,
                           "startTimeUnixNano": str(begin + start_ms * 1_000_000),
                           "endTimeUnixNano": str(begin + end_ms * 1_000_000)})
        # Two callees at the same time, one that ends after its caller, and one that begins after it.
        spans = [span(1, 0, "root", 0, 100), span(2, 1, "first", 10, 60), span(3, 1, "second", 40, 80),
                 span(4, 3, "inner", 50, 70), span(5, 1, "long", 90, 150), span(6, 2, "late", 200, 230)]
        with tempfile.TemporaryDirectory() as folder:
            store, path = os.path.join(folder, "store"), os.path.join(folder, "spans.json")
            pathlib.Path(path).write_text(json.dumps(otlp(spans)), encoding="utf-8")
            subprocess.check_call([OPTIONS.cairn, "store", "add", "-q", "--create", store, path])
            with serving(OPTIONS.cairn, store) as service:
                flame, boxes = self.flame_of(service)
        self.assertEqual(boxes, [(0, "late", 30, 30), (0, "root", 100, 20), (1, "first", 50, 50),
                                 (1, "long", 10, 10), (1, "second", 20, 10), (2, "inner", 10, 10)])
        self.assertAlmostEqual(flame["total"], 0.130)
        self.assertEqual([flame["names"][node[1]] for node in flame["nodes"]],
                         ["root", "first", "second", "inner", "long", "late"])

    def test_methods_of_one_name_in_two_services_are_two_boxes(self):
        def span(service, index, parent, start_ms, end_ms):
            begin = 1_700_000_000_000_000_000
            return (service, {"traceId": f"{1:032x}", "spanId": f"{index:016x}", "name": "handler",
                              "parentSpanId": f"{parent:016x}" if parent else "",
                              "startTimeUnixNano": str(begin + start_ms * 1_000_000),
                              "endTimeUnixNano": str(begin + end_ms * 1_000_000)})
        spans = [span("shop", 1, 0, 0, 100), span("stock", 2, 1, 10, 30), span("bank", 3, 1, 40, 80),
                 span("stock", 4, 1, 85, 95)]
        with tempfile.TemporaryDirectory() as folder:
            store, path = os.path.join(folder, "store"), os.path.join(folder, "spans.json")
            pathlib.Path(path).write_text(json.dumps(otlp(spans)), encoding="utf-8")
            subprocess.check_call([OPTIONS.cairn, "store", "add", "-q", "--create", store, path])
            with serving(OPTIONS.cairn, store) as service:
                flame, boxes = self.flame_of(service)
        self.assertEqual(boxes, [(0, "handler", 100, 30), (1, "handler", 30, 30), (1, "handler", 40, 40)])
        self.assertEqual([(flame["modules"][node[2]], round(node[3] * 1e3)) for node in flame["nodes"]],
                         [("shop", 100), ("bank", 40), ("stock", 30)])

    def test_the_command_and_the_api_agree(self):
        with tempfile.TemporaryDirectory() as folder:
            store = os.path.join(folder, "store")
            for batch, services in enumerate((("gateway",), ("cart", "database"))):
                path = os.path.join(folder, f"{batch}.otlp.json")
                spans = [one for n in range(50) for one in spans_of(n) if one[0] in services]
                pathlib.Path(path).write_text(json.dumps(otlp(spans)), encoding="utf-8")
                subprocess.check_call([OPTIONS.cairn, "store", "add", "-q", "--create", store, path])
                subprocess.check_call([OPTIONS.cairn, "store", "seal", "-q", store])

            def printed(*words):
                return json.loads(subprocess.check_output(
                    [OPTIONS.cairn, "store", *words, "--format", "json"], text=True))

            listed = printed("search", store, "-n", "1000")
            edges = printed("services", store)
            operations = printed("search", store, "--group-by", "operation")
            contexts, facets = (json.loads(subprocess.check_output(
                [OPTIONS.cairn, *words, "--format", "json"], text=True,
                env={**os.environ, "XDG_CACHE_HOME": folder})) for words in (
                    ("tree", "-q", store),
                    ("diff", "--facets", "--query-a", "service = database and not errors",
                     "--query-b", "errors", store)))
            steps = printed("search", store, "--steps", "5")
            methods = printed("show", store, listed[0]["trace_id"], "--stats")
            with serving(OPTIONS.cairn, store) as service:
                traces = service.get("sources/0/traces", limit=1000)
                failed = service.get("sources/0/traces", q="errors")["count"]
                pages = [one["trace"] for offset in range(0, 50, 20) for one in
                         service.get("sources/0/traces", offset=offset, limit=20)["traces"]]
                served = {name: service.get(f"sources/0/{name}", **parameters) for name, parameters in (
                    ("services", {"self": 1}), ("groups", {"by": "operation", "steps": 4}), ("histogram", {"steps": 5}),
                    ("heat", {"steps": 5}), ("names", {}),
                    *((name, {"key": traces["traces"][0]["key"]})
                      for name in ("critical-path", "methods", "chart", "links")))}
                linked = service.get("sources/0/trace", key=service.get(
                    "sources/0/traces", q="service = cart", spans=1, limit=1)["spans"][0]["key"])
                flame, boxes = self.flame_of(service)
        # A database of the store has the same calls, each service inside the one that called it.
        self.assertEqual({(one["depth"], one["name"]) for one in contexts if one["depth"] > 0},
                         {(1, "GET /cart"), (2, "load"), (3, "select"), (2, "authorize")})
        self.assertEqual(round(sum(one["time_sec_inclusive"] for one in contexts if one["depth"] == 0) * 1e3),
                         boxes[0][2])
        # Traces are compared, not spans: of 45 and 5, those of the second side failed.
        self.assertIn((45, 5), {(one["of_a"], one["of_b"]) for one in facets})
        self.assertEqual((flame["traceCount"], flame["hitCount"]), (50, 50))
        self.assertEqual([box[:2] for box in boxes],
                         [(0, "GET /cart"), (1, "authorize"), (1, "load"), (2, "select")])
        self.assertEqual(boxes[0][2], round(sum(one["duration"] for one in traces["traces"]) / 1e6))
        self.assertEqual((traces["count"], len(listed), failed), (50, 50, 5))
        self.assertEqual(pages, [one["trace_id"] for one in listed])
        self.assertEqual(
            [(one["trace_id"], one["duration_ns"], one["spans"], one["errors"], one["services"]) for one in listed],
            [(one["trace"], one["duration"], one["spans"], one["errors"], ", ".join(one["services"]))
             for one in traces["traces"]])
        self.assertEqual((listed[0]["spans"], listed[0]["services"]), (4, "gateway, cart, database"))
        self.assertEqual(
            [(one["caller"], one["callee"], one["calls"], one["error_count"], one["p99_ns"]) for one in edges],
            [(one["caller"], one["callee"], one["count"], one["errors"], one["p99"])
             for one in served["services"]["edges"]])
        self.assertEqual({(one["caller"], one["callee"]): (one["calls"], one["error_count"]) for one in edges},
                         {(None, "gateway"): (50, 0), ("gateway", "cart"): (50, 0), ("cart", "database"): (50, 5)})
        # Each service has one caller here, so that its edge has all its calls.
        self.assertEqual({one["callee"]: (one["count"], one["errors"], one["p50"], one["p99"], one["total"])
                          for one in served["services"]["edges"]},
                         {one["service"]: (one["count"], one["errors"], one["p50"], one["p99"], one["total"])
                          for one in served["services"]["services"]})
        self.assertEqual(
            [(one["value"], one["count"], one["error_count"], one["p50_ns"], one["p99_ns"]) for one in operations],
            [(one["value"], one["count"], one["errors"], one["p50"], one["p99"])
             for one in served["groups"]["groups"]])
        self.assertEqual([[one["count"], one["p50_ns"], one["p99_ns"]] for one in steps],
                         [[one[0], one[2], one[4]] for one in served["histogram"]["steps"]])
        # The methods of all services, each call once: what one service took is no self time of its caller.
        self.assertEqual([(one["method"], one["calls"], one["self_ns"], one["total_ns"]) for one in methods],
                         [(one["method"], one["calls"], one["self"], one["total"])
                          for one in served["methods"]["methods"]])
        self.assertEqual({one["method"]: (one["self"] / 1e6, one["total"] / 1e6) for one in served["methods"]["methods"]},
                         {"load": (59, 69), "GET /cart": (15, 89), "select": (10, 10), "authorize": (5, 5)})
        chart = served["chart"]
        self.assertEqual([(one["service"], one["parent"]) for one in chart["spans"]], [("gateway", None), ("cart", 0)])
        self.assertEqual([(span, depth, start / 1e6, duration / 1e6, chart["methods"][method], chart["services"][service])
                          for span, _, depth, start, duration, _, method, service, _ in chart["calls"]],
                         [(0, 0, 0, 89, "GET /cart", "gateway"), (0, 1, 1, 5, "authorize", "gateway"), (1, 1, 10, 69, "load", "cart"),
                          (1, 2, 12, 10, "select", "database")])
        self.assertEqual(sum(call[5] for call in chart["calls"]), chart["duration"])
        self.assertEqual(chart["listedDuration"], traces["traces"][0]["duration"])
        self.assertEqual(dict(zip(chart["services"], chart["selfTimes"])),
                         {"gateway": 20_000_000, "cart": 59_000_000, "database": 10_000_000})
        self.assertEqual((sum(chart["pathTimes"]), sum(step[2] for step in chart["path"])), (chart["duration"],) * 2)
        self.assertEqual([call[8] for call in chart["calls"]], [2, 2, 2, 2])
        self.assertEqual((chart["errors"], chart["events"], chart["eventCount"]), (
            0, [{"call": 2, "time": 13_000_000, "name": "retry", "text": "(n = 7, 4 dropped)", "isError": False}], 1))
        self.assertEqual(chart["spans"][0]["key"], traces["traces"][0]["key"])
        # Operations over time: each span in one step; their totals add up.
        groups = served["groups"]
        self.assertEqual([sum(one["counts"]) for one in groups["groups"]], [50] * 4)
        self.assertEqual(sum(sum(one["errorCounts"]) for one in groups["groups"]), 5)
        self.assertEqual(groups["total"], sum(one["total"] for one in groups["groups"]))
        # The heat map has the columns of the histogram, and durations inside the bounds of their rows.
        heat = served["heat"]
        counts, errors = [0] * 5, 0
        for step, _, count, failures in heat["cells"]:
            counts[step] += count
            errors += failures
        self.assertEqual((heat["first"], heat["step"]), (served["histogram"]["first"], served["histogram"]["step"]))
        self.assertEqual((counts, errors), ([step[0] for step in served["histogram"]["steps"]], 5))
        inside = {row: 0 for _, row, _, _ in heat["cells"]}
        for trace in traces["traces"]:
            inside[heat["firstRow"] + sum(bound <= trace["duration"] for bound in heat["bounds"]) - 1] += 1
        self.assertEqual(inside, {row: sum(cell[2] for cell in heat["cells"] if cell[1] == row) for row in inside})
        # Self times add up to the durations of the traces: nothing runs at the same time here.
        own = {one["service"]: one["self"] for one in served["services"]["services"]}
        self.assertEqual(sum(own.values()), sum(one["duration"] for one in traces["traces"]))
        self.assertEqual(own["database"], 50 * 10_000_000)
        self.assertEqual(sorted(served["names"]["services"]), ["cart", "database", "gateway"])
        first = linked["nodes"][0]
        self.assertEqual(first["links"], [{"trace": f"{50:032x}", "span": f"{198:016x}", "state": "a=1", "flags": 1, "dropped": 2, "attributes": []}])
        began = 1_700_000_000_000_000_000 + 49 * 10_000_000 + 10 * 1_000_000
        self.assertEqual(first["events"], [{"time": str(began + 3_000_000), "name": "retry", "dropped": 4, "attributes": [["n", "7"]]}])
        self.assertEqual((first["status"], first["message"], first["state"], first["dropped"], first["droppedEvents"], first["droppedLinks"]),
                         ("ok", "said", "b=2", 1, 2, 3))
        self.assertEqual((first["resource"], first["scope"]),
                         ([["service.name", "cart"]], {"name": "tracer", "version": "1.0", "attributes": []}))
        self.assertEqual([(one["span"], one["service"], [link["span"] for link in one["links"]])
                          for one in served["links"]["spans"]], [(f"{199:016x}", "cart", [f"{198:016x}"])])
        path = served["critical-path"]
        self.assertEqual(sum(one["duration"] for one in path["steps"]), path["duration"])
        self.assertEqual({one["service"] for one in path["steps"]}, {"gateway", "cart", "database"})


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

    def ask(self, question, **parameters):
        return self.service.get(f"sources/0/{question}", **parameters)

    def test_a_small_trace_comes_whole(self):
        trace = self.ask("trace", key=self.failing)
        self.assertEqual([(n["node"], n["depth"], n["below"]) for n in trace["nodes"]],
                         [(0, 0, 3), (1, 1, 0), (2, 1, 1), (3, 2, 0)])
        self.assertNotIn("next", trace)
        # One tick is 65,536 ns on this wire or 1 ns: either way, parts add up.
        root, call, *_ = trace["nodes"]
        inner = trace["nodes"][2]
        self.assertEqual(root["self"], root["duration"] - call["duration"] - inner["duration"])

    def test_exceptions_are_events_of_the_chart(self):
        chart = self.ask("chart", key=self.failing)
        self.assertEqual([(chart["calls"][one["call"]][1], one["isError"]) for one in chart["events"]], [(3, True)])
        thrown = self.ask("trace", key=self.failing)["nodes"][3]["exceptions"][0]
        self.assertEqual((chart["events"][0]["name"], chart["events"][0]["text"]), (thrown["class"], thrown["message"]))
        self.assertEqual((chart["errors"], chart["calls"][chart["events"][0]["call"]][8] & 1), (1, 1))

    def test_a_name_that_no_span_has_is_named(self):
        for spans in ({}, {"spans": 1}):
            self.assertEqual(self.ask("traces", q="errors urj = 5", **spans)["unknown"], [
                {"name": "urj", "at": 7, "suggestion": "uri", "text": "no attribute 'urj'; did you mean uri"}])
            self.assertEqual(self.ask("traces", q="uri exists duration > 1s", **spans)["unknown"], [])
        self.assertEqual(self.ask("traces", q="zzzzzz = 1")["unknown"][0]["suggestion"], None)

    def test_exceptions_have_stacks_and_causes(self):
        thrown = self.ask("trace", key=self.failing)["nodes"][3]["exceptions"]
        self.assertEqual([e["class"] for e in thrown], ["com.example.Failure", "java.io.IOException"])
        self.assertEqual([len(e["stack"]) for e in thrown], [3, 2])
        self.assertIn("Dao.java:40", thrown[0]["stack"][0])

    def test_the_parts_of_a_large_trace_are_the_whole(self):
        whole = {}
        waiting = [{"node": 0}]
        while waiting:
            asked = waiting.pop()
            part = self.ask("trace", key=self.deep, limit=200, **asked)
            self.assertLessEqual(len(part["nodes"]), 201)
            nodes = part["nodes"]
            for at, node in enumerate(nodes):
                follows = nodes[at + 1]["depth"] if at + 1 < len(nodes) else 0
                isclosed = node["below"] > 0 and follows <= node["depth"] and at > 0
                if node["node"] not in whole and isclosed:
                    waiting.append({"node": node["node"]})
                whole[node["node"]] = node
            if "next" in part:
                waiting.append({"node": asked["node"], "from": part["next"]})
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
        return self.ask("find", key=key, **parameters)

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


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
