"""Progress moves as tasks end, and never goes back; one bar serves several parts."""

import time

import pytest

from bayesfloor.runtime import threads
from bayesfloor.runtime.progress import Bar, Stages, reporter
from bayesfloor.runtime.threads import supervise


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
