"""The public functions of the engine: arguments are checked here, once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesfloor.data.validation import (
    check_labels,
    check_memory,
    check_n_jobs,
    check_n_trees,
    check_points,
    check_random_state_seed,
)
from bayesfloor.forest import plan
from bayesfloor.forest.classes import ClassForests, forests_of_classes
from bayesfloor.forest.engine import Task, grow
from bayesfloor.forest.points import rank_points
from bayesfloor.forest.results import Forests, to_forests
from bayesfloor.forest.sides import F64
from bayesfloor.forest.sweep_kernels import sweep_leaves
from bayesfloor.forest.threads import Crew, supervise
from bayesfloor.forest.tiling import choose_axes, tile_points

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def spanning_forests(
    X: Any,
    *,
    n_trees: int = 3,
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: bool | Callable[[int, int], object] = False,
) -> Forests:
    """Compute the first edge-disjoint minimum spanning trees of a set of points, exactly.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        Points. Distances are Euclidean, in float64.
    n_trees : int, default=3
        How many trees. The second is the minimum spanning tree of what the first leaves, and so on.
    n_jobs : int or None, default=None
        Threads; None takes the cores it may use.
    random_state : int, None or random generator, default=0
        Seed for breaking ties between edges of equal length. Which way they fall depends on the points and the seed,
        never on the order of rows.
    progress : bool or callable, default=False
        True draws a bar on stderr when that is a terminal; a callable gets (done, total).

    Returns
    -------
    Forests

    Examples
    --------
    >>> import bayesfloor
    >>> forests = bayesfloor.spanning_forests([[0.0], [1.0], [3.0], [7.0]], n_trees=1)
    >>> forests.edges.tolist(), forests.weights.tolist()
    ([[0, 1], [1, 2], [2, 3]], [1.0, 2.0, 4.0])
    """
    X, n_trees, seed, n_threads = _check(X, n_trees, random_state, n_jobs)
    _announce_compilation()

    def compute(crew: Crew) -> Forests:
        crew.expect(len(X) ** 2 // 2)
        points = rank_points(X)
        axes = choose_axes(points, plan.current().projection)
        tiled = tile_points(points, points.order, axes, crew)
        tiled, grown = grow(points, tiled, Task.of(n_trees, seed, len(X)), axes, crew, len(X) ** 2 // 2)
        return to_forests(
            *grown, row_of=tiled.copy_rows, sites=points.sites, exponent=points.exponent, n_trees_asked=n_trees
        )

    return supervise(compute, n_threads, progress)


def class_forests(
    X: Any,
    y: ArrayLike,
    *,
    n_trees: int = 3,
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: bool | Callable[[int, int], object] = False,
) -> ClassForests:
    """Compute the forests of every pair of classes, and of the whole set, in one pass.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        Points.
    y : array-like of shape (n_points,)
        Labels of at least two classes, of any one sortable type.
    n_trees, n_jobs, random_state, progress
        As for `spanning_forests`.

    Returns
    -------
    ClassForests

    Examples
    --------
    >>> import bayesfloor
    >>> forests = bayesfloor.class_forests([[0.0], [1.0], [3.0], [7.0]], ["a", "a", "b", "b"], n_trees=1)
    >>> forests.pair_cross_counts[0].tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    X, n_trees, seed, n_threads = _check(X, n_trees, random_state, n_jobs)
    classes, codes = check_labels(y, len(X))
    _announce_compilation()

    def compute(crew: Crew) -> ClassForests:
        points = rank_points(X)
        axes = choose_axes(points, plan.current().projection)
        return forests_of_classes(points, classes, codes, axes, Task.of(n_trees, seed, len(X)), crew)

    return supervise(compute, n_threads, progress)


def _check(X: Any, n_trees: Any, random_state: Any, n_jobs: Any) -> tuple[F64, int, int, int]:
    X = check_points(X)
    n_trees = check_n_trees(n_trees)
    n, n_features = X.shape
    most_trees = min(n_trees, n - 1)
    per_point = 3 * 8 * n_features + most_trees * 200 + 600
    check_memory(n * per_point, f"the forests of {n} points in {n_features} dimensions, {n_trees} trees,")
    return X, n_trees, check_random_state_seed(random_state), check_n_jobs(n_jobs)


_announced = False


def _announce_compilation() -> None:
    """Say, once and to a terminal only, that kernels are about to be compiled."""
    global _announced
    if _announced or not sys.stderr.isatty():
        return
    _announced = True
    cache = Path(str(sweep_leaves.stats.cache_path))
    if not sweep_leaves.signatures and not any(cache.glob("sweep_kernels.sweep_leaves-*.nbi")):
        print("bayesfloor: compiling kernels, once on this machine; this takes about a minute", file=sys.stderr)
