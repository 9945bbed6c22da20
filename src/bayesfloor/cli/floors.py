"""The commands floor, pairs and classes."""

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from bayesfloor.cli.exits import ABOVE, OK, UsageError
from bayesfloor.cli.input import engine, open_table, rows_to_use
from bayesfloor.cli.options import TABLE_DEFAULTS, FailAbove, Fast, File, RowsFor, TableOptions
from bayesfloor.cli.output import records_text, say, show, table_text
from bayesfloor.runtime.text import exact_percent

if TYPE_CHECKING:
    from bayesfloor.data.prepared_table import Table
    from bayesfloor.runtime.findings import Finding


def floor(
    *files: File,
    fast: Fast = False,
    fail_above: FailAbove = None,
    rows_for: RowsFor = None,
    options: TableOptions = TABLE_DEFAULTS,
) -> int:
    """Estimate the lowest error that any classifier can reach.

    A stack of learners is trained at three sizes, and the floor is where its
    learning curve ends: the upper end of the interval is an error that a model
    attains, the lower end assumes that the curve goes on as it does.
    """
    if fast and rows_for is not None:
        raise UsageError("--rows-for needs a learning curve: leave --fast out")
    table = open_table(files, options)
    if fast:
        result, rows, findings = _from_trees(table, options)
    else:
        result, rows, findings = _from_learners(table, options, rows_for)
    text = table_text(("", "error", "from", "to"), rows)
    if rows_for is not None:
        text += f"\n\n{result['rows_for']['sentence']}"
    show("floor", result, text, options, table=table, findings=findings)
    return verdict_on(float(result["estimate"]), "the floor", fail_above)


def _from_learners(
    table: "Table", options: TableOptions, rows_for: float | None = None
) -> tuple[dict[str, Any], list[tuple[Any, ...]], Any]:
    from bayesfloor.floor.learned.estimate import learned_floor

    with engine(options) as how:
        del how["device"]  # models are trained on the CPU
        found = learned_floor(table, max_rows=rows_to_use(table, options), **how)
    in_result = ("estimate", "interval", "confidence", "reached", "reached_interval", "majority_error", "tree_bounds")
    in_curve = ("size", "value", "expected", "fitted", "limit", "rate")
    result = {
        "method": "learned",
        **_fields(found, *in_result, "residual_z"),
        "curve": _fields(found.curve, *in_curve),
        **_fields(found, "weights", "n_rows"),
    }
    if rows_for is not None:
        needed = found.rows_for(rows_for)
        named = _fields(needed, "value", "metric", "rows", "interval", "verdict", "n_train")
        result["rows_for"] = {**named, "sentence": needed.sentence()}
    rows = [
        ("the floor", found.estimate, *found.interval),
        ("reached by a stack of models", found.reached, *found.reached_interval),
        ("naming the largest class", found.majority_error, "", ""),
    ]
    say(
        f"{exact_percent(found.confidence)} intervals. The upper end is an error that a model attains; the lower end "
        "assumes that the learning curve goes on as it does.",
        quiet=options.quiet,
    )
    return result, rows, (*_dependence(table, options), *found.findings)


def _dependence(table: "Table", options: TableOptions) -> "list[Finding]":
    """Find rows that belong together where nobody said so; sets that are known by name come prepared."""
    from bayesfloor.data.labels import check_labels
    from bayesfloor.floor.learned.dependence import find_dependence

    if not table.columns:
        return []
    return find_dependence(
        table.X,
        check_labels(table.y, len(table.X))[1],
        table.possible_groups if table.groups is None else {},
        in_order=table.time is None and table.groups is None,
        tabular=table.tabular,
        seed=options.seed,
        n_jobs=options.threads,
    )


