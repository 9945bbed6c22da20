"""The floor from votes: the model beside brute force, floors that are known, forms of input, findings."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.stats import beta, binom, dirichlet_multinomial, multinomial

from bayesfloor import vote_floor
from bayesfloor.floor.votes.mixture import (
    Mixture,
    Setting,
    expected_probabilities,
    fit_mixture,
    mean_of_largest,
    patterns_of,
)
from bayesfloor.floor.votes.settings import clear_at_most, floor_bounds, row_agreement
from bayesfloor.floor.votes.vote_table import MOST_COLUMNS, check_votes, with_shared_columns
from helpers.one_case import for_each
from helpers.refusals import options_not_refused


def votes_of(rng, n, m, *, error=0.15, n_classes=3, annotators=None):
    """Draw (row, annotator, label): m votes of different annotators at each row, each wrong with the same chance."""
    hidden = rng.integers(0, n_classes, n)
    errors = np.full(annotators or m, error) if np.isscalar(error) else np.asarray(error)
    who = np.argsort(rng.random((n, len(errors))), axis=1)[:, :m]
    wrong = rng.random((n, m)) < errors[who]
    shift = rng.integers(1, n_classes, (n, m))
    label = (hidden[:, None] + wrong * shift) % n_classes
    return np.repeat(np.arange(n), m), who.ravel(), label.ravel(), hidden


def counts_of(row, label, n_classes):
    return np.stack([np.bincount(row[label == k], minlength=row.max() + 1) for k in range(n_classes)], axis=1)


# the model


def test_the_mean_of_the_largest_beside_known_laws():
    for k in (2, 3, 6):  # of a flat Dirichlet vector it is a harmonic number
        expected = sum(1 / np.arange(1, k + 1)) / k
        assert mean_of_largest(np.full((1, k), 1 / k), float(k))[0] == pytest.approx(expected, abs=1e-5)
    for precision in (0.3, 2.5, 150.0):
        law = beta(0.8 * precision, 0.2 * precision)
        # E max(p, 1 - p) = 1/2 + the integral of P(p > x) + P(p < 1 - x) over x from 1/2 to 1
        expected = 0.5 + quad(lambda x, law=law: law.sf(x) + law.cdf(1 - x), 0.5, 1)[0]
        assert mean_of_largest(np.array([[0.8, 0.2]]), precision)[0] == pytest.approx(expected, abs=2e-4)
    assert mean_of_largest(np.array([[0.8, 0.2]]), np.inf)[0] == 0.8


def direct_log_likelihood(counts, setting, shares, means):
    """The log-likelihood of each row without the number of orders of its votes, from SciPy's distributions."""
    n_votes, even = counts.sum(axis=1), np.full(counts.shape[1], 1 / counts.shape[1])
    orders = multinomial.logpmf(counts, n_votes, even) + n_votes * np.log(counts.shape[1])
    parts = []
    for z in range(len(shares)):
        if np.isinf(setting.precision):
            hard = multinomial.logpmf(counts, n_votes, means[z])
        else:
            hard = dirichlet_multinomial.logpmf(counts, setting.precision * means[z], n_votes)
        is_sure = counts[:, z] == n_votes
        parts.append(shares[z] * ((1 - setting.clear) * np.exp(hard - orders) + setting.clear * is_sure))
    return np.log(np.sum(parts, axis=0))


@pytest.mark.parametrize("setting", [Setting(np.inf, 0.4), Setting(8.0, 0.3)])
def test_a_fit_has_the_likelihood_that_it_says_and_nothing_near_is_better(setting, monkeypatch):
    monkeypatch.setattr("bayesfloor.floor.votes.mixture._PSEUDO_VOTES", 1e-9)
    monkeypatch.setattr("bayesfloor.floor.votes.mixture._PSEUDO_ROWS", 1e-9)
    monkeypatch.setattr("bayesfloor.floor.votes.mixture._TOLERANCE", 1e-7)
    rng = np.random.default_rng(1)
    row, _, label, _ = votes_of(rng, 60, 4)
    counts = counts_of(row, label, 3)
    patterns = patterns_of(counts)
    weights = patterns.n_rows[None]
    fitted = fit_mixture(patterns, weights, setting)
    shares, means = fitted.shares[0], fitted.means[0]
    best = direct_log_likelihood(counts, setting, shares, means).sum()
    assert fitted.log_likelihood[0] == pytest.approx(best, abs=1e-3)
    for _ in range(10):
        near_shares = shares * np.exp(0.02 * rng.standard_normal(3))
        near_means = means * np.exp(0.02 * rng.standard_normal((3, 3)))
        near = near_shares / near_shares.sum(), near_means / near_means.sum(axis=1, keepdims=True)
        assert direct_log_likelihood(counts, setting, *near).sum() < best + 1e-4


