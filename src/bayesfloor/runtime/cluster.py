"""A graph of tasks, run by the workers of a Dask cluster.

::

    this process: graph ──scatter──▶ data on the workers ──submit──▶ tasks ──gather──▶ results in this process

What lies on a worker is data and results that say how large they are, so that Dask spills them to disk at its limits
of memory. Data is handed out some megabytes at a time, tasks in an order in which a result is soon used, and results
that no task needs any more are let go. The memory of a worker is then that of its tasks, each of which is bounded, and
whatever Dask is set to keep.

A worker may die at any time. Dask runs its tasks again elsewhere, as long as what they need can be had: results of
other tasks are computed anew, but what was scattered to the worker is lost, and with it every task that needs it. So
this process keeps, or makes again, what it scattered, and hands out again what was lost, with the tasks that it takes.
Dask tells what was lost, but not always: a worker that dies while its data is being scattered has it marked as there.
So the scheduler is also asked what it knows.

A scheduler that does not answer for `PATIENCE_S` is taken for gone; so is a cluster that has no workers for so long.
Nothing is waited for without end: a message that takes `stalled_s` (`Limits`), or so long in which no task of ours is
run or done, leads to one more try in which data travels with the tasks, and then to an error. A task may run as long
as it likes.
"""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
import uuid
from collections.abc import Callable, Set
from contextvars import Context
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from bayesfloor.runtime.checks import ParameterError, Progress
from bayesfloor.runtime.settings import limits
from bayesfloor.runtime.task_graph import Graph, Job, Lazy, bytes_of
from bayesfloor.runtime.threads import GLANCE_S, check_given_up

if TYPE_CHECKING:
    from dask.typing import Key
    from distributed import Client, Future

T = TypeVar("T")

# Seconds without an answer, or without workers, after which the cluster is taken for gone.
PATIENCE_S = 30.0
# Seconds of the first pause in which results are waited for, and how long a pause is as a part of the time before it.
SHORTEST_PAUSE_S, PAUSE_SHARE = 0.001, 0.1
# Seconds between two questions to the scheduler.
ASK_EVERY_S = 2.0
# Seconds for which the scheduler may not know a task that it was given; then the task is taken for lost.
UNKNOWN_S = 10.0
# Times that lost work is submitted again before giving up.
MOST_REPAIRS = 100
# Attempts to scatter data while workers come and go.
MOST_TRIES = 5
# Bytes of data that are handed out at a time: a worker has a message in memory as a whole before it can spill.
SCATTER_BYTES = 32 * 2**20


def check_client(client: Any) -> Client:
    """Return a client that work can be given to."""
    distributed = import_distributed()
    if not isinstance(client, distributed.Client):
        raise ParameterError("client", "a dask.distributed.Client or None", client)
    if client.asynchronous:
        raise TypeError("The 'client' parameter must not be an asynchronous client: results are waited for.")
    return client


def import_distributed() -> Any:
    """Import dask.distributed, which an extra of this package installs."""
    try:
        import distributed
    except ImportError as error:
        raise ImportError("a cluster needs dask.distributed: pip install 'bayesfloor[dask]'") from error
    return distributed


def cluster_of(client: Any) -> Cluster | None:
    """Check a client, and wait for the workers of its cluster; None for None."""
    return None if client is None else Cluster(check_client(client))


class StalledError(ConnectionError):
    """The scheduler is there, and yet nothing gets on."""


