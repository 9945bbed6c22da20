"""The floor of subgroups, from the stacks of one fit: what was reached among their rows, less what is left to learn.

The learning curve of a small subgroup alone is too noisy to extrapolate. All rows share their curve instead, and a
subgroup has its own level r_g and its own share of what is left to learn:

    floor_g = r_g - ρ_g (r - floor)

r and the floor are those of all rows. ρ_g is by how much the error of the subgroup falls from the smallest training
sets to the largest, as a multiple of the fall among all rows, drawn to 1 as far as few rows leave it open. The lower
arm of the interval adds, by their squares, that of r_g and that of the whole curve at a ρ_g one standard deviation
larger. It reaches down to 0 where the stack is not surely better than chance in the subgroup, or has only begun to be:
there, noise and a rule that was not learnt look the same.

======  ====================================================================
BF041   subgroups differ in their errors
======  ====================================================================
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtri

from bayesfloor.data.row_groups import Subgroups
from bayesfloor.floor.learned.certainty import proportion_interval
from bayesfloor.floor.learned.counted_rows import (
    PlainRows,
    clustered_error,
    effective_rows,
    rows_worth,
    weighted_values,
)
from bayesfloor.floor.learned.result import SubgroupFloors
from bayesfloor.floor.learned.rules import fall_as_fast
from bayesfloor.floor.learned.stacking import Stack
from bayesfloor.floor.learned.summary import FEW_ERRORS, GROWTH, N_DOUBLINGS, CurveSummary
from bayesfloor.runtime.arrays import Bools, Floats, Ints, Range
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.text import listed, percent, percent_range, shown

#: Rows below which nothing is said of a subgroup's floor.
FEWEST_ROWS = 5
#: Standard deviation of ρ before a subgroup's own curve is looked at.
SPREAD = 0.5
#: Standard errors by which the stack must be right more often than by chance for its errors to tell of a floor.
BEYOND_CHANCE = 3.0
#: Random draws of a test: p-values have steps of 1/2000.
N_DRAWS = 1999
#: Values of draws that are computed at once, to bound memory.
MOST_VALUES = 2_000_000
#: Chance of errors that differ as much, below which finding BF041 is reported.
SURELY_DIFFER = 0.01
#: The same of floors, once the errors surely differ.
FLOORS_DIFFER = 0.05
#: Share of a subgroup's extra error that its floor may have for it to be called no higher.
NO_HIGHER = 0.25


class _Excess(NamedTuple):
    """What all rows have left to learn, its lower arm, and how far the error of each row fell."""

    expected: float
    arm: float
    fall: Floats


class _Figures(NamedTuple):
    estimate: float = np.nan
    interval: Range = (0.0, 1.0)
    reached: float = np.nan
    reached_interval: Range = (0.0, 1.0)


def subgroup_floors(
    stacks: list[Stack],
    whole: CurveSummary,
    by: Subgroups,
    n_samples: Ints,
    rows: PlainRows,
    confidence: float,
    *,
    clusters: Ints | None = None,
    in_time: bool = False,
    is_unseen: Bools | None = None,
    seed: int = 0,
) -> SubgroupFloors:
    """Estimate the floor of each subgroup.

    Parameters
    ----------
    stacks : list of Stack
        Predictions at each size, the largest first.
    whole : CurveSummary
        What is known of all rows.
    by : Subgroups
        The subgroup of each row.
    n_samples : ndarray of shape (n_groups,)
        Rows given of each subgroup.
    rows : PlainRows
        Classes of the rows, and what each row counts.
    confidence : float
        Level of the intervals.
    clusters : ndarray of shape (n,) or None, default=None
        Rows that err alike have the same number; None where all are independent.
    in_time : bool, default=False
        Whether smaller training sets are more recent ones.
    is_unseen : ndarray of shape (n,) or None, default=None
        Rows whose class no other group has: that they count as errors says nothing about the floor.
    seed : int, default=0
        Seeds the random draws of the test.

    Returns
    -------
    SubgroupFloors
    """
    codes, n_groups = rows.codes, len(by.names)
    errors = [(stack.models.argmax(axis=-1) != codes).mean(axis=0) for stack in stacks]
    if whole.q is not None:
        errors[0] = (whole.q.argmax(axis=-1) != codes).mean(axis=0)
    weights = rows.weights
    unseen = np.zeros(len(codes), bool) if is_unseen is None else is_unseen
    arm_of_rows = whole.reached - whole.reached_interval[0]
    left = max(whole.reached - whole.estimate, 0.0)
    arm = max(max((whole.reached - whole.curve_low) ** 2 - arm_of_rows**2, 0.0) ** 0.5, left)
    excess = _Excess(left, arm, errors[-1] - errors[0])
    found = []
    for code in range(n_groups):
        own = np.flatnonzero(by.codes == code)
        of_own = None if clusters is None else clusters[own]
        part = _Part(codes[own], weights[own], of_own, len(rows.class_counts))
        found.append(_figures_of(part, own, stacks, errors, excess, weights, whole, confidence, in_time, unseen))
    estimate, interval, reached, reached_interval = map(np.array, zip(*found, strict=True))
    wrong = weights * errors[0]
    of_rows = np.bincount(by.codes, weights, minlength=n_groups)
    of_errors = np.bincount(by.codes, wrong, minlength=n_groups)
    return SubgroupFloors(
        column=by.column,
        names=by.names,
        estimate=estimate,
        interval=interval,
        reached=reached,
        reached_interval=reached_interval,
        share=of_rows / of_rows.sum(),
        share_of_errors=of_errors / max(of_errors.sum(), 1e-300),
        n_samples=n_samples,
        n_rows=np.bincount(by.codes, minlength=n_groups),
        reached_p_value=errors_differ(errors[0], by.codes, weights, clusters, seed),
        floor_p_value=floors_differ(estimate, interval, confidence),
        confidence=confidence,
        note=" ".join([*([by.note] if by.note else []), *_too_few(by, np.isnan(estimate))]),
    )


def _too_few(by: Subgroups, is_too_few: Bools) -> list[str]:
    """Name the subgroups of whose floor nothing can be said."""
    named = [shown(by.names[code]) for code in np.flatnonzero(is_too_few)]
    return [f"Too few rows, fewer than {FEWEST_ROWS}, to tell a floor: {listed(named)}."] if named else []


class _Part:
    """Rows of one subgroup, and what each counts."""

    def __init__(self, codes: Ints, weights: Floats, clusters: Ints | None, n_classes: int) -> None:
        self.codes = codes
        self.clusters = clusters
        self.n_classes = n_classes
        self._relative = weights / weights.mean() if len(weights) else weights

    def weighted(self, values: Floats) -> Floats:
        """Return values whose mean is the weighted one; their variance, divided by n, is that mean's."""
        return weighted_values(values, self._relative)

    def standard_error(self, values: Floats) -> float:
        """Return the standard error of a mean of such values."""
        n = len(values)
        error = values.std() / n**0.5 if self.clusters is None else clustered_error(values, self.clusters)
        return max(float(error), 1e-12 / n**0.5)

    def class_counts(self) -> Floats:
        """Return what the rows of each class count."""
        counts: Floats = np.bincount(self.codes, self._relative, minlength=self.n_classes).astype(np.float64)
        return counts

    def beyond_chance(self, named: Ints) -> Floats:
        """Return values whose mean is by how much more often classes are named rightly than by chance.

        The mean is the numerator of Cohen's kappa, and its variance theirs.
        """
        of_class = self.class_counts() / len(named)
        of_named = np.bincount(named, self._relative, minlength=self.n_classes) / len(named)
        return (named == self.codes) - of_class[named] - of_named[self.codes] + float(of_class @ of_named)

    def n_effective(self, errors: Floats, confidence: float) -> float:
        """Return how many independent rows of equal weight say as much about an error as these."""
        if self.clusters is not None:
            weights = self._relative if np.ptp(self._relative) > 0.0 else None
            return effective_rows(errors, self.clusters, confidence, weights)
        n = len(errors)
        if np.ptp(self._relative) == 0.0:
            return n
        if any(np.ptp(self._relative[self.codes == code]) > 0.0 for code in np.unique(self.codes)):
            return rows_worth(errors, self._relative, None, confidence)
        # within each class half an error and half a success are added, so that rows of weight may yet err
        n_of_class = np.bincount(self.codes, minlength=self.n_classes)
        error = (np.bincount(self.codes, errors, minlength=self.n_classes) + 0.5) / (n_of_class + 1.0)
        share = self.class_counts() / n
        mean = float(share @ error)
        within = float((share**2 * error * (1.0 - error) / np.maximum(n_of_class, 1)).sum())
        between = float(share @ (error - mean) ** 2) * float(self._relative @ self._relative) / n**2
        return mean * (1.0 - mean) / (within + between)


