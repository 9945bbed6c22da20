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

ROOT = Path(__file__).resolve().parents[3]
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.md"))}
PYTHON = re.compile(r"```python\n(.*?)```", flags=re.DOTALL)
PRINTED = re.compile(r"```text\n(.*?)```", flags=re.DOTALL)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
TRAINS = re.compile(r"\b(learned_floor|regression_floor|difficulty_report|floor_gap|drift|compare_features)\(")


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


def test_every_page_has_its_sections():
    for code, page in PAGES.items():
        assert re.match(rf"# {code}: [A-Z].+[^.]\n\n", page), code
        assert tuple(re.findall(r"^## (.+)$", page, flags=re.MULTILINE)) == SECTIONS, code
        assert all(finding_sections(code).values()), code
        assert len(PYTHON.findall(finding_sections(code)["example"])) == 1, code
        assert page.endswith("\n"), code
        assert max(map(len, page.splitlines())) <= 120, code


def headings_of(path):
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line[:1] == "#"]
    return {re.sub(r"[^\w\- ]", "", line.strip("# ").lower()).replace(" ", "-") for line in lines}


def test_what_pages_name_is_there():
    missing = [(code, named) for code in PAGES for named in set(re.findall(r"BF\d{3}", PAGES[code])) - set(PAGES)]
    known = {}
    for code, page in PAGES.items():
        links = re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", page)
        assert links, code
        for link, anchor in links:
            path = (FOLDER / link).resolve()
            if not path.is_file():
                missing.append((code, link))
            elif anchor:
                known[path] = known.get(path) or headings_of(path)
                missing += [(code, link, anchor)] * (anchor not in known[path])
    assert missing == []


def trains_models(code):
    return TRAINS.search(finding_sections(code)["example"]) is not None


def what_is_wrong(code):
    """What the example of a page prints is what the page shows: nothing is wrong, or a sentence."""
    example = finding_sections(code)["example"]
    (source,), (shown,) = PYTHON.findall(example), PRINTED.findall(example)
    printed = run(source, {"__name__": "__main__"})
    if not re.search(rf"^{code}: ", printed, flags=re.MULTILINE):
        return f"{code} is not triggered"
    # the page breaks lines; where models were trained, figures may depend a little on the machine
    printed, shown = (" ".join(text.split()) for text in (printed, shown))
    figures = [[float(number) for number in NUMBER.findall(text)] for text in (printed, shown)]
    same_words = NUMBER.split(printed) == NUMBER.split(shown)
    return "" if same_words and figures[0] == pytest.approx(figures[1], rel=0.1, abs=0.03) else f"{code}: {printed}"


def test_examples_trigger_the_findings():
    found = [what_is_wrong(code) for code in PAGES if not trains_models(code)]
    assert len(found) >= 20
    assert not any(found), found


@pytest.mark.limits(repeats=10, curve_detail=1.0)
@pytest.mark.slow
@pytest.mark.parametrize("code", [code for code in PAGES if trains_models(code)])
def test_examples_that_train_models_trigger_the_findings(code):  # pages show what a user gets
    assert what_is_wrong(code) == ""


@pytest.mark.limits(repeats=10, curve_detail=1.0)
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
