"""Frames of HTTP/2 over a socket, as a client of gRPC sends them and as none does. libnghttp2 reads compressed
headers; everything else is here, byte by byte.

    with Connection(host, port) as peer:
        answer = peer.call(EXPORT, message(otlp(1)))
"""
import base64
import collections
import ctypes
import socket
import ssl
import struct

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, _, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, END_HEADERS, ACK = 1, 4, 1
NO_ERROR, PROTOCOL_ERROR, CANCEL, ENHANCE_YOUR_CALM = 0, 1, 8, 11
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


class Pair(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("value", ctypes.c_void_p), ("name_len", ctypes.c_size_t),
                ("value_len", ctypes.c_size_t), ("flags", ctypes.c_uint8)]


class Inflater:
    """Headers as the server compresses them (HPACK)."""

    def __init__(self):
        self.library = ctypes.CDLL("libnghttp2.so.14")
        self.library.nghttp2_hd_inflate_hd2.restype = ctypes.c_ssize_t
        self.state = ctypes.c_void_p()
        if self.library.nghttp2_hd_inflate_new(ctypes.byref(self.state)) != 0:
            raise MemoryError

    def __del__(self):
        self.library.nghttp2_hd_inflate_del(self.state)

    def read(self, block):
        found, at, pair, flags = {}, 0, Pair(), ctypes.c_int()
        while True:
            taken = self.library.nghttp2_hd_inflate_hd2(
                self.state, ctypes.byref(pair), ctypes.byref(flags), block[at:], ctypes.c_size_t(len(block) - at), 1)
            if taken < 0:
                raise ValueError(f"headers that cannot be read: {block!r}")
            at += taken
            if flags.value & 2:
                found[ctypes.string_at(pair.name, pair.name_len).decode()] = ctypes.string_at(pair.value, pair.value_len).decode()
            if flags.value & 1:
                self.library.nghttp2_hd_inflate_end_headers(self.state)
                return found


