#!/usr/bin/env python3
"""Tempo's HTTP API: every answer equals a plain reading of what was sent, in the shape that Grafana reads.

Usage: test_tempo.py --cairn PROGRAM [unittest options]
"""
import base64
import collections
import json
import math
import pathlib
import random
import tarfile
import tempfile
import unittest

import compat
import otlp
from compat import RICH, RICH_BEGIN, matches, newest, shop
from service import Service

NUMBER = (int, float)
VALUE = ({"stringValue": str}, {"intValue": str}, {"doubleValue": NUMBER}, {"boolValue": bool}, {"arrayValue": {"values": [dict]}})
ATTRIBUTES = [{"key": str, "value": VALUE}]
SPAN = {"spanID": str, "name?": str, "startTimeUnixNano": str, "durationNanos": str, "attributes": ATTRIBUTES}
SET = {"spans": [SPAN], "matched": int, "attributes?": ATTRIBUTES}
SEARCH = {"traces": [{"traceID": str, "rootServiceName": str, "rootTraceName": str, "startTimeUnixNano": str, "durationMs": int, "spanSet": SET,
                      "spanSets": [SET]}], "metrics": {"inspectedTraces": int}}
SERIES = {"labels": ATTRIBUTES, "samples": [{"timestampMs": str, "value": NUMBER}],
          "exemplars?": [{"labels": ATTRIBUTES, "value": NUMBER, "timestampMs": str}]}
BEGIN_S, END_S = shop.BEGIN // 10 ** 9, shop.BEGIN // 10 ** 9 + 10
RANGE = {"start": BEGIN_S - 5, "end": END_S}


def spans_of(answer):
    return [s for r in answer for scope in r["scopeSpans"] for s in scope["spans"]]


