"""Watch the floor rise while two classes drift into each other.

Rows arrive in batches. Both classes are Gaussian; from batch to batch their means come closer, and both move to one
side. After every batch there are two floors:

- of all rows so far, by `BayesErrorEstimator.partial_fit`: a batch costs its own distances to what is there. Old rows
  count as much as new ones, so this is the floor of the mixture over time, for a classifier that does not know when a
  row came. It is the right one for a model that is trained once on all the history and applied to the like of it.
- of the last few batches, by `fit`: the floor by now, for deciding whether today's classifier still can be as good as
  it was. It lags by half a window, and has the wider interval of fewer rows.

Both have their truth beside them: the classes differ along one axis only, where the floor is an integral over a line.

    python examples/drifting_stream.py        # some seconds; writes drifting_stream.csv and drifting_stream.png

The interval is for what the estimate tends to, which for Gaussians lies a little above the floor itself, between the
two bounds that a record carries as well. The caption says how far.
"""

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from bayesfloor import BayesErrorEstimator, bayes_error

Floats = NDArray[np.float64]
Row = dict[str, float]

N_FEATURES = 3
START, END = (-2.0, 2.0), (0.5, 1.5)  # the classes' means along the first axis
GRID = np.linspace(-8.0, 8.0, 4001)


def means_at(time: float) -> Floats:
    """Return the means of both classes at a time from 0 to 1."""
    return (1.0 - time) * np.array(START) + time * np.array(END)


def floor_now(time: float) -> float:
    """Return the floor at one time: two unit Gaussians, equal priors, Φ(−δ/2)."""
    first, second = means_at(time)
    return float(ndtr(-(second - first) / 2.0))


def densities_over(times: Floats) -> Floats:
    """Return the classes' densities on the grid, averaged over several times."""
    means = np.array([means_at(time) for time in times])
    return np.asarray(np.exp(-0.5 * (GRID[:, None, None] - means) ** 2).mean(axis=1) / np.sqrt(2 * np.pi))


def floor_over(times: Floats) -> float:
    """Return the floor of the mixture over several times: half the common area of the classes' mean densities."""
    return float(0.5 * densities_over(times).min(axis=1).sum() * (GRID[1] - GRID[0]))


def limit_over(times: Floats) -> float:
    """Return what the estimate tends to: ½ − ¼√u − ¼u with u = ∫ (f − g)² / (f + g) / 2 (docs/floor.md)."""
    first, second = densities_over(times).T
    u = float(((first - second) ** 2 / (first + second)).sum() / 2 * (GRID[1] - GRID[0]))
    return 0.5 - 0.25 * u**0.5 - 0.25 * u


def stream(n_batches: int, batch: int, seed: int) -> Iterator[tuple[float, Floats, NDArray[np.int64]]]:
    """Yield batches: their time, rows and labels."""
    rng = np.random.default_rng(seed)
    for number in range(n_batches):
        time = number / max(n_batches - 1, 1)
        labels = rng.integers(0, 2, batch)
        rows = rng.standard_normal((batch, N_FEATURES))
        rows[:, 0] += means_at(time)[labels]
        yield time, rows, labels


def watch(n_batches: int = 60, batch: int = 200, window: int = 6, seed: int = 0) -> list[Row]:
    """Return both floors after each batch, with their intervals and their truths."""
    everything = BayesErrorEstimator()
    times: list[float] = []
    batches: list[tuple[Floats, NDArray[np.int64]]] = []
    watched = []
    for time, X, y in stream(n_batches, batch, seed):
        times.append(time)
        batches = [*batches[1 - window :], (X, y)]
        everything.partial_fit(X, y)
        late = bayes_error(*(np.concatenate(part) for part in zip(*batches, strict=True)))
        row: Row = {"rows": batch * len(times), "floor_now": floor_now(time)}
        for name, record, over in (
            ("all", everything.bayes_error_, times),
            ("window", late, times[-window:]),
        ):
            row[f"{name}_estimate"] = record.estimate
            row[f"{name}_low"], row[f"{name}_high"] = record.interval
            row[f"{name}_floor"] = floor_over(np.array(over))
            row[f"{name}_limit"] = limit_over(np.array(over))
        watched.append(row)
    return watched


def plot(watched: list[Row], path: Path) -> None:
    """Draw both floors over time, each beside its truth."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    rows = np.array([row["rows"] for row in watched])
    figure = Figure(figsize=(8.5, 4.6), layout="constrained")
    axes = figure.subplots()
    for name, label, colour in (("window", "last rows", "#0072b2"), ("all", "all rows so far", "#d55e00")):
        low, high, estimate, floor = (
            np.array([row[f"{name}_{what}"] for row in watched]) for what in ("low", "high", "estimate", "floor")
        )
        axes.fill_between(rows, low, high, color=colour, alpha=0.18, linewidth=0)
        axes.plot(rows, estimate, color=colour, linewidth=1.8, label=f"{label}: estimate and 95% interval")
        axes.plot(rows, floor, color=colour, linewidth=1.3, linestyle=(0, (4, 2)), label=f"{label}: true floor")
    now = [row["floor_now"] for row in watched]
    axes.plot(rows, now, color="black", linewidth=1.1, linestyle=":", label="true floor of the moment")
    axes.set(xlabel="rows seen", ylabel="floor: the lowest error possible", xlim=(rows[0], rows[-1]))
    axes.set_ylim(bottom=0.0)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.grid(axis="y", color="#e5e5e5", linewidth=0.7)
    axes.set_title(
        "Two classes drift into each other: all rows tell of the past, the last rows of the present",
        loc="left",
        fontsize=11,
    )
    axes.legend(loc="upper left", facecolor="white", edgecolor="none", framealpha=1.0)
    last = watched[-1]
    figure.supxlabel(
        f"The interval is for what the estimate tends to: at the end {last['window_limit']:.1%} with the last rows and "
        f"{last['all_limit']:.1%} with all,\nwhere the floor itself is {last['window_floor']:.1%} and "
        f"{last['all_floor']:.1%}.",
        fontsize=9,
        color="#555555",
    )
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)


def write(watched: list[Row], folder: Path) -> None:
    """Write the table and the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "drifting_stream.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(watched[0]))
        writer.writeheader()
        writer.writerows(watched)
    try:
        plot(watched, folder / "drifting_stream.png")
    except ImportError:
        print("no picture: matplotlib is not installed (pip install 'bayesfloor[plot]')", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> None:
    """Watch a stream, print a few of its moments, and write table and picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--batch", type=int, default=200, help="rows to a batch")
    parser.add_argument("--window", type=int, default=6, help="batches to a window")
    parser.add_argument("--output", type=Path, default=Path(), help="folder for the two files")
    options = parser.parse_args(arguments)
    watched = watch(options.batches, options.batch, options.window)
    print("| rows | floor now | window: estimate | true | all rows: estimate | true |\n|---|---|---|---|---|---|")
    for row in watched[:: max(1, len(watched) // 10)]:
        print(
            f"| {row['rows']:.0f} | {row['floor_now']:.3f} "
            f"| {row['window_estimate']:.3f} ({row['window_low']:.3f} to {row['window_high']:.3f}) "
            f"| {row['window_floor']:.3f} | {row['all_estimate']:.3f} ({row['all_low']:.3f} to {row['all_high']:.3f}) "
            f"| {row['all_floor']:.3f} |"
        )
    write(watched, options.output)


if __name__ == "__main__":
    main()
