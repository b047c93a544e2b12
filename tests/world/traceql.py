"""TraceQL a second time, from its documentation: plain loops over the spans that were sent, without an index.

A query is a tree of tuples. `text()` writes it as TraceQL, the functions below compute its answer.
Values are (type, value) with the types nil, int, float, string, bool, duration, status, kind, list and any (the
values of several events or links).
"""
import collections
import itertools
import math
import operator
import random
import re

SECOND = 1_000_000_000
BEGIN = 1_700_000_000 * SECOND
NIL = ("nil", None)
NUMBERS = ("int", "float", "duration")
KINDS = ("unspecified", "internal", "server", "client", "producer", "consumer")
STATUSES = ("unset", "ok", "error")
WORDS = ("x", "y", "zed", "a long text", "200", "true", 'quo"te', "")


class Span:
    def __init__(self, **fields):
        self.__dict__.update(fields)

    @property
    def ns(self):
        return self.end - self.begin

    def otlp(self, value_of):
        def attributes(given):
            return [{"key": k, "value": value_of(v)} for k, v in given.items()]
        return {"traceId": self.trace, "spanId": self.id, "parentSpanId": self.parent, "name": self.name, "kind": self.kind,
                "startTimeUnixNano": str(self.begin), "endTimeUnixNano": str(self.end), "attributes": attributes(self.attributes),
                "events": [{"timeUnixNano": str(e["time"]), "name": e["name"], "attributes": attributes(e["attributes"])}
                           for e in self.events],
                "links": [{"traceId": k["trace"], "spanId": k["span"], "attributes": attributes(k["attributes"])} for k in self.links],
                "status": {"code": self.status, **({"message": self.message} if self.message else {})}}


def otlp_value(value):
    kind, content = value
    if kind == "list":
        return {"arrayValue": {"values": [otlp_value(v) for v in content]}}
    return {"int": lambda: {"intValue": str(content)}, "float": lambda: {"doubleValue": content},
            "bool": lambda: {"boolValue": content}, "string": lambda: {"stringValue": content}}[kind]()


def request(spans):
    """An export request: one resource for each service and set of attributes, as a Collector batches them."""
    resources = collections.defaultdict(list)
    for span in spans:
        resources[span.service, span.host, span.scope].append(span.otlp(otlp_value))
    def resource(service, host):
        given = {"service.name": ("string", service), **({"host.name": ("string", host)} if host else {})}
        return {"attributes": [{"key": k, "value": otlp_value(v)} for k, v in given.items()]}
    return {"resourceSpans": [
        {"resource": resource(service, host),
         "scopeSpans": [{"scope": {"name": scope[0], "version": scope[1]} if scope else {}, "spans": listed}]}
        for (service, host, scope), listed in resources.items()]}


# What is sent.

def make_value(rng):
    one = rng.choice(("int", "int", "float", "string", "string", "bool"))
    return {"int": lambda: ("int", rng.randrange(6)), "float": lambda: ("float", rng.randrange(8) / 2),
            "string": lambda: ("string", rng.choice(WORDS)), "bool": lambda: ("bool", rng.random() < .5)}[one]()


def make_attributes(rng, names, share):
    given = {}
    for name in names:
        if rng.random() < share:
            value = make_value(rng)
            if rng.random() < .1:
                value = ("list", [v for v in (make_value(rng) for _ in range(3)) if v[0] == value[0]] or [value])
            given[name] = value
    return given


ATTRIBUTES = ("a", "b", "http.status", "odd name", "c")


def make_trace(rng, number):
    """A trace of up to twelve spans; some have two roots, some a parent that never arrives."""
    trace = f"{rng.getrandbits(128 if number % 5 else 60) | 1:032x}"
    begin = BEGIN + number * SECOND // 3 + rng.randrange(SECOND)
    spans = []
    for i in range(rng.randrange(1, 13)):
        parent = rng.choice(spans) if spans and rng.random() < .95 else None
        first = (parent.begin if parent else begin) + rng.randrange(40_000_000)
        caller = parent.id if parent else ("" if i == 0 or rng.random() < .5 else f"{0xdead0000 + i:016x}")
        events = [{"time": first + rng.randrange(9_000_000), "name": rng.choice(("start", "cache miss", "retry")),
                   "attributes": make_attributes(rng, ("a", "try"), .5)} for _ in range(rng.choice((0, 0, 1, 2)))]
        links = [{"trace": f"{rng.randrange(1, 4):032x}", "span": f"{rng.randrange(1, 4):016x}",
                  "attributes": make_attributes(rng, ("why",), .5)} for _ in range(rng.choice((0, 0, 0, 1, 2)))]
        status = rng.choice((0, 0, 1, 2))
        spans.append(Span(
            trace=trace, id=f"{rng.getrandbits(64) | 1:016x}", parent=caller, service=rng.choice(("shop", "cart", "db")),
            host=rng.choice((None, "h1", "h2")),
            scope=rng.choice((None, ("lib", "1.0"), ("lib", "2.0"))),
            name=rng.choice(("GET /a", "GET /b", "query", "db.query")), kind=rng.randrange(6), status=status,
            message=rng.choice(("", "boom")) if status == 2 else "", begin=first, end=first + rng.randrange(1, 60_000_000),
            attributes=make_attributes(rng, ATTRIBUTES, .45), events=events, links=links))
    return spans


