#!/usr/bin/env python3
"""The collector is killed while it works: acknowledged traces are in the store, complete and
once, and the store is sound.

Usage: test_collect_crash.py --cairn PROGRAM
"""
import argparse
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import seeds
from agent import SYMBOLS, trace
from http2 import Closed, Connection, head, message, otlp
from service import Service

KILLS = 30 if os.environ.get("CAIRN_THOROUGH") else 3  # one for each number of lanes
CLIENTS = 6
AT_A_TIME = 8  # calls of gRPC


class Client(threading.Thread):
    """An agent on a connection of its own, which notes the acknowledged requests."""

    def __init__(self, service, number, again):
        super().__init__()
        self.connection = http.client.HTTPConnection(service.host, service.port, timeout=120)
        self.session = f"{service.port}-{number}"
        self.at = service.otlp.get("gRPC")
        self.safe = []
        self.first = number * 100000000 + service.turn * 10000
        self.again = again  # sent before, and acknowledged or not

    def post(self, what, body, **more):
        self.connection.request("POST", f"/agent/submit/{what}", body=body, headers={
            "X-Zorka-Session-Id": self.session, "Host": "127.0.0.1", **more})
        response = self.connection.getresponse()
        response.read()
        return response.status

    def begin(self):
        return self.post("agd", SYMBOLS, **{"X-Zorka-Session-Reset": "true"}) == 202

    def send(self, n):
        if self.post("trc", trace(n, n % 50), **{"X-Zorka-Trace-Id": f"{1:016x}{n + 1:016x}"}) == 202:
            self.safe.append(n)

    def run(self):
        try:
            if not self.begin():
                return
            for n in (*self.again, *range(self.first, self.first + 10000)):
                self.last = n
                self.send(n)
        except (OSError, http.client.HTTPException, Closed):
            pass
        finally:
            self.connection.close()


class Caller(Client):
    """An SDK that sends OTLP over gRPC, several calls at a time."""

    def begin(self):
        self.connection.close()
        self.connection = Connection(self.at.hostname, self.at.port, timeout=120)
        self.calls = {}
        return True

    def send(self, n):
        self.calls[self.connection.start(head(), message(otlp(n, n % 50 + 1)))] = n
        if len(self.calls) == AT_A_TIME:
            stream = min(self.calls)
            if self.connection.wait(stream).code == 0:
                self.safe.append(self.calls[stream])
            del self.calls[stream]


def stored(store):
    """The numbers of the traces in a store, each with the number of its calls."""
    text = subprocess.check_output([OPTIONS.cairn, "store", "search", "--format", "json", "-n", "1000000",
                                    store], text=True)
    return {int(one["trace_id"][-16:], 16) - 1: one["records"] for one in json.loads(text)}


def count(store):
    return int(subprocess.check_output([OPTIONS.cairn, "store", "search", "--count", store], text=True))


class Endings(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.store = os.path.join(self.folder.name, "store")
        self.again = {}
        # A build without nghttp2 has no gRPC.
        has_grpc = b"nghttp2" in subprocess.check_output(["ldd", OPTIONS.cairn])
        self.ports = ("--otlp-listen", "127.0.0.1:0,0") if has_grpc else ()
        # Segments are small, so that some end while the collector is killed.
        subprocess.check_call([OPTIONS.cairn, "store", "init", "-q", "--rotate-size", "200K", self.store])

    def tearDown(self):
        self.folder.cleanup()

    options = ()  # more of the collector

    def work_until(self, turn, signal_number, seconds):
        """The number of lanes changes; agents send again what they sent last. At least one request is
        acknowledged, however busy the machine is."""
        service = Service(OPTIONS.cairn, "--collect", self.store, "--collect-lanes", str(1 + turn % 3), *self.ports,
                          *self.options)
        service.turn = turn
        kinds = (Client, Caller) if service.otlp else (Client,)
        clients = [kinds[k % len(kinds)](service, k, self.again.get(k, ())) for k in range(CLIENTS)]
        for client in clients:
            client.start()
        time.sleep(seconds)
        while not any(client.safe for client in clients) and any(client.is_alive() for client in clients):
            time.sleep(0.01)
        service.process.send_signal(signal_number)
        service.process.communicate()
        for client in clients:
            client.join()
        self.again = {k: (*client.safe[-3:], client.last) for k, client in enumerate(clients)
                      if client.safe}
        safe = [n for client in clients for n in client.safe]
        self.assertTrue(safe)
        return service.process.returncode, safe

    def check(self, safe):
        found = stored(self.store)
        self.assertEqual(len(found), count(self.store), "a trace is there twice")
        self.assertEqual([n for n in safe if n not in found], [])
        self.assertEqual([n for n in found if found[n] != n % 50 + 1], [])

    def test_kill_9(self):
        chance, safe = seeds.source(), []
        for turn in range(KILLS):
            status, more = self.work_until(turn, signal.SIGKILL, 0.4 + chance.random())
            self.assertEqual(status, -signal.SIGKILL)
            safe += more
            self.check(safe)
        subprocess.check_call([OPTIONS.cairn, "store", "seal", "-q", self.store])
        subprocess.check_call([OPTIONS.cairn, "store", "verify", "-q", self.store])
        self.check(safe)

    def test_kill_9_while_segments_are_joined_and_removed(self):
        """What is pinned is never removed; of the others, the newest are there."""
        chance, pinned = seeds.source(), []
        self.options = ("--compact", "--keep-size", "1500K", "--keep-every", "0.05s")
        for turn in range(KILLS):
            status, more = self.work_until(turn, signal.SIGKILL, 0.4 + chance.random())
            self.assertEqual(status, -signal.SIGKILL)
            found = stored(self.store)
            self.assertEqual(len(found), count(self.store), "a trace is there twice")
            self.assertEqual([n for n in found if found[n] != n % 50 + 1], [])
            self.assertEqual([n for n in pinned if n not in found], [])
            more = [n for n in more if n in found]
            self.assertTrue(more)
            pinned += more[:3]
            subprocess.check_call([OPTIONS.cairn, "store", "pin", self.store,
                                   *(f"{1:016x}{n + 1:016x}" for n in more[:3])])
        subprocess.check_call([OPTIONS.cairn, "store", "seal", "-q", self.store])
        subprocess.check_call([OPTIONS.cairn, "store", "verify", "-q", self.store])
        found = stored(self.store)
        self.assertEqual([n for n in pinned if n not in found], [])

    def test_kill_9_while_segments_are_joined(self):
        chance, safe = seeds.source(), []
        self.options = ("--compact", "--keep-size", "1G", "--keep-every", "0.05s")
        for turn in range(KILLS):
            status, more = self.work_until(turn, signal.SIGKILL, 0.4 + chance.random())
            self.assertEqual(status, -signal.SIGKILL)
            safe += more
            self.check(safe)
        subprocess.check_call([OPTIONS.cairn, "store", "seal", "-q", self.store])
        subprocess.check_call([OPTIONS.cairn, "store", "verify", "-q", self.store])
        self.check(safe)

    def test_sigterm_finishes_requests_and_closes_the_store(self):
        safe = []
        for turn in range(3):
            status, more = self.work_until(turn, signal.SIGTERM, 0.7)
            self.assertEqual(status, 0)
            safe += more
            subprocess.check_call([OPTIONS.cairn, "store", "verify", "-q", self.store])
        self.check(safe)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
