"""Rows that belong together without anyone having said so: columns that look like groups, and the order of rows.

Folds that mix rows of one patient test a model on patients that it knows, and its error then says little about new
ones. Whether that matters is measured: one quick model is cross-validated twice on the same rows, with and without what
it should not know. Where the errors clearly differ, the finding gives both::

    possible groups ── rows of whole groups ── do near rows share a group? ── at random, and groups kept apart ── BF034
    possible times ─── at random, and halves of the time kept apart ────────────────────────────────────────────── BF036
    rows in order ──── sorted by the label? BF035 ─────────────────────────── with and without the row's place ── BF036
                       does it depend on the place, given the features? ── at random, and halves kept apart ──── BF036

A column that tells much about the label is not therefore a group. So features that only say which group a row is in
are left out of both, rows of a group must lie close together in the others, and there must be several groups.

That neighbouring rows are alike says little: most files are in some order, of a feature or of how the rows were
collected. So what counts is how much the place of a row adds to all of its features. Where it adds little, a model may
still age: it errs more in the other half of the file than one that saw rows of both. Halves of a file that is sorted by
a feature differ as well. So the label must depend on the place given the features, by the generalised covariance
measure of Shah and Peters (2020), weighted by each feature (Scheidegger, Hörrmann and Bühlmann 2022).

Where several of these hold, the one that changes the error most is told.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, stdtrit

from bayesfloor.data.folds import fold_keys, grouped_folds, stratified_folds
from bayesfloor.data.prepared_table import TabularView
from bayesfloor.learn.decision_trees import grow_ensemble
from bayesfloor.learn.local_families import N_LANDMARKS
from bayesfloor.learn.nearest import MeanOfNearest, nearest_rows
from bayesfloor.learn.ridge import kernel_ridge
from bayesfloor.learn.training_rows import Train, squared_distances, standardised
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.limits import check_n_jobs
from bayesfloor.runtime.text import percent, shown
from bayesfloor.runtime.threads import WorkerPool, supervise

#: Rows that the model is tried on, at the most: enough to see what matters, at a tenth of the cost of a learned floor.
MOST_ROWS = 1500
#: Rows below which nothing can be told.
FEWEST_ROWS = 100
#: Fewest groups: of a column with fewer values, all will be met again, and an error by groups rests on too little.
FEWEST_GROUPS = 10
#: How much more often than by chance near rows must share a group. Below, keeping groups apart changes nothing.
CLOSE = 1.8
#: Share of the variance of a feature within groups, below which it is steady. Rows of one group may be of different
#: years, whose dummies tear them apart: they need only be close in what is steady.
STEADY = 0.5
#: Neighbours of each row that are looked at.
N_NEIGHBOURS = 5
#: Columns to try, those with the closest rows.
MOST_COLUMNS = 3
#: Folds of the cross-validation.
N_FOLDS = 5
#: Trees of the model.
N_TREES = 25
#: Fewest rows in a leaf.
MIN_LEAF = 3
#: Most repetitions of a cross-validation with other folds, where rows are few: folds alone move an error of 500 by .01.
MOST_REPEATS = 3
#: Probability with which the order of rows seems to matter where it does not, for each of two tests.
LEVEL = 0.01
#: Standard errors of independent rows by which groups kept apart must err more. Where groups mean nothing, the rise has
#: a standard deviation of 1.0 to 1.4 of them, since rows of a fold share a model.
CLEAR_BY_ROWS = 3.0
#: Probability with which groups drawn anew would show no such rise, at the most. A dozen groups cannot tell much more.
LEVEL_BY_GROUPS = 0.1
#: Standard errors of independent rows by which models of the other half must err more.
CLEAR_BY_HALVES = 2.0
#: Parts of the file that the place of a row is predicted as.
N_PARTS = 4
#: Difference of errors below which it does not matter.
SMALL_DIFFERENCE = 0.01
#: Share of the errors that the place of a row must save. On real tables it saves 2 to 4% where nobody would miss it.
SAVED_BY_PLACE = 0.1
#: Blocks of neighbouring rows whose errors are taken to be independent of each other.
N_BLOCKS = 20
#: Rows of a block where not all rows are used.
BLOCK_ROWS = MOST_ROWS // N_BLOCKS
#: Share of the changes of label that a random order has, below which rows are sorted by it.
FEW_CHANGES = 0.1


@dataclass(frozen=True)
class Dependence(Finding):
    """A finding that rows belong together, with what tells which do.

    Attributes
    ----------
    kind : {"groups", "time", "order"}
        Whether a column holds groups or a time, or the order of the rows means something.
    column : str or None
        That column; None for the order.
    """

    kind: str = "order"
    column: str | None = None


class Words(NamedTuple):
    """What findings call the error of a quick model, the label of a row, and the classes."""

    error: str
    label: str
    classes: str


#: Words for classes, and for numbers that are cut into low, middle and high ones.
_OF_CLASSES = Words("the error of a quick model", "label", "the classes")
_OF_NUMBERS = Words(
    "the error of a quick model at telling low, middle and high values apart", "value", "low, middle and high values"
)


def find_dependence_of_numbers(
    X: Floats, y: Floats, possible_groups: Mapping[str, Ints], **how: Any
) -> list[Dependence]:
    """Look for rows that belong together where the target is a number: by whether it is low, middle or high.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points, in the order of the rows in the file.
    y : ndarray of shape (n,)
        The target.
    possible_groups : mapping of str to ndarray of shape (n,)
        As for `find_dependence`.
    **how
        The other parameters of `find_dependence`.

    Returns
    -------
    list of Dependence
        BF034, BF035 or BF036.
    """
    edges = np.sort(y)[[len(y) // 3, 2 * len(y) // 3]]
    codes = np.unique(np.searchsorted(edges, y, side="right"), return_inverse=True)[1].astype(np.int64)
    return find_dependence(X, codes, possible_groups, words=_OF_NUMBERS, **how)


def find_dependence(
    X: Floats,
    codes: Ints,
    possible_groups: Mapping[str, Ints],
    *,
    in_order: bool,
    possible_times: Mapping[str, Floats] | None = None,
    tabular: TabularView | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    words: Words = _OF_CLASSES,
) -> list[Dependence]:
    """Look for rows that belong together, by a column or by where they stand, and say what it would change.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points, in the order of the rows in the file.
    codes : ndarray of shape (n,)
        Their classes, from 0.
    possible_groups : mapping of str to ndarray of shape (n,)
        Columns that may tell which rows belong together: the group of each row, -1 where it is missing.
    in_order : bool
        Whether the order of the rows may mean something.
    possible_times : mapping of str to ndarray of shape (n,) or None, default=None
        Columns that may tell when each row was seen.
    tabular : TabularView or None, default=None
        Says which columns of X were computed from labels; these are left out.
    seed : int, default=0
        Seeds the choice of rows, the folds and the model.
    n_jobs : int or None, default=None
        Threads; None for every core.
    words : Words
        What findings call things.

    Returns
    -------
    list of Dependence
        BF034 for a column of groups or BF036 for one of time, whichever changes more, or else BF035 or BF036 for the
        order; at most one.
    """
    if tabular is not None and tabular.from_labels:
        is_kept = np.ones(X.shape[1], bool)
        for _, first, last in tabular.from_labels:
            is_kept[first:last] = False
        X = X[:, is_kept]
    if len(X) < FEWEST_ROWS or X.shape[1] == 0 or len(np.unique(codes)) < 2:
        return []

    def look(pool: WorkerPool) -> list[Dependence]:
        found = [
            *_about_columns(X, codes, possible_groups, seed, pool, words),
            *_about_times(X, codes, possible_times or {}, seed, pool, words),
        ]
        if found:
            return [max(found, key=lambda each: each[0])[1]]
        return list(_about_order(X, codes, seed, pool, words)) if in_order else []

    return supervise(look, check_n_jobs(n_jobs), False)


# --- columns that look like groups


class _Candidate(NamedTuple):
    """A column that may hold groups: rows of some of them, without the features that only say which group it is."""

    closeness: float
    name: str
    X: Floats
    codes: Ints
    groups: Ints


def _about_columns(
    X: Floats, codes: Ints, possible_groups: Mapping[str, Ints], seed: int, pool: WorkerPool, words: Words
) -> Iterator[tuple[float, Dependence]]:
    """Yield the first column whose groups clearly matter, with the rise of the error."""
    candidates = [_candidate(name, X, codes, groups, seed) for name, groups in possible_groups.items()]
    close = sorted((each for each in candidates if each is not None), key=lambda each: -each.closeness)[:MOST_COLUMNS]
    for each in close:
        keys = [fold_keys(each.X, seed + repeat) for repeat in range(_n_repeats(each.X))]
        at_random = [(each.X, stratified_folds(each.codes, N_FOLDS, of_repeat)) for of_repeat in keys]
        apart = [(each.X, grouped_folds(each.codes, each.groups, N_FOLDS, of_repeat)) for of_repeat in keys]
        errors = compare(at_random, apart, each.codes, each.groups, seed, pool)
        is_clear = errors.rise > CLEAR_BY_ROWS and errors.is_clear_by_clusters(LEVEL_BY_GROUPS)
        if is_clear and errors.high - errors.low >= SMALL_DIFFERENCE:
            found = Dependence(
                "BF034",
                f"Rows of the same {shown(each.name)} are alike: with rows of one on both sides {words.error} is "
                f"{percent(errors.low)}, with them kept apart {percent(errors.high)}.",
                f"If rows to come are of new ones, use groups={each.name!r} (--groups): figures without it are for "
                "those that a model has seen.",
                "groups",
                each.name,
            )
            yield errors.high - errors.low, found
            return


def _candidate(name: str, X: Floats, codes: Ints, given: Ints, seed: int) -> _Candidate | None:
    """Choose whole groups and see how close their rows are; None where there is nothing to look at."""
    known = np.flatnonzero(given >= 0)
    if len(known) < FEWEST_ROWS:
        return None
    groups = np.unique(given[known], return_inverse=True)[1]
    if len(known) > MOST_ROWS:
        order = np.random.default_rng(seed).permutation(int(groups.max()) + 1)
        chosen = order[np.cumsum(np.bincount(groups)[order]) <= MOST_ROWS]
        known = known[np.isin(groups, chosen)]
        if len(known) < FEWEST_ROWS:
            return None
        groups = np.unique(given[known], return_inverse=True)[1]
    labels = codes[known]
    if int(groups.max()) + 1 < FEWEST_GROUPS or len(np.unique(labels)) < 2:
        return None
    points = X[known]
    points = np.ascontiguousarray(points[:, ~says_group_only(points, groups)])
    if points.shape[1] == 0:
        return None
    is_close = closeness(points, groups)
    is_steady = _varies_within(points, groups) < STEADY
    if is_close < CLOSE and is_steady.any() and not is_steady.all():
        is_close = closeness(np.ascontiguousarray(points[:, is_steady]), groups)
    return _Candidate(is_close, name, points, labels, groups) if is_close >= CLOSE else None


def _varies_within(X: Floats, groups: Ints) -> Floats:
    """Return the share of the variance of each feature that is within groups; 1 where a feature does not vary."""
    sizes = np.bincount(groups)
    means = np.column_stack([np.bincount(groups, column) / sizes for column in X.T])
    total = X.var(axis=0)
    return np.where(total > 0, ((X - means[groups]) ** 2).mean(axis=0) / np.where(total > 0, total, 1.0), 1.0)


def says_group_only(X: Floats, groups: Ints) -> Bools:
    """Tell which features only say which group a row is in: one of its dummies, or the number that it goes by.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    groups : ndarray of shape (n,)
        Groups from 0 without gaps, in the order of their names.

    Returns
    -------
    ndarray of shape (d,)
    """
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(int(groups.max()) + 1))
    low, high = (reduce.reduceat(X[order], starts, axis=0) for reduce in (np.minimum, np.maximum))
    ascending = np.sort(low, axis=0)
    is_dummy = (ascending[0] == ascending[-2]) | (ascending[1] == ascending[-1])  # one group differs from all others
    steps = np.diff(low, axis=0)
    is_number = np.all(steps > 0, axis=0) | np.all(steps < 0, axis=0)
    return np.all(low == high, axis=0) & (is_dummy | is_number)


def closeness(X: Floats, groups: Ints) -> float:
    """How many times more often near rows share a group than any two rows do; 0 where hardly any do."""
    points = standardised(X, X[:1])[0]
    distances = squared_distances(points, points)
    np.fill_diagonal(distances, np.inf)
    near = np.argpartition(distances, N_NEIGHBOURS - 1, axis=1)[:, :N_NEIGHBOURS]
    n_same = int(np.sum(groups[near] == groups[:, None]))
    sizes = np.bincount(groups)
    by_chance = near.size * float(np.sum(sizes * (sizes - 1.0))) / (len(X) * (len(X) - 1.0))
    return n_same / by_chance if n_same > 4 * N_NEIGHBOURS else 0.0


# --- columns that tell when a row was seen


def _about_times(
    X: Floats, codes: Ints, possible_times: Mapping[str, Floats], seed: int, pool: WorkerPool, words: Words
) -> Iterator[tuple[float, Dependence]]:
    """Yield each time whose halves a model does clearly worse across, with the rise of the error."""
    for name, time in possible_times.items():
        rows = np.argsort(time, kind="stable")
        if len(rows) > MOST_ROWS:
            rows = rows[np.linspace(0, len(rows) - 1, MOST_ROWS).astype(np.int64)]
        points, labels = np.ascontiguousarray(X[rows]), np.unique(codes[rows], return_inverse=True)[1]
        halves = (time[rows] > np.median(time[rows])).astype(np.int64)
        if min(len(np.unique(labels[halves == half])) for half in (0, 1)) < 2:
            continue
        keys = [fold_keys(points, seed + 1 + repeat) for repeat in range(_n_repeats(points))]
        at_random = [(points, stratified_folds(labels, 2, of_repeat)) for of_repeat in keys]
        blocks = np.arange(len(rows)) * N_BLOCKS // len(rows)
        errors = compare(at_random, [(points, halves)], labels, blocks, seed, pool)
        is_clear = errors.rise > CLEAR_BY_ROWS and errors.is_clear_by_clusters(LEVEL_BY_GROUPS)
        if is_clear and errors.high - errors.low >= SMALL_DIFFERENCE:
            found = Dependence(
                "BF036",
                f"What tells {words.classes} apart changes with {shown(name)}: a quick model of one half of the time "
                f"errs in {percent(errors.high)} of the other half, one of as many rows of both in "
                f"{percent(errors.low)}.",
                f"If rows to come are later ones, use time={name!r} (--time): figures without it are for times that a "
                "model has seen.",
                "time",
                name,
            )
            yield errors.high - errors.low, found


# --- the order of the rows


def _about_order(X: Floats, codes: Ints, seed: int, pool: WorkerPool, words: Words) -> Iterator[Dependence]:
    counts = np.bincount(codes)
    n_changes, by_chance = int(np.count_nonzero(np.diff(codes))), len(codes) - float(counts @ counts) / len(codes)
    if n_changes < FEW_CHANGES * by_chance:
        yield Dependence(
            "BF035",
            f"The rows are sorted by the {words.label}, or nearly: it changes {n_changes} "
            f"time{'' if n_changes == 1 else 's'} from one row to the next, where rows in a random order would have "
            f"about {by_chance:.0f} changes.",
            "The figures stand, since rows are dealt out at random. Whether rows near each other in the file belong "
            "together cannot be told.",
        )
        return
    rows = np.arange(len(X))
    if len(rows) > MOST_ROWS:
        first = np.linspace(0, len(rows) - BLOCK_ROWS, N_BLOCKS).astype(np.int64)
        rows = (first[:, None] + np.arange(BLOCK_ROWS)).ravel()
    points, labels = np.ascontiguousarray(X[rows]), np.unique(codes[rows], return_inverse=True)[1]
    folds = stratified_folds(labels, N_FOLDS, fold_keys(points, seed))
    blocks = np.arange(len(rows)) * N_BLOCKS // len(rows)
    with_place = np.column_stack([points, rows])
    errors = compare([(with_place, folds)], [(points, folds)], labels, blocks, seed, pool)
    is_clear = errors.is_clear_by_clusters(LEVEL) and errors.high - errors.low >= SMALL_DIFFERENCE
    if is_clear and errors.low <= (1.0 - SAVED_BY_PLACE) * errors.high:
        what = (
            f"The place of a row in the file tells about its {words.label}: {words.error} is "
            f"{percent(errors.high)} without and {percent(errors.low)} with it. The data drift, or rows near each "
            "other belong together."
        )
    else:
        halves = np.arange(len(rows)) * 2 // len(rows)
        keys = [fold_keys(points, seed + 1 + repeat) for repeat in range(_n_repeats(points))]
        at_random = [(points, stratified_folds(labels, 2, of_repeat)) for of_repeat in keys]
        aged = compare(at_random, [(points, halves)], labels, blocks, seed, pool)
        matters = aged.rise > CLEAR_BY_HALVES and aged.high - aged.low >= SMALL_DIFFERENCE
        if not matters or not _depends_on_place(points, labels, errors.q_high, seed, pool):
            return
        what = (
            f"What tells {words.classes} apart changes along the file: a quick model of one half errs in "
            f"{percent(aged.high)} of the other half, one of as many rows of both in {percent(aged.low)}."
        )
    yield Dependence(
        "BF036",
        what,
        "If the order is one of time, name its column with time= (--time); if some rows belong together, name what "
        "tells them apart with groups= (--groups).",
    )


def _depends_on_place(X: Floats, codes: Ints, q: Floats, seed: int, pool: WorkerPool) -> bool:
    """Tell whether the label depends on the place of a row, given its features.

    If not, then (y_k - P(y_k | x)) (t - E(t | x)) w(x) has mean 0 for each class k and any w. With w = 1 and each
    feature these are so many tests; the largest counts, by Bonferroni's bound.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points, in order.
    codes : ndarray of shape (n,)
        Their classes, from 0 without gaps.
    q : ndarray of shape (n, n_classes)
        Probabilities of the classes, from models that had not seen the row.
    seed : int
        Seeds the folds and the model.
    pool : WorkerPool
        Threads to work with.

    Returns
    -------
    bool
    """
    n, n_classes = q.shape
    part, place = np.arange(n) * N_PARTS // n, np.arange(n) / n
    folds = stratified_folds(part, N_FOLDS, fold_keys(X, seed))
    of_parts = np.bincount(part, place) / np.bincount(part)
    (expected,) = _predict([(X, folds)], part, seed, pool)
    labels = np.eye(n_classes)[:, 1:] if n_classes == 2 else np.eye(n_classes)  # of two classes one says it all
    residuals = labels[codes] - q[:, -labels.shape[1] :]
    weights = np.column_stack([np.ones(n), standardised(X, X[:1])[0]])
    products = residuals * (place - expected @ of_parts)[:, None]
    sums, squares = products.T @ weights, (products**2).T @ weights**2
    largest = float(np.max(np.abs(sums) / np.sqrt(np.where(squares > 0, squares, np.inf))))
    return 2.0 * sums.size * float(ndtr(-largest)) < LEVEL


def _n_repeats(X: Floats) -> int:
    """Return how often a cross-validation is repeated: as often as it takes no longer than one of the most rows."""
    return min(max(MOST_ROWS // len(X), 1), MOST_REPEATS)


# --- one model, two ways to learn


class Comparison(NamedTuple):
    """The errors of one model in two ways, the second of which should be no better.

    Attributes
    ----------
    low, high : float
        The two errors.
    rise : float
        Rise of the squared error of probabilities from the first to the second, in standard errors of independent rows.
    by_clusters : float
        The same in standard errors of independent clusters.
    n_clusters : int
        Groups or blocks that these rest on.
    q_high : ndarray of shape (n, n_classes)
        Probabilities in the second way.
    """

    low: float
    high: float
    rise: float
    by_clusters: float
    n_clusters: int
    q_high: Floats

    def is_clear_by_clusters(self, level: float) -> bool:
        """Tell whether the error rises beyond what other clusters would show by chance."""
        return self.by_clusters > float(stdtrit(self.n_clusters - 1.0, 1.0 - level))


#: The points, of shape (n, d), and the fold of each.
Way = tuple[Floats, Ints]


def compare(
    first: Sequence[Way], second: Sequence[Way], codes: Ints, clusters: Ints, seed: int, pool: WorkerPool
) -> Comparison:
    """Cross-validate one model in two ways.

    Squared errors of probabilities are compared, row by row: they tell sooner than counts of errors do.

    Parameters
    ----------
    first, second : sequence of (ndarray, ndarray)
        Points and folds of each repetition of both ways.
    codes : ndarray of shape (n,)
        Their classes.
    clusters : ndarray of shape (n,)
        Groups or blocks, from 0 without gaps; rows of different ones are taken to be independent.
    seed : int
        Seeds the model.
    pool : WorkerPool
        Threads to work with.

    Returns
    -------
    Comparison
    """
    classes, codes = np.unique(codes, return_inverse=True)
    q = _predict([*first, *second], codes, seed, pool)
    squares = ((q - np.eye(len(classes))[codes]) ** 2).sum(axis=2)
    errors = (q.argmax(axis=2) != codes).mean(axis=1)
    n_first = len(first)
    rise = squares[n_first:].mean(axis=0) - squares[:n_first].mean(axis=0)
    by_cluster = np.bincount(clusters, rise - rise.mean())
    variance = float(by_cluster @ by_cluster) * len(by_cluster) / max(len(by_cluster) - 1, 1)
    total, of_rows = float(rise.sum()), float(rise @ rise)
    return Comparison(
        float(errors[:n_first].mean()),
        float(errors[n_first:].mean()),
        total / np.sqrt(of_rows) if of_rows > 0 else 0.0,
        total / np.sqrt(variance) if variance > 0 else 0.0,
        len(by_cluster),
        q[n_first:].mean(axis=0),
    )


def _predict(ways: Sequence[Way], codes: Ints, seed: int, pool: WorkerPool) -> Floats:
    """Return the probabilities of the classes of every row in each way, from models that had not seen it."""
    n_classes = int(codes.max()) + 1
    tasks = [(way, fold) for way, (_, folds) in enumerate(ways) for fold in np.unique(folds).tolist()]

    def predict(way: int, fold: int) -> Floats:
        X, folds = ways[way]
        is_test = folds == fold
        points, others = standardised(X[~is_test], X[is_test])
        return quick_model(Train(points, codes[~is_test], n_classes, pool.check), others, seed)

    q = np.empty((len(ways), len(codes), n_classes))
    for (way, fold), output in zip(tasks, pool.run(predict, tasks), strict=True):
        q[way, ways[way][1] == fold] = output
    return q


def quick_model(train: Train, test: Floats, seed: int) -> Floats:
    """Return the mean probabilities of a few trees, and of neighbours and kernel ridge as these scale the features."""
    grown = grow_ensemble(train, test, seed, N_TREES, MIN_LEAF)
    probability, scale = grown.deep, grown.importance
    scaled = train._replace(X=train.X * scale)
    near = MeanOfNearest.of_train(scaled).of(nearest_rows(scaled.X, test * scale, N_NEIGHBOURS, scaled.check))
    smooth = kernel_ridge(scaled, test * scale, seed, (0.5,), N_LANDMARKS)
    parts = [part / part.sum(axis=1, keepdims=True) for part in (probability, near, smooth)]
    mean: Floats = np.mean(parts, axis=0)
    return mean
