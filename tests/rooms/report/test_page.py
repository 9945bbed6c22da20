"""The page as text: what is in it, how figures are written, and that no name gets out of its place."""

import base64
import csv
import hashlib
import html
import io
import re
from importlib.resources import files
from xml.etree import ElementTree

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from bayesfloor.report.page.charts import floor_scale, learning_curve
from bayesfloor.report.page.heat_map import heat_map, level_of
from bayesfloor.report.page.page import render_page
from bayesfloor.report.page.templating import FIRST_ROWS, sorting_key
from bayesfloor.report.sections.suspects import cards_of
from bayesfloor.report.text import render_markdown, render_text
from bayesfloor.runtime.text import (
    chosen,
    counted,
    cut_middle,
    difference,
    exact_percent,
    figure,
    percent,
    percent_range,
    visible,
    written_range,
)
from helpers import sample_regression, sample_summary
from helpers.one_case import for_each
from helpers.outline import Outline

SUMMARIES = {
    "digits": sample_summary.digits,
    "bare": sample_summary.bare,
    "hostile": sample_summary.hostile,
    "long names": lambda: sample_summary.with_names(sample_summary.LONG),
    "rare class": sample_summary.with_rare_class,
    "subgroups": sample_summary.with_subgroups,
    "gap": sample_summary.with_gap,
    "metrics": sample_summary.with_metrics,
    "costs": sample_summary.with_costs,
    "60 classes": lambda: sample_summary.with_names([f"class {place}" for place in range(60)]),
    "numbers": sample_regression.houses,
    "numbers, hostile": sample_regression.hostile,
    "numbers, gap": sample_regression.with_gap,
    "shares": sample_regression.shares,
    "200 classes": lambda: sample_summary.with_names([f"class {place}" for place in range(200)]),
}


@pytest.mark.parametrize("make", SUMMARIES.values(), ids=SUMMARIES)
def test_every_page_is_well_formed_and_asks_for_nothing(make):
    page = render_page(make())
    outline = Outline(page)
    # elements are closed in order, ids are single, and what refers to one finds it
    assert outline.open == []
    ids = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [attributes["href"] for tag, attributes in outline.elements if tag == "a" and "download" not in attributes]
    assert {link.removeprefix("#") for link in links} <= set(ids)
    for tag, attributes in outline.elements:
        for name in ("for", "aria-labelledby", "aria-describedby"):
            assert name not in attributes or attributes[name] in ids
        # no element runs code or fetches something
        assert tag not in ("img", "object", "embed", "iframe", "form", "base")
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href", "xlink:href", "action", "data"):
            inside = ("#", "data:text/csv;") if "download" in attributes else ("#", "data:,")
            assert attributes.get(name, "#").startswith(inside)
    assert not re.search(r"@import|url\((?!#)", page.replace(html.escape("@import"), ""))
    # the only script is the one whose hash is in the policy
    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', page)
    rules = dict(rule.strip().split(" ", 1) for rule in html.unescape(policy).split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert "http" not in policy
    # what is drawn has a name, and no character is invisible
    for svg in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL):
        root = ElementTree.fromstring(svg)
        assert root.get("role") == "img"
        assert root.get("aria-label")
        assert root.find("title").text
        assert {each.tag for each in root.iter()} <= {
            *("svg", "title", "desc", "defs", "pattern", "rect", "path", "line", "circle", "text", "g")
        }
    assert all(character.isprintable() or character == "\n" for character in page)


def download(page: str) -> str | None:
    """The table that a page holds for download."""
    links = [attributes for tag, attributes in Outline(page).elements if tag == "a" and "download" in attributes]
    return base64.b64decode(links[0]["href"].partition(",")[2]).decode() if links else None


def test_rows_can_be_downloaded_with_all_columns():
    summary = sample_summary.digits()
    table = summary["suspects"]["table"]
    table["rows"][0][1:3] = ["=cmd()", "two\nlines"]
    header, first, *others = csv.reader(io.StringIO(download(render_page(summary))))
    assert header == table["columns"]
    assert first[:3] == [str(table["rows"][0][0]), "'=cmd()", "two\nlines"]
    assert [each[0] for each in others] == [str(each[0]) for each in table["rows"][1:]]
    table["rows"][0][1] = "x" * 50_000  # too much for a page
    assert download(render_page(summary)) is None
    assert download(render_page(sample_summary.bare())) is None


