"""How far the floor and the agreement may be off: other rows, other annotators, and rows that differ more or less.

Rows are drawn again with replacement (bootstrap). Annotators are left out, one or a group at a time (jackknife): to
draw them with replacement would put two copies of a vote at a row, which agree for certain. Leaving out annotators also
leaves out votes; what as many votes at random do is taken off, so that only what annotators have in common remains.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from bayesfloor.floor.learned.certainty import proportion_interval
from bayesfloor.floor.votes.mixture import Mixture, Patterns, fit_mixture, patterns_of
from bayesfloor.floor.votes.settings import FittedSettings, floor_bounds, row_agreement
from bayesfloor.floor.votes.vote_table import VoteTable, count_votes
from bayesfloor.runtime.arrays import Floats, Ints, Range

#: Maximum number of parts of the annotators; each is left out once.
_MOST_PARTS = 20
#: Minimum number of annotators to leave one out: two must remain.
_MIN_ANNOTATORS = 3
#: Degrees of freedom where annotators do not matter.
_MANY = 1e6


@dataclass(frozen=True)
class AnnotatorSpread:
    """Variance that other annotators would add, of the floor and of the agreement.

    Attributes
    ----------
    floor, agreement : float
        The variances.
    n_parts : int
        Parts that were left out by turns.
    """

    floor: float
    agreement: float
    n_parts: int


#: Where nobody says who voted.
NO_SPREAD = AnnotatorSpread(0.0, 0.0, 0)


def annotator_spread(table: VoteTable, fitted: Mixture, seed: int) -> AnnotatorSpread:
    """Measure by how much floor and agreement move when annotators are left out."""
    if table.annotator is None or table.names is None:
        return NO_SPREAD
    rng = np.random.default_rng([seed, 1])
    order = _canonical_order(table, rng)
    voting = np.unique(table.annotator)
    if len(voting) < _MIN_ANNOTATORS:
        return NO_SPREAD
    n_parts = min(len(voting), _MOST_PARTS)
    part_of = np.full(len(table.names), -1)
    part_of[rng.permutation(voting)] = np.arange(len(voting)) % n_parts
    by_annotator = part_of[table.annotator]
    at_random = np.empty_like(by_annotator)
    at_random[order] = rng.permutation(by_annotator[order])
    (floor, agreement), (floor_alone, agreement_alone) = (
        _jackknife(table, parts, n_parts, fitted) for parts in (by_annotator, at_random)
    )
    return AnnotatorSpread(max(floor - floor_alone, 0.0), max(agreement - agreement_alone, 0.0), n_parts)


def _canonical_order(table: VoteTable, rng: np.random.Generator) -> Ints:
    """Order votes by what their rows hold, so that the order of the rows given does not matter."""
    assert table.annotator is not None
    assert table.names is not None
    keys = rng.integers(2**63, size=(len(table.names), 1), dtype=np.uint64)
    keys = keys * (2 * np.arange(len(table.classes), dtype=np.uint64)[None] + 1)
    row_key = np.zeros(table.n_samples, np.uint64)
    np.add.at(row_key, table.row, keys[table.annotator, table.label])
    return np.lexsort((table.annotator, row_key[table.row]))


def _jackknife(table: VoteTable, parts: Ints, n_parts: int, fitted: Mixture) -> tuple[float, float]:
    """Return the variances of floor and agreement over parts of the votes that are left out by turns."""
    n_classes = len(table.classes)
    kept, agreements = [], []
    for part in range(n_parts):
        remain = parts != part
        counts = count_votes(table.row[remain], table.label[remain], table.n_samples, n_classes)
        counts = counts[counts.sum(axis=1) > 0]
        kept.append(patterns_of(counts))
        agree = row_agreement(counts)
        agreements.append(float(np.nanmean(agree)) if np.isfinite(agree).any() else np.nan)
    distinct, place = np.unique(np.concatenate([each.counts for each in kept]), axis=0, return_inverse=True)
    of_part = np.repeat(np.arange(n_parts), [len(each.counts) for each in kept])
    weights = np.zeros((n_parts, len(distinct)))
    weights[of_part, place.ravel()] = np.concatenate([each.n_rows for each in kept])
    floors = 1.0 - fit_mixture(patterns_of(distinct), weights, fitted.setting, fitted).largest()
    known = np.array(agreements)[np.isfinite(agreements)]
    scale = (n_parts - 1) / n_parts
    of_agreement = scale * float(((known - known.mean()) ** 2).sum()) if len(known) else 0.0
    return scale * float(((floors - floors.mean()) ** 2).sum()), of_agreement


def agreement_interval(values: Floats, spread: AnnotatorSpread, confidence: float) -> Range:
    """Return the interval of the mean agreement: Clopper and Pearson's, of as many rows as these say as much as."""
    mean, n_rows = float(values.mean()), len(values)
    variance = float(values.var(ddof=1)) / n_rows if n_rows > 1 else 0.0
    total = variance + spread.agreement
    effective = min(mean * (1.0 - mean) / total, 1e9) if total > 0 else float(n_rows)
    if spread.agreement > 0:  # few annotators: Student's quantile in place of the normal one
        factor = stdtrit(_freedom(variance, spread.agreement, spread.n_parts), 0.5 + confidence / 2)
        effective /= (factor / stdtrit(_MANY, 0.5 + confidence / 2)) ** 2
    low, high = proportion_interval(mean * effective, effective, confidence)
    return min(low, mean), max(high, mean)


