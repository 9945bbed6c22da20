"""`floor` and `report` on a target of numbers, and one line from what needs classes."""

import json
import shlex

import numpy as np
import pytest
from sklearn.metrics import r2_score

from bayesfloor import read_table, regression_floor
from helpers.one_case import for_each
from helpers.terminal import complaint

pytestmark = pytest.mark.limits(learners=("gaussian", "linear"))


@pytest.fixture
def houses(tmp_path):
    """houses.csv: a price that follows the area, with noise."""
    rng = np.random.default_rng(0)
    area = rng.uniform(40, 200, 150)
    price = 1000.0 * area + rng.normal(0, 15_000, 150)
    kinds = rng.choice(["flat", "house"], 150)
    rows = (f"{a:.1f},{k},{p:.0f}\n" for a, k, p in zip(area, kinds, price, strict=True))
    (tmp_path / "houses.csv").write_text("area,kind,price\n" + "".join(rows))
    (tmp_path / "grades.csv").write_text("x,grade\n" + "".join(f"{n % 5 + 0.01 * n:.2f},{n % 5}\n" for n in range(60)))
    return tmp_path / "houses.csv"


def test_the_floor_of_a_number(run, houses):
    own = regression_floor(read_table(houses, target="price"), metric="rmse")
    outcome = run("floor houses.csv --target price --metric rmse --rows-for 20000 --json --quiet --fail-above 1")
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1].startswith("bayesfloor: the floor of the RMSE is")
    whole = json.loads(outcome.out)
    assert (whole["data"]["task"], whole["data"]["classes"]) == ("regression", [])
    result = whole["result"]
    assert (result["metric"], result["estimate"], result["reached"]) == ("rmse", own.estimate, own.reached)
    assert result["interval"] == list(own.interval)
    assert list(result["metrics"]) == ["rmse", "r2", "mae"]
    assert result["noise_variance"] == own.noise_variance
    assert result["noise"]["sd"] == own.noise.sd.tolist()
    assert result["rows_for"]["sentence"] == own.rows_for(20_000).sentence()


def test_the_floor_as_a_table(run, houses):
    outcome = run("floor houses.csv --target price --fail-below 0.2")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0].split() == ["metric", "best", "value", "from", "to", "reached", "from", "to", "without", "features"]
    assert [line.split()[:2] for line in lines[1:4]] == [["R²", "ceiling"], ["RMSE", "floor"], ["MAE", "floor"]]
    assert "'price' is read as a number" in outcome.err
    assert "95% intervals." in outcome.err


def test_a_report_on_a_model_of_the_reader(run, houses):
    assert run("fit houses.csv --target price --effort fast --out m.skops --quiet").code == 0
    assert run("predict m.skops houses.csv --out predicted.csv --quiet").code == 0
    call = "report houses.csv --target price --target-value 0.9 --metric r2 --fail-below 0.999 --json"
    outcome = run(f"{call} --out r.html --model m.skops")
    assert outcome.code == 1
    assert "the ceiling of the R² is" in outcome.err
    by_model = json.loads(outcome.out)["result"]
    assert (by_model["task"], by_model["floor"]["metric"], by_model["goal"]["target"]) == ("regression", "r2", 0.9)
    assert "Your model" in (houses.parent / "r.html").read_text(encoding="utf-8")
    words = shlex.split(by_model["command"])
    assert shlex.join(words[3:]) == "--metric r2 --target-value 0.9 --model m.skops --target price --seed 0"
    by_file = json.loads(run(f"{call} --predictions predicted.csv").out)["result"]
    rows = (houses.parent / "predicted.csv").read_text().splitlines()[1:]
    predicted = np.array([row.split(",")[1] for row in rows], float)
    for gap in (by_model["gap"], by_file["gap"]):
        expected = r2_score(read_table(houses, target="price").y, predicted)
        assert gap["figures"][0]["value"] == pytest.approx(expected, abs=1e-6)


def test_the_floor_says_what_it_rests_on(run, houses):
    """A leak is named, with how to leave it out, and nothing is said without one."""
    said = "Nothing suspicious was found: no leaks, no rows that belong together, no order in time."
    assert said in run("floor houses.csv --target price").err
    lines = houses.read_text().splitlines()
    leaking = [f"{line},{np.log(float(line.rsplit(',', 1)[1])):.6f}" for line in lines[1:]]
    (houses.parent / "leak.csv").write_text("\n".join([f"{lines[0]},log price", *leaking]) + "\n")
    outcome = run("floor leak.csv --target price")
    assert "BF009: 'log price' gives the answer away. Leave it out" in outcome.err
    assert "--drop 'log price'" in outcome.err
    assert said not in outcome.err


@for_each(
    "call, says",
    [
        ("floor houses.csv --target price --metric error", "--metric error needs classes, and 'price' holds numbers"),
        ("floor houses.csv --target price --metric r2 --metric f1", "--metric r2 is for numbers, and --metric f1 for"),
        ("floor houses.csv --target price --metric r2 --metric r2", "named twice"),
        ("floor houses.csv --task classification --metric r2", "leave out --task classification"),
        ("floor houses.csv --task regression --metric f1", "must be one of r2, rmse, mae"),
        ("floor houses.csv --target price --by kind", "--by needs classes, and 'price' holds numbers"),
        ("floor houses.csv --target price --fast", "--fast needs classes, and 'price' holds numbers"),
        ("floor houses.csv --target price --fast --metric mae", "--fast needs classes; leave it out for numbers"),
        ("floor houses.csv --target price --metric r2 --costs costs.csv", "--costs needs classes"),
        ("report houses.csv --target price --positive a", "--positive needs classes"),
        ("report houses.csv --metric r2 --target-value 2", "--target-value 2: must be from 0 to 1 for the metric 'r2'"),
        ("report houses.csv --metric mae --target-value -2", "must be finite, and not negative"),
        ("report houses.csv --task numbers", "--task"),
        ("pairs houses.csv --target price --task regression", "--task"),
        ("floor iris --task regression", "comes prepared; --task"),
    ],
)
def test_usage(run, houses, call, says):
    assert says in complaint(run(call), 2)


def test_pairs_says_that_it_needs_classes(run, houses):
    line = complaint(run("pairs houses.csv --target price"), 3)
    assert "a measured number, not classes; difficulty_report and regression_floor (report, floor) take numbers" in line


def test_few_whole_numbers_are_classes_unless_numbers_are_asked_for(run, houses):
    outcome = run("floor grades.csv --fast --json")
    whole = json.loads(outcome.out)
    assert whole["data"]["task"] == "classification"
    assert any("--task regression" in note for note in whole["data"]["notes"])
    whole = json.loads(run("floor grades.csv --task regression --json").out)
    assert (whole["data"]["task"], whole["result"]["metric"]) == ("regression", "r2")
    assert "BF055" in [finding["code"] for finding in whole["findings"]]
