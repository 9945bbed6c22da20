"""The stack as a model: which learners it keeps, their weights, and what they are once they have seen all rows.

Cross-fitting tells what every learner predicts for rows that it has not seen. The stack's weights are fitted to these
predictions, in which learners were trained on four fifths of the rows. What a member adds is weighed against what it
costs to ask it: one whose absence costs less than `TENTH` of a standard error of the loss is left out, and members that
look for nearest rows, which takes longer than all else, must be worth more where there are many rows to look at. The
others are trained once more, on all rows.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from bayesfloor.data.prepared_table import Table
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.counted_rows import counted_rows
from bayesfloor.floor.learned.cross_fitting import FittedOnAll, fit_on_all
from bayesfloor.floor.learned.learning import Learned, standardised_target
from bayesfloor.floor.learned.row_plan import RowPlan
from bayesfloor.floor.learned.targets import Finish, target_of
from bayesfloor.floor.learned.training_sets import Standardizer
from bayesfloor.learn.learner import Fitted
from bayesfloor.learn.records import LARGEST_COEFFICIENT, LARGEST_TARGET, Record, record, require, require_within
from bayesfloor.learn.registry import output_of
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.cluster import cluster_of
from bayesfloor.runtime.threads import WorkerPool

#: Rows that are predicted at a time: what is computed of them stays in the cache, and memory is bounded.
BLOCK = 4096
#: Columns of codes that a model file may ask for: a row of them is made when it is read.
MOST_CODES = 10**6
#: What a member's absence may cost, in standard errors of the stack's loss.
TENTH = 0.1
#: Time of a search, in microseconds a row, that is worth as much; one of ten times that must be worth a standard error,
#: and none must be worth more.
CHEAP, DEAREST = 10.0, 10.0
#: Microseconds for a training row and column that is looked at, and for local ridge regression of few and of many rows.
OF_VALUE, OF_LOCAL_RIDGE = 2e-4, {False: 8.0, True: 40.0}
#: Share of the predictions that all members must have: not all learners are trained for every fold.
FEWEST_SHARED = 0.5
#: Member where rows are too few to tell members apart, of classes and of numbers, and its family.
PLAIN_MEMBER = {"classification": ("gaussian", "LDA"), "regression": ("linear", "ridge")}


class Weighted(NamedTuple):
    """Members of a stack.

    Attributes
    ----------
    weights : dict of str to float
        Their weights, the largest first.
    offset : ndarray of shape (n_classes,), or of none
        What is added to the weighted sum.
    """

    weights: dict[str, float]
    offset: Floats


@record
class StackModel(Record):
    """A stack of learners that were trained on all rows.

    Attributes
    ----------
    standardizer : Standardizer
        How rows are made like the training rows.
    fitted : tuple of Fitted
        What predicts them.
    finish : Finish
        How that becomes logarithms of probabilities, or numbers.
    weights : dict of str to float
        Weights of the members, the largest first.
    offset : ndarray of shape (n_classes,), or (1,)
        What is added to the weighted sum.
    are_classes : bool
        Whether it predicts classes.
    n_columns, n_codes : int
        Columns of the rows that it predicts, and of their codes.
    centre, scale : float
        The mean and the deviation of numbers; 0 and 1 for classes.
    """

    standardizer: Standardizer
    fitted: tuple[Fitted, ...]
    finish: Finish
    weights: dict[str, float]
    offset: Floats
    are_classes: bool
    n_columns: int
    n_codes: int
    centre: float
    scale: float

    def check(self) -> None:
        """Weights and figures are of the size that fits give, and a row is predicted: its kernels are loaded then."""
        weights = np.array(list(self.weights.values()))
        require(self.offset.ndim == 1 and len(weights))
        for values, least, largest in (
            (weights, 0.0, LARGEST_COEFFICIENT),
            (self.offset, -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT),
            (np.array([self.centre]), -LARGEST_TARGET, LARGEST_TARGET),
            (np.array([self.scale]), 0.0, LARGEST_TARGET),
        ):
            require_within(values, least, largest)
        scaling = self.standardizer.scaling
        require(scaling.largest.shape == scaling.centre.shape == scaling.scale.shape == (self.n_columns,))
        require(0 <= self.n_codes <= MOST_CODES)
        row, codes = np.zeros((1, self.n_columns)), np.full((1, self.n_codes), np.nan)
        with np.errstate(all="ignore"):
            found = self.predict(row, codes if self.n_codes else None, WorkerPool(1))
        require(found.shape == ((1, len(self.offset)) if self.are_classes else (1,)) and np.isfinite(found).all())

    def predict(self, X: NDArray[Any], codes: NDArray[Any] | None, pool: WorkerPool) -> Floats:
        """Return probabilities of the classes, or numbers.

        Parameters
        ----------
        X : ndarray of shape (n, n_columns)
            Rows, with columns as they were in training.
        codes : ndarray of shape (n, n_codes) or None
            The same as codes with gaps; None where training had none.
        pool : WorkerPool
            Threads to work with.

        Returns
        -------
        ndarray of shape (n, n_classes) or (n,)
        """
        shape, offset = (self.offset.shape, self.offset) if self.are_classes else ((), self.offset[0])
        found = np.empty((len(X), *shape))

        def fill(block: slice) -> None:
            pool.check()
            points = np.array(X[block], np.float64, order="C")
            rows = self.standardizer.rows(points, None if codes is None else codes[block])
            predicted = {name: values for each in self.fitted for name, values in each.predict(rows).items()}
            total = np.zeros((len(points), *shape))
            for name, weight in self.weights.items():
                total += weight * self.finish.of(predicted[name]).astype(np.float64)
            total += offset
            found[block] = softmax(total, axis=1) if self.are_classes else self.centre + self.scale * total

        pool.run(fill, [(slice(first, first + BLOCK),) for first in range(0, len(X), BLOCK)])
        return found


def fit_stack_model(
    learned: Learned, *, max_models: int | None, seed: int, pool: WorkerPool, client: Any = None
) -> StackModel:
    """Choose members by what was learned, and train them on all rows that are used.

    Parameters
    ----------
    learned : Learned
        What learners predict for rows that they have not seen.
    max_models : int or None
        Members at the most.
    seed : int
        As for `learn`.
    pool : WorkerPool
        Threads to work with.
    client : dask.distributed.Client or None, default=None
        Where members are trained.

    Returns
    -------
    StackModel
    """
    chosen = choose_members(learned, max_models, seed)
    used, plan, target = learned.used, learned.plan, learned.members.target
    if used.task == "classification":
        codes = used.codes[plan.tested]
        weight = None if used.sample_weight is None else used.sample_weight[plan.tested]
        # as figures are: from the shares of the classes among rows that were chosen to those among all
        of_all = counted_rows(learned.problem, codes, weight).at_shares_of_all(np.zeros(len(used.classes)))
        chosen = chosen._replace(offset=chosen.offset + of_all)
    fitted = fit_on_all(used, plan, target, learned.members.families, chosen.weights, seed, pool, cluster_of(client))
    return _model_of(fitted, chosen, used, learned.centre, learned.scale)


def estimator_of_run(X: Any, beside: Sequence[Any], table: Table | None, checked: Any, **settings: Any) -> Any:
    """Return the stack of a run of `learned_floor` or `regression_floor` as an estimator, trained on all rows.

    Parameters
    ----------
    X : object
        What the run was given.
    beside : sequence of object
        The target, groups and weights that it was given: names of columns that are no features, or values.
    table : Table or None
        What became of it.
    checked : Checked
        What the run found.
    **settings
        Parameters of the estimator, of which `random_state` is the seed of the run.

    Returns
    -------
    StackedClassifier or StackedRegressor
    """
    name = "StackedClassifier" if checked.given.problem.task == "classification" else "StackedRegressor"
    # the estimators stand on this room: they are looked up by their public names when one is asked for
    estimator = getattr(import_module("bayesfloor"), name)(**settings)
    return estimator._keep_run(X, beside, table, settings["random_state"], checked)


def check_may_return(problem: Problem) -> None:
    """Refuse rows in time: stacks of them have members of recent rows alone, which a model of all rows has not."""
    if problem.time is not None:
        raise ValueError("return_model=True is for rows without time: leave out 'time', or take the floor alone.")


def fit_plain_model(problem: Problem, seed: int, pool: WorkerPool) -> StackModel:
    """Train one learner on all rows, where they are too few to cross-fit."""
    used, centre, scale = standardised_target(problem)
    every = np.arange(len(used.X))
    plan = RowPlan(every, every, every, every, [], None, every, None, None, False, False, False, False, ())
    target = target_of(used, plan)
    family, member = PLAIN_MEMBER[problem.task]
    chosen = Weighted({member: 1.0}, np.zeros(target.shape))
    fitted = fit_on_all(used, plan, target, {family: target.known.learners[family]}, [member], seed, pool)
    return _model_of(fitted, chosen, used, centre, scale)


def _model_of(fitted: FittedOnAll, chosen: Weighted, used: Problem, centre: float, scale: float) -> StackModel:
    """Put what was fitted together with the weights of the members."""
    of_members = fitted.standardizer, fitted.fitted, fitted.finish
    offset, are_classes = np.atleast_1d(chosen.offset), used.task == "classification"
    shape = used.X.shape[1], 0 if used.tabular is None else used.tabular.values.shape[1]
    return StackModel(*of_members, chosen.weights, offset, are_classes, *shape, centre, scale)


# --- who is in the stack


def choose_members(learned: Learned, max_models: int | None, seed: int) -> Weighted:
    """Fit weights to what learners predict for rows that they have not seen, and leave out who adds next to nothing."""
    target, repeats = learned.members.target, learned.members.predicted
    predicted = np.concatenate(repeats, axis=1)
    if not np.isfinite(predicted[:, :, learned.plan.counted]).any():
        # no learner is better than what needs no features, at any size: none was trained on all the rows
        constant = np.nanmean(learned.stacks[0].predicted.reshape(-1, *target.shape), axis=0)
        return Weighted({learned.names[0]: 0.0}, np.asarray(constant, np.float64))
    among, views, rows = _complete(predicted, learned.stacks[0].weights.mean(axis=0), learned.plan.counted)

    def fit(some: Ints) -> tuple[Floats, Any, Floats]:
        weights, offset = target.fit_stack(predicted, some, views, rows, [seed])
        used = np.flatnonzero(weights)
        combined = target.combined(predicted[used][:, views, rows][:, np.newaxis], weights[used], offset)[0]
        return weights, offset, target.lost(combined, rows)

    weights, offset, lost = fit(among)
    # rows that are predicted in several repeats count once
    standard_error = float(lost.std()) / len(np.unique(rows)) ** 0.5
    lightest = np.flatnonzero(weights)[np.argsort(weights[weights > 0], kind="stable")]
    least = float(lost.mean())
    for left_out in _searches(lightest, learned.names):
        others = np.setdiff1d(np.flatnonzero(weights), left_out)
        without = fit(others) if len(others) else None
        if without and float(without[2].mean()) <= least + _worth(left_out, learned) * standard_error:
            weights, offset, lost = without
    least = float(lost.mean())
    for member in lightest:
        others = np.setdiff1d(np.flatnonzero(weights), [member])
        if not len(others) or not weights[member] > 0:
            continue
        # where there are too many, the lightest go, whatever that costs
        is_over = max_models is not None and len(others) >= max_models
        without = fit(others)
        if is_over or float(without[2].mean()) <= least + TENTH * standard_error:
            weights, offset, _ = without
    order = np.argsort(-weights, kind="stable")
    named = {learned.names[member]: float(weights[member]) for member in order if weights[member] > 0}
    if not named:  # nothing is better than what needs no features
        named = {learned.names[int(among[0])]: 0.0}
    return Weighted(named, np.broadcast_to(np.asarray(offset, np.float64), target.shape).copy())


def _searches(members: Ints, names: list[str]) -> list[Ints]:
    """Return the members that look for nearest rows in one space, for each space.

    They share the search, which takes longer than all else of a prediction: it is spared where all of them go.
    """
    found: dict[str, list[int]] = {}
    for member in members:
        space = output_of(names[member]).searches
        if space is not None:
            found.setdefault(space, []).append(int(member))
    return [np.array(each) for each in found.values()]


def _worth(members: Ints, learned: Learned) -> float:
    """Return what the absence of members that share a search may cost, in standard errors, for the time it spares."""
    n_ridges = sum(output_of(learned.names[member]).kind == "local ridge" for member in members)
    time = OF_VALUE * learned.used.X.size + n_ridges * OF_LOCAL_RIDGE[learned.plan.is_many]
    return TENTH * float(np.clip(time / CHEAP, 1.0, DEAREST))


def _complete(predicted: NDArray[Any], mean_weights: Floats, counted: Ints) -> tuple[Ints, Ints, Ints]:
    """Return learners, and the views and rows of predictions that all of them have.

    Learners are taken in the order of their mean weight over folds, so long as enough predictions are left.
    """
    is_there = np.isfinite(predicted[:, :, counted].reshape(*predicted.shape[:2], len(counted), -1)[..., 0])
    taken: list[int] = []
    common = np.ones(is_there.shape[1:], bool)
    for learner in np.argsort(-mean_weights, kind="stable"):
        if not mean_weights[learner] > 0 and taken:
            break
        left = common & is_there[learner]
        if left.sum() >= FEWEST_SHARED * common.size or not taken:
            taken.append(int(learner))
            common = left
    views, places = np.nonzero(common)
    return np.sort(taken), views, counted[places]