class Cluster:
    """A scheduler and its workers, as this process sees them."""

    def __init__(self, client: Client):
        self.client = client
        asked_for = getattr(client, "_start_arg", None)  # a closed client knows no scheduler any more
        known = asked_for if isinstance(asked_for, str) else getattr(asked_for, "scheduler_address", None)
        self.address = client.scheduler.address if client.scheduler is not None else known or "an unknown address"
        self._answered = time.monotonic()  # when the scheduler last did
        self._had_workers = self._answered
        self.workers: dict[str, int] = {}  # threads of every worker, when the scheduler was last asked
        while not self.ask():
            time.sleep(GLANCE_S)

    @property
    def n_slots(self) -> int:
        """How many threads the workers have together."""
        return len(self.slots)

    @property
    def slots(self) -> list[tuple[str, int]]:
        """The threads of all workers: the address of the worker, and which of its threads."""
        return [(address, thread) for address, n in sorted(self.workers.items()) for thread in range(n)]

    def check(self) -> None:
        """Ask the scheduler, now and then, whether it is there; raise when it or all workers are gone for too long.

        Also raise where the work has been given up.
        """
        check_given_up()
        if self.client.status != "running" or time.monotonic() - self._answered > ASK_EVERY_S:
            self.ask()

    def ask(self) -> dict[str, int]:
        """Return the number of threads of every worker."""
        while True:
            waited_s = time.monotonic() - self._answered
            status, scheduler = self.client.status, self.client.scheduler
            if status not in ("running", "connecting") or scheduler is None:
                raise self._gone("the connection is closed")
            if status == "running":
                with contextlib.suppress(OSError, TimeoutError):  # no answer, or a connection that just broke
                    limit_s = max(PATIENCE_S - waited_s, GLANCE_S)
                    threads = self.client.sync(scheduler.ncores, callback_timeout=limit_s)
                    break
            if waited_s > PATIENCE_S:
                raise self._gone(f"no answer for {waited_s:.0f} s")
            time.sleep(GLANCE_S)
        self._answered, self.workers = time.monotonic(), threads
        if threads:
            self._had_workers = self._answered
        elif self._answered - self._had_workers > PATIENCE_S:
            raise ConnectionError(f"the Dask scheduler at {self.address} has had no workers for {PATIENCE_S:g} s")
        return threads

    def unknown(self, keys: list[Key]) -> set[Key]:
        """Return those of some keys that the scheduler does not know."""

        def ask() -> dict[Key, str | None]:
            if (scheduler := self.client.scheduler) is not None:
                with contextlib.suppress(OSError):
                    return self.client.sync(scheduler.get_task_status, keys=keys)
            return {}  # the connection is closed or just broke: `check` finds out whether it stays so

        return {key for key, state in self.patiently(ask, limits().stalled_s).items() if state is None}

    def is_running(self, futures: list[Future[Any]]) -> bool:
        """Tell whether a worker is running one of some tasks at this moment."""
        with contextlib.suppress(OSError, KeyError):  # a worker that does not answer, a task that got lost
            return bool(self.patiently(lambda: self.client.call_stack(futures), limits().stalled_s))
        return False

    def _gone(self, why: str) -> ConnectionError:
        return ConnectionError(f"the Dask scheduler at {self.address} is gone: {why}")

    def stalled(self, why: str) -> StalledError:
        """Return the error of a cluster that does nothing."""
        return StalledError(f"the Dask cluster at {self.address} does not get on: {why}")

    def patiently(self, call: Callable[[], T], limit_s: float = math.inf) -> T:
        """Call something that waits for the cluster; give it up after some seconds, or when the scheduler is gone."""
        outcome: list[tuple[T | None, BaseException | None]] = []

        def do() -> None:
            try:
                outcome.append((call(), None))
            except BaseException as error:  # raised below, where the caller waits
                outcome.append((None, error))

        thread = threading.Thread(target=do, name="bayesfloor-cluster", daemon=True)
        thread.start()
        began = time.monotonic()
        while thread.is_alive():
            thread.join(GLANCE_S)
            self.check()
            if time.monotonic() - began > limit_s:
                raise self.stalled(f"a message took more than {limit_s:g} s")
        result, error = outcome[0]
        if error is not None:
            raise error
        return result  # type: ignore[return-value]


class Computed:
    """A part of a Dask collection: a future on the workers, computed again when it is needed after it was let go."""

    def __init__(self, client: Client, part: Any, future: Future[Any]):
        self._client, self._part = client, part
        self._future: Future[Any] | None = future

    @property
    def future(self) -> Future[Any]:
        """The part on the workers."""
        if self._future is None:
            self._future = self._client.compute(self._part)
        return self._future

    def let_go(self) -> None:
        """Drop the future; a part that somebody else holds, as whoever persisted it, stays where it is."""
        self._future = None


