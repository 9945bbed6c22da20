"""The learned floor: what a stack of learners reaches, and where its learning curve ends.

The room's docstring shows the steps. The upper side of the result is proven by a model that exists. The lower side
assumes that the learning curve goes on as it does: no method can give a lower bound that holds for every distribution.
"""

from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.folds import check_folds, grouped_folds, stratified_folds
from bayesfloor.data.sampling import (
    LEARNED_ROWS,
    LEARNED_VALUES,
    RARE_ROWS,
    affordable_rows,
    class_weights,
    keys_of_values,
    stratified_rows,
)
from bayesfloor.floor.learned.caller_choices import MIN_FOLDS, Known, check_cv, check_learners
from bayesfloor.floor.learned.cluster_fits import cluster_of
from bayesfloor.floor.learned.column_order import in_column_order
from bayesfloor.floor.learned.copies import distinct_rows, equal_rows, groups_of_near_copies
from bayesfloor.floor.learned.cross_fitting import VIEWS, Split, cross_fit
from bayesfloor.floor.learned.held_out import HeldOut
from bayesfloor.floor.learned.many_rows import fit_holdout, hold_out, holdout_bytes
from bayesfloor.floor.learned.metrics import (
    Metric,
    check_metrics,
    class_weights_of,
    one_hot,
    shares_of_decisions,
)
from bayesfloor.floor.learned.ranking import rank_classes
from bayesfloor.floor.learned.result import CostDecisions, LearnedFloor, MetricFloor
from bayesfloor.floor.learned.stack_errors import errors_by_class, posterior_bounds, residual_test
from bayesfloor.floor.learned.stacking import Stack, fit_stacks
from bayesfloor.floor.learned.strata import PlainRows, StratifiedRows
from bayesfloor.floor.learned.subgroups import find_in_subgroups, subgroup_floors
from bayesfloor.floor.learned.summary import CurveSummary, classes_in_one_group, find_in_learned, summarise
from bayesfloor.floor.learned.time_periods import time_scheme, with_recent
from bayesfloor.floor.trees.problem import Problem, Progress, check_problem
from bayesfloor.learn.families import CLASS_FAMILIES, CLASS_LEARNERS, class_families_for
from bayesfloor.learn.linear_cost import linear_families_for
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.checks import (
    check_confidence,
    check_max_rows,
    check_random_state_seed,
    is_int,
)
from bayesfloor.runtime.findings import in_order
from bayesfloor.runtime.frames import like_input
from bayesfloor.runtime.limits import check_memory, check_n_jobs
from bayesfloor.runtime.text import shown
from bayesfloor.runtime.threads import Crew, supervise

_KNOWN = Known(
    CLASS_FAMILIES,
    CLASS_LEARNERS,
    lambda given: hasattr(given, "predict_proba"),
    "a classifier with predict_proba",
)
#: Stretches of the tested time whose errors are taken to be independent of each other.
N_STRETCHES = 20


