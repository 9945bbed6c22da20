"""How large a table may be. Files are checked against these limits before their columns are made."""

from bayesfloor.runtime.limits import check_memory, in_gib
from bayesfloor.runtime.text import counted

#: Most columns of a file: each is a Python object, and a million of them take minutes before the first distance.
MOST_COLUMNS = 100_000
#: Most rows of a file: models are trained on a million at the most, and a few kilobytes can unpack to any number.
MOST_ROWS = 20_000_000
#: Bytes of the largest file, unpacked, that is read; larger ones are refused.
UNPACKED_LIMIT = 4 * 2**30


def check_n_columns(n_columns: int, name: str) -> None:
    """Refuse a file with too many columns, before any work is done on each."""
    if n_columns > MOST_COLUMNS:
        raise ValueError(
            f"{name} has {counted(n_columns)} columns; the limit is {counted(MOST_COLUMNS)}. Are rows and columns "
            "exchanged?"
        )


def check_n_rows(n_rows: int, name: str) -> None:
    """Refuse a file with too many rows, before its columns are unpacked."""
    if n_rows > MOST_ROWS:
        raise ValueError(
            f"{name} has {counted(n_rows)} rows or more; the limit is {counted(MOST_ROWS)}. Draw a sample of them first"
        )


def check_unpacked(n_bytes: int, name: str, what: str = "") -> None:
    """Refuse a file that unpacks to too many bytes."""
    if n_bytes > UNPACKED_LIMIT:
        raise ValueError(f"{name} unpacks to {what}{in_gib(n_bytes)}; the limit is {in_gib(UNPACKED_LIMIT)}")


def check_size(n_rows: int, n_columns: int, name: str, copies: int = 3) -> None:
    """Refuse a table that is too large, before its columns are made: a few bytes can name a new one in each row."""
    check_n_columns(n_columns, name)
    check_n_rows(n_rows, name)
    n_bytes = 8 * n_rows * n_columns
    check_unpacked(n_bytes, name, f"{counted(n_rows)} rows of {counted(n_columns)} columns, ")
    check_memory(copies * n_bytes, f"Reading {name}")
