"""Learners of interactions: pairs and triples of features that say more together than apart.

All pairs of features in four bins, and all triples of features in two, are ranked by an interaction statistic. That of
a pair is I = 2 (G_ab - G_a - G_b + G_0); that of a triple follows by inclusion and exclusion. Without an interaction it
is about chi-squared distributed with a degree of freedom for each product of bins and classes, each but one. Its
z-score is (I - dof) / sqrt(2 dof). G is the information of some features about the classes, the sum of
n_ck log(n_ck / n_c) over their cells c and the classes k. It is at most 0, and 0 where every cell holds one class.

Rows are counted by products of matrices of 0 and 1 in single precision, which are exact up to 2^24 rows.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.learn.decision_trees import grow_ensemble
from bayesfloor.learn.discriminants import shares_of
from bayesfloor.learn.later import of_rows
from bayesfloor.learn.ridge import kernel_ridge
from bayesfloor.learn.training_rows import Train, distinct, quantiles_of
from bayesfloor.runtime.arrays import Floats, Ints

#: Bins of a feature in a pair, of about equal numbers of rows.
N_BINS = 4
#: Most features of which all pairs, and all triples, are looked at; the most informative ones.
MOST_IN_PAIRS, MOST_IN_TRIPLES = 128, 60
#: Pairs and triples whose tables are multiplied.
N_PAIRS, N_TRIPLES = 6, 3
#: Pairs that are kept where none stands out.
FEWEST_PAIRS = 2
#: Single features that join those of the pairs, and how far they have to stand out.
N_SINGLES, SINGLE_Z = 4, 3.0
#: Most features of the trees and the kernel.
MOST_FEATURES = 12
#: Trees of an ensemble: with few features they soon agree.
N_TREES = 30
#: Width of the kernel, as a share of the median distance between rows.
WIDTH = 0.35
#: Landmarks of the kernel: fewer than elsewhere, since there are few features.
N_LANDMARKS = 150
#: Smallest share of rows in either half of a feature.
SMALLEST_HALF = 0.02
#: Rows of the prior that every cell of a table is given.
PRIOR_ROWS = 2.0


class Bins(NamedTuple):
    """Features cut into bins.

    Attributes
    ----------
    train, test : ndarray of shape (d, n) of int64
        The bin of each row.
    n_bins : ndarray of shape (d,)
        Bins of each feature.
    """

    train: Ints
    test: Ints
    n_bins: Ints

    def take(self, features: Ints) -> "Bins":
        """Keep some of the features."""
        return Bins(self.train[features], self.test[features], self.n_bins[features])


# --- pairs


def pairs(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return naive Bayes of the tables of pairs; trees and kernel ridge on the features of the best pairs."""
    if not train.wants("pair tables", "pair trees", "pair kernel"):
        return {}
    bins = quartile_bins(train.X, test)
    single = single_scores(bins, train)
    features = np.sort(np.argsort(-single, kind="stable")[:MOST_IN_PAIRS])
    bins = bins.take(features)
    scores = pair_scores(bins, train)
    found = best_sets(scores, np.stack(np.triu_indices(len(features), 1), axis=1), N_PAIRS, FEWEST_PAIRS)
    strong = features[single[features] > SINGLE_Z]
    strong = strong[np.argsort(-single[strong], kind="stable")[:N_SINGLES]]
    used = np.array(list(dict.fromkeys([*features[found].ravel(), *strong]))[:MOST_FEATURES], np.int64)
    few, others = _with_columns(train, test, used)
    return train.asked_for({
        "pair tables": lambda: _product_of_tables(bins, found, train),
        "pair trees": lambda: grow_ensemble(few, others, seed, N_TREES).shallow,
        "pair kernel": lambda: kernel_ridge(few, others, seed, (WIDTH,), N_LANDMARKS),
    })  # fmt: skip


