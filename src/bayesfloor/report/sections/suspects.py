"""Rows to look at: their label is hard to believe, or their number does not fit."""

import math
from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bayesfloor.floor.learned.suspicious import SuspiciousRows
from bayesfloor.floor.learned.trust.source import Source
from bayesfloor.report.blocks import Block, Paragraph, Summary, TextTable
from bayesfloor.report.figures import ClassFigures, NumberFigures
from bayesfloor.report.metric_words import in_text
from bayesfloor.report.sections.section import F, Facts, Section
from bayesfloor.runtime.text import counted, csv_text, exact_percent, figure, unique_names

#: Columns shown beside a row to look at, at the most.
_MOST_COLUMNS = 8
#: Bytes of the table that the page holds for download, at the most.
_MOST_BYTES = 40_000
#: Rows that the page shows; each is a card with a table of its own.
_FIRST_CARDS = 6
#: Values in which two rows differ that a card shows; of the others there is a count.
_MOST_VALUES = 4


class Suspects(Section[F]):
    """Rows to look at, each beside another one, with values as the file has them."""

    key = "suspects"
    title = "Rows to look at"

    def text(self, summary: Summary) -> list[Block]:
        """Return what they are, and the table."""
        suspects = summary["suspects"]
        blocks: list[Block] = [Paragraph(suspects["note"])]
        if suspects["rows"]:
            blocks.append(self._table(suspects["row_word"], suspects["rows"]))
        return blocks

    def drawn(self, summary: Summary) -> dict[str, Any]:
        """Prepare a card for each row."""
        suspects = summary["suspects"]
        text = rows_as_csv(suspects).encode()
        link = f"data:text/csv;charset=utf-8;base64,{b64encode(text).decode()}" if len(text) <= _MOST_BYTES else None
        n_more = max(len(suspects["rows"]) - _FIRST_CARDS, 0)
        return {"suspects": cards_of(suspects)[:_FIRST_CARDS], "n_more": n_more, "rows_link": link}

    def _table(self, word: str, rows: list[Summary]) -> TextTable:
        raise NotImplementedError


class WrongLabels(Suspects[ClassFigures]):
    """Rows whose label models find hard to believe."""

    tasks = ("classification",)
    meaning = (
        "Models that had not seen these rows find their labels unlikely, and the suggested ones likely. Labels are "
        "listed that are rather wrong than right. Classes that overlap give unlikely labels too, and nothing tells "
        "these from mistakes: that is what the range of the number of wrong labels is for."
    )

    def data(self, facts: Facts[ClassFigures]) -> Summary:
        """List the rows, the most doubtful first, each with the row of the other class that is nearest."""
        source, suspicious = facts.source, facts.figures.learned.suspicious
        found = [
            (int(row), _beside(source, near, label), str(label), float(score))
            for row, near, label, score in zip(
                suspicious.row, suspicious.neighbours[:, 0], suspicious.suggested, suspicious.score, strict=True
            )
        ]
        return {"suspects": self._of(source, found, _note_on_labels(suspicious), suspicious)}

    def _of(
        self,
        source: Source,
        found: Sequence[tuple[int, int, str, float]],
        note: str,
        suspicious: SuspiciousRows,
    ) -> Summary:
        labels, X = source.problem.classes[source.problem.codes], source.problem.X
        own = [
            {
                "label": str(labels[row]),
                "looks_like": looks_like,
                "score": score,
                "other_label": str(labels[other]),
                "distance": float(np.linalg.norm(X[row] - X[other])),
            }
            for row, other, looks_like, score in found
        ]
        ends = [(row, other) for row, other, _, _ in found]
        labelled = [(str(labels[row]), looks_like) for row, _, looks_like, _ in found]
        return _suspects(source, ends, own, note, labelled, suspicious)

    def _table(self, word: str, rows: list[Summary]) -> TextTable:
        cells = [
            (str(each["row"]), each["label"], each["looks_like"], f"{each['score']:.2f}", str(each["other_row"]))
            for each in rows
        ]
        return TextTable((word, "label", "suggested", "score", f"looks like {word}"), cells, (1, 2))


