"""What only a process of its own shows: how it starts, how it is stopped, and pipes."""

import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

HEAVY = {"numpy", "scipy", "sklearn", "numba", "polars", "pandas", "matplotlib", "skops", "narwhals"}
COMMAND = [sys.executable, "-m", "bayesfloor"]


def test_help_loads_nothing_heavy():
    script = (
        "import sys\nfrom bayesfloor.cli import main\n"
        f"for call in (['--help'], ['floor', '--help'], ['flor'], []): main(call)\n"
        f"print('loaded', sorted({HEAVY!r} & sys.modules.keys()))"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines()[-1] == "loaded []"


def test_commands_do_not_wait_for_scikit_learn(tmp_path):
    """To load it takes as long as the answer; what comes with it by name is kept after the first time."""
    script = (
        "import sys\nfrom bayesfloor.cli import main\n"
        "from bayesfloor.tables.datasets import load_dataset\nload_dataset('iris')\n"
        "for name in [*sys.modules]:\n"
        "    if name.split('.')[0] in ('sklearn', 'pandas'): del sys.modules[name]\n"
        "sys.modules['sklearn'] = sys.modules['pandas'] = None\n"
        "assert main(['floor', 'iris', '--fast']) == 0\n"
        "assert main(['report', 'iris', '--out', 'iris.html']) == 0"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "The floor is about" in answer.stdout
    assert (tmp_path / "iris.html").stat().st_size < 500_000


def test_the_fast_floor_of_a_small_table_loads_no_compiler_and_no_library_that_it_does_not_need(tmp_path):
    """numba alone takes as long to load as the answer takes; a small table runs the plain versions of kernels."""
    unused = ("numba", "llvmlite", "sklearn", "pandas", "polars", "jinja2", "matplotlib")
    unused += ("scipy.stats", "scipy.optimize", "scipy.interpolate", "scipy.integrate")
    script = (
        "import sys\nfrom bayesfloor.cli import main\n"
        "assert main(['floor', 'iris', '--fast']) == 0\n"
        f"print('loaded', sorted({{*{unused!r}}} & sys.modules.keys()))"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}  # compiled kernels would be loaded on a slow machine
    for _ in range(2):  # the data set is kept after the first time
        answer = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
        )
    assert answer.stdout.splitlines()[-1] == "loaded []"


def test_there_is_a_script():
    root = Path(__file__).resolve().parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"bayesfloor": "bayesfloor.cli:script"}


def test_exit_codes_reach_the_shell(tmp_path):
    answer = subprocess.run([*COMMAND, "floor", "nosuch.csv"], capture_output=True, text=True, cwd=tmp_path)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.startswith("bayesfloor: 'nosuch.csv': no such file")
    assert answer.stderr.count("\n") == 1


def test_interrupt(tmp_path):
    # rows enough that it is still at work when the signal comes
    process = subprocess.Popen(
        [*COMMAND, "floor", "digits", "--threads", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stderr is not None
    assert "digits comes with scikit-learn" in process.stderr.readline()
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "bayesfloor: interrupted"
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "work",
    [
        "exec('os.kill(os.getpid(), signal.SIGINT)')",
        "with suppress(KeyboardInterrupt): os.kill(os.getpid(), signal.SIGINT)\n    raise ImportError('not loaded')",
    ],
    ids=["inside exec", "while a library loads"],
)
def test_interrupt_that_python_or_a_library_takes_for_something_else(work, tmp_path):
    (tmp_path / "interrupted.py").write_text(
        "import os, signal\n"
        "from contextlib import suppress\n"
        "from bayesfloor.cli import script, start\n"
        f"def run(*_):\n    {work}\n"
        "start._run = run\n"
        "script()\n"
    )
    answer = subprocess.run([sys.executable, "-m", "interrupted"], capture_output=True, text=True, cwd=tmp_path)
    assert (answer.returncode, answer.stderr) == (130, "bayesfloor: interrupted\n")


@pytest.mark.skipif(os.name != "posix", reason="pipes and /dev/full are those of POSIX")
def test_a_reader_that_leaves_and_a_full_disk(tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    answer = subprocess.run(
        [*COMMAND, "pairs", "iris", "--quiet", "--fail-above", "0.01"],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writing)
    # the verdict is not lost with the table
    assert answer.returncode == 1
    assert answer.stderr.count("\n") == 1
    if not Path("/dev/full").exists():
        return
    with open("/dev/full", "w") as full:
        answer = subprocess.run([*COMMAND, "datasets"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert answer.returncode == 3
    assert answer.stderr == "bayesfloor: 'stdout': No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="pipes are those of POSIX")
@pytest.mark.parametrize("call", [["--help"], ["gap", "--help"]])
def test_help_for_a_reader_that_leaves(call):
    reading, writing = os.pipe()
    os.close(reading)
    answer = subprocess.run([*COMMAND, *call], stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (answer.returncode, answer.stderr) == (0, b"")


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_progress_is_drawn_on_a_terminal_only(monkeypatch):
    from bayesfloor.cli.output import progress_on_stderr

    with progress_on_stderr(quiet=False) as progress:
        assert progress is False
    master, slave = os.openpty()
    with os.fdopen(slave, "w") as terminal:
        monkeypatch.setattr("sys.stderr", terminal)
        monkeypatch.setattr("bayesfloor.cli.output._PATIENCE_S", 0.0)
        with progress_on_stderr(quiet=True) as progress:
            assert progress is False
        with progress_on_stderr(quiet=False) as progress:
            progress(3, 10)
    drawn = ""
    while not drawn.endswith("\r\033[K"):  # a terminal hands over what was written in pieces
        try:
            drawn += os.read(master, 1000).decode()
        except OSError:  # there is no more
            break
    os.close(master)
    assert "[#########....................." in drawn
    assert "30%" in drawn
    assert drawn.endswith("\r\033[K")


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(
    "folder",
    [
        "from bayesfloor.forest.partitions.chunks import working_folder\n    held = working_folder(0)",
        "from bayesfloor.data.row_parts import PartWriter\n    held = PartWriter(10, 2, 2, float)",
    ],
    ids=["partitions", "parts of rows"],
)
def test_a_signal_leaves_no_folder_for_temporary_files(folder, sent, tmp_path):
    (tmp_path / "script.py").write_text(
        "import os, time\n"
        "from bayesfloor.cli import script, start\n"
        f"def run(*_):\n    {folder}\n    assert os.listdir(os.environ['TMPDIR'])\n"
        f"    os.kill(os.getpid(), {int(sent)})\n    time.sleep(60)\n"
        "start._run = run\n"
        "script()\n"
    )
    (tmp_path / "tmp").mkdir()
    answer = subprocess.run(
        [sys.executable, "script.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        timeout=60,
        check=False,
    )
    assert (answer.returncode, answer.stderr) == (128 + sent, "bayesfloor: interrupted\n")
    assert list((tmp_path / "tmp").iterdir()) == []
