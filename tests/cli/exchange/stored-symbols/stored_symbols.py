"""Sample a program, remove it, and compare; then add the names of a stripped one later."""
import os
import re
import shutil
import subprocess
import sys


# Code of the compiler's start files has no table for unwinding, nor has the first entry of a linkage table: short programs
# on busy machines are sampled there as well. All other code has bounds.
UNKNOWN = "[unknown] [program]"
UNBOUNDED = ("__do_global_dtors_aux", "deregister_tm_clones", "register_tm_clones", "frame_dummy", "_init", "_fini")


def skip(why):
    print(why)
    sys.exit(77)


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def sample(path, program, *options):
    run("cairn", "sample", "-q", "-F", "4000", *options, "-o", path, program)


def stacks(path):
    return run("cairn", "convert", "-q", "--to", "folded", path, "-")


def tree(path):
    return run("cairn", "tree", "--format", "json", path)


def weight(text, *names):
    """The samples with one of these frames in their stacks."""
    lines = [line.rsplit(" ", 1) for line in text.splitlines()]
    return sum(float(count) for stack, count in lines if set(names) & set(stack.split(";")))


def expect(name, ok):
    if not ok:
        print(name)


def as_of_another_kernel(path, copy):
    """The same file, but the build-id and the release of its kernel are not the running ones."""
    data = open(path, "rb").read()
    release = os.uname().release.encode()
    data = data.replace(release, b"9" * len(release))
    at = data.rfind(b"[kernel.kallsyms]\0")
    # Before the name of the kernel are its build-id, 20 bytes, and its length, 4.
    if at > 24:
        data = data[:at - 24] + b"\xee" * 20 + data[at - 4:]
    open(copy, "wb").write(data)


def main():
    if not all(shutil.which(tool) for tool in ("cc", "strip", "objcopy")):
        skip("a compiler or binutils are not installed")
    source = os.path.join(os.environ["CASE"], "program.c")
    run("cc", "-O2", "-g", "-Wl,--build-id", "-o", "program", source)
    sample("with.data", "./program")
    sample("without.data", "./program", "--no-symbols")
    before, tree_before = stacks("with.data"), tree("with.data")
    expect("inlined functions are there", "t_hash;t_mix" in before)
    os.makedirs("away")
    os.rename("program", "away/program")
    expect("a file without its program is the same", stacks("with.data") == before)
    expect("also its tree with lines", tree("with.data") == tree_before)
    expect("a file without names has none", "t_hash" not in stacks("without.data"))
    as_of_another_kernel("with.data", "other.data")
    expect("with another kernel as well", stacks("other.data") == before)
    as_of_another_kernel("without.data", "unknown.data")
    if re.search(r"t_ask;[^\n]*;\w*(sys|svc)\w*", before):
        expect("without names, the kernel is unknown",
               "[unknown] [kernel.kallsyms]" in stacks("unknown.data"))
    if shutil.which("perf"):
        shown = run("perf", "script", "-F", "ip,sym", "-i", "with.data")
        expect("perf reads it", len(shown.splitlines()) > 10)
    run("cairn", "symbolize", "-q", "without.data", "--with", "away")
    expect("names were added", "main;t_hash;t_mix" in stacks("without.data"))
    if shutil.which("perf"):
        run("perf", "report", "--stdio", "-i", "without.data")

    # A stripped program has names by offset, equal in every run, until its debug file is there.
    run("objcopy", "--only-keep-debug", "away/program", "away/program.debug")
    os.makedirs("builds/1")
    shutil.copy("away/program", "builds/1/with-names")
    os.rename("away/program", "program")
    run("strip", "program")
    hint = r"program: \d+ % of samples have functions without names; it is "
    said = subprocess.run(["cairn", "sample", "-F", "4000", "-o", "stripped.data", "./program"],
                          capture_output=True, text=True).stderr
    expect(f"a hint of cairn sample: {said}", re.search(hint + "stripped: 'cairn symbolize", said))
    sample("again.data", "./program")
    frames = [set(re.findall(r"program\+0x[0-9a-f]+", stacks(path)))
              for path in ("stripped.data", "again.data")]
    expect(f"functions by their offset: {frames}",
           len(frames[0]) >= 3 and len(frames[0] & frames[1]) >= 3)
    # The stripped program in its place does not hide the one with names, also not of functions without lines.
    shutil.copy("program", "builds/program")
    run("cairn", "symbolize", "-q", "again.data", "--with", "builds", "-o", "built.data")
    built = stacks("built.data")
    expect(f"names of an unstripped program: {built}", "main;t_hash;t_mix" in built and "program+0x" not in built)
    os.remove("program")
    shutil.copy("stripped.data", "copy.data")  # what was shown before is cached
    said = subprocess.run(["cairn", "tree", "copy.data"], capture_output=True, text=True).stderr
    expect(f"a hint of cairn tree: {said}",
           re.search(hint + "not on this machine: 'cairn symbolize", said))
    run("cairn", "symbolize", "-q", "stripped.data", "--with", "away", "-o", "named.data")
    said = subprocess.run(["cairn", "tree", "named.data"], capture_output=True, text=True).stderr
    expect(f"no hint where all have names: {said}", "program:" not in said)
    expect("names of a debug file", "main;t_hash;t_mix" in stacks("named.data"))
    unknown, unbounded = weight(stacks("stripped.data"), UNKNOWN), weight(stacks("named.data"), UNKNOWN, *UNBOUNDED)
    expect(f"no row for the module: {unknown} of {unbounded}", unknown <= unbounded)
    expect("the other file is as it was", "t_hash" not in stacks("stripped.data"))
    for bad in (["nosuch"], ["with.data", "--with", "nosuch"], [source]):
        expect(f"symbolize {bad} fails",
               subprocess.run(["cairn", "symbolize", *bad], capture_output=True).returncode)

    # Not even the bounds of a function are known where it has no table for unwinding.
    with open("bare.c", "w") as file:
        file.write("int main(void) { for (volatile int i = 0; i < 50000000; i++); return 0; }\n")
    run("cc", "-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-Wl,--build-id", "-o", "away/bare", "bare.c")
    run("strip", "-o", "bare", "away/bare")
    sample("bare.data", "./bare")
    os.remove("bare")
    expect("no bounds", "[unknown] [bare]" in stacks("bare.data"))
    run("cairn", "symbolize", "-q", "bare.data", "--with", "away")
    expect(f"names of functions without bounds: {stacks('bare.data')}", "[unknown] [bare]" not in stacks("bare.data"))

    # Inlined calls are in the debug sections: they are read, or a hint says why not. Some objcopy do not know zstd.
    run("cc", "-O2", "-g", "-Wl,--build-id", "-o", "packed", source)
    if subprocess.run(["objcopy", "--compress-debug-sections=zstd", "packed"], capture_output=True).returncode == 0:
        said = subprocess.run(["cairn", "sample", "-F", "4000", "-o", "packed.data", "./packed"], capture_output=True, text=True).stderr
        lines = said.count("packed: no lines and inlined calls: its debug sections are compressed with zstd")
        expect(f"inlined calls or one hint: {said}", lines == (0 if "t_hash;t_mix" in stacks("packed.data") else 1))


main()
