"""One walk for classes and numbers: from a checked problem to what the stack predicts at three training sizes.

::

    Problem ── plan_rows ──> RowPlan ── cross_fit ──> CrossFit ── fit_stacks ──> Learned
               rows, folds              all learners             one stack for
               and splits               on all splits            each size and fold

What few rows show hangs on how they were dealt out to folds. They are dealt out again, and what each row loses is
averaged over the repeats, until more of them would change little.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.cross_fitting import CrossFit, cross_fit
from bayesfloor.floor.learned.efforts import EFFORTS
from bayesfloor.floor.learned.from_disk import PARTS, cross_fit_from_disk, plan_from_disk
from bayesfloor.floor.learned.racing import LearnerRace
from bayesfloor.floor.learned.row_plan import Planned, RowPlan, as_planned, plan_rows, split_again
from bayesfloor.floor.learned.simulated import shares_of_kinds
from bayesfloor.floor.learned.splits import n_views_of
from bayesfloor.floor.learned.stacking import Stack, StackFits, fit_stacks
from bayesfloor.floor.learned.targets import Known, Target, target_of
from bayesfloor.learn.learner import Learner, Look
from bayesfloor.learn.registry import EstimatorLearner
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.checks import ParameterError, check_int, check_option
from bayesfloor.runtime.cluster import cluster_of
from bayesfloor.runtime.limits import check_memory, check_n_jobs
from bayesfloor.runtime.settings import limits
from bayesfloor.runtime.threads import WorkerPool, supervise

#: How families of learners that a caller gives are called, before their numbers.
OWN = "own learner"
#: What the mean loss may still vary by from one seed to another, as a share of its standard error.
SETTLED = 1.0 / 3.0
#: What it varies by from repeat to repeat, usually, and how many repeats that counts for: two may happen to agree.
USUAL_SPREAD, USUAL_REPEATS = 0.45, 2


class Members(NamedTuple):
    """The learners at the largest training size.

    Attributes
    ----------
    target : Target
        What they predict.
    families : dict of str to Learner
        How they are trained.
    predicted : list of ndarray of shape (n_learners, n_views, n_predicted, …)
        What they predict, in each repeat; NaN where they were not trained.
    """

    target: Target
    families: dict[str, Learner]
    predicted: list[NDArray[np.float32]]


class Learned(NamedTuple):
    """What the stack predicts for the rows that figures are about.

    Attributes
    ----------
    problem : Problem
        The rows that may be used, without copies; what is known of them but their features.
    used : Problem
        Those of them that are used, in random order; numbers have mean 0 and variance 1.
    plan : RowPlan
        Which of these are trained on, predicted and counted; the first repeat, where there are several.
    folds : ndarray of shape (n_repeats, n_counted)
        The fold of each row that counts, in each repeat.
    stacks : list of Stack
        Predictions of the rows that count, at each training size, the largest first.
    sizes : ndarray
        Training rows at each size.
    names : list of str
        The learners.
    centre, scale : float
        What numbers were centred and divided by; 0 and 1 for classes.
    is_default : bool
        Whether the learners are those of the library.
    members : Members
        What each learner predicts, for a model of all rows.
    """

    problem: Problem
    used: Problem
    plan: RowPlan
    folds: Ints
    stacks: list[Stack]
    sizes: Floats
    names: list[str]
    centre: float
    scale: float
    is_default: bool
    members: "Members"

    @property
    def n_rows(self) -> int:
        """Rows that were used, in memory or on disk."""
        return len(self.plan.rows) if self.used.stored is None else self.used.stored.n_rows

    @property
    def in_time(self) -> bool:
        """Whether smaller training sets are more recent ones."""
        return self.problem.time is not None

    def weights(self) -> dict[str, float]:
        """Return the weights of the learners at the largest size, mean over folds and repeats, the largest first."""
        mean = self.stacks[0].weights.mean(axis=0)
        return {self.names[m]: float(mean[m]) for m in np.argsort(-mean, kind="stable") if mean[m] > 0}

    def stack_signs(self) -> tuple[int, Floats] | None:
        """Return the number of columns and the shares of kinds of learners.

        None where no simulated problem is like this one: with other learners, with groups, and in time.
        """
        if not self.is_default or self.in_time or self.plan.clusters is not None:
            return None
        columns = self.used.X if self.used.tabular is None else self.used.tabular.values
        return columns.shape[1], shares_of_kinds(self.weights())


def learn(
    problem: Problem,
    *,
    cv: Any,
    max_rows: int | None,
    learners: Any,
    effort: str,
    n_jobs: int | None,
    seed: int,
    progress: Any,
    client: Any,
    repeats: int | None = None,
    planned: Planned | None = None,
) -> Learned:
    """Choose rows, deal them out to folds, train all learners and stack them; see `learned_floor`.

    With `planned`, as from `plan_for`, rows and folds are those of other features of the same rows.
    """
    n_threads = check_n_jobs(n_jobs)
    spent = EFFORTS[check_option("effort", effort, EFFORTS)]
    is_default = _are_default(learners)
    if planned is not None:
        problem, plan = as_planned(problem, planned)
    elif problem.stored is not None:
        plan = plan_from_disk(problem, cv)
    else:
        choice: dict[str, Any] = {"cv": cv, "max_rows": max_rows, "learners": learners, "effort": effort}
        problem, plan = plan_for(problem, **choice, seed=seed, n_jobs=n_jobs)
    used, centre, scale = standardised_target(problem if problem.stored is not None else problem.take(plan.rows))
    problem = problem.without_features()
    target = target_of(used, plan, spent.light)
    predicted = used.take(plan.predicted) if plan.is_many else used

    def default() -> dict[str, Learner]:
        look = Look(predicted.X, predicted.tabular, predicted.supervised, len(used.X))
        return target.default_learners(look, is_many=plan.is_many)

    families = check_learners(learners, target.known, default)
    n_learners = sum(len(learner.outputs) for learner in families.values())
    n_numbers = n_learners * sum(n_views_of(plan.splits)) * len(plan.predicted) * int(np.prod(target.shape))
    check_memory(4 * n_numbers, f"the predictions of {len(plan.predicted)} rows")
    check_memory(_training_bytes(used, n_threads), f"training on {len(used.X)} rows")
    cluster = cluster_of(client)

    judged = [
        *(name for name, each in families.items() if not (each.learns_slowly or isinstance(each, EstimatorLearner))),
        PARTS,
    ]
    n_rows = len(used.X)
    if repeats is None:
        n_repeats, fewest = (
            min(limits().repeats, max(spent.repeated[1] // n_rows, 1)),
            max(spent.repeated[0] // n_rows, 2),
        )
    else:
        n_repeats = fewest = check_int("repeats", repeats)
    n_repeats = n_repeats if plan.may_repeat else 1

    def fit(pool: WorkerPool, dealt: RowPlan, own_seed: int) -> tuple[CrossFit, list[Stack]]:
        fits = StackFits(target, own_seed, pool)
        race = LearnerRace(fits, spent, judged)
        if used.stored is not None:
            units = centre, scale
            fitted = cross_fit_from_disk(used, dealt, target, families, units, own_seed, pool, race, cluster)
            return fitted, fit_stacks(fitted, fits)
        fitted = cross_fit(used, dealt, target, families, own_seed, pool, race, cluster)
        if used.time is not None:
            fitted, fits = fitted.with_recent(), StackFits(target, own_seed, pool)
        return fitted, fit_stacks(fitted, fits)

    def dealt_out(number: int) -> RowPlan:
        return plan if number == 0 else split_again(plan, problem, cv, [seed, number])

    def fit_all(pool: WorkerPool) -> tuple[list[CrossFit], list[Stack]]:
        pool.expect(n_repeats * sum(len(split.train) for split in plan.splits) * len(families))
        fitted: list[CrossFit] = []
        stacks: list[Stack] = []
        while len(fitted) < n_repeats and not (len(fitted) >= fewest and _is_settled(stacks[0], target)):
            n_sure = len(fitted) + 1 if cluster is not None else max(min(fewest, n_repeats), len(fitted) + 1)
            plans = [(number, dealt_out(number)) for number in range(len(fitted), n_sure)]
            for another, more in pool.map_in_parallel(fit, [(pool, dealt, seed + n) for n, dealt in plans]):
                fitted.append(another)
                stacks = [stack.joined(others) for stack, others in zip(stacks, more, strict=True)] if stacks else more
        return fitted, stacks

    fitted, stacks = supervise(fit_all, n_threads, progress)
    if len(plan.counted) < len(plan.predicted):
        stacks = [stack.take(plan.counted, plan.folds) for stack in stacks]
    folds = np.array([each.folds[plan.counted] for each in fitted])
    sizes = np.mean([each.sizes for each in fitted], axis=0)
    members = Members(target, families, [each.predicted[0] for each in fitted])
    return Learned(problem, used, plan, folds, stacks, sizes, fitted[0].names, centre, scale, is_default, members)


def plan_for(
    problem: Problem, *, cv: Any, max_rows: int | None, learners: Any, effort: str, seed: int, n_jobs: int | None
) -> Planned:
    """Choose rows, and decide who is trained on what; see `learned_floor`."""
    most = EFFORTS[check_option("effort", effort, EFFORTS)].most_rows
    if max_rows is None and most < len(problem.X):
        max_rows = int(most)
    is_default = _are_default(learners)
    return plan_rows(problem, cv=cv, max_rows=max_rows, is_default=is_default, seed=seed, n_jobs=n_jobs)


def _are_default(learners: Any) -> bool:
    return isinstance(learners, str) and learners == "default"


def _is_settled(stack: Stack, target: Target) -> bool:
    """Tell whether the mean loss over repeats varies by little from one seed to another, beside its standard error."""
    losses = np.mean([target.losses(of_view) for of_view in np.moveaxis(stack.predicted, 1, 0)], axis=0)
    n_repeats, n_rows = losses.shape
    of_sampling = float(losses.mean(axis=0).var()) / n_rows
    squares = n_repeats * float(losses.mean(axis=1).var()) + USUAL_REPEATS * USUAL_SPREAD**2 * of_sampling
    return squares / (n_repeats - 1 + USUAL_REPEATS) / n_repeats <= SETTLED**2 * of_sampling


def standardised_target(used: Problem) -> tuple[Problem, float, float]:
    """Give numbers mean 0 and variance 1, and return what they were centred and divided by."""
    if used.task == "classification":
        return used, 0.0, 1.0
    weight = np.ones(len(used.y)) if used.sample_weight is None else used.sample_weight
    centre = float((weight * used.y).sum() / weight.sum())
    scale = float((weight * (used.y - centre) ** 2).sum() / weight.sum()) ** 0.5
    if not scale > 0:
        raise ValueError(f"y is {used.y[0]:g} in all of the {len(used.y)} rows that were used")
    return replace(used, y=(used.y - centre) / scale), centre, scale


def _training_bytes(used: Problem, n_threads: int) -> float:
    """Return about how much memory training takes: copies of the values, and the nodes of trees in each thread."""
    n_values = used.X.shape[1] + (0 if used.tabular is None else 3 * used.tabular.values.shape[1])
    return len(used.X) * min(n_threads, 5) * (12.0 * n_values + 60.0)


def named_learners(learners: Any) -> list[tuple[Any, Any]]:
    """Return the learners that a caller has given, each with its name."""
    if isinstance(learners, str) or hasattr(learners, "fit"):
        learners = [learners]
    if isinstance(learners, Mapping):
        return list(learners.items())
    return [(item if isinstance(item, str) else type(item).__name__, item) for item in learners]


def check_learners(learners: Any, known: Known, default: Callable[[], dict[str, Learner]]) -> dict[str, Learner]:
    """Return families of learners by name.

    Parameters
    ----------
    learners : str, estimator, list or mapping
        What the caller has given.
    known : Known
        Learners that have a name.
    default : callable
        Returns the families that "default" stands for.

    Returns
    -------
    dict of str to Learner
    """
    named = named_learners(learners)
    families: dict[str, Learner] = {}
    own: list[str] = []
    for name, learner in named:
        if isinstance(learner, str):
            if learner != "default" and learner not in known.learners:
                names = ", ".join(map(repr, ("default", *known.learners)))
                raise ParameterError("learners", f"made of {names} and {known.noun.split()[1]}s", learner)
            families |= default() if learner == "default" else {learner: known.learners[learner]}
        elif not hasattr(learner, "fit") or not known.is_learner(learner):
            raise TypeError(f"Learner {name!r} must be {known.noun}. Got {learner!r} instead.")
        else:
            own.append(str(name))
            families[f"{OWN} {len(own)}"] = EstimatorLearner(str(name), learner)
    if not families:
        raise ValueError("The 'learners' parameter must name at least one learner.")
    taken = Counter(name for learner in families.values() for name in learner.names)
    twice = [name for name in own if taken[name] > 1]
    if twice:
        raise ValueError(f"There are two learners called {twice[0]!r}; name them in a dict.")
    return families
