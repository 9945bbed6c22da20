"""The examples in docstrings, in docs/choose.md and in benchmarks/class_weights.py run, and say what they print."""

import contextlib
import doctest
import importlib.util
import io
import re
import sys
from pathlib import Path

import numpy as np
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


@pytest.fixture(scope="module")
def class_weights():
    spec = importlib.util.spec_from_file_location("class_weights", ROOT / "benchmarks" / "class_weights.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_class_weights_in_small(class_weights, tmp_path):
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [150, 40, 10])
    X = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5]])[y] + rng.standard_normal((200, 2))
    rows = class_weights.measure("three classes", X, y, n_folds=2)
    by_weights = {row["weights"]: row for row in rows}
    assert by_weights.keys() == class_weights.WEIGHTINGS.keys()
    assert by_weights["balanced"]["gain"] == 0
    assert by_weights["none"]["ratio"] == 15
    for name in ("balanced", "by classes", "by pairs"):
        assert by_weights[name]["balanced_accuracy"] > by_weights["none"]["balanced_accuracy"]
    class_weights.write(rows, tmp_path)
    assert len((tmp_path / "class_weights.csv").read_text().splitlines()) == 1 + len(rows)
    assert (tmp_path / "class_weights.png").stat().st_size > 10_000


def test_class_weights_names_what_is_missing(class_weights, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(class_weights, "DATA", tmp_path)
    with pytest.raises(SystemExit, match="point BAYESFLOOR_DATA to the folder"):
        class_weights.load("abalone")
    with pytest.raises(SystemExit):
        class_weights.main(["nothing"])
    assert "unknown set 'nothing'" in capsys.readouterr().err
