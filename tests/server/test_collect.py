#!/usr/bin/env python3
"""The collector: acknowledged requests are in the store, whatever happens afterwards; malformed ones
are refused and change nothing.

Usage: test_collect.py --cairn PROGRAM
"""
import argparse
import asyncio
import gzip
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import seeds
from agent import SYMBOLS, call, number, span, trace
from service import Service, serving

ROOT = pathlib.Path(__file__).resolve().parents[2]

sys.path.insert(0, str(ROOT / "tests" / "support"))
import data


def headers(session="5e551071", trace_id=None, **more):
    result = {"X-Zorka-Session-Id": session, "Content-Type": "application/zorka+cbor+v1",
              "Host": "127.0.0.1", **more}
    if trace_id is not None:
        result["X-Zorka-Trace-Id"] = f"{1:016x}{trace_id + 1:016x}"
    return result


def send_symbols(service, session="5e551071"):
    return service.ask("/agent/submit/agd", method="POST", body=SYMBOLS,
                       headers=headers(session, **{"X-Zorka-Session-Reset": "true"}))


def send(service, n, session="5e551071"):
    return service.ask("/agent/submit/trc", method="POST", body=trace(n),
                       headers=headers(session, n))[0]


def count(store, query=""):
    return int(subprocess.check_output(
        [OPTIONS.cairn, "store", "search", "--spans", "--count", store, query], text=True))


def listed(store):
    """All spans as `store search` prints them, with their calls as `store show` prints them."""
    text = subprocess.check_output(
        [OPTIONS.cairn, "store", "search", "--spans", "--format", "json", "-n", "1000", store], text=True)
    key = lambda one: (one["trace_id"], one["span_id"])
    traces = sorted(json.loads(text), key=key)
    return [(one, subprocess.check_output([OPTIONS.cairn, "store", "show", "--no-pager", store,
                                           one["trace_id"]], text=True)) for one in traces]


