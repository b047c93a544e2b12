"""Object storage for tests: Ceph's gateway on loopback, and a proxy that counts, delays and spoils requests."""
import contextlib
import hashlib
import hmac
import http.client
import http.server
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
import urllib.parse
import uuid

KEY, SECRET = "testkey0123456789AB", "testsecret0123456789testsecret0123456789"
PROGRAMS = ("ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "ceph", "monmaptool")

CONFIG = """[global]
fsid = {fsid}
mon host = v1:127.0.0.1:{mon}/0
auth cluster required = none
auth service required = none
auth client required = none
public network = 127.0.0.0/8
run dir = {folder}
crash dir = {folder}
admin socket = {folder}/$name.asok
log file = {folder}/$name.log
mon cluster log file = {folder}/cluster.log
mon data = {folder}/mon
osd data = {folder}/osd
osd objectstore = memstore
memstore device bytes = 4294967296
osd pool default size = 1
osd pool default pg num = 1
osd crush chooseleaf type = 0
osd crush update on start = false
osd class update on start = false
mon allow pool size one = true
mon data avail crit = 0
paxos propose interval = 0.02
paxos min wait = 0.01
rgw frontends = beast endpoint=127.0.0.1:{port} tcp_nodelay=1
rgw relaxed region enforcement = true
"""


def is_installed():
    return all(shutil.which(name) for name in PROGRAMS)


def free_port():
    with contextlib.closing(socket.socket()) as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1]


