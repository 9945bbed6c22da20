"""Does `compare_features` tell representations apart? Twelve problems whose floors are known for each of them.

    python -m benchmarks.truth.compare_features run [--problems NAME ...] [--sizes 500 2000] [--seeds 5]
        [--processes 2] [--records FILE]
    python -m benchmarks.truth.compare_features speed [--rows 50000] [--width 768] [--embeddings 20]
        [--alone N] [--trees cpu|cuda]
    python -m benchmarks.truth.compare_features table [--records FILE]      write results/compare_features.md

The problems are in problems/representation_problems.py, which says what the truth is. Each sample is compared by one
call with its default settings, and every two of its representations are a pair.

*Order right*: of the pairs whose true floors differ by more than .02, the share of which the better one has the better
estimate: of the floor, and of what is reached. *Range covers*: the range of the difference of the floors holds the true
difference. *False sure*: of the pairs whose true floors are equal, the share of which the floors are told to differ
surely. What is reached may truly differ where floors are equal, as many rows are needed to undo a map: the share of
equal floors of which what is reached differs surely stands beside it, and is no error. *Told*: of the pairs that differ
by more than .02, the share that is told surely. For numbers floors are ceilings of R². No choice in the library was
made on these problems.
"""

import zlib
from itertools import combinations
from pathlib import Path

import numpy as np

from bayesfloor import compare_features, learned_floor
from benchmarks.problems.representation_problems import BY_NAME
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import RESULTS, as_table, notes_of, this_machine, write_page
from benchmarks.tools.records import append_record, measure_all, read_records

RECORDS = RESULTS / "compare_features.jsonl"
SIZES = (500, 2000)
#: Differences of floors that should be ordered rightly.
DIFFERENT = 0.02


def measure(name: str, n: int, seed: int) -> dict:
    """Compare the representations of one sample."""
    problem = BY_NAME[name]
    y, made = problem.draw(n, np.random.default_rng([seed, n, zlib.crc32(name.encode())]))
    features = {each: X for each, (X, _) in made.items()}
    task = "classification" if problem.task == "classes" else "regression"
    _, seconds, found = timed(lambda: compare_features(features, y, task=task, n_jobs=1))
    pairs = []
    for first, second in combinations(features, 2):
        each = found.difference(first, second)
        pairs.append(
            {
                "first": first,
                "second": second,
                "truth": round(made[first][1] - made[second][1], 6),
                "floor": round(each.floor, 5),
                "floor_interval": [round(end, 5) for end in each.floor_interval],
                "floor_p_value": round(each.floor_p_value, 5),
                "reached": round(each.reached, 5),
                "reached_p_value": round(each.reached_p_value, 5),
            }
        )
    known = {"problem": name, "task": problem.task, "n": n, "seed": seed}
    return {**known, "pairs": pairs, "seconds": round(seconds, 2)}


def key_of(record: dict) -> tuple[str, int, int]:
    return record["problem"], record["n"], record["seed"]


def run(problems: list[str], sizes: list[int], n_seeds: int, processes: int, file: Path) -> None:
    """Measure what was not measured yet, seed after seed."""
    done = {key_of(record) for record in read_records(file) if "pairs" in record}
    wanted = [(name, n, seed) for seed in range(n_seeds) for n in sorted(sizes, reverse=True) for name in problems]
    measure_all(measure, [key for key in wanted if key not in done], file, processes)


HEADER = [
    "pairs",
    "order right, floors",
    "order right, reached",
    "told",
    "range covers",
    "false sure",
    "reached differs",
]


def share(values: list[bool]) -> str:
    return f"{np.mean(values):.1%} of {len(values)}" if values else "–"


def row_of(records: list[dict]) -> list[str]:
    """Return the figures of some samples."""
    pairs = [pair for record in records for pair in record["pairs"]]
    apart = [pair for pair in pairs if abs(pair["truth"]) > DIFFERENT]
    equal = [pair for pair in pairs if pair["truth"] == 0.0]
    return [
        str(len(pairs)),
        share([pair["floor"] * pair["truth"] > 0 for pair in apart]),
        share([pair["reached"] * pair["truth"] > 0 for pair in apart]),
        share([_is_sure(pair) and pair["floor"] * pair["truth"] > 0 for pair in apart]),
        share([pair["floor_interval"][0] <= pair["truth"] <= pair["floor_interval"][1] for pair in pairs]),
        share([_is_sure(pair) for pair in equal]),
        share([pair["reached_p_value"] < 0.05 for pair in equal]),
    ]


