"""Sample a Rust program with names of each mangling, with debug information and without."""
import os
import pwd
import shutil
import subprocess
import sys


def skip(why):
    print(why)
    sys.exit(77)


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def main():
    # Tests have a home of their own; rustup looks for compilers in that of the user.
    os.environ.setdefault("RUSTUP_HOME", os.path.join(pwd.getpwuid(os.getuid()).pw_dir, ".rustup"))
    if not shutil.which("rustc") or subprocess.run(["rustc", "--version"],
                                                   capture_output=True).returncode != 0:
        skip("rustc is not installed")
    source = os.path.join(os.environ["CASE"], "work.rs")
    area = "<work::Square as work::Shape>::area"
    for options, wanted in (
            (["-Csymbol-mangling-version=v0", "-g"],
             ["work::measure::<work::Square>;" + area, "work::middle;work::leaf"]),
            ([], ["work::main;work::measure;" + area])):
        run("rustc", "--edition", "2021", "-Copt-level=1", *options, "-o", "work", source)
        run("cairn", "sample", "-q", "-o", "work.data", "./work")
        folded = run("cairn", "convert", "-q", "--to", "folded", "work.data", "-")
        for stack in wanted:
            if stack not in folded:
                print(f"{options}: no {stack} in\n{folded}")


main()
