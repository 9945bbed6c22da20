"""Rows of a table that need not fit into memory: in random order, in parts of about equal size, on disk.

::

    chunks of a table ── encoded ──> PartWriter ── by key ──> files of each part ── in the order of keys ──> RowPart

Each row has a random key. A part has the rows of a range of keys, and its rows are in their order: whatever chunks a
table comes in, its parts are the same, and every part is a random sample of the rows.
"""

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.sampling import Keys
from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.limits import in_gib
from bayesfloor.runtime.settings import limits
from bayesfloor.runtime.task_graph import WithArrays
from bayesfloor.runtime.threads import WorkerPool

#: What the number of parts is a multiple of.
QUARTERS = 4
#: Share of a disk's free space that parts may take: rows are put in order one part after the other.
MOST_OF_DISK = 0.8
#: What to do where rows have no room.
WITH_MORE_ROOM = "set TMPDIR to a folder with more, or use fewer rows (max_rows)"


class RowPart(WithArrays):
    """Some of the rows, in memory.

    Attributes
    ----------
    points : ndarray of shape (n, n_directions), float32
        Coordinates in a space in which near rows are alike.
    bins : ndarray of shape (n, n_columns), uint8
        Bins of numbers and codes of categories.
    y : ndarray of shape (n,)
        Classes from 0, or numbers.
    state : dict
        What is kept from one call to the next in the process that has the part, and can be made again.
    """

    def __init__(self, points: NDArray[np.float32], bins: NDArray[np.uint8], y: NDArray[Any]) -> None:
        self.points, self.bins, self.y = points, bins, y
        self.state: dict[str, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (self.points, self.bins, self.y)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self)

    def read(self) -> "RowPart":
        """Return the part, as if it were on disk."""
        return self

    def loaded(self, name: str) -> "RowPart":
        """Return the part with its points or its bins in memory, and without the other."""
        points = self.points if name == "points" else np.empty((len(self), 0), np.float32)
        return RowPart(points, self.bins if name == "bins" else np.empty((len(self), 0), np.uint8), self.y)


class _ReadPart(RowPart):
    """A part on disk, whose arrays are read when they are first asked for."""

    def __init__(self, stored: "StoredPart") -> None:
        self._stored, self.state = stored, stored.state

    def __len__(self) -> int:
        return self._stored.n_rows

    @cached_property
    def points(self) -> NDArray[np.float32]:  # type: ignore[override]
        return self._stored.array("points")

    @cached_property
    def bins(self) -> NDArray[np.uint8]:  # type: ignore[override]
        return self._stored.array("bins")

    @cached_property
    def y(self) -> NDArray[Any]:  # type: ignore[override]
        return self._stored.array("y")


def _arrived(*arrays: NDArray[Any]) -> RowPart:
    """Put a part together that travelled: its arrays lie where the message has them, and cannot be written to."""
    return RowPart(*(np.require(array, requirements=["A", "W"]) for array in arrays))


@dataclass(frozen=True, eq=False)
class StoredPart:
    """A part on disk.

    Attributes
    ----------
    file : Path
        Its files begin so.
    n_rows : int
        How many rows there are.
    kinds : dict of str to (dtype, int)
        Of each array, what it holds and how many values there are in a row.
    state : dict
        As of `RowPart`: it outlasts the arrays, which are read anew for each call.
    """

    file: Path
    n_rows: int
    kinds: dict[str, tuple[Any, int]]
    state: dict[str, Any] = field(default_factory=dict)

    def read(self) -> RowPart:
        """Return the rows, whose arrays are read when they are first asked for."""
        return _ReadPart(self)

    def array(self, name: str) -> NDArray[Any]:
        """Read one array of all rows."""
        kind, width = self.kinds[name]
        values = np.fromfile(self.path(name), kind, count=self.n_rows * width)
        if len(values) != self.n_rows * width:
            raise OSError(f"{self.path(name)} has {len(values)} values in place of {self.n_rows * width}")
        return values if name in ("y", "keys") else values.reshape(self.n_rows, width)

    def path(self, name: str) -> Path:
        """Return the file of an array."""
        return self.file.with_name(f"{self.file.name}.{name}")


def first_rows(parts: Sequence[StoredPart], n_rows: int) -> list[StoredPart]:
    """Return parts that have the first rows of some parts: a random sample, since rows are in random order."""
    found = []
    for part in parts:
        if n_rows > 0:
            found.append(replace(part, n_rows=min(n_rows, part.n_rows), state={}))
            n_rows -= part.n_rows
    return found


