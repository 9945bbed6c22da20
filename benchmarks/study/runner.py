"""Run the cells that are not recorded yet, and record each as soon as it is measured."""

import os
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from benchmarks.study.cell_child import CellChild
from benchmarks.study.machine import describe_machine, describe_revision, describe_versions
from benchmarks.study.methods import Method, find_method
from benchmarks.study.plan import Cell, Protocol
from benchmarks.study.records import (
    DONE,
    OVER_BUDGET,
    Record,
    describe_protocol,
    differences,
    read_records,
    records_file,
    write_record,
)

#: One process for each thread that measures: it serves cell after cell.
_own = threading.local()


class OtherProtocolError(ValueError):
    """The folder holds records that were measured in another way."""


@dataclass(frozen=True)
class Failure:
    """A cell that could not be measured.

    Attributes
    ----------
    cell : Cell
        Which one.
    kind, text : str
        Name and text of the exception.
    """

    cell: Cell
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.cell}: {self.text or self.kind}"


@dataclass(frozen=True)
class Standing:
    """How far a run has come.

    Attributes
    ----------
    recorded : list of Record
        What is measured, by this run or before.
    waiting : list of Cell
        What is not.
    failures : list of Failure
        What could not be measured.
    """

    recorded: list[Record]
    waiting: list[Cell]
    failures: list[Failure]


@dataclass(frozen=True)
class Run:
    """What to run.

    Attributes
    ----------
    cells : sequence of Cell
        All cells, those that are recorded included.
    protocol : Protocol
        How to measure them.
    folder : Path
        Where records go.
    profile : str
        Name of the profile, which is recorded.
    data_dir : str or None
        Folder of data sets.
    budget_seconds : float or None
        How long one cell may take.
    """

    cells: Sequence[Cell]
    protocol: Protocol
    folder: Path
    profile: str
    data_dir: str | None = None
    budget_seconds: float | None = None


def look_up(run: Run, *, complain: Callable[[str], None] = lambda text: None) -> Standing:
    """Find out which cells are recorded.

    Parameters
    ----------
    run : Run
        What to run.
    complain : callable
        Is told of records that are not whole. These cells are measured again, as are those that were over a smaller
        budget than this one.

    Returns
    -------
    Standing

    Raises
    ------
    OtherProtocolError
        If a cell was recorded under another protocol.
    """
    methods = {cell.method: find_method(cell.method, run.protocol) for cell in run.cells}
    records, complaints = read_records(run.folder)
    for complaint in complaints:
        complain(f"{complaint}; what is missing is measured again")
    _refuse_other_protocols(run, methods, records)
    recorded = {record.cell: record for record in records}
    standing = Standing([], [], [])
    for cell in run.cells:
        record = recorded.get(cell)
        if record is None or (not record.is_done and _is_larger(run.budget_seconds, record.budget_seconds)):
            standing.waiting.append(cell)
        else:
            standing.recorded.append(record)
    return standing


def carry_out(
    run: Run,
    *,
    n_jobs: int = 1,
    complain: Callable[[str], None] = lambda text: None,
    on_progress: Callable[[Standing], None] = lambda standing: None,
) -> Standing:
    """Measure what is not recorded.

    Parameters
    ----------
    run : Run
        What to run.
    n_jobs : int, default=1
        How many cells at a time, by joblib: inside ``parallel_config("dask")`` they are spread over a cluster.
    complain : callable
        Is told of records that are not whole, and of cells that could not be measured.
    on_progress : callable
        Is told how far the run has come, at its start and after each cell.

    Returns
    -------
    Standing
        At the end of the run.
    """
    standing = look_up(run, complain=complain)
    run.folder.mkdir(parents=True, exist_ok=True)
    records_file(run.folder).touch()
    on_progress(standing)
    waiting = list(standing.waiting)
    outcomes = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")(
        delayed(_measure)(cell, run.protocol, run.data_dir, run.budget_seconds, os.getpid()) for cell in waiting
    )
    try:
        for cell, answer in outcomes:
            standing.waiting.remove(cell)
            if answer["event"] == "failed":
                standing.failures.append(Failure(cell, answer["kind"], answer["text"]))
                complain(str(standing.failures[-1]))
            else:
                standing.recorded.append(_keep(run, cell, answer))
            on_progress(standing)
    finally:
        with warnings.catch_warnings():  # that tasks were cancelled is what was asked for
            warnings.simplefilter("ignore")
            outcomes.close()  # ends the workers, and they their processes
        stop_child()
    return standing


def stop_child() -> None:
    """End the process that this thread has measured in."""
    child = getattr(_own, "child", None)
    if child is not None:
        child.kill()
        _own.child = None


def _measure(
    cell: Cell, protocol: Protocol, data_dir: str | None, budget_seconds: float | None, coordinator: int
) -> tuple[Cell, dict[str, Any]]:
    is_worker = os.getppid() == coordinator

    def is_wanted() -> bool:
        # joblib's workers outlive a process that was killed, and would go on for nobody
        return not is_worker or os.getppid() == coordinator

    child: CellChild | None = getattr(_own, "child", None)
    if child is None or not child.is_alive:
        child = _own.child = CellChild()
    answer = child.measure(cell, protocol, data_dir, budget_seconds, is_wanted=is_wanted)
    if answer["event"] == "unwanted":
        os._exit(1)
    return cell, answer


def _keep(run: Run, cell: Cell, answer: dict[str, Any]) -> Record:
    method = find_method(cell.method, run.protocol)
    revision = {"revision": describe_revision()}
    record = Record(
        cell,
        describe_protocol(method, run.protocol),
        DONE if answer["event"] == "done" else OVER_BUDGET,
        answer.get("result"),
        run.budget_seconds,
        run.profile,
        # a process that was killed says nothing of its machine
        {"machine": describe_machine(), "versions": describe_versions(), **answer.get("context", {}), **revision},
    )
    write_record(run.folder, record)
    return record


def _refuse_other_protocols(run: Run, methods: dict[str, Method], records: Sequence[Record]) -> None:
    """Refuse a folder with a record that could not stand in one table with what this run measures."""
    for record in records:
        method = methods.get(record.cell.method)
        wanted = run.protocol.as_dict() if method is None else describe_protocol(method, run.protocol)
        if any(record.protocol.get(name) != value for name, value in wanted.items()):
            raise OtherProtocolError(
                f"the record of {record.cell} was measured under another protocol: "
                f"{differences(record.protocol, wanted)}. Name another folder, or remove such records."
            )


def _is_larger(budget: float | None, recorded: float | None) -> bool:
    return recorded is not None and (budget is None or budget > recorded)
