"""Tasks on blocks, run in threads of this process."""

from __future__ import annotations

from typing import Any

from bayesfloor.forest.block_graph import Graph, Job
from bayesfloor.forest.threads import Crew


def run_in_threads(graph: Graph, crew: Crew) -> dict[str, Any]:
    """Run the jobs of a graph, as many at a time as there are threads, and return the wanted results."""
    crew.expect(graph.amount)
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
        results = crew.run(lambda job: call(job, known), [(job,) for job in jobs], [job.amount for job in jobs])
        known.update(zip(names, results, strict=True))
        for name in [name for name in known if last_use.get(name, 0) <= number and name not in graph.wanted]:
            del known[name]
    return {name: known[name] for name in graph.wanted}


def call(job: Job, known: dict[str, Any]) -> Any:
    """Call a job's function with the values that it needs."""
    return job.work(*([known[name] for name in need] if isinstance(need, list) else known[need] for need in job.needs))