class OddNumbers(Suspects[NumberFigures]):
    """Rows whose number is farther from what models predict than noise explains."""

    tasks = ("regression",)
    meaning = (
        "Models that had not seen these rows predict another number, and the rows nearest to each have other numbers "
        "too. The figure is how far its value is from both, in standard deviations of the noise there."
    )

    def data(self, facts: Facts[NumberFigures]) -> Summary:
        """List the rows, the oddest first, each with the row that is most like it."""
        source, odd, y = facts.source, facts.figures.learned.suspicious, facts.source.problem.y
        near = [[int(each) for each in some if each >= 0] for some in odd.neighbours]
        ends = [(int(row), some[0]) for row, some in zip(odd.row, near, strict=True)]
        own = [
            {
                "label": number_text(y[row]),
                "value": float(y[row]),
                "predicted": float(odd.suggested[place]),
                "neighbours_mean": float(y[near[place]].mean()),
                "score": float(odd.z[place]),
                "other_label": number_text(y[other]),
                "alike": [{"row": int(source.rows[each]), "value": float(y[each])} for each in near[place]],
            }
            for place, (row, other) in enumerate(ends)
        ]
        name = in_text(source.target)
        note = (
            f"Rows whose {name} is farther from what models predict, and from that of the rows most like them, than "
            "noise explains, beside the one that is most alike. Mistakes smaller than the noise cannot be seen."
        )
        if not ends:
            note = f"No row has a {name} that is farther from what models predict than the noise explains."
        labelled = [(float(y[row]), float(f"{each:.6g}")) for (row, _), each in zip(ends, odd.suggested, strict=True)]
        return {"suspects": _suspects(source, ends, own, note + _untested(odd), labelled, odd)}

    def _table(self, word: str, rows: list[Summary]) -> TextTable:
        cells = [
            (
                str(each["row"]),
                each["label"],
                figure(each["neighbours_mean"]),
                figure(each["predicted"]),
                f"{each['score']:.1f}",
                str(each["other_row"]),
                each["other_label"],
            )
            for each in rows
        ]
        headings = (word, "value", "rows like it", "predicted", "sd away", f"most like {word}", "its value")
        return TextTable(headings, cells, ())


def _note_on_labels(found: SuspiciousRows) -> str:
    """Say what is listed, and how many labels may be wrong."""
    low, high = (counted(round(end)) for end in found.n_wrong_interval)
    tested = f"{counted(found.n_tested)} labels tested"
    if not len(found):
        if round(found.n_wrong_interval[1]) == 0:
            return f"No label stands out: models agree with the {tested}." + _untested(found)
        return (
            f"No label stands out. Of the {tested}, up to {high} may be wrong: where classes overlap, wrong labels and "
            "rows that may be either cannot be told apart." + _untested(found)
        )
    return (
        "Models that had not seen these rows find their labels rather wrong than right. Beside each stands the row of "
        f"the suggested class that is most like it. Of the {tested}, about {counted(round(found.n_wrong))} are wrong, "
        f"or noise that is the same everywhere ({exact_percent(found.confidence)} range of wrong ones {low} to "
        f"{high}): wrong labels and rows that may be either cannot be told apart." + _untested(found)
    )


def _untested(found: SuspiciousRows) -> str:
    """Say how many rows could not be checked, and cannot be listed."""
    n_left = found.n_samples - found.n_tested
    return f" The other {counted(n_left)} rows could not be checked." if n_left else ""


def _beside(source: Source, near: int, label: Any) -> int:
    """Return the nearest tested row of a class, or its first row where none was tested."""
    if near >= 0:
        return int(near)
    problem = source.problem
    return int(np.flatnonzero(problem.classes[problem.codes] == label)[0])


