"""benchmarks/README.md names every script and page, and nothing that is not there."""

import re
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1]
TEXT = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
NAMED = {
    name for name in re.findall(r"`((?:speed|truth|real|tools|problems|results)/[\w/.]+)`", TEXT) if "NAME" not in name
}


def test_every_script_is_named():
    scripts = [
        f"{folder}/{file.name}"
        for folder in ("speed", "truth", "real", "tools", "problems")
        for file in (BENCHMARKS / folder).glob("*.py")
        if file.name != "__init__.py"
    ]
    assert len(scripts) > 40
    assert sorted(set(scripts) - NAMED) == []


def test_every_page_is_named():
    pages = {file.stem for file in (BENCHMARKS / "results").glob("*.md")}
    notes = {page for page in pages if page.endswith("_notes")}
    assert {f"results/{page}.md" for page in pages - notes} <= NAMED
    assert {note.removesuffix("_notes") for note in notes} <= pages


def test_records_belong_to_a_page():
    pages = {file.stem for file in (BENCHMARKS / "results").glob("*.md")}
    assert {file.stem for file in (BENCHMARKS / "results").glob("*.jsonl")} - {"groups_alarms"} <= pages


@pytest.mark.parametrize("name", sorted(NAMED))
def test_what_is_named_is_there(name):
    assert (BENCHMARKS / name).exists()


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(((?!https?:|#)[^)]+)\)", TEXT):
        assert (BENCHMARKS / target.partition("#")[0]).exists(), target


def test_scripts_are_in_folders():
    assert {file.name for file in BENCHMARKS.glob("*.py")} == {"__init__.py"}
