"""Copies of one observation, which must not be on both sides of a fold: a model would know the label already.

::

    all features equal ── some column nearly all distinct? ── labels of copies agree ──── one of each is used    BF037
                          no: equal rows are data             they differ ─────────────── copies are groups      BF037
    nearly equal ──────── a gap in the lengths of tree edges ──────────────────────────── copies are groups      BF038

Values of a continuous column do not come again by chance, so rows that share one are copies, and all of their other
features are equal too. A rounded column is known by its gaps: these are multiples of one step, and many are equal.

One of each is the sample as it was before it was copied, with its shares of the classes. Where copies have different
labels (several people labelled each row, or labels are noisy), each is an observation of the label, and all are used.
"""

from dataclasses import dataclass, replace

import numpy as np

from bayesfloor.data.sampling import keys_of_values
from bayesfloor.floor.trees.near_copies import find_near_copies, near_copies
from bayesfloor.floor.trees.problem import Problem
from bayesfloor.forest import spanning_forests
from bayesfloor.learn.training_rows import standardised
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.hashing import hash_rows
from bayesfloor.runtime.text import listed, percent, shown

#: Share of different rows whose value in a column must be that of no other, for it to be nearly all distinct.
NEARLY_ALL = 0.95
#: Share of the gaps between values of a column that must differ: gaps of rounded numbers are multiples of one step.
DIFFERENT_GAPS = 0.5
#: Different rows that a column is looked at in first, and by whose gaps it is judged.
N_LOOKED_AT = 2000
#: Different rows, and their share of all, below which equal rows are repetitions by design.
FEWEST_DISTINCT, FEWEST_SHARE = 50, 0.05
#: Share of copied rows whose copies may differ in their labels for one of each to stand for all.
FEW_MIXED = 0.05
#: Change of the share of a class that is worth a word.
SHARE_CHANGED = 0.01


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The problem without copies.

    Attributes
    ----------
    given : Problem
        All rows, with the copies as groups where that is how they are dealt with.
    problem : Problem
        The rows that may be used.
    rows : ndarray of shape (n,)
        Which of those given these are, ascending.
    findings : tuple of Finding
        What was found.
    """

    given: Problem
    problem: Problem
    rows: Ints
    findings: tuple[Finding, ...] = ()


def distinct_rows(problem: Problem, seed: int, *, may_group: bool = True) -> DistinctRows:
    """Leave out copies, or make groups of them.

    Parameters
    ----------
    problem : Problem
        All rows.
    seed : int
        Seeds which of several copies is kept; the earliest in an order of time.
    may_group : bool, default=True
        Whether copies may become groups. One of each is kept where a splitter says who is tested, and where rows have
        groups or a time already.

    Returns
    -------
    DistinctRows
    """
    everything = DistinctRows(problem, problem, np.arange(len(problem.X)))
    places = copies_of(problem)
    if places is None or (problem.groups is not None and not _differ_within(places, problem.groups).any()):
        return everything
    n_places, n_classes = int(places.max()) + 1, len(problem.classes)
    keys = keys_of_values(problem.X, problem.codes, seed, problem.groups)
    time = np.zeros(len(keys)) if problem.time is None else problem.time
    order = np.lexsort((keys, time, places))
    kept = np.sort(order[np.searchsorted(places[order], np.arange(n_places))])
    n_copied = int(np.count_nonzero(np.bincount(places) > 1))
    n_mixed = int(_differ_within(places, problem.codes).sum())
    has_all_classes = len(np.unique(problem.codes[kept])) == n_classes
    may_group = may_group and problem.groups is None and problem.time is None
    if may_group and (n_mixed > FEW_MIXED * n_copied or not has_all_classes):
        grouped = replace(problem, groups=places)
        what = (
            f"Labels differ among the copies of {n_mixed} of {n_copied} rows, so all were used, and copies of one row "
            "were always held out together."
        )
        return DistinctRows(grouped, grouped, everything.rows, (_finding(places, what),))
    if not has_all_classes:
        return everything
    distinct = problem.take(kept)
    what = f"One of each was used, {n_places} rows, so that none was predicted from its own copy."
    return DistinctRows(problem, distinct, kept, (_finding(places, what + _changed_shares(problem, distinct)),))


def _differ_within(places: Ints, values: Ints) -> Bools:
    """Tell for each place whether the rows there differ in a value."""
    pairs = np.unique(np.column_stack([places, values]), axis=0)
    return np.bincount(pairs[:, 0]) > 1


def _finding(places: Ints, what: str) -> Finding:
    n, n_places = len(places), int(places.max()) + 1
    return Finding(
        "BF037",
        f"{n - n_places} of {n} rows are copies of others: all their features are equal, although some feature is "
        f"different in nearly all of the {n_places} rows that differ. {what}",
        "Find out where they come from. Where equal rows are different observations, add what tells them apart.",
    )


def copies_of(problem: Problem) -> Ints | None:
    """Return which rows are copies of one observation.

    Parameters
    ----------
    problem : Problem
        All rows.

    Returns
    -------
    ndarray of shape (n,) or None
        Copies have the same number, from 0; None where there are none, or equal rows are no copies.
    """
    values = _known_of_rows(problem)
    hashes = np.empty(len(values), np.uint64)
    hash_rows(values.view(np.uint64), 0, len(values), hashes)
    distinct, first, places = np.unique(hashes, return_index=True, return_inverse=True)
    n_distinct = len(distinct)
    if n_distinct == len(values) or n_distinct < max(FEWEST_DISTINCT, FEWEST_SHARE * len(values)):
        return None
    return places if _is_some_column_continuous(values, first) else None


def _known_of_rows(problem: Problem) -> Floats:
    """Return the points; a category in place of columns that were computed from labels, which differ between copies."""
    tabular = problem.tabular
    if tabular is None or not tabular.from_labels:
        return problem.X
    is_kept = np.ones(problem.X.shape[1], bool)
    for _, start, stop in tabular.from_labels:
        is_kept[start:stop] = False
    encoded = tabular.values[:, [column for column, _, _ in tabular.from_labels]]
    return np.column_stack([problem.X[:, is_kept], np.where(np.isnan(encoded), -1.0, encoded)])


def _is_some_column_continuous(X: Floats, rows: Ints) -> bool:
    """Tell whether a column differs in nearly all of some different rows, and its values are not rounded."""
    some = X[rows[:N_LOOKED_AT]]  # in the order of their hashes: at random
    for column in range(X.shape[1]):
        few = np.unique(some[:, column])
        if len(few) < NEARLY_ALL * len(some) or len(np.unique(X[rows, column])) < NEARLY_ALL * len(rows):
            continue
        gaps = np.sort(np.diff(few / max(float(np.abs(few).max()), np.finfo(float).tiny)))
        n_different = 1 + int(np.count_nonzero(np.diff(gaps) > 1e-6 * gaps[1:]))  # rounding may split what is equal
        if n_different >= DIFFERENT_GAPS * len(gaps):
            return True
    return False


def _changed_shares(given: Problem, distinct: Problem) -> str:
    """Say how the shares of the classes change, where they do."""
    before, after = (each.class_counts / len(each.X) for each in (given, distinct))
    changed = np.flatnonzero(np.abs(after - before) >= SHARE_CHANGED)
    if not len(changed):
        return ""
    text = [f"{percent(after[k])} are {shown(given.classes[k])} ({percent(before[k])} with copies)" for k in changed]
    return f" Of these {listed(text)}."


def groups_of_near_copies(
    problem: Problem, rows: Ints, n_jobs: int | None, *, may_group: bool
) -> tuple[Ints | None, tuple[Finding, ...]]:
    """Look for rows that are nearly copies of each other.

    Parameters
    ----------
    problem : Problem
        The rows that may be used.
    rows : ndarray of shape (n,)
        Those that are.
    n_jobs : int or None
        Threads.
    may_group : bool
        Whether near copies may become groups.

    Returns
    -------
    groups : ndarray of shape (n,) or None
        Near copies have the same number; None where there are none, or they may not become groups.
    findings : tuple of Finding
    """
    points = standardised(_known_of_rows(problem)[rows], problem.X[:0, :1])[0]
    forest = spanning_forests(points, n_trees=1, n_jobs=n_jobs)
    places = near_copies(forest.edges, forest.weights, len(rows), len(problem.classes))
    if places is None or (problem.groups is not None and not _differ_within(places, problem.groups[rows]).any()):
        return None, ()
    what = "They may be on both sides of a fold, and a model then knows the label of what it predicts."
    hint = "Keep one of each, or give those of one place the same value in groups."
    if may_group:
        what = "Those of one place were always held out together."
        hint = "Find out where they come from."
    found = find_near_copies(forest.edges, forest.weights, places, f"(Features are standardised.) {what}", hint)
    return (places if may_group else None), (found,)
