#!/usr/bin/env python3
"""Answers about peculiar data, which have members that others lack: long, damaged and large data.

Usage: test_peculiar.py --cairn PROGRAM --testdata FOLDER
"""
import argparse
import contextlib
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from service import serving

MAIN, WORK = 0x401000, 0x401100  # functions of the recording
FIRST_NS = 1_000_000_030  # in its session


def record(time_ns, is_exit, depth, address):
    return struct.pack("<QQ", time_ns, is_exit | 5 << 3 | depth << 6 | address << 16)


def records_of_long_call(pairs):
    """One call that calls another one so often."""
    yield record(FIRST_NS, 0, 0, MAIN)
    for i in range(pairs):
        yield record(FIRST_NS + 2 * i + 1, 0, 1, WORK)
        yield record(FIRST_NS + 2 * i + 2, 1, 1, WORK)
    yield record(FIRST_NS + 2 * pairs + 1, 1, 0, MAIN)


class Peculiar(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def copy(self, name):
        return pathlib.Path(shutil.copytree(f"{OPTIONS.testdata}/{name}", f"{self.folder}/{name}"))

    @contextlib.contextmanager
    def serving_alone(self, path):
        """Without a comparison with the engine, which does not analyse, or takes too long."""
        with serving(OPTIONS.cairn, str(path)) as service:
            try:
                yield service
            finally:
                service.asked.clear()

    def test_calls_longer_than_a_request_reads(self):
        recording, pairs = self.copy("recording"), 1_100_000  # more than one part of the file
        (recording / "100.dat").write_bytes(b"".join(records_of_long_call(pairs)))
        with self.serving_alone(recording) as service:
            answers = [service.get("sources/0/calls", task=0, limit=1, function="main") for _ in range(2)]
            call = answers[0]["calls"][0]
            self.assertNotIn("duration", call)
            self.assertGreater(call["atLeast"], 400_000)
            self.assertLess(call["atLeast"], 2 * pairs)
            # The next answer goes on where that one stopped.
            self.assertEqual([answer.get("isPartial") for answer in answers], [True, None])
            self.assertEqual(answers[1]["calls"][0]["duration"], 2 * pairs + 1)
            # A search that finds nothing continues where it stopped, and ends.
            found = service.get("sources/0/find", task=0, function="nothing")
            self.assertEqual((found["isFound"], found["next"].split(".")[0] > "0"), (False, True))
            self.assertEqual(service.get("sources/0/find", task=0, function="nothing", at=found["next"]),
                             {"isFound": False})

    def test_records_are_listed_up_to_damage(self):
        recording = self.copy("recording")
        data = recording / "100.dat"
        data.write_bytes(data.read_bytes()[:-5])
        with serving(OPTIONS.cairn, str(recording)) as service:
            calls = service.get("sources/0/calls", task=0)
        self.assertGreater(len(calls["calls"]), 0)
        self.assertIn("100.dat", calls["damage"])

    def test_a_failed_analysis_has_a_reason(self):
        measurements = self.copy("measurements")
        for path in measurements.glob("*.hpcrun"):
            path.write_bytes(path.read_bytes()[:100])
        with self.serving_alone(measurements) as service:
            source, = service.get_ready()
            self.assertEqual(source["state"], "failed")
            self.assertIn("none of 3 profiles can be analysed", source["failure"])

    def test_timelines_that_were_thinned_say_so(self):
        database = f"{self.folder}/run.db"
        subprocess.run([OPTIONS.cairn, "analyze", "-q", "--trace", "1us", f"{OPTIONS.testdata}/recording", "-o", database],
                       check=False)
        with serving(OPTIONS.cairn, database) as service:
            self.assertEqual(service.get("sources/0/info")["timelineResolution"], 1000)

    def test_waits_in_the_c_library_have_a_caller(self):
        recording = self.copy("recording")
        for path in [*recording.glob("*.sym"), recording / "task.txt"]:
            path.write_text(path.read_text(encoding="utf-8").replace("libplugin.so", "libc.so.6"), encoding="utf-8")
        (recording / "libplugin.so.sym").rename(recording / "libc.so.6.sym")
        with serving(OPTIONS.cairn, str(recording)) as service:
            service.get_ready()
            waiting = service.get("sources/0/overview", whole=1)["waiting"]
        self.assertEqual([(one["row"]["label"], one["caller"]) for one in waiting], [("plugin_run", "main")])

    def test_the_first_answer_of_a_large_view_is_an_estimate(self):
        database = f"{self.folder}/large.db"
        subprocess.run([f"{os.environ['CAIRN_BUILD']}/bench_gen_database", "--threads", "300", "--contexts", "110000",
                        "--values", "3000000", "--samples", "1", "-o", database], check=True, stdout=subprocess.DEVNULL)
        with self.serving_alone(database) as service:
            rows = service.get("sources/0/rows", view="bottom-up", limit=1)["rows"]
            for question, parameters in (("rows", {"view": "flat"}), ("flame", {"view": "flat"}),
                                         ("search", {"view": "flat", "q": "a"}),
                                         ("function", {"row": rows[0]["context"]})):
                with self.subTest(question):
                    # Another selection of threads is another view. A job may be done before a request waits for it.
                    answers = (service.get(f"sources/0/{question}", thread=f"THREAD {first}-299", **parameters)
                               for first in range(1, 20))
                    self.assertTrue(any(answer.get("isPartial") for answer in answers))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--testdata", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
