"""The floor, or the ceiling, of the metric that the report is about, and of all others that were asked for."""

from typing import Any

from bayesfloor.floor.learned.result import LearnedFloor, MetricFloor
from bayesfloor.floor.trees.results import BayesError
from bayesfloor.report.blocks import LONG_NAME, MARKDOWN, Block, Bullets, Subheading, Summary, TextTable
from bayesfloor.report.figures import ClassFigures
from bayesfloor.report.metric_words import limit_word, meanings, sentence_on, title_of
from bayesfloor.report.page.charts import floor_scale
from bayesfloor.report.page.svg import both_widths
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.runtime.text import exact_percent, percent, written, written_range


class Floor(Section[Any]):
    """The whole problem, by each metric."""

    key = "floor"
    title = "The floor"

    def data(self, facts: Facts[Any]) -> Summary:
        """List what is known of the first metric and of all, and of classes what spanning trees say of the error."""
        figures = facts.figures
        learned, trees = figures.learned, figures.trees if isinstance(figures, ClassFigures) else None
        metrics = [_metric(each) for each in figures.metrics.values()]
        if learned is None:
            assert trees is not None  # numbers always have models
            floor = _floor_of_trees(trees)
        else:
            more = {"method": "learned", "confidence": learned.confidence, "n_rows": learned.n_rows}
            floor = _metric(figures.headline) | more
        if trees is not None:
            floor["trees"] = {
                "estimate": trees.estimate,
                "low": trees.interval[0],
                "high": trees.interval[1],
                "lower": trees.lower,
                "upper": trees.upper,
                "p_value": trees.p_value,
                "note": note_on_trees(trees, learned),
            }
        return {"floor": floor, "metrics": metrics}

    def words(self, facts: Facts[Any]) -> dict[str, str]:
        """Explain the metrics, unless there is nothing but the error."""
        return meanings(facts.figures.metrics)

    def heading(self, summary: Summary) -> str:
        """Return what the best value is called."""
        return f"The {limit_word(summary['floor']['larger_is_better'])}"

    def text(self, summary: Summary) -> list[Block]:
        """Return the floor beside what it compares with, and all metrics."""
        blocks: list[Block] = [_floor_table(summary["floor"])]
        if len(metrics := summary["metrics"]) > 1:
            told = [(f"{each['title']}:", each["sentence"]) for each in metrics]
            blocks += [Subheading("All metrics"), _metric_table(metrics), Bullets(told, only=MARKDOWN)]
        return blocks

    def drawn(self, summary: Summary) -> dict[str, Any]:
        """Draw the scale."""
        return {"scale": both_widths(lambda width: floor_scale(summary["floor"], width))}


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


def _floor_of_trees(trees: BayesError) -> Summary:
    """List the same of the error where nothing was trained."""
    return {
        "metric": "error",
        "title": "error",
        "is_rate": True,
        "larger_is_better": False,
        "estimate": trees.estimate,
        "low": trees.interval[0],
        "high": trees.interval[1],
        "reached": None,
        "baseline": 1.0 - float(trees.class_counts.max()) / trees.n_samples,
        "perfect": 0.0,
        "sentence": None,
        "method": "trees",
        "confidence": trees.confidence,
        "n_rows": trees.n_samples,
    }


def note_on_trees(trees: BayesError, learned: LearnedFloor | None) -> str:
    """Say how far the figures from spanning trees can be believed here."""
    note = (
        "Figures of classes and pairs come from spanning trees. They say which are hard; in high dimension and small "
        "samples they tend to be too high."
    )
    if learned is None:
        return note
    reached = learned.metrics["error"].reached
    if trees.estimate > reached:
        note = (
            f"The spanning trees' own estimate, {percent(trees.estimate)}, is above the {percent(reached)} that a "
            "model reached, so it is too high here. The figures of classes and pairs come from the same trees: they "
            "say which are hard, not how low an error can go."
        )
    return note if learned.metric == "error" else f"{note} They are errors, whatever metric the report is about."


def _floor_table(floor: Summary) -> TextTable:
    """List the floor, what was reached, and what it compares with."""
    is_rate, is_error = floor["is_rate"], floor["metric"] == "error"

    def row(name: str, value: float, ends: Summary) -> tuple[str, str, str]:
        return name, written(value, is_rate), written_range(ends["low"], ends["high"], is_rate)

    rows = [row(f"the {limit_word(floor['larger_is_better'])}", floor["estimate"], floor)]
    if floor["reached"] is not None:
        rows.append(row("reached by the best model", floor["reached"]["value"], floor["reached"]))
        if is_error:
            rows.append(row("spanning trees' estimate", floor["trees"]["estimate"], floor["trees"]))
    baseline = "naming the largest class" if is_error else "without features"
    rows.append((baseline, written(floor["baseline"], is_rate), ""))
    return TextTable(("", floor["title"], f"{exact_percent(floor['confidence'])} range"), rows)


def _metric_table(metrics: list[Summary]) -> TextTable:
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
    headings = ("metric", "best value", "range", "reached", "range", "without features")
    return TextTable(headings, rows, longest=LONG_NAME, is_whole=True)
