"""Names and states in perf.data that cairn sample and perf record write.

Prints what is wrong. Programs that are not installed are skipped.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

failures = []

# Code in memory that the program wrote itself, named by a file in the form of Python's perf
# trampolines: native and Python frames alternate.
TRAMPOLINE = r"""
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
#else
static const uint32_t code[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#endif
typedef void trampoline(void (*)(void));
static trampoline *outer_py, *inner_py;
static volatile unsigned sink;
__attribute__((noinline)) void native_leaf(void)
{
    struct timespec now;
    do {
        for (unsigned i = 0; i < 100000; i++)
            sink += i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (now.tv_nsec < 200000000 && now.tv_sec == 0);
    sink++;
}
__attribute__((noinline)) void native_middle(void) { inner_py(native_leaf); sink++; }
int main(void)
{
    char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char path[64];
    FILE *map;
    memcpy(memory, code, sizeof(code));
    memcpy(memory + 4096, code, sizeof(code));
    mprotect(memory, 8192, PROT_READ | PROT_EXEC);
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    map = fopen(path, "w");
    fprintf(map, "%lx %x py::main:/app/script.py\n", (unsigned long)memory, 64);
    fprintf(map, "%lx %x py::Worker.run:/app/lib/worker.py\n", (unsigned long)memory + 4096, 64);
    fclose(map);
    memcpy(&outer_py, &memory, sizeof(memory));
    memory += 4096;
    memcpy(&inner_py, &memory, sizeof(memory));
    outer_py(native_middle);
    printf("%s\n", path);
    return 0;
}
"""
WAITING = r"""
#include <pthread.h>
#include <time.h>
static volatile unsigned sink;
__attribute__((noinline)) void rest(void) { nanosleep(&(struct timespec){0, 3000000}, NULL); sink++; }
__attribute__((noinline)) void work(void) { for (unsigned i = 0; i < 1000000; i++) sink += i; }
__attribute__((noinline)) void *run(void *arg) { for (int i = 0; i < 30; i++) { work(); rest(); } return arg; }
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    pthread_setname_np(thread, "sleeper");
    pthread_join(thread, NULL);
    return 0;
}
"""
PHASES = r"""
#include <pthread.h>
#include <time.h>
static volatile unsigned sink;
static long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1000000000 * now.tv_sec + now.tv_nsec;
}
static void work(void)
{
    for (long end = now_ns() + 200000000; now_ns() < end;)
        for (unsigned i = 0; i < 100000; i++)
            sink = i;
}
__attribute__((noinline)) void serial(void) { work(); sink++; }
__attribute__((noinline)) void parallel(void) { work(); sink++; }
static void *run(void *arg) { parallel(); return arg; }
int main(void)
{
    pthread_t thread;
    serial();
    pthread_create(&thread, NULL, run, NULL);
    parallel();
    pthread_join(thread, NULL);
    return 0;
}
"""
SCRIPT = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
const end = Date.now() + 150
let sum = 0
while (Date.now() < end)
    sum += fib(14)
"""


def check(condition, text):
    if not condition:
        failures.append(text)


def run(*command):
    return subprocess.run(command, capture_output=True, check=True).stdout


def build(name, source):
    pathlib.Path(name + ".c").write_text(source, encoding="ascii")
    run("cc", "-O1", "-g", "-fno-omit-frame-pointer", "-D_GNU_SOURCE", "-pthread", "-o", name, name + ".c")


def rows(path, *options):
    return json.loads(run("cairn", "tree", path, "--format", "json", *options))


def stacks(path):
    """The stacks of functions, "f;g", with the file of each row's function."""
    found, files, stack = set(), {}, []
    for row in rows(path):
        if row["kind"] in ("entry", "function"):
            stack[row["depth"]:] = [row["name"]]
            found.add(";".join(stack[1:]))
            files[row["name"]] = (row["module"], row["file"], row["line"])
    return found, files


def check_python():
    build("trampoline", TRAMPOLINE)
    path = run("cairn", "sample", "-q", "--no-symbols", "-o", "py.data", "--", "./trampoline").decode().strip()
    found, files = stacks("py.data")
    want = "main;main;native_middle;Worker.run;native_leaf"
    check(any(stack.endswith(want) for stack in found), f"no stack {want}: {found}")
    check(files.get("Worker.run") == ("[python]", "/app/lib/worker.py", None), f"Worker.run: {files.get('Worker.run')}")
    run("cairn", "symbolize", "-q", "py.data", "-o", "named.data")
    # Names of another user are not used; code is then unknown, unless the file has its name.
    pathlib.Path(path).unlink()
    check(any(stack.endswith(want) for stack in stacks("named.data")[0]), f"no stack {want} in named.data")
    shutil.copy("py.data", "copy.data")  # what was shown before is cached
    found, _ = stacks("copy.data")
    check(any("main;[unknown];native_middle;[unknown];native_leaf" in stack for stack in found), f"no unknown: {found}")


