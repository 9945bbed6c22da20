"""`bayesfloor warmup` compiles every kernel; other commands compile beside their work."""

import os
import subprocess
import sys

import pytest

from bayesfloor import settings
from bayesfloor.cli import main, warmup
from bayesfloor.runtime import kernel_cache

#: Kernels that only a device calls.
OF_DEVICES = {"bayesfloor.forest.sweep.bound_kernels.bound_along"}


@pytest.fixture
def empty_cache(tmp_path):
    """The environment of processes that find no compiled kernels."""
    return os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}


def test_unknown_part(capsys):
    assert main(["warmup", "forest"]) == 2
    assert "there is no part forest: parts are pairs, " in capsys.readouterr().err


@pytest.mark.slow
def test_parts_are_compiled_in_processes_of_their_own(monkeypatch, capsys):
    monkeypatch.setattr(warmup, "PARTS", {"trees": warmup.PARTS["trees"]})
    assert main(["warmup", "--jobs", "1"]) == 0
    first, *parts, last = capsys.readouterr().err.splitlines()
    assert first.startswith("bayesfloor: compiling kernels into ")
    assert [line.split(":")[0] for line in parts] == ["  trees"]
    assert last.startswith("bayesfloor: all kernels are compiled, ")


def test_part_that_fails(monkeypatch, capsys):
    monkeypatch.setattr(warmup, "PARTS", {"unknown": None})
    assert main(["warmup", "--jobs", "1"]) == 2
    said = capsys.readouterr().err
    assert "  unknown: failed" in said
    assert "all kernels are compiled" not in said
    killed = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]
    monkeypatch.setattr(warmup, "_command", lambda part: killed)
    assert main(["warmup", "--jobs", "1"]) == 137


def test_without_a_folder(monkeypatch, capsys):
    monkeypatch.setattr(kernel_cache, "cache_folder", lambda: None)
    assert main(["warmup"]) == 4
    assert "cannot be kept here" in capsys.readouterr().err


def test_processes_beside_end_with_the_work(monkeypatch):
    started = []

    class Process(subprocess.Popen):
        def __init__(self, command, **options):
            assert command[1:] == ["-m", "bayesfloor", "warmup", "boosting"]
            super().__init__([sys.executable, "-c", "import time; time.sleep(100)"], **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Process)
    monkeypatch.setattr(warmup, "_boosting_is_compiled", lambda: False)
    with settings(n_jobs=2), pytest.raises(KeyError), warmup.compiling_boosting():
        raise KeyError
    (process,) = started
    assert process.returncode is not None
    for wanted, n_jobs, is_compiled in ((False, 2, False), (True, 1, False), (True, 2, True)):
        monkeypatch.setattr(warmup, "_boosting_is_compiled", lambda is_compiled=is_compiled: is_compiled)
        with settings(n_jobs=n_jobs), warmup.compiling_boosting(wanted):
            assert len(started) == 1


@pytest.mark.slow
def test_all_kernels_are_compiled(empty_cache):
    warmed = subprocess.run(
        [sys.executable, "-m", "bayesfloor", "warmup"], env=empty_cache, capture_output=True, text=True
    )
    assert warmed.returncode == 0, warmed.stderr
    # triton_kernels needs Triton, which compiles its kernels on a GPU alone
    script = (
        "import pkgutil, bayesfloor\n"
        "from importlib import import_module\n"
        "for module in pkgutil.walk_packages(bayesfloor.__path__, 'bayesfloor.'):\n"
        "    module.name.endswith(('__main__', 'triton_kernels')) or import_module(module.name)\n"
        "from bayesfloor.runtime.kernels import never_called\n"
        "print(*never_called())\n"
    )
    left = subprocess.run([sys.executable, "-c", script], env=empty_cache, capture_output=True, text=True, check=True)
    assert set(left.stdout.split()) == OF_DEVICES


@pytest.mark.slow
def test_eight_processes_at_once_on_an_empty_cache(empty_cache):
    command = [sys.executable, "-m", "bayesfloor", "floor", "iris", "--json", "--quiet"]
    calls = [subprocess.Popen(command, env=empty_cache, stdout=-1, stderr=-1, text=True) for _ in range(8)]
    answers = {call.communicate(timeout=600) for call in calls}
    assert [call.returncode for call in calls] == [0] * 8
    ((answer, said),) = answers
    assert said == ""
    assert '"estimate"' in answer
