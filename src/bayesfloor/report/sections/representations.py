"""Representations: what models reach with groups of columns, or with features from elsewhere."""

from typing import Any

from bayesfloor.choose.comparing.results import FeatureFloor
from bayesfloor.data.metrics import metric_info
from bayesfloor.report.blocks import MARKDOWN, Block, Paragraph, Summary, TextTable
from bayesfloor.report.metric_words import limit_word
from bayesfloor.report.page.charts import Bar, Ranges, range_chart
from bayesfloor.report.page.svg import both_widths
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.runtime.text import NOTHING, counted, written, written_range


class Representations(Section[Any]):
    """Features that were compared, the best first."""

    key = "compare"
    title = "Representations"
    meaning = (
        "The same models were trained with each of them, on the same rows and folds, so that differences are told row "
        "by row; these folds are not those of the figures above. One that reaches less with these rows may still have "
        "the better floor."
    )

    def data(self, facts: Facts[Any]) -> Summary:
        """List what was compared; None where nothing was."""
        found = facts.comparison
        if found is None:
            return {"compare": None}
        info, said = metric_info(found.metric), {finding.code for finding in facts.figures.findings}
        is_sure = [False, *(found.distinguishable(each.name, found.best) for each in found.features[1:])]
        values = {
            "metric": found.metric,
            "title": info.title,
            "is_rate": info.is_rate,
            "limit": limit_word(info.larger_is_better),
            "sentence": found.sentence(),
            "rows": [_row_of(each, differs) for each, differs in zip(found.features, is_sure, strict=True)],
            "notes": [finding.sentence for finding in found.findings if finding.code not in said],
            "n_rows": found.n_rows,
        }
        return {"compare": values}

    def text(self, summary: Summary) -> list[Block]:
        """Return which is the best, and the table."""
        compared = summary["compare"]
        rows = [
            (
                each["name"],
                counted(each["n_features"]),
                *_written(each["reached"], each["reached_low"], each["reached_high"], compared["is_rate"]),
                *_written(each["floor"], each["low"], each["high"], compared["is_rate"]),
                "yes" if each["differs"] else "",
            )
            for each in compared["rows"]
        ]
        headings = ("features", "columns", "reached", "range", compared["limit"], "range", "surely worse")
        notes = [Paragraph(note, only=MARKDOWN) for note in compared["notes"]]
        return [Paragraph(compared["sentence"]), TextTable(headings, rows, is_whole=True), *notes]

    def drawn(self, summary: Summary) -> dict[str, Any]:
        """Draw two bars for each: the range of what was reached, and that of the floor, where these are rates."""
        compared = summary["compare"]
        if not compared["is_rate"]:
            return {"chart": None}
        rows = []
        for each in compared["rows"]:
            bars = [Bar(each["floor"], each["low"], each["high"], True)]
            if each["reached"] is not None:
                bars.insert(0, Bar(each["reached"], each["reached_low"], each["reached_high"], False))
            reached = written(each["reached"], True) if each["reached"] is not None else NOTHING
            tooltip = f"{each['name']}: reached {reached}, {compared['limit']} {written(each['floor'], True)}"
            rows.append(Ranges(each["name"], tooltip, tuple(bars)))
        description = (
            f"What was reached, and the {compared['limit']}, of {len(rows)} representations. In the table below."
        )
        return {"chart": both_widths(range_chart, "compare", "Representations", description, rows)}


def _row_of(each: FeatureFloor, differs: bool) -> Summary:
    reached_low, reached_high = (None, None) if each.reached_interval is None else each.reached_interval
    return {
        "name": each.name,
        "n_features": each.n_features,
        "n_rows": each.n_rows,
        "reached": each.reached,
        "reached_low": reached_low,
        "reached_high": reached_high,
        "floor": each.estimate,
        "low": each.interval[0],
        "high": each.interval[1],
        "is_stopped": each.is_stopped,
        "differs": bool(differs),
    }


def _written(value: float | None, low: float | None, high: float | None, is_rate: bool) -> tuple[str, str]:
    if value is None or low is None or high is None:
        return NOTHING, NOTHING
    return written(value, is_rate), written_range(low, high, is_rate)
