import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import SpectralEmbedding
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from bayesfloor import FloorSelector, compare_transforms
from bayesfloor.choose.transforms import default_transforms, needs_labels
from bayesfloor.floor import bayes_error, one_vs_rest_bayes_error, pairwise_bayes_error

from .samples import shifted_classes


def columns(*places):
    return FunctionTransformer(lambda X: X[:, list(places)])


@pytest.fixture(scope="module")
def sample():
    return shifted_classes(0, 150, n_useful=2, n_features=4, n_classes=3, shift=1.5)


@pytest.fixture(scope="module")
def compared(sample):
    transforms = {"noise": columns(2, 3), "all": "passthrough", "useful": columns(0, 1), "first": columns(0)}
    return compare_transforms(*sample, transforms=transforms)


def test_floors_are_those_of_the_floor_room(sample, compared):
    X, y = sample
    places = {"noise": [2, 3], "all": [0, 1, 2, 3], "useful": [0, 1], "first": [0]}
    upper = np.triu_indices(3, 1)
    for each, pair_floor in zip(compared.transforms, compared.pair_floor, strict=True):
        points = X[:, places[each.name]]
        whole, classes, pairs = (f(points, y) for f in (bayes_error, one_vs_rest_bayes_error, pairwise_bayes_error))
        assert each.whole.floor == whole.estimate
        assert (each.whole.low, each.whole.high) == pytest.approx(whole.interval)
        assert each.mean_class.floor == pytest.approx(classes.estimate.mean())
        assert each.worst_class.floor == classes.estimate.max()
        assert each.worst_class_label == classes.estimate.argmax()
        assert each.mean_pair.floor == pytest.approx(pairs.estimate[upper].mean())
        assert each.worst_pair.floor == pairs.estimate.max()
        assert pairs.estimate[each.worst_pair_classes] == pairs.estimate.max()
        np.testing.assert_array_equal(pair_floor, pairs.estimate[upper])
        assert each.n_features == len(places[each.name])
        assert each.mean_pair.low < each.mean_pair.floor < each.mean_pair.high


def test_lower_dimension_is_preferred_among_equals(compared):
    assert compared.best == "useful"
    assert compared.names[-1] == "noise"
    assert not compared.distinguishable("all", "useful")
    assert compared.distinguishable("useful", "noise")
    assert compared.distinguishable("noise", "useful")
    assert "best of 4: 'useful', 2 features" in repr(compared)
    assert "not distinguishable from 'all'" in repr(compared)


def test_ranked_table(compared):
    frame = compared.frame()
    assert frame["rank"].tolist() == [1, 2, 3, 4]
    assert frame["transform"].tolist() == compared.names
    assert frame["difference"].tolist() == (frame["whole"] - frame["whole"][0]).tolist()
    assert frame["distinguishable"].tolist() == [compared.distinguishable(n, "useful") for n in compared.names]
    assert (frame["difference_low"] <= frame["difference"]).all()
    assert (frame["difference"] <= frame["difference_high"]).all()
    assert (frame["seconds"] >= 0).all()
    # the first row against the second is the second against the first, the other way round
    np.testing.assert_allclose(compared.difference, -compared.difference.T)
    np.testing.assert_allclose(compared.difference_interval[..., 0], -compared.difference_interval[..., 1].T)


def test_best_for_each_pair(compared):
    frame = compared.pairs()
    assert frame[["first", "second"]].to_numpy().tolist() == [[0, 1], [0, 2], [1, 2]]
    assert (frame["floor"] >= frame["lowest_floor"]).all()
    assert (frame["lowest_floor"] == compared.pair_floor.min(axis=0)).all()
    assert compared.best_for(2, 1) == compared.best_for(1, 2) == frame["transform"][2]
    dimension = {each.name: each.n_features for each in compared.transforms}
    assert frame["n_features"].tolist() == [dimension[name] for name in frame["transform"]]
    assert (frame["n_features"] < 4).all()  # nothing needs the noise


