"""The commands fit and predict."""

import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from cyclopts import Parameter
from cyclopts.validators import Number

import bayesfloor as bf
from bayesfloor.cli.exits import UsageError
from bayesfloor.cli.input import engine, is_file, open_table, refuse_cluster, say_notes
from bayesfloor.cli.memory import announce, rows_to_train_on
from bayesfloor.cli.options import RUN_DEFAULTS, TABLE_DEFAULTS, File, Force, RunOptions, TableOptions
from bayesfloor.cli.output import check_output, say, show, table_text, write, write_file, write_json
from bayesfloor.cli.streams import without_messages_of_libraries
from bayesfloor.runtime.text import csv_text, visible

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bayesfloor.classify.stored_model import Model
    from bayesfloor.data.prepared_table import Table
    from bayesfloor.floor.learned.trust.checks import Quick


def fit(
    *files: File,
    out: str,
    model: Literal["landmarks", "stack", "smartsvm"] = "landmarks",
    effort: Literal["fast", "default"] = "default",
    no_checks: bool = False,
    force: Force = False,
    options: TableOptions = TABLE_DEFAULTS,
) -> None:
    """Train a model of classes or of a number, and write it with the preparation of the table.

    LandmarkClassifier or LandmarkRegressor by default: near the accuracy of kernel
    methods, in less time than linear SVMs. With --model stack, the best model that
    'floor' tries, in its time. The model file holds no code, and 'predict' runs none.

    Parameters
    ----------
    out
        Where to write the model.
    model
        Kernels of landmarks and rules; the stack of learners that 'floor' tries; or for classes linear SVMs along a
        class tree, which can be read.
    effort
        How much time landmarks or the stack may take, for how good a model.
    no_checks
        Do not look for leaks, rows that belong together and an order in time, which held-out figures are otherwise
        without.

    Examples
    --------
    bayesfloor fit patients.csv --target outcome --out patients.skops
    bayesfloor fit patients.csv --target outcome --effort fast --out patients.skops
    bayesfloor fit patients.csv --target outcome --model stack --out best.skops
    bayesfloor fit houses.csv --target price --out houses.skops
    """
    if model == "smartsvm" and effort != "default":
        raise UsageError("--effort is for --model landmarks and --model stack alone")
    if model != "stack":
        refuse_cluster(options, f"--model {model} is trained")
    place = check_output(out, force)
    table = open_table(files, options, task=options.task)
    if model == "smartsvm" and table.task == "regression":
        raise UsageError(
            f"--model smartsvm needs classes, and {table.target!r} holds numbers; --task classification reads them as "
            "classes"
        )
    from bayesfloor.classify.stored_model import Model, pack_model
    from bayesfloor.data.sampling import LEARNED_VALUES

    n_used = rows_to_train_on(table, options, effort, LEARNED_VALUES) if model == "stack" else len(table.X)
    announce(table, options, n_used)
    started = perf_counter()
    if model == "smartsvm":
        trained, found = _fit_smart_svm(table, options)
        if not no_checks and (sentence := _quick_checks(table, options).sentence()):
            say(f"{sentence} The error is of rows at random, with all columns.")
    else:
        trained, found = (_fit_stack if model == "stack" else _fit_landmarks)(
            table, effort, options, checks=not no_checks
        )
    seconds = perf_counter() - started
    write_file(place, pack_model(Model(trained, table.preparation)), force=force)
    result = {"model": model, "out": str(place), "n_features": trained.n_features_in_, **found.result}
    rows = [("model", model), ("written to", str(place)), *found.rows, ("seconds", f"{seconds:.2f}")]
    text = f"{table_text(('', ''), rows)}{found.picture}"
    show("fit", result | {"seconds": seconds}, text, options, table=table)
    say(found.caveat, quiet=options.quiet)


class _Found(NamedTuple):
    """What is shown of a trained model: as JSON, in a table and below it, and what to think of its error."""

    result: dict[str, Any]
    rows: list[tuple[str, str]]
    picture: str
    caveat: str


