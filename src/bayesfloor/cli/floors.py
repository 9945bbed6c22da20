"""The commands floor and pairs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bayesfloor as bf
from bayesfloor.cli.exits import FAILED, OK, UsageError
from bayesfloor.cli.input import engine, is_as_it_is, open_table, rows_to_use
from bayesfloor.cli.memory import announce, rows_to_train_on
from bayesfloor.cli.metrics import check_metric_options, metric_arguments
from bayesfloor.cli.options import (
    COLUMN_DEFAULTS,
    METRIC_DEFAULTS,
    TABLE_DEFAULTS,
    ColumnOptions,
    Count,
    FailAbove,
    File,
    MetricOptions,
    TableOptions,
)
from bayesfloor.cli.output import columns_text, records_text, say, show, table_text
from bayesfloor.cli.warmup import compiling_boosting
from bayesfloor.runtime.text import exact_percent

if TYPE_CHECKING:
    from bayesfloor.results import CostDecisions, LearnedFloor, MetricFloor, SubgroupFloors, Table

#: True classes and decisions that are listed, at the most.
_MOST_COSTS = 20


def floor(
    *files: File,
    given: MetricOptions = METRIC_DEFAULTS,
    fast: bool = False,
    rows_for: float | None = None,
    options: TableOptions = TABLE_DEFAULTS,
) -> int:
    """Estimate the lowest error that any classifier can reach, or the best value of another metric.

    Where the target is a number it is the share of its variance that any model
    can explain, and the lowest RMSE and MAE. A stack of learners is trained at three sizes, and the floor is where its
    learning curve ends: the upper end of the interval is never below what a model
    reached on rows it had not seen; the lower end is extrapolated, from the curve and
    from simulated problems. Where larger is better, as for roc_auc, it is a ceiling, and the other way
    round.

    Parameters
    ----------
    fast
        From spanning trees alone, without training anything.
    rows_for
        Say how many training rows a model needs to reach this value of the first metric.

    Examples
    --------
    bayesfloor floor iris
    bayesfloor floor patients.csv --target outcome --time visit
    bayesfloor floor patients.csv --fast --fail-above 0.1
    bayesfloor floor patients.csv --metric roc_auc --fail-below 0.8
    bayesfloor floor patients.csv --costs costs.csv
    """
    if fast and rows_for is not None:
        raise UsageError("--rows-for needs a learning curve: leave --fast out")
    task = check_metric_options(given, options.task, fast=fast, rows_for=rows_for)
    most_rows = None
    if not fast and given.by is None and is_as_it_is(options) and _are_files(files):
        from bayesfloor.runtime.settings import limits  # loads NumPy

        most_rows = limits().disk_rows
    # what a floor of many rows is estimated from is on disk; columns are looked at in some of them
    table = open_table(files, options, given.by, task=task, most_rows=most_rows)
    is_from_files = most_rows is not None and table.n_samples >= most_rows
    if is_from_files:
        say("Columns are looked at in these rows; the floor is estimated from the files.", quiet=options.quiet)
    from bayesfloor.data.sampling import LEARNED_VALUES

    if fast:
        announce(table, options, len(table.X))
    elif is_from_files and given.effort != "fast":
        announce(table, options, table.n_samples, is_on_disk=True)
    else:
        announce(table, options, rows_to_train_on(table, options, given.effort, LEARNED_VALUES))
    judged_by = metric_arguments(given, table, fast=fast)
    if not fast:
        rows = _given_as(files, table) if is_from_files else (table,)
        result, text, findings = _from_models(rows, table, options, given, judged_by, rows_for)
    else:
        result, text, findings = _from_trees(table, options)
    name = limit_name(result["metrics"][result["metric"]])
    show("floor", result, text, options, table=table, findings=findings)
    return verdict_on(float(result["estimate"]), name, given.fail_above, given.fail_below)


def _subgroups_text(found: "SubgroupFloors") -> str:
    """List subgroups, with "too few" in place of a floor of which nothing can be said."""
    columns = found._columns()
    few = zip(found.is_too_few.tolist(), found.estimate.tolist(), strict=True)
    columns["estimate"] = ["too few" if is_too_few else estimate for is_too_few, estimate in few]
    rows = {"group": "group", "n_rows": "rows", "share": "of rows", "share_of_errors": "of errors"}
    reached = {"reached": "reached", "reached_low": "from", "reached_high": "to"}
    return columns_text(columns, rows | reached | {"estimate": "floor", "interval_low": "from", "interval_high": "to"})


def _from_models(
    rows: tuple[Any, ...],
    table: "Table",
    options: TableOptions,
    given: MetricOptions,
    judged_by: dict[str, Any],
    rows_for: float | None,
) -> tuple[dict[str, Any], str, Any]:
    """Estimate what models can learn of classes or a number; `rows` are X and y."""
    estimate: Any = bf.regression_floor
    of_classes = table.task == "classification"
    if of_classes:
        estimate, judged_by = bf.learned_floor, {"by": given.by} | judged_by
    with engine(options) as how, compiling_boosting(of_classes):
        as_asked = estimate(
            *rows,
            max_rows=rows_to_use(table, options),
            effort=given.effort,
            checks=not given.no_checks,
            **judged_by,
            **how,
        )
    found = as_asked.honest
    result: dict[str, Any] = {"method": "learned", **found.to_dict(), "as_asked": None}
    if found is not as_asked:
        result["as_asked"] = {name: getattr(as_asked, name) for name in ("estimate", "interval", "reached")}
    findings = [*found.findings]
    for sentence in found.trust.headline:
        say(sentence)
    if not given.no_checks and not found.trust.reasons:
        say(
            "Nothing suspicious was found: no leaks, no rows that belong together, no order in time.",
            quiet=options.quiet,
        )
    if of_classes:
        from bayesfloor.report.ordered_classes import find_ordered_classes

        text = _of_classes(found, options)
        findings += find_ordered_classes(found.classes, found.pair_reached, table.target)
    else:
        text = _metrics_text(list(found.metrics.values()))
        say(
            f"{exact_percent(found.confidence)} intervals. The worse end is never better than what a "
            "model reached on rows it had not seen; the better end is extrapolated.",
            quiet=options.quiet,
        )
    if rows_for is not None:
        result["rows_for"] = found.rows_for(rows_for).to_dict()
        text += f"\n\n{result['rows_for']['sentence']}"
    return result, text, findings


def _are_files(files: tuple[str, ...]) -> bool:
    """Tell whether files are named, and not stdin or a data set."""
    return all(Path(file).exists() for file in files)


def _given_as(files: tuple[str, ...], table: "Table") -> tuple[Any, str]:
    """Return X and y for a function that reads the files by itself."""
    return files[0] if len(files) == 1 else list(files), table.target


def _of_classes(found: "LearnedFloor", options: TableOptions) -> str:
    """List metrics, costs and subgroups; say on stderr how to read them."""
    metrics, level = list(found.metrics.values()), exact_percent(found.confidence)
    if found.subgroups is not None:
        say(found.subgroups.note, quiet=options.quiet or not found.subgroups.note)
    if len(metrics) == 1:
        rows = [
            ("the floor", found.estimate, *found.interval),
            ("reached by a stack of models", found.reached, *found.reached_interval),
            ("always the commonest class", found.majority_error, "", ""),
        ]
        parts = [table_text(("", "error", "from", "to"), rows)]
        say(
            f"{level} intervals. The upper end is never below what a model reached on rows it had not seen; the lower "
            "end is extrapolated.",
            quiet=options.quiet,
        )
    else:
        parts = [_metrics_text(metrics)]
        for each in metrics[:-1] if found.metric != "error" else metrics:  # the error comes with every other metric
            say(f"{each.title}, {level} interval. {each.sentence()}", quiet=options.quiet)
    parts += [] if found.cost is None else [_costs_text(found.cost)]
    parts += [] if found.subgroups is None else [_subgroups_text(found.subgroups)]
    return "\n\n".join(parts)


def _metrics_text(metrics: "list[MetricFloor]") -> str:
    """List several metrics: a floor, or a ceiling where larger is better, and what was reached."""
    rows = [
        (
            f"{each.title} {each.about}".rstrip(),
            "ceiling" if each.larger_is_better else "floor",
            *(each.estimate, *each.interval, each.reached, *each.reached_interval, each.baseline),
        )
        for each in metrics
    ]
    headings = ("metric", "", "best value", "from", "to", "reached", "from", "to", "without features")
    return table_text(headings, rows)


def _costs_text(cost: "CostDecisions") -> str:
    """List what decisions cost, the dearest first, and weights of classes that follow, if any do."""
    order = (-cost.pair_costs).argsort(axis=None, kind="stable").tolist()
    pairs = [divmod(place, len(cost.decisions)) for place in order]
    rows = [
        (
            str(cost.classes[k]),
            cost.decisions[j],
            *(float(of[k, j]) for of in (cost.costs, cost.pair_rows, cost.pair_costs)),
        )
        for k, j in pairs
        if cost.pair_costs[k, j] != 0.0
    ]
    text = table_text(("true class", "decision", "cost", "of the rows", "cost per row"), rows[:_MOST_COSTS])
    if len(rows) > _MOST_COSTS:
        text += f"\n... and {len(rows) - _MOST_COSTS} more, with --json"
    if cost.class_weights is None:
        return f"{text}\n\nNo class weights lead to the same decisions."
    weights = [(str(label), float(weight)) for label, weight in zip(cost.classes, cost.class_weights, strict=True)]
    return f"{text}\n\n{table_text(('class', 'weight'), weights)}"


def limit_name(metric: dict[str, Any]) -> str:
    """Name the best value of a metric, as in a sentence on it."""
    if metric["title"] == "error":
        return "the floor"
    return f"the {'ceiling' if metric['larger_is_better'] else 'floor'} of the {metric['title']}"


def _from_trees(table: "Table", options: TableOptions) -> tuple[dict[str, Any], str, Any]:
    """Estimate the lowest error from the edges of spanning trees, without training anything."""
    from bayesfloor.data.metrics import metric_info

    with engine(options) as how:
        found = bf.bayes_error(table, **how)
    info = metric_info("error")
    told = {"estimate": found.estimate, "interval": found.interval}
    metrics = {"error": {"title": info.title, "larger_is_better": info.larger_is_better, **told}}
    result = {"method": "spanning trees", "metric": "error", "metrics": metrics, **found.to_dict()}
    rows = [
        ("the floor", found.estimate, *found.interval),
        ("lower bound", found.lower, *found.lower_interval),
        ("upper bound", found.upper, *found.upper_interval),
        ("always the commonest class", found.majority_error, "", ""),
    ]
    say(
        f"{exact_percent(found.confidence)} intervals, for sampling alone. Spanning trees alone tend to come out too "
        "high in high dimension and small samples, and their bounds hold only as rows are added: a model may do better "
        "than this. Without --fast, models are tried.",
        quiet=options.quiet,
    )
    return result, table_text(("", "error", "from", "to"), rows), found.findings


def pairs(
    *files: File,
    top: Count = None,
    fail_above: FailAbove = None,
    options: ColumnOptions = COLUMN_DEFAULTS,
) -> int:
    """Show how hard classes are to tell apart: each pair, each class from all others, and the class tree.

    The hardest come first. 'normalized' is the floor as a share of its largest
    possible value, that of naming the larger class; it ranks pairs and classes.
    The tree cuts between easily told classes, again and again.

    Parameters
    ----------
    top
        Show so many of the hardest pairs.

    Examples
    --------
    bayesfloor pairs digits --top 5
    bayesfloor pairs patients.csv --target outcome --json
    """
    table = open_table(files, options)
    with engine(options) as how:
        floors = bf.BayesErrorEstimator(**how).fit(table, None)
    found, by_class = floors.pairwise_bayes_error_, floors.one_vs_rest_bayes_error_
    _, second = bf.class_affinity(table, affinity="class-means")
    tree = bf.build_class_tree(found.normalized, found.classes, tie_weights=second)
    hardest, hardest_classes = found.hardest(top), by_class.hardest()
    columns = {"estimate": "floor", "interval": "", "normalized": "normalized"}
    text = "\n\n".join(
        (
            records_text(hardest, {"first": "first", "second": "second"} | columns),
            records_text(hardest_classes, {"label": "class", "n_rows": "rows"} | columns),
            tree.to_text(),
        )
    )
    result = {
        "pairs": {"hardest": hardest, **found.to_dict()},
        "one_vs_rest": {"hardest": hardest_classes, **by_class.to_dict()},
        "tree": {"depth": tree.depth, "nested": tree.to_nested(), **tree.to_dict()},
    }
    findings = dict.fromkeys((*found.findings, *by_class.findings, *tree.findings))
    for part in result.values():
        part.pop("findings", None)  # they stand beside the result
    show("pairs", result, text, options, table=table, findings=tuple(findings))
    a, b = divmod(int(found.estimate.argmax()), len(found.classes))
    name = f"the floor of {str(found.classes[a])!r} against {str(found.classes[b])!r}"
    return verdict_on(float(found.estimate[a, b]), name, fail_above)


def verdict_on(estimate: float, name: str, fail_above: float | None, fail_below: float | None = None) -> int:
    """Return 1, and say so, where an estimate is above or below what was allowed."""
    if fail_above is not None and estimate > fail_above:
        say(f"bayesfloor: {name} is {estimate:.4g}, above {fail_above:g}")
    elif fail_below is not None and estimate < fail_below:
        say(f"bayesfloor: {name} is {estimate:.4g}, below {fail_below:g}")
    else:
        return OK
    return FAILED
