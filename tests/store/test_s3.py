#!/usr/bin/env python3
"""Stores in object storage: the same answers as a store in a directory, with few requests and through faults.

Usage: test_s3.py --cairn PROGRAM [--kills N]
"""
import argparse
import concurrent.futures
import contextlib
import http.client
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

import object_storage

SEGMENTS = 4
KEY_HEADER = "x-amz-meta-cairn-key"  # of each object: whose it is


def otlp(first, count, late=()):
    """Traces of two services; each has an attribute that no other has. Spans of a third one, of traces that are `late`."""
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
        for index, (service, name) in enumerate((("shop", "checkout"), ("pay", "charge")))] + [
        {"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "mail"}}]},
         "scopeSpans": [{"spans": [{**span(number, 3, f"{number * 2 + 1:016x}", "send"), "attributes": [],
                                    "spanId": f"{number + 1_000_000:016x}"} for number in late]}]}]}


class Bucket(unittest.TestCase):
    """A store in object storage and the same in a directory, of SEGMENTS segments each."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.prefix = f"of/{cls.__name__}"
        cls.address, cls.local = f"s3://traces/{cls.prefix}", str(cls.folder / "local")
        for number in range(SEGMENTS):
            path = cls.folder / f"{number}.json"
            path.write_text(json.dumps(otlp(number * 50, 50, range(max(number * 50 - 50, 0), number * 50))), encoding="utf-8")
            cls.cairn_ok("store", "add", "-q", "--create", cls.address, path)
            cls.cairn_ok("store", "add", "-q", "--create", cls.local, path)
            cls.cairn_ok("store", "seal", "-q", cls.local)

    @classmethod
    def start(cls, *arguments, port=None, cache="cache", **more):
        return subprocess.Popen([OPTIONS.cairn, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=object_storage.environment(port or GATEWAY.port, cls.folder / cache, **more))

    @classmethod
    def cairn(cls, *arguments, **more):
        process = cls.start(*arguments, **more)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    @classmethod
    def cairn_ok(cls, *arguments, **more):
        result = cls.cairn(*arguments, **more)
        if result.returncode != 0:
            raise AssertionError(f"{arguments}: {result.returncode} {result.stderr}")
        return result.stdout

    def segments(self):
        return json.loads(self.cairn_ok("store", "stats", self.address, "--format=json"))


class Care(Bucket):
    def check(self, segments):
        self.assertEqual(len(self.segments()), segments)
        for query in ("", "errors", "order = order-77"):
            self.assertEqual(*(self.cairn_ok("store", "search", store, query, "-n", "1000") for store in (self.local, self.address)))
        self.cairn_ok("store", "verify", self.address)

    def test_care(self):
        """Compaction by two at once, recovery, damage and expiry, one after the other."""
        racing = [self.start("store", "compact", self.address, cache=f"cache{i}") for i in range(2)]
        for process in racing:
            self.assertEqual(process.wait(300), 0, process.stderr.read())
            process.communicate()
        self.check(1)
        self.assertEqual(len({key.split("/")[3] for key in GATEWAY.keys("traces", self.prefix + "/segments/")}), SEGMENTS + 2,
                         "readers may still use what was replaced")
        self.cairn_ok("store", "compact", self.address + "?grace=0")
        self.assertEqual(len({key.split("/")[3] for key in GATEWAY.keys("traces", self.prefix + "/segments/")}), 1)
        self.check(1)
        self.recover()
        self.damage()
        self.assertIn("removed 1 segment with", self.cairn("store", "expire", self.address + "?grace=0", "--max-size=1").stderr)
        self.assertEqual(self.segments(), [])
        self.assertEqual(GATEWAY.keys("traces", self.prefix + "/segments/"), [])

    def recover(self):
        entry, = (key for key in GATEWAY.keys("traces", self.prefix + "/manifest/") if not key.endswith(".gone"))
        GATEWAY.ask("DELETE", "/traces/" + entry)
        self.assertEqual(self.segments(), [])
        self.assertIn("in 1 segment", self.cairn("store", "recover", self.address).stderr)
        self.check(1)
        entry, = (key for key in GATEWAY.keys("traces", self.prefix + "/manifest/") if not key.endswith(".gone"))
        GATEWAY.ask("PUT", "/traces/" + entry, body=b"damaged")
        self.assertIn("not an entry of a manifest", self.cairn("store", "stats", self.address, cache="fresh").stderr)
        self.cairn_ok("store", "recover", self.address)
        self.cairn_ok("store", "recover", self.address)
        self.check(1)

    def damage(self):
        key, = (key for key in GATEWAY.keys("traces", self.prefix + "/segments/") if key.endswith("/traces.dat"))
        content = GATEWAY.ask("GET", "/traces/" + key)
        GATEWAY.ask("PUT", "/traces/" + key, body=content[:100] + bytes(200) + content[300:])
        result = self.cairn("store", "verify", self.address)
        self.assertEqual((result.returncode, "traces.dat" in result.stdout), (3, True), result)
        GATEWAY.ask("DELETE", "/traces/" + key)
        result = self.cairn("store", "verify", self.address)
        self.assertEqual((result.returncode, "no such object" in result.stdout), (3, True), result)


class Spoiled(Bucket):
    """An answer that is spoiled on its way removes nothing, and brings nothing back."""
    ENTRY = re.compile(r"/manifest/[0-9a-f]{6}$")

    def check_nothing_changes(self, spoil, *words, status=0, message=""):
        keys = GATEWAY.keys("traces", self.prefix)
        with object_storage.Proxy(GATEWAY.port) as proxy:
            proxy.spoil = spoil
            result = self.cairn("store", *words, port=proxy.port)
        self.assertEqual((result.returncode, message in result.stderr), (status, True), result)
        self.assertEqual(GATEWAY.keys("traces", self.prefix), keys)
        self.assertEqual(*(self.cairn_ok("store", "search", store, "-n", "1000", cache="after") for store in (self.local, self.address)))

    def test_recovery_of_sound_entries(self):
        def another(status, headers, _):
            return status, headers, GATEWAY.ask("GET", f"/traces/{self.prefix}/manifest/000002")
        for what in ("garbled", "short", another):
            self.check_nothing_changes(lambda path, times: what if times == 0 and self.ENTRY.search(path) else None,
                                       "recover", self.address, message="in 0 segments")

    def test_recovery_when_each_answer_is_another(self):
        chance = random.Random(1)

        def noise(status, headers, _):
            return status, headers, chance.randbytes(50)
        self.check_nothing_changes(lambda path, times: noise if self.ENTRY.search(path) else None, "recover", self.address,
                                   status=1, message="each answer is another")

    def test_recovery_removes_damage_only_when_all_is_named_again(self):
        """Until then, searches say that an entry is damaged: they would miss its traces."""
        entry = f"/traces/{self.prefix}/manifest/000001"
        sound = GATEWAY.ask("GET", entry)
        GATEWAY.ask("PUT", entry, body=b"damaged")
        with object_storage.Proxy(GATEWAY.port) as proxy:
            proxy.spoil = lambda path, times: 403 if "/segments/" in path else None
            self.assertEqual(self.cairn("store", "recover", self.address + "?timeout=2", port=proxy.port).returncode, 1)
        self.assertEqual(GATEWAY.ask("GET", entry), b"damaged")
        GATEWAY.ask("PUT", entry, body=sound)

    def test_sweeps_of_old_objects(self):
        """Any list of entries lacks one of them, or has a note that one is gone, which does not exist."""
        def old(status, headers, content):
            return status, headers, re.sub(rb"<LastModified>\d{4}", b"<LastModified>2020", content)

        def without(status, headers, content):
            return old(status, headers, content.replace(b"manifest/000001<", b"manifest/00000q<"))

        def with_note(status, headers, content):
            return old(status, headers, content.replace(b"manifest/000002<", b"manifest/000001.gone<"))
        for what in (without, with_note):
            for number in range(5):
                def spoil(path, times):
                    return what if times == number and path.endswith("manifest%2F") else old if "list-type" in path else None
                self.check_nothing_changes(spoil, "expire", self.address, "--max-size=1T")


class Collecting(unittest.TestCase):
    """Collectors that upload what they seal, killed at any moment."""
    start, cairn, cairn_ok = (Bucket.__dict__[name] for name in ("start", "cairn", "cairn_ok"))

    def setUp(self):
        type(self).folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.address = f"s3://traces/collected/{self._testMethodName}"
        self.spools = [str(self.folder / f"spool{i}") for i in range(2)]
        self.cairn_ok("store", "init", "-q", self.address)
        for spool in self.spools:
            self.cairn_ok("store", "init", "-q", spool, "--rotate-size=16K")

    @contextlib.contextmanager
    def collector(self, spool, port=None, more=()):
        process = self.start("serve", "-q", "--collect", spool, "--collect-lanes=1", "--upload", self.address + "?timeout=3",
                             *more, port=port)
        try:
            yield process, urllib.parse.urlsplit(process.stdout.readline()).port
        finally:
            process.kill()
            self.assertNotIn("Sanitizer", process.communicate()[1])

    @staticmethod
    def send(port, first, count=1, late=()):
        """The status of a request with traces."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            connection.request("POST", "/v1/traces", json.dumps(otlp(first, count, late)), {"Content-Type": "application/json"})
            return connection.getresponse().status

    def go_on(self, port, statuses, fail):
        """Send until the limit while object storage fails, and until there is room again: `fail(True)` begins it, `fail(False)` ends it."""
        begin, fail_no_more = len(statuses), contextlib.ExitStack()
        with fail_no_more:
            fail(True)
            fail_no_more.callback(fail, False)
            while statuses[begin:][-1:] != [503] and len(statuses) < 20000:
                statuses.append(self.send(port, len(statuses)))
        self.assertEqual((statuses[-1], set(statuses[begin:-1]) <= {200}), (503, True), statuses)
        end = time.monotonic() + 120
        while statuses[-1] != 200 and time.monotonic() < end:
            time.sleep(0.1)
            statuses.append(self.send(port, len(statuses)))
        self.assertEqual(statuses[-1], 200)

    def found(self):
        listed = json.loads(self.cairn_ok("store", "search", self.address, "-n", "100000", "--format=json"))
        return [int(row["trace_id"], 16) - 1 for row in listed], int(self.cairn_ok("store", "search", self.address, "--spans", "-c"))

    @contextlib.contextmanager
    def killed(self, chance, *arguments, **more):
        """A command beside others, killed at any moment; it may also end before."""
        process = self.start(*arguments, **more)
        killer = threading.Timer(2 * chance.random(), process.kill)
        killer.start()
        try:
            yield
        finally:
            killer.join()
            process.communicate()

    def collect_and_kill(self, chance, kill, numbers):
        """Kill a collector, with what it uploads, beside compactions that are killed; the numbers that were acknowledged."""
        acknowledged = set()
        with contextlib.ExitStack() as stack:
            for racer in range(chance.choice((0, 1, 2))):
                stack.enter_context(self.killed(chance, "store", "compact", self.address + chance.choice(("", "?grace=0")),
                                                cache=f"compact{racer}"))
            if kill % 3 == 2:
                stack.enter_context(self.killed(chance, "store", "seal", self.spools[(kill + 1) % 2], "--upload", self.address))
            process, port = stack.enter_context(self.collector(self.spools[kill % 2]))
            end = time.monotonic() + chance.random()
            killer = threading.Timer(chance.random(), process.kill)
            killer.start()
            with contextlib.suppress(OSError, http.client.HTTPException):
                while time.monotonic() < end:
                    number = next(numbers)
                    if self.send(port, number) < 300:
                        acknowledged.add(number)
            killer.join()
        return acknowledged

    def test_a_collector_removes_old_traces_from_object_storage(self):
        with self.collector(self.spools[0], more=("--keep-count=400", "--keep-every=0.5s", "--compact")) as (process, port):
            number, end = 0, time.monotonic() + 120
            while 0 in (left := self.found()[0]) or not left:
                self.assertLess(time.monotonic(), end)
                self.assertEqual(self.send(port, number, 50), 200)
                number += 50
                time.sleep(0.3)
            self.assertEqual(process.poll(), None)
            self.assertEqual(len(left), len(set(left)))
        self.cairn_ok("store", "verify", "-q", self.address)

    def test_nothing_acknowledged_is_lost_and_nothing_is_doubled(self):
        """Collectors, uploads and compactions are killed, compactions race."""
        chance, acknowledged, numbers = random.Random(23), set(), itertools.count(1)
        for kill in range(OPTIONS.kills):
            acknowledged |= self.collect_and_kill(chance, kill, numbers)
        for spool in self.spools:
            self.cairn_ok("store", "seal", "-q", spool, "--upload", self.address)
            self.cairn_ok("store", "seal", "-q", spool, "--upload", self.address)
        self.assertGreater(len(acknowledged), 0)
        for _ in range(2):
            found, spans = self.found()
            self.assertEqual(acknowledged - set(found), set())
            self.assertEqual((len(set(found)), spans), (len(found), 2 * len(found)))
            self.cairn_ok("store", "compact", self.address + "?grace=0")
        self.cairn_ok("store", "verify", self.address)

    def test_collectors_and_readers_agree_with_one_store(self):
        """Four collectors write one store, with traces of which they have a part each; two readers read it."""
        local, folder = str(self.folder / "local"), self.folder
        self.spools += [str(folder / f"spool{i}") for i in range(2, 4)]
        with contextlib.ExitStack() as stack:
            ports = [stack.enter_context(self.collector(spool))[1] for spool in self.spools]
            for part in range(8):
                late = range(max(part * 10 - 10, 0), part * 10)
                self.assertEqual(self.send(ports[part % 4], part * 10, 10, late), 200)
                path = folder / f"{part}.json"
                path.write_text(json.dumps(otlp(part * 10, 10, late)), encoding="utf-8")
        for spool in self.spools:
            self.cairn_ok("store", "seal", "-q", spool, "--upload", self.address)
        self.cairn_ok("store", "add", "-q", "--create", local, *(folder / f"{part}.json" for part in range(8)))
        for question in (("search", "{}", "-n", "1000"), ("search", "{}", "service = mail", "--group-by", "operation"),
                         ("search", "{}", "order = order-37"), ("show", "{}", f"{38:032x}"), ("services", "{}")):
            here, *there = (self.cairn_ok("store", *(part.format(store) for part in question), cache=cache)
                            for store, cache in ((local, "reader0"), (self.address, "reader0"), (self.address, "reader1")))
            self.assertEqual([here, here], there, question)

    def commits(self):
        """The segments of which there are commits, by collector and id."""
        return {tuple(key.split("/")[3:5]) for key in GATEWAY.keys("traces", f"collected/{self._testMethodName}/commits/")}

    def test_nothing_acknowledged_is_lost_with_the_disk(self):
        """--replicate: the machine of a collector is lost, and its object storage fails before that."""
        acknowledged = set()
        with object_storage.Proxy(GATEWAY.port) as proxy:
            with self.collector(self.spools[0], proxy.port, ["--replicate=1"]) as (process, port):
                for number in range(40):
                    acknowledged.add(number)
                    self.assertEqual(self.send(port, number), 200)
                proxy.spoil = lambda path, times: 403 if "/commits/" in path or "/segments/" in path else None
                self.assertEqual([self.send(port, number) for number in (40, 41, 40)], [503] * 3)
                # The segment of these may be full: unless it is uploaded, there is something to recover.
                proxy.spoil = lambda path, times: 403 if "/segments/" in path else None
                self.assertEqual(self.send(port, 40), 200, "it is known, and copied now")
                acknowledged |= {40, 41}
                process.kill()
                process.wait()
        shutil.rmtree(self.spools[0])
        self.assertIn("collectors that are alive", self.cairn("store", "recover", self.address).stderr)
        registered, = (key for key in GATEWAY.keys("traces", f"collected/{self._testMethodName}/manifest/") if "collector-" in key)
        GATEWAY.ask("DELETE", "/traces/" + registered)
        racing = [self.start("store", "recover", self.address, cache=f"cache{i}") for i in range(2)]
        said = []
        for process in racing:
            out, err = process.communicate(timeout=300)
            self.assertEqual((out, process.returncode), ("", 0), err)
            said.append(err)
        for _ in range(2):
            found, spans = self.found()
            self.assertEqual((sorted(found), spans), (sorted(acknowledged), 2 * len(found)), said)
            self.cairn_ok("store", "verify", self.address)
            self.assertIn("in 0 segments", self.cairn("store", "recover", self.address).stderr)

    def test_commits_are_removed_when_their_segment_is_uploaded(self):
        with self.collector(self.spools[0], more=["--replicate=1"]) as (process, port):
            for number in range(120):
                self.assertEqual(self.send(port, number), 200)
        with self.collector(self.spools[0], more=["--replicate=1"]) as (process, port):
            end, left = time.monotonic() + 120, None
            while left is None or len(left) > 1:
                self.assertLess(time.monotonic(), end, left)
                time.sleep(0.1)
                left = self.commits()
            self.assertEqual(self.send(port, 119), 200, "it was copied before the restart")
        self.cairn_ok("store", "seal", "-q", self.spools[0], "--upload", self.address)
        self.cairn_ok("store", "expire", "-q", self.address, "--max-size=1T")
        self.assertEqual(self.commits(), set())
        self.assertEqual(sorted(self.found()[0]), list(range(120)))

    def test_ingest_goes_on_without_object_storage_until_the_limit(self):
        """It refuses, then hangs, then is down."""
        with object_storage.Proxy(GATEWAY.port) as proxy:
            def refuse(is_refusing):
                proxy.spoil = lambda path, times: 503 if is_refusing else None
            refuse(True)
            with self.collector(self.spools[0], proxy.port, ["--collect-space=64K"]) as (_, port):
                statuses = []
                for fail in (refuse, GATEWAY.pause) + ((GATEWAY.down,) if os.environ.get("CAIRN_THOROUGH") else ()):
                    self.go_on(port, statuses, fail)
                self.assertLess(len(os.listdir(self.spools[0])), 12, "local copies of named segments are removed")
        self.cairn_ok("store", "seal", "-q", self.spools[0], "--upload", self.address)
        found, spans = self.found()
        self.assertEqual(sorted(found), [number for number, status in enumerate(statuses) if status < 300])
        self.assertEqual(spans, 2 * len(found))


