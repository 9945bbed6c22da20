"""Labels that nothing predicts: does any of them reach a figure, on the whole road from a file to what is reached?

    python -m benchmarks.truth.permutation run   [--seeds 40] [--workers 2] [--out FILE.jsonl] [--tables NAME ...]
    python -m benchmarks.truth.permutation noise [--seeds 200] [--workers 2] [--out FILE.jsonl]
    python -m benchmarks.truth.permutation table [--out FILE.jsonl]    write benchmarks/results/permutation.md

Tables of every kind, real and made, of 60 to 400 rows. Their labels are permuted, the table is written to a CSV file,
read with `read_table`, and given to `learned_floor` or `regression_floor`. Then no model can have an AUC above .5, an
error below that of always naming the largest class, or an R² above 0, but for chance; and intervals have to hold that.
`noise` is one kind of table with many seeds, two categories of 40 to 150 values each: where weights of a stack know
labels of the fold that they are for, the AUC is above .5.

Real tables are read from ../shared/data/tables, or $BAYESFLOOR_DATA/tables, and left out where there are none.
"""

import tempfile
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.preprocessing import TargetEncoder

from bayesfloor import learned_floor, read_table, regression_floor
from bayesfloor.learn.registry import CLASS_LEARNERS as LEARNERS
from bayesfloor.learn.registry import NUMBER_LEARNERS
from benchmarks.problems.stored_sets import DATA
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import RESULTS, as_table, notes_of, write_page
from benchmarks.tools.records import measure_all, read_records

RECORDS = RESULTS / "permutation.jsonl"
TABLES = DATA / "tables"
#: What the mean AUC may be off by, and how often the upper end of an error has to be above the truth.
MOST_OFF, LEAST_COVERED = 0.005, 0.975
#: Rows of a real table that one run takes.
N_REAL = 300
#: Rows of a class below which it is left out of a real table.
FEWEST_OF_CLASS = 10

Rng = np.random.Generator
Frame = pd.DataFrame
Draw = Callable[[Rng], Frame]


@dataclass(frozen=True)
class Kind:
    """How to draw a table, whose column "target" is then permuted.

    Attributes
    ----------
    draw : callable
        Rows of a random generator.
    is_number : bool
        Whether the target is a number.
    reading : dict
        Further arguments of `read_table`.
    """

    draw: Draw
    is_number: bool = False
    reading: dict[str, Any] = field(default_factory=dict)


KINDS: dict[str, Kind] = {}


def kind(*, is_number: bool = False, **reading: Any) -> Callable[[Draw], Draw]:
    """Register a function that draws a table, under its own name."""

    def register(draw: Draw) -> Draw:
        KINDS[draw.__name__.replace("_", " ")] = Kind(draw, is_number, reading)
        return draw

    return register


# --- made tables


def classes(n: int, rng: Rng, n_classes: int = 2) -> Any:
    return np.array([f"class {c}" for c in range(n_classes)])[rng.permutation(np.arange(n) % n_classes)]


def levels(n: int, n_levels: int, rng: Rng, prefix: str = "v") -> list[str]:
    return [f"{prefix}{value}" for value in rng.integers(0, n_levels, n)]


def numbers(n: int, d: int, rng: Rng) -> Frame:
    return pd.DataFrame(rng.standard_normal((n, d)), columns=[f"x{j}" for j in range(d)])


def with_gaps(frame: Frame, share: float, rng: Rng) -> Frame:
    return frame.mask(rng.random(frame.shape) < share)


@kind()
def plain_numbers(rng: Rng) -> Frame:
    return numbers(250, 8, rng).assign(target=classes(250, rng))


@kind()
def skewed_numbers(rng: Rng) -> Frame:
    return np.exp(2 * numbers(250, 6, rng)).assign(target=classes(250, rng))


@kind()
def two_categories_of_many_values(rng: Rng) -> Frame:
    columns = {name: levels(300, int(rng.integers(40, 150)), rng, name) for name in "ab"}
    return pd.DataFrame(columns).assign(target=classes(300, rng))


@kind()
def five_categories_of_many_values(rng: Rng) -> Frame:
    columns = {name: levels(300, int(rng.integers(35, 90)), rng, name) for name in "abcde"}
    return pd.DataFrame(columns).assign(target=classes(300, rng))


@kind()
def few_categories_and_numbers(rng: Rng) -> Frame:
    columns = {name: levels(250, n, rng, name) for name, n in (("a", 3), ("b", 6), ("c", 12))}
    return numbers(250, 3, rng).assign(**columns, target=classes(250, rng))


