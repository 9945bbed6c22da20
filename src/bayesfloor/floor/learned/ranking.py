"""How well the stack ranks the rows of each class above all others, and how many of them it finds.

Where a class is rare, never naming it is nearly as good as the best classifier, and the error says nothing of it. What
can be said is how high its rows are ranked.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from bayesfloor.floor.learned.counted_rows import PlainRows
from bayesfloor.floor.learned.result import ClassRanking
from bayesfloor.floor.learned.stacking import Stack
from bayesfloor.runtime.arrays import Bools, Floats, Range

#: Share of the rows, ranked highest, of which the recall is given.
TOP = 0.01
#: Precision at which a recall is given: one false alarm for each row that is found.
PRECISION = 0.5


class _Ranks(NamedTuple):
    """Rows by falling score, equal scores together: weights up to each score, and each row's place among these."""

    of_class: Floats
    of_others: Floats
    place: NDArray[np.int64]


def rank_classes(
    stack: Stack,
    rows: PlainRows,
    classes: NDArray[Any],
    confidence: float,
    clusters: NDArray[np.int64] | None = None,
) -> tuple[ClassRanking, ...]:
    """Rank the rows by the probability of each class.

    Parameters
    ----------
    stack : Stack
        Predictions at the largest training size.
    rows : PlainRows
        Classes of the rows, and what each row counts.
    classes : ndarray of shape (n_classes,)
        The labels.
    confidence : float
        Level of the intervals.
    clusters : ndarray of shape (n,) or None, default=None
        Rows that belong together have the same number; None where all are independent.

    Returns
    -------
    tuple of ClassRanking
        One for each class, in the order of the labels. Of a class without rows, as there may be in time, nothing is
        known.
    """
    weights = rows.weights
    total = rows.class_totals.sum()
    found = []
    for code, label in enumerate(classes):
        is_class = rows.codes == code
        if not is_class.any():
            found.append(ClassRanking(label, 0, 0, 0.0, 0.5, (0.0, 1.0), 0.0, 0.0, 0.0))
            continue
        of_own = weights[is_class] / weights[is_class].mean()
        of_models = [placements(_rank(model[:, code], is_class, weights), is_class) for model in stack.models]
        of_repeats = [_rank(model[:, code], is_class, weights) for model in stack.predicted[:, 0]]
        ends = [auc_interval(ranks, is_class, weights, confidence, clusters) for ranks in of_repeats]
        curves = [_recall_curve(ranks) for ranks in of_repeats]
        found.append(
            ClassRanking(
                label=label,
                n_samples=int(rows.class_counts[code]),
                n_rows=int(is_class.sum()),
                share=float(rows.class_totals[code] / total),
                auc=float(of_own @ np.mean(of_models, axis=0) / len(of_own)),
                auc_interval=(float(np.mean([low for low, _ in ends])), float(np.mean([high for _, high in ends]))),
                average_precision=float(np.mean([curve.average_precision for curve in curves])),
                recall_at_top=float(np.mean([curve.at_top for curve in curves])),
                recall_at_precision=float(np.mean([curve.at_precision for curve in curves])),
            )
        )
    return tuple(found)


def _rank(score: Floats, is_class: Bools, weights: Floats) -> _Ranks:
    values, place = np.unique(-score, return_inverse=True)
    of_class = np.bincount(place, weights=weights * is_class, minlength=len(values))
    of_others = np.bincount(place, weights=weights * ~is_class, minlength=len(values))
    return _Ranks(of_class.cumsum(), of_others.cumsum(), place)


def placements(ranks: _Ranks, is_class: Bools) -> Floats:
    """Return, for each row of the class, the share of the others that it is ranked above; ties count half.

    Their mean is the area under the ROC curve.
    """
    equal = np.diff(ranks.of_others, prepend=0.0)
    return (1.0 - (ranks.of_others - 0.5 * equal) / ranks.of_others[-1])[ranks.place[is_class]]


def auc_interval(
    ranks: _Ranks,
    is_class: Bools,
    weights: Floats,
    confidence: float,
    clusters: NDArray[np.int64] | None = None,
) -> Range:
    """Return Wilson's interval of the AUC for as many rows as DeLong's variance is worth.

    One more row of the class, ranked in the middle, is added to the variance, so that a few rows that all are ranked on
    top do not make it 0. Of rows that belong together the sums vary (Obuchowski 1997).

    Parameters
    ----------
    ranks : _Ranks
        The rows by score.
    is_class : ndarray of shape (n,)
        Which rows are of the class.
    weights : ndarray of shape (n,)
        What each row counts.
    confidence : float
        Level of the interval.
    clusters : ndarray of shape (n,) or None, default=None
        As for `rank_classes`.

    Returns
    -------
    (float, float)
    """
    own = placements(ranks, is_class)
    equal = np.diff(ranks.of_class, prepend=0.0)
    others = ((ranks.of_class - 0.5 * equal) / ranks.of_class[-1])[ranks.place[~is_class]]
    of_own, of_others = (weights[rows] / weights[rows].sum() for rows in (is_class, ~is_class))
    auc, m = float(of_own @ own), float(1.0 / (of_own @ of_own))  # rows of equal weight that vary as much
    of_class = float(of_own**2 @ (own - auc) ** 2) + (0.5 - auc) ** 2 / m**2
    variance = of_class + float(of_others**2 @ (others - auc) ** 2)
    n_independent = m
    if clusters is not None:
        of_row = np.zeros(len(is_class))
        of_row[is_class], of_row[~is_class] = of_own * (own - auc), of_others * (others - auc)
        variance = max(variance, float((np.bincount(clusters, of_row) ** 2).sum()) + (0.5 - auc) ** 2 / m**2)
        n_independent = min(m, len(np.unique(clusters[is_class])))
    if variance == 0.0:
        return auc, auc  # all scores are equal
    middle = (m * auc + 0.5) / (m + 1.0)
    n = middle * (1.0 - middle) / variance
    z2 = float(stdtrit(n_independent, 0.5 + confidence / 2.0)) ** 2
    centre = (auc + z2 / (2.0 * n)) / (1.0 + z2 / n)
    reach = (z2 * (auc * (1.0 - auc) / n + z2 / (4.0 * n**2))) ** 0.5 / (1.0 + z2 / n)
    return max(centre - reach, 0.0), min(centre + reach, 1.0)


class _RecallCurve(NamedTuple):
    """Figures of one ranking: the area below precision by recall, and the recall at two places."""

    average_precision: float
    at_top: float
    at_precision: float


def _recall_curve(ranks: _Ranks) -> _RecallCurve:
    ranked = ranks.of_class + ranks.of_others
    recall, precision = ranks.of_class / ranks.of_class[-1], ranks.of_class / ranked
    at_top = np.interp(TOP * ranked[-1], np.concatenate([[0.0], ranked]), np.concatenate([[0.0], recall]))
    return _RecallCurve(
        float(np.diff(recall, prepend=0.0) @ precision),
        float(at_top),
        float(recall[precision >= PRECISION].max(initial=0.0)),
    )
