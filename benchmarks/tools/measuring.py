"""Time and memory of a call, and of a process of its own."""

import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.tools.pages import ROOT

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


class Timed(NamedTuple):
    """Seconds by the clock and of the processor, and what came of it."""

    seconds: float
    cpu_seconds: float
    result: Any


def timed(work: Callable[[], Any], processor_time: Callable[[], float] = time.process_time) -> Timed:
    """Time a call."""
    started, used = time.perf_counter(), processor_time()
    result = work()
    return Timed(time.perf_counter() - started, processor_time() - used, result)


def median_seconds(work: Callable[[], Any], runs: int = 3, enough: float = float("inf")) -> float:
    """Return the median time of a few runs by the clock, fewer where they add up to `enough` seconds."""
    times: list[float] = []
    while not times or (len(times) < runs and sum(times) < enough):
        times.append(timed(work).seconds)
    return statistics.median(times)


def in_turns(ways: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Run each of some ways once in every round; return the seconds of each by the clock and of the processor."""
    runs: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, work in ways.items():
            runs[way].append(timed(work)[:2])
    return runs


def median_times(runs: Sequence[tuple[float, float]]) -> list[float]:
    """Return the median seconds by the clock and of the processor."""
    return [statistics.median(times) for times in zip(*runs, strict=True)]


def median_ratios(runs: Sequence[tuple[float, float]], others: Sequence[tuple[float, float]]) -> list[float]:
    """Return the medians, over rounds, of how many times as long one way took as another: by the clock, and in CPU."""
    return median_times([(a / c, b / d) for (a, b), (c, d) in zip(runs, others, strict=True)])


def peak_mib(work: Callable[[], Any]) -> tuple[float, float]:
    """Return the memory of this process at its peak during some work, beyond what it was before, and in all."""
    before = memory_mib("VmRSS")
    reset_peak()
    work()
    peak = memory_mib("VmHWM")
    return peak - before, peak


def run_timed(command: Sequence[str | Path], **options: Any) -> Timed:
    """Run a command; processor seconds are those of it and of all processes that it starts."""

    def processor_time() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    return timed(lambda: subprocess.run(command, **options), processor_time)


def in_own_process(module: str, *arguments: object, cpu_limit: int | None = None) -> Any:
    """Return the JSON that ``python -m module --measure …`` prints last; None where it used up its CPU seconds."""

    def limit() -> None:
        if cpu_limit is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_limit, cpu_limit + 5))

    command = [sys.executable, "-m", module, "--measure", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, preexec_fn=limit)
    if cpu_limit is not None and done.returncode == -signal.SIGXCPU:
        return None
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[2:])} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


class Version:
    """A version of the package, in a process of its own that answers questions: ``python -m module --serve``."""

    def __init__(self, source: Path, module: str, n_threads: int) -> None:
        environment = os.environ | {"PYTHONPATH": str(source)} | dict.fromkeys(THREAD_VARIABLES, str(n_threads))
        command = [sys.executable, "-m", module, "--serve"]
        self.process = subprocess.Popen(
            command, env=environment, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, *question: Any) -> Any:
        """Return the answer to a question; both go through JSON."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(question), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{question} failed")
        return json.loads(answer)

    def close(self) -> None:
        """Let the process end."""
        self.process.communicate()


def serve(answer: Callable[..., Any]) -> None:
    """Answer the questions of a `Version` until there are no more."""
    for line in sys.stdin:
        print(json.dumps(answer(*json.loads(line))), flush=True)


def memory_mib(field: str, process: int | str = "self") -> float:
    """Return VmRSS or VmHWM, a process's memory now or at its peak; getrusage would count its parent's."""
    for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise OSError(f"the system does not tell {field} of a process")


class Watched(NamedTuple):
    """What a command took, with all processes that it started.

    Attributes
    ----------
    seconds, cpu_seconds : float
        By the clock, and of the processor.
    peak_mib, largest_other_mib, all_mib : float
        Memory at its peak: of the process itself, of the largest of those that it started, and of all at one time.
    output : str
        What it printed.
    """

    seconds: float
    cpu_seconds: float
    peak_mib: float
    largest_other_mib: float
    all_mib: float
    output: str


def watched(command: Sequence[str | Path], every_s: float = 0.2, **options: Any) -> Watched:
    """Run a command and look at the memory of its processes all the time; one that fails ends the script."""
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdout=output, cwd=ROOT, **options)
        peaks: dict[int, float] = {}
        at_once = 0.0
        while True:
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            now = 0.0
            for each in _with_descendants(process.pid):
                try:
                    now += memory_mib("VmRSS", each)
                    peaks[each] = max(peaks.get(each, 0.0), memory_mib("VmHWM", each))
                except OSError:  # it has just ended, and has no memory any more
                    continue
            at_once = max(at_once, now)
            time.sleep(every_s)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        printed = output.read()
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed with {process.returncode}:\n{printed}")
    peak = peaks.pop(process.pid, 0.0)
    return Watched(seconds, used.ru_utime + used.ru_stime, peak, max(peaks.values(), default=0.0), at_once, printed)


def _with_descendants(process: int) -> Iterator[int]:
    """Yield a process and all that it started and that still run."""
    yield process
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = task.read_text(encoding="ascii").split()
        except OSError:  # the thread has just ended
            continue
        for child in children:
            yield from _with_descendants(int(child))


def reset_peak() -> None:
    """Let the peak be counted anew from here on."""
    Path("/proc/self/clear_refs").write_text("5")


def set_threads(n: int) -> None:
    """Let libraries that are loaded from here on, and in processes started from here on, take so many threads."""
    for variable in THREAD_VARIABLES:
        os.environ.setdefault(variable, str(n))
