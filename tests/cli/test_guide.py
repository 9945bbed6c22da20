"""The commands in the guide print what is shown there; a line with … stands for any text."""

import re
import shlex
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {name: (DOCS / name).read_text(encoding="utf-8") for name in ("getting_started.md", "reading_a_report.md")}
CONSOLE = re.compile(r"```console\n\$ bayesfloor (.*?)\n(.*?)```", flags=re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", flags=re.DOTALL)
CALLS = [(page, *block) for page, text in PAGES.items() for block in CONSOLE.findall(text)]
# One report of the guide is enough for every day.
SLOW = {
    "report digits",
    "report animals.csv --target kind",
    "report wine.csv --target cultivar --target-value 0.05 --quiet",
}
FRACTION = re.compile(r"\d+\.\d+")


def fractions_like(shown, text):
    """Return the fractions at the place of a text that reads as shown but for these; None where there is none."""
    pattern = r"(\d+\.\d+)".join(map(re.escape, FRACTION.split(" ".join(shown.split()))))
    match = re.search(pattern, " ".join(text.split()))
    return None if match is None else [float(number) for number in match.groups()]


@pytest.mark.parametrize(
    ("page", "call", "printed"),
    [pytest.param(*case, id=case[1], marks=pytest.mark.slow if case[1] in SLOW else ()) for case in CALLS],
)
def test_examples(run, every_repeat, page, call, printed):  # pages show what a user gets
    namespace = {}
    for source in PYTHON.findall(PAGES[page]):
        if "write_csv" in source:  # the table that the command reads
            exec(compile(source, page, "exec"), namespace)
    outcome = run(*shlex.split(call))
    chunks = [chunk for chunk in printed.split("…\n") if chunk.strip()]
    assert chunks
    for chunk in chunks:
        places = [fractions_like(chunk, text) for text in (outcome.out, outcome.err)]
        found = next((place for place in places if place is not None), None)
        stated = [float(number) for number in FRACTION.findall(chunk)]
        # percent; the last digits may depend on the machine where models were fitted
        assert found == pytest.approx(stated, rel=0, abs=1.0), f"not printed: {chunk}"


def test_the_comparison_can_fail():
    assert fractions_like("about 0.68% (95% range", "The floor is about\n1.70% (95% range 0–4%)") == [1.7]
    assert fractions_like("about 0.68% (95% range", "about 1.70% (90% range") is None
    assert len(CALLS) >= 5
    assert {call for _, call, _ in CALLS} >= SLOW