def quartile_bins(X: Floats, test: Floats) -> Bins:
    """Cut each feature at its quartiles; one of few values has a bin for each."""
    ordered = np.sort(np.ascontiguousarray(X.T), axis=1)
    n_values = 1 + (np.diff(ordered, axis=1) > 0).sum(axis=1)
    quartiles = quantiles_of(ordered, N_BINS)
    of_columns = []
    for j, cuts in enumerate(quartiles):
        cuts = distinct(ordered[j])[:-1] if n_values[j] <= N_BINS else distinct(cuts)
        if len(cuts) and cuts[-1] == ordered[j, -1]:
            cuts = cuts[:-1]  # no row is above
        of_columns.append(cuts)
    known, others = (_bins_between(side, tuple(of_columns)) for side in (X, test))
    return Bins(known, others, np.array([len(cuts) + 1 for cuts in of_columns]))


@of_rows
def _bins_between(rows: Floats, cuts: tuple[Floats, ...]) -> Ints:
    """Return the bin of each row, feature by feature."""
    columns = np.ascontiguousarray(rows.T)
    found = [np.searchsorted(of_column, column) for of_column, column in zip(cuts, columns, strict=True)]
    return np.array(found, np.int64).reshape(columns.shape)


def single_scores(bins: Bins, train: Train) -> Floats:
    """Return the z-score of what each feature says of the classes by itself."""
    n_classes, d, most = train.n_classes, len(bins.n_bins), int(bins.n_bins.max())
    place = (np.arange(d)[:, None] * most + bins.train) * n_classes + train.codes
    counts = np.bincount(place.ravel(), minlength=d * most * n_classes).reshape(d, most, n_classes)
    n_log_n = _n_log_n(len(train.codes))
    of_features = (n_log_n[counts].sum(axis=2) - n_log_n[counts.sum(axis=2)]).sum(axis=1)
    present = train.counts[train.counts > 0]
    of_none = n_log_n[present].sum() - n_log_n[len(train.codes)]
    return _z_scores(2.0 * (of_features - of_none), (bins.n_bins - 1) * (len(present) - 1))


def pair_scores(bins: Bins, train: Train) -> Floats:
    """Return the z-score of each pair's interaction, in the order of `itertools.combinations`."""
    n_log_n = _n_log_n(len(train.codes))
    first_bin = np.concatenate([[0], np.cumsum(bins.n_bins)])
    number = (bins.train + first_bin[:-1, None]) * train.n_classes + train.codes
    margins = np.bincount(number.ravel(), minlength=first_bin[-1] * train.n_classes).reshape(-1, train.n_classes)
    of_bins = n_log_n[margins].sum(axis=1) - n_log_n[margins.sum(axis=1)]
    of_one = np.add.reduceat(of_bins, first_bin[:-1])
    present = train.counts[train.counts > 0]
    of_none = n_log_n[present].sum() - n_log_n[len(train.codes)]
    a, b = np.triu_indices(len(bins.n_bins), 1)
    interaction = 2.0 * (_pair_information(bins, train, n_log_n) - of_one[a] - of_one[b] + of_none)
    return _z_scores(interaction, (bins.n_bins[a] - 1) * (bins.n_bins[b] - 1) * (len(present) - 1))


def _pair_information(bins: Bins, train: Train, n_log_n: Floats) -> Floats:
    """Return the information of every pair of features."""
    d, most = len(bins.n_bins), int(bins.n_bins.max())
    a, b = np.triu_indices(d, 1)
    found, totals = np.zeros(len(a)), np.zeros((most, most, len(a)), np.int64)
    for k in range(train.n_classes):
        of_class = bins.train[:, train.codes == k]
        # bins that a feature does not have are empty, and add nothing
        is_in = (of_class[:, None] == np.arange(most)[:, None]).astype(np.float32).reshape(d * most, -1)
        common = (is_in @ is_in.T).astype(np.int64).reshape(d, most, d, most)
        for i, j in product(range(most), repeat=2):
            cell = common[a, i, b, j]
            found += n_log_n[cell]
            totals[i, j] += cell
    for total in totals.reshape(most**2, len(a)):
        found -= n_log_n[total]
    return found


