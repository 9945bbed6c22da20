"""All displays: what each draws where, as a picture that can be read, on any axes, and as a table."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_wine
from sklearn.dummy import DummyRegressor
from sklearn.metrics import confusion_matrix
from sklearn.preprocessing import StandardScaler

from bayesfloor import FloorSelector, floor_gap, learned_floor, one_vs_rest_bayes_error
from bayesfloor.display import (
    ClassFloorsDisplay,
    ClassTreeDisplay,
    DriftDisplay,
    FeatureComparisonDisplay,
    FloorGapDisplay,
    NoiseProfileDisplay,
    PairwiseHeatmapDisplay,
    SelectionPathDisplay,
    SubgroupsDisplay,
    VoteFloorDisplay,
)
from bayesfloor.results import LearningCurve, MetricFloor, NoiseProfile
from helpers.layout import assert_readable
from helpers.one_case import for_each

NAMES = ["a", "$b$", "c"]
FLOORS = [0.1, 0.3, 0.2]
ENDS = np.array([[0.05, 0.12], [0.2, 0.4], [0.2, 0.25]])
SUBGROUPS = {
    "names": ["north", "$south$", "tiny"],
    "interval": np.array([[0.01, 0.04], [0.2, 0.4], [0.0, 0.8]]),
    "reached": np.array([0.03, 0.35, 0.5]),
    "reached_interval": np.array([[0.02, 0.04], [0.3, 0.4], [0.1, 0.8]]),
    "confidence": 0.9,
    "column": "re_gion",
}
COMPARED = {
    "name": ["PCA(2)", "$all$", "noise"],
    "estimate": [0.12, 0.11, 0.4],
    "interval_low": [0.1, 0.1, 0.3],
    "interval_high": [0.13, 0.14, 0.5],
    "n_features": [2, 34, 7],
    "distinguishable": [False, False, True],
}
REACHED = {"reached": [0.13, 0.14, 0.45], "reached_low": [0.12, 0.13, 0.4], "reached_high": [0.14, 0.15, 0.5]}
MOVED = {
    "column": ["$age$", "income", "income", "a and b"],
    "what": ["values", "gaps", "values", "pair"],
    "share": [0.3, 0.2, 0.1, 0.05],
    "p_value": [0.001, 0.02, 0.06, 0.9],
}
VOTES = {
    "measure": ["floor", "naive: votes outside the majority", "two annotators disagree"],
    "value": np.array([0.1, 0.05, 0.18]),
    "interval_low": np.array([0.07, np.nan, 0.15]),
    "interval_high": np.array([0.16, np.nan, 0.21]),
}
PATH = {
    "features": ["", "x", "y, z", "w"],
    "floor": [0.5, 0.2, 0.1, 0.09],
    "interval_low": [0.4, 0.1, 0.05, 0.04],
    "interval_high": [0.6, 0.3, 0.15, 0.14],
    "selected": [True, True, True, False],
}
GAP = {
    "value": 0.081,
    "reached": 0.051,
    "estimate": 0.039,
    "value_interval": (0.07, 0.093),
    "reached_interval": (0.042, 0.061),
    "interval": (0.02, 0.06),
    "names": ["$3$ against 8", "4 against 9", "1 against 7"],
    "gap": np.array([0.015, 0.0, -0.006]),
    "is_sure": np.array([True, False, False]),
    "confidence": 0.9,
}
NOISE = {
    "low": np.array([0.0, 10.0, 30.0]),
    "high": np.array([10.0, 30.0, 90.0]),
    "sd_interval": np.array([[0.8, 1.3], [1.5, 2.4], [3.0, 7.5]]),
    "n_rows": np.array([40, 40, 41]),
    "confidence": 0.9,
}
SD = np.array([1.0, 2.0, 5.0])


def floor_of(
    errors, middle, limit, rate, interval, reached_interval, *, estimate=None, majority=0.5, sizes=(320, 160, 80)
):
    """Return a record of a curve with these values; it passes through the last of `middle`."""
    sizes, middle = np.array(sizes, float), np.array(middle, float)
    curve = LearningCurve(
        size=sizes,
        value=np.array(errors, float),
        expected=2 * middle - errors,
        middle=middle,
        fitted=limit + (middle[0] - limit) * (sizes / sizes[0]) ** -rate,
        limit=limit,
        rate=rate,
    )
    return MetricFloor(
        name="error",
        title="error",
        estimate=limit if estimate is None else estimate,
        interval=interval,
        reached=errors[0],
        reached_interval=reached_interval,
        baseline=majority,
        larger_is_better=False,
        curve=curve,
        confidence=0.95,
        is_rate=True,
    )


USUAL = floor_of([0.135, 0.19, 0.27], [0.117, 0.155, 0.21], 0.044, 0.5, (0.003, 0.151), (0.11, 0.151))

#: A display of each kind, and some columns of its table.
EACH = {
    "heat map": (PairwiseHeatmapDisplay([[0, 0.1], [0.1, 0]]), {"value": [0.1]}),
    "class floors": (ClassFloorsDisplay(FLOORS, NAMES, interval=ENDS), {"class": NAMES, "floor": FLOORS}),
    "class tree": (ClassTreeDisplay([[-1, 1], [-2, -3]]), {}),
    "curve": (USUAL.plot, {"value": [0.135, 0.19, 0.27], "interval_high": [0.151] * 3}),
    "subgroups": (
        SubgroupsDisplay([0.02, 0.3, np.nan], **SUBGROUPS),
        {"group": SUBGROUPS["names"], "reached_high": [0.04, 0.4, 0.8], "interval_low": [0.01, 0.2, 0.0]},
    ),
    "representations": (FeatureComparisonDisplay(COMPARED | REACHED), COMPARED | REACHED),
    "drift": (DriftDisplay(MOVED), MOVED),
    "votes": (VoteFloorDisplay(VOTES, confidence=0.9), {"value": [0.1, 0.05, 0.18]}),
    "selection": (SelectionPathDisplay(PATH), PATH),
    "gap": (FloorGapDisplay(**GAP), {"pair_of_classes": GAP["names"], "gap": [0.015, 0.0, -0.006]}),
    "noise": (NoiseProfileDisplay(SD, **NOISE), {"sd": [1, 2, 5], "sd_high": [1.3, 2.4, 7.5], "n_rows": [40, 40, 41]}),
}


@pytest.mark.parametrize("kind", EACH)
def test_on_a_figure_of_its_own_on_given_axes_and_as_a_table(kind, monkeypatch):
    display, columns = EACH[kind]
    display = display() if callable(display) else display
    pyplot.close("all")
    assert display.plot() is display
    first = display.ax_
    assert pyplot.get_fignums() == [display.figure_.number]
    assert first in display.figure_.axes
    assert_readable(display.figure_)
    assert display.plot().ax_ is not first

    pyplot.close("all")
    figure, (other, given) = pyplot.subplots(1, 2, layout="constrained")
    display.plot(ax=given)
    assert (display.ax_, display.figure_) == (given, figure)
    assert pyplot.get_fignums() == [figure.number]
    assert not other.has_data()
    left, right = pyplot.figure(layout="constrained", figsize=(9, 4)).subfigures(1, 2)
    assert display.plot(ax=right.subplots()).figure_ is right
    assert not left.axes

    frame = display.frame()
    assert {name: list(frame[name]) for name in columns} == columns
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'bayesfloor\[plot\]'"):
        display.plot()


def rows_of(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def steps_of(display):
    return [label.get_text() for label in display.ax_.get_xticklabels()]


def legend_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def ends_of(lines, axis=0):
    return np.array(lines.get_segments())[:, :, axis]


@pytest.mark.parametrize("n", [1, 60])
def test_few_and_many_long_names_can_be_read_and_stay_different(n):
    names = [f"${chr(97 + k % 26)}$ and a name that goes on and on, number {k}, for some more" for k in range(n)]
    floors = np.linspace(0, 0.5, n)
    ends = np.column_stack([0.9 * floors, 1.1 * floors])
    of_groups = {"names": names, "interval": ends, "reached": floors, "reached_interval": ends, "confidence": 0.95}
    compared = {"name": names, "estimate": floors, "n_features": np.arange(n), "distinguishable": np.arange(n) > 3}
    for display in (
        ClassFloorsDisplay(floors, names, interval=ends, confusion=floors),
        SubgroupsDisplay(floors, **of_groups),
        FeatureComparisonDisplay(compared),
    ):
        assert_readable(display.plot().figure_)
        assert len(set(rows_of(display))) == n
    drift = {"column": names, "what": ["values"] * n, "share": floors, "p_value": [0.5] * n}
    display = DriftDisplay(drift).plot()  # the surest of many are drawn, and all are in the table
    assert_readable(display.figure_)
    assert (len(rows_of(display)), len(display.frame())) == (min(n, 20), n)
    pairs = {"names": names, "gap": np.linspace(0.02, -0.001, n), "is_sure": np.ones(n, bool)}
    display = FloorGapDisplay(**GAP | pairs).plot()
    assert_readable(display.figure_)
    assert len(display.bars_) == min(n, 12)
    path = {"features": ["", *names[: n // 2]], "floor": np.linspace(0.5, 0.1, n // 2 + 1)}
    display = SelectionPathDisplay(path).plot()
    assert_readable(display.figure_)
    assert len(set(steps_of(display))) == n // 2 + 1


@for_each(
    ("make", "message"),
    [
        (lambda: ClassFloorsDisplay([[0.1, 0.2]]), "floors should have the shape"),
        (lambda: ClassFloorsDisplay([0.1, np.nan]), "floors should be finite, got 1 NaN"),
        (lambda: ClassFloorsDisplay(["a", "b"]), "floors should be numbers"),
        (lambda: ClassFloorsDisplay(FLOORS, interval=[[0, 1]]), r"the shape \(3, 2\), got \(1, 2\)"),
        (lambda: ClassFloorsDisplay(FLOORS, interval=[[0.2, 0.1]] * 3), "lower end of each interval first"),
        (lambda: ClassFloorsDisplay(FLOORS, ["a", "b"]), "3 values need 3 labels"),
        (lambda: ClassFloorsDisplay(FLOORS, confusion=[0.1]), "confusion should have the shape"),
        (lambda: ClassFloorsDisplay(FLOORS).plot(order="size"), "The 'order' parameter"),
        (lambda: DriftDisplay({"column": ["a"], "what": ["values"], "p_value": [0.1]}), "no column 'share'"),
        (lambda: FeatureComparisonDisplay({"name": ["a"]}), "There is no column 'estimate'"),
        (lambda: FeatureComparisonDisplay({"estimate": [0.1]}), "There is no column 'name'"),
        (lambda: SelectionPathDisplay({"features": ["a"]}), "There is no column 'floor'"),
        (lambda: SelectionPathDisplay({"floor": []}), "no rows to draw"),
        (lambda: SelectionPathDisplay({"floor": [0.1, 0.2], "features": ["a"]}), "one length"),
        (lambda: SelectionPathDisplay({"floor": [0.1, np.inf]}), "floor should be finite"),
        (
            lambda: SelectionPathDisplay({"floor": [0.1], "interval_low": [0.2], "interval_high": [0.1]}),
            "lower end of each interval first",
        ),
        (lambda: SelectionPathDisplay(PATH, direction="sideways"), "The 'direction' parameter must be one of"),
    ],
)
def test_what_cannot_be_drawn(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# --- floors of classes


@pytest.fixture(scope="module")
def wine_floors():
    return one_vs_rest_bayes_error(*load_wine(return_X_y=True))


def test_marks_and_intervals_are_in_the_row_of_their_class():
    display = ClassFloorsDisplay(FLOORS, NAMES, interval=ENDS).plot(order="name")
    assert rows_of(display) == display.order_.tolist() == NAMES
    assert display.floor_marks_.get_xdata().tolist() == FLOORS
    assert display.floor_marks_.get_ydata().tolist() == [0, 1, 2]
    np.testing.assert_array_equal(ends_of(display.interval_lines_), ENDS)
    np.testing.assert_array_equal(ends_of(display.interval_lines_, 1), [[0, 0], [1, 1], [2, 2]])
    assert display.ax_.get_ylim() == (2.5, -0.5)  # the first on top
    assert display.ax_.get_xlim()[0] <= 0
    # by default the highest floor comes first
    assert rows_of(display.plot()) == ["$b$", "c", "a"]
    assert display.floor_marks_.get_xdata().tolist() == [0.3, 0.2, 0.1]
    assert ends_of(display.interval_lines_)[0].tolist() == [0.2, 0.4]
    display = ClassFloorsDisplay(FLOORS, NAMES).plot(order=["c", "a", "$b$"])
    assert rows_of(display) == ["c", "a", "$b$"]
    assert display.floor_marks_.get_xdata().tolist() == [0.2, 0.1, 0.3]
    assert display.interval_lines_ is None


def test_confusion_rates_are_those_of_the_confusion_matrix(wine_floors):
    y_true, y_pred = np.random.default_rng(0).integers(3, size=(2, 200))
    display = wine_floors.plot(y_true=y_true, y_pred=y_pred, order=[1, 2, 0])
    counts = confusion_matrix(y_true, y_pred, labels=[0, 1, 2])
    expected = (counts.sum(axis=0) + counts.sum(axis=1) - 2 * np.diagonal(counts)) / 200
    np.testing.assert_allclose(display.confusion_marks_.get_xdata(), expected[[1, 2, 0]])
    # beside the floor in the same row
    assert np.round(display.confusion_marks_.get_ydata()).tolist() == [0, 1, 2]
    assert (display.confusion_marks_.get_ydata() > display.floor_marks_.get_ydata()).all()
    assert legend_of(display) == ["floor, 95% interval", "confusion rate"]
    frame = display.frame()
    assert list(frame.columns) == ["class", "floor", "interval_low", "interval_high", "confusion"]
    np.testing.assert_allclose(frame["confusion"], expected)
    np.testing.assert_array_equal(frame["floor"], wine_floors.estimate)
    np.testing.assert_array_equal(frame["interval_low"], wine_floors.interval[:, 0])


def test_normalized(wine_floors):
    display = wine_floors.plot(normalize=True)
    np.testing.assert_allclose(display.floors, wine_floors.normalized)
    shares = np.array([59, 71, 48]) / 178
    np.testing.assert_allclose(display.interval, np.minimum(wine_floors.interval / shares[:, None], 1.0))
    assert display.ax_.get_xlabel() == "normalized floor against the rest, 95% interval"
    assert set(rows_of(display)) == {"0", "1", "2"}


def test_predictions_that_cannot_be_compared(wine_floors):
    for options, message in [
        ({"y_true": [0, 1]}, "y_true and y_pred go together"),
        ({"y_true": [0, 1], "y_pred": [0, 7]}, "y_pred holds labels that have no floor: 7"),
        ({"y_true": [0, "x"], "y_pred": [0, 1]}, "y_true holds labels that have no floor: '0', 'x'"),
        ({"y_true": [0, 1], "y_pred": [0]}, "inconsistent numbers of samples"),
        ({"y_true": [], "y_pred": []}, "y_true is empty"),
        ({"y_true": [0], "y_pred": [0], "normalize": True}, "leave normalize off"),
    ]:
        with pytest.raises(ValueError, match=message):
            wine_floors.plot(**options)


# --- other rows


def test_subgroups_and_what_is_reached_in_each():
    floors = np.array([0.02, 0.3, np.nan])
    display = SubgroupsDisplay(floors, **SUBGROUPS).plot()
    assert rows_of(display) == SUBGROUPS["names"]
    np.testing.assert_array_equal(display.floor_marks_.get_xdata(), floors)
    np.testing.assert_array_equal(display.reached_marks_.get_xdata(), SUBGROUPS["reached"])
    for lines, name in ((display.interval_lines_, "interval"), (display.reached_lines_, "reached_interval")):
        np.testing.assert_array_equal(ends_of(lines), SUBGROUPS[name])
        np.testing.assert_array_equal(ends_of(lines, 1)[:, 0].round(), [0, 1, 2])
    assert display.ax_.get_xlabel() == "error by re_gion"
    assert "90% interval" in legend_of(display)[0]
    # of an array without a name
    X = np.random.default_rng(0).normal(size=(60, 2))
    by = np.repeat(["north", "south"], 30)
    found = learned_floor(X, (X[:, 0] > 0).astype(int), by=by, learners=["gaussian"], checks=False).subgroups
    assert found.plot().ax_.get_xlabel() == "error by subgroup"


def test_representations_are_in_the_order_of_the_table():
    display = FeatureComparisonDisplay(COMPARED).plot()
    assert rows_of(display) == ["PCA(2) (d = 2)", "$all$ (d = 34)", "noise (d = 7)"]
    assert display.marks_.get_xydata().tolist() == [[0.12, 0], [0.11, 1]]
    assert display.distinct_marks_.get_xydata().tolist() == [[0.4, 2]]
    assert display.reached_marks_ is None
    ends = np.column_stack([COMPARED["interval_low"], COMPARED["interval_high"]])
    np.testing.assert_array_equal(ends_of(display.interval_lines_), ends)
    # what is reached stands below
    display = FeatureComparisonDisplay(COMPARED | REACHED, title="R²", larger_is_better=True, is_rate=False).plot()
    assert display.reached_marks_.get_xdata().tolist() == REACHED["reached"]
    assert (display.reached_marks_.get_ydata() > np.arange(3)).all()
    assert display.ax_.get_xlabel() == "R²"
    assert legend_of(display) == ["ceiling, like the first", "ceiling, differs from it", "reached"]
    assert_readable(display.figure_)


def test_columns_that_surely_moved_have_full_marks():
    display = DriftDisplay(MOVED).plot()
    np.testing.assert_array_equal(display.moved_marks_.get_xydata(), [[0.3, 0], [0.2, 1]])
    np.testing.assert_array_equal(display.other_marks_.get_xdata(), [0.1, 0.05])
    assert rows_of(display) == ["$age$", "income: gaps", "income", "a and b"]
    stricter = DriftDisplay(MOVED, confidence=0.99).plot()
    np.testing.assert_array_equal(stricter.moved_marks_.get_xdata(), [0.3])


def test_rates_of_votes_on_small_axes():
    ax = pyplot.subplots(figsize=(4.5, 2), layout="constrained")[1]
    display = VoteFloorDisplay(VOTES, confidence=0.9).plot(ax)
    assert_readable(display.figure_)
    np.testing.assert_array_equal(display.floor_marks_.get_xydata(), [[0.1, 0]])
    np.testing.assert_array_equal(display.other_marks_.get_xydata(), [[0.05, 1], [0.18, 2]])
    np.testing.assert_array_equal(ends_of(display.interval_lines_), [[0.07, 0.16], [0.15, 0.21]])
    np.testing.assert_array_equal(ends_of(display.interval_lines_, 1)[:, 0], [0, 2])
    assert display.ax_.get_xlabel() == "error, 90% interval"
    assert rows_of(display)[0] == "floor"


# --- the path of a selection


def test_steps_of_a_selection():
    display = SelectionPathDisplay(PATH).plot()
    assert steps_of(display) == ["start", "+ x", "+ y, z", "+ w"]
    assert display.line_.get_xydata().tolist() == [[0, 0.5], [1, 0.2], [2, 0.1]]
    assert display.dropped_.get_xydata().tolist() == [[3, 0.09]]
    ends = np.column_stack([PATH["interval_low"], PATH["interval_high"]])
    np.testing.assert_array_equal(ends_of(display.interval_lines_, 1), ends)
    assert legend_of(display) == ["kept", "not kept"]
    assert display.ax_.get_ylim()[0] <= 0
    backward = SelectionPathDisplay(PATH, direction="backward").plot()
    assert steps_of(backward) == ["start", "− x", "− y, z", "− w"]
    alone = SelectionPathDisplay({"floor": [0.5, 0.2]}).plot()
    assert steps_of(alone) == ["start", "+ step 1"]
    assert alone.interval_lines_ is alone.ax_.get_legend() is None
    assert alone.frame()["selected"].tolist() == [True, True]
    for library in ("pandas", "polars"):
        back = SelectionPathDisplay(pytest.importorskip(library).DataFrame(PATH)).plot().frame()
        assert {name: list(back[name]) for name in back.columns} == PATH


def test_of_a_selector():
    X, y = load_wine(return_X_y=True, as_frame=True)
    scaled = StandardScaler().set_output(transform="pandas").fit_transform(X[["proline", "ash", "alcohol"]])
    path = FloorSelector(2).fit(scaled, y).path_
    display = path.plot()
    np.testing.assert_array_equal(display.frame()["floor"], path.frame()["floor"])
    assert steps_of(display) == ["start", *(f"+ {step.features[0]}" for step in path.steps[1:])]
    assert display.ax_.get_ylabel() == "floor, 95% interval"


# --- a model beside the floor


def test_errors_and_bars_are_where_their_values_are():
    display = FloorGapDisplay(**GAP).plot()
    np.testing.assert_array_equal(display.marks_.get_xdata(), [0.081, 0.051, 0.039])
    np.testing.assert_array_equal(ends_of(display.interval_lines_), [[0.07, 0.093], [0.042, 0.061], [0.02, 0.06]])
    assert rows_of(display) == ["your model\n8.1%", "reached by the stack\n5.1%", "the floor\n3.9%"]
    assert display.ax_.get_xlabel() == "error, 90% interval"
    # what does not differ has no bar
    assert [bar.get_width() for bar in display.bars_] == [0.015, -0.006]
    assert [label.get_text() for label in display.places_ax_.get_yticklabels()] == ["$3$ against 8", "1 against 7"]
    colours = [pyplot.matplotlib.colors.to_hex(bar.get_facecolor()) for bar in display.bars_]
    assert (colours[0] == "#f5d999", colours[1]) == (False, "#f5d999")
    assert "pale: may be chance" in display.places_ax_.get_title(loc="left")
    none = FloorGapDisplay(**GAP | {"gap": np.zeros(3)}).plot()
    assert none.places_ax_ is none.bars_ is None
    assert_readable(none.figure_)
    _, axes = pyplot.subplots(1, 2, figsize=(9, 3), layout="constrained")
    display.plot(axes)
    assert [display.ax_, display.places_ax_] == list(axes)
    assert display.plot(pyplot.subplots()[1]).bars_ is None


def test_the_best_value_is_a_ceiling_where_larger_is_better():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = X[:, 0] + 0.3 * rng.normal(size=120)
    for metric, limit in (("r2", "the ceiling\n"), ("rmse", "the floor\n")):
        found = floor_gap(DummyRegressor(), X, y, metric=metric, learners=["linear"])
        assert rows_of(found.plot())[2].startswith(limit)


def test_a_metric_that_is_no_rate_has_an_axis_of_numbers():
    names = ("value", "reached", "estimate", "value_interval", "reached_interval", "interval")
    numbers = {name: np.multiply(1000.0, GAP[name]) for name in names}
    display = FloorGapDisplay(**GAP | numbers, title="MAE", is_rate=False, places="subgroup").plot()
    display.figure_.canvas.draw()
    for axes in (display.ax_, display.places_ax_):
        assert not any("%" in label.get_text() for label in axes.get_xticklabels())
    assert rows_of(display)[0] == "your model\n81"
    assert display.ax_.get_xlabel() == "MAE, 90% interval"


# --- noise over predictions


def test_each_bin_is_drawn_where_its_predictions_are():
    display = NoiseProfileDisplay(SD, **NOISE, overall=3.2, target="price_$of$_it").plot()
    np.testing.assert_array_equal(ends_of(display.noise_lines_), np.column_stack([NOISE["low"], NOISE["high"]]))
    np.testing.assert_array_equal(ends_of(display.noise_lines_, 1)[:, 0], SD)
    boxes = [band.get_bbox().extents for band in display.bands_]
    drawn = np.column_stack([NOISE["low"], NOISE["sd_interval"][:, 0], NOISE["high"], NOISE["sd_interval"][:, 1]])
    np.testing.assert_allclose(boxes, drawn)
    assert display.overall_line_.get_ydata()[0] == 3.2
    assert display.ax_.get_xlabel() == "predicted price_$of$_it"
    assert "90% interval" in legend_of(display)[0]
    bottom, top = display.ax_.get_ylim()
    assert bottom == 0.0
    assert top >= 7.5
    assert_readable(display.figure_)
    plain = NoiseProfileDisplay(SD, **NOISE).plot()
    assert plain.overall_line_ is None
    assert plain.ax_.get_xlabel() == "predicted value"
    of_result = NoiseProfile(sd=SD, p_value=0.5, n_samples=121, **NOISE).plot()
    np.testing.assert_array_equal(of_result.noise_marks_.get_ydata(), SD)
    assert of_result.overall_line_.get_ydata()[0] == np.sqrt((40 * 1 + 40 * 4 + 41 * 25) / 121)


# --- the learning curve


CASES = {
    "usual": USUAL,
    "without error": floor_of([0, 0, 0], [0, 0, 0], 0.0, 0.6, (0, 0.018), (0, 0.018), majority=0.66),
    "all zero": floor_of([0, 0, 0], [0, 0, 0], 0.0, 0.6, (0, 0), (0, 0)),
    "small": floor_of([5e-4, 7e-4, 1e-3], [5e-4, 6e-4, 9e-4], 4e-4, 0.6, (2e-4, 8e-4), (3e-4, 8e-4)),
    "noise": floor_of([0.51, 0.45, 0.5], [0.49, 0.46, 0.49], 0.45, 0.7, (0.38, 0.58), (0.44, 0.58), estimate=0.5),
    "flat noise": floor_of([0.5, 0.5, 0.5], [0.5, 0.5, 0.5], 0.5, 0.7, (0.4, 0.6), (0.4, 0.6)),
    "far above": floor_of([0.4, 0.6, 0.8], [0.3, 0.5, 0.7], 0.01, 0.3, (0, 0.45), (0.35, 0.45), majority=0.9),
    "tiny": floor_of([0.54, 0.56, 0.55], [0.44, 0.49, 0.51], 0.39, 0.8, (0.2, 0.75), (0.33, 0.75), sizes=(19, 10, 5)),
    "many rows": floor_of([0.2, 0.21, 0.23], [0.2] * 3, 0.19, 0.8, (0.18, 0.21), (0.19, 0.21), sizes=(8e6, 4e6, 2e6)),
}


@pytest.fixture(scope="module")
def usual():
    return USUAL.plot()


def texts_of(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def test_what_is_drawn_where(usual):
    display = usual
    assert display.error_marks_.get_xydata().tolist() == [[320, 0.135], [160, 0.19], [80, 0.27]]
    assert set(display.floor_line_.get_ydata()) == {0.044}
    band = display.floor_band_.get_window_extent().transformed(display.ax_.transData.inverted())
    np.testing.assert_allclose([band.y0, band.y1], USUAL.interval)
    (segment,) = display.reached_line_.get_segments()
    assert segment.tolist() == [[320, 0.11], [320, 0.151]]
    assert texts_of(display) == [
        "error of the stack, reached 13.5%",
        "if it goes on like this",
        "floor 4.4%, 95% range 0.30–15.1%",
    ]
    assert display.ax_.get_xscale() == "log"
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("training rows", "error")


def test_the_curve_is_dashed_beyond_the_data(usual):
    tried, beyond = usual.curve_line_, usual.extrapolation_
    assert tried.get_xdata()[[0, -1]] == pytest.approx([80, 320])
    assert beyond.get_xdata()[[0, -1]] == pytest.approx([320, 3200])
    # through the circles, and from the last of them on 0.044 + 0.091 (m / 320)^-1/2: at 3200 less by √10
    assert tried.get_ydata()[[0, -1]] == pytest.approx([0.27, 0.135])
    assert np.interp(160, tried.get_xdata(), tried.get_ydata()) == pytest.approx(0.19, abs=1e-4)
    assert beyond.get_ydata()[-1] == pytest.approx(0.044 + 0.091 / np.sqrt(10))
    assert tried.get_linestyle() == "-"
    assert beyond.is_dashed()


# the small axes are the hard ones
@for_each(
    ("name", "inches"),
    [*((name, (3, 2)) for name in CASES), ("noise", None), ("tiny", None)],
)
def test_all_is_on_the_picture(name, inches):
    case = CASES[name]
    ax = None if inches is None else pyplot.subplots(figsize=inches, layout="constrained")[1]
    display = case.plot(ax)
    assert_readable(display.figure_)
    (left, right), (bottom, top) = display.ax_.get_xlim(), display.ax_.get_ylim()
    assert left < case.curve.size.min()
    assert right == pytest.approx(10 * case.curve.size.max())
    assert bottom < 0
    assert top > max(case.interval[1], case.reached_interval[1], case.curve.value.max())


def test_a_curve_that_rises_by_chance_is_smoothed():
    """Of .51, .45 and .5 at 320, 160 and 80 rows, the first two are taken to be one: the mean of both, or all three."""
    case = CASES["noise"]
    np.testing.assert_allclose(case.curve_at([320, 160, 80]), [0.48, 0.48, 0.5])
    surely = replace(case, curve=replace(case.curve, covariance=1e-6 * np.eye(3)))
    np.testing.assert_allclose(surely.curve_at([320, 160, 80]), case.curve.value)
    ceiling = replace(case, larger_is_better=True, curve=replace(case.curve, value=np.array([0.9, 0.92, 0.8])))
    np.testing.assert_allclose(ceiling.curve_at([320, 160, 80]), [0.91, 0.91, 0.8])


def test_the_largest_class_is_shown_where_it_is_on_the_picture(usual):
    assert usual.baseline_line_ is None  # 50%, and nothing above 27%
    display = CASES["noise"].plot()
    assert set(display.baseline_line_.get_ydata()) == {0.5}
    assert "always the commonest class 50.0%" in texts_of(display)


@for_each(
    ("name", "text", "rows"),
    [
        ("small", "floor 0.04%, 95% range 0.02–0.08%", {"100", "200", "500", "1,000", "2,000"}),
        ("many rows", "floor 19.0%, 95% range 18.0–21.0%", {"10,000,000"}),
    ],
)
def test_numbers_have_the_digits_they_need(name, text, rows):
    display = CASES[name].plot()
    assert text in texts_of(display)
    assert rows <= {label.get_text() for label in display.ax_.get_xticklabels()}
