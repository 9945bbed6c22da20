"""Many rows: some are held out, and learners of linear cost are trained on all others, a half and a quarter of them.

::

    n rows          up to 50 000                           more
    tested          as many of five folds as hold          10 000 rows, and more of rare classes
                    10 000 rows
    trained on      runs of four, two and one              the others in four folds;
                    of the other folds                     runs of four, two and one of them

Runs of folds are those of `bayesfloor.floor.learned.cross_fitting`: models of one size share no rows. Groups are dealt
out whole, and some rows of every fold are tested, so that all groups take part.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from bayesfloor.data.folds import grouped_folds, stratified_folds
from bayesfloor.data.sampling import RARE_ROWS, stratified_rows
from bayesfloor.data.target_encoding import classes_to_encode
from bayesfloor.floor.learned.cluster_fits import run_fits
from bayesfloor.floor.learned.cross_fitting import CrossFit, Split, folds_seen, runs_of
from bayesfloor.floor.trees.problem import Problem
from bayesfloor.forest.partitions.cluster import Cluster
from bayesfloor.learn.families import Family
from bayesfloor.learn.target_encoding import encoded as encode
from bayesfloor.learn.training_rows import Codes, Train, relative_spread, safe, standardised
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.threads import Crew

#: Models of one size that predict a row, at the most.
MOST_VIEWS = 2
#: Features that are standardised at once, to bound memory.
COLUMNS_AT_ONCE = 16


class Holdout(NamedTuple):
    """Who is trained on what.

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


