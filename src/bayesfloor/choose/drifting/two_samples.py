"""Four statistics of two tables, and one p-value of all of them.

===========  ======================================================================================================
forests      Henze-Penrose divergence by the cross edges of spanning forests: any difference, in any shape
columns      the column that moved most, by ranks, levels and gaps: one of many columns
directions   the distance between the mean rows, in units of how rows vary: many columns that move a little together
pairs        the two columns whose products moved most: relations between columns that each stay as they are
===========  ======================================================================================================

Each is computed for the tables as they are and for names dealt out again (`permutations`). The p-value is that of the
smallest of the four p-values, by the same deals: it allows for the choice, and needs no law of large numbers.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from bayesfloor.choose.drifting.permutations import Deals, deal_names, share_as_large, smallest_of
from bayesfloor.choose.drifting.scores import Part, evidence_of, pairs_of, whitened
from bayesfloor.floor.trees.permuted import cross_edges_at
from bayesfloor.forest import Forests
from bayesfloor.runtime.arrays import Bools, Floats, Ints

#: Deals that are summed at once.
_AT_ONCE = 64
#: Deals that tell how far columns lie apart by chance.
_N_KEPT = 20
#: Mean square of a score that is the same in all deals, up to rounding.
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class TwoSampleTest:
    """Whether two tables come from one distribution.

    Attributes
    ----------
    p_value : float
        Chance of tables as different as these, if they do.
    of_tests : dict of str to float
        The same for each statistic, allowing for the others.
    of_parts : ndarray of shape (n_parts,)
        The same for each part of a column, allowing for the other parts.
    pairs : list of (Part, float)
        Products of two columns, and the same for each, allowing for the other products.
    is_exact : bool
        Whether all ways to deal the names out were looked at.
    dealt : ndarray of shape (n_dealt, n_rows)
        Which rows are of the new table in some of these ways, other than the one that happened.
    """

    p_value: float
    of_tests: dict[str, float]
    of_parts: Floats
    pairs: list[tuple[Part, float]]
    is_exact: bool
    dealt: Bools


def compare_samples(
    X: Floats, parts: list[Part], is_new: Bools, forests: Forests, groups: Ints | None, seed: int
) -> TwoSampleTest:
    """Test whether two tables come from one distribution.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows of both.
    parts : list of Part
        What may have moved.
    is_new : ndarray of shape (n_rows,)
        Which rows are of the new table.
    forests : Forests
        Spanning forests of X.
    groups : ndarray of shape (n_rows,) or None
        Rows that belong together.
    seed : int
        Seed of the deals.

    Returns
    -------
    TwoSampleTest
    """
    directions, pairs = whitened(X), pairs_of(parts)
    blocks = [directions, *(part.scores for part in [*parts, *pairs])]
    ends = np.cumsum([block.shape[1] for block in blocks]).tolist()
    deals = deal_names(is_new, groups, seed, ends[-1] + forests.n_trees)
    scores = np.hstack(blocks)
    if groups is not None:
        scores -= _means_of_groups(scores, is_new, groups)
    squares = squared_sums(scores, deals)
    if groups is not None:  # sums vary as groups differ, in one column more than in another
        squares /= np.maximum(squares.mean(axis=1, keepdims=True), _NOTHING)
    evidence = np.array([evidence_of(squares[first:last]) for first, last in pairwise(ends)])
    of_parts, of_pairs = evidence[: len(parts)], evidence[len(parts) :]
    statistics = {
        "forests": -cross_shares(forests, deals),
        "columns": of_parts.max(axis=0),
        "directions": squares[: ends[0]].sum(axis=0),
        **({"pairs": of_pairs.max(axis=0)} if pairs else {}),
    }
    adjusted = smallest_of(share_as_large(np.array(list(statistics.values()))))
    of_tests = dict(zip(statistics, adjusted.tolist(), strict=True))
    return TwoSampleTest(
        p_value=min(of_tests.values()),
        of_tests=of_tests,
        of_parts=_beside_the_largest(of_parts),
        pairs=list(zip(pairs, _beside_the_largest(of_pairs).tolist(), strict=True)) if pairs else [],
        is_exact=deals.is_exact,
        dealt=deals.is_new[1 : 1 + _N_KEPT],
    )


def _means_of_groups(scores: Floats, is_new: Bools, groups: Ints) -> Floats:
    """Return the mean scores of each row's group where it is in both tables, and those of all other rows together."""
    counts = np.array([np.bincount(groups[side], minlength=groups.max() + 1) for side in (is_new, ~is_new)])
    of_row = np.where((counts > 0).all(axis=0), np.arange(1, counts.shape[1] + 1), 0)[groups]
    members = csr_array((np.ones(len(groups)), (of_row, np.arange(len(groups)))))
    return np.asarray((members @ scores / np.maximum(members.sum(axis=1), 1.0)[:, np.newaxis])[of_row])


def _beside_the_largest(evidence: Floats) -> Floats:
    """Return the share of all deals in which any part has moved as far as each one did."""
    largest = np.sort(evidence.max(axis=0))
    # a little below: the largest of all deals is one of them, up to rounding
    return (len(largest) - np.searchsorted(largest, evidence[:, 0] * (1.0 - 1e-9), side="left")) / len(largest)


def squared_sums(scores: Floats, deals: Deals) -> Floats:
    """Return the squared sum of each score over the rows of the new table, in units of its variance, in each deal.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_scores)
        With mean 0 and sum of squares 1.
    deals : Deals
        Ways to deal the names out.

    Returns
    -------
    ndarray of shape (n_scores, n_deals)
    """
    n = len(scores)
    sums = np.empty((len(deals.is_new), scores.shape[1]))
    for first in range(0, len(sums), _AT_ONCE):
        sums[first : first + _AT_ONCE] = deals.is_new[first : first + _AT_ONCE].astype(np.float64) @ scores
    n_new = deals.n_new[:, np.newaxis]
    return (sums**2 * (n * (n - 1.0) / (n_new * (n - n_new)))).T


def cross_shares(forests: Forests, deals: Deals) -> Floats:
    """Return the cross edges of each deal over how many chance gives: 1 - D, with D the Henze-Penrose divergence.

    Rows of equal values are interchangeable, as in `bayesfloor.forest.results.EdgeSums`: an edge counts for the share
    of the pairs of rows that it could join whose names differ.
    """
    n, n_sites = len(forests.sites), int(forests.sites.max()) + 1
    members = csr_array((np.ones(n), (forests.sites, np.arange(n))), shape=(n_sites, n))
    sizes = np.bincount(forests.sites)
    first, second = forests.sites[forests.edges].T
    each = np.ones(len(forests.edges), np.int64)
    found = np.empty(len(deals.is_new))
    for start in range(0, len(found), _AT_ONCE):
        counts = members @ deals.is_new[start : start + _AT_ONCE].T.astype(np.float64)
        found[start : start + _AT_ONCE] = cross_edges_at(first, second, each, sizes, counts)
    n_new = deals.n_new.astype(np.float64)
    per_tree = (n - 1.0) / len(forests.edges)
    return found * per_tree * n / (2.0 * n_new * (n - n_new))
