"""Threads, progress and processes: any number of threads, calls from many at once, exceptions, Ctrl-C, peak memory."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import joblib
import numpy as np
import pytest

from bayesfloor import class_forests, spanning_forests
from helpers.agreement import assert_same_forests
from helpers.one_case import for_each
from helpers.point_sets import make_labels, make_points

SETS = [("gaussian", 2), ("clustered", 8), ("one_hot", 20), ("some_copies", 30)]


@for_each(("kind", "d"), SETS)
def test_any_number_of_threads(kind, d):
    X, y = make_points(kind, 1000, d), make_labels(1000, 4)
    alone, by_class = spanning_forests(X, n_jobs=1), class_forests(X, y, n_jobs=1)
    for n_jobs in (2, 8, None):
        assert_same_forests(spanning_forests(X, n_jobs=n_jobs), alone)
    for n_jobs in (3, None):
        result = class_forests(X, y, n_jobs=n_jobs)
        np.testing.assert_array_equal(result.pair_cross_counts, by_class.pair_cross_counts)
        assert_same_forests(result.whole, by_class.whole)
        assert_same_forests(result.pair(0, 3), by_class.pair(0, 3))


def test_calls_from_eight_threads():
    points = [make_points(SETS[i % 4][0], 600 + 10 * i, SETS[i % 4][1]) for i in range(12)]
    y = np.arange(1000) % 5
    expected = [(spanning_forests(X, n_jobs=1), class_forests(X, y[: len(X)], n_jobs=1)) for X in points]
    start = threading.Barrier(8)

    def compute(i):
        if i < 8:
            start.wait(timeout=60)
        X = points[i]
        return spanning_forests(X, n_jobs=2), class_forests(X, y[: len(X)])

    with ThreadPoolExecutor(8) as pool:
        for (forests, by_class), (of_all, of_classes) in zip(pool.map(compute, range(12)), expected, strict=True):
            assert_same_forests(forests, of_all)
            np.testing.assert_array_equal(by_class.pair_cross_counts, of_classes.pair_cross_counts)


@pytest.mark.slow
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


def assert_ran_to_the_end(calls):
    assert calls
    done = [call[0] for call in calls]
    assert done == sorted(done)
    assert all(0 <= d <= total for d, total in calls)
    assert calls[-1][0] == calls[-1][1]


def test_progress_and_bars(capfd):
    """A callback changes nothing; a bar is written to terminals alone."""
    for n, d in ((2, 1), (50, 3), (3000, 2), (1500, 40)):
        X, calls = make_points("gaussian", n, d), []
        forests = spanning_forests(X, progress=lambda done, total, calls=calls: calls.append((done, total)))
        assert_ran_to_the_end(calls)
        assert_same_forests(forests, spanning_forests(X, progress=True))
    for n_classes in (2, 7):
        calls = []
        class_forests(X, make_labels(n, n_classes), progress=lambda *call, calls=calls: calls.append(call))
        assert_ran_to_the_end(calls)
    assert capfd.readouterr() == ("", "")


@for_each(("n_jobs", "least_done", "by_class"), [(1, 0, True), (2, 1, True), (2, 0, False), (1, 1, False)])
def test_exception_in_the_callback_stops_the_work(n_jobs, least_done, by_class):
    X = make_points("gaussian", 12_000, 12)
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
    assert spanning_forests(X[:500]).spans


@pytest.mark.slow
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


@pytest.mark.slow
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


PEAK_KIB = """
import pathlib, re, resource, sys
def peak_bytes():
    status = pathlib.Path("/proc/self/status")
    if status.exists():  # getrusage would count what the process that started this one had in memory
        return 1024 * int(re.search(r"VmHWM:\\s*(\\d+)", status.read_text())[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
"""


def run(script, **environment):
    result = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("spread", [3, 10])
def test_memory_of_a_million_points(spread):
    out = run(f"""{PEAK_KIB}
import numpy as np
from bayesfloor import spanning_forests
rng = np.random.default_rng(0)
centres = rng.uniform(-{spread}, {spread}, (10, 2))
X = centres[rng.integers(0, 10, 10**6)] + rng.standard_normal((10**6, 2))
forests = spanning_forests(X, n_trees=3)
assert forests.spans and len(forests.edges) == 3 * (10**6 - 1)
print(peak_bytes())
""")
    assert int(out) < 2 * 2**30


@pytest.mark.slow
def test_memory_beyond_an_input_of_many_features():
    out = run(f"""{PEAK_KIB}
import numpy as np
from bayesfloor import spanning_forests
X = np.random.default_rng(0).standard_normal((60_000, 784))
before = peak_bytes()
assert spanning_forests(X, n_trees=3).spans
print(peak_bytes() - before)
""")
    assert int(out) < 2 * 2**30


@pytest.mark.slow
def test_second_process_compiles_nothing(tmp_path):
    script = """
import numpy as np
from bayesfloor import class_forests, spanning_forests
for d in (2, 30):
    X = np.random.default_rng(0).standard_normal((6000, d))  # of fewer rows, kernels may run without being compiled
    spanning_forests(X).cross_counts(np.arange(6000) % 3)
    class_forests(X, np.arange(6000) % 3)
"""
    run(script, NUMBA_CACHE_DIR=str(tmp_path))
    compiled = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.bin")}
    run(script, NUMBA_CACHE_DIR=str(tmp_path))
    assert compiled
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.bin")} == compiled
