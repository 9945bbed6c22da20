"""Random small cases of forests, each computed in some way and compared with the naive reference.

A case is drawn from a seed and its number, which decide everything: points, the type they are passed as, labels, the
engine's settings, and the way the forests are computed. `differences` computes them and names what is not equal to
`naive_forests`, edge by edge and to the last bit of a length.

What a case is made of stands in tables, so that a new kind of points, type of input or way is one line:

===============  =============================================================================
`KINDS`          points, of `point_sets` and of this file
`INPUTS`         what is passed as X, and the values that it stands for
`WAYS`           how forests are computed, and how often
`SETTINGS`       settings of the engine (`forest.plan`), small, so that few points take every path
`LIMITS`         constants of the engine that are lowered for the same reason
===============  =============================================================================
"""

import contextlib
import itertools
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars
import scipy.sparse

from bayesfloor import class_forests, spanning_forests
from bayesfloor.forest import api, plan
from bayesfloor.forest.classes import class_forests as classes_at_once
from bayesfloor.forest.classes import joining
from bayesfloor.forest.gpu import rows as device_rows
from bayesfloor.forest.gpu import sweep as device_sweep
from bayesfloor.forest.partitions import chunks, dispatch, graph
from bayesfloor.forest.sweep import boruvka, driver
from bayesfloor.runtime import cluster, settings
from bayesfloor.runtime.kernels import plainly
from helpers import point_sets
from helpers.naive_forests import naive_cross_counts, naive_forests

# ----------------------------------------------------------------------------------------------------------- points


def star(rng, n, d):
    """Rays from one point, rows at whole steps along each: a hub whose edges all tie."""
    rays = np.vstack([np.eye(d), -np.eye(d)])
    X = rays[rng.integers(0, len(rays), n)] * rng.integers(1, max(2, n // 8), n)[:, None]
    X[0] = 0
    return X


def full_lattice(rng, n, d):
    """All points of a lattice, shuffled, and a few again."""
    side = max(2, int(np.ceil(n ** (1 / d)))) if d < 9 else 2
    places = rng.permutation(side ** min(d, 9))
    digits = places[np.arange(n) % len(places), None] // side ** np.arange(min(d, 9)) % side
    return np.pad(digits.astype(float), ((0, 0), (0, d - digits.shape[1])))


def whole_steps_on_a_line(rng, n, d):
    """Collinear, with ties and copies."""
    return np.outer(rng.integers(0, n, n), rng.integers(-3, 4, d)).astype(float)


def last_bits(rng, n, d):
    """Ties but for an ulp or two."""
    return rng.integers(0, 3, (n, d)) + rng.integers(-2, 3, (n, d)) * 2.0**-50


def nested_clusters(rng, n, d):
    """Clusters within clusters, each level a thousand times tighter."""
    X = np.zeros((n, d))
    for level in range(4):
        X += 1e-3**level * rng.standard_normal((4, d))[rng.integers(0, 4, n)]
    return X


def few_axes(rng, n, d):
    """Nearly all spread along a few axes, so that distances in these come first."""
    return rng.standard_normal((n, d)) * np.where(np.arange(d) < 3, 10.0, 0.1)


def signed_units(rng, n, d):
    """Unit vectors, their negatives and zeros of either sign."""
    return np.eye(d)[rng.integers(0, d, n)] * rng.choice([1.0, -1.0, -0.0], (n, 1))


KINDS = [
    *point_sets.KINDS.values(),
    star,
    full_lattice,
    whole_steps_on_a_line,
    last_bits,
    nested_clusters,
    few_axes,
    signed_units,
]


def magnitudes(rng, n, d):
    """Powers of ten that differ by row, by column or by number: many of them, or three."""
    shape = [(n, 1), (1, d), (n, d)][rng.integers(3)]
    powers = rng.integers(-110, 111, shape) if rng.random() < 0.5 else rng.choice([-110, 0, 110], shape)
    return 10.0**powers


def draw_points(rng, n, d):
    """Points of some kind, sometimes copied, shaken, far from zero, of many magnitudes, or at an extreme scale."""
    kind = KINDS[rng.integers(len(KINDS))]
    X = kind(rng, n, d)
    if rng.random() < 0.25:
        X = X[rng.integers(0, rng.integers(1, n + 1), n)]
    if rng.random() < 0.1:
        X = X + 1e-10 * rng.standard_normal((n, d))
    if rng.random() < 0.15:
        X = X + rng.choice([1e8, -1e6, 1e3])
    if rng.random() < 0.12:
        X = X * magnitudes(rng, n, d)
    elif rng.random() < 0.2:
        X = X * rng.choice([1e-250, 1e-150, 1e-60, 1e75, 1e150, 1e150, 1e-150])
        if not np.isfinite(X).all() or np.abs(X).max() > 1e300:
            X = kind(rng, n, d)
    return kind.__name__, np.ascontiguousarray(X)


# ------------------------------------------------------------------------------------------------------------ input


@dataclass(frozen=True)
class Input:
    """A type of X: makes one of an array, in a folder, and says whether it can hold its values."""

    make: Callable[[np.ndarray, Path], Any]
    values: Callable[[np.ndarray], np.ndarray] = lambda X: X  # what becomes of an array in this type
    holds: Callable[[np.ndarray], bool] = lambda X: True
    needs: str = "numpy"  # to be installed


def below(limit):
    return lambda X: bool(np.abs(X).max() < limit)


def saved(array, folder, name="X.npy"):
    np.save(folder / name, array)
    return folder / name


def as_parquet(X, folder):
    polars_frame(X).write_parquet(folder / "X.parquet", row_group_size=17)
    return folder / "X.parquet"


def polars_frame(X, folder=None):
    return polars.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])])


