"""Recordings of the ranks of MPI programs whose every time is known: a program is simulated on a network on which
each call of MPI takes a given time, once it need not wait any more.

A program is a list of steps for each rank:

    ("in", "step", [steps])     a function and what it does
    ("compute", "solve", ns)    time in a function
    ("all", "MPI_Barrier")      every rank waits for all others
    ("from", "MPI_Bcast", root) ("to", "MPI_Reduce", root)
    ("send", to, tag) ("ssend", to, tag) ("recv", source, tag)
    ("irecv", source, tag, slot) ("wait", slot) ("waitall", first slot, count)

Nothing here comes from the sources of cairn.
"""
import struct

from uftrace import ARGUMENT, USUAL, Module, Recording

WORLD = 0x44000000  # of MPICH
REQUESTS = 0x7ffd1000
REQUEST_LEN = 4  # likewise
START = 600 * 10**9
INIT_NS = 1000000

# Arguments that are recorded: (number, layout); what they are follows from the step.
ARGUMENTS = {
    "MPI_Barrier": [(1, "Q")], "MPI_Allreduce": [(6, "Q")], "MPI_Bcast": [(4, "i"), (5, "Q")],
    "MPI_Reduce": [(6, "i"), (7, "Q")], "MPI_Send": [(4, "i"), (5, "i"), (6, "Q")],
    "MPI_Ssend": [(4, "i"), (5, "i"), (6, "Q")], "MPI_Recv": [(4, "i"), (5, "i"), (6, "Q")],
    "MPI_Irecv": [(4, "i"), (5, "i"), (6, "Q"), (7, "Q")], "MPI_Wait": [(1, "Q")], "MPI_Waitall": [(1, "i"), (2, "Q")],
}
NAMES = {"send": "MPI_Send", "ssend": "MPI_Ssend", "recv": "MPI_Recv", "irecv": "MPI_Irecv", "wait": "MPI_Wait",
         "waitall": "MPI_Waitall", "finalize": "MPI_Finalize"}


class Call:
    """A call of MPI of a rank."""

    def __init__(self, rank, name, path, begin, before, values):
        self.rank, self.name, self.path, self.begin, self.before, self.values = rank, name, path, begin, before, values
        self.end = None
        self.wait, self.cause, self.late, self.late_path = 0, None, None, None

    def wait_for(self, late, cause):
        if late.begin - self.begin > self.wait:
            self.wait, self.cause, self.late, self.late_path = late.begin - self.begin, cause, late.rank, late.before


class Rank:
    def __init__(self, number, steps, begin):
        self.number, self.now, self.begin = number, begin, begin
        self.todo = [("enter", "main"), *self.flat(steps), ("finalize",), ("leave",)]
        self.at, self.call = 0, None
        self.path, self.gap = [], {}
        self.calls, self.phases, self.computed = [], [], []
        self.sent, self.received = {}, {}
        self.slots, self.collectives = {}, 0
        self.log = []  # (time, "enter" or "leave", name, values)

    def flat(self, steps):
        for step in steps:
            if step[0] == "in":
                yield ("enter", step[1])
                yield from self.flat(step[2])
                yield ("leave",)
            else:
                yield step

    def start_call(self, name, values=()):
        before = max(self.gap, key=self.gap.get) if self.gap else None
        self.gap = {}
        self.call = Call(self.number, name, " → ".join([*self.path, name]), self.now, before, values)
        self.calls.append(self.call)
        self.log.append((self.now, "enter", name, values))
        return self.call


