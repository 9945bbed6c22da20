"""The floor for numbers: what a stack of regressors reaches, and where its learning curve ends."""

from time import perf_counter
from typing import Any

import numpy as np

from bayesfloor.data.metrics import METRICS, NUMBER_METRICS, unknown_metric
from bayesfloor.data.numbers import weighted_median
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.held_out import HeldOutNumbers
from bayesfloor.floor.learned.large_tables import problem_of_any_size
from bayesfloor.floor.learned.learning import Learned, learn
from bayesfloor.floor.learned.learning_curve import power_of
from bayesfloor.floor.learned.regression.findings import find_in_numbers
from bayesfloor.floor.learned.regression.noise_profile import noise_profile, suspicious_numbers
from bayesfloor.floor.learned.regression.residuals import TestedRows, tested_rows
from bayesfloor.floor.learned.regression.result import RegressionFloor
from bayesfloor.floor.learned.regression.summary import (
    Level,
    NumberSummary,
    level_of,
    summarise_numbers,
)
from bayesfloor.floor.learned.result import LearningCurve, MetricFloor
from bayesfloor.floor.learned.row_plan import Planned
from bayesfloor.floor.learned.rules import below_attained
from bayesfloor.floor.learned.stack_model import check_may_return, estimator_of_run
from bayesfloor.floor.learned.trust.checks import checked_floor
from bayesfloor.floor.learned.trust.source import source_from
from bayesfloor.floor.trees.problem import Progress
from bayesfloor.runtime.arrays import Floats, Range
from bayesfloor.runtime.checks import (
    check_confidence,
    check_random_state_seed,
    is_int,
)
from bayesfloor.runtime.findings import in_order
from bayesfloor.runtime.frames import like_input
from bayesfloor.runtime.threads import WorkerPool, supervise


