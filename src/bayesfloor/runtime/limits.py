"""What the machine allows: how many threads to start and how much memory to ask for.

Containers and job schedulers lower both through control groups (cgroups, version 1 or 2). A group
without a limit, or a system without groups, leaves the machine's own figures.
"""

import contextlib
import math
import os
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from bayesfloor.runtime.checks import check_jobs
from bayesfloor.runtime.settings import jobs_of_block, limits

_PROC = "/proc"
_CGROUPS = "/sys/fs/cgroup"

#: Whether the caller is one of several threads that share the cores.
_in_a_pool: ContextVar[bool] = ContextVar("in_a_pool", default=False)


@contextlib.contextmanager
def one_of_a_pool(n_threads: int) -> Iterator[None]:
    """Mark this thread as one of a pool, so that "every core" means one thread here: pools do not nest."""
    token = _in_a_pool.set(_in_a_pool.get() or n_threads > 1)
    try:
        yield
    finally:
        _in_a_pool.reset(token)


def check_n_jobs(n_jobs: Any) -> int:
    """Return the number of threads to use.

    Parameters
    ----------
    n_jobs : int or None
        None means every core this process may use, or what `settings` say. Negative numbers count from there, as
        in joblib: -1 is all of them, -2 all but one. A thread of a pool may use one core.

    Returns
    -------
    int
        At least 1.
    """
    check_jobs(n_jobs)
    if n_jobs is None and not _in_a_pool.get():
        n_jobs = jobs_of_block()
    if n_jobs is not None and n_jobs > 0:
        return int(n_jobs)
    n_cores = 1 if _in_a_pool.get() else usable_cores()
    return n_cores if n_jobs is None else max(1, n_cores + 1 + int(n_jobs))


def usable_cores() -> int:
    """Count the cores this process may use.

    The smallest of: the cores it is bound to, the CPU quota of its control group, and the variables
    OMP_NUM_THREADS and NUMBA_NUM_THREADS. joblib sets these in its workers, so that a pool of
    processes does not become a pool of pools.
    """
    if hasattr(os, "sched_getaffinity"):
        counts = [len(os.sched_getaffinity(0))]
    else:
        counts = [os.cpu_count() or 1]
    for variable in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        first = os.environ.get(variable, "").split(",")[0].strip()  # OpenMP allows "4,2"
        if first.isdecimal():
            counts.append(int(first))
    for folder in _group_folders("cpu"):
        quota, _, period = _read(f"{folder}/cpu.max").partition(" ")
        if not period:
            quota = _read(f"{folder}/cpu.cfs_quota_us")
            period = _read(f"{folder}/cpu.cfs_period_us")
        if quota.isdecimal() and period.isdecimal():
            counts.append(math.ceil(int(quota) / int(period)))
    return max(1, min(counts))


def check_memory(required_bytes: float, what: str) -> None:
    """Refuse work that needs more memory than there is, before it starts.

    Parameters
    ----------
    required_bytes : float
        How much the work is going to allocate.
    what : str
        What needs it, as the subject of the message: "the forests of 10000000 points".

    Raises
    ------
    MemoryError
        Naming both figures. Nothing is raised where the system does not tell how much is free.
    """
    available = available_memory()
    if available is not None and required_bytes > available:
        raise MemoryError(
            f"{what} would take about {in_gib(required_bytes)} of memory; {in_gib(available)} are available"
        )


def available_memory() -> int | None:
    """Count the bytes this process can still allocate, or return None when that is unknown."""
    if limits().memory is not None:
        return limits().memory
    free = []
    for line in _read(f"{_PROC}/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            free.append(int(line.split()[1]) * 1024)
    for folder in _group_folders("memory"):
        limit = _read(f"{folder}/memory.max") or _read(f"{folder}/memory.limit_in_bytes")
        used = _read(f"{folder}/memory.current") or _read(f"{folder}/memory.usage_in_bytes")
        if limit.isdecimal() and used.isdecimal():
            used_for_good = int(used) - _reclaimable_bytes(folder)
            free.append(max(0, int(limit) - used_for_good))
    if not free and hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        free.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(free, default=None)


def in_gib(n_bytes: float) -> str:
    """Write a number of bytes as the messages do: ``'1.5 GiB'``, or in MiB below one GiB."""
    if n_bytes >= 2**30:
        return f"{n_bytes / 2**30:.1f} GiB"
    return f"{n_bytes / 2**20:.1f} MiB"


def _group_folders(controller: str) -> list[str]:
    """Folders that may limit this process: its own control group and those around it."""
    return _folders_of(_read(f"{_PROC}/self/cgroup"), controller, _CGROUPS)


@cache
def _folders_of(groups: str, controller: str, top: str) -> list[str]:
    """Folders of the groups that a process names; what is asked for again is not looked for again."""
    folders = []
    for line in groups.splitlines():
        _, controllers, group = line.split(":", maxsplit=2)
        if controllers and controller not in controllers.split(","):
            continue
        # version 2 has one tree for all controllers
        tree = Path(top, controller if controllers else "")
        inner = PurePosixPath(group.lstrip("/"))
        folders += [tree / folder for folder in (inner, *inner.parents)]
    # Inside a container the group's path is often that of the host, while its own group is on top.
    return [str(folder) for folder in dict.fromkeys(folders) if folder.is_dir()]


def _reclaimable_bytes(folder: str) -> int:
    """Bytes of cached files that the system gives up before it runs out of memory."""
    for line in _read(f"{folder}/memory.stat").splitlines():
        name, _, value = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file"):
            return int(value)
    return 0


def _read(path: str) -> str:
    try:
        with open(path, encoding=sys.getfilesystemencoding(), errors=sys.getfilesystemencodeerrors()) as file:
            return file.read().strip()
    except OSError:
        return ""
