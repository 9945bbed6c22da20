"""One function for every part of the rows: by threads that read them from disk, or by workers that keep them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from bayesfloor.data.row_parts import RowPart, StoredPart
from bayesfloor.runtime.cluster import Cluster, KeptRun
from bayesfloor.runtime.limits import one_of_a_pool
from bayesfloor.runtime.task_graph import Graph, Job, Lazy, bytes_of
from bayesfloor.runtime.threads import WorkerPool, supervise

if TYPE_CHECKING:
    from distributed import Future


#: Bytes above which an argument of all parts is sent to a worker once, and bytes of results in memory at a time.
SENT_BYTES, RESULT_BYTES = 2**16, 2**27


class PartPool:
    """Calls pure functions for parts, with the same results whoever does the work.

    Parameters
    ----------
    parts : sequence of StoredPart or RowPart
        The parts, on disk or in memory.
    pool : WorkerPool
        Threads to work with; on a cluster, whom to tell about progress, and who says when to stop.
    cluster : Cluster or None, default=None
        Whose workers do the work; None for the threads of the pool. A part is sent to a worker once, and again when it
        is lost with it.
    """

    def __init__(self, parts: Sequence[StoredPart | RowPart], pool: WorkerPool, cluster: Cluster | None = None) -> None:
        self.parts, self.pool, self.cluster = parts, pool, cluster
        self._sent: dict[str, Future[Any]] = {}
        self._shared: tuple[str, Any] = "", None  # what was sent last to all workers
        self._bytes_of: dict[Any, int] = {}  # of a result of each function

    def n_at_once(self, work: Callable[..., Any]) -> int:
        """Return for how many parts a function is called at the same time: their results are in memory together."""
        n_workers = self.pool.n_threads if self.cluster is None else max(self.cluster.n_slots, 1)
        known = self._bytes_of.get(_name_of(work))
        return n_workers if known is None else max(n_workers, RESULT_BYTES // max(known, 1))

    def run(self, work: Callable[..., Any], numbers: Sequence[int], *shared: Any) -> list[Any]:
        """Call ``work(part, *shared)`` for some parts and return the results in their order.

        What a function keeps in the state of a part serves the next call, and must not decide about any result.
        """
        self.pool.check()
        if self.cluster is None:
            return self.pool.run(lambda number: work(self.parts[number].read(), *shared), [(each,) for each in numbers])
        large = [arg for arg in shared if bytes_of(arg) > SENT_BYTES]
        small = [(False, None) if bytes_of(arg) > SENT_BYTES else (True, arg) for arg in shared]
        data: dict[str, Any] = {f"part {number}": Lazy(self.parts[number].read().loaded) for number in numbers}
        data |= {self._named(arg): arg for arg in large}
        names = [name for name in data if name.startswith("shared")]
        call = partial(_on_worker, work, small)
        jobs = {f"work {number}": Job(call, (f"part {number}", names)) for number in numbers}
        results = KeptRun(self.cluster, Graph(data, jobs, list(jobs)), self._sent).run(
            lambda done, total: self.pool.check()
        )
        return [results[name] for name in jobs]

    def _named(self, arg: Any) -> str:
        """Return a name for what all workers are sent: the one that it has, if it was the last."""
        name, last = self._shared
        if last is not arg:
            self._sent.pop(name, None)
            self._shared = name, _ = f"shared {len(name) and int(name.split()[1]) + 1}", arg
        return name

    def merged(
        self, work: Callable[..., Any], numbers: Sequence[int], merge: Callable[[Any, Any], Any], *shared: Any
    ) -> Any:
        """Merge the results of some parts in their order; few of them are in memory at a time."""
        found: Any = None
        first = 0
        while first < len(numbers):
            last = first + self.n_at_once(work)
            for each in self.run(work, numbers[first:last], *shared):
                self._bytes_of[_name_of(work)] = bytes_of(each)
                found = each if found is None else merge(found, each)
            first = last
        return found


def _name_of(work: Callable[..., Any]) -> Any:
    """Return what tells a function from others, whatever arguments it was given."""
    return work.func if isinstance(work, partial) else work


def _on_worker(work: Callable[..., Any], small: list[tuple[bool, Any]], part: RowPart, large: Sequence[Any]) -> Any:
    """Call the function with one thread, BLAS held to one: the order of sums decides about their last bits."""
    rest = iter(large)
    shared = [value if is_small else next(rest) for is_small, value in small]
    with one_of_a_pool(2):  # a worker may run several tasks at a time
        return supervise(lambda _: work(part, *shared), 1, False)
