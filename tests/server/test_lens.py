#!/usr/bin/env python3
"""Views through a lens: every door of the server has the numbers of stacks to which the rules were
applied one by one.

Usage: test_lens.py --cairn PROGRAM --testdata FOLDER
"""
import argparse
import collections
import fnmatch
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

from service import serving

# Functions: module, language and whose code they are.
FUNCTIONS = {
    "main": ("/home/me/app", "c", "mine"),
    "parse": ("/home/me/app", "c", "mine"),
    "work": ("/home/me/app", "c", "mine"),
    "helper": ("/home/me/libown.so", "c", "mine"),
    "std::sort<int*>(int*, int*)": ("/home/me/app", "c++", "library"),
    "malloc": ("/usr/lib/libc.so.6", "c", "library"),
    "qsort": ("/usr/lib/libc.so.6", "c", "library"),
    "deflate": ("/usr/lib/libz.so.1", "c", "library"),
    "_PyEval_EvalFrameDefault": ("/usr/bin/python3.11", "c", "runtime"),
    "do_syscall_64": ("[kernel.kallsyms]", "kernel", "kernel"),
    "__schedule": ("[kernel.kallsyms]", "kernel", "kernel"),
}
LIBRARIES = {"/usr/lib/libc.so.6": "libc.so.6", "/usr/lib/libz.so.1": "libz.so.1", "/home/me/app": "std"}
START = ["_start", "__libc_start_main"]

CASES = [
    {},
    {"mycode": "1"},
    {"hide": ["kernel", "std::*"]},
    {"hide": ["kernel,runtime", "=work"]},
    {"hide": ["language:kernel", "module:libz*"]},
    {"collapse": ["library"]},
    {"collapse": ["libc.so.6"], "hide": ["kernel"]},
    {"collapse": ["recursion"]},
    {"focus": ["work"]},
    {"focus": ["work", "malloc"]},
    {"drop": ["malloc"]},
    {"drop": ["kernel"], "focus": ["helper"]},
    {"prune": ["work"], "drop": ["deflate"]},
    {"mine": ["libz*"], "mycode": "1"},
    {"mine": ["libz*", "main"], "hide": ["mine"]},
]


def make_stacks():
    """Stacks with weights, outermost first."""
    chance = random.Random(5)
    names = list(FUNCTIONS)
    stacks = collections.Counter()
    for _ in range(120):
        stack = ["main"]
        while chance.random() < 0.85 and len(stack) < 10:
            stack.append(chance.choice(names[1:]))
        stacks[tuple(START + stack)] += chance.randrange(1, 9)
    return stacks


def module_of(name):
    return FUNCTIONS[name][0] if name in FUNCTIONS else "/home/me/app" if name == "_start" else "/usr/lib/libc.so.6"


def write_samples(path, stacks):
    """As `perf script` prints them."""
    time = 0
    with open(path, "w", encoding="utf-8") as file:
        for stack, weight in stacks.items():
            for _ in range(weight):
                time += 1
                print(f"app 100/100 {time / 1000:.6f}: 1000000 cpu-clock: ", file=file)
                for name in reversed(stack):
                    module = module_of(name)
                    print(f"\t1000 {name}+0x10 ({module})", file=file)
                print(file=file)


def code_of(name, mine):
    module, language, kind = FUNCTIONS.get(name, (module_of(name) if name in START else "", "c", "startup"))
    if mine:
        is_mine = any(fnmatch.fnmatchcase(text, pattern) for pattern in mine
                      for text in (module, os.path.basename(module), name))
        kind = "mine" if is_mine else "library" if kind == "mine" else kind
    return module, language, kind


def matches(name, text, mine):
    module, language, kind = code_of(name, mine)
    if text in ("mine", "library", "runtime", "kernel", "startup"):
        return kind == text
    if text.startswith("language:"):
        return language == text.removeprefix("language:")
    if text.startswith("module:"):
        return fnmatch.fnmatchcase(os.path.basename(module), text.removeprefix("module:"))
    if text.startswith("="):
        return name == text[1:]
    return fnmatch.fnmatchcase(name, text)


def library_of(name, mine):
    module, language, kind = code_of(name, mine)
    if kind == "library" and language == "c++":
        return "std"
    return os.path.basename(module)


def collapses(name, rules, mine):
    for text in rules.get("collapse", []):
        if text in ("library", "kernel", "runtime"):
            if matches(name, text, mine):
                return True
        elif text != "recursion" and fnmatch.fnmatchcase(library_of(name, mine), text):
            return True
    return False


