"""Measurement directories of hpcrun: what is in one, and its files, byte by byte.

Nothing here comes from the sources of cairn. hpcprof.py makes of a Measurement the database that hpcprof makes of its
directory.
"""
import lzma
import pathlib
import struct
from xml.sax.saxutils import quoteattr

from hpcdb import KINDS

# How the two ids of an element of an identity are meant.
BOTH, LOCAL, GLOBAL, LOGICAL = range(4)
PRIMARY, PARTIAL, MAIN, THREAD_ROOT, IDLE, UNKNOWN = "^Primary", "^Partial", "| Main  ", "| Thread", "NoActvty", "*Unnorm "
CALL_TRACE = 4
PAGE = 1024


def code_of(text):
    """The address of a special node: eight characters."""
    return int.from_bytes(text.encode(), "big")


class Metric:
    def __init__(self, name, description=None, is_integer=False, is_moved=False, period=1, show=1, has_percent=True,
                 formula="", format=""):
        self.name, self.description = name, description or name
        self.is_integer, self.is_moved, self.period = is_integer, is_moved, period
        self.show, self.has_percent, self.formula, self.format = show, has_percent, formula, format


class Profile:
    """nodes: (id, parent, module or None, address or special code); values: node -> {metric index: value}; trace: (time,
    node), or None where there is no file."""

    def __init__(self, thread, identity):
        self.thread, self.identity = thread, identity
        self.nodes, self.values, self.trace = [], {}, None
        self.trace_flags, self.disorder = 0, 0


class Paths:
    """Builds the nodes of a profile from call paths. Numbers are even; the leaf of a trace has an odd one."""

    def __init__(self, profile, first=12):
        self.profile, self.next = profile, first
        self.known = {}
        self.root = self.node(0, None, PRIMARY)

    def node(self, parent, module, where, is_leaf=False):
        key = (parent, module, where)
        if key not in self.known:
            number = self.next | is_leaf
            self.next += 2
            self.known[key] = number
            self.profile.nodes.append((number, parent, module, where))
        return self.known[key]

    def path(self, frames, is_leaf=False):
        """The node at the end of a path; a frame is a special code, or a module and an address."""
        at = self.root
        for i, frame in enumerate(frames):
            module, where = (None, frame) if isinstance(frame, str) else frame
            at = self.node(at, module, where, is_leaf and i == len(frames) - 1)
        return at

    def add(self, frames, metric, value):
        values = self.profile.values.setdefault(self.path(frames), {})
        values[metric] = values.get(metric, 0) + value


class Structure:
    """What hpcstruct says of a module. Elements are tuples; the last item of all but S and C is what they contain:
        ("F", path, [...]), ("P", name, line, entry, [...]), ("L", line, path, address, [...]),
        ("A", line, path, [...]), ("A", line, path, name, [...]) inside of the former,
        ("S", line, ranges), ("C", line, range, callee)."""

    def __init__(self, module, elements, has_calls=False):
        self.module, self.elements, self.has_calls = module, elements, has_calls
        self.count = 0

    def number(self):
        self.count += 1
        return self.count

    def element(self, e):
        tag, inside = e[0], e[-1] if isinstance(e[-1], list) and e[0] not in "SC" else []
        attributes = {"i": str(self.number())}
        if tag == "F":
            attributes["n"] = e[1]
        elif tag == "P":
            attributes |= {"n": e[1], "l": str(e[2]), "v": ranges_text([(e[3], e[3] + 1)])}
        elif tag == "L":
            attributes |= {"l": str(e[1]), "f": e[2], "v": ranges_text([(e[3], e[3] + 1)])}
        elif tag == "A":
            attributes |= {"l": str(e[1]), "f": e[2]} | ({"n": e[3]} if len(e) > 4 else {})
        elif tag == "S":
            attributes |= {"l": str(e[1]), "v": ranges_text(e[2])}
        elif tag == "C":
            attributes |= {"l": str(e[1]), "v": ranges_text([e[2]]), "t": f"0x{e[3]:x}", "d": "NVIDIA sm_80"}
        head = f"<{tag} " + " ".join(f"{k}={quoteattr(v)}" for k, v in attributes.items())
        if not inside:
            return head + "/>\n"
        return head + ">\n" + "".join(map(self.element, inside)) + f"</{tag}>\n"

    def text(self):
        self.count = 1
        return ('<?xml version="1.0"?>\n<!DOCTYPE HPCToolkitStructure [\n<!-- Version 4.9 -->\n]>\n'
                '<HPCToolkitStructure i="0" version="4.8" n="">\n'
                f'<LM i="1" n={quoteattr(self.module)} has-calls="{int(self.has_calls)}" v="{{}}">\n'
                + "".join(map(self.element, self.elements)) + "</LM>\n</HPCToolkitStructure>\n")