def _figures_of(
    part: _Part,
    own: Ints,
    stacks: list[Stack],
    errors: list[Floats],
    excess: _Excess,
    weights: Floats,
    whole: CurveSummary,
    confidence: float,
    in_time: bool,
    unseen: Bools,
) -> _Figures:
    """Return the figures of the rows `own`."""
    if not len(own):
        return _Figures()
    n = part.n_effective(errors[0][own], confidence)
    by_size = [part.weighted(of_size[own]) for of_size in errors]
    reached = float(by_size[0].mean())
    reached_interval = proportion_interval(round(reached * n, 6), n, confidence)
    most = min(reached_interval[1], 1.0 - 1.0 / part.n_classes)  # no classes are harder than even ones
    if len(own) < FEWEST_ROWS:
        return _Figures(np.nan, (0.0, most), reached, reached_interval)
    ratio, spread = _relative_fall(part, own, excess.fall, weights)
    estimate = float(np.clip(reached - ratio * excess.expected, 0.0, min(reached, most)))
    lower = reached - float(np.hypot(reached - reached_interval[0], (ratio + spread) * excess.arm))
    lower *= _trust(part, own, stacks, in_time)
    if not in_time and (fall := fall_as_fast(by_size, part.standard_error)) > 0.0:
        lower = min(lower, reached - N_DOUBLINGS * fall)
    lower -= float(part.weighted(unseen[own].astype(np.float64)).mean())
    if lower < FEW_ERRORS / n or whole.curve_low == 0.0:
        lower = 0.0
    return _Figures(estimate, (min(lower, estimate), most), reached, reached_interval)


