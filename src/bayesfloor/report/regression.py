"""A report on a target of numbers: how much of it can be predicted, how sure that is, and where the noise is."""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

from bayesfloor.data.metrics import NUMBER_METRICS
from bayesfloor.floor.learned.regression.result import RegressionFloor
from bayesfloor.floor.trees.number_problem import NumberProblem
from bayesfloor.floor.trees.problem import Options
from bayesfloor.report.formats import Report
from bayesfloor.report.regression_figures import compute_regression_figures
from bayesfloor.report.regression_summary import summarise_regression
from bayesfloor.report.source import Source
from bayesfloor.runtime.checks import check_float, check_int


@dataclass(frozen=True, eq=False, repr=False)
class RegressionReport(Report):
    """How much of a number any model can predict, and where the noise is.

    Shows itself in notebooks. `print` gives the text of the terminal.

    Attributes
    ----------
    summary : dict
        Everything that is shown, as plain values.
    findings : tuple of Finding
        What was noticed in the data that bears on the answer.
    floor : RegressionFloor
        The ceiling of R² and the floors of RMSE and MAE.
    """

    floor: RegressionFloor

    def frame(self) -> Any:
        """Return a data frame of the rows whose number fits least with that of rows like them."""
        names = ("row", "value", "predicted", "neighbours_mean", "score", "other_row")
        rows = self.summary["suspects"]["rows"]
        return self._frame_of({name: [row[name] for row in rows] for name in names})


def is_of_numbers(metric: Any) -> bool:
    """Tell whether all metrics that were asked for are of numbers."""
    names = [metric] if isinstance(metric, str) else metric
    return isinstance(names, list | tuple) and bool(names) and all(name in NUMBER_METRICS for name in names)


def check_number_metrics(metric: Any, target: str) -> list[str]:
    """Return the names of metrics of numbers, the first one first; R² where none is named.

    Raises
    ------
    ValueError
        For metrics of classes, and for what is no metric.
    """
    if metric is None:
        return [NUMBER_METRICS[0]]
    if not is_of_numbers(metric):
        raise ValueError(
            f"{target!r} holds numbers, and metric must be one of {', '.join(map(repr, NUMBER_METRICS))}, or a list of "
            f"these. Got {metric!r}; task='classification' asks for classes."
        )
    return [metric] if isinstance(metric, str) else list(dict.fromkeys(metric))


def regression_report(
    source: Source[NumberProblem],
    options: Options,
    *,
    metric: list[str],
    target_value: float | None,
    n_features: int | None,
    max_rows: int | None,
    command: str,
    started: float,
) -> RegressionReport:
    """Report how much of a number can be predicted.

    Parameters
    ----------
    source : Source
        What the report is about.
    options : Options
        Confidence, threads, seed, progress and the cluster.
    metric : list of str
        What models are judged by, the headline first.
    target_value : float or None
        A value of it that is hoped for.
    n_features : int or None
        How many features to search for.
    max_rows : int or None
        Rows to train models on, at the most.
    command : str
        What makes this report again.
    started : float
        When the work began, by `perf_counter`.

    Returns
    -------
    RegressionReport
    """
    if target_value is not None:
        target_value = check_float("target_value", target_value, "[0, 1]" if metric[0] == "r2" else "[0, inf)")
    if n_features is not None:
        check_int("n_features", n_features, 1, len(source.columns))
    figures = compute_regression_figures(
        source, options, asked={"metric": metric}, n_features=n_features, max_rows=max_rows
    )
    summary = summarise_regression(source, figures, target_value, command)
    summary["seconds"] = perf_counter() - started
    return RegressionReport(summary, figures.findings, figures.floor)
