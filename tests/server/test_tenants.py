#!/usr/bin/env python3
"""Tenants of a collector: each sees its own traces, through every API, and has limits of its own.

Usage: test_tenants.py --cairn PROGRAM
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from http2 import Connection, head, message, otlp
from service import Service
from test_keep import otlp as otlp_json, span

A, B, GATEWAY, SENDERS = "a" * 20, "b" * 20, "gateway-token-1234", "senders-token-5678"
LONG = "x" * 300


class Tenants(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "stores")

    def tearDown(self):
        self.folder.cleanup()

    def file(self, name, text):
        path = os.path.join(self.folder.name, name)
        pathlib.Path(path).write_text(text)
        return path

    def serve(self, lines, *options):
        service = Service(OPTIONS.cairn, "--collect", self.path, "--tenants", self.file("tenants", lines),
                          "--token-file", self.file("page", GATEWAY + "\n"),
                          "--collect-token-file", self.file("send", SENDERS + "\n"),
                          "--otlp-listen", "127.0.0.1:0,0", *options, checks=False)
        self.addCleanup(self.end, service)
        return service

    def end(self, service):
        if service.process.poll() is None:
            service.process.terminate()
            _, err = service.process.communicate()
            self.assertEqual(service.process.returncode, 0, err)

    def head(self, token, tenant=None):
        return {**({"Authorization": f"Bearer {token}"} if token else {}),
                **({"X-Scope-OrgID": tenant} if tenant is not None else {})}

    def post(self, service, number, token, tenant=None, count=1):
        spans = [span(number + i) for i in range(count)]
        answer = service.ask_once("/v1/traces", {"Content-Type": "application/json", **self.head(token, tenant)},
                                  "POST", otlp_json(*spans))
        return answer[0], answer[1]

    def call(self, service, number, *metadata):
        """The code of a call of gRPC."""
        at = service.otlp["gRPC"]
        connection = Connection(at.hostname, at.port)
        answer = connection.wait(connection.start(head(**{name.replace("-", "_"): value for name, value in metadata}), message(otlp(number, 1))))
        connection.close()
        return answer.code

    def ask(self, service, path, token, tenant=None):
        status, _, body = service.ask_once(path, self.head(token, tenant))
        return status, body.decode()

    def ids(self, service, token, tenant=None):
        status, body = self.ask(service, "/tempo/api/search?limit=1000", token, tenant)
        self.assertEqual(status, 200, body)
        return {int(one["traceID"], 16) for one in json.loads(body)["traces"]}

    def wait_for(self, what):
        deadline = time.monotonic() + 120
        while not what():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.2)

    def test_each_sees_its_own_traces(self):
        service = self.serve(f"# two\nacme {A}\n\nother {B}\n")
        self.assertEqual(self.post(service, 1, A)[0], 200)
        self.assertEqual(self.post(service, 2, B)[0], 200)
        self.assertEqual(self.post(service, 3, SENDERS, "acme")[0], 200)
        self.assertEqual(self.post(service, 4, A, "acme")[0], 200)
        self.wait_for(lambda: self.ids(service, A) == {1, 3, 4} and self.ids(service, B) == {2})
        self.assertEqual(self.ids(service, B), {2})
        self.assertEqual(self.ids(service, GATEWAY, "acme"), {1, 3, 4})
        self.assertEqual(self.ids(service, GATEWAY, "other"), {2})
        for path in (f"/tempo/api/traces/{2:032x}", f"/tempo/api/v2/traces/{2:032x}", f"/jaeger/api/traces/{2:032x}",
                     f"/zipkin/api/v2/trace/{2:032x}", f"/trace/{2:032x}"):
            self.assertEqual(self.ask(service, path, A)[0], 404, path)
            self.assertIn(self.ask(service, path, B)[0], (200, 302), path)
        for path in ("/api/v1/sources", "/jaeger/api/services", "/zipkin/api/v2/services", "/tempo/api/search/tags",
                     "/api/v1/sources/0/info", "/api/v1/sources/0/traces", "/api/v1/sources/1/info"):
            mine, theirs = (self.ask(service, path, token) for token in (A, B))
            self.assertEqual((mine[0], theirs[0]), (404, 404) if "/1/" in path else (200, 200), path)
            self.assertNotIn("other", mine[1], path)
            self.assertNotIn("acme", theirs[1], path)
        self.assertEqual(self.ask(service, "/api/v1/sources/1/info", A)[0], 404)
        self.end(service)
        self.assertEqual(sorted(os.listdir(self.path)), ["acme", "other"])
        for name, expected in (("acme", "3\n"), ("other", "1\n")):
            self.assertEqual(subprocess.check_output([OPTIONS.cairn, "store", "search", "--count",
                                                      os.path.join(self.path, name)], text=True), expected)

    def test_strangers_and_wrong_names_are_refused(self):
        service = self.serve(f"acme {A}\nother {B}\n")
        for token, tenant in ((None, None), (None, "acme"), ("c" * 20, "acme"), (A, "other"), (A, "../other"),
                              (A, ""), (SENDERS, None), (SENDERS, "nobody"), (SENDERS, "../acme"),
                              (SENDERS, "acme/"), (SENDERS, LONG), (GATEWAY, "acme"), (A[:-1], None), (LONG, None)):
            self.assertEqual(self.post(service, 1, token, tenant)[0], 401, (token, tenant))
        for token, tenant in ((None, "acme"), (A, "other"), (GATEWAY, None), (GATEWAY, "nobody"), (SENDERS, "acme"),
                              (GATEWAY, "../acme")):
            for path in ("/api/v1/sources", "/tempo/api/search", "/jaeger/api/services", f"/trace/{1:032x}?again=1"):
                self.assertEqual(self.ask(service, path, token, tenant)[0], 401, (path, token, tenant))
        self.assertEqual(os.listdir(self.path + "/acme"), os.listdir(self.path + "/other"))

    def test_grpc_belongs_to_tenants_as_well(self):
        service = self.serve(f"acme {A}\nother {B}\n")
        self.assertEqual(self.call(service, 1, ("authorization", f"Bearer {A}")), 0)
        self.assertEqual(self.call(service, 2, ("x-scope-orgid", "other"), ("authorization", f"Bearer {SENDERS}")), 0)
        for metadata in ((), (("authorization", "Bearer " + "c" * 20),), (("x-scope-orgid", "acme"),),
                         (("authorization", f"Bearer {A}"), ("x-scope-orgid", "other")),
                         (("authorization", f"Bearer {SENDERS}"), ("x-scope-orgid", LONG)),
                         (("authorization", f"Bearer {SENDERS}"),), (("authorization", f"Bearer {LONG}"),)):
            self.assertEqual(self.call(service, 3, *metadata), 16, metadata)
        time.sleep(1)
        self.assertEqual(len(self.ids(service, A)), 1)
        self.assertEqual(len(self.ids(service, B)), 1)
        self.assertFalse(self.ids(service, A) & self.ids(service, B))

    def test_the_page_has_the_token_of_its_tenant(self):
        service = self.serve(f"acme {A}\nother {B}\n")
        status, headers, _ = service.ask_once(f"/?token={A}", {})
        self.assertEqual(status, 302)
        cookie = headers["Set-Cookie"].split(";")[0]
        status, _, body = service.ask_once("/api/v1/sources", {"Cookie": cookie})
        self.assertEqual(status, 200)
        self.assertIn("acme", body.decode())
        self.assertNotIn("other", body.decode())

    def test_a_rate_puts_off_one_tenant_alone(self):
        service = self.serve(f"acme {A} rate=50\nother {B}\n")
        statuses = [self.post(service, 1000 * i + 1, A, count=40)[0] for i in range(6)]
        self.assertEqual(statuses[0], 200)
        self.assertIn(429, statuses)
        refused, headers = next(answer for answer in (self.post(service, 10 ** 6 + i * 50, A, count=40)
                                                      for i in range(50)) if answer[0] == 429)
        self.assertEqual(headers.get("Retry-After"), "1")
        self.assertEqual(self.call(service, 77, ("authorization", f"Bearer {A}")), 8)
        for i in range(6):
            self.assertEqual(self.post(service, 1000 * i + 1, B, count=40)[0], 200)
        deadline = time.monotonic() + 120
        while self.post(service, 9 * 10 ** 6, A)[0] != 200:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.2)

    def test_each_has_limits_of_its_own(self):
        service = self.serve(f"acme {A} keep=1s\nother {B} keep=1h keep-size=1G keep-count=1000000\n",
                             "--keep-every", "0.2s")
        self.assertEqual((self.post(service, 1, A)[0], self.post(service, 2, B)[0]), (200, 200))
        self.wait_for(lambda: self.ids(service, B) == {2})
        self.wait_for(lambda: "cairn_retention_segments_total 1\n" in self.ask(service, "/metrics", A)[1])
        self.wait_for(lambda: not self.ids(service, A))
        self.assertEqual(self.ids(service, B), {2})

    def test_metrics_are_of_the_tenant_or_of_the_server(self):
        service = self.serve(f"acme {A}\nother {B}\n")
        for number in (1, 2, 3):
            self.assertEqual(self.post(service, number, A)[0], 200)
        self.assertEqual(self.post(service, 4, B)[0], 200)
        self.wait_for(lambda: "traces_spanmetrics_calls_total{" in self.ask(service, "/metrics", A)[1])
        mine, all_of_them = self.ask(service, "/metrics", A)[1], self.ask(service, "/metrics", GATEWAY)[1]
        self.assertIn("\ncairn_collector_records_total 3\n", mine)
        self.assertNotIn("cairn_requests_total", mine)
        self.assertIn("\ncairn_collector_records_total 4\n", all_of_them)
        self.assertIn("\ncairn_sources 2\n", all_of_them)
        self.assertNotIn("traces_spanmetrics_calls_total{", all_of_them)
        self.assertIn('traces_spanmetrics_calls_total{service="shop"', mine)

    def test_a_wrong_file_names_the_line(self):
        for lines, reason in ((f"../up {A}\n", "line 1: a tenant is named"), (f".hidden {A}\n", "line 1: a tenant is named"),
                              (f"a/b {A}\n", "a tenant is named"), (f"{LONG} {A}\n", "a tenant is named"),
                              (f"acme {A}\nacme {B}\n", "line 2: tenant acme is there twice"),
                              (f"acme {A}\nother {A}\n", "line 2: tenants acme and other have the same token"),
                              ("acme\n", "tenant acme has no token"), ("acme short\n", "the token has 5 characters"),
                              (f"acme {A} keep=soon\n", "line 1: "), (f"acme {A} rate=-5\n", "not a positive number"),
                              (f"acme {A} speed=5\n", "'speed=5' is not a limit"), ("# none\n", "it names no tenant"),
                              ("y" * 2000, "the line is too long")):
            done = subprocess.run([OPTIONS.cairn, "serve", "--collect", self.path, "--tenants",
                                   self.file("tenants", lines)], text=True, capture_output=True)
            self.assertIn(reason, done.stderr)
            self.assertNotEqual(done.returncode, 0)
            self.assertFalse(os.path.exists(self.path), lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