class Tempo(compat.Compat):
    PREFIX = "/tempo"

    def search(self, **parameters):
        answer = self.get("/api/search", **{"limit": 100, **parameters})
        matches(answer, SEARCH)
        for trace in answer["traces"]:
            self.assertEqual(trace["spanSet"], trace["spanSets"][0])
        return answer["traces"]

    def ids(self, **parameters):
        return [t["traceID"] for t in self.search(**parameters)]

    def test_a_data_source_is_tested(self):
        for path, text in (("/api/echo", b"echo"), ("/ready", b"ready\n")):
            status, headers, body = self.ask(path)
            self.assertEqual((status, body, headers["Content-Type"]), (200, text, "text/plain; charset=utf-8"))
        info = self.get("/api/status/buildinfo")
        matches(info, {name: str for name in ("version", "revision", "branch", "buildDate", "buildUser", "goVersion")})
        self.assertRegex(info["version"], r"^2\.\d+\.\d+$")

    def test_traces_by_id(self):
        """Protobuf is what was sent; JSON is that of Protocol Buffers: ids in base64, names of kinds and codes."""
        for trace_id, sent in list(self.traces.items())[:8]:
            for path, is_v2 in (("/api/traces/", False), ("/api/v2/traces/", True)):
                status, headers, body = self.ask(path + trace_id, headers={"Accept": "application/protobuf"}, start=BEGIN_S - 9, end=END_S)
                self.assertEqual((status, headers["Content-Type"]), (200, "application/protobuf"))
                message = otlp.from_protobuf("Request", dict(fields(body))[1] if is_v2 else body)
                got = {s["span_id"].hex(): s for r in message["resource_spans"] for scope in r["scope_spans"] for s in scope["spans"]}
                self.assertEqual({i: (s["name"], s["start_time_unix_nano"], s["end_time_unix_nano"], s["trace_id"].hex())
                                  for i, s in got.items()},
                                 {i: (s.name, s.begin, s.end, trace_id) for i, s in sent.items()})
                answer = self.get(path + trace_id)
                spans = spans_of(answer["trace"]["resourceSpans"] if is_v2 else answer["batches"])
                self.assertEqual({base64.b64decode(s["spanId"]).hex(): (base64.b64decode(s["traceId"]).hex(), s["name"], s["kind"],
                                                                        s["status"].get("code"), s["startTimeUnixNano"]) for s in spans},
                                 {i: (trace_id, s.name, "SPAN_KIND_SERVER", "STATUS_CODE_ERROR" if s.error else None, str(s.begin))
                                  for i, s in sent.items()})

    def test_a_trace_that_is_not_there(self):
        for path in ("/api/traces/dead", "/api/v2/traces/dead"):
            status, headers, body = self.ask(path, headers={"Accept": "application/protobuf"})
            self.assertEqual((status, headers["Content-Type"], body), (404, "text/plain; charset=utf-8", b"trace not found"))

    def test_without_a_prefix_the_accepted_type_decides(self):
        trace_id = next(iter(self.traces))
        wanted = self.ask(f"/api/traces/{trace_id}", headers={"Accept": "application/protobuf"})[2]
        self.assertEqual(self.ask(f"/api/traces/{trace_id}", prefix="", headers={"Accept": "application/protobuf"})[2], wanted)
        self.assertIn("data", self.get(f"/api/traces/{trace_id}", prefix="", headers={"Accept": "application/json"}))
        for path in ("/api/echo", "/api/search/tags", "/api/v2/search/tags", f"/api/v2/traces/{trace_id}", "/api/search"):
            self.assertEqual(self.ask(path, prefix="")[2], self.ask(path)[2])
            self.assertEqual(self.ask(path, headers={"Authorization": "Bearer wrong"})[0], 401)

    QUERIES = (
        ("{}", lambda s: True),
        ('{ resource.service.name = "payment" }', lambda s: s.service == "payment"),
        ('{ name = "db query" && span.item = 7 }', lambda s: s.name == "db query" and s.attributes.get("item") == 7),
        ("{ status = error }", lambda s: s.error),
        ('{ duration > 40ms && resource.service.name = "frontend" }', lambda s: s.ns > 40 * shop.MS and s.service == "frontend"),
        ('{ .db.system = "postgresql" && .item >= 11 }', lambda s: s.attributes.get("item", 0) >= 11),
        ("{ kind = server && nestedSetParent < 0 }", lambda s: s.parent is None),
        ('{ span.card.type =~ "a.*" }', lambda s: s.attributes.get("card_type") == "amex"),
        ("{ span.nosuch = 1 }", lambda s: False),
    )

    def test_searches(self):
        for query, test in self.QUERIES:
            with self.subTest(query):
                found = self.search(q=query, spss=100, **RANGE)
                self.assertEqual({t["traceID"] for t in found}, set(newest(self.traces, test)))
                starts = [int(t["startTimeUnixNano"]) for t in found]
                self.assertEqual(starts, sorted(starts, reverse=True))
                for trace in found:
                    sent = self.traces[trace["traceID"]]
                    wanted = {s.id: (s.begin, s.ns) for s in sent.values() if test(s)}
                    spans = trace["spanSets"][0]["spans"]
                    self.assertEqual({s["spanID"]: (int(s["startTimeUnixNano"]), int(s["durationNanos"])) for s in spans}, wanted)
                    self.assertEqual((trace["spanSet"]["matched"], len(trace["spanSets"])), (len(wanted), 1))
                    first, last = min(s.begin for s in sent.values()), max(s.end for s in sent.values())
                    root = next((s for s in sent.values() if s.parent is None), None)
                    self.assertEqual((trace["rootTraceName"], trace["rootServiceName"], int(trace["startTimeUnixNano"]), trace["durationMs"]),
                                     (root.name, root.service, first, (last - first) // shop.MS) if root
                                     else ("<root span not yet received>",) * 2 + (first, (last - first) // shop.MS))

    def test_limits_of_searches(self):
        everything = self.ids(q="{}", **RANGE)
        self.assertEqual(self.ids(q="{}", limit=3, **RANGE), everything[:3])
        self.assertEqual(len(self.ids(**RANGE, limit="")), 20)  # by default
        for trace in self.search(q="{}", **RANGE):
            count = len(self.traces[trace["traceID"]])
            self.assertEqual((len(trace["spanSet"]["spans"]), trace["spanSet"]["matched"]), (min(count, 3), count))
        self.assertEqual(self.ids(q="{}", start=RICH_BEGIN // 10 ** 9 - 1, end=RICH_BEGIN // 10 ** 9 + 2), [RICH])

    def test_values_of_spans(self):
        trace = self.search(q='{ .http.status_code = 503 } | select(ratio_is_missing, span.ratio, is.cached, status, kind, duration, span.tags)'
                            .replace("ratio_is_missing, ", "").replace("is.cached", "span.is.cached"))[0]
        values = {a["key"]: a["value"] for a in trace["spanSets"][0]["spans"][0]["attributes"]}
        self.assertEqual({k: values[k] for k in ("span.ratio", "span.is.cached", "status", "kind")},
                         {"span.ratio": {"doubleValue": 0.25}, "span.is.cached": {"boolValue": True}, "status": {"stringValue": "error"},
                          "kind": {"stringValue": "server"}})
        self.assertEqual(values["span.tags"], {"arrayValue": {"values": [{"stringValue": "a"}, {"stringValue": "b"}]}})
        grouped = self.search(q='{ resource.service.name != "billing" } | by(resource.service.name) | count() > 1', **RANGE)
        one = next(t for t in grouped if len(t["spanSets"]) > 1)
        sent = collections.Counter(s.service for s in self.traces[one["traceID"]].values())
        self.assertEqual({a["value"]["stringValue"]: s["matched"] for s in one["spanSets"] for a in s["attributes"] if "by" in a["key"]},
                         {k: n for k, n in sent.items() if n > 1})

    def test_tags_instead_of_a_query(self):
        cases = (
            (dict(tags="service.name=payment"), lambda s: s.service == "payment"),
            (dict(tags='name="db query" item=7'), lambda s: s.attributes.get("item") == 7 and s.name == "db query"),
            (dict(tags="error=true"), lambda s: s.error),
            (dict(tags="status.code=error service.name=payment"), lambda s: s.error and s.service == "payment"),
            (dict(tags="card.type=amex"), lambda s: s.attributes.get("card_type") == "amex"),
            (dict(tags="nosuch=1"), lambda s: False),
            (dict(tags='root.name="GET /browse"'), lambda s: self.root_of(s) == "GET /browse"),
            ({}, lambda s: True),
        )
        for parameters, test in cases:
            with self.subTest(parameters):
                self.assertEqual(set(self.ids(**parameters, **RANGE)), set(newest(self.traces, test)))
        found = set(self.ids(minDuration="35ms", maxDuration="50ms", **RANGE))
        length = {t: max(s.end for s in spans.values()) - min(s.begin for s in spans.values()) for t, spans in self.traces.items()}
        self.assertEqual(found, {t for t, ns in length.items() if 35 * shop.MS <= ns <= 50 * shop.MS})
        self.assertEqual(self.ids(tags='is.cached=true ratio=0.25 colour="grün"'), [RICH])

    def root_of(self, span):
        return next((s.name for s in self.traces[span.trace].values() if s.parent is None), None)

    def test_tags(self):
        of_spans = {k.replace("_", ".") for s in self.spans for k in s.attributes}
        of_spans |= {k for k in compat.RICH_ATTRIBUTES if k != "limits"} | {"limits.cpu", "peer.service"}
        of_resources, of_events, of_links = {"service.name", "host.name", "replicas"}, {"exception.type", "retries"}, {"why"}
        answer = self.get("/api/v2/search/tags", limit=5000)
        matches(answer, {"scopes": [{"name": str, "tags": [str]}], "metrics": {}})
        scopes = {s["name"]: s["tags"] for s in answer["scopes"]}
        self.assertEqual({name: set(tags) for name, tags in scopes.items() if name != "intrinsic"},
                         {"span": of_spans, "resource": of_resources, "event": of_events, "link": of_links})
        self.assertLessEqual({"name", "status", "duration", "kind", "rootName", "rootServiceName", "traceDuration"}, set(scopes["intrinsic"]))
        for name, tags in scopes.items():
            self.assertEqual(self.get("/api/v2/search/tags", scope=name)["scopes"], [{"name": name, "tags": tags}])
        self.assertEqual([len(s["tags"]) for s in self.get("/api/v2/search/tags", limit=2)["scopes"]], [2, 2, 2, 1, 2])
        answer = self.get("/api/search/tags")
        matches(answer, {"tagNames": [str], "metrics": {}})
        self.assertEqual(sorted(answer["tagNames"]), sorted(of_spans | of_resources | of_events | of_links))
        self.assertEqual(set(self.get("/api/search/tags", scope="resource")["tagNames"]), of_resources)

    def test_tags_of_a_query(self):
        def tags(**parameters):
            return {s["name"]: s["tags"] for s in self.get("/api/v2/search/tags", **parameters)["scopes"] if s["name"] != "intrinsic"}
        names = sorted({k.replace("_", ".") for s in self.spans if s.service == "inventory" for k in s.attributes})
        self.assertEqual(tags(q='{ resource.service.name = "inventory" }'), {"span": names, "resource": ["service.name"]})
        self.assertEqual(tags(q='{ name = "charge" }', scope="span"), {"span": ["peer.service"]})
        self.assertEqual(tags(q='{ name = "GET /invoice" }', scope="event"), {"event": ["exception.type", "retries"]})
        self.assertEqual(tags(q='{ name = "charge" }', **RANGE), {})
        self.assertEqual(tags(q="{ name = "), tags())
        self.assertEqual(self.get("/api/search/tags", q='{ name = "charge" }')["tagNames"], ["peer.service", "host.name", "replicas", "service.name"])

    def values(self, tag, **parameters):
        answer = self.get(f"/api/v2/search/tag/{tag}/values", **parameters)
        matches(answer, {"tagValues": [{"type": str, "value": str}], "metrics": {}})
        found = {v["value"]: v["type"] for v in answer["tagValues"]}
        self.assertEqual(len(found), len(answer["tagValues"]))
        return found

    def test_values(self):
        items = {str(s.attributes["item"]) for s in self.spans if "item" in s.attributes}
        self.assertEqual(self.values("span.item"), dict.fromkeys(items, "int"))
        self.assertEqual(self.values(".item"), dict.fromkeys(items, "int"))
        self.assertEqual(self.values("span.card.type"), {"visa": "string", "amex": "string"})
        self.assertEqual(self.values("resource.service.name"), dict.fromkeys((*shop.SERVICES, "billing"), "string"))
        self.assertEqual(self.values("resource.host.name"), {"host-1": "string"})
        self.assertEqual(self.values("resource.replicas"), {"3": "int"})
        self.assertEqual(self.values("span.ratio"), {"0.25": "float"})
        self.assertEqual(self.values("span.is.cached"), {"true": "bool"})
        self.assertEqual(self.values("event.exception.type"), {"IOError": "string"})
        self.assertEqual(self.values("link.why"), {"retry": "string"})
        self.assertEqual(self.values("name"), dict.fromkeys({s.name for s in self.spans} | {"GET /invoice", "charge"}, "string"))
        self.assertEqual(self.values("status"), dict.fromkeys(("ok", "error", "unset"), "keyword"))
        self.assertEqual(self.values("kind"), {"server": "keyword", "client": "keyword"})
        self.assertEqual(self.values("span:kind"), self.values("kind"))
        self.assertEqual(self.values("statusMessage"), {"no disk": "string"})
        self.assertEqual(self.values("event:name"), {"exception": "string", "cache miss": "string"})
        self.assertEqual(self.values("instrumentation:name"), {"my.library": "string"})
        roots = {s.name for s in self.spans if s.parent is None} | {"GET /invoice"}
        self.assertEqual(set(self.values("rootName")), roots)
        self.assertEqual(set(self.values("rootServiceName")), {"frontend", "billing"})
        self.assertEqual(self.values("duration"), {})
        self.assertEqual(self.values("span.nosuch"), {})

    def test_values_of_a_query(self):
        # Of the same spans.
        self.assertEqual(set(self.values("name", q='{ resource.service.name = "payment" }')), {s.name for s in self.spans if s.service == "payment"})
        self.assertEqual(set(self.values("resource.service.name", q="{ status = error }", **RANGE)), {s.service for s in self.spans if s.error})
        self.assertEqual(self.values("span.card.type", q='{ resource.service.name = "frontend" }'), {})
        # What cannot be read yet filters nothing.
        self.assertEqual(self.values("span.card.type", q="{ resource.service.name = "), {"visa": "string", "amex": "string"})
        self.assertEqual(set(self.values("resource.service.name", start=BEGIN_S - 5, end=END_S)), set(shop.SERVICES))
        self.assertEqual(len(self.values("name", limit=2)), 2)
        self.assertEqual(self.get("/api/search/tag/card.type/values")["tagValues"], ["visa", "amex"])
        self.assertEqual(set(self.get("/api/search/tag/service.name/values")["tagValues"]), {*shop.SERVICES, "billing"})
        self.assertEqual(set(self.get("/api/search/tag/name/values")["tagValues"]), set(self.values("name")))

    def series(self, question="query_range", **parameters):
        answer = self.get(f"/api/metrics/{question}", **parameters)
        form = SERIES if question == "query_range" else {"labels": ATTRIBUTES, "value": NUMBER}
        matches(answer, {"series": [form], "metrics": {}})
        return answer["series"]

    def test_series(self):
        """A span belongs to the step that it began in; the point is the end of the step."""
        step = 50 * shop.MS
        for service in shop.SERVICES:
            counts = collections.Counter(-(-s.begin // step) * step // shop.MS for s in self.spans if s.service == service)
            found = self.series(q=f'{{ resource.service.name = "{service}" }} | count_over_time()', start=shop.BEGIN - 10 ** 9,
                                end=shop.BEGIN + 10 ** 9, step="50ms")
            self.assertEqual(len(found), 1)
            self.assertEqual({int(s["timestampMs"]): s["value"] for s in found[0]["samples"] if s["value"]}, counts)
        found = self.series(q="{ status = error } | rate() by(resource.service.name)", start=BEGIN_S - 1, end=BEGIN_S + 1, step="1")
        got = {s["labels"][0]["value"]["stringValue"]: sum(p["value"] for p in s["samples"]) for s in found
               if s["labels"][0]["key"] == "resource.service.name"}
        wanted = collections.Counter(s.service for s in self.spans if s.error)
        self.assertEqual(got.keys(), wanted.keys())
        for service, count in wanted.items():
            self.assertTrue(math.isclose(got[service], count), (service, got, count))

    def test_exemplars(self):
        found = self.series(q="{} | max_over_time(duration) by(resource.service.name)", **RANGE, step="1s", exemplars=5)
        self.assertEqual({s["labels"][0]["value"]["stringValue"] for s in found}, set(shop.SERVICES))
        for one in found:
            self.assertTrue(0 < len(one["exemplars"]) <= 5)
            for exemplar in one["exemplars"]:
                labels = {a["key"]: a["value"]["stringValue"] for a in exemplar["labels"]}
                span = self.traces[labels["trace:id"]][labels["span:id"]]
                self.assertTrue(math.isclose(span.ns / 1e9, exemplar["value"]))
                self.assertEqual(int(exemplar["timestampMs"]), span.begin // shop.MS)

    def test_one_value(self):
        found = self.series("query", q='{ resource.service.name != "billing" } | count_over_time() by(name)', **RANGE)
        self.assertEqual({s["labels"][0]["value"]["stringValue"]: s["value"] for s in found}, collections.Counter(s.name for s in self.spans))
        self.assertEqual(self.series("query", q="{} | count_over_time()"), [])  # the last hour: the spans are of 2023
        self.assertEqual(len(self.series("query", q="{} | count_over_time() by(name)", maxSeries=2, **RANGE)), 2)

    def test_what_grafana_sends(self):
        """Queries of the search builder and of Traces Drilldown, as they send them: each finds something."""
        own = "nestedSetParent<0 && true"
        nanos = f"{shop.BEGIN - 10 ** 9}, {shop.BEGIN + 10 ** 10}"
        for query in (f"{{{own}}} | rate()  with(sample=true)", f"{{{own} && status=error}} | rate()  with(sample=true)",
                      f"{{{own}}} | histogram_over_time(duration) with(sample=true)",
                      f"{{{own} && resource.service.name != nil}} | rate() by(resource.service.name)",
                      f"{{{own} && resource.service.name != nil}} | quantile_over_time(duration, 0.9) by(resource.service.name)",
                      f"{{{own}}} | compare({{status = error}}, 10)", f"{{{own}}} | compare({{duration >= 1ms && duration <= 3s}}, 10, {nanos})",
                      "{true && true} | rate()", "{kind=server && true} | rate() by(span:name)", "{} | rate() | topk(3)"):
            with self.subTest(query):
                self.assertGreater(len(self.series(q=query, **RANGE, step="5s")), 0)
        for query in (f"{{{own}}}", f"{{{own} && status = error}}", f"{{{own} && duration > 1ms}} | select(resource.service.name, name)",
                      f"({{{own}  && status = error}} &>> {{ status = error }}) || ({{{own}  && status = error}}) | select(status, "
                      "resource.service.name, name, nestedSetParent, nestedSetLeft, nestedSetRight)",
                      f"{{{own} && status = error}} | select(resource.service.name, event.exception.message,event.exception.stacktrace,"
                      "event.exception.type) with(most_recent=true)",
                      '{resource.service.name="frontend" && name="GET /checkout" && span.item=~".*"} || {duration>100us}',
                      '{ name =~ "GET.*|db.*" && resource.service.name =~ "frontend|inventory"}'):
            with self.subTest(query):
                self.assertGreater(len(self.search(q=query, spss=20, **RANGE)), 0)
        structure = self.search(q=f"({{{own}}} &>> {{ true }}) | select(nestedSetParent, nestedSetLeft, nestedSetRight, name)", spss=100, **RANGE)
        for trace in structure:
            spans = [{a["key"]: list(a["value"].values())[0] for a in s["attributes"]} for s in trace["spanSets"][0]["spans"]]
            lefts = {s["nestedSetLeft"] for s in spans}
            self.assertTrue(all(int(s["nestedSetParent"]) < 0 or s["nestedSetParent"] in lefts for s in spans), spans)

    def failure(self, path, status, **parameters):
        got, headers, body = self.ask(path, **parameters)
        self.assertEqual((got, headers["Content-Type"]), (status, "text/plain; charset=utf-8"), (path, parameters, body))
        return body.decode()

    def test_failures(self):
        self.assertEqual(self.failure("/api/search", 400, q="{}", start=5, end=5),
                         "http parameter start must be before end. received start=5 end=5")
        self.assertEqual(self.failure("/api/search", 400, q="{}", tags="a=b"), "can't specify tags and q in the same query")
        self.assertEqual(self.failure("/api/v2/search/tags", 400, scope="x"), "invalid scope: x")
        for path, parameters in (
                ("/api/search", dict(q="{")), ("/api/search", dict(q="{} | rate()")), ("/api/search", dict(limit=0)),
                ("/api/search", dict(limit="x")), ("/api/search", dict(tags="a")), ("/api/search", dict(tags='a="b')),
                ("/api/search", dict(minDuration="x")), ("/api/metrics/query_range", {}), ("/api/metrics/query_range", dict(q="{}")),
                ("/api/metrics/query_range", dict(q="{} | rate()", start=5, end=4)), ("/api/metrics/query_range", dict(q="{} | rate()", step="-1")),
                ("/api/metrics/query_range", dict(q="{} | rate()", step="0")), ("/api/metrics/query", dict(q="{} | rate()", start="noon")),
                ("/api/traces/zz", {}), ("/api/v2/search/tag/a b/values".replace(" ", "%20"), {})):
            with self.subTest(path=path, parameters=parameters):
                self.failure(path, 400, **parameters)
        self.failure("/api/nosuch", 404)

    def test_hostile_parameters(self):
        rng = random.Random(8)
        values = ["", "\0", "\"", "'\\", "{" * 200, "{}", "{} | rate()", "-1", str(2 ** 64), str(2 ** 64 - 1), "NaN", "1e400", "a=b", 'a="', "=",
                  "\x80", "{ . = 1 }", '{ .a =~ "(" }', "1ns", "0", "9" * 40, "1.5", "1970-01-01T00:00:00Z", "none", "{ name != nil } | by(name)"]
        names = ["q", "query", "tags", "start", "end", "limit", "spss", "minDuration", "maxDuration", "scope", "step", "since", "exemplars", "maxSeries"]
        paths = ["/api/search", "/api/search/tags", "/api/v2/search/tags", "/api/search/tag/a/values", "/api/v2/search/tag/.a/values",
                 "/api/metrics/query", "/api/metrics/query_range", "/api/v2/search/tag/%22/values", "/api/v2/search/tag/%00/values",
                 "/api/search/tag//values", f"/api/traces/{RICH}", "/api/v2/traces/..", "/api/search/tag/x%2Fy/values"]
        for _ in range(300):
            path = rng.choice(paths)
            parameters = {name: rng.choice(values) for name in rng.sample(names, 3)}
            status, _, body = self.ask(path, **parameters)
            self.assertIn(status, (200, 400, 404, 422), (path, parameters, body))
            if status == 200:
                json.loads(body)


class Earlier(unittest.TestCase):
    def test_stores_of_earlier_versions(self):
        """A trace has the same spans through every door."""
        data = pathlib.Path(__file__).resolve().parents[1] / "compatibility" / "0.9" / "data.tar.xz"
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(data) as archive:
                archive.extractall(folder, [m for m in archive.getmembers() if m.name.lstrip("./").startswith("sealed")])
            service = Service(compat.OPTIONS.cairn, f"{folder}/sealed", checks=False)
            try:
                self.check(lambda path: json.loads(service.receive(path)[1]))
            finally:
                self.assertEqual(service.end()[0], 0)

    def check(self, get):
        self.assertEqual(get("/jaeger/api/services")["data"], ["cards", "shop"])
        found = [t["traceID"] for t in get("/tempo/api/search?q=%7B%7D&limit=100")["traces"]]
        self.assertGreater(len(found), 3)
        for trace_id in found:
            jaeger = {s["spanID"]: s["operationName"] for s in get(f"/jaeger/api/traces/{trace_id}")["data"][0]["spans"]}
            zipkin = {s["id"]: s["name"] for s in get(f"/zipkin/api/v2/trace/{trace_id}")}
            tempo = {base64.b64decode(s["spanId"]).hex(): s["name"] for s in spans_of(get(f"/tempo/api/traces/{trace_id}")["batches"])}
            v3 = {s["spanId"]: s["name"] for s in spans_of(get(f"/jaeger/api/v3/traces/{trace_id}")["result"]["resourceSpans"])}
            self.assertGreater(len(jaeger), 0)
            self.assertEqual([zipkin, tempo, v3], [jaeger] * 3)


def fields(data):
    """The fields of a message: number and bytes, of those that have a length."""
    at = 0
    while at < len(data):
        key, at = otlp.take_varint(data, at)
        length, at = otlp.take_varint(data, at)
        yield key >> 3, data[at:at + length]
        at += length


if __name__ == "__main__":
    compat.main()
