import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

from bayesfloor import bayes_class_weight, bayes_cost_matrix, one_vs_rest_bayes_error, pairwise_bayes_error
from helpers.refusals import options_not_refused

NAMES = np.array(["easy", "hard", "rare"])


@pytest.fixture(scope="module")
def sample():
    """One class apart; two that overlap, one of them with few rows."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [80, 70, 15])
    X = np.array([[6.0, 0.0], [0.0, 0.0], [1.0, 0.0]])[y] + rng.standard_normal((165, 2))
    return X, NAMES[y]


def test_weights_follow_the_formula(sample):
    X, y = sample
    counts = np.array([80, 70, 15])
    hardness = one_vs_rest_bayes_error(X, y).normalized
    expected = 165 / (3 * counts) * (1 + 2.5 * hardness)
    expected *= 165 / (counts * expected).sum()
    weights = bayes_class_weight(X, y, strength=2.5)
    assert list(weights) == NAMES.tolist()
    np.testing.assert_allclose(list(weights.values()), expected)
    assert weights["rare"] > weights["hard"] > weights["easy"]
    equal = bayes_class_weight(X, y, strength=2.5, base="equal")
    assert equal["hard"] / equal["easy"] == pytest.approx((1 + 2.5 * hardness[1]) / (1 + 2.5 * hardness[0]))


def test_costs_follow_the_formula(sample):
    X, y = sample
    counts = [80, 70, 15]
    floors = pairwise_bayes_error(X, y).normalized
    costs = bayes_cost_matrix(X, y, strength=0.5)
    weights = costs.class_weight()
    for k in range(3):
        for other in range(3):
            expected = 0 if k == other else 165 / (3 * counts[k]) * (1 + 0.5 * floors[k, other])
            assert costs.cost[k, other] == pytest.approx(expected)
        share = weights[NAMES[k]] / weights["easy"]
        assert share == pytest.approx(costs.cost[k].sum() / costs.cost[0].sum())
    assert weights == bayes_class_weight(X, y, strength=0.5, basis="pairs")
    assert costs.cost[1, 2] > costs.cost[1, 0]
    assert repr(costs).startswith("CostMatrix(3 classes, cost 0 to ")


def test_frame_of_costs(sample):
    costs = bayes_cost_matrix(*sample)
    frame = costs.frame()
    assert frame["class"].tolist() == ["easy", "easy", "hard", "hard", "rare", "rare"]
    assert frame["called"].tolist() == ["hard", "rare", "easy", "rare", "easy", "hard"]
    assert frame["cost"].tolist() == costs.cost[[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]].tolist()


def test_weights_are_one_on_average_and_without_strength_the_base(sample):
    X, y = sample
    balanced = compute_class_weight("balanced", classes=NAMES, y=y)
    one_row = np.where(np.arange(len(y)) == 3, "single", y)
    for basis in ("classes", "pairs"):
        weights = bayes_class_weight(X, y, basis=basis, strength=20)
        assert np.mean([weights[label] for label in y]) == pytest.approx(1)
        np.testing.assert_allclose(list(bayes_class_weight(X, y, basis=basis, strength=0).values()), balanced)
        assert list(bayes_class_weight(X, y, basis=basis, strength=0, base="equal").values()) == [1, 1, 1]
        assert 0 < bayes_class_weight(X, one_row, basis=basis)["single"] < np.inf
        # two classes are as hard as each other
        of_two = bayes_class_weight(X, y == "rare", basis=basis, strength=7)
        expected = compute_class_weight("balanced", classes=np.array([False, True]), y=y == "rare")
        np.testing.assert_allclose(list(of_two.values()), expected)


def test_what_cannot_be_used(sample):
    X, y = sample
    table = [
        ({"strength": -0.1}, r"'strength' parameter must be a float in the range \[0, inf\). Got -0.1"),
        ({"strength": np.inf}, "Got inf"),
        ({"strength": np.nan}, "Got nan"),
        ({"strength": "much"}, "Got 'much'"),
        ({"strength": True}, "Got True"),
        ({"base": "prior"}, "'base' parameter must be one of 'balanced', 'equal'. Got 'prior'"),
        ({"y": ["a"] * len(X)}, "needs two classes, got 1: 'a'"),
        ({"X": np.column_stack([X[:, 0], np.full(165, np.nan)])}, "NaN in 165 rows, column 1"),
    ]
    for weigh in (bayes_class_weight, bayes_cost_matrix):
        assert options_not_refused(lambda weigh=weigh, **given: weigh(**{"X": X, "y": y, **given}), table) == []
    with pytest.raises(ValueError, match="'basis' parameter must be one of 'classes', 'pairs'"):
        bayes_class_weight(X, y, basis="class")
