"""Predict every row by models that have not seen it, trained on many, half as many and a quarter as many rows."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.row_plan import RowPlan
from bayesfloor.floor.learned.splits import VIEWS, Split, folds_seen, n_views_of
from bayesfloor.floor.learned.targets import Finish, Target
from bayesfloor.floor.learned.time_periods import RECENT
from bayesfloor.floor.learned.training_sets import Standardizer, standardised_set, training_set
from bayesfloor.learn.learner import Fitted, Learner, fit, fit_predict
from bayesfloor.runtime.arrays import Bools, Ints
from bayesfloor.runtime.cluster import Cluster, ClusterRun
from bayesfloor.runtime.limits import one_of_a_pool
from bayesfloor.runtime.task_graph import Graph, Job
from bayesfloor.runtime.threads import WorkerPool, supervise

#: Tasks that the families of learners of one training set are dealt out to: each standardises the rows anew.
N_BUNDLES = 4
_SIZES = range(len(VIEWS))

Bundle = tuple[tuple[str, Learner], ...]


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
    raced : list of ndarray of shape (n_folds, n_learners)
        For each of the sizes, the learners that were trained for the stack of each fold.
    earlier : tuple of ndarray or None
        For each fold, the folds that its stack may be fitted on; None for all others.
    seen : list of ndarray of shape (n_views, n_folds, n_folds), or None
        As from `folds_seen`; None where nobody has seen any.
    families : list of str
        The families of the learners.
    """

    names: list[str]
    predicted: list[NDArray[np.float32]]
    sizes: tuple[float, ...]
    folds: Ints
    raced: list[Bools]
    earlier: tuple[Ints, ...] | None = None
    seen: list[Bools] | None = None
    families: list[str] = field(default_factory=list)

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return int(self.folds.max()) + 1

    def outside(self, fold: int) -> Ints:
        """Return the rows that the stack of a fold may be fitted on."""
        if self.earlier is None:
            return np.flatnonzero((self.folds != fold) & (self.folds >= 0))
        return np.flatnonzero(np.isin(self.folds, self.earlier[fold]))

    def trained_for(self, fold: int, size: int) -> Ints:
        """Return the learners that may take part in the stack of a fold, at one of the sizes."""
        return np.flatnonzero(self.raced[size][fold])

    def with_recent(self) -> "CrossFit":
        """Let the learners of more recent rows take part beside those of all of the past, and of half of it."""
        predicted = [np.concatenate(self.predicted[size : len(VIEWS)]) for size in _SIZES]
        raced = [np.concatenate(self.raced[size : len(VIEWS)], axis=1) for size in _SIZES]
        names = [name + suffix for suffix in ("", *RECENT) for name in self.names]
        return replace(self, names=names, predicted=predicted, raced=raced)


#: Tells, from the predictions of smaller training sets, which learners are trained on those of a size, for the stack of
#: each fold: an array of shape (n_folds, n_learners).
Race = Callable[[CrossFit, int], Bools]