@like_input
def regression_floor(
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    time: Any = None,
    metric: Any = "r2",
    confidence: float = 0.95,
    cv: Any = 5,
    repeats: int | None = None,
    max_rows: int | None = None,
    learners: Any = "default",
    effort: str = "default",
    sample_weight: Any = None,
    prepare: Any = "auto",
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = False,
    client: Any = None,
    checks: bool = True,
    return_model: bool = False,
) -> Any:
    """Estimate how much of a number any model can predict: the noise variance, and the ceiling of R².

    A stack of learners predicts every row by cross-validation, trained on .8, .4 and .2 of the rows. Where its squared
    error ends is told by its learning curve, and by what residuals of neighbours have in common: what the stack still
    misses is common to them, and noise is not. Up to 2000 rows are dealt out to folds several times, and figures are
    means over the repeats, until they hardly depend on the seed. Of more than 10 000 rows, about 10 000 are held out
    and predicted, and the others are trained on.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features), Table, path, LazyFrame or Dask collection
        The features, which learners standardise, or the file of a table. A `Table` from `read_table` has its target
        with it.
    y : array-like of shape (n_samples,), str, default=None
        The target: numbers, or the name of their column; left out with a Table.
    groups : array-like of shape (n_samples,), default=None
        Rows that belong together, such as those of one patient, user or machine, have the same value. No model is then
        tested on a group that it was trained on, and the figures are about new groups. At least 5 groups. None for the
        groups of a Table, if it has any.
    time : array-like of shape (n_samples,), default=None
        When each row was seen, as numbers or dates. Models are then trained on the past and tested on what came next;
        the figures are about the later half of the rows. None for the time of a Table, if it has any.
    metric : {"r2", "rmse", "mae"} or list of them, default="r2"
        The headline; the first of a list. All three are computed.
    confidence : float, default=0.95
        Level of the intervals.
    cv : int, splitter or iterable, default=5
        Folds, at least 5: how many, or anything that scikit-learn splits by, so long as each row is tested once. With
        `time`, an int: the periods that the later half of the rows is cut into.
    repeats : int, default=None
        How often rows are dealt out to folds; figures are means over the repeats. None for up to 10 times, until they
        hardly depend on the seed. With `time`, splits of one's own or more than 10 000 rows, always once.
    max_rows : int or None, default=None
        Rows to use at the most. None for all rows of a file or another source of 200 000 rows or more; else for all, up
        to 1 000 000 rows and 64 million values; for 10 000 with `time`, or
        where `cv` or `learners` are others than a number and the default.
    learners : "default", mapping or list, default="default"
        Some twenty fast learners, or others, in a list or by name in a mapping: regressors, and the names of groups of
        fast ones ("linear", "additive", "neighbours", "kernels", "gradients", "trees", "boosting", "unit"; "default"
        for those that suit the columns of X).
    sample_weight : array-like of shape (n_samples,), str or None, default=None
        What each row counts, in training and in all figures, or the name of a column of a data frame. Rows of weight 0
        are not used.
    effort : {"fast", "default"}, default="default"
        How much is trained. By default learners race: all are trained on the smallest training sets, and only those
        that may matter in the stack on larger ones. With "fast" the race is stricter, nothing is dealt out again, and
        at most 4000 rows are used, unless `max_rows` says otherwise.
    prepare : {"auto", None} or transformer, default="auto"
        How a data frame becomes numbers, as for `read_table`; a frame of numbers without gaps is used as it is.
    n_jobs : int or None, default=None
        Threads; None for every core.
    random_state : int, None or random generator, default=0
        Seeds the choice of rows, the folds and the learners.
    progress : bool or callable, default=False
        Show progress on a terminal, or call ``progress(done, total)``.
    client : dask.distributed.Client or None, default=None
        Train the learners on the workers of this cluster, with the same result. None trains them here.
    checks : bool, default=True
        Look for columns that give the target away, rows that belong together and an order in time, where nobody said
        so. Where they make the figures too good, `honest` of the result has those that hold, and a `TrustWarning`
        says so.
    return_model : bool, default=False
        Return the stack as well, its members trained on all rows; not with `time`.

    Returns
    -------
    floor : RegressionFloor
        The ceiling of R² and its interval; the noise; what the stack reaches; the curve.
    model : StackedRegressor
        The model of this very run, fitted; only with `return_model`.

    Warns
    -----
    TrustWarning
        Where the figures are too good for rows to come.

    See Also
    --------
    learned_floor : The same for classes.

    Notes
    -----
    The ends of the interval are averages of two: what the learning curve says, and what simulated problems of known
    noise say; with `groups`, `time` or other learners, the curve alone. The lower end of R² is never above what a model
    attains. No method can bound R² from above for every distribution: structure finer than the distances between rows
    cannot be told from noise, unless rows with equal features are there.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bayesfloor import regression_floor
    >>> floor = regression_floor(*load_diabetes(return_X_y=True), learners=["linear", "additive"])
    >>> floor.interval[0] <= floor.reached <= floor.estimate <= floor.interval[1]
    True
    """
    random_state = check_random_state_seed(random_state)  # one for the rows, for the run and for the model
    given = problem_of_any_size(
        X,
        y,
        task="regression",
        prepare=prepare,
        beside={"groups": groups, "time": time, "sample_weight": sample_weight},
        choices={
            "cv": cv,
            "repeats": repeats,
            "max_rows": max_rows,
            "learners": learners,
            "effort": effort,
            "return_model": return_model,
        },
        seed=random_state,
        n_jobs=n_jobs,
        progress=progress,
    )
    if return_model:
        check_may_return(given.problem)
    settings: dict[str, Any] = {
        "confidence": confidence,
        "max_rows": max_rows,
        "learners": learners,
        "effort": effort,
        "n_jobs": n_jobs,
        "random_state": random_state,
        "client": client,
    }
    judged_by = {"metric": metric, "cv": cv, "repeats": repeats}
    found = checked_floor(
        source_from(given.sample, given.table, y),
        given.problem,
        lambda problem, progress: regression_floor_of(problem, **judged_by, **settings, progress=progress),
        checks=checks,
        learners=learners,
        may_split=is_int(cv),
        n_jobs=n_jobs,
        seed=random_state,
        progress=progress,
    )
    found.warn()
    if not return_model:
        return found.floor
    return found.floor, estimator_of_run(
        X, (y, groups, sample_weight), given.table, found, **settings, progress=progress, checks=checks
    )


