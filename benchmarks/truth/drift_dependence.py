"""Two tables whose rows depend on each other: patients that are in both, rows that follow each other in time.

    python -m benchmarks.truth.drift_dependence run [--part NAME ...] [--workers 2] [--out FILE.jsonl]
    python -m benchmarks.truth.drift_dependence table    write benchmarks/results/drift_dependence.md from the records

`drift` without models, and how often it finds something at the 5% level:

    paired   the same patients in both tables, with and without a shift of half a standard deviation of a patient's rows
    time     halves of one AR(1) series, with their time, without it, and with a shift of one standard deviation
    plain    independent rows of one law: how small p-values are, and how often BF069 sees an order that is none
    target   the same with a target: how often columns or labels given the columns are said to have moved
    share    how far a column is said to have moved beside how far it did

It runs with numpy, scipy and numba alone: what describes kinds of rows, which scikit-learn's trees do, is left out.
Pairs are drawn from their kind and number, and recorded in benchmarks/results/drift_dependence.jsonl as they are
measured.
"""

import zlib
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import ks_2samp, ttest_1samp

from bayesfloor import drift
from bayesfloor.choose.drifting.moved import gap_of, moved_share
from bayesfloor.choose.drifting.permutations import deal_names
from bayesfloor.results import Drift
from bayesfloor.tables.columns import text_column
from benchmarks.tools.command_line import run_or_table
from benchmarks.tools.pages import RESULTS, as_table, notes_of, write_page
from benchmarks.tools.records import Record, measure_all, read_records

RECORDS = RESULTS / "drift_dependence.jsonl"
LEVEL = 0.05
#: Pairs of one task of a worker.
AT_ONCE = 20

Array = NDArray[np.float64]
Rng = np.random.Generator


def compared(old: Array, new: Array, **asked: Any) -> Drift:
    """Compare two tables by tests alone."""
    with patch("bayesfloor.choose.drifting.compare.kinds_of_rows", lambda *_: ()):
        return drift(old, new, learners=None, n_jobs=1, **asked)


def codes_of(found: Drift) -> list[str]:
    return [finding.code for finding in found.findings]


# --- patients that are in both tables

#: Patients, rows of each in either table, standard deviation of their levels in units of that of their rows, columns;
#: and whether the numbers of rows differ.
PATIENTS = {
    "60 patients, 2 rows each, 3 columns": (60, 2, 1.0, 3, False),
    "40 patients, 5 rows each, 3 columns": (40, 5, 1.0, 3, False),
    "40 patients, 5 rows each, far apart": (40, 5, 3.0, 3, False),
    "40 patients, 1 to 9 rows, 3 columns": (40, 5, 1.0, 3, True),
    "25 patients, 10 rows each, 10 columns": (25, 10, 1.0, 10, False),
}


def paired(name: str, shift: float, rng: Rng) -> Record:
    """Compare patients with themselves, and by a paired t-test of the column that moved."""
    n_patients, n_each, spread, n_columns, is_uneven = PATIENTS[name]
    levels = spread * rng.standard_normal((n_patients, n_columns))
    tables, patients = [], []
    for moved in (0.0, shift):
        sizes = rng.integers(1, 2 * n_each, n_patients) if is_uneven else np.full(n_patients, n_each)
        patients.append(np.repeat(np.arange(n_patients), sizes))
        tables.append(levels[patients[-1]] + rng.standard_normal((sizes.sum(), n_columns)))
        tables[-1][:, 0] += moved
    means = [np.bincount(of, X[:, 0]) / np.bincount(of) for of, X in zip(patients, tables, strict=True)]
    found = compared(*tables, groups=tuple(patients))
    return {"p_value": found.p_value, "t_test": float(ttest_1samp(means[1] - means[0], 0.0).pvalue)}


# --- halves of one series


def time(n_rows: int, phi: float, n_columns: int, shift: float, rng: Rng) -> Record:
    """Compare the halves of stationary AR(1) series of variance 1, with and without their time."""
    X = np.empty((n_rows, n_columns))
    X[0] = rng.standard_normal(n_columns)
    for row in range(1, n_rows):
        X[row] = phi * X[row - 1] + (1.0 - phi**2) ** 0.5 * rng.standard_normal(n_columns)
    half = n_rows // 2
    X[half:, 0] += shift
    place = np.arange(n_rows)
    timed = compared(X[:half], X[half:], time=(place[:half], place[half:]))
    plain = compared(X[:half], X[half:])
    return {"p_value": timed.p_value, "without time": plain.p_value, "told": "BF069" in codes_of(plain)}


