"""GenSVM: golden losses, the definition written out, derivatives by differences, and scikit-learn's checks."""

import doctest
import json

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, PredefinedSplit, cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from benchmarks.study.joint import gensvm, gensvm_cv, gensvm_solver
from benchmarks.study.joint.gensvm import GenSVC, check_dense_training, rows_of, simplex_vertices, solve
from benchmarks.study.joint.gensvm_cv import PAPER_GRID, GenSVCCV
from benchmarks.study.joint.gensvm_kernels import derivatives, loss_along, sum_hessian, times_curvature
from helpers.estimator_contract import (
    CONTRACT,
    VARIANT_CONTRACT,
    assert_same_outputs,
    blobs,
    check_kinds_of_array,
    check_search_in_processes,
)

LOSSES = [(1.0, 0.0), (1.0, -0.9), (1.2, 5.0), (1.5, 0.5), (2.0, -0.9)]
SMALL_GRID = {"p": [1.0, 2.0], "kappa": [0.5], "lmd": [2.0**-10, 2.0**-4, 1.0]}
CLASSIFIERS = [GenSVC(), GenSVCCV(SMALL_GRID, cv=3)]


@pytest.mark.slow
@pytest.mark.usefixtures("array_api_checks")
@parametrize_with_checks(CLASSIFIERS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
def test_contract(classifier, check):
    check(clone(classifier))


@pytest.mark.slow
@pytest.mark.parametrize("check", VARIANT_CONTRACT, ids=lambda check: check.__name__)
def test_contract_of_another_loss(check):
    check(GenSVC(1.5, kappa=-0.5))


@pytest.mark.slow
@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
def test_kinds_of_array(classifier, tmp_path):
    check_kinds_of_array(clone(classifier), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
def test_search_in_processes(classifier):
    check_search_in_processes(clone(classifier))


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
def test_bad_input(classifier):
    X, y = blobs()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN in 1 row, column 1"):
        clone(classifier).fit(X, y)


@pytest.mark.parametrize("module", [gensvm, gensvm_cv])
def test_examples(module):
    assert doctest.testmod(module).failed == 0


# The loss, written out


def hinge(q, kappa):
    if q <= -kappa:
        return 1 - q - (kappa + 1) / 2
    return (1 - q) ** 2 / (2 * (kappa + 1)) if q <= 1 else 0.0


def definition(W, t, X, y, p, kappa, lmd, rho):
    """Equation of van den Burg & Groenen, one row and one class at a time."""
    n_classes = W.shape[1] + 1
    U = simplex_vertices(n_classes)
    total = 0.0
    for x, label, weight in zip(X, y, rho, strict=True):
        z = t + x @ W
        errors = [hinge(z @ (U[label] - U[j]), kappa) for j in range(n_classes) if j != label]
        total += weight * sum(error**p for error in errors) ** (1 / p)
    return total / len(X) + lmd * np.trace(W.T @ W)


def rho_of(y, weights):
    counts = np.bincount(y)
    return np.ones(len(y)) if weights == "unit" else len(y) / (len(counts) * counts[y])


def golden_data(name):
    if name == "digits900":
        X, y = load_digits(return_X_y=True)
        return X[:900] / 16, y[:900]
    X, y = {"iris": load_iris, "wine": load_wine}[name](return_X_y=True)
    return StandardScaler().fit_transform(X), y


def test_golden_losses(golden_dir):
    runs = json.loads((golden_dir / "golden_gensvm.json").read_text())["runs"]
    assert len(runs) == 20
    for run in runs:
        X, y = golden_data(run["dataset"])
        fitted = GenSVC(run["p"], kappa=run["kappa"], lmd=run["lmd"], weights=run["weights"]).fit(X, y)
        best = min([run["lbfgs"]["loss"]] + [each["loss"] for each in run["upstream"] if each["converged"]])
        assert fitted.loss_ == pytest.approx(best, rel=1e-9)
        assert fitted.score(X, y) == pytest.approx(run["lbfgs"]["accuracy"], abs=1e-12)
        found = definition(
            fitted.coef_.T, fitted.intercept_, X, y, run["p"], run["kappa"], run["lmd"], rho_of(y, run["weights"])
        )
        assert found == pytest.approx(fitted.loss_, rel=1e-12)


def test_golden_vertices(golden_dir):
    meta = json.loads((golden_dir / "golden_gensvm.json").read_text())["meta"]
    for n_classes, vertices in meta["U_matrices"].items():
        np.testing.assert_allclose(simplex_vertices(int(n_classes)), vertices, rtol=0, atol=1e-15)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_vertices_form_a_regular_simplex_around_zero(n_classes):
    U = simplex_vertices(n_classes)
    assert U.shape == (n_classes, n_classes - 1)
    distances = np.linalg.norm(U[:, None] - U, axis=2)
    np.testing.assert_allclose(distances, 1 - np.eye(n_classes), rtol=0, atol=1e-14)
    np.testing.assert_allclose(U.sum(axis=0), 0, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("p", "kappa"), LOSSES)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_optimum_is_that_of_a_general_minimiser(p, kappa, n_classes):
    X, y = blobs(25, n_classes, 2)
    lmd, rho = 0.02, rho_of(y, "group")
    fitted = GenSVC(p, kappa=kappa, lmd=lmd, weights="group").fit(X, y)

    def loss(V):
        V = V.reshape(3, n_classes - 1)
        return definition(V[1:], V[0], X, y, p, kappa, lmd, rho)

    found = np.vstack([fitted.intercept_, fitted.coef_.T]).ravel()
    assert fitted.loss_ == pytest.approx(loss(found), rel=1e-12)
    best = minimize(loss, np.zeros(3 * (n_classes - 1)), options={"gtol": 1e-7})
    assert fitted.loss_ <= best.fun * (1 + 1e-9)
    assert fitted.loss_ == pytest.approx(best.fun, rel=1e-5)


# Kernels


@pytest.fixture
def scored():
    """Rows at every place of the hinge; the first is beyond all margins, the last at the corner of none."""
    rng = np.random.default_rng(0)
    scores = 1.5 * rng.standard_normal((60, 4))
    codes = np.sort(rng.integers(0, 4, 60))
    scores[0, codes[0]] = 9.0
    return scores, codes, rng.uniform(0.5, 2, 60) / 60, rng.standard_normal((60, 4))


def evaluate(scores, codes, weight, p, kappa, stiffness=0.0):
    gradient, diagonal, outer = (np.zeros_like(scores) for _ in range(3))
    outer_sum = np.zeros(len(scores))
    loss = derivatives(scores, codes, weight, p, kappa + 1, stiffness, gradient, diagonal, outer, outer_sum)
    return loss, gradient, diagonal, outer, outer_sum


@pytest.mark.parametrize(("p", "kappa"), LOSSES)
def test_value_gradient_and_curvature(scored, p, kappa):
    scores, codes, weight, direction = scored

    def slow(scores):
        rows = zip(scores, codes, weight, strict=True)
        return sum(w * sum(hinge(s[y] - s[j], kappa) ** p for j in range(4) if j != y) ** (1 / p) for s, y, w in rows)

    loss, gradient, diagonal, outer, _ = evaluate(scores, codes, weight, p, kappa)
    assert loss == pytest.approx(slow(scores), rel=1e-12)
    h = 1e-6
    for i, j in np.ndindex(scores.shape):
        step = np.zeros_like(scores)
        step[i, j] = h
        assert gradient[i, j] == pytest.approx((slow(scores + step) - slow(scores - step)) / (2 * h), abs=1e-8)

    for length in (0.0, 0.7, -1.3):
        value, slope = loss_along(scores, direction, length, codes, weight, p, kappa + 1)
        there = scores + length * direction
        assert value == pytest.approx(slow(there), rel=1e-12)
        assert slope == pytest.approx(np.vdot(evaluate(there, codes, weight, p, kappa)[1], direction), rel=1e-10)

    ahead, behind = (evaluate(scores + s * direction, codes, weight, p, kappa)[1] for s in (1e-7, -1e-7))
    product = direction.copy()
    times_curvature(product, codes, diagonal, outer, p)
    np.testing.assert_allclose(product, (ahead - behind) / 2e-7, rtol=0, atol=1e-6)


@pytest.mark.parametrize("p", [1.0, 1.3, 1.5, 2.0])
def test_gradient_is_zero_where_all_margins_are_met(p):
    scores, codes = np.array([[3.0, 0.0, 0.0], [1.0, 0.0, -1.0]]), np.zeros(2, np.int64)
    loss, gradient, diagonal, outer, _ = evaluate(scores, codes, np.ones(2), p, 0.0)
    assert loss == 0
    for array in (gradient, diagonal, outer):
        np.testing.assert_array_equal(array, 0)


@pytest.mark.parametrize(("p", "kappa"), LOSSES)
@pytest.mark.parametrize("stiffness", [0.0, 0.5])
def test_hessian_is_the_sum_of_the_rows(scored, p, kappa, stiffness):
    scores, codes, weight, _ = scored
    X = np.random.default_rng(1).standard_normal((60, 3))
    _, _, diagonal, outer, outer_sum = evaluate(scores, codes, weight, p, kappa, stiffness)
    hessian = np.empty((12, 12))
    starts = np.searchsorted(codes, np.arange(5))
    sum_hessian(X, starts, diagonal, outer, outer_sum, p, hessian)
    expected = np.empty((12, 12))
    for column in range(12):
        B = np.zeros((4, 3))
        B.flat[column] = 1.0
        product = X @ B.T
        times_curvature(product, codes, diagonal, outer, p)
        expected[:, column] = (product.T @ X).ravel()
    np.testing.assert_allclose(np.tril(hessian), np.tril(expected), rtol=0, atol=1e-13)
    assert np.linalg.eigvalsh(expected).min() > -1e-12


# The solver


def losses_along(X, y, lmds, p, kappa, weights="unit"):
    """The loss at each of falling λ, each solved from the solution of the one before."""
    rows = rows_of(check_dense_training(GenSVC(), X, y, None), weights)
    return [solution.loss for solution in solve(rows, np.array(lmds), p, kappa, 1e-10, 500)]


@pytest.mark.parametrize(("p", "kappa"), LOSSES)
def test_path_equals_cold_fits(p, kappa):
    X, y = golden_data("wine")
    lmds = [300.0, 1.0, 2.0**-8, 1e-5]
    for lmd, loss in zip(lmds, losses_along(X, y, lmds, p, kappa, "group"), strict=True):
        cold = GenSVC(p, kappa=kappa, lmd=lmd, weights="group").fit(X, y)
        assert loss == pytest.approx(cold.loss_, rel=1e-8)
        found = definition(cold.coef_.T, cold.intercept_, X, y, p, kappa, lmd, rho_of(y, "group"))
        assert found == pytest.approx(loss, rel=1e-8)


@pytest.mark.parametrize(("p", "kappa"), LOSSES)
def test_conjugate_gradients_find_the_same_optimum(monkeypatch, p, kappa):
    X, y = golden_data("iris")
    lmds = [1.0, 1e-2, 1e-4]
    direct = losses_along(X, y, lmds, p, kappa)
    monkeypatch.setattr(gensvm_solver, "MOST_UNKNOWNS", 0)
    np.testing.assert_allclose(losses_along(X, y, lmds, p, kappa), direct, rtol=1e-8)


@pytest.mark.slow
def test_nearly_a_plain_hinge_with_a_small_penalty():
    # The hardest of the paper's grid, from zero: every hinge is a line at the start.
    X, y = golden_data("digits900")
    fitted = GenSVC(1.0, kappa=-0.9, lmd=2.0**-18).fit(X, y)
    *_, last = losses_along(X, y, [1.0, 2.0**-8, 2.0**-18], 1.0, -0.9)
    assert fitted.loss_ == pytest.approx(last, rel=1e-8)


def test_more_features_than_rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 200)), np.arange(30) % 3
    fitted = GenSVC(1.5, lmd=1e-3).fit(X, y)
    assert fitted.score(X, y) == 1
    # The optimum lies in the span of the rows, where it is a problem of 30 features.
    basis = np.linalg.svd(X, full_matrices=False)[2]
    assert fitted.loss_ == pytest.approx(GenSVC(1.5, lmd=1e-3).fit(X @ basis.T, y).loss_, rel=1e-7)


