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


class Waits:
    """perf.data of a program whose threads wait, as `cairn sample --off-cpu` writes it: samples of the clock and of
    switches, records of switches, and wake-ups. Times are in milliseconds; functions are named by the file itself."""
    CLOCK, SWITCHES, WAKINGS = 1, 2, 3
    COMM, EXIT, FORK, SAMPLE, FRAME, SWITCH, ATTRIBUTE, UPDATE = 3, 4, 7, 9, 65, 14, 64, 78
    IN_HARDWARE, IN_SOFTWARE = 8, 16

    def __init__(self, has_wakeups=True, has_switches=True, has_locks=False):
        self.has_switches = has_switches
        self.has_locks = has_locks  # samples of switches have the first argument of a system call, of x86_64 or aarch64
        self.frames, self.data = {}, b""
        self.late = 0  # from now on, everything is that many milliseconds later
        kinds = 1 << 16 | IP | TID | TIME | 1 << 7 | PERIOD | CALLCHAIN
        self.event(self.CLOCK, 1, 0, kinds, "cpu-clock")
        if has_switches:
            self.event(self.SWITCHES, 1, 3, kinds | (1 << 12 if has_locks else 0), "context-switches")
        if has_wakeups:
            self.event(self.WAKINGS, 2, 375, kinds | 1 << 10, "sched:sched_waking")

    def event(self, number, kind, config, kinds, name):
        flags = 1 << 18 | (1 << 26 if self.has_switches else 0)  # sample ids in all records, switches
        attributes = struct.pack("<IIQQQQQ", kind, 128, config, 1_000_000, kinds, 0, flags).ljust(80, b"\0")
        attributes = (attributes + struct.pack("<Q", 1 << 0 | 1 << 5 if kinds & 1 << 12 else 0)).ljust(128, b"\0")
        self.data += perf_record(self.ATTRIBUTE, 0, attributes + struct.pack("<Q", number))
        self.data += perf_record(self.UPDATE, 0, struct.pack("<QQ", 2, number) + name.encode() + b"\0")

    def ns(self, at):
        return round(1_000_000 * (at + self.late))

    def add(self, kind, misc, task, at, body, cpu=0):
        ids = struct.pack("<IIQIIQ", *task, self.ns(at), cpu, 0, self.CLOCK)
        self.data += perf_record(kind, misc, body, ids)

    def address(self, name):
        """Functions of libraries are written as /lib/NAME."""
        if name not in self.frames:
            self.frames[name] = (1 << 60) + (1 << 40) + 16 * len(self.frames) + 8
            file = "/usr/lib/python3/dist-packages/lib/sys.py" if name.startswith("/lib/") else "/srv/demo/app.py"
            texts = f"{name.removeprefix('/lib/')}\0{file}\0".encode()
            self.data += perf_record(self.FRAME, 0, struct.pack("<QQII", 0x656D61724672436E, self.frames[name], 1, 1) + texts)
        return self.frames[name]

    def sample(self, event, task, at, stack, raw=b"", cpu=0, registers=b""):
        """A stack from the outermost function on."""
        chain = [USER_MARK] + [self.address(name) for name in reversed(stack.split())]
        body = struct.pack("<QQIIQIIQQ", event, chain[1], *task, self.ns(at), cpu, 0, 1_000_000, len(chain))
        body += struct.pack(f"<{len(chain)}Q", *chain) + (struct.pack("<I", len(raw)) + raw if raw else b"")
        self.data += perf_record(self.SAMPLE, 2, body + registers)

    def name(self, task, at, name):
        self.add(self.COMM, 0, task, at, struct.pack("<II", *task) + name.encode() + b"\0")

    def start(self, parent, task, at):
        body = struct.pack("<IIIIQ", task[0], parent[0], task[1], parent[1], self.ns(at))
        self.add(self.FORK, 0, parent, at, body)

    def end(self, task, at):
        body = struct.pack("<IIIIQ", task[0], task[0], task[1], task[1], self.ns(at))
        self.add(self.EXIT, 0, task, at, body)

    def stop(self, task, at, stack, is_preempted=False, futex=0):
        self.sample(self.SWITCHES, task, at, stack, registers=struct.pack("<QQQ", 2, futex, futex) if self.has_locks else b"")
        self.add(self.SWITCH, 1 << 13 | (1 << 14 if is_preempted else 0), task, at, b"")

    def run(self, task, at):
        self.add(self.SWITCH, 0, task, at, b"")

    def work(self, task, begin, end, stack):
        for at in range(begin, end):
            self.sample(self.CLOCK, task, at + 0.5, stack)

    def wake(self, by, woken, at, stack, flags=0):
        raw = struct.pack("<HBBi", 375, flags, 0, by[1]) + b"app".ljust(16, b"\0") + struct.pack("<iii", woken[1], 120, 0)
        self.sample(self.WAKINGS, by, at, stack, raw.ljust(36, b"\0"))

    def bytes(self):
        return b"PERFILE2" + struct.pack("<Q", 16) + self.data


