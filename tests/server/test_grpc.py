#!/usr/bin/env python3
"""OTLP over gRPC: what it answers, over frames that are written here byte by byte, with TLS, and with a client that others
wrote (@grpc/grpc-js).

Usage: test_grpc.py --cairn PROGRAM
"""
import argparse
import gzip
import http.client
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import unittest

from http2 import DATA, END_STREAM, EXPORT, NO_ERROR, PING, Closed, Connection, field, frame, head, message, otlp
from service import Service, serving

HERE = pathlib.Path(__file__).resolve().parent
WEB = HERE.parents[1] / "web"
TLS = HERE / "tls"
TOKEN = "collect-0123456789"
HEALTH = "/grpc.health.v1.Health/Check"
OK, INVALID_ARGUMENT, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED = 0, 3, 4, 8
PERMISSION_DENIED, UNIMPLEMENTED, INTERNAL, UNAUTHENTICATED = 7, 12, 13, 16
RETRY_INFO = field(3, field(1, "type.googleapis.com/google.rpc.RetryInfo") + field(2, field(1, b"\x08\x01")))
PORTS = ("--otlp-listen", "127.0.0.1:0,0")


def count(store, *query):
    """The spans in a store."""
    return int(subprocess.check_output([OPTIONS.cairn, "store", "search", "--count", "--spans", store, *query], text=True))


def zstd(data):
    return subprocess.run(["zstd", "-qc"], input=data, check=True, capture_output=True).stdout


