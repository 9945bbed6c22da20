"""The engine with distances from torch. Here its device is the CPU; the code is that of a GPU."""

import builtins
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesfloor import bayes_error, class_forests, spanning_forests
from bayesfloor import settings as settings_of_block
from bayesfloor.forest import api, plan
from bayesfloor.forest.gpu import device as device_module
from bayesfloor.forest.gpu import rows as device_rows
from bayesfloor.forest.gpu import sweep, torch_kernels
from bayesfloor.forest.gpu.engine import SweepDevice
from bayesfloor.forest.gpu.rows import ROWS, DeviceRows
from bayesfloor.forest.order.hash_kernels import edge_hash
from bayesfloor.forest.order.points import Extent, rank_points
from bayesfloor.forest.sweep.distance_kernels import edge_lengths
from bayesfloor.runtime.kernels import plainly
from bayesfloor.runtime.settings import Limits
from bayesfloor.runtime.threads import WorkerPool
from helpers.agreement import assert_same_forests as assert_same
from helpers.point_sets import make_points

torch = pytest.importorskip("torch", reason="PyTorch is not installed: the GPU engine is not tested at all")
CPU = torch.device("cpu")


MANY_FEATURES = {"gaussian": 900, "hub_in_a_sphere": 300}


@pytest.fixture(autouse=True)
def everything_on_the_device():
    with plan.override(device_pairs=0), plainly(False):  # kernels, also where loading them takes longer
        yield


@pytest.mark.parametrize(
    "kind", [*MANY_FEATURES, "one_hot", "integer_grid", "some_copies", "nearly_copies", "one_outlier", "far_from_zero"]
)
def test_the_same_edges_as_on_the_cpu(kind, monkeypatch):
    X = make_points(kind, 300, MANY_FEATURES.get(kind, 6))
    y = np.random.default_rng(1).integers(0, 3, len(X))
    calls = []
    original = torch_kernels.candidates

    def counted(one, other, *arguments):
        calls.append(len(one.norms) * len(other.norms))
        return original(one, other, *arguments)

    monkeypatch.setattr(torch_kernels, "candidates", counted)
    assert_same(spanning_forests(X, device=CPU), spanning_forests(X, device="cpu"))
    assert calls or len(np.unique(X, axis=0)) <= plan.current().all_pairs_below
    on_device, on_cpu = (class_forests(X, y, device=where) for where in (CPU, "cpu"))
    assert_same(on_device.whole, on_cpu.whole)
    for a in range(3):
        for b in range(a):
            assert_same(on_device.pair(a, b), on_cpu.pair(a, b))
    np.testing.assert_array_equal(on_device.pair_cross_counts, on_cpu.pair_cross_counts)


@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(201, 420),
    d=st.integers(1, 9),
    levels=st.sampled_from([2, 5, 50, None]),
    few=st.sampled_from([(0, 1, ROWS**2), (0, 2, 40_000), (512, 128, 1 << 25), (512, 128, ROWS**2)]),
    n_jobs=st.sampled_from([1, 3]),
)
def test_any_chunks_and_ties(seed, n, d, levels, few, n_jobs):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) if levels is None else rng.integers(0, levels, (n, d)).astype(float)
    with pytest.MonkeyPatch.context() as patched:
        for name, value in zip(("ONE_CHUNK", "CHUNK", "CAPACITY"), few, strict=True):
            patched.setattr(sweep, name, value)
        patched.setattr(sweep, "MANY", 100)  # chunks are rounded around their middle
        patched.setattr(sweep, "MANY_EDGES", 100)  # edges are sorted on the device
        with settings_of_block(limits=Limits(device_points=0)):
            on_device = spanning_forests(X, device=CPU, n_jobs=n_jobs, random_state=seed)
    assert_same(on_device, spanning_forests(X, device="cpu", random_state=seed))


