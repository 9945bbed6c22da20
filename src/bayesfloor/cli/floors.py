"""floor, pairs and classes."""

from typing import Any

import numpy as np

from bayesfloor.cli.engines import engine
from bayesfloor.cli.exits import ABOVE, OK
from bayesfloor.cli.input import named_columns, open_table, rows_to_use
from bayesfloor.cli.options import TableOptions
from bayesfloor.cli.output import progress_on_stderr, say, say_findings, write_json, write_table
from bayesfloor.data.prepared_table import Table
from bayesfloor.floor import bayes_error, one_vs_rest_bayes_error, pairwise_bayes_error
from bayesfloor.runtime.text import visible


def show_floor(file: str, options: TableOptions, *, fast: bool, fail_above: float | None) -> int:
    """Show the floor of the whole problem; return the exit code."""
    table = open_table(file, options)
    result, rows, findings = (_from_trees if fast else _from_learners)(table, options)
    if options.json:
        write_json("floor", result, table=table, findings=findings)
    else:
        write_table(("", "error", "from", "to"), rows)
    say_findings(findings, options.quiet)
    return verdict_on(float(result["estimate"]), "the floor", fail_above)


def _from_learners(table: Table, options: TableOptions) -> tuple[dict[str, Any], list[tuple[Any, ...]], Any]:
    from bayesfloor.floor.learned.estimate import learned_floor

    with progress_on_stderr(options.quiet) as progress:
        found = learned_floor(
            named_columns(table),
            table.y,
            max_rows=rows_to_use(table, options),
            n_jobs=options.threads,
            random_state=options.seed,
            progress=progress,
        )
    result = {
        "method": "learned",
        "estimate": found.estimate,
        "interval": found.interval,
        "confidence": found.confidence,
        "reached": found.reached,
        "reached_interval": found.reached_interval,
        "majority_error": found.majority_error,
        "tree_bounds": found.tree_bounds,
        "residual_z": found.residual_z,
        "curve": {
            "size": found.curve.size,
            "error": found.curve.error,
            "expected": found.curve.expected,
            "fitted": found.curve.fitted,
            "limit": found.curve.limit,
            "rate": found.curve.rate,
        },
        "weights": found.weights,
        "n_rows": found.n_rows,
    }
    rows = [
        ("the floor", found.estimate, *found.interval),
        ("reached by a stack of models", found.reached, *found.reached_interval),
        ("naming the largest class", found.majority_error, "", ""),
    ]
    say(
        f"{100 * found.confidence:g}% intervals. The upper end is an error that a model attains; the lower end assumes "
        "that the learning curve goes on as it does.",
        quiet=options.quiet,
    )
    return result, rows, found.findings


def _from_trees(table: Table, options: TableOptions) -> tuple[dict[str, Any], list[tuple[Any, ...]], Any]:
    with engine(options) as how:
        found = bayes_error(named_columns(table), table.y, **how)
    majority = 1.0 - float(found.class_counts.max()) / found.n_samples
    result = {
        "method": "spanning trees",
        "estimate": found.estimate,
        "interval": found.interval,
        "confidence": found.confidence,
        "lower": found.lower,
        "lower_interval": found.lower_interval,
        "upper": found.upper,
        "upper_interval": found.upper_interval,
        "normalized": found.normalized,
        "majority_error": majority,
        "cross_edges": found.cross_edges,
        "p_value": found.p_value,
        "n_rows": found.n_samples,
    }
    rows = [
        ("the floor", found.estimate, *found.interval),
        ("lower bound", found.lower, *found.lower_interval),
        ("upper bound", found.upper, *found.upper_interval),
        ("naming the largest class", majority, "", ""),
    ]
    say(
        f"{100 * found.confidence:g}% intervals, for sampling alone. Spanning trees alone tend to come out too high in "
        "high dimension and small samples, and their bounds hold only as rows are added: a model may do better than "
        "this. Without --fast, models are tried.",
        quiet=options.quiet,
    )
    return result, rows, found.findings


def show_pairs(file: str, options: TableOptions, *, top: int | None, fail_above: float | None) -> int:
    """List pairs of classes, the hardest first; return the exit code."""
    table = open_table(file, options)
    with engine(options) as how:
        found = pairwise_bayes_error(named_columns(table), table.y, **how)
    order = found.by_hardness()
    rows = [
        (
            found.classes[a],
            found.classes[b],
            float(found.estimate[a, b]),
            *map(float, found.interval[a, b]),
            float(found.normalized[a, b]),
        )
        for a, b in order[:top]
    ]
    if options.json:
        names = ("first", "second", "estimate", "interval", "normalized")
        listed = [
            dict(zip(names, (a, b, floor, (low, high), share), strict=True)) for a, b, floor, low, high, share in rows
        ]
        result = {"confidence": found.confidence, "n_pairs": len(order), "pairs": listed}
        write_json("pairs", result, table=table, findings=found.findings)
    else:
        headings = ("first", "second", "floor", "from", "to", "normalized")
        write_table(headings, [(visible(row[0]), visible(row[1]), *row[2:]) for row in rows])
    say_findings(found.findings, options.quiet)
    a, b = np.unravel_index(int(found.estimate.argmax()), found.estimate.shape)
    name = f"the floor of {str(found.classes[a])!r} against {str(found.classes[b])!r}"
    return verdict_on(float(found.estimate[a, b]), name, fail_above)


def show_classes(file: str, options: TableOptions, *, fail_above: float | None) -> int:
    """List classes, the hardest first; return the exit code."""
    table = open_table(file, options)
    with engine(options) as how:
        found = one_vs_rest_bayes_error(named_columns(table), table.y, **how)
    order = found.by_hardness()
    if options.json:
        listed = [
            {
                "class": found.classes[k],
                "n_rows": found.class_counts[k],
                "estimate": found.estimate[k],
                "interval": found.interval[k],
                "normalized": found.normalized[k],
            }
            for k in order
        ]
        result = {"confidence": found.confidence, "classes": listed}
        write_json("classes", result, table=table, findings=found.findings)
    else:
        rows = [
            (
                visible(found.classes[k]),
                int(found.class_counts[k]),
                float(found.estimate[k]),
                *map(float, found.interval[k]),
                float(found.normalized[k]),
            )
            for k in order
        ]
        write_table(("class", "rows", "floor", "from", "to", "normalized"), rows)
    say_findings(found.findings, options.quiet)
    worst = int(found.estimate.argmax())
    name = f"the floor of {str(found.classes[worst])!r} against the rest"
    return verdict_on(float(found.estimate[worst]), name, fail_above)


def verdict_on(estimate: float, name: str, fail_above: float | None) -> int:
    """Return 1, and say so, where an estimate is above what was allowed."""
    if fail_above is None or estimate <= fail_above:
        return OK
    say(f"bayesfloor: {name} is {estimate:.4g}, above {fail_above:g}")
    return ABOVE
