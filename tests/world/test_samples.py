#!/usr/bin/env python3
"""Two runs of a program on a busy machine, each sampled: what changed is named, and a slower machine changes nothing.

Usage: test_samples.py --cairn PROGRAM [unittest options]

Numbers of samples are drawn by chance from what functions cost; a slower run costs more in all of them.
"""
import argparse
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

COSTS = {f"main;stage{i % 5};work{i}": 60 + 25 * i for i in range(30)}
PAIRS = 30


def drawn(numbers, costs, speed):
    """Samples of one run: of each function as many as chance gives, with an error of the square root of the number."""
    return {stack: max(round(numbers.gauss(cost * speed, math.sqrt(cost * speed))), 0) for stack, cost in costs.items()}


class Samples(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def real(self, a, b):
        """The functions that changed, and whether the whole did."""
        for name, samples in (("a.folded", a), ("b.folded", b)):
            (self.folder / name).write_text("".join(f"{stack} {count}\n" for stack, count in samples.items()))
        done = subprocess.run([CAIRN, "diff", "-q", "--format", "json", "a.folded", "b.folded"], cwd=self.folder, check=True,
                              capture_output=True)
        rows = json.loads(done.stdout)
        return ([row["function"] for row in rows if row["function"] and row["real"] == "yes"],
                rows[0]["kind"] == "whole" and rows[0]["real"] == "yes")

    def test_a_slower_machine_changes_nothing(self):
        numbers = random.Random(1)
        for speed in (1, 1.05, 1.2):
            wrong = [found for found in (self.real(drawn(numbers, COSTS, 1), drawn(numbers, COSTS, speed)) for _ in range(PAIRS))
                     if found != ([], False)]
            self.assertLessEqual(len(wrong), 0.03 * PAIRS, (speed, wrong))

    def test_few_samples_of_many_functions(self):
        """No function has enough samples to say the speed: they count together, whether one run or both have them."""
        numbers = random.Random(3)
        costs = {f"main;stage{i % 5};work{i}": 1 for i in range(500)}
        for speed in (1, 1.4):
            runs = [[{stack: count for stack, count in drawn(numbers, costs, side).items() if count} for side in (1, speed)]
                    for _ in range(PAIRS)]
            wrong = [found for found in (self.real(a, b) for a, b in runs) if found != ([], False)]
            self.assertLessEqual(len(wrong), 0.1 * PAIRS, (speed, wrong))

    def test_what_changed_is_named_first(self):
        numbers = random.Random(2)
        slower = dict(COSTS, **{"main;stage1;work11": 2 * COSTS["main;stage1;work11"], "main;stage2;check": 150})
        for speed in (1, 1.1):
            found = [self.real(drawn(numbers, COSTS, 1), drawn(numbers, slower, speed))[0] for _ in range(PAIRS)]
            named = [functions for functions in found if sorted(functions[:2]) == ["check", "work11"]]
            self.assertGreaterEqual(len(named), 0.95 * PAIRS, (speed, found))

    def test_many_samples_are_certain(self):
        """Of two functions no speed can be known: the error is that of counting."""
        functions, whole = self.real({"main;f": 100_000, "main;g": 1000}, {"main;f": 110_000, "main;g": 1000})
        self.assertEqual((functions, whole), (["f"], True))


def main():
    global CAIRN
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    args, rest = parser.parse_known_args()
    CAIRN = str(pathlib.Path(args.cairn).resolve())
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
