#!/usr/bin/env python3
"""Round trips through the formats that can be read again, and perf.data against perf script.
Prints what is wrong."""
import collections
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

PROGRAM = r"""
static volatile double s;
__attribute__((noinline)) void leaf(int n) { for (int i = 0; i < n; i++) s += i * 0.5; }
__attribute__((noinline)) void left(int n) { leaf(n); s += 1; }
__attribute__((noinline)) void right(int n) { leaf(n / 2); s += 2; }
int main(void) { for (int k = 0; k < 150; k++) { left(200000); right(200000); } return s > 1e300; }
"""
CLOCKS = r"""
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
    static char zeros[1 << 16];
    struct timespec now;
    int from = open("/dev/zero", O_RDONLY);

    for (int i = 0; i < 1000000; i++)
        clock_gettime(CLOCK_REALTIME, &now);
    for (int i = 0; i < 2000 && read(from, zeros, sizeof(zeros)) > 0; i++)
        continue;
    return 0;
}
"""
# Samples before and after main() come by chance: _start, __do_global_dtors_aux.
FUNCTIONS = ("main", "left", "right", "leaf")
failures = []


def check(is_fine, text):
    if not is_fine:
        failures.append(text)


def run(*words):
    done = subprocess.run(words, capture_output=True, check=False)
    check(done.returncode == 0, f"{' '.join(map(str, words))}: {done.stderr.decode()[-300:]}")
    return done.stdout


def convert(source, target, name, *more):
    run("cairn", "convert", "-q", "-f", str(source), target, "--to", name, *more)
    return target


def stacks(source, *more):
    """Values by stack, as folded stacks have them."""
    found = collections.Counter()
    for line in run("cairn", "convert", "-q", str(source), "-", "--to", "folded", *more).decode().splitlines():
        stack, value = line.rsplit(" ", 1)
        found[stack] += int(value)
    return found


def calls(path):
    """Begins and ends of Chrome JSON, with the times of the recording."""
    data = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    base = int(data["metadata"]["base_time_ns"])
    found = collections.defaultdict(list)
    for event in data["traceEvents"]:
        if event["ph"] in "BE":
            found[event["pid"], event["tid"]].append((base + round(event["ts"] * 1000), event["ph"], event["name"]))
    return found


def check_folded_and_calls(source):
    """What holds for any recording, whatever is missing in it."""
    name = source.name
    want = stacks(source)
    check(want, f"{name}: no stacks")
    check(stacks(convert(source, "a.folded", "folded")) == want, f"{name}: folded stacks differ")
    convert(source, "c.json.gz", "chrome")
    convert(source, "c.json", "chrome")
    check(calls(convert("c.json.gz", "d.json", "chrome")) == calls("c.json"), f"{name}: calls of chrome differ")


def function_costs(found):
    """Self and total cost of each function."""
    own, total = collections.Counter(), collections.Counter()
    for stack, value in found.items():
        names = stack.split(";")
        own[names[-1]] += value
        for name in set(names):
            total[name] += value
    return +own, +total


def check_callgrind(source, want):
    """Callgrind has no stacks, but the costs of all functions; parts of them are rounded."""
    found = stacks(convert(source, "a.callgrind", "callgrind"))
    for kind, before, after in zip(("self", "total"), function_costs(want), function_costs(found)):
        check(set(before) == set(after), f"{source.name}: functions of callgrind differ")
        for name, value in before.items():
            check(abs(value - after[name]) <= len(found), f"{source.name}: {kind} of {name}: {value}, callgrind: {after[name]}")


def check_round_trips(source):
    name = source.name
    want, with_waits = stacks(source), stacks(source, "--waits")
    metric = "time (sec)" if want == with_waits else "cpu time (sec)"
    check(stacks(convert(source, "a.pb.gz", "pprof")) == want, f"{name}: pprof differs")
    run("cairn", "analyze", "-q", "-f", "a.pb.gz", "-o", "a.db")
    check(stacks("a.db") == want, f"{name}: a database made of pprof differs")
    check(stacks(convert("a.db", "b.json", "speedscope", "--metric", metric)) == want,
          f"{name}: samples of speedscope differ")
    check_callgrind(source, want)
    check(stacks(convert(source, "c.json", "firefox")) == want, f"{name}: stacks of firefox differ")
    for kind in ("chrome", "speedscope", "perfetto"):
        check(stacks(convert(source, "c.json", kind)) == want, f"{name}: stacks of {kind} differ")
        check(stacks("c.json", "--waits") == with_waits, f"{name}: stacks of {kind} with waits differ")
    convert(source, "c.json", "chrome")
    convert(source, "c.pftrace", "perfetto")
    check(calls(convert("c.pftrace", "d.json", "chrome")) == calls("c.json"), f"{name}: calls of perfetto differ")
    convert("c.json", "e.data", "uftrace")
    check(calls(convert("e.data", "f.json", "chrome")) == calls("c.json"), f"{name}: calls of uftrace differ")
    shutil.rmtree("e.data")


def added(path):
    """How many calls a store takes from a file of spans."""
    shutil.rmtree("store", ignore_errors=True)
    done = subprocess.run(["cairn", "store", "add", "--create", "store", path], capture_output=True, check=False)
    found = re.search(rb"1 trace added \((\d+) calls\)", done.stderr)
    check(found, f"{path}: {done.stderr.decode()}")
    return int(found[1]) if found else 0


