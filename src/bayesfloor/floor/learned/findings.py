"""What a reader of a learned floor of classes should know.

======  ====================================================================
BF021   a sample of the rows was used
BF022   a class with fewer rows than folds
BF023   nothing beats always predicting the commonest class, by the error
BF024   neighbours err alike: there is signal that no learner caught
BF025   the error still falls with more rows
BF026   a class so rare that the error says little of it
BF027   there are few groups
BF028   a class is in one group only
BF029   rows of long ago mislead
BF039   learners have only begun to see what there is
BF040   the error falls as fast as before: no end is in sight
BF042   the error gets worse with more rows
======  ====================================================================
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.counted_rows import classes_in_one_group, is_rare
from bayesfloor.floor.learned.learning_curve import goes_over_decades
from bayesfloor.floor.learned.rows_needed import find_rise
from bayesfloor.floor.learned.rules import ERR_ALIKE
from bayesfloor.floor.learned.summary import GROWTH, N_DOUBLINGS, CurveSummary
from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.text import listed, shown

#: Share of the error that more rows are expected to remove, from which finding BF025 is reported.
STILL_FALLING = 0.15
#: Groups below which their spread, and with it every interval, is rough.
FEW_GROUPS = 30
#: Share of the stack that learners of recent rows alone have where rows of long ago mislead.
MOSTLY_RECENT = 0.75


@dataclass(frozen=True)
class NothingBeaten(Finding):
    """No error that is surely less than that of the commonest class.

    Attributes
    ----------
    is_told : bool
        Whether the columns tell something of the classes all the same.
    """

    is_told: bool = False


def find_in_learned(
    summary: CurveSummary, residual_z: float, problem: Problem, codes: Ints, n_folds: int
) -> Iterator[Finding]:
    """List what was found, in the order of the codes; `codes` are those of the rows that were used."""
    n_rows, counts = len(codes), problem.class_counts
    n_usable = problem.n_drawn_from or len(problem.X)
    if n_rows < n_usable and problem.stored is None:
        kept = [
            f"{n_used} of {counts[k]} of {shown(problem.classes[k])}"
            for k, n_used in enumerate(np.bincount(codes, minlength=len(counts)).tolist())
            if n_used > n_rows * counts[k] / len(problem.X) + 2
        ]
        share = "as large a share of each class" if problem.n_drawn_from is None else "drawn at random"
        if kept:
            share += f", but more of the rare ones, which count less for it: {listed(kept)}"
        yield Finding(
            "BF021",
            f"The figures come from {n_rows} of {n_usable} rows, {share}.",
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
    if not summary.beats_baseline:
        low = "nothing can be said of how low the error can get: its range begins at 0"
        if summary.interval[0] > 0.0:
            low = (
                "no learning curve says how low the error can get. Rows with equal features and different labels put "
                f"it at {summary.interval[0]:.4f} or more"
            )
        why = (
            "Either the features tell nothing about the classes, or they do so in a way that needs far more rows, or a "
            "class is so rare that predicting it hardly ever pays; its ROC AUC tells that."
        )
        if summary.is_told:
            why = "The features tell something about the classes all the same: judge by ROC AUC or log-loss."
        yield NothingBeaten(
            "BF023",
            f"Nothing that was tried beats always predicting the commonest class (error {summary.baseline:.4f}), so "
            f"{low}.",
            why,
            summary.is_told,
        )
    if residual_z > ERR_ALIKE:
        yield Finding(
            "BF024",
            f"Rows next to each other err alike (z = {residual_z:.1f}): there is local signal that no learner caught.",
            "The floor may be lower than the estimate. Add a learner that fits this kind of data.",
        )
    gain = summary.reached - summary.estimate
    falls = problem.time is None or summary.curve.value[-1] > summary.reached
    if summary.beats_baseline and falls and gain > STILL_FALLING * summary.reached and gain * n_rows > 5:
        yield Finding(
            "BF025",
            f"The error still falls with more rows: {summary.curve.value[-1]:.4f} with {summary.curve.size[-1]:.0f}, "
            f"{summary.reached:.4f} with {summary.curve.size[0]:.0f}, and {summary.estimate:.4f} in the limit if the "
            "curve goes on like this.",
            "More rows, or better features, would narrow the gap.",
        )
    yield from _find_in_curve(summary)
    curve = summary.curve
    yield from find_rise("error", curve.value, curve.value, curve.covariance, curve.size)
    rare = [k for k in np.flatnonzero(is_rare(counts)) if counts[k] >= n_folds]
    if rare:
        text = listed([f"{shown(problem.classes[k])} ({counts[k]} rows)" for k in rare])
        what, them = ("These classes are", "them") if len(rare) > 1 else ("This class is", "it")
        yield Finding(
            "BF026",
            f"{what} so rare that the error says little of {them}: {text}.",
            f"Judge a model by how high it ranks {them}: by ROC AUC, and recall at the precision that you need.",
        )
    yield from _find_in_groups(problem)
    if summary.share_recent > MOSTLY_RECENT:
        yield Finding(
            "BF029",
            f"Rows of long ago mislead: learners of the more recent half or quarter of the past make up "
            f"{100 * summary.share_recent:.0f}% of the stack.",
            "Train on recent rows, and again before long.",
        )


def _find_in_curve(summary: CurveSummary) -> Iterator[Finding]:
    """Say why the lower end is not where the curve would put it."""
    if not summary.beats_baseline or summary.reached_interval[0] == 0.0:
        return
    curve, begins = summary.curve, "the error's range begins at 0"
    if summary.interval[0] > 0.0:
        begins = f"the error's range begins at {summary.interval[0]:.4f}, lower than the curve would have it"
    if summary.growth > GROWTH[0] and not goes_over_decades(curve.size):
        lead = summary.baseline - curve.value
        yield Finding(
            "BF039",
            f"Learners have only begun to see what there is: with {curve.size[-1]:.0f} rows they beat the commonest "
            f"class by {max(lead[-1], 0.0):.4f}, with {curve.size[0]:.0f} by {lead[0]:.4f}. How far that goes on "
            f"cannot be told, so {begins}.",
            "Take the upper end as what is known. More rows will tell more, and so may a learner made for such data.",
        )
    elif summary.steady_fall > 0.0:
        yield Finding(
            "BF040",
            f"Each doubling of the rows lowers the error about as much as the one before: {curve.value[2]:.4f}, "
            f"{curve.value[1]:.4f}, {curve.value[0]:.4f}. No end is in sight: {N_DOUBLINGS} more such steps are "
            f"allowed for, and {begins}.",
            "More rows will lower the error further; they will also tell where it ends.",
        )


def _find_in_groups(problem: Problem) -> Iterator[Finding]:
    """Say what groups leave open."""
    if problem.groups is None:
        return
    n_groups = len(np.unique(problem.groups))
    if n_groups < FEW_GROUPS:
        yield Finding(
            "BF027",
            f"There are {n_groups} groups. How much they differ from each other is a guess, and so is the width of "
            "each interval.",
            f"From {FEW_GROUPS} groups on intervals can be relied upon.",
        )
    alone = classes_in_one_group(problem)
    if len(alone):
        text = listed([shown(problem.classes[k]) for k in alone])
        plural = "classes are" if len(alone) > 1 else "class is"
        yield Finding(
            "BF028",
            f"{len(alone)} {plural} in one group only: {text}. No model can be trained on one group of such a class "
            "and tested on another, so all its rows count as errors.",
            "Nothing can be said about new groups of such a class. Collect more groups, or leave the class out.",
        )
