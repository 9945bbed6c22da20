"""The examples of the README and of docs/classify.md run as they stand, and say what they print."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = {page.name: page for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}
# The other pages' examples are run beside the tests of their rooms.
WITH_EXAMPLES = ["README.md", "classify.md"]
TEXTS = {name: page.read_text(encoding="utf-8") for name, page in PAGES.items()}
README = TEXTS["README.md"]
# A block of Python and, where one follows, the block of what it prints.
BLOCK = re.compile(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", flags=re.DOTALL)
LINK = re.compile(r"\]\(((?!https?:|#)[^)]+)\)")
LINKS = sorted({(name, link) for name, text in TEXTS.items() for link in LINK.findall(text)})


@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    """One after the other: a block may use what those above it define."""
    monkeypatch.chdir(tmp_path)  # pictures are saved where the reader is
    namespace = {"__name__": "__main__"}
    for source, printed in BLOCK.findall(TEXTS[page]):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(source, page, "exec"), namespace)
        assert output.getvalue().strip() == printed.strip()


@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_there_are_examples(page):
    assert BLOCK.search(TEXTS[page])


@pytest.mark.parametrize(("page", "target"), LINKS)
def test_links_lead_somewhere(page, target):
    assert (PAGES[page].parent / target.split("#")[0]).exists()


@pytest.mark.parametrize("command", sorted(set(re.findall(r"^make (\S+)", README, flags=re.MULTILINE))))
def test_commands_exist(command):
    assert re.search(rf"^{command}:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
