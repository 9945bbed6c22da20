"""The same forests from worker processes as from this one, to the last bit, whatever happens to the workers."""

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
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesfloor import (
    HierarchicalClassifier,
    class_forests,
    difficulty_report,
    learned_floor,
    spanning_forests,
)
from bayesfloor.cli import main
from bayesfloor.floor.learned import cross_fitting
from bayesfloor.forest import api, plan
from bayesfloor.forest.partitions import tasks
from bayesfloor.report import figures
from bayesfloor.runtime import cluster, task_graph
from forest.agreement import assert_same_forests
from forest.point_sets import make_labels, make_points

distributed = pytest.importorskip("distributed", reason="needs the extra dask")
dask = pytest.importorskip("dask")

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


@pytest.mark.parametrize(
    ("kind", "n", "d"),
    [
        ("gaussian", 1500, 4),
        ("gaussian", 1000, 40),
        ("one_hot", 1000, 20),
        ("some_copies", 1500, 5),
        ("few_distinct", 1000, 3),
        ("all_identical", 600, 2),
        ("signed_zeros", 800, 4),
    ],
)
def test_forests(client, in_small_partitions, kind, n, d):
    X = make_points(kind, n, d)
    assert_same_forests(spanning_forests(X, client=client), local(X))


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


@pytest.mark.parametrize("scale", [1e-250, 1e250])
def test_scales_whose_squares_leave_the_range_of_floats(client, in_small_partitions, scale):
    X = scale * make_points("gaussian", 700, 3)
    assert_same_forests(spanning_forests(X, client=client), local(X))


def test_number_of_trees_and_seed(client, in_small_partitions):
    X = make_points("one_hot", 900, 10)
    for n_trees, seed in ((1, 0), (7, 5)):
        forests = spanning_forests(X, n_trees=n_trees, random_state=seed, client=client)
        assert_same_forests(forests, local(X, n_trees=n_trees, random_state=seed))
    assert np.any(local(X).edges != local(X, random_state=5).edges)  # the seed matters here


@pytest.mark.parametrize("n", [2, 10, 2500])
def test_fewer_partitions_than_workers(client, n):
    X = make_points("gaussian", n, 3)
    assert_same_forests(spanning_forests(X, n_trees=2, client=client), local(X, n_trees=2))


@pytest.mark.parametrize(
    ("kind", "n_classes"),
    # classes cut into partitions, several in a partition, and both: frequencies are unequal
    [("gaussian", 2), ("one_hot", 3), ("few_distinct", 6), ("integer_grid", 60)],
)
def test_class_forests(client, in_small_partitions, kind, n_classes):
    X, y = make_points(kind, 1200, 5), make_labels(1200, n_classes)
    names = np.array([f"class {label:02}" for label in y])
    assert_same_class_forests(class_forests(X, names, client=client), local_classes(X, names))


def test_progress(client, in_small_partitions):
    calls = []
    spanning_forests(make_points("gaussian", 1000, 3), client=client, progress=lambda *call: calls.append(call))
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


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_worker_killed_half_way_that_read_a_part_of_a_file(client, tmp_path):
    X, y = make_points("some_copies", 4000, 12), make_labels(4000, 5)
    np.save(tmp_path / "X.npy", X)
    killer = Killer(client, 0.4)
    with plan.override(partition_rows=700):
        forests = class_forests(tmp_path / "X.npy", y, client=client, progress=killer)
    assert killer.killed
    assert_same_class_forests(forests, local_classes(X, y))
    restored(client)


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


@pytest.mark.parametrize("n_classes", [1, 3])
def test_points_and_edges_are_spilled(client_that_spills, n_classes, set_limits):
    client = client_that_spills
    X, y = make_points("some_copies", 3000, 20), make_labels(3000, n_classes)
    before = sum(client.run(bytes_written).values())
    set_limits(task_edges=4000)
    with plan.override(partition_rows=400):
        if n_classes == 1:
            assert_same_forests(spanning_forests(X, client=client), local(X))
        else:
            assert_same_class_forests(class_forests(X, y, client=client), local_classes(X, y))
    assert sum(client.run(bytes_written).values()) - before > X.nbytes


