"""A small file, and the command line without a process of its own."""

from typing import NamedTuple

import pytest

from bayesfloor.cli import main

from .small_tables import three_classes, write_csv


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run a command in an empty folder; arguments are one text, or several."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BAYESFLOOR_DATA", raising=False)

    def call(*arguments):
        tokens = arguments[0].split() if len(arguments) == 1 else arguments
        code = main(tokens)
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.fixture
def table(tmp_path):
    """table.csv in the folder where commands run."""
    file = tmp_path / "table.csv"
    write_csv(file, *three_classes())
    return file
