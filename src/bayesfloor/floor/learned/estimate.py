"""The learned floor: what a stack of learners reaches, and where its learning curve ends.

The room's docstring shows the steps. The upper side of the result is proven by a model that exists. The lower side
assumes that the learning curve goes on as it does: no method can give a lower bound that holds for every distribution.
"""

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesfloor.data.folds import stratified_folds
from bayesfloor.data.sampling import LEARNED_ROWS, keys_of_values, stratified_rows
from bayesfloor.floor.learned.cross_fitting import VIEWS, cross_fit
from bayesfloor.floor.learned.learners import GROUPS, NAMES, TABLE_GROUPS, Group, group_of
from bayesfloor.floor.learned.result import LearnedFloor
from bayesfloor.floor.learned.stack_errors import errors_by_class, posterior_bounds, residual_test
from bayesfloor.floor.learned.stacking import Stack, fit_stacks
from bayesfloor.floor.learned.summary import find_in_learned, summarise
from bayesfloor.floor.trees.problem import Problem, Progress, check_problem
from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.checks import (
    ParameterError,
    check_confidence,
    check_int,
    check_max_rows,
    check_random_state_seed,
)
from bayesfloor.runtime.limits import check_memory, check_n_jobs
from bayesfloor.runtime.threads import Crew, supervise

#: Fewest folds: four disjoint training sets and the fold that they predict.
MIN_FOLDS = 5


def learned_floor(
    X: Any,
    y: Any = None,
    *,
    confidence: float = 0.95,
    cv: int = 5,
    max_rows: int | None = None,
    learners: Any = "default",
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = False,
) -> LearnedFloor:
    """Estimate how low the error of any classifier can go, from what many classifiers reach.

    A stack of learners predicts every row by cross-validation, trained on .8, .4 and .2 of the rows. Its errors, with
    and without the labels, form a learning curve, and the floor is where that ends.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features), or Table
        The points. Learners standardise them. A `Table` from `read_table` has its labels with it.
    y : array-like or series of shape (n_samples,), default=None
        The labels, of any type that can be sorted; left out with a Table.
    confidence : float, default=0.95
        Level of the intervals.
    cv : int, default=5
        Folds, at least 5.
    max_rows : int or None, default=None
        Rows to use at the most, as large a share of each class; None for 10 000 (`data.sampling.LEARNED_ROWS`).
    learners : "default", mapping or list, default="default"
        A dozen fast learners, or others, in a list or by name in a mapping: classifiers with ``predict_proba``, and the
        names of groups of fast ones ("gaussian", "marginals", "logistic", "neighbours", "kernels", "trees",
        "tables"; "default" for all, and for those of tables where X is a table).
    n_jobs : int or None, default=None
        Threads; None for every core.
    random_state : int, None or random generator, default=0
        Seeds the choice of rows, the folds and the learners.
    progress : bool or callable, default=False
        Show progress on a terminal, or call ``progress(done, total)``.

    Returns
    -------
    LearnedFloor
        The estimate and its interval; what the stack reaches; the curve.

    See Also
    --------
    bayes_error : The floor from spanning trees alone, in a fraction of the time.
    label_noise_check : Does the estimate move as it should when labels are redrawn?

    Notes
    -----
    The upper end of the interval is an error that a model attains, with its sampling error. The lower end assumes that
    the learning curve goes on as it does. No method can give a lower bound for every distribution: structure finer than
    the distances between rows cannot be seen in them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor import learned_floor
    >>> floor = learned_floor(*load_iris(return_X_y=True))
    >>> floor.interval[0] <= floor.estimate <= floor.reached <= floor.interval[1]
    True
    """
    started = time.perf_counter()
    problem = check_problem(X, y)
    n_classes = len(problem.classes)
    confidence = check_confidence(confidence)
    cv = _check_cv(cv, len(problem.X))
    groups = check_learners(learners, is_table=problem.tabular is not None)
    seed = check_random_state_seed(random_state)
    rows = choose_rows(problem, check_max_rows(max_rows, n_classes, LEARNED_ROWS), seed)
    points, codes = problem.X[rows], problem.codes[rows]
    tabular = None if problem.tabular is None else problem.tabular.take(rows)
    folds = stratified_folds(codes, cv, np.arange(len(codes)))
    n_learners = 3 * len(groups)
    check_memory(4 * n_learners * sum(VIEWS) * len(rows) * n_classes, f"the predictions of {len(rows)} rows")

    def learn(crew: Crew) -> tuple[list[Stack], tuple[float, ...], list[str]]:
        fitted = cross_fit(points, codes, n_classes, folds, groups, seed, crew, tabular)
        return fit_stacks(fitted, codes, seed, crew), fitted.sizes, fitted.names

    stacks, sizes, names = supervise(learn, check_n_jobs(n_jobs), progress)
    q = np.exp(stacks[0].log_q[0])
    residual_z = residual_test(points, codes, q, folds, n_jobs, seed)
    summary = summarise(stacks, np.array(sizes), codes, n_classes, residual_z, confidence)
    weights = stacks[0].weights.mean(axis=0)
    class_reached, pair_reached = errors_by_class(q, codes)
    return LearnedFloor(
        estimate=summary.estimate,
        interval=summary.interval,
        reached=summary.reached,
        reached_interval=summary.reached_interval,
        majority_error=summary.majority_error,
        curve=summary.curve,
        tree_bounds=posterior_bounds(q, codes, n_jobs, seed),
        residual_z=residual_z,
        class_reached=class_reached,
        pair_reached=pair_reached,
        weights={names[m]: float(weights[m]) for m in np.argsort(-weights, kind="stable") if weights[m] > 0},
        n_samples=len(problem.X),
        n_rows=len(rows),
        n_classes=n_classes,
        classes=problem.classes,
        confidence=confidence,
        findings=tuple(find_in_learned(summary, residual_z, problem, len(rows), cv)),
        seconds=time.perf_counter() - started,
    )


