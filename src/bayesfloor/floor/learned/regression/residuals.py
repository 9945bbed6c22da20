"""What residuals of neighbours have in common: the error that more rows could still remove.

With f̂ the prediction of a model that has seen neither of two rows, and b = f - f̂ what it misses, the product of their
residuals has the expectation b(x_i) b(x_j): noise is independent from row to row. Over short edges that is b², so

    σ² ≈ mean of r_i² - mean of r_i r_j,

whatever the model. Longer edges see a part of b² only. How large a part shows at the smaller training sizes, where the
squared error is known to be larger by some amount, and the products grow by a part of that.

Rows with equal features are edges of length 0, where the products see all of b². They make this the variance within
replicated rows, the pure error of analysis of variance.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bayesfloor.floor.learned.copies import known_of
from bayesfloor.floor.learned.learning import Learned
from bayesfloor.floor.learned.training_sets import training_set
from bayesfloor.forest import spanning_forests
from bayesfloor.learn.decision_trees import grow_ensemble
from bayesfloor.learn.local_families import MOST_SCALED, n_trees_for
from bayesfloor.learn.training_rows import standardised
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.hash_kernels import hash_rows

#: Spanning trees in each space.
N_TREES = 3
#: Draws of the weights of rows that tell how surely means are known.
N_DRAWS = 200
#: Power of exponential weights whose product over two rows varies as much as one of them: products of residuals are
#: uncorrelated, even where edges share a row, so that edges vary as if each were drawn.
HALF = 0.63
#: Edges times draws that are computed at once.
_AT_ONCE = 4_000_000


class Edges(NamedTuple):
    """Pairs of rows that were predicted by the same models, none of which has seen either.

    Attributes
    ----------
    i, j : ndarray of shape (n_edges,)
        The rows.
    share : ndarray of shape (n_edges,)
        What each edge counts, so that every row counts the same.
    """

    i: Ints
    j: Ints
    share: Floats

    @classmethod
    def of(cls, i: Ints, j: Ints, weight: Floats) -> "Edges":
        """Give each row the same share of the edges that it has, times its weight."""
        degree = np.bincount(i, minlength=len(weight)) + np.bincount(j, minlength=len(weight))
        of_row = weight / np.maximum(degree, 1)
        return cls(i, j, of_row[i] + of_row[j])

    def none(self) -> "Edges":
        """Return no edges."""
        return Edges(self.i[:0], self.j[:0], self.share[:0])


def tree_edges(
    X: Floats,
    folds: Ints,
    weight: Floats,
    groups: Ints | None,
    n_jobs: int | None,
    seed: int,
    *,
    is_scaled: bool = False,
) -> Edges:
    """Return the edges of spanning trees among the rows of each fold.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    folds : ndarray of shape (n,)
        The fold of each row.
    weight : ndarray of shape (n,)
        What each row counts.
    groups : ndarray of shape (n,) or None
        Rows that belong together, which may have in common what no feature tells: edges within a group are left out.
    n_jobs, seed
        As for `spanning_forests`.
    is_scaled : bool, default=False
        Whether distances are meant as they are; columns are standardised otherwise.

    Returns
    -------
    Edges
    """
    points = X if is_scaled else standardised(X, X[:0])[0]
    pairs = []
    for fold in np.unique(folds[folds >= 0]):
        rows = np.flatnonzero(folds == fold)
        if len(rows) > 1:
            forest = spanning_forests(points[rows], n_trees=N_TREES, n_jobs=n_jobs, random_state=seed)
            pairs.append(rows[forest.edges])
    i, j = np.concatenate(pairs).T if pairs else np.empty((2, 0), np.int64)
    if groups is not None:
        apart = groups[i] != groups[j]
        i, j = i[apart], j[apart]
    return Edges.of(i, j, weight)


def replicate_edges(X: Floats, folds: Ints, weight: Floats, groups: Ints | None) -> Edges:
    """Return pairs of rows of a fold that are equal in all features, each row with the next of its place.

    Parameters
    ----------
    X, folds, weight, groups
        As for `tree_edges`.

    Returns
    -------
    Edges
    """
    hashes = np.empty(len(X), np.uint64)
    hash_rows(np.ascontiguousarray(X).view(np.uint64), 0, len(X), hashes)
    _, place = np.unique(hashes, return_inverse=True)
    key = place * (int(folds.max()) + 2) + folds + 1
    order = np.argsort(key, kind="stable")
    i, j = order[:-1], order[1:]
    kept: Bools = (key[i] == key[j]) & (folds[i] >= 0)
    if groups is not None:
        kept &= groups[i] != groups[j]
    return Edges.of(i[kept], j[kept], weight)


class Draws(NamedTuple):
    """Means under random weights of the rows, the first line with the weights as they are.

    Attributes
    ----------
    errors : ndarray of shape (1 + n_draws, n_sizes)
        Squared error, as a share of the variance.
    products : list of ndarray of shape (1 + n_draws, n_sizes)
        Products of residuals over the edges of each kind, likewise.
    """

    errors: Floats
    products: list[Floats]


def draw_means(
    residuals: list[Floats], y: Floats, weight: Floats, edges: list[list[Edges]], clusters: Ints | None, seed: int
) -> Draws:
    """Compute squared errors and products of neighbours, and how both vary together.

    Parameters
    ----------
    residuals : list of ndarray of shape (n_repeats, n_views, n)
        At each training size.
    y, weight : ndarray of shape (n,)
        Targets, and what each row counts.
    edges : list of list of Edges
        Kinds of edges, for each repeat.
    clusters : ndarray of shape (n,) or None
        Rows that vary together; they are drawn together.
    seed : int
        Seeds the draws.

    Returns
    -------
    Draws
    """
    n = len(y)
    rng = np.random.default_rng(seed)
    if clusters is None:
        drawn = rng.standard_exponential((N_DRAWS, n))
    else:
        drawn = rng.standard_exponential((N_DRAWS, int(clusters.max()) + 1))[:, clusters]
    drawn = np.vstack([np.ones(n), drawn])
    halves = drawn**HALF
    mass = drawn * weight
    total = mass.sum(axis=1)
    mean = mass @ y / total
    variance = mass @ y**2 / total - mean**2
    errors = np.column_stack([mass @ (r**2).mean(axis=(0, 1)) for r in residuals]) / (total * variance)[:, np.newaxis]
    products = []
    for kind in edges:
        sums, shares = np.zeros((len(drawn), len(residuals))), np.zeros(len(drawn))
        for repeat, of_repeat in enumerate(kind):
            both = np.column_stack(
                [(r[repeat][:, of_repeat.i] * r[repeat][:, of_repeat.j]).mean(axis=0) for r in residuals]
            )
            step = max(_AT_ONCE // len(drawn), 1)
            for first in range(0, len(of_repeat.i), step):
                some = slice(first, first + step)
                i, j = of_repeat.i[some], of_repeat.j[some]
                of_edges = halves[:, i] * halves[:, j]
                if clusters is not None:
                    within = np.flatnonzero(clusters[i] == clusters[j])
                    of_edges[:, within] = drawn[:, i[within]]  # an edge within a cluster is drawn with it, once
                of_edges *= of_repeat.share[some]
                sums += of_edges @ both[some]
                shares += of_edges.sum(axis=1)
        products.append(sums / (np.maximum(shares, 1e-300) * variance)[:, np.newaxis])
    return Draws(errors, products)


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
    predicted : list of ndarray of shape (n_repeats, n_views, n)
        What the stack predicts at each training size, the largest first, centred and scaled alike.
    sizes : ndarray
        Rows trained on at each size.
    points : ndarray of shape (n, d)
        The rows, standardised and scaled by the importances of features.
    edges : list of list of Edges
        Edges of spanning trees of the features as they are, of scaled ones, and between equal rows, for each repeat.
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
    edges: list[list[Edges]]
    clusters: Ints | None
    groups: Ints | None


def tested_rows(learned: Learned, n_jobs: int | None, seed: int) -> TestedRows:
    """Gather what figures are made of."""
    plan, used = learned.plan, learned.used
    tested = plan.tested
    weight = np.ones(len(tested)) if used.sample_weight is None else used.sample_weight[tested]
    weight = weight / weight.mean()
    groups = plan.groups if plan.has_own_groups else None
    points = _scaled_by_importance(learned, seed)
    known = known_of(used.take(tested))
    edges: list[list[Edges]] = [[], [], []]
    for folds in learned.folds:
        edges[0].append(tree_edges(used.X[tested], folds, weight, groups, n_jobs, seed))
        edges[1].append(tree_edges(points, folds, weight, groups, n_jobs, seed, is_scaled=True))
        equal = replicate_edges(known, folds, weight, groups)
        # what is left of copies are those that differ: they tell nothing of the noise
        edges[2].append(equal.none() if plan.copies_left_out else equal)
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
    known, rows = training_set(plain, some, learned.plan.tested)
    importance = grow_ensemble(known, known.X[:0], seed, n_trees_for(known)).importance
    used = np.sort(np.argsort(-importance, kind="stable")[:MOST_SCALED])
    return rows.X[:, used] * importance[used]
