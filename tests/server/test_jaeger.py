#!/usr/bin/env python3
"""Jaeger's HTTP API: every answer equals a plain reading of what was sent, in the shape that Jaeger's page reads.

Usage: test_jaeger.py --cairn PROGRAM [unittest options]
"""
import json
import pathlib
import random
import tempfile
import unittest

import compat
from compat import RICH, RICH_BEGIN, matches, newest, shop
from service import Service

TAG = ({"key": str, "type": "string", "value": str}, {"key": str, "type": "bool", "value": bool},
       {"key": str, "type": "int64", "value": (int, str)}, {"key": str, "type": "float64", "value": float},
       {"key": str, "type": "binary", "value": str})
SPAN = {"traceID": str, "spanID": str, "flags?": int, "operationName": str,
        "references": [{"refType": ("CHILD_OF", "FOLLOWS_FROM"), "traceID": str, "spanID": str}],
        "startTime": int, "duration": int, "tags": [TAG], "logs": [{"timestamp": int, "fields": [TAG]}], "processID": str, "warnings": None}
TRACE = {"traceID": str, "spans": [SPAN], "processes": {"*": {"serviceName": str, "tags": [TAG]}}, "warnings": None}


def envelope(data):
    return {"data": [data], "total": int, "limit": int, "offset": int, "errors": None}


FAILURE = {"data": None, "total": int, "limit": int, "offset": int, "errors": [{"code": int, "msg": str, "traceID?": str}]}


