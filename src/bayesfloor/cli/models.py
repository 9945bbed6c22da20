"""The commands fit and predict."""

import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import bayesfloor as bf
from bayesfloor.cli.exits import UsageError
from bayesfloor.cli.input import is_file, open_table, say_notes
from bayesfloor.cli.options import RUN_DEFAULTS, TABLE_DEFAULTS, File, Force, RunOptions, TableOptions
from bayesfloor.cli.output import (
    check_output,
    progress_on_stderr,
    say,
    show,
    table_text,
    write,
    write_file,
    write_json,
)
from bayesfloor.cli.streams import STDIN_TOKEN, without_messages_of_libraries
from bayesfloor.runtime.text import csv_text, visible

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bayesfloor.cli.model_file import Model
    from bayesfloor.data.prepared_table import Table


def fit(
    *files: File,
    out: str,
    model: Literal["landmarks", "smartsvm"] = "landmarks",
    effort: Literal["fast", "default", "high"] = "default",
    force: Force = False,
    options: TableOptions = TABLE_DEFAULTS,
) -> None:
    """Train a classifier with probabilities, and write it with the preparation of the table.

    LandmarkClassifier by default: near the accuracy of kernel methods, in less
    time than linear SVMs. The model file holds no code, and 'predict' runs none.

    Parameters
    ----------
    out
        Where to write the model.
    model
        Kernels of landmarks and rules, or linear SVMs along a class tree, which can be read.
    effort
        How much time landmarks may take, for how good a model.

    Examples
    --------
    bayesfloor fit patients.csv --target outcome --out patients.skops
    bayesfloor fit patients.csv --target outcome --effort high --out patients.skops
    """
    if model != "landmarks" and effort != "default":
        raise UsageError("--effort is for --model landmarks alone")
    place = check_output(out, force)
    table = open_table(files, options)
    from bayesfloor.cli.model_file import Model, pack_model

    started = perf_counter()
    classifier, found = (
        _fit_landmarks(table, effort, options) if model == "landmarks" else _fit_smart_svm(table, options)
    )
    seconds = perf_counter() - started
    write_file(place, pack_model(Model(classifier, table.preparation)), force=force)
    result = {"model": model, "out": str(place), "n_features": classifier.n_features_in_, **found.result}
    rows = [("model", model), ("written to", str(place)), *found.rows, ("seconds", f"{seconds:.2f}")]
    text = f"{table_text(('', ''), rows)}{found.picture}"
    show("fit", result | {"seconds": seconds}, text, options, table=table)
    say(found.caveat, quiet=options.quiet)


class _Found(NamedTuple):
    """What is shown of a trained classifier: as JSON, in a table and below it, and what to think of its error."""

    result: dict[str, Any]
    rows: list[tuple[str, str]]
    picture: str
    caveat: str


def _fit_landmarks(table: "Table", effort: str, options: TableOptions) -> "tuple[bf.LandmarkClassifier, _Found]":

    with progress_on_stderr(options.quiet) as progress:
        classifier = bf.LandmarkClassifier(
            effort, n_jobs=options.threads, progress=progress, random_state=options.seed
        ).fit(table.X, table.y, groups=table.groups)
    features = classifier.feature_map_
    n_kept = 0 if classifier.local_ is None else len(classifier.local_.rows)
    result = {
        "effort": effort,
        "n_landmarks": len(features.landmarks),
        "n_rules": len(features.rule_first),
        "n_rows_kept": n_kept,
        "held_out_error": classifier.held_out_error_,
        "held_out_log_loss": classifier.held_out_log_loss_,
    }
    rows = [
        ("held-out error", f"{classifier.held_out_error_:.4f}"),
        ("held-out log-loss", f"{classifier.held_out_log_loss_:.4f}"),
        ("landmarks", str(len(features.landmarks))),
        ("rules", str(len(features.rule_first))),
    ]
    rows += [("training rows kept", str(n_kept))] if n_kept else []
    caveat = (
        "The held-out figures are of a model that was trained on fewer rows, and they chose its penalty; the one that "
        "is written is trained on all rows."
    )
    if table.time is not None:
        caveat += " Held-out rows are of all times: 'bayesfloor floor' tests models on what came next."
    return classifier, _Found(result, rows, "", caveat)


def _fit_smart_svm(table: "Table", options: TableOptions) -> "tuple[bf.SmartSVC, _Found]":

    classifier = bf.SmartSVC(routing="soft", n_jobs=options.threads, random_state=options.seed)
    classifier.fit(table.X, table.y, groups=table.groups)
    chosen = int(abs(classifier.Cs_ - classifier.C_).argmin())
    error = 1.0 - float(classifier.cv_scores_.mean(axis=1)[chosen])
    result = {"C": classifier.C_, "cv_error": error, "tree": classifier.tree_.to_nested()}
    rows = [("cross-validated error", f"{error:.4f}"), ("C", f"{classifier.C_:g}")]
    caveat = "The error is that of the best of all C, by going one way down the tree, and so a little too low."
    return classifier, _Found(result, rows, f"\n{classifier.tree_.to_text()}", caveat)


