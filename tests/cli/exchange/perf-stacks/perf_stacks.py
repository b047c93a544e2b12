"""Record a program with perf and compare its stacks, sample by sample, with perf script."""
import collections
import os
import re
import shutil
import subprocess
import sys

PERIOD_NS = 1000000


def skip(why):
    print(why)
    sys.exit(77)


def own(names):
    """The functions of the program: names of libraries differ with their debug files."""
    return tuple(n for n in names if n.startswith("t_") or n == "main")


def stacks_of_perf(path):
    """How many samples have which stack, the outermost first."""
    text = subprocess.run(["perf", "script", "--no-inline", "-F", "tid,ip,sym", "-i", path],
                          capture_output=True, text=True, check=True).stdout
    found = collections.Counter()
    for sample in text.strip().split("\n\n"):
        names = re.findall(r"^\s+[0-9a-f]+ (\S+)", sample, re.M)
        found[own(reversed(names))] += 1
    return found


def stacks_of_cairn(path):
    text = subprocess.run(["cairn", "convert", "--to", "folded", path, "-"],
                          capture_output=True, text=True, check=True)
    found = collections.Counter()
    # A busy machine loses samples, for both; all others have all their callers.
    for line in text.stderr.splitlines():
        if "callers" in line:
            print(line)
    for line in text.stdout.splitlines():
        names, _, value = line.rpartition(" ")
        found[own(names.split(";"))] += round(int(value) / PERIOD_NS)
    return found


def main():
    if not shutil.which("perf") or not shutil.which("cc"):
        skip("perf or a compiler is not installed")
    source = os.path.join(os.environ["CASE"], "stacks.c")
    subprocess.run(["cc", "-O2", "-fomit-frame-pointer", "-o", "stacks", source, "-pthread"],
                   check=True)
    record = ["perf", "record", "-q", "-e", "cpu-clock:u", "-c", str(PERIOD_NS), "-o", "perf.data",
              "--call-graph", "dwarf,16384", "./stacks"]
    # Neither tool finds the callers of the lookup of a function that libc calls when a thread ends.
    recorded = subprocess.run(record, capture_output=True, text=True,
                              env={**os.environ, "LD_BIND_NOW": "1"})
    if recorded.returncode != 0:
        skip("perf may not record: " + recorded.stderr.strip().splitlines()[0])
    perf, cairn = stacks_of_perf("perf.data"), stacks_of_cairn("perf.data")
    for stack in sorted(set(perf) | set(cairn)):
        if perf[stack] != cairn[stack]:
            print(f"{';'.join(stack)}: {perf[stack]} samples of perf, {cairn[stack]} of cairn")
    deep = ("t_deep",) * 11 + ("t_spin",)
    for stack in [("main",) + deep, ("t_thread",) + ("t_deep",) * 20 + deep,
                  ("main", "t_sort", "t_compare", "t_spin"),
                  ("main", "t_interrupted", "t_handle", "t_spin")]:
        if cairn[stack] < 3:
            print(f"{';'.join(stack)}: {cairn[stack]} samples")


main()
