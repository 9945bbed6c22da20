"""Every finding has a page, and the example on it triggers it."""

import contextlib
import io
import re
from pathlib import Path

import pytest

import bayesfloor
from bayesfloor.results import Finding
from bayesfloor.runtime.findings import (
    FOLDER,
    SECTIONS,
    finding_codes,
    finding_page,
    finding_sections,
    finding_title,
)

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.md"))}
PYTHON = re.compile(r"```python\n(.*?)```", flags=re.DOTALL)
PRINTED = re.compile(r"```text\n(.*?)```", flags=re.DOTALL)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
# These train all models of a report.
SLOW = {"BF034", "BF035", "BF036", "BF042"}


def codes_in_source():
    sources = Path(bayesfloor.__file__).parent.rglob("*.py")
    return {code for source in sources for code in re.findall(r'"(BF\d{3})"', source.read_text(encoding="utf-8"))}


def run(source, namespace):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(source, "example", "exec"), namespace)
    return output.getvalue()


def test_every_code_has_a_page_and_every_page_a_code():
    assert set(PAGES) == set(finding_codes()) == codes_in_source()


@pytest.mark.parametrize("code", PAGES)
def test_a_page_has_its_sections(code):
    page = PAGES[code]
    assert re.match(rf"# {code}: [A-Z].+[^.]\n\n", page)
    assert tuple(re.findall(r"^## (.+)$", page, flags=re.MULTILINE)) == SECTIONS
    assert all(finding_sections(code).values())
    assert len(PYTHON.findall(finding_sections(code)["example"])) == 1
    assert page.endswith("\n")
    assert max(map(len, page.splitlines())) <= 120


@pytest.mark.parametrize("code", PAGES)
def test_what_a_page_names_is_there(code):
    assert set(re.findall(r"BF\d{3}", PAGES[code])) <= set(PAGES)
    links = re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", PAGES[code])
    assert links
    for link, anchor in links:
        text = (FOLDER / link).resolve().read_text(encoding="utf-8")
        headings = [re.sub(r"[^\w\- ]", "", line.strip("# ").lower()) for line in text.splitlines() if line[:1] == "#"]
        assert not anchor or anchor in [heading.replace(" ", "-") for heading in headings]


@pytest.mark.limits(repeats=10)
@pytest.mark.parametrize("code", [pytest.param(code, marks=pytest.mark.slow if code in SLOW else ()) for code in PAGES])
def test_the_example_triggers_the_finding(code):  # pages show what a user gets
    example = finding_sections(code)["example"]
    (source,), (shown,) = PYTHON.findall(example), PRINTED.findall(example)
    printed = run(source, {"__name__": "__main__"})
    assert re.search(rf"^{code}: ", printed, flags=re.MULTILINE)
    # the page breaks lines; where models were trained, figures may depend a little on the machine
    printed, shown = (" ".join(text.split()) for text in (printed, shown))
    assert NUMBER.split(printed) == NUMBER.split(shown)
    figures = [[float(number) for number in NUMBER.findall(text)] for text in (printed, shown)]
    assert figures[0] == pytest.approx(figures[1], rel=0.1, abs=0.03)


@pytest.mark.limits(repeats=10)
@pytest.mark.slow
@pytest.mark.parametrize("code", [code for code in PAGES if len(PYTHON.findall(PAGES[code])) > 1])
def test_what_to_do_runs_after_the_example(code):
    namespace = {"__name__": "__main__"}
    for source in PYTHON.findall(PAGES[code]):
        run(source, namespace)


def test_the_documentation_lists_each_page_with_its_title():
    index = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[(BF\d{3})\]\((.+)\): (.+)$", index, flags=re.MULTILINE)
    assert sorted(code for code, _, _ in listed) == list(PAGES)
    for code, link, title in listed:
        assert (ROOT / "docs" / link).resolve() == FOLDER / f"{code}.md"
        assert title == finding_title(code)


def test_a_finding_explains_itself():
    finding = Finding("BF006", "1 feature is constant: 'unit'.", "Drop it.")
    assert finding.title == "Constant features"
    assert finding.explain() == finding_page("BF006")
    assert finding.explain().startswith("# BF006: Constant features\n")
    assert "From a file to X and y (docs/data.md)" in finding.explain()
    assert Finding("BF999", "", "").title == ""