def test_the_answer_comes_first_and_all_parts_are_in_order():
    summary = sample_summary.digits()
    outline = Outline(render_page(summary))
    words = outline.words()
    order = [
        summary["title"],
        "Predicted digit (10 classes)",
        "From 300 rows, 6 columns, digits.csv",
        "Judged by error, the share of rows predicted wrongly",
        "nothing found Nothing suspicious was found. Not testable:",
        *summary["answer"],
        summary["goal"]["sentence"],
        "floor 1.1%, 95% range 0.41–1.9%",
        "Do next",
        summary["verdict"]["steps"][0]["sentence"],
        "The upper end of the range is never below",
        summary["findings"][0]["hint"],
        summary["curve"]["note"],
        "the share that models took for the other one",
        "Rows that models took for another class",
        summary["suspects"]["note"],
        summary["data"]["columns_note"],
        summary["data"]["cautions"][0],
        summary["data"]["notes"][0],
        summary["tree"]["note"],
        summary["tree"]["text"].splitlines()[0],
        summary["findings"][1]["hint"],  # of the spanning trees alone
        summary["learners"][0]["name"],
        summary["how_to_read"][0]["text"][:40],
        summary["command"],
        summary["created"],
    ]
    start = words.index("Skip to the answer")
    assert [part for part in order if part not in words[start:]] == []
    places = [words.index(part, start) for part in order]
    assert places == sorted(places)
    assert outline.tags().count("h1") == 1


def test_the_parts_of_a_page_on_numbers_are_in_order():
    summary = sample_regression.houses()
    (odd,), bins = summary["suspects"]["rows"], summary["noise"]["bins"]
    words = Outline(render_page(summary)).words()
    order = [
        "Predicted price (a number from 34,900 to 755,000)",
        *summary["answer"],
        summary["goal"]["sentence"],
        "ceiling 91.0%, 95% range 83.0–94.0%",
        "The lower end of the range is never above",
        "RMSE",
        summary["curve"]["note"],
        summary["noise"]["sentence"],
        written_range(bins[0]["low"], bins[0]["high"], is_rate=False),
        summary["noise"]["note"],
        summary["suspects"]["note"],
        f"price {odd['label']} where rows like it have {odd['neighbours_mean']:.3g}",
        f"{odd['score']:.1f} standard deviations above",
        summary["data"]["columns_note"],
        "size number, 240 values scaled",
        summary["findings"][0]["hint"],
        summary["learners"][0]["name"],
        summary["command"],
    ]
    start = words.index("Skip to the answer")
    assert [part for part in order if part not in words[start:]] == []
    places = [words.index(part, start) for part in order]
    assert places == sorted(places)


def test_findings_say_what_they_are_about_and_where_there_is_more():
    page = render_page(sample_summary.digits())
    assert '<span class="code" title="All rows are equal">BF005</span>' in page
    assert page.count("<code>bayesfloor explain BF005</code> says more.") == 1
    assert "bayesfloor explain BF003" not in page


def test_what_is_missing_leaves_no_trace():
    page = render_page(sample_regression.shares())
    present = set(re.findall(r'<section id="(\w+)"', page))
    assert present == {"answer", "floor", "curve", "noise", "suspects", "data", "details"}
    assert re.findall(r'<details id="(\w+)"', page) == ["reading", "again"]
    assert "None" not in Outline(page).words()
    page = render_page(sample_summary.bare())
    present = set(re.findall(r'<section id="(\w+)"', page))
    assert present == {"answer", "suspects", "data", "details"}  # of two classes, no tables and no tree
    assert re.findall(r'<details id="(\w+)"', page) == ["floor", "again"]
    outline = Outline(page)
    assert "None" not in outline.words()
    assert "No row looks like another class." in outline.words()
    assert "160 of 5,000 rows" in outline.words()
    assert not any("data-heat" in attributes for _, attributes in outline.elements)  # one pair needs no map


