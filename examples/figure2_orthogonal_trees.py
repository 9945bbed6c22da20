"""Figure 2 of the paper: more edge-disjoint trees, less variance.

Two spherical Gaussian classes in the plane, p = 0.33, at several distances. The variance of the
estimate over repeated samples is plotted against the number of trees. All tree counts use the same
samples: the first trees of ten are the trees of fewer.

    python examples/figure2_orthogonal_trees.py                   # 500 repetitions, a few minutes
    python examples/figure2_orthogonal_trees.py --repetitions 20

writes figure2.csv and, where matplotlib is installed, figure2.png.
"""

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayesfloor import spanning_forests
from bayesfloor.floor.trees import henze_penrose as hp

PRIOR = 0.33
MOST_TREES = 10
DISTANCES = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)


def simulate(
    n_repetitions: int = 500,
    n_samples: int = 1000,
    distances: Sequence[float] = DISTANCES,
    most_trees: int = MOST_TREES,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Return the variance of the estimate, one row per distance, one column per tree count."""
    variances = []
    for distance in distances:
        rng = np.random.default_rng([seed, round(1e6 * distance)])
        estimates = [
            estimates_by_trees(rng, distance, n_samples, most_trees) for _ in range(n_repetitions)
        ]
        variances.append(np.var(estimates, axis=0, ddof=1))
    return np.array(variances)


def estimates_by_trees(
    rng: np.random.Generator, distance: float, n_samples: int, most_trees: int
) -> NDArray[np.float64]:
    """Draw one sample; return the estimates from 1, 2, ... trees."""
    n_first = round(PRIOR * n_samples)
    y = np.arange(n_samples) >= n_first
    X = rng.standard_normal((n_samples, 2))
    X[:, 0] += distance * y
    counts = spanning_forests(X, n_trees=most_trees, n_jobs=1).cross_counts(y)[:, 0, 1]
    R = np.cumsum(counts) / np.arange(1, most_trees + 1) - 1.0  # less the forced edge
    limit = hp.gamma(n_samples, n_first / n_samples)
    return hp.estimate(hp.u_from_cross_edges(hp.corrected_cross_edges(R, limit), n_samples))


def plot(distances: Sequence[float], variances: NDArray[np.float64], path: Path) -> None:
    """Draw one line per distance."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.5, 4.2), layout="constrained")
    axes = figure.subplots()
    trees = np.arange(1, variances.shape[1] + 1)
    for distance, row in zip(distances, variances, strict=True):
        axes.plot(trees, row, "o-", ms=3.5, label=f"{distance:g}")
    axes.set(xlabel="number of edge-disjoint trees", ylabel="variance of the estimate", ylim=(0, None))
    axes.grid(alpha=0.3)
    axes.legend(title="distance between means", frameon=False)
    figure.savefig(path, dpi=130)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the simulation, print the table, write table and picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--output", type=Path, default=Path(), help="folder for the two files")
    options = parser.parse_args(arguments)
    variances = simulate(options.repetitions, options.samples)
    options.output.mkdir(parents=True, exist_ok=True)
    header = ["distance", "1 tree", *(f"{trees} trees" for trees in range(2, MOST_TREES + 1))]
    with (options.output / "figure2.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows([distance, *row] for distance, row in zip(DISTANCES, variances, strict=True))
    print("variance of the estimate, times 10^5")
    print(" ".join(f"{name:>9}" for name in header))
    for distance, row in zip(DISTANCES, variances, strict=True):
        print(" ".join([f"{distance:9.1f}", *(f"{1e5 * value:9.2f}" for value in row)]))
    try:
        plot(DISTANCES, variances, options.output / "figure2.png")
    except ImportError:
        print("no picture: matplotlib is not installed (pip install 'bayesfloor[plot]')", file=sys.stderr)


if __name__ == "__main__":
    main()
