"""Which rows could have come from the new table: the files' names, dealt out to the rows again.

If both tables come from one distribution, every way to deal the names out is as likely as the one that happened. A
statistic is compared with its own values under other ways, so that its p-value holds at any size and in any dimension.
Where there are few ways all of them are taken, and the p-value is exact.
"""

from dataclasses import dataclass
from itertools import combinations, product
from math import comb

import numpy as np

from bayesfloor.runtime.arrays import Bools, Floats, Ints

#: Ways to deal the names out, beside the one that happened, and up to which all ways are taken.
N_DEALS = 999
#: Fewest ways where rows times scores are so many that `MOST_PRODUCTS` would be passed.
FEWEST_DEALS = 199
#: Products of a label and a score in all ways together: about ten seconds of one core.
MOST_PRODUCTS = 5e10
#: Digits of a statistic that count: sums in another order differ in later ones.
_DIGITS = 9
#: What is smaller is rounding.
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class Deals:
    """Ways to deal the names of two tables out to their rows.

    Attributes
    ----------
    is_new : ndarray of shape (n_deals, n_rows)
        Which rows are of the new table; the first way is the one that happened.
    is_exact : bool
        Whether these are all ways.
    """

    is_new: Bools
    is_exact: bool

    @property
    def n_new(self) -> Ints:
        """Rows of the new table, in each way; groups differ in size."""
        return np.count_nonzero(self.is_new, axis=1)


def deal_names(is_new: Bools, groups: Ints | None, seed: int, n_scores: int = 1) -> Deals:
    """Deal the names of two tables out to the rows, or to groups of rows.

    Parameters
    ----------
    is_new : ndarray of shape (n_rows,)
        Which rows are of the new table.
    groups : ndarray of shape (n_rows,) or None
        Rows that belong together: those of a group that is in one table are dealt as one. Where a group is in both
        tables, its names are swapped or are not, so that it is compared with itself.
    seed : int
        Seed.
    n_scores : int, default=1
        Scores that will be summed in each way.

    Returns
    -------
    Deals
    """
    blocks = of_groups = np.arange(len(is_new))
    if groups is not None:
        found, blocks = np.unique(2 * groups + is_new, return_inverse=True)
        of_groups = np.unique(found // 2, return_inverse=True)[1]
    of_blocks = is_new[np.unique(blocks, return_index=True)[1]]
    is_paired = np.bincount(of_groups)[of_groups] == 2
    pairs = np.unique(of_groups[is_paired], return_inverse=True)[1]
    n_pairs, lone = len(pairs) // 2, of_blocks[~is_paired]
    n_lone, n_new = len(lone), int(lone.sum())
    is_exact = comb(n_lone, n_new) * 2**n_pairs <= N_DEALS
    if is_exact:
        dealt = [np.isin(np.arange(n_lone), chosen) for chosen in combinations(range(n_lone), n_new)]
        ways = list(product(dealt, product((0, 1), repeat=n_pairs)))
        ways.sort(key=lambda way: bool((way[0] != lone).any()) or any(way[1]))  # what happened comes first
    else:
        n_deals = int(np.clip(MOST_PRODUCTS / (len(is_new) * max(n_scores, 1)), FEWEST_DEALS, N_DEALS))
        rng = np.random.default_rng(seed)
        ways = [(rng.permutation(lone), tuple(rng.integers(0, 2, n_pairs))) for _ in range(n_deals)]
        ways.insert(0, (lone, (0,) * n_pairs))
    names = np.empty((len(ways), len(of_blocks)), bool)
    names[:, ~is_paired] = [names_of_lone for names_of_lone, _ in ways]
    names[:, is_paired] = of_blocks[is_paired] ^ np.array([swaps for _, swaps in ways], bool)[:, pairs]
    return Deals(names[:, blocks], is_exact)


def share_as_large(statistic: Floats) -> Floats:
    """Return, for each way, the share of all ways in which a statistic is at least as large.

    Of the way that happened, the first, this is the p-value: at most a share p of all tables without drift have one
    of p or less.

    Parameters
    ----------
    statistic : ndarray of shape (..., n_deals)
        One value for each way.

    Returns
    -------
    ndarray of the same shape
    """
    rounded = _rounded(statistic)
    order = np.sort(rounded, axis=-1)
    flat, ordered = rounded.reshape(-1, rounded.shape[-1]), order.reshape(-1, order.shape[-1])
    below = [np.searchsorted(of, values, side="left") for of, values in zip(ordered, flat, strict=True)]
    return (rounded.shape[-1] - np.reshape(below, rounded.shape)) / rounded.shape[-1]


def smallest_of(shares: Floats) -> Floats:
    """Return the p-value of the smallest of several p-values, and each of them allowing for the others.

    The smallest share of each way is a statistic like any other (Westfall and Young): no bound is used, so that
    statistics that say the same cost nothing.

    Parameters
    ----------
    shares : ndarray of shape (n_statistics, n_deals)
        As from `share_as_large`.

    Returns
    -------
    ndarray of shape (n_statistics,)
    """
    smallest = np.sort(_rounded(shares.min(axis=0)))
    return np.searchsorted(smallest, _rounded(shares[:, 0]), side="right") / len(smallest)


def _rounded(values: Floats) -> Floats:
    """Leave out digits that rounding decides; what is next to nothing is 0, and infinity stays."""
    finite = np.where(np.isfinite(values), values, 0.0)
    scale = 10.0 ** (_DIGITS - np.ceil(np.log10(np.maximum(np.abs(finite), _NOTHING))))
    return np.where(np.isfinite(values), np.rint(finite * scale) / scale, values)
