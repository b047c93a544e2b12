"""What threads waited for, through every door, against the switches and wake-ups of the file: see one_truth."""
import collections
import json
import random

import exchange
from service import serving
from truth.check import answered
from truth.doors import NS, Costs, all_rows, of_side, run

MS = 1_000_000
STATES = ["running", "blocked", "pre-empted"]
METRICS = {"running": "cpu time (sec)", "blocked": "blocked time (sec)", "pre-empted": "pre-empted time (sec)"}
WAIT = collections.namedtuple("Wait", "thread begin woken end kind stack waker")


class Threads(exchange.Waits):
    """Threads of two processes, each on a processor of its own, that run and wait at random; what they did is counted as it
    is written."""
    TASKS = [(70, 70), (70, 71), (70, 72), (80, 80)]
    NAMES = ["app", "left", "right", "other"]

    def __init__(self, seed):
        super().__init__()
        self.spread = random.Random(seed)
        self.costs = {state: Costs() for state in STATES}
        self.of_thread = collections.Counter()  # ns by thread and state
        self.runs, self.waits = [], []
        plans = [self.plan(i) for i in range(len(self.TASKS))]
        for i, task in enumerate(self.TASKS):
            self.name(task, 0, self.NAMES[i])
            self.run(task, 0)
        for i, plan in enumerate(plans):
            self.follow(i, plan)

    def add(self, kind, misc, task, at, body, cpu=0):
        super().add(kind, misc, task, at, body, task[1] % 7)

    def sample(self, event, task, at, stack, raw=b"", cpu=0, registers=b""):
        super().sample(event, task, at, stack, raw, task[1] % 7, registers)

    def plan(self, i):
        """(begin, end, function) of runs, and (begin, end, whether pre-empted, function) of the waits after them."""
        at, steps = 0, []
        while at < 300:
            end = at + 1 + self.spread.randrange(12)
            self.runs.append((i, at, end))
            later = end + 2 + self.spread.randrange(20)
            steps.append((at, end, later, self.spread.randrange(4) == 0, self.spread.randrange(3)))
            at = later
        return steps

    def follow(self, i, steps):
        task = self.TASKS[i]
        for begin, end, later, is_preempted, number in steps:
            work, wait = f"main step{number} work{number}", f"main step{number} wait{i} /lib/futex"
            self.work(task, begin, end, work)
            self.count(i, "running", work, end - begin)
            if later >= 300 and i == 1:  # it waits when the data ends
                last = max(end for _, _, end in self.runs) + 5
                self.stop(task, end, wait)
                self.name((90, 90), last, "later")
                self.count(i, "blocked", wait, last - end)
                self.waits.append(WAIT(i, end, None, last, "not woken", wait, None))
                return
            if later >= 300:
                self.end(task, end)
                return
            if is_preempted:
                self.stop(task, end, work, is_preempted=True)
                self.count(i, "pre-empted", work, later - end)
                self.waits.append(WAIT(i, end, None, later, "pre-empted", work, None))
            else:
                self.stop(task, end, wait)
                self.count(i, "blocked", wait, later - end)
                self.waits.append(self.woken(i, end, later, wait))
            self.run(task, later)

    def woken(self, i, begin, end, stack):
        """A wake-up by a thread that runs, up to 2 ms before the thread runs; or none."""
        woken = end - self.spread.randrange(3)
        wakers = [other for other, first, last in self.runs if other != i and first < woken < last]
        if not wakers:
            return WAIT(i, begin, None, end, "unknown", stack, None)
        self.wake(self.TASKS[wakers[0]], self.TASKS[i], woken, "main stepX notify /lib/futex_wake")
        kind = "thread" if self.TASKS[wakers[0]][0] == self.TASKS[i][0] else "process"
        return WAIT(i, begin, woken, end, kind, stack, wakers[0])

    def count(self, i, state, stack, ms):
        self.costs[state].add_stack([name.removeprefix("/lib/") for name in stack.split()], MS * ms)
        self.of_thread[i, state] += MS * ms


def printed(cairn, *words):
    return json.loads(run(cairn, *words, "--format", "json"))


def by_function(rows, key):
    """A self cost of the rows of a view."""
    costs = Costs()
    for row in rows:
        if row["kind"] == "function":
            costs.selfs[row["name"]] += (row[f"{key}_exclusive"] or 0) * NS
    return costs


