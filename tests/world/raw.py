"""Recordings read in plain Python: records of calls and of the scheduler, and names from nm, without any code of cairn."""
import bisect
import collections
import pathlib
import struct
import subprocess

ENTRY, EXIT, LOST, EVENT = range(4)
SWITCH, SWITCH_OUT, PREEMPTED = 14, 0x2000, 0x4000


def records(data):
    """(tid, time, kind, depth, address) of all tasks. Recordings with arguments are not read."""
    for path in sorted(pathlib.Path(data).glob("[0-9]*.dat")):
        content = path.read_bytes()
        for at in range(0, len(content) - 15, 16):
            time_ns, word = struct.unpack_from("<QQ", content, at)
            assert word >> 3 & 7 == 5 and not word >> 2 & 1, f"{path}: {word:#x} at {at}"
            yield int(path.stem), time_ns, word & 3, word >> 6 & 1023, word >> 16


def base_of(data, program):
    """Where the program was mapped, by session."""
    bases = set()
    for path in pathlib.Path(data).glob("sid-*.map"):
        starts = [int(line.split("-")[0], 16) for line in path.read_text(errors="replace").splitlines()
                  if line.split()[5:6] == [str(program)]]
        bases |= {min(starts)} if starts else set()
    return bases


def symbols(program):
    """Address, end and name of each function with a size, in order."""
    listed = subprocess.run(["nm", "-S", "--defined-only", program], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return sorted((int(row[0], 16), int(row[0], 16) + int(row[1], 16), row[3]) for row in rows if len(row) == 4 and row[2] in "tT")


def name_at(functions, address):
    at = bisect.bisect(functions, (address, float("inf"))) - 1
    return functions[at][2] if at >= 0 and address < functions[at][1] else None


def calls(data, program, unstripped=None):
    """How often each function of the program was called. As for uftrace, calls that an exec() cut off do not count."""
    functions, counts = symbols(unstripped or program), collections.Counter()
    bases, stacks = (0, *base_of(data, program)), {}
    for tid, _, kind, depth, address in records(data):
        if kind not in (ENTRY, EXIT):
            continue
        stack = stacks.setdefault(tid, [])
        if kind == EXIT: # the address of the function, or one in it
            address = stack[depth] if depth < len(stack) else address
        elif depth < len(stack):
            del stack[depth:]
        if kind == ENTRY:
            stack.append(address)
            continue
        counts.update({name_at(functions, address - base) for base in bases} - {None})
        del stack[depth:]
    for address in (each for stack in stacks.values() for each in stack): # they were open when the program ended
        counts.update({name_at(functions, address - base) for base in bases} - {None})
    return counts


def switches(data):
    """(time, tid, leaves, is pre-empted) of the scheduler, in order of time."""
    found = []
    for path in pathlib.Path(data).glob("perf-cpu*.dat"):
        content, at = path.read_bytes(), 0
        while at + 8 <= len(content):
            kind, misc, size = struct.unpack_from("<IHH", content, at)
            if kind == SWITCH:
                _, tid, time_ns = struct.unpack_from("<IIQ", content, at + size - 16)
                found.append((time_ns, tid, bool(misc & SWITCH_OUT), bool(misc & PREEMPTED)))
            at += size
    return sorted(found)
