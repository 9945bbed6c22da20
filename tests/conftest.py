"""Settings of all tests, and fixtures for golden values, and for data sets that live beside the repository."""

import faulthandler
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Pictures are drawn without a screen.
os.environ.setdefault("MPLBACKEND", "agg")
# Threads of BLAS and OpenMP that wait for work keep a core busy for it: two processes of tests on two cores would take
# several times as long. Libraries look at these when they are loaded, so that they are set before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import bayesfloor
from bayesfloor.runtime.limits import usable_cores
from bayesfloor.runtime.settings import Limits, limits

pytest_plugins = ["helpers.command_line", "helpers.table_files"]

# A first call may compile kernels, so no example has a deadline; failures repeat from run to run.
settings.register_profile(
    "bayesfloor",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "bayesfloor"))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Take two processes for the whole suite where there are two cores, and this one alone for anything else.

    Each needs seconds to start; a test looked at by itself should print, and stop in a debugger; and slow tests are to
    have the machine for themselves.
    """
    whole_suite = config.args_source is not pytest.Config.ArgsSource.ARGS and config.option.markexpr == "not slow"
    if not whole_suite or config.option.keyword or config.option.collectonly:
        return 0
    return 2 if usable_cores() > 1 else 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """End the process where a test goes on for long after its limit.

    The limit comes as an exception in the main thread, which a test may hold back for ever while it waits for others.
    """
    limit = float(item.config.getoption("timeout") or item.config.getini("timeout"))
    faulthandler.dump_traceback_later(1.5 * limit, exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    """Close what a test has drawn, so that the next one finds no figures."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def array_api_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let scikit-learn check estimators with its array API dispatch on, which it skips without this variable.

    SciPy looks at it when it is imported, so that SciPy works as it does for a user who has not set it.
    """
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


#: What tests make small that a user's own call does not: rows are dealt out once, and grids of curves are coarse.
SMALL: dict[str, Any] = {"repeats": 1, "curve_detail": 1 / 3}


@pytest.fixture(scope="module", autouse=True)
def _limits_of_module(request: pytest.FixtureRequest) -> Iterator[None]:
    """Set limits for a module, its fixtures included: the small ones, changed by ``pytest.mark.limits``."""
    changes = [mark.kwargs for mark in request.node.iter_markers("limits")]
    with bayesfloor.settings(limits=Limits()._replace(**reduce(or_, changes, SMALL))):
        yield


@pytest.fixture(autouse=True)
def set_limits(request: pytest.FixtureRequest) -> Iterator[Callable[..., None]]:
    """Set limits for one test: those of its marks, and whatever it calls this fixture with."""
    with ExitStack() as stack:

        def change(**changes: Any) -> None:
            stack.enter_context(bayesfloor.settings(limits=limits()._replace(**changes)))

        for mark in reversed(list(request.node.iter_markers("limits"))):
            change(**mark.kwargs)
        yield change


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """A client of two worker processes, each with one thread and a nanny that starts it again should it die.

    One small cluster for all tests that need one: workers take seconds to start.
    """
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")

    class Cluster(distributed.LocalCluster):
        """A cluster that closes without an error where a worker died before the scheduler told of it."""

        def _update_worker_status(self, op: str, msg: Any) -> None:
            if op != "remove" or msg in self.scheduler_info["workers"]:
                super()._update_worker_status(op, msg)

    # ":0" lets the scheduler's web server take any port: the usual one may be taken, which Dask warns of
    with (
        Cluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50) as local,
        distributed.Client(local) as client,
    ):
        yield client


SHARED = Path(__file__).resolve().parents[2] / "shared"


def _folder(variable: str, default: Path) -> Path:
    folder = Path(os.environ.get(variable, default))
    if not folder.is_dir():
        pytest.skip(f"no folder {folder}; point {variable} to it")
    return folder


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of real data sets: $BAYESFLOOR_DATA, else ../shared/data."""
    return _folder("BAYESFLOOR_DATA", SHARED / "data")


@pytest.fixture(scope="session")
def golden_dir() -> Path:
    """Folder of golden values, which the code of the paper's authors has computed (smartsvm 1.1.0)."""
    return Path(__file__).resolve().parent / "golden"
