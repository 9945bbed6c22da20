"""The examples of docs/cli.md print what is shown there."""

import re
import shlex
from pathlib import Path

import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from bayesfloor.cli import exits
from helpers.printed_text import UPDATE, assert_same_text

FILE = Path(__file__).parents[3] / "docs" / "cli.md"
PAGE = FILE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n\$ bayesfloor (.*?)\n(.*?)```", PAGE, flags=re.DOTALL)
TABLES = re.findall(r"```csv\n(.*?)```", PAGE, flags=re.DOTALL)
#: They train models, or take several seconds.
SLOW = ("floor wine", "floor iris", "floor diabetes", "gap", "fit", "predict", "compare")


def is_slow(call):
    return call.startswith(SLOW) and "--fast" not in call and "--metric auc" not in call


VERSION = re.compile(r'"version": ".*?"')
#: What differs from run to run and from machine to machine.
OWN = re.compile(r"^(seconds +)\S.*$", flags=re.MULTILINE)


@pytest.mark.limits(repeats=10, curve_detail=1.0)
@pytest.mark.parametrize(
    ("call", "printed"),
    [pytest.param(*block, id=block[0], marks=pytest.mark.slow if is_slow(block[0]) else ()) for block in BLOCKS],
)
def test_examples(run, tmp_path, call, printed):  # the page shows what a user gets
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
    numbers = load_diabetes(as_frame=True, scaled=False).frame.round(4).rename(columns={"target": "progression"})
    numbers.to_csv(tmp_path / "diabetes.csv", index=False)
    numbers[:221].to_csv(tmp_path / "spring.csv", index=False)
    numbers[221:].assign(bmi=numbers["bmi"] + 2).to_csv(tmp_path / "autumn.csv", index=False)
    iris = load_iris(as_frame=True)
    iris.data.iloc[:, :2].to_csv(tmp_path / "sepals.csv", index=False)
    iris.data.iloc[:, 2:].to_csv(tmp_path / "petals.csv", index=False)
    (tmp_path / "species.csv").write_text("\n".join(["species", *iris.target_names[iris.target]]) + "\n")
    outcome = run(*tokens)
    found = outcome.out if outcome.code == 0 else outcome.err
    if UPDATE:
        shown = f"$ bayesfloor {call}\n"
        text = FILE.read_text(encoding="utf-8").replace(f"{shown}{printed}```", f"{shown}{found}```")
        FILE.write_text(text, encoding="utf-8")
        return
    assert_same_text(*(OWN.sub(r"\1", VERSION.sub("", text)) for text in (found, printed)))


def test_every_command_and_exit_code_is_there():
    assert 3 < sum(is_slow(call) for call, _ in BLOCKS) < len(BLOCKS) - 5
    shown = {call.split()[0] for call, _ in BLOCKS}
    listed = set(re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE))
    assert listed == shown
    codes = set(map(int, re.findall(r"^\| (\d+) \|", PAGE, flags=re.MULTILINE)))
    assert codes == {value for name, value in vars(exits).items() if name.isupper() and not name.startswith("_")}
