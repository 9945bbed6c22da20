"""`difficulty_report`: the answer, how sure it is, and where it will hurt."""

import os
from time import perf_counter
from typing import Any

import numpy as np

from bayesfloor.data.metrics import NUMBER_METRICS, unknown_metric
from bayesfloor.data.numbers import TASKS
from bayesfloor.data.prepared_table import Table
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.efforts import EFFORTS
from bayesfloor.floor.learned.metrics import check_metric_names, check_metrics
from bayesfloor.floor.learned.model_predictions import Compared, OwnRows, check_compared, check_model, columns_named
from bayesfloor.floor.learned.row_plan import MIN_FOLDS, rows_by_default
from bayesfloor.floor.learned.trust.source import Source, source_of
from bayesfloor.floor.trees.problem import Progress, check_options
from bayesfloor.report.figures import figures_of_classes, figures_of_numbers
from bayesfloor.report.result import DifficultyReport
from bayesfloor.report.sections import summarise
from bayesfloor.report.sections.section import Facts
from bayesfloor.report.verdict import verdict_of
from bayesfloor.runtime.checks import check_float, check_max_rows, check_option
from bayesfloor.runtime.frames import like_input
from bayesfloor.runtime.settings import limits
from bayesfloor.tables.arguments import at_hand, is_file, problem_and_table
from bayesfloor.tables.columns import RawTable

#: Fewer rows cannot be trained and tested on.
FEWEST_ROWS = 4 * MIN_FOLDS


