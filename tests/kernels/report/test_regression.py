"""Reports on a target of numbers: figures of `regression_floor`, true sentences, rows with the values of the file."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bayesfloor import difficulty_report, read_table, regression_floor
from bayesfloor.floor.learned.regression.result import NoiseProfile
from bayesfloor.floor.learned.trust.checks import Checked, Trained
from bayesfloor.floor.learned.trust.single_columns import ColumnFloors, explained_by_columns
from bayesfloor.floor.learned.trust.source import source_of
from bayesfloor.floor.trees.problem import check_options
from bayesfloor.report.figures import NumberFigures
from bayesfloor.report.metric_words import sentence_on, verdict_on
from bayesfloor.report.sections.answer import answer_on_numbers
from bayesfloor.report.sections.noise import noisy_part, place_of_noise, sentence_on_noise
from bayesfloor.report.sections.suspects import number_text
from bayesfloor.report.verdict import limit_of
from bayesfloor.results import DifficultyReport, RegressionFloor
from bayesfloor.runtime.text import percent

pytestmark = pytest.mark.limits(learners=("gaussian", "linear"))

N, ODD_ROW = 200, 17


@pytest.fixture(scope="module")
def houses():
    """Prices that grow with the area, in three towns; noise that grows with the price; one row with a wrong price."""
    rng = np.random.default_rng(0)
    area, town = rng.uniform(40, 200, N), rng.integers(0, 3, N)
    price = 1000.0 * area * np.array([1.0, 1.4, 1.8])[town] * np.exp(rng.normal(0, 0.12, N))
    price[ODD_ROW] *= 2.5
    names = np.array(["Bern", "Oslo", "<b>Rome</b>"])
    frame = pd.DataFrame({"area": area.round(1), "town": names[town], "<i>floor": rng.integers(0, 5, N)})
    return frame.assign(price=price.round(-2))


@pytest.fixture(scope="module")
def report(houses):
    return difficulty_report(houses, "price", target_value=0.99, n_jobs=1)


@pytest.fixture(scope="module")
def floor(report):
    return report.learned


def test_a_continuous_target_gives_a_report_on_numbers(report, houses):
    assert isinstance(report, DifficultyReport)
    assert isinstance(report.learned, RegressionFloor)
    assert report.pairs is report.class_tree is report.gap is None
    summary = report.summary
    assert (summary["task"], summary["schema"]) == ("regression", "bayesfloor/summary/1")
    assert json.loads(report.to_json()) == summary
    assert (summary["data"]["target"], summary["data"]["n_rows"]) == ("price", N)
    assert summary["data"]["numbers"] == {"low": houses["price"].min(), "high": houses["price"].max()}
    assert summary["command"] == "difficulty_report(X, 'price', target_value=0.99)"
    assert repr(report).startswith("DifficultyReport('About ")
    assert "<iframe" in report._repr_html_()


def test_figures_are_those_of_the_floor(report, houses):
    own = regression_floor(read_table(houses, target="price"), n_jobs=1)
    floor, summary = report.learned, report.summary
    assert (floor.estimate, floor.interval, floor.reached) == (own.estimate, own.interval, own.reached)
    assert (summary["floor"]["estimate"], summary["floor"]["low"]) == (own.estimate, own.interval[0])
    assert [each["metric"] for each in summary["metrics"]] == ["r2", "rmse", "mae"]
    assert summary["noise"]["sd"] == pytest.approx(own.noise_variance**0.5)
    assert [each["sd"] for each in summary["noise"]["bins"]] == own.noise.sd.tolist()
    assert sum(each["share"] for each in summary["noise"]["bins"]) == pytest.approx(1.0)
    assert summary["curve"]["points"][0] == {"size": own.curve.size[0], "value": own.curve.value[0]}
    assert {each["name"] for each in summary["learners"]} == set(own.weights)


def test_a_row_with_a_wrong_number_is_the_first_to_look_at(report, houses):
    first = report.summary["suspects"]["rows"][0]
    assert first["row"] == ODD_ROW
    assert first["value"] == houses["price"][ODD_ROW]
    assert first["label"] == f"{houses['price'][ODD_ROW]:,.0f}"
    assert first["score"] > 3
    columns = report.summary["suspects"]["columns"]
    assert dict(zip(columns, first["values"], strict=True))["town"] == houses["town"][ODD_ROW]
    other = first["other_row"]
    assert dict(zip(columns, first["other_values"], strict=True))["area"] == f"{houses['area'][other]:.6g}"
    assert first["other_label"] == f"{houses['price'][other]:,.0f}"
    assert first["alike"][0] == {"row": other, "value": houses["price"][other]}
    assert first["neighbours_mean"] == pytest.approx(np.mean([each["value"] for each in first["alike"]]))
    assert report.frame()["row"].iloc[0] == ODD_ROW
    header, row, *_ = csv.reader(io.StringIO(report.to_csv()))
    assert header == ["row", *columns, "price", "suggested", "score"]
    assert (int(row[0]), float(row[-3]), float(row[-1])) == (ODD_ROW, first["value"], round(first["score"], 4))
    assert float(row[-2]) == pytest.approx(first["predicted"], rel=1e-5)


@pytest.fixture
def asked(floor, monkeypatch):
    """What models are asked for; nothing is trained, and the figures are always the same."""
    calls = []

    def answer(problem, *, metric, **how):
        calls.append((problem, how))
        first = floor.metrics[metric[0]]
        names = dict.fromkeys([*metric, *floor.metrics])
        return replace(floor, metric=first.name, metrics={name: floor.metrics[name] for name in names}), None

    monkeypatch.setattr("bayesfloor.report.figures.regression_floor_of", answer)
    return calls


def test_other_headlines_and_arrays(houses, asked):
    X = houses[["area", "<i>floor"]].to_numpy()
    report = difficulty_report(X, houses["price"], metric=["mae", "r2"], target_value=10_000, n_jobs=1)
    summary = report.summary
    assert [each["metric"] for each in summary["metrics"]] == ["mae", "r2", "rmse"]
    assert "MAE of price" in summary["answer"][0]
    assert "of the variance" in summary["answer"][1]
    assert summary["goal"]["target"] == 10_000
    assert "The upper end of the range is never below what a model reached" in " ".join(str(report).split())
    assert summary["how_to_read"][0]["heading"] == "The floor"
    assert "metric=['mae', 'r2']" in summary["command"]
    assert "Judged by: MAE, the mean absolute error" in " ".join(str(report).split())


def test_whole_numbers_are_asked_as_numbers_where_that_is_said(houses, asked):
    y = np.clip(houses["area"] // 40, 1, 4).astype(int)
    X = houses[["area"]].to_numpy()
    assert difficulty_report(X, y, effort="fast").summary["task"] == "classification"
    for how in ({"task": "regression"}, {"metric": "r2"}):
        assert difficulty_report(X, y, n_jobs=1, **how).summary["task"] == "regression"
    np.testing.assert_array_equal(asked[0][0].y, y)


def test_what_cannot_be_asked_of_numbers(houses):
    for options, says in [
        ({"by": "town"}, "by needs classes, and 'price' holds numbers"),
        ({"costs": [[0, 1], [1, 0]]}, "costs needs classes"),
        ({"positive": 1}, "positive needs classes"),
        ({"metric": "roc_auc"}, "must be one of 'r2', 'rmse', 'mae'"),
        ({"metric": ["r2", "error"], "task": "regression"}, "must be one of 'r2', 'rmse', 'mae'"),
        ({"target_value": 1.5}, "'target_value' parameter must be a float in the range"),
        ({"metric": "rmse", "target_value": -1}, "'target_value' parameter must be a float in the range"),
        ({"task": "numbers"}, "'task' parameter must be one of"),
        ({"task": "classification"}, "a measured number, not classes"),
        ({"task": "classification", "metric": "r2"}, "metric"),
    ]:
        with pytest.raises(ValueError, match=says):
            difficulty_report(houses, "price", **options)


def test_groups_time_and_how_to_compute_go_to_the_models(houses, asked):
    seen = []
    how = {"confidence": 0.9, "max_rows": 150, "n_jobs": 1, "random_state": 7}
    progress = {"progress": lambda done, total: seen.append(done / total)}
    difficulty_report(houses, "price", groups="town", time="<i>floor", **how, **progress)
    problem, given = asked[0]
    assert len(np.unique(problem.groups)) == 3
    np.testing.assert_array_equal(problem.time, houses["<i>floor"])
    assert how.items() <= given.items()
    seen.clear()
    given["progress"](1, 1)
    assert seen == [1.0]


# --- sentences


def figures(floor):
    nothing = np.empty(0)
    columns = ColumnFloors(nothing, nothing, np.empty((0, 2)), 0, False)
    trained = Trained(floor, None, None)
    return NumberFigures(Checked(trained, trained), columns, None, (), {})


def told_of(floor):
    """The sentences on figures."""
    found = figures(floor)
    return answer_on_numbers(found, limit_of(found.headline), "price")


def changed(floor, **values):
    """Figures of the floor with another R²."""
    return figures(replace(floor, metrics=floor.metrics | {"r2": replace(floor.metrics["r2"], **values)}))


KNOWN = {"estimate": 0.91, "interval": (0.84, 0.94), "reached": 0.86, "reached_interval": (0.84, 0.88)}


def test_the_headline(floor):
    curve = floor.metrics["r2"].curve
    risen = replace(curve, value=np.array([0.86, 0.82, 0.78]))
    for values, says in [
        ({}, "About 91.0% of the variance of price can be explained (95% range 84.0–94.0%);"),
        ({}, "the best model tried explains 86.0% and is still improving with more data"),
        ({"estimate": 0.865}, "explains 86.0%, and more rows would change that little"),
        ({"estimate": 0.9, "reached_interval": (0.6, 0.95)}, "on too few rows to tell whether more would help"),
        ({"interval": (0.84, 1.0)}, "these rows do not tell how much more"),
        ({"reached": 0.02, "reached_interval": (-0.1, 0.1)}, "Nothing that was tried surely explains"),
        (
            {"curve": replace(curve, value=np.array([0.78, 0.82, 0.86]))},
            "on too few rows to tell whether more would help",
        ),
    ]:
        assert says in " ".join(told_of(changed(floor, **KNOWN | {"curve": risen} | values).learned))


def test_the_verdict_on_a_share_of_the_variance(floor):
    for target, word in [(0.8, "feasible"), (0.9, "undecided"), (0.97, "not feasible")]:
        verdict, sentence = verdict_on(changed(floor, **KNOWN).headline, target)
        assert verdict == word
        assert f"{percent(target).replace('.0%', '%')}" in sentence


def test_a_constant_that_beats_the_models_is_said(floor):
    """The median of many zeros has a lower MAE than the best mean."""
    own = {"reached": 0.96, "reached_interval": (0.91, 1.01), "interval": (0.88, 1.0), "baseline": 0.7}
    mae = replace(floor.metrics["mae"], estimate=0.95, **own)
    told = told_of(replace(floor, metric="mae", metrics=floor.metrics | {"mae": mae}))
    assert told[0] == sentence_on(mae)
    assert "Always predicting the same value has an MAE of 0.7, and the models, which predict means, 0.96" in told[0]
    assert "No model" not in told[0]
    assert sentence_on(floor.metrics["mae"]) == floor.metrics["mae"].sentence()


def profile(sd, width=0.1):
    sd = np.array(sd, float)
    edges = np.arange(len(sd) + 1) * 100.0
    return NoiseProfile(
        low=edges[:-1],
        high=edges[1:],
        n_rows=np.full(len(sd), 50),
        sd=sd,
        sd_interval=np.column_stack([(1 - width) * sd, (1 + width) * sd]),
        p_value=0.0,
        n_samples=50 * len(sd),
        confidence=0.95,
    )


@pytest.mark.parametrize(
    ("sd", "width", "bins"),
    [
        ([1, 1, 1, 1, 1], 0.1, None),
        ([1, 1, 1, 2, 3], 0.1, (4, 4)),  # 9 of 16 is more than half
        ([3, 1, 1, 1, 1], 0.1, (0, 0)),
        ([1, 1, 1, 2, 2], 0.1, (3, 4)),  # 4 of 11 is not
        ([1, 1, 1, 2, 3], 0.9, None),  # not surely
        ([1, 1, 3, 1, 1], 0.1, None),  # in the middle, no end to name
        ([2, 1, 1, 1, 4], 0.1, (4, 4)),
    ],
)
def test_where_the_noise_is(floor, sd, width, bins):
    noise = profile(sd, width)
    found = noisy_part(noise)
    assert (None if found is None else (found.first, found.last)) == bins
    told = place_of_noise(noise, "price")
    if bins is None:
        assert told == ""
        uneven = replace(floor, noise=noise)
        even = replace(floor, noise=replace(noise, p_value=0.2))
        assert f"to {max(sd)} where" in sentence_on_noise(uneven, "price")
        assert "as large everywhere" in sentence_on_noise(even, "price")
        return
    above = bins[1] == len(sd) - 1
    edge = f"above {100 * bins[0]}" if above else f"below {100 * (bins[1] + 1)}"
    assert told == f"Predictions of price {edge} are where the noise is."
    share = found.share_of_noise
    assert share == pytest.approx(sum(np.square(sd[bins[0] : bins[1] + 1])) / sum(np.square(sd)))
    assert percent(share) in sentence_on_noise(replace(floor, noise=noise), "price")


def test_numbers_are_written_as_a_file_has_them():
    written = {184750.0: "184,750", 0.25: "0.25", -3.0: "-3", 1234.5678: "1,234.57", 2e20: "2e+20"}
    assert {value: number_text(value) for value in written} == written


# --- columns


def test_what_a_column_explains_alone_is_what_theory_says():
    rng = np.random.default_rng(1)
    n = 2000
    x, kind, noise = rng.normal(size=n), rng.integers(0, 3, n), rng.normal(size=n)
    y = 2.0 * np.sin(2.0 * x) + np.array([-2.0, 0.0, 2.0])[kind] + noise
    frame = pd.DataFrame({"x": x, "kind": np.array(["a", "b", "c"])[kind], "nothing": rng.normal(size=n), "y": y})
    source = source_of(frame, "y", None, task="auto")
    found = explained_by_columns(source, check_options(n_jobs=1))
    # Var(2 sin 2x) = 2 (1 - exp(-8)) and the variance of the three means is 8/3
    of_x, of_kind = 2.0 * (1.0 - np.exp(-8.0)), 8.0 / 3.0
    total = of_x + of_kind + 1.0
    for name, expected in (("x", of_x / total), ("kind", of_kind / total), ("nothing", 0.0)):
        place = source.columns.index(name)
        assert found.removed[place] == pytest.approx(expected, abs=0.05)
        assert found.floor[place] == pytest.approx(((1 - found.removed[place]) * y.var()) ** 0.5)
