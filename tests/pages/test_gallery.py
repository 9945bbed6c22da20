"""The gallery: each example runs without a warning, draws, and asks one question. Sphinx is not needed here."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from helpers.one_case import for_each

ROOT = Path(__file__).parents[2]
EXAMPLES = {path.stem: path for path in sorted((ROOT / "examples").glob("*/*.py"))}


def check_figure1(names):
    """The correction takes the bias away where classes coincide, and the estimate beats the bound where they do not."""
    corrected, uncorrected = (np.reshape(names["estimates"][kind], (2, -1)) for kind in (True, False))
    floor, bound = (np.reshape(values, (2, -1)) for values in names["truth"].values())
    priors = np.array(names["PRIORS"])
    assert floor[:, 0] == pytest.approx(priors)
    assert corrected[:, 0] == pytest.approx(priors, abs=0.01)
    assert (uncorrected[:, 0] > priors + 0.03).all()
    assert (np.abs(corrected - floor)[:, 1:] < (bound - floor)[:, 1:]).all()


def check_figure2(names):
    """The variance falls with the number of trees, and the first trees gain the most."""
    variance = np.array(list(names["variance"].values()))
    assert (variance[:, -1] < 0.9 * variance[:, 0]).all()
    gains = -np.diff(variance, axis=1).sum(axis=0)
    assert gains[:2].sum() > gains[4:].sum()


def check_time_drift(names):
    """The floor of the last rows follows the truth, which that of all rows does not."""
    everything, last = names["floors"].values()
    truth = norm.cdf(-0.5)  # of the last batch: the means are 1 apart
    assert names["now"][-1] == pytest.approx(truth)
    assert last[-1].interval[0] < truth + 0.03
    assert last[-1].estimate > everything[-1].interval[1] > everything[-1].estimate > everything[0].interval[1]


def check_suspicious_labels(names):
    is_changed = np.isin(names["suspects"]["row"], names["changed"])
    assert is_changed.sum() >= 8
    assert is_changed.mean() > 0.7


def check_single_linkage(names):
    assert names["same"]
    assert sorted(np.bincount(names["cluster"])) == [200, 300, 300]


def check_trust_known_floors(names):
    """At most one of eight 95% intervals misses."""
    within = [
        names["learned"][name].interval[0] <= truth <= names["learned"][name].interval[1]
        for name, (_, _, truth) in names["problems"].items()
    ]
    assert sum(within) >= 7


def check_patients(names):
    alone, together = names["floors"].values()
    assert alone.interval[1] < names["truth"] < together.interval[1]


def check_merge_classes(names):
    hardest = [{pair.first, pair.second} for pair in names["pairs"].hardest(2)]
    assert hardest == [{"crack", "hairline"}, {"dust", "stain"}]


def check_drift(names):
    """Regions and gaps moved as they were drawn, age and visits did not; and so did labels given the columns."""
    found = names["found"]
    assert set(found.moved) == {"region", "income"}
    assert found.verdict == "both"
    assert {level.level for level in found.levels} == {"north", "east"}


def check_take_home(names):
    """What was stated holds on new rows, and the stack beats boosting."""
    low, high = names["stated"].interval
    assert low < names["fresh"] < high
    assert names["floor"].interval[0] < 0.05 < names["fresh"] < names["boosting"] - 0.01


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_it_runs_and_draws(name, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    monkeypatch.setattr(pyplot, "show", lambda: None)  # which warns where a screen is there and is not used
    names = {"__name__": "__main__"}
    try:
        exec(compile(EXAMPLES[name].read_text(encoding="utf-8"), f"{name}.py", "exec"), names)
        assert pyplot.get_fignums()
        for number in pyplot.get_fignums():
            pyplot.figure(number).canvas.draw()
        check = globals().get(name.replace("plot", "check", 1))
        if check is not None:
            check(names)
    finally:
        pyplot.close("all")


@for_each("name", EXAMPLES)
def test_it_asks_one_question_and_says_what_to_do_next(name):
    text = EXAMPLES[name].read_text(encoding="utf-8")
    title, underline, blank, *rest = ast.get_docstring(ast.parse(text)).splitlines()
    assert title.endswith("?")
    assert underline == len(title) * "="
    assert (blank, bool(rest)) == ("", True)
    assert text.count("\n# What to do next\n# ---------------\n") == 1
    assert text.count("plt.show()") == 1
    code = [line for line in text[text.index('"""\n', 4) :].splitlines()[1:] if line.strip() and line[0] != "#"]
    assert 5 < len(code) <= 60


@for_each("name", EXAMPLES)
def test_its_links_lead_somewhere(name):
    text = EXAMPLES[name].read_text(encoding="utf-8")
    pages = re.findall(r":doc:`/(\w+)`", text)
    assert pages
    assert all((ROOT / "docs" / f"{page}.md").is_file() for page in pages)
    targets = re.findall(r"sphx_glr_gallery_(\w+?)_(plot_\w+)\.py", text)
    labels = {f"sphx_glr_gallery_{path.parent.name}_{path.name}" for path in EXAMPLES.values()}
    assert set(re.findall(r":ref:`([^`]+)`", text)) <= labels
    assert len(targets) == text.count(":ref:")


def test_it_is_in_the_gallery():
    """Sphinx-gallery runs files of this name, in folders with a heading, in the order of the settings."""
    checked = {name.replace("check", "plot", 1) for name in globals() if name.startswith("check_")}
    assert checked <= EXAMPLES.keys()
    folders = {path.parent.name for path in EXAMPLES.values()}
    assert all(name.startswith("plot_") for name in EXAMPLES)
    assert all((ROOT / "examples" / folder / "GALLERY_HEADER.rst").is_file() for folder in folders)
    settings = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    ((listed,),) = [re.findall(r'"subsection_order": .* in \((.*)\)\]', settings)]
    assert set(re.findall(r'"(\w+)"', listed)) == folders
