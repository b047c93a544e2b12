"""What an agent sends: symbols and traces, as CBOR.

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
    pathlib.Path(sys.argv[1]).write_bytes(b"".join(requests))


if __name__ == "__main__":
    main()
