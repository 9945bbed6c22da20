"""Predict every row by models that have not seen it, trained on many, half as many and a quarter as many rows.

The folds stand in a circle. A *run* is some folds in a row, and a model is trained on each run of three lengths::

    folds        0  1  2  3  4         five folds; fold 0 is predicted by
    4 folds         ■  ■  ■  ■         one model of .8 n rows,
    2 folds         ■  ■  □  □         two models of .4 n rows that share none,
    1 fold          ■  □  ■  □         four models of .2 n rows that share none

With five folds that is 15 models in all, since each short run serves several folds, at 1.75 times the cost of plain
cross-validation. Where rows follow each other in time, `bayesfloor.floor.learned.time_periods` says who is trained on
what.

The stack of a fold is fitted on predictions of models that have not seen the fold (`unseen`). The largest of them are
trained on all but two folds, where that is affordable; otherwise they are those of two folds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.target_encoding import classes_to_encode
from bayesfloor.floor.learned.cluster_fits import run_fits
from bayesfloor.floor.trees.number_problem import NumberProblem
from bayesfloor.floor.trees.problem import Problem
from bayesfloor.forest.partitions.cluster import Cluster
from bayesfloor.learn.families import Family
from bayesfloor.learn.target_encoding import encoded as encode
from bayesfloor.learn.training_rows import Codes, Train, relative_spread, safe, standardised
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.threads import Crew

#: Disjoint models that predict each row, at each training size, the largest first.
VIEWS = (1, 2, 4)
#: Tasks that the groups of learners of one training set are dealt out to: each standardises the rows anew.
N_BUNDLES = 4
_SIZES = range(len(VIEWS))
#: The number, among the sizes, of training sets without two of the folds, which serve the stack alone.
NESTED = len(VIEWS)
#: Rows that these are trained on in all, at the most: with five folds, there are such sets for up to 1000 rows. Of 300
#: rows, the R² of Friedman's function is .02 lower with weights of the next size, and of 2000 rows the same.
MOST_NESTED = 6_000

G = TypeVar("G")


@dataclass(frozen=True)
class Run:
    """A training set and the folds that it predicts.

    Attributes
    ----------
    size : int
        0 for the largest training sets, then 1 and 2.
    train : tuple of int
        Folds to train on.
    tests : tuple of (int, int)
        Folds to predict, and the number of the view that this is for each.
    """

    size: int
    train: tuple[int, ...]
    tests: tuple[tuple[int, int], ...]


def runs_of(n_folds: int) -> list[Run]:
    """List the training sets, those of the largest size first."""
    runs = []
    for size, n_views in enumerate(VIEWS):
        length = (n_folds - 1) // n_views
        for start in range(n_folds):
            train = tuple((start + step) % n_folds for step in range(length))
            tests = tuple(((start - 1 - view * length) % n_folds, view) for view in range(n_views))
            runs.append(Run(size, train, tests))
    return runs


@dataclass(frozen=True, eq=False)
class Split:
    """A training set and what it predicts, row by row.

    Attributes
    ----------
    size : int
        0 for the largest training sets, then 1 and 2; `NESTED` for those without two of the folds.
    train : ndarray
        Rows to train on.
    tests : tuple of (ndarray, int)
        Rows to predict, and the number of the view that this is for them.
    for_stack : bool
        Whether the predictions serve to fit the stack alone, and count in no figure.
    """

    size: int
    train: Ints
    tests: tuple[tuple[Ints, int], ...]
    for_stack: bool = False


def splits_of(folds: Ints) -> list[Split]:
    """List the training sets of all runs of folds, and those without two folds where they are affordable."""
    members = [np.flatnonzero(folds == fold) for fold in range(int(folds.max()) + 1)]
    splits = [
        Split(
            run.size,
            np.concatenate([members[fold] for fold in run.train]),
            tuple((members[fold], view) for fold, view in run.tests),
        )
        for run in runs_of(len(members))
    ]
    nested = []
    for one, other in combinations(range(len(members)), 2):
        train = np.concatenate([rows for fold, rows in enumerate(members) if fold not in (one, other)])
        # of the predictions of a fold, each is made without another of the folds, in their order
        nested.append(Split(NESTED, train, ((members[one], other - 1), (members[other], one)), for_stack=True))
    return splits + nested if sum(len(split.train) for split in nested) <= MOST_NESTED else splits


def n_views_of(splits: Sequence[Split]) -> list[int]:
    """Return how many models of each size predict a row."""
    sizes = range(1 + max(split.size for split in splits))
    return [1 + max(view for split in splits if split.size == size for _, view in split.tests) for size in sizes]


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Predictions of every row by models that have not seen it.

    Attributes
    ----------
    names : list of str
        The learners.
    log_p : list of ndarray of shape (n_learners, n_views, n, n_classes)
        Logarithms of probabilities, for each of the sizes; behind them, where there are such, of `NESTED` models.
    sizes : tuple of float
        Mean number of training rows, for each of the sizes.
    folds : ndarray of shape (n,)
        The fold of each row; -1 for rows that are trained on and never predicted.
    earlier : tuple of ndarray or None
        For each fold, the folds that its stack may be fitted on; None for all others.
    seen : list of ndarray of shape (n_views, n_folds, n_folds), or None
        As from `folds_seen`; None where nobody has seen any.
    has_offsets : bool
        Whether a stack has an offset for each class. Without one, shares of the classes are those that the learners
        were trained on.
    """

    names: list[str]
    log_p: list[NDArray[np.float32]]
    sizes: tuple[float, ...]
    folds: Ints
    earlier: tuple[Ints, ...] | None = None
    seen: list[Bools] | None = None
    has_offsets: bool = True

    def outside(self, fold: int) -> Ints:
        """Return the rows that the stack of a fold may be fitted on."""
        if self.earlier is None:
            return np.flatnonzero(self.folds != fold)
        return np.flatnonzero(np.isin(self.folds, self.earlier[fold]))


