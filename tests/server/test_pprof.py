#!/usr/bin/env python3
"""Profiles that `go tool pprof` fetches: /pprof/SOURCE has the bytes that `cairn convert` writes.

Usage: test_pprof.py --cairn PROGRAM --testdata FOLDER
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

from service import Service

OPTIONS = argparse.Namespace()
FOLDED = "main;parse;read 30\nmain;work;hash 55\nmain;work 15\n"


def convert(path, *options):
    """The profile that `cairn convert` writes, without gzip, and its exit status."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([OPTIONS.cairn, "convert", "-q", path, f"{folder}/out.pb.gz", "--to", "pprof", *options],
                              stderr=subprocess.PIPE, check=False)
        return gzip.decompress(pathlib.Path(folder, "out.pb.gz").read_bytes()), done.returncode


class Profiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        (folder / "work.folded").write_text(FOLDED, encoding="utf-8")
        shutil.copytree(f"{OPTIONS.testdata}/recording", folder / "damaged")
        trace = max((folder / "damaged").glob("*.dat"), key=lambda path: path.stat().st_size)
        trace.write_bytes(trace.read_bytes()[:-5])
        request = {"resourceSpans": [{"scopeSpans": [{"spans": [{
            "traceId": "1" * 32, "spanId": "2" * 16, "name": "work",
            "startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000000000001000"}]}]}]}
        (folder / "spans.json").write_text(json.dumps(request), encoding="utf-8")
        subprocess.run([OPTIONS.cairn, "store", "add", "-q", "--create", folder / "store", folder / "spans.json"], check=True)
        cls.paths = [f"{OPTIONS.testdata}/sample", f"{OPTIONS.testdata}/recording", f"{OPTIONS.testdata}/measurements",
                     str(folder / "work.folded"), str(folder / "damaged"), str(folder / "store"),
                     f"{OPTIONS.testdata}/exchange/sampled.perf.data", f"{OPTIONS.testdata}/exchange/cpu.pprof"]
        cls.service = Service(OPTIONS.cairn, *cls.paths, checks=False)

    @classmethod
    def tearDownClass(cls):
        status, talk = cls.service.end()
        cls.folder.cleanup()
        if status != 0 or "ERROR" in talk:
            raise AssertionError(f"cairn serve ended with {status}: {talk}")

    def ask(self, path, headers=None, **parameters):
        """As pprof asks: once, with the token in the address."""
        query = urllib.parse.urlencode({"token": self.service.token, **parameters}, doseq=True)
        response, body = self.service.receive(f"{path}?{query}", headers=headers or {})
        return response.status, response.headers, body

    def get(self, source, **parameters):
        status, headers, body = self.ask(f"/pprof/{source}", **parameters)
        self.assertEqual(status, 200, body[:300])
        self.assertEqual(headers["Content-Type"], "application/octet-stream")
        self.assertEqual(int(headers["Content-Length"]), len(body))
        return gzip.decompress(body), headers

    # Asked for first, while it is analysed: the request waits.
    def test_a_measurements(self):
        self.assertEqual(self.get(2)[0], convert(self.paths[2])[0])

    def test_all_kinds(self):
        for source in (0, 1, 3, 6, 7):
            expected, status = convert(self.paths[source])
            self.assertEqual(status, 0)
            got, headers = self.get(source)
            self.assertEqual(got, expected, self.paths[source])
            self.assertNotIn("Warning", headers)
        self.assertIn(b"hash", self.get(3)[0])
        for path in ("/pprof", "/pprof/"):
            self.assertEqual(gzip.decompress(self.ask(path)[2]), convert(self.paths[0])[0])

    def test_filters_and_metrics(self):
        cases = [(3, {"focus": "work"}, ["--focus", "work"]),
                 (3, {"hide": ["parse", "hash"]}, ["--hide", "parse", "--hide", "hash"]),
                 (1, {"mycode": "1"}, ["--my-code"]),
                 (1, {"waits": "1"}, ["--waits"]),
                 (0, {"metric": "cycles"}, ["--metric", "cycles"]),
                 (0, {"metric": "cycles", "collapse": "recursion"}, ["--metric", "cycles", "--collapse", "recursion"])]
        for source, parameters, options in cases:
            got = self.get(source, **parameters)[0]
            self.assertEqual(got, convert(self.paths[source], *options)[0], parameters)
            self.assertNotEqual(got, self.get(source)[0], parameters)

    def test_what_is_before_the_damage(self):
        expected, status = convert(self.paths[4])
        self.assertEqual(status, 3)
        got, headers = self.get(4)
        self.assertEqual(got, expected)
        self.assertRegex(headers["Warning"], r'^299 cairn "[ !#-\[\]-~]+"$')

    def test_what_is_not_there(self):
        for path, parameters, status, words in (
                ("/pprof/5", {}, 404, "source 5 is a store of traces"),
                ("/pprof/8", {}, 404, "no source 8"),
                ("/pprof/x", {}, 404, "/pprof/SOURCE"),
                ("/pprof/0/x", {}, 404, "/pprof/SOURCE"),
                ("/pprof/99999999999", {}, 404, "/pprof/SOURCE"),
                ("/pprof/0", {"seconds": "5"}, 400, "parameter seconds"),
                ("/pprof/0", {"metric": "nope"}, 404, "no metric 'nope'"),
                ("/pprof/1", {"metric": "nope"}, 400, "parameter metric"),
                ("/pprof/0", {"metric": "cycles", "waits": "1"}, 400, "exclude each other"),
                ("/pprof/0", {"hide": "language:nope:"}, 400, "")):
            got = self.ask(path, **parameters)
            self.assertEqual(got[0], status, (path, parameters, got[2]))
            self.assertIn(words, json.loads(got[2])["error"]["text"])

    def test_access(self):
        for path in ("/pprof/0", "/pprof/5", "/pprof"):
            self.assertEqual(self.ask(path, token="wrong" * 5)[0], 401)
            self.assertEqual(self.service.receive(path, headers={})[0].status, 401)
        self.assertEqual(self.service.receive("/pprof/0")[0].status, 200)  # Authorization
        self.assertEqual(self.ask("/pprof/0", headers={"Host": "elsewhere.example"})[0], 421)
        # The token counts in no other address.
        for path in ("/api/v1/sources", "/pprofs", "/metrics"):
            self.assertEqual(self.ask(path)[0], 401, path)

    def test_many_at_once(self):
        expected = [convert(self.paths[source])[0] for source in (0, 1, 3)]

        def one(i):
            status, headers, body = self.ask(f"/pprof/{(0, 1, 3)[i % 3]}")
            if status == 503:
                self.assertEqual(headers["Retry-After"], "1")
                return False
            self.assertEqual((status, gzip.decompress(body)), (200, expected[i % 3]))
            return True

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            self.assertGreaterEqual(sum(pool.map(one, range(48))), 4)

    @unittest.skipUnless(shutil.which("go"), "go is not installed")
    def test_go_tool_pprof(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                ["go", "tool", "pprof", "-top", f"{self.service.url.split('/?')[0]}/pprof/3?token={self.service.token}"],
                capture_output=True, text=True, check=False, env={**os.environ, "PPROF_TMPDIR": folder})
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {words[-1]: (words[0], words[3]) for words in map(str.split, done.stdout.splitlines()) if len(words) == 6}
        self.assertEqual({name: rows.get(name) for name in ("hash", "work", "read", "main")},
                         {"hash": ("55", "55"), "work": ("15", "70"), "read": ("30", "30"), "main": ("0", "100")}, done.stdout)


class Ends(unittest.TestCase):
    def test_while_it_writes(self):
        """A server that ends answers what it has begun, and leaves no file."""
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TMPDIR"] = folder
            try:
                for delay in (0, 0.005, 0.02, 0.05):
                    service = Service(OPTIONS.cairn, f"{OPTIONS.testdata}/sample", f"{OPTIONS.testdata}/measurements", checks=False)

                    def one(i, service=service):
                        try:
                            return service.receive(f"/pprof/{i % 2}")[0].status
                        except OSError:
                            return 0  # it had ended
                    with concurrent.futures.ThreadPoolExecutor(8) as pool:
                        asked = [pool.submit(one, i) for i in range(8)]
                        time.sleep(delay)
                        status, talk = service.end()
                        for future in asked:
                            self.assertIn(future.result(), (0, 200, 503))
                    self.assertEqual(status, 0, talk)
                    self.assertNotIn("ERROR", talk)
                    self.assertEqual([name for name in os.listdir(folder) if "pprof" in name], [])
            finally:
                del os.environ["TMPDIR"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--testdata", required=True)
    _, rest = parser.parse_known_args(namespace=OPTIONS)
    unittest.main(argv=[sys.argv[0], *rest])


main()
