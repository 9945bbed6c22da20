"""The commands of ``bayesfloor``: functions of this room, whose docstrings are their help.

Nothing heavy is loaded before one of them runs.
"""

from inspect import getdoc
from typing import Any

from cyclopts import App, Group, Parameter

import bayesfloor as bf
from bayesfloor.cli.compares import compare
from bayesfloor.cli.datasets import datasets
from bayesfloor.cli.drifts import drift
from bayesfloor.cli.explain import explain
from bayesfloor.cli.floors import floor, pairs
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
3 bad data, 4 something is missing, 70 an error of bayesfloor itself, 130 interrupted, 143 terminated."""

#: Commands in the order of the help of all.
_ANSWERS = report, floor, gap, pairs, votes, compare, drift, fit, predict
_OTHERS = datasets, warmup, explain


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
for _command in _ANSWERS + _OTHERS:
    _examples = (getdoc(_command) or "").partition("Examples\n--------\n")[2].splitlines()
    app.command(_command, help_epilogue="\n  ".join(["Examples:", *_examples]))
