"""libsvm's sparse text: a label, then ``index:value`` for what is not zero."""

import math
import re
from itertools import pairwise

import numpy as np

from bayesfloor.data.points import SPARSE_LIMIT
from bayesfloor.runtime.limits import check_memory, in_gib
from bayesfloor.runtime.text import counted, quoted
from bayesfloor.tables.column_builders import TextBuilder
from bayesfloor.tables.columns import Column, NumberColumn, RawTable
from bayesfloor.tables.sniffing import detect_encoding, open_text
from bayesfloor.tables.spellings import to_number
from bayesfloor.tables.unpacking import Contents, check_n_columns, check_n_rows

_LINE = re.compile(rb"[^\s:]+(\s+(qid:\d+|\d+:[^\s:]+))+\s*(#.*)?")


def looks_like_libsvm(data: bytes) -> bool:
    """Tell whether the first lines are labels with ``index:value`` pairs."""
    lines = [line for line in data[:65536].splitlines()[:20] if line.strip() and not line.startswith(b"#")]
    if len(data) > 65536:
        lines = lines[:-1]
    return bool(lines) and all(_LINE.fullmatch(line.strip()) for line in lines)


def read_libsvm(contents: Contents) -> RawTable:
    """Read a libsvm file.

    Parameters
    ----------
    contents : Contents
        The file.

    Returns
    -------
    RawTable
        Columns x1, x2 and so on, by their index, and the labels as "label".

    Raises
    ------
    ValueError
        Naming the line: what is no pair, indices that do not rise, several labels on a row; and a table that would be
        larger than `SPARSE_LIMIT` as a dense one.
    """
    name = contents.name
    encoding, _ = detect_encoding(contents.data, name)
    labels: list[str] = []
    starts: list[int] = []
    lengths: list[int] = []
    indices: list[int] = []
    values: list[float] = []
    for number, line in enumerate(open_text(contents.data, encoding), start=1):
        parts = line.split("#", 1)[0].split()
        if not parts:
            continue
        where = f"{name}, line {number}"
        if ":" in parts[0] or "," in parts[0]:
            raise ValueError(f"{where}: {quoted(parts[0])} is not one label")
        pairs = [_read_pair(part, where) for part in parts[1:] if not part.startswith("qid:")]
        if any(first >= second for (first, _), (second, _) in pairwise(pairs)):
            raise ValueError(f"{where}: indices must rise from left to right")
        labels.append(parts[0])
        check_n_rows(len(labels), name)
        starts.append(number)
        lengths.append(len(pairs))
        indices += [index for index, _ in pairs]
        values += [value for _, value in pairs]
    if not labels:
        raise ValueError(f"{name} holds no rows")
    if not indices:
        raise ValueError(f"{name} has labels and no values")

    first = 0 if min(indices) == 0 else 1
    n_rows, n_columns = len(labels), max(indices) + 1 - first
    n_bytes = 8 * n_rows * n_columns
    if n_bytes > SPARSE_LIMIT:
        raise ValueError(
            f"{name}: {counted(n_rows)} rows of {counted(n_columns)} columns take {in_gib(n_bytes)} as a dense table; "
            f"the limit is {in_gib(SPARSE_LIMIT)}"
        )
    check_n_columns(n_columns, name)
    check_memory(n_bytes, name)
    X = np.zeros((n_columns, n_rows))
    X[np.array(indices) - first, np.repeat(np.arange(n_rows), lengths)] = values
    columns: list[Column] = [NumberColumn(f"x{j + first}", X[j]) for j in range(n_columns)]
    builder = TextBuilder("label", missing=())
    builder.add(labels)
    columns.append(builder.column())
    note = f"libsvm file, indices from {first}; what is not given is 0."
    return RawTable(name, columns, n_rows, np.array(starts, dtype=np.int64), "label", [note])


def _read_pair(part: str, where: str) -> tuple[int, float]:
    index, colon, text = part.partition(":")
    value = to_number(text)
    if not colon or not index.isdecimal() or value is None:
        raise ValueError(f"{where}: {quoted(part)} is no index:value")
    if not math.isfinite(value):
        raise ValueError(f"{where}: {quoted(part)} is not finite")
    return int(index), value
