"""The strict rules: columns are made ready as the caller says, and what needs a decision is refused.

The notes of the table say what was done, its cautions what deserves a look. `automatic` has the rules that decide by
themselves.
"""

from collections.abc import Iterator, Sequence
from shlex import quote
from typing import Any

import numpy as np

from bayesfloor.runtime.text import counted, listed_names
from bayesfloor.tables.category_features import CategoryFeatures, ordinal_codes
from bayesfloor.tables.columns import Column, DateColumn, NumberColumn, OtherColumn, RawTable, TextColumn
from bayesfloor.tables.preparation import Preparation, check_unique
from bayesfloor.tables.readings import LevelReading, NumberReading, UnseenValues
from bayesfloor.tables.treatments import NumberFeature, Treatment, fill_number, learn_scale

#: A text column with more than this share of distinct values is refused as a name or an id.
ID_SHARE = 0.5
#: A column with at most this many distinct values is never refused as an id.
_FEWEST_ID_VALUES = 20


def learn_preparation(
    table: RawTable, target: str, *, encode: str | None, scale: str, impute: str | None
) -> Preparation:
    """Learn from a table how to make it ready; say what was done in its notes and cautions.

    Parameters
    ----------
    table : RawTable
        The table; its target is left out.
    target : str
        Name of the column of labels.
    encode, scale, impute
        As in `read_table`.

    Returns
    -------
    Preparation
    """
    features = [column for column in table.columns if column.name != target]
    texts = [column for column in features if not isinstance(column, NumberColumn)]
    if texts and encode == "drop":
        table.notes.append(f"Left out, being no numbers: {listed_names([column.name for column in texts])}.")
        features = [column for column in features if isinstance(column, NumberColumn)]
        texts = []
    for column in features:
        check_feature(column, table)
    check_text(texts, table, encode)
    if not features:
        raise ValueError(f"{table.source} has no column left besides the target {target!r}")
    columns = tuple(_learn_column(column, table, encode, scale, impute) for column in features)
    if not any(column.feature_names for column in columns):
        raise ValueError(f"{table.source}: every column besides the target {target!r} has one value only")
    check_unique(columns, table.source)
    table.notes += what_was_done(columns, table, encode, scale, impute)
    table.cautions += what_to_look_at(features)
    return Preparation(columns, target)


def _learn_column(column: Column, table: RawTable, encode: str | None, scale: str, impute: str | None) -> Treatment:
    if isinstance(column, NumberColumn):
        reading = NumberReading(table.decimal)
        read = reading.read(column, table, UnseenValues(), lenient=False)
        fill = None if impute is None else fill_number(read.values, impute)
        values = read.values if fill is None else np.where(np.isnan(read.values), fill, read.values)
        if np.isnan(values).any():
            NumberFeature(column.name).apply(read, table)  # refuses the gap
        center, spread = learn_scale(values, "none" if column.is_dummy else scale)
        return NumberFeature(column.name, fill, center, spread, reading=reading)
    assert isinstance(column, TextColumn)
    mode = None if impute is None else column.categories[int(column.counts.argmax())]
    levels = LevelReading(column.categories)
    if encode == "onehot":
        return CategoryFeatures(column.name, "dummies", column.categories, mode, reading=levels)
    return ordinal_codes(column, levels, table, mode, scale)


def check_feature(column: Column, table: RawTable) -> None:
    """Refuse columns that cannot be used as asked, with what to add."""
    where = f"{table.source}: column {column.name!r}"
    leave_out = f"leave it out with drop=[{column.name!r}] (--drop {as_argument(column.name)})"
    if isinstance(column, OtherColumn | DateColumn):
        raise ValueError(f"{where} holds {column.type_name}, which is neither numbers nor text; {leave_out}")
    if isinstance(column, NumberColumn):
        if np.isnan(column.values).all():
            raise ValueError(f"{where} has no values at all; {leave_out}")
        return
    n_values = int(np.count_nonzero(column.codes >= 0))
    if not n_values:
        raise ValueError(f"{where} has no values at all; {leave_out}")
    n_different = len(column.categories)
    if n_different > ID_SHARE * n_values and n_different > _FEWEST_ID_VALUES:
        raise ValueError(
            f"{where} has {counted(n_different)} different texts in {counted(n_values)} rows, like a name or an id; "
            f"{leave_out}"
        )


