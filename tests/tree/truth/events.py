"""Counters, flows and work of GPUs of a trace of events, through every door, against the events: see one_truth."""
import collections
import json
import random

from service import serving
from truth.check import answered
from truth.doors import NS, Costs, report, run
from truth.metric import check_metric

US = 1000


def event(phase, tid, at, **others):
    return {"ph": phase, "pid": 7, "tid": tid, "ts": at, **others}


def check_tracks(check, cairn, folder):
    """Readings of counters, rates of calls, and flows: in the viewer, in SQL, and after a conversion."""
    spread, events, readings, flows = random.Random(5), [], collections.defaultdict(list), []
    for i in range(120):
        events.append(event("X", 1 + i % 2, 100 * i, dur=60, name=f"work{i % 5}"))
    for i in range(40):
        at, value = 250 * i + 1, spread.randrange(1000)
        events.append(event("C", 1, at, name="heap", args={"value": value}))
        readings["heap"].append((US * at, value))
    for i in range(30):
        begin, end = 200 * (i + 1) + 10, 200 * (i + 1) + 110
        events += [event("s", 1, begin, id=i, name="message"), event("f", 2, end, id=i, name="message", bp="e")]
        flows.append((US * begin, US * end))
    source, again = folder / "events.json", folder / "again.json"
    source.write_text(json.dumps({"traceEvents": events}))
    run(cairn, "convert", "-q", "-f", source, again, "--to", "chrome")
    run(cairn, "convert", "-q", "-f", source, folder / "again.pftrace", "--to", "perfetto")
    for path in source, again, folder / "again.pftrace":
        label = f"events of {path.name}"
        with serving(cairn, str(path)) as service:
            tracks = answered(service, "sources/0/counters", columns=4000)["counters"]
            shown = [(point[0], point[3]) for track in tracks if track["name"] == "heap" for point in track["points"]]
            check.that(shown == readings["heap"], f"{label}: the counter has {shown}, {readings['heap']} were written")
            calls = sum(point[3] * (after[0] - point[0]) for track in tracks if track["name"] == "calls/s"
                        for point, after in zip(track["points"], track["points"][1:])) / NS
            check.that(abs(calls - 120) < 1e-6, f"{label}: rates of calls have {calls} calls of 120")
            found = service.get("sources/0/flows", limit=2000)
            check.that(sorted((flow[1], flow[4]) for flow in found["flows"]) == flows and found["count"] == len(flows),
                       f"{label}: flows are {found}, {flows} were written")
        table = json.loads(run(cairn, "sql", path, "--format", "json", "SELECT from_ns, to_ns FROM flows ORDER BY 1"))
        begin = json.loads(run(cairn, "sql", path, "--format", "json", "SELECT min(begin_ns) AS ns FROM calls"))[0]["ns"]
        check.that([(row["from_ns"] - begin, row["to_ns"] - begin) for row in table] == flows, f"{label}: flows in SQL are {table}, {flows} were written")
        check.doors += 4


def check_gpus(check, cairn, folder, python):
    """Kernels and copies on two streams: their time, how long the GPU was busy, and its gaps."""
    spread, events, kernels = random.Random(3), [], Costs()
    at, spans, copied, count = [0, 0], [], 0, 0
    for i in range(60):
        stream, launch = i % 2, 50 * i
        begin, dur = max(launch + 5, at[stream]), 10 + spread.randrange(60)
        at[stream] = begin + dur
        spans.append((begin, begin + dur))
        is_copy = i % 6 == 5
        here = {"device": 0, "context": 1, "stream": 7 + stream, "correlation": 1 + i}
        events.append({"ph": "X", "cat": "cpu_op", "name": f"step{i % 3}", "pid": 100, "tid": 100, "ts": launch, "dur": 20})
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync" if is_copy else "cudaLaunchKernel", "pid": 100, "tid": 100,
                       "ts": launch + 1, "dur": 3, "args": {"correlation": 1 + i}})
        events.append({"ph": "X", "cat": "gpu_memcpy" if is_copy else "kernel", "name": "Memcpy HtoD" if is_copy else f"kernel{i % 2}", "pid": 0,
                       "tid": 7 + stream, "ts": begin, "dur": dur, "args": {**here, "bytes": 4096} if is_copy else here})
        if is_copy:
            copied += 4096
        else:
            kernels.add_stack([f"step{i % 3}", "cudaLaunchKernel", "<gpu kernel>", f"kernel{i % 2}"], US * dur)
            count += 1
    source, db = folder / "gpu.json", folder / "gpu.db"
    source.write_text(json.dumps({"traceEvents": events}))
    run(cairn, "analyze", "-q", source, "-o", db)
    names = ["step0", "step1", "step2", "cudaLaunchKernel", "kernel0", "kernel1"]
    merged = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    gaps = sorted(((US * first[1], US * then[0]) for first, then in zip(merged, merged[1:])), key=lambda gap: gap[0] - gap[1])
    busy, span = US * sum(end - begin for begin, end in merged), US * (merged[-1][1] - merged[0][0])
    for label, path in ("GPU of a trace", source), ("GPU of a database", db):
        with serving(cairn, str(path)) as service:
            check_metric(check, cairn, label, path, service, "GKER (sec)", kernels, names, python, path == source)
            gpus = service.get("sources/0/overview", whole=1)["gpus"]
            shown = [(gpu["number"], gpu["streams"], gpu["span"], gpu["busy"], gpu["gapCount"]) for gpu in gpus]
            check.that(shown == [(0, 2, span, busy, len(gaps))], f"{label}: the overview has {gpus}, {busy} of {span} ns were busy, gaps {gaps}")
            longest = [gap["end"] - gap["begin"] for gap in gpus[0]["gaps"]]
            check.that(longest == [end - begin for begin, end in gaps[:3]], f"{label}: the longest gaps are {longest}, of {gaps}")
            flows = service.get("sources/0/flows", limit=2000)
            check.that(flows["count"] == 60, f"{label}: {flows['count']} arrows lead from launches, not 60")
        totals = [json.loads(run(cairn, "tree", path, "-m", metric, "--depth", "1", "--format", "json")) for metric in ("GKER:COUNT", "GXCOPY:H2D (B)")]
        totals = [sum(next(iter(row.values())) or 0 for row in rows) for rows in totals]
        check.that(totals == [count, copied], f"{label}: counts and bytes are {totals}, not {[count, copied]}")
        check.doors += 4
    for name in "kernel0", "kernel1":
        check.that(report(cairn, source).totals[name] == kernels.totals[name], f"the report has {report(cairn, source).totals[name]} ns of {name}, {kernels.totals[name]} were written")
