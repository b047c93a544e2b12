#!/usr/bin/env python3
"""Files of newer and older versions of each tool: what is known is read as if the rest were not there, and a version that
cannot be read is named.

Usage: test_versions.py --cairn PROGRAM --testdata FOLDER [unittest options]

Each file is extended as its format allows: unknown records, fields, members, sections, feature bits and minor versions. The
answer is that of the file without them, and counts are those of a plain reading of the bytes.
"""
import argparse
import gzip
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

# Fields that no message has: a number, bytes, eight bytes and four.
UNKNOWN_FIELDS = b"\xc0\x3e\x07" + b"\xca\x3e\x03abc" + b"\xd1\x3e" + bytes(8) + b"\xdd\x3e" + bytes(4)
SAMPLE = 9


def extended(value):
    """JSON with unknown members in each object."""
    if isinstance(value, dict):
        return {"futureNumber": 7, **{key: extended(each) for key, each in value.items()},
                "futureObject": {"a": [1, {"b": None}], "name": "not a name"}, "futureText": "\u00e9\\\"", "futureFlag": True}
    return [extended(each) for each in value] if isinstance(value, list) else value


def fields(message):
    """(number, kind, payload, bytes) of a protobuf message."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (message[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if message[at - 1] < 128:
                return value, at
    at = 0
    while at < len(message):
        begin = at
        key, at = varint(at)
        if key & 7 == 2:
            length, at = varint(at)
            payload, at = message[at:at + length], at + length
        elif key & 7 == 0:
            payload, at = varint(at)
        else:
            at += 8 if key & 7 == 1 else 4
            payload = message[at - 8:at]
        yield key >> 3, key & 7, payload, message[begin:at]


class World(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def cairn(self, *words, status=0):
        done = subprocess.run([OPTIONS.cairn, *map(str, words)], capture_output=True, text=True, errors="replace", timeout=120, check=False,
                              cwd=self.folder)
        self.assertEqual(done.returncode, status, f"{words}: {done.stdout[-300:]} {done.stderr}")
        return done.stdout if status == 0 else done.stderr

    def same(self, old, new, *words, ignore=()):
        """Both give the same rows, which are returned."""
        rows = [json.loads(self.cairn(*(path if word is None else word for word in words), "--format", "json")) for path in (old, new)]
        for each in rows:
            for row in each:
                for name in ignore:
                    row.pop(name, None)
        self.assertEqual(*rows)
        self.assertGreater(len(rows[0]), 0)
        return rows[0]

    def copy(self, source, name):
        target = self.folder / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        return target

    def change(self, path, change):
        path.chmod(0o644)
        path.write_bytes(change(path.read_bytes()))


class Perf(World):
    def records(self, content):
        at, size = struct.unpack_from("<QQ", content, 40)
        end = at + size
        while at < end:
            kind, _, length = struct.unpack_from("<IHH", content, at)
            yield kind, content[at:at + length]
            at += length

    def test_unknown_records_and_features(self):
        source = OPTIONS.testdata / "exchange/sampled.perf.data"
        content = source.read_bytes()
        off, size = struct.unpack_from("<QQ", content, 40)
        features = int.from_bytes(content[72:104], "little")
        strange = [struct.pack("<IHHQQ", kind, 0, 24, 1, 2) for kind in (50, 63, 150, 0x7fffffff)]
        data = b"".join(record + strange[i % 4] for i, (_, record) in enumerate(self.records(content)))
        grown = len(data) - size
        count = bin(features).count("1")
        table = [struct.unpack_from("<QQ", content, off + size + 16 * i) for i in range(count)]
        # A feature that is not known comes last, with a section of its own.
        tail = content[off + size + 16 * count:]
        sections = b"".join(struct.pack("<QQ", at + grown + 16, length) for at, length in table)
        sections += struct.pack("<QQ", len(content) + grown + 16, 8)
        header = bytearray(content[:off])
        struct.pack_into("<QQ", header, 40, off, len(data))
        header[72:104] = (features | 1 << 200).to_bytes(32, "little")
        newer = self.folder / "newer.perf.data"
        newer.write_bytes(bytes(header) + data + sections + tail + b"unknown!")
        self.same(source, newer, "tree", None)
        samples = sum(kind == SAMPLE for kind, _ in self.records(newer.read_bytes()))
        rows = self.same(source, newer, "sql", None, "SELECT count(*) AS n FROM samples WHERE context > 0")
        self.assertEqual(rows, [{"n": samples}])


class Uftrace(World):
    def test_unknown_lines_and_feature_bits(self):
        source = OPTIONS.testdata / "recording"
        newer = self.copy(source, "newer")
        self.change(newer / "info", lambda info: info[:0x17] + bytes([info[0x17] | 0x40]) + info[0x18:] + b"future:a value\nother line\n")
        (newer / "future.dat").write_bytes(b"unknown")
        self.same(source, newer, "report", None)
        self.same(source, newer, "sql", None, "SELECT * FROM threads")

    def test_an_unknown_line_of_tasks_is_said(self):
        """It may be damage of a known one: what is shown may be wrong."""
        source = OPTIONS.testdata / "recording"
        newer = self.copy(source, "newer")
        self.change(newer / "task.txt", lambda text: text + b"FUTR timestamp=1.000000001 tid=100 what=unknown\n")
        done = subprocess.run([OPTIONS.cairn, "report", newer, "--format", "json"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, json.loads(done.stdout)), (3, json.loads(self.cairn("report", source, "--format", "json"))))
        self.assertIn("FUTR", done.stderr)

    def test_a_newer_version_is_named(self):
        newer = self.copy(OPTIONS.testdata / "recording", "newer")
        self.change(newer / "info", lambda info: info[:8] + struct.pack("<I", 77) + info[12:])
        self.assertIn("77", self.cairn("report", newer, status=3))


class Databases(World):
    def test_a_newer_minor_version(self):
        for source in ("sample", "hpctoolkit/v4/loops-cputime-t.d"):
            with self.subTest(source):
                source = OPTIONS.testdata / source
                newer = self.copy(source, f"newer-{source.name}")
                for path in newer.glob("*.db"):
                    if path.name in ("meta.db", "profile.db", "cct.db", "trace.db"):
                        self.change(path, lambda content: content[:15] + b"\x63" + content[16:])
                for words in (("tree", None), ("flat", None)):
                    self.same(source, newer, *words)

    def test_a_newer_major_version_is_named(self):
        newer = self.copy(OPTIONS.testdata / "sample", "newer")
        self.change(newer / "meta.db", lambda content: content[:14] + b"\x63" + content[15:])
        self.assertIn("99", self.cairn("tree", newer, status=3))


class Traces(World):
    def stored(self, path, name):
        self.cairn("store", "add", "-q", "--create", name, path)
        return self.folder / name

    def spans(self, store):
        return json.loads(self.cairn("store", "search", store, "--spans", "-n", "1000", "--format", "json"))

    def test_unknown_members_of_json(self):
        for name in ("otlp", "zipkin"):
            with self.subTest(name):
                source = OPTIONS.testdata / f"exchange/concurrent-spans.{name}.json"
                newer = self.folder / f"newer.{name}.json"
                newer.write_text(json.dumps(extended(json.loads(source.read_text()))))
                spans = self.spans(self.stored(newer, f"{name}-new"))
                self.assertEqual(spans, self.spans(self.stored(source, f"{name}-old")))
                self.assertEqual(len(spans), source.read_text().count('"traceId"'))

    def test_the_name_of_scopes_before_1_0(self):
        source = OPTIONS.testdata / "exchange/concurrent-spans.otlp.json"
        older = self.folder / "older.json"
        older.write_text(source.read_text().replace("scopeSpans", "instrumentationLibrarySpans").replace('"scope"', '"instrumentationLibrary"'))
        self.assertEqual(self.spans(self.stored(older, "older")), self.spans(self.stored(source, "now")))

    def test_unknown_fields_of_protobuf(self):
        source = OPTIONS.testdata / "exchange/concurrent-spans.otlp.json"
        self.cairn("convert", "-q", source, "old.otlp", "--to", "otlp")
        content = (self.folder / "old.otlp").read_bytes()
        newer = b""
        for number, kind, payload, whole in fields(content):
            self.assertEqual((number, kind), (1, 2))
            payload += UNKNOWN_FIELDS
            length = b""
            rest = len(payload)
            while rest > 127:
                length, rest = length + bytes([rest & 127 | 128]), rest >> 7
            newer += b"\x0a" + length + bytes([rest]) + payload + UNKNOWN_FIELDS
        (self.folder / "new.otlp").write_bytes(newer)
        spans = self.spans(self.stored("new.otlp", "new"))
        self.assertEqual(spans, self.spans(self.stored("old.otlp", "old")))
        self.assertEqual(len(spans), source.read_text().count('"traceId"'))


class Profiles(World):
    def test_unknown_fields_of_pprof(self):
        for source in sorted((OPTIONS.testdata / "exchange").glob("*.pprof")):
            with self.subTest(source.name):
                content = source.read_bytes()
                content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
                newer = self.folder / f"newer-{source.name}"
                newer.write_bytes(gzip.compress(content + UNKNOWN_FIELDS))
                self.same(source, newer, "tree", None)

    def test_unknown_members_and_events_of_chrome_and_speedscope(self):
        for kind in ("chrome", "speedscope"):
            with self.subTest(kind):
                source = self.folder / f"old.{kind}.json"
                self.cairn("convert", "-q", OPTIONS.testdata / "recording", source, "--to", kind)
                content = extended(json.loads(source.read_text()))
                if kind == "chrome":
                    content["traceEvents"][3:3] = [{"ph": "?", "ts": 1, "pid": 1, "tid": 1}, {"ph": "future", "name": "x"}]
                newer = self.folder / f"new.{kind}.json"
                newer.write_text(json.dumps(content))
                self.same(source, newer, "report", None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--testdata", required=True, type=pathlib.Path)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.cairn, OPTIONS.testdata = os.path.abspath(OPTIONS.cairn), OPTIONS.testdata.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
