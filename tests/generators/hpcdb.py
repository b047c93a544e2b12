"""Databases of HPCToolkit: what is in one, and the files of version 4.0, byte by byte.

Nothing here comes from the sources of cairn. A Database is a tree of contexts, metrics, and values and samples by
profile; write_v4() writes it as HPCToolkit 2022.10 and later do, or with a layout that was used while 4.0 was made.
"""
import pathlib
import struct

FUNCTION, LOOP, LINE, INSTRUCTION = range(4)
ENTRY = -1
LEXICAL, CALL, INLINED = range(3)
# Name, type, bit of the propagation.
POINT, FUNCTION_SCOPE, LEX_AWARE, EXECUTION = range(4)
SCOPES = (("point", 1, 255), ("function", 3, 0), ("lex_aware", 0, 255), ("execution", 2, 255))
KINDS = ("SUMMARY", "NODE", "RANK", "THREAD", "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM", "CORE")
NODE, RANK, THREAD, GPU_CONTEXT, GPU_STREAM, CORE = 1, 2, 3, 5, 6, 7
ENTRIES = ("unknown entry", "main thread", "application thread")
SUM = [("$$", "sum")]
ALL_STATISTICS = [("1", "sum"), ("$$", "sum"), ("($$^2)", "sum"), ("$$", "min"), ("$$", "max")]
COMBINE = {"sum": 0, "min": 1, "max": 2}


class Function:
    """A function; two that are equal in all parts are still two."""

    def __init__(self, name, module=None, offset=0, file=None, line=0):
        self.name, self.module, self.offset, self.file, self.line = name, module, offset, file, line


class Context:
    def __init__(self, parent, kind, relation, function=None, source=None, point=None, entry=None):
        self.parent, self.kind, self.relation = parent, kind, relation
        self.function, self.source, self.point, self.entry = function, source, point, entry
        self.children, self.by_key = [], {}
        self.id = 0

    def child(self, relation, kind, key, **what):
        """The child of a relation and a key, made unless there is one."""
        found = self.by_key.get((relation, kind, key))
        if not found:
            found = self.by_key[relation, kind, key] = Context(self, kind, relation, **what)
            self.children.append(found)
        return found

    def is_left_out(self):
        """Instructions of a line keep their number and values, but the tree does not list them."""
        return self.kind == INSTRUCTION and self.relation == LEXICAL

    def shown_children(self):
        for child in self.children:
            if child.is_left_out():
                yield from child.shown_children()
            else:
                yield child

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()


class Metric:
    def __init__(self, name, description=None, statistics=None, show=1, has_percent=True, formula=None, format=None,
                 scopes=range(4)):
        self.name, self.description = name, description or name
        self.statistics = statistics or SUM
        self.show, self.has_percent, self.formula, self.format, self.scopes = show, has_percent, formula, format, scopes
        self.base = 0


class Profile:
    """identity: (kind, is physical, logical id, physical id); values: context id -> {metric id: value}; samples: time
    and context id."""

    def __init__(self, identity, values=None, samples=()):
        self.identity, self.values, self.samples = identity, values or {}, list(samples)


