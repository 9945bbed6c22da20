"""More rows, closer to the truth."""

import numpy as np
import pytest

from bayesfloor.floor import bayes_error, pairwise_bayes_error
from bayesfloor.floor.trees import henze_penrose as hp
from bayesfloor.forest import spanning_forests
from benchmarks.problems.known_densities import GaussianPair, _density, known_mixture

from .samples import gaussian_classes


@pytest.mark.parametrize("prior", [0.5, 0.25])
def test_u_converges(prior):
    exact = GaussianPair.with_common_covariance([0, 0], [2, 0], prior=prior).mixture().u()
    rng = np.random.default_rng(0)
    errors = []
    for n, repetitions in [(500, 40), (2000, 20), (8000, 10)]:
        values = []
        for _ in range(repetitions):
            X, y = gaussian_classes(rng, n, [prior, 1 - prior], [[0], [2]], 2)
            R = spanning_forests(X).cross_counts(y)[:, 0, 1].mean()
            values.append(hp.u_from_cross_edges(R - 1, n))
        errors.append(np.mean(np.abs(np.array(values) - exact)))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.01


def test_whole_problem_lies_between_its_bounds():
    means = np.array([[0.0, 0], [2.0, 0], [1.0, 1.7]])
    priors = [0.2, 0.3, 0.5]
    mixture = known_mixture([lambda x, m=m: _density(x, m, np.eye(2)) for m in means], priors, [(-8, 10)] * 2, 501)
    rng = np.random.default_rng(1)
    X, y = gaussian_classes(rng, 10_000, priors, means, 2)
    floor = bayes_error(X, y)
    sum_of_pairs = pairwise_bayes_error(X, y).sum_of_pairs
    assert floor.upper == pytest.approx(mixture.nearest_neighbour_error(), abs=0.01)
    assert floor.lower < mixture.bayes_error() < floor.upper
    assert sum_of_pairs[0] < mixture.bayes_error() < sum_of_pairs[1]
    assert floor.estimate == pytest.approx(mixture.bayes_error(), abs=0.02)
