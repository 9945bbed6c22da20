"""Pieces of work that share a pool of threads go on side by side and fail together; progress never goes back."""

import threading
import time

import pytest

from bayesfloor.runtime import threads
from bayesfloor.runtime.progress import Bar, Stages, reporter
from bayesfloor.runtime.threads import supervise


def test_works_side_by_side_return_in_order():
    def work(pool):
        def squares(first):
            return sum(pool.run(lambda value: value**2, [(first + step,) for step in range(4)]))

        return pool.map_in_parallel(squares, [(first,) for first in range(5)])

    for n_threads in (1, 2, 3):
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


def shares(calls):
    return [done / total for done, total in calls]


def test_a_task_of_no_work_may_run_after_others(monkeypatch):
    monkeypatch.setattr(threads, "GLANCE_S", 0.01)
    calls = []

    def work(pool):
        pool.expect(10)
        return pool.run(time.sleep, [(0.05,), (0.2,)], [10, 0])

    supervise(work, 1, lambda *call: calls.append(call))
    assert calls[-1] == (10, 10)


def test_stages_never_go_back_and_end_at_the_total():
    calls = []
    stages = Stages(lambda *call: calls.append(call))
    first = stages.begin(1.0, 1.0)  # two trainings are expected
    first(5, 10)
    assert shares(calls)[-1] == 0.25
    first(10, 10)
    assert shares(calls)[-1] == 0.5
    second = stages.begin(1.0, 1.0)  # and a third turns out to be needed
    second(0, 10)
    assert shares(calls)[-1] == 0.5
    second(10, 10)
    assert shares(calls)[-1] == 0.75
    first(1, 10)  # late
    assert shares(calls)[-1] == 0.75
    stages.finish()  # the third was none
    seen = shares(calls)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_stages_tell_nobody_where_nobody_asked():
    stages = Stages(False)
    assert stages.begin(1.0, 0.0) is False
    stages.finish()


def test_what_is_no_progress_is_refused():
    with pytest.raises(TypeError, match="progress"):
        reporter("loud")


def test_a_bar_waits_and_can_be_cleared(capsys):
    bar = Bar(patience=60.0)
    bar(1, 2)
    bar.clear()
    assert capsys.readouterr().err == ""
    bar = Bar()
    bar(1, 2)
    shown = capsys.readouterr().err
    assert "50%" in shown
    assert "#" * 15 + "." * 15 in shown
    bar.clear()
    assert capsys.readouterr().err.endswith("\033[K")
