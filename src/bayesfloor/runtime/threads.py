"""Python threads over kernels that release the GIL: progress, Ctrl-C, and BLAS held to one thread meanwhile."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextvars import ContextVar, copy_context
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from bayesfloor.runtime.checks import Progress
from bayesfloor.runtime.limits import one_of_a_pool
from bayesfloor.runtime.progress import reporter

T = TypeVar("T")

# Seconds between two looks of the waiting thread at progress and interrupts.
GLANCE_S = 0.05

# The pool that does the work around here, so that whatever waits for something else can see whether it was given up.
_pool: ContextVar[WorkerPool | None] = ContextVar("pool", default=None)


def check_given_up() -> None:
    """Leave the work where the pool that does it has been stopped."""
    if (pool := _pool.get()) is not None:
        pool.check()


class WorkerPool:
    """A few threads that work through tasks; one thread works in place of a pool of one."""

    def __init__(self, n_threads: int, executor: ThreadPoolExecutor | None = None):
        self.n_threads = n_threads
        self._executor = executor
        self._lock = threading.Lock()
        #: Not 0 once the work has been given up: long kernels look at it.
        self.stopped = np.zeros(1, np.uint8)
        #: The first error, which made the others leave their work.
        self.cause: BaseException | None = None
        self.done = 0
        self.total = 1

    @property
    def alone(self) -> WorkerPool:
        """A pool of one for a task that this pool runs. It stops when this one does."""
        pool = WorkerPool(1)
        pool.stopped = self.stopped
        return pool

    def expect(self, total: int) -> None:
        """Say how much work there is in all."""
        self.total = max(total, 1)

    def advance(self, amount: int) -> None:
        """Note work as done, from any thread."""
        with self._lock:
            self.done = min(self.done + amount, self.total)

    def stop(self) -> None:
        """Give the work up, from any thread: whoever checks next leaves it."""
        self.stopped[0] = 1

    def check(self) -> None:
        """Leave the work when it has been given up."""
        if self.stopped[0]:
            raise InterruptedError("the computation was stopped")

    def shares(self, n: int) -> list[tuple[int, int]]:
        """Cut n things into one stretch for each thread, as (first, last); none of them empty."""
        n_shares = max(min(self.n_threads, n), 1)
        return list(pairwise(share * n // n_shares for share in range(n_shares + 1)))

    def run(
        self, task: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], amounts: Sequence[int] = ()
    ) -> list[Any]:
        """Call a task with each of the arguments and return the results in that order.

        An exception in one task stops the rest.
        """

        def do(number: int) -> Any:
            self.check()
            with one_of_a_pool(1 if self._executor is None else self.n_threads):
                result = task(*arguments[number])
            if amounts:
                self.advance(amounts[number])
            return result

        if self._executor is None or len(arguments) == 1:
            return [do(number) for number in range(len(arguments))]
        return self._results_of([self._executor.submit(copy_context().run, do, n) for n in range(len(arguments))])

    def map_in_parallel(
        self, work: Callable[..., T], arguments: Sequence[tuple[Any, ...]], is_elsewhere: bool = False
    ) -> list[T]:
        """Call something that has this pool run tasks, with each of the arguments; return the results in that order.

        Where one of the calls waits for its last tasks, the threads go on with those of another. A single thread has
        no others, unless the work is done elsewhere.
        """
        if len(arguments) == 1 or (self._executor is None and not is_elsewhere):
            return [work(*own) for own in arguments]
        with ThreadPoolExecutor(len(arguments), thread_name_prefix="bayesfloor-waiting") as waiting:
            return self._results_of([waiting.submit(copy_context().run, work, *own) for own in arguments])

    def _results_of(self, futures: Sequence[Future[T]]) -> list[T]:
        """Wait for results; an exception in one task stops the rest."""
        try:
            done = wait(futures, return_when=FIRST_EXCEPTION).done
            for future in done:  # one that failed, before those that still run are waited for
                future.result()
            return [future.result() for future in futures]
        except BaseException as error:
            self.cause = self.cause or error
            self.stop()
            for future in futures:
                future.cancel()
            raise self.cause from self.cause.__cause__


def supervise(work: Callable[[WorkerPool], T], n_threads: int, progress: bool | Progress) -> T:
    """Have a pool do some work, while the calling thread reports progress and listens for Ctrl-C.

    No kernel runs in the calling thread: compiled code there would hold back an interrupt, or lose it.
    """
    report = reporter(progress)
    with _one_blas_thread(), ThreadPoolExecutor(n_threads + 1, thread_name_prefix="bayesfloor") as executor:
        pool = WorkerPool(n_threads, executor if n_threads > 1 else None)
        context = copy_context()
        context.run(_pool.set, pool)
        future = executor.submit(context.run, work, pool)
        try:
            while not wait((future,), timeout=GLANCE_S).done:
                if report is not None:
                    report(pool.done, pool.total)
            result = future.result()
            if report is not None:
                report(pool.total, pool.total)
            return result
        except BaseException:
            pool.stop()
            future.cancel()
            raise


class _Keeper(threading.Thread):
    """A thread that holds BLAS to one thread for as long as it lives.

    The limit belongs to the process, and threadpoolctl lets only the thread that set it lift it again, so a thread
    of its own does both, whichever callers come first and last.
    """

    def __init__(self, blas: ThreadpoolController):
        super().__init__(name="bayesfloor-blas", daemon=True)
        self._blas = blas
        self._holding, self._released = threading.Event(), threading.Event()

    def run(self) -> None:
        try:
            with self._blas.limit(limits=1, user_api="blas"):
                self._holding.set()
                self._released.wait()
        finally:
            self._holding.set()  # a limit that cannot be set must not keep anybody waiting

    def hold(self) -> None:
        """Set the limit."""
        self.start()
        self._holding.wait()

    def release(self) -> None:
        """Restore what was set before."""
        self._released.set()
        self.join()


_keeper_lock = threading.Lock()
_keeper: _Keeper | None = None
_blas: ThreadpoolController | None = None
_blas_users = 0


@contextlib.contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread while anybody is in here."""
    # Kernels multiply with SciPy's BLAS; what is not loaded yet would not be held.
    import scipy.linalg.cython_blas  # noqa: F401

    global _blas, _blas_users, _keeper
    with _keeper_lock:
        if _blas is None:
            _blas = ThreadpoolController()
        if _blas_users == 0:
            _keeper = _Keeper(_blas)
            _keeper.hold()
        _blas_users += 1
    try:
        yield
    finally:
        with _keeper_lock:
            _blas_users -= 1
            if _blas_users == 0 and _keeper is not None:
                _keeper.release()
                _keeper = None