def test_a_pair_can_have_a_transform_of_its_own():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    X = np.array([[0, 0], [5, 0], [0, 5]])[y] + rng.standard_normal((180, 2))
    compared = compare_transforms(X, y, transforms={"first": columns(0), "second": columns(1)})
    assert [compared.best_for(0, 1), compared.best_for(0, 2)] == ["first", "second"]


def test_a_copy_of_every_feature_changes_nothing():
    X, y = shifted_classes(3, 100)
    twice = FunctionTransformer(lambda X: np.hstack([X, X]))
    compared = compare_transforms(X, y, transforms={"twice": twice, "once": "passthrough"})
    assert compared.names == ["once", "twice"]
    assert compared.difference[0, 1] == 0
    assert not compared.distinguishable("once", "twice")


def test_a_radial_kernel_leaves_the_floor_as_it_is():
    # distances in its feature space rise with those in the data, so the trees are the same
    X, y = shifted_classes(0, 60, n_features=3)
    kernel = KernelPCA(n_components=59, kernel="rbf", gamma=0.1, eigen_solver="dense")
    compared = compare_transforms(X, y, transforms={"data": "passthrough", "kernel": kernel})
    assert compared.difference[0, 1] == 0


@pytest.mark.parametrize(("criterion", "figure"), [("whole", "whole"), ("mean", "mean_pair"), ("worst", "worst_pair")])
def test_criterion_ranks(sample, criterion, figure):
    by_name = {"noise": columns(2, 3), "all": "passthrough"}
    compared = compare_transforms(*sample, transforms=by_name, criterion=criterion)
    first, second = (getattr(each, figure).floor for each in compared.transforms)
    assert compared.names == ["all", "noise"]
    assert compared.difference[1, 0] == second - first > 0


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


@pytest.mark.parametrize(
    "transform", [PCA(), make_pipeline(StandardScaler(), PCA()), FunctionTransformer(), "passthrough"]
)
def test_what_does_not_learn_from_labels_is_known(transform):
    assert not needs_labels(transform)


def test_labels_do_not_leak():
    # labels are noise, and 60 features let a discriminant separate the rows that it has seen
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 60)), rng.integers(0, 2, 120)
    flattered = LinearDiscriminantAnalysis().fit(X, y).transform(X)
    assert bayes_error(flattered, y).estimate < 0.3
    compared = compare_transforms(X, y, transforms={"data": "passthrough", "discriminant": SUPERVISED["discriminant"]})
    assert compared.held_out
    assert [finding.code for finding in compared.findings] == ["BF031"]
    assert min(each.whole.floor for each in compared.transforms) > 0.37
    assert not compared.distinguishable("data", "discriminant")


def test_a_discriminant_is_recognised_where_it_helps():
    X, y = shifted_classes(0, 300, n_useful=2, n_features=20)
    compared = compare_transforms(X, y, transforms={"data": "passthrough", "discriminant": SUPERVISED["discriminant"]})
    assert compared.best == "discriminant"
    assert compared.distinguishable("data", "discriminant")


class Witness(TransformerMixin, BaseEstimator):
    """Returns the data, and keeps an account of what it was given."""

    seen: list = []  # noqa: RUF012

    def __init__(self, needs_y=True):
        self.needs_y = needs_y

    def fit(self, X, y=None):
        self.seen.append(("fit", X[:, 0].tolist(), None if y is None else list(y)))
        return self

    def transform(self, X):
        self.seen.append(("transform", X[:, 0].tolist(), None))
        return X

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.needs_y
        return tags


