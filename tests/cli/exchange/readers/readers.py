#!/usr/bin/env python3
"""Convert recordings and databases to every format and read them with independent
readers: Python's JSON, XML, CSV and SQLite, protoc, callgrind_annotate, dot. Programs that
are not installed are left out. Prints what is wrong."""
import csv
import gzip
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import xml.dom.minidom

HOSTILE = b'a"b<script>alert(1)</script>\\c;d\x01\x1b[31m\xff\xfe&e\'f'
OPEN_CALLS = ("recording", "hostile", "fork")
failures = []


def check(is_fine, text):
    if not is_fine:
        failures.append(text)


def run(*words, data=None):
    done = subprocess.run(words, input=data, capture_output=True, check=False)
    check(done.returncode == 0, f"{' '.join(words)}: {done.stderr.decode()[-300:]}")
    return done.stdout


def convert(source, name):
    return run("cairn", "convert", "-q", str(source), "-", "--to", name)


def make_hostile(source, target):
    """A copy of a recording whose functions have names that break careless writers."""
    shutil.copytree(source, target)
    for path in target.glob("*.sym"):
        path.chmod(0o644)
        lines = path.read_bytes().splitlines(keepends=True)
        for i, line in enumerate(lines):
            words = line.rstrip(b"\n").split(b" ")
            if not line.startswith(b"#") and len(words) >= 3 and i % 2 == 0:
                lines[i] = b" ".join(words[:-1] + [HOSTILE + b"%d" % i]) + b"\n"
        path.write_bytes(b"".join(lines))


