"""Where and with what something was measured, without names of hosts or folders."""

import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "bayesfloor")


@cache
def describe_machine() -> dict[str, Any]:
    """Return the kind and number of processors, and the system."""
    return {
        "cpu": _cpu_name(),
        "n_cpus": os.cpu_count(),
        "machine": platform.machine(),
        "system": platform.system(),
    }


@cache
def describe_versions() -> dict[str, str | None]:
    """Return the versions of Python and of the packages that matter."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


@cache
def describe_revision() -> dict[str, Any] | None:
    """Return the git revision, and whether package or study differ from it; None outside a repository."""
    root = str(Path(__file__).resolve().parents[2])
    revision = _output("git", "-C", root, "rev-parse", "HEAD")
    if not revision:
        return None
    changes = _output("git", "-C", root, "status", "--porcelain", "--", "src", "benchmarks/study")
    return {"commit": revision, "modified": None if changes is None else bool(changes)}


def _cpu_name() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    texts = [cpuinfo.read_text(encoding="utf-8", errors="replace")] if cpuinfo.is_file() else []
    texts.append(_output("lscpu") or "")  # not all processors say their name in the first
    for text in texts:
        for line in text.splitlines():
            name, _, value = line.partition(":")
            if name.strip().lower() == "model name" and value.strip():
                return value.strip()
    return _output("sysctl", "-n", "machdep.cpu.brand_string") or platform.processor() or platform.machine()


def _output(*command: str) -> str | None:
    """Return what a command prints; None if there is no such command, or if it fails."""
    environment = {**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=30, check=True, env=environment
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()
