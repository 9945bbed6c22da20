"""The floor from rows of label probabilities, calibrated where there are labels too.

BF046   the probabilities are clearly not those of the labels
"""

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from bayesfloor.data.folds import stratified_folds
from bayesfloor.data.labels import as_array, check_labels
from bayesfloor.data.sampling import keys_of_values
from bayesfloor.floor.learned.certainty import proportion_interval
from bayesfloor.floor.votes.result import SoftLabelFloor
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.checks import check_confidence, check_random_state_seed
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.frames import as_narwhals, check_same_index, like_input
from bayesfloor.runtime.text import listed, percent, shown
from bayesfloor.tables.frames import is_eager_frame

#: Maximum distance of the sum of a row from 1: probabilities of a few classes are often written with three digits.
_ROUNDING = 0.02
#: Number of folds of the calibration; each is calibrated by the others.
_FOLDS = 5
#: Minimum number of labelled rows for a calibration.
_MIN_LABELLED = 50
#: Level of the test of calibration.
_LEVEL = 0.01
#: Minimum change of the floor by calibration that is reported.
_CLEAR_SHIFT = 0.005


@like_input
def soft_label_floor(
    P: Any,
    y: Any = None,
    *,
    classes: Any = None,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> SoftLabelFloor:
    """Estimate the lowest error of any classifier from the probabilities of the labels at each row.

    The floor is the mean of 1 - max p over rows. It is as right as the probabilities are: with labels, they are
    calibrated first, and the result says how far off they were. The floor is then the mean of two errors of the
    calibrated probabilities: the one that they expect, and that of naming the most probable class.

    Parameters
    ----------
    P : array-like or data frame of shape (n_samples, n_classes)
        Probabilities of the labels at each row; each row sums to 1. For counts of votes there is `vote_floor`.
    y : array-like of shape (n_samples,), default=None
        A label for each row, drawn independently of how P came about, such as those of another annotator. P is then
        calibrated: for each class an isotonic regression, fitted on four fifths of the rows and used on the others,
        and rows made to sum to 1 again. Fewer than 50 rows are too few for that.
    classes : array-like of shape (n_classes,), default=None
        The labels that the columns stand for; None for the names of a data frame's columns, the sorted labels of y, or
        0, 1 and so on.
    confidence : float, default=0.95
        Level of the intervals.
    random_state : int, None or random generator, default=0
        Seeds the folds.

    Returns
    -------
    SoftLabelFloor

    See Also
    --------
    vote_floor : The floor from the votes of several annotators.

    Examples
    --------
    >>> from bayesfloor import soft_label_floor
    >>> floor = soft_label_floor([[0.9, 0.1], [0.2, 0.8], [1.0, 0.0], [0.3, 0.7]])
    >>> round(floor.estimate, 3)
    0.15
    """
    started = perf_counter()
    confidence = check_confidence(confidence)
    seed = check_random_state_seed(random_state)
    check_same_index({"P": P, "y": y})
    probabilities = _check_probabilities(P)
    n_rows, n_classes = probabilities.shape
    labels, codes = _check_classes(P, y, classes, n_rows, n_classes)
    errors = 1.0 - probabilities.max(axis=1)
    uncalibrated, agreement = float(np.sort(errors).mean()), float(np.sort((probabilities**2).sum(axis=1)).mean())
    reached = reached_interval = gap = z = None
    findings: list[Finding] = []
    estimate, half = uncalibrated, _half_width(errors, confidence)
    if codes is not None:
        n_wrong = int(np.count_nonzero(probabilities.argmax(axis=1) != codes))
        reached, reached_interval = n_wrong / n_rows, proportion_interval(n_wrong, n_rows, confidence)
        z = _spiegelhalter(probabilities, codes)
    if codes is not None and z is not None and n_rows >= _MIN_LABELLED:
        calibrated = _calibrated(probabilities, codes, seed)
        gap = float(np.sort(np.abs(calibrated - probabilities).sum(axis=1)).mean() / 2.0)
        # Noise of a calibration makes its largest probability too large and its choice worse: the error that it
        # expects is too low, the error on rows that it did not see too high.
        expected, is_wrong = 1.0 - calibrated.max(axis=1), calibrated.argmax(axis=1) != codes
        estimate = float(np.sort(expected).mean() + is_wrong.mean()) / 2.0
        half = max(_half_width(expected, confidence), _half_width(is_wrong, confidence))
        findings = _miscalibrated(z, gap, uncalibrated, estimate)
    interval = max(estimate - half, 0.0), min(estimate + half, 1.0 - 1.0 / n_classes)
    return SoftLabelFloor(
        estimate=estimate,
        interval=(min(interval[0], estimate), max(interval[1], estimate)),
        uncalibrated=uncalibrated,
        agreement=agreement,
        reached=reached,
        reached_interval=reached_interval,
        calibration_gap=gap,
        calibration_z=z,
        n_samples=n_rows,
        n_rows=n_rows,
        classes=labels,
        confidence=confidence,
        findings=tuple(findings),
        seconds=perf_counter() - started,
    )


def _check_probabilities(P: Any) -> Floats:
    if is_eager_frame(P):
        P = as_narwhals(P).to_numpy()
    array = np.asarray(P)
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"P should hold numbers: {error}") from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"P should hold numbers, got an array of type {array.dtype}")
    if array.ndim != 2 or array.shape[0] < 2 or array.shape[1] < 2:
        raise ValueError(f"P should have a line for each row and a column for each class, got the shape {array.shape}")
    array = array.astype(np.float64)
    total = array.sum(axis=1)
    for is_bad, what in (
        (~np.isfinite(array).all(axis=1), "NaN or infinite values"),
        ((array < 0).any(axis=1), "values below zero"),
        (~(np.abs(total - 1.0) <= _ROUNDING), "a sum other than 1; for counts of votes there is vote_floor"),
    ):
        if is_bad.any():
            raise ValueError(
                f"{np.count_nonzero(is_bad)} rows of P are no probabilities, the first is row {int(is_bad.argmax())}: "
                f"{what}"
            )
    return np.asarray(array / total[:, None])


