"""What decisions cost, where the money goes, and which class weights follow."""

import numpy as np

from bayesfloor.floor.learned.result import CostDecisions, LearnedFloor
from bayesfloor.report.blocks import Block, Paragraph, Summary, TextTable
from bayesfloor.report.figures import ClassFigures
from bayesfloor.report.metric_words import in_text
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.runtime.text import exact_percent, figure, percent, written_range

#: True classes and decisions that cost something, at the most, the dearest first.
_MOST_COSTS = 100


class Costs(Section[ClassFigures]):
    """What decisions cost, the dearest first."""

    key = "costs"
    title = "Where the money goes"
    tasks = ("classification",)

    def data(self, facts: Facts[ClassFigures]) -> Summary:
        """List what decisions cost, and what follows from the costs; None without costs."""
        learned = facts.figures.learned
        return {"costs": None if learned.cost is None else _costs(learned, learned.cost)}

    def text(self, summary: Summary) -> list[Block]:
        """Return what follows from the costs, and the tables."""
        costs = summary["costs"]
        rows = [
            (
                each["label"],
                each["decision"],
                figure(each["cost"]),
                percent(each["rows"]),
                figure(each["cost_per_row"]),
                percent(each["share"]),
            )
            for each in costs["rows"]
        ]
        headings = ("true class", "decision", "cost", "of the rows", "cost per row", "of the cost")
        blocks: list[Block] = [Paragraph(note) for note in costs["notes"]]
        blocks.append(TextTable(headings, rows, (0, 1), costs["n_pairs"]))
        if costs["class_weights"] is not None:
            weights = [(each["name"], figure(each["weight"])) for each in costs["class_weights"]]
            blocks.append(TextTable(("class", "weight"), weights))
        return blocks


def _costs(learned: LearnedFloor, cost: CostDecisions) -> Summary:
    n_classes, n_decisions = cost.costs.shape
    total, has_gains = float(cost.pair_costs.sum()), bool(cost.pair_costs.min() < 0.0)
    order = np.argsort(-cost.pair_costs, axis=None, kind="stable").tolist()
    pairs = [pair for pair in (divmod(place, n_decisions) for place in order) if cost.pair_costs[pair] != 0.0]
    rows = [
        {
            "label": str(cost.classes[k]),
            "decision": cost.decisions[j],
            "is_right": k == j,
            "cost": float(cost.costs[k, j]),
            "rows": float(cost.pair_rows[k, j]),
            "cost_per_row": float(cost.pair_costs[k, j]),
            "share": None if has_gains or total <= 0.0 else float(cost.pair_costs[k, j]) / total,
        }
        for k, j in pairs[:_MOST_COSTS]
    ]
    weights = None
    if cost.class_weights is not None:
        named = zip(cost.classes, cost.class_weights, strict=True)
        weights = [{"name": str(label), "weight": float(weight)} for label, weight in named]
    return {
        "notes": notes_on_costs(learned),
        "rows": rows,
        "n_pairs": len(pairs),
        "undecided": float(cost.pair_rows[:, -1].sum()) if n_decisions > n_classes else None,
        "class_weights": weights,
    }


def notes_on_costs(learned: LearnedFloor) -> list[str]:
    """Say what decisions cost, where most of it goes, how many rows are not decided, and which weights follow."""
    cost, metric = learned.cost, learned.metrics["cost"]
    assert cost is not None
    level = exact_percent(learned.confidence)
    notes = [
        f"Deciding by these costs, the stack of models pays {figure(metric.reached)} per row; the floor is about "
        f"{figure(metric.estimate)} ({level} range {written_range(*metric.interval, False)}), and the best decision "
        f"without features costs {figure(metric.baseline)}."
    ]
    if dearest := dearest_decision(cost):
        notes.append(f"{dearest}.")
    n_classes = len(cost.classes)
    if cost.costs.shape[1] > n_classes:
        share, paid = float(cost.pair_rows[:, -1].sum()), float(cost.pair_costs[:, -1].sum())
        notes.append(f"{percent(share)} of the rows are not decided, which costs {figure(paid)} per row.")
    notes.append(_note_on_weights(cost))
    return notes


def dearest_decision(cost: CostDecisions) -> str:
    """Name the true class and the decision that cost the most; nothing where some decisions are gains."""
    total = float(cost.pair_costs.sum())
    if total <= 0.0 or cost.pair_costs.min() < 0.0:
        return ""
    k, j = divmod(int(cost.pair_costs.argmax()), cost.pair_costs.shape[1])
    share = percent(float(cost.pair_costs[k, j]) / total)
    return f"{share} of the cost is for {_in_words(cost, k, j)}"


def _in_words(cost: CostDecisions, k: int, j: int) -> str:
    """Say what is decided for a row of a class."""
    name = in_text(cost.classes[k])
    if j == len(cost.classes):
        return f"not deciding on {name}"
    return f"naming {name} rightly" if j == k else f"taking {name} for {in_text(cost.classes[j])}"


def _note_on_weights(cost: CostDecisions) -> str:
    if cost.class_weights is not None:
        return (
            "A learner that knows no costs comes to the same decisions with the class weights below: a mistake costs "
            "the same whatever a row is taken for."
        )
    if cost.costs.shape[1] > len(cost.classes):
        why = "no weight says when not to decide"
    else:
        why = "what a mistake costs depends on what a row is taken for, not on its true class alone"
    return f"No class weights lead to the same decisions: {why}. Take the decision of the least expected cost instead."
