"""Records that were read from a file are not trusted."""

import numpy as np
import pytest

from bayesfloor import StackedClassifier
from bayesfloor.learn.learner import Constant, Fitted
from bayesfloor.learn.records import Record, from_plain, to_plain
from bayesfloor.learn.training_rows import Scaling


def test_records_that_are_not_known_are_refused():
    stored = to_plain(Constant(("a",), np.ones(2), True))
    assert from_plain(stored, Fitted).names == ("a",)
    fields = stored["fields"]
    for wrong, said in [
        (stored | {"record": "os.system"}, "not known"),
        (stored | {"record": 3}, "not known"),
        (to_plain(Scaling(*np.ones((3, 2)))), "not known"),
        (stored | {"more": 1}, "other values"),
        ({"record": "Constant"}, "other values"),
        ([], "other values"),
        (stored | {"fields": fields | {"more": 1}}, "are others"),
        (stored | {"fields": {"names": ["a"]}}, "are others"),
    ]:
        with pytest.raises(ValueError, match=said):
            from_plain(wrong, Fitted)
    assert isinstance(from_plain(stored, Record), Constant)


def test_fields_of_another_kind_are_refused():
    stored = to_plain(Constant(("a",), np.ones(2), True))
    for name, wrong in [
        ("line", [1.0, 1.0]),
        ("line", np.ones(2, np.float32)),
        ("line", np.array(1.0)),
        ("line", None),
        ("names", "a"),
        ("names", [1]),
        ("are_classes", 1),
    ]:
        with pytest.raises(ValueError, match="no fit gives"):
            from_plain(stored | {"fields": stored["fields"] | {name: wrong}}, Fitted)


def test_trees_that_lead_nowhere_are_refused():
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (400, 6))
    y = (X[:, 0] > 0.2).astype(int) + (X[:, 1] > -0.3)  # for which trees have all the weight
    (fitted,) = StackedClassifier(learners=["trees"], n_jobs=1).fit(X, y).model_.fitted
    forest = next(part.forest for part in fitted.parts if hasattr(part, "forest"))
    wrongs = {"feature": 10**6, "child": 0, "first": -1, "last": 10**6, "order": 10**6, "sizes": 1, "codes": 3}
    for name, wrong in [*wrongs.items(), ("child", 10**6)]:
        stored = to_plain(forest)
        changed = stored["fields"][name].copy()
        changed[0] = wrong
        stored["fields"][name] = changed
        with pytest.raises(ValueError, match="no fit gives"):
            from_plain(stored, Record)


def test_members_are_a_line_each():
    X = np.random.default_rng(0).normal(size=(200, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = StackedClassifier(learners=["kernels"], n_jobs=1).fit(X, y).model_
    lines = repr(model).split("\n")
    assert lines[0].startswith("StackModel(")
    assert any(line.startswith("KernelRidge(name='kernel ridge ") for line in lines)
    assert max(map(len, lines)) <= 160
