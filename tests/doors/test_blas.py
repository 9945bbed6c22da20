"""BLAS is held to one thread while forests are computed, whoever calls, and is then left as it was.

The limit belongs to the whole process, and threadpoolctl lets only the first thread that sets it change it again. So
each scenario starts in a process of its own, with two BLAS threads, and returns what it saw.
"""

import multiprocessing
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest
import scipy.linalg.blas  # noqa: F401  # SciPy's own BLAS is to be watched, too
from threadpoolctl import threadpool_info, threadpool_limits

from bayesfloor import class_forests, spanning_forests
from helpers.point_sets import make_labels, make_points


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def compute(at_progress=None):
    """Call the engine where it multiplies matrices; return the limits seen meanwhile and afterwards."""
    meanwhile = set()

    def look(done, total):
        meanwhile.update(blas_threads())
        if at_progress is not None:
            at_progress()

    spanning_forests(make_points("gaussian", 1500, 40), n_jobs=2, progress=look)
    return meanwhile, blas_threads()


def in_the_main_thread_first():
    seen = [compute()]
    with ThreadPoolExecutor(1) as pool, ThreadPoolExecutor(1) as another_pool:
        seen += [pool.submit(compute).result(), another_pool.submit(compute).result()]
    seen.append(compute())
    for scenario in (for_classes, with_an_exception, with_calls_that_overlap, with_eight_calls_at_once):
        seen += scenario()
    return seen


def for_classes():
    meanwhile = set()
    class_forests(
        make_points("gaussian", 1500, 40),
        make_labels(1500, 4),
        progress=lambda done, total: meanwhile.update(blas_threads()),
    )
    return [(meanwhile, blas_threads())]


def with_calls_that_overlap():
    """The first call ends inside the second, so that another thread lifts the limit than set it."""
    first_began, second_began, first_ended = (threading.Event() for _ in range(3))

    # The waits give up after a while, should calls exclude one another.
    def in_first():
        first_began.set()
        second_began.wait(timeout=2)

    def in_second():
        second_began.set()
        first_ended.wait(timeout=5)

    def call_first():
        meanwhile, _ = compute(in_first)
        first_ended.set()
        return meanwhile

    def call_second():
        first_began.wait(timeout=60)
        return compute(in_second)

    with ThreadPoolExecutor(2) as pool:
        calls = pool.submit(call_first), pool.submit(call_second)
        meanwhile = calls[0].result() | calls[1].result()[0]
        return [(meanwhile, blas_threads()), compute()]


def with_eight_calls_at_once():
    with ThreadPoolExecutor(8) as pool:
        meanwhile = set().union(*(call.result()[0] for call in [pool.submit(compute) for _ in range(8)]))
        return [(meanwhile, blas_threads())]


def with_an_exception():
    def fail():
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        compute(fail)
    with ThreadPoolExecutor(1) as pool, pytest.raises(LookupError, match="enough"):
        pool.submit(compute, fail).result()
    return [({1}, blas_threads()), compute()]


@pytest.mark.parametrize(
    "scenario", [in_the_main_thread_first, pytest.param(with_calls_that_overlap, marks=pytest.mark.slow)]
)
def test_one_thread_meanwhile_and_as_before_afterwards(scenario, monkeypatch):
    for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(variable, "2")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        for meanwhile, afterwards in process.submit(scenario).result():
            assert meanwhile == {1}
            assert afterwards == {2}


def test_limits_of_the_caller_are_kept():
    with threadpool_limits(limits=1, user_api="blas"):
        assert compute() == ({1}, {1})
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        assert compute()[1] == before
