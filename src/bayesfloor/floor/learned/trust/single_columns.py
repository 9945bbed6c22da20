"""How much each column tells about the target by itself.

Of classes, it is the floor of a problem that has this column alone, by the cross edges of its spanning trees. Of
numbers, it is the variance that the column leaves: rows that are next to each other in it have nearly the same best
prediction from it, so half the mean squared difference of their values is that variance (Rice 1984). Rows with the same
value are joined at random, which makes it the variance within that value.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from bayesfloor.data.sampling import Keys, stratified_rows
from bayesfloor.floor.learned.trust.source import Source
from bayesfloor.floor.trees.cross_edges import of_whole
from bayesfloor.floor.trees.problem import Options, floors_of
from bayesfloor.forest import Forests, spanning_forests
from bayesfloor.runtime.arrays import Floats, Ints

#: Rows that the floors of single columns are counted in, at the most: a share is then known to about .04.
MOST_ROWS = 2000
#: Rows times columns, at the most, so that very many columns take no longer; but no fewer rows than `_FEWEST_ROWS`.
_MOST_VALUES = 1_000_000
_FEWEST_ROWS = 200
#: Rows of the commonest class, at the least, however small the next one is.
_FEWEST_OF_LARGEST = 20
#: Variance of a mean over the edges of a path, as a multiple of that of as many independent terms: neighbouring edges
#: share a row, and squared differences of normal numbers that share one have a correlation of 1/4.
_SHARED_ROWS = 1.5


@dataclass(frozen=True, eq=False)
class ColumnFloors:
    """Floors of single columns, from spanning trees of rows of which no class has more than half.

    Where one class has most of the rows, a column that tells a good deal still leaves that class the likelier one
    everywhere, and removes no error at all.

    Attributes
    ----------
    floor : ndarray of shape (n_columns,)
        The floor that each column leaves by itself.
    removed : ndarray of shape (n_columns,)
        Share of the error of always predicting the commonest class that it removes.
    interval : ndarray of shape (n_columns, 2)
        Where that share lies.
    n_rows : int
        Rows that were used.
    is_balanced : bool
        Whether the commonest class was cut down to the size of the next.
    """

    floor: Floats
    removed: Floats
    interval: Floats
    n_rows: int
    is_balanced: bool


def floors_of_columns(source: Source, options: Options) -> ColumnFloors:
    """Count cross edges in the trees of each column alone.

    Parameters
    ----------
    source : Source
        What the report is about.
    options : Options
        How to grow trees.

    Returns
    -------
    ColumnFloors
        In the order of `source.columns`.
    """
    problem, n_columns = source.problem, len(source.columns)
    most = _rows_for_columns(n_columns)
    keys = source.keys(options.random_state)
    pool = _without_excess(problem.codes, keys)
    rows = pool[stratified_rows(problem.codes[pool], max(most, len(problem.classes)), keys[pool])]
    points, codes = problem.X[rows], problem.codes[rows]
    counts = np.bincount(codes)
    largest = 1.0 - counts.max() / len(codes)
    floors, intervals = [], []
    for members in source.feature_groups:
        forests = _forests_of(np.ascontiguousarray(points[:, list(members)]), options)
        found = floors_of(of_whole(forests, codes, len(counts)), len(counts), largest, options)
        floors.append(float(found.estimate))
        intervals.append(found.interval)
    floor, interval = np.array(floors), np.array(intervals).reshape(-1, 2)
    return ColumnFloors(
        floor=floor,
        removed=np.clip(1.0 - floor / largest, 0.0, 1.0),
        interval=np.clip(1.0 - interval[:, ::-1] / largest, 0.0, 1.0),
        n_rows=len(rows),
        is_balanced=len(pool) < len(keys),
    )


def explained_by_columns(source: Source, options: Options) -> ColumnFloors:
    """Compare the values of rows that are next to each other in each column.

    Parameters
    ----------
    source : Source
        What the report is about.
    options : Options
        How to grow trees, for columns that became several features.

    Returns
    -------
    ColumnFloors
        In the order of `source.columns`; `removed` is the share of the variance that a column explains, and `floor`
        the standard deviation that it leaves.
    """
    problem = source.problem
    bins, keys = source.strata, source.keys(options.random_state)
    most = max(_rows_for_columns(len(source.columns)), int(bins.max()) + 1)
    rows = stratified_rows(bins, most, keys)
    rows = rows[np.argsort(keys[rows], kind="stable")]  # equal values are then in a random order
    points, y = problem.X[rows], problem.y[rows]
    variance = float(y.var())
    left, ends = [], []
    for members in source.feature_groups:
        forests = _forests_of(np.ascontiguousarray(points[:, list(members)]), options)
        share, error = _share_left(y, forests.edges, variance)
        left.append(share)
        ends.append(ndtri(0.5 + options.confidence / 2) * error)
    explained = 1.0 - np.array(left)
    interval = np.column_stack([explained - ends, explained + ends])
    return ColumnFloors(
        floor=np.sqrt(np.clip(left, 0.0, 1.0) * variance),
        removed=np.clip(explained, 0.0, 1.0),
        interval=np.clip(interval, 0.0, 1.0),
        n_rows=len(rows),
        is_balanced=False,
    )


def _rows_for_columns(n_columns: int) -> int:
    """Return how many rows to compare columns by: fewer where there are very many columns."""
    return int(np.clip(_MOST_VALUES // max(n_columns, 1), _FEWEST_ROWS, MOST_ROWS))


def _without_excess(codes: Ints, keys: Keys) -> Ints:
    """Choose all rows, but of the commonest class no more than the next one has."""
    counts = np.bincount(codes)
    largest, most = int(counts.argmax()), max(int(np.sort(counts)[-2]), _FEWEST_OF_LARGEST)
    of_largest = np.flatnonzero(codes == largest)
    some = of_largest[np.argsort(keys[of_largest], kind="stable")[:most]]
    return np.sort(np.concatenate([np.flatnonzero(codes != largest), some]))


def _forests_of(points: Floats, options: Options) -> Forests:
    """Grow the trees of some columns of X.

    Along a line the first tree joins each row to the next. Rows two and three places apart stand for the second and
    third: those trees differ from that at few rows, and take a hundred times as long.
    """
    if points.shape[1] != 1:
        return spanning_forests(points, **options.engine(options.random_state) | {"progress": False, "client": None})
    _, sites = np.unique(points[:, 0], return_inverse=True)
    order = np.argsort(sites, kind="stable")
    steps = range(1, min(options.n_trees + 1, len(order)))
    edges = np.concatenate([np.column_stack([order[:-step], order[step:]]) for step in steps])
    sizes = np.array([len(order) - step for step in steps])
    return Forests(
        n_samples=len(order),
        n_trees=len(sizes),
        edges=edges,
        weights=np.abs(points[edges[:, 0], 0] - points[edges[:, 1], 0]),
        tree=np.repeat(np.arange(len(sizes)), sizes),
        sites=sites,
        n_components=len(order) - sizes,
        n_trees_asked=options.n_trees,
    )


def _share_left(y: Floats, edges: Ints, variance: float) -> tuple[float, float]:
    """Return the share of the variance that differences along edges leave, and its standard error."""
    if not variance > 0:
        return 1.0, 0.0
    first, second = y[edges[:, 0]], y[edges[:, 1]]
    half = np.square(first - second) / 2.0
    around = (np.square(first - y.mean()) + np.square(second - y.mean())) / 2.0
    share = float(half.mean()) / variance
    error = float((half - share * around).std()) * (_SHARED_ROWS / len(y)) ** 0.5 / variance
    return share, error