def test_many_fits_side_by_side_are_those_of_one_at_a_time(monkeypatch):
    monkeypatch.setattr("bayesfloor.floor.votes.mixture._MOST_VALUES", 50)
    rng = np.random.default_rng(2)
    row, _, label, _ = votes_of(rng, 100, 3)
    patterns = patterns_of(counts_of(row, label, 3))
    weights = rng.multinomial(100, np.full(len(patterns.counts), 1 / len(patterns.counts)), size=3).astype(float)
    together = fit_mixture(patterns, weights, Setting(6.0, 0.2))
    for place in range(3):
        alone = fit_mixture(patterns, weights[place : place + 1], Setting(6.0, 0.2))
        np.testing.assert_allclose(together.means[place], alone.means[0], atol=1e-6)


def test_large_counts_have_the_same_fit_by_gamma_functions(monkeypatch):
    counts = np.random.default_rng(3).multinomial(9, [0.6, 0.3, 0.1], size=60)
    patterns = patterns_of(counts)
    weights = patterns.n_rows[None]
    added = fit_mixture(patterns, weights, Setting(4.0, 0.0))
    monkeypatch.setattr("bayesfloor.floor.votes.mixture._MOST_ADDED", 0)
    np.testing.assert_allclose(fit_mixture(patterns, weights, Setting(4.0, 0.0)).means, added.means, atol=1e-9)


@for_each("setting", [Setting(np.inf, 0.3), Setting(5.0, 0.3)])
def test_probabilities_given_votes_beside_quadrature(setting):
    means, shares = np.array([[0.8, 0.2], [0.3, 0.7]]), np.array([0.6, 0.4])
    fitted = Mixture(setting, shares[None], means[None], np.zeros(1))
    for votes in ([2, 1], [3, 0], [0, 0]):
        top = bottom = 0.0
        for z in range(2):
            sure = float(z == 0)
            if np.isinf(setting.precision):
                points, masses = np.array([means[z, 0]]), np.ones(1)
            else:
                law = beta(setting.precision * means[z, 0], setting.precision * means[z, 1])
                edges = np.linspace(0, 1, 4001)
                points, masses = (edges[1:] + edges[:-1]) / 2, np.diff(law.cdf(edges))
            points, masses = np.append(points, sure), np.append((1 - setting.clear) * masses, setting.clear)
            like = shares[z] * masses * points ** votes[0] * (1 - points) ** votes[1]
            top, bottom = top + (like * points).sum(), bottom + like.sum()
        assert expected_probabilities(np.array([votes]), fitted)[0, 0] == pytest.approx(top / bottom, abs=1e-4)


def test_bounds_of_agreement():
    rng = np.random.default_rng(4)
    for k, concentration in ((2, 0.1), (4, 0.5), (4, 2.0)):
        p = rng.dirichlet(np.full(k, concentration), 50)
        low, high = floor_bounds((p**2).sum(axis=1).mean(), k)
        assert low - 1e-12 <= (1 - p.max(axis=1)).mean() <= high + 1e-12
        even = np.full((1, k), 0.1 / (k - 1))
        even[0, 0] = 0.9
        assert floor_bounds((even**2).sum(), k)[0] == pytest.approx(0.1)
        assert floor_bounds(0.5 + 0.5 / k, k)[1] == pytest.approx(0.5 * (1 - 1 / k))  # half clear, half even
        assert clear_at_most(0.5 + 0.5 / k, k) == pytest.approx(0.5)
    found = row_agreement(np.array([[3, 1], [2, 0], [1, 0], [1, 1]]))  # the share of pairs
    np.testing.assert_allclose(found, [0.5, 1.0, np.nan, 0.0])


# floors that are known


