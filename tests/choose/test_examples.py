"""The examples in docstrings and in docs/choose.md run, and say what they print."""

import contextlib
import doctest
import io
import re
import sys
from pathlib import Path

import pytest

import bayesfloor.choose  # noqa: F401  (loaded to be looked up by name)
from printed_text import assert_same_text

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "choose.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```\s*```text\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.mark.parametrize("name", ["floor_selector", "transforms", "class_weight"])
def test_docstrings(name):
    results = doctest.testmod(sys.modules[f"bayesfloor.choose.{name}"])
    assert results.attempted
    assert not results.failed


@pytest.mark.parametrize(("source", "printed"), BLOCKS)
def test_page(source, printed):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(source, "choose.md", "exec"), {"__name__": "__main__"})
    assert_same_text(*(re.sub(r" +$", "", text.strip(), flags=re.MULTILINE) for text in (output.getvalue(), printed)))


def test_page_has_examples_and_its_links_lead_somewhere():
    assert len(BLOCKS) == PAGE.count("```python") == 4
    for target in re.findall(r"\]\(((?!https?:|#)[^)]+)\)", PAGE):
        assert (ROOT / "docs" / target.partition("#")[0]).exists()
