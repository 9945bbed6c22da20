"""What does each effort cost, and what does it lose? Problems whose floor is known, of both tasks.

    python -m benchmarks.truth.efforts run [--rows 1500] [--task classes|numbers] [--workers 2] [--records FILE]
    python -m benchmarks.truth.efforts table     write benchmarks/results/efforts.md from what was recorded

The problems are those of truth.py and regression_truth.py, one sample of each, the same for every effort. What was
reached is compared with what "default" reaches on the same sample: in the mean, with its standard error over problems.
The error of the estimate is its distance from the truth, and a range holds if the truth lies in it. For numbers all of
this is about R². CPU seconds are those of one thread. Figures are recorded in benchmarks/results/efforts.jsonl.
"""

from pathlib import Path

import numpy as np

from bayesfloor import learned_floor, regression_floor
from bayesfloor.floor.learned.efforts import EFFORTS
from benchmarks.problems.regression_problems import PROBLEMS as NUMBERS
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import HALVES, RESULTS, as_table, notes_of, write_page
from benchmarks.tools.records import measure_all, read_records
from benchmarks.truth.truth import BY_NAME

RECORDS = RESULTS / "efforts.jsonl"
OF_NUMBERS = {problem.name: problem for problem in NUMBERS}


def measure(task: str, name: str, n: int) -> list[dict]:
    """Estimate the floor of one sample with every effort."""
    problem = BY_NAME[name] if task == "classes" else OF_NUMBERS[name]
    if task == "classes":
        (X, y), truth = problem.sample(n, n + 11), problem.bayes_error
    else:
        (X, y, *_), truth = problem(n, np.random.default_rng(n + 11)), problem.r2
    estimate = learned_floor if task == "classes" else regression_floor
    records = []
    for effort in EFFORTS:
        _, seconds, floor = timed(lambda effort=effort: estimate(X, y, effort=effort, n_jobs=1))
        found = floor.metrics["error" if task == "classes" else "r2"]
        low, high = found.interval
        records.append(
            {
                "task": task,
                "name": name,
                "half": problem.half,
                "n": n,
                "effort": effort,
                "reached": round(found.reached, 5),
                "off": round(abs(found.estimate - truth), 5),
                "width": round(high - low, 5),
                "holds": bool(low - 1e-9 <= truth <= high + 1e-9),
                "seconds": round(seconds, 2),
            }
        )
    return records


def run(n: int, task: str | None, workers: int, file: Path) -> None:
    """Measure the samples that were not measured yet."""
    done = {(record["task"], record["name"], record["n"]) for record in read_records(file)}
    keys = [("classes", name, n) for name in BY_NAME] + [("numbers", name, n) for name in OF_NUMBERS]
    wanted = [key for key in keys if key not in done and task in (None, key[0])]
    measure_all(measure, wanted, file, workers)


def write_table(file: Path) -> None:
    """Write the page."""
    records = read_records(file)
    head = ("half", "problems", "effort", "CPU s", "of default", "reached", "beside default")
    head = (*head, "error of the estimate", "ranges that hold", "width of the range")
    parts = []
    for task, name in (("classes", "error"), ("numbers", "R²")):
        rows = []
        for half in HALVES:
            own = {
                effort: [r for r in records if (r["task"], r["half"], r["effort"]) == (task, half, effort)]
                for effort in EFFORTS
            }
            usual = {record["name"]: record for record in own["default"]}
            for effort, of_effort in own.items() if usual else ():
                away = np.array([record["reached"] - usual[record["name"]]["reached"] for record in of_effort])
                seconds = sum(record["seconds"] for record in of_effort)
                rows.append(
                    (
                        half,
                        len(of_effort),
                        effort,
                        f"{np.median([record['seconds'] for record in of_effort]):.1f}",
                        f"{seconds / sum(record['seconds'] for record in own['default']):.2f}",
                        f"{np.mean([record['reached'] for record in of_effort]):.4f}",
                        f"{away.mean():+.4f} ± {away.std() / len(away) ** 0.5:.4f}",
                        f"{np.mean([record['off'] for record in of_effort]):.4f}",
                        f"{sum(record['holds'] for record in of_effort)}",
                        f"{np.mean([record['width'] for record in of_effort]):.3f}",
                    )
                )
        n = ", ".join(map(str, sorted({record["n"] for record in records if record["task"] == task})))
        parts += [f"## {task.capitalize()}: {name}, {n} rows", as_table(head, rows)]
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    write_page("efforts", "# Two efforts", about, notes_of("efforts"), *parts)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--task", choices=["classes", "numbers"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--records", type=Path, default=RECORDS)
    given = parser.parse_args()
    if given.what == "run":
        run(given.rows, given.task, given.workers, given.records)
    else:
        write_table(given.records)