def _suspects(
    source: Source,
    ends: Sequence[tuple[int, int]],
    own: Sequence[Summary],
    note: str,
    labelled: Sequence[tuple[Any, Any]],
    suspicious: SuspiciousRows,
) -> Summary:
    """List pairs of rows with their own figures and the values of some columns; and all rows with all values.

    `labelled` has the label of each, and what is suggested instead.
    """
    columns = _columns_that_differ(source, ends)
    rows = []
    for (row, other), each in zip(ends, own, strict=True):
        values, other_values = source.values(row), source.values(other)
        own_values = {"values": [values[column] for column in columns]}
        own_values["other_values"] = [other_values[column] for column in columns]
        rows.append({"row": int(source.rows[row]), "other_row": int(source.rows[other])} | each | own_values)
    of_columns = ""
    if len(columns) < len(source.columns) and ends:
        of_columns = f"Of {len(source.columns)} columns, the {len(columns)} in which such rows differ most are shown."
    listed = [
        [int(source.rows[row]), *source.values(row), *labels, round(each["score"], 4)]
        for (row, _), each, labels in zip(ends, own, labelled, strict=True)
    ]
    names = [source.row_word, *source.columns, source.target, "suggested", "score"]
    return {
        "columns": [source.columns[column] for column in columns],
        "columns_note": of_columns,
        "row_word": source.row_word,
        "rows": rows,
        "note": note,
        "n_wrong": _number_wrong(suspicious),
        "table": {"columns": unique_names(names), "rows": listed},
    }


def _number_wrong(found: SuspiciousRows) -> Summary:
    low, high = found.n_wrong_interval
    counts = {"n_tested": found.n_tested, "n_samples": found.n_samples}
    return {"estimate": found.n_wrong, "low": low, "high": high} | counts


def rows_as_csv(suspects: Summary) -> str:
    """Write all rows to look at as CSV, with all columns as the file has them, the label and what is suggested.

    Parameters
    ----------
    suspects : dict
        The part "suspects" of a summary.

    Returns
    -------
    str
    """
    return csv_text(suspects["table"]["columns"], suspects["table"]["rows"])[0]


def _columns_that_differ(source: Source, ends: Sequence[tuple[int, int]]) -> list[int]:
    """Choose the columns in which pairs of rows differ most, in their own order; all where they are few."""
    if len(source.columns) <= _MOST_COLUMNS or not ends:
        return list(range(min(len(source.columns), _MOST_COLUMNS)))
    rows, others = (list(side) for side in zip(*ends, strict=True))
    X = source.problem.X
    apart = np.abs(X[rows] - X[others]).mean(axis=0)
    by_column = np.array([float(apart[list(members)].sum()) for members in source.feature_groups])
    return np.sort(np.argsort(-by_column, kind="stable")[:_MOST_COLUMNS]).tolist()


def number_text(value: float) -> str:
    """Write a value of the target as a file may have it."""
    return f"{value:,.0f}" if value == np.floor(value) and abs(value) < 1e15 else f"{value:,.6g}"


def cards_of(suspects: Summary) -> list[Summary]:
    """Add to each row that looks like another class the values in which it differs from its look-alike.

    The values that differ most come first: numbers by their difference relative to the column's spread over all rows
    listed, and text that differs before all numbers.

    Parameters
    ----------
    suspects : dict
        The part "suspects" of a summary.

    Returns
    -------
    list of dict
        Each with "first_values", of names and two texts, and how many are left out or equal.
    """
    columns = suspects["columns"]
    everything = [row[key] for row in suspects["rows"] for key in ("values", "other_values")]
    spreads = [_spread(column) for column in zip(*everything, strict=True)]
    prepared = []
    for row in suspects["rows"]:
        differing = []
        for name, spread, mine, other in zip(columns, spreads, row["values"], row["other_values"], strict=True):
            if mine != other:
                share = abs(float(mine) - float(other)) / spread if spread else 1.0
                differing.append((-share, name, mine, other))
        differing.sort(key=lambda each: each[0])
        values = [each[1:] for each in differing]
        added = {
            "first_values": values[:_MOST_VALUES],
            "n_left_out": max(len(values) - _MOST_VALUES, 0),
            "n_equal": len(columns) - len(values),
        }
        prepared.append(row | added)
    return prepared


def _spread(values: Iterable[str]) -> float:
    """Return largest less smallest of a column of numbers; 0 where it holds anything else."""
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return 0.0
    spread = max(numbers) - min(numbers)
    return spread if math.isfinite(spread) else 0.0
