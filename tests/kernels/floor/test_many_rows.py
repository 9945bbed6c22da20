"""More rows than are cross-validated: who is trained on what, and the learners of linear cost."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import norm
from sklearn.kernel_ridge import KernelRidge
from tests.helpers.learners import FunctionLearner

from bayesfloor import difficulty_report, learned_floor
from bayesfloor.data.sampling import affordable_rows, stratified_rows
from bayesfloor.floor.learned import row_plan, targets, training_sets
from bayesfloor.floor.learned.splits import hold_out
from bayesfloor.learn import boosting, linear_cost, nearest
from bayesfloor.learn.decision_trees import grow_ensemble
from bayesfloor.learn.nearest import LOCAL_FITS, LocalRidge, nearest_rows
from bayesfloor.learn.training_rows import Scaling, Train
from bayesfloor.tables.arguments import check_problem
from helpers.agreement import codes_of
from helpers.known_samples import same


@pytest.fixture
def few_are_many(monkeypatch, set_limits):
    """Hold rows out from 301 rows on, with fewer trees."""
    set_limits(learned_rows=300)
    monkeypatch.setattr(linear_cost, "MOST_TREES", 20)
    monkeypatch.setattr(boosting, "MOST_OF_MANY", 10)


def two_gaussians(n, distance=2.0, d=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.standard_normal((n, d))
    X[:, 0] += distance * y
    return X, y


# --- who is trained on what


def spy_on_training(monkeypatch):
    seen = []

    def learner(train, test, *_):
        seen.append((train.X.copy(), test.copy(), train.codes))
        return {"prior": np.tile(train.prior, (len(test), 1))}

    monkeypatch.setattr(targets, "MANY_ROWS_LEARNERS", {"spy": FunctionLearner(learner, "prior")})
    return seen


@pytest.mark.parametrize(("n", "n_models", "largest"), [(400, [4, 5, 5], 320), (2000, [1, 2, 2], 1700)])
def test_training_sets_double_and_never_hold_tested_rows(few_are_many, monkeypatch, n, n_models, largest):
    """Of 400 rows, 4 of 5 folds hold 300; of 2000, 300 rows are tested."""
    seen = spy_on_training(monkeypatch)
    as_they_are = Scaling(*np.array([[1.0], [0.0], [1.0]]))
    monkeypatch.setattr(training_sets, "standardised_with", lambda X: (X, as_they_are))
    X = np.arange(float(n))[:, None]
    floor = learned_floor(X, np.arange(n) % 2, n_jobs=1)
    sizes = np.array([len(train) for train, _, _ in seen])
    np.testing.assert_allclose(floor.curve.size, [largest, largest / 2, largest / 4])
    assert [int((sizes == round(size)).sum()) for size in floor.curve.size] == n_models
    for train, test, _ in seen:
        assert not np.isin(test, train).any()
    if n == 2000:
        by_size = {size: [train for train, _, _ in seen if len(train) == size] for size in (850, 1700)}
        assert np.array_equal(np.sort(np.concatenate(by_size[850]), axis=0), np.sort(by_size[1700][0], axis=0))
    assert (floor.n_samples, floor.n_rows) == (n, n)
    assert "BF021" not in codes_of(floor)


def test_rare_classes_are_held_out_and_trained_on():
    codes = np.random.default_rng(0).permutation(np.repeat([0, 1, 2, 3], [20_000, 900, 60, 1]))
    folds, tested, stack_folds = hold_out(codes, None, 5, 1000)
    in_class = np.bincount(codes[tested])
    assert in_class.sum() == 1000
    assert in_class[1:].tolist() == [125, 12, 1]  # at most an eighth of the tested rows, at most a fifth of the class
    assert np.bincount(codes[folds > 0]).tolist() == (np.bincount(codes) - in_class)[:3].tolist()
    assert len(np.unique(stack_folds)) == 5


def test_a_class_that_no_tested_fold_would_have():
    codes = np.repeat([0, 1], [4000, 1])
    folds, tested, _ = hold_out(codes, None, 5, 1500)
    assert 4000 in tested
    assert np.unique(folds[tested]).tolist() == [0, 1]


def test_rare_classes_count_for_their_share(few_are_many):
    """A rare class far from the other is found whole, and the error is that among all rows."""
    X, y = two_gaussians(2500)
    y[:50], X[:50, 1] = 2, X[:50, 1] + 20
    floor = learned_floor(X, y, n_jobs=1)
    rare = floor.ranking[2]
    assert rare.n_rows == 10
    assert rare.share == 0.02
    assert rare.auc == pytest.approx(1.0, abs=0.01)
    assert floor.reached == pytest.approx(0.98 * norm.cdf(-1), abs=0.05)
    assert floor.majority_error == pytest.approx(1 - np.bincount(y).max() / 2500)


def test_groups_stay_together(few_are_many, monkeypatch):
    seen = spy_on_training(monkeypatch)
    as_they_are = Scaling(*np.array([[1.0], [0.0], [1.0]]))
    monkeypatch.setattr(training_sets, "standardised_with", lambda X: (X, as_they_are))
    groups = np.arange(1200) // 20
    rng = np.random.default_rng(0)
    learned_floor(groups[:, None] + 0.5 * rng.random((1200, 1)), rng.integers(0, 2, 1200), groups=groups, n_jobs=1)
    for train, test, _ in seen:
        assert not np.isin(test.astype(int), train.astype(int)).any()
    assert len(np.unique(np.concatenate([test for _, test, _ in seen]).astype(int))) > 54  # about all are tested


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_what_keeps_cross_validation(few_are_many, monkeypatch):
    """Few rows, an order of time, folds and learners of one's own."""
    seen = spy_on_training(monkeypatch)
    X, y = two_gaussians(400)
    quick = {"max_rows": 300, "n_jobs": 1}
    for given in (
        quick,
        {"time": np.arange(400), **quick},
        {"learners": ["gaussian"]},
        {"learners": ["gaussian"], "max_rows": 350},
        {"cv": [(np.flatnonzero(np.arange(400) % 5 != f), np.flatnonzero(np.arange(400) % 5 == f)) for f in range(5)]}
        | quick,
    ):
        assert learned_floor(X, y, **given).n_rows == given.get("max_rows", 300)
    assert seen == []


