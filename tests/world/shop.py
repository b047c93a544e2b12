"""Spans as SDKs send them, and the answers to questions about them, computed without an index.

A small shop of three services, each on a host whose clock is wrong in its own way. A service sends its spans
in batches when they have ended: those of a trace come in several requests, from several services, children
before their parents, some of them late, some batches twice because the answer got lost, some never.
"""
import collections
import itertools
import math
import random

MS = 1_000_000
BEGIN = 1_700_000_000_000_000_000
SKEW = {"frontend": 0, "inventory": 3 * MS, "payment": -2 * MS}
SERVICES = tuple(SKEW)


class Span:
    def __init__(self, trace, number, parent, service, name, begin, end, error=False, **attributes):
        self.trace, self.id = trace, f"{number:016x}"
        self.parent, self.service, self.name, self.error = parent, service, name, error
        self.begin, self.end = begin + SKEW[service], end + SKEW[service]
        self.attributes = attributes

    @property
    def ns(self):
        return self.end - self.begin

    def otlp(self):
        def value(v):
            return {"intValue": str(v)} if isinstance(v, int) else {"stringValue": v}
        return {"traceId": self.trace, "spanId": self.id, "parentSpanId": self.parent.id if self.parent else "",
                "name": self.name, "kind": 2, "startTimeUnixNano": str(self.begin), "endTimeUnixNano": str(self.end),
                "attributes": [{"key": k.replace("_", "."), "value": value(v)} for k, v in self.attributes.items()],
                "status": {"code": 2} if self.error else {}}