@kind()
def categories_alone(rng: Rng) -> Frame:
    columns = {f"c{j}": levels(250, int(rng.integers(2, 9)), rng) for j in range(8)}
    return pd.DataFrame(columns).assign(target=classes(250, rng))


@kind()
def many_columns_with_gaps(rng: Rng) -> Frame:
    return with_gaps(numbers(200, 120, rng), 0.3, rng).assign(target=classes(200, rng))


@kind()
def some_gaps(rng: Rng) -> Frame:
    frame = numbers(250, 6, rng).assign(a=levels(250, 5, rng), b=levels(250, 60, rng))
    return with_gaps(frame, 0.15, rng).assign(target=classes(250, rng))


@kind()
def marks_for_gaps(rng: Rng) -> Frame:
    frame = with_gaps(numbers(250, 8, rng).round(2), 0.2, rng).fillna(-999)
    return frame.assign(target=classes(250, rng))


@kind()
def dates(rng: Rng) -> Frame:
    days = pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 900, 250), unit="D")
    return numbers(250, 3, rng).assign(seen=days.strftime("%Y-%m-%d"), target=classes(250, rng))


@kind()
def epochs(rng: Rng) -> Frame:
    seconds = 1_600_000_000 + rng.integers(0, 60_000_000, 250)
    return numbers(250, 3, rng).assign(seen=seconds, ms=1000 * seconds[::-1], target=classes(250, rng))


@kind()
def text(rng: Rng) -> Frame:
    words = np.array([f"word{j}" for j in range(80)])
    remarks = [" ".join(rng.choice(words, rng.integers(5, 14))) for _ in range(250)]
    return numbers(250, 2, rng).assign(remark=remarks, target=classes(250, rng))


@kind()
def ids(rng: Rng) -> Frame:
    frame = numbers(250, 3, rng).assign(id=np.arange(1000, 1250), code=[f"K-{j:05d}" for j in rng.permutation(250)])
    return frame.assign(target=classes(250, rng))


@kind()
def zip_codes(rng: Rng) -> Frame:
    codes = [f"{value:05d}" for value in 500 + 37 * rng.integers(0, 70, 250)]
    return numbers(250, 2, rng).assign(zip=codes, target=classes(250, rng))


@kind()
def more_columns_than_rows(rng: Rng) -> Frame:
    return numbers(150, 250, rng).assign(target=classes(150, rng))


@kind()
def few_rows(rng: Rng) -> Frame:
    return numbers(60, 5, rng).assign(a=levels(60, 4, rng), target=classes(60, rng))


@kind()
def a_rare_class(rng: Rng) -> Frame:
    target = np.where(rng.permutation(400) < 28, "rare", "usual")
    return numbers(400, 6, rng).assign(a=levels(400, 50, rng), target=target)


@kind()
def twelve_classes(rng: Rng) -> Frame:
    return numbers(360, 6, rng).assign(a=levels(360, 45, rng), target=classes(360, rng, 12))


@kind()
def three_uneven_classes(rng: Rng) -> Frame:
    target = np.array(["a", "b", "c"])[np.searchsorted([160, 250], rng.permutation(300), side="right")]
    return numbers(300, 5, rng).assign(a=levels(300, 70, rng), target=target)


@kind(groups="patient")
def groups(rng: Rng) -> Frame:
    patient = rng.integers(0, 50, 300)
    frame = numbers(300, 3, rng).assign(level=rng.standard_normal(50)[patient], clinic=levels(300, 40, rng))
    return frame.assign(patient=[f"P{number}" for number in patient], target=classes(300, rng))


@kind(time="when")
def an_order_of_time(rng: Rng) -> Frame:
    frame = numbers(300, 4, rng).assign(a=levels(300, 45, rng), when=np.arange(300))
    return frame.assign(target=classes(300, rng))


@kind()
def copies(rng: Rng) -> Frame:
    frame = numbers(200, 4, rng)
    return pd.concat([frame, frame.iloc[:60]], ignore_index=True).assign(target=classes(260, rng))


@kind()
def yes_and_no(rng: Rng) -> Frame:
    columns = {f"q{j}": np.where(rng.random(250) < 0.4, "yes", "no") for j in range(12)}
    return pd.DataFrame(columns).assign(target=classes(250, rng))


@kind(prepare=SelectKBest(k=10))
def the_best_of_many_columns(rng: Rng) -> Frame:
    return numbers(200, 300, rng).assign(target=classes(200, rng))


@kind(prepare=TargetEncoder())
def encoded_by_the_target(rng: Rng) -> Frame:
    columns = {name: levels(250, 60, rng, name) for name in "abc"}
    return pd.DataFrame(columns).assign(target=classes(250, rng))


@kind(is_number=True)
def numbers_and_a_number(rng: Rng) -> Frame:
    return numbers(250, 8, rng).assign(target=rng.standard_normal(250))