@like_input
def difficulty_report(
    X: Any,
    y: Any = None,
    *,
    task: str = "auto",
    groups: Any = None,
    time: Any = None,
    by: Any = None,
    metric: Any = None,
    costs: Any = None,
    positive: Any = None,
    model: Any = None,
    predictions: Any = None,
    prepare: Any = "auto",
    effort: str = "default",
    target_value: float | None = None,
    confidence: float = 0.95,
    max_rows: int | None = None,
    title: str | None = None,
    command: str | None = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = False,
    client: Any = None,
    checks: bool = True,
) -> DifficultyReport:
    """Report how good models can get on some data, how sure that is, and where it will hurt.

    Where the labels are classes, it is about classifiers: how low their error can go, which classes are hard, which
    rows look like another class. Where they are numbers, it is about regression: how much of the variance can be
    explained, where the noise is, which rows have a value that does not fit.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features), Table, path, LazyFrame or Dask collection
        The features, or the file of a table, which is read as by `read_table`. A `Table` has its target with it.
    y : array-like of shape (n_samples,), str or None
        The target, classes or numbers, or the name of its column; to be left out with a Table.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether the labels are classes or numbers. "auto" decides by their values, as `read_table` does.
    groups : array-like, str or None, default=None
        Rows that belong together, such as those of one patient, or the column of a data frame that tells; the report is
        then about new groups. None for the groups of a Table, if it has any.
    time : array-like, str or None, default=None
        When each row was seen, or the column that tells; models are then trained on the past and tested on what came
        next. None for the time of a Table, if it has any.
    by : array-like, str or None, default=None
        Subgroups to give figures for, as for `learned_floor`: a value for each row, or the column that tells. For
        classes alone.
    metric : str, list of str or None, default=None
        What models are judged by, as for `learned_floor` and `regression_floor`. The report is about the first; the
        others and the error stand beside it. None for the error of classes, and "r2" of numbers.
    costs : array-like of shape (n_classes, n_classes) or (n_classes, n_classes + 1), or data frame, default=None
        What each decision costs, as for `learned_floor`. With costs alone, the report is about the cost.
    positive : object, default=None
        The class of two that "average_precision" and "f1" are about; None for the last of the sorted labels.
    model : estimator or None, default=None
        A scikit-learn classifier or regressor to compare with the floor, as for `floor_gap`: unfitted, or fitted on
        other rows.
    predictions : array-like of shape (n_samples,) or (n_samples, n_classes), or data frame, default=None
        What a model has predicted for every row without having seen it, as for `floor_gap`.
    prepare : {"auto", None} or transformer, default="auto"
        How a data frame becomes numbers, as for `read_table`; a frame of numbers without gaps is used as it is.
    effort : {"fast", "default"}, default="default"
        How much is trained, as for `learned_floor`.
    target_value : float or None, default=None
        A value of the first metric that is hoped for; the report says whether it is feasible.
    confidence : float, default=0.95
        Level of the intervals.
    max_rows : int or None, default=None
        Rows to train models on, at the most, as large a share of each class. None for 125 000, and 8 million values;
        for half as many with `groups`, and 10 000 with `time`. Numbers: as for `regression_floor`.
    title : str or None, default=None
        What the data are called; the name of the file for a Table.
    command : str or None, default=None
        What is shown as the way to make the report again.
    n_jobs : int or None, default=None
        Threads; None for every core.
    random_state : int, None or random generator, default=0
        Seed of everything.
    progress : bool or callable, default=False
        Show progress on a terminal, or call ``progress(done, total)``.
    client : dask.distributed.Client or None, default=None
        Train models and grow trees on the workers of this cluster, with the same result.
    checks : bool, default=True
        Look for columns that give the target away, rows that belong together and an order in time. All figures are
        then without these columns, with these rows kept apart; those of all columns and of rows at random stand beside.

    Returns
    -------
    DifficultyReport
        ``to_html``, ``to_json``, ``to_markdown``, ``to_text``; notebooks show it.

    Raises
    ------
    ValueError
        With fewer than 20 rows, and for arguments that go with no such target; says which.

    See Also
    --------
    learned_floor : The headline number alone; `regression_floor` where the labels are numbers.
    pairwise_bayes_error : The figures of the heat map alone.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor import difficulty_report
    >>> table = load_iris(as_frame=True).frame
    >>> report = difficulty_report(table, "target", effort="fast", target_value=0.2)
    >>> report.summary["goal"]["verdict"]
    'feasible'
    """
    check_option("task", task, TASKS)
    check_option("effort", effort, EFFORTS)
    if task == "auto" and _is_of_numbers(metric):
        task = "regression"
    started = perf_counter()
    options = check_options(
        confidence=confidence,
        n_jobs=n_jobs,
        client=client,
        random_state=random_state,
        progress=progress,
    )
    asked = {"metric": metric, "costs": costs, "positive": positive, "by": by, "effort": effort}
    asked |= {"model": model, "predictions": predictions, "groups": groups, "time": time}
    if task != "regression":
        _check_asked_of_classes(asked)
    data = [_path_of(X) if is_file(X) else "X", repr(y) if isinstance(y, str) else "y"]
    X, beside = at_hand(X, y, options.random_state, y=y, groups=groups, time=time, by=by)
    y, groups, time, by = beside.values()
    if isinstance(X, RawTable):  # a model is given the features of the table
        table = problem_and_table(X, y, task=task, groups=groups, time=time, prepare=prepare, by=by)[1]
        X, y, groups, time, by, prepare = table, None, None, None, None, "auto"
    source = source_of(X, y, title, groups, time, prepare, by, task)
    if len(source.problem.X) < FEWEST_ROWS:
        raise ValueError(
            f"A report needs at least {FEWEST_ROWS} rows to train models and to test them, got {len(source.problem.X)}."
        )
    is_number = source.problem.task == "regression"
    names = _check_asked_of_numbers(asked, source.target) if is_number else _check_asked_of_classes(asked)
    target_value = _check_target_value(target_value, names, asked, source.problem)
    compared = _compared(X, source, (y, groups, time), model, predictions, names[0])
    if is_number:
        figures: Any = figures_of_numbers(
            source,
            options,
            judged_by={"metric": names, "effort": effort},
            max_rows=max_rows,
            checks=checks,
            compared=compared,
        )
    else:
        n_classes, by_default = len(source.problem.classes), rows_by_default(source.problem, limits().report_values)
        figures = figures_of_classes(
            source,
            options,
            judged_by={"metric": names, "costs": costs, "positive": positive, "effort": effort},
            max_rows=check_max_rows(max_rows, n_classes, int(min(by_default, EFFORTS[effort].most_rows))),
            checks=checks,
            compared=compared,
        )
    given: dict[str, Any] = {"task": None if task == "auto" else task, "max_rows": max_rows}
    given["confidence"] = None if confidence == 0.95 else confidence
    given |= {"target_value": target_value, "random_state": options.random_state or None}
    verdict = verdict_of(figures)
    facts: Facts[Any] = Facts(source, figures, verdict, target_value)
    summary = summarise(facts, command or _call(data, names, asked, given))
    summary["seconds"] = perf_counter() - started
    records = ("pairs", "class_tree", "gap")
    return DifficultyReport(
        summary,
        figures.findings,
        verdict,
        figures.learned,
        **{name: getattr(figures, name, None) for name in records},
    )