def make_trace(number, rng):
    """The spans of one request, in the order of their ends."""
    trace, ids = f"{rng.getrandbits(128) | 1:032x}", itertools.count(number * 100 + 1)
    begin = BEGIN + number * 7 * MS + rng.randrange(MS)
    spans = []

    def add(parent, service, name, first, last, **more):
        spans.append(Span(trace, next(ids), parent, service, name, begin + first, begin + last, **more))
        return spans[-1]

    item, user, length = rng.randrange(13), rng.randrange(1000), rng.randrange(30 * MS, 60 * MS)
    if number % 3 == 0:
        root = add(None, "frontend", "GET /browse", 0, length // 2, page=number % 5)
        stock = add(root, "inventory", "GET /stock", MS, length // 3)
        add(stock, "inventory", "db query", 2 * MS, length // 4, db_system="postgresql", item=item)
    else:
        declined = user % 23 == 0
        root = add(None, "frontend", "GET /checkout", 0, length, error=declined)
        handler = add(root, "frontend", "handler", MS // 2, length - MS // 2)
        cart = add(handler, "frontend", "load cart", MS, 9 * MS, cart_items=user % 9)
        # A client has the name of what it asks for: in another service, that is no recursion.
        asked = add(cart, "frontend", "GET /stock", MS + MS // 2, 8 * MS + MS // 2)
        stock = add(asked, "inventory", "GET /stock", 2 * MS, 8 * MS)
        add(stock, "inventory", "db query", 3 * MS, 7 * MS, db_system="postgresql", item=item)
        # At the same time as each other; one ends after its caller.
        pay = add(handler, "payment", "POST /pay", 10 * MS, 20 * MS, error=declined)
        add(pay, "payment", "charge card", 11 * MS, 19 * MS, error=declined, card_type="amex" if user % 5 == 0 else "visa")
        reserve = add(handler, "inventory", "POST /reserve", 10 * MS, 25 * MS)
        add(reserve, "inventory", "db update", 12 * MS, 26 * MS, db_system="postgresql", item=(item + 1) % 13)
        if number % 4 == 1:
            add(root, "payment", "send receipt", length - 2 * MS, length + 5 * MS)
        if number % 11 == 7:
            # The first two never arrive: three spans have no caller.
            spans = spans[2:]
    return sorted(spans, key=lambda s: s.end - SKEW[s.service])


def make_traces(count, seed):
    rng = random.Random(seed)
    return {spans[0].trace: {s.id: s for s in spans} for spans in (make_trace(i, rng) for i in range(count))}


def request(service, spans):
    return {"resourceSpans": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]},
                               "scopeSpans": [{"spans": [s.otlp() for s in spans]}]}]}


def batches(traces, size, seed):
    """Requests in the order of arrival: batches of each service, one of ten late, one of ten twice."""
    rng, sent = random.Random(seed), []
    for service in SERVICES:
        spans = sorted((s for t in traces.values() for s in t.values() if s.service == service),
                       key=lambda s: s.end - SKEW[service])
        for i in range(0, len(spans), size):
            at = (i + size) / max(len(spans), 1) + (rng.random() / 2 if rng.random() < 0.1 else 0)
            sent.append((at, service, spans[i:i + size]))
            if rng.random() < 0.1:
                sent.append((at + rng.random() / 4, service, spans[i:i + size]))
    return [request(service, spans) for _, service, spans in sorted(sent, key=lambda s: s[0])]


def roots_of(trace):
    """Spans whose caller is unknown, those without one first, then by time."""
    return sorted((s for s in trace.values() if not s.parent or s.parent.id not in trace),
                  key=lambda s: (s.parent is not None, s.begin, -s.ns))


def duration_ns(trace):
    """That of the span without a caller; if it did not arrive, from the first start to the last end."""
    root = roots_of(trace)[0]
    return root.ns if not root.parent else max(s.end for s in trace.values()) - min(s.begin for s in trace.values())


def any_span(test):
    return lambda trace: any(map(test, trace.values()))


def has(name, test):
    return any_span(lambda s: name in s.attributes and test(s.attributes[name]))


def of(service):
    return any_span(lambda s: s.service == service)


def called(name):
    return any_span(lambda s: s.name == name)


failed = any_span(lambda s: s.error)

# Questions about traces, as queries and as tests of all spans of a trace.
QUERIES = (
    ("", lambda t: True),
    ("cart.items >= 3", has("cart_items", lambda v: v >= 3)),
    ('cart.items >= 3 root = "GET /checkout"', lambda t: has("cart_items", lambda v: v >= 3)(t) and called("GET /checkout")(t)),
    ("card.type = visa item = 7", lambda t: has("card_type", lambda v: v == "visa")(t) and has("item", lambda v: v == 7)(t)),
    ("card.type != visa", has("card_type", lambda v: v != "visa")),
    ("service = payment service = frontend", lambda t: of("payment")(t) and of("frontend")(t)),
    ("NOT service = payment", lambda t: not of("payment")(t)),
    ("service = inventory NOT (card.type = amex OR page exists)",
     lambda t: of("inventory")(t) and not has("card_type", lambda v: v == "amex")(t) and not has("page", lambda v: True)(t)),
    ("errors", failed),
    ("errors item < 5", lambda t: failed(t) and has("item", lambda v: v < 5)(t)),
    ('method = "send receipt" OR page = 2', lambda t: called("send receipt")(t) or has("page", lambda v: v == 2)(t)),
    ("duration > 40ms", lambda t: duration_ns(t) > 40 * MS),
    ("duration < 12ms service = inventory", lambda t: duration_ns(t) < 12 * MS),
    ("since 2023-11-14T22:13:20.5Z until 2023-11-14T22:13:20.9Z card.type = amex",
     lambda t: any(BEGIN + 500 * MS <= s.begin <= BEGIN + 999 * MS for s in t.values()) and has("card_type", lambda v: v == "amex")(t)),
)

# Questions about spans: all conditions are about the same span.
SPAN_QUERIES = (
    ("db.system = postgresql", lambda s: s.attributes.get("db_system") == "postgresql"),
    ("db.system = postgresql item = 7", lambda s: s.attributes.get("item") == 7),
    ("card.type exists cart.items exists", lambda s: False),
    ("errors", lambda s: s.error),
    ("errors service = payment", lambda s: s.error and s.service == "payment"),
    ("service = inventory duration > 10ms", lambda s: s.service == "inventory" and s.ns > 10 * MS),
    ('method = "db query"', lambda s: s.name == "db query"),
    ("NOT db.system exists", lambda s: "db_system" not in s.attributes),
)


def children_of(trace):
    found = collections.defaultdict(list)
    for s in trace.values():
        found[s.parent.id if s.parent and s.parent.id in trace else None].append(s)
    return found


def self_ns(span, children):
    """What no child covers, children cut to their parent."""
    covered, last = 0, span.begin
    for c in sorted(children, key=lambda c: c.begin):
        first, end = max(c.begin, last), min(c.end, span.end)
        if end > first:
            covered += end - first
            last = end
    return span.ns - covered


def report(traces):
    """Calls, total and self time by name."""
    rows = collections.defaultdict(lambda: [0, 0, 0])
    for t in traces.values():
        children = children_of(t)
        for s in t.values():
            row = rows[s.name]
            row[0] += 1
            row[1] += s.ns
            row[2] += self_ns(s, children[s.id])
    return dict(rows)


def paths(traces):
    """Self time by the names of a call and its callers, the outermost first."""
    found = collections.Counter()
    for t in traces.values():
        children = children_of(t)
        waiting = [(s, ()) for s in children[None]]
        while waiting:
            s, above = waiting.pop()
            found[above + (s.name,)] += self_ns(s, children[s.id])
            waiting += [(c, above + (s.name,)) for c in children[s.id]]
    return dict(found)


def statistics(durations, errors):
    """Of a group: how many, failed ones, and the durations that a half, 90 % and 99 % do not exceed."""
    ordered = sorted(durations)
    return {"count": len(ordered), "error_count": errors, "total_ns": sum(ordered),
            **{f"p{p}_ns": ordered[-(-len(ordered) * p // 100) - 1] for p in (50, 90, 99)}}


def values_of(span, name):
    if name in ("service", "method"):
        return span.service if name == "service" else span.name
    return str(span.attributes[name]) if name in span.attributes else None


def groups(traces, name):
    """Traces by a value that any of their spans has."""
    found = collections.defaultdict(list)
    for t in traces.values():
        for v in {values_of(s, name) for s in t.values()} - {None}:
            found[v].append(t)
    return {v: statistics(map(duration_ns, ts), sum(map(failed, ts))) for v, ts in found.items()}


def operations(traces):
    """Spans by service and name."""
    found = collections.defaultdict(list)
    for s in (s for t in traces.values() for s in t.values()):
        found[f"{s.service}: {s.name}"].append(s)
    return {v: statistics((s.ns for s in ss), sum(s.error for s in ss)) for v, ss in found.items()}


def edges(traces):
    """Calls between services, with their durations."""
    found = collections.defaultdict(list)
    for t in traces.values():
        for s in t.values():
            caller = s.parent.service if s.parent and s.parent.id in t else None
            if caller != s.service:
                found[caller, s.service].append(s)
    return {e: statistics((s.ns for s in ss), sum(s.error for s in ss)) for e, ss in found.items()}


def critical_path(trace):
    """What the end of a trace waited for: nanoseconds by span, and None for times between outermost calls."""
    children, own = children_of(trace), collections.Counter()

    def follow(span_id, begin, end):
        own[span_id] += 0
        at = end
        cut = [(max(c.begin, begin), min(c.end, end), c.id) for c in children[span_id]]
        for first, last, child in sorted(cut, key=lambda c: (-c[1], c[0])):
            if first < last <= at:
                own[span_id] += at - last
                follow(child, first, last)
                at = first
        own[span_id] += at - begin

    outermost = children[None]
    follow(None, min(s.begin for s in outermost), max(s.end for s in outermost))
    return own


def facts_of(trace):
    """What any span of a trace has, as names and values."""
    found = {("error", "yes" if failed(trace) else "no")}
    for s in trace.values():
        found |= {("service", s.service), ("service.name", s.service), ("type", "server")}
        found |= {(k.replace("_", "."), str(v)) for k, v in s.attributes.items()}
    return found


def facets(sides):
    """Values that traces of one side have more often: Fisher's exact test, corrected for the number of tests, to the base 1 %."""
    counts = [collections.Counter(f for t in side for f in facts_of(t)) for side in sides]
    keys = {k for c in counts for k, _ in c}
    tests = sum(n >= 3 for c in counts for n in c.values()) + 2 * 2 * 5 * len(keys)
    found = {}
    for side, other in ((0, 1), (1, 0)):
        mine, all_count = len(sides[side]), len(sides[0]) + len(sides[1])
        for fact, has in counts[side].items():
            marked = has + counts[other][fact]
            tail = sum(math.comb(marked, k) * math.comb(all_count - marked, mine - k) for k in range(has, min(marked, mine) + 1))
            if has >= 3 and tail * tests * 100 <= math.comb(all_count, mine):
                found["AB"[side], *fact] = (counts[0][fact], counts[1][fact])
    return found


def beyond(side, key, relation, limit):
    """Traces with a number above or below a limit in any span."""
    def is_beyond(v):
        return isinstance(v, int) and (v > limit if relation == ">" else v < limit)
    return sum(any(is_beyond(s.attributes.get(key.replace(".", "_"))) for s in t.values()) for t in side)