def test_rounded_distances_are_never_above_the_truth():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 300)) + shift for shift in (0, 30, -500)])
    rows = DeviceRows(X, Extent.of(X), CPU, WorkerPool(1))
    for first in range(0, 180, 60):
        own = torch.arange(first, first + 60)
        middle = rows.middle(own)
        one, other = rows.rounded(own, middle), rows.rounded(torch.arange(180), middle)
        lowered = torch_kernels.squared_distances(one, other).numpy()[:60, :180].astype(np.float64)
        exact = np.sqrt(((X[first : first + 60, None] - X) ** 2).sum(axis=2)) * rows.scale
        slack = one.slack.numpy()[:60, None] + other.slack.numpy()[:180]
        assert np.all(np.sqrt(np.maximum(lowered, 0.0)) <= exact + slack)
        near = exact[:, first : first + 60]
        assert np.all(lowered[:, first : first + 60] >= 0.98 * near**2 - 0.01 * near.max() ** 2)
    np.testing.assert_array_equal(one.coordinates.view(torch.int32) & 0x1FFF, 0)  # what TF32 cannot hold
    assert np.all(np.isinf(one.norms.numpy()[60:]))  # padding is near to nothing


def test_lengths_and_hashes_are_those_of_the_cpu():
    X = np.random.default_rng(0).normal(size=(400, 37)) * 10.0 ** np.random.default_rng(1).integers(-9, 9, (400, 37))
    X[3, 4] = -0.0
    i, j = np.random.default_rng(2).integers(0, 400, (2, 3000)).astype(np.int32)
    expected = np.empty(3000)
    edge_lengths(X, X, i, j, expected)
    exact, pairs = torch.as_tensor(X), (torch.as_tensor(i).long(), torch.as_tensor(j).long())
    np.testing.assert_array_equal(torch_kernels.lengths(exact, *pairs), expected)
    hashes = rank_points(X).hashes
    on_device = torch_kernels.hash_rows(exact)
    np.testing.assert_array_equal(on_device.numpy().view(np.uint64), hashes)
    key = np.uint64(0xFEDCBA9876543210)
    of_edges = torch_kernels.edge_hashes(on_device, *pairs, key).numpy().view(np.uint64)
    assert of_edges[:20].tolist() == [edge_hash(hashes[a], hashes[b], key) for a, b in zip(i[:20], j[:20], strict=True)]


@pytest.mark.parametrize("few_points", [0, 10_000])
def test_near_neighbours(few_points, monkeypatch, set_limits):
    set_limits(device_points=few_points)
    X = np.random.default_rng(0).normal(size=(2000, 3))
    y = np.arange(2000) % 2
    looked = []
    original = SweepDevice.look_around

    def look_around(self, sets, n_trees):
        original(self, sets, n_trees)
        looked.append([(tiled.point_rows, *self.around(tiled)[:2]) for tiled in sets])

    monkeypatch.setattr(SweepDevice, "look_around", look_around)
    class_forests(X, y, device=CPU)
    ((one, other),) = looked
    for c, ((rows, own, others), (other_rows, *_)) in enumerate(((one, other), (other, one))):
        d2 = ((X[rows][:, None] - X[rows]) ** 2).sum(axis=2)
        np.fill_diagonal(d2, np.inf)
        found = np.take_along_axis(d2, own.astype(np.int64), axis=1)
        assert np.mean(found[:, 0] <= d2.min(axis=1) * 1.01) > 0.99
        assert np.mean(found[:, 3] <= np.sort(d2, axis=1)[:, 5]) > 0.8  # of two in one slab, one is found
        assert all(len(set(mine.tolist())) == 8 and k not in mine for k, mine in enumerate(own))
        across = ((X[rows][:, None] - X[other_rows]) ** 2).sum(axis=2)
        nearest = across[np.arange(len(rows)), others[1 - c]]
        assert np.mean(nearest <= across.min(axis=1) * 1.01) > 0.99


def test_memory_that_runs_out_halves_the_chunks(monkeypatch):
    X = np.random.default_rng(0).normal(size=(700, 5))
    original, largest = torch_kernels.candidates, []

    def cramped(one, other, *arguments):
        if len(one.norms) * len(other.norms) > 100_000:
            raise torch.OutOfMemoryError("no room")
        largest.append(len(one.norms) * len(other.norms))
        return original(one, other, *arguments)

    monkeypatch.setattr(torch_kernels, "candidates", cramped)
    assert_same(spanning_forests(X, device=CPU), spanning_forests(X, device="cpu"))
    assert max(largest) > 40_000


