"""Rows that are made ready or predicted chunk by chunk, as those of another table were."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.runtime.frames import as_narwhals
from bayesfloor.tables.arguments import array_of_file, is_file
from bayesfloor.tables.columns import OtherColumn, RawTable
from bayesfloor.tables.formats import read_raw
from bayesfloor.tables.frames import frame_of_raw
from bayesfloor.tables.preparation import Preparation, decimal_signs, text_columns
from bayesfloor.tables.sources import source_of


def chunks_like(X: Any, preparation: Preparation) -> Iterator[RawTable] | None:
    """Return the chunks of a table that is not in memory, to be made ready as another was.

    Parameters
    ----------
    X : object
        What a caller passes as X.
    preparation : Preparation
        What was learnt from the other table.

    Returns
    -------
    iterator of RawTable, or None
        None where X is in memory.
    """
    X = array_of_file(X)
    text, decimals = text_columns(preparation), decimal_signs(preparation)
    if (source := source_of(X)) is not None:
        return source.chunks(text=text, decimals=decimals)
    if is_file(X):
        return iter([read_raw(X, target="", categorical=text, decimals=decimals)])
    return None


def numbers_in_chunks(X: Any, names: Sequence[str] | None) -> Iterator[Any]:
    """Yield data frames or arrays of rows, chunk by chunk where X is not in memory, and else X itself.

    Parameters
    ----------
    X : object
        What a caller passes as X.
    names : sequence of str or None
        The columns to keep of what is not in memory, where it has all of them.

    Yields
    ------
    data frame, array, or X
    """
    X = array_of_file(X)
    source = source_of(X)
    if source is not None:
        for part in source.parts():
            rows = source.frame([part])
            yield _only(columns_as_frame(source.raw(part)) if rows is None else rows, names)
    elif is_file(X):
        yield _only(columns_as_frame(read_raw(X, target="")), names)
    else:
        yield X


def columns_as_frame(table: RawTable) -> Any:
    """Return columns as a data frame; those that are neither numbers, text nor dates are refused."""
    other = next((column for column in table.columns if isinstance(column, OtherColumn)), None)
    if other is not None:
        raise ValueError(f"{table.source}: the column {other.name!r} holds {other.type_name}, not numbers")
    return frame_of_raw(table)


def _only(rows: Any, names: Sequence[str] | None) -> Any:
    frame = as_narwhals(rows)
    if frame is None or names is None or not set(names) <= set(frame.columns):
        return rows
    return frame.select(list(names)).to_native()


def joined_rows(parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Put what was made of chunks one below the other."""
    found = list(parts)
    return found[0] if len(found) == 1 else np.concatenate(found)
