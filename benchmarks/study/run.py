"""Carry out ``run``: measure, show progress, summarise."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from joblib import effective_n_jobs, parallel_config

from bayesfloor.cli.exits import BAD_DATA, MISSING, OK, UsageError
from bayesfloor.cli.output import say, table_text, write, write_json
from bayesfloor.runtime.text import visible
from benchmarks.study.app import ShowOptions
from benchmarks.study.estimate import seconds_left
from benchmarks.study.methods import find_method
from benchmarks.study.plan import Protocol, UnknownNameError, find_dataset, find_profile, plan_cells
from benchmarks.study.runner import OtherProtocolError, Run, Standing, carry_out
from benchmarks.tools.pages import ROOT

#: Errors of a cell that mean that something is missing, rather than wrong with the data.
_MISSING_KINDS = {"ConnectionError", "ModuleNotFoundError", "ImportError"}


def run_study(
    *,
    out: str,
    profile: str,
    datasets: Sequence[str],
    methods: Sequence[str],
    splits: int | None,
    first_split: int,
    jobs: int,
    cluster: str | None,
    budget_seconds: float | None,
    scale: str,
    data: str | None,
    options: ShowOptions,
) -> int:
    """Carry out what is not recorded, and say what was done."""
    if jobs == 0:
        raise UsageError("--jobs 0: name a number of cells at a time, or -1 for one per core")
    if data is not None and not Path(data).is_dir():
        raise UsageError(f"--data {data!r}: no such folder")
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {out!r} is not a folder")
    size = find_profile(profile)
    protocol = replace(size.protocol, scale=scale)
    try:
        names = [find_dataset(name) for name in datasets or size.datasets]
        wanted = [_checked(name, protocol) for name in methods or size.methods]
        cells = plan_cells(names, splits or size.n_splits, wanted, first_split)
        run = Run(cells, protocol, folder, profile, data, budget_seconds)
        with_estimate = Progress(effective_n_jobs(jobs), options.quiet)
        try:
            with _spread_over(cluster):
                standing = carry_out(
                    run,
                    n_jobs=jobs if cluster is None else -1,
                    complain=with_estimate.say,
                    on_progress=with_estimate.show,
                )
        finally:
            with_estimate.wipe()
    except (UnknownNameError, OtherProtocolError) as error:
        raise UsageError(str(error)) from error
    _summarise(standing, len(run.cells), options)
    if standing.failures:
        return MISSING if any(each.kind in _MISSING_KINDS for each in standing.failures) else BAD_DATA
    return OK


class Progress:
    """A line on a terminal that says how far the run has come and how long it may still take."""

    def __init__(self, n_jobs: int, quiet: bool) -> None:
        self._n_jobs = n_jobs
        self._draws = not quiet and sys.stderr.isatty()
        self._drawn = False

    def show(self, standing: Standing) -> None:
        """Draw the line anew."""
        if not self._draws:
            return
        n_done, n_left = len(standing.recorded) + len(standing.failures), len(standing.waiting)
        left = seconds_left(standing.recorded, standing.waiting, self._n_jobs)
        estimate = "" if left is None or not n_left else f", about {in_words(left)} left"
        last = f", last {standing.recorded[-1].cell}" if standing.recorded else ""
        print(
            f"\r\033[K{n_done} of {n_done + n_left} cells{estimate}{visible(last)}", end="", file=sys.stderr, flush=True
        )
        self._drawn = True

    def say(self, text: str) -> None:
        """Say something that stays; errors are said even when quiet."""
        self.wipe()
        say(text)

    def wipe(self) -> None:
        """Remove the line."""
        if self._drawn:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self._drawn = False


def in_words(seconds: float) -> str:
    """Write a duration to about two digits."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}" if seconds < 10 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


@contextmanager
def _spread_over(cluster: str | None) -> Iterator[None]:
    """Let joblib send its work to a Dask cluster, where one is named."""
    if cluster is None:
        yield
        return
    from bayesfloor.cli.input import client_of

    with client_of(cluster) as client, TemporaryDirectory() as folder, parallel_config("dask", client=client):
        from distributed.diagnostics.plugin import UploadFile

        # Workers have bayesfloor installed, but not the study. The scheduler, which may be this process, needs neither.
        archive = f"{folder}/study.zip"
        package = ROOT / "benchmarks"
        with ZipFile(archive, "w") as file:
            for each in (package / "__init__.py", *package.glob("study/**/*.py"), *package.glob("tools/*.py")):
                file.write(each, each.relative_to(ROOT))
        client.register_plugin(UploadFile(archive))
        yield


def _checked(name: str, protocol: Protocol) -> str:
    return find_method(name, protocol).name


def _summarise(standing: Standing, n_cells: int, options: ShowOptions) -> None:
    done = sorted((record for record in standing.recorded), key=lambda record: record.cell)
    over = [record for record in done if not record.is_done]
    if options.json:
        listed = [
            {
                "dataset": record.cell.dataset,
                "split": record.cell.split,
                "method": record.cell.method,
                "status": record.status,
                "result": record.result,
            }
            for record in done
        ]
        failed = [{"cell": str(each.cell), "error": each.text} for each in standing.failures]
        write_json("run", {"cells": listed, "failed": failed})
    else:
        rows = [
            (
                record.cell.dataset,
                record.cell.split,
                record.cell.method,
                *(record.result[name] if record.result else record.status for name in ("ari", "accuracy", "seconds")),
            )
            for record in done
        ]
        write(table_text(("data set", "split", "method", "ARI", "accuracy", "seconds"), rows))
    parts = [f"{len(done) - len(over)} of {n_cells} cells measured"]
    parts += [f"{len(over)} over budget"] if over else []
    parts += [f"{len(standing.failures)} failed"] if standing.failures else []
    say(", ".join(parts), quiet=options.quiet)