# --- triples


def triples(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return naive Bayes of the tables of triples, and trees on their features."""
    if not train.wants("triple tables", "triple trees"):
        return {}
    bins, features = halves(train.X, test)
    single = single_scores(bins, train) if len(features) else np.zeros(0)
    kept = np.sort(np.argsort(-single, kind="stable")[:MOST_IN_TRIPLES])
    bins, features = bins.take(kept), features[kept]
    found = best_sets(triple_scores(bins, train), _triples_of(len(features)), N_TRIPLES, 1)
    used = np.array(list(dict.fromkeys(features[found].ravel())), np.int64)
    few, others = _with_columns(train, test, used)
    return train.asked_for({
        "triple tables": lambda: _product_of_tables(bins, found, train),
        "triple trees": lambda: grow_ensemble(few, others, seed, N_TREES).shallow,
    })  # fmt: skip


def halves(X: Floats, test: Floats) -> tuple[Bins, Ints]:
    """Cut features at their medians; those that one value nearly fills are left out."""
    median = np.median(X, axis=0)
    cut = np.where(np.greater(X, median).mean(axis=0) < SMALLEST_HALF, np.nextafter(median, -np.inf), median)
    upper = np.greater(X, cut)
    share = upper.mean(axis=0)
    features = np.flatnonzero((share >= SMALLEST_HALF) & (share <= 1.0 - SMALLEST_HALF))
    known, others = (_upper_half(side, cut, features) for side in (X, test))
    return Bins(known, others, np.full(len(features), 2)), features


@of_rows
def _upper_half(rows: Floats, cut: Floats, features: Ints) -> Ints:
    """Tell which rows are above the cuts of features: 1 for those."""
    return np.greater(rows, cut)[:, features].T.astype(np.int64)


def triple_scores(bins: Bins, train: Train) -> Floats:
    """Return the z-score of each triple's interaction, in the order of `itertools.combinations`."""
    d = len(bins.n_bins)
    a, b, c = _triples_of(d).T
    if not len(a):
        return np.zeros(0)
    upper = [bins.train[:, train.codes == k].astype(np.float32) for k in range(train.n_classes)]
    common = np.stack([of_class @ of_class.T for of_class in upper], axis=2).astype(np.int64)
    n, counts, n_log_n = len(train.codes), train.counts, _n_log_n(len(train.codes))
    of_triples = _triple_information(upper, common, counts, n_log_n)
    one = common[np.arange(d), np.arange(d)]
    cells = np.stack([common, one[:, None] - common, one - common, counts - one[:, None] - one + common])
    of_pairs = (n_log_n[cells].sum(axis=-1) - n_log_n[cells.sum(axis=-1)]).sum(axis=0)  # of one on the diagonal
    of_one = np.diag(of_pairs)
    of_none = n_log_n[counts].sum() - n_log_n[n]
    apart = of_pairs[a, b] + of_pairs[a, c] + of_pairs[b, c] - of_one[a] - of_one[b] - of_one[c] + of_none
    return _z_scores(2.0 * (of_triples - apart), np.full(len(a), int((counts > 0).sum()) - 1))


def _triple_information(upper: list[NDArray[np.float32]], common: Ints, counts: Ints, n_log_n: Floats) -> Floats:
    """Return the information of every triple of features that are cut in two.

    Parameters
    ----------
    upper : list of ndarray of shape (d, n_k), float32
        The rows of each class in the upper half of each feature: 1 for those.
    common : ndarray of shape (d, d, n_classes)
        Rows in the upper halves of both features; of one feature on the diagonal.
    counts : ndarray of shape (n_classes,)
        Rows of each class.
    n_log_n : ndarray of shape (n + 1,)
        As from `_n_log_n`.

    Returns
    -------
    ndarray of shape (d * (d - 1) * (d - 2) / 6,)
        In the order of `itertools.combinations`.
    """
    d = len(common)
    a, b, c = _triples_of(d).T
    found, totals = np.zeros(len(a)), np.zeros((8, len(a)), np.int64)
    every = np.zeros((d, d, d), np.float32)
    places = np.stack([d * a + b, d * a + c, d * b + c, d * a + a, d * b + b, d * c + c])
    for of_class, pairs, count in zip(upper, np.moveaxis(common, 2, 0), counts, strict=True):
        for i in range(d - 2):
            every[i, i + 1 :, i + 1 :] = (of_class[i] * of_class[i + 1 :]) @ of_class[i + 1 :].T
        abc = every.ravel().take((d * a + b) * d + c).astype(np.int64)
        ab, ac, bc, of_a, of_b, of_c = pairs.ravel().take(places)
        cells = (
            abc,
            ab - abc,
            ac - abc,
            bc - abc,
            of_a - ab - ac + abc,
            of_b - ab - bc + abc,
            of_c - ac - bc + abc,
            count - of_a - of_b - of_c + ab + ac + bc - abc,
        )
        for total, cell in zip(totals, cells, strict=True):
            found += n_log_n.take(cell)
            total += cell
    for total in totals:
        found -= n_log_n[total]
    return found


def _triples_of(d: int) -> Ints:
    """Return all triples of d features, in the order of `itertools.combinations`."""
    a, b, c = np.meshgrid(*[np.arange(d)] * 3, indexing="ij", sparse=True)
    return np.argwhere((a < b) & (b < c))


# --- what both share


def best_sets(scores: Floats, sets: Ints, most: int, fewest: int) -> Ints:
    """Return the sets of features whose interaction is beyond the highest that chance brings among so many."""
    best = np.argsort(-scores, kind="stable")[:most]
    beyond = int((scores[best] > np.sqrt(2.0 * np.log(max(len(scores), 2)))).sum())
    return sets[best[: max(beyond, fewest)]]


def _with_columns(train: Train, test: Floats, used: Ints) -> tuple[Train, Floats]:
    """Keep some features; the first one where there are none."""
    used = used if len(used) else np.arange(1)
    return train._replace(X=np.ascontiguousarray(train.X[:, used]), table=None), test[:, used]


def _product_of_tables(bins: Bins, sets: Ints, train: Train) -> Floats:
    """Return naive Bayes with one table of the classes' shares for each set of features."""
    tables = []
    for features in sets:
        cells, n_cells = _cells(bins.train, features, bins.n_bins), int(np.prod(bins.n_bins[features]))
        counts = np.bincount(cells * train.n_classes + train.codes, minlength=n_cells * train.n_classes)
        table = counts.reshape(n_cells, train.n_classes) + PRIOR_ROWS * train.prior
        tables.append(np.log(table / table.sum(axis=1, keepdims=True) / train.prior))
    return shares_of(_sum_of_cells(bins.test, sets, bins.n_bins, tuple(tables), np.log(train.prior)))


def _cells(bins: Ints, features: Ints, n_bins: Ints) -> Ints:
    """Return the cell of each row in the table of some features."""
    cells = np.zeros(bins.shape[1], np.int64)
    for feature in features:
        cells = cells * int(n_bins[feature]) + bins[feature]
    return cells


@of_rows
def _sum_of_cells(bins: Ints, sets: Ints, n_bins: Ints, tables: tuple[Floats, ...], start: Floats) -> Floats:
    """Add up what the cell of each set of features says."""
    log_p = np.tile(start, (bins.shape[1], 1))
    for features, table in zip(sets, tables, strict=True):
        log_p += table[_cells(bins, features, n_bins)]
    return log_p


def _z_scores(statistic: Floats, dof: Ints) -> Floats:
    """Return how far chi-squared statistics are above their means; 0 without a degree of freedom."""
    return np.where(dof > 0, (statistic - dof) / np.sqrt(2.0 * np.maximum(dof, 1)), 0.0)


def _n_log_n(n: int) -> Floats:
    """Return m log m for m = 0 to n."""
    m = np.arange(n + 1.0)
    return m * np.log(np.maximum(m, 1.0))
