"""Do training sets of a thousandth of the rows tell where the curve of a table on disk ends?

    python -m benchmarks.truth.disk_curves run [--half design] [--problems 60] [--workers 1] [--keep FOLDER]
    python -m benchmarks.truth.disk_curves again [--keep FOLDER]    estimate from what was kept, without training
    python -m benchmarks.truth.disk_curves table                    write benchmarks/results/disk_curves.md

Rows on disk are trained on all, on halves and quarters, and on a 16th, a 64th … of them. Each problem is trained on
once, and its floor is estimated three times: from the largest three sizes by the curve for rows in memory, from these
by the curve over decades, and from all sizes by that curve.

Limits are lowered so that tables of 24 000 to 64 000 rows go the way of tables on disk, with 3000 tested rows, a sample
of 4096 and smallest training sets of 250 rows or more.

Half of the problems are those of problems/random_problems.py. The others have structure from coarse to fine: a random
function, effects of up to 400 levels of a category, and a value for each of 6 × 6 to 48 × 48 cells of two columns, of
which the smallest have ten rows. Two of five are of numbers. Problems of the design half decided what the curve does;
those of the held-out half were looked at once that was decided.
"""

import pickle
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars

from bayesfloor import learned_floor, regression_floor, settings
from bayesfloor.floor.learned import estimate, from_disk, large_tables, summary
from bayesfloor.floor.learned.regression import estimate as of_numbers
from bayesfloor.floor.learned.regression import summary as numbers_summary
from bayesfloor.floor.learned.rules import N_COMPARED
from bayesfloor.runtime.settings import Limits
from benchmarks.problems.random_problems import FUNCTIONS, draw_problem
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import HALVES, RESULTS, ROOT, as_table, notes_of, write_page
from benchmarks.tools.records import measure_all, read_records, write_records
from benchmarks.truth.truth import interval_scores

RECORDS = RESULTS / "disk_curves.jsonl"
#: Seed of the problems of each half.
SEEDS = {"design": 401, "held-out": 402}
ROWS = (24_000, 64_000)
#: What is lowered, and constants of modules beside.
LIMITS = Limits(disk_rows=20_000, learned_rows=3000, part_rows=4096)
LOWERED = (
    (large_tables, "SAMPLE_ROWS", 4096),
    (from_disk, "FEWEST_ROWS", 250),
)
#: What is compared: as before there were smaller sizes, the same sizes by the new curve, and all sizes.
CURVES = ("before", "largest three", "all")


