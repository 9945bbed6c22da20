"""What only a process of its own shows: how it starts, how it is stopped, and streams that are closed or full."""

import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import polars as pl
import pytest

HEAVY = {"numpy", "scipy", "sklearn", "numba", "polars", "pandas", "matplotlib", "skops", "narwhals"}
COMMAND = [sys.executable, "-m", "bayesfloor"]
SHELL = " ".join(COMMAND)

posix = pytest.mark.skipif(os.name != "posix", reason="descriptors, signals and pseudo-terminals are those of POSIX")


def python(script, **options):
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=200, check=False, **options
    )


def shell(command, folder):
    return subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=200, check=False)


def test_help_and_explanations_load_nothing_heavy():
    calls = [["--help"], ["floor", "--help"], ["flor"], [], ["explain"], ["explain", "8", "--json"], ["explain", "999"]]
    answer = python(
        f"import sys\nfrom bayesfloor.cli import main\nfor call in {calls}: main(call)\n"
        f"print('loaded', sorted({HEAVY!r} & sys.modules.keys()))"
    )
    assert answer.stdout.splitlines()[-1] == "loaded []"


@pytest.mark.slow
def test_commands_do_not_wait_for_scikit_learn(tmp_path):
    """To load it takes as long as the answer; what comes with it by name is kept after the first time."""
    answer = python(
        "import sys\nfrom bayesfloor.cli import main\n"
        "from bayesfloor.tables.datasets import load_dataset\nload_dataset('iris')\n"
        "for name in [*sys.modules]:\n"
        "    if name.split('.')[0] in ('sklearn', 'pandas'): del sys.modules[name]\n"
        "sys.modules['sklearn'] = sys.modules['pandas'] = None\n"
        "assert main(['floor', 'iris', '--fast']) == 0\n"
        "assert main(['report', 'iris', '--out', 'iris.html']) == 0",
        cwd=tmp_path,
    )
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
    answer = [python(script, env=environment) for _ in range(2)][-1]  # the data set is kept after the first time
    assert answer.stdout.splitlines()[-1] == "loaded []"


def test_there_is_a_script():
    root = Path(__file__).resolve().parents[3]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"bayesfloor": "bayesfloor.cli:script"}


def test_exit_codes_reach_the_shell(tmp_path):
    answer = subprocess.run([*COMMAND, "floor", "nosuch.csv"], capture_output=True, text=True, cwd=tmp_path)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.startswith("bayesfloor: 'nosuch.csv': no such file")
    assert answer.stderr.count("\n") == 1


# --- interrupts


def test_interrupt(tmp_path):
    """The signal comes while models are being trained, which takes many seconds."""
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
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "bayesfloor: interrupted"
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


#: What stands in place of the command's work, and what is said of it on stderr.
TAKEN_FOR_SOMETHING_ELSE = {
    "inside exec": "exec('os.kill(os.getpid(), signal.SIGINT)')",
    "while a library loads": "\n    with suppress(KeyboardInterrupt): os.kill(os.getpid(), signal.SIGINT)"
    "\n    raise ImportError('not loaded')",
}
INTERRUPTED = {
    name: (
        "import os, signal\nfrom contextlib import suppress\nfrom bayesfloor.cli import script, start\n"
        f"def run(*_): {work}\nstart._run = run\nscript()\n",
        130,
        "bayesfloor: interrupted\n",
    )
    for name, work in TAKEN_FOR_SOMETHING_ELSE.items()
} | {
    "again while the first is being reported": (
        "import os, signal, runpy\nimport bayesfloor.cli.start as start\n"
        "start._run = start._complain = lambda *_: os.kill(os.getpid(), signal.SIGINT)\n"
        "runpy.run_module('bayesfloor', run_name='__main__')\n",
        130,
        "",
    ),
    "as soon as the first module is looked for": (
        "import os, runpy, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'bayesfloor.cli.start':\n"
        "            sys.meta_path.remove(self)\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "runpy.run_module('bayesfloor', run_name='__main__')\n",
        130,
        "bayesfloor: interrupted\n",
    ),
    "ignored, as nohup does": (
        "import os, signal, runpy\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nimport bayesfloor.cli.start as start\n"
        "start._run = lambda tokens, app: os.kill(os.getpid(), signal.SIGINT)\n"
        "runpy.run_module('bayesfloor', run_name='__main__')\n",
        0,
        "",
    ),
}


@posix
@pytest.mark.slow
@pytest.mark.parametrize("when", INTERRUPTED)
def test_interrupts_that_come_when_they_should_not(when):
    script, code, says = INTERRUPTED[when]
    answer = python(script)
    assert (answer.returncode, answer.stdout, answer.stderr) == (code, "", says)