@like_input
def learned_floor(
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    time: Any = None,
    metric: Any = "error",
    costs: Any = None,
    positive: Any = None,
    by: Any = None,
    confidence: float = 0.95,
    cv: Any = 5,
    max_rows: int | None = None,
    learners: Any = "default",
    prepare: Any = "auto",
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = False,
    client: Any = None,
) -> LearnedFloor:
    """Estimate how low the error of any classifier can go, from what many classifiers reach.

    A stack of learners predicts every row by cross-validation, trained on .8, .4 and .2 of the rows. Its errors, with
    and without the labels, form a learning curve, and the floor is where that ends. Of more than 10 000 rows, about
    10 000 are held out and predicted, and learners whose cost is linear are trained on all others, a half and a quarter
    of them.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features), or Table
        The points. Learners standardise them. A `Table` from `read_table` has its labels with it.
    y : array-like or series of shape (n_samples,), default=None
        The labels, of any type that can be sorted; left out with a Table.
    groups : array-like of shape (n_samples,), default=None
        Rows that belong together, such as those of one patient, user or machine, have the same value. No model is then
        tested on a group that it was trained on, and the figures are about new groups. At least 5 groups. None for the
        groups of a Table, if it has any.
    time : array-like of shape (n_samples,), default=None
        When each row was seen, as numbers or dates. Models are then trained on the past and tested on what came next;
        the figures are about the later half of the rows. None for the time of a Table, if it has any.
    metric : str or list of str, default="error"
        What models are judged by: "error", "balanced_error", "log_loss", "brier", "roc_auc", "average_precision", "f1"
        at the best threshold, "top_k_error" (k is 5, or as in "top_3_error"), "cost". Several come from one fit; the
        first is the headline. Of more than two classes, AUC, average precision and F1 are means over the classes, each
        against the rest.
    costs : array-like of shape (n_classes, n_classes) or (n_classes, n_classes + 1), or data frame, default=None
        What each decision costs: a row for each true class, in the order of the sorted labels, a column for each
        decision, one more for not deciding. By name in a data frame. With costs alone, "cost" is the metric.
    positive : object, default=None
        The class of two that "average_precision" and "f1" are about; None for the last of the sorted labels.
    by : array-like of shape (n_samples,), str or None, default=None
        Subgroups to give figures for, from the same models: a value for each row, or the column of a data frame or a
        Table that tells, which stays a feature. Rows without a value are a group. More than 10 numbers or dates are cut
        at quartiles, and of more than 20 groups the largest 20 stay. None for the subgroups of a Table, if it has any.
    confidence : float, default=0.95
        Level of the intervals.
    cv : int, splitter or iterable, default=5
        Folds, at least 5: how many, or anything that scikit-learn splits by, so long as each row is tested once. With
        `time`, an int: the periods that the later half of the rows is cut into.
    max_rows : int or None, default=None
        Rows to use at the most. None for all, up to 1 000 000 rows and 64 million values (half as many with `groups`);
        for 10 000 with `time`, or where `cv` or `learners` are others than a number and the default. Of a sample, as
        large a share of each class, but up to 200 rows of a rare one, which then count less, so that all figures are
        for the shares of the rows given.
    learners : "default", mapping or list, default="default"
        Some twenty fast learners, or others, in a list or by name in a mapping: classifiers with ``predict_proba``, and
        the names of groups of fast ones ("gaussian", "clusters", "marginals", "logistic", "neighbours", "kernels",
        "unit", "trees", "boosting", "pairs", "triples", "nominal", "network"; "default" for those that suit the columns
        of X).
    prepare : {"auto", "strict"} or transformer, default="auto"
        How a data frame becomes numbers, as for `read_table`; a frame of numbers without gaps is used as it is.
    n_jobs : int or None, default=None
        Threads; None for every core.
    random_state : int, None or random generator, default=0
        Seeds the choice of rows, the folds and the learners.
    progress : bool or callable, default=False
        Show progress on a terminal, or call ``progress(done, total)``.
    client : dask.distributed.Client or None, default=None
        Train the learners on the workers of this cluster, with the same result. None trains them here.

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

    With both `groups` and `time`, the groups are dealt out to folds, and each fold of a period is predicted from the
    past of the other folds. This takes four times as long. Rows of one group are counted for as much as they say: see
    `bayesfloor.floor.learned.clusters`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor import learned_floor
    >>> floor = learned_floor(*load_iris(return_X_y=True))
    >>> floor.interval[0] <= floor.estimate <= floor.reached <= floor.interval[1]
    True
    """
    return learned_floor_of(
        check_problem(X, y, groups, time, prepare, by),
        metric=metric,
        costs=costs,
        positive=positive,
        confidence=confidence,
        cv=cv,
        max_rows=max_rows,
        learners=learners,
        n_jobs=n_jobs,
        random_state=random_state,
        progress=progress,
        client=client,
    )[0]


