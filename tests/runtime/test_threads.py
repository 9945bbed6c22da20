"""Pieces of work that share a pool of threads go on side by side, and fail together."""

import threading
import time

import pytest

from bayesfloor.runtime.threads import supervise


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_works_side_by_side_return_in_order(n_threads):
    def work(pool):
        def squares(first):
            return sum(pool.run(lambda value: value**2, [(first + step,) for step in range(4)]))

        return pool.map_in_parallel(squares, [(first,) for first in range(5)])

    assert supervise(work, n_threads, False) == [sum((n + step) ** 2 for step in range(4)) for n in range(5)]


def test_threads_go_on_with_another_work_while_one_waits():
    met = threading.Barrier(2, timeout=30.0)

    def work(pool):
        # each work has one task, which waits for that of the other
        return pool.map_in_parallel(lambda: pool.run(met.wait, [()]), [(), ()])

    assert sorted(index for (index,) in supervise(work, 2, False)) == [0, 1]


def test_an_error_in_one_work_stops_the_others():
    begun = threading.Event()

    def fails(pool):
        assert begun.wait(30.0)
        raise ValueError("the first work fails")

    def goes_on(pool):
        begun.set()
        while True:
            pool.check()
            pool.run(lambda: None, [(), ()])

    with pytest.raises(ValueError, match="the first work fails"):
        supervise(lambda pool: pool.map_in_parallel(lambda own: own(pool), [(fails,), (goes_on,)]), 2, False)


def test_what_stopped_the_others_is_told_and_not_that_they_were_stopped():
    begun, left = threading.Event(), threading.Event()

    def fail():
        assert begun.wait(30.0)
        raise ValueError("the first work fails")

    def fails(pool):
        try:
            pool.run(fail, [(), ()])
        finally:  # the other work has ended before this one does
            assert left.wait(30.0)
            time.sleep(0.2)

    def goes_on(pool):
        begun.set()
        try:
            while True:
                pool.check()
        finally:
            left.set()

    with pytest.raises(ValueError, match="the first work fails"):
        supervise(lambda pool: pool.map_in_parallel(lambda own: own(pool), [(fails,), (goes_on,)]), 2, False)
