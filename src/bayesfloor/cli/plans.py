"""The record of what a command is going to take."""

from dataclasses import dataclass
from math import log10

from bayesfloor.runtime.text import counted

#: Commands that take --dry-run.
PLANNED = ("floor", "report", "fit")
#: Seconds from which on minutes, and hours, are written.
_MINUTES_FROM, _HOURS_FROM = 120, 7200


@dataclass(frozen=True)
class Plan:
    """What some work takes.

    Attributes
    ----------
    source : str
        Name of the file or folder.
    method : str
        What is done: "floor", "report", "landmarks", "stack", "smartsvm" or "trees"; "disk" for a floor of all rows of
        large files.
    n_samples : int
        Rows of the table.
    is_estimated : bool
        Whether they were not counted, but follow from the size of the file.
    n_columns : int
        Columns beside the target.
    n_classes : int or None
        Classes among the first rows; None for a number.
    n_rows : int
        Rows that are used.
    n_passes : int
        How often the rows are read.
    disk_bytes, memory_bytes : int
        Size of the files, and memory of this process at its peak.
    available_bytes : int or None
        Memory that there is; None where the system does not tell.
    n_workers : int
        Threads here, or processes and threads of a cluster.
    worker_bytes, worker_available_bytes : int or None
        Memory that a worker needs and may take; None without a cluster, or a limit.
    cpu_seconds, wall_seconds : float
        Seconds of all cores together, and by the clock, as the model of cost has them.
    """

    source: str
    method: str
    n_samples: int
    is_estimated: bool
    n_columns: int
    n_classes: int | None
    n_rows: int
    n_passes: int
    disk_bytes: int
    memory_bytes: int
    available_bytes: int | None
    n_workers: int
    worker_bytes: int | None
    worker_available_bytes: int | None
    cpu_seconds: float
    wall_seconds: float

    def lacking(self) -> str:
        """Say what does not fit into memory; empty text where all does."""
        from bayesfloor.runtime.limits import in_gib  # loads NumPy

        needs = (
            (self.memory_bytes, self.available_bytes, ""),
            (self.worker_bytes, self.worker_available_bytes, "each worker "),
        )
        for needed, available, who in needs:
            if needed is not None and available is not None and needed > available:
                return (
                    f"{self.source}: {about(self.n_rows)} rows of {counted(self.n_columns, 'column')} would take "
                    f"{who}about {in_gib(needed)} of memory; {in_gib(available)} are available. --max-rows N uses fewer"
                )
        return ""

    def sentence(self) -> str:
        """Say in one line what is needed, and what there is."""
        from bayesfloor.runtime.limits import in_gib

        rows = f"{about(self.n_samples) if self.is_estimated else counted(self.n_samples)} rows"
        used = "" if self.n_rows >= self.n_samples else f", of which {about(self.n_rows)} are used"
        there = "" if self.available_bytes is None else f" of {in_gib(self.available_bytes)}"
        return (
            f"{self.source}: {rows} of {counted(self.n_columns, 'column')}{used}; needs about "
            f"{in_gib(self.memory_bytes)}{there} of memory, and about {shown_seconds(self.wall_seconds)}."
        )


def shown_seconds(seconds: float) -> str:
    """Write a guess of seconds with two digits, in the unit that fits."""
    if seconds < _MINUTES_FROM:
        return f"{_rounded(seconds):g} s"
    return f"{_rounded(seconds / 60):g} min" if seconds < _HOURS_FROM else f"{_rounded(seconds / 3600):g} h"


def about(number: int) -> str:
    """Write a guess of a number with two digits."""
    return counted(int(_rounded(number)))


def _rounded(number: float) -> float:
    """Round to two digits."""
    return round(number, 1 - int(log10(number))) if number >= 1 else round(number, 1)