def _is_sure(pair: dict) -> bool:
    low, high = pair["floor_interval"]
    return pair["floor_p_value"] < 0.05 and not low <= 0.0 <= high


def parts_of(records: list[dict]) -> list[str]:
    """Return the tables by size and by problem."""
    by_size = [
        [n, *row_of([each for each in records if each["n"] == n])] for n in sorted({each["n"] for each in records})
    ]
    parts = ["## By size", as_table(["rows", *HEADER], [*by_size, ["all", *row_of(records)]])]
    names = [name for name in BY_NAME if any(each["problem"] == name for each in records)]
    rows = [[name, *row_of([each for each in records if each["problem"] == name])] for name in names]
    return [*parts, "## By problem", as_table(["problem", *HEADER], rows)]


def speed(n: int, width: int, n_embeddings: int, n_alone: int, trees: str | None, file: Path) -> None:
    """Time one comparison of many embeddings, beside a learned floor of some of them by itself.

    With `trees`, spanning trees alone compare them, on this device.
    """
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, n)
    base = rng.standard_normal((4, 16))[y] * 0.9 + rng.standard_normal((n, 16))
    features = {}
    for number in range(n_embeddings):
        kept = max(16 - number, 0)  # the first tells most, the last ones nothing
        seen = np.hstack([base[:, :kept], rng.standard_normal((n, 16 - kept))])
        noise = 0.5 * rng.standard_normal((n, width)).astype(np.float32)
        features[f"embedding {number + 1}"] = (seen @ rng.standard_normal((16, width))).astype(np.float32) + noise
    how = {} if trees is None else {"learners": None, "device": trees}
    wall, cpu, found = timed(lambda: compare_features(features, y, **how))
    alone = [timed(lambda X=X: learned_floor(X, y))[:2] for X in list(features.values())[:n_alone]]
    record = {
        "speed": [n, width, n_embeddings],
        "trees": trees,
        "machine": this_machine(),
        "wall": round(wall, 1),
        "cpu": round(cpu, 1),
        "best": found.best,
        "rows": {each.name: each.n_rows for each in found.features},
        "alone": [[round(each, 1) for each in pair] for pair in alone],
    }
    append_record(file, record)
    print(record)


def of_speed(records: list[dict]) -> list[str]:
    """Return the table of times, where there are some."""
    rows = []
    for each in records:
        n, width, n_embeddings = each["speed"]
        used = each["rows"].values()
        n_stopped = f"all use {max(used)} rows" if each.get("trees") else sum(of_one < n for of_one in used)
        alone = "–"
        if each["alone"]:
            wall, cpu = np.mean(each["alone"], axis=0)
            alone = f"{wall:.0f} s, CPU {cpu:.0f} s"
        taken = f"{each['wall']:.0f} s, CPU {each['cpu']:.0f} s"
        what = f"{n_embeddings} x {n:,} x {width}" + (f", spanning trees, {each['trees']}" if each.get("trees") else "")
        rows.append([what, taken, n_stopped, each["best"], alone, each["machine"]])
    header = ["embeddings, rows, columns", "compared in", "stopped early", "best", "one learned floor", "on"]
    return ["## Time", as_table(header, rows)] if rows else []


def write_page_of(records: list[dict]) -> None:
    """Write the page."""
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    measured = [record for record in records if "pairs" in record]
    n_samples = len({key_of(record)[2] for record in measured})
    seconds = np.median([record["seconds"] for record in measured])
    note = (
        f"{len(measured)} samples, {n_samples} for each problem and size; a median of {seconds:.0f} CPU seconds each."
    )
    times = of_speed([record for record in records if "speed" in record])
    title = "# Representations of known floors"
    write_page("compare_features", title, about, note, notes_of("compare_features"), *parts_of(measured), *times)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "speed", "table"])
    parser.add_argument("--problems", nargs="+", choices=list(BY_NAME), default=list(BY_NAME), metavar="NAME")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--processes", "--workers", type=int, default=2)
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--embeddings", type=int, default=20)
    parser.add_argument("--alone", type=int, default=1)
    parser.add_argument("--trees", choices=["cpu", "cuda"])
    given = parser.parse_args()
    if given.what == "run":
        run(given.problems, given.sizes, given.seeds, given.processes, given.records)
    elif given.what == "speed":
        speed(given.rows, given.width, given.embeddings, given.alone, given.trees, given.records)
    else:
        write_page_of(read_records(given.records))
