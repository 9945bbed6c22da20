"""The page of benchmarks/truth.py, from its records."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np

ESTIMATORS = (
    "trees on x",
    "trees on the learned posterior",
    "what was reached",
    "learned floor",
    "true Bayes classifier",
)
HALVES = ("design", "held-out")
KINDS = {"smooth": "Smooth problems", "new": "New kinds of problems"}
NOTES = Path(__file__).resolve().parent / "results" / "truth_notes.md"


def write_table(records: list[dict], path: Path) -> None:
    """Write all tables."""
    parts = [
        "# How near the truth",
        "Made by `python benchmarks/truth.py run` and `… table`. Each of the problems has a known floor. Choices in "
        "the library were made on the design halves. *s* is CPU seconds.",
        NOTES.read_text(encoding="utf-8").strip(),
    ]
    for kind, title in KINDS.items():
        for half in HALVES:
            chosen = [record for record in records if (record["problems"], record["half"]) == (kind, half)]
            if chosen:
                n_problems = len({record["scenario"] for record in chosen})
                parts += [f"## {title}: the {half} half, {n_problems} problems", of_estimators(chosen)]
                if kind == "new":
                    parts += ["By family, the learned floor:", of_families(chosen)]
    for kind, title in KINDS.items():
        for half in HALVES:
            chosen = [record for record in records if (record["problems"], record["half"]) == (kind, half)]
            if chosen:
                parts += [f"## The learned floor on each problem. {title}: {half}", of_problems(chosen)]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def of_families(records: list[dict]) -> str:
    """One row for each family and size, and one for all families together."""
    rows = []
    sizes = sorted({record["n"] for record in records})
    for family in (*dict.fromkeys(record["family"] for record in records), "all"):
        for n in sizes:
            chosen = [r for r in records if r["n"] == n and family in ("all", r["family"])]
            errors, covered, above, widths = figures(chosen, "learned floor")
            rows.append(
                [
                    family,
                    n,
                    len(chosen),
                    f"{np.abs(errors).mean():.4f}",
                    f"{covered.mean():.0%}",
                    f"{above.mean():.0%}",
                    f"{widths.mean():.3f}",
                ]
            )
    return as_table(["family", "n", "samples", "mean abs. error", "covers", "lower end above", "width"], rows)


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
            of_size = [record for record in of_problem if record["n"] == n]
            errors = figures(of_size, "learned floor")[0] if of_size else np.array([])
            row.append(f"{np.abs(errors).mean():.4f} ({errors.mean():+.4f})" if of_size else "–")
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
