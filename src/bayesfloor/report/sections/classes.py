"""Which classes, and which two of them, are hard to tell apart, the tree that parts them, and classes that are rare."""

from dataclasses import replace
from typing import Any

import numpy as np

from bayesfloor.floor.learned.counted_rows import is_rare
from bayesfloor.floor.learned.result import ClassRanking, LearnedFloor
from bayesfloor.floor.learned.row_plan import MIN_FOLDS
from bayesfloor.floor.trees.results import OneVsRestBayesError, PairwiseBayesError
from bayesfloor.report.blocks import MARKDOWN, Block, Lines, Paragraph, Summary, TextTable, range_of
from bayesfloor.report.figures import ClassFigures
from bayesfloor.report.metric_words import in_text
from bayesfloor.report.page.class_charts import class_tree, heat_map
from bayesfloor.report.page.svg import both_widths
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.runtime.text import counted, percent

#: Pairs of classes, at the most; 100 classes have 4950.
_MOST_PAIRS = 500
#: Columns of the tables of classes and of pairs, after the names.
_ESTIMATES = ("rows", "trees' estimate", "range", "of its maximum", "best model")
#: Rare classes that are listed, the largest first.
_MOST_RARE = 20
#: Rare classes of which a paragraph says what more rows would bring.
_MOST_NEEDED = 3


class Classes(Section[ClassFigures]):
    """All classes, the hardest first."""

    key = "classes"
    title = "Classes"

    def data(self, facts: Facts[ClassFigures]) -> Summary:
        """List what spanning trees say of each class against the rest, and what models reached."""
        floors, learned = facts.figures.classes, facts.figures.learned
        total = int(floors.class_counts.sum())
        rows = [
            {
                "name": str(floors.classes[k]),
                "n_rows": int(floors.class_counts[k]),
                "share": int(floors.class_counts[k]) / total,
                **_estimate(floors, k),
                "reached": None if learned is None else float(learned.class_reached[k]),
                "auc": None if learned is None else learned.ranking[k].auc,
            }
            for k in floors.by_hardness()
        ]
        return {"classes": rows}

    def words(self, facts: Facts[ClassFigures]) -> dict[str, str]:
        """Explain what the figures from spanning trees are."""
        text = (
            "Minimum spanning trees join each row to near ones. Where many of their edges run between two classes, the "
            "classes overlap. The estimate is among the rows concerned; 'of its maximum' divides it by the error of "
            "always naming the larger side, so 0% is no overlap and 100% is hopeless. The order is by the lower end "
            "of the range, so that a class of a few rows is not first by chance."
        )
        if facts.figures.learned is not None:
            text += " The models' error at the same task stands beside it: where that is lower, believe the model."
        return {"Classes and pairs": text}

    def text(self, summary: Summary) -> list[Block]:
        """Return what the figures are worth, and the table."""
        rows = [(each["name"], *_estimates(each, each["reached"])) for each in summary["classes"]]
        table = TextTable(("class", *_ESTIMATES), rows, wide_only="rows")
        return [Paragraph(summary["floor"]["trees"]["note"]), table]


class Pairs(Section[ClassFigures]):
    """Pairs of classes, the hardest first."""

    key = "pairs"
    title = "Pairs of classes"

    def data(self, facts: Facts[ClassFigures]) -> Summary:
        """List the hardest pairs, and all of the classes that are drawn."""
        figures = facts.figures
        pairs, learned = figures.pairs, figures.learned
        n_classes = len(pairs.classes)
        leaves = np.searchsorted(pairs.classes, figures.drawn_tree.leaves).tolist()
        rows = [
            {
                "first": str(pairs.classes[a]),
                "second": str(pairs.classes[b]),
                "n_rows": int(pairs.class_counts[a] + pairs.class_counts[b]),
                **_estimate(pairs, (a, b)),
                "confused": None if learned is None else float(learned.pair_reached[a, b]),
            }
            for a, b in pairs.by_hardness()[:_MOST_PAIRS]
        ]
        shown = {
            "n_pairs": n_classes * (n_classes - 1) // 2,
            "names": [str(pairs.classes[code]) for code in leaves],
            "matrix": [[None if a == b else float(pairs.normalized[a, b]) for b in leaves] for a in leaves],
            "rows": rows,
        }
        return {"pairs": shown}

    def is_shown(self, summary: Summary) -> bool:
        """Tell whether there is a pair."""
        return bool(summary["pairs"]["rows"])

    def text(self, summary: Summary) -> list[Block]:
        """Return the table; a single pair has the figures of its classes."""
        pairs = summary["pairs"]
        if pairs["n_pairs"] < 2:
            return []
        rows = [(each["first"], each["second"], *_estimates(each, each["confused"])) for each in pairs["rows"]]
        return [TextTable(("first", "second", *_ESTIMATES), rows, (0, 1), pairs["n_pairs"], wide_only="rows")]

    def drawn(self, summary: Summary) -> dict[str, Any]:
        """Prepare the heat map."""
        return {"heat": heat_map(summary["pairs"], summary["floor"]["confidence"])}


