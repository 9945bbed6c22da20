"""Figures -> one plain dict, from which everything that a reader sees is made.

Rates are shares from 0 to 1; names are text as it is, and each renderer escapes it. The README beside this file
lists the keys.
"""

from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from bayesfloor.data.prepared_table import ColumnSummary
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.result import LearnedFloor, MetricFloor
from bayesfloor.floor.learned.rules import ERR_ALIKE
from bayesfloor.floor.trees.results import OneVsRestBayesError, PairwiseBayesError
from bayesfloor.report import metric_sentences, sentences
from bayesfloor.report.columns import ColumnFloors
from bayesfloor.report.figures import Figures
from bayesfloor.report.gap import gap_values
from bayesfloor.report.metric_sentences import metric_of
from bayesfloor.report.source import AnySource, Source

#: Pairs of classes, at the most; 100 classes have 4950.
MOST_PAIRS = 500
#: Columns that are listed, the most telling first, and as many that were left out.
MOST_LISTED = 100
#: Rare classes that are listed, the largest first.
MOST_RARE = 20
#: Columns shown beside a row to look at, at the most.
MOST_COLUMNS = 8
#: True classes and decisions that cost something, at the most, the dearest first.
MOST_COSTS = 100
#: A learning curve is drawn up to this many times the largest training size.
_AHEAD = 8.0
#: Name and version of the layout of the summary, as in cli/schemas.json.
SCHEMA = "bayesfloor/summary/1"


def summarise(
    source: Source[Problem], figures: Figures, fast: bool, target: float | None, command: str
) -> dict[str, Any]:
    """Put everything that a report shows into one dict of plain values.

    Parameters
    ----------
    source : Source
        What the report is about.
    figures : Figures
        What was computed.
    fast : bool
        Whether models were left out on purpose.
    target : float or None
        The error, or value of the first metric, that the reader hopes for.
    command : str
        What makes this report again.

    Returns
    -------
    dict
    """
    learned = figures.learned
    n_rows = len(source.problem.X)
    return {
        **made(source),
        "task": "classification",
        "answer": sentences.answer(figures),
        "worth": sentences.worth(figures, fast),
        "verdict": None if target is None else sentences.verdict(figures, target),
        "data": {
            **data_of(source, figures.columns),
            "n_classes": len(source.problem.classes),
            "notes": [*source.notes, *_rows_used(figures, n_rows)],
            "columns_note": sentences.note_on_columns(figures.columns, len(source.columns), MOST_LISTED),
        },
        "rare": None if learned is None else _rare(learned),
        "findings": [asdict(found) for found in figures.findings],
        "floor": _floor(figures),
        "metrics": [] if learned is None else [metric_values(each) for each in learned.metrics.values()],
        "costs": None if learned is None or learned.cost is None else _costs(learned),
        "fast_model": _fast_model(figures),
        "gap": None if figures.gap is None else gap_values(figures.gap),
        "curve": None if learned is None else curve_of(metric_of(learned), learned.residual_z > ERR_ALIKE),
        "subgroups": None if learned is None else _subgroups(learned),
        "learners": [] if learned is None else [{"name": k, "weight": v} for k, v in learned.weights.items()],
        "classes": _classes(figures),
        "pairs": _pairs(figures),
        "suspects": _suspects(source, figures),
        "tree": _tree(figures),
        "features": _features(source, figures),
        "how_to_read": sentences.how_to_read(figures),
        "command": command,
        "seconds": 0.0,
    }


def _rows_used(figures: Figures, n_rows: int) -> list[str]:
    if len(figures.tree_rows) == n_rows:
        return []
    return [f"Spanning trees were grown on {len(figures.tree_rows)} of the rows, as large a share of each class."]


def made(source: AnySource) -> dict[str, Any]:
    """Say what the report is on, and by which version it was made when."""
    return {
        "schema": SCHEMA,
        "version": version("bayesfloor"),
        "title": source.title,
        "created": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def data_of(source: AnySource, measured: ColumnFloors) -> dict[str, Any]:
    """List what is known of the data: sizes, what was done to them, and the columns."""
    n_rows, n_features = source.problem.X.shape
    return {
        "source": source.title,
        "target": source.target,
        "n_rows": n_rows,
        "n_samples": source.n_samples,
        "n_features": n_features,
        "notes": list(source.notes),
        "cautions": list(source.cautions),
        "columns": _columns(source, measured),
        "n_columns": len(source.columns),
    }


def _columns(source: AnySource, measured: ColumnFloors) -> list[dict[str, Any]]:
    """List the columns, the most telling first, and then those that were left out."""
    known = {column.name: column for column in source.column_summaries}
    rows = []
    for place in np.argsort(-measured.removed, kind="stable")[:MOST_LISTED].tolist():
        name = source.columns[place]
        alone = {
            "floor": float(measured.floor[place]),
            "removed": float(measured.removed[place]),
            "low": float(measured.interval[place, 0]),
            "high": float(measured.interval[place, 1]),
        }
        rows.append(_column(name, known.get(name)) | {"n_features": len(source.feature_groups[place])} | alone)
    nothing = dict.fromkeys(("floor", "removed", "low", "high"))
    left_out = [column for column in source.column_summaries if column.name not in set(source.columns)]
    return rows + [_column(column.name, column) | {"n_features": 0} | nothing for column in left_out[:MOST_LISTED]]


def _column(name: str, column: ColumnSummary | None) -> dict[str, Any]:
    if column is None:
        return {"name": name} | dict.fromkeys(("kind", "treatment", "n_missing", "n_values"))
    return {key: getattr(column, key) for key in ("name", "kind", "treatment", "n_missing", "n_values")}


def _rare(learned: LearnedFloor) -> dict[str, Any] | None:
    """List the rare classes with how high their rows are ranked, the largest first."""
    rare = sorted(sentences.rare_classes(learned), key=lambda each: -each.n_samples)
    if not rare:
        return None
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
            "needed": sentences.more_of_class(each, learned),
        }
        for each in rare[:MOST_RARE]
    ]
    return {"rows": rows, "n_classes": len(rare), "note": sentences.note_on_ranking(learned)}


