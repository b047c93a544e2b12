"""Measurements and databases of small programs, in every generation of the formats of HPCToolkit. Names are those that
tests use."""
from hpcdb import ALL_STATISTICS, CORE, GPU_CONTEXT, GPU_STREAM, NODE, RANK, THREAD
from hpcrun import (CALL_TRACE, IDLE, LOCAL, LOGICAL, MAIN, PARTIAL, THREAD_ROOT, UNKNOWN, Measurement, Metric, Paths,
                    Structure)

EPOCH = 1714021984008891000
HOST = 0x11ac0300


class Random:
    """The same numbers in every run."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % limit


def node(host=HOST):
    return (NODE, LOCAL, host, 0)


def logical(kind, number):
    return (kind, LOGICAL, number, number)


def small():
    """One thread: main() calls spinsleep() itself, and once through caller()."""
    m = Measurement("small")
    exe, source = m.module("/srv/demo/small"), "/srv/demo/small.c"
    m.module("vdso/7efc21c89566f551ba9bac284645e9d6.vdso")
    m.metrics = [Metric("CPUTIME (sec)")]
    m.structures = [Structure(exe, [("F", source, [
        ("P", "spinsleep", 1, 0x1129, [("S", 1, [(0x1129, 0x1148)]),
                                       ("L", 3, source, 0x1169, [("S", 3, [(0x1148, 0x1176)])])]),
        ("P", "caller", 6, 0x1176, [("S", 7, [(0x1176, 0x118b)])]),
        ("P", "main", 10, 0x118b, [("S", 11, [(0x118b, 0x11b0)])])])])]
    p = m.profile(0, [node(), logical(CORE, 0), logical(THREAD, 0)])
    p.disorder = 5
    paths = Paths(p)
    idle = paths.path([IDLE], is_leaf=True)
    first, second = [MAIN, (exe, 0x119c)], [MAIN, (exe, 0x11a6), (exe, 0x1187)]
    for frames, address, value in ((first, 0x1154, 0.201114), (first, 0x114c, 0.403829), (second, 0x1154, 0.100978),
                                   (second, 0x1160, 0.201947), (second, 0x114c, 0.302391)):
        paths.add([*frames, (exe, address)], 0, value)
    leaves = [paths.path([*frames, (exe, 0x1129)], is_leaf=True) for frames in (first, second)]
    p.trace = [(EPOCH, idle)] + [(EPOCH + 100978000 * (i + 1), leaves[i // 6]) for i in range(12)]
    return m


LOOPS, HEADER = "/srv/demo/loops.c", "/srv/demo/helper.h"


def loops_structure(exe):
    """Loops inside of loops, calls that were inlined, one of them twice, and instructions that belong to no line."""
    helper = ("A", 35, HEADER, "helper", [("S", 35, [(0x1330, 0x1340)]), ("S", 36, [(0x1340, 0x1344)])])
    again = ("A", 35, HEADER, "helper", [("S", 35, [(0x1360, 0x1370)])])
    return Structure(exe, [("F", LOOPS, [
        ("P", "main", 50, 0x1200, [("S", 51, [(0x1200, 0x1220)]), ("S", 52, [(0x1220, 0x1240), (0x1250, 0x1260)])]),
        ("P", "work", 20, 0x1300, [
            ("S", 20, [(0x1300, 0x1310)]),
            ("L", 21, LOOPS, 0x1310, [
                ("S", 22, [(0x1310, 0x1320)]),
                ("L", 23, LOOPS, 0x1320, [
                    ("S", 24, [(0x1320, 0x1330)]),
                    ("A", 25, LOOPS, [helper]),
                    ("A", 27, LOOPS, [again, ("S", 28, [(0x1344, 0x1348)])])]),
                # Overlaps a range that is known: dropped, but not the other one.
                ("S", 29, [(0x1338, 0x1350), (0x1350, 0x1360)])])]),
        ("P", "leaf", 40, 0x1400, [("S", 41, [(0x1400, 0x1410)]), ("L", 42, "", 0x1410, [("S", 43, [(0x1410, 0x1440)])])]),
        ("P", "operator<<(std::ostream&, int)", 45, 0x1440, [("S", 45, [(0x1440, 0x1460)])])])])


def gomp_structure(path):
    return Structure(path, [("F", "[libgomp.so.1]", [
        ("P", "GOMP_parallel", 0, 0x1a000, [("S", 0, [(0x1a000, 0x1a100)])]),
        ("P", "gomp_thread_start", 0, 0x1a200, [("S", 0, [(0x1a200, 0x1a280)])])])])


def loops(metrics, has_traces, kernel=None):
    """Four threads in random paths."""
    m = Measurement("loops", process=4974)
    exe, gomp = m.module("/srv/demo/loops"), m.module("/usr/lib/libgomp.so.1")
    libc, vdso = m.module("/usr/lib/libc.so.6"), m.module("vdso/7efc21c89566f551ba9bac284645e9d6.vdso")
    m.metrics = metrics
    m.structures = [loops_structure(exe), gomp_structure(gomp)]
    random = Random(7)
    calls = {0x1224: 0x1300, 0x1254: 0x1300, 0x1204: 0x1440, 0x1334: 0x1400, 0x1364: 0x1400, 0x1314: 0x1440}
    for thread in range(4):
        p = m.profile(thread, [node(), *([logical(CORE, 2 * thread)] if thread != 2 else []), logical(RANK, 0),
                               logical(THREAD, thread)])
        paths = Paths(p, 12 + 1000 * thread)
        top = [MAIN] if thread == 0 else [THREAD_ROOT, (gomp, 0x1a210), (gomp, 0x1a86d)]
        leaves = [paths.path([IDLE], is_leaf=True)]
        for _ in range(50):
            kind = random.below(12)
            frames = [PARTIAL, (exe, 0x1300 + 4 * random.below(8))] if kind == 0 else list(top)
            if kind == 1:
                frames = [THREAD_ROOT, "OMP Idle"] if thread else [MAIN, (exe, 0x1204), (exe, 0x1444)]
            elif kind == 2:
                frames += [UNKNOWN, (exe, 0x1344 + 4 * random.below(4))]
            elif kind == 3:
                frames += [(exe, 0x1204), (libc, 0x25000 + 16 * random.below(4)), (vdso, 0x520)]
            elif kind > 3:
                at = 0x1200
                while frames[-1][1] not in (0x1440,) and len(frames) < 9:
                    sites = [site for site in calls if at <= site < (at | 0xff) + 1]
                    if not sites or random.below(4) == 0:
                        break
                    site = sites[random.below(len(sites))]
                    frames.append((exe, site))
                    at = calls[site]
                frames.append((exe, at + 4 * random.below(24)))
                if kernel and random.below(3) == 0:
                    frames.append((kernel, 0xffff800080010000 + 0x80 * random.below(40)))
            for metric, described in enumerate(metrics):
                if metric == 0 or random.below(3):
                    value = 1 + random.below(900)
                    paths.add(frames, metric, value if described.is_integer else value / 1024)
            if not frames[-1] == UNKNOWN and isinstance(frames[-1], tuple) and frames[-1][0] == exe:
                leaves.append(paths.path([*frames[:-1], (exe, frames[-1][1] & ~0xff)], is_leaf=True))
        if has_traces:
            p.disorder = 5
            times = [EPOCH + 1000000 * i + random.below(900000) for i in range(160)]
            for i in range(0, 150, 7):  # written a little out of order
                other = i + 1 + random.below(3)
                times[i], times[other] = times[other], times[i]
            p.trace = [(time, leaves[random.below(len(leaves)) if i % 9 else 0]) for i, time in enumerate(times)]
    return m


def loops_cputime():
    return loops([Metric("CPUTIME (sec)")], True)


def loops_perf():
    """Two events, one of them counted in periods; functions of the kernel; no traces."""
    path = "kernel_symbols/vmlinux.11ac0300"
    m = loops([Metric("cpu-clock", is_integer=True), Metric("task-clock", "time of the task", is_integer=True,
                                                           period=100000000, show=0)], False, path)
    m.process = 5176
    m.module(path)
    names = [(0xffff800080010100, "T", "do_one", ""), (0xffff800080010400, "t", "do_two", "[crypto]"),
             (0xffff800080010400, "T", "alias_of_two", ""), (0xffff800080010500, "D", "data", ""),
             (0xffff800080010a00, "T", "last", "")]
    m.kernel_symbols = {path: "".join(f"{at:016x} {kind} {name}{' ' + module if module else ''}\n"
                                      for at, kind, name, module in names)}
    return m


def loops_cuda():
    """A kernel on a GPU: values with the thread that starts it, samples with the stream that runs it."""
    m = Measurement("loops-cuda", host=0x590a0502, process=3293)
    exe, library = m.module("/srv/demo/loops-cuda"), m.module("/usr/lib/libcuda.so.1")
    binary = m.module("gpubins/1165a3eeddeea5ea3616d1cdbc6faa59.gpubin")
    m.metrics = [Metric("GKER (sec)", "GPU time: kernel execution (seconds)", is_moved=True),
                 Metric("GKER:COUNT", is_integer=True, is_moved=True, show=4),
                 Metric("GKER:BLK_THR_ACUMU", is_integer=True, is_moved=True, show=4),
                 Metric("GKER:BLK_THR", "GPU kernel: threads in a block", formula="#2/#1", format="%6.0f", has_percent=False),
                 Metric("GXCOPY (sec)", "GPU time: explicit data copy (seconds)"),
                 Metric("GXCOPY:H2D (B)", is_integer=True),
                 Metric("GPUOP (sec)", "Total GPU operation time: seconds", formula="#0+#4"),
                 Metric("GSYNC (sec)", "Time: synchronisation: with the GPU", show=0)]
    m.structures = [
        Structure(exe, [("F", "/srv/demo/loops.cu", [
            ("P", "main", 80, 0x4400, [("S", 81, [(0x4400, 0x4440)]), ("L", 82, "/srv/demo/loops.cu", 0x4440, [
                ("S", 83, [(0x4440, 0x4480)])])])])]),
        Structure(binary, [("F", "/srv/demo/kernel.cu", [
            ("P", "test_loops(double*, int)", 10, 0x100, [("S", 11, [(0x100, 0x180)]), ("L", 12, "", 0x180, [
                ("S", 13, [(0x180, 0x200)]), ("C", 14, (0x200, 0x210), 0x400)])]),
            ("P", "device_helper", 20, 0x400, [("S", 21, [(0x400, 0x480)])])])], has_calls=True)]
    thread = m.profile(0, [node(m.host), logical(THREAD, 0)])
    thread.trace = []
    paths = Paths(thread)
    launch = [MAIN, (exe, 0x4460), (library, 0x1f00)]
    kernel = [*launch, "GPUKernl", (binary, 0x100)]
    paths.add(kernel, 0, 0.125)
    paths.add(kernel, 1, 200)
    paths.add(kernel, 2, 51200)
    copy = [MAIN, (exe, 0x4410), (library, 0x2200), "GPUCpH2D"]
    paths.add(copy, 4, 0.03125)
    paths.add(copy, 5, 1 << 20)
    paths.add([MAIN, (exe, 0x4414), (library, 0x2300), "GPU Sync"], 7, 0.25)
    stream = m.profile(500, [node(m.host), logical(GPU_CONTEXT, 0), logical(GPU_STREAM, 7)])
    stream.trace_flags, stream.disorder = CALL_TRACE, 30
    paths = Paths(stream, 4000)
    idle = paths.path([IDLE], is_leaf=True)
    running = paths.path([*launch, "GPUTrace", (binary, 0x100)], is_leaf=True)
    copying = paths.path([*copy[:-1], "GPUCpH2D"], is_leaf=True)
    stream.trace = [(EPOCH + 500000 * i, (running, idle, copying, running)[i % 4]) for i in range(200)]
    return m


def wide():
    """Many threads of several ranks, of which a third has no values, and many contexts."""
    m = Measurement("wide", process=77)
    exe = m.module("/srv/demo/wide")
    m.metrics = [Metric("REALTIME (sec)")]
    functions = []
    for i in range(120):
        at, file = 0x10000 + 0x100 * i, f"/srv/demo/part{i % 20}.c"
        functions.append(("F", file, [("P", f"function_{i}", 10 * i + 1, at, [
            ("S", 10 * i + 2, [(at, at + 0x40)]), ("L", 10 * i + 3, "", at + 0x40, [("S", 10 * i + 4, [(at + 0x40, at + 0x80)])])])]))
    m.structures = [Structure(exe, functions)]
    random = Random(233)
    for thread in range(48):
        p = m.profile(thread, [node(HOST + thread // 16), logical(RANK, thread // 8), logical(THREAD, thread % 8)])
        paths = Paths(p, 12 + 10000 * thread)
        p.trace, p.disorder = [], 5
        for _ in range(0 if thread % 3 == 2 else 40):
            depth = 2 + random.below(7)
            frames = [MAIN if thread % 8 == 0 else THREAD_ROOT]
            at = random.below(3)
            for _ in range(depth):
                frames.append((exe, 0x10000 + 0x100 * at + 4 * random.below(32)))
                at = (3 * at + 1 + random.below(4)) % 120
            paths.add(frames, 0, (1 + random.below(500)) / 64)
            leaf = paths.path([*frames[:-1], (exe, frames[-1][1] & ~0xff)], is_leaf=True)
            p.trace += [(EPOCH + 10000 * len(p.trace) + i, leaf) for i in range(1 + random.below(20))]
    return m


def forked():
    """Two processes with the same identity, as a fork leaves them; a metric that is hidden, and one of GPUs."""
    m = small()
    m.program = "forked"
    again = small()
    again.profiles[0].thread = 1
    m.profiles += again.profiles
    return m


def traced_in_vain():
    """Two metrics, and a trace file without a record."""
    m = small()
    m.program = "quiet"
    m.metrics.append(Metric("REALTIME (sec)", show=0))
    for values in m.profiles[0].values.values():
        values[1] = 2 * values[0]
    m.profiles[0].trace = []
    return m
