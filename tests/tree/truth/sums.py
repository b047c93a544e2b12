"""Views, exports and tables of a recording against its report: see one_truth."""
import csv
import re
import sqlite3

from service import serving
from truth.pages import check_info, check_lens, check_moments, check_pages, check_panels, check_percentiles, check_states
from truth.screens import HAS_TERMINAL, check_terminal
from truth.doors import (Costs, report, run, through_callers, through_chrome, through_firefox, through_folded, through_graph,
                         through_speedscope, through_sql, through_tables, through_top)


def check_sums(check, cairn, data, folder, raw, recorded):
    label = raw[0] if raw else "corrected"
    expected = report(cairn, data, *raw)

    def convert(form, *more):
        return run(cairn, "convert", "-q", *raw, *more, data, "-", "--to", form)
    db = folder / "run.db"
    run(cairn, "analyze", "-q", *raw, data, "-f", "-o", db)
    check.same(f"{label} graph", expected, through_graph(run(cairn, "graph", *raw, data)), ("total",), share=2e-3)
    check.same(f"{label} speedscope", expected, through_speedscope(convert("speedscope")))
    check.same(f"{label} firefox", expected, through_firefox(convert("firefox")), share=1e-3)
    check.same(f"{label} flame-graph", expected,
               through_folded(run(cairn, "dump", "--format", "flame-graph", "--sample-time", "1ns", *raw, data)))
    run(cairn, "convert", "-q", "-f", *raw, data, folder / "csv", "--to", "csv")
    with open(folder / "csv" / "calls.csv", newline="") as file:
        calls_in_csv = list(csv.DictReader(file))
    costs, placed, span, running, everything = through_tables(calls_in_csv)
    check.same(f"{label} csv", expected, costs)
    check.same(f"{label} running time in csv", expected, running, ("self",))
    check.same(f"{label} all time in csv", expected, everything, ("total",))
    formats = run(cairn, "formats").decode()
    if re.search(r"^sqlite ", formats, re.M):
        run(cairn, "convert", "-q", "-f", *raw, data, folder / "run.sqlite", "--to", "sqlite")
        costs = Costs()
        for name, own in sqlite3.connect(folder / "run.sqlite").execute("SELECT name, self_ns FROM function_times"):
            costs.selfs[name] = own
        check.same(f"{label} sqlite", expected, costs, ("self",))
    if HAS_TERMINAL:
        check_terminal(check, cairn, data, folder, raw, expected, running, calls_in_csv)
    check.same(f"{label} callers", running, through_callers(cairn, db))
    check.same(f"{label} top", running, through_top(cairn, db), ("self",))
    if re.search(r"^sqlite ", formats, re.M):
        check.same(f"{label} sql", expected, through_sql(cairn, data, *raw))
    with serving(cairn, *raw, str(data), through_page=True) as service:
        check_states(check, cairn, data, db, service, label, raw, [], running)
        check_percentiles(check, cairn, data, service, label, raw)
        check_pages(check, service, label, raw, running, recorded)
        check_panels(check, service, label, expected, running)
        check_moments(check, service, label)
        check_lens(check, cairn, db, service, label, calls_in_csv, running)
        check_info(check, cairn, data, folder, service)
        check_states(check, cairn, data, db, service, f"{label} --waits", raw, ["--waits"], everything)
        info = service.get("sources/0/info")
        check.that(info["costTimes"] == ("recorded" if raw else "corrected"), f"{label}: costs are {info['costTimes']}")
        check.that(abs(info["duration"] - span) < 1000, f"{label}: the timeline has {info['duration']} ns of {span}")
        calls = service.get("sources/0/calls", task=0, function="work")["calls"]
    with serving(cairn, str(db)) as service:
        flame = service.get("sources/0/flame", min=0)
        node = next(node for node in flame["nodes"] if flame["names"][node[1]] == "leaf")
        source = service.get("sources/0/source", row=node[5])
        check.that(source["costs"] == [] and source["isPerFunction"], f"{label}: lines have costs: {source['costs']}")
    return placed, calls


def recorded_running(cairn, data, folder):
    """The recorded running time of each function, from tables."""
    run(cairn, "convert", "-q", "-f", "--raw", data, folder / "raw", "--to", "csv")
    with open(folder / "raw" / "calls.csv", newline="") as file:
        return through_tables(list(csv.DictReader(file)))[3]


def check_places(check, cairn, data, placed, calls):
    """Whatever the option was, calls stand where they were recorded."""
    recorded = report(cairn, data, "--raw")
    check.same("begin and end in csv", recorded, placed)
    check.same("chrome", recorded, through_chrome(run(cairn, "convert", "-q", data, "-", "--to", "chrome")), ("total",))
    one = report(cairn, data, "--raw", "--tid", re.search(r"task list\s*: (\d+)", run(cairn, "info", data).decode())[1])
    check.that(abs(calls[0]["duration"] - one.totals["work"]) < 1000,
               f"the list of calls has {calls[0]['duration']} ns for work, report --raw {one.totals['work']}")