def cross_fit(
    problem: Problem,
    plan: RowPlan,
    target: Target,
    families: Mapping[str, Learner],
    seed: int,
    pool: WorkerPool,
    race: Race,
    cluster: Cluster | None = None,
) -> CrossFit:
    """Train learners on every training set, the smallest first, and collect the predictions.

    Parameters
    ----------
    problem : Problem
        The rows that are used, in random order.
    plan : RowPlan
        Who is trained on what.
    target : Target
        Turns what learners return into predictions.
    families : mapping of str to Learner
        Families of learners, as in `bayesfloor.learn.registry`.
    seed : int
        Seeds what learners draw at random.
    pool : WorkerPool
        Threads to work with.
    race : Race
        Who goes on from each size to the next.
    cluster : Cluster or None, default=None
        Whose workers train; None for the threads of the pool. The result is the same.

    Returns
    -------
    CrossFit
    """
    splits = plan.splits
    seeds = np.random.SeedSequence(seed).generate_state(len(splits)).tolist()
    inputs = _FitInputs(problem, plan, target, seeds)
    bundles = _bundles_of(families, problem, is_many=plan.is_many)
    counted = [split for split in splits if not split.for_stack]
    sizes = tuple(float(np.mean([len(split.train) for split in counted if split.size == size])) for size in _SIZES)
    seen = folds_seen(splits, plan.folds, plan.predicted, len(problem.X))
    fitted = CrossFit([], [], sizes, plan.folds, [], plan.earlier, seen)
    is_used = _folds_that_use(splits, fitted)
    known: list[tuple[str, str]] = []
    raced: list[Bools] = []
    shape = len(plan.predicted), *target.shape
    for size in _from_small_to_large(len(seen)):
        numbers = [number for number, split in enumerate(splits) if split.size == size]
        wanted: list[frozenset[str] | None] = [None] * len(numbers)
        if raced:
            raced[size][:] = race(fitted, size)
            needed = is_used[numbers].astype(np.int64) @ raced[size]
            wanted = [frozenset(np.array(fitted.names)[of_split > 0].tolist()) for of_split in needed]
        found = _fit_splits(inputs, numbers, wanted, bundles, known, pool, cluster)
        if not fitted.names:
            known = [(family, name) for family in families for name in found[0][family]]
            n_views = n_views_of(splits)
            raced = [np.ones((fitted.n_folds, len(known)), bool) for _ in n_views]
            fitted = replace(
                fitted,
                names=[name for _, name in known],
                predicted=[np.full((len(known), views, *shape), np.nan, np.float32) for views in n_views],
                families=[family for family, _ in known],
                raced=raced,
            )
        for number, of_families in zip(numbers, found, strict=True):
            _collect(fitted.predicted[size], known, splits[number], of_families)
    return fitted


def _from_small_to_large(n_sizes: int) -> list[int]:
    """Return the sizes in the order of training: what a stack is fitted on comes before what it combines."""
    return [*reversed(_SIZES[1:]), *range(len(VIEWS), n_sizes), 0]


def _folds_that_use(splits: Sequence[Split], fitted: CrossFit) -> Bools:
    """Tell the stacks of which folds use each training set: they combine its predictions, or are fitted on them."""
    n_folds = fitted.n_folds
    is_used = np.zeros((len(splits), n_folds), bool)
    is_outside = np.array([np.isin(np.arange(n_folds), fitted.folds[fitted.outside(fold)]) for fold in range(n_folds)])
    assert fitted.seen is not None
    for number, split in enumerate(splits):
        for rows, view in split.tests:
            tested = np.setdiff1d(fitted.folds[rows], [-1])
            is_clean = ~fitted.seen[split.size][view, tested]
            is_used[number] |= (is_clean & is_outside.T[tested]).any(axis=0)
            is_used[number, tested] = True
    return is_used


def _collect(predicted: NDArray[np.float32], known: Sequence[tuple[str, str]], split: Split, found: "Found") -> None:
    """Write what the learners of a training set predict to its place."""
    for learner, (family, name) in enumerate(known):
        values = found.get(family, {}).get(name)
        first = 0
        for rows, view in split.tests if values is not None else ():
            assert values is not None
            predicted[learner, view, rows] = values[first : first + len(rows)]
            first += len(rows)


def _bundles_of(families: Mapping[str, Learner], problem: Problem, *, is_many: bool) -> list[Bundle]:
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


#: What the learners of each family predict.
Found = dict[str, dict[str, NDArray[np.float32]]]


