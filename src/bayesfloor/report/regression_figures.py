"""Everything that a report on numbers is about, computed once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bayesfloor.choose.selection_path import SelectionPath
from bayesfloor.floor.learned.dependence import find_dependence_of_numbers
from bayesfloor.floor.learned.regression.estimate import regression_floor_of
from bayesfloor.floor.learned.regression.result import RegressionFloor
from bayesfloor.floor.trees.number_problem import NumberProblem
from bayesfloor.floor.trees.problem import Options
from bayesfloor.report.columns import ColumnFloors
from bayesfloor.report.figures import share_of
from bayesfloor.report.regression_columns import explained_by_columns
from bayesfloor.report.source import Source
from bayesfloor.runtime.findings import Finding

#: Of the work, what training models takes, in percent; columns take the rest.
_TRAINING = 95


@dataclass(frozen=True, eq=False)
class RegressionFigures:
    """What was computed.

    Attributes
    ----------
    floor : RegressionFloor
        How much of the number can be predicted.
    columns : ColumnFloors
        How much of the variance each column explains by itself.
    dependence : list of Finding
        Rows that belong together, by a column or by their order, where nobody said so.
    selection : SelectionPath or None
        The search for features.
    """

    floor: RegressionFloor
    columns: ColumnFloors
    dependence: list[Finding]
    selection: SelectionPath | None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was noticed in the data: first what may make every other figure too good."""
        return (*self.dependence, *self.floor.findings)


def compute_regression_figures(
    source: Source[NumberProblem],
    options: Options,
    *,
    asked: Mapping[str, Any],
    n_features: int | None,
    max_rows: int | None,
) -> RegressionFigures:
    """Train models, compare rows along each column, and look for features if asked.

    Parameters
    ----------
    source : Source
        What the report is about.
    options : Options
        How to grow trees. Models take confidence, threads, seed, progress and the cluster from it.
    asked : mapping
        What models are judged by: `metric` of `regression_floor`.
    n_features : int or None
        How many features to search for.
    max_rows : int or None
        Rows for models, at the most.

    Returns
    -------
    RegressionFigures
    """
    floor = regression_floor_of(
        source.problem,
        confidence=options.confidence,
        max_rows=max_rows,
        n_jobs=options.n_jobs,
        random_state=options.random_state,
        progress=share_of(options.progress, 0, _TRAINING),
        client=options.client,
        **asked,
    )
    problem = source.problem
    dependence: list[Finding] = []
    if source.is_table:
        dependence = find_dependence_of_numbers(
            problem.X,
            problem.y,
            source.possible_groups if problem.groups is None else {},
            in_order=problem.time is None and problem.groups is None,
            tabular=problem.tabular,
            seed=options.random_state,
            n_jobs=options.n_jobs,
        )
    selection = None
    if n_features is not None:
        from bayesfloor.choose.floor_selector import FloorSelector  # loads scikit-learn: a second

        selector = FloorSelector(
            n_features,
            task="regression",
            feature_groups=source.feature_groups,
            n_jobs=options.n_jobs,
            random_state=options.random_state,
            progress=options.progress,
        )
        selection = selector.fit(problem.X, problem.y).path_
    return RegressionFigures(floor, explained_by_columns(source, options), dependence, selection)
