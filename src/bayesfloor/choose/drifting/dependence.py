"""Rows that depend on those before them: what the order of rows tells, and stretches of them that hardly depend.

Rows that were seen one after the other often are alike. Dealing names out to single rows then takes n rows for n pieces
of evidence, which they are not. With their time known, names are dealt out to stretches of rows instead, as they are to
groups. How long these must be is read off the scores (`scores`), less their means in each table, so that what moved
between the tables is not taken for dependence.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from bayesfloor.choose.drifting.scores import Part
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.text import figure, quoted

#: Rows of a stretch, in units of how many rows in order tell as much as one: neighbouring stretches then hardly depend
#: on each other (benchmarks/truth/drift_dependence.py).
STRETCH = 6.0
#: Lags that are summed, in the same unit (Sokal).
WINDOW = 5.0
#: Chance that neighbours of independent rows are taken to be alike, and that unit above which it is said.
CHANCE, ALIKE = 0.001, 1.2


def stretches_of(parts: Sequence[Part], time: Floats, is_new: Bools) -> Ints:
    """Return the stretch of time that each row is in, from 0; rows of one time are in one stretch.

    Parameters
    ----------
    parts : sequence of Part
        What may have moved.
    time : ndarray of shape (n_rows,)
        When each row was seen.
    is_new : ndarray of shape (n_rows,)
        Which rows are of the new table.

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    series = _in_order(parts, np.argsort(time, kind="stable"), is_new)
    n_alike = max((float(rows_alike(scores).max()) for _, scores in series), default=1.0)
    return np.searchsorted(np.sort(time), time) // int(np.ceil(STRETCH * n_alike))


def find_order(parts: Sequence[Part], given: Ints, is_new: Bools) -> list[Finding]:
    """Say so where rows that stand next to each other in a table are alike, in the order in which they were given."""
    series = _in_order(parts, np.argsort(given), is_new)
    if not series:
        return []
    correlations = [float(((x[1:] * x[:-1]).sum(axis=0) / (x**2).sum(axis=0)).max()) for _, x in series]
    most = int(np.argmax(correlations))
    least = ndtri(1.0 - CHANCE / sum(x.shape[1] for _, x in series)) / len(given) ** 0.5
    n_alike = float(rows_alike(series[most][1]).max())
    if correlations[most] <= least or n_alike <= ALIKE:
        return []
    return [
        Finding(
            "BF069",
            f"Rows that stand next to each other are alike in {quoted(series[most][0])} (correlation "
            f"{correlations[most]:.2f}): {figure(n_alike)} of them tell about as much as one, and the p-value takes "
            "each for one.",
            "If rows were seen one after the other, name their time (time=, --time), or what they share (groups=, "
            "--groups). If the tables were only sorted, this means nothing.",
        )
    ]


def rows_alike(series: Floats) -> Floats:
    """Return how many rows in order tell as much as one, by column: 1 plus twice the sum of autocorrelations."""
    n = len(series)
    power = np.abs(np.fft.rfft(series, 2 * n, axis=0)) ** 2
    covariances = np.fft.irfft(power, axis=0)[:n]
    sums = 2.0 * np.cumsum(covariances / covariances[0], axis=0) - 1.0
    enough = np.argmax(np.arange(n)[:, np.newaxis] >= WINDOW * sums, axis=0)
    return np.asarray(np.maximum(sums[enough, np.arange(series.shape[1])], 1.0))


def _in_order(parts: Sequence[Part], order: Ints, is_new: Bools) -> list[tuple[str, Floats]]:
    """Return the column and the scores of each part, less their means in each table, with the rows in an order."""
    found = []
    for part in parts:
        means = [part.scores[side].mean(axis=0) for side in (is_new, ~is_new)]
        scores = (part.scores - np.where(is_new[:, np.newaxis], *means))[order]
        found.append((part.column, scores[:, (scores**2).sum(axis=0) > 1e-12]))
    return [(column, scores) for column, scores in found if scores.shape[1]]
