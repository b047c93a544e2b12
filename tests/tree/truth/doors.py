"""Total and self times per function from what each door prints: see one_truth."""
import collections
import gzip
import json
import re
import subprocess

WAITING = "linux:schedule"
NS = 1e9


class Costs:
    """Total and self time in ns by function; recursion counts once in a total."""

    def __init__(self):
        self.totals, self.selfs = collections.Counter(), collections.Counter()

    def add_stack(self, stack, self_ns):
        self.selfs[stack[-1]] += self_ns
        for name in set(stack):
            self.totals[name] += self_ns

    def of(self, name):
        return self.totals[name], self.selfs[name]


def run(*command, cwd=None):
    done = subprocess.run([str(part) for part in command], capture_output=True, cwd=cwd)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stderr.decode()}")
    return done.stdout


def report(cairn, data, *raw):
    costs = Costs()
    for row in json.loads(run(cairn, "report", "--format", "json", *raw, data)):
        costs.totals[row["function"]] = row["total_ns"]
        costs.selfs[row["function"]] = row["self_ns"]
    return costs


def of_row(row, side):
    """The first column of a side: time, of time by state running time, or the metric that was asked for."""
    return (next(value for name, value in row.items() if name.endswith(f"_{side}")) or 0) * NS


def through_flat(cairn, db, *waits):
    costs = Costs()
    for row in json.loads(run(cairn, "flat", "--format", "json", *waits, db)):
        if row["kind"] == "function":
            costs.totals[row["name"]] += of_row(row, "inclusive")
            costs.selfs[row["name"]] += of_row(row, "exclusive")
    return costs


def through_tree(cairn, db, *waits):
    costs, path = Costs(), []
    for row in json.loads(run(cairn, "tree", "--format", "json", *waits, db)):
        del path[row["depth"]:]
        path.append(row["name"])
        if row["kind"] != "line":  # its function has them as well
            costs.add_stack(path, of_row(row, "exclusive"))
    return costs


def through_folded(text):
    costs = Costs()
    for line in text.decode().splitlines():
        stack, number = line.rsplit(" ", 1)
        costs.add_stack(stack.split(";"), int(number))
    return costs


def through_graph(text):
    """Lines such as ' 1.234 ms :  |  +-(2) work'; an only child has no '+-' and is not indented."""
    units = {"us": 1e3, "ms": 1e6, " s": 1e9, "ns": 1, "m ": 60e9}
    costs, names = Costs(), []
    for line in text.decode().splitlines():
        match = re.match(r"\s*([\d.]+) (us|ms| s|ns) : (.*)\((\d+)\) (\S.*)$", line)
        if not match:
            continue
        depth = len(match[3]) if match[3].endswith("+-") or not names else names[-1][0] + 0.001
        while names and names[-1][0] >= depth:
            names.pop()
        names.append((depth, match[5]))
        if match[5] not in [name for _, name in names[:-1]]:
            costs.totals[match[5]] += float(match[1]) * units[match[2]]
    return costs


def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            content, at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            content, at = data[at:at + length], at + length
        else:
            length = 8 if key & 7 == 1 else 4
            content, at = data[at:at + length], at + length
        yield key >> 3, content


def numbers(data):
    at = 0
    while at < len(data):
        number, at = varint(data, at)
        yield number


def through_pprof(data):
    samples, functions, locations, strings = [], {}, {}, []
    for number, content in fields(gzip.decompress(data)):
        if number == 2:
            members = dict(fields(content))
            samples.append((list(numbers(members[1])), list(numbers(members[2]))))
        elif number == 4:
            members = dict(fields(content))
            locations[members[1]] = dict(fields(members[4]))[1]
        elif number == 5:
            members = dict(fields(content))
            functions[members[1]] = members[2]
        elif number == 6:
            strings.append(content.decode())
    costs = Costs()
    for stack, values in samples:
        names = [strings[functions[locations[at]]] for at in reversed(stack)]
        costs.add_stack(names, values[1])
    return costs


def through_callgrind(text):
    costs, names, current, is_call = Costs(), {}, None, False
    for line in text.decode().splitlines():
        match = re.match(r"(c?fn)=\((\d+)\)(?: (.*))?$", line)
        if match:
            name = names.setdefault(match[2], match[3])
            current = name if match[1] == "fn" else current
        elif line.startswith("calls="):
            is_call = True
        elif re.match(r"\d+ \d+$", line):
            if not is_call:
                costs.selfs[current] += int(line.split()[1])
            is_call = False
    return costs


def through_speedscope(text):
    shown = json.loads(text)
    names = [frame["name"] for frame in shown["shared"]["frames"]]
    costs = Costs()
    for profile in shown["profiles"]:
        stack, last = [], 0
        for event in profile["events"]:
            if stack:
                costs.add_stack(stack, event["at"] - last)
            last = event["at"]
            if event["type"] == "O":
                stack.append(names[event["frame"]])
            else:
                stack.pop()
    return costs


def through_firefox(text):
    costs = Costs()
    for thread in json.loads(text)["threads"]:
        stacks, frames, functions = thread["stackTable"], thread["frameTable"], thread["funcTable"]

        def path(stack):
            names = []
            while stack is not None:
                name = functions["name"][frames["func"][stacks["frame"][stack]]]
                names.insert(0, thread["stringArray"][name])
                stack = stacks["prefix"][stack]
            return names
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
            costs.add_stack(path(stack), weight * 1e6)
    return costs