def full(*_, **__):
    raise torch.OutOfMemoryError("no room")


@pytest.mark.parametrize("where", ["candidates", "lengths", "nearest"])
def test_a_device_without_any_room(where, monkeypatch):
    monkeypatch.setattr(torch_kernels, where, full)
    X = np.random.default_rng(0).normal(size=(300, 5))
    with pytest.raises(device_module.DeviceError, match="too little memory"):
        spanning_forests(X, device=CPU)
    # the same, where the device was the engine's own choice
    monkeypatch.setattr(device_module, "choose_device", lambda device, *shape: CPU if device == "auto" else None)
    with pytest.warns(RuntimeWarning, match="the CPU goes on"):
        found = spanning_forests(X)
    assert_same(found, spanning_forests(X, device="cpu"))


def test_rows_that_do_not_fit(monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 5))
    monkeypatch.setattr(torch, "empty", full)
    with pytest.raises(device_module.DeviceError, match="no room for 300 x 5"):
        spanning_forests(X, device=CPU)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_no_gpu():
    X = np.random.default_rng(0).normal(size=(300, 5))
    with pytest.raises(device_module.DeviceError, match="finds no GPU"):
        spanning_forests(X, device="cuda")
    assert device_module.choose_device("auto", 10**6, 100) is None


def test_other_devices_are_refused():
    devices = [
        ("gpu", ValueError, "'auto', 'cpu', 'cuda'"),
        (3, TypeError, "torch.device"),
        (None, TypeError, "torch.d"),
    ]
    for device, error, says in devices:
        with pytest.raises(error, match=re.escape(says)):
            spanning_forests(np.eye(4), device=device)


def test_without_torch(monkeypatch):
    monkeypatch.setattr(device_module, "find_spec", lambda name: None)
    original = builtins.__import__

    def no_torch(name, *arguments, **named):
        assert not name.startswith("torch"), "torch is imported"
        return original(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", no_torch)
    with pytest.raises(ImportError, match=r"bayesfloor\[gpu\]"):
        device_module.choose_device("cuda", 10, 10)
    assert device_module.choose_device("auto", 10**6, 100) is None
    assert device_module.choose_device("cpu", 10**6, 100) is None


def test_small_work_does_not_look_for_a_gpu(monkeypatch):
    monkeypatch.setattr(device_module, "find_spec", None)
    assert device_module.choose_device("auto", 1000, 10) is None


def test_tensors():
    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.int16):
        tensor = torch.as_tensor(np.random.default_rng(0).normal(size=(300, 4)) * 10).to(dtype)
        as_numbers = tensor.to(torch.float64).numpy()
        assert_same(spanning_forests(tensor), spanning_forests(as_numbers, device="cpu"))


@pytest.fixture
def tensors_stay(monkeypatch):
    """Take tensors of the CPU for such that are on the device."""

    def of_any_tensor(X, device):
        return device_rows.of_tensor(X) if isinstance(X, torch.Tensor) else None

    monkeypatch.setattr(api, "resident", of_any_tensor)


@pytest.mark.parametrize("kind", ["gaussian", "some_copies", "signed_zeros"])
def test_tensors_that_stay_where_they_are(kind, tensors_stay, monkeypatch):
    X = make_points(kind, 500, 6)
    y = np.random.default_rng(1).integers(0, 2, len(X))
    fetched = []
    original = device_rows.host_array
    monkeypatch.setattr(device_rows, "host_array", lambda X: fetched.append(len(X)) or original(X))
    tensor = torch.as_tensor(X.copy())
    with plan.override(all_pairs_below=20):
        found, of_classes = spanning_forests(tensor, device=CPU), class_forests(tensor, y, device=CPU)
    expected, expected_of_classes = spanning_forests(X, device="cpu"), class_forests(X, y, device="cpu")
    assert_same(found, expected)
    assert_same(of_classes.whole, expected_of_classes.whole)
    assert_same(of_classes.pair(0, 1), expected_of_classes.pair(0, 1))
    assert fetched == []
    assert_same(pickle.loads(pickle.dumps(of_classes)).pair(0, 1), expected_of_classes.pair(0, 1))
    assert set(fetched) == {len(X)}


