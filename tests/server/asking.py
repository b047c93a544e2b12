"""A server of generated data that tests of the API ask, and their options."""
import argparse
import sys
import time
import unittest

from service import serving

OPTIONS = argparse.Namespace()


def ready(service, source):
    """Wait until a recording has been analysed."""
    for _ in range(300):
        state = service.get("sources")["sources"][source]["state"]
        if state != "working":
            return state
        time.sleep(0.1)
    return "working"


class Asking(unittest.TestCase):
    """Questions to a server of a database, source 0, and a recording, source 1."""

    @classmethod
    def setUpClass(cls):
        cls.block = serving(OPTIONS.cairn, f"{OPTIONS.testdata}/sample",
                            f"{OPTIONS.testdata}/recording")
        cls.service = cls.block.__enter__()
        assert ready(cls.service, 1) == "ready"

    @classmethod
    def tearDownClass(cls):
        cls.block.__exit__(None, None, None)

    def ask(self, source, question, **parameters):
        return self.service.get(f"sources/{source}/{question}", **parameters)

    def until_done(self, source, question, **parameters):
        for _ in range(300):
            answer = self.ask(source, question, **parameters)
            if not answer["isPending"]:
                return answer
            time.sleep(0.05)
        raise AssertionError(f"{question} is still pending")

    def all_calls(self, **wish):
        """Every record of the first task, a page after another."""
        records, at = [], {"time": 0}
        while True:
            page = self.ask(1, "calls", limit=7, **at, **wish)
            records += page["calls"]
            if page["isEnd"]:
                return records
            at = {"at": page["next"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--testdata", required=True)
    _, rest = parser.parse_known_args(namespace=OPTIONS)
    unittest.main(argv=[sys.argv[0], *rest])
