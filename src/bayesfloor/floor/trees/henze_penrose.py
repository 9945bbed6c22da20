"""The equations: from a number of cross edges to the floor.

One function per equation of van den Burg and Hero, *Fast Meta-Learning for Adaptive Hierarchical
Classifier Design*, with its number; the whole-problem bounds are those of Sekeh, Oselio and Hero,
*Learning to bound the multi-class Bayes error* (2018). All functions are plain arithmetic and
broadcast over arrays.

Notation: two classes with n1 and n2 points, n = n1 + n2, priors p1 and p2, and R cross edges in a
spanning tree (the mean over the trees where there are several).

Every bound and estimate rises with R, so an interval for R becomes an interval for each of them by
putting its two ends through the same functions. Where the limit γ of equations (7) and (8) binds, both ends
would be one number: γ rests on the observed prior, and needs that prior's own interval.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesfloor.runtime.arrays import Floats

#: Maximum rounding error of 1 − 1. Values below are read as 0 before a root is taken, which would be off by 1e-7.
ROUNDING = 1e-14


def divergence(cross_edges: ArrayLike, n_first: ArrayLike, n_second: ArrayLike) -> Floats:
    """Henze-Penrose divergence from cross edges, equation (3).

    D_HP ≈ 1 − n R / (2 n1 n2): the tree of two equal densities has 2 n1 n2 / n cross edges on
    average, that of two disjoint ones next to none. Values below 0, which only noise produces, are
    read as 0.
    """
    first, second = np.asarray(n_first, np.float64), np.asarray(n_second, np.float64)
    share = (first + second) * np.asarray(cross_edges, np.float64) / (2.0 * first * second)
    return np.clip(1.0 - share, 0.0, 1.0)


def u_from_cross_edges(cross_edges: ArrayLike, n_points: ArrayLike) -> Floats:
    """The quantity u of the bounds, u_HP = 4 p1 p2 D_HP + (p1 − p2)²: equation (3) put into equation (5).

    u_HP ≈ 1 − 2R/n; the priors cancel. More than n/2 cross edges give 0, never a negative u.
    """
    u = 1.0 - 2.0 * np.asarray(cross_edges, np.float64) / np.asarray(n_points, np.float64)
    return np.where(u > ROUNDING, u, 0.0)


def lower_bound(u: ArrayLike) -> Floats:
    """Lower bound on the floor of two classes, left half of equation (4): ½ − ½√u ≤ P_e."""
    return 0.5 - 0.5 * np.sqrt(np.asarray(u, np.float64))


def upper_bound(u: ArrayLike) -> Floats:
    """Upper bound on the floor of two classes, right half of equation (4): P_e ≤ ½ − ½u."""
    return 0.5 - 0.5 * np.asarray(u, np.float64)


def estimate(u: ArrayLike) -> Floats:
    """The floor of two classes, equation (6): ½ − ¼√u − ¼u, the mean of the two bounds."""
    u = np.asarray(u, np.float64)
    return 0.5 - 0.25 * np.sqrt(u) - 0.25 * u


def gamma(n_points: ArrayLike, smaller_prior: ArrayLike) -> Floats:
    """The number of cross edges at which the estimate reaches the smaller prior, equation (8).

    γ = 2np − ¾n + ¼n√(9 − 16p), p the smaller prior. No classifier need err more often than one
    that always predicts the commoner class, so an estimate above p is known to be too high.
    """
    n, p = np.asarray(n_points, np.float64), np.asarray(smaller_prior, np.float64)
    return n * (2.0 * p - 0.75 + 0.25 * np.sqrt(9.0 - 16.0 * p))


def corrected_cross_edges(cross_edges: ArrayLike, limit: ArrayLike) -> Floats:
    """The bias correction, equation (7): R' = min(γ, R), with `limit` = γ."""
    return np.minimum(np.asarray(limit, np.float64), np.asarray(cross_edges, np.float64))


def normalized(estimate: ArrayLike, largest_floor: ArrayLike) -> Floats:
    """The floor as a share of the largest possible one, equation (9): P_e / min(p1, p2).

    Makes problems of unequal balance comparable; in [0, 1] when the correction is on. For more than
    two classes the largest possible floor is 1 − max p_k.
    """
    return np.asarray(estimate, np.float64) / np.asarray(largest_floor, np.float64)


