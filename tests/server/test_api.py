#!/usr/bin/env python3
"""The API of `cairn serve`: every question has an answer as documented, the numbers agree with
the command line, and what must not be possible is refused.

Usage: test_api.py --cairn PROGRAM --testdata FOLDER
"""
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from asking import OPTIONS, Asking, main, ready
from service import Service, serving


class Answers(Asking):
    def test_lists_what_is_open(self):
        answer = self.service.get("sources")
        self.assertEqual([s["kind"] for s in answer["sources"]], ["database", "recording"])

    def test_answers_every_question_about_both(self):
        for source in (0, 1):
            info = self.ask(source, "info")
            self.ask(source, "threads")
            top = self.ask(source, "rows")["rows"][0]
            for view in ("top-down", "collapsed", "bottom-up", "flat", "languages"):
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
        for view in ("top-down", "collapsed", "bottom-up", "flat", "languages"):
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
                    if hit["row"]["label"] in {other["row"]["label"] for other in detail["callers"]}:
                        continue  # callers of calls inside of the function are inside of it, too
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

    def test_search_leads_to_rows(self):
        name = self.ask(1, "hot-path")["rows"][-1]["label"]
        hits = self.ask(1, "search", q=f"^{name}$")["hits"]
        self.assertTrue(hits)
        for hit in hits:
            parent = hit["path"][-1]
            children = self.ask(1, "rows", row=parent, limit=1000)["rows"]
            self.assertIn(hit["row"]["id"], [row["id"] for row in children])

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

    def test_an_overview_lists_as_many_as_are_asked_for(self):
        answer = self.service.get("sources/1/overview", functions=2, threads=1, whole=1)
        self.assertEqual([len(answer["functions"]), len(answer["labels"])], [2, 1])
        self.assertEqual(self.service.ask("/api/v1/sources/1/overview?functions=0")[0], 400)
        self.assertEqual(self.service.ask("/api/v1/sources/1/overview?threads=201")[0], 400)


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

    def test_an_analysis_reports_its_steps(self):
        """Each of 131,071 nested calls has a context of its own: that takes a while."""
        words, now = [], 1_000_000_030

        def put(kind, depth, address):
            nonlocal now
            now += 7
            words.append(struct.pack("<QQ", now, address << 16 | depth << 6 | 0x28 | kind))

        def grow(depth, address):
            put(0, depth, address)
            if depth < 16:
                grow(depth + 1, 0x401018)
                grow(depth + 1, 0x401104)
            put(1, depth, address)

        grow(0, 0x401018)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(f"{OPTIONS.testdata}/recording", f"{folder}/recording")
            pathlib.Path(folder, "recording/100.dat").write_bytes(b"".join(words))
            with serving(OPTIONS.cairn, f"{folder}/recording") as service:
                steps = []
                while (source := service.get("sources")["sources"][0])["state"] == "working":
                    steps.append(source.get("step"))
                self.assertEqual(source["state"], "ready")
                self.assertNotIn("step", source)
            reported = [step for step in steps if step]
            self.assertTrue(reported, f"{len(steps)} answers")
            for step in reported:
                self.assertTrue(step["what"])
                self.assertLessEqual(step["done"], step["total"])


if __name__ == "__main__":
    main()
