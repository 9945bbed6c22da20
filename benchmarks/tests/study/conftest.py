"""The command line in an empty folder, and processes that are looked for."""

import os
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from bayesfloor.cli.start import main
from benchmarks.study.app import study

PATIENT = "benchmarks.tests.study.patient_classifier:PatientClassifier"


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run ``python -m benchmarks.study …`` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BAYESFLOOR_DATA", raising=False)

    def call(*arguments):
        code = main(arguments, app=study)
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.fixture
def patience(tmp_path, monkeypatch):
    """Make the patient classifier slow, and let it say in which process it is."""
    file = tmp_path / "pid"
    monkeypatch.setenv("PATIENT_PID_FILE", str(file))
    monkeypatch.setenv("PATIENT_SECONDS", "120")
    return file


def wait_for(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def is_gone(pid):
    """Whether a process has ended, be it that nobody has asked for its exit code."""
    status = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        return not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False
