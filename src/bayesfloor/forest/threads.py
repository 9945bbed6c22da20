"""Python threads over kernels that release the GIL: progress, Ctrl-C, and BLAS held to one thread meanwhile."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from threadpoolctl import ThreadpoolController, threadpool_limits

Progress = Callable[[int, int], object]


class Crew:
    """A few threads that work through tasks; one thread works in place of a pool of one."""

    def __init__(self, n_threads: int, pool: ThreadPoolExecutor | None = None, progress: Progress | None = None):
        self.n_threads = n_threads
        self._pool = pool
        self._progress = progress
        self._done = 0
        self._total = 0
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    @property
    def alone(self) -> Crew:
        """A crew of one for a task that another crew runs. It stops when that one does."""
        crew = Crew(1)
        crew._stopped = self._stopped
        return crew

    def expect(self, total: int) -> None:
        """Say how much work there is in all."""
        self._total = max(total, 1)
        self._report()

    def advance(self, amount: int) -> None:
        """Note work as done, from any thread. The caller's own thread reports it, at once or when it looks up."""
        with self._lock:
            self._done = min(self._done + amount, self._total)
        if self._pool is None:
            self._report()

    def finish(self) -> None:
        """Report all work as done."""
        self._done = self._total
        self._report()

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(self._done, self._total)

    def check(self) -> None:
        """Leave the work, in a thread of the pool, when it has been given up."""
        if self._stopped.is_set():
            raise InterruptedError("the computation was stopped")

    def run(
        self, task: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], amounts: Sequence[int] = ()
    ) -> list[Any]:
        """Call a task with each of the arguments and return the results in that order.

        An exception in a task, in the progress callback, or from Ctrl-C stops the rest.
        """
        if self._pool is None or len(arguments) == 1:
            results = []
            for number, args in enumerate(arguments):
                self.check()
                results.append(task(*args))
                if amounts:
                    self.advance(amounts[number])
            return results

        def guarded(*args: Any) -> Any:
            self.check()
            return task(*args)

        futures: list[Future[Any]] = []
        try:
            futures = [self._pool.submit(guarded, *args) for args in arguments]
            number_of = {future: number for number, future in enumerate(futures)}
            waiting = set(futures)
            while waiting:
                finished, waiting = wait(waiting, timeout=0.05, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()
                    if amounts:
                        self.advance(amounts[number_of[future]])
                self._report()
        except BaseException:
            self._stopped.set()
            for future in futures:
                future.cancel()
            raise
        return [future.result() for future in futures]


@contextlib.contextmanager
def hired_crew(n_threads: int, progress: bool | Progress) -> Iterator[Crew]:
    """Yield a crew, and let its threads go at the end."""
    if not isinstance(progress, bool) and not callable(progress):
        raise TypeError(f"The 'progress' parameter must be a bool or a callable. Got {progress!r} instead.")
    report = _progress_bar() if progress is True else (progress or None)
    with _one_blas_thread():
        if n_threads == 1:
            yield Crew(1, progress=report)
            return
        pool = ThreadPoolExecutor(n_threads, thread_name_prefix="bayesfloor")
        try:
            yield Crew(n_threads, pool, report)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


_blas_lock = threading.Lock()
_blas_users = 0
_blas_limits: threadpool_limits | None = None


@contextlib.contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread while anybody is in here.

    The setting belongs to the process, so callers in several threads share one: the first sets it and the last
    restores it.
    """
    # Kernels multiply with SciPy's BLAS; what is not loaded yet would not be held.
    import scipy.linalg.cython_blas  # noqa: F401

    global _blas_users, _blas_limits
    with _blas_lock:
        if _blas_users == 0:
            _blas_limits = ThreadpoolController().limit(limits=1, user_api="blas")
        _blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0 and _blas_limits is not None:
                _blas_limits.restore_original_limits()
                _blas_limits = None


def _progress_bar() -> Progress | None:
    """Return a callback that draws a bar on stderr where that is a terminal."""
    if not sys.stderr.isatty():
        return None
    started = time.monotonic()

    def draw(done: int, total: int) -> None:
        elapsed = time.monotonic() - started
        share = done / total
        left = f"{elapsed / share - elapsed:4.0f} s left" if 0 < share < 1 else f"{elapsed:4.0f} s     "
        filled = int(30 * share)
        end = "\n" if done == total else ""
        print(f"\r[{'#' * filled}{'.' * (30 - filled)}] {share:4.0%} {left}", end=end, file=sys.stderr, flush=True)

    return draw
