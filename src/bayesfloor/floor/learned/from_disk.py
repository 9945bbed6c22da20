"""The learned floor of a table on disk: all rows are trained on, in parts, and some ten thousand are tested.

::

    rows in memory      the tested rows, and a sample of the others: learners of few parameters are trained on it once
    parts, on disk      all rows but the tested ones, in four quarters: boosting, trees and nearest rows are trained on
                        all quarters, on two halves and on two of the quarters

What follows from the predictions is that of `bayesfloor.floor.learned.learning`.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.folds import stratified_folds
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.cross_fitting import CrossFit, Race, fit_sample
from bayesfloor.floor.learned.row_plan import RowPlan
from bayesfloor.floor.learned.splits import VIEWS, Split
from bayesfloor.floor.learned.targets import Target
from bayesfloor.floor.learned.training_sets import mean_and_spread, training_set
from bayesfloor.learn.boosting_by_parts import NAME
from bayesfloor.learn.by_parts import LEARNERS, PartLearners
from bayesfloor.learn.families import Family
from bayesfloor.learn.linear_cost import LINEAR_LEARNERS
from bayesfloor.learn.parts import PartPool
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.cluster import Cluster
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.threads import WorkerPool

#: The quarters in each training set: all, two halves, and one of each.
SETS = ((0, (0, 1, 2, 3)), (1, (0, 1)), (1, (2, 3)), (2, (0,)), (2, (2,)))
#: Families whose learners have parts in place of a sample.
BY_PARTS = (NAME,)
#: The family of learners that are trained on parts.
PARTS = "parts"


def plan_from_disk(problem: Problem, n_folds: int, findings: tuple[Finding, ...] = ()) -> RowPlan:
    """Decide which rows serve for what: the stack has folds of the tested rows.

    Parameters
    ----------
    problem : Problem
        The rows in memory of a table on disk.
    n_folds : int
        Folds of the stack.
    findings : tuple of Finding
        About rows.

    Returns
    -------
    RowPlan
        Its training sets are the sample, which stands for all rows.
    """
    assert problem.stored is not None
    n_tested, everything = len(problem.stored.tested), np.arange(len(problem.X))
    tested, sample = everything[:n_tested], everything[n_tested:]
    strata = problem.codes[:n_tested]
    views = {size: 0 for size, _ in SETS}
    splits = []
    for size, _ in SETS:
        splits.append(Split(size, sample, ((tested, views[size]),)))
        views[size] += 1
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
        findings=findings,
    )


def cross_fit_from_disk(
    used: Problem,
    plan: RowPlan,
    target: Target,
    families: dict[str, Family],
    units: tuple[float, float],
    seed: int,
    pool: WorkerPool,
    cluster: Cluster | None = None,
    race: Race | None = None,
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
    families : dict of str to Family
        Learners of a sample.
    units : (float, float)
        What numbers were centred and divided by.
    seed : int
        Seeds what learners draw at random.
    pool, cluster, race
        As for `cross_fit`; learners of a sample cost nothing more with more rows, and go on.

    Returns
    -------
    CrossFit
    """
    stored = used.stored
    assert stored is not None
    sample = plan.splits[0].train
    like, _ = training_set(used, sample, plan.predicted[:1], is_many=target.takes_single)
    learners = PartLearners(PartPool(stored.parts, pool, cluster), stored.tested, like, stored.is_category, seed)
    of_sets = np.array([learners.n_rows(own) for _, own in SETS])
    pool.expect(int(of_sets.sum()))
    own_families = {name: family for name, family in families.items() if name not in BY_PARTS}
    names_of = LINEAR_LEARNERS if target.takes_single else target.known.names
    wanted = {name for family in own_families for name in names_of[family]}.difference(LEARNERS)
    of_sample = fit_sample(replace(used, stored=None), plan, target, own_families, wanted, seed, pool, cluster)
    known = [(family, name) for family in own_families for name in of_sample[family]]
    n_views = [sum(size == each for each, _ in SETS) for size in range(len(VIEWS))]
    shape = len(plan.predicted), *target.shape
    names = [*(name for _, name in known), *LEARNERS]
    fitted = CrossFit(
        names,
        [np.full((len(names), views, *shape), np.nan, np.float32) for views in n_views],
        tuple(float(of_sets[[each == size for each, _ in SETS]].mean()) for size in range(len(VIEWS))),
        plan.folds,
        families=[*(family for family, _ in known), *(PARTS for _ in LEARNERS)],
    )
    raced = [np.ones((fitted.n_folds, len(names)), bool) for _ in VIEWS]
    fitted = replace(fitted, raced=raced)
    own = range(len(known), len(names))
    for place in reversed(range(len(SETS))):  # the smallest training sets first
        size, quarters = SETS[place]
        view = plan.splits[place].tests[0][1]
        if race is not None and size < SETS[-1][0] and raced[size].all():
            raced[size][:, own] = race(fitted, size)[:, own]
        goes_on = {names[learner] for learner in own if raced[size][:, learner].any()}
        found = learners.predict(quarters, goes_on)
        for learner, (family, name) in enumerate(known):
            fitted.predicted[size][learner, view] = of_sample[family][name]
        for learner in own:
            if names[learner] in goes_on:
                values = _in_units(found[names[learner]], used, sample, stored.units, units)
                fitted.predicted[size][learner, view] = target.predictions(values, like, used, sample)
        pool.advance(int(of_sets[place]))
    return fitted


def _in_units(
    values: Floats, used: Problem, sample: NDArray[Any], stored: tuple[float, float], units: tuple[float, float]
) -> Floats:
    """Return numbers in the units of a training set that is the sample; probabilities as they are."""
    if used.task == "classification":
        return values
    mean, spread = mean_and_spread(used, sample)
    return ((stored[0] + stored[1] * values - units[0]) / units[1] - mean) / spread
