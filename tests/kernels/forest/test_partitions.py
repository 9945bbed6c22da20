"""Rows in partitions: how they are cut, what tasks get, and files that are read a part at a time."""

import errno
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from itertools import combinations

import numpy as np
import polars
import pytest
from numpy.testing import assert_array_equal

from bayesfloor import bayes_error, class_forests, spanning_forests
from bayesfloor.forest import plan
from bayesfloor.forest.order.arrays import ForestEdges
from bayesfloor.forest.partitions import chunks, dispatch, graph, tasks
from bayesfloor.forest.partitions.dispatch import RowsInMemory, plan_partitions
from bayesfloor.forest.partitions.layout import MOST_PARTITION_BYTES, cut_rows, rows_per_partition
from bayesfloor.runtime.settings import Limits, settings
from helpers.agreement import assert_same_forests
from helpers.naive_forests import naive_forests
from helpers.one_case import for_each
from helpers.point_sets import make_labels, make_points
from helpers.refusals import not_refused

ROWS = 250


@pytest.fixture
def in_small_partitions():
    """Files go out of core however small they are."""
    with plan.override(partition_rows=ROWS):
        yield


def local(X, **kwargs):
    with plan.override(partition_rows=None):
        return spanning_forests(np.array(X), **kwargs)


def saved(path, X):
    np.save(path, X)
    return path


def as_parquet(path, X):
    polars.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])]).write_parquet(path, row_group_size=170)
    return path


STORED = {
    "npy": lambda folder, X: saved(folder / "X.npy", X),
    "npy of Fortran order": lambda folder, X: saved(folder / "X.npy", np.asfortranarray(X)),
    "npy of other byte order": lambda folder, X: saved(folder / "X.npy", X.astype(">f8")),
    "parquet": lambda folder, X: as_parquet(folder / "X.parquet", X),
    "memmap": lambda folder, X: np.load(saved(folder / "X.npy", X), mmap_mode="r"),
    "part of a memmap": lambda folder, X: np.load(saved(folder / "X.npy", np.vstack([X + 1, X, X])), mmap_mode="r")[
        len(X) : 2 * len(X)
    ],
}


@pytest.mark.parametrize(
    ("store", "kind"),
    [
        *((store, "signed_zeros") for store in STORED if store != "npy"),
        ("npy", "some_copies"),
        ("npy", "all_identical"),
    ],
)
def test_same_forests_as_from_the_array(tmp_path, in_small_partitions, store, kind):
    X = make_points(kind, 800, 5)
    assert_same_forests(spanning_forests(STORED[store](tmp_path, X)), local(X))


def test_types_scales_and_threads(tmp_path, in_small_partitions):
    for dtype in (np.float32, np.int16, np.bool_):
        X = make_points("integer_grid", 600, 4).astype(dtype)
        assert_same_forests(spanning_forests(saved(tmp_path / "X.npy", X)), local(X))
    for scale, n_jobs in ((1e-250, 1), (1e250, 2)):
        X = scale * make_points("cauchy", 700, 30)
        assert_same_forests(spanning_forests(saved(tmp_path / "X.npy", X), n_jobs=n_jobs), local(X))


def test_one_far_row_that_no_sample_sees(tmp_path, in_small_partitions):
    X = make_points("gaussian", 1500, 4)
    X[1234] *= 1e60
    assert_same_forests(spanning_forests(saved(tmp_path / "X.npy", X)), local(X))


def test_rows_that_one_hash_does_not_tell_apart(tmp_path, in_small_partitions, monkeypatch):
    """The second hash tells them apart where the first is no good."""
    X = make_points("gaussian", 600, 3)
    hash_rows, calls = chunks.hash_rows, []

    def poor_first_hash(bits, start, stop, out):
        hash_rows(bits, start, stop, out)
        calls.append(len(calls))
        if len(calls) % 2 == 1:
            out[:] = out % 100

    monkeypatch.setattr(chunks, "hash_rows", poor_first_hash)
    forests = spanning_forests(saved(tmp_path / "X.npy", X), n_jobs=1)
    assert len(calls) >= 6
    assert_same_forests(forests, local(X))  # no two edges are equally long: hashes decide nothing


@pytest.mark.parametrize(("store", "n_classes"), [("npy", 2), ("parquet", 7), ("npy", 40)])
def test_class_forests(tmp_path, in_small_partitions, store, n_classes):
    X, y = make_points("some_copies", 1000, 4), make_labels(1000, n_classes)
    actual = class_forests(STORED[store](tmp_path, X), y)
    with plan.override(partition_rows=None):
        expected = class_forests(X, y)
    assert_same_forests(actual.whole, expected.whole)
    assert_array_equal(actual.pair_cross_counts, expected.pair_cross_counts)
    assert_same_forests(actual.pair(0, 1), expected.pair(0, 1))


