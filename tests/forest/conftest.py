"""One small cluster for all tests of this folder that need one."""

import pytest


@pytest.fixture(scope="session")
def client():
    """A client of two worker processes, each with one thread and a nanny that starts it again should it die."""
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    # ":0" lets the scheduler's web server take any port: the usual one may be taken, which Dask warns of
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client