def test_two_classes_have_one_error_so_p_does_not_matter():
    X, y = blobs(80, 2)
    plain, other = GenSVC(1.0, kappa=0.5).fit(X, y), GenSVC(2.0, kappa=0.5).fit(X, y)
    assert plain.coef_.shape == (1, 3)
    assert plain.intercept_.shape == (1,)
    assert other.loss_ == pytest.approx(plain.loss_, rel=1e-8)
    np.testing.assert_allclose(plain.decision_function(X), (X @ plain.coef_.T + plain.intercept_)[:, 0], rtol=1e-12)


def test_rows_go_to_the_nearest_vertex():
    X, y = blobs(100, 5)
    fitted = GenSVC().fit(X, y)
    places = X @ fitted.coef_.T + fitted.intercept_
    distances = np.linalg.norm(places[:, None] - simplex_vertices(5), axis=2)
    np.testing.assert_array_equal(fitted.predict(X), distances.argmin(axis=1))


def test_order_of_rows_does_not_matter():
    X, y = blobs()
    order = np.random.default_rng(3).permutation(len(y))
    ours, theirs = GenSVC(1.5).fit(X, y), GenSVC(1.5).fit(X[order], y[order])
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_array_equal(ours.intercept_, theirs.intercept_)


def test_group_weights_are_weights_of_rows():
    X, y = blobs()
    group = GenSVC(weights="group").fit(X, y)
    weighted = GenSVC().fit(X, y, sample_weight=5 * rho_of(y, "group"))
    assert group.loss_ == pytest.approx(weighted.loss_, rel=1e-12)
    np.testing.assert_allclose(group.coef_, weighted.coef_, rtol=0, atol=1e-9)


