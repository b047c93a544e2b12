"""Data that tests read: generated, always there (CAIRN_TESTDATA), and real where there is any (CAIRN_FIXTURES). Both
have the same names."""
import os
import pathlib


def generated():
    return pathlib.Path(os.environ["CAIRN_TESTDATA"]).resolve()


def real():
    """None where there is no real data."""
    folder = pathlib.Path(os.environ.get("CAIRN_FIXTURES") or "/nowhere")
    return folder.resolve() if folder.is_dir() else None


def roots():
    return [generated(), *filter(None, [real()])]


def find(pattern):
    """Paths of all data that match a pattern, in order."""
    return [path for root in roots() for path in sorted(root.glob(pattern))]