class Jaeger(compat.Compat):
    PREFIX = "/jaeger"

    def data(self, path, form, **parameters):
        answer = self.get(path, **parameters)
        matches(answer, envelope(form))
        self.assertEqual(answer["total"], len(answer["data"]))
        return answer["data"]

    def search(self, **parameters):
        return [trace["traceID"] for trace in self.data("/api/traces", TRACE, **parameters)]

    def test_services_and_operations(self):
        self.assertEqual(self.data("/api/services", str), sorted({*shop.SERVICES, "billing"}))
        for service in shop.SERVICES:
            names = sorted({s.name for s in self.spans if s.service == service})
            self.assertEqual(self.data(f"/api/services/{service}/operations", str), names)
            self.assertEqual(self.data("/api/operations", {"name": str, "spanKind": str}, service=service),
                             [{"name": name, "spanKind": "server"} for name in names])
        self.assertEqual(self.data("/api/operations", {"name": str, "spanKind": str}, service="billing", spanKind="client"),
                         [{"name": "charge", "spanKind": "client"}])
        self.assertEqual(self.data("/api/services/nosuch/operations", str), [])

    def check_trace(self, trace, sent):
        self.assertEqual(trace["traceID"], next(iter(sent.values())).trace)
        got = {s["spanID"]: s for s in trace["spans"]}
        self.assertEqual(got.keys(), sent.keys())
        self.assertEqual(len(trace["spans"]), len(sent))
        for s in sent.values():
            one = got[s.id]
            self.assertEqual((one["operationName"], one["startTime"], one["duration"]), (s.name, s.begin // 1000, s.ns // 1000))
            self.assertEqual(trace["processes"][one["processID"]]["serviceName"], s.service)
            self.assertEqual(one["references"], [{"refType": "CHILD_OF", "traceID": s.trace, "spanID": s.parent.id}] if s.parent else [])
            tags = {t["key"]: t["value"] for t in one["tags"]}
            wanted = {k.replace("_", "."): v for k, v in s.attributes.items()}
            wanted["span.kind"] = "server"
            if s.error:
                wanted.update({"error": True, "otel.status_code": "ERROR"})
            self.assertEqual(tags, wanted)
            self.assertEqual(len(one["tags"]), len(tags))

    def test_a_trace_is_what_was_sent(self):
        for trace_id, sent in list(self.traces.items())[:12]:
            found = self.data(f"/api/traces/{trace_id}", TRACE)
            self.check_trace(found[0], sent)
            self.assertEqual(len(found[0]["processes"]), len({s.service for s in sent.values()}))

    def test_all_that_a_span_has(self):
        # 64 bits of the id are enough, and are all that is printed of them.
        trace = self.data("/api/traces/5af7183fb1d4cf5f", TRACE)[0]
        root, charge = trace["spans"]
        self.assertEqual((trace["traceID"], root["spanID"], charge["spanID"]), (RICH[16:], "00000000000000a1", "00000000000000a2"))
        tags = {t["key"]: (t["type"], t["value"]) for t in root["tags"]}
        self.assertEqual(tags, {
            "http.method": ("string", "GET"), "http.status_code": ("int64", 503), "ratio": ("float64", 0.25), "is.cached": ("bool", True),
            "big": ("int64", str(2 ** 60)), "tags": ("string", tags["tags"][1]), "limits": ("string", tags["limits"][1]),
            "raw": ("binary", "AQI="), 'quoted "name"': ("string", "x y"), "colour": ("string", "grün"), "span.kind": ("string", "server"),
            "otel.status_code": ("string", "ERROR"), "error": ("bool", True), "otel.status_description": ("string", "no disk"),
            "w3c.tracestate": ("string", "k=v"), "otel.scope.name": ("string", "my.library"), "otel.scope.version": ("string", "1.2")})
        self.assertEqual((json.loads(tags["tags"][1]), json.loads(tags["limits"][1])), (["a", "b"], {"cpu": 2}))
        self.assertEqual(root["logs"], [{"timestamp": RICH_BEGIN // 1000 + 7, "fields": [
            {"key": "event", "type": "string", "value": "exception"}, {"key": "exception.type", "type": "string", "value": "IOError"},
            {"key": "retries", "type": "int64", "value": 2}]},
            {"timestamp": RICH_BEGIN // 1000 + 9, "fields": [{"key": "event", "type": "string", "value": "cache miss"}]}])
        self.assertEqual(root["references"], [{"refType": "FOLLOWS_FROM", "traceID": "11" * 16, "spanID": "22" * 8}])
        self.assertEqual((root["duration"], root["flags"]), (1_500_000, 1))
        self.assertEqual(trace["processes"], {"p1": {"serviceName": "billing", "tags": [
            {"key": "host.name", "type": "string", "value": "host-1"}, {"key": "replicas", "type": "int64", "value": 3}]}})
        self.assertIn({"key": "otel.status_code", "type": "string", "value": "OK"}, charge["tags"])

    def test_searches(self):
        def us(ns):
            return ns // 1000
        middle = shop.BEGIN + 140 * shop.MS
        cases = (
            (dict(service="frontend"), lambda s: s.service == "frontend"),
            (dict(service="payment", limit=3), lambda s: s.service == "payment"),
            (dict(service="frontend", operation="GET /browse"), lambda s: s.name == "GET /browse"),
            (dict(service="inventory", operation="/browse"), lambda s: False),
            (dict(service="inventory", tags='{"db.system": "postgresql", "item": "7"}'), lambda s: s.attributes.get("item") == 7),
            (dict(service="inventory", tags='{"item": 7}'), lambda s: s.attributes.get("item") == 7),
            (dict(service="inventory", tag=["item:7", "db.system:postgresql"]), lambda s: s.attributes.get("item") == 7),
            (dict(service="payment", tags='{"error": "true"}'), lambda s: s.service == "payment" and s.error),
            (dict(service="payment", tags='{"error": false}'), lambda s: s.service == "payment" and not s.error),
            (dict(service="payment", tags='{"span.kind": "server"}'), lambda s: s.service == "payment"),
            (dict(service="payment", tags='{"span.kind": "client"}'), lambda s: False),
            (dict(service="frontend", minDuration="40ms"), lambda s: s.service == "frontend" and s.ns >= 40 * shop.MS),
            (dict(service="frontend", minDuration="0.02s", maxDuration="40000us"),
             lambda s: s.service == "frontend" and 20 * shop.MS <= s.ns <= 40 * shop.MS),
            (dict(service="frontend", start=us(middle)), lambda s: s.service == "frontend" and s.begin >= middle),
            (dict(service="frontend", start=us(shop.BEGIN), end=us(middle), lookback="custom"),
             lambda s: s.service == "frontend" and s.begin < middle + 1000),
            (dict(service="frontend", lookback="1h"), lambda s: False),  # the spans are of 2023
            (dict(service="nosuch"), lambda s: False),
        )
        for parameters, test in cases:
            with self.subTest(parameters):
                limit = parameters.get("limit", 100)
                self.assertEqual(self.search(**{"limit": 100, **parameters}), newest(self.traces, test, limit))
        self.assertEqual(self.search(service="billing", tags='{"host.name": "host-1"}'), [RICH[16:]])
        self.assertEqual(self.search(service="billing", tags='{"otel.status_code": "OK"}'), [RICH[16:]])
        self.assertEqual(self.search(service="billing", tags=json.dumps({'quoted "name"': "x y", "colour": "grün"})), [RICH[16:]])
        self.assertEqual(self.search(service="billing", tags='{"otel.status_code": "ERROR"}', limit=0), [])

    def test_several_ids(self):
        known = list(self.traces)[:2]
        answer = self.get("/api/traces", traceID=[known[0], "dead", known[1]])
        self.assertEqual([t["traceID"] for t in answer["data"]], known)
        self.assertEqual(answer["errors"], [{"code": 404, "msg": "trace not found", "traceID": "dead"}])

    def test_dependencies(self):
        end = max(s.end for s in self.spans) // 1_000_000 + 1000
        got = self.data("/api/dependencies", {"parent": str, "child": str, "callCount": int}, endTs=end, lookback=3_600_000)
        wanted = {e: v["count"] for e, v in shop.edges(self.traces).items() if e[0]}
        self.assertEqual({(e["parent"], e["child"]): e["callCount"] for e in got}, wanted)
        self.assertEqual(self.data("/api/dependencies", dict, endTs=1, lookback=1), [])

    def test_version_3(self):
        self.assertEqual(self.get("/api/v3/services")["services"], sorted({*shop.SERVICES, "billing"}))
        self.assertEqual(self.get("/api/v3/operations", service="billing", span_kind="server")["operations"],
                         [{"name": "GET /invoice", "spanKind": "server"}])
        for trace_id, sent in list(self.traces.items())[:3]:
            answer = self.get(f"/api/v3/traces/{trace_id}")["result"]["resourceSpans"]
            got = {s["spanId"]: s for r in answer for scope in r["scopeSpans"] for s in scope["spans"]}
            self.assertEqual({i: (s["name"], int(s["startTimeUnixNano"]), int(s["endTimeUnixNano"])) for i, s in got.items()},
                             {i: (s.name, s.begin, s.end) for i, s in sent.items()})
        for names in (("query.service_name", "query.duration_min", "query.num_traces", "query.start_time_min"),
                      ("query.serviceName", "query.durationMin", "query.searchDepth", "query.startTimeMin")):
            found = self.get("/api/v3/traces", **dict(zip(names, ("frontend", "40ms", 3, "2023-11-14T22:13:20Z"))))
            ids = [s["traceId"] for r in found["result"]["resourceSpans"] for scope in r["scopeSpans"] for s in scope["spans"]]
            self.assertEqual(list(dict.fromkeys(ids)),
                             newest(self.traces, lambda s: s.service == "frontend" and s.ns >= 40 * shop.MS and s.begin >= shop.BEGIN, 3))
        status, _, body = self.ask("/api/v3/traces/dead")
        matches(json.loads(body), {"error": {"httpCode": int, "message": str}})
        self.assertEqual(status, 404)

    def failure(self, path, status, **parameters):
        got, headers, body = self.ask(path, **parameters)
        self.assertEqual((got, headers["Content-Type"]), (status, "application/json"), (path, parameters, body))
        answer = json.loads(body)
        matches(answer, FAILURE)
        self.assertEqual(answer["errors"][0]["code"], status)
        return answer["errors"][0]["msg"]

    def test_failures(self):
        self.assertEqual(self.failure("/api/traces/dead", 404), "trace not found")
        self.assertIn("'zz' is not a trace id", self.failure("/api/traces/zz", 400))
        self.failure("/api/traces/" + "1" * 33, 400)
        self.failure("/api/traces", 400)
        self.failure("/api/operations", 400)
        self.failure("/api/nosuch", 404)
        for parameters in (dict(limit="x"), dict(limit=-1), dict(minDuration="1 fortnight"), dict(start="yesterday"), dict(tags="{"),
                           dict(tags="[]"), dict(tags='{"a": {}}'), dict(tags='{"a": "b"} x'), dict(tag="novalue"),
                           dict(lookback="custom"), dict(maxDuration="ms")):
            with self.subTest(parameters):
                self.failure("/api/traces", 400, service="frontend", **parameters)

    def test_hostile_parameters(self):
        """Any value gives an answer in the right shape."""
        rng = random.Random(5)
        values = ["", "\0", "\"", "'\\", "a" * 3000, "-1", str(2 ** 64), str(2 ** 64 - 1), "1e400", "NaN", "µ", "\x80", "{}", "[]", '{"":""}',
                  '{"a":"\\u0000"}', "(((", "NOT", "errors OR", '" OR service = "payment', "9999999999999999h", "%", "&", "0x1", "ns",
                  '{"a":' * 60, "1h" * 9, "/../..", "1970-01-01", "9999-12-31T23:59:59Z"]
        names = ["service", "operation", "tags", "tag", "start", "end", "minDuration", "maxDuration", "limit", "lookback", "traceID", "endTs",
                 "spanKind", "query.service_name", "query.attributes", "query.start_time_min", "query.duration_max", "query.num_traces"]
        for _ in range(250):
            path = rng.choice(("/api/traces", "/api/operations", "/api/dependencies", "/api/v3/traces", "/api/services/a/operations"))
            parameters = {name: rng.choice(values) for name in rng.sample(names, 3)}
            if rng.random() < 0.7:
                parameters.update({"service": "frontend", "query.service_name": "frontend"})
            status, _, body = self.ask(path, **parameters)
            self.assertIn(status, (200, 400, 404), (path, parameters, body))
            json.loads(body)
        # A value is a value, whatever is in it.
        self.assertEqual(self.search(service='frontend" OR service = "payment'), [])

    def test_doors(self):
        """The same without the prefix, and with the number of a source; a token is needed as everywhere."""
        trace_id = next(iter(self.traces))
        for path in ("/api/services", "/api/services/payment/operations", "/api/operations?service=payment", f"/api/traces/{trace_id}",
                     "/api/dependencies", "/api/v3/services", "/api/traces?service=payment"):
            wanted = self.ask(path)
            for prefix in ("", "/jaeger/0"):
                got = self.ask(path, prefix=prefix)
                self.assertEqual((got[0], got[2]), (200, wanted[2]), (prefix, path))
            for headers, status in (({"Authorization": "Bearer wrong"}, 401), ({"Host": "evil.example"}, 421)):
                self.assertEqual(self.ask(path, headers=headers)[0], status)
        self.failure("/3/api/services", 404)
        got = self.ask("/api/services", headers={"Origin": "http://evil.example"})
        self.assertNotIn("Access-Control-Allow-Origin", got[1])
        self.assertEqual(self.service.ask_once("/jaeger/api/services", method="POST", body="x")[0], 405)


    def test_links(self):
        """Links of other pages open the trace in the viewer."""
        for trace_id in list(self.traces)[:3]:
            wanted = self.service.get("sources/0/traces", q=f"id = {trace_id}")["traces"][0]["key"]
            for prefix in ("/trace", "/jaeger/trace", "/zipkin/traces"):
                status, headers, _ = self.ask(f"{prefix}/{trace_id}", prefix="")
                self.assertEqual((status, headers["Location"]), (302, f"/#s=0&key={wanted}"))
        self.assertEqual(self.ask(f"/trace/{RICH[16:]}", prefix="")[0], 302)
        self.assertEqual(self.ask("/trace/dead", prefix="")[0], 404)
        self.assertEqual(self.ask("/trace/x", prefix="")[0], 404)
        # From another site, browsers come without the cookie: once more, and no further.
        status, headers, body = self.service.ask_once("/trace/dead", headers={})
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn(b'url=/trace/dead?again=1"', body)
        self.assertEqual(self.service.ask_once("/trace/dead?again=1", headers={})[0], 401)
        self.assertEqual(self.service.ask_once("/trace/%22%3E", headers={})[0], 401)


class Empty(unittest.TestCase):
    def test_no_store(self):
        """A server without a store says so."""
        with tempfile.TemporaryDirectory() as folder:
            folded = pathlib.Path(folder, "a.folded")
            folded.write_text("main;work 5\n", encoding="utf-8")
            service = Service(compat.OPTIONS.cairn, str(folded), checks=False)
            try:
                status, _, body = service.ask_once("/jaeger/api/services")
            finally:
                self.assertEqual(service.end()[0], 0)
        self.assertEqual((status, json.loads(body)["errors"][0]["msg"]), (404, "no store of traces is served here"))


if __name__ == "__main__":
    compat.main()
