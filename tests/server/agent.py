"""Requests of an agent: symbols and traces, as CBOR.

As a program it writes requests for `cairn store add`, with names that try to be markup:
    agent.py FILE
"""
import pathlib
import sys


def text(value):
    """A CBOR text string shorter than 256 bytes."""
    data = value.encode()
    return (bytes([0x60 + len(data)]) if len(data) < 24 else bytes([0x78, len(data)])) + data


def number(value):
    for form, size in ((0x18, 1), (0x19, 2), (0x1a, 4), (0x1b, 8)):
        if value < 24:
            return bytes([value])
        if value < 256 ** size:
            return bytes([form]) + value.to_bytes(size, "big")
    raise ValueError(value)


SYMBOLS = b"".join(
    b"\xc1\x82" + number(i) + text(word)
    for i, word in enumerate(("HTTP", "com.example.Api", "handle", "()V", "uri"), 1)
) + b"\xc2\x84" + number(1) + number(2) + number(3) + number(4)


def trace(n, calls=3):
    """One trace: a call of handle() with an attribute, and some calls in it."""
    child = b"".join(
        b"\xc3\x9f" + number(1000 + i) + number(1) + b"\xc4\x82" + number(1001 + i) + number(1) + b"\xff"
        for i in range(calls))
    return (b"\xc3\x9f" + number(1000) + number(1)
            + b"\xc5\x84" + number(1700000000000 + n) + number(1) + number(n + 1) + number(0)
            + b"\xc6\x82" + number(5) + text(f"/item/{n}") + child
            + b"\xc4\x82" + number(900000 + n) + number(calls + 1) + b"\xff")


def call(begin, end, inside=b"", method=1):
    """A call of a method, with its contents."""
    return (b"\xc3\x9f" + number(begin) + number(method) + inside
            + b"\xc4\x82" + number(end) + number(1) + b"\xff")


def span(n, uri):
    """The attributes that make a call the span of a request."""
    return (b"\xc5\x84" + number(1700000000000 + n) + number(1) + number(n + 1) + number(0)
            + b"\xc6\x82" + number(5) + text(uri))


def exception(number_of_it, name, message, cause, lines):
    """An exception with its stack."""
    stack = b"".join(b"\x84" + text("com.example.Dao") + text("query") + text("Dao.java") + number(line)
                     for line in lines)
    return (b"\xc7\x85" + number(number_of_it) + text(name) + text(message) + number(cause)
            + bytes([0x80 + len(lines)]) + stack)


def failing_trace(n):
    """A trace whose third call throws, for a reason."""
    thrown = (exception(7, "java.io.IOException", "the disk is full", 0, (12, 13))
              + exception(8, "com.example.Failure", "cannot save <b>it</b>", 7, (40, 41, 42)))
    inside = call(1010, 1020) + call(1030, 1900, call(1040, 1800, thrown))
    return call(1000, 950000, span(n, "/failing") + inside)


def deep_trace(n, calls=8000):
    """A trace of many calls: pairs of one in another, and at the end a nest of 60."""
    pairs = b"".join(call(2000 + 10 * i, 2008 + 10 * i, call(2002 + 10 * i, 2006 + 10 * i))
                     for i in range(calls // 2))
    nest = b""
    for depth in range(60, 0, -1):
        nest = call(800000 + depth, 900000 - depth, nest)
    return call(1000, 1000000, span(n, "/deep") + pairs + nest)


HOSTILE = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"


def request(what, body, trace_id=None):
    lines = [f"POST /agent/submit/{what} HTTP/1.1", "X-Zorka-Session-Id: 5e551071"]
    if trace_id is not None:
        lines.append(f"X-Zorka-Trace-Id: {1:016x}{trace_id + 1:016x}")
    lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def main():
    hostile = SYMBOLS.replace(text("handle"), text(HOSTILE)).replace(text("HTTP"), text("<b>HTTP"))
    requests = [request("agd", hostile)]
    requests += [request("trc", trace(n, 3 + n % 7), n) for n in range(150)]
    requests += [request("trc", failing_trace(200), 200), request("trc", deep_trace(201), 201)]
    pathlib.Path(sys.argv[1]).write_bytes(b"".join(requests))


if __name__ == "__main__":
    main()
