"""`difficulty_report`: the answer, how sure it is, and where it will hurt."""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from bayesfloor.data.prepared_table import Table
from bayesfloor.data.problem import Problem
from bayesfloor.data.sampling import REPORT_VALUES, TREE_ROWS
from bayesfloor.data.tasks import TASKS
from bayesfloor.floor.learned.gap_result import FloorGap
from bayesfloor.floor.learned.metrics import Metric, check_metric_names, check_metrics
from bayesfloor.floor.learned.model_predictions import Compared, OwnRows, check_compared, check_model, columns_named
from bayesfloor.floor.learned.result import LearnedFloor
from bayesfloor.floor.learned.row_plan import rows_by_default
from bayesfloor.floor.trees.number_problem import NumberProblem
from bayesfloor.floor.trees.problem import Options, Progress, check_options
from bayesfloor.floor.trees.results import BayesError, OneVsRestBayesError, PairwiseBayesError
from bayesfloor.report.figures import FEWEST_ROWS, compute_figures
from bayesfloor.report.formats import Report
from bayesfloor.report.regression import (
    RegressionReport,
    check_number_metrics,
    is_of_numbers,
    regression_report,
)
from bayesfloor.report.source import Source, source_of
from bayesfloor.report.summary import summarise
from bayesfloor.runtime.checks import check_float, check_int, check_max_rows, check_option
from bayesfloor.runtime.frames import like_input
from bayesfloor.tree import ClassTree


