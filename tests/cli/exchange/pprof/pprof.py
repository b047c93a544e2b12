#!/usr/bin/env python3
"""A profile with every field of profile.proto, encoded and decoded here, before and after cairn convert.
Prints what is wrong."""
import collections
import gzip
import pathlib
import subprocess
import sys

failures = []


def check(is_fine, text):
    if not is_fine:
        failures.append(text)


def varint(value):
    value &= 2**64 - 1
    data = b""
    while value >= 128:
        data, value = data + bytes((value & 127 | 128,)), value >> 7
    return data + bytes((value,))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


class Texts(dict):
    def __missing__(self, key):
        self[key] = len(self)
        return self[key]


def profile():
    """Two modules, the program first; inlined calls; labels of all kinds; values below zero."""
    texts = Texts({"": 0})
    data = b"".join(field(1, field(1, texts[kind]) + field(2, texts[unit])) for kind, unit in (
        ("alloc_objects", "count"), ("alloc_space", "bytes"), ("delay", "nanoseconds"), ("inuse_space", "bytes")))

    def label(key, text=None, number=0, unit=None):
        return field(3, field(1, texts[key]) + (field(2, texts[text]) if text else field(3, number))
                     + (field(4, texts[unit]) if unit else b""))

    def sample(stack, values, *labels):
        return field(2, field(1, b"".join(map(varint, stack))) + field(2, b"".join(map(varint, values))) + b"".join(labels))

    data += sample((3, 2, 1), (7, 700, 1_000_001, 70), label("bytes", number=64, unit="bytes"), label("user", "anna"))
    data += sample((3, 2, 1), (7, 700, 1_000_001, 70), label("bytes", number=128, unit="bytes"), label("user", "otto"))
    data += sample((2, 1), (1, 10, 0, 10), label("tid", number=9), label("pid", number=8))
    data += sample((4, 1), (2, 22, 5, 0))
    for number, start, name, build in ((1, 0x400000, "/srv/app", "c0ffee"), (2, 0x7F0000000000, "/lib/libz.so.1", "")):
        data += field(3, field(1, number) + field(2, start) + field(3, start + 0x10000) + field(4, 0x1000)
                      + field(5, texts[name]) + field(6, texts[build]) + field(7, 1) + field(8, 1) + field(9, 1) + field(10, 1))
    for number, module, address, lines in ((1, 1, 0x401000, ((1, 12),)), (2, 1, 0x402000, ((3, 33), (2, 44))),
                                           (3, 2, 0x7F0000001000, ((4, 99),)), (4, 1, 0x403000, ())):
        data += field(4, field(1, number) + field(2, module) + field(3, address)
                      + b"".join(field(4, field(1, function) + field(2, line)) for function, line in lines))
    for number, name, system, file, line in ((1, "main", "main", "app.c", 10), (2, "run(int)", "_Z3runi", "run.cc", 40),
                                             (3, "step", "step", "run.h", 30), (4, "deflate", "deflate", "deflate.c", 90)):
        data += field(5, field(1, number) + field(2, texts[name]) + field(3, texts[system]) + field(4, texts[file])
                      + field(5, line))
    data += field(7, texts["malloc|free"]) + field(8, texts["my_malloc"])
    data += field(9, 1_700_000_000_000_000_123) + field(10, 30_000_000_000)
    data += field(11, field(1, texts["space"]) + field(2, texts["bytes"])) + field(12, 524288)
    data += field(13, texts["built by hand"]) + field(13, texts["second comment"])
    data += field(14, texts["alloc_space"]) + field(15, texts["https://example.org/doc"])
    return data + b"".join(field(6, text) for text in texts)


