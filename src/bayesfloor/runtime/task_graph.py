"""Pure functions that need each other's results, as a graph.

`run_in_threads` runs it in this process, `cluster` on the workers of a Dask cluster. Values that travel say how large
they are (`WithArrays`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesfloor.runtime.threads import WorkerPool


@dataclass(frozen=True)
class Job:
    """A call of a pure function; its arguments are names of data or of other jobs, or lists of these."""

    work: Callable[..., Any]
    needs: tuple[str | list[str], ...]
    amount: int = 0  # for progress, in any unit that all jobs share
    here: bool = False  # done by the calling process, because the result may be large
    worker: str | None = None  # address of the worker that has what is needed, and something kept of earlier jobs

    def names(self) -> Iterator[str]:
        """Yield the names of all that is needed."""
        for need in self.needs:
            yield from need if isinstance(need, list) else [need]

    def arguments(self, known: Mapping[str, Any]) -> list[Any]:
        """Return the values to call the function with, by the names of what is known."""
        return [[known[name] for name in need] if isinstance(need, list) else known[need] for need in self.needs]


@dataclass(frozen=True)
class Lazy:
    """Data that is made when it is handed out, and again when it was lost: there is no second copy of X here."""

    make: Callable[[], Any]


@dataclass(eq=False)
class Graph:
    """Data, jobs in an order in which they can be done, and whose results are wanted."""

    data: dict[str, Any] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    wanted: list[str] = field(default_factory=list)

    @property
    def amount(self) -> int:
        """The amount of all jobs."""
        return sum(job.amount for job in self.jobs.values())

    def depth_first(self) -> list[str]:
        """Return all jobs in an order in which each comes soon after what it needs, so that little has to be kept."""
        order: dict[str, None] = {}
        stack = [*reversed(self.jobs), *reversed(self.wanted)]
        while stack:
            missing = [name for name in self.jobs[stack[-1]].names() if name in self.jobs and name not in order]
            if missing:
                stack += reversed(missing)
            else:
                order[stack.pop()] = None
        return list(order)

    def users(self) -> dict[str, list[str]]:
        """Return, for every name, the jobs that need it."""
        users: dict[str, list[str]] = {name: [] for name in (*self.data, *self.jobs)}
        for name, job in self.jobs.items():
            for need in job.names():
                users[need].append(name)
        return users


def run_in_threads(graph: Graph, pool: WorkerPool) -> dict[str, Any]:
    """Run the jobs of a graph, as many at a time as there are threads, and return the wanted results."""
    pool.expect(graph.amount)
    known: dict[str, Any] = dict(graph.data)
    depth = dict.fromkeys(known, 0)
    levels: list[list[str]] = []
    for name, job in graph.jobs.items():
        depth[name] = 1 + max((depth[need] for need in job.names()), default=0)
        while len(levels) < depth[name]:
            levels.append([])
        levels[depth[name] - 1].append(name)
    last_use: dict[str, int] = {}
    for name, job in graph.jobs.items():
        last_use.update((need, max(last_use.get(need, 0), depth[name])) for need in job.names())
    for number, names in enumerate(levels, 1):
        jobs = [graph.jobs[name] for name in names]
        results = pool.run(
            lambda job: job.work(*job.arguments(known)), [(job,) for job in jobs], [job.amount for job in jobs]
        )
        known.update(zip(names, results, strict=True))
        for name in [name for name in known if last_use.get(name, 0) <= number and name not in graph.wanted]:
            del known[name]
    return {name: known[name] for name in graph.wanted}


def bytes_of(value: Any) -> int:
    """Return the bytes of all arrays in a value."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, list | tuple):
        return sum(map(bytes_of, value))
    return bytes_of(list(vars(value).values())) if isinstance(value, WithArrays) else 0


class WithArrays:
    """A value that says how large it is: Dask, which cannot see, would take it for a few bytes and never spill it."""

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + bytes_of(self)
