"""Runs that are stopped, damaged, over budget, and go on."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.study.methods import find_method
from benchmarks.study.paper_sets import load_paper_set
from benchmarks.study.plan import PROFILES, Cell, plan_cells
from benchmarks.study.protocol import measure_cell
from benchmarks.study.records import DONE, Record, describe_protocol, read_records, records_file, write_record
from benchmarks.study.run import Progress, in_words
from benchmarks.study.runner import Run, Standing, look_up
from benchmarks.tests.study.conftest import PATIENT, is_gone, wait_for
from benchmarks.tests.study.made_records import made_record

COMMAND = [sys.executable, "-m", "benchmarks.study", "run"]
ROOT = Path(__file__).parents[3]
SMALL = ["--datasets", "iris", "wine", "--splits", "2"]
posix = pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")


def methods_in(folder):
    return [record.cell.method for record in read_records(folder)[0]]


def start(folder, *arguments):
    return subprocess.Popen(
        [*COMMAND, *arguments, "--out", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
    )


def record_in_this_process(folder, methods):
    """Record what a run without trouble records, without its processes."""
    profile = PROFILES["quick"]
    for cell in plan_cells(["iris", "wine"], 2, methods):
        method, table = find_method(cell.method, profile.protocol), load_paper_set(cell.dataset)
        result = measure_cell(table.X, table.y, cell.split, method, profile.protocol)
        described = describe_protocol(method, profile.protocol)
        record = Record(cell, described, DONE, result, None, "quick", {})
        write_record(folder, record)


@posix
def test_resuming_after_a_kill_gives_the_same_table(run, tmp_path, patience, monkeypatch):
    """A run that is killed, loses records to damage, and is continued, ends where one without trouble ends."""
    methods = ["OvO", "OvR", "SmartSVM", PATIENT]
    arguments = [*SMALL, "--methods", *methods]
    killed = start("study", *arguments)
    wait_for(lambda: patience.exists() and patience.read_text())
    pid = int(patience.read_text())
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    wait_for(lambda: is_gone(pid))
    assert methods_in(tmp_path / "study") == ["OvO", "OvR", "SmartSVM"]

    # one record is made better than it was, and one is cut off, as when a run is killed while it writes
    file = records_file(tmp_path / "study")
    lines = {json.loads(line)["cell"]["method"]: line for line in file.read_text().splitlines()}
    changed, cut = lines["OvR"].replace('"ari": ', '"ari": 0.0, "was": '), lines["OvO"][:200]
    file.write_text("\n".join([lines["SmartSVM"], changed, cut]))
    table = run("table", "study")
    assert table.code == 0
    assert table.err.count("it is left out") == 2

    monkeypatch.setenv("PATIENT_SECONDS", "0")
    outcome = run("run", *arguments, "--out", "study")
    assert outcome.code == 0
    assert (
        "line 3 of records.jsonl is no record: it was cut off or overwritten; what is missing is measured"
        in outcome.err
    )
    assert "the record of OvR on iris, split 0 was changed: its checksum is another; what is missing" in outcome.err
    assert file.read_text().splitlines()[0] == lines["SmartSVM"]
    assert file.read_text().count('"SmartSVM"') == 4  # the one that was kept is not measured again

    record_in_this_process(tmp_path / "whole", methods)
    assert run("table", "study").code == run("table", "whole").code == 0
    for name in ("table1_data_sets", "table3_ari"):
        for ending in ("md", "csv", "tex"):
            ours, theirs = ((tmp_path / folder / "tables" / f"{name}.{ending}") for folder in ("study", "whole"))
            assert ours.read_bytes() == theirs.read_bytes()


@posix
def test_over_budget_and_what_cannot_be_measured(run, tmp_path, patience):
    methods = ["OvO", "sklearn.naive_bayes:MultinomialNB", PATIENT]
    arguments = ["run", "--datasets", "iris", "--splits", "1", "--methods", *methods, "--out", "study"]
    outcome = run(*arguments, "--budget-seconds", "0.5", "--json")
    assert outcome.code == 3
    assert "MultinomialNB on iris, split 0: Negative values" in outcome.err  # and the rest goes on
    assert "1 of 3 cells measured, 1 over budget, 1 failed" in outcome.err
    assert is_gone(int(patience.read_text()))
    cells = json.loads(outcome.out)["result"]["cells"]
    assert [(cell["method"], cell["status"]) for cell in cells] == [("OvO", "done"), (PATIENT, "over budget")]
    measured, patient = read_records(tmp_path / "study")[0]
    assert (patient.cell.method, patient.status, patient.result, patient.budget_seconds) == (
        *(PATIENT, "over budget", None, 0.5),
    )
    assert measured.cell == Cell("iris", 0, "OvO")
    assert measured.context["machine"].keys() == {"cpu", "n_cpus", "machine", "system"}
    assert measured.context["versions"]["numpy"]
    assert "> 0.5 s" in run("table", "study").out

    # what was over budget is tried again with a larger one only
    cell = Cell("iris", 0, PATIENT)
    for budget, waiting in ((0.5, []), (0.1, []), (1.0, [cell]), (None, [cell])):
        plan = Run([cell], PROFILES["quick"].protocol, tmp_path / "study", "quick", budget_seconds=budget)
        assert look_up(plan).waiting == waiting

    # and what was measured in another way is not mixed with it
    outcome = run("run", "--profile", "paper", "--datasets", "wine", "--methods", "OvR", "--out", "study")
    assert outcome.code == 2
    assert "was measured under another protocol: n_folds 5 and not 10" in outcome.err


@posix
@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_interrupt(tmp_path, patience, jobs):
    process = start(tmp_path / "study", *SMALL, "--methods", PATIENT, "--jobs", jobs)
    wait_for(lambda: patience.exists() and patience.read_text())
    pid = int(patience.read_text())
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "bayesfloor: interrupted\n")
    wait_for(lambda: is_gone(pid))
    assert methods_in(tmp_path / "study") == []


@posix
@pytest.mark.slow
def test_two_at_a_time(run, tmp_path, patience, monkeypatch):
    """Workers of joblib end with a run that is killed; two at a time measure what one after the other does."""
    killed = start("study", *SMALL, "--methods", PATIENT, "--jobs", "2")
    wait_for(lambda: patience.exists() and patience.read_text())
    pid = int(patience.read_text())
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=60)  # returns when nobody holds its streams any more
    wait_for(lambda: is_gone(pid))
    monkeypatch.setenv("PATIENT_SECONDS", "0")
    assert run("run", *SMALL, "--methods", "SmartSVM", "OvO", "--out", "study", "--jobs", "2").code == 0
    record_in_this_process(tmp_path / "whole", ["SmartSVM", "OvO"])
    ours, theirs = (read_records(tmp_path / name)[0] for name in ("study", "whole"))
    for one, other in zip(ours, theirs, strict=True):
        assert one.cell == other.cell
        for name in ("ari", "accuracy", "macro_f1", "chosen"):
            assert one.result[name] == other.result[name]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--out", "s", "--datasets", "segmnt"], "there is no data set 'segmnt'; did you mean 'segment'?"),
        (["run", "--out", "s", "--methods", "SmartSVN"], "there is no method 'SmartSVN'; did you mean 'SmartSVM'"),
        (["run", "--out", "s", "--methods", "sklearn.svm:SVR"], "'sklearn.svm:SVR' is not a classifier"),
        (["run", "--out", "s", "--jobs", "0"], "--jobs 0"),
        (["run", "--out", "s", "--budget-seconds", "0"], "budget"),
        (["run", "--out", "s", "--data", "nowhere"], "no such folder"),
        (["run", "--out", "file"], "is not a folder"),
        (["run"], "out"),
        (["table", "nowhere"], "has no records"),
        (["rank", "nowhere"], "has no records"),
        (["figures", "nowhere"], "has no records"),
    ],
)
def test_usage(run, tmp_path, arguments, message):
    (tmp_path / "file").write_text("")
    outcome = run(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
    assert not (tmp_path / "s").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask's own, about its ports
def test_a_cluster_measures_the_same(run, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        outcome = run("run", *SMALL, "--methods", "OvO", "--out", "study", "--cluster", cluster.scheduler_address)
    assert outcome.code == 0
    record_in_this_process(tmp_path / "whole", ["OvO"])
    assert run("table", "study").code == run("table", "whole").code == 0
    ours, theirs = ((tmp_path / folder / "tables" / "table3_ari.csv").read_text() for folder in ("study", "whole"))
    assert ours == theirs


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_on_a_terminal(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    progress = Progress(n_jobs=2, quiet=False)
    recorded = [made_record("iris", "OvO", 0, seconds=60.0)]  # two minutes by the clock
    progress.show(Standing(recorded, [Cell("iris", split, "OvO") for split in (1, 2, 3, 4)], []))
    progress.wipe()
    assert terminal.getvalue() == "\r\033[K1 of 5 cells, about 4.0 min left, last OvO on iris, split 0\r\033[K"
    quiet = Terminal()
    monkeypatch.setattr("sys.stderr", quiet)
    Progress(n_jobs=2, quiet=True).show(Standing(recorded, [], []))
    monkeypatch.setattr("sys.stderr", io.StringIO())
    Progress(n_jobs=2, quiet=False).show(Standing(recorded, [], []))
    assert quiet.getvalue() == sys.stderr.getvalue() == ""


@pytest.mark.parametrize(("seconds", "text"), [(5, "5 s"), (150, "2.5 min"), (3000, "50 min"), (9000, "2.5 h")])
def test_durations(seconds, text):
    assert in_words(seconds) == text