def read_folded(text):
    stacks = {}
    for line in text.decode().splitlines():
        stack, value = line.rsplit(" ", 1)
        stacks[stack] = stacks.get(stack, 0) + int(value)
        check(int(value) > 0 and stack, f"folded: {line}")
    return stacks


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """Number and value of each field of a message, numbers or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at : at + 8], "little"), at + 8
        else:
            assert key & 7 == 2, f"wire type {key & 7} at {at}"
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
            assert len(value) == size
        yield key >> 3, value


def numbers(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def decode_raw(data, what):
    if shutil.which("protoc"):
        text = run("protoc", "--decode_raw", data=data)
        check(text or not data, f"{what}: protoc reads nothing")


def read_pprof(data):
    """Stacks as folded text has them, summed over threads; and the labels."""
    data = gzip.decompress(data)
    decode_raw(data, "pprof")
    strings, functions, locations, samples, types = [], {}, {}, [], []
    for number, value in fields(data):
        message = dict(fields(value)) if isinstance(value, bytes) and number != 6 else {}
        if number == 1:
            types.append(message[1])
        elif number == 2:
            samples.append(list(fields(value)))
        elif number == 4:
            locations[message[1]] = dict(fields(message[4]))[1]
        elif number == 5:
            functions[message[1]] = message[2]
        elif number == 6:
            strings.append(value.decode())
    check(strings[0] == "", "pprof: the first string is not empty")
    stacks, labels = {}, set()
    for sample in samples:
        path = [strings[functions[locations[i]]] for i in numbers(dict(sample)[1])]
        values = numbers(dict(sample)[2])
        check(len(values) == len(types), "pprof: values do not fit the types")
        stack = ";".join(reversed(path))
        stacks[stack] = stacks.get(stack, 0) + values[-1]
        labels |= {strings[dict(fields(v))[1]] for n, v in sample if n == 3}
    return {k: v for k, v in stacks.items() if v}, labels


def read_chrome(text):
    trace = json.loads(text, parse_float=str)
    open_calls, count = {}, 0
    check(int(trace["metadata"]["base_time_ns"]) >= 0, "chrome: no base time")
    for event in trace["traceEvents"]:
        thread = (event["pid"], event["tid"])
        stack = open_calls.setdefault(thread, [])
        check(event["ph"] in "BEMiC" and event["name"] != "", f"chrome: {event}")
        check(event["ph"] != "C" or isinstance(event["args"]["value"], (int, float)), f"chrome: {event}")
        if event["ph"] == "B":
            stack.append(event["name"])
            count += 1
        elif event["ph"] == "E":
            check(stack and stack.pop() == event["name"], f"chrome: not nested: {event}")
    check(not any(open_calls.values()), "chrome: calls do not end")
    return count


def read_speedscope(text):
    """The required fields of the published schema; the number of calls, or stacks."""
    file = json.loads(text)
    frames = file["shared"]["frames"]
    calls, stacks = 0, {}
    check(all(isinstance(f["name"], str) for f in frames), "speedscope: a frame")
    for profile in file["profiles"]:
        check({"name", "unit", "startValue", "endValue"} <= set(profile), "speedscope")
        if profile["type"] == "evented":
            stack, at = [], profile["startValue"]
            for event in profile["events"]:
                check(event["at"] >= at, "speedscope: time runs backwards")
                at = event["at"]
                if event["type"] == "O":
                    stack.append(event["frame"])
                    calls += 1
                else:
                    check(stack.pop() == event["frame"], "speedscope: not nested")
            check(not stack and at <= profile["endValue"], "speedscope: calls do not end")
        else:
            check(len(profile["samples"]) == len(profile["weights"]), "speedscope: weights")
            for sample, weight in zip(profile["samples"], profile["weights"]):
                stack = ";".join(frames[i]["name"] for i in sample)
                stacks[stack] = stacks.get(stack, 0) + weight
    return calls, stacks


def read_firefox(text):
    profile = json.loads(text)
    check(profile["meta"]["preprocessedProfileVersion"] == 47, "firefox: version")
    total = 0
    for thread in profile["threads"]:
        samples, tables = thread["samples"], ["samples", "stackTable", "frameTable", "funcTable"]
        for name in tables:
            table = thread[name]
            for column in table.values():
                if isinstance(column, list):
                    check(len(column) == table["length"], f"firefox: {name}")
        for i, prefix in enumerate(thread["stackTable"]["prefix"]):
            check(prefix is None or prefix < i, "firefox: a stack before its prefix")
        check(max(thread["funcTable"]["name"], default=-1) < len(thread["stringArray"]), "firefox")
        check(isinstance(thread["pid"], str), "firefox: pid")
        used = [s for s in samples["stack"] if s is not None]
        check(max(used, default=-1) < thread["stackTable"]["length"], "firefox: stacks")
        if samples.get("weight"):
            total += sum(samples["weight"])
    return total


def read_svg(text):
    svg = xml.dom.minidom.parseString(text)
    check(len(svg.getElementsByTagName("script")) == 1, "svg: scripts")
    return int(svg.documentElement.getAttribute("data-whole"))


def read_callgrind(text, where):
    total = int(re.search(rb"^summary: (\d+)", text, re.M)[1])
    path = where / "callgrind.out"
    path.write_bytes(text)
    if shutil.which("callgrind_annotate"):
        listing = run("callgrind_annotate", str(path)).decode("utf-8", "replace")
        match = re.search(r"^([\d,]+) .*PROGRAM TOTALS", listing, re.M)
        check(match and int(match[1].replace(",", "")) == total, "callgrind: totals differ")
    return total


def read_dot(text):
    if shutil.which("dot"):
        check(b"<svg" in run("dot", "-Tsvg", data=text), "dot: no picture")


def read_spans(spans):
    """Ids are unique, parents exist and surround their children."""
    known = {span[0]: span for span in spans}
    check(len(known) == len(spans), "spans: ids are not unique")
    for ident, parent, begin, end in spans:
        check(begin <= end, "spans: ends before it begins")
        check(not parent or parent in known, f"spans: {ident} has no parent")
    return len(spans)


def read_otlp(data):
    decode_raw(data, "otlp")
    spans = []
    for _, resource in fields(data):
        for scope in (v for n, v in fields(resource) if n == 2):
            for span in (dict(fields(v)) for n, v in fields(scope) if n == 2):
                check(len(span[1]) == 16 and span[5].decode(), "otlp: a span")
                spans.append((span[2], span.get(4), span[7], span[8]))
    return read_spans(spans)


def read_otlp_json(text):
    spans = [
        (s["spanId"], s.get("parentSpanId"), int(s["startTimeUnixNano"]), int(s["endTimeUnixNano"]))
        for resource in json.loads(text)["resourceSpans"]
        for scope in resource["scopeSpans"]
        for s in scope["spans"]
    ]
    return read_spans(spans)


def read_zipkin(text):
    spans = json.loads(text)
    for span in spans:
        check(span["duration"] > 0 and len(span["traceId"]) == 32, "zipkin: a span")
        check(len(span["id"]) == 16 and span["localEndpoint"]["serviceName"], "zipkin")
    return read_spans([(s["id"], s.get("parentId"), 0, s["duration"]) for s in spans])


def read_perfetto(data):
    decode_raw(data, "perfetto")
    begun, names, flows = 0, {}, []
    for number, packet in fields(data):
        check(number == 1, "perfetto: no packet")
        packet = dict(fields(packet))
        for kind, value in fields(packet.get(12, b"")):
            entry = dict(fields(value))
            if kind == 2:
                names[packet[10], entry[1]] = entry[2].decode()
        event = dict(fields(packet.get(11, b"")))
        flows += [("begin", event[47])] if 47 in event else []
        flows += [("end", event[48])] if 48 in event else []
        if event.get(9) == 1:
            begun += 1
            check(23 in event or (packet[10], event[10]) in names, "perfetto: no name")
    check(
        sorted(f for k, f in flows if k == "begin") == sorted(f for k, f in flows if k == "end"),
        "perfetto: arrows without an end",
    )
    return begun


def perfetto_flows(data):
    """(thread, time, name) of both ends of each flow, by its id."""
    flows = {}
    for _, packet in fields(data):
        packet = dict(fields(packet))
        event = dict(fields(packet.get(11, b"")))
        for number, end in ((47, "from"), (48, "to")):
            if number in event:
                point = (event[11] & 0xFFFFFFFF, packet[8], event[23].decode())
                flows.setdefault(event[number], {})[end] = point
    return [(flow["from"], flow["to"]) for _, flow in sorted(flows.items())]


def check_flows(where):
    """Flows of a recording are the same in Perfetto, in tables and in cairn sql."""
    events = [
        {"ph": "X", "name": "send", "ts": 10, "dur": 20, "pid": 1, "tid": 1},
        {"ph": "X", "name": "receive", "ts": 40, "dur": 30, "pid": 1, "tid": 2},
        {"ph": "s", "name": "message", "id": 7, "ts": 15, "pid": 1, "tid": 1},
        {"ph": "f", "bp": "e", "name": "message", "id": 7, "ts": 45, "pid": 1, "tid": 2},
        {"ph": "s", "id": 9, "ts": 29, "pid": 1, "tid": 1},
        {"ph": "f", "bp": "e", "id": 9, "ts": 60, "pid": 1, "tid": 2},
    ]
    source = where / "flows.json"
    source.write_text(json.dumps(events))
    query = (
        "SELECT f.tid, from_ns, t.tid, to_ns, coalesce(flows.name, 'flow') FROM flows"
        " JOIN threads f ON f.id = from_thread JOIN threads t ON t.id = to_thread"
    )
    wanted = [(1, 15000, 2, 45000, "message"), (1, 29000, 2, 60000, "flow")]
    found = perfetto_flows(convert(source, "perfetto"))
    check([(*a[:2], *b[:2], a[2]) for a, b in found] == wanted, f"perfetto: flows {found}")
    check(read_tables(source, where)["flows"] == 2, "tables: flows")
    if "sqlite" in run("cairn", "formats").decode():
        rows = sqlite3.connect(where / "tables.sqlite").execute(query).fetchall()
        check(rows == wanted, f"sqlite: flows {rows}")
        rows = run("cairn", "sql", str(source), query, "--format", "json")
        rows = [tuple(row.values()) for row in json.loads(rows)]
        check(rows == wanted, f"sql: flows {rows}")


def read_tables(source, where):
    """Rows of each table: the same in CSV, NDJSON and SQLite."""
    counts, lines = {}, {}
    shutil.rmtree(where / "csv", ignore_errors=True)
    run("cairn", "convert", "-q", str(source), str(where / "csv"), "--to", "csv")
    for path in (where / "csv").glob("*.csv"):
        with path.open(newline="") as file:
            rows = list(csv.reader(file))
        check(all(len(row) == len(rows[0]) for row in rows), f"{path.name}: ragged")
        counts[path.stem] = len(rows) - 1
    for line in convert(source, "ndjson").decode().splitlines():
        table = json.loads(line)["table"]
        lines[table] = lines.get(table, 0) + 1
    check(lines == {k: v for k, v in counts.items() if v}, f"{source}: csv and ndjson differ")
    if "sqlite" in run("cairn", "formats").decode():
        path = where / "tables.sqlite"
        run("cairn", "convert", "-qf", str(source), str(path), "--to", "sqlite")
        sql = sqlite3.connect(path)
        check(sql.execute("PRAGMA integrity_check").fetchone()[0] == "ok", "sqlite: damaged")
        for table, count in counts.items():
            rows = sql.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]
            check(rows == count, f"{source}: sqlite: {table} has {rows} rows, not {count}")
        if shutil.which("sqlite3"):
            check(run("sqlite3", str(path), "SELECT count(*) FROM threads").strip(), "sqlite3")
    return counts


def check_stacks(source, where):
    folded = read_folded(convert(source, "folded"))
    total = sum(folded.values())
    svg = read_svg(convert(source, "flamegraph-svg"))
    check(abs(svg - total) <= len(folded), f"{source}: svg {svg}, folded {total}")
    callgrind = read_callgrind(convert(source, "callgrind"), where)
    check(abs(callgrind - total) <= len(folded), f"{source}: callgrind, folded")
    read_dot(convert(source, "dot"))
    check(convert(source, "mermaid").startswith(b"flowchart TB\n"), "mermaid")
    stacks, labels = read_pprof(convert(source, "pprof"))
    check("thread" in labels or not stacks, "pprof: no threads")
    # A call that never returned ends with its task in one, with the recording in the other.
    slack = total if source.name in OPEN_CALLS else 16 * len(folded) + 16
    check(abs(sum(stacks.values()) - total) <= slack, f"{source}: pprof, folded")
    return folded, stacks


def check_recording(source, where):
    check_stacks(source, where)
    counts = read_tables(source, where)
    calls = counts["calls"]
    spans = calls + counts["threads"]
    check(read_chrome(convert(source, "chrome")) == calls, f"{source}: chrome")
    check(read_speedscope(convert(source, "speedscope"))[0] == calls, f"{source}: speedscope")
    check(read_perfetto(convert(source, "perfetto")) == calls, f"{source}: perfetto")
    check(read_otlp(convert(source, "otlp")) == spans, f"{source}: otlp")
    check(read_otlp_json(convert(source, "otlp-json")) == spans, f"{source}: otlp-json")
    check(read_zipkin(convert(source, "zipkin")) == spans, f"{source}: zipkin")
    read_firefox(convert(source, "firefox"))
    for name in ("chrome", "flame-graph", "graphviz", "mermaid"):
        run("cairn", "dump", "--no-pager", "--format", name, "-d", str(source))


def check_database(source, where):
    folded, stacks = check_stacks(source, where)
    weights = read_speedscope(convert(source, "speedscope"))[1]
    check(set(weights) == set(stacks), f"{source}: speedscope and pprof differ")
    check(abs(sum(weights.values()) - sum(folded.values())) <= 16 * len(folded) + 16, f"{source}")
    read_firefox(convert(source, "firefox"))
    counts = read_tables(source, where)
    check(counts["contexts"] > 0 and counts["values"] > 0, f"{source}: tables are empty")


def main():
    here = pathlib.Path.cwd()
    testdata = here / "testdata"
    make_hostile(testdata / "recording", here / "hostile")
    check_recording(testdata / "recording", here)
    check_recording(here / "hostile", here)
    check_database(testdata / "sample", here)
    check_flows(here)
    run("cairn", "analyze", "-q", str(here / "hostile"), "-o", str(here / "hostile.db"))
    check_database(here / "hostile.db", here)
    data = pathlib.Path(os.environ["data"]).resolve()
    for name in ("fork", "threads", "args-auto", "longjmp", "lost"):
        check_recording(data / "uftrace" / name, here)
    for name in ("small.d", "loops-perf.d"):
        check_database(data / "hpctoolkit" / "v4" / name, here)
    for text in failures[:20]:
        print(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