def number(value):
    """A number of Protocol Buffers."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes((*out, value))


def field(tag, value):
    """A message, text or bytes in a field."""
    value = value.encode() if isinstance(value, str) else value
    return number(tag << 3 | 2) + number(len(value)) + value


def otlp(trace, spans=1, service="shop", value=""):
    """An ExportTraceServiceRequest: the first span called the others."""
    listed = b""
    for i in range(spans):
        listed += field(2, field(1, struct.pack(">QQ", 1, trace + 1)) + field(2, struct.pack(">Q", trace * 1000 + i + 1))
                        + (field(4, struct.pack(">Q", trace * 1000 + 1)) if i else b"") + field(5, f"step {i}")
                        + b"\x30\x01\x39" + struct.pack("<Q", 1700000000000000000 + i) + b"\x41"
                        + struct.pack("<Q", 1700000000000900000)
                        + (field(9, field(1, "key") + field(2, field(1, value))) if value else b""))
    resource = field(1, field(1, field(1, "service.name") + field(2, field(1, service))))
    return field(1, resource + field(2, listed))


def message(body, flag=0):
    return struct.pack(">BI", flag, len(body)) + body


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def string(text):
    """A string of HPACK, as it is."""
    data = text.encode() if isinstance(text, str) else text
    if len(data) < 127:
        return bytes((len(data),)) + data
    return b"\x7f" + number(len(data) - 127) + data


def block(fields):
    """Headers that are not compressed and not remembered."""
    return b"".join(b"\x00" + string(name) + string(value) for name, value in fields)


def head(path=EXPORT, method="POST", kind="application/grpc", **more):
    fields = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "127.0.0.1"),
              ("te", "trailers")]
    if kind:
        fields.append(("content-type", kind))
    return fields + [(name.replace("_", "-"), value) for name, value in more.items()]


class Closed(Exception):
    """The server has closed the connection."""


class Answer:
    """The headers and trailers of a call, and its message."""

    def __init__(self, fields, data, reset):
        self.fields, self.data, self.reset = fields, data, reset
        self.status = fields.get(":status")
        self.code = int(fields["grpc-status"]) if "grpc-status" in fields else None
        self.text = fields.get("grpc-message", "")
        details = fields.get("grpc-status-details-bin", "")
        self.details = base64.b64decode(details + "=" * (-len(details) % 4))

    def __repr__(self):
        return f"{self.fields} {self.data!r} reset {self.reset}"


class Connection:
    def __init__(self, host, port, context=None, greets=True, timeout=60):
        self.socket = socket.create_connection((host, port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context:
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        self.buffer, self.inflater, self.stream = b"", Inflater(), -1
        self.answers, self.goaway, self.settings, self.pings = {}, None, {}, []
        # Bytes of messages, by stream: what was sent, and what the server has taken; 0: all.
        self.sent, self.taken = collections.Counter(), collections.Counter()
        if greets:
            self.send(PREFACE + frame(SETTINGS, 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def flood(self, data, times):
        """Send until all is sent, or the server has closed the connection."""
        try:
            for _ in range(times):
                self.send(data)
        except (ConnectionError, TimeoutError, ssl.SSLError):
            pass

    def take(self, length):
        while len(self.buffer) < length:
            try:
                data = self.socket.recv(65536)
            except ConnectionError as error:
                raise Closed(self.goaway) from error
            if not data:
                raise Closed(self.goaway)
            self.buffer += data
        data, self.buffer = self.buffer[:length], self.buffer[length:]
        return data

    def receive(self):
        """The next frame, noted."""
        start = self.take(9)
        length, kind, flags = int.from_bytes(start[:3], "big"), start[3], start[4]
        stream, payload = int.from_bytes(start[5:], "big"), self.take(length)
        if kind == SETTINGS and not flags & ACK:
            self.settings = dict(struct.iter_unpack(">HI", payload))
            self.flood(frame(SETTINGS, ACK, 0), 1)
        elif kind == GOAWAY:
            self.goaway = (int.from_bytes(payload[4:8], "big"), payload[8:].decode())
        elif kind == WINDOW_UPDATE:
            self.taken[stream] += int.from_bytes(payload, "big")
        elif kind == PING and flags & ACK:
            self.pings.append(payload)
        elif kind in (HEADERS, DATA, RST_STREAM):
            parts = self.answers.setdefault(stream, {"fields": {}, "data": b"", "end": False, "reset": None})
            if kind == HEADERS:
                parts["fields"].update(self.inflater.read(payload))
            elif kind == DATA:
                parts["data"] += payload
            else:
                parts["reset"] = int.from_bytes(payload, "big")
            parts["end"] |= kind == RST_STREAM or bool(flags & END_STREAM)
        return kind

    def begin(self, fields, ends=False):
        self.stream += 2
        whole, flags = block(fields), END_STREAM if ends else 0
        pieces = [whole[i:i + 16384] for i in range(0, len(whole), 16384)]
        for i, piece in enumerate(pieces):
            self.send(frame(CONTINUATION if i else HEADERS, (0 if i else flags) | (END_HEADERS if piece is pieces[-1] else 0),
                            self.stream, piece))
        return self.stream

    def start(self, fields, data, ends=True):
        """Begin a call, with all of its message, as the windows of the server allow."""
        stream = self.begin(fields)
        pieces = [data[i:i + 16384] for i in range(0, len(data), 16384)] or [b""]
        for i, piece in enumerate(pieces):
            if not self.send_data(stream, piece, END_STREAM if ends and i == len(pieces) - 1 else 0):
                break
        return stream

    def send_data(self, stream, data, flags=0):
        """False if the server does not want it: the call is answered."""
        while self.sent[0] + len(data) > 65535 + self.taken[0] or \
                self.sent[stream] + len(data) > self.settings.get(4, 65535) + self.taken[stream]:
            if stream in self.answers:
                return False
            self.receive()
        self.send(frame(DATA, flags, stream, data))
        self.sent[0] += len(data)
        self.sent[stream] += len(data)
        return True

    def wait(self, stream):
        while not self.answers.get(stream, {}).get("end"):
            self.receive()
        parts = self.answers.pop(stream)
        return Answer(parts["fields"], parts["data"], parts["reset"])

    def call(self, path, data, **more):
        return self.wait(self.start(head(path, **more), data))

    def until_closed(self):
        """Read on until the server ends the connection; the code and text of its GOAWAY."""
        try:
            while True:
                self.receive()
        except (Closed, TimeoutError):
            return self.goaway
