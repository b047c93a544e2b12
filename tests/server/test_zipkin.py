#!/usr/bin/env python3
"""Zipkin's query API: every answer equals a plain reading of what was sent, in the shape that Zipkin's page reads.

Usage: test_zipkin.py --cairn PROGRAM [unittest options]
"""
import json
import random

import compat
from compat import RICH, RICH_BEGIN, matches, newest, shop

ENDPOINT = {"serviceName?": str, "ipv4?": str, "ipv6?": str, "port?": int}
SPAN = {"traceId": str, "id": str, "parentId?": str, "name": str, "kind?": ("CLIENT", "SERVER", "PRODUCER", "CONSUMER"), "timestamp": int,
        "duration?": int, "localEndpoint?": ENDPOINT, "remoteEndpoint?": ENDPOINT, "annotations?": [{"timestamp": int, "value": str}],
        "tags?": {"*": str}, "shared?": bool}
END = shop.BEGIN // 1_000_000 + 60_000


class Zipkin(compat.Compat):
    PREFIX = "/zipkin"

    def search(self, **parameters):
        found = self.get("/api/v2/traces", **{"endTs": END, "lookback": 300_000, "limit": 100, **parameters})
        matches(found, [[SPAN]])
        return [trace[0]["traceId"] for trace in found]

    def test_names(self):
        self.assertEqual(self.get("/api/v2/services"), sorted({*shop.SERVICES, "billing"}))
        for service in shop.SERVICES:
            self.assertEqual(self.get("/api/v2/spans", serviceName=service), sorted({s.name for s in self.spans if s.service == service}))
        self.assertEqual(self.get("/api/v2/remoteServices", serviceName="billing"), ["bank"])
        self.assertEqual(self.get("/api/v2/remoteServices", serviceName="payment"), [])
        keys = self.get("/api/v2/autocompleteKeys")
        self.assertEqual(keys, sorted({k.replace("_", ".") for s in self.spans for k in s.attributes}
                                      | {k for k in compat.RICH_ATTRIBUTES if k != "limits"} | {"limits.cpu", "peer.service"}))
        self.assertEqual(sorted(self.get("/api/v2/autocompleteValues", key="card.type")),
                         sorted({s.attributes["card_type"] for s in self.spans if "card_type" in s.attributes}))
        self.assertEqual(self.get("/api/v2/autocompleteValues", key="nosuch"), [])
        self.assertEqual(self.get("/api/v2/autocompleteValues", key='quoted "name"'), ["x y"])

    def test_a_trace_is_what_was_sent(self):
        for trace_id, sent in list(self.traces.items())[:12]:
            spans = self.get(f"/api/v2/trace/{trace_id}")
            matches(spans, [SPAN])
            self.assertEqual({s["id"]: (s["traceId"], s["name"], s["timestamp"], s["duration"], s["localEndpoint"]["serviceName"],
                                        s.get("parentId"), s["kind"]) for s in spans},
                             {s.id: (trace_id, s.name, s.begin // 1000, s.ns // 1000, s.service, s.parent and s.parent.id, "SERVER")
                              for s in sent.values()})
            for s in spans:
                wanted = {k.replace("_", "."): str(v) for k, v in sent[s["id"]].attributes.items()}
                tags = dict(s.get("tags", {}))
                self.assertEqual("error" in tags, sent[s["id"]].error)
                self.assertLessEqual(wanted.items(), tags.items())

    def test_all_that_a_span_has(self):
        root, charge = self.get(f"/api/v2/trace/{RICH[16:]}")
        self.assertEqual((root["traceId"], root["timestamp"], root["duration"]), (RICH, RICH_BEGIN // 1000, 1_500_000))
        self.assertEqual((root["localEndpoint"]["serviceName"], charge["parentId"], charge["kind"]), ("billing", root["id"], "CLIENT"))
        self.assertEqual({k: root["tags"][k] for k in ("http.method", "http.status_code", "is.cached", "ratio", "error", "host.name")},
                         {"http.method": "GET", "http.status_code": "503", "is.cached": "true", "ratio": "0.25", "error": root["tags"]["error"],
                          "host.name": "host-1"})
        self.assertEqual(root["annotations"], [{"timestamp": RICH_BEGIN // 1000 + 9, "value": "cache miss"}])

    def test_several_ids(self):
        known = list(self.traces)[:3]
        answer = self.get("/api/v2/traceMany", traceIds=",".join((*known, "dead")))
        self.assertEqual([t[0]["traceId"] for t in answer], known)

    def test_searches(self):
        cases = (
            ({}, lambda s: True),
            (dict(serviceName="payment", limit=3), lambda s: s.service == "payment"),
            (dict(serviceName="inventory", spanName="db query"), lambda s: s.name == "db query"),
            (dict(serviceName="inventory", spanName="all"), lambda s: s.service == "inventory"),
            (dict(spanName="query"), lambda s: False),
            (dict(annotationQuery="db.system=postgresql and item=7"), lambda s: s.attributes.get("item") == 7),
            (dict(annotationQuery="error"), lambda s: s.error),
            (dict(annotationQuery="cart.items AND nosuch"), lambda s: False),
            (dict(annotationQuery="card.type"), lambda s: "card_type" in s.attributes),
            (dict(serviceName="frontend", annotationQuery="card.type"), lambda s: False),
            (dict(minDuration=40_000), lambda s: s.ns >= 40 * shop.MS),
            (dict(serviceName="frontend", minDuration=20_000, maxDuration=40_000),
             lambda s: s.service == "frontend" and 20 * shop.MS <= s.ns <= 40 * shop.MS),
            (dict(endTs=shop.BEGIN // 1_000_000 + 100, lookback=50),
             lambda s: shop.BEGIN + 50 * shop.MS <= s.begin < shop.BEGIN + 101 * shop.MS),
            (dict(lookback=1), lambda s: False),
        )
        for parameters, test in cases:
            with self.subTest(parameters):
                self.assertEqual(self.search(**parameters), newest(self.traces, test, parameters.get("limit")))
        early = RICH_BEGIN // 1_000_000 + 1000
        self.assertEqual(self.search(endTs=early, annotationQuery="exception"), [RICH])
        self.assertEqual(self.search(endTs=early, annotationQuery="cache miss and http.method=GET"), [RICH])
        self.assertEqual(self.search(endTs=early, remoteServiceName="bank"), [RICH])
        self.assertEqual(self.search(endTs=early, annotationQuery='quoted "name"=x y and quoted "name"'), [RICH])
        self.assertEqual(self.search(endTs=early, annotationQuery="host.name=host-1"), [RICH])

    def test_dependencies(self):
        wanted = {e: (v["count"], v["error_count"]) for e, v in shop.edges(self.traces).items() if e[0]}
        got = self.get("/api/v2/dependencies", endTs=END, lookback=300_000)
        matches(got, [{"parent": str, "child": str, "callCount": int, "errorCount?": int}])
        self.assertEqual({(e["parent"], e["child"]): (e["callCount"], e.get("errorCount", 0)) for e in got}, wanted)

    def test_failures(self):
        for path, status, parameters in (("/api/v2/trace/dead", 404, {}), ("/api/v2/trace/zz", 400, {}), ("/api/v2/spans", 400, {}),
                                         ("/api/v2/dependencies", 400, {}), ("/api/v2/traces", 400, {"limit": "x"}),
                                         ("/api/v2/traces", 400, {"minDuration": "1s"}), ("/api/v2/traceMany", 400, {}),
                                         ("/api/v2/autocompleteValues", 400, {}), ("/api/v2/nosuch", 404, {})):
            got, headers, body = self.ask(path, **parameters)
            self.assertEqual((got, headers["Content-Type"]), (status, "text/plain; charset=utf-8"), (path, body))
            self.assertGreater(len(body), 0)

    def test_hostile_parameters(self):
        rng = random.Random(6)
        values = ["", "\0", "\"", "'\\", "a" * 3000, "-1", str(2 ** 64), str(2 ** 64 - 1), "NaN", " and ", "and", "= and =", "a=b=c", "\x80",
                  "a b=c", "(((", "NOT", '" OR', ",", ",,,", "1" * 40, "all"]
        names = ["serviceName", "spanName", "annotationQuery", "minDuration", "maxDuration", "endTs", "lookback", "limit", "traceIds", "key",
                 "remoteServiceName"]
        paths = ["traces", "spans", "remoteServices", "dependencies", "traceMany", "autocompleteValues", "trace/%00", "trace/..", "services"]
        for _ in range(250):
            path = "/api/v2/" + rng.choice(paths)
            status, _, body = self.ask(path, **{name: rng.choice(values) for name in rng.sample(names, 4)})
            self.assertIn(status, (200, 400, 404), (path, body))
            if status == 200:
                json.loads(body)

    def test_doors(self):
        trace_id = next(iter(self.traces))
        for path in ("/api/v2/services", f"/api/v2/trace/{trace_id}", "/api/v2/spans?serviceName=payment", "/api/v2/autocompleteKeys"):
            wanted = self.ask(path)
            for prefix in ("", "/zipkin/0"):
                self.assertEqual(self.ask(path, prefix=prefix)[2], wanted[2], (prefix, path))
            self.assertEqual(self.ask(path, headers={"Authorization": "Bearer wrong"})[0], 401)


if __name__ == "__main__":
    compat.main()
