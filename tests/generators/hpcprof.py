"""What hpcprof makes of a measurement: the rules of the conversion, written down a second time.

hpcrun.py describes measurements, hpcdb.py databases. Quirks of hpcprof that its users see are kept: in the profile of a
thread a loop without a value of its own is no loop; the square of a value is the value.
"""
import hpcdb
import hpcrun
from hpcdb import (CALL, ENTRY, EXECUTION, FUNCTION, FUNCTION_SCOPE, INLINED, INSTRUCTION, LEX_AWARE, LEXICAL, LINE, LOOP,
                   POINT, Context, Function)

ENTRY_CODES = {hpcrun.PARTIAL: 0, hpcrun.MAIN: 1, hpcrun.THREAD_ROOT: 2}
PLACEHOLDERS = {"OMP Idle": "<omp idle>", "OMPBarrW": "<omp barrier wait>", "OMP Work": "<omp work>",
                "GPUCpH2D": "<gpu copyin>", "GPUCpD2H": "<gpu copyout>", "GPUKernl": "<gpu kernel>",
                "GPUTrace": "<gpu kernel>", "GPU Sync": "<gpu sync>", "GPUAlloc": "<gpu alloc>",
                hpcrun.MAIN: "<program root>", hpcrun.THREAD_ROOT: "<thread root>"}


class Leaves:
    """Ranges of instructions of a module, each with the scopes around it: (kind, key, what a context has, relation of the
    next)."""

    def __init__(self, structure):
        self.module, self.ranges = structure.module, []
        for element in structure.elements:
            self.visit(element, None, [], False)

    def visit(self, e, file, chain, is_first_alien):
        """A first A gives the line of a call, an A directly in it the function that was called there."""
        tag = e[0]
        if tag == "F":
            file = e[1]
        elif tag == "P":
            function = Function(e[1], self.module, e[3], (file, 0), e[2])
            chain = [(FUNCTION, id(function), {"function": function}, LEXICAL)]
        elif tag == "L":
            file = e[2] or file
            what = {"source": ((file, 0), e[1]), "point": (self.module, e[3])}
            chain = chain + [(LOOP, (e[3], file, e[1]), what, LEXICAL)]
        elif tag == "A" and not is_first_alien:
            file = e[2] or file
            for inside in e[-1]:
                self.visit(inside, file, chain, e)
            return
        elif tag == "A":
            outer_file = file
            line = (LINE, (outer_file, is_first_alien[1]), {"source": ((outer_file, 0), is_first_alien[1])}, INLINED)
            file = e[2] or file
            function = Function(e[3], self.module, 0, (file, 0), e[1])
            chain = chain + [line, (FUNCTION, id(function), {"function": function}, LEXICAL)]
        elif tag in "SC":
            scope = (LINE, (file, e[1]), {"source": ((file, 0), e[1])}, LEXICAL)
            for low, high in e[2] if tag == "S" else [e[2]]:
                if not any(low < other_high and other_low < high for other_low, other_high, _ in self.ranges):
                    self.ranges.append((low, high, chain + [scope]))
            return
        for inside in e[-1]:
            self.visit(inside, file, chain, False)

    def find(self, address):
        return next((chain for low, high, chain in self.ranges if low <= address < high), [])


class Symbols:
    """Functions of the kernel by address."""

    def __init__(self, path, lines):
        self.functions = []
        for line in lines.splitlines():
            address, kind, name, *module = line.split()
            if kind in "tT":
                text = " ".join([name, *module, "[vmlinux]"])
                self.functions.append(Function(text, path, int(address, 16)))
        self.functions.sort(key=lambda f: f.offset)

    def find(self, address):
        below = [f for f in self.functions if f.offset <= address]
        if not below:
            return []
        found = next(f for f in below if f.offset == below[-1].offset)  # the first of those at one address
        return [(FUNCTION, id(found), {"function": found}, LEXICAL)]


