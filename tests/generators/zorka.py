"""Requests of Zorka agents and stores of its Java library, byte by byte.

Nothing here comes from the sources of cairn. One shop answers requests; its traces are sent by agents of three
generations, and are in stores of two.
"""
import hashlib
import json
import pathlib
import struct
import zlib

CLOCK_MS = 1794700746550
NANO = 663955374212
ERROR, SENT, USUAL = 0x1000, 0x2000, 0x2108
PACKAGE = "com.example.shop."
METHODS = {  # name -> class, method, signature
    "handle": ("ShopApp", "handle", "(Lcom/example/shop/Request;)V"),
    "listItems": ("Service", "listItems", "(Lcom/example/shop/Request;)V"),
    "placeOrder": ("Service", "placeOrder", "(Lcom/example/shop/Request;)V"),
    "render": ("Service", "render", "(Lcom/example/shop/Request;)V"),
    "loadUser": ("Dao", "loadUser", "(I)Ljava/lang/String;"),
    "query": ("Dao", "query", "(Ljava/lang/String;I)Ljava/util/List;"),
    "mapRow": ("Dao", "mapRow", "(I)Ljava/lang/String;"),
    "update": ("Dao", "update", "(Ljava/lang/String;)V"),
}


def hex_id(text, digits):
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


class Call:
    def __init__(self, name, start_ns):
        self.name, self.start_ns, self.end_ns = name, start_ns, start_ns
        self.children, self.attributes, self.exception, self.span = [], {}, None, None

    def calls(self):
        """As many as the agent saw: short ones are counted, but not sent."""
        return 1 + (50 if self.name == "render" else 0) + sum(child.calls() for child in self.children)

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()


class Span:
    def __init__(self, kind, clock_ms, number, parent):
        self.kind, self.clock_ms, self.id, self.parent = kind, clock_ms, number, parent


class Failure:
    def __init__(self, number, kind, message, stack):
        self.number, self.kind, self.message, self.stack = number, kind, message, stack


# Ids that tests ask for.
TRACES = {0: "fac42cedeefc05e92fe6c9df7d84a440", 3: "b283e8e25b388cd11ab3e720ff49ef6e"}
SPANS = {("db", 0): 0x4c21bc40a7229f96}


