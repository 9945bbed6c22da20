"""Predict every row by models that have not seen it, trained on many, half as many and a quarter as many rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.row_plan import RowPlan
from bayesfloor.floor.learned.splits import VIEWS, folds_seen, n_views_of
from bayesfloor.floor.learned.targets import Target
from bayesfloor.floor.learned.time_periods import RECENT
from bayesfloor.floor.learned.training_sets import training_set
from bayesfloor.learn.families import Family
from bayesfloor.runtime.arrays import Bools, Ints
from bayesfloor.runtime.cluster import Cluster, ClusterRun
from bayesfloor.runtime.limits import one_of_a_pool
from bayesfloor.runtime.task_graph import Graph, Job
from bayesfloor.runtime.threads import WorkerPool, supervise

#: Tasks that the families of learners of one training set are dealt out to: each standardises the rows anew.
N_BUNDLES = 4
_SIZES = range(len(VIEWS))

Bundle = tuple[tuple[str, Family], ...]


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Predictions of rows by models that have not seen them.

    Attributes
    ----------
    names : list of str
        The learners.
    predicted : list of ndarray of shape (n_learners, n_views, n, …)
        Logarithms of probabilities, or numbers, for each of the sizes; behind them, where there are such, of `NESTED`
        models.
    sizes : tuple of float
        Mean number of training rows, for each of the sizes.
    folds : ndarray of shape (n,)
        The fold of each row; -1 for rows that are trained on and never predicted.
    earlier : tuple of ndarray or None
        For each fold, the folds that its stack may be fitted on; None for all others.
    seen : list of ndarray of shape (n_views, n_folds, n_folds), or None
        As from `folds_seen`; None where nobody has seen any.
    """

    names: list[str]
    predicted: list[NDArray[np.float32]]
    sizes: tuple[float, ...]
    folds: Ints
    earlier: tuple[Ints, ...] | None = None
    seen: list[Bools] | None = None

    def outside(self, fold: int) -> Ints:
        """Return the rows that the stack of a fold may be fitted on."""
        if self.earlier is None:
            return np.flatnonzero((self.folds != fold) & (self.folds >= 0))
        return np.flatnonzero(np.isin(self.folds, self.earlier[fold]))

    def with_recent(self) -> "CrossFit":
        """Let the learners of more recent rows take part beside those of all of the past, and of half of it."""
        predicted = [np.concatenate(self.predicted[size : len(VIEWS)]) for size in _SIZES]
        names = [name + suffix for suffix in ("", *RECENT) for name in self.names]
        return replace(self, names=names, predicted=predicted)


def cross_fit(
    problem: Problem,
    plan: RowPlan,
    target: Target,
    families: Mapping[str, Family],
    seed: int,
    pool: WorkerPool,
    cluster: Cluster | None = None,
) -> CrossFit:
    """Train every learner on every training set and collect the predictions.

    Parameters
    ----------
    problem : Problem
        The rows that are used, in random order.
    plan : RowPlan
        Who is trained on what.
    target : Target
        Turns what learners return into predictions.
    families : mapping of str to Family
        Learners, as in `bayesfloor.learn.families`.
    seed : int
        Seeds what learners draw at random.
    pool : WorkerPool
        Threads to work with.
    cluster : Cluster or None, default=None
        Whose workers train; None for the threads of the pool. The result is the same.

    Returns
    -------
    CrossFit
    """
    splits = plan.splits
    seeds = np.random.SeedSequence(seed).generate_state(len(splits)).tolist()
    bundles = _bundles_of(families, problem, is_many=plan.is_many)
    tasks = [(number, bundle) for number in range(len(splits)) for bundle in bundles]
    amounts = [len(splits[number].train) * len(bundle) for number, bundle in tasks]
    outputs = run_fits(_fit_families, _FitInputs(problem, plan, target, seeds), tasks, amounts, pool, cluster)
    of_splits = [outputs[first : first + len(bundles)] for first in range(0, len(outputs), len(bundles))]
    found = [{family: fits for of_bundle in of_split for family, fits in of_bundle.items()} for of_split in of_splits]
    learners = [(family, name) for family in families for name in found[0][family]]
    shape = len(plan.predicted), *target.shape
    predicted = [np.full((len(learners), views, *shape), np.nan, np.float32) for views in n_views_of(splits)]
    for split, of_families in zip(splits, found, strict=True):
        for learner, (family, name) in enumerate(learners):
            first = 0
            for rows, view in split.tests:
                predicted[split.size][learner, view, rows] = of_families[family][name][first : first + len(rows)]
                first += len(rows)
    counted = [split for split in splits if not split.for_stack]
    sizes = tuple(float(np.mean([len(split.train) for split in counted if split.size == size])) for size in _SIZES)
    seen = folds_seen(splits, plan.folds, plan.predicted, len(problem.X))
    return CrossFit([name for _, name in learners], predicted, sizes, plan.folds, plan.earlier, seen)


