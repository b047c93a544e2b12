"""Messages of OTLP traces made at random over the published schema, as protobuf and as JSON, and read back in plain Python.

SCHEMA is opentelemetry-proto 1.x: trace/v1/trace.proto, common/v1/common.proto, resource/v1/resource.proto. A message is a dictionary; a
field that is absent is not in it.
"""
import base64
import math
import random
import struct

# Of each message: name of a field, its number, its type, whether it is repeated. "id" is bytes that JSON writes in hexadecimal.
SCHEMA = {
    "Request": [("resource_spans", 1, "ResourceSpans", True)],
    "ResourceSpans": [("resource", 1, "Resource", False), ("scope_spans", 2, "ScopeSpans", True), ("schema_url", 3, "string", False)],
    "Resource": [("attributes", 1, "KeyValue", True), ("dropped_attributes_count", 2, "uint32", False)],
    "ScopeSpans": [("scope", 1, "Scope", False), ("spans", 2, "Span", True), ("schema_url", 3, "string", False)],
    "Scope": [("name", 1, "string", False), ("version", 2, "string", False), ("attributes", 3, "KeyValue", True),
              ("dropped_attributes_count", 4, "uint32", False)],
    "Span": [("trace_id", 1, "id", False), ("span_id", 2, "id", False), ("trace_state", 3, "string", False),
             ("parent_span_id", 4, "id", False), ("name", 5, "string", False), ("kind", 6, "enum", False),
             ("start_time_unix_nano", 7, "fixed64", False), ("end_time_unix_nano", 8, "fixed64", False),
             ("attributes", 9, "KeyValue", True), ("dropped_attributes_count", 10, "uint32", False), ("events", 11, "Event", True),
             ("dropped_events_count", 12, "uint32", False), ("links", 13, "Link", True), ("dropped_links_count", 14, "uint32", False),
             ("status", 15, "Status", False), ("flags", 16, "fixed32", False)],
    "Event": [("time_unix_nano", 1, "fixed64", False), ("name", 2, "string", False), ("attributes", 3, "KeyValue", True),
              ("dropped_attributes_count", 4, "uint32", False)],
    "Link": [("trace_id", 1, "id", False), ("span_id", 2, "id", False), ("trace_state", 3, "string", False),
             ("attributes", 4, "KeyValue", True), ("dropped_attributes_count", 5, "uint32", False), ("flags", 6, "fixed32", False)],
    "Status": [("message", 2, "string", False), ("code", 3, "enum", False)],
    "KeyValue": [("key", 1, "string", False), ("value", 2, "AnyValue", False)],
    "AnyValue": [("string_value", 1, "string", False), ("bool_value", 2, "bool", False), ("int_value", 3, "int64", False),
                 ("double_value", 4, "double", False), ("array_value", 5, "ArrayValue", False),
                 ("kvlist_value", 6, "KeyValueList", False), ("bytes_value", 7, "bytes", False)],
    "ArrayValue": [("values", 1, "AnyValue", True)],
    "KeyValueList": [("values", 1, "KeyValue", True)],
    "Response": [("partial_success", 1, "PartialSuccess", False)],
    "PartialSuccess": [("rejected_spans", 1, "int64", False), ("error_message", 2, "string", False)],
}
WIRES = {"uint32": 0, "enum": 0, "bool": 0, "int64": 0, "fixed64": 1, "double": 1, "fixed32": 5}


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_field(number, kind, value):
    head = varint(number << 3 | WIRES.get(kind, 2))
    if kind in ("uint32", "enum", "bool", "int64"):
        return head + varint(int(value) & (1 << 64) - 1)
    if kind in ("fixed64", "double", "fixed32"):
        return head + struct.pack({"fixed64": "<Q", "double": "<d", "fixed32": "<I"}[kind], value)
    data = value.encode() if kind == "string" else value if kind in ("bytes", "id") else to_protobuf(kind, value)
    return head + varint(len(data)) + data


def to_protobuf(message, value):
    out = bytearray()
    for name, number, kind, is_repeated in SCHEMA[message]:
        if name in value:
            for one in value[name] if is_repeated else [value[name]]:
                out += encode_field(number, kind, one)
    return bytes(out)


def take_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def decode_field(kind, wire, value):
    if kind == "int64":
        return value - (value >> 63 << 64)
    if kind == "bool":
        return bool(value)
    if wire == 1:
        return struct.unpack("<d" if kind == "double" else "<Q", value)[0]
    if wire == 5:
        return struct.unpack("<I", value)[0]
    if wire == 0:
        return value
    return value.decode() if kind == "string" else value if kind in ("bytes", "id") else from_protobuf(kind, value)


