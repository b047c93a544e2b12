#!/usr/bin/env python3
"""What the overview says is worth a look, in situations where it must say something, or must not.

Usage: tests/server/test_notes.py --cairn CAIRN --notes NOTES_OF.mjs

Each situation is a recording, or samples, made for it. Its answers of the API are put into
sentences by the code of the viewer.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "generators")]
import exchange  # noqa: E402
from recordings import START, FRAME, program  # noqa: E402
from service import serving  # noqa: E402
from uftrace import Recording  # noqa: E402

MS = 10**6
SYMBOLS = FRAME + [(name, "t", 0x40) for name in ("work", "inner", "idle", "help", "wait")] + [("main", "T", 0x40)]
OTHER = FRAME + [(name, "t", 0x40) for name in ("other_main", "other_work")]
COSTLY = ["cairn 0.9.0 ( call-cost=54.000ns call-inner=22.000ns )"]  # of a recorder that knows its cost

IMBALANCE = r"× the mean of the \d+ (threads|ranks)"
PREEMPTED = r"^Pre-empted for"
CORES = r"cores? used that its threads could use"
SLOW = r": p99 .* its p50"
UNCERTAIN = r"its times are uncertain"
NOTHING = r"(?<![\d.,])0(\.0+)? ([%×]|(ns|µs|ms|s|of|calls|records|times)\b)|NaN|Infinity|unknown"
UNNAMED = "[unknown] [sampled]"  # code of a module without names, which a sentence may be about
NOTES_MAX = 5


class Situation:
    """A recording: a main thread and more, each with its calls."""

    def __init__(self, has_costs=False):
        self.run = Recording("situation")
        if has_costs:
            self.run.facts["uftrace_version"] = COSTLY
        self.session = self.run.begin(START, 100, [program("prog", SYMBOLS)])
        self.run.task(self.session, 100, START)

    @property
    def main(self):
        return self.run.tasks[0]

    def thread(self, begin_ms=0):
        return self.run.task(self.session, 100 + len(self.run.tasks), START + begin_ms * MS)

    def process(self):
        pid = 200 + len(self.run.tasks)
        session = self.run.begin(START, pid, [program(f"other{pid}", OTHER)])
        return self.run.task(session, pid, START)

    def spend(self, task, *steps, function="work"):
        """Steps in a function: ms of running, ("blocked", ms) or ("preempted", ms)."""
        task.enter(function)
        for step in steps:
            if isinstance(step, tuple):
                self.run.sleep(task, step[1] * MS, is_preempted=step[0] == "preempted")
            else:
                task.pass_time(step * MS)
        task.leave()


def helpers():
    """One thread works; two others, which do something else, wait for what it gives them."""
    s = Situation()
    s.spend(s.main, 90, ("blocked", 5))
    for _ in range(2):
        s.spend(s.thread(), 1, ("blocked", 94), function="help")
    return s.run


def unrelated_processes():
    s = Situation()
    s.spend(s.main, 90, ("blocked", 5))
    for _ in range(3):
        s.spend(s.process(), 2, ("blocked", 80), function="other_work")
    return s.run


def uneven_workers():
    """Four workers share work; three wait for the last one."""
    s = Situation()
    s.spend(s.main, 1, ("blocked", 120), function="main")
    for busy in (100, 40, 40, 40):
        s.spend(s.thread(), busy, ("blocked", max(1, 100 - busy)))
    return s.run


def workers_of_their_own():
    """The same work, but no thread waits for another one: they end."""
    s = Situation()
    s.spend(s.main, 1, ("blocked", 120), function="main")
    for busy in (100, 40, 40, 40):
        s.spend(s.thread(), busy, ("blocked", 1))
    return s.run


def even_workers():
    s = Situation()
    s.spend(s.main, 1, ("blocked", 120), function="main")
    for busy in (100, 98, 101, 99):
        s.spend(s.thread(), busy, ("blocked", 2))
    return s.run


def preempted():
    """2.06 s ready to run, 0.3 s run."""
    s = Situation()
    for _ in range(4):
        s.spend(s.thread(), *[75, ("preempted", 515)])
    return s.run


def hardly_preempted():
    s = Situation()
    s.spend(s.main, 300, ("preempted", 3), ("blocked", 5))
    return s.run


def blocked():
    s = Situation()
    s.spend(s.main, 10, ("blocked", 500))
    s.spend(s.thread(), 40, ("blocked", 470), function="help")
    return s.run


def busy():
    """Two threads on two processors."""
    s = Situation()
    s.spend(s.main, 500, ("blocked", 5))
    s.spend(s.thread(), 490, ("blocked", 15), function="help")
    return s.run


def corrected_without_states():
    """The cost of recording was subtracted, and nothing tells when threads ran: costs are no part of
    the wall time."""
    s = Situation(has_costs=True)
    s.main.enter("main")
    for _ in range(2000):
        s.main.call("work", ns=10)
    s.main.leave()
    s.spend(s.thread(), 1)
    return s.run


def sometimes_slow():
    s = Situation()
    s.main.enter("main")
    for i in range(500):
        s.main.call("work", ns=2 * MS if i % 50 == 7 else 10000)
    s.main.leave()
    return s.run


def slow_and_rare():
    """Slow calls that take next to nothing of the time."""
    s = Situation()
    s.main.enter("main")
    for i in range(500):
        s.main.call("work", ns=2000 if i % 50 == 7 else 100)
    s.main.pass_time(900 * MS)
    s.main.leave()
    return s.run


def lost():
    s = Situation()
    s.main.enter("main")
    s.main.pass_time(MS)
    s.main.lost(17)
    s.main.leave()
    return s.run


def lost_often():
    s = Situation()
    s.main.enter("main")
    for count in (3, 4, 5):
        s.main.pass_time(MS)
        s.main.lost(count)
    s.main.leave()
    return s.run


def lost_one():
    s = Situation()
    s.main.enter("main")
    s.main.pass_time(MS)
    s.main.lost(1)
    s.main.leave()
    return s.run


def called(count, ns, rest_ms=0, every=0, slow=0, has_costs=False):
    """main calls work so often; of `every` calls one takes `slow` ns; then it works itself."""
    s = Situation(has_costs=has_costs)
    s.main.enter("main")
    for i in range(count):
        s.main.call("work", ns=slow if every and i % every == 7 else ns)
    s.main.pass_time(rest_ms * MS)
    s.main.leave()
    return s.run


def short_calls():
    """Recording them costs more than they take."""
    run = called(3000, 20)
    run.facts["uftrace_version"] = [COSTLY[0].replace("54.000", "300.000")]
    return run


def few_short_calls():
    return called(50, 20, rest_ms=100, has_costs=True)


def long_calls():
    return called(500, 100000, has_costs=True)


def short_calls_of_unknown_cost():
    return called(3000, 20)


def slow_once():
    """Less than one in a hundred."""
    return called(500, 10000, every=500, slow=2 * MS)


def always_slow():
    return called(500, 2 * MS)


def mostly_slow():
    """p50 is slow as well."""
    return called(500, 2 * MS, every=10, slow=10000)


def alone():
    s = Situation()
    s.spend(s.main, 100, ("blocked", 1), function="main")
    return s.run


def recursive():
    s = Situation()
    for _ in range(20):
        s.main.enter("work")
        s.main.pass_time(MS)
    for _ in range(20):
        s.main.leave()
    return s.run


def preempted_by(ms):
    s = Situation()
    s.spend(s.main, 100 - ms, ("preempted", ms), ("blocked", 1))
    return s.run


def preempted_a_little():
    return preempted_by(8)


def preempted_enough():
    return preempted_by(15)


def blocked_alone():
    """One thread that waits has one core to use."""
    s = Situation()
    s.spend(s.main, 20, ("blocked", 400))
    return s.run


def slightly_uneven_workers():
    s = Situation()
    s.spend(s.main, 1, ("blocked", 120), function="main")
    for busy in (100, 90, 88, 92):
        s.spend(s.thread(), busy, ("blocked", 101 - busy))
    return s.run


def everything():
    """More than five things to say: what puts the rest in doubt comes first."""
    s = Situation()
    s.main.enter("main")
    s.main.lost(9)
    for name in ("work", "inner", "idle", "help"):
        for i in range(300):
            s.main.call(name, ns=3 * MS if i % 50 == 7 else 10000)
    s.main.leave()
    for busy in (100, 40, 40, 40):
        s.spend(s.thread(), busy, ("preempted", 300), ("blocked", max(1, 100 - busy)))
    return s.run


def sampled_even_workers():
    return samples([(7, 7 + i, "work", 300 + i) for i in range(4)])


def sampled_alone():
    return samples([(7, 7, "work", 500)])


def samples(threads):
    """Text of perf script: [(pid, tid, function, samples)]."""
    lines = []
    for pid, tid, function, count in threads:
        for i in range(count):
            lines += [f"prog {pid}/{tid} [000] {1000 + i / 1000:.6f}:    1000000 cpu-clock:u:",
                      f"\t          401136 {function}+0x10 (/srv/demo/prog{pid})",
                      f"\t          401106 start+0x20 (/srv/demo/prog{pid})", ""]
    return "\n".join(lines)


def sampled_workers():
    return samples([(7, 7 + i, "work", count) for i, count in enumerate((900, 300, 300, 300))])


def sampled_processes():
    return samples([(7 + i, 7 + i, "work", count) for i, count in enumerate((900, 30, 30, 30))])


def without_names():
    """perf.data of a program that is not on this machine."""
    return exchange.perf_data()


def folded():
    """Stacks and their counts: no times, states, threads or calls."""
    return "main;work;inner 30\nmain;work 60\nmain;idle 10\n"


# Each: what it must say, what it must not.
def gpu(busy_us, idle_us):
    """A trace of torch.profiler: five kernels of a stream, with times between them in which the GPU has nothing to do."""
    events = [{"ph": "X", "cat": "python_function", "name": "train.py(3): step", "pid": 100, "tid": 100, "ts": 0,
               "dur": 5 * (busy_us + idle_us) + 20}]
    for i in range(5):
        begin = 10 + i * (busy_us + idle_us) + (idle_us if i == 4 else 0)
        launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 100, "tid": 100, "ts": begin - 5, "dur": 3,
                  "args": {"correlation": i + 1}}
        kernel = {"ph": "X", "cat": "kernel", "name": f"kernel_{i}", "pid": 0, "tid": 7, "ts": begin, "dur": busy_us,
                  "args": {"device": 0, "context": 1, "stream": 7, "correlation": i + 1}}
        events += [launch, kernel]
    return json.dumps({"traceEvents": events})


def idle_gpu():
    return gpu(100, 400)


def busy_gpu():
    return gpu(1000, 10)


SITUATIONS = [
    (idle_gpu, [r"^GPU 0 busy 20\.0 % of 2\.5 ms, idle in 4 gaps: the longest, 800 µs, ended with kernel_4, "
                r"launched by (<module> > )?step > cudaLaunchKernel"], []),
    (busy_gpu, [], [r"GPU"]),
    (helpers, [], [IMBALANCE, PREEMPTED]),
    (unrelated_processes, [], [IMBALANCE, PREEMPTED]),
    (uneven_workers, [r"has 100 ms in work, 1\.8 " + IMBALANCE], [PREEMPTED]),
    (workers_of_their_own, [], [IMBALANCE, PREEMPTED]),
    (even_workers, [], [IMBALANCE]),
    (preempted, [r"^Pre-empted for 2\.06 s, 6\.9 × the 300(\.\d+)? ms that threads ran"], [IMBALANCE]),
    (hardly_preempted, [r"work itself has 100\.0 %"], [PREEMPTED]),
    (blocked, [r"^0\.10 of 2 " + CORES], [PREEMPTED, IMBALANCE]),
    (busy, [], [CORES, PREEMPTED, IMBALANCE]),
    (corrected_without_states, [], [CORES, PREEMPTED]),
    (sometimes_slow, [r"^work: p99 (2|1\.99\d) ms is (198|199|200) × its p50"], [PREEMPTED]),
    (slow_and_rare, [r"^main itself"], [r"^work: p99"]),
    (lost, [r"^17 records lost"], []),
    (sampled_workers, [r"has 900 ms in work, 2\.0 " + IMBALANCE], []),
    (sampled_processes, [], [IMBALANCE]),
    (lost_often, [r"^12 records lost"], [SLOW]),
    (lost_one, [r"^1 record lost"], []),
    (short_calls, [r"^work is called 3,000 times.* 300 ns .*, 900 µs in all: " + UNCERTAIN], [r"^work: p99"]),
    (few_short_calls, [r"^main itself"], [UNCERTAIN]),
    (long_calls, [r"^work itself"], [UNCERTAIN, SLOW]),
    (short_calls_of_unknown_cost, [], [UNCERTAIN]),
    (slow_once, [], [SLOW]),
    (always_slow, [r"^work itself"], [SLOW, UNCERTAIN]),
    (mostly_slow, [], [SLOW]),
    (alone, [r"^main itself has 100\.0 %"], [CORES, PREEMPTED, IMBALANCE]),
    (recursive, [r"^work itself has 100\.0 % .* in 20 calls"], [IMBALANCE, SLOW]),
    (preempted_a_little, [], [PREEMPTED]),
    (preempted_enough, [r"^Pre-empted for 15 ms, 0\.2 × the 85(\.\d+)? ms"], []),
    (blocked_alone, [r"^0\.05 of 1 " + CORES], [PREEMPTED, IMBALANCE]),
    (slightly_uneven_workers, [], [IMBALANCE]),
    (everything, [r"^9 records lost", PREEMPTED, CORES], []),
    (sampled_even_workers, [], [IMBALANCE]),
    (sampled_alone, [r"^work itself has 100\.0 %"], [IMBALANCE, PREEMPTED]),
    (without_names, [r"^Warning: sampled: 100 % of samples have functions without names; it is not on this machine: 'cairn symbolize"],
     [PREEMPTED]),
    (folded, [r"^work itself has 60\.0 %"], [PREEMPTED, CORES, IMBALANCE, SLOW, UNCERTAIN]),
]


def answers_of(cairn, path):
    with serving(cairn, str(path)) as service:
        service.get_ready()
        info, states = service.get("sources/0/info"), None
        while info["hasTimelines"] and (states is None or states["isPending"]):
            states = service.get("sources/0/states", list=1)
        overview = service.get("sources/0/overview", whole=1)
        detail = service.get("sources/0/context", row=overview["functions"][0]["path"][-1])
        resolutions = {column.get("resolution", 0) * 1e9 for column in overview["columns"] if column["isPercentile"]}
        if resolutions and resolutions - {detail["latency"].get("resolution", 0)}:
            raise AssertionError(f"{path}: the clock resolves {resolutions}, or {detail['latency']}")
        return {"info": info, "states": states, "overview": overview}


def main():
    cairn, notes = sys.argv[sys.argv.index("--cairn") + 1], sys.argv[sys.argv.index("--notes") + 1]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        asked = []
        for make, _, _ in SITUATIONS:
            path, made = pathlib.Path(folder) / make.__name__, make()
            if isinstance(made, str):
                path.write_text(made)
            elif isinstance(made, bytes):
                path.write_bytes(made)
            else:
                made.write(path)
            asked.append(answers_of(cairn, path))
    if not pathlib.Path(notes).exists():
        print("skipped: the viewer was not built")
        return 77
    printed = subprocess.run(["node", notes], input=json.dumps(asked), text=True, capture_output=True, check=True).stdout
    for (make, wanted, unwanted), said in zip(SITUATIONS, json.loads(printed)):
        wrong = [f"does not say /{pattern}/" for pattern in wanted if not any(re.search(pattern, note) for note in said)]
        wrong += [f"says /{pattern}/" for pattern in unwanted if any(re.search(pattern, note) for note in said)]
        wrong += [f"says of nothing: {note}" for note in said if re.search(NOTHING, note.replace(UNNAMED, ""))]
        wrong += [f"says {len(said)} sentences"] if len(said) > NOTES_MAX else []
        if wrong:
            failures += 1
            print(f"{make.__name__} {', '.join(wrong)}:", *said, sep="\n  ")
    print(f"{len(SITUATIONS)} situations, {failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
