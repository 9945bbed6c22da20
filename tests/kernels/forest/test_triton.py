"""The kernels of a GPU in Triton's interpreter, which needs none."""

import importlib.util
import os
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: the GPU engine is not tested at all")

SCRIPT = """
import numpy as np, torch
from bayesfloor import class_forests, spanning_forests
from bayesfloor.forest import plan
from bayesfloor.forest.gpu import sweep, torch_kernels, triton_kernels
from bayesfloor.runtime.settings import Limits, settings
from helpers.agreement import assert_same_forests
from helpers.point_sets import make_points

sweep.torch_kernels = triton_kernels  # where the engine looks for its kernels
for name in ("SIGN", "edge_hashes"):
    setattr(triton_kernels, name, getattr(torch_kernels, name))
CPU = torch.device("cpu")
with plan.override(device_pairs=0), settings(limits=Limits(device_points=0)):
    for kind in ("gaussian", "integer_grid", "some_copies", "far_from_zero"):
        X = make_points(kind, 420, 5)
        y = np.arange(len(X)) % 2
        assert_same_forests(spanning_forests(X, device=CPU), spanning_forests(X, device="cpu"))
        found, expected = (class_forests(X, y, device=where) for where in (CPU, "cpu"))
        assert_same_forests(found.pair(0, 1), expected.pair(0, 1))
exact = torch.as_tensor(np.random.default_rng(0).normal(size=(100, 9)))
assert torch.equal(triton_kernels.hash_rows(exact), torch_kernels.hash_rows(exact))
print("as on the CPU")
"""


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton comes with PyTorch for GPUs, and is not installed"
)
def test_the_same_edges_as_on_the_cpu(pytestconfig):
    environment = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(["tests", *sys.path])}
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, cwd=pytestconfig.rootpath, capture_output=True, text=True
    )
    assert ran.stdout == "as on the CPU\n", ran.stderr