def _freedom(of_rows: float, of_annotators: float, n_parts: int) -> float:
    """Return Satterthwaite's degrees of freedom of the sum of both variances."""
    if not of_annotators:
        return _MANY
    return float((of_rows + of_annotators) ** 2 / (of_annotators**2 / (n_parts - 1)))


def floor_interval(
    patterns: Patterns,
    fitted: FittedSettings,
    spread: AnnotatorSpread,
    confidence: float,
    n_bootstrap: int,
    seed: int,
) -> tuple[float, Range]:
    """Correct the estimate for its bias in small samples, and return it with its interval.

    The floor of a fitted model is a little too high in small samples: noise in the fitted means of the classes looks
    like classes that differ. The bootstrap shows by how much.

    Parameters
    ----------
    patterns : Patterns
        Vote counts.
    fitted : FittedSettings
        The model at all settings.
    spread : AnnotatorSpread
        What other annotators would add.
    confidence : float
        Level of the interval.
    n_bootstrap : int
        Draws of the rows.
    seed : int
        Seed of these.

    Returns
    -------
    estimate : float
    interval : (float, float)
    """
    n_rows = int(patterns.n_rows.sum())
    draws = np.random.default_rng([seed, 2]).multinomial(n_rows, patterns.n_rows / n_rows, size=n_bootstrap)
    allowed = np.flatnonzero(fitted.plausible(confidence))
    main = int(fitted.weight.argmax())
    lowest = int(allowed[fitted.floors[allowed].argmin()])
    highest = int(allowed[fitted.floors[allowed].argmax()])
    bias, width = {}, {}
    for place in {main, lowest, highest}:
        start = fitted.fits[place]
        floors = 1.0 - fit_mixture(patterns, draws.astype(np.float64), start.setting, start).largest()
        bias[place] = float(floors.mean() - fitted.floors[place])
        of_rows = float(floors.var(ddof=1))
        quantile = float(stdtrit(_freedom(of_rows, spread.floor, spread.n_parts), 0.5 + confidence / 2))
        width[place] = quantile * np.sqrt(of_rows + spread.floor)
    top = 1.0 - 1.0 / patterns.counts.shape[1]
    estimate = min(max(fitted.estimate - bias[main], 0.0), top)
    low = fitted.floors[lowest] - bias[lowest] - width[lowest]
    high = fitted.floors[highest] - bias[highest] + width[highest]
    return estimate, (float(min(max(low, 0.0), estimate)), float(max(min(high, top), estimate)))


def within_bounds(
    interval: Range, agreement: Range, n_classes: int, reached_high: float, *, has_third_votes: bool
) -> Range:
    """Cut an interval to what the agreement of the annotators, and a model that exists, allow.

    Where few rows have a third vote, all that the agreement allows is left open. Where no two annotators disagree, the
    bootstrap sees no error at all; the interval then reaches from 0, the largest floor that goes together with the
    highest agreement, to the smallest that goes together with the lowest.
    """
    lowest, highest_low = floor_bounds(agreement[1], n_classes)
    smallest, highest = floor_bounds(agreement[0], n_classes)
    if not has_third_votes:
        return lowest, highest
    low = min(max(interval[0], lowest), interval[1], highest_low)
    high = max(min(interval[1], highest, reached_high), low, smallest)
    return low, high
