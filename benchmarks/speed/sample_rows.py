"""Of a table on disk, learners of few parameters have a sample: would they gain from more rows, and would the stack?

    python -m benchmarks.speed.sample_rows run [--tables made covertype-like covertype]
    python -m benchmarks.speed.sample_rows table       write benchmarks/results/sample_rows.md

The tables are ``made`` and ``covertype-like`` of problems/large_table.py with 10^6 rows, and the real table covertype.
Of each, 2^19 rows are drawn for the sample in place of 2^17, and `learned_floor`'s learners of a sample are trained on
2^15 to 2^19 of them, without their own limits on rows; beside them, a landmark model of twice as many landmarks.
Boosting, trees and nearest rows are trained on all rows, in parts. All are judged on the same tested rows, which nobody
was trained on. Weights of a stack are fitted on four fifths of the tested rows, and judged on the last.

A standard error is that of the mean difference between two stacks, row by row.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned import large_tables as from_tables
from bayesfloor.floor.learned.cross_fitting import fit_sample
from bayesfloor.floor.learned.efforts import EFFORTS
from bayesfloor.floor.learned.from_disk import BY_PARTS, plan_from_disk
from bayesfloor.floor.learned.row_plan import RowPlan
from bayesfloor.floor.learned.splits import Split
from bayesfloor.floor.learned.targets import Target, target_of
from bayesfloor.floor.learned.training_sets import training_set
from bayesfloor.learn import linear_cost
from bayesfloor.learn.by_parts import LEARNERS, MEANS, RIDGES, PartLearners
from bayesfloor.learn.learner import Look
from bayesfloor.learn.network import Network
from bayesfloor.learn.parts import PartPool
from bayesfloor.learn.registry import MANY_ROWS_LEARNERS
from bayesfloor.runtime.threads import WorkerPool
from benchmarks.problems.large_table import TARGET
from benchmarks.problems.stored_sets import stored_arrays
from benchmarks.speed.large_tables import FOLDER, folder_of
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import RESULTS, as_table, notes_of, this_machine, write_page
from benchmarks.tools.records import Record, measure_all, read_records

RECORDS = RESULTS / "sample_rows.jsonl"
TABLES = ("made", "covertype-like", "covertype")
N_ROWS = 1_000_000
#: Rows of the samples, and those that `learned_floor` has.
SIZES, USUAL = tuple(2**power for power in range(15, 20)), 2**17
#: The one learner of a sample that is no model of few parameters, and one that `learned_floor` does not have.
SHARES, LARGER = "deep trees of shares", "landmark model, 1024"
#: Learners that the page shows, beside those of parts: the other ones are behind them on each table.
SHOWN = ("logistic", "network", "landmark ridge", "landmark model", LARGER, SHARES)
#: Which learners of a sample have so many rows in a stack.
STACKS = {
    "none": "none",
    "few parameters": "models of few parameters",
    "larger": f"{LARGER}, beside all others",
    "all": "all learners of a sample",
}

#: What a learner predicts, by its name and its rows.
Predicted = dict[tuple[str, int], NDArray[np.float32]]


def folder_of_covertype() -> Path:
    """Return the real table, written as a Parquet file where it is not there."""
    folder = FOLDER / "covertype"
    if not folder.is_dir():
        arrays = stored_arrays("extra/covertype")
        values = arrays["X"].astype(np.int32)
        columns = {str(name): column for name, column in zip(arrays["feature_names"], values.T, strict=True)}
        frame = pl.DataFrame(columns | {TARGET: [f"cover{label}" for label in arrays["y"]]})
        part = folder.with_suffix(".part")
        part.mkdir(parents=True, exist_ok=True)
        frame.write_parquet(part / "part-0000.parquet", row_group_size=2**18)
        part.rename(folder)
    return folder


def problem_of(name: str) -> Problem:
    """Put the rows of a table on disk, with a sample of the largest size."""
    folder = folder_of_covertype() if name == "covertype" else folder_of(name, N_ROWS)[0]
    with mock.patch.multiple(from_tables, SAMPLE_ROWS=SIZES[-1], SAMPLE_VALUES=2**40, MOST_SAMPLED=1.0):
        problem = from_tables.problem_on_disk(str(folder), TARGET, task="classification", seed=0, n_jobs=1).problem
    if problem is None:
        raise SystemExit(f"{folder} was not put on disk")
    return problem


# --- training


def train_on_sample(problem: Problem, plan: RowPlan, target: Target, n_rows: int) -> tuple[Predicted, dict[str, float]]:
    """Train the learners of a sample on so many rows, and return what they predict, and the CPU seconds of families."""
    tested = problem.take(plan.predicted)
    families = target.default_learners(Look(tested.X, tested.tabular, n_rows=USUAL), is_many=True)
    wanted = {name for family in families.values() for name in family.names}.difference(LEARNERS)
    sample = plan.splits[0].train[:n_rows]
    fewer = plan._replace(splits=[Split(0, sample, plan.splits[0].tests)])
    known, seconds = replace(problem, stored=None), {}
    found: Predicted = {}

    def train(family: str, effort: Any) -> dict[str, NDArray[np.float32]]:
        # every row for everybody
        limits = dict.fromkeys(("LANDMARK_ROWS", "GAUSSIAN_ROWS", "LOGISTIC_ROWS"), n_rows)
        with mock.patch.multiple(linear_cost, EFFORTS={"default": effort}, **limits):
            own = {family: Network() if family == "network" else families[family]}
            return fit_sample(known, fewer, target, own, wanted, 0, WorkerPool(1))[family]

    usual = linear_cost.EFFORTS["default"]
    for family in families:
        if family in BY_PARTS:
            continue
        started = time.process_time()
        found |= {(name, n_rows): values for name, values in train(family, usual).items()}
        seconds[family] = time.process_time() - started
    if n_rows in (USUAL, SIZES[-1]):
        started = time.process_time()
        larger = replace(usual, most_landmarks=2 * usual.most_landmarks)
        found[LARGER, n_rows] = train("landmarks", larger)["landmark model"]
        seconds[LARGER] = time.process_time() - started
    return found, seconds


def train_on_parts(problem: Problem, plan: RowPlan, target: Target) -> tuple[Predicted, dict[str, float]]:
    """Train the learners of all rows, and return what they predict, and CPU seconds."""
    stored, sample = problem.stored, plan.splits[0].train[:USUAL]
    assert stored is not None
    like, _ = training_set(problem, sample, plan.predicted[:1], is_many=True)
    learners = PartLearners(PartPool(stored.parts, WorkerPool(1)), stored.tested, like, stored.is_category, 0)
    quarters, found, seconds = (0, 1, 2, 3), {}, {}
    for names in (["boosting"], ["deep trees"], [*MEANS, *RIDGES]):
        started = time.process_time()
        for name, values in learners.predict(quarters, names).items():
            found[name, learners.n_rows(quarters)] = target.finish(like, problem, sample).of(values)
            seconds[name] = time.process_time() - started
    return found, seconds


# --- judging


class Judge:
    """Losses of learners and of stacks on the tested rows."""

    def __init__(self, target: Target, plan: RowPlan, predicted: Predicted) -> None:
        self.target, self.plan, self.predicted = target, plan, predicted

    def losses(self, log_p: NDArray[Any]) -> NDArray[np.float64]:
        """Return log-losses and errors, row by row."""
        return np.stack([self.target.lost(log_p, np.arange(len(log_p))), self.target.losses(log_p)])

    def stack(self, learners: Sequence[tuple[str, int]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the losses of a stack of some learners, with weights from the other folds, and the mean weights."""
        predicted = np.stack([self.predicted[each] for each in learners])[:, np.newaxis]
        everybody, folds = np.arange(len(learners)), self.plan.folds
        combined, total = np.empty(predicted.shape[2:]), np.zeros(len(learners))
        for fold in np.unique(folds).tolist():
            own, rows = folds == fold, np.flatnonzero(folds != fold)
            weights, offset = self.target.fit_stack(predicted, everybody, np.zeros_like(rows), rows, [0, 0, fold])
            combined[own] = self.target.combined(predicted[:, :, own], weights, offset)[0]
            total += weights
        return self.losses(combined), total / total.sum()


