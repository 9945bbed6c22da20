"""Predict the number of every row by models that have not seen it, at three training sizes.

Who is trained on what is told by `bayesfloor.floor.learned.cross_fitting` for up to 10 000 rows, by `time_periods` in
an order of time, and by `many_rows` for more rows: those that are held out are predicted, all others are trained on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.floor.learned.cluster_fits import run_fits
from bayesfloor.floor.learned.cross_fitting import VIEWS, Split, bundles_of, folds_seen, n_views_of, splits_of
from bayesfloor.floor.learned.time_periods import RECENT
from bayesfloor.floor.trees.number_problem import NumberProblem
from bayesfloor.forest.partitions.cluster import Cluster
from bayesfloor.learn.families import Family
from bayesfloor.learn.target_encoding import encoded
from bayesfloor.learn.training_rows import Codes, Train, relative_spread, standardised
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.threads import Crew

_SIZES = range(len(VIEWS))
#: Standard deviations of the training targets beyond their range that a prediction may lie: extrapolations are held
#: back, as one of them can cost more than all other rows.
BEYOND = 1.0


@dataclass(frozen=True, eq=False)
class NumberFit:
    """Predictions of rows by models that have not seen them.

    Attributes
    ----------
    names : list of str
        The learners.
    predicted : list of ndarray of shape (n_learners, n_views, n)
        Predictions, for each of the sizes, the largest first; behind them, where there are such, of `NESTED` models.
    sizes : ndarray
        Mean number of training rows, for each of the sizes.
    folds : ndarray of shape (n,)
        The fold of each row for the stack; -1 for rows that are trained on and never predicted.
    earlier : tuple of ndarray or None
        For each fold, the folds that its stack may be fitted on; None for all others.
    seen : list of ndarray or None
        As in `CrossFit`.
    """

    names: list[str]
    predicted: list[NDArray[np.float32]]
    sizes: Floats
    folds: Ints
    earlier: tuple[Ints, ...] | None = None
    seen: list[Bools] | None = None

    def outside(self, fold: int) -> Ints:
        """Return the rows that the stack of a fold may be fitted on."""
        if self.earlier is None:
            return np.flatnonzero((self.folds != fold) & (self.folds >= 0))
        return np.flatnonzero(np.isin(self.folds, self.earlier[fold]))


def with_recent(fitted: NumberFit) -> NumberFit:
    """Let the learners of more recent rows take part beside those of all of the past, and of half of it."""
    predicted = [np.concatenate(fitted.predicted[size:]) for size in _SIZES]
    return replace(fitted, names=[name + end for end in ("", *RECENT) for name in fitted.names], predicted=predicted)


def cross_fit_numbers(
    problem: NumberProblem,
    folds: Ints,
    groups: Mapping[str, Family],
    seed: int,
    crew: Crew,
    *,
    splits: Sequence[Split] | None = None,
    earlier: tuple[Ints, ...] | None = None,
    tested: Ints | None = None,
    cluster: Cluster | None = None,
) -> NumberFit:
    """Train every learner on every training set and collect the predictions.

    Parameters
    ----------
    problem : NumberProblem
        The rows, in random order.
    folds : ndarray of shape (n,)
        The fold of each row that is predicted.
    groups : mapping of str to Group
        Learners, as in `bayesfloor.learn.families`.
    seed : int
        Seeds what learners draw at random.
    crew : Crew
        Threads to work with.
    splits : sequence of Split or None, default=None
        Training sets, the largest size first; None for those of the runs of folds.
    earlier : tuple of ndarray or None, default=None
        As in `NumberFit`.
    tested : ndarray or None, default=None
        The rows that are predicted, as `splits` count them; None for all.
    cluster : Cluster or None, default=None
        Whose workers train; None for the threads of the crew. The result is the same.

    Returns
    -------
    NumberFit
    """
    splits = splits_of(folds) if splits is None else splits
    tested = np.arange(len(problem.y)) if tested is None else tested
    seeds = np.random.SeedSequence(seed).generate_state(len(splits)).tolist()
    shared = _FitInputs(problem, splits, tested, seeds)
    bundles = bundles_of(groups, problem)
    tasks = [(number, bundle) for number in range(len(splits)) for bundle in bundles]
    amounts = [len(splits[number].train) * len(bundle) for number, bundle in tasks]
    crew.expect(sum(amounts))
    outputs = run_fits(_fit_groups, shared, tasks, amounts, crew, cluster)
    of_splits = [outputs[first : first + len(bundles)] for first in range(0, len(outputs), len(bundles))]
    found = [{group: fits for of_bundle in of_split for group, fits in of_bundle.items()} for of_split in of_splits]
    learners = [(group, name) for group in groups for name in found[0][group]]
    predicted = [np.full((len(learners), views, len(tested)), np.nan, np.float32) for views in n_views_of(splits)]
    for split, of_groups in zip(splits, found, strict=True):
        for learner, (group, name) in enumerate(learners):
            first = 0
            for rows, view in split.tests:
                predicted[split.size][learner, view, rows] = of_groups[group][name][first : first + len(rows)]
                first += len(rows)
    counted = [split for split in splits if not split.for_stack]
    sizes = [float(np.mean([len(split.train) for split in counted if split.size == size])) for size in _SIZES]
    seen = folds_seen(splits, folds, tested, len(problem.y))
    return NumberFit([name for _, name in learners], predicted, np.array(sizes), folds, earlier, seen)


class _FitInputs(NamedTuple):
    """What all fits share."""

    problem: NumberProblem
    splits: Sequence[Split]
    tested: Ints
    seeds: list[int]


def _fit_groups(
    inputs: _FitInputs, crew: Crew, number: int, groups: Sequence[tuple[str, Family]]
) -> dict[str, dict[str, NDArray[np.float32]]]:
    """Train groups of learners on one training set, and return what they predict."""
    problem, splits, tested, seeds = inputs
    known = splits[number].train
    others = tested[np.concatenate([rows for rows, _ in splits[number].tests])]
    rows, test, mean, spread = rows_for(problem, known, others)
    rows = rows._replace(check=crew.check)
    low, high = float(rows.y.min()) - BEYOND, float(rows.y.max()) + BEYOND
    found = {}
    for of_group, group in groups:
        crew.check()
        found[of_group] = {
            name: (mean + spread * np.clip(np.nan_to_num(values), low, high)).astype(np.float32)
            for name, values in group(rows, test, seeds[number]).items()
        }
    return found


def rows_for(problem: NumberProblem, known: Ints, others: Ints) -> tuple[Train, Floats, float, float]:
    """Return rows to learn from and rows to predict, both standardised, and the mean and deviation of the targets.

    Features that hold targets are computed from the former alone.
    """
    weight = np.ones(len(known)) if problem.sample_weight is None else problem.sample_weight[known]
    weight = weight / weight.mean()
    y = problem.y[known]
    mean = float(weight @ y / len(y))
    spread = float(weight @ (y - mean) ** 2 / len(y)) ** 0.5 or 1.0
    rows = Train.of_numbers(problem.X[:0], (y - mean) / spread, None if problem.sample_weight is None else weight)
    if problem.supervised is not None:
        points, test = problem.supervised.features(known, others)
    else:
        points, test = problem.X[known], problem.X[others]
        rows = rows._replace(given_columns=problem.given_columns)
    if problem.tabular is not None and problem.supervised is None:
        tabular = problem.tabular
        rows = rows._replace(table=Codes(tabular.values[known], tabular.values[others], tabular.is_category))
        assert rows.table is not None
        for column, first, last in tabular.from_labels:
            points[:, first:last], test[:, first:last] = encoded(rows.table, column, rows)
    of_columns = relative_spread(points)
    points, test = standardised(points, test)
    return rows._replace(X=points, spread=of_columns), test, mean, spread
