"""One metric of any kind through every door that shows costs: see one_truth."""
import json
import subprocess

from truth.doors import (NS, Costs, of_side, run, through_api, through_bottom_up, through_callers, through_flame, through_flat, through_folded,
                         through_top, through_tree)

IN_PYTHON = """
import json, sys, cairn
table = cairn.open(sys.argv[1]).flat(sys.argv[2])
sides = [[name for name in table.columns if name.endswith(side)][0] for side in ("_inclusive", "_exclusive")]
columns = [memoryview(table.buffer(side)) for side in sides]
print(json.dumps([[name, *[number if number == number else 0 for number in numbers]]
                  for name, kind, *numbers in zip(table.texts("name"), table.texts("kind"), *columns) if kind == "function"]))
"""


def in_python(python, source, metric):
    costs = Costs()
    for name, total, own in json.loads(run("env", f"PYTHONPATH={python[0]}", f"LD_PRELOAD={python[1]}", "ASAN_OPTIONS=detect_leaks=0",
                                           "/usr/bin/python3", "-c", IN_PYTHON, source, metric)):
        costs.totals[name] += total * NS
        costs.selfs[name] += own * NS
    return costs


def check_metric(check, cairn, label, source, service, metric, expected, names, python, is_recording):
    """`expected` is in billionths of the unit of the metric, as doors return it."""
    def door(name):
        return f"{label}: {metric}, {name}"
    check.same(door("tree"), expected, through_tree(cairn, source, "-m", metric), names=names)
    check.same(door("flat"), expected, through_flat(cairn, source, "-m", metric), names=names)
    check.same(door("callers"), expected, through_callers(cairn, source, "-m", metric), names=names)
    check.same(door("top"), expected, through_top(cairn, source, "-m", metric), ("self",), names)
    if not is_recording:  # whose stacks and tables are of calls
        folded, scale = through_folded(run(cairn, "convert", "-q", source, "-", "--to", "folded", "--metric", metric)), 1 if "(sec)" in metric else NS
        for costs in folded.totals, folded.selfs:
            for name in costs:
                costs[name] *= scale
        check.same(door("folded"), expected, folded, names=names)
        query = f"SELECT context_name AS name, sum(value) AS value FROM costs WHERE metric = '{metric}' AND scope = 'function' GROUP BY 1"
        asked = Costs()
        asked.selfs.update({row["name"]: row["value"] * NS for row in json.loads(run(cairn, "sql", source, "--format", "json", query))})
        check.same(door("sql"), expected, asked, ("self",), names)
    check.same(door("rows of the API"), expected, through_api(service, {"metric": metric}), names=names)
    check.same(door("flame graph of the API"), expected, through_flame(service.get("sources/0/flame", min=0, metric=metric)), names=names)
    overview = service.get("sources/0/overview", whole=1, metric=metric)
    listed = [found["row"] for found in overview["functions"]]
    check.same(door("overview"), expected, through_bottom_up(overview["columns"], listed),
               names=[row["label"] for row in listed if row["label"] in names])
    # All of it: also what other functions have.
    threads = sum(thread[1] for thread in overview["threads"] if thread[1]) * NS
    shown = service.get("sources/0/rows", view="top-down", metric=metric, limit=1000)
    sums = [threads, sum(of_side(shown["columns"], row, "inclusive") for row in shown["rows"]), shown["columns"][0]["total"] * NS]
    check.that(max(sums) - min(sums) <= 1e-6 * max(sums) and max(sums) >= sum(expected.selfs.values()) * (1 - 1e-6),
               f"{door('threads, rows and the column')} add up to {sums}, functions to {sum(expected.selfs.values())}")
    name = max(names, key=lambda name: expected.totals[name])
    gate = subprocess.run([cairn, "gate", "-m", metric, "--format", "json", "--rule", f"total({name}) == same", source, source],
                          capture_output=True, check=False)
    result = json.loads(gate.stdout)[0]
    check.that(all(abs(result[side] * NS - expected.totals[name]) <= 1e-6 * expected.totals[name] for side in ("base", "new")),
               f"{door('gate')} has {result} for {name}, {expected.totals[name]}")
    if python and not is_recording:
        check.same(door("Python"), expected, in_python(python, source, metric), names=names)
    check.doors += 3