@pytest.mark.parametrize(("n_votes", "n_classes"), [(3, 2), (5, 3)])
def test_the_floor_of_annotators_with_a_known_error(n_votes, n_classes):
    rng = np.random.default_rng(105)
    floors = []
    for _ in range(3):
        row, _, label, _ = votes_of(rng, 500, n_votes, n_classes=n_classes)
        floors.append(vote_floor(counts_of(row, label, n_classes), n_bootstrap=30))
    assert np.mean([floor.estimate for floor in floors]) == pytest.approx(0.15, abs=0.012)
    if (n_votes, n_classes) == (3, 2):  # one wrong vote of three, or two, is a third of the votes outside the majority
        expected = 3 * 0.15 * 0.85 / 3
        assert np.mean([floor.majority.naive for floor in floors]) == pytest.approx(expected, abs=0.012)


def test_two_votes_tell_the_agreement_but_not_the_floor():
    rng = np.random.default_rng(6)
    first = rng.binomial(2, np.where(rng.random(2000) < 0.5, 0.9, 0.1))
    equal = vote_floor(np.column_stack([first, 2 - first]), n_bootstrap=50)
    # as often agreed on, but 64% of the rows are clear and the others a coin flip: the floor is .18
    coin = rng.random(2000) < 0.36
    first = np.where(coin, rng.binomial(2, 0.5, 2000), 2 * rng.integers(0, 2, 2000))
    coins = vote_floor(np.column_stack([first, 2 - first]), n_bootstrap=50)
    for found in (equal, coins):
        assert found.agreement == pytest.approx(0.82, abs=3 * (0.82 * 0.18 / 2000) ** 0.5)
        assert found.interval[0] < 0.1
        assert found.interval[1] > 0.17
        assert [finding.code for finding in found.findings] == ["BF044"]
    assert equal.reached == pytest.approx(1 - equal.agreement)


def test_annotators_who_never_disagree():
    found = vote_floor(np.array([[3, 0], [0, 3]] * 50), n_bootstrap=50)
    assert found.estimate < 0.01
    assert found.agreement == 1
    # no disagreement in 100 rows: Clopper and Pearson's limit of the agreement, all rows being equally hard
    low = 0.025 ** (1 / 100)
    assert found.agreement_interval == pytest.approx((low, 1.0))
    assert found.interval[1] >= floor_bounds(low, 2)[0]
    assert found.interval[0] == 0.0


def test_two_annotators_are_too_few():
    labels = np.random.default_rng(14).choice(["a", "b"], (40, 1)).repeat(2, axis=1)
    labels[:4, 1] = "a"
    (finding,) = vote_floor(labels, n_bootstrap=20).findings
    assert finding.code == "BF044"
    assert "only 40 rows have two votes or more and only 0 of 40 rows have three votes" in finding.sentence
    assert "there are two annotators" in finding.sentence


def test_columns_of_many_classes_are_shared_by_those_that_never_meet():
    rng = np.random.default_rng(0)
    true = rng.integers(0, 200, 150)
    votes = np.where(rng.random((150, 3)) < 0.8, true[:, np.newaxis], rng.integers(0, 200, (150, 3)))
    table = check_votes(votes, form="labels")
    shared = with_shared_columns(table)
    assert len(table.classes) > 100
    assert len(shared.classes) == MOST_COLUMNS
    # a proper colouring: every row has the same numbers of equal votes as before
    of_row = [np.sort(each.counts, axis=1)[:, -3:] for each in (table, shared)]
    assert np.array_equal(*of_row)
    found = vote_floor(votes, form="labels", n_bootstrap=20)
    assert found.n_classes == len(table.classes)
    assert found.estimate == pytest.approx(0.2 * 199 / 200, abs=0.06)


def test_classes_that_all_meet_have_columns_of_their_own():
    # one row with a vote for each class, so that none may share a column
    counts = np.vstack([np.ones((1, 40), int), 2 * np.eye(40, dtype=int)])
    assert len(with_shared_columns(check_votes(counts)).classes) == 40


def test_a_table_of_other_columns_is_refused():
    rng = np.random.default_rng(0)
    columns = {"sex": ["m", "f"], "city": list("abcdefgh"), "job": [f"job {k}" for k in range(20)]}
    table = pd.DataFrame({name: rng.choice(values, 200) for name, values in columns.items()})
    with pytest.raises(ValueError, match="of the cases, less often than votes dealt out at random"):
        vote_floor(table)


