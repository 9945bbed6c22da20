"""Options that several commands share; what their docstrings say of each is what ``--help`` shows."""

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import Number

_RUN = Parameter(group=Group("Running", sort_key=3))

File = Annotated[
    str, Parameter(name="FILE", help="A file, several with the same columns, - for stdin, or the name of a data set.")
]
Force = Annotated[bool, Parameter(help="Replace a file that is there.")]
Count = Annotated[int | None, Parameter(validator=Number(gte=1))]
Share = Annotated[float | None, Parameter(validator=Number(gte=0, lte=1))]
Seed = Annotated[int, Parameter(help="The same seed, the same answer.", validator=Number(gte=0, lt=2**32))]
#: The largest floor that passes.
FailAbove = Annotated[Share, Parameter(help="Exit with 1 when an estimate is above this number.")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """What to show.

    Parameters
    ----------
    quiet
        Leave out notes, findings and progress; errors remain.
    debug
        Show where an error comes from.
    json
        Print one JSON object.
    """

    quiet: Annotated[bool, _RUN] = False
    debug: Annotated[bool, _RUN] = False
    json: Annotated[bool, _RUN] = False


@dataclass(frozen=True, kw_only=True)
class RunOptions(ShowOptions):
    """How to work and what to show.

    Parameters
    ----------
    threads
        Threads; every core by default.
    """

    threads: Annotated[Count, _RUN] = None


@Parameter(name="*", group=Group("Reading the file", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class ColumnOptions(RunOptions):
    """Which columns and rows of a table are used, what each holds, and where to compute.

    Parameters
    ----------
    target
        Column of labels or numbers; by its name or the last one where none is named.
    groups
        Column that tells which rows belong together, such as a patient.
    keep_missing_as_class
        Keep labels such as ?, . or a rare NA as classes; else they are missing.
    drop
        Column to leave out, such as an id; may be given several times.
    type
        NAME=KIND, where a column is taken for something else: categorical, such as codes, numeric, text or
        date; may be given several times.
    max_rows
        Use at most so many rows, as large a share of each class.
    cluster
        Address of a Dask scheduler to compute on, or how many processes to start here; the same answer.
    """

    target: str | None = None
    groups: str | None = None
    keep_missing_as_class: bool = False
    drop: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    max_rows: Annotated[int | None, Parameter(validator=Number(gte=2))] = None
    seed: Annotated[Seed, _RUN] = 0
    cluster: Annotated[str | None, _RUN] = None


@dataclass(frozen=True, kw_only=True)
class TableOptions(ColumnOptions):
    """What the target of a table is, and when its rows were seen.

    Parameters
    ----------
    task
        Whether the target holds classes or a number; by its values by default.
    time
        Column that tells when a row was seen.
    """

    task: Literal["auto", "classification", "regression"] = "auto"
    time: str | None = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class MetricOptions:
    """What models are judged by, and which answers make a command fail.

    Parameters
    ----------
    effort
        How much is trained: fast or default.
    by
        Column whose values get figures of their own, such as a region; it stays a feature.
    costs
        CSV of what decisions cost: a line for each true class, a column for each decision, by name.
    positive
        The class of two that average_precision and f1 are about; by default the last one.
    fail_above
        Exit with 1 when the floor or ceiling is above this number.
    fail_below
        Exit with 1 when the floor or ceiling is below this number.
    no_checks
        Do not look for leaks, rows that belong together and an order in time, which all figures are otherwise without.
    """

    effort: Literal["fast", "default"] = "default"
    by: str | None = None
    metric: Annotated[
        tuple[str, ...],
        Parameter(
            help="What models are judged by: error, balanced_error, log_loss, brier, roc_auc, average_precision, f1, "
            "top_k_error (top_3_error), cost; for numbers r2, rmse, mae. The error or r2 by default. Several times for "
            "several; the first is the headline."
        ),
    ] = ()
    costs: str | None = None
    positive: str | None = None
    fail_above: float | None = None
    fail_below: float | None = None
    no_checks: bool = False


#: What a command that is given none of these gets.
SHOW_DEFAULTS, RUN_DEFAULTS, COLUMN_DEFAULTS = ShowOptions(), RunOptions(), ColumnOptions()
TABLE_DEFAULTS, METRIC_DEFAULTS = TableOptions(), MetricOptions()