def make_traces(rng, count):
    return [make_trace(rng, number) for number in range(count)]


class Trace:
    """The spans of one trace with what is between them."""
    def __init__(self, spans):
        self.spans = sorted(spans, key=lambda s: (s.begin, -s.ns, s.id))
        self.by_id = {s.id: s for s in self.spans}
        self.begin, self.end = min(s.begin for s in spans), max(s.end for s in spans)
        self.root = next((s for s in self.spans if not s.parent), None)
        self.children = collections.defaultdict(list)
        for span in self.spans:
            if self.parent(span):
                self.children[span.parent].append(span)
        self.sets = {}
        bound = itertools.count(1)
        for span in self.spans:
            if not span.parent:
                self.number(span, -1, bound)

    def parent(self, span):
        return self.by_id.get(span.parent)

    def number(self, span, parent, bound):
        left = next(bound)
        for child in self.children[span.id]:
            self.number(child, left, bound)
        self.sets[span.id] = (left, next(bound), parent)

    def ancestors(self, span):
        while (span := self.parent(span)):
            yield span


# Fields of a span.

def several(values):
    values = [v for v in values if v != NIL]
    if len(values) < 2:
        return values[0] if values else NIL
    return ("any", values)


def of_scope(span, scope, name):
    if scope == "span":
        return span.attributes.get(name, NIL)
    if scope == "resource":
        return {"service.name": ("string", span.service), "host.name": ("string", span.host) if span.host else NIL}.get(name, NIL)
    if scope == "event":
        return several([e["attributes"].get(name, NIL) for e in span.events])
    if scope == "link":
        return several([k["attributes"].get(name, NIL) for k in span.links])
    return NIL


def intrinsic(trace, span, name):
    root, sets = trace.root, trace.sets.get(span.id, (0, 0, 0))
    return {
        "duration": lambda: ("duration", span.ns), "span:duration": lambda: ("duration", span.ns),
        "name": lambda: ("string", span.name), "span:name": lambda: ("string", span.name),
        "status": lambda: ("status", span.status), "statusMessage": lambda: ("string", span.message),
        "kind": lambda: ("kind", span.kind), "span:id": lambda: ("string", span.id), "span:parentID": lambda: ("string", span.parent),
        "trace:id": lambda: ("string", trace.spans[0].trace.lstrip("0")), "span:childCount": lambda: ("int", len(trace.children[span.id])),
        "rootName": lambda: ("string", root.name) if root else NIL,
        "rootServiceName": lambda: ("string", root.service) if root else NIL,
        "traceDuration": lambda: ("duration", trace.end - trace.begin),
        "nestedSetLeft": lambda: ("int", sets[0]), "nestedSetRight": lambda: ("int", sets[1]), "nestedSetParent": lambda: ("int", sets[2]),
        "event:name": lambda: several([("string", e["name"]) for e in span.events]),
        "event:timeSinceStart": lambda: several([("duration", e["time"] - span.begin) for e in span.events]),
        "link:traceID": lambda: several([("string", k["trace"]) for k in span.links]),
        "link:spanID": lambda: several([("string", k["span"]) for k in span.links]),
        "instrumentation:name": lambda: ("string", span.scope[0]) if span.scope else NIL,
        "instrumentation:version": lambda: ("string", span.scope[1]) if span.scope else NIL,
    }[name]()


def field_value(trace, span, field):
    _, scope, name = field
    if scope == "intrinsic":
        return intrinsic(trace, span, name)
    if scope.startswith("parent"):
        span, scope = trace.parent(span), scope[7:]
        if not span:
            return NIL
    if scope:
        return of_scope(span, scope, name)
    return next((v for v in (of_scope(span, s, name) for s in ("span", "resource", "event", "link")) if v != NIL), NIL)


