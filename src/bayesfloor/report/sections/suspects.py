"""Rows to look at: they look like another class, or have a number that does not fit."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bayesfloor.report.blocks import Block, Paragraph, Summary, TextTable
from bayesfloor.report.figures import ClassFigures, NumberFigures
from bayesfloor.report.metric_words import in_text
from bayesfloor.report.sections.section import F, Facts, Section
from bayesfloor.report.source import Source
from bayesfloor.runtime.text import figure

#: Columns shown beside a row to look at, at the most.
_MOST_COLUMNS = 8
#: Rows most like an odd one whose values are listed.
_MOST_ALIKE = 5
#: Rows that the page shows; each is a card with a table of its own.
_MOST_CARDS = 6
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
        n_more = len(suspects["rows"]) - _MOST_CARDS
        return {"suspects": cards_of(suspects)[:_MOST_CARDS], "n_more": max(n_more, 0)}

    def _table(self, word: str, rows: list[Summary]) -> TextTable:
        raise NotImplementedError


class LookAlikes(Suspects[ClassFigures]):
    """Rows that look like another class."""

    tasks = ("classification",)
    meaning = (
        "Both ends of tree edges between classes: rows that look alike and are labelled differently. The first "
        "of each two has neighbours that speak for the other's label. Some are label errors; others are what "
        "makes the floor."
    )

    def data(self, facts: Facts[ClassFigures]) -> Summary:
        """List the rows, the most suspicious first, each with the row of the other class that is nearest."""
        source, at = facts.source, facts.figures.tree_rows
        labels = source.problem.classes[source.problem.codes]
        found = facts.figures.look_alikes
        ends = [(int(at[each.row]), int(at[each.other])) for each in found]
        own = [
            {
                "label": str(labels[row]),
                "looks_like": str(source.problem.classes[each.looks_like]),
                "score": each.score,
                "other_label": str(labels[other]),
                "distance": each.distance,
            }
            for each, (row, other) in zip(found, ends, strict=True)
        ]
        note = (
            "Rows that look alike and are labelled differently. The first one's neighbours speak for the second's "
            "label."
        )
        if not found:
            note = "No row has neighbours that speak for another label."
        return {"suspects": _suspects(source, ends, own, note)}

    def _table(self, word: str, rows: list[Summary]) -> TextTable:
        cells = [
            (str(each["row"]), each["label"], str(each["other_row"]), each["other_label"], f"{each['distance']:.3g}")
            for each in rows
        ]
        return TextTable((word, "label", f"looks like {word}", "labelled", "distance"), cells, (1, 3))


class OddRows(Suspects[NumberFigures]):
    """Rows whose number fits least with that of rows like them."""

    tasks = ("regression",)
    meaning = (
        "Each is compared with the rows nearest to it. The figure is how far its value is from theirs, in "
        "standard deviations of such differences."
    )

    def data(self, facts: Facts[NumberFigures]) -> Summary:
        """List the rows, the oddest first, each with the row that is most like it."""
        source, odd, y = facts.source, facts.figures.learned.odd_rows, facts.source.problem.y
        ends = [(int(row), int(near[0])) for row, near in zip(odd.row, odd.neighbours, strict=True)]
        own = [
            {
                "label": number_text(y[row]),
                "value": float(y[row]),
                "predicted": float(odd.predicted[place]),
                "neighbours_mean": float(odd.neighbours_mean[place]),
                "score": float(odd.z[place]),
                "other_label": number_text(y[other]),
                "alike": [
                    {"row": int(source.rows[each]), "value": float(y[each])}
                    for each in odd.neighbours[place, :_MOST_ALIKE].tolist()
                ],
            }
            for place, (row, other) in enumerate(ends)
        ]
        note = (
            f"Rows whose {in_text(source.target)} fits least with that of the rows most like them, beside the one that "
            "is most alike. Some are mistakes in the data; others are what the noise is made of."
        )
        if not ends:
            note = "No row has a value that does not fit with those of the rows around it."
        return {"suspects": _suspects(source, ends, own, note)}

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


def _suspects(source: Source, ends: Sequence[tuple[int, int]], own: Sequence[Summary], note: str) -> Summary:
    """List pairs of rows with their own figures, and the values of some columns."""
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
    return {
        "columns": [source.columns[column] for column in columns],
        "columns_note": of_columns,
        "row_word": source.row_word,
        "rows": rows,
        "note": note,
    }


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
