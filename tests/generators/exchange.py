"""Files of other tools, byte by byte: profiles of pprof, spans of OpenTelemetry and Zipkin, perf.data."""
import gzip
import json
import struct

CLOCK_NS = 1_700_000_000_000_000_000


# Protocol buffers.

def varint(value):
    value &= 2**64 - 1
    data = b""
    while value >= 128:
        data, value = data + bytes((value & 127 | 128,)), value >> 7
    return data + bytes((value,))


def field(number, value):
    """Bytes and texts have a length, numbers do not; zero is left out."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value) if value else b""
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


class Pprof:
    """A profile as Go writes it: functions, locations that may have several lines, and samples of stacks."""

    def __init__(self, types, period_type, period):
        self.texts, self.functions, self.locations = {"": 0}, {}, {}
        self.samples, self.types, self.period_type, self.period = b"", types, period_type, period

    def text(self, value):
        return self.texts.setdefault(value, len(self.texts))

    def type(self, pair):
        return field(1, self.text(pair[0])) + field(2, self.text(pair[1]))

    def location(self, lines):
        """Lines of one address, the innermost of inlined functions first."""
        return self.locations.setdefault(lines, len(self.locations) + 1)

    def sample(self, stack, *values, **labels):
        """A stack from the leaf to the root."""
        data = field(1, b"".join(varint(self.location(lines)) for lines in stack))
        data += field(2, b"".join(map(varint, values)))
        data += b"".join(field(3, field(1, self.text(k)) + (field(3, v) if isinstance(v, int) else field(2, self.text(v))))
                         for k, v in labels.items())
        self.samples += field(2, data)

    def bytes(self):
        types = b"".join(field(1, self.type(pair)) for pair in self.types)
        mapping = field(3, field(1, 1) + field(2, 0x400000) + field(3, 0x500000) + field(5, self.text("/srv/demo/server"))
                        + field(7, 1))
        places = b""
        for lines, number in self.locations.items():
            inside = b"".join(field(4, field(1, self.functions.setdefault(name, len(self.functions) + 1)) + field(2, line))
                              for name, line in lines)
            places += field(4, field(1, number) + field(2, 1) + field(3, 0x400000 + 16 * number) + inside)
        functions = b"".join(field(5, field(1, number) + field(2, self.text(name)) + field(3, self.text(name))
                                   + field(4, self.text(f"/srv/demo/{name.split('.')[0]}.go")) + field(5, 10 * number))
                             for name, number in self.functions.items())
        ends = field(9, CLOCK_NS) + field(10, 2_000_000_000) + field(11, self.type(self.period_type)) + field(12, self.period)
        texts = b"".join(field(6, text) for text in self.texts)
        return types + self.samples + mapping + places + functions + texts + ends


MAIN, SERVE, PARSE, COPY = (("main.main", 12),), (("main.serve", 31),), (("text.split", 8), ("text.parse", 44)), (("runtime.memmove", 3),)


def profiles():
    cpu = Pprof([("samples", "count"), ("cpu", "nanoseconds")], ("cpu", "nanoseconds"), 10_000_000)
    for stack, count in (((PARSE, SERVE, MAIN), 41), ((COPY, PARSE, SERVE, MAIN), 17), ((COPY, SERVE, MAIN), 5), ((MAIN,), 2)):
        cpu.sample(stack, count, count * 10_000_000, thread="7")
    heap = Pprof([("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")],
                 ("space", "bytes"), 524288)
    heap.sample((PARSE, SERVE, MAIN), 1000, 64000, 10, 640, bytes=64)
    heap.sample((COPY, SERVE, MAIN), 3, 3 << 20, 1, 1 << 20, bytes=1 << 20)
    waiting = Pprof([("goroutine", "count")], ("goroutine", "count"), 1)
    waiting.sample((SERVE, MAIN), 4)
    waiting.sample((MAIN,), 1)
    return {"cpu.pprof": cpu, "heap.pprof": heap, "gor.pprof": waiting}


# Spans: one trace in which two of 50 and 70 ms overlap.
SPANS = [("a1", None, "handle", "frontend", 0, 100), ("b1", "a1", "read", "store", 10, 60), ("c1", "a1", "rank", "ranking", 20, 90)]
TRACE = "0af7651916cd43dd8448eb211c80319c"


def span_id(name):
    return name.rjust(16, "0")


def otlp():
    services = {}
    for number, parent, name, service, begin, end in SPANS:
        span = {"traceId": TRACE, "spanId": span_id(number), "name": name, "kind": 2,
                "startTimeUnixNano": str(CLOCK_NS + begin * 1_000_000), "endTimeUnixNano": str(CLOCK_NS + end * 1_000_000),
                "attributes": [{"key": "http.method", "value": {"stringValue": "GET"}}], "status": {}}
        if parent:
            span["parentSpanId"] = span_id(parent)
        services.setdefault(service, []).append(span)
    return {"resourceSpans": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]},
        "scopeSpans": [{"scope": {"name": "demo"}, "spans": spans}]} for service, spans in services.items()]}


def zipkin():
    result = []
    for number, parent, name, service, begin, end in SPANS:
        span = {"traceId": TRACE, "id": span_id(number), "name": name, "kind": "SERVER",
                "timestamp": CLOCK_NS // 1000 + begin * 1000, "duration": (end - begin) * 1000,
                "localEndpoint": {"serviceName": service}, "tags": {"http.method": "GET"}}
        if parent:
            span["parentId"] = span_id(parent)
        result.append(span)
    return result


# perf.data: a header, one kind of event, then records of the kernel.
IP, TID, TIME, CALLCHAIN, PERIOD = 1 << 0, 1 << 1, 1 << 2, 1 << 5, 1 << 8
USER_MARK = 2**64 - 512


def perf_record(kind, misc, body, sample_id=b""):
    body += bytes(-len(body) % 8) + sample_id
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def perf_data():
    """Samples of the processor clock in a process of two threads: frames are addresses of one file, which is not
    there."""
    kinds = IP | TID | TIME | CALLCHAIN | PERIOD
    flags = 1 << 18 | 1 << 8 | 1 << 9  # sample ids in all records, mappings, names
    attributes = struct.pack("<IIQQQQQ", 1, 112, 0, 1_000_000, kinds, 0, flags).ljust(112, b"\0")

    def ids(tid, time):
        return struct.pack("<IIQ", 70, tid, time)

    name = b"/srv/demo/sampled\0"
    data = perf_record(3, 0, struct.pack("<II", 70, 70) + b"sampled\0", ids(70, 1000))
    data += perf_record(1, 2, struct.pack("<IIQQQ", 70, 70, 0x400000, 0x10000, 0) + name, ids(70, 1000))
    for i in range(40):
        tid = 70 + i % 2
        chain = [USER_MARK, 0x401000 + 16 * (i % 5), 0x402010, 0x403000] if i % 3 else [USER_MARK, 0x404000]
        time = 1_000_000 * (i + 2)
        data += perf_record(9, 2, struct.pack("<QIIQQQ", chain[1], 70, tid, time, 1_000_000, len(chain))
                            + struct.pack(f"<{len(chain)}Q", *chain))
    attribute_off, data_off = 104, 104 + 128
    head = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 128, attribute_off, 128, data_off, len(data), 0, 0) + bytes(32)
    return head + attributes + struct.pack("<QQ", 0, 0) + data


def write(folder):
    folder.mkdir(parents=True)
    for name, profile in profiles().items():
        (folder / name).write_bytes(gzip.compress(profile.bytes(), mtime=0))
    (folder / "concurrent-spans.otlp.json").write_text(json.dumps(otlp(), indent=1))
    (folder / "concurrent-spans.zipkin.json").write_text(json.dumps(zipkin(), indent=1))
    (folder / "sampled.perf.data").write_bytes(perf_data())
