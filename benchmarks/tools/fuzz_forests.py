"""Random small cases of forests beside the naive reference, every type of input and every way to compute them.

    python -m benchmarks.tools.fuzz_forests                          1000 cases
    python -m benchmarks.tools.fuzz_forests --cases 100000           as many as wanted
    python -m benchmarks.tools.fuzz_forests --minutes 20 --seed 7    as many as 20 minutes take, with another seed
    python -m benchmarks.tools.fuzz_forests --way tasks --way "out of core"    some ways only
    python -m benchmarks.tools.fuzz_forests --seed 7 --case 812      one case again

Points have ties, copies, hubs, offsets of 1e8, scales of 1e±150, and magnitudes from 1e-110 to 1e110 in one set. They
come as lists, arrays of any type and layout, sparse matrices, data frames, tensors, files and Dask collections. Forests
are computed at once, out of core, by the tasks of a cluster and by a cluster, with 1 or 2 threads and with
settings that send few points through every path of the engine. Edges, trees and the bits of all lengths must be equal.
The cases are drawn by `tests/helpers/random_cases.py`.

Case i of a seed is always the same. Whatever differs, or raises, is printed with the command that repeats it; the exit
status is 1 then.
"""

from __future__ import annotations

import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import ROOT

sys.path.append(str(ROOT / "tests"))

from helpers.random_cases import WAYS, differences, draw_case, usable_ways

# Seconds between two lines about progress.
TELL_EVERY_S = 60.0


def fuzz(seed: int, numbers: range, seconds: float, ways: list[str]) -> int:
    """Run cases and print what differs; returns how many do."""
    started = told = time.monotonic()
    counts: Counter[str] = Counter()
    spent: Counter[str] = Counter()
    inputs: Counter[str] = Counter()
    n_bad = 0
    only = "" if ways == usable_ways() else "".join(f' --way "{way}"' for way in ways)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in numbers:
            now = time.monotonic()
            if now - started > seconds:
                break
            if now - told > TELL_EVERY_S:
                told = now
                print(f"{counts.total()} cases, {n_bad} differ, {now - started:.0f} s", file=sys.stderr, flush=True)
            case = draw_case(seed, number, ways)
            try:
                wrong = differences(case, Path(folder))
            except Exception:  # the case is told below, and the rest go on
                wrong = [traceback.format_exc(limit=None if len(numbers) == 1 else -3)]
            counts[case.way] += 1
            inputs[case.input] += 1
            spent[case.way] += time.monotonic() - now
            if wrong:
                n_bad += 1
                print(f"{', '.join(wrong)}\n    {case}", flush=True)
                print(f"    python -m benchmarks.tools.fuzz_forests --seed {seed} --case {number}{only}", flush=True)
    for way in sorted(counts, key=lambda way: -counts[way]):
        print(f"{counts[way]:8} {way}, {1e3 * spent[way] / counts[way]:.1f} ms each")
    print(f"{len(inputs)} types of input")
    print(f"{n_bad} of {counts.total()} cases differ, seed {seed}, {time.monotonic() - started:.0f} s")
    return n_bad


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=None, help="how many; 1000 without --minutes")
    parser.add_argument("--minutes", type=float, default=None, help="stop after so long")
    parser.add_argument("--case", type=int, default=None, help="the number of one case to run")
    parser.add_argument("--way", action="append", choices=list(WAYS), help="may be given several times")
    options = parser.parse_args()
    n_cases = options.cases or (1000 if options.minutes is None else 10**9)
    numbers = range(n_cases) if options.case is None else range(options.case, options.case + 1)
    seconds = 60 * options.minutes if options.minutes is not None else float("inf")
    raise SystemExit(fuzz(options.seed, numbers, seconds, options.way or usable_ways()) > 0)


if __name__ == "__main__":
    main()
