"""Options that several commands share."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import Number

_TABLE = Group("Reading the file", sort_key=2)
_RUN = Group("Running", sort_key=3)


def flag(text: str, **more: Any) -> Parameter:
    """Describe an option that is given or left out, or given several times: no --no-…, no default to show."""
    return Parameter(negative="", show_default=False, help=text, **more)


File = Annotated[
    str, Parameter(name="FILE", help="A file, several with the same columns, - for stdin, or the name of a data set.")
]
Force = Annotated[bool, flag("Replace a file that is there.")]
#: The largest floor that passes.
FailAbove = Annotated[
    float | None,
    Parameter(help="Exit with 1 when an estimate is above this number.", validator=Number(gte=0, lte=1)),
]
RowsFor = Annotated[
    float | None,
    Parameter(help="Say how many training rows a model needs to reach this value of the first metric."),
]
Criterion = Annotated[
    Literal["whole", "mean", "worst"],
    Parameter(help="Which floor: of the whole problem, the mean over all pairs of classes, or of the worst pair."),
]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How to work and what to show."""

    threads: Annotated[
        int | None, Parameter(group=_RUN, help="Threads; every core by default.", validator=Number(gte=1))
    ] = None
    quiet: Annotated[bool, flag("Leave out notes, findings and progress; errors remain.", group=_RUN)] = False
    debug: Annotated[bool, flag("Show where an error comes from.", group=_RUN)] = False
    json: Annotated[bool, flag("Print one JSON object.", group=_RUN)] = False


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ValueOptions(RunOptions):
    """What a table is about, and what becomes of its values."""

    target: Annotated[
        str | None,
        Parameter(group=_TABLE, help="Column of labels or numbers; by its name or the last one where none is named."),
    ] = None
    task: Annotated[
        Literal["auto", "classification", "regression"],
        Parameter(group=_TABLE, help="Whether the target holds classes or a number; by its values by default."),
    ] = "auto"
    groups: Annotated[
        str | None, Parameter(group=_TABLE, help="Column that tells which rows belong together, such as a patient.")
    ] = None
    time: Annotated[str | None, Parameter(group=_TABLE, help="Column that tells when a row was seen.")] = None
    strict: Annotated[
        bool, flag("Refuse columns that need a decision, until the options below say what to do.", group=_TABLE)
    ] = False
    encode: Annotated[
        Literal["onehot", "ordinal", "drop"] | None,
        Parameter(group=_TABLE, help="What to do with categories: k - 1 dummies for k values, codes, or leave out."),
    ] = None
    scale: Annotated[
        Literal["standard", "minmax", "none"],
        Parameter(group=_TABLE, help="How to scale numbers; dummies stay 0 and 1."),
    ] = "standard"
    impute: Annotated[
        Literal["mean", "median", "most_frequent"] | None, Parameter(group=_TABLE, help="How to fill missing values.")
    ] = None
    drop_missing: Annotated[bool, flag("Leave out rows with missing values or without a label.", group=_TABLE)] = False
    keep_missing_as_class: Annotated[
        bool, flag("Keep labels such as NA, ?, . or unknown as classes; else they are missing.", group=_TABLE)
    ] = False


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TableOptions(ValueOptions):
    """Which columns and rows of a table are used, what each column holds, and where to compute."""

    drop: Annotated[
        tuple[str, ...], flag("Column to leave out, such as an id; may be given several times.", group=_TABLE)
    ] = ()
    categorical: Annotated[
        tuple[str, ...], flag("Column of categories, such as numbers that are codes; several times.", group=_TABLE)
    ] = ()
    numeric: Annotated[
        tuple[str, ...], flag("Column of numbers, where it is taken for something else; several times.", group=_TABLE)
    ] = ()
    text: Annotated[tuple[str, ...], flag("Column of free text; may be given several times.", group=_TABLE)] = ()
    date: Annotated[tuple[str, ...], flag("Column of dates; may be given several times.", group=_TABLE)] = ()
    max_rows: Annotated[
        int | None,
        Parameter(
            group=_TABLE, help="Use at most so many rows, as large a share of each class.", validator=Number(gte=2)
        ),
    ] = None
    data: Annotated[
        str | None, Parameter(group=_TABLE, help="Folder of data sets known by name; $BAYESFLOOR_DATA by default.")
    ] = None
    seed: Annotated[
        int, Parameter(group=_RUN, help="The same seed, the same answer.", validator=Number(gte=0, lt=2**32))
    ] = 0
    device: Annotated[
        Literal["auto", "cpu", "cuda"], Parameter(group=_RUN, help="Where distances are computed; the same answer.")
    ] = "auto"
    cluster: Annotated[
        str | None, Parameter(group=_RUN, help="Address of a Dask scheduler to compute on; the same answer.")
    ] = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class MetricOptions:
    """What models are judged by, and which answers make a command fail."""

    fast: Annotated[bool, flag("From spanning trees alone, without training anything.")] = False
    by: Annotated[
        str | None,
        Parameter(help="Column whose values get figures of their own, such as a region; it stays a feature."),
    ] = None
    metric: Annotated[
        tuple[str, ...],
        flag(
            "What models are judged by: error, balanced_error, log_loss, brier, roc_auc, average_precision, f1, "
            "top_k_error (top_3_error), cost; for numbers r2, rmse, mae. The error or r2 by default. Several times for "
            "several; the first is the headline."
        ),
    ] = ()
    costs: Annotated[
        str | None,
        Parameter(help="CSV of what decisions cost: a line for each true class, a column for each decision, by name."),
    ] = None
    positive: Annotated[
        str | None, Parameter(help="The class of two that average_precision and f1 are about; by default the last one.")
    ] = None
    fail_above: Annotated[
        float | None, Parameter(help="Exit with 1 when the floor or ceiling is above this number.")
    ] = None
    fail_below: Annotated[
        float | None, Parameter(help="Exit with 1 when the floor or ceiling is below this number.")
    ] = None


#: What a command that is given none of these gets.
RUN_DEFAULTS, TABLE_DEFAULTS, METRIC_DEFAULTS = RunOptions(), TableOptions(), MetricOptions()