def check_costs(check, cairn, label, source, threads, names):
    """Views with --waits, and those of a metric of waiting."""
    for state, wanted in threads.costs.items():
        key = {"running": "cpu_time_sec", "blocked": "blocked_time_sec", "pre-empted": "pre_empted_time_sec"}[state]
        for view in "tree", "flat", "callers", "top":
            more = ["-n", "1000"] if view == "top" else []
            rows = printed(cairn, view, *more, "-m", METRICS[state], source)
            if view == "callers":
                rows = [row for row in rows if row["depth"] == 0]
            check.same(f"{label}: {view} of {state}", wanted, by_function(rows, key), ("self",), names)
            if state != "running":
                rows = printed(cairn, view, *more, "--waits", source)
                if view == "callers":
                    rows = [row for row in rows if row["depth"] == 0]
                check.same(f"{label}: {state} in {view} --waits", wanted, by_function(rows, key), ("self",), names)
        asked = Costs()
        query = f"SELECT context_name AS name, sum(value) AS seconds FROM costs WHERE metric = '{METRICS[state]}' AND scope = 'function' GROUP BY 1"
        asked.selfs.update({row["name"]: row["seconds"] * NS for row in printed(cairn, "sql", source, query)})
        check.same(f"{label}: {state} in sql", wanted, asked, ("self",), names)


def check_waits(check, cairn, label, source, threads):
    """`cairn waits`, its kinds and threads, and the table of SQL: each wait that was written."""
    rows = printed(cairn, "waits", source)
    kinds, of_threads, longest = collections.Counter(), collections.Counter(), collections.Counter()
    for wait in threads.waits:
        last = wait.woken or wait.end
        for kind, ns in ((wait.kind, MS * (last - wait.begin)), ("processor", MS * (wait.end - last))):
            if ns:
                kinds[kind, "ns"] += ns
                kinds[kind, "count"] += 1
                of_threads[threads.NAMES[wait.thread]] += ns
                longest[kind] = max(longest[kind], ns)
    shown, of_shown, longest_shown = collections.Counter(), collections.Counter(), collections.Counter()
    for row in rows:
        shown[row["kind"], "ns"] += row["time_ns"]
        shown[row["kind"], "count"] += row["count"]
        of_shown[row["thread"]] += row["time_ns"]
        longest_shown[row["kind"]] = max(longest_shown[row["kind"]], row["longest_ns"])
    check.that(shown == kinds, f"{label}: waits has {shown}, there were {kinds}")
    check.that(of_shown == of_threads, f"{label}: waits of threads are {of_shown}, there were {of_threads}")
    check.that(longest_shown == longest, f"{label}: the longest waits are {longest_shown}, there were {longest}")
    whole = sum(row["time_ns"] for row in rows)
    check.that(all(abs(row["percent"] - 100 * row["time_ns"] / whole) < 1e-6 for row in rows), f"{label}: shares of waits are {rows}")
    table = printed(cairn, "sql", source, "SELECT thread, begin_ns, woken_ns, end_ns, kind, waker FROM waits ORDER BY 1, 2")
    first = min(row["thread"] for row in table)
    listed = [(row["thread"] - first, row["begin_ns"], row["woken_ns"], row["end_ns"], row["kind"],
               None if row["waker"] is None else row["waker"] - first) for row in table]
    wanted = sorted((w.thread, MS * w.begin, w.woken and MS * w.woken, MS * w.end, w.kind, w.waker) for w in threads.waits)
    check.that(listed == wanted, f"{label}: the table of waits has {[pair for pair in zip(listed, wanted) if pair[0] != pair[1]]}")
    path = printed(cairn, "waits", "--critical-path", source)
    ran = max(last for i, _, last in threads.runs if i == 0 and last < 300)
    check.that(abs(sum(row["time_ns"] for row in path) - MS * ran) <= MS, f"{label}: the critical path has {path}, the main thread {ran} ms")
    check.doors += 4


def check_states(check, cairn, label, source, threads):
    """States of threads in SQL."""
    for row in printed(cairn, "sql", source, "SELECT thread - (SELECT min(thread) FROM states) AS thread, state, ns FROM states"):
        if row["state"] in STATES:
            check.that(row["ns"] == threads.of_thread[row["thread"], row["state"]],
                       f"{label}: {row} in the table of states, {threads.of_thread}")
    check.doors += 1


