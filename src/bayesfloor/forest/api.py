"""The public functions of the engine: arguments are checked here, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayesfloor.data.labels import check_labels
from bayesfloor.data.points import check_points, host_array
from bayesfloor.data.prepared_table import points_of
from bayesfloor.forest import plan
from bayesfloor.forest.classes.class_forests import ClassForests, forests_of_classes, rows_by_class
from bayesfloor.forest.classes.pair_kernels import join_block
from bayesfloor.forest.gpu.device import on_device
from bayesfloor.forest.gpu.engine import rank_for
from bayesfloor.forest.gpu.rows import Resident, resident
from bayesfloor.forest.order.arrays import F64
from bayesfloor.forest.order.edges import Ends, Task
from bayesfloor.forest.partitions.dispatch import Request, bytes_for, forests_of_partitions, in_memory
from bayesfloor.forest.results import Forests, to_forests
from bayesfloor.forest.sweep.boruvka import grow_in_rounds, suits_rounds
from bayesfloor.forest.sweep.grow import grow, only_for_device
from bayesfloor.forest.sweep.search_kernels import search_strangers
from bayesfloor.forest.sweep.tile_kernels import sweep_leaves
from bayesfloor.forest.sweep.tiling import bare_tile, choose_axes, own_axes, tile_points
from bayesfloor.runtime.checks import check_n_trees, check_random_state_seed
from bayesfloor.runtime.frames import like_input
from bayesfloor.runtime.kernels import spare_compilation
from bayesfloor.runtime.limits import check_memory, check_n_jobs
from bayesfloor.runtime.threads import WorkerPool, supervise
from bayesfloor.tables.arguments import prepared_points, table_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

T = TypeVar("T")


@like_input
def spanning_forests(
    X: Any,
    *,
    n_trees: int = 3,
    n_jobs: int | None = None,
    device: Any = "auto",
    random_state: Any = 0,
    progress: bool | Callable[[int, int], object] = False,
    client: Any = None,
) -> Forests:
    """Compute the first edge-disjoint minimum spanning trees of a set of points, exactly.

    Parameters
    ----------
    X : array-like, Table, path or Dask collection of shape (n_samples, n_features)
        Points. Distances are computed in float64. The path of a .npy or a Parquet file, and a
        `numpy.memmap`, may be larger than memory: they are read some rows at a time, and sorted into blocks in the
        folder for temporary files. A Dask array or data frame is computed by the workers of its cluster.
    n_trees : int, default=3
        How many trees. The second is the minimum spanning tree of what the first leaves, and so on.
    n_jobs : int or None, default=None
        Threads; None takes the cores it may use. On a cluster the workers' own threads count.
    device : {"auto", "cpu", "cuda"} or torch.device, default="auto"
        Where distances are computed. "auto" takes a GPU where torch finds one and the work is worth it, and goes on on
        the CPU when its memory runs out; the result is the same.
    random_state : int, None or random generator, default=0
        Seed for breaking ties between edges of equal length. Which way they fall depends on the points and the seed,
        never on the order of rows.
    progress : bool or callable, default=False
        True draws a bar on stderr when that is a terminal; a callable gets (done, total).
    client : dask.distributed.Client or None, default=None
        Compute on the workers of this cluster, with the same result. A file is then read by the workers, and has to
        be where they see it. None computes here, unless X is a Dask collection, which goes to its default client.

    Returns
    -------
    Forests

    Raises
    ------
    ValueError
        For X that is no finite array of numbers, or has rows that differ only in values below 1e-274 of its largest
        one.
    ConnectionError
        When the cluster's scheduler is gone, or does not answer.

    Examples
    --------
    >>> import bayesfloor
    >>> forests = bayesfloor.spanning_forests([[0.0], [1.0], [3.0], [7.0]], n_trees=1)
    >>> forests.edges.tolist(), forests.weights.tolist()
    ([[0, 1], [1, 2], [2, 3]], [1.0, 2.0, 4.0])
    """
    table = table_of(X)
    X = points_of(X if table is None else table)
    X = resident(X, device) or host_array(X)
    source, X = X, in_memory(X, client, check_n_trees(n_trees))
    request = Request(n_trees, check_random_state_seed(random_state), check_n_jobs(n_jobs), progress)
    if X is None:
        return forests_of_partitions(source, client, device, request)
    X = _check(X, n_trees)

    def compute(pool: WorkerPool, chosen: Any) -> Forests:
        pool.expect(len(X) ** 2 // 2)
        points, engine = rank_for(X, chosen, pool)
        task = Task.of(n_trees, request.seed, len(X), engine)
        amount = len(X) ** 2 // 2
        if suits_rounds(len(X), X.shape[1], points.most_copies, task):
            grown = grow_in_rounds(points.X, Ends(points.hashes, points.ranks), task, pool, amount)
            return to_forests(grown, np.arange(len(X), dtype=np.int32), points, n_trees)
        if only_for_device(points, [points.order], task):
            tiled, axes = bare_tile(points, points.order), own_axes(points.extent, X.shape[1])
        else:
            axes = choose_axes(points, plan.current().projection)
            tiled = tile_points(points, points.order, axes, pool)
        tiled, grown = grow(points, tiled, task, axes, pool, amount)
        return to_forests(grown, tiled.copy_rows, points, n_trees)

    by_rounds = X.shape[1] <= plan.current().most_axes_of_rounds
    with spare_compilation(plain_seconds(X), search_strangers if by_rounds else sweep_leaves):
        return _run(compute, X, device, request)


@like_input
def class_forests(
    X: Any,
    y: ArrayLike | None = None,
    *,
    n_trees: int = 3,
    n_jobs: int | None = None,
    device: Any = "auto",
    random_state: Any = 0,
    progress: bool | Callable[[int, int], object] = False,
    client: Any = None,
) -> ClassForests:
    """Compute the forests of every pair of classes, and of the whole set, in one pass.

    Parameters
    ----------
    X : array-like, path or Dask collection of shape (n_samples, n_features), or Table
        Points, as for `spanning_forests`. A `Table` from `read_table` has its labels with it.
    y : array-like of shape (n_samples,), default=None
        Labels of at least two classes, of any one sortable type; left out with a Table.
    n_trees, n_jobs, device, random_state, progress, client
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
    X, y = prepared_points(X, y, by_rows=True)
    X = resident(X, device) or host_array(X)
    source, X = X, in_memory(X, client, check_n_trees(n_trees))
    seed, n_threads = check_random_state_seed(random_state), check_n_jobs(n_jobs)
    request = Request(n_trees, seed, n_threads, progress, lambda n: check_labels(y, n))
    if X is None:
        return forests_of_partitions(source, client, device, request)
    X = _check(X, n_trees)
    classes, codes = check_labels(y, len(X))

    def compute(pool: WorkerPool, chosen: Any) -> ClassForests:
        points, engine = rank_for(X, chosen, pool)
        task = Task.of(n_trees, seed, len(X), engine)
        is_bare = only_for_device(points, rows_by_class(points, codes, len(classes)), task)
        axes = own_axes(points.extent, X.shape[1]) if is_bare else choose_axes(points, plan.current().projection)
        return forests_of_classes(points, classes, codes, axes, task, pool)

    with spare_compilation(plain_seconds(X, len(classes)), join_block):
        return _run(compute, X, device, request)


def _run(compute: Callable[[WorkerPool, Any], T], X: Any, device: Any, request: Request) -> T:
    """Have a pool compute on the device that is chosen, where the calling thread only waits."""

    def run(chosen: Any) -> T:
        return supervise(lambda pool: compute(pool, chosen), request.n_threads, request.progress)

    return on_device(device, X.shape, run)


def _check(X: Any, n_trees: int) -> Any:
    """Check points, and whether there is memory for their forests."""
    X = X if isinstance(X, Resident) else check_points(X)
    n, n_features = X.shape
    most_trees = min(n_trees, n - 1)
    what = f"the forests of {n} points in {n_features} dimensions, {n_trees} trees,"
    check_memory(bytes_for(n, n_features, most_trees), what)
    return X


def plain_seconds(X: F64 | Resident, n_classes: int = 1) -> float:
    """Estimate how long all edges take as candidates, without kernels: to measure, to sort and to walk them."""
    n, n_features = X.shape
    return n * n / 2 * (6e-9 * n_features + 1e-6) + 0.01 * n_classes**2