def _relative_fall(part: _Part, own: Ints, fall: Floats, weights: Floats) -> tuple[float, float]:
    """Return ρ and its standard deviation: how far errors fell here, relative to all rows, drawn to 1."""
    of_all = float(np.average(fall, weights=weights))
    values = part.weighted(fall[own])
    # few rows may happen to fall alike: no less than rows vary among all
    error = max(part.standard_error(values), float(fall.std()) / len(own) ** 0.5)
    if of_all <= 0.0 or error == 0.0:
        return 1.0, SPREAD
    precision, prior = (of_all / error) ** 2, SPREAD**-2
    ratio = (prior + precision * float(values.mean()) / of_all) / (prior + precision)
    return max(ratio, 0.0), (prior + precision) ** -0.5


def _trust(part: _Part, own: Ints, stacks: list[Stack], in_time: bool) -> float:
    """Return 1 where the stack surely learns what there is, 0 where nothing tells, as `summarise` does for all rows.

    What counts is not the lead over the largest class, which is small where a subgroup is mostly of one class, but how
    much more often the stack is right than one with the same answers in another order.
    """
    largest, smallest = (
        part.weighted(np.mean([part.beyond_chance(model[own].argmax(axis=-1)) for model in stack.models], axis=0))
        for stack in (stacks[0], stacks[-1])
    )
    lead = float(largest.mean())
    if lead < BEYOND_CHANCE * part.standard_error(largest):
        return 0.0
    begin, end = GROWTH
    growth = 1.0 if in_time else lead / max(float(smallest.mean()), part.standard_error(smallest))
    return float(np.clip((end - growth) / (end - begin), 0.0, 1.0))


def errors_differ(errors: Floats, codes: Ints, weights: Floats, clusters: Ints | None = None, seed: int = 0) -> float:
    """Test whether subgroups differ in their error, by dealing errors out anew.

    Rows change places with each other; where rows belong together, clusters of one subgroup do as a whole, and rows
    of a cluster that has several subgroups do within it. The distance of the subgroups' sums from what they are on
    average, in the metric of their covariance, is compared with that of the data.

    Parameters
    ----------
    errors : ndarray of shape (n,)
        1 where a row is predicted wrongly, else 0.
    codes : ndarray of shape (n,)
        The subgroup of each row.
    weights : ndarray of shape (n,)
        What each row counts.
    clusters : ndarray of shape (n,) or None, default=None
        Rows that err alike have the same number.
    seed : int, default=0
        Seeds the draws.

    Returns
    -------
    float
        The p-value, at least 1/2000; 1 where there is one subgroup only, or no error.
    """
    _, codes = np.unique(codes, return_inverse=True)
    sizes, n_wrong = np.bincount(codes), round(float(errors.sum()))
    if len(sizes) < 2 or n_wrong in (0, len(errors)):
        return 1.0
    rng = np.random.default_rng(seed)
    if clusters is None and np.ptp(weights) == 0.0:
        return _p_value(
            np.bincount(codes, errors), rng.multivariate_hypergeometric(sizes, n_wrong, N_DRAWS, method="marginals")
        )
    clusters = np.arange(len(errors)) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    away = weights * (errors - np.average(errors, weights=weights))
    of_cluster = np.zeros(int(clusters.max()) + 1, np.int64)
    of_cluster[clusters] = codes
    is_mixed = np.bincount(clusters, codes != of_cluster[clusters]) > 0
    drawn = _dealt_out(np.bincount(clusters, away)[~is_mixed], of_cluster[~is_mixed], len(sizes), rng)
    order = np.argsort(clusters, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(clusters))[:-1]):
        if is_mixed[clusters[rows[0]]]:
            drawn += _dealt_out(away[rows], codes[rows], len(sizes), rng)
    return _p_value(np.bincount(codes, away), drawn)