def folds_seen(splits: Sequence[Split], folds: Ints, tested: Ints | None = None, n: int = 0) -> list[Bools]:
    """Tell which folds the models have seen that predict each of them.

    Parameters
    ----------
    splits : sequence of Split
        The training sets.
    folds : ndarray of shape (n_tested,)
        The fold of each row that is predicted.
    tested : ndarray of shape (n_tested,) or None, default=None
        Which of the `n` rows that are trained on these are; None for all, in that order.
    n : int, default=0
        How many rows there are.

    Returns
    -------
    list of ndarray of shape (n_views, n_folds, n_folds)
        For each size, whether the model of a view of the second fold was trained on rows of the last one.
    """
    n_folds, of_all = int(folds.max()) + 1, folds
    if tested is not None:
        of_all = np.full(n, -1)
        of_all[tested] = folds
    seen = [np.zeros((views, n_folds, n_folds), bool) for views in n_views_of(splits)]
    for split in splits:
        trained = np.setdiff1d(of_all[split.train], [-1])
        for rows, view in split.tests:
            seen[split.size][view, np.unique(folds[rows])[:, np.newaxis], trained] = True
    return seen


def unseen(
    seen: list[Bools] | None, n_views: Sequence[int], folds: Ints, rows: Ints, fold: int, size: int
) -> tuple[int, Ints, Ints]:
    """Return the predictions that the stack of a fold is fitted on: by models that have not seen that fold.

    A model that has seen it predicts other rows well just where their labels agree with those of the fold, and so does
    the fold's own model. Weights fitted on such predictions know whether the fold will be predicted well. On noise, the
    AUC of learners of ten categories came out at .56. Models of the largest size
    have seen all folds but the one that they predict: the next smaller ones take their place.

    Parameters
    ----------
    seen : list of ndarray or None
        As in `CrossFit`.
    n_views : sequence of int
        Views at each size.
    folds : ndarray of shape (n,)
        The fold of each row.
    rows : ndarray
        Rows that may be used.
    fold : int
        The fold.
    size : int
        The size.

    Returns
    -------
    size : int
        The size whose predictions are used, the largest at which there are some of every row.
    views, rows : ndarray of shape (n_predictions,)
        The view and the row of each prediction.
    """
    smaller = range(size, len(VIEWS))
    nested = [NESTED] if size == 0 and len(n_views) > NESTED else []
    for each in (*smaller[:1], *nested, *smaller[1:]):
        is_clean = np.ones((n_views[each], len(rows)), bool)
        if seen is not None:
            is_clean = ~seen[each][:, folds[rows], fold]
        if is_clean.any(axis=0).all():
            views, places = np.nonzero(is_clean)
            return each, views, rows[places]
    raise AssertionError("models of one size share no rows, so of two of them one has not seen the fold")


