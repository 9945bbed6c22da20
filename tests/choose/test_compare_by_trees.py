"""Representations compared by spanning trees alone, and steps that learn from labels."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import SpectralEmbedding
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from bayesfloor import FloorSelector, compare_features
from bayesfloor.choose.comparing.steps import needs_labels
from bayesfloor.floor import bayes_error, pairwise_bayes_error

from .samples import shifted_classes


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


def test_table(compared):
    frame = compared.frame()
    assert frame["name"].tolist() == list(compared.names)
    assert frame["difference"].tolist() == pytest.approx((frame["estimate"] - frame["estimate"][0]).tolist())
    assert frame["reached"].isna().all()
    assert (frame["difference_low"] <= frame["difference"]).all()
    assert (frame["difference"] <= frame["difference_high"]).all()
    assert compared.pairs()["features"].tolist() == [compared.names[place] for place in compared.pair_best]
    assert compared.sentence().startswith("On 150 rows spanning trees put the floor of the error at ")


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


def test_what_is_added_is_not_sure_by_trees():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 100)
    X = rng.standard_normal((200, 2)) + 1.5 * y[:, None]
    features = {"first": X[:, :1], "second": X[:, 1:], "both": ["first", "second"]}
    said = compare_features(features, y, learners=None).sentence()
    assert "surely" not in said
    assert "'both' comes out lower than 'first' by " in said


def test_a_pair_can_have_a_representation_of_its_own():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    X = np.array([[0, 0], [5, 0], [0, 5]])[y] + rng.standard_normal((180, 2))
    found = compare_features({"first": X[:, :1], "second": X[:, 1:]}, y, learners=None)
    assert found.pairs()["features"].tolist()[:2] == ["first", "second"]


def test_a_radial_kernel_leaves_the_floor_as_it_is():
    # distances in its feature space rise with those in the data, so the trees are the same
    X, y = shifted_classes(0, 60, n_features=3)
    kernel = KernelPCA(n_components=59, kernel="rbf", gamma=0.1, eigen_solver="dense")
    found = compare_features({"data": "passthrough", "kernel": kernel}, y, X=X, learners=None)
    assert found.difference("data", "kernel").floor == 0
    assert found.names == ("data", "kernel")  # of equals, the one with fewer columns


SUPERVISED = {
    "discriminant": LinearDiscriminantAnalysis(n_components=1),
    "inside a pipeline": make_pipeline(StandardScaler(), SelectKBest(k=5), PCA(2)),
    "inside a selector": SelectFromModel(LogisticRegression()),
    "inside a union": make_union(PCA(2), NeighborhoodComponentsAnalysis(n_components=2, max_iter=5)),
    "least squares": PLSRegression(),
    "ours": FloorSelector(),
}


@pytest.mark.parametrize("name", SUPERVISED)
def test_what_learns_from_labels_is_known(name):
    assert needs_labels(SUPERVISED[name])


@pytest.mark.parametrize("step", [PCA(), make_pipeline(StandardScaler(), PCA()), FunctionTransformer(), "passthrough"])
def test_what_does_not_learn_from_labels_is_known(step):
    assert not needs_labels(step)


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


def test_a_discriminant_is_recognised_where_it_helps():
    X, y = shifted_classes(0, 500, n_useful=2, n_features=20)
    both = {"data": "passthrough", "discriminant": SUPERVISED["discriminant"]}
    found = compare_features(both, y, X=X, learners=None)
    assert found.best == "discriminant"
    assert found.distinguishable("data", "discriminant")


class Witness(TransformerMixin, BaseEstimator):
    """Returns the data, and keeps an account of what it was given."""

    seen: list = []  # noqa: RUF012

    def __init__(self, needs_y=True):
        self.needs_y = needs_y

    def fit_transform(self, X, y=None):
        self.seen.append(("fit", X[:, 0].tolist(), None if y is None else list(y)))
        return X

    def fit(self, X, y=None):
        self.fit_transform(X, y)
        return self

    def transform(self, X):
        self.seen.append(("transform", X[:, 0].tolist(), None))
        return X

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.needs_y
        return tags


def test_steps_see_other_rows_than_they_are_measured_on():
    X, y = shifted_classes(0, 60, n_classes=3)
    label_of = dict(zip(X[:, 0], np.array(list("abc"))[y], strict=True))
    Witness.seen.clear()
    both = {"witness": Witness(), "data": "passthrough"}
    found = compare_features(both, list(label_of.values()), X=X, learners=None)
    (_, fitted_1, labels_1), (_, shown_1, _), (_, fitted_2, labels_2), (_, shown_2, _) = Witness.seen
    for fitted, labels, shown in ((fitted_1, labels_1, shown_1), (fitted_2, labels_2, shown_2)):
        assert not set(fitted) & set(shown)
        assert set(fitted) | set(shown) == set(X[:, 0])
        assert labels == [label_of[value] for value in fitted]
    assert set(shown_1) == set(fitted_2)
    assert found.difference("witness", "data").floor == 0  # measured on the same halves, this step is no step
    halves = [
        bayes_error(X[np.isin(X[:, 0], shown)], y[np.isin(X[:, 0], shown)]).estimate for shown in (shown_1, shown_2)
    ]
    assert found.features[0].estimate == pytest.approx(np.mean(halves))


def test_labels_are_given_to_nobody_else():
    X, y = shifted_classes(0, 40)
    Witness.seen.clear()
    compare_features({"witness": Witness(needs_y=False)}, y, X=X, learners=None)
    assert [(what, labels) for what, _, labels in Witness.seen] == [("fit", None)]


def test_steps_are_cloned(sample):
    X, y = sample
    step = StandardScaler()
    compare_features({"scaled": step}, y, X=X, learners=None)
    assert vars(step) == vars(clone(step))


def test_maps_that_take_no_new_rows(sample):
    X, y = sample
    embedding = SpectralEmbedding(2, random_state=0, n_neighbors=15)
    found = compare_features({"embedding": embedding, "data": "passthrough"}, y, X=X, learners=None)
    assert [finding.code for finding in found.findings] == ["BF008", "BF033"]
    assert {each.name: each.takes_new_rows for each in found.features} == {"data": True, "embedding": False}


def test_rows_are_sampled_and_that_is_said():
    X, y = shifted_classes(0, 300, n_classes=3)
    found, again = (compare_features({"data": X}, y, learners=None, max_rows=90) for _ in range(2))
    assert (found.n_rows, found.n_samples) == (90, 300)
    assert [finding.code for finding in found.findings] == ["BF032"]
    other = compare_features({"data": X}, y, learners=None, max_rows=90, random_state=1)
    assert again.features[0].interval == found.features[0].interval != other.features[0].interval


def test_data_frames_with_text():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"size": rng.standard_normal(90), "colour": rng.choice(["red", "blue", "green"], 90)})
    y = (frame["colour"] == "red").to_numpy()
    encode = make_column_transformer((OneHotEncoder(sparse_output=True), ["colour"]), remainder="passthrough")
    steps = {"encoded": encode, "size": make_column_transformer(("passthrough", ["size"]))}
    found = compare_features(steps, y, X=frame, learners=None, checks=False)
    assert found.best == "encoded"
    assert found.classes.tolist() == [False, True]
    # as it is, the frame is made ready as for any other function
    assert (
        compare_features({"data": "passthrough"}, y, X=frame, learners=None, checks=False).features[0].n_features == 4
    )


def test_polars_frames():
    polars = pytest.importorskip("polars")
    X, y = shifted_classes(0, 80, n_features=3)
    frame = polars.DataFrame(X, schema=["a", "b", "c"])
    both = {"data": "passthrough", "scaled": StandardScaler()}
    found = compare_features(both, polars.Series(y), X=frame, learners=None, max_rows=60)
    assert found.n_rows == 60
    assert isinstance(found.frame(), polars.DataFrame)


def test_what_trees_cannot_tell(sample):
    X, y = sample
    with pytest.raises(ValueError, match="Spanning trees give floors of classes, and y holds numbers"):
        compare_features({"a": X}, X[:, 0], learners=None, checks=False)
    with pytest.raises(ValueError, match="neither time nor sample_weight"):
        compare_features({"a": X}, y, time=X[:, 0], learners=None)
    with pytest.raises(ValueError, match=r"halves of the rows.* too few of 7"):
        compare_features({"lda": LinearDiscriminantAnalysis()}, [7, *y[1:]], X=X, learners=None)