def learned_floor_of(
    problem: Problem,
    *,
    metric: Any = "error",
    costs: Any = None,
    positive: Any = None,
    confidence: float = 0.95,
    cv: Any = 5,
    max_rows: int | None = None,
    learners: Any = "default",
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = False,
    client: Any = None,
) -> tuple[LearnedFloor, HeldOut]:
    """Estimate the floor of points and labels that are checked; see `learned_floor`.

    The second result lets another model be judged on the same rows.
    """
    started = perf_counter()
    n_samples, n_classes = len(problem.X), len(problem.classes)
    metrics = check_metrics(metric, costs, positive, problem.classes, problem.class_counts)
    given_by = problem.by
    confidence = check_confidence(confidence)
    check_cv(cv, len(problem.X), problem.groups, problem.time)
    seed = check_random_state_seed(random_state)
    n_threads = check_n_jobs(n_jobs)
    problem = in_column_order(problem, problem.codes)
    distinct = distinct_rows(problem, seed, may_group=is_int(cv))
    problem = distinct.problem
    if is_int(cv):  # again: the copies that were left out may have been all that there was of some groups
        check_cv(cv, len(problem.X), problem.groups, problem.time)
    is_default = isinstance(learners, str) and learners == "default" and is_int(cv)
    is_default = is_default and problem.time is None and problem.supervised is None
    most_rows = rows_by_default(problem) if is_default else LEARNED_ROWS
    rows = choose_rows(problem, check_max_rows(max_rows, n_classes, most_rows), seed, RARE_ROWS)
    is_many = is_default and len(rows) > LEARNED_ROWS
    looked_at = rows[:LEARNED_ROWS] if is_many else rows
    may_group = is_int(cv) and problem.groups is None and problem.time is None and len(looked_at) == len(problem.X)
    near, nearly_copied = groups_of_near_copies(problem, looked_at, n_jobs, may_group=may_group)
    if near is not None:
        by_row = np.empty_like(near)
        by_row[rows] = near
        problem = replace(problem, groups=by_row)
    groups = None if problem.groups is None else problem.groups[rows]
    holdout = hold_out(problem.codes[rows], groups, cv, LEARNED_ROWS) if is_many else None
    predicted = rows if holdout is None else rows[holdout.tested]
    part = problem.take(predicted)
    points, codes = part.X, part.codes
    if holdout is not None:
        learner_groups = linear_families_for(points, part.tabular, len(rows))
        of_tested = None if groups is None else np.unique(groups[holdout.tested], return_inverse=True)[1]
        scheme = _Scheme(holdout.stack_folds, groups=of_tested, clusters=of_tested)
        check_memory(holdout_bytes(problem, rows, n_threads), f"training on {len(rows)} rows")
    else:
        learner_groups = check_learners(
            learners, _KNOWN, lambda: class_families_for(points, part.tabular, part.supervised)
        )
        # a splitter counts all rows that were given
        scheme = _scheme_of(problem, rows, cv) if is_int(cv) else _scheme_of(distinct.given, distinct.rows[rows], cv)
    cluster = cluster_of(client)
    n_learners = 3 * len(learner_groups)
    check_memory(4 * n_learners * sum(VIEWS) * len(codes) * n_classes, f"the predictions of {len(codes)} rows")

    def learn(crew: Crew) -> tuple[list[Stack], tuple[float, ...], list[str]]:
        if holdout is not None:
            fitted = fit_holdout(problem, rows, holdout, learner_groups, seed, crew, cluster)
            return fit_stacks(fitted, codes, seed, crew), fitted.sizes, fitted.names
        fitted = cross_fit(part, scheme.folds, learner_groups, seed, crew, scheme.splits, scheme.earlier, cluster)
        if problem.time is not None:
            fitted = with_recent(fitted)
        # Offsets fitted on other groups move away from a fold whose groups lean to one class, because these were among
        # the training rows: with 80 uneven groups that made the error .01 too high.
        fitted = replace(fitted, has_offsets=problem.groups is None)
        return fit_stacks(fitted, codes, seed, crew), fitted.sizes, fitted.names

    stacks, sizes, names = supervise(learn, n_threads, progress)
    folds = scheme.folds
    if scheme.tested is not None:
        points, codes, folds = points[scheme.tested], codes[scheme.tested], folds[scheme.tested]
        stacks = [Stack(stack.log_q[:, scheme.tested], stack.weights[np.unique(folds)]) for stack in stacks]
    counted = counted_rows(problem, codes)
    residual_z = residual_test(points, codes, np.exp(stacks[0].log_q[0]), folds, n_jobs, seed, scheme.groups)
    stacks = [replace(stack, log_q=counted.at_shares_of_all(stack.log_q)) for stack in stacks]
    q, thinned = np.exp(stacks[0].log_q[0]), counted.in_proportion()
    unseen = float(np.isin(codes, classes_in_one_group(problem)).mean())
    if holdout is not None:
        places, splits = holdout.tested, _splits_of(holdout.folds, holdout.tested)
    else:
        places = np.arange(len(rows)) if scheme.tested is None else scheme.tested
        splits = _splits_of(scheme.folds, places, scheme.splits)
    in_time = problem.time is not None
    past = _shares_trained_on(problem.codes[rows], splits, len(codes), n_classes) if in_time else None
    # In time, models are trained again for each period, so that one rule for all tested rows is no bound.
    cells = None if in_time else equal_rows(problem, rows[places])
    summaries: dict[str, CurveSummary] = {}
    for each in sorted(metrics, key=lambda metric: metric.name != "error"):  # the error first
        summaries[each.name] = summarise(
            stacks,
            np.array(sizes),
            counted,
            each,
            residual_z=residual_z,
            confidence=confidence,
            folds=folds,
            clusters=scheme.clusters,
            in_time=in_time,
            share_unseen=unseen,
            kept=summaries["error"].kept if summaries else 1.0,
            past=past,
            cells=cells,
        )
    floors = {each.name: _metric_floor(each, summaries[each.name], confidence) for each in metrics}
    first, summary = floors[metrics[0].name], summaries["error"]
    tested = predicted if scheme.tested is None else predicted[scheme.tested]
    subgroups = None
    if given_by is not None and problem.by is not None:
        subgroups = subgroup_floors(
            stacks,
            summary,
            problem.by.take(tested),
            np.bincount(given_by.codes, minlength=len(given_by.names)),
            counted,
            confidence,
            clusters=scheme.clusters,
            in_time=in_time,
            is_unseen=np.isin(codes, classes_in_one_group(problem)),
            seed=seed,
        )
    weights = stacks[0].weights.mean(axis=0)
    n_folds = cv if is_int(cv) else int(folds.max()) + 1
    class_reached, pair_reached = errors_by_class(q, codes, counted.class_weights)
    learned = LearnedFloor(
        estimate=first.estimate,
        interval=first.interval,
        reached=first.reached,
        reached_interval=first.reached_interval,
        majority_error=summary.baseline,
        curve=first.curve,
        tree_bounds=posterior_bounds(q[thinned], codes[thinned], n_jobs, seed, scheme.groups),
        residual_z=residual_z,
        class_reached=class_reached,
        pair_reached=pair_reached,
        weights={names[m]: float(weights[m]) for m in np.argsort(-weights, kind="stable") if weights[m] > 0},
        n_samples=n_samples,
        n_rows=len(rows),
        n_classes=n_classes,
        classes=problem.classes,
        confidence=confidence,
        findings=in_order(
            [
                *find_in_learned(summary, residual_z, problem, problem.codes[rows], n_folds),
                *(() if subgroups is None else find_in_subgroups(subgroups, summary)),
                *distinct.findings,
                *nearly_copied,
            ]
        ),
        seconds=perf_counter() - started,
        subgroups=subgroups,
        ranking=rank_classes(stacks, counted, problem.classes, confidence, scheme.clusters),
        metric=first.name,
        metrics=floors,
        cost=_decisions(metrics, q, counted, problem.classes),
    )
    assert summary.q is not None
    named = summary.q.argmax(axis=1)
    given = distinct.rows[rows]
    return learned, HeldOut(problem, rows, splits, places, counted, metrics, given, named, clusters=scheme.clusters)


