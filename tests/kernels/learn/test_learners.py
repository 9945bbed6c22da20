"""The learners against scikit-learn's, theory and brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist
from scipy.special import expit, softmax
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.helpers.learners import of_classes, predicted

from bayesfloor import LandmarkClassifier
from bayesfloor.data.prepared_table import TabularView
from bayesfloor.learn.decision_tree_kernels import grow_trees
from bayesfloor.learn.decision_trees import _places_for, grow_ensemble
from bayesfloor.learn.discriminants import _shrinkage
from bayesfloor.learn.learner import Look
from bayesfloor.learn.registry import CLASS_LEARNERS, MANY_ROWS_LEARNERS, EstimatorLearner, suited
from bayesfloor.learn.ridge import PENALTIES, kernel_ridge
from bayesfloor.learn.training_rows import (
    FARTHEST,
    Codes,
    Directions,
    Projected,
    Train,
    distances_between,
    relative_spread,
    safe,
    standardised,
)


def blobs(n=400, d=3, n_classes=3, seed=0, distance=1.5):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n)
    X = rng.standard_normal((n, d))
    X[np.arange(n), codes % d] += distance
    return X, codes


def halved(n_classes=3, **options):
    X, codes = blobs(n_classes=n_classes, **options)
    half = len(X) // 2
    return Train(X[:half], codes[:half], n_classes), X[half:], codes[half:]


def assert_are_probabilities(train, test):
    """All learners predict a positive probability of every class, after those without rows have got theirs."""
    for learner in CLASS_LEARNERS.values():
        found = predicted(learner, train, test)
        assert tuple(found) == learner.names
        for name, values in found.items():
            p = safe(values, train)
            assert p.shape == (len(test), train.n_classes), name
            assert np.all(np.isfinite(np.log(p))), name
            assert_allclose(p.sum(axis=1), 1.0, err_msg=name)


def test_probabilities():
    train, test, _ = halved()
    assert_are_probabilities(train, test)


@pytest.mark.parametrize(
    "change",
    [
        lambda X, codes: (X, np.where(codes == 2, 0, codes)),  # a class without rows
        lambda X, codes: (X, np.zeros_like(codes)),  # one class only
        lambda X, codes: (np.concatenate([X, np.ones((len(X), 1))], axis=1), codes),  # a constant feature
        lambda X, codes: (np.zeros_like(X), codes),  # nothing but constants
        lambda X, codes: (np.tile(X, (1, 40)), codes),  # more features than rows, all of rank 3
        lambda X, codes: (X[:4], codes[:4]),
        lambda X, codes: (np.round(X), codes),  # ties
    ],
    ids=["missing class", "one class", "constant", "all constant", "wide", "four rows", "ties"],
)
def test_poor_training_sets(change):
    X, codes = change(*blobs(60))
    points, test = standardised(X, X)
    assert_are_probabilities(Train(points, codes, 3), test)


@pytest.mark.interpreted
@pytest.mark.timeout(1800)  # by the interpreter
def test_few_rows_of_many_classes():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, (40, 5)), rng.integers(0, 4, 40), rng.standard_normal(40)])
    points, test = standardised(X[:20], X[20:])
    assert_are_probabilities(Train(points, rng.integers(0, 30, 20), 30), test)


def test_families_suit_the_columns():
    rng = np.random.default_rng(0)
    always = {"gaussian", "clusters", "marginals", "logistic", "neighbours", "kernels"}
    always |= {"trees", "boosting"}
    numbers = rng.standard_normal((50, 5))
    assert set(suited(CLASS_LEARNERS, Look(numbers[:, :2]))) == always
    assert set(suited(CLASS_LEARNERS, Look(numbers[:, :3]))) == always | {"pairs"}
    with_constant = np.column_stack([numbers[:, :3], np.ones(50)])
    assert set(suited(CLASS_LEARNERS, Look(with_constant))) == always | {"pairs"}
    assert set(suited(CLASS_LEARNERS, Look(numbers))) == always | {"pairs", "triples"}
    named = np.column_stack([numbers[:, :2], rng.integers(0, 4, 50)])
    assert set(suited(CLASS_LEARNERS, Look(named))) == always | {"pairs", "nominal"}
    bits = rng.integers(0, 2, (50, 6)).astype(float)
    assert set(suited(CLASS_LEARNERS, Look(bits))) == always | {"pairs", "triples", "network"}
    view = TabularView(numbers[:, :2], np.zeros(2, bool), ("a", "b"))
    assert set(suited(CLASS_LEARNERS, Look(numbers[:, :2], view))) == always | {"nominal"}


@pytest.mark.interpreted
def test_columns_that_share_a_unit():
    rng = np.random.default_rng(0)
    pixels = np.clip(rng.normal(8, [9, 9, 9, 9, 2, 2], (200, 6)), 0, 16)
    assert "unit" in suited(CLASS_LEARNERS, Look(pixels))
    assert "unit" not in suited(CLASS_LEARNERS, Look(pixels, TabularView(pixels, np.zeros(6, bool), tuple("abcdef"))))
    assert "unit" not in suited(CLASS_LEARNERS, Look(pixels * [1, 2, 3, 4, 5, 6]))
    assert "unit" not in suited(CLASS_LEARNERS, Look(pixels[:, :4]))  # which vary as much as each other
    assert "unit" not in suited(CLASS_LEARNERS, Look((pixels > 8).astype(float)))
    assert "unit" not in suited(CLASS_LEARNERS, Look(np.ones((20, 6))))
    train = Train(*standardised(pixels, pixels[:0])[:1], pixels[:, 0].astype(np.int64) // 9, 2)
    train = train._replace(spread=relative_spread(pixels))
    found = of_classes("unit", train, train.X, 0)
    centred = train._replace(X=(pixels - pixels.mean(axis=0)) / pixels.std(axis=0).max())
    assert_allclose(found["5 neighbours, one unit"], of_classes("neighbours", centred, centred.X, 0)["5 neighbours"])


def test_local_ridge_of_a_row_that_is_far_from_all_is_the_prior():
    """As far as test rows can be, and between rows of which float32 would then tell nothing."""
    rng = np.random.default_rng(0)
    train = Train(rng.standard_normal((100, 4)), np.arange(100) % 3, 3)
    test = np.full((2, 4), FARTHEST)
    found = of_classes("neighbours", train, test, 0)["local ridge"]
    assert_allclose(found, np.tile(train.prior, (2, 1)), rtol=1e-6)


def test_components_keep_distances():
    rng = np.random.default_rng(0)
    scale = rng.random(10)
    scale[3] = 0.0
    X, test = rng.standard_normal((200, 10)), rng.standard_normal((30, 10))
    space = Directions.of_points(X, scale)
    points, others = space.of(X), space.of(test)
    assert points.shape[1] <= 9
    assert_allclose(cdist(others, points) ** 2, cdist(test * scale, X * scale) ** 2, atol=0.05)  # 0.1% is left out
    assert_array_equal(Directions.of_points(X, np.zeros(10)).of(test), np.zeros((30, 1)))
    wide = rng.standard_normal((40, 1500))
    points = Directions.of_points(wide, np.ones(1500)).of(wide)
    assert points.shape[1] <= 40
    between, expected = cdist(points, points), cdist(wide, wide)
    assert_allclose(between[expected > 0], expected[expected > 0], rtol=0.15)  # 500 random directions


def test_standardised():
    X, test = np.array([[1.0, 5.0, 1e9], [3.0, 5.0, 1e9]]), np.array([[5.0, 6.0, 1e9]])
    points, others = standardised(X, test)
    assert_allclose(points, [[-1, 0, 0], [1, 0, 0]])
    assert_allclose(others, [[3, 0, 0]])  # nothing was learned of what did not vary


def test_discriminants_find_the_posterior_of_gaussians():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 20_000)
    X = rng.standard_normal((20_000, 2)) + codes[:, None]
    train = Train(X, codes, 2)
    exact = expit(X[:200].sum(axis=1) - 1.0)
    for name in ("LDA", "QDA", "Gaussian naive Bayes"):
        p = of_classes("gaussian", train, X[:200], 0)[name]
        assert np.abs(p[:, 1] - exact).mean() < 0.01, name
    assert np.abs(of_classes("marginals", train, X[:200], 0)["LDA of ranks"][:, 1] - exact).mean() < 0.03


def test_quadratic_discriminant_sees_covariances():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 4000)
    X = rng.standard_normal((4000, 4)) * (1.0 + codes)[:, None]
    train = Train(X[:2000], codes[:2000], 2)
    log_odds = -4 * np.log(2.0) + 0.375 * (X[2000:] ** 2).sum(axis=1)
    found = of_classes("gaussian", train, X[2000:], 0)
    assert np.abs(found["QDA"][:, 1] - expit(log_odds)).mean() < 0.02
    assert np.abs(found["LDA"][:, 1] - 0.5).mean() < 0.05


@pytest.mark.parametrize(("n", "d"), [(50, 3), (200, 40), (10, 30)])
def test_shrinkage_as_in_scikit_learn(n, d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    assert _shrinkage(X, X.T @ X / n) == pytest.approx(ledoit_wolf_shrinkage(X, assume_centered=True))


def test_naive_bayes_as_in_scikit_learn():
    train, test, _ = halved(n=4000)
    expected = GaussianNB().fit(train.X, train.codes).predict_proba(test)
    assert_allclose(of_classes("gaussian", train, test, 0)["Gaussian naive Bayes"], expected, atol=5e-3)


def test_logistic_as_in_scikit_learn():
    train, test, _ = halved()
    expected = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(train.X, train.codes).predict_proba(test)
    assert_allclose(of_classes("logistic", train, test, 0)["logistic"], expected, atol=2e-3)


@pytest.mark.interpreted
def test_neighbours_of_equal_distance_are_the_first():
    X = np.random.default_rng(0).integers(0, 3, (60, 2)).astype(float)
    codes = np.random.default_rng(1).integers(0, 3, 60)
    train = Train(X[:40], codes[:40], 3)
    distances = ((X[40:, None] - X[None, :40]) ** 2).sum(axis=-1)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :5]
    shares = np.eye(3)[codes[nearest]].mean(axis=1)
    assert_allclose(
        of_classes("neighbours", train, X[40:], 0)["5 neighbours"], (5 * shares + train.prior) / 6, atol=1e-12
    )


def test_neighbours_as_in_scikit_learn():
    train, test, _ = halved()
    for k in (5, 15, 50):
        shares = KNeighborsClassifier(k).fit(train.X, train.codes).predict_proba(test)
        votes = of_classes("neighbours", train, test, 0)[f"{k} neighbours"]
        assert_allclose(votes, (k * shares + train.prior) / (k + 1), atol=1e-12)


def test_kernel_ridge_is_that_of_the_full_kernel_when_all_rows_are_landmarks():
    train, test, _ = halved(n=90, n_classes=2)
    n = len(train.X)
    assert n < 50  # all of them are landmarks

    def squares(A, B):
        return ((A[:, None] - B[None]) ** 2).sum(axis=-1)

    typical = np.median(squares(train.X, train.X)[np.triu_indices(n, 1)])
    centre = np.eye(n) - 1.0 / n  # kernels are centred, as targets are
    between, to_test = (np.exp(-0.5 * squares(side, train.X) / typical) for side in (train.X, test))
    kernel = centre @ (between + 1e-6 * np.eye(n)) @ centre
    targets = train.one_hot - train.counts / n
    best = None
    for penalty in PENALTIES * n:
        smoother = kernel @ np.linalg.inv(kernel + penalty * np.eye(n))
        freedom = n - 1 - np.trace(smoother)
        gcv = ((targets - smoother @ targets) ** 2).sum() / freedom**2 if freedom > 0.05 * n else np.inf
        if best is None or gcv < best[0]:
            weights = centre @ np.linalg.solve(kernel + penalty * np.eye(n), targets)
            best = gcv, (to_test - between.mean(axis=0)) @ weights + train.counts / n
    found = of_classes("kernels", train, test, 0)["kernel ridge 1.0"]
    assert_allclose(found, np.clip(best[1], 0.5 / (n + 1), None), atol=1e-3)


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 22])
def test_kernels_between_landmarks_that_are_mostly_equal(seed):
    """The median distance is a rounding error then, and no width of a kernel."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 12))
    dummies = (rng.random((120, d)) < rng.choice([0.01, 0.02, 0.03])).astype(float)
    X, _ = standardised(dummies, dummies[:1])
    between, typical = distances_between(X)
    is_equal = (X[:, np.newaxis] == X).all(axis=2)
    assert_array_equal(between == 0, is_equal)
    assert typical == pytest.approx(np.median(pdist(X, "sqeuclidean")[~is_equal[np.triu_indices(120, 1)]]))
    found = kernel_ridge(Train(X, np.arange(120) % 2, 2), X, 0, (0.5,), 300)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("mark", [-999.0, -99999.0, -1e12])
