"""Where distances are computed: here, on a GPU, or on a cluster."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bayesfloor.cli.exits import UsageError
from bayesfloor.cli.options import TableOptions
from bayesfloor.cli.output import progress_on_stderr

#: Seconds that a scheduler has to answer.
_PATIENCE_S = 10


@contextmanager
def engine(options: TableOptions) -> Iterator[dict[str, Any]]:
    """Give the arguments of a function that grows trees: threads, device, cluster, seed and progress."""
    if options.cluster is not None and options.device not in ("auto", "cpu"):
        raise UsageError("--cluster and --device cuda exclude each other")
    with client_of(options.cluster) as client, progress_on_stderr(options.quiet) as progress:
        yield {
            "n_jobs": options.threads,
            "device": options.device,
            "client": client,
            "random_state": options.seed,
            "progress": progress,
        }


@contextmanager
def client_of(address: str | None) -> Iterator[Any]:
    """Connect to the scheduler of a cluster; None where none was asked for."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
        from distributed.comm.addressing import get_address_host_port
    except ImportError as error:
        raise ImportError("--cluster needs Dask; install bayesfloor[dask].", name="distributed") from error
    logger = logging.getLogger("distributed")
    level = logger.level
    try:
        get_address_host_port(address)  # a client of an address that is none stays behind, and complains at the end
        logger.setLevel(logging.CRITICAL + 1)  # retries; that nothing answers is said in one line
        client: Any = Client(address, timeout=_PATIENCE_S, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise ConnectionError(f"--cluster {address!r}: no Dask scheduler answers there ({error})") from error
    finally:
        logger.setLevel(level)
    with client:
        yield client