def fine_problem(task: str, n: int, rng: np.random.Generator) -> tuple[str, polars.DataFrame, Any, float]:
    """Draw rows whose structure goes from coarse to fine; return what it is, the columns, the target and the truth."""
    d, n_levels, n_cells = (
        int(rng.integers(4, 14)),
        int(rng.integers(4, 400)),
        int(np.exp(rng.uniform(*np.log([6, 48])))),
    )
    k = int(rng.choice([2, 3, 5], p=[0.5, 0.3, 0.2])) if task == "classes" else 1
    kind = FUNCTIONS[int(rng.integers(len(FUNCTIONS)))]
    Z = rng.standard_normal((n, d))
    coarse = kind(min(d, 4), k, rng, Z[:3000, -min(d, 4) :])(Z[:, -min(d, 4) :])
    codes = (n_levels * rng.random(n) ** 1.5).astype(int)
    cells = [np.clip((Z[:, j] + 3) / 6 * n_cells, 0, n_cells - 1).astype(int) for j in (0, 1)]
    grid, levels = rng.standard_normal((n_cells, n_cells, k)), rng.standard_normal((n_levels, k))
    parts = [coarse, levels[codes], grid[cells[0], cells[1]]]
    scales = rng.dirichlet(np.ones(3)) ** 0.5
    scores = sum(s * (p - p.mean(axis=0)) / (p.std(axis=0) + 1e-9) for s, p in zip(scales, parts, strict=True))
    columns = polars.DataFrame({f"x{j}": Z[:, j] for j in range(d)}).with_columns(
        level=polars.Series([f"level {code}" for code in codes])
    )
    about = f"fine, {kind.__name__}, {n_cells} cells"
    if task == "numbers":
        best = rng.uniform(0.3, 0.98)
        noise = rng.standard_normal(n) * (scores.var() * (1 - best) / best) ** 0.5
        return about, columns, scores[:, 0] + noise, best
    p = np.exp(np.exp(rng.uniform(*np.log([0.7, 12]))) * scores)
    p /= p.sum(axis=1, keepdims=True)
    y = (rng.random((n, 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return about, columns, y, float(1 - p.max(axis=1).mean())


def drawn(seed: int, place: int) -> tuple[str, str, polars.DataFrame, float]:
    """Return the task, what the problem is, its table and the truth."""
    rng = np.random.default_rng([seed, place])
    task = "numbers" if place % 5 in (1, 3) else "classes"
    n = int(np.exp(rng.uniform(*np.log(ROWS))))
    if place % 2:
        about, frame, y, truth = fine_problem(task, n, rng)
    else:
        problem = draw_problem(task, rng)
        X, y = problem.sample(n, rng)
        about, truth = problem.about, problem.truth
        frame = polars.DataFrame({f"x{j}": X[:, j] for j in range(X.shape[1])})
    target = [f"class {label}" for label in y] if task == "classes" else y
    return task, about, frame.with_columns(target=polars.Series(target)), truth


def measure(half: str, place: int, kept: Path) -> dict[str, Any]:
    """Train on one problem, keep what floors are estimated from, and estimate them."""
    task, about, frame, truth = drawn(SEEDS[half], place)
    record = {"half": half, "place": place, "task": task, "problem": about, "n": len(frame)}
    of_task = (estimate, "summarise") if task == "classes" else (of_numbers, "summarise_numbers")
    summarise = getattr(*of_task)

    def keep(*given: Any, **named: Any) -> Any:
        kept.mkdir(parents=True, exist_ok=True)
        (kept / f"{half}-{place}.pickle").write_bytes(pickle.dumps((record, truth, given, named)))
        return summarise(*given, **named)

    with ExitStack() as stack:
        stack.enter_context(settings(limits=LIMITS))
        for module, name, value in LOWERED:
            stack.enter_context(patch.object(module, name, value))
        stack.enter_context(patch.object(*of_task, keep))
        (learned_floor if task == "classes" else regression_floor)(frame.lazy(), "target", n_jobs=1)
    return estimated(kept / f"{half}-{place}.pickle")


def estimated(file: Path) -> dict[str, Any]:
    """Estimate the floors of one problem from what was kept of it."""
    record, truth, given, named = pickle.loads(file.read_bytes())
    is_classes = record["task"] == "classes"
    record["truth"] = round(truth if is_classes else 1 - truth, 6)
    for name in CURVES:
        with ExitStack() as stack:
            for module in (summary, numbers_summary) if name == "largest three" else ():
                stack.enter_context(patch.object(module, "goes_over_decades", lambda sizes: True))
            if is_classes:
                stacks, sizes, *rest = given
                n_sizes = len(sizes) if name == "all" else N_COMPARED
                found = summary.summarise(stacks[:n_sizes], sizes[:n_sizes], *rest, **named)
                values = found.curve.value
            else:
                tested, *rest = given
                n_sizes = len(tested.sizes) if name == "all" else N_COMPARED
                some = tested._replace(predicted=tested.predicted[:n_sizes], sizes=tested.sizes[:n_sizes])
                found = numbers_summary.summarise_numbers(some, *rest, **named)
                values = found.by_size
        record[name] = [round(float(value), 6) for value in (found.estimate, *found.interval)]
        record["curve"] = [round(float(value), 6) for value in values]
    return dict(record)


def write_table(records: list[dict[str, Any]]) -> None:
    """Write the page."""
    rows = []
    for half, task, kind in product(HALVES, ("classes", "numbers"), ("random", "fine", "all")):
        of_task = [each for each in records if each["half"] == half and each["task"] == task]
        own = [each for each in of_task if kind in ("all", "fine" if each["problem"].startswith("fine") else "random")]
        if own:
            truth = np.array([each["truth"] for each in own])
            cells = []
            for name in CURVES:
                middle, low, high = np.array([each[name] for each in own]).T
                covers = (low <= truth + 1e-5) & (truth <= high + 1e-5)
                scores = interval_scores(truth, low, high)
                figures = np.abs(middle - truth).mean(), (high - low).mean(), scores.mean()
                cells.append([f"{figures[0]:.4f}", f"{covers.mean():.1%}", *(f"{each:.4f}" for each in figures[1:])])
            rows.append([half, task, kind, len(own), *(" → ".join(pair) for pair in zip(*cells, strict=True))])
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    head = ["half", "task", "kind", "problems", "mean abs. error", "covers", "width", "score"]
    text = "Losses are errors of classes, and shares of the variance of numbers.\n"
    text += "Before → the largest three sizes by the curve over decades → all sizes by this curve."
    write_page("disk_curves", "# Curves of tables on disk", about, notes_of("disk_curves"), text, as_table(head, rows))


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "again", "table"])
    parser.add_argument("--half", choices=HALVES, default="design")
    parser.add_argument("--problems", type=int, default=60)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / "disk_curves")
    given = parser.parse_args()
    if given.what == "run":
        done = {(record["half"], record["place"]) for record in read_records(given.records)}
        places = [place for place in range(given.problems) if (given.half, place) not in done]
        measure_all(measure, [(given.half, place, given.keep) for place in places], given.records, given.workers)
    elif given.what == "again":
        files = sorted(
            given.keep.glob("*.pickle"), key=lambda file: (file.stem.split("-")[0], int(file.stem.rsplit("-")[-1]))
        )
        write_records(given.records, map(estimated, files))
    else:
        write_table(read_records(given.records))