def hold_out(codes: Ints, groups: Ints | None, n_folds: int, n_tested: int) -> Holdout:
    """Choose the rows to test, and deal the rows out to folds.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Classes of the rows, in random order.
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
    n = len(codes)
    keys = np.arange(n).astype(np.uint64)
    if groups is not None:
        folds = grouped_folds(codes, groups, n_folds, keys)
        tested = stratified_rows(codes, n_tested, keys)
        return Holdout(folds, tested, folds[tested])
    if n > n_folds * n_tested:
        in_class = np.bincount(codes)
        tested = stratified_rows(codes, n_tested, keys, np.minimum(RARE_ROWS, -(-in_class // n_folds)))
        folds = np.zeros(n, np.int64)
        others = np.setdiff1d(np.arange(n), tested, assume_unique=True)
        folds[others] = 1 + stratified_folds(codes[others], n_folds - 1, keys[others])
    else:
        folds = stratified_folds(codes, n_folds, keys)
        n_tested_folds = -(-n_folds * n_tested // n)
        absent = np.setdiff1d(codes, codes[folds < n_tested_folds])
        folds[[np.flatnonzero(codes == label)[0] for label in absent]] = 0
        tested = np.flatnonzero(folds < n_tested_folds)
    of_fold = folds[tested]
    n_parts = -(-n_folds // (int(of_fold.max()) + 1))
    stack_folds = np.empty(len(tested), np.int64)
    for fold in np.unique(of_fold):
        within = np.flatnonzero(of_fold == fold)
        stack_folds[within] = n_parts * fold + stratified_folds(codes[tested[within]], n_parts, within)
    return Holdout(folds, tested, stack_folds)


def holdout_splits(holdout: Holdout) -> list[Split]:
    """List the training sets where some rows are held out; rows to predict count among those that are tested."""
    of_fold = holdout.folds[holdout.tested]
    splits = []
    for run in runs_of(int(holdout.folds.max()) + 1):
        tests = tuple((np.flatnonzero(of_fold == fold), view) for fold, view in run.tests if view < MOST_VIEWS)
        tests = tuple((rows, view) for rows, view in tests if len(rows))
        if tests:
            splits.append(Split(run.size, np.flatnonzero(np.isin(holdout.folds, run.train)), tests))
    return splits


def holdout_bytes(problem: Problem, rows: Ints, n_threads: int) -> float:
    """Return about how much memory training takes: copies of the values, and the nodes of trees in each thread."""
    n_values = problem.X.shape[1] + (0 if problem.tabular is None else 3 * problem.tabular.values.shape[1])
    return len(rows) * min(n_threads, 5) * (10.0 * n_values + 60.0)


def fit_holdout(
    problem: Problem,
    rows: Ints,
    holdout: Holdout,
    groups: Mapping[str, Family],
    seed: int,
    crew: Crew,
    cluster: Cluster | None = None,
) -> CrossFit:
    """Train every learner on every training set and predict the tested rows.

    Parameters
    ----------
    problem : Problem
        Points and labels.
    rows : ndarray of shape (n,)
        Rows that were chosen, in random order.
    holdout : Holdout
        Who is trained on what, among them.
    groups : mapping of str to Group
        Learners, as in `bayesfloor.learn.linear_cost`.
    seed : int
        Seeds what learners draw at random.
    crew : Crew
        Threads to work with.
    cluster : Cluster or None, default=None
        Whose workers train; None for the threads of the crew. The result is the same.

    Returns
    -------
    CrossFit
        Predictions of the tested rows alone.
    """
    codes, n_classes, tested = problem.codes[rows], len(problem.classes), holdout.tested
    of_fold = holdout.folds[tested]
    runs = []
    for run in runs_of(int(holdout.folds.max()) + 1):
        tests = tuple((fold, view) for fold, view in run.tests if view < MOST_VIEWS and np.any(of_fold == fold))
        runs += [replace(run, tests=tests)] if tests else []
    # More rows of rare classes are tested than their share: what was learned is moved to the shares of tested rows.
    moved = np.zeros(n_classes)
    if problem.groups is None:
        among_tested, among_all = (np.bincount(some, minlength=n_classes) for some in (codes[tested], codes))
        moved = np.log(among_tested / among_all)
    known = [np.flatnonzero(np.isin(holdout.folds, run.train)) for run in runs]
    others = [np.concatenate([np.flatnonzero(of_fold == fold) for fold, _ in run.tests]) for run in runs]
    seeds = np.random.SeedSequence(seed).generate_state(len(runs)).tolist()
    splits = [(rows[train], rows[tested[test]]) for train, test in zip(known, others, strict=True)]
    inputs = _FitInputs(problem, splits, seeds, classes_to_encode(codes, n_classes), moved)

    tasks = [(number, group) for number in range(len(runs)) for group in groups.values()]
    amounts = [len(known[number]) for number, _ in tasks]
    crew.expect(sum(amounts))
    outputs = run_fits(_fit_group, inputs, tasks, amounts, crew, cluster)
    names = [name for output in outputs[: len(groups)] for name in output]
    log_p, sizes = [], []
    for size in range(1 + max(run.size for run in runs)):
        of_size = {number for number, run in enumerate(runs) if run.size == size}
        n_views = 1 + max(view for number in of_size for _, view in runs[number].tests)
        predictions = np.empty((len(names), n_views, len(tested), n_classes), np.float32)
        for (number, _), output in zip(tasks, outputs, strict=True):
            for name, values in output.items() if number in of_size else ():
                cuts = np.cumsum([np.count_nonzero(of_fold == fold) for fold, _ in runs[number].tests])
                for (fold, view), part in zip(runs[number].tests, np.split(values, cuts[:-1]), strict=True):
                    predictions[names.index(name), view, of_fold == fold] = part
        log_p.append(predictions)
        sizes.append(float(np.mean([len(known[number]) for number in of_size])))
    seen = folds_seen(holdout_splits(holdout), holdout.stack_folds, tested, len(rows))
    return CrossFit(names, log_p, tuple(sizes), holdout.stack_folds, seen=seen, has_offsets=problem.groups is None)


class _FitInputs(NamedTuple):
    """What all fits share: rows to learn from and to predict, seeds, encoded classes, and what logarithms move by."""

    problem: Problem
    splits: list[tuple[Ints, Ints]]
    seeds: list[int]
    encoded: Ints
    moved: Floats


def _fit_group(inputs: _FitInputs, crew: Crew, number: int, group: Family) -> dict[str, NDArray[np.float32]]:
    """Train a group of learners on one training set, and return logarithms of what they predict."""
    train, others = rows_for(inputs.problem, *inputs.splits[number], inputs.encoded)
    train = train._replace(check=crew.check)
    return {
        name: log_softmax(np.log(safe(probability, train)) + inputs.moved, axis=1).astype(np.float32)
        for name, probability in group(train, others, inputs.seeds[number]).items()
    }


def rows_for(problem: Problem, rows: Ints, tests: Ints, encoded: Ints) -> tuple[Train, Floats]:
    """Return rows to learn from and rows to predict, standardised, in float32.

    Features that hold labels are computed from the former alone.
    """
    if problem.supervised is not None:
        made = problem.supervised.features(rows, tests)
        single: list[Any] = [side.astype(np.float32) for side in standardised(*made)]
        return Train(single[0], problem.codes[rows], len(problem.classes), spread=relative_spread(made[0])), single[1]
    X, tabular, d = problem.X, problem.tabular, problem.X.shape[1]
    points: Any = np.empty((len(rows), d), np.float32)
    others: Any = np.empty((len(tests), d), np.float32)
    spread = np.empty(d)
    for first in range(0, d, COLUMNS_AT_ONCE):
        chunk = slice(first, first + COLUMNS_AT_ONCE)
        known = X[:, chunk][rows]
        points[:, chunk], others[:, chunk] = standardised(known, X[:, chunk][tests])
        largest = np.abs(known).max(axis=0)
        spread[chunk] = largest * (known / np.where(largest > 0, largest, 1.0)).std(axis=0)
    spread /= spread.max() or 1.0
    columns = problem.given_columns
    train = Train(points, problem.codes[rows], len(problem.classes), spread=spread, given_columns=columns)
    if tabular is not None:
        table = Codes(tabular.values[rows], tabular.values[tests], tabular.is_category)
        train = train._replace(table=table)
        for column, first, last in tabular.from_labels:
            points[:, first:last], others[:, first:last] = standardised(*encode(table, column, train, encoded))
    return train, others
