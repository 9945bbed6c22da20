"""Copies of one observation, which must not be on both sides of a fold: a model would know the label already.

::

    all features equal ── some column nearly all distinct? ── labels of copies agree ──── one of each is used    BF037
                          no: equal rows are data             they differ ─────────────── copies are groups      BF037
    nearly equal ──────── a gap in the lengths of tree edges ──────────────────────────── copies are groups      BF038

Values of a continuous column do not come again by chance, so rows that share one are copies, and all of their other
features are equal too. A rounded column is known by its gaps: these are multiples of one step, and many are equal.

One of each is the sample as it was before it was copied, with its shares of the classes. Where copies have different
labels (several people labelled each row, or labels are noisy), each is an observation of the label, and all are used.
Targets that are numbers are dealt with alike; rounded columns are known by rows that repeat others, y included.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bayesfloor.data.problem import Problem
from bayesfloor.floor.trees.near_copies import find_near_copies, near_copies
from bayesfloor.floor.trees.noise_variance import are_copies
from bayesfloor.forest import spanning_forests
from bayesfloor.learn.training_rows import standardised
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.findings import Finding
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


class DistinctRows(NamedTuple):
    """The problem without copies.

    Attributes
    ----------
    problem : Problem
        The rows that may be used; with copies as groups where that is how they are dealt with.
    rows : ndarray of shape (n,)
        Which of those given these are, ascending.
    findings : tuple of Finding
        What was found.
    are_left_out : bool
        Whether there were copies, of which one each is left.
    """

    problem: Problem
    rows: Ints
    findings: tuple[Finding, ...] = ()
    are_left_out: bool = False


def distinct_rows(problem: Problem, seed: int, *, may_group: bool = True) -> DistinctRows:
    """Leave out copies, or make groups of them.

    Rows of weight 0 are left out first, so that no other row is left out for the sake of one that does not count.

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
    used = np.arange(len(problem.X))
    if problem.sample_weight is not None and problem.sample_weight.min() == 0.0:
        used = np.flatnonzero(problem.sample_weight > 0)
        problem = problem.take(used)
        if not problem.class_counts.all():
            lost = shown(problem.classes[int(np.argmin(problem.class_counts))])
            raise ValueError(f"sample_weight is 0 in all rows of class {lost}: leave the class out")
    everything = DistinctRows(problem, used)
    is_number = problem.task == "regression"
    places = copies_of(problem)
    is_repeated = places is None and is_number
    if is_repeated:
        places = _repeats_of(problem)
    if places is None:
        return everything
    values = np.unique(problem.y, return_inverse=True)[1] if is_number else problem.codes
    settled = settle_copies(
        places,
        values,
        problem,
        seed,
        "Targets" if is_number else "Labels",
        may_group=may_group,
        needs_all=not is_number,
    )
    if settled is None:
        return everything
    if settled.are_groups:
        found = _finding(places, settled.what, also_target=is_repeated)
        return DistinctRows(replace(problem, groups=places), used, (found,))
    distinct = problem.take(settled.kept)
    what = settled.what + _changed_shares(problem, distinct)
    found = _finding(places, what, also_target=is_repeated)
    return DistinctRows(distinct, used[settled.kept], (found,), are_left_out=True)


class Settled(NamedTuple):
    """What becomes of copies: the rows that are kept, whether copies are groups, and the words for it."""

    kept: Ints
    are_groups: bool
    what: str