def regression_floor_of(
    problem: Problem,
    *,
    metric: Any = "r2",
    confidence: float = 0.95,
    cv: Any = 5,
    repeats: int | None = None,
    max_rows: int | None = None,
    learners: Any = "default",
    effort: str = "default",
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = False,
    client: Any = None,
    planned: Planned | None = None,
) -> tuple[RegressionFloor, HeldOutNumbers]:
    """Estimate the floor of points and a target that are checked; see `regression_floor`.

    The second result lets another model be judged on the same rows. `planned` is for `learn`.
    """
    started = perf_counter()
    asked = check_number_metrics(metric)
    confidence = check_confidence(confidence)
    seed = check_random_state_seed(random_state)
    learned = learn(
        problem,
        cv=cv,
        repeats=repeats,
        max_rows=max_rows,
        learners=learners,
        effort=effort,
        n_jobs=n_jobs,
        seed=seed,
        progress=progress,
        client=client,
        planned=planned,
    )

    def conclude(_: WorkerPool) -> tuple[RegressionFloor, HeldOutNumbers]:
        rows = tested_rows(learned, n_jobs, seed)
        splits = learned.plan.largest_splits(in_time=learned.in_time)
        floor = _conclude(problem, learned, rows, asked, confidence, seed, started)
        return floor, HeldOutNumbers(learned, splits, rows)

    # with BLAS held to one thread: the order of sums decides about their last bits
    return supervise(conclude, 1, False)


def _conclude(
    problem: Problem,
    learned: Learned,
    rows: TestedRows,
    asked: tuple[str, ...],
    confidence: float,
    seed: int,
    started: float,
) -> RegressionFloor:
    """Make figures, the noise profile and findings of what was learned."""
    if problem.stored is None:
        rows = rows._replace(given=problem.places(rows.given))
    summary = summarise_numbers(rows, confidence, seed, in_time=learned.in_time, stack=learned.stack_signs())
    metrics = _metrics(rows, summary, confidence)
    metrics = {name: metrics[name] for name in (*asked, *(name for name in NUMBER_METRICS if name not in asked))}
    share = min(summary.estimate / max(summary.reached.mean, 1e-300), 1.0)
    profile = noise_profile(rows, share, confidence, problem.n_samples)
    rmse = metrics["rmse"]
    names = problem.feature_names
    return RegressionFloor(
        metric=asked[0],
        metrics=metrics,
        noise_variance=rmse.estimate**2,
        noise_variance_interval=(rmse.interval[0] ** 2, rmse.interval[1] ** 2),
        noise=profile,
        suspicious=suspicious_numbers(rows, profile, problem.n_drawn),
        weights=learned.weights(),
        n_samples=problem.n_samples,
        n_rows=learned.n_rows,
        n_features=problem.X.shape[1],
        feature_names=None if names is None else tuple(map(str, names)),
        residual_z=summary.alike,
        findings=in_order(
            [
                *find_in_numbers(learned, rows, summary, profile, problem.y),
                *learned.plan.findings,
                *problem.findings,
            ]
        ),
        seconds=perf_counter() - started,
    )


def check_number_metrics(metric: Any) -> tuple[str, ...]:
    """Return the names that were asked for, each once."""
    names = [metric] if isinstance(metric, str) else metric
    for name in names if isinstance(names, list | tuple) and names else [metric]:
        if name not in NUMBER_METRICS:
            raise unknown_metric(name, NUMBER_METRICS, ", or a list of them")
    return tuple(dict.fromkeys(names))