def test_a_file_that_does_not_fit_is_read_in_parts(tmp_path, monkeypatch, set_limits):
    X = make_points("gaussian", 3000, 50)
    path = saved(tmp_path / "X.npy", X)
    expected = local(X)
    in_parts = []
    on_disk = dispatch.RowsOnDisk
    monkeypatch.setattr(dispatch, "RowsOnDisk", lambda *args: in_parts.append(args) or on_disk(*args))
    assert_same_forests(spanning_forests(path), expected)
    assert not in_parts  # it fits
    set_limits(memory=6 * 2**20)
    for stored in (path, np.load(path, mmap_mode="r")):
        assert_same_forests(spanning_forests(stored), expected)
    assert len(in_parts) == 2
    with pytest.raises(MemoryError, match="are available"):
        spanning_forests(X)
    set_limits(memory=2**20)
    with pytest.raises(MemoryError, match="the edges of the forests of 3000 points"):
        spanning_forests(path)


def test_nothing_is_left_on_disk(tmp_path, in_small_partitions, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    path = saved(tmp_path / "X.npy", make_points("gaussian", 600, 3))
    spanning_forests(path)

    def stop(done, total):
        raise LookupError("seen enough")

    with pytest.raises(LookupError):
        spanning_forests(path, progress=stop)
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_full_disk_is_told_before_anything_is_written(tmp_path, in_small_partitions, monkeypatch):
    usage = chunks.shutil.disk_usage(tmp_path)
    monkeypatch.setattr(chunks.shutil, "disk_usage", lambda _: usage._replace(free=1000))
    with pytest.raises(OSError, match=r"which has 0\.0 MiB free; TMPDIR names another one") as raised:
        spanning_forests(saved(tmp_path / "X.npy", make_points("gaussian", 600, 3)))
    assert raised.value.errno == errno.ENOSPC


def test_bad_values_are_named_with_their_rows(tmp_path, in_small_partitions):
    X = make_points("gaussian", 600, 3)
    X[300, 1] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN in 1 row, column 1 \(of rows 250 to 499\)"):
        spanning_forests(saved(tmp_path / "X.npy", X))
    X[300, 1] = np.inf
    with pytest.raises(ValueError, match=r"contains infinity .* column 'x1' \(of rows 250 to 499\)"):
        spanning_forests(as_parquet(tmp_path / "X.parquet", X))
    frame = polars.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    frame.write_parquet(tmp_path / "text.parquet")
    with pytest.raises(ValueError, match="could not convert to float: column 'b'"):
        spanning_forests(tmp_path / "text.parquet")


def test_files_of_something_else(tmp_path, in_small_partitions):
    table = [
        (np.arange(5.0), "Expected 2D array, got 1D array"),
        (np.zeros((3, 2, 2)), "Found array with dim 3"),
        (np.zeros((1, 2)), "Found array with 1 sample"),
        (np.zeros((4, 0)), "Found array with 0 feature"),
        (np.zeros((4, 2), complex), "Complex data not supported"),
        (np.array([["a"], ["b"]]), "could not convert to float"),
    ]
    assert not_refused(lambda array: spanning_forests(saved(tmp_path / "X.npy", array)), table) == []


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError):
        spanning_forests(tmp_path / "missing.npy")
    for name, message in (
        ("X.npy", "cannot be read as .npy"),
        ("X.parquet", "cannot be read as Parquet"),
    ):
        (tmp_path / name).write_bytes(b"nonsense, and more of it")
        with pytest.raises(ValueError, match=message):
            spanning_forests(tmp_path / name)
    np.save(tmp_path / "objects.npy", np.array([[1, "a"]], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"cannot be read as \.npy: .*Python objects"):
        spanning_forests(tmp_path / "objects.npy")


def test_a_file_of_points_whatever_it_is_called(tmp_path):
    X = make_points("gaussian", 60, 3) * [1, 10, 100]  # a table would be standardised
    y = np.repeat(["a", "b"], 30)
    counts, estimate = class_forests(X, y).pair_cross_counts, bayes_error(X, y).estimate
    for name in ("pts[1].parquet", "PTS.PARQUET", "pts*.pq", "pts[1].npy", "PTS.NPY"):
        path = (as_parquet if name.lower().endswith(("parquet", "pq")) else named_array)(tmp_path / name, X)
        assert_same_forests(spanning_forests(path), local(X))
        assert_same_forests(spanning_forests(str(path)), local(X))
        assert_array_equal(class_forests(str(path), y).pair_cross_counts, counts)
        assert bayes_error(str(path), y).estimate == bayes_error(path, y).estimate == estimate


def named_array(path, X):
    with path.open("wb") as file:
        np.save(file, X)
    return path


def test_a_path_of_another_file_is_that_of_a_table(tmp_path):
    path = tmp_path / "pts.csv"
    polars.DataFrame({"a": np.arange(30.0), "b": ["x", "y"] * 15}).write_csv(path)
    assert_same_forests(spanning_forests(path), spanning_forests(str(path)))


@pytest.mark.limits(memory=3_000_000)
def test_a_small_file_of_points_that_unpacks_to_much(tmp_path):
    path = tmp_path / "X.parquet"
    polars.DataFrame({"a": np.zeros(200_000), "b": np.zeros(200_000)}).write_parquet(path, row_group_size=10**6)
    assert path.stat().st_size < 10_000
    for given in (path, str(path)):
        with pytest.raises(MemoryError, match=r"Reading .*X\.parquet would take about 3\.1 MiB"):
            spanning_forests(given)


@pytest.mark.slow  # a process of its own
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused(tmp_path):
    """In a process of its own, because opening a pipe waits for somebody to write to it."""
    names = ["X.npy", "X.parquet", "parts.parquet/X.parquet"]
    (tmp_path / "parts.parquet").mkdir()
    for name in names:
        os.mkfifo(tmp_path / name)
    script = f"""
from pathlib import Path
from bayesfloor import spanning_forests
for path in {[str(tmp_path / name.split("/")[0]) for name in names]}:
    try:
        spanning_forests(Path(path))
    except ValueError as error:
        print(error)
"""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    for name, said in zip(names, answer.stdout.splitlines(), strict=True):
        assert f"{tmp_path / name} is not a plain file" in said


def test_a_folder_of_parquet_files(tmp_path, in_small_partitions):
    X = make_points("gaussian", 600, 3)
    folder = tmp_path / "X.parquet"
    folder.mkdir()
    as_parquet(folder / "0.parquet", X[:250])
    as_parquet(folder / "1.parquet", X[250:])
    assert_same_forests(spanning_forests(folder), local(X))
    with pytest.raises(ValueError, match=r"X\.npy is not a plain file"):
        spanning_forests(saved_folder(tmp_path / "X.npy"))


def saved_folder(path):
    path.mkdir()
    return path


def test_warnings_are_told_once_and_filters_left_alone(tmp_path, in_small_partitions, monkeypatch):
    """Filters belong to the process: threads that save and restore them leave them as another thread had them."""

    class InTheMainThread(warnings.catch_warnings):
        def __init__(self, **arguments):
            assert threading.current_thread() is threading.main_thread()
            super().__init__(**arguments)

    X = np.column_stack((2**53 + np.arange(900), np.arange(900)))
    path = saved(tmp_path / "X.npy", X)
    monkeypatch.setattr(warnings, "catch_warnings", InTheMainThread)
    with pytest.warns(UserWarning, match=r"beyond 2\*\*53 may be rounded in float64: column 0") as told:
        forests = spanning_forests(path, n_jobs=2)
    assert len(told) == 1
    assert_same_forests(forests, local(X.astype(np.float64)))


def test_labels_are_checked_before_the_file_is_sorted(tmp_path, in_small_partitions):
    path = saved(tmp_path / "X.npy", make_points("gaussian", 600, 3))
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[600, 3\]"):
        class_forests(path, [0, 1, 1])


def test_a_device_that_partitions_do_not_use(tmp_path, in_small_partitions):
    with pytest.raises(ValueError, match="device='cuda' cannot be had for partitions of rows"):
        spanning_forests(saved(tmp_path / "X.npy", make_points("gaussian", 600, 3)), device="cuda")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
def test_memory_stays_below_the_size_of_the_file(tmp_path):
    n, d = 24_000, 5_000
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((20, d))
    X = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float64, (n, d))
    for first in range(0, n, 1000):
        X[first : first + 1000] = centers[rng.integers(0, 20, 1000)] + 0.1 * rng.standard_normal((1000, d))
    script = f"""
from pathlib import Path
from bayesfloor import spanning_forests
from bayesfloor.forest import plan
with plan.override(partition_rows=1500):
    assert spanning_forests(Path({str(tmp_path / "X.npy")!r}), n_jobs=1).spans
(peak,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
print(1024 * int(peak.split()[1]))
"""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(answer.stdout) < 0.8 * X.nbytes


