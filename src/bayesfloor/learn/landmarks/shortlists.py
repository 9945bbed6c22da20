"""Many classes: a start in closed form, then steps over the few classes that a row may be taken for.

The gradient over all classes costs n·m·K for n rows, m features and K classes. Most of it is spent on classes that a
row is never taken for. So each block of rows has a shortlist: the classes of its rows, those that overlap with them
most, and a few drawn from the others, each of which stands for many (sampled softmax). Rows are sorted along the class
tree first, so that a block has few classes, all of them alike. Shortlists of about √K classes bring the cost of a step
down to n·m·√K. The coefficients are those of one model of all classes: predictions do not know of shortlists. Classes
are drawn anew every few steps, so that no draw is followed for long.

::

    class sums ─► ridge regression of indicators, times the best factor ─► overlaps of classes ─► class tree
               ─► rows along the tree ─► a shortlist for each block ─► steps ─► other classes drawn ─► steps ...

Two levels, groups of classes and classes within groups, cost as little and lost five points of accuracy: the scores of
a group are linear in the features, and those of several classes taken together are not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from bayesfloor.learn.landmarks.feature_kernels import to_probabilities, to_residuals
from bayesfloor.learn.landmarks.feature_map import F32
from bayesfloor.learn.landmarks.multinomial import Fit, Objective, Penalty, cholesky, descend, solve
from bayesfloor.learn.landmarks.row_sums import Judged, RowSums, Sums, over_blocks
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.tree import build_class_tree

#: Number of classes from which shortlists save time.
MANY_CLASSES = 150
#: Rows on which overlaps of classes are measured.
OVERLAP_ROWS = 10_000
#: Factors of the closed form to choose from: scores of ridge regression lie between 0 and 1, and those of a multinomial
#: model are the larger the more classes there are.
FACTORS = 2.0 ** np.arange(-1.0, 11.5, 0.5)
#: Length of a shortlist: this multiple of the root of the number of classes, and its minimum.
#: Half as many are drawn from the other classes. Doubling it gained less than the same time spent on steps.
NEAR_SHARE, FEWEST_NEAR = 2.0, 24
#: Steps until classes are drawn anew, steps for each penalty, and steps on all rows after the choice on held-out rows.
#: More of the last would overfit where the held-out loss had ended the steps.
STEPS_PER_DRAW, PATH_STEPS, STEPS_ON_ALL = 3, 3, 3
#: Penalties to try, from large to small; the first is also that of the start. The choice of ridge regression on a few
#: rows does not help here: they have one or two rows of each class.
PATH = (0.1, 0.03, 0.01, 0.01, 0.01)
#: Rows for each feature whose products precondition the steps.
PRODUCT_ROWS = 8


def closed_form_start(
    rows: RowSums,
    n_classes: int,
    products: Floats,
    penalty: Penalty,
    strength: float,
    judged: tuple[F32, Ints],
) -> F32:
    """Return coefficients to start from: ridge regression of the indicators of the classes, times a factor.

    They cost one pass over the rows, and are worth about ten steps from zero with 100 classes.

    Parameters
    ----------
    rows : RowSums
        The rows.
    n_classes : int
        How many classes there are.
    products : ndarray of shape (n_features, n_features)
        F'WF of the rows, the lower triangle; not weighted by curvature.
    penalty : Penalty
        The penalty.
    strength : float
        What multiplies it.
    judged : tuple of two ndarrays
        Features and classes of the rows on which the factor has the lowest logarithmic loss.

    Returns
    -------
    ndarray of shape (n_classes, n_features), float32
    """
    solved = solve(cholesky(products, penalty, strength), rows.class_sums(n_classes))
    features, codes = judged
    scores, weight = features @ solved.T, np.ones(len(codes), np.float32)
    best, lowest = np.float32(1.0), np.inf
    for factor in FACTORS.astype(np.float32):
        value = to_residuals(scores * factor, codes, weight)
        if not value < lowest:  # the loss is convex along the factor
            break
        best, lowest = factor, value
    return solved * best


def class_overlaps(rows: RowSums, coefficients: F32) -> Floats:
    """Return Σ_i p_ik p_il of every two classes k and l, over the root of the product of Σ_i p_ik and Σ_i p_il.

    Parameters
    ----------
    rows : RowSums
        The rows; some of them are looked at.
    coefficients : ndarray of shape (n_classes, n_features), float32
        Of the model whose probabilities p are taken.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
        With a zero diagonal.
    """
    numbers = rows.some_blocks(OVERLAP_ROWS)
    overlaps, totals = rows.add_up(partial(over_blocks, _overlaps_of_block), coefficients, numbers=numbers)
    root = np.sqrt(np.maximum(totals, np.finfo(np.float32).tiny, dtype=np.float64))
    scaled = overlaps / root / root[:, np.newaxis]
    np.fill_diagonal(scaled, 0.0)
    return np.asarray((scaled + scaled.T) / 2)


def _overlaps_of_block(rows: RowSums, block: slice, coefficients: F32) -> Sums:
    P = rows.features(block) @ coefficients.T
    to_probabilities(P)
    return [P.T @ P, P.sum(axis=0).astype(np.float64)]


@dataclass(frozen=True, eq=False)
class Shortlists:
    """A shortlist of classes for each block of rows.

    Attributes
    ----------
    rows : RowSums
        The rows.
    classes : list of ndarray
        The shortlist of each block, ascending.
    extra : list of ndarray
        What is added to the score of each class of a shortlist: the logarithm of how many classes it stands for.
    """

    rows: RowSums
    classes: list[Ints]
    extra: list[F32]

    def gradient(self, coefficients: F32) -> tuple[float, F32]:
        """Return the summed loss over shortlists and its gradient, (n_classes, n_features)."""
        loss, gradient = self.rows.add_up(_gradient_of_lane, coefficients, self.classes, self.extra)
        self.rows.pool.advance(1)
        return float(loss), gradient


def _gradient_of_lane(
    rows: RowSums, numbers: list[int], coefficients: F32, classes: list[Ints], extra: list[F32]
) -> Sums:
    loss, gradient = 0.0, np.zeros_like(coefficients)
    for number in numbers:
        rows.pool.check()
        block, some = rows.block(number), classes[number]
        F = rows.features(block)
        residuals = F @ coefficients[some].T
        residuals += extra[number]
        loss += to_residuals(residuals, np.searchsorted(some, rows.codes[block]), rows.weight[block])
        gradient[some] += residuals.T @ F
    return [np.array(loss), gradient]


def order_along_tree(codes: Ints, overlaps: Floats) -> Ints:
    """Return the order of rows by their classes in the class tree, in which classes that overlap are neighbours."""
    rank = np.empty(len(overlaps), np.int64)
    rank[build_class_tree(overlaps, cut="average-linkage").leaf_codes] = np.arange(len(overlaps))
    return np.argsort(rank[codes], kind="stable")


def draw_shortlists(rows: RowSums, overlaps: Floats, seed: tuple[int, ...]) -> Shortlists:
    """Draw up a shortlist for each block of rows.

    Parameters
    ----------
    rows : RowSums
        Rows in the order of `order_along_tree`.
    overlaps : ndarray of shape (n_classes, n_classes)
        See `class_overlaps`.
    seed : tuple of int
        Of the classes that are drawn from those that overlap least.

    Returns
    -------
    Shortlists
    """
    n_near = max(FEWEST_NEAR, round(NEAR_SHARE * np.sqrt(len(overlaps))))
    lists = [
        _shortlist(rows.codes[block], overlaps, n_near, np.random.default_rng((*seed, number)))
        for number, block in enumerate(rows.blocks)
    ]
    return Shortlists(rows, [classes for classes, _ in lists], [extra for _, extra in lists])


def _shortlist(codes: Ints, overlaps: Floats, n_near: int, rng: np.random.Generator) -> tuple[Ints, F32]:
    """Return the classes of some rows, those that overlap most with them, and some of the others."""
    n_classes, n_far = len(overlaps), n_near // 2
    own, counts = np.unique(codes, return_counts=True)
    if len(own) + n_near + n_far >= n_classes:
        return np.arange(n_classes), np.zeros(n_classes, np.float32)
    closeness = counts @ overlaps[own]
    closeness[own] = np.inf
    ranked = np.argsort(-closeness, kind="stable")
    others = ranked[len(own) + n_near :]
    far = rng.choice(others, n_far, replace=False)
    stands_for = np.ones(n_classes)
    stands_for[far] = len(others) / n_far
    classes = np.sort(np.concatenate([ranked[: len(own) + n_near], far]))
    return classes, np.log(stands_for[classes]).astype(np.float32)


def descend_by_shortlists(
    rows: RowSums,
    overlaps: Floats,
    products: Floats,
    penalty: Penalty,
    strength: float,
    start: F32,
    n_steps: int,
    seed: tuple[int, ...],
) -> F32:
    """Take steps down from some coefficients, over shortlists of classes.

    Parameters
    ----------
    rows : RowSums
        Rows in the order of `order_along_tree`.
    overlaps : ndarray of shape (n_classes, n_classes)
        See `class_overlaps`.
    products : ndarray of shape (n_features, n_features)
        F'WF, the lower triangle.
    penalty : Penalty
        The penalty.
    strength : float
        What multiplies it.
    start : ndarray of shape (n_classes, n_features), float32
        Where to start.
    n_steps : int
        Maximum number of steps.
    seed : tuple of int
        Of the classes that are drawn.

    Returns
    -------
    ndarray of shape (n_classes, n_features), float32
    """
    total_weight = float(rows.weight.sum())
    for first in range(0, n_steps, STEPS_PER_DRAW):
        drawn = draw_shortlists(rows, overlaps, (*seed, first))
        objective = Objective(drawn.gradient, products, penalty, strength)
        n_now = min(STEPS_PER_DRAW, n_steps - first)
        start = descend(objective, objective.at(start), n_now, total_weight).coefficients
    return start


def known_rows(held: slice, codes: Ints, seen: Floats | Ints) -> Ints:
    """Return held-out rows of classes that a fit has seen, given its rows of each class; all of them if none are.

    A class that the fit has not seen tells nothing about the penalty, and its loss would outweigh all others.
    """
    is_known = seen[codes[held]] > 0
    return np.arange(held.start, held.stop)[is_known if is_known.any() else slice(None)]


def fit_many_classes(
    kept: RowSums,
    judged: Judged,
    n_classes: int,
    penalty: Penalty,
    seed: int,
) -> tuple[Fit, Callable[[RowSums], Fit]]:
    """Choose the strength of the penalty on held-out rows, along a path that is the fit itself.

    Parameters
    ----------
    kept : RowSums
        All rows, in a random order; those that are held out have weight 0.
    judged : Judged
        Held-out rows.
    n_classes : int
        How many classes there are.
    penalty : Penalty
        The penalty.
    seed : int
        Of the classes that are drawn.

    Returns
    -------
    fit : Fit
        Without the held-out rows.
    go_on : callable
        Returns the fit to the same rows with their weights, of which none is 0.
    """
    features, _, codes, weight = judged
    coefficients = closed_form_start(kept, n_classes, kept.products(), penalty, PATH[0], (features, codes))
    overlaps = class_overlaps(kept, coefficients)
    most_rows = PRODUCT_ROWS * kept.feature_map.n_features
    curvature = kept.products(coefficients, most_rows)
    order = order_along_tree(kept.codes, overlaps)
    sorted_rows = kept.reordered(order)
    best = Fit(coefficients, PATH[0], 1.0, np.inf)
    for number, strength in enumerate(PATH):
        coefficients = descend_by_shortlists(
            sorted_rows, overlaps, curvature, penalty, strength, coefficients, PATH_STEPS, (seed, number)
        )
        scores: F32 = features @ coefficients.T
        error = float(np.average(scores.argmax(axis=1) != codes, weights=weight))
        loss = to_residuals(scores, codes, weight) / float(weight.sum())
        if not loss < best.log_loss:
            break
        best = Fit(coefficients, strength, error, loss)

    def go_on(whole: RowSums) -> Fit:
        curvature = whole.products(best.coefficients, most_rows)
        coefficients = descend_by_shortlists(
            whole.reordered(order), overlaps, curvature, penalty, best.penalty, best.coefficients, STEPS_ON_ALL,
            (seed, len(PATH)),
        )  # fmt: skip
        return best._replace(coefficients=coefficients)

    return best, go_on
