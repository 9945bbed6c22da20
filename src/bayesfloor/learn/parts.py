"""One function for every part of the rows: by threads that read them from disk, or by workers that keep them."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

from bayesfloor.data.row_parts import RowPart, StoredPart
from bayesfloor.runtime.cluster import Cluster, KeptRun
from bayesfloor.runtime.limits import one_of_a_pool
from bayesfloor.runtime.task_graph import Graph, Job, Lazy, bytes_of
from bayesfloor.runtime.threads import WorkerPool, supervise

if TYPE_CHECKING:
    from distributed import Future

#: Bytes of results in memory at a time.
RESULT_BYTES = 2**27


class Shared:
    """An argument of many calls, which is sent to a worker once; see `PartPool.share`."""

    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value = name, value


class PartPool:
    """Calls pure functions for parts, with the same results whoever does the work.

    What a function keeps in the state of a part serves the next call, and must not decide about any result. Several
    threads may use a pool at the same time.

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
        self._bytes_of: dict[Any, int] = {}  # of a result of each function
        self._numbers = itertools.count()

    def share(self, value: Any) -> Shared:
        """Return an argument that workers keep until it is let go of here."""
        shared = Shared(f"shared {next(self._numbers)}", value)
        weakref.finalize(shared, self._sent.pop, shared.name, None)
        return shared

    def run(self, work: Callable[..., Any], numbers: Sequence[int], *arguments: Any, array: str = "bins") -> list[Any]:
        """Call ``work(part, *arguments)`` for some parts and return the results in their order.

        Workers get the bins of the parts, and keep them, or their points for one call.
        """
        self.pool.check()
        if self.cluster is None:
            values = [each.value if isinstance(each, Shared) else each for each in arguments]
            return self.pool.run(lambda number: work(self.parts[number].read(), *values), [(each,) for each in numbers])
        found = self._ask_workers(self.cluster, work, [[each] for each in numbers], arguments, array)
        if array == "points":
            for number in numbers:
                self._sent.pop(f"{array} {number}", None)
        return found

    def merged(
        self,
        work: Callable[..., Any],
        numbers: Sequence[int],
        merge: Callable[[Any, Any], Any],
        *arguments: Any,
        array: str = "bins",
    ) -> Any:
        """Merge the results of some parts, always in the same order; few of them are in memory at a time."""
        found: Any = None
        numbers = _far_apart(numbers)
        first = 0
        while first < len(numbers):
            last = first + self._n_at_once(work)
            for each in self.run(work, numbers[first:last], *arguments, array=array):
                self._bytes_of[_name_of(work)] = bytes_of(each)
                found = each if found is None else merge(found, each)
            first = last
        return found

    def added_up(self, work: Callable[..., Any], numbers: Sequence[int], *arguments: Any) -> Any:
        """Add up the results of some parts, arrays of integers, whose sums are the same in any order.

        Each worker adds up what its parts say, and sends one sum.
        """
        if self.cluster is None:
            return self.merged(work, numbers, _add, *arguments)
        self.pool.check()
        groups: dict[Any, list[int]] = {}
        for number in numbers:
            groups.setdefault(self._slot(self.cluster, number), []).append(number)
        first, *others = self._ask_workers(self.cluster, work, list(groups.values()), arguments, "bins")
        return sum(others, start=first)

    def _n_at_once(self, work: Callable[..., Any]) -> int:
        """Return for how many parts a function is called at the same time: their results are in memory together."""
        n_workers = self.pool.n_threads if self.cluster is None else max(self.cluster.n_slots, 1)
        known = self._bytes_of.get(_name_of(work))
        return n_workers if known is None else max(n_workers, RESULT_BYTES // max(known, 1))

    def _ask_workers(
        self,
        cluster: Cluster,
        work: Callable[..., Any],
        groups: Sequence[Sequence[int]],
        arguments: Sequence[Any],
        array: str,
    ) -> list[Any]:
        """Have a worker add up what a function says of each group of parts, and return the sums."""
        data: dict[str, Any] = {
            f"{array} {number}": Lazy(partial(self.parts[number].read().loaded, array))
            for group in groups
            for number in group
        }
        shared = {each.name: each.value for each in arguments if isinstance(each, Shared)}
        sent = [Shared(each.name, None) if isinstance(each, Shared) else each for each in arguments]
        on_worker = partial(_on_worker, work, sent, list(shared))
        jobs = {}
        for place, group in enumerate(groups):
            slot = self._slot(cluster, group[0])
            needs = [f"{array} {number}" for number in group], list(shared)
            jobs[f"work {place}"] = Job(on_worker, needs, worker=slot and slot[0])
        graph = Graph({**data, **shared}, jobs, list(jobs))
        results = KeptRun(cluster, graph, self._sent).run(None)
        return [results[name] for name in jobs]

    def _slot(self, cluster: Cluster, number: int) -> tuple[str, int] | None:
        """Return the worker for a part and which of its threads, or None while there are no workers.

        Neighbours have the same: each second, third … part of all is then spread evenly. Where workers come and go, a
        part moves to another, which finds what was kept of the part again.
        """
        slots = cluster.slots
        return slots[number * len(slots) // len(self.parts)] if slots else None


def _far_apart(numbers: Sequence[int]) -> list[int]:
    """Return numbers in an order in which those that follow each other are far apart: on different workers."""
    n_bits = (len(numbers) - 1).bit_length()
    order = sorted(range(len(numbers)), key=lambda place: f"{place:0{n_bits}b}"[::-1])
    return [numbers[place] for place in order]


def _name_of(work: Callable[..., Any]) -> Any:
    """Return what tells a function from others, whatever arguments it was given."""
    return work.func if isinstance(work, partial) else work


def _add(first: Any, second: Any) -> Any:
    """Add the second array to the first."""
    first += second
    return first


def _on_worker(
    work: Callable[..., Any], sent: Sequence[Any], names: Sequence[str], parts: Sequence[RowPart], shared: Sequence[Any]
) -> Any:
    """Add up what a function says of some parts, with one thread, BLAS held to one: its sums have an order."""
    values = dict(zip(names, shared, strict=True))
    arguments = [values[each.name] if isinstance(each, Shared) else each for each in sent]
    with one_of_a_pool(2):  # a worker may run several tasks at a time
        return supervise(lambda _: reduce(_add, (work(part, *arguments) for part in parts)), 1, False)
