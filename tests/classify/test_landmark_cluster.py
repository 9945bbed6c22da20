"""The same sums from the workers of a cluster as from this process, to the last bit."""

import gc
import os
import signal
import sys
import time
from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from bayesfloor import LandmarkClassifier
from bayesfloor.learn.landmarks import row_sums, shortlists
from bayesfloor.learn.landmarks.cluster_sums import ClusterSums, Lane, _sum_on_worker
from bayesfloor.learn.landmarks.multinomial import Objective, descend, penalty_of
from bayesfloor.runtime.cluster import ClusterRun, cluster_of
from bayesfloor.runtime.threads import supervise

from .landmark_rows import class_rows

distributed = pytest.importorskip("distributed", reason="needs the extra dask")

N_CLASSES = 120


@pytest.fixture(autouse=True, scope="module")
def small_blocks():
    """Several blocks to a lane, in this process alone: workers are told where blocks are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_sums, "BLOCK_VALUES", 1)
        yield


@pytest.fixture(scope="module")
def rows():
    return class_rows(3000, N_CLASSES)


@pytest.fixture(scope="module")
def coefficients(rows):
    return np.random.default_rng(0).standard_normal((N_CLASSES, rows.feature_map.n_features)).astype(np.float32)


def on_cluster(rows, client):
    own = {each.name: getattr(rows, each.name) for each in fields(rows) if each.init}
    return ClusterSums(**own, cluster=cluster_of(client))


def alone(work):
    """Do some work as fits do it: with one thread of BLAS."""
    return supervise(lambda _: work(), 1, False)


def all_sums(rows, coefficients):
    loss, gradient = rows.gradient(coefficients)
    overlaps = shortlists.class_overlaps(rows, coefficients)
    lists = shortlists.draw_shortlists(
        rows.reordered(shortlists.order_along_tree(rows.codes, overlaps)), overlaps, (0,)
    )
    short_loss, short_gradient = lists.gradient(coefficients)
    return {
        "loss": loss,
        "gradient": gradient,
        "products": rows.products(),
        "products of some rows": rows.products(coefficients, 1000),
        "squares": rows.squares(),
        "class sums": rows.class_sums(N_CLASSES),
        "overlaps": overlaps,
        "loss over shortlists": short_loss,
        "gradient over shortlists": short_gradient,
    }


def test_all_sums_are_the_same_to_the_last_bit(client, rows, coefficients):
    expected = alone(lambda: all_sums(rows, coefficients))
    actual = alone(lambda: all_sums(on_cluster(rows, client), coefficients))
    for name, value in expected.items():
        assert_array_equal(actual[name], value, name)


def test_fit_is_the_same_to_the_last_bit(client, rows):
    def fit(own):
        products, penalty = own.products(), penalty_of(own.feature_map)
        judged = own.feature_map.features(own.columns), own.codes
        start = shortlists.closed_form_start(own, N_CLASSES, products, penalty, 1.0, judged)
        objective = Objective(own.gradient, products, penalty, 1.0)
        return descend(objective, objective.at(start), 3, own.n_rows).coefficients

    assert_array_equal(alone(lambda: fit(on_cluster(rows, client))), alone(lambda: fit(rows)))


def test_workers_do_the_work_and_get_their_rows_once(client, rows, coefficients, monkeypatch):
    scattered = []
    scatter = ClusterRun._scatter
    monkeypatch.setattr(
        ClusterRun, "_scatter", lambda run, data, *args: (scattered.extend(data), scatter(run, data, *args))[1]
    )
    monkeypatch.setattr(row_sums.RowSums, "features", None)  # in this process
    remote = on_cluster(rows, client)
    for _ in range(3):
        remote.gradient(coefficients)
    lanes = [name for name in scattered if name.startswith("lane")]
    assert sorted(lanes) == [f"lane {number}" for number in range(row_sums.N_LANES)]


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_worker_killed_with_its_rows(client, rows, coefficients, monkeypatch):
    expected = alone(lambda: rows.gradient(coefficients))
    remote = on_cluster(rows, client)
    remote.gradient(coefficients)
    victim = min(client.run(os.getpid).values())
    hand_out = ClusterRun._hand_out

    def hand_out_and_kill(run, names):
        hand_out(run, names)
        monkeypatch.setattr(ClusterRun, "_hand_out", hand_out)
        os.kill(victim, signal.SIGKILL)

    monkeypatch.setattr(ClusterRun, "_hand_out", hand_out_and_kill)
    loss, gradient = remote.gradient(coefficients)
    assert loss == expected[0]
    assert_array_equal(gradient, expected[1])
    deadline = time.monotonic() + 60
    while len(client.run(os.getpid, on_error="ignore")) < 2:
        assert time.monotonic() < deadline, "the worker that was killed is not replaced"
        client.cluster.scale(2)
        time.sleep(0.5)


def tasks_of_ours(dask_scheduler):
    return [str(key) for key in dask_scheduler.tasks if str(key).startswith("bayesfloor-")]


def test_work_that_is_stopped_is_taken_back_and_nothing_is_left(client, rows, coefficients):
    def stopped(pool):
        remote = on_cluster(rows, client)
        remote.gradient(coefficients)
        stopping = ClusterSums(
            rows.feature_map, rows.columns, rows.codes, rows.weight, pool, cluster=cluster_of(client)
        )
        pool.stop()
        stopping.gradient(coefficients)

    with pytest.raises(InterruptedError):
        supervise(stopped, 1, False)
    gc.collect()
    deadline = time.monotonic() + 20
    while (left := client.run_on_scheduler(tasks_of_ours)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == []


def off_its_address(array):
    """Return an array as a message has it that begins with one more byte."""
    raw = np.empty(array.nbytes + 1, np.uint8)
    there = np.ndarray(array.shape, array.dtype, raw, 1)
    there[...] = array
    return there


def are_aligned(rows, numbers, coefficients):
    arrays = rows.columns, rows.codes, rows.weight, rows.feature_map.landmarks, coefficients
    return [np.array([array.flags.aligned for array in arrays])]


def test_arrays_are_aligned_on_a_worker(rows, coefficients):
    """NumPy multiplies others in another order, with other last bits."""
    lane = ClusterSums(rows.feature_map, rows.columns, rows.codes, rows.weight, rows.pool, cluster=None)._lane([0, 1])
    arrived = Lane(
        replace(lane.feature_map, landmarks=off_its_address(lane.feature_map.landmarks)),
        *map(off_its_address, (lane.columns, lane.codes, lane.weight)),
        lane.own_blocks,
    )
    assert not off_its_address(coefficients).flags.aligned
    assert _sum_on_worker(are_aligned, [0, 1], arrived, (off_its_address(coefficients),))[0].all()


@pytest.mark.parametrize("effort", ["default", "high"])
def test_a_classifier_is_the_same_from_a_cluster(client, effort):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 1500)
    X = rng.standard_normal((1500, 4)) + 2 * rng.standard_normal((5, 4))[y]
    here = LandmarkClassifier(effort, n_jobs=1).fit(X, y)
    there = clone(LandmarkClassifier(effort, n_jobs=1, client=client)).fit(X, y)
    assert_array_equal(there.coef_, here.coef_)
    assert_array_equal(there.predict_proba(X[:50]), here.predict_proba(X[:50]))


def test_a_client_must_be_one():
    with pytest.raises((TypeError, ValueError), match="client"):
        LandmarkClassifier(client="tcp://nowhere").fit(np.eye(4), [0, 1, 0, 1])