def test_the_ceiling_against_a_majority_is_that_of_a_binomial():
    rng = np.random.default_rng(8)
    row, _, label, _ = votes_of(rng, 3000, 5, error=0.2, n_classes=2)
    found = vote_floor(counts_of(row, label, 2), n_bootstrap=20)
    assert found.majority.ceiling[1] == 1 - found.estimate
    for n in (3, 5, 9):
        assert found.majority.ceiling[n] == pytest.approx(binom(n, 0.8).sf(n // 2), abs=0.012)


def test_the_interval_is_wider_where_annotators_differ():
    rng = np.random.default_rng(9)
    errors = np.array([0.02, 0.4] * 4)
    row, who, label, _ = votes_of(rng, 400, 4, error=errors)
    known = vote_floor(label, rows=row, annotators=who, n_bootstrap=50)
    unknown = vote_floor(label, rows=row, n_bootstrap=50)
    assert known.estimate == pytest.approx(unknown.estimate, abs=0.005)
    assert np.diff(known.interval) > 1.3 * np.diff(unknown.interval)


# forms of input


def test_all_forms_of_the_same_votes_agree():
    rng = np.random.default_rng(12)
    row, who, label, _ = votes_of(rng, 60, 3, annotators=4)
    names = np.array(["cat", "dog", "eel"])
    matrix = np.full((60, 4), None, dtype=object)
    matrix[row, who] = names[label]
    counts = counts_of(row, label, 3)
    frame = pd.DataFrame({"Item": row, "Worker": [f"w{a}" for a in who], "vote": names[label]})
    numbers = np.full((60, 4), np.nan)
    numbers[row, who] = label
    forms = [
        check_votes(matrix),
        check_votes(frame),
        check_votes(pl.from_pandas(frame.sample(frac=1, random_state=0))),
        check_votes(names[label], rows=row, annotators=who),
        check_votes(pd.DataFrame(matrix)),
        check_votes(numbers, form="labels"),
        check_votes(np.ma.masked_invalid(numbers), form="labels"),
    ]
    in_order = counts[np.lexsort(counts.T)]
    for table in forms:
        np.testing.assert_array_equal(table.counts[np.lexsort(table.counts.T)], in_order)
        assert len(table.names) == 4
    assert forms[1].names.tolist() == ["w0", "w1", "w2", "w3"]
    from_counts, from_matrix, shuffled = (
        vote_floor(each, n_bootstrap=20) for each in (pd.DataFrame(counts, columns=names), matrix, matrix[::-1])
    )
    assert from_counts.classes.tolist() == from_matrix.classes.tolist() == names.tolist()
    assert from_counts.annotators is None
    assert from_counts.estimate == from_matrix.estimate
    assert from_counts.agreement == from_matrix.agreement
    assert shuffled.interval == from_matrix.interval


def test_rows_without_votes_are_left_out_and_arrays_not_written_to():
    counts = np.array([[2, 1], [0, 0], [3, 0], [0, 3]] * 20)
    counts.flags.writeable = False
    found = vote_floor(counts, n_bootstrap=20)
    assert (found.n_samples, found.n_rows, found.n_votes) == (80, 60, 180)
    assert found.estimate == vote_floor(counts[counts.sum(axis=1) > 0], n_bootstrap=20).estimate


REFUSED = [
    ([[1, -1], [2, 0]], {}, "1 counts of votes cannot be used, the first at row 0, column 1: -1 is below zero"),
    ([[1, np.nan], [2, 0]], {}, "nan is missing; for a matrix of labels with gaps pass form='labels'"),
    ([[1, np.inf], [2, 0]], {}, "row 0 has inf votes"),
    ([[0.5, 0.5], [1, 1]], {}, "0.5 is no whole number; for shares or probabilities there is soft_label_floor"),
    ([[1, 10**9], [2, 0]], {}, r"row 0 has 1e\+09 votes"),
    ([[3], [2]], {}, "needs two classes, got 1 column"),
    ([1, 2, 3], {}, r"votes should be a matrix .* got an array of shape \(3,\)"),
    (np.empty((0, 2)), {}, "should be a matrix"),
    ([[1, 0], [0, 1]], {}, "no row has two votes, of 2 with a vote"),
    ([[0, 0], [0, 0]], {}, "no row has two votes, of 0 with a vote"),
    ([["a"], ["b"]], {}, "no row has two votes, of 2"),
    ([["a", "a"], ["a", None]], {}, "needs two classes, got 1: 'a'"),
    ([["a", 1], ["a", "b"]], {}, "Labels of mixed types in y: int and str"),
    ([[None, None]], {}, "needs two classes, got 0"),
    ([[1, 2], [3, 4]], {"annotators": ["a", "b"]}, "counts do not tell who voted"),
    ([["a", "b"]], {"annotators": ["x", "x"]}, "annotators should name each of the 2 columns of labels once"),
    ([[1, 2]], {"classes": ["a"]}, "classes should name each of the 2 columns of counts once"),
    ([["a", "b"]], {"classes": ["a", "b"]}, "classes names the columns of a matrix of counts"),
    ([[1, 2]], {"form": "wide"}, "The 'form' parameter must be one of"),
    ([[1, 2]], {"n_bootstrap": 5}, r"an int in the range \[20, inf\)"),
    ([[1, 2]], {"confidence": 1.0}, "confidence"),
    (["a", "b", "a"], {"rows": [0, 0]}, r"inconsistent numbers of samples: \[3, 2\]"),
    (["a", "b"], {"rows": [0, 0], "annotators": ["x", "x"]}, "annotator 'x' voted 2 times at row 0"),
    (["a", "b"], {"rows": [0, None]}, "1 votes have no row, the first at line 1"),
    (["a", "b"], {"form": "long"}, "with rows= for the row of each"),
    (pd.DataFrame({"item": [0], "label": ["a"]}), {"rows": "itm"}, "no column 'itm' for the rows; .* 'item'"),
    (pd.DataFrame({"a": [0], "label": ["a"]}), {"form": "long"}, "no column looks like the rows"),
    (pd.DataFrame({"id": [0, 1], "a": [1, 2], "b": [1, 2]}), {}, "column 'id' looks like a name of the rows"),
]  # fmt: skip


def test_what_cannot_be_used_is_named():
    table = [({"votes": votes, **options}, words) for votes, options, words in REFUSED]
    assert options_not_refused(vote_floor, table) == []


# findings, with X, the record


def test_an_annotator_who_disagrees_with_all_others():
    rng = np.random.default_rng(13)
    row, who, label, _ = votes_of(rng, 100, 3, error=np.array([0.1, 0.1, 0.1, 0.9]), n_classes=2)
    names = np.array(["ann", "bob", "cid", "\x1b[31mdan"])
    found = vote_floor(label, rows=row, annotators=names[who], n_bootstrap=20)
    (finding,) = found.findings
    assert finding.code == "BF045"
    assert r"Annotator '\x1b[31mdan' disagrees with all others" in finding.sentence
    assert found.annotators.is_outlier.sum() == 1
    row, who, label, _ = votes_of(rng, 100, 3, error=np.array([0.1, 0.1, 0.1, 0.25]), n_classes=2)
    assert vote_floor(label, rows=row, annotators=who, n_bootstrap=20).findings == ()


def test_the_record():
    found = vote_floor([[3, 0], [2, 1], [0, 3], [1, 2], [3, 0]] * 20, n_bootstrap=20)
    assert repr(found).startswith(f"VoteFloor({found.estimate:.4f}, 95% interval ")
    assert repr(found).endswith("300 votes, 100 of 100 samples, 2 classes)")
    assert found.agreement == pytest.approx((3 + 2 / 3) / 5)
    assert found.majority.naive == pytest.approx(2 / 3 / 5)
    assert found.sentence().startswith("Two annotators agree on 73.3% of the rows: no model can be measured above ")
    frame = found.frame()
    assert frame["value"].tolist()[:2] == [found.estimate, found.majority.naive]
    assert np.isnan(frame["interval_low"][1])
    assert found.annotators is None
    with pytest.raises(AttributeError):
        found.estimate = 0.0
    assert "AnnotatorAgreement(2 names, " in repr(vote_floor([["a", "b"], ["a", "a"]] * 20).annotators)
