"""Which rows are used, trained on, tested and counted: decided once, before anything is learned."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.data.folds import check_folds, grouped_folds, stratified_folds
from bayesfloor.data.problem import Problem
from bayesfloor.data.row_groups import in_order_of_appearance
from bayesfloor.data.sampling import (
    LEARNED_VALUES,
    RARE_ROWS,
    Keys,
    affordable_rows,
    stratified_rows,
)
from bayesfloor.floor.learned.copies import distinct_rows, groups_of_near_copies
from bayesfloor.floor.learned.splits import Split, hold_out, splits_of
from bayesfloor.floor.learned.time_periods import MIN_ROWS, time_scheme
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.checks import ParameterError, check_int, check_max_rows, is_int
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.settings import limits
from bayesfloor.runtime.text import shown

#: Fewest folds: four disjoint training sets and the fold that they predict.
MIN_FOLDS = 5
#: Stretches of the tested time whose errors are taken to be independent of each other.
N_STRETCHES = 20
#: Fewest rows that a caller may ask for where the target is a number.
FEWEST_ROWS = 20


class RowPlan(NamedTuple):
    """Which rows are used for what.

    Attributes
    ----------
    kept : ndarray of shape (n_kept,)
        Rows that may be used, among those given, ascending: all but copies and rows of weight 0.
    rows : ndarray of shape (n,)
        Those of them that are used, in random order.
    predicted : ndarray of shape (n_predicted,)
        Places among the rows used of those that are predicted.
    folds : ndarray of shape (n_predicted,)
        The fold of each of these for the stack; -1 where it is trained on and never predicted.
    splits : list of Split
        Training sets, places among the rows used, and what each predicts, places among those predicted.
    earlier : tuple of ndarray or None
        For each fold, those that its stack is fitted on; None for all others.
    counted : ndarray of shape (n_counted,)
        Places among those predicted of the rows that figures are about.
    groups : ndarray of shape (n_counted,) or None
        Which of these belong together, as the caller says or as copies do.
    clusters : ndarray of shape (n_counted,) or None
        Which of these may err alike; None where all are independent.
    is_many : bool
        Whether some rows are held out, and all others trained on.
    may_repeat : bool
        Whether the rows may be dealt out to folds again, in other ways.
    has_own_groups : bool
        Whether groups are those that the caller has given.
    copies_left_out : bool
        Whether there were copies, of which one each is left.
    findings : tuple of Finding
        About copies.
    """

    kept: Ints
    rows: Ints
    predicted: Ints
    folds: Ints
    splits: list[Split]
    earlier: tuple[Ints, ...] | None
    counted: Ints
    groups: Ints | None
    clusters: Ints | None
    is_many: bool
    may_repeat: bool
    has_own_groups: bool
    copies_left_out: bool
    findings: tuple[Finding, ...]

    @property
    def tested(self) -> Ints:
        """Places among the rows used of those that figures are about."""
        return self.predicted[self.counted]

    @property
    def given(self) -> Ints:
        """Where the rows used are among those given."""
        return self.kept[self.rows]

    def largest_splits(self, *, in_time: bool) -> tuple[tuple[Ints, Ints], ...]:
        """List the largest training sets, each with the places of what it predicts among the rows that count."""
        place = np.full(len(self.predicted), -1)
        place[self.counted] = np.arange(len(self.counted))
        largest = [split for split in self.splits if split.size == 0 and not split.for_stack]
        return tuple(
            (split.train if in_time else np.sort(split.train), place[split.tests[0][0]])
            for split in sorted(largest, key=lambda split: int(self.folds[split.tests[0][0][0]]))
        )


def plan_rows(
    problem: Problem, *, cv: Any, max_rows: int | None, is_default: bool, seed: int, n_jobs: int | None
) -> tuple[Problem, RowPlan]:
    """Choose rows, and decide who is trained on what.

    Parameters
    ----------
    problem : Problem
        All rows.
    cv, max_rows, n_jobs
        As for `learned_floor`.
    is_default : bool
        Whether learners are the default ones, of which some take many rows.
    seed : int
        Seeds the choice of rows.

    Returns
    -------
    problem : Problem
        The rows that may be used; copies and near copies are groups where that is how they are dealt with.
    plan : RowPlan
    """
    check_cv(cv, problem)
    given = problem
    distinct = distinct_rows(given, seed, may_group=is_int(cv))
    problem = distinct.problem
    if is_int(cv):  # again: copies and rows of weight 0 may have been all that there was of some groups
        check_cv(cv, problem)
    is_default = is_default and is_int(cv) and problem.time is None and problem.supervised is None
    rows = choose_rows(problem, _n_rows(max_rows, problem, is_default=is_default), seed, RARE_ROWS)
    is_many = is_default and len(rows) > limits().learned_rows
    looked_at = rows[: limits().learned_rows] if is_many else rows
    may_group = is_int(cv) and problem.groups is None and problem.time is None and len(looked_at) == len(problem.X)
    near, nearly_copied = groups_of_near_copies(problem, looked_at, n_jobs, may_group=may_group)
    if near is not None:
        by_row = np.empty_like(near)
        by_row[rows] = near
        problem = replace(problem, groups=by_row)
    groups = None if problem.groups is None else in_order_of_appearance(problem.groups[rows])
    strata = _strata(problem, rows, is_grouped=groups is not None)
    everything = np.arange(len(rows))
    earlier, counted = None, everything
    if is_many:
        holdout = hold_out(strata, groups, cv, limits().learned_rows)
        predicted, folds, splits = holdout.tested, holdout.stack_folds, holdout.splits()
        counted = np.arange(len(predicted))
    elif problem.time is not None:
        group_folds = None if groups is None else grouped_folds(strata, groups, cv, everything.astype(np.uint64))
        predicted, (folds, splits, earlier, is_tested) = everything, time_scheme(problem.time[rows], cv, group_folds)
        counted = np.flatnonzero(is_tested)
    else:
        keys = everything.astype(np.uint64)  # rows are in random order
        predicted, folds = everything, _folds(cv, strata, groups, keys, given, distinct.rows[rows])
        splits = splits_of(folds)
    tested = predicted[counted]
    _check_tested(problem, rows[tested])
    groups = None if groups is None else in_order_of_appearance(groups[tested])
    clusters = groups
    if problem.time is not None:  # stretches of time, which have groups as a whole
        units = np.arange(len(tested)) if groups is None else groups
        middle = np.bincount(units, problem.time[rows[tested]]) / np.bincount(units)
        place = np.argsort(np.argsort(middle, kind="stable"), kind="stable")
        if groups is None or len(place) > N_STRETCHES:
            clusters = (place * N_STRETCHES // len(place))[units]
    return problem, RowPlan(
        kept=distinct.rows,
        rows=rows,
        predicted=predicted,
        folds=folds,
        splits=splits,
        earlier=earlier,
        counted=counted,
        groups=groups,
        clusters=clusters,
        is_many=is_many,
        may_repeat=is_int(cv) and not is_many and problem.time is None,
        has_own_groups=given.groups is not None,
        copies_left_out=distinct.are_left_out,
        findings=(*distinct.findings, *nearly_copied),
    )


#: Rows that may be used, of which features do not matter, and who is trained on what.
Planned = tuple[Problem, RowPlan]


def as_planned(problem: Problem, planned: Planned) -> tuple[Problem, RowPlan]:
    """Take the rows of a plan that was made before, so that several sets of features have the same rows and folds.

    Parameters
    ----------
    problem : Problem
        All rows, with some features.
    planned : (Problem, RowPlan)
        As from `plan_rows`, of the same rows with other features.

    Returns
    -------
    problem, plan
        As from `plan_rows`.
    """
    shared, plan = planned
    own = problem if len(plan.kept) == len(problem.X) else problem.take(plan.kept)
    return replace(own, groups=shared.groups), plan


def split_again(plan: RowPlan, problem: Problem, cv: int, seed: Sequence[int]) -> RowPlan:
    """Deal the same rows out to folds in another way, told by a seed."""
    groups = None if problem.groups is None else in_order_of_appearance(problem.groups[plan.rows])
    strata = _strata(problem, plan.rows, is_grouped=groups is not None)
    keys = np.random.default_rng(seed).permutation(len(plan.rows)).astype(np.uint64)
    folds = _folds(cv, strata, groups, keys, problem, plan.rows)
    return plan._replace(folds=folds, splits=splits_of(folds))


def check_cv(cv: Any, problem: Problem) -> None:
    """Check what can be checked of `cv` before rows are chosen."""
    if problem.groups is not None:
        n_groups = len(np.unique(problem.groups))
        if n_groups < MIN_FOLDS:
            raise ValueError(f"A learning curve of groups needs at least {MIN_FOLDS} of them. Got {n_groups}.")
    if problem.time is not None and not is_int(cv):
        raise ParameterError("cv", "an int with time, the number of periods to test", cv)
    if not is_int(cv) and (hasattr(cv, "split") or np.iterable(cv)):
        return
    check_int("cv", cv, MIN_FOLDS)
    needed = 4 * cv if problem.time is None else 2 * MIN_ROWS * cv
    if len(problem.X) < needed:
        raise ValueError(f"A learning curve with cv={cv} needs at least {needed} rows. Got {len(problem.X)}.")


def rows_by_default(problem: Problem, n_values: int = LEARNED_VALUES) -> int:
    """Return how many rows are used at the most where nobody says: for groups half as many, as all folds are tested."""
    if problem.time is not None:
        return limits().learned_rows
    return affordable_rows(problem.X.shape[1], n_values if problem.groups is None else n_values // 2)


def _n_rows(max_rows: int | None, problem: Problem, *, is_default: bool) -> int | None:
    most = rows_by_default(problem) if is_default else limits().learned_rows
    if problem.task == "classification":
        return check_max_rows(max_rows, len(problem.classes), most)
    wanted = check_max_rows(max_rows, 2, most)
    return wanted if wanted is None else max(wanted, FEWEST_ROWS)


def choose_rows(problem: Problem, n_rows: int | None, seed: int, at_least: int = 1) -> Ints:
    """Choose rows and put them in an order that depends on their values and the seed alone.

    Rare classes get `at_least` so many rows, where there are no groups and no time. Rows of all groups are taken: as
    many from more groups say more about new ones than whole groups do.
    """
    keys = problem.keys(seed)
    is_plain = problem.groups is None and problem.time is None
    rows = stratified_rows(problem.codes, n_rows, keys, at_least if is_plain else 1)
    return rows[np.lexsort((problem.codes[rows], keys[rows]))]


def _strata(problem: Problem, rows: Ints, *, is_grouped: bool) -> Ints:
    """Return what folds have equal shares of: classes, or tenths of the rows by their number; none with groups."""
    if problem.task == "classification" or is_grouped:
        return problem.codes[rows]
    ranks = np.argsort(np.argsort(problem.y[rows], kind="stable"), kind="stable")
    return ranks * min(10, max(len(rows) // 10, 1)) // len(rows)


def _folds(cv: Any, strata: Ints, groups: Ints | None, keys: Keys, given: Problem, rows: Ints) -> Ints:
    """Deal rows out to folds: by strata, by groups, or as a splitter says, which counts all rows that were given."""
    if is_int(cv):
        return stratified_folds(strata, cv, keys) if groups is None else grouped_folds(strata, groups, cv, keys)
    folds = check_folds(cv, given.codes[rows], keys, given.codes, rows, given.groups)
    if folds.max() + 1 < MIN_FOLDS:
        raise ValueError(f"A learning curve needs at least {MIN_FOLDS} folds. Got {folds.max() + 1}.")
    return folds


def _check_tested(problem: Problem, rows: Ints) -> None:
    """Refuse rows to test that are all of one class, or of one number."""
    if problem.task == "regression":
        values: Floats = problem.y[rows]
        if np.ptp(values) == 0.0:
            raise ValueError(f"y is {values[0]:g} in all of the {len(rows)} rows that are tested")
    elif problem.time is not None and len(np.unique(problem.codes[rows])) < 2:
        name = shown(problem.classes[problem.codes[rows[0]]])
        raise ValueError(f"All rows of the later half of the time are of class {name}: there is nothing to tell apart.")
