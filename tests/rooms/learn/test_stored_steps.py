"""Steps of a model that were read from a file are not trusted."""

import numpy as np
import pytest

from bayesfloor import StackedClassifier
from bayesfloor.learn.later import Later, steps_of
from bayesfloor.learn.stored_steps import from_plain, to_plain


def test_steps_that_are_not_known_are_refused():
    stored = to_plain(steps_of({"a": Later.rows() * np.ones(2)}))
    assert from_plain(stored).functions == ("rows", "later.scaled")
    for functions in (["rows", "os.system"], ["rows", "families.predicted_by"], ["rows", 3], ["rows"]):
        with pytest.raises(ValueError, match="step"):
            from_plain(stored | {"functions": functions})
    for argument in ({"step": 1}, {"step": -1}, {"array": 1}, {"other": 0}, {"step": True}):
        with pytest.raises(ValueError, match="neither there nor a plain value"):
            from_plain(stored | {"arguments": [[], [argument, 1.0]]})
    with pytest.raises(ValueError, match="outputs"):
        from_plain(stored | {"outputs": {"a": 2}})


def test_trees_that_lead_nowhere_are_refused():
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (400, 6))
    y = (X[:, 0] > 0.2).astype(int) + (X[:, 1] > -0.3)  # for which trees have all the weight
    steps = StackedClassifier(learners=["trees"], n_jobs=1).fit(X, y).model_.steps
    place = steps.functions.index("decision_trees.means_of_trees")
    names = ("feature", "threshold", "child", "first", "last", "order", "sizes", "codes")
    wrongs = {"feature": 10**6, "child": 0, "first": -1, "last": 10**6, "order": 10**6, "sizes": 1, "codes": 3}
    for name, wrong in [*wrongs.items(), ("child", 10**6)]:
        stored = to_plain(steps)
        changed = stored["arrays"][stored["arguments"][place][1 + names.index(name)]["array"]]
        changed = changed.copy()
        changed[0] = wrong
        stored["arrays"][stored["arguments"][place][1 + names.index(name)]["array"]] = changed
        with pytest.raises(ValueError, match="no fit gives"):
            from_plain(stored)
