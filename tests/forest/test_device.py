"""The engine with distances from torch. Here its device is the CPU; the code is that of a GPU."""

import builtins
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesfloor import bayes_error, class_forests, spanning_forests
from bayesfloor.forest import plan
from bayesfloor.forest.gpu import device as device_module
from forest.agreement import assert_same_forests as assert_same
from forest.point_sets import KINDS, make_points

torch = pytest.importorskip("torch", reason="PyTorch is not installed: the GPU engine is not tested at all")
CPU = torch.device("cpu")


MANY_FEATURES = {"gaussian": 900, "hub_in_a_sphere": 300}


@pytest.fixture(autouse=True)
def everything_on_the_device():
    with plan.override(device_pairs=0):
        yield


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_edges_as_on_the_cpu(kind, monkeypatch):
    X = make_points(kind, 500, MANY_FEATURES.get(kind, 6))
    y = np.random.default_rng(1).integers(0, 3, len(X))
    calls = []
    original = device_module.DeviceRows.lowered_distances

    def counted(self, a, b):
        calls.append(len(a) * len(b))
        return original(self, a, b)

    monkeypatch.setattr(device_module.DeviceRows, "lowered_distances", counted)
    assert_same(spanning_forests(X, device=CPU), spanning_forests(X, device="cpu"))
    assert calls or len(np.unique(X, axis=0)) <= plan.current().all_pairs_below
    on_device, on_cpu = (class_forests(X, y, device=where) for where in (CPU, "cpu"))
    assert_same(on_device.whole, on_cpu.whole)
    for a in range(3):
        for b in range(a):
            assert_same(on_device.pair(a, b), on_cpu.pair(a, b))
    np.testing.assert_array_equal(on_device.pair_cross_counts, on_cpu.pair_cross_counts)


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(201, 420),
    d=st.integers(1, 9),
    levels=st.sampled_from([2, 5, 50, None]),
    block=st.sampled_from([1 << 12, 1 << 14, 1 << 22]),
    n_jobs=st.sampled_from([1, 3]),
)
def test_any_blocks_and_ties(seed, n, d, levels, block, n_jobs):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) if levels is None else rng.integers(0, levels, (n, d)).astype(float)
    before = device_module.CPU_BLOCK
    device_module.CPU_BLOCK = block
    try:
        on_device = spanning_forests(X, device=CPU, n_jobs=n_jobs, random_state=seed)
    finally:
        device_module.CPU_BLOCK = before
    assert_same(on_device, spanning_forests(X, device="cpu", random_state=seed))


def test_products_are_never_above_the_truth():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 300)) + shift for shift in (0, 30, -500)])
    rows = device_module.DeviceRows(X, np.zeros(300), 1.0, CPU)
    stored = rows.rows.numpy().astype(np.float64)
    for first in range(0, 180, 60):
        lowered = rows.lowered_distances(rows.rows[first : first + 60], rows.rows).numpy()
        exact = ((stored[first : first + 60, None] - stored) ** 2).sum(axis=2)
        assert np.all(lowered <= exact)
        near = exact[:, first : first + 60]
        assert np.all(lowered[:, first : first + 60] >= 0.99 * near - 0.01 * near.max())
    assert np.all(np.abs(stored - X) <= rows.slack.numpy()[:, None])


def test_memory_that_runs_out_halves_the_blocks(monkeypatch):
    X = np.random.default_rng(0).normal(size=(700, 5))
    original = device_module.DeviceRows.lowered_distances
    largest = []

    def cramped(self, a, b):
        if len(a) * len(b) > 40_000:
            raise torch.OutOfMemoryError("no room")
        largest.append(len(a) * len(b))
        return original(self, a, b)

    monkeypatch.setattr(device_module.DeviceRows, "lowered_distances", cramped)
    assert_same(spanning_forests(X, device=CPU), spanning_forests(X, device="cpu"))
    assert max(largest) > 10_000


def test_a_device_without_any_room(monkeypatch):
    def full(self, a, b):
        raise torch.OutOfMemoryError("no room")

    monkeypatch.setattr(device_module.DeviceRows, "lowered_distances", full)
    X = np.random.default_rng(0).normal(size=(300, 5))
    with pytest.raises(device_module.DeviceError, match="too little memory"):
        spanning_forests(X, device=CPU)
    # the same, where the device was the engine's own choice
    monkeypatch.setattr(device_module, "choose_device", lambda device, *shape: CPU if device == "auto" else None)
    with pytest.warns(RuntimeWarning, match="the CPU goes on"):
        found = spanning_forests(X)
    assert_same(found, spanning_forests(X, device="cpu"))


def test_rows_that_do_not_fit(monkeypatch):
    def full(*_, **__):
        raise torch.OutOfMemoryError("no room")

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


@pytest.mark.parametrize(
    ("device", "error", "says"),
    [("gpu", ValueError, "'auto', 'cpu', 'cuda'"), (3, TypeError, "torch.device"), (None, TypeError, "torch.device")],
)
def test_other_devices_are_refused(device, error, says):
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


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.int16])
def test_tensors(dtype):
    tensor = torch.as_tensor(np.random.default_rng(0).normal(size=(300, 4)) * 10).to(dtype)
    as_numbers = tensor.to(torch.float64).numpy()
    assert_same(spanning_forests(tensor), spanning_forests(as_numbers, device="cpu"))


def test_the_callers_precision_comes_back():
    X = np.random.default_rng(0).normal(size=(300, 4))
    torch.set_float32_matmul_precision("medium")
    try:
        assert_same(spanning_forests(X, device=CPU), spanning_forests(X, device="cpu"))
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")


def test_neighbours_in_groups(monkeypatch):
    monkeypatch.setattr(device_module, "MANY_POINTS", 100)
    monkeypatch.setattr(device_module, "_GROUP", 64)
    X = np.random.default_rng(0).normal(size=(1500, 3))
    rows = device_module.DeviceRows(X, np.zeros(3), 1.0, CPU)
    found = device_module.nearest_within(rows, np.arange(1500), 8)
    d2 = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(d2, np.inf)
    true = np.argsort(d2, axis=1)[:, :8]
    hits = np.mean([np.isin(mine[mine >= 0], theirs).sum() for mine, theirs in zip(found, true, strict=True)]) / 8
    assert hits > 0.7
    assert all(len(set(mine.tolist())) == 8 and k not in mine for k, mine in enumerate(found))
    assert_same(spanning_forests(X, device=CPU), spanning_forests(X, device="cpu"))


def test_floors_from_a_device():
    X = np.random.default_rng(0).normal(size=(400, 4))
    y = np.arange(400) % 2
    assert bayes_error(X, y, device=CPU).cross_edges == bayes_error(X, y).cross_edges


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

    lowered_distances = device_module.DeviceRows.lowered_distances

    def changed(self, a, b):
        torch.set_float32_matmul_precision("medium")
        return lowered_distances(self, a, b)

    monkeypatch.setattr(torch.Tensor, "__matmul__", spied)
    monkeypatch.setattr(device_module.DeviceRows, "lowered_distances", changed)
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