def _fit_landmarks(table: "Table", effort: str, options: TableOptions, *, checks: bool) -> tuple[Any, _Found]:
    """Train a classifier or a regressor on landmarks."""
    kind = bf.LandmarkRegressor if table.task == "regression" else bf.LandmarkClassifier
    with engine(options) as how:
        del how["client"]  # there is none
        trained: Any = kind(effort, **how).fit(table.X, table.y, groups=table.groups)
        found = _quick_checks(table, options) if checks else None
        honest = trained
        if found is not None and (apart := found.problem) is not None:
            honest = kind(effort, **how).fit(apart.X, table.y, groups=apart.groups)
    features = trained.feature_map_
    result: dict[str, Any] = {
        "effort": effort,
        "n_landmarks": len(features.landmarks),
        "n_rules": len(features.rule_first),
    }
    rows = [("landmarks", str(len(features.landmarks))), ("rules", str(len(features.rule_first)))]
    if table.task == "regression":
        r2, rmse = honest.held_out_.r2, honest.held_out_mse_**0.5
        as_asked = None if honest is trained else f"held-out R² as asked for is {trained.held_out_.r2:.4f}"
        result |= {"held_out_r2": r2, "held_out_rmse": rmse}
        figures = [("held-out R²", f"{r2:.4f}"), ("held-out RMSE", f"{rmse:.6g}")]
    else:
        members = trained.members_
        n_kept = 0 if members is None else members.n_rows_kept
        error, loss = honest.held_out_error_, honest.held_out_log_loss_
        as_asked = None if honest is trained else f"held-out error as asked for is {trained.held_out_error_:.4f}"
        result |= {"n_rows_kept": n_kept, "held_out_error": error, "held_out_log_loss": loss}
        figures = [("held-out error", f"{error:.4f}"), ("held-out log-loss", f"{loss:.4f}")]
        rows += [("training rows kept", str(n_kept))] if n_kept else []
    caveat = (
        "The held-out figures are of rows that the model was trained without, and they chose its penalty; if they are "
        "many, the one that is written is trained on all rows."
    )
    if table.time is not None:
        caveat += " Held-out rows are of all times: 'bayesfloor floor' tests models on what came next."
    if found is not None and found.sentence():
        say(found.sentence())
    if as_asked is not None:
        say(f"Held-out figures are without these columns and with such rows kept apart; the {as_asked}.")
    return trained, _Found(result, [*figures, *rows], "", caveat)


def _quick_checks(table: "Table", options: TableOptions) -> "Quick":
    """Look for what makes held-out figures too good."""
    from bayesfloor.floor.learned.trust.checks import quick_checks
    from bayesfloor.floor.learned.trust.source import source_of
    from bayesfloor.floor.trees.problem import check_options

    how = check_options(n_jobs=options.threads, device="cpu", random_state=options.seed)
    return quick_checks(source_of(table, None, None, task=table.task), how)


def _fit_stack(table: "Table", effort: str, options: TableOptions, *, checks: bool) -> tuple[Any, _Found]:
    """Train the stack of learners that the learned floor is measured by."""
    kind = bf.StackedRegressor if table.task == "regression" else bf.StackedClassifier
    with engine(options) as how:
        trained: Any = kind(effort, checks=checks, **how).fit(table)
    held_out, as_asked = trained.held_out_, trained.floor_
    if as_asked is not None:
        for sentence in as_asked.honest.trust.headline:
            say(sentence)
    result: dict[str, Any] = {}
    figures: list[tuple[str, str]] = []
    titles = {"error": "error", "log_loss": "log-loss", "r2": "R²", "rmse": "RMSE", "mae": "MAE"}
    for name, each in {} if held_out is None else held_out.metrics.items():
        (low, high), form = each.interval, ".4f" if name in ("error", "log_loss", "r2") else ".6g"
        result[name] = {"value": each.value, "interval": [low, high]}
        figures.append((f"held-out {titles[name]}", f"{each.value:{form}} ({low:{form}} to {high:{form}})"))
    learners = dict(trained.learners_)
    rows = [*figures, *((f"weight of {name}", f"{weight:.2f}") for name, weight in learners.items())]
    caveat = (
        "The rows are too few to hold some of them out: one plain model is trained."
        if held_out is None
        else "The held-out figures were measured with members trained on four fifths of the rows, and are what the "
        "learning curve says of those that are written, trained on all rows."
    )
    if table.time is not None:
        caveat += " Held-out rows are of all times: 'bayesfloor floor' tests models on what came next."
    return trained, _Found({"effort": effort, "held_out": result, "learners": learners}, rows, "", caveat)


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
    model: str,
    file: str,
    /,
    *,
    confidence: Annotated[float | None, Parameter(validator=Number(gt=0, lt=1))] = None,
    out: str | None = None,
    force: Force = False,
    options: RunOptions = RUN_DEFAULTS,
) -> None:
    """Predict each row of a file, as CSV: its label with the probabilities of all classes, or its number.

    Where the file has labels or numbers, stderr says how far they are from what
    was predicted.

    Parameters
    ----------
    model
        What 'fit' wrote.
    file
        A file with the columns of the first one, or - for stdin.
    confidence
        Beside each number, the ends of an interval that holds so large a share of new rows, such as 0.9.
    out
        Where to write; stdout by default.

    Examples
    --------
    bayesfloor predict patients.skops new.csv --out predicted.csv
    bayesfloor predict patients.skops new.csv | head
    bayesfloor predict houses.skops new.csv --confidence 0.9
    """
    place = None if out is None else check_output(out, force)
    if options.json and place is not None:
        raise UsageError("--json writes to stdout, and --out a CSV file; take one of them")
    for path in (model, file):
        if path == "-":
            continue
        if not is_file(Path(path)):
            there = Path(path).exists()
            why = " is a folder" if Path(path).is_dir() else " is not a plain file" if there else ": no such file"
            raise UsageError(f"{path!r}{why}")
    from bayesfloor.classify.model_file import read_model

    trained = read_model(Path(model))
    is_number = trained.of_table.task == "regression"
    if not is_number and not hasattr(trained.estimator, "predict_proba"):
        raise ValueError(f"{model} gives no probabilities: fit it with routing='soft'")
    if confidence is not None and not is_number:
        raise UsageError(f"--confidence is for numbers, and {model!r} predicts classes, with a probability for each")
    with without_messages_of_libraries():
        table = _read_alike(file, trained, options.quiet)
    trained.estimator.set_params(n_jobs=options.threads)
    found = _numbers(trained, table, confidence) if is_number else _classes(trained, table)
    for sentence in found.said:
        say(sentence, quiet=options.quiet)
    if options.json:
        write_json("predict", {"lines": table.lines, **found.result}, table=table)
    elif place is not None:
        write_file(place, found.text.encode(), force=force)
        say(f"{len(table.lines)} rows written to {str(place)!r}.", quiet=options.quiet)
    else:
        lines = found.text.rstrip("\n").split("\n")
        write("\n".join(map(visible, lines) if sys.stdout.isatty() else lines))