def predict(
    model: str, file: str, /, *, out: str | None = None, force: Force = False, options: RunOptions = RUN_DEFAULTS
) -> None:
    """Predict the label of each row of a file, with the probabilities of all classes, as CSV.

    Where the file has labels, stderr says how many of them differ from what was
    predicted.

    Parameters
    ----------
    model
        What 'fit' wrote.
    file
        A file with the columns of the first one, or - for stdin.
    out
        Where to write; stdout by default.

    Examples
    --------
    bayesfloor predict patients.skops new.csv --out predicted.csv
    bayesfloor predict patients.skops new.csv | head
    """
    place = None if out is None else check_output(out, force)
    if options.json and place is not None:
        raise UsageError("--json writes to stdout, and --out a CSV file; take one of them")
    file = "-" if file == STDIN_TOKEN else file
    for path in (model, file):
        if path == "-":
            continue
        if not is_file(Path(path)):
            there = Path(path).exists()
            why = " is a folder" if Path(path).is_dir() else " is not a plain file" if there else ": no such file"
            raise UsageError(f"{path!r}{why}")
    from bayesfloor.cli.model_file import read_model

    trained = read_model(Path(model))
    with without_messages_of_libraries():
        table = _read_alike(file, trained, options.quiet)
    classifier = trained.classifier.set_params(n_jobs=options.threads)
    probability = classifier.predict_proba(table.X)
    labels = classifier.predict(table.X)
    wrong = _count_wrong(table, labels)
    if wrong is not None:
        say(
            f"{wrong} of {len(labels)} labels in {table.source} are not those predicted ({wrong / len(labels):.1%}).",
            quiet=options.quiet,
        )
    if options.json:
        result = {
            "classes": classifier.classes_,
            "lines": table.lines,
            "predicted": labels,
            "probability": probability,
            "n_wrong": wrong,
        }
        write_json("predict", result, table=table)
        return
    text, n_escaped = as_csv(table.lines, labels, classifier.classes_, probability)
    if n_escaped:
        say(
            f"Text that a spreadsheet would take for a formula has an apostrophe in front, in {n_escaped} of "
            f"{len(labels)} rows.",
            quiet=options.quiet,
        )
    if place is not None:
        write_file(place, text.encode(), force=force)
        say(f"{len(labels)} rows written to {str(place)!r}.", quiet=options.quiet)
    else:
        lines = text.rstrip("\n").split("\n")
        write("\n".join(map(visible, lines) if sys.stdout.isatty() else lines))


def _read_alike(file: str, trained: "Model", quiet: bool) -> "Table":
    """Read a file as the one that the model was trained on; labels that cannot be used are left aside."""
    from bayesfloor.tables.targets import is_missing_label

    preparation = trained.preparation
    are_kept = any(is_missing_label(str(label)) for label in trained.classifier.classes_.tolist())
    try:
        table = bf.read_table(file, preparation=preparation, keep_missing_as_class=are_kept)
    except ValueError as error:
        try:
            # no column has this name, and the labels are then a column that is not used
            table = bf.read_table(file, preparation=replace(preparation, target=f"{preparation.target}\0"))
        except ValueError:
            raise error from None
        say(f"The labels are left aside: {error}", quiet=quiet)
    say_notes(table, quiet)
    return replace(table, target=preparation.target)


def as_csv(
    lines: "NDArray[np.int64]", labels: "NDArray[Any]", classes: "NDArray[Any]", probability: "NDArray[np.float64]"
) -> tuple[str, int]:
    """Write predictions as CSV.

    Text that a spreadsheet would take for a formula gets an apostrophe in front.

    Parameters
    ----------
    lines : ndarray of shape (n_rows,)
        Where each row is in its file.
    labels : ndarray of shape (n_rows,)
        What was predicted.
    classes : ndarray of shape (n_classes,)
        The labels in the order of `probability`.
    probability : ndarray of shape (n_rows, n_classes)
        The probability of each class.

    Returns
    -------
    text : str
        The table.
    n_escaped : int
        How many cells got an apostrophe.
    """
    header = ["line", "predicted", *(f"p({label})" for label in classes.tolist())]
    rows = zip(lines.tolist(), labels.tolist(), probability.tolist(), strict=True)
    return csv_text(header, ((line, label, *(f"{share:.6f}" for share in row)) for line, label, row in rows))


def _count_wrong(table: "Table", labels: "NDArray[Any]") -> int | None:
    if table.y is None:
        return None
    return sum(str(a) != str(b) for a, b in zip(table.y.tolist(), labels.tolist(), strict=True))
