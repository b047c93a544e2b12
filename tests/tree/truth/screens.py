"""Every screen of the terminal viewer: see one_truth."""
import json
import pathlib
import re
import shutil
import tempfile
import time

from terminal import PATIENCE_S, Terminal
from truth.doors import Costs, run

HAS_TERMINAL = shutil.which("tmux") is not None
SCREEN_ROW = re.compile(r"\s*([\d.,]+)\s+([\d.]+)%\s+(?:([\d.,]+)\s+([\d.]+)%\s+)?(?:([\d,]+)\s+)?[│├└─▾▸ ]*(\S.*?)\s*$")


def screen_rows(lines, has_calls):
    """[depth, name, total, its share, self, its share, calls] of each row; times in ns, None where the screen has none."""
    unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[re.search(r"TOTAL (\w+)", lines[1])[1]]
    rows = []
    for line in lines[2:-2]:
        found = SCREEN_ROW.match(line)
        if found:
            total, share, own, own_share, calls, name = found.groups()
            rows.append([found.start(6), name, float(total.replace(",", "")) * unit, float(share), own and float(own.replace(",", "")) * unit,
                         own_share and float(own_share), int(calls.replace(",", "")) if has_calls else None])
    return rows


def costs_on_screen(rows, is_tree):
    costs, path = Costs(), []
    for depth, name, total, _, own, _, _ in rows:
        while path and (path[-1][0] >= depth or not is_tree):
            path.pop()
        if name not in [above for _, above in path]:
            costs.totals[name] += total
        costs.selfs[name] += own or 0
        path.append((depth, name))
    return costs


FLAME_BOX = re.compile(r" (\S.*?)  TOTAL (\w+) ([\d.,]+) \(([\d.]+)%\)(?:  SELF \w+ ([\d.,]+) \(([\d.]+)%\))?  CALLS ([\d,]+)")


def wait(terminal, is_there):
    """A screen that is drawn: it stays as it is."""
    end, before, lines = time.monotonic() + PATIENCE_S, None, terminal.screen()
    while (lines != before or not is_there(lines)) and time.monotonic() < end:
        time.sleep(0.1)
        before, lines = lines, terminal.screen()
    return [line for line in lines if line.strip()]


def box_of(terminal, name):
    """What the screen says of a box of the flame graph with this name; None if it has none that is wide enough."""
    terminal.keys("/", *name, "Enter")
    lines = wait(terminal, lambda lines: any(line.startswith(f" {name}  TOTAL") or f"not found: {name}" in line for line in lines))
    return next((box for box in map(FLAME_BOX.match, lines) if box and box[1] == name), None)


def check_flame(check, terminal, label, calls, whole):
    """Each box of the flame graph of the terminal is a call path with its time, its share and its number of calls."""
    units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    by_id, paths = {row["id"]: row for row in calls}, {}
    for row in calls:
        path, above = (row["name"],), row["parent"]
        while above:
            path, above = (by_id[above]["name"], *path), by_id[above]["parent"]
        numbers = paths.setdefault(path, [0, 0, 0])
        for i, number in enumerate((int(row["total_ns"]), int(row["self_ns"]), 1)):
            numbers[i] += number
    terminal.keys("F")
    wait(terminal, lambda lines: any(line.startswith(" program  TOTAL") for line in lines))
    seen = set()
    for names in ["main", "thread", "pthread_join", "usleep", "work"], ["middle", "recurse", "leaf"]:
        for box in filter(None, (box_of(terminal, name) for name in names)):
            name, unit, total, share, own, own_share, count = box.groups()
            total = float(total.replace(",", "")) * units[unit]
            own = own and float(own.replace(",", "")) * units[unit]
            count = int(count.replace(",", ""))
            check.that(any(path[-1] == name and abs(numbers[0] - total) < 1 and (own is None or abs(numbers[1] - own) < 1) and numbers[2] == count
                           for path, numbers in paths.items()),
                       f"{label} flame has {box.group()}, calls {[(path, n) for path, n in paths.items() if path[-1] == name]}")
            check.that(abs(float(share) - 100 * total / whole) < 0.06 and (own is None or abs(float(own_share) - 100 * own / whole) < 0.06),
                       f"{label} flame has {box.group()}, of {whole:.0f} ns")
            seen.add(name)
        terminal.keys("Enter")  # zoom, to work where it is wide enough
    # How wide other boxes are depends on how long the threads waited.
    wanted = {"main", "middle", "recurse"} if "work" in seen else {"main"}
    check.that(wanted <= seen, f"{label} flame shows {seen}")
    check.doors += 1


def check_terminal(check, cairn, data, folder, raw, expected, running, in_csv):
    """Every number on the screens of `cairn tui`."""
    label = f"{raw[0] if raw else 'corrected'} screen of tui:"
    calls = {row["function"]: row["calls"] for row in json.loads(run(cairn, "report", "--format", "json", *raw, data))}
    home = pathlib.Path(tempfile.mkdtemp(dir=folder))
    with Terminal(str(home), 160, 60) as terminal:
        terminal.keys(f"{cairn} tui {' '.join(raw)} --view report {data}", "Enter")
        for key, view, costs in (("R", "report", expected), ("G", "graph", expected), ("T", "tree", running), ("B", "callers", running), ("L", "flat", running)):
            terminal.keys(key)
            has_calls = view in ("report", "graph")
            heading = "FUNCTION" if has_calls else "CONTEXT"
            marks = {"report": " leaf", "graph": "▾ program", "tree": "▾ <main thread>", "callers": "▸ leaf", "flat": "▾ program"}

            def is_drawn(lines):
                rows = list(filter(None, map(SCREEN_ROW.match, lines[2:-2])))
                return (len(lines) > 3 and heading in lines[1] and any(marks[view] in line for line in lines)
                        and (not has_calls or all(row.group(5) for row in rows)))
            lines = wait(terminal, is_drawn)
            rows = screen_rows(lines, has_calls)
            before = len(check.failures)
            check.same(f"{label} {view}", costs, costs_on_screen(rows, view in ("graph", "tree")), share=2e-3)
            if len(check.failures) > before:
                check.failures += lines
            whole = sum(running.selfs.values()) if not has_calls else sum(expected.selfs.values())
            for _, name, total, share, own, own_share, count in rows:
                check.that(abs(share - 100 * total / whole) < 0.11, f"{label} {view} has {share} % for {name}, {total:.0f} of {whole:.0f} ns")
                check.that(own is None or abs(own_share - 100 * own / whole) < 0.11, f"{label} {view} has {own_share} % for self of {name}")
                check.that(view != "report" or count == calls[name], f"{label} {name} has {count} calls, {calls.get(name)} in the report")
        check_flame(check, terminal, label, in_csv, sum(expected.selfs.values()))
        terminal.keys("I")
        lines = wait(terminal, lambda lines: any("task list" in line for line in lines))
        info = [line.lstrip("# ").rstrip() for line in run(cairn, "info", data).decode().splitlines() if " : " in line]
        check.that([line.strip() for line in lines if " : " in line] == info, f"{label} info has {lines}")
        terminal.keys("q")
    check.doors += 1
