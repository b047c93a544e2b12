# tests/compatibility/run notices answers that lack something or say something else, and allows more.
exec python3 - <<'END'
import importlib.machinery
import importlib.util
import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("run", os.environ["CAIRN_SOURCE"] + "/tests/compatibility/run")
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
loader.exec_module(run)

OLD = {"rows": [{"name": "main", "total_ns": 7, "share": 0.25, "file": None}], "is_whole": True}
for new, expected in (
        (OLD, []),
        ({"rows": [{"name": "main", "total_ns": 7, "share": 0.25, "file": None, "more": 1}], "is_whole": True, "x": 2}, []),
        ({"rows": [{"name": "main", "total_ns": 8, "share": 0.25, "file": None}], "is_whole": True},
         [".rows[0].total_ns: 8, not 7"]),
        ({"rows": [{"name": "main", "total_ns": 7, "share": 0.26, "file": "x"}], "is_whole": 1},
         [".rows[0].share: 0.26, not 0.25", ".rows[0].file: 'x', not None", ".is_whole: 1, not True"]),
        ({"rows": [], "is_whole": True}, [".rows: 0 items, not 1"]),
        ({"is_whole": True}, [": no rows"])):
    found = list(run.differences(OLD, new))
    assert found == expected, found

with tempfile.TemporaryDirectory() as scratch:
    version = pathlib.Path(scratch) / "0.9"
    version.mkdir()
    (version / "options").write_text("report -d --data\nreport --raw\n")
    assert list(run.missing_options(version, {"report -d --data", "report --raw", "report --more"})) == []
    assert list(run.missing_options(version, {"report --data", "report --raw"})) == [
        "0.9: there is no option report -d --data"]
END
