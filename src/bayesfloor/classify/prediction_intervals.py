"""Prediction intervals of a regressor, from rows that it was not fitted on.

Residuals of held-out rows are divided by the deviation that residuals have where as much is predicted, as the noise
profile of a learned floor tells it. Quantiles of these scores, times the deviation at a new prediction, are the ends of
its interval. They are taken as in split conformal prediction (Vovk, Gammerman and Shafer 2005; scaled by a local
deviation: Lei et al. 2018): of k held-out rows, each of the k + 1 gaps between their scores is as likely to hold that
of a new row. So the share of new rows inside is as asked for, whatever the distribution of the noise, as far as new
rows are like those of the fit. Below and above are told apart, so that skewed noise gets skewed intervals.

Where rows belong together, the groups take the place of the rows: a new row may be as far from all others as a whole
group is, so its share is that of a group (Lee, Barber and Willett 2023).
"""

import numpy as np

from bayesfloor.floor.learned.regression.noise_profile import profile_of_residuals
from bayesfloor.learn.landmarks.regression import HeldOutRows
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.text import counted

#: Least deviation, as a share of that of all residuals: a bin without any noise tells nothing of what is next to it.
LEAST_DEVIATION = 1e-3
#: Held-out rows below which no deviation by prediction is told, but one for all.
FEWEST_PROFILED = 40


def interval_ends(held_out: HeldOutRows, predicted: Floats, confidence: float) -> Floats:
    """Return where the numbers of new rows lie, in the unit of the held-out rows.

    Parameters
    ----------
    held_out : HeldOutRows
        Rows that were not fitted on, and what was predicted for them.
    predicted : ndarray of shape (n,)
        What is predicted for new rows.
    confidence : float
        Share of new rows that lie inside.

    Returns
    -------
    ndarray of shape (n, 2)

    Raises
    ------
    ValueError
        Where the held-out rows are too few for so wide an interval.
    """
    before, target, weight = (
        np.asarray(each, np.float64) for each in (held_out.predicted, held_out.target, held_out.weight)
    )
    of_groups = np.bincount(held_out.group, weight)
    n_equal = weight.sum() ** 2 / float(of_groups @ of_groups)  # groups, or rows, of one weight that tell as much
    most = max((n_equal - 1.0) / (n_equal + 1.0), 0.0)
    if confidence > most + 1e-9:
        n_groups, noun = len(of_groups), "rows" if len(of_groups) == len(target) else "groups"
        raise ValueError(
            f"confidence={confidence:g} needs more held-out {noun} than the {counted(n_groups)} of this fit: ask for "
            f"at most {np.floor(1000 * most) / 1000:g}, or fit it to more {noun}."
        )
    residuals = target - before
    rows, is_profiled = np.array([before, residuals, weight]), n_equal >= FEWEST_PROFILED - 0.5
    scores = np.empty(len(target))
    for own in held_out.parts():  # divided by the deviations of the others, as residuals of new rows are
        scores[own] = residuals[own] / _deviations(rows[:, ~own], before[own], is_profiled)
    order = np.argsort(scores, kind="stable")
    whole = weight.sum() * (1.0 + 1.0 / n_equal)
    up_to, from_there = np.cumsum(weight[order]), np.cumsum(weight[order][::-1])[::-1]
    # i / (k + 1), both of them, where all count the same
    low = np.interp(0.5 - 0.5 * confidence, 1.0 - from_there / whole, scores[order])
    high = np.interp(0.5 + 0.5 * confidence, up_to / whole, scores[order])
    deviation = _deviations(rows, predicted, is_profiled)
    return np.column_stack([predicted + deviation * low, predicted + deviation * high])


def _deviations(rows: Floats, predicted: Floats, is_profiled: bool) -> Floats:
    """Return the deviation at predictions of residuals of rows: by what is predicted for them, or of all of them."""
    before, residuals, weight = rows
    overall = max(float(np.average(residuals**2, weights=weight)) ** 0.5, np.finfo(np.float64).tiny)
    if not is_profiled:
        return np.full(len(predicted), overall)
    return np.maximum(profile_of_residuals(before, residuals, weight).at(predicted), LEAST_DEVIATION * overall)