def test_a_verdict_is_a_badge_of_its_own():
    summary = sample_summary.digits()
    for verdict, look in {"feasible": "yes", "not feasible": "no", "undecided": "open"}.items():
        summary["goal"]["verdict"] = verdict
        assert f'<strong class="badge {look}">{verdict}</strong>' in render_page(summary)


@pytest.mark.parametrize(
    ("make", "known"),
    [
        (sample_summary.hostile, [sample_summary.digits, sample_summary.with_metrics]),
        (sample_regression.hostile, [sample_regression.houses]),
    ],
    ids=["classes", "numbers"],
)
def test_hostile_text_is_text(make, known):
    summary = make()
    outline = Outline(render_page(summary))
    assert set(outline.tags()) == {tag for each in known for tag in Outline(render_page(each())).tags()}
    words = outline.words()
    for name in sample_summary.HOSTILE:
        assert " ".join(visible(name).split()) in words
    assert "{{ 7 * 7 }}{% raw %}" in outline.text  # no template in a template
    text, markdown = render_text(summary), render_markdown(summary)
    assert "\x1b" not in text + markdown
    assert not any("<script" in line for line in markdown.splitlines() if not line.startswith("    "))  # else code


@settings(max_examples=5)
@given(st.text(max_size=40))
def test_any_name_comes_back_as_it_is(name):
    summary = sample_summary.bare()
    summary["title"] = name
    page = render_page(summary)
    page.encode("utf-8")
    (shown,) = re.findall(r"<h1>.*?<bdi[^>]*>(.*?)</bdi>", page)
    assert html.unescape(shown) == visible(name)


def test_pairs_are_all_there_and_the_rest_is_folded():
    summary = sample_summary.digits()
    page = render_page(summary)
    section = page[page.index('<section id="pairs"') : page.index('<section id="classes"')]
    before, after = section.split("<details", 1)
    pair = re.compile(r'<tr data-find="(\S+) (\S+)">')
    assert pair.findall(before) == [(row["first"], row["second"]) for row in summary["pairs"]["rows"][:FIRST_ROWS]]
    assert pair.findall(after) == [(row["first"], row["second"]) for row in summary["pairs"]["rows"][FIRST_ROWS:]]
    assert "The other 37 pairs" in section


@for_each(("name", "most"), [("digits", 200_000), ("60 classes", 300_000), ("200 classes", 300_000)])
def test_more_pairs_than_are_listed_is_said_and_a_page_stays_small(name, most):
    summary = SUMMARIES[name]()
    page = render_page(summary)
    n_pairs, n_classes = summary["pairs"]["n_pairs"], len(summary["classes"])
    assert n_pairs == n_classes * (n_classes - 1) // 2
    assert (f"The 100 hardest of {n_pairs:,} pairs; the JSON has 500." in page) == (n_classes >= 60)
    assert ("every two of the 40 hardest classes" in page) == (n_classes > 40)
    assert (f"The tree of the 40 hardest of {n_classes} classes" in page) == (n_classes > 40)
    assert (f"The 100 hardest of {n_classes} classes; the JSON has all." in page) == (n_classes > 100)
    assert len(page.encode()) < most


def test_rare_classes_come_before_the_curve_with_what_more_rows_would_bring():
    summary = sample_summary.with_rare_class()
    page = render_page(summary)
    section = page[page.index('<section id="rare"') : page.index('<section id="curve"')]
    outline = Outline(section)
    for text in ("65", "0.13%", "0.965", "0.941–0.979", "61.5%", "21.5%", "0.266"):
        assert text in outline.words()
    assert summary["rare"]["rows"][0]["needed"] in outline.words()
    assert 'id="rare"' not in render_page(sample_summary.digits())


def test_subgroups_have_a_table():
    summary = sample_summary.with_subgroups()
    page = render_page(summary)
    section = page[page.index('<section id="subgroups"') : page.index('<section id="curve"')]
    words = Outline(section).words()
    of_rows = [
        f"{each['name']} {each['n_rows']} {percent(each['share'])} {percent(each['share_of_errors'])}"
        for each in summary["subgroups"]["rows"]
    ]
    assert f"{of_rows[0]} 4.1% 3.3–5.4% " in words
    assert re.search(rf"{re.escape(of_rows[-1])} – \S+ too few 0–70.0%", words)
    assert all(each in words for each in of_rows)
    assert summary["subgroups"]["sentence"] in words
    assert summary["subgroups"]["note"] in words
    assert 'id="subgroups"' not in render_page(sample_summary.digits())


