"""Progress, exceptions out of its callback, and Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import pytest

from bayesfloor import class_forests, spanning_forests
from forest.agreement import assert_same_forests
from forest.point_sets import make_labels, make_points


def assert_ran_to_the_end(calls):
    assert calls
    done = [call[0] for call in calls]
    assert done == sorted(done)
    assert all(0 <= d <= total for d, total in calls)
    assert calls[-1][0] == calls[-1][1]


@pytest.mark.parametrize(("n", "d"), [(2, 1), (50, 3), (3000, 2), (2000, 40)])
def test_callback(n, d):
    X = make_points("gaussian", n, d)
    calls = []
    forests = spanning_forests(X, progress=lambda done, total: calls.append((done, total)))
    assert_ran_to_the_end(calls)
    assert_same_forests(forests, spanning_forests(X))


@pytest.mark.parametrize("n_classes", [2, 7])
def test_callback_of_class_forests(n_classes):
    X = make_points("gaussian", 1000, 12)
    calls = []
    class_forests(X, make_labels(1000, n_classes), progress=lambda done, total: calls.append((done, total)))
    assert_ran_to_the_end(calls)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("least_done", [0, 1], ids=["at once", "midway"])
@pytest.mark.parametrize("by_class", [False, True])
def test_exception_in_the_callback_stops_the_work(n_jobs, least_done, by_class):
    X = make_points("gaussian", 12_000, 12)
    n_threads = threading.active_count()
    calls = []

    def stop(done, total):
        calls.append(done)
        if done >= least_done:
            raise LookupError("seen enough")

    compute = partial(class_forests, X, make_labels(len(X), 3)) if by_class else partial(spanning_forests, X)
    with pytest.raises(LookupError, match="seen enough"):
        compute(n_jobs=n_jobs, progress=stop)
    n_calls = len(calls)
    assert all(done < least_done for done in calls[:-1])
    time.sleep(0.1)
    assert len(calls) == n_calls
    assert threading.active_count() <= n_threads
    assert spanning_forests(X[:500]).spans


def test_nothing_is_written_when_stderr_is_no_terminal(capfd):
    spanning_forests(make_points("gaussian", 3000, 8), progress=True)
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_bar_on_a_terminal():
    import pty

    script = """
import numpy as np
from bayesfloor import spanning_forests
spanning_forests(np.random.default_rng(0).standard_normal((4000, 12)), progress=True)
"""
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # Linux reports the closed other end so
                break
            if not part:
                break
            shown += part
        out = process.stdout.read()
    os.close(ours)
    assert process.returncode == 0, shown.decode()
    assert out == b""
    assert b"100" in shown


INTERRUPTED = """
import numpy as np
from bayesfloor import class_forests
X = np.random.default_rng(0).standard_normal((30000, 50))
started = False
def report(done, total):
    global started
    if done > 0 and not started:
        started = True
        print("started", flush=True)
class_forests(X, np.arange(30000) % 10, n_jobs=2, progress=report)
print("finished", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_control_c_stops_the_work():
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "started\n", process.stderr.read()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert "finished" not in out
    assert process.returncode in (-signal.SIGINT, 130)
    assert "KeyboardInterrupt" in err
