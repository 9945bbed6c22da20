"""Who is trained on what: many rows, half as many and a quarter as many, none of which are predicted.

The folds stand in a circle. A *run* is some folds in a row, and a model is trained on each run of three lengths::

    folds        0  1  2  3  4         five folds; fold 0 is predicted by
    4 folds         ■  ■  ■  ■         one model of .8 n rows,
    2 folds         ■  ■  □  □         two models of .4 n rows that share none,
    1 fold          ■  □  ■  □         four models of .2 n rows that share none

With five folds that is 15 models in all, since each short run serves several folds, at 1.75 times the cost of plain
cross-validation. Of many rows some are held out, and all others are trained on::

    n rows          up to 50 000                           more
    tested          as many of five folds as hold          10 000 rows, and more of rare classes
                    10 000 rows
    trained on      runs of four, two and one              the others in four folds;
                    of the other folds                     runs of four, two and one of them

Groups are dealt out whole, and some rows of every fold are tested, so that all groups take part. Where rows follow each
other in time, `bayesfloor.floor.learned.time_periods` says who is trained on what.

The stack of a fold is fitted on predictions of models that have not seen the fold (`unseen`). The largest of them are
trained on all but two folds, where that is affordable; otherwise they are those of two folds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from bayesfloor.data.folds import grouped_folds, stratified_folds
from bayesfloor.data.sampling import RARE_ROWS, stratified_rows
from bayesfloor.runtime.arrays import Bools, Ints

#: Disjoint models that predict each row, at each training size, the largest first.
VIEWS = (1, 2, 4)
#: The number, among the sizes, of training sets without two of the folds, which serve the stack alone.
NESTED = len(VIEWS)
#: Rows that these are trained on in all, at the most: with five folds, there are such sets for up to 750 rows. Of 277
#: rows, weights of the next size raise the log-loss by half a standard error, of 700 by a sixth, and of 1000 rows they
#: are as good, in half the time.
MOST_NESTED = 4_500
#: Models of one size that predict a row, at the most, where some rows are held out.
MOST_VIEWS = 2


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
        Rows to predict, counted among those that are predicted, and the number of the view that this is for them.
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


class Holdout(NamedTuple):
    """Some rows that are tested by models of the others.

    Attributes
    ----------
    folds : ndarray of shape (n,)
        The fold of each row.
    tested : ndarray of shape (n_tested,)
        Rows to predict, by models that were trained on other folds.
    stack_folds : ndarray of shape (n_tested,)
        Folds of the tested rows for the stack, each within one of the above.
    """

    folds: Ints
    tested: Ints
    stack_folds: Ints

    def splits(self) -> list[Split]:
        """List the training sets; rows to predict count among those that are tested."""
        of_fold = self.folds[self.tested]
        splits = []
        for run in runs_of(int(self.folds.max()) + 1):
            tests = [(np.flatnonzero(of_fold == fold), view) for fold, view in run.tests if view < MOST_VIEWS]
            kept = tuple((rows, view) for rows, view in tests if len(rows))
            if kept:
                splits.append(Split(run.size, np.flatnonzero(np.isin(self.folds, run.train)), kept))
        return splits


def hold_out(strata: Ints, groups: Ints | None, n_folds: int, n_tested: int) -> Holdout:
    """Choose the rows to test, and deal the rows out to folds.

    Parameters
    ----------
    strata : ndarray of shape (n,)
        Classes of the rows, in random order, or what else folds have equal shares of.
    groups : ndarray of shape (n,) or None
        Rows that belong together.
    n_folds : int
        How many folds, at least 5.
    n_tested : int
        Rows to test, about.

    Returns
    -------
    Holdout
    """
    n = len(strata)
    keys = np.arange(n).astype(np.uint64)
    if groups is not None:
        folds = grouped_folds(strata, groups, n_folds, keys)
        tested = stratified_rows(strata, n_tested, keys)
        return Holdout(folds, tested, folds[tested])
    if n > n_folds * n_tested:
        in_class = np.bincount(strata)
        tested = stratified_rows(strata, n_tested, keys, np.minimum(RARE_ROWS, -(-in_class // n_folds)))
        folds = np.zeros(n, np.int64)
        others = np.setdiff1d(np.arange(n), tested, assume_unique=True)
        folds[others] = 1 + stratified_folds(strata[others], n_folds - 1, keys[others])
    else:
        folds = stratified_folds(strata, n_folds, keys)
        n_tested_folds = -(-n_folds * n_tested // n)
        absent = np.setdiff1d(strata, strata[folds < n_tested_folds])
        folds[[np.flatnonzero(strata == label)[0] for label in absent]] = 0
        tested = np.flatnonzero(folds < n_tested_folds)
    of_fold = folds[tested]
    n_parts = -(-n_folds // (int(of_fold.max()) + 1))
    stack_folds = np.empty(len(tested), np.int64)
    for fold in np.unique(of_fold):
        within = np.flatnonzero(of_fold == fold)
        stack_folds[within] = n_parts * fold + stratified_folds(strata[tested[within]], n_parts, within)
    return Holdout(folds, tested, stack_folds)


def n_views_of(splits: Sequence[Split]) -> list[int]:
    """Return how many models of each size predict a row."""
    sizes = range(1 + max(split.size for split in splits))
    return [1 + max(view for split in splits if split.size == size for _, view in split.tests) for size in sizes]


def folds_seen(splits: Sequence[Split], folds: Ints, predicted: Ints, n: int) -> list[Bools]:
    """Tell which folds the models have seen that predict each of them.

    Parameters
    ----------
    splits : sequence of Split
        The training sets.
    folds : ndarray of shape (n_predicted,)
        The fold of each row that is predicted.
    predicted : ndarray of shape (n_predicted,)
        Which of the `n` rows that are trained on these are.
    n : int
        How many rows there are.

    Returns
    -------
    list of ndarray of shape (n_views, n_folds, n_folds)
        For each size, whether the model of a view of the second fold was trained on rows of the last one.
    """
    n_folds = int(folds.max()) + 1
    of_all = np.full(n, -1)
    of_all[predicted] = folds
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
    AUC of learners of ten categories came out at .56. Models of the largest size have seen all folds but the one that
    they predict: the next smaller ones take their place.

    Parameters
    ----------
    seen : list of ndarray or None
        As from `folds_seen`; None where nobody has seen any.
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
    if seen is None:
        views, places = np.nonzero(np.ones((n_views[size], len(rows)), bool))
        return size, views, rows[places]
    smaller = range(size, len(VIEWS))
    nested = [NESTED] if size == 0 and len(n_views) > NESTED else []
    for each in (*smaller[:1], *nested, *smaller[1:]):
        is_clean = ~seen[each][:, folds[rows], fold]
        if is_clean.any(axis=0).all():
            views, places = np.nonzero(is_clean)
            return each, views, rows[places]
    raise AssertionError("models of one size share no rows, so of two of them one has not seen the fold")