class Fresh(unittest.TestCase):
    """Readers ask collectors for what is not uploaded."""
    start, cairn, cairn_ok = (Bucket.__dict__[name] for name in ("start", "cairn", "cairn_ok"))
    collector, send = (Collecting.__dict__[name] for name in ("collector", "send"))

    def setUp(self):
        type(self).folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "token").write_text("0123456789abcdef\n", encoding="utf-8")
        self.address, self.local = "s3://traces/fresh", str(self.folder / "local")
        self.reader = f"{self.address}?fresh=60&collector-token={self.folder / 'token'}"
        for store in (self.address, self.local):
            self.cairn_ok("store", "init", "-q", store)

    def collecting(self, name):
        return self.collector(str(self.folder / name), more=["--advertise=http://127.0.0.1", f"--token-file={self.folder / 'token'}"])

    def add(self, port, *arguments, **more):
        """Send traces to a collector, and add them to the local store."""
        body = json.dumps(otlp(*arguments, **more))
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            connection.request("POST", "/v1/traces", body, {"Content-Type": "application/json"})
            self.assertEqual(connection.getresponse().status, 200)
        (self.folder / "sent.json").write_text(body, encoding="utf-8")
        self.cairn_ok("store", "add", "-q", self.local, self.folder / "sent.json")

    def wait_for(self, count):
        end = time.monotonic() + 120
        while len([key for key in GATEWAY.keys("traces", "fresh/manifest/") if "collector-" in key]) != count:
            self.assertLess(time.monotonic(), end, "collectors do not register")
            time.sleep(0.05)

    def check(self):
        for question in (("", "-n", "1000"), ("order = order-7",), ("service = mail", "--group-by", "operation"), ("--spans", "-c")):
            here, there = (self.cairn("store", "search", store, *question) for store in (self.local, self.reader))
            self.assertEqual((here.returncode, here.stdout, there.stderr), (there.returncode, there.stdout, ""), question)
        shown = [self.cairn_ok("store", "show", store, f"{8:032x}") for store in (self.local, self.reader)]
        self.assertEqual(*shown)

    def test_fresh_traces(self):
        with self.collecting("a") as (first, port_a), self.collecting("b") as (_, port_b):
            self.wait_for(2)
            self.add(port_a, 0, 20)
            self.add(port_b, 20, 20, late=range(20))  # spans of traces of the other one
            self.check()
            self.add(port_a, 40, 5)  # a segment that was copied has grown
            self.check()
            self.assertNotIn("0123456789abcdef", GATEWAY.ask("GET", "/traces/" + GATEWAY.keys("traces", "fresh/manifest/")[0]).decode())
            self.refused()
            first.kill()
            first.wait()
            lacking = self.cairn("store", "search", self.reader, "-c")
            self.assertEqual((lacking.returncode, lacking.stdout), (0, "40\n"), lacking)
            self.assertRegex(lacking.stderr, f"fresh traces are missing: http://127.0.0.1:{port_a}: .*connect")
            with Reading.server(self, self.reader) as ask:
                answer = ask("traces?q=&limit=1")
            self.assertEqual((answer["count"], f"fresh traces of 1 collectors: http://127.0.0.1:{port_a}: " in answer["damage"]), (40, True))
        self.cairn_ok("store", "seal", "-q", self.folder / "a", "--upload", self.address)
        self.cairn_ok("store", "seal", "-q", self.folder / "b", "--upload", self.address)
        self.wait_for(0)
        shown = [self.cairn_ok("store", "search", store, "-n", "1000") for store in (self.local, self.address)]
        self.assertEqual(*shown)

    def refused(self):
        result = self.cairn("store", "search", self.address + "?fresh=60", "-c")
        self.assertEqual((result.returncode, result.stdout, result.stderr.count("token of collectors is missing or wrong")), (0, "0\n", 2))