def choose_rows(problem: Problem, n_rows: int | None, seed: int) -> Ints:
    """Choose rows and put them in an order that depends on their values and the seed alone."""
    keys = keys_of_values(problem.X, problem.codes, seed)
    rows = stratified_rows(problem.codes, n_rows, keys)
    return rows[np.lexsort((problem.codes[rows], keys[rows]))]


def check_learners(learners: Any, *, is_table: bool = False) -> dict[str, Group]:
    """Return groups of learners by name; those of tables are among the default ones for a table alone."""
    known = {**GROUPS, **TABLE_GROUPS}
    if isinstance(learners, str) or hasattr(learners, "fit"):
        learners = [learners]
    if isinstance(learners, Mapping):
        named = list(learners.items())
    else:
        named = [(item if isinstance(item, str) else type(item).__name__, item) for item in learners]
    groups: dict[str, Group] = {}
    own: list[str] = []
    for name, learner in named:
        if isinstance(learner, str):
            if learner != "default" and learner not in known:
                names = ", ".join(map(repr, ("default", *known)))
                raise ParameterError("learners", f"made of {names} and classifiers", learner)
            default = known if is_table else GROUPS
            groups |= default if learner == "default" else {learner: known[learner]}
        elif not hasattr(learner, "fit") or not hasattr(learner, "predict_proba"):
            raise TypeError(f"Learner {name!r} must be a classifier with predict_proba. Got {learner!r} instead.")
        else:
            own.append(str(name))
            groups[f"own learner {len(own)}"] = group_of(str(name), learner)
    if not groups:
        raise ValueError("The 'learners' parameter must name at least one learner.")
    taken_names = Counter([*own, *(name for group in groups for name in NAMES.get(group, ()))])
    taken = [name for name in own if taken_names[name] > 1]
    if taken:
        raise ValueError(f"There are two learners called {taken[0]!r}; name them in a dict.")
    return groups


def _check_cv(cv: Any, n_rows: int) -> int:
    check_int("cv", cv, MIN_FOLDS)
    if n_rows < 4 * cv:
        raise ValueError(f"A learning curve with cv={cv} needs at least {4 * cv} rows. Got {n_rows}.")
    return int(cv)
