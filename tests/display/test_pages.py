"""The examples in docstrings and in docs/pictures.md run as they stand, say what they print, and draw what is shown."""

import contextlib
import doctest
import io
import re
from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "pictures.md").read_text(encoding="utf-8")
# A block of Python and, where one follows, the block of what it prints.
BLOCKS = re.findall(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", PAGE, flags=re.DOTALL)


@pytest.mark.parametrize("module", ["class_floors", "class_tree", "pair_heatmap", "selection", "transforms"])
def test_docstrings(module):
    outcome = doctest.testmod(import_module(f"bayesfloor.display.{module}"))
    assert outcome.attempted > 1
    assert outcome.failed == 0


@pytest.mark.parametrize(("source", "printed"), BLOCKS)
def test_page(source, printed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(source, "pictures.md", "exec"), {"__name__": "__main__"})
    # leading blanks align the columns
    assert output.getvalue().rstrip() == printed.rstrip()
    (picture,) = tmp_path.iterdir()
    assert picture.stat().st_size > 5000
    assert f"](images/{picture.name})" in PAGE


def test_links_lead_somewhere():
    assert len(BLOCKS) == 5
    targets = re.findall(r"\]\(((?!https?:|#)[^)]+)\)", PAGE)
    assert targets
    for target in targets:
        assert (DOCS / target.partition("#")[0]).exists()
