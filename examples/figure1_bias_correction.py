"""Figure 1 of the paper: what the bias correction does for unequal priors.

Two spherical Gaussian classes in the plane move apart. Beside the exact floor stand the
Bhattacharyya bound, which needs the true densities, and the estimate, which needs only a sample:
without the correction of equations (7) and (8), and with it.

    python examples/figure1_bias_correction.py                    # 200 trials, about a minute
    python examples/figure1_bias_correction.py --trials 10

writes figure1.csv and, where matplotlib is installed, figure1.png.
"""

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bayesfloor import spanning_forests
from bayesfloor.floor.known.gaussian import GaussianPair
from bayesfloor.floor.trees import henze_penrose as hp

PRIORS = (0.15, 1 / 3)
DISTANCES = tuple(np.linspace(0.0, 4.0, 17))

Row = dict[str, float]


def simulate(
    n_trials: int = 200,
    n_samples: int = 1000,
    distances: Sequence[float] = DISTANCES,
    priors: Sequence[float] = PRIORS,
    seed: int = 0,
) -> list[Row]:
    """Return one row per prior and distance, estimates averaged over the trials."""
    rows = []
    for prior in priors:
        for distance in distances:
            rng = np.random.default_rng([seed, round(1e6 * prior), round(1e6 * distance)])
            classes = GaussianPair.with_common_covariance([0, 0], [distance, 0], prior=prior)
            trials = [estimate_twice(rng, classes, n_samples) for _ in range(n_trials)]
            without, corrected = np.mean(trials, axis=0)
            rows.append(
                {
                    "prior": prior,
                    "distance": float(distance),
                    "floor": classes.bayes_error(),
                    "bhattacharyya": classes.bhattacharyya_bound(),
                    "estimate": float(without),
                    "corrected": float(corrected),
                }
            )
    return rows


def estimate_twice(
    rng: np.random.Generator, classes: GaussianPair, n_samples: int
) -> tuple[float, float]:
    """Draw one sample; return the estimate without and with the correction."""
    n_first = round(classes.prior * n_samples)
    y = np.arange(n_samples) >= n_first
    X = rng.standard_normal((n_samples, 2)) + np.where(
        y[:, None], classes.second_mean, classes.first_mean
    )
    forests = spanning_forests(X, n_jobs=1)
    R = forests.cross_counts(y)[:, 0, 1].mean() - 1.0  # less the forced edge
    limit = hp.gamma(n_samples, min(n_first, n_samples - n_first) / n_samples)
    u, corrected_u = (
        hp.u_from_cross_edges(edges, n_samples) for edges in (R, hp.corrected_cross_edges(R, limit))
    )
    return float(hp.estimate(u)), float(hp.estimate(corrected_u))


def plot(rows: list[Row], path: Path) -> None:
    """Draw both panels of the figure."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    titles = {"estimate": "without bias correction", "corrected": "with bias correction"}
    for axes, (column, title) in zip(panels, titles.items(), strict=True):
        for prior, color in zip(sorted({row["prior"] for row in rows}), ("C0", "C1"), strict=False):
            own = [row for row in rows if row["prior"] == prior]
            x = [row["distance"] for row in own]
            label = f"p = {prior:.2f}"
            axes.plot(x, [row["floor"] for row in own], color=color, label=f"exact floor, {label}")
            axes.plot(x, [row["bhattacharyya"] for row in own], ":", color=color, label="Bhattacharyya bound")
            axes.plot(x, [row[column] for row in own], "o--", ms=3.5, color=color, label="estimate")
        axes.set(title=title, xlabel="distance between the means", xlim=(0, None), ylim=(0, None))
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("error rate")
    panels[1].legend(frameon=False)
    figure.savefig(path, dpi=130)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the simulation, print the table, write table and picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--output", type=Path, default=Path(), help="folder for the two files")
    options = parser.parse_args(arguments)
    rows = simulate(options.trials, options.samples)
    options.output.mkdir(parents=True, exist_ok=True)
    table = options.output / "figure1.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    print(" ".join(f"{name:>13}" for name in rows[0]))
    for row in rows:
        print(" ".join(f"{value:13.4f}" for value in row.values()))
    try:
        plot(rows, options.output / "figure1.png")
    except ImportError:
        print("no picture: matplotlib is not installed (pip install 'bayesfloor[plot]')", file=sys.stderr)


if __name__ == "__main__":
    main()
