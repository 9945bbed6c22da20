"""Every figure of the README and of the guide is made by code: a block of its page, a benchmark, or a setting.

A figure is a fraction, a percentage, or a count such as "295 of 300". It must stand

- in a block that is run and compared: test_examples.py does that, and cli/test_guide.py and cli/test_page.py; or
- on a page of benchmarks/results that the same section names, by itself or by the script that makes it; or
- in a test that the section names, which asserts it, or in a module that it names, which has it as a constant; or
- in `SETTINGS`: what the library is set to, or an example is about.
"""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from bayesfloor.floor.learned import findings
from bayesfloor.report.sections import answer

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "bayesfloor"
RESULTS = ROOT / "benchmarks" / "results"
PAGES = {
    page.name: page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
#: Blocks that are run, and what they print.
RUN = re.compile(r"```python\n.*?```(?:\s*```text\n.*?```)?|```(?:console|csv|sh)\n.*?```", flags=re.DOTALL)
#: Code, and addresses of links.
NO_PROSE = re.compile(r"`[^`\n]*`|\]\([^)]*\)|<!--.*?-->")
FIGURE = re.compile(r"(?<![\w.,^])(?<!\d )(?:\d+ of \d+(?: \d{3})*|\d*\.\d+%?|\d+%)(?![\w.]*\w)")
NUMBER = re.compile(r"(?<![\w.])\d*\.?\d+%?")
SCRIPT_AND_PAGE = re.compile(r"^\| ((?:`[\w/]+\.py`|[^|`])+)\| ((?:`results/\w+\.md`|[^|`])+)\|", flags=re.MULTILINE)


def pages_of_scripts():
    """Pages of results by the script that makes them, as benchmarks/README.md lists both."""
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    return {
        script: re.findall(r"results/(\w+\.md)", pages)
        for scripts, pages in SCRIPT_AND_PAGE.findall(text)
        for script in re.findall(r"`([\w/]+)\.py`", scripts)
    }


def sections_of(page):
    """The parts of a page, each with the text that its figures may come from."""
    run = RUN.findall(PAGES[page])
    if page == "study.md":  # all of it is about these tables
        run += [table.read_text(encoding="utf-8") for table in sorted((RESULTS / "study" / "tables").glob("*.md"))]
    for section in re.split(r"^(?=## )", PAGES[page], flags=re.MULTILINE):
        yield section, "\n".join([*run, *named_in(section)])


def named_in(text):
    """Texts of the pages of results, scripts, tests and modules that a part of a page names."""
    made = pages_of_scripts()
    scripts = {name.replace(".", "/") for name in re.findall(r"benchmarks[/.](\w+[/.]\w+)", text)} & set(made)
    results = {*re.findall(r"results/(\w+\.md)", text), *(page for script in scripts for page in made[script])}
    files = [RESULTS / name for name in results] + [ROOT / "benchmarks" / f"{script}.py" for script in scripts]
    files += [ROOT / name for name in re.findall(r"\btests/[\w/]+\.py", text)]
    files += [file for name in re.findall(r"`([\w/]+\.py)`", text) if (file := PACKAGE / name).is_file()]
    for file in files:
        found = file.read_text(encoding="utf-8")
        # where a page says that its errors are in percent, they have no sign
        yield found if "percent" not in found else found + re.sub(r"\d\.\d+(?![%\d])", r"\g<0>% ", found)


def figures_of(text):
    """Figures outside of blocks that are run, and of inline code."""
    return FIGURE.findall(NO_PROSE.sub(" ", RUN.sub("", text)))


def stands_in(figure, source):
    """Tell whether a figure is one of a text's, rounded to as many digits; .02, 0.0198 and 2% are the same."""
    texts = NUMBER.findall(source)
    if " of " in figure:
        part, whole = figure.split(" of ")
        if re.search(rf"(?<![\d.]){part} of {whole}(?!\d)", source):
            return True
        if any({part, whole} <= set(NUMBER.findall(line)) for line in source.splitlines()):  # a row of a table
            return True
        share = 100 * Decimal(part) / Decimal(whole.replace(" ", ""))
        return whole.replace(" ", "") in texts and bool({f"{share:.0f}%", f"{share:.1f}%"} & set(texts))
    value, unit = valued(figure)
    return any(abs(valued(text)[0] - value) <= unit / 2 for text in set(texts))


def valued(text):
    """The value of a number, and that of its last digit; a percentage is a fraction."""
    number = Decimal(text.rstrip("%"))
    power = number.as_tuple().exponent - (2 if text.endswith("%") else 0)
    return number.scaleb(-2) if text.endswith("%") else number, Decimal(1).scaleb(power)


#: Figures that are no results: what the library is set to, as its own constants have it, and what an example is about.
SETTINGS = {
    "README.md": {"3.11": "the lowest version of Python", "5%": "a target, as an example"},
    "faq.md": {
        "95%": "the default confidence",
        "1%": "a rare class, as an example",
        "100%": "hopeless",
        "0.95": "an AUC",
    },
    "study.md": {"80%": "share of the rows to train on", "2.5": "minutes after which a fit was given up"},
    "votes.md": {"91%": "an agreement, as an example"},
    "getting_started.md": {"3.11": "the lowest version of Python, which test_project.py knows"},
    "integrations.md": {"1.9": "a version of scikit-learn"},
    "reading_a_report.md": {
        f"{answer.NEARLY_ALL:.0%}": "share of the stack's lead from which a model is good",
        f"{findings.STILL_FALLING:.0%}": "share of what was reached by which the curve ends lower",
    },
    "regression_report.md": {"60%": "a target, as an example", "100%": "the largest R²"},
    "scale.md": {
        ".99": "a recall, as an example",
        "1%": "what that recall leaves",
        "5%": "a floor, as an example",
        "0.04": "its sampling error in points: 1.96 √(0.05 · 0.95 / 10⁶)",
        "0.6": "a setting of Dask",
        "2.1": "the largest number of 32 bits, in thousands of millions",
    },
}


@pytest.mark.parametrize("page", PAGES)
def test_figures_are_made_by_code(page):
    settings = SETTINGS.get(page, {})
    found = [(figure, source) for section, source in sections_of(page) for figure in figures_of(section)]
    assert [figure for figure, source in found if figure not in settings and not stands_in(figure, source)] == []
    assert set(settings) <= {figure for figure, _ in found}  # a setting that is said no more leaves this list


def test_the_comparison_can_fail():
    source = "held 0.0198 of them, 98.3%, 59 of 60 samples, 295 | 100%\n| 3479 | 7 |\n| 3480 |"
    for figure in (".0198", ".02", "2%", "1.98%", "98.3%", "59 of 60", "295 of 295", "7 of 3479"):
        assert stands_in(figure, source), figure
    for figure in (".0197", "2.1%", "98.4%", "58 of 60", "59 of 61", "7 of 3480"):
        assert not stands_in(figure, source), figure
    text = (
        "`0.5`\n```python\n0.25\n```\n```text\n0.3\n```\n```text\n0.35\n```\n.75, 3 of 4, 12% [x](a_0.1.md) 10 000 of 2"
    )
    assert figures_of(text) == ["0.35", ".75", "3 of 4", "12%"]
    assert sum(len(figures_of(text)) for text in PAGES.values()) > 500