# Expressions.

ORDERS = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def meets(op, a, b):
    """Two scalars."""
    if a[0] == "nil" or b[0] == "nil":
        return False
    if op in ("=~", "!~"):
        return a[0] == b[0] == "string" and (re.fullmatch(b[1], a[1], re.S) is not None) == (op == "=~")
    if a[0] in NUMBERS and b[0] in NUMBERS:
        return ORDERS[op](a[1], b[1])
    if a[0] != b[0] or (op not in ("=", "!=") and a[0] != "string"):
        return False
    if a[0] == "string":
        return ORDERS[op](a[1].encode(), b[1].encode())
    return ORDERS[op](a[1], b[1])


def compare(op, a, b):
    if a[0] in ("list", "any"):
        each = [compare(op, v, b) for v in a[1]]
        return all(each) if a[0] == "list" and op in ("!=", "!~") else any(each)
    if b[0] in ("list", "any"):
        each = [compare(op, a, v) for v in b[1]]
        return all(each) if b[0] == "list" and op in ("!=", "!~") else any(each)
    return meets(op, a, b)


def arithmetic(op, a, b):
    a, b = (v[1][0] if v[0] == "any" else v for v in (a, b))
    if a[0] not in NUMBERS or b[0] not in NUMBERS:
        return NIL
    kind, x, y = "int" if a[0] == b[0] == "int" else "float", a[1], b[1]
    if kind == "float":
        x, y = float(x), float(y)
    if op in "/%" and y == 0:
        if kind == "int":
            return NIL
        if op == "%" or x == 0 or math.isnan(x):
            return ("float", math.nan)
        return ("float", math.copysign(math.inf, x) * math.copysign(1, y))
    if op == "/" and kind == "int":
        return ("int", int(x / y))
    if op == "%" and kind == "int":
        return ("int", int(math.fmod(x, y)))
    return (kind, {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "/": lambda: x / y, "%": lambda: math.fmod(x, y)}[op]())


def evaluate(trace, span, expr):
    what = expr[0]
    if what == "value":
        return expr[1]
    if what == "field":
        return field_value(trace, span, expr)
    if what == "exists":
        return ("bool", (evaluate(trace, span, expr[2]) != NIL) == expr[1])
    if what == "!":
        value = evaluate(trace, span, expr[1])
        return ("bool", not value[1]) if value[0] == "bool" else NIL
    if what == "-":
        value = evaluate(trace, span, expr[1])
        return (value[0], -value[1]) if value[0] in NUMBERS else NIL
    left, right = (evaluate(trace, span, side) for side in expr[2:])
    if expr[1] == "&&":
        return ("bool", left == right == ("bool", True))
    if expr[1] == "||":
        return ("bool", ("bool", True) in (left, right))
    if expr[1] in "+-*/%":
        return arithmetic(expr[1], left, right)
    return ("bool", compare(expr[1], left, right))


# Spansets: lists of (spans, attributes).

def related(trace, op, left, right):
    """The spans of the right side that have the relation to one of the left."""
    lefts = {s.id for s in left}
    def is_related(span):
        base = op.lstrip("!&")
        if base == ">":
            return span.parent in lefts
        if base == ">>":
            return any(s.id in lefts for s in trace.ancestors(span))
        if base == "<":
            return any(s.id in lefts for s in trace.children[span.id])
        if base == "<<":
            return any(span.id in (s.id for s in trace.ancestors(other)) for other in left)
        return any(other.parent == span.parent and other is not span for other in left)
    return [s for s in right if is_related(s) != op.startswith("!")]


INVERSE = {">": "<", "<": ">", ">>": "<<", "<<": ">>", "~": "~"}


def union(trace, *lists):
    wanted = {s.id for one in lists for s in one}
    return [s for s in trace.spans if s.id in wanted]


def spans_of(sets):
    return [s for spans, _ in sets for s in spans]


def key_of(value):
    return repr(value)


