"""The same forests from worker processes as from this one, to the last bit, whatever happens to the workers.

What takes seconds, kills workers or starts processes runs with `make test-all`.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import polars
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesfloor import (
    class_forests,
    learned_floor,
    spanning_forests,
)
from bayesfloor.cli import main
from bayesfloor.floor.learned import cross_fitting
from bayesfloor.forest import api, plan
from bayesfloor.forest.partitions import chunks, tasks
from bayesfloor.runtime import cluster, task_graph
from helpers.agreement import assert_same_forests
from helpers.point_sets import make_labels, make_points

distributed = pytest.importorskip("distributed", reason="needs the extra dask")
dask = pytest.importorskip("dask")

of_all = pytest.mark.slow  # tests of `make test-all`

ROWS = 250  # to a partition: enough partitions for several levels of merging


@pytest.fixture
def in_small_partitions():
    with plan.override(partition_rows=ROWS):
        yield


def local(X, **kwargs):
    """Compute in this process, in one partition."""
    with plan.override(partition_rows=None):
        return spanning_forests(X, **kwargs)


def local_classes(X, y, **kwargs):
    with plan.override(partition_rows=None):
        return class_forests(X, y, **kwargs)


def assert_same_class_forests(actual, expected):
    assert_array_equal(actual.classes, expected.classes)
    assert_array_equal(actual.class_counts, expected.class_counts)
    assert_same_forests(actual.whole, expected.whole)
    assert_array_equal(actual.pair_cross_counts, expected.pair_cross_counts)
    for name in expected.pair_edge_sums._fields:
        assert_array_equal(getattr(actual.pair_edge_sums, name), getattr(expected.pair_edge_sums, name), name)
    for a in range(min(len(expected.classes), 4)):
        for b in range(a):
            one, other = (forests.pair(forests.classes[b], forests.classes[a]) for forests in (actual, expected))
            assert_same_forests(one, other)
            assert_array_equal(one.rows, other.rows)


@of_all
@pytest.mark.parametrize(
    ("kind", "n", "d", "scale"),
    [
        ("some_copies", 1500, 5, 1e-250),  # squares leave the range of floats
        ("signed_zeros", 800, 4, 1.0),
        ("gaussian", 10, 3, 1.0),  # fewer partitions than workers
    ],
)
def test_forests(client, in_small_partitions, kind, n, d, scale):
    X = scale * make_points(kind, n, d)
    assert_same_forests(spanning_forests(X, client=client), local(X))


@of_all
def test_the_workers_do_the_work(client, in_small_partitions, monkeypatch):
    X = make_points("gaussian", 600, 6)
    expected = local(X)

    def refuse(*_):
        raise AssertionError("computed in this process")

    for module in (api, tasks):
        monkeypatch.setattr(module, "grow", refuse)
    assert_same_forests(spanning_forests(X, client=client), expected)
    with pytest.raises(AssertionError, match="computed in this process"):
        local(X)


@pytest.mark.parametrize(
    ("kind", "n_classes"),
    # classes cut into partitions, several in a partition, and both: frequencies are unequal
    [("one_hot", 3), *(pytest.param(*row, marks=of_all) for row in (("gaussian", 2), ("integer_grid", 60)))],
)
@pytest.mark.limits(task_edges=4000)  # the last merges are too large for a worker's task
def test_class_forests(client, in_small_partitions, kind, n_classes):
    X, y = make_points(kind, 1200, 5), make_labels(1200, n_classes)
    names = np.array([f"class {label:02}" for label in y])
    calls = []
    forests = class_forests(X, names, client=client, progress=lambda *call: calls.append(call))
    assert_same_class_forests(forests, local_classes(X, names))
    done = [call[0] for call in calls]
    assert done == sorted(done)
    assert calls[-1][0] == calls[-1][1] > 0


class Killer:
    """A progress callback that kills a worker once some work is done."""

    def __init__(self, client, share):
        self.pids = client.run(os.getpid)
        self.share, self.killed = share, False

    def __call__(self, done, total):
        if not self.killed and done > self.share * total:
            self.killed = True
            os.kill(next(iter(self.pids.values())), signal.SIGKILL)


def restored(client):
    """Wait until there are two workers again, and return their process numbers.

    A worker's nanny starts it anew; now and then Dask gives up on both, and another has to be asked for.
    """
    deadline = time.monotonic() + 60
    while len(pids := set(client.run(os.getpid, on_error="ignore").values())) < 2:
        assert time.monotonic() < deadline, "the worker that was killed is not replaced"
        client.cluster.scale(2)
        time.sleep(0.5)
    return pids


@of_all
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_worker_killed_with_its_partitions(client, monkeypatch):
    X = make_points("gaussian", 8000, 16)
    killer = Killer(client, 0.0)
    repairs = []
    repair = cluster.ClusterRun._repair
    monkeypatch.setattr(cluster.ClusterRun, "_repair", lambda run, lost: (repairs.append(lost), repair(run, lost)))
    with plan.override(partition_rows=1000):
        forests = spanning_forests(X, client=client, progress=killer)
    assert killer.killed
    assert any(name.startswith("partition") for lost in repairs for name in lost)  # scattered data went with the worker
    assert_same_forests(forests, local(X))
    assert restored(client) != set(killer.pids.values())


@of_all
@pytest.mark.parametrize(("after", "kind"), [("_scatter_at_once", "partition"), ("_hand_out", "wanted")])
def test_what_dask_does_not_tell_is_lost(client, in_small_partitions, monkeypatch, after, kind):
    """The scheduler forgets a key while the client's future stays as it was, as when a worker dies at the moment."""
    forgotten, client_id = [], client.id  # a client cannot be sent to the scheduler
    step = getattr(cluster.ClusterRun, after)

    async def forget(dask_scheduler, key):
        while key not in dask_scheduler.tasks:
            await asyncio.sleep(0.01)
        dask_scheduler.client_releases_keys([key], client=client_id)
        return key not in dask_scheduler.tasks

    def step_and_forget(run, *args):
        futures = step(run, *args) or run.futures
        names = run.graph.wanted if kind == "wanted" else [name for name in futures if name.startswith(kind)]
        if names and not forgotten:
            forgotten.append(futures[names[0]].key)
            assert client.run_on_scheduler(forget, key=forgotten[0])
        return futures

    monkeypatch.setattr(cluster.ClusterRun, after, step_and_forget)
    monkeypatch.setattr(cluster, "UNKNOWN_S", 0.5)
    X = make_points("gaussian", 1000, 3)
    assert_same_forests(spanning_forests(X, client=client), local(X))
    assert forgotten


