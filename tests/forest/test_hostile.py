"""Input in any form, and input that is refused: the public functions check before they compute.

What each message says in full is tested with the checks themselves, in `tests/data`.
"""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from bayesfloor import TablePreparer, class_forests, spanning_forests
from forest.agreement import assert_same_forests
from forest.point_sets import make_labels, make_points
from naive_forests import naive_forests


def read_only(X, tmp_path):
    X = X.copy()
    X.flags.writeable = False
    return X


def memory_mapped(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


FORMS = {
    "read-only": read_only,
    "Fortran": lambda X, _: np.asfortranarray(X),
    "byte-swapped": lambda X, _: X.astype(">f8" if np.little_endian else "<f8"),
    "memory-mapped": memory_mapped,
    "every other row": lambda X, _: np.repeat(X, 2, axis=0)[::2],
    "every other column": lambda X, _: np.repeat(X, 2, axis=1)[:, ::2],
    "reversed": lambda X, _: X[::-1].copy()[::-1],
    "unaligned": lambda X, _: np.frombuffer(b"x" + X.tobytes(), "u1")[1:].view("f8").reshape(X.shape),
    "list": lambda X, _: X.tolist(),
    "objects": lambda X, _: X.astype(object),
    "pandas": lambda X, _: pd.DataFrame(X, index=np.arange(len(X)) + 7),
    "polars": lambda X, _: pl.DataFrame(X),
    "CSR": lambda X, _: scipy.sparse.csr_array(X),
    "CSC matrix": lambda X, _: scipy.sparse.csc_matrix(X),
    "COO": lambda X, _: scipy.sparse.coo_array(X),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_the_same_points(form, tmp_path):
    X = make_points("integer_grid", 300, 30)
    y = make_labels(300, 3)
    shaped = FORMS[form](X, tmp_path)
    assert_same_forests(spanning_forests(shaped), naive_forests(X, 3))
    result = class_forests(shaped, y)
    np.testing.assert_array_equal(result.pair_cross_counts, class_forests(X, y).pair_cross_counts)


def test_mixed_frame_dtypes():
    X = np.column_stack([np.arange(50) % 7, np.arange(50) % 2, np.linspace(0, 1, 50)])
    columns = {"a": X[:, 0].astype("int8"), "b": X[:, 1] > 0, "c": X[:, 2]}
    expected = spanning_forests(X)
    assert_same_forests(spanning_forests(pd.DataFrame(columns)), expected)
    assert_same_forests(spanning_forests(pl.DataFrame(columns)), expected)


@pytest.mark.parametrize(("d", "order"), [(2, "C"), (25, "C"), (2, "F"), (25, "F")])
@pytest.mark.parametrize("kind", ["gaussian", "some_copies", "one_outlier", "signed_zeros", "mixed_scales"])
def test_input_is_never_written_to(kind, d, order):
    X = np.array(make_points(kind, 250, d), order=order)
    y = make_labels(250, 3)
    before = X.tobytes(), y.tobytes()
    X.flags.writeable = y.flags.writeable = False
    spanning_forests(X).cross_counts(y)
    class_forests(X, y)
    assert (X.tobytes(), y.tobytes()) == before


def test_writable_input_is_neither_written_to_nor_locked():
    X = make_points("one_outlier", 250, 3) * 1e-200
    before = X.copy()
    forests = spanning_forests(X)
    np.testing.assert_array_equal(X, before)
    edges = forests.edges.copy()
    X[:] = 0  # the result must not look at the caller's array any more
    np.testing.assert_array_equal(forests.edges, edges)


with_nan = np.array([[0.0, 1.0], [2.0, np.nan], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (with_nan, "NaN in 1 row, column 1"),
        ([[0.0, 1.0], [2.0, np.inf], [3.0, 4.0]], "infinity"),
        ([[0.0], [10**400]], "infinity"),
        ([["a", 1], ["b", 2], ["c", 3]], "column 0"),
        (np.ones((4, 2)) * 1j, "Complex data not supported"),
        (np.ones((4, 2, 2)), "Found array with dim 3"),
        (np.ones(4), "Expected 2D array, got 1D"),
        (np.float64(4), "Expected 2D array, got scalar"),
        (np.ones((0, 2)), "0 sample"),
        (np.ones((4, 0)), "0 feature"),
        ([[1.0, 2.0], [3.0]], "inhomogeneous"),
        (np.ones((1, 2)), "minimum of 2 is required"),
        (scipy.sparse.csr_array((10**6, 10**6)), "the limit is"),
    ],
)
def test_points_that_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        spanning_forests(X)
    with pytest.raises(ValueError, match=message):
        class_forests(X, [0, 1])


@pytest.mark.parametrize(
    "frame", [pd.DataFrame(with_nan, columns=["a", "b"]), pd.DataFrame({"u": ["a", "b", "a"], "v": [1, 2, 4]})]
)
def test_frames_with_gaps_and_text_are_made_ready(frame):
    expected = spanning_forests(TablePreparer().fit_transform(frame))
    np.testing.assert_array_equal(spanning_forests(frame).weights, expected.weights)


def test_integers_that_float64_cannot_hold_are_pointed_out():
    with pytest.warns(UserWarning, match=r"beyond 2\*\*53"):
        spanning_forests([[2**60], [2**60 + 1], [5]])


def test_more_memory_than_there_is(set_limits):
    set_limits(memory=10_000)
    X = make_points("gaussian", 3000, 20)
    with pytest.raises(MemoryError, match="available"):
        spanning_forests(X)
    with pytest.raises(MemoryError, match="available"):
        class_forests(X, make_labels(3000, 3))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a"] * 6, "needs two classes, got 1: 'a'"),
        ([0.5, 1.5, 2.25, 3.0, 4.0, 5.0], "regression"),
        (["a", None, "b", None, "a", "b"], "2 missing labels"),
        ([0.0, np.nan, 1.0, 0.0, 1.0, 0.0], "1 missing label"),
        ([1, "a", 2, "b", 1, "a"], "int and str"),
        ([0, 1, 0, 1, 0], "inconsistent numbers of samples"),
        ([[0, 1]] * 6, "1d"),
    ],
)
def test_labels_that_are_refused(y, message):
    X = make_points("gaussian", 6, 2)
    with pytest.raises(ValueError, match=message):
        class_forests(X, y)
    if message != "needs two classes, got 1: 'a'":
        with pytest.raises(ValueError, match=message):
            spanning_forests(X).cross_counts(y)


