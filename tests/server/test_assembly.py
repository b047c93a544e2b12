#!/usr/bin/env python3
"""Costs of instructions: those of samples that this test writes, for code that it assembles.

Usage: test_assembly.py --cairn PROGRAM
"""
import argparse
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

from service import serving

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The same instructions on both processors.
CODE = """
#ifdef __x86_64__
#define BACK jne
#define CALL call
#else
#define BACK b.ne
#define CALL bl
#endif
.text
.globl hot, cold
.hidden hot
.type hot, %function
.type cold, %function
hot:
        nop
.Lagain:
        nop
        BACK .Lagain
        ret
.size hot, . - hot
cold:
        CALL hot
        ret
.size cold, . - cold
"""
# Code with a function that is inlined, and one that is called.
INLINED = """
static __attribute__((noinline)) int other(int x) { return x / 3; }
static inline __attribute__((always_inline)) int mix(int x) { return x * 31 ^ 7; }
int work(int x) { return mix(other(x)) + 1; }
"""
LEN = {"x86_64": [1, 1, 2, 1], "aarch64": [4, 4, 4, 4]}
BASE, PID = 0x7f0000000000, 4711


def build(folder, name, text, function):
    """A library of this source: its path, its build id, the address of a function, and its code: the offsets in the
    file and in memory."""
    (folder / name).write_text(text)
    library = folder / f"lib{name.partition('.')[0]}.so"
    subprocess.run(["gcc", "-g", "-O1", "-nostdlib", "-shared", "-Wl,--build-id", "-o", library, folder / name], check=True)
    notes = subprocess.run(["readelf", "-n", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    symbols = subprocess.run(["nm", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    headers = subprocess.run(["readelf", "-lW", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    begin = int(re.search(rf"^(\w+) [tT] {function}$", symbols, re.M).group(1), 16)
    code = next((int(off, 16), int(at, 16)) for off, at, length in
                re.findall(r"LOAD\s+(0x\w+) (0x\w+) 0x\w+ 0x\w+ (0x\w+)", headers)
                if int(at, 16) <= begin < int(at, 16) + int(length, 16))
    return library, bytes.fromhex(re.search(r"Build ID: (\w+)", notes).group(1)), begin, code


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def write_perf(path, library, build_id, code, samples):
    """perf.data with a mapping of the code, and samples (tid, offset in the library, ns) of the CPU clock."""
    file_off, at = code
    name = str(library).encode() + b"\0"
    name += b"\0" * (-len(name) % 8)
    records = record(10, 1 << 14 | 2, struct.pack("<IIQQQ", PID, PID, BASE, 0x10000, file_off & ~0xfff)
                     + struct.pack("<BBH20s", len(build_id), 0, 0, build_id) + struct.pack("<II", 5, 2) + name)
    for i, (tid, offset, period) in enumerate(samples):
        ip = BASE + (offset - at + file_off) - (file_off & ~0xfff)
        records += record(9, 2, struct.pack("<QIIQQ", ip, PID, tid, 1000 + i, period))
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000, 1 | 2 | 4 | 256, 0, 1 << 10).ljust(128, b"\0")
    head = b"PERFILE2" + struct.pack("<QQQQQQ", 104, 144, 104, 144, 248, len(records))
    path.write_bytes(head.ljust(104, b"\0") + attr + struct.pack("<QQ", 0, 0) + records)


class Instructions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.library, cls.build_id, begin, cls.code = build(cls.folder, "hot.S", CODE, "hot")
        lengths = LEN[os.uname().machine]
        cls.offsets = [begin + sum(lengths[:i]) for i in range(len(lengths))]
        samples = [(1, cls.offsets[0], 1000), (1, cls.offsets[1], 3000), (2, cls.offsets[1], 500),
                   (2, cls.offsets[3], 250)]
        write_perf(cls.folder / "run", cls.library, cls.build_id, cls.code, samples)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def cairn(self, *words, status=0):
        done = subprocess.run([OPTIONS.cairn, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, cwd=self.folder, timeout=60)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr if status else done.stdout

    def annotate(self, *words):
        return json.loads(self.cairn("annotate", "--format", "json", *words))

    def test_have_the_costs_of_their_samples(self):
        rows = self.annotate("hot", "run")
        column = next(name for name in rows[0] if name.startswith("cpu_clock"))
        self.assertEqual([row[column] and round(row[column] * 1e9) for row in rows], [1000, 3500, None, 250])
        self.assertEqual([int(row["offset"], 16) for row in rows], self.offsets)
        self.assertEqual([row["target"] and int(row["target"], 16) for row in rows],
                         [None, None, self.offsets[1], None])
        self.assertEqual([row["instruction"].split()[0] for row in rows[:2]], ["nop", "nop"])
        self.assertEqual([pathlib.Path(row["file"]).name for row in rows], ["hot.S"] * 4)
        self.assertEqual(CODE.splitlines()[rows[0]["line"] - 1].strip(), "nop")

    def test_add_up_to_their_function(self):
        rows = self.annotate("hot", "run")
        column = next(name for name in rows[0] if name.startswith("cpu_clock"))
        flat = json.loads(self.cairn("flat", "--format", "json", "run"))
        function = next(row for row in flat if row["name"] == "hot")
        self.assertAlmostEqual(sum(row[column] or 0 for row in rows), function[column], places=15)

    def test_of_selected_threads(self):
        rows = self.annotate("hot", "run", "-t", "THREAD 2")
        column = next(name for name in rows[0] if name.startswith("cpu_clock"))
        self.assertEqual([row[column] and round(row[column] * 1e9) for row in rows], [None, 500, None, 250])

    def test_are_shown_below_their_source_lines(self):
        text = self.cairn("annotate", "hot", "run")
        self.assertRegex(text, r"hot in .*libhot.so: self 4.75e-06 \(100.0% of all\), cpu-clock \(sec\)\n")
        self.assertRegex(text, r"hot\.S:\d+\s+nop\n *21\.1%")

    def test_are_those_of_the_api(self):
        with serving(OPTIONS.cairn, str(self.folder / "run")) as service:
            rows = service.get("sources/0/rows", view="bottom-up")["rows"]
            hot = next(row for row in rows if row["label"] == "hot")
            answer = service.get("sources/0/assembly", row=hot["context"])
            self.assertEqual([round(i.get("cost", 0) * 1e9) for i in answer["instructions"]], [1000, 3500, 0, 250])
            self.assertEqual(answer["instructions"][2]["jump"], 1)
            self.assertEqual(answer["instructions"][0]["source"].strip(), "nop")
            self.assertAlmostEqual(answer["self"], hot["values"][1], places=15)
            self.assertEqual((answer["inlined"], answer["buildId"]), (0, self.build_id.hex()))
            # Its source has the same costs, each once, although the loop contains them as well.
            line = next(row for row in service.get("sources/0/rows", row=hot["context"])["rows"] if row["kind"] == "line")
            source = service.get("sources/0/source", row=line["id"])
            self.assertEqual("\n".join(source["lines"]).strip(), CODE.strip())
            self.assertEqual([(line, round(cost * 1e9)) for line, cost in source["costs"]],
                             [(one["line"], round(one["cost"] * 1e9)) for one in answer["instructions"] if "cost" in one])
            self.assertFalse(source["isPerFunction"])

    def test_have_callees_and_the_functions_that_they_were_inlined_from(self):
        library, build_id, begin, code = build(self.folder, "work.c", INLINED, "work")
        write_perf(self.folder / "inlined", library, build_id, code, [(1, begin, 1000)])
        with serving(OPTIONS.cairn, str(self.folder / "inlined")) as service:
            rows = service.get("sources/0/rows", view="bottom-up")["rows"]
            work = next(row for row in rows if row["label"] == "work")
            instructions = service.get("sources/0/assembly", row=work["context"])["instructions"]
        self.assertEqual({one["inlined"] for one in instructions if "inlined" in one}, {"mix"})
        self.assertEqual([one["callee"] for one in instructions if "callee" in one], ["other"])

    def test_of_code_that_is_unknown_are_refused(self):
        unknown = "[unknown] [libhot.so]"
        write_perf(self.folder / "other", self.library, b"\1" * 20, self.code, [(1, self.offsets[0], 1000)])
        self.assertIn("is another build than the one that was measured, " + "01" * 20,
                      self.cairn("annotate", unknown, "other", status=1))
        write_perf(self.folder / "gone", "/nowhere/libhot.so", self.build_id, self.code, [(1, self.offsets[0], 1000)])
        self.assertIn("/nowhere/libhot.so is not on this machine", self.cairn("annotate", unknown, "gone", status=1))
        self.assertIn("run has no function 'warm'", self.cairn("annotate", "warm", "run", status=1))
        self.cairn("analyze", "run", "-o", "run.db")
        self.assertIn("costs of instructions are unknown", self.cairn("annotate", "hot", "run.db", status=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