class Calls(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.store = os.path.join(self.folder.name, "store")

    def tearDown(self):
        self.folder.cleanup()

    def serving(self, *arguments):
        return serving(OPTIONS.cairn, "--collect", self.store, *PORTS, *arguments)

    def token(self):
        path = pathlib.Path(self.folder.name) / "token"
        path.write_text(TOKEN + "\n", encoding="utf-8")
        return "--collect-token-file", str(path)

    def connect(self, service, context=None):
        at = service.otlp["gRPC"]
        return Connection(at.hostname, at.port, context)

    def test_spans_are_on_disk_when_they_are_acknowledged(self):
        with self.serving() as service, self.connect(service) as peer:
            for i, (data, more) in enumerate((
                    (message(otlp(1, 3)), {}), (message(gzip.compress(otlp(2, 3)), 1), {"grpc_encoding": "gzip"}),
                    (message(zstd(otlp(3, 3)), 1), {"grpc_encoding": "zstd"}),
                    # The encoding is that of compressed messages alone; the content type may name the format.
                    (message(otlp(4, 3)), {"grpc_encoding": "gzip", "kind": "application/grpc+proto"}))):
                answer = peer.call(EXPORT, data, **more)
                self.assertEqual((answer.status, answer.code, answer.data), ("200", OK, message(b"")), answer)
                self.assertEqual(answer.fields["content-type"], "application/grpc")
                self.assertEqual(count(self.store), 3 * i + 3)
            # A span without ids is not stored, and the answer says it.
            answer = peer.call(EXPORT, message(otlp(1, 3) + field(1, field(2, field(2, field(5, "nobody"))))))
            why = "1 span has no trace id or no span id"
            self.assertEqual((answer.code, answer.data), (OK, message(field(1, b"\x08\x01" + field(2, why)))))
            # Sent again, as a client does that has lost the answer.
            self.assertEqual(peer.call(EXPORT, message(otlp(1, 3))).code, OK)
            self.assertEqual(peer.call(EXPORT, message(b"")).code, OK)
            self.assertEqual(count(self.store), 12)
            metrics = service.ask("/metrics")[2].decode()
            self.assertIn("\ncairn_grpc_calls_total 7\n", metrics)
            self.assertIn("\ncairn_grpc_failed_total 0\n", metrics)
            self.assertIn("\ncairn_grpc_connections 1\n", metrics)
        self.assertEqual(count(self.store, "service = shop"), 12)

    def test_http_has_a_port_of_its_own(self):
        spans = {"resourceSpans": [{"scopeSpans": [{"spans": [
            {"traceId": "0a" * 16, "spanId": "0b" * 8, "name": "pay", "startTimeUnixNano": "1700000000000000000",
             "endTimeUnixNano": "1700000000000900000"}]}]}]}
        with self.serving() as service:
            at = service.otlp["HTTP"]

            def ask(method, path, body=None, **fields):
                connection = http.client.HTTPConnection(at.hostname, at.port, timeout=60)
                connection.request(method, path, body, {name.replace("_", "-"): value for name, value in fields.items()})
                answer = connection.getresponse()
                body = answer.read()
                connection.close()
                return answer.status, answer.getheader("Content-Type"), body

            for body, kind, encoding, expected in (
                    (json.dumps(spans).encode(), "application/json", "identity", b"{}"),
                    (gzip.compress(otlp(1, 2)), "application/x-protobuf", "gzip", b""),
                    (zstd(otlp(2, 2)), "application/x-protobuf", "zstd", b""),
                    (b"", "application/x-protobuf", "identity", b"")):
                self.assertEqual(ask("POST", "/v1/traces", body, Content_Type=kind, Content_Encoding=encoding),
                                 (200, kind, expected))
            self.assertEqual(count(self.store), 5)
            # What fails is a google.rpc.Status in the encoding of the request.
            status, kind, body = ask("POST", "/v1/traces", b"{", Content_Type="application/json")
            self.assertEqual((status, kind, json.loads(body)["code"]), (400, "application/json", INVALID_ARGUMENT))
            status, kind, body = ask("POST", "/v1/traces", b"\x0a\x05", Content_Type="application/x-protobuf")
            self.assertEqual((status, kind, body[:2]), (400, "application/x-protobuf", b"\x08\x03"))
            status, kind, body = ask("POST", "/v1/traces", b"", Content_Type="application/json", Host="example.com")
            self.assertEqual((status, json.loads(body)["code"]), (421, INVALID_ARGUMENT))
            self.assertEqual(ask("GET", "/healthz")[0], 200)
            for path in ("/", "/api/v1/sources", "/metrics", f"/?token={service.token}"):
                self.assertEqual(ask("GET", path, Authorization=f"Bearer {service.token}")[0], 404, path)
            # And the page takes OTLP as before.
            self.assertEqual(service.ask("/v1/traces", method="POST", body=otlp(3), headers={
                "Host": "127.0.0.1", "Content-Type": "application/x-protobuf"})[0], 200)

    def test_errors_have_a_status(self):
        with self.serving() as service, self.connect(service) as peer:
            for code, text, path, data, more in (
                    (UNIMPLEMENTED, "there is no method /x.Y/Z", "/x.Y/Z", message(b""), {}),
                    (UNIMPLEMENTED, "cairn collects traces",
                     "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export", message(b""), {}),
                    (UNIMPLEMENTED, "no method", "/grpc.health.v1.Health/Watch", message(b""), {}),
                    (UNIMPLEMENTED, "expected gzip or zstd", EXPORT, message(b"x", 1), {"grpc_encoding": "snappy"}),
                    (UNIMPLEMENTED, "content-type", EXPORT, message(b"{}"), {"kind": "application/grpc+json"}),
                    (INTERNAL, "no grpc-encoding", EXPORT, message(b"x", 1), {}),
                    (INTERNAL, "neither gzip nor zstd", EXPORT, message(otlp(1), 1), {"grpc_encoding": "gzip"}),
                    (INTERNAL, "begins with 2", EXPORT, message(otlp(1), 2), {}),
                    (INTERNAL, "no message", EXPORT, b"", {}),
                    (INTERNAL, "in the prefix", EXPORT, b"\0\0", {}),
                    (INTERNAL, "after 2 of 9 bytes", EXPORT, b"\0\0\0\0\x09ab", {}),
                    (INTERNAL, "bytes follow", EXPORT, message(otlp(1)) * 2, {}),
                    (INVALID_ARGUMENT, "is cut off", EXPORT, message(b"\x0a\x05ab"), {}),
                    (INVALID_ARGUMENT, "grpc-timeout", EXPORT, message(otlp(1)), {"grpc_timeout": "1"}),
                    (PERMISSION_DENIED, "web page", EXPORT, message(otlp(1)), {"origin": "http://example.com"}),
                    (RESOURCE_EXHAUSTED, "at most 16777216 are allowed", EXPORT, struct.pack(">BI", 0, (16 << 20) + 1), {})):
                answer = peer.call(path, data, **more)
                self.assertEqual((answer.status, answer.code), ("200", code), (text, answer))
                self.assertIn(text, answer.text)
                self.assertTrue(answer.details.startswith(b"\x08" + bytes((code,))), answer)
                self.assertNotIn(RETRY_INFO, answer.details)
                self.assertEqual(answer.fields["grpc-accept-encoding"], "identity,gzip,zstd")
            for status, more in (("415", {"kind": "application/json"}), ("415", {"kind": None}), ("405", {"method": "GET"}),
                                 ("431", {"x": "y" * 16000, "z": "y" * 1000})):
                answer = peer.call(EXPORT, message(otlp(1)), **more)
                self.assertEqual((answer.status, answer.code), (status, None))
            self.assertEqual(peer.call(HEALTH, message(b"")).data, message(b"\x08\x01"))
            self.assertEqual(peer.call(EXPORT, message(otlp(1))).code, OK)
        self.assertEqual(count(self.store), 1)

    def test_an_answer_before_the_end_of_the_message_asks_for_no_more(self):
        with self.serving() as service, self.connect(service) as peer:
            stream = peer.start(head("/x.Y/Z"), b"\0", ends=False)
            answer = peer.wait(stream)
            self.assertEqual(answer.code, UNIMPLEMENTED)
            peer.receive()
            self.assertEqual(peer.answers[stream]["reset"], NO_ERROR)
            peer.send(frame(DATA, END_STREAM, stream, b"late"))
            # As much as the window allows of messages that are refused.
            for _ in range(3):
                peer.start(head("/x.Y/Z"), message(bytes(900000)))
            self.assertEqual(peer.call(EXPORT, message(otlp(1))).code, OK)

    def test_tokens(self):
        with self.serving(*self.token()) as service, self.connect(service) as peer:
            for value in (None, "", "Bearer", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}",
                          f"Bearer {service.token}"):
                for path in (EXPORT, "/x.Y/Z"):
                    answer = peer.call(path, message(otlp(1)), **({} if value is None else {"authorization": value}))
                    self.assertEqual(answer.code, UNAUTHENTICATED, (value, answer))
            for value in (f"Bearer {TOKEN}", f"bearer {TOKEN}"):
                self.assertEqual(peer.call(EXPORT, message(otlp(1)), authorization=value).code, OK)
            # A page cannot know the token.
            self.assertEqual(peer.call(EXPORT, message(otlp(2)), authorization=value, origin="http://a.b").code, OK)
        self.assertEqual(count(self.store), 2)

    def test_deadlines(self):
        with self.serving() as service, self.connect(service) as peer:
            for timeout in ("0n", "50m", "50000u"):
                stream = peer.start(head(grpc_timeout=timeout), message(otlp(1))[:9], ends=False)
                answer = peer.wait(stream)
                self.assertEqual((answer.code, answer.text),
                                 (DEADLINE_EXCEEDED, "the deadline passed before the message was there"))
            for timeout in ("99999999H", "60S", "1M"):
                self.assertEqual(peer.call(EXPORT, message(otlp(2)), grpc_timeout=timeout).code, OK)
        self.assertEqual(count(self.store), 1)

    def test_pings_and_settings(self):
        with self.serving() as service, self.connect(service) as peer:
            peer.send(frame(PING, 0, 0, b"are you?"))
            while not peer.pings:
                peer.receive()
            self.assertEqual(peer.pings, [b"are you?"])
            self.assertEqual(peer.settings, {3: 100, 4: 1 << 20, 6: 16 << 10})
            # As clients that measure the delay at each answer.
            for n in range(150):
                peer.send(frame(PING, 0, 0, b"12345678") * 15)
                self.assertEqual(peer.call(EXPORT, message(otlp(n))).code, OK)
            self.assertIsNone(peer.goaway)

    def test_large_messages(self):
        with self.serving() as service, self.connect(service) as peer:
            self.assertEqual(peer.call(EXPORT, message(otlp(1, 9, value="v" * (1 << 20)))).code, OK)
        self.assertEqual(count(self.store), 9)

    def test_back_pressure_says_when_to_come_back(self):
        with self.serving("--collect-limit", "1") as service, self.connect(service) as peer:
            waiting, refused = list(range(200)), 0
            for _ in range(1000):
                streams = {peer.start(head(), message(otlp(n))): n for n in waiting[:50]}
                for stream, n in streams.items():
                    answer = peer.wait(stream)
                    self.assertIn(answer.code, (OK, RESOURCE_EXHAUSTED), answer)
                    if answer.code == OK:
                        waiting.remove(n)
                    else:
                        refused += 1
                        self.assertIn(RETRY_INFO, answer.details)
                if not waiting:
                    break
            self.assertEqual(waiting, [])
            self.assertGreater(refused, 0)
        self.assertEqual(count(self.store), 200)

    def test_a_store_that_cannot_be_written_is_unavailable(self):
        service = Service(OPTIONS.cairn, "--collect", self.store, *PORTS)
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (30000, 30000))
        with self.connect(service) as peer:
            codes = set()
            for n in range(200):
                answer = peer.call(EXPORT, message(otlp(n, 40, service=os.urandom(400).hex())))
                codes.add(answer.code)
                if answer.code != OK:
                    self.assertIn(RETRY_INFO, answer.details)
                    break
            self.assertEqual(codes, {OK, 14})
        service.process.kill()
        service.process.communicate()

    def test_the_end_of_the_server_answers_and_says_goodbye(self):
        service = Service(OPTIONS.cairn, "--collect", self.store, *PORTS)
        with self.connect(service) as peer, self.connect(service) as idle:
            self.assertEqual(peer.call(EXPORT, message(otlp(1))).code, OK)
            half = peer.start(head(), message(otlp(2))[:20], ends=False)
            whole = [peer.start(head(), message(otlp(n))) for n in range(3, 23)]
            peer.send(frame(PING, 0, 0, b"12345678"))
            while not peer.pings: # everything above has arrived
                peer.receive()
            service.process.send_signal(signal.SIGTERM)
            codes = [peer.wait(stream).code for stream in whole]
            self.assertEqual(codes, [OK] * 20)
            self.assertEqual(peer.wait(half).code, 14)
            self.assertEqual(peer.until_closed(), (NO_ERROR, ""))
            self.assertEqual(idle.until_closed(), (NO_ERROR, ""))
            self.assertEqual(service.end()[0], 0)
        self.assertEqual(count(self.store), 21)

    def test_options(self):
        def fails(*arguments):
            run = subprocess.run([OPTIONS.cairn, "serve", "-q", *arguments], check=False, capture_output=True, text=True,
                                 timeout=60)
            self.assertNotEqual(run.returncode, 0, arguments)
            return run.stderr

        collect = ("--collect", self.store)
        self.assertIn("--otlp needs --collect", fails("--otlp", str(HERE / "tls")))
        for wrong in ("127.0.0.1:1", "localhost", "127.0.0.1:0,x", "127.0.0.1:0,70000", ":0,0", "127.0.0.1:,", ""):
            self.assertIn("--otlp-listen", fails(*collect, "--otlp-listen", wrong), wrong)
        self.assertIn("--collect-token-file", fails(*collect, "--otlp-listen", "0.0.0.0:0,0"))
        self.assertIn("need each other", fails(*collect, *PORTS, "--tls-cert", str(TLS / "server.pem")))
        self.assertIn("--tls-client-ca needs", fails(*collect, *PORTS, "--tls-client-ca", str(TLS / "ca.pem")))
        keys = ("--tls-cert", str(TLS / "server.pem"), "--tls-key", str(TLS / "server.key"))
        self.assertIn("--tls-key", fails(*collect, *PORTS, *keys[:3], str(TLS / "client.pem")))
        self.assertIn("--tls-client-ca", fails(*collect, *PORTS, *keys, "--tls-client-ca", str(TLS / "server.key")))
        with self.serving() as service:
            port = service.otlp["gRPC"].port
            self.assertIn("it is in use", fails(*collect, "--otlp-listen", f"127.0.0.1:{port},0"))
            # The page at the port of OTLP over HTTP is one listener.
        with serving(OPTIONS.cairn, *collect, "--listen", f"127.0.0.1:{port}", "--otlp-listen", f"127.0.0.1:0,{port}") as service:
            self.assertEqual(service.otlp["HTTP"].port, service.port)

    def test_sockets_of_systemd(self):
        with serving(OPTIONS.cairn, "--collect", self.store) as service:
            self.assertEqual(service.otlp, {})
        with socket.create_server(("127.0.0.1", 0)) as page, socket.create_server(("127.0.0.1", 0)) as grpc:
            start = ('LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=cairn-collector.socket:grpc exec "$@" '
                     f"3<&{page.fileno()} 4<&{grpc.fileno()}")
            service = Service(OPTIONS.cairn, "--collect", self.store, through=("sh", "-c", start, "sh"),
                              pass_fds=(page.fileno(), grpc.fileno()))
            with Connection("127.0.0.1", grpc.getsockname()[1]) as peer:
                self.assertEqual(peer.call(EXPORT, message(otlp(1))).code, OK)
            self.assertEqual(service.port, page.getsockname()[1])
            self.assertEqual(service.end()[0], 0)


