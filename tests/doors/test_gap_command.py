"""The command gap: models and predictions in files, how rows are found again, what it prints, exit codes."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import balanced_accuracy_score, log_loss, mean_absolute_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from skops import io as skops_io

from bayesfloor import floor_gap, read_table
from helpers.one_case import for_each

pytestmark = pytest.mark.limits(learners=("gaussian", "linear"))

COLUMNS = ["colour", "size", "age"]


def patients(n_rows, seed):
    rng = np.random.default_rng(seed)
    colour, size = rng.choice(["red", "green", "blue"], n_rows), rng.normal(size=n_rows)
    hidden = size + (colour == "red") + 0.6 * rng.normal(size=n_rows)
    outcome = np.where(hidden > 1, "high", np.where(hidden > 0, "mid", "low"))
    ids = [f"r{i}" for i in rng.permutation(n_rows)]
    age = rng.integers(1, 90, n_rows)
    return pd.DataFrame({"who": ids, "colour": colour, "size": size.round(3), "age": age, "outcome": outcome})


def linear():
    encode = make_column_transformer((OneHotEncoder(), ["colour"]), (StandardScaler(), ["size", "age"]))
    return make_pipeline(encode, LogisticRegression())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """test.csv with 200 rows, a model of others that knows its columns by name, and files that are wrong somehow."""
    folder = tmp_path_factory.mktemp("gap")
    train, test = patients(300, 0), patients(200, 1)
    test.to_csv(folder / "test.csv", index=False)
    model = linear().fit(train[COLUMNS], train["outcome"])
    labels = model.predict(test[COLUMNS])
    frames = {
        "p": {"predicted": labels, "x": 1},
        "wide": {"a": labels, "b": labels},
        "short": {"predicted": labels[:-1]},
        "odd": {"predicted": ["none", *labels[1:]]},
        "gaps": {"predicted": [None, *labels[1:]], "x": 1},
        "twice": {"who": ["r0", "r0"], "predicted": labels[:2]},
        "few": {"who": test["who"][:1], "predicted": labels[:1]},
    }
    for name, columns in frames.items():
        pd.DataFrame(columns).to_csv(folder / f"{name}.csv", index=False)
    skops_io.dump(model, folder / "model.skops")
    skops_io.dump(DecisionTreeClassifier().fit(train[["age"]], train["outcome"]), folder / "tree.skops")
    (folder / "model.pkl").write_bytes(b"\x80\x04N.")
    skops_io.dump(StandardScaler().fit(train[["age"]]), folder / "scaler.skops")
    return folder, (train, test, model)


@pytest.fixture
def files(made, tmp_path):
    folder, known = made
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return known


def parsed(outcome):
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)["result"]


GAP = "gap test.csv --target outcome"


def test_a_model_of_scikit_learn(run, files):
    _, test, model = files
    error = float((model.predict(test[COLUMNS]) != test["outcome"]).mean())
    found = parsed(run(f"{GAP} --model model.skops --json"))
    assert found["value"] == pytest.approx(error)
    assert found["classes"] == ["high", "low", "mid"]
    assert found["n_tested"] == 200
    shown = run(f"{GAP} --model model.skops")
    assert shown.out.startswith(found["sentence"])
    (line,) = [line.split() for line in shown.out.splitlines() if line.startswith("the model ")]
    assert line[2] == f"{error:.4f}"
    assert "p (Holm)" in shown.out


def test_a_model_without_names_of_columns(run, files, tmp_path):
    train, test, _ = files
    test[["size", "age", "outcome"]].to_csv(tmp_path / "numbers.csv", index=False)
    model = LogisticRegression(max_iter=1000).fit(train[["size", "age"]].to_numpy(), train["outcome"])
    skops_io.dump(model, tmp_path / "plain.skops")
    found = parsed(run("gap numbers.csv --target outcome --model plain.skops --json"))
    assert found["value"] == pytest.approx((model.predict(test[["size", "age"]].to_numpy()) != test["outcome"]).mean())
    refused = run(f"{GAP} --model plain.skops")
    assert refused.code == 3
    assert "was fitted on 2 columns without names, and test.csv has 4" in refused.err


def test_a_model_that_fit_wrote(run, files, tmp_path):
    train, test, _ = files
    train.to_csv(tmp_path / "train.csv", index=False)
    assert run("fit train.csv --target outcome --model smartsvm --out svm.skops --quiet").code == 0
    assert run("predict svm.skops test.csv --out predicted.csv --quiet").code == 0
    error = (pd.read_csv("predicted.csv")["predicted"] != test["outcome"]).mean()
    by_model = parsed(run(f"{GAP} --model svm.skops --json"))
    assert by_model["value"] == pytest.approx(error)
    # what 'predict' wrote has the line of each row; of a part of the rows too, each finds its own
    assert parsed(run(f"{GAP} --predictions predicted.csv --json")) == by_model
    some = parsed(run(f"{GAP} --predictions predicted.csv --max-rows 120 --json"))
    assert some == parsed(run(f"{GAP} --model svm.skops --max-rows 120 --json"))
    assert some["n_tested"] == 120


def test_a_data_set_by_name(run):
    assert run("fit iris --model smartsvm --out iris.skops --quiet").code == 0
    assert parsed(run("gap iris --model iris.skops --json"))["value"] < 0.1
    assert run("gap wine --model iris.skops").code == 2


def test_predictions_in_every_form(run, files, tmp_path):
    _, test, model = files
    labels, probability = model.predict(test[COLUMNS]), model.predict_proba(test[COLUMNS])
    by_id = pd.DataFrame({"who": test["who"], "predicted": labels}).sample(frac=1, random_state=0)
    by_id.to_csv("id.csv", index=False)
    pd.DataFrame({"answer": labels}).to_csv("one.csv", index=False)
    pd.DataFrame({"answer": labels}).to_csv("bare.csv", index=False, header=False)
    pd.DataFrame({"outcome": labels, "other": 1}).to_csv("named.csv", index=False)
    pd.DataFrame(probability, columns=model.classes_)[["mid", "high", "low"]].to_csv("proba.csv", index=False)
    table = read_table(tmp_path / "test.csv", target="outcome")
    expected = floor_gap(None, table, predictions=labels).to_dict()
    del expected["findings"]
    for given in ("id.csv --key who", "one.csv", "bare.csv", "named.csv", "proba.csv"):
        found = parsed(run(f"{GAP} --predictions {given} --json"))
        assert found == json.loads(json.dumps(expected)), given
    found = parsed(run(f"{GAP} --predictions one.csv --max-rows 90 --json"))
    assert found == parsed(run(f"{GAP} --predictions id.csv --key who --max-rows 90 --json"))


def test_labels_are_known_by_how_the_file_spells_them(run):
    rng = np.random.default_rng(0)
    y = np.array(["007", "08"])[rng.integers(0, 2, 120)]
    x, z = rng.normal(size=120) + 2 * (y == "08"), rng.normal(size=120)
    pd.DataFrame({"x": x, "z": z, "y": y}).to_csv("t.csv", index=False)
    pd.DataFrame({"predicted": y}).to_csv("p.csv", index=False)
    found = parsed(run("gap t.csv --target y --predictions p.csv --json"))
    assert (found["value"], found["classes"]) == (0.0, [7, 8])
    pd.DataFrame({"predicted": y.astype(int)}).to_csv("p.csv", index=False)
    assert parsed(run("gap t.csv --target y --predictions p.csv --json"))["value"] == 0.0


def test_it_fails_where_more_can_surely_be_won(run, files):
    _, test, _ = files
    pd.DataFrame({"predicted": np.full(200, "mid")}).to_csv("mid.csv", index=False)
    outcome = run(f"{GAP} --predictions mid.csv --fail-above 0.05 --quiet")
    assert outcome.code == 1
    assert "of the error can surely be won, above 0.05" in outcome.err
    assert run(f"{GAP} --predictions mid.csv --fail-above 0.9 --quiet").code == 0
    test[["outcome"]].to_csv("truth.csv", index=False)
    seen = run(f"{GAP} --predictions truth.csv")
    assert "BF058" in seen.err
    assert "it has probably been trained on them" in seen.out


def test_a_report_has_a_section_on_the_model(run, files):
    report = "report test.csv --target outcome"
    shown = run(f"{report} --predictions p.csv --out page.md")
    assert shown.code == 0, shown.err
    expected = parsed(run(f"{GAP} --predictions p.csv --json"))
    page = Path("page.md").read_text(encoding="utf-8")
    assert "## Your model" in page
    assert "bayesfloor report test.csv --predictions p.csv --target outcome" in page
    assert expected["sentence"] in " ".join(shown.out.split())
    numbers = run("report test.csv --target size --predictions p.csv --out other.md")
    assert numbers.code == 3
    assert "p.csv: 'predicted' must hold numbers" in numbers.err


@for_each(
    "given, code, said",
    [
        ("", 2, "name a model or its predictions"),
        ("--model model.skops --predictions p.csv", 2, "exclude each other"),
        ("--model nowhere.skops", 2, "no such file"),
        ("--model model.skops --key who", 2, "--key is for --predictions"),
        ("--model model.pkl", 2, "no pickle is read"),
        ("--predictions nowhere.csv", 2, "no such file"),
        ("--predictions -", 2, "read from files, and not from stdin"),
        ("--predictions p.csv --key none", 2, "p.csv has no column 'none'"),
        ("--predictions wide.csv", 2, "and none is called 'predicted'"),
        ("--predictions short.csv", 3, "short.csv has 199 rows, and test.csv has 200"),
        ("--predictions odd.csv", 3, "'predicted' holds 'none', and 'outcome' has no such label"),
        ("--predictions gaps.csv", 3, "1 rows have no label in 'predicted'"),
        ("--predictions p.csv --key predicted", 2, "test.csv has no column 'predicted'"),
        ("--predictions twice.csv --key who", 3, "'who' holds 'r0' more than once"),
        ("--predictions few.csv --key who", 3, "has no prediction for 199 of 200 rows of test.csv: who"),
        ("--model tree.skops", 3, "sklearn.tree._tree.Tree; predictions of any model can be compared"),
        ("--model scaler.skops", 3, "a StandardScaler cannot predict"),
        ("--model test.csv", 3, "is not a model"),
        ("--predictions p.csv --task regression", 3, "holds values such as 'high', not numbers"),
    ],
)
def test_what_is_refused(run, files, given, code, said):
    outcome = run(f"{GAP} {given}")
    assert outcome.code == code, outcome.err
    assert said in outcome.err


def test_other_metrics_and_subgroups(run, files):
    """Probabilities of a model, or of a file, by metrics that judge them; decisions by those that judge these."""
    _, test, model = files
    p = model.predict_proba(test[COLUMNS])
    expected = log_loss(test["outcome"], p)
    found = parsed(run(f"{GAP} --model model.skops --metric log_loss --by colour --json"))
    assert found["value"] == pytest.approx(expected)
    assert {each["subgroup"] for each in found["by_subgroup"]} == {"blue", "green", "red"}
    pd.DataFrame(p, columns=[f"p({label})" for label in model.classes_])[["p(mid)", "p(low)", "p(high)"]].to_csv(
        "proba.csv", index=False
    )
    given = parsed(run(f"{GAP} --predictions proba.csv --metric log_loss --json"))
    assert given["value"] == pytest.approx(expected)
    shown = run(f"{GAP} --model model.skops --metric balanced_error --by colour")
    balanced = 1 - balanced_accuracy_score(test["outcome"], model.predict(test[COLUMNS]))
    (line,) = [line.split() for line in shown.out.splitlines() if line.startswith("the model ")]
    assert line[2] == f"{balanced:.4f}"
    assert "subgroup" in shown.out
    refused = run(f"{GAP} --predictions p.csv --metric log_loss")
    assert refused.code == 3
    assert "pass a column for each class" in refused.err


def test_numbers(run, files):
    _, test, _ = files
    rng = np.random.default_rng(0)
    test = test.assign(pay=(test["size"] + rng.normal(size=len(test))).round(3))
    test.to_csv("pay.csv", index=False)
    model = LinearRegression().fit(test[["size", "age"]], test["pay"] + 0.1)
    skops_io.dump(model, "line.skops")
    predicted = model.predict(test[["size", "age"]])
    expected = mean_absolute_error(test["pay"], predicted)
    pd.DataFrame({"predicted": predicted}).to_csv("numbers.csv", index=False)
    command = "gap pay.csv --target pay --drop outcome --drop who --metric mae --rows-are-new --json"
    found = [parsed(run(f"{command} {source}")) for source in ("--model line.skops", "--predictions numbers.csv")]
    for each in found:
        assert each["value"] == pytest.approx(expected, abs=1e-5)
        assert each["metric"] == "mae"
        assert each["by_class"] == each["by_pair"] == []
    assert found[0]["sentence"] == found[1]["sentence"]
    refused = run("gap pay.csv --target pay --model model.skops")
    assert refused.code == 3
    assert "predicts classes, and 'pay' holds numbers" in refused.err
