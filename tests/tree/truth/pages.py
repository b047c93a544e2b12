"""Every page of the viewer of a recording against the costs of its calls: see one_truth."""
import json

from truth.check import FUNCTIONS, answered
from truth.doors import (NS, WAITING, Costs, all_rows, of_side, run, through_api, through_bottom_up, through_callers,
                         through_callgrind, through_flame, through_flat, through_folded, through_lens, through_pprof, through_top,
                         through_top_down, through_tree)


def check_states(check, cairn, data, db, service, label, raw, waits, expected):
    """The doors that show waiting as a state, without or with --waits."""
    check.same(f"{label} flat", expected, through_flat(cairn, db, *waits))
    check.same(f"{label} tree", expected, through_tree(cairn, db, *waits))

    def convert(form, source=data, more=raw):
        return run(cairn, "convert", "-q", *more, *waits, source, "-", "--to", form)
    check.same(f"{label} folded", expected, through_folded(convert("folded")))
    check.same(f"{label} folded of the database", expected, through_folded(convert("folded", db, [])))
    check.same(f"{label} pprof", expected, through_pprof(convert("pprof")))
    check.same(f"{label} callgrind", expected, through_callgrind(convert("callgrind")), ("self",))
    asked = {"waits": 1} if waits else {}
    check.same(f"{label} rows of the API", expected, through_api(service, asked))
    flame = service.get("sources/0/flame", min=0, **asked)
    check.same(f"{label} flame graph of the API", expected, through_flame(flame))
    check.that(not [name for name in flame["names"] if name.startswith(WAITING)], f"{label}: a flame graph has {WAITING}")
    callers = through_flame(service.get("sources/0/flame", view="bottom-up", min=0, depth=1, **asked))
    for name in FUNCTIONS:
        check.that(abs(callers.totals[name] - expected.selfs[name]) < 200,
                   f"{label}: the flame graph of callers has {callers.totals[name]:.0f} ns for {name}, self is {expected.selfs[name]}")
    states = [state["seconds"] * NS for state in service.get("sources/0/info")["states"]]
    check.that(not states or abs(states[0] - sum(states[1:])) < 10, f"{label}: states {states} do not add up")


def check_lens(check, cairn, db, service, label, rows, running):
    """Every view with a lens, the overview, and the header above the views, which says how much is left."""
    base = f"{'recorded' if label == '--raw' else 'corrected'} running time"
    for action, function in ("hide", "middle"), ("focus", "recurse"), ("drop", "recurse"):
        wanted, name, option = through_lens(rows, action, function), f"{label} --{action} {function}", f"--{action}={function}"
        check.same(f"{name} flat", wanted, through_flat(cairn, db, option))
        check.same(f"{name} tree", wanted, through_tree(cairn, db, option))
        check.same(f"{name} callers", wanted, through_callers(cairn, db, option))
        check.same(f"{name} top", wanted, through_top(cairn, db, option), ("self",))
        check.same(f"{name} rows of the API", wanted, through_api(service, {action: function}))
        check.same(f"{name} flame graph of the API", wanted, through_flame(service.get("sources/0/flame", min=0, **{action: function})))
        overview = service.get("sources/0/overview", whole=1, **{action: function})
        listed = [found["row"] for found in overview["functions"]]
        check.same(f"{name} overview", wanted, through_bottom_up(overview["columns"], listed),
                   names=[row["label"] for row in listed if row["label"] in FUNCTIONS])
        header = service.get("sources/0/header", **{action: function})
        shown, whole = sum(wanted.selfs.values()), sum(running.selfs.values())
        check.that(abs(header["shown"] * NS - shown) < 200 and abs(header["whole"] * NS - whole) < 200,
                   f"{name}: the header has {header['shown']} of {header['whole']} s, calls {shown} of {whole} ns")
        check.that(header["base"] == base, f"{name}: the header has {header['base']}")
        check.doors += 1


