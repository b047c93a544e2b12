#!/usr/bin/env python3
"""/api/v1/diff: the numbers of `cairn diff` to the last digit, sums that add up, selections of one
source, and what is refused.

Usage: test_diff.py --cairn PROGRAM --testdata FOLDER
"""
import argparse
import json
import math
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from service import serving

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Members of a line, and the columns of the command line with the same numbers.
COLUMNS = {"a": "a", "b": "b", "difference": "difference", "ratio": "ratio", "sharePercent": "share_percent",
           "plusMinus": "plus_minus", "p": "p", "rankP": "rank_p", "verdict": "real", "callsA": "calls_a",
           "callsB": "calls_b", "function": "function", "path": "path"}

STACKS = ("main;parse", "main;parse;lex", "main;parse;lex;read", "main;solve", "main;solve;norm", "main;solve;read",
          "main;solve;solve;norm")
COSTS = ((40, 30, 20, 80, 20, 10, 5), (41, 30, 21, 79, 20, 10, 5), (39, 31, 20, 81, 20, 10, 5),
         (40, 30, 20, 120, 20, 10, 9), (40, 31, 21, 121, 19, 10, 9), (41, 30, 20, 119, 20, 10, 9))
RUNS_A, RUNS_B, RECORDING, SAMPLE, STORE, DAMAGED = (0, 1, 2), (3, 4, 5), 6, 7, 8, 9
SLOW, FAST = "duration > 20ms", "duration < 10ms"


def make_store(path):
    """Traces at the same time; those of user 42 ask a slow inventory."""
    spans = []
    for i in range(40):
        slow = i % 10 == 0
        spans.append({"traceId": f"{i + 1:032x}", "id": f"{2 * i + 1:016x}", "name": "checkout",
                      "timestamp": 1700000000000000 + i * 1000, "duration": 60000 if slow else 3000 + i,
                      "tags": {"user": "42" if slow else str(i % 7)}})
        if slow:
            spans.append({"traceId": f"{i + 1:032x}", "id": f"{2 * i + 2:016x}", "parentId": f"{2 * i + 1:016x}",
                          "name": "inventory", "timestamp": 1700000000000010 + i * 1000, "duration": 50000})
    file = pathlib.Path(f"{path}.json")
    file.write_text(json.dumps(spans), encoding="utf-8")
    subprocess.run([OPTIONS.cairn, "store", "add", "-q", "--create", path, file], check=True)


def line_of(values, columns):
    """The members of a line; the word of the command line for "real" is "yes"."""
    line = {name: values.get(column) for name, column in columns.items()}
    return line | {"verdict": "real" if line["verdict"] == "yes" else line["verdict"]}