class Reading(Bucket):
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

    @contextlib.contextmanager
    def server(self, store, **more):
        """A function that asks a server of the store."""
        process = self.start("serve", "-q", store, **more)
        url = urllib.parse.urlsplit(process.stdout.readline())
        token = urllib.parse.parse_qs(url.query)["token"][0]

        def ask(question):
            with contextlib.closing(http.client.HTTPConnection(url.hostname, url.port, timeout=60)) as connection:
                connection.request("GET", f"/api/v1/sources/0/{question}", headers={"Authorization": f"Bearer {token}"})
                answer = connection.getresponse()
                content = answer.read()
                self.assertEqual(answer.status, 200, content)
                return json.loads(content)
        try:
            yield ask
        finally:
            process.terminate()
            self.assertNotIn("Sanitizer", process.communicate()[1])

    def test_a_server_shows_what_it_shows_of_a_directory(self):
        answers = []
        for store in (self.local, self.address):
            with self.server(store) as ask:
                answers.append([ask(question) for question in ("traces?q=order+%3D+order-77", "traces?q=&limit=5",
                                                               "trace?key=1.104", "histogram?q=errors")])
        self.assertEqual(*answers)

    def test_a_server_sees_new_segments_and_asks_for_nothing_twice(self):
        address = f"s3://traces/served/{self.prefix}"
        self.cairn_ok("store", "add", "-q", "--create", address, self.folder / "0.json")
        with object_storage.Proxy(GATEWAY.port) as proxy, self.server(address + "?refresh=1", port=proxy.port, cache="served") as ask:
            self.assertEqual(ask("traces?q=order+%3D+order-7")["count"], 1)
            proxy.seen.clear()
            self.assertEqual(ask("traces?q=order+%3D+order-7")["count"], 1)
            self.assertEqual([path for _, path in proxy.seen if "/segments/" in path], [])
            self.cairn_ok("store", "add", "-q", address, self.folder / "1.json")
            end, found = time.monotonic() + 120, 0
            while found == 0 and time.monotonic() < end:
                found = ask("traces?q=order+%3D+order-77")["count"]
                time.sleep(0.1)
            self.assertEqual(found, 1)

    def test_databases_are_those_of_a_directory(self):
        for store, name in ((self.local, "here"), (self.address, "there")):
            self.cairn_ok("analyze", "-q", store, "--query", "service = pay", "--title=same", "-o", self.folder / f"{name}.db")
        views = [self.cairn_ok("tree", self.folder / f"{name}.db") for name in ("here", "there")]
        self.assertEqual(*views)

    def test_a_rare_value_takes_requests_of_one_segment(self):
        with object_storage.Proxy(GATEWAY.port) as proxy:
            found = self.cairn_ok("store", "search", "--spans", self.address, "order = order-130", port=proxy.port, cache="rare")
            self.assertIn("checkout", found)
            fetched = {path.split("/")[5] for _, path in proxy.seen if "/segments/" in path}
            self.assertEqual(len(fetched), 1, proxy.seen)
            proxy.seen.clear()
            self.cairn_ok("store", "search", "--spans", self.address, "order = order-130", port=proxy.port, cache="rare")
            self.assertEqual(len(proxy.seen), 2, "the settings and a list of the manifest, together")
            proxy.seen.clear()
            self.assertEqual(self.cairn_ok("store", "search", "-c", self.address, "order = none", port=proxy.port, cache="rare"), "0\n")
            self.assertEqual([path for _, path in proxy.seen if "/segments/" in path], [])

    def test_counting_all_takes_one_request_a_segment(self):
        for question in (("-c",), ("-c", "--spans")):
            with object_storage.Proxy(GATEWAY.port) as proxy:
                self.assertEqual(*(self.cairn_ok("store", "search", *question, store, port=proxy.port, cache=f"all{len(question)}")
                                   for store in (self.local, self.address)))
                fetched = [path.split("/")[-1] for _, path in proxy.seen if "/segments/" in path]
                self.assertEqual(fetched, ["meta.dat"] * SEGMENTS)

    def test_new_readers_fetch_merged_entries(self):
        expected = self.cairn_ok("store", "search", self.local, "errors")
        for number in range(SEGMENTS, 64):
            GATEWAY.ask("PUT", f"/traces/{self.prefix}/manifest/{number:06x}.gone", body=b"0" * 32)
        racing = [self.start("store", "expire", self.address, "--max-size=1T", cache=f"merging{i}") for i in range(2)]
        self.assertEqual([process.communicate(timeout=300)[0] + str(process.returncode) for process in racing], ["0"] * 2)
        merged = f"/traces/{self.prefix}/manifest/000000.all"
        for content in (GATEWAY.ask("GET", merged), b"damaged"):
            GATEWAY.ask("PUT", merged, body=content)
            with object_storage.Proxy(GATEWAY.port) as proxy:
                found = self.cairn_ok("store", "search", self.address, "errors", port=proxy.port, cache=f"merged{len(content)}")
                self.assertEqual(found, expected)
                asked = {path.split("/")[-1] for _, path in proxy.seen if "/manifest/" in path}
                self.assertEqual(asked, {"000000.all", *(f"{number:06x}" for number in range(SEGMENTS) if content == b"damaged")})
        self.cairn_ok("store", "recover", self.address)
        self.assertEqual(self.cairn_ok("store", "search", self.address, "errors"), expected)

    def test_the_newest_traces_take_requests_of_the_newest_segments(self):
        with object_storage.Proxy(GATEWAY.port) as proxy:
            for count in (3, 70, 1000):
                self.assertEqual(*(self.cairn_ok("store", "search", store, "-n", str(count), port=proxy.port, cache="newest")
                                   for store in (self.local, self.address)))
                fetched = {path.split("/")[5] for _, path in proxy.seen if "/segments/" in path}
                self.assertLessEqual(len(fetched), {3: 2, 70: 3, 1000: SEGMENTS}[count])

    def test_faults_that_pass_are_survived(self):
        expected = self.cairn_ok("store", "search", self.local, "errors")
        spoilers = {
            "status": lambda path, times: (403, 429, 500, 503)[len(path) % 4] if times == 0 else None,
            "retry-after": lambda path, times: (503, {"Retry-After": "1"}) if "config" in path and times == 0 else None,
            "cut": lambda path, times: "cut" if times == 0 else None,
            "hang": lambda path, times: "hang" if "traces.dat" in path and times == 0 else None,
        }

        def search(name):
            with object_storage.Proxy(GATEWAY.port) as proxy:
                proxy.spoil = spoilers[name]
                self.assertEqual(self.cairn_ok("store", "search", self.address + "?timeout=3", "errors", port=proxy.port, cache=name),
                                 expected, name)
        with concurrent.futures.ThreadPoolExecutor(len(spoilers)) as pool:
            list(pool.map(search, spoilers))

    def test_answers_to_other_requests_are_refused(self):
        """A range of another object, also of one that is as long, the list of another prefix, an entry that is listed and not found."""
        def spoiled(ending, what):
            with object_storage.Proxy(GATEWAY.port) as proxy:
                proxy.spoil = lambda path, times: what if path.endswith(ending) else None
                return self.cairn("store", "search", self.address, "order = order-77", port=proxy.port, cache="other" + "".join(filter(str.isalnum, ending)))
        def elsewhere(status, headers, content):
            return status, {**headers, "Content-Range": f"bytes 0-{len(content) - 1}/123456789"}, content

        def as_long(status, headers, content):
            self.assertRegex(headers[KEY_HEADER], "^segments/[0-9a-f]{32}/meta.dat$")
            return status, {**headers, KEY_HEADER: f"segments/{0:032}/meta.dat"}, content

        def another_list(status, headers, _):
            return status, headers, GATEWAY.ask("GET", "/traces", "list-type=2&prefix=nothing%2F")

        def check(case):
            ending, what, message = case
            result = spoiled(ending, what)
            self.assertIn(result.returncode, (1, 3), ending)
            self.assertIn(message, result.stderr, ending)
        cases = (("/text.idx", elsewhere, "of another range or object"), ("/meta.dat", as_long, "of another range or object"),
                 ("%2Fmanifest%2F", another_list, "is a list of"), ("/manifest/000001", 404, "is listed, but not found"))
        with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
            list(pool.map(check, cases))  # each tries again for seconds

    def test_parts_that_cannot_be_joined_are_a_failure(self):
        """The status of the answer is 200."""
        chance, spool = random.Random(1), str(self.folder / "large")
        large = otlp(0, 300)
        for span in (span for resource in large["resourceSpans"] for scope in resource["scopeSpans"] for span in scope["spans"]):
            span["attributes"].append({"key": "noise", "value": {"stringValue": chance.randbytes(40000).hex()}})
        (self.folder / "large.json").write_text(json.dumps(large), encoding="utf-8")
        self.cairn_ok("store", "add", "-q", "--create", spool, self.folder / "large.json")
        self.cairn_ok("store", "init", "-q", "s3://traces/large")
        with object_storage.Proxy(GATEWAY.port) as proxy:
            proxy.spoil = lambda path, times: 200 if "uploadId=" in path and "partNumber=" not in path else None
            result = self.cairn("store", "seal", "-q", spool, "--upload", "s3://traces/large", port=proxy.port)
            self.assertEqual((result.returncode, "could not be joined" in result.stderr), (1, True), result)
        self.cairn_ok("store", "seal", "-q", spool, "--upload", "s3://traces/large")
        named = {}

        def note(status, headers, content):
            named[headers.get(KEY_HEADER, "").split("/")[-1]] = status
            return status, headers, content
        with object_storage.Proxy(GATEWAY.port) as proxy:
            proxy.spoil = lambda path, times: note if "/segments/" in path else None
            self.assertEqual(self.cairn_ok("store", "search", "s3://traces/large", "-c", port=proxy.port).strip(), "300")
            self.cairn_ok("store", "show", "s3://traces/large", f"{8:032x}", port=proxy.port)
        self.assertIn("traces.dat", named)

    def test_uploads_survive_faults_that_pass(self):
        """An answer that is cut or never comes may be that of a request which was done; a number may have been used and swept."""
        def sweep(path, times):
            if times == 0 and path.endswith("/000000"):
                GATEWAY.ask("PUT", path + ".gone", body=b"0" * 32)
        expected = self.cairn_ok("store", "search", self.local, "-n", "1000")
        spoilers = {
            "status": lambda path, times: (403, 429, 500, (503, {"Retry-After": "1"}))[len(path) % 4] if times == 0 else None,
            "cut": lambda path, times: "cut" if times == 0 else None,
            "hang": lambda path, times: "hang" if times == 0 and "/000000" in path else None,
            "late": lambda path, times: "late" if times == 0 and "/000001" in path else None,
            "swept": sweep,
        }

        def upload(name):
            address, copy = f"s3://traces/spoiled/{name}", self.folder / f"spoiled-{name}"
            shutil.copytree(self.local, copy)
            self.cairn_ok("store", "init", "-q", address)
            with object_storage.Proxy(GATEWAY.port) as proxy:
                proxy.spoil = spoilers[name]
                self.cairn_ok("store", "seal", "-q", copy, "--upload", address + "?timeout=3", port=proxy.port)
            self.assertEqual(self.cairn_ok("store", "search", address, "-n", "1000"), expected, name)
            self.assertEqual(len(GATEWAY.keys("traces", f"spoiled/{name}/manifest/")), SEGMENTS + 2 * (name == "swept"), name)
        with concurrent.futures.ThreadPoolExecutor(len(spoilers)) as pool:
            list(pool.map(upload, spoilers))

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
                        f"aws_secret_access_key = {object_storage.SECRET}\nendpoint_url = http://127.0.0.1:{GATEWAY.port}\n",
                        encoding="utf-8")
        address = f"{self.address}?credentials={path}&profile=cairn"
        self.assertIn("all", self.cairn_ok("store", "stats", address, AWS_ACCESS_KEY_ID="", AWS_ENDPOINT_URL=""))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--kills", type=int, default=200 if os.environ.get("CAIRN_THOROUGH") else 4, help="collectors that are killed")
    OPTIONS, rest = parser.parse_known_args()
    if not object_storage.is_installed():
        print("skipped: the packages ceph-mon, ceph-osd, radosgw and ceph-common are not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as ceph, object_storage.Gateway(ceph) as GATEWAY:
        unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful() or sys.exit(1)