class Shop:
    """Answers requests one after the other: pages of items, and orders, of which one fails."""

    def __init__(self, count=12):
        self.random, self.now_ns = 4711, NANO
        self.traces = [self.request(i) for i in range(count)]

    def pass_time(self, least, most):
        self.random = (self.random * 1103515245 + 12345) % 2**31
        self.now_ns += least + (self.random >> 4) % (most - least)

    def clock_ms(self):
        return CLOCK_MS + (self.now_ns - NANO) // 1000000

    def call(self, name, inside=lambda call: None, least=300000, most=4000000):
        call = Call(name, self.now_ns)
        inside(call)
        self.pass_time(least, most)
        call.end_ns = self.now_ns
        self.pass_time(2000, 90000)
        return call

    def request(self, number):
        self.pass_time(5000000, 40000000)
        self.trace_id, self.number = TRACES.get(number) or hex_id(f"trace {number}", 32), number
        self.root_span = int(hex_id(f"root {number}", 16), 16)
        return self.trace_id, self.call("handle", self.handle)

    def begin(self, call, kind, parent, **attributes):
        number = SPANS.get((kind, self.number)) or int(hex_id(f"span {kind} {self.number}", 16), 16)
        if parent is None:
            number = self.root_span
        call.span = Span(kind, self.clock_ms(), number, parent)
        call.attributes |= {"component": kind, "thread.id": "1", "thread.name": "main"} | attributes

    def handle(self, call):
        is_order = self.number % 4 == 3
        self.begin(call, "http", None, **{
            "span.kind": "SERVER", "http.method": "POST" if is_order else "GET",
            "http.url": f"/order/{self.number}" if is_order else f"/items?page={self.number}",
            "shop.user": str(self.number % 7)})
        self.pass_time(100000, 30000000)
        call.children.append(self.call("placeOrder" if is_order else "listItems",
                                       self.order if is_order else self.items, 1000, 90000))
        if is_order and self.number == 3:
            return
        call.attributes["http.status"] = "200"

    def items(self, call):
        call.children.append(self.call("loadUser"))
        call.children.append(self.call("query", self.query))
        call.children.append(self.call("render"))

    def query(self, call):
        self.begin(call, "db", self.root_span, **{
            "span.kind": "CLIENT", "db.statement": f"SELECT * FROM items WHERE owner={self.number}"})
        for _ in range(3 + self.number % 5):
            call.children.append(self.call("mapRow", least=200000, most=3000000))

    def order(self, call):
        is_bad = self.number == 3
        call.children.append(self.call("loadUser"))

        def update(inner):
            self.begin(inner, "db", self.root_span, **{
                "span.kind": "CLIENT", "db.statement": "UPDATE orders FAIL" if is_bad else "UPDATE orders SET x=1"})
            if is_bad:
                inner.exception = Failure(1, "java.lang.IllegalStateException",
                                          "deadlock detected on table orders; żółć ☃",
                                          [("Dao", "update", 7), ("Service", "placeOrder", 5), ("ShopApp", "handle", 4)])

        call.children.append(self.call("update", update, 3000000, 12000000))
        if is_bad:
            call.exception = Failure(2, "java.lang.RuntimeException", "order failed for user 3",
                                     [("Service", "placeOrder", 5), ("ShopApp", "handle", 4)])
        else:
            call.children.append(self.call("render"))


# CBOR.

def head(kind, value):
    if value < 24:
        return bytes((kind << 5 | value,))
    for code, layout, limit in ((24, ">B", 1 << 8), (25, ">H", 1 << 16), (26, ">I", 1 << 32), (27, ">Q", 1 << 64)):
        if value < limit:
            return bytes((kind << 5 | code,)) + struct.pack(layout, value)
    raise ValueError(value)


def number(value):
    return head(0, value) if value >= 0 else head(1, -1 - value)


def signed(value):
    """An id of 64 bits as Java has it."""
    return number(value - 2**64 if value >= 2**63 else value)


def text(value):
    value = value.encode()
    return head(3, len(value)) + value


def array(*items):
    return head(4, len(items)) + b"".join(items)


def tag(value, item):
    return head(6, value) + item


BEGIN, END = b"\x9f", b"\xff"


class Symbols:
    """Strings and methods that an agent has told the collector; new ones wait to be sent."""

    def __init__(self):
        self.strings, self.methods, self.failures, self.pending = {}, {}, set(), b""

    def string(self, value, kind):
        if value not in self.strings:
            self.strings[value] = 600 + len(self.strings)
            self.pending += self.string_record(self.strings[value], value, kind)
        return self.strings[value]

    def method(self, name):
        if name not in self.methods:
            owner, method, signature = METHODS[name]
            parts = (self.string(PACKAGE + owner, 5), self.string(method, 6), self.string(signature, 8))
            self.methods[name] = len(self.methods) + 1
            self.pending += tag(2, array(number(self.methods[name]), *map(number, parts)))
        return self.methods[name]

    def take(self):
        pending, self.pending = self.pending, b""
        return pending


