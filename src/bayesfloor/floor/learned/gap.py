"""A model beside the floor: how much can surely be won, how much perhaps, and where.

The model is compared with the stack of `learned_floor`, or of `regression_floor`, on the rows that this was tested on.
An unfitted model is trained on the same folds. What the stack does better has been done, so it can surely be won; what
lies between the stack and the floor is extrapolated, and can perhaps be won.

======  ====================================================================
BF058   a fitted model, or predictions, are too good for rows that were not seen
BF059   a model predicts classes that the rows do not have
BF060   the rows have classes that a fitted model does not know
BF061   a model is surely better than the stack: the floor moves
BF062   model and stack were not made alike, so that no difference is sure
======  ====================================================================
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.data.metrics import NUMBER_METRICS
from bayesfloor.data.prepared_table import Table
from bayesfloor.data.problem import Problem
from bayesfloor.exceptions import TrustWarning
from bayesfloor.floor.learned.estimate import learned_floor_of
from bayesfloor.floor.learned.gap_result import FloorGap, Words
from bayesfloor.floor.learned.held_out import HeldOut, HeldOutClasses, Judged, judge_errors
from bayesfloor.floor.learned.metrics import check_metric_names, one_hot
from bayesfloor.floor.learned.model_predictions import (
    DECIDED,
    Compared,
    OwnRows,
    Predicted,
    check_compared,
    check_model,
    columns_named,
)
from bayesfloor.floor.learned.paired import Difference, holm, paired_p_value
from bayesfloor.floor.learned.regression.estimate import check_number_metrics, regression_floor_of
from bayesfloor.floor.learned.result import LearnedFloor, MetricFloor, StackFloor
from bayesfloor.floor.learned.trust.checks import Checked, checked_floor
from bayesfloor.floor.learned.trust.found import Trust
from bayesfloor.floor.learned.trust.source import source_from
from bayesfloor.floor.trees.problem import Progress
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.checks import ParameterError, check_random_state_seed, is_int, warn_caller
from bayesfloor.runtime.findings import Finding, in_order
from bayesfloor.runtime.frames import like_input
from bayesfloor.runtime.text import counted, exact_percent, listed, p_text, shown
from bayesfloor.tables.arguments import at_hand, problem_and_table

#: Chance of a difference as large, below which a model that is better than the stack may have seen the rows.
TOO_GOOD = 0.01
#: Fewest tested rows of a subgroup that are compared.
FEWEST_OF_SUBGROUP = 10
#: Columns of comparisons that hold p-values.
_P_VALUES = ("p_value", "p_adjusted")


@like_input
def floor_gap(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    predictions: Any = None,
    rows_are_new: bool = False,
    metric: Any = None,
    costs: Any = None,
    positive: Any = None,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    by: Any = None,
    task: str = "auto",
    confidence: float = 0.95,
    cv: Any = 5,
    max_rows: int | None = None,
    learners: Any = "default",
    prepare: Any = "auto",
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = False,
    client: Any = None,
    checks: bool = True,
) -> FloorGap:
    """Compare a model with what a stack of learners reaches on the same rows, and with the floor.

    Parameters
    ----------
    model : estimator or None
        A scikit-learn classifier, regressor or pipeline; it is not changed. Of an unfitted one, clones are fitted on
        the folds of the stack. A fitted one predicts the rows as it is, and must not have seen them. None with
        `predictions`.
    X : array-like or data frame of shape (n_samples, n_features), Table, path, LazyFrame or Dask collection
        The features, as for `learned_floor`. The model gets them as they are, so that a pipeline finds its columns; of
        a `Table` or a file it gets the numbers that this was made into.
    y : array-like of shape (n_samples,), or str, default=None
        The labels or numbers, or the name of their column; left out with a Table.
    predictions : array-like of shape (n_samples,) or (n_samples, n_classes), or data frame, default=None
        What a model has predicted for every row without having seen it: labels, numbers, or probabilities of the sorted
        classes. The columns of a data frame name the classes. Where the metric judges probabilities, a single column is
        that of the last of two classes.
    rows_are_new : bool, default=False
        Whether you know that a fitted model, or the one whose predictions these are, has seen none of the rows. Only
        then does one that is better than the stack move the floor. Of an unfitted model it is known.
    metric : str or None, default=None
        What models are judged by: one of those of `learned_floor`, or of `regression_floor`. "error", "balanced_error",
        "f1" and "cost" judge what the model decides, and all others its probabilities. None for "error", "cost" with
        costs, and "r2" for numbers.
    costs, positive
        As for `learned_floor`.
    groups, time : array-like of shape (n_samples,) or str, default=None
        Rows that belong together, and when each was seen, as for `learned_floor`.
    sample_weight : array-like of shape (n_samples,), str or None, default=None
        What each row counts, in all figures, for the stack, and where clones of a model are fitted that takes weights.
    by : array-like of shape (n_samples,), str or None, default=None
        Subgroups to compare in, as for `learned_floor`.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or numbers. "auto" takes what the model predicts, and without a model decides by y.
    confidence : float, default=0.95
        Level of the intervals. A difference is called sure where its p-value is below ``1 - confidence``.
    cv : int, splitter or iterable, default=5
        Folds, as for `learned_floor`.
    max_rows : int or None, default=None
        Rows to use at the most, as for `learned_floor`; the model is compared on the rows that are used.
    learners : "default", mapping or list, default="default"
        What the stack is made of, as for `learned_floor`.
    prepare : {"auto", None} or transformer, default="auto"
        How the stack makes numbers of a data frame.
    n_jobs : int or None, default=None
        Threads of the stack; None for every core.
    random_state : int, None or random generator, default=0
        Seeds the choice of rows, the folds and the learners.
    progress : bool or callable, default=False
        Show progress of the stack on a terminal, or call ``progress(done, total)``.
    client : dask.distributed.Client or None, default=None
        Train the stack on the workers of this cluster, with the same result. The model is fitted here.
    checks : bool, default=True
        Look for columns that give the target away, rows that belong together and an order in time, as `learned_floor`
        does. Rows that belong together are then kept apart, and an unfitted model is fitted on such folds. Where a
        model knew what the stack did not, no difference is called sure, and a `TrustWarning` says so.

    Returns
    -------
    FloorGap
        What the model attains, differences with intervals and tests, by class, pair and subgroup; `sentence` says it in
        plain words.

    Warns
    -----
    TrustWarning
        Where model and stack were not made alike, or both are too good for rows to come.

    See Also
    --------
    learned_floor : The floor, and what the stack reaches, alone.
    regression_floor : The same for numbers.

    Notes
    -----
    Of the error, the p-value is McNemar's exact one, and the interval of the difference Tango's. By other metrics the
    test is Student's of what rows lose; of the ROC AUC it is DeLong's. Where rows belong together, by `groups`, by near
    copies or by stretches of time, groups and not rows are taken to be independent. All are about the models that were
    trained on these folds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from bayesfloor import floor_gap
    >>> X, y = load_iris(return_X_y=True)
    >>> gap = floor_gap(DecisionTreeClassifier(max_depth=1), X, y, learners=["gaussian"])
    >>> round(gap.value, 2)
    0.33
    >>> gap.sure_gap_interval[0] > 0.2 and gap.p_value < 0.001
    True
    """
    asked = check_model(model, predictions)
    task = asked if task == "auto" else task
    seed = check_random_state_seed(random_state)
    known = {"groups": groups, "time": time, "sample_weight": sample_weight, "by": by}
    problem, own, table = problem_of(X, y, task=task, prepare=prepare, seed=seed, **known)
    judged_by = judged_by_one(metric, costs, positive, problem)
    compared = check_compared(model, predictions, own, problem, judged_by["metric"])
    how = {
        "confidence": confidence,
        "cv": cv,
        "max_rows": max_rows,
        "learners": learners,
        "n_jobs": n_jobs,
        "random_state": seed,
        "client": client,
    }
    floor_of: Any = regression_floor_of if problem.task == "regression" else learned_floor_of
    checked: Checked[Any] = checked_floor(
        source_from(problem, table, y),
        problem,
        lambda of, progress: floor_of(of, **judged_by, **how, progress=progress),
        checks=checks,
        learners=learners,
        may_split=is_int(cv),
        n_jobs=n_jobs,
        seed=seed,
        progress=progress,
    )
    compared_on = comparable(checked, compared)
    found = gap_of(compared_on, rows_are_new=rows_are_new)
    if checked.leaks or not compared_on.are_alike:
        warn_caller(" ".join(found.learned.trust.headline), TrustWarning)
    return replace(found, findings=in_order([*found.findings, *problem.findings]))


def judged_by_one(metric: Any, costs: Any, positive: Any, problem: Problem) -> dict[str, Any]:
    """Return what a floor is asked for to judge a model by one metric, or say why that cannot be."""
    if metric is not None and not isinstance(metric, str):
        raise ParameterError("metric", "the name of one metric", metric)
    if problem.task == "regression":
        if costs is not None or positive is not None:
            raise ValueError("costs and positive are for classes, and y holds numbers.")
        return {"metric": check_number_metrics("r2" if metric is None else metric)[0]}
    name = check_metric_names("error" if metric is None else metric, has_costs=costs is not None)[0]
    return {"metric": name, "costs": costs, "positive": positive}


def problem_of(X: Any, y: Any, **asked: Any) -> tuple[Problem, OwnRows, Table | None]:
    """Check points and labels, and remember the rows as the caller has them; see `problem_and_table`."""
    beside = {"y": y, **{name: asked.pop(name, None) for name in ("groups", "time", "sample_weight", "by")}}
    X, beside = at_hand(X, y, asked.pop("seed"), **beside)
    y = beside.pop("y")
    asked |= beside
    problem, table = problem_and_table(X, y, **asked)
    if problem.given_rows is None:
        return problem, OwnRows(X if table is None else table, np.arange(len(problem.X))), table
    named = (asked.get(name) for name in ("groups", "time", "sample_weight"))
    return problem, OwnRows(X, problem.given_rows, columns_named(X, y, *named)), table


class Comparable(NamedTuple):
    """A stack, and what a model predicts for its tested rows.

    Attributes
    ----------
    learned : LearnedFloor or RegressionFloor
        What the stack reaches, with what speaks against it.
    held_out : HeldOut
        The tested rows, and what the stack predicts for them.
    predicted : Predicted
        What the model predicts for them.
    are_alike : bool
        Whether neither knew what the other did not, as far as can be seen.
    """

    learned: StackFloor
    held_out: HeldOut
    predicted: Predicted
    are_alike: bool = True


def comparable(checked: Checked[Any], compared: Compared) -> Comparable:
    """Let a model predict the rows of the stack that it can best be compared with.

    A model has its own columns, so that beside leaks it is compared with the stack that had them too. Where rows are
    kept apart, clones of it are fitted on such folds; one that is fitted already may have seen rows of both sides.
    """
    run = checked.given if checked.leaks else checked.honest
    predicted = compared.predict(run.held_out)
    are_alike = not checked.leaks and (checked.split_by is None or predicted.origin == "cross-fitted")
    reasons = checked.warnings if checked.leaks else checked.reasons
    learned = run.floor
    if reasons:
        learned = replace(learned, trust=Trust(reasons, checked.honest.floor if checked.leaks else None))
    return Comparable(learned, run.held_out, predicted, are_alike)


def gap_of(compared: Comparable, *, rows_are_new: bool = False) -> FloorGap:
    """Compare what a model predicts for the tested rows with what the stack does, by the metric of the floor.

    Parameters
    ----------
    compared : Comparable
        What both predict.
    rows_are_new : bool, default=False
        As for `floor_gap`.

    Returns
    -------
    FloorGap
    """
    learned, held_out, predicted, are_alike = compared
    rows_are_new = rows_are_new or predicted.origin == "cross-fitted"
    floor, confidence = learned.metrics[learned.metric], learned.confidence
    values, judged = _judged(held_out, predicted, floor, confidence)
    difference = judged.difference
    found = list(_findings(learned, held_out, predicted, judged, rows_are_new=rows_are_new))
    if not are_alike:
        low, high = difference.interval
        difference = difference._replace(interval=(min(low, 0.0), max(high, 0.0)), p_value=np.nan)
        found.append(_made_otherwise(learned))
    estimate, interval = floor.estimate, floor.interval
    if difference.is_sure(confidence) and difference.value < 0.0 and rows_are_new:
        estimate, interval = _moved(floor, judged)
        found.append(_better_than_stack(floor, difference, interval))
    by_class: dict[str, Any] = {}
    by_pair: dict[str, Any] = {}
    if isinstance(held_out, HeldOutClasses) and floor.name == "error":
        by_class = _by_class(predicted, held_out, confidence, difference.value)
        by_pair = _by_pair(predicted, held_out, difference.value)
        _adjust(by_class, by_pair)
    by_subgroup = _by_subgroup(values, held_out, floor, confidence)
    if not are_alike:
        for columns in (by_class, by_pair, by_subgroup):
            columns.update({name: np.full_like(columns[name], np.nan) for name in _P_VALUES if name in columns})
    tuned = None
    if predicted.values is not None and floor.name in DECIDED[1:]:
        tuned = floor.value(held_out.judge(predicted.values, floor.name, confidence).difference.first)
    return FloorGap(
        metric=floor.name,
        difference=difference,
        value_interval=floor.range(*judged.interval),
        tuned=tuned,
        estimate=estimate,
        interval=interval,
        n_tested=len(held_out.tested),
        origin=predicted.origin,
        rows_are_new=rows_are_new,
        name=predicted.name,
        findings=in_order(found),
        learned=learned,
        class_columns=by_class,
        pair_columns=by_pair,
        subgroup_columns=by_subgroup,
        are_alike=are_alike,
    )


def _judged(held_out: HeldOut, predicted: Predicted, floor: MetricFloor, confidence: float) -> tuple[Floats, Judged]:
    """Return what is judged, decisions as certain probabilities, and how it compares."""
    if isinstance(held_out, HeldOutClasses) and (floor.name in DECIDED or predicted.values is None):
        n_classes = len(held_out.used.classes)
        values = one_hot(predicted.codes, max(len(predicted.labels), n_classes))
        if floor.name == "error":  # of which other classes than those of the rows are a part
            both = predicted.codes, held_out.stack
            return values, judge_errors(*both, held_out.counted, held_out.clusters, confidence)
        return values, held_out.judge(values, floor.name, confidence)
    assert predicted.values is not None
    return predicted.values, held_out.judge(predicted.values, floor.name, confidence)


def _moved(floor: MetricFloor, judged: Judged) -> tuple[float, tuple[float, float]]:
    """Return the floor and its interval where a model is surely better than the stack.

    What the stack missed, it has missed in its learning curve too: the better end moves by as much.
    """
    low, high = floor.range(*floor.interval)
    least = min(floor.range(*floor.bounds))
    estimate = min(floor.value(floor.estimate), judged.difference.first)
    low = max(min(low + judged.difference.value, judged.interval[0]), least)
    return floor.value(estimate), floor.range(low, max(min(high, judged.limit), estimate))


def _by_class(predicted: Predicted, held_out: HeldOutClasses, confidence: float, total: float) -> dict[str, Any]:
    """List the true classes, that with the largest part of the gap first."""
    rows, classes, clusters = held_out.counted, held_out.used.classes, held_out.clusters
    found = []
    for code in range(len(classes)):
        own = np.flatnonzero(rows.codes == code)
        if not len(own):
            continue  # in an order of time, a class may have ended before the rows that are tested
        of_own = None if clusters is None else np.unique(clusters[own], return_inverse=True)[1]
        named = predicted.codes[own], held_out.stack[:, own]
        found.append((code, len(own), judge_errors(*named, rows.part(own), of_own, confidence).difference))
    shares = np.bincount(rows.codes, rows.weights, len(classes)) / len(rows.codes)
    of_all = np.array([shares[code] * each.value for code, _, each in found])
    order = np.argsort(-of_all, kind="stable").tolist()
    listed_ = [found[place] for place in order]
    return {
        "label": [classes.tolist()[code] for code, _, _ in listed_],
        **_columns([n for _, n, _ in listed_], [each for _, _, each in listed_]),
        "gap_of_all": of_all[order],
        "share_of_gap": _shares(of_all[order], total),
    }


def _columns(n_rows: list[int], found: list[Difference]) -> dict[str, Any]:
    """Return columns of comparisons."""
    p_values = np.array([each.p_value for each in found])
    return {
        "n_rows": np.array(n_rows),
        "error": np.array([each.first for each in found]),
        "reached": np.array([each.second for each in found]),
        "gap": np.array([each.value for each in found]),
        "gap_low": np.array([each.interval[0] for each in found]),
        "gap_high": np.array([each.interval[1] for each in found]),
        "p_value": p_values,
        "p_adjusted": p_values,
    }


def _by_subgroup(values: Floats, held_out: HeldOut, floor: MetricFloor, confidence: float) -> dict[str, Any]:
    """List the subgroups, those with the largest gap first; nothing where none were asked for."""
    if held_out.used.by is None:
        return {}
    by = held_out.used.by.take(held_out.tested)
    found = []
    for code, name in enumerate(by.names):
        own = np.flatnonzero(by.codes == code)
        if len(own) >= FEWEST_OF_SUBGROUP and _can_be_judged(held_out, own, floor.name):
            found.append((name, len(own), held_out.judge(values, floor.name, confidence, own).difference))
    found.sort(key=lambda each: -each[2].value)
    columns = _columns([n for _, n, _ in found], [each for _, _, each in found])
    columns["value"] = floor.value(columns.pop("error")) if found else columns.pop("error")
    columns["reached"] = floor.value(columns["reached"]) if found else columns["reached"]
    columns["p_adjusted"] = holm(columns["p_value"])
    order = ("n_rows", "value", "reached", "gap", "gap_low", "gap_high", "p_value", "p_adjusted")
    return {"subgroup": [name for name, _, _ in found], **{name: columns[name] for name in order}}


def _can_be_judged(held_out: HeldOut, own: Ints, metric: str) -> bool:
    """Tell whether some rows have what a metric compares: two classes, or numbers that differ."""
    if isinstance(held_out, HeldOutClasses):
        return metric in ("error", "cost", "log_loss", "brier") or len(np.unique(held_out.counted.codes[own])) > 1
    return metric != "r2" or bool(np.ptp(held_out.used.y[held_out.tested[own]]) > 0.0)


class _PairErrors(NamedTuple):
    """Which rows are confused within which pair, in each repeat: its number, -1 for a right one; and the way round."""

    pair: Ints
    is_second: Bools


def _pair_errors(codes: Ints, named: Ints, n_labels: int) -> _PairErrors:
    low, high = np.minimum(codes, named), np.maximum(codes, named)
    return _PairErrors(np.where(codes == named, -1, low * n_labels + high), codes > named)


def _by_pair(predicted: Predicted, held_out: HeldOutClasses, total: float) -> dict[str, Any]:
    """List the pairs of classes that are ever confused, that with the largest gap first."""
    rows, labels, clusters = held_out.counted, predicted.labels, held_out.clusters
    n_labels, weights = len(labels), rows.weights
    of_both = predicted.codes[np.newaxis], held_out.stack
    model, stack = (_pair_errors(rows.codes, named, n_labels) for named in of_both)
    pairs = np.setdiff1d(np.union1d(model.pair, stack.pair), [-1])
    counts = np.zeros((len(pairs), 4), np.int64)
    shares, p_values = np.zeros((len(pairs), 2)), np.ones(len(pairs))
    for place, pair in enumerate(pairs.tolist()):
        wrong_by = []
        for side, each in enumerate((model, stack)):
            wrong = each.pair == pair
            is_wrong = wrong.mean(axis=0)
            n_second = float((wrong & each.is_second).mean(axis=0).sum())
            counts[place, 2 * side : 2 * side + 2] = round(float(is_wrong.sum()) - n_second), round(n_second)
            shares[place, side] = weights @ is_wrong / len(weights)
            wrong_by.append(is_wrong)
        p_values[place] = paired_p_value(wrong_by[0], wrong_by[1], rows, clusters)
    gap = shares[:, 0] - shares[:, 1]
    order = np.lexsort((pairs, -gap))
    names = list(labels)
    return {
        "first": [names[pair // n_labels] for pair in pairs[order].tolist()],
        "second": [names[pair % n_labels] for pair in pairs[order].tolist()],
        "error": shares[order, 0],
        "reached": shares[order, 1],
        "gap": gap[order],
        "first_as_second": counts[order, 0],
        "second_as_first": counts[order, 1],
        "reached_first_as_second": counts[order, 2],
        "reached_second_as_first": counts[order, 3],
        "p_value": p_values[order],
        "p_adjusted": p_values[order],
        "share_of_gap": _shares(gap[order], total),
    }


def _shares(gap: Floats, total: float) -> Floats:
    return gap / total if total != 0.0 else np.full(len(gap), np.nan)


def _adjust(by_class: dict[str, Any], by_pair: dict[str, Any]) -> None:
    """Adjust the p-values of classes and pairs together: they are two looks at the same rows."""
    adjusted = holm(np.concatenate([by_class["p_value"], by_pair["p_value"]]))
    n_classes = len(by_class["p_value"])
    by_class["p_adjusted"], by_pair["p_adjusted"] = adjusted[:n_classes], adjusted[n_classes:]


def _findings(
    learned: StackFloor,
    held_out: HeldOut,
    predicted: Predicted,
    judged: Judged,
    *,
    rows_are_new: bool,
) -> Iterator[Finding]:
    """List what was found, but for what a better model says of the floor."""
    floor, difference = learned.metrics[learned.metric], judged.difference
    words, n_rows = Words(floor), len(held_out.tested)
    least = max(floor.value(floor.estimate), floor.range(*floor.reached_interval)[0])
    too_good = difference.first < floor.range(*floor.interval)[0] or judged.interval[1] < least
    if not rows_are_new and difference.value < 0.0 and difference.p_value < TOO_GOOD and too_good:
        yield Finding(
            "BF058",
            f"The model {words.attains(floor.value(difference.first), f'{counted(n_rows)} rows')}, where a stack of "
            f"learners that had not seen them {words.attains(floor.value(difference.second))} "
            f"({p_text(difference.p_value)}) and the {words.limit} is about {floor.written(floor.estimate)} "
            f"({exact_percent(floor.confidence)} range {words.range(*floor.interval)}). Most likely it was trained on "
            "these rows.",
            "Pass rows that it was not trained on; or predictions of cross-validation, as from cross_val_predict; or, "
            "in Python, an unfitted copy, clone(model), which is then fitted on the folds of the stack. Where you know "
            "that it has seen none of them, say so: rows_are_new=True, or --rows-are-new.",
        )
    if not isinstance(learned, LearnedFloor):
        return
    codes, n_classes = held_out.used.codes[held_out.tested], len(learned.classes)
    others = np.flatnonzero(np.bincount(predicted.codes, minlength=len(predicted.labels))[n_classes:])
    if len(others):
        names = listed([shown(predicted.labels[n_classes + code]) for code in others.tolist()])
        yield Finding(
            "BF059",
            f"{predicted.name} names classes that these rows do not have, {names}, for "
            f"{counted(int(np.count_nonzero(predicted.codes >= n_classes)))} of {counted(n_rows)} rows, which "
            "count as errors.",
            "The stack knows the classes of these rows alone, so part of the difference is that it had less to choose "
            "from.",
        )
    if len(predicted.never_named):
        names = listed([shown(learned.classes[code]) for code in predicted.never_named.tolist()])
        n_never = int(np.isin(codes, predicted.never_named).sum())
        yield Finding(
            "BF060",
            f"{predicted.name} was fitted without the classes {names}, which {counted(n_never)} of "
            f"{counted(n_rows)} rows are of: it cannot be right there.",
            "Fit it on rows of all classes, or leave these rows out.",
        )


def _made_otherwise(learned: StackFloor) -> Finding:
    trust = learned.trust
    leaks = [reason for reason in trust.reasons if reason.kind == "leak"]
    if leaks:
        hint = "Leave these columns out, unless you will know them when you predict, and compare again."
    else:
        hint = (
            f"Pass an unfitted model, or predictions for which rows were kept apart by {trust.reasons[0].columns[0]!r}."
        )
    return Finding("BF062", f"{trust.headline[0]} No difference between model and stack is called sure.", hint)


def _better_than_stack(floor: MetricFloor, difference: Difference, after: tuple[float, float]) -> Finding:
    words = Words(floor)
    function = "regression_floor" if floor.name in NUMBER_METRICS else "learned_floor"
    return Finding(
        "BF061",
        f"The model is surely better than the stack of learners, by {words.amount(-difference.value)} "
        f"({p_text(difference.p_value)}). Measured: a model did this on rows that it had not seen. The "
        f"{exact_percent(floor.confidence)} range of the {words.limit} is now {words.range(*after)}, and was "
        f"{words.range(*floor.interval)} by the stack alone.",
        f"Pass the model to {function} among the learners: its learning curve then counts too.",
    )