def test_columns_say_what_was_done_and_what_each_tells_alone():
    summary = sample_summary.made("mixed")
    first, *_, last = summary["data"]["columns"]
    (weight,) = (each for each in summary["data"]["columns"] if each["name"] == "weight")
    summary["suspects"] = sample_summary.digits()["suspects"]
    summary["suspects"]["columns"][:2] = [first["name"], "weight"]
    page = render_page(summary)
    section = page[page.index('<section id="data"') : page.index('<section id="details"')]
    words = Outline(section).words()
    tells = f"{percent(first['removed'])} {percent_range(first['low'], first['high'])}"
    assert f"{first['name']} number, {first['n_values']} values scaled {tells}" in words
    assert f"weight number, {weight['n_values']} values, {weight['n_missing']} missing scaled" in words
    assert f"patient id, 240 values {last['treatment']} –" in words
    assert summary["data"]["columns_note"] in words
    assert f"--to:{100 * first['removed']:.2f}%" in section
    # a column that is shown with the rows to look at leads there
    assert section.count('<a href="#suspects">') == 2
    plain = render_page(sample_summary.bare())
    assert "what was done" not in plain
    assert "tells alone" in plain


def test_heat_map_has_every_pair_once():
    pairs = sample_summary.digits()["pairs"]
    heat = heat_map(pairs)
    cells = {
        frozenset((row["name"], heat["columns"][place])): cell
        for row in heat["rows"]
        for place, cell in enumerate(row["cells"])
    }
    assert sum(len(row["cells"]) for row in heat["rows"]) == len(cells) == len(pairs["rows"]) == 45
    largest = pairs["rows"][0]["confused"]
    for row in pairs["rows"]:
        cell = cells[frozenset((row["first"], row["second"]))]
        assert (cell["rate"], cell["level"]) == (row["confused"], round(10 * row["confused"] / largest))
        lines = html.unescape(cell["tooltip"]).split("\n")
        assert lines[0] == f"{row['first']} against {row['second']}"
        assert lines[1:] == [f"{percent(row['confused'])} confused", f"{row['n_rows']} rows"]


def test_names_below_the_heat_map_are_turned_where_they_are_long():
    short, long = (["a", "b", "c"], ["ankle boot", "b", "c"])
    assert not heat_map(sample_summary.pairs_of(short))["is_turned"]
    assert heat_map(sample_summary.pairs_of(long))["is_turned"]


def test_classes_are_listed_with_what_models_take_them_for():
    summary = sample_summary.digits()
    words = Outline(render_page(summary)).words()
    for each in summary["classes"][:-1]:
        figures = f"{percent(each['missed'])} {each['taken_for'] or '–'} {percent(each['false_alarms'])}"
        assert f"{each['name']} {each['n_rows']} {figures}" in words


def test_heat_map_of_a_pair_that_is_not_listed_tells_what_is_known():
    pairs = sample_summary.digits()["pairs"]
    pairs["rows"] = pairs["rows"][:1]
    cells = [cell for row in heat_map(pairs)["rows"] for cell in row["cells"]]
    assert sorted(len(html.unescape(cell["tooltip"]).split("\n")) for cell in cells) == [2] * 44 + [3]


def test_levels():
    for value, largest, level in [(0.0, 0.5, 0), (0.5, 0.5, 10), (0.26, 0.5, 5), (None, 0.5, 0), (0.0, 0.0, 0)]:
        assert level_of(value, largest) == level


def test_values_that_differ_most_come_first():
    suspects = {
        "columns": ["small", "wide", "equal", "text"],
        "rows": [
            {"values": ["1", "0", "7", "red"], "other_values": ["2", "1", "7", "blue"]},
            {"values": ["1", "100", "7", "red"], "other_values": ["5", "0", "7", "red"]},
        ],
    }
    first, second = cards_of(suspects)
    # spreads are 4 and 100: in the first row 1/4 and 1/100 of them; text differs altogether
    assert [name for name, _, _ in first["first_values"]] == ["text", "small", "wide"]
    assert second["first_values"] == [("small", "1", "5"), ("wide", "100", "0")]
    assert (first["n_equal"], second["n_equal"]) == (1, 2)


