"""How much rows differ: what the agreement of annotators says of it, and which settings of the model fit the votes.

For a row with label probabilities p, two annotators agree with probability Σ p². With A the mean of that over rows,

    Σ p² ≤ max p                                  so that the floor is at most 1 - A
    max p ≤ (1 + √((K - 1)(K Σ p² - 1))) / K      which is concave in Σ p², so that the floor is at least 1 - that of A

The first holds with equality where each row is either clear or evenly spread over some classes, the second where all
rows are equally hard and errors are spread evenly. These bounds need no model.

With two or three votes at a row the likelihood hardly tells "all rows are equally hard" from "most rows are clear and
the rest are a coin flip", and the floors of the two differ. So the model is fitted at many settings. The estimate is
their mean, weighted by likelihood and by a prior that prefers equally hard rows, the smallest floor that fits. The
interval spans every setting that the votes do not rule out.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

from bayesfloor.floor.votes.mixture import Mixture, Patterns, Setting, fit_mixture
from bayesfloor.runtime.arrays import Bools, Floats, Ints, Range

#: Precisions of the first grid: from equally hard rows to rows that are mostly one-sided.
_PRECISIONS = (np.inf, 20.0, 6.0, 2.5, 1.0)
#: Shares of clear rows of the first grid, as multiples of the largest that the agreement of the annotators allows.
_CLEAR = (0.0, 0.3, 0.55, 0.75, 0.9, 0.98)
#: Give up a setting whose log-likelihood is this far below the best, and all that differ more.
_HOPELESS = 12.0
#: Number of rounds of settings around the best one.
_REFINEMENTS = 2
#: Weight of the prior against each way in which rows may differ, in units of log-likelihood.
_PRIOR = 8.0


def row_agreement(counts: Ints) -> Floats:
    """Return the share of pairs of votes at each row that agree; NaN where there are fewer than two votes."""
    n_votes = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1)
    pairs = n_votes * (n_votes - 1)
    return np.divide(agreeing, pairs, out=np.full(len(counts), np.nan), where=pairs > 0)


def floor_bounds(agreement: float, n_classes: int) -> Range:
    """Return the smallest and the largest floor that go together with an agreement between annotators."""
    inside = max(n_classes * agreement - 1.0, 0.0)
    largest = (1.0 + np.sqrt((n_classes - 1) * inside)) / n_classes
    return float(1.0 - largest), float(min(1.0 - agreement, 1.0 - 1.0 / n_classes))


def clear_at_most(agreement: float, n_classes: int) -> float:
    """Return the largest share of rows on which every annotator can agree, the others being evenly spread."""
    return float(max(1.0 - (1.0 - agreement) * n_classes / (n_classes - 1), 0.0))


@dataclass(frozen=True)
class FittedSettings:
    """The model at all settings that were tried.

    Attributes
    ----------
    fits : list of Mixture
        One for each setting, of a single fit each.
    floors : ndarray
        1 - E max p at each.
    log_likelihood : ndarray
        The fit to the votes.
    weight : ndarray
        What each counts in the estimate; they sum to 1.
    """

    fits: list[Mixture]
    floors: Floats
    log_likelihood: Floats
    weight: Floats

    @property
    def estimate(self) -> float:
        """The weighted mean of the floors."""
        return float(self.weight @ self.floors)

    def plausible(self, confidence: float) -> Bools:
        """Tell which settings the likelihood-ratio test does not reject."""
        return np.asarray(2.0 * (self.log_likelihood.max() - self.log_likelihood) <= chdtri(2, 1.0 - confidence))


def fit_settings(patterns: Patterns, agreement: float) -> FittedSettings:
    """Fit the model at a grid of settings, and more closely around the best.

    Parameters
    ----------
    patterns : Patterns
        Vote counts.
    agreement : float
        How often two annotators agree.

    Returns
    -------
    FittedSettings
    """
    most_clear = clear_at_most(agreement, patterns.counts.shape[1])
    fitted: dict[Setting, Mixture] = {}

    def fit(setting: Setting, start: Mixture | None) -> float:
        if setting not in fitted:
            fitted[setting] = fit_mixture(patterns, patterns.n_rows[None], setting, start)
        return float(fitted[setting].log_likelihood[0])

    best, first = -np.inf, None
    for clear in sorted({most_clear * share for share in _CLEAR}):
        start, in_row = first, -np.inf
        for precision in _PRECISIONS:
            setting = Setting(precision, clear)
            value = fit(setting, start)
            start = fitted[setting]
            first = start if first is None else first
            in_row, best = max(in_row, value), max(best, value)
            if value < min(in_row, best) - _HOPELESS:
                break
        if in_row < best - _HOPELESS and clear > 0:
            break
    step = 1.0
    for _ in range(_REFINEMENTS):
        top = max(fitted, key=lambda each: float(fitted[each].log_likelihood[0]))
        step /= 2.0
        for setting in _around(top, step, most_clear):
            fit(setting, fitted[top])
    fits = list(fitted.values())
    log_likelihood = np.array([float(each.log_likelihood[0]) for each in fits])
    prior = np.array([_penalty(each, most_clear) for each in fitted])
    weight = np.exp(log_likelihood - prior - (log_likelihood - prior).max())
    floors = np.array([1.0 - float(each.largest()[0]) for each in fits])
    return FittedSettings(fits, floors, log_likelihood, weight / weight.sum())


def _around(top: Setting, step: float, most_clear: float) -> list[Setting]:
    """Return settings beside one, closer with each step."""
    precision, clear = top
    precisions = [precision, 60.0] if np.isinf(precision) else [precision * 2.7**step, precision, precision / 2.7**step]
    moved = 0.3 * step * most_clear
    shares = sorted({min(max(each, 0.0), 0.99 * most_clear) for each in (clear - moved, clear, clear + moved)})
    return [Setting(p, c) for p in precisions for c in shares]


def _penalty(setting: Setting, most_clear: float) -> float:
    """Return how much the prior speaks against a setting."""
    spread = 0.0 if np.isinf(setting.precision) else 1.0 / np.sqrt(1.0 + setting.precision)
    return float(_PRIOR * (spread + np.sqrt(setting.clear / most_clear if most_clear else 0.0)))
