"""Fits of learners: on the threads of this process, or as tasks on the workers of a Dask cluster, with equal results.

What all fits share is scattered to every worker once. A task is one call of a pure function, so that one that is lost
with its worker is done again elsewhere; `bayesfloor.runtime.cluster` sees to that.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from bayesfloor.runtime.cluster import Cluster, ClusterRun
from bayesfloor.runtime.limits import one_of_a_pool
from bayesfloor.runtime.task_graph import Graph, Job
from bayesfloor.runtime.threads import WorkerPool, supervise

T = TypeVar("T")


def run_fits(
    fit: Callable[..., T],
    shared: Any,
    arguments: Sequence[tuple[Any, ...]],
    amounts: Sequence[int],
    pool: WorkerPool,
    cluster: Cluster | None = None,
) -> list[T]:
    """Call a function for each of the arguments and return the results in that order.

    Parameters
    ----------
    fit : callable
        A pure function ``(shared, pool, *arguments)`` of a module, so that it can be sent to a worker.
    shared : object
        What all calls need.
    arguments : sequence of tuple
        What each call needs beside that.
    amounts : sequence of int
        How much work each call is, for progress.
    pool : WorkerPool
        Threads to work with; on a cluster, whom to tell about progress, and who says when to stop.
    cluster : Cluster or None, default=None
        Where the calls are made; None for the threads of the pool.

    Returns
    -------
    list
    """
    if cluster is None:
        return pool.run(partial(fit, shared, pool), arguments, amounts)
    jobs = {
        f"fit {number}": Job(partial(_fit_on_worker, fit, own), ("shared",), amount)
        for number, (own, amount) in enumerate(zip(arguments, amounts, strict=True))
    }
    before = pool.done

    def report(done: int, _: int) -> None:
        pool.check()
        pool.advance(before + done - pool.done)

    results = ClusterRun(cluster, Graph({"shared": shared}, jobs, list(jobs))).run(report)
    return [results[name] for name in jobs]


def _fit_on_worker(fit: Callable[..., T], own: tuple[Any, ...], shared: Any) -> T:
    """Call the function with one thread, BLAS held to one: the order of sums decides about their last bits."""
    with one_of_a_pool(2):  # a worker may run several tasks at a time
        return supervise(lambda pool: fit(shared, pool, *own), 1, False)
