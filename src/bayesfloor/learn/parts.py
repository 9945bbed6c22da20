"""One function for every part of the rows: by threads that read them from disk, or by workers that keep them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from bayesfloor.data.row_parts import RowPart, StoredPart
from bayesfloor.runtime.cluster import Cluster, KeptRun
from bayesfloor.runtime.limits import one_of_a_pool
from bayesfloor.runtime.task_graph import Graph, Job, Lazy
from bayesfloor.runtime.threads import WorkerPool, supervise

if TYPE_CHECKING:
    from distributed import Future


class PartPool:
    """Calls pure functions for parts, with the same results whoever does the work.

    Parameters
    ----------
    parts : sequence of StoredPart
        The parts.
    pool : WorkerPool
        Threads to work with; on a cluster, whom to tell about progress, and who says when to stop.
    cluster : Cluster or None, default=None
        Whose workers do the work; None for the threads of the pool. A part is sent to a worker once, and again when it
        is lost with it.
    """

    def __init__(self, parts: Sequence[StoredPart], pool: WorkerPool, cluster: Cluster | None = None) -> None:
        self.parts, self.pool, self.cluster = parts, pool, cluster
        self._sent: dict[str, Future[Any]] = {}

    @property
    def n_at_once(self) -> int:
        """Parts that are worked on at the same time."""
        return self.pool.n_threads if self.cluster is None else max(self.cluster.n_slots, 1)

    def run(self, work: Callable[..., Any], numbers: Sequence[int], *shared: Any) -> list[Any]:
        """Call ``work(part, *shared)`` for some parts and return the results in their order.

        What a function keeps in the state of a part serves the next call, and must not decide about any result.
        """
        self.pool.check()
        if self.cluster is None:
            return self.pool.run(lambda number: work(self.parts[number].read(), *shared), [(each,) for each in numbers])
        jobs = {f"work {number}": Job(partial(_on_worker, work), (f"part {number}", "shared")) for number in numbers}
        data: dict[str, Any] = {f"part {number}": Lazy(self.parts[number].read) for number in numbers}
        graph = Graph({**data, "shared": shared}, jobs, list(jobs))
        results = KeptRun(self.cluster, graph, self._sent).run(lambda done, total: self.pool.check())
        return [results[name] for name in jobs]

    def merged(
        self, work: Callable[..., Any], numbers: Sequence[int], merge: Callable[[Any, Any], Any], *shared: Any
    ) -> Any:
        """Merge the results of some parts in their order; few of them are in memory at a time."""
        found: Any = None
        for first in range(0, len(numbers), self.n_at_once):
            for each in self.run(work, numbers[first : first + self.n_at_once], *shared):
                found = each if found is None else merge(found, each)
        return found


def _on_worker(work: Callable[..., Any], part: RowPart, shared: tuple[Any, ...]) -> Any:
    """Call the function with one thread, BLAS held to one: the order of sums decides about their last bits."""
    with one_of_a_pool(2):  # a worker may run several tasks at a time
        return supervise(lambda _: work(part, *shared), 1, False)