@pytest.mark.parametrize(
    ("option", "error"),
    [
        ({"n_trees": 0}, ValueError),
        ({"n_trees": -1}, ValueError),
        ({"n_trees": 2.5}, TypeError),
        ({"n_jobs": 0}, ValueError),
        ({"n_jobs": "two"}, TypeError),
        ({"random_state": -1}, ValueError),
        ({"random_state": "seed"}, TypeError),
        ({"progress": "loud"}, TypeError),
    ],
    ids=str,
)
def test_options_that_are_refused(option, error):
    X = make_points("gaussian", 20, 2)
    (name,) = option
    with pytest.raises(error, match=name):
        spanning_forests(X, **option)
    with pytest.raises(error, match=name):
        class_forests(X, np.arange(20) % 2, **option)


def test_options_are_keyword_only():
    with pytest.raises(TypeError, match="positional"):
        spanning_forests(make_points("gaussian", 20, 2), 3)


@pytest.mark.parametrize(
    "X",
    [
        [[1.0], [3.0]],
        [[0.0, 0.0], [0.0, 0.0]],
        [[1e300, 0.0], [-1e300, 0.0]],
        [[5e-324], [0.0]],
        [[0.0], [0.0], [1.0]],
    ],
    ids=str,
)
def test_smallest_inputs(X):
    assert_same_forests(spanning_forests(X), naive_forests(X, 3))
    assert_same_forests(class_forests(X, np.arange(len(X)) % 2).whole, naive_forests(X, 3))


@pytest.mark.parametrize("n_constant", [1, 5])
def test_constant_columns_change_nothing(n_constant):
    X = make_points("gaussian", 300, 4)
    wider = np.hstack([np.full((300, n_constant), 1e5), X])
    expected = spanning_forests(X)
    forests = spanning_forests(wider)
    np.testing.assert_array_equal(forests.edges, expected.edges)
    np.testing.assert_array_equal(forests.weights, expected.weights)


def test_random_state_objects():
    X = make_points("one_hot", 200, 10)
    first = spanning_forests(X, random_state=np.random.default_rng(5))
    assert_same_forests(spanning_forests(X, random_state=np.random.default_rng(5)), first)
    for fresh in (None, np.random.default_rng(6)):
        other = spanning_forests(X, random_state=fresh)
        np.testing.assert_array_equal(np.sort(other.weights[other.tree == 0]), np.sort(first.weights[first.tree == 0]))
