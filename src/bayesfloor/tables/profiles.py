"""The profile of a column: what it holds, told from its name and its values, and the column as it is then read.

=========  ==========================================================================
number     amounts and measurements, however they are written
yes/no     two values, one the contrary of the other
category   text with few values, or numbers that are codes
date       dates, moments, times of day
text       words, to be read as words
id         a name or number of the row, or of what the row belongs to
constant   one value only
empty      no value at all
other      lists and the like, which cannot be used
=========  ==========================================================================

A column is profiled once, by `profile_column`; whatever comes later asks its `ColumnProfile`. A wrong guess costs
accuracy, never truth: whatever is done to a column is done without its row's own label.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.text import counted, listed, quoted
from bayesfloor.tables.columns import (
    Column,
    DateColumn,
    NumberColumn,
    OtherColumn,
    RawTable,
    TextColumn,
    as_text,
    distinct_numbers,
    text_column,
    usual_spellings,
)
from bayesfloor.tables.readings import (
    UNITS,
    DateReading,
    LevelReading,
    NumberReading,
    Reading,
    TextReading,
    UnseenValues,
)
from bayesfloor.tables.spellings import (
    GAP_TEXTS,
    MISSING_TEXTS,
    TIME_FORMATS,
    folded_text,
    is_rounded_text,
    number_text,
    read_dates,
    truth_of,
)

#: A text column with at most this share of rows that are not numbers is a column of numbers with errors.
_STRAY_ROWS = 0.05
#: Short text with more than this share of distinct values is a name or an id.
_ID_SHARE = 0.5
#: A column with at most this many distinct values is never an id.
_FEWEST_ID_VALUES = 20
#: Mean number of words per value from which a column is free text.
_WORDS_OF_TEXT = 2.5
#: Share of different values up to which such text is read as words nevertheless, where its name is not that of an id:
#: tickets, cabins and people that come again tell something.
_COMES_AGAIN = 0.95
#: Share of values that have a word in common with another, from which names that never come again are read as words:
#: models of cars do, ids and towns do not.
_SHARED_WORDS = 0.5
#: Minimum number of distinct values of free text, and of them as a share of the rows; a few sentences that repeat are
#: categories.
_FEWEST_TEXTS, _TEXT_SHARE = 30, 0.05
#: Mean number of rows per value from which a column that is named like an id is a category.
_ROWS_OF_CATEGORY = 50
#: A column counts the rows if its range is below this multiple of their number: some rows may be missing.
_MOST_LEFT_OUT = 2.0
#: Maximum number of distinct numbers that are codes by the name of their column; codes of places have no maximum.
_MOST_CODES = 60
#: Maximum number of distinct whole numbers beside which a word that comes again is a value, as in 1, 2, 3, more.
_MOST_GRADES = 12
#: Share of the steps from row to row that do not go down, from which a column stands in order, if in several stretches.
_IN_ORDER = 0.98
#: Correlation with the number of the row, and rows, from which numbers that go up all the way are those of the rows.
_EVENLY, _FEWEST_EVEN = 0.98, 50

# Names are compared without case, with "_" between words: "PatientID" and "patient id" are patient_id. A number at the
# end has no part in names of codes.
_ID_NAME = re.compile(
    r"(.*_)?(id|ids|uuid|guid|identifier|ssn|[cgpu]id|id_?(no|nr|num|number)|seqn|seq_?(no|nr|num|number))"
)
_ROW_NAME = re.compile(
    r"(.*_)?(rownames?|row_?names|row|row_?(no|nr|num|number)|rowid|unnamed_0|column_1|index|idx|obs|observation|record|"
    r"case_?(no|nr|num|number)?|serial(_?(no|nr|number))?|sno|no|nr)"
)
# Names of ids where the values stand in order, as villnum does; a name in id, but for words such as paid, also where
# each row has its own value.
_ORDER_NAME = re.compile(r".*(id|num|nr|key)")
_OWN_NAME = re.compile(r"(?!.*(aid|bid|cid|gid|uid|lid|mid|oid|pid|vid|rid|kid)$).*id")
_GROUP_NAME = re.compile(
    r"(.*_)?(subject|subj|patient|participant|respondent|person|individual|indiv|user|customer|client|student|animal|"
    r"mouse|rat|chick|household|family|machine|device|session|visit|site|batch|speaker|author|customer_?(no|nr)|"
    r"patient_?(no|nr))(_?(id|no|nr|num|number|code))?"
)
_CODE_NAME = re.compile(
    r"(.*_)?(codes|cd|category|cat|kind|class|group|status|state|region|district|county|country|province|precinct|"
    r"branch|store|shop|dept|department|division|sector|zone|ward|site|batch|machine|channel|brand|mode|place|birth_?place|location|"
    r"color|colour|gender|sex|race|race_?e?th\w*|ethnicity|ethnic|religion|nationality|married|marital(_status)?|"
    r"occupation|industry|species|breed|genotype|treatment|treat|trt|arms?)|.*(type|grp)"
)
_PLACE_NAME = re.compile(r"(.*_)?(zip|plz|msa|cbsa|puma|tract|naics|sic|icd)|.*(code|fips?)")
_TIME_NAME = re.compile(
    r"(.*_)?(year|yr|month|day|days|week|hour|minute|time|date|period|age|quarter|t|timestamp|epoch|wave|round|cycle|"
    r"step|trial|frame|tick)"
)


@dataclass(frozen=True)
class ColumnProfile:
    """A column as it will be used, what it holds, and why that is thought.

    Attributes
    ----------
    column : Column
        The column as `reading` reads it: text that holds numbers or dates has become such a column.
    kind : str
        One of those that the module lists.
    reason : str
        A few words, where it needs them: "counts the rows".
    reading : Reading or None
        How its cells are read, in this table and in others; None where they cannot be.
    n_values : int
        Different values.
    levels : tuple of float
        Of numbers that may be codes, those that count by themselves as well.
    notes, cautions : tuple of str
        What was changed on the way, and what deserves a look.
    """

    column: Column
    kind: str
    reason: str = ""
    reading: Reading | None = None
    n_values: int = 0
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    levels: tuple[float, ...] = ()


@dataclass(frozen=True)
class _Cells:
    """A column as a reader of files or frames gave it, to be read in one way or another."""

    column: Column
    table: RawTable

    def read(self, reading: Reading) -> Any:
        return reading.read(self.column, self.table, UnseenValues())

    def profile(self, reading: Reading, kind: str, reason: str = "", **more: Any) -> ColumnProfile:
        column = self.read(reading)
        n_values = more.pop("n_values", None) or _n_values(column)
        return ColumnProfile(column, kind, reason, reading, n_values, **more)


def profile_column(column: Column, table: RawTable, wanted: str | None = None) -> ColumnProfile:
    """Tell what a column holds.

    Parameters
    ----------
    column : Column
        The column.
    table : RawTable
        Where it is from, for messages.
    wanted : str or None
        The kind that the caller says it has: "number", "category", "text" or "date".

    Returns
    -------
    ColumnProfile

    Raises
    ------
    ValueError
        When the values cannot be of the kind wanted.
    """
    if isinstance(column, OtherColumn):
        return ColumnProfile(column, "other", f"holds {column.type_name}")
    gaps = column.gaps
    if gaps.all():
        return ColumnProfile(column, "empty")
    cells = _Cells(column, table)
    if wanted is not None:
        return _as_wanted(cells, wanted)
    if isinstance(column, TextColumn):
        return _profile_text(cells, column)
    if isinstance(column, DateColumn):
        if column.type_name.startswith("Duration"):
            return _profile_numbers(cells, NumberReading())
        found = cells.profile(DateReading(is_time=column.type_name.startswith(("Time", "times"))), "date")
        return replace(found, kind="constant") if found.n_values == 1 and not gaps.any() else found
    return _profile_numbers(cells, NumberReading(table.decimal))


def _n_values(column: Column) -> int:
    if isinstance(column, TextColumn):
        return len(column.categories)
    assert not isinstance(column, OtherColumn)
    return len(np.unique(column.values[~np.isnan(column.values)]))


def _as_wanted(cells: _Cells, wanted: str) -> ColumnProfile:
    column, table = cells.column, cells.table
    where = f"{table.source}: column {column.name!r}"
    if wanted in ("category", "text"):
        if isinstance(column, DateColumn):
            raise ValueError(f"{where} holds dates, and cannot be {'a ' * (wanted == 'category')}{wanted}")
        if wanted == "text":
            return cells.profile(TextReading(), "text", "as asked")
        text = as_text(column)
        assert isinstance(text, TextColumn)
        return cells.profile(LevelReading(text.categories), "category", "as asked")
    if wanted == "date":
        return _dates_as_asked(cells, where)
    if isinstance(column, NumberColumn):
        return replace(_profile_numbers(cells, NumberReading(table.decimal)), kind="number", reason="as asked")
    numbers = numbers_of(column) if isinstance(column, TextColumn) else None
    if numbers is None or np.isnan(numbers[0].values).all():
        raise ValueError(f"{where} cannot be read as numbers")
    reading = _number_reading(cells)
    return cells.profile(reading, "number", "as asked", cautions=_say_strays(column.name, numbers[1]))


def _number_reading(cells: _Cells) -> NumberReading:
    """Return how numbers are read, by the decimal sign of the column, else by that of its file."""
    own = cells.column.decimal if isinstance(cells.column, TextColumn) else None
    return NumberReading(own or cells.table.decimal)


def _dates_as_asked(cells: _Cells, where: str) -> ColumnProfile:
    column = cells.column
    if isinstance(column, DateColumn):
        return cells.profile(DateReading(is_time=column.type_name.startswith(("Time", "times"))), "date", "as asked")
    if isinstance(column, TextColumn):
        dates = _dates_of(cells, column)
        if dates is not None:
            return replace(dates, reason="as asked")
        numbers = numbers_of(column)
        if numbers is None:
            raise ValueError(f"{where} cannot be read as dates; {quoted(column.categories[0])} is in no known format")
        column = numbers[0]
    assert isinstance(column, NumberColumn)
    compact = _compact_dates(cells, column.values, ())
    if compact is not None:
        return replace(compact, reason="as asked")
    return cells.profile(DateReading(unit=_unit_of(column)), "date", "as asked")


def _unit_of(column: NumberColumn) -> float:
    """Return the seconds of one unit of a clock that counts from 1970: seconds, or smaller ones."""
    largest = float(np.nanmax(np.abs(column.values)))
    return next((unit for unit, limit in ((1.0, 1e11), (1e-3, 1e14), (1e-6, 1e17)) if largest < limit), 1e-9)


# --- text


def _profile_text(cells: _Cells, column: TextColumn) -> ColumnProfile:
    """Tell what text holds; missing values in further spellings are coded as such first."""
    gaps = [text for text in column.categories if text in GAP_TEXTS or text in MISSING_TEXTS]
    notes: tuple[str, ...] = ()
    if gaps:
        if len(gaps) == len(column.categories):
            return ColumnProfile(column, "empty")
        notes = (f"{listed(list(map(quoted, gaps)))} in {column.name!r} means a missing value.",)
        column = text_column(column.name, column.categories, column.codes, GAP_TEXTS | MISSING_TEXTS)
    has_gaps = bool((column.codes < 0).any())
    if len(column.categories) == 1:
        return cells.profile(TextReading(), "category" if has_gaps else "constant", notes=notes)
    numbers = numbers_of(column)
    if numbers is not None and not _are_grades(column, *numbers):
        found = _profile_numbers(cells, _number_reading(cells))
        return replace(found, notes=notes + found.notes, cautions=_say_strays(column.name, numbers[1]))
    truth = truth_of(column.categories)
    if truth is not None:
        return cells.profile(LevelReading(truth), "yes/no", notes=notes)
    dates = _dates_of(cells, column)
    if dates is not None:
        return replace(dates, notes=notes)
    spelled = usual_spellings(column)
    if len(set(spelled)) < len(spelled):
        notes += (f"Values of {column.name!r} that differ by case or blanks alone are taken for the same.",)
        column = text_column(column.name, spelled, column.codes, frozenset())
    kind, reason = _kind_of_words(column)
    reading = LevelReading(column.categories) if kind == "category" else TextReading()
    return cells.profile(reading, kind, reason, notes=notes, n_values=len(column.categories))


def _kind_of_words(column: TextColumn) -> tuple[str, str]:
    """Tell a category from text and from an id; return the kind and the reason."""
    n_values, n_rows = len(column.categories), int((column.codes >= 0).sum())
    words = float(np.mean([len(text.split()) for text in column.categories[:5000]]))
    if n_values >= _FEWEST_TEXTS and words >= _WORDS_OF_TEXT and n_values > _TEXT_SHARE * n_rows:
        return "text", ""
    if n_values > _FEWEST_ID_VALUES and n_values > _ID_SHARE * n_rows:
        can_be_text = n_values >= _FEWEST_TEXTS and not _is_id(column.name, n_rows / n_values)
        comes_again = n_values <= _COMES_AGAIN * n_rows
        if can_be_text and (comes_again or _share_with_common_word(column.categories) >= _SHARED_WORDS):
            return "text", ""
        return "id", f"{counted(n_values)} different values in {counted(n_rows)} rows"
    if n_values > _FEWEST_ID_VALUES and _is_id(column.name, n_rows / n_values):
        return "id", "by its name"
    return "category", ""


def _share_with_common_word(texts: Sequence[str]) -> float:
    """Return the share of texts that have a word in common with some others, but not with most; numbers are none."""
    words = [{word for word in folded_text(text).split() if not word.isdigit()} for text in texts[:5000]]
    n_texts = Counter(word for of_text in words for word in of_text)
    common = {word for word, n in n_texts.items() if 1 < n <= len(words) / 2}
    return float(np.mean([not common.isdisjoint(of_text) for of_text in words]))


def numbers_of(column: TextColumn) -> tuple[NumberColumn, list[str]] | None:
    """Read text as numbers, with the texts that are none; None where too many rows hold such."""
    numbers, strays = column.numbers()
    if np.isnan(numbers).all():
        return None
    if column.counts[np.isin(column.categories, strays)].sum() > _STRAY_ROWS * column.counts.sum():
        return None
    return NumberColumn(column.name, column.by_row(numbers)), strays


def _are_grades(column: TextColumn, numbers: NumberColumn, strays: list[str]) -> bool:
    """Tell whether text has a few whole numbers and words that come again: 9, 10, 11, 12 and other."""
    distinct = np.unique(numbers.values[~numbers.gaps])
    come_again = column.counts[np.isin(column.categories, strays)] >= 2
    return bool(strays) and bool(come_again.all()) and len(distinct) <= _MOST_GRADES and are_whole(distinct)


def are_whole(numbers: Floats) -> bool:
    """Tell whether all numbers are whole."""
    return bool((numbers == np.floor(numbers)).all())


def _say_strays(name: str, strays: list[str]) -> tuple[str, ...]:
    if not strays:
        return ()
    texts = listed(list(map(quoted, strays)), 4)
    return (f"Column {name!r} holds numbers, but {texts} {'is' if len(strays) == 1 else 'are'} none: left empty.",)


def _dates_of(cells: _Cells, column: TextColumn) -> ColumnProfile | None:
    date_format = read_dates(column.categories)[1]
    if date_format is None:
        return None
    cautions: tuple[str, ...] = ()
    swapped = date_format.replace("%m/%d", "%d/%m")
    if date_format.startswith("%m/%d") and not np.isnan(read_dates(column.categories, swapped)[0]).any():
        cautions = (f"Dates in {column.name!r} can be read with the day or the month first; the month is taken.",)
    return cells.profile(DateReading(date_format, is_time=date_format in TIME_FORMATS), "date", cautions=cautions)


# --- numbers


def _profile_numbers(cells: _Cells, reading: NumberReading) -> ColumnProfile:
    name, notes = cells.column.name, []
    given = cells.column.values if isinstance(cells.column, NumberColumn) else ()
    n_infinite = int(np.isinf(given).sum())
    if n_infinite:
        notes.append(f"{counted(n_infinite, 'infinite value')} in {name!r} taken for missing.")
    column: NumberColumn = cells.read(reading)
    distinct = np.unique(column.values[~np.isnan(column.values)])
    mark = _mark_of_gaps(column.values, distinct)
    if mark is not None:
        notes.append(f"{mark:g} in {name!r} is taken for a missing value.")
        reading = replace(reading, gap_marks=(mark,))
        column, distinct = cells.read(reading), distinct[1:]
    found = _profile_distinct(cells, ColumnProfile(column, "number", reading=reading, n_values=len(distinct)), distinct)
    return replace(found, notes=(*notes, *found.notes))


def _mark_of_gaps(values: Floats, distinct: Floats) -> float | None:
    """Return -99, -999 and so on where no other number is below 0: a mark of missing values."""
    if len(distinct) < 2 or distinct[0] not in (-99.0, -999.0, -9999.0, -99999.0) or distinct[1] < 0:
        return None
    return float(distinct[0]) if np.count_nonzero(values == distinct[0]) >= 2 else None


def _profile_distinct(cells: _Cells, found: ColumnProfile, distinct: Floats) -> ColumnProfile:
    """Tell what numbers are, from the different ones among them."""
    column, reading = found.column, found.reading
    assert isinstance(column, NumberColumn)
    assert isinstance(reading, NumberReading)
    values = column.values
    n_rows = int(np.count_nonzero(~np.isnan(values)))
    n_rounded = _n_rounded(cells.column)
    if n_rounded:
        n_values = len(cells.column.categories) if isinstance(cells.column, TextColumn) else len(distinct)
        return replace(found, kind="id", reason=f"{counted(n_rounded, 'integer')} beyond 2**53", n_values=n_values)
    if len(distinct) == 0:
        return replace(found, kind="empty")
    if len(distinct) == 1:
        return replace(found, kind="category" if n_rows < len(values) else "constant")
    if column.is_truth or (len(distinct) == 2 and distinct[0] == 0.0 and distinct[1] == 1.0):
        return cells.profile(replace(reading, is_truth=True), "yes/no", n_values=2)
    if not are_whole(distinct):
        return found
    if is_time_name(column.name):
        return _compact_dates(cells, values, reading.gap_marks) or found
    repeated = n_rows / len(distinct)
    by_values = _id_by_values(column, distinct, repeated)
    if (by_values or _is_id(column.name, repeated)) and len(distinct) > _FEWEST_ID_VALUES:
        return replace(found, kind="id", reason=by_values or "by its name")
    name = words_of(column.name, numbered=False)
    is_place = bool(_PLACE_NAME.fullmatch(name))
    is_code = bool(_CODE_NAME.fullmatch(name)) and len(distinct) <= _MOST_CODES
    if (is_place or is_code or by_values or _ID_NAME.fullmatch(name)) and repeated >= 2:
        return as_codes(found, cells.column, cells.table, "numbers that are codes, by the name")
    return found


def as_codes(found: ColumnProfile, column: Column, table: RawTable, reason: str) -> ColumnProfile:
    """Take a column of whole numbers for a category; `column` is as the table has it."""
    assert isinstance(found.reading, NumberReading)
    codes = LevelReading((), found.reading.gap_marks, are_numbers=True)
    levels = codes.read(column, table, UnseenValues())
    n_values = len(levels.categories)
    return replace(
        found,
        column=levels,
        kind="category",
        reason=reason,
        reading=replace(codes, levels=levels.categories),
        n_values=n_values,
    )


def _id_by_values(column: NumberColumn, distinct: Floats, repeated: float) -> str:
    """Return why whole numbers are an id, by their order in the table; empty where they do not look so."""
    known = column.values[~column.gaps]
    steps = np.diff(known)
    if repeated == 1.0 and len(known) == len(column.values):
        goes_on = bool((steps > 0).all() or (steps < 0).all())
        if goes_on and distinct[-1] - distinct[0] < _MOST_LEFT_OUT * len(known):
            return "counts the rows"
        is_smooth = bool((np.diff(steps) >= 0).all() or (np.diff(steps) <= 0).all())  # as squares, or tens
        if bool((steps > 0).all()) and not is_smooth and len(known) >= _FEWEST_EVEN:
            exponent = -np.frexp(np.abs(known).max())[1]
            if np.corrcoef(np.ldexp(known, exponent), np.arange(len(known)))[0, 1] >= _EVENLY:
                return "goes up from row to row"
    name = words_of(column.name, numbered=False)
    in_order = np.count_nonzero(steps >= 0) >= _IN_ORDER * len(steps) and _ORDER_NAME.fullmatch(name)
    return "by its name and its values" if in_order or (repeated == 1.0 and _OWN_NAME.fullmatch(name)) else ""


def _n_rounded(column: Column) -> int:
    """Count the rows whose integer float64 cannot hold."""
    if isinstance(column, NumberColumn):
        return column.rounded
    if not isinstance(column, TextColumn) or len(column.categories) == 1:
        return 0
    is_rounded = np.array([is_rounded_text(text) for text in column.categories] + [False])
    return int(is_rounded[column.codes].sum())


def _compact_dates(cells: _Cells, values: Floats, gap_marks: tuple[float, ...]) -> ColumnProfile | None:
    """Read numbers such as 20240131, or seconds since 1970, in a column that is named like a time."""
    known = values[~np.isnan(values)]
    if known.min() >= 19000101 and known.max() <= 21001231:
        texts = [number_text(value) for value in np.unique(known).tolist()]
        found = read_dates(texts)[1]
        return cells.profile(DateReading(found, None, gap_marks), "date") if found == "%Y%m%d" else None
    for unit in UNITS:  # from 1985 to 2100
        if known.min() * unit >= 4.7e8 and known.max() * unit <= 4.1e9 and known.min() < known.max():
            return cells.profile(DateReading(None, unit, gap_marks), "date", "counts from 1970")
    return None


def words_of(name: str, *, numbered: bool = True) -> str:
    """Write a name in lower case with "_" between its words: "PatientID" and "Patient ID" become patient_id."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())
    words = re.sub(r"[^0-9a-zA-Z]+", "_", name).strip("_").lower()
    return words if numbered else re.sub(r"_?\d+$", "", words)


