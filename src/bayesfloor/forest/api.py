"""The public functions of the engine: arguments are checked here, once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bayesfloor.data.labels import check_labels
from bayesfloor.data.points import check_points
from bayesfloor.data.prepared_table import points_of
from bayesfloor.forest import plan
from bayesfloor.forest.classes.class_forests import ClassForests, forests_of_classes
from bayesfloor.forest.gpu.backend import with_device
from bayesfloor.forest.gpu.device import host_array, on_device
from bayesfloor.forest.growing.classes import ClassGrowth
from bayesfloor.forest.growing.forests import ForestsOrigin, RowBuffer
from bayesfloor.forest.order.arrays import F64
from bayesfloor.forest.order.edges import Task
from bayesfloor.forest.order.points import rank_points
from bayesfloor.forest.partitions.dispatch import Request, bytes_for, forests_of_partitions, in_memory
from bayesfloor.forest.results import Forests, to_forests
from bayesfloor.forest.sweep.driver import device_for
from bayesfloor.forest.sweep.grow import grow
from bayesfloor.forest.sweep.tile_kernels import sweep_leaves
from bayesfloor.forest.sweep.tiling import choose_axes, tile_points
from bayesfloor.runtime.checks import check_n_trees, check_random_state_seed
from bayesfloor.runtime.kernels import is_compiled
from bayesfloor.runtime.limits import check_memory, check_n_jobs
from bayesfloor.runtime.threads import Crew, supervise
from bayesfloor.tables.arguments import prepared_points, table_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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
        Points. Distances are Euclidean, in float64. A path (`os.PathLike`) to a .npy or a Parquet file, and a
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
    X, tensor = host_array(points_of(X if table is None else table))
    source, X = X, in_memory(X, client, check_n_trees(n_trees))
    if X is None:
        return forests_of_partitions(source, client, device, _request(n_trees, random_state, n_jobs, progress))
    X, n_trees, seed, n_threads = _check(X, n_trees, random_state, n_jobs)
    _announce_compilation()

    def compute(crew: Crew, chosen: Any) -> Forests:
        crew.expect(len(X) ** 2 // 2)
        points = rank_points(X, crew)
        axes = choose_axes(points, plan.current().projection)
        task = with_device(Task.of(n_trees, seed, len(X)), points, axes, chosen, crew, tensor)
        n_sites = int(points.sites.max()) + 1
        light = n_sites > plan.current().all_pairs_below and device_for(task, n_sites**2) is not None
        tiled = tile_points(points, points.order, axes, crew, light=light)
        tiled, grown = grow(points, tiled, task, axes, crew, len(X) ** 2 // 2, light)
        return to_forests(
            *grown,
            row_of=tiled.copy_rows,
            sites=points.sites,
            exponent=points.exponent,
            n_trees_asked=n_trees,
            origin=ForestsOrigin(X, points.hashes, seed),
        )

    def run(chosen: Any) -> Any:
        return supervise(lambda crew: compute(crew, chosen), n_threads, progress)

    return on_device(device, X.shape, run)


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
    X, y = prepared_points(X, y)
    X, tensor = host_array(X)
    source, X = X, in_memory(X, client, check_n_trees(n_trees))
    if X is None:
        request = _request(n_trees, random_state, n_jobs, progress, lambda n: check_labels(y, n))
        return forests_of_partitions(source, client, device, request)
    X, n_trees, seed, n_threads = _check(X, n_trees, random_state, n_jobs)
    classes, codes = check_labels(y, len(X))
    _announce_compilation()

    def compute(crew: Crew, chosen: Any) -> ClassForests:
        points = rank_points(X, crew)
        axes = choose_axes(points, plan.current().projection)
        task = with_device(Task.of(n_trees, seed, len(X)), points, axes, chosen, crew, tensor)
        origin = ClassGrowth(axes, len(X), RowBuffer())
        return forests_of_classes(points, classes, codes, axes, task, crew, origin)

    def run(chosen: Any) -> Any:
        return supervise(lambda crew: compute(crew, chosen), n_threads, progress)

    return on_device(device, X.shape, run)


def _check(X: Any, n_trees: Any, random_state: Any, n_jobs: Any) -> tuple[F64, int, int, int]:
    X = check_points(X)
    n_trees = check_n_trees(n_trees)
    n, n_features = X.shape
    most_trees = min(n_trees, n - 1)
    what = f"the forests of {n} points in {n_features} dimensions, {n_trees} trees,"
    check_memory(bytes_for(n, n_features, most_trees), what)
    return X, n_trees, check_random_state_seed(random_state), check_n_jobs(n_jobs)


def _request(n_trees: Any, random_state: Any, n_jobs: Any, progress: Any, labels: Any = None) -> Request:
    return Request(
        check_n_trees(n_trees), check_random_state_seed(random_state), check_n_jobs(n_jobs), progress, labels
    )


_announced = False


def _announce_compilation() -> None:
    """Say, once and to a terminal only, that kernels are about to be compiled."""
    global _announced
    if _announced or not sys.stderr.isatty():
        return
    _announced = True
    if not is_compiled(sweep_leaves):
        print("bayesfloor: compiling kernels, once on this machine; this takes about a minute", file=sys.stderr)
