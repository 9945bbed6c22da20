"""Every figure of the README and of the guide is a number of a named line that code has made.

A figure is a fraction, a percentage, or a count such as "295 of 300". Where each comes from stands in
`tests/figure_sources`, as `sourced_figures` has it; both are compared, to the last digit that the figure shows. It is

- a block of the page that is run and compared: test_examples.py does that, and cli/test_guide.py and cli/test_page.py;
- a page of benchmarks/results that the same section names, by itself or by the script that makes it;
- a test that the section names, which asserts it, or a module that it names, which has it as a constant; or
- one of `SETTINGS`: what the library is set to, or an example is about.

After figures were changed, ``BAYESFLOOR_UPDATE_PAGES=1 python -m pytest -n 0 tests/test_doc_figures.py`` finds
sources for those that are new. Look at what it writes: another number may be the same by chance. A "?" is a figure
without a source.
"""

import os
from decimal import Decimal

from bayesfloor.floor.learned import findings
from bayesfloor.report import verdict
from bayesfloor.report.sections import answer
from helpers.one_case import for_each
from helpers.sourced_figures import (
    PAGES,
    SETTING,
    SOURCES,
    Sourced,
    figures_of,
    is_made_of,
    problem_with,
    propose,
    sections_of,
)

UPDATES = bool(os.environ.get("BAYESFLOOR_UPDATE_PAGES"))
#: Figures that are no results: what the library is set to, as its own constants have it, and what an example is about.
SETTINGS = {
    "README.md": {"3.11": "the lowest version of Python", "5%": "a target, as an example"},
    "faq.md": {"95%": "the default confidence", "1%": "a rare class, as an example", "100%": "hopeless"},
    "study.md": {"80%": "share of the rows to train on", "2.5": "minutes after which a fit was given up"},
    "votes.md": {"91%": "an agreement, as an example"},
    "getting_started.md": {"3.11": "the lowest version of Python, which test_project.py knows"},
    "integrations.md": {"1.9": "a version of scikit-learn"},
    "reading_a_report.md": {
        f"{answer.NEARLY_ALL:.0%}": "share of the stack's lead from which a model is good",
        f"{findings.STILL_FALLING:.0%}": "share of what was reached by which the curve ends lower",
        f"{verdict.WORTH:.0%}": "share of what there was that may be left where a report says stop",
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


def stored(page):
    """Return the sources of the figures of a page, section by section."""
    path = SOURCES / f"{page.removesuffix('.md')}.tsv"
    if not path.exists():
        return [[] for _ in sections_of(page)]
    parts = path.read_text(encoding="utf-8").split("\n## ")[1:]
    return [[Sourced.read(line) for line in part.splitlines()[1:] if line] for part in parts]


def write(page, sourced):
    """Write the sources of a page under the headings of its sections."""
    headings = [section.partition("\n")[0].strip("# ") for section in sections_of(page)]
    parts = [
        "\n".join([f"## {heading}", *(each.written() for each in of)])
        for heading, of in zip(headings, sourced, strict=True)
    ]
    (SOURCES / f"{page.removesuffix('.md')}.tsv").write_text("\n" + "\n\n".join(parts) + "\n", encoding="utf-8")


def problems(page, sourced):
    """Say what is wrong with the figures of a page, each with its section."""
    settings = SETTINGS.get(page, {})
    sections = sections_of(page)
    if len(sourced) != len(sections):
        return [f"{len(sections)} sections, and sources for {len(sourced)}"]
    found = []
    for section, of_section in zip(sections, sourced, strict=True):
        heading, figures = section.partition("\n")[0].strip("# "), figures_of(section)
        known = [each.figure for each in of_section]
        if figures != known:
            place = next(
                (k for k, (a, b) in enumerate(zip(figures, known, strict=False)) if a != b),
                min(len(figures), len(known)),
            )
            found.append(f"{heading}: {figures[place : place + 3]} on the page, sources of {known[place : place + 3]}")
            continue
        for each in of_section:
            problem = problem_with(page, section, each, settings)
            if problem is not None:
                found.append(f"{heading}: {each.figure} {problem}")
    return found


@for_each("page", PAGES)
def test_figures_are_made_by_code(page):
    sourced = stored(page)
    if UPDATES and any(figures_of(section) for section in sections_of(page)):
        sourced = list(propose(page, SETTINGS.get(page, {}), sourced))
        write(page, sourced)
    if any(sourced) or any(figures_of(section) for section in sections_of(page)):
        assert problems(page, sourced) == []
    # a setting that is said no more leaves the list
    used = {each.figure for of_section in sourced for each in of_section if each.file == SETTING}
    assert set(SETTINGS.get(page, {})) == used


def test_a_figure_that_is_wrong_in_its_last_digit_is_found():
    """Each figure is made wrong by one to three: no other number of its source may stand for it."""
    n_tried, passed = 0, []
    for page in PAGES:
        for section, of_section in zip(sections_of(page), stored(page), strict=False):
            for each in of_section:
                if each.file == SETTING:
                    continue
                for wrong in made_wrong(each.figure):
                    n_tried += 1
                    if problem_with(page, section, each._replace(figure=wrong), {}) is None:
                        passed.append((page, each.figure, wrong))
    assert n_tried > 1000
    # half of a digit may be rounded either way: .0125 is .012 and .013
    assert len(passed) <= 0.01 * n_tried


def made_wrong(figure):
    """Yield a figure with its last digit, or its count, off by one to three."""
    number, of, whole = figure.partition(" of ")
    plain = Decimal(number.rstrip("%"))
    for off in (-3, -2, -1, 1, 2, 3):
        value = plain + off * Decimal(1).scaleb(plain.as_tuple().exponent)
        if value >= 0 and not (of and value > int(whole.replace(" ", ""))):
            yield f"{value}{'%' * number.endswith('%')}{of}{whole}"


def test_the_comparison_can_fail():
    for figure in (".0198", ".02", "2%", "1.98%"):
        assert is_made_of(figure, ["0.0198"]), figure
    for figure in (".0197", "2.1%", "1.97%", ".01", "0.01980"):  # the last one has a digit that nobody has seen
        assert not is_made_of(figure, ["0.0198"]), figure
    assert is_made_of("2.3%", ["2.3"], in_percent=True)
    assert not is_made_of("2.3%", ["2.3"])
    assert is_made_of("59 of 60", ["59", "60"])
    assert is_made_of("59 of 60", ["98%", "60"])
    assert is_made_of("2 of 10 000", ["2", "10 000"])
    for figure in ("58 of 60", "59 of 61", "60 of 59"):
        assert not is_made_of(figure, ["59", "60"]), figure
        assert not is_made_of(figure, ["98%", "60"]), figure
    text = (
        "`0.5`\n```python\n0.25\n```\n```text\n0.3\n```\n```text\n0.35\n```\n.75, 3 of 4, 12% [x](a_0.1.md) 10 000 of 2"
    )
    assert figures_of(text) == ["0.35", ".75", "3 of 4", "12%"]
    assert sum(len(figures_of(text)) for text in PAGES.values()) > 500