def pandas_frame(X, folder=None):
    import pandas

    return pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])], index=np.arange(len(X))[::-1])


def tensor(array, folder=None):
    import torch

    return torch.from_numpy(np.array(array))


def read_only(X, folder):
    X = X.copy()
    X.flags.writeable = False
    return X


def unaligned(X, folder):
    whole = np.zeros(X.nbytes + 1, np.uint8)
    out = np.frombuffer(whole.data, np.float64, X.size, offset=1).reshape(X.shape)
    out[:] = X
    return out


def column_by_column(X, folder):
    """A frame whose columns have types of their own."""
    whole = (np.rint(X) == X) & (np.abs(X) < 2**31)
    columns = {f"x{j}": X[:, j].astype(np.int32) if whole[:, j].all() else X[:, j] for j in range(X.shape[1])}
    return polars.DataFrame(columns)


def halves(X):
    return np.median(X, axis=0) < X


INPUTS = {
    "array": Input(lambda X, _: X),
    "list": Input(lambda X, _: X.tolist()),
    "list of arrays": Input(lambda X, _: list(X)),
    "float32": Input(lambda X, _: X.astype(np.float32), lambda X: X.astype(np.float32).astype(np.float64), below(1e37)),
    "float16": Input(lambda X, _: X.astype(np.float16), lambda X: X.astype(np.float16).astype(np.float64), below(6e4)),
    "int64": Input(lambda X, _: np.rint(X).astype(np.int64), np.rint, below(2**53)),
    "int8": Input(lambda X, _: np.rint(X).astype(np.int8), np.rint, below(127)),
    "uint16": Input(lambda X, _: np.rint(np.abs(X)).astype(np.uint16), lambda X: np.rint(np.abs(X)), below(2**16 - 1)),
    "bool": Input(lambda X, _: halves(X), lambda X: halves(X).astype(np.float64)),
    "objects": Input(lambda X, _: X.astype(object)),
    "other byte order": Input(lambda X, _: X.astype(X.dtype.newbyteorder())),
    "Fortran order": Input(lambda X, _: np.asfortranarray(X)),
    "every other row": Input(lambda X, _: np.repeat(X, 2, axis=0)[::2]),
    "some columns": Input(lambda X, _: np.hstack([X, X + 1.0])[:, : X.shape[1]]),
    "from the end": Input(lambda X, _: X[::-1, ::-1].copy()[::-1, ::-1]),
    "read-only": Input(read_only),
    "unaligned": Input(unaligned),
    "masked array": Input(lambda X, _: np.ma.MaskedArray(X)),
    "memory map": Input(lambda X, folder: np.load(saved(X, folder), mmap_mode="r")),
    "part of a memory map": Input(lambda X, folder: np.load(saved(np.vstack([X[:1], X]), folder), mmap_mode="r")[1:]),
    "npy": Input(saved),
    "npy, Fortran order": Input(lambda X, folder: saved(np.asfortranarray(X), folder)),
    "npy, float32": Input(
        lambda X, folder: saved(X.astype(np.float32), folder),
        lambda X: X.astype(np.float32).astype(np.float64),
        below(1e37),
    ),
    "Parquet": Input(as_parquet),
    "csr": Input(lambda X, _: scipy.sparse.csr_array(X)),
    "csc": Input(lambda X, _: scipy.sparse.csc_matrix(X)),
    "coo": Input(lambda X, _: scipy.sparse.coo_array(X)),
    "polars": Input(polars_frame),
    "polars, columns of several types": Input(column_by_column),
    "pandas": Input(pandas_frame, needs="pandas"),
    "pyarrow": Input(lambda X, _: polars_frame(X).to_arrow(), needs="pyarrow"),
    "tensor": Input(tensor, needs="torch"),
    "tensor, float32": Input(
        lambda X, _: tensor(X.astype(np.float32)),
        lambda X: X.astype(np.float32).astype(np.float64),
        below(1e37),
        needs="torch",
    ),
    "tensor, transposed": Input(lambda X, _: tensor(X.T).T, needs="torch"),
}
FILES = ("npy", "npy, Fortran order", "npy, float32", "Parquet", "memory map", "part of a memory map")