def _from_trees(table: "Table", options: TableOptions) -> tuple[dict[str, Any], list[tuple[Any, ...]], Any]:
    from bayesfloor.floor import bayes_error

    with engine(options) as how:
        found = bayes_error(table, **how)
    majority = 1.0 - float(found.class_counts.max()) / found.n_samples
    in_result = ("estimate", "interval", "confidence", "lower", "lower_interval", "upper", "upper_interval")
    result = {
        "method": "spanning trees",
        **_fields(found, *in_result, "normalized"),
        "majority_error": majority,
        **_fields(found, "cross_edges", "p_value"),
        "n_rows": found.n_samples,
    }
    rows = [
        ("the floor", found.estimate, *found.interval),
        ("lower bound", found.lower, *found.lower_interval),
        ("upper bound", found.upper, *found.upper_interval),
        ("naming the largest class", majority, "", ""),
    ]
    say(
        f"{exact_percent(found.confidence)} intervals, for sampling alone. Spanning trees alone tend to come out too "
        "high in high dimension and small samples, and their bounds hold only as rows are added: a model may do better "
        "than this. Without --fast, models are tried.",
        quiet=options.quiet,
    )
    return result, rows, found.findings


def _fields(result: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(result, name) for name in names}


def pairs(
    *files: File,
    top: Annotated[int | None, Parameter(help="Show so many of the hardest pairs.", validator=Number(gte=1))] = None,
    fail_above: FailAbove = None,
    options: TableOptions = TABLE_DEFAULTS,
) -> int:
    """List pairs of classes by how hard they are to tell apart, the hardest first.

    'normalized' is the floor as a share of its largest possible value, that of
    naming the larger class; it ranks pairs.
    """
    from bayesfloor.floor import pairwise_bayes_error

    table = open_table(files, options)
    with engine(options) as how:
        found = pairwise_bayes_error(table, **how)
    order = found.by_hardness()
    listed = [
        {"first": found.classes[a], "second": found.classes[b], **_estimate(found, (a, b))} for a, b in order[:top]
    ]
    result = {"confidence": found.confidence, "n_pairs": len(order), "pairs": listed}
    text = records_text(listed, {"first": "first", "second": "second", **_HEADINGS})
    show("pairs", result, text, options, table=table, findings=found.findings)
    a, b = divmod(int(found.estimate.argmax()), len(found.classes))
    name = f"the floor of {str(found.classes[a])!r} against {str(found.classes[b])!r}"
    return verdict_on(float(found.estimate[a, b]), name, fail_above)


def classes(*files: File, fail_above: FailAbove = None, options: TableOptions = TABLE_DEFAULTS) -> int:
    """List classes by how hard each is to tell from all others, the hardest first."""
    from bayesfloor.floor import one_vs_rest_bayes_error

    table = open_table(files, options)
    with engine(options) as how:
        found = one_vs_rest_bayes_error(table, **how)
    listed = [
        {"class": found.classes[k], "n_rows": found.class_counts[k], **_estimate(found, k)} for k in found.by_hardness()
    ]
    text = records_text(listed, {"class": "class", "n_rows": "rows", **_HEADINGS})
    result = {"confidence": found.confidence, "classes": listed}
    show("classes", result, text, options, table=table, findings=found.findings)
    worst = int(found.estimate.argmax())
    name = f"the floor of {str(found.classes[worst])!r} against the rest"
    return verdict_on(float(found.estimate[worst]), name, fail_above)


_HEADINGS = {"estimate": "floor", "interval": "", "normalized": "normalized"}


def _estimate(found: Any, of: Any) -> dict[str, Any]:
    """Return the floor of a class or a pair, by its code or codes."""
    return {name: getattr(found, name)[of] for name in _HEADINGS}


def verdict_on(estimate: float, name: str, fail_above: float | None) -> int:
    """Return 1, and say so, where an estimate is above what was allowed."""
    if fail_above is None or estimate <= fail_above:
        return OK
    say(f"bayesfloor: {name} is {estimate:.4g}, above {fail_above:g}")
    return ABOVE
