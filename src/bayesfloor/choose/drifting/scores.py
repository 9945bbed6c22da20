"""Scores of rows, whose sums over the new table tell whether a column moved.

Every part of a column becomes a few scores with mean 0, sum of squares 1, and no correlation between them:

=======  ============================================================================================
values   Legendre polynomials of the ranks of a number or a date, up to degree 4: where it lies, how far
         it spreads, how skewed it is and how heavy its tails are
levels   whether a row has each of the values of a category, rare ones together
words    the components of text
gaps     whether there is a value
=======  ============================================================================================

With n1 of n rows in the new table, the sum of a score over them has mean 0 and variance n1 n2 / (n (n - 1)) when names
are dealt out at random. Squares of k sums over that, added up, are about a chi-squared number of k degrees of freedom.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import log_ndtr
from scipy.stats import rankdata

from bayesfloor.runtime.arrays import Bools, Floats
from bayesfloor.tables.columns import DateColumn, NumberColumn, TextColumn
from bayesfloor.tables.profiles import ColumnProfile

#: Degree of the polynomials of ranks.
_DEGREE = 4
#: Rows below which a level is put together with others, and levels that count by themselves.
_FEWEST_ROWS, _MOST_LEVELS = 5, 50
#: Share of the longest direction below which one is rounding.
_NOTHING = 1e-8
#: Products of two columns at the most, and principal components that stand for more columns than have so many.
_MOST_PRODUCTS, _N_COMPONENTS = 600, 30


@dataclass(frozen=True, eq=False)
class Part:
    """One thing that may have moved: the values, levels, words or gaps of a column.

    Attributes
    ----------
    column : str
        Name of the column.
    what : str
        "values", "levels", "words" or "gaps"; "pair" of a product of two columns.
    scores : ndarray of shape (n_rows, n_scores)
        Orthonormal, with mean 0.
    """

    column: str
    what: str
    scores: Floats


def parts_of(profile: ColumnProfile, words: Floats | None = None) -> list[Part]:
    """Return what may have moved in a column.

    Parameters
    ----------
    profile : ColumnProfile
        The column, as it is read.
    words : ndarray of shape (n_rows, n_components) or None
        Components of its text.

    Returns
    -------
    list of Part
        None of a column that is the same in all rows.
    """
    column = profile.column
    known = ~column.gaps
    raw: Floats | None = None
    what = "values"
    if words is not None:
        raw, what = words, "words"
    elif isinstance(column, TextColumn):
        if profile.kind in ("category", "yes/no"):
            raw, what = level_indicators(column), "levels"
    elif isinstance(column, NumberColumn | DateColumn):
        raw = rank_polynomials(column.values)
    found = [] if raw is None else [Part(column.name, what, orthonormal(raw, known))]
    found.append(
        Part(column.name, "gaps", orthonormal(column.gaps[:, np.newaxis].astype(np.float64), np.ones(len(known), bool)))
    )
    return [part for part in found if part.scores.shape[1]]


def rank_polynomials(values: Floats) -> Floats:
    """Return Legendre polynomials of the ranks of numbers; 0 where one is missing."""
    known = ~np.isnan(values)
    found = np.zeros((len(values), _DEGREE))
    n_known = int(known.sum())
    if n_known:
        place = (2.0 * rankdata(values[known]) - 1.0) / n_known - 1.0
        found[known] = np.polynomial.legendre.legvander(place, _DEGREE)[:, 1:]
    return found


def level_indicators(column: TextColumn) -> Floats:
    """Return whether a row has each level; rare levels, and all but the most frequent of very many, are one."""
    counts = column.counts
    rank = np.argsort(np.argsort(-counts, kind="stable"), kind="stable")
    is_own = (counts >= _FEWEST_ROWS) & (rank < _MOST_LEVELS)
    place = np.append(np.where(is_own, np.cumsum(is_own) - 1, int(is_own.sum())), -1)[column.codes]
    return (place[:, np.newaxis] == np.arange(int(is_own.sum()) + 1)).astype(np.float64)


def orthonormal(raw: Floats, known: Bools) -> Floats:
    """Return directions that span the same as some columns, among rows with a value; 0 in all other rows."""
    if not known.any():
        return np.zeros((len(raw), 0))
    centred = raw[known] - raw[known].mean(axis=0)
    # polynomials are put in order of degree: the first direction is where values lie
    q, r = np.linalg.qr(centred)
    size = np.abs(np.diagonal(r))
    kept = size > _NOTHING * max(float(np.sqrt((centred**2).sum(axis=0)).max(initial=0.0)), 1e-300)
    scores = np.zeros((len(raw), int(kept.sum())))
    scores[known] = q[:, : len(size)][:, kept]
    return scores


def whitened(X: Floats) -> Floats:
    """Return the directions in which rows vary, each scaled to sum of squares 1; fewer than a fifth of the rows."""
    u, size, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    most = max(1, len(X) // 5)
    return np.ascontiguousarray(u[:, : min(most, int((size > _NOTHING * max(size[0], 1e-300)).sum()))])


def pairs_of(parts: list[Part]) -> list[Part]:
    """Return the products of every two columns, as parts: what moves where only their relation does.

    Of few columns these are the products of where their values lie and how far they spread, four for each pair; of more
    columns, one for each pair; of very many, those of their main components together.
    """
    paired = [part for part in parts if part.what != "words"]
    n_pairs = len(paired) * (len(paired) - 1) // 2
    if not n_pairs:
        return []
    if n_pairs > _MOST_PRODUCTS:
        u, size, _ = np.linalg.svd(np.column_stack([part.scores[:, 0] for part in paired]), full_matrices=False)
        main = (u * size)[:, :_N_COMPONENTS]
        first, second = np.triu_indices(main.shape[1], 1)
        found = [_product("", main[:, [i]], main[:, [j]]) for i, j in zip(first.tolist(), second.tolist(), strict=True)]
    else:
        width = 2 if 4 * n_pairs <= _MOST_PRODUCTS else 1
        found = [
            _product(f"{first.column} and {second.column}", first.scores[:, :width], second.scores[:, :width])
            for first, second in combinations(paired, 2)
            if first.column != second.column
        ]
    return [part for part in found if part.scores.shape[1]]


def _product(name: str, first: Floats, second: Floats) -> Part:
    products = (first[:, :, np.newaxis] * second[:, np.newaxis, :]).reshape(len(first), -1)
    return Part(name, "pair", orthonormal(products * len(first), np.ones(len(first), bool)))


def evidence_of(squares: Floats) -> Floats:
    """Return what speaks for a part having moved, by the chance of such squares: parts of any number of scores compare.

    It is minus the logarithm of the smaller of two chances, that of all squares together, and that of the largest.

    Parameters
    ----------
    squares : ndarray of shape (n_scores, n_deals)
        Squared sums of the scores, each over its variance.

    Returns
    -------
    ndarray of shape (n_deals,)
    """
    n_scores = len(squares)
    alone = np.log(2.0 * n_scores) + log_ndtr(-np.sqrt(squares.max(axis=0)))
    # the cube root of a chi-squared number is nearly normal (Wilson and Hilferty): many times as fast as its own law
    root = np.cbrt(squares.sum(axis=0) / n_scores)
    together = log_ndtr((1.0 - 2.0 / (9.0 * n_scores) - root) * np.sqrt(4.5 * n_scores))
    return -np.minimum(together, alone) if n_scores > 1 else -alone