def check_percentiles(check, cairn, data, service, label, raw):
    """p50 and p99 of the report, of the overview, and of the pages of a context and a function; none
    is shorter than what the clock resolves, and that is said."""
    rows = json.loads(run(cairn, "report", *raw, "--format", "json", "-f", "p50,p99,total-max,total-max-ts", data))
    wanted = {row["function"]: row for row in rows}
    resolution = rows[0].get("resolution_ns", 0)
    base = f"{'recorded' if raw else 'corrected'} time with waiting"
    check.that((resolution > 0) == (not raw), f"{label}: the resolution is {resolution}")
    columns, found = all_rows(service, "bottom-up", percentiles=1)
    at = {column["name"]: i for i, column in enumerate(columns)}
    for row in found:
        name = row["label"]
        if name not in FUNCTIONS:
            continue
        detail = service.get("sources/0/function", row=row["context"], percentiles=1)["latency"]
        for percentile in "p50", "p99":
            shown = [round(row["values"][at[percentile]] * NS), detail[percentile]]
            want = wanted[name][f"total_{percentile}_ns"]
            check.that(shown == [want] * 2, f"{label}: {percentile} of {name} is {want} ns in the report, {shown} in the viewer")
            check.that(want >= resolution, f"{label}: {percentile} of {name} is {want} ns, less than {resolution} ns")
        check.that(detail["base"] == base, f"{label}: durations are {detail['base']}")
        check.that(detail.get("resolution", 0) == resolution, f"{label}: the resolution is {detail.get('resolution')}")
    for name in "p50", "p99":
        column = columns[at[name]]
        check.that((column["base"], round(column.get("resolution", 0) * NS)) == (base, resolution), f"{label}: {name} is {column}")
    text = run(cairn, "report", *raw, "-f", "p50", data).decode()
    check.that(("< " in text) == (wanted["leaf"]["total_p50_ns"] <= resolution), f"{label}: the report prints {text}")
    for call in service.get("sources/0/slowest")["calls"]:
        row, begin = wanted[call["function"]], call["time"] + min(row["total_max_ts_ns"] for row in rows if row["function"] == "__monstartup")
        check.that(call["duration"] == row["total_max_ns"],
                   f"{label}: the slowest call of {call['function']} takes {call['duration']} ns, {row['total_max_ns']} in the report")
        check.that(begin == row["total_max_ts_ns"], f"{label}: it began at {begin}, at {row['total_max_ts_ns']} in the report")
    check.that(service.get("sources/0/slowest")["base"] == base, f"{label}: slowest calls have another base")
    check.doors += 4


