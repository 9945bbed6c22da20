"""The examples in docstrings and in docs/class_trees.md run as they stand, and say what they print."""

import contextlib
import doctest
import io
import re
import sys
from pathlib import Path

import pytest

import bayesfloor.tree  # noqa: F401  (loaded to be looked up by name)

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "class_trees.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```\s*```text\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.mark.parametrize("module", ["build", "class_tree"])
def test_docstrings(module):
    outcome = doctest.testmod(sys.modules[f"bayesfloor.tree.{module}"])
    assert outcome.attempted > 3
    assert outcome.failed == 0


def test_page():
    assert len(BLOCKS) == PAGE.count("```python") == 2
    names = {"__name__": "__main__"}  # later blocks use the imports of earlier ones
    for source, printed in BLOCKS:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(source, "class_trees.md", "exec"), names)
        assert output.getvalue().strip() == printed.strip()


def test_links_lead_somewhere():
    targets = re.findall(r"\]\(((?!https?:|#)[^)]+)\)", PAGE)
    assert targets
    for target in targets:
        assert (DOCS / target).exists()
