"""The learner that CONTRIBUTING.md writes, as somebody would add it."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bayesfloor import StackedClassifier, learned_floor, load_model
from bayesfloor.learn.registry import CLASS_LEARNERS

PAGE = Path(__file__).parents[3] / "CONTRIBUTING.md"


@pytest.fixture
def learner(tmp_path, monkeypatch):
    (block,) = re.findall(r"```python\n(.*?class Medians.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    (tmp_path / "own_medians.py").write_text(block, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    if "own_medians" not in sys.modules:  # a name stands for one record
        __import__("own_medians")
    made = sys.modules["own_medians"].Medians()
    monkeypatch.setitem(CLASS_LEARNERS, made.name, made)
    return made


def test_a_learner_is_a_file_and_a_line(learner, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    y = np.where(rng.random(300) < 0.1, 0, (X > 0).sum(axis=1) > 2).astype(int)
    assert "medians" in learned_floor(X, y, learners=["gaussian", "medians"], n_jobs=1).weights
    stack = StackedClassifier(learners=["medians"], n_jobs=1).fit(X, y)
    assert stack.score(X, y) > 0.85
    stack.save(tmp_path / "own.skops")
    assert_array_equal(load_model(tmp_path / "own.skops").predict_proba(X), stack.predict_proba(X))


def test_the_page_says_it_in_sixty_lines():
    (section,) = re.findall(r"\n## Add a learner\n(.*?)\n## ", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert section.count("\n") <= 60