class AgentC(Symbols):
    """Agents 1.90.7 to 2.0.3: times in nanoseconds, as the machine counts them."""

    def string_record(self, number_, value, _):
        return tag(1, array(number(number_), text(value)))

    def stack(self, failure):
        return array(*(array(number(self.string(PACKAGE + owner, 5)), number(self.string(method, 6)),
                             number(self.string(f"{owner}.java", 0)), number(line)) for owner, method, line in failure.stack))

    def call(self, c, has_failed, sent=SENT):
        flags = (USUAL & ~SENT | sent) | (ERROR | 2 if has_failed else 0)
        data = tag(3, BEGIN + number(c.start_ns) + number(self.method(c.name)))
        if c.span:
            fields = [number(c.span.clock_ms), number(self.string(c.span.kind, 0)), signed(c.span.id)]
            data += tag(5, array(*fields, *([signed(c.span.parent)] if c.span.parent is not None else [])))
        for key, value in c.attributes.items():
            data += tag(6, array(number(self.string(key, 0)), text(value)))
        for child in c.children:
            data += self.call(child, has_failed, sent)
        if c.exception:
            e = c.exception
            data += tag(7, array(number(e.number), number(self.string(e.kind, 5)), text(e.message), number(0), self.stack(e)))
        return data + tag(4, array(number(c.end_ns), number(c.calls()), number(flags))) + END


TICK = 65536


def ticks(call, base):
    return (call.start_ns - base) // TICK, (call.end_ns - base) // TICK


class AgentB(Symbols):
    """The agent of June 2019: times in ticks of 65536 ns since the trace began, in eight bytes with the method."""

    def string_record(self, number_, value, kind):
        return tag(1, array(number(number_), text(value), number(kind)))

    def packed(self, high, low):
        return head(2, 8) + struct.pack(">Q", high << 40 | low)

    def call(self, c, base):
        begin, end = ticks(c, base)
        data = tag(8, BEGIN) + tag(10, self.packed(self.method(c.name), begin))
        if c.span:
            fields = [number(c.span.clock_ms), signed(c.span.id)]
            data += tag(0x21, array(*fields, *([signed(c.span.parent)] if c.span.parent is not None else [])))
        if c.attributes:
            data += tag(9, head(5, len(c.attributes)) + b"".join(
                tag(6, number(self.string(key, 0))) + text(value) for key, value in c.attributes.items()))
        for child in c.children:
            data += self.call(child, base)
        if c.exception:
            e = c.exception
            stack = array(*(array(number(self.string(PACKAGE + owner, 5)), number(self.string(method, 6)),
                                  number(self.string(f"{owner}.java", 0)), number(line)) for owner, method, line in e.stack))
            data += tag(15, number(8))
            data += tag(0x22, array(number(e.number), tag(6, number(self.string(e.kind, 5))), text(e.message), number(0),
                                    stack))
        return data + tag(12, self.packed(c.calls(), end)) + END


def spans_of(root):
    return [call for call in root.walk() if call.span]


class Capture:
    """Files of what an agent sent: bodies and heads, in order."""

    def __init__(self, folder, agent, session):
        self.folder, self.agent, self.session = folder, agent, session
        self.count, self.is_new = 0, True
        folder.mkdir(parents=True)

    def put(self, name, body, head_lines):
        stem = self.folder / f"{self.count:03}_{name}"
        self.count += 1
        path = "/" + name.replace("_", "/")
        lines = [f"POST {path} HTTP/1.1", *head_lines, f"Content-Length: {len(body)}", "User-Agent: zorka/2.x",
                 "Connection: keep-alive", "Keep-Alive: timeout=30", "Host: 127.0.0.1", "", ""]
        stem.with_suffix(".bin").write_bytes(body)
        stem.with_suffix(".hdr").write_text("\r\n".join(lines), newline="")

    def submit(self, kind, body, *more):
        head_lines = ["Content-Type: application/zorka+cbor+v1", f"X-Zorka-Session-Id: {self.session}",
                      f"X-Zorka-Session-Reset: {'true' if self.is_new else 'false'}", *more]
        self.is_new = False
        self.put(f"agent_submit_{kind}", body, head_lines)

    def trace(self, trace_id, body):
        symbols = self.agent.take()
        if symbols:
            self.submit("agd", symbols)
        self.submit("trc", body, f"X-Zorka-Trace-Id: {trace_id}")

    def zipkin(self, trace_id, call):
        span = call.span
        tags = {k: v for k, v in call.attributes.items() if k.startswith(("db.", "http."))}
        found = {"traceId": trace_id, "duration": (call.end_ns - call.start_ns) // 1000,
                 "localEndpoint": {"ipv4": "127.0.0.1", "serviceName": "testhost.shop"},
                 "kind": "SERVER" if span.kind == "http" else "PRODUCER", "name": span.kind, "id": f"{span.id:016x}",
                 "timestamp": span.clock_ms * 1000, "tags": tags}
        if span.parent is not None:
            found["parentId"] = f"{span.parent:016x}"
        self.put("api_v2_spans", json.dumps([found], separators=(",", ":")).encode(), ["Content-Type: application/json"])


