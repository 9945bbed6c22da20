"""The command drift."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

import bayesfloor as bf
from bayesfloor.cli.exits import UsageError
from bayesfloor.cli.floors import verdict_on
from bayesfloor.cli.input import check_readable
from bayesfloor.cli.options import RUN_DEFAULTS, Count, RunOptions, Seed, Share
from bayesfloor.cli.output import progress_on_stderr, records_text, say, show, table_text
from bayesfloor.cli.streams import without_messages_of_libraries
from bayesfloor.cli.warmup import compiling_boosting

if TYPE_CHECKING:
    from bayesfloor.results import Drift, TargetDrift

#: Columns that are listed: those that surely moved, and of the others so many.
_MOST_COLUMNS = 10


def drift(
    old: str,
    new: str,
    /,
    *,
    target: str | None = None,
    task: Literal["auto", "classification", "regression"] = "auto",
    groups: str | None = None,
    time: str | None = None,
    drop: tuple[str, ...] = (),
    fast: bool = False,
    effort: Literal["fast", "default"] = "default",
    max_rows: Annotated[Count, Parameter(validator=Number(gte=4))] = None,
    fail_above: Share = None,
    fail_below: Share = None,
    seed: Seed = 0,
    options: RunOptions = RUN_DEFAULTS,
) -> int:
    """Tell whether two tables come from one distribution, and what moved between them.

    The p-value is the chance of tables as different as these, if both come from one
    distribution; it holds at any size. Models then say how well the tables can be
    told apart. With --target, labels given the columns are looked at by themselves.

    Parameters
    ----------
    old
        The first table: CSV, Parquet, Excel and so on; - for stdin.
    new
        The second table, with the same columns in any order.
    target
        Column of labels or numbers in both tables; no feature.
    task
        Whether the target holds classes or a number; by its values by default.
    groups
        Column that tells which rows belong together, such as a patient.
    time
        Column of dates or numbers that tells when rows were seen; rows that follow each other may be alike.
    drop
        Column to leave out, where a table has it; may be given several times.
    fast
        The tests and what moved, without training anything.
    effort
        How much is trained: fast or default.
    max_rows
        Use at most so many rows of both tables together, as large a share of each.
    fail_above
        Exit with 1 when a model tells the tables apart with an ROC AUC above this number.
    fail_below
        Exit with 1 when the p-value of the columns, or of the labels given them, is below this number.

    Examples
    --------
    bayesfloor drift january.csv february.csv
    bayesfloor drift train.csv production.csv --fast --fail-below 0.01
    bayesfloor drift old.csv new.csv --target outcome --fail-above 0.6
    """
    files = [old, new]
    if files.count("-") > 1:
        raise UsageError("stdin can be read once")
    if groups is not None and time is not None:
        raise UsageError("give --groups or --time, not both")
    if fast and fail_above is not None:
        raise UsageError("--fail-above is about models: leave out --fast, or give --fail-below a p-value")
    for file in files:
        if file != "-":
            check_readable(file, [])
    with progress_on_stderr(options.quiet) as progress, without_messages_of_libraries(), compiling_boosting(not fast):
        found = bf.drift(
            *files,
            y=target,
            task=task,
            groups=groups,
            time=time,
            drop=drop,
            learners=None if fast else "default",
            effort=effort,
            max_rows=max_rows,
            n_jobs=options.threads,
            random_state=seed,
            progress=progress,
        )
    say(found.sentence(), quiet=options.quiet)
    show("drift", found.to_dict(), _text(found), options, findings=found.findings)
    return _verdict(found, fail_above, fail_below)


def _text(found: "Drift") -> str:
    """List the tests, and what moved."""
    rows: list[tuple[Any, ...]] = [
        ("p-value of the columns", found.p_value, "", ""),
        ("Henze-Penrose divergence", found.estimate, *found.interval),
    ]
    if found.separability is not None:
        auc = found.separability
        rows += [
            ("ROC AUC of telling the tables apart, reached", auc.reached, *auc.reached_interval),
            ("ROC AUC of telling the tables apart, at most", auc.estimate, *auc.interval),
        ]
    parts = [table_text(("", "value", "from", "to"), rows + _of_target(found.target))]
    parts.append(
        records_text(
            [each._asdict() for each in found.moves[:_MOST_COLUMNS]],
            {"column": "column", "what": "what", "share": "moved", "p_value": "p-value", "old": "old", "new": "new"},
        )
    )
    if len(found.moves) > _MOST_COLUMNS:
        parts[-1] += f"\n... and {len(found.moves) - _MOST_COLUMNS} more, with --json"
    if found.levels:
        parts.append(
            records_text(found.levels, {"column": "column", "level": "level", "old": "old share", "new": "new share"})
        )
    if found.kinds:
        headings = {"rows": "rows of a kind", "old": "old share", "new": "new share", "p_value": "p-value"}
        parts.append(records_text(found.kinds, headings))
    return "\n\n".join(parts)


def _of_target(target: "TargetDrift | None") -> list[tuple[Any, ...]]:
    """List what is said of labels."""
    if target is None:
        return []
    return [
        ("p-value of labels given the columns", "" if target.p_value is None else target.p_value, "", ""),
        ("p-value of the labels alone", target.label_p_value, "", ""),
    ]


def _verdict(found: "Drift", fail_above: float | None, fail_below: float | None) -> int:
    """Return 1, and say so, where tables differ by more than was allowed."""
    reached = 0.0 if found.separability is None else found.separability.reached
    code = verdict_on(reached, "the ROC AUC of telling the tables apart", fail_above)
    p_values = {"the columns": found.p_value}
    if found.target is not None and found.target.p_value is not None:
        p_values["labels given the columns"] = found.target.p_value
    for name, p_value in p_values.items():
        code = max(code, verdict_on(p_value, f"the p-value of {name}", None, fail_below))
    return code
