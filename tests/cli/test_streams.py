"""Streams that are closed or full, signals, and files that are none: what a shell or a CI job can do to a command."""

import os
import signal
import subprocess
import sys

import polars as pl
import pytest

from .test_exits import complaint

pytestmark = pytest.mark.skipif(os.name != "posix", reason="descriptors, signals and FIFOs are those of POSIX")

COMMAND = f"{sys.executable} -m bayesfloor"
FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")


def shell(command, folder):
    return subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=200, check=False)


def test_a_closed_stdout(tmp_path):
    answer = shell(f"{COMMAND} datasets >&-", tmp_path)
    assert answer.returncode == 3
    assert answer.stderr == "bayesfloor: 'stdout': Bad file descriptor\n"


@pytest.mark.parametrize("where", ["2>&-", pytest.param("2>/dev/full", marks=FULL)])
def test_notes_that_are_lost_change_nothing(run, tmp_path, table, where):
    usual = run("pairs table.csv --fail-above 0.01")
    answer = shell(f"{COMMAND} pairs table.csv --fail-above 0.01 {where}", tmp_path)
    assert (usual.code, answer.returncode) == (1, 1)
    assert usual.out.startswith("first ")
    assert answer.stdout == usual.out


def test_an_error_that_cannot_be_told_keeps_its_code(tmp_path):
    wrong = shell(f"{COMMAND} flor 2>&-", tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")


def test_all_streams_closed(tmp_path):
    assert shell(f"{COMMAND} datasets <&- >&- 2>&-", tmp_path).returncode == 3


# a second interrupt comes while the first is being reported
TWICE = """
import os, signal, runpy
import bayesfloor.cli.start as start
def run(tokens, app):
    os.kill(os.getpid(), signal.SIGINT)
def report(text):
    os.kill(os.getpid(), signal.SIGINT)
start._run, start._complain = run, report
runpy.run_module("bayesfloor", run_name="__main__")
"""

# an interrupt comes as soon as the first module of the command line is looked for
EARLY = """
import os, runpy, signal, sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "bayesfloor.cli.start":
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
runpy.run_module("bayesfloor", run_name="__main__")
"""


@pytest.mark.parametrize(
    ("script", "says"), [(TWICE, ""), (EARLY, "bayesfloor: interrupted\n")], ids=["twice", "early"]
)
def test_interrupts_end_with_130(script, says):
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (answer.returncode, answer.stdout, answer.stderr) == (130, "", says)


def test_an_interrupt_that_is_ignored_stays_so():
    script = (
        "import os, signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"  # as nohup does
        "import bayesfloor.cli.start as start\n"
        "start._run = lambda tokens, app: os.kill(os.getpid(), signal.SIGINT)\n"
        "import runpy\nrunpy.run_module('bayesfloor', run_name='__main__')\n"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")


def test_handlers_of_a_calling_program_are_left_alone(run):
    before = signal.getsignal(signal.SIGINT)
    assert run("datasets").code == 0
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("call", ["floor pipe", "predict pipe table.csv", "predict table.csv pipe"])
def test_a_pipe_is_no_file(run, table, tmp_path, call):
    os.mkfifo(tmp_path / "pipe")
    assert "'pipe' is not a plain file" in complaint(run(call), 2)


def test_a_device_is_no_file(run):
    assert "'/dev/zero' is not a plain file" in complaint(run("floor /dev/zero"), 2)


@pytest.mark.parametrize("call", ["fit table.csv --out pointer", "report table.csv --effort fast --out pointer.html"])
def test_a_link_to_nothing_is_not_written_through(run, table, tmp_path, call):
    (tmp_path / call.split()[-1]).symlink_to(tmp_path / "elsewhere")
    assert "is a link to a file that is not there; --force writes it" in complaint(run(call), 2)
    assert not (tmp_path / "elsewhere").exists()


def test_a_report_that_appears_meanwhile_is_kept(run, table, tmp_path, monkeypatch):
    import bayesfloor.report.difficulty as difficulty

    work = difficulty.figures_of_classes

    def meanwhile(*arguments, **options):
        (tmp_path / "table-report.html").write_text("theirs")
        return work(*arguments, **options)

    monkeypatch.setattr(difficulty, "figures_of_classes", meanwhile)
    assert "exists; --force replaces it" in complaint(run("report table.csv --effort fast"), 2)
    assert (tmp_path / "table-report.html").read_text() == "theirs"


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no /proc here, where nobody may write")
@pytest.mark.parametrize(
    "call", ["report table.csv --out /proc/a.html", "fit table.csv --out /proc/a", "predict a table.csv --out /proc/a"]
)
def test_a_folder_that_cannot_be_written_to_is_noticed_before_the_work(run, table, call):
    table.unlink()  # whoever begins to work finds no file
    assert "'/proc/a" in complaint(run(call), 3)


@pytest.mark.skipif(pl.__version__.startswith("1."), reason="files by polars 1 have another byte at which it panics")
def test_panics_of_a_library_are_not_shown(tmp_path):
    file = tmp_path / "bad.arrow"
    pl.DataFrame({"a": [1.0, 2.0] * 5, "y": ["u", "v"] * 5}).write_ipc(file)
    data = bytearray(file.read_bytes())
    data[-165] ^= 0x7F  # where the rows begin, in the footer: polars panics, and says so on descriptor 2 by itself
    file.write_bytes(data)
    answer = shell(f"{COMMAND} floor bad.arrow --fast", tmp_path)
    assert answer.returncode == 3
    assert answer.stderr.startswith("bayesfloor: bad.arrow cannot be read as Arrow: ")
    assert answer.stderr.count("\n") == 1


def test_an_address_that_is_none(table, tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed")
    answer = shell(f"{COMMAND} pairs table.csv --cluster garbage --quiet", tmp_path)
    assert (answer.returncode, answer.stdout) == (4, "")
    assert answer.stderr.startswith("bayesfloor: --cluster 'garbage': no Dask scheduler answers there (missing port")
    assert answer.stderr.count("\n") == 1
