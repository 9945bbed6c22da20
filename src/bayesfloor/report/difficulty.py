"""`difficulty_report`: the answer, how sure it is, and where it will hurt."""

import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from bayesfloor.data.sampling import REPORT_VALUES, TREE_ROWS
from bayesfloor.floor.learned.estimate import rows_by_default
from bayesfloor.floor.learned.metrics import Metric, check_metric_names, check_metrics
from bayesfloor.floor.learned.result import LearnedFloor
from bayesfloor.floor.trees.problem import Progress, check_options
from bayesfloor.floor.trees.results import BayesError, OneVsRestBayesError, PairwiseBayesError
from bayesfloor.report.figures import FEWEST_ROWS, compute_figures
from bayesfloor.report.source import source_of
from bayesfloor.report.summary import summarise
from bayesfloor.report.text import render_markdown, render_text
from bayesfloor.runtime.checks import check_float, check_int, check_max_rows
from bayesfloor.runtime.files import write_whole
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.frames import data_frame
from bayesfloor.tree import ClassTree


@dataclass(frozen=True, eq=False, repr=False)
class DifficultyReport:
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
    findings : tuple of Finding
        What was noticed in the data that bears on the floor.
    """

    summary: dict[str, Any]
    learned: LearnedFloor | None
    trees: BayesError
    classes: OneVsRestBayesError
    pairs: PairwiseBayesError
    class_tree: ClassTree
    findings: tuple[Finding, ...]

    def __repr__(self) -> str:
        return f"DifficultyReport({' '.join(self.summary['answer'])!r})"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        from bayesfloor.report.page.page import render_page

        return render_page(self.summary, fragment=True)

    def frame(self) -> Any:
        """Return a data frame of the rows that look like another class, the most suspicious first."""
        names = ("row", "label", "looks_like", "score", "other_row", "other_label", "distance")
        rows = self.summary["suspects"]["rows"]
        return data_frame({name: [row[name] for row in rows] for name in names})

    def to_html(self, path: "str | PathLike[str] | None" = None) -> str:
        """Return one page that needs no network, or write it to a file.

        Parameters
        ----------
        path : path-like or None, default=None
            Where to; the file appears whole or not at all.

        Returns
        -------
        str
            The page.
        """
        from bayesfloor.report.page.page import render_page

        return _written(render_page(self.summary), path)

    def to_json(self, path: "str | PathLike[str] | None" = None) -> str:
        """Return the summary as JSON, or write it to a file.

        Parameters
        ----------
        path : path-like or None, default=None
            Where to.

        Returns
        -------
        str
            The text.
        """
        return _written(json.dumps(self.summary, indent=2, allow_nan=False, ensure_ascii=False) + "\n", path)

    def to_markdown(self, path: "str | PathLike[str] | None" = None) -> str:
        """Return the report as Markdown, or write it to a file.

        Parameters
        ----------
        path : path-like or None, default=None
            Where to.

        Returns
        -------
        str
            The text.
        """
        return _written(render_markdown(self.summary), path)

    def to_text(self, width: int = 100) -> str:
        """Return the report as plain text, as the terminal shows it.

        Parameters
        ----------
        width : int, default=100
            Letters in a line.

        Returns
        -------
        str
            The text.
        """
        return render_text(self.summary, width)


def difficulty_report(
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    time: Any = None,
    by: Any = None,
    metric: Any = "error",
    costs: Any = None,
    positive: Any = None,
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
) -> DifficultyReport:
    """Report how good any classifier can get on some data, how sure that is, and where it will hurt.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features), or Table
        The points; features should be on comparable scales. A `Table` from `read_table` has its labels with it.
    y : array-like or series of shape (n_samples,)
        The labels; to be left out with a Table.
    groups : array-like, str or None, default=None
        Rows that belong together, such as those of one patient, or the column of a data frame that tells; the report is
        then about new groups. None for the groups of a Table, if it has any.
    time : array-like, str or None, default=None
        When each row was seen, or the column that tells; models are then trained on the past and tested on what came
        next. None for the time of a Table, if it has any.
    by : array-like, str or None, default=None
        Subgroups to give figures for, as for `learned_floor`: a value for each row, or the column that tells.
    metric : str or list of str, default="error"
        What models are judged by, as for `learned_floor`. The report is about the first; the others and the error stand
        beside it.
    costs : array-like of shape (n_classes, n_classes) or (n_classes, n_classes + 1), or data frame, default=None
        What each decision costs, as for `learned_floor`. With costs alone, the report is about the cost.
    positive : object, default=None
        The class of two that "average_precision" and "f1" are about; None for the last of the sorted labels.
    prepare : {"auto", "strict"} or transformer, default="auto"
        How a data frame becomes numbers, as for `read_table`; a frame of numbers without gaps is used as it is.
    fast : bool, default=False
        Answer from spanning trees alone and train nothing. Takes a second, and proves nothing. Of the error alone.
    target_value : float or None, default=None
        A value of the first metric that is hoped for; the report says whether it is feasible.
    n_features : int or None, default=None
        Search for so many features that leave the lowest floor.
    n_trees : int, default=3
        How many edge-disjoint spanning trees to count in.
    confidence : float, default=0.95
        Level of the intervals.
    max_rows : int or None, default=None
        Rows to train models on, at the most, as large a share of each class. None for 125 000, and 8 million values;
        for half as many with `groups`, and 10 000 with `time`.
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
    DifficultyReport
        ``to_html``, ``to_json``, ``to_markdown``, ``to_text``; notebooks show it.

    See Also
    --------
    learned_floor : The headline number alone.
    pairwise_bayes_error : The figures of the heat map alone.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor import difficulty_report
    >>> report = difficulty_report(*load_iris(return_X_y=True), fast=True, target_value=0.1)
    >>> report.summary["verdict"]["verdict"]
    'feasible'
    """
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
    if fast and by is not None:
        raise ValueError("Figures of subgroups come from models: leave out fast, or by.")
    names = check_metric_names(metric, has_costs=costs is not None)
    if fast and names != ["error"]:
        raise ValueError(
            f"With fast=True nothing is trained, and only the error can be told. Leave out fast, or {_named(names)}."
        )
    source = source_of(X, y, title, groups, time, prepare, by)
    problem = source.problem
    n_classes = len(problem.classes)
    if len(problem.X) < FEWEST_ROWS and names != ["error"]:
        raise ValueError(
            f"Fewer than {FEWEST_ROWS} rows are too few to train models, and only the error can be told without. Got "
            f"{len(problem.X)} rows; leave out {_named(names)}."
        )
    first = check_metrics(metric, costs, positive, problem.classes, problem.class_counts)[0]
    if target_value is not None:
        target_value = check_float("target_value", target_value, _range_of(first))
    if n_features is not None:
        check_int("n_features", n_features, 1, len(source.columns))
    figures = compute_figures(
        source,
        options,
        fast=bool(fast),
        asked={"metric": metric, "costs": costs, "positive": positive},
        n_features=n_features,
        max_rows=check_max_rows(max_rows, n_classes, rows_by_default(problem, REPORT_VALUES)),
        max_tree_rows=check_max_rows(max_tree_rows, n_classes, TREE_ROWS),
    )
    seed = options.random_state
    given = {
        "metric": None if names in (["error"], ["cost"]) else names[0] if len(names) == 1 else names,
        "positive": positive,
        "fast": fast or None,
        "target_value": target_value,
        "n_features": n_features,
        "random_state": seed or None,
        "by": by if isinstance(by, str) else None,
    }
    written = "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)
    written += "" if costs is None else ", costs=costs"
    summary = summarise(source, figures, bool(fast), target_value, command or f"difficulty_report(X, y{written})")
    summary["seconds"] = perf_counter() - started
    shared = ("learned", "trees", "classes", "pairs", "class_tree", "findings")
    return DifficultyReport(summary, **{name: getattr(figures, name) for name in shared})


def _named(names: list[str]) -> str:
    return "costs" if names == ["cost"] else f"metric={names[0] if len(names) == 1 else names!r}"


def _range_of(metric: Metric) -> str:
    """Return the values that a target of a metric may have; below the least cost, it is not feasible."""
    low, high = (-np.inf, np.inf) if metric.costs is not None else metric.bounds
    return f"{'(' if np.isinf(low) else '['}{low:g}, {high:g}{')' if np.isinf(high) else ']'}"


def _written(text: str, path: "str | PathLike[str] | None") -> str:
    if path is not None:
        write_whole(Path(path), text.encode())
    return text
