"""The reader's own model beside the floor."""

from typing import Any

from bayesfloor.floor.learned.gap_result import FloorGap
from bayesfloor.report.blocks import Block, Paragraph, Subheading, Summary, TextTable
from bayesfloor.report.metric_words import limit_word
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.runtime.text import (
    NOTHING,
    exact_percent,
    figure,
    p_text,
    percent,
    points,
    written,
    written_range,
)

#: Pairs of classes that are listed, at the most.
_MOST_PAIRS = 500


class Gap(Section[Any]):
    """A model that was passed, beside the best one tried and the floor."""

    key = "gap"
    title = "Your model"

    def data(self, facts: Facts[Any]) -> Summary:
        """List what is known of the model; None where none was passed."""
        return {"gap": None if facts.figures.gap is None else gap_values(facts.figures.gap)}

    def text(self, summary: Summary) -> list[Block]:
        """Return what can be won, and where."""
        gap = summary["gap"]
        table = TextTable(("", gap["title"], f"{exact_percent(gap['confidence'])} range"), self._rows(gap))
        blocks: list[Block] = [Paragraph(gap["sentence"]), table]
        if (places := _places(gap)).rows:
            blocks += [Subheading("Where it errs more"), places]
        return [*blocks, Paragraph(gap["note"])]

    def _rows(self, gap: Summary) -> list[tuple[str, str, str]]:
        is_rate = gap["is_rate"]
        rows = [
            (each["name"], written(each["value"], is_rate), written_range(each["low"], each["high"], is_rate))
            for each in gap["figures"]
        ]
        return rows + [(each["name"], *_as_difference(each, is_rate)) for each in (gap["sure"], gap["possible"])]

    def drawn(self, summary: Summary) -> dict[str, Any]:
        """Prepare the table of its figures."""
        return {"rows": self._rows(summary["gap"]), "signed": signed, "p_of": p_of}


def gap_values(gap: FloorGap) -> Summary:
    """List what is known of a model beside the floor, as plain values.

    Parameters
    ----------
    gap : FloorGap
        The comparison.

    Returns
    -------
    dict
    """
    plain, limit = gap.to_dict(), limit_word(gap.floor.larger_is_better)
    figures = [
        _figure("your model", gap.value, gap.value_interval),
        _figure("stack of models", gap.reached, gap.reached_interval),
        _figure(f"the {limit}", gap.estimate, gap.interval),
    ]
    kept = ("sentence", "name", "origin", "n_tested", "confidence", "is_sure", "p_value")
    return {
        **{name: plain[name] for name in kept},
        "metric": gap.metric,
        "title": gap.floor.title,
        "is_rate": gap.floor.is_rate,
        "figures": figures,
        "sure": _figure("more than the stack", gap.sure_gap, gap.sure_gap_interval),
        "possible": _figure(f"from there to the {limit}", gap.possible_gap, gap.possible_gap_interval),
        "classes": [each | {"label": str(each["label"])} for each in plain["by_class"]],
        "pairs": [
            each | {"first": str(each["first"]), "second": str(each["second"])}
            for each in plain["by_pair"][:_MOST_PAIRS]
        ],
        "n_pairs": len(plain["by_pair"]),
        "note": _note(gap),
    }


def _figure(name: str, value: float, interval: tuple[float, float]) -> Summary:
    return {"name": name, "value": value, "low": interval[0], "high": interval[1]}


def _note(gap: FloorGap) -> str:
    """Say what the comparison rests on."""
    how = {
        "cross-fitted": "The model was trained anew on each training set of the stack, and judged on the same rows.",
        "fitted": "The model predicted the rows as it is; that it has not seen them is taken on trust.",
        "predictions": "That the predictions are by models that had not seen the rows is taken on trust.",
    }
    if gap.metric != "error":
        return f"{how[gap.origin]} The p-value is of Student’s test, by groups where rows belong together."
    return (
        f"{how[gap.origin]} P-values are of McNemar’s exact test, by groups where rows belong together; those of "
        "classes and pairs are corrected together by Holm’s method."
    )


def _as_difference(each: Summary, is_rate: bool) -> tuple[str, str]:
    if not is_rate:
        return figure(each["value"]), f"{figure(each['low'])} to {figure(each['high'])}"
    return f"{signed(each['value'])} points", f"{signed(each['low'])} to {signed(each['high'])}"


def signed(rate: float) -> str:
    """Write a difference of rates in points, with its sign where it is below 0."""
    return f"-{points(-rate)}" if rate < 0.0 else points(rate)


def _places(gap: Summary) -> TextTable:
    """List where the model errs more: pairs of classes; of two classes, the classes."""
    if len(gap["classes"]) <= 2:
        rows: list[Any] = [(each["label"], *_row_of(each)) for each in gap["classes"]]
        return TextTable(("true class", "your model", "stack", "more", "p"), rows, n_rows=len(rows))
    rows = [(each["first"], each["second"], *_row_of(each)) for each in gap["pairs"]]
    return TextTable(("first", "second", "your model", "stack", "more", "p"), rows, (0, 1), gap["n_pairs"])


def _row_of(each: Summary) -> tuple[str, ...]:
    return percent(each["error"]), percent(each["reached"]), signed(each["gap"]), p_of(each["p_adjusted"])


def p_of(p_value: float | None) -> str:
    """Write a p-value without its letter."""
    return NOTHING if p_value is None else p_text(p_value).removeprefix("p ").removeprefix("= ")
