"""What uftrace 0.19 prints of the recordings of recordings.py.

The outputs are in uftrace.tar.xz, with a digest of the recording that they are of. To make them again after a change of
a recording, with an uftrace 0.19 of your own:

    tests/generators/expectations.py UFTRACE
"""
import hashlib
import io
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

ARCHIVE = pathlib.Path(__file__).resolve().parent / "uftrace.tar.xz"
ALL_FIELDS = ("total,total-avg,total-min,total-max,total-stdv,"
              "self,self-avg,self-min,self-max,self-stdv,call,size")
VIEWS = {
    "replay": ["replay"],
    "replay-flat": ["replay", "--flat"],
    "replay-nomerge": ["replay", "--no-merge"],
    "replay-fields": ["replay", "-f", "duration,tid,time,delta,elapsed,task,module,addr"],
    "replay-D3": ["replay", "-D", "3"],
    "replay-t1us": ["replay", "-t", "1us"],
    "replay-demangle-full": ["replay", "--demangle=full"],
    "replay-srcline": ["replay", "--srcline"],
    "report": ["report"],
    "report-all": ["report", "-f", ALL_FIELDS, "-s", "call,func"],
    "report-avg": ["report", "--avg-total"],
    "report-task": ["report", "--task"],
    "report-csv": ["report", "--format", "csv"],
    "graph": ["graph"],
    "graph-main": ["graph", "main"],
    "graph-task": ["graph", "--task"],
    "dump": ["dump"],
    "info": ["info"],
    "info-task": ["info", "--task"],
}
EXCHANGE = {f"dump-{name.split('-')[0]}": ["dump", "--format", name]
            for name in ("chrome", "flame-graph", "graphviz", "mermaid")}
# uftrace does not read records of another byte order, nor, as Debian builds it, those of the kernel.
# uftrace takes the time of a recording from the file.
RECORDED_S = 1794700682
UNREADABLE = ("big-endian", "kernel")
# Lines of a thousand levels are long.
DEEP = "maxstack-1024"


def digest_of(recording):
    digest = hashlib.sha256()
    for path in sorted(pathlib.Path(recording).iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def unpack(folder):
    """Put NAME.expected beside each recording of a folder. Fails if a recording is not the one that was shown."""
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            name, view = member.name.split("/")
            text = archive.extractfile(member).read()
            target = folder / f"{name}.expected"
            if view == "digest" and text.decode() != digest_of(folder / name):
                sys.exit(f"{folder / name} is not the recording whose outputs are in {ARCHIVE}: see expectations.py")
            target.mkdir(exist_ok=True)
            (target / f"{view}.txt").write_bytes(text)


def outputs_of(uftrace, recording):
    environment = dict(os.environ, TZ="UTC", LC_ALL="C")
    for path in recording.iterdir():
        os.utime(path, (RECORDED_S, RECORDED_S))
    yield "digest", digest_of(recording).encode()
    for view, (command, *words) in {**VIEWS, **EXCHANGE}.items():
        if view == "replay-srcline" and not list(recording.glob("*.dbg")):
            continue
        if recording.name == "external-data" and command == "dump":
            continue  # it does not have that file
        if recording.name == DEEP and (command == "replay" or view in EXCHANGE):
            continue
        done = subprocess.run([uftrace, command, "--no-pager", "-d", recording.name, *words], cwd=recording.parent,
                              capture_output=True, env=environment, check=False)
        if done.returncode >= 0:
            yield view, done.stdout


def pack(uftrace):
    import recordings

    with tempfile.TemporaryDirectory() as scratch, tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
        folder = pathlib.Path(scratch)
        recordings.write(folder)
        for recording in sorted(folder.iterdir()):
            if recording.name in UNREADABLE:
                continue
            for view, text in outputs_of(uftrace, recording):
                member = tarfile.TarInfo(f"{recording.name}/{view}")
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text))


if __name__ == "__main__":
    pack(*sys.argv[1:])
