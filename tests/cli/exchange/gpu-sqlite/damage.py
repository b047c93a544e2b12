"""Damaged and hostile databases: every one is read up to the damage or refused, with status 0 or 3, and never crashes."""

import os
import sqlite3
import subprocess
import sys

import databases


def status(path):
    run = subprocess.run(["cairn", "tree", "--depth", "3", path], capture_output=True, text=True)
    if run.returncode not in (0, 3) or "runtime error" in run.stderr or "Sanitizer" in run.stderr:
        sys.exit(f"{path}: status {run.returncode}\n{run.stderr}")
    return run


def flipped(source, step):
    with open(source, "rb") as file:
        data = file.read()
    counts = {0: 0, 3: 0}
    for at in range(16, len(data), step):
        with open("damaged.db", "wb") as file:
            file.write(data[:at] + bytes(255 - byte for byte in data[at:at + 8]) + data[at + 8:])
        counts[status("damaged.db").returncode] += 1
    return counts


def changed(name, *statements, kind=databases.nsight):
    """A database after some statements, and what cairn says of it."""
    if os.path.exists(name):
        os.remove(name)
    db = kind(name)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()
    run = status(name)
    print(f"{name}: status {run.returncode}")
    print(run.stderr, end="")


counts = flipped("report.sqlite", 997)
print("some damage is found:", counts[3] > 0)
with open("report.sqlite", "rb") as file:
    data = file.read()
for length in range(100, len(data), 4001):
    with open("cut.db", "wb") as file:
        file.write(data[:length])
    status("cut.db")
changed("no-strings.sqlite", "DROP TABLE StringIds")
changed("no-calls.sqlite", "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME", "DROP TABLE NVTX_EVENTS")
changed("no-columns.sqlite", "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN streamId",
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN demangledName")
changed("wrong-types.sqlite", "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'soon', streamId = x'00'",
        "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET start = -1, copyKind = 99",
        "UPDATE CUPTI_ACTIVITY_KIND_MEMSET SET end = 9223372036854775807, memKind = -5",
        "UPDATE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SET end = start - 1")
changed("endless.db", "DROP VIEW regions", "CREATE VIEW regions AS WITH RECURSIVE r(start) AS (SELECT 1 UNION ALL "
        "SELECT start FROM r WHERE start > 0) SELECT 'x' AS name, 1 AS pid, 1 AS tid, start, 0 AS end, 0 AS stack_id FROM r",
        kind=databases.rocpd)
changed("no-view.db", "DROP VIEW kernels", "CREATE VIEW kernels AS SELECT * FROM absent", kind=databases.rocpd)
