#!/usr/bin/env python3
"""The engine of pages without a server (src/wasm) answers what `cairn serve` answers, byte for
byte, for every format it opens.

Usage: test_engine.py --cairn PROGRAM --testdata FOLDER
"""
import argparse
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from service import ask_engine, engine_answers, has_engine, keep_asked, load_of, serving

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import data
# One of each format and peculiarity.
NAMES = [
    "hpctoolkit/v4/*loops*", "hpctoolkit/v4/gen-small-stats", "hpctoolkit/proto/*",
    "hpctoolkit/xml/*", "hpctoolkit/xml-legacy/*", "uftrace/exec", "uftrace/fork",
    "uftrace/trigger-callsite", "exchange/*",
]
PER_NAME = 2
# Where the inputs of a fuzz target belong. Those of other targets are opened as files of their own.
FILES = {
    "hpc_v4_meta": ("{testdata}/sample", "meta.db"), "hpc_v4_profile": ("{testdata}/sample", "profile.db"),
    "hpc_v4_cct": ("{testdata}/sample", "cct.db"), "hpc_v4_trace": ("{testdata}/sample", "trace.db"),
    "hpc_v4_latency": ("{testdata}/sample", "latency.db"), "hpc_v4_states": ("{testdata}/sample", "states.db"),
    "hpc_metrics_yaml": ("{testdata}/sample", "metrics/default.yaml"),
    "hpc_proto_meta": ("{testdata}/hpctoolkit/proto/synth-small-7sec", "meta.db"),
    "hpc_sparse_profile": ("{testdata}/hpctoolkit/xml/gen-small", "profile.db"),
    "hpc_sparse_cct": ("{testdata}/hpctoolkit/xml/gen-small", "cct.db"),
    "hpc_sparse_trace": ("{testdata}/hpctoolkit/xml/gen-small", "trace.db"),
    "hpc_xml_experiment": ("{testdata}/hpctoolkit/xml/gen-small", "experiment.xml"),
    "hpc_xml_legacy": ("{testdata}/hpctoolkit/xml-legacy/viewer-inline.xml.db", "experiment.xml"),
    "hpc_xml_mdb": ("{testdata}/hpctoolkit/xml-legacy/viewer-inline.xml.db", "experiment-1.mdb"),
    "hpc_xml_mt": ("{testdata}/hpctoolkit/xml-legacy/viewer-inline.xml.db", "experiment.mt"),
    "hpc_xml_metric_db": ("{testdata}/hpctoolkit/xml-legacy/hatchet-cpi", "1.forked-000000-000-a8c00270-160443-0.metric-db"),
    "uft_dat": ("{testdata}/recording", "100.dat"), "uft_task": ("{testdata}/recording", "task.txt"),
    "uft_info": ("{testdata}/recording", "info"), "uft_perf": ("{testdata}/recording", "perf-cpu0.dat"),
    "uft_sym": ("{testdata}/recording", "program.sym"), "uft_dbg": ("{testdata}/recording", "program.dbg"),
    "uft_map": ("{testdata}/recording", "sid-00112233445566aa.map"), "uft_packed": ("{folder}/packed.data", "100.zts"),
    "uft_kernel": ("{testdata}/uftrace/kernel", "kernel-cpu0.dat"),
    "chunk_file": ("{folder}/store", "000000/traces.dat"), "store_columns": ("{folder}/store", "000000/meta.dat"),
    "store_postings": ("{folder}/store", "000000/post.dat"), "store_texts": ("{folder}/store", "000000/text.idx"),
    "store_logs": ("{folder}/open", "000000/text.log"), "zorka_record": ("{folder}/open", "000000/traces.dat"),
}