def _subgroups(learned: LearnedFloor) -> dict[str, Any] | None:
    """List the subgroups, those that surely err most first."""
    found = learned.subgroups
    if found is None:
        return None
    rows = [
        {
            "name": found.names[code],
            "n_rows": int(found.n_samples[code]),
            "n_tested": int(found.n_rows[code]),
            "share": float(found.share[code]),
            "share_of_errors": float(found.share_of_errors[code]),
            "floor": _known(found.estimate[code]),
            "low": float(found.interval[code, 0]),
            "high": float(found.interval[code, 1]),
            "reached": _known(found.reached[code]),
            "reached_low": float(found.reached_interval[code, 0]),
            "reached_high": float(found.reached_interval[code, 1]),
        }
        for code in np.argsort(-found.reached_interval[:, 0], kind="stable").tolist()
    ]
    return {
        "column": found.column,
        "rows": rows,
        "reached_p_value": found.reached_p_value,
        "floor_p_value": found.floor_p_value,
        "sentence": sentences.answer_on_subgroups(found),
        "note": sentences.note_on_subgroups(found),
    }


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _floor(figures: Figures) -> dict[str, Any]:
    trees, learned = figures.trees, figures.learned
    of_trees = {
        "estimate": trees.estimate,
        "low": trees.interval[0],
        "high": trees.interval[1],
        "lower": trees.lower,
        "upper": trees.upper,
        "p_value": trees.p_value,
        "note": sentences.note_on_trees(figures),
    }
    if learned is not None:
        more = {"method": "learned", "confidence": learned.confidence, "n_rows": learned.n_rows, "trees": of_trees}
        return metric_values(learned.metrics[learned.metric]) | more
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
        "trees": of_trees,
    }


def metric_values(metric: MetricFloor) -> dict[str, Any]:
    """List what is known of a metric, ready to be written."""
    low, high = metric.reached_interval
    return {
        "metric": metric.name,
        "title": f"{metric.title} {metric.about}".rstrip(),
        "is_rate": metric.is_rate,
        "larger_is_better": metric.larger_is_better,
        "estimate": metric.estimate,
        "low": metric.interval[0],
        "high": metric.interval[1],
        "reached": {"value": metric.reached, "low": low, "high": high},
        "baseline": metric.baseline,
        "perfect": metric.perfect,
        "sentence": metric.sentence(),
    }


def _fast_model(figures: Figures) -> dict[str, Any] | None:
    """List what a fast model reaches beside the stack, by each metric."""
    fast, learned = figures.fast_model, figures.learned
    if fast is None or learned is None:
        return None
    metrics = [
        {
            "metric": name,
            "title": each.title,
            "is_rate": each.is_rate,
            "value": fast.values[name],
            "stack": each.reached,
        }
        for name, each in learned.metrics.items()
    ]
    return {
        "name": fast.name,
        "seconds": fast.seconds,
        "n_rows": fast.n_rows,
        "is_good": metric_sentences.is_good(fast, metric_of(learned)),
        "metrics": metrics,
        "sentence": metric_sentences.sentence_on_fast_model(fast, learned),
    }


def _costs(learned: LearnedFloor) -> dict[str, Any]:
    """List what decisions cost, the dearest first, and what follows from the costs."""
    cost = learned.cost
    assert cost is not None
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
        for k, j in pairs[:MOST_COSTS]
    ]
    weights = None
    if cost.class_weights is not None:
        named = zip(cost.classes, cost.class_weights, strict=True)
        weights = [{"name": str(label), "weight": float(weight)} for label, weight in named]
    return {
        "notes": metric_sentences.notes_on_costs(learned),
        "rows": rows,
        "n_pairs": len(pairs),
        "undecided": float(cost.pair_rows[:, -1].sum()) if n_decisions > n_classes else None,
        "class_weights": weights,
    }


