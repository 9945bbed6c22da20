"""The problems of truth_scenarios.py and truth_families.py: rows, posterior and floor belong together."""

import functools
from collections import Counter

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit, xlogy

from benchmarks.problems import truth_families as families
from benchmarks.problems import truth_scenarios as truth

N = 10_000
SCENARIOS = {scenario.name: scenario for scenario in truth.SCENARIOS}
FAMILIES = {scenario.name: scenario for scenario in families.FAMILIES}


def test_catalogue():
    assert len(SCENARIOS) == len(truth.SCENARIOS) >= 36
    assert set(truth.BAYES_ERROR) == set(SCENARIOS)
    halves = {half: [s for s in truth.SCENARIOS if s.half == half] for half in ("design", "held-out")}
    assert len(halves["design"]) == len(halves["held-out"]) == len(SCENARIOS) / 2
    design, held_out = (Counter(s.family for s in half) for half in halves.values())
    assert design == held_out
    for half in halves.values():
        errors = np.array([s.bayes_error for s in half])
        assert np.mean((errors >= 0.01) & (errors <= 0.36)) > 0.75
        assert {s.n_classes for s in half} >= {2, 3, 4, 10}
        assert {s.n_features for s in half} >= {2, 8, 64, 256}


def test_catalogue_of_families():
    assert len(FAMILIES) == len(families.FAMILIES) >= 30
    assert set(families.BAYES_ERROR) == set(FAMILIES)
    assert not set(FAMILIES) & set(SCENARIOS)
    design, held_out = ({s.family for s in FAMILIES.values() if s.half == half} for half in ("design", "held-out"))
    assert design < held_out


def test_samples():
    for scenario in truth.SCENARIOS + families.FAMILIES:
        X, y = scenario.sample(300, seed=3)
        assert X.shape == (300, scenario.n_features)
        assert X.dtype == np.float64
        assert y.shape == (300,)
        assert y.dtype == np.int64
        assert np.isfinite(X).all()
        assert set(np.unique(y)) <= set(range(scenario.n_classes))
        again, labels = scenario.sample(300, seed=3)
        np.testing.assert_array_equal(X, again)
        np.testing.assert_array_equal(y, labels)
        assert not np.array_equal(y, scenario.sample(300, seed=4)[1])


@pytest.mark.parametrize("name", [*SCENARIOS, *FAMILIES])
def test_rows_posterior_and_bayes_error_belong_together(name):
    scenario = (SCENARIOS | FAMILIES)[name]
    X, y = scenario.sample(N, seed=7)
    if scenario.family == "copies":  # one of each observation
        _, first = np.unique(X, axis=0, return_index=True)
        X, y = X[first], y[first]
    n = len(y)
    posterior, known = scenario.posterior(X), scenario.bayes_error
    assert posterior.shape == (n, scenario.n_classes)
    assert posterior.min() >= 0
    np.testing.assert_allclose(posterior.sum(axis=1), 1, rtol=1e-12)
    # From the posterior alone, and from the labels it gets wrong: the two agree only if rows and posterior do.
    uncertainty = 1 - posterior.max(axis=1)
    rounding = 1e-4
    assert abs(uncertainty.mean() - known) <= 4 * uncertainty.std() / np.sqrt(n) + rounding
    wrong = np.mean(posterior.argmax(axis=1) != y)
    assert abs(wrong - known) <= 4 * np.sqrt(known * (1 - known) / n) + rounding
    # Calibrated: as surprised by the labels as it expects to be, in all and class by class.
    loss = -np.log(posterior[np.arange(n), y])
    excess = loss + xlogy(posterior, posterior).sum(axis=1)
    assert abs(excess.mean()) <= 5 * excess.std() / np.sqrt(n) + 1e-12
    deviation = np.eye(posterior.shape[1])[y] - posterior
    assert (abs(deviation.mean(axis=0)) <= 5 * deviation.std(axis=0) / np.sqrt(n) + 1e-12).all()


def one_cut(distance, prior=0.5):
    """Two Gaussians on a line: the smallest error over all cuts, by brute force."""
    cuts = np.linspace(-5, 10, 200_001)
    return np.min(prior * stats.norm.sf(cuts) + (1 - prior) * stats.norm.cdf(cuts - distance))


def largest_of(n_classes, size):
    def density_of_being_right(t):
        return stats.norm.pdf(t - size) * stats.norm.cdf(t) ** (n_classes - 1)

    return 1 - integrate.quad(density_of_being_right, -10, 10 + size)[0]


def table_error(name):
    """Sum the smaller joint probabilities, cell after cell."""
    joint = SCENARIOS[name].problem.joint
    cells = joint.reshape(len(joint), -1).T
    return sum(sum(cell) - max(cell) for cell in cells.tolist())


