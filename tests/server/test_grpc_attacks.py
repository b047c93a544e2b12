#!/usr/bin/env python3
"""Attacks on OTLP over gRPC: floods, bombs and slow senders get a status or lose their connection; memory is bounded, and all
others are served.

Usage: test_grpc_attacks.py --cairn PROGRAM
"""
import argparse
import gzip
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import seeds
from http2 import (CANCEL, CONTINUATION, DATA, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, EXPORT, GOAWAY, HEADERS, PING,
                   PREFACE, PRIORITY, PROTOCOL_ERROR, RST_STREAM, SETTINGS, WINDOW_UPDATE, Connection, block,
                   frame, head, message, otlp, string)
from service import Service

MIB = 1 << 20
OK, RESOURCE_EXHAUSTED = 0, 8


class Attacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.store = os.path.join(cls.folder.name, "store")
        # AddressSanitizer keeps memory back that was freed.
        os.environ["ASAN_OPTIONS"] = "quarantine_size_mb=32:" + os.environ.get("ASAN_OPTIONS", "")
        cls.service = Service(OPTIONS.cairn, "--collect", cls.store, "--otlp-listen", "127.0.0.1:0,0")
        cls.sent = 0

    @classmethod
    def tearDownClass(cls):
        status, talk = cls.service.end()
        if status != 0 or "ERROR" in talk:
            raise AssertionError(f"cairn serve ended with {status}: {talk}")
        subprocess.check_call([OPTIONS.cairn, "store", "verify", "-q", cls.store])
        found = int(subprocess.check_output([OPTIONS.cairn, "store", "search", "--count", cls.store, "service = honest"]))
        if found != cls.sent:
            raise AssertionError(f"{cls.sent} traces were acknowledged, and {found} are there")
        cls.folder.cleanup()

    def setUp(self):
        self.before = self.memory()
        self.honest = self.connect()
        self.serve_honest()

    def tearDown(self):
        """During and after every attack, others are served."""
        self.serve_honest()
        self.honest.close()
        with self.connect() as self.honest:
            self.serve_honest()
        self.assertLess(self.memory() - self.before, 100 * MIB)

    def serve_honest(self):
        type(self).sent += 1
        self.assertEqual(self.honest.call(EXPORT, message(otlp(self.sent, service="honest"))).code, OK)

    def connect(self, **more):
        at = self.service.otlp["gRPC"]
        return Connection(at.hostname, at.port, **more)

    def memory(self):
        status = pathlib.Path(f"/proc/{self.service.process.pid}/status").read_text(encoding="utf-8")
        return int(status.split("VmRSS:")[1].split()[0]) << 10

    def flood(self, data, times, before=b""):
        """How a connection ends that sends the same again and again."""
        with self.connect() as peer:
            peer.flood(before, 1)
            peer.flood(data, times)
            return peer.until_closed()

    def test_floods_of_small_frames(self):
        begun = frame(HEADERS, END_HEADERS, 1, block(head()))
        for name, before, data in (("ping", b"", frame(PING, 0, 0, bytes(8))), ("settings", b"", frame(SETTINGS, 0, 0)),
                                   ("priority", b"", frame(PRIORITY, 0, 1, bytes(4) + b"\x01")),
                                   ("window", b"", frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1))),
                                   ("unknown", b"", frame(0xbb, 0, 0, b"x" * 50)), ("empty", begun, frame(DATA, 0, 1)),
                                   ("one byte", begun, frame(DATA, 0, 1, b"\0"))):
            self.assertEqual(self.flood(data * 1000, 200 if name == "unknown" else 20, before)[0], ENHANCE_YOUR_CALM, name)
        floods = self.service.ask("/metrics")[2].decode().split("\ncairn_grpc_floods_total ")[1].split()[0]
        self.assertGreaterEqual(int(floods), 6)

    def test_continuations_without_end(self):
        start = frame(HEADERS, 0, 1, block(head()))
        for piece in (b"", block([("a", "b" * 10)]), block([("a", "b" * 10000)])):
            ended = self.flood(frame(CONTINUATION, 0, 1, piece), 200 if len(piece) > 1000 else 2000, start)
            self.assertIn(ended[0], (PROTOCOL_ERROR, ENHANCE_YOUR_CALM))

    def test_streams_that_are_reset_at_once(self):
        with self.connect() as peer:
            try:
                for _ in range(1000):
                    stream = peer.begin(head())
                    peer.send(frame(RST_STREAM, 0, stream, struct.pack(">I", CANCEL)))
            except OSError:
                pass
            self.assertEqual(peer.until_closed()[0], ENHANCE_YOUR_CALM)
            self.assertLess(peer.stream, 2000)

    def test_streams_that_the_server_must_reset(self):
        """Frames that are wrong for one stream alone, again and again."""
        with self.connect() as peer:
            try:
                for _ in range(1000):
                    stream = peer.begin(head())
                    peer.send(frame(WINDOW_UPDATE, 0, stream, bytes(4)))
            except OSError:
                pass
            self.assertIn(peer.until_closed()[0], (ENHANCE_YOUR_CALM, PROTOCOL_ERROR))

    def test_calls_that_were_sent_and_cancelled_are_stored(self):
        """Deadlines of clients: their calls are cancelled, and the connection goes on."""
        with self.connect() as peer:
            for n in range(60):
                stream = peer.start(head(), message(otlp(100000 + n)))
                peer.send(frame(RST_STREAM, 0, stream, struct.pack(">I", CANCEL)))
            self.assertEqual(peer.call(EXPORT, message(otlp(200000))).code, OK)

    def test_headers_that_grow(self):
        """A header of 4000 bytes in the table, and thousands of references to it, one byte each."""
        bomb = block(head()) + b"\x40" + string("x") + string("y" * 4000) + b"\xbe" * 8000
        self.assertEqual(self.flood(frame(HEADERS, END_HEADERS, 1, bomb), 1)[0], ENHANCE_YOUR_CALM)
        many = block(head()) + block([("a", "")]) * 600
        with self.connect() as peer:
            peer.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, many))
            self.assertEqual(peer.wait(1).status, "431")

    def test_messages_that_grow(self):
        with self.connect() as peer:
            for bomb in (bytes(300 * MIB), b"[" * (100 * MIB)):
                answer = peer.call(EXPORT, message(gzip.compress(bomb, 1), 1), grpc_encoding="gzip")
                self.assertIn(answer.code, (3, RESOURCE_EXHAUSTED), answer)
        self.before += 150 * MIB # AddressSanitizer keeps what was freed

    def test_messages_that_are_never_whole(self):
        """The memory of all connections together is bounded: later messages are put off, with the time to come back."""
        peers, codes = [], set()
        for _ in range(20):
            peers.append(self.connect())
            peer = peers[-1]
            stream = peer.start(head(), struct.pack(">BI", 0, 15 * MIB) + bytes(14 * MIB), ends=False)
            peer.send(frame(PING, 0, 0, bytes(8)))
            while not peer.pings:
                peer.receive()
            if stream in peer.answers:
                codes.add(peer.wait(stream).code)
        self.assertEqual(codes, {RESOURCE_EXHAUSTED})
        self.assertLess(self.memory() - self.before, 250 * MIB)
        for peer in peers:
            peer.close()
        end = time.monotonic() + 60
        while time.monotonic() < end: # messages of closed connections are dropped
            with self.connect() as peer:
                if peer.call(EXPORT, message(otlp(300000))).code == OK:
                    break
        self.before += 150 * MIB # the allocator keeps some

    def test_more_connections_than_there_are(self):
        """The one that has done nothing for the longest time makes room for the next: idle, or in the middle of a preface, of
        headers, of a message."""
        hello = PREFACE + frame(SETTINGS, 0, 0)
        for sent in (PREFACE[:7], hello, hello + frame(HEADERS, 0, 1, block(head())),
                     hello + frame(HEADERS, END_HEADERS, 1, block(head())) + frame(DATA, 0, 1, message(otlp(1))[:9])):
            slow = []
            for _ in range(1100):
                slow.append(self.connect(greets=False))
                slow[-1].flood(sent, 1)
            with self.connect() as peer:
                self.assertEqual(peer.call(EXPORT, message(otlp(400000))).code, OK)
            for peer in slow:
                peer.close()
        self.honest.close()
        self.honest = self.connect()

    def test_answers_that_nobody_reads(self):
        with self.connect() as peer:
            peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            peer.socket.settimeout(1)
            peer.flood((frame(HEADERS, END_HEADERS | END_STREAM, 1, block(head("/x/" + "y" * 200)))), 1)
            try:
                for stream in range(3, 40003, 2):
                    peer.send(frame(HEADERS, END_HEADERS | END_STREAM, stream, block(head("/x/" + "y" * 200))))
            except OSError:
                pass

    def test_frames_that_are_wrong(self):
        for data in (frame(DATA, 0, 0, b"x"), frame(HEADERS, END_HEADERS, 2, block(head())), frame(PING, 0, 0, b"short"),
                     frame(SETTINGS, 0, 0, b"12345"), frame(WINDOW_UPDATE, 0, 0, bytes(4)), frame(CONTINUATION, 4, 1, b""),
                     frame(HEADERS, END_HEADERS, 1, b"\xff" * 20), b"\xff\xff\xff" + bytes(6), frame(RST_STREAM, 0, 1, bytes(4)),
                     frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0xffffffff)), frame(GOAWAY, 0, 0, b"")):
            ended = self.flood(data, 1)
            self.assertTrue(ended and ended[0] != 0, data[:20])
        for lines in ([(":path", "/")], [("a", "b")], head() + [(":path", "/")], [("A", "b")], head() + [("a", "b\0c")],
                      head() + [("connection", "close")], head() + [("content-length", "5"), ("content-length", "6")]):
            with self.connect() as peer:
                peer.begin(lines, ends=True)
                answer = peer.wait(1)
                self.assertTrue(answer.reset is not None or answer.status != "200", lines)

    def test_bytes_of_any_kind(self):
        chance = seeds.source()
        good = PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_HEADERS, 1, block(head())) + frame(DATA, END_STREAM, 1, message(otlp(500000)))
        for _ in range(60):
            damaged = bytearray(good)
            for _ in range(chance.randrange(1, 6)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            with self.connect(greets=False) as peer:
                peer.flood(bytes(damaged) if chance.random() < 0.8 else chance.randbytes(500), 1)
                peer.socket.shutdown(socket.SHUT_WR)
                try:
                    while peer.socket.recv(65536):
                        pass
                except OSError:
                    pass

    def test_http_1_is_told_of_the_port(self):
        with self.connect(greets=False) as peer:
            peer.send(b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
            answer = b""
            while data := peer.socket.recv(1000):
                answer += data
            self.assertTrue(answer.startswith(b"HTTP/1.1 400 Bad Request\r\n"), answer)
            self.assertIn(b"this port takes OTLP over gRPC", answer)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