def _bundles_of(families: Mapping[str, Family], problem: Problem, *, is_many: bool) -> list[Bundle]:
    """Deal families of learners out to tasks, so that few threads wait; one task where it is dear to make features."""
    n_bundles = len(families) if is_many else min(N_BUNDLES, len(families))
    n_bundles = n_bundles if problem.supervised is None else 1
    return [tuple(families.items())[first::n_bundles] for first in range(n_bundles)]


class _FitInputs(NamedTuple):
    """What all fits share: the rows, the training sets, and a seed for each."""

    problem: Problem
    plan: RowPlan
    target: Target
    seeds: list[int]


def _fit_families(
    inputs: _FitInputs, pool: WorkerPool, number: int, families: Sequence[tuple[str, Family]]
) -> dict[str, dict[str, NDArray[np.float32]]]:
    """Train families of learners on one training set, and return what they predict."""
    problem, plan, target, seeds = inputs
    split = plan.splits[number]
    others = plan.predicted[np.concatenate([rows for rows, _ in split.tests])]
    train, test = training_set(problem, split.train, others, is_many=plan.is_many and target.takes_single)
    train = train._replace(check=pool.check)
    found = {}
    for name, family in families:
        pool.check()
        outputs = family(train, test, seeds[number])
        found[name] = {
            learner: target.predictions(values, train, problem, split.train) for learner, values in outputs.items()
        }
    return found


T = TypeVar("T")


def run_fits(
    fit: Callable[..., T],
    shared: Any,
    arguments: Sequence[tuple[Any, ...]],
    amounts: Sequence[int],
    pool: WorkerPool,
    cluster: Cluster | None = None,
) -> list[T]:
    """Call a function for each of the arguments and return the results in that order.

    Parameters
    ----------
    fit : callable
        A pure function ``(shared, pool, *arguments)`` of a module, so that it can be sent to a worker.
    shared : object
        What all calls need.
    arguments : sequence of tuple
        What each call needs beside that.
    amounts : sequence of int
        How much work each call is, for progress.
    pool : WorkerPool
        Threads to work with; on a cluster, whom to tell about progress, and who says when to stop.
    cluster : Cluster or None, default=None
        Where the calls are made; None for the threads of the pool.

    Returns
    -------
    list
    """
    if cluster is None:
        return pool.run(partial(fit, shared, pool), arguments, amounts)
    jobs = {
        f"fit {number}": Job(partial(_fit_on_worker, fit, own), ("shared",), amount)
        for number, (own, amount) in enumerate(zip(arguments, amounts, strict=True))
    }
    before = pool.done

    def report(done: int, _: int) -> None:
        pool.check()
        pool.advance(before + done - pool.done)

    results = ClusterRun(cluster, Graph({"shared": shared}, jobs, list(jobs))).run(report)
    return [results[name] for name in jobs]


def _fit_on_worker(fit: Callable[..., T], own: tuple[Any, ...], shared: Any) -> T:
    """Call the function with one thread, BLAS held to one: the order of sums decides about their last bits."""
    with one_of_a_pool(2):  # a worker may run several tasks at a time
        return supervise(lambda pool: fit(shared, pool, *own), 1, False)
