"""The examples of the README and of some pages of docs run as they stand, and say what they print."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from printed_text import assert_same_text

ROOT = Path(__file__).resolve().parents[1]
PAGES = {page.name: page for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}
# The other pages' examples are run beside the tests of their rooms.
PAGES_WITH_EXAMPLES = (
    "README",
    "classify",
    "clustering",
    "data",
    "gap",
    "getting_started",
    "groups",
    "learned",
    "metrics",
    "python_api",
    "regression",
)
WITH_EXAMPLES = [f"{name}.md" for name in PAGES_WITH_EXAMPLES]
TEXTS = {name: page.read_text(encoding="utf-8") for name, page in PAGES.items()}
README = TEXTS["README.md"]
# A block of Python and, where one follows, the block of what it prints.
BLOCK = re.compile(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", flags=re.DOTALL)
LINK = re.compile(r"\]\(((?!https?:|#)[^)]+)\)")
LINKS = sorted({(name, link) for name, text in TEXTS.items() for link in LINK.findall(text)})
#: What `make docs` writes before it reads the pages.
WRITTEN = ("gallery/", "findings/")


@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    """One after the other: a block may use what those above it define."""
    monkeypatch.chdir(tmp_path)  # pictures are saved where the reader is
    namespace = {"__name__": "__main__"}
    for source, printed in BLOCK.findall(TEXTS[page]):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(source, page, "exec"), namespace)
        assert_same_text(output.getvalue().strip(), printed.strip())
    assert len(namespace) > 1  # or the page has no examples


def test_links_lead_somewhere():
    assert LINKS
    own = [(page, link) for page, link in LINKS if not link.startswith(WRITTEN)]
    broken = [(page, link) for page, link in own if not (PAGES[page].parent / link.split("#")[0]).exists()]
    assert broken == []


def test_commands_exist():
    commands = set(re.findall(r"^make (\S+)", README, flags=re.MULTILINE))
    assert commands
    rules = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert commands <= set(rules)