def has_failure(call):
    return any(c.exception for c in call.walk())


def write_wire(folder):
    """Returns how many traces, that is, requests with one, and calls each capture has."""
    counts = {}

    def capture(name, agent, session, trace, with_zipkin=False):
        files = Capture(folder / name, agent, session)
        traces = calls = 0
        for trace_id, root in Shop().traces:
            for call in reversed(spans_of(root)):  # the inner one ends first, and is sent first
                files.trace(*trace(agent, trace_id, root, call))
                if with_zipkin:
                    files.zipkin(trace_id, call)
                traces, calls = traces + 1, calls + sum(1 for _ in call.walk())
        counts[name] = (traces, calls)

    capture("wire/ltracer", AgentC(), "1952c15e9d8e0332",
            lambda agent, trace_id, root, call: (trace_id, agent.call(call, has_failure(root))), True)
    capture("wire/v1907-local", AgentB(), "d183079236b104d3",
            lambda agent, trace_id, root, call: (trace_id, agent.call(call, root.start_ns)))
    # Without traces across processes each span has an id of its own, and is sent once more inside of its caller.
    capture("wire-nested-not-distributed", AgentC(), "732226a2d2150955",
            lambda agent, trace_id, root, call: (hex_id(f"{trace_id} {call.name}", 32),
                                                 agent.call(alone(call), has_failure(call), 0 if call is root else SENT)))
    (folder / "facts").write_text("".join(f"{name} {t} {c}\n" for name, (t, c) in counts.items()))


def alone(call):
    """The call as it is sent on its own: spans inside of it have other ids."""
    result = Call(call.name, call.start_ns)
    result.end_ns, result.attributes, result.exception = call.end_ns, call.attributes, call.exception
    result.children = [alone(child) for child in call.children]
    if call.span:
        result.span = Span(call.span.kind, call.span.clock_ms, int(hex_id(f"{id_of(call)} alone", 16), 16), None)
    return result


def id_of(call):
    return f"{call.span.id:016x}"


# Stores of the Java library.

def base64(value):
    digits = chr(48 + value % 64)
    while value >= 64:
        value //= 64
        digits = chr(48 + value % 64) + digits
    return digits.encode()


class Words:
    """The dictionary of a store: every text, pair, method and exception is a word with a number."""

    def __init__(self):
        self.list, self.numbers = [], {}

    def add(self, word):
        if word not in self.numbers:
            self.list.append(word)
            self.numbers[word] = len(self.list)
        return self.numbers[word]

    def plain(self, value):
        return self.add(value.encode())

    def typed(self, kind, value):
        return self.add(bytes((kind,)) + value.encode() + bytes((kind,)))

    def joined(self, kind, *parts):
        mark = bytes((kind,))
        return self.add(mark + mark.join(map(base64, parts)) + mark)

    def method(self, name):
        owner, method, signature = METHODS[name]
        return self.joined(11, self.typed(5, PACKAGE + owner), self.typed(6, method), self.typed(8, signature))

    def failure(self, e):
        items = [self.joined(14, self.typed(5, PACKAGE + owner), self.typed(6, method), self.plain(f"{owner}.java"), line)
                 for owner, method, line in e.stack]
        return self.joined(12, self.typed(5, e.kind), self.plain(e.message), self.joined(13, *items), 0)

    def records(self):
        """As they are in a log: number 01 text 02 number 03, with bytes below 4 and 255 escaped."""
        for i, word in enumerate(self.list, 1):
            escaped = b"".join(b"\xff" + bytes((8 if b == 255 else b + 4,)) if b < 4 or b == 255 else bytes((b,))
                               for b in word)
            yield base64(i) + b"\1" + escaped + b"\2" + base64(i) + b"\3"


