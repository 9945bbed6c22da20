"""Rules by which a learning curve decides, or cannot decide, where the best possible loss lies.

All speak of losses, of which smaller is better, for classes and numbers alike. The upper end is what a model attains.
The lower end is where a curve would put it, and is drawn down to 0 where the curve cannot tell.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bayesfloor.runtime.arrays import Floats, Range

#: Residual z from which neighbours are said to err alike: one in a hundred data sets has it by chance. What follows
#: from that begins at a z that is smaller by 1, so that no figure hangs on the last digit of z.
ERR_ALIKE = 2.33
#: Factor on the lower arm of the interval where neighbours err alike.
WIDER = 1.5
#: Standard errors by which the stack must beat what needs no features for that to count in full.
SURE = 2.0
#: Share of one doubling's fall of the error that the next must keep for it to be as fast as before, and the standard
#: errors that the fall must have for it to be a fall at all.
AS_FAST, SURELY_FALLS = 0.85, 3.0
#: Share that it keeps near the end of a curve, where a model of the right form errs by a multiple of 1 / rows.
NEAR_END = 0.5
#: Training sizes by which a lead is judged: all rows, a half and a quarter. Tables on disk have smaller ones as well.
N_COMPARED = 3


class Lead(NamedTuple):
    """How far the stack is ahead of what needs no features.

    Attributes
    ----------
    mean : float
        By how much it loses less.
    error : float
        Standard error of that.
    surely : float
        How surely it does: not at all, 0, or by two standard errors and more, 1.
    growth : float
        By what factor the lead grew from the smallest training sets to the largest; 1 in time.
    steady_fall : float
        What the last doubling of the training rows took off the loss, if about as much as the one before; else 0.
    """

    mean: float
    error: float
    surely: float
    growth: float = 1.0
    steady_fall: float = 0.0

    @classmethod
    def of(
        cls,
        losses: Sequence[Floats],
        of_baseline: Floats,
        standard_error: Callable[[Floats], float],
        *,
        in_time: bool,
    ) -> "Lead":
        """Compare what rows lose at each training size, the largest first, with what they lose without features."""
        losses = losses[:N_COMPARED]
        gain = of_baseline - losses[0]
        mean, error = float(gain.mean()), standard_error(gain)
        surely = float(np.clip(mean / (SURE * error), 0.0, 1.0))
        if in_time:  # where smaller training sets are more recent ones as well
            return cls(mean, error, surely)
        growth = growth_of_lead(losses, of_baseline, standard_error)
        return cls(mean, error, surely, growth, fall_as_fast(losses, standard_error))

    def seen(self, few: float, many: float) -> float:
        """Return 0 where the lead has few standard errors, 1 where it has many."""
        return float(np.clip((self.mean / self.error - few) / (many - few), 0.0, 1.0))

    def drawn_to_zero(self, lower: float, growth: Range, *, over_decades: bool = False) -> float:
        """Draw the lower end to 0 where nothing surely beats the baseline, or the lead has only begun to grow.

        A curve over decades shows by itself how the lead goes on to grow.
        """
        if over_decades and self.surely == 1.0:
            return lower
        begin, end = growth
        return lower * (float(np.clip((end - self.growth) / (end - begin), 0.0, 1.0)) if self.surely == 1.0 else 0.0)

    def after_doublings(self, lower: float, reached: float, n_doublings: int) -> float:
        """Allow for so many more doublings where the loss falls as fast as before."""
        return min(lower, reached - n_doublings * self.steady_fall) if self.steady_fall > 0.0 else lower


def widened(lower: float, estimate: float, residual_z: float, factor: float) -> float:
    """Draw the lower end further down where neighbours err alike: there is signal that no learner caught."""
    begun = float(np.clip(residual_z - ERR_ALIKE + 1.0, 0.0, 1.0))
    return min(lower, estimate - (1.0 + begun * (factor - 1.0)) * (estimate - lower))


def below_attained(estimate: float, interval: Range, reached: Range, baseline: Range) -> tuple[float, Range]:
    """Put a floor and its range below what is attained, with features and without; every figure goes through this.

    A range reaches to what is attained: where a metric is scaled to the end of another, its own may end before. The
    baseline on these rows is the worse end where models surely have less, and else the upper end of it: shares of
    classes and the spread of numbers are those of a sample.

    Parameters
    ----------
    estimate, interval : float, (float, float)
        The floor and its range.
    reached, baseline : (float, float)
        What a model and the best rule without features attain on these rows, and the upper end of that.

    Returns
    -------
    estimate : float
    interval : (float, float)
    """
    attained = min(reached[0], baseline[0])
    estimate = min(estimate, attained)
    most = baseline[0] if reached[1] < baseline[0] else baseline[1]
    return estimate, (min(interval[0], estimate), max(min(interval[1], most), attained))


def growth_of_lead(errors: Sequence[Floats], of_baseline: Floats, standard_error: Callable[[Floats], float]) -> float:
    """Return by what factor the lead over what needs no features grew from the smallest training sets to the largest.

    Parameters
    ----------
    errors : list of ndarray of shape (n,)
        The error of each row at each size, the largest first.
    of_baseline : ndarray of shape (n,)
        The error without features.
    standard_error : callable
        The standard error of a mean of such values; a lead that is smaller is taken to be that.

    Returns
    -------
    float
    """
    first, last = of_baseline - errors[-1], of_baseline - errors[0]
    return float(last.mean() / max(first.mean(), standard_error(first)))


def fall_as_fast(errors: Sequence[Floats], standard_error: Callable[[Floats], float]) -> float:
    """Return what the last doubling of the training rows took off the error, if about as much as the one before.

    Parameters
    ----------
    errors, standard_error
        As for `growth_of_lead`; each size is twice the next.

    Returns
    -------
    float
        0 where the error does not surely fall, or falls more slowly than before.
    """
    last, before = errors[1] - errors[0], errors[2] - errors[1]
    is_fall = last.mean() > SURELY_FALLS * standard_error(last) and last.mean() > AS_FAST * before.mean()
    return float(last.mean()) if is_fall else 0.0


def surely_as_fast(errors: Sequence[Floats], standard_error: Callable[[Floats], float]) -> bool:
    """Tell whether the error of numbers falls as fast as before, and that is no chance.

    Squared errors of a few hundred rows fall surely where next to nothing is left, and by anything between none and
    twice of what they fell before. So the last fall has to be surely more than near the end of a curve.

    Parameters
    ----------
    errors, standard_error
        As for `fall_as_fast`.

    Returns
    -------
    bool
    """
    before = errors[2] - errors[1]
    beyond = errors[1] - errors[0] - NEAR_END * before
    is_sure = before.mean() > 0.0 and beyond.mean() > SURELY_FALLS * standard_error(beyond)
    return bool(is_sure and fall_as_fast(errors, standard_error) > 0.0)