def test_a_weight_of_two_is_a_row_given_twice():
    X, y = blobs()
    twice = np.arange(len(y)) % 3 == 0
    weighted = GenSVC(1.5, weights="group").fit(X, y, sample_weight=1.0 + twice)
    repeated = GenSVC(1.5, weights="group").fit(np.vstack([X, X[twice]]), np.append(y, y[twice]))
    assert weighted.loss_ == pytest.approx(repeated.loss_, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-8, 1e8, 1e150, 1e300])
@pytest.mark.parametrize(("p", "kappa"), LOSSES)
def test_extreme_scales(p, kappa, scale):
    X, y = golden_data("iris")
    fitted = GenSVC(p, kappa=kappa).fit(X * scale, y)
    assert np.isfinite(fitted.coef_).all()
    assert np.isfinite(fitted.intercept_).all()
    # A penalty of coefficients makes features this small useless, and features this large free.
    accuracy = fitted.score(X * scale, y)
    assert accuracy > 0.97 if scale > 1 else accuracy >= 1 / 3


def test_one_large_and_one_small_feature():
    X, y = golden_data("iris")
    X = X * [1.0, 1e200, 1e-200, 1.0]
    fitted = GenSVC(1.5).fit(X, y)
    assert np.isfinite(fitted.coef_).all()
    assert fitted.score(X, y) > 0.9
    assert definition(fitted.coef_.T, fitted.intercept_, X, y, 1.5, 0.0, 2**-8, np.ones(150)) == pytest.approx(
        fitted.loss_
    )