def aggregate(trace, spans, node):
    _, function, expr = node
    if function == "count":
        return ("int", len(spans))
    values = [evaluate(trace, s, expr) for s in spans]
    values = [v[1][0] if v[0] == "any" else v for v in values]
    values = [v for v in values if v[0] in NUMBERS]
    if not values:
        return NIL
    if function in ("min", "max"):
        return (min if function == "min" else max)(values, key=lambda v: v[1])
    kinds = {v[0] for v in values}
    total = sum(v[1] for v in values)
    kind = kinds.pop() if len(kinds) == 1 else "float"
    if function == "sum":
        return (kind, float(total) if kind == "float" else total)
    return ("duration", int(total / len(values))) if kind == "duration" else ("float", total / len(values))


def run(trace, node, sets):
    what = node[0]
    if what == "filter":
        kept = [([s for s in spans if node[1] is None or evaluate(trace, s, node[1]) == ("bool", True)], given) for spans, given in sets]
        return [one for one in kept if one[0]]
    if what == "op":
        out = []
        for one in sets:
            left, right = run(trace, node[2], [one]), run(trace, node[3], [one])
            if node[1] in ("&&", "||"):
                found = union(trace, spans_of(left), spans_of(right)) if node[1] == "||" or (left and right) else []
            else:
                found = related(trace, node[1], spans_of(left), spans_of(right))
                if node[1].startswith("&"):
                    found = union(trace, found, related(trace, INVERSE[node[1][1:]], spans_of(right), spans_of(left)))
            if found:
                out.append((found, one[1]))
        return out
    if what == "pipe":
        for stage in node[1]:
            sets = run(trace, stage, sets)
        return sets
    if what == "by":
        out = []
        for spans, given in sets:
            groups = {}
            for span in spans:
                value = evaluate(trace, span, node[1])
                groups.setdefault(key_of(value), ([], {**given, "by": value}))[0].append(span)
            out += groups.values()
        return out
    if what == "coalesce":
        found = union(trace, spans_of(sets))
        return [(found, {})] if found else []
    if what == "select":
        return sets
    out = []
    for spans, given in sets:
        value = aggregate(trace, spans, node[2])
        if value != NIL and compare(node[1], value, node[3]):
            out.append((spans, {**given, "aggregate": value}))
    return out


def search(traces, query):
    """By trace id: the spansets that match."""
    found = {}
    for trace in traces:
        sets = run(trace, query, [(trace.spans, {})])
        if sets:
            found[trace.spans[0].trace] = sets
    return found


# Metrics.

def bucket_of(value):
    if value[0] not in NUMBERS or (value[0] != "float" and value[1] < 2) or value[1] <= 0:
        return None
    bucket = 2.0 ** math.ceil(math.log2(value[1]))
    return bucket / 1e9 if value[0] == "duration" else bucket


def quantile(share, counts):
    total = sum(counts.values())
    wanted, taken, before = max(1, math.ceil(share * total)), 0, None
    for top in sorted(counts):
        if taken + counts[top] == wanted:
            return top
        if taken + counts[top] > wanted:
            upper = math.log2(top)
            lower = math.log2(before) if before else upper - 1
            return 2 ** (lower + (upper - lower) * (wanted - taken) / counts[top])
        taken, before = taken + counts[top], top
    return 0.0


