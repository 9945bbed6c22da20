"""Threads and memory, on this machine and on machines made of a few files."""

import os
import subprocess
import sys

import numpy as np
import pytest

from bayesfloor.runtime import limits
from bayesfloor.runtime.checks import ParameterError
from bayesfloor.runtime.limits import check_memory, check_n_jobs

GIB = 2**30


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Return a function that writes the files of a made-up machine."""
    monkeypatch.setattr(limits, "_PROC", str(tmp_path / "proc"))
    monkeypatch.setattr(limits, "_CGROUPS", str(tmp_path / "cgroup"))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n", encoding="utf-8")

    return write


MEMINFO = f"MemTotal: {64 * 2**20} kB\nMemFree: 1 kB\nMemAvailable: {32 * 2**20} kB"


def test_memory_of_a_plain_machine(machine):
    machine({"proc/meminfo": MEMINFO})
    assert limits.available_memory() == 32 * GIB


def test_memory_of_a_group_of_version_2(machine):
    machine(
        {
            "proc/meminfo": MEMINFO,
            "proc/self/cgroup": "0::/jobs/17",
            "cgroup/jobs/17/memory.max": "max",
            "cgroup/jobs/17/memory.current": 3 * GIB,
            "cgroup/jobs/memory.max": 8 * GIB,
            "cgroup/jobs/memory.current": 5 * GIB,
            "cgroup/jobs/memory.stat": f"anon {3 * GIB}\ninactive_file {2 * GIB}",
        }
    )
    assert limits.available_memory() == 5 * GIB


def test_memory_of_a_group_of_version_1_seen_from_inside_its_container(machine):
    machine(
        {
            "proc/meminfo": MEMINFO,
            "proc/self/cgroup": "4:memory:/not/to/be/seen\n1:cpu,cpuacct:/",
            "cgroup/memory/memory.limit_in_bytes": 4 * GIB,
            "cgroup/memory/memory.usage_in_bytes": 1 * GIB,
        }
    )
    assert limits.available_memory() == 3 * GIB


def test_memory_of_a_machine_that_tells_nothing(machine, monkeypatch):
    monkeypatch.setattr(os, "sysconf_names", {})
    assert limits.available_memory() is None
    check_memory(1e30, "anything")


def test_memory_that_is_there():
    available = limits.available_memory()
    assert available is None or available > 2**20
    check_memory(2**20, "a small thing")


def test_more_memory_than_there_is(machine):
    machine({"proc/meminfo": MEMINFO})
    check_memory(32 * GIB, "the forests")
    with pytest.raises(MemoryError, match=r"^the forests would take about 33\.5 GiB of memory; 32\.0 GiB are avail"):
        check_memory(33.5 * GIB, "the forests")


def test_cores_of_a_plain_machine(machine):
    machine({})
    assert limits.usable_cores() == 8


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"proc/self/cgroup": "0::/", "cgroup/cpu.max": "250000 100000"}, 3),
        ({"proc/self/cgroup": "0::/", "cgroup/cpu.max": "max 100000"}, 8),
        ({"proc/self/cgroup": "0::/a", "cgroup/a/cpu.max": "max 100000", "cgroup/cpu.max": "100000 100000"}, 1),
        (
            {
                "proc/self/cgroup": "1:cpu,cpuacct:/",
                "cgroup/cpu/cpu.cfs_quota_us": "200000",
                "cgroup/cpu/cpu.cfs_period_us": "100000",
            },
            2,
        ),
        (
            {
                "proc/self/cgroup": "1:cpu:/",
                "cgroup/cpu/cpu.cfs_quota_us": "-1",
                "cgroup/cpu/cpu.cfs_period_us": "100000",
            },
            8,
        ),
        ({"proc/self/cgroup": "0::/Zoë.scope", "cgroup/Zoë.scope/cpu.max": "300000 100000"}, 3),
    ],
)
def test_cores_of_a_group(machine, files, cores):
    machine(files)
    assert limits.usable_cores() == cores


def test_cores_set_by_a_variable(machine, monkeypatch):
    machine({})
    for variable in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        for value, cores in (("3", 3), ("4,2", 4), ("99", 8), ("0", 1), ("", 8), ("many", 8)):
            monkeypatch.setenv(variable, value)
            assert limits.usable_cores() == cores, (variable, value)
        monkeypatch.delenv(variable)


@pytest.mark.slow  # processes of their own
def test_joblib_workers_do_not_start_pools_of_pools():
    script = (
        "from joblib import Parallel, delayed\n"
        "from bayesfloor.runtime.limits import usable_cores\n"
        "n = usable_cores()\n"
        "if __name__ == '__main__' and n > 1:\n"
        "    print(n, sum(Parallel(n_jobs=n)(delayed(usable_cores)() for _ in range(n))))\n"
    )
    # other tests of this process may have started libraries that set these
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    answer = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    ).stdout
    if not answer:
        pytest.skip("one core only")
    cores, threads = answer.split()
    assert cores == threads


def test_n_jobs(machine):
    machine({})
    expected = {None: 8, 1: 1, np.int64(20): 20, -1: 8, -2: 7, -20: 1}
    assert {n_jobs: check_n_jobs(n_jobs) for n_jobs in expected} == expected


def test_n_jobs_that_means_nothing():
    for wrong in (0, 1.5, "2", True):
        with pytest.raises(ParameterError, match="'n_jobs' parameter must be an int other than 0, or None"):
            check_n_jobs(wrong)