def _metrics(rows: TestedRows, summary: NumberSummary, confidence: float) -> dict[str, MetricFloor]:
    """Turn shares of the variance into R², RMSE and MAE.

    RMSE and MAE end where R² says: the mean absolute residual falls with the root of the squared error, exactly so for
    normal residuals. Their intervals have to allow for the variance of y besides, which R² does not depend on.
    """
    y, weight = rows.y, rows.weight
    mean = float(weight @ y / len(y))
    spread = rows.scale * float(weight @ (y - mean) ** 2 / len(y)) ** 0.5
    size, scale = rows.sizes, rows.scale
    relative = size / size[0]
    of_squares = summary.by_size, summary.fitted, summary.estimate
    rate = power_of(summary.fitted - summary.estimate, relative)
    roots = spread * np.sqrt(summary.by_size)
    # MAE at the end of the curve, and on it, as the root of the squared error has it
    per_root = scale * summary.absolute.mean / max(summary.reached.mean, 1e-300) ** 0.5
    values, fitted, limit = of_squares
    curves = {
        "r2": _curve(size, 1.0 - values, 1.0 - fitted, 1.0 - limit, rate, summary.covariance),
        "rmse": _curve(
            size,
            roots,
            spread * np.sqrt(np.maximum(fitted, 0.0)),
            spread * limit**0.5,
            power_of(np.sqrt(np.maximum(fitted, 0.0)) - limit**0.5, relative),
            spread**2 * summary.covariance / (4.0 * np.sqrt(np.outer(values, values)) + 1e-300),
        ),
        "mae": _curve(
            size,
            scale * summary.absolute_by_size,
            per_root * np.sqrt(np.maximum(fitted, 0.0)),
            per_root * limit**0.5,
            power_of(np.sqrt(np.maximum(fitted, 0.0)) - limit**0.5, relative),
            scale**2 * summary.absolute_covariance,
        ),
    }
    low, high = summary.interval
    reached = summary.reached.interval(confidence)
    floors = {
        "r2": (
            1.0 - limit,
            (1.0 - high, 1.0 - low),
            1.0 - summary.reached.mean,
            (1.0 - reached[1], 1.0 - reached[0]),
            0.0,
        ),
    }
    ends = _wider(summary, summary.raw, confidence), _wider(summary, summary.absolute, confidence, 2.0)
    # models aim at the mean; of a skewed target, always the median may do better than all of them
    of_constants = weight * (y - mean) ** 2, weight * np.abs(y - weighted_median(y, weight))
    levels = (summary.raw, summary.absolute, *(level_of(each, rows.clusters, confidence) for each in of_constants))
    raw, absolute, of_mean, of_median = (np.array([level.mean, *level.interval(confidence)]) for level in levels)
    of_roots = {
        "rmse": (spread, ends[0], spread * raw**0.5, scale * of_mean**0.5),
        "mae": (per_root, ends[1], scale * absolute, scale * of_median),
    }
    for name, (unit, (least, most), attained, baseline) in of_roots.items():
        floor, interval = unit * limit**0.5, (unit * least**0.5, unit * most**0.5)
        estimate, interval = below_attained(floor, interval, (attained[0], attained[2]), (baseline[0], baseline[2]))
        floors[name] = estimate, interval, attained[0], (attained[1], attained[2]), baseline[0]
    return {
        name: MetricFloor(
            name=name,
            title=METRICS[name].title,
            estimate=float(estimate),
            interval=(float(interval[0]), float(interval[1])),
            reached=float(attained),
            reached_interval=(float(attained_in[0]), float(attained_in[1])),
            baseline=float(baseline),
            larger_is_better=METRICS[name].larger_is_better,
            curve=curves[name],
            confidence=confidence,
            perfect=1.0 if name == "r2" else 0.0,
            bounds=METRICS[name].bounds,
        )
        for name, (estimate, interval, attained, attained_in, baseline) in floors.items()
    }


def _wider(summary: NumberSummary, level: Level, confidence: float, power: float = 1.0) -> Range:
    """Return the interval of the noise as a share of a fixed variance: that of the ratio, and what the level varies by.

    `power` is that of the level with which the squared error goes.
    """
    alone, ratio = (
        np.log(np.maximum(np.array(each.interval(confidence)) / max(each.mean, 1e-300), 1e-300))
        for each in (level, summary.reached)
    )
    alone *= power
    more = np.sqrt(np.maximum(alone**2 - ratio**2, 0.0))
    low, high = summary.interval
    estimate = max(summary.estimate, 1e-300)
    below = 0.0 if low <= 0.0 else estimate * float(np.exp(-np.hypot(np.log(estimate / low), more[0])))
    above = estimate * float(np.exp(np.hypot(np.log(max(high, estimate) / estimate), more[1])))
    return below, above


def _curve(size: Floats, value: Floats, fitted: Floats, limit: float, rate: float, covariance: Floats) -> LearningCurve:
    """Return a learning curve; a stack of numbers expects no error of its own, and the curve is of what it attains."""
    return LearningCurve(
        size=size,
        value=value,
        expected=value,
        middle=value,
        fitted=fitted,
        limit=float(limit),
        rate=rate,
        covariance=covariance,
    )