def test_transforms_see_other_rows_than_they_are_measured_on():
    X, y = shifted_classes(0, 60, n_classes=3)
    label_of = dict(zip(X[:, 0], np.array(list("abc"))[y], strict=True))
    Witness.seen.clear()
    witness = Witness()
    compared = compare_transforms(X, list(label_of.values()), transforms={"witness": witness, "data": "passthrough"})
    (_, fitted_1, labels_1), (_, shown_1, _), (_, fitted_2, labels_2), (_, shown_2, _) = Witness.seen
    for fitted, labels, shown in ((fitted_1, labels_1, shown_1), (fitted_2, labels_2, shown_2)):
        assert not set(fitted) & set(shown)
        assert set(fitted) | set(shown) == set(X[:, 0])
        assert labels == [label_of[value] for value in fitted]
    assert set(shown_1) == set(fitted_2)
    assert compared.difference[0, 1] == 0  # measured on the same halves, this transform is no transform
    halves = [
        bayes_error(X[np.isin(X[:, 0], shown)], y[np.isin(X[:, 0], shown)]).estimate for shown in (shown_1, shown_2)
    ]
    assert compared.transforms[0].whole.floor == pytest.approx(np.mean(halves))


def test_labels_are_given_to_nobody_else():
    X, y = shifted_classes(0, 40)
    Witness.seen.clear()
    compare_transforms(X, y, transforms={"witness": Witness(needs_y=False)})
    assert [(what, labels) for what, _, labels in Witness.seen] == [("fit", None), ("transform", None)]


def test_transforms_are_cloned(sample):
    scaler = StandardScaler()
    before = clone(scaler).get_params()
    compare_transforms(*sample, transforms={"scaler": scaler})
    assert not hasattr(scaler, "mean_")
    assert scaler.get_params() == before


def test_maps_without_transform_come_after_their_equals(sample):
    X, y = sample
    embedding = SpectralEmbedding(2, random_state=0, n_neighbors=15)
    compared = compare_transforms(X, y, transforms={"embedding": embedding, "data": "passthrough"})
    if not compared.distinguishable("embedding", "data"):
        assert compared.best == "data"
    assert [finding.code for finding in compared.findings] == ["BF033"]
    assert compared.frame().set_index("transform")["takes_new_rows"].to_dict() == {"data": True, "embedding": False}


def test_rows_are_sampled_and_that_is_said():
    X, y = shifted_classes(0, 300, n_classes=3)
    compared = compare_transforms(X, y, transforms={"data": "passthrough"}, max_rows=90)
    assert (compared.n_rows, compared.n_samples) == (90, 300)
    assert [finding.code for finding in compared.findings] == ["BF032"]
    again = compare_transforms(X, y, transforms={"data": "passthrough"}, max_rows=90)
    other = compare_transforms(X, y, transforms={"data": "passthrough"}, max_rows=90, random_state=1)
    assert again.transforms[0].whole == compared.transforms[0].whole != other.transforms[0].whole


def test_data_frames_with_text():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"size": rng.standard_normal(90), "colour": rng.choice(["red", "blue", "green"], 90)})
    y = (frame["colour"] == "red").to_numpy()
    encode = make_column_transformer((OneHotEncoder(sparse_output=True), ["colour"]), remainder="passthrough")
    compared = compare_transforms(
        frame, y, transforms={"encoded": encode, "size": make_column_transformer(("passthrough", ["size"]))}
    )
    assert compared.best == "encoded"
    assert compared.classes.tolist() == [False, True]
    with pytest.raises(ValueError, match=r"output of transform 'as it is' cannot be measured: .*column 'colour'"):
        compare_transforms(frame, y, transforms={"as it is": "passthrough"})


def test_polars_frames():
    polars = pytest.importorskip("polars")
    X, y = shifted_classes(0, 80, n_features=3)
    frame = polars.DataFrame(X, schema=["a", "b", "c"])
    compared = compare_transforms(
        frame, polars.Series(y), transforms={"data": "passthrough", "scaled": StandardScaler()}, max_rows=60
    )
    assert compared.n_rows == 60


