"""The learning curve: whether more rows would help."""

from typing import Any

import numpy as np

from bayesfloor.floor.learned.result import MetricFloor
from bayesfloor.report.blocks import MARKDOWN, Block, Paragraph, Summary, TextTable
from bayesfloor.report.metric_words import limit_word
from bayesfloor.report.page.charts import learning_curve
from bayesfloor.report.page.svg import both_widths
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.runtime.text import counted, difference, percent, written

#: A learning curve is drawn up to this many times the largest training size.
_AHEAD = 8.0


class Curve(Section[Any]):
    """The learning curve of the first metric."""

    key = "curve"
    title = "Would more rows help?"

    def data(self, facts: Facts[Any]) -> Summary:
        """List what was attained at each training size, the fitted line, and where it leads; None without models."""
        if facts.figures.learned is None:
            return {"curve": None}
        metric: MetricFloor = facts.figures.headline
        curve = metric.curve
        sizes = np.geomspace(0.8 * curve.size.min(), _AHEAD * curve.size.max(), 60)
        points = zip(curve.size.tolist(), curve.value.tolist(), strict=True)
        shown = {
            "points": [{"size": size, "value": value} for size, value in points],
            "line": [[float(size), float(value)] for size, value in zip(sizes, curve.at(sizes), strict=True)],
            "limit": metric.estimate,
            "low": metric.interval[0],
            "high": metric.interval[1],
            "note": note_on_curve(metric, facts.figures.err_alike),
        }
        return {"curve": shown}

    def is_shown(self, summary: Summary) -> bool:
        """Tell whether there is a point."""
        return summary["curve"] is not None and bool(summary["curve"]["points"])

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
        return {"chart": both_widths(lambda width: learning_curve(summary["curve"], summary["floor"], width))}


def note_on_curve(metric: MetricFloor, err_alike: bool) -> str:
    """Say whether more rows or a better model would close the gap; the latter where near rows err alike."""
    is_rate, word = metric.is_rate, limit_word(metric.larger_is_better)
    is_error = metric.name == "error"
    if metric.reached == metric.perfect:
        return "No error is left to win." if is_error else "Nothing is left to win."
    sign = -1.0 if metric.larger_is_better else 1.0
    gap = sign * (metric.reached - metric.estimate)
    size = float(metric.curve.size[0])
    now, doubled = (float(metric.curve.at(n)) for n in (size, 2 * size))
    gained = max(min(sign * (now - doubled), gap), 0.0)
    if is_error:
        left = f"lie {percent(gap)} of the rows"
    else:
        left = f"{'lie' if is_rate else 'lies'} {difference(gap, is_rate)}"
    parts = [
        f"Between what was reached ({written(metric.reached, is_rate)}) and the {word} "
        f"({written(metric.estimate, is_rate)}) {left}."
        if gap > 0
        else f"What was reached is about the {word}."
    ]
    if gap > 0 and gained > 0:
        won = percent(gained) if is_error else difference(gained, is_rate)
        parts.append(f"If the curve goes on as it does, twice as many rows would win about {won}.")
    if err_alike:
        parts.append("Rows next to each other err alike: a better model could win something with these rows as well.")
    else:
        parts.append("No structure was found that the models missed: a better model has nothing obvious to win here.")
    return " ".join(parts)