@pytest.fixture(scope="module")
def client_that_spills():
    """A client of two workers, threads of this process, that may keep 100 kB each.

    They do not stop for the memory of the process, most of which belongs to other tests.
    """
    of_process = {f"distributed.worker.memory.{at}": False for at in ("spill", "pause", "terminate")}
    with (
        dask.config.set({"distributed.worker.memory.target": 1e-4, **of_process}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, memory_limit=10**9, dashboard_address=":0"
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


def bytes_written(dask_worker):
    metrics = dask_worker.data.cumulative_metrics
    return sum(value for (what, unit), value in metrics.items() if (what, unit) == ("disk-write", "bytes"))


@of_all
@pytest.mark.limits(task_edges=4000)
def test_points_and_edges_are_spilled(client_that_spills):
    client = client_that_spills
    X, y = make_points("some_copies", 3000, 20), make_labels(3000, 3)
    before = sum(client.run(bytes_written).values())
    with plan.override(partition_rows=400):
        assert_same_class_forests(class_forests(X, y, client=client), local_classes(X, y))
    assert sum(client.run(bytes_written).values()) - before > X.nbytes


def tasks_of_ours(dask_scheduler):
    return [str(key) for key in dask_scheduler.tasks if str(key).startswith("bayesfloor-")]


@of_all
def test_nothing_is_left_on_the_workers(client):
    """Neither of work that is done nor of work that was interrupted."""
    X = make_points("gaussian", 8000, 16)

    def interrupt(done, total):
        raise KeyboardInterrupt

    with plan.override(partition_rows=1000):
        spanning_forests(X[:3000], client=client)
        with pytest.raises(KeyboardInterrupt):
            spanning_forests(X, client=client, progress=interrupt)
    deadline = time.monotonic() + 20
    while (left := client.run_on_scheduler(tasks_of_ours)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == []


@pytest.fixture
def lone_scheduler(tmp_path):
    """A scheduler and a worker as processes of their own: the scheduler's process, and a client."""
    file = tmp_path / "scheduler.json"
    options = ["--host", "127.0.0.1", "--no-dashboard"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    module = [sys.executable, "-m"]
    scheduler = subprocess.Popen(
        [*module, "distributed.cli.dask_scheduler", "--port", "0", "--scheduler-file", file, *options], **quiet
    )
    worker = subprocess.Popen(
        [*module, "distributed.cli.dask_worker", "--scheduler-file", file, "--nthreads", "1", "--no-nanny", *options],
        **quiet,
    )
    try:
        with distributed.Client(scheduler_file=str(file), timeout=60) as client:
            client.wait_for_workers(1, timeout=60)
            yield scheduler, client.scheduler.address
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


@of_all
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGSTOP and SIGKILL")
def test_a_scheduler_that_does_not_answer_or_is_gone(lone_scheduler, monkeypatch):
    scheduler, address = lone_scheduler
    monkeypatch.setattr(cluster, "ASK_EVERY_S", 0.2)
    X = make_points("gaussian", 6000, 16)
    usual = cluster.PATIENCE_S
    for sent in (signal.SIGSTOP, signal.SIGKILL):
        monkeypatch.setattr(cluster, "PATIENCE_S", usual)
        sent_once = []

        def send(done, total, sent=sent, sent_once=sent_once):
            if not sent_once:
                sent_once.append(sent)
                scheduler.send_signal(sent)
                monkeypatch.setattr(cluster, "PATIENCE_S", 1.0)  # not before: a slow machine is not gone

        client = distributed.Client(address, timeout=60)
        with plan.override(partition_rows=500), pytest.raises(ConnectionError, match=f"scheduler at {address} is gone"):
            spanning_forests(X, client=client, progress=send)
        assert sent_once == [sent]
        scheduler.send_signal(signal.SIGCONT)
        client.close()
    with pytest.raises(ConnectionError, match=f"scheduler at {address} is gone: the connection is closed"):
        spanning_forests(X, client=client)


def test_a_cluster_without_workers(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE_S", 0.5)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        distributed.Client(empty) as client,
        pytest.raises(ConnectionError, match=r"the Dask scheduler at .* has had no workers for 0\.5 s"),
    ):
        spanning_forests([[0.0], [1.0]], client=client)


def forever(*_, **__):
    threading.Event().wait()


@pytest.mark.parametrize("call", ["gather", "call_stack"])
def test_a_message_that_never_comes_back_is_an_error(client, monkeypatch, set_limits, call):
    set_limits(stalled_s=0.5)
    monkeypatch.setattr(client, call, forever)
    if call == "call_stack":  # nothing gets done, and nobody says whether it is being done
        monkeypatch.setattr(client, "submit", lambda *_, key, **__: distributed.Future(key, client))
    with pytest.raises(ConnectionError, match="does not get on"):
        spanning_forests(make_points("gaussian", 50, 3), client=client)


def test_a_closed_client(client):
    other = distributed.Client(client.scheduler.address)
    other.close()
    with pytest.raises(ConnectionError, match="is gone: the connection is closed"):
        spanning_forests([[0.0], [1.0]], client=other)


def test_what_is_no_client():
    X, y = load_iris(return_X_y=True)
    for client in ("tcp://127.0.0.1:8786", 3):
        for call in (
            lambda client: spanning_forests(X, client=client),
            lambda client: learned_floor(X, y, client=client),
        ):
            with pytest.raises(TypeError, match=r"must be a dask\.distributed\.Client or None\. Got"):
                call(client)


@of_all
def test_data_that_does_not_arrive_travels_with_the_tasks(client, in_small_partitions, monkeypatch, set_limits):
    set_limits(stalled_s=10.0)
    monkeypatch.setattr(client, "scatter", forever)
    X = make_points("gaussian", 1000, 3)
    assert_same_forests(spanning_forests(X, client=client), local(X))


@of_all
def test_a_task_may_take_as_long_as_it_likes(client, set_limits):
    client.run(nap, 0)  # the workers have loaded this file
    set_limits(stalled_s=1.0)
    run = cluster.ClusterRun(
        cluster.cluster_of(client), task_graph.Graph({}, {"a": task_graph.Job(partial(nap, 4), ())}, ["a"])
    )
    assert run.run(None) == {"a": "rested"}
    assert run.n_repairs == 0


def nap(seconds):
    time.sleep(seconds)
    return "rested"


@of_all
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGALRM")
def test_a_signal_comes_through_while_a_message_does_not(client, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(client, "scatter", forever)
    usual = signal.signal(signal.SIGUSR1, interrupt)
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            learned_floor(*load_iris(return_X_y=True), learners=["gaussian"], client=client)
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, usual)
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("needs", [(), ("number",)])
def test_a_job_for_a_worker_that_is_gone_is_done_by_another(client, needs):
    known, gone = cluster.Cluster(client), "tcp://127.0.0.1:1"
    known.workers = {**known.workers, gone: 1}  # as if it had died since the scheduler was asked
    job = task_graph.Job(int, needs, worker=gone)
    run = cluster.ClusterRun(known, task_graph.Graph({"number": 42}, {"job": job}, ["job"]))
    patience = time.monotonic() + 30.0

    def check(done, total):
        assert time.monotonic() < patience, "nobody does it"

    assert run.run(check) == {"job": 42 if needs else 0}


@of_all
@pytest.mark.parametrize("command", ["pairs", "floor"])
def test_the_command_line_computes_there(client, monkeypatch, tmp_path, capsys, command):
    runs = []
    run = cluster.ClusterRun.run
    monkeypatch.setattr(cluster.ClusterRun, "run", lambda self, report: (runs.append(self), run(self, report))[1])
    rng = np.random.default_rng(0)
    lines = ["a,b,kind"]  # numbers with gaps, and text
    for row in range(60):
        kind, (one, two) = row % 2, rng.standard_normal(2)
        lines.append(f"{'' if row % 7 == 0 else f'{one + kind:.3f}'},{'p' if two > kind else 'q'},{kind}")
    table = tmp_path / "table.csv"
    table.write_text("\n".join(lines))
    results = []
    for where in ([], ["--cluster", client.scheduler.address]):
        assert runs == []
        assert main([command, str(table), "--target", "kind", "--json", "--quiet", *where]) == 0
        results.append(json.loads(capsys.readouterr().out)["result"])
    assert results[0] == results[1]
    assert len(runs) == (1 if command == "pairs" else 4)  # learners are trained at three sizes, and for the stack


def assert_same_floor(actual, expected):
    for name in ("estimate", "interval", "reached", "reached_interval", "residual_z", "weights"):
        assert getattr(actual, name) == getattr(expected, name), name
    assert_array_equal(actual.curve.value, expected.curve.value)
    assert_array_equal(actual.pair_reached, expected.pair_reached)


def test_learners_are_trained_there(client, monkeypatch):
    X, y = load_iris(return_X_y=True)
    learners = ["trees", make_pipeline(StandardScaler(), LogisticRegression())]
    expected = learned_floor(X, y, learners=learners)
    calls = []

    def refuse(*_, **__):
        raise AssertionError("trained in this process")

    monkeypatch.setattr(cross_fitting, "training_set", refuse)
    there = learned_floor(X, y, learners=learners, client=client, progress=lambda *call: calls.append(call))
    assert_same_floor(there, expected)
    assert expected.weights.keys() >= {"trees", "Pipeline"}
    done = [call[0] for call in calls]
    assert done == sorted(done)
    assert calls[-1][0] == calls[-1][1] > 0
    with pytest.raises(AssertionError, match="trained in this process"):
        learned_floor(X, y, learners=learners)


@of_all
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_worker_killed_while_it_trains(client):
    X, y = load_iris(return_X_y=True)
    killer = Killer(client, 0.1)
    learners = ["gaussian", "logistic", "trees"]
    floor = learned_floor(X, y, learners=learners, client=client, progress=killer)
    assert killer.killed
    assert_same_floor(floor, learned_floor(X, y, learners=learners))
    restored(client)


# ------------------------------------------------------------------------------- files and collections, read by workers


@of_all
def test_files_read_by_workers(client, tmp_path, in_small_partitions):
    X = make_points("some_copies", 900, 5)
    np.save(tmp_path / "X.npy", np.vstack([X + 1, X, X]))
    part_of_a_map = np.load(tmp_path / "X.npy", mmap_mode="r")[len(X) : 2 * len(X)]
    polars.DataFrame(X).write_parquet(tmp_path / "X.parquet", row_group_size=170)
    for stored in (part_of_a_map, tmp_path / "X.parquet"):
        assert_same_forests(spanning_forests(stored, client=client), local(X))


@of_all
def test_dask_array_of_unknown_length(client, in_small_partitions):
    array = pytest.importorskip("dask.array")
    X = make_points("gaussian", 900, 3)
    lazy = array.from_array(X, chunks=(200, 3))
    positive = lazy[lazy[:, 0] > 0]
    assert np.isnan(positive.shape[0])
    assert_same_forests(spanning_forests(positive, client=client), local(X[X[:, 0] > 0]))


@of_all
def test_dask_data_frame_and_its_default_client(client, in_small_partitions):
    frames, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    X, y = make_points("one_hot", 900, 6), make_labels(900, 3)
    frame = frames.from_pandas(pandas.DataFrame(X, columns=[f"x{j}" for j in range(6)]), npartitions=5)
    frame = frame[frame["x0"] >= 0]  # filters leave nothing known of the partitions' sizes
    assert_same_forests(spanning_forests(frame), local(X))
    with plan.override(partition_rows=None):
        expected = class_forests(X, y)
    assert_array_equal(class_forests(frame, y).pair_cross_counts, expected.pair_cross_counts)


@of_all
def test_a_persisted_array_is_used_where_it_lies(client, in_small_partitions):
    array, distributed = pytest.importorskip("dask.array"), pytest.importorskip("distributed")
    X = make_points("gaussian", 900, 4)
    held = client.persist(array.from_array(X, chunks=(170, 4)))
    distributed.wait(held)
    rows = chunks.rows_of_collection(cluster.Cluster(client), held)
    assert [chunk.future.key for chunk in rows.chunks] == [future.key for future in distributed.futures_of(held)]
    assert_same_forests(spanning_forests(held, client=client), local(X))
    assert {future.status for future in distributed.futures_of(held)} == {"finished"}  # still there


def test_values_of_a_collection_are_checked_on_the_workers(client, in_small_partitions):
    frames, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": np.arange(800.0), "b": 1.0})
    frame.loc[700, "b"] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN in 1 row, column 'b' \(of partition 3\)"):
        spanning_forests(frames.from_pandas(frame, npartitions=4), client=client)


def test_a_collection_without_a_cluster(monkeypatch):
    array, distributed = pytest.importorskip("dask.array"), pytest.importorskip("distributed")

    def no_client():
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "default_client", no_client)
    with pytest.raises(ValueError, match="X is a Dask collection, and there is no cluster to compute it: pass client="):
        spanning_forests(array.ones((10, 2)))
