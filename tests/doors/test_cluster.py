"""--cluster: the workers do the work, and the answer is the same."""

import json

import numpy as np
import pytest

from helpers.terminal import three_classes, write_csv


@pytest.fixture
def tables(tmp_path):
    """table.csv of three classes, and prices.csv of a number."""
    write_csv(tmp_path / "table.csv", *three_classes(300))
    x = np.random.default_rng(0).normal(size=(300, 2))
    write_csv(tmp_path / "prices.csv", x, (3 * x[:, 0] + x[:, 1] ** 2).round(4), names=("x1", "x2", "price"))
    return tmp_path


def n_steps(client):
    """How many steps the tasks of a cluster have made."""
    return client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)


def address(client):
    return client.scheduler.address


@pytest.mark.parametrize("file", ["table.csv", pytest.param("prices.csv", marks=pytest.mark.slow)])
@pytest.mark.limits(learners=("gaussian", "linear"))
def test_stacks_are_trained_by_the_workers(run, client, tables, file):
    pytest.importorskip("skops.io")
    before = n_steps(client)
    assert run(f"fit {file} --model stack --out here.skops --quiet").code == 0
    assert n_steps(client) == before
    outcome = run(f"fit {file} --model stack --out there.skops --quiet --cluster {address(client)}")
    assert outcome.code == 0, outcome.err
    assert n_steps(client) > before
    predicted = [run(f"predict {place}.skops {file} --quiet") for place in ("here", "there")]
    assert predicted[0].code == 0
    assert predicted[0].out == predicted[1].out


@pytest.mark.slow
@pytest.mark.parametrize("call", ["report table.csv --out", "report prices.csv --target price --out"])
@pytest.mark.limits(learners=("gaussian", "linear"))
def test_reports_are_made_by_the_workers(run, client, tables, call):
    before = n_steps(client)
    assert run(f"{call} here.json --quiet").code == 0
    assert n_steps(client) == before
    assert run(f"{call} there.json --quiet --cluster {address(client)}").code == 0
    assert n_steps(client) > before
    here, there = (json.loads((tables / f"{place}.json").read_text()) for place in ("here", "there"))
    for summary in (here, there):
        del summary["seconds"], summary["created"]
        if summary["fast_model"] is not None:  # a sentence of it has the seconds of its fit
            summary["fast_model"] = summary["fast_model"]["metrics"]
    assert here == there


@pytest.mark.slow
def test_workers_that_a_command_starts(run, tables):
    pytest.importorskip("distributed", reason="Dask is not installed")
    here, there = run("pairs table.csv --json"), run("pairs table.csv --json --cluster 1")
    assert there.code == 0, there.err
    assert json.loads(there.out)["result"] == json.loads(here.out)["result"]


def test_a_worker_with_too_little_memory(run, client, tables, monkeypatch):
    monkeypatch.setattr("bayesfloor.cli.memory._MANY_VALUES", 1)
    monkeypatch.setattr("bayesfloor.cli.memory._PROGRAM_BYTES", 2.0**50)
    outcome = run(f"floor table.csv --cluster {address(client)}")
    assert outcome.code == 3
    assert "would take each worker about 1048576.0 GiB of memory" in outcome.err


def test_what_cannot_use_a_cluster_says_so(run, tables):
    for call in ("--model smartsvm", "", "--target price"):
        outcome = run(f"fit {'prices' if 'price' in call else 'table'}.csv {call} --out model.skops --cluster 2")
        assert outcome.code == 2
        assert "in one process alone" in outcome.err
    outcome = run("floor table.csv --cluster 0")
    assert outcome.code == 2
    assert "at least one process" in outcome.err
