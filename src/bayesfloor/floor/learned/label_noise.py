"""Does an estimate of the floor move as theory says when labels are redrawn at random?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesfloor.data.sampling import LEARNED_ROWS
from bayesfloor.floor.learned.copies import distinct_rows
from bayesfloor.floor.learned.estimate import learned_floor
from bayesfloor.floor.learned.row_plan import MIN_FOLDS, choose_rows
from bayesfloor.floor.trees.problem import Progress
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.checks import ParameterError, check_int, check_max_rows, check_random_state_seed
from bayesfloor.runtime.frames import like_input
from bayesfloor.runtime.results import PlottedResult
from bayesfloor.tables.arguments import check_problem
from bayesfloor.tables.unlabelled import warn_of_left_out


@dataclass(frozen=True, eq=False, repr=False)
class LabelNoiseCheck(
    PlottedResult,
    says="mean_deviation share n_samples n_classes",
    rows="share estimate interval expected deviation reached",
    display="LabelNoiseDisplay",
):
    """Estimates of the floor with more and more labels redrawn, beside what they should be.

    `frame` has a row for each share.

    Attributes
    ----------
    share : ndarray of shape (n_shares,)
        Shares of the labels that were redrawn, from 0 up.
    estimate : ndarray of shape (n_shares,)
        The floor as estimated.
    interval : ndarray of shape (n_shares, 2)
        Its intervals.
    expected : ndarray of shape (n_shares,)
        Where the floor must be if the estimate without noise is right.
    deviation : ndarray of shape (n_shares,)
        `estimate` less `expected`.
    mean_deviation : float
        Mean size of the deviations, that at share 0 left out.
    reached : ndarray of shape (n_shares,)
        What the stack reaches.
    n_samples, n_rows, n_classes : int
        Rows given, rows used, classes.
    confidence : float
        Level of the intervals.
    """

    share: Floats
    estimate: Floats
    interval: Floats
    expected: Floats
    deviation: Floats
    mean_deviation: float
    reached: Floats
    n_samples: int
    n_rows: int
    n_classes: int
    confidence: float


@like_input
def label_noise_check(
    X: Any,
    y: Any = None,
    *,
    shares: Sequence[float] = (0.1, 0.2, 0.4),
    groups: Any = None,
    time: Any = None,
    confidence: float = 0.95,
    cv: int = 5,
    max_rows: int | None = None,
    learners: Any = "default",
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = False,
) -> LabelNoiseCheck:
    """Test the learned floor on your own data, by redrawing labels.

    Where a share ρ of the labels is replaced by classes drawn uniformly at random, the floor of K classes moves from f
    to f + ρ ((K - 1) / K - f), whatever the data. An estimate that does not follow that line is off by at least as much
    somewhere on it (the idea of FeeBee, Renggli et al. 2021). One that does may still be wrong.

    Parameters
    ----------
    X, y
        As for `learned_floor`.
    shares : sequence of float, default=(0.1, 0.2, 0.4)
        Shares of the labels to redraw, between 0 and 1. The larger ones redraw the labels of the smaller, and more.
    groups, time, confidence, learners, n_jobs, random_state, progress
        As for `learned_floor`, which is called once for each share and once without noise.
    max_rows : int or None, default=None
        Rows to use at the most, as large a share of each class; None for 10 000.
    cv : int, default=5
        Folds, at least 5.

    Returns
    -------
    LabelNoiseCheck

    See Also
    --------
    learned_floor : The estimate that is checked.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor import label_noise_check
    >>> check = label_noise_check(*load_iris(return_X_y=True), shares=[0.3], learners=["gaussian"])
    >>> check.share.tolist()
    [0.0, 0.3]
    """
    levels = _check_shares(shares)
    check_int("cv", cv, MIN_FOLDS)
    seed = check_random_state_seed(random_state)
    problem = check_problem(X, y, groups=groups, time=time, seed=seed)
    warn_of_left_out(problem.findings)
    n_classes = len(problem.classes)
    problem = distinct_rows(problem, seed).problem
    rows = choose_rows(problem, check_max_rows(max_rows, n_classes, LEARNED_ROWS), seed)
    points, codes = problem.X[rows], problem.codes[rows]
    rng = np.random.default_rng([seed, 1])
    order, drawn = rng.permutation(len(rows)), rng.integers(0, n_classes, len(rows))
    floors = []
    for share in levels:
        noisy = codes.copy()
        redrawn = order[: round(share * len(rows))]
        noisy[redrawn] = drawn[redrawn]
        floors.append(
            learned_floor(
                points,
                noisy,
                groups=None if problem.groups is None else problem.groups[rows],
                time=None if problem.time is None else problem.time[rows],
                confidence=confidence,
                cv=cv,
                max_rows=len(rows),
                learners=learners,
                n_jobs=n_jobs,
                random_state=seed,
                progress=progress,
            )
        )
    estimate = np.array([floor.estimate for floor in floors])
    expected = estimate[0] + levels * ((n_classes - 1) / n_classes - estimate[0])
    deviation = estimate - expected
    return LabelNoiseCheck(
        share=levels,
        estimate=estimate,
        interval=np.array([floor.interval for floor in floors]),
        expected=expected,
        deviation=deviation,
        mean_deviation=float(np.abs(deviation[1:]).mean()),
        reached=np.array([floor.reached for floor in floors]),
        n_samples=problem.n_samples,
        n_rows=len(rows),
        n_classes=n_classes,
        confidence=floors[0].confidence,
    )


def _check_shares(shares: Any) -> Floats:
    """Return 0 and the shares asked for, ascending."""
    levels = np.asarray(shares, np.float64)
    if levels.ndim != 1 or not len(levels) or not np.all((levels > 0) & (levels <= 1)):
        raise ParameterError("shares", "numbers above 0 and at most 1", shares)
    return np.concatenate([[0.0], np.unique(levels)])
