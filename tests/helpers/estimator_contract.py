"""What every classifier of this room must do, whatever it is made of.

Each function of `CONTRACT` takes an unfitted classifier and fails where that breaks the contract::

    @pytest.mark.parametrize("classifier", [...], ids=repr)
    @pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
    def test_contract(classifier, check):
        check(clone(classifier))

One instance of a class meets all of them; its variants meet `VARIANT_CONTRACT`, where a parameter can matter.
"""

import pickle
import threading
import warnings
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, PredefinedSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter


def blobs(n=120, n_classes=4, n_features=3, seed=0):
    """Classes of unequal size around centres that lie about three deviations apart."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, size=n, p=np.arange(2, n_classes + 2) / np.arange(2, n_classes + 2).sum())
    return 2.0 * rng.standard_normal((n_classes, n_features))[y] + rng.standard_normal((n, n_features)), y


def outputs(classifier, X):
    """Everything that a fitted classifier says about rows."""
    methods = [name for name in ("predict", "decision_function", "predict_proba") if hasattr(classifier, name)]
    return {name: getattr(classifier, name)(X) for name in methods}


def assert_same_outputs(first, second, X, **tolerance):
    ours, theirs = outputs(first, X), outputs(second, X)
    assert ours.keys() == theirs.keys()
    for name in ours:
        if name == "predict":
            np.testing.assert_array_equal(ours[name], theirs[name])
        else:
            np.testing.assert_allclose(ours[name], theirs[name], **{"rtol": 1e-12, "atol": 1e-12} | tolerance)


def fitted_state(classifier):
    return {name for name in vars(classifier) if name.endswith("_") and not name.startswith("_")}


def check_second_fit_forgets_the_first(classifier):
    pandas = pytest.importorskip("pandas")
    X, y = blobs()
    Z, z = blobs(90, 3, 2, seed=1)
    classifier.fit(pandas.DataFrame(X, columns=list("abc")), y)
    first = fitted_state(classifier)
    classifier.fit(Z, np.array(["u", "v", "w"])[z])
    fresh = clone(classifier).fit(Z, np.array(["u", "v", "w"])[z])
    assert fitted_state(classifier) == fitted_state(fresh) == first - {"feature_names_in_"}
    assert classifier.n_features_in_ == 2
    assert_same_outputs(classifier, fresh, Z)


def check_parameters_are_not_modified(classifier):
    before = {name: (value, pickle.dumps(value)) for name, value in classifier.get_params(deep=False).items()}
    X, y = blobs()
    classifier.fit(X, y).predict(X)
    for name, (value, dump) in before.items():
        assert getattr(classifier, name) is value
        assert pickle.dumps(value) == dump, name


def check_decisions_agree(classifier):
    for n_classes in (2, 3, 7):
        X, y = blobs(140, n_classes)
        classifier.fit(X, y)
        said = outputs(classifier, np.concatenate([X, np.zeros((1, 3))]))
        scores = said["decision_function"]
        assert scores.shape == ((141,) if n_classes == 2 else (141, n_classes))
        chosen = (scores > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
        np.testing.assert_array_equal(classifier.classes_[chosen], said["predict"])
        if "predict_proba" in said:
            assert said["predict_proba"].shape == (141, n_classes)
            assert said["predict_proba"].min() >= 0
            np.testing.assert_allclose(said["predict_proba"].sum(axis=1), 1, rtol=0, atol=1e-12)
            chosen = said["predict_proba"].argmax(axis=1)
            np.testing.assert_array_equal(classifier.classes_[chosen], said["predict"])
        assert np.mean(said["predict"][:-1] == y) > 0.6


def check_rows_do_not_depend_on_their_batch(classifier):
    X, y = blobs()
    classifier.fit(X, y)
    together = outputs(classifier, X)
    for name, values in together.items():
        alone = np.concatenate([getattr(classifier, name)(X[i : i + 1]) for i in range(20)])
        backwards = getattr(classifier, name)(X[::-1])[::-1]
        if name == "predict":
            np.testing.assert_array_equal(alone, values[:20])
            np.testing.assert_array_equal(backwards, values)
        else:
            np.testing.assert_allclose(alone, values[:20], rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(backwards, values, rtol=1e-12, atol=1e-12)


def check_labels_come_back_as_they_were(classifier):
    X, y = blobs(n_classes=3)
    plain = clone(classifier).fit(X, y).predict(X)
    for labels in (
        np.array(["b", "c", "d"]),
        np.array(["b", "c", "d"], object),
        np.array([-5, 0, 7], np.int8),
        np.array([0.0, 1.0, 1e6]),
    ):
        classifier.fit(X, labels[y])
        assert classifier.classes_.tolist() == labels.tolist()
        assert classifier.predict(X).dtype == labels.dtype
        np.testing.assert_array_equal(classifier.predict(X), labels[plain])
    np.testing.assert_array_equal(classifier.fit(X, (y > 0).tolist()).classes_, [False, True])


def check_class_with_one_row(classifier):
    X, y = blobs()
    y = np.where(np.arange(len(y)) == 7, 9, y)
    X[7] = 40.0
    with warnings.catch_warnings():  # what cross-validates says that the class is in one fold only
        warnings.filterwarnings("ignore", r"Some of the [23] folds lack a class: .*9 \(1 row in 1\)", UserWarning)
        classifier.fit(X, y)
        assert classifier.classes_.tolist() == [0, 1, 2, 3, 9]
        assert classifier.predict(X[7:8]) == [9]
        classifier.fit(X[[0, 7]], y[[0, 7]])
        assert classifier.predict(X[[7]]) == [9]


def check_kinds_of_array(classifier, tmp_path):
    X, y = blobs()
    X = np.round(X, 1).astype(np.float32)
    expected = clone(classifier).fit(X.astype(np.float64), y)
    memory_map = np.memmap(tmp_path / "points", np.float64, "w+", shape=X.shape)
    memory_map[:] = X
    read_only = X.astype(np.float64)
    read_only.flags.writeable = False
    for points in (X, np.asfortranarray(X), X.astype(">f8"), memory_map, read_only, X.astype(object), X.tolist()):
        assert_same_outputs(clone(classifier).fit(points, y), expected, points)
    np.testing.assert_array_equal(memory_map, X)


def check_input_is_not_written_to(classifier):
    X, y = blobs()
    weight = np.linspace(0, 2, len(y))
    before = X.copy(), y.copy(), weight.copy()
    if has_fit_parameter(classifier, "sample_weight"):
        classifier.fit(X, y, sample_weight=weight)
    else:
        classifier.fit(X, y)
    outputs(classifier, X)
    for array, copy in zip((X, y, weight), before, strict=True):
        np.testing.assert_array_equal(array, copy)


def check_names_of_features(classifier):
    pandas = pytest.importorskip("pandas")
    X, y = blobs()
    frame = pandas.DataFrame(X, columns=list("abc"))
    with pytest.raises(ValueError, match="The index of y is not that of X"):
        classifier.fit(frame, pandas.Series(y, index=np.arange(len(y)) + 5))
    classifier.fit(frame, pandas.Series(y))
    assert classifier.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(classifier.predict(frame), clone(classifier).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        classifier.predict(frame[["b", "a", "c"]])
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- z"):
        classifier.predict(frame.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
        classifier.fit(X, y).predict(X[:, :2])


def check_polars_frames(classifier):
    polars = pytest.importorskip("polars")
    X, y = blobs()
    frame = polars.DataFrame(X, schema=list("abc"))
    classifier.fit(frame, polars.Series(y))
    assert classifier.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(classifier.predict(frame), clone(classifier).fit(X, y).predict(X))


def check_nan_is_named_when_predicting(classifier):
    X, y = blobs()
    classifier.fit(X, y)
    X[[4, 6], 1] = np.nan
    for name in outputs(classifier, blobs()[0]):
        with pytest.raises(ValueError, match="NaN in 2 rows, column 1"):
            getattr(classifier, name)(X)


def check_sparse_input(classifier):
    X, y = blobs()
    X = np.where(np.abs(X) < 1.0, 0.0, X)
    if not get_tags(classifier).input_tags.sparse:
        with pytest.raises(TypeError, match="Sparse data was passed"):
            classifier.fit(sparse.csr_array(X), y)
        return
    dense = clone(classifier).fit(X, y)
    for container in (sparse.csr_array, sparse.csc_array, sparse.coo_matrix):
        fitted = clone(classifier).fit(container(X), y)
        # solvers take other steps on sparse rows, and folds are dealt out by position instead of value
        assert np.mean(fitted.predict(container(X)) == dense.predict(X)) > 0.9
    bad = sparse.lil_array(X)
    bad[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        classifier.fit(bad, y)


def check_rows_of_weight_zero_are_absent(classifier):
    if not has_fit_parameter(classifier, "sample_weight"):
        pytest.skip("takes no sample_weight")
    X, y = blobs()
    weight = np.where((np.arange(len(y)) % 3 == 0) | (y == 1), 0.0, 1.0)
    weighted = clone(classifier).fit(X, y, sample_weight=weight)
    without = clone(classifier).fit(X[weight > 0], y[weight > 0], sample_weight=weight[weight > 0])
    assert weighted.classes_.tolist() == [0, 2, 3]
    assert_same_outputs(weighted, without, X)
    with pytest.raises(ValueError, match="needs two classes, got 1: 2"):
        clone(classifier).fit(X, y, sample_weight=(y == 2).astype(float))
    for bad in (np.zeros(len(y)), -np.ones(len(y)), np.full(len(y), np.nan), np.ones(3)):
        with pytest.raises(ValueError, match="sample_weight"):
            clone(classifier).fit(X, y, sample_weight=bad)


def check_splitter_beside_rows_of_weight_zero(classifier):
    """Rows of weight zero leave their folds: the same as without these rows, in the folds that are left."""
    if "cv" not in classifier.get_params(deep=False):
        pytest.skip("is not cross-validated")
    X, y = blobs()
    folds = np.arange(len(y)) % 4
    weight = np.where((np.arange(len(y)) % 3 == 0) | (folds == 1), 0.0, 1.0)
    kept = weight > 0
    left = clone(classifier).set_params(cv=PredefinedSplit(folds[kept])).fit(X[kept], y[kept])
    splits = list(PredefinedSplit(folds).split())
    for cv in (PredefinedSplit(folds), splits):
        assert_same_outputs(clone(classifier).set_params(cv=cv).fit(X, y, sample_weight=weight), left, X)
    if classifier.get_params().get("C", "cv") != "cv" and getattr(classifier, "routing", "hard") == "hard":
        return  # no folds are made
    with pytest.raises(ValueError, match="at least two folds"):
        classifier.set_params(cv=splits).fit(X, y, sample_weight=(folds == 1).astype(float))


def check_tools_of_scikit_learn(classifier):
    X, y = blobs()
    assert cross_val_score(make_pipeline(StandardScaler(), classifier), X, y, cv=3).mean() > 0.6
    fitted = classifier.fit(X, y)
    assert clone(fitted).get_params().keys() == fitted.get_params().keys()
    assert not fitted_state(clone(fitted))
    assert_same_outputs(pickle.loads(pickle.dumps(fitted)), fitted, X, rtol=0, atol=0)


def check_search_in_processes(classifier):
    X, y = blobs(60)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), classifier), {"standardscaler__with_std": [True, False]}, cv=2
    )
    alone = clone(search).fit(X, y)
    pool = clone(search).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(pool.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])


def check_several_threads(classifier):
    X, y = blobs()
    expected = clone(classifier).fit(X, y)
    fitted = [clone(classifier) for _ in range(4)]
    threads = [threading.Thread(target=each.fit, args=(X, y)) for each in fitted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in fitted:
        assert_same_outputs(each, expected, X)


def check_skops(classifier):
    io = pytest.importorskip("skops.io")
    X, y = blobs()
    fitted = classifier.fit(X, np.array(list("dcba"))[y])
    dump = io.dumps(fitted)
    unknown = io.get_untrusted_types(data=dump)
    # what is not known to skops is ours, or scikit-learn's own compiled parts
    assert {name.split(".")[0] for name in unknown} <= {"bayesfloor", "sklearn", "study"}
    assert_same_outputs(io.loads(dump, trusted=unknown), fitted, X, rtol=0, atol=0)


def _with_value(value, X, y):
    X = X.astype(object if isinstance(value, str) else float)
    X[3, 1] = value
    return X, y


#: Data that ``fit`` refuses, and the reason it gives.
BAD_INPUT = {
    "NaN": (partial(_with_value, np.nan), "NaN in 1 row, column 1"),
    "inf": (partial(_with_value, np.inf), "infinity .* column 1"),
    "text": (partial(_with_value, "a"), "could not convert to float: column 1"),
    "complex": (lambda X, y: (X * 1j, y), "Complex data not supported"),
    "3-D": (lambda X, y: (X[None], y), "dim"),
    "1-D": (lambda X, y: (X[:, 0], y), "Expected 2D array"),
    "empty": (lambda X, y: (X[:0], y[:0]), "0 sample"),
    "one row": (lambda X, y: (X[:1], y[:1]), "minimum of 2 is required"),
    "lengths differ": (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
    "no y": (lambda X, y: (X, None), "requires y to be passed"),
    "one class": (lambda X, y: (X, ["a"] * len(X)), "needs two classes, got 1: 'a'"),
    "continuous y": (lambda X, y: (X, X[:, 0]), "regression"),
    "missing labels": (lambda X, y: (X, [None, *y[1:].tolist()]), "1 missing label"),
    "mixed labels": (lambda X, y: (X, ["a", *y[1:].tolist()]), "mixed types.*int and str"),
}


def check_bad_input_is_refused(classifier):
    for spoil, message in BAD_INPUT.values():
        with pytest.raises((ValueError, TypeError), match=message):
            classifier.fit(*spoil(*blobs()))


CONTRACT = [
    check_bad_input_is_refused,
    check_second_fit_forgets_the_first,
    check_parameters_are_not_modified,
    check_decisions_agree,
    check_rows_do_not_depend_on_their_batch,
    check_labels_come_back_as_they_were,
    check_class_with_one_row,
    check_input_is_not_written_to,
    check_names_of_features,
    check_polars_frames,
    check_nan_is_named_when_predicting,
    check_sparse_input,
    check_rows_of_weight_zero_are_absent,
    check_splitter_beside_rows_of_weight_zero,
    check_tools_of_scikit_learn,
    check_several_threads,
    check_skops,
]

VARIANT_CONTRACT = [
    check_decisions_agree,
    check_rows_do_not_depend_on_their_batch,
    check_sparse_input,
    check_rows_of_weight_zero_are_absent,
    check_skops,
]
