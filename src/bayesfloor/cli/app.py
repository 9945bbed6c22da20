"""The commands of ``bayesfloor``. Each is a function of this room; nothing heavy is loaded before one of them runs."""

from collections.abc import Callable
from typing import Any

from cyclopts import App, Group, Parameter

import bayesfloor as bf
from bayesfloor.cli.choices import datasets, select, transforms, tree, weights
from bayesfloor.cli.explain import explain, schema
from bayesfloor.cli.floors import classes, floor, pairs
from bayesfloor.cli.gap import gap
from bayesfloor.cli.models import fit, predict
from bayesfloor.cli.reports import report
from bayesfloor.cli.votes import votes
from bayesfloor.cli.warmup import warmup

_ABOUT = """How low can the error of any classifier go on your data?

FILE is CSV and its relatives, Parquet, Arrow, ARFF, KEEL, NPZ or libsvm, plain
or packed by gzip or zip; or the name of a data set ('bayesfloor datasets' lists
them). Results go to stdout, everything else to stderr."""

_EPILOGUE = """Examples:
  bayesfloor report patients.csv --target outcome
  bayesfloor floor iris
  bayesfloor pairs patients.csv --target outcome
  bayesfloor floor patients.csv --fast --fail-above 0.1 --json
  bayesfloor explain BF008

Exit codes: 0 done, 1 a floor is above --fail-above or below --fail-below, 2 usage,
3 bad data, 4 something is missing, 130 interrupted."""

#: What is shown below the help of each command, in the order of the help of all.
_EXAMPLES: dict[Callable[..., Any], tuple[str, ...]] = {
    report: (
        "report digits",
        "report patients.csv --target outcome --groups patient --target-value 0.05",
        "report patients.csv --metric roc_auc --metric log_loss --target-value 0.9",
        "report patients.csv --fast --out patients.md",
    ),
    floor: (
        "floor iris",
        "floor patients.csv --target outcome --time visit",
        "floor patients.csv --fast --fail-above 0.1",
        "floor patients.csv --metric roc_auc --fail-below 0.8",
        "floor patients.csv --costs costs.csv",
    ),
    gap: (
        "gap patients.csv --target outcome --model patients.skops",
        "gap patients.csv --target outcome --predictions predicted.csv --id patient",
        "gap patients.csv --predictions out_of_fold.csv --fail-above 0.02",
    ),
    pairs: ("pairs digits --top 5", "pairs patients.csv --target outcome --json"),
    classes: ("classes digits", "classes patients.csv --target outcome --fail-above 0.05"),
    votes: (
        "votes votes.csv",
        "votes votes.csv --row item --annotator worker --label answer --json",
        "votes counts.csv --form counts --fail-above 0.1",
    ),
    tree: ("tree digits", "tree digits --cut balanced --dot | dot -Tsvg > tree.svg"),
    select: ("select wine", "select patients.csv --target outcome --features 5 --direction backward"),
    transforms: ("transforms wine --scale none", "transforms patients.csv --target outcome --criterion worst"),
    weights: ("weights iris", "weights patients.csv --target outcome --basis pairs --base equal --json"),
    fit: (
        "fit patients.csv --target outcome --out patients.skops",
        "fit patients.csv --target outcome --effort high --out patients.skops",
    ),
    predict: ("predict patients.skops new.csv --out predicted.csv", "predict patients.skops new.csv | head"),
    datasets: ("datasets", "datasets --data ~/data --json"),
    warmup: ("warmup", "warmup --jobs 1"),
    explain: ("explain", "explain BF008", "explain bf3 bf37 --json"),
    schema: ("schema floor", "schema > bayesfloor.json"),
}


def _default_text(value: Any) -> str | None:
    """Write a default into the help; nothing for an option that is left out."""
    return None if value is None or value is False or value == () else str(value)


app = App(
    name="bayesfloor",
    help=_ABOUT,
    help_epilogue=_EPILOGUE,
    help_format="plaintext",
    version=lambda: bf.__version__,
    suppress_keyboard_interrupt=False,
    group_parameters=Group("Options", sort_key=1),
    default_parameter=Parameter(negative=(), show_default=_default_text),
)
app.register_install_completion_command()
for _command, _examples in _EXAMPLES.items():
    _lines = ["Examples:", *(f"bayesfloor {example}" for example in _examples)]
    app.command(_command, help_epilogue="\n  ".join(_lines))
