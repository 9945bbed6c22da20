"""Columns of a table -> features, each column by what it holds, without being told.

================  =====================================================================================
kind              treatment
================  =====================================================================================
number            scaled; gaps filled by the median, plus a was-missing flag where there are enough; 0 and 1 for
                  each of a few values too, where the numbers may be codes
yes/no            0 and 1
category          0 and 1 for each value, rare ones together; with many values, the frequent ones and the
                  share of each class, or the mean of a number, among other rows of the same value
date              time passed, month, weekday and hour, as far as they vary
text              components of hashed n-grams
id, constant,     left out; where an id is missing in enough rows, whether it is
empty, other
================  =====================================================================================
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bayesfloor.data.prepared_table import ColumnSummary
from bayesfloor.runtime.arrays import Bools
from bayesfloor.runtime.text import counted, listed_names
from bayesfloor.tables.category_features import CategoryFeatures, learn_means, learn_shares, ordinal_codes
from bayesfloor.tables.columns import DateColumn, NumberColumn, RawTable, TextColumn
from bayesfloor.tables.preparation import Preparation, check_unique
from bayesfloor.tables.profiles import ColumnProfile
from bayesfloor.tables.readings import DateReading, LevelReading, TextReading
from bayesfloor.tables.spellings import truth_of
from bayesfloor.tables.targets import Labels
from bayesfloor.tables.treatments import (
    LEVEL_WEIGHT,
    NumberFeature,
    PresenceFeature,
    Treatment,
    fill_number,
    learn_date,
    learn_scale,
    learn_text,
)

#: Maximum number of values of a category for each to get its own dummy.
MOST_DUMMIES = 30
#: In larger categories, values with at least this share of the rows get a dummy, up to this number of values.
_FREQUENT, _MOST_FREQUENT = 0.01, 20
#: A value with fewer rows than this, or a smaller share of the rows, is rare.
_FEWEST_ROWS, _RARE = 3, 0.0005
#: Rows with a gap, and rows without, from which a column tells them apart; the same as a share of all rows. Labels have
#: no part in it: a choice by the labels of all rows would tell each row something of its own.
_FEWEST_GAPS, _GAP_SHARE = 5, 0.01
#: Maximum number of notes about columns.
_MOST_LINES = 30


def learn_automatically(
    table: RawTable,
    profiles: Sequence[ColumnProfile],
    target: str,
    labels: Labels | None,
    **how: Any,
) -> tuple[Preparation, tuple[ColumnSummary, ...]]:
    """Learn from a table how to make it ready; say what was done in its notes and cautions.

    Parameters
    ----------
    table : RawTable
        The table; its columns are those of `profiles`, without the target.
    profiles : sequence of ColumnProfile
        What each column holds.
    target : str
        Name of the column of labels.
    labels : Labels or None
        The labels; None where there are none.
    **how
        `encode`, `scale` and `impute`, as in `read_table`; None leaves the choice to the column.

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
    choose = _Chooser(table, labels, **how)
    for each in profiles:
        treatment, what = choose.treatment(each)
        n_features = 0
        if treatment is not None and treatment.feature_names:
            treatments.append(treatment)
            n_features = len(treatment.feature_names)
        column = each.column
        summaries.append(ColumnSummary(column.name, each.kind, what, int(column.gaps.sum()), each.n_values, n_features))
        table.notes += each.notes
        table.cautions += each.cautions
    if not treatments:
        left_out = "; ".join(f"{each.name!r}: {each.treatment}" for each in summaries[:6])
        raise ValueError(f"{table.source} has no column left besides the target {target!r} ({left_out or 'none'})")
    check_unique(treatments, table.source)
    table.notes += _in_lines(summaries)
    task = "classification" if labels is None else labels.task
    return Preparation(tuple(treatments), target, task), tuple(summaries)