def check_node():
    pathlib.Path("fib.js").write_text(SCRIPT, encoding="ascii")
    here = str(pathlib.Path("fib.js").resolve())
    for option in ("--perf-basic-prof", "--perf-prof"):
        name = option.strip("-") + ".data"
        run("cairn", "sample", "-q", "-z", "0", "-o", name, "--", "node", option, "fib.js")
        _, files = stacks(name)
        check(files.get("fib") == ("[javascript]", here, 2), f"{option}: fib is {files.get('fib')}")
    check_injected(here)


def check_injected(here):
    """perf inject writes an ELF file for each function."""
    if not shutil.which("perf"):
        return
    inject = ["perf", "inject", "--jit", "-i", "perf-prof.data", "-o", "jit.data"]
    if subprocess.run(inject, env={**os.environ, "HOME": os.getcwd()}, capture_output=True, check=False).returncode == 0:
        _, files = stacks("jit.data")
        check(files.get("fib") == ("[javascript]", here, 2), f"perf inject --jit: fib is {files.get('fib')}")


def check_states():
    build("waiting", WAITING)
    run("cairn", "sample", "-q", "--off-cpu", "-o", "off.data", "--", "./waiting")
    run("cairn", "analyze", "-q", "off.data", "-o", "off.db")
    for source in ("off.data", "off.db"):
        found = rows(source, "--waits", "--depth", "40")
        total = {key: sum(row[key] or 0 for row in found if row["depth"] == 0)
                 for key in found[0] if key.endswith("_inclusive") or key.endswith("_exclusive")}
        waits = {row["name"]: row for row in found}
        check("rest" in waits and waits["rest"]["time_sec_inclusive"] > 0.08, f"{source}: rest is {waits.get('rest')}")
        check(total["time_sec_inclusive"] > 0.18, f"{source}: {total}")
    said = subprocess.run(["cairn", "tree", "off.data", "--waits"], capture_output=True, check=True).stderr.decode()
    times = [float(number) * {"s": 1000, "ms": 1, "us": 0.001}[unit]
             for number, unit in re.findall(r"([\d.]+) (s|ms|us)\b", said)]
    check(len(times) == 4 and abs(times[0] - sum(times[1:])) < 0.01 * times[0], f"states do not add up: {said}")
    text = run("cairn", "timeline", "off.data").decode()
    check("sleeper" in text and "(waiting)" in text, f"timeline:\n{text}")
    check(run("cairn", "verify", "-q", "off.db") == b"", "verify")


def check_latency():
    """A thread alone, then two threads, whose latency is half of their time if each has a processor. All latency is the time in
    which one of them runs."""
    build("phases", PHASES)
    run("cairn", "sample", "-q", "--off-cpu", "-o", "phases.data", "--", "./phases")
    run("cairn", "analyze", "-q", "phases.data", "-o", "phases.db")
    runs = re.findall(r"states_run\[\d+\] begin_ns=(\d+) end_ns=(\d+)", run("cairn", "dump", "phases.db/states.db").decode())
    elapsed = end = 0
    for begins, ends in sorted((int(begin), int(end)) for begin, end in runs):
        elapsed += max(0, ends - max(begins, end))
        end = max(end, ends)
    cpu, latency = ({row["name"]: row[f"{key}_sec_inclusive"] or 0
                     for row in json.loads(run("cairn", "callers", "phases.db", "--depth", "1", "--format", "json", "-m", name))}
                    for name, key in (("cpu time", "cpu_time"), ("latency", "latency")))
    whole = sum(row["latency_sec_inclusive"] for row in rows("phases.db", "-m", "latency", "--depth", "1") if row["depth"] == 0)
    check(abs(1e9 * whole - elapsed) < 1000, f"latency: {whole} s of {elapsed} ns")
    check(abs(latency["serial"] - cpu["serial"]) < 0.2 * cpu["serial"], f"serial: {latency['serial']} of {cpu['serial']} s")
    check(0.49 * cpu["parallel"] < latency["parallel"] < 1.02 * cpu["parallel"], f"parallel: {latency['parallel']} of {cpu['parallel']} s")


def check_ranks():
    pathlib.Path("ranks.data").mkdir()
    for rank in (2, 10):
        shutil.copy("off.data", f"ranks.data/rank.{rank}")
    check("RANK 2-10" in run("cairn", "info", "ranks.data").decode(), "info of ranks")
    run("cairn", "analyze", "-q", "ranks.data", "-o", "ranks.db")
    one = rows("off.data", "--metric", "cpu-clock (sec)", "--depth", "1")[0]["cpu_clock_sec_inclusive"]
    for source in ("ranks.data", "ranks.db"):
        for options, times in (([], 2), (["-t", "RANK 2"], 1)):
            found = rows(source, "--metric", "cpu-clock (sec)", "--depth", "1", *options)[0]["cpu_clock_sec_inclusive"]
            check(abs(found - times * one) < 1e-6, f"{source} {options}: {found}, of one rank {one}")


def main():
    if not shutil.which("cc") or subprocess.run(["cairn", "sample", "-q", "-o", "can.data", "--", "true"],
                                                capture_output=True, check=False).returncode:
        print("perf_event_open() is refused")
        return 77
    check_python()
    if shutil.which("node"):
        check_node()
    check_states()
    check_latency()
    check_ranks()
    for text in failures:
        print(text)
    return bool(failures)


sys.exit(main())