@posix
def test_handlers_of_a_calling_program_are_left_alone(run):
    before = signal.getsignal(signal.SIGINT)
    assert run("datasets").code == 0
    assert signal.getsignal(signal.SIGINT) is before


FOLDERS = {
    "partitions": "from bayesfloor.forest.partitions.chunks import working_folder\n    held = working_folder(0)",
    "parts of rows": "from bayesfloor.data.row_parts import PartWriter\n    held = PartWriter(10, 2, 2, float)",
}


@posix
@pytest.mark.slow
@pytest.mark.parametrize(("sent", "folder"), [(signal.SIGTERM, "partitions"), (signal.SIGINT, "parts of rows")])
def test_a_signal_leaves_no_folder_for_temporary_files(sent, folder, tmp_path):
    (tmp_path / "tmp").mkdir()
    answer = python(
        "import os, time\nfrom bayesfloor.cli import script, start\n"
        f"def run(*_):\n    {FOLDERS[folder]}\n    assert os.listdir(os.environ['TMPDIR'])\n"
        f"    os.kill(os.getpid(), {int(sent)})\n    time.sleep(60)\n"
        "start._run = run\nscript()\n",
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
    )
    assert (answer.returncode, answer.stderr) == (128 + sent, "bayesfloor: interrupted\n")
    assert list((tmp_path / "tmp").iterdir()) == []


# --- streams


def to_a_reader_that_left(*call):
    reading, writing = os.pipe()
    os.close(reading)
    answer = subprocess.run([*COMMAND, *call], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    return answer.returncode, answer.stderr


@posix
def test_a_reader_that_leaves_and_a_full_disk():
    code, said = to_a_reader_that_left("pairs", "iris", "--quiet", "--fail-above", "0.01")
    assert (code, said.count("\n")) == (1, 1)  # the verdict is not lost with the table
    if not Path("/dev/full").exists():
        return
    with open("/dev/full", "w") as full:
        answer = subprocess.run([*COMMAND, "datasets"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (answer.returncode, answer.stderr) == (3, "bayesfloor: 'stdout': No space left on device\n")


@posix
@pytest.mark.slow
def test_help_for_a_reader_that_leaves():
    for call in (["--help"], ["gap", "--help"]):
        assert to_a_reader_that_left(*call) == (0, "")


@posix
@pytest.mark.slow
def test_closed_streams(tmp_path):
    answer = shell(f"{SHELL} datasets >&-", tmp_path)
    assert (answer.returncode, answer.stderr) == (3, "bayesfloor: 'stdout': Bad file descriptor\n")
    assert shell(f"{SHELL} datasets <&- >&- 2>&-", tmp_path).returncode == 3
    wrong = shell(f"{SHELL} flor 2>&-", tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")


@posix
@pytest.mark.slow
def test_notes_that_are_lost_change_nothing(run, tmp_path, table):
    usual = run("pairs table.csv --fail-above 0.01")
    assert usual.out.startswith("first ")
    for where in ["2>&-", *["2>/dev/full"] * os.path.exists("/dev/full")]:
        answer = shell(f"{SHELL} pairs table.csv --fail-above 0.01 {where}", tmp_path)
        assert (answer.returncode, answer.stdout) == (usual.code, usual.out) == (1, usual.out)


@posix
@pytest.mark.slow
@pytest.mark.skipif(pl.__version__.startswith("1."), reason="files by polars 1 have another byte at which it panics")
def test_panics_of_a_library_are_not_shown(tmp_path):
    file = tmp_path / "bad.arrow"
    pl.DataFrame({"a": [1.0, 2.0] * 5, "y": ["u", "v"] * 5}).write_ipc(file)
    data = bytearray(file.read_bytes())
    data[-165] ^= 0x7F  # where the rows begin, in the footer: polars panics, and says so on descriptor 2 by itself
    file.write_bytes(data)
    answer = shell(f"{SHELL} floor bad.arrow --fast", tmp_path)
    assert answer.returncode == 3
    assert answer.stderr.startswith("bayesfloor: bad.arrow cannot be read as Arrow: ")
    assert answer.stderr.count("\n") == 1


@posix
@pytest.mark.slow
def test_an_address_that_is_none(table, tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed")
    answer = shell(f"{SHELL} pairs table.csv --cluster garbage --quiet", tmp_path)
    assert (answer.returncode, answer.stdout) == (4, "")
    assert answer.stderr.startswith("bayesfloor: --cluster 'garbage': no Dask scheduler answers there (missing port")
    assert answer.stderr.count("\n") == 1


@posix
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