def test_bound_of_work():
    assert affordable_rows(54) == 1_000_000
    assert affordable_rows(640) == 100_000
    assert affordable_rows(1_000_000) == 10_000
    X, y = two_gaussians(50)
    problem = check_problem(X, y)
    timed = check_problem(X, y, time=np.arange(50))
    grouped = check_problem(X, y, groups=np.arange(50))
    assert [row_plan.rows_by_default(each) for each in (problem, grouped, timed)] == [1_000_000, 500_000, 10_000]


def test_a_report_of_many_rows_uses_fewer(few_are_many, monkeypatch, set_limits):
    seen = spy_on_training(monkeypatch)
    set_limits(report_values=64 * 11_000, tree_rows=300)
    X, y = two_gaussians(12_000)
    report = difficulty_report(X, y, n_jobs=1)
    assert report.learned.n_rows == 11_000
    assert "11000 of 12000 rows" in str(report.findings)
    assert seen


# --- the same answer


def test_order_of_rows_and_threads_change_nothing(few_are_many, set_limits):
    set_limits(learned_rows=100)
    X, y = two_gaussians(600)
    floor = learned_floor(X, y, n_jobs=1)
    order = np.random.default_rng(0).permutation(len(X))
    same(learned_floor(X[order], y[order], n_jobs=2), floor, rtol=1e-12)
    assert floor.reached < 0.25


