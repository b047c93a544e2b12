"""Spans as SDKs send them, and the answers to questions about them, computed without an index.

A small shop of three services, each on a host whose clock is wrong in its own way. A service sends its spans
in batches when they have ended: those of a trace come in several requests, from several services, children
before their parents, some of them late, some batches twice because the answer got lost.
"""
import collections
import itertools
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

    item, user, length = rng.randrange(13), rng.randrange(1000), rng.randrange(30, 60) * MS
    if number % 3 == 0:
        root = add(None, "frontend", "GET /browse", 0, length // 2, page=number % 5)
        stock = add(root, "inventory", "GET /stock", MS, length // 3)
        add(stock, "inventory", "db query", 2 * MS, length // 4, db_system="postgresql", item=item)
    else:
        declined = user % 23 == 0
        root = add(None, "frontend", "GET /checkout", 0, length, error=declined)
        handler = add(root, "frontend", "handler", MS // 2, length - MS // 2)
        cart = add(handler, "frontend", "load cart", MS, 9 * MS, cart_items=user % 9)
        stock = add(cart, "inventory", "GET /stock", 2 * MS, 8 * MS)
        add(stock, "inventory", "db query", 3 * MS, 7 * MS, db_system="postgresql", item=item)
        # At the same time as each other; one ends after its caller.
        pay = add(handler, "payment", "POST /pay", 10 * MS, 20 * MS, error=declined)
        add(pay, "payment", "charge card", 11 * MS, 19 * MS, error=declined, card_type="amex" if user % 5 == 0 else "visa")
        reserve = add(handler, "inventory", "POST /reserve", 10 * MS, 25 * MS)
        add(reserve, "inventory", "db update", 12 * MS, 26 * MS, db_system="postgresql", item=item)
        if number % 4 == 1:
            add(root, "payment", "send receipt", length - 2 * MS, length + 5 * MS)
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


def root_of(trace):
    return next(s for s in trace.values() if not s.parent)


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
    ("duration > 40ms", lambda t: root_of(t).ns > 40 * MS),
    ("duration < 12ms service = inventory", lambda t: root_of(t).ns < 12 * MS),
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
        found[s.parent.id if s.parent else None].append(s)
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


def groups(traces, name):
    """By value of an attribute that any span has: traces, failed ones, durations in order."""
    found = collections.defaultdict(list)
    for t in traces.values():
        for v in {str(s.attributes[name]) for s in t.values() if name in s.attributes}:
            found[v].append(t)
    return {v: (len(ts), sum(map(failed, ts)), sorted(root_of(t).ns for t in ts)) for v, ts in found.items()}


def edges(traces):
    """Calls between services."""
    found = collections.Counter()
    for t in traces.values():
        for s in t.values():
            caller = s.parent.service if s.parent else None
            if caller != s.service:
                found[caller, s.service] += 1
    return dict(found)
