"""Predict every row by models that have not seen it, trained on many, half as many and a quarter as many rows.

The folds stand in a circle. A *run* is some folds in a row, and a model is trained on each run of three lengths::

    folds        0  1  2  3  4         five folds; fold 0 is predicted by
    4 folds         ■  ■  ■  ■         one model of .8 n rows,
    2 folds         ■  ■  □  □         two models of .4 n rows that share none,
    1 fold          ■  □  ■  □         four models of .2 n rows that share none

With five folds that is 15 models in all, since each short run serves several folds, at 1.75 times the cost of plain
cross-validation. Where rows follow each other in time, `bayesfloor.floor.learned.time_periods` says who is trained on
what.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.prepared_table import TabularView
from bayesfloor.data.target_encoding import classes_to_encode
from bayesfloor.floor.learned.cluster_fits import run_fits
from bayesfloor.forest.partitions.cluster import Cluster
from bayesfloor.learn.families import Family
from bayesfloor.learn.target_encoding import encoded as encode
from bayesfloor.learn.training_rows import Codes, Train, relative_spread, safe, standardised
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.threads import Crew

#: Disjoint models that predict each row, at each training size, the largest first.
VIEWS = (1, 2, 4)
#: Tasks that the groups of learners of one training set are dealt out to: each standardises the rows anew.
N_BUNDLES = 4
_SIZES = range(len(VIEWS))


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
        0 for the largest training sets, then 1 and 2.
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
    """List the training sets of all runs of folds."""
    members = [np.flatnonzero(folds == fold) for fold in range(int(folds.max()) + 1)]
    return [
        Split(
            run.size,
            np.concatenate([members[fold] for fold in run.train]),
            tuple((members[fold], view) for fold, view in run.tests),
        )
        for run in runs_of(len(members))
    ]


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Predictions of every row by models that have not seen it.

    Attributes
    ----------
    names : list of str
        The learners.
    log_p : list of ndarray of shape (n_learners, n_views, n, n_classes)
        Logarithms of probabilities, for each of the sizes.
    sizes : tuple of float
        Mean number of training rows, for each of the sizes.
    folds : ndarray of shape (n,)
        The fold of each row; -1 for rows that are trained on and never predicted.
    earlier : tuple of ndarray or None
        For each fold, the folds that its stack may be fitted on; None for all others.
    has_offsets : bool
        Whether a stack has an offset for each class. Without one, shares of the classes are those that the learners
        were trained on.
    """

    names: list[str]
    log_p: list[NDArray[np.float32]]
    sizes: tuple[float, ...]
    folds: Ints
    earlier: tuple[Ints, ...] | None = None
    has_offsets: bool = True

    def outside(self, fold: int) -> Ints:
        """Return the rows that the stack of a fold may be fitted on."""
        if self.earlier is None:
            return np.flatnonzero(self.folds != fold)
        return np.flatnonzero(np.isin(self.folds, self.earlier[fold]))


def cross_fit(
    X: Floats,
    codes: Ints,
    n_classes: int,
    folds: Ints,
    groups: Mapping[str, Family],
    seed: int,
    crew: Crew,
    splits: Sequence[Split] | None = None,
    earlier: tuple[Ints, ...] | None = None,
    tabular: TabularView | None = None,
    cluster: Cluster | None = None,
) -> CrossFit:
    """Train every learner on every training set and collect the predictions.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    codes : ndarray of shape (n,)
        Classes, from 0 to n_classes - 1.
    n_classes : int
        Number of classes.
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
    tabular : TabularView or None
        The same rows as codes with gaps.
    cluster : Cluster or None, default=None
        Whose workers train; None for the threads of the crew. The result is the same.

    Returns
    -------
    CrossFit
    """
    splits = splits_of(folds) if splits is None else splits
    n_views = [1 + max(view for split in splits if split.size == size for _, view in split.tests) for size in _SIZES]
    seeds = np.random.SeedSequence(seed).generate_state(len(splits)).tolist()
    shared = _FitInputs(X, codes, n_classes, tabular, classes_to_encode(codes, n_classes), splits, seeds)
    bundles = [tuple(groups.items())[first::N_BUNDLES] for first in range(min(N_BUNDLES, len(groups)))]
    tasks = [(number, bundle) for number in range(len(splits)) for bundle in bundles]
    amounts = [len(splits[number].train) * len(bundle) for number, bundle in tasks]
    crew.expect(sum(amounts))
    outputs = run_fits(_fit_groups, shared, tasks, amounts, crew, cluster)
    of_splits = [outputs[first : first + len(bundles)] for first in range(0, len(outputs), len(bundles))]
    found = [{group: fits for of_bundle in of_split for group, fits in of_bundle.items()} for of_split in of_splits]
    learners = [(group, name) for group in groups for name in found[0][group]]
    names = [name for _, name in learners]
    log_p = [np.empty((len(names), views, len(X), n_classes), np.float32) for views in n_views]
    for split, of_groups in zip(splits, found, strict=True):
        for learner, (group, name) in enumerate(learners):
            first = 0
            for rows, view in split.tests:
                log_p[split.size][learner, view, rows] = of_groups[group][name][first : first + len(rows)]
                first += len(rows)
    counted = [split for split in splits if not split.for_stack]
    sizes = [float(np.mean([len(split.train) for split in counted if split.size == size])) for size in _SIZES]
    return CrossFit(names, log_p, tuple(sizes), folds, earlier)


class _FitInputs(NamedTuple):
    """What all fits share: the arguments of `cross_fit`, the classes that are encoded, and a seed for each split."""

    X: Floats
    codes: Ints
    n_classes: int
    tabular: TabularView | None
    encoded: Ints
    splits: Sequence[Split]
    seeds: list[int]


def _fit_groups(
    inputs: _FitInputs, crew: Crew, number: int, groups: Sequence[tuple[str, Family]]
) -> dict[str, dict[str, NDArray[np.float32]]]:
    """Train groups of learners on one training set, and return logarithms of what they predict."""
    X, codes, n_classes, tabular, encoded, splits, seeds = inputs
    rows = splits[number].train
    tests = np.concatenate([tested for tested, _ in splits[number].tests])
    train, others = _rows_for(X, codes, n_classes, tabular, rows, tests, encoded)
    train = train._replace(check=crew.check)
    found = {}
    for of_group, group in groups:
        crew.check()
        found[of_group] = {
            name: np.log(safe(probability, train)).astype(np.float32)
            for name, probability in group(train, others, seeds[number]).items()
        }
    return found


def _rows_for(
    X: Floats, codes: Ints, n_classes: int, tabular: TabularView | None, rows: Ints, tests: Ints, encoded: Ints
) -> tuple[Train, Floats]:
    """Return rows to learn from and rows to predict; features that hold labels are computed from the former alone."""
    points, others = X[rows], X[tests]
    if tabular is None:
        spread = relative_spread(points)
        points, others = standardised(points, others)
        return Train(points, codes[rows], n_classes, spread=spread), others
    table = Codes(tabular.values[rows], tabular.values[tests], tabular.is_category)
    train = Train(points, codes[rows], n_classes, table=table)
    for column, first, last in tabular.from_labels:
        points[:, first:last], others[:, first:last] = encode(table, column, train, encoded)
    spread = relative_spread(points)
    points, others = standardised(points, others)
    return train._replace(X=points, spread=spread), others
