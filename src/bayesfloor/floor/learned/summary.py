"""From the stack's predictions at three training sizes to the floor, its interval and findings.

======  ====================================================================
BF021   a sample of the rows was used
BF022   a class with fewer rows than folds
BF023   nothing beats always naming the largest class
BF024   neighbours err alike: there is signal that no learner caught
BF025   the error still falls with more rows
BF026   a class so rare that the error says little of it
======  ====================================================================
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.stats import beta

from bayesfloor.floor.learned.cross_fitting import VIEWS
from bayesfloor.floor.learned.learning_curve import curve_posterior, split_posterior
from bayesfloor.floor.learned.result import LearningCurve
from bayesfloor.floor.learned.stack_errors import hard_and_soft, middle_error
from bayesfloor.floor.learned.stacking import Stack
from bayesfloor.floor.learned.strata import PlainRows
from bayesfloor.floor.trees.problem import Problem
from bayesfloor.runtime.arrays import Bools, Floats, Ints, Range
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.text import listed, shown

#: Errors, in rows, below which the lower end of the interval is 0: so few do not rule out a floor of 0.
FEW_ERRORS = 5
#: Residual z from which neighbours are said to err alike: one in a hundred data sets has it by chance.
ERR_ALIKE = 2.33
#: Factor on the lower arm of the interval where neighbours err alike.
WIDER = 1.5
#: Standard errors by which the stack must beat the largest class for that to count in full.
SURE = 2.0
#: Share of the error that more rows are expected to remove, from which finding BF025 is reported.
STILL_FALLING = 0.15
#: Share of an equal part of the rows below which a class is rare: 5% of two classes, 1% of ten.
RARE = 0.1
#: Share of rows outside of the largest class below which the error is as good as that of never naming the others.
FEW_OTHERS = 0.05


class CurveSummary(NamedTuple):
    """The floor, and what it was read from; the fields are those of `LearnedFloor`."""

    estimate: float
    interval: Range
    reached: float
    reached_interval: Range
    majority_error: float
    beats_majority: bool
    curve: LearningCurve


def summarise(
    stacks: list[Stack],
    sizes: Floats,
    codes: Ints,
    n_classes: int,
    residual_z: float,
    confidence: float,
    rows: PlainRows | None = None,
) -> CurveSummary:
    """Extrapolate the errors of the stacks.

    Parameters
    ----------
    stacks : list of Stack
        Predictions at each size, the largest first.
    sizes : ndarray
        Training rows at each size.
    codes : ndarray of shape (n,)
        Classes of the rows.
    n_classes : int
        Number of classes.
    residual_z : float
        As from `residual_test`. Where neighbours err alike, the lower end is drawn further down.
    confidence : float
        Level of the intervals.
    rows : PlainRows or None, default=None
        What each row counts; None for the same.

    Returns
    -------
    CurveSummary
    """
    rows = PlainRows(codes, np.bincount(codes, minlength=n_classes)) if rows is None else rows
    counts = rows.class_counts
    largest = 1.0 - 1.0 / n_classes
    tail = (1.0 - confidence) / 2.0
    n_all, n_others = int(counts.sum()), int(counts.sum() - counts.max())
    majority_error = 1.0 - float(counts.max()) / n_all

    hard_rows, hard_errors, soft_errors, middle, of_averages = [], [], [], [], []
    for stack, n_views in zip(stacks, VIEWS, strict=True):
        hard, soft = (rows.weighted(of_views.mean(axis=0)) for of_views in hard_and_soft(stack.log_q, codes))
        hard_rows.append(hard)
        hard_errors.append(float(hard.mean()))
        soft_errors.append(float(soft.mean()))
        middle.append(middle_error(hard, soft))
        if n_views > 1:
            averaged = hard_and_soft(np.log(np.exp(stack.log_q).mean(axis=0)), codes)
            of_averages.append(middle_error(*map(rows.weighted, averaged)))
    relative = sizes / sizes[0]
    is_wrong = stacks[0].log_q[0].argmax(axis=-1) != codes
    variance, n = rows.variance(is_wrong), rows.n_equivalent(is_wrong)
    curve = curve_posterior(np.column_stack(middle), variance, relative, largest)
    split = split_posterior(
        np.column_stack([*middle, *of_averages]),
        variance,
        np.concatenate([relative, relative[1:]]),
        np.concatenate([np.ones(len(VIEWS)), VIEWS[1:]]),
        largest,
    )

    reached_interval = proportion_interval(round(hard_errors[0] * n, 6), n, confidence)
    estimate = 0.5 * (curve.mean + split.mean)
    lower = min(curve.quantile(tail), split.quantile(tail))
    upper = max(reached_interval[1], curve.quantile(1.0 - tail))
    # How surely the stack beats the largest class: not at all, 0, or by two standard errors and more, 1.
    gain = rows.weighted((codes != counts.argmax()).astype(np.float64)) - hard_rows[0]
    surely = float(np.clip(gain.mean() / (SURE * max(gain.std(), 1e-12) / len(gain) ** 0.5), 0.0, 1.0))
    if surely == 1.0:
        estimate = min(estimate, hard_errors[0])  # the floor is at most what a model attains
    else:
        estimate = surely * estimate + (1.0 - surely) * majority_error
        upper = max(upper, proportion_interval(n_others, n_all, confidence)[1])
    if residual_z > ERR_ALIKE:
        lower = min(lower, estimate - WIDER * (estimate - lower))
    if lower < FEW_ERRORS / n:
        lower = 0.0
    return CurveSummary(
        estimate=estimate,
        interval=(min(lower, estimate), max(upper, estimate)),
        reached=hard_errors[0],
        reached_interval=reached_interval,
        majority_error=majority_error,
        beats_majority=surely == 1.0,
        curve=LearningCurve(
            size=sizes,
            error=np.array(hard_errors),
            expected=np.array(soft_errors),
            middle=np.array([values.mean() for values in middle]),
            fitted=curve.fitted,
            limit=curve.mean,
            rate=_power(curve.fitted - curve.mean, relative),
        ),
    )


def proportion_interval(count: float, n: float, confidence: float) -> Range:
    """Return Clopper and Pearson's interval of a proportion; of a weighted one, with numbers that stand for it."""
    tail = (1.0 - confidence) / 2.0
    low = float(beta.ppf(tail, count, n - count + 1)) if count > 0 else 0.0
    high = float(beta.ppf(1.0 - tail, count + 1, n - count)) if count < n else 1.0
    return low, high


