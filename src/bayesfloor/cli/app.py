"""The commands with their options and help. What they do is loaded when it is done."""

from typing import Annotated, Literal

from cyclopts import App, Group, Parameter
from cyclopts.validators import Number

from bayesfloor.cli.options import FailAbove, RunOptions, TableOptions

_ABOUT = """How low can the error of any classifier go on your data?

FILE is CSV and its relatives, Parquet, Arrow, ARFF, KEEL, NPZ or libsvm, plain
or packed by gzip or zip; or the name of a data set ('bayesfloor datasets' lists
them). Results go to stdout, everything else to stderr."""

_AFTERWORD = """Examples:
  bayesfloor report patients.csv --target outcome --encode onehot
  bayesfloor floor iris
  bayesfloor pairs patients.csv --target outcome --encode onehot
  bayesfloor floor patients.csv --fast --fail-above 0.1 --json

Exit codes: 0 done, 1 a floor is above --fail-above, 2 usage, 3 bad data,
4 something is missing, 130 interrupted."""


def _examples(*commands: str) -> str:
    return "\n  ".join(["Examples:", *commands])


def _version() -> str:
    from importlib.metadata import version

    return version("bayesfloor")


app = App(
    name="bayesfloor",
    help=_ABOUT,
    help_epilogue=_AFTERWORD,
    help_format="plaintext",
    version=_version,
    suppress_keyboard_interrupt=False,
    group_parameters=Group("Options", sort_key=1),
)
app.register_install_completion_command()

_TABLE_DEFAULTS = TableOptions()
_RUN_DEFAULTS = RunOptions()
File = Annotated[str, Parameter(name="FILE", help="A file, or the name of a data set.")]
Force = Annotated[bool, Parameter(negative="", show_default=False, help="Replace a file that is there.")]
Criterion = Annotated[
    Literal["whole", "mean", "worst"],
    Parameter(help="Which floor: of the whole problem, the mean over all pairs of classes, or of the worst pair."),
]


@app.command(
    help_epilogue=_examples(
        "bayesfloor report digits",
        "bayesfloor report patients.csv --target outcome --encode onehot --target-error 0.05",
        "bayesfloor report patients.csv --fast --out patients.md",
    )
)
def report(
    file: File,
    /,
    *,
    fast: Annotated[
        bool, Parameter(negative="", show_default=False, help="From spanning trees alone, without training anything.")
    ] = False,
    target_error: Annotated[
        float | None,
        Parameter(help="An error that you hope for: is it feasible?", validator=Number(gte=0, lte=1)),
    ] = None,
    features: Annotated[
        int | None, Parameter(help="Search for so many columns that carry the information.", validator=Number(gte=1))
    ] = None,
    out: Annotated[
        str | None, Parameter(help="Where to write: .html, .md, .json or .txt. NAME-report.html by default.")
    ] = None,
    force: Force = False,
    fail_above: FailAbove = None,
    options: TableOptions = _TABLE_DEFAULTS,
) -> int:
    """Report how good any model can get on the data, and where it will hurt.

    The answer on the terminal, and everything in one HTML file that needs no
    network: the floor and how sure it is, the learning curve, the hardest classes
    and pairs, and the rows that look alike but are labelled differently.
    """
    from bayesfloor.cli.reports import write_report

    return write_report(
        file,
        options,
        fast=fast,
        target_error=target_error,
        features=features,
        out=out,
        force=force,
        fail_above=fail_above,
    )


@app.command(
    help_epilogue=_examples(
        "bayesfloor floor iris",
        "bayesfloor floor patients.csv --target outcome --encode onehot --impute median",
        "bayesfloor floor patients.csv --fast --fail-above 0.1",
    )
)
def floor(
    file: File,
    /,
    *,
    fast: Annotated[
        bool, Parameter(negative="", show_default=False, help="From spanning trees alone, without training anything.")
    ] = False,
    fail_above: FailAbove = None,
    options: TableOptions = _TABLE_DEFAULTS,
) -> int:
    """Estimate the lowest error that any classifier can reach.

    A stack of learners is trained at three sizes, and the floor is where its
    learning curve ends: the upper end of the interval is an error that a model
    attains, the lower end assumes that the curve goes on as it does.
    """
    from bayesfloor.cli.floors import show_floor

    return show_floor(file, options, fast=fast, fail_above=fail_above)


@app.command(
    help_epilogue=_examples(
        "bayesfloor pairs digits --top 5",
        "bayesfloor pairs patients.csv --target outcome --json",
    )
)
def pairs(
    file: File,
    /,
    *,
    top: Annotated[int | None, Parameter(help="Show so many of the hardest pairs.", validator=Number(gte=1))] = None,
    fail_above: FailAbove = None,
    options: TableOptions = _TABLE_DEFAULTS,
) -> int:
    """List pairs of classes by how hard they are to tell apart, the hardest first.

    'normalized' is the floor as a share of its largest possible value, that of
    naming the larger class; it ranks pairs.
    """
    from bayesfloor.cli.floors import show_pairs

    return show_pairs(file, options, top=top, fail_above=fail_above)


@app.command(
    help_epilogue=_examples(
        "bayesfloor classes digits",
        "bayesfloor classes patients.csv --target outcome --fail-above 0.05",
    )
)
def classes(file: File, /, *, fail_above: FailAbove = None, options: TableOptions = _TABLE_DEFAULTS) -> int:
    """List classes by how hard each is to tell from all others, the hardest first."""
    from bayesfloor.cli.floors import show_classes

    return show_classes(file, options, fail_above=fail_above)