@dataclass(frozen=True, eq=False, repr=False)
class DifficultyReport(Report):
    """How good any classifier can get on some data, and where it will hurt.

    Shows itself in notebooks. `print` gives the text of the terminal.

    Attributes
    ----------
    summary : dict
        Everything that is shown, as plain values.
    learned : LearnedFloor or None
        The learned floor; None where nothing was trained.
    trees : BayesError
        The floor from spanning trees.
    classes : OneVsRestBayesError
        The same for each class against the rest.
    pairs : PairwiseBayesError
        The same for each two classes.
    class_tree : ClassTree
        The tree of binary problems.
    gap : FloorGap or None
        The model that was passed beside the floor; None where none was.
    findings : tuple of Finding
        What was noticed in the data that bears on the floor.
    """

    learned: LearnedFloor | None
    trees: BayesError
    classes: OneVsRestBayesError
    pairs: PairwiseBayesError
    class_tree: ClassTree
    gap: FloorGap | None = None

    def frame(self) -> Any:
        """Return a data frame of the rows that look like another class, the most suspicious first."""
        names = ("row", "label", "looks_like", "score", "other_row", "other_label", "distance")
        rows = self.summary["suspects"]["rows"]
        return self._frame_of({name: [row[name] for row in rows] for name in names})


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
    fast: bool = False,
    target_value: float | None = None,
    n_features: int | None = None,
    n_trees: int = 3,
    confidence: float = 0.95,
    max_rows: int | None = None,
    max_tree_rows: int | None = None,
    title: str | None = None,
    command: str | None = None,
    n_jobs: int | None = None,
    device: Any = "auto",
    random_state: Any = 0,
    progress: Progress = False,
    client: Any = None,
) -> DifficultyReport | RegressionReport:
    """Report how good any model can get on some data, how sure that is, and where it will hurt.

    Where the labels are classes, it is about classifiers: how low their error can go, which classes are hard, which
    rows look like another class. Where they are numbers, it is about regression: how much of the variance can be
    explained, where the noise is, which rows have a value that does not fit.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features), or Table
        The points; features should be on comparable scales. A `Table` from `read_table` has its labels with it.
    y : array-like or series of shape (n_samples,)
        The labels, classes or numbers; to be left out with a Table.
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
        A scikit-learn classifier to compare with the floor, as for `floor_gap`: unfitted, or fitted on other rows.
    predictions : array-like of shape (n_samples,) or (n_samples, n_classes), or data frame, default=None
        What a model has predicted for every row without having seen it, as for `floor_gap`.
    prepare : {"auto", "strict"} or transformer, default="auto"
        How a data frame becomes numbers, as for `read_table`; a frame of numbers without gaps is used as it is.
    fast : bool, default=False
        Answer from spanning trees alone and train nothing. Takes a second, and proves nothing. Of the error of classes
        alone.
    target_value : float or None, default=None
        A value of the first metric that is hoped for; the report says whether it is feasible.
    n_features : int or None, default=None
        Search for so many features that leave the lowest floor, or the least noise.
    n_trees : int, default=3
        How many edge-disjoint spanning trees to count in.
    confidence : float, default=0.95
        Level of the intervals.
    max_rows : int or None, default=None
        Rows to train models on, at the most, as large a share of each class. None for 125 000, and 8 million values;
        for half as many with `groups`, and 10 000 with `time`. Numbers: as for `regression_floor`.
    max_tree_rows : int or None, default=None
        Rows to grow trees on, at the most; None for 50 000.
    title : str or None, default=None
        What the data are called; the name of the file for a Table.
    command : str or None, default=None
        What is shown as the way to make the report again.
    n_jobs : int or None, default=None
        Threads; None for every core.
    device : {"auto", "cpu", "cuda"} or torch.device, default="auto"
        Where distances are computed, as for `spanning_forests`; the result is the same.
    random_state : int, None or random generator, default=0
        Seed of everything.
    progress : bool or callable, default=False
        Show progress on a terminal, or call ``progress(done, total)``.
    client : dask.distributed.Client or None, default=None
        Grow trees and train models on the workers of this cluster, with the same result.

    Returns
    -------
    DifficultyReport, or RegressionReport where the labels are numbers
        ``to_html``, ``to_json``, ``to_markdown``, ``to_text``; notebooks show it.

    See Also
    --------
    learned_floor : The headline number alone; `regression_floor` where the labels are numbers.
    pairwise_bayes_error : The figures of the heat map alone.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor import difficulty_report
    >>> report = difficulty_report(*load_iris(return_X_y=True), fast=True, target_value=0.2)
    >>> report.summary["verdict"]["verdict"]
    'feasible'
    """
    check_option("task", task, TASKS)
    if task == "auto" and is_of_numbers(metric):
        task = "regression"
    started = perf_counter()
    options = check_options(
        n_trees=n_trees,
        bias_correction=True,
        forced_edges="drop",
        confidence=confidence,
        n_tie_draws=1,
        n_jobs=n_jobs,
        device=device,
        client=client,
        random_state=random_state,
        progress=progress,
    )
    asked = {"metric": metric, "costs": costs, "positive": positive, "by": by, "fast": fast, "n_features": n_features}
    asked |= {"model": model, "predictions": predictions}
    if task != "regression":
        _check_asked(asked)
    source = source_of(X, y, title, groups, time, prepare, by, task)
    if source.problem.task == "regression":
        return _of_numbers(source, options, asked, target_value, max_rows, command, started)
    names = _check_asked(asked)
    problem = source.problem
    n_classes = len(problem.classes)
    if len(problem.X) < FEWEST_ROWS and names != ["error"]:
        raise ValueError(
            f"Fewer than {FEWEST_ROWS} rows are too few to train models, and only the error can be told without. Got "
            f"{len(problem.X)} rows; leave out {_named(names)}."
        )
    metric = "error" if metric is None else metric
    first = check_metrics(metric, costs, positive, problem.classes, problem.class_counts)[0]
    if target_value is not None:
        target_value = check_float("target_value", target_value, _range_of(first))
    if n_features is not None:
        check_int("n_features", n_features, 1, len(source.columns))
    compared = _compared(X, source, (y, groups, time), model, predictions)
    figures = compute_figures(
        source,
        options,
        fast=bool(fast),
        asked={"metric": metric, "costs": costs, "positive": positive},
        n_features=n_features,
        max_rows=check_max_rows(max_rows, n_classes, rows_by_default(problem, REPORT_VALUES)),
        max_tree_rows=check_max_rows(max_tree_rows, n_classes, TREE_ROWS),
        compared=compared,
    )
    given = {
        "metric": None if names in (["error"], ["cost"]) else names[0] if len(names) == 1 else names,
        "positive": positive,
        "fast": fast or None,
        "target_value": target_value,
        "n_features": n_features,
        "random_state": options.random_state or None,
        "by": by if isinstance(by, str) else None,
    }
    passed = {"costs": costs, "model": model, "predictions": predictions}
    more = "".join(f", {name}={name}" for name, value in passed.items() if value is not None)
    summary = summarise(source, figures, bool(fast), target_value, command or _call(given, more))
    summary["seconds"] = perf_counter() - started
    shared = ("learned", "trees", "classes", "pairs", "class_tree", "findings", "gap")
    return DifficultyReport(summary, **{name: getattr(figures, name) for name in shared})


