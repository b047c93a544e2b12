#!/usr/bin/env python3
"""Stores in object storage behind a proxy that spoils requests at random: each answer is right, or the command says that it failed.

Usage: test_spoiled.py --cairn PROGRAM [--rounds N] [--seconds S]

Each round has a store of its own, and a number of commands through a proxy that refuses, delays, cuts, shortens, garbles,
repeats and swaps answers, and resets connections after the request was carried out. A command with status 0 has done what it
says: traces that were added are found, once each, by searches through the proxy, with its cache, and without either.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import object_storage
import seeds

STEPS, TRACES = 14, 8
KINDS = ("status", "status", "cut", "short", "garbled", "etag", "reset", "twice", "swapped", "slow", "empty")


def spans(first):
    """Two spans of each trace, as Zipkin. Files of two segments have other lengths."""
    def span(number, index):
        return {"traceId": f"{number + 1:032x}", "id": f"{2 * number + index + 1:016x}", "name": ("checkout", "charge")[index],
                "timestamp": 1_700_000_000_000_000 + number * 10_000 + index, "duration": 700 - index,
                "tags": {"order": f"order-{number}", "note": "".join(f"{first + i:x} " for i in range(first))}, "localEndpoint": {"serviceName": ("shop", "pay")[index]},
                **({"parentId": f"{2 * number + 1:016x}"} if index else {})}
    return [span(number, index) for number in range(first, first + TRACES) for index in (0, 1)]


class Wrong(Exception):
    pass


class Round:
    """A store, the traces that must be in it, and those that may be."""

    def __init__(self, options, chance, port, folder, number):
        self.options, self.chance, self.gateway, self.folder = options, chance, port, folder
        self.name = f"spoiled/{os.getpid()}-{number}"
        self.address, self.spool = f"s3://traces/{self.name}", folder / "spool"
        self.sure, self.maybe, self.next = set(), set(), 0
        self.counts, self.spoiled = collections.Counter(), []

    def cairn(self, *words, port=None, cache="cache"):
        done = subprocess.run([self.options.cairn, *map(str, words)], capture_output=True, text=True, errors="replace", timeout=300,
                              env=object_storage.environment(port or self.gateway, self.folder / cache))
        if done.returncode not in (0, 1, 3) or "Sanitizer" in done.stderr or "runtime error" in done.stderr:
            raise Wrong(f"{words} ends with {done.returncode}: {done.stderr}")
        if done.returncode != 0 and not done.stderr:
            raise Wrong(f"{words}: status {done.returncode}, says nothing")
        return done

    def spoil(self, rate):
        def choose(path, _):
            if self.chance.random() >= rate:
                return None
            self.spoiled.append((self.chance.choice(KINDS), path))
            return self.spoiled[-1][0]
        return choose

    def write(self):
        path = self.folder / f"{self.next}.json"
        path.write_text(json.dumps(spans(self.next)))
        numbers = set(range(self.next, self.next + TRACES))
        self.next += TRACES
        return path, numbers

    def add(self, port):
        path, numbers = self.write()
        self.maybe |= numbers
        done = self.cairn("store", "add", "-q", f"{self.address}?timeout=2", path, port=port)
        if done.returncode == 0:
            self.sure |= numbers
        return done

    def upload(self, port):
        path, numbers = self.write()
        self.maybe |= numbers
        self.cairn("store", "add", "-q", "--create", self.spool, path)
        done = self.cairn("store", "seal", "-q", self.spool, "--upload", f"{self.address}?timeout=2", port=port)
        if done.returncode == 0:
            self.sure |= set(range(self.next)) & self.spooled()
        return done

    def spooled(self):
        """Everything that ever was in the spool is uploaded when sealing it succeeds."""
        self.all_spooled = getattr(self, "all_spooled", set()) | set(range(self.next - TRACES, self.next))
        return self.all_spooled

    def search(self, port, cache="cache"):
        done = self.cairn("store", "search", f"{self.address}?timeout=2", "-n", "100000", "--format=json", port=port, cache=cache)
        if done.returncode == 0:
            self.check(done)
        return done

    def check(self, done):
        rows = json.loads(done.stdout)
        found = [int(row["trace_id"], 16) - 1 for row in rows]
        if len(set(found)) != len(found) or any(row["spans"] != 2 for row in rows):
            raise Wrong(f"traces are there twice, or not whole: {rows}")
        if missing := self.sure - set(found):
            raise Wrong(f"{len(missing)} traces are missing of {len(self.sure)}: {sorted(missing)}; {done.stderr}")
        if more := set(found) - self.maybe:
            raise Wrong(f"{sorted(more)} were never added")

    def find_one(self, port):
        """An attribute that one trace has."""
        number = self.chance.randrange(self.next + 1)
        done = self.cairn("store", "search", f"{self.address}?timeout=2", f"order = order-{number}", "--format=json", port=port)
        if done.returncode == 0:
            found = [int(row["trace_id"], 16) - 1 for row in json.loads(done.stdout)]
            if found not in ([[number]] if number in self.sure else [[number], []]):
                raise Wrong(f"order-{number}: {found}, {done.stderr}")
        return done

    def compact(self, port):
        return self.cairn("store", "compact", f"{self.address}?timeout=2" + self.chance.choice(("", "&grace=0")), port=port)

    def expire(self, port):
        """Nothing is as old as that; old objects are swept, and entries merged."""
        return self.cairn("store", "expire", f"{self.address}?timeout=2&grace=0", "--max-size=1T", port=port)

    def recover(self, port):
        return self.cairn("store", "recover", f"{self.address}?timeout=2", port=port)

    def run(self):
        done = self.cairn("store", "init", "-q", self.address)
        if done.returncode != 0:
            raise Wrong(done.stderr)
        steps = [self.add] * 3 + [self.upload] * 2 + [self.search] * 3 + [self.find_one] * 2 + [self.compact] * 2 + [self.expire, self.recover]
        rate = self.chance.choice((0.02, 0.1, 0.3))
        with object_storage.Proxy(self.gateway) as proxy:
            proxy.spoil = self.spoil(rate)
            for step in self.chance.sample(steps, STEPS):
                self.spoiled.clear()
                done = step(proxy.port)
                self.counts[step.__name__, done.returncode == 0] += 1
            self.spoiled.clear()
            self.counts["requests", True] += len(proxy.seen)
        self.finish()

    def finish(self):
        """Without faults: with the cache of before, and without."""
        if self.spool.exists():
            done = self.cairn("store", "seal", "-q", self.spool, "--upload", self.address)
            if done.returncode != 0:
                raise Wrong(f"upload without faults: {done.stderr}")
            self.sure |= getattr(self, "all_spooled", set())
        for words, cache in ((("store", "search"), "cache"), (("store", "search"), "fresh")):
            if self.search(None, cache).returncode != 0:
                raise Wrong(f"{words} with {cache}, without faults: {self.search(None, cache).stderr}")
        for words in (("store", "verify", self.address), ("store", "compact", f"{self.address}?grace=0"), ("store", "verify", self.address)):
            done = self.cairn(*words)
            if done.returncode != 0:
                raise Wrong(f"{words}, without faults: {done.stdout} {done.stderr}")
        self.search(None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0, help="as many rounds as there is time for")
    options = parser.parse_args()
    if not object_storage.is_installed():
        print("skipped: the packages ceph-mon, ceph-osd, radosgw and ceph-common are not installed")
        sys.exit(77)
    chance, counts, wrong, number = seeds.source(), collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory() as ceph, object_storage.Gateway(ceph) as gateway:
        end = time.monotonic() + options.seconds
        while number < options.rounds or time.monotonic() < end:
            with tempfile.TemporaryDirectory() as folder:
                each = Round(options, chance, gateway.port, pathlib.Path(folder), number)
                try:
                    each.run()
                except Wrong as error:
                    wrong += 1
                    print(f"round {number}: {error}; spoiled: {each.spoiled}", flush=True)
                counts += each.counts
            number += 1
    print(", ".join(f"{name} {'succeeded' if ok else 'failed'}: {count}" for (name, ok), count in sorted(counts.items())))
    print(f"{number} rounds, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
