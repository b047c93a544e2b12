"""A running `cairn serve` for tests: started on a free port, ended with the block."""
import base64
import contextlib
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import zlib

from schema import check_answer

# Of answers that are different when they are asked for again.
UNFINISHED = (b'"isPending": true', b'"isPartial": true', b'"state": "working"')


KEPT = []  # files of keep_asked()


class Service:
    def __init__(self, cairn, *arguments, through=(), pass_fds=(), checks=True):
        """`through` is a command that starts the server, with the files that it inherits. Without `checks`,
        answers are not compared with the schema, which takes time."""
        self.checks = checks
        self.process = subprocess.Popen(
            [*through, cairn, "serve", "-q", *arguments], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=pass_fds,
        )
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(self.process.stderr.read())
        parts = urllib.parse.urlsplit(self.url)
        self.host, self.port = parts.hostname, parts.port
        self.token = urllib.parse.parse_qs(parts.query)["token"][0]
        self.otlp = {}  # where it takes OTLP: "gRPC" and "HTTP", host and port
        for _ in range(2 * any(str(argument).startswith("--otlp") for argument in arguments)):
            words = self.process.stdout.readline().split()
            self.otlp[words[2].rstrip(":")] = urllib.parse.urlsplit(words[3])
        self.asked = {}  # addresses of the API and their answers
        self.kinds = []  # of the sources

    def ask(self, path, headers=None, method="GET", body=None):
        """The status, headers and bytes of an answer; asked again while it is not ready."""
        end = time.monotonic() + 120
        while True:
            next_ask = time.monotonic() + 0.04  # as the page does
            answer = self.ask_once(path, headers, method, body)
            if answer[0] != 503 or b'"not-ready"' not in answer[2] or time.monotonic() > end:
                return answer
            if answer[1].get("Retry-After") != "1":
                raise AssertionError(f"{path}: not ready, and no time to come back: {answer}")
            time.sleep(max(0, next_ask - time.monotonic()))

    def ask_once(self, path, headers=None, method="GET", body=None):
        """The status, headers and bytes of an answer, whatever it is. One in JSON is as the schema says."""
        response, body = self.receive(path, headers, method, body)
        is_ours = path != "/v1/traces"  # answers there are messages of OTLP
        if self.checks and body and is_ours and response.getheader("Content-Type") == "application/json":
            check_answer(path, response.status, body, self.kind_of)
        if (method == "GET" and path.startswith("/api/") and response.status in (200, 404, 422)
                and not any(mark in body for mark in UNFINISHED)
                and not re.search(r"/sources/\d+/(sql|tables)\b", path)  # pages have no SQL
                # Sums of a job that was cancelled, because no request waited for it in time.
                and not ("snap=1" in path and b'"isEstimate": true' in body)):
            self.asked[path] = body.decode()
        return response.status, dict(response.getheaders()), body

    def receive(self, path, headers=None, method="GET", body=None):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=120)
        with contextlib.closing(connection):
            connection.request(
                method, path, body=body,
                headers={"Authorization": f"Bearer {self.token}"} if headers is None else headers,
            )
            response = connection.getresponse()
            return response, response.read()

    def kind_of(self, number):
        """The kind of a source."""
        if not self.kinds:
            self.kinds = [source["kind"] for source in json.loads(self.receive("/api/v1/sources")[1])["sources"]]
        return self.kinds[number]

    def get(self, question, /, **parameters):
        """The answer of the API, decoded; its status must be 200."""
        query = urllib.parse.urlencode(parameters, doseq=True)
        status, _, body = self.ask(f"/api/v1/{question}" + (f"?{query}" if query else ""))
        if status != 200:
            raise AssertionError(f"{question} {parameters}: {status} {body!r}")
        return json.loads(body)

    def get_ready(self):
        """The sources, when all have been analysed."""
        end = time.monotonic() + 120
        while True:
            sources = self.get("sources")["sources"]
            if all(s["state"] != "working" for s in sources) or time.monotonic() > end:
                return sources
            time.sleep(0.05)

    def get_counted(self, question, count, **parameters):
        """The same, asked until it counts so many traces, or for a minute: they are seen a moment after they were stored."""
        end = time.monotonic() + 60
        while True:
            answer = self.get(question, **parameters)
            if answer["count"] == count or time.monotonic() > end:
                return answer
            time.sleep(0.05)

    def end(self):
        """The exit status after SIGTERM, and stderr."""
        self.process.terminate()
        _, talk = self.process.communicate(timeout=60)
        return self.process.returncode, talk


