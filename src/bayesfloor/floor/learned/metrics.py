"""Metrics that a floor can be given for: what predictions lose, row by row.

A metric takes probabilities q and *targets*. With the labels as targets, its value is the one that a model with these
probabilities attains. With q itself as targets, it is the value that the model expects, and with the true posterior as
both, it is the best that any model can attain. Rows get values whose mean is the metric, less 1 - m where larger is
better: for a mean over rows, the loss of each row; for a statistic such as the area under the ROC curve, the statistic
and the row's influence on it, so that the variance of the values, divided by n, is that of the statistic.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.metrics import CLASS_METRICS, OfLoss, k_of, metric_info, unknown_metric
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.text import listed, shown

#: Smallest probability whose logarithm is taken: scikit-learn's.
_TINY = float(np.finfo(np.float64).eps)
#: Rounds in which the decisions that maximise the mean F1 of several classes are improved.
_N_ROUNDS = 20

#: Losses of rows: targets of shape (n, K), probabilities of shape (n, K), weights of shape (n,) -> (n,).
Losses = Callable[[Floats, Floats, Floats], Floats]


@dataclass(frozen=True, eq=False)
class Metric(OfLoss):
    """A figure that models are judged by.

    Attributes
    ----------
    name : str
        What it is asked for by: "roc_auc".
    title : str
        What it is called in a sentence: "ROC AUC".
    about : str
        The class that it is of, as said after a value: "for 'fraud'"; empty where it is of all classes.
    losses : callable
        Values of the rows, as the module says, of smaller is better.
    largest : float
        What the best possible loss cannot exceed, whatever the data: that of classes drawn evenly by chance.
    bounds : (float, float)
        Where the loss of a model lies; the upper end may be infinite.
    larger_is_better : bool
        Whether the figure is 1 less the loss.
    scale : float
        How much of this loss is worth 1 of the error rate, for what is expected of learning curves.
    is_rate : bool
        Whether it is a share from 0 to 1, to be written in percent.
    costs : ndarray of shape (n_classes, n_decisions) or None
        What each decision costs for each class, where that is the metric.
    of_guesses : float
        The loss of guessing by the shares of the classes, where that may be less than the loss of one decision for all.
    of_one_row : float
        What one row of the rarest class counts, in rows: many where all classes count the same.
    is_row_mean : bool
        Whether the loss of a row depends on that row alone.
    is_score : bool
        Whether probabilities are judged, and not decisions or ranks.
    is_least_by_shares : bool
        Whether nothing loses less on given rows than the shares of the classes among rows with equal features.
    """

    name: str
    title: str
    losses: Losses
    largest: float
    bounds: tuple[float, float] = (0.0, 1.0)
    larger_is_better: bool = False
    scale: float = 1.0
    is_rate: bool = True
    costs: Floats | None = None
    of_guesses: float = np.inf
    of_one_row: float = 1.0
    about: str = ""
    is_row_mean: bool = True
    is_score: bool = False
    is_least_by_shares: bool = True


def of_error(targets: Floats, q: Floats, weights: Floats) -> Floats:
    """Return the chance that the label is not the most probable class."""
    return 1.0 - np.take_along_axis(targets, q.argmax(axis=1)[:, np.newaxis], axis=1)[:, 0]


def of_balanced_error(targets: Floats, q: Floats, weights: Floats) -> Floats:
    """Return errors in which each class counts the same, by decisions that make their mean the least."""
    worth = _worth_of_classes(targets, weights)
    named = (q * worth).argmax(axis=1)
    is_wrong = named[:, np.newaxis] != np.arange(q.shape[1])
    of_class = weights @ (targets * is_wrong) / np.maximum(weights @ targets, _TINY)
    mean = of_class.sum() / np.count_nonzero(worth)
    return np.asarray(mean + (targets * worth * (is_wrong - of_class)).sum(axis=1))


def _worth_of_classes(targets: Floats, weights: Floats) -> Floats:
    """Return what a row of each class counts where all classes are to count the same; 0 for one without rows."""
    shares = weights @ targets / weights.sum()
    worth = np.divide(1.0, shares, out=np.zeros_like(shares), where=shares > 0)
    return worth / max(np.count_nonzero(shares), 1)


def of_log_loss(targets: Floats, q: Floats, weights: Floats) -> Floats:
    """Return minus the logarithm of the label's probability."""
    log_q = np.log(np.maximum(q, _TINY))
    return -(targets * log_q).sum(axis=1)


