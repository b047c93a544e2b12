"""Costs of instructions and lines through every door, against the samples that were written: see one_truth."""
import collections
import json
import os
import random

from service import Service
from test_assembly import CODE, LEN, build, write_perf
from truth.doors import NS, run


def check_code(check, cairn, folder):
    library, build_id, begin, code = build(folder, "hot.S", CODE, "hot")
    lengths, spread = LEN[os.uname().machine], random.Random(7)
    offsets = [begin + sum(lengths[:i]) for i in range(len(lengths))]
    samples = [(1 + spread.randrange(2), spread.choice(offsets), 1000 * (1 + spread.randrange(9))) for _ in range(200)]
    costs = collections.Counter()
    for _, offset, ns in samples:
        costs[offset] += ns
    source, whole, label = folder / "code.perf.data", sum(costs.values()), "instructions"
    write_perf(source, library, build_id, code, samples)
    rows = json.loads(run(cairn, "annotate", "hot", source, "--format", "json"))
    column = next(name for name in rows[0] if name.startswith("cpu_clock"))
    shown = {int(row["offset"], 16): round((row[column] or 0) * NS) for row in rows}
    check.that(shown == {offset: costs[offset] for offset in offsets}, f"{label}: annotate has {shown}, sampled were {costs}")
    text = run(cairn, "annotate", "hot", source).decode()
    check.that(f"self {whole / NS:.6g} (100.0% of all)" in text, f"{label}: annotate prints {text.splitlines()[0]}, sampled were {whole} ns")
    table = json.loads(run(cairn, "sql", source, "--format", "json", "SELECT sum(value) AS value FROM costs WHERE scope = 'point' AND metric LIKE 'cpu-clock%'"))
    check.that(round(table[0]["value"] * NS) == whole, f"{label}: costs in SQL have {table}, sampled were {whole} ns")
    service = Service(cairn, str(source))  # of which pages without a server have neither binary nor source
    try:
        hot = next(row for row in service.get("sources/0/rows", view="bottom-up")["rows"] if row["label"] == "hot")
        answer = service.get("sources/0/assembly", row=hot["context"])
        found = {one["offset"]: round(one.get("cost", 0) * NS) for one in answer["instructions"]}
        check.that(found == shown, f"{label}: the page has {found}, annotate {shown}")
        check.that([round(answer[name] * NS) for name in ("self", "total", "inlined")] == [whole, whole, 0], f"{label}: the page has {answer}")
        check.that([round(value * NS) for value in hot["values"][:2]] == [whole] * 2, f"{label}: the row of the function has {hot}")
        lines = collections.Counter()
        for one in answer["instructions"]:
            line = one.get("line", line if lines else None)
            lines[line] += round(one.get("cost", 0) * NS)
        row = next(row for row in service.get("sources/0/rows", row=hot["context"])["rows"] if row["kind"] == "line")
        text = service.get("sources/0/source", row=row["id"])
        check.that({line: round(cost * NS) for line, cost in text["costs"]} == +lines, f"{label}: source has {text['costs']}, instructions {lines}")
    finally:
        service.end()
    check.doors += 6