@dataclass(frozen=True, eq=False)
class StoredRows:
    """All rows of a table that are trained on, in parts on disk, and what is known of those that are tested.

    Attributes
    ----------
    parts : list of StoredPart
        The parts, in the order of the keys; four times a number of them.
    n_samples : int
        Rows of the table.
    class_counts : ndarray of shape (n_classes,) or None
        Rows of each class among all; None for numbers.
    tested : RowPart
        The rows that are tested; they are in no part.
    is_category : ndarray of shape (n_columns,)
        Which columns of bins hold codes.
    numbers : ndarray of shape (n_in_memory,)
        Which rows of the table the rows in memory are: first those that are tested, then a sample of the others.
    units : (float, float)
        What the numbers in y were centred and divided by; 0 and 1 for classes.
    """

    parts: list[StoredPart]
    n_samples: int
    class_counts: Ints | None
    tested: RowPart
    is_category: NDArray[np.bool_]
    numbers: Ints
    units: tuple[float, float] = (0.0, 1.0)

    @property
    def n_rows(self) -> int:
        """Rows that are tested or trained on."""
        return len(self.tested) + sum(part.n_rows for part in self.parts)


class PartWriter:
    """Deals rows out to parts, and puts the rows of each part in order.

    Parameters
    ----------
    n_rows : int
        Rows there will be, about.
    n_directions, n_columns : int
        Widths of `RowPart.points` and `RowPart.bins`.
    y_kind : dtype
        What y holds.
    """

    def __init__(self, n_rows: int, n_directions: int, n_columns: int, y_kind: Any) -> None:
        self.n_parts = QUARTERS * max(1, -(-n_rows // (QUARTERS * limits().part_rows)))
        self.kinds = {
            "points": (np.dtype(np.float32), n_directions),
            "bins": (np.dtype(np.uint8), n_columns),
            "y": (np.dtype(y_kind), 1),
            "keys": (np.dtype(np.uint64), 1),
        }
        n_bytes = n_rows * bytes_of_row(n_directions, n_columns)
        self.folder = Path(tempfile.mkdtemp(prefix="bayesfloor-"))
        self._finalizer = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        free = shutil.disk_usage(self.folder).free
        if n_bytes > MOST_OF_DISK * free:
            self._finalizer()
            raise OSError(
                f"{n_rows} rows take {in_gib(n_bytes)} on disk, and {self.folder.parent} has {in_gib(free)} left: "
                f"{WITH_MORE_ROOM}"
            )
        self._counts = [0] * self.n_parts

    def add(self, keys: Keys, points: NDArray[np.float32], bins: NDArray[np.uint8], y: NDArray[Any]) -> None:
        """Write some rows to the parts that their keys tell."""
        of_part = (keys >> np.uint64(32)) * np.uint64(self.n_parts) >> np.uint64(32)
        order = np.argsort(of_part, kind="stable")
        first = np.searchsorted(of_part[order], np.arange(self.n_parts + 1, dtype=np.uint64))
        arrays: dict[str, NDArray[Any]] = {"points": points, "bins": bins, "y": y, "keys": keys}
        for number in range(self.n_parts):
            rows = order[first[number] : first[number + 1]]
            if not len(rows):
                continue
            self._counts[number] += len(rows)
            for name, values in arrays.items():
                kind, _ = self.kinds[name]
                _write(self._part(number).path(name), "ab", np.ascontiguousarray(values[rows], kind))

    def _part(self, number: int) -> StoredPart:
        return StoredPart(self.folder / f"part-{number:05d}", self._counts[number], self.kinds)

    def parts(self, pool: WorkerPool) -> list[StoredPart]:
        """Put the rows of each part in the order of their keys, and return the parts."""

        def put_in_order(number: int) -> StoredPart:
            part = self._part(number)
            if not part.n_rows:
                raise ValueError(f"no row is in part {number} of {self.n_parts}: there are too few of them")
            order = np.argsort(part.array("keys"), kind="stable")
            for name in ("points", "bins", "y"):
                _write(part.path(name), "wb", np.ascontiguousarray(part.array(name)[order]))
            part.path("keys").unlink()
            part.state["folder"] = self  # the files stay as long as a part is known
            return part

        return pool.run(put_in_order, [(number,) for number in range(self.n_parts)])


def _write(path: Path, mode: str, values: NDArray[Any]) -> None:
    """Write an array; what NumPy says of a full disk names neither disk nor file."""
    try:
        with open(path, mode) as stream:
            values.tofile(stream)
    except OSError as error:
        reason = error.strerror or f"{error} values"
        raise OSError(f"rows cannot be written to {path.parent} ({reason}): {WITH_MORE_ROOM}") from error


def bytes_of_row(n_directions: int, n_columns: int) -> int:
    """Return how many bytes a row takes on disk while parts are written."""
    return 4 * n_directions + n_columns + 16