def test_scores_out_of_range_are_refused():
    X, y = blobs()
    fitted = GenSVC().fit(X, y)
    with pytest.raises(ValueError, match="exceed the range of float64"):
        fitted.predict(np.full((1, 3), 1.7e308))


def test_offset():
    X, y = blobs()
    X = np.round(X * 2**20) / 2**20  # so that the offset loses nothing
    assert GenSVC().fit(X + 2.0**27, y).loss_ == pytest.approx(GenSVC().fit(X, y).loss_, rel=1e-12)


def test_identical_rows_and_a_constant_column():
    y = np.arange(30) % 3
    fitted = GenSVC(1.5).fit(np.ones((30, 2)) / 3, y)
    np.testing.assert_array_equal(fitted.coef_, 0)
    # One place for all rows: by symmetry the middle, where every margin is zero.
    assert fitted.loss_ == pytest.approx(0.5 * 2 ** (1 / 1.5), rel=1e-9)
    X, y = blobs()
    with_constant = GenSVC().fit(np.column_stack([X, np.full(len(X), 0.1)]), y)
    assert with_constant.loss_ == pytest.approx(GenSVC().fit(X, y).loss_, rel=1e-8)
    np.testing.assert_array_equal(with_constant.coef_[:, 3], 0)


def test_warns_where_it_has_not_converged():
    X, y = golden_data("wine")
    with pytest.warns(ConvergenceWarning, match="not converged after 2 steps"):
        assert GenSVC(lmd=1e-5, max_iter=2).fit(X, y).n_iter_ == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"p": 0.9}, r"'p' parameter must be a float in the range \[1, 2\]. Got 0.9"),
        ({"p": "1"}, "'p' parameter"),
        ({"p": np.nan}, "'p' parameter"),
        ({"kappa": -1.0}, r"'kappa' parameter must be a float in the range \(-1, inf\)"),
        ({"lmd": 0.0}, r"'lmd' parameter must be a float in the range \(0, inf\)"),
        ({"lmd": True}, "'lmd' parameter"),
        ({"weights": "balanced"}, "'weights' parameter must be one of 'unit', 'group'"),
        ({"weights": [1.0, 2.0]}, "'weights' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter must be an int"),
        ({"tol": 0.0}, "'tol' parameter"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = blobs()
    with pytest.raises(ValueError, match=message):
        GenSVC(**parameters).fit(X, y)


# Cross-validation


def test_grid_of_the_paper():
    losses, lmds = gensvm_cv._check_grid("paper")
    assert len(losses) * len(lmds) == 342
    assert PAPER_GRID["lmd"][0] == 2**-18
    assert PAPER_GRID["lmd"][-1] == 2**18


def test_same_scores_as_a_grid_search(monkeypatch):
    monkeypatch.setattr(gensvm_cv, "TOL_OF_FOLDS", 1e-8)
    X, y = blobs(90, 3)
    folds = PredefinedSplit(np.random.default_rng(0).integers(0, 4, 90))
    grid = {"p": [1.0, 1.5], "kappa": [-0.9, 0.5], "lmd": [1.0, 2.0**-4, 2.0**-8], "weights": ["unit", "group"]}
    ours = GenSVCCV(grid, cv=folds).fit(X, y)
    theirs = GridSearchCV(GenSVC(), grid, cv=folds).fit(X, y)
    assert ours.n_not_converged_ == 0
    expected = {tuple(sorted(p.items())): row for row, p in enumerate(theirs.cv_results_["params"])}
    table = ours.cv_results_
    for row in range(24):
        params = {name: table[f"param_{name}"][row] for name in grid}
        other = expected[tuple(sorted(params.items()))]
        for column in ("split0_test_score", "split3_test_score", "mean_test_score", "std_test_score"):
            assert table[column][row] == pytest.approx(theirs.cv_results_[column][other], abs=1e-12)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=1e-12)
    ties = np.flatnonzero(table["mean_test_score"] == table["mean_test_score"].max())
    assert (table["rank_test_score"][ties] == 1).all()
    assert ours.best_params_["lmd"] == table["param_lmd"][ties].max()
    assert_same_outputs(ours, GenSVC(**ours.best_params_).fit(X, y), X)


def test_threads_do_not_matter():
    X, y = blobs()
    one, two = (GenSVCCV(SMALL_GRID, cv=3, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_rows_of_few_classes():
    # With two rows each fold trains on one class alone.
    fitted = GenSVCCV(SMALL_GRID).fit([[0.0], [1.0]], ["a", "b"])
    assert fitted.best_score_ == 0
    assert fitted.predict([[0.0], [1.0]]).tolist() == ["a", "b"]


def test_cross_validated_in_a_cross_validation():
    X, y = golden_data("wine")
    assert cross_val_score(GenSVCCV(SMALL_GRID, cv=3), X, y, cv=3).mean() > 0.95


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ("thesis", "must be 'paper' or a dict"),
        (3, "must be 'paper' or a dict"),
        ({"C": [1.0]}, "no place for 'C'"),
        ({"weights": "unit"}, "list of values for 'weights'"),
        ({"p": []}, "list of values for 'p'"),
        ({"p": [1.0, 3.0]}, "'p' parameter"),
        ({"lmd": [-1.0]}, "'lmd' parameter"),
    ],
)
def test_bad_grids(grid, message):
    with pytest.raises(ValueError, match=message):
        GenSVCCV(grid).fit(*blobs())