def test_of_many_differing_values_most_are_counted():
    columns = [f"c{place}" for place in range(50)]
    row = {"values": ["0"] * 50, "other_values": ["1"] * 50}
    (prepared,) = cards_of({"columns": columns, "rows": [row]})
    assert len(prepared["first_values"]) + prepared["n_left_out"] == 50
    assert prepared["n_left_out"] == 46


def test_rows_that_are_equal_say_so():
    summary = sample_summary.digits()
    row = summary["suspects"]["rows"][0]
    row["other_values"] = list(row["values"])
    assert "no value shown differs" in render_page(summary)


def drawn(picture):
    return ElementTree.fromstring(str(picture))


def x_of(svg, class_):
    (mark,) = (each for each in svg.iter() if each.get("class") == class_)
    return float(mark.get("x1"))


def test_scale_is_linear_and_ends_at_the_majority():
    floor = sample_summary.digits()["floor"]
    floor |= {"estimate": 0.2, "low": 0.1, "high": 0.3, "baseline": 0.5}
    floor["reached"] = {"value": 0.4, "low": 0.35, "high": 0.45}
    svg = drawn(floor_scale(floor, 502.0))  # 500 pixels between margins of one
    assert x_of(svg, "floor-mark") == pytest.approx(1 + 500 * 0.2 / 0.5)
    assert x_of(svg, "mark") == pytest.approx(1 + 500 * 0.4 / 0.5)
    (solid,) = (each for each in svg.iter() if each.get("class") == "solid")
    assert float(solid.get("x")) + float(solid.get("width")) == pytest.approx(501)
    assert not [each for each in svg.iter() if each.get("class") == "lens"]


def test_scale_enlarges_what_would_be_too_small_to_see():
    svg = drawn(floor_scale(sample_summary.digits()["floor"], 502.0))
    # 0.0186 is the farthest figure, so that the bar ends at 1.25 times that, 0.023
    assert x_of(svg, "floor-mark") == pytest.approx(1 + 500 * 0.0108 / 0.023, abs=0.01)
    (lens,) = (each for each in svg.iter() if each.get("class") == "lens")
    assert float(lens.get("width")) == pytest.approx(500 * 0.023 / 0.8982, abs=0.01)


def test_scale_without_a_figure_is_not_drawn():
    for missing in ("estimate", "low", "high", "baseline"):
        floor = sample_summary.digits()["floor"] | {missing: None}
        assert floor_scale(floor, 500.0) is None
    assert render_page(sample_summary.digits() | {"floor": floor})


def test_curve_is_dashed_beyond_the_data_and_logarithmic():
    summary = sample_summary.digits()
    svg = drawn(learning_curve(summary["curve"], summary["floor"], 720.0))
    circles = [(float(each.get("cx")), float(each.get("cy"))) for each in svg.iter() if each.tag.endswith("circle")]
    assert len(circles) == 5
    # 225 → 449 and 449 → 898 are nearly the same factor
    steps = [circles[2][0] - circles[1][0], circles[3][0] - circles[2][0]]
    assert steps[0] == pytest.approx(steps[1], rel=0.01)
    ends = {
        each.get("class"): [float(place.split(" ")[0]) for place in each.get("d")[1:].split("L")]
        for each in svg.iter()
        if (each.get("class") or "").startswith("curve") and each.get("d")
    }
    assert max(ends["curve"]) <= circles[-1][0] <= max(ends["curve beyond"])
    assert "0.65 points left to win" in "".join(svg.itertext())


