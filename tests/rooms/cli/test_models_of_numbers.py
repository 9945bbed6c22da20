"""fit and predict where the target is a number: the same file, the same refusals, and intervals that hold."""

import json

import numpy as np
import pytest

from bayesfloor import LandmarkRegressor, read_table
from bayesfloor.cli import main
from benchmarks.tools import fuzz_models
from helpers.terminal import complaint, rows_of
from rooms.cli.test_models import bad_arrays, refused, with_part

skops_io = pytest.importorskip("skops.io")


def write_houses(path, n_rows, seed):
    """A price that follows area and kind, with noise that grows with the area, and gaps."""
    rng = np.random.default_rng(seed)
    area, kind = rng.uniform(40, 200, n_rows), rng.choice(["flat", "house"], n_rows)
    price = 1000.0 * area + 20_000.0 * (kind == "house") + 150.0 * area * rng.normal(size=n_rows)
    shown = [f"{a:.1f}" if i % 11 else "" for i, a in enumerate(area)]
    rows = (f"{a},{k},{p:.1f}\n" for a, k, p in zip(shown, kind, price, strict=True))
    path.write_text("area,kind,price\n" + "".join(rows))
    return price


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    write_houses(folder / "houses.csv", 300, 0)
    out = str(folder / "houses.skops")
    assert main(["fit", str(folder / "houses.csv"), "--target", "price", "--out", out, "--quiet"]) == 0
    return (folder / "houses.skops").read_bytes()


@pytest.fixture
def model(tmp_path, fitted):
    write_houses(tmp_path / "houses.csv", 300, 0)
    write_houses(tmp_path / "table.csv", 200, 1)
    (tmp_path / "model.skops").write_bytes(fitted)
    return tmp_path / "model.skops"


def test_predictions_and_intervals_are_those_of_the_regressor(run, model, tmp_path):
    first = read_table(tmp_path / "houses.csv", target="price")
    regressor = LandmarkRegressor().fit(first.X, first.y)
    new = read_table(tmp_path / "table.csv", preparation=first.preparation)
    outcome = run("predict model.skops table.csv --confidence 0.9")
    head, *rows = rows_of(outcome.out)
    assert head == ["line", "predicted", "low", "high"]
    found = np.array(rows, float)
    assert found[:, 0].tolist() == list(range(2, 202))
    np.testing.assert_allclose(found[:, 1], regressor.predict(new.X), rtol=1e-6)
    np.testing.assert_allclose(found[:, 2:], regressor.predict_interval(new.X, confidence=0.9), rtol=1e-6)
    rmse = np.sqrt(np.mean((new.y - found[:, 1]) ** 2))
    inside = np.count_nonzero((found[:, 2] <= new.y) & (new.y <= found[:, 3]))
    assert f"RMSE of the 200 numbers in table.csv: {rmse:.6g}. {inside} of them lie in their interval" in outcome.err
    assert 0.84 <= inside / 200 <= 0.96
    assert rows_of(run("predict model.skops table.csv").out)[0] == ["line", "predicted"]


def test_json_of_fit_and_predict(run, model):
    whole = json.loads(run("fit houses.csv --target price --out again.skops --json").out)
    assert whole["data"]["task"] == "regression"
    assert 0.7 < whole["result"]["held_out_r2"] < 1.0
    found = json.loads(run("predict again.skops table.csv --json --confidence 0.8").out)["result"]
    again = json.loads(run("predict model.skops table.csv --json").out)["result"]
    assert found["predicted"] == again["predicted"]
    assert (found["confidence"], again["confidence"], again["interval"]) == (0.8, None, None)
    assert found["rmse"] == pytest.approx(whole["result"]["held_out_rmse"], rel=0.3)


def test_new_rows_need_no_target_and_may_have_gaps(run, model, tmp_path):
    (tmp_path / "new.csv").write_text("kind,area\nhouse,100\nflat,\ncastle,100\n")
    outcome = run("predict model.skops new.csv")
    assert [row[0] for row in rows_of(outcome.out)[1:]] == ["2", "3", "4"]
    assert "RMSE" not in outcome.err
    (tmp_path / "new.csv").write_text("kind,area,price\nhouse,100,dear\nflat,,cheap\n")
    outcome = run("predict model.skops new.csv")
    assert outcome.code == 0
    assert "The labels are left aside: new.csv: the target 'price' holds values such as 'cheap'" in outcome.err