@dataclass
class _Chooser:
    """Chooses how columns become features, one after the other; see `learn_automatically`."""

    table: RawTable
    labels: Labels | None
    encode: str | None
    scale: str
    impute: str | None
    known_gaps: set[bytes] = field(default_factory=set)  # sets of rows that a feature marks as missing

    def treatment(self, each: ColumnProfile) -> tuple[Treatment | None, str]:
        """Return how a column becomes features, None where it is left out, and a few words about it."""
        column, reading, reason = each.column, each.reading, f" ({each.reason})" if each.reason else ""
        if each.kind in ("constant", "empty", "other"):
            why = {"constant": "one value only", "empty": "no values", "other": each.reason}[each.kind]
            return None, f"left out: {why}"
        assert reading is not None
        gaps = column.gaps
        if each.kind == "id" or each.n_values == 1:
            if self._tells(gaps):
                only = "" if each.kind == "id" else "one value only"
                how = PresenceFeature(column.name, reading=reading)
                return how, f"left out{reason}, but for whether it is missing" if not only else "whether it is missing"
            return None, f"left out{reason or ': one value only'}"
        if isinstance(reading, DateReading):
            assert isinstance(column, DateColumn)
            tells_gaps = self._tells(gaps)
            dates = learn_date(column, reading, tells_gaps)
            return dates, ", ".join(dates.parts) + reason + (", and whether it is missing" if tells_gaps else "")
        if isinstance(column, NumberColumn):
            return self._number(column, each, gaps, reason)
        assert isinstance(column, TextColumn)
        if isinstance(reading, TextReading):
            text = learn_text(column, reading)
            return text, f"{counted(len(text.feature_names), 'component')} of text n-grams{reason}"
        if self.encode == "drop":
            return None, "left out, as asked: text"
        assert isinstance(reading, LevelReading)
        treatment, what = self._category(column, reading, gaps)
        return treatment, what + reason

    def _tells(self, gaps: Bools, *, again: bool = False) -> bool:
        """Tell whether gaps are to be a feature: there are enough, and no column before is missing in the same rows."""
        n_gaps = int(gaps.sum())
        if self.impute is not None or min(n_gaps, len(gaps) - n_gaps) < max(_FEWEST_GAPS, _GAP_SHARE * len(gaps)):
            return False
        rows = np.packbits(gaps).tobytes()
        is_new = rows not in self.known_gaps
        self.known_gaps.add(rows)
        return is_new or again

    def _number(self, column: NumberColumn, each: ColumnProfile, gaps: Bools, reason: str) -> tuple[Treatment, str]:
        tells_gaps = self._tells(gaps)
        impute = self.impute or "median"
        fill = fill_number(column.values, impute) if gaps.any() else None
        values = column.values if fill is None else np.where(gaps, fill, column.values)
        center, spread = learn_scale(values, "none" if each.kind == "yes/no" else self.scale)
        what = "0 and 1" if each.kind == "yes/no" else "not scaled" if self.scale == "none" else "scaled"
        levels = each.levels if self.scale == "standard" and self.encode is None else ()
        if levels:
            spread /= LEVEL_WEIGHT
            what += f", and 0 and 1 for each of {len(levels)} values, as they may be codes"
        if fill is not None:
            what += f", {counted(int(gaps.sum()), 'gap')} filled by the {impute.replace('_', ' ')}"
            what += ", plus a was-missing flag" if tells_gaps else ""
        assert each.reading is not None
        how = NumberFeature(column.name, fill, center, spread, tells_gaps, levels, reading=each.reading)
        return how, what + reason

    def _category(self, column: TextColumn, reading: LevelReading, gaps: Bools) -> tuple[Treatment, str]:
        categories, table = column.categories, self.table
        n_values = len(categories)
        rows = column.counts
        usual = categories[int(rows.argmax())]
        if self.encode == "ordinal":
            fill = usual if gaps.any() else None
            codes = ordinal_codes(column, reading, table, fill, self.scale)
            return codes, "codes in the order of the values"
        tells_gaps = self._tells(gaps, again=True)  # a gap is one value more
        fill = usual if gaps.any() and not tells_gaps else None
        filled = ", gaps filled by the most frequent" if fill is not None else ", gaps by themselves" * bool(gaps.any())
        how: dict[str, Any] = {"tells_gaps": tells_gaps, "reading": reading}
        if self.encode == "onehot":
            treatment = CategoryFeatures(column.name, "dummies", categories, fill, 1, **how)
            return treatment, f"0 and 1 for each of {counted(n_values)} values but the first{filled}"
        if n_values == 2:
            pair = truth_of(categories) or categories
            return CategoryFeatures(column.name, "dummies", pair, fill, 1, **how), f"0 and 1{filled}"
        fewest = max(_FEWEST_ROWS, _RARE * table.n_rows)
        if n_values > MOST_DUMMIES:
            fewest = max(fewest, _FREQUENT * table.n_rows, np.sort(rows)[-_MOST_FREQUENT])
        shown = tuple(text for text, number in zip(categories, rows.tolist(), strict=True) if number >= fewest)
        shown = shown or (usual,)
        n_rare = n_values - len(shown)
        fill = fill if fill in shown else None
        dummies = CategoryFeatures(column.name, "dummies", shown, fill, 0, has_other=n_rare > 0, **how)
        if n_values > MOST_DUMMIES and self.labels is not None:
            what = f"{counted(len(shown), 'frequent value')} as 0 and 1, all {counted(n_values)} target-encoded"
            dummies = replace(dummies, reading=LevelReading())  # it is the shares that read the column
            if self.labels.task == "regression":
                means = learn_means(column, reading, dummies, self.labels.y, self.labels.name)
                return means, what
            classes = [str(label) for label in self.labels.classes]
            shares = learn_shares(column, reading, dummies, self.labels.codes, classes)
            return shares, what
        what = f"0 and 1 for each of {counted(len(shown), 'value')}"
        what += f", {counted(n_rare, 'rare one')} together" * bool(n_rare)
        return dummies, what + filled


def _in_lines(columns: Sequence[ColumnSummary]) -> list[str]:
    """Say what was done to the columns: those that were treated alike in one line, but for how many gaps they had."""
    alike: dict[tuple[str, str], list[ColumnSummary]] = {}
    for each in columns:
        alike.setdefault((each.kind, re.sub(r"[\d,]+ gaps?", "gaps", each.treatment)), []).append(each)
    lines = []
    plain = alike.pop(("number", "scaled"), None)
    if plain:
        names = listed_names([each.name for each in plain], 12)
        lines.append(f"Numbers, scaled to mean 0 and standard deviation 1: {names}.")
    for (kind, treatment), of_line in alike.items():
        if len(of_line) == 1:
            lines.append(f"Column {of_line[0].name!r}: {kind}; {of_line[0].treatment}.")
        else:
            names = listed_names([each.name for each in of_line], 12)
            lines.append(f"Columns {names}: {kind}; {treatment}.")
    if len(lines) <= _MOST_LINES:
        return lines
    left = list(alike.items())[_MOST_LINES - len(lines) :]
    kinds = sorted({kind for (kind, _), _ in left})
    n_columns = sum(len(of_line) for _, of_line in left)
    return [*lines[:_MOST_LINES], f"{counted(n_columns, 'more column')} of these kinds: {', '.join(kinds)}."]
