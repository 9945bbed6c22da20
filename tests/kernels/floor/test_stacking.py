"""Who predicts whom, and whether any of them has seen the answer."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score
from tests.helpers.learners import FunctionLearner

from bayesfloor.data.folds import stratified_folds
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned import cross_fitting, learning, splits, stacking, targets
from bayesfloor.floor.learned.cross_fitting import cross_fit
from bayesfloor.floor.learned.estimate import learned_floor
from bayesfloor.floor.learned.splits import VIEWS, runs_of
from bayesfloor.floor.learned.stacking import StackFits, fit_stacks
from bayesfloor.floor.learned.targets import fit_exponents
from bayesfloor.learn.training_rows import Train, safe, standardised
from bayesfloor.runtime.threads import WorkerPool
from helpers.one_case import for_each
from helpers.plans import everybody, plan_of, target_of


def stacks_of(fitted, target):
    return fit_stacks(fitted, StackFits(target, 0, WorkerPool(1)))


@for_each("n_folds", [5, 10])
def test_runs(n_folds):
    runs = runs_of(n_folds)
    assert len(runs) == 3 * n_folds
    for size, n_views in enumerate(VIEWS):
        of_size = [run for run in runs if run.size == size]
        assert {len(run.train) for run in of_size} == {(n_folds - 1) // n_views}
        for fold in range(n_folds):
            serving = [(view, run.train) for run in of_size for test, view in run.tests if test == fold]
            assert sorted(view for view, _ in serving) == list(range(n_views))  # each view once
            folds = [trained for _, train in serving for trained in train]
            assert len(set(folds)) == len(folds)  # by models that share no rows
            assert fold not in folds


def test_every_row_gets_the_predictions_of_models_that_have_not_seen_it():
    n = 53
    X = np.random.default_rng(0).standard_normal((n, 1))
    codes = np.arange(n) % 3
    folds = stratified_folds(codes, 5, np.arange(n))

    def by_place(train, test, *_):
        return {"place": softmax(test * [1.0, 0.0, -1.0], axis=1), "even": np.ones((len(test), 3))}

    problem = Problem(X, np.arange(3), codes)
    families = {"by place": FunctionLearner(by_place, "place", "even")}
    fitted = cross_fit(problem, plan_of(folds), target_of(codes, 3), families, 0, WorkerPool(1), everybody)
    assert fitted.names == ["place", "even"]
    assert [log_p.shape for log_p in fitted.predicted] == [(2, views, n, 3) for views in (*VIEWS, 4)]
    assert_allclose(fitted.sizes, [n * 0.8, n * 0.4, n * 0.2])
    for run in runs_of(5):
        rows = np.isin(folds, run.train)
        for fold, view in run.tests:
            points, others = standardised(X[rows], X[folds == fold])
            train = Train(points, codes[rows], 3)
            expected = np.log(safe(by_place(train, others)["place"], train))
            assert_allclose(fitted.predicted[run.size][0, view, folds == fold], expected, rtol=1e-5)


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the rows that it was trained on by heart, and nothing else."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.known_ = {row.tobytes(): label for row, label in zip(np.round(X, 6), y, strict=True)}
        return self

    def predict_proba(self, X):
        p = np.full((len(X), len(self.classes_)), 1.0 / len(self.classes_))
        for i, row in enumerate(np.round(X, 6)):
            if row.tobytes() in self.known_:
                p[i] = np.where(self.classes_ == self.known_[row.tobytes()], 0.99, 0.01)
        return p


def pure_noise(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 2)), np.arange(n) % 2


def test_a_leak_through_the_folds_would_be_caught(monkeypatch):
    """On pure noise half of the rows are predicted wrongly, unless somebody has seen the answers."""
    X, y = pure_noise()
    honest = learned_floor(X, y, learners=[Memory()])
    assert honest.reached_interval[0] < 0.5 < honest.reached_interval[1]

    training_set = cross_fitting.training_set

    def leaky(problem, rows, tests, *, is_many):
        return training_set(problem, np.concatenate([rows, tests]), tests, is_many=is_many)

    monkeypatch.setattr(cross_fitting, "training_set", leaky)
    assert learned_floor(X, y, learners=[Memory()]).reached < 0.1


def guesses(seeds):
    """Learners that guess; with enough of them, some are right on any fold by chance."""

    def group(train, test, requested, seed):
        outputs = {}
        for number in seeds:
            rng = np.random.default_rng([number, seed])
            outputs[f"guess {number}"] = rng.dirichlet(np.ones(train.n_classes), len(test))
        return outputs

    return {"guesses": FunctionLearner(group, *(f"guess {number}" for number in seeds))}


def test_a_leak_through_the_choice_of_learners_would_be_caught(monkeypatch):
    monkeypatch.setattr(learning, "check_learners", lambda learners, *known: guesses(range(60)))
    monkeypatch.setattr(targets, "_RIDGE", 1e-3)

    def reached():
        return np.mean([learned_floor(*pure_noise(100, seed), random_state=seed).reached for seed in range(2)])

    honest = reached()
    assert abs(honest - 0.5) < 3 * 0.5 / 200**0.5 + 0.01

    def leaky(seen, n_views, folds, rows, fold, size):
        # chosen and fitted on the very rows that are predicted
        return splits.unseen(None, n_views, folds, np.flatnonzero(folds == fold), fold, size)

    monkeypatch.setattr(stacking, "unseen", leaky)
    assert reached() < honest - 0.1


def test_the_stack_of_a_fold_does_not_depend_on_its_labels():
    rng = np.random.default_rng(0)
    n = 200
    codes = rng.integers(0, 3, n)
    folds = stratified_folds(codes, 5, np.arange(len(codes)))
    log_p = [np.log(rng.dirichlet(np.ones(3), (9, views, n))).astype(np.float32) for views in VIEWS]
    raced = 3 * [np.ones((5, 9), bool)]
    fitted = cross_fitting.CrossFit([str(m) for m in range(9)], log_p, (160.0, 80.0, 40.0), folds, raced)
    other = np.where(folds == 2, (codes + 1) % 3, codes)
    before, after = (stacks_of(fitted, target_of(labels, 3)) for labels in (codes, other))
    for one, two in zip(before, after, strict=True):
        assert_array_equal(one.weights[2], two.weights[2])
        assert_array_equal(one.predicted[:, :, folds == 2], two.predicted[:, :, folds == 2])
        assert not np.array_equal(one.weights[1], two.weights[1])
        assert np.all((one.weights > 0).sum(axis=1) <= targets.N_BEST)
        assert np.all(one.weights >= 0)


@pytest.mark.parametrize(("n_folds", "most"), [(5, 6_000), (6, 0), (9, 6_000)])
def test_a_stack_is_fitted_on_predictions_of_models_that_have_not_seen_its_fold(monkeypatch, n_folds, most):
    folds = np.arange(4 * n_folds) % n_folds
    monkeypatch.setattr(splits, "MOST_NESTED", most)
    listed = splits.splits_of(folds)
    rows = np.arange(len(folds))
    seen, n_views = splits.folds_seen(listed, folds, rows, len(folds)), splits.n_views_of(listed)
    trained = {
        (split.size, view, row): set(folds[split.train])
        for split in listed
        for rows, view in split.tests
        for row in rows
    }
    for size, fold in product(range(3), range(n_folds)):
        rows = np.flatnonzero(folds != fold)
        source, views, known = splits.unseen(seen, n_views, folds, rows, fold, size)
        # models of the largest size have seen all other folds
        assert source == (size if size > 0 else splits.NESTED if most else 1)
        pairs = product(range(n_views[source]), rows)
        expected = [(view, row) for view, row in pairs if fold not in trained[source, view, row]]
        assert sorted(zip(views, known, strict=True)) == sorted(expected)
        assert {row for _, row in expected} == set(rows)


def shares_of_values(train, test, *_):
    """Return for each column the shares of the labels among training rows of the same value."""
    same = test[:, np.newaxis] == train.X
    return {f"column {j}": 1.0 + same[:, :, j] @ train.one_hot for j in range(test.shape[1])}


def test_weights_do_not_tell_how_well_their_fold_will_be_predicted(monkeypatch):
    """Of columns of noise, those whose values agree with the labels between folds would be chosen and would do well."""
    n, codes, pool = 120, np.arange(120) % 2, WorkerPool(1)
    folds = stratified_folds(codes, 5, np.arange(n))
    fits = []
    for seed in range(5):
        X = np.random.default_rng(seed).integers(0, 40, (n, 10)).astype(float)
        problem = Problem(X, np.arange(2), codes)
        families = {"shares": FunctionLearner(shares_of_values, *(f"column {j}" for j in range(10)))}
        fits.append(cross_fit(problem, plan_of(folds), target_of(codes, 2), families, 0, pool, everybody))

    def aucs():
        for fitted in fits:
            score = stacks_of(fitted, target_of(codes, 2))[0].predicted[0, 0, :, 1]
            yield np.mean([roc_auc_score(codes[folds == fold], score[folds == fold]) for fold in range(5)])

    honest = np.array(list(aucs()))
    assert abs(honest.mean() - 0.5) < 3 * honest.std() / len(fits) ** 0.5
    monkeypatch.setattr(stacking, "unseen", lambda seen, *rest: splits.unseen(None, *rest))
    more = np.array(list(aucs())) - honest
    assert more.mean() > 3 * more.std() / len(fits) ** 0.5


@for_each("has_offsets", [True, False])
def test_exponents_are_those_of_a_general_optimiser(has_offsets):
    rng = np.random.default_rng(1)
    n, n_classes, n_learners = 80, 3, 5
    codes, weight = rng.integers(0, n_classes, n), rng.random(n) * (rng.random(n) < 0.7)  # some rows do not count
    log_p = log_softmax(rng.standard_normal((n_learners, n, n_classes)) + np.eye(n_classes)[codes], axis=-1)
    log_p[0] = log_softmax(-2.0 * np.eye(n_classes)[codes], axis=-1)  # which is worse than nothing

    def loss(parameters):
        w, b = parameters[:n_learners], parameters[n_learners:]
        scores = log_softmax(np.einsum("m,mnk->nk", w, log_p) + b, axis=1)
        lost = -(weight / weight.mean()) @ scores[np.arange(n), codes]
        return lost + 0.5 * targets._RIDGE * (((w - 1 / n_learners) ** 2).sum() + (b**2).sum()) / 0.5

    bounds = [(0.0, None)] * n_learners + [(None, None) if has_offsets else (0.0, 0.0)] * n_classes
    start = np.concatenate([np.full(n_learners, 1 / n_learners), np.zeros(n_classes)])
    expected = minimize(loss, start, method="SLSQP", bounds=bounds, options={"ftol": 1e-12, "maxiter": 500}).x
    w, b = fit_exponents(log_p, codes, 0.5, weight, has_offsets=has_offsets)
    assert_allclose(np.concatenate([w, b]), expected, atol=1e-4)
    assert w[0] == 0 < w[1:].max()
