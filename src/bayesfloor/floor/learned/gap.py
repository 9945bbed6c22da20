"""A model beside the floor: how much of its error can surely be won, how much perhaps, and where.

The model is compared with the stack of `learned_floor` on the rows that this was tested on. An unfitted model is
trained on the same folds. What the stack does better has been done, so it can surely be won; what lies between the
stack and the floor is extrapolated, and can perhaps be won.

======  ====================================================================
BF058   a fitted model, or predictions, are too good for rows that were not seen
BF059   a model predicts classes that the rows do not have
BF060   the rows have classes that a fitted model does not know
BF061   a model is surely better than the stack: the floor moves down
======  ====================================================================
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.certainty import proportion_interval
from bayesfloor.floor.learned.clusters import effective_rows
from bayesfloor.floor.learned.estimate import learned_floor_of
from bayesfloor.floor.learned.gap_result import FloorGap, p_text
from bayesfloor.floor.learned.held_out import HeldOut
from bayesfloor.floor.learned.model_predictions import OwnRows, Predicted, check_compared, check_model, columns_named
from bayesfloor.floor.learned.paired import Difference, compare, holm, paired_p_value
from bayesfloor.floor.learned.result import LearnedFloor
from bayesfloor.floor.learned.strata import PlainRows
from bayesfloor.floor.trees.problem import Progress
from bayesfloor.runtime.arrays import Bools, Floats, Ints, Range
from bayesfloor.runtime.findings import Finding, in_order
from bayesfloor.runtime.frames import like_input
from bayesfloor.runtime.text import counted, exact_percent, listed, percent, percent_range, points, shown
from bayesfloor.tables.arguments import problem_and_table

#: Chance of a difference as large, below which a model that is better than the stack may have seen the rows.
TOO_GOOD = 0.01


@like_input
def floor_gap(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    predictions: Any = None,
    rows_are_new: bool = False,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
    cv: Any = 5,
    max_rows: int | None = None,
    learners: Any = "default",
    prepare: Any = "auto",
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress = False,
    client: Any = None,
) -> FloorGap:
    """Compare a model with what a stack of learners reaches on the same rows, and with the floor.

    Parameters
    ----------
    model : estimator or None
        A scikit-learn classifier or pipeline; it is not changed. Of an unfitted one, clones are fitted on the folds of
        the stack. A fitted one predicts the rows as it is, and must not have seen them. None with `predictions`.
    X : array-like or data frame of shape (n_samples, n_features), or Table
        The points, as for `learned_floor`. The model gets them as they are, so that a pipeline finds its columns; of a
        `Table` it gets the numbers that this was made into.
    y : array-like or series of shape (n_samples,), or str, default=None
        The labels, or their column of a data frame; left out with a Table.
    predictions : array-like of shape (n_samples,) or (n_samples, n_classes), or data frame, default=None
        What a model has predicted for every row without having seen it: labels, or probabilities of the sorted
        classes. The columns of a data frame name the classes.
    rows_are_new : bool, default=False
        Whether you know that a fitted model, or the one whose predictions these are, has seen none of the rows. Only
        then does one that is better than the stack move the floor. Of an unfitted model it is known.
    groups, time : array-like of shape (n_samples,) or str, default=None
        Rows that belong together, and when each was seen, as for `learned_floor`.
    sample_weight : array-like of shape (n_samples,), default=None
        What each row counts where clones of an unfitted model are fitted; all count the same in the figures.
    confidence : float, default=0.95
        Level of the intervals. A difference is called sure where its p-value is below ``1 - confidence``.
    cv : int, splitter or iterable, default=5
        Folds, as for `learned_floor`.
    max_rows : int or None, default=None
        Rows to use at the most, as for `learned_floor`; the model is compared on the rows that are used.
    learners : "default", mapping or list, default="default"
        What the stack is made of, as for `learned_floor`.
    prepare : {"auto", "strict"} or transformer, default="auto"
        How the stack makes numbers of a data frame.
    n_jobs : int or None, default=None
        Threads of the stack; None for every core.
    random_state : int, None or random generator, default=0
        Seeds the choice of rows, the folds and the learners.
    progress : bool or callable, default=False
        Show progress of the stack on a terminal, or call ``progress(done, total)``.
    client : dask.distributed.Client or None, default=None
        Train the stack on the workers of this cluster, with the same result. The model is fitted here.

    Returns
    -------
    FloorGap
        Errors, differences with intervals and tests, by class and by pair; `sentence` says it in plain words.

    See Also
    --------
    learned_floor : The floor, and what the stack reaches, alone.

    Notes
    -----
    The p-value is McNemar's exact one, and the interval of the difference Tango's. Where rows belong together, by
    `groups`, by near copies or by stretches of time, groups and not rows are taken to be independent. Both are about
    the models that were trained on these folds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from bayesfloor import floor_gap
    >>> X, y = load_iris(return_X_y=True)
    >>> gap = floor_gap(DecisionTreeClassifier(max_depth=1), X, y, learners=["gaussian"])
    >>> round(gap.error, 2)
    0.33
    >>> gap.sure_gap_interval[0] > 0.2 and gap.p_value < 0.001
    True
    """
    check_model(model, predictions)
    problem, own = problem_of(X, y, groups, time, prepare)
    compared = check_compared(model, predictions, own, problem.classes, sample_weight)
    learned, held_out = learned_floor_of(
        problem,
        confidence=confidence,
        cv=cv,
        max_rows=max_rows,
        learners=learners,
        n_jobs=n_jobs,
        random_state=random_state,
        progress=progress,
        client=client,
    )
    return gap_of(learned, held_out, compared.predict(held_out), rows_are_new=rows_are_new)


def problem_of(X: Any, y: Any, groups: Any, time: Any, prepare: Any = "auto") -> tuple[Problem, OwnRows]:
    """Check points and labels, and remember the rows as the caller has them."""
    problem, table = problem_and_table(X, y, groups=groups, time=time, prepare=prepare)
    if table is None or table is X:
        return problem, OwnRows(X, np.arange(len(problem.X)))
    return problem, OwnRows(X, table.lines, columns_named(X, y, groups, time))


def gap_of(learned: LearnedFloor, held_out: HeldOut, predicted: Predicted, *, rows_are_new: bool = False) -> FloorGap:
    """Compare what a model predicts for the tested rows with what the stack does.

    Parameters
    ----------
    learned : LearnedFloor
        What the stack reaches.
    held_out : HeldOut
        The tested rows, and what the stack predicts for them.
    predicted : Predicted
        What the model predicts for them.
    rows_are_new : bool, default=False
        As for `floor_gap`.

    Returns
    -------
    FloorGap
    """
    rows_are_new = rows_are_new or predicted.origin == "cross-fitted"
    floor, confidence, rows = learned.metrics["error"], learned.confidence, held_out.counted
    codes, clusters = rows.codes, held_out.learned.plan.clusters
    if clusters is not None:
        clusters = np.unique(clusters, return_inverse=True)[1]
    of_model, of_stack = predicted.codes != codes, held_out.stack != codes
    difference = compare(of_model, of_stack, rows, clusters, confidence)
    n = _n_independent(of_model, rows, clusters, confidence)
    error_interval = _limits(difference.first, n, confidence)
    found = list(_findings(learned, predicted, codes, difference, error_interval, rows_are_new=rows_are_new))
    estimate, interval = floor.estimate, floor.interval
    is_sure = difference.p_value < 1.0 - confidence and not difference.interval[0] <= 0.0 <= difference.interval[1]
    if is_sure and difference.value < 0.0 and rows_are_new:
        # the better of two models is taken: each limit has half of what may go wrong
        limit = _limits(difference.first, n, 0.5 + 0.5 * confidence)[1]
        estimate = min(estimate, difference.first)
        # what the stack missed, it has missed in its learning curve too: the lower end moves by as much
        lower = max(min(interval[0] + difference.value, error_interval[0]), 0.0)
        interval = lower, max(min(interval[1], limit), estimate)
        found.append(_better_than_stack(difference, floor.interval, interval, confidence))
    by_class = _by_class(predicted, held_out, clusters, confidence, difference.value)
    by_pair = _by_pair(predicted, held_out, clusters, difference.value)
    _adjust(by_class, by_pair)
    return FloorGap(
        difference=difference,
        error_interval=error_interval,
        estimate=estimate,
        interval=interval,
        n_tested=len(codes),
        origin=predicted.origin,
        rows_are_new=rows_are_new,
        name=predicted.name,
        findings=in_order(found),
        learned=learned,
        class_columns=by_class,
        pair_columns=by_pair,
    )


def _n_independent(is_wrong: Bools, rows: PlainRows, clusters: Ints | None, confidence: float) -> float:
    """Return how many independent rows say as much about an error."""
    if clusters is not None:
        return effective_rows(is_wrong.astype(np.float64), clusters, confidence)
    return rows.n_equivalent(is_wrong)


def _limits(error: float, n: float, confidence: float) -> Range:
    return proportion_interval(round(error * n, 6), n, confidence)


def _by_class(
    predicted: Predicted, held_out: HeldOut, clusters: Ints | None, confidence: float, total: float
) -> dict[str, Any]:
    """List the true classes, that with the largest part of the gap first."""
    rows, classes = held_out.counted, held_out.used.classes
    found = []
    for code in range(len(classes)):
        own = np.flatnonzero(rows.codes == code)
        if not len(own):
            continue  # in an order of time, a class may have ended before the rows that are tested
        part = PlainRows(np.zeros(len(own), np.int64), np.array([len(own)]))
        of_own = None if clusters is None else np.unique(clusters[own], return_inverse=True)[1]
        wrong = predicted.codes[own] != code, held_out.stack[own] != code
        found.append((code, len(own), compare(*wrong, part, of_own, confidence)))
    of_all = np.array([rows.class_weights[code] * n / len(rows.codes) * each.value for code, n, each in found])
    order = np.argsort(-of_all, kind="stable").tolist()
    listed_ = [found[place] for place in order]
    return {
        "label": [classes.tolist()[code] for code, _, _ in listed_],
        "n_rows": np.array([n for _, n, _ in listed_]),
        "error": np.array([each.first for _, _, each in listed_]),
        "reached": np.array([each.second for _, _, each in listed_]),
        "gap": np.array([each.value for _, _, each in listed_]),
        "gap_low": np.array([each.interval[0] for _, _, each in listed_]),
        "gap_high": np.array([each.interval[1] for _, _, each in listed_]),
        "p_value": np.array([each.p_value for _, _, each in listed_]),
        "p_adjusted": np.array([each.p_value for _, _, each in listed_]),
        "gap_of_all": of_all[order],
        "share_of_gap": _shares(of_all[order], total),
    }


class _PairErrors(NamedTuple):
    """Which rows are confused within which pair: its number, -1 where a row is right; and the way round."""

    pair: Ints
    is_second: Bools


def _pair_errors(codes: Ints, named: Ints, n_labels: int) -> _PairErrors:
    low, high = np.minimum(codes, named), np.maximum(codes, named)
    return _PairErrors(np.where(codes == named, -1, low * n_labels + high), codes > named)


def _by_pair(predicted: Predicted, held_out: HeldOut, clusters: Ints | None, total: float) -> dict[str, Any]:
    """List the pairs of classes that are ever confused, that with the largest gap first."""
    rows, labels = held_out.counted, predicted.labels
    n_labels, weights = len(labels), rows.class_weights[rows.codes]
    model, stack = (_pair_errors(rows.codes, named, n_labels) for named in (predicted.codes, held_out.stack))
    pairs = np.setdiff1d(np.union1d(model.pair, stack.pair), [-1])
    counts = np.zeros((len(pairs), 4), np.int64)
    shares, p_values = np.zeros((len(pairs), 2)), np.ones(len(pairs))
    for place, pair in enumerate(pairs.tolist()):
        of_model, of_stack = model.pair == pair, stack.pair == pair
        for side, (wrong, is_second) in enumerate(((of_model, model.is_second), (of_stack, stack.is_second))):
            n_second = int(np.count_nonzero(wrong & is_second))
            counts[place, 2 * side : 2 * side + 2] = int(wrong.sum()) - n_second, n_second
            shares[place, side] = weights[wrong].sum() / len(weights)
        p_values[place] = paired_p_value(of_model, of_stack, rows, clusters)
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
    learned: LearnedFloor,
    predicted: Predicted,
    codes: Ints,
    difference: Difference,
    error_interval: Range,
    *,
    rows_are_new: bool,
) -> Iterator[Finding]:
    """List what was found, but for what a better model says of the floor."""
    floor, n_classes = learned.metrics["error"], len(learned.classes)
    least = max(floor.estimate, floor.reached_interval[0])
    too_good = difference.first < floor.interval[0] or error_interval[1] < least
    if not rows_are_new and difference.value < 0.0 and difference.p_value < TOO_GOOD and too_good:
        yield Finding(
            "BF058",
            f"The model errs on {percent(difference.first)} of {counted(len(codes))} rows, where a stack of learners "
            f"that had not seen them errs on {percent(difference.second)} ({p_text(difference.p_value)}) and the floor "
            f"is about {percent(floor.estimate)} ({exact_percent(floor.confidence)} range "
            f"{percent_range(*floor.interval)}). Most likely it was trained on these rows.",
            "Pass rows that it was not trained on; or predictions of cross-validation, as from cross_val_predict; or, "
            "in Python, an unfitted copy, clone(model), which is then fitted on the folds of the stack. Where you know "
            "that it has seen none of them, say so: rows_are_new=True, or --rows-are-new.",
        )
    others = np.flatnonzero(np.bincount(predicted.codes, minlength=len(predicted.labels))[n_classes:])
    if len(others):
        names = listed([shown(predicted.labels[n_classes + code]) for code in others.tolist()])
        yield Finding(
            "BF059",
            f"{predicted.name} names classes that these rows do not have, {names}, for "
            f"{counted(int(np.count_nonzero(predicted.codes >= n_classes)))} of {counted(len(codes))} rows, which "
            "count as errors.",
            "The stack knows the classes of these rows alone, so part of the difference is that it had less to choose "
            "from.",
        )
    if len(predicted.never_named):
        names = listed([shown(learned.classes[code]) for code in predicted.never_named.tolist()])
        n_rows = int(np.isin(codes, predicted.never_named).sum())
        yield Finding(
            "BF060",
            f"{predicted.name} was fitted without the classes {names}, which {counted(n_rows)} of "
            f"{counted(len(codes))} rows are of: it cannot be right there.",
            "Fit it on rows of all classes, or leave these rows out.",
        )


def _better_than_stack(difference: Difference, before: Range, after: Range, confidence: float) -> Finding:
    return Finding(
        "BF061",
        f"The model is surely better than the stack of learners, by {points(-difference.value)} points "
        f"({p_text(difference.p_value)}). Measured: a model did this on rows that it had not seen. The "
        f"{exact_percent(confidence)} range of the floor is now {percent_range(*after)}, and was "
        f"{percent_range(*before)} by the stack alone.",
        "Pass the model to learned_floor among the learners: its learning curve then counts too.",
    )
