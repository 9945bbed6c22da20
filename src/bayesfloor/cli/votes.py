"""The command votes."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import bayesfloor as bf
from bayesfloor.cli.exits import UsageError
from bayesfloor.cli.floors import verdict_on
from bayesfloor.cli.input import check_readable, read_columns
from bayesfloor.cli.options import SHOW_DEFAULTS, FailAbove, Seed, ShowOptions
from bayesfloor.cli.output import say, show, table_text
from bayesfloor.runtime.text import exact_percent, visible

if TYPE_CHECKING:
    from bayesfloor.tables.columns import RawTable

Form = Literal["counts", "labels", "long"]


def votes(
    file: str,
    /,
    *,
    row: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
    form: Form | None = None,
    keep_missing_as_class: bool = False,
    fail_above: FailAbove = None,
    seed: Seed = 0,
    options: ShowOptions = SHOW_DEFAULTS,
) -> int:
    """Estimate the floor from the labels of several annotators.

    FILE has a line for each vote, with columns for row, annotator and label,
    found by their names or named by the options. Or it has a line for each row:
    with a column of labels for each annotator, or of counts for each class.

    Parameters
    ----------
    file
        A table of votes: CSV, Parquet, Excel and so on; - for stdin.
    row
        Column that tells which row a vote is about.
    annotator
        Column that tells who voted.
    label
        Column of labels.
    form
        A column of counts for each class, a column of labels for each annotator, or a line for each vote.
    keep_missing_as_class
        Keep labels such as ?, . or a rare NA as classes; else they are no votes.

    Examples
    --------
    bayesfloor votes votes.csv
    bayesfloor votes votes.csv --row item --annotator worker --label answer --json
    bayesfloor votes counts.csv --form counts --fail-above 0.1
    """
    from bayesfloor.floor.votes.vote_table import ANNOTATOR_NAMES, LABEL_NAMES, ROW_NAMES, find_name

    if form in ("counts", "labels") and (label is not None or annotator is not None):
        raise UsageError(f"--label and --annotator name columns of a long table, and exclude --form {form}")
    if file != "-":
        check_readable(file, [])
    raw = read_columns([file], target="")  # no column has an empty name: the last is read as any other, not as labels
    found = {
        "rows": row or find_name(raw.names, ROW_NAMES),
        "labels": label or find_name(raw.names, LABEL_NAMES),
        "annotators": annotator or find_name(raw.names, ANNOTATOR_NAMES),
    }
    is_named = label is not None or annotator is not None
    if form is None and (is_named or (found["rows"] is not None and found["labels"] is not None)):
        form = "long"
    if form == "long" and file != "-":  # again, with labels such as 007 and NA as they are written
        named = [each for each in (found["rows"], found["annotators"]) if each in raw.names]
        raw = read_columns([file], categorical=named, target=found["labels"])
    dropped = [] if form == "long" else [name for name in (found["rows"],) if name in raw.names]
    form = form or _form_of(raw, dropped)
    if form != "counts" and not keep_missing_as_class:
        _leave_out_missing(raw, [found["labels"]] if form == "long" else [n for n in raw.names if n not in dropped])
    for note in raw.notes:
        say(note, quiet=options.quiet)
    if form == "long":
        given: dict[str, Any] = {name: column for name, column in found.items() if column is not None}
        result = bf.vote_floor(_frame(raw, text=set(given.values())), form="long", **given, random_state=seed)
    else:
        kept = replace(raw, columns=[each for each in raw.columns if each.name not in dropped])
        frame = _frame(kept, set() if form == "counts" else set(kept.names))
        result = bf.vote_floor(frame, form=form, random_state=seed)
        if dropped:
            say(f"{visible(dropped[0])!r} names the rows and is left out.", quiet=options.quiet)
    kind = {"counts": "counts for each class", "labels": "labels of each annotator", "long": "a line for each vote"}
    say(f"Read as {kind[form]}: {result.n_votes} votes at {result.n_rows} rows.", quiet=options.quiet)
    _show(result, options)
    return verdict_on(result.estimate, "the floor", fail_above)


def _frame(raw: "RawTable", text: set[str]) -> Any:
    """Return columns as a data frame; names of rows, annotators and labels as text."""
    from bayesfloor.tables.columns import as_text
    from bayesfloor.tables.frames import frame_of_raw

    return frame_of_raw(replace(raw, columns=[as_text(each) if each.name in text else each for each in raw.columns]))


def _form_of(raw: "RawTable", dropped: list[str]) -> Form:
    """Tell whether the columns of a wide table are counts or labels."""
    from bayesfloor.tables.columns import NumberColumn

    votes = [each for each in raw.columns if each.name not in dropped]
    return "counts" if all(isinstance(each, NumberColumn) and not each.gaps.any() for each in votes) else "labels"


def _leave_out_missing(raw: "RawTable", names: "list[str | None]") -> None:
    """Take labels that say that there is none for no votes, and note it."""
    from bayesfloor.tables.targets import without_missing_labels
    from bayesfloor.tables.unlabelled import counted_labels

    found = without_missing_labels(raw, *(name for name in names if name in raw.names))
    if found:
        hint = "--keep-missing-as-class keeps such labels as classes"
        raw.notes.append(f"Missing labels, which are no votes: {counted_labels(found)}; {hint}.")


def _show(found: Any, options: ShowOptions) -> None:
    low, high = found.agreement_interval
    rows = [
        ("the floor", found.estimate, *found.interval),
        ("a vote, from the others at its row", found.reached, "", ""),
        ("two annotators disagree", 1.0 - found.agreement, 1.0 - high, 1.0 - low),
        ("votes outside the majority (too low)", found.majority.naive, "", ""),
    ]
    ceilings = ", ".join(f"{value:.4f} of {n}" for n, value in found.majority.ceiling.items() if n > 1)
    say(
        f"{found.sentence()} Against the majority of votes: {ceilings}. {exact_percent(found.confidence)} intervals.",
        quiet=options.quiet,
    )
    text = table_text(("", "error", "from", "to"), rows)
    show("votes", found.to_dict(), text, options, findings=found.findings)
