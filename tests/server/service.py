"""A running `cairn serve` for tests: started on a free port, ended with the block."""
import contextlib
import http.client
import json
import subprocess
import time
import urllib.parse


class Service:
    def __init__(self, cairn, *arguments):
        self.process = subprocess.Popen(
            [cairn, "serve", "-q", *arguments], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(self.process.stderr.read())
        parts = urllib.parse.urlsplit(self.url)
        self.host, self.port = parts.hostname, parts.port
        self.token = urllib.parse.parse_qs(parts.query)["token"][0]

    def ask(self, path, headers=None, method="GET", body=None):
        """The status, headers and bytes of an answer; asked again while it is not ready."""
        end = time.monotonic() + 120
        while True:
            answer = self.ask_once(path, headers, method, body)
            if answer[0] != 503 or b'"not-ready"' not in answer[2] or time.monotonic() > end:
                return answer
            time.sleep(0.05)

    def ask_once(self, path, headers=None, method="GET", body=None):
        """The status, headers and bytes of an answer, whatever it is."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=120)
        with contextlib.closing(connection):
            connection.request(
                method, path, body=body,
                headers={"Authorization": f"Bearer {self.token}"} if headers is None else headers,
            )
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()

    def get(self, question, **parameters):
        """The answer of the API, decoded; its status must be 200."""
        query = urllib.parse.urlencode(parameters, doseq=True)
        status, _, body = self.ask(f"/api/v1/{question}" + (f"?{query}" if query else ""))
        if status != 200:
            raise AssertionError(f"{question} {parameters}: {status} {body!r}")
        return json.loads(body)

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


@contextlib.contextmanager
def serving(cairn, *arguments):
    service = Service(cairn, *arguments)
    try:
        yield service
    finally:
        status, talk = service.end()
        if status != 0 or "ERROR" in talk:
            raise AssertionError(f"cairn serve ended with {status}: {talk}")
