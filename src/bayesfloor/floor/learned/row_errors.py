"""The error of a prediction as each row shows it, with and without its label."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def hard_and_soft(log_q: Floats, codes: Ints) -> tuple[Floats, Floats]:
    """Return two estimates of each row's error.

    Parameters
    ----------
    log_q : ndarray of shape (..., n, n_classes)
        Logarithms of probabilities.
    codes : ndarray of shape (n,)
        Classes of the rows.

    Returns
    -------
    hard : ndarray of shape (..., n)
        1 where the label is not the most probable class. Its mean is the error, above the floor.
    soft : ndarray of shape (..., n)
        What the prediction itself expects, 1 - max q. Probabilities that vary by chance have too large a maximum, so
        its mean is below the floor by about as much as that of `hard` is above.
    """
    hard = (log_q.argmax(axis=-1) != codes).astype(np.float64)
    return hard, 1.0 - np.exp(log_q.max(axis=-1))


def middle_error(hard: Floats, soft: Floats) -> Floats:
    """Return the mean of both, closer to `hard` where probabilities are surely too timid.

    Parameters
    ----------
    hard, soft : ndarray of shape (n,)
        As from `hard_and_soft`, or means of several of them.

    Returns
    -------
    ndarray of shape (n,)
    """
    difference = hard - soft
    mean, error = difference.mean(), difference.std() / np.sqrt(len(difference))
    # Timid: more error is expected than there is, by more than two standard errors.
    share = max(0.0, 1.0 - (2.0 * error / mean) ** 2) if mean < 0 else 0.0
    return soft + difference * (0.5 + 0.5 * share)


def errors_by_class(q: Floats, codes: Ints) -> tuple[Floats, Floats]:
    """Return the errors of telling each class from the rest, and each two classes apart, by the same probabilities.

    Each is the error of a classifier that exists, so, up to sampling, none is below the floor of its problem.

    Parameters
    ----------
    q : ndarray of shape (n, n_classes)
        Probabilities.
    codes : ndarray of shape (n,)
        Classes of the rows.

    Returns
    -------
    against_rest : ndarray of shape (n_classes,)
        Share of all rows that are taken for the class wrongly, or wrongly not.
    in_pairs : ndarray of shape (n_classes, n_classes)
        Share of the rows of two classes for which the other of them is more probable; ties count half.
    """
    n_classes = q.shape[1]
    counts = np.bincount(codes, minlength=n_classes)
    named = q.argmax(axis=1)
    right = np.bincount(codes[named == codes], minlength=n_classes)
    against_rest = (counts + np.bincount(named, minlength=n_classes) - 2 * right) / len(codes)
    wrong = np.zeros((n_classes, n_classes))
    for label in range(n_classes):
        of_label = q[codes == label]
        own = of_label[:, label, np.newaxis]
        wrong[label] = (of_label > own).sum(axis=0) + 0.5 * (of_label == own).sum(axis=0)
    np.fill_diagonal(wrong, 0.0)
    return against_rest, (wrong + wrong.T) / np.maximum(counts[:, np.newaxis] + counts, 1)
