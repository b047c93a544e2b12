#!/usr/bin/env python3
"""The engine of pages without a server (src/wasm) answers what `cairn serve` answers, byte for
byte, for every format it opens.

Usage: test_engine.py --cairn PROGRAM --testdata FOLDER
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from service import engine_answers, has_engine, serving

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = pathlib.Path(os.environ.get("CAIRN_FIXTURES", ROOT.parent / "shared" / "fixtures"))
# One of each format and peculiarity.
NAMES = [
    "hpctoolkit/v4/*loops*", "hpctoolkit/v4/gen-small-stats", "hpctoolkit/proto/*",
    "hpctoolkit/xml/*", "hpctoolkit/xml-legacy/*", "uftrace/exec", "uftrace/fork",
    "uftrace/trigger-callsite", "exchange/*", "zorka/store-*",
]
PER_NAME = 2


def fixtures():
    for name in NAMES:
        found = sorted(path for path in FIXTURES.glob(name)
                       if not path.name.endswith((".txt", ".expected")))
        yield from found[:PER_NAME]


def ask_database(service, number):
    def ask(question, **parameters):
        return service.get(f"sources/{number}/{question}", **parameters)

    info = ask("info")
    ask("threads")
    for view in ("top-down", "collapsed", "bottom-up", "flat"):
        rows = ask("rows", view=view)["rows"]
        for row in rows[:3]:
            ask("rows", view=view, row=row["id"])
        ask("flame", view=view)
        ask("search", view=view, q="a")
    ask("hot-path")
    ask("overview")
    for row in ask("rows")["rows"][:3]:
        ask("context", row=row["id"])
        for question in ("function", "source"):  # which not all have
            service.ask(f"/api/v1/sources/{number}/{question}?row={row['id']}")
    if info["hasTimelines"]:
        middle = info["duration"] // 2
        ask("timeline", columns=50)
        ask("timeline", columns=200, depth=2, begin=0, end=max(middle, 1))
        ask("stack", profile=1, time=middle)
        ask("range", begin=0, end=max(middle, 1))
    if "tasks" in info:
        for call in ask("calls", limit=50)["calls"]:
            if call["kind"] == "enter":
                ask("find", function=call["name"])
                break


def ask_store(service, number):
    def ask(question, **parameters):
        return service.get(f"sources/{number}/{question}", **parameters)

    ask("info")
    traces = ask("traces", limit=20)["traces"]
    ask("traces", q="errors")
    ask("histogram")
    ask("groups", by="method")
    ask("flame")
    for trace in traces[:5]:
        ask("trace", key=trace["key"])
        ask("methods", key=trace["key"])


class SameAnswers(unittest.TestCase):
    def ask_all(self, *paths):
        with serving(OPTIONS.cairn, *map(str, paths)) as service:
            for source in service.get_ready():
                ask = ask_store if source["kind"] == "store" else ask_database
                with self.subTest(source["path"]):
                    ask(service, source["id"])

    def test_of_databases_recordings_and_stores(self):
        self.ask_all(f"{OPTIONS.testdata}/sample", f"{OPTIONS.testdata}/recording", *fixtures())

    def test_of_samples_in_a_page(self):
        """Their symbols are those of the machine that exported them; rows have other numbers."""
        with tempfile.TemporaryDirectory() as folder:
            data, page = f"{folder}/cairn.perf.data", f"{folder}/page.html"
            subprocess.run([OPTIONS.cairn, "sample", "-q", "-o", data, "--",
                            OPTIONS.cairn, "help", "--list"],
                           check=True, stdout=subprocess.DEVNULL)
            subprocess.run([OPTIONS.cairn, "export-html", "-q", data, page], check=True)
            addresses = [f"/api/v1/sources/0/rows?view={view}" for view in ("top-down", "bottom-up", "flat")]
            answers = engine_answers(addresses, page=page)
            with serving(OPTIONS.cairn, "--listen", "127.0.0.1:0", data) as service:
                for address, answer in zip(addresses, answers):
                    expected = json.loads(service.ask(address)[2])
                    self.assertEqual(expected["columns"], answer["columns"])
                    self.assertEqual([(row["label"], row["values"]) for row in expected["rows"]],
                                     [(row["label"], row["values"]) for row in answer["rows"]])

    def test_of_a_page_that_had_to_be_smaller(self):
        """It has all but what the command names."""
        with tempfile.TemporaryDirectory() as folder:
            page = f"{folder}/page.html"

            def export(*options):
                done = subprocess.run([OPTIONS.cairn, "export-html", "-f", *options,
                                       f"{OPTIONS.testdata}/recording", page],
                                      text=True, capture_output=True, check=False)
                return done.returncode, done.stderr

            self.assertNotIn("without", export()[1])
            size = os.path.getsize(page)
            self.assertIn("without the list of calls and names of threads;", export("--max-size", str(size - 1))[1])
            self.assertLess(os.path.getsize(page), size)
            info, rows = engine_answers(["/api/v1/sources/0/info", "/api/v1/sources/0/rows"],
                                        page=page)
            self.assertNotIn("tasks", info)
            self.assertTrue(info["hasTimelines"])
            self.assertGreater(rows["count"], 0)
            status, message = export("--max-size", "10K")
            self.assertIn("without the list of calls and names of threads, timelines", message)
            self.assertEqual(status, 3)

    def test_of_damaged_data_is_an_answer_or_a_message(self):
        program, engine = os.environ["CAIRN_ENGINE"].split(":")
        corpus = sorted((ROOT / "tests" / "fuzz" / "corpus" / "perf").iterdir())
        result = subprocess.run(
            ["node", program.replace("engine_replay", "engine_damage"), engine, "3",
             f"{OPTIONS.testdata}/sample", f"{OPTIONS.testdata}/recording",
             ROOT / "tests" / "web" / "spans.json", *corpus,
             *sorted(path for path in (FIXTURES / "exchange").glob("*.pprof"))[:1]],
            text=True, capture_output=True, timeout=600, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--testdata", required=True)
    OPTIONS, rest = parser.parse_known_args()
    if not has_engine():
        print("skipped: the engine was left out of the build")
        return 77
    return 0 if unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