def test_default_set():
    X, y = shifted_classes(0, 60, n_features=12, n_classes=3)
    compared = compare_transforms(X, y)
    assert set(compared.names) == set(default_transforms(60, 12))
    assert {"as it is", "standardised", "2 principal components", "10 Laplacian eigenmaps"} <= set(compared.names)
    assert "10 principal components" not in default_transforms(60, 8)
    assert all("Laplacian" not in name for name in default_transforms(3, 2))


def test_the_picture(compared):
    pytest.importorskip("matplotlib")
    from matplotlib import pyplot

    display = compared.plot()
    assert len(display.frame()) == 4
    pyplot.close(display.figure_)


class Spoiler(TransformerMixin, BaseEstimator):
    """Returns whatever it was told to."""

    def __init__(self, output=None):
        self.output = output

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return self.output(X)


@pytest.mark.parametrize(
    ("transforms", "error", "message"),
    [
        ("defaults", ValueError, "must be a dict of transformers by name, or 'default'. Got 'defaults'"),
        ({}, ValueError, "must be a dict of transformers by name"),
        ([PCA()], ValueError, "must be a dict of transformers by name"),
        ({1: PCA()}, TypeError, "Names of transforms must be text, got 1"),
        ({"a": "drop"}, TypeError, "Transform 'a' must be a transformer or 'passthrough'; got 'drop'"),
        ({"a": PCA}, TypeError, "Transform 'a' must be a transformer"),
        ({"a": LogisticRegression()}, TypeError, "Transform 'a' must be a transformer"),
        ({"\x1b[1m": Spoiler(lambda X: X * np.nan)}, ValueError, r"'\\x1b\[1m' cannot be measured: .*NaN in 150 rows"),
        ({"a": Spoiler(lambda X: X[1:])}, ValueError, "Transform 'a' made 149 rows of 150"),
    ],
)
def test_transforms_are_checked(sample, transforms, error, message):
    with pytest.raises(error, match=message):
        compare_transforms(*sample, transforms=transforms)


class LearnsAndForgets(BaseEstimator):
    """A map of the rows and labels at hand only."""

    def fit(self, X, y):
        return self

    def fit_transform(self, X, y):
        return X

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def test_errors_name_the_transform(sample):
    X, y = sample
    for transform in (PCA(7), make_pipeline(PCA(7), SUPERVISED["discriminant"])):
        with pytest.raises(ValueError, match="n_components=7") as caught:
            compare_transforms(X, y, transforms={"too many": transform})
        assert caught.value.__notes__ == ["This came up in transform 'too many'."]


def test_what_can_only_be_measured_on_its_own_labels_is_refused(sample):
    with pytest.raises(TypeError, match=r"Transform 'a' learns from the labels and has no transform\(\)"):
        compare_transforms(*sample, transforms={"a": LearnsAndForgets()})


def test_halves_need_two_rows_of_each_class():
    X, y = shifted_classes(0, 40)
    y[3] = 7
    with pytest.raises(ValueError, match="two rows of each class; there is one of 7"):
        compare_transforms(X, y, transforms={"a": SUPERVISED["discriminant"]})
    assert compare_transforms(X, y, transforms={"a": "passthrough"}).classes.tolist() == [0, 1, 7]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"criterion": "best"}, "'criterion' parameter"),
        ({"confidence": 0}, "'confidence' parameter"),
        ({"max_rows": 2}, "max_rows=2 is less than two rows"),
    ],
)
def test_arguments_are_checked(sample, arguments, message):
    with pytest.raises(ValueError, match=message):
        compare_transforms(*sample, transforms={"a": "passthrough"}, **arguments)


def test_names_that_are_not_there_are_refused(compared):
    with pytest.raises(ValueError, match="'nothing' is not one of the transforms"):
        compared.distinguishable("nothing", "all")
    with pytest.raises(ValueError, match="9 is not one of the classes 0, 1, 2"):
        compared.best_for(0, 9)
    with pytest.raises(ValueError, match="two different classes, got 1 twice"):
        compared.best_for(1, 1)
