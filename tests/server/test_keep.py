#!/usr/bin/env python3
"""A collector that runs keeps its store within limits: it removes old segments except pinned traces, joins small ones,
and leaves out what rules exclude before it reaches the disk.

Usage: test_keep.py --cairn PROGRAM
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from service import Service

PATIENCE_S = 60
SECRET = re.compile(rb"SECRET\d|411111111")


def text(key, value):
    return {"key": key, "value": {"stringValue": value}}


def span(number, when=None, **more):
    begin = time.time_ns() if when is None else when
    return {"traceId": f"{number:032x}", "spanId": f"{number:016x}", "name": "op", "kind": 2,
            "startTimeUnixNano": str(begin), "endTimeUnixNano": str(begin + 1000000), **more}


def otlp(*spans, resource=(text("service.name", "shop"),), scope=()):
    return json.dumps({"resourceSpans": [{"resource": {"attributes": list(resource)}, "scopeSpans": [
        {"scope": {"name": "lib", "attributes": list(scope)}, "spans": list(spans)}]}]})


class Store(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "store")

    def tearDown(self):
        self.folder.cleanup()

    def cairn(self, *arguments, **more):
        return subprocess.check_output([OPTIONS.cairn, *arguments], text=True, **more)

    def serve(self, *arguments):
        return Service(OPTIONS.cairn, "--collect", self.path, "--collect-lanes", "2", *arguments)

    def end(self, service):
        service.process.terminate()
        out, err = service.process.communicate()
        self.assertEqual(service.process.returncode, 0, err)
        return err

    def send(self, service, *spans, **more):
        status, _, body = service.ask_once("/v1/traces", {"Content-Type": "application/json"}, "POST",
                                           otlp(*spans, **more))
        self.assertEqual((status, body), (200, b"{}"))

    def stored(self):
        found = json.loads(self.cairn("store", "search", "--format", "json", "-n", "100000", self.path))
        return {int(one["trace_id"], 16) for one in found}

    def metric(self, service, name):
        body = service.ask_once("/metrics")[2].decode()
        return float(re.search(rf"^{name} (\S+)$", body, re.M)[1])

    def wait_for(self, what):
        end = time.monotonic() + PATIENCE_S
        while not what():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.3)


class Retention(Store):
    def test_old_traces_go_and_pinned_ones_stay(self):
        service = self.serve("--keep", "10s", "--keep-every", "0.2s")
        for number in range(1, 31):
            self.send(service, span(number))
            if number in (3, 9):  # another process, while the collector has the store
                self.cairn("store", "pin", self.path, f"{number:032x}")
        self.wait_for(lambda: self.stored() == {3, 9})
        self.assertGreaterEqual(self.metric(service, "cairn_retention_segments_total"), 1)
        self.assertEqual(self.metric(service, "cairn_retention_failures_total"), 0)
        self.assertEqual(self.metric(service, "cairn_retention_pinned_total"), 2)
        # All that arrived is in the metrics of spans once, also what was removed or copied.
        self.assertEqual(self.counted(service), 30)
        self.cairn("store", "pin", "--remove", self.path, f"{3:032x}")
        self.wait_for(lambda: self.stored() == {9})
        self.send(service, span(31))
        self.assertEqual(self.stored(), {9, 31})
        log = self.end(service)
        self.assertRegex(log, r"removed \d+ segments? with \d+ traces and spans, .*; kept \d pinned traces? ")
        self.cairn("store", "verify", "-q", self.path)
        self.assertEqual(self.stored(), {9, 31})

    def counted(self, service):
        body = service.ask_once("/metrics")[2].decode()
        return sum(float(value) for value in re.findall(r"^traces_spanmetrics_calls_total\{.*\} (\S+)$", body, re.M))

    def test_a_clock_that_is_ahead_keeps_nothing_for_ever(self):
        service = self.serve("--keep", "2s", "--keep-every", "0.2s")
        self.send(service, span(1, when=4102444800 * 10 ** 9))
        self.wait_for(lambda: self.stored() == set())
        self.end(service)

    def test_the_oldest_go_when_the_store_is_too_large(self):
        self.cairn("store", "init", "-q", "--rotate-size", "40K", self.path)
        service = self.serve("--keep-size", "200K", "--keep-every", "0.2s")
        number = 0
        for _ in range(60):
            self.send(service, *(span(number + i + 1, attributes=[text("k", os.urandom(200).hex())])
                                 for i in range(40)))
            number += 40
        self.wait_for(lambda: self.size() < 320 << 10)
        left = self.stored()
        self.assertIn(number, left)
        self.assertNotIn(1, left)
        self.end(service)
        self.cairn("store", "verify", "-q", self.path)

    def size(self):
        """Of the segments that are not gone."""
        segments = json.loads(self.cairn("store", "stats", "--format", "json", self.path))
        return max(one["bytes"] for one in segments)

    def test_a_full_disk(self):
        """Of a disk that others fill, all sealed segments go; what is being written stays."""
        self.cairn("store", "init", "-q", "--rotate-size", "10K", self.path)
        service = self.serve("--keep-disk", "0.001%", "--keep-every", "0.2s")
        for number in range(1, 41):
            self.send(service, span(number, attributes=[text("k", os.urandom(400).hex())]))
        self.wait_for(lambda: 1 not in self.stored())
        self.wait_for(lambda: self.metric(service, "cairn_retention_bytes_total") > 0)  # counted when all are gone
        self.end(service)
        self.cairn("store", "verify", "-q", self.path)

    def test_small_segments_are_joined(self):
        self.cairn("store", "init", "-q", "--rotate-time", "0.2s", self.path)
        service = self.serve("--compact", "--keep-every", "0.2s")
        number = 0
        while self.metric(service, "cairn_compaction_segments_total") < 8:
            number += 1
            self.assertLess(number, 600)
            self.send(service, span(number))
            time.sleep(0.05)
            if number % 20 == 0:
                self.assertEqual(self.stored(), set(range(1, number + 1)))
        self.assertEqual(self.stored(), set(range(1, number + 1)))
        self.wait_for(lambda: self.counted(service) >= number)  # a scrape shows what was there a moment ago
        self.assertEqual(self.counted(service), number)
        log = self.end(service)
        self.assertRegex(log, r"segments: \d+ before, \d+ after")
        self.cairn("store", "verify", "-q", self.path)
        self.assertEqual(self.stored(), set(range(1, number + 1)))

    def test_options_need_a_collector(self):
        other = os.path.join(self.folder.name, "other")
        self.cairn("store", "init", "-q", other)
        for options, message in ((("--keep", "1d"), "need --collect"), (("--compact",), "need --collect"),
                                 (("--collect", self.path, "--keep-disk", "120%"), "not a share"),
                                 (("--collect", self.path, "--keep", "soon"), "--keep"),
                                 (("--redact", "drop x"), "need --collect"),
                                 (("--collect", self.path, "--redact", "lose x"), "'lose' is not a rule"),
                                 (("--collect", self.path, "--redact", "mask x ("), "--redact 'mask x ('"),
                                 (("--collect", self.path, "--upload", "s3://b/p", "--keep-disk", "80%"),
                                  "--keep-disk is for a store in a folder")):
            done = subprocess.run([OPTIONS.cairn, "serve", other, *options], text=True, capture_output=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(message, done.stderr)


class Tail(Store):
    def tail(self, *options):
        """The lines that it prints, while the test runs."""
        process = subprocess.Popen([OPTIONS.cairn, "store", "tail", self.path, *options], stdout=subprocess.PIPE, text=True)
        lines = []

        def read():
            for line in process.stdout:
                lines.append(line)
        reader = threading.Thread(target=read)
        reader.start()
        for end in process.stdout.close, process.wait, reader.join, process.kill:  # the last one first
            self.addCleanup(end)
        return lines

    def test_each_span_is_printed_once_also_while_segments_are_joined(self):
        self.cairn("store", "init", "-q", "--rotate-time", "0.2s", self.path)
        service = self.serve("--compact", "--keep-every", "0.1s")
        for number in range(1, 4):
            self.send(service, span(number))
        spans = self.tail("-n", "2", "--every", "0.5s")
        failed = self.tail("--json", "k = 7 errors")
        self.wait_for(lambda: len(spans) == 2)
        for number in range(4, 84):
            self.send(service, span(number, attributes=[text("k", str(number % 10))],
                                    status={"code": 2 * (number < 50)}))
            time.sleep(0.02)
        self.wait_for(lambda: len(spans) >= 82 and len(failed) >= 5)
        time.sleep(2)  # what is printed twice is printed by now
        printed = [line.split() for line in spans]
        self.assertEqual(sorted(int(words[-2], 16) for words in printed), list(range(2, 84)))
        self.assertEqual({words[4] for words in printed if int(words[-2], 16) == 5}, {"ERROR"})
        found = [json.loads(line) for line in failed]
        self.assertEqual(sorted(int(one["trace_id"], 16) for one in found), [7, 17, 27, 37, 47])
        self.end(service)

    def test_traceql_and_bad_queries_are_refused(self):
        self.cairn("store", "init", "-q", self.path)
        for query, message in (("{}", "TraceQL is about whole traces"), ('a ~ "("', "query, column 5")):
            done = subprocess.run([OPTIONS.cairn, "store", "tail", self.path, query], text=True, capture_output=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)


RULES = """\
# what must not be stored
salt pepper
drop  dropped
drop password
hash  user.id
hash  host.name
mask  * SECRET[0-9]+
mask  c?rd [0-9]{13,16}
"""


class Redaction(Store):
    def secrets(self):
        """The files of the store that contain a secret, as they are or in a compressed chunk."""
        found = []
        for path in pathlib.Path(self.path).rglob("*"):
            if not path.is_file():
                continue
            data = path.read_bytes()
            plain = [data]
            for at in range(len(data) if path.name == "traces.dat" else 0):
                try:
                    plain.append(zlib.decompressobj(-15).decompress(data[at:]))
                except zlib.error:
                    pass
            if any(SECRET.search(one) for one in plain):
                found.append(path.name)
        return found

    def spans(self, number):
        deep = {"kvlistValue": {"values": [text("password", "SECRET1"), text("name", "fine")]}}
        return span(
            number, name="GET /SECRET2", traceState="a=SECRET3", status={"code": 2, "message": "no SECRET4"},
            attributes=[text("user.id", "SECRET5"), text("dropped", "SECRET6"), text("good", "visible"),
                        text("card", "4111111111111111, 4111111111111112"),
                        {"key": "map", "value": {"kvlistValue": {"values": [{"key": "in", "value": deep}]}}},
                        {"key": "list", "value": {"arrayValue": {"values": [{"stringValue": "SECRET7"}]}}},
                        {"key": "cord", "value": {"intValue": "4111111111111113"}},
                        {"key": "bytes", "value": {"bytesValue": "U0VDUkVUOA=="}}],
            events=[{"timeUnixNano": "1", "name": "SECRET9", "attributes": [
                text("exception.type", "E"), text("exception.message", "SECRET10"),
                text("exception.stacktrace", "E: SECRET10\n\tat a.B.c(SECRET11.java:1)\nCaused by: F: SECRET12")]}],
            links=[{"traceId": "1" * 32, "spanId": "1" * 16, "traceState": "b=SECRET13",
                    "attributes": [text("dropped", "SECRET14")]}])

    def check(self):
        self.assertEqual(self.secrets(), [])
        self.cairn("store", "seal", "-q", self.path)
        self.assertEqual(self.secrets(), [])
        shown = json.loads(self.cairn("store", "show", "--format", "otlp-json", self.path, f"{1:032x}"))
        one = shown["resourceSpans"][0]
        self.assertNotRegex(json.dumps(shown), SECRET.pattern.decode())
        resource = {a["key"]: a["value"] for a in one["resource"]["attributes"]}
        self.assertEqual(set(resource), {"service.name", "host.name"})
        got = one["scopeSpans"][0]["spans"][0]
        self.assertEqual((got["name"], got["traceState"], got["status"]["message"]),
                         ("GET /***", "a=***", "no ***"))
        attributes = {a["key"]: a["value"] for a in got["attributes"]}
        self.assertEqual(set(attributes), {"user.id", "good", "card", "map", "list", "cord", "bytes"})
        self.assertEqual(attributes["good"], {"stringValue": "visible"})
        self.assertEqual(attributes["card"], {"stringValue": "***, ***"})
        self.assertEqual(attributes["cord"], {"stringValue": "***"})
        self.assertRegex(attributes["user.id"]["stringValue"], "^[0-9a-f]{32}$")
        self.assertEqual([a["key"] for a in got["links"][0]["attributes"]], [])
        # What is left can be found.
        self.assertEqual(self.cairn("store", "search", "--count", self.path, "good = visible"), "2\n")
        user = attributes["user.id"]["stringValue"]
        self.assertEqual(self.cairn("store", "search", "--count", self.path, f"user.id = {user}"), "2\n")

    def more(self):
        return {"resource": (text("service.name", "shop"), text("host.name", "SECRET15"), text("dropped", "SECRET16")),
                "scope": (text("dropped", "SECRET17"),)}

    def test_a_collector_leaves_out_what_rules_name(self):
        rules = os.path.join(self.folder.name, "rules")
        pathlib.Path(rules).write_text(RULES)
        service = self.serve("--redact-file", rules)
        for number in (1, 2):
            self.send(service, self.spans(number), **self.more())
        self.assertGreater(self.metric(service, "cairn_collector_redacted_total"), 30)
        self.end(service)
        self.check()

    def test_the_search_for_secrets_finds_them(self):
        service = self.serve()
        self.send(service, self.spans(1), **self.more())
        self.end(service)
        self.cairn("store", "seal", "-q", self.path)
        self.assertIn("text.dat", self.secrets())

    def test_store_add_does_the_same(self):
        files = []
        for number in (1, 2):
            files.append(os.path.join(self.folder.name, f"{number}.json"))
            pathlib.Path(files[-1]).write_text(otlp(self.spans(number), **self.more()))
        rules = [word for line in RULES.splitlines()[1:] for word in ("--redact", line)]
        out = subprocess.run([OPTIONS.cairn, "store", "add", "--create", *rules, self.path, *files],
                             text=True, capture_output=True, check=True).stderr
        self.assertRegex(out, r"2 traces added \(2 calls\), \d+ values redacted")
        self.check()

    def test_a_file_of_rules_names_the_line(self):
        rules = os.path.join(self.folder.name, "rules")
        pathlib.Path(rules).write_text("drop a\nhash b [0-9]\n")
        done = subprocess.run([OPTIONS.cairn, "serve", "--collect", self.path, "--redact-file", rules], text=True,
                              capture_output=True)
        self.assertIn("line 2: only mask has a pattern", done.stderr)
        self.assertFalse(os.path.exists(self.path))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
