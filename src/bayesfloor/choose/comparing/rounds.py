"""A learned floor of each representation, on few rows first: who cannot be the best any more is stopped.

A round uses a part of the rows. A representation stops there if all rows would not bring it to what another one surely
reaches with these rows already, by one of two bounds:

- what it loses now, less what the last doubling of the training rows gained for each doubling to come. Learning curves
  flatten: a doubling gains no more than the one before;
- the better end of the range of its floor, which no model gets beyond.

Both are so wide that the chance to stop the one that would be the best is at most 1 less the confidence, over all
representations and rounds together, as far as curves do flatten and ranges of floors hold. A pattern that shows only
from some number of rows on is what this misses.
"""

from dataclasses import dataclass
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bayesfloor.choose.comparing.differences import Measured, compare_measured
from bayesfloor.choose.comparing.representations import Representation
from bayesfloor.choose.comparing.results import FeatureDifference
from bayesfloor.choose.comparing.shared_rows import plan_shared
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.estimate import learned_floor_of
from bayesfloor.floor.learned.regression.estimate import regression_floor_of
from bayesfloor.floor.learned.result import MetricFloor
from bayesfloor.floor.learned.row_plan import choose_rows
from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.progress import Stages

#: Rows of the first round, and how many times as many each further one has.
FIRST_ROWS, GROWTH = 2000, 4
#: Representations from which on there are rounds.
_FEWEST = 3


@dataclass(frozen=True, eq=False)
class Race:
    """How representations fared.

    Attributes
    ----------
    measured : dict of str to Measured
        Of each, in the last round that it took part in.
    stopped : list of str
        Those that did not go on to all rows.
    differences : list of FeatureDifference
        Every two, on the rows of the last round that both took part in.
    findings : tuple of Finding
        About the rows.
    n_rows : int
        Rows of the last round.
    """

    measured: dict[str, Measured]
    stopped: list[str]
    differences: list[FeatureDifference]
    findings: tuple[Finding, ...]
    n_rows: int


@dataclass(frozen=True, eq=False)
class RacedRows:
    """Rows that representations are measured on.

    Attributes
    ----------
    shared : Problem
        All of them, with marks.
    y : ndarray of shape (n,)
        The target, as steps are given it.
    metric : dict
        What floors are asked for.
    how : dict
        How models are trained.
    max_rows : int
        Rows that are used at the most.
    """

    shared: Problem
    y: NDArray[Any]
    metric: dict[str, Any]
    how: dict[str, Any]
    max_rows: int

    def race(self, representations: list[Representation], progress: Any) -> Race:
        """Measure all representations, fewer of them with each round."""
        alive = list(representations)
        sizes = self._sizes(len(alive))
        n_tests = max(len(alive) * (len(sizes) - 1), 1)
        stages = Stages(progress)
        measured: dict[str, Measured] = {}
        stopped: list[str] = []
        differences: list[FeatureDifference] = []
        findings: tuple[Finding, ...] = ()
        for number, size in enumerate(sizes):
            is_last = number == len(sizes) - 1
            confidence = self.how["confidence"]
            level = confidence if is_last else 1.0 - (1.0 - confidence) / n_tests
            n_after = len(alive) * (len(sizes) - 1 - number)
            found, findings = self._measure(alive, size, level, n_after, is_last=is_last, stages=stages)
            measured |= found
            n_doublings = float(np.log2(min(len(self.y), self.max_rows) / size)) if size else 0.0
            out = [] if is_last else hopeless(found, n_doublings, level)
            for first, second in combinations(found, 2):
                if is_last or first in out or second in out:
                    differences.append(compare_measured((first, second), found[first], found[second]))
            stopped += out
            alive = [each for each in alive if each.name not in out]
        stages.finish()
        return Race(measured, stopped, differences, findings, measured[alive[0].name].n_rows)

    def _sizes(self, n_representations: int) -> list[int | None]:
        """Return the rows of each round; None for all in the last one."""
        n_rows = min(len(self.y), self.max_rows)
        # in time, smaller training sets are more recent ones
        if n_representations < _FEWEST or self.shared.time is not None:
            return [None]
        sizes: list[int | None] = []
        size = FIRST_ROWS
        while 2 * size <= n_rows:
            sizes.append(size)
            size *= GROWTH
        return [*sizes, None]

    def _measure(
        self,
        alive: list[Representation],
        size: int | None,
        level: float,
        n_after: int,
        *,
        is_last: bool,
        stages: Stages,
    ) -> tuple[dict[str, Measured], tuple[Finding, ...]]:
        """Measure representations on the same rows."""
        shared = self.shared
        rows = np.arange(len(self.y)) if size is None else np.sort(choose_rows(shared, size, self.how["random_state"]))
        how = self.how if is_last else {**self.how, "effort": "fast", "confidence": level}
        max_rows = self.max_rows if size is None else len(rows)
        choice = {name: how[name] for name in ("cv", "learners", "effort", "n_jobs")}
        choice |= {"seed": how["random_state"], "max_rows": max_rows}
        planned = plan_shared(shared, rows, alive, self.y, choice)
        floor_of: Any = regression_floor_of if shared.task == "regression" else learned_floor_of
        found: dict[str, Measured] = {}
        for n_left, each in zip(range(len(alive) - 1 + n_after, -1, -1), alive, strict=False):
            started = perf_counter()
            problem = each.problem(shared, self.y, rows)
            own = {**self.metric, **how, "max_rows": max_rows, "progress": stages.begin(1.0, n_left)}
            floor, held_out = floor_of(problem, planned=planned, **own)
            n_features = _n_features(problem, takes_labels=each.needs_labels)
            own_floor = floor.metrics[floor.metric]
            found[each.name] = Measured(own_floor, held_out, n_features, floor.n_rows, perf_counter() - started)
        return found, planned[1].findings


def _n_features(problem: Problem, *, takes_labels: bool) -> int:
    """Return how many columns a representation has; those of a table count once, whatever they are coded as."""
    if problem.tabular is not None:
        return int(problem.tabular.values.shape[1])
    if problem.supervised is not None and takes_labels:
        some: Ints = np.arange(len(problem.X))
        known, _ = problem.supervised.features(some, some[:1])
        return int(known.shape[1])
    return int(problem.X.shape[1])


def hopeless(found: dict[str, Measured], n_doublings: float, confidence: float) -> list[str]:
    """Name those that more rows would not bring to what another one surely reaches.

    Parameters
    ----------
    found : dict of str to Measured
        All that take part.
    n_doublings : float
        How often the rows of this round double until all are used.
    confidence : float
        Level of the bounds.

    Returns
    -------
    list of str
    """
    surely = {name: max(each.floor.range(*each.floor.reached_interval)) for name, each in found.items()}
    best = min(surely.values())
    return [name for name, each in found.items() if least_loss(each.floor, n_doublings, confidence) > best]


def least_loss(floor: MetricFloor, n_doublings: float, confidence: float) -> float:
    """Return what is lost at the least after some more doublings of the rows."""
    least = min(floor.range(*floor.interval))
    curve = floor.curve
    if curve.covariance is None:
        return least
    losses, z = floor.value(curve.value[:2]), float(ndtri(0.5 + 0.5 * confidence))
    bounds = []
    for k in (0.0, n_doublings):  # the loss itself, for where it has risen by chance
        weights = np.array([1.0 + k, -k])
        error = float(weights @ curve.covariance[:2, :2] @ weights) ** 0.5
        bounds.append(float(weights @ losses) - z * error)
    return max(least, min(bounds))
