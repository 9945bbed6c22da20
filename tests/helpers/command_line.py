"""A small file, and the command line without a process of its own."""

import json
from typing import NamedTuple

import pytest

from bayesfloor.cli import main
from helpers.terminal import three_classes, write_csv


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run a command in an empty folder; arguments are one text, or several. JSON has to name its layout."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BAYESFLOOR_DATA", raising=False)
    monkeypatch.setattr("bayesfloor.cli.warmup._boosting_is_compiled", lambda: True)  # or a process compiles beside

    def call(*arguments):
        tokens = arguments[0].split() if len(arguments) == 1 else arguments
        code = main(tokens)
        outcome = Outcome(code, *capsys.readouterr())
        if "--json" in tokens and outcome.out and "--help" not in tokens:
            assert json.loads(outcome.out, parse_constant=_refuse)["schema"] == f"bayesfloor/{tokens[0]}/1"
        return outcome

    return call


def _refuse(constant):
    raise AssertionError(f"{constant} is no JSON")


@pytest.fixture
def table(tmp_path):
    """table.csv in the folder where commands run."""
    file = tmp_path / "table.csv"
    write_csv(file, *three_classes())
    return file
