"""How much too high the floor is estimated in high dimension.

Two Gaussian classes, equal priors, at the distance that makes the floor 0.02, 0.1 or 0.25, in more and
more dimensions of which only one matters. The table compares the mean estimate with the one that an
infinite sample would give.

    python -m benchmarks.truth.floor_bias

writes benchmarks/results/floor_bias.md.
"""

import numpy as np
from scipy.special import ndtri

from bayesfloor import spanning_forests
from bayesfloor.floor.trees import henze_penrose as hp
from bayesfloor.floor.trees.findings import excess_at_a_tenth, intrinsic_dimension
from benchmarks.problems.known_densities import GaussianPair
from benchmarks.tools.pages import table_head, table_row, write_page

FLOORS = (0.02, 0.1, 0.25)
FEATURES = (2, 4, 8, 16, 32, 64)
ROWS = {500: 20, 2000: 10, 8000: 4, 20_000: 2}  # and how often to repeat


def estimate_once(seed: int, n: int, d: int, distance: float) -> tuple[float, float]:
    """Return an estimate, and the dimension the forests see."""
    rng = np.random.default_rng([seed, n, d])
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d))
    X[:, 0] += distance * y
    forests = spanning_forests(X)
    R = forests.cross_counts(y)[:, 0, 1].mean() - 1.0
    return float(hp.estimate(hp.u_from_cross_edges(R, n))), intrinsic_dimension(forests)


def main() -> None:
    heads = ["features", "rows", "dimension", "dimension / log2 rows", *(f"floor {floor}" for floor in FLOORS)]
    lines = table_head(*heads, "formula for 0.1")
    for d in FEATURES:
        for n, repeats in ROWS.items():
            cells, dimensions = [], []
            for floor in FLOORS:
                distance = -2 * float(ndtri(floor))
                limit = float(hp.estimate(GaussianPair.with_common_covariance([0.0], [distance]).mixture().u()))
                found = [estimate_once(seed, n, d, distance) for seed in range(repeats)]
                mean = np.mean([value for value, _ in found])
                dimensions += [dimension for _, dimension in found]
                cells.append(f"{mean:.3f} ({mean / limit - 1:+.0%})")
            dimension = min(float(np.mean(dimensions)), d)
            ratio = dimension / np.log2(n)
            cells.append(f"{excess_at_a_tenth(ratio):+.0%}")
            lines.append(table_row([d, n, f"{dimension:.1f}", f"{ratio:.2f}", *cells]))
            print(lines[-1], flush=True)
    write_page(
        "floor_bias",
        "# Bias in high dimension",
        "`python -m benchmarks.truth.floor_bias`. Two Gaussian classes at equal priors that differ along one of the "
        "features: mean estimate, and in brackets how far it is from what an infinite sample would give (which is "
        "itself 10 to 15% above the true floor, the estimate being the mean of two bounds). Last column: the formula "
        "in finding BF008.",
        "\n".join(lines),
    )


if __name__ == "__main__":
    main()
