#!/usr/bin/env python3
"""What is sent as OTLP comes back field by field: random messages, as protobuf and as JSON, through files and a collector.

Usage: test_otlp.py --cairn PROGRAM [unittest options]

Not part of a message: the order of resources, scopes and spans and how they are grouped, fields that have their default, and whether a
scope or resource that is empty was there.
"""
import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import otlp

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "server"))
from service import serving  # noqa: E402

TRACES, REQUESTS = 8, 24


class Whole(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.store = str(self.folder / "store")
        seed = int(os.environ.get("CAIRN_SEED", "38"))
        print(f"CAIRN_SEED={seed}", file=sys.stderr)
        self.maker = otlp.Maker(seed)
        self.traces = [self.maker.random.randbytes(16) for _ in range(TRACES)]
        self.sent = [self.maker.request(self.traces) for _ in range(REQUESTS)]
        self.spans = {}
        for request in self.sent:
            for key, span in otlp.spans(request).items():
                self.spans.setdefault(key, span)

    def cairn(self, *words):
        done = subprocess.run([OPTIONS.cairn, *words], capture_output=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr.decode()}")
        return done.stdout

    def bodies(self):
        """The requests in turn as protobuf, as JSON, and compressed."""
        for i, request in enumerate(self.sent):
            as_json = json.dumps(otlp.to_json("Request", request), ensure_ascii=i % 4 == 1).encode()
            body = as_json if i % 2 else otlp.to_protobuf("Request", request)
            yield gzip.compress(body) if i % 5 == 4 else body, "application/json" if i % 2 else "application/x-protobuf"

    def files(self):
        paths = []
        for i, (body, _) in enumerate(self.bodies()):
            paths.append(self.folder / f"{i:03}.otlp")
            paths[-1].write_bytes(body)
        return [str(path) for path in paths]

    def check(self, got, expected=None):
        expected = self.spans if expected is None else expected
        self.assertEqual(sorted(got), sorted(expected))
        for key, span in expected.items():
            self.assertEqual(got[key], span, key)

    def check_store(self):
        """The store gives back each trace, and all of it as a file of either encoding."""
        got = {}
        for trace in {trace for trace, _ in self.spans}:
            answer = json.loads(self.cairn("store", "show", self.store, trace, "--format", "otlp-json"))
            got.update(otlp.spans(otlp.from_json("Request", answer)))
        self.check(got)
        self.check_converted(self.store)

    def check_converted(self, source, expected=None):
        path = self.folder / "out"
        self.cairn("convert", "-q", "--force", "--strict", source, str(path), "--to", "otlp")
        self.check(otlp.spans(otlp.from_protobuf("Request", path.read_bytes())), expected)
        self.cairn("convert", "-q", "--force", "--strict", source, str(path), "--to", "otlp-json")
        self.check(otlp.spans(otlp.from_json("Request", json.loads(path.read_text()))), expected)


class Stored(Whole):
    def test_every_state_of_a_store(self):
        self.cairn("store", "init", "-q", self.store, "--rotate-size=4K")
        paths = self.files()
        for i in range(0, len(paths), 6):
            self.cairn("store", "add", "-q", self.store, *paths[i:i + 6])
        self.check_store()
        self.cairn("store", "add", "-q", self.store, *paths[12:])  # again
        self.check_store()
        self.cairn("store", "seal", "-q", self.store)
        self.check_store()
        self.cairn("store", "recover", "-q", self.store)
        self.cairn("store", "seal", "-q", self.store)
        self.check_store()
        self.cairn("store", "compact", "-q", self.store)
        self.cairn("store", "verify", "-q", self.store)
        self.check_store()

    def test_copies(self):
        self.cairn("store", "add", "-q", "--create", self.store, *self.files())
        copy, second = str(self.folder / "copy"), str(self.folder / "second")
        self.cairn("store", "export", "-q", self.store, "-o", copy)
        self.cairn("store", "init", "-q", second)
        self.cairn("store", "import", "-q", second, copy)
        self.store = second
        self.check_store()

    def test_files(self):
        for path, request in list(zip(self.files(), self.sent))[:8]:
            expected = otlp.spans(request)
            if expected:
                self.check_converted(path, expected)


class Searched(Whole):
    def count(self, query, *options):
        return int(self.cairn("store", "search", self.store, query, "--count", *options))

    def expected(self, test):
        return sum(map(test, self.spans.values()))

    @classmethod
    def texts_of(cls, value):
        """The texts of a value: elements of lists are values of their own."""
        yield value.get("string_value")
        for element in value.get("array_value", {}).get("values", ()):
            yield from cls.texts_of(element)

    @classmethod
    def texts(cls, attributes, key):
        return {text for pair in attributes if pair.get("key") == key for text in cls.texts_of(pair.get("value", {}))}

    def check_searches(self):
        self.assertEqual(self.count("event.exception.type = java.io.IOException", "--spans"), self.expected(
            lambda s: any("java.io.IOException" in self.texts(e.get("attributes", ()), "exception.type") for e in s["span"].get("events", ()))))
        self.assertEqual(self.count("event = exception", "--spans"), self.expected(
            lambda s: any(e.get("name") == "exception" for e in s["span"].get("events", ()))))
        for name in ("resource.service.name", "service.name"):
            for service in ("shop", "mail"):
                self.assertEqual(self.count(f"{name} = {service}", "--spans"), self.expected(
                    lambda s, name=name, service=service:
                    service in self.texts(s["resource"].get("resource", {}).get("attributes", ()), "service.name")
                    or (name == "service.name" and service in self.texts(s["span"].get("attributes", ()), "service.name"))))
        self.assertEqual(self.count("scope.name = 'GET /items'", "--spans"), self.expected(
            lambda s: s["scope"].get("scope", {}).get("name") == "GET /items"))
        self.assertEqual(self.count("link.trace_state = 5", "--spans"), self.expected(
            lambda s: any("5" in self.texts(link.get("attributes", ()), "trace_state") for link in s["span"].get("links", ()))))
        self.assertEqual(self.count("status.code = ok", "--spans"), self.expected(lambda s: s["span"].get("status", {}).get("code") == 1))
        self.assertEqual(self.count("trace_state = 'GET /items'", "--spans"), self.expected(
            lambda s: s["span"].get("trace_state") == "GET /items" or any(
                "GET /items" in self.texts(of.get("attributes", ()), "trace_state") for of in (s["span"], s["resource"].get("resource", {})))))

    def test_what_spans_have(self):
        # Numbers are searched as text: link.trace_state = 5 is asked of texts alone.
        for request in self.sent:
            for by_resource in request["resource_spans"]:
                for by_scope in by_resource["scope_spans"]:
                    for span in by_scope["spans"]:
                        for link in span.get("links", ()):
                            link["attributes"] = [a for a in link.get("attributes", ()) if "string_value" in a["value"]]
        self.spans = {}
        for request in self.sent:
            self.spans.update(otlp.spans(request))
        self.cairn("store", "add", "-q", "--create", self.store, *self.files())
        self.check_searches()
        self.cairn("store", "seal", "-q", self.store)
        self.check_searches()


class Collected(Whole):
    def test_answers_and_what_is_stored(self):
        bad = {"resource_spans": [{"scope_spans": [{"spans": [
            {"trace_id": self.traces[0], "span_id": b"12345678", "name": "good"},
            {"trace_id": b"", "span_id": b"abcdefgh", "name": "without a trace"},
            {"trace_id": self.traces[0], "span_id": b"\0" * 8, "name": "without an id"}]}]}]}
        with serving(OPTIONS.cairn, "--collect", self.store, checks=False) as service:
            for body, kind in self.bodies():
                status, headers, answer = service.ask("/v1/traces", {"Content-Type": kind}, "POST", body)
                self.assertEqual((status, headers["Content-Type"]), (200, kind))
                self.assertEqual(answer, b"{}" if "json" in kind else b"")
            for kind, body in (("application/json", json.dumps(otlp.to_json("Request", bad)).encode()),
                               ("application/x-protobuf", otlp.to_protobuf("Request", bad))):
                status, headers, answer = service.ask("/v1/traces", {"Content-Type": kind}, "POST", body)
                self.assertEqual((status, headers["Content-Type"]), (200, kind))
                read = otlp.from_json("Response", json.loads(answer)) if "json" in kind else otlp.from_protobuf("Response", answer)
                self.assertEqual(read, {"partial_success": {
                    "rejected_spans": 2, "error_message": "2 spans have no trace id or no span id"}})
            self.assertEqual(service.ask("/v1/traces", {"Content-Type": "application/x-protobuf"}, "POST", b"\x0a\x7f")[0], 400)
        self.spans[self.traces[0].hex(), b"12345678".hex()] = {
            "span": {"trace_id": self.traces[0], "span_id": b"12345678", "name": "good"}, "resource": {}, "scope": {}}
        self.check_store()


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser()
    PARSER.add_argument("--cairn", required=True)
    OPTIONS, REST = PARSER.parse_known_args()
    unittest.main(argv=[sys.argv[0], *REST])