def test_dask_is_told_how_large_results_are(client_that_spills, in_small_partitions, monkeypatch):
    sizes = {}
    gather = cluster.ClusterRun._gather

    def look(run, names):
        found = gather(run, names)
        sizes.update({name: (dask.sizeof.sizeof(value), task_graph.bytes_of(value)) for name, value in found.items()})
        return found

    monkeypatch.setattr(cluster.ClusterRun, "_gather", look)
    X, y = make_points("gaussian", 1000, 8), make_labels(1000, 3)
    class_forests(X, y, client=client_that_spills)
    points = tasks.PartitionInMemory(tasks.PartitionEnds(0, *np.zeros((3, 9))), np.zeros(2), np.zeros((9, 7)))
    sizes["partition"] = dask.sizeof.sizeof(points), 8 * (3 * 9 + 2 + 9 * 7)
    assert len(sizes) > 4
    for name, (told, n_bytes) in sizes.items():
        assert n_bytes <= told <= n_bytes + 10_000, name


def test_what_all_tasks_have_had_is_let_go(client, in_small_partitions, monkeypatch, set_limits):
    used_up = []
    let_go = cluster.ClusterRun._let_go
    monkeypatch.setattr(
        cluster.ClusterRun, "_let_go", lambda run, done: (let_go(run, done), used_up.append(set(run.used_up)))
    )
    work_here = cluster.ClusterRun._work_here
    here = []
    monkeypatch.setattr(
        cluster.ClusterRun, "_work_here", lambda run, done: (work_here(run, done), here.extend(run.here))
    )
    X = make_points("gaussian", 1200, 3)
    set_limits(task_edges=4000)
    assert_same_forests(spanning_forests(X, client=client), local(X))
    assert here  # the last merges are too large for a worker's task
    assert {"partition 0", "partition 1", "grow 0", "join 0 1"} & used_up[-1]


def tasks_of_ours(dask_scheduler):
    return [str(key) for key in dask_scheduler.tasks if str(key).startswith("bayesfloor-")]


