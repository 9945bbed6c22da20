"""Where the noise is, and which rows do not fit."""

from dataclasses import replace

import numpy as np
from scipy.optimize import nnls
from scipy.special import chdtrc, ndtri

from bayesfloor.floor.learned.certainty import standard_error_of
from bayesfloor.floor.learned.regression.residuals import TestedRows
from bayesfloor.floor.learned.regression.result import NoiseProfile
from bayesfloor.floor.learned.suspicious import (
    MOST_LISTED,
    SuspiciousRows,
    doubt_numbers,
    list_rows,
    nearest_others,
)
from bayesfloor.learn.nearest import nearest_rows
from bayesfloor.runtime.arrays import Floats, Ints

#: Most bins of the noise profile, and the fewest rows in each.
MOST_BINS, BIN_ROWS = 10, 40
#: Standard deviations from the prediction below which no row is compared with its neighbours.
ODD = 2.5
#: How far a row has to be from the median of its neighbours, as a share of how far it is from the prediction.
AS_FAR = 0.5
#: Rows beside another, whose residuals tell how large its own may be, and the least size of a residual, in deviations.
N_NEAR, LEAST_SIZE = 25, 0.05


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
    predicted = tested.predicted[0].mean(axis=(0, 1))
    of_rows = predicted, tested.y - tested.predicted[0], tested.weight, tested.clusters
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
    predicted : ndarray of shape (n,)
        What was predicted for rows by models that had not seen them.
    residuals : ndarray of shape (..., n)
        How far the rows are off, by each of some models.
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
    order = np.argsort(predicted, kind="stable")  # of equal predictions no bin has the larger squares
    n_bins = int(np.clip(len(order) // BIN_ROWS, 2, MOST_BINS))
    reach = float(ndtri(0.5 + 0.5 * confidence))
    residuals = residuals.reshape(-1, len(order))
    squares = (residuals**2).mean(axis=0)
    low, high, counts, variance, relative = np.empty((5, n_bins))
    for number, rows in enumerate(np.array_split(order, n_bins)):
        values = weight[rows] / weight[rows].mean() * squares[rows]
        mean = values.mean()
        low[number], high[number], counts[number] = predicted[rows[0]], predicted[rows[-1]], len(rows)
        variance[number] = max(share * mean, 0.0)
        relative[number] = standard_error_of(None)(values)
        if clusters is not None:
            relative[number] = max(relative[number], standard_error_of(clusters[rows])(values))
        relative[number] /= max(mean, 0.01 * relative[number])  # no noise at all is known to be none
    sd, factor = np.sqrt(variance), np.exp(0.5 * reach * np.maximum(relative, 1e-9))
    return NoiseProfile(
        low=low,
        high=high,
        n_rows=counts.astype(np.int64),
        sd=sd,
        sd_interval=np.column_stack([sd / factor, sd * factor]),
        p_value=_chance_of_even(order, residuals, weight, clusters, n_bins),
        n_samples=len(order) if n_samples is None else n_samples,
        confidence=confidence,
    )


def _chance_of_even(order: Ints, residuals: Floats, weight: Floats, clusters: Ints | None, n_bins: int) -> float:
    """Return how likely even noise differs as much between bins of rows, by Kruskal and Wallis' test.

    It ranks how far rows lie apart whose predictions are next to each other. Variances of bins have no law of their own
    where the noise has long tails, and what models miss makes residuals of skewed noise smaller or larger; two such
    rows have most of it in common.
    """
    pairs = order[: len(order) // 2 * 2].reshape(-1, 2)
    apart = ((residuals[:, pairs[:, 0]] - residuals[:, pairs[:, 1]]) ** 2).mean(axis=0)
    _, value, counts = np.unique(apart, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - 0.5 * counts)[value]  # equal ones share theirs
    ranks = (ranks - ranks.mean()) / max(float(ranks.std()), 1e-12)
    place, error = np.empty((2, n_bins))
    for number, own in enumerate(np.array_split(np.arange(len(pairs)), n_bins)):
        shares = weight[pairs[own]].mean(axis=1)
        shares /= shares.mean()
        scores = shares * ranks[own]
        place[number], error[number] = scores.mean(), float(shares @ shares) ** 0.5 / len(own)
        if clusters is not None:
            of_clusters = [standard_error_of(each)(scores) for each in clusters[pairs[own]].T]
            error[number] = max(error[number], *of_clusters)
    middle = float(error**-2.0 @ place / (error**-2.0).sum())
    return float(chdtrc(n_bins - 1, float((((place - middle) / error) ** 2).sum())))


def suspicious_numbers(tested: TestedRows, profile: NoiseProfile, n_drawn: int | None = None) -> SuspiciousRows:
    """List the rows whose y is far from the prediction, and on the same side from that of their neighbours.

    Parameters
    ----------
    tested : TestedRows
        What the stack predicts.
    profile : NoiseProfile
        How large deviations are.
    n_drawn : int or None, default=None
        As in `SuspiciousRows`.

    Returns
    -------
    SuspiciousRows
    """
    predicted = tested.predicted[0].mean(axis=(0, 1))
    sd = np.maximum(_usual_noise(tested, predicted, profile), 1e-12)
    z = (tested.y - predicted) / sd
    some = np.lexsort((tested.y, predicted, -np.abs(z)))[:MOST_LISTED]
    some = some[np.abs(z[some]) >= ODD]
    nearest = nearest_others(tested.points, some, np.arange(len(z)))
    # beside a mistake a prediction may be wrong, and not the number
    from_others = (tested.y[some] - np.median(tested.y[nearest], axis=1)) / sd[some]
    seen = np.zeros(len(z))
    seen[some] = np.where(from_others * np.sign(z[some]) >= AS_FAR * np.abs(z[some]), z[some], 0.0)
    return list_rows(
        doubt_numbers(z, profile.confidence, seen=seen),
        tested.centre + tested.scale * tested.y,
        tested.centre + tested.scale * predicted,
        tested.points,
        tested.given,
        n_samples=profile.n_samples,
        confidence=profile.confidence,
        of_suggested=False,
        n_drawn=n_drawn,
    )


def _usual_noise(tested: TestedRows, predicted: Floats, profile: NoiseProfile) -> Floats:
    """Return the deviation of the noise at each row, as far as residuals of rows and predictions near it tell that."""
    sizes, n = np.abs(tested.y - predicted), len(predicted)
    usual = float(np.median(sizes)) / float(ndtri(0.75)) or profile.overall / tested.scale
    logs = np.log(np.maximum(sizes / usual, LEAST_SIZE))
    beside = []
    for points in (tested.points, predicted[:, np.newaxis]):
        near = nearest_rows(points, points, min(N_NEAR + 1, n))
        of_others = np.nanmedian(np.where(near == np.arange(n)[:, np.newaxis], np.nan, logs[near]), axis=1)
        beside.append(of_others - of_others.mean())
    shares, _ = nnls(np.column_stack(beside), logs - logs.mean())
    return usual * np.exp(shares @ np.array(beside))
