"""The command gap, and predictions to compare with the floor: from a file of them, or by a model in a file.

Rows of the table may be a part of those of its file, so each is found again: by a key that both files have, by the line
that 'bayesfloor predict' writes beside each prediction, or by its place among all rows.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter
from cyclopts.validators import Number

import bayesfloor as bf
from bayesfloor.cli.exits import FAILED, OK, UsageError
from bayesfloor.cli.input import check_readable, engine, is_file, open_table, read_columns, rows_to_use
from bayesfloor.cli.metrics import check_metric_options, metric_arguments
from bayesfloor.cli.options import TABLE_DEFAULTS, File, MetricOptions, TableOptions
from bayesfloor.cli.output import records_text, say, show, table_text
from bayesfloor.cli.streams import STDIN, without_messages_of_libraries
from bayesfloor.cli.warmup import compiling_boosting
from bayesfloor.runtime.text import counted, listed, p_text, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayesfloor.data.prepared_table import Origin, Table
    from bayesfloor.floor.learned.gap_result import FloorGap
    from bayesfloor.runtime.arrays import Ints
    from bayesfloor.tables.columns import RawTable
    from bayesfloor.tables.preparation import Preparation

#: Endings of pickles, which are refused before a table is read.
_PICKLES = frozenset({".pkl", ".pickle", ".joblib"})
#: Pairs, classes or subgroups that are listed, at the most.
_MOST_LISTED = 10
#: What a column of predicted labels may be called, beside the name of the target.
_LABEL_NAMES = ("predicted", "prediction", "predictions", "y_pred", "pred", "label")
#: The column in which 'bayesfloor predict' writes where each row stands in its file.
_LINE = "line"


@Parameter(name="*", group=Group("The model", sort_key=0))
@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """What is compared with the floor.

    Parameters
    ----------
    model
        What 'fit' wrote, or a scikit-learn model that skops wrote; never a pickle.
    key
        Column of both files that tells which row a prediction is of.
    """

    model: str | None = None
    predictions: Annotated[
        str | None,
        Parameter(
            help="A table of predictions by a model that had not seen the rows: labels, numbers, or a column of "
            "probabilities for each class."
        ),
    ] = None
    key: str | None = None

    @property
    def is_given(self) -> bool:
        """Whether there is anything to compare."""
        return self.model is not None or self.predictions is not None


#: What a command that is given none of these gets.
NO_MODEL = ModelOptions()


def gap(
    *files: File,
    given: ModelOptions = NO_MODEL,
    metric: str | None = None,
    costs: str | None = None,
    positive: str | None = None,
    by: str | None = None,
    fail_above: Annotated[float | None, Parameter(validator=Number(gte=0))] = None,
    rows_are_new: bool = False,
    no_checks: bool = False,
    options: TableOptions = TABLE_DEFAULTS,
) -> int:
    """Compare a model with what can be reached on the same rows, and with the floor.

    A stack of learners is trained as for 'floor'. What it does better than the
    model, on rows that neither has seen, can surely be won; what lies between the
    stack and the floor can perhaps be. By any metric of classes or numbers; of the
    error also by class and by pair, with paired tests.

    Parameters
    ----------
    metric
        What models are judged by, one of those of 'floor'; the error, or r2 for numbers, by default.
    costs
        CSV of what decisions cost, as for 'floor'.
    positive
        The class of two that the metric is about, as for 'floor'.
    by
        Column whose values are compared one by one, such as a region.
    fail_above
        Exit with 1 when surely more than this can be won; 0.02 of the error is two points.
    no_checks
        Do not look for leaks, rows that belong together and an order in time.
    rows_are_new
        You know that the model has seen none of these rows: one that is better moves the floor.

    Examples
    --------
    bayesfloor gap patients.csv --target outcome --model patients.skops
    bayesfloor gap patients.csv --target outcome --predictions predicted.csv --key patient
    bayesfloor gap patients.csv --predictions out_of_fold.csv --fail-above 0.02
    """
    check_model_options(given, files, needed=True)
    judged_by = MetricOptions(metric=() if metric is None else (metric,), costs=costs, positive=positive)
    task = check_metric_options(judged_by, options.task)
    table = open_table(files, options, by, task=task)
    asked = metric_arguments(judged_by, table)
    asked["metric"] = asked["metric"][0]
    from bayesfloor.floor.learned.model_predictions import DECIDED

    predicted = predictions_of(given, table, files, wants_probabilities=asked["metric"] not in DECIDED)
    with engine(options) as how, compiling_boosting():
        found = bf.floor_gap(
            None,
            table,
            predictions=predicted,
            by=by,
            task=table.task,
            max_rows=rows_to_use(table, options),
            rows_are_new=rows_are_new,
            checks=not no_checks,
            **asked,
            **how,
        )
    findings = tuple(dict.fromkeys((*found.findings, *found.learned.findings)))
    show("gap", found.to_dict(), _text(found), options, table=table, findings=findings)
    low = found.sure_gap_interval[0]
    if fail_above is not None and low > fail_above:
        say(f"bayesfloor: {low:.4g} of the {found.floor.title} can surely be won, above {fail_above:g}")
        return FAILED
    return OK


def _text(found: "FloorGap") -> str:
    from bayesfloor.floor.learned.gap_result import Words

    limit = Words(found.floor).limit
    rows = [
        ("the model", found.value, *found.value_interval),
        ("reached by a stack of models", found.reached, *found.reached_interval),
        (f"the {limit}", found.estimate, *found.interval),
        ("more than the stack", found.sure_gap, *found.sure_gap_interval),
        (f"from there to the {limit}", found.possible_gap, *found.possible_gap_interval),
    ]
    parts = [found.sentence(), table_text(("", found.floor.title, "from", "to"), rows)]
    records, figures = found.to_dict(), {"error": "model", "reached": "reached", "gap": "gap"}
    by_pair = {"first": "first", "second": "second", **figures}
    by_class = {"label": "class", "n_rows": "rows", **figures}
    by_subgroup = {"subgroup": "subgroup", "n_rows": "rows", "value": "model", "reached": "reached", "gap": "gap"}
    where, headings = ("by_pair", by_pair) if len(found.classes) > 2 else ("by_class", by_class)
    for name, columns in ((where, headings), ("by_subgroup", by_subgroup)):
        listed = [
            each | {"p": p_text(each["p_adjusted"]).removeprefix("p ").removeprefix("= ")} for each in records[name]
        ]
        if not listed:
            continue
        parts.append(records_text(listed[:_MOST_LISTED], columns | {"p": "p (Holm)"}))
        if len(listed) > _MOST_LISTED:
            parts[-1] += f"\n... and {len(listed) - _MOST_LISTED} more, with --json"
    return "\n\n".join(parts)


def check_model_options(given: ModelOptions, files: tuple[str, ...], *, needed: bool) -> None:
    """Check what can be checked before a table is read."""
    if given.model is not None and given.predictions is not None:
        raise UsageError("--model and --predictions exclude each other")
    if needed and not given.is_given:
        raise UsageError("name a model or its predictions: --model model.skops, or --predictions file.csv")
    if given.predictions is None and given.key is not None:
        raise UsageError("--key is for --predictions")
    if STDIN in (given.model, given.predictions):
        raise UsageError("--model and --predictions are read from files, and not from stdin")
    if given.model is not None and not is_file(Path(given.model)):
        raise UsageError(f"--model {given.model!r}: no such file")
    if given.model is not None and Path(given.model).suffix.lower() in _PICKLES:
        raise UsageError(
            f"--model {given.model!r}: no pickle is read, because reading one can run code. Write the model with "
            "skops.io.dump, or give its --predictions"
        )
    if given.predictions is not None:
        check_readable(given.predictions, [])
    if STDIN in files and (given.model is not None or given.key is not None):
        raise UsageError("stdin can be read once, and --model and --key read the rows again: name a file")


def predictions_of(
    given: ModelOptions, table: "Table", files: tuple[str, ...], *, wants_probabilities: bool = False
) -> "NDArray[Any]":
    """Return what is predicted for each row of a table.

    Parameters
    ----------
    given : ModelOptions
        A model, or a file of predictions.
    table : Table
        The rows, and the classes.
    files : tuple of str
        What the table was read from.
    wants_probabilities : bool, default=False
        Whether a model is asked for probabilities, where it has them.

    Returns
    -------
    ndarray of shape (n_rows,) or (n_rows, n_classes)
        Labels of the table, or others that a model knows; probabilities of its classes; or numbers.
    """
    if given.model is not None:
        return _by_model(Path(given.model), table, files, wants_probabilities)
    assert given.predictions is not None
    return _from_file(given, table, files)


def _from_file(given: ModelOptions, table: "Table", files: tuple[str, ...]) -> "NDArray[Any]":
    import numpy as np

    assert given.predictions is not None
    path = given.predictions
    raw = read_columns([path], target="", least_columns=1)
    is_numbers = table.task == "regression"
    names = [] if is_numbers else [str(each) for each in table.classes.tolist()]
    header = None
    if len(raw.columns) == 1 and raw.names[0] in names:  # the first label was taken for the name of the column
        header = False
        raw = read_columns([path], target="", header=header, least_columns=1)
    name = Path(path.partition("::")[0]).name
    apart = [given.key] if given.key is not None else [_LINE] if _has_lines(raw, table) else []
    if given.key is not None and given.key not in raw.names:
        raise UsageError(f"{name} has no column {given.key!r}; its columns are {listed([shown(c) for c in raw.names])}")
    left = [column for column in raw.names if column not in apart]
    label = _label_column(left, table, name)
    if label is not None and not is_numbers:  # again, with labels such as 007 and NA as they are written
        raw = read_columns([path], target=label, categorical=apart, header=header, least_columns=1)
    places = _places_of_rows(raw, table, files, given.key, apart, name)
    if label is None:
        from bayesfloor.floor.learned.model_predictions import check_probabilities, classes_of_columns

        order = classes_of_columns(left, table.classes)
        values = check_probabilities(_numbers(raw, left, name)[places], len(names))
        return values[:, np.argsort(order)]
    if is_numbers:
        return np.asarray(_numbers(raw, [label], name)[places, 0])
    spelled = _texts(raw, label)
    texts = [spelled[place] for place in places.tolist()]
    missing = sum(text is None for text in texts)
    if missing:
        raise ValueError(f"{name}: {counted(missing)} rows have no label in {label!r}")
    return _in_terms_of(table, files, texts, f"{name}: {label!r} holds")


def _has_lines(raw: "RawTable", table: "Table") -> bool:
    """Tell whether a file of predictions says where each row stands, as 'bayesfloor predict' writes it."""
    return _LINE in raw.names and len(raw.names) > 1 and not table.origin.files


def _label_column(columns: list[str], table: "Table", name: str) -> str | None:
    """Return the column of labels; None where there are probabilities instead."""
    for wanted in (*_LABEL_NAMES, table.target):
        if wanted in columns:
            return wanted
    if len(columns) == 1:
        return columns[0]
    labels = [] if table.task == "regression" else table.classes.tolist()
    classes = {text for label in labels for text in (str(label), f"p({label})")}
    if all(column in classes for column in columns):
        return None
    raise UsageError(
        f"{name} has {len(columns)} columns, {listed([shown(each) for each in columns])}, and none is called "
        "'predicted': call that of the predictions so"
    )


def _texts(raw: "RawTable", name: str) -> list[Any]:
    """Return a column as text; None where a value is missing."""
    from bayesfloor.tables.columns import TextColumn, as_text

    column = as_text(raw.column(name))
    if not isinstance(column, TextColumn):
        raise ValueError(f"{raw.source}: the column {name!r} holds neither text nor numbers")
    return [None if code < 0 else column.categories[code] for code in column.codes.tolist()]


def _numbers(raw: "RawTable", names: list[str], file: str) -> "NDArray[Any]":
    import numpy as np

    from bayesfloor.tables.columns import NumberColumn

    by_name = {column.name: column for column in raw.columns}
    values = [column.values for column in map(by_name.__getitem__, names) if isinstance(column, NumberColumn)]
    if len(values) < len(names):
        raise ValueError(f"{file}: {listed([shown(each) for each in names])} must hold numbers")
    return np.column_stack(values)


def _places_of_rows(
    raw: "RawTable", table: "Table", files: tuple[str, ...], key_column: str | None, apart: list[str], name: str
) -> "Ints":
    """Return the row of a file of predictions that is about each row of the table."""
    import numpy as np

    if apart:
        keys = _texts(raw, apart[0])
        if key_column is None:
            wanted: list[Any] = [str(line) for line in table.lines.tolist()]
        else:
            whole = read_columns(files, target=table.target, categorical=[key_column])
            if key_column not in whole.names:
                raise UsageError(f"{table.source} has no column {key_column!r}; --key names one of both files")
            of_rows = _texts(whole, key_column)
            wanted = [of_rows[place] for place in _places_in_file(table.origin, whole).tolist()]
        place_of = {key: place for place, key in enumerate(keys)}
        if len(place_of) < len(keys):
            twice = next(key for place, key in enumerate(keys) if place_of[key] != place)
            raise ValueError(f"{name}: {apart[0]!r} holds {shown(twice)} more than once")
        missing = [key for key in wanted if key not in place_of]
        if missing:
            raise ValueError(
                f"{name} has no prediction for {counted(len(missing))} of {counted(len(wanted))} rows of "
                f"{table.source}: {apart[0]} {listed([shown(key) for key in missing], 3)}"
            )
        return np.array([place_of[key] for key in wanted])
    if raw.n_rows != table.n_samples:
        raise ValueError(
            f"{name} has {counted(raw.n_rows)} rows, and {table.source} has {counted(table.n_samples)}: one prediction "
            "is needed for each row, in the same order, or a column of both files that tells them apart (--key)"
        )
    if len(table.X) == table.n_samples:
        return np.arange(raw.n_rows)
    if table.origin.row_word == "row" and not table.origin.files:  # counted from 1
        return table.lines - 1
    if STDIN in files:
        raise UsageError("stdin can be read once, and only a part of its rows is used: name a file")
    return _places_in_file(table.origin, read_columns(files, target=table.target))


def _places_in_file(rows: "Origin | RawTable", whole: "Origin | RawTable") -> "Ints":
    """Return where each row of a table is among all rows of its file, or files."""
    import numpy as np

    def keys(rows: "Origin | RawTable") -> list[tuple[int, int]]:
        codes = np.zeros(len(rows.lines), np.int64) if rows.file_codes is None else rows.file_codes
        return list(zip(codes.tolist(), rows.lines.tolist(), strict=True))

    place_of = {key: place for place, key in enumerate(keys(whole))}
    return np.array([place_of[key] for key in keys(rows)])


def _by_model(path: Path, table: "Table", files: tuple[str, ...], wants_probabilities: bool) -> "NDArray[Any]":
    """Let a model predict the rows of a table, from the file as the model knows it."""
    from bayesfloor.classify.model_file import read_any_model
    from bayesfloor.classify.stored_model import Model

    try:
        trained = read_any_model(path)
    except ValueError as error:
        hint = "predictions of any model can be compared: --predictions file.csv"
        raise ValueError(f"{error}; {hint}") from error
    is_set = not table.columns  # known by name, and comes prepared
    if isinstance(trained, Model):
        points = _points_for(trained.of_table, table, files, is_set)
        return _asked(trained.estimator, trained.rows_of(points), table, files, path.name, wants_probabilities)
    if is_set:
        raise UsageError(
            f"{table.source!r} is a data set that comes prepared, and {path.name} knows other columns; name a file, or "
            "pass --predictions"
        )
    whole = read_columns(files, target=table.target)
    frame = _columns_for(trained, whole, table, path.name)
    places = _places_in_file(table.origin, whole)
    rows = frame.iloc[places] if hasattr(frame, "iloc") else frame[places]
    return _asked(trained, rows, table, files, path.name, wants_probabilities)


def _asked(
    model: Any, rows: Any, table: "Table", files: tuple[str, ...], name: str, wants_probabilities: bool
) -> "NDArray[Any]":
    """Ask a model for the rows of a table: numbers, probabilities in the order of its classes, or labels."""
    import numpy as np

    is_numbers = table.task == "regression"
    wants_probabilities = wants_probabilities and not is_numbers and hasattr(model, "predict_proba")
    try:
        found = np.asarray(model.predict_proba(rows) if wants_probabilities else model.predict(rows))
    except Exception as error:
        raise ValueError(
            f"{name} could not predict the rows of {table.source} ({type(error).__name__}: {error})"
        ) from error
    if is_numbers:
        if found.dtype.kind not in "fiub":
            raise ValueError(f"{name} predicts classes, and {table.target!r} holds numbers; see --task")
        return found.astype(np.float64)
    if not wants_probabilities:
        return _in_terms_of(table, files, found, f"{name} predicts")
    known = _in_terms_of(table, files, model.classes_, f"{name} predicts").tolist()
    probabilities = np.zeros((len(found), len(table.classes)))
    probabilities[:, [table.classes.tolist().index(label) for label in known]] = found
    return probabilities


def _points_for(preparation: "Preparation", table: "Table", files: tuple[str, ...], is_set: bool) -> "Table":
    """Make the rows of a table ready as those were that a model was trained on."""
    if is_set:
        if not _are_equal(preparation.to_dict(), table.preparation.to_dict()):
            raise UsageError(f"{table.source!r} is a data set that comes prepared, in another way than the model knows")
        return table
    # as 'predict' does: in table.X, categories with many values are encoded by the labels of other rows
    with without_messages_of_libraries():
        # no column has this name: rows without a label are wanted too, and labels may be new
        alike = bf.read_table(list(files), preparation=replace(preparation, target=f"{preparation.target}\0"))
    places = _places_in_file(table.origin, alike.origin)
    tabular = None if alike.tabular is None else alike.tabular.take(places)
    return replace(alike, X=alike.X[places], tabular=tabular)


def _are_equal(first: Any, second: Any) -> bool:
    """Compare dicts and lists of plain values and arrays."""
    import numpy as np

    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_are_equal(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_are_equal, first, second))
    return bool(np.array_equal(first, second))


def _columns_for(model: Any, whole: "RawTable", table: "Table", name: str) -> Any:
    """Return the columns of a file that a scikit-learn model was fitted on."""
    from bayesfloor.tables.frames import frame_of_raw

    frame = frame_of_raw(whole)
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        missing = [shown(column) for column in names if column not in frame.columns]
        if missing:
            raise ValueError(f"{table.source} has no column {listed(missing)}, which {name} was fitted on")
        return frame[list(names)]
    apart = {table.target, *(column.name for column in table.columns if column.kind in ("groups", "time"))}
    kept = [column for column in frame.columns if column not in apart]
    n_known = getattr(model, "n_features_in_", len(kept))
    if n_known != len(kept):
        raise ValueError(f"{name} was fitted on {n_known} columns without names, and {table.source} has {len(kept)}")
    return frame[kept].to_numpy()


def _in_terms_of(table: "Table", files: tuple[str, ...], found: Any, what: str) -> "NDArray[Any]":
    """Return labels as the table has them: by how they read, and else by how the file has spelled them."""
    import numpy as np

    code_of = {str(label): code for code, label in enumerate(table.classes.tolist())}
    texts = [str(label) for label in np.ravel(found).tolist()]
    if not code_of.keys() >= set(texts) and table.columns and STDIN not in files:
        whole = read_columns(files, target=table.target)
        spelled, places = _texts(whole, table.target), _places_in_file(table.origin, whole).tolist()
        assert table.y is not None
        labels = map(str, table.y.tolist())
        code_of |= {spelled[place]: code_of[label] for place, label in zip(places, labels, strict=True)}
    strange = [shown(text) for text in dict.fromkeys(texts) if text not in code_of]
    if strange:
        raise ValueError(
            f"{what} {listed(strange)}, and {table.target!r} has no such label. Its labels are "
            f"{listed([shown(label) for label in table.classes.tolist()])}."
        )
    return np.asarray(table.classes[[code_of[text] for text in texts]])
