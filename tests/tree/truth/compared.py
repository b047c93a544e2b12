"""Comparisons of two recordings, and of samples, through every door: see one_truth."""
import json
import random
import subprocess

from service import serving
from truth.check import FUNCTIONS
from truth.doors import NS, Costs, run, through_flat


def sentence_of(rows, real_count):
    """The sentence that the verdict of the whole, the first row, asks for."""
    def size(seconds):
        ns, unit = abs(seconds) * NS, 1
        while ns / unit >= 1000:
            unit *= 10
        ns = round(ns / unit) * unit
        scale, name = next((scale, name) for scale, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns")) if ns >= scale)
        return f"{ns / scale:.6g} {name}"
    whole, change = rows[0], f"more, new, 12 calls from main, +{size(rows[1]['difference'])}"
    if real_count > 1:
        change += f" and {real_count - 1} more change{'s' if real_count > 2 else ''}"
    if whole["real"] == "yes":
        return f"B is {size(whole['difference'])} {'slower' if whole['difference'] > 0 else 'faster'}: {change}"
    reason = {"noise": "the whole differs by no more than noise", "unknown": "whether the whole differs is unknown"}[whole["real"]]
    return f"{change}; {reason}: {size(whole['a'])} and {size(whole['b'])}"


def compared(rows, cost):
    """Costs of both sides of a flat comparison."""
    sides = Costs(), Costs()
    for row in rows:
        for side, name in zip(sides, "ab"):
            (side.totals if cost == "total" else side.selfs)[row["function"]] = (row[name] or 0) * NS
    return sides


def compared_paths(service, **asked):
    """Costs of both sides from all call paths of a comparison."""
    sides = Costs(), Costs()

    def visit(parent, path):
        for row in service.get("diff", a=0, b=1, form="tree", cost="self", limit=1000, **asked, **parent)["rows"]:
            below = [*path, row["function"]]
            for side, name in zip(sides, "ab"):
                side.add_stack(below, (row[name] or 0) * NS)
            if not row["isLeaf"]:
                visit({"row": row["id"]}, below)
    visit({}, [])
    return sides


def compared_flame(flame):
    """Costs of both sides from the nodes of a differential flame graph: [depth, name, total a, total b, self a, self b, id]."""
    sides, names = (Costs(), Costs()), []
    for depth, name, *numbers, _ in flame["nodes"]:
        del names[depth:]
        names.append(flame["names"][name])
        for side, total, own in zip(sides, numbers[:2], numbers[2:]):
            if names[-1] not in names[:-1]:
                side.totals[names[-1]] += total * NS
            side.selfs[names[-1]] += (own or 0) * NS
    return sides


def check_forms(check, cairn, a, b):
    """Every form of a comparison, in the terminal and in the viewer, has the costs of each side."""
    wanted = [through_flat(cairn, side) for side in (a, b)]

    def same(door, found, sides=("total", "self")):
        for name, want, got in zip("AB", wanted, found):
            check.same(f"{door}, side {name}", want, got, sides)
    with serving(cairn, str(a), str(b)) as service:
        for cost in ("total", "self"):
            listed = service.get("diff", a=0, b=1, form="flat", cost=cost, limit=1000)["rows"]
            same(f"comparison by function, {cost}", compared(listed, cost), [cost])
            printed = json.loads(run(cairn, "diff", "-q", "--flat", f"--cost={cost}", "-n", "1000", "--format", "json", a, b))
            check.that([(row["function"], row["a"], row["b"], row["plus_minus"]) for row in printed] ==
                       [(row["function"], row["a"], row["b"], row["plusMinus"]) for row in listed], f"diff --flat --cost={cost} differs from the viewer")
        paths = compared_paths(service)  # those that did not change are left out
        for name in FUNCTIONS:
            change, want = (of_b.selfs[name] - of_a.selfs[name] for of_a, of_b in (paths, wanted))
            check.that(abs(change - want) < 200, f"comparison by call path: {name} changes by {change:.0f} ns, by {want:.0f} ns in flat views")
            check.that(paths[0].selfs[name] <= wanted[0].selfs[name] + 200, f"comparison by call path: {name} has {paths[0].selfs[name]:.0f} ns")
        same("comparison by caller", compared(service.get("diff", a=0, b=1, form="callers", limit=1000)["rows"], "self"), ["self"])
        same("differential flame graph", compared_flame(service.get("diff", a=0, b=1, form="flame", min=0)))
        upper = service.get("diff", a=0, b=1, form="flame", view="callers", min=0)
        callers = compared_flame({**upper, "nodes": [node for node in upper["nodes"] if node[0] == 0]})
        for name, want, got in zip("AB", wanted, callers):
            for function in FUNCTIONS:
                check.that(abs(want.selfs[function] - got.totals[function]) < 200,
                           f"differential flame graph of callers, side {name}: {function} has {got.totals[function]:.0f} ns, self is {want.selfs[function]:.0f}")
        check.doors += 1


def check_diff(check, cairn, data, folder):
    """Another build calls more() from main: every door has the same list, with more() first."""
    run("gcc", "-O1", "-g", "-pg", "-DSLOWER", "program.c", "-o", "slower", "-lpthread", cwd=folder)
    slower = folder / "slower.data"
    run(cairn, "record", "-q", "-d", slower, "--", "./slower", cwd=folder)
    text = run(cairn, "diff", "-q", data, slower).decode().splitlines()
    rows = json.loads(run(cairn, "diff", "-q", "--format", "json", data, slower))
    with serving(cairn, str(data), str(slower)) as service:
        answer = service.get("diff", a=0, b=1)
    wanted = sentence_of(rows, answer["realCount"])
    check.that(text[0] == wanted, f"diff begins with '{text[0]}', not with '{wanted}'")
    check.that(answer["sentence"] == text[0], f"the sentence of the API is '{answer['sentence']}'")
    lists = [[(row["function"], row["a"], row["b"], row["plus_minus"], row["real"] == "yes") for row in rows[1:]],
             [(line["function"], line["a"], line["b"], line["plusMinus"], line["verdict"] == "real") for line in answer["lines"]]]
    check.that(lists[0] == lists[1], f"diff prints {lists[0]}, the API has {lists[1]}")
    check.that(lists[0][0][0] == "more" and lists[0][0][4], f"the first change is {lists[0][0]}")
    check.that(len(text) == len(rows) + 3, f"diff prints {len(text)} lines for {len(rows)} rows")
    check_forms(check, cairn, data, slower)
    gate = subprocess.run([cairn, "gate", "--format", "json", "--rule", "total(more) <= 0ns", "--rule", "new(more) none",
                           data, slower], capture_output=True, check=False)
    results = json.loads(gate.stdout)
    check.that([result["verdict"] for result in results] == ["broken", "broken"], f"gate finds {results}")
    check.that(results[0]["new"] == lists[0][0][2], f"gate has {results[0]['new']} for more, diff {lists[0][0][2]}")
    check.doors += 4


IN_PYTHON = """
import json, sys, cairn
sides = json.loads(sys.argv[1])
table = cairn.diff(*sides)
names = ["a", "b", "difference", "plus_minus", "calls_a", "calls_b"]
columns = [[None if number != number else number for number in memoryview(table.buffer(name))] for name in names]
print(json.dumps(list(zip(table.texts("name"), table.texts("verdict"), *columns))))
"""


def changes_in_python(python, sides):
    """What the Python module says of the same comparison: all changes, also those that diff leaves out."""
    found = run("env", f"PYTHONPATH={python[0]}", f"LD_PRELOAD={python[1]}", "ASAN_OPTIONS=detect_leaks=0",
                "/usr/bin/python3", "-c", IN_PYTHON, json.dumps(sides))
    return [(name, verdict, *map(rounded, numbers)) for name, verdict, *numbers in json.loads(found)]


def rounded(number):
    return None if number is None else float(f"{number:.12g}")


def changes_of(rows, names):
    """Function, verdict and numbers of the changes of `cairn diff`, or of the API."""
    verdicts = {"yes": "real"}
    return [(row["function"], verdicts.get(row[names[0]], row[names[0]]), *[rounded(row[name]) for name in names[1:]]) for row in rows]


def check_four_doors(check, cairn, folder, python):
    """One comparison of repeated runs, with 60 functions that differ by noise and two that changed: diff, the viewer, Python
    and gate have the same changes, the same errors and the same verdicts."""
    sides, spread = [[], []], random.Random(11)
    for side, run_number in [(0, i) for i in range(5)] + [(1, i) for i in range(5)]:
        stacks = {f"main;f{i}": 10000 + spread.randrange(1500) for i in range(60)}
        stacks["main;slower"] = 20000 + 8000 * side + spread.randrange(1500)
        stacks["main;faster"] = 20000 - 6000 * side + spread.randrange(1500)
        path = folder / f"{'ab'[side]}{run_number}.folded"
        path.write_text("".join(f"{stack} {count}\n" for stack, count in stacks.items()))
        sides[side].append(str(path))
    rows = json.loads(run(cairn, "diff", "-q", "-n", "100", "--format", "json", *sides[0], "--", *sides[1]))[1:]
    shown = changes_of(rows, ["real", "a", "b", "difference", "plus_minus", "calls_a", "calls_b"])
    check.that([change[:2] for change in shown] == [("slower", "real"), ("faster", "real")], f"diff finds {shown}")
    text = run(cairn, "diff", "-q", *sides[0], "--", *sides[1]).decode()
    check.that("±95%" in text and all(f"{round(change[5])}" in text for change in shown), f"diff prints no errors: {text}")
    if python:
        found = changes_in_python(python, sides)
        check.that([change for change in found if change[1] == "real"] == shown, f"Python finds {found}, diff {shown}")
        check.doors += 1
    rules = [part for i in range(60) for part in ("--rule", f"self(f{i}) == same")]
    gate = subprocess.run([cairn, "gate", "--format", "json", "--rule", "self(slower) == same", "--rule", "self(faster) == same", *rules,
                           *sides[0], "--", *sides[1]], capture_output=True, check=False)
    results = json.loads(gate.stdout)
    broken = [(result["rule"].split("(")[1].split(")")[0], "real", result["base"], result["new"], result["new"] - result["base"],
               result["plus_minus"]) for result in results if result["verdict"] == "broken"]
    check.that([(*change[:2], *map(rounded, change[2:])) for change in broken] == [change[:6] for change in shown],
               f"gate finds {broken}, diff {shown}")
    # The viewer compares one run with another.
    with serving(cairn, sides[0][0], sides[1][0]) as service:
        answer = service.get("diff", a=0, b=1)
    rows = json.loads(run(cairn, "diff", "-q", "--format", "json", sides[0][0], sides[1][0]))[1:]
    single = changes_of(rows, ["real", "a", "b", "difference", "plus_minus", "calls_a", "calls_b"])
    lines = changes_of(answer["lines"], ["verdict", "a", "b", "difference", "plusMinus", "callsA", "callsB"])
    check.that(lines == single and lines, f"the viewer finds {lines}, diff {single}")
    check.that(all(line[5] is not None for line in lines), f"changes of the viewer have no errors: {lines}")
    if python:
        found = changes_in_python(python, [sides[0][0], sides[1][0]])
        check.that(found[:len(single)] == single, f"Python finds {found[:5]} of samples, diff {single}")
    check.doors += 3


def check_samples(check, cairn, folder):
    """One profile a side: every door has the error of counting, the square root of the samples."""
    sides = [{"main;work": 400, "main;rest": 300}, {"main;work": 520, "main;rest": 301}]
    paths = [folder / "a.folded", folder / "b.folded"]
    for path, stacks in zip(paths, sides):
        path.write_text("".join(f"{stack} {count}\n" for stack, count in stacks.items()))
    rows = json.loads(run(cairn, "diff", "-q", "--format", "json", *paths))
    with serving(cairn, *map(str, paths)) as service:
        answer = service.get("diff", a=0, b=1)
    check.that(answer["over"] == "samples", f"samples are compared over {answer['over']}")
    lines = [(line["function"], line["difference"], line["plusMinus"], line["verdict"] == "real") for line in answer["lines"]]
    shown = [(row["function"], row["difference"], row["plus_minus"], row["real"] == "yes") for row in rows[1:]]
    check.that(lines == shown, f"diff of samples prints {shown}, the API has {lines}")
    check.that(lines[0][:2] == ("work", 120) and lines[0][3], f"the first change of samples is {lines[0]}")
    check.that(abs(lines[0][2] - 1.96 * (400 + 520) ** 0.5) < 0.5, f"the error of 400 and 520 samples is {lines[0][2]}")
    gate = subprocess.run([cairn, "gate", "--format", "json", "--rule", "self(work) <= +1%", "--rule", "self(rest) <= +0.1%", *paths],
                          capture_output=True, check=False)
    results = [(result["verdict"], result["new"]) for result in json.loads(gate.stdout)]
    check.that(results == [("broken", 520), ("noise", 301)], f"gate finds {results} of samples")
    check.doors += 3