def blurred_board(sharpness):
    """A blurred board by quadrature over one of its equal cells."""
    sine = np.sin(np.pi * (np.arange(1000) + 0.5) / 1000)
    return expit(-sharpness * np.outer(sine, sine)).mean()


def scaled_spheres(d, ratio):
    """∫ min(p, q) / 2 over the squared radius."""
    t, step = np.linspace(0, 200, 40_001, retstep=True)
    return step * np.minimum(stats.chi2.pdf(t, d), stats.chi2.pdf(t, d, scale=ratio**2)).sum() / 2


THEORY = {
    "gauss-d2-k2": lambda: stats.norm.cdf(-1),
    "gauss-d8-k3": lambda: largest_of(3, 2.5),
    "gauss-d64-k10": lambda: largest_of(10, 3),
    "gauss-d256-k2": lambda: stats.norm.cdf(-np.sqrt(2)),
    "gauss-d8-unequal": lambda: one_cut(np.sqrt(2), 0.8),
    "gauss-d20-k10": lambda: largest_of(10, 4),
    "gauss-d64-k4": lambda: largest_of(4, 1.3),
    "scale-d8": lambda: scaled_spheres(8, 1.6),
    "board-2x2": lambda: 0,
    "board-3x3-flipped": lambda: 0.1,
    "board-4x4-blurred": lambda: blurred_board(8),
    "board-3x3-blurred": lambda: blurred_board(4),
    "board-4x4-k3": lambda: 0.2,
    "cube-2x2x2": lambda: 0,
    "shells-d5": lambda: expit(-3 * np.sin(np.pi * (np.arange(10_000) + 0.5) / 10_000)).mean(),
    "t3-d4": lambda: stats.t.cdf(-np.sqrt(2), 3),
    "gauss-2-of-100": lambda: one_cut(np.sqrt(4.5)),
    "xor-2-of-100": lambda: 2 * stats.norm.cdf(-1.5) * stats.norm.cdf(1.5),
    "one-to-20": lambda: one_cut(np.sqrt(8), 20 / 21),
    "gap-d10": lambda: 0,
    "linked-rings": lambda: 0,
    "noise-d10": lambda: 0.5,
    "noise-d30-k3": lambda: 1 - 12 / 20,
    "signal-times-1000": lambda: stats.norm.cdf(-1),
    "noise-times-1000": lambda: largest_of(3, 1.8),
    "log-normal-d5": lambda: stats.norm.cdf(-np.sqrt(1.8) / 2),
} | {name: functools.partial(table_error, name) for name in SCENARIOS if name.startswith("table-")}


@pytest.mark.parametrize("name", THEORY)
def test_bayes_error_by_theory(name):
    scenario = SCENARIOS[name]
    # four decimals where the module has the formula too, else four standard errors of two million draws
    tolerance = 6e-5 if scenario.exact is not None else 4e-4
    assert scenario.bayes_error == pytest.approx(THEORY[name](), abs=tolerance)


def test_every_closed_form_is_checked():
    assert {name for name, scenario in SCENARIOS.items() if scenario.exact is not None} <= set(THEORY)


@pytest.mark.parametrize("name", ["gauss-d256-k2", "tanh-in-256", "bent-in-256", "log-normal-d5", "gap-d10"])
def test_view_and_back(name):
    scenario, rng = SCENARIOS[name], np.random.default_rng(0)
    Z, _ = scenario.problem.draw(200, rng)
    np.testing.assert_allclose(scenario.view.backward(scenario.view.forward(Z, rng)), Z, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["t2-d10-k3", "mixture-d4-k3"])
def test_posterior_by_scipy(name):
    """Bayes' rule with SciPy's densities."""
    problem = SCENARIOS[name].problem
    X, _ = SCENARIOS[name].sample(200, seed=1)
    joint = np.zeros((200, SCENARIOS[name].n_classes))
    for k, law in enumerate(problem.laws):
        for mean, scale in zip(law.means, law.scales, strict=True):
            joint[:, k] += stats.multivariate_t(mean, np.diag(scale**2), df=law.df).pdf(X) / len(law.means)
    joint *= problem.priors
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(SCENARIOS[name].posterior(X), expected, atol=1e-9)


def test_posterior_of_counts_by_scipy():
    X, _ = SCENARIOS["negative-binomial-d6-k3"].sample(200, seed=1)
    rates = [np.roll([2, 2, 4, 8, 12, 3], shift) for shift in (0, 2, 4)]
    joint = np.column_stack([stats.nbinom.pmf(X, 3, 3 / (3 + rate)).prod(axis=1) for rate in rates])
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(SCENARIOS["negative-binomial-d6-k3"].posterior(X), expected, atol=1e-9)


def test_standard_error():
    mean, error = truth.compute_bayes_error(SCENARIOS["gauss-d2-k2"], n=60_000, seed=1)
    assert abs(mean - stats.norm.cdf(-1)) < 4 * error
    assert 0 < error < 0.001
