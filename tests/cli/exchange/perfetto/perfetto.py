#!/usr/bin/env python3
"""A Perfetto trace as tracers write it: interned names, a clock of the sequence, defaults, counters, flows, packets of
other kinds. Prints what is wrong."""
import json
import pathlib
import struct
import subprocess
import sys

failures = []
UNIX = 1_700_000_000_000_000_000


def check(is_fine, text):
    if not is_fine:
        failures.append(text)


def cairn(*words, status=0):
    done = subprocess.run(["cairn", *words], capture_output=True, check=False)
    check(done.returncode == status, f"cairn {' '.join(words)}: {done.returncode}, {done.stderr.decode()[-300:]}")
    return done.stdout.decode(), done.stderr.decode()


def varint(value):
    data = b""
    while value >= 128:
        data, value = data + bytes((value & 127 | 128,)), value >> 7
    return data + bytes((value,))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def fixed(number, value):
    return varint(number << 3 | 1) + struct.pack("<Q", value)


def packet(*parts, sequence=7):
    return field(1, b"".join(parts) + (field(10, sequence) if sequence else b""))


def trace():
    """A sequence whose timestamps are differences in microseconds, and one in boot time."""
    name = lambda iid, text: field(12, field(2, field(1, iid) + field(2, text)))
    event = lambda kind, *more: field(11, field(9, kind) + b"".join(more))
    clock = lambda number, time, *more: field(1, field(1, number) + field(2, time) + b"".join(more))
    data = packet(field(1, b"\x08\x01"), sequence=0)  # ftrace
    data += packet(field(60, field(1, 100) + field(3, field(1, 50) + field(6, "app"))), sequence=1)
    data += packet(field(60, field(1, 101) + field(5, 100) + field(4, field(1, 50) + field(2, 51) + field(5, "worker"))), sequence=1)
    data += packet(field(60, field(1, 102) + field(5, 101) + field(2, "depth") + field(8, b"")), sequence=1)
    data += packet(field(60, field(1, 103) + field(5, 100) + field(2, "requests")), sequence=1)
    data += packet(field(6, clock(6, 1_000_000) + clock(1, UNIX + 1_000_000) + clock(64, 5, field(3, 1), field(4, 1000))),
                   field(13, 1), field(59, field(58, 64) + field(11, field(11, 101))))
    data += packet(field(8, 10), name(1, "outer"), event(1, field(10, 1)), field(13, 2))
    data += packet(field(8, 5), name(2, "inner"), event(1, field(10, 2), fixed(47, 99)), field(13, 2))
    data += packet(field(8, 1), event(4, field(11, 102), field(30, 3)), field(13, 2))
    data += packet(field(8, 4), event(2), field(13, 2))
    data += packet(field(8, 1_100_000), event(1, field(11, 103), field(23, "GET /"), fixed(48, 99)), sequence=9)
    data += packet(field(8, 1_200_000), event(2, field(11, 103)), sequence=9)
    return data + packet(field(8, 20), event(2), field(13, 2)), data


def main():
    whole, without_end = trace()
    pathlib.Path("x.pftrace").write_bytes(whole)
    out, err = cairn("convert", "x.pftrace", "-", "--to", "chrome")
    data = json.loads(out)
    base = int(data["metadata"]["base_time_ns"])
    calls = sorted((base + round(e["ts"] * 1000) - UNIX, e["ph"], e["name"]) for e in data["traceEvents"] if e["ph"] in "BE")
    check(calls == [(1_010_000, "B", "outer"), (1_015_000, "B", "inner"), (1_020_000, "E", "inner"), (1_040_000, "E", "outer"),
                    (1_100_000, "B", "GET /"), (1_200_000, "E", "GET /")], f"calls: {calls}")
    names = {e["tid"]: e["args"]["name"] for e in data["traceEvents"] if e["ph"] == "M" and e["name"] == "thread_name"}
    check(names[51] == "worker" and "requests" in names.values(), f"threads: {names}")
    check([e["args"]["value"] for e in data["traceEvents"] if e["ph"] == "C"] == [3], "counter")
    cairn("convert", "-q", "x.pftrace", "again.pftrace", "--to", "perfetto")
    again = json.loads(cairn("convert", "-q", "again.pftrace", "-", "--to", "chrome")[0])
    check([e["args"]["value"] for e in again["traceEvents"] if e["ph"] == "C"] == [3], "counter that was written")
    check("1 packets that are not track events" in err, f"skipped: {err}")
    flows = [e["ph"] for e in data["traceEvents"] if e["ph"] in "sf"]
    check(sorted(flows) == ["f", "s"], f"flows: {flows}")
    # A call without its end, and a file that is cut off.
    pathlib.Path("cut.pftrace").write_bytes(whole[: len(without_end) + 3])
    out, err = cairn("report", "cut.pftrace", status=3)
    check("outer" in out and "cut.pftrace: " in err, f"cut: {out}{err}")
    # Nothing that can be read.
    pathlib.Path("ftrace.pftrace").write_bytes(packet(field(8, 5), field(1, b"\x08\x01")) * 3)
    err = cairn("report", "ftrace.pftrace", status=3)[1]
    check("a Perfetto trace without slices of track events: 3 packets" in err, f"ftrace: {err}")
    for text in failures:
        print(text)
    return bool(failures)


sys.exit(main())
