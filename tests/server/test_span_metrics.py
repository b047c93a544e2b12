#!/usr/bin/env python3
"""Metrics from spans at /metrics: each number equals a plain count of the spans that were sent.

Usage: test_span_metrics.py --cairn PROGRAM [unittest options]
"""
import collections
import json
import math
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import compat
from compat import shop
from service import Service

BUCKETS = [0.002 * 2 ** i for i in range(14)] + [math.inf]
OPEN = "application/openmetrics-text; version=1.0.0"
LABEL = r'([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"'
LABELS = rf"\{{(?:{LABEL}(?:,{LABEL})*)?\}}"
SAMPLE = re.compile(rf"([a-z_]+)({LABELS})? (\S+)(?: # ({LABELS}) (\S+) (\S+))?$")


def labels_of(text):
    return tuple(sorted((k, v.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")) for k, v in re.findall(LABEL, text or "")))


def parse(text, is_open):
    """The samples of a text by name and labels, and the exemplars; as strictly as the formats are written."""
    types, samples, exemplars, current = {}, {}, {}, None
    lines = text.split("\n")
    assert lines[-1] == "" and (lines[-2] == "# EOF") == is_open, lines[-3:]
    for line in lines[:-2 if is_open else -1]:
        if line.startswith("# "):
            _, what, name, rest = line.split(" ", 3)
            if what == "HELP":
                assert name not in types, name
                current = name
            else:
                assert what == "TYPE" and name == current and rest in ("counter", "gauge", "histogram"), line
                types[name] = rest
            continue
        name, labels, *_ = found = SAMPLE.match(line).groups()
        endings = {"counter": ["_total" if is_open else ""], "gauge": [""], "histogram": ["_bucket", "_sum", "_count"]}[types[current]]
        assert name in [current + e for e in endings], (line, current)
        assert not (is_open and types[current] == "counter" and current.endswith("_total")), line
        value, exemplar = found[6], found[7:]
        key = name, labels_of(labels)
        assert key not in samples, line
        samples[key] = float(value)
        if exemplar[0]:
            assert is_open and name.endswith("_bucket"), line
            exemplars[key] = dict(labels_of(exemplar[0])), float(exemplar[-2]), float(exemplar[-1])
    return samples, exemplars


def histogram(name, labels, durations_ns):
    """The samples of a histogram."""
    found = {(f"{name}_bucket", tuple(sorted((*labels, ("le", "+Inf" if limit == math.inf else f"{limit:.3f}"))))):
             sum(d / 1e9 <= limit for d in durations_ns) for limit in BUCKETS}
    found[f"{name}_sum", labels] = sum(durations_ns) / 1e9
    found[f"{name}_count", labels] = len(durations_ns)
    return found


def wanted_of(spans):
    """All samples of spans, by what was sent."""
    known, groups, edges = {(s.trace, s.id): s for s in spans}, collections.defaultdict(list), collections.defaultdict(list)
    for s in spans:
        groups[s.service, s.name, s.error].append(s.ns)
        caller = known.get((s.trace, s.parent.id)) if s.parent else None
        if caller and caller.service != s.service:
            edges[caller.service, s.service].append((caller, s))
    wanted = {}
    for (service, name, error), durations in groups.items():
        labels = tuple(sorted({"service": service, "span_name": name, "span_kind": "SPAN_KIND_SERVER",
                               "status_code": "STATUS_CODE_ERROR" if error else "STATUS_CODE_UNSET"}.items()))
        wanted["traces_spanmetrics_calls_total", labels] = len(durations)
        wanted.update(histogram("traces_spanmetrics_latency", labels, durations))
    for (client, server), pairs in edges.items():
        labels = tuple(sorted({"client": client, "server": server, "connection_type": ""}.items()))
        wanted["traces_service_graph_request_total", labels] = len(pairs)
        wanted["traces_service_graph_request_failed_total", labels] = sum(a.error or b.error for a, b in pairs)
        wanted.update(histogram("traces_service_graph_request_server_seconds", labels, [b.ns for _, b in pairs]))
        wanted.update(histogram("traces_service_graph_request_client_seconds", labels, [a.ns for a, _ in pairs]))
    return wanted


class SpanMetrics(unittest.TestCase):
    def setUp(self):
        self.store = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "store")

    def start(self):
        service = Service(compat.OPTIONS.cairn, "--collect", self.store, checks=False)
        self.addCleanup(self.end, service)
        return service

    def end(self, service):
        if service.process.returncode is None:
            self.assertEqual(service.end()[0], 0)

    def send(self, service, requests):
        for request in requests:
            status, _, body = service.ask_once("/v1/traces", headers={"Content-Type": "application/json"}, method="POST", body=json.dumps(request))
            self.assertEqual(status, 200, body)

    def scrape(self, service, is_open=False):
        status, headers, body = service.ask_once("/metrics", headers={"Authorization": f"Bearer {service.token}",
                                                                      **({"Accept": OPEN} if is_open else {})})
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Type"], f"{OPEN}; charset=utf-8" if is_open else "text/plain; version=0.0.4")
        return body.decode()

    def scrape_until(self, service, wanted, is_open=False):
        """Spans are seen a moment after they were stored."""
        end = time.monotonic() + 60
        while True:
            samples, exemplars = parse(self.scrape(service, is_open), is_open)
            of_spans = {k: v for k, v in samples.items() if k[0].startswith("traces_")}
            if of_spans.keys() == wanted.keys() and all(math.isclose(of_spans[k], v, abs_tol=1e-6) for k, v in wanted.items()):
                return samples, exemplars
            if time.monotonic() > end:
                self.assertEqual(of_spans, wanted)
            time.sleep(0.05)

    def test_every_span_once(self):
        traces = shop.make_traces(40, 4)
        spans = [s for t in traces.values() for s in t.values()]
        first, second = list(traces.items())[:20], list(traces.items())[20:]
        service = self.start()
        self.scrape_until(service, {})
        self.send(service, shop.batches(dict(first), 16, 3))
        self.scrape_until(service, wanted_of([s for _, t in first for s in t.values()]))
        self.send(service, shop.batches(dict(second), 16, 4))
        samples, exemplars = self.scrape_until(service, wanted_of(spans), is_open=True)
        self.assertEqual(samples["cairn_span_metrics_left_out_total", ()], 0)
        # Each bucket that has spans names the trace of one, with a duration of the bucket.
        by_trace = collections.defaultdict(list)
        for s in spans:
            by_trace[s.trace].append(s)
        for (name, labels), (of, value, time_s) in exemplars.items():
            self.assertLessEqual(value, float(dict(labels)["le"]))
            self.assertTrue(any(math.isclose(s.ns / 1e9, value, abs_tol=1e-9) and abs(s.begin / 1e9 - time_s) < 0.002
                                for s in by_trace[of["traceID"]]), (name, of, value))
        self.assertGreater(len(exemplars), 20)
        if shutil.which("promtool"):
            subprocess.run(["promtool", "check", "metrics"], input=self.scrape(service), text=True, check=True)
        # A server that starts again begins at zero.
        self.end(service)
        self.scrape_until(self.start(), {})

    def test_limits_and_odd_names(self):
        spans = [{"traceId": f"{i + 1:032x}", "spanId": f"{i + 1:016x}", "name": 'a "b"\n\\c' if i == 0 else f"operation {i}",
                  "startTimeUnixNano": str(shop.BEGIN), "endTimeUnixNano": str(shop.BEGIN + i)} for i in range(2100)]
        service = self.start()
        self.send(service, [{"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}])
        end = time.monotonic() + 60
        while True:
            samples, _ = parse(self.scrape(service), False)
            if samples["cairn_span_metrics_left_out_total", ()] > 0 or time.monotonic() > end:
                break
            time.sleep(0.05)
        counts = {labels: n for (name, labels), n in samples.items() if name == "traces_spanmetrics_calls_total"}
        self.assertEqual((len(counts), sum(counts.values()), samples["cairn_span_metrics_left_out_total", ()]), (2000, 2000, 100))
        self.assertIn('a "b"\n\\c', {dict(labels)["span_name"] for labels in counts})
        self.assertEqual({dict(labels)["span_kind"] for labels in counts}, {"SPAN_KIND_UNSPECIFIED"})


if __name__ == "__main__":
    compat.main()