def check_text(texts: Sequence[Column], table: RawTable, encode: str | None) -> None:
    """Refuse text that nothing was asked about, with what to add."""
    columns = [column for column in texts if isinstance(column, TextColumn)]
    if columns and encode is None:
        values = listed_names(columns[0].categories, most=3)
        which = f"column {columns[0].name!r} is text ({values})"
        if len(columns) > 1:
            which = f"columns {listed_names([c.name for c in columns])} are text (the first: {values})"
        raise ValueError(f"{table.source}: {which}; add encode='onehot', or 'ordinal', or 'drop' to leave text out")


def what_was_done(
    columns: Sequence[Any], table: RawTable, encode: str | None, scale: str, impute: str | None
) -> Iterator[str]:
    """Say how text was encoded, gaps were filled and numbers were scaled."""
    texts = [column for column in columns if column.kind != "number"]
    stripped = [c.name for c in table.columns if isinstance(c, TextColumn) and c.was_stripped]
    if stripped:
        yield f"Blanks around the values of {listed_names(stripped)} were taken off."
    if texts and encode == "onehot":
        n_dummies = sum(len(column.feature_names) for column in texts)
        yield (
            f"{counted(len(texts), 'text column')} became {counted(n_dummies, 'column')} of 0 and 1, one for each "
            f"value but the first: {listed_names([f'{c.name} ({len(c.categories)})' for c in texts])}."
        )
        single = [column.name for column in texts if len(column.categories) == 1]
        if single:
            yield f"Columns with one value only have no dummies: {listed_names(single)}."
    elif texts:
        yield (
            f"{counted(len(texts), 'text column')} became codes from 0 in the order of their values: "
            f"{listed_names([f'{c.name} ({len(c.categories)})' for c in texts])}."
        )
    if impute is not None:
        yield from _what_was_filled(columns, table, impute)
    what = {
        "standard": "Numbers are scaled to mean 0 and standard deviation 1",
        "minmax": "Numbers are scaled to the range from 0 to 1",
        "none": "Numbers are not scaled",
    }[scale]
    has_dummies = bool(texts) and encode == "onehot"
    if has_dummies and len(texts) == len(columns):
        yield "All columns are 0 and 1, and none is scaled."
    else:
        yield what + ("; dummies stay 0 and 1." if has_dummies and scale != "none" else ".")


def _what_was_filled(columns: Sequence[Any], table: RawTable, impute: str) -> Iterator[str]:
    filled = []
    by_name = {column.name: column for column in table.columns}
    for prepared in columns:
        n_gaps = int(by_name[prepared.name].gaps.sum())
        if n_gaps:
            fill = f"{prepared.fill:.6g}" if isinstance(prepared.fill, float) else repr(prepared.fill)
            filled.append(f"{prepared.name} ({counted(n_gaps)}, by {fill})")
    if filled:
        how = impute.replace("_", " ")
        texts = "" if impute == "most_frequent" else " (the most frequent value for text)"
        yield f"Missing values were filled by the {how}{texts}: {listed_names(filled)}."
    else:
        yield "No value was missing, so none was filled."


def what_to_look_at(features: Sequence[Column]) -> Iterator[str]:
    """Name columns that may be ids, and integers that lost digits."""
    for column in features:
        if not isinstance(column, NumberColumn):
            continue
        if column.rounded:
            yield (
                f"Column {column.name!r} has {counted(column.rounded, 'integer')} beyond 2**53, rounded: "
                "an id? Numbers that differ may have become equal."
            )
        first = column.values[0]
        if len(column.values) > _FEWEST_ID_VALUES and (column.values == first + np.arange(len(column.values))).all():
            yield (
                f"Column {column.name!r} counts the rows: an id is no feature, and where rows are sorted by class it "
                f"gives the class away; drop=[{column.name!r}] (--drop {as_argument(column.name)}) leaves it out."
            )


def as_argument(name: str) -> str:
    """Quote a name for a shell."""
    return quote(name) if name.isprintable() else repr(name)
