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
from bayesfloor.learn.learner import Fitted, InSpace, Learner, Look, Output, Rows, Together
from bayesfloor.learn.records import Record, record, require
from bayesfloor.learn.ridge import KernelRidge
from bayesfloor.learn.training_rows import Scaled, Train, distinct, quantiles_of
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
    features : ndarray of shape (d,)
        Which columns these are.
    cuts : tuple of ndarray
        Where each is cut.
    train : ndarray of shape (d, n) of int64
        The bin of each training row.
    """

    features: Ints
    cuts: tuple[Floats, ...]
    train: Ints

    @property
    def n_bins(self) -> Ints:
        """Bins of each feature."""
        return np.array([len(of_feature) + 1 for of_feature in self.cuts], np.int64)

    def take(self, places: Ints) -> "Bins":
        """Keep some of the features."""
        return Bins(self.features[places], tuple(self.cuts[place] for place in places), self.train[places])


# --- pairs


class Pairs(Learner):
    """Naive Bayes of the tables of pairs; trees and kernel ridge on the features of the best pairs."""

    name = "pairs"
    outputs = (Output("pair tables"), Output("pair trees", "tree"), Output("pair kernel", "kernel"))
    learns_slowly = True

    def suited(self, look: Look) -> Learner | None:
        """Return the learner for three columns that vary."""
        return self if look.n_varying >= 3 else None

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Look for pairs, and learn from them."""
        bins = quartile_bins(train.X)
        single = single_scores(bins, train)
        bins = bins.take(np.sort(np.argsort(-single, kind="stable")[:MOST_IN_PAIRS]))
        d = len(bins.features)
        found = best_sets(pair_scores(bins, train), np.stack(np.triu_indices(d, 1), axis=1), N_PAIRS, FEWEST_PAIRS)
        strong = bins.features[single[bins.features] > SINGLE_Z]
        strong = strong[np.argsort(-single[strong], kind="stable")[:N_SINGLES]]
        return _learned("pair", bins, found, strong, train, requested, seed, rows)


def quartile_bins(X: Floats) -> Bins:
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
    return _cut_at(X, np.arange(len(ordered)), tuple(of_columns))


def _cut_at(X: Floats, features: Ints, cuts: tuple[Floats, ...]) -> Bins:
    """Cut features into bins."""
    columns = np.ascontiguousarray(X.T[features])
    found = [np.searchsorted(of_column, column) for of_column, column in zip(cuts, columns, strict=True)]
    return Bins(features, cuts, np.array(found, np.int64).reshape(columns.shape))


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


class Triples(Learner):
    """Naive Bayes of the tables of triples, and trees on their features."""

    name = "triples"
    outputs = (Output("triple tables"), Output("triple trees", "tree"))
    learns_slowly = True

    def suited(self, look: Look) -> Learner | None:
        """Return the learner for four columns that vary."""
        return self if look.n_varying >= 4 else None

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Look for triples, and learn from them."""
        bins = halves(train.X)
        single = single_scores(bins, train) if len(bins.features) else np.zeros(0)
        bins = bins.take(np.sort(np.argsort(-single, kind="stable")[:MOST_IN_TRIPLES]))
        found = best_sets(triple_scores(bins, train), _triples_of(len(bins.features)), N_TRIPLES, 1)
        return _learned("triple", bins, found, np.arange(0), train, requested, seed, rows)


def halves(X: Floats) -> Bins:
    """Cut features at their medians; those that one value nearly fills are left out."""
    median = np.median(X, axis=0)
    cut = np.where(np.greater(X, median).mean(axis=0) < SMALLEST_HALF, np.nextafter(median, -np.inf), median)
    share = np.greater(X, cut).mean(axis=0)
    features = np.flatnonzero((share >= SMALLEST_HALF) & (share <= 1.0 - SMALLEST_HALF))
    return _cut_at(X, features, tuple(cut[features, np.newaxis]))


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


def _learned(
    kind: str,
    bins: Bins,
    sets: Ints,
    strong: Ints,
    train: Train,
    requested: frozenset[str],
    seed: int,
    rows: Rows | None,
) -> Fitted:
    """Learn from tables of sets of features; trees and a kernel are given these features, and strong ones."""
    parts: list[Fitted] = []
    if f"{kind} tables" in requested:
        tables = tuple(Table.of_train(bins.take(features), train) for features in sets)
        parts.append(FittedTables(f"{kind} tables", tables, np.log(train.prior)))
    used = np.array(list(dict.fromkeys([*bins.features[sets].ravel(), *strong]))[:MOST_FEATURES], np.int64)
    used = used if len(used) else np.arange(1)  # the first feature where no set is found
    space = Scaled(used, np.ones(len(used)))
    few = train._replace(X=np.ascontiguousarray(space.of(train.X)), table=None)
    if (name := f"{kind} trees") in requested:
        grown = grow_ensemble(few, None if rows is None else space.of(rows.X), seed, N_TREES)
        parts.append(InSpace(space, grown.fitted(few, {name: -1})))
    if (name := f"{kind} kernel") in requested:
        parts.append(InSpace(space, KernelRidge.of_train(name, few, seed, (WIDTH,), N_LANDMARKS)))
    return Together(tuple(parts))


@record
class Table(Record):
    """What the cells of some features say of the classes.

    Attributes
    ----------
    features : ndarray of shape (order,)
        The columns.
    cuts : tuple of ndarray
        Where each is cut into bins.
    log_ratio : ndarray of shape (n_cells, n_classes)
        Logarithms of the classes' shares in a cell, less those in all rows.
    """

    features: Ints
    cuts: tuple[Floats, ...]
    log_ratio: Floats

    @classmethod
    def of_train(cls, bins: Bins, train: Train) -> "Table":
        """Count the training rows in each cell of all features."""
        cells, n_cells = _cells(bins.train, bins.cuts), int(np.prod(bins.n_bins))
        counts = np.bincount(cells * train.n_classes + train.codes, minlength=n_cells * train.n_classes)
        table = counts.reshape(n_cells, train.n_classes) + PRIOR_ROWS * train.prior
        return cls(bins.features, bins.cuts, np.log(table / table.sum(axis=1, keepdims=True) / train.prior))

    def check(self) -> None:
        """No column is counted from the end."""
        require((self.features >= 0).all())

    def of(self, X: Floats) -> Floats:
        """Return what the cells of rows say."""
        return self.log_ratio[_cells(_cut_at(X, self.features, self.cuts).train, self.cuts)]


@record
class FittedTables(Fitted):
    """Naive Bayes with one table for each set of features."""

    name: str
    tables: tuple[Table, ...]
    log_prior: Floats

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Return the probabilities of the classes."""
        log_p = np.tile(self.log_prior, (len(rows.X), 1))
        for table in self.tables:
            log_p += table.of(rows.X)
        return {self.name: shares_of(log_p)}


def _cells(bins: Ints, cuts: tuple[Floats, ...]) -> Ints:
    """Return the cell of each row in the table of all features."""
    cells = np.zeros(bins.shape[1], np.int64)
    for of_feature, own in zip(cuts, bins, strict=True):
        cells = cells * (len(of_feature) + 1) + own
    return cells


def _z_scores(statistic: Floats, dof: Ints) -> Floats:
    """Return how far chi-squared statistics are above their means; 0 without a degree of freedom."""
    return np.where(dof > 0, (statistic - dof) / np.sqrt(2.0 * np.maximum(dof, 1)), 0.0)


def _n_log_n(n: int) -> Floats:
    """Return m log m for m = 0 to n."""
    m = np.arange(n + 1.0)
    return m * np.log(np.maximum(m, 1.0))