def _power(excess: Floats, relative: Floats) -> float:
    """Return the power of the size through both ends of a curve: a mean of power laws is no power law."""
    if not 0.0 < excess[0] < excess[-1]:
        return 1.0  # there is next to nothing to fall
    return float(np.log(excess[-1] / excess[0]) / -np.log(relative[-1]))


def find_in_learned(
    summary: CurveSummary, residual_z: float, problem: Problem, codes: Ints, n_folds: int
) -> Iterator[Finding]:
    """List what was found, in the order of the codes; `codes` are those of the rows that were used."""
    n_rows, counts = len(codes), problem.class_counts
    if n_rows < len(problem.X):
        kept = [
            f"{n_used} of {counts[k]} of {shown(problem.classes[k])}"
            for k, n_used in enumerate(np.bincount(codes, minlength=len(counts)).tolist())
            if n_used > n_rows * counts[k] / len(problem.X) + 2
        ]
        share = "as large a share of each class"
        if kept:
            share += f", but more of the rare ones, which count less for it: {listed(kept)}"
        yield Finding(
            "BF021",
            f"The figures come from {n_rows} of {len(problem.X)} rows, {share}.",
            "Raise max_rows to use more.",
        )
    few = np.flatnonzero(counts < n_folds)
    if len(few):
        text = listed([f"{shown(problem.classes[k])} ({counts[k]})" for k in few])
        plural = "classes have" if len(few) > 1 else "class has"
        yield Finding(
            "BF022",
            f"{len(few)} {plural} fewer rows than there are folds: {text}.",
            "Some models never see them in training, so their rows count as errors. Merge classes, or leave them out.",
        )
    if not summary.beats_majority:
        yield Finding(
            "BF023",
            f"Nothing that was tried beats always naming the largest class (error {summary.majority_error:.4f}).",
            "Either the features tell nothing about the classes, or they do so in a way that needs far more rows.",
        )
    if residual_z > ERR_ALIKE:
        yield Finding(
            "BF024",
            f"Rows next to each other err alike (z = {residual_z:.1f}): there is local signal that no learner caught.",
            "The floor may be lower than the estimate. Add a learner that fits this kind of data.",
        )
    gain = summary.reached - summary.estimate
    if summary.beats_majority and gain > STILL_FALLING * summary.reached and gain * n_rows > 5:
        yield Finding(
            "BF025",
            f"The error still falls with more rows: {summary.curve.error[-1]:.4f} with {summary.curve.size[-1]:.0f}, "
            f"{summary.reached:.4f} with {summary.curve.size[0]:.0f}, and {summary.estimate:.4f} in the limit if the "
            "curve goes on like this.",
            "More rows, or better features, would narrow the gap.",
        )
    rare = [k for k in np.flatnonzero(is_rare(counts)) if counts[k] >= n_folds]
    if rare:
        text = listed([f"{shown(problem.classes[k])} ({counts[k]} rows)" for k in rare])
        what, them = ("These classes are", "them") if len(rare) > 1 else ("This class is", "it")
        yield Finding(
            "BF026",
            f"{what} so rare that the error says little of {them}: {text}.",
            f"Judge a model by how high it ranks {them}: by ROC AUC, and recall at the precision that you need.",
        )


def is_rare(counts: Ints | Floats) -> Bools:
    """Tell which classes have less than a tenth of an equal share of the rows, from their counts or shares."""
    return counts < RARE * counts.sum() / len(counts)


def leads_with_ranking(counts: Ints) -> bool:
    """Tell whether nearly all rows are of one class, so that its ranking says more of a rare one than any error."""
    return bool(is_rare(counts).any()) and counts.sum() - counts.max() < FEW_OTHERS * counts.sum()