@cache
def is_installed(package):
    return find_spec(package) is not None


def chunked_array(X, rng):
    """A Dask array in random chunks."""
    import dask.array

    cuts = [np.diff([0, *np.sort(rng.integers(0, size + 1, rng.integers(0, 5))), size]) for size in X.shape]
    return dask.array.from_array(X, chunks=tuple(tuple(own[own > 0].tolist()) for own in cuts))


def chunked_frame(X, rng):
    """A Dask data frame in random partitions, of which nothing is known."""
    import dask.dataframe

    frame = pandas_frame(X).reset_index(drop=True)
    frame = dask.dataframe.from_pandas(frame, npartitions=int(rng.integers(1, 6)))
    return frame[frame["x0"] == frame["x0"]]


# --------------------------------------------------------------------------------------------------------- settings

SETTINGS = (
    {},
    {"most_axes_of_rounds": 0},
    {"tile_size": 2, "most_axes_of_rounds": 0},
    {"tile_size": 5, "near_tiles": 1, "most_axes_of_rounds": 0},
    {"tile_size": 7, "projection": "none", "most_axes_of_rounds": 0},
    {"buffer_edges": 1, "tile_size": 3, "most_axes_of_rounds": 0},
    {"survivors_per_point": 0.01, "buffer_edges": 16, "tile_size": 8, "most_axes_of_rounds": 0},
    {"projection": "pca", "kernel": "products", "tile_size": 4},
    {"projection": "none", "kernel": "differences", "tile_size": 16},
    {"projection": "pca"},
    {"kernel": "products", "survivors_per_point": 0.1},
)

# (module, constant, low value), or a field of `settings.Limits`: drawn one by one
LIMITS = (
    (settings, "task_edges", 100),
    (settings, "device_points", 0),
    (joining, "SMALL_BLOCK", 9),
    (joining, "LARGE_BLOCK", 100),
    (joining, "AT_ONCE", 50),
    (joining, "MANY_AXES", 2),
    (classes_at_once, "MANY_EDGES", 30),
    (driver, "SMALL_CHUNK", 64),
    (boruvka, "LEAF", 2),
    (boruvka, "NEAR", 0),
    (boruvka, "MOST_COPIES", 1),
    (boruvka, "SEARCHING", 0.0),
    (boruvka, "SETTLED", 2.0),
    (graph, "FAN_IN", 2),
    (device_sweep, "MANY_EDGES", 10),
    (device_sweep, "ONE_CHUNK", 0),
    (device_sweep, "CHUNK", 1),
    (device_sweep, "CAPACITY", 128**2),
    (device_sweep, "MANY", 10),
)


# ------------------------------------------------------------------------------------------------------------ cases