def _check_asked(asked: dict[str, Any]) -> list[str]:
    """Check what a report on classes is asked for; return the names of the metrics, the first one first."""
    if asked["model"] is not None or asked["predictions"] is not None:
        if asked["fast"]:
            raise ValueError("A model is compared with models that are trained: leave out fast, or the model.")
        check_model(asked["model"], asked["predictions"])
    if asked["fast"] and asked["by"] is not None:
        raise ValueError("Figures of subgroups come from models: leave out fast, or by.")
    metric = "error" if asked["metric"] is None else asked["metric"]
    names = check_metric_names(metric, has_costs=asked["costs"] is not None)
    if asked["fast"] and names != ["error"]:
        raise ValueError(
            f"With fast=True nothing is trained, and only the error can be told. Leave out fast, or {_named(names)}."
        )
    return names


def _compared(
    X: Any, source: Source[Problem], columns: tuple[Any, ...], model: Any, predictions: Any
) -> Compared | None:
    """Check a model, or predictions, before anything is trained; None where there is nothing to compare."""
    if model is None and predictions is None:
        return None
    if len(source.problem.X) < FEWEST_ROWS:
        raise ValueError(f"Fewer than {FEWEST_ROWS} rows are too few to train models and compare one with them.")
    places = np.arange(len(source.rows)) if isinstance(X, Table) else source.rows
    own = OwnRows(X, places, columns_named(X, *columns))
    return check_compared(model, predictions, own, source.problem.classes)


def _of_numbers(
    source: Source[NumberProblem],
    options: Options,
    asked: dict[str, Any],
    target_value: float | None,
    max_rows: int | None,
    command: str | None,
    started: float,
) -> RegressionReport:
    """Report on a target of numbers, or say what of all that was asked for needs classes."""
    for name in ("costs", "positive", "by", "fast", "model", "predictions"):
        if asked[name] is not None and asked[name] is not False:
            raise ValueError(
                f"{name} needs classes, and {source.target!r} holds numbers: leave out {name}, or ask for classes with "
                "task='classification'."
            )
    names = check_number_metrics(asked["metric"], source.target)
    given = {
        "metric": None if names == ["r2"] else names[0] if len(names) == 1 else names,
        "target_value": target_value,
        "n_features": asked["n_features"],
        "random_state": options.random_state or None,
    }
    return regression_report(
        source,
        options,
        metric=names,
        target_value=target_value,
        n_features=asked["n_features"],
        max_rows=max_rows,
        command=command or _call(given),
        started=started,
    )


def _call(given: dict[str, Any], more: str = "") -> str:
    """Write the call that makes a report again."""
    written = "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)
    return f"difficulty_report(X, y{written}{more})"


def _named(names: list[str]) -> str:
    return "costs" if names == ["cost"] else f"metric={names[0] if len(names) == 1 else names!r}"


def _range_of(metric: Metric) -> str:
    """Return the values that a target of a metric may have; below the least cost, it is not feasible."""
    low, high = (-np.inf, np.inf) if metric.costs is not None else metric.bounds
    return f"{'(' if np.isinf(low) else '['}{low:g}, {high:g}{')' if np.isinf(high) else ']'}"