def check_pages(check, service, label, raw, running, recorded):
    """Every number of the pages of the viewer, against the costs of running time."""
    base = f"{'recorded' if raw else 'corrected'} running time"
    overview = service.get("sources/0/overview", whole=1)
    columns = overview["columns"]
    listed = [found["row"]["label"] for found in overview["functions"]]
    check.that(overview["base"] == base, f"{label}: the overview has {overview['base']}")
    check.same(f"{label} overview", running, through_bottom_up(columns, [found["row"] for found in overview["functions"]]),
               names=[name for name in FUNCTIONS if name in listed])
    info = service.get("sources/0/info")
    states = {state["name"]: state["seconds"] * NS for state in info["states"]}
    threads = {thread[0]: thread[1] * NS for thread in overview["threads"]}
    check.that(abs(sum(threads.values()) - states["running"]) < 10, f"{label}: threads have {threads}, all run for {states}")
    answer = service.get("sources/0/states", list=1)
    while answer["isPending"]:
        answer = service.get("sources/0/states", list=1)
    for profile, *numbers, _, recording, outside in answer["threads"]:
        inside = numbers[0] - recording - outside
        check.that(sum(numbers) == answer["wall"], f"{label}: states {numbers} of a thread are not {answer['wall']}")
        check.that(abs(inside - threads[profile]) <= 2, f"{label}: thread {profile} runs {inside} ns in calls, {threads[profile]} in costs")
        check.that((recording > 0) == (not raw), f"{label}: recording took {recording} ns of thread {profile}")
    hot = overview["hotPath"]
    # Its context has all of a function, except where others call it as well.
    shown, of_function = of_side(columns[:2], hot[-1], "inclusive"), running.totals[hot[-1]["label"]]
    check.that(abs(shown - of_function) < 200 or len(hot) == 1 or (hot[-1]["label"] == "leaf" and shown < of_function),
               f"{label}: the hot path ends with {hot[-1]['label']}, {hot[-1]['values'][0]}")
    columns, rows = all_rows(service, "bottom-up")
    check.that(all(column["base"] == base for column in columns), f"{label}: columns of a tree are {columns}")
    check.same(f"{label} bottom-up", running, through_bottom_up(columns, rows))
    check.same(f"{label} top-down", running, through_top_down(service))
    for row in rows:  # sandwich, and the panel of a context
        if row["label"] in FUNCTIONS:
            page = service.get("sources/0/function", row=row["context"])
            check.same(f"{label} sandwich of {row['label']}", running, through_bottom_up(page["columns"], [page["function"]]), names=[row["label"]])
            below = sum(of_side(page["columns"], callee["row"], "inclusive") for callee in page["callees"]
                        if callee["row"]["label"] != row["label"])
            check.that(row["label"] == "recurse" or abs(running.totals[row["label"]] - running.selfs[row["label"]] - below) < 200,
                       f"{label}: callees of {row['label']} have {below:.0f} ns")
    flame = service.get("sources/0/flame")
    check.that(flame["base"] == base, f"{label}: the flame graph has {flame['base']}")
    whole = {"begin": 0, "end": info["duration"]}
    in_range = service.get("sources/0/range", min=0, **whole)
    timeline = service.get("sources/0/timeline", nested=1, columns=50)
    ranged = service.get("sources/0/flame", min=0, **whole)
    columns, _ = all_rows(service, "bottom-up", **whole)
    bases = [in_range["base"], timeline["base"], ranged["base"], columns[0]["base"]]
    check.that(bases == ["recorded running time"] * 4, f"{label}: what has an axis of time is {bases}")
    check.that(dict(in_range["functions"]) == dict(timeline["functions"]), f"{label}: panels of the timeline differ")
    placed = Costs()
    for name, ns in in_range["functions"]:
        placed.selfs[name] += ns
    # A call that is open when its task ends has the last nanosecond.
    for door, costs in (("range of the timeline", placed), ("top-down of a range", through_top_down(service, **whole)),
                        ("flame graph of a range", through_flame(ranged))):
        check.same(f"{label} {door}", recorded, costs, ("self",), share=1e-3)
    compared = service.get("diff", a=0, b=0)
    check.that((compared["a"], compared["b"], compared["lines"]) == (compared["a"], compared["a"], []), f"{label}: it differs from itself")
    check.that(abs(compared["a"] * NS - states["running"]) < 10, f"{label}: a comparison has {compared['a']} of {states}")
    check.that((compared["baseA"], compared["baseB"]) == (base, base), f"{label}: compared are {compared['baseA']}, {compared['baseB']}")
    compared = service.get("diff", a=0, b=0, bBegin=0, bEnd=info["duration"])
    check.that(compared["baseA"] == compared["baseB"], f"{label}: {compared['baseA']} is compared with {compared['baseB']}")
    check.that(abs(compared["a"] - compared["b"]) < 1e-8, f"{label}: all time has {compared['a']} and {compared['b']}")
    check.doors += 8


def check_panels(check, service, label, reported, running):
    """What searches, panels and boxes of the pages show: each number is that of a row elsewhere."""
    columns, _ = all_rows(service, "bottom-up")
    found, selfs, beside = [], Costs(), {}
    for name in FUNCTIONS:
        found += [hit["row"] for hit in service.get("sources/0/search", q=f"^{name}$", view="bottom-up")["hits"]]
        for hit in service.get("sources/0/search", q=f"^{name}$", limit=500)["hits"]:
            selfs.selfs[name] += of_side(columns, hit["row"], "exclusive")
            beside[hit["row"]["id"]] = hit
    check.same(f"{label} search for functions", running, through_bottom_up(columns, found))
    check.same(f"{label} search for contexts", running, selfs, ("self",))
    for row in found:  # the upper half of the sandwich: callers together have what the function has
        if row["label"] not in ("main", "thread"):  # which have no caller
            flame = service.get("sources/0/flame", view="bottom-up", row=row["id"], side="total", min=0)
            shown = sum(node[3] * NS for node in flame["nodes"] if node[0] == 0), flame["total"] * NS
            check.that(all(abs(ns - running.totals[row["label"]]) < 200 for ns in shown),
                       f"{label}: callers of {row['label']} have {shown} of {running.totals[row['label']]} ns")
    threads = {thread["profile"]: thread["cost"] for thread in service.get("sources/0/threads")}
    for number, hit in list(beside.items())[::7]:
        detail = service.get("sources/0/context", row=number)
        check.that(detail["row"]["values"] == hit["row"]["values"], f"{label}: context {detail['row']}, found {hit['row']}")
        check.that([item["id"] for item in detail["path"]] == hit["path"] + [number], f"{label}: context {detail['path']}, found {hit['path']}")
        total = of_side(columns, hit["row"], "inclusive")
        check.that(abs(sum(cost for _, cost in detail["threads"]) * NS - total) < 10, f"{label}: threads {detail['threads']} have {total} ns")
    overview, hot = service.get("sources/0/overview", whole=1), service.get("sources/0/hot-path")["rows"]
    check.that([(row["label"], row["values"]) for row in hot] == [(row["label"], row["values"]) for row in overview["hotPath"]],
               f"{label}: the hot path is {hot}, {overview['hotPath']} in the overview")
    listed = {thread[0]: thread[1] for thread in overview["threads"]}
    check.that(threads == listed, f"{label}: threads have {threads}, {listed} in the overview")
    asked = Costs()
    for name, own, total in service.get("sources/0/sql", statement="SELECT name, self_ns, total_ns FROM report")["rows"]:
        asked.selfs[name], asked.totals[name] = own, total
    check.same(f"{label} SQL of the page", reported, asked)
    check.doors += 4