def from_protobuf(message, data):
    fields = {number: (name, kind, is_repeated) for name, number, kind, is_repeated in SCHEMA[message]}
    out, at = {}, 0
    while at < len(data):
        head, at = take_varint(data, at)
        number, wire = head >> 3, head & 7
        if wire == 0:
            value, at = take_varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(wire)
            if size is None:
                size, at = take_varint(data, at)
            value, at = data[at:at + size], at + size
        name, kind, is_repeated = fields[number]
        value = decode_field(kind, wire, value)
        if is_repeated:
            out.setdefault(name, []).append(value)
        else:
            out[name] = value
    return out


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def to_json(message, value):
    def of(kind, one):
        if kind == "id":
            return one.hex()
        if kind == "bytes":
            return base64.b64encode(one).decode()
        if kind in ("fixed64", "int64"):
            return str(one)
        if kind == "double":
            return one if math.isfinite(one) else "NaN" if math.isnan(one) else "Infinity" if one > 0 else "-Infinity"
        return to_json(kind, one) if kind in SCHEMA else one
    return {camel(name): [of(kind, one) for one in value[name]] if is_repeated else of(kind, value[name])
            for name, _, kind, is_repeated in SCHEMA[message] if name in value}


def from_json(message, value):
    def of(kind, one):
        if kind == "id":
            return bytes.fromhex(one)
        if kind == "bytes":
            return base64.b64decode(one)
        if kind in ("fixed64", "int64"):
            return int(one)
        if kind == "double":
            return float(one)
        return from_json(kind, one) if kind in SCHEMA else one
    fields = {camel(name): (name, kind, is_repeated) for name, _, kind, is_repeated in SCHEMA[message]}
    unknown = set(value) - set(fields)
    if unknown:
        raise AssertionError(f"{message} has no {unknown}")
    return {fields[key][0]: [of(fields[key][1], item) for item in one] if fields[key][2] else of(fields[key][1], one)
            for key, one in value.items()}


def plain(message, value):
    """The message with what is the same written in one way: fields with their default are absent, NaN is a text, ids of 0 are absent."""
    out = {}
    for name, _, kind, is_repeated in SCHEMA[message]:
        if name not in value:
            continue
        one = value[name]
        if kind in SCHEMA:
            one = [plain(kind, item) for item in one] if is_repeated else plain(kind, one)
        elif kind == "double":
            one = "NaN" if math.isnan(one) else struct.pack("<d", one)
        elif kind == "id" and not one.strip(b"\0"):
            continue
        # A value is one of several kinds, and says so also where it is 0.
        if message == "AnyValue" or (one and one != {}) or (kind == "double"):
            out[name] = one
    return out


def spans(request):
    """By trace and span id: all that was sent of a span. The order and grouping of resources and scopes is not part of it."""
    out = {}
    for by_resource in request.get("resource_spans", ()):
        for by_scope in by_resource.get("scope_spans", ()):
            for span in by_scope.get("spans", ()):
                out[span["trace_id"].hex(), span["span_id"].hex()] = {
                    "span": plain("Span", span),
                    "resource": plain("ResourceSpans", {k: v for k, v in by_resource.items() if k != "scope_spans"}),
                    "scope": plain("ScopeSpans", {k: v for k, v in by_scope.items() if k != "spans"}),
                }
    return out


