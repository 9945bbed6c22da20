"""Each annotator beside the others."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bayesfloor.floor.votes.vote_table import VoteTable
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.results import Result

#: Minimum number of votes, on rows with votes of others, of an annotator who is tested for being an outlier.
_MIN_SHARED = 20
#: Level of the test for each annotator, divided by their number.
_LEVEL = 0.01


@dataclass(frozen=True, eq=False, repr=False)
class AnnotatorAgreement(
    Result,
    says="names agreement is_outlier",
    rows="annotator=names n_votes agreement others is_outlier",
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
    is_outlier : ndarray of shape (n_annotators,)
        Whether the annotator agrees with the others clearly less than half as well, beyond chance, as they do with each
        other.
    """

    names: NDArray[Any]
    n_votes: Ints
    agreement: Floats
    others: Floats
    is_outlier: Bools


def compare_annotators(table: VoteTable) -> AnnotatorAgreement:
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
        table.names, np.bincount(table.annotator, minlength=n), agreement, among_others, is_outlier
    )


def _wilson_upper(share: Floats, counts: Ints | Floats, level: float) -> Floats:
    z = float(ndtri(1.0 - level))
    n = np.maximum(counts, 1.0)
    centre = share + z**2 / (2 * n)
    return np.asarray((centre + z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))) / (1 + z**2 / n))