# --- independent rows of one law

PLAIN = {"80 rows, 2 columns": (80, 2), "350 rows, 5 columns": (350, 5), "1000 rows, 20 columns": (1000, 20)}


def plain(name: str, rng: Rng) -> Record:
    n_rows, n_columns = PLAIN[name]
    X = rng.standard_normal((n_rows, n_columns))
    found = compared(X[: n_rows // 2], X[n_rows // 2 :])
    return {"p_value": found.p_value, "told": "BF069" in codes_of(found)}


def target(name: str, rng: Rng) -> Record:
    """Compare tables with a target of two classes that follows one column."""
    n_rows, n_columns = PLAIN[name]
    X, half = rng.standard_normal((n_rows, n_columns)), n_rows // 2
    y = (X[:, 0] + rng.standard_normal(n_rows) > 0).astype(int)
    found = compared(X[:half], X[half:], y=(y[:half], y[half:]))
    assert found.target is not None
    p_value = min(found.p_value, 1.0 if found.target.p_value is None else found.target.p_value)
    return {"p_value": p_value, "verdict": found.verdict}


# --- how far a column moved

#: How far it moved, by the distance that `share` is about, and whether it is a category of 12 levels.
SHARES = {
    "number, not at all": (0.0, False),
    "number, a little": (0.06, False),
    "number, more": (0.12, False),
    "number, far": (0.4, False),
    "12 levels, not at all": (0.0, True),
    "12 levels, a little": (0.06, True),
    "12 levels, far": (0.3, True),
}


def share(name: str, rng: Rng) -> Record:
    """Compare a column of two tables of 150 rows; it moved by a known distance."""
    distance, has_levels = SHARES[name]
    if has_levels:  # half of the levels lose what the others win
        before = np.full(12, 1 / 12)
        after = before + np.repeat([distance, -distance], 6) / 6
        codes = np.concatenate([rng.choice(12, 150, p=before), rng.choice(12, 150, p=after)])
        is_new = np.arange(300) >= 150
        gap = gap_of(text_column("levels", [f"level {code}" for code in range(12)], codes))
        return {"raw": gap(is_new), "share": moved_share(gap, is_new, deal_names(is_new, None, 0).is_new[1:21])}
    old, new = rng.standard_normal((2, 150, 2))
    new[:, 0] -= 2.0 * ndtri(0.5 - distance / 2.0)  # where distribution functions differ by the distance, in the middle
    (move,) = [move for move in compared(old, new).moves if (move.column, move.what) == ("x0", "values")]
    return {"raw": float(ks_2samp(old[:, 0], new[:, 0]).statistic), "share": move.share}


# --- runs and the page

#: Rows, correlation of neighbours, columns and shift of a series.
SERIES = [
    *product((500, 2000, 5000), (0.0, 0.5, 0.8, 0.95), (3,), (0.0,)),
    *product((500, 2000, 5000), (0.5, 0.8, 0.95), (3,), (1.0,)),
    (2000, 0.8, 10, 0.0),
]
#: What is drawn, and the pairs of each.
DRAWN: dict[str, tuple[Any, list[tuple[Any, ...]], int]] = {
    "time": (time, SERIES, 100),
    "target": (target, [(name,) for name in ("80 rows, 2 columns", "350 rows, 5 columns")], 200),
    "paired": (paired, list(product(PATIENTS, (0.0, 0.5))), 200),
    "plain": (plain, [(name,) for name in PLAIN], 1000),
    "share": (share, [(name,) for name in SHARES], 200),
}


def measure(part: str, kind: tuple[Any, ...], first: int) -> list[Record]:
    """Draw some pairs of one kind."""
    draw, _, n_pairs = DRAWN[part]
    records = []
    for pair in range(first, min(first + AT_ONCE, n_pairs)):
        rng = np.random.default_rng([zlib.crc32(f"{part} {kind}".encode()), pair])
        values = {
            key: round(value, 5) if isinstance(value, float) else value for key, value in draw(*kind, rng).items()
        }
        records.append({"part": part, "kind": list(kind), "pair": pair, **values})
    return records


def run(parts: list[str], workers: int, path: Path) -> None:
    """Measure and record what is not recorded yet, series of many rows first."""
    started = perf_counter()
    done = {(record["part"], tuple(record["kind"]), record["pair"]) for record in read_records(path)}
    keys = [
        (part, kind, first)
        for part in parts
        for kind in sorted(DRAWN[part][1], key=lambda kind: -kind[0] if part == "time" else 0)
        for first in range(0, DRAWN[part][2], AT_ONCE)
        if (part, kind, first) not in done
    ]
    measure_all(measure, keys, path, workers)
    print(f"{perf_counter() - started:.0f} seconds of wall time")


def found_share(records: list[Record], key: str = "p_value", most: float = LEVEL) -> str:
    """Return the share of pairs with a small p-value, and its Monte-Carlo error."""
    values = [record[key] <= most for record in records]
    rate = float(np.mean(values))
    return f"{rate:.3f} ± {(rate * (1.0 - rate) / len(values)) ** 0.5:.3f}"


def rows_of(part: str, records: list[Record]) -> list[list[Any]]:
    """Return the lines of a part's table."""
    rows: list[list[Any]] = []
    for kind in DRAWN[part][1]:
        own = [each for each in records if each["part"] == part and each["kind"] == list(kind)]
        if not own:
            continue
        cells = [*kind, len(own)]
        if part == "share":
            raw, said = (np.array([each[key] for each in own]) for key in ("raw", "share"))
            rows.append([kind[0], len(own), f"{SHARES[kind[0]][0]:.2f}", f"{raw.mean():.3f}", f"{said.mean():.3f}"])
        elif part == "target":
            rows.append([*cells, f"{np.mean([each['verdict'] != 'none' for each in own]):.3f}"])
        else:
            cells.append(found_share(own))
            cells += [found_share(own, key) for key in ("t_test", "without time") if key in own[0]]
            cells += [f"{np.mean([each['told'] for each in own]):.2f}"] if "told" in own[0] else []
            rows.append(cells)
    return rows


#: Headings of the parts, what is said of each, and the columns of its table.
PAGE = {
    "paired": (
        "Patients that are in both tables",
        "A shift of half a standard deviation of a patient's rows, in one column; the t-test is of the means of "
        "patients in that column, which it is told.",
        ["patients", "shift", "pairs", "P ≤ .05", "paired t-test ≤ .05"],
    ),
    "time": (
        "Halves of one series",
        "AR(1) series; the shift is in one column of the second half, in standard deviations of the series. Last "
        "column: how often BF069 says, where no time is given, that neighbours are alike.",
        ["rows", "φ", "columns", "shift", "pairs", "P ≤ .05 with `time`", "P ≤ .05 without", "BF069"],
    ),
    "plain": (
        "Independent rows of one law",
        "Last column: how often BF069 speaks.",
        ["rows", "pairs", "P ≤ .05", "BF069"],
    ),
    "target": (
        "The same with a target",
        "How often columns, labels given the columns, or both are said to have moved.",
        ["rows", "pairs", "something is said to have moved"],
    ),
    "share": (
        "How far a column moved",
        "150 rows in each table: the distance between the two laws, the mean distance between the two samples, and the "
        "mean of what is said.",
        ["column", "pairs", "truth", "samples", "said"],
    ),
}


def write_table(records: list[Record]) -> None:
    """Write the page."""
    parts = [
        "# Two tables whose rows depend on each other",
        "`python -m benchmarks.truth.drift_dependence run`, then `… table`. Figures after ± are Monte-Carlo errors.",
    ]
    for part, (heading, about, columns) in PAGE.items():
        parts += [f"## {heading}", about, as_table(columns, rows_of(part, records))]
    write_page("drift_dependence", *parts, notes_of("drift_dependence"))


if __name__ == "__main__":
    run_or_table(__doc__, list(DRAWN), run, write_table, RECORDS, workers=2)
