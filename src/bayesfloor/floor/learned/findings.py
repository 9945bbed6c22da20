"""What a reader of a learned floor should know.

======  ====================================================================
BF021   a sample of the rows was used
BF022   a class with fewer rows than folds
BF023   nothing beats always naming the largest class
BF024   neighbours err alike: there is signal that no learner caught
BF025   the error still falls with more rows
======  ====================================================================
"""

from collections.abc import Iterator

import numpy as np

from bayesfloor.floor.learned.summary import ERR_ALIKE, CurveSummary
from bayesfloor.floor.trees.problem import Problem
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.text import listed, shown

#: Share of the error by which it is expected to fall with more rows, to be worth a word.
STILL_FALLING = 0.15


def find_in_learned(
    summary: CurveSummary, residual_z: float, problem: Problem, n_rows: int, n_folds: int
) -> Iterator[Finding]:
    """List what was found, in the order of the codes."""
    if n_rows < len(problem.X):
        yield Finding(
            "BF021",
            f"The figures come from {n_rows} of {len(problem.X)} rows, as large a share of each class.",
            "Raise max_rows to use more.",
        )
    counts = problem.class_counts
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