def java_type(code):
    """One type of a signature, in Java, and what follows."""
    simple = {"V": "void", "I": "int", "J": "long", "Z": "boolean"}
    if code[0] == "L":
        name, rest = code[1:].split(";", 1)
        return name.rsplit("/", 1)[-1], rest
    return simple[code[0]], code[1:]


def method_text(name):
    owner, method, signature = METHODS[name]
    inside, result = signature[1:].split(")")
    parameters = []
    while inside:
        one, inside = java_type(inside)
        parameters.append(one)
    return f"{java_type(result)[0]} {PACKAGE}{owner}.{method}({', '.join(parameters)})"


class StoredTrace:
    """A chunk of traces.dat, and the text of it."""

    def __init__(self, words, root, generation):
        self.words, self.generation, self.root = words, generation, root
        self.data, self.texts, self.offsets = b"", {}, {}
        self.put(root, root.start_ns, 1)

    def info(self, key, value):
        self.data += tag(14, head(5, 1) + number(key) + value)

    def put(self, c, base, depth):
        offset = len(self.data)
        self.offsets[c] = offset
        begin, end = ticks(c, base)
        method = self.words.method(c.name)
        lines = []
        self.data += tag(8, BEGIN)
        self.info(12, number(begin))
        self.info(14, number(method))
        extra = ""
        if c.span and (self.generation == "B" or c is self.root):
            self.info(5, number(c.span.clock_ms))
            if self.generation == "A":
                self.info(7, number(self.words.plain(c.span.kind)))
            else:
                self.info(18, signed(c.span.id))
                if c.span.parent is not None:
                    self.info(17, signed(c.span.parent))
                extra = f" BEGIN tstamp={c.span.clock_ms} span={c.span.id:016x} parent={c.span.parent or 0:016x}"
        if c.exception:
            self.info(11, number(8))
        attributes = dict(c.attributes)
        if self.generation == "A" and "http.status" in attributes:
            attributes["http.status"] = int(attributes["http.status"])
        if attributes:
            self.data += tag(9, head(5, len(attributes)))
            for key, value in attributes.items():
                found = number(value) if isinstance(value, int) else tag(6, number(self.words.plain(value)))
                self.data += tag(6, number(self.words.plain(key))) + found
        lines.append(f"@{offset} [{begin}..{end}] dur={end - begin} calls={c.calls()} flags=0x{8 if c.exception else 0:x} "
                     f"mid={method} {method_text(c.name)}{extra}")
        for key in sorted(attributes):
            value = attributes[key]
            shown = str(value) if isinstance(value, int) else f'"{value}" #{self.words.plain(value)}'
            lines.append(f"  A {key} = {shown}")
        failure_lines = []
        if c.exception:
            e, at = c.exception, self.words.failure(c.exception)
            failure_lines.append(f"  E #{at} {e.kind}: {e.message}")
            failure_lines += [f"    at {PACKAGE}{owner}.{method_}({owner}.java:{line})" for owner, method_, line in e.stack]
        self.texts[c] = lines + failure_lines
        for child in c.children:
            self.put(child, base, depth + 1)
        if c.exception:
            self.data += tag(35, number(self.words.failure(c.exception)))
        self.info(13, number(end))
        self.info(9, number(c.calls()))
        self.data += END

    def text_of(self, c, indent=2):
        lines = [" " * indent + line for line in self.texts[c]]
        for child in c.children:
            lines += self.text_of(child, indent + 2)
        return lines