def _check_classes(P: Any, y: Any, classes: Any, n_rows: int, n_classes: int) -> tuple[NDArray[Any], Ints | None]:
    """Return the labels of the columns and, with y, the column of each row's label."""
    found, codes = (None, None) if y is None else check_labels(y, n_rows, min_classes=1)
    if classes is not None:
        labels = as_array(classes)
    elif is_eager_frame(P):
        labels = np.array([str(name) for name in P.columns])
    elif found is not None and len(found) == n_classes:
        labels = found
    else:
        labels = np.arange(n_classes)
    if labels.shape != (n_classes,) or len(set(labels.tolist())) != n_classes:
        raise ValueError(f"classes should name each of the {n_classes} columns of P once")
    if found is None or codes is None:
        return labels, None
    place = {label: column for column, label in enumerate(labels.tolist())}
    unknown = [label for label in found.tolist() if label not in place]
    if unknown:
        raise ValueError(f"y holds {listed([shown(label) for label in unknown])}, for which P has no column")
    return labels, np.array([place[label] for label in found.tolist()], dtype=np.int64)[codes]


def _half_width(values: Any, confidence: float) -> float:
    n = len(values)
    return float(
        stdtrit(n - 1, 0.5 + confidence / 2) * np.sort(np.asarray(values, np.float64)).std(ddof=1) / np.sqrt(n)
    )


def _spiegelhalter(p: Floats, codes: Ints) -> float:
    """Return Spiegelhalter's statistic for several classes: the Brier score beside its mean if p were right.

    The Brier score Σ_k (o_k - p_k)² is Σ p² + 1 - 2 p_y, linear in the label, with mean and variance known given p.
    Where p is right the statistic is standard normal.
    """
    named = p[np.arange(len(p)), codes]
    expected = (p**2).sum(axis=1)
    variance = (p**3).sum(axis=1) - expected**2
    total = float(np.sort(variance).sum())
    if total < 1e-12:
        return 0.0 if np.allclose(named, expected) else float(np.inf)
    return float(np.sort(expected - named).sum() / np.sqrt(total))


def _calibrated(p: Floats, codes: Ints, seed: int) -> Floats:
    """Calibrate each class by isotonic regression on the other folds; rows sum to 1 again."""
    from sklearn.isotonic import isotonic_regression

    folds = stratified_folds(codes, _FOLDS, keys_of_values(np.ascontiguousarray(p), codes, seed))
    result = np.empty_like(p)
    for fold in range(_FOLDS):
        tested, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        for k in range(p.shape[1]):
            values, inverse, times = np.unique(p[rest, k], return_inverse=True, return_counts=True)
            share = np.bincount(inverse, weights=codes[rest] == k) / times
            fitted = isotonic_regression(share, sample_weight=times, y_min=0.0, y_max=1.0)
            result[tested, k] = np.interp(p[tested, k], values, fitted)
    total = result.sum(axis=1, keepdims=True)
    return np.where(total > 0, result / np.where(total > 0, total, 1.0), p)


def _miscalibrated(z: float, gap: float, before: float, after: float) -> list[Finding]:
    if abs(z) <= ndtri(1.0 - _LEVEL / 2) or abs(before - after) < _CLEAR_SHIFT:
        return []
    how = "too sure" if z > 0 else "not sure enough"
    return [
        Finding(
            "BF046",
            f"The probabilities are {how} for the labels: as given they say a floor of {percent(before)}, calibrated "
            f"{percent(after)}; the two differ by {percent(gap)} on average.",
            "The floor is that of the calibrated probabilities. Without labels it would have been off by as much.",
        )
    ]