def number_at(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = number_at(data, at)
        value, at = number_at(data, at)
        if key & 7 == 2:
            value, at = data[at : at + value], at + value
        yield key >> 3, value


def numbers(data):
    at, found = 0, []
    while at < len(data):
        value, at = number_at(data, at)
        found.append(value)
    return found


class Profile:
    """Everything in a profile, with strings instead of their numbers."""

    def __init__(self, data):
        data = gzip.decompress(data)
        self.texts = [value.decode() for number, value in fields(data) if number == 6]
        self.types = [self.named(value, 1, 2) for number, value in fields(data) if number == 1]
        self.mappings = [self.named(value, 5, 6) for number, value in fields(data) if number == 3]
        functions = {dict(fields(value))[1]: self.named(value, 2, 3, 4) for number, value in fields(data) if number == 5}
        self.locations = {}
        for number, value in fields(data):
            if number != 4:
                continue
            at = dict(fields(value))
            lines = [dict(fields(line)) for kind, line in fields(value) if kind == 4]
            modules = {dict(mapping)[1]: mapping for mapping in self.mappings}
            self.locations[at[1]] = (modules.get(at.get(2)), at.get(3),
                                     tuple((functions[line[1]], line.get(2)) for line in lines))
        self.samples = collections.Counter()
        for number, value in fields(data):
            if number == 2:
                inside = dict(fields(value))
                labels = tuple(sorted(self.named(label, 1, 2, 4) for kind, label in fields(value) if kind == 3))
                self.samples[tuple(numbers(inside[1])), tuple(numbers(inside[2])), labels] += 1
        self.samples = collections.Counter({(tuple(self.locations[i] for i in stack), values, labels): count
                                            for (stack, values, labels), count in self.samples.items()})
        self.facts = [(number, self.texts[value] if number in (7, 8, 13, 14, 15) else value)
                      for number, value in fields(data) if number in (7, 8, 9, 10, 12, 13, 14, 15)]
        self.period = [self.named(value, 1, 2) for number, value in fields(data) if number == 11]

    def named(self, message, *texts):
        return tuple((number, self.texts[value] if number in texts else value) for number, value in fields(message))

    def costs(self):
        """Values of each stack of names, by the type and unit."""
        found = collections.Counter()
        for (stack, values, _), count in self.samples.items():
            names = tuple(dict(function)[2] for _, _, lines in stack for function, _ in lines)
            for kind, value in zip(self.types, values):
                found[names, dict(kind)[1], dict(kind)[2]] += value * count
        return +found


def convert(source, target, name, *more):
    done = subprocess.run(["cairn", "convert", "-f", source, target, "--to", name, *more], capture_output=True, check=False)
    check(done.returncode == 0, f"{source} to {target}: {done.stderr.decode()}")
    return done.stderr.decode()


def check_same(before, after):
    for name in ("types", "mappings", "facts", "period", "samples"):
        check(getattr(before, name) == getattr(after, name),
              f"{name} differ: {getattr(before, name)}, {getattr(after, name)}")


def main():
    pathlib.Path("all.pprof").write_bytes(profile())
    pathlib.Path("all.pb.gz").write_bytes(gzip.compress(profile()))
    before = Profile(pathlib.Path("all.pb.gz").read_bytes())
    check(len(before.samples) == 4, "the generator is wrong")
    for source in ("all.pprof", "all.pb.gz"):
        told = convert(source, "copy.pb.gz", "pprof", "--strict")
        check("not kept" not in told, f"{source}: {told}")
        check_same(before, Profile(pathlib.Path("copy.pb.gz").read_bytes()))
    # A database has all metrics with their units; what it has not is said.
    told = convert("all.pprof", "all.db", "hpctoolkit-v4")
    for loss in ("4 labels", "9 facts", "lines of callers"):
        check(loss in told, f"no '{loss}' in {told}")
    convert("all.db", "back.pb.gz", "pprof")
    after = Profile(pathlib.Path("back.pb.gz").read_bytes())
    check({tuple(kind) for kind in after.types} == set(before.types), f"types of the database: {after.types}")
    check(dict(after.types[-1])[1] == "alloc_space", f"the default is not last: {after.types}")
    want = collections.Counter({key if key[0] != ("main",) else (("0x403000", "main"), *key[1:]): value
                                for key, value in before.costs().items()})
    check(after.costs() == want, f"costs of the database: {after.costs()}, {want}")
    check(dict(after.mappings[0])[5] == "/srv/app", f"the first mapping is not the program: {after.mappings}")
    # One metric on demand.
    convert("all.pprof", "one.pb.gz", "pprof", "--metric", "live at end (B)")
    check(Profile(pathlib.Path("one.pb.gz").read_bytes()).types == [((1, "inuse_space"), (2, "bytes"))], "--metric")
    for text in failures:
        print(text)
    return bool(failures)


sys.exit(main())