def of_brier(targets: Floats, q: Floats, weights: Floats) -> Floats:
    """Return the squared distance of the probabilities from the label; half of it for two classes, as is usual."""
    square = 1.0 + (q**2 - 2.0 * targets * q).sum(axis=1)
    return square / 2.0 if q.shape[1] == 2 else square


def of_top_k(k: int) -> Losses:
    """Return the chance that the label is not among the k most probable classes."""

    def losses(targets: Floats, q: Floats, weights: Floats) -> Floats:
        named = np.argsort(-q, axis=1, kind="stable")[:, :k]
        return 1.0 - np.take_along_axis(targets, named, axis=1).sum(axis=1)

    return losses


def of_costs(costs: Floats) -> Losses:
    """Return the cost of the decision that is expected to cost the least."""

    def losses(targets: Floats, q: Floats, weights: Floats) -> Floats:
        return np.asarray((targets * costs[:, cheapest_decisions(q, costs)].T).sum(axis=1))

    return losses


def cheapest_decisions(q: Floats, costs: Floats) -> Ints:
    """Return the decision for each row that is expected to cost the least."""
    return np.asarray((q @ costs).argmin(axis=1))


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Rows by one score, the highest first, rows of equal scores together.

    Attributes
    ----------
    place : ndarray of shape (n,)
        Which of the scores each row has.
    of_class, of_others : ndarray of shape (n_scores,)
        Weights of the class and of all others at each score.
    """

    place: Ints
    of_class: Floats
    of_others: Floats


def _rank(share: Floats, score: Floats, weights: Floats) -> _Ranked:
    values, place = np.unique(-score, return_inverse=True)
    of_class, of_others = (
        np.bincount(place, weights=of_row, minlength=len(values)).astype(np.float64)
        for of_row in (weights * share, weights * (1.0 - share))
    )
    return _Ranked(place, of_class, of_others)


def auc_values(share: Floats, score: Floats, weights: Floats) -> Floats:
    """Return values whose mean is the area under the ROC curve of one class against the rest.

    Parameters
    ----------
    share : ndarray of shape (n,)
        How much of each row is of the class: 0 or 1 for labels.
    score : ndarray of shape (n,)
        What the rows are ranked by.
    weights : ndarray of shape (n,)
        What each row counts.

    Returns
    -------
    ndarray of shape (n,)
        The area, and the influence of each row on it: a row of the class is ranked above so many of the others, one of
        the others below so many of the class (DeLong et al. 1988).
    """
    ranked = _rank(share, score, weights)
    n_class, n_others = ranked.of_class.sum(), ranked.of_others.sum()
    total = n_class + n_others
    above = (ranked.of_class.cumsum() - 0.5 * ranked.of_class) / n_class
    below = 1.0 - (ranked.of_others.cumsum() - 0.5 * ranked.of_others) / n_others
    area = float(ranked.of_class @ below / n_class)
    as_class = share * total / n_class * (below[ranked.place] - area)
    as_other = (1.0 - share) * total / n_others * (above[ranked.place] - area)
    return area + as_class + as_other


def average_precision_values(share: Floats, score: Floats, weights: Floats) -> Floats:
    """Return values whose mean is the average precision of one class; see `auc_values`."""
    ranked = _rank(share, score, weights)
    found, named = ranked.of_class.cumsum(), (ranked.of_class + ranked.of_others).cumsum()
    n_class, total = found[-1], named[-1]
    precision = found / named
    area = float(ranked.of_class @ precision / n_class)
    # A row changes the precision at its own score and all lower ones.
    per_row = ranked.of_class / named
    of_class = per_row[::-1].cumsum()[::-1]
    of_any = (per_row * precision)[::-1].cumsum()[::-1]
    own = share * (precision[ranked.place] - area + of_class[ranked.place]) - of_any[ranked.place]
    return area + total / n_class * own


def f1_values(share: Floats, named: Floats, weights: Floats) -> Floats:
    """Return values whose mean is the F1 of one class; `named` is 1 where a row is taken for it."""
    total = weights.sum()
    hits, both = weights @ (share * named) / total, weights @ (share + named) / total
    if both == 0.0:
        return np.zeros(len(share))
    f1 = 2.0 * hits / both
    return np.asarray(f1 + (2.0 * share * named - f1 * (share + named)) / both)


def best_f1_decisions(q: Floats, weights: Floats) -> Bools:
    """Return which rows to take for a class so that its F1, as q expects it, is the largest."""
    order = np.argsort(-q, kind="stable")
    hits, named = np.cumsum((weights * q)[order]), np.cumsum(weights[order])
    expected = hits / (hits[-1] + named) if hits[-1] > 0 else np.zeros(len(q))
    return np.asarray(q >= q[order[int(expected.argmax())]])


def best_macro_f1_decisions(q: Floats, weights: Floats) -> Ints:
    """Return the class to name in each row so that the mean F1 of the classes, as q expects it, is large.

    A decision changes the mean by (2 q - F) / (share of the class + share named), to first order. Taking the best by
    that, again and again, climbs to a maximum (Frank and Wolfe's steps of full length); the best round is kept.
    """
    total = weights.sum()
    shares = weights @ q / total
    n_classes = q.shape[1]
    named = (q / np.maximum(shares, _TINY)).argmax(axis=1)
    best, best_value = named, -1.0
    for _ in range(_N_ROUNDS):
        taken = np.bincount(named, weights, n_classes) / total
        hits = np.bincount(named, weights * np.take_along_axis(q, named[:, np.newaxis], axis=1)[:, 0], n_classes)
        both = np.maximum(shares + taken, _TINY)
        f1 = 2.0 * hits / total / both
        if f1.mean() > best_value + 1e-12:
            best, best_value = named, float(f1.mean())
        following = ((2.0 * q - f1) / both).argmax(axis=1)
        if np.array_equal(following, named):
            break
        named = following
    return best


def _mean_over_classes(values: Callable[[Floats, Floats, Floats], Floats], positive: int | None) -> Losses:
    """Return 1 - values of one class, or the mean over all classes that some rows are of and some are not."""

    def losses(targets: Floats, q: Floats, weights: Floats) -> Floats:
        if positive is not None:
            return 1.0 - values(targets[:, positive], q[:, positive], weights)
        shares = weights @ targets / weights.sum()
        told = np.flatnonzero((shares > 0) & (shares < 1))
        return 1.0 - np.mean([values(targets[:, k], q[:, k], weights) for k in told], axis=0)

    return losses


def of_f1(positive: int | None) -> Losses:
    """Return 1 - F1 of one class at the best threshold, or of the mean of all classes by the best decisions."""

    def losses(targets: Floats, q: Floats, weights: Floats) -> Floats:
        if positive is not None:
            named = best_f1_decisions(q[:, positive], weights).astype(np.float64)
            return 1.0 - f1_values(targets[:, positive], named, weights)
        decisions = best_macro_f1_decisions(q, weights)
        told = np.flatnonzero(weights @ targets > 0)
        of_class = [f1_values(targets[:, k], (decisions == k).astype(np.float64), weights) for k in told]
        return 1.0 - np.mean(of_class, axis=0)

    return losses


#: Least and most that the largest cost may be: squares, and sums of them over any number of rows, stay finite.
LEAST_COST, MOST_COST = 1e-100, 1e100
#: Differences of costs, as a share of the largest, that rounding alone makes.
SAME_COSTS = 1e-12


def check_metrics(
    metric: Any, costs: Any, positive: Any, classes: NDArray[Any], class_counts: Ints | Floats
) -> tuple[Metric, ...]:
    """Return the metrics that were asked for, the first one first, and the error.

    Parameters
    ----------
    metric : str or sequence of str
        Names.
    costs : array-like, mapping or None
        As for `learned_floor`. With costs and no other metric, the cost is the metric.
    positive : object
        The class that "average_precision" and "f1" of two classes are about; None for the last one.
    classes : ndarray of shape (n_classes,)
        The labels.
    class_counts : ndarray of shape (n_classes,)
        Rows of each class, or what they count together.

    Returns
    -------
    tuple of Metric
    """
    names = check_metric_names(metric, has_costs=costs is not None)
    n_classes = len(classes)
    code = _code_of(positive, classes)
    matrix = None if costs is None else check_costs(costs, classes)
    shares = class_counts / class_counts.sum()
    even = 1.0 - 1.0 / n_classes
    found: dict[str, Metric] = {}
    for name in names:
        found[name] = _metric_of(name, n_classes, code, classes, matrix, shares, even)
    also = (["cost"] if matrix is not None else []) + ["error"]
    for name in also:
        if name not in found:
            found[name] = _metric_of(name, n_classes, code, classes, matrix, shares, even)
    return tuple(found.values())


def check_metric_names(metric: Any, *, has_costs: bool) -> list[str]:
    """Return the names of the metrics that were asked for; with costs and no other metric, that is the cost.

    Parameters
    ----------
    metric : str or sequence of str
        Names.
    has_costs : bool
        Whether there are costs.

    Returns
    -------
    list of str
    """
    names = [metric] if isinstance(metric, str) else list(metric) if np.iterable(metric) else [metric]
    if not names:
        raise unknown_metric(metric, CLASS_METRICS, ", or several")
    if has_costs and names == ["error"]:
        return ["cost"]
    for place, name in enumerate(names):
        if not isinstance(name, str) or (name not in CLASS_METRICS and k_of(name) is None):
            raise unknown_metric(name, CLASS_METRICS, ", or several")
        if name in names[:place]:
            raise ValueError(f"The metric {name!r} is named twice.")
    if "cost" in names and not has_costs:
        raise ValueError("The metric 'cost' needs costs.")
    return names


def _metric_of(
    name: str,
    n_classes: int,
    positive: int,
    classes: NDArray[Any],
    costs: Floats | None,
    shares: Floats,
    even: float,
) -> Metric:
    of_two = positive if n_classes == 2 else None
    rarest = float(shares[shares > 0].min())
    of_one_row = 1.0 / (rarest * n_classes)
    of_positive = 1.0 / max(float(shares[positive]), rarest) if n_classes == 2 else of_one_row
    about = f"for {shown(classes[positive])}" if n_classes == 2 else ""
    macro = "" if n_classes == 2 else "macro "

    def metric(losses: Losses, largest: float, *, prefix: str = "", **others: Any) -> Metric:
        info = metric_info(name)
        known: dict[str, Any] = {
            "bounds": info.bounds,
            "larger_is_better": info.larger_is_better,
            "is_rate": info.is_rate,
        }
        return Metric(name, prefix + info.title, losses, largest, **(known | others))

    if name == "error":
        return metric(of_error, even)
    if name == "balanced_error":
        return metric(of_balanced_error, even, of_one_row=of_one_row, is_row_mean=False)
    if name == "log_loss":
        entropy = float(-(shares * np.log(np.maximum(shares, _TINY))).sum())
        return metric(of_log_loss, float(np.log(n_classes)), scale=entropy / even, is_score=True)
    if name == "brier":
        half = 2.0 if n_classes == 2 else 1.0
        alone = float(1.0 - (shares**2).sum()) / half
        return metric(of_brier, even / half, bounds=(0.0, 2.0 / half), scale=alone / even, is_score=True)
    if name == "roc_auc":
        losses = _mean_over_classes(auc_values, of_two)
        of_one_row = 1.0 / rarest if n_classes == 2 else of_one_row
        return metric(losses, 0.5, prefix=macro, of_one_row=of_one_row, is_row_mean=False)
    of_class: dict[str, Any] = {"prefix": macro, "of_one_row": of_positive, "about": about, "is_row_mean": False}
    if name == "average_precision":
        losses = _mean_over_classes(average_precision_values, of_two)
        return metric(losses, 1.0, is_least_by_shares=False, **of_class)
    if name == "f1":
        guesses = np.inf if n_classes == 2 else even
        return metric(of_f1(of_two), 1.0, of_guesses=guesses, is_least_by_shares=n_classes == 2, **of_class)
    if name == "cost":
        assert costs is not None  # the names were checked
        dearest, least = float(costs.max()), float(shares @ costs.min(axis=1))
        alone = float((shares @ costs).min()) - least
        scale = alone / even or dearest - least
        largest = float(costs.max(axis=0).min())
        return metric(of_costs(costs), largest, bounds=(least, dearest), scale=scale, costs=costs)
    k = k_of(name)
    assert k is not None
    if k >= n_classes:
        raise ValueError(f"{name!r} with k = {k} is 0 for {n_classes} classes: the label is always among them.")
    return metric(of_top_k(k), 1.0 - k / n_classes)


def _code_of(positive: Any, classes: NDArray[Any]) -> int:
    if positive is None:
        return len(classes) - 1
    found = np.flatnonzero([bool(label == positive) or str(label) == str(positive) for label in classes])
    if len(found) != 1:
        raise ValueError(f"positive={positive!r} is none of the classes {listed(list(map(shown, classes)))}.")
    return int(found[0])


def check_costs(costs: Any, classes: NDArray[Any]) -> Floats:
    """Return the costs as an array: a row for each class, a column for each decision.

    Parameters
    ----------
    costs : array-like of shape (n_classes, n_classes) or (n_classes, n_classes + 1), or data frame
        What it costs to decide for the column's class when the row's is true; one more column is the cost of not
        deciding. The rows and columns of a data frame are put into the order of the classes by their names.
    classes : ndarray of shape (n_classes,)
        The labels.

    Returns
    -------
    ndarray
    """
    n_classes = len(classes)
    if hasattr(costs, "index") and hasattr(costs, "columns"):
        costs = _in_order_of_classes(costs, classes)
    try:
        matrix = np.array(costs, np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"costs must be numbers, a row for each class. Got {type(costs).__name__}.") from error
    if matrix.shape not in ((n_classes, n_classes), (n_classes, n_classes + 1)):
        raise ValueError(
            f"costs must have {n_classes} rows, one for each class, and {n_classes} columns, or {n_classes + 1} with "
            f"the cost of not deciding. Got shape {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise ValueError("costs must be finite numbers.")
    largest = float(np.abs(matrix).max())
    if not LEAST_COST <= largest <= MOST_COST and largest > 0.0:
        raise ValueError(
            f"The largest of the costs must be between {LEAST_COST:g} and {MOST_COST:g}, so that sums of their squares "
            f"can be computed. Got {largest:g}: choose another unit."
        )
    right = np.diagonal(matrix)
    wrong = (matrix[:, :n_classes] < right[:, np.newaxis]).nonzero()
    if len(wrong[0]):
        k, j = int(wrong[0][0]), int(wrong[1][0])
        raise ValueError(
            f"Taking {shown(classes[k])} for {shown(classes[j])} costs {matrix[k, j]:g}, less than naming it rightly "
            f"({matrix[k, k]:g}). Rows are the true classes, columns the decisions."
        )
    if np.ptp(matrix) <= SAME_COSTS * largest:
        raise ValueError("All costs are the same: there is nothing to decide.")
    return matrix


def _in_order_of_classes(frame: Any, classes: NDArray[Any]) -> Any:
    """Put a data frame of costs into the order of the classes; a column that names no class is last."""
    names = [str(label) for label in classes]
    rows, columns = [str(name) for name in frame.index], [str(name) for name in frame.columns]
    other = [name for name in columns if name not in names]
    missing = sorted({*names} - {*rows} | {*names} - {*columns})
    if missing or len(other) > 1 or len(rows) != len(names) or len({*columns}) != len(columns):
        text = listed([shown(name) for name in missing]) or "nothing, but there are too many rows or columns"
        raise ValueError(f"costs must have a row and a column for each class, by its name. Missing: {text}.")
    order = [columns.index(name) for name in (*names, *other)]
    return np.asarray(frame)[np.ix_([rows.index(name) for name in names], order)]


def class_weights_of(costs: Floats) -> Floats | None:
    """Return weights of the classes that lead to the same decisions as the costs, with a mean of 1.

    There are such weights where what a mistake costs depends on the true class alone; with two classes, always.

    Parameters
    ----------
    costs : ndarray of shape (n_classes, n_decisions)
        As from `check_costs`.

    Returns
    -------
    ndarray of shape (n_classes,) or None
    """
    n_classes = len(costs)
    if costs.shape[1] > n_classes:
        return None
    extra = costs - np.diagonal(costs)[:, np.newaxis]
    of_class = extra.sum(axis=1) / max(n_classes - 1, 1)
    off = ~np.eye(n_classes, dtype=bool)
    if not np.allclose(extra[off], np.repeat(of_class, n_classes - 1)) or of_class.sum() == 0:
        return None
    return np.asarray(of_class / of_class.mean())


def shares_of_decisions(targets: Floats, q: Floats, weights: Floats, costs: Floats) -> Floats:
    """Return the share of rows of each class for which each decision is taken, in the shape of the costs."""
    taken = np.zeros(costs.shape)
    np.add.at(taken.T, cheapest_decisions(q, costs), weights[:, np.newaxis] * targets)
    return np.asarray(taken / weights.sum())


def one_hot(codes: Ints, n_classes: int) -> Floats:
    """Return labels as targets."""
    return np.eye(n_classes)[codes]
