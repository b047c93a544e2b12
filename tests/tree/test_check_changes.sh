# tools/check-changes: its rules name folders that exist, changed files find their tests, and time limits them.
exec python3 - <<'END'
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True
source = pathlib.Path(os.environ["CAIRN_SOURCE"])
loader = importlib.machinery.SourceFileLoader("check_changes", str(source / "tools" / "check-changes"))
check = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_changes", loader))
loader.exec_module(check)

for folder in check.NEAR:
    assert (source / "src" / folder).is_dir(), f"src/{folder} is gone: mend NEAR in tools/check-changes"
golden = [str(path.parent.relative_to(source / "tests")) for path in (source / "tests" / "cli").rglob("cmd")]
for folder, pattern in check.NEAR.items():
    if "cli/" in pattern:
        assert any(re.match(pattern, name) for name in golden), f"{folder}: no golden test matches {pattern}"


def tests(*names, labels=()):
    return {name: {"name": name, "properties": [{"name": "LABELS", "value": list(labels)}]} for name in names}


known = tests("unit/base/run/pool", "unit/base/run/pool_damage", "unit/base/run/job", "unit/base/map", "cli/tree/depth",
              "cli/tree/depth/real", "cli/flat/text", "cli/why/found", "record/times", "server_api", "fuzz_pprof") | tests(
                  "layers", labels=["tree"])
for path, expected in (
        ("src/base/run/pool.c", ["layers", "unit/base/run/pool", "unit/base/run/pool_damage", "unit/base/run/job",
                                 "cli/tree/depth", "cli/tree/depth/real"]),
        ("tests/cli/tree/depth/stdout", ["layers", "cli/tree/depth", "cli/tree/depth/real"]),
        ("src/cli/why/cmd_why.c", ["layers", "cli/why/found"]),
        ("tests/record/times", ["layers", "record/times"]), ("tests/server/test_api.py", ["layers", "server_api"]),
        ("tests/fuzz/fuzz_pprof.c", ["layers", "fuzz_pprof"]), ("docs/tui.md", ["layers"])):
    chosen, left_out = check.choose([path], known, {})
    assert sorted(chosen) == sorted(expected) and not left_out, f"{path}: {chosen}"
chosen, left_out = check.choose(["src/base/run/pool.c"], known, {"unit/base/run/job": 1e6})
assert left_out == ["unit/base/run/job"]
END