def _path_of(files: Any) -> str:
    """Write the path of a file, or a list of these, as in a call."""
    return repr([os.fspath(each) for each in files] if isinstance(files, list | tuple) else os.fspath(files))


def _is_of_numbers(metric: Any) -> bool:
    """Tell whether all metrics that were asked for are of numbers."""
    names = [metric] if isinstance(metric, str) else metric
    return isinstance(names, list | tuple) and bool(names) and all(name in NUMBER_METRICS for name in names)


def _check_asked_of_numbers(asked: dict[str, Any], target: str) -> list[str]:
    """Check what a report on numbers is asked for; return the names of the metrics, the first one first."""
    for name in ("costs", "positive", "by"):
        if asked[name] is not None:
            raise ValueError(
                f"{name} needs classes, and {target!r} holds numbers: leave out {name}, or ask for classes with "
                "task='classification'."
            )
    metric = NUMBER_METRICS[0] if asked["metric"] is None else asked["metric"]
    names = [metric] if isinstance(metric, str) else metric
    if not _is_of_numbers(names):
        wrong = [name for name in names if name not in NUMBER_METRICS] if isinstance(names, list | tuple) else []
        error = unknown_metric(next(iter(wrong), metric), NUMBER_METRICS, ", or a list of these")
        raise ValueError(f"{target!r} holds numbers; task='classification' reads them as classes. {error}")
    return list(dict.fromkeys(names))


def _check_asked_of_classes(asked: dict[str, Any]) -> list[str]:
    """Check what a report on classes is asked for; return the names of the metrics, the first one first."""
    if asked["model"] is not None or asked["predictions"] is not None:
        check_model(asked["model"], asked["predictions"])
    metric = "error" if asked["metric"] is None else asked["metric"]
    return check_metric_names(metric, has_costs=asked["costs"] is not None)


def _compared(
    X: Any, source: Source, columns: tuple[Any, ...], model: Any, predictions: Any, metric: str
) -> Compared | None:
    """Check a model, or predictions, before anything is trained; None where there is nothing to compare."""
    if model is None and predictions is None:
        return None
    places = np.arange(len(source.rows)) if isinstance(X, Table) else source.rows
    own = OwnRows(X, places, columns_named(X, *columns))
    return check_compared(model, predictions, own, source.problem, metric)


def _check_target_value(value: float | None, names: list[str], asked: dict[str, Any], problem: Problem) -> float | None:
    """Check what is hoped for; below the least cost, a value is not feasible."""
    if problem.task == "regression":
        bounds = (0.0, 1.0 if names[0] == "r2" else np.inf)
    else:
        first = check_metrics(names, asked["costs"], asked["positive"], problem.classes, problem.class_counts)[0]
        bounds = first.bounds if first.costs is None else (-np.inf, np.inf)
    low, high = bounds
    ends = f"{'(' if np.isinf(low) else '['}{low:g}, {high:g}{')' if np.isinf(high) else ']'}"
    return None if value is None else check_float("target_value", value, ends)


def _call(data: list[str], names: list[str], asked: dict[str, Any], given: dict[str, Any]) -> str:
    """Write the call that makes a report again."""
    is_default = names in (["error"], ["cost"], ["r2"])
    columns = {name: asked[name] for name in ("groups", "time", "by") if isinstance(asked[name], str)}
    first = {"metric": None if is_default else names[0] if len(names) == 1 else names, "positive": asked["positive"]}
    effort = None if asked["effort"] == "default" else asked["effort"]
    words = {**first, "effort": effort, **given, **columns}
    written = [f"{name}={value!r}" for name, value in words.items() if value is not None]
    own = ("costs", "model", "predictions", *({"groups", "time", "by"} - columns.keys()))
    written += [f"{name}={name}" for name in sorted(own) if asked[name] is not None]
    return f"difficulty_report({', '.join([*data, *written])})"
