"""Class trees equal those of the authors' own code."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from bayesfloor.floor import pairwise_bayes_error
from bayesfloor.tree import build_class_tree

from .graphs import as_sets

CASES = [(name, variant) for name in ("iris", "wine") for variant in ("raw", "standardized", "jitter")]


@pytest.fixture(params=CASES, ids="-".join)
def case(request, golden_dir):
    name, variant = request.param
    golden = json.loads((golden_dir / f"{name}.json").read_text())[variant]
    return name, variant, golden


def splits_of(node):
    """The splits of a golden tree, with the value of each and the number of minimum cuts."""
    if isinstance(node, int):
        return {}
    split = frozenset([frozenset(node["negative"]), frozenset(node["positive"])])
    here = {split: (node["cut_value"], node["n_min_cuts"])}
    return here | splits_of(node["negative_child"]) | splits_of(node["positive_child"])


def test_tree_from_golden_weights(case):
    _, _, golden = case
    tree = build_class_tree(golden["pairwise_ber_normalized"], golden["classes"])
    expected = splits_of(golden["tree"])
    assert {n_cuts for _, n_cuts in expected.values()} == {1}  # so there is only one right tree
    assert as_sets(tree) == expected.keys()
    assert as_sets(tree) == as_sets(build_class_tree(None, cut=golden["tree_nested"]))
    cuts = {frozenset([frozenset(node.left), frozenset(node.right)]): node.cut for node in tree.nodes}
    for split, (value, _) in expected.items():
        assert cuts[split] == pytest.approx(value, rel=1e-12)


def test_tree_from_data(case):
    name, variant, golden = case
    X, y = {"iris": load_iris, "wine": load_wine}[name](return_X_y=True)
    if variant == "jitter":
        X = X + 1e-3 * np.random.RandomState(12345).standard_normal(X.shape) * X.std(0).mean()
    elif variant == "standardized":
        X = StandardScaler().fit_transform(X)
    floors = pairwise_bayes_error(X, y)
    tree = build_class_tree(floors.normalized, floors.classes)
    assert as_sets(tree) == as_sets(build_class_tree(None, cut=golden["tree_nested"]))
