#!/usr/bin/env python3
"""Attacks on the collector: it answers them, its memory is bounded, and it serves all others.

Usage: test_collect_attacks.py --cairn PROGRAM
"""
import argparse
import gzip
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import seeds
from agent import HOSTILE, SYMBOLS, number, text, trace
from service import Service

TOKEN = "collect-0123456789"
MIB = 1 << 20


class Attacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.store = os.path.join(cls.folder.name, "store")
        token = pathlib.Path(cls.folder.name) / "token"
        token.write_text(TOKEN + "\n", encoding="utf-8")
        cls.service = Service(OPTIONS.cairn, "--collect", cls.store, "--collect-token-file", str(token))

    @classmethod
    def tearDownClass(cls):
        status, talk = cls.service.end()
        if status != 0 or "ERROR" in talk:
            raise AssertionError(f"cairn serve ended with {status}: {talk}")
        subprocess.check_call([OPTIONS.cairn, "store", "verify", "-q", cls.store])
        cls.folder.cleanup()

    def tearDown(self):
        """After every attack, others are served."""
        self.assertEqual(self.post("/agent/submit/agd", SYMBOLS)[0], 202)

    def post(self, path, body, **more):
        fields = {"Host": "127.0.0.1", "X-Zorka-Session-Id": "honest",
                  "Authorization": f"Bearer {TOKEN}", **more}
        status, fields, answer = self.service.ask(
            path, method="POST", body=body,
            headers={name: value for name, value in fields.items() if value is not None})
        self.assertNotIn("", fields.values(), "agents stumble over headers without a value")
        return status, answer

    def head(self, *lines):
        return "\r\n".join(("POST /agent/submit/trc HTTP/1.1", "Host: 127.0.0.1",
                            f"Authorization: Bearer {TOKEN}", *lines, "", "")).encode()

    def raw(self, *parts):
        with socket.create_connection((self.service.host, self.service.port), 10) as peer:
            try:
                for part in parts:
                    peer.sendall(part)
                return peer.recv(65536)
            except (TimeoutError, ConnectionError):
                return b""

    def memory(self):
        status = pathlib.Path(f"/proc/{self.service.process.pid}/status").read_text(encoding="utf-8")
        return int(status.split("VmRSS:")[1].split()[0]) << 10

    def test_tokens(self):
        for token in (None, "", "Bearer", "Bearer ", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x",
                      f"Basic {TOKEN}", f"Bearer {self.service.token}"):
            self.assertEqual(self.post("/agent/submit/agd", SYMBOLS, Authorization=token)[0], 401, token)
        # And the token for traces opens nothing else.
        self.assertEqual(self.service.ask("/api/v1/sources", headers={
            "Host": "127.0.0.1", "Authorization": f"Bearer {TOKEN}"})[0], 401)

    def test_other_hosts(self):
        for host in ("example.com", "127.0.0.1.example.com", "127.0.0.1:1", "localhost@example.com", ""):
            self.assertIn(self.post("/agent/submit/agd", SYMBOLS, Host=host)[0], (400, 421), host)

    def test_other_paths_and_methods(self):
        for path in ("/agent/submit/../../etc/passwd", "/agent/submit/agd/..", "/agent/submit/%2e%2e/x",
                     "/agent/submit/", "/agent/submit/AGD", "//agent/submit/agd"):
            self.assertIn(self.post(path, SYMBOLS)[0], (400, 404, 405), path)
        for method in ("GET", "PUT", "DELETE", "OPTIONS", "PATCH"):
            status = self.service.ask("/agent/submit/agd", method=method, headers={
                "Host": "127.0.0.1", "Authorization": f"Bearer {TOKEN}"})[0]
            self.assertIn(status, (401, 404, 405), method)

    def test_bodies_that_are_too_long(self):
        self.assertEqual(self.post("/agent/submit/trc", bytes(17 * MIB))[0], 413)
        # In chunks, without a length: a body that is too long is dropped.
        before, chunk = self.memory(), b"10000\r\n" + bytes(0x10000) + b"\r\n"
        answer = self.raw(self.head("Transfer-Encoding: chunked"), *[chunk] * (40 * MIB >> 16), b"0\r\n\r\n")
        self.assertTrue(answer.startswith(b"HTTP/1.1 413"), answer[:80])
        self.assertLess(self.memory() - before, 100 * MIB)

    def test_lengths_that_are_lies(self):
        for line in ("Content-Length: -1", "Content-Length: 99999999999999999999", "Content-Length: x",
                     "Transfer-Encoding: chunked, gzip"):
            self.assertFalse(self.raw(self.head(line), b"\r\n").startswith(b"HTTP/1.1 20"), line)

    def test_heads_that_can_be_read_in_two_ways(self):
        for lines, path in ((("Host: localhost", "Content-Length: 0"), "/agent/submit/trc"),
                            (("Content-Length: 0", "Content-Length: 0"), "/agent/submit/trc"),
                            (("Content-Length: 5", "Transfer-Encoding: chunked"), "/agent/submit/trc"),
                            (("X-Header: a\0b", "Content-Length: 0"), "/agent/submit/trc"),
                            (("Content-Length: 0", "X-Header: a\0"), "/agent/submit/trc"),
                            (("Content-Length: 0\0", "X-Header:\0b"), "/agent/submit/trc"),
                            (("Content-Length: 0", "X-Header: a\r\n \0b"), "/agent/submit/trc"),
                            (("Content-Length : 0",), "/agent/submit/trc"), (("Content-Length: 0", "X-Header\t: a"), "/agent/submit/trc"),
                            (("Content-Length: 0", "X-Header: a\nX-Other: b"), "/agent/submit/trc"),
                            (("X-Header: a\nContent-Length: 0",), "/agent/submit/trc"),
                            (("Content-Length: 0",), "/agent/submit/trc\0"), (("Content-Length: 0",), "/agent/submit/trc?a=b\0c"),
                            (("Content-Length: 0",), "/agent/submit/trc%00"), (("Content-Length: 0",), "/%00")):
            head = self.head(*lines).replace(b"/agent/submit/trc", path.encode(), 1)
            self.assertTrue(self.raw(head, b"0\r\n\r\n").startswith(b"HTTP/1.1 400"), (lines, path))

    def test_a_token_that_others_can_change(self):
        token = pathlib.Path(self.folder.name) / "open-token"
        token.write_text(TOKEN + "\n", encoding="utf-8")
        token.chmod(0o666)
        run = subprocess.run([OPTIONS.cairn, "serve", "-q", "--collect", self.store + "2", "--collect-token-file",
                              str(token)], check=False, capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("every user can write to it", run.stderr)

    def test_more_slow_senders_than_connections(self):
        """The one that has waited longest makes room for the next."""
        slow = []
        for _ in range(600):
            slow.append(socket.create_connection((self.service.host, self.service.port), 10))
            slow[-1].sendall(b"POST /agent/submit/trc HTTP/1.1\r\nHo")
        self.assertEqual(self.post("/agent/submit/agd", SYMBOLS)[0], 202)
        slow[0].settimeout(10)
        try:
            self.assertEqual(slow[0].recv(1), b"")
        except ConnectionError:
            pass
        for peer in slow:
            peer.close()

    def test_floods_of_headers(self):
        many = [f"X-{i}: {'y' * 40}" for i in range(5000)]
        self.assertFalse(self.raw(self.head(*many, "Content-Length: 0")).startswith(b"HTTP/1.1 20"))
        long = self.head("X-Zorka-Session-Id: " + "s" * 60000, "Content-Length: 0")
        self.assertFalse(self.raw(long).startswith(b"HTTP/1.1 20"))

    def test_slow_senders(self):
        slow = [socket.create_connection((self.service.host, self.service.port), 5) for _ in range(100)]
        for i, peer in enumerate(slow):
            peer.sendall(self.head("Content-Length: 100000")[:i + 40] if i % 2 else
                         self.head("Content-Length: 100000") + b"\xc3")
        begin = time.monotonic()
        self.assertEqual(self.post("/agent/submit/agd", SYMBOLS)[0], 202)
        self.assertLess(time.monotonic() - begin, 20)
        for peer in slow:
            peer.close()

    def test_bodies_that_grow(self):
        before = self.memory()
        for bomb in (gzip.compress(bytes(300 * MIB), 1), gzip.compress(b"[" * (100 * MIB), 1)):
            status, answer = self.post("/v1/traces", bomb)
            self.assertIn(status, (400, 413), answer)
        self.assertLess(self.memory() - before, 200 * MIB)

    def test_malformed_cbor(self):
        chance = seeds.source()
        self.assertEqual(self.post("/agent/submit/agd", SYMBOLS)[0], 202)
        good = trace(5)
        bodies = [good[:cut] for cut in range(1, len(good), 7)]
        bodies += [b"\xc3\x9f" * 50000, b"\x9f" * 50000, b"\xc1\x82" + number(2 ** 60) + text("x"),
                   b"\xc2\x84" + number(1) + number(99) * 3, b"\xc1\x82\x01\x7b" + b"\xff" * 8]
        for _ in range(200):
            damaged = bytearray(good)
            for _ in range(chance.randrange(1, 5)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            bodies.append(bytes(damaged))
        for i, body in enumerate(bodies):
            identity = f"{7:016x}{i + 1:016x}"
            status = self.post("/agent/submit/trc", body, **{"X-Zorka-Trace-Id": identity})[0]
            self.assertIn(status, (202, 400, 412, 413), body[:40])

    def test_malformed_json(self):
        for body in (b"", b"{}x", b"[{]", b'{"resourceSpans":' + b"[" * 50000, b'[{"traceId":1e999}]',
                     b'[{"traceId":"' + b"a" * 100000 + b'"}]', b'[{"id":"\xff\xfe"}]', b"\xef\xbb\xbf[",
                     b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"zz"}]}]}]}', b"[nul]"):
            for path in ("/v1/traces", "/api/v2/spans"):
                self.assertIn(self.post(path, body)[0], (200, 202, 400), body[:40])

    def test_sessions_and_symbols_without_end(self):
        before = self.memory()
        for i in range(300):
            self.assertEqual(self.post("/agent/submit/agd", SYMBOLS,
                                       **{"X-Zorka-Session-Id": f"made-up-{i}"})[0], 202)
        symbols = b"".join(b"\xc1\x82" + number(i) + text("s" * 200) for i in range(70000))
        for _ in range(3):
            self.assertEqual(self.post("/agent/submit/agd", symbols)[0], 202)
        self.assertLess(self.memory() - before, 200 * MIB)

    def test_markup_in_names_stays_text(self):
        hostile = SYMBOLS.replace(text("handle"), text(HOSTILE))
        self.assertEqual(self.post("/agent/submit/agd", hostile, **{
            "X-Zorka-Session-Id": "hostile", "X-Zorka-Session-Reset": "true"})[0], 202)
        self.assertEqual(self.post("/agent/submit/trc", trace(77), **{
            "X-Zorka-Session-Id": "hostile", "X-Zorka-Trace-Id": f"{8:016x}{1:016x}"})[0], 202)
        self.service.get_counted("sources/0/traces", 1, q="method contains onerror")
        status, fields, answer = self.service.ask("/api/v1/sources/0/traces?q=" + "method%20contains%20onerror")
        self.assertEqual((status, fields["Content-Type"], fields["X-Content-Type-Options"]),
                         (200, "application/json", "nosniff"))
        self.assertIn(b"<img src=x", answer)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