# --------------------------------------------------------------------------------------------- partitions and tasks


def test_partitions_stay_small_while_rows_grow():
    for n_features in (1, 64, 784, 100_000):
        sizes = [rows_per_partition(n, n_features, 8) for n in (10**3, 10**5, 10**7, 10**9)]
        assert sizes == sorted(sizes)
        assert sizes[-1] == rows_per_partition(10**12, n_features, 8)  # no longer depends on the number of rows
        assert all(8 * n_features * size <= max(MOST_PARTITION_BYTES, 8 * n_features) for size in sizes)


@for_each(("n_classes", "most_rows"), [(1, 100), (1, 5000), (3, 2), (3, 100), (50, 7), (50, 100)])
def test_every_row_is_in_one_partition_of_its_class(n_classes, most_rows):
    X, y = make_points("some_copies", 1000, 3), make_labels(1000, n_classes)
    order = np.random.default_rng(0).permutation(1000).astype(np.int32)
    rank = np.argsort(order)
    layout = cut_rows(order, y, n_classes, X, most_rows)
    assert_array_equal(np.sort(layout.rows), np.arange(1000))
    assert [c for unit in layout.units for c in unit.classes] == list(range(n_classes))
    assert [b for unit in layout.units for b in unit.partitions] == list(range(layout.n_partitions))
    assert np.diff(layout.partition_starts).min() > 0
    for unit in layout.units:
        for partition in unit.partitions:
            rows, parts = layout.rows_of(partition), layout.part_starts(unit, partition)
            assert len(rows) <= most_rows
            assert len(parts) == len(unit.classes) + 1
            for c, first, last in zip(unit.classes, parts[:-1], parts[1:], strict=True):
                assert set(y[rows[first:last]]) == {c}
                assert np.all(np.diff(rank[rows[first:last]]) > 0)


