#!/usr/bin/env python3
"""The API of `cairn serve`: every question has an answer as documented, the numbers agree with
the command line, and what must not be possible is refused.

Usage: test_api.py --cairn PROGRAM --testdata FOLDER
"""
import argparse
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from service import Service, serving

ROOT = pathlib.Path(__file__).resolve().parents[2]


def ready(service, source):
    """Wait until a recording has been analysed."""
    for _ in range(300):
        state = service.get("sources")["sources"][source]["state"]
        if state != "working":
            return state
        time.sleep(0.1)
    return "working"


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.block = serving(OPTIONS.cairn, f"{OPTIONS.testdata}/sample",
                            f"{OPTIONS.testdata}/recording")
        cls.service = cls.block.__enter__()
        assert ready(cls.service, 1) == "ready"

    @classmethod
    def tearDownClass(cls):
        cls.block.__exit__(None, None, None)

    def ask(self, source, question, **parameters):
        return self.service.get(f"sources/{source}/{question}", **parameters)

    def test_lists_what_is_open(self):
        answer = self.service.get("sources")
        self.assertEqual([s["kind"] for s in answer["sources"]], ["database", "recording"])

    def test_answers_every_question_about_both(self):
        for source in (0, 1):
            info = self.ask(source, "info")
            self.ask(source, "threads")
            top = self.ask(source, "rows")["rows"][0]
            for view in ("top-down", "collapsed", "bottom-up", "flat"):
                rows = self.ask(source, "rows", view=view)
                self.assertGreater(rows["count"], 0)
                self.assertNotIn("label", rows)
                for row in rows["rows"][:20]:
                    self.assertEqual(row["label"], self.ask(source, "rows", view=view, row=row["id"])["label"])
            self.ask(source, "hot-path")
            self.ask(source, "flame")
            self.ask(source, "context", row=top["id"])
            self.assertTrue(info["hasTimelines"])
            self.ask(source, "timeline", columns=50)
            self.ask(source, "stack", profile=1, time=info["duration"] // 2)
            self.ask(source, "range", begin=0, end=info["duration"] // 2)
        self.ask(1, "calls", limit=50)

    def test_rows_are_those_of_the_command_line(self):
        shown = json.loads(subprocess.check_output(
            [OPTIONS.cairn, "tree", "--format", "json", "--depth", "1", "--min-percent", "0",
             f"{OPTIONS.testdata}/sample"], text=True))
        rows = self.ask(0, "rows")["rows"]
        labels = [row["label"] for row in rows]
        self.assertEqual([row["name"] for row in shown if row["depth"] == 0], labels)

    def test_measurements_are_analysed_as_by_the_command_line(self):
        path = f"{OPTIONS.testdata}/measurements"
        shown = json.loads(subprocess.check_output(
            [OPTIONS.cairn, "tree", "--format", "json", "--depth", "1", "--min-percent", "0", path], text=True))
        with serving(OPTIONS.cairn, path, through_page=True) as service:
            service.get("sources/0/info")
            rows = service.get("sources/0/rows")["rows"]
        self.assertEqual([row["name"] for row in shown if row["depth"] == 0], [row["label"] for row in rows])

    def test_the_overview_agrees_with_the_views(self):
        for source in (0, 1):
            overview = self.ask(source, "overview", whole=1)
            self.assertFalse(overview["isPartial"])
            self.assertEqual(overview["metric"], self.ask(source, "info")["defaultMetric"])
            self.assertEqual(overview["hotPath"], self.ask(source, "hot-path")["rows"])
            rows = self.ask(source, "rows", view="bottom-up", limit=1000)
            order = sorted(rows["rows"], key=lambda row: -(row["values"][1] or 0))
            self.assertEqual([item["row"]["values"][1] for item in overview["functions"]],
                             [row["values"][1] for row in order[:10] if row["values"][1]])
            self.assertEqual(overview["functionCount"], rows["count"])
            self.assertAlmostEqual(sum(thread[1] for thread in overview["threads"]),
                                   rows["columns"][0]["total"], places=9)
            for profile, value, *_ in overview["threads"]:
                alone = self.ask(source, "rows", thread=profile)["columns"][0]
                self.assertAlmostEqual(value, alone["total"], places=12)
        self.assertEqual(overview["lostRecords"], 6)
        blocked = {state["name"]: state["seconds"] for state in self.ask(1, "info")["states"]}["blocked"]
        self.assertAlmostEqual(sum(thread[2] or 0 for thread in overview["threads"]), blocked, places=9)

    def test_the_overview_says_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(f"{OPTIONS.testdata}/recording", f"{folder}/cut")
            longest = max(pathlib.Path(folder, "cut").glob("*.dat"), key=lambda file: file.stat().st_size)
            os.truncate(longest, longest.stat().st_size - 3)
            with serving(OPTIONS.cairn, f"{folder}/cut") as service:
                ready(service, 0)
                warnings = service.get("sources/0/overview", whole=1)["warnings"]
        self.assertTrue(any(warning["isDamage"] for warning in warnings), warnings)

    def test_rows_of_lines_and_loops_can_be_skipped(self):
        def rows(row=None, **skip):
            for item in self.ask(0, "rows", limit=1000, **({"row": row} if row else {}), **skip)["rows"]:
                below = [] if item["isLeaf"] else list(rows(item["id"], **skip))
                if skip:
                    self.assertEqual(item["isLeaf"], below == [])
                yield from [(item["id"], item["kind"], str(item["values"])), *below]
        every, functions = list(rows()), list(rows(skip=1))
        kept = [row for row in every if row[1] not in ("loop", "line", "instruction")]
        self.assertLess(len(kept), len(every))
        self.assertEqual(sorted(kept), sorted(functions))
        drawn = self.ask(0, "flame", min=0, skip=1)["nodes"]
        self.assertEqual({node[5] for node in drawn}, {row[0] for row in kept if row[2] != "[None, None]"})

    def test_metrics_are_derived_by_formula(self):
        answer = self.ask(0, "rows", metric="cycles", derive=["half [M]=cycles/2e6", "x=cycles-cycles"])
        self.assertEqual([column["metric"] for column in answer["columns"]],
                         ["cycles", "cycles", "half (M)", "half (M)", "x", "x"])
        self.assertEqual([column["hasShare"] for column in answer["columns"]], [True, True, False, False, False, False])
        values = answer["rows"][0]["values"]
        self.assertEqual(values[2], values[0] / 2e6)
        self.assertEqual(answer["columns"][2]["total"], answer["columns"][0]["total"] / 2e6)
        for formula, status in (("x", 400), ("x=cycles/(", 400), ("x=nosuch", 404)):
            self.assertEqual(self.service.ask("/api/v1/sources/0/rows?derive=" + formula.replace("=", "%3D"))[0], status)

    def test_a_flame_graph_holds_its_children(self):
        for source, view in ((0, "top-down"), (0, "collapsed"), (1, "collapsed")):
            path = []
            for depth, _, _, value, own, _ in self.ask(source, "flame", view=view, min=0)["nodes"]:
                del path[depth:]
                if path:
                    self.assertLessEqual(value, path[-1] * (1 + 1e-9))
                self.assertLessEqual(own or 0, value * (1 + 1e-9))
                path.append(value)

    def walk(self, source, view, row=None, above="", **parameters):
        """The costs of every row of a view, by the labels from the top down to it."""
        found = {}
        here = {} if row is None else {"row": row}
        for item in self.ask(source, "rows", view=view, limit=1000, **here, **parameters)["rows"]:
            key = f"{above}/{item['label']}"
            found[key] = item["values"]
            if not item["isLeaf"]:
                found.update(self.walk(source, view, item["id"], key, **parameters))
        return found

    def costs_of(self, path, view, *options):
        """The costs of every row of a database made from `path`."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([OPTIONS.cairn, "analyze", *options, "-o", f"{folder}/db", path],
                           check=True, stderr=subprocess.DEVNULL)
            with serving(OPTIONS.cairn, f"{folder}/db") as service:
                mine, self.service = self.service, service
                try:
                    return self.walk(0, view)
                finally:
                    self.service = mine

    def test_recursion_folds(self):
        with tempfile.NamedTemporaryFile(suffix=".folded", mode="w") as file:
            file.write("main;f 1\nmain;f;g 2\nmain;f;g;f 4\nmain;f;g;f;h 8\nmain;f;h;g 16\n"
                       "main;f;g;f;h;f;g 32\n")
            file.flush()
            found = self.costs_of(file.name, "collapsed")
        self.assertEqual({key.removeprefix("/<unknown entry>"): [value or 0 for value in values]
                          for key, values in found.items()},
                         {"": [63, 0], "/main": [63, 0], "/main/f": [63, 5], "/main/f/g": [34, 34],
                          "/main/f/h": [24, 8], "/main/f/h/g": [16, 16]})

    def test_recursion_folds_as_analyze_does_it(self):
        recording = f"{OPTIONS.testdata}/uftrace/maxstack-1024"
        found = self.costs_of(recording, "collapsed")
        wanted = self.costs_of(recording, "top-down", "--collapse-recursion")
        self.assertEqual(sorted(found), sorted(wanted))
        for key, values in found.items():
            for value, other in zip(values, wanted[key]):
                self.assertAlmostEqual(value or 0, other or 0, places=12, msg=key)

    def test_waiting_is_a_state_of_rows(self):
        info = self.ask(1, "info")
        states = {state["name"]: state["seconds"] for state in info["states"]}
        self.assertEqual(info["defaultMetric"], "cpu time (sec)")
        self.assertGreater(states["blocked"], 0)
        self.assertAlmostEqual(states["all"], states["running"] + states["blocked"] + states["pre-empted"], places=12)
        self.assertEqual(self.ask(0, "info")["states"], [])
        for view in ("top-down", "collapsed", "bottom-up", "flat"):
            running, everything = self.walk(1, view), self.walk(1, view, waits=1)
            self.assertEqual([key for key in everything if "linux:schedule" in key], [])
            self.assertLessEqual(set(running), set(everything))
            for key, values in everything.items():
                own = [value or 0 for value in running.get(key, (0, 0))]
                values = [value or 0 for value in values]  # total and self of time, blocked, pre-empted
                for side in (0, 1):
                    self.assertAlmostEqual(values[side], own[side] + values[2 + side] + values[4 + side], places=12,
                                           msg=f"{view} {key}")
        top = self.ask(1, "rows", waits=1)
        self.assertAlmostEqual(sum(row["values"][0] for row in top["rows"]), states["all"], places=12)
        self.assertEqual(top["columns"], self.ask(1, "rows", waits=1, metric="")["columns"])

    def test_a_flame_graph_shows_waiting(self):
        without, flame = self.ask(1, "flame", min=0), self.ask(1, "flame", min=0, waits=1)
        self.assertEqual(without["column"], "cpu time (sec)")
        self.assertEqual((flame["column"], flame["waits"]), ("time (sec)", ["blocked", "pre-empted"]))
        waits = sum(node[6] or 0 for node in flame["nodes"]) + sum(node[7] or 0 for node in flame["nodes"])
        self.assertGreater(waits, 0)
        self.assertAlmostEqual(flame["total"], without["total"] + waits, places=12)
        part = self.ask(1, "range", min=0)
        self.assertEqual(part["column"], without["column"])
        self.assertGreater(part["waiting"], 0)

    def test_callers_and_callees_agree(self):
        for hit in self.ask(1, "search", q=".", limit=50)["hits"]:
            if hit["row"]["kind"] != "function":
                continue
            answer = self.ask(1, "function", row=hit["row"]["id"])
            name = answer["function"]["label"]
            self.assertEqual(name, hit["row"]["label"])
            for callee in answer["callees"]:
                other = self.ask(1, "function", row=callee["path"][-1])
                self.assertEqual(other["function"]["label"], callee["row"]["label"])
                caller = [c for c in other["callers"] if c["row"]["label"] == name]
                self.assertEqual(len(caller), 1)
                for value, twin in zip(callee["row"]["values"], caller[0]["row"]["values"]):
                    self.assertAlmostEqual(value or 0, twin or 0, places=12)

    def test_graphs_around_a_function_begin_with_its_callers_and_callees(self):
        """Both flame graphs say of the functions next to it what the lists say, and go on from there."""
        depths = {"callers": 0, "callees": 0}
        for source in (0, 1):
            for hit in self.ask(source, "search", view="bottom-up", q=".", limit=20)["hits"]:
                detail = self.ask(source, "function", row=hit["row"]["context"])
                graphs = {"callers": self.ask(source, "flame", view="bottom-up", side="total", min=0, row=detail["function"]["id"]),
                          "callees": self.ask(source, "flame", view="callees", min=0, row=hit["row"]["context"])}
                for name, graph in graphs.items():
                    self.assertEqual((graph["side"], graph["column"]), ("total", detail["columns"][0]["metric"]))
                    listed = {other["row"]["label"]: other["row"]["values"][0] for other in detail[name]}
                    drawn = {graph["names"][node[1]]: node[3] for node in graph["nodes"] if node[0] == 0}
                    self.assertEqual(set(drawn), {label for label, value in listed.items() if value}, name)
                    for label, value in drawn.items():
                        self.assertAlmostEqual(value, listed[label], places=12)
                    depths[name] = max([depths[name], *(node[0] for node in graph["nodes"])])
                self.assertAlmostEqual(graphs["callees"]["total"], detail["function"]["values"][0] or 0, places=12)
        self.assertGreater(min(depths.values()), 0, depths)

    def test_a_range_of_everything_is_the_whole(self):
        whole = self.ask(1, "range", min=0)
        halves = [self.ask(1, "range", min=0, begin=a, end=b)["total"] for a, b in self.halves(1)]
        self.assertAlmostEqual(sum(halves), whole["total"], places=9)

    def test_views_of_a_range_add_up_to_its_flame_graph(self):
        for source in (0, 1):
            begin, end = self.halves(source)[0]
            for selection in ({}, {"thread": "1"}):
                chosen = {"begin": begin, "end": end, **selection}
                flame = self.ask(source, "range", min=0, **chosen)
                same = self.ask(source, "flame", min=0, sort="inclusive", **chosen)
                self.assertEqual(*(sorted((node[5], node[0], node[3]) for node in graph["nodes"])
                                   for graph in (flame, same)))
                for view in ("top-down", "collapsed", "bottom-up", "flat"):
                    answer = self.ask(source, "rows", view=view, sort="exclusive", **chosen)
                    self.assertEqual([column["metric"] for column in answer["columns"]], [flame["column"]] * 2)
                    self.assertEqual(answer["columns"][0]["total"], flame["total"])
                    self.assertTrue(all(row["values"][0] > 0 for row in answer["rows"]), view)
                    own = [row["values"][1] or 0 for row in answer["rows"]]
                    self.assertEqual(own, sorted(own, reverse=True))
                    if view in ("bottom-up", "flat"):
                        self.assertAlmostEqual(sum(own), flame["total"], places=12)
                    hits = self.ask(source, "search", view=view, q=".", **chosen)["hits"]
                    self.assertTrue(all(hit["row"]["values"][0] > 0 for hit in hits), view)
        status, _, body = self.service.ask("/api/v1/sources/1/rows?begin=1&end=2&metric=calls")
        self.assertEqual((status, json.loads(body)["error"]["kind"]), (404, "not-found"))

    def halves(self, source):
        span = self.ask(source, "info")["duration"]
        return (0, span // 2), (span // 2, span)

    def test_answers_tell_what_they_took(self):
        _, headers, _ = self.service.ask("/api/v1/sources/0/info")
        self.assertRegex(headers["Server-Timing"], r"^cpu;dur=[\d.]+, total;dur=[\d.]+$")

    def test_recordings_have_the_sources_of_their_functions(self):
        if not shutil.which("cc"):
            self.skipTest("there is no C compiler")
        with tempfile.TemporaryDirectory() as folder:
            lines = ["int work(int n);", "int work(int n)", "{", "    return n + 1;", "}",
                     "int main(void) { return work(1) - 2; }"]
            pathlib.Path(folder, "program.c").write_text("\n".join(lines) + "\n", encoding="utf-8")
            subprocess.run(["cc", "-g", "-O0", "-pg", "program.c", "-o", "program"], cwd=folder, check=True)
            subprocess.run([OPTIONS.cairn, "record", "-q", "--buffer", "16k", "-d", "run.data", "./program"], cwd=folder, check=True)
            with serving(OPTIONS.cairn, f"{folder}/run.data", through_page=True) as service:
                self.assertEqual(ready(service, 0), "ready")
                row = service.get("sources/0/search", q="^work$")["hits"][0]["row"]["id"]
                source = service.get("sources/0/source", row=row)
        self.assertEqual(source["line"], 3 - 1)
        self.assertEqual(source["lines"], lines)
        self.assertTrue(source["isPerFunction"])

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

    def until_done(self, source, question, **parameters):
        for _ in range(300):
            answer = self.ask(source, question, **parameters)
            if not answer["isPending"]:
                return answer
            time.sleep(0.05)
        raise AssertionError(f"{question} is still pending")

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

    def test_search_leads_to_rows(self):
        name = self.ask(1, "hot-path")["rows"][-1]["label"]
        hits = self.ask(1, "search", q=f"^{name}$")["hits"]
        self.assertTrue(hits)
        for hit in hits:
            parent = hit["path"][-1]
            children = self.ask(1, "rows", row=parent, limit=1000)["rows"]
            self.assertIn(hit["row"]["id"], [row["id"] for row in children])

    def all_calls(self, **wish):
        """Every record of the first task, a page after another."""
        records, at = [], {"time": 0}
        while True:
            page = self.ask(1, "calls", limit=7, **at, **wish)
            records += page["calls"]
            if page["isEnd"]:
                return records
            at = {"at": page["next"]}

    def test_calls_can_be_found(self):
        entries = [c for c in self.all_calls() if c["kind"] == "enter"]
        name = entries[0]["name"]
        found = self.ask(1, "find", function=name)
        self.assertEqual((found["isFound"], found["time"]), (True, entries[0]["time"]))
        self.assertFalse(self.ask(1, "find", function="no_such_function")["isFound"])
        argued = [c for c in entries if len(c["values"]) > 2]
        found = self.ask(1, "find", values=argued[-1]["values"], before=argued[-1]["time"] + 1, reverse=1)
        self.assertEqual((found["isFound"], found["time"]), (True, argued[-1]["time"]))
        self.assertFalse(self.ask(1, "find", values="no such argument")["isFound"])
        returned = [c for c in entries if len(c.get("result", "")) > 3]
        text = returned[0]["result"]
        has_text = [c["time"] for c in entries if text in c["values"] + c.get("result", "")]
        self.assertEqual(self.ask(1, "find", values=text)["time"], has_text[0])
        self.assertEqual(
            self.ask(1, "find", values=text, before=entries[-1]["time"] + 1, reverse=1)["time"], has_text[-1])
        self.assertEqual([c["time"] for c in self.all_calls(values=text)], has_text)
        times = [c["time"] for c in entries if c["name"] == entries[-1]["name"]]
        there, back, after, before = [], [], 0, entries[-1]["time"] + 1
        while (found := self.ask(1, "find", function=entries[-1]["name"], after=after))["isFound"]:
            there.append(found["time"])
            after = found["time"] + 1
        while (found := self.ask(1, "find", function=entries[-1]["name"], before=before, reverse=1))["isFound"]:
            back.insert(0, found["time"])
            before = found["time"]
        self.assertEqual((there, back), (times, times))

    def test_callers_are_found_before_a_page(self):
        records = self.ask(1, "calls", limit=2000)["calls"]
        compared = 0
        for i, inner in enumerate(records):
            if inner["kind"] != "enter" or inner["depth"] == 0:
                continue
            page = self.ask(1, "calls", time=inner["time"], limit=1)
            caller = [c for c in records[:i] if c["kind"] == "enter" and c["depth"] < inner["depth"]][-1]
            found = self.ask(1, "find", function=".", depth=inner["depth"] - 1, reverse=1, at=page["first"])
            self.assertEqual((found["isFound"], found["time"]), (True, caller["time"]))
            compared += 1
        self.assertGreater(compared, 2)

    def test_pages_of_calls_make_up_the_whole(self):
        everything = self.ask(1, "calls", limit=2000)
        self.assertTrue(everything["isEnd"])
        records = everything["calls"]
        times = [call["time"] for call in records]
        self.assertEqual(times, sorted(times))
        self.assertEqual((times[0], records[0]["kind"]), (-10, "event"))  # before the first call
        self.assertEqual(self.all_calls(), records)
        middle = self.ask(1, "calls", limit=9, time=records[len(records) // 2]["time"])
        back, at = [], middle["first"]
        while at != "0.0":
            page = self.ask(1, "calls", at=at, before=5, limit=0)
            back = page["calls"] + back
            at = page["first"]
        self.assertEqual(back + self.ask(1, "calls", at=middle["first"], limit=2000)["calls"], records)

    def test_calls_know_how_long_they_took(self):
        records = self.ask(1, "calls", limit=2000)["calls"]
        for i, call in enumerate(records):
            if call["kind"] != "enter":
                continue
            if call.get("isOpen"):
                last = max(c["time"] for c in records if c["kind"] != "lost")
                self.assertEqual(call["duration"], last - call["time"])
                continue
            end = next(c for c in records[i + 1:] if c["kind"] in ("enter", "exit") and c["depth"] <= call["depth"])
            self.assertEqual(call["duration"], end["time"] - call["time"])

    def test_the_slowest_calls_are_calls(self):
        """Of f, one of 20 calls takes long; those of g all do, and h has too few."""
        events = [{"ph": "X", "name": name, "pid": 1, "tid": 1 + (name == "f"), "ts": 1000 * i, "dur": dur}
                  for name, durs in (("f", [10] * 13 + [700] + [10] * 6), ("g", [500] * 12), ("h", [1, 900]))
                  for i, dur in enumerate(durs, 100 if name == "h" else 10)]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "calls.json")
            path.write_text(json.dumps({"traceEvents": events}))
            with serving(OPTIONS.cairn, str(path)) as service:
                service.get_ready()
                answer = service.get("sources/0/slowest")
                slow, = answer["calls"]
                there = service.get("sources/0/calls", task=slow["task"], time=slow["time"], limit=1)["calls"][0]
        self.assertEqual((slow["function"], slow["duration"], slow["mean"], slow["count"]), ("f", 700000, 44500, 20))
        self.assertEqual((there["name"], there["time"], there["duration"]), ("f", slow["time"], 700000))

    def test_calls_are_chosen_by_name_length_and_depth(self):
        entries = [c for c in self.ask(1, "calls", limit=2000)["calls"] if c["kind"] == "enter"]
        middle = sorted(c.get("duration", 0) for c in entries)[len(entries) // 2]
        name = entries[len(entries) // 2]["name"]
        for criteria, matches in (
            ({"function": name}, lambda c: c["name"] == name),
            ({"function": f"^{name[:2]}.*"}, lambda c: c["name"].startswith(name[:2])),
            ({"longer": middle}, lambda c: c.get("duration", 10 ** 18) >= middle),
            ({"depth": 1}, lambda c: c["depth"] <= 1),
            ({"values": '"'}, lambda c: '"' in c["values"] + c.get("result", "")),
            ({"values": "X", "depth": 3},
             lambda c: "x" in (c["values"] + c.get("result", "")).lower() and c["depth"] <= 3),
            ({"depth": 2, "longer": middle, "function": "."},
             lambda c: c["depth"] <= 2 and c.get("duration", 10 ** 18) >= middle),
        ):
            self.assertEqual(self.all_calls(**criteria), [c for c in entries if matches(c)], criteria)
        for path in ("calls?at=x", "calls?at=7.0", "calls?at=4294967296.0", "calls?at=-0.1",
                     "calls?at=0.18446744073709551616", "calls?at=0", "calls?function=(", "find?function=a&at=0"):
            self.assertEqual(self.service.ask(f"/api/v1/sources/1/{path}")[0], 400, path)

    def test_every_view_can_be_searched(self):
        for view in ("collapsed", "bottom-up", "flat"):
            found = self.ask(1, "search", view=view, q=".", limit=500)
            self.assertEqual(found["count"], len(found["hits"]))
            if view == "bottom-up":
                self.assertEqual(found["count"], self.ask(1, "rows", view=view)["count"])
            values = [hit["row"]["values"][0] or 0 for hit in found["hits"]]
            self.assertEqual(values, sorted(values, reverse=True))
            for hit in found["hits"]:
                parameters = {"row": hit["path"][-1]} if hit["path"] else {}
                self.assertIn(hit["row"], self.ask(1, "rows", view=view, limit=1000,
                                                   **parameters)["rows"])
            self.assertEqual(self.ask(1, "search", view=view, q="no such name")["count"], 0)

    def test_search_counts_all_and_lists_the_hottest(self):
        whole = self.ask(1, "search", q=".", limit=500)
        few = self.ask(1, "search", q=".", limit=3)
        self.assertEqual(few["count"], whole["count"])
        self.assertEqual(few["hits"], whole["hits"][:3])
        values = [hit["row"]["values"][0] or 0 for hit in whole["hits"]]
        self.assertEqual(values, sorted(values, reverse=True))
        for simple, regex in (("ma", "(ma)"), ("mai*n", "(mai*n)"), ("m.in", "[m].in")):
            self.assertEqual(self.ask(1, "search", q=simple), self.ask(1, "search", q=regex))

    def test_many_views_at_a_time(self):
        failures = []

        def look(view, thread):
            try:
                for _ in range(3):
                    parameters = {"thread": thread} if thread else {}
                    rows = self.ask(0, "rows", view=view, **parameters)["rows"]
                    self.ask(0, "rows", view=view, row=rows[0]["id"], **parameters)
                    self.ask(0, "timeline", columns=300, snap=1)
            except Exception as failure:  # reported by the thread that waits
                failures.append(failure)

        profile = self.ask(0, "threads")[0]["profile"]
        threads = [threading.Thread(target=look, args=(view, thread))
                   for view in ("top-down", "bottom-up", "flat") for thread in (None, profile)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_wrong_questions_get_the_reason(self):
        for path, status, words in (
            ("sources/9/info", 404, "no such page"),
            ("sources/0/nothing", 404, "no such page"),
            ("sources/0/rows?view=sideways", 400, "sideways"),
            ("sources/0/rows?limit=0", 400, "limit"),
            ("sources/0/rows?limit=99999999999999999999", 400, "limit"),
            ("sources/0/rows?metric=nothing", 404, "nothing"),
            ("sources/1/rows?metric=calls&waits=1", 400, "default metric"),
            ("sources/0/rows?row=12345678901234567", 400, "not a row"),
            ("sources/0/rows?view=flat&row=4000000000", 400, "row"),
            ("sources/0/function?row=12345678901234567", 400, "not in this data"),
            ("sources/0/source?row=12345678901234567", 400, "not in this data"),
            ("sources/0/search?q=(", 400, ""),
            ("sources/0/search?q=((a{99}){99}){99}", 400, ""),
            ("sources/0/search?q=" + "(" * 9000, 400, ""),
            ("sources/0/timeline?begin=5&end=5", 400, "empty"),
            ("sources/0/calls", 400, "not a recording"),
        ):
            got, _, body = self.service.ask(f"/api/v1/{path}")
            answer = json.loads(body)
            self.assertEqual(got, status, path)
            self.assertIn(words, answer["error"]["text"])

    def test_any_row_number_is_survived(self):
        for row in list(range(0, 3000, 7)) + [2**63 + n for n in range(0, 2000, 7)] + [2**64 - 1]:
            status, _, _ = self.service.ask(f"/api/v1/sources/0/rows?row={row}")
            self.assertIn(status, (200, 400, 422))


    def test_many_may_ask_at_once(self):
        questions = [f"/api/v1/sources/{source}/{question}" for source in (0, 1) for question in (
            "rows", "rows?view=flat", "rows?view=bottom-up", "rows?percentiles=1", "flame",
            "timeline?columns=300", "search?q=.", "info", "range", "hot-path",
            *(f"rows?view=flat&begin={n}" for n in range(6)), "search?q=.&begin=3&view=bottom-up")]
        end = time.monotonic() + 3
        wrong = []

        def ask(first):
            n = first
            while time.monotonic() < end:
                n += 1
                status, _, body = self.service.ask(questions[n % len(questions)])
                if status not in (200, 404):
                    wrong.append((questions[n % len(questions)], status, body))

        clients = [threading.Thread(target=ask, args=(k * 3,)) for k in range(8)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.assertEqual(wrong, [])


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.block = serving(OPTIONS.cairn, f"{OPTIONS.testdata}/sample")
        cls.service = cls.block.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.block.__exit__(None, None, None)

    def test_a_token_is_needed(self):
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer "},
                        {"Cookie": f"cairn-{self.service.port}=0"}):
            for path in ("/", "/app.js", "/api/v1/sources", "/metrics", "/?token=wrong"):
                self.assertEqual(self.service.ask(path, headers=headers)[0], 401)

    def test_the_token_in_the_address_becomes_a_cookie(self):
        status, headers, _ = self.service.ask(f"/?token={self.service.token}", headers={})
        self.assertEqual((status, headers["Location"]), (302, "/"))
        self.assertIn("HttpOnly", headers["Set-Cookie"])
        cookie = headers["Set-Cookie"].split(";")[0]
        self.assertEqual(self.service.ask("/", headers={"Cookie": cookie})[0], 200)

    def test_pages_of_others_are_refused(self):
        for host in ("evil.example", f"evil.example:{self.service.port}", "127.0.0.1.evil", ""):
            headers = {"Authorization": f"Bearer {self.service.token}", "Host": host}
            self.assertEqual(self.service.ask("/api/v1/sources", headers=headers)[0], 421)

    def test_pages_have_a_strict_policy(self):
        for path in ("/", "/app.js", "/api/v1/sources"):
            headers = self.service.ask(path)[1]
            self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")

    def test_no_file_can_be_read(self):
        for path in ("/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
                     "//etc/passwd", "/app.js/../../../etc/passwd", "/api/v1/../../etc/passwd",
                     "/api/v1/sources/0/source?row=0&file=/etc/passwd", "/meta.db", "/."):
            status, _, body = self.service.ask(path)
            self.assertIn(status, (400, 404, 422), path)
            self.assertNotIn(b"root:", body)

    def test_only_reading_is_possible(self):
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
            self.assertEqual(self.service.ask("/api/v1/sources", method=method, body=b"x")[0], 405)

    def test_monitoring(self):
        self.assertEqual(self.service.ask("/healthz", headers={})[::2], (200, b"ok\n"))
        self.assertIn(b"cairn_requests_total", self.service.ask("/metrics")[2])

    def raw(self, data, seconds=5):
        with socket.create_connection((self.service.host, self.service.port), seconds) as peer:
            peer.settimeout(seconds)
            try:
                peer.sendall(data)
                return peer.recv(65536)
            except (TimeoutError, ConnectionError):
                return b""

    def test_oversized_and_malformed_requests_are_refused(self):
        host = f"Host: 127.0.0.1:{self.service.port}\r\n".encode()
        for data in (
            b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\n" + host + b"\r\n",
            b"GET / HTTP/1.1\r\n" + host + b"".join(b"X-%d: %s\r\n" % (i, b"y" * 50)
                                                   for i in range(5000)) + b"\r\n",
            b"\0" * 5000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
            b"POST /api/v1/sources HTTP/1.1\r\n" + host + b"Content-Length: -5\r\n\r\n",
            b"POST / HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        ):
            answer = self.raw(data)
            self.assertFalse(answer.startswith(b"HTTP/1.1 200"), data[:60])
        self.assertEqual(self.service.ask("/healthz", headers={})[0], 200)

    def test_slow_requests_do_not_stop_others(self):
        slow = [socket.create_connection((self.service.host, self.service.port), 5)
                for _ in range(60)]
        for peer in slow:
            peer.sendall(b"GET / HTTP/1.1\r\nHost: 127.0")
        begin = time.monotonic()
        self.assertEqual(self.service.ask("/api/v1/sources")[0], 200)
        self.assertLess(time.monotonic() - begin, 15)
        for peer in slow:
            peer.close()


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


class Starting(unittest.TestCase):
    def test_beyond_this_machine_a_token_file_is_needed(self):
        result = subprocess.run(
            [OPTIONS.cairn, "serve", "--listen", "0.0.0.0:0", f"{OPTIONS.testdata}/sample"],
            text=True, capture_output=True, timeout=120, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--token-file", result.stderr)

    def test_the_token_comes_from_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "token")
            path.write_text("a-secret-of-sixteen\n", encoding="utf-8")
            with serving(OPTIONS.cairn, "--token-file", str(path), "--listen", "127.0.0.1:0",
                         f"{OPTIONS.testdata}/sample") as service:
                self.assertEqual(service.token, "a-secret-of-sixteen")
                self.assertEqual(service.ask("/")[0], 200)

    def test_what_is_no_data_is_refused(self):
        result = subprocess.run([OPTIONS.cairn, "serve", os.devnull], text=True,
                                capture_output=True, timeout=120, check=False)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("/dev/null", result.stderr)

    def test_ends_with_sigterm_and_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TMPDIR"] = folder
            service = Service(OPTIONS.cairn, f"{OPTIONS.testdata}/recording")
            del os.environ["TMPDIR"]
            ready(service, 0)
            self.assertEqual(service.end()[0], 0)
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--testdata", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