class Comparisons(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.paths = []
        for i, costs in enumerate(COSTS):
            path = pathlib.Path(cls.folder.name, f"{i}.folded")
            new = f"main;check {i}\n" if i in RUNS_B else ""
            path.write_text("".join(f"{stack} {100 * cost}\n" for stack, cost in zip(STACKS, costs)) + new, encoding="utf-8")
            cls.paths.append(str(path))
        cls.paths += [f"{OPTIONS.testdata}/recording", f"{OPTIONS.testdata}/sample", f"{cls.folder.name}/traces"]
        make_store(cls.paths[STORE])
        cls.paths.append(f"{cls.folder.name}/damaged")
        shutil.copytree(cls.paths[RECORDING], cls.paths[DAMAGED])
        data = pathlib.Path(cls.paths[DAMAGED], "100.dat")
        data.write_bytes(data.read_bytes()[:-5])
        cls.block = serving(OPTIONS.cairn, *cls.paths)
        cls.service = cls.block.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.block.__exit__(None, None, None)
        cls.folder.cleanup()

    def ask(self, form="explain", a=RUNS_A[:1], b=RUNS_B[:1], **parameters):
        return self.service.get("diff", form=form, a=a, b=b, **parameters)

    def rows(self, form, row=None, **parameters):
        """All rows of a view, in the order of the command line."""
        found = []
        here = {} if row is None else {"row": row}
        for item in self.ask(form, limit=1000, **here, **parameters)["rows"]:
            found.append(item)
            if not item["isLeaf"]:
                found += self.rows(form, item["id"], **parameters)
        return found

    def shown(self, a, b, *options):
        return json.loads(subprocess.check_output(
            [OPTIONS.cairn, "diff", "--format", "json", *options, *[self.paths[i] for i in a], "--",
             *[self.paths[i] for i in b]], text=True, stderr=subprocess.DEVNULL))

    def test_numbers_are_those_of_the_command_line(self):
        for a, b in ((RUNS_A, RUNS_B), (RUNS_A[:1], RUNS_B[:1])):
            answer = self.ask(a=a, b=b)
            self.assertEqual(answer["over"], "runs" if len(a) > 1 else "samples")
            self.assertEqual(answer["sentence"], subprocess.check_output(
                [OPTIONS.cairn, "diff", *[self.paths[i] for i in a], "--", *[self.paths[i] for i in b]],
                text=True, stderr=subprocess.DEVNULL).splitlines()[0])
            self.assertEqual([line_of(line, {name: name for name in COLUMNS})
                              for line in [answer["whole"], *answer["lines"]]],
                             [line_of(line, COLUMNS) for line in self.shown(a, b)])
            for form in ("tree", "flat", "callers"):
                self.assertEqual([line_of(row, {name: name for name in COLUMNS})
                                  for row in self.rows(form, a=a, b=b)],
                                 [line_of(row, COLUMNS) for row in self.shown(a, b, f"--{form}")])

    def test_calls_and_scaling_are_those_of_the_command_line(self):
        threads = [["1"], ["1-3"]]
        for options, parameters in (([], {}), (["--per", "call"], {"per": "call"}),
                                    (["--scaling", "weak"], {"scaling": "weak"}), (["-m", "calls"], {"metric": "calls"})):
            rows = self.rows("flat", a=RECORDING, b=RECORDING, aThread=threads[0], bThread=threads[1], **parameters)
            shown = json.loads(subprocess.check_output(
                [OPTIONS.cairn, "diff", "--flat", "--format", "json", "--threads-a", *threads[0], "--threads-b",
                 *threads[1], *options, self.paths[RECORDING]], text=True, stderr=subprocess.DEVNULL))
            columns = COLUMNS | ({"difference": "loss"} if "--scaling" in options else {})
            self.assertTrue(rows or parameters == {"per": "call"})
            self.assertEqual([line_of(row, {name: name for name in COLUMNS}) for row in rows],
                             [line_of(row, columns) for row in shown])

    def test_a_swapped_comparison_is_the_negative_one(self):
        ahead = {row["path"]: row["difference"] for row in self.rows("tree", a=RUNS_A, b=RUNS_B)}
        back = {row["path"]: row["difference"] for row in self.rows("tree", a=RUNS_B, b=RUNS_A)}
        self.assertEqual(ahead, {path: -difference for path, difference in back.items()})

    def test_sums_of_differences_are_differences_of_sums(self):
        answer = self.ask(lines=1000)
        rows = self.rows("flat")
        self.assertEqual(answer["b"] - answer["a"], answer["whole"]["difference"])
        self.assertEqual(sum(row["difference"] for row in rows), answer["whole"]["difference"])
        self.assertEqual(sum(row["difference"] for row in self.ask("callers")["rows"]), answer["whole"]["difference"])

    def test_samples_have_the_error_of_counting(self):
        for row in self.rows("flat"):
            if row["verdict"] != "small":
                error = 1.959964 * math.sqrt(row["a"] + row["b"])
                self.assertAlmostEqual(row["plusMinus"], error)
                self.assertTrue(row["verdict"] == "noise" or abs(row["difference"]) > error)
        self.assertEqual([line["function"] for line in self.ask()["lines"]], ["solve"])

    def test_nothing_differs_from_itself(self):
        answer = self.ask(a=RECORDING, b=RECORDING)
        self.assertEqual((answer["lines"], answer["changedCount"]), ([], 0))
        self.assertEqual(self.ask("tree", a=SAMPLE, b=SAMPLE)["rows"], [])

    def test_a_flame_graph_has_both_sides(self):
        for view in ("tree", "callers"):
            answer = self.ask("flame", view=view, min=0, depth=20)
            path, tops = [], [0, 0]
            for depth, name, a, b, self_a, self_b, _ in answer["nodes"]:
                del path[depth:]
                self.assertTrue(0 <= name < len(answer["names"]))
                for side, (value, own) in enumerate(((a, self_a), (b, self_b))):
                    self.assertLessEqual(value, path[-1][side] if path else answer["ab"[side]])
                    self.assertLessEqual(own or 0, value)
                    tops[side] += value if depth == 0 else 0
                path.append((a, b))
            self.assertEqual(tops, [answer["a"], answer["b"]])
        line = self.ask()["lines"][0]
        node = next(node for node in self.ask("flame", min=0)["nodes"] if node[6] == line["node"])
        self.assertEqual(node[4:6], [line["a"], line["b"]])

    def test_two_ranges_of_time_are_the_whole(self):
        for source in (RECORDING, SAMPLE):
            duration = self.service.get(f"sources/{source}/info")["duration"]
            middle = duration // 3
            answer = self.ask(a=source, b=source, aBegin=0, aEnd=middle, bBegin=middle)
            whole = self.service.get(f"sources/{source}/range", begin=0, end=duration, min=0)
            self.assertAlmostEqual(answer["a"] + answer["b"], whole["total"], places=9)
            self.assertGreater(answer["a"], 0)

    def shown_of_queries(self, *options):
        return json.loads(subprocess.check_output(
            [OPTIONS.cairn, "diff", "--format", "json", "--query-a", FAST, "--query-b", SLOW, *options,
             self.paths[STORE]], text=True))

    def test_two_queries_of_a_store(self):
        for options, parameters in (([], {}), (["--per", "trace"], {"per": "trace"})):
            answer = self.ask(a=STORE, b=STORE, aQuery=FAST, bQuery=SLOW, **parameters)
            self.assertEqual(answer["lines"][0]["path"], "checkout > inventory")
            self.assertEqual([line_of(line, {name: name for name in COLUMNS})
                              for line in [answer["whole"], *answer["lines"]]],
                             [line_of(line, COLUMNS) for line in self.shown_of_queries(*options)])

    def test_facets_of_two_queries(self):
        facets = self.ask("facets", a=STORE, b=STORE, aQuery=FAST, bQuery=SLOW)["facets"]
        self.assertEqual([(f["side"], f["key"], f["relation"], f["value"], f["hasA"], f["hasB"]) for f in facets],
                         [("b", "user", "=", "42", 0, 4)])
        shown = self.shown_of_queries("--facets")
        self.assertEqual([f["logP"] for f in facets], [f["log_p"] for f in shown])
        swapped = self.ask("facets", a=STORE, b=STORE, aQuery=SLOW, bQuery=FAST)["facets"]
        self.assertEqual([(f["side"], f["key"], f["hasA"], f["hasB"]) for f in swapped], [("a", "user", 4, 0)])

    def test_times_are_those_of_the_command_line(self):
        duration = self.service.get(f"sources/{SAMPLE}/info")["duration"]
        rows = self.rows("tree", a=SAMPLE, b=SAMPLE, aEnd=duration // 2, bBegin=duration // 2)
        shown = json.loads(subprocess.check_output(
            [OPTIONS.cairn, "diff", "--format", "json", "--tree", "--time-a", f"~{duration // 2}ns", "--time-b",
             f"{duration // 2}ns~", self.paths[SAMPLE]], text=True, stderr=subprocess.DEVNULL))
        self.assertGreater(len(rows), 2)
        self.assertEqual([line_of(row, {name: name for name in COLUMNS}) for row in rows],
                         [line_of(row, COLUMNS) for row in shown])

    def test_damage_is_named(self):
        for form in ("explain", "tree", "flame"):
            self.assertIsNone(self.ask(form, a=RECORDING, b=RECORDING)["damage"])
            self.assertIn("100.dat", self.ask(form, a=DAMAGED, b=RECORDING)["damage"])
            self.assertIn("100.dat", self.ask(form, a=RECORDING, b=DAMAGED)["damage"])

    def test_what_cannot_be_compared_is_refused(self):
        for status, query, text in (
                (400, "a=0", "parameter b is missing"), (404, "a=0&b=99", "no source '99'"),
                (404, "a=0&b=x", "no source 'x'"), (400, "a=0&b=3&form=x", "form 'x' is none of"),
                (400, "a=0&b=3&per=x", "per 'x'"), (400, "a=0&b=3&metric=x", "x"),
                (400, "a=0&b=6", "metric"), (400, "a=0&b=3&bBegin=1", "no timelines"),
                (400, "a=6&b=6&aBegin=5&aEnd=5", "empty"), (400, "a=0&b=3&aQuery=x", "not a store"),
                (400, "a=6&b=6&aBegin=5&metric=calls", "calls"), (404, "a=0&b=3&form=tree&row=4", "no row 4"),
                (400, "a=0&b=3&form=tree&row=99", "row '99'"), (400, "a=0&b=3&form=callers&cost=total", "self costs"),
                (400, "a=0&b=3&form=facets", "queries of stores"), (400, "a=8&b=8&aQuery=user%20=", "missing value"),
                (400, "a=8&b=8&aQuery=user=99&form=facets", "side A has no traces")):
            found, _, body = self.service.ask(f"/api/v1/diff?{query}")
            self.assertEqual(found, status, (query, body))
            self.assertIn(text, json.loads(body)["error"]["text"], query)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--testdata", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=["test_diff.py", *rest], verbosity=1)
