"""How long a run will still take, from what is recorded."""

from collections.abc import Callable, Iterable, Sequence
from statistics import mean, median

from benchmarks.study.plan import Cell, work_of
from benchmarks.study.records import Record


def seconds_left(recorded: Iterable[Record], waiting: Sequence[Cell], n_jobs: int = 1) -> float | None:
    """Estimate how long the cells that wait will take.

    A cell is taken to cost what the same method costs on other splits of the same set; where there are none, what it
    costs on other sets, in proportion to their size; else what other methods cost.

    Parameters
    ----------
    recorded : iterable of Record
        What is measured. A cell over budget counts as its budget.
    waiting : sequence of Cell
        What is not.
    n_jobs : int, default=1
        How many cells are measured at a time.

    Returns
    -------
    float or None
        Seconds; None when nothing is recorded yet.
    """
    costs = [(record.cell, cost) for record in recorded if (cost := cost_of(record)) is not None]
    if not costs:
        return None
    total = sum(_cost(cell, costs) for cell in waiting)
    return total / max(1, min(n_jobs, len(waiting)))


def cost_of(record: Record) -> float | None:
    """Return the seconds that a record's cell took."""
    if record.result is not None:
        return float(record.result["seconds"])
    return record.budget_seconds


def _cost(cell: Cell, costs: Sequence[tuple[Cell, float]]) -> float:
    def known(wanted: Callable[[Cell], bool]) -> list[tuple[Cell, float]]:
        return [(other, cost) for other, cost in costs if wanted(other)]

    alike = known(lambda other: (other.dataset, other.method) == (cell.dataset, cell.method))
    if alike:
        return mean(cost for _, cost in alike)
    related = known(lambda other: other.method == cell.method) or list(costs)
    return work_of(cell.dataset) * median(cost / max(1, work_of(other.dataset)) for other, cost in related)
