"""What a reader of a `RegressionFloor` should know.

======  ====================================================================
BF047   a sample of the rows was used
BF048   nothing beats the mean of y
BF049   residuals of neighbours are alike: there is signal that no learner caught
BF050   the error still falls with more rows
BF051   learners have only begun to see what there is
BF052   the error surely falls as fast as before: no end is in sight
BF053   a few rows rule the squared error
BF054   the noise is uneven
BF055   the target is a count, a share or bounded, or has few ordered values
BF056   equal rows with different targets tell the noise
======  ====================================================================

Few groups (BF027), copies (BF037, BF038) and a curve that rises (BF042) are findings for classes as well.
"""

from collections.abc import Iterator

import numpy as np

from bayesfloor.data.numbers import kind_of_numbers
from bayesfloor.floor.learned.findings import FEW_GROUPS, STILL_FALLING
from bayesfloor.floor.learned.learning import Learned
from bayesfloor.floor.learned.learning_curve import goes_over_decades
from bayesfloor.floor.learned.regression.residuals import TestedRows
from bayesfloor.floor.learned.regression.result import NoiseProfile
from bayesfloor.floor.learned.regression.summary import N_DOUBLINGS, NumberSummary
from bayesfloor.floor.learned.rows_needed import find_rise
from bayesfloor.floor.learned.rules import ERR_ALIKE
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.text import figure, percent

#: Rows that make up half of the squared error, as a share of all, below which a few rows rule it, and degrees of
#: freedom of its variance that go with that.
FEW_ROWS, FEW_DEGREES = 0.02, 40.0
#: Growth of R² from a quarter of the training rows to all of them from which learners have only begun to see.
BEGUN = 1.2
#: Least growth of R² that finding BF050 is about, and least squared error that BF053 is, as a share of the variance.
LEAST_GAIN, LEAST_ERROR = 0.002, 1e-6
#: Ratio of the largest deviation to the smallest from which noise is called uneven, and the level of the test.
UNEVEN, UNEVEN_LEVEL = 1.5, 0.001

_KINDS = {
    "count": (
        "The target is a count: whole numbers from {low} on, {n_values} different ones.",
        "Its noise grows with its mean, and large counts rule squared errors: look at MAE too, or predict log(1 + y).",
    ),
    "share": (
        "The target is a share: it lies between 0 and 1.",
        "A prediction beyond these ends can be clipped. Where it is the rate of a class, learned_floor on the labels "
        "tells more.",
    ),
    "bounded": (
        "The target is bounded: {at_ends} of the rows lie at an end of its range, {low} or {high}.",
        "Whether a row lies at the end may be asked as a class; the rest is a number of its own.",
    ),
    "ordered": (
        "The target has {n_values} ordered values. Its error may be asked as that of numbers, as here, or as that of "
        "classes.",
        "learned_floor(X, y) asks for the class: how often can the exact value be told?",
    ),
}


