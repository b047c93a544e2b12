#!/usr/bin/env python3
"""Programs as the world has them: pre-empted, ended badly, stripped, compressed, with long names. Each answer about a recording
equals a plain reading of its files.

Usage: test_programs.py --cairn PROGRAM [unittest options]
"""
import argparse
import collections
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import raw

PROGRAM = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((noinline)) int leaf(int x)
{
    __asm__("");
    return x + 1;
}
__attribute__((noinline)) int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum = leaf(sum);
    return sum;
}
__attribute__((noinline)) void end(const char *how, char **argv)
{
    if (!strcmp(how, "exit"))
        exit(4);
    if (!strcmp(how, "_exit"))
        _exit(5);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    if (!strcmp(how, "segv"))
        *(volatile int *)8 = 1;
    if (!strcmp(how, "exec"))
        execl(argv[0], argv[0], "closed", "700", NULL);
    if (!strcmp(how, "closed"))
        close(1);
}
int main(int argc, char **argv)
{
    work(atoi(argv[2]));
    printf("%s\\n", argv[1]);
    fflush(stdout);
    end(argv[1], argv);
    work(100);
    return printf("end\\n") > 0 && fflush(stdout) == 0 ? 0 : 6;
}
"""
# Status alone, and calls of leaf() with the argument 1000.
ENDS = {"return": (0, 1100), "exit": (4, 1000), "_exit": (5, 1000), "abort": (-signal.SIGABRT, 1000), "kill": (-signal.SIGKILL, 1000),
        "segv": (-signal.SIGSEGV, 1000), "exec": (6, 1800), "closed": (6, 1100)}


class World(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()

    def run_in(self, *words, **more):
        return subprocess.run(list(map(str, words)), cwd=self.folder, capture_output=True, text=True, errors="replace", timeout=120,
                              check=False, **more)

    def build(self, source, name="program", *flags, compiler="gcc"):
        (self.folder / f"{name}.c").write_text(source)
        made = self.run_in(compiler, "-O1", "-g", "-pg", "-w", *flags, f"{name}.c", "-o", name)
        self.assertEqual(made.returncode, 0, made.stderr)
        return self.folder / name

    def record(self, *program, options=()):
        shutil.rmtree(self.folder / "data", ignore_errors=True)
        return self.run_in(OPTIONS.cairn, "record", "-q", "--no-libcall", *options, "-d", "data", "--", *program)

    def json(self, *words):
        done = self.run_in(OPTIONS.cairn, *words, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def report(self):
        return {row["function"]: row["calls"] for row in self.json("report", "data")}

    def check_report(self, program, unstripped=None):
        """Calls of the functions of the program; the others are of the C library."""
        expected = raw.calls(self.folder / "data", program, unstripped)
        found = self.report()
        self.assertGreater(expected["leaf"], 0)
        self.assertEqual({name: found.get(name) for name in expected}, dict(expected))
        return expected


class Ends(World):
    """Processes that end badly: everything before the end is there."""

    def test_every_call_before_the_end_is_recorded(self):
        program = self.build(PROGRAM)
        for how, (status, count) in ENDS.items():
            for options in ([], ["--buffer", "16K"]):
                with self.subTest(how, options=options):
                    alone = self.run_in(program, how, "1000")
                    recorded = self.record(program, how, "1000", options=options)
                    self.assertEqual((alone.returncode, alone.stdout), (status, recorded.stdout))
                    self.assertIn(recorded.returncode, (status, 128 - status), recorded.stderr)
                    self.assertEqual(self.check_report(program)["leaf"], count)

    def test_samples_of_programs_that_end_badly_can_be_read(self):
        program = self.build(PROGRAM)
        for how, (status, _) in ENDS.items():
            with self.subTest(how):
                done = self.run_in(OPTIONS.cairn, "sample", "-q", "-o", "out.perf.data", "--", program, how, "1000")
                self.assertIn(done.returncode, (status, 128 - status), done.stderr)
                self.assertEqual(self.run_in(OPTIONS.cairn, "info", "out.perf.data").returncode, 0)


class Binaries(World):
    """Names and lines of a program are those of the original, however it was stripped."""

    def variants(self, program):
        def tool(*words):
            done = self.run_in(*words)
            self.assertEqual(done.returncode, 0, done.stderr)

        yield "whole", lambda: None
        yield "without debug information", lambda: tool("strip", "-g", program)
        for how in ("zlib", "zlib-gnu", "zstd"):
            if self.run_in("objcopy", f"--compress-debug-sections={how}", program, "try").returncode == 0:
                yield how, lambda how=how: tool("objcopy", f"--compress-debug-sections={how}", program)

    def lines(self):
        """Line of each function of the source, as compilers count."""
        return {match[1]: PROGRAM[:match.start()].count("\n") + 1
                for match in re.finditer(r"^(?:__attribute__\S+ )?(?:int|void) (\w+)\(", PROGRAM, re.MULTILINE)}

    def test_names_and_lines(self):
        original = self.build(PROGRAM, "original")
        program = self.folder / "program"
        for name, change in self.variants(program):
            with self.subTest(name):
                shutil.copy(original, program)
                change()
                recorded = self.record(program, "return", "1000")
                self.assertEqual((recorded.returncode, recorded.stdout), (0, "return\nend\n"), recorded.stderr)
                self.check_report(program, original)
                if name == "without debug information" or (name == "zstd" and not self.reads_zstd()):
                    continue
                found = {row["name"]: (os.path.basename(row["file"] or ""), row["line"]) for row in self.json("tree", "data")}
                for function in ("leaf", "work", "main"):
                    self.assertEqual(found.get(function), ("original.c", self.lines()[function]), name)

    @staticmethod
    def reads_zstd():
        """True if the library that reads debug information does; that of Debian 12 does not."""
        library = ctypes.CDLL("libdw.so.1")
        library.dwfl_version.restype = ctypes.c_char_p
        return tuple(map(int, library.dwfl_version(None).split(b".")[:2])) >= (0, 189)

    def test_a_program_without_any_symbols_has_all_calls(self):
        original = self.build(PROGRAM, "original")
        program = self.folder / "program"
        shutil.copy(original, program)
        self.run_in("strip", "-s", program)
        self.record(program, "return", "1000")
        expected = collections.Counter(raw.calls(self.folder / "data", program, original))
        self.assertEqual(expected["leaf"], 1100)
        # Under whatever names: an address, or the nearest dynamic symbol.
        self.assertIn(1100, self.report().values())

    def test_samples_of_a_program_whose_debug_information_is_elsewhere(self):
        program = self.build(Switches.BUSY, "program")
        for words in (("objcopy", "--only-keep-debug", program, f"{program}.debug"), ("strip", "-s", program),
                      ("objcopy", f"--add-gnu-debuglink={program}.debug", program)):
            self.assertEqual(self.run_in(*words).returncode, 0)
        cpu = sorted(os.sched_getaffinity(0))[0]
        done = self.run_in(OPTIONS.cairn, "sample", "-q", "-c", "100000", "-o", "out.perf.data", "--", program, cpu)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = {row["name"] for row in self.json("tree", "out.perf.data")}
        self.assertTrue({"main", "spin"} <= names, names)


class Names(World):
    def test_names_of_4000_characters(self):
        name = "long_" + "x" * 3995
        program = self.build(PROGRAM.replace("leaf", name))
        self.record(program, "return", "1000")
        expected = raw.calls(self.folder / "data", program)
        self.assertEqual(expected[name], 1100)
        self.assertEqual(self.report().get(name), 1100)
        for kind in ("chrome", "folded", "otlp-json", "speedscope", "hpctoolkit-v4", "sqlite"):
            with self.subTest(kind):
                source = "data"
                if kind == "hpctoolkit-v4":
                    self.assertEqual(self.run_in(OPTIONS.cairn, "analyze", "-q", "data", "-o", "out.db").returncode, 0)
                    found = self.run_in(OPTIONS.cairn, "tree", "out.db", "--format", "csv").stdout
                else:
                    done = self.run_in(OPTIONS.cairn, "convert", "-q", source, f"out.{kind}", "--to", kind)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    found = (self.folder / f"out.{kind}").read_bytes().decode(errors="replace")
                self.assertIn(name, found)


class Switches(World):
    """A run that was pre-empted: what tasks waited for is the sum of the scheduler's records."""
    BUSY = """
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) int leaf(int x) { __asm__(""); return x + 1; }
__attribute__((noinline)) int spin(int ms)
{
    int x = 0;
    for (volatile long i = 0; i < ms * 300000L; i++)
        ;
    for (int i = 0; i < 100; i++)
        x = leaf(x);
    return x;
}
int main(int argc, char **argv)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(atoi(argv[1]), &set);
    sched_setaffinity(0, sizeof(set), &set);
    for (int i = 0; i < 40; i++) {
        spin(2);
        usleep(300);
    }
    spin(300); /* longer than the scheduler lets a process run beside another one */
    return 0;
}
"""

    def test_waiting_is_that_of_the_scheduler(self):
        program = self.build(self.BUSY)
        cpu = sorted(os.sched_getaffinity(0))[-1]
        rival = subprocess.Popen([sys.executable, "-c", f"import os; os.sched_setaffinity(0, [{cpu}])\nwhile True: pass"])
        try:
            done = self.record(program, cpu)
        finally:
            rival.kill()
            rival.wait()
        self.assertEqual(done.returncode, 0, done.stderr)
        found = raw.switches(self.folder / "data")
        if not found:
            self.skipTest("the scheduler of this machine cannot be observed")
        task = next(tid for tid, *_ in raw.records(self.folder / "data"))
        expected = self.sums([each for each in found if each[1] == task])
        rows = self.json("sql", "data", f"SELECT state, ns FROM states WHERE thread IN (SELECT id FROM threads WHERE tid = {task})")
        states = {row["state"]: row["ns"] for row in rows}
        for state, ns in expected.items():
            self.assertEqual(states.get(state), ns, f"{state}: {states}, {expected}")
        self.assertGreater(expected["blocked"], 0)
        self.assertGreater(expected["pre-empted"], 0)

    @staticmethod
    def sums(found):
        """How long the task waited in each state, from leaving a processor to coming back."""
        sums, left = {"blocked": 0, "pre-empted": 0}, None
        for time_ns, _, leaves, is_preempted in found:
            if leaves:
                left = (time_ns, "pre-empted" if is_preempted else "blocked")
            elif left:
                sums[left[1]] += time_ns - left[0]
                left = None
        return sums


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.cairn = os.path.abspath(OPTIONS.cairn)
    unittest.main(argv=[sys.argv[0], *rest])