def through_tables(rows):
    """The costs of the rows of calls, the same from their places in time, and the time of all;
    then running time alone, and all time with waiting as a state of the call that waits."""
    costs, placed, by_id = Costs(), Costs(), {int(row["id"]): row for row in rows}
    running, everything = Costs(), Costs()
    children = collections.Counter()
    for row in rows:
        if row["parent"]:
            children[int(row["parent"])] += int(row["end_ns"]) - int(row["begin_ns"])
    for number, row in by_id.items():
        name, length = row["name"], int(row["end_ns"]) - int(row["begin_ns"])
        above, is_inner, path = row["parent"], False, [name]
        while above:
            is_inner = is_inner or by_id[int(above)]["name"] == name
            path.insert(0, by_id[int(above)]["name"])
            above = by_id[int(above)]["parent"]
        is_wait = name.startswith(WAITING)
        if not is_wait:
            running.add_stack(path, int(row["self_ns"]))
        if path[:-1] or not is_wait:
            everything.add_stack(path[:-1] if is_wait else path, int(row["self_ns"]))
        costs.selfs[name] += int(row["self_ns"])
        placed.selfs[name] += length - children[number]
        if not is_inner:
            costs.totals[name] += int(row["total_ns"])
            placed.totals[name] += length
    span = max(int(row["end_ns"]) for row in rows) - min(int(row["begin_ns"]) for row in rows)
    return costs, placed, span, running, everything


def through_chrome(text):
    costs, stacks = Costs(), collections.defaultdict(list)
    for event in json.loads(text)["traceEvents"]:
        stack = stacks[event.get("tid")]
        if event["ph"] == "B":
            stack.append((event["name"], event["ts"]))
        elif event["ph"] == "E":
            name, begin = stack.pop()
            if name not in [above for above, _ in stack]:
                costs.totals[name] += (event["ts"] - begin) * 1000
    return costs


def through_flame(flame):
    """[depth, name, module, total, self, context] of each node: of the shown ones."""
    costs, names = Costs(), []
    for depth, name, _, total, own, *_ in flame["nodes"]:
        del names[depth:]
        label = flame["names"][name]
        if label not in names:
            costs.totals[label] += total * NS
        costs.selfs[label] += (own or 0) * NS
        names.append(label)
    return costs


def through_api(service, waits):
    costs = Costs()

    def visit(parent):
        rows = service.get("sources/0/rows", view="flat", **waits,
                           **({"row": parent} if parent is not None else {}))["rows"]
        for row in rows:
            if row["kind"] == "function":
                costs.totals[row["label"]] += (row["values"][0] or 0) * NS
                costs.selfs[row["label"]] += (row["values"][1] or 0) * NS
            elif not row["isLeaf"]:
                visit(row["id"])
    visit(None)
    return costs


def of_side(columns, row, side, metric=None):
    """A value of a row in ns: of the first metric, or of one by name."""
    index = next(i for i, column in enumerate(columns)
                 if column["side"] == side and column["metric"] == (metric or columns[0]["metric"]))
    return (row["values"][index] or 0) * NS


def all_rows(service, view, **more):
    """Every row of the first level of a view, with the columns."""
    answer = service.get("sources/0/rows", view=view, limit=1000, **more)
    return answer["columns"], answer["rows"]


def through_bottom_up(columns, rows):
    costs = Costs()
    for row in rows:
        costs.totals[row["label"]] += of_side(columns, row, "inclusive")
        costs.selfs[row["label"]] += of_side(columns, row, "exclusive")
    return costs


def through_top_down(service, **more):
    costs = Costs()

    def visit(parent, path):
        columns, rows = all_rows(service, "top-down", skip=1, **more, **({"row": parent} if parent else {}))
        for row in rows:
            costs.add_stack([*path, row["label"]], of_side(columns, row, "exclusive"))
            if not row["isLeaf"]:
                visit(row["id"], [*path, row["label"]])
    visit(None, [])
    return costs


def through_callers(cairn, db, *lens):
    costs = Costs()
    for row in json.loads(run(cairn, "callers", "--format", "json", *lens, db)):
        if row["depth"] == 0:
            costs.totals[row["name"]] += of_row(row, "inclusive")
            costs.selfs[row["name"]] += of_row(row, "exclusive")
    return costs


def through_top(cairn, db, *lens):
    """Call paths by self cost: those of a function add up."""
    costs = Costs()
    for row in json.loads(run(cairn, "top", "-n", "1000", "--format", "json", *lens, db)):
        costs.selfs[row["name"]] += of_row(row, "exclusive")
    return costs


def through_sql(cairn, data, *raw):
    costs = Costs()
    for row in json.loads(run(cairn, "sql", *raw, data, "--format", "json", "SELECT name, total_ns, self_ns FROM report")):
        costs.totals[row["name"]], costs.selfs[row["name"]] = row["total_ns"], row["self_ns"]
    return costs


def through_lens(rows, action, function):
    """Running time of the rows of calls with one function hidden, focused or dropped, computed from call paths."""
    by_id, costs = {int(row["id"]): row for row in rows}, Costs()
    for row in rows:
        if row["name"].startswith(WAITING):
            continue
        path, above = [row["name"]], row["parent"]
        while above:
            path.insert(0, by_id[int(above)]["name"])
            above = by_id[int(above)]["parent"]
        if action == "hide":
            path = [name for name in path if name != function]
        elif (function in path) != (action == "focus"):
            continue
        costs.add_stack(path, int(row["self_ns"]))
    return costs
