"""The latency of samples through every door: see one_truth."""
import collections
import json
import random
import subprocess

import exchange
from service import serving
from truth.doors import (NS, Costs, run, through_api, through_callers, through_flame, through_flat, through_folded, through_top,
                         through_tree)


LATENCY_IN_PYTHON = """
import json, sys, cairn
table = cairn.open(sys.argv[1]).flat("latency")
sides = [memoryview(table.buffer(f"latency_sec_{side}")) for side in ("inclusive", "exclusive")]
print(json.dumps([[name, *[number * 1e9 if number == number else 0 for number in numbers]]
                  for name, kind, *numbers in zip(table.texts("name"), table.texts("kind"), *sides) if kind == "function"]))
"""


def latency_in_python(python, data):
    costs = Costs()
    for name, total, own in json.loads(run("env", f"PYTHONPATH={python[0]}", f"LD_PRELOAD={python[1]}", "ASAN_OPTIONS=detect_leaks=0",
                                           "/usr/bin/python3", "-c", LATENCY_IN_PYTHON, data)):
        costs.totals[name] += total
        costs.selfs[name] += own
    return costs


def samples_of_threads(path, count):
    """perf.data of threads that run and wait at random, each in its own function. Returns the latency of each function, counted by
    half milliseconds, and the time in which one of them runs."""
    w, spread, runs = exchange.Waits(has_wakeups=False), random.Random(39), []
    for i in range(count):
        task, at, own = (70, 70 + i), 1 + spread.randrange(20), set()
        w.run(task, at)
        while at < 200:
            end = at + 1 + spread.randrange(12)
            w.work(task, at, end, f"main work{i}")
            own.update(range(2 * at, 2 * end))
            w.stop(task, end, f"main wait{i}")
            at = end + spread.randrange(20) + 1
            w.run(task, at)
        w.stop(task, at, f"main wait{i}")  # it runs again for no time
        runs.append(own)
    path.write_bytes(w.bytes())
    running, expected = collections.Counter(slot for own in runs for slot in own), Costs()
    for i, own in enumerate(runs):
        expected.add_stack(["main", f"work{i}"], sum(NS / 2000 / running[slot] for slot in own))
    return expected, len(running) * NS / 2000


def check_latency(check, cairn, folder, python):
    """The latency of samples, which is that of their threads, and in all the time in which one of them runs."""
    samples, db = folder / "threads.perf.data", folder / "threads.db"
    expected, elapsed = samples_of_threads(samples, 6)
    names = ["main", *(f"work{i}" for i in range(6))]
    check.that(abs(expected.totals["main"] - elapsed) < 1, f"latencies of {expected.totals['main']} ns are counted in {elapsed} ns")
    run(cairn, "analyze", "-q", samples, "-o", db)
    for label, source in ("samples", samples), ("database", db):
        for door, costs in (("flat", through_flat(cairn, source, "-m", "latency")), ("tree", through_tree(cairn, source, "-m", "latency")),
                            ("callers", through_callers(cairn, source, "-m", "latency")),
                            ("folded", through_folded(run(cairn, "convert", "-q", source, "-", "--to", "folded", "--metric", "latency")))):
            check.same(f"latency of the {label}, {door}", expected, costs, names=names)
        check.same(f"latency of the {label}, top", expected, through_top(cairn, source, "-m", "latency"), ("self",), names)
        if python:
            check.same(f"latency of the {label}, Python", expected, latency_in_python(python, source), names=names)
        query = "SELECT context_name AS name, sum(value) AS seconds FROM costs WHERE metric = 'latency (sec)' AND scope = 'function' GROUP BY 1"
        asked = Costs()
        asked.selfs.update({row["name"]: row["seconds"] * NS for row in json.loads(run(cairn, "sql", source, "--format", "json", query))})
        check.same(f"latency of the {label}, sql", expected, asked, ("self",), names)
        gate = subprocess.run([cairn, "gate", "-m", "latency", "--format", "json", "--rule", "total(main) == same", source, samples],
                              capture_output=True, check=False)
        check.that(abs(json.loads(gate.stdout)[0]["base"] * NS - elapsed) < 200, f"gate has {gate.stdout} of {elapsed} ns")
        with serving(cairn, str(source)) as service:
            check.same(f"latency of the {label}, rows of the API", expected, through_api(service, {"metric": "latency"}), names=names)
            check.same(f"latency of the {label}, flame graph of the API", expected,
                       through_flame(service.get("sources/0/flame", min=0, metric="latency")), names=names)
            check.that("latency (sec)" in [metric["name"] for metric in service.get("sources/0/info")["metrics"]],
                       f"latency of the {label}: the viewer has no such metric")
    run(cairn, "convert", "-q", samples, folder / "threads.pprof", "--to", "pprof")
    check.same("latency of a profile of pprof", expected, through_flat(cairn, folder / "threads.pprof", "-m", "latency"), names=names)
