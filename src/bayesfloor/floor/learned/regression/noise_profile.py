"""Where the noise is, and which rows do not fit."""

from dataclasses import replace

import numpy as np
from scipy.special import chdtrc, ndtri

from bayesfloor.floor.learned.regression.residuals import TestedRows
from bayesfloor.floor.learned.regression.result import NoiseProfile, OddRows
from bayesfloor.learn.nearest import nearest_rows
from bayesfloor.runtime.arrays import Floats, Ints

#: Most bins of the noise profile, and the fewest rows in each.
MOST_BINS, BIN_ROWS = 10, 40
#: Odd rows that are shown, rows that are looked at for them, and neighbours of each.
N_ODD, N_CANDIDATES, N_NEAREST = 20, 200, 5
#: Standard deviations from which a row is odd.
ODD = 2.5


def noise_profile(tested: TestedRows, share: float, confidence: float, n_samples: int) -> NoiseProfile:
    """Return the noise by quantile of the prediction.

    Parameters
    ----------
    tested : TestedRows
        What the stack predicts.
    share : float
        The noise variance as a share of the squared error that was reached: the rest is what the stack misses.
    confidence : float
        Level of the intervals.
    n_samples : int
        Rows given.

    Returns
    -------
    NoiseProfile
    """
    predicted = tested.predicted[0].mean(axis=0)
    of_rows = predicted, tested.y - predicted, tested.weight, tested.clusters
    found = profile_of_residuals(*of_rows, share=share, confidence=confidence, n_samples=n_samples)
    return replace(
        found,
        low=tested.centre + tested.scale * found.low,
        high=tested.centre + tested.scale * found.high,
        sd=tested.scale * found.sd,
        sd_interval=tested.scale * found.sd_interval,
    )


def profile_of_residuals(
    predicted: Floats,
    residuals: Floats,
    weight: Floats,
    clusters: Ints | None = None,
    *,
    share: float = 1.0,
    confidence: float = 0.95,
    n_samples: int | None = None,
) -> NoiseProfile:
    """Return the deviation of residuals by quantile of the prediction, in the unit that these are in.

    Parameters
    ----------
    predicted, residuals : ndarray of shape (n,)
        What was predicted for rows by models that had not seen them, and how far the rows are above that.
    weight : ndarray of shape (n,)
        What each row counts.
    clusters : ndarray of shape (n,) or None, default=None
        Which rows may err alike, numbered from 0.
    share : float, default=1.0
        The part of the squared residuals that is told.
    confidence : float, default=0.95
        Level of the intervals.
    n_samples : int or None, default=None
        Rows given; None for those that are here.

    Returns
    -------
    NoiseProfile
    """
    squares = residuals**2
    order = np.lexsort((residuals, predicted))
    n_bins = int(np.clip(len(order) // BIN_ROWS, 2, MOST_BINS))
    reach = float(ndtri(0.5 + 0.5 * confidence))
    low, high, counts, variance, relative = [], [], [], [], []
    for rows in np.array_split(order, n_bins):
        shares = weight[rows] / weight[rows].mean()
        values = shares * squares[rows]
        mean = float(shares @ squares[rows]) / len(rows)
        low.append(predicted[rows[0]])
        high.append(predicted[rows[-1]])
        counts.append(len(rows))
        variance.append(max(share * mean, 0.0))
        relative.append(float(values.std()) / len(rows) ** 0.5 / max(mean, 1e-300))
        if clusters is not None:
            sums = np.bincount(clusters[rows], values - mean)
            relative[-1] = max(relative[-1], float((sums**2).sum()) ** 0.5 / len(rows) / max(mean, 1e-300))
    sd, error = np.sqrt(np.array(variance)), np.maximum(np.array(relative), 1e-9)
    factor = np.exp(0.5 * reach * error)
    logs, precision = np.log(np.maximum(np.array(variance), 1e-300)), error**-2.0
    middle = float(precision @ logs / precision.sum())
    return NoiseProfile(
        low=np.array(low),
        high=np.array(high),
        n_rows=np.array(counts),
        sd=sd,
        sd_interval=np.column_stack([sd / factor, sd * factor]),
        p_value=float(chdtrc(n_bins - 1, float(precision @ (logs - middle) ** 2))),
        n_samples=len(order) if n_samples is None else n_samples,
        confidence=confidence,
    )


def odd_rows(tested: TestedRows, profile: NoiseProfile) -> OddRows:
    """Return the rows whose y is far from the prediction, and on the same side far from that of their neighbours.

    Parameters
    ----------
    tested : TestedRows
        What the stack predicts.
    profile : NoiseProfile
        How large deviations are.

    Returns
    -------
    OddRows
    """
    predicted = tested.predicted[0].mean(axis=0)
    sd = np.maximum(profile.at(tested.centre + tested.scale * predicted) / tested.scale, 1e-12)
    z = (tested.y - predicted) / sd
    some = np.lexsort((tested.y, predicted, -np.abs(z)))[:N_CANDIDATES]
    n_nearest = min(N_NEAREST, len(z) - 1)
    nearest = nearest_rows(tested.points, tested.points[some], n_nearest + 1)
    # a row is nearest to itself, unless others are equal to it
    is_self = nearest == some[:, np.newaxis]
    is_self[~is_self.any(axis=1), -1] = True
    nearest = nearest[~is_self].reshape(len(some), n_nearest)
    around = tested.y[nearest].mean(axis=1)
    of_neighbours = (tested.y[some] - around) / (sd[some] * (1.0 + 1.0 / n_nearest) ** 0.5)
    both: Floats = np.where(
        np.sign(of_neighbours) == np.sign(z[some]),
        np.sign(z[some]) * np.minimum(np.abs(of_neighbours), np.abs(z[some])),
        0.0,
    )
    order = np.argsort(-np.abs(both), kind="stable")
    order = order[np.abs(both[order]) >= ODD][:N_ODD]
    chosen = some[order]
    return OddRows(
        row=tested.given[chosen],
        y=tested.centre + tested.scale * tested.y[chosen],
        predicted=tested.centre + tested.scale * predicted[chosen],
        neighbours_mean=tested.centre + tested.scale * around[order],
        z=both[order],
        neighbours=tested.given[nearest[order]],
    )
