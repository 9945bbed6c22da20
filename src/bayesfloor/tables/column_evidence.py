"""What columns tell about each other's kinds, after each has been profiled by itself.

- Whole numbers that are like in name and values to a column of codes are codes: occupation_husb beside occupation.
- Whole numbers that go up through the table, each value in a block of rows, number what the blocks belong to, where
  some other column is the same within all blocks and goes up and down between them: persons of a panel, by their sex.
- Few whole numbers are codes or amounts. Amounts are seen by their neighbours: rows with 2 are more like rows with 3
  than like those with 9. Where other columns differ between the values, but as much between neighbours as between
  distant ones, it stays uncertain: the column is used in both forms, as a number and as a category.

The target has no part in it, and neither has the order of the rows but for the blocks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import permutations

import numpy as np

from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.tables.columns import Column, NumberColumn, RawTable, TextColumn, distinct_numbers
from bayesfloor.tables.profiles import ColumnProfile, are_whole, as_codes, is_time_name, profile_column, words_of
from bayesfloor.tables.readings import LevelReading
from bayesfloor.tables.treatments import MOST_LEVELS

#: Minimum number of values whose order is looked at, and of rows of each.
_FEWEST_LEVELS, _FEWEST_ROWS = 3, 10
#: Maximum number of other columns that are compared.
_MOST_WITNESSES = 20
#: Chi-squared over its degrees of freedom, from which another column differs between the values.
_DIFFERS = 3.0
#: Share of all orders of the values that may be as smooth as the given one, up to which the values are in order. Three
#: values have three orders, reversed ones taken for the same.
_SMOOTH = 0.35
#: Number of levels up to which all orders are compared, and of random ones for more.
_ALL_ORDERS, _N_ORDERS = 6, 1000
#: Minimum number of blocks of rows that an id numbers, and mean number of rows of each.
_FEWEST_BLOCKS, _ROWS_OF_BLOCK = 20, 2.0
#: Share of the blocks at which another column turns from going up to going down or back, from which it is irregular.
_TURNS = 0.1
#: Share of the values of one column that another has, from which both may hold the same codes.
_COMMON_CODES = 0.8


def profile_columns(columns: Sequence[Column], table: RawTable, wanted: Mapping[str, str]) -> list[ColumnProfile]:
    """Tell what columns hold, each by itself and then beside the others.

    Parameters
    ----------
    columns : sequence of Column
        The columns, without the target.
    table : RawTable
        Where they are from.
    wanted : mapping of str to str
        Kinds that the caller says, by column.

    Returns
    -------
    list of ColumnProfile
    """
    alone = [profile_column(column, table, wanted.get(column.name)) for column in columns]
    codes = [each for each in alone if isinstance(each.reading, LevelReading) and each.reading.are_numbers]
    witnesses: dict[str, Bools] | None = None
    found = []
    for column, each in zip(columns, alone, strict=True):
        values = _uncertain_numbers(each)
        if values is not None:
            if any(_are_alike(each.column.name, values, other) for other in codes):
                each = as_codes(each, column, table, "numbers that are codes, as those of a column of like name")
            elif _numbers_blocks(values, alone):
                each = replace(each, kind="id", reason="numbers blocks of rows")
            elif _FEWEST_LEVELS <= each.n_values <= MOST_LEVELS:
                witnesses = _witnesses(alone) if witnesses is None else witnesses
                others = [above for name, above in witnesses.items() if name != each.column.name]
                each = replace(each, levels=levels_without_order(values, others))
        found.append(each)
    return found


def _uncertain_numbers(each: ColumnProfile) -> Floats | None:
    """Return whole numbers of which neither the caller nor the name says what they are; None for any other column."""
    column = each.column
    if each.kind != "number" or each.reason or not isinstance(column, NumberColumn) or is_time_name(column.name):
        return None
    return column.values if are_whole(column.values[~column.gaps]) else None


def _are_alike(name: str, values: Floats, codes: ColumnProfile) -> bool:
    """Tell whether a column has the name of a column of codes with a word more, and the same values."""
    name, other = words_of(name), words_of(codes.column.name)
    if not name.startswith(f"{other}_") and not name.endswith(f"_{other}"):
        return False
    assert isinstance(codes.column, TextColumn)
    own = {f"{value:.0f}" for value in np.unique(values[~np.isnan(values)]).tolist()}
    return len(own.intersection(codes.column.categories)) >= _COMMON_CODES * len(own)


def _numbers_blocks(values: Floats, profiles: Sequence[ColumnProfile]) -> bool:
    """Tell whether numbers go up in blocks, and another column describes the blocks."""
    steps = np.diff(values)
    starts = np.concatenate([[0], np.flatnonzero(steps) + 1])
    if not (steps >= 0).all() or not _FEWEST_BLOCKS < len(starts) <= len(values) / _ROWS_OF_BLOCK:
        return False  # a gap is no step up either
    within = np.repeat(starts, np.diff(np.append(starts, len(values))))
    for each in profiles:
        codes = _codes_of(each)
        if codes is not None and np.array_equal(codes, codes[within]):
            moves = np.diff(codes[starts])
            turns = np.count_nonzero(np.diff(np.sign(moves[moves != 0])))
            if turns >= _TURNS * len(starts):
                return True
    return False


def _codes_of(each: ColumnProfile) -> Ints | None:
    """Return a whole number for each row; equal ones for equal values."""
    if each.kind not in ("number", "yes/no", "category"):
        return None
    column = each.column
    if isinstance(column, TextColumn):
        return column.codes
    return distinct_numbers(column.values)[1] if isinstance(column, NumberColumn) else None


def _witnesses(profiles: Sequence[ColumnProfile]) -> dict[str, Bools]:
    """Return which rows are above the median, or have the most frequent value; columns in the order of their names."""
    found: dict[str, Bools] = {}
    for each in sorted(profiles, key=lambda each: each.column.name):
        column = each.column
        if each.kind == "category" and isinstance(column, TextColumn):
            found[column.name] = column.codes == column.counts.argmax()
        elif each.kind in ("number", "yes/no") and isinstance(column, NumberColumn):
            median = float(np.nanmedian(column.values))
            above = column.values > median
            found[column.name] = above if above.any() else column.values >= median
        if len(found) > _MOST_WITNESSES:
            break
    return found


def levels_without_order(values: Floats, witnesses: Sequence[Bools]) -> tuple[float, ...]:
    """Return the frequent ones of a few numbers if their order is not seen in other columns; else none.

    Each other column has a share of True among the rows of each number. The shares of neighbours differ little where
    numbers are amounts. How much they differ is compared with the same numbers in any other order.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        The numbers; NaN where one is missing.
    witnesses : sequence of ndarray of shape (n_rows,)
        The other columns.

    Returns
    -------
    tuple of float
    """
    distinct, codes = distinct_numbers(values)
    counts = np.bincount(codes[codes >= 0], minlength=len(distinct))
    frequent = counts >= _FEWEST_ROWS
    n_levels = int(frequent.sum())
    if n_levels < _FEWEST_LEVELS:
        return ()
    codes, n_rows = codes + 1, counts[frequent]  # bin 0 is for gaps
    far = np.zeros((n_levels, n_levels))
    for above in witnesses:
        shares = np.bincount(codes, above)[1:][frequent] / n_rows
        mean = float(np.average(shares, weights=n_rows))
        if not 0.0 < mean < 1.0:
            continue
        chi = float((n_rows * (shares - mean) ** 2).sum() / (mean * (1.0 - mean)))
        if chi >= _DIFFERS * (n_levels - 1):
            far += (shares[:, np.newaxis] - shares) ** 2 / shares.var()
    if not far.any():
        return ()
    orders = _orders(n_levels)
    roughness = far[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    given = float(np.diagonal(far, 1).sum())
    is_seen = np.mean(roughness <= given * (1.0 + 1e-9)) <= _SMOOTH
    return () if is_seen else tuple(distinct[frequent].tolist())


@cache
def _orders(n_levels: int) -> Ints:
    """Return all orders of a few levels, or random ones of many."""
    if n_levels <= _ALL_ORDERS:
        return np.array(list(permutations(range(n_levels))))
    rng = np.random.default_rng(0)
    return np.array([rng.permutation(n_levels) for _ in range(_N_ORDERS)])