def check_spans(source):
    """Spans of a recording are all in the store, as the text of protoc counts them."""
    counts = {added(convert(source, f"spans.{name}", name)) for name in ("otlp", "otlp-json", "zipkin")}
    check(len(counts) == 1, f"{source.name}: stores of spans differ: {counts}")
    if shutil.which("protoc"):
        with open("spans.otlp", "rb") as file:
            text = subprocess.run(["protoc", "--decode_raw"], stdin=file, capture_output=True, check=False).stdout
        check(counts == {len(re.findall(rb'^      5: "', text, re.M))}, f"{source.name}: protoc has other spans")


def perf_script_stacks(data):
    """How often perf script shows each stack of FUNCTIONS."""
    found = collections.Counter()
    for sample in run("perf", "script", "--no-inline", "-i", data).decode(errors="replace").split("\n\n"):
        frames = re.findall(r"^\s+[0-9a-f]+ (.*?)(?:\+0x[0-9a-f]+)? \((.*)\)$", sample, re.M)
        names = [name for name, module in frames if module.endswith("/app") and name in FUNCTIONS]
        if names:
            found[";".join(reversed(names))] += 1
    return found


def check_perf_stacks(source, want):
    found = collections.Counter()
    for stack, value in stacks(source).items():
        names = [name for name in stack.split(";") if name in FUNCTIONS]
        if names:
            found[";".join(names)] += round(value / 1000000)
    check(found == want, f"{source}: {dict(found)}, perf script: {dict(want)}")


def can(*command):
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def check_perf():
    pathlib.Path("app.c").write_text(PROGRAM, encoding="ascii")
    record = ["perf", "record", "-q", "-e", "cpu-clock", "-c", "1000000", "-g", "--user-callchains"]
    if not shutil.which("perf") or not shutil.which("cc"):
        return
    run("cc", "-g", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-o", "app", "app.c")
    if not can(*record, "-o", "perf.data", "./app"):
        return  # not allowed here
    want = perf_script_stacks("perf.data")
    check(sum(want.values()) > 20, f"perf took {sum(want.values())} samples only")
    run("cairn", "analyze", "-q", "perf.data", "-o", "perf.db")
    pathlib.Path("perf.txt").write_bytes(run("perf", "script", "--no-inline", "-i", "perf.data"))
    with open("pipe.data", "wb") as pipe:
        subprocess.run([*record, "-o", "-", "./app"], stdout=pipe, stderr=subprocess.DEVNULL, check=False)
    check("leaf" in " ".join(stacks("pipe.data")), "perf.data of a pipe has no stacks")
    for source in ("perf.data", "perf.db", "perf.txt"):
        check_perf_stacks(source, want)
    if can(*record, "-z", "-o", "packed.data", "./app"):
        check_perf_stacks("packed.data", perf_script_stacks("packed.data"))
    for more in ([], ["-z"]):
        if can(*record, "--threads", *more, "-o", "threads.data", "./app"):
            check_perf_stacks("threads.data", perf_script_stacks("threads.data"))
            shutil.rmtree("threads.data")
    check_system_code()


def check_system_code():
    """Functions of the kernel and the vDSO are known, without build-ids too, if perf knows them."""
    pathlib.Path("clock.c").write_text(CLOCKS, encoding="ascii")
    run("cc", "-O1", "-o", "clock", "clock.c")
    for name, more in (("plain", []), ("small", ["-z"])):
        if not can("perf", "record", "-q", "-e", "cpu-clock", *more, "-o", name + ".data", "./clock"):
            continue
        script = run("perf", "script", "-F", "ip,sym,dso", "-i", name + ".data").decode(errors="replace")
        found = " ".join(stacks(name + ".data"))
        for function in ("vdso_clock_gettime", "clear_user"):
            if function in script:
                check(function in found, f"{name}.data: no {function} in {found}")


def check_perf_threads(source):
    """A folder as perf record --threads makes it, from one file: every other record is in another file."""
    whole = source.read_bytes()
    off, size = struct.unpack_from("<QQ", whole, 40)
    parts, at = [whole[:off], b"", b""], off
    for i in range(10**9):
        if at >= off + size:
            break
        record = whole[at : at + struct.unpack_from("<H", whole, at + 6)[0]]
        parts[0 if i < 2 else 1 + i % 2] += record
        at += len(record)
    parts[0] = parts[0][:48] + struct.pack("<Q", len(parts[0]) - off) + parts[0][56:] + whole[off + size :]
    folder = pathlib.Path("folder.data")
    folder.mkdir()
    for name, part in zip(("data", "data.0", "data.2"), parts):
        (folder / name).write_bytes(part)
    (folder / "data.1").write_bytes(b"")
    check(stacks(folder) == stacks(source), "perf record --threads: stacks differ")
    (folder / "data.2").write_bytes(parts[2][:-5])
    done = subprocess.run(["cairn", "tree", str(folder)], capture_output=True, check=False)
    check(done.returncode == 3 and b"data.2: record at" in done.stderr, f"damaged folder: {done.stderr.decode()}")


def main():
    data = pathlib.Path(os.environ["data"]) / "uftrace"
    sources = [data / name for name in ("cxx", "threads", "single", "crash")]
    for source in [pathlib.Path("testdata/recording"), *sources]:
        check_folded_and_calls(source)
    for source in sources:
        check_round_trips(source)
        check_spans(source)
    check_perf()
    check_perf_threads(data.parent / "exchange" / "sampled.perf.data")
    for text in failures:
        print(text)
    return bool(failures)


sys.exit(main())