class Database:
    def __init__(self, title, root, metrics):
        self.title, self.root, self.metrics = title, root, metrics
        self.profiles, self.summary = [], {}
        self.has_traces = False
        self.range_ns = (2**64 - 1, 0)
        self.context_count = 0
        base = 0
        for metric in metrics:
            if not metric.formula:
                metric.base, base = base, base + 4 * max(1, len(metric.statistics))

    def number_contexts(self):
        for number, context in enumerate(self.root.walk()):
            context.id = number
            self.context_count = number + 1

    def stored_metrics(self):
        return [metric for metric in self.metrics if not metric.formula]

    def tables(self):
        """Modules, files and functions that contexts below entry points name, in order of first use."""
        modules, files, functions = {}, {}, {}
        for context in self.root.walk():
            if context.kind == ENTRY:
                continue
            function = context.function
            if function:
                functions.setdefault(id(function), function)
                modules.setdefault(function.module)
                files.setdefault(function.file)
            if context.source:
                files.setdefault(context.source[0])
            if context.point:
                modules.setdefault(context.point[0])
        modules.pop(None, None)
        files.pop(None, None)
        return list(modules), list(files), list(functions.values())

    def facts(self):
        """What a reader must find, as numbers."""
        shown = [c for c in self.root.walk() if c is not self.root and not c.is_left_out()]
        modules, files, functions = self.tables()
        values = sum(len(v) for p in self.profiles for v in p.values.values())
        return {"contexts": len(shown), "max_id": max(c.id for c in shown),
                "entries": sum(c.kind == ENTRY for c in shown), "metrics": len(self.stored_metrics()),
                "modules": len(modules), "files": len(files), "functions": len(functions),
                "profiles": 1 + len(self.profiles), "values": values + sum(map(len, self.summary.values())),
                "context_limit": self.context_count, "context_values": values,
                "has_timelines": int(self.has_traces),
                "empty_timelines": sum(not p.samples for p in self.profiles) if self.has_traces else 0,
                "samples": sum(len(p.samples) for p in self.profiles) if self.has_traces else 0}


def align(data, size=8):
    data.extend(bytes(-len(data) % size))
    return len(data)


class Section:
    """Bytes of a file that end up at a known place."""

    def __init__(self, data):
        align(data)
        self.data, self.begin = data, len(data)

    def put(self, layout, *values):
        at = len(self.data)
        self.data += struct.pack("<" + layout, *values)
        return at

    def text(self, text):
        at = len(self.data)
        self.data += text.encode() + b"\0"
        return at

    def patch(self, at, layout, *values):
        struct.pack_into("<" + layout, self.data, at, *values)

    def end(self):
        return len(self.data) - self.begin, self.begin


def file_head(kind, sections, length=None):
    head = b"HPCTOOLKIT" + kind + bytes((4, 0))
    for size, begin in sections:
        head += struct.pack("<QQ", size, begin)
    return head.ljust(length or len(head), b"\0")


