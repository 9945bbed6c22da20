"""How many rows until a model reaches a value? The learning curve, read the other way round.

The losses at three training sizes are those of the same rows, so they are correlated: their differences are known
better than their level. With m as a multiple of the largest size, the loss is

    loss(m) = θ + c m^-b exp(z s log2 m),    c ≥ 0, z standard normal, the last factor for m > 1 only.

θ has a prior from the floor. Given θ and b, the losses are linear in c, whose posterior is a truncated normal
distribution. That gives the chance that m rows suffice, c exp(z s log2 m) ≤ (value - θ) m^b, and a grid over θ, b and z
mixes these. z stands for curves that gather or lose pace beyond what was seen.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from bayesfloor.runtime.arrays import Floats, Range
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.results import Result
from bayesfloor.runtime.settings import in_detail
from bayesfloor.runtime.text import counted

#: Largest number of rows that is spoken of, as a multiple of the largest training size.
MOST = 100.0
#: Lowest and highest rate b of the grid: a curve may be flat and yet begin to fall, or fall faster than any average.
RATES = (0.02, 2.0)
#: Prior probability that θ is beyond the better end of the floor's interval, or at it where that is the best value of
#: all. The stack goes on to fall where the interval has it end more often than 1 in 40.
BEYOND = 0.5
#: Standard deviation s, for each doubling of the rows beyond those at hand, of the logarithm of what is left to lose.
CHANGE_OF_PACE = 0.45
#: Standard errors by which a loss must be above that at fewer rows for the curve to rise.
SURELY_RISES = 3.0
#: Grid points for θ, b, z, and for each doubling of the rows.
_N_FLOORS, _N_RATES, _N_PACES, _N_PER_DOUBLING = 40, 100, 5, 8


@dataclass(frozen=True, eq=False, repr=False)
class RowsNeeded(
    Result,
    says="metric value verdict rows interval",
    rows="metric value verdict rows interval n_train confidence",
    omits="value_text",
):
    """How many training rows a model needs to reach a value of a metric.

    Attributes
    ----------
    value : float
        The value asked for.
    metric : str
        Name of the metric.
    rows : float
        Rows to train on: an estimate, infinite where it is more than 100 times the rows at hand.
    interval : (float, float)
        Where that number lies. Ends of more than 100 times the rows at hand are infinite.
    verdict : {"reached", "more rows", "out of reach", "below the floor"}
        Whether the rows at hand suffice, more are needed, more than 100 times as many are, or the value is beyond the
        better end of the floor's interval.
    n_train : float
        Rows at hand: those that the stack was trained on at the largest size.
    confidence : float
        Level of the interval.
    value_text : str
        The metric and the value, as a sentence names them: "an error of 5%".
    findings : tuple of Finding
        BF042 where the curve rises.
    """

    value: float
    metric: str
    rows: float
    interval: Range
    verdict: str
    n_train: float
    confidence: float
    value_text: str
    findings: tuple[Finding, ...] = ()

    def sentence(self) -> str:
        """Say the answer, and what it rests on.

        Returns
        -------
        str
        """
        what, now = self.value_text, _rounded(self.n_train)
        low, high = self.interval
        beyond = f"training rows to more than {MOST:g} times the {now} at hand"
        to = f"to {_rounded(high)} training rows" if np.isfinite(high) else beyond
        takes = f"takes models like those tried {_rounded(low)} {to} ({100 * self.confidence:g}% interval; about"
        unlikely = "is not likely to be reached by models like those tried on these columns"
        earliest = f"; at the earliest {_rounded(low)} training rows may do" if np.isfinite(low) else ""
        sentence = {
            "reached": f"{what} is reached already: it {takes} {_rounded(self.rows)}).",
            "more rows": (
                f"{what} {takes} {_rounded(self.rows)}, {self.rows / self.n_train:.2g} times the {now} at hand), if "
                "the learning curve goes on as it does."
            ),
            "out of reach": f"{what} {unlikely} within {MOST:g} times the {now} training rows at hand{earliest}.",
            "below the floor": f"{what} {unlikely}, however many rows there are.",
        }[self.verdict]
        return " ".join([sentence[0].upper() + sentence[1:], *(finding.sentence for finding in self.findings)])


def _rounded(rows: float) -> str:
    """Write a number of rows with the two figures that it is good for."""
    if not np.isfinite(rows):
        return "infinitely many"
    digits = max(len(str(int(rows))) - 2, 0)
    return counted(round(rows / 10**digits) * 10**digits)


def rows_to_reach(
    loss: float,
    losses: Floats,
    covariance: Floats,
    sizes: Floats,
    estimate: float,
    interval: Range,
    lowest: float,
    confidence: float,
) -> tuple[float, Range, str]:
    """Return the number of rows, its interval and the verdict, from losses of which smaller is better.

    Parameters
    ----------
    loss : float
        What is asked for.
    losses : ndarray of shape (n_points,)
        What the stack loses at each training size, the largest first.
    covariance : ndarray of shape (n_points, n_points)
        Of these, for sampling and for what a power law misses.
    sizes : ndarray of shape (n_points,)
        Rows trained on.
    estimate, interval
        The floor.
    lowest : float
        The least loss that there can be.
    confidence : float
        Level of the interval.

    Returns
    -------
    rows : float
    interval : (float, float)
    verdict : str
    """
    n_train = float(sizes[0])
    doublings, cdf = _chance_to_suffice(loss, losses, covariance, sizes / n_train, n_train, estimate, interval, lowest)

    def quantile(level: float) -> float:
        if cdf[-1] < level:
            return np.inf
        place = int(np.searchsorted(cdf, level))
        if place == 0:
            return 1.0
        share = (level - cdf[place - 1]) / (cdf[place] - cdf[place - 1])
        return n_train * float(2.0 ** (doublings[place - 1] + share * (doublings[place] - doublings[place - 1])))

    tail = (1.0 - confidence) / 2.0
    low, rows, high = (quantile(level) for level in (tail, 0.5, 1.0 - tail))
    if loss >= losses[0]:
        verdict, rows = "reached", min(rows, n_train)
        low = min(low, float(sizes[losses <= loss].min()))
    elif loss < interval[0]:
        verdict, rows, high = "below the floor", np.inf, np.inf
    else:
        rows = max(rows, n_train)
        verdict = "more rows" if np.isfinite(rows) else "out of reach"
    return rows, (min(low, rows), max(high, rows)), verdict


def _chance_to_suffice(
    loss: float,
    losses: Floats,
    covariance: Floats,
    relative: Floats,
    n_train: float,
    estimate: float,
    interval: Range,
    lowest: float,
) -> tuple[Floats, Floats]:
    """Return doublings of the rows at hand, from a single row on, and the chance that so many suffice."""
    begin, end = -np.log2(max(n_train, 2.0)), np.log2(MOST)
    doublings = np.linspace(begin, end, int((end - begin) * _N_PER_DOUBLING) + 2)
    nodes = _floor_nodes(min(estimate, losses[0]), interval[0], lowest)
    n_rates = in_detail(_N_RATES)
    floors, rates = np.repeat(nodes, n_rates), np.tile(np.linspace(*RATES, n_rates), _N_FLOORS)
    precision = np.linalg.inv(covariance)
    heights = relative ** -rates[:, np.newaxis]
    above = losses - floors[:, np.newaxis]
    weighted = heights @ precision
    information = (weighted * heights).sum(axis=1)
    width = 1.0 / np.sqrt(information)
    scale = (weighted * above).sum(axis=1) / information
    misfit = np.einsum("gp,pq,gq->g", above, precision, above) - information * scale**2
    log_weight = -0.5 * misfit + np.log(width) + log_ndtr(scale / width)
    weight = np.exp(log_weight - log_weight.max())
    kept = weight > 1e-6
    weight, floors, rates, scale, width = (each[kept] for each in (weight, floors, rates, scale, width))
    weight /= weight.sum()
    room = np.maximum(loss - floors, 0.0)[:, np.newaxis]
    most = room * np.exp2(rates[:, np.newaxis] * doublings)
    mean, width = scale[:, np.newaxis], width[:, np.newaxis]

    def chance_of(most: Floats) -> Floats:
        # 1 - P(c > most) / P(c > 0), in logarithms: both may be far out in a tail.
        return np.asarray(-weight @ np.expm1(np.minimum(log_ndtr((mean - most) / width) - log_ndtr(mean / width), 0.0)))

    ahead = doublings > 0.0  # up to the rows at hand the pace is known
    chance = np.zeros(len(doublings))
    chance[~ahead] = chance_of(most[:, ~ahead])
    paces, shares = np.polynomial.hermite_e.hermegauss(_N_PACES)
    for pace, share in zip(paces, shares / shares.sum(), strict=True):
        chance[ahead] += share * chance_of(most[:, ahead] * np.exp(-CHANGE_OF_PACE * pace * doublings[ahead]))
    return doublings, np.clip(np.maximum.accumulate(chance), 0.0, 1.0)


def _floor_nodes(estimate: float, better_end: float, lowest: float) -> Floats:
    """Return values of θ of equal prior probability: some beyond the better end, others from it to the estimate.

    They are denser towards the better end: while a curve falls, its end is estimated too high more often than too low.
    """
    n_beyond = round(BEYOND * _N_FLOORS)
    n_within = _N_FLOORS - n_beyond
    beyond = lowest + (better_end - lowest) * (np.arange(n_beyond) + 0.5) / n_beyond
    within = better_end + max(estimate - better_end, 0.0) * ((np.arange(n_within) + 0.5) / n_within) ** 2
    return np.concatenate([beyond, within])


def find_rise(title: str, values: Floats, losses: Floats, covariance: Floats | None, sizes: Floats) -> list[Finding]:
    """Return finding BF042 if a metric is surely worse with more rows than with fewer."""
    if covariance is None:
        return []
    pairs = [(more, fewer) for more in range(len(losses)) for fewer in range(more + 1, len(losses))]
    for more, fewer in pairs:
        variance = covariance[more, more] + covariance[fewer, fewer] - 2.0 * covariance[more, fewer]
        if losses[more] - losses[fewer] > SURELY_RISES * max(float(variance), 0.0) ** 0.5:
            return [
                Finding(
                    "BF042",
                    f"The {title} gets worse with more rows: {values[fewer]:.4f} with {sizes[fewer]:.0f}, "
                    f"{values[more]:.4f} with {sizes[more]:.0f}. What is said of still more rows is a guess.",
                    "Look for rows that do not belong, or for an order in them; then try again with more rows.",
                )
            ]
    return []
