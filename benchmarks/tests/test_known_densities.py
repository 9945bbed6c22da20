"""The references themselves, and the paper's theorems on them."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from bayesfloor.floor.trees import henze_penrose as hp
from benchmarks.problems.known_densities import GaussianPair, known_mixture


def random_mixture(rng, n_classes, n_features=1):
    """Classes that are themselves mixtures of two Gaussians, with random priors."""
    densities = []
    for _ in range(n_classes):
        means = rng.uniform(-3, 3, (2, n_features))
        scales = rng.uniform(0.4, 1.5, 2)
        share = rng.uniform(0.1, 0.9)
        parts = [multivariate_normal(m, s**2 * np.eye(n_features)) for m, s in zip(means, scales, strict=True)]
        densities.append(lambda x, a=parts[0], b=parts[1], t=share: t * a.pdf(x) + (1 - t) * b.pdf(x))
    priors = rng.dirichlet(np.full(n_classes, 2.0))
    n_nodes = 4001 if n_features == 1 else 301
    return known_mixture(densities, priors, [(-13, 13)] * n_features, n_nodes), priors


def test_exact_floor_of_gaussians():
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    direction = np.linalg.cholesky(covariance) @ [0.6, 0.8]
    for distance, prior in [(0.0, 1 / 3), (1.5, 0.15), (1.5, 0.9), (4.0, 0.5)]:
        classes = GaussianPair.with_common_covariance([1, 2], [1, 2] + distance * direction, covariance, prior)
        assert classes.distance() == pytest.approx(distance)
        # by quadrature in the plane, without the reduction to a line
        in_plane = classes._on_grid(801).bayes_error()
        assert classes.bayes_error() == pytest.approx(in_plane, abs=2e-5)
        assert classes.mixture().bayes_error() == pytest.approx(classes.bayes_error(), abs=1e-7)
    assert GaussianPair.with_common_covariance([0.0], [2.0]).bayes_error() == pytest.approx(norm.cdf(-1))


def test_closed_bounds_agree_with_quadrature():
    classes = GaussianPair(
        np.array([0.0, 0.0]), np.array([1.0, 0.5]), np.eye(2), np.array([[2.0, 0.3], [0.3, 0.5]]), 0.4
    )
    mixture = classes.mixture()
    for alpha in (0.2, 0.5, 0.8):
        assert classes.chernoff_bound(alpha) == pytest.approx(mixture.chernoff_bound(alpha), abs=1e-9)
    assert classes.bhattacharyya_bound() == classes.chernoff_bound(0.5)
    assert mixture.bhattacharyya_bound() == mixture.chernoff_bound(0.5)
    with pytest.raises(ValueError, match="common covariance"):
        classes.bayes_error()
    assert 0 < classes.pooled().bayes_error() < 0.4


def test_divergence_reduces_to_the_line_between_the_means():
    classes = GaussianPair.with_common_covariance([0, 0], [1.2, 0.9], prior=0.3)
    plane, line = classes._on_grid(601), classes.mixture()
    assert plane.henze_penrose_divergence() == pytest.approx(line.henze_penrose_divergence(), abs=1e-9)
    assert plane.jensen_shannon_divergence() == pytest.approx(line.jensen_shannon_divergence(), abs=1e-9)
    high = GaussianPair.with_common_covariance(np.zeros(50), np.full(50, 1.5 / np.sqrt(50)), prior=0.3)
    assert high.mixture().henze_penrose_divergence() == pytest.approx(line.henze_penrose_divergence(), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_all_bounds_hold(seed):
    mixture, priors = random_mixture(np.random.default_rng(seed), 2)
    floor = mixture.bayes_error()
    lower, upper = mixture.henze_penrose_bounds()
    assert lower - 1e-6 <= floor <= upper + 1e-6
    assert mixture.nearest_neighbour_error() == pytest.approx(upper, abs=1e-9)
    js_lower, js_upper = mixture.jensen_shannon_bounds()
    assert js_lower - 1e-6 <= floor <= js_upper + 1e-6
    for alpha in (0.3, 0.5, 0.7):
        assert floor <= mixture.chernoff_bound(alpha) + 1e-6
    # theorem of appendix B
    equal = type(mixture)(mixture.joint / (2 * priors[:, None]), mixture.weights)
    assert equal.henze_penrose_bounds()[1] <= equal.jensen_shannon_bounds()[1] + 1e-9


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_theorems_on_several_classes(n_classes):
    # appendix A: Q <= P, and P <= the sum of the pairwise errors
    mixture, priors = random_mixture(np.random.default_rng(0), n_classes)
    pairs = np.array(
        [[mixture.pair(a, b).bayes_error() if a != b else 0 for b in range(n_classes)] for a in range(n_classes)]
    )
    for k in range(n_classes):
        one_vs_rest = mixture.one_vs_rest_error(k)
        assert mixture.mixture_error(k) <= one_vs_rest + 1e-9
        assert one_vs_rest <= sum(mixture.pair_error(k, other) for other in range(n_classes) if other != k) + 1e-9
        lower, upper = mixture.one_vs_rest(k).henze_penrose_bounds()
        assert lower - 1e-6 <= mixture.mixture_error(k) <= upper + 1e-6
    floor, s = mixture.bayes_error(), mixture.nearest_neighbour_error()
    # each error of the Bayes rule concerns two classes: the true one and the chosen one
    assert sum(mixture.one_vs_rest_error(k) for k in range(n_classes)) == pytest.approx(2 * floor, abs=1e-9)
    assert hp.multiclass_lower_bound(s, 1, n_classes) - 1e-6 <= floor
    assert floor <= hp.multiclass_upper_bound(s, 1, n_classes) + 1e-6
    lower, upper = hp.sum_of_pairs_bounds(pairs, pairs, priors)
    assert lower - 1e-6 <= floor <= upper + 1e-6


def test_plug_in_finds_the_parameters():
    rng = np.random.default_rng(3)
    y = np.repeat(["a", "b"], [3000, 7000])
    X = rng.standard_normal((10_000, 3)) @ np.diag([1, 2, 3]) + np.where(y[:, None] == "a", [2, 0, 0], 0)
    fitted = GaussianPair.fit(X, y)
    exact = GaussianPair.with_common_covariance([2, 0, 0], [0, 0, 0], [1.0, 4.0, 9.0], 0.3)
    assert fitted.prior == 0.3
    assert fitted.pooled().bayes_error() == pytest.approx(exact.bayes_error(), abs=0.005)
    assert fitted.bhattacharyya_bound() == pytest.approx(exact.bhattacharyya_bound(), abs=0.01)
    assert fitted.pooled().mixture().u() == pytest.approx(exact.mixture().u(), abs=0.02)