class Encrypted(Calls):
    """TLS and mutual TLS, for all three ports."""

    KEYS = ("--tls-cert", str(TLS / "server.pem"), "--tls-key", str(TLS / "server.key"))

    @staticmethod
    def context(client=None, protocols=("h2",)):
        context = ssl.create_default_context(cafile=str(TLS / "ca.pem"))
        context.set_alpn_protocols(list(protocols))
        if client:
            context.load_cert_chain(str(TLS / client))
        return context

    def ask(self, at, context):
        connection = http.client.HTTPSConnection(at.hostname, at.port, timeout=60, context=context)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status
        finally:
            connection.close()

    def export(self, service, context):
        with self.connect(service, context) as peer:
            return peer.call(EXPORT, message(otlp(2)))

    def is_refused(self, action):
        try:
            action()
        except (OSError, http.client.HTTPException, Closed, ssl.SSLError):
            return True
        return False

    def test_tls(self):
        service = Service(OPTIONS.cairn, "--collect", self.store, *PORTS, *self.KEYS, *self.token())
        try:
            with self.connect(service, self.context()) as peer:
                self.assertEqual(peer.socket.selected_alpn_protocol(), "h2")
                self.assertEqual(peer.call(EXPORT, message(otlp(1)), authorization=f"Bearer {TOKEN}").code, OK)
                self.assertEqual(peer.call(EXPORT, message(otlp(2))).code, UNAUTHENTICATED)
                whole = message(otlp(3, 800))
                stream = peer.start(head(authorization=f"Bearer {TOKEN}"), whole)
                self.assertEqual(peer.wait(stream).code, OK)
            for at in (service.otlp["HTTP"], service):
                at = at if at is not service else argparse.Namespace(hostname=service.host, port=service.port)
                self.assertEqual(self.ask(at, self.context(protocols=("http/1.1",))), 200)
            self.assertEqual({url.scheme for url in service.otlp.values()}, {"https"})
            # Without TLS, with a protocol that is not spoken, with versions that are too old: refused.
            self.assertTrue(self.is_refused(lambda: self.export(service, None)))
            self.assertTrue(self.is_refused(lambda: self.export(service, self.context(protocols=("http/1.1",)))))
        finally:
            self.assertEqual(service.end()[0], 0)
        self.assertEqual(count(self.store), 801)

    def test_mutual_tls(self):
        service = Service(OPTIONS.cairn, "--collect", self.store, *PORTS, *self.KEYS, "--tls-client-ca", str(TLS / "ca.pem"))
        page = argparse.Namespace(hostname=service.host, port=service.port)
        try:
            with self.connect(service, self.context("client.pem")) as peer:
                self.assertEqual(peer.call(EXPORT, message(otlp(1))).code, OK)
            for at in (service.otlp["HTTP"], page):
                self.assertEqual(self.ask(at, self.context("client.pem", ("http/1.1",))), 200)
            for client in (None, "stranger.pem"):
                context = self.context(client)
                self.assertTrue(self.is_refused(lambda c=context: self.export(service, c)))
                context = self.context(client, ("http/1.1",))
                for at in (service.otlp["HTTP"], page):
                    self.assertTrue(self.is_refused(lambda a=at, c=context: self.ask(a, c)), (client, at))
        finally:
            self.assertEqual(service.end()[0], 0)
        self.assertEqual(count(self.store), 1)


