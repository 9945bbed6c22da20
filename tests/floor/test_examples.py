"""The examples in docstrings and in docs/floor.md run as they stand, and say what they print."""

import contextlib
import doctest
import io
import re
import sys
from pathlib import Path

import pytest

import bayesfloor.floor.bayes_error
import bayesfloor.floor.estimator  # noqa: F401  (loaded to be looked up by name)

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "floor.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```\s*```text\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.mark.parametrize("module", ["bayes_error", "estimator"])
def test_docstrings(module):
    # bayesfloor.floor.bayes_error is a function as well as a module: the module is the one in sys.modules
    outcome = doctest.testmod(sys.modules[f"bayesfloor.floor.{module}"])
    assert outcome.attempted > 3
    assert outcome.failed == 0


@pytest.mark.parametrize(("source", "printed"), BLOCKS)
def test_page(source, printed):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(source, "floor.md", "exec"), {"__name__": "__main__"})
    assert output.getvalue().strip() == printed.strip()


def test_page_has_examples_and_its_links_lead_somewhere():
    assert BLOCKS
    for target in re.findall(r"\]\(((?!https?:|#)[^)]+)\)", PAGE):
        assert (DOCS / target).exists()


def test_every_code_is_on_the_page():
    listed = set(re.findall(r"^\| (BF\d{3}) \|", PAGE, flags=re.MULTILINE))
    in_code = set(re.findall(r"^(BF\d{3}) ", sys.modules["bayesfloor.floor.findings"].__doc__, flags=re.MULTILINE))
    used = set(re.findall(r'"(BF\d{3})"', Path(sys.modules["bayesfloor.floor.findings"].__file__).read_text()))
    assert listed == in_code == used
