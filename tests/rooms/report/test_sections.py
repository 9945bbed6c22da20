"""Sections: a terminal, Markdown and the page show the same ones, in one order and under the same headings."""

import re

import pytest

from bayesfloor.report.blocks import Block, Lines, TextTable
from bayesfloor.report.page.page import render_page
from bayesfloor.report.sections import sections_for, sections_shown
from bayesfloor.report.sections.notes import Again, model_call
from bayesfloor.report.text import render_markdown, render_text
from helpers import sample_regression, sample_summary
from helpers.outline import Outline

SUMMARIES = {
    **{name: getattr(sample_summary, name) for name in ("digits", "bare", "with_rare_class", "with_subgroups")},
    **{name: getattr(sample_summary, name) for name in ("with_metrics", "with_costs", "with_gap")},
    **{name: getattr(sample_regression, name) for name in ("houses", "shares")},
}


@pytest.mark.parametrize("make", SUMMARIES.values(), ids=SUMMARIES)
def test_every_form_shows_the_same_sections(make):
    summary = make()
    page, markdown = render_page(summary), re.findall(r"^## (.*)$", render_markdown(summary), flags=re.MULTILINE)
    on_page = [Outline(heading).words() for heading in re.findall(r"<h2>.*?</h2>", page)]
    in_contents = re.findall(r'<li><a href="#\w+">(.*?)</a></li>', page)
    shown = [each for each in sections_shown(summary) if each.title]
    assert (
        in_contents == on_page == [*(each.heading(summary) for each in shown if not each.is_folded(summary)), "Details"]
    )
    folded = [each.heading(summary) for each in shown if each.is_folded(summary)]
    assert re.findall(r'<details id="\w+"><summary>(.*?)</summary>', page) == folded
    lines = render_text(summary, 200).splitlines()
    on_terminal = [line for before, line in zip(["", *lines], lines, strict=False) if not before and line in on_page]
    assert on_terminal == [heading for heading in on_page if heading in on_terminal]
    assert markdown == [heading for heading in on_page if heading in markdown]
    in_details = re.findall(r"^### (.*)$", render_markdown(summary).partition("## Details")[2], flags=re.MULTILINE)
    assert in_details == [heading for heading in folded if heading in in_details]
    assert not set(lines) & set(folded)  # a terminal shows no details
    assert set(on_terminal) <= set(markdown)
    assert len(on_terminal) >= 2


def test_the_task_decides_which_sections_there_are():
    classes, numbers = ([each.key for each in sections_for(task)] for task in ("classification", "regression"))
    assert len(set(classes)) == len(classes)
    assert set(numbers) - set(classes) == {"noise"}
    assert {"rare", "costs", "subgroups", "classes", "pairs", "tree"} == set(classes) - set(numbers)
    # both are one list, without what the other has alone
    both = [key for key in classes if key in numbers]
    assert both == [key for key in numbers if key in classes]


@pytest.fixture
def shown(monkeypatch):
    """Render some blocks as the only section of a report."""

    class Only:
        title = "Only"

        def __init__(self, *blocks):
            self.blocks = list(blocks)

        def heading(self, summary):
            return self.title

        def is_folded(self, summary):
            return False

        def text(self, summary):
            return self.blocks

    def show(render, *blocks):
        monkeypatch.setattr("bayesfloor.report.text.sections_shown", lambda summary: [Only(*blocks)])
        return render({"title": "t"})

    return show


def test_a_terminal_shows_fewer_rows_and_leaves_out_a_column(shown):
    rows = [(f"c{place}", "7", "0–1%") for place in range(30)]
    table = TextTable(("name", "rows", "range"), rows, n_rows=45, wide_only="range")
    text, markdown = shown(render_text, table), shown(render_markdown, table)
    assert "range" not in text
    assert "range" in markdown
    assert ("c7" in text, "c8" in text, "c19" in markdown, "c20" in markdown) == (True, False, True, False)
    assert "37 more are in the HTML page and the JSON." in text
    assert "25 more are in the HTML page and the JSON." in markdown
    whole = TextTable(("name", "rows", "range"), rows, is_whole=True)
    for render in (render_text, render_markdown):
        assert "c29" in shown(render, whole)
        assert "more" not in shown(render, whole)


def test_a_block_may_be_for_one_form_alone(shown):
    block = Lines(["as it is"], only="markdown")
    assert "    as it is" in shown(render_markdown, block)
    assert shown(render_text, block) == "t"  # nor is there a heading over nothing


def test_long_trees_are_cut_on_a_terminal(shown):
    text = shown(render_text, Lines([f"line {place}" for place in range(50)]))
    assert "line 39" in text
    assert "line 40" not in text
    assert text.endswith("... and 10 more lines")


def test_a_block_that_markdown_does_not_know_is_an_error(shown):
    with pytest.raises(TypeError, match="Markdown has no Block"):
        shown(render_markdown, Block())


def test_a_report_says_what_trains_the_models_that_it_tried():
    report = "bayesfloor report 'my data.csv' --metric roc_auc --target kind --drop a b --by a --seed 0"
    fit = "bayesfloor fit 'my data.csv' --target kind --drop a b --seed 0 --model stack --out model.skops"
    for command, task, expected in [
        (report, "classification", fit),
        ("difficulty_report(X, y)", "classification", "StackedClassifier().fit(X, y)"),
        ("difficulty_report(X, y, metric='mae')", "regression", "StackedRegressor().fit(X, y)"),
    ]:
        summary = {"command": command, "task": task, "learners": [{"name": "LDA", "weight": 1.0}], "version": "0"}
        assert model_call(summary) == expected
        assert Again().text(summary)[-1].lines == [expected]
        assert Again().drawn(summary) == {"model_call": expected}