def test_numbers_that_are_written_as_text(run, model, tmp_path):
    """Prices with a sign are read as they were for the fit; one that is none leaves the others aside."""
    (tmp_path / "new.csv").write_text('kind,area,price\nhouse,100,"$110,000"\nflat,90,"$95,000"\n')
    outcome = run("predict model.skops new.csv")
    predicted = np.array([row[1] for row in rows_of(outcome.out)[1:]], float)
    rmse = np.sqrt(np.mean((predicted - [110_000, 95_000]) ** 2))
    assert f"RMSE of the 2 numbers in new.csv: {rmse:.6g}." in outcome.err
    rows = ['flat,90,"$95,000"'] * 40
    (tmp_path / "new.csv").write_text("\n".join(["kind,area,price", *rows, "house,100,sold"]) + "\n")
    outcome = run("predict model.skops new.csv")
    assert len(rows_of(outcome.out)) == 42
    assert "1 of 41 rows have no label in 'price': the labels are left aside." in outcome.err


def test_what_needs_the_other_task(run, model, tmp_path):
    assert "--model smartsvm needs classes, and 'price' holds numbers" in complaint(
        run("fit houses.csv --target price --model smartsvm --out x.skops"), 2
    )
    assert run("fit houses.csv --target kind --out kind.skops --quiet").code == 0
    assert "--confidence is for numbers" in complaint(run("predict kind.skops table.csv --confidence 0.9"), 2)
    assert run("predict model.skops table.csv --confidence 1.5").code == 2
    assert "at most" in complaint(run("predict model.skops table.csv --confidence 0.9999"), 3)


def test_numbers_as_classes_and_classes_as_numbers(run, tmp_path):
    rows = [f"{i % 4 + 0.01 * i:.2f},{i % 4}" for i in range(80)]
    (tmp_path / "grades.csv").write_text("\n".join(["x,grade", *rows]) + "\n")
    assert "held_out_error" in json.loads(run("fit grades.csv --out a.skops --json").out)["result"]
    assert "held_out_r2" in json.loads(run("fit grades.csv --task regression --out b.skops --json").out)["result"]


def test_parts_that_do_not_belong_together(run, model, tmp_path):
    stored = skops_io.load(model)
    place = ("parts", "held_out_", "fields")
    held_out = stored["parts"]["held_out_"]["fields"]
    arrays = {("parts", "coef_"): stored["parts"]["coef_"]} | {(*place, name): held_out[name] for name in held_out}
    wrong = [(path, bad) for path, values in arrays.items() for bad in bad_arrays(values)]
    wrong += [(("parts", "target_mean_"), bad) for bad in (1e300, "x", None)]
    wrong += [(("parts", "target_deviation_"), -1.0), ((*place, "weight"), np.zeros_like(held_out["weight"]))]
    wrong.append((place, {name: values[:0] for name, values in held_out.items()}))
    for path, bad in wrong:
        message = refused(run, skops_io.dumps(with_part(stored, path, bad)), tmp_path)
        assert "values that no fit gives" in message or f"the array {path[-1]!r} holds" in message, path
    other = with_part(stored, ("preparation", "task"), "classification")
    assert "its table is not one of numbers" in refused(run, skops_io.dumps(other), tmp_path)
    assert "its table is not one of classes" in refused(run, skops_io.dumps(stored | {"kind": "landmarks"}), tmp_path)


def test_edits_of_the_fuzzer(model, tmp_path):
    """A slice of benchmarks/tools/fuzz_models.py."""
    for number in range(15):
        _, where, contents = fuzz_models.make_case(number, 0, tmp_path, [model.name])
        (tmp_path / "case.skops").write_bytes(contents)
        case = tmp_path / "case.skops", tmp_path / "table.csv", ["--confidence", "0.8"]
        fault, _, said = fuzz_models.judge(main, *case)
        assert not fault, (number, where, said)