@for_each(("width", "error"), [(720.0, 0.0), (335.0, 1e-5), (720.0, 0.3), (335.0, 1.0)])
def test_any_curve_stays_within_its_picture(width, error):
    curve = {"points": [{"size": 10.0, "value": error}], "line": [], "limit": error, "low": error, "high": error}
    floor = sample_summary.digits()["floor"] | {"reached": {"value": error, "low": error, "high": error}}
    svg = drawn(learning_curve(curve, floor, width))
    height = float(svg.get("height"))
    for text in svg.iter("text"):
        assert 0 <= float(text.get("x")) <= width
        assert 0 <= float(text.get("y")) <= height
    (circle,) = svg.iter("circle")
    assert 0 < float(circle.get("cy")) < height
    assert "nan" not in str(learning_curve(curve, floor, width))


def test_scale_of_a_ceiling_is_mirrored():
    floor = sample_summary.with_metrics()["floor"]
    floor |= {"estimate": 0.8, "low": 0.7, "high": 0.9, "reached": {"value": 0.75, "low": 0.7, "high": 0.79}}
    svg = drawn(floor_scale(floor, 502.0))  # from 0.5, without features, to 1
    assert x_of(svg, "floor-mark") == pytest.approx(1 + 500 * (0.8 - 0.5) / 0.5)
    assert x_of(svg, "mark") == pytest.approx(1 + 500 * (0.75 - 0.5) / 0.5)
    (solid,) = (each for each in svg.iter() if each.get("class") == "solid")
    assert float(solid.get("x")) == pytest.approx(1)  # what needs no features is at the left
    texts = {each.text: float(each.get("x")) for each in svg.iter("text")}
    assert texts["without features 0.5"] < texts["1"]
    assert "ceiling 0.8, 95% range 0.7–0.9" in texts


def test_scale_of_a_high_ceiling_is_enlarged_at_the_right():
    svg = drawn(floor_scale(sample_summary.with_metrics()["floor"], 502.0))
    # 0.941 is the farthest from 1, so that the bar begins at 1 - 1.25 * 0.059, rounded to 0.074
    assert x_of(svg, "floor-mark") == pytest.approx(501 - 500 * (1 - 0.972) / 0.074, abs=0.01)
    (lens,) = (each for each in svg.iter() if each.get("class") == "lens")
    assert float(lens.get("width")) == pytest.approx(500 * 0.074 / 0.5, abs=0.01)
    assert float(lens.get("x")) + float(lens.get("width")) == pytest.approx(501)


def test_scale_of_costs_that_are_gains():
    floor = sample_summary.with_costs()["floor"]
    floor |= {"perfect": -4.0, "estimate": -2.0, "low": -3.0, "high": -1.0, "baseline": 0.0}
    floor["reached"] = {"value": -1.5, "low": -2.0, "high": -1.0}
    svg = drawn(floor_scale(floor, 502.0))
    assert x_of(svg, "floor-mark") == pytest.approx(1 + 500 * 2 / 4)
    assert "floor -2, 95% range -3 to -1" in [each.text for each in svg.iter("text")]


def test_curve_of_a_ceiling_rises_and_ends_at_1():
    summary = sample_summary.with_metrics()
    svg = drawn(learning_curve(summary["curve"], summary["floor"], 720.0))
    heights = [float(each.get("cy")) for each in svg.iter("circle")]
    assert heights == sorted(heights, reverse=True)
    texts = [each.text for each in svg.iter("text")]
    assert {"ceiling 0.972", "reached 0.965", "0.0067 left to win", "1"} <= set(texts)
    assert not any("%" in text for text in texts)


def test_curve_beyond_1_has_room_for_its_figures():
    summary = sample_summary.with_costs()
    summary["curve"]["points"][0]["value"] = 1_234_567.0
    svg = drawn(learning_curve(summary["curve"], summary["floor"], 335.0))
    marks = [each for each in svg.iter("text") if each.get("text-anchor") == "end" and "," in each.text]
    assert marks
    assert all(float(each.get("x")) >= 0.56 * 13 * len(each.text) for each in marks)


def test_metrics_are_listed_in_their_own_units():
    summary = sample_summary.with_metrics()
    page = render_page(summary)
    words = Outline(page).words()
    assert "ROC AUC larger is better 0.972 0.941–0.984 0.965 0.941–0.979 0.5" in words
    loss, _, error = summary["metrics"][1:]
    interval = written_range(loss["low"], loss["high"], is_rate=False)
    assert f"log-loss smaller is better {figure(loss['estimate'])} {interval}" in words
    assert f"error smaller is better {percent(error['estimate'])}" in words
    assert "above the ceiling" in words
    assert "Judged by ROC AUC, the chance that a row of a class is ranked above a row of another (larger" in words
    assert '<section id="floor">' in page
    # one metric is on the first screen, and the table a detail
    one = sample_summary.digits()
    one["metrics"] = [one["floor"]]
    assert '<details id="floor">' in render_page(one)