def _given(value: T) -> T:
    """Return what was sent: data that travels with a task."""
    return value


class ClusterRun:
    """One graph on its way through a cluster."""

    def __init__(self, cluster: Cluster, graph: Graph):
        self.cluster, self.graph = cluster, graph
        self.token = uuid.uuid4().hex[:12]
        self.futures: dict[str, Future[Any]] = {}
        self.here: dict[str, Any] = {}  # results of the jobs that are done here
        self.used_up: set[str] = set()  # done, and let go of because nothing needs it any more
        self.users = graph.users()
        self.pinned: dict[str, str | None] = {}  # jobs that one worker alone may do, which may be gone before it does
        self.n_repairs = 0
        self.with_tasks = False  # whether data travels with the tasks, by way of the scheduler
        self._moved = time.monotonic()  # when a task of ours was last seen to run, or to be done
        self._n_done = -1
        self._asked = time.monotonic()  # when the scheduler was last asked what it knows
        self._unknown_since: dict[Key, float] = {}

    def run(self, report: Progress | None) -> dict[str, Any]:
        """Have all jobs done and return the wanted results."""
        from distributed import CancelledError

        done, total, began = 0, max(self.graph.amount, 1), time.monotonic()
        try:
            self._hand_out(set(self.graph.data) | set(self.graph.jobs))
            while True:
                self.cluster.check()
                states = {name: future.status for name, future in self.futures.items()}
                failed = [name for name, state in states.items() if state == "error"]
                if failed:
                    self._raise(failed)
                finished = {name for name, state in states.items() if state == "finished"} | self.here.keys()
                try:
                    if finished.issuperset(self.graph.wanted):
                        results = self._gather(self.graph.wanted)
                        if report is not None:
                            report(total, total)
                        return results
                    self._work_here(finished)
                except CancelledError:  # lost on the way
                    time.sleep(GLANCE_S)
                    continue
                self._let_go(finished)
                lost = {
                    name for name, state in states.items() if state in ("cancelled", "lost") or self._waits(name, state)
                }
                if lost or time.monotonic() - self._asked > ASK_EVERY_S:
                    lost |= self._unnoticed()
                if lost := lost or self._stuck(finished):
                    self._repair(lost)
                elif report is not None:
                    amounts = (job.amount for name, job in self.graph.jobs.items() if name in finished | self.used_up)
                    done = max(done, sum(amounts))  # what was lost is done again
                    report(done, total)
                waited_s = time.monotonic() - began
                time.sleep(min(max(SHORTEST_PAUSE_S, PAUSE_SHARE * waited_s), GLANCE_S / 2))
        except BaseException:
            self._cancel()
            raise
        finally:
            self.futures.clear()

    def _hand_out(self, names: set[str]) -> None:
        """Scatter data and submit jobs."""
        from distributed import Future

        client = self.cluster.client
        suffix = f"{self.token}-{self.n_repairs}"
        kinds: dict[tuple[str, str | None], dict[str, Any]] = {}
        for name, value in self.graph.data.items():
            if name in names and isinstance(value, Future | Computed):
                self.futures[name] = value.future if isinstance(value, Computed) else value
            elif name in names:
                kind = name.split()[0]
                worker = self._worker_for(name) if kind != "shared" else None
                kinds.setdefault((kind, worker), {})[name] = value
        for (kind, worker), data in kinds.items():  # one kind after the other, so that each is spread evenly
            self.futures.update(self._scatter(data, suffix, kind == "shared", worker))
        for place, name in enumerate(self.graph.depth_first()):
            job = self.graph.jobs[name]
            if name in names and not job.here:
                needs = job.arguments(self.futures)
                key = f"bayesfloor-{name}-{suffix}"
                workers = [job.worker] if job.worker in self.cluster.workers else None
                self.pinned[name] = job.worker if workers else None
                self.futures[name] = client.submit(job.work, *needs, key=key, priority=-place, workers=workers)
        self._moved = time.monotonic()

    def _stuck(self, finished: Set[str]) -> set[str]:
        """Return what must be handed out again because nothing gets on; raise where that was done before."""
        from distributed import Future

        now, n_done = time.monotonic(), len(finished) + len(self.used_up)
        if n_done != self._n_done:
            self._moved, self._n_done = now, n_done
        if now - self._moved <= limits().stalled_s:
            return set()
        self._moved = now
        jobs = {name for name in self.graph.jobs if name in self.futures and name not in finished}
        if self.cluster.is_running([self.futures[name] for name in jobs]):
            return set()
        if self.with_tasks:
            raise self.cluster.stalled(f"no worker took up a task for {limits().stalled_s:g} s, twice")
        self.with_tasks = True
        needs = {need for name in jobs for need in self.graph.jobs[name].names() if need in self.graph.data}
        return jobs | {need for need in needs if not isinstance(self.graph.data[need], Future | Computed)}

    def _waits(self, name: str, state: str) -> bool:
        """Tell whether a job waits for a worker that is gone."""
        worker = self.pinned.get(name)
        return state == "pending" and worker is not None and worker not in self.cluster.workers

    def _worker_for(self, name: str) -> str | None:
        """Return the worker that data is sent to, that of a job which needs it; None for one after the other."""
        return next((self.graph.jobs[user].worker for user in self.users[name]), None)

    def _work_here(self, finished: Set[str]) -> None:
        """Do the jobs of this process whose needs are there."""
        for name, job in self.graph.jobs.items():
            is_ready = job.here and name not in self.here and name not in self.used_up
            if is_ready and all(need in finished or self._is_here(need) for need in job.names()):
                self.here[name] = self._do(job)

    def _is_here(self, name: str) -> bool:
        from distributed import Future

        known = self.graph.data.get(name)
        return name in self.here or (known is not None and not isinstance(known, Future | Lazy | Computed))

    def _do(self, job: Job) -> Any:
        """Gather what a job needs and do it in this process."""
        known = self._gather(list(job.names()))
        done = self.cluster.patiently(lambda: job.work(*job.arguments(known)))
        self._moved = time.monotonic()
        return done

    def _let_go(self, finished: Set[str]) -> None:
        """Drop data and results that all jobs which need them have had; Dask removes them from the workers."""
        done = finished | self.used_up
        for names in (self.futures, self.here):
            for name in [name for name in names if name not in self.graph.wanted]:
                if self.users[name] and all(user in done for user in self.users[name]):
                    del names[name]
                    self.used_up.add(name)
                    if isinstance(part := self.graph.data.get(name), Computed):
                        part.let_go()

    def _scatter(self, data: dict[str, Any], suffix: str, to_all: bool, worker: str | None) -> dict[str, Future[Any]]:
        """Hand out data to one worker, to all of them, or to the workers in turn."""
        futures: dict[str, Future[Any]] = {}
        batch: dict[str, Any] = {}
        for name, value in data.items():
            batch[name] = value.make() if isinstance(value, Lazy) else value
            if sum(map(bytes_of, batch.values())) > SCATTER_BYTES:
                futures |= self._scatter_at_once(batch, suffix, to_all, worker)
                batch = {}
        return futures | self._scatter_at_once(batch, suffix, to_all, worker) if batch else futures

    def _scatter_at_once(
        self, data: dict[str, Any], suffix: str, to_all: bool, worker: str | None
    ) -> dict[str, Future[Any]]:
        keyed = {f"bayesfloor-{name}-{suffix}": value for name, value in data.items()}
        client = self.cluster.client
        if self.with_tasks:
            return self._send_with_tasks(dict(zip(data, keyed.items(), strict=True)))
        for left in reversed(range(MOST_TRIES)):
            workers = [worker] if worker in self.cluster.workers else None
            scatter = partial(client.scatter, keyed, workers=workers, broadcast=to_all, timeout=PATIENCE_S)
            try:
                scattered = self.cluster.patiently(scatter, limits().stalled_s)
                break
            except StalledError:
                self.with_tasks = True
                return self._scatter_at_once(data, f"{suffix}-again", to_all, worker)
            except (OSError, TimeoutError, KeyError):  # the last where the worker has just gone
                self.cluster.ask()  # raises when it was not only a worker that went away
                if left == 0:
                    raise
        return dict(zip(data, (scattered[key] for key in keyed), strict=True))

    def _send_with_tasks(self, keyed: dict[str, tuple[str, Any]]) -> dict[str, Future[Any]]:
        """Hand out data as what tasks return, which Dask can do again."""
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": sys.maxsize}):
            return {name: self.cluster.client.submit(_given, value, key=key) for name, (key, value) in keyed.items()}

    def _repair(self, lost: set[str]) -> None:
        """Hand out again what was lost with a worker, and what needs it and is not there yet."""
        self.n_repairs += 1
        if self.n_repairs > MOST_REPAIRS:
            raise RuntimeError(f"{len(lost)} pieces of work were lost again and again; see the workers' logs")
        from distributed import Future

        if any(isinstance(self.graph.data.get(name), Future) for name in lost):
            raise RuntimeError("a part of X was lost with its worker, and Dask cannot compute it again")
        self.cluster.ask()  # which workers are left
        anew = set(lost)
        for name in lost:
            if isinstance(part := self.graph.data.get(name), Computed):
                part.let_go()
        for name, job in self.graph.jobs.items():
            is_done = name in self.used_up or (name in self.futures and self.futures[name].status == "finished")
            if not job.here and not is_done and not anew.isdisjoint(job.names()):
                anew.add(name)
        for name, job in reversed(self.graph.jobs.items()):
            if name in anew:
                anew.update(need for need in job.names() if need not in self.futures)
        self.used_up -= anew
        self._hand_out(anew)

    def _unnoticed(self) -> set[str]:
        """Return what is lost although Dask has not told so: what the scheduler had, or should have, and has not."""
        states = {future.key: future.status for future in self.futures.values()}
        unknown = self.cluster.unknown([key for key, state in states.items() if state in ("pending", "finished")])
        self._asked = now = time.monotonic()
        since = self._unknown_since = {key: self._unknown_since.get(key, now) for key in unknown}
        lost = {key for key in unknown if states[key] == "finished" or now - since[key] > UNKNOWN_S}
        return {name for name, future in self.futures.items() if future.key in lost}

    def _gather(self, names: list[str]) -> dict[str, Any]:
        """Return results and data by name."""
        known = {name: self.here.get(name, self.graph.data.get(name)) for name in names if self._is_here(name)}
        futures = {name: self.futures[name] for name in names if name not in known}
        return known | self.cluster.patiently(lambda: self.cluster.client.gather(futures), limits().stalled_s)

    def _raise(self, failed: list[str]) -> None:
        """Raise what went wrong first."""
        from distributed import KilledWorker

        name = next(name for name in (*self.graph.data, *self.graph.jobs) if name in failed)
        error = self.cluster.patiently(self.futures[name].exception, limits().stalled_s)
        if isinstance(error, KilledWorker):
            raise RuntimeError(
                f"workers died again and again at the task {name!r}, perhaps for want of memory: {error}"
            ) from error
        raise error

    def _cancel(self) -> None:
        """Take back what is not done yet."""
        client = self.cluster.client
        if client.status == "running":
            with contextlib.suppress(Exception):  # there is something else to raise
                # in a context of its own: that the work was given up is why there is something to take back
                stalled_s = limits().stalled_s
                Context().run(self.cluster.patiently, lambda: client.cancel(list(self.futures.values())), stalled_s)


class KeptRun(ClusterRun):
    """One of several runs on the same data, which is sent once, and again only when it is lost.

    Names tell which data are the same.
    """

    def __init__(self, cluster: Cluster, graph: Graph, sent: dict[str, Future[Any]]):
        super().__init__(cluster, graph)
        self._sent = sent

    def _scatter(self, data: dict[str, Any], suffix: str, to_all: bool, worker: str | None) -> dict[str, Future[Any]]:
        gone = {
            name: value
            for name, value in data.items()
            if name not in self._sent or self._sent[name].status != "finished" or self.with_tasks
        }
        if gone:
            self._sent.update(super()._scatter(gone, suffix, to_all, worker))
        return {name: self._sent[name] for name in data}
