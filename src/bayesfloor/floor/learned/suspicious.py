"""Rows whose label or number models find hard to believe, and how many may be wrong.

Models that have not seen a row predict it. Classes and numbers differ in what makes a label doubtful (`doubt_labels`,
`doubt_numbers`); the list, the rows beside it and the record are the same.

**Classes.** With q the held-out probabilities, the odds that the label j of a row is wrong are taken to be

    Σ_{k ≠ j} w(k, j) q_k / q_j,

times a constant. With w = 1 this ranks rows by q_j alone (self-confidence). Mistakes often go one way, from a class k
to a class j, whereas classes that overlap are confused both ways. So w is what goes one way in the confident joint
(Northcutt, Jiang and Chuang 2021), relative to what goes both ways: 1 + excess(k, j) / base(k, j).

How many labels are wrong cannot be told from such probabilities alone: a share of wrong labels and classes that overlap
give the same q. What differs is where models disagree with labels. Overlap fades where models are sure; wrong labels do
not. Among the rows predicted to be of one class, the surer half disagrees with a share of α₁ of its labels and the rest
with α₂; for two normal distributions of equal covariance, α₁ = G(α₂) whatever their distance. A share ρ of wrong labels
adds to both, and is estimated as what makes the surer halves disagree as often as they do:

    m (ρ + c G((α₂ - ρ) / c)) = number of disagreements in the surer half of m rows,   c = 1 - ρ K / (K - 1),

for the rows of each predicted class by themselves: some classes overlap, and others do not. Where overlap explains many
of the disagreements, what it explains is known badly: one standard error of it is granted. No more labels are wrong
than disagree: a model without the row of a wrong label is surer there, so that surer halves may have most of them. The
lower end of the range solves the same for all classes together, for the lower end of that number and of what overlap
explains. It is 0 where surer halves do not surely disagree less than the others: noise that is the same everywhere
does that, and nothing tells it from wrong labels. Wrong labels may also hide in the overlap, as many as there would be
if label and truth were drawn from q apart from each other: Σ (1 - q_j) is the upper end.

**Numbers.** Residuals are divided by the noise there. What is left follows Student's t, above and below the prediction
apart, but for a share of mistakes, which may have any size up to the largest. Many large residuals are noise of long
tails, and a few that stand apart are mistakes: where these make the sizes of all residuals 100 times as likely as noise
alone does, p-values are tails of t, averaged over degrees of freedom, scales and shares by the same likelihood. They
are adjusted for the number of rows (Benjamini and Hochberg 1995). The longer the tails, the farther a row has to be:
with 3 degrees of freedom few mistakes can be told from noise. Noise is not held to have longer tails than that: rows
that these reach are listed.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, expit, gammaln, ndtr, ndtri, stdtr, stdtrit

from bayesfloor.learn.nearest import nearest_rows
from bayesfloor.runtime.arrays import Bools, Floats, Ints, Range
from bayesfloor.runtime.results import Result
from bayesfloor.runtime.text import exact_percent

#: Chance of being wrong from which a label is listed: rather wrong than right.
LISTED_LABEL = 0.5
#: Of the numbers listed, the expected share of those that are noise, at the most.
FALSE_NUMBERS = 0.05
#: Rows that are listed, at the most: nobody goes through more by hand.
MOST_LISTED = 1000
#: Rows beside each listed one.
N_BESIDE = 5
#: Confusions that count as going both ways before any was seen, among all pairs of classes.
_PRIOR_CONFUSIONS = 3.0
#: Fewest rows predicted to be of a class that are cut into a surer half and the rest.
_FEWEST_TO_HALVE = 4
#: Shares of wrong labels that are tried.
_N_SHARES = 2001
#: Least probability of a class, so that odds are finite.
_LEAST = 1e-12
#: Degrees of freedom of the noise: from those below which even one number far off is no news, to nearly normal tails.
_DEGREES = np.geomspace(3.0, 100.0, 12)
#: Shares of numbers that are mistakes.
_MISTAKES = np.array([0.003, 0.01, 0.02, 0.04, 0.08])
#: Scales of the noise beside what the median says: how many, and how far their logarithms go, times the root of rows.
_N_SCALES, _REACH_OF_SCALES, _LEAST_REACH, _MOST_REACH = 15, 5.0, 0.1, 0.45
#: How many times as likely mistakes have to make the residuals as noise alone.
_SURE_OF_MISTAKES = 100.0


@dataclass(frozen=True, eq=False, repr=False)
class SuspiciousRows(Result, rows="row given suggested score"):
    """Rows whose label, or number, models that have not seen them find hard to believe, the most doubtful first.

    `frame` has a row for each. None is listed where nothing stands out: where models agree with the labels, or disagree
    no more than classes that overlap, or noise, explain.

    Attributes
    ----------
    row : ndarray of shape (n_listed,)
        Where they stand among the rows given.
    given, suggested : ndarray of shape (n_listed,)
        Their labels, and those that models hold most likely instead; numbers as they are, and as predicted.
    score : ndarray of shape (n_listed,)
        Of classes the chance that the label is wrong, at least .5. Of numbers 1 less the share of noise that is
        expected among the rows up to this one, at least .95.
    z : ndarray of shape (n_listed,)
        How far the number is from the prediction, in standard deviations of the noise there. Of classes the logarithm
        of the odds that rank all rows, which are those of a wrong label times a constant.
    neighbours : ndarray of shape (n_listed, n_beside)
        Nearest of the tested rows, among the rows given, the nearest first: of classes, those of the suggested label.
        -1 where there are no more.
    n_wrong : float
        How many labels of the tested rows are wrong, as far as that can be told from overlapping classes or noise.
    n_wrong_interval : (float, float)
        Where that number lies. Of classes, the lower end has what overlap does not explain where that is seen to fade,
        and is 0 otherwise, as with noise that is the same everywhere; the upper end has the wrong labels that may hide
        in it. Of numbers, mistakes smaller than the noise are not counted.
    n_tested, n_samples : int
        Rows that were tested, and can be listed; rows given.
    confidence : float
        Level of the interval.
    n_drawn : int or None
        Rows that were drawn at random where all are too many for memory: `row` and `neighbours` then count these, in
        the order of the table, as `read_table` of it with the same `random_state` does. None where they count all rows.
    """

    row: Ints
    given: NDArray[Any]
    suggested: NDArray[Any]
    score: Floats
    z: Floats
    neighbours: Ints
    n_wrong: float
    n_wrong_interval: Range
    n_tested: int
    n_samples: int
    confidence: float
    n_drawn: int | None = None

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        low, high = self.n_wrong_interval
        return (
            f"SuspiciousRows({len(self)} listed, {self.n_wrong:.0f} wrong, {exact_percent(self.confidence)} interval "
            f"{low:.0f} to {high:.0f}, {self.n_tested} of {self.n_samples} samples tested"
            f"{'' if self.n_drawn is None else f', rows counted among {self.n_drawn} that were drawn'})"
        )


class Doubts(NamedTuple):
    """How doubtful the label of each tested row is.

    Attributes
    ----------
    score, z : ndarray of shape (n,)
        As in `SuspiciousRows`; `z` ranks the rows.
    is_listed : ndarray of shape (n,)
        Which stand out.
    n_wrong : float
        Wrong labels, and where their number lies.
    interval : (float, float)
    """

    score: Floats
    z: Floats
    is_listed: Bools
    n_wrong: float
    interval: Range

    def of_nothing_learned(self) -> "Doubts":
        """Return what is left where models tell nothing: any number of labels may be wrong, and none stands out."""
        return Doubts(np.zeros(len(self.z)), self.z, np.zeros(len(self.z), bool), 0.0, (0.0, self.interval[1]))


def doubt_labels(q: Floats, codes: Ints, confidence: float = 0.95) -> Doubts:
    """Tell how likely the label of each row is wrong.

    Parameters
    ----------
    q : ndarray of shape (n, n_classes)
        Probabilities by models that have not seen the row.
    codes : ndarray of shape (n,)
        The labels.
    confidence : float, default=0.95
        Level of the range of how many are wrong.

    Returns
    -------
    Doubts
    """
    places = np.arange(len(codes))
    of_label = np.maximum(q[places, codes], _LEAST)
    weights = one_way(q, codes)[:, codes].T
    weights[places, codes] = 0.0
    log_odds = np.log(np.maximum((weights * q).sum(axis=1), _LEAST)) - np.log(of_label)
    of_class, low = _beyond_overlap(q, codes, confidence)
    predicted, n_wrong = q.argmax(axis=1), float(of_class.sum())
    # a second draw from q differs from the label with a chance of 1 - q_j
    doubt = np.clip(1.0 - of_label, 0.0, 1.0)
    high = float(doubt.sum()) + float(ndtri(0.5 + 0.5 * confidence)) * float((doubt * of_label).sum()) ** 0.5
    score = np.zeros(len(codes))
    for k in np.flatnonzero(of_class):
        rows = np.flatnonzero(predicted == k)
        score[rows] = _chances(log_odds[rows], float(of_class[k]))
    is_listed = (score >= LISTED_LABEL) & (predicted != codes)
    return Doubts(score, log_odds, is_listed, n_wrong, (low, min(max(high, n_wrong), float(len(codes)))))


def is_one_of_its_group(q: Floats, codes: Ints, groups: Ints) -> Bools:
    """Tell which rows are of a group that models mostly get right.

    Where they get most rows of a patient or a machine wrong, it is that one which differs from the others, and not its
    labels that are wrong.

    Parameters
    ----------
    q, codes
        As for `doubt_labels`.
    groups : ndarray of shape (n,)
        The group of each row, from 0.

    Returns
    -------
    ndarray of shape (n,)
    """
    n_wrong = np.bincount(groups, q.argmax(axis=1) != codes)
    sizes = np.bincount(groups)
    return np.asarray((n_wrong < 0.5 * sizes) | (sizes == 1))[groups]


def one_way(q: Floats, codes: Ints) -> Floats:
    """Return how much likelier a class k is mistaken for a class j than overlap makes it: at least 1.

    Parameters
    ----------
    q : ndarray of shape (n, n_classes)
        Probabilities by models that have not seen the row.
    codes : ndarray of shape (n,)
        The labels.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
    """
    n_classes = q.shape[1]
    counts = np.bincount(codes, minlength=n_classes).astype(np.float64)
    of_label = np.bincount(codes, q[np.arange(len(codes)), codes], n_classes)
    # a row is surely of a class where this is as likely as it is on average among rows of that label
    threshold = np.where(counts > 0, of_label / np.maximum(counts, 1.0), np.inf)
    above = np.where(q >= threshold, q, -1.0)
    sure = above.max(axis=1) >= 0.0
    joint = np.zeros((n_classes, n_classes))
    np.add.at(joint, (above.argmax(axis=1)[sure], codes[sure]), 1.0)
    np.fill_diagonal(joint, 0.0)
    both_ways = np.minimum(joint, joint.T)
    pairs = np.outer(counts, counts)
    np.fill_diagonal(pairs, 0.0)
    base = pairs * (both_ways.sum() + _PRIOR_CONFUSIONS) / max(pairs.sum(), 1.0)
    return np.asarray(1.0 + np.divide(joint - both_ways, base, out=np.zeros_like(base), where=base > 0))


def _beyond_overlap(q: Floats, codes: Ints, confidence: float) -> tuple[Floats, float]:
    """Return how many labels of the rows predicted to be of each class are wrong, and the lower end for all of them."""
    predicted, n_classes = q.argmax(axis=1), q.shape[1]
    sizes, rest, n_sure, n_both = np.zeros((4, n_classes))
    n_rows = np.bincount(predicted, minlength=n_classes)
    for k in np.flatnonzero(n_rows >= _FEWEST_TO_HALVE):
        rows = np.flatnonzero(predicted == k)
        _, place = np.unique(-q[rows, k], return_inverse=True)
        # rows that models are equally sure of may be cut apart: each counts as their mean
        is_wrong = (np.bincount(place, codes[rows] != k) / np.bincount(place))[np.sort(place)]
        half = len(rows) // 2
        sizes[k], n_sure[k], n_both[k] = half, is_wrong[:half].sum(), is_wrong.sum()
        rest[k] = (n_both[k] - n_sure[k] + 0.5) / (len(rows) - half + 1.0)
    # what overlap explains is known no better than how often the other halves disagree
    slopes = np.interp(rest, overlap_curve()[0], np.gradient(*overlap_curve()[::-1]))
    variance = sizes * slopes**2 * rest * (1.0 - rest)
    n_wrong = np.zeros(n_classes)
    for k in np.flatnonzero(n_sure):
        count = float(n_sure[k] - variance[k] ** 0.5)
        n_wrong[k] = min(n_rows[k] * _share_wrong(count, sizes[k : k + 1], rest[k : k + 1], n_classes), n_both[k])
    total, found = float(sizes.sum()), float(n_sure.sum())
    tail, share = 0.5 - 0.5 * confidence, float(n_both.sum()) / max(2.0 * total, 1.0)
    faded = share * total - found  # of the halves' difference, the half
    if not found or faded <= ndtri(1.0 - tail) * (0.5 * total * share * (1.0 - share)) ** 0.5:
        return n_wrong, 0.0
    below = found - total * float(betaincinv(found, total - found + 1.0, tail))
    fewest = found - float(np.hypot(below, ndtri(1.0 - tail) * variance.sum() ** 0.5))
    low = len(codes) * _share_wrong(fewest, sizes, rest, n_classes)
    return n_wrong, min(low, float(n_wrong.sum()))


def _share_wrong(count: float, sizes: Floats, rest: Floats, n_classes: int) -> float:
    """Return the least share of wrong labels that, beside overlap, explains so many disagreements in surer halves."""
    shares = np.linspace(0.0, (n_classes - 1) / n_classes, _N_SHARES)[:-1]
    kept = 1.0 - shares * n_classes / (n_classes - 1)
    left = np.clip((rest - shares[:, np.newaxis]) / kept[:, np.newaxis], 0.0, None)
    expected = (shares[:, np.newaxis] + kept[:, np.newaxis] * np.interp(left, *overlap_curve())) @ sizes
    enough = np.flatnonzero(expected >= count)
    if not len(enough):
        return float(shares[-1])
    first = int(enough[0])
    if first == 0:
        return 0.0
    return float(np.interp(count, expected[first - 1 : first + 1], shares[first - 1 : first + 1]))


@cache
def overlap_curve() -> tuple[Floats, Floats]:
    """Return how often two normal classes are confused, for many distances between them.

    Rows are those predicted to be of one of the classes, N(±δ/2, 1), each as frequent as the other. Beyond a point t
    lie as many of them as before it, of which Φ(-t - δ/2) / 2 are of the other class.

    Returns
    -------
    of_rest, of_sure : ndarray
        Shares of the other class in the half nearer to the boundary, ascending, and in the surer half.
    """
    half = 0.5 * np.linspace(12.0, 0.0, 400)
    low, high = np.zeros_like(half), half + 12.0
    for _ in range(60):
        t = 0.5 * (low + high)
        is_less = 0.5 * (ndtr(half - t) + ndtr(-half - t)) < 0.25
        low, high = np.where(is_less, low, t), np.where(is_less, t, high)
    beyond = ndtr(-half - 0.5 * (low + high))
    return 2.0 * (ndtr(-half) - beyond), 2.0 * beyond


def _chances(log_odds: Floats, n_wrong: float) -> Floats:
    """Return chances that have these odds, times a constant, and sum up to the number that is wrong."""
    low, high = -float(log_odds.max()) - 40.0, -float(log_odds.min()) + 40.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if float(expit(log_odds + middle).sum()) < n_wrong else (low, middle)
    return np.asarray(expit(log_odds + 0.5 * (low + high)))


def doubt_numbers(z: Floats, confidence: float = 0.95, *, seen: Floats | None = None) -> Doubts:
    """Tell which numbers are farther from their prediction than noise.

    Parameters
    ----------
    z : ndarray of shape (n,)
        Residuals in standard deviations of the noise.
    confidence : float, default=0.95
        Level of the range of how many are too far.
    seen : ndarray of shape (n,) or None, default=None
        The part of each residual that other evidence confirms; None for all of it. It is what decides, and `z` tells
        what noise does.

    Returns
    -------
    Doubts
    """
    seen, n = z if seen is None else seen, len(z)
    p = np.ones(n)
    for side in (z > 0.0, z < 0.0):  # noise may reach farther up than down
        if side.any():
            p[side] = noise_beyond(np.abs(z[side]), np.abs(seen[side]))
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(n)
    adjusted[order] = np.minimum.accumulate((p[order] * n / np.arange(1, n + 1))[::-1])[::-1]
    is_listed = adjusted <= FALSE_NUMBERS
    adjusted = np.minimum(adjusted, 1.0)
    # beyond the least residual that is listed: how many there are, and how many of them noise explains
    n_listed = int(is_listed.sum())
    expected = n * float(p[is_listed].max()) if n_listed else 0.0
    tail = 0.5 - 0.5 * confidence
    low = n * float(betaincinv(n_listed, n - n_listed + 1, tail)) if n_listed else 0.0
    high = n * float(betaincinv(n_listed + 1, n - n_listed, 1.0 - tail)) if n_listed < n else float(n)
    interval = max(low - expected, 0.0), max(high - expected, 0.0)
    return Doubts(1.0 - adjusted, seen, is_listed, max(n_listed - expected, 0.0), interval)


def noise_beyond(sizes: Floats, least: Floats) -> Floats:
    """Return how likely noise is at least so large, or 1 where nothing shows that sizes are more than noise.

    Parameters
    ----------
    sizes : ndarray of shape (n,)
        Of residuals, a few of which may be mistakes.
    least : ndarray of shape (m,)
        The sizes asked for.

    Returns
    -------
    ndarray of shape (m,)
    """
    unit = max(float(np.median(sizes)), _LEAST)
    reach = float(np.clip(_REACH_OF_SCALES / len(sizes) ** 0.5, _LEAST_REACH, _MOST_REACH))
    scales = unit * np.exp(np.linspace(-reach, reach, _N_SCALES)) / stdtrit(_DEGREES, 0.75)[:, np.newaxis]
    of_mistakes = 1.0 / max(float(sizes.max()), unit)
    logs = np.empty((*scales.shape, 1 + len(_MISTAKES)))
    constants = gammaln(0.5 * _DEGREES + 0.5) - gammaln(0.5 * _DEGREES) - 0.5 * np.log(0.25 * np.pi * _DEGREES)
    for of_degrees, degrees, scale, constant in zip(logs, _DEGREES, scales[..., np.newaxis], constants, strict=True):
        of_noise = constant - np.log(scale) - (0.5 * degrees + 0.5) * np.log1p((sizes / scale) ** 2 / degrees)
        of_degrees[:, 0], of_noise = of_noise.sum(axis=1), np.exp(of_noise)
        for k, share in enumerate(_MISTAKES, 1):
            of_degrees[:, k] = np.log((1.0 - share) * of_noise + share * of_mistakes).sum(axis=1)
    likelihood = np.exp(logs - logs.max())
    found, told = np.ones(len(least)), np.flatnonzero(least > 0.0)
    if likelihood[..., 1:].sum() < _SURE_OF_MISTAKES * len(_MISTAKES) * likelihood[..., 0].sum():
        return found
    weights = likelihood[..., 1:].sum(axis=-1)
    tails = 2.0 * stdtr(_DEGREES[:, np.newaxis, np.newaxis], -least[told] / scales[..., np.newaxis])
    found[told] = np.einsum("ds,dsn->n", weights / weights.sum(), tails)
    return found


def list_rows(
    doubts: Doubts,
    given: NDArray[Any],
    suggested: NDArray[Any],
    points: Floats,
    places: Ints,
    *,
    n_samples: int,
    confidence: float,
    of_suggested: bool,
    n_drawn: int | None = None,
) -> SuspiciousRows:
    """List the rows that stand out, each with the rows that are nearest to it.

    Parameters
    ----------
    doubts : Doubts
        Of the tested rows.
    given, suggested : ndarray of shape (n,)
        Their labels, and what models say.
    points : ndarray of shape (n, d)
        Where they are.
    places : ndarray of shape (n,)
        Where they stand among the rows given.
    n_samples : int
        How many were given.
    confidence : float
        Level of the range.
    of_suggested : bool
        Whether the rows beside a listed one are those whose label is the suggested one, or any.
    n_drawn : int or None, default=None
        How many were drawn, where that are not all of the table.

    Returns
    -------
    SuspiciousRows
    """
    listed = np.flatnonzero(doubts.is_listed)
    listed = listed[np.lexsort((-np.abs(doubts.z[listed]), -doubts.score[listed]))][:MOST_LISTED]
    beside = np.full((len(listed), N_BESIDE), -1)
    for label in np.unique(suggested[listed]) if of_suggested else [None]:
        own = np.flatnonzero(suggested[listed] == label) if of_suggested else np.arange(len(listed))
        pool = np.flatnonzero(given == label) if of_suggested else np.arange(len(points))
        near = nearest_others(points, listed[own], pool)
        beside[own, : near.shape[1]] = places[near]
    return SuspiciousRows(
        row=places[listed],
        given=given[listed],
        suggested=suggested[listed],
        score=doubts.score[listed],
        z=doubts.z[listed],
        neighbours=beside,
        n_wrong=doubts.n_wrong,
        n_wrong_interval=doubts.interval,
        n_tested=len(places),
        n_samples=n_samples,
        confidence=confidence,
        n_drawn=n_drawn,
    )


def nearest_others(points: Floats, rows: Ints, pool: Ints) -> Ints:
    """Return the nearest rows of a pool for some rows, themselves left out; as many as there are, up to `N_BESIDE`."""
    n_near = min(N_BESIDE, len(pool) - int(np.isin(rows, pool).any()))
    if n_near <= 0 or not len(rows):
        return np.empty((len(rows), max(n_near, 0)), np.int64)
    nearest = pool[nearest_rows(points[pool], points[rows], n_near + 1)]
    is_left_out = nearest == rows[:, np.newaxis]
    # a row is nearest to itself, unless others are equal to it or it is not in the pool
    is_left_out[~is_left_out.any(axis=1), -1] = True
    if nearest.shape[1] == n_near:  # the pool has no more
        return nearest
    return nearest[~is_left_out].reshape(len(rows), n_near)