def check_moments(check, service, label):
    """What the panels of a moment show: the call at it, its stack, and what ran where."""
    call = service.get("sources/0/calls", task=0, function="work")["calls"][0]
    at = service.get("sources/0/find", task=0, function="work")
    check.that((at["time"], at["duration"]) == (call["time"], call["duration"]), f"{label}: find has {at}, the list {call}")
    stack = answered(service, "sources/0/stack", profile=1, time=call["time"] + call["duration"] // 2)
    names = [frame["label"] for frame in stack["frames"]]
    check.that(names[-3:] == ["work", "main", "<main thread>"], f"{label}: in the middle of work the stack is {names}")
    processors = answered(service, "sources/0/processors")["processors"]
    threads = answered(service, "sources/0/states", list=1)["threads"]
    ran, busy = sum(thread[1] for thread in threads), sum(processor["busy"] for processor in processors)
    # Of a thread that never left its processor, it is not known which one that was.
    known = sum(thread[1] for thread in threads if thread[2] + thread[3] > 0)
    check.that(not processors or known - 2 * NS // 1000 <= busy <= ran + NS // 1000,
               f"{label}: processors were busy for {busy} ns, threads ran for {ran}, {known} of it on known ones")
    check.doors += 3


def check_header(check, cairn, folder, of_recording, of_database, of_viewer):
    """The header is the same in info, in the viewer, and in exports."""
    for name in ("program", "command", "host"):
        values = {of_recording.get(name), of_database.get(name), of_viewer.get(name)}
        check.that(len(values) == 1, f"the header has {name} {values}")
    # The database may have been made with --raw.
    check.that(of_database["times"] == of_viewer["base"] and of_recording["times"].split()[1:] == of_viewer["base"].split()[1:],
               f"times are {of_recording['times']}, {of_database['times']}, {of_viewer['base']}")
    target = folder / "header.callgrind"
    run(cairn, "convert", "-q", "-f", folder / "run.db", target, "--to", "callgrind")
    exported = [line[len("desc: "):].split(": ", 1) for line in target.read_text().splitlines() if line.startswith("desc: ")]
    check.that(dict(exported) == of_database, f"an export has {exported}, info {of_database}")
    check.doors += 2


def check_info(check, cairn, data, folder, service):
    """What `info` says of a recording and of its database is what views and viewer have."""
    info, api = json.loads(run(cairn, "info", "--format", "json", data)), service.get("sources/0/info")
    of_database = json.loads(run(cairn, "info", "--format", "json", folder / "run.db"))
    functions = [row["function"] for row in json.loads(run(cairn, "report", "--format", "json", data)) if not row["function"].startswith(WAITING)]
    threads = len(service.get("sources/0/overview", whole=1)["threads"])
    check.that(len(info["tasks"]) == int(info["facts"]["taskinfo:nr_tid"]) == threads == of_database["thread_count"],
               f"info has {len(info['tasks'])} tasks, the overview {threads}, info of the database {of_database['thread_count']}")
    check.that(of_database["duration_ns"] == api["duration"], f"info of the database has {of_database['duration_ns']} ns, the viewer {api['duration']}")
    header = service.get("sources/0/header")
    check.that((header["threads"], header["duration"]) == (threads, api["duration"]), f"the header has {header}, info {threads} threads")
    check_header(check, cairn, folder, info["header"], of_database["header"], header)
    check.that(of_database["function_count"] == len(functions), f"info has {of_database['function_count']} functions, the report {functions}")
    check.doors += 1