def _shares_trained_on(codes: Ints, splits: tuple[tuple[Ints, Ints], ...], n_tested: int, n_classes: int) -> Floats:
    """Return the shares of the classes among the rows that each tested row is predicted from, none of them 0."""
    shares = np.empty((n_tested, n_classes))
    for train, places in splits:
        counts = np.bincount(codes[train], minlength=n_classes) + 0.5
        shares[places] = counts / counts.sum()
    return shares


def _splits_of(folds: Ints, tested: Ints, splits: list[Split] | None = None) -> tuple[tuple[Ints, Ints], ...]:
    """List the largest training sets, each with the places of what it predicts among the tested rows."""
    place = np.empty(len(folds), np.int64)
    place[tested] = np.arange(len(tested))
    if splits is not None:
        return tuple((each.train, place[each.tests[0][0]]) for each in splits if each.size == 0 and not each.for_stack)
    of_tested = folds[tested]
    return tuple((np.flatnonzero(folds != fold), np.flatnonzero(of_tested == fold)) for fold in np.unique(of_tested))


def _metric_floor(metric: Metric, summary: CurveSummary, confidence: float) -> MetricFloor:
    """Turn losses into what the metric is."""
    curve = summary.curve
    if metric.larger_is_better:
        names = ("value", "expected", "middle", "fitted", "limit")
        curve = replace(curve, **{name: metric.value(getattr(curve, name)) for name in names})
    return MetricFloor(
        name=metric.name,
        title=metric.title,
        estimate=metric.value(summary.estimate),
        interval=metric.range(*summary.interval),
        reached=metric.value(summary.reached),
        reached_interval=metric.range(*summary.reached_interval),
        baseline=metric.value(summary.baseline),
        larger_is_better=metric.larger_is_better,
        curve=curve,
        confidence=confidence,
        is_rate=metric.is_rate,
        about=metric.about,
        perfect=metric.value(metric.bounds[0]),
        bounds=metric.range(*metric.bounds),
    )