class Conversion:
    def __init__(self, measurement, with_structures=True, statistics=None):
        self.m = measurement
        self.root = Context(None, None, None)
        self.placeholders = {}
        self.unknown_entry = None
        self.classifiers = {path: Symbols(path, lines) for path, lines in measurement.kernel_symbols.items()}
        for structure in measurement.structures if with_structures else []:
            self.classifiers.setdefault(structure.module, Leaves(structure))
        metrics = [hpcdb.Metric(m.name, m.description, statistics, m.show, m.has_percent,
                                parse_formula(m.formula) if m.formula else None, m.format if m.formula else None)
                   for m in measurement.metrics]
        self.db = hpcdb.Database(measurement.program, self.root, metrics)

    def entry(self, number):
        return self.root.child(CALL, ENTRY, number, entry=number)

    def special(self, parent, code):
        """Contexts of a node without a module."""
        if parent is None:
            return self.root
        if parent is self.root and code in ENTRY_CODES:
            return self.entry(ENTRY_CODES[code])
        if parent is self.root and code == hpcrun.IDLE:
            return self.root
        parent = self.entry(0) if parent is self.root else parent
        if code == hpcrun.UNKNOWN:
            return parent.child(CALL, FUNCTION, None)
        function = self.placeholders.setdefault(code, Function(PLACEHOLDERS.get(code, code)))
        return parent.child(CALL, FUNCTION, id(function), function=function)

    def expand(self, parent, module, address):
        """The contexts of an instruction below those of its caller: the topmost, the innermost."""
        at = self.entry(0) if parent is self.root else parent
        relation, first = CALL, None
        classifier = self.classifiers.get(module)
        chain = classifier.find(address) if classifier else []
        for kind, key, what, after in chain:
            at = at.child(relation, kind, key, **what)
            first, relation = first or at, after
        at = at.child(relation, INSTRUCTION, (module, address), point=(module, address))
        return first or at, at

    def contexts_of(self, profile):
        """Node -> topmost and innermost context."""
        result = {}
        for number, parent, module, where in profile.nodes:
            above = result[parent][1] if parent else None
            if module is None:
                result[number] = (self.special(above, where),) * 2
            else:
                result[number] = self.expand(above, module, where)
        return result

    def values_of(self, profile, contexts):
        """Own values: metric index -> {context: value}."""
        own = {}
        for node, values in profile.values.items():
            for metric, value in values.items():
                described = self.m.metrics[metric]
                context = contexts[node][0 if described.is_moved else 1]
                at = own.setdefault(metric, {})
                at[context] = at.get(context, 0) + value * described.period
        return own

    def convert(self):
        """Two passes: contexts get their numbers when all of them are known."""
        seen = [(profile, self.contexts_of(profile)) for profile in self.m.profiles]
        self.db.number_contexts()
        sums = {}
        for number, (profile, contexts) in enumerate(seen):
            values = {}
            for metric, own in self.values_of(profile, contexts).items():
                base = self.db.metrics[metric].base
                propagated, for_summary = propagate(self.root, own)
                for context, four in propagated.items():
                    values.setdefault(context.id, {}).update(
                        {base + scope: value for scope, value in enumerate(four) if value})
                for context, four in for_summary.items():
                    sums.setdefault((metric, context.id), []).append(four)
            samples = self.samples_of(profile, contexts)
            self.db.profiles.append(hpcdb.Profile(identities(self.m, number), values, samples))
        self.summarise(sums)
        return self.db

    def summarise(self, sums):
        for (metric, context), rows in sums.items():
            described = self.db.metrics[metric]
            for k, (formula, combine) in enumerate(described.statistics):
                for scope in range(4):
                    column = [row[scope] for row in rows]
                    if formula == "1":
                        value = len(column)
                    else:
                        value = {"sum": sum, "min": min, "max": max}[combine](column)
                    if value:
                        self.db.summary.setdefault(context, {})[described.base + 4 * k + scope] = value

    def samples_of(self, profile, contexts):
        samples, last = [], None
        for time_ns, node in sorted(profile.trace or [], key=lambda record: record[0]):
            context = contexts[node][0 if profile.trace_flags & hpcrun.CALL_TRACE else 1]
            if context.is_left_out():
                context = context.parent
            self.db.range_ns = (min(self.db.range_ns[0], time_ns), max(self.db.range_ns[1], time_ns))
            self.db.has_traces = True
            if context.id or last != 0:
                samples.append((time_ns, context.id))
            last = context.id
        return samples


def propagate(root, own):
    """From own values those of the four scopes, of a thread and for the summary."""
    of_thread, of_summary = {}, {}

    def visit(context):
        p = own.get(context, 0)
        f = n = e = p
        has_any = context in own
        for child in context.children:
            below = visit(child)
            if below is None:
                continue
            has_any = True
            e += below[2]
            if child.relation == LEXICAL:
                f += below[0]
                n += below[1] if child.kind != LOOP else 0
        if not has_any:
            return None
        is_loop = context.kind == LOOP
        if context is root:
            of_thread[context] = of_summary[context] = (p, 0, 0, e)
            return f, n, e
        of_thread[context] = (p, f, n if is_loop and context in own else f, e)
        of_summary[context] = (p, f, n if is_loop else f, e)
        return f, n, e

    visit(root)
    return of_thread, of_summary


def identities(measurement, number):
    """The identity of a profile; generated numbers count physical ids in order of appearance below the same prefix."""
    result = []
    prefix = []
    for kind, meaning, physical, logical in measurement.profiles[number].identity:
        if meaning == hpcrun.LOCAL:
            seen = []
            for other in measurement.profiles:
                for i, (k, m, p, _) in enumerate(other.identity):
                    if k == kind and [(a, b) for a, _, b, _ in other.identity[:i]] == prefix and p not in seen:
                        seen.append(p)
            logical = seen.index(physical)
        result.append((kind, int(meaning in (hpcrun.BOTH, hpcrun.LOCAL)), logical, physical))
        prefix.append((kind, physical))
    return result


def parse_formula(text):
    """A quotient, product, sum or difference of two metrics or numbers: all that our measurements use."""
    for operator in ("+", "-", "*", "/"):
        if operator in text:
            left, right = text.split(operator, 1)
            return (operator, parse_formula(left), parse_formula(right))
    return ("#", int(text[1:])) if text.startswith("#") else float(text) if "." in text else int(text)


def convert(measurement, with_structures=True, statistics=None):
    return Conversion(measurement, with_structures, statistics).convert()
