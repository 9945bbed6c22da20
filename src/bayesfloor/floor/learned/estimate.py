"""The learned floor: what a stack of learners reaches, and where its learning curve ends.

The room's docstring shows the steps. The upper side of the result rests on what was measured: a model did this. The
lower side is extrapolated: no method can give a lower bound that holds for every distribution.
"""

from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.copies import equal_rows
from bayesfloor.floor.learned.counted_rows import PlainRows, classes_in_one_group, counted_rows
from bayesfloor.floor.learned.findings import find_in_learned
from bayesfloor.floor.learned.held_out import HeldOutClasses
from bayesfloor.floor.learned.large_tables import problem_of_any_size
from bayesfloor.floor.learned.learning import Learned, learn
from bayesfloor.floor.learned.metrics import (
    Metric,
    check_metrics,
    class_weights_of,
    one_hot,
    shares_of_decisions,
)
from bayesfloor.floor.learned.ranking import rank_classes
from bayesfloor.floor.learned.result import CostDecisions, LearnedFloor, MetricFloor, SubgroupFloors
from bayesfloor.floor.learned.row_plan import Planned
from bayesfloor.floor.learned.stack_errors import confusion_matrix, errors_by_class, errors_of_pairs, residual_test
from bayesfloor.floor.learned.stack_model import check_may_return, estimator_of_run
from bayesfloor.floor.learned.stacking import Stack
from bayesfloor.floor.learned.subgroups import find_in_subgroups, subgroup_floors
from bayesfloor.floor.learned.summary import CurveSummary, columns_tell, summarise
from bayesfloor.floor.learned.suspicious import SuspiciousRows, doubt_labels, is_one_of_its_group, list_rows
from bayesfloor.floor.learned.trust.checks import checked_floor
from bayesfloor.floor.learned.trust.source import source_from
from bayesfloor.floor.trees.problem import Progress
from bayesfloor.learn.training_rows import standardised
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.checks import check_confidence, check_random_state_seed, is_int
from bayesfloor.runtime.findings import in_order
from bayesfloor.runtime.frames import like_input
from bayesfloor.runtime.threads import WorkerPool, supervise


