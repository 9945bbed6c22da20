"""A report in MLflow, by the package itself and a store in a folder."""

import builtins
import json

import numpy as np
import pytest

from bayesfloor import difficulty_report
from bayesfloor.report.result import DifficultyReport
from bayesfloor.report.verdict import Verdict
from helpers import sample_regression, sample_summary

mlflow = pytest.importorskip("mlflow", reason="needs the extra 'mlflow'")


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A client of a store that ends with the test."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.chdir(tmp_path)
    yield from opened((tmp_path / "runs").as_uri(), monkeypatch)


def opened(address, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    yield mlflow.MlflowClient()
    while mlflow.active_run() is not None:
        mlflow.end_run()


def report_of(summary):
    return DifficultyReport(summary, (), Verdict("yes", (), None, ()), None)


def artifact(client, run_id, name):
    place = client.download_artifacts(run_id, name)
    with open(place, encoding="utf-8") as file:
        return file.read()


def check_real_report(client):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    report = difficulty_report(
        rng.normal(size=(60, 2)) + 2 * y[:, None], y, effort="fast", target_value=0.4, title="pets"
    )
    run_id = report.log_to_mlflow()
    assert mlflow.active_run() is None
    run = client.get_run(run_id)
    assert (run.info.status, run.info.run_name) == ("FINISHED", "pets")
    metrics = run.data.metrics
    floor = report.summary["floor"]
    assert [metrics[f"bayesfloor/error/{name}"] for name in ("estimate", "low", "high", "baseline")] == [
        floor[name] for name in ("estimate", "low", "high", "baseline")
    ]
    assert metrics["bayesfloor/error/reached"] == floor["reached"]["value"]
    assert run.data.params["bayesfloor/n_rows"] == "60"
    assert run.data.params["bayesfloor/method"] == "learned"
    assert run.data.tags["bayesfloor.goal"] == report.summary["goal"]["verdict"]
    assert run.data.tags["bayesfloor.answer"] == " ".join(report.summary["answer"])
    assert json.loads(artifact(client, run_id, "bayesfloor/report.json")) == report.summary
    assert artifact(client, run_id, "bayesfloor/report.html") == report.to_html()


def test_a_new_run(store):
    check_real_report(store)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_database(tmp_path, monkeypatch):
    pytest.importorskip("sqlalchemy", reason="stores in a database need sqlalchemy")
    monkeypatch.chdir(tmp_path)
    for client in opened(f"sqlite:///{tmp_path / 'runs.db'}", monkeypatch):
        check_real_report(client)


def test_the_active_run_and_two_reports_in_it(store):
    summary = sample_summary.with_metrics() | {"gap": sample_summary.with_gap()["gap"]}
    with mlflow.start_run() as active:
        assert report_of(summary).log_to_mlflow() == active.info.run_id
        assert mlflow.active_run().info.run_id == active.info.run_id
        report_of(sample_regression.houses()).log_to_mlflow(prefix="prices")
        run = store.get_run(active.info.run_id)
    assert run.info.status == "RUNNING"
    found = run.data.metrics
    assert found["bayesfloor/roc_auc/reached"] == 0.9653
    assert found["bayesfloor/log_loss/reached_high"] == summary["metrics"][1]["reached"]["high"]
    assert found["bayesfloor/error/fast_model"] == summary["fast_model"]["metrics"][-1]["value"]
    gap = summary["gap"]
    of_gap = found["bayesfloor/gap/value"], found["bayesfloor/gap/sure"]
    assert of_gap == (gap["figures"][0]["value"], gap["sure"]["value"])
    assert found["prices/r2/estimate"] == 0.91
    assert found["prices/rmse/reached"] == 59_500.0
    assert found["prices/noise/sd"] == sample_regression.houses()["noise"]["sd"]
    assert run.data.tags["bayesfloor.findings"] == "BF005 BF003"
    assert run.data.tags["prices.findings"] == "BF047"
    assert {run.data.params["bayesfloor/task"], run.data.params["prices/task"]} == {"classification", "regression"}


def test_text_that_is_hostile_or_too_long(store):
    # names of metrics are this library's own
    summary = sample_summary.hostile() | {"metrics": [], "fast_model": None}
    summary["title"] = summary["data"]["target"] = "\x1b[31m" + "x" * 9000
    summary["answer"] = ["y" * 9000]
    run = store.get_run(report_of(summary).log_to_mlflow())
    assert run.data.params["bayesfloor/target"].startswith("\\x1b[31mxxx")
    assert len(run.data.params["bayesfloor/target"]) == 250
    assert run.data.tags["bayesfloor.answer"].endswith("…")


def test_without_mlflow(monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "mlflow":
            raise ImportError("No module named 'mlflow'")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"needs MLflow: pip install 'bayesfloor\[mlflow\]'"):
        report_of(sample_summary.digits()).log_to_mlflow()