def measure(name: str) -> list[Record]:
    """Train all learners of a table, and judge them and their stacks."""
    problem = problem_of(name)
    plan = plan_from_disk(problem, 5)
    target = target_of(problem, plan, EFFORTS["default"].light)
    predicted, seconds = train_on_parts(problem, plan, target)
    by_parts = list(predicted)
    records: list[Record] = [
        {"what": "learner", "learner": learner, "n_rows": n_rows, "cpu_seconds": seconds[learner], "in_parts": True}
        for learner, n_rows in by_parts
    ]
    for n_rows in SIZES:
        found, seconds = train_on_sample(problem, plan, target, n_rows)
        predicted |= found
        family_of = {each: family for family, own in MANY_ROWS_LEARNERS.items() for each in own.names}
        records += [
            {"what": "learner", "learner": each, "n_rows": n_rows, "cpu_seconds": seconds[family_of.get(each, each)]}
            for each, _ in found
        ]
        print(name, n_rows, {family: round(taken, 1) for family, taken in seconds.items()}, flush=True)
    judge = Judge(target, plan, predicted)
    for record in records:
        log_p = predicted[record["learner"], record["n_rows"]]
        record["log_loss"], record["error"] = judge.losses(log_p).mean(axis=1).tolist()
    records += stacks_of(judge, by_parts, {learner for learner, n_rows in predicted if n_rows == USUAL} - {LARGER})
    return [{"table": name, "n_tested": len(plan.folds)} | record for record in records]