def check_pages(check, service, label, threads, names):
    """The overview, rows, states, flows, processors and timelines of the viewer."""
    info, overview = service.get("sources/0/info"), service.get("sources/0/overview", whole=1)
    sums = {state: sum(ns for (_, of), ns in threads.of_thread.items() if of == state) for state in STATES}
    shown = {state["name"]: round(state["seconds"] * NS) for state in info["states"]}
    check.that(shown == {"all": sum(sums.values()), **sums}, f"{label}: states are {shown}, there were {sums}")
    for view in "bottom-up", "flat":
        columns, rows = all_rows(service, view, waits=1)
        if view == "flat":
            rows = [row for module in rows for file in service.get("sources/0/rows", view=view, waits=1, row=module["id"])["rows"]
                    for row in service.get("sources/0/rows", view=view, waits=1, row=file["id"])["rows"]]
        for state in "blocked", "pre-empted":
            costs = Costs()
            for row in rows:
                costs.selfs[row["label"]] += of_side(columns, row, "exclusive", METRICS[state])
                costs.totals[row["label"]] += of_side(columns, row, "inclusive", METRICS[state])
            check.same(f"{label}: {state} in {view} rows", threads.costs[state], costs, names=names)
    columns = overview["columns"]
    for part in "functions", "waiting":
        check.that(overview[part], f"{label}: the overview has no {part}")
        for found in overview[part]:
            name, values = found["row"]["label"], Costs()
            for state in STATES:
                values.selfs[name] = of_side(columns, found["row"], "exclusive", METRICS[state])
                values.totals[name] = of_side(columns, found["row"], "inclusive", METRICS[state])
                check.same(f"{label}: {state} of {part} of the overview", threads.costs[state], values, names=[name])
    listed = [[thread[0], *(round(value * NS) for value in thread[1:])] for thread in overview["threads"]]
    wanted = [[i + 1, *(threads.of_thread[i, state] for state in STATES)] for i in range(len(threads.TASKS))]
    check.that(sorted(listed) == wanted, f"{label}: threads of the overview have {listed}, there were {wanted}")
    answer = answered(service, "sources/0/states", list=1)
    check.that([thread[:4] for thread in answer["threads"]][:len(wanted)] == wanted, f"{label}: states of threads are {answer['threads']}, there were {wanted}")
    first, last = 50 * MS, 150 * MS  # of the file: timelines begin with the first sample
    origin = int(info["origin"])
    answer = answered(service, "sources/0/states", begin=first - origin, end=last - origin)
    cut = collections.Counter({"running": sum(max(0, min(last, MS * end) - max(first, MS * begin)) for _, begin, end in threads.runs if end < 300)})
    for wait in threads.waits:
        cut["pre-empted" if wait.kind == "pre-empted" else "blocked"] += max(0, min(last, MS * wait.end) - max(first, MS * wait.begin))
    check.that({name: ns for name, ns in answer["states"] if name in STATES} == dict(cut), f"{label}: states of a range are {answer}, there were {cut}")
    processors = answered(service, "sources/0/processors")["processors"]
    busy = {each["number"]: each["busy"] for each in processors}
    wanted = {task[1] % 7: threads.of_thread[i, "running"] for i, task in enumerate(threads.TASKS)}
    check.that(all(abs(busy[number] - ns) <= MS for number, ns in wanted.items()) and len(busy) == len(wanted),
               f"{label}: processors were busy for {busy}, there were {wanted}")
    flows = service.get("sources/0/flows", begin=0, end=info["duration"], limit=2000)
    woken = sorted((w.waker + 1, MS * w.woken - origin, w.thread + 1, MS * w.end - origin) for w in threads.waits if w.waker is not None)
    found = sorted((flow[0], flow[1], flow[3], flow[4]) for flow in flows["flows"])
    check.that(found == woken and flows["count"] == len(woken), f"{label}: flows are {found}, wake-ups were {woken}")
    check_timeline(check, service, label, threads, info)
    check.doors += 6


def check_timeline(check, service, label, threads, info):
    """The rows of a timeline: how long each thread was in each state, and how much of it waited."""
    end = info["duration"]
    timeline = answered(service, "sources/0/timeline", nested=1, begin=0, end=end, columns=1000)
    # Of samples: a wait until the end of the data has no sample after it.
    waited = sum(MS * (wait.end - wait.begin) for wait in threads.waits if wait.kind != "not woken")
    check.that(timeline["waiting"] == waited, f"{label}: the timeline has {timeline['waiting']} ns of waiting, there were {waited}")
    for row in timeline["rows"]:
        shown = collections.Counter()
        for columns, state in row["states"]:
            if state is not None:
                shown[STATES[state]] += columns * end / timeline["columns"]
        for state in STATES:
            want = threads.of_thread[row["profile"] - 1, state]
            check.that(abs(shown[state] - want) < 0.1 * want + 10 * MS, f"{label}: the row of {row['label']} has {shown}, {want} ns {state}")
    check.doors += 1


def check_waiting(check, cairn, folder):
    threads = Threads(41)
    samples, db = folder / "waiting.perf.data", folder / "waiting.db"
    samples.write_bytes(threads.bytes())
    run(cairn, "analyze", "-q", samples, "-o", db)
    names = sorted({name for costs in threads.costs.values() for name in costs.totals})
    for label, source in ("waits of samples", samples), ("waits of a database", db):
        check_costs(check, cairn, label, source, threads, names)
        check_states(check, cairn, label, source, threads)
        with serving(cairn, str(source)) as service:
            check_pages(check, service, label, threads, names)
    check_waits(check, cairn, "waits of samples", samples, threads)