def settle_copies(
    places: Ints,
    values: Ints,
    problem: Problem,
    seed: int,
    noun: str,
    *,
    may_group: bool,
    needs_all: bool,
) -> Settled | None:
    """Decide what becomes of copies.

    Parameters
    ----------
    places : ndarray of shape (n,)
        Copies have the same number, from 0.
    values : ndarray of shape (n,)
        Labels or targets; equal ones have the same number, from 0.
    problem : Problem
        The rows. Copies within a group do no harm; of several in time, the earliest is kept.
    seed : int
        Seeds which of several copies is kept otherwise.
    noun : str
        What the values are called.
    may_group : bool
        Whether copies may become groups where there are neither groups nor a time.
    needs_all : bool
        Whether each of the values must be among those of the rows that are kept.

    Returns
    -------
    Settled or None
        None where all rows are used as they are.
    """
    groups, time = problem.groups, problem.time
    if groups is not None and not _differ_within(places, groups).any():
        return None
    n_places = int(places.max()) + 1
    order = np.lexsort((problem.keys(seed), np.zeros(len(places)) if time is None else time, places))
    kept = np.sort(order[np.searchsorted(places[order], np.arange(n_places))])
    n_copied = int(np.count_nonzero(np.bincount(places) > 1))
    n_mixed = int(_differ_within(places, values).sum())
    has_all = not needs_all or len(np.unique(values[kept])) == int(values.max()) + 1
    may_group = may_group and groups is None and time is None
    if may_group and (n_mixed > FEW_MIXED * n_copied or not has_all):
        what = (
            f"{noun} differ among the copies of {n_mixed} of {n_copied} rows, so all were used, and copies of one row "
            "were always held out together."
        )
        return Settled(np.arange(len(places)), True, what)
    if not has_all:
        return None
    return Settled(kept, False, f"One of each was used, {n_places} rows, so that none was predicted from its own copy.")


def _differ_within(places: Ints, values: Ints) -> Bools:
    """Tell for each place whether the rows there differ in a value."""
    pairs = np.unique(np.column_stack([places, values]), axis=0)
    return np.bincount(pairs[:, 0]) > 1


def _finding(places: Ints, what: str, *, also_target: bool = False) -> Finding:
    n, n_places = len(places), int(places.max()) + 1
    why = (
        "all their features are equal, although some feature is different in nearly all of the "
        f"{n_places} rows that differ"
    )
    if also_target:
        why = "their features and y are equal, far more often than those of measurements would be"
    return Finding(
        "BF037",
        f"{n - n_places} of {n} rows {'is a copy of another' if n - n_places == 1 else 'are copies of others'}: {why}. "
        f"{what}",
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
    hashes = problem.row_hashes(_known_of_rows)
    n_distinct = len(np.unique(hashes))  # which rows they are takes several times the memory, and most tables have none
    if n_distinct == len(hashes) or n_distinct < max(FEWEST_DISTINCT, FEWEST_SHARE * len(hashes)):
        return None
    _, first, places = np.unique(hashes, return_index=True, return_inverse=True)
    return places if _is_some_column_continuous(_known_of_rows(problem.take(first))) else None


def equal_rows(problem: Problem, rows: Ints) -> Ints | None:
    """Return which rows have all their features equal, as codes of a table where it has them.

    Parameters
    ----------
    problem : Problem
        All rows.
    rows : ndarray of shape (n,)
        Some of them.

    Returns
    -------
    ndarray of shape (n,) or None
        Equal rows have the same number, from 0; None where no two are equal.
    """
    some = problem.take(rows)

    def known_of_rows(part: Problem) -> Floats:
        points = _known_of_rows(part)
        return points if part.tabular is None else np.column_stack([points, known_of(part)])

    distinct, places = np.unique(some.row_hashes(known_of_rows), return_inverse=True)
    return None if len(distinct) == len(rows) else places


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


def _repeats_of(problem: Problem) -> Ints | None:
    """Return which rows repeat another one, y included, where that happens far more often than by chance."""
    hashes = problem.row_hashes(known_of)
    order = np.lexsort((problem.y, hashes))
    is_same = np.append(False, np.diff(hashes[order].view(np.int64)) == 0)
    is_copy = is_same & np.append(False, np.diff(problem.y[order]) == 0)
    if not are_copies(is_same, is_copy, problem.y[order]):
        return None
    places = np.empty(len(order), np.int64)
    places[order] = np.cumsum(~is_copy) - 1
    return places


def known_of(problem: Problem) -> Floats:
    """Return what tells rows apart: the codes of a table where it has them, as X may hold targets of other rows."""
    if problem.tabular is None:
        return problem.X
    values = problem.tabular.values
    return np.where(np.isnan(values), -1e300, values) + 0.0


def _is_some_column_continuous(X: Floats) -> bool:
    """Tell whether a column differs in nearly all of some different rows, and its values are not rounded."""
    some = X[:N_LOOKED_AT]  # in the order of their hashes: at random
    for column in range(X.shape[1]):
        few = np.unique(some[:, column])
        if len(few) < NEARLY_ALL * len(some) or len(np.unique(X[:, column])) < NEARLY_ALL * len(X):
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
    points = standardised(_known_of_rows(problem.take(rows)), problem.X[:0, :1])[0]
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
