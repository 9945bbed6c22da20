"""The columns that carry the information, as a search added them."""

from typing import Any

from bayesfloor.choose.selection_path import SelectionPath
from bayesfloor.report.blocks import Block, Paragraph, Summary, TextTable, range_of
from bayesfloor.report.figures import NumberFigures
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.report.source import Source
from bayesfloor.runtime.text import percent


class Features(Section[Any]):
    """A search for features."""

    key = "features"
    title = "Features"

    def data(self, facts: Facts[Any]) -> Summary:
        """List the columns that a search added; None where it was not asked for.

        Of classes, each has the floor that is left by then; of numbers, the share of the variance that is explained.
        """
        path: SelectionPath | None = facts.figures.selection
        if path is None:
            return {"features": None}
        is_number = isinstance(facts.figures, NumberFigures)
        rows = []
        for step in path.steps[1:]:
            floor, low, high = step.level.floor, step.level.low, step.level.high
            if is_number:
                floor, low, high = 1.0 - floor, max(1.0 - high, 0.0), 1.0 - low
            rows.append({"name": _column(facts.source, step.features), "floor": floor, "low": low, "high": high})
        note = (
            "Columns added one after the other, each the one that leaves the lowest floor of the error; from "
            f"{path.n_rows} rows. Each floor is the lowest of many candidates, and so a little too low."
        )
        if is_number:
            note = (
                "Columns added one after the other, each the one with which the most of the variance can be explained; "
                f"from {path.n_rows} rows, by differences over spanning trees. Each figure is the largest of many "
                "candidates."
            )
        return {"features": {"rows": rows, "note": note}}

    def text(self, summary: Summary) -> list[Block]:
        """Return how they were chosen, and the table."""
        features, heading = summary["features"], "R²" if summary["task"] == "regression" else "floor"
        rows = [(each["name"], percent(each["floor"]), range_of(each)) for each in features["rows"]]
        return [Paragraph(features["note"]), TextTable(("added", heading, "range"), rows, is_whole=True)]


def _column(source: Source, features: tuple[str, ...]) -> str:
    """Name what a step added as the reader knows it: dummies by the column that they come from."""
    place = int(features[0].removeprefix("x"))  # the search knows columns by number
    columns = zip(source.columns, source.feature_groups, strict=True)
    return next(column for column, members in columns if place in members)
