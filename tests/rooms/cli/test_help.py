"""What commands say of themselves, and JSON of any values."""

import numpy as np

import bayesfloor
from bayesfloor.cli import main
from bayesfloor.cli.app import app
from bayesfloor.cli.output import plain

COMMANDS = [
    "report", "floor", "gap", "pairs", "votes", "compare", "drift", "fit", "predict", "datasets", "warmup", "explain",
]  # fmt: skip


def test_help_says_what_every_option_does():
    silent = [
        (command, argument.names)
        for command in app
        if not command.startswith("-")
        for argument in app[command].assemble_argument_collection(parse_docstring=True)
        if argument.names != ("*",) and not argument.parameter.help
    ]
    assert silent == []


def test_help_has_every_command_with_examples(run):
    assert {name for name in app if not name.startswith("-")} == set(COMMANDS)
    shown = run("--help").out
    assert "Exit codes" in shown
    assert run("").out == shown
    scripts = [app.generate_completion(shell=shell) for shell in ("bash", "zsh", "fish")]
    for command in COMMANDS:
        assert f" {command} " in shown
        assert all(command in script for script in scripts)
        own = run(command, "--help").out
        assert f"bayesfloor {command}" in own.split("Examples:")[1]
        assert ("--json" in own) == (command != "warmup"), command  # which has no result


def test_version(run, monkeypatch):
    monkeypatch.setattr("sys.argv", ["bayesfloor", "--version"])
    assert run("--version").out.strip() == bayesfloor.__version__
    assert main() == 0


def test_json_has_no_nan():
    odd = {"a": np.array([1.0, np.nan]), "b": (np.int64(3), np.bool_(True)), 3: float("inf"), "c": np.str_("x")}
    assert plain(odd) == {"a": [1.0, None], "b": [3, True], "3": None, "c": "x"}
