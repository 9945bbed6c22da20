"""The floor, or the ceiling, of each metric that was asked for, and whether more rows would help."""

from typing import Any

import numpy as np

from bayesfloor.floor.learned.result import MetricFloor
from bayesfloor.report.blocks import LONG_NAME, MARKDOWN, Block, Paragraph, Summary, TextTable
from bayesfloor.report.metric_words import limit_word, meanings, sentence_on, title_of
from bayesfloor.report.page.charts import learning_curve
from bayesfloor.report.page.svg import both_widths
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.report.verdict import Limit
from bayesfloor.runtime.text import counted, difference, exact_percent, written, written_range

#: A learning curve is drawn up to this many times the largest training size.
_AHEAD = 8.0


class Floor(Section[Any]):
    """The whole problem, by each metric; folded where there is one, which the first screen shows."""

    key = "floor"
    title = "All figures"

    def data(self, facts: Facts[Any]) -> Summary:
        """List what is known of the first metric and of all."""
        figures = facts.figures
        learned = figures.learned
        metrics = [_metric(each) for each in figures.metrics.values()]
        more = {"method": "learned", "confidence": learned.confidence, "n_rows": learned.n_rows}
        floor = _metric(figures.headline) | more
        return {"floor": floor, "metrics": metrics}

    def words(self, facts: Facts[Any]) -> dict[str, str]:
        """Explain the metrics, unless there is nothing but the error."""
        return meanings(facts.figures.metrics)

    def is_folded(self, summary: Summary) -> bool:
        """Tell whether there is one metric alone."""
        return len(summary["metrics"]) < 2

    def text(self, summary: Summary) -> list[Block]:
        """Return the best value of each metric beside what it compares with."""
        return [_metric_table(summary["metrics"], exact_percent(summary["floor"]["confidence"]))]


def _metric(metric: MetricFloor) -> Summary:
    """List what is known of a metric."""
    low, high = metric.reached_interval
    return {
        "metric": metric.name,
        "title": title_of(metric),
        "is_rate": metric.is_rate,
        "larger_is_better": metric.larger_is_better,
        "estimate": metric.estimate,
        "low": metric.interval[0],
        "high": metric.interval[1],
        "reached": {"value": metric.reached, "low": low, "high": high},
        "baseline": metric.baseline,
        "perfect": metric.perfect,
        "sentence": sentence_on(metric),
    }


def _metric_table(metrics: list[Summary], level: str) -> TextTable:
    """List all metrics that were asked for, and the error."""
    rows = [
        (
            each["title"],
            written(each["estimate"], each["is_rate"]),
            written_range(each["low"], each["high"], each["is_rate"]),
            written(each["reached"]["value"], each["is_rate"]),
            written_range(each["reached"]["low"], each["reached"]["high"], each["is_rate"]),
            written(each["baseline"], each["is_rate"]),
        )
        for each in metrics
    ]
    headings = ("metric", "floor or ceiling", f"{level} range", "best model", f"{level} range", "without features")
    return TextTable(headings, rows, longest=LONG_NAME, is_whole=True)


class Curve(Section[Any]):
    """The learning curve of the first metric."""

    key = "curve"
    title = "Would more rows help?"

    def data(self, facts: Facts[Any]) -> Summary:
        """List what was attained at each training size, the fitted line, and where it leads."""
        metric: MetricFloor = facts.figures.headline
        curve = metric.curve
        sizes = np.geomspace(curve.size.min(), _AHEAD * curve.size.max(), 60)
        points = zip(curve.size.tolist(), curve.value.tolist(), strict=True)
        shown = {
            "points": [{"size": size, "value": value} for size, value in points],
            "line": [[float(size), float(value)] for size, value in zip(sizes, metric.curve_at(sizes), strict=True)],
            "limit": metric.estimate,
            "low": metric.interval[0],
            "high": metric.interval[1],
            "note": note_on_curve(facts.verdict.limit, facts.figures.err_alike),
        }
        return {"curve": shown}

    def is_shown(self, summary: Summary) -> bool:
        """Tell whether there is a point."""
        return bool(summary["curve"]["points"])

    def is_folded(self, summary: Summary) -> bool:
        """Tell whether nothing is left to win, as the first screen says."""
        return bool(summary["verdict"]["limit"]["more_rows"] == "done")

    def text(self, summary: Summary) -> list[Block]:
        """Return what more rows would win, and the points."""
        curve, floor = summary["curve"], summary["floor"]
        values = [(counted(round(point["size"])), point["value"]) for point in reversed(curve["points"])]
        values.append(("in the limit", curve["limit"]))
        rows = [(name, written(value, floor["is_rate"])) for name, value in values]
        table = TextTable(("rows trained on", floor["title"]), rows, (), only=MARKDOWN)
        return [Paragraph(curve["note"]), table]

    def drawn(self, summary: Summary) -> dict[str, Any]:
        """Draw the curve."""
        return {"chart": both_widths(learning_curve, summary["curve"], summary["floor"])}


def note_on_curve(limit: Limit, err_alike: bool) -> str:
    """Say whether more rows or a better model would close the gap; the latter where near rows err alike."""
    metric, gap, gained = limit.metric, limit.gap, limit.by_doubling
    is_rate, word = metric.is_rate, limit_word(metric.larger_is_better)
    if limit.more_rows == "done":
        return "No error is left to win." if metric.name == "error" else "Nothing is left to win."
    if limit.more_rows == "nothing":
        parts = [f"By the {metric.title}, nothing is surely better than no features: the curve tells nothing yet."]
    elif limit.more_rows == "unknown":
        parts = ["These are too few rows to tell what more of them would win."]
    elif gap > 0 and gained > 0:
        parts = [f"Twice as many rows would win about {difference(gained, is_rate)}, if the curve goes on as it does."]
    elif gap > 0:
        parts = [f"Between what was reached and the {word} lies {difference(gap, is_rate)}."]
    elif limit.more_rows in ("helps", "open"):
        parts = ["The curve still improves with more rows."]
    else:
        parts = [f"What was reached is about the {word}."]
    if limit.more_rows == "open":
        parts.append("Where the curve ends cannot be told from these rows.")
    if err_alike:
        parts.append("Rows next to each other err alike: a better model could win something with these rows as well.")
    elif limit.more_rows not in ("nothing", "open"):
        parts.append("No structure was found that the models missed.")
    return " ".join(parts)