class World:
    """Simulates a program; `ranks` then have their calls with times, waits, and what they waited for."""

    def __init__(self, programs, latency_ns, begins=None):
        self.latency = latency_ns
        self.ranks = [Rank(i, steps, begins[i] if begins else 0) for i, steps in enumerate(programs)]
        self.collectives, self.slots = {}, {}
        while any(self.go_on(rank) for rank in self.ranks):
            pass
        assert all(rank.at == len(rank.todo) for rank in self.ranks), "the program hangs"

    def go_on(self, rank):
        moved = False
        while rank.at < len(rank.todo) and self.do(rank, rank.todo[rank.at]):
            rank.at += 1
            moved = True
        return moved

    def do(self, rank, step):
        kind = step[0]
        if kind == "enter":
            rank.path.append(step[1])
            rank.log.append((rank.now, "enter", step[1], ()))
            rank.phases.append([step[1], rank.now, None])
        elif kind == "leave":
            name = rank.path.pop()
            rank.log.append((rank.now, "leave", name, ()))
            next(p for p in reversed(rank.phases) if p[0] == name and p[2] is None)[2] = rank.now
        elif kind == "compute":
            path = " → ".join([*rank.path, step[1]])
            rank.log.append((rank.now, "enter", step[1], ()))
            rank.computed.append((rank.now, rank.now + step[2]))
            rank.now += step[2]
            rank.log.append((rank.now, "leave", step[1], ()))
            rank.gap[path] = rank.gap.get(path, 0) + step[2]
        else:
            return self.communicate(rank, step)
        return True

    def communicate(self, rank, step):
        is_first = rank.call is None
        end = getattr(self, "in_" + {"all": "collective", "from": "collective", "to": "collective", "finalize": "collective",
                                     "ssend": "send"}.get(step[0], step[0]))(rank, step, is_first)
        if end is None:
            return False
        rank.call.end = rank.now = max(end, rank.call.begin) + self.latency
        rank.log.append((rank.now, "leave", rank.call.name, ()))
        rank.call = None
        return True

    def in_collective(self, rank, step, is_first):
        root = step[2] if step[0] in ("from", "to") else None
        if is_first:
            name = NAMES.get(step[0]) or step[1]
            rank.start_call(name, (WORLD,) if root is None else (root, WORLD))
            rank.number_of_call = rank.collectives
            rank.collectives += 1
            self.collectives.setdefault(rank.number_of_call, {})[rank.number] = rank.call
        group = self.collectives[rank.number_of_call]
        if root is not None and rank.number == (root if step[0] == "from" else -1):
            return rank.now
        if step[0] == "to" and rank.number != root:
            return rank.now
        if step[0] == "from":
            if root not in group:
                return None
            rank.call.wait_for(group[root], "late root")
            return group[root].begin
        if len(group) < len(self.ranks):
            return None
        last = max((group[i] for i in sorted(group)), key=lambda call: call.begin)
        rank.call.wait_for(last, "late rank")
        return last.begin

    def match(self, sender, receiver, tag, number):
        sent = self.ranks[sender].sent.get((receiver, tag), [])
        return sent[number] if number < len(sent) else None

    def in_send(self, rank, step, is_first):
        key = (step[1], step[2])
        if is_first:
            call = rank.start_call(NAMES[step[0]], (step[1], step[2], WORLD))
            rank.sent.setdefault(key, []).append(call)
        if step[0] == "send":
            return rank.now
        number = rank.sent[key].index(rank.call)
        received = self.ranks[step[1]].received.get((rank.number, step[2]), [])
        if number >= len(received):
            return None
        rank.call.wait_for(received[number], "late receiver")
        return received[number].begin

    def receive(self, rank, source, tag):
        rank.received.setdefault((source, tag), []).append(rank.call)
        return len(rank.received[source, tag]) - 1

    def in_recv(self, rank, step, is_first):
        if is_first:
            rank.start_call("MPI_Recv", (step[1], step[2], WORLD))
            rank.message = self.receive(rank, step[1], step[2])
        return self.end_receive(rank, step[1], step[2], rank.message)

    def end_receive(self, rank, source, tag, number):
        sent = self.match(source, rank.number, tag, number)
        if sent is None:
            return None
        rank.call.wait_for(sent, "late sender")
        return sent.begin

    def in_irecv(self, rank, step, is_first):
        assert is_first
        rank.start_call("MPI_Irecv", (step[1], step[2], WORLD, REQUESTS + REQUEST_LEN * step[3]))
        rank.slots[step[3]] = (step[1], step[2], self.receive(rank, step[1], step[2]))
        return rank.now

    def in_wait(self, rank, step, is_first):
        if is_first:
            rank.start_call("MPI_Wait", (REQUESTS + REQUEST_LEN * step[1],))
        return self.end_receive(rank, *rank.slots[step[1]])

    def in_waitall(self, rank, step, is_first):
        if is_first:
            rank.start_call("MPI_Waitall", (step[2], REQUESTS + REQUEST_LEN * step[1]))
        slots = [rank.slots[step[1] + i] for i in range(step[2])]
        if any(self.match(source, rank.number, tag, number) is None for source, tag, number in slots):
            return None
        return max(self.end_receive(rank, *slot) for slot in slots)