def _dealt_out(values: NDArray[Any], places: Ints, n_groups: int, rng: np.random.Generator) -> Floats:
    """Return the sums of values by group, in which values change places at random, for each draw."""
    at_once = max(MOST_VALUES // max(len(values), 1), 1)
    members = np.eye(n_groups)[places]
    parts = [min(at_once, N_DRAWS - start) for start in range(0, N_DRAWS, at_once)]
    return np.concatenate([rng.permuted(np.tile(values, (n, 1)), axis=1) @ members for n in parts])


def _p_value(observed: NDArray[Any], drawn: NDArray[Any]) -> float:
    """Return the share of draws that are as far from their mean as the data are; the data themselves are one."""
    middle = drawn.mean(axis=0)
    inverse = np.linalg.pinv(np.cov(drawn.T), hermitian=True)
    far, own = (np.einsum("...g,gh,...h->...", away, inverse, away) for away in (drawn - middle, observed - middle))
    return float((1 + np.count_nonzero(far >= own * (1.0 - 1e-9))) / (len(drawn) + 1))  # rounding parts no ties


def floors_differ(estimate: Floats, interval: Floats, confidence: float) -> float:
    """Test whether some one floor is within reach of all subgroups, as far as their intervals tell.

    Each interval is read as two halves of normal distributions, one on each side of the estimate. One that begins at 0
    is open: it rules out no lower floor.

    Parameters
    ----------
    estimate : ndarray of shape (n_groups,)
        Floors; NaN where they are not known.
    interval : ndarray of shape (n_groups, 2)
        Their intervals.
    confidence : float
        Level of the intervals.

    Returns
    -------
    float
        The p-value; 1 for fewer than two subgroups.
    """
    known = ~np.isnan(estimate)
    estimate, (low, high) = estimate[known], interval[known].T
    if len(estimate) < 2:
        return 1.0
    z = float(ndtri(0.5 + 0.5 * confidence))
    below = np.where(low > 0.0, np.maximum(estimate - low, 1e-12), np.inf) / z
    above = np.maximum(high - estimate, 1e-12) / z
    common = np.linspace(estimate.min(), estimate.max(), 400)[:, np.newaxis]
    distance = (estimate - common) / np.where(estimate > common, below, above)
    return float(chdtrc(len(estimate) - 1, (distance**2).sum(axis=1).min()))


def find_in_subgroups(found: SubgroupFloors, whole: CurveSummary) -> Iterator[Finding]:
    """Say which subgroup errs most, and whether that lies in the data or in the models."""
    if found.reached_p_value >= SURELY_DIFFER:
        return
    others = np.maximum(1.0 - found.share, 1e-12)
    reached_of_others = np.maximum(whole.reached - found.share * found.reached, 0.0) / others
    is_higher = (found.n_rows >= FEWEST_ROWS) & (found.reached > reached_of_others)
    if not is_higher.any():
        return
    worst = int(np.where(is_higher, found.reached_interval[:, 0], -1.0).argmax())
    of_others = float(reached_of_others[worst])
    reached, floor = float(found.reached[worst]), float(found.estimate[worst])
    floor_of_others = max(whole.estimate - found.share[worst] * floor, 0.0) / float(others[worst])
    low, high = found.interval[worst]
    name = f"Rows with {shown(found.names[worst])} in {shown(found.column)}"
    sentence = f"{name} are predicted wrongly {_times(reached, of_others, 'often as the others')}"
    if found.floor_p_value < FLOORS_DIFFER and low > floor_of_others:
        yield Finding(
            "BF041",
            f"{sentence}, and their floor is {_times(floor, floor_of_others, 'high as theirs')}.",
            "More or better columns are needed for them, not another model.",
        )
    elif floor - floor_of_others <= NO_HIGHER * (reached - of_others):
        yield Finding(
            "BF041",
            f"{sentence}, but as far as the learning curve tells, their floor is no higher ({percent(floor)} against "
            f"{percent(floor_of_others)}).",
            "A better model for them, or more rows of them, would help.",
        )
    else:
        yield Finding(
            "BF041",
            f"{sentence}. Whether their floor is higher too cannot be told: it lies within "
            f"{percent_range(float(low), float(high))}, that of the others is about {percent(floor_of_others)}.",
            "More of their rows would tell whether better columns or a better model are needed.",
        )


def _times(one: float, other: float, than: str) -> str:
    """Compare two rates: by a factor where there is one."""
    factor = f"{one / other:.1f}" if other > 0.0 else "many"
    return f"{factor} times as {than} ({percent(one)} against {percent(other)})"
