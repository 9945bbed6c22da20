"""The data: sizes, what was done to them, and what each column tells alone."""

from typing import Any

import numpy as np

from bayesfloor.data.prepared_table import ColumnSummary
from bayesfloor.floor.learned.trust.single_columns import ColumnFloors
from bayesfloor.floor.learned.trust.source import Source
from bayesfloor.report.blocks import (
    LONG_NAME,
    MARKDOWN,
    Block,
    Bullets,
    Paragraph,
    Summary,
    TextTable,
    range_of,
)
from bayesfloor.report.figures import NumberFigures
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.runtime.text import counted, percent

#: Columns that are listed, the most telling first, and as many that were left out.
_MOST_LISTED = 100


class Data(Section[Any]):
    """The rows and columns."""

    key = "data"
    title = "Columns"

    def data(self, facts: Facts[Any]) -> Summary:
        """List what is known of the data: sizes, what was done to them, the target and the columns."""
        source, figures = facts.source, facts.figures
        n_rows, n_features = source.problem.X.shape
        is_number = isinstance(figures, NumberFigures)
        data = {
            "source": source.title,
            "target": source.target,
            "n_rows": n_rows,
            "n_samples": source.n_samples,
            "n_features": n_features,
            "notes": list(source.notes),
            "cautions": list(source.cautions),
            "columns": _columns(source, figures.columns),
            "n_columns": len(source.columns),
            "columns_note": _note_on_columns(figures.columns, len(source.columns), is_number=is_number),
        }
        checked = figures.checked
        if checked is not None and checked.split_by is not None:
            data["columns_note"] += f" This is for rows at random, not kept apart by '{checked.split_by.column}'."
        if is_number:
            y = source.problem.y
            data["numbers"] = {"low": float(y.min()), "high": float(y.max())}
        else:
            data["n_classes"] = len(source.problem.classes)
        return {"data": data}

    def text(self, summary: Summary) -> list[Block]:
        """Return the size, what was done, and the columns."""
        data = summary["data"]
        blocks: list[Block] = [Paragraph(data["columns_note"], only=MARKDOWN), _column_table(data)]
        if notes := [("Caution:", each) for each in data["cautions"]] + [("", each) for each in data["notes"]]:
            blocks.append(Bullets(notes, only=MARKDOWN))
        return blocks


def _columns(source: Source, measured: ColumnFloors) -> list[dict[str, Any]]:
    """List the columns, the most telling first, and then those that were left out."""
    known = {column.name: column for column in source.column_summaries}
    rows = []
    for place in np.argsort(-measured.removed, kind="stable")[:_MOST_LISTED].tolist():
        name = source.columns[place]
        alone = {
            "floor": float(measured.floor[place]),
            "removed": float(measured.removed[place]),
            "low": float(measured.interval[place, 0]),
            "high": float(measured.interval[place, 1]),
        }
        rows.append(_column(name, known.get(name)) | {"n_features": len(source.feature_groups[place])} | alone)
    nothing = dict.fromkeys(("floor", "removed", "low", "high"))
    left_out = [column for column in source.column_summaries if column.name not in set(source.columns)]
    return rows + [_column(column.name, column) | {"n_features": 0} | nothing for column in left_out[:_MOST_LISTED]]


def _column(name: str, column: ColumnSummary | None) -> dict[str, Any]:
    if column is None:
        return {"name": name} | dict.fromkeys(("kind", "treatment", "n_missing", "n_values"))
    return {key: getattr(column, key) for key in ("name", "kind", "treatment", "n_missing", "n_values")}


def _note_on_columns(columns: ColumnFloors, n_columns: int, *, is_number: bool) -> str:
    """Say what the figures of single columns are."""
    n_rows = counted(columns.n_rows)
    if is_number:
        note = (
            "Tells alone: the share of the variance that a column can explain by itself, from differences between rows "
            f"next to each other in it; {n_rows} rows were used."
        )
    else:
        note = (
            "Tells alone: the share of the error of always predicting the commonest class that a column removes by "
            f"itself, from spanning trees of {n_rows} rows; a little low."
        )
    note += " Columns may tell more together."
    if columns.is_balanced:
        note += " The commonest class was cut down to the size of the next."
    if n_columns > _MOST_LISTED:
        note += f" Listed are the {_MOST_LISTED} most telling of {counted(n_columns)} columns."
    return note


def _column_table(data: Summary) -> TextTable:
    """List the columns with what was done and what each tells by itself; what is not known of any is left out."""
    columns = data["columns"]
    described = any(each["kind"] is not None for each in columns)
    rows = [
        (each["name"], *(_treatment(each) if described else ()), percent(each["removed"]), range_of(each))
        for each in columns
    ]
    of_treatment = ("kind", "what was done", "missing", "values") if described else ()
    headings = ("column", *of_treatment, "tells alone", "range")
    names = (0, 1, 2) if described else (0,)
    return TextTable(headings, rows, names, data["n_columns"], LONG_NAME, wide_only="range")


def _treatment(each: Summary) -> tuple[str, ...]:
    return each["kind"] or "", each["treatment"] or "", counted(each["n_missing"]), counted(each["n_values"])
