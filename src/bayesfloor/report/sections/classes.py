"""Which classes, and which two of them, are confused, the class tree, and classes that are rare."""

from dataclasses import replace
from typing import Any

import numpy as np

from bayesfloor.floor.learned.counted_rows import is_rare
from bayesfloor.floor.learned.result import ClassRanking, LearnedFloor
from bayesfloor.floor.learned.row_plan import MIN_FOLDS
from bayesfloor.floor.trees.results import PairwiseBayesError
from bayesfloor.report.blocks import MARKDOWN, Block, Lines, Paragraph, Summary, TextTable, range_of
from bayesfloor.report.confusions import Confusions
from bayesfloor.report.figures import ClassFigures
from bayesfloor.report.metric_words import in_text
from bayesfloor.report.page.heat_map import heat_map
from bayesfloor.report.sections.notes import findings_text, sorted_findings
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.runtime.text import NOTHING, counted, percent

#: Pairs of classes, at the most; 100 classes have 4950.
_MOST_PAIRS = 500
#: What the figures of pairs are.
_NOTE_ON_PAIRS = "Of the rows of two classes, the share that models took for the other one while they were held out."
#: Rare classes that are listed, the largest first.
_MOST_RARE = 20
#: Rare classes of which a paragraph says what more rows would bring.
_MOST_NEEDED = 3


class Classes(Section[ClassFigures]):
    """All classes, the hardest first."""

    key = "classes"
    title = "Classes"
    tasks = ("classification",)

    def data(self, facts: Facts[ClassFigures]) -> Summary:
        """List what models do with the rows of each class."""
        pairs, learned, confused = facts.figures.pairs, facts.figures.learned, facts.figures.confusions
        total = int(pairs.class_counts.sum())
        rows = [
            {
                "name": str(pairs.classes[k]),
                "n_rows": int(pairs.class_counts[k]),
                "share": int(pairs.class_counts[k]) / total,
                **_confused(confused, k, pairs.classes),
                "reached": float(learned.class_reached[k]),
                "auc": learned.ranking[k].auc,
            }
            for k in facts.figures.class_order.tolist()
        ]
        return {"classes": rows}

    def words(self, facts: Facts[ClassFigures]) -> dict[str, str]:
        """Explain what is missed."""
        if len(facts.figures.pairs.classes) < 3:
            return {}
        return {
            "Classes and pairs": "Missed: rows of a class that models took for another one. False alarms: rows taken "
            "for it that are of another one. The order is by the lower end of the range of these shares, so that a "
            "class of a few rows is not first by chance."
        }

    def is_shown(self, summary: Summary) -> bool:
        """Tell whether there are more than two: of two, each has the figures of the whole."""
        return len(summary["classes"]) > 2

    def text(self, summary: Summary) -> list[Block]:
        """Return the table."""
        rows = [
            (
                each["name"],
                counted(each["n_rows"]),
                percent(each["missed"]),
                each["taken_for"] or NOTHING,
                percent(each["false_alarms"]),
            )
            for each in summary["classes"]
        ]
        return [TextTable(("class", "rows", "missed", "mostly for", "false alarms"), rows, (0, 3))]


def _confused(confused: Confusions, k: int, classes: Any) -> Summary:
    """Return what models miss of a class, what they take it for, and what they take for it."""
    other = confused.taken_for(k)
    return {
        "missed": float(confused.missed[k]),
        "taken_for": None if other is None else str(classes[other]),
        "false_alarms": float(confused.false_alarms[k]),
    }


class Pairs(Section[ClassFigures]):
    """Pairs of classes, the hardest first."""

    key = "pairs"
    title = "Which classes are confused"
    tasks = ("classification",)

    def data(self, facts: Facts[ClassFigures]) -> Summary:
        """List the hardest pairs, and all of the classes that are drawn."""
        figures = facts.figures
        pairs, n_classes = figures.pairs, len(figures.pairs.classes)
        confused = figures.confusions.of_pairs
        leaves = np.searchsorted(pairs.classes, figures.drawn_tree.leaves).tolist()
        rows = [
            {
                "first": str(pairs.classes[a]),
                "second": str(pairs.classes[b]),
                "n_rows": int(pairs.class_counts[a] + pairs.class_counts[b]),
                "confused": float(confused[a, b]),
            }
            for a, b in figures.pair_order[:_MOST_PAIRS].tolist()
        ]
        shown = {
            "n_pairs": n_classes * (n_classes - 1) // 2,
            "names": [str(pairs.classes[code]) for code in leaves],
            "confused": _matrix(confused, leaves),
            "rows": rows,
        }
        return {"pairs": shown}

    def is_shown(self, summary: Summary) -> bool:
        """Tell whether there is more than one pair, which has the figures of the whole."""
        return bool(summary["pairs"]["n_pairs"] > 1)

    def text(self, summary: Summary) -> list[Block]:
        """Return the table."""
        pairs = summary["pairs"]
        rows = [
            (each["first"], each["second"], counted(each["n_rows"]), percent(each["confused"]))
            for each in pairs["rows"]
        ]
        headings = ("class", "against", "rows", "confused")
        return [Paragraph(_NOTE_ON_PAIRS), TextTable(headings, rows, (0, 1), pairs["n_pairs"])]

    def drawn(self, summary: Summary) -> dict[str, Any]:
        """Prepare the heat map."""
        pairs = summary["pairs"]
        return {"heat": heat_map(pairs), "note": _NOTE_ON_PAIRS}


