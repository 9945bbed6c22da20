"""Points in a file or on a cluster, read a batch of columns at a time for the findings."""

import math
import os
from itertools import pairwise
from typing import Any

import numpy as np

from bayesfloor.data.points import check_points
from bayesfloor.forest.partitions.chunks import chunk_starts, is_collection
from bayesfloor.forest.partitions.dispatch import in_memory
from bayesfloor.forest.partitions.files import StoredRows, open_rows
from bayesfloor.runtime.arrays import Floats

#: Bytes of one batch of columns: small beside the memory of any machine, large enough for few passes over a file.
COLUMN_BYTES = 256 * 2**20


class RemotePoints:
    """A column-wise facade of a path, a memory map or a Dask collection: the part of an array that findings use.

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
    return is_collection(X) or isinstance(X, os.PathLike) or in_memory(X, None, 1) is None
