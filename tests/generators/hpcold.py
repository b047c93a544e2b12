"""Databases of HPCToolkit before 4.0: the binary prototype, experiment.xml 4.0 and 2.x, byte by byte.

Nothing here comes from the sources of cairn. All of these take a Database of hpcdb.py. Their metrics have the scopes
point, function and execution; numbers are big-endian.
"""
import pathlib
import struct
from xml.sax.saxutils import quoteattr

from hpcdb import (COMBINE, ENTRY, EXECUTION, FUNCTION, FUNCTION_SCOPE, INLINED, INSTRUCTION, KINDS, LINE, LOOP, POINT,
                   LEXICAL)

HEADER = 128
OLD_SCOPES = (POINT, FUNCTION_SCOPE, EXECUTION)
OLD_NAMES = ("point", "function", "execution")
UNKNOWN_PROCEDURE = "<unknown procedure>"
ROOTS = ("<partial call paths>", "<program root>", "<thread root>")


def padded(data, size=8):
    return data + bytes(-len(data) % size)


class OldValues:
    """Values of a database with the three scopes: ids are 3 * metric + scope, or those of the first writers."""

    def __init__(self, db, with_points, is_early=False, lines_are_leaves=False):
        self.db, self.with_points, self.is_early = db, with_points, is_early
        self.lines = {c.id for c in db.root.walk() if c.kind == LINE} if lines_are_leaves else set()
        self.profiles = [self.of(p.values, False) for p in db.profiles]
        self.summary = self.of(db.summary, True)

    def of(self, values, is_summary):
        result = {}
        for context, found in values.items():
            row = {}
            for number, metric in enumerate(self.db.stored_metrics()):
                parts = range(len(metric.statistics) if is_summary else 1)
                for k in parts:
                    four = [found.get(metric.base + 4 * k + scope, 0) for scope in range(4)]
                    if context in self.lines:
                        four[EXECUTION] = four[FUNCTION_SCOPE]
                    for i, scope in enumerate(OLD_SCOPES):
                        if four[scope] and (i or self.with_points):
                            row[self.id_of(number, metric, i, k, is_summary)] = four[scope]
            if row:
                result[context] = row
        return result

    def id_of(self, number, metric, scope, partial, is_summary):
        base = 3 * sum(len(m.statistics) for m in self.db.stored_metrics()[:number])
        if self.is_early:
            return (3 * number + scope << 8) + partial if is_summary else 3 * number + scope
        return base + (3 * partial if is_summary else 0) + scope


def identity(elements):
    """Bits 14 and 15 of the kind say how the ids are meant: both, or the logical one only."""
    return struct.pack(">H", len(elements)) + b"".join(
        struct.pack(">HQQ", kind | (0 if is_physical else 3 << 14), physical, logical)
        for kind, is_physical, logical, physical in elements)