def test_costs_say_where_the_money_goes():
    page = render_page(sample_summary.with_costs())
    words = Outline(page[page.index('<section id="costs"') : page.index('<section id="curve"')]).words()
    assert "1 8 900 1.2% 10.8 80.0%" in words
    assert "2 2 right 900 1.2% -0.6 –" in words
    assert "7.3% of the rows are not decided." in words
    assert "Class weights" in words
    assert "1 1.75 8 0.25" in words
    summary = sample_summary.with_costs()
    summary["costs"]["class_weights"] = None
    assert "Class weights" not in render_page(summary)


def test_a_curve_without_points_is_not_drawn():
    summary = sample_summary.digits()
    summary["curve"]["points"] = []
    assert learning_curve(summary["curve"], summary["floor"], 720.0) is None
    assert '<section id="curve"' not in render_page(summary)


def test_fragment_is_one_element_that_holds_the_page():
    summary = sample_summary.hostile()
    fragment = render_page(summary, fragment=True)
    outline = Outline(fragment)
    assert outline.tags() == ["div", "iframe"]
    _, frame = outline.elements[1]
    assert frame["srcdoc"] == render_page(summary)
    assert frame["sandbox"] == "allow-scripts"  # not of the notebook's origin
    assert frame["title"]


def test_a_part_that_is_missing_is_an_error_and_a_summary_is_not_changed():
    summary = sample_summary.digits()
    render_page(summary)
    assert summary == sample_summary.digits()
    del summary["command"]
    with pytest.raises(Exception, match="command"):
        render_page(summary)


def test_figures_in_words():
    assert percent_range(None, 0.1) == "–"
    assert list(map(exact_percent, [0, 0.125, 1, 0.1 + 0.2, 0.999])) == ["0%", "12.5%", "100%", "30%", "99.9%"]
    assert counted(12345) == "12,345"
    assert counted(None) == "–"
    written = {0.0: "0", 1e-9: "1.00e-09", None: "–", 1.0: "1", 1.3: "1.3"}
    assert {number: figure(number) for number in written} == written
    assert [percent(rate) for rate in (0.0094, 0.00996, 0.9999, 1.3)] == ["0.94%", "1.0%", "99.99%", "130%"]
    assert written_range(0.9123, 0.9434, is_rate=False) == "0.912–0.943"
    assert written_range(-3.0, -1.5, is_rate=False) == "-3 to -1.5"
    assert written_range(0.9123, 0.9434, is_rate=True) == "91.2–94.3%"
    assert (difference(0.01234, is_rate=False), difference(0.01234, is_rate=True)) == ("0.012", "1.2 points")
    assert (chosen(0.125, is_rate=True), chosen(1234.5, is_rate=False)) == ("12.5%", "1,234.5")
    assert sorting_key(None) == ""
    assert float(sorting_key(0.1 + 0.2)) == 0.1 + 0.2


@given(st.text(max_size=80), st.integers(5, 60))
def test_shortened_names_keep_both_ends(name, longest):
    whole = visible(name)
    short = cut_middle(whole, longest)
    assert len(short) <= longest
    if len(whole) <= longest:
        assert short == whole
    else:
        head, tail = short.split("…") if short.count("…") == 1 else (short[:1], short[-1:])
        assert whole.startswith(head)
        assert whole.endswith(tail)


def test_style_and_script_are_plain():
    folder = files("bayesfloor.report.page").joinpath("templates")
    for name in ("report.css", "report.js"):
        text = folder.joinpath(name).read_text(encoding="utf-8")
        assert "</" not in text  # would end the element that holds it
        assert "http" not in text
        assert "\r" not in text
    assert "innerHTML" not in folder.joinpath("report.js").read_text(encoding="utf-8")