def stacks_of(judge: Judge, by_parts: list[tuple[str, int]], names: set[str]) -> list[Record]:
    """Judge stacks of learners of all rows and of samples of each size, beside those of the usual size."""
    few = sorted(names - {SHARES})
    shares = [(SHARES, USUAL)] if SHARES in names else []
    stacks: dict[tuple[str, int], list[tuple[str, int]]] = {("none", 0): by_parts}
    for n_rows in SIZES:
        stacks["few parameters", n_rows] = [*by_parts, *shares, *((each, n_rows) for each in few)]
        stacks["all", n_rows] = [*by_parts, *((each, n_rows) for each in sorted(names))]
    for n_rows in (USUAL, SIZES[-1]):
        stacks["larger", n_rows] = [*stacks["all", USUAL], (LARGER, n_rows)]
    (usual, _), records = judge.stack(stacks["all", USUAL]), []
    for (which, n_rows), learners in stacks.items():
        losses, weights = judge.stack(learners)
        change = losses - usual
        of_mean = change.std(axis=1) / change.shape[1] ** 0.5
        record = {"what": "stack", "which": which, "n_rows": n_rows, "weight": float(weights[len(by_parts) :].sum())}
        for metric, place in (("log_loss", 0), ("error", 1)):
            record |= {metric: float(losses[place].mean()), f"{metric}_change": float(change[place].mean())}
            record[f"{metric}_standard_error"] = float(of_mean[place])
        records.append(record)
    return records


# --- the page

INTRODUCTION = """\
# How many rows models of few parameters need

`python -m benchmarks.speed.sample_rows`, whose docstring says what is measured and how; {machine}. Records are in
sample_rows.jsonl. `learned_floor` of a table on disk trains its learners of a sample on {usual} rows, fewer of a wide
table."""
LEARNERS_PART = """\
## Each learner alone

Log-loss on the tested rows by rows trained on, and CPU seconds of {usual} rows and of the most, which learners of
one family share. Learners of all rows have one figure. *{larger}* has twice the landmarks of the landmark model."""
STACKS_PART = """\
## The stack

Learners of all rows are in every stack, and those of a sample with so many rows. *Weight* is the share of the weights
that the latter have. *Change* is that from the stack whose learners of a sample all have {usual} rows; below 0 is
better, and ± is its standard error. Beside *models of few parameters*, {shares} keep {usual} rows."""


def learner_rows(records: list[Record], table: str) -> list[list[str]]:
    """Return the lines of the learners of a table."""
    own = {(each["learner"], each["n_rows"]): each for each in records if each["table"] == table}
    lines = []
    for learner in SHOWN:
        if (learner, USUAL) in own:
            losses = [f"{own[learner, n]['log_loss']:.4f}" if (learner, n) in own else "" for n in SIZES]
            seconds = [f"{own[learner, n]['cpu_seconds']:.1f}" for n in (USUAL, SIZES[-1])]
            lines.append([table, learner, *losses, "", *seconds])
    for each in own.values():
        if "in_parts" in each:
            last = f"{each['log_loss']:.4f}", "", f"{each['cpu_seconds']:.1f}"
            lines.append([table, each["learner"], *[""] * len(SIZES), *last])
    return lines


def stack_rows(records: list[Record], table: str) -> list[list[str]]:
    """Return the lines of the stacks of a table."""
    lines = []
    for which, words in STACKS.items():
        for each in records:
            if each["table"] == table and each["which"] == which:
                cells = [table, words, _rows(each["n_rows"]) if each["n_rows"] else "", f"{each['weight']:.2f}"]
                for metric in ("log_loss", "error"):
                    change, error = each[f"{metric}_change"], each[f"{metric}_standard_error"]
                    cells += [f"{each[metric]:.4f}", f"{change:+.4f} ± {error:.4f}"]
                lines.append(cells)
    return lines


def _rows(n_rows: int) -> str:
    return f"{n_rows:,}".replace(",", " ")


def write_table(records: list[Record]) -> None:
    """Write the page."""
    learners, stacks = ([each for each in records if each["what"] == what] for what in ("learner", "stack"))
    names = {"usual": _rows(USUAL), "larger": LARGER, "shares": SHARES, "machine": this_machine()}
    heads = ["table", "learner", *map(_rows, SIZES), "all rows", f"CPU s, {_rows(USUAL)}", "CPU s, most"]
    of_stacks = ["table", "learners of a sample", "rows", "weight", "log-loss", "change", "error", "change"]
    write_page(
        "sample_rows",
        INTRODUCTION.format(**names),
        notes_of("sample_rows"),
        LEARNERS_PART.format(**names),
        as_table(heads, [line for table in TABLES for line in learner_rows(learners, table)]),
        STACKS_PART.format(**names),
        as_table(of_stacks, [line for table in TABLES for line in stack_rows(stacks, table)]),
    )


def main() -> None:
    """Measure, or write the page."""
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--workers", type=int, default=2, help="tables that are measured at a time")
    options = parser.parse_args()
    if options.what == "table":
        write_table(read_records(RECORDS))
        return
    recorded = {record["table"] for record in read_records(RECORDS)}
    measure_all(measure, [(name,) for name in options.tables if name not in recorded], RECORDS, options.workers)


if __name__ == "__main__":
    main()