def _fit_splits(
    inputs: _FitInputs,
    numbers: Sequence[int],
    wanted: Sequence[frozenset[str] | None],
    bundles: Sequence[Bundle],
    known: Sequence[tuple[str, str]],
    pool: WorkerPool,
    cluster: Cluster | None,
) -> list[Found]:
    """Train learners on some of the training sets: those that are wanted of each, or all."""
    tasks, amounts = [], []
    for number, names in zip(numbers, wanted, strict=True):
        of_split = [
            tuple(item for item in bundle if names is None or any(f == item[0] and n in names for f, n in known))
            for bundle in bundles
        ]
        of_split = [bundle for bundle in of_split if bundle]
        tasks += [(number, bundle, names) for bundle in of_split]
        # what is left out counts as done with the rest
        whole = len(inputs.plan.splits[number].train) * sum(map(len, bundles))
        amounts += [whole * len(bundle) // sum(map(len, of_split)) for bundle in of_split]
    outputs = run_fits(_fit_families, inputs, tasks, amounts, pool, cluster)
    found: dict[int, Found] = {number: {} for number in numbers}
    for (number, _, _), of_bundle in zip(tasks, outputs, strict=True):
        found[number] |= of_bundle
    return [found[number] for number in numbers]


def _fit_families(
    inputs: _FitInputs,
    pool: WorkerPool,
    number: int,
    families: Sequence[tuple[str, Learner]],
    wanted: frozenset[str] | None,
) -> Found:
    """Train families of learners on one training set, and return what they predict."""
    problem, plan, target, seeds = inputs
    split = plan.splits[number]
    others = plan.predicted[np.concatenate([rows for rows, _ in split.tests])]
    train, rows = training_set(problem, split.train, others, is_many=plan.is_many and target.takes_single)
    train, rows = train._replace(check=pool.check), replace(rows, check=pool.check)
    finish = target.finish(train, problem, split.train)
    found = {}
    for name, family in families:
        pool.check()
        outputs = fit_predict(family, train, wanted, seeds[number], rows)
        found[name] = {learner: finish.of(values) for learner, values in outputs.items()}
    return found


def fit_sample(
    problem: Problem,
    plan: RowPlan,
    target: Target,
    families: Mapping[str, Learner],
    wanted: Collection[str],
    seed: int,
    pool: WorkerPool,
    cluster: Cluster | None = None,
    number: int = 0,
    amount: int = 0,
) -> "Found":
    """Train some learners on one training set.

    Parameters
    ----------
    problem, plan, target, families, seed, pool, cluster
        As for `cross_fit`.
    wanted : collection of str
        The learners.
    number : int, default=0
        Which of the training sets.
    amount : int, default=0
        How much work each family is, for progress.

    Returns
    -------
    dict of str to dict
        The predictions of the learners of each family.
    """
    seeds = np.random.SeedSequence(seed).generate_state(len(plan.splits)).tolist()
    inputs = _FitInputs(problem, plan, target, seeds)
    tasks = [(number, ((name, family),), frozenset(wanted)) for name, family in families.items()]
    found = run_fits(_fit_families, inputs, tasks, [amount] * len(tasks), pool, cluster)
    return {family: of_family for of_task in found for family, of_family in of_task.items()}


class FittedOnAll(NamedTuple):
    """Learners that were trained on all rows, and what is done with rows before and after they predict them."""

    standardizer: Standardizer
    fitted: tuple[Fitted, ...]
    finish: Finish


def fit_on_all(
    problem: Problem,
    plan: RowPlan,
    target: Target,
    families: Mapping[str, Learner],
    wanted: Collection[str],
    seed: int,
    pool: WorkerPool,
    cluster: Cluster | None = None,
) -> FittedOnAll:
    """Train some learners on all rows that are used, to predict others later.

    Parameters
    ----------
    problem, plan, target, families, seed, pool, cluster
        As for `cross_fit`.
    wanted : collection of str
        The learners.

    Returns
    -------
    FittedOnAll
    """
    own_seed = int(np.random.SeedSequence(seed).generate_state(1)[0])
    pool.expect(len(families))
    used = [family for family in families.values() if not set(family.names).isdisjoint(wanted)]
    shared = problem, plan.is_many and target.takes_single, target, frozenset(wanted), own_seed
    found = run_fits(_fit_on_all, shared, [(family,) for family in used], [1] * len(used), pool, cluster)
    return found[0]._replace(fitted=tuple(fitted for each in found for fitted in each.fitted))


def _fit_on_all(shared: Any, pool: WorkerPool, family: Learner) -> FittedOnAll:
    """Train learners of a family on all rows."""
    problem, is_many, target, wanted, seed = shared
    every = np.arange(len(problem.X))
    train, standardizer = standardised_set(problem, every, is_many=is_many)
    train = train._replace(check=pool.check)
    fitted = fit(family, train, wanted, seed)
    return FittedOnAll(standardizer, (fitted,), target.finish(train, problem, every))


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
