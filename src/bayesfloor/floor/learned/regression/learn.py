"""Rows, folds and learners: from a checked problem to the residuals of the stack at three training sizes."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.folds import check_folds, grouped_folds, stratified_folds
from bayesfloor.data.row_groups import in_order_of_appearance
from bayesfloor.data.sampling import LEARNED_ROWS, affordable_rows
from bayesfloor.floor.learned.caller_choices import MIN_FOLDS, Known, check_cv, check_learners
from bayesfloor.floor.learned.cluster_fits import cluster_of
from bayesfloor.floor.learned.column_order import in_column_order
from bayesfloor.floor.learned.copies import distinct_numbers, groups_of_near_copies, known_of
from bayesfloor.floor.learned.cross_fitting import VIEWS, Split
from bayesfloor.floor.learned.many_rows import hold_out, holdout_splits
from bayesfloor.floor.learned.regression.cross_fitting import (
    NumberFit,
    cross_fit_numbers,
    rows_for,
    with_recent,
)
from bayesfloor.floor.learned.regression.residual_edges import Edges, replicate_edges, tree_edges
from bayesfloor.floor.learned.regression.stacking import NumberStack, fit_number_stacks
from bayesfloor.floor.learned.time_periods import time_scheme
from bayesfloor.floor.trees.number_problem import NumberProblem
from bayesfloor.learn.decision_trees import grow_ensemble
from bayesfloor.learn.families import NUMBER_FAMILIES, NUMBER_LEARNERS, number_families_for
from bayesfloor.learn.local_families import MOST_SCALED, n_trees_for
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.checks import is_int
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.limits import check_memory, check_n_jobs
from bayesfloor.runtime.threads import Crew, supervise

_KNOWN = Known(
    NUMBER_FAMILIES,
    NUMBER_LEARNERS,
    lambda given: hasattr(given, "predict") and not hasattr(given, "predict_proba"),
    "a regressor",
)
#: Stretches of the tested time whose errors are taken to be independent of each other.
N_STRETCHES = 20
#: Rows whose distances tell neighbours in the space scaled by importances.
IMPORTANCE_ROWS = 10_000


class Learned(NamedTuple):
    """What the stack makes of the rows that are tested.

    Attributes
    ----------
    rows : ndarray of shape (n_used,)
        The rows that were used, as given, in random order.
    tested : ndarray of shape (n,)
        Those of them that were tested, as given.
    y, weight : ndarray of shape (n,)
        Their targets, centred and scaled, and what each counts.
    centre, scale : float
        What y was centred and divided by.
    predicted : list of ndarray of shape (n_views, n)
        What the stack predicts at each training size, the largest first, centred and scaled alike.
    sizes : ndarray
        Rows trained on at each size.
    weights : dict
        Weights of the learners at the largest size, the largest first.
    points : ndarray of shape (n, d)
        The tested rows, standardised and scaled by the importances of features.
    edges : list of Edges
        Edges of spanning trees of the features as they are, of scaled ones, and between equal rows.
    clusters : ndarray of shape (n,) or None
        Rows whose errors are alike.
    groups : ndarray of shape (n,) or None
        Groups that the caller has given.
    findings : list of Finding
        About copies.
    """

    rows: Ints
    tested: Ints
    y: Floats
    weight: Floats
    centre: float
    scale: float
    predicted: list[Floats]
    sizes: Floats
    weights: dict[str, float]
    points: Floats
    edges: list[Edges]
    clusters: Ints | None
    groups: Ints | None
    findings: list[Finding]


def learn_numbers(
    given: NumberProblem,
    *,
    cv: Any,
    max_rows: int | None,
    learners: Any,
    n_jobs: int | None,
    seed: int,
    progress: Any,
    client: Any,
) -> Learned:
    """Choose rows, deal them out to folds, train all learners and stack them; see `regression_floor`."""
    n_threads = check_n_jobs(n_jobs)
    check_cv(cv, len(given.y), given.groups, given.time)
    given = in_column_order(given, given.y)
    kept, copies, copied = distinct_numbers(given, seed, may_group=is_int(cv))
    if is_int(cv):  # again: rows of no weight and copies may have been all that there was of some groups
        check_cv(cv, len(kept), None if given.groups is None else given.groups[kept], given.time)
    is_default = isinstance(learners, str) and learners == "default" and is_int(cv)
    is_default = is_default and given.time is None and given.supervised is None
    most = affordable_rows(given.X.shape[1]) if is_default else LEARNED_ROWS
    order = np.argsort(given.keys(seed)[kept], kind="stable")  # depends on the values and the seed alone
    rows = kept[order][: most if max_rows is None else max_rows]
    problem = given.take(rows)
    weight = np.ones(len(rows)) if problem.sample_weight is None else problem.sample_weight
    centre = float((weight * problem.y).sum() / weight.sum())
    scale = float((weight * (problem.y - centre) ** 2).sum() / weight.sum()) ** 0.5
    if not scale > 0:
        raise ValueError(f"y is {problem.y[0]:g} in all of the {len(rows)} rows that were used")
    problem = replace(problem, y=(problem.y - centre) / scale)
    is_many = is_default and len(rows) > LEARNED_ROWS
    together = problem.groups if copies is None else copies[rows]
    may_group = is_int(cv) and together is None and problem.time is None and len(rows) == len(given.X)
    near, found = groups_of_near_copies(
        problem.without_target, np.arange(min(len(rows), LEARNED_ROWS)), n_jobs, may_group=may_group and not is_many
    )
    together = together if near is None else near
    strata = _strata(problem.y)
    splits: list[Split] | None
    earlier, is_tested = None, None
    if is_many:
        holdout = hold_out(strata, together, cv, LEARNED_ROWS)
        tested, folds, splits = holdout.tested, holdout.stack_folds, holdout_splits(holdout)
    else:
        tested = np.arange(len(rows))
        folds, splits, earlier, is_tested = _scheme(problem, together, strata, cv, given, rows)
    counted = np.arange(len(tested)) if is_tested is None else np.flatnonzero(is_tested)
    of_tested = tested[counted]
    if np.ptp(problem.y[of_tested]) == 0.0:
        raise ValueError(f"y is {given.y[rows[of_tested[0]]]:g} in all of the {len(of_tested)} rows that are tested")
    tabular = None if problem.tabular is None else problem.tabular.take(tested)
    groups = check_learners(
        learners, _KNOWN, lambda: number_families_for(problem.X[tested], tabular, problem.supervised)
    )
    cluster = cluster_of(client)
    n_learners = sum(len(NUMBER_LEARNERS.get(name, ("",))) for name in groups)
    check_memory(4 * n_learners * sum(VIEWS) * len(tested), f"the predictions of {len(tested)} rows")
    check_memory(12.0 * min(n_threads, 5) * problem.X.size, f"training on {len(rows)} rows")

    def learn(crew: Crew) -> tuple[NumberFit, list[NumberStack], Floats]:
        fitted = cross_fit_numbers(
            problem, folds, groups, seed, crew, splits=splits, earlier=earlier, tested=tested, cluster=cluster
        )
        if problem.time is not None:
            fitted = with_recent(fitted)
        stacks = fit_number_stacks(fitted, problem.y[tested], weight[tested])
        some = np.arange(min(len(rows), IMPORTANCE_ROWS))
        # importances are of all rows and labels: features that hold labels would tell them here
        known, scaled, _, _ = rows_for(replace(problem, supervised=None), some, tested)
        importance = grow_ensemble(known._replace(check=crew.check), known.X[:1], seed, n_trees_for(known)).importance
        used = np.sort(np.argsort(-importance, kind="stable")[:MOST_SCALED])
        return fitted, stacks, scaled[:, used] * importance[used]

    fitted, stacks, points = supervise(learn, n_threads, progress)
    weight = weight[of_tested] / weight[of_tested].mean()
    clusters = None if together is None else in_order_of_appearance(together[of_tested])
    own_groups = None if problem.groups is None else clusters
    if problem.time is not None and clusters is None:
        place = np.argsort(np.argsort(problem.time[of_tested], kind="stable"), kind="stable")
        clusters = place * N_STRETCHES // len(of_tested)
    folds, points = folds[counted], points[counted]
    X = problem.X[of_tested]
    edges = [
        tree_edges(X, folds, weight, own_groups, n_jobs, seed),
        tree_edges(points, folds, weight, own_groups, n_jobs, seed, is_scaled=True),
        replicate_edges(known_of(problem, of_tested), folds, weight, own_groups),
    ]
    if copied and copies is None:  # what is left of copies are those that differ: they tell nothing of the noise
        edges[2] = edges[2].none()
    weights = stacks[0].weights.mean(axis=0)
    order = np.argsort(-weights, kind="stable")
    return Learned(
        rows=rows,
        tested=rows[of_tested],
        y=problem.y[of_tested],
        weight=weight,
        centre=centre,
        scale=scale,
        predicted=[stack.predicted[:, counted] for stack in stacks],
        sizes=fitted.sizes,
        weights={fitted.names[m]: float(weights[m]) for m in order if weights[m] > 0},
        points=points,
        edges=edges,
        clusters=clusters,
        groups=own_groups,
        findings=[*copied, *found],
    )


def weighted_median(values: Floats, weight: Floats) -> float:
    """Return a value that half of the weight is at most, and half at least."""
    order = np.argsort(values, kind="stable")
    return float(values[order[np.searchsorted(np.cumsum(weight[order]), 0.5 * weight.sum())]])


def _strata(y: Floats) -> Ints:
    """Return tenths of the rows by their target, so that folds have the same share of each."""
    ranks = np.argsort(np.argsort(y, kind="stable"), kind="stable")
    return ranks * min(10, max(len(y) // 10, 1)) // len(y)


def _scheme(
    problem: NumberProblem, together: Ints | None, strata: Ints, cv: Any, given: NumberProblem, rows: Ints
) -> tuple[Ints, list[Split] | None, tuple[Ints, ...] | None, NDArray[np.bool_] | None]:
    """Deal rows out to folds: by target, by groups, in time, or as a splitter says."""
    keys = np.arange(len(rows)).astype(np.uint64)
    if problem.time is not None:
        group_folds = None if together is None else grouped_folds(np.zeros_like(strata), together, cv, keys)
        return time_scheme(problem.time, cv, group_folds)
    if not is_int(cv):
        nothing = np.zeros(len(given.y), np.int64)
        folds = check_folds(cv, nothing[rows], keys, nothing, rows, given.groups)
        if folds.max() + 1 < MIN_FOLDS:
            raise ValueError(f"A learning curve needs at least {MIN_FOLDS} folds. Got {folds.max() + 1}.")
        return folds, None, None, None
    if together is None:
        return stratified_folds(strata, cv, keys), None, None, None
    return grouped_folds(np.zeros_like(strata), together, cv, keys), None, None, None
