"""The learned floor of a table on disk: all rows are trained on, in parts, and some ten thousand are tested.

::

    rows in memory      the tested rows, and a sample of the others: learners of few parameters are trained on it once
    parts, on disk      all rows but the tested ones, in four quarters: boosting, trees and nearest rows are trained on
                        all quarters, on two halves and on two of the quarters
    their first rows    a 16th, a 64th … of all rows, from each of the two other quarters: learners that matter with
                        more rows, and as many rows of the sample for those of few parameters

What follows from the predictions is that of `bayesfloor.floor.learned.learning`.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.folds import stratified_folds
from bayesfloor.data.problem import Problem
from bayesfloor.data.row_parts import QUARTERS, StoredPart, StoredRows, first_rows
from bayesfloor.floor.learned.cross_fitting import CrossFit, Race, fit_sample
from bayesfloor.floor.learned.row_plan import RowPlan
from bayesfloor.floor.learned.splits import VIEWS, Split, n_views_of
from bayesfloor.floor.learned.targets import Target
from bayesfloor.floor.learned.training_sets import mean_and_spread, training_set
from bayesfloor.learn.boosting_by_parts import NAME
from bayesfloor.learn.by_parts import LEARNERS, PartLearners
from bayesfloor.learn.learner import Learner
from bayesfloor.learn.parts import PartPool
from bayesfloor.learn.training_rows import Train
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.cluster import Cluster
from bayesfloor.runtime.threads import WorkerPool

#: The quarters in each training set: all, two halves, and one of each.
SETS = ((0, (0, 1, 2, 3)), (1, (0, 1)), (1, (2, 3)), (2, (0,)), (2, (2,)))
#: Quarters whose first rows are smaller training sets: those that are no training sets of their own. The sample is
#: of the first quarter.
BEGINNINGS = (1, 3)
#: What each smaller size is a part of the one before, the smallest of them as a part of all rows, and its fewest rows.
STEP, SMALLEST, FEWEST_ROWS = 4, 1024, 2000
#: Rows of a smaller training set up to which no workers are asked: telling them takes longer than the work.
HERE_ROWS = 2**20
#: Families whose learners have parts in place of a sample.
BY_PARTS = (NAME,)
#: The family of learners that are trained on parts.
PARTS = "parts"


class DiskSet(NamedTuple):
    """A training set of rows on disk.

    Attributes
    ----------
    size : int
        0 for the largest training sets, then 1, 2, …
    view : int
        The number of the training set among those of its size.
    parts : list of StoredPart
        Its rows.
    quarters : tuple of int
        Which quarters these are; empty for the first rows of one.
    """

    size: int
    view: int
    parts: list[StoredPart]
    quarters: tuple[int, ...] = ()

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        return sum(part.n_rows for part in self.parts)


def sets_of(stored: StoredRows) -> list[DiskSet]:
    """List the training sets, the largest first."""
    sets = [DiskSet(*each) for each in _large_sets(stored)]
    n_rows, divisor = sets[0].n_rows, STEP ** len(VIEWS[1:])
    size = len(VIEWS)
    while divisor <= SMALLEST and n_rows // divisor >= FEWEST_ROWS:
        for view, quarter in enumerate(BEGINNINGS):
            sets.append(DiskSet(size, view, first_rows(stored.parts[quarter::QUARTERS], n_rows // divisor)))
        size, divisor = size + 1, STEP * divisor
    return sets


def _large_sets(stored: StoredRows) -> Iterator[tuple[int, int, list[StoredPart], tuple[int, ...]]]:
    for place, (size, quarters) in enumerate(SETS):
        view = sum(each == size for each, _ in SETS[:place])
        yield size, view, [part for n, part in enumerate(stored.parts) if n % QUARTERS in quarters], quarters


def plan_from_disk(problem: Problem, n_folds: int) -> RowPlan:
    """Decide which rows serve for what: the stack has folds of the tested rows.

    Parameters
    ----------
    problem : Problem
        The rows in memory of a table on disk.
    n_folds : int
        Folds of the stack.

    Returns
    -------
    RowPlan
        Its training sets are the sample, which stands for all rows, and parts of it for smaller numbers of them.
    """
    assert problem.stored is not None
    n_tested, everything = len(problem.stored.tested), np.arange(len(problem.X))
    tested, sample = everything[:n_tested], everything[n_tested:]
    strata = problem.codes[:n_tested]
    splits = []
    for own in sets_of(problem.stored):
        # each second, third … of the rows of the sample are a sample as well
        step = len(sample) // own.n_rows if own.size >= len(VIEWS) else 0
        train = sample[own.view :: step][: own.n_rows] if step > 1 else sample
        splits.append(Split(own.size, train, ((tested, own.view),)))
    return RowPlan(
        kept=problem.stored.numbers,
        rows=everything,
        predicted=tested,
        folds=stratified_folds(strata, n_folds, tested.astype(np.uint64)),
        splits=splits,
        earlier=None,
        counted=tested,
        groups=None,
        clusters=None,
        is_many=True,
        may_repeat=False,
        has_own_groups=False,
        copies_left_out=False,
        findings=(),
    )


def cross_fit_from_disk(
    used: Problem,
    plan: RowPlan,
    target: Target,
    families: dict[str, Learner],
    units: tuple[float, float],
    seed: int,
    pool: WorkerPool,
    race: Race,
    cluster: Cluster | None = None,
) -> CrossFit:
    """Train learners on the sample and on all rows, and collect the predictions.

    Parameters
    ----------
    used : Problem
        The rows in memory of a table on disk.
    plan : RowPlan
        As from `plan_from_disk`.
    target : Target
        Turns what learners return into predictions.
    families : dict of str to Learner
        Learners of a sample.
    units : (float, float)
        What numbers were centred and divided by.
    seed : int
        Seeds what learners draw at random.
    pool, race, cluster
        As for `cross_fit`; learners of a sample cost nothing more with more rows, and go on.

    Returns
    -------
    CrossFit
    """
    stored = used.stored
    assert stored is not None
    sample = plan.splits[0].train
    like, _ = training_set(used, sample, plan.predicted[:1], is_many=target.takes_single)
    sets = sets_of(stored)
    pool.expect(sum(own.n_rows for own in sets))
    own_families = {name: family for name, family in families.items() if name not in BY_PARTS}
    wanted = {name for family in own_families.values() for name in family.names}.difference(LEARNERS)
    in_memory = replace(used, stored=None)
    of_sample = fit_sample(in_memory, plan, target, own_families, wanted, seed, pool, cluster)
    known = [(family, name) for family in own_families for name in of_sample[family]]
    names = [*(name for _, name in known), *LEARNERS]
    n_views = n_views_of(plan.splits)
    shape = len(plan.predicted), *target.shape
    raced = [np.ones((int(plan.folds.max()) + 1, len(names)), bool) for _ in n_views]
    fitted = CrossFit(
        names,
        [np.full((len(names), views, *shape), np.nan, np.float32) for views in n_views],
        tuple(float(np.mean([own.n_rows for own in sets if own.size == size])) for size in range(len(n_views))),
        plan.folds,
        raced,
        families=[*(family for family, _ in known), *(PARTS for _ in LEARNERS)],
    )
    finish = target.finish(like, used, sample)
    learners = _SetLearners(stored, like, seed, pool, cluster)
    is_by_parts = np.isin(names, LEARNERS)
    for places in _in_order_of_training(sets):
        size = sets[places[0]].size
        if size != len(VIEWS) - 1:
            raced[size][:] = race(fitted, size) | (~is_by_parts & (size < len(VIEWS)))
        goes_on = {name for learner, name in enumerate(names) if raced[size][:, learner].any()}
        of_sets = pool.map_in_parallel(
            learners.predict, [(sets[place], goes_on) for place in places], cluster is not None
        )
        for place, found in zip(places, of_sets, strict=True):
            own, train, again = sets[place], plan.splits[place].train, of_sample
            if len(train) < len(sample):
                some_families = {family: own_families[family] for family, name in known if name in goes_on}
                again = fit_sample(in_memory, plan, target, some_families, goes_on, seed, pool, cluster, place)
            for learner, (family, name) in enumerate(known):
                if name in goes_on:
                    fitted.predicted[own.size][learner, own.view] = again[family][name]
            for learner, name in enumerate(names):
                if name in found:
                    values = _in_units(found[name], used, sample, stored.units, units)
                    fitted.predicted[own.size][learner, own.view] = finish.of(values)
            pool.advance(own.n_rows)
    return fitted


class _SetLearners:
    """Learners of parts, for any training set: those of quarters are kept for halves and the whole."""

    def __init__(self, stored: StoredRows, like: Train, seed: int, pool: WorkerPool, cluster: Cluster | None) -> None:
        self.stored, self.like, self.seed, self.pool, self.cluster = stored, like, seed, pool, cluster
        self.of_quarters = self._learners(stored.parts, cluster)

    def _learners(self, parts: list[StoredPart], cluster: Cluster | None) -> PartLearners:
        pool = PartPool(parts, self.pool, cluster)
        return PartLearners(pool, self.stored.tested, self.like, self.stored.is_category, self.seed)

    def predict(self, own: DiskSet, wanted: Collection[str]) -> dict[str, Floats]:
        """Train on one set, and predict the tested rows."""
        if own.quarters:
            return self.of_quarters.predict(own.quarters, wanted)
        learners = self._learners(own.parts, self.cluster if own.n_rows > HERE_ROWS else None)
        return learners.predict(range(min(QUARTERS, len(own.parts))), wanted)


def _in_order_of_training(sets: list[DiskSet]) -> list[list[int]]:
    """Return the training sets of each size in the order in which learners race: from quarters to all, then smaller."""
    n_sizes = 1 + max(own.size for own in sets)
    sizes = [*reversed(range(len(VIEWS))), *range(len(VIEWS), n_sizes)]
    return [[place for place, own in enumerate(sets) if own.size == size] for size in sizes]


def _in_units(
    values: Floats, used: Problem, sample: NDArray[Any], stored: tuple[float, float], units: tuple[float, float]
) -> Floats:
    """Return numbers in the units of a training set that is the sample; probabilities as they are."""
    if used.task == "classification":
        return values
    mean, spread = mean_and_spread(used, sample)
    return ((stored[0] + stored[1] * values - units[0]) / units[1] - mean) / spread
