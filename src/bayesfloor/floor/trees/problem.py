"""What all functions of this room share: points and labels wherever they are, options, and the equations in order."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayesfloor.data.labels import check_labels
from bayesfloor.data.points import check_points
from bayesfloor.data.problem import Problem
from bayesfloor.data.row_groups import check_groups
from bayesfloor.floor.trees import henze_penrose as hp
from bayesfloor.floor.trees.cross_edges import CrossEdges
from bayesfloor.floor.trees.results import Floors
from bayesfloor.floor.trees.uncertainty import cross_edge_interval
from bayesfloor.forest.partitions.chunks import chunk_starts
from bayesfloor.forest.partitions.dispatch import in_memory
from bayesfloor.forest.partitions.files import StoredRows, open_rows
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.checks import check_confidence, check_n_trees, check_option, check_random_state_seed
from bayesfloor.runtime.frames import is_collection
from bayesfloor.tables.arguments import check_problem, is_point_file

Progress = bool | Callable[[int, int], None]

#: Bytes of one batch of columns: small beside the memory of any machine, large enough for few passes over a file.
COLUMN_BYTES = 256 * 2**20


def check_problem_anywhere(X: Any, y: Any, client: Any, groups: Any, seed: int, *, needs_all: bool = False) -> Problem:
    """Check labels, and points unless they are in a file or a Dask collection; the engine checks those part by part.

    `seed` decides which rows are drawn of a table that is too large for memory. An array of labels in which one is
    missing is refused with `needs_all`, and beside a file or a Dask collection, of which no rows can be left out.
    """
    if not is_remote(X) or isinstance(y, str):  # a column of a file is named: it is read as a table
        return check_problem(X, y, groups=groups, seed=seed, needs_all=needs_all)
    points: Any = RemotePoints(X, client)
    classes, codes = check_labels(y, len(points))
    return Problem(points, classes, codes, points.columns, check_groups(groups, len(points)))


class RemotePoints:
    """Points in a file or on a cluster, read a batch of columns at a time for the findings.

    A column-wise facade of a path, a memory map or a Dask collection: the part of an array that findings use.

    Attributes
    ----------
    source : object
        What the caller passed, for `spanning_forests` and `class_forests`.
    shape : tuple of int
        Rows and features.
    columns : list or None
        Names of the features, where they have any.
    """

    def __init__(self, source: Any, client: Any = None):
        self.source = source
        self._client = client
        self._stored: StoredRows | None = open_rows(source)
        self.columns: list[Any] | None
        if self._stored is not None:
            self.shape, self.columns = self._stored.shape, self._stored.names
        else:
            names = getattr(source, "columns", None)
            self.columns = None if names is None else list(names)
            n_rows = source.shape[0]
            if not isinstance(n_rows, int):  # not known before it is computed
                n_rows = len(source) if names is not None else self._compute(source[:, 0]).shape[0]
            self.shape = int(n_rows), int(source.shape[1])
        n_at_once = max(1, COLUMN_BYTES // (8 * max(self.shape[0], 1)))
        self._n_batches = math.ceil(self.shape[1] / n_at_once) if self.shape[1] else 0
        self._n_at_once = n_at_once
        self._batch: tuple[int, Floats] = (-1, np.empty((0, 0)))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: tuple[slice, int]) -> Floats:
        """Return a column, ``points[:, j]``."""
        rows, column = index
        if rows != slice(None):
            raise IndexError("only whole columns can be read")
        return np.ascontiguousarray(self._columns(column // self._n_at_once)[:, column % self._n_at_once])

    def min(self, axis: int) -> Floats:
        """Return the smallest value of every column."""
        return np.concatenate([self._columns(batch).min(axis=axis) for batch in range(self._n_batches)])

    def max(self, axis: int) -> Floats:
        """Return the largest value of every column."""
        return np.concatenate([self._columns(batch).max(axis=axis) for batch in range(self._n_batches)])

    def _columns(self, batch: int) -> Floats:
        """Return one batch of columns, from the buffer where it is the last one read."""
        if self._batch[0] != batch:
            first = batch * self._n_at_once
            self._batch = batch, self._fetch(first, min(first + self._n_at_once, self.shape[1]))
        return self._batch[1]

    def _fetch(self, first: int, last: int) -> Floats:
        if self._stored is None:
            if self.columns is not None:
                return check_points(self._compute(self.source[self.columns[first:last]]))
            return check_points(self._compute(self.source[:, first:last]))
        out = np.empty((self.shape[0], last - first))
        starts = chunk_starts(*self.shape).tolist()
        for start, stop in pairwise(starts):
            out[start:stop] = check_points(self._stored.read(start, stop), min_rows=1)[:, first:last]
        return out

    def _compute(self, part: Any) -> Any:
        """Compute a part of a Dask collection."""
        return part.compute() if self._client is None else self._client.compute(part, sync=True)


def is_remote(X: Any) -> bool:
    """Tell whether X is a path, a Dask collection, or a memory map that does not fit in memory."""
    return is_collection(X) or is_point_file(X) or in_memory(X, None, 1) is None


@dataclass(frozen=True)
class Options:
    """How to count and what to make of it; see `bayes_error` for what each one means."""

    n_trees: int
    bias_correction: bool
    forced_edges: str
    confidence: float
    n_jobs: int | None
    device: Any
    random_state: int
    progress: Progress
    client: Any

    def engine(self, seed: int) -> dict[str, Any]:
        """Return what `spanning_forests` and `class_forests` need to know, with a seed that breaks ties."""
        return {
            "n_trees": self.n_trees,
            "n_jobs": self.n_jobs,
            "device": self.device,
            "random_state": seed,
            "progress": self.progress,
            "client": self.client,
        }


def check_options(
    n_trees: Any = 3,
    bias_correction: Any = True,
    forced_edges: Any = "drop",
    confidence: Any = 0.95,
    n_jobs: Any = None,
    device: Any = "auto",
    random_state: Any = 0,
    progress: Any = False,
    client: Any = None,
) -> Options:
    """Check options, in scikit-learn's words; `n_jobs`, `device`, `progress` and `client` are left to the engine."""
    return Options(
        check_n_trees(n_trees),
        bool(bias_correction),
        check_option("forced_edges", forced_edges, ("drop", "keep")),
        check_confidence(confidence),
        n_jobs,
        device,
        check_random_state_seed(random_state),
        progress,
        client,
    )


