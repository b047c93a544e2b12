"""The exceptions of the module."""

from __future__ import annotations


class Error(Exception):
    """A failure of cairn: one line, from the outermost context to the cause.

    ``kind`` is one of usage, io, format, version, limit, not_found, busy; ``causes`` are the ends of
    the text that begin with each inner context, the cause alone last. Without memory, functions
    raise MemoryError.
    """

    def __init__(self, kind: str, causes: list[str]) -> None:
        super().__init__(causes[0] if causes else "")
        self.kind = kind
        self.causes = causes


class BusyError(Error):
    """Not now: the same call may succeed later."""
