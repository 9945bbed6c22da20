"""The examples of docs/cli.md print what is shown there."""

import re
import shlex
from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from bayesfloor.cli import exits

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n\$ bayesfloor (.*?)\n(.*?)```", PAGE, flags=re.DOTALL)
TABLES = re.findall(r"```csv\n(.*?)```", PAGE, flags=re.DOTALL)
VERSION = re.compile(r'"version": ".*?"')
SECONDS = re.compile(r"^(seconds +)\S+$", flags=re.MULTILINE)
FRACTION = re.compile(r"\d+\.\d+")


def assert_same_text(text, expected, tolerance=0.01):
    """Everything is as expected; where models were fitted, the last digits of fractions may depend on the machine."""
    text, expected = (SECONDS.sub(r"\1", VERSION.sub("", each)) for each in (text, expected))
    assert FRACTION.split(text) == FRACTION.split(expected)
    for found, stated in zip(FRACTION.findall(text), FRACTION.findall(expected), strict=True):
        assert abs(float(found) - float(stated)) <= tolerance


@pytest.mark.parametrize(("call", "printed"), BLOCKS, ids=[call for call, _ in BLOCKS])
def test_examples(run, tmp_path, call, printed):
    tokens = shlex.split(call.removesuffix(" >/dev/null"))
    if tokens[0] == "predict":
        (tmp_path / "new.csv").write_text(TABLES[1])
        assert run("fit iris --out iris.skops").code == 0
    if tokens[0] == "gap":
        iris = load_iris()
        stump = DecisionTreeClassifier(max_depth=1, random_state=0)
        labels = cross_val_predict(stump, iris.data, iris.target_names[iris.target])
        (tmp_path / "predicted.csv").write_text("\n".join(["predicted", *labels]))
    (tmp_path / "votes.csv").write_text(TABLES[0])
    outcome = run(*tokens)
    assert_same_text(outcome.out if outcome.code == 0 else outcome.err, printed)


def test_every_command_and_exit_code_is_there():
    shown = {call.split()[0] for call, _ in BLOCKS}
    listed = set(re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE))
    assert listed == shown | {"datasets", "schema"}
    codes = set(map(int, re.findall(r"^\| (\d+) \|", PAGE, flags=re.MULTILINE)))
    assert codes == {value for name, value in vars(exits).items() if name.isupper() and not name.startswith("_")}
