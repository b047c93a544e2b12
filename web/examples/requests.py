#!/usr/bin/env python3
"""Requests to an imaginary shop, as spans of OpenTelemetry: the example of the viewer without a server.

    web/examples/requests.py >spans.json
    cairn store add -q --create web/examples/shop spans.json && cairn store seal -q web/examples/shop
"""
import json
import random
import sys

MS = 1_000_000
BEGIN = 1_794_960_000_000_000_000
REQUESTS = 80
STACK = ("DeclinedError: card declined\n    at charge (payment/bank.js:61:34)\n    at pay (payment/routes.js:28:11)\n"
         "    at Layer.handle (payment/server.js:12:5)")


class Request:
    def __init__(self, number, rng):
        self.rng, self.number, self.count, self.spans = rng, number, 0, []
        self.trace = f"{rng.getrandbits(128) | 1:032x}"

    def span(self, service, name, parent, begin, end, kind=1, failed=None, **attributes):
        self.count += 1
        span = {"traceId": self.trace, "spanId": f"{self.number * 256 + self.count:016x}",
                "parentSpanId": parent["spanId"] if parent else "", "name": name, "kind": kind,
                "startTimeUnixNano": str(int(begin)), "endTimeUnixNano": str(int(end)),
                "attributes": [{"key": key.replace("__", "."), "value": {"intValue": str(value)} if isinstance(value, int)
                                else {"stringValue": value}} for key, value in attributes.items()],
                "status": {"code": 2, "message": failed} if failed else {}}
        if failed and service == "payment" and name == "charge card":
            span["events"] = [{"timeUnixNano": str(int(end - 0.2 * MS)), "name": "exception", "attributes": [
                {"key": f"exception.{key}", "value": {"stringValue": value}} for key, value in
                (("type", "DeclinedError"), ("message", "card declined"), ("stacktrace", STACK))]}]
        self.spans.append((service, span))
        return span

    def call(self, service, name, parent, begin, length, failed=None, **attributes):
        """From another service: the callee begins after the way there, and ends before the way back."""
        way = self.rng.uniform(0.2, 0.8) * MS
        caller = self.spans[-1][0] if not parent else next(s for s, one in self.spans if one is parent)
        client = self.span(caller, f"{name.split()[0]} {service}", parent, begin, begin + length, 3, failed,
                           server__address=f"{service}.internal")
        return self.span(service, name, client, begin + way, begin + length - way, 2, failed, **attributes)


def browse(request, at, rng):
    length = rng.lognormvariate(2.6, 0.5) * MS
    root = request.span("web", "GET /products/:id", None, at, at + length, 2, http__response__status_code=200,
                        product__id=rng.randrange(40))
    item = request.call("catalog", "GET /item/:id", root, at + 0.1 * length, 0.5 * length)
    begin = int(item["startTimeUnixNano"])
    request.span("catalog", "SELECT items", item, begin + 0.5 * MS, begin + 0.35 * length, 3, db__system="postgresql")
    request.call("reviews", "GET /reviews/:id", root, at + 0.15 * length, 0.7 * length)


def checkout(request, at, rng):
    slow = rng.random() < 0.12
    declined = rng.random() < 0.09
    user = rng.randrange(500)
    stock, pay, mail = rng.uniform(8, 20) * MS, rng.uniform(25, 60) * MS, rng.uniform(4, 9) * MS
    if slow:
        stock += rng.uniform(120, 260) * MS
    length = 6 * MS + max(stock, 4 * MS) + pay + (0 if declined else mail) + 5 * MS
    root = request.span("web", "POST /checkout", None, at, at + length, 2, "status 402" if declined else None,
                        http__response__status_code=402 if declined else 200, user__id=user)
    handler = request.span("web", "checkout handler", root, at + 0.6 * MS, at + length - 0.5 * MS)
    cart = request.call("cart", "GET /cart/:user", handler, at + 1 * MS, 5 * MS, user__id=user)
    begin = int(cart["startTimeUnixNano"])
    request.span("cart", "redis GET", cart, begin + 0.3 * MS, begin + 1.4 * MS, 3, db__system="redis")
    # The stock of all items is asked for at the same time.
    for item in range(rng.randrange(2, 5)):
        own = stock * (1 if item == 0 else rng.uniform(0.3, 0.8))
        asked = request.call("catalog", "POST /reserve", handler, at + 6.5 * MS, own, item=item)
        begin, end = int(asked["startTimeUnixNano"]), int(asked["endTimeUnixNano"])
        request.span("catalog", "UPDATE stock", asked, begin + 0.4 * MS, end - 0.3 * MS, 3, db__system="postgresql",
                     db__operation="UPDATE", lock__wait="yes" if slow and item == 0 else "no")
    paid = request.call("payment", "POST /pay", handler, at + 7 * MS + stock, pay, "declined" if declined else None,
                        card__type=rng.choice(("visa", "mastercard", "amex")))
    begin, end = int(paid["startTimeUnixNano"]), int(paid["endTimeUnixNano"])
    request.span("payment", "check fraud", paid, begin + 0.4 * MS, begin + 0.2 * pay)
    request.span("payment", "charge card", paid, begin + 0.22 * pay, end - 0.3 * MS, 3, "card declined" if declined else None,
                 amount=rng.randrange(500, 20000))
    if not declined:
        request.call("mail", "POST /send", handler, at + 8 * MS + stock + pay, mail, template="receipt")


def main():
    rng = random.Random(36)
    spans, at = [], BEGIN
    for number in range(REQUESTS):
        at += int(rng.expovariate(1 / 900) * MS)
        request = Request(number, rng)
        (checkout if number % 5 < 3 else browse)(request, at, rng)
        spans += request.spans
    services = sorted({service for service, _ in spans})
    json.dump({"resourceSpans": [
        {"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]},
         "scopeSpans": [{"spans": [span for own, span in spans if own == service]}]} for service in services]}, sys.stdout)


if __name__ == "__main__":
    main()
