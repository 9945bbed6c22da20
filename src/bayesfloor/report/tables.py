"""The tables of a report that is text: the same headings and cells for the terminal and for Markdown."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from bayesfloor.runtime.text import exact_percent, percent, percent_range

Summary = dict[str, Any]

_ESTIMATES = ("rows", "trees' estimate", "range", "of its maximum", "best model")


class TextTable(NamedTuple):
    """Headings, rows of as many cells, the columns that hold names, and how many rows there are in all."""

    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    names: tuple[int, ...] = (0,)
    n_rows: int = 0

    def without(self, heading: str) -> "TextTable":
        """Leave out a column that comes after the names."""
        place = self.headings.index(heading)
        rows = [row[:place] + row[place + 1 :] for row in self.rows]
        return self._replace(headings=self.headings[:place] + self.headings[place + 1 :], rows=rows)


def floor_table(summary: Summary) -> TextTable:
    """List the floor, what was reached, and what it compares with."""
    floor = summary["floor"]
    rows = [("the floor", percent(floor["estimate"]), _range(floor))]
    if floor["reached"] is not None:
        rows.append(("reached by the best model", percent(floor["reached"]["error"]), _range(floor["reached"])))
        rows.append(("spanning trees' estimate", percent(floor["trees"]["estimate"]), _range(floor["trees"])))
    rows.append(("naming the largest class", percent(floor["majority_error"]), ""))
    return TextTable(("", "error", f"{exact_percent(floor['confidence'])} range"), rows)


def class_table(summary: Summary) -> TextTable:
    """List the classes, the hardest first."""
    rows = [(each["name"], *_estimates(each, each["reached"])) for each in summary["classes"]]
    return TextTable(("class", *_ESTIMATES), rows, n_rows=len(rows))


def pair_table(summary: Summary) -> TextTable:
    """List pairs of classes, the hardest first."""
    pairs = summary["pairs"]
    rows = [(each["first"], each["second"], *_estimates(each, each["confused"])) for each in pairs["rows"]]
    return TextTable(("first", "second", *_ESTIMATES), rows, (0, 1), pairs["n_pairs"])


def suspect_table(summary: Summary) -> TextTable:
    """List rows that look like another class, each with the row of that class which is nearest."""
    word = summary["suspects"]["row_word"]
    rows = [
        (str(each["row"]), each["label"], str(each["other_row"]), each["other_label"], f"{each['distance']:.3g}")
        for each in summary["suspects"]["rows"]
    ]
    return TextTable((word, "label", f"looks like {word}", "labelled", "distance"), rows, (1, 3), len(rows))


def feature_table(summary: Summary) -> TextTable:
    """List features in the order in which a search added them."""
    rows = [(each["name"], percent(each["floor"]), _range(each)) for each in summary["features"]["rows"]]
    return TextTable(("added", "floor", "range"), rows)


def _estimates(each: Summary, reached: float | None) -> tuple[str, ...]:
    rates = percent(each["floor"]), _range(each), percent(each["normalized"]), percent(reached)
    return str(each["n_rows"]), *rates


def _range(each: Summary) -> str:
    return percent_range(each["low"], each["high"])
