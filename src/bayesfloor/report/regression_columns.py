"""How much of the variance of a number each column explains by itself.

Rows that are next to each other in a column have nearly the same best prediction from it, so half the mean squared
difference of their values is the variance that the column leaves (Rice 1984). Rows with the same value are joined at
random, which makes it the variance within that value.
"""

import numpy as np
from scipy.special import ndtri

from bayesfloor.data.sampling import keys_of_values, stratified_rows
from bayesfloor.data.tasks import bins_of_numbers
from bayesfloor.floor.trees.number_problem import NumberProblem
from bayesfloor.floor.trees.problem import Options
from bayesfloor.report.columns import ColumnFloors, forests_of_columns, rows_for_columns
from bayesfloor.report.source import Source
from bayesfloor.runtime.arrays import Floats, Ints

#: Variance of a mean over the edges of a path, as a multiple of that of as many independent terms: neighbouring edges
#: share a row, and squared differences of normal numbers that share one have a correlation of 1/4.
_SHARED_ROWS = 1.5


def explained_by_columns(source: Source[NumberProblem], options: Options) -> ColumnFloors:
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
    bins = bins_of_numbers(problem.y)
    keys = keys_of_values(np.column_stack([problem.X, problem.y]), bins, options.random_state)
    most = max(rows_for_columns(len(source.columns)), int(bins.max()) + 1)
    rows = stratified_rows(bins, most, keys)
    rows = rows[np.argsort(keys[rows], kind="stable")]  # equal values are then in a random order
    points, y = problem.X[rows], problem.y[rows]
    variance = float(y.var())
    left, ends = [], []
    for members in source.feature_groups:
        forests = forests_of_columns(np.ascontiguousarray(points[:, list(members)]), options)
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
