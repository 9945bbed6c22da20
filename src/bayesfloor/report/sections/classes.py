"""Which classes, and which two of them, are hard to tell apart, and the tree that parts them."""

from typing import Any

import numpy as np

from bayesfloor.floor.trees.results import OneVsRestBayesError, PairwiseBayesError
from bayesfloor.report.blocks import Block, Lines, Paragraph, Summary, TextTable, range_of
from bayesfloor.report.figures import ClassFigures
from bayesfloor.report.page.heat_map import heat_map
from bayesfloor.report.page.svg import both_widths
from bayesfloor.report.page.tree import class_tree
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.runtime.text import counted, percent

#: Pairs of classes, at the most; 100 classes have 4950.
_MOST_PAIRS = 500
#: Columns of the tables of classes and of pairs, after the names.
_ESTIMATES = ("rows", "trees' estimate", "range", "of its maximum", "best model")


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

    def words(self, facts: Facts[ClassFigures]) -> dict[str, str]:
        """Explain what a cut is."""
        return {
            "The class tree": (
                "Classes cut in two, again and again, where they are easiest to tell apart. Each cut is a binary "
                "problem; its figure adds up the overlap across it."
            )
        }

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
        return {"chart": both_widths(lambda width: class_tree(summary["tree"], width))}


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