def find_in_numbers(
    learned: Learned,
    rows: TestedRows,
    summary: NumberSummary,
    profile: NoiseProfile,
    y: Floats,
) -> Iterator[Finding]:
    """List what was found, in the order of the codes; `y` are the targets of all rows given."""
    n_used, n_given = len(learned.plan.rows), learned.problem.n_drawn_from or len(y)
    by_size, sizes = summary.by_size, learned.sizes
    if n_used < n_given and not any(finding.code == "BF037" for finding in learned.plan.findings):
        yield Finding(
            "BF047",
            f"The figures come from {n_used} of {n_given} rows, drawn at random.",
            "Raise max_rows to use more; rows of weight 0 are never used.",
        )
    beats = summary.surely == 1.0
    if not beats:
        end = 1.0 - summary.interval[0]
        open_end = "so nothing can be said of how high R² can get: its range ends at 1."
        yield Finding(
            "BF048",
            f"Nothing that was tried surely beats the mean of y (R² {1.0 - summary.reached.mean:.4f}), "
            + (open_end if end == 1.0 else f"but neighbours or equal rows tell that R² may get up to {end:.4f}."),
            "Either the features tell nothing about y, or they do so in a way that needs far more rows.",
        )
    if summary.alike > ERR_ALIKE and not summary.n_pairs:
        yield Finding(
            "BF049",
            f"Residuals of rows next to each other are alike (z = {summary.alike:.1f}): there is local signal that no "
            "learner caught.",
            "The ceiling may be higher than the estimate. Add a learner that fits this kind of data.",
        )
    gain, least_gain = summary.reached.mean - summary.estimate, max(STILL_FALLING * summary.reached.mean, LEAST_GAIN)
    if beats and (not learned.in_time or by_size[-1] > by_size[0]) and gain > least_gain:
        yield Finding(
            "BF050",
            f"R² still grows with more rows: {1 - by_size[-1]:.4f} with {sizes[-1]:.0f}, {1 - by_size[0]:.4f} with "
            f"{sizes[0]:.0f}, and {1 - summary.estimate:.4f} in the limit if the curve goes on like this.",
            "More rows, or better features, would narrow the gap.",
        )
    if beats and not summary.n_pairs:
        yield from _find_in_curve(summary, sizes)
    yield from find_rise("squared error", by_size, by_size, summary.covariance, sizes)
    squares = np.sort(rows.weight * ((rows.y - rows.predicted[0]) ** 2).mean(axis=(0, 1)))[::-1]
    n_half = int(np.searchsorted(np.cumsum(squares), 0.5 * squares.sum())) + 1
    is_ruled = summary.freedom < FEW_DEGREES and n_half < FEW_ROWS * len(squares)
    if is_ruled and summary.reached.mean > LEAST_ERROR:
        yield Finding(
            "BF053",
            f"Half of the squared error comes from {n_half} of {len(squares)} rows: R² and RMSE say little of the "
            "others.",
            "Look at MAE, which they rule less, and at these rows (suspicious). A logarithm of y may be easier to "
            "judge.",
        )
    lowest, highest = int(profile.sd.argmin()), int(profile.sd.argmax())
    if profile.p_value < UNEVEN_LEVEL and profile.sd[highest] > UNEVEN * profile.sd[lowest]:
        yield Finding(
            "BF054",
            f"The noise is uneven: its standard deviation is about {figure(profile.sd[highest])} where predictions are "
            f"{figure(profile.low[highest])} to {figure(profile.high[highest])}, and {figure(profile.sd[lowest])} "
            f"where they are {figure(profile.low[lowest])} to {figure(profile.high[lowest])}.",
            "One RMSE says little of single rows: give intervals by prediction, or predict quantiles.",
        )
    kind, low, high = kind_of_numbers(y), float(y.min()), float(y.max())
    if kind in _KINDS:
        sentence, hint = _KINDS[kind]
        at_ends = float(np.mean((y == low) | (y == high)))
        values = {"low": figure(low), "high": figure(high), "n_values": len(np.unique(y))}
        yield Finding("BF055", sentence.format(at_ends=percent(at_ends), **values), hint)
    if summary.n_pairs:
        yield Finding(
            "BF056",
            f"{summary.n_pairs} pairs of rows are equal in all features and differ in y: what they differ by is noise, "
            "and the estimate rests on them, whatever models were tried.",
            "Where such rows were measured together, and not independently, give what they share as groups.",
        )
    if rows.groups is not None and rows.groups.max() + 1 < FEW_GROUPS:
        yield Finding(
            "BF027",
            f"There are {int(rows.groups.max()) + 1} groups. How much they differ from each other is a guess, and "
            "so is the width of each interval.",
            f"From {FEW_GROUPS} groups on intervals can be relied upon.",
        )


def _find_in_curve(summary: NumberSummary, sizes: Floats) -> Iterator[Finding]:
    """Say why the better end is not where the curve would put it."""
    value, end = 1.0 - summary.by_size, 1.0 - summary.interval[0]
    ends = "its range ends at 1" if end == 1.0 else f"its range ends at {end:.4f}, higher than the curve would have it"
    if summary.growth > BEGUN and not goes_over_decades(sizes):
        yield Finding(
            "BF051",
            f"Learners have only begun to see what there is: R² is {value[-1]:.4f} with {sizes[-1]:.0f} rows, and "
            f"{value[0]:.4f} with {sizes[0]:.0f}. How far that goes on cannot be told, so {ends}.",
            "Take the lower end as what is known. More rows will tell more, and so may a learner made for such data.",
        )
    elif summary.is_steady:
        yield Finding(
            "BF052",
            f"Each doubling of the rows raises R² about as much as the one before: {value[2]:.4f}, {value[1]:.4f}, "
            f"{value[0]:.4f}. No end is in sight: {N_DOUBLINGS} more such steps are allowed for, and {ends}.",
            "More rows will raise R² further; they will also tell where it ends.",
        )