def compressed(data):
    """Raw deflate that is flushed and never finished."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH)


def data_file(chunks):
    """The file, and where each chunk begins in it."""
    data, places = b"ZTS0" + struct.pack(">III", 0x11, 0, 0), []
    for chunk in chunks:
        packed = compressed(chunk)
        places.append(len(data))
        data += b"ZCH0" + struct.pack(">III", len(packed), len(chunk), zlib.crc32(packed)) + packed
    return data, places


def transformed(data):
    """Burrows-Wheeler transform of bytes that end with their only zero, and the row of the text itself."""
    rank, step = list(data), 1
    order = sorted(range(len(data)), key=rank.__getitem__)
    while True:
        def key(i):
            return rank[i], rank[i + step] if i + step < len(data) else -1

        order.sort(key=key)
        fresh = [0] * len(data)
        for before, after in zip(order, order[1:]):
            fresh[after] = fresh[before] + (key(before) != key(after))
        rank, step = fresh, 2 * step
        if rank[order[-1]] == len(data) - 1:
            return bytes(data[i - 1] for i in order), rank[0]


BLOCK, RUN = 1024, 270


def index_blocks(data):
    """Blocks of a transform: (first, end, whether it is a run of one byte)."""
    begin = at = 0
    while at < len(data):
        run = 1
        while at + run < len(data) and data[at + run] == data[at] and run < 1 << 16:
            run += 1
        if run >= RUN:
            if at > begin:
                yield begin, at, False
            yield at, at + run, True
            begin = at = at + run
            continue
        if at + 1 - begin >= BLOCK:
            yield begin, at + 1, False
            begin = at + 1
        at += 1
    if at > begin:
        yield begin, at, False


def literals(data):
    """A block of LZ4 that copies nothing."""
    if len(data) < 15:
        return bytes((len(data) << 4,)) + data
    more = len(data) - 15
    return b"\xf0" + b"\xff" * (more // 255) + bytes((more % 255,)) + data


def index_file(words):
    """A dictionary that was compressed: a full-text index."""
    records = list(words.records())
    source = b"\3" + b"".join(reversed(records)) + b"\0"
    data, row = transformed(source)
    blocks = list(index_blocks(data))
    at = 1056 + 14 * len(blocks)
    descriptors, bodies = b"", b""
    for begin, end, is_run in blocks:
        if is_run:
            descriptors += struct.pack("<IIIBB", at + len(bodies), begin, data[:begin].count(data[begin]), data[begin], 0)
            continue
        piece = data[begin:end]
        chars = sorted(set(piece))
        is_packed = begin // BLOCK % 2  # LZ4 of nothing but literals
        body = literals(piece) if is_packed else piece
        descriptors += struct.pack("<IIIBB", at + len(bodies), begin, zlib.crc32(body), len(chars), 3 if is_packed else 1)
        bodies += bytes(chars) + b"".join(struct.pack("<i", data[:begin].count(c)) for c in chars) + bytes(2 * len(chars))
        bodies += body
    smaller, ranks = 0, []
    for c in range(256):
        ranks.append(smaller)
        smaller += data.count(c)
    front = struct.pack("<IIIIQII", 0x5A464D30, len(blocks), len(data), len(records), 1, 0, row)
    front += struct.pack("<256I", *ranks) + descriptors
    check = zlib.crc32(front)
    return front[:24] + struct.pack("<I", check) + front[28:] + bodies


def log_file(words, size=4 << 20):
    return (b"WAL\3" + b"".join(words.records())).ljust(size, b"\0")


def write_release(folder):
    """The store of the last release: archived, its dictionary compressed."""
    segment = folder / "store-1906-synth-archived" / "000000"
    segment.mkdir(parents=True)
    words = Words()
    stored = [(trace_id, StoredTrace(words, root, "A")) for trace_id, root in Shop(30).traces]
    for i in range(600):  # words of traces that are gone
        words.plain(f"session of customer {i:05}")
    data, places = data_file([s.data for _, s in stored])
    slots, lines = b"", []
    for slot, ((trace_id, s), place) in enumerate(zip(stored, places)):
        root = s.root
        records = sum(1 for _ in root.walk())
        errors = sum(bool(c.exception) for c in root.walk())
        seconds, method = root.span.clock_ms // 1000, words.method(root.name)
        duration = (root.end_ns - root.start_ns) // 10**9
        kind = words.plain(root.span.kind)
        slots += struct.pack(">II", 0, seconds) + struct.pack(">HHHBB", 0, 0, kind, errors & 255, 0x60)
        slots += struct.pack(">Q", place) + struct.pack(">HHI", 1, duration, method) + struct.pack(">II", 3, 2)
        slots += (records << 40 | (errors >> 8) << 32 | root.calls()).to_bytes(8, "big")
        slots += bytes.fromhex(trace_id) + bytes(32)
        uuid = "-".join((trace_id[:8], trace_id[8:12], trace_id[12:16], trace_id[16:20], trace_id[20:]))
        lines.append(f"TRACE {uuid} chunkId=0x{slot:x} slot={slot} tstamp_s={seconds} dur_s={duration} flags=0x60 "
                     f"type={kind} app=0 env=0 host=1 chnum=0 dataOffs={place} startOffs=0 method={method} desc=0 "
                     f"calls={root.calls()} errors={errors} recs={records}")
        lines += s.text_of(root)
    (segment / "traces.dat").write_bytes(data)
    (segment / "qmeta.idx").write_bytes((b"MQI0" + struct.pack(">I", 64 + len(slots))).ljust(64, b"\0") + slots)
    (segment / f"text-00000001-{len(words.list):08x}.fmi").write_bytes(index_file(words))
    (segment / "store.props").write_text("#ZicoDB store properties\nstore.meta.wal-num=1\nstore.text.wal-num=1\n"
                                         "store.meta.wal-size=128\nstore.dflags=0\nstore.iflags=1\nstore.text.wal-size=128\n")
    (folder / "store-1906-synth-archived.dump.txt").write_text("\n".join(lines) + "\n")


def write_head(folder):
    """The store of the last source: the dictionary is a log, ids are in a database of its own kind."""
    segment = folder / "store-head-agent-local" / "000000"
    segment.mkdir(parents=True)
    words = Words()
    chunks = [(trace_id, StoredTrace(words, call, "B"))
              for trace_id, root in Shop(8).traces for call in reversed(spans_of(root))]
    data, places = data_file([s.data for _, s in chunks])
    lines = []
    for (trace_id, s), place in zip(chunks, places):
        for call in s.root.walk():
            if not call.span:
                continue
            begin, end = ticks(call, s.root.start_ns)
            records = sum(1 for _ in call.walk())
            parent = f"{call.span.parent:016x}" if call.span.parent is not None else "null"
            lines.append(f"TRACE {trace_id} span={call.span.id:016x} parent={parent} chunk=0 "
                         f"tstamp={call.span.clock_ms * 1000000} dur_ns={(end - begin) * TICK} flags=0x60 "
                         f"dataOffs={place} startOffs={s.offsets[call]} calls={call.calls()} recs={records}")
            lines.append("  attrs={}")
            lines += s.text_of(call)
    (segment / "traces.dat").write_bytes(data)
    (segment / "text-00000001.wal").write_bytes(log_file(words))
    (segment / "meta.db").write_bytes(b"")
    (folder / "store-head-agent-local.dump.txt").write_text("\n".join(lines) + "\n")


def write(folder):
    folder = pathlib.Path(folder)
    write_wire(folder)
    write_release(folder)
    write_head(folder)
