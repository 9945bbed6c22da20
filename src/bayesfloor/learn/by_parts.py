"""Learners of any number of rows, in parts: what each part says is merged.

======================  =============================================================================================
boosting                sums of derivatives in the leaves of each tree: `bayesfloor.learn.boosting_by_parts`
deep trees              trees grown to pure leaves on each part; the mean over parts
nearest rows            the nearest rows of each part; the nearest of these. Their means, and kernel ridge regression
======================  =============================================================================================

Four quarters of the parts are training sets of their own, their halves and the whole too: trees and nearest rows of a
quarter serve all three, and boosting is trained for each.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.row_parts import RowPart
from bayesfloor.learn.boosting import MOST_LEVELS, bins_by, cuts_of, scores_by, shares_of
from bayesfloor.learn.boosting_by_parts import NAME, boost_parts, boosted_target
from bayesfloor.learn.decision_trees import grow_ensemble
from bayesfloor.learn.linear_cost import LOOKED_AT, grow_deep
from bayesfloor.learn.nearest import LOCAL_ROWS, LOCAL_SAMPLE, LocalRidge, MeanOfNearest, near_names, nearest_rows
from bayesfloor.learn.parts import PartPool
from bayesfloor.learn.training_rows import Directions, Scaling, Singles, Train, single
from bayesfloor.runtime.arrays import Bools, Floats

#: Most directions of the space in which nearest rows are looked for.
MOST_DIRECTIONS = 24
#: Trees of all parts together, at the least.
N_TREES = 32
#: Rows of a sample that tell importances, and trees that they are taken from.
IMPORTANCE_ROWS, IMPORTANCE_TREES = 50_000, 10
#: Names of the learners that are trained on all rows; others have a sample.
MEANS, RIDGES = near_names("scaled")
LEARNERS = (NAME, "deep trees", *MEANS, *RIDGES)


@dataclass(frozen=True, eq=False)
class RowEncoder:
    """What is stored of a row: where it is among its neighbours, and bins of its values.

    Attributes
    ----------
    scaling : Scaling
        How features are standardised.
    directions : Directions
        Of the space in which nearest rows are looked for.
    cuts : tuple of ndarray
        Where columns of numbers are cut into bins.
    is_category : ndarray of shape (n_columns,)
        Which columns of bins hold codes.
    sources : list of (bool, int)
        Of each of these columns, whether it is one of the table, and which of them; otherwise a feature.
    """

    scaling: Scaling
    directions: Directions
    cuts: tuple[Floats, ...]
    is_category: Bools
    sources: list[tuple[bool, int]]

    @property
    def n_directions(self) -> int:
        """How many directions there are."""
        return self.directions.axes.shape[1]

    @classmethod
    def of_sample(
        cls, train: Train, scaling: Scaling, from_labels: Sequence[tuple[int, int, int]], seed: int
    ) -> "RowEncoder":
        """Learn from standardised rows; categories of many values are told by the features that stand for them."""
        is_category, sources = [], []
        table = train.table
        instead = {column: range(first, last) for column, first, last in from_labels}
        for column in range(train.X.shape[1] if table is None else table.values.shape[1]):
            if table is None or not table.is_category[column]:
                sources.append((table is not None, column))
                is_category.append(False)
            elif np.nanmax(table.values[:, column], initial=0.0) < MOST_LEVELS:
                sources.append((True, column))
                is_category.append(True)
            else:
                sources += [(False, feature) for feature in instead.get(column, ())]
                is_category += [False] * len(instead.get(column, ()))
        if not sources:
            sources = [(False, feature) for feature in range(train.X.shape[1])]
            is_category = [False] * len(sources)
        few = train.first(IMPORTANCE_ROWS)
        scale = grow_deep(few, few.X[:0], IMPORTANCE_TREES, seed)[0].importance
        found = Directions.of_points(few.X.astype(np.float32), scale)
        directions = replace(
            found, axes=np.ascontiguousarray(found.axes[:, :MOST_DIRECTIONS]), shift=found.shift[:MOST_DIRECTIONS]
        )
        made = cls(scaling, directions, (), np.array(is_category), sources)
        values = made._columns(train.X, None if table is None else table.values)
        cuts = tuple(cuts_of(values[:, j], bool(is_category[j])) for j in range(len(sources)))
        return cls(scaling, directions, cuts, made.is_category, sources)

    def _columns(self, X: NDArray[Any], table: NDArray[Any] | None) -> Floats:
        values = np.empty((len(X), len(self.sources)))
        for place, (of_table, column) in enumerate(self.sources):
            values[:, place] = table[:, column] if of_table and table is not None else X[:, column]
        return values

    def encode(self, X: Floats, table: Floats | None) -> tuple[Singles, NDArray[np.uint8]]:
        """Return points and bins of rows: of their features, and of the same rows as codes."""
        scaled = self.scaling.alike(X)
        bins = bins_by(self._columns(scaled, table), self.cuts, self.is_category)
        points = self.directions.of(scaled.astype(np.float32))
        return np.ascontiguousarray(points, np.float32), np.ascontiguousarray(bins.T)


class Nearest(NamedTuple):
    """The nearest rows of each tested row, the nearest first: squared distances, targets, and points."""

    distance: Singles
    y: NDArray[Any]
    points: Singles


class PartLearners:
    """Learners that are trained on quarters of the parts, and predict the tested rows.

    Parameters
    ----------
    pool : PartPool
        The parts; each fourth of them is of one quarter.
    tested : RowPart
        The rows to predict.
    sample : Train
        A sample of the rows to learn from; of it, targets and their mean are used.
    is_category : ndarray of shape (n_columns,)
        Which columns of bins hold codes.
    seed : int
        Seeds what is drawn at random.
    """

    def __init__(self, pool: PartPool, tested: RowPart, sample: Train, is_category: Bools, seed: int) -> None:
        self.pool, self.tested, self.sample = pool, tested, sample
        self.is_category, self.seed = is_category, seed
        self._trees: dict[int, Floats] = {}
        self._nearest: dict[int, Nearest] = {}

    def numbers(self, quarters: Sequence[int]) -> list[int]:
        """Return the parts of some quarters."""
        return [number for number in range(len(self.pool.parts)) if number % 4 in quarters]

    def n_rows(self, quarters: Sequence[int]) -> int:
        """Return the rows of some quarters."""
        return sum(self.pool.parts[number].n_rows for number in self.numbers(quarters))

    def predict(self, quarters: Sequence[int], wanted: Collection[str] = LEARNERS) -> dict[str, Floats]:
        """Train learners on some quarters, and return what they predict."""
        found: dict[str, Floats] = {}
        if "deep trees" in wanted:
            found["deep trees"] = np.mean([self._trees_of(quarter) for quarter in quarters], axis=0)
        near = [name for name in (*MEANS, *RIDGES) if name in wanted]
        if near:
            nearest = reduce(merged_nearest, map(self._nearest_of, quarters))
            found |= _near_predictions(nearest, self.pool.parts[0].read(), self.tested, self.sample, near)
        if NAME in wanted:
            target = boosted_target(self.sample.prior, self.sample.n_classes)
            numbers = self.numbers(quarters)
            trees = boost_parts(self.pool, numbers, target, self.is_category, self.seed)
            scores = scores_by(self.tested.bins.T, self.is_category, target.start, trees)
            found[NAME] = self.sample.within(shares_of(scores) if self.sample.n_classes else scores, 0.0)
        return found

    def _trees_of(self, quarter: int) -> Floats:
        """Return the mean of the trees of a quarter, grown when they are first asked for."""
        if quarter not in self._trees:
            n_trees = -(-N_TREES // len(self.pool.parts))
            work = partial(deep_trees_of_part, n_classes=self.sample.n_classes, n_trees=n_trees, seed=self.seed)
            numbers = self.numbers([quarter])
            self._trees[quarter] = self.pool.merged(work, numbers, np.add, self.pool.share(self.tested.bins)) / len(
                numbers
            )
        return self._trees[quarter]

    def _nearest_of(self, quarter: int) -> Nearest:
        """Return the nearest rows of a quarter, looked for when they are first asked for."""
        if quarter not in self._nearest:
            numbers = self.numbers([quarter])
            tested = self.pool.share(self.tested.points)
            self._nearest[quarter] = self.pool.merged(
                nearest_of_part, numbers, merged_nearest, tested, LOCAL_ROWS, array="points"
            )
        return self._nearest[quarter]


def deep_trees_of_part(part: RowPart, tested: NDArray[np.uint8], *, n_classes: int, n_trees: int, seed: int) -> Floats:
    """Return the mean of trees that are grown to pure leaves on one part."""
    ranks = part.bins.astype(np.uint16)
    d = ranks.shape[1]
    n_tries = min(d, max(10, round(d**0.5)))
    train = Train(ranks, part.y, n_classes)
    others = tested.astype(np.uint16)
    return grow_ensemble(train, others, seed, n_trees, n_tries=n_tries, min_rows=1, n_looked_at=LOOKED_AT).deep


def nearest_of_part(part: RowPart, tested: Singles, k: int) -> Nearest:
    """Return the nearest rows of one part."""
    rows = nearest_rows(part.points, tested, k)
    distance = np.empty(rows.shape, np.float32)
    for column, of_column in enumerate(rows.T):
        distance[:, column] = ((part.points[of_column] - tested) ** 2).sum(axis=1)
    return Nearest(distance, part.y[rows], part.points[rows])


def merged_nearest(first: Nearest, second: Nearest) -> Nearest:
    """Return the nearest of two sets of rows; of equal distances, those of the first are nearer."""
    k = max(first.distance.shape[1], second.distance.shape[1])
    distance = np.concatenate([first.distance, second.distance], axis=1)
    order = np.argsort(distance, axis=1, kind="stable")[:, :k]
    tests, is_second = np.arange(len(order))[:, np.newaxis], order >= first.distance.shape[1]
    at = np.where(is_second, order - first.distance.shape[1], order)
    y = np.where(
        is_second,
        second.y[tests, np.minimum(at, second.y.shape[1] - 1)],
        first.y[tests, np.minimum(at, first.y.shape[1] - 1)],
    )
    points = first.points[tests, np.minimum(at, first.y.shape[1] - 1)]
    others, columns = np.nonzero(is_second)
    points[others, columns] = second.points[others, at[others, columns]]
    return Nearest(np.take_along_axis(distance, order, axis=1), y, points)


def _near_predictions(
    nearest: Nearest, some: RowPart, tested: RowPart, sample: Train, wanted: Sequence[str]
) -> dict[str, Floats]:
    """Return means of nearest rows, and kernel ridge regression of them."""
    n_tested, k = nearest.y.shape
    head = some.points[:LOCAL_SAMPLE]  # tells the usual distance between rows
    rows = len(head) + np.arange(n_tested * k).reshape(n_tested, k)
    points = np.concatenate([head, nearest.points.reshape(n_tested * k, -1)])
    train = sample._replace(
        X=points, y=np.concatenate([some.y[: len(head)], nearest.y.ravel()]), weight=None, table=None
    )
    mean = MeanOfNearest.of_train(train, sample.prior)
    found = {name: mean.of(rows[:, : MEANS[name]]) for name in wanted if name in MEANS}
    for name in wanted:
        if name in RIDGES:
            ridge = LocalRidge.of_train(train, *RIDGES[name], sample.prior)
            found[name] = ridge.of(single(points), tested.points, rows[:, :LOCAL_ROWS])
    return found
