#!/usr/bin/env python3
"""SQL through the API: the results of `cairn sql`, of every kind of source and of two at once, and the limits.

Usage: test_sql.py --cairn PROGRAM --testdata FOLDER
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import agent
from service import serving

STATEMENTS = (
    # sources: a database, a recording, a store
    (0, "SELECT name, scope FROM metrics ORDER BY 1"),
    (0, 'SELECT c.name, v.value FROM contexts c JOIN "values" v ON v.context = c.id ORDER BY 2 DESC, 1 LIMIT 20'),
    (0, "SELECT thread, count(*), min(time_ns), max(time_ns) FROM samples GROUP BY 1"),
    (1, "SELECT name, calls, total_ns, self_ns FROM report ORDER BY self_ns DESC, name"),
    (1, "SELECT name, count(*) AS n, sum(total_ns) FROM calls GROUP BY 1 ORDER BY 1"),
    (1, "SELECT NULL AS none, 1.5 AS real, 'text' AS text, x'00ff' AS bytes, 9007199254740993 AS large"),
    (2, "SELECT type, count(*), max(duration_ns) FROM spans GROUP BY 1 ORDER BY 1"),
    (2, "SELECT method, duration_ns FROM traces('uri exists') ORDER BY 2 DESC, 1 LIMIT 5"),
)


def plain(value):
    """As the command prints it: integers that JavaScript cannot represent are strings in the API."""
    return str(value) if isinstance(value, int) and abs(value) >= 2 ** 53 else value


class Sql(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        requests, store = (os.path.join(cls.folder.name, name) for name in ("requests.http", "store"))
        with open(requests, "wb") as file:
            file.write(agent.request("agd", agent.SYMBOLS)
                       + b"".join(agent.request("trc", agent.trace(n), n) for n in range(20)))
        subprocess.check_call([OPTIONS.cairn, "store", "add", "-q", "--create", store, requests])
        cls.paths = [f"{OPTIONS.testdata}/sample", f"{OPTIONS.testdata}/recording", store]
        cls.block = serving(OPTIONS.cairn, *cls.paths)
        cls.service = cls.block.__enter__()
        cls.service.get_ready()

    @classmethod
    def tearDownClass(cls):
        cls.block.__exit__(None, None, None)
        cls.folder.cleanup()

    def printed(self, source, *words):
        return json.loads(subprocess.check_output(
            [OPTIONS.cairn, "sql", "-q", self.paths[source], *words, "--format", "json"], text=True))

    def refused(self, source, status, **parameters):
        query = urllib.parse.urlencode(parameters, doseq=True)
        found, _, body = self.service.ask(f"/api/v1/sources/{source}/sql?{query}")
        self.assertEqual(found, status, body)
        return json.loads(body)["error"]["text"]

    def test_results_are_those_of_the_command(self):
        for source, statement in STATEMENTS:
            with self.subTest(statement):
                answer = self.service.get(f"sources/{source}/sql", statement=statement)
                names = [column["name"] for column in answer["columns"]]
                expected = [[plain(row[name]) for name in names] for row in self.printed(source, statement)]
                self.assertEqual(answer["rows"], expected)
                self.assertEqual((answer["count"], answer["isCut"]), (len(expected), False))
                self.assertGreater(answer["count"], 0)

    def test_columns_have_the_type_of_their_values(self):
        def types(statement):
            return [one["type"] for one in self.service.get("sources/1/sql", statement=statement)["columns"]]
        self.assertEqual(types(STATEMENTS[5][1]), ["null", "real", "text", "text", "integer"])
        self.assertEqual(types("SELECT * FROM (VALUES (1, 1, NULL), (2.5, 'a', 3))"), ["real", "mixed", "integer"])

    def test_tables_are_those_of_the_command(self):
        for source in range(3):
            answer = self.service.get(f"sources/{source}/tables")
            names = [column["name"] for column in answer["columns"]]
            self.assertEqual([dict(zip(names, row)) for row in answer["rows"]], self.printed(source))

    def test_two_sources_are_joined(self):
        joined = self.service.get("sources/1/sql", **{"with": 2}, statement=(
            "SELECT (SELECT count(*) FROM report), (SELECT count(*) FROM s2.spans), (SELECT count(*) FROM main.report)"))
        one, other, again = joined["rows"][0]
        self.assertEqual((one, other), (again, self.service.get("sources/2/traces", spans=1)["count"]))
        tables = {(row[0], row[1]) for row in self.service.get("sources/1/tables", **{"with": 2})["rows"]}
        self.assertTrue({("main", "calls"), ("s2", "spans")} <= tables)
        self.assertIn("no source '7'", self.refused(1, 404, statement="SELECT 1", **{"with": 7}))

    def test_rows_are_cut_at_the_limit(self):
        statement = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n"
        for limit in (1, 7, 5000):
            answer = self.service.get("sources/0/sql", statement=statement, limit=limit)
            self.assertEqual(answer["rows"], [[i + 1] for i in range(limit)])
            self.assertEqual(answer["isCut"], limit < 5000)

    def test_a_statement_that_does_not_end_is_stopped(self):
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        begin = time.monotonic()
        self.assertEqual(self.refused(0, 422, statement=endless, timeout=1), "stopped at the limit of 1 s")
        self.assertLess(time.monotonic() - begin, 20)
        large = "SELECT length(group_concat(zeroblob(10000000))) FROM (VALUES (1), (2), (3))"
        self.assertIn("too big", self.refused(0, 400, statement=large))
        # Other questions are answered meanwhile, and after it.
        self.assertEqual(self.service.get("sources/0/sql", statement="SELECT 1")["rows"], [[1]])

    def test_it_only_reads(self):
        for statement in ("DELETE FROM metrics", "CREATE TABLE t (a)", "PRAGMA database_list", "ATTACH '/etc/passwd' AS x",
                          "INSERT INTO metrics VALUES (1)", "SELECT load_extension('x')", "VACUUM INTO '/tmp/x'",
                          "SELECT 1; SELECT 2", "BEGIN"):
            with self.subTest(statement):
                self.refused(0, 400, statement=statement)
        self.assertIn("no such column", self.refused(0, 400, statement="SELECT nowhere FROM metrics"))
        self.assertIn("missing", self.refused(0, 400))
        self.assertIn("limit", self.refused(0, 400, statement="SELECT 1", limit=20000))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cairn", required=True)
    parser.add_argument("--testdata", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
