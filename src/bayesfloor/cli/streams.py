"""Standard streams that may be closed or full: results must arrive, notes may be lost."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

#: What stands for standard input among files.
STDIN = "-"


def fill_closed_descriptors() -> None:
    """Open a null device for each standard stream that is closed; else the next file to be opened takes its place."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115


def tell(text: str) -> None:
    """Write a line to stderr; where that is full, it is lost."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        abandon(sys.stderr)


def abandon(stream: Any) -> None:
    """Send what is still to come to nowhere, so that nothing fails when Python closes the stream."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


@contextmanager
def without_messages_of_libraries() -> Iterator[None]:
    """Drop what compiled code writes to descriptor 2 by itself, such as a panic of polars; Python's stderr goes on."""
    own, python = os.dup(2), sys.stderr
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        if _is_on_descriptor_2(python):
            python.flush()
            sys.stderr = open(own, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
        yield
    finally:
        sys.stderr = python
        os.dup2(own, 2)
        os.close(own)


def _is_on_descriptor_2(stream: Any) -> bool:
    try:
        return bool(stream.fileno() == 2)
    except (OSError, ValueError):  # one that lives in memory
        return False