def ranges_text(ranges):
    return "{" + " ".join(f"[0x{low:x}-0x{high:x})" for low, high in ranges) + "}"


class Measurement:
    def __init__(self, program, host=0x11ac0300, process=5560):
        self.program, self.host, self.process = program, host, process
        self.modules, self.metrics, self.profiles, self.structures = [], [], [], []
        self.kernel_symbols = {}  # path -> lines

    def module(self, path):
        if path not in self.modules:
            self.modules.append(path)
        return path

    def profile(self, thread, identity):
        self.profiles.append(Profile(thread, identity))
        return self.profiles[-1]

    def stem(self, profile):
        return f"{self.program}-000000-{profile.thread:03}-{self.host:08x}-{self.process}-0"


def text(value):
    value = value.encode()
    return struct.pack(">I", len(value)) + value


def header(measurement, profile):
    times = [time for time, _ in profile.trace or []]
    pairs = {"program-name": measurement.program, "program-path": f"/srv/demo/{measurement.program}",
             "env-path": "/usr/bin", "job-id": "", "mpi-rank": "0", "thread-id": str(profile.thread),
             "host-id": f"{measurement.host:x}", "process-id": str(measurement.process),
             "trace-min-time": str(min(times, default=0)), "trace-max-time": str(max(times, default=0)),
             "trace-disorder": str(profile.disorder)}
    return b"HPCRUN-profile____04.00b" + struct.pack(">I", len(pairs)) + b"".join(
        text(name) + text(value) for name, value in pairs.items())


def load_map(measurement):
    return struct.pack(">I", len(measurement.modules)) + b"".join(
        struct.pack(">H", i) + text(path) + struct.pack(">Q", 1) for i, path in enumerate(measurement.modules, 1))


def tree(measurement, profile):
    data = struct.pack(">Q", len(profile.nodes))
    for number, parent, module, where in profile.nodes:
        where = code_of(where) if module is None else where
        data += struct.pack(">IIHQB", number, parent, measurement.modules.index(module) + 1 if module else 0, where, 1)
    return data


def metric_table(measurement):
    data = struct.pack(">I", len(measurement.metrics))
    for m in measurement.metrics:
        data += text(m.name) + text(m.description)
        data += bytes((2 if m.formula else 1, 0, 1 if m.is_integer else 2, m.is_moved, 0, 0, m.show, m.has_percent))
        data += bytes(8) + struct.pack(">Q", m.period) + text(m.formula) + text(m.format)
        data += struct.pack(">HHdQ", 0, 0, 0.0, 0)
    return data


def dictionary():
    return struct.pack(">H", len(KINDS)) + b"".join(struct.pack(">H", i) + text(name) for i, name in enumerate(KINDS))


def sparse_values(measurement, profile):
    data = struct.pack(">H", len(profile.identity))
    for kind, meaning, physical, logical in profile.identity:
        data += struct.pack(">HQQ", kind | meaning << 14, physical, logical)
    values, index = b"", b""
    for number, *_ in profile.nodes:
        if number in profile.values:
            index += struct.pack(">IQ", number, len(values) // 10)
            for metric in sorted(profile.values[number]):
                is_integer = measurement.metrics[metric].is_integer
                values += struct.pack(">QH" if is_integer else ">dH", profile.values[number][metric], metric)
    return (data + struct.pack(">QI", len(values) // 10, len(index) // 12) + values + index
            + struct.pack(">IQ", 0x656E6421, len(values) // 10))


def profile_file(measurement, profile):
    data, ends = b"", []
    for section in (header(measurement, profile), load_map(measurement), tree(measurement, profile),
                    metric_table(measurement), dictionary(), sparse_values(measurement, profile)):
        data += bytes(-len(data) % PAGE)
        ends += [len(data), len(data) + len(section)]
        data += section
    data += bytes(-len(data) % PAGE)
    return data + struct.pack(">14Q", *ends, len(data), 0x48504352554E736D)


def trace_file(profile):
    return b"HPCRUN-trace______01.01b" + struct.pack(">Q", profile.trace_flags) + b"".join(
        struct.pack(">QI", *record) for record in profile.trace)


def write(measurement, folder):
    folder = pathlib.Path(folder)
    (folder / "structs").mkdir(parents=True)
    for profile in measurement.profiles:
        (folder / f"{measurement.stem(profile)}.hpcrun").write_bytes(profile_file(measurement, profile))
        if profile.trace is not None:
            (folder / f"{measurement.stem(profile)}.hpctrace").write_bytes(trace_file(profile))
    for structure in measurement.structures:
        name = structure.module.rsplit("/", 1)[-1]
        (folder / "structs" / f"{name}.hpcstruct").write_text(structure.text())
    for path, lines in measurement.kernel_symbols.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(lzma.compress(lines.encode()))