def has_engine():
    """CAIRN_ENGINE names the program that asks the engine, and the engine, which may have been left
    out of the build."""
    return all(map(os.path.exists, os.environ.get("CAIRN_ENGINE", "none").split(":")))


def ask_engine(questions, data):
    """Ask about files (sources) or a page of export-html (page)."""
    return subprocess.run(["node", *os.environ["CAIRN_ENGINE"].split(":")], check=False,
                          input=json.dumps({"questions": questions, **data}),
                          text=True, capture_output=True)


def engine_answers(addresses, **data):
    result = ask_engine([[address, None] for address in addresses], data)
    if result.returncode != 0:
        raise AssertionError(f"the engine failed: {result.stdout}{result.stderr}")
    return [json.loads(json.loads(line)) for line in result.stdout.splitlines()]


def load_of(sources=None, page=None):
    """What a page loads (web/src/engine/load.ts): files of this machine, or those of another page."""
    if page:
        with open(page, encoding="utf-8") as file:
            text = file.read()
        listed = json.loads(re.search('id="cairn-files">(.*?)</script>', text, re.DOTALL)[1])
        return {"sources": listed["sources"], "files": listed["files"], "blockSize": listed["blockSize"],
                "blocks": re.findall('class="cairn-data">(.*?)</script>', text)}
    files, packer, block = [], zlib.compressobj(1, wbits=-15), []
    for source in sources:
        path = source["path"]
        for name in ([path] if os.path.isfile(path) else
                     sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)):
            with open(name, "rb") as file:
                content = file.read()
            files.append({"path": name, "size": len(content)})
            block.append(packer.compress(content))
    block.append(packer.flush())
    return {"sources": sources, "files": files, "blockSize": max(sum(file["size"] for file in files), 1),
            "blocks": [base64.b64encode(b"".join(block)).decode()]}


def keep_asked(content):
    """In the folder CAIRN_ASKED, for the same in a browser (web/e2e/engine.mjs)."""
    folder = os.environ.get("CAIRN_ASKED")
    if not folder:
        return
    os.makedirs(folder, exist_ok=True)
    name = os.path.basename(sys.argv[0])
    if not KEPT:
        for old in os.listdir(folder):
            if old.startswith(f"{name}-"):
                os.remove(os.path.join(folder, old))
    KEPT.append(os.path.join(folder, f"{name}-{len(KEPT)}.json"))
    with open(KEPT[-1], "w", encoding="utf-8") as file:
        json.dump(content, file)


def check_engine(asked, **data):
    """The engine of pages without a server answers the same, byte for byte."""
    if not has_engine() or not asked:
        return
    keep_asked({"load": load_of(**data), "questions": list(asked.items())})
    result = ask_engine(list(asked.items()), data)
    if result.returncode != 0:
        raise AssertionError(f"the engine differs: {result.stdout}{result.stderr}")


@contextlib.contextmanager
def serving(cairn, *arguments, through_page=False, **starting):
    """A service during a block. What it was asked about files that do not change is asked of the engine
    afterwards: of the files, or of an exported page, which has what else this machine knows."""
    service = Service(cairn, *arguments, **starting)
    try:
        yield service
    finally:
        status, talk = service.end()
        if status != 0 or "ERROR" in talk:
            raise AssertionError(f"cairn serve ended with {status}: {talk}")
        if through_page and has_engine():
            with tempfile.TemporaryDirectory() as folder:
                page = f"{folder}/page.html"
                subprocess.run([cairn, "export-html", "-q", *arguments, page], check=True)
                check_engine(service.asked, page=page)
        elif not any(str(argument).startswith("--") for argument in arguments):
            check_engine(service.asked, sources=[{"path": str(path)} for path in arguments])
