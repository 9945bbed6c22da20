"""Columns of a table -> features, each column by what it holds, without being told.

================  =====================================================================================
kind              treatment
================  =====================================================================================
number            scaled; gaps filled by the median, with a column that tells them where they say something
yes/no            0 and 1
category          0 and 1 for each value, rare ones together; with many values, the frequent ones and the
                  share of each class, or the mean of a number, among other rows of the same value
date              time passed, month, weekday and hour, as far as they vary
text              main directions of hashed n-grams
id, constant,     left out; where an id is missing in some rows and that says something, whether it is
empty, other
================  =====================================================================================
"""

from collections.abc import Sequence

import numpy as np

from bayesfloor.data.prepared_table import ColumnSummary
from bayesfloor.runtime.arrays import Bools
from bayesfloor.runtime.text import counted
from bayesfloor.tables.columns import Column, DateColumn, NumberColumn, OtherColumn, RawTable, TextColumn, find_gaps
from bayesfloor.tables.encoding import Preparation, check_unique, fill_number, ordinal_codes
from bayesfloor.tables.kinds import Kind
from bayesfloor.tables.notes import listed_names
from bayesfloor.tables.spellings import truth_of
from bayesfloor.tables.targets import Labels
from bayesfloor.tables.treatments import (
    ANY_VALUE,
    CategoryFeatures,
    NumberFeature,
    Treatment,
    learn_date,
    learn_means,
    learn_scale,
    learn_shares,
    learn_text,
)

#: Most values of a category that all get their own dummy.
MOST_DUMMIES = 30
#: Share of rows that makes a value of a larger category frequent, and the most frequent values that get a dummy.
_FREQUENT, _MOST_FREQUENT = 0.01, 20
#: Rows of a value below which it is one of the rare ones, and the same as a share of all rows.
_FEWEST_ROWS, _RARE = 3, 0.0005
#: Gaps below which they are not looked at, and the p-value from which they say something about the label.
_FEWEST_GAPS, _SAYS_SOMETHING = 5, 0.05
#: Lines that tell about single columns, at the most.
_MOST_LINES = 30


def learn_automatically(
    table: RawTable,
    kinds: Sequence[Kind],
    target: str,
    labels: Labels | None,
    *,
    encode: str | None = None,
    scale: str = "standard",
    impute: str | None = None,
) -> tuple[Preparation, tuple[ColumnSummary, ...]]:
    """Learn from a table how to make it ready; say what was done in its notes and cautions.

    Parameters
    ----------
    table : RawTable
        The table; its columns are those of `kinds`, without the target.
    kinds : sequence of Kind
        What each column holds.
    target : str
        Name of the column of labels.
    labels : Labels or None
        The labels; None where there are none.
    encode, scale, impute
        As in `read_table`; None leaves the choice to the column.

    Returns
    -------
    Preparation
    columns : tuple of ColumnSummary

    Raises
    ------
    ValueError
        When no column is left.
    """
    treatments: list[Treatment] = []
    summaries: list[ColumnSummary] = []
    for each in kinds:
        treatment, what = _treat(each, table, labels, encode, scale, impute)
        n_features = 0
        if treatment is not None and treatment.feature_names:
            treatments.append(treatment)
            n_features = len(treatment.feature_names)
        column = each.column
        n_missing = 0 if isinstance(column, OtherColumn) else int(find_gaps(column).sum())
        summaries.append(ColumnSummary(column.name, each.kind, what, n_missing, _n_values(column), n_features))
        table.notes += each.notes
        table.cautions += each.cautions
    if not treatments:
        left_out = "; ".join(f"{each.name!r}: {each.treatment}" for each in summaries[:6])
        raise ValueError(f"{table.source} has no column left besides the target {target!r} ({left_out or 'none'})")
    check_unique(treatments, table.source)
    table.notes += _in_lines(summaries)
    task = "classification" if labels is None else labels.task
    return Preparation(tuple(treatments), target, task), tuple(summaries)


def _n_values(column: Column) -> int:
    if isinstance(column, TextColumn):
        return len(column.categories)
    if isinstance(column, NumberColumn | DateColumn):
        return len(np.unique(column.values[~np.isnan(column.values)]))
    return 0


def _treat(
    each: Kind,
    table: RawTable,
    labels: Labels | None,
    encode: str | None,
    scale: str,
    impute: str | None,
) -> tuple[Treatment | None, str]:
    """Return how a column becomes features, None where it is left out, and a few words about it."""
    column, reason = each.column, f" ({each.reason})" if each.reason else ""
    if each.kind in ("constant", "empty", "other"):
        why = {"constant": "one value only", "empty": "no values", "other": each.reason}[each.kind]
        return None, f"left out: {why}"
    gaps = find_gaps(column)
    tells_gaps = impute is None and _says_something(gaps, labels)
    if each.kind == "id":
        if tells_gaps:
            return _presence(column), f"left out{reason}, but for whether it is missing"
        return None, f"left out{reason}"
    if isinstance(column, DateColumn):
        dates = learn_date(column, each.date_format, tells_gaps)
        return dates, ", ".join(dates.parts) + reason + (", and whether it is missing" if tells_gaps else "")
    if isinstance(column, NumberColumn):
        return _treat_number(column, each, gaps, tells_gaps, scale, impute, reason)
    assert isinstance(column, TextColumn)
    if each.kind == "text":
        text = learn_text(column)
        n_directions = len(text.feature_names)
        return text, f"{n_directions} direction{'s' * (n_directions > 1)} of n-grams{reason}"
    if encode == "drop":
        return None, "left out, as asked: text"
    treatment, what = _treat_category(column, table, gaps, tells_gaps, labels, encode, scale, impute)
    return treatment, what + reason


