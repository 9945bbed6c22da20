"""The command gap."""

from typing import TYPE_CHECKING

from bayesfloor.cli.exits import FAILED, OK
from bayesfloor.cli.input import engine, open_table, rows_to_use
from bayesfloor.cli.options import TABLE_DEFAULTS, File, Share, TableOptions
from bayesfloor.cli.output import records_text, say, show, table_text
from bayesfloor.cli.predicted import NO_MODEL, ModelOptions, check_model_options, predicted_labels
from bayesfloor.cli.warmup import compiling_beside

if TYPE_CHECKING:
    from bayesfloor.floor.learned.gap_result import FloorGap

#: Pairs that are listed, at the most.
_MOST_PAIRS = 10


def gap(
    *files: File,
    given: ModelOptions = NO_MODEL,
    fail_above: Share = None,
    rows_are_new: bool = False,
    options: TableOptions = TABLE_DEFAULTS,
) -> int:
    """Compare a model with what can be reached on the same rows, and with the floor.

    A stack of learners is trained as for 'floor'. What it does better than the
    model, on rows that neither has seen, can surely be won; what lies between the
    stack and the floor can perhaps be. By class and by pair, with paired tests.

    Parameters
    ----------
    fail_above
        Exit with 1 when surely more of the error than this can be won; 0.02 is two points.
    rows_are_new
        You know that the model has seen none of these rows: one that is better moves the floor.
    """
    check_model_options(given, files, needed=True)
    table = open_table(files, options)
    labels = predicted_labels(given, table, files)
    from bayesfloor.floor.learned.gap import floor_gap

    with engine(options) as how, compiling_beside("boosting"):
        del how["device"]  # models are trained on the CPU
        found = floor_gap(
            None, table, predictions=labels, max_rows=rows_to_use(table, options), rows_are_new=rows_are_new, **how
        )
    show(
        "gap", found.to_dict(), _text(found), options, table=table, findings=(*found.findings, *found.learned.findings)
    )
    low = found.sure_gap_interval[0]
    if fail_above is not None and low > fail_above:
        say(f"bayesfloor: {low:.4g} of the error can surely be won, above {fail_above:g}")
        return FAILED
    return OK


def _text(found: "FloorGap") -> str:
    from bayesfloor.floor.learned.gap_result import p_text

    rows = [
        ("the model", found.error, *found.error_interval),
        ("reached by a stack of models", found.reached, *found.reached_interval),
        ("the floor", found.estimate, *found.interval),
        ("more than the stack", found.sure_gap, *found.sure_gap_interval),
        ("from there to the floor", found.possible_gap, *found.possible_gap_interval),
    ]
    parts = [found.sentence(), table_text(("", "error", "from", "to"), rows)]
    records = found.to_dict()
    if len(found.classes) > 2:
        headings = {"first": "first", "second": "second", "error": "model", "reached": "reached", "gap": "gap"}
        listed = records["by_pair"]
    else:
        headings = {"label": "class", "n_rows": "rows", "error": "model", "reached": "reached", "gap": "gap"}
        listed = records["by_class"]
    if listed:
        shown = [
            each | {"p": p_text(each["p_adjusted"]).removeprefix("p ").removeprefix("= ")}
            for each in listed[:_MOST_PAIRS]
        ]
        parts.append(records_text(shown, headings | {"p": "p (Holm)"}))
    if len(listed) > _MOST_PAIRS:
        parts[-1] += f"\n... and {len(listed) - _MOST_PAIRS} more, with --json"
    return "\n\n".join(parts)
