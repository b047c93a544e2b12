"""A store of spans as SDKs send them, served to clients of other trace stores (test_jaeger.py, test_zipkin.py, test_tempo.py)."""
import argparse
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

from service import Service

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "world"))
import shop  # noqa: E402

OPTIONS = argparse.Namespace()
COUNT = 40

# A trace with everything that a span can have.
RICH = "00000000000000005af7183fb1d4cf5f"
RICH_BEGIN = shop.BEGIN - 3_600_000_000_000


def attribute(key, value):
    kinds = {bool: "boolValue", str: "stringValue", float: "doubleValue"}
    if isinstance(value, list):
        return {"key": key, "value": {"arrayValue": {"values": [attribute("", v)["value"] for v in value]}}}
    if isinstance(value, dict):
        return {"key": key, "value": {"kvlistValue": {"values": [attribute(k, v) for k, v in value.items()]}}}
    if isinstance(value, bytes):
        return {"key": key, "value": {"bytesValue": "AQI="}}
    return {"key": key, "value": {"intValue": str(value)} if type(value) is int else {kinds[type(value)]: value}}


RICH_ATTRIBUTES = {"http.method": "GET", "http.status_code": 503, "ratio": 0.25, "is.cached": True, "big": 2 ** 60,
                   "tags": ["a", "b"], "limits": {"cpu": 2}, "raw": b"\1\2", "quoted \"name\"": "x y", "colour": "grün"}
RICH_REQUEST = {"resourceSpans": [{
    "resource": {"attributes": [attribute("service.name", "billing"), attribute("host.name", "host-1"), attribute("replicas", 3)]},
    "scopeSpans": [{
        "scope": {"name": "my.library", "version": "1.2"},
        "spans": [{
            "traceId": RICH, "spanId": "00000000000000a1", "parentSpanId": "", "name": "GET /invoice", "kind": 2, "flags": 1,
            "traceState": "k=v", "startTimeUnixNano": str(RICH_BEGIN), "endTimeUnixNano": str(RICH_BEGIN + 1_500_000_999),
            "attributes": [attribute(k, v) for k, v in RICH_ATTRIBUTES.items()],
            "events": [{"timeUnixNano": str(RICH_BEGIN + 7_000), "name": "exception",
                        "attributes": [attribute("exception.type", "IOError"), attribute("retries", 2)]},
                       {"timeUnixNano": str(RICH_BEGIN + 9_000), "name": "cache miss"}],
            "links": [{"traceId": "11" * 16, "spanId": "22" * 8, "attributes": [attribute("why", "retry")]}],
            "status": {"code": 2, "message": "no disk"}}, {
            "traceId": RICH, "spanId": "00000000000000a2", "parentSpanId": "00000000000000a1", "name": "charge", "kind": 3,
            "startTimeUnixNano": str(RICH_BEGIN + 1_000_000), "endTimeUnixNano": str(RICH_BEGIN + 2_000_000),
            "attributes": [attribute("peer.service", "bank")], "status": {"code": 1}}]}]}]}


class Compat(unittest.TestCase):
    """A server of one store: the traces of the shop, and the rich one."""
    PREFIX = ""

    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        folder = pathlib.Path(cls.stack.enter_context(tempfile.TemporaryDirectory()))
        cls.traces = shop.make_traces(COUNT, 4)
        requests = [*shop.batches(cls.traces, 16, 3), RICH_REQUEST]
        for i, request in enumerate(requests):
            (folder / f"{i:04}.json").write_text(json.dumps(request), encoding="utf-8")
        cls.store = str(folder / "store")
        half = len(requests) // 2
        for part in (range(half), range(half, len(requests))):
            subprocess.check_call([OPTIONS.cairn, "store", "add", "-q", "--create", cls.store, *(f"{folder}/{i:04}.json" for i in part)])
            if part.start == 0:
                subprocess.check_call([OPTIONS.cairn, "store", "seal", "-q", cls.store])
        cls.service = Service(OPTIONS.cairn, cls.store, checks=False)
        cls.stack.callback(cls.end)
        cls.spans = [s for t in cls.traces.values() for s in t.values()]

    @classmethod
    def end(cls):
        status, talk = cls.service.end()
        if status != 0 or "ERROR" in talk:
            raise AssertionError(f"cairn serve ended with {status}: {talk}")

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()

    def ask(self, path, prefix=None, headers=None, **parameters):
        query = urllib.parse.urlencode(parameters, doseq=True)
        given = {"Authorization": f"Bearer {self.service.token}", **(headers or {})}
        address = (self.PREFIX if prefix is None else prefix) + path + (f"?{query}" if query else "")
        response, body = self.service.receive(address, headers=given)
        return response.status, dict(response.getheaders()), body

    def get(self, path, prefix=None, headers=None, **parameters):
        status, got, body = self.ask(path, prefix, headers, **parameters)
        self.assertEqual(status, 200, (path, parameters, body[:300]))
        self.assertEqual(got["Content-Type"], "application/json")
        return json.loads(body)


def newest(traces, test, limit=None):
    """Ids of traces with a span that passes a test, the one with the newest such span first."""
    found = {t: max(s.begin for s in spans.values() if test(s)) for t, spans in traces.items() if any(map(test, spans.values()))}
    return sorted(found, key=found.get, reverse=True)[:limit]


def matches(value, form, where="answer"):
    """Check JSON against a form: a type, a tuple of forms, a list with the form of its elements, or an object with those of its
    members, where a name that ends with ? may be missing. None is null."""
    if isinstance(form, tuple):
        failures = []
        for one in form:
            try:
                return matches(value, one, where)
            except AssertionError as failure:
                failures.append(str(failure))
        raise AssertionError("; or ".join(failures))
    if form is None or isinstance(form, (str, bool)):
        assert value == form, f"{where} is {value!r:.80}, not {form!r}"
    elif isinstance(form, list):
        assert isinstance(value, list), f"{where} is {value!r:.80}, not a list"
        for i, item in enumerate(value):
            matches(item, form[0], f"{where}[{i}]")
    elif isinstance(form, dict):
        assert isinstance(value, dict), f"{where} is {value!r:.80}, not an object"
        names = {name.rstrip("?"): one for name, one in form.items()}
        for name in value:
            assert name in names or "*" in names, f"{where} has {name}"
            matches(value[name], names.get(name, names.get("*")), f"{where}.{name}")
        for name in form:
            assert name == "*" or name.endswith("?") or name in value, f"{where} lacks {name}"
    else:
        assert isinstance(value, form) and (form is bool or not isinstance(value, bool)), f"{where} is {value!r:.80}, not {form.__name__}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    _, rest = parser.parse_known_args(namespace=OPTIONS)
    unittest.main(argv=[sys.argv[0], *rest])
