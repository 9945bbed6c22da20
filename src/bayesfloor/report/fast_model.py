"""What `LandmarkClassifier` reaches on the rows that the stack was judged on, and how long it takes to train."""

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from bayesfloor.floor.learned.held_out import HeldOutClasses, TrainingSet, log_of_known
from bayesfloor.floor.trees.problem import Options, Progress
from bayesfloor.learn.landmarks.efforts import EFFORTS
from bayesfloor.learn.landmarks.fitting import LandmarkModel, fit_model, order_rows, probabilities_of, scores_of
from bayesfloor.learn.training_rows import Train
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.checks import check_random_state_seed
from bayesfloor.runtime.limits import check_n_jobs
from bayesfloor.runtime.progress import reporter
from bayesfloor.runtime.threads import supervise

#: Rows of a first fit that is not timed: compiled code is loaded then, or made where there is none yet.
WARM_UP_ROWS = 300


@dataclass(frozen=True, eq=False)
class FastModel:
    """A model that trains fast, judged on the same rows as the stack.

    Attributes
    ----------
    name : str
        What it is called.
    values : mapping of str to float
        Each metric, by its name.
    seconds : float
        Median time of training on one training set.
    n_rows : int
        Mean number of rows trained on.
    """

    name: str
    values: Mapping[str, float]
    seconds: float
    n_rows: int


def try_fast_model(held_out: HeldOutClasses, options: Options, progress: Progress = False) -> FastModel:
    """Train on each training set of the largest size, and predict what the stack has predicted from there."""
    tell = reporter(progress)
    log_p = np.empty((len(held_out.tested), len(held_out.used.classes)))
    seconds: list[float] = []
    sizes: list[int] = []
    for each in held_out.training_sets():
        if not seconds:
            _warm_up(each.train, options)
        log_p[each.places], taken = _fit(each, options)
        seconds.append(taken)
        sizes.append(len(each.train.codes))
        if tell is not None:
            tell(len(sizes), len(held_out.splits))
    values = held_out.values(log_p)
    return FastModel("LandmarkClassifier", values, float(np.median(seconds)), round(float(np.mean(sizes))))


def _warm_up(train: Train, options: Options) -> None:
    """Fit a few rows, so that compiled code is there when others are timed."""
    classes, codes = np.unique(train.codes[:WARM_UP_ROWS], return_inverse=True)
    if len(classes) > 1:
        _train(train.X[:WARM_UP_ROWS], codes, len(classes), None, options)


def _fit(rows: TrainingSet, options: Options) -> tuple[Floats, float]:
    """Return logarithms of what a model of some rows predicts for others, and how long it trained."""
    train, others = rows.train, rows.others
    classes, codes = np.unique(train.codes, return_inverse=True)
    started = perf_counter()
    if len(classes) == 1:  # in an order of time, the past may have one class only
        return log_of_known(np.ones((len(others), 1)), classes, train), perf_counter() - started
    model = _train(train.X, codes, len(classes), rows.groups, options)
    taken = perf_counter() - started
    scores = supervise(
        lambda pool: scores_of(
            np.asarray(others, np.float64), model.feature_map, model.coefficients, model.members, pool
        ),
        check_n_jobs(options.n_jobs),
        False,
    )
    return log_of_known(probabilities_of(scores), classes, train), taken


def _train(X: Floats, codes: Ints, n_classes: int, groups: Ints | None, options: Options) -> LandmarkModel:
    """Train what `LandmarkClassifier` would; the estimator itself would load scikit-learn, which takes a second."""
    seed, effort = check_random_state_seed(options.random_state), EFFORTS["default"]
    X = np.ascontiguousarray(X, np.float64)
    rows = order_rows(X, codes, np.ones(len(codes)), seed, groups, effort)
    return supervise(lambda pool: fit_model(rows, n_classes, effort, seed, pool), check_n_jobs(options.n_jobs), False)