@kind(is_number=True)
def a_skewed_number(rng: Rng) -> Frame:
    return numbers(250, 5, rng).assign(a=levels(250, 6, rng), target=np.exp(1.5 * rng.standard_normal(250)))


@kind(is_number=True)
def categories_of_many_values_and_a_number(rng: Rng) -> Frame:
    columns = {name: levels(300, int(rng.integers(40, 150)), rng, name) for name in "ab"}
    return pd.DataFrame(columns).assign(target=rng.standard_normal(300).round(4))


@kind(is_number=True)
def gaps_and_a_number(rng: Rng) -> Frame:
    return with_gaps(numbers(200, 60, rng), 0.3, rng).assign(target=rng.standard_normal(200))


@kind(is_number=True, groups="patient")
def groups_and_a_number(rng: Rng) -> Frame:
    patient = rng.integers(0, 50, 300)
    frame = numbers(300, 3, rng).assign(level=rng.standard_normal(50)[patient])
    return frame.assign(patient=[f"P{number}" for number in patient], target=rng.standard_normal(300))


@kind(is_number=True, prepare=SelectKBest(f_regression, k=10))
def the_best_of_many_columns_for_a_number(rng: Rng) -> Frame:
    return numbers(200, 300, rng).assign(target=rng.standard_normal(200))


# --- real tables


def of_scikit_learn(load: Callable[..., Any]) -> Draw:
    def draw(rng: Rng) -> Frame:
        found = load(as_frame=True)
        frame = found.data.assign(target=found.target)
        if found.target.nunique() < 20:
            frame["target"] = [f"class {label}" for label in found.target]
        return sampled(frame, rng)

    return draw


def of_file(name: str, target: str, is_number: bool) -> Draw:
    def draw(rng: Rng) -> Frame:
        frame = pd.read_csv(TABLES / name).rename(columns={target: "target"})
        return sampled(frame, rng, is_number=is_number)

    return draw


def sampled(frame: Frame, rng: Rng, *, is_number: bool = True) -> Frame:
    """Draw rows; of classes, leave out those of too few."""
    frame = frame.iloc[rng.permutation(len(frame))[:N_REAL]].reset_index(drop=True)
    if is_number:
        return frame
    rows = frame.groupby("target")["target"].transform("size")
    return frame[rows >= FEWEST_OF_CLASS].reset_index(drop=True)


for _name in ("iris", "wine", "breast_cancer", "digits"):
    KINDS[_name] = Kind(of_scikit_learn(getattr(datasets, f"load_{_name}")))
KINDS["diabetes"] = Kind(of_scikit_learn(datasets.load_diabetes), is_number=True)
for _file, _target, _is_number in (
    ("abalone.csv", "Rings", True),
    ("winequality-white.csv", "quality", True),
    ("winequality-red.csv", "quality", False),
    ("fars.csv.gz", "INJURY_SEVERITY", False),
    ("flare.csv", "class", False),
    ("kr-vs-k.csv", "depth_of_win", False),
    ("nursery.csv", "class", False),
    ("yeast.csv", "class", False),
):
    if (TABLES / _file).exists():
        KINDS[_file.split(".")[0]] = Kind(of_file(_file, _target, _is_number), _is_number)


# --- one run


def run_one(name: str, seed: int, learners: list[str] | None = None) -> dict[str, Any]:
    """Permute the labels of a table, write it, read it, and estimate its floor.

    Learners are groups of `learned_floor` and of `regression_floor`, each of which takes those that it knows; None for
    all that suit the table.
    """
    how, started = KINDS[name], perf_counter()
    known = NUMBER_LEARNERS if how.is_number else LEARNERS
    some: Any = "default" if learners is None else [each for each in learners if each in known]
    rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
    frame = how.draw(rng)
    frame["target"] = frame["target"].to_numpy()[rng.permutation(len(frame))]
    task = "regression" if how.is_number else "classification"
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = Path(folder) / "table.csv"
        frame.to_csv(file, index=False)
        table = read_table(file, target="target", task=task, **how.reading)
        record = {"table": name, "seed": seed, "task": task, "n": len(table.X)}
        if how.is_number:
            floor = regression_floor(table, learners=some, n_jobs=1)
            record |= {"value": float(floor.reached), "interval": [float(end) for end in floor.interval]}
            record |= {"truth": 0.0, "is_covered": bool(floor.interval[0] <= 0.0)}
        else:
            floor = learned_floor(table, metric=["error", "roc_auc"], learners=some, n_jobs=1)
            error, auc = floor.metrics["error"], floor.metrics["roc_auc"]
            truth = 1.0 - float(np.unique(table.y, return_counts=True)[1].max() / len(table.y))
            record |= {"value": float(auc.reached), "auc_interval": [float(end) for end in auc.reached_interval]}
            record |= {"error": float(error.reached), "interval": [float(end) for end in error.interval]}
            record |= {"truth": truth, "is_covered": bool(error.interval[1] >= truth)}
    return record | {"seconds": round(perf_counter() - started, 2)}


