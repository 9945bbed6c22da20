"""Copies of one observation, which must not be on both sides of a fold: a model would know the label already.

::

    all features equal ── some column nearly all distinct,  ─┐  labels of copies agree ── one of each is used    BF037
                          all rows there 2, 3, ... times, or ┼─ they differ ───────────── copies are groups      BF037
                          far more often than others agree  ─┘
                          in most columns; else they are data
    all but one or two ── far more often than others agree in most columns ────────────── copies are groups      BF038
    nearly equal ──────── a gap in the lengths of tree edges ──────────────────────────── copies are groups      BF038

Values of a continuous column do not come again by chance, so rows that share one are copies, and all of their other
features are equal too. A rounded column is known by its gaps: these are multiples of one step, and many are equal.
Where all columns are rounded, or have few values, `agreeing_rows` judges how rows agree in all columns together.

One of each is the sample as it was before it was copied, with its shares of the classes. Where copies have different
labels (several people labelled each row, or labels are noisy), each is an observation of the label, and all are used.
Targets that are numbers are dealt with alike; rounded columns are known by rows that repeat others, y included, too.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bayesfloor.data.problem import Problem
from bayesfloor.data.sampling import Keys
from bayesfloor.floor.learned.agreeing_rows import (
    JUDGED_ROWS,
    are_copied_targets,
    are_copies,
    columns_of_copies,
    hashed_columns,
)
from bayesfloor.floor.trees.near_copies import MOST_COPIES, Copies, find_near_copies, near_copies, said_of_near_copies
from bayesfloor.forest import spanning_forests
from bayesfloor.learn.training_rows import standardised
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.hash_kernels import GOLDEN, mix64
from bayesfloor.runtime.text import listed, percent, shown

#: Share of different rows whose value in a column must be that of no other, for it to be nearly all distinct.
NEARLY_ALL = 0.95
#: Share of the gaps between values of a column that must differ: gaps of rounded numbers are multiples of one step.
DIFFERENT_GAPS = 0.5
#: Different rows that a column is looked at in first, and by whose gaps it is judged.
N_LOOKED_AT = 2000
#: Different rows, and their share of all, below which equal rows are repetitions by design.
FEWEST_DISTINCT, FEWEST_SHARE = 50, 0.05
#: Share of the rows that repeat another, below which equal rows of columns with few digits or values stay as they are:
#: they change little, and some come by chance.
FEW_COPIES = 0.05
#: Share of copied rows whose copies may differ in their labels for one of each to stand for all.
FEW_MIXED = 0.05
#: Change of the share of a class that is worth a word.
SHARE_CHANGED = 0.01
#: What was made of near copies, and what to do, where they may become groups and where not.
_SAID_OF_GROUPS = {
    True: ("Those of one place were always held out together.", "Find out where they come from."),
    False: (
        "They may be on both sides of a fold, and a model then knows the label of what it predicts.",
        "Keep one of each, or give those of one place the same value in groups.",
    ),
}


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
    distinct = _without_copies(problem, used, seed, may_group)
    are_groups = bool(distinct.findings) and not distinct.are_left_out
    return distinct if are_groups else _without_changed(distinct, seed, may_group)


def _without_copies(problem: Problem, used: Ints, seed: int, may_group: bool) -> DistinctRows:
    """Leave out rows that are equal to others, or make groups of them, where they are copies."""
    everything = DistinctRows(problem, used)
    is_number = problem.task == "regression"
    copied = copies_of(problem, seed)
    if copied is None:
        return everything
    places, why = copied
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
        found = _finding(places, why, settled.what)
        return DistinctRows(replace(problem, groups=places), used, (found,))
    distinct = problem.take(settled.kept)
    what = settled.what + _changed_shares(problem, distinct)
    found = _finding(places, why, what)
    return DistinctRows(distinct, used[settled.kept], (found,), are_left_out=True)


def _without_changed(distinct: DistinctRows, seed: int, may_group: bool) -> DistinctRows:
    """Make groups of rows that are equal but for a column or two, or name them, where they are copies."""
    problem = distinct.problem
    places = changed_copies_of(problem, seed)
    if places is None:
        return distinct
    groups = problem.groups
    if groups is not None and not _differ_within(places, groups).any():
        return distinct
    may_group = may_group and groups is None and problem.time is None
    how = "they agree in all columns but one or two, far more often than others agree in most columns"
    found = said_of_near_copies(places, how, *_SAID_OF_GROUPS[may_group])
    problem = replace(problem, groups=places) if may_group else problem
    return distinct._replace(problem=problem, findings=(*distinct.findings, found))


def changed_copies_of(problem: Problem, seed: int) -> Ints | None:
    """Return which rows are copies of one observation in which a column or two were changed; None where there are none.

    Columns that are different in all rows, as numbers of rows are, say nothing of copies, unless most columns are.
    """
    rows = np.argsort(problem.keys(seed))[:JUDGED_ROWS]
    some = _hashed(problem.take(rows))
    left = columns_of_copies(some, FEW_COPIES * len(rows) ** 2 / problem.n_samples)
    is_new = np.array([len(np.unique(column)) == len(rows) for column in some.T])
    if left is None and not 0 < is_new.sum() <= len(is_new) / 2:
        return None
    kept = np.flatnonzero(~is_new) if left is None else left
    hashes = problem.row_hashes(lambda part: _hashed(part)[:, kept].view(np.float64))
    places = np.unique(hashes, return_inverse=True)[1]
    sizes = np.bincount(places)
    if (left is None and _with_targets(hashes, problem)[1] == 1) or sizes[sizes > 1].mean() > MOST_COPIES:
        return None
    return places


def _with_targets(hashes: Keys, problem: Problem) -> tuple[Ints, int]:
    """Number rows that are equal with their targets, from 0; also return what divides how often each of them comes."""
    labels = np.unique(problem.y, return_inverse=True)[1] if problem.task == "regression" else problem.codes
    both = np.unique(mix64(hashes + mix64(labels.astype(np.uint64) + GOLDEN)), return_inverse=True)[1]
    counts = np.bincount(both)
    return both, int(np.gcd.reduce(counts)) if len(counts) >= FEWEST_DISTINCT else 1


def _hashed(problem: Problem) -> Keys:
    return hashed_columns(known_of(problem))


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


def _finding(places: Ints, why: str, what: str) -> Copies:
    n, n_places = len(places), int(places.max()) + 1
    return Copies(
        "BF037",
        f"{n - n_places} of {n} rows {'is a copy of another' if n - n_places == 1 else 'are copies of others'}: {why}. "
        f"{what}",
        "Find out where they come from. Where equal rows are different observations, add what tells them apart.",
        1.0 - n_places / n,
    )


def copies_of(problem: Problem, seed: int) -> tuple[Ints, str] | None:
    """Return which rows are copies of one observation, and why.

    Parameters
    ----------
    problem : Problem
        All rows.
    seed : int
        Seeds which rows it is judged by.

    Returns
    -------
    places : ndarray of shape (n,)
        Copies have the same number, from 0.
    why : str
    None where there are no copies, or equal rows are none.
    """
    hashes = problem.row_hashes(_known_of_rows)
    n_distinct = len(np.unique(hashes))  # which rows they are takes several times the memory, and most tables have none
    if n_distinct == len(hashes):
        return None
    repeated = _repeats_of(problem) if problem.task == "regression" else None
    if n_distinct < max(FEWEST_DISTINCT, FEWEST_SHARE * len(hashes)):
        return repeated
    _, first, places = np.unique(hashes, return_index=True, return_inverse=True)
    if _is_some_column_continuous(_known_of_rows(problem.take(first))):
        some = f"some feature is different in nearly all of the {n_distinct} rows that differ"
        return places, f"all their features are equal, although {some}"
    keys = problem.keys(seed)
    both, times = _with_targets(hashes, problem)
    if times > 1:
        order = np.lexsort((keys, both))
        whole = np.empty(len(order), np.int64)
        whole[order] = np.arange(len(order)) // times
        return whole, f"each row is there {times} times, or a multiple of that, with its target"
    share = (1.0 - n_distinct / len(hashes)) * problem.n_samples / len(hashes)  # of a sample, most are without copies
    some_rows = np.argsort(keys)[:JUDGED_ROWS]
    if repeated is None and share >= FEW_COPIES and are_copies(_hashed(problem.take(some_rows))):
        return places, "all their features are equal, far more often than other rows agree in most of them"
    return repeated


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


def _repeats_of(problem: Problem) -> tuple[Ints, str] | None:
    """Return which rows repeat another one, y included, where that happens far more often than by chance, and why."""
    hashes = problem.row_hashes(known_of)
    order = np.lexsort((problem.y, hashes))
    is_same = np.append(False, np.diff(hashes[order].view(np.int64)) == 0)
    is_copy = is_same & np.append(False, np.diff(problem.y[order]) == 0)
    if not are_copied_targets(is_same, is_copy, problem.y[order]):
        return None
    places = np.empty(len(order), np.int64)
    places[order] = np.cumsum(~is_copy) - 1
    return places, "their features and y are equal, far more often than those of measurements would be"


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
    what, hint = _SAID_OF_GROUPS[may_group]
    found = find_near_copies(forest.edges, forest.weights, places, f"(Features are standardised.) {what}", hint)
    return (places if may_group else None), (found,)
