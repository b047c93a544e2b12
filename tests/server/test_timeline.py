#!/usr/bin/env python3
"""What `cairn serve` says of time: timelines, states of threads, counters, durations and flows agree
with each other and with the command line.

Usage: test_timeline.py --cairn PROGRAM --testdata FOLDER
"""
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "generators"))
import exchange  # noqa: E402
from asking import OPTIONS, Asking, main, ready  # noqa: E402
from service import serving  # noqa: E402


class Files(exchange.Waits):
    """perf.data of a program that reads one file and writes another, as `cairn sample --io` writes it."""
    ENTER, LEAVE, MACHINE = 2, 3, 80
    NUMBERS = {"read": 0, "write": 1, "openat": 257}  # of x86_64

    def __init__(self):
        super().__init__(has_wakeups=False, has_switches=False)
        kinds = 1 << 16 | exchange.IP | exchange.TID | exchange.TIME | 1 << 7 | exchange.PERIOD | exchange.CALLCHAIN | 1 << 10
        self.event(self.ENTER, 2, 401, kinds, "raw_syscalls:sys_enter")
        self.event(self.LEAVE, 2, 402, kinds, "raw_syscalls:sys_exit")
        self.data += exchange.perf_record(self.MACHINE, 0, struct.pack("<QI", 6, 8) + b"x86_64\0\0")

    def call(self, task, begin, end, stack, name, result, *arguments):
        values = list(arguments) + [0] * (6 - len(arguments))
        raw = struct.pack("<HBBiq6Q", 401, 0, 0, task[1], self.NUMBERS[name], *values)
        self.sample(self.ENTER, task, begin, stack, raw + bytes(4))
        if end is not None:
            raw = struct.pack("<HBBiqq", 402, 0, 0, task[1], self.NUMBERS[name], result)
            self.sample(self.LEAVE, task, end, stack, raw + bytes(4))


def files():
    data = Files()
    main_task, worker = (70, 70), (70, 71)
    data.name(main_task, 0, "app")
    data.start(main_task, worker, 0)
    data.work(main_task, 0, 4, "main setup")
    data.call(main_task, 4, 5, "main setup load", "read", 4096, 0, 1, 4096)
    data.call(main_task, 6, 6.5, "main setup load", "read", 904, 0, 1, 4096)
    data.call(main_task, 7, 7.25, "main report", "write", 120, 1, 1, 120)
    data.call(worker, 8, 10, "work log", "write", -28, 1, 1, 1000)
    data.call(worker, 11, None, "work log", "write", 0, 1, 1, 1000)
    data.work(main_task, 12, 14, "main report")
    return data.bytes()


