"""Rare classes: how high their rows are ranked, and what more of them would bring."""

from dataclasses import replace

import numpy as np

from bayesfloor.floor.learned.caller_choices import MIN_FOLDS
from bayesfloor.floor.learned.result import ClassRanking, LearnedFloor
from bayesfloor.floor.learned.summary import is_rare
from bayesfloor.report.blocks import MARKDOWN, Block, Paragraph, Summary, TextTable
from bayesfloor.report.figures import ClassFigures
from bayesfloor.report.metric_words import in_text
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.runtime.text import counted, percent

#: Rare classes that are listed, the largest first.
_MOST_RARE = 20
#: Rare classes of which a paragraph says what more rows would bring.
_MOST_NEEDED = 3


class Rare(Section[ClassFigures]):
    """Rare classes, the largest first."""

    key = "rare"
    title = "Rare classes"

    def data(self, facts: Facts[ClassFigures]) -> Summary:
        """List the rare classes with how high their rows are ranked; None where there are none."""
        learned = facts.figures.learned
        rare = [] if learned is None else sorted(rare_classes(learned), key=lambda each: -each.n_samples)
        if learned is None or not rare:
            return {"rare": None}
        rows = [
            {
                "name": str(each.label),
                "n_rows": each.n_samples,
                "n_used": each.n_rows,
                "share": each.share,
                "auc": each.auc,
                "auc_low": each.auc_interval[0],
                "auc_high": each.auc_interval[1],
                "average_precision": each.average_precision,
                "recall_at_top": each.recall_at_top,
                "recall_at_precision": each.recall_at_precision,
                "auc_by_size": list(each.auc_by_size),
                "needed": more_of_class(each, learned),
            }
            for each in rare[:_MOST_RARE]
        ]
        return {"rare": {"rows": rows, "n_classes": len(rare), "note": _note(learned)}}

    def words(self, facts: Facts[ClassFigures]) -> dict[str, str]:
        """Explain why an error hides them."""
        return {
            "Rare classes": (
                "Never naming a rare class costs next to nothing, so the error hides how well it can be found. The AUC "
                "is the chance that one of its rows is ranked above a row of another class: 0.5 is chance, 1 is "
                "perfect. The recall is the share of its rows that are found."
            )
        }

    def text(self, summary: Summary) -> list[Block]:
        """Return the table, and what more rows of the largest would bring."""
        rare = summary["rare"]
        rows = [
            (
                each["name"],
                counted(each["n_rows"]),
                percent(each["share"]),
                f"{each['auc']:.3f}",
                f"{each['auc_low']:.3f}–{each['auc_high']:.3f}",
                percent(each["recall_at_top"]),
                percent(each["recall_at_precision"]),
                f"{each['average_precision']:.3f}",
            )
            for each in rare["rows"]
        ]
        headings = ("class", "rows", "share", "ROC AUC", "range", "in the top 1%", "at precision 50%", "avg. precision")
        needed = [Paragraph(each["needed"]) for each in rare["rows"][:_MOST_NEEDED]]
        table = TextTable(headings, rows, n_rows=rare["n_classes"])
        return [table, Paragraph(rare["note"], only=MARKDOWN), *needed]


def rare_classes(learned: LearnedFloor) -> list[ClassRanking]:
    """Return the rare classes that have enough rows to be trained and tested on."""
    are_rare = is_rare(np.array([each.share for each in learned.ranking]))
    rare = [each for each, is_one in zip(learned.ranking, are_rare, strict=True) if is_one and each.n_rows >= MIN_FOLDS]
    if learned.n_classes == 2 and "roc_auc" in learned.metrics:  # one figure has one range on one page
        return [replace(each, auc_interval=learned.metrics["roc_auc"].reached_interval) for each in rare]
    return rare


def more_of_class(ranking: ClassRanking, learned: LearnedFloor) -> str:
    """Say what more rows of a rare class would bring, and what that rests on."""
    name, n = in_text(ranking.label), ranking.n_rows
    low, high = ranking.auc_interval
    shares = learned.curve.size / learned.n_rows
    trained = [counted(max(round(n * share), 0)) for share in shares[::-1]]
    reached = [f"{auc:.3f}" for auc in ranking.auc_by_size[::-1]]
    text = (
        f"The AUC's range, {low:.3f} to {high:.3f}, rests on {counted(n)} rows of {name}; about {counted(4 * n)} would "
        f"halve it. With {_joined(trained)} of them in training the AUC was {_joined(reached)}"
    )
    if not ranking.is_rising:
        return f"{text}: no gain that {counted(n)} rows could show."
    gain = ranking.auc_by_size[0] - ranking.auc_by_size[1]
    before = ranking.auc_by_size[1] - ranking.auc_by_size[2]
    ahead = gain * min(gain / before, 1.0) if before > 0 else gain
    ahead = min(ahead, 1.0 - ranking.auc)
    return f"{text}: it still rises, and twice as many would win about {ahead:.3f} more if that goes on."


def _note(learned: LearnedFloor) -> str:
    """Say what the figures of rare classes are measured on."""
    note = (
        "Rows are ranked by the probability of the class, from models that were not trained on them. The AUC is the "
        "chance that a row of the class is ranked above any other row; average precision equals the share by chance."
    )
    if any(each.n_rows > each.share * learned.n_rows + 1 for each in rare_classes(learned)):
        note += (
            f" Of the {counted(learned.n_samples)} rows {counted(learned.n_rows)} were used, with more of the rare "
            "classes than their share; all figures are weighted back to it."
        )
    return note


def _joined(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"