class Others(Calls):
    """The client of gRPC that people use in JavaScript."""

    def setUp(self):
        super().setUp()
        if not shutil.which("node") or not (WEB / "node_modules/@grpc/grpc-js").exists():
            self.skipTest("skipped: @grpc/grpc-js is not installed")

    def send(self, service, **what):
        run = subprocess.run(["node", str(HERE / "grpc_client.mjs"), str(WEB)], check=False, text=True, capture_output=True,
                             timeout=120, input=json.dumps({"at": service.otlp["gRPC"].netloc, **what}))
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def messages(self, numbers):
        return [otlp(n, 2).hex() for n in numbers]

    def test_grpc_js(self):
        with self.serving(*self.token()) as service:
            metadata = {"authorization": f"Bearer {TOKEN}"}
            found = self.send(service, messages=self.messages(range(100)), metadata=metadata, compression=2)
            self.assertEqual(found, [{"code": 0, "data": ""}] * 100)
            found = self.send(service, messages=self.messages([1]))[0]
            self.assertEqual((found["code"], found["text"]), (16, "the token for traces is missing or wrong"))
            found = self.send(service, messages=["0a05"], metadata=metadata)[0]
            self.assertEqual(found["code"], 3)
            self.assertIn("BadRequest", bytes.fromhex(found["details"]).decode("latin-1"))
            found = self.send(service, messages=self.messages([1]), metadata=metadata, path="/x.Y/Z")[0]
            self.assertEqual(found["code"], 12)
            found = self.send(service, messages=[17 << 20], metadata=metadata)[0]
            self.assertEqual((found["code"], "send smaller batches" in found["text"]), (8, True), found)
        self.assertEqual(count(self.store), 200)

    def test_grpc_js_with_mutual_tls(self):
        service = Service(OPTIONS.cairn, "--collect", self.store, *PORTS, *Encrypted.KEYS, "--tls-client-ca", str(TLS / "ca.pem"))
        try:
            found = self.send(service, messages=self.messages(range(3)), ca=str(TLS / "ca.pem"), client=str(TLS / "client.pem"))
            self.assertEqual(found, [{"code": 0, "data": ""}] * 3)
            found = self.send(service, messages=self.messages([9]), ca=str(TLS / "ca.pem"))[0]
            self.assertEqual(found["code"], 14)
        finally:
            self.assertEqual(service.end()[0], 0)
        self.assertEqual(count(self.store), 6)


def load_tests(loader, _, __):
    """Tests of the class above them are not run again."""
    own = lambda kind: [name for name in loader.getTestCaseNames(kind) if name in vars(kind)]
    return unittest.TestSuite(kind(name) for kind in (Calls, Encrypted, Others) for name in own(kind))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