class Io(Waits):
    """perf.data of a program that reads and writes, as `cairn sample --io` writes it."""
    ENTER, LEAVE, REQUEST, COMPLETE, MINOR, MAJOR, MAPPING, FEATURE = 2, 3, 4, 5, 6, 7, 1, 80
    NUMBERS = {"read": 0, "write": 1, "close": 3, "poll": 7, "mremap": 25, "connect": 42, "fsync": 74, "openat": 257}  # of x86_64
    ARGUMENT, DESCRIPTOR, DIRECTORY, PAGE = 1, 2, 3, 5

    def __init__(self):
        self.has_switches = self.has_locks = False
        self.frames, self.data, self.late = {}, b"", 0
        kinds = 1 << 16 | IP | TID | TIME | 1 << 7 | PERIOD | CALLCHAIN
        self.event(self.CLOCK, 1, 0, kinds, "cpu-clock")
        self.event(self.ENTER, 2, 401, kinds | 1 << 10, "raw_syscalls:sys_enter")
        self.event(self.LEAVE, 2, 402, kinds | 1 << 10, "raw_syscalls:sys_exit")
        self.event(self.REQUEST, 2, 403, kinds | 1 << 10, "block:block_rq_issue")
        self.event(self.COMPLETE, 2, 404, kinds | 1 << 10, "block:block_rq_complete")
        self.data += perf_record(self.FEATURE, 0, struct.pack("<QI", 6, 8) + b"x86_64\0\0")

    def enter(self, task, at, stack, name, *arguments):
        values = [value % (1 << 64) for value in arguments] + [0] * (6 - len(arguments))
        raw = struct.pack("<HBBiq6Q", 401, 0, 0, task[1], self.NUMBERS[name], *values)
        self.sample(self.ENTER, task, at, stack, raw + bytes(4))

    def leave(self, task, at, name, result):
        self.sample(self.LEAVE, task, at, "main", struct.pack("<HBBiqq", 402, 0, 0, task[1], self.NUMBERS[name], result) + bytes(4))

    def mapping(self, task, at, begin, size, path):
        self.add(self.MAPPING, 2 | 1 << 13, task, at, struct.pack("<IIQQQ", *task, begin, size, 0) + path.encode().ljust(32, b"\0"))

    def fault(self, event, task, at, stack, address, period=1):
        chain = [USER_MARK] + [self.address(name) for name in reversed(stack.split())]
        body = struct.pack("<QQIIQQIIQQ", event, chain[1], *task, self.ns(at), address, 0, 0, period, len(chain))
        self.data += perf_record(self.SAMPLE, 2, body + struct.pack(f"<{len(chain)}Q", *chain))

    def call(self, task, begin, end, stack, name, result, *arguments, argument=None):
        self.enter(task, begin, stack, name, *arguments)
        if argument:
            self.file_name(task, (begin + end) / 2, self.ARGUMENT, argument)
        self.leave(task, end, name, result)

    def request(self, task, begin, end, stack, sector, size, letters):
        """The end is in a thread of another program."""
        raw = struct.pack("<QQQIIH10s", 403, 253 << 20, sector, size // 512, size, 0, letters).ljust(60, b"\0")
        self.sample(self.REQUEST, task, begin, stack, raw)
        if end:
            self.sample(self.COMPLETE, (9, 9), end, "main", struct.pack("<QQQIIH10s", 404, 253 << 20, sector, size // 512, 0, 0, letters).ljust(60, b"\0"))

    def file_name(self, task, at, kind, text, descriptor=0):
        body = struct.pack("<QQQIIIIII", 0x73656C6946704E43, self.ns(at), self.ns(at), *task, kind, descriptor, 0, 0)
        self.data += perf_record(self.FRAME, 0, body + text.encode() + b"\0")


def faults():
    """Main reads a table that it has mapped, and fills memory, which it moves; of the accesses to that, some were sampled. A
    worker asks the disk outside of recorded calls, where it accesses no page, and then for a page."""
    w = Io()
    kinds = 1 << 16 | IP | TID | TIME | 1 << 3 | 1 << 7 | PERIOD | CALLCHAIN
    w.event(w.MINOR, 1, 5, kinds, "minor-faults")
    w.event(w.MAJOR, 1, 6, kinds, "major-faults")
    main, worker = (80, 80), (80, 81)
    w.name(main, 0, "app")
    w.start(main, worker, 0)
    w.name(worker, 0, "worker")
    w.mapping(main, 0, 0x7f0000000000, 0x100000, "/srv/demo/table.bin")
    w.mapping(main, 0, 0x7f1000000000, 0x100000, "//anon")
    w.mapping(main, 0, 0x7ffd00000000, 0x20000, "[stack]")
    w.work(main, 0, 20, "main lookup")
    for i in range(40):
        w.fault(w.MINOR, main, 1 + i / 4, "main lookup", 0x7f0000000000 + 4096 * i)
    w.fault(w.MINOR, main, 12, "main", 0x7ffd0001f000)
    for i in range(5):
        w.fault(w.MINOR, main, 13 + i / 4, "main fill", 0x7f1000000000 + 0x10000 * i, 100)
    w.call(main, 15, 15.25, "main fill", "mremap", 0x7f3000000000, 0x7f1000000000, 0x100000, 0x200000)
    w.fault(w.MINOR, main, 16, "main fill", 0x7f3000180000, 100)
    w.request(worker, 3, 4, "work submit", 500, 4096, b"R")
    w.request(worker, 5, 7, "work scan", 600, 8192, b"R")
    w.fault(w.MAJOR, worker, 7.25, "work scan", 0x7f0000080000)
    w.fault(w.MINOR, worker, 8, "work scan", 0x1000)
    w.work(worker, 3, 9, "work scan")
    w.end(main, 20)
    return w.bytes()


def io():
    """Main reads a configuration and asks a server; a worker writes a log to the disk. The ends of its last call and request were
    lost; a page fault of main asks the disk."""
    w = Io()
    main, worker, here = (70, 70), (70, 71), -100
    w.name(main, 0, "app")
    w.start(main, worker, 0)
    w.name(worker, 0, "worker")
    w.file_name(main, 0, w.DIRECTORY, "/srv/demo")
    w.file_name(main, 0, w.DESCRIPTOR, "/var/log/app.log", 5)
    w.work(main, 0, 2, "main setup")
    w.call(main, 2, 2.25, "main setup load", "openat", 3, here, 1, argument="app.conf")
    w.call(main, 2.5, 2.75, "main setup load", "read", 4096, 3, 1, 4096)
    w.call(main, 3, 3.5, "main setup load", "read", 904, 3, 1, 4096)
    w.call(main, 3.75, 4, "main setup load", "close", 0, 3)
    w.call(main, 4, 4.125, "main setup load", "openat", -2, here, 1, argument="./local.conf")
    w.call(main, 5, 9, "main ask", "connect", 0, 3, 1, 16, argument="10.0.0.7:5432")
    w.call(main, 10, 10.5, "main ask", "write", 120, 3, 1, 120)
    w.call(main, 10.5, 30.5, "main ask", "poll", 1, 1, 1, -1)
    w.call(main, 31, 31.5, "main ask", "read", 65536, 3, 1, 65536)
    for i in range(4):
        w.call(worker, 12 + 4 * i, 12.5 + 4 * i, "work log", "write", 1000, 5, 1, 1000)
        w.enter(worker, 13 + 4 * i, "work log flush", "fsync", 5)
        w.request(worker, 13.25 + 4 * i, 15 + 4 * i, "work log flush", 1000 + i, 4096, b"WS")
        w.request(worker, 15 + 4 * i, 15.25 + 4 * i if i < 3 else None, "work log flush", 0, 0, b"FF")
        w.leave(worker, 15.5 + 4 * i, "fsync", 0)
    w.call(worker, 29, 29.5, "work log", "write", 10, 8, 1, 10)
    w.enter(worker, 30, "work log", "write", 5, 1, 1000)
    w.file_name(main, 32, w.PAGE, "/srv/demo/report.bin")
    w.request(main, 32.25, 33, "main report", 77, 16384, b"RA")
    w.request(main, 33.25, 33.5, "main report", 78, 4096, b"R")
    w.work(main, 32, 34, "main report")
    w.end(main, 34)
    return w.bytes()


def waits(is_lost=False, has_wakeups=True, late=0):
    """A main thread that waits for a worker, a timer, a packet, the disk and a child, and is pre-empted. `is_lost`: the
    wake-up by the worker is missing. `late`: the worker takes so much longer."""
    w = Waits(has_wakeups)
    main, worker, child, other = (70, 70), (70, 71), (80, 80), (9, 9)
    wake = w.wake if has_wakeups else lambda *unused: None
    w.name(main, 0, "app")
    w.work(main, 0, 4, "main setup")
    w.start(main, worker, 4)
    w.run(worker, 5)
    w.name(worker, 5, "worker")
    w.stop(main, 6, "main take /lib/wait_for_item /lib/futex")
    w.work(worker, 5, 30 + late, "work compress")
    w.late = late
    if not is_lost:
        wake(worker, main, 30, "work put /lib/notify /lib/futex_wake")
    w.stop(worker, 31, "work put /lib/wait_for_room /lib/futex")
    w.run(main, 32)
    w.work(main, 32, 34, "main report")
    w.stop(main, 34, "main pause /lib/sleep /lib/do_nanosleep")
    wake(worker, main, 54, "work compress /lib/asm_sysvec_apic_timer_interrupt /lib/hrtimer_wakeup", w.IN_HARDWARE)
    w.run(main, 54)
    w.work(main, 54, 56, "main report")
    w.stop(main, 56, "main report", is_preempted=True)
    w.run(main, 61)
    w.stop(main, 62, "main save /lib/fsync /lib/io_schedule")
    wake(other, main, 70, "/lib/kthread /lib/jbd2_done")
    w.run(main, 70)
    w.stop(main, 71, "main ask /lib/recv")
    wake(main, main, 74, "main ask /lib/asm_common_interrupt /lib/net_rx_action", w.IN_SOFTWARE)
    w.run(main, 74)
    w.start(main, child, 75)
    w.run(child, 76)
    w.name(child, 76, "sh")
    w.stop(main, 76, "main spawn /lib/waitpid /lib/do_wait")
    w.work(child, 76, 90, "script")
    w.end(child, 90)
    wake(child, main, 90, "/lib/do_exit")
    w.run(main, 91)
    w.work(main, 91, 95, "main report")
    wake(main, worker, 95, "main stop_all /lib/send /lib/do_syscall_64 /lib/net_rx_action", w.IN_SOFTWARE)
    w.run(worker, 95)
    w.stop(worker, 96, "work put /lib/wait_for_room /lib/futex")
    w.end(main, 96)
    w.add(w.COMM, 0, worker, 100, struct.pack("<II", 90, 90) + b"later\0")
    return w.bytes()


def locks():
    """A worker has a mutex that main waits for; then main has it, and the worker and a second one wait, one after the other. The
    second one also waits for a condition, whose two words are one lock."""
    w = Waits(has_locks=True)
    main, worker, second = (70, 70), (70, 71), (70, 72)
    mutex, condition = 0x55550000, 0x55550040
    lock, unlock = "take /lib/pthread_mutex_lock /lib/futex_wait", "take /lib/pthread_mutex_unlock /lib/futex_wake"
    w.name(main, 0, "app")
    w.start(main, worker, 1)
    w.run(worker, 1)
    w.name(worker, 1, "worker")
    w.start(main, second, 2)
    w.run(second, 2)
    w.name(second, 2, "second")
    w.work(worker, 2, 20, "work take compress")
    w.stop(main, 4, f"main {lock}", futex=mutex)
    w.stop(second, 5, "work await /lib/pthread_cond_wait /lib/futex_wait", futex=condition + 40)
    w.wake(worker, main, 20, f"work {unlock}")
    w.run(main, 20)
    w.stop(worker, 21, f"work {lock}", futex=mutex)
    w.wake(main, second, 22, "main take /lib/pthread_cond_signal /lib/futex_wake")
    w.run(second, 22)
    w.stop(second, 23, f"work {lock}", futex=mutex)
    w.work(main, 20, 30, "main take report")
    w.wake(main, worker, 30, f"main {unlock}")
    w.run(worker, 31)
    w.work(worker, 31, 40, "work take compress")
    w.wake(worker, second, 40, f"work {unlock}")
    w.run(second, 40)
    w.stop(second, 41, "work await /lib/pthread_cond_wait /lib/futex_wait", futex=condition + 44)
    w.wake(main, second, 44, "main take /lib/pthread_cond_signal /lib/futex_wake")
    w.run(second, 44)
    w.stop(main, 45, "main read /lib/recv", futex=mutex)
    w.work(worker, 41, 46, "work take compress")
    w.end(main, 46)
    return w.bytes()


def phases(has_switches=True, is_lost=False):
    """A main thread that runs alone for 10 ms, then beside a worker for 10 ms, waits 9 ms, and runs for 1 ms; the worker
    runs 4 ms longer than both. `is_lost`: records are lost."""
    w = Waits(has_wakeups=False, has_switches=has_switches)
    main, worker = (70, 70), (70, 71)
    w.name(main, 1, "app")
    w.work(main, 1, 11, "main serial")
    w.start(main, worker, 11)
    w.name(worker, 11, "worker")
    w.work(main, 11, 21, "main parallel")
    w.work(worker, 11, 21, "work parallel")
    if is_lost:
        w.add(2, 0, main, 15, struct.pack("<QQ", w.CLOCK, 3))
    if has_switches:
        w.stop(main, 21, "main wait")
    w.work(worker, 21, 25, "work finish")
    w.end(worker, 25)
    if has_switches:
        w.run(main, 30)
    w.work(main, 30, 31, "main report")
    w.end(main, 31)
    return w.bytes()


def write(folder):
    folder.mkdir(parents=True)
    for name, profile in profiles().items():
        (folder / name).write_bytes(gzip.compress(profile.bytes(), mtime=0))
    (folder / "concurrent-spans.otlp.json").write_text(json.dumps(otlp(), indent=1))
    (folder / "concurrent-spans.zipkin.json").write_text(json.dumps(zipkin(), indent=1))
    (folder / "sampled.perf.data").write_bytes(perf_data())
    (folder / "phases.perf.data").write_bytes(phases())
    (folder / "phases-lost.perf.data").write_bytes(phases(is_lost=True))
    (folder / "phases-without-switches.perf.data").write_bytes(phases(has_switches=False))
    (folder / "waits.perf.data").write_bytes(waits())
    (folder / "locks.perf.data").write_bytes(locks())
    (folder / "io.perf.data").write_bytes(io())
    (folder / "faults.perf.data").write_bytes(faults())
    (folder / "waits-lost.perf.data").write_bytes(waits(is_lost=True))
    (folder / "waits-slow.perf.data").write_bytes(waits(late=12))
    (folder / "waits-without-wakeups.perf.data").write_bytes(waits(has_wakeups=False))
