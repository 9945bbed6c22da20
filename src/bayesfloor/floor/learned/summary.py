"""From the stack's predictions at three training sizes to the floor and its interval."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from bayesfloor.floor.learned.cross_fitting import VIEWS
from bayesfloor.floor.learned.learning_curve import curve_posterior, split_posterior
from bayesfloor.floor.learned.result import LearningCurve
from bayesfloor.floor.learned.row_errors import hard_and_soft, middle_error
from bayesfloor.floor.learned.stacking import Stack

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Range = tuple[float, float]

#: Below this many errors the lower end of the interval is 0.
FEW_ERRORS = 5
#: Level of a standard normal variable from which neighbours are said to err alike: one in a hundred by chance.
ERR_ALIKE = 2.33
#: How much further down the lower end is then.
WIDER = 1.5
#: Standard errors by which the stack must beat the largest class for that to count in full.
SURE = 2.0


class CurveSummary(NamedTuple):
    """The floor, and what it was read from; the fields are those of `LearnedFloor`."""

    estimate: float
    interval: Range
    reached: float
    reached_interval: Range
    majority_error: float
    beats_majority: bool
    curve: LearningCurve


def summarise(
    stacks: list[Stack], sizes: Floats, codes: Ints, n_classes: int, residual_z: float, confidence: float
) -> CurveSummary:
    """Extrapolate the errors of the stacks.

    Parameters
    ----------
    stacks : list of Stack
        Predictions at each size, the largest first.
    sizes : ndarray
        Training rows at each size.
    codes : ndarray of shape (n,)
        Classes of the rows.
    n_classes : int
        Number of classes.
    residual_z : float
        As from `residual_test`. Where neighbours err alike, the lower end is drawn further down.
    confidence : float
        Level of the intervals.

    Returns
    -------
    CurveSummary
    """
    n = len(codes)
    largest = 1.0 - 1.0 / n_classes
    tail = (1.0 - confidence) / 2.0
    counts = np.bincount(codes, minlength=n_classes)
    majority_error = 1.0 - float(counts.max()) / n

    hard_rows, hard_errors, soft_errors, middle, of_averages = [], [], [], [], []
    for stack, n_views in zip(stacks, VIEWS, strict=True):
        hard, soft = (of_views.mean(axis=0) for of_views in hard_and_soft(stack.log_q, codes))
        hard_rows.append(hard)
        hard_errors.append(float(hard.mean()))
        soft_errors.append(float(soft.mean()))
        middle.append(middle_error(hard, soft))
        if n_views > 1:
            of_averages.append(middle_error(*hard_and_soft(np.log(np.exp(stack.log_q).mean(axis=0)), codes)))
    relative = sizes / sizes[0]
    variance = _proportion_variance(hard_errors[0], n)
    curve = curve_posterior(np.column_stack(middle), variance, relative, largest)
    split = split_posterior(
        np.column_stack([*middle, *of_averages]),
        variance,
        np.concatenate([relative, relative[1:]]),
        np.concatenate([np.ones(len(VIEWS)), VIEWS[1:]]),
        largest,
    )

    n_errors = round(hard_errors[0] * n)
    reached_interval = proportion_interval(n_errors, n, confidence)
    estimate = 0.5 * (curve.mean + split.mean)
    lower = min(curve.quantile(tail), split.quantile(tail))
    upper = max(reached_interval[1], curve.quantile(1.0 - tail))
    # How surely the stack beats the largest class: not at all, 0, or by two standard errors and more, 1.
    gain = (codes != counts.argmax()) - hard_rows[0]
    surely = float(np.clip(gain.mean() / (SURE * max(gain.std(), 1e-12) / n**0.5), 0.0, 1.0))
    if surely == 1.0:
        estimate = min(estimate, hard_errors[0])  # what is done is possible
    else:
        estimate = surely * estimate + (1.0 - surely) * majority_error
        upper = max(upper, proportion_interval(n - int(counts.max()), n, confidence)[1])
    if residual_z > ERR_ALIKE:
        lower = min(lower, estimate - WIDER * (estimate - lower))
    if lower < FEW_ERRORS / n:
        lower = 0.0
    return CurveSummary(
        estimate=estimate,
        interval=(min(lower, estimate), max(upper, estimate)),
        reached=hard_errors[0],
        reached_interval=reached_interval,
        majority_error=majority_error,
        beats_majority=surely == 1.0,
        curve=LearningCurve(
            size=sizes,
            error=np.array(hard_errors),
            expected=np.array(soft_errors),
            middle=np.array([values.mean() for values in middle]),
            fitted=curve.fitted,
            limit=curve.mean,
            rate=_power(curve.fitted - curve.mean, relative),
        ),
    )


def proportion_interval(count: int, n: int, confidence: float) -> Range:
    """Return Clopper and Pearson's interval of a proportion."""
    tail = (1.0 - confidence) / 2.0
    low = float(beta.ppf(tail, count, n - count + 1)) if count > 0 else 0.0
    high = float(beta.ppf(1.0 - tail, count + 1, n - count)) if count < n else 1.0
    return low, high


def _proportion_variance(share: float, n: int) -> float:
    """Return the variance of a proportion, which is not 0 when nothing was counted."""
    share = (share * n + 0.5) / (n + 1.0)
    return share * (1.0 - share) / n


def _power(excess: Floats, relative: Floats) -> float:
    """Return the power of the size that goes through both ends of a curve; the mean of many powers is none itself."""
    if not 0.0 < excess[0] < excess[-1]:
        return 1.0  # there is next to nothing to fall
    return float(np.log(excess[-1] / excess[0]) / -np.log(relative[-1]))