@app.command(
    help_epilogue=_examples(
        "bayesfloor tree digits",
        "bayesfloor tree digits --cut balanced --dot | dot -Tsvg > tree.svg",
    )
)
def tree(
    file: File,
    /,
    *,
    cut: Annotated[
        Literal["min-cut", "normalized-cut", "average-linkage", "balanced", "random"],
        Parameter(help="How to cut the classes in two, again and again."),
    ] = "min-cut",
    dot: Annotated[
        bool, Parameter(negative="", show_default=False, help="Write Graphviz's language, for 'dot -Tsvg'.")
    ] = False,
    options: TableOptions = _TABLE_DEFAULTS,
) -> None:
    """Show the tree of binary problems that cuts between easily told classes give."""
    from bayesfloor.cli.choices import show_tree

    show_tree(file, options, cut=cut, dot=dot)


@app.command(
    help_epilogue=_examples(
        "bayesfloor select wine",
        "bayesfloor select patients.csv --target outcome --features 5 --direction backward",
    )
)
def select(
    file: File,
    /,
    *,
    features: Annotated[
        int | None,
        Parameter(help="How many columns to select; as many as lower the floor by default.", validator=Number(gte=1)),
    ] = None,
    direction: Annotated[Literal["forward", "backward"], Parameter(help="Add columns, or remove them.")] = "forward",
    criterion: Criterion = "whole",
    lookahead: Annotated[Literal[1, 2], Parameter(help="2 may add two columns at once.")] = 1,
    options: TableOptions = _TABLE_DEFAULTS,
) -> None:
    """Find the columns that carry the information, by the floor that they leave.

    Dummies of one text column are selected together. At most 5000 rows are used,
    unless --max-rows says otherwise.
    """
    from bayesfloor.cli.choices import show_selection

    show_selection(file, options, features=features, direction=direction, criterion=criterion, lookahead=lookahead)


@app.command(
    help_epilogue=_examples(
        "bayesfloor transforms wine --scale none",
        "bayesfloor transforms patients.csv --target outcome --criterion worst",
    )
)
def transforms(file: File, /, *, criterion: Criterion = "whole", options: TableOptions = _TABLE_DEFAULTS) -> None:
    """Rank transforms of the data by the floor that each leaves.

    Scalers, principal components, Laplacian eigenmaps and a radial kernel are
    compared. At most 5000 rows are used, unless --max-rows says otherwise.
    """
    from bayesfloor.cli.choices import show_transforms

    show_transforms(file, options, criterion=criterion)


@app.command(
    help_epilogue=_examples(
        "bayesfloor weights iris",
        "bayesfloor weights patients.csv --target outcome --by pairs --base equal --json",
    )
)
def weights(
    file: File,
    /,
    *,
    strength: Annotated[
        float, Parameter(help="How many times its base weight a hopeless class gets on top.", validator=Number(gte=0))
    ] = 1.0,
    by: Annotated[
        Literal["classes", "pairs"], Parameter(help="Hard against the rest, or against each other class.")
    ] = "classes",
    base: Annotated[Literal["balanced", "equal"], Parameter(help="What the weights start from.")] = "balanced",
    options: TableOptions = _TABLE_DEFAULTS,
) -> None:
    """Give weights of classes for training: hard ones weigh more."""
    from bayesfloor.cli.choices import show_weights

    show_weights(file, options, strength=strength, by=by, base=base)


@app.command(
    help_epilogue=_examples(
        "bayesfloor fit patients.csv --target outcome --encode onehot --out patients.skops",
    )
)
def fit(
    file: File,
    /,
    *,
    out: Annotated[str, Parameter(help="Where to write the model.")],
    force: Force = False,
    options: TableOptions = _TABLE_DEFAULTS,
) -> None:
    """Train a hierarchical classifier with probabilities, and write it with the preparation of the table.

    Linear SVMs along a class tree, by the C that cross-validates best. The model
    file holds no code, and 'predict' runs none.
    """
    from bayesfloor.cli.models import fit_model

    fit_model(file, options, out=out, force=force)


@app.command(
    help_epilogue=_examples(
        "bayesfloor predict patients.skops new.csv --out predicted.csv",
        "bayesfloor predict patients.skops new.csv | head",
    )
)
def predict(
    model: Annotated[str, Parameter(name="MODEL", help="What 'fit' wrote.")],
    file: Annotated[str, Parameter(name="FILE", help="A file with the columns that the model was trained on.")],
    /,
    *,
    out: Annotated[str | None, Parameter(help="Where to write; stdout by default.")] = None,
    force: Force = False,
    options: RunOptions = _RUN_DEFAULTS,
) -> None:
    """Predict the label of each row of a file, with the probabilities of all classes, as CSV.

    Where the file has labels, stderr says how many of them differ from what was
    predicted.
    """
    from bayesfloor.cli.models import predict_file

    predict_file(model, file, options, out=out, force=force)


@app.command(
    help_epilogue=_examples(
        "bayesfloor datasets",
        "bayesfloor datasets --data ~/data --json",
    )
)
def datasets(
    *,
    data: Annotated[str | None, Parameter(help="Folder of data sets; $BAYESFLOOR_DATA by default.")] = None,
    options: RunOptions = _RUN_DEFAULTS,
) -> None:
    """List the data sets that are known by name."""
    from bayesfloor.cli.choices import show_datasets

    show_datasets(data, options)
