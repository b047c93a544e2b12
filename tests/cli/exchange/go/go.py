"""Sample a Go program, whole and stripped, and look for its functions."""
import json
import os
import re
import shutil
import subprocess
import sys


def skip(why):
    print(why)
    sys.exit(77)


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, env={
        **os.environ, "GOCACHE": os.path.abspath("cache"), "GO111MODULE": "off", "GOFLAGS": ""})
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return done


def expect(name, ok):
    if not ok:
        print(name)


def main():
    if not shutil.which("go"):
        skip("go is not installed")
    source = os.path.join(os.environ["CASE"], "work.go")
    for name, flags in (("plain", ""), ("stripped", "-s -w")):
        run("go", "build", "-ldflags=" + flags, "-o", name, source)
        said = run("cairn", "sample", "--goroutines", "-o", name + ".data", "./" + name).stderr
        whole = re.search(r"([0-9.]+) % of stacks whole", said)
        expect(f"{name}: {said}", whole and float(whole[1]) >= 98)
        folded = run("cairn", "convert", "-q", "--to", "folded", name + ".data", "-").stdout
        weights = [line.rpartition(" ") for line in folded.splitlines()]
        in_kernel = "unwound in the kernel" in said
        root = r"created by main\.main;goroutine \d+;" if in_kernel else ""
        total = sum(int(weight) for names, _, weight in weights if "main.hash" in names)
        stack = "runtime.goexit;main.main.func2;main.hash;main.mix"
        own = sum(int(weight) for names, _, weight in weights
                  if re.match(root + r"runtime\.goexit;main\.main\.func2;main\.hash", names))
        expect(f"{name}: {own} of {total} below the function", total > 0 and own > 0.9 * total)
        expect(f"{name}: no {stack}", stack in folded)
        # Work on the stack of the thread is below the function that asked for it.
        if in_kernel:
            moved = [(names, int(weight)) for names, _, weight in weights if "runtime.systemstack" in names and "gcAssist" in names]
            below = sum(weight for names, weight in moved if re.match(root + r".*main\.collect;.*main\.grow;.*runtime\.systemstack;", names))
            expect(f"{name}: {below} of {moved}", below > 0.8 * sum(weight for _, weight in moved) > 0)
            entries = json.loads(run("cairn", "tree", "-d", "1", "--format", "json", name + ".data").stdout)
            expect(f"{name}: {entries}", entries and entries[0]["name"] == "<application thread>")
            goroutines = {names.split(";")[1] for names, _, _ in weights if "main.hash" in names}
            expect(f"{name}: {goroutines}", len([names for names in goroutines if names.startswith("goroutine ")]) == 2)
        rows = json.loads(run("cairn", "tree", "--format", "json", name + ".data").stdout)
        found = [row for row in rows if row["name"] == "main.hash"]
        expect(f"{name}: {found[:1]}",
               found and found[0]["file"] == source and found[0]["line"] == 8)


main()
