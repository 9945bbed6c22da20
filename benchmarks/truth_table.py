"""The page of benchmarks/truth.py, from its records."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np

ESTIMATORS = (
    "trees on x",
    "trees on the learned posterior",
    "best cross-validated model",
    "learned floor",
    "true Bayes classifier",
)
HALVES = ("design", "held-out")
NOTES = Path(__file__).resolve().parent / "results" / "truth_notes.md"


def write_table(records: list[dict], path: Path) -> None:
    """Write all tables."""
    parts = [
        "# How near the truth",
        "Made by `python benchmarks/truth.py run` and `… table`. Each of the problems has a known floor, and "
        "was drawn ten times at 500 and at 2000 rows and once at 8000. Every choice in the library was made on the "
        "first half of the problems and with fewer draws; the held-out half was run once, after that.",
        NOTES.read_text(encoding="utf-8").strip(),
    ]
    for half in HALVES:
        of_half = [record for record in records if record["half"] == half]
        if of_half:
            n_problems = len({record["scenario"] for record in of_half})
            parts += [f"## The {half} half: {n_problems} problems", of_estimators(of_half)]
    for half in HALVES:
        of_half = [record for record in records if record["half"] == half]
        if of_half:
            parts += [f"## The learned floor on each problem: {half}", of_problems(of_half)]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def of_estimators(records: list[dict]) -> str:
    """One row for each estimator and size."""
    rows = []
    for n in (*sorted({record["n"] for record in records}), None):
        of_size = [record for record in records if n in (None, record["n"])]
        for name in ESTIMATORS:
            errors, covered, above, widths = figures(of_size, name)
            by_problem = defaultdict(list)
            for record, error in zip(of_size, errors, strict=True):
                by_problem[record["scenario"]].append(abs(error))
            worst = max(by_problem, key=lambda problem: np.mean(by_problem[problem]))
            seconds = np.median([record[name]["seconds"] for record in of_size])
            rows.append(
                [
                    "all" if n is None else n,
                    f"**{name}**" if name == "learned floor" else name,
                    f"{np.abs(errors).mean():.4f}",
                    f"{np.mean(by_problem[worst]):.3f} ({worst})",
                    f"{errors.mean():+.4f}",
                    f"{covered.mean():.1%}",
                    f"{above.mean():.1%}",
                    f"{widths.mean():.3f}",
                    "–" if name == "true Bayes classifier" else f"{seconds:.1f}",
                ]
            )
    header = ["n", "estimator", "mean abs. error", "worst problem", "bias", "covers", "lower end above", "width", "s"]
    return as_table(header, rows)


def of_problems(records: list[dict]) -> str:
    """One row for each problem, with the learned floor's figures at each size."""
    sizes = sorted({record["n"] for record in records})
    rows = []
    for problem in dict.fromkeys(record["scenario"] for record in records):
        of_problem = [record for record in records if record["scenario"] == problem]
        _, covered, above, _ = figures(of_problem, "learned floor")
        row = [problem, f"{of_problem[0]['truth']:.4f}"]
        for n in sizes:
            errors = figures([record for record in of_problem if record["n"] == n], "learned floor")[0]
            row.append(f"{np.abs(errors).mean():.4f} ({errors.mean():+.4f})")
        rows.append([*row, f"{covered.sum():.0f} of {len(covered)}", f"{above.sum():.0f}"])
    header = ["problem", "floor", *(f"n = {n}: mean abs. error (bias)" for n in sizes), "covered", "lower end above"]
    return as_table(header, rows)


def figures(records: Iterable[dict], name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return errors, whether the interval covers, whether its lower end is above the truth, and widths."""
    records = list(records)
    truth = np.array([record["truth"] for record in records])
    estimate = np.array([record[name]["estimate"] for record in records])
    low, high = np.array([record[name]["interval"] for record in records]).T
    # A truth of 0 or one that is written with five decimals is met by the same decimals.
    is_above = low > truth + 1e-5
    return estimate - truth, ~is_above & (truth <= high + 1e-5), is_above, high - low


def as_table(header: list, rows: list[list]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