class Maker:
    """Random messages. Some fields are absent, some have their default, some have the largest value."""
    TEXTS = ("", "GET /items", "żółć ☃ 😀", "a\"b\\c", "line\nline\ttab", "nul\0inside", "{json: [1]}", "x" * 300, "null", "5", "\u202e", "é" * 70)
    KEYS = ("http.method", "links", "event", "status.message", "service.name", "annotation", "", "a.b", "error", "exception.type", "k\0",
            "trace", "span", "trace_state", "map")

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.ids = []

    def maybe(self, share=0.6):
        return self.random.random() < share

    def text(self):
        return self.random.choice(self.TEXTS) if self.maybe(0.7) else f"value-{self.random.randrange(1000)}"

    def number(self, bits):
        return self.random.choice((0, 1, 7, 300, (1 << bits) - 1, self.random.getrandbits(bits)))

    def value(self, depth=0):
        kind = self.random.randrange(9 if depth < 4 else 6)
        if kind < 2:
            return {"string_value": self.text()}
        if kind == 2:
            return {"bool_value": self.maybe(0.5)}
        if kind == 3:
            return {"int_value": self.random.choice((0, -1, 5, (1 << 63) - 1, -(1 << 63), self.random.getrandbits(40)))}
        if kind == 4:
            return {"double_value": self.random.choice((0.0, -0.0, 1.5, -1e300, 5e-324, math.inf, -math.inf, math.nan, self.random.random()))}
        if kind == 5:
            return self.random.choice(({}, {"bytes_value": b""}, {"bytes_value": self.random.randbytes(self.random.randrange(20))}))
        if kind == 6:
            return {"kvlist_value": {"values": self.attributes(depth + 1)} if self.maybe(0.9) else {}}
        return {"array_value": {"values": [self.value(depth + 1) for _ in range(self.random.randrange(4))]}}

    def attributes(self, depth=0):
        keys = self.random.sample(self.KEYS, self.random.randrange(6))
        keys += [f"key-{self.random.randrange(40)}" for _ in range(self.random.randrange(3))]
        return [{"key": key, "value": self.value(depth)} for key in dict.fromkeys(keys)]

    def some(self, message, **always):
        """Fields of a message that are texts, counts and attributes."""
        out = dict(always)
        for name, _, kind, _ in SCHEMA[message]:
            if name in out or not self.maybe():
                continue
            if kind == "string":
                out[name] = self.text()
            elif kind in ("uint32", "fixed32"):
                out[name] = self.number(32)
            elif kind == "KeyValue":
                out[name] = self.attributes()
        return out

    def time(self):
        now = 1_790_000_000_000_000_000
        return self.random.choice((now + self.random.randrange(10**9), now + self.random.randrange(10**9), now + 1000 * self.random.randrange(10**6),
                                   0, 1, 16_725_225_600_000_000_000, (1 << 64) - 1) if self.maybe(0.3) else (now + self.random.randrange(10**9),))

    def event(self):
        out = self.some("Event", time_unix_nano=self.time())
        if self.maybe(0.3):
            out["name"] = "exception"
            out["attributes"] = [{"key": f"exception.{part}", "value": {"string_value": text}} for part, text in (
                ("type", "java.io.IOException"), ("message", self.text()),
                ("stacktrace", "java.io.IOException: x\n\tat shop.Queue.send(Queue.java:12)\n  odd line"))] + self.attributes()[:1]
            out["attributes"] = list({pair["key"]: pair for pair in out["attributes"]}.values())
        return out

    def link(self):
        return self.some("Link", trace_id=self.random.randbytes(16) if self.maybe(0.9) else b"",
                         span_id=self.random.randbytes(8) if self.maybe(0.9) else b"")

    def span(self, trace_id):
        span_id = self.random.randbytes(8)
        out = self.some("Span", trace_id=trace_id, span_id=span_id, start_time_unix_nano=self.time())
        if self.maybe(0.9):
            out["end_time_unix_nano"] = self.time()
        if self.maybe(0.9):
            out["kind"] = self.random.randrange(6)
        if self.maybe(0.7):
            same = [other for trace, other in self.ids if trace == trace_id]
            out["parent_span_id"] = self.random.choice(same) if same and self.maybe(0.8) else self.random.randbytes(8)
        if self.maybe(0.5):
            out["events"] = [self.event() for _ in range(self.random.randrange(4))]
        if self.maybe(0.4):
            out["links"] = [self.link() for _ in range(self.random.randrange(3))]
        if self.maybe(0.7):
            out["status"] = {**({"code": self.random.randrange(3)} if self.maybe(0.9) else {}), **({"message": self.text()} if self.maybe() else {})}
        self.ids.append((trace_id, span_id))
        return out

    def request(self, traces):
        """Spans of some of these traces."""
        out = []
        for _ in range(self.random.randrange(1, 4)):
            by_scope = []
            for _ in range(self.random.randrange(1, 3)):
                one = self.some("ScopeSpans", spans=[self.span(self.random.choice(traces)) for _ in range(self.random.randrange(5))])
                if self.maybe(0.8):
                    one["scope"] = self.some("Scope")
                by_scope.append(one)
            one = self.some("ResourceSpans", scope_spans=by_scope)
            if self.maybe(0.9):
                one["resource"] = self.some("Resource")
                if self.maybe(0.7):
                    one["resource"]["attributes"] = [{"key": "service.name", "value": {"string_value": self.random.choice(("shop", "mail"))}}]
            out.append(one)
        return {"resource_spans": out}
