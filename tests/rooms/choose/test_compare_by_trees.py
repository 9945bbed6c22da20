"""Representations compared by spanning trees alone, and steps that learn from labels."""

import numpy as np
import pandas
import pytest
from scipy.stats import norm
from sklearn.compose import make_column_transformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from bayesfloor import FloorSelector, bayes_error, compare_features, pairwise_bayes_error
from bayesfloor.choose.comparing.steps import needs_labels
from helpers.samples_to_choose_from import shifted_classes


@pytest.fixture(scope="module")
def sample():
    return shifted_classes(0, 150, n_useful=2, n_features=4, n_classes=3, shift=1.5)


PLACES = {"noise": [2, 3], "all": [0, 1, 2, 3], "useful": [0, 1], "first": [0]}


@pytest.fixture(scope="module")
def compared(sample):
    X, y = sample
    return compare_features({name: X[:, places] for name, places in PLACES.items()}, y, learners=None)


def test_floors_are_those_of_the_floor_room(sample, compared):
    X, y = sample
    upper = np.triu_indices(3, 1)
    for each, pair_values in zip(compared.features, compared.pair_values, strict=True):
        points = X[:, PLACES[each.name]]
        whole, pairs = bayes_error(points, y), pairwise_bayes_error(points, y)
        assert each.estimate == whole.estimate
        assert each.interval == pytest.approx(whole.interval)
        np.testing.assert_array_equal(pair_values, pairs.estimate[upper])
        assert each.n_features == len(PLACES[each.name])
        assert (each.reached, each.curve, each.is_improving) == (None, None, None)


def test_the_simplest_of_equals(compared):
    assert compared.names[-1] == "noise"
    assert compared.simplest == "useful"
    assert not compared.distinguishable("all", "useful")
    assert compared.distinguishable("useful", "noise")
    assert compared.distinguishable("noise", "useful")


def test_trees_that_rank_the_wrong_way_round_are_not_sure():
    """Noise columns do not raise the Bayes error, and raise what trees count: the better representation comes last."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 300)
    best_error = {"narrow": 0.12, "wide": 0.05}  # of two normal classes, Φ(−δ/2)
    shift = {name: -2 * norm.ppf(error) for name, error in best_error.items()}
    X = {"narrow": rng.standard_normal((600, 1)), "wide": rng.standard_normal((600, 100))}
    for name, points in X.items():
        points[:, 0] += shift[name] * y
    found = compare_features(X, y, learners=None)
    assert found.names == ("narrow", "wide")
    assert found.difference("wide", "narrow").floor_interval[0] > 0
    said = found.sentence()
    assert "surely" not in said
    assert "'wide' comes out higher by " in said
    assert "how much too high trees come out depends on the representation (BF008)" in said
    (finding,) = found.findings
    assert finding.code == "BF008"
    assert "'narrow' has 1 column, 'wide' 100" in finding.sentence
    assert "Train models" in finding.hint
    accuracy = {name: cross_val_score(LinearDiscriminantAnalysis(), points, y).mean() for name, points in X.items()}
    assert accuracy["wide"] > accuracy["narrow"]


SUPERVISED = {
    "discriminant": LinearDiscriminantAnalysis(n_components=1),
    "inside a pipeline": make_pipeline(StandardScaler(), SelectKBest(k=5), PCA(2)),
    "inside a selector": SelectFromModel(LogisticRegression()),
    "inside a union": make_union(PCA(2), NeighborhoodComponentsAnalysis(n_components=2, max_iter=5)),
    "least squares": PLSRegression(),
    "ours": FloorSelector(),
}


def test_what_learns_from_labels_is_known():
    others = PCA(), make_pipeline(StandardScaler(), PCA()), FunctionTransformer(), "passthrough"
    assert [needs_labels(step) for step in SUPERVISED.values()] == [True] * len(SUPERVISED)
    assert [needs_labels(step) for step in others] == [False] * len(others)


def test_a_frame_with_text_and_a_pair_with_a_representation_of_its_own():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    X = np.array([[0, 0], [5, 0], [0, 5]])[y] + rng.standard_normal((180, 2))
    frame = pandas.DataFrame(X, columns=["first", "second"]).assign(letter=np.array(list("xyy"))[y])
    encode = make_column_transformer((OneHotEncoder(sparse_output=True), ["letter"]), remainder="passthrough")
    features = {"first": X[:, :1], "second": X[:, 1:], "both": ["first", "second"], "all": encode, "raw": "passthrough"}
    found = compare_features(features, y, X=frame, learners=None, checks=False)
    assert {each.name: each.n_features for each in found.features}["all"] == 4
    assert found.pairs()["features"].tolist() == [found.names[place] for place in found.pair_best]
    said = compare_features({name: features[name] for name in ("first", "second", "both")}, y, learners=None).sentence()
    assert "surely" not in said
    assert "'both' comes out lower than 'first' by " in said


def test_labels_do_not_leak():
    # labels are noise, and 60 features let a discriminant separate the rows that it has seen
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 60)), rng.integers(0, 2, 120)
    flattered = LinearDiscriminantAnalysis().fit(X, y).transform(X)
    assert bayes_error(flattered, y).estimate < 0.3
    both = {"data": "passthrough", "discriminant": SUPERVISED["discriminant"]}
    found = compare_features(both, y, X=X, learners=None)
    assert [finding.code for finding in found.findings] == ["BF008", "BF031"]
    assert min(each.estimate for each in found.features) > 0.37
    assert not found.distinguishable("data", "discriminant")


def test_rows_are_sampled_and_that_is_said():
    X, y = shifted_classes(0, 300, n_classes=3)
    found, again = (compare_features({"data": X}, y, learners=None, max_rows=90) for _ in range(2))
    assert (found.n_rows, found.n_samples) == (90, 300)
    assert [finding.code for finding in found.findings] == ["BF032"]
    other = compare_features({"data": X}, y, learners=None, max_rows=90, random_state=1)
    assert again.features[0].interval == found.features[0].interval != other.features[0].interval


def test_what_trees_cannot_tell(sample):
    X, y = sample
    with pytest.raises(ValueError, match="Spanning trees give floors of classes, and y holds numbers"):
        compare_features({"a": X}, X[:, 0], learners=None, checks=False)
    with pytest.raises(ValueError, match="neither time nor sample_weight"):
        compare_features({"a": X}, y, time=X[:, 0], learners=None)
    with pytest.raises(ValueError, match=r"halves of the rows.* too few of 7"):
        compare_features({"lda": LinearDiscriminantAnalysis()}, [7, *y[1:]], X=X, learners=None)