@dataclass(frozen=True, eq=False)
class Case:
    """Points, how they are passed, and how the forests are computed."""

    seed: int
    number: int
    kind: str
    X: np.ndarray  # as drawn; `values` is what the input makes of it
    input: str
    way: str
    y: np.ndarray | None  # None for the forests of all rows alone
    n_trees: int
    random_state: int
    n_jobs: int
    settings: dict[str, Any]
    limits: tuple[tuple[Any, str, int], ...]

    @property
    def values(self):
        """The points that the input stands for."""
        return np.ascontiguousarray(INPUTS[self.input].values(self.X), np.float64)

    def rng(self):
        """Draws what is decided while the case is run."""
        return np.random.default_rng([self.seed, self.number, 1])

    def __str__(self):
        sizes = None if self.y is None else np.unique(self.y, return_counts=True)[1].tolist()
        limits = [f"{module.__name__.rsplit('.')[-1]}.{name} = {value}" for module, name, value in self.limits]
        return (
            f"{self.way} of {self.kind} {self.X.shape} as {self.input}, classes {sizes}, {self.n_trees} trees, "
            f"random_state {self.random_state}, {self.n_jobs} threads, {self.settings}, "
            f"{', '.join(limits) or 'no limits'}"
        )


def draw_case(seed, number, ways=None):
    """Draw a case; its number and the seed decide everything."""
    rng = np.random.default_rng([seed, number])
    names = list(WAYS if ways is None else ways)
    shares = np.array([WAYS[name].share for name in names])
    way = names[rng.choice(len(names), p=shares / shares.sum())]
    n = int(rng.integers(2, rng.choice([10, 40, 90, 150, 290, 600], p=[0.3, 0.45, 0.15, 0.07, 0.027, 0.003])))
    if rng.random() < 0.05:  # around the limits of the engine
        n = int(rng.choice([16, 32, 33, 64, 65])) if rng.random() < 0.9 else int(rng.choice([128, 192, 200, 201]))
    d = int(rng.choice([1, 2, 3, 4, 5, 9, 20, 40, 110], p=[0.15, 0.2, 0.2, 0.1, 0.1, 0.1, 0.08, 0.05, 0.02]))
    kind, X = draw_points(rng, n, d)
    y = draw_labels(rng, X) if WAYS[way].labels == "always" or rng.random() < 0.5 else None
    if WAYS[way].labels == "never" or n < 3:
        y = None if WAYS[way].labels != "always" else np.arange(n) % 2
    inputs = [name for name in WAYS[way].inputs if INPUTS[name].holds(X) and is_installed(INPUTS[name].needs)]
    input_ = inputs[rng.integers(len(inputs))] if rng.random() < 0.7 or "array" not in inputs else "array"
    settings = dict(SETTINGS[rng.integers(len(SETTINGS))])
    if rng.random() < 0.7:
        settings["all_pairs_below"] = int(rng.choice([0, 2, 20]))
    if WAYS[way].in_partitions:  # about six at most: what many more cost is tasks, not cases
        settings["partition_rows"] = int(rng.integers(max(1, n // 6), n + 1))
    if way.startswith("device"):
        settings["device_pairs"] = 1
    limits = tuple(limit for limit in LIMITS if rng.random() < 0.5)
    n_trees = int(rng.choice([1, 2, 3, 4, 7, 40], p=[0.25, 0.2, 0.35, 0.15, 0.04, 0.01]))
    random_state = int(rng.choice([0, 5, 2**63 - 1]))
    n_jobs = int(rng.integers(1, 3))
    return Case(seed, number, kind, X, input_, way, y, n_trees, random_state, n_jobs, settings, limits)


def draw_labels(rng, X):
    """Labels of two to six classes, equally frequent as each other or not, at random, sorted or along the points."""
    n = len(X)
    n_classes = min(n, int(rng.choice([2, 3, 4, 6], p=[0.4, 0.4, 0.15, 0.05])))
    y = rng.choice(n_classes, n, p=rng.dirichlet(np.full(n_classes, rng.choice([0.3, 1.0, 10.0]))))
    y[rng.permutation(n)[:n_classes]] = np.arange(n_classes)
    drawn = rng.random()
    if drawn < 0.2:
        y = np.sort(y)
    elif drawn < 0.5:
        y[np.lexsort(X.T)] = np.sort(y)
    return y


# ------------------------------------------------------------------------------------------------------------- ways


@dataclass(frozen=True)
class Way:
    """How forests are computed."""

    compute: Callable[[Case, Any, Path], Any]  # of a case, what its input made of X, and a folder
    share: float
    labels: str = "never"
    inputs: tuple[str, ...] = tuple(INPUTS)
    in_partitions: bool = False


def forests_of(case, X, **arguments):
    """The forests of all rows, or of classes where the case has labels."""
    arguments = {"n_trees": case.n_trees, "random_state": case.random_state, "n_jobs": case.n_jobs} | arguments
    if case.y is None:
        return spanning_forests(X, **arguments)
    return class_forests(X, case.y, **arguments)


def at_once(case, X, folder):
    return forests_of(case, X)


def without_kernels(case, X, folder):
    with plainly():
        return forests_of(case, X)


def by_torch(case, X, folder):
    import torch

    def of_any_tensor(X, device):
        return device_rows.of_tensor(X) if isinstance(X, torch.Tensor) else None

    with mock.patch.object(api, "resident", of_any_tensor):  # a tensor of the CPU stands for one on a GPU
        return forests_of(case, X, device=torch.device("cpu"))


def in_tasks(case, X, folder):
    with tasks_here(case) as client:
        return forests_of(case, X, client=client)


def in_tasks_of_a_collection(case, X, folder):
    rng = case.rng()
    make = chunked_array if rng.random() < 0.7 or not is_installed("pandas") else chunked_frame
    with tasks_here(case) as client:
        return forests_of(case, make(X, rng), client=client)


def on_a_cluster(case, X, folder):
    rng = case.rng()
    if rng.random() < 0.5 and isinstance(X, np.ndarray):
        X = chunked_array(X, rng)
    return forests_of(case, X, client=local_client())


MEMORY = tuple(name for name in INPUTS if name not in FILES)
SENT = ("array", "float32", "int8", "Fortran order", "csr", "pandas", *FILES)  # to a cluster
WAYS = {
    "at once": Way(at_once, 0.30),
    "classes": Way(at_once, 0.14, "always"),
    "without kernels": Way(without_kernels, 0.05),
    "classes without kernels": Way(without_kernels, 0.03, "always"),
    "out of core": Way(at_once, 0.05, "maybe", inputs=FILES, in_partitions=True),
    "tasks": Way(in_tasks, 0.05, "maybe", inputs=SENT, in_partitions=True),
    "tasks of a collection": Way(in_tasks_of_a_collection, 0.015, "maybe", ("array",), in_partitions=True),
    "device": Way(by_torch, 0.04, inputs=("array", "tensor", "tensor, float32")),
    "device, classes": Way(by_torch, 0.03, "always", inputs=("array", "tensor")),
    "cluster": Way(on_a_cluster, 0.0005, "maybe", inputs=SENT, in_partitions=True),
}


def usable_ways():
    """The ways whose packages are installed."""
    needs = {"tasks": "distributed", "tasks of a collection": "distributed", "cluster": "distributed"}
    needs |= {"device": "torch", "device, classes": "torch"}
    return [name for name in WAYS if is_installed(needs.get(name, "numpy"))]


@cache
def local_client():
    """A client of two workers that are threads of this process."""
    from distributed import Client, LocalCluster

    workers = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50)
    return Client(workers)


class TasksHere:
    """Stands in for a cluster: runs a graph's jobs in a random order that their needs allow, one at a time.

    Values are pickled on the way, and arrays arrive read-only, as they do from another process.
    """

    rng = np.random.default_rng(0)

    def __init__(self, _, graph):
        self.graph = graph

    def made(self, value):
        """What is handed out for a piece of data."""
        if isinstance(value, cluster.Computed):
            return value.future
        return value.make() if isinstance(value, graph.Lazy) else value

    def run(self, report):
        """Have all jobs done and return the wanted results."""
        known = {name: sent(self.made(value)) for name, value in self.graph.data.items()}
        waiting = dict(self.graph.jobs)
        while waiting:
            ready = [name for name, job in waiting.items() if all(need in known for need in job.names())]
            name = ready[self.rng.integers(len(ready))]
            job = waiting.pop(name)
            needs = [
                [received(known[n]) for n in need] if isinstance(need, list) else received(known[need])
                for need in job.needs
            ]
            known[name] = sent(received(sent(job.work))(*needs))
        return {name: received(known[name]) for name in self.graph.wanted}


def sent(value):
    buffers = []
    return pickle.dumps(value, protocol=5, buffer_callback=buffers.append), [bytes(b.raw()) for b in buffers]


def received(message):
    return pickle.loads(message[0], buffers=message[1])


@contextlib.contextmanager
def tasks_here(case):
    """Have a cluster's tasks run in this process; yields what to pass as its client."""
    from dask.local import get_sync  # by its name, Dask warns where a client is open, as that of other tests may be

    TasksHere.rng = case.rng()
    stand_in = mock.Mock(n_slots=2)
    stand_in.client.compute = lambda parts: [part.compute(scheduler=get_sync) for part in parts]
    with (
        mock.patch.object(dispatch, "check_client", lambda client: client),
        mock.patch.object(dispatch, "Cluster", return_value=stand_in),
        mock.patch.object(dispatch, "ClusterRun", TasksHere),
        mock.patch.object(chunks, "ClusterRun", TasksHere),
    ):
        yield stand_in


# ------------------------------------------------------------------------------------------------------- comparison


def differences(case, folder):
    """Compute the forests of a case and return the names of what is not equal to the reference."""
    with contextlib.ExitStack() as stack:
        for module, name, value in case.limits:
            if module is not settings:
                stack.enter_context(mock.patch.object(module, name, value))
        changes = {name: value for module, name, value in case.limits if module is settings}
        # asking the system for its memory takes as long as the forests of so few points
        stack.enter_context(settings.settings(limits=settings.Limits(memory=2**40, **changes)))
        X = INPUTS[case.input].make(case.X, folder)
        stack.enter_context(plan.override(**case.settings))
        actual = WAYS[case.way].compute(case, X, folder)
    values = case.values
    expected = naive_forests(values, case.n_trees, case.random_state)
    if case.y is None:
        return list(forests_differ("forests", actual, expected))
    return list(class_forests_differ(case, actual, values, expected))


def class_forests_differ(case, actual, values, expected):
    y = case.y
    yield from forests_differ("whole", actual.whole, expected)
    if not np.array_equal(actual.classes, np.unique(y)):
        yield "classes"
    for (k, a), (m, b) in itertools.combinations(enumerate(np.unique(y)), 2):
        rows = np.flatnonzero((y == a) | (y == b))
        of_pair = naive_forests(values[rows], case.n_trees, case.random_state)
        pair = actual.pair(a, b)
        yield from forests_differ(f"pair({a}, {b})", pair, of_pair)
        if not np.array_equal(pair.rows, rows):
            yield f"pair({a}, {b}).rows"
        counts = naive_cross_counts(of_pair, y[rows])[:, 0, 1]
        if not np.allclose(actual.pair_cross_counts[: len(counts), k, m], counts, rtol=1e-12, atol=1e-12):
            yield f"pair_cross_counts of ({a}, {b})"
        if actual.pair_cross_counts[len(counts) :, k, m].any():
            yield f"pair_cross_counts of ({a}, {b}) beyond the trees there are"
    if case.way == "classes":
        return
    # The reference has no sums; those of one way are those of every other.
    sums = class_forests(values, y, n_trees=case.n_trees, random_state=case.random_state, n_jobs=1).pair_edge_sums
    for name, one, other in zip(sums._fields, actual.pair_edge_sums, sums, strict=True):
        if not np.array_equal(one, other):
            yield f"pair_edge_sums.{name}"


def forests_differ(what, actual, expected):
    for name in ("tree", "edges"):
        if not np.array_equal(getattr(actual, name), getattr(expected, name)):
            yield f"{what}.{name}"
    # as bits, so that not even the sign of a zero may differ
    if not np.array_equal(actual.weights.view(np.int64), expected.weights.view(np.int64)):
        yield f"{what}.weights"
    sites = np.unique(np.column_stack((actual.sites, expected.sites)), axis=0)
    if not len(sites) == len(np.unique(actual.sites)) == len(np.unique(expected.sites)):
        yield f"{what}.sites"
    n_edges = np.bincount(expected.tree)
    if actual.n_samples != len(expected.sites) or actual.n_trees != len(n_edges):
        yield f"{what}.n_trees"
    elif not np.array_equal(actual.n_components, len(expected.sites) - n_edges):
        yield f"{what}.n_components"