def sources():
    for root in data.roots():
        for name in NAMES:
            found = sorted(path for path in root.glob(name)
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
        ask("slowest")
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


def pairs(at, count):
    """Types of a Rust name from this offset on: a pair, then pairs of the pair before."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    text = "TuuE"
    last = at
    for _ in range(count):
        number = digits[(last - 1) // 62].lstrip("0") + digits[(last - 1) % 62]
        last = at + len(text)
        text += f"TB{number}_B{number}_E"
    return text


class SameAnswers(unittest.TestCase):
    def ask_all(self, *paths):
        with serving(OPTIONS.cairn, *map(str, paths)) as service:
            for source in service.get_ready():
                ask = ask_store if source["kind"] == "store" else ask_database
                with self.subTest(source["path"]):
                    ask(service, source["id"])

    def test_of_databases_recordings_and_stores(self):
        with tempfile.TemporaryDirectory() as folder:
            stores = []
            for java in data.find("zorka/store-*/"):
                stores.append(f"{folder}/{len(stores)}-{java.name}")
                for words in (["init", stores[-1]], ["import", stores[-1], str(java)]):
                    subprocess.run([OPTIONS.cairn, "store", *words, "-q"], check=True)
            self.ask_all(f"{OPTIONS.testdata}/sample", f"{OPTIONS.testdata}/recording", *sources(), *stores)

    def test_of_a_file_of_more_than_4_gb(self):
        """Its offsets have 64 bits: the samples are moved behind a hole, which takes no space."""
        hole = 5 << 30
        with tempfile.TemporaryDirectory() as folder:
            database = shutil.copytree(f"{OPTIONS.testdata}/sample", f"{folder}/far.db")
            trace = pathlib.Path(database, "trace.db")
            content = bytearray(trace.read_bytes())
            records, count, length = struct.unpack_from("<QIB", content, struct.unpack_from("<Q", content, 0x18)[0])
            for off in range(records + 8, records + count * length, length):
                begin, end = struct.unpack_from("<QQ", content, off)
                struct.pack_into("<QQ", content, off, begin + hole, end + hole)
            head = records + count * length
            with open(trace, "wb") as file:
                file.write(content[:head])
                file.seek(head + hole)
                file.write(content[head:])
            with serving(OPTIONS.cairn, database) as service:
                service.get_ready()
                ask_database(service, 0)
                asked = dict(service.asked)
                service.asked.clear()  # a page in a browser has no such file
            result = ask_engine(list(asked.items()), {"sources": [{"path": database}]})
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertTrue(any("timeline" in address for address in asked))

    def test_of_samples_in_a_page(self):
        """Their symbols are those of the machine that exported them."""
        with tempfile.TemporaryDirectory() as folder:
            data = f"{folder}/cairn.perf.data"
            subprocess.run([OPTIONS.cairn, "sample", "-q", "-o", data, "--",
                            OPTIONS.cairn, "help", "--list"],
                           check=True, stdout=subprocess.DEVNULL)
            with serving(OPTIONS.cairn, data, through_page=True) as service:
                service.get_ready()
                ask_database(service, 0)
                self.assertIn("cairn", service.get("sources/0/threads")[0]["name"])

    def export_range(self, folder, source, text, *options):
        """The page of a time range, and what the command said."""
        page = f"{folder}/page.html"
        done = subprocess.run([OPTIONS.cairn, "export-html", "-f", "-r", text, *options, source, page],
                              text=True, capture_output=True, check=False)
        return page, done.returncode, done.stderr

    def test_of_a_time_range_of_a_database(self):
        """It is what the server answers about that range."""
        source = f"{OPTIONS.testdata}/sample"
        with tempfile.TemporaryDirectory() as folder, serving(OPTIONS.cairn, source) as service:
            span = service.get("sources/0/info")["duration"]
            page, status, message = self.export_range(folder, source, "25%~50%")
            self.assertIn("without data outside 25%~50%, metrics other than", message)
            self.assertEqual(status, 0)
            views = ("top-down", "bottom-up", "flat")
            answers = engine_answers([*(f"/api/v1/sources/0/rows?view={view}" for view in views),
                                      "/api/v1/sources/0/info"], page=page)
            self.assertEqual(answers.pop()["duration"], span // 2 - span // 4)
            for view, answer in zip(views, answers):
                expected = service.get("sources/0/rows", view=view, begin=span // 4, end=span // 2)
                self.assertGreater(len(answer["rows"]), 0)
                self.assertEqual(expected["columns"], answer["columns"])
                self.assertEqual([(row["label"], row["values"]) for row in expected["rows"]],
                                 [(row["label"], row["values"]) for row in answer["rows"]])
            self.assertEqual(self.export_range(folder, source, "2s~1s")[1], 2)

    def test_of_a_time_range_of_a_recording(self):
        """Its views are those of `cairn analyze -r`; its calls those of the range."""
        text = "3us~7us"
        with tempfile.TemporaryDirectory() as folder:
            source = shutil.copytree(f"{OPTIONS.testdata}/uftrace/no-event", f"{folder}/source.data")
            page, _, message = self.export_range(folder, source, text)
            self.assertIn("without data outside 3us~7us;", message)
            rows, flat, calls, info, threads = engine_answers(
                [f"/api/v1/sources/0/{question}"
                 for question in ("rows", "rows?view=flat", "calls?limit=1000", "info", "threads")], page=page)
            self.assertLessEqual(info["duration"], 4_000)
            self.assertTrue(all(0 <= call["time"] <= 4_000 for call in calls["calls"]))
            self.assertGreater(len(calls["calls"]), 0)
            _, status, message = self.export_range(folder, source, "1h~2h")
            self.assertIn("no calls in 1h~2h", message)
            self.assertEqual(status, 1)
            database = f"{folder}/part.db"
            subprocess.run([OPTIONS.cairn, "analyze", "-q", "-r", text, "-o", database, source], check=True)
            with serving(OPTIONS.cairn, source, database) as service:
                service.get_ready()
                for answer, view in ((rows, "top-down"), (flat, "flat")):
                    expected = service.get("sources/1/rows", view=view)
                    self.assertEqual([(row["label"], row["values"]) for row in expected["rows"]],
                                     [(row["label"], row["values"]) for row in answer["rows"]])
                names = {thread["name"] for thread in service.get("sources/0/threads")}
                self.assertGreater(len(threads), 0)
                self.assertLessEqual({thread["name"] for thread in threads}, names)

    def test_of_a_time_range_of_a_store(self):
        with tempfile.TemporaryDirectory() as folder:
            store = f"{folder}/store"
            subprocess.run([OPTIONS.cairn, "store", "init", "-q", store], check=True)
            spans = json.loads((ROOT / "tests" / "web" / "spans.json").read_text(encoding="utf-8"))
            for i, span in enumerate(spans):
                span.pop("parentId", None)
                span.update(traceId=f"{i + 1:032x}", id=f"{i + 1:016x}", timestamp=1_700_000_000_000_000 + i * 1_000_000)
            (pathlib.Path(folder) / "spans.json").write_text(json.dumps(spans), encoding="utf-8")
            subprocess.run([OPTIONS.cairn, "store", "add", "-q", store, f"{folder}/spans.json"], check=True)
            page, _, message = self.export_range(folder, store, "1s~2s", "--query", "duration > 0ns")
            self.assertIn("without traces that do not match 'duration > 0ns', traces that began outside 1s~2s;", message)
            traces, = engine_answers(["/api/v1/sources/0/traces"], page=page)
            self.assertEqual(traces["count"], 2)

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
        with tempfile.TemporaryDirectory() as folder:
            self.damage([{"path": path} for path in (
                f"{OPTIONS.testdata}/sample", f"{OPTIONS.testdata}/recording", str(ROOT / "tests" / "web" / "spans.json"),
                f"{OPTIONS.testdata}/exchange/cpu.pprof")], 40, 3)
            inputs = list(self.inputs(folder))
            self.damage(inputs, 20, 1)
            keep_asked({"damaged": [self.load(folder, **each) for each in inputs]})

    def damage(self, cases, thorough, copies):
        """Open each case whole and damaged, that often."""
        program, engine = os.environ["CAIRN_ENGINE"].split(":")
        result = subprocess.run(
            ["node", program.replace("engine_replay", "engine_damage"), engine],
            input=json.dumps({"copies": thorough if os.environ.get("CAIRN_THOROUGH") else copies, "cases": cases}),
            text=True, capture_output=True, timeout=3000, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    @staticmethod
    def load(folder, path, replaces, by):
        """What a page loads of a case."""
        if replaces == "":
            return load_of([{"path": by}])
        data = pathlib.Path(folder, "data")
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(path, data)
        shutil.copyfile(by, data / replaces)
        return load_of([{"path": str(data)}])

    def inputs(self, folder):
        """The inputs of every fuzz target, those that were found by fuzzing as well, each as the file that it stands for: in a
        copy of data that has such a file, or alone."""
        subprocess.run([OPTIONS.cairn, "store", "add", "-q", "--create", f"{folder}/store", ROOT / "tests" / "web" / "spans.json"], check=True)
        shutil.copytree(f"{folder}/store", f"{folder}/open")
        subprocess.run([OPTIONS.cairn, "store", "seal", "-q", f"{folder}/store"], check=True)
        subprocess.run([OPTIONS.cairn, "convert", "-q", f"{OPTIONS.testdata}/recording", f"{folder}/packed.data", "--to",
                        "uftrace-packed"], check=True)
        for source in sorted((ROOT / "tests" / "fuzz").glob("fuzz_*.c")):
            target = source.stem.removeprefix("fuzz_")
            path, replaces = FILES.get(target, (f"{folder}/input", ""))
            path = path.format(testdata=OPTIONS.testdata, folder=folder)
            seeds = pathlib.Path(folder, "seeds", target)
            seeds.mkdir(parents=True)
            subprocess.run([f"{os.environ['CAIRN_BUILD']}/tests/fuzz_{target}_replay", "--write-seeds", seeds], check=True)
            kept = [ROOT / "tests" / "fuzz" / "corpus" / target]
            if os.environ.get("CAIRN_THOROUGH"):
                kept.append(ROOT / "build" / "fuzz" / "corpus" / target)
            for by in sorted([*seeds.iterdir(), *(each for found in kept if found.exists() for each in found.iterdir())]):
                yield {"path": path, "replaces": replaces, "by": str(by)}

    def test_of_a_name_that_stands_for_a_longer_one(self):
        """The demangler is stopped: the name stays as it is."""
        with tempfile.TemporaryDirectory() as folder:
            data = shutil.copytree(f"{OPTIONS.testdata}/recording", f"{folder}/run.data")
            digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
            cpp = "_Z1fISt4pairI1aS1_E" + "".join(f"S0_IS{d}_S{d}_E" for d in digits[2:]) + "Evv"
            rust = "_RIC1a" + pairs(4, 40) + "E"
            symbols = pathlib.Path(data, "program.sym")
            text = symbols.read_text(encoding="utf-8")
            self.assertIn(" T main", text)
            symbols.write_text(text.replace(" T main", f" T {cpp}").replace(" t work", f" t {rust}"), encoding="utf-8")
            with serving(OPTIONS.cairn, data) as service:
                service.get_ready()
                for name in (cpp, rust):
                    hits = service.get("sources/0/search", q=name[:6])["hits"]
                    self.assertEqual({hit["row"]["label"] for hit in hits}, {name})


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
