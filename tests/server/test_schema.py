#!/usr/bin/env python3
"""docs/http-api.schema.json describes the API: questions and parameters are those of the sources, the check of
answers refuses what the schema lacks, and tests of the server have seen every member in an answer.

Usage: test_schema.py, after the tests that keep what they saw in CAIRN_SEEN
"""
import os
import pathlib
import re
import sys
import unittest

from schema import DEFINITIONS, ROOT, SCHEMA, Mismatch, check

API = ROOT / "src" / "server" / "api"
LENS = ROOT / "src" / "analyze" / "lens" / "lens.c"  # names the filters of views
QUESTIONS = SCHEMA["questions"]


def references(schema):
    """The definitions that a part of the schema names."""
    if isinstance(schema, list):
        return set().union(*map(references, schema))
    if not isinstance(schema, dict):
        return set()
    own = {schema["$ref"].rpartition("/")[2]} if "$ref" in schema else set()
    return own.union(*map(references, schema.values()))


def parameters():
    """Names of parameters that the schema describes, by their first use."""
    found = {}
    sets = SCHEMA["parameterSets"]
    for group, questions in QUESTIONS.items():
        for question, rule in questions.items():
            for name in rule["parameters"]:
                names = sets[name[1:]] if name.startswith("*") else [name]
                found.update({one.partition("=")[0]: f"{group}/{question}" for one in names})
    return {**found, **{name.partition("=")[0]: "diff" for name in sets["sides"]}}


class Schema(unittest.TestCase):
    def test_has_the_questions_of_the_server(self):
        tables = re.findall(r"of_(databases|stores)\[\] = \{(.*?)\{0\},", (API / "route.c").read_text(encoding="utf-8"),
                            re.DOTALL)
        for table, rows in tables:
            group = {"databases": "data", "stores": "store"}[table]
            self.assertEqual(sorted(re.findall(r'\{"([a-z-]+)"', rows)), sorted(QUESTIONS[group]))
        forms = re.search(r"forms\[\] = \{(.*?)\};", (API / "diff.c").read_text(encoding="utf-8"), re.DOTALL)[1]
        self.assertEqual(sorted(re.findall(r'"(\w+)"', forms)), sorted(QUESTIONS["diff"]))

    def test_has_the_parameters_of_the_server(self):
        source = "".join(path.read_text(encoding="utf-8") for path in
                         sorted([*API.glob("*.c"), *(API.parent / "sql").glob("*.c"), LENS]))
        asked = set(re.findall(r'cn_request_\w+\(\s*request,\s*"(\w+)"', source))
        self.assertGreater(len(asked), 40)
        self.assertEqual(asked - parameters().keys(), set(), "parameters that the schema lacks")
        self.assertEqual({name for name in parameters() if f'"{name}"' not in source}, set(),
                         "parameters that the server does not know")

    def test_has_no_definition_that_no_answer_uses(self):
        used, waiting = set(), references(QUESTIONS) | {"Failure"}
        while waiting:
            used |= waiting
            waiting = set().union(*(references(DEFINITIONS[name]) for name in waiting)) - used
        self.assertEqual(DEFINITIONS.keys() - used, set())

    def test_requires_only_members_that_it_describes(self):
        for name, rule in DEFINITIONS.items():
            self.assertLessEqual(set(rule.get("required", [])), rule.get("properties", {}).keys(), name)

    def test_refuses_what_it_does_not_describe(self):
        def refuses(answer, rule, reason):
            with self.assertRaisesRegex(Mismatch, reason):
                check(answer, rule, seen=set())

        path = {"$ref": "#/$defs/PathItem"}
        node = {"$ref": "#/$defs/FlameNode"}
        times = {"$ref": "#/$defs/OtherTimes"}
        check({"id": "1", "label": "x"}, path, seen=set())
        refuses({"id": "1", "label": "x", "new": 1}, path, "new is not in docs")
        refuses({"id": "1"}, path, "lacks label")
        refuses({"id": 1, "label": "x"}, path, "not string")
        refuses([1, 2, 3], times, "3 items, not 2")
        refuses([1], times, "1 items, not 2")
        refuses([True, 2], times, "not integer")
        check([0, 0, 0, 1.5, None, "7", 1.5], node, seen=set())
        refuses([0, 0, 0, 1.5, None, "7", "x"], node, "not number or null")
        refuses("dead", {"$ref": "#/$defs/ThreadState"}, "none of")
        refuses(1, {"$ref": "#/$defs/Value"}, "not string or null; or .* not array")
        # What it extends counts.
        line = dict.fromkeys(DEFINITIONS["DiffLine"]["required"], 1) | {"verdict": "real"}
        named = {"$ref": "#/$defs/NamedLine"}
        check({**line, "function": "f", "label": "f", "path": "f"}, named, seen=set())
        refuses({"function": "f", "label": "f", "path": "f"}, named, "lacks")

    def test_was_seen_in_answers(self):
        folder = pathlib.Path(os.environ.get("CAIRN_SEEN", ""))
        names = ("api", "assembly", "collect", "diff", "lens", "notes", "peculiar", "sampling", "sql", "store", "timeline")
        kept = [folder / f"test_{name}.py.txt" for name in names]
        missing = [path.stem for path in kept if not path.exists()]
        if missing:
            self.skipTest(f"these did not run before: {', '.join(missing)}")
        seen = set().union(*(path.read_text(encoding="utf-8").split("\n") for path in kept))
        members = {f"{name}.{member}" for name, rule in DEFINITIONS.items() for member in rule.get("properties", {})}
        self.assertGreater(len(members), 300)
        self.assertEqual(sorted(members - seen), [], "members that no test saw in an answer")


if __name__ == "__main__":
    program = unittest.main(exit=False, verbosity=1)
    for _, reason in program.result.skipped:
        print(f"skipped: {reason}")
    sys.exit(77 if program.result.wasSuccessful() and program.result.skipped else not program.result.wasSuccessful())