def run(names: list[str], n_seeds: int, n_workers: int, out: Path, learners: list[str] | None) -> None:
    """Make what is not recorded yet, and record it as it comes."""
    done = {(record["table"], record["seed"]) for record in read_records(out)}
    wanted = [(name, seed, learners) for seed in range(n_seeds) for name in names if (name, seed) not in done]
    print(f"{len(wanted)} runs of {len(names)} tables; {len(done)} are there", flush=True)
    measure_all(run_one, wanted, out, n_workers)


# --- what came of it


def mean_and_error(values: list[float]) -> tuple[float, float]:
    error = float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else float("nan")
    return float(np.mean(values)), error


def of_means(by_table: dict[str, list[dict[str, Any]]]) -> tuple[float, float]:
    """Return the mean of the tables' means, and its standard error; each table counts the same."""
    found = [mean_and_error([record["value"] for record in records]) for records in by_table.values()]
    error = float(np.sum([error**2 for _, error in found]) ** 0.5 / len(found))
    return float(np.mean([mean for mean, _ in found])), error


def summarise(records: list[dict[str, Any]]) -> list[str]:
    """Return the page, part by part."""
    parts = [
        "# Labels permuted",
        "Tables of every kind, real and made, whose labels were permuted, from a CSV file to what is reached. Nothing "
        "can be predicted: AUC .5, R² 0, and the error of always naming the largest class. An interval of the error is "
        "right where its upper end is above that, one of R² where its lower end is not above 0.",
        "Made by `python -m benchmarks.truth.permutation run --seeds 40 --workers 16` and `… table`.",
    ]
    for task, measure, aim in (("classification", "AUC", 0.5), ("regression", "R²", 0.0)):
        by_table: dict[str, list[dict[str, Any]]] = {}
        for record in records:
            if record["task"] == task:
                by_table.setdefault(record["table"], []).append(record)
        if not by_table:
            continue
        mean, error = of_means(by_table)
        covered = [record["is_covered"] for of_table in by_table.values() for record in of_table]
        is_right = abs(mean - aim) <= MOST_OFF if task == "classification" else mean <= MOST_OFF
        parts.append(
            f"**{measure}**: mean {mean:.4f} ± {error:.4f} (standard error) of {len(by_table)} tables, {len(covered)} "
            f"runs: {'within' if is_right else 'NOT within'} {MOST_OFF} of {aim:g}"
            f"{'' if task == 'classification' else ', or below'}. Intervals right in {np.mean(covered):.1%}, "
            f"{'as' if np.mean(covered) >= LEAST_COVERED else 'NOT as'} the {LEAST_COVERED:.1%} that they should."
        )
        rows = []
        for name, of_table in by_table.items():
            average, spread = mean_and_error([record["value"] for record in of_table])
            covered_share, seconds = (np.mean([r[key] for r in of_table]) for key in ("is_covered", "seconds"))
            figures = [f"{average:.4f}", f"{spread:.4f}", f"{covered_share:.0%}", f"{seconds:.1f}"]
            rows.append([name, of_table[0]["n"], len(of_table), *figures])
        heads = ["table", "rows", "runs", f"mean {measure}", "standard error", "intervals right", "seconds"]
        parts.append(as_table(heads, rows))
    return [*parts, notes_of("permutation")]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("command", choices=("run", "noise", "table"))
    parser.add_argument("--seeds", type=int, default=None)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RECORDS)
    parser.add_argument("--tables", nargs="*", default=None, choices=list(KINDS), metavar="NAME")
    parser.add_argument("--learners", nargs="*", default=None, help="names of groups; the default stack if left out")
    asked = parser.parse_args()
    if asked.command == "table":
        write_page("permutation", *summarise(read_records(asked.out)))
        return
    names, seeds = asked.tables or list(KINDS), 40
    if asked.command == "noise":
        names, seeds = ["two categories of many values"], 200
    run(names, asked.seeds or seeds, asked.workers, asked.out, asked.learners)
    for name in names:
        values = [record["value"] for record in read_records(asked.out) if record["table"] == name]
        if values:
            mean, error = mean_and_error(values)
            print(f"{name}: {len(values)} runs, mean {mean:.4f} ± {error:.4f}")


if __name__ == "__main__":
    main()
