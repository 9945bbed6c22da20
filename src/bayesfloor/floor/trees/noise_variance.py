"""The noise variance of a number, σ² = E Var(y | x), from differences over the edges of spanning trees.

::

    X, y ──► smooth_part ──► residuals r, columns scaled by how much they matter
                 │
                 └──► (forest) ──► edge_differences   the mean of (r_i − r_j)² / 2 in each tree: σ², and what
                                                      of f is left to change over an edge
                                                      against the mean length of the edges: at length zero, σ²

Two figures are averaged where they agree: what the smoother leaves, Σ r² / (n − degrees of freedom), and the mean
difference over all trees. Neither is below σ² but by chance. The first is above it where f is too rough for the
smoother; products r_i r_j over edges then are not 0 on average, and the second counts alone. Where later trees, whose
edges are longer, have larger differences, a line through their means leads to length zero: against the length, as for
steps, or its square, as for what is smooth. The truth is mostly between the two; their mean is the estimate.

The interval has the sampling error of the figure, and allowances for what a sample cannot tell. They are shares of
the estimate: twice the degrees of freedom for each row towards 0 and once away from it, because a smoother that needs
many of them has not come to its end; and, where columns are many and edges nearly as long as any distance, up to all of
it towards 0. Rows with equal features give σ² without any model: the estimate stays within the interval of these
replicates. The constants were found on the design half of benchmarks/problems/regression_problems.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from bayesfloor.data.problem import Problem
from bayesfloor.data.row_groups import in_order_of_appearance
from bayesfloor.floor.trees.edge_differences import EdgeDifferences
from bayesfloor.floor.trees.findings import find_unspanned
from bayesfloor.floor.trees.problem import Options, Progress, check_options
from bayesfloor.floor.trees.smooth_part import SmoothPart, kept_share, linear_part, smooth_part
from bayesfloor.forest import Forests, spanning_forests
from bayesfloor.runtime.arrays import Bools, Floats, Ints, Range
from bayesfloor.runtime.findings import Finding, in_order
from bayesfloor.runtime.frames import like_input
from bayesfloor.runtime.results import PlottedResult
from bayesfloor.runtime.text import counted
from bayesfloor.runtime.threads import supervise
from bayesfloor.tables.arguments import check_problem

#: Maximum number of rows in use: with more, time grows and the error hardly falls.
NOISE_ROWS = 20_000
#: Minimum slope of differences over lengths, in standard errors, for an extrapolation.
CLEAR_SLOPE = 2.0
#: Maximum mean edge of the first spanning tree, as a share of the typical distance. The lower end of the interval opens
#: by twice the excess.
LONG_EDGES = 0.35
#: Maximum number of columns for the levels of nominal columns.
MOST_LEVEL_COLUMNS = 500
#: Rows of equal features are copies where their targets agree with odds above this multiple of those of any two rows,
#: where nearly all of them agree or two targets rarely do by chance, and where they are few on average.
AGREE_MORE, NEARLY_ALL, RARELY, MOST_COPIES = 5.0, 0.9, 0.05, 10.0
#: Minimum degrees of freedom of replicates whose interval bounds the estimate.
ENOUGH_REPLICATES = 20


class Replicates(NamedTuple):
    """Rows with equal features: their variance, its standard error, and degrees of freedom."""

    variance: float
    error: float
    freedom: int


@dataclass(frozen=True, eq=False, repr=False)
class NoiseFromTrees(
    PlottedResult,
    says="r2 r2_interval rmse n_samples",
    rows="tree mean_length=lengths half_mean_squared_difference=differences n_edges",
    display="NoiseFromTreesDisplay",
):
    """The noise variance of a number from spanning trees, and the best R² and RMSE that go with it.

    `frame` has a row for each tree.

    Attributes
    ----------
    estimate : float
        σ² = E Var(y | x), in squared units of y: the mean squared error that no model gets below.
    interval : tuple of float
        Its confidence interval.
    r2 : float
        The best R² that any model can reach, 1 − σ² / Var(y), in [0, 1].
    r2_interval : tuple of float
        Its confidence interval.
    rmse : float
        The root of the estimate.
    variance : float
        Variance of y.
    differences, lengths, n_edges : ndarray of shape (n_trees,)
        Half the mean squared difference over the edges of each tree, in squared units of y, after the smooth part
        was taken away; the mean length of these edges as a share of the typical distance between rows; and how many
        there are.
    replicates : Replicates
        Rows that are equal to another one in all features: their variance, which needs no model, its standard error,
        and how many there are beyond the first of each; NaN and 0 without them.
    column_scale : ndarray of shape (n_features,)
        How much each feature matters: the size of the slope of the smooth part, the largest being 1.
    n_samples, n_rows : int
        Rows given, rows used.
    confidence : float
        Level of the intervals.
    feature_names : tuple of str or None
        Names of the features.
    findings : tuple of Finding
        What a reader should know about the data.
    """

    estimate: float
    interval: Range
    r2: float
    r2_interval: Range
    rmse: float
    variance: float
    differences: Floats
    lengths: Floats
    n_edges: Ints
    replicates: Replicates
    column_scale: Floats
    n_samples: int
    n_rows: int
    confidence: float
    feature_names: tuple[str, ...] | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def tree(self) -> Ints:
        """Number of each tree, from 1."""
        return np.arange(1, len(self.lengths) + 1)

    @property
    def rmse_interval(self) -> Range:
        """Confidence interval of the RMSE."""
        low, high = self.interval
        return max(low, 0.0) ** 0.5, max(high, 0.0) ** 0.5

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.column_scale)


@like_input
def noise_variance_from_trees(
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    n_trees: int = 3,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    device: Any = "auto",
    random_state: Any = 0,
    progress: Progress = False,
    client: Any = None,
) -> NoiseFromTrees:
    """Estimate how much of a number no model can predict, in a second and without choosing a model.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features), or Table
        The points. Features are put on the same scale, and then scaled by how much they matter. Text and categories of
        a data frame are made ready as by `read_table`.
    y : array-like or series of shape (n_samples,), or str, default=None
        The target, finite numbers; or the name of its column in a data frame. Left out with a Table.
    groups : array-like of shape (n_samples,), default=None
        Rows that belong together, such as those of one patient. The noise is then that of rows of new groups: edges
        within a group do not count, and the intervals say what another sample of groups may change.
    sample_weight : array-like of shape (n_samples,), default=None
        What each row counts in the mean over rows. Rows of weight zero are left out.
    n_trees : int, default=3
        How many edge-disjoint spanning trees to take differences over.
    confidence : float, default=0.95
        Level of the intervals.
    n_jobs : int or None, default=None
        Threads; None for every core.
    device : {"auto", "cpu", "cuda"} or torch.device, default="auto"
        Where distances are computed, as for `spanning_forests`; the result is the same.
    random_state : int, default=0
        Seed of the choice of rows of the smooth part, and of tie-breaks.
    progress : bool or callable, default=False
        Show progress on a terminal, or call ``progress(done, total)``.
    client : dask.distributed.Client or None, default=None
        Compute the forests on this cluster, as for `spanning_forests`; the result is the same.

    Returns
    -------
    NoiseFromTrees
        The noise variance, the best R² and RMSE, with intervals and findings.

    See Also
    --------
    learned_floor : The same question for classes.

    Notes
    -----
    At most 20 000 rows are used (`n_rows`), chosen by the seed.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesfloor import noise_variance_from_trees
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((2000, 4))
    >>> y = np.sin(6 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(2000)
    >>> noise = noise_variance_from_trees(X, y)
    >>> print(f"{noise.rmse:.2f}")
    0.30
    """
    options = check_options(
        n_trees=n_trees,
        confidence=confidence,
        n_jobs=n_jobs,
        device=device,
        random_state=random_state,
        progress=progress,
        client=client,
    )
    seed = options.random_state
    problem = check_problem(X, y, task="regression", groups=groups, sample_weight=sample_weight, seed=seed)
    rows, n_copies = _rows_in_order(problem, seed)
    used = problem.take(rows)
    points, stands_for = _points(used)
    Z, is_constant = standard_columns(points)
    scale_of_y = float(used.y.std())
    if scale_of_y == 0.0:
        raise ValueError("y is the same in all rows that count: there is nothing to predict")
    target = (used.y - used.y.mean()) / scale_of_y
    n_units = len(target) if used.groups is None else int(used.groups.max()) + 1
    part: SmoothPart = supervise(lambda pool: smooth_part(Z, target, seed, n_units), 1, False)
    forests = spanning_forests(Z * part.scale, **options.engine(seed))
    edges = _edges(forests, part, used)
    replicates = _replicates(used, points, target)
    figures = estimate_noise(edges, part, target, used.sample_weight, replicates, options.confidence)
    n_columns = problem.X.shape[1]
    scale = np.zeros(n_columns)
    np.maximum.at(scale, stands_for, np.where(is_constant, 0.0, part.scale))
    squared = scale_of_y**2
    findings = [*_findings(problem, forests, n_trees, n_copies, figures), *problem.findings]
    return NoiseFromTrees(
        estimate=figures.noise * squared,
        interval=(figures.interval[0] * squared, figures.interval[1] * squared),
        r2=_clipped(1.0 - figures.noise / figures.variance),
        r2_interval=(_clipped(1.0 - figures.share_interval[1]), _clipped(1.0 - figures.share_interval[0])),
        rmse=float(np.sqrt(figures.noise)) * scale_of_y,
        variance=squared * figures.variance,
        differences=figures.differences * squared,
        lengths=figures.lengths,
        n_edges=np.bincount(edges.tree, minlength=edges.n_trees),
        replicates=Replicates(replicates.variance * squared, replicates.error * squared, replicates.freedom),
        column_scale=scale,
        n_samples=problem.n_samples,
        n_rows=len(rows),
        confidence=options.confidence,
        feature_names=None if problem.feature_names is None else tuple(map(str, problem.feature_names)),
        findings=in_order(findings),
    )


def _clipped(value: float) -> float:
    return float(np.clip(value, 0.0, 1.0))


def quick_noise(Z: Floats, y: Floats, groups: Ints | None, options: Options) -> tuple[float, float]:
    """Return half the mean squared difference of what a linear function leaves over all trees, and its standard error.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Columns of mean 0 and variance 1.
    y : ndarray of shape (n,)
        The target, of mean 0 and variance 1.
    groups : ndarray of shape (n,) or None
        Rows that belong together.
    options : Options
        How to build the trees.

    Returns
    -------
    noise, error : float
        As a share of the variance of y.
    """
    part = linear_part(Z, y)
    forests = spanning_forests(Z, **options.engine(options.random_state))
    edges = _edges(forests, part, Problem.of_numbers(Z, y, groups=groups))
    if not edges.n_trees:
        return 1.0, 0.0
    level, _, share = edges.tree_means()
    pooled = share / share.sum()
    return float(pooled @ level), _error(edges, pooled, level)


def _rows_in_order(problem: Problem, seed: int) -> tuple[Ints, int]:
    """Choose rows, in an order that depends on their values only; also return how many copies were left out."""
    X, y = problem.X, problem.y
    weight = np.ones(len(y)) if problem.sample_weight is None else problem.sample_weight
    groups = np.zeros(len(y), np.int64) if problem.groups is None else problem.groups
    order = np.lexsort((groups, weight, y, *X.T[::-1]))
    order = order[weight[order] > 0]
    is_same = np.append(False, (X[order[1:]] == X[order[:-1]]).all(axis=1))
    is_copy = is_same & np.append(False, y[order[1:]] == y[order[:-1]])
    n_copies = int(is_copy.sum()) if are_copies(is_same, is_copy, y[order]) else 0
    if n_copies:
        order = order[~is_copy]
    if len(order) > NOISE_ROWS:
        order = order[np.sort(np.random.default_rng(seed).permutation(len(order))[:NOISE_ROWS])]
    return order, n_copies


def are_copies(is_same: Bools, is_copy: Bools, y: Floats) -> bool:
    """Tell whether rows that equal the one before them, y included, were copied rather than measured again.

    Measured again, a number with many values hardly ever comes out the same. One with few values may, but then some
    rows of equal features differ in it, unless there is next to no noise; and designs measure a place often.
    """
    n_same, n_copies = int(is_same.sum()), int(is_copy.sum())
    if not n_copies or n_copies == len(y) - 1:
        return False
    n_places = int(np.count_nonzero(is_same[1:] & ~is_same[:-1]))
    if n_same + n_places > MOST_COPIES * n_places:
        return False
    shares = np.unique(y, return_counts=True)[1] / len(y)
    by_chance = float(shares @ shares)
    agree = n_copies / n_same
    odds = (n_copies + 0.5) / (n_same - n_copies + 0.5)
    return odds > AGREE_MORE * by_chance / (1.0 - by_chance) and (agree > NEARLY_ALL or by_chance < RARELY)


def _points(problem: Problem) -> tuple[Floats, Ints]:
    """Return the points that distances are taken between, and the column of X that each of theirs stands for.

    A nominal column of many levels has a column for each of them. What was computed from the target of other rows is
    left out: it would carry their noise along.
    """
    X = problem.X
    if problem.tabular is None:
        return X, np.arange(X.shape[1])
    own = np.ones(X.shape[1], bool)
    parts, stands_for = [], []
    room = MOST_LEVEL_COLUMNS
    for column, first, last in problem.tabular.from_labels:
        codes = problem.tabular.values[:, column]
        levels, counts = np.unique(codes[~np.isnan(codes)], return_counts=True)
        often = levels[np.argsort(-counts, kind="stable")][: min(room, int(np.count_nonzero(counts > 1)))]
        if len(often):
            own[first:last] = False
            parts.append((codes[:, np.newaxis] == often).astype(np.float64))
            stands_for.append(np.full(len(often), first))
            room -= len(often)
    return np.hstack([X[:, own], *parts]), np.concatenate([np.flatnonzero(own), *stands_for])


def standard_columns(X: Floats) -> tuple[Floats, Floats]:
    """Return columns of mean 0 and variance 1, and which ones are constant and stay 0.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Finite numbers of any size.

    Returns
    -------
    Z : ndarray of shape (n, d)
    is_constant : ndarray of shape (d,), bool
    """
    low, high = X.min(axis=0), X.max(axis=0)
    half = 0.5 * high - 0.5 * low
    is_constant = half == 0.0
    unit = (0.5 * X - 0.5 * (0.5 * low + 0.5 * high)) / np.where(is_constant, 1.0, half)  # within [-1, 1] at any size
    unit -= unit.mean(axis=0)
    spread = unit.std(axis=0)
    return np.where(is_constant, 0.0, unit / np.where(spread > 0, spread, 1.0)), is_constant


def _edges(forests: Forests, part: SmoothPart, problem: Problem) -> EdgeDifferences:
    """Return the edges that count: all, or those between groups."""
    i, j = forests.edges.T
    kept = kept_share(part, i, j)
    n = len(part.residual)
    places, groups = forests.sites, None
    weight = np.ones(len(i))
    chosen = np.ones(len(i), bool)
    if problem.groups is not None or problem.sample_weight is not None:
        places = np.arange(n)  # rows of equal values differ in what they count
    if problem.groups is not None:
        groups = in_order_of_appearance(problem.groups)
        chosen = problem.groups[i] != problem.groups[j]
    if problem.sample_weight is not None:
        weight = 0.5 * (problem.sample_weight[i] + problem.sample_weight[j])
    tree = np.unique(forests.tree[chosen], return_inverse=True)[1]
    typical = float(np.sqrt(2.0 * np.sum(part.scale**2))) or 1.0
    return EdgeDifferences(
        places[i][chosen],
        places[j][chosen],
        tree,
        forests.weights[chosen] / typical,
        np.maximum(kept, 1e-3)[chosen],
        weight[chosen],
        part.residual,
        places,
        groups,
    )


def _replicates(problem: Problem, points: Floats, target: Floats) -> Replicates:
    """Measure the variance among rows of equal features; none where rows of a group may have more in common."""
    if problem.groups is not None or problem.sample_weight is not None:
        return Replicates(np.nan, np.nan, 0)
    place = np.unique(points, axis=0, return_inverse=True)[1]
    count = np.bincount(place)
    freedom = int(len(place) - len(count))
    if freedom == 0:
        return Replicates(np.nan, np.nan, 0)
    mean = np.bincount(place, target) / count
    size = count[place]
    inflated = (target - mean[place])[size > 1] ** 2 * (size / np.maximum(size - 1, 1))[size > 1]
    shares = (1.0 - 1.0 / size)[size > 1]
    variance = float(inflated @ shares) / freedom
    terms = (inflated - variance) * shares
    # two rows of one place deviate from their mean by the same: sums over places, not over rows
    at_place = np.bincount(place[size > 1], terms)
    error = float(np.sqrt(max(float(at_place @ at_place), 0.5 * variance**2 * freedom))) / freedom
    return Replicates(variance, error, freedom)


class NoiseFigures(NamedTuple):
    """The noise as a share of the variance of y, and what it is made of."""

    noise: float
    interval: Range
    share_interval: Range
    variance: float
    differences: Floats
    lengths: Floats
    slope_z: float
    long_share: float


def estimate_noise(
    edges: EdgeDifferences,
    part: SmoothPart,
    y: Floats,
    weight: Floats | None,
    replicates: Replicates,
    confidence: float,
) -> NoiseFigures:
    """Put residuals and their differences together.

    Parameters
    ----------
    edges : EdgeDifferences
        Differences of residuals over edges.
    part : SmoothPart
        The smoother.
    y : ndarray of shape (n,)
        The target, of mean 0 and variance 1.
    weight : ndarray of shape (n,) or None
        What each row counts.
    replicates : Replicates
        The variance of replicates.
    confidence : float
        Level of the intervals.

    Returns
    -------
    NoiseFigures
        Shares of the variance of y.
    """
    n = len(y)
    row_weight = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()
    mean = float(row_weight @ y)
    variance = float(row_weight @ (y - mean) ** 2)
    unused = max(n - part.freedom, 1.0) / n
    squares = part.residual**2 / unused
    left = float(row_weight @ squares)
    if not edges.n_trees:  # nothing joins two groups
        nothing = np.empty(0)
        return NoiseFigures(left, (0.0, np.inf), (0.0, np.inf), variance, nothing, nothing, 0.0, 1.0)

    level, length, share = edges.tree_means()
    pooled = share / share.sum()
    rise, by_length = _line(length)
    by_square = _line(length**2)[1]
    at_zero = 0.5 * (by_length + by_square)
    rise_z = _ratio(float(rise @ level), _error(edges, rise, level))
    shrink = max(0.0, 1.0 - (CLEAR_SLOPE / rise_z) ** 2) if rise_z > 0 else 0.0
    excess_z = _ratio(left / max(float(pooled @ level), 1e-300) - 1.0, len(edges.tree) ** -0.5)
    of_rest = (1.0 - shrink) * 0.5 / (1.0 + max(0.0, 0.5 * excess_z) ** 2)
    of_trees = (1.0 - shrink - of_rest) * pooled + shrink * at_zero
    noise = max(of_rest * left + float(of_trees @ level), 0.0)

    spread = row_weight * ((y - mean) ** 2 - variance)
    of_spread = float(np.linalg.norm(np.bincount(edges.place, spread))) / variance  # rows of a place have the same f
    rest = of_rest * row_weight * (squares - left)
    z = float(ndtri(0.5 + 0.5 * confidence))
    base = (1.0 - of_rest) * float(pooled @ level) + of_rest * left
    to_line = (
        max(base - float(by_length @ level), 0.0) * min(max(rise_z, 0.0) / CLEAR_SLOPE, 1.0) ** 2 * (1.0 - 0.5 * shrink)
    )
    at_most = max(noise, (1.0 - shrink) * base + shrink * float(by_square @ level))
    too_long = min(max(2.0 * (float(length[0]) - LONG_EDGES), 0.0), 1.0)
    freedom = part.freedom / n
    open_below = min(2.0 * freedom + too_long, 1.0)
    ends = []
    for of_variance, total in ((0.0, 1.0), (noise / variance, variance)):
        error = _error(edges, of_trees, level, rest, of_variance * spread)
        # arms on the scale of the logarithm, unless the figure is as small as its error
        below = noise * np.exp(-z * max(error / noise, (0.5 / n) ** 0.5)) if noise > 0 else 0.0
        above = at_most * np.exp(z * max(error / at_most, (0.5 / n) ** 0.5)) if at_most > error else at_most + z * error
        low = below * (1.0 - open_below) - to_line
        high = above * (1.0 + freedom)
        low, high = _within_replicates(low, high, replicates, z, of_spread if of_variance else 0.0)
        ends.append((max(low, 0.0) / total, high / total))
    low, high = _within_replicates(0.0, np.inf, replicates, z, 0.0)
    noise = float(np.clip(noise, low, high))
    return NoiseFigures(noise, ends[0], ends[1], variance, level, length, rise_z, too_long)


def _within_replicates(low: float, high: float, replicates: Replicates, z: float, also: float) -> Range:
    """Return the part of an interval that replicates leave, with a relative error beside; theirs if none is left."""
    if replicates.freedom < ENOUGH_REPLICATES or replicates.variance <= 0.0:
        return float(low), float(high)
    wide = np.exp(z * np.hypot(replicates.error / replicates.variance, also))
    own_low, own_high = replicates.variance / wide, replicates.variance * wide
    if low > own_high or high < own_low:
        return float(own_low), float(own_high)
    return float(max(low, own_low)), float(min(high, own_high))


def _line(length: Floats) -> tuple[Floats, Floats]:
    """Return the coefficients of the means of the trees in the slope of the line through them, and at length zero."""
    if len(length) < 2 or np.ptp(length) <= 1e-9 * length.max():
        return np.zeros(len(length)), np.full(len(length), 1.0 / len(length))
    at_zero, rise = np.linalg.pinv(np.column_stack([np.ones(len(length)), length]))
    return rise, at_zero


def _ratio(value: float, error: float) -> float:
    return value / error if error > 0 else 0.0


def _error(
    edges: EdgeDifferences, coefficient: Floats, level: Floats, rows: Floats | None = None, spread: Floats | None = None
) -> float:
    """Return the standard error of a figure of trees, plus a sum over rows, less one that rows of a place share."""
    sums, squares = edges.row_terms(coefficient, level)
    total = float(sums @ sums) - squares
    if rows is not None and spread is not None:
        at = edges.by_unit(rows)
        total += float(at @ at + 2.0 * sums @ at)
        both, shared = sums + at, edges.by_unit(spread)
        if edges.groups is None:
            both, shared = (np.bincount(edges.place, each).astype(np.float64) for each in (both, shared))
        total += float(shared @ shared - 2.0 * both @ shared)
    return float(np.sqrt(max(total, 0.5 * squares, 0.0)))


def _findings(
    problem: Problem, forests: Forests, n_trees: int, n_copies: int, figures: NoiseFigures
) -> Iterator[Finding]:
    n_constant = int(np.count_nonzero(problem.X.min(axis=0) == problem.X.max(axis=0)))
    if n_constant:
        plural = "features are" if n_constant > 1 else "feature is"
        yield Finding("BF006", f"{n_constant} {plural} constant.", "They change nothing and can be dropped.")
    yield from find_unspanned(forests, n_trees)
    if figures.long_share > 0:
        yield Finding(
            "BF008",
            f"The {problem.X.shape[1]} features spread the {forests.n_samples} rows so far that even the shortest "
            "edges are nearly as long as any distance: differences over them say little about noise, and the lower "
            "end of the interval opens towards 0.",
            "Use regression_floor, drop features that cannot matter, or get more rows.",
        )
    if figures.slope_z > CLEAR_SLOPE:
        yield Finding(
            "BF063",
            "Differences grow with the length of the edges: y changes between neighbours, in steps or faster than the "
            "rows can show. The estimate is an extrapolation to length zero.",
            "More rows, or regression_floor, say more.",
        )
    if n_copies:
        yield Finding(
            "BF064",
            f"{counted(n_copies)} {'row is' if n_copies == 1 else 'rows are'} equal to another row in everything, the "
            "target included, and left out: copies are no second measurements.",
            "Find out where they come from: if they were measured anew, there is less noise than this.",
        )
