import numpy as np
import pandas
import pytest

from bayesfloor import bayes_error, one_vs_rest_bayes_error, pairwise_bayes_error, spanning_forests
from bayesfloor.floor.trees.findings import intrinsic_dimension
from bayesfloor.results import Finding
from helpers.known_samples import gaussian_classes, one_hot_table


def clean_sample(n=400, seed=0):
    return gaussian_classes(np.random.default_rng(seed), n, [0.5, 0.5], [[0], [2]], 2)


def findings(X, y, **options):
    found = {finding.code: finding for finding in bayes_error(X, y, **options).findings}
    assert list(found) == sorted(found)
    return found


def test_clean_data_has_none():
    assert findings(*clean_sample()) == {}
    assert str(Finding("BF001", "Something was found.", "Do this.")) == "BF001: Something was found. Do this."


def test_tiny_classes():
    X, y = clean_sample()
    y[:3] = 7
    found = findings(X, y)
    assert set(found) == {"BF001"}
    assert found["BF001"].sentence == "1 class has fewer than 10 rows: 7 (3)."


def test_many_ties():
    X, y = one_hot_table(np.random.default_rng(0), 300, 6, 3)
    found = findings(X, y)
    assert "BF002" in found
    assert "random_state" in found["BF002"].hint


def test_ties_that_rounding_hides():
    # distances 0.1 apart differ in their last digits, and are ties all the same
    X = (np.arange(200) * 0.1)[:, None]
    assert "BF002" in findings(X, np.arange(200) // 100)


def test_repeated_rows():
    X, y = clean_sample()
    first = np.flatnonzero(y == 0)
    X[first[1:6]] = X[first[0]]
    found = findings(X, y)
    assert set(found) == {"BF003"}
    assert found["BF003"].sentence.startswith("5 of 400 rows repeat")
    X, y = clean_sample()
    X[first[1]] = X[first[0]]
    assert findings(X, y) == {}  # one of 400 changes nothing
    small = np.concatenate([first[:20], np.flatnonzero(y == 1)[:20]])
    assert findings(X[small], y[small])["BF003"].sentence.startswith("1 of 40 rows repeats another row")


def test_rows_shared_by_classes():
    X, y = clean_sample()
    first, second = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    X[first[:3]] = X[first[0]]
    X[second[:2]] = X[first[0]]  # one site with class counts (3, 2): two errors
    found = findings(X, y)
    assert {"BF003", "BF004"} == set(found)
    assert found["BF004"].sentence.startswith("5 of 400 rows are identical to a row of another class")
    assert "at least 2, a share of 0.0050" in found["BF004"].sentence


def test_constant_and_wide_features_are_named():
    X, y = clean_sample()
    frame = pandas.DataFrame({"thin": X[:, 0], "wide": 1e4 * X[:, 1], "\x1b[31mflat": 1.0})
    found = findings(frame, y)
    assert r"1 feature is constant: '\x1b[31mflat'." in found["BF006"].sentence
    assert found["BF007"].sentence.startswith("Feature 'wide' spans")
    assert "'thin'" in found["BF007"].sentence
    assert "StandardScaler" in found["BF007"].hint
    assert "2" in findings(np.column_stack([X, np.zeros(400)]), y)["BF006"].sentence


def test_high_dimension_is_called_biased_with_figures():
    rng = np.random.default_rng(1)
    X, y = gaussian_classes(rng, 300, [0.5, 0.5], [[0], [3]], 40)
    found = findings(X, y)
    assert set(found) == {"BF008"}
    assert "40 features" in found["BF008"].sentence
    assert "300 rows" in found["BF008"].sentence
    assert "too high" in found["BF008"].sentence
    # 40 features along which nothing varies but two are not a high dimension
    flat = np.random.default_rng(2).standard_normal((2, 40))
    X, y = clean_sample()
    assert "BF008" not in findings(X @ flat, y)
    # one tree does not show the second neighbour; the number of features has to do
    assert "BF008" in findings(rng.standard_normal((300, 40)), np.arange(300) % 2, n_trees=1)


def test_few_columns_are_a_high_dimension_for_few_rows():
    # five columns and 200 rows: the lower bound was above the Bayes error in 37% of samples, and nothing was said
    for n, d, speaks in [(200, 5, True), (500, 6, True), (200, 2, False), (2000, 3, False)]:
        for seed in range(5):
            X, y = gaussian_classes(np.random.default_rng(seed), n, [0.5, 0.5], [[0], [2]], d)
            assert ("BF008" in findings(X, y)) == speaks, (n, d, seed)


def test_estimates_that_are_held_are_named():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 1000, p=[0.8, 0.1, 0.1])
    X = rng.standard_normal((1000, 2))
    X[:, 1] += 9 * (y == 2)  # which the others have nothing to do with
    (finding,) = pairwise_bayes_error(X, np.array(["a", "b", "c"])[y]).findings
    assert finding.code == "BF016"
    assert "1 of 3 are held there: 'a' and 'b'." in finding.sentence
    (finding,) = one_vs_rest_bayes_error(X, np.array(["a", "b", "c"])[y]).findings
    assert "1 of 3 are held there: 'b'." in finding.sentence
    assert findings(X[y < 2], y[y < 2])["BF016"].sentence.endswith("it is held there.")
    assert "BF016" not in findings(X, y)
    assert "BF016" not in findings(X[y < 2], y[y < 2], bias_correction=False)