def test_kernels_between_landmarks_of_which_few_have_a_mark(mark):
    """Most landmarks are so near to each other, for the largest norm, that distances of few digits give no kernel."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal((60, 3))
    values[rng.random((60, 3)) < 0.1] = mark
    X, _ = standardised(values, values[:1])
    between, _ = distances_between(X)
    assert_allclose(between, cdist(X, X, "sqeuclidean"), rtol=1e-7)
    found = kernel_ridge(Train(X, np.arange(60) % 2, 2), X, 0, (0.35,), 300)
    assert np.isfinite(found).all()


def test_trees_do_as_well_as_scikit_learns():
    train, test, codes = halved(n=4000, d=6)
    ours = np.mean(of_classes("trees", train, test, 0)["trees"].argmax(axis=1) != codes)
    theirs = ExtraTreesClassifier(100, min_samples_leaf=3, max_features=6, random_state=0).fit(train.X, train.codes)
    error = 1.0 - theirs.score(test, codes)
    assert abs(ours - error) < 3 * np.sqrt(2 * error * (1 - error) / len(test))


def grow(X, codes, n_trees, n_tries, min_leaf, min_rows, state, means, importance):
    """Call the kernel, of classes without weights."""
    columns, ones = np.ascontiguousarray(X.T, np.float32), np.ones(len(codes))
    known = columns, codes.astype(np.int32), ones, ones, True, X.astype(np.float32)
    nodes = _places_for(1, len(codes), min_leaf, np.float32)
    grow_trees(*known, n_trees, n_tries, 256, min_leaf, min_rows, *state, means, importance, *nodes)


def seeded(seed, n_features):
    return np.array([seed], np.uint64), np.arange(n_features)


def test_trees_stop_when_the_work_is_given_up():
    train, test, _ = halved(n=100)
    calls = []

    def check():
        calls.append(1)
        if len(calls) == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        of_classes("trees", train._replace(check=check), test, 0)
    assert len(calls) == 3


@pytest.mark.interpreted
def test_trees_split_until_leaves_are_pure_or_small():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2)).astype(np.float32)
    codes = (X[:, 0] > 0).astype(np.int64)
    (deep, shallow), importance = means = np.zeros((2, 200, 2)), np.zeros(2)
    grow(X, codes, 10, 2, 1, 5, seeded(3, 2), *means)
    assert_allclose(deep, 10.0 * np.eye(2)[codes])  # every training row is in a pure leaf
    assert_allclose(importance.sum(), 10.0)
    assert importance[0] > 9
    deep[:], shallow[:] = 0, 0
    grow(X, codes, 1, 2, 50, 50, seeded(3, 2), *means)
    assert len(np.unique(deep, axis=0)) <= 4  # leaves of at least 50 of 200 rows
    assert_array_equal(shallow, deep)


@pytest.mark.interpreted
def test_shallow_trees_predict_by_the_last_large_node():
    rng = np.random.default_rng(0)
    X = np.arange(64.0, dtype=np.float32)[:, None]
    codes = rng.integers(0, 2, 64)
    (deep, shallow), importance = means = np.zeros((2, 64, 2)), np.zeros(1)
    grow(X, codes, 1, 1, 1, 8, seeded(1, 1), *means)
    assert_allclose(deep, np.eye(2)[codes], atol=1e-12)
    for row in range(64):  # nodes of one feature are stretches of rows
        stretches = (codes[i:j] for i in range(row + 1) for j in range(max(row + 1, i + 8), 65))
        assert any(np.isclose(shallow[row, 1], np.mean(stretch)) for stretch in stretches)
    again, root = means = np.zeros((2, 64, 2))
    grow(X, codes, 1, 1, 1, 64, seeded(1, 1), means, importance)
    assert_array_equal(again, deep)  # the same tree
    assert_allclose(root[:, 1], codes.mean())


@pytest.mark.interpreted
@pytest.mark.parametrize("weight", [None, np.ones(300)], ids=["counted", "weighted"])
@pytest.mark.parametrize("n_each", [3, 100], ids=["few", "many"])
def test_rows_that_nothing_tells_apart_have_the_shares_of_their_classes(n_each, weight):
    """Leaves of three different rows each, or of a hundred, whose classes differ."""
    rng = np.random.default_rng(0)
    place, codes = np.arange(300) // n_each, rng.integers(0, 4, 300)
    train = Train(place[:, np.newaxis].astype(float), codes, 4, weight=weight)
    found = grow_ensemble(train, train.X, 0, 3)
    expected = np.array([np.bincount(codes[place == each], minlength=4) / n_each for each in place])
    assert_allclose(found.deep, expected)


def test_trees_of_many_rows_look_at_some_of_them():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 3))
    codes = (X[:, 1] > 0.5).astype(np.int64) + 2 * (rng.random(6000) < 0.2)
    train = Train(X[:4000], codes[:4000], 4)
    found = of_classes("trees", train, X[4000:], 0)["trees"].argmax(axis=1)
    assert np.mean(found % 2 != codes[4000:] % 2) < 0.02


@pytest.mark.interpreted
def test_a_few_trees_at_a_time_are_the_same_trees():
    X, codes = blobs(400, 8)

    def trees(parts, seed):
        sums, state = (np.zeros((2, 400, 3)), np.zeros(8)), seeded(seed, 8)
        for n_trees in parts:
            grow(X, codes, n_trees, 3, 2, 5, state, *sums)
        return sums

    at_once, in_parts = trees([10], 3), trees([2, 2, 2, 2, 2], 3)
    assert_array_equal(in_parts[0], at_once[0])
    assert_array_equal(in_parts[1], at_once[1])
    assert not np.array_equal(trees([10], 4)[0], at_once[0])


def test_importance_finds_two_features_of_many():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 800)
    X = rng.standard_normal((800, 60))
    X[:, :2] += 2.0 * codes[:, None]
    train = Train(X[:400], codes[:400], 2)
    found = of_classes("trees", train, X[400:], 0) | of_classes("neighbours", train, X[400:], 0)
    error = {name: np.mean(p.argmax(axis=1) != codes[400:]) for name, p in found.items()}
    assert error["15 neighbours, scaled"] < 0.12 < error["15 neighbours"]


def test_any_classifier_is_a_family():
    train, test, _ = halved(n_classes=4)
    train = Train(train.X, np.where(train.codes == 1, 0, train.codes), 4)
    fitted = ExtraTreesClassifier(5)
    p = predicted(EstimatorLearner("mine", fitted), train, test, 7)["mine"]
    assert_array_equal(p, predicted(EstimatorLearner("mine", fitted), train, test, 7)["mine"])  # seeded
    assert not hasattr(fitted, "classes_")
    assert_array_equal(p[:, 1], 0.0)  # a class without rows
    assert np.all(safe(p, train) > 0)


def test_a_classifier_that_changes_its_rows_leaves_those_of_others():
    train, test, _ = halved()
    before = train.X.copy(), test.copy()
    predicted(EstimatorLearner("mine", make_pipeline(StandardScaler(copy=False), GaussianNB())), train, test, 0)
    assert_array_equal(train.X, before[0])
    assert_array_equal(test, before[1])


def test_a_great_many_features_are_combined_at_random():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 300)
    X = rng.standard_normal((300, 3000)) + 0.25 * codes[:, None]
    train = Train(X[:200], codes[:200], 2)
    points = Projected.to_fewer(3000).of(X)
    assert points.shape == (300, 500)
    distance = np.linalg.norm(X[200:] - X[0], axis=1)
    assert_allclose(np.linalg.norm(points[200:] - points[0], axis=1), distance, rtol=0.2)
    p = of_classes("gaussian", train, X[200:], 0)["LDA"]
    assert np.mean(p.argmax(axis=1) != codes[200:]) < 0.15
    assert Projected.to_fewer(5).of(X) is X


def learn_table(train, test, codes=None):
    return {**of_classes("boosting", train, test, codes=codes), **of_classes("nominal", train, test, codes=codes)}


@pytest.mark.interpreted
def test_table_learners_take_gaps_and_wide_categories():
    rng = np.random.default_rng(0)
    n = 300
    levels = rng.integers(0, 100, n).astype(float)  # more values than boosting takes as one category
    codes = (levels % 2).astype(np.int64)
    levels[:20] = np.nan
    values = np.column_stack([levels, np.full(n, np.nan), rng.normal(size=n)])
    rows, tests = np.arange(200), np.arange(200, n)
    table = Codes(values[rows], np.array([True, False, False]))
    train = Train(rng.normal(size=(200, 1)), codes[rows], 2, table=table)
    for name, probability in learn_table(train, rng.normal(size=(100, 1)), values[tests]).items():
        assert probability.shape == (100, 2), name
        is_known = np.isin(levels[tests], levels[rows][20:])
        wrong = probability.argmax(axis=1) != codes[tests]
        assert wrong[is_known].mean() < 0.2, name


def test_table_learners_with_one_class_only():
    train = Train(np.zeros((10, 1)), np.zeros(10, np.int64), 3)
    for probability in learn_table(train, np.zeros((4, 1))).values():
        assert probability.argmax(axis=1).tolist() == [0] * 4


def test_the_landmark_model_is_that_of_the_classifier():
    """A training set may lack a class, which then has no probability."""
    train, test, _ = halved(n=600, d=3)
    codes = np.where(train.codes > 0, 2, 0)
    given = train._replace(y=codes, n_classes=3)
    found = predicted(MANY_ROWS_LEARNERS["landmarks"], given, test, 5)["landmark model"]
    fitted = LandmarkClassifier(random_state=5).fit(train.X, codes)
    scores = fitted.feature_map_.features(fitted.feature_map_.scaled(test)) @ fitted.coef_.T  # without members
    assert_allclose(found[:, [0, 2]], softmax(scores, axis=1), atol=1e-4)
    assert_array_equal(found[:, 1], 0.0)
    one = train._replace(y=np.zeros_like(codes), n_classes=3)
    found = predicted(MANY_ROWS_LEARNERS["landmarks"], one, test[:2], 5)["landmark model"]
    assert_allclose(found, np.tile(one.prior, (2, 1)))
