# tools/run-tests counts tests, skips and their reasons, fails on skips without a reason, and prints known causes of
# second tries, and ends what tests leave behind.
exec python3 - <<'END'
import importlib.machinery
import importlib.util
import os
import sys
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
path = os.environ["CAIRN_SOURCE"] + "/tools/run-tests"
loader = importlib.machinery.SourceFileLoader("run_tests", path)
run_tests = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
loader.exec_module(run_tests)


def case(output, status="run", is_skipped=False):
    result = ElementTree.Element("testcase", name="x", status="notrun" if is_skipped else status)
    ElementTree.SubElement(result, "system-out").text = output
    if is_skipped:
        ElementTree.SubElement(result, "skipped", message="SKIP_RETURN_CODE=77")
    return result


def counts(*args, **named):
    return {kind: n for kind, n in run_tests.count_case(case(*args, **named)).items() if n}


CMOCKA = "[  PASSED  ] 3 test(s).\n[  SKIPPED ] 1 test(s), listed below:\n"
UNITTEST = "Ran 4 tests in 1s\n\nOK (skipped=1)\n"
for found, expected in (
        (counts("whatever"), {"passed": 1}),
        (counts("whatever", "fail"), {"failed": 1}),
        (counts("[  PASSED  ] 3 test(s).\n[  FAILED  ] 2 test(s)", "fail"), {"passed": 3, "failed": 2}),
        (counts("skipped: no zsh", is_skipped=True), {"skipped": 1}),
        (counts("", is_skipped=True), {"failed": 1}),
        (counts("skipped:", is_skipped=True), {"failed": 1}),
        (counts(CMOCKA), {"failed": 1}),
        (counts("[ RUN      ] a\nskipped: no xz\n" + CMOCKA), {"passed": 3, "skipped": 1}),
        (counts("skipped: tracepoints: refused"), {"passed": 1, "skipped": 1}),
        (counts(UNITTEST), {"failed": 1}),
        (counts("test_a (X.test_a) ... skipped 'no promtool'\n" + UNITTEST), {"passed": 1, "skipped": 1})):
    assert found == expected, f"{found}, not {expected}"
assert run_tests.reasons(case("skipped: no zsh", is_skipped=True)) == ["no zsh"]

# A process that a test leaves behind is ended, at once if it is busy.
_, output = run_tests.follow(["sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!"], run_tests.CTEST_LINE, print)
left = f"/proc/{int(output)}/cmdline"
run_tests.ORPHANS.end(run_tests.Orphans.ALLOWED_S)
assert os.path.exists(left), "ended although it is not busy"
while os.path.exists(left):
    run_tests.ORPHANS.end()
causes = [["record/*", "short calls take long on a busy machine"]]
assert "short calls" in run_tests.cause_of("record/times", causes)
assert "no cause in tests/second-tries" in run_tests.cause_of("tui", causes)
for pattern, cause in run_tests.known_causes():
    assert pattern and cause
END
