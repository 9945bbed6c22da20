"""Every figure of the README and of the guide is made by code: a block of its page, a benchmark, or a setting.

A figure is a fraction, a percentage, or a count such as "295 of 300". It must stand

- in a block that is run and compared: test_examples.py does that, and cli/test_guide.py and cli/test_page.py; or
- on a page of benchmarks/results that the page names, by itself or by the script that makes it; or
- in a test that the page names, which asserts it; or
- in `SETTINGS`: what the library is set to, or an example is about.
"""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from bayesfloor.report.sections import answer

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGES = {
    page.name: page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
#: Blocks that are run, and what they print.
RUN = re.compile(r"```python\n.*?```(?:\s*```text\n.*?```)?|```(?:console|csv|sh)\n.*?```", flags=re.DOTALL)
#: Code, and addresses of links.
NO_PROSE = re.compile(r"`[^`\n]*`|\]\([^)]*\)|<!--.*?-->")
FIGURE = re.compile(r"(?<![\w.,^])(?<!\d )(?:\d+ of \d+(?: \d{3})*|\d*\.\d+%?|\d+%)(?![\w.]*\w)")
NUMBER = re.compile(r"(?<![\w.])\d*\.?\d+")
SCRIPT_AND_PAGE = re.compile(r"^\| ((?:`[\w/]+\.py`|[^|`])+)\| ((?:`results/\w+\.md`|[^|`])+)\|", flags=re.MULTILINE)


def pages_of_scripts():
    """Pages of results by the script that makes them, as benchmarks/README.md lists both."""
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    return {
        script: re.findall(r"results/(\w+\.md)", pages)
        for scripts, pages in SCRIPT_AND_PAGE.findall(text)
        for script in re.findall(r"`([\w/]+)\.py`", scripts)
    }


def sources_of(page):
    """The text that figures of a page may come from."""
    text, made = PAGES[page], pages_of_scripts()
    scripts = [name.replace(".", "/") for name in re.findall(r"benchmarks[/.](\w+[/.]\w+)", text)]
    named = {*re.findall(r"results/(\w+\.md)", text), *(each for script in scripts for each in made.get(script, ()))}
    files = [RESULTS / name for name in sorted(named)]
    if "benchmarks.study" in text:
        files += sorted((RESULTS / "study" / "tables").glob("*.md"))
    files += [ROOT / name for name in re.findall(r"\btests/[\w/]+\.py", text)]
    return "\n".join([*RUN.findall(text), *(file.read_text(encoding="utf-8") for file in files)])


def figures_of(text):
    """Figures outside of blocks that are run, and of inline code."""
    return FIGURE.findall(NO_PROSE.sub(" ", RUN.sub("", text)))


def stands_in(figure, source):
    """Tell whether a figure is one of a text's, rounded to as many digits; .02, 0.0198 and 2% are the same."""
    numbers = set(map(Decimal, NUMBER.findall(source)))
    if " of " in figure:
        part, whole = figure.split(" of ")
        if re.search(rf"(?<![\d.]){part} of {whole}(?!\d)", source):
            return True
        share = 100 * Decimal(part) / Decimal(whole.replace(" ", ""))
        return Decimal(whole.replace(" ", "")) in numbers and bool({round(share), round(share, 1)} & numbers)
    value = Decimal(figure.rstrip("%"))
    half = Decimal(5).scaleb(value.as_tuple().exponent - 1)
    return any(abs(number.scaleb(power) - value) <= half for number in numbers for power in (0, 2, -2))


#: Figures that are no results: what the library is set to, as its own constants have it, and what an example is about.
SETTINGS = {
    "getting_started.md": {"3.11": "the lowest version of Python, which test_project.py knows"},
    "integrations.md": {"1.9": "a version of scikit-learn"},
    "reading_a_report.md": {f"{answer.NEARLY_ALL:.0%}": "share of the stack's lead from which a model is good"},
    "regression_report.md": {"60%": "a target, as an example", "100%": "the largest R²"},
    "scale.md": {".99": "a recall, as an example"},
}


@pytest.mark.parametrize("page", PAGES)
def test_figures_are_made_by_code(page):
    source, settings = sources_of(page), SETTINGS.get(page, {})
    found = figures_of(PAGES[page])
    assert [figure for figure in found if figure not in settings and not stands_in(figure, source)] == []
    assert set(settings) <= set(found)  # a setting that is said no more leaves this list


def test_the_comparison_can_fail():
    source = "held 0.0198 of them, 98.3%, 59 of 60 samples, 295 | 100%"
    for figure in (".0198", ".02", "2%", "1.98%", "98.3%", "59 of 60", "295 of 295"):
        assert stands_in(figure, source), figure
    for figure in (".0197", "2.1%", "98.4%", "58 of 60", "59 of 61"):
        assert not stands_in(figure, source), figure
    text = (
        "`0.5`\n```python\n0.25\n```\n```text\n0.3\n```\n```text\n0.35\n```\n.75, 3 of 4, 12% [x](a_0.1.md) 10 000 of 2"
    )
    assert figures_of(text) == ["0.35", ".75", "3 of 4", "12%"]
    assert sum(len(figures_of(text)) for text in PAGES.values()) > 500
