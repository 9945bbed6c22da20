"""Whole processes: peak memory, and kernels that are compiled once."""

import os
import subprocess
import sys

import pytest

resource = pytest.importorskip("resource", reason="peak memory is read with getrusage")

pytestmark = pytest.mark.slow

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