def _matrix(values: Any, leaves: list[int]) -> list[list[float | None]]:
    return [[None if a == b else float(values[a, b]) for b in leaves] for a in leaves]


class Tree(Section[ClassFigures]):
    """The class tree, and the floors of pairs that it comes from."""

    key = "tree"
    title = "Class tree"
    meaning = (
        "Spanning trees join each row to near ones; where many edges run between two classes, these overlap. 'Of its "
        "maximum' divides the estimate by the error of always predicting the commoner one: 0% is no overlap. The class "
        "tree parts classes where these shares add up to the least."
    )
    tasks = ("classification",)
    is_detail = True

    def data(self, facts: Facts[ClassFigures]) -> Summary:
        """List the tree as it is shown, all of it, and the floors that it comes from."""
        figures = facts.figures
        tree, pairs, whole = figures.drawn_tree, figures.pairs, figures.class_tree
        shown = {
            "text": tree.to_text(),
            "n_classes": len(tree.classes),
            "note": _note_on_tree(int(pairs.class_counts.sum()), len(facts.source.problem.X)),
            "pairs": [_floor_of_pair(pairs, a, b) for a, b in pairs.by_hardness()[:_MOST_PAIRS].tolist()],
            "whole": {
                "classes": [str(label) for label in whole.classes],
                "children": whole.children.tolist(),
                "floors": [float(node.cut) for node in whole.nodes],
            },
        }
        return {"tree": shown}

    def is_shown(self, summary: Summary) -> bool:
        """Tell whether there is more than one cut."""
        return summary["tree"]["n_classes"] > 2

    def text(self, summary: Summary) -> list[Block]:
        """Return the tree, line by line, the floors of the pairs, and what was found in these."""
        tree, n_classes = summary["tree"], summary["data"]["n_classes"]
        rows = [
            (
                each["first"],
                each["second"],
                counted(each["n_rows"]),
                percent(each["floor"]),
                range_of(each),
                percent(each["normalized"]),
            )
            for each in tree["pairs"]
        ]
        headings = ("class", "against", "rows", "trees' estimate", "range", "of its maximum")
        blocks: list[Block] = [Paragraph(tree["note"])]
        if tree["n_classes"] < n_classes:
            blocks.append(Paragraph(f"The tree of the {tree['n_classes']} hardest of {counted(n_classes)} classes."))
        blocks += [Lines(tree["text"].splitlines()), TextTable(headings, rows, (0, 1), summary["pairs"]["n_pairs"])]
        found = sorted_findings(summary).of_trees
        return [*blocks, *findings_text(found)] if found else blocks

    def drawn(self, summary: Summary) -> dict[str, Any]:
        """Choose the findings."""
        return {"of_trees": sorted_findings(summary).of_trees}


def _note_on_tree(n_used: int, n_rows: int) -> str:
    """Say what the floors of pairs are, and how many rows they are from."""
    note = (
        "Floors of every two classes, by edges of spanning trees between them and without any model. They tend to be "
        "too high with many columns or few rows."
    )
    if n_used == n_rows:
        return note
    return f"{note} They are from {counted(n_used)} of the rows, as large a share of each class."


def _floor_of_pair(pairs: PairwiseBayesError, a: int, b: int) -> Summary:
    low, high = map(float, pairs.interval[a, b])
    return {
        "first": str(pairs.classes[a]),
        "second": str(pairs.classes[b]),
        "n_rows": int(pairs.class_counts[a] + pairs.class_counts[b]),
        "floor": float(pairs.estimate[a, b]),
        "low": low,
        "high": high,
        "normalized": float(pairs.normalized[a, b]),
    }


class Rare(Section[ClassFigures]):
    """Rare classes, the largest first."""

    key = "rare"
    title = "Rare classes"
    tasks = ("classification",)
    meaning = (
        "Never predicting a rare class costs next to nothing, so the error hides how well it can be found. The AUC "
        "is the chance that one of its rows is ranked above another row; the recall is the share of its rows that "
        "are found."
    )

    def data(self, facts: Facts[ClassFigures]) -> Summary:
        """List the rare classes with how high their rows are ranked; None where there are none."""
        learned = facts.figures.learned
        rare = sorted(rare_classes(learned), key=lambda each: -each.n_samples)
        if not rare:
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
                "needed": more_of_class(each),
            }
            for each in rare[:_MOST_RARE]
        ]
        return {"rare": {"rows": rows, "n_classes": len(rare), "note": _note_on_ranking(learned)}}

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


def more_of_class(ranking: ClassRanking) -> str:
    """Say how many rows of a rare class its figures rest on, and what more would bring."""
    name, n = in_text(ranking.label), ranking.n_rows
    low, high = ranking.auc_interval
    return (
        f"The AUC's range, {low:.3f} to {high:.3f}, rests on {counted(n)} rows of {name}; about {counted(4 * n)} would "
        "halve it."
    )


def _note_on_ranking(learned: LearnedFloor) -> str:
    """Say what the figures of rare classes are measured on."""
    note = (
        "Rows are ranked by the probability of the class, from models that were not trained on them. By chance, the "
        "AUC is 0.5 and the average precision the class's share."
    )
    if any(each.n_rows > each.share * learned.n_rows + 1 for each in rare_classes(learned)):
        note += (
            f" Of the {counted(learned.n_samples)} rows {counted(learned.n_rows)} were used, with more of the rare "
            "classes than their share; all figures are weighted back to it."
        )
    return note
