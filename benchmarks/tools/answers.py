"""Are all answers what they were? 40 fixed inputs and 14 reports, figure by figure.

    git worktree add ../base COMMIT                                            # the state to compare with:
    (cd ../base && python -m benchmarks.tools.answers store --into base.answers)
    python -m benchmarks.tools.answers compare ../base/base.answers            # what has changed since

Each input is one of `benchmarks/tools/answer_cases.py`. What is compared: every public attribute of every result, to
the last bit; the rows that stacks have chosen, their folds and what they predict; predictions of every estimator;
values of JSON, words of each section, exit codes. `compare` names each figure that differs, before and after, and exits
with 1 if any does.

Bytes depend on the processor and on versions of NumPy and BLAS: a state is of one machine, and is never committed. Its
name ends in .answers, which git ignores. The package is the first on the path (PYTHONPATH).

    --only NAME     inputs whose name has this in it; several times for several
    --quick         a part that takes two minutes
    --except GLOB   figures that are meant to differ, such as '*.residual_z*'; several times for several
    --all           every difference, not the first ones of each input
"""

import fnmatch
import gzip
import json
import multiprocessing
import os
import platform
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.tools.answer_cases import CASES, figures_of_case
from benchmarks.tools.answer_figures import changes
from benchmarks.tools.command_line import parser_of

#: What names of states end in; .gitignore has it.
ENDING = ".answers"
#: Differences of one input that are shown.
SHOWN = 12
#: One thread for each process: the order of sums is then the same whatever else runs.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def made_with() -> dict[str, str]:
    """Tell what bytes depend on, and which package is read."""
    import numpy as np

    import bayesfloor

    folder = Path(bayesfloor.__file__).parent
    told = subprocess.run(["git", "-C", folder, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return {"machine": platform.platform(), "numpy": np.__version__, "package": told.stdout.strip() or str(folder)}


def state_of(names: Iterable[str], n_processes: int) -> dict[str, Any]:
    """Run inputs, and return their figures and seconds by name."""
    names, found = list(names), {}
    os.environ.update(ONE_THREAD)
    started = perf_counter()
    context = multiprocessing.get_context("spawn")
    # the dearest first, so that none is left alone at the end
    order = sorted(names, key=lambda name: -CASES[name].seconds)
    with ProcessPoolExecutor(n_processes, mp_context=context) as pool:
        running = {pool.submit(figures_of_case, name): name for name in order}
        for done in as_completed(running):
            name = running[done]
            figures, seconds = done.result()
            found[name] = {"figures": figures, "seconds": seconds}
            print(
                f"{len(found)}/{len(names)} {name}: {len(figures)} figures, {seconds:.1f} s",
                file=sys.stderr,
                flush=True,
            )
    print(f"{perf_counter() - started:.0f} s", file=sys.stderr)
    return {"made_with": made_with(), "inputs": {name: found[name] for name in names}}


def differences(
    before: dict[str, Any], after: dict[str, Any], excepted: Iterable[str] = ()
) -> dict[str, list[tuple[str, str]]]:
    """Return what has changed in each input that both states have; see `changes`."""
    excepted, found = list(excepted), {}
    for name in before["inputs"].keys() & after["inputs"].keys():
        both = before["inputs"][name]["figures"], after["inputs"][name]["figures"]
        of_input = [
            (figure, how)
            for figure, how in changes(*both)
            if not any(fnmatch.fnmatchcase(figure, each) for each in excepted)
        ]
        if of_input:
            found[name] = of_input
    return {name: found[name] for name in after["inputs"] if name in found}


def report(before: dict[str, Any], after: dict[str, Any], excepted: Iterable[str], *, shows_all: bool) -> Iterator[str]:
    """Write what has changed, a line for each figure."""
    if before["made_with"] | {"package": ""} != after["made_with"] | {"package": ""}:
        yield f"made with {before['made_with']} and {after['made_with']}: last bits may differ by that alone"
    found = differences(before, after, excepted)
    for name, of_input in found.items():
        n = len(of_input) if shows_all else SHOWN
        yield f"{name}: {len(of_input)} of {len(after['inputs'][name]['figures'])} figures differ"
        yield from (f"    {figure}: {how}" for figure, how in of_input[:n])
        if len(of_input) > n:
            yield f"    and {len(of_input) - n} more; --all shows them"
    n_both = len(before["inputs"].keys() & after["inputs"].keys())
    yield f"{n_both - len(found)} of {n_both} inputs are the same, {len(found)} differ"


def failures(state: dict[str, Any]) -> list[str]:
    """List what raised an error: it is compared as well, and tells nothing else of its input."""
    return [
        f"{name}: {figure.removesuffix('.raised')} raised {value}"
        for name, of_input in state["inputs"].items()
        for figure, value in of_input["figures"].items()
        if figure.endswith(".raised")
    ]


def read(path: Path) -> dict[str, Any]:
    """Read a state."""
    return json.loads(gzip.decompress(path.read_bytes()))


def write(state: dict[str, Any], path: Path) -> None:
    """Write a state."""
    path.write_bytes(gzip.compress(json.dumps(state).encode(), mtime=0))


def _state_file(text: str) -> Path:
    if not text.endswith(ENDING):
        raise ValueError(f"a state is called NAME{ENDING}, which git ignores")
    return Path(text)


_state_file.__name__ = f"NAME{ENDING}"  # as argparse calls what is wrong


def command_line() -> ArgumentParser:
    parser = parser_of(__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    for name in ("store", "compare", "list"):
        action = actions.add_parser(name)
        action.add_argument("--only", action="append", default=[], metavar="NAME")
        action.add_argument("--quick", action="store_true")
        action.add_argument("--processes", type=int, default=2)
        if name == "compare":
            action.add_argument("file", type=_state_file)
            action.add_argument("--with", dest="other", type=_state_file, help="a state, where nothing is to be run")
            action.add_argument("--except", dest="excepted", action="append", default=[], metavar="GLOB")
            action.add_argument("--all", action="store_true")
        action.add_argument("--into", type=_state_file, required=name == "store", metavar=f"NAME{ENDING}")
    return parser


def chosen(given: Namespace, among: Iterable[str]) -> list[str]:
    """Return the names of the inputs that were asked for."""
    return [
        name
        for name in among
        if (CASES[name].is_quick or not given.quick) and (not given.only or any(part in name for part in given.only))
    ]


def main(arguments: list[str] | None = None) -> int:
    """Store or compare; return the exit code."""
    parser = command_line()
    given = parser.parse_args(arguments)
    before = read(given.file) if given.action == "compare" else {"inputs": CASES}
    names = chosen(given, [name for name in CASES if name in before["inputs"]])
    if not names:
        parser.error("no input is called that")
    if given.action == "list":
        print("\n".join(f"{name}{' (quick)' * CASES[name].is_quick}" for name in names))
        return 0
    state = read(given.other) if given.action == "compare" and given.other else state_of(names, given.processes)
    if given.into is not None:
        write(state, given.into)
    if given.action == "store":
        failed = failures(state)
        print("\n".join(failed))
        return 1 if failed else 0
    print("\n".join(report(before, state, given.excepted, shows_all=given.all)))
    return 1 if differences(before, state, given.excepted) else 0


if __name__ == "__main__":
    sys.exit(main())