class Gateway:
    """Monitor, storage and gateway in memory, ended with the block."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.processes = []

    def run(self, *command, text=None):
        return subprocess.run(command, input=text, text=True, check=True, timeout=120, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def start(self, *command):
        log = open(self.folder / f"{command[0]}.out", "wb")
        with contextlib.closing(log):
            self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, env=self.environment))

    def __enter__(self):
        """Its ports are free when they are chosen; another program may take them before they are used."""
        for attempt in range(3):
            try:
                self.begin(self.folder / str(attempt))
                return self
            except (subprocess.SubprocessError, RuntimeError):
                self.__exit__()
                if attempt == 2:
                    raise
            except BaseException:
                self.__exit__()
                raise

    def begin(self, folder):
        self.port, mon, fsid, osd = free_port(), free_port(), str(uuid.uuid4()), str(uuid.uuid4())
        for name in ("mon", "osd"):
            (folder / name).mkdir(parents=True)
        (folder / "ceph.conf").write_text(CONFIG.format(fsid=fsid, mon=mon, port=self.port, folder=folder))
        self.environment = {**os.environ, "CEPH_CONF": str(folder / "ceph.conf")}
        monmap = str(folder / "monmap")
        self.run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", f"[v1:127.0.0.1:{mon}]", monmap)
        self.run("ceph-mon", "-i", "a", "--mkfs", "--monmap", monmap)
        self.start("ceph-mon", "-i", "a", "-f")
        self.run("ceph", "--connect-timeout", "60",
                 text=f"osd new {osd}\nosd crush create-or-move osd.0 1.0 root=default host=h\n")
        self.run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd)
        self.start("ceph-osd", "-i", "0", "-f")
        self.run("radosgw-admin", "user", "create", "--uid=test", "--display-name=t",
                 f"--access-key={KEY}", f"--secret-key={SECRET}")
        self.start("radosgw", "-n", "client.rgw", "-f")
        self.wait()

    def wait(self):
        end = time.monotonic() + 120
        while True:
            with contextlib.suppress(OSError), contextlib.closing(
                    http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)) as connection:
                connection.request("GET", "/")
                connection.getresponse().read()
                return
            if time.monotonic() > end or self.processes[-1].poll() is not None:
                raise RuntimeError("the gateway did not start")
            time.sleep(0.05)

    def ask(self, method, path, query="", body=b""):
        """The body of the answer to a signed request."""
        date, digest = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()), hashlib.sha256(body).hexdigest()
        headers = {"host": f"127.0.0.1:{self.port}", "x-amz-content-sha256": digest, "x-amz-date": date}
        names = ";".join(headers)
        canonical = "\n".join([method, path, query, *(f"{name}:{value}" for name, value in headers.items()), "", names, digest])
        scope = f"{date[:8]}/us-east-1/s3/aws4_request"
        to_sign = "\n".join(["AWS4-HMAC-SHA256", date, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = ("AWS4" + SECRET).encode()
        for part in (*scope.split("/"), to_sign):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        headers["Authorization"] = f"AWS4-HMAC-SHA256 Credential={KEY}/{scope}, SignedHeaders={names}, Signature={key.hex()}"
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, path + (f"?{query}" if query else ""), body, headers)
            answer = connection.getresponse()
            content = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {content!r}")
        return content

    def keys(self, bucket, prefix):
        listed = self.ask("GET", f"/{bucket}", f"list-type=2&prefix={urllib.parse.quote(prefix, safe='')}")
        return re.findall("<Key>([^<]*)</Key>", listed.decode())

    def pause(self, is_paused):
        """Connections are accepted, but not answered."""
        self.processes[-1].send_signal(signal.SIGSTOP if is_paused else signal.SIGCONT)

    def down(self, is_down):
        if is_down:
            self.processes[-1].kill()
            self.processes.pop().wait()
        elif len(self.processes) < 3:
            self.start("radosgw", "-n", "client.rgw", "-f")
            self.wait()

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.kill()
            process.wait()
        self.processes.clear()


class Proxy:
    """Forwards requests to a gateway. `spoil(path, times)`, with the number of earlier requests for it, returns None or what
    to do instead: a status, a status and headers, "status": one of those that may pass, "hang", "cut": half the body, "short": half
    the body with its length, "empty": no answer, "garbled": a bit of the body is flipped, "etag": another ETag, "slow": in small
    parts, "swapped": the answer to an earlier request of the same kind. The request is carried out and "late": the answer never
    comes, "reset": the connection is reset, "twice": so it is again; or a function makes another answer of its status, headers and body. `seen` lists methods and paths, `sent` counts bytes of
    answers."""

    def __init__(self, port, latency=0.0):
        self.latency, self.spoil, self.seen, self.sent = latency, lambda path, times: None, [], 0
        self.released, self.earlier = threading.Event(), {}
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def handle_any(self):
                proxy.handle(self, port)

            do_GET = do_PUT = do_POST = do_DELETE = handle_any

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256  # a connection that is not accepted at once is tried again after a second

            def handle_error(self, *_):
                """The gateway is down, or the client is gone: the connection is closed."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.lock = threading.Lock()
        self.forwarding, self.idle = 0, threading.Condition(self.lock)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def handle(self, request, port):
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        with self.lock:
            times = sum(path == request.path for _, path in self.seen)
            self.seen.append((request.command, request.path))
        if self.latency:
            time.sleep(self.latency)
        what = self.spoil(request.path, times)
        if what == "hang":
            self.released.wait(60)
            request.close_connection = True
            return
        if what == "status":
            what = (403, 429, 500, 503)[len(request.path) % 4]
        if what == "empty":
            request.close_connection = True
            return
        if isinstance(what, (int, tuple)):
            status, headers = what if isinstance(what, tuple) else (what, {})
            self.answer(request, status, headers, b"<Error><Code>Spoiled</Code></Error>")
            return
        for _ in range(2 if what == "twice" else 1):
            status, headers, content = self.forward_counted(request, port, body)
        if callable(what):
            status, headers, content = what(status, headers, content)
        if what == "late":
            self.released.wait(60)
            request.close_connection = True
            return
        if what == "reset":
            request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request.close_connection = True
            return
        with self.lock:
            self.sent += len(content)
            kind = (request.command, request.path.split("?")[0] == request.path, "Range" in request.headers)
            earlier, self.earlier[kind] = self.earlier.get(kind), (request.path, status, headers, content)
        # An old answer to the same question is an answer, and what was written cannot be told from what an answer says.
        if what == "swapped" and request.command == "GET" and earlier and earlier[0] != request.path:
            _, status, headers, content = earlier
        self.answer(request, status, headers, content, what)

    def forward_counted(self, request, port, body):
        with self.lock:
            self.forwarding += 1
        try:
            return self.forward(request, port, body)
        finally:
            with self.lock:
                self.forwarding -= 1
                self.idle.notify_all()

    @staticmethod
    def forward(request, port, body):
        """Status, headers and body of the answer of the gateway."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=120)) as connection:
            connection.putrequest(request.command, request.path, skip_host=True, skip_accept_encoding=True)
            for name, value in request.headers.items():
                connection.putheader(name, value)
            connection.endheaders(body or None)
            answer = connection.getresponse()
            content = answer.read()
        return answer.status, {name: value for name, value in answer.getheaders()
                               if name.lower() not in ("content-length", "connection", "transfer-encoding")}, content

    @staticmethod
    def answer(request, status, headers, content, what=None):
        with contextlib.suppress(OSError):
            if what == "short":
                content = content[:len(content) // 2]
            if what == "garbled" and content:
                at = len(content) * 2 // 3
                content = content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1:]
            if what == "etag":
                headers = {name: '"0123456789abcdef"' if name.lower() == "etag" else value for name, value in headers.items()}
            request.send_response_only(status)
            for name, value in headers.items():
                request.send_header(name, value)
            if status != 204:
                request.send_header("Content-Length", str(len(content)))
            request.end_headers()
            step = max(len(content) // 5, 1) if what == "slow" else max(len(content), 1)
            for at in range(0, len(content) // 2 if what == "cut" else len(content), step):
                request.wfile.write(content[at:at + step if what != "cut" else len(content) // 2])
                time.sleep(0.05 if what == "slow" else 0)
            if what == "cut":
                request.close_connection = True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Nothing that a client asked reaches the gateway afterwards: a collector that was killed could register itself again."""
        self.released.set()
        self.server.shutdown()
        self.server.server_close()
        with self.lock:
            self.idle.wait_for(lambda: self.forwarding == 0, 120)


def environment(port, cache, **more):
    """What a cairn needs to reach a gateway or proxy."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return {**clean, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "XDG_CACHE_HOME": str(cache), **more}