class _Predictions(NamedTuple):
    """What is predicted for the rows of a table: as JSON, as CSV, and what is said of it."""

    result: dict[str, Any]
    text: str
    said: list[str]


def _classes(trained: "Model", table: "Table") -> _Predictions:
    """Predict labels, with the probabilities of all classes."""
    classifier: Any = trained.estimator
    probability, labels = trained.ask("predict_proba", table), trained.ask("predict", table)
    wrong, said = _count_wrong(table, labels), []
    if wrong is not None:
        of = f"{wrong} of {len(labels)} labels in {table.source}"
        said.append(f"{of} are not those predicted ({wrong / len(labels):.1%}).")
    text, n_escaped = as_csv(table.lines, labels, classifier.classes_, probability)
    if n_escaped:
        said.append(
            f"Text that a spreadsheet would take for a formula has an apostrophe in front, in {n_escaped} of "
            f"{len(labels)} rows."
        )
    result = {"classes": classifier.classes_, "predicted": labels, "probability": probability, "n_wrong": wrong}
    return _Predictions(result, text, said)


def _numbers(trained: "Model", table: "Table", confidence: float | None) -> _Predictions:
    """Predict numbers, with the ends of their intervals where these are asked for."""
    predicted = trained.ask("predict", table)
    interval = None if confidence is None else trained.ask("predict_interval", table, confidence=confidence)
    rmse, said = None, []
    if table.y is not None:
        away = abs(table.y - predicted)
        scale = float(away.max()) or 1.0  # squares of very large numbers are infinite
        rmse = scale * float(((away / scale) ** 2).mean() ** 0.5)
        said.append(f"RMSE of the {len(predicted)} numbers in {table.source}: {rmse:.6g}.")
        if interval is not None:
            inside = int(((interval[:, 0] <= table.y) & (table.y <= interval[:, 1])).sum())
            said[0] += f" {inside} of them lie in their interval ({inside / len(predicted):.1%})."
    columns = [predicted] if interval is None else [predicted, *interval.T]
    header = ["line", "predicted", "low", "high"][: 1 + len(columns)]
    rows = zip(table.lines.tolist(), *(each.tolist() for each in columns), strict=True)
    text, _ = csv_text(header, ((line, *(f"{number:.10g}" for number in row)) for line, *row in rows))
    result = {"predicted": predicted, "interval": interval, "confidence": confidence, "rmse": rmse}
    return _Predictions(result, text, said)


def _read_alike(file: str, trained: "Model", quiet: bool) -> "Table":
    """Read a file as the one that the model was trained on; labels that cannot be used are left aside."""
    from bayesfloor.tables.unlabelled import missing_kind

    preparation = trained.of_table
    classes = getattr(trained.estimator, "classes_", None)
    are_kept = classes is not None and any(missing_kind(str(label)) for label in classes.tolist())
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