def split(rules):
    """Lists of kinds are several rules."""
    return {action: [part for text in texts for part in (text.split(",") if "," in text and "(" not in text else [text])]
            for action, texts in rules.items() if action not in ("mycode", "mine")}


def follow(stack, rules, mine):
    """The rows of a stack, outermost first, or None if it is removed."""
    if any(matches(name, text, mine) for text in rules.get("drop", []) for name in stack):
        return None
    if not all(any(matches(name, text, mine) for name in stack) for text in rules.get("focus", [])):
        return None
    path = ["<unknown entry>"]
    for name in stack:
        prunes = any(matches(name, text, mine) for text in rules.get("prune", []))
        if any(matches(name, text, mine) for text in rules.get("hide", [])):
            pass
        elif collapses(name, rules, mine):
            label = f"[{library_of(name, mine)}]"
            if path[-1] != label:
                path.append(label)
        elif "recursion" in rules.get("collapse", []) and name in path:
            del path[path.index(name) + 1:]
        else:
            path.append(name)
        if prunes:
            break
    return tuple(path)


class Lenses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = f"{cls.folder.name}/samples.perf"
        cls.stacks = make_stacks()
        write_samples(cls.path, cls.stacks)
        cls.block = serving(OPTIONS.cairn, cls.path)
        cls.service = cls.block.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.block.__exit__(None, None, None)
        cls.folder.cleanup()

    def ask(self, question, **parameters):
        return self.service.get(f"sources/0/{question}", **parameters)

    def paths(self, case):
        """The weight of each path of rows, as the rules say."""
        rules = dict(case)
        if "mycode" in rules:
            rules["hide"] = [*rules.get("hide", []), "startup", "kernel", "runtime", "library"]
        found = collections.Counter()
        for stack, weight in self.stacks.items():
            path = follow(stack, split(rules), case.get("mine", []))
            if path:
                found[path] += weight
        return found

    def walk(self, case, row=None, above=()):
        """Total and self of every row, in samples."""
        found = {}
        here = {} if row is None else {"row": row}
        for item in self.ask("rows", limit=1000, **here, **case)["rows"]:
            key = (*above, item["label"])
            found[key] = tuple(round((value or 0) * 1000) for value in item["values"])
            if not item["isLeaf"]:
                found.update(self.walk(case, item["id"], key))
        return found

    def test_rows_are_those_of_the_rules(self):
        for case in CASES:
            expected = {}
            for path, weight in self.paths(case).items():
                for depth in range(1, len(path) + 1):
                    total, own = expected.get(path[:depth], (0, 0))
                    expected[path[:depth]] = (total + weight, own + weight * (depth == len(path)))
            with self.subTest(case=case):
                self.assertEqual(self.walk(case), expected)

    def test_functions_add_up_in_every_view(self):
        for case in CASES:
            own, whole = collections.Counter(), 0
            for path, weight in self.paths(case).items():
                own[path[-1]] += weight
                whole += weight
            with self.subTest(case=case):
                for view in ("bottom-up", "flat"):
                    column = self.ask("rows", view=view, **case)["columns"][0]
                    self.assertAlmostEqual(column["total"], whole / 1000)
                rows = self.ask("rows", view="bottom-up", limit=1000, **case)["rows"]
                self.assertEqual({row["label"]: round((row["values"][1] or 0) * 1000) for row in rows
                                  if row["values"][1]},
                                 {name: weight for name, weight in own.items() if name != "<unknown entry>"})
                flame = self.ask("flame", min=0, **case)
                self.assertEqual(round(flame["total"] * 1000), whole)
                self.assertEqual(sum(round((node[4] or 0) * 1000) for node in flame["nodes"]), whole)
                self.assertEqual(len(flame["nodeCodes"]), len(flame["nodes"]))

    def test_timelines_show_what_trees_do(self):
        end = self.ask("info")["duration"]
        for case in CASES:
            own = collections.Counter()
            for path, weight in self.paths(case).items():
                own[path[-1]] += weight
            with self.subTest(case=case):
                found = self.ask("range", begin=0, end=end, min=0, **case)
                # The last sample lasts no time.
                for name, ns in found["functions"]:
                    self.assertLessEqual(abs(ns / 1e6 - own[name]), 1, name)
                self.assertEqual({name for name, ns in found["functions"]} - {"<unknown entry>"},
                                 set(own) - {"<unknown entry>"})
                nested = self.ask("timeline", columns=4000, nested=1, **case)
                self.assertLessEqual({name for _, name in nested["names"]},
                                     {label for path in self.paths(case) for label in path})
                self.assertEqual(len(nested["names"]), len(nested["nameCodes"]))

    def test_rows_say_whose_code_they_are(self):
        rows = self.ask("rows", view="bottom-up", limit=1000)["rows"]
        for row in rows:
            _, language, kind = code_of(row["label"], [])
            self.assertEqual((row["language"], row["code"]), (language, kind), row["label"])
        own = self.ask("rows", view="bottom-up", limit=1000, mine=["libz*"])["rows"]
        self.assertEqual({row["label"] for row in own if row["code"] == "mine"}, {"deflate"})
        row = next(row for row in rows if row["label"] == "malloc")
        self.assertEqual(self.ask("context", row=row["context"])["codeReason"], "module of the system")
        self.assertEqual(self.ask("function", row=row["context"])["codeReason"], "module of the system")

    def test_a_row_that_is_not_shown_leads_to_its_caller(self):
        rows = self.ask("rows", view="bottom-up", limit=1000)["rows"]
        malloc = next(row for row in rows if row["label"] == "malloc")
        shown = self.ask("context", row=malloc["context"], mycode=1)["row"]
        self.assertEqual(shown["code"], "mine")
        path = [item["label"] for item in self.ask("context", row=malloc["context"])["path"]]
        self.assertIn(shown["label"], path)

    def test_the_header_says_what_is_left(self):
        header = self.ask("header")
        whole = sum(self.stacks.values())
        self.assertEqual((header["filters"], header["name"], header["threads"]), ([], "samples.perf", 1))
        self.assertEqual((header["metric"], header["base"]), ("cpu-clock (sec)", "measured time"))
        self.assertAlmostEqual(header["whole"], whole / 1000)
        for case in CASES[1:]:
            with self.subTest(case=case):
                header = self.ask("header", **case)
                self.assertAlmostEqual(header["whole"], whole / 1000)
                self.assertAlmostEqual(header["shown"], sum(self.paths(case).values()) / 1000)
        header = self.ask("header", drop="malloc", mine=["libz*"])
        self.assertEqual(header["filters"], [{"action": "drop", "subject": "malloc", "functions": 1},
                                             {"action": "mine", "subject": "libz*"}])
        self.assertEqual(self.ask("header", focus="nosuch")["filters"][0]["functions"], 0)

    def test_the_header_says_where_samples_come_from(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([OPTIONS.cairn, "analyze", "-q", "-o", f"{folder}/db", f"{OPTIONS.testdata}/recording"], check=True,
                           stderr=subprocess.DEVNULL)
            for path in (f"{OPTIONS.testdata}/recording", f"{folder}/db"):
                with serving(OPTIONS.cairn, path) as service:
                    service.get_ready()
                    header = service.get("sources/0/header")
                self.assertEqual((header["command"], header["program"]), ("cairn record program", "/opt/sample/program"))
                self.assertEqual((header["processor"], header["processors"]), ("Abacus", 2))
            with open(f"{folder}/db/origin.txt", "w", encoding="utf-8") as file:
                file.write("writer=cairn 0.9\nhost=vm\nkernel=6.1\nmachine=x86_64\nmemory_bytes=1024\n"
                           "stacks=copied by the kernel\nrefusal=no root\nstack_count=10\nwhole_count=9\n"
                           "unnamed_count=2\nlost_count=3\nstart_ns=1700000000000000000\nfilters=hide kernel\n")
            with serving(OPTIONS.cairn, f"{folder}/db") as service:
                header = service.get("sources/0/header")
            self.assertEqual(
                {key: header[key] for key in ("writer", "host", "kernel", "machine", "memory", "stacks", "stacksRefusal",
                                              "stackCount", "wholeCount", "unnamedCount", "lostCount", "start", "filtered")},
                {"filtered": "hide kernel", "writer": "cairn 0.9", "host": "vm", "kernel": "6.1", "machine": "x86_64", "memory": 1024,
                 "stacks": "copied by the kernel", "stacksRefusal": "no root", "stackCount": 10, "wholeCount": 9,
                 "unnamedCount": 2, "lostCount": 3, "start": "1700000000000000000"})
            self.assertGreater(header["duration"], 0)

    def test_wrong_rules_are_refused(self):
        for case, text in (({"hide": "language:cobol"}, "no language 'cobol'"), ({"focus": ""}, "focus"),
                           ({"hide": ["x"] * 40}, "more than 32 rules")):
            query = urllib.parse.urlencode(case, doseq=True)
            status, _, body = self.service.ask(f"/api/v1/sources/0/rows?{query}")
            self.assertEqual(status // 100, 4, case)
            self.assertIn(text, json.loads(body)["error"]["text"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--testdata", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