def cross_fit(
    problem: Problem,
    folds: Ints,
    groups: Mapping[str, Family],
    seed: int,
    crew: Crew,
    splits: Sequence[Split] | None = None,
    earlier: tuple[Ints, ...] | None = None,
    cluster: Cluster | None = None,
) -> CrossFit:
    """Train every learner on every training set and collect the predictions.

    Parameters
    ----------
    problem : Problem
        Points and labels, in random order.
    folds : ndarray of shape (n,)
        The fold of each row.
    groups : mapping of str to Group
        Learners, as in `bayesfloor.learn.families`.
    seed : int
        Seeds what learners draw at random.
    crew : Crew
        Threads to work with.
    splits : sequence of Split or None, default=None
        Training sets, the largest size first; None for those of the runs of folds.
    earlier : tuple of ndarray or None, default=None
        As in `CrossFit`.
    cluster : Cluster or None, default=None
        Whose workers train; None for the threads of the crew. The result is the same.

    Returns
    -------
    CrossFit
    """
    splits = splits_of(folds) if splits is None else splits
    seeds = np.random.SeedSequence(seed).generate_state(len(splits)).tolist()
    n_classes = len(problem.classes)
    shared = _FitInputs(problem, classes_to_encode(problem.codes, n_classes), splits, seeds)
    bundles = bundles_of(groups, problem)
    tasks = [(number, bundle) for number in range(len(splits)) for bundle in bundles]
    amounts = [len(splits[number].train) * len(bundle) for number, bundle in tasks]
    crew.expect(sum(amounts))
    outputs = run_fits(_fit_groups, shared, tasks, amounts, crew, cluster)
    of_splits = [outputs[first : first + len(bundles)] for first in range(0, len(outputs), len(bundles))]
    found = [{group: fits for of_bundle in of_split for group, fits in of_bundle.items()} for of_split in of_splits]
    learners = [(group, name) for group in groups for name in found[0][group]]
    names = [name for _, name in learners]
    log_p = [np.empty((len(names), views, len(folds), n_classes), np.float32) for views in n_views_of(splits)]
    for split, of_groups in zip(splits, found, strict=True):
        for learner, (group, name) in enumerate(learners):
            first = 0
            for rows, view in split.tests:
                log_p[split.size][learner, view, rows] = of_groups[group][name][first : first + len(rows)]
                first += len(rows)
    counted = [split for split in splits if not split.for_stack]
    sizes = [float(np.mean([len(split.train) for split in counted if split.size == size])) for size in _SIZES]
    return CrossFit(names, log_p, tuple(sizes), folds, earlier, folds_seen(splits, folds))


def bundles_of(groups: Mapping[str, G], problem: Problem | NumberProblem) -> list[tuple[tuple[str, G], ...]]:
    """Deal groups of learners out to tasks, so that few threads wait; one task where it is dear to make features."""
    n_bundles = min(N_BUNDLES, len(groups)) if problem.supervised is None else 1
    return [tuple(groups.items())[first::n_bundles] for first in range(n_bundles)]


class _FitInputs(NamedTuple):
    """What all fits share: the rows, the classes that are encoded, the training sets, and a seed for each."""

    problem: Problem
    encoded: Ints
    splits: Sequence[Split]
    seeds: list[int]


def _fit_groups(
    inputs: _FitInputs, crew: Crew, number: int, groups: Sequence[tuple[str, Family]]
) -> dict[str, dict[str, NDArray[np.float32]]]:
    """Train groups of learners on one training set, and return logarithms of what they predict."""
    problem, encoded, splits, seeds = inputs
    tests = np.concatenate([tested for tested, _ in splits[number].tests])
    train, others = _rows_for(problem, splits[number].train, tests, encoded)
    train = train._replace(check=crew.check)
    found = {}
    for of_group, group in groups:
        crew.check()
        found[of_group] = {
            name: np.log(safe(probability, train)).astype(np.float32)
            for name, probability in group(train, others, seeds[number]).items()
        }
    return found


def _rows_for(problem: Problem, rows: Ints, tests: Ints, encoded: Ints) -> tuple[Train, Floats]:
    """Return rows to learn from and rows to predict; features that hold labels are computed from the former alone."""
    X, tabular = problem.X, problem.tabular
    train = Train(X[:0], problem.codes[rows], len(problem.classes), given_columns=problem.given_columns)
    if problem.supervised is not None:
        points, others = problem.supervised.features(rows, tests)
        train = train._replace(given_columns=None)
    else:
        points, others = X[rows], X[tests]
        if tabular is not None:
            table = Codes(tabular.values[rows], tabular.values[tests], tabular.is_category)
            train = train._replace(table=table)
            for column, first, last in tabular.from_labels:
                points[:, first:last], others[:, first:last] = encode(table, column, train, encoded)
    spread = relative_spread(points)
    points, others = standardised(points, others)
    return train._replace(X=points, spread=spread), others
