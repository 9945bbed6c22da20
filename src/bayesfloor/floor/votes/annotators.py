"""Each annotator beside the others, and the hidden class behind the votes (Dawid and Skene 1979)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bayesfloor.floor.votes.mixture import Mixture
from bayesfloor.floor.votes.vote_table import VoteTable
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.limits import check_memory
from bayesfloor.runtime.results import Result

#: Votes that each annotator's confusion starts from, spread as those of all annotators are.
_PRIOR_VOTES = 4.0
_MAX_STEPS = 100
#: EM has converged when no probability of a hidden class moves by more than this.
_TOLERANCE = 1e-4
#: Minimum number of votes, on rows with votes of others, of an annotator who is tested for being an outlier.
_MIN_SHARED = 20
#: Level of the test for each annotator, divided by their number.
_LEVEL = 0.01


@dataclass(frozen=True, eq=False, repr=False)
class AnnotatorAgreement(
    Result,
    says="names agreement is_outlier",
    rows="annotator=names n_votes agreement others accuracy is_outlier",
):
    """How each annotator votes beside the others.

    `frame` has a row for each annotator.

    Attributes
    ----------
    names : ndarray of shape (n_annotators,)
        The annotators.
    n_votes : ndarray of shape (n_annotators,)
        Their votes.
    agreement : ndarray of shape (n_annotators,)
        How often another annotator of the same row gives the same label; NaN without such a row.
    others : ndarray of shape (n_annotators,)
        How often two of the other annotators agree.
    accuracy : ndarray of shape (n_annotators,)
        How often the vote is the hidden class, by the model of Dawid and Skene.
    is_outlier : ndarray of shape (n_annotators,)
        Whether the annotator agrees with the others clearly less than half as well, beyond chance, as they do with each
        other.
    """

    names: NDArray[Any]
    n_votes: Ints
    agreement: Floats
    others: Floats
    accuracy: Floats
    is_outlier: Bools


def compare_annotators(table: VoteTable, accuracy: Floats) -> AnnotatorAgreement:
    """Compare each annotator with the others of the same rows."""
    assert table.annotator is not None
    assert table.names is not None
    n = len(table.names)
    n_votes = table.counts.sum(axis=1)[table.row]
    others = np.maximum(n_votes - 1, 1)
    matching = (table.counts[table.row, table.label] - 1) / others
    shared = np.bincount(table.annotator, weights=(n_votes > 1).astype(np.float64), minlength=n)
    agreed = np.bincount(table.annotator, weights=matching * (n_votes > 1), minlength=n)
    agreement = np.divide(agreed, shared, out=np.full(n, np.nan), where=shared > 0)
    # pairs of votes, each counted once, with and without the annotator
    pairs = np.bincount(table.annotator, weights=n_votes - 1, minlength=n)
    same = np.bincount(table.annotator, weights=matching * others * (n_votes > 1), minlength=n)
    rest, rest_same = pairs.sum() / 2 - pairs, same.sum() / 2 - same
    among_others = np.divide(rest_same, rest, out=np.full(n, np.nan), where=rest > 0)
    labels = np.bincount(table.label, minlength=len(table.classes)) / max(len(table.label), 1)
    half_way = 0.5 * (among_others + float((labels**2).sum()))
    upper = _wilson_upper(agreement, shared, _LEVEL / n)
    with np.errstate(invalid="ignore"):
        is_outlier = (shared >= _MIN_SHARED) & (upper < half_way)
    return AnnotatorAgreement(
        table.names, np.bincount(table.annotator, minlength=n), agreement, among_others, accuracy, is_outlier
    )


def _wilson_upper(share: Floats, counts: Ints | Floats, level: float) -> Floats:
    z = float(ndtri(1.0 - level))
    n = np.maximum(counts, 1.0)
    centre = share + z**2 / (2 * n)
    return np.asarray((centre + z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))) / (1 + z**2 / n))


def hidden_classes(table: VoteTable, start: Mixture) -> tuple[float, Floats]:
    """Fit the model of Dawid and Skene: each row has one true class, each annotator errs in their own way.

    Annotators err independently of each other, and all rows of a class are equally hard. Where that is wrong, the
    hidden class is known less well than this says.

    Parameters
    ----------
    table : VoteTable
        Votes; without annotators, all are one.
    start : Mixture
        Shares of the classes, and the confusion that all annotators start from.

    Returns
    -------
    error : float
        How often the most probable class given the votes is not the true one.
    accuracy : ndarray of shape (n_annotators,)
        How often each annotator names the true class.
    """
    n_classes = len(table.classes)
    who = np.zeros_like(table.row) if table.annotator is None else table.annotator
    n_annotators = 1 if table.names is None else len(table.names)
    check_memory(24 * n_annotators * n_classes**2, f"the confusions of {n_annotators} annotators")
    rows, row = np.unique(table.row, return_inverse=True)
    shares, pooled = start.shares[0], start.means[0]
    confusion = np.repeat(pooled[None], n_annotators, axis=0)
    cell = who * n_classes + table.label
    posterior = np.zeros((len(rows), n_classes))
    for _ in range(_MAX_STEPS):
        log_p = np.log(confusion).transpose(0, 2, 1).reshape(-1, n_classes)[cell]
        joint = np.tile(np.log(shares), (len(rows), 1))
        for k in range(n_classes):
            joint[:, k] += np.bincount(row, weights=log_p[:, k], minlength=len(rows))
        joint = np.exp(joint - joint.max(axis=1, keepdims=True))
        joint /= joint.sum(axis=1, keepdims=True)
        moved = np.abs(joint - posterior).max()
        posterior = joint
        if moved < _TOLERANCE:
            break
        shares = (posterior.sum(axis=0) + 0.5) / (len(rows) + 0.5 * n_classes)
        counted = np.stack(
            [
                np.bincount(cell, weights=posterior[row, k], minlength=n_annotators * n_classes)
                for k in range(n_classes)
            ],
            axis=1,
        ).reshape(n_annotators, n_classes, n_classes)
        counted = counted.transpose(0, 2, 1)  # annotator, hidden class, label
        pooled = counted.sum(axis=0) + 0.1 / n_classes
        pooled = pooled / pooled.sum(axis=1, keepdims=True)
        confusion = counted + _PRIOR_VOTES * pooled
        confusion /= confusion.sum(axis=2, keepdims=True)
    accuracy = (confusion[:, np.arange(n_classes), np.arange(n_classes)] * shares).sum(axis=1)
    return float(1.0 - posterior.max(axis=1).mean()), accuracy