def measure(traces, metric, begin, step, count):
    """Pairs of labels, a tuple of (name, value), and {interval: value}."""
    _, query, function, field, by, quantiles = metric
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for trace in traces:
        spans = [s for s in trace.spans if begin < s.begin <= begin + step * count]
        for span in spans_of(run(trace, query, [(spans, {})] if spans else [])):
            value = field_value(trace, span, field) if field else NIL
            value = value[1][0] if value[0] == "any" else value
            if field and value[0] not in NUMBERS:
                continue
            if function in ("quantile_over_time", "histogram_over_time") and bucket_of(value) is None:
                continue
            values = [field_value(trace, span, f) for f in by]
            labels = tuple((field_text(f), v[1][0] if v[0] == "any" else v) for f, v in zip(by, values) if v != NIL)
            groups[repr(labels)]["labels"] = labels
            groups[repr(labels)][(span.begin - begin - 1) // step].append(value)
    out = []
    for cells in groups.values():
        labels = cells.pop("labels")
        for more, points in series_of(function, cells, quantiles, step, count):
            all_labels = labels + more
            if not all_labels:
                all_labels = (((field_text(by[0]), NIL),) if by else (("__name__", ("string", function)),))
            out.append((all_labels, points))
    return out


def number(value):
    return value[1] / 1e9 if value[0] == "duration" else value[1]


def series_of(function, cells, quantiles, step, count):
    every = range(count)
    if function in ("rate", "count_over_time"):
        yield (), {i: len(cells.get(i, ())) / (step / 1e9 if function == "rate" else 1) for i in every}
    elif function == "quantile_over_time":
        for share in quantiles:
            yield (("p", ("float", share)),), {i: quantile(share, collections.Counter(map(bucket_of, cells.get(i, ())))) for i in every}
    elif function == "histogram_over_time":
        for bucket in sorted({bucket_of(v) for values in cells.values() for v in values}):
            yield (("__bucket", ("float", bucket)),), {i: sum(bucket_of(v) == bucket for v in cells.get(i, ())) for i in every}
    else:
        fold = {"sum_over_time": math.fsum, "min_over_time": min, "max_over_time": max,
                "avg_over_time": lambda values: math.fsum(values) / len(values)}[function]
        yield (), {i: fold([number(v) for v in values]) for i, values in cells.items()}


# Queries as text.

def quoted(string):
    return '"' + string.replace("\\", "\\\\").replace('"', '\\"') + '"'


def field_text(field):
    _, scope, name = field
    if scope == "intrinsic":
        return {"span:duration": "duration", "span:name": "name"}.get(name, name)
    return f"{scope}." + (quoted(name) if " " in name else name)


def value_text(value):
    kind, content = value
    return {"int": lambda: str(content), "float": lambda: repr(content), "string": lambda: quoted(content),
            "bool": lambda: str(content).lower(), "duration": lambda: f"{content}ns", "status": lambda: STATUSES[content],
            "kind": lambda: KINDS[content]}[kind]()


def expr_text(expr):
    what = expr[0]
    if what == "value":
        return value_text(expr[1])
    if what == "field":
        return expr[2] if expr[1] == "intrinsic" else field_text(expr)
    if what == "exists":
        return f"{expr_text(expr[2])} {'!=' if expr[1] else '='} nil"
    if what in "!-":
        return f"{what}({expr_text(expr[1])})"
    def side(one):
        return f"({expr_text(one)})" if one[0] in ("binary", "exists") else expr_text(one)
    return f"{side(expr[2])} {expr[1]} {side(expr[3])}"


def text(node):
    what = node[0]
    if what == "filter":
        return "{ " + expr_text(node[1]) + " }" if node[1] else "{}"
    if what == "op":
        return " ".join((wrapped(node[2]), node[1], wrapped(node[3])))
    if what == "pipe":
        return " | ".join(map(text, node[1]))
    if what == "by":
        return f"by({expr_text(node[1])})"
    if what == "coalesce":
        return "coalesce()"
    if what == "select":
        return f"select({', '.join(map(expr_text, node[1]))})"
    if what == "scalar":
        inner = expr_text(node[2][2]) if node[2][2] else ""
        return f"{node[2][1]}({inner}) {node[1]} {value_text(node[3])}"
    _, query, function, field, by, quantiles = node
    arguments = ", ".join([*([expr_text(field)] if field else []), *map(repr, quantiles)])
    labels = f" by ({', '.join(map(expr_text, by))})" if by else ""
    return f"{text(query)} | {function}({arguments}){labels}"


def wrapped(node):
    return f"({text(node)})" if node[0] in ("op", "pipe") else text(node)


# Random queries.

class Maker:
    def __init__(self, rng):
        self.rng = rng
        self.texts = ["name", "rootName", "rootServiceName", "statusMessage", "event:name", "link:traceID", "link:spanID", "instrumentation:name",
                      "instrumentation:version"]

    def attribute(self):
        scopes = ["span", "span", "", "link", "parent.span", "parent", "event", "resource"]
        scope = self.rng.choice(scopes)
        if scope == "resource":
            return ("field", scope, "host.name")
        names = {"link": ("why",), "event": ("a", "try")}.get(scope, ATTRIBUTES)
        return ("field", scope, self.rng.choice(names))

    def compared(self, order, field):
        """A comparison with a value; booleans have no order."""
        value = make_value(self.rng)
        return ("binary", "!=" if value[0] == "bool" and order not in ("=", "!=") else order, field, ("value", value))

    def comparison(self):
        rng, equal = self.rng, self.rng.choice(("=", "!="))
        order = rng.choice(("=", "!=", "<", "<=", ">", ">="))
        def duration():
            name = rng.choice(["duration", "traceDuration", "span:duration", "event:timeSinceStart"])
            return ("binary", order, ("field", "intrinsic", name), ("value", ("duration", rng.randrange(70_000_000))))
        def string():
            wanted = rng.choice(("GET /a", "query", "shop", "boom", "retry", "lib", "1.0", f"{2:032x}", f"{1:016x}", ""))
            return ("binary", order, ("field", "intrinsic", rng.choice(self.texts)), ("value", ("string", wanted)))
        def pattern():
            wanted = rng.choice(("GET .*", "x|y", ".*e.*", "[a-z]+", "(db[.])?query", "2.."))
            field = rng.choice((("field", "intrinsic", "name"), ("field", "resource", "service.name"), self.attribute()))
            return ("binary", rng.choice(("=~", "!~")), field, ("value", ("string", wanted)))
        def count():
            name = rng.choice(("span:childCount", "nestedSetLeft", "nestedSetRight", "nestedSetParent"))
            return ("binary", order, ("field", "intrinsic", name), ("value", ("int", rng.randrange(-1, 6))))
        def sum_():
            left = ("binary", rng.choice("+-*/%"), self.attribute(), ("value", ("int", rng.randrange(4))))
            return ("binary", order, left, ("value", ("int", rng.randrange(6))))
        return rng.choice((
            duration, string, pattern, count, sum_,
            lambda: self.compared(order, self.attribute()), lambda: self.compared(order, self.attribute()),
            lambda: ("binary", equal, ("value", make_value(rng)), self.attribute()),
            lambda: ("binary", order, self.attribute(), self.attribute()),
            lambda: ("binary", equal, ("field", "intrinsic", "status"), ("value", ("status", rng.randrange(3)))),
            lambda: ("binary", equal, ("field", "intrinsic", "kind"), ("value", ("kind", rng.randrange(6)))),
            lambda: ("binary", order, ("field", "resource", "service.name"), ("value", ("string", rng.choice(("shop", "cart", "dc"))))),
            lambda: ("exists", rng.random() < .6, self.attribute()),
            lambda: self.attribute()))()

    def condition(self, depth):
        rng = self.rng
        if depth == 0 or rng.random() < .4:
            return self.comparison()
        if rng.random() < .15:
            return ("!", self.condition(depth - 1))
        return ("binary", rng.choice(("&&", "||")), self.condition(depth - 1), self.condition(depth - 1))

    def filter(self):
        return ("filter", None if self.rng.random() < .1 else self.condition(self.rng.randrange(3)))

    def spansets(self, depth=2):
        if depth == 0 or self.rng.random() < .4:
            return self.filter()
        op = self.rng.choice(("&&", "||", ">", ">>", "<", "<<", "~", "!>", "!>>", "!<", "!<<", "!~", "&>", "&>>", "&<", "&<<", "&~"))
        return ("op", op, self.spansets(depth - 1), self.spansets(depth - 1))

    def numeric(self):
        return self.rng.choice((("field", "intrinsic", "duration"), ("field", "span", "a"), ("field", "", "b"),
                                ("field", "intrinsic", "span:childCount")))

    def scalar(self):
        function = self.rng.choice(("count", "count", "sum", "avg", "min", "max"))
        field = None if function == "count" else self.numeric()
        limit = ("duration", self.rng.randrange(80_000_000)) if field and field[2] == "duration" else ("int", self.rng.randrange(4))
        return ("scalar", self.rng.choice(("=", "!=", "<", "<=", ">", ">=")), ("aggregate", function, field), limit)

    def query(self):
        stages = [self.spansets()]
        while self.rng.random() < .4:
            stages.append(self.rng.choice((
                self.scalar, self.scalar, self.filter, lambda: ("by", self.rng.choice((("field", "intrinsic", "name"), self.attribute()))),
                lambda: ("coalesce",), lambda: ("select", [self.attribute()])))())
            if stages[-1][0] == "by" and self.rng.random() < .5:
                stages.append(self.scalar())
        return ("pipe", stages)

    def metric(self):
        rng = self.rng
        query = ("pipe", [self.filter() if rng.random() < .7 else self.spansets()])
        function = rng.choice(("rate", "count_over_time", "sum_over_time", "min_over_time", "max_over_time", "avg_over_time",
                               "quantile_over_time", "histogram_over_time"))
        field = None if function in ("rate", "count_over_time") else self.numeric()
        by = rng.choice(([], [("field", "resource", "service.name")], [("field", "intrinsic", "name"), ("field", "span", "c")],
                         [("field", "", "a")], [("field", "intrinsic", "kind")]))
        return ("metric", query, function, field, by, [0.5, 0.9, 1.0] if function == "quantile_over_time" else [])
