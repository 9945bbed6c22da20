"""From the scores at the nodes of a class tree to a class for each row.

Each node gives a score; rows with a score above 0 go to its right side. The scores are read in three ways:

- `route_hard` follows each row down to one class, as in the paper;
- `leaf_margins` gives every class the worst score on the way to it, largest for the class that `route_hard` reaches;
- `leaf_probabilities` multiplies the nodes' probabilities along the way to each class; `log_scores` makes a decision
  function of them.

`fit_platt` turns scores into probabilities. Each row is computed on its own, so that its result does not depend on what
else is in the batch. Children come after their parents in a tree's list of nodes, so one pass does without recursion.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from bayesfloor.classify.decode_kernels import follow
from bayesfloor.tree import ClassTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: The smallest number above 0: the margin of a row that lies exactly on a node's boundary.
_LEAST = np.nextafter(0.0, 1.0)

_MAX_STEPS = 100
_HALVINGS = 50


def route_hard(scores: ArrayLike, tree: ClassTree) -> Ints:
    """Follow each row from the root to a class.

    Parameters
    ----------
    scores : array-like of shape (n_rows, n_nodes)
        Above 0 goes right. Only the scores on a row's own way are read.
    tree : ClassTree
        The tree.

    Returns
    -------
    ndarray of shape (n_rows,), int64
        Codes of the classes.
    """
    return follow(np.asarray(scores, np.float64), tree.children)


def leaf_margins(scores: ArrayLike, tree: ClassTree) -> Floats:
    """Return the smallest of the signed scores on the way to each class.

    The class that `route_hard` reaches has a margin above 0, and all others have none. A score of exactly 0 goes left
    with the smallest margin there is.

    Parameters
    ----------
    scores : array-like of shape (n_rows, n_nodes)
        Above 0 goes right.
    tree : ClassTree
        The tree.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
    """
    scores = np.asarray(scores, np.float64)
    goes_right = scores > 0
    left = np.where(goes_right, -scores, np.maximum(-scores, _LEAST))
    return _down_the_tree(left, np.where(goes_right, scores, -left), tree, np.inf, np.minimum)


def leaf_probabilities(right: ArrayLike, tree: ClassTree) -> Floats:
    """Multiply the probabilities along the way to each class.

    Parameters
    ----------
    right : array-like of shape (n_rows, n_nodes)
        The probability of each node's right side.
    tree : ClassTree
        The tree.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Rows sum to 1.
    """
    right = np.asarray(right, np.float64)
    return _down_the_tree(1.0 - right, right, tree, 1.0, np.multiply)


def _down_the_tree(left: Floats, right: Floats, tree: ClassTree, at_root: float, join: np.ufunc) -> Floats:
    """Join the values of the sides that lead to each class."""
    leaves = np.empty((len(left), tree.n_classes))
    waiting = {0: np.full(len(left), at_root)}
    for node, children in enumerate(tree.children.tolist()):
        here = waiting.pop(node)
        for child, side in zip(children, (left, right), strict=True):
            value = join(here, side[:, node])
            if child < 0:
                leaves[:, ~child] = value
            else:
                waiting[child] = value
    return leaves


def log_scores(probability: Floats) -> Floats:
    """Return the logarithms of probabilities, as a decision function.

    The largest score of a row is that of its largest probability, even where two logarithms round to the same number.
    No score is infinite.

    Parameters
    ----------
    probability : ndarray of shape (n_rows, n_classes)
        As from `leaf_probabilities`.

    Returns
    -------
    ndarray of shape (n_rows, n_classes), or (n_rows,) for two classes
        For two classes, the log-odds of the second.
    """
    limits = np.finfo(np.float64)
    if probability.shape[1] == 2:
        return logit(np.clip(probability[:, 1], limits.tiny, 1.0 - limits.epsneg))
    scores = np.log(np.maximum(probability, limits.tiny))
    rows, best = np.arange(len(scores)), probability.argmax(axis=1)
    scores[rows, best] = np.nextafter(scores.max(axis=1), np.inf)
    return scores


def fit_platt(scores: ArrayLike, right: ArrayLike, sample_weight: ArrayLike | None = None) -> tuple[float, float]:
    """Fit Platt's sigmoid, P(right) = 1 / (1 + exp(a s + b)).

    The targets are not 0 and 1 but 1 / (n0 + 2) and (n1 + 1) / (n1 + 2), with n0 and n1 the rows (or their weight) on
    the two sides (Platt 2000, section 2.2). That keeps a and b finite where the scores separate the sides.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        Best from folds that a row was not part of.
    right : array-like of shape (n_rows,)
        Whether the row belongs to the right side.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weights, none of them negative.

    Returns
    -------
    a, b : float
        a is never above 0: a larger score never speaks for the left side. Where the rows say it does, which happens by
        chance among very few, a is 0 and the probability is the same for all scores.

    Examples
    --------
    >>> from bayesfloor.classify.routing import fit_platt, platt_probability
    >>> a, b = fit_platt([-2.0, -1.0, 1.0, 2.0], [False, False, True, True])
    >>> platt_probability([-1.5, 0.0, 1.5], a, b).round(2).tolist()
    [0.27, 0.5, 0.73]
    """
    scores, is_right = np.asarray(scores, np.float64), np.asarray(right, np.bool_)
    weight = np.ones(len(scores)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    n_right, n_left = float(weight[is_right].sum()), float(weight[~is_right].sum())
    target = np.where(is_right, (n_right + 1.0) / (n_right + 2.0), 1.0 / (n_left + 2.0))
    weight = weight / weight.sum()
    mean_target = float(weight @ target)

    # In units in which scores have mean 0 and variance 1, one step from the flat sigmoid is nearly there.
    largest = float(np.abs(scores).max())
    unit = scores / largest if largest > 0 else scores
    centre = float(weight @ unit)
    spread = float(np.sqrt(weight @ (unit - centre) ** 2))
    flat = 0.0, -float(logit(mean_target))
    if spread < 1e-14:  # all scores are the same
        return flat
    slope, offset = _fit_sigmoid((unit - centre) / spread, target, weight, float(logit(mean_target)))
    if slope <= 0.0:
        return flat
    return -slope / spread / largest, slope * centre / spread - offset


def _fit_sigmoid(z: Floats, target: Floats, weight: Floats, offset: float) -> tuple[float, float]:
    """Minimise the weighted mean of log(1 + exp(m)) - target m, m = slope z + offset, by Newton's steps."""

    def loss(slope: float, offset: float) -> float:
        margin = slope * z + offset
        return float(weight @ (np.logaddexp(0.0, margin) - target * margin))

    slope, value = 0.0, loss(0.0, offset)
    for _ in range(_MAX_STEPS):
        p = expit(slope * z + offset)
        residual, curvature = weight * (p - target), weight * p * (1.0 - p)
        g_slope, g_offset = float(residual @ z), float(residual.sum())
        if max(abs(g_slope), abs(g_offset)) < 1e-13:
            break
        h_ss, h_so, h_oo = float(curvature @ z**2), float(curvature @ z), float(curvature.sum())
        determinant = h_ss * h_oo - h_so**2
        if determinant <= 0.0:  # the curvature has vanished below what float64 resolves
            break
        step_slope = (h_oo * g_slope - h_so * g_offset) / determinant
        step_offset = (h_ss * g_offset - h_so * g_slope) / determinant
        descent = g_slope * step_slope + g_offset * step_offset
        for halving in range(_HALVINGS):
            share = 0.5**halving
            candidate = slope - share * step_slope, offset - share * step_offset
            new_value = loss(*candidate)
            if new_value <= value - 1e-4 * share * descent + 1e-15 * abs(value):  # the last is rounding
                break
        else:
            break
        (slope, offset), value = candidate, new_value
    return slope, offset


def platt_probability(scores: ArrayLike, a: ArrayLike, b: ArrayLike) -> Floats:
    """Return 1 / (1 + exp(a s + b)), the probability of the right side at each score."""
    with np.errstate(over="ignore"):  # far off, the probability is 0 or 1
        return np.asarray(expit(-(np.asarray(a) * np.asarray(scores, np.float64) + np.asarray(b))))


def routes_softly(sigmoids: str) -> Callable[[Any], bool]:
    """Return the check for ``available_if`` of methods that need soft routing.

    Parameters
    ----------
    sigmoids : str
        The fitted attribute with the nodes' sigmoids, None after a fit with hard routing.

    Returns
    -------
    callable
        Raises AttributeError where the classifier was fitted, or is to be fitted, with hard routing.
    """

    def check(classifier: Any) -> bool:
        fitted = hasattr(classifier, sigmoids)
        if getattr(classifier, sigmoids) is None if fitted else classifier.routing != "soft":
            name = type(classifier).__name__
            raise AttributeError(f"predict_proba of {name} is available when fitted with routing='soft'")
        return True

    return check
