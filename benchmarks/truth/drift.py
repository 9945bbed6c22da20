"""Are shifts found, and is nothing found where there is none?

    python -m benchmarks.truth.drift run   [--half design] [--repeats 40] [--workers 2] [--out FILE.jsonl]
    python -m benchmarks.truth.drift table [--out FILE.jsonl]    write benchmarks/results/drift.md

`drift` without models, beside Friedman and Rafsky's test on spanning trees, KS and chi-squared tests of each column by
Bonferroni, classifier tests of scikit-learn and the maximum mean discrepancy; tests of evidently, alibi-detect and
deepchecks by drift_peers.py, in environments of their own. Power is the share of pairs found at the 5% level. Where
labels given the columns are what moves, it is that of `drift(...).target`, and no other test has an answer.

Kinds of shifts (benchmarks/problems/drift_pairs.py) are of two halves: one was looked at while `drift` was made, the
other when it was done.
"""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from bayesfloor import bayes_error, drift
from benchmarks.problems.drift_pairs import SAME, SHIFTS, pair_of
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import HALVES, as_table, notes_of, this_machine, write_page
from benchmarks.tools.records import Record, measure_all, read_records
from benchmarks.truth.drift_peers import N_PEERS, N_SAME, N_SHIFTED, OTHERS, OWN, RECORDS, points_of

LEVEL = 0.05
#: Columns of the table: ours, the trees alone, and the others.
TESTS = ("drift", "trees alone", *OWN, *OTHERS)


def measure(name: str, seed: int) -> list[Record]:
    """Compare one pair of tables by every test."""
    kind = (SHIFTS | SAME)[name]
    old, new = pair_of(name, seed)
    found: list[Record] = []

    def note(test: str, p_value: float | None, started: float) -> None:
        seconds, rounded = round(process_time() - started, 3), None if p_value is None else round(p_value, 5)
        found.append({"kind": name, "seed": seed, "test": test, "p_value": rounded, "seconds": seconds})

    started = process_time()
    answer = drift(old, new, y="y" if kind.has_target else None, learners=None, n_jobs=1)
    note("drift", answer.target.p_value if answer.target is not None else answer.p_value, started)
    if kind.has_target:
        return found
    started = process_time()
    X, is_new = points_of(old, new)
    note("trees alone", bayes_error(X, is_new, n_jobs=1).p_value, started)
    for test, compare in OWN.items():
        started = process_time()
        note(test, compare(old, new), started)
    return found


def power_of(records: Iterable[Record]) -> dict[tuple[str, str], tuple[float, int, float]]:
    """Return the share found at the 5% level, how many there were, and the median seconds, by kind and test."""
    by_key: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for each in records:
        most = N_PEERS if each["test"] in OTHERS else N_SAME if each["kind"] in SAME else N_SHIFTED
        if each["seed"] < most:
            by_key[each["kind"], each["test"]].append(each)
    found = {}
    for key, of_key in by_key.items():
        hits = [each["p_value"] is not None and each["p_value"] <= LEVEL for each in of_key]
        found[key] = float(np.mean(hits)), len(hits), float(np.median([each["seconds"] for each in of_key]))
    return found


def _rows(names: list[str], power: dict[tuple[str, str], tuple[float, int, float]]) -> list[list[Any]]:
    rows = []
    for name in names:
        kind = (SHIFTS | SAME)[name]
        cells = [f"{power[name, test][0]:.2f}" if (name, test) in power else "" for test in TESTS]
        rows.append([name, f"{kind.n_old} and {kind.n_new}", *cells])
    means = [
        f"**{np.mean([power[name, test][0] for name in names]):.2f}**"
        if all((name, test) in power for name in names)
        else ""
        for test in TESTS
    ]
    return [*rows, ["**mean**", "", *means]]


def write_table(path: Path) -> None:
    """Write the page."""
    power = power_of(read_records(path))
    header = ["kind", "rows", *TESTS]
    parts = [
        "# Two tables: power at the 5% level, and false alarms",
        (
            f"Share of pairs with a p-value of at most .05: {N_SHIFTED} pairs of each kind of shift, {N_SAME} of each "
            f"kind without one; up to {N_PEERS} of each for the last three tests, which take seconds. "
            "`python -m benchmarks.truth.drift run`, `python -m benchmarks.truth.drift_peers` in the environments of "
            "the peers, `python -m benchmarks.truth.drift table`."
        ),
    ]
    for half in HALVES:
        names = [name for name, kind in SHIFTS.items() if kind.half == half and not kind.has_target]
        parts += [f"## Power: {half}", as_table(header, _rows(names, power))]
    parts += ["## False alarms", as_table(header, _rows([n for n, k in SAME.items() if not k.has_target], power))]
    labels = [(n, k) for n, k in (SHIFTS | SAME).items() if k.has_target and (n, "drift") in power]
    rows = [
        [n, k.half, f"{k.n_old} and {k.n_new}", f"{power[n, 'drift'][0]:.2f}", power[n, "drift"][1]] for n, k in labels
    ]
    parts += [
        "## Labels given the columns",
        as_table(["kind", "half", "rows", "share with p ≤ .05", "pairs"], rows),
        "## Time",
        as_table(
            ["test", "median seconds of CPU time", "largest median of a kind"],
            [
                [test, f"{np.median(seconds):.2f}", f"{max(seconds):.2f}"]
                for test in TESTS
                if (seconds := [s for (_, of), (_, _, s) in power.items() if of == test])
            ],
        ),
        "The last three tests are measured by wall time, on a machine that was at work.",
        notes_of("drift"),
        f"Measured on {this_machine()}.",
    ]
    write_page("drift", *parts)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("--half", choices=[*HALVES, "no shift"])
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RECORDS)
    arguments = parser.parse_args()
    if arguments.command == "run":
        done = {(each["kind"], each["seed"]) for each in read_records(arguments.out) if each["test"] == "drift"}
        keys = [
            (name, seed)
            for kinds, usual in ((SHIFTS, N_SHIFTED), (SAME, N_SAME))
            for name, kind in kinds.items()
            if arguments.half in (None, kind.half)
            for seed in range(usual if arguments.repeats is None else min(usual, arguments.repeats))
        ]
        measure_all(measure, [key for key in keys if key not in done], arguments.out, arguments.workers)
    else:
        write_table(arguments.out)


if __name__ == "__main__":
    main()
