"""What concerns running and not the question: threads, and the sizes from which on work is done another way."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple

from bayesfloor.runtime.checks import check_jobs


class Limits(NamedTuple):
    """Sizes from which on work is done another way. Tests make them small; figures are measured with those given here.

    Attributes
    ----------
    repeats : int, default=10
        Times that few rows are dealt out to folds, at the most.
    learned_rows : int, default=10_000
        Rows up to which a learned floor cross-validates all its learners, which train some fifty times. Of more rows
        some are held out, and learners of linear cost are trained on the rest.
    report_values : int, default=8_000_000
        Values, rows times features, that a report trains on at the most where `max_rows` is None: it should come in a
        minute or two.
    tree_rows : int, default=50_000
        Rows of the spanning trees of a report, at the most.
    disk_rows : int, default=200_000
        Rows from which on a table that does not fit in memory is trained on where it lies.
    part_rows : int, default=262_144
        Rows of a part of such a table.
    chunk_rows : int, default=131_072
        Rows that are read from a file at once, at the most: what is done once for each chunk takes little time beside
        what is done for its rows.
    part_rounds : int, default=150
        Rounds of boosting on parts, at the most.
    device_points : int, default=1024
        Points up to which near neighbours on a GPU come from all distances at once.
    task_edges : int, default=1_048_576
        Edges that a worker of a cluster merges at once, at the most: 16 MiB, of which a walk makes five times as much.
    stalled_s : float, default=60.0
        Seconds that a message to a cluster may take, and that may pass without a task of ours being run or done.
    memory : int or None, default=None
        Bytes to count on; None for what the machine has free.
    unpacked_bytes, table_rows, table_columns : int, default=4 GiB, 20 million and 100 000
        The largest file that is read.
    learners : tuple of str or None, default=None
        Families of learners of few rows to choose from where nobody names any; None for all.
    curve_detail : float, default=1.0
        Points of the grids that learning curves are fitted on, as a share of the usual ones along each axis.
    """

    repeats: int = 10
    learned_rows: int = 10_000
    report_values: int = 8_000_000
    tree_rows: int = 50_000
    disk_rows: int = 200_000
    part_rows: int = 2**18
    chunk_rows: int = 2**17
    part_rounds: int = 150
    device_points: int = 1024
    task_edges: int = 2**20
    stalled_s: float = 60.0
    memory: int | None = None
    unpacked_bytes: int = 4 * 2**30
    table_rows: int = 20_000_000
    table_columns: int = 100_000
    learners: tuple[str, ...] | None = None
    curve_detail: float = 1.0


_n_jobs: ContextVar[int | None] = ContextVar("n_jobs", default=None)
_limits: ContextVar[Limits] = ContextVar("limits", default=Limits())  # noqa: B039 - it cannot be changed


def limits() -> Limits:
    """Return the sizes that hold here."""
    return _limits.get()


def in_detail(n: int) -> int:
    """Return how many points to take of a grid that has n."""
    return max(round(_limits.get().curve_detail * n), 2)


def jobs_of_block() -> int | None:
    """Return how many threads a block around here asks for."""
    return _n_jobs.get()


@contextlib.contextmanager
def settings(*, n_jobs: int | None = None, limits: Any = None) -> Iterator[None]:
    """Set how everything within a block runs, wherever a call does not say so itself.

    Parameters
    ----------
    n_jobs : int, default=None
        Threads of every call with ``n_jobs=None``. -1 means every core, -2 all but one. None leaves what is set around.
    limits : Limits, default=None
        Sizes from which on work is done another way, for tests of `bayesfloor` itself: `bayesfloor.runtime.settings`
        describes them. None leaves those that are set around.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import bayesfloor
    >>> with bayesfloor.settings(n_jobs=1):
    ...     bayesfloor.bayes_error(*load_iris(return_X_y=True)).n_samples
    150
    """
    check_jobs(n_jobs)
    before_jobs = _n_jobs.set(_n_jobs.get() if n_jobs is None else n_jobs)
    before_limits = _limits.set(_limits.get() if limits is None else limits)
    try:
        yield
    finally:
        _limits.reset(before_limits)
        _n_jobs.reset(before_jobs)