def test_small_tensors_are_fetched(tensors_stay):
    X = np.random.default_rng(0).normal(size=(100, 3))
    assert_same(spanning_forests(torch.as_tensor(X), device=CPU), spanning_forests(X, device="cpu"))


def test_rows_of_a_tensor_that_share_a_hash(tensors_stay, monkeypatch):
    monkeypatch.setattr(torch_kernels, "hash_rows", lambda exact: torch.arange(len(exact)) // 2)
    X = np.random.default_rng(0).normal(size=(400, 3))
    assert_same(spanning_forests(torch.as_tensor(X), device=CPU), spanning_forests(X, device="cpu"))


def test_tensors_that_are_looked_at_more_closely():
    for X in (
        torch.zeros(5),
        torch.zeros((1, 3)),
        torch.zeros((5, 0)),
        torch.full((5, 2), float("nan")),
        torch.tensor([[1e200, 1.0], [2.0, 3.0]], dtype=torch.float64) * 1e150,
        torch.full((5, 2), 1e305, dtype=torch.float64),
        torch.zeros((5, 2), dtype=torch.complex64),
        torch.full((5, 2), 2**60),
    ):
        assert device_rows.of_tensor(X) is None, X


def test_floors_from_a_device():
    X = np.random.default_rng(0).normal(size=(400, 4))
    y = np.arange(400) % 2
    assert bayes_error(X, y, device=CPU).cross_edges.mean == bayes_error(X, y).cross_edges.mean


@pytest.fixture
def precision():
    """The caller's setting, which the tests below change."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    yield torch.get_float32_matmul_precision
    torch.set_float32_matmul_precision(before)


def test_full_precision_in_threads_that_overlap(precision):
    """The first to leave was the first to come: the other still needs the setting, and the caller's comes back."""
    entered, left = threading.Barrier(2, timeout=60), threading.Barrier(2, timeout=60)

    def leaves_first():
        with device_module.full_precision():
            entered.wait()
        left.wait()

    def leaves_last():
        with device_module.full_precision():
            entered.wait()
            left.wait()
            return precision()

    with ThreadPoolExecutor(2) as pool:
        first, last = pool.submit(leaves_first), pool.submit(leaves_last)
        assert last.result() == "highest"
        first.result()
    assert precision() == "high"


def test_every_product_in_full_precision_though_the_setting_changes(precision, monkeypatch):
    """A change by somebody else lasts for no product, and is there at the end."""
    multiply, seen = torch.Tensor.__matmul__, []

    def spied(a, b):
        seen.append(precision())
        return multiply(a, b)

    squared_distances = torch_kernels.squared_distances

    def changed(one, other):
        torch.set_float32_matmul_precision("medium")
        return squared_distances(one, other)

    monkeypatch.setattr(torch.Tensor, "__matmul__", spied)
    monkeypatch.setattr(torch_kernels, "squared_distances", changed)
    X = make_points("gaussian", 500, 6)
    assert_same(spanning_forests(X, device=CPU), spanning_forests(X, device="cpu"))
    assert set(seen) == {"highest"}
    assert precision() == "medium"


@pytest.mark.skipif(not hasattr(torch.backends, "fp32_precision"), reason="this torch has one setting for all backends")
def test_full_precision_where_backends_are_set_one_by_one(precision):
    torch.set_float32_matmul_precision("highest")
    cuda = torch.backends.cuda.matmul
    before = cuda.fp32_precision
    try:
        cuda.fp32_precision = "tf32"
        with device_module.full_precision():
            assert cuda.fp32_precision == "ieee"
        assert cuda.fp32_precision == "tf32"
    finally:
        cuda.fp32_precision = before
