"""The command gap."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from bayesfloor.cli.exits import FAILED, OK
from bayesfloor.cli.input import engine, open_table, rows_to_use
from bayesfloor.cli.metrics import check_metric_options, metric_arguments
from bayesfloor.cli.options import TABLE_DEFAULTS, File, MetricOptions, TableOptions
from bayesfloor.cli.output import records_text, say, show, table_text
from bayesfloor.cli.predicted import NO_MODEL, ModelOptions, check_model_options, predictions_of
from bayesfloor.cli.warmup import compiling_beside

if TYPE_CHECKING:
    from bayesfloor.floor.learned.gap_result import FloorGap

#: Pairs, classes or subgroups that are listed, at the most.
_MOST_LISTED = 10


def gap(
    *files: File,
    given: ModelOptions = NO_MODEL,
    metric: Annotated[
        str | None,
        Parameter(help="What models are judged by, one of those of 'floor'; the error, or r2 for numbers, by default."),
    ] = None,
    costs: Annotated[str | None, Parameter(help="CSV of what decisions cost, as for 'floor'.")] = None,
    positive: Annotated[
        str | None, Parameter(help="The class of two that the metric is about, as for 'floor'.")
    ] = None,
    by: Annotated[str | None, Parameter(help="Column whose values are compared one by one, such as a region.")] = None,
    fail_above: Annotated[
        float | None,
        Parameter(
            help="Exit with 1 when surely more than this can be won; 0.02 of the error is two points.",
            validator=Number(gte=0),
        ),
    ] = None,
    rows_are_new: Annotated[
        bool,
        Parameter(help="You know that the model has seen none of these rows: one that is better moves the floor."),
    ] = False,
    options: TableOptions = TABLE_DEFAULTS,
) -> int:
    """Compare a model with what can be reached on the same rows, and with the floor.

    A stack of learners is trained as for 'floor'. What it does better than the
    model, on rows that neither has seen, can surely be won; what lies between the
    stack and the floor can perhaps be. By any metric of classes or numbers; of the
    error also by class and by pair, with paired tests.
    """
    check_model_options(given, files, needed=True)
    judged_by = MetricOptions(metric=() if metric is None else (metric,), costs=costs, positive=positive)
    task = check_metric_options(judged_by, options.task)
    table = open_table(files, options, by, task=task)
    asked = metric_arguments(judged_by, table)
    asked["metric"] = asked["metric"][0]
    from bayesfloor.floor.learned.gap import floor_gap
    from bayesfloor.floor.learned.model_predictions import DECIDED

    predicted = predictions_of(given, table, files, wants_probabilities=asked["metric"] not in DECIDED)

    with engine(options) as how, compiling_beside("boosting"):
        del how["device"]  # models are trained on the CPU
        found = floor_gap(
            None,
            table,
            predictions=predicted,
            by=by,
            task=table.task,
            max_rows=rows_to_use(table, options),
            rows_are_new=rows_are_new,
            **asked,
            **how,
        )
    show(
        "gap", found.to_dict(), _text(found), options, table=table, findings=(*found.findings, *found.learned.findings)
    )
    low = found.sure_gap_interval[0]
    if fail_above is not None and low > fail_above:
        say(f"bayesfloor: {low:.4g} of the {found.floor.title} can surely be won, above {fail_above:g}")
        return FAILED
    return OK


def _text(found: "FloorGap") -> str:
    from bayesfloor.floor.learned.gap_result import p_text

    rows = [
        ("the model", found.value, *found.value_interval),
        ("reached by a stack of models", found.reached, *found.reached_interval),
        ("the floor", found.estimate, *found.interval),
        ("more than the stack", found.sure_gap, *found.sure_gap_interval),
        ("from there to the floor", found.possible_gap, *found.possible_gap_interval),
    ]
    parts = [found.sentence(), table_text(("", found.floor.title, "from", "to"), rows)]
    records, figures = found.to_dict(), {"error": "model", "reached": "reached", "gap": "gap"}
    by_pair = {"first": "first", "second": "second", **figures}
    by_class = {"label": "class", "n_rows": "rows", **figures}
    by_subgroup = {"subgroup": "subgroup", "n_rows": "rows", "value": "model", "reached": "reached", "gap": "gap"}
    where, headings = ("by_pair", by_pair) if len(found.classes) > 2 else ("by_class", by_class)
    for name, columns in ((where, headings), ("by_subgroup", by_subgroup)):
        listed = [
            each | {"p": p_text(each["p_adjusted"]).removeprefix("p ").removeprefix("= ")} for each in records[name]
        ]
        if not listed:
            continue
        parts.append(records_text(listed[:_MOST_LISTED], columns | {"p": "p (Holm)"}))
        if len(listed) > _MOST_LISTED:
            parts[-1] += f"\n... and {len(listed) - _MOST_LISTED} more, with --json"
    return "\n\n".join(parts)
