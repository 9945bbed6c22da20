"""Threads and processes: any number inside a call, and calls from many at once."""

import multiprocessing
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest

from bayesfloor import class_forests, spanning_forests
from bayesfloor.runtime.threads import supervise
from forest.agreement import assert_same_forests
from forest.point_sets import make_labels, make_points

SETS = [("gaussian", 2), ("clustered", 8), ("one_hot", 20), ("gaussian", 40), ("some_copies", 30)]


@pytest.mark.parametrize(("kind", "d"), SETS)
def test_any_number_of_threads(kind, d):
    X = make_points(kind, 1200, d)
    alone = spanning_forests(X, n_jobs=1)
    for n_jobs in (2, 8):
        assert_same_forests(spanning_forests(X, n_jobs=n_jobs), alone)


@pytest.mark.parametrize(("kind", "d"), SETS)
def test_any_number_of_threads_for_classes(kind, d):
    X, y = make_points(kind, 1000, d), make_labels(1000, 4)
    alone = class_forests(X, y, n_jobs=1)
    for n_jobs in (3, None):
        result = class_forests(X, y, n_jobs=n_jobs)
        np.testing.assert_array_equal(result.pair_cross_counts, alone.pair_cross_counts)
        assert_same_forests(result.whole, alone.whole)
        assert_same_forests(result.pair(0, 3), alone.pair(0, 3))


def test_calls_from_eight_threads():
    points = [make_points(SETS[i % 5][0], 700 + 10 * i, SETS[i % 5][1]) for i in range(16)]
    expected = [spanning_forests(X, n_jobs=1) for X in points]
    start = threading.Barrier(8)

    def compute(i):
        if i < 8:
            start.wait(timeout=60)
        return spanning_forests(points[i], n_jobs=2)

    with ThreadPoolExecutor(8) as pool:
        for result, forests in zip(pool.map(compute, range(16)), expected, strict=True):
            assert_same_forests(result, forests)


def test_class_calls_from_eight_threads():
    X = make_points("gaussian", 800, 30)
    y = make_labels(800, 5)
    expected = class_forests(X, y, n_jobs=1)
    with ThreadPoolExecutor(8) as pool:
        for result in pool.map(lambda _: class_forests(X, y), range(8)):
            np.testing.assert_array_equal(result.pair_cross_counts, expected.pair_cross_counts)
            assert_same_forests(result.whole, expected.whole)


def test_a_failure_is_raised_while_earlier_tasks_run():
    """And these are told to stop, which is what ends them."""
    stops = []

    def task(pool, number):
        if number == 1:
            raise LookupError("of the second task")
        stops.append(wait_until(lambda: pool.stopped[0]))

    def work(pool):
        pool.run(task, [(pool, number) for number in range(5)])

    with pytest.raises(LookupError, match="of the second task"):
        supervise(work, 2, False)
    assert stops
    assert all(stops)


def wait_until(condition, seconds=20.0):
    """Tell whether a condition comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.001)
    return bool(condition())


def test_no_thread_is_left_behind():
    spanning_forests(make_points("gaussian", 3000, 40), n_jobs=3)
    before = threading.active_count()
    for _ in range(5):
        spanning_forests(make_points("gaussian", 3000, 40), n_jobs=3)
    assert threading.active_count() <= before


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_inside_joblib_workers(backend):
    points = [make_points(kind, 600, d) for kind, d in SETS]
    results = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(spanning_forests)(X, n_trees=2) for X in points)
    for X, result in zip(points, results, strict=True):
        assert_same_forests(result, spanning_forests(X, n_trees=2))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
# Python 3.12 and later warn when any thread (BLAS has some) is alive at a fork.
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_in_a_forked_process_after_use_in_its_parent():
    X = make_points("gaussian", 1500, 30)
    expected = spanning_forests(X, n_jobs=2)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        result = pool.apply_async(spanning_forests, (X,), {"n_jobs": 2}).get(timeout=60)
    assert_same_forests(result, expected)