def confusion_rate(y_true: ArrayLike, y_pred: ArrayLike, label: Any) -> float:
    """Share of rows wrongly put into one class or wrongly kept out of it, equation (10).

    C_k = (|{i: ŷ_i = k, y_i ≠ k}| + |{i: ŷ_i ≠ k, y_i = k}|) / n: what a classifier reached, to be
    read beside the one-vs-rest floor of class k, equation (11).
    """
    is_true, is_predicted = np.asarray(y_true) == label, np.asarray(y_pred) == label
    if is_true.shape != is_predicted.shape:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {[len(is_true), len(is_predicted)]}"
        )
    return float(np.mean(is_true != is_predicted))


def multiclass_upper_bound(cross_edges: ArrayLike, n_points: ArrayLike, n_classes: ArrayLike) -> Floats:
    """Upper bound on the floor of K classes: s = R/n (Sekeh, Oselio and Hero 2018).

    R/n tends to Σ_{k≠l} ∫ p_k p_l f_k f_l / Σ_m p_m f_m, the error of drawing labels from the
    posterior, and that is never below the floor. It is at most (K−1)/K, where s is held. With
    K = 2 it equals `upper_bound`.
    """
    K = np.asarray(n_classes, np.float64)
    s = np.asarray(cross_edges, np.float64) / np.asarray(n_points, np.float64)
    return np.minimum(s, (K - 1.0) / K)


def multiclass_lower_bound(cross_edges: ArrayLike, n_points: ArrayLike, n_classes: ArrayLike) -> Floats:
    """Lower bound on the floor of K classes (Sekeh, Oselio and Hero 2018).

    (K−1)/K · [1 − √max(0, 1 − K s / (K−1))] with s = R/n. With K = 2 it equals `lower_bound`.
    """
    K = np.asarray(n_classes, np.float64)
    largest = (K - 1.0) / K
    rest = 1.0 - multiclass_upper_bound(cross_edges, n_points, n_classes) / largest
    return largest * (1.0 - np.sqrt(np.where(rest > ROUNDING, rest, 0.0)))


def multiclass_estimate(cross_edges: ArrayLike, n_points: ArrayLike, n_classes: ArrayLike) -> Floats:
    """The floor of K classes: the mean of the two bounds, as equation (6) does for two."""
    upper = multiclass_upper_bound(cross_edges, n_points, n_classes)
    return 0.5 * (upper + multiclass_lower_bound(cross_edges, n_points, n_classes))


def multiclass_gamma(n_points: ArrayLike, n_classes: ArrayLike, largest_floor: ArrayLike) -> Floats:
    """Equation (8) for K classes: the R at which the estimate reaches 1 − max p_k.

    With c = (K−1)/K and w = √(1 − s/c) the estimate is c (2 − w − w²) / 2. Setting it to the
    largest possible floor P gives w = (√(9 − 8P/c) − 1) / 2 and γ = n c (1 − w²), which for K = 2
    is equation (8).
    """
    K = np.asarray(n_classes, np.float64)
    c = (K - 1.0) / K
    P = np.minimum(np.asarray(largest_floor, np.float64), c)
    w = 0.5 * (np.sqrt(9.0 - 8.0 * P / c) - 1.0)
    return np.asarray(n_points, np.float64) * c * (1.0 - w**2)


def sum_of_pairs_bounds(pair_lower: ArrayLike, pair_upper: ArrayLike, class_counts: ArrayLike) -> tuple[float, float]:
    """Bounds on the floor of K classes from the floors of all pairs (Wisler et al. 2016).

    2/K Σ_{k<l} (p_k + p_l) P_kl ≤ P_e ≤ Σ_{k<l} (p_k + p_l) P_kl, P_kl the floor of classes k and l
    alone. The upper half is appendix A of the paper for all classes at once; the lower one holds
    because in Σ_{k<l} min(a_k, a_l) the l-th largest a counts l − 1 times, K/2 times on average at
    most. The upper bound is held at 1 − max p_k.

    Parameters
    ----------
    pair_lower, pair_upper : array-like of shape (K, K)
        Bounds on the floor of every pair.
    class_counts : array-like of shape (K,)
        Rows per class.

    Returns
    -------
    lower, upper : float
    """
    priors = np.asarray(class_counts, np.float64) / np.sum(class_counts)
    share = np.triu(priors[:, None] + priors[None, :], 1)
    lower = 2.0 / len(priors) * float(np.sum(share * np.asarray(pair_lower, np.float64)))
    upper = float(np.sum(share * np.asarray(pair_upper, np.float64)))
    return lower, min(upper, 1.0 - float(priors.max()))
