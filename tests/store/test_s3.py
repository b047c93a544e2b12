#!/usr/bin/env python3
"""Stores in object storage: the same answers as a store in a directory, with few requests and through faults.

Usage: test_s3.py --cairn PROGRAM
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import object_storage

SEGMENTS = 4


def otlp(first, count):
    """Traces of two services; each has an attribute that no other has."""
    def span(number, index, parent, name):
        begin = 1_700_000_000_000_000_000 + number * 10_000_000 + index * 1_000_000
        return {"traceId": f"{number + 1:032x}", "spanId": f"{number * 2 + index + 1:016x}",
                "parentSpanId": parent, "name": name, "kind": 2, "startTimeUnixNano": str(begin),
                "endTimeUnixNano": str(begin + 5_000_000 - index * 2_000_000),
                "status": {"code": 2 if number % 7 == 0 else 0},
                "attributes": [{"key": "order", "value": {"stringValue": f"order-{number}"}},
                               {"key": "http.method", "value": {"stringValue": ("GET", "PUT")[number % 2]}}]}
    return {"resourceSpans": [
        {"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]},
         "scopeSpans": [{"spans": [span(number, index, f"{number * 2 + 1:016x}" if index else "", name)
                                   for number in range(first, first + count)]}]}
        for index, (service, name) in enumerate((("shop", "checkout"), ("pay", "charge")))]}


class Store(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.gateway = cls.enterClassContext(object_storage.Gateway(cls.folder / "ceph"))
        cls.address, cls.local = "s3://traces/of/tests", str(cls.folder / "local")
        for number in range(SEGMENTS):
            path = cls.folder / f"{number}.json"
            path.write_text(json.dumps(otlp(number * 50, 50)), encoding="utf-8")
            cls.cairn_ok("store", "add", "-q", "--create", cls.address, path)
            cls.cairn_ok("store", "add", "-q", "--create", cls.local, path)
            cls.cairn_ok("store", "seal", "-q", cls.local)

    @classmethod
    def cairn(cls, *arguments, port=None, cache="cache", **more):
        return subprocess.run([OPTIONS.cairn, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                              env=object_storage.environment(port or cls.gateway.port, cls.folder / cache, **more))

    @classmethod
    def cairn_ok(cls, *arguments, **more):
        result = cls.cairn(*arguments, **more)
        if result.returncode != 0:
            raise AssertionError(f"{arguments}: {result.returncode} {result.stderr}")
        return result.stdout

    def test_answers_are_those_of_a_directory(self):
        for question in (("store", "search", "{}"), ("store", "search", "{}", "--count"),
                         ("store", "search", "{}", "order = order-77"), ("store", "search", "{}", "-c", "errors"),
                         ("store", "search", "{}", "http.method != GET", "-n", "7", "--sort=duration"),
                         ("store", "search", "{}", "service = pay", "--group-by", "operation"),
                         ("store", "search", "{}", "order-12", "--format=json"),
                         ("store", "show", "{}", f"{78:032x}"), ("store", "services", "{}"),
                         ("store", "search", "{}", "until 2023-11-14T22:13:21", "--reverse"), ("report", "{}")):
            here = self.cairn_ok(*(part.format(self.local) for part in question))
            there = self.cairn_ok(*(part.format(self.address) for part in question))
            self.assertEqual(here, there, question)
            self.assertTrue(here.strip(), question)

    def test_databases_are_those_of_a_directory(self):
        for store, name in ((self.local, "here"), (self.address, "there")):
            self.cairn_ok("analyze", "-q", store, "--query", "service = pay", "--title=same", "-o", self.folder / f"{name}.db")
        views = [self.cairn_ok("tree", self.folder / f"{name}.db") for name in ("here", "there")]
        self.assertEqual(*views)

    def test_a_rare_value_takes_requests_of_one_segment(self):
        with object_storage.Proxy(self.gateway.port) as proxy:
            found = self.cairn_ok("store", "search", "--spans", self.address, "order = order-130", port=proxy.port, cache="rare")
            self.assertIn("checkout", found)
            fetched = {path.split("/")[5] for _, path in proxy.seen if "/segments/" in path}
            self.assertEqual(len(fetched), 1, proxy.seen)
            proxy.seen.clear()
            self.cairn_ok("store", "search", "--spans", self.address, "order = order-130", port=proxy.port, cache="rare")
            self.assertEqual([path for _, path in proxy.seen if "/segments/" in path], [], "not cached")
            proxy.seen.clear()
            self.assertEqual(self.cairn_ok("store", "search", "-c", self.address, "order = none", port=proxy.port, cache="rare"), "0\n")
            self.assertEqual([path for _, path in proxy.seen if "/segments/" in path], [])

    def test_faults_that_pass_are_survived(self):
        expected = self.cairn_ok("store", "search", self.local, "errors")
        spoilers = {
            "status": lambda path, times: (403, 429, 500, 503)[len(path) % 4] if times == 0 else None,
            "retry-after": lambda path, times: (503, {"Retry-After": "1"}) if "config" in path and times == 0 else None,
            "cut": lambda path, times: "cut" if times == 0 else None,
            "hang": lambda path, times: "hang" if "traces.dat" in path and times == 0 else None,
        }
        for name, spoil in spoilers.items():
            with object_storage.Proxy(self.gateway.port) as proxy:
                proxy.spoil = spoil
                self.assertEqual(self.cairn_ok("store", "search", self.address + "?timeout=1", "errors", port=proxy.port, cache=name),
                                 expected, name)

    def test_damage_of_the_cache_is_fetched_again(self):
        ask = ("store", "search", self.address, "errors")
        expected = self.cairn_ok(*ask, cache="damaged")
        for path in (self.folder / "damaged").rglob("*"):
            if path.is_file():
                content = bytearray(path.read_bytes())
                for at in range(len(content) // 2, len(content), 7):
                    content[at] ^= 0x55
                path.write_bytes(content)
        self.assertEqual(self.cairn_ok(*ask, cache="damaged"), expected)

    def test_refusals_are_explained_without_the_secret(self):
        secret = "another0123456789secret0123456789another"
        result = self.cairn("store", "stats", self.address, AWS_SECRET_ACCESS_KEY=secret)
        self.assertEqual(result.returncode, 1)
        self.assertIn("403 SignatureDoesNotMatch", result.stderr)
        self.assertNotIn(secret, result.stderr)
        self.assertIn("is not a store; 'cairn store init' creates one", self.cairn("store", "stats", "s3://traces/other").stderr)
        self.assertIn("no credentials", self.cairn("store", "stats", self.address, AWS_ACCESS_KEY_ID="").stderr)
        self.assertEqual(self.cairn("store", "init", self.address).returncode, 2)

    def test_credentials_come_from_a_file(self):
        path = self.folder / "credentials"
        path.write_text(f"[other]\naws_access_key_id = x\n[cairn]\naws_access_key_id = {object_storage.KEY}\n"
                        f"aws_secret_access_key = {object_storage.SECRET}\nendpoint_url = http://127.0.0.1:{self.gateway.port}\n",
                        encoding="utf-8")
        address = f"{self.address}?credentials={path}&profile=cairn"
        self.assertIn("all", self.cairn_ok("store", "stats", address, AWS_ACCESS_KEY_ID="", AWS_ENDPOINT_URL=""))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    OPTIONS, rest = parser.parse_known_args()
    if not object_storage.is_installed():
        print("skipped: the packages ceph-mon, ceph-osd, radosgw and ceph-common are not installed")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *rest])