def floors_of(cross: CrossEdges, n_classes: int, largest_floor: ArrayLike, options: Options) -> Floors[Floats, Floats]:
    """Put cross edges through the equations.

    The interval of R goes through the same equations. Its lower end loses the forced edges as R
    itself does; its upper end keeps them, because whether classes would have touched there is
    exactly what a small sample cannot tell. The largest floor that there can be is a share of the
    sample, too: each end is held at that end of this share's own interval.

    Parameters
    ----------
    cross : CrossEdges
        Of one or many problems.
    n_classes : int
        Classes in each problem.
    largest_floor : array-like
        One minus the largest prior of each problem, as it was observed; the smaller prior for two classes.
    options : Options
        Which corrections to make, and at which confidence.

    Returns
    -------
    Floors of arrays
        Arrays of the shape of the cross edges; intervals have one more axis, of length two.
    """
    n, largest = cross.n_points, np.asarray(largest_floor, np.float64)

    def equations(R: Floats, largest: Floats) -> tuple[Floats, Floats, Floats]:
        limit = np.asarray(np.inf)
        if options.bias_correction:
            limit = hp.multiclass_gamma(n, n_classes, largest)
        R = hp.corrected_cross_edges(np.maximum(R, 0.0), limit)
        if n_classes == 2:
            u = hp.u_from_cross_edges(R, n)
            return hp.lower_bound(u), hp.upper_bound(u), hp.estimate(u)
        return (
            hp.multiclass_lower_bound(R, n, n_classes),
            hp.multiclass_upper_bound(R, n, n_classes),
            hp.multiclass_estimate(R, n, n_classes),
        )

    is_dropped = 1.0 if options.forced_edges == "drop" else 0.0
    lower, upper, estimate = equations(cross.count - is_dropped * cross.forced, largest)
    low, high = cross.interval(options.confidence)
    of_largest = cross_edge_interval(largest * n, cross.prior_variance * n**2, n, options.confidence)
    fewest, most = (end / n for end in of_largest)
    at_low, at_high = equations(low - is_dropped * cross.forced, fewest), equations(high, most)
    intervals = [np.stack(ends, axis=-1) for ends in zip(at_low, at_high, strict=True)]
    return Floors(
        estimate=estimate,
        lower=lower,
        upper=upper,
        lower_interval=intervals[0],
        upper_interval=intervals[1],
        interval=intervals[2],
        normalized=hp.normalized(estimate, largest),
        cross_edges=cross.summary(options.confidence, options.n_trees),
        p_value=cross.p_value(),
    )
