"""Errors of the stack's probabilities: row by row, by class, and among neighbours.

- `middle_error`: between the error as labels show it and as the probabilities themselves expect it.
- `errors_by_class`, `errors_of_pairs`: one class against the rest, and which two are taken for each other.
- `residual_test`: spanning trees in the space of the features show whether neighbours err alike.
"""

import numpy as np

from bayesfloor.forest import spanning_forests
from bayesfloor.learn.training_rows import standardised
from bayesfloor.runtime.arrays import Floats, Ints

#: Spanning trees for the search for neighbours that err alike.
N_TREES = 3


def middle_error(hard: Floats, soft: Floats, n_rows: float | None = None) -> Floats:
    """Return the mean of both, closer to `hard` where probabilities are surely too timid.

    Parameters
    ----------
    hard, soft : ndarray of shape (n,)
        What each row loses with its label, whose mean is above the floor, and what its prediction expects to lose.
        Probabilities that vary by chance expect too little, so the mean of `soft` is below the floor by about as much.
    n_rows : float or None, default=None
        How many independent rows say as much as these, where some belong together; None for n.

    Returns
    -------
    ndarray of shape (n,)
    """
    difference = hard - soft
    mean, error = difference.mean(), difference.std() / np.sqrt(n_rows or len(difference))
    # Timid: more error is expected than there is, by more than two standard errors.
    share = max(0.0, 1.0 - (2.0 * error / mean) ** 2) if mean < 0 else 0.0
    return soft + difference * (0.5 + 0.5 * share)


def errors_by_class(q: Floats, codes: Ints, weights: Floats) -> Floats:
    """Return the errors of telling each class from the rest: means over the repeats, the first axis of `q`.

    Each is measured on rows that models had not seen, so none is below the floor of its problem, sampling apart.

    Parameters
    ----------
    q : ndarray of shape (n_repeats, n, n_classes)
        Probabilities.
    codes : ndarray of shape (n,)
        Classes of the rows.
    weights : ndarray of shape (n,)
        What each row counts, 1 on average.

    Returns
    -------
    ndarray of shape (n_classes,)
        Share of all rows that are taken for the class wrongly, or wrongly not.
    """
    n_classes = q.shape[-1]
    counts = np.bincount(codes, weights=weights, minlength=n_classes)
    of_repeats = []
    for named in q.argmax(axis=-1):
        is_right = named == codes
        right = np.bincount(codes[is_right], weights=weights[is_right], minlength=n_classes)
        of_named = np.bincount(named, weights=weights, minlength=n_classes)
        of_repeats.append((counts + of_named - 2 * right) / len(codes))
    against_rest: Floats = np.mean(of_repeats, axis=0)
    return against_rest


def confusion_matrix(named: Ints, codes: Ints, weights: Floats, n_classes: int) -> Floats:
    """Count rows by their class and by the class that was named for them, the mean over the repeats.

    Parameters
    ----------
    named : ndarray of shape (n_repeats, n)
        Classes that were named: the most probable ones.
    codes, weights
        As for `errors_by_class`.
    n_classes : int
        Number of classes.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
        A line for each class, a column for each that was named.
    """
    cells = codes * n_classes + named
    of_cells = np.broadcast_to(weights / len(cells), cells.shape)
    counts = np.bincount(cells.ravel(), weights=of_cells.ravel(), minlength=n_classes**2).astype(np.float64)
    return counts.reshape(n_classes, n_classes)


def errors_of_pairs(confusion: Floats) -> Floats:
    """Return the share of the rows of each two classes that were taken for the other one of them.

    Parameters
    ----------
    confusion : ndarray of shape (n_classes, n_classes)
        As from `confusion_matrix`.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
        0 on the diagonal.
    """
    of_class = confusion.sum(axis=1)
    wrong = confusion + confusion.T
    np.fill_diagonal(wrong, 0.0)
    both = of_class[:, np.newaxis] + of_class
    return np.asarray(wrong / np.where(both > 0, both, 1.0))


def residual_test(
    X: Floats,
    codes: Ints,
    q: Floats,
    folds: Ints,
    n_jobs: int | None,
    seed: int,
    groups: Ints | None = None,
    sample_weight: Floats | None = None,
) -> float:
    """Test whether neighbours err alike, which they do where a learned posterior has missed something local.

    Residuals are r = onehot(label) - q. Where q is the true posterior, those of different rows are independent with
    mean 0 and covariance diag(q) - qq', so products over the edges of a forest have mean 0, variance tr(S_i S_j), and
    are uncorrelated. The forests join rows of one fold, whose q comes from one model that has seen none of them.

    Rows of one group do err alike, so edges within a group are left out, and the products of edges that join the same
    two groups are correlated: the variance is then that of their sums, where this is larger.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    codes : ndarray of shape (n,)
        Classes of the rows.
    q : ndarray of shape (n_repeats, n, n_classes)
        Probabilities in each repeat.
    folds : ndarray of shape (n_repeats, n)
        The fold of each row in each repeat.
    n_jobs : int or None
        Threads.
    seed : int
        Breaks ties.
    groups : ndarray of shape (n,) or None, default=None
        The group of each row.
    sample_weight : ndarray of shape (n,) or None, default=None
        What each row counts: its residual has mean 0 when it is multiplied by that.

    Returns
    -------
    float
        Approximately standard normal if nothing was missed, of several repeats the mean, which varies less; large if
        something was.
    """
    points, _ = standardised(X, X[:0])
    weight = np.ones(len(points)) if sample_weight is None else sample_weight
    of_repeats = [
        _residual_z(points, codes, of_repeat, own, n_jobs, seed, groups, weight)
        for of_repeat, own in zip(q, folds, strict=True)
    ]
    return float(np.mean(of_repeats))


def _residual_z(
    points: Floats,
    codes: Ints,
    q: Floats,
    folds: Ints,
    n_jobs: int | None,
    seed: int,
    groups: Ints | None,
    weight: Floats,
) -> float:
    """Test one repeat; see `residual_test`."""
    residuals = (np.eye(q.shape[1])[codes] - q) * weight[:, np.newaxis]
    total = variance = of_groups = 0.0
    for fold in range(int(folds.max()) + 1):
        rows = np.flatnonzero(folds == fold)
        if len(rows) < 2:
            continue
        edges = spanning_forests(points[rows], n_trees=N_TREES, n_jobs=n_jobs, random_state=seed).edges
        i, j = rows[edges[:, 0]], rows[edges[:, 1]]
        if groups is not None:
            apart = groups[i] != groups[j]
            i, j = i[apart], j[apart]
            pairs = np.sort(np.column_stack([groups[i], groups[j]]), axis=1) @ [int(groups.max()) + 1, 1]
            _, pair = np.unique(pairs, return_inverse=True)
            of_groups += float((np.bincount(pair, (residuals[i] * residuals[j]).sum(axis=1)) ** 2).sum())
        total += float((residuals[i] * residuals[j]).sum())
        both = q[i] * q[j]
        of_edge = (both * (1.0 - q[i] - q[j])).sum(axis=1) + both.sum(axis=1) ** 2
        variance += float(((weight[i] * weight[j]) ** 2 * of_edge).sum())
    variance = max(variance, of_groups)
    return total / variance**0.5 if variance > 0 else 0.0