def profile_file(values, footer=b"tfBDFORP"):
    tuples = [identity([(0, True, 0, 0)])] + [identity(p.identity) for p in values.db.profiles]
    count = len(tuples)
    infos_end = HEADER + len(padded(bytes(52 * count)))
    block_begin = infos_end + len(padded(b"".join(tuples)))
    blocks, infos, at = b"", [], block_begin
    for profile in [*values.profiles, values.summary]:  # the summary is last in the file, first in the list
        pairs, index = b"", b""
        for context in sorted(profile):
            index += struct.pack(">IQ", context, len(pairs) // 10)
            pairs += b"".join(struct.pack(">dH", value, metric) for metric, value in profile[context].items())
        index += struct.pack(">IQ", 0x656E6421, len(pairs) // 10)
        infos.append((len(pairs) // 10, len(index) // 12 - 1, at))
        blocks += pairs + index
        at = block_begin + len(blocks)
    infos.insert(0, infos.pop())
    places = [infos_end + sum(map(len, tuples[:i])) for i in range(count)]
    head = b"HPCPROF-profdb__\1\0" + struct.pack(">IHQQQQ", count, 2, 52 * count, HEADER, sum(map(len, tuples)), infos_end)
    table = b"".join(struct.pack(">QQQQQIQ", place, 0, 0, 0, *info) for place, info in zip(places, infos))
    return head.ljust(HEADER, b"\0") + padded(table) + padded(b"".join(tuples)) + blocks + footer


def context_file(values, count, is_zeroed=False):
    planes = {}
    for number, profile in enumerate(values.profiles, 1):
        for context, row in profile.items():
            for metric, value in row.items():
                planes.setdefault(context, {}).setdefault(metric, []).append((value, number))
    begin = HEADER + len(padded(bytes(22 * count)))
    blocks, infos = b"", b""
    for context in range(count):
        pairs, index, found = b"", b"", planes.get(context, {})
        for metric in sorted(found):
            index += struct.pack(">HQ", metric, len(pairs) // 12)
            pairs += b"".join(struct.pack(">dI", *pair) for pair in found[metric])
        infos += struct.pack(">IQHQ", context, len(pairs) // 12, len(found), begin + len(blocks))
        blocks += pairs + index + struct.pack(">HQ", 0x6564, len(pairs) // 12) if found else b""
    if is_zeroed:
        blocks = bytes(len(blocks))
    head = b"HPCPROF-cctdb___\1\0" + struct.pack(">IHQQ", count, 1, 22 * count, HEADER)
    return head.ljust(HEADER, b"\0") + padded(infos) + blocks + b"rtfBDTCC"


def trace_file(db, idle, is_proto):
    """Idle times have a context of their own; there is no footer."""
    count = len(db.profiles)
    begin = HEADER + len(padded(bytes(22 * count)))
    lines, heads = b"", b""
    for number, profile in enumerate(db.profiles, 1):
        start = begin + len(lines)
        lines += b"".join(struct.pack(">QI", time, context or idle) for time, context in profile.samples)
        heads += struct.pack(">IHQQ", number, 0, start, begin + len(lines))
    head = b"HPCPROF-tracedb_" + bytes((4 if is_proto else 1, 0)) + struct.pack(">IHQQ", count, 1, 22 * count, HEADER)
    head += struct.pack(">QQ", *db.range_ns) if is_proto else b""
    table = padded(heads) if lines else heads
    return head.ljust(HEADER, b"\0") + table + lines


class Document:
    """experiment.xml 4.0."""

    def __init__(self, db, idle, is_early):
        self.db, self.idle, self.is_early = db, idle, is_early
        self.lines = []
        modules, files, functions = db.tables()
        self.modules = {path: i for i, path in enumerate(modules, 2)}
        self.files = {path: i for i, path in enumerate(files)}
        self.procedures = {}  # key -> (number, name, address, is fake)
        for function in functions:
            self.procedure(id(function), function.name, function.offset, function.module is None)

    def procedure(self, key, name, address=0, is_fake=False):
        return self.procedures.setdefault(key, (len(self.procedures) + 3, name, address, is_fake))[0]

    def put(self, tag, end, **attributes):
        text = " ".join(f"{name}={quoteattr(str(value))}" for name, value in attributes.items())
        self.lines.append(f"<{tag} {text}{end}")

    def close(self, tag):
        self.lines.append(f"</{tag}>")

    def metrics(self):
        values = OldValues(self.db, False, self.is_early)
        sides = (("inclusive", "I", 2), ("exclusive", "E", 1))
        shown = 0
        for number, m in enumerate(self.db.stored_metrics()):
            for k in range(len(m.statistics)):
                ids = {side: values.id_of(number, m, scope, k, True) for side, _, scope in sides}
                for side, letter, _ in sides:
                    other = ids["exclusive" if side == "inclusive" else "inclusive"]
                    self.metric(ids[side], f"{m.name}:PARTIAL:{k} ({letter})", m, side, other, 4, 0,
                                "combine", f"{m.statistics[k][1]}(${ids[side]}, ${ids[side]})")
            sums = m.statistics.index(("$$", "sum"))
            numbers = (-1 - shown, -2 - shown) if not self.is_early else (767, 511)
            shown += 2
            for (side, letter, scope), own, other in zip(sides, numbers, reversed(numbers)):
                self.metric(own, f"{m.name}:Sum ({letter})", m, side, other, 1, 1,
                            "view", f"${values.id_of(number, m, scope, sums, True)}")

    def metric(self, number, name, m, side, partner, show, percent, kind, formula):
        self.put("Metric", ">", i=number, o=number, n=name, md=m.description, v="derived-incr", t=side, partner=partner,
                 show=show, **{"show-percent": percent})
        self.put("MetricFormula", "/>", t=kind, frm=formula)
        self.lines.append('<Info><NV n="units" v="events"/></Info>')
        self.close("Metric")

    def database_metrics(self):
        values = OldValues(self.db, False, self.is_early)
        for number, m in enumerate(self.db.stored_metrics()):
            for letter, scope in (("I", 2), ("E", 1)):
                self.put("MetricDB", "/>", i=values.id_of(number, m, scope, 0, False), n=f"{m.name} ({letter})")

    def table(self, name, rows, tag):
        self.lines.append(f"<{name}>")
        for row in rows:
            self.put(tag, "/>", **row)
        self.close(name)

    UNKNOWN_FILE = 2147483647

    def frame(self, c):
        """A procedure frame of a function, of an entry point, or of an instruction that no function is known of."""
        if c.kind == ENTRY:
            number = self.procedure(("root", c.entry), ROOTS[c.entry], 0, True)
            self.put("PF", ">", i=c.id, n=number, s=number, f=self.UNKNOWN_FILE, l=0, lm=1)
            self.put("C", ">", i=-c.id, s=number, v=0, f=self.UNKNOWN_FILE, l=0, it=c.id)
            self.inside(c)
            self.close("C")
        elif c.kind == INSTRUCTION:
            module, offset = c.point
            name = f"<unknown procedure> 0x{offset:x} [{module.rsplit('/', 1)[-1]}]"
            number = self.procedure(("point", c.point), name, offset, True)
            self.put("PF", ">", i=c.id, n=number, s=number, l=0, f=self.UNKNOWN_FILE, lm=self.modules[module])
            self.put("C", ">", i=-c.id, s=number, f=self.UNKNOWN_FILE, l=0, v=f"0x{offset:x}", it=c.id)
            self.inside(c)
            self.close("C")
        elif not c.function:
            number = self.procedure("unknown", UNKNOWN_PROCEDURE, 0, True)
            self.put("PF", ">", i=c.id, n=number, s=number, l=0, f=self.UNKNOWN_FILE, lm=1)
            self.inside(c)
        else:
            function = c.function
            number = self.procedures[id(function)][0]
            self.put("PF", ">", i=c.id, s=number, n=number, v=f"0x{function.offset:x}",
                     f=self.files.get(function.file, self.UNKNOWN_FILE), l=function.line,
                     lm=self.modules.get(function.module, 1))
            self.inside(c)
        self.close("PF")

    def inside(self, c):
        for child in c.children:
            if child.kind == LINE:
                self.line(child)
            elif child.kind == LOOP:
                file, line = child.source
                self.put("L", ">", i=child.id, s=child.id, v=0, f=self.files[file], l=line)
                self.inside(child)
                self.close("L")
            elif child.is_left_out():  # of a function without lines
                self.site(c, child, self.UNKNOWN_FILE, 0)
            else:
                self.frame(child)

    def line(self, c):
        """A statement is a leaf; calls in it stand beside it."""
        file, line = self.files[c.source[0]], c.source[1]
        self.put("S", "/>", i=c.id, it=c.id, f=file, l=line, s=c.id, v=0)
        for child in c.children:
            if child.relation == INLINED:
                self.put("C", ">", i=-child.id, it=child.id, s=child.id, v=0, f=file, l=line)
                self.frame(child)
                self.close("C")
            else:
                self.site(c, child, file, line)

    def site(self, _, instruction, file, line):
        if instruction.children:
            self.put("C", ">", i=instruction.id, s=instruction.id, f=file, l=line, v=f"0x{instruction.point[1]:x}",
                     it=instruction.id)
            self.inside(instruction)
            self.close("C")

    def text(self):
        title = quoteattr(self.db.title)
        for entry in self.db.root.children:
            self.frame(entry)
        if not self.is_early:
            number = self.procedure("idle", "<no activity>", 0, True)
            self.put("PF", ">", i=self.idle, n=number, s=number, f=self.UNKNOWN_FILE, l=0, lm=1)
            self.put("S", "/>", i=-self.idle, s=number, v=0, f=self.UNKNOWN_FILE, l=0, it=self.idle)
            self.close("PF")
        tree, self.lines = self.lines, []
        self.lines += ['<?xml version="1.0"?>', '<HPCToolkitExperiment version="4.0">', f"<Header n={title}>", "<Info/>",
                       "</Header>", f'<SecCallPathProfile i="0" n={title}>', "<SecHeader>"]
        self.table("IdentifierNameTable", [{"i": i, "n": name} for i, name in enumerate(KINDS)], "Identifier")
        self.lines.append("<MetricTable>")
        self.metrics()
        self.lines += ["</MetricTable>", "<MetricDBTable>"]
        self.database_metrics()
        self.close("MetricDBTable")
        first, last = self.db.range_ns
        self.table("TraceDBTable", [{"i": 0, "db-min-time": first, "db-max-time": last, "u": 1000000000}]
                   if self.db.has_traces else [], "TraceDB")
        self.table("LoadModuleTable", [{"i": 0, "n": "<unknown module>"}, {"i": 1, "n": "<no module>"}]
                   + [{"i": i, "n": path} for path, i in self.modules.items()], "LoadModule")
        self.table("FileTable", [{"i": self.UNKNOWN_FILE, "n": "<unknown file>"}]
                   + [{"i": i, "n": ("./src" if is_copied else "") + path} for (path, is_copied), i in self.files.items()],
                   "File")
        self.table("ProcedureTable", [{"i": i, "n": name, "v": f"0x{at:x}" if at else 0, **({"f": 1} if is_fake else {})}
                                      for i, name, at, is_fake in self.procedures.values()], "Procedure")
        self.lines += ["<Info/>", "</SecHeader>", "<SecCallPathProfileData>", *tree, "</SecCallPathProfileData>",
                       "</SecCallPathProfile>", "</HPCToolkitExperiment>", ""]
        return "\n".join(self.lines)


def write_xml(db, folder, is_early=False, is_zeroed=False):
    """is_early: with the ids of metrics that were used until November 2021. is_zeroed: cct.db as a writer left it that
    did not write its values."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    idle = db.context_count
    values = OldValues(db, False, is_early, lines_are_leaves=True)
    (folder / "experiment.xml").write_text(Document(db, idle, is_early).text())
    (folder / "profile.db").write_bytes(profile_file(values))
    (folder / "cct.db").write_bytes(context_file(values, db.context_count + 1, is_zeroed))
    (folder / "trace.db").write_bytes(trace_file(db, idle, False))


class Prototype:
    """The prototype's meta.db: records without gaps, sections at multiples of 16."""

    def __init__(self, db):
        self.db = db
        self.data = bytearray()

    def section(self):
        self.data += bytes(-len(self.data) % 16)
        return len(self.data)

    def metrics(self):
        stored = self.db.stored_metrics()
        data, base = struct.pack(">I", len(stored)), 0
        for m in stored:
            data += struct.pack(">H", len(OLD_NAMES)) + m.name.encode() + b"\0"
            for scope, name in enumerate(OLD_NAMES):
                data += struct.pack(">HH", base + scope, len(m.statistics)) + name.encode() + b"\0"
                for k, (formula, combine) in enumerate(m.statistics):
                    data += struct.pack(">HB", base + 3 * k + scope, COMBINE[combine]) + formula.encode() + b"\0"
            base += 3 * len(m.statistics)
        return data

    def node(self, c, block):
        at, size = block
        callee = b"" if c.relation == LEXICAL or c.parent is self.db.root else struct.pack(
            ">BB", 1 if c.relation == INLINED else 0, 0)
        if callee and c.parent.source and c.parent.kind == LINE:
            file, line = c.parent.source
            callee = struct.pack(">BBQI", callee[0], 1, self.files[file], line)
        flags = (1 if c.function else 0) | (2 if c.source else 0) | (4 if c.point else 0) | (8 if c.kind == LINE else 0)
        lexical = struct.pack(">BH", max(c.kind, 0), flags)
        lexical += struct.pack(">Q", self.functions[id(c.function)]) if c.function else b""
        lexical += struct.pack(">QI", self.files[c.source[0]], c.source[1]) if c.source else b""
        lexical += struct.pack(">QQ", self.modules[c.point[0]], c.point[1]) if c.point else b""
        return struct.pack(">IQQBB", c.id, at, size, len(callee), len(lexical)) + callee + lexical

    def block(self, contexts):
        """A block of siblings, after those of their children: where, and how long."""
        if not contexts:
            return 0, 0
        blocks = [self.block(c.children) for c in contexts]
        at = len(self.data)
        for c, block in zip(contexts, blocks):
            self.data += self.node(c, block)
        return at, len(self.data) - at

    def table(self, records, size):
        begin = self.section()
        self.data += struct.pack(">IH", len(records), size)
        places = []
        for record in records:
            places.append(len(self.data))
            self.data += record
        return (len(self.data) - begin, begin), places

    def bytes(self):
        from hpcdb import Function

        modules, files, functions = self.db.tables()
        for entry in self.db.root.children:  # entry points are functions
            entry.function = Function(ROOTS[entry.entry])
            functions.append(entry.function)
        self.data += bytes(24 + 7 * 16)
        begin = self.section()
        self.data += self.db.title.encode() + b"\0" + struct.pack(">H", len(KINDS))
        self.data += b"".join(name.encode() + b"\0" for name in KINDS)
        general = (len(self.data) - begin, begin)
        begin = self.section()
        self.data += self.metrics()
        metrics = (len(self.data) - begin, begin)
        begin = self.section()
        texts = {}
        for text in dict.fromkeys(modules + [path for path, _ in files] + [f.name for f in functions]):
            texts[text] = len(self.data)
            self.data += text.encode() + b"\0"
        strings = (len(self.data) - begin, begin)
        module_table, places = self.table([struct.pack(">IQ", 0, texts[m]) for m in modules], 12)
        self.modules = dict(zip(modules, places))
        file_table, places = self.table([struct.pack(">IQ", is_copied, texts[p]) for p, is_copied in files], 12)
        self.files = dict(zip(files, places))
        function_table, places = self.table([struct.pack(
            ">IQQQQI", 0, texts[f.name], self.modules.get(f.module, 0), f.offset if f.module else 2**64 - 1,
            self.files.get(f.file, 0), f.line) for f in functions], 40)
        self.functions = {id(f): at for f, at in zip(functions, places)}
        begin = self.section()
        # The roots come first, their blocks are behind them: nodes have the same length whatever they point to.
        roots = self.db.root.children
        size = sum(len(self.node(c, (0, 0))) for c in roots)
        self.data += struct.pack(">Q", size) + bytes(size)
        blocks = [self.block(c.children) for c in roots]
        self.data[begin + 8:begin + 8 + size] = b"".join(self.node(c, b) for c, b in zip(roots, blocks))
        contexts = (len(self.data) - begin, begin)
        head = b"HPCTOOLKIT_expmt\4\0" + struct.pack(">H4x", 7)
        for section in (general, metrics, contexts, strings, module_table, file_table, function_table):
            head += struct.pack(">QQ", *section)
        self.data[:len(head)] = head
        for entry in roots:
            entry.function = None
        return bytes(self.data) + b"nmBDFORP"

    def unfinished(self):
        """What its last writer left: eight sections, of which those after the metrics are only announced."""
        self.data += bytes(24 + 8 * 16)
        sections = []
        kinds = struct.pack(">H", len(KINDS)) + b"".join(name.encode() + b"\0" for name in KINDS)
        for part in (self.db.title.encode() + b"\0TODO database description\0", kinds, self.metrics()):
            begin = self.section()
            self.data += part
            sections.append((len(part), begin))
        sections += [(i, i) for i in range(3, 8)]
        head = b"HPCTOOLKIT_expmt\4\0" + struct.pack(">H4x", 8)
        for section in sections:
            head += struct.pack(">QQ", *section)
        self.data[:len(head)] = head
        return bytes(self.data)


def write_proto(db, folder, is_finished=True):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    values = OldValues(db, not is_finished)
    meta = Prototype(db)
    (folder / "meta.db").write_bytes(meta.bytes() if is_finished else meta.unfinished())
    (folder / "profile.db").write_bytes(profile_file(values))
    # The unfinished writer counted points in one of the files only.
    (folder / "cct.db").write_bytes(context_file(OldValues(db, False), db.context_count))
    (folder / "trace.db").write_bytes(trace_file(db, 0, True))


class OldDocument:
    """experiment.xml 2.x: values of the summary in the tree, those of threads by row in files."""

    def __init__(self, db, version):
        self.db, self.version = db, version
        self.lines, self.rows = [], []  # contexts in order of their number; 1 is the root
        modules, files, functions = db.tables()
        self.numbers = {}
        for key in [*modules, *files, *map(id, functions)]:
            self.number(key)

    def number(self, key):
        return self.numbers.setdefault(key, 10 + 3 * len(self.numbers))

    def row(self, c):
        self.rows.append(c)
        return len(self.rows)

    def values(self, c):
        found = self.db.summary.get(c.id, {})
        for i, m in enumerate(self.db.stored_metrics()):
            for scope, side in ((EXECUTION, 0), (FUNCTION_SCOPE, 1)):
                value = found.get(m.base + scope)
                if value and not (c.kind == LINE and side == 0 and c.children):
                    self.lines.append(f'<M n="{self.first + 2 * i + side}" v="{value:.17g}"/>')

    def frame(self, c, tag="PF", more=""):
        function = c.function
        if not function:
            name = ROOTS[c.entry] if c.kind == ENTRY else UNKNOWN_PROCEDURE
            module = self.number(c.point[0] if c.point else "no module")
            name, file, line = self.number(name), self.number("no file"), 0
        else:
            name, module = self.number(id(function)), self.number(function.module or "no module")
            file, line = self.number(function.file or "no file"), function.line
        self.lines.append(f'<{tag} i="{self.row(c)}" s="{name}" l="{line}" lm="{module}" f="{file}" n="{name}"{more}>')
        self.values(c)
        if c.kind == ENTRY:
            self.lines.append(f'<C i="{self.row(c)}" s="{name}" l="0">')
            self.values(c)
        self.inside(c)
        if c.kind == ENTRY:
            self.lines.append("</C>")
        self.lines.append(f"</{tag}>")

    def inside(self, c):
        for child in c.children:
            if child.kind == LINE:
                self.line(child)
            elif child.kind == LOOP:
                file, line = child.source
                self.lines.append(f'<L i="{self.row(child)}" s="{child.id}" l="{line}" f="{self.number(file)}">')
                self.values(child)
                self.inside(child)
                self.lines.append("</L>")
            elif child.is_left_out():  # of a function without lines
                self.inside(child)
            else:
                self.frame(child)

    def line(self, c):
        line = c.source[1]
        self.lines.append(f'<S i="{self.row(c)}" s="{c.id}" l="{line}" it="{c.id}">')
        self.values(c)
        self.lines.append("</S>")
        for child in c.children:
            if child.relation == INLINED:
                self.frame(child, "Pr", ' a="1"')
            elif child.children:
                self.lines.append(f'<C i="{self.row(child)}" s="{child.id}" l="{line}" v="0x{child.point[1]:x}">')
                self.values(child)
                self.inside(child)
                self.lines.append("</C>")

    def text(self):
        stored = self.db.stored_metrics()
        self.first = 2 * len(stored)
        self.row(self.db.root)
        self.values(self.db.root)
        for entry in self.db.root.children:
            self.frame(entry)
        tree, out = self.lines, []
        title = quoteattr(self.db.title)
        out += ['<?xml version="1.0"?>', "<!DOCTYPE HPCToolkitExperiment [", "<!ELEMENT HPCToolkitExperiment (Header)>", "]>",
                f'<HPCToolkitExperiment version="{self.version}">', f"<Header n={title}>", "<Info/>", "</Header>",
                f'<SecCallPathProfile i="0" n={title}>', "<SecHeader>", "<MetricTable>"]
        for i, m in enumerate(stored):
            for side, (name, letter) in enumerate((("inclusive", "I"), ("exclusive", "E"))):
                number = self.first + 2 * i + side
                partner = self.first + 2 * i + 1 - side
                out += [f'<Metric i="{number}" n={quoteattr(f"{m.name}:Sum ({letter})")} v="derived-incr" t="{name}" '
                        f'partner="{partner}" show="1" show-percent="1">',
                        f'<MetricFormula t="combine" frm="sum(${number}, ${number})"/>',
                        f'<MetricFormula t="finalize" frm="${number}"/>', '<Info><NV n="units" v="events"/></Info>',
                        "</Metric>"]
        out += ["</MetricTable>", "<MetricDBTable>"]
        for i, m in enumerate(stored):
            for side, (name, letter) in enumerate((("inclusive", "I"), ("exclusive", "E"))):
                out.append(f'<MetricDB i="{2 * i + side}" n={quoteattr(f"{m.name} ({letter})")} t="{name}" '
                           f'partner="{2 * i + 1 - side}" db-glob="*.metric-db" db-id="{2 * i + side}" '
                           f'db-num-metrics="{2 * len(stored)}" db-header-sz="32"/>')
        out.append("</MetricDBTable>")
        if self.db.has_traces:
            first, last = self.db.range_ns
            out += ["<TraceDBTable>", f'<TraceDB i="0" u="1000000000" db-glob="*.hpctrace" db-min-time="{first}" '
                    f'db-max-time="{last}" db-header-sz="32"/>', "</TraceDBTable>"]
        modules, files, functions = self.db.tables()
        for table, tag, rows in (
                ("LoadModuleTable", "LoadModule", [(m, m) for m in modules] + [("no module", "<unknown load module>")]),
                ("FileTable", "File", [(f, ("./src" if f[1] else "") + f[0]) for f in files] + [("no file", "<unknown file>")]),
                ("ProcedureTable", "Procedure", [(id(f), f.name) for f in functions])):
            out.append(f"<{table}>")
            out += [f'<{tag} i="{self.number(key)}" n={quoteattr(name)}/>' for key, name in rows]
            if tag == "Procedure":
                out += [f'<{tag} i="{self.number(name)}" n={quoteattr(name)} f="1"/>' for name in (*ROOTS, UNKNOWN_PROCEDURE)]
            out.append(f"</{table}>")
        out += ["<Info/>", "</SecHeader>", "<SecCallPathProfileData>", *tree, "</SecCallPathProfileData>",
                "</SecCallPathProfile>", "</HPCToolkitExperiment>", ""]
        return "\n".join(out)


def metric_file(db, rows, profile):
    """A row for each number from 1 on: total and self of each metric."""
    stored = db.stored_metrics()
    data = b"HPCPROF-metricdb__00.10b" + struct.pack(">II", len(rows), 2 * len(stored))
    for c in rows:
        found = profile.values.get(c.id, {})
        for m in stored:
            total, own = found.get(m.base + EXECUTION, 0), found.get(m.base + FUNCTION_SCOPE, 0)
            data += struct.pack(">dd", own if c.kind == LINE else total, own)
    return data


def joined(parts):
    """Files of threads in one: a type, a count, rank, thread and offset of each."""
    at = 8 + 16 * len(parts)
    head = struct.pack(">II", 2, len(parts))
    for thread, part in enumerate(parts):
        head += struct.pack(">IIQ", 0, thread, at)
        at += len(part)
    return head + b"".join(parts)


def write_legacy(db, folder, version, is_joined):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    document = OldDocument(db, version)
    (folder / "experiment.xml").write_text(document.text())
    parts = [metric_file(db, document.rows, profile) for profile in db.profiles]
    if not is_joined:
        for i, part in enumerate(parts):
            (folder / f"1.{db.title}-{i:06}-000-a8c00270-{160443 + i}-0.metric-db").write_bytes(part)
        return
    (folder / "experiment-1.mdb").write_bytes(joined(parts))
    traces = [b"HPCRUN-trace______01.01b" + bytes(8) + b"".join(
        struct.pack(">QI", *sample) for sample in profile.samples if sample[1]) for profile in db.profiles]
    (folder / "experiment.mt").write_bytes(joined(traces))
