"""The rows that figures of numbers are about: what the stack leaves of them, and which are neighbours."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bayesfloor.floor.learned.copies import known_of
from bayesfloor.floor.learned.learning import Learned
from bayesfloor.floor.learned.regression.residual_edges import Edges, replicate_edges, tree_edges
from bayesfloor.floor.learned.training_sets import training_set
from bayesfloor.learn.decision_trees import grow_ensemble
from bayesfloor.learn.local_families import MOST_SCALED, n_trees_for
from bayesfloor.runtime.arrays import Floats, Ints

#: Rows that the importances of features are taken from.
IMPORTANCE_ROWS = 10_000


class TestedRows(NamedTuple):
    """What the stack makes of the rows that are tested.

    Attributes
    ----------
    given : ndarray of shape (n,)
        Where they are among the rows given.
    y, weight : ndarray of shape (n,)
        Their targets, centred and scaled, and what each counts.
    centre, scale : float
        What y was centred and divided by.
    predicted : list of ndarray of shape (n_views, n)
        What the stack predicts at each training size, the largest first, centred and scaled alike.
    sizes : ndarray
        Rows trained on at each size.
    points : ndarray of shape (n, d)
        The rows, standardised and scaled by the importances of features.
    edges : list of Edges
        Edges of spanning trees of the features as they are, of scaled ones, and between equal rows.
    clusters : ndarray of shape (n,) or None
        Rows whose errors are alike.
    groups : ndarray of shape (n,) or None
        Groups that the caller has given.
    """

    given: Ints
    y: Floats
    weight: Floats
    centre: float
    scale: float
    predicted: list[Floats]
    sizes: Floats
    points: Floats
    edges: list[Edges]
    clusters: Ints | None
    groups: Ints | None


def tested_rows(learned: Learned, n_jobs: int | None, seed: int) -> TestedRows:
    """Gather what figures are made of."""
    plan, used = learned.plan, learned.used
    tested, folds = plan.tested, learned.folds
    weight = np.ones(len(tested)) if used.sample_weight is None else used.sample_weight[tested]
    weight = weight / weight.mean()
    groups = plan.groups if plan.has_own_groups else None
    points = _scaled_by_importance(learned, seed)
    edges = [
        tree_edges(used.X[tested], folds, weight, groups, n_jobs, seed),
        tree_edges(points, folds, weight, groups, n_jobs, seed, is_scaled=True),
        replicate_edges(known_of(used, tested), folds, weight, groups),
    ]
    if plan.copies_left_out:  # what is left of copies are those that differ: they tell nothing of the noise
        edges[2] = edges[2].none()
    return TestedRows(
        given=plan.given[tested],
        y=used.y[tested],
        weight=weight,
        centre=learned.centre,
        scale=learned.scale,
        predicted=[stack.predicted for stack in learned.stacks],
        sizes=learned.sizes,
        points=points,
        edges=edges,
        clusters=plan.clusters,
        groups=groups,
    )


def _scaled_by_importance(learned: Learned, seed: int) -> Floats:
    """Return the tested rows, standardised, with each feature scaled by its importance in trees."""
    some = np.arange(min(len(learned.used.X), IMPORTANCE_ROWS))
    # importances are of all rows and labels: features that hold labels would tell them here
    plain = replace(learned.used, supervised=None)
    known, points = training_set(plain, some, learned.plan.tested)
    importance = grow_ensemble(known, known.X[:1], seed, n_trees_for(known)).importance
    used = np.sort(np.argsort(-importance, kind="stable")[:MOST_SCALED])
    return points[:, used] * importance[used]
