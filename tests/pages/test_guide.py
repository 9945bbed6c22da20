"""The commands in the README and the guide print what is shown there; a line with … stands for any text."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
FILES = (ROOT / "README.md", ROOT / "docs" / "getting_started.md", ROOT / "docs" / "reading_a_report.md")
PAGES = {file.name: file.read_text(encoding="utf-8") for file in FILES}
CONSOLE = re.compile(r"```console\n\$ bayesfloor (.*?)\n(.*?)```", flags=re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", flags=re.DOTALL)
#: By command, the page and what it shows: two pages may show parts of one run.
CALLS = {}
for name, text in PAGES.items():
    for command, block in CONSOLE.findall(text):
        CALLS.setdefault(command, []).append((name, [chunk for chunk in block.split("…\n") if chunk.strip()]))
#: The command whose page is in docs/images/report.png.
PICTURED = "report digits"
#: The others train models, and run with the slow tests.
QUICK = {"floor wine.csv --target cultivar --fast --quiet"}
FRACTION = re.compile(r"\d+\.\d+")
#: These differ from run to run.
SECONDS = re.compile(r"\b\d+(?:\.\d+)? s\b")
#: Points by which figures may differ: where models were fitted, the last digits may depend on the machine.
WITHIN = 0.3
#: Fractions in percent or points; all others are shares.
IN_POINTS = re.compile(r"\d+\.\d+(?=(?:–\d+(?:\.\d+)?)?(?:%| points))")


def fractions_in(text):
    """Return the fractions of a text, but for seconds, and by how much each may differ."""
    text = SECONDS.sub("… s", text)
    in_points = {match.start() for match in IN_POINTS.finditer(text)}
    found = [(float(match.group()), match.start() in in_points) for match in FRACTION.finditer(text)]
    return [value for value, _ in found], [WITHIN if is_in_points else WITHIN / 100 for _, is_in_points in found]


def fractions_like(shown, text):
    """Return the fractions at the place of a text that reads as shown but for these; None where there is none."""
    shown, text = (SECONDS.sub("… s", " ".join(each.split())) for each in (shown, text))
    match = re.search(r"(\d+\.\d+)".join(map(re.escape, FRACTION.split(shown))), text)
    return None if match is None else [float(number) for number in match.groups()]


@pytest.mark.limits(repeats=10, curve_detail=1.0)
@pytest.mark.parametrize(
    "call", [pytest.param(call, id=call, marks=() if call in QUICK else pytest.mark.slow) for call in CALLS]
)
def test_examples(run, call):  # pages show what a user gets
    namespace = {}
    for page, _ in CALLS[call]:
        for source in PYTHON.findall(PAGES[page]):
            if "write_csv" in source:  # the table that the command reads
                exec(compile(source, page, "exec"), namespace)
    outcome = run(*shlex.split(call))
    for page, chunks in CALLS[call]:
        assert chunks
        for chunk in chunks:
            places = [fractions_like(chunk, text) for text in (outcome.out, outcome.err)]
            found = next((place for place in places if place is not None), None)
            stated, allowed = fractions_in(chunk)
            assert found is not None, f"{page}: not printed: {chunk}"
            assert (np.abs(np.subtract(found, stated)) <= np.add(allowed, 1e-9)).all(), f"{page}: {found} in: {chunk}"


def test_pages_and_picture_are_of_one_run():
    """The picture keeps what was printed along with it; to renew it: python -m benchmarks.tools.report_picture."""
    image = pytest.importorskip("PIL.Image", reason="pictures need Pillow").open(ROOT / "docs/images/report.png")
    image.load()  # text may stand behind the pixels
    shown = CALLS[PICTURED]
    assert [page for page, _ in shown] == ["README.md", "reading_a_report.md"]
    for page, chunks in shown:
        assert [chunk for chunk in chunks if chunk not in image.text["printed"]] == [], page


def test_the_comparison_can_fail():
    assert fractions_like("about 0.68% (95% range", "The floor is about\n1.70% (95% range 0–4%)") == [1.7]
    assert fractions_like("about 0.68% (95% range", "about 1.70% (90% range") is None
    assert fractions_like("errs on 1.8% and trains in 0.8 s.", "errs on 1.9% and trains in 12 s.") == [1.9]
    assert fractions_in("0.185 or 1.2–1.8%, 0.36 points, in 0.8 s.") == (
        [0.185, 1.2, 1.8, 0.36],
        [0.003, 0.3, 0.3, 0.3],
    )
    assert len(CALLS) >= 5
    assert set(CALLS) > QUICK