class Collector(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.store = os.path.join(self.folder.name, "store")

    def tearDown(self):
        self.folder.cleanup()

    def test_what_is_acknowledged_is_in_the_store(self):
        with serving(OPTIONS.cairn, "--collect", self.store) as service:
            status, answer, _ = send_symbols(service)
            self.assertEqual(status, 202)
            self.assertNotIn("", answer.values())
            for n in range(20):
                self.assertEqual(send(service, n), 202)
            self.assertEqual(count(self.store), 20)
            self.assertEqual(send(service, 3), 202)
        self.assertEqual(count(self.store), 20)
        self.assertEqual(count(self.store, "uri = /item/7"), 1)
        self.assertEqual(count(self.store, "method = handle"), 20)

    def test_a_socket_of_systemd_and_its_metrics(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            start = f'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@" 3<&{listener.fileno()}'
            with serving(OPTIONS.cairn, "--collect", self.store,
                         through=["sh", "-c", start, "sh"], pass_fds=[listener.fileno()]) as service:
                self.assertEqual(service.port, listener.getsockname()[1])
                send_symbols(service)
                self.assertEqual(send(service, 0), 202)
                text = service.ask("/metrics")[2].decode()
        values = dict(line.split() for line in text.splitlines() if not line.startswith("#"))
        self.assertEqual(values["cairn_collector_traces_total"], "1")
        # Metrics of spans have labels, and histograms more names than one.
        for name in (name for name in values if name.startswith("traces_")):
            family = re.sub(r"(_bucket|_sum|_count)?\{.*", "", name)
            self.assertRegex(text, rf"# HELP {family} [A-Z].*\.\n# TYPE {family} (counter|histogram)\n")
        for name in (name for name in values if not name.startswith("traces_")):
            kind = "counter" if name.endswith("_total") else "gauge"
            self.assertIn(f"# TYPE {name} {kind}\n{name} ", text)
            self.assertRegex(text, rf"# HELP {name} [A-Z].*\.\n# TYPE {name} ")
        # What is drawn and alerted on exists; those with labels have values once something is counted.
        described = set(re.findall(r"^# TYPE (\w+) ", text, re.MULTILINE))
        for path in ("packaging/grafana/cairn.json", "docs/production.md"):
            named = set(re.findall(r"\bcairn_\w+", (ROOT / path).read_text(encoding="utf-8")))
            self.assertGreater(len(named), 5)
            self.assertLessEqual(named, described, path)
        if not shutil.which("promtool"):
            self.skipTest("no promtool to check /metrics with")
        subprocess.run(["promtool", "check", "metrics"], input=text, text=True, check=True)

    def test_a_socket_that_does_not_fit_is_refused(self):
        start = 'LISTEN_PID=$$ LISTEN_FDS=$0 exec "$@" 3</dev/null'
        for count, more, message in (("1", [], "does not listen"), ("2", [], "takes one socket"),
                                     ("1", ["--listen", "127.0.0.1:0"], "--listen and a socket")):
            done = subprocess.run(["sh", "-c", start, count, OPTIONS.cairn, "serve", "--collect", "none", *more],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)

    def test_an_agent_has_one_lane(self):
        agents, lanes = [f"agent-{k}" for k in range(6)], {}
        with serving(OPTIONS.cairn, "--collect", self.store, "--collect-lanes", "4") as service:
            for session in agents:
                self.assertEqual(send_symbols(service, session)[0], 202)
            for n in range(30):
                self.assertEqual(send(service, n, agents[n % 6]), 202)
            self.assertEqual(send(service, 7, agents[1]), 202)
            answer = service.get_counted("sources/0/traces", 30, limit=40)
            self.assertEqual(answer["count"], 30)
            times = [int(one["time"]) for one in answer["traces"]]
            self.assertEqual(times, sorted(times, reverse=True))
            for one in answer["traces"]:
                agent = (int(one["trace"][-16:], 16) - 1) % 6
                lanes.setdefault(agent, set()).add(one["key"].split(".")[0])
        self.assertEqual([len(lanes[k]) for k in range(6)], [1] * 6)
        self.assertGreater(len(set.union(*lanes.values())), 1)
        # Other lanes, and other sessions, know them all.
        with serving(OPTIONS.cairn, "--collect", self.store, "--collect-lanes", "3") as service:
            send_symbols(service, "other")
            for n in range(31):
                self.assertEqual(send(service, n, "other"), 202)
        self.assertEqual(count(self.store), 31)

    def test_the_store_can_be_asked_while_it_is_filled(self):
        with serving(OPTIONS.cairn, "--collect", self.store) as service:
            send_symbols(service)
            for n in range(8):
                send(service, n)
            service.get_counted("sources/0/traces", 8)
            for question, parameters in (
                ("info", {}), ("traces", {"limit": 3}), ("traces", {"limit": 3, "spans": 1}),
                ("services", {}), ("groups", {"by": "operation"}), ("histogram", {"spans": 1}),
                ("traces", {"sort": "duration", "q": "uri ends 7"}), ("histogram", {"steps": 10}),
                ("names", {}), ("groups", {"by": "uri"}), ("flame", {}),
            ):
                service.get(f"sources/0/{question}", **parameters)
            groups = service.get("sources/0/groups", by="uri", limit=3)
            self.assertEqual((groups["count"], groups["isPartial"]), (8, False))
            self.assertEqual([one["value"] for one in groups["groups"]],
                             ["/item/0", "/item/1", "/item/2"])
            flame = service.get("sources/0/flame")
            self.assertEqual((flame["traceCount"], flame["hitCount"], flame["isPartial"]),
                             (8, 8, False))
            send(service, 8)
            self.assertEqual(service.get_counted("sources/0/traces", 9)["count"], 9)
            found = service.get("sources/0/traces", q="uri = /item/5")
            self.assertEqual(found["count"], 1)
            trace = service.get("sources/0/trace", key=found["traces"][0]["key"])
            self.assertEqual(trace["nodes"][0]["attributes"], [["uri", "/item/5"]])
            self.assertEqual([node["depth"] for node in trace["nodes"]], [0, 1, 1, 1])
            for path in ("trace?key=7777.7", "trace?key=x", "traces?q=(", "traces?sort=no", "groups"):
                status, _, body = service.ask(f"/api/v1/sources/0/{path}")
                self.assertIn(status, (400, 404), path)

    def test_pages_in_a_browser_cannot_write(self):
        spans = json.dumps([{"traceId": "c" * 32, "id": "1" * 16, "name": "n", "timestamp": 1794742291339589,
                             "duration": 5}])
        otlp, cross = '{"resourceSpans":[]}', {"Origin": "http://example.com"}
        attacks = [
            ("/api/v2/spans", spans, {"Content-Type": "text/plain", "Sec-Fetch-Site": "cross-site", **cross}),
            ("/api/v2/spans", spans, {"Content-Type": "application/json", **cross}),
            ("/api/v2/spans", spans, {"Origin": "null"}),
            ("/api/v2/spans", spans, {"Sec-Fetch-Site": "same-site"}),
            ("/api/v2/spans", spans, {"Content-Type": "Text/Plain; charset=utf-8"}),
            ("/api/v2/spans", spans, {"Content-Type": "multipart/form-data; boundary=x"}),
            ("/v1/traces", otlp, {"Content-Type": "text/plain", **cross}),
            ("/agent/submit/agd", SYMBOLS, {"X-Zorka-Session-Id": "1", **cross}),
        ]
        with serving(OPTIONS.cairn, "--collect", self.store) as service:
            for path, body, fields in attacks:
                status, _, answer = service.ask(path, method="POST", body=body,
                                                headers={"Host": "127.0.0.1", **fields})
                self.assertEqual(status, 403, (path, fields, answer))
            # Bodies that are packed otherwise are not taken for spans.
            for encoding in ("br", "snappy", "gzip, gzip"):
                status, _, answer = service.ask("/api/v2/spans", method="POST", body=spans,
                                                headers={"Host": "127.0.0.1", "Content-Encoding": encoding})
                self.assertEqual(status, 415, (encoding, answer))
            self.assertEqual(count(self.store), 0)
            self.assertEqual(service.ask("/api/v2/spans", method="POST", body=spans, headers={
                "Host": "127.0.0.1", "Content-Type": "application/json"})[0], 202)
        token = pathlib.Path(self.folder.name) / "token"
        token.write_text("collect-0123456789\n", encoding="utf-8")
        with serving(OPTIONS.cairn, "--collect", self.store, "--collect-token-file", str(token)) as service:
            self.assertEqual(service.ask("/api/v2/spans", method="POST", body=spans, headers={
                "Host": "127.0.0.1", "Authorization": "Bearer collect-0123456789", **cross})[0], 202)
        self.assertEqual(count(self.store), 1)

    def test_a_store_that_is_written_to_is_sound(self):
        """verify while a collector writes, and after it was killed."""
        with serving(OPTIONS.cairn, "--collect", self.store) as service:
            send_symbols(service)
            is_over = threading.Event()

            def write(first):
                for n in range(first, first + 100000):
                    if is_over.is_set():
                        return
                    send(service, n)

            writers = [threading.Thread(target=write, args=(100000 * i,)) for i in range(3)]
            for writer in writers:
                writer.start()
            runs = [subprocess.run([OPTIONS.cairn, "store", "verify", self.store], check=False,
                                   capture_output=True, text=True) for _ in range(6)]
            is_over.set()
            for writer in writers:
                writer.join()
        for run in runs:
            self.assertEqual(run.returncode, 0, run.stdout)
            self.assertNotIn("error ", run.stdout)
        for name, tail in (("traces.dat", b"ZCH0\0\0\1"), ("text.log", b"CNTB\0\0\1"), ("meta.log", b"\1")):
            with open(os.path.join(self.store, "000000", name), "ab") as file:
                file.write(tail)
        run = subprocess.run([OPTIONS.cairn, "store", "verify", self.store], check=False,
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertEqual(run.stdout.count("unfinished"), 2, run.stdout)

    def test_an_agent_that_is_not_known_is_asked_to_send_again(self):
        with serving(OPTIONS.cairn, "--collect", self.store) as service:
            self.assertEqual(send(service, 1, "unknown"), 412)
            send_symbols(service, "unknown")
            self.assertEqual(send(service, 1, "unknown"), 202)
        self.assertEqual(count(self.store), 1)

    def test_what_breaks_the_rules_is_refused_and_changes_nothing(self):
        bodies = (b"\xff", b"\xc3", b"\xc3\x9f", b"\xc3\x9f" * 20000, b"\x9b" + b"\xff" * 8,
                  b"\xc1\x82\x01\x7b" + b"\xff" * 8, b"not cbor at all", trace(1)[:-1] + b"\xc9",
                  seeds.source().randbytes(5000))
        with serving(OPTIONS.cairn, "--collect", self.store) as service:
            send_symbols(service)
            self.assertEqual(send(service, 0), 202)
            for body in bodies:
                status, _, answer = service.ask("/agent/submit/trc", method="POST", body=body,
                                                headers=headers(trace_id=99))
                self.assertIn(status, (202, 400, 412, 413), body[:20])
                if status != 202:
                    self.assertIn(b'"error"', answer)
            status = service.ask("/agent/submit/trc", method="POST", body=b"\0" * (17 << 20),
                                 headers=headers(trace_id=98))[0]
            self.assertEqual(status, 413)
            self.assertEqual(send(service, 1), 202)
        self.assertGreaterEqual(count(self.store, "uri exists"), 2)
        subprocess.check_call([OPTIONS.cairn, "store", "verify", self.store])

    def test_a_token_of_its_own(self):
        token = os.path.join(self.folder.name, "token")
        pathlib.Path(token).write_text("collect-0123456789\n", encoding="utf-8")
        with serving(OPTIONS.cairn, "--collect", self.store, "--collect-token-file", token) as service:
            self.assertEqual(send_symbols(service)[0], 401)
            right = headers(Authorization="Bearer collect-0123456789")
            self.assertEqual(service.ask("/agent/submit/agd", method="POST", body=SYMBOLS,
                                         headers=right)[0], 202)
            viewer = headers(Authorization=f"Bearer {service.token}")
            self.assertEqual(service.ask("/agent/submit/agd", method="POST", body=SYMBOLS,
                                         headers=viewer)[0], 401)

    def test_an_agent_that_starts_again_sends_its_symbols_again(self):
        with serving(OPTIONS.cairn, "--collect", self.store) as service:
            send_symbols(service)
            self.assertEqual(send(service, 1), 202)
            # Reset without symbols: the numbers have no meaning any more.
            status = service.ask("/agent/submit/agd", method="POST", body=b"",
                                 headers=headers(**{"X-Zorka-Session-Reset": "true"}))[0]
            self.assertEqual(status, 202)
            self.assertEqual(send(service, 2), 412)
            send_symbols(service)
            self.assertEqual(send(service, 2), 202)
            self.assertEqual(send(service, 1), 202)
        self.assertEqual(count(self.store), 2)

    def test_too_many_at_a_time_are_put_off(self):
        with serving(OPTIONS.cairn, "--collect", self.store, "--collect-limit", "1") as service:
            send_symbols(service)
            answers, threads = [], []

            def work(first):
                for n in range(first, first + 20):
                    answers.append((n, *service.ask("/agent/submit/trc", method="POST", body=trace(n),
                                                    headers=headers(trace_id=n))[:2]))

            for k in range(8):
                threads.append(threading.Thread(target=work, args=(k * 100,)))
                threads[-1].start()
            for thread in threads:
                thread.join()
            put_off = [answer for answer in answers if answer[1] == 429]
            self.assertTrue(put_off)
            for _, _, fields in put_off:
                self.assertEqual(fields["Retry-After"], "1")
                self.assertNotIn("", fields.values())
            for n, status, _ in answers:
                self.assertIn(status, (202, 429))
                if status == 429: # as an agent does
                    self.assertEqual(send(service, n), 202)
        self.assertEqual(count(self.store), 160)

    def test_every_request_of_many_connections_is_answered(self):
        connections, requests, statuses = 200, 20, []

        async def agent(port, first):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for n in range(first, first + requests):
                body = trace(n)
                fields = {**headers(trace_id=n), "Content-Length": len(body)}
                head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
                writer.write(f"POST /agent/submit/trc HTTP/1.1\r\n{head}\r\n".encode() + body)
                answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
                statuses.append(answer.split()[1])
            writer.close()

        async def crowd(port):
            await asyncio.gather(*(agent(port, k * requests) for k in range(connections)))

        with serving(OPTIONS.cairn, "--collect", self.store) as service:
            send_symbols(service)
            asyncio.run(crowd(service.port))
        self.assertEqual(statuses, [b"202"] * connections * requests)
        self.assertEqual(count(self.store), connections * requests)

    def test_spans_of_zipkin_and_opentelemetry(self):
        root = {"traceId": "00000000000000010000000000000002", "id": "000000000000000a", "name": "get",
                "kind": "SERVER", "timestamp": 1700000000000000, "duration": 900,
                "localEndpoint": {"serviceName": "shop"}, "tags": {"uri": "/zipkin"}}
        child = {**root, "id": "000000000000000b", "parentId": "000000000000000a", "name": "query",
                 "duration": 500, "tags": {"error": "no such table"}}
        otlp = {"resourceSpans": [{"resource": {"attributes": [
            {"key": "service.name", "value": {"stringValue": "till"}}]}, "scopeSpans": [{"spans": [
                {"traceId": "0a" * 16, "spanId": "0b" * 8, "name": "pay", "kind": 2,
                 "startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000000000900000",
                 "attributes": [{"key": "uri", "value": {"stringValue": "/otlp"}}],
                 "status": {"code": 2}}]}]}]}
        # The same span as protobuf: fields by number, as protoc --decode_raw shows them.
        span = (b"\x0a\x10" + b"\x0c" * 16 + b"\x12\x08" + b"\x0d" * 8 + b"\x2a\x03pay\x30\x02"
                + b"\x39" + (1700000000000000000).to_bytes(8, "little")
                + b"\x41" + (1700000000000900000).to_bytes(8, "little")
                + b"\x4a\x0e\x0a\x03uri\x12\x07\x0a\x05/prot")
        scope = b"\x12" + bytes([len(span)]) + span
        resource = b"\x12" + bytes([len(scope)]) + scope
        with serving(OPTIONS.cairn, "--collect", self.store) as service:
            for path, body, kind, expected in (
                    ("/api/v2/spans", json.dumps([child, root]).encode(), "application/json", (202, b"")),
                    ("/v1/traces", gzip.compress(json.dumps(otlp).encode()), "application/json", (200, b"{}")),
                    ("/v1/traces", b"\x0a" + bytes([len(resource)]) + resource, "application/x-protobuf", (200, b""))):
                status, fields, answer = service.ask(path, method="POST", body=body, headers={
                    "Host": "127.0.0.1", "Content-Type": kind})
                self.assertEqual((status, answer), expected)
                self.assertTrue(status == 202 or fields["Content-Type"] == kind, fields)
            for body in (b"[", b"[{}]", b'{"a":1}', b"{\"resourceSpans\":[{]", b"\x0a\x05\x12", b"\x1f\x8b\x08cut",
                         b"[" * 100000, seeds.source().randbytes(500)):
                for path in ("/api/v2/spans", "/v1/traces"):
                    status = service.ask(path, method="POST", body=body, headers={"Host": "127.0.0.1"})[0]
                    self.assertEqual(status, 400, body[:20])
        # Each span is found, also the one inside another.
        self.assertEqual(count(self.store), 4)
        for query, expected in (("uri = /zipkin", 1), ("uri = /otlp", 1), ("uri = /prot", 1),
                                ("service = till", 1), ("error exists", 1)):
            self.assertEqual(count(self.store, query), expected, query)

    def test_a_sender_of_grpc_is_told_of_once(self):
        service = Service(OPTIONS.cairn, "--collect", self.store)
        for _ in range(3):
            with socket.create_connection((service.host, service.port), 10) as peer:
                peer.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0)))
                self.assertIn(b" 505 ", peer.recv(1000))
        status, talk = service.end()
        self.assertEqual((status, talk.count("OTLP over gRPC")), (0, 1), talk)

    def test_a_nested_span_is_stored_once(self):
        """Sent on its own, then inside its parent with flag 0x2000 and another id."""
        sent = b"\xc4\x83" + number(2000) + number(1) + number(0x2000) + b"\xff"
        inner = b"\xc3\x9f" + number(1500) + number(1) + span(700, "/inner") + sent
        outer = call(1000, 3000, span(5, "/outer") + inner)
        with serving(OPTIONS.cairn, "--collect", self.store) as service:
            send_symbols(service)
            for trace_id, body in ((6, call(1500, 2000, span(6, "/inner"))), (5, outer)):
                status, _, answer = service.ask("/agent/submit/trc", method="POST", body=body,
                                                headers=headers(trace_id=trace_id))
                self.assertEqual(status, 202, answer)
        self.assertEqual(count(self.store), 2)
        self.assertEqual(count(self.store, "root.uri = /inner"), 1)
        self.assertEqual(count(self.store, "uri = /inner"), 2)
        subprocess.check_call([OPTIONS.cairn, "store", "recover", "-q", self.store])
        self.assertEqual(count(self.store), 2)

    def test_real_agents_over_http(self):
        """Collected requests give the same traces as `store add`."""
        for capture in data.find("zorka/wire/*/"):
            traces = len(list(capture.glob("*_agent_submit_trc.bin")))
            store, other = (tempfile.mkdtemp(dir=self.folder.name) + "/store" for _ in range(2))
            heads = sorted(capture.glob("*_agent_submit_*.hdr"))
            with serving(OPTIONS.cairn, "--collect", store) as service:
                for head in heads * 2: # and once more: nothing is stored twice
                    lines = head.read_text(encoding="latin-1").splitlines()
                    fields = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
                    fields.pop("Content-Length", None)
                    path = "/agent/submit/" + ("agd" if "agd" in head.name else "trc")
                    status, _, answer = service.ask(path, method="POST", headers=fields,
                                                    body=head.with_suffix(".bin").read_bytes())
                    self.assertEqual(status, 202, f"{head}: {answer!r}")
            subprocess.check_call([OPTIONS.cairn, "store", "init", "-q", other])
            subprocess.check_call([OPTIONS.cairn, "store", "add", "-q", other,
                                   *(str(head.with_suffix(".bin")) for head in heads)])
            self.assertEqual(listed(store), listed(other))
            self.assertEqual(len(listed(store)), traces)
            subprocess.check_call([OPTIONS.cairn, "store", "verify", "-q", store])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