def recording(rank, name, has_arguments=True):
    """The recording of a rank."""
    functions = sorted({entry[2] for entry in rank.log} - {"main"} | {"MPI_Init"})
    symbols = [(f, "P", 16) for f in functions if f.startswith("MPI_")]
    symbols += [(f, "T", 64) for f in functions if not f.startswith("MPI_")] + [("main", "T", 64)]
    run = Recording(name, features=USUAL | (ARGUMENT if has_arguments else 0))
    if has_arguments:
        words = {"i": "i32", "Q": "x64"}
        rules = [f"{f}@" + ",".join(f"arg{n}/{words[w]}" for n, w in ARGUMENTS[f]) for f in functions if f in ARGUMENTS]
        run.arguments = ["argspec:" + ";".join(rules)] if rules else None
    pid = 4000 + rank.number
    session = run.begin(START - 2 * INIT_NS, pid, [Module("/srv/demo/solver", 0xaaaac2120000, symbols)])
    task = run.task(session, pid, START - 2 * INIT_NS)
    for time_ns, what, function, values in rank.log:
        task.now = START + time_ns
        if what == "leave":
            task.open.pop()
            task.put(1, len(task.open), task.address_of(function))
            continue
        if function == "main":
            task.now -= 2 * INIT_NS
        payload = None
        if has_arguments and function in ARGUMENTS:
            payload = b"".join(struct.pack("<" + w, value) for (_, w), value in zip(ARGUMENTS[function], values))
        task.put(0, len(task.open), task.address_of(function), payload)
        task.open.append(task.address_of(function))
        if function == "main":  # MPI_Init ends when the simulation begins
            for kind, ns in ((0, INIT_NS), (1, 0)):
                task.now = START + time_ns - ns
                task.put(kind, 1, task.address_of("MPI_Init"))
    return run


def write_run(folder, world, **more):
    """A folder as mpirun -n N cairn record writes it."""
    folder.mkdir(parents=True)
    (folder / "ranks").write_text(f"size={len(world.ranks)}\n")
    for rank in world.ranks:
        recording(rank, folder.name, **more).write(folder / f"rank.{rank.number}")


def late(rank, size, steps=4):
    """Rank 2 computes longer in every step before a sum; in the second step, rank 1 sends late to rank 0."""
    program = []
    for n in range(steps):
        inside = [("compute", "solve", 3000000 if rank == 2 else 1000000)]
        if n == 1 and rank == 1:
            inside += [("compute", "pack", 900000), ("send", 0, 5)]
        if n == 1 and rank == 0:
            inside += [("recv", 1, 5)]
        program.append(("in", "step", [*inside, ("all", "MPI_Allreduce")]))
    return [*program, ("from", "MPI_Bcast", 0)]


def write(folder):
    for size in (4, 8):
        world = World([late(i, size) for i in range(size)], 2000)
        write_run(folder / f"late{size}", world)
    world = World([late(i, 4) for i in range(4)], 2000)
    write_run(folder / "plain", world, has_arguments=False)
    write_run(folder / "damaged", world)
    data = next((folder / "damaged/rank.1").glob("*.dat"))
    data.write_bytes(data.read_bytes()[:200] + bytes(40))
    for path in sorted((folder / "damaged/rank.3").iterdir()):
        path.unlink()
    (folder / "damaged/rank.3").rmdir()