class Tree(Section[ClassFigures]):
    """The class tree."""

    key = "tree"
    title = "Class tree"
    meaning = (
        "Classes cut in two, again and again, where they are easiest to tell apart. Each cut is a binary "
        "problem; its figure adds up the overlap across it."
    )

    def data(self, facts: Facts[ClassFigures]) -> Summary:
        """List the tree as it is drawn, and all of it."""
        figures = facts.figures
        tree = figures.drawn_tree
        names = [str(label) for label in tree.classes]
        nested: list[list[Any]] = [[] for _ in tree.nodes]
        for index, pair in enumerate(tree.children.tolist()):
            nested[index] += [nested[child] if child >= 0 else names[~child] for child in pair]
        nodes = [
            {
                "left": [names[code] for code in node.left],
                "right": [names[code] for code in node.right],
                "floor": float(node.cut),
            }
            for node in tree.nodes
        ]
        whole = figures.class_tree
        shown = {
            "text": tree.to_text(),
            "nested": nested[0],
            "nodes": nodes,
            "n_classes": len(names),
            "whole": {
                "classes": [str(label) for label in whole.classes],
                "children": whole.children.tolist(),
                "floors": [float(node.cut) for node in whole.nodes],
            },
        }
        return {"tree": shown}

    def is_shown(self, summary: Summary) -> bool:
        """Tell whether there is a cut."""
        return bool(summary["tree"]["nodes"])

    def text(self, summary: Summary) -> list[Block]:
        """Return the tree, line by line."""
        drawn, n_classes = summary["tree"]["n_classes"], summary["data"]["n_classes"]
        blocks: list[Block] = [Lines(summary["tree"]["text"].splitlines())]
        if drawn < n_classes:
            blocks.insert(0, Paragraph(f"The tree of the {drawn} hardest of {counted(n_classes)} classes."))
        return blocks

    def drawn(self, summary: Summary) -> dict[str, Any]:
        """Draw the tree."""
        return {"chart": both_widths(class_tree, summary["tree"])}


def _estimate(floors: OneVsRestBayesError | PairwiseBayesError, of: Any) -> dict[str, float]:
    """Return the floor of a class or a pair, by its code or codes."""
    low, high = map(float, floors.interval[of])
    return {
        "floor": float(floors.estimate[of]),
        "low": low,
        "high": high,
        "normalized": float(floors.normalized[of]),
    }


def _estimates(each: Summary, reached: float | None) -> tuple[str, ...]:
    """Write the figures of a class or a pair."""
    rates = percent(each["floor"]), range_of(each), percent(each["normalized"]), percent(reached)
    return counted(each["n_rows"]), *rates


class Rare(Section[ClassFigures]):
    """Rare classes, the largest first."""

    key = "rare"
    title = "Rare classes"
    meaning = (
        "Never naming a rare class costs next to nothing, so the error hides how well it can be found. The AUC "
        "is the chance that one of its rows is ranked above a row of another class: 0.5 is chance, 1 is "
        "perfect. The recall is the share of its rows that are found."
    )

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


def _note_on_ranking(learned: LearnedFloor) -> str:
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