def _is_id(name: str, repeated: float) -> bool:
    """Tell an id by its name: that of a row does not come again, and one that comes very often is a category."""
    words = words_of(name)
    if _ROW_NAME.fullmatch(words):
        return repeated < 1.05
    return is_group_name(name) or (bool(_ID_NAME.fullmatch(words)) and repeated < _ROWS_OF_CATEGORY)


def is_time_name(name: str) -> bool:
    """Tell whether a column is named like a time or an age, whose numbers are amounts."""
    return bool(_TIME_NAME.fullmatch(words_of(name)))


def is_group_name(name: str) -> bool:
    """Tell whether a column is named like what rows belong to: a patient, a user, a machine."""
    return bool(_GROUP_NAME.fullmatch(words_of(name)))


def possible_groups(profiles: Collection[ColumnProfile], n_rows: int) -> dict[str, Ints]:
    """Return the columns that may tell which rows belong together, and the group of each row.

    Parameters
    ----------
    profiles : collection of ColumnProfile
        The columns of the table.
    n_rows : int
        Rows of the table.

    Returns
    -------
    dict of str to ndarray
        Ids that come again, and codes and categories with many values or whose rows stand together; -1 where missing.
    """
    found = {}
    for each in profiles:
        if each.kind not in ("id", "category", "number", "text"):
            continue
        groups = _group_numbers(each.column)
        n_groups = int(groups.max()) + 1 if len(groups) else 0
        n_known = int((groups >= 0).sum())
        if not 5 <= n_groups <= n_known / 2:
            continue
        runs = 1 + int(np.count_nonzero(np.diff(groups)))
        stands_together = runs == n_groups
        is_many = each.kind == "category" and n_groups > max(20, 0.01 * n_rows)
        if each.kind == "id" or stands_together or is_many or is_group_name(each.column.name):
            found[each.column.name] = groups
    return found


def _group_numbers(column: Column) -> Ints:
    if isinstance(column, TextColumn):
        return column.codes
    if not isinstance(column, NumberColumn):
        return np.empty(0, np.int64)
    known = column.values[~column.gaps]
    return np.empty(0, np.int64) if (known != np.floor(known)).any() else distinct_numbers(column.values)[1]