def curve_of(metric: MetricFloor, err_alike: bool) -> dict[str, Any]:
    """List what was attained at each training size, the fitted line, and where it leads."""
    curve = metric.curve
    sizes = np.geomspace(0.8 * curve.size.min(), _AHEAD * curve.size.max(), 60)
    points = zip(curve.size.tolist(), curve.value.tolist(), strict=True)
    return {
        "points": [{"size": size, "value": value} for size, value in points],
        "line": [[float(size), float(value)] for size, value in zip(sizes, curve.at(sizes), strict=True)],
        "limit": metric.estimate,
        "low": metric.interval[0],
        "high": metric.interval[1],
        "note": metric_sentences.note_on_curve(metric, err_alike),
    }


def _estimate(floors: OneVsRestBayesError | PairwiseBayesError, of: Any) -> dict[str, float]:
    """Return the floor of a class or a pair, by its code or codes."""
    low, high = map(float, floors.interval[of])
    return {
        "floor": float(floors.estimate[of]),
        "low": low,
        "high": high,
        "normalized": float(floors.normalized[of]),
    }


def _classes(figures: Figures) -> list[dict[str, Any]]:
    floors, learned = figures.classes, figures.learned
    total = int(floors.class_counts.sum())
    return [
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


def _pairs(figures: Figures) -> dict[str, Any]:
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
        for a, b in pairs.by_hardness()[:MOST_PAIRS]
    ]
    return {
        "n_pairs": n_classes * (n_classes - 1) // 2,
        "names": [str(pairs.classes[code]) for code in leaves],
        "matrix": [[None if a == b else float(pairs.normalized[a, b]) for b in leaves] for a in leaves],
        "rows": rows,
    }


def _suspects(source: Source[Problem], figures: Figures) -> dict[str, Any]:
    classes = source.problem.classes
    found = [
        (each, int(figures.tree_rows[each.row]), int(figures.tree_rows[each.other])) for each in figures.look_alikes
    ]
    shown = columns_that_differ(source, [(row, other) for _, row, other in found])
    rows = []
    for each, row, other in found:
        values, other_values = source.values(row), source.values(other)
        rows.append(
            {
                "row": int(source.rows[row]),
                "label": str(classes[source.problem.codes[row]]),
                "looks_like": str(classes[each.looks_like]),
                "score": each.score,
                "other_row": int(source.rows[other]),
                "other_label": str(classes[source.problem.codes[other]]),
                "distance": each.distance,
                "values": [values[column] for column in shown],
                "other_values": [other_values[column] for column in shown],
            }
        )
    note = "Rows that look alike and are labelled differently. The first one's neighbours speak for the second's label."
    if not found:
        note = "No row has neighbours that speak for another label."
    return {**columns_shown(source, shown, bool(found)), "row_word": source.row_word, "rows": rows, "note": note}


def columns_shown(source: AnySource, shown: list[int], has_rows: bool) -> dict[str, Any]:
    """Name the columns that are shown beside rows to look at, and say how they were chosen."""
    n_columns = len(source.columns)
    of_columns = ""
    if len(shown) < n_columns and has_rows:
        of_columns = f"Of {n_columns} columns, the {len(shown)} in which such rows differ most are shown."
    return {"columns": [source.columns[column] for column in shown], "columns_note": of_columns}


def columns_that_differ(source: AnySource, ends: list[tuple[int, int]]) -> list[int]:
    """Choose the columns in which pairs of rows differ most, in their own order; all where they are few."""
    if len(source.columns) <= MOST_COLUMNS or not ends:
        return list(range(min(len(source.columns), MOST_COLUMNS)))
    rows, others = (list(side) for side in zip(*ends, strict=True))
    X = source.problem.X
    apart = np.abs(X[rows] - X[others]).mean(axis=0)
    by_column = np.array([float(apart[list(members)].sum()) for members in source.feature_groups])
    return np.sort(np.argsort(-by_column, kind="stable")[:MOST_COLUMNS]).tolist()


def _tree(figures: Figures) -> dict[str, Any]:
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
    return {
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


def _features(source: Source[Problem], figures: Figures) -> dict[str, Any] | None:
    path = figures.selection
    if path is None:
        return None
    rows = [
        {
            "name": column_named(source, step.features),
            "floor": step.level.floor,
            "low": step.level.low,
            "high": step.level.high,
        }
        for step in path.steps[1:]
    ]
    note = (
        "Columns added one after the other, each the one that leaves the lowest floor of the error; from "
        f"{path.n_rows} rows. Each floor is the lowest of many candidates, and so a little too low."
    )
    return {"rows": rows, "note": note}


def column_named(source: AnySource, features: tuple[str, ...]) -> str:
    """Name what a step added as the reader knows it: dummies by the column that they come from."""
    place = int(features[0].removeprefix("x"))  # the search knows columns by number
    columns = zip(source.columns, source.feature_groups, strict=True)
    return next(column for column, members in columns if place in members)