@like_input
def learned_floor(
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    metric: Any = "error",
    costs: Any = None,
    positive: Any = None,
    by: Any = None,
    confidence: float = 0.95,
    cv: Any = 5,
    repeats: int | None = None,
    max_rows: int | None = None,
    learners: Any = "default",
    effort: str = "default",
    prepare: Any = "auto",
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = False,
    client: Any = None,
    checks: bool = True,
    return_model: bool = False,
) -> Any:
    """Estimate how low the error of any classifier can go, from what many classifiers reach.

    A stack of learners predicts every row by cross-validation, trained on .8, .4 and .2 of the rows. Its errors, with
    and without the labels, form a learning curve, and the floor is where that ends. Up to 2000 rows are dealt out to
    folds several times, and figures are means over the repeats, until they hardly depend on the seed. Of more than
    10 000 rows, about 10 000 are held out and predicted, and learners whose cost is linear are trained on all others, a
    half and a quarter of them.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features), Table, path, LazyFrame or Dask collection
        The features, which learners standardise, or the file of a table. A `Table` from `read_table` has its labels
        with it.
    y : array-like of shape (n_samples,), str, default=None
        The labels, of any type that can be sorted, or the name of their column; left out with a Table.
    groups : array-like of shape (n_samples,), default=None
        Rows that belong together, such as those of one patient, user or machine, have the same value. No model is then
        tested on a group that it was trained on, and the figures are about new groups. At least 5 groups. None for the
        groups of a Table, if it has any.
    time : array-like of shape (n_samples,), default=None
        When each row was seen, as numbers or dates. Models are then trained on the past and tested on what came next;
        the figures are about the later half of the rows. None for the time of a Table, if it has any.
    sample_weight : array-like of shape (n_samples,), str or None, default=None
        What each row counts, in training and in all figures, or the name of a column of a data frame: how many rows of
        the population it stands for. Rows of weight 0 are not used.
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
    repeats : int, default=None
        How often rows are dealt out to folds; figures are means over the repeats. None for up to 10 times, until they
        hardly depend on the seed. With `time`, splits of one's own or more than 10 000 rows, always once.
    max_rows : int or None, default=None
        Rows to use at the most. None for all rows of a file or another source of 200 000 rows or more; else for all, up
        to 1 000 000 rows and 64 million values (half as many with `groups`); for 10 000 with `time`, or where `cv` or
        `learners` are others than a number and the default. Of a sample, as large a share of each class, but up to 200
        rows of a rare one, which then count less, so that all figures are for the shares of the rows given.
    learners : "default", mapping or list, default="default"
        Some twenty fast learners, or others, in a list or by name in a mapping: classifiers with ``predict_proba``, and
        the names of groups of fast ones ("gaussian", "clusters", "marginals", "logistic", "neighbours", "kernels",
        "unit", "trees", "boosting", "pairs", "triples", "nominal", "network"; "default" for those that suit the columns
        of X).
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
    floor : LearnedFloor
        The estimate and its interval; what the stack reaches; the curve.
    model : StackedClassifier
        The model of this very run, fitted; only with `return_model`.

    Warns
    -----
    TrustWarning
        Where the figures are too good for rows to come.

    See Also
    --------
    bayes_error : The floor from spanning trees alone, in a fraction of the time.

    Notes
    -----
    The ends of the interval are averages of two: what the learning curve says, and what simulated problems of known
    floor say; with `groups`, `time` or other learners, the curve alone. The upper end is never below what a model
    attains. No method can give a lower bound for every distribution: structure finer than the distances between rows
    cannot be seen in them.

    With both `groups` and `time`, the groups are dealt out to folds, and each fold of a period is predicted from the
    past of the other folds. This takes four times as long. Rows of one group are counted for as much as they say: see
    `bayesfloor.floor.learned.counted_rows`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor import learned_floor
    >>> floor = learned_floor(*load_iris(return_X_y=True))
    >>> floor.interval[0] <= floor.estimate <= floor.reached <= floor.interval[1]
    True
    """
    random_state = check_random_state_seed(random_state)  # one for the rows, for the run and for the model
    given = problem_of_any_size(
        X,
        y,
        task="classification",
        prepare=prepare,
        beside={"groups": groups, "time": time, "sample_weight": sample_weight, "by": by},
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
    judged_by = {"metric": metric, "costs": costs, "positive": positive, "cv": cv, "repeats": repeats}
    found = checked_floor(
        source_from(given.sample, given.table, y),
        given.problem,
        lambda problem, progress: learned_floor_of(problem, **judged_by, **settings, progress=progress),
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


def learned_floor_of(
    problem: Problem,
    *,
    metric: Any = "error",
    costs: Any = None,
    positive: Any = None,
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
) -> tuple[LearnedFloor, HeldOutClasses]:
    """Estimate the floor of points and labels that are checked; see `learned_floor`.

    The second result lets another model be judged on the same rows. `planned` is for `learn`.
    """
    started = perf_counter()
    metrics = check_metrics(metric, costs, positive, problem.classes, problem.class_totals)
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
    judged = _judge(learned, metrics, confidence, seed, n_jobs)
    summary = judged.summaries["error"]
    rows, q, plan = judged.rows, judged.q, learned.plan
    subgroups = _subgroups(problem, learned, judged, confidence, seed)
    confusion = confusion_matrix(q.argmax(axis=-1), rows.codes, rows.weights, q.shape[-1])
    n_folds = cv if is_int(cv) else int(learned.folds.max()) + 1
    floor = LearnedFloor(
        residual_z=judged.residual_z,
        class_reached=errors_by_class(q, rows.codes, rows.weights),
        pair_reached=errors_of_pairs(confusion),
        weights=learned.weights(),
        n_samples=problem.n_samples,
        n_rows=learned.n_rows,
        classes=problem.classes,
        findings=in_order(
            [
                *find_in_learned(summary, judged.residual_z, learned.problem, learned.used.codes, n_folds),
                *(() if subgroups is None else find_in_subgroups(subgroups, summary)),
                *plan.findings,
                *problem.findings,
            ]
        ),
        seconds=perf_counter() - started,
        subgroups=subgroups,
        suspicious=_suspicious(learned, problem, confidence, is_told=summary.beats_baseline),
        ranking=tuple(
            replace(each, n_samples=int(count), share=float(share))
            for each, count, share in zip(
                rank_classes(judged.stacks[0], rows, problem.classes, confidence, plan.clusters),
                problem.class_counts,
                problem.class_totals / problem.class_totals.sum(),
                strict=True,
            )
        ),
        metric=metrics[0].name,
        metrics=judged.floors,
        cost=_decisions(metrics, q, rows, problem.classes),
    )
    splits = plan.largest_splits(in_time=learned.in_time)
    reached_by = {name: each.q for name, each in judged.summaries.items() if each.q is not None}
    return floor, HeldOutClasses(learned, splits, rows, metrics, reached_by)


def _suspicious(learned: Learned, given: Problem, confidence: float, *, is_told: bool) -> SuspiciousRows:
    """List the labels that the stack finds hard to believe, among those that it could know.

    `is_told` tells whether it surely beats what needs no features: otherwise it speaks against no label.
    """
    plan, used = learned.plan, learned.used
    q = np.exp(learned.stacks[0].predicted).mean(axis=(0, 1))
    codes = used.codes[plan.tested]
    is_known = np.zeros(len(codes), bool)  # no model names a class that it was not trained on
    for train, places in plan.largest_splits(in_time=learned.in_time):
        is_known[places] = np.isin(codes[places], used.codes[train])
    if plan.groups is not None and (kept := is_known & is_one_of_its_group(q, codes, plan.groups)).any():
        is_known = kept
    rows = np.flatnonzero(is_known)

    def conclude(_: WorkerPool) -> SuspiciousRows:
        doubts = doubt_labels(q[rows], codes[rows], confidence)
        return list_rows(
            doubts if is_told else doubts.of_nothing_learned(),
            used.classes[codes[rows]],
            used.classes[q[rows].argmax(axis=1)],
            standardised(used.X[plan.tested], used.X[:0])[0][rows],
            given.places(plan.given[plan.tested[rows]]),
            n_samples=given.n_samples,
            confidence=confidence,
            of_suggested=True,
            n_drawn=given.n_drawn,
        )

    # with BLAS held to one thread: the order of sums decides which of two rows is nearer
    return supervise(conclude, 1, False)


class _Judged(NamedTuple):
    """What the stack reaches by each metric.

    Attributes
    ----------
    rows : PlainRows
        Classes of the rows that count, and what each counts.
    stacks : list of Stack
        Predictions, at the shares that the classes have among all rows.
    q : ndarray of shape (n_repeats, n, n_classes)
        Probabilities at the largest size.
    residual_z : float
        As from `residual_test`.
    summaries, floors : dict
        Of each metric, by name.
    """

    rows: PlainRows
    stacks: list[Stack]
    q: Floats
    residual_z: float
    summaries: dict[str, CurveSummary]
    floors: dict[str, MetricFloor]


def _judge(learned: Learned, metrics: tuple[Metric, ...], confidence: float, seed: int, n_jobs: int | None) -> _Judged:
    """Judge the stack by each metric."""
    plan, used = learned.plan, learned.used
    codes, folds = used.codes[plan.tested], learned.folds
    sample_weight = None if used.sample_weight is None else used.sample_weight[plan.tested]
    rows = counted_rows(learned.problem, codes, sample_weight)
    q = np.exp(learned.stacks[0].predicted[:, 0])
    residual_z = residual_test(used.X[plan.tested], codes, q, folds, n_jobs, seed, plan.groups, sample_weight)
    stacks = [replace(stack, predicted=rows.at_shares_of_all(stack.predicted)) for stack in learned.stacks]
    is_unseen = np.isin(codes, classes_in_one_group(learned.problem))
    unseen = float(rows.weighted(is_unseen.astype(np.float64)).mean())
    past = _shares_trained_on(learned) if learned.in_time else None
    # In time, models are trained again for each period, so that one rule for all tested rows is no bound.
    cells = None if learned.in_time else equal_rows(used, plan.tested)
    summaries: dict[str, CurveSummary] = {}
    for each in sorted(metrics, key=lambda metric: metric.name != "error"):  # the error first
        summaries[each.name] = summarise(
            stacks,
            learned.sizes,
            rows,
            each,
            residual_z=residual_z,
            confidence=confidence,
            folds=folds,
            clusters=plan.clusters,
            in_time=learned.in_time,
            share_unseen=unseen,
            kept=summaries["error"].kept if summaries else 1.0,
            past=past,
            cells=cells,
            stack=learned.stack_signs(),
        )
    floors = {each.name: _metric_floor(each, summaries[each.name], confidence) for each in metrics}
    told_by = check_metrics(["log_loss", "roc_auc"], None, None, used.classes, rows.class_totals)[:2]
    if not summaries["error"].beats_baseline:
        is_told = columns_tell(stacks, rows, told_by, confidence, plan.clusters)
        summaries["error"] = summaries["error"]._replace(is_told=is_told)
    return _Judged(rows, stacks, np.exp(stacks[0].predicted[:, 0]), residual_z, summaries, floors)


def _shares_trained_on(learned: Learned) -> Floats:
    """Return the shares of the classes among the rows that each tested row is predicted from, none of them 0."""
    used, n_classes = learned.used, len(learned.used.classes)
    shares = np.empty((len(learned.plan.counted), n_classes))
    for train, places in learned.plan.largest_splits(in_time=True):
        weight = None if used.sample_weight is None else used.sample_weight[train]
        counts = np.bincount(used.codes[train], weight, n_classes) + 0.5
        shares[places] = counts / counts.sum()
    return shares


def _subgroups(
    given: Problem, learned: Learned, judged: _Judged, confidence: float, seed: int
) -> SubgroupFloors | None:
    """Return figures of each subgroup, where they are asked for."""
    by = learned.used.by
    if given.by is None or by is None:
        return None
    return subgroup_floors(
        judged.stacks,
        judged.summaries["error"],
        by.take(learned.plan.tested),
        np.bincount(given.by.codes, minlength=len(given.by.names)),
        judged.rows,
        confidence,
        clusters=learned.plan.clusters,
        in_time=learned.in_time,
        is_unseen=np.isin(judged.rows.codes, classes_in_one_group(learned.problem)),
        seed=seed,
    )


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
    targets = one_hot(rows.codes, len(classes))
    taken = np.mean([shares_of_decisions(targets, of_repeat, rows.weights, costs) for of_repeat in q], axis=0)
    more = ("no decision",) if costs.shape[1] > len(classes) else ()
    return CostDecisions(
        costs=costs,
        decisions=(*map(str, classes), *more),
        pair_costs=costs * taken,
        pair_rows=taken,
        class_weights=class_weights_of(costs),
        classes=classes,
    )
