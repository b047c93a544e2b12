"""The pages of a store and of its traces against the spans that were sent: see one_truth."""
import collections
import json

import shop
from service import serving
from truth.doors import NS, Costs, run, through_flame


def check_trace_pages(check, cairn, store, service, row, trace):
    """The pages of one trace, and its row in lists, against its spans."""
    label, spans = f"trace {row['trace'][:8]}", sorted(trace.values(), key=lambda s: (s.begin, -s.ns, s.id))
    children, begin = shop.children_of(trace), min(s.begin for s in trace.values())
    length = max(s.end for s in trace.values()) - begin
    truth = sorted((s.name, s.service, s.begin - begin, s.ns, shop.self_ns(s, children[s.id])) for s in spans)
    chart = service.get("sources/0/chart", key=row["key"], parts=2 ** 20)
    shown = sorted((chart["methods"][call[6]], chart["services"][call[7]], *call[3:6]) for call in chart["calls"])
    check.that(shown == truth, f"{label}: the chart has {shown}, sent were {truth}")
    path = service.get("sources/0/critical-path", key=row["key"])
    check.that(chart["duration"] == path["duration"] == length == sum(step["duration"] for step in path["steps"]),
               f"{label}: the chart has {chart['duration']} ns, the critical path {path['duration']}, spans {length}")
    by_span = collections.Counter()
    for step in path["steps"]:
        by_span[step.get("span")] += step["duration"]
    check.that(by_span == +shop.critical_path(trace), f"{label}: the critical path has {by_span}")
    methods = {m["method"]: [m["calls"], m["total"], m["self"]] for m in service.get("sources/0/methods", key=row["key"], limit=1000)["methods"]}
    check.that(methods == shop.report({0: trace}), f"{label}: methods are {methods}")
    check.that((row["duration"], row["spans"], row["errors"], row["services"][0]) ==
               (shop.duration_ns(trace), len(trace), sum(s.error for s in spans), shop.roots_of(trace)[0].service), f"{label}: the list has {row}")
    printed = json.loads(run(cairn, "store", "show", store, row["trace"], "--critical-path", "--format", "json"))
    check.that(sum(step["path_ns"] for step in printed) == length and abs(sum(step["share_percent"] for step in printed) - 100) < 1e-6,
               f"{label}: store show has {printed}")


def check_store(check, cairn, folder):
    """The pages of a store and of its traces, whose spans came in batches, and `info`."""
    store, traces = folder / "store", shop.make_traces(40, 12)
    for i, request in enumerate(shop.batches(traces, 30, 2)):
        (folder / f"spans{i:03}.json").write_text(json.dumps(request))
    run(cairn, "store", "add", "-q", "--create", store, *sorted(folder.glob("spans*.json")))
    info, failed = json.loads(run(cairn, "info", "--format", "json", store)), sum(map(shop.failed, traces.values()))
    spans = sum(map(len, traces.values()))
    check.that((info["traces"], info["spans"], info["failed_traces"]) == (len(traces), spans, failed), f"info of a store has {info}")
    with serving(cairn, str(store)) as service:
        page = service.get("sources/0/info")
        check.that((page["traceCount"], page["spanCount"]) == (len(traces), spans), f"the page of a store has {page}")
        steps = service.get("sources/0/histogram")["steps"]
        check.that([sum(step[i] for step in steps) for i in (0, 1)] == [len(traces), failed], f"the histogram of a store has {steps}")
        listed = service.get("sources/0/traces", limit=1000)
        check.that((listed["count"], {row["trace"] for row in listed["traces"]}) == (len(traces), set(traces)), "the list of a store differs")
        operations = service.get("sources/0/groups", by="operation", limit=1000)["groups"]
        wanted = shop.operations(traces)
        check.that({group["value"]: (group["count"], group["errors"], group["total"]) for group in operations} ==
                   {name: (numbers["count"], numbers["error_count"], numbers["total_ns"]) for name, numbers in wanted.items()},
                   f"operations of a store are {operations}")
        for group in service.get("sources/0/groups", by="operation", limit=1000, steps=30, spans=1)["groups"]:
            counts = sum(group["counts"]), sum(group["errorCounts"])
            check.that(counts == (wanted[group["value"]]["count"], wanted[group["value"]]["error_count"]),
                       f"{group['value']} has {counts} spans over time, {wanted[group['value']]}")
        heat = service.get("sources/0/heat")
        check.that([sum(cell[i] for cell in heat["cells"]) for i in (2, 3)] == [len(traces), failed], f"the heat map of a store has {heat}")
        rows = collections.Counter()
        for _, row, count, _ in heat["cells"]:
            rows[row] += count
        for row, count in rows.items():
            low, high = heat["bounds"][row - heat["firstRow"]:][:2]
            found = sum(low <= shop.duration_ns(t) < high for t in traces.values())
            check.that(found == count, f"the heat map has {count} traces from {low} to {high} ns, {found} were sent")
        edges = service.get("sources/0/services")
        check.that({(e["caller"], e["callee"]): (e["count"], e["errors"], e["total"]) for e in edges["edges"]} ==
                   {edge: (n["count"], n["error_count"], n["total_ns"]) for edge, n in shop.edges(traces).items()}, f"services are {edges['edges']}")
        sums = collections.Counter()
        for (_, callee), numbers in shop.edges(traces).items():
            sums[callee] += numbers["count"]
        check.that({each["service"]: each["count"] for each in edges["services"]} == sums, f"services have {edges['services']}, edges {sums}")
        check.doors += 4
        for row in listed["traces"][::5]:
            check_trace_pages(check, cairn, str(store), service, row, traces[row["trace"]])
        flame = service.get("sources/0/flame", min=0, limit=2000)
        while flame["isPartial"] if "isPartial" in flame else flame["traceCount"] < flame["hitCount"]:
            flame = service.get("sources/0/flame", min=0, limit=2000)
    # Callees are cut to their callers, so that only self times of spans that fit are those of the report.
    shown, own = through_flame(flame), {name: numbers[2] for name, numbers in shop.report(traces).items()}
    for name in ("handler", "GET /browse", "load cart"):
        check.that(abs(shown.selfs[name] - own[name]) < 200, f"the flame graph of a store has {shown.selfs[name]:.0f} ns of self time for {name}, spans {own[name]}")
    costs, tree = Costs(), json.loads(run(cairn, "tree", "--format", "json", store))
    entries = [row["name"] for row in tree if row["depth"] == 0]
    check.that(entries == ["<traces>"], f"the tree of a store has the entry points {entries}")
    for row in tree:
        if row["kind"] == "function":
            costs.selfs[row["name"]] += (row["time_sec_exclusive"] or 0) * NS
    for name, number in own.items():
        check.that(abs(costs.selfs[name] - number) < 200, f"the tree of a store has {costs.selfs[name]:.0f} ns for {name}, spans {number}")
    check.doors += 8