def _says_something(gaps: Bools, labels: Labels | None) -> bool:
    """Tell whether gaps are frequent enough, and go with the label."""
    n_gaps = int(gaps.sum())
    if min(n_gaps, len(gaps) - n_gaps) < _FEWEST_GAPS or labels is None:
        return False
    codes = labels.codes
    n_classes = int(codes.max()) + 1
    table = np.array([np.bincount(codes[rows], minlength=n_classes) for rows in (gaps, ~gaps)])
    table = table[:, table.sum(axis=0) > 0]
    from scipy.stats import chi2_contingency  # takes half a second to load

    return bool(chi2_contingency(table).pvalue < _SAYS_SOMETHING)


def _presence(column: Column) -> CategoryFeatures:
    return CategoryFeatures(column.name, "dummies", (ANY_VALUE,), tells_gaps=True, lenient=True)


def _treat_number(
    column: NumberColumn, each: Kind, gaps: Bools, tells_gaps: bool, scale: str, impute: str | None, reason: str
) -> tuple[Treatment, str]:
    fill = fill_number(column.values, impute or "median") if gaps.any() else None
    values = column.values if fill is None else np.where(gaps, fill, column.values)
    center, spread = learn_scale(values, "none" if each.kind == "yes/no" or column.is_dummy else scale)
    what = "0 and 1" if each.kind == "yes/no" else "not scaled" if scale == "none" else "scaled"
    if fill is not None:
        how = (impute or "median").replace("_", " ")
        what += f", {counted(int(gaps.sum()))} gaps filled by the {how}"
        what += ", with a column that tells them" if tells_gaps else ""
    return NumberFeature(column.name, fill, center, spread, tells_gaps, lenient=True), what + reason


def _treat_category(
    column: TextColumn,
    table: RawTable,
    gaps: Bools,
    tells_gaps: bool,
    labels: Labels | None,
    encode: str | None,
    scale: str,
    impute: str | None,
) -> tuple[Treatment, str]:
    n_values = len(column.categories)
    rows = np.bincount(column.codes[column.codes >= 0], minlength=n_values)
    usual = column.categories[int(rows.argmax())]
    fill = usual if gaps.any() and not tells_gaps else None
    filled = ", gaps filled by the most frequent" if fill is not None else ", gaps by themselves" * bool(gaps.any())
    if encode == "ordinal":
        fill = usual if gaps.any() else None
        return ordinal_codes(column, table, fill, scale, lenient=True), "codes in the order of the values"
    if encode == "onehot":
        treatment = CategoryFeatures(column.name, "dummies", column.categories, fill, 1, tells_gaps, lenient=True)
        return treatment, f"0 and 1 for each of {counted(n_values)} values but the first{filled}"
    truth = truth_of(column.categories)
    categories = column.categories if truth is None else truth
    if n_values <= 2:
        treatment = CategoryFeatures(column.name, "dummies", categories, fill, 1, tells_gaps, lenient=True)
        return treatment, ("whether it is missing" if n_values == 1 else f"0 and 1{filled}")
    fewest = max(_FEWEST_ROWS, _RARE * table.n_rows)
    if n_values > MOST_DUMMIES:
        fewest = max(fewest, _FREQUENT * table.n_rows, np.sort(rows)[-_MOST_FREQUENT])
    shown = tuple(text for text, number in zip(categories, rows.tolist(), strict=True) if number >= fewest)
    if len(shown) < n_values and not shown:
        shown = (usual,)
    fill = fill if fill in shown else None
    has_other = len(shown) < n_values
    dummies = CategoryFeatures(column.name, "dummies", shown, fill, 0, tells_gaps, has_other, lenient=True)
    n_rare = n_values - len(shown)
    if n_values > MOST_DUMMIES and labels is not None:
        what = f"{len(shown)} frequent values as 0 and 1, all {counted(n_values)} by"
        if labels.task == "regression":
            return learn_means(column, dummies, labels.y, labels.name), f"{what} the mean of the target"
        classes = [str(label) for label in labels.classes]
        return learn_shares(column, dummies, labels.codes, classes, table), f"{what} their shares of the classes"
    what = f"0 and 1 for each of {len(shown)} values" + f", {counted(n_rare)} rare ones together" * bool(n_rare)
    return dummies, what + filled


def _in_lines(columns: Sequence[ColumnSummary]) -> list[str]:
    """Say what was done to each column: plain numbers in one line, every other in one of its own."""
    plain = [each.name for each in columns if (each.kind, each.treatment) == ("number", "scaled")]
    others = [each for each in columns if each.name not in set(plain)]
    lines = []
    if plain:
        lines.append(f"Numbers, scaled to mean 0 and standard deviation 1: {listed_names(plain, 12)}.")
    lines += [f"Column {each.name!r}: {each.kind}; {each.treatment}." for each in others[:_MOST_LINES]]
    if len(others) > _MOST_LINES:
        kinds = sorted({each.kind for each in others[_MOST_LINES:]})
        lines.append(f"{len(others) - _MOST_LINES} more columns were treated alike: {', '.join(kinds)}.")
    return lines
