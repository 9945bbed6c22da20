import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesfloor.floor import BayesError, OneVsRestBayesError, PairwiseBayesError
from bayesfloor.floor.trees.estimator import BayesErrorEstimator

from .samples import gaussian_classes


@pytest.mark.usefixtures("array_api_checks")
@parametrize_with_checks([BayesErrorEstimator()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def sample():
    X, y = gaussian_classes(np.random.default_rng(0), 300, [0.2, 0.3, 0.5], 2 * np.eye(3), 4)
    return X, np.array(["b", "c", "a"])[y]


def test_one_fit_gives_everything(sample):
    fitted = BayesErrorEstimator().fit(*sample)
    assert fitted.classes_.tolist() == ["a", "b", "c"]
    assert isinstance(fitted.bayes_error_, BayesError)
    assert isinstance(fitted.pairwise_bayes_error_, PairwiseBayesError)
    assert isinstance(fitted.one_vs_rest_bayes_error_, OneVsRestBayesError)
    assert fitted.n_features_in_ == 4
    assert fitted.findings_ == fitted.bayes_error_.findings
    lower, upper = fitted.pairwise_bayes_error_.sum_of_pairs
    assert 0 <= lower <= upper <= 0.51


def test_forests_are_built_in_one_pass(sample, monkeypatch):
    from bayesfloor.floor.trees import assembly

    calls = []
    original = assembly.class_forests
    monkeypatch.setattr(assembly, "class_forests", lambda *args, **kw: calls.append(1) or original(*args, **kw))
    monkeypatch.setattr(assembly, "spanning_forests", None)  # nothing else may be built
    BayesErrorEstimator().fit(*sample)
    assert len(calls) == 1


def test_second_fit_replaces_the_first(sample):
    X, y = sample
    estimator = BayesErrorEstimator().fit(X, y)
    estimator.fit(X[:, :2], np.arange(300) % 2)
    assert estimator.classes_.tolist() == [0, 1]
    assert estimator.n_features_in_ == 2
    assert estimator.bayes_error_.n_classes == 2


def test_clone_pickle_and_params(sample):
    estimator = BayesErrorEstimator(n_trees=2, normalize=False)
    assert clone(estimator).get_params() == estimator.get_params()
    fitted = pickle.loads(pickle.dumps(estimator.fit(*sample)))
    assert fitted.bayes_error_.estimate == estimator.bayes_error_.estimate
    assert fitted.pairwise_bayes_error_.normalize is False


def test_names_of_frames_are_kept(sample):
    pandas = pytest.importorskip("pandas")
    X, y = sample
    fitted = BayesErrorEstimator().fit(pandas.DataFrame(X, columns=list("wxyz")), pandas.Series(y))
    assert fitted.feature_names_in_.tolist() == list("wxyz")