def _decisions(metrics: tuple[Metric, ...], q: Floats, rows: PlainRows, classes: NDArray[Any]) -> CostDecisions | None:
    """Say what follows from the costs, if there are any."""
    costs = next((each.costs for each in metrics if each.costs is not None), None)
    if costs is None:
        return None
    taken = shares_of_decisions(one_hot(rows.codes, len(classes)), q, rows.class_weights[rows.codes], costs)
    more = ("no decision",) if costs.shape[1] > len(classes) else ()
    return CostDecisions(
        costs=costs,
        decisions=(*map(str, classes), *more),
        pair_costs=costs * taken,
        pair_rows=taken,
        class_weights=class_weights_of(costs),
        classes=classes,
    )


def rows_by_default(problem: Problem, n_values: int = LEARNED_VALUES) -> int:
    """Return how many rows are used at the most where nobody says: for groups half as many, as all folds are tested."""
    if problem.time is not None:
        return LEARNED_ROWS
    return affordable_rows(problem.X.shape[1], n_values if problem.groups is None else n_values // 2)


def choose_rows(problem: Problem, n_rows: int | None, seed: int, at_least: int = 1) -> Ints:
    """Choose rows and put them in an order that depends on their values and the seed alone.

    Rare classes get `at_least` so many rows, where there are no groups and no time. Rows of all groups are taken: as
    many from more groups say more about new ones than whole groups do.
    """
    keys = _keys_of(problem, seed)
    is_plain = problem.groups is None and problem.time is None
    rows = stratified_rows(problem.codes, n_rows, keys, at_least if is_plain else 1)
    return rows[np.lexsort((problem.codes[rows], keys[rows]))]


def counted_rows(problem: Problem, codes: Ints) -> PlainRows:
    """Return what each row that was chosen counts."""
    is_plain = problem.groups is None and problem.time is None
    weights = class_weights(problem.codes, codes) if is_plain else None
    if weights is None:
        return PlainRows(codes, np.bincount(codes, minlength=len(problem.classes)))
    return StratifiedRows(codes, problem.class_counts, weights)


def _keys_of(problem: Problem, seed: int) -> NDArray[np.uint64]:
    """Return a random number for each row, from all that is known of it."""
    values = problem.X if problem.time is None else np.column_stack([problem.X, problem.time])
    return keys_of_values(values, problem.codes, seed, problem.groups)


class _Scheme(NamedTuple):
    """Who is trained on what, and which of the rows count.

    Attributes
    ----------
    folds : ndarray of shape (n,)
        The fold of each row; -1 for rows that are never predicted.
    splits, earlier
        As for `cross_fit`; None where they follow from the folds.
    tested : ndarray of shape (n,) or None
        Rows that count in the figures; None for all.
    groups, clusters : ndarray of shape (n_tested,) or None
        The group of each tested row, and rows that may err alike.
    """

    folds: Ints
    splits: list[Split] | None = None
    earlier: tuple[Ints, ...] | None = None
    tested: Ints | None = None
    groups: Ints | None = None
    clusters: Ints | None = None


def _scheme_of(problem: Problem, rows: Ints, cv: Any) -> _Scheme:
    """Deal rows out to folds: by class, by groups, in time, or as a splitter says."""
    codes = problem.codes[rows]
    groups = None if problem.groups is None else np.unique(problem.groups[rows], return_inverse=True)[1]
    keys = np.arange(len(rows)).astype(np.uint64)
    if problem.time is None:
        if is_int(cv) and groups is None:
            folds = stratified_folds(codes, cv, keys)
        else:
            folds = check_folds(cv, codes, keys, problem.codes, rows, problem.groups)
            if folds.max() + 1 < MIN_FOLDS:
                raise ValueError(f"A learning curve needs at least {MIN_FOLDS} folds. Got {folds.max() + 1}.")
        return _Scheme(folds, groups=groups, clusters=groups)
    time = problem.time[rows]
    group_folds = None if groups is None else grouped_folds(codes, groups, cv, keys)
    folds, splits, earlier, is_tested = time_scheme(time, cv, group_folds)
    tested = np.flatnonzero(is_tested)
    if len(np.unique(codes[tested])) < 2:
        name = shown(problem.classes[codes[tested[0]]])
        raise ValueError(f"All rows of the later half of the time are of class {name}: there is nothing to tell apart.")
    groups = None if groups is None else groups[tested]
    place = np.argsort(np.argsort(time[tested], kind="stable"), kind="stable")
    clusters = place * N_STRETCHES // len(tested) if groups is None else groups
    return _Scheme(folds, splits, earlier, tested, groups, clusters)