def test_tables(few_are_many):
    """Labels that follow from a category of many values: what is computed from them comes from training rows alone."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    level = rng.integers(0, 80, 900)
    frame = pd.DataFrame({"level": [f"v{v}" for v in level], "noise": rng.standard_normal(900)})
    frame.loc[rng.random(900) < 0.1, "noise"] = np.nan
    floor = learned_floor(frame, rng.integers(0, 2, 900), n_jobs=1, checks=False)
    assert floor.reached > 0.4
    floor = learned_floor(frame, (level % 2).astype(str), n_jobs=1, checks=False)
    assert floor.reached < 0.05


# --- learners


def test_deep_trees_have_pure_leaves_and_equal_rows_share_them():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, (3000, 5)).astype(np.uint16)
    X[:, 4] = 7
    codes = rng.integers(0, 3, 3000)
    grown = grow_ensemble(Train(X, codes, 3), X, 1, 4, n_tries=3, min_rows=1, n_looked_at=500)
    _, same_row = np.unique(X, axis=0, return_inverse=True)
    shares = np.zeros((same_row.max() + 1, 3))
    np.add.at(shares, (same_row.ravel(), codes), 1.0)
    shares /= shares.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(grown.deep, shares[same_row.ravel()])
    assert grown.importance[4] == 0
    assert np.all(grown.importance[:4] > 0)


def test_ranks_go_to_the_nearer_value():
    ranks = linear_cost.Ranks.of_points(np.array([[5.0, 1.0, 2.0, 1.0]]).T)
    assert ranks.of(np.array([[5.0, 1.0, 2.0, 1.0]]).T)[:, 0].tolist() == [2, 0, 1, 0]
    assert ranks.of(np.array([[-9.0, 1.4, 1.6, 3.6, 99.0]]).T)[:, 0].tolist() == [0, 0, 1, 2, 2]


def near_problem(n=500):
    rng = np.random.default_rng(0)
    X, test = (rng.standard_normal((m, 3)).astype(np.float32) for m in (n, 40))
    return Train(X, (X[:, 0] * X[:, 1] > 0).astype(np.int64), 2), test


@pytest.mark.parametrize("k", [1, 300])
def test_nearest_rows_are_the_same_where_boxes_are_passed_over(monkeypatch, k):
    """Brute force over all distances; on a grid many are equal, and the first row is nearer."""
    rng = np.random.default_rng(0)
    known = np.column_stack([rng.integers(0, 9, (5000, 2)), 0.125 * rng.integers(0, 3, (5000, 3))]).astype(np.float32)
    test = np.vstack([known[:700], known[:100] + 0.5, [[100.0, -3.0, 0.0, 0.0, 0.0]]]).astype(np.float32)
    squares = cdist(test, known, "sqeuclidean")
    expected = np.argsort(squares, axis=1, kind="stable")[:, :k]
    looked_at = []
    kernel = nearest.keep_nearest
    monkeypatch.setattr(
        nearest, "keep_nearest", lambda block, *rest: looked_at.append(block.size) or kernel(block, *rest)
    )
    np.testing.assert_array_equal(nearest_rows(known, test, k), expected)
    assert sum(looked_at) < 0.7 * squares.size
    monkeypatch.setattr(nearest, "FEW_DIRECTIONS", 0.0)
    np.testing.assert_array_equal(nearest_rows(known, test, k), expected)


def test_local_ridge_of_all_rows_is_kernel_ridge():
    train, test = near_problem(200)
    near = nearest_rows(train.X, test, 200)
    typical = np.median(cdist(train.X, train.X)[np.triu_indices(200, 1)] ** 2)
    for width, penalty in LOCAL_FITS:
        model = KernelRidge(alpha=penalty, kernel="rbf", gamma=0.5 / (width**2 * typical))
        model.fit(train.X.astype(float), train.one_hot - train.prior)
        expected = np.clip(model.predict(test.astype(float)) + train.prior, 1e-3, None)
        np.testing.assert_allclose(
            LocalRidge.of_train(train, width, penalty).of(train.X, test, near), expected, atol=2e-3
        )


def test_at_least_so_many_rows_of_each_class():
    codes = np.repeat([0, 1, 2], [900, 50, 50])
    rows = stratified_rows(codes, 100, np.arange(1000).astype(np.uint64), np.array([1, 10, 1]))
    in_class = np.bincount(codes[rows])
    assert in_class.sum() == 100
    assert in_class[1] == 10
    assert in_class[2] == pytest.approx(90 * 50 / 950, abs=2)