def test_an_interrupt_takes_the_work_back(client):
    def interrupt(done, total):
        raise KeyboardInterrupt

    with plan.override(partition_rows=1000), pytest.raises(KeyboardInterrupt):
        spanning_forests(make_points("gaussian", 8000, 16), client=client, progress=interrupt)
    deadline = time.monotonic() + 20
    while (left := client.run_on_scheduler(tasks_of_ours)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == []


def test_nothing_is_left_on_the_workers(client, in_small_partitions):
    spanning_forests(make_points("gaussian", 1000, 3), client=client)
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


def test_data_that_does_not_arrive_travels_with_the_tasks(client, in_small_partitions, monkeypatch):
    monkeypatch.setattr(cluster, "STALLED_S", 10.0)
    monkeypatch.setattr(client, "scatter", forever)
    X = make_points("gaussian", 1000, 3)
    assert_same_forests(spanning_forests(X, client=client), local(X))


@pytest.mark.parametrize("call", ["gather", "call_stack"])
def test_a_message_that_never_comes_back_is_an_error(client, monkeypatch, call):
    monkeypatch.setattr(cluster, "STALLED_S", 0.5)
    monkeypatch.setattr(client, call, forever)
    if call == "call_stack":  # nothing gets done, and nobody says whether it is being done
        monkeypatch.setattr(client, "submit", lambda *_, key, **__: distributed.Future(key, client))
    with pytest.raises(ConnectionError, match="does not get on"):
        spanning_forests(make_points("gaussian", 50, 3), client=client)


def test_a_task_may_take_as_long_as_it_likes(client, monkeypatch):
    client.run(nap, 0)  # the workers have loaded this file
    monkeypatch.setattr(cluster, "STALLED_S", 1.0)
    run = cluster.ClusterRun(
        cluster.cluster_of(client), task_graph.Graph({}, {"a": task_graph.Job(partial(nap, 4), ())}, ["a"])
    )
    assert run.run(None) == {"a": "rested"}
    assert run.n_repairs == 0


def nap(seconds):
    time.sleep(seconds)
    return "rested"


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


def test_a_closed_client(client):
    other = distributed.Client(client.scheduler.address)
    other.close()
    with pytest.raises(ConnectionError, match="is gone: the connection is closed"):
        spanning_forests([[0.0], [1.0]], client=other)


@pytest.mark.parametrize("client", ["tcp://127.0.0.1:8786", 3])
def test_what_is_no_client(client):
    with pytest.raises(TypeError, match=r"must be a dask\.distributed\.Client or None\. Got"):
        spanning_forests([[0.0], [1.0]], client=client)


def test_input_is_checked_as_ever(client):
    with pytest.raises(ValueError, match="contains NaN in 1 row, column 1"):
        spanning_forests([[0.0, 1.0], [1.0, np.nan]], client=client)
    with pytest.raises(ValueError, match="needs two classes, got 1"):
        class_forests([[0.0], [1.0]], [1, 1], client=client)
    with pytest.raises(TypeError, match="'progress' parameter must be"):
        spanning_forests([[0.0], [1.0]], client=client, progress="yes")


def test_a_client_is_not_picked_up_unasked(client, monkeypatch):
    def refuse(*_):
        raise AssertionError("went to the cluster")

    monkeypatch.setattr(cluster.ClusterRun, "run", refuse)
    with client.as_current():
        assert spanning_forests(make_points("gaussian", 500, 3)).spans


def test_dask_is_loaded_only_when_it_is_asked_for():
    script = """
import sys
import numpy as np
from bayesfloor import bayes_error, spanning_forests
spanning_forests(np.arange(20.0).reshape(10, 2))
assert not {"dask", "distributed"} & sys.modules.keys()
sys.modules["distributed"] = None
try:
    spanning_forests([[0.0], [1.0]], client=object())
except ImportError as error:
    print(error)
"""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "a cluster needs dask.distributed: pip install 'bayesfloor[dask]'"


def test_the_nodes_of_a_classifier_are_fitted_there_too(client):
    X, y = load_iris(return_X_y=True)
    model = HierarchicalClassifier(LogisticRegression(max_iter=500))
    here = clone(model).fit(X, y).predict(X)
    with parallel_config("dask", client=client):
        there = clone(model).set_params(n_jobs=-1).fit(X, y).predict(X)
    np.testing.assert_array_equal(here, there)


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


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_worker_killed_while_it_trains(client):
    X, y = load_iris(return_X_y=True)
    killer = Killer(client, 0.1)
    learners = ["gaussian", "logistic", "trees"]
    floor = learned_floor(X, y, learners=learners, client=client, progress=killer)
    assert killer.killed
    assert_same_floor(floor, learned_floor(X, y, learners=learners))
    restored(client)


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


def test_an_interrupt_takes_the_fits_back(client, monkeypatch):
    raised = []
    run = cluster.ClusterRun.run

    def note(self, report):
        try:
            return run(self, report)
        except BaseException as error:
            raised.append(type(error))
            raise

    monkeypatch.setattr(cluster.ClusterRun, "run", note)

    def interrupt(done, total):
        if done > 0:
            raise KeyboardInterrupt

    X, y = make_points("gaussian", 400, 4), make_labels(400, 3)
    before = set(client.run_on_scheduler(tasks_of_ours))  # what an earlier test has not let go of yet
    with pytest.raises(KeyboardInterrupt):
        learned_floor(X, y, learners=["gaussian", "trees"], client=client, progress=interrupt)
    deadline = time.monotonic() + 20
    while (left := set(client.run_on_scheduler(tasks_of_ours)) - before) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == set()
    assert raised == [InterruptedError]  # not finished first


def test_a_report_trains_there(client, monkeypatch):
    def train(*_, **options):
        assert options["client"] is client
        raise NotImplementedError  # that much of the report is enough

    monkeypatch.setattr(figures, "learned_floor_of", train)
    with pytest.raises(NotImplementedError):
        difficulty_report(*load_iris(return_X_y=True), client=client)


def test_learners_need_a_client_that_is_one():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match=r"must be a dask\.distributed\.Client or None\. Got"):
        learned_floor(X, y, client="tcp://127.0.0.1:8786")