class Timelines(Asking):
    def test_threads_of_recordings_have_the_names_of_their_tasks(self):
        tasks = [task for task in self.ask(1, "info")["tasks"] if "profile" in task]
        names = {task["profile"]: f"{task['name']} {task['tid']}" for task in tasks}
        self.assertGreater(len(names), 1)
        rows = self.ask(1, "timeline", columns=50)["rows"]
        self.assertEqual([row["label"] for row in rows], [names[row["profile"]] for row in rows])
        for thread in self.ask(1, "threads"):
            self.assertEqual(thread["label"], names[thread["profile"]])
        self.assertRegex(self.ask(0, "threads")[0]["label"], "THREAD|RANK|NODE")

    def test_snapped_timelines_hold_what_was_asked_for(self):
        duration = self.ask(1, "info")["duration"]
        for begin, end in ((0, duration), (duration // 3, duration // 2)):
            frame = self.ask(1, "timeline", begin=begin, end=end, columns=100, snap=1)
            width = (frame["end"] - frame["begin"]) // frame["columns"]
            self.assertEqual(width & (width - 1), 0)
            self.assertEqual(frame["begin"] % width, 0)
            self.assertLessEqual(frame["begin"], begin)
            self.assertGreaterEqual(frame["end"], end)
            self.assertTrue(50 < frame["columns"] < 200)
            for row in frame["rows"]:
                self.assertEqual(sum(run[0] for run in row["runs"]), frame["columns"])

    def nested(self, source, **parameters):
        """A timeline of whole stacks: the names of each frame from the outermost call down, and
        the self time of each function."""
        frame = self.ask(source, "timeline", nested=1, refine=1, **parameters)
        names = dict(frame["names"])
        paths = {}
        for number, caller, function in frame["frames"]:
            paths[number] = [] if caller is None else paths[caller] + [names[function]]
        return frame, paths, dict(frame["functions"])

    def test_nested_timelines_are_cut_except_those_of_some_threads(self):
        whole, paths, _ = self.nested(0, columns=64, count=200)
        one = whole["rows"][1]["profile"]
        cut, cut_paths, _ = self.nested(0, columns=64, count=200, depth=1, whole=str(one))

        def columns(frame, paths, row, depth):
            return [paths.get(run[1], run[1])[:depth] if run[1] in paths else run[1]
                    for run in row["runs"] for _ in range(run[0])]

        self.assertGreater(max(len(path) for path in paths.values()), 1)
        self.assertLess(len(cut["frames"]), len(whole["frames"]))
        for before, after in zip(whole["rows"], cut["rows"]):
            depth = None if after["profile"] == one else 1
            self.assertEqual(columns(cut, cut_paths, after, None),
                             columns(whole, paths, before, depth))
        self.assertEqual(cut["functions"], whole["functions"])

    def test_nested_timelines_are_what_other_doors_say(self):
        for source, path in ((0, "sample"), (1, "recording")):
            duration = self.ask(source, "info")["duration"]
            for begin, end in ((0, duration), (duration // 4, duration // 2)):
                frame, _, spent = self.nested(source, begin=begin, end=end, columns=64, count=200)
                flame = self.ask(source, "range", begin=begin, end=end, min=0)
                self.assertFalse(frame["isEstimate"])
                self.assertEqual(spent, dict(flame["functions"]))
                self.assertEqual(frame["others"], flame["others"])
                self.assertAlmostEqual(sum(spent.values()), flame["total"] * 1e9, delta=2)
                self.assertAlmostEqual(frame["waiting"], (flame["waiting"] or 0) * 1e9, delta=2)
            shown = json.loads(subprocess.check_output(
                [OPTIONS.cairn, "timeline", f"{OPTIONS.testdata}/{path}", "--depth", "1", "-w",
                 "80", "--format", "json"], text=True))
            columns = 1 + max(cell["slice"] for cell in shown)
            frame, paths, _ = self.nested(source, columns=columns, count=200)
            rows = {row["profile"]: [run[1] for run in row["runs"] for _ in range(run[0])]
                    for row in frame["rows"]}
            compared = 0
            for cell in shown:
                if cell["state"] == "running" and cell["share_percent"] > 50:
                    path = paths[rows[cell["profile"]][cell["slice"]]]
                    self.assertIn(cell["function"], path[:1] or [cell["function"]])
                    compared += 1
            self.assertGreater(compared, 20)

    def stack(self, profile, at):
        """The samples at a time: begin, end and functions, outermost first."""
        answer = self.ask(1, "stack", profile=profile, time=at)
        return (answer["begin"], answer.get("end"), [frame["label"] for frame in reversed(answer["frames"])],
                answer["state"])

    def test_a_frame_inside_of_waiting_has_the_call_around_it(self):
        frame, _, _ = self.nested(1, columns=1000, count=200)
        step = (frame["end"] - frame["begin"]) / frame["columns"]
        compared = 0
        for row in frame["rows"]:
            at = 0
            for count, place, _, _ in row["runs"]:
                at += count
                if place != frame["idle"]:
                    continue
                begin, end, functions, state = self.stack(row["profile"], int(step * (at - count / 2)))
                if state == "running" or end is None or end - begin < 8:
                    continue
                before = self.stack(row["profile"], begin - 1)[2]
                after = self.stack(row["profile"], end)[2]
                around = [a for i, a in enumerate(before) if before[:i + 1] == after[:i + 1]]
                inner, paths, _ = self.nested(1, columns=4, begin=begin + 2, end=end - 2,
                                              thread=row["profile"])
                self.assertEqual([run[1] for run in inner["rows"][0]["runs"]], [inner["idle"]])
                held = inner["rows"][0].get("held", [None, None])
                self.assertEqual(inner["rows"][0]["waits"], [] if held[0] is None else [[0, 4, held[0]]])
                self.assertEqual(held[0], held[1])
                if before and after and around:
                    self.assertEqual(paths[held[0]], around[1:])
                    self.assertEqual(functions, around)
                    compared += 1
        self.assertGreater(compared, 0)

    def test_states_are_known_if_threads_wait_only_outside_calls(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "calls.json"
            path.write_text(json.dumps([{"ph": "X", "pid": 1, "tid": 1, "ts": ts, "dur": dur, "name": name} for ts, dur, name in
                                        [(0, 100, "main"), (200, 30, "linux:schedule"), (300, 30, "main")]]))
            with serving(OPTIONS.cairn, str(path)) as service:
                self.assertEqual(ready(service, 0), "ready")
                while (answer := service.get("sources/0/states", list=1))["isPending"]:
                    time.sleep(0.05)
        self.assertEqual(dict(answer["states"]), {"running": 300000, "blocked": 30000, "pre-empted": 0, "no data": 0})
        self.assertEqual(answer["waitingOutside"], 30000)

    def test_streams_of_gpus_are_no_threads_that_run(self):
        archive = pathlib.Path(__file__).resolve().parents[1] / "gpu" / "device" / "streams.tar.xz"
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["tar", "xf", archive, "-C", folder], check=True)
            with serving(OPTIONS.cairn, f"{folder}/streams.data") as service:
                self.assertEqual(ready(service, 0), "ready")
                while (answer := service.get("sources/0/states", list=1))["isPending"]:
                    time.sleep(0.05)
                threads = {thread["profile"]: thread["group"] for thread in service.get("sources/0/threads")}
        listed = [thread[0] for thread in answer["threads"]]
        self.assertEqual(listed, [profile for profile, group in threads.items() if not group.startswith("GPU ")])
        self.assertLess(len(listed), len(threads))
        self.assertLessEqual(dict(answer["states"])["running"], len(listed) * answer["wall"])

    def test_states_are_what_the_metrics_say(self):
        whole = dict(self.until_done(1, "states")["states"])
        costs = {state["name"]: state["seconds"] for state in self.ask(1, "info")["states"]}
        self.assertGreater(whole["blocked"], 0)
        self.assertAlmostEqual(whole["blocked"], costs["blocked"] * 1e9, delta=1)
        self.assertEqual(whole["pre-empted"], 20)  # of two threads, outside of their calls
        frame = self.until_done(1, "timeline", nested=1, columns=1000, count=200)
        width = (frame["end"] - frame["begin"]) / frame["columns"]
        blocked = 0
        for row in frame["rows"]:
            self.assertEqual(sum(run[0] for run in row["states"]), frame["columns"])
            blocked += sum(run[0] * width for run in row["states"] if run[1] == 1)
        self.assertAlmostEqual(blocked, whole["blocked"], delta=8 * width)
        parts = [dict(self.ask(1, "states", begin=begin, end=end)["states"])["blocked"]
                 for begin, end in ((0, 1700), (1700, self.ask(1, "info")["duration"]))]
        self.assertEqual(sum(parts), whole["blocked"])
        self.assertEqual(self.ask(0, "states")["states"], [])

    def test_processors_are_busy_while_threads_run(self):
        answer = self.until_done(1, "processors", columns=100)
        running = dict(self.ask(1, "states", begin=0, end=answer["end"])["states"])["running"]
        self.assertEqual([one["number"] for one in answer["processors"]], [0, 1])
        self.assertGreater(min(one["busy"] for one in answer["processors"]), 0)
        self.assertLessEqual(sum(one["busy"] for one in answer["processors"]), running)
        for one in answer["processors"]:
            ends = [0, *(end for run in one["runs"] for end in run[:2])]
            self.assertEqual(ends, sorted(ends))
            self.assertTrue(all(0 < run[3] <= 1 for run in one["runs"]))
        self.assertEqual(self.ask(0, "processors")["processors"], [])

    def check_states_of_switches(self, service):
        """Over time, as sums, and as costs."""
        answer = service.get("sources/0/states", list=1)
        self.assertEqual(answer["states"], [["running", 65], ["blocked", 40], ["pre-empted", 5], ["no data", 0]])
        self.assertEqual(answer["threads"], [[1, 65, 40, 5, 0, 0, 0, 0]])
        self.assertEqual(answer["wall"], 110)
        info = service.get("sources/0/info")
        self.assertEqual([round(state["seconds"] * 1e9) for state in info["states"]], [110, 65, 40, 5])
        frame = service.get("sources/0/timeline", nested=1, columns=110)
        self.assertEqual(frame["rows"][0]["states"], [[40, 0], [40, 1], [20, 0], [5, 2], [5, 0]])
        stack = service.get("sources/0/stack", profile=1, time=50)
        self.assertEqual((stack["state"], stack["frames"][0]["label"]), ("blocked", "[unknown] [wait]"))
        part = service.get("sources/0/states", begin=30, end=60)
        self.assertEqual(part["states"], [["running", 10], ["blocked", 20], ["pre-empted", 0], ["no data", 0]])

    def test_states_of_samples_are_those_of_their_switches(self):
        """Of the samples, of a page of them, and of a database that was made from them."""
        data = f"{OPTIONS.testdata}/switches.data"
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([OPTIONS.cairn, "analyze", "-q", data, "-o", f"{folder}/db"], check=True)
            for source, through_page in ((data, False), (data, True), (f"{folder}/db", False)):
                with serving(OPTIONS.cairn, source, through_page=through_page) as service:
                    self.check_states_of_switches(service)
                rows = json.loads(subprocess.check_output(
                    [OPTIONS.cairn, "sql", source, "--format", "json", "SELECT thread, state, ns FROM states"], text=True))
                self.assertEqual([(row["thread"], row["state"], row["ns"]) for row in rows],
                                 [(1, "running", 65), (1, "blocked", 40), (1, "pre-empted", 5), (1, "no data", 0)])

    def test_streams_of_gpus_have_their_own_names(self):
        trace = pathlib.Path(__file__).parents[1] / "cli" / "exchange" / "kineto" / "trace.json"
        with serving(OPTIONS.cairn, str(trace)) as service:
            service.get_ready()
            labels = {one["selector"].split()[0]: one["label"] for one in service.get("sources/0/threads")}
        self.assertTrue(labels["THREAD"].startswith("thread 4242"), labels)
        self.assertTrue(labels["GPUDEVICE"].startswith("GPU 0, stream "), labels)

    def test_processors_and_wake_ups_of_samples(self):
        """Of the samples, of a page of them, and of a database that was made from them."""
        data = f"{OPTIONS.testdata}/processors.data"
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([OPTIONS.cairn, "analyze", "-q", data, "-o", f"{folder}/db"], check=True)
            for source, through_page in ((data, False), (data, True), (f"{folder}/db", False)):
                with serving(OPTIONS.cairn, source, through_page=through_page) as service:
                    answer = service.get("sources/0/processors", columns=7)
                    self.assertEqual([(one["number"], one["busy"]) for one in answer["processors"]],
                                     [(0, 1300 + 100 + 100 + 5500), (1, 800)])
                    flows = service.get("sources/0/flows")["flows"]
                    self.assertEqual([(one[0], one[1], one[3], one[4], one[6]) for one in flows],
                                     [(1, 1200, 2, 1300, "wakes")])

    def test_waits_and_the_critical_path_of_samples(self):
        """Of the samples and of a page of them: as `cairn waits`, and each part adds up."""
        data = f"{OPTIONS.testdata}/exchange/waits.perf.data"
        words = [OPTIONS.cairn, "waits", data, "--format", "json"]
        waits = json.loads(subprocess.check_output(words, text=True))
        parts = json.loads(subprocess.check_output(words + ["--critical-path"], text=True))
        said = subprocess.check_output(words[:3], text=True).splitlines()[0]
        for through_page in (False, True):
            with serving(OPTIONS.cairn, data, through_page=through_page) as service:
                service.get_ready()
                self.assertTrue(service.get("sources/0/info")["hasWaits"])
                answer = service.get("sources/0/waits", limit=1000)
                self.assertEqual((answer["sentence"], answer["thread"], answer["count"]), (said, "app", len(waits)))
                self.assertEqual([(row["time"], row["kind"], row["in"]) for row in answer["rows"]],
                                 [(row["time_ns"], row["kind"], row["in"]) for row in waits])
                self.assertEqual(answer["time"], sum(row["time_ns"] for row in waits))
                self.assertEqual(sum(cause["time"] for cause in answer["causes"]), answer["end"] - answer["begin"])
                self.assertEqual(len(service.get("sources/0/waits")["rows"]), 8)
                self.check_path(service, answer, parts)
                one = service.get("sources/0/waits", thread="THREAD 71", begin=10_000_000, end=80_000_000)
                self.assertEqual((one["thread"], one["profile"], one["begin"], one["end"], one["count"]),
                                 ("worker", 2, 10_000_000, 80_000_000, 1))
                self.assertEqual((one["rows"][0]["time"], one["rows"][0]["wokenBy"]),
                                 (80_000_000 - 30_500_000, "app: stop_all → send"))
                self.assertEqual(service.ask("/api/v1/sources/0/waits?of=99")[0], 400)

    def test_waits_have_the_locks_that_the_terminal_names(self):
        data = f"{OPTIONS.testdata}/exchange/locks.perf.data"
        waits = json.loads(subprocess.check_output([OPTIONS.cairn, "waits", data, "--format", "json"], text=True))
        with serving(OPTIONS.cairn, data) as service:
            service.get_ready()
            rows = service.get("sources/0/waits", limit=1000)["rows"]
            self.assertEqual([(row["time"], row.get("lock")) for row in rows], [(row["time_ns"], row["lock"]) for row in waits])
            self.assertEqual({row.get("lock") for row in rows}, {None, "mutex of take", "condition of await"})

    def test_files_and_peers_of_samples(self):
        """As `cairn io`, of samples and of a page of them: by file, call and function, of a time, of a thread."""
        with tempfile.TemporaryDirectory() as folder:
            data = f"{folder}/files.perf.data"
            pathlib.Path(data).write_bytes(files())
            words = [OPTIONS.cairn, "io", data, "--format", "json"]
            said = {by: json.loads(subprocess.check_output([*words, *(["--by", by] if by else [])], text=True))
                    for by in ("", "file", "call", "function")}
            self.assertEqual([row["count"] for row in said["call"]], [3, 2])
            for through_page in (False, True):
                with serving(OPTIONS.cairn, data, through_page=through_page) as service:
                    service.get_ready()
                    self.assertTrue(service.get("sources/0/info")["hasIo"])
                    for by, rows in said.items():
                        answer = service.get("sources/0/io", **({"by": by} if by else {}))
                        self.assertEqual(answer["count"], len(rows))
                        self.assertEqual([(row["time"], row["count"], row["failed"], row["unended"], row["longest"], row["read"],
                                           row["written"], row.get("call"), row.get("file"), row.get("in"))
                                          for row in answer["rows"]],
                                         [(row["time_ns"], row["count"], row["failed"], row["unended"], row["longest_ns"],
                                           row["read_bytes"], row["written_bytes"], row["call"], row["file"], row["in"])
                                          for row in rows])
                    self.assertEqual({key: answer[key] for key in ("calls", "failed", "unended", "read", "written", "time")},
                                     {"calls": 5, "failed": 1, "unended": 1, "read": 5000, "written": 120, "time": 3_750_000})
                    begin = answer["rows"][0]["longestAt"]
                    one = service.get("sources/0/io", begin=begin, end=begin + 1, thread="THREAD 71")
                    self.assertEqual((one["calls"], one["time"]), (1, 2_000_000))
                    self.assertEqual(len(service.get("sources/0/io", limit=1)["rows"]), 1)
                    self.assertEqual(service.ask("/api/v1/sources/0/io?by=name")[0], 400)
        with serving(OPTIONS.cairn, f"{OPTIONS.testdata}/exchange/waits.perf.data") as service:
            service.get_ready()
            self.assertFalse(service.get("sources/0/info")["hasIo"])
            self.assertEqual(service.ask("/api/v1/sources/0/io")[0], 404)

    def check_path(self, service, answer, parts):
        path = service.get("sources/0/critical-path")
        bars = path["bars"]
        self.assertEqual((path["profile"], path["parts"]), (answer["profile"], len(bars)))
        self.assertEqual([bar[0] for bar in bars] + [answer["end"]], [answer["begin"]] + [bar[1] for bar in bars])
        for kind in {row["kind"] for row in parts}:
            self.assertEqual(sum(bar[1] - bar[0] for bar in bars if bar[3] == kind),
                             sum(row["time_ns"] for row in parts if row["kind"] == kind), kind)
        # What is shorter than a column is one bar with what is near it, in each thread.
        wide = service.get("sources/0/critical-path", columns=3)["bars"]
        self.assertEqual([(bar[0], bar[1], bar[2]) for bar in wide],
                         [(0, 95_500_000, 1), (3_500_000, 29_500_000, 2), (74_500_000, 89_500_000, 3)])
        self.assertEqual(sum(bar[4] for bar in wide), len(bars))
        zoomed = service.get("sources/0/critical-path", **{"from": 40_000_000, "to": 60_000_000})["bars"]
        self.assertEqual([bar[:2] for bar in zoomed],
                         [[40_000_000, 53_500_000], [53_500_000, 55_500_000], [55_500_000, 60_000_000]])

    def test_kinds_of_waits_that_are_inferred(self):
        with serving(OPTIONS.cairn, f"{OPTIONS.testdata}/exchange/waits-without-wakeups.perf.data") as service:
            service.get_ready()
            answer = service.get("sources/0/waits", begin=33_000_000, end=60_000_000)
            self.assertFalse(answer["hasWakeups"])
            self.assertEqual({row["kind"]: row["isInferred"] for row in answer["rows"]},
                             {"timer": True, "unknown": False, "pre-empted": False})
            self.assertEqual([(cause["inferred"], cause["time"]) for cause in answer["causes"] if cause["kind"] == "timer"],
                             [(20_000_000, 20_000_000)])

    def test_states_of_threads_add_up_to_the_wall_time_on_every_side(self):
        """Those of the API, of the report and of SQL; waiting in calls is that of the metrics."""
        data = f"{OPTIONS.testdata}/recording"
        answer = self.until_done(1, "states", list=1)
        by_profile = {task["profile"]: task["tid"] for task in self.ask(1, "info")["tasks"] if "profile" in task}
        listed = {by_profile[profile]: numbers for profile, *numbers, _, _ in answer["threads"]}
        self.assertEqual(answer["recording"], 0)  # what is not known is not subtracted
        for numbers in listed.values():
            self.assertEqual(sum(numbers[:4]), answer["wall"])
        self.assertEqual([ns for _, ns in answer["states"]], [sum(column) for column in zip(*listed.values())][:4])
        fields = "wall,running,blocked,pre-empted,no-data,outside"
        rows = json.loads(subprocess.check_output(
            [OPTIONS.cairn, "report", "--task", "-f", f"tid,{fields}", "--format", "json", data], text=True))
        self.assertEqual({row["tid"]: [row[f"{name}_ns"] for name in (
            "running", "blocked", "preempted", "no_data", "waiting_outside")] for row in rows}, listed)
        self.assertEqual({row["wall_ns"] for row in rows}, {answer["wall"]})
        rows = json.loads(subprocess.check_output(
            [OPTIONS.cairn, "sql", data, "--format", "json",
             "SELECT state, sum(ns) AS ns, sum(outside_ns) AS outside_ns FROM states GROUP BY state"], text=True))
        self.assertEqual({row["state"]: row["ns"] for row in rows}, dict(answer["states"]))
        outside = sum(row["outside_ns"] for row in rows if row["state"] in ("blocked", "pre-empted"))
        self.assertEqual(outside, answer["waitingOutside"])
        costs = {state["name"]: state["seconds"] for state in self.ask(1, "info")["states"]}
        states = dict(answer["states"])
        self.assertGreater(outside, 0)
        self.assertAlmostEqual(states["blocked"] + states["pre-empted"] - outside,
                               (costs["blocked"] + costs["pre-empted"]) * 1e9, delta=1)

    def test_counters_have_their_readings(self):
        counters = {(one["profile"], one["name"]): one["points"]
                    for one in self.until_done(1, "counters")["counters"]}
        calls = [call["values"] for call in self.all_calls() if call.get("name") == "read:proc/statm"]
        memory = counters[1, "resident memory (KB)"]
        self.assertEqual(len(memory), 2 * len(calls))
        self.assertIn(f"vmrss={memory[0][3]:.0f}KB", calls[0])
        self.assertEqual(memory[1][3] - memory[0][3], 2048)
        one = self.ask(1, "counters", columns=1)["counters"][0]["points"]
        self.assertEqual(len(one), 1)
        names = self.ask(1, "counters", list=1)
        self.assertEqual([(one["profile"], one["name"]) for one in names["counters"]], list(counters))
        self.assertEqual(names["count"], len(counters))
        self.assertNotIn("points", names["counters"][0])
        only = self.ask(1, "counters", name="resident memory (KB)")["counters"]
        self.assertEqual({one["name"] for one in only}, {"resident memory (KB)"})

    def test_rates_of_samples_add_up_to_their_number(self):
        end = self.ask(0, "info")["duration"]
        threads = {one["profile"]: one["samples"] for one in self.ask(0, "threads") if one["samples"] > 0}
        rates = {one["profile"]: one["points"] for one in self.ask(0, "counters", columns=4000)["counters"]
                 if one["name"] == "samples/s"}
        self.assertEqual(sorted(rates), sorted(threads))
        for profile, points in rates.items():
            length = points[1][0] - points[0][0]
            self.assertEqual(length & (length - 1), 0)
            # The last sample of a thread may be at the very end, which is in no part.
            total = round(sum(point[3] for point in points) * length / 1e9, 6)
            self.assertIn(threads[profile] - total, (0, 1))
            inside = self.ask(0, "counters", begin=end // 3, end=end // 2, thread=profile)["counters"][0]["points"]
            self.assertLessEqual(inside[0][0], end // 3)

    def test_rates_of_calls_add_up_to_their_number(self):
        rates = {one["profile"]: one["points"]
                 for one in self.until_done(1, "counters", columns=4000)["counters"] if one["name"] == "calls/s"}
        self.assertEqual(sorted(rates), [1, 2, 3, 4])  # every thread with calls
        points = rates[2]
        calls = sum(point[3] * (after[0] - point[0]) for point, after in zip(points, points[1:])) / 1e9
        entries = [call for call in self.ask(1, "calls", task=1, limit=200)["calls"] if call["kind"] == "enter"]
        self.assertEqual(round(calls, 6), len(entries))

    def test_counters_of_chrome_traces_have_their_readings(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/trace.json"
            with open(path, "w", encoding="utf-8") as file:
                json.dump([{"ph": "X", "pid": 7, "tid": 8, "ts": 10, "dur": 10, "name": "f"}]
                          + [{"ph": "C", "pid": 7, "tid": tid, "ts": at, "name": name, "args": {"value": value}}
                             for tid, at, name, value in
                             ((8, 2, "heap", 3), (8, 12, "heap", 4.5), (8, 16, "heap", -1), (9, 15, "alone", 7))],
                          file)
            with serving(OPTIONS.cairn, path) as service:
                self.assertEqual(ready(service, 0), "ready")
                for _ in range(300):
                    answer = service.get("sources/0/counters")
                    if not answer["isPending"]:
                        break
                    time.sleep(0.05)
                self.assertEqual({one["name"]: one["points"] for one in answer["counters"]
                                  if one["name"] != "calls/s"},
                                 {"heap": [[0, 3, 3, 3], [2000, 4.5, 4.5, 4.5], [6000, -1, -1, -1]],
                                  "alone": [[5000, 7, 7, 7]]})

    def test_memory_of_a_recording_is_a_counter_with_its_peak(self):
        records = [(0, 1, 100, 0, 1 << 20), (25, 2, 0x900, 7, 8), (45, 2, 0x1000, 100, 104), (65, 4, 0x1000, 0, 104),
                   (66, 5, 0x1000, 1000, 1000), (115, 3, 0x1000, 0, 0)]
        with tempfile.TemporaryDirectory() as folder:
            path = shutil.copytree(f"{OPTIONS.testdata}/recording", f"{folder}/run.data")
            pathlib.Path(path, "100.mem").write_bytes(b"".join(
                struct.pack("<QQQQ", 1000000020 + time, kind << 56 | place, size, usable) for time, kind, place, size, usable in records))
            with serving(OPTIONS.cairn, path) as service:
                self.assertEqual(ready(service, 0), "ready")
                heap = [one for one in service.get("sources/0/counters?name=heap%20(B)&columns=4000")["counters"]]
                self.assertEqual([(one["profile"], one["name"]) for one in heap], [(1, "heap (B)")])
                self.assertEqual([point[3] for point in heap[0]["points"]], [7, 107, 7, 1007, 7])
                begin = heap[0]["points"][0][0]
                self.assertEqual([point[0] - begin for point in heap[0]["points"]], [0, 20, 40, 41, 90])
                self.assertEqual(heap[0]["peak"], [begin + 41, 1007])
                names = [one["name"] for one in service.get("sources/0/counters?list=1")["counters"]]
                self.assertIn("heap (B)", names)
                rows = service.get(f"sources/0/rows?begin={begin + 10}&end={begin + 30}&metric=grown%20(B)")
                self.assertEqual([column["metric"] for column in rows["columns"]][:1], ["grown (B)"])
                service.get_ready()
                memory = service.get("sources/0/overview")["memory"]
                self.assertEqual([(use["metric"], use["total"]) for use in memory], [("live at peak (B)", 1007), ("live at end (B)", 7)])
                self.assertEqual([(use["self"], use["top"][0]["row"]["label"]) for use in memory], [(1000, "main"), (7, "work")])

    def test_durations_of_a_function_are_those_of_the_report(self):
        """Over all its contexts: percentiles, and buckets that have all its calls."""
        rows = json.loads(subprocess.check_output(
            [OPTIONS.cairn, "report", "-f", "call,p50,p90,p99", "--format", "json",
             f"{OPTIONS.testdata}/recording"], text=True))
        compared = 0
        for row in rows:
            hits = self.ask(1, "search", view="bottom-up", q=f"^{row['function']}$")["hits"]
            if len(hits) != 1:  # waiting is no function here; some names have several functions
                continue
            function = self.ask(1, "function", row=hits[0]["row"]["context"], percentiles=1)
            latency = function["latency"]
            if row["function"] == "fork":  # only the report counts that it also returns in the child
                continue
            self.assertEqual(sum(bucket[2] for bucket in latency["buckets"]), row["calls"], row["function"])
            self.assertEqual([latency[name] for name in ("p50", "p90", "p99")],
                             [row[f"total_{name}_ns"] for name in ("p50", "p90", "p99")], row["function"])
            compared += 1
        self.assertGreater(compared, 3)
        self.assertNotIn("latency", self.ask(1, "function", row=function["function"]["context"]))

    def test_flows_name_the_calls_at_both_ends(self):
        """One from call to call, then many between two threads, of which some are listed."""
        def event(phase, tid, at, **others):
            return {"ph": phase, "pid": 7, "tid": tid, "ts": at, **others}
        events = [event("X", 1, 10, dur=90, name="send"), event("X", 2, 40, dur=60, name="receive"),
                  event("X", 2, 50, dur=5, name="inner"), event("X", 3, 300, dur=5000, name="busy"),
                  event("s", 1, 20, id=1, name="message"), event("f", 2, 52, id=1, name="message"),
                  event("f", 2, 200, id=1, name="message")]
        events += [event(phase, tid, 1000 + i + delay, id=f"many {i}")
                   for i in range(1000) for phase, tid, delay in (("s", 3, 0), ("f", 1, 0.5))]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "flows.json")
            path.write_text(json.dumps(events))
            with serving(OPTIONS.cairn, path) as service:
                self.assertEqual(ready(service, 0), "ready")

                def ask(**parameters):
                    answer = service.get("sources/0/flows", **parameters)
                    return answer
                self.assertEqual(ask(end=100_000), {"count": 2, "flows": [
                    [1, 10_000, "send", 2, 42_000, "inner", "message"],
                    [1, 10_000, "send", 2, 190_000, None, "message"]]})
                self.assertEqual(ask(begin=50_000, end=100_000)["count"], 1)
                self.assertEqual(ask(begin=191_000, end=900_000)["count"], 0)
                self.assertEqual(ask(thread=2)["count"], 2)
                many = ask(thread=3, limit=300)
                self.assertEqual((many["count"], len(many["flows"])), (1000, 300))
                self.assertEqual({(one[2], one[3], one[5]) for one in many["flows"]}, {("busy", 1, None)})
                times = [one[1] for one in many["flows"]]
                self.assertLessEqual(max(after - before for before, after in zip(times, times[1:])), 4000)
        self.assertEqual(self.ask(0, "flows"), {"count": 0, "flows": []})

    def test_launches_lead_from_calls_to_streams(self):
        """The stream has a lower number than the thread, and comes after it in the list of threads."""
        events = [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 100, "tid": 100, "ts": 5, "dur": 3,
                   "args": {"correlation": 1}},
                  {"ph": "X", "cat": "kernel", "name": "scale", "pid": 0, "tid": 7, "ts": 10, "dur": 20,
                   "args": {"device": 0, "context": 1, "stream": 7, "correlation": 1}},
                  {"ph": "s", "id": 1, "cat": "ac2g", "name": "ac2g", "pid": 100, "tid": 100, "ts": 5},
                  {"ph": "f", "id": 1, "cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7, "ts": 10, "bp": "e"}]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "gpu.json")
            path.write_text(json.dumps({"traceEvents": events}))
            with serving(OPTIONS.cairn, str(path)) as service:
                self.assertEqual(ready(service, 0), "ready")
                threads = service.get("sources/0/threads")
                self.assertEqual([(one["label"], one["group"]) for one in threads],
                                 [("100", "process 100"), ("GPU 0, stream 7", "GPU 0 of process 100")])
                self.assertEqual(service.get("sources/0/flows"), {
                    "count": 1, "flows": [[1, 0, "cudaLaunchKernel", 2, 5000, "scale", "launch"]]})

    def test_flows_lead_from_spans_to_those_that_run_beside_others(self):
        """They leave the caller, not the call that runs in its task then; no task starts another."""
        spans = [{"traceId": "1", "id": str(i), "parentId": parent, "name": name, "timestamp": at, "duration": duration}
                 for i, (parent, name, at, duration) in enumerate(
                     ((None, "get", 1000, 100), ("1", "db", 1010, 70), ("1", "cache", 1030, 60)), 1)]
        for span in spans:
            if span["parentId"] is None:
                del span["parentId"]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "spans.json")
            path.write_text(json.dumps(spans))
            with serving(OPTIONS.cairn, path) as service:
                self.assertEqual(ready(service, 0), "ready")
                self.assertEqual(service.get("sources/0/flows"), {"count": 1, "flows": [
                    [1, 30_000, "get", 2, 30_000, "cache", ""]]})
                self.assertNotIn("creator", service.get("sources/0/threads")[1])

    def test_every_nth_thread_stands_for_all(self):
        everything = self.ask(0, "timeline", columns=10)["rows"]
        thinned = self.ask(0, "timeline", columns=10, every=2)
        self.assertEqual(thinned["threadCount"], len(everything))
        self.assertEqual(thinned["rows"], everything[::2])

    def test_threads_have_groups(self):
        for thread in self.ask(0, "threads"):
            self.assertRegex(thread["group"], r"RANK \d+$")
            self.assertEqual(thread["label"], f"{thread['group']} {thread['name']}")
            self.assertEqual(self.ask(0, "threads", thread=thread["selector"]), [thread])
        self.assertGreater(sum(thread["samples"] for thread in self.ask(0, "threads")), 0)
        processes = {f"process {task['pid']}" for task in self.ask(1, "info")["tasks"]}
        for thread in self.ask(1, "threads"):
            self.assertTrue(any(thread["group"].endswith(process) for process in processes))
            self.assertEqual(self.ask(1, "threads", thread=thread["selector"]), [thread])


class Large(unittest.TestCase):
    """A recording with more samples than a frame reads."""

    CALLS = 60000

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        source = pathlib.Path(cls.folder.name) / "calls.json"
        events = []
        for i in range(cls.CALLS):
            name = "rare" if i % 1000 == 999 else ("one", "two", "three")[i // 7 % 3]
            events.append({"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": i * 3, "dur": 2})
        source.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
        cls.calls = str(source)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_frames_become_exact_and_lose_no_call(self):
        with serving(OPTIONS.cairn, self.calls) as service:
            self.assertEqual(ready(service, 0), "ready")
            duration = service.get("sources/0/info")["duration"]
            question = {"begin": 0, "end": duration, "columns": 64, "depth": 1, "snap": 1}
            first = service.get("sources/0/timeline", **question)
            self.assertTrue(first["isEstimate"])
            frame = first
            for _ in range(1200):
                if not frame["isPending"]:
                    break
                time.sleep(0.05)
                frame = service.get("sources/0/timeline", **question)
            self.assertFalse(frame["isEstimate"])
            spent = {name: ns for _, name, ns in frame["places"]}
            self.assertEqual(spent["rare"], self.CALLS // 1000 * 2000)
            quick = service.get("sources/0/timeline", nested=1, columns=64)
            self.assertTrue(quick["isEstimate"])
            exact = service.get("sources/0/timeline", nested=1, columns=64, refine=1)
            self.assertFalse(exact["isEstimate"])
            self.assertEqual(dict(exact["functions"]), spent)
            samples = sum(run[3] for row in frame["rows"] for run in row["runs"])
            self.assertEqual(samples, service.get("sources/0/info")["sampleCount"])


if __name__ == "__main__":
    main()