class MetaFile:
    def __init__(self, db, draft):
        self.db, self.draft = db, draft
        self.data = bytearray(0x90)

    def general(self):
        s = Section(self.data)
        s.put("QQ", s.begin + 16, s.begin + 16 + len(self.db.title.encode()) + 1)
        s.text(self.db.title)
        s.text("TODO database description")
        return s.end()

    def id_names(self):
        s = Section(self.data)
        s.put("QB", 0, len(KINDS))
        s.text("")
        names = [s.text(name) for name in KINDS]
        s.patch(s.begin, "Q", align(self.data))
        for name in names:
            s.put("Q", name)
        return s.end()

    def scope_names(self, s):
        names = [s.text(name) for name, _, _ in SCOPES]
        align(self.data)
        return [s.put("QBB6x", name, kind, bit) for name, (_, kind, bit) in zip(names, SCOPES)]

    def metrics(self):
        """Final: scopes are shared, instances and statistics point to them."""
        s = Section(self.data)
        metrics = self.db.stored_metrics()
        s.put("QIBBBxQHB", 0, len(metrics), 32, 16, 24, 0, len(SCOPES), 16)
        scopes = self.scope_names(s)
        records = []
        for m in metrics:
            name = s.text(m.name)
            formulas = [s.text(formula) for formula, _ in m.statistics]
            instances = align(self.data)
            for i in m.scopes:
                s.put("QH6x", scopes[i], m.base + i)
            statistics = len(self.data)
            for i in m.scopes:
                for k, (_, combine) in enumerate(m.statistics):
                    s.put("QQBxH4x", scopes[i], formulas[k], COMBINE[combine], m.base + 4 * k + i)
            records.append((name, instances, statistics, len(m.scopes), len(m.scopes) * len(m.statistics)))
        first = align(self.data)
        for record in records:
            s.put("QQQHH4x", *record)
        s.patch(s.begin, "Q", first)
        s.patch(s.begin + 16, "Q", scopes[0])
        return s.end()

    def draft_metrics(self):
        """Early in 2022: each metric has scopes of its own, each scope its statistics."""
        s = Section(self.data)
        metrics = self.db.stored_metrics()
        s.put("QIBBB", 0, len(metrics), 24, 24, 16)
        records = []
        for m in metrics:
            name = s.text(m.name)
            names = [s.text(SCOPES[i][0]) for i in m.scopes]
            formulas = [s.text(formula) for formula, _ in m.statistics]
            align(self.data)
            statistics = {}
            for i in m.scopes:
                statistics[i] = len(self.data)
                for k, (_, combine) in enumerate(m.statistics):
                    s.put("QBxH4x", formulas[k], COMBINE[combine], m.base + 4 * k + i)
            scopes = len(self.data)
            for i, scope_name in zip(m.scopes, names):
                s.put("QHH4xQ", scope_name, len(m.statistics), m.base + i, statistics[i])
            records.append((name, len(m.scopes), scopes))
        s.patch(s.begin, "Q", align(self.data))
        for record in records:
            s.put("QH6xQ", *record)
        return s.end()

    def strings(self):
        s = Section(self.data)
        modules, files, functions = self.db.tables()
        entries = [c for c in self.db.root.children]
        self.texts = {text: s.text(text) for text in dict.fromkeys(
            [ENTRIES[c.entry] for c in entries] + modules + [path for path, _ in files] + [f.name for f in functions])}
        return s.end()

    def table(self, records, layout):
        s = Section(self.data)
        length = struct.calcsize("<" + layout)
        s.put("QIH2x", s.begin + 16, len(records), length)
        places = [s.put(layout, *record) for record in records]
        return s.end(), places

    def flex_of(self, c):
        """The words after a context, and the flags that say which there are."""
        flags, words = 0, b""
        if c.function:
            flags |= 1
            words += struct.pack("<Q", self.functions[id(c.function)])
        if c.source:
            flags |= 2
            words += struct.pack("<QI4x", self.files[c.source[0]], c.source[1])
        if c.point:
            flags |= 4
            words += struct.pack("<QQ", self.modules[c.point[0]], c.point[1])
        return flags, words

    def context(self, c):
        size, children = self.blocks[c]
        flags, words = self.flex_of(c)
        head = struct.pack("<QQIBBBB", size, children, c.id, flags, c.relation, c.kind, len(words) // 8)
        if not self.draft:
            head += struct.pack("<H6x", 1 if c.relation == LEXICAL else 0)
        return head + words

    def block(self, s, contexts):
        """Siblings, after the blocks of their children."""
        for c in contexts:
            self.blocks[c] = self.block(s, list(c.shown_children()))
        at = len(self.data)
        for c in contexts:
            self.data += self.context(c)
        return len(self.data) - at, at

    def contexts(self):
        s = Section(self.data)
        self.blocks = {}
        if self.draft:
            s.put("QQ", 0, 0)
            size, at = self.block(s, [c for e in self.db.root.children for c in e.shown_children()])
            s.patch(s.begin, "QQ", size, at)
            return s.end()
        s.put("QHB5x", 0, len(self.db.root.children), 32)
        blocks = [self.block(s, list(e.shown_children())) for e in self.db.root.children]
        s.patch(s.begin, "Q", align(self.data))
        for entry, (size, at) in zip(self.db.root.children, blocks):
            s.put("QQIH2xQ", size, at, entry.id, entry.entry, self.texts[ENTRIES[entry.entry]])
        return s.end()

    def bytes(self):
        modules, files, functions = self.db.tables()
        general, names = self.general(), self.id_names()
        metrics = self.draft_metrics() if self.draft else self.metrics()
        strings = self.strings()
        module_section, places = self.table([(0, self.texts[m]) for m in modules], "I4xQ")
        self.modules = dict(zip(modules, places))
        file_section, places = self.table([(is_copied, self.texts[p]) for p, is_copied in files], "I4xQ")
        self.files = dict(zip(files, places))
        function_section, places = self.table(
            [(self.texts[f.name], self.modules.get(f.module, 0), f.offset, self.files.get(f.file, 0), f.line, 0)
             for f in functions], "QQQQII")
        self.functions = {id(f): at for f, at in zip(functions, places)}
        contexts = self.contexts()
        align(self.data)
        self.data[:0x90] = file_head(b"meta", [general, names, metrics, contexts, strings, module_section, file_section,
                                               function_section])
        return bytes(self.data) + b"_meta.db"


def profile_block(data, values):
    """Values by context, then where each context begins; the words of the header."""
    align(data, 4)
    pairs, index = b"", []
    for context in sorted(values):
        index.append((context, len(pairs) // 10))
        pairs += b"".join(struct.pack("<Hd", metric, values[context][metric]) for metric in sorted(values[context]))
    begin = len(data)
    data += pairs
    at = align(data, 4)
    data += b"".join(struct.pack("<IQ", *pair) for pair in index)
    return struct.pack("<QQI4xQ", len(pairs) // 10, begin, len(index), at)


def profile_file(db, has_flags):
    length = 0x30 if has_flags else 0x28
    count = 1 + len(db.profiles)
    data = bytearray(0x40 + length * count)
    begin = align(data)
    places = []
    for profile in db.profiles:
        places.append(len(data))
        data += struct.pack("<H6x", len(profile.identity))
        for kind, is_physical, logical, physical in profile.identity:
            data += struct.pack("<BxHIQ", kind, is_physical, logical, physical)
    tuples = (len(data) - begin, begin)
    heads = [profile_block(data, profile.values) for profile in db.profiles]
    heads.insert(0, profile_block(data, db.summary))
    align(data, 8)
    data[:0x30] = file_head(b"prof", [(0x10 + length * count, 0x30), tuples])
    data[0x30:0x40] = struct.pack("<QIB3x", 0x40, count, length)
    for i, (head, place) in enumerate(zip(heads, [0, *places])):
        flags = struct.pack("<I4x", i == 0) if has_flags else b""
        data[0x40 + length * i:0x40 + length * (i + 1)] = head + struct.pack("<Q", place) + flags
    return bytes(data) + b"_prof.db"


def context_file(db):
    by_context = {}
    for number, profile in enumerate(db.profiles, 1):
        for context, values in profile.values.items():
            for metric, value in values.items():
                by_context.setdefault(context, {}).setdefault(metric, []).append((number, value))
    data = bytearray(0x40 + 0x20 * db.context_count)
    heads = b""
    for context in range(db.context_count):
        begin, values, index = align(data, 4), b"", b""
        planes = by_context.get(context, {})
        for metric in sorted(planes):
            index += struct.pack("<HQ", metric, len(values) // 12)
            values += b"".join(struct.pack("<Id", *pair) for pair in planes[metric])
        data += values + index
        heads += struct.pack("<QQH6xQ", len(values) // 12, begin, len(planes), begin + len(values))
    align(data, 8)
    # The writer leaves bytes of its stack after the one section that there is.
    data[:0x30] = file_head(b"ctxt", [(0x10 + len(heads), 0x30)]) + struct.pack("<QQ", 0, 1)
    data[0x30:0x40] = struct.pack("<QIB3x", 0x40, db.context_count, 0x20)
    data[0x40:0x40 + len(heads)] = heads
    return bytes(data) + b"__ctx.db"


def trace_file(db):
    count = len(db.profiles)
    data = bytearray(0x40 + 0x18 * count)
    heads = b""
    for number, profile in enumerate(db.profiles, 1):
        begin = align(data)
        data += b"".join(struct.pack("<QI", *sample) for sample in profile.samples)
        heads += struct.pack("<I4xQQ", number, begin, len(data))
    align(data)
    data[:0x20] = file_head(b"trce", [(0x20 + len(heads), 0x20)])
    data[0x20:0x40] = struct.pack("<QIB3xQQ", 0x40, count, 0x18, *db.range_ns)
    data[0x40:0x40 + len(heads)] = heads
    return bytes(data) + b"trace.db"


def anchor(metric, statistic, scope):
    formula, combine = statistic
    text = f"{metric.name}-{combine}-{formula.strip('()').replace('^', ' ^ ').replace('$$', '[0x0]')}-{scope}"
    return "".join(c if c.isalnum() and c.isascii() or c in "_-" else f"x{ord(c):x}_" for c in text)


def yaml_text(text):
    needs_quotes = ": " in text or " #" in text or text[:1] in "%&*!|>'\"@`{}[]"
    return f'"{text}"' if needs_quotes else text


def formulas_of(metric, db, scope):
    """Variants of a metric in a scope: name -> text."""
    if metric.formula:
        return {'""': formula_text(metric.formula, db, scope)}
    sums = {s: f"*{anchor(metric, s, scope)}" for s in metric.statistics}
    result = {"Sum": sums["$$", "sum"]}
    if ("1", "sum") in sums:
        count = sums["1", "sum"]
        mean = f"{{/: [{result['Sum']}, {count}]}}"
        deviation = f"{{sqrt: [{{\"-\": [{{/: [{sums['($$^2)', 'sum']}, {count}]}}, {{^: [{mean}, 2]}}]}}]}}"
        result |= {"Mean": mean, "StdDev": deviation, "CfVar": f"{{/: [{deviation}, {mean}]}}"}
    result |= {name: sums["$$", name.lower()] for name in ("Min", "Max") if ("$$", name.lower()) in sums}
    return result


def formula_text(formula, db, scope):
    """A formula is a number, the index of a metric as ("#", i), or an operator with operands."""
    if isinstance(formula, (int, float)):
        return str(formula)
    if formula[0] == "#":
        return f"*{anchor(db.metrics[formula[1]], ('$$', 'sum'), scope)}"
    operator = '"-"' if formula[0] == "-" else formula[0]
    return f"{{{operator}: [{', '.join(formula_text(f, db, scope) for f in formula[1:])}]}}"


def metrics_yaml(db):
    text = "version: 0\ninputs:\n"
    for m in db.stored_metrics():
        for scope in [SCOPES[i][0] for i in (EXECUTION, LEX_AWARE, FUNCTION_SCOPE) if i in m.scopes]:
            for statistic in m.statistics:
                text += (f"  - &{anchor(m, statistic, scope)}\n    metric: {yaml_text(m.name)}\n    scope: {scope}\n"
                         f"    formula: {statistic[0]}\n    combine: {statistic[1]}\n")
    text += "roots:\n"
    for m in db.metrics:
        if m.show == 4:
            continue
        text += f"  - name: {yaml_text(m.name)}\n    description: {yaml_text(m.description)}\n"
        text += "    visible by default: false\n" if m.show == 0 and not m.formula else ""
        text += f"    format: {yaml_text(m.format)}\n" if m.format else ""
        text += "    variants:\n"
        parts = [formulas_of(m, db, SCOPES[i][0]) for i in (EXECUTION, LEX_AWARE, FUNCTION_SCOPE)]
        for name in parts[0]:
            with_percent = m.has_percent and name in ("Sum", '""')
            text += (f"      {name}:\n        render: [number{', percent' if with_percent else ''}]\n        formula:\n"
                     f"          inclusive:\n            standard: {parts[0][name]}\n"
                     f"          exclusive:\n            custom: {parts[1][name]}\n            standard: {parts[2][name]}\n")
    return text.rstrip("\n")


def write_v4(db, folder, layout="final"):
    """layout: `final`, or `draft-a` and `draft-b` of the first half of 2022, which have the same magic and version."""
    folder = pathlib.Path(folder)
    (folder / "metrics").mkdir(parents=True)
    (folder / "meta.db").write_bytes(MetaFile(db, layout == "draft-a").bytes())
    (folder / "profile.db").write_bytes(profile_file(db, layout == "final"))
    (folder / "cct.db").write_bytes(context_file(db))
    if db.has_traces:
        (folder / "trace.db").write_bytes(trace_file(db))
    (folder / "metrics" / "default.yaml").write_text(metrics_yaml(db))
