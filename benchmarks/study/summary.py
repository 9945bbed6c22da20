"""Records -> means over the splits, for each method on each data set."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import mean

from benchmarks.study.methods import SMALLER_GRIDS
from benchmarks.study.plan import LANDMARK_METHODS, PAPER_METHODS, PAPER_SETS, SEVENTH_METHOD
from benchmarks.study.records import Record

#: What can be compared: its name in words, and whether more is better.
MEASURES = {
    "ari": ("adjusted Rand index", True),
    "accuracy": ("accuracy", True),
    "macro_f1": ("macro F1", True),
    "seconds": ("total training time", False),
    "seconds_per_configuration": ("training time per configuration", False),
}

#: A method's smaller grid, which stands in for it where the full one has no result.
STAND_INS = {"GenSVM": "GenSVM19"}


class MixedProtocolsError(ValueError):
    """Records that were measured in different ways cannot stand in one table."""


@dataclass(frozen=True)
class Entry:
    """One method on one data set.

    Attributes
    ----------
    measured_as : str
        The method, or the one of a smaller grid that stands in for it.
    splits : tuple of int
        Splits that have a result.
    over_budget : tuple of float
        The budget of each split that has none because it took too long.
    means : dict
        Means over the splits of all `MEASURES`; empty where there is no result.
    """

    measured_as: str
    splits: tuple[int, ...]
    over_budget: tuple[float, ...]
    means: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Summary:
    """All methods on all data sets.

    Attributes
    ----------
    datasets, methods : tuple of str
        Those of the paper first, in its order.
    entries : dict
        By (data set, method); nothing for those without a record.
    time : {"cpu", "wall"}
        Which time "seconds" is.
    """

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    entries: dict[tuple[str, str], Entry]
    time: str

    def n_splits(self, dataset: str) -> int:
        """Return the largest number of splits that any method has a result for."""
        return max((len(entry.splits) for (name, _), entry in self.entries.items() if name == dataset), default=0)

    def is_complete(self, dataset: str, methods: Sequence[str], *, full_grids: bool = False) -> bool:
        """Tell whether all methods have results for all splits, perhaps without stand-ins of a smaller grid."""
        n_splits = self.n_splits(dataset)
        entries = [self.entries.get((dataset, method)) for method in methods]
        return n_splits > 0 and all(
            entry is not None and len(entry.splits) == n_splits and (not full_grids or entry.measured_as == method)
            for method, entry in zip(methods, entries, strict=True)
        )

    def value(self, dataset: str, method: str, measure: str) -> float | None:
        """Return a mean; None where there is no result."""
        entry = self.entries.get((dataset, method))
        return None if entry is None else entry.means.get(measure)


def summarise(records: Iterable[Record], *, time: str = "cpu") -> Summary:
    """Average records over splits.

    Parameters
    ----------
    records : iterable of Record
        From one study.
    time : {"cpu", "wall"}, default="cpu"
        Which seconds count. With one thread they are equal on a machine that does nothing else.

    Returns
    -------
    Summary

    Raises
    ------
    MixedProtocolsError
        If not all were measured in the same way.
    """
    by_place: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        by_place.setdefault((record.cell.dataset, record.cell.method), []).append(record)
    _check_protocols(record for group in by_place.values() for record in group)
    entries = {place: _entry(place[1], group, time) for place, group in by_place.items()}
    for full, small in STAND_INS.items():
        for dataset in {name for name, _ in entries}:
            stand_in = entries.pop((dataset, small), None)
            own = entries.get((dataset, full))
            if stand_in is not None and (own is None or len(own.splits) < len(stand_in.splits)):
                entries[dataset, full] = stand_in
    return Summary(
        _in_order({name for name, _ in entries}, PAPER_SETS),
        _in_order({name for _, name in entries}, (*PAPER_METHODS, SEVENTH_METHOD, *LANDMARK_METHODS)),
        entries,
        time,
    )


def smaller_grids(summary: Summary) -> dict[str, str]:
    """Return which methods a smaller grid stands in for somewhere, and what it is, in words."""
    used = {entry.measured_as for (_, method), entry in summary.entries.items() if entry.measured_as != method}
    return {full: SMALLER_GRIDS[small] for full, small in STAND_INS.items() if small in used}


def _entry(method: str, records: Sequence[Record], time: str) -> Entry:
    done = sorted((record for record in records if record.result is not None), key=lambda record: record.cell.split)
    over = tuple(float(record.budget_seconds or 0.0) for record in records if record.result is None)
    rows = []
    for record in done:
        assert record.result is not None
        seconds = record.result["cpu_seconds" if time == "cpu" else "seconds"]
        row = {name: float(record.result[name]) for name in ("ari", "accuracy", "macro_f1")}
        row |= {"seconds": seconds, "seconds_per_configuration": seconds / record.result["n_configurations"]}
        rows.append(row)
    means = {name: mean(row[name] for row in rows) for name in MEASURES} if rows else {}
    return Entry(method, tuple(record.cell.split for record in done), over, means)


def _check_protocols(records: Iterable[Record]) -> None:
    """Refuse records of several protocols: folds, test share and scaling are the same for all, the grid by method."""
    first: Record | None = None
    by_method: dict[str, Record] = {}
    for record in records:
        first = first or record
        alike = by_method.setdefault(record.cell.method, record)
        same_base = all(
            record.protocol.get(name) == first.protocol.get(name) for name in ("n_folds", "test_share", "scale")
        )
        if not same_base or record.protocol != alike.protocol:
            other = alike if same_base else first
            raise MixedProtocolsError(
                f"the records of {record.cell} and {other.cell} were measured under different protocols; "
                "they do not belong in one table"
            )


def _in_order(names: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: (known.index(name) if name in known else len(known), name)))
