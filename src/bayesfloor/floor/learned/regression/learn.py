"""Rows, folds and learners: from a checked problem to the residuals of the stack at three training sizes."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.folds import check_folds, grouped_folds, stratified_folds
from bayesfloor.data.row_groups import in_order_of_appearance
from bayesfloor.data.sampling import LEARNED_ROWS, affordable_rows, keys_of_values
from bayesfloor.floor.learned.caller_choices import MIN_FOLDS, Known, check_cv, check_learners
from bayesfloor.floor.learned.cluster_fits import cluster_of
from bayesfloor.floor.learned.copies import copies_of, groups_of_near_copies
from bayesfloor.floor.learned.cross_fitting import VIEWS, Split
from bayesfloor.floor.learned.many_rows import hold_out
from bayesfloor.floor.learned.regression.cross_fitting import (
    NumberFit,
    cross_fit_numbers,
    holdout_splits,
    rows_for,
    with_recent,
)
from bayesfloor.floor.learned.regression.residual_edges import Edges, replicate_edges, tree_edges
from bayesfloor.floor.learned.regression.stacking import NumberStack, fit_number_stacks
from bayesfloor.floor.learned.time_periods import time_scheme
from bayesfloor.floor.trees.noise_variance import are_copies
from bayesfloor.floor.trees.number_problem import NumberProblem
from bayesfloor.learn.decision_trees import grow_ensemble
from bayesfloor.learn.families import NUMBER_FAMILIES, NUMBER_LEARNERS, number_families_for
from bayesfloor.learn.local_families import MOST_SCALED, n_trees_for
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.checks import is_int
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.hashing import hash_rows
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
#: Share of copied rows whose copies may differ in their targets for one of each to stand for all.
FEW_MIXED = 0.05


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
    kept, copies, findings = _distinct(given, seed, may_group=is_int(cv))
    is_default = isinstance(learners, str) and learners == "default" and is_int(cv) and given.time is None
    most = affordable_rows(given.X.shape[1]) if is_default else LEARNED_ROWS
    rows = _in_random_order(given, kept, seed)[: most if max_rows is None else max_rows]
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
    findings += found
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
    tabular = None if problem.tabular is None else problem.tabular.take(tested)
    groups = check_learners(learners, _KNOWN, lambda: number_families_for(problem.X[tested], tabular))
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
        known, scaled, _, _ = rows_for(problem, some, tested)
        importance = grow_ensemble(known._replace(check=crew.check), known.X[:1], seed, n_trees_for(known)).importance
        used = np.sort(np.argsort(-importance, kind="stable")[:MOST_SCALED])
        return fitted, stacks, scaled[:, used] * importance[used]

    fitted, stacks, points = supervise(learn, n_threads, progress)
    counted = np.arange(len(tested)) if is_tested is None else np.flatnonzero(is_tested)
    of_tested = tested[counted]
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
        replicate_edges(_known_of(problem, of_tested), folds, weight, own_groups),
    ]
    if len(kept) < len(given.y):  # what is left of copies are those that differ: they tell nothing of the noise
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
        findings=findings,
    )


def _known_of(problem: NumberProblem, rows: Ints) -> Floats:
    """Return what tells rows apart: the codes of a table where it has them, as X may hold targets of other rows."""
    if problem.tabular is None:
        return problem.X[rows]
    values = problem.tabular.values[rows]
    return np.where(np.isnan(values), -1e300, values) + 0.0


def _in_random_order(problem: NumberProblem, rows: Ints, seed: int) -> Ints:
    """Put rows in an order that depends on their values and the seed alone; rows of weight 0 are left out."""
    known = [problem.X, problem.y[:, np.newaxis]]
    known += [each[:, np.newaxis] for each in (problem.time, problem.sample_weight) if each is not None]
    values = np.ascontiguousarray(np.column_stack(known))
    keys = keys_of_values(values, np.zeros(len(values), np.int64), seed, problem.groups)
    rows = rows if problem.sample_weight is None else rows[problem.sample_weight[rows] > 0]
    return rows[np.argsort(keys[rows], kind="stable")]


def _distinct(problem: NumberProblem, seed: int, *, may_group: bool) -> tuple[Ints, Ints | None, list[Finding]]:
    """Leave out copies of one observation, or have them held out together where their targets differ.

    Returns the rows that may be used, what holds rows together, and findings; see `bayesfloor.floor.learned.copies`.
    """
    everything = np.arange(len(problem.y))
    if problem.groups is not None:
        return everything, None, []
    places = copies_of(problem.without_target)
    if places is None:
        return _without_repeats(problem)
    order = np.lexsort((problem.y, places))
    is_first = np.append(True, np.diff(places[order]) > 0)
    is_new = np.append(True, (np.diff(places[order]) > 0) | (np.diff(problem.y[order]) != 0))
    sizes = np.bincount(places)
    n_copied = int(np.count_nonzero(sizes > 1))
    n_mixed = int(np.count_nonzero(np.bincount(places[order], is_new & ~is_first)))
    n, n_places = len(places), len(sizes)
    sentence = f"{n - n_places} of {n} rows equal others in all features, although some feature is nearly all distinct."
    if n_mixed > FEW_MIXED * n_copied:
        if not may_group or problem.time is not None:
            return everything, None, []
        sentence += (
            f" Targets differ among those of {n_mixed} of {n_copied} such places: they were taken as repeated "
            "measurements, and held out together."
        )
        hint = "Where they are copies and not measurements of their own, keep one of each."
        return everything, places, [Finding("BF037", sentence, hint)]
    kept = np.sort(order[is_first])
    sentence += f" One of each was used, {n_places} rows, so that none was predicted from its own copy."
    hint = "Find out where they come from. Where equal rows are different observations, add what tells them apart."
    return kept, None, [Finding("BF037", sentence, hint)]


def _without_repeats(problem: NumberProblem) -> tuple[Ints, None, list[Finding]]:
    """Leave out rows that repeat another one, y included, where that happens far more often than by chance."""
    known = np.ascontiguousarray(_known_of(problem, np.arange(len(problem.y))))
    hashes = np.empty(len(known), np.uint64)
    hash_rows(known.view(np.uint64), 0, len(known), hashes)
    order = np.lexsort((problem.y, hashes))
    is_same = np.append(False, np.diff(hashes[order].view(np.int64)) == 0)
    is_copy = is_same & np.append(False, np.diff(problem.y[order]) == 0)
    if not are_copies(is_same, is_copy, problem.y[order]):
        return np.arange(len(known)), None, []
    sentence = (
        f"{int(is_copy.sum())} of {len(known)} rows repeat another one, y included, far more often than measurements "
        "would. One of each was used, so that none was predicted from its own copy."
    )
    hint = "Find out where they come from. Where equal rows are different observations, add what tells them apart."
    return np.sort(order[~is_copy]), None, [Finding("BF037", sentence, hint)]


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