def test_partitions_are_of_neighbours():
    line = np.random.default_rng(0).permutation(1000.0 * np.arange(1000)).reshape(-1, 1)
    layout = cut_rows(np.arange(1000, dtype=np.int32), np.zeros(1000, np.int64), 1, line, 130)
    assert layout.n_partitions == 8
    widths = [np.ptp(line[layout.rows_of(partition)]) for partition in range(8)]
    assert widths == [124_000.0] * 8


MERGES = (tasks.merge_parts, tasks.merge_between, tasks.finish_pairs)


def planned(n, n_classes, merge_edges):
    X = make_points("gaussian", n, 6)
    codes = None if n_classes == 1 else make_labels(n, n_classes)
    with plan.override(partition_rows=40), settings(limits=Limits(task_edges=merge_edges)):
        return X, plan_partitions(RowsInMemory.of(X), codes, 3, 0, 2)


@for_each("n_classes", [1, 3])
def test_no_merge_of_a_worker_gets_more_edges_than_it_may(n_classes):
    X, of_rows = planned(300, n_classes, 800)
    jobs = of_rows.graph.jobs
    known = {
        name: value.make() if isinstance(value, graph.Lazy) else value for name, value in of_rows.graph.data.items()
    }
    n_edges = {}
    for name in of_rows.graph.depth_first():
        job = jobs[name]
        if job.work in MERGES:
            found = [known[need] for need in job.names() if need in jobs]
            n_edges[name] = sum(len(edges.u) for part in found for edges in tasks.edges_in(part))
        known[name] = job.work(*job.arguments(known))
    assert max(count for name, count in n_edges.items() if not jobs[name].here) <= 800
    assert any(job.here for job in jobs.values())
    assert max(n_edges.values()) > 800  # so that without a limit a worker would have had more
    whole = known[of_rows.graph.wanted[-1]]
    assert isinstance(whole, ForestEdges)
    assert_same_forests(of_rows.record(known), naive_forests(X, 3))
    if n_classes > 1:
        assert any(job.work is tasks.merge_between for job in jobs.values())
        y = make_labels(300, n_classes)
        by_class = of_rows.record(known, np.unique(y))
        for a, b in combinations(range(n_classes), 2):
            assert_same_forests(by_class.pair(a, b), naive_forests(X[(y == a) | (y == b)], 3))


def test_few_edges_are_merged_by_workers_alone():
    _, of_rows = planned(300, 1, 10**6)
    assert not any(job.here for job in of_rows.graph.jobs.values())


def test_depth_first_uses_results_soon():
    """Of all joins few are there at a time before they are merged; job after job as listed, they all would be."""
    _, of_rows = planned(480, 1, 10**6)
    of_graph = of_rows.graph
    order = of_graph.depth_first()
    assert sorted(order) == sorted(of_graph.jobs)
    users = of_graph.users()
    place = {name: number for number, name in enumerate(order)}
    joins = [name for name in order if name.startswith("join")]
    for name in order:
        assert all(place[need] < place[name] for need in of_graph.jobs[name].names() if need in place)
    last_use = {name: max(place[user] for user in users[name]) for name in joins}
    most = max(sum(place[name] <= now < last_use[name] for name in joins) for now in range(len(order)))
    assert most <= 2 * graph.FAN_IN < len(joins)