def test_intrinsic_dimension():
    for dimension in (1, 2, 5, 10):
        rng = np.random.default_rng(dimension)
        X = rng.random((2000, dimension)) @ np.linalg.qr(rng.standard_normal((12, 12)))[0][:dimension]
        assert intrinsic_dimension(spanning_forests(X)) == pytest.approx(dimension, rel=0.2)
    for nothing in (np.zeros((10, 2)), np.array([[0.0], [1.0]])):
        assert np.isnan(intrinsic_dimension(spanning_forests(nothing)))


def test_leaks():
    X, y = clean_sample()
    code = np.where(y == 0, 3.0, -1.0)
    finer = code + (np.arange(400) % 2) * 0.25  # two values per class give it away just as well
    found = findings(np.column_stack([X, code, finer]), y)
    assert set(found) >= {"BF009"}
    assert "2 features give the label away" in found["BF009"].sentence
    assert "2, 3" in found["BF009"].sentence
    noisy = np.where(np.arange(400) == 5, 2.0 - code, code)  # one row with the other class's value
    assert "BF009" not in findings(np.column_stack([X, noisy]), y)


def test_trees_that_do_not_span():
    X, _ = clean_sample(n=5)
    found = findings(X, [0, 1, 0, 1, 0], n_trees=4)
    assert "4 trees were asked for; only" in found["BF010"].sentence
    star = np.concatenate([[np.zeros(30)], np.eye(30)])  # the hub uses up its edges in the first tree
    assert "BF010" in findings(star, np.arange(31) % 2)


def test_no_sign_of_a_difference():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    found = findings(X, np.arange(300) % 2)
    assert set(found) == {"BF011"}
    assert "random" in found["BF011"].sentence


def test_later_trees_that_cross_more_often():
    # a fine checkerboard along one feature: nearest neighbours agree, the next ones often do not
    rng = np.random.default_rng(0)
    X = rng.random((1500, 2)) * [40, 1]
    y = np.floor(X[:, 0]).astype(int) % 2
    found = findings(X, y)
    assert set(found) == {"BF012"}
    assert "first tree" in found["BF012"].sentence
    assert "BF012" not in findings(X, y, n_trees=1)  # nothing to compare with


def test_later_trees_of_overlapping_classes_do_not():
    # where neighbours differ by chance alone, all trees cross equally often
    for seed in range(20):
        assert "BF012" not in findings(*clean_sample(seed=seed))


def test_copies_do_not_pass_for_an_effect_of_distance():
    # Copies of a third of the rows: the first tree joins them at no cost, and these edges never cross.
    rng = np.random.default_rng(3)
    X, y = gaussian_classes(rng, 900, [0.5, 0.5], [[0], [1]], 2)
    twice = np.concatenate([np.arange(900), np.arange(600)])
    found = findings(X[twice], y[twice])
    assert "BF003" in found
    assert "BF012" not in found
    counts = spanning_forests(X[twice]).cross_counts(y[twice])[:, 0, 1]
    assert counts[2] > 1.25 * counts[0]  # taken over all edges, the counts do rise
