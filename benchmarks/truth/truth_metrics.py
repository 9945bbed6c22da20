"""How near the truth, by every metric? The best values of each metric on problems whose posterior is known.

    python -m benchmarks.truth.truth run                what is said of each metric, into benchmarks/results/truth.jsonl
    python -m benchmarks.truth.truth_metrics            write benchmarks/results/truth_metrics.md
    python -m benchmarks.truth.truth_metrics --half design      print the figures of one half, and write nothing

The best value of a metric is the one that the true posterior attains, over 400 000 draws; it is computed once and kept
in benchmarks/results/truth_metrics.jsonl. Costs are random whole numbers from 1 to 9 for each mistake, the same for all
problems with as many classes. Choices for the metrics were made on the design halves.
"""

from collections import defaultdict
from pathlib import Path

import numpy as np

from bayesfloor.floor.learned.metrics import check_metrics
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import HALVES, RESULTS, as_table, notes_of, write_page
from benchmarks.tools.records import append_record, read_records
from benchmarks.truth.truth import BY_NAME, KINDS, RECORDS, metrics_of

BEST = RESULTS / "truth_metrics.jsonl"
N_DRAWS, N_CHUNK = 400_000, 50_000
#: What the best value may be off by, from the draws: an interval that misses by less holds it.
TOLERANCE = 1e-3


def best_values(name: str) -> dict[str, float]:
    """Return the loss of the true posterior by each metric."""
    scenario = BY_NAME[name]
    samples = (scenario.sample(N_CHUNK, 10**6 + place)[0] for place in range(N_DRAWS // N_CHUNK))
    posterior = np.concatenate([scenario.posterior(X) for X in samples])
    counts = np.maximum(posterior.sum(axis=0).round().astype(np.int64), 1)
    # Average precision is higher where ties are broken at random than where they stay.
    scores = posterior + 1e-9 * np.random.default_rng(0).random(posterior.shape)
    metrics = check_metrics(*metrics_of(len(counts)), None, np.arange(len(counts)), counts)
    weights = np.ones(len(posterior))
    return {each.name: float(each.losses(posterior, scores, weights).mean()) for each in metrics}


def said_of_metrics(records: list[dict], half: str | None) -> list[dict]:
    """Return what was said of each metric of each sample, beside the truth."""
    best = {record["scenario"]: record["best"] for record in read_records(BEST)}
    found = []
    for record in records:
        if "metrics" not in record or half not in (None, record["half"]):
            continue
        name = record["scenario"]
        if name not in best:
            best[name] = best_values(name)
            append_record(BEST, {"scenario": name, "best": best[name]})
        for metric, (estimate, low, high, reached) in record["metrics"].items():
            of_metric = {"metric": metric, "truth": best[name][metric]}
            of_metric |= {"estimate": estimate, "low": low, "high": high, "reached": reached}
            found.append({key: record[key] for key in ("problems", "half", "n")} | of_metric)
    return found


def table_of(records: list[dict]) -> str:
    """One row for each metric and size."""
    by_cell = defaultdict(list)
    for record in records:
        by_cell[record["metric"], record["n"]].append(record)
    rows = []
    for metric in dict.fromkeys(record["metric"] for record in records):
        for n in sorted({record["n"] for record in records}):
            chosen = by_cell[metric, n]
            if not chosen:
                continue
            truth, estimate, low, high, reached = (
                np.array([record[key] for record in chosen]) for key in ("truth", "estimate", "low", "high", "reached")
            )
            above, below = low > truth + TOLERANCE, high < truth - TOLERANCE
            errors = [f"{np.abs(each - truth).mean():.4f}" for each in (estimate, reached)]
            shares = [f"{1 - (above | below).mean():.0%}", f"{above.mean():.0%}", f"{(high - low).mean():.3f}"]
            rows.append([metric, n, len(chosen), *errors, *shares])
    heads = ["metric", "rows", "samples", "mean abs. error", "of what was reached", "covers", "says too much", "width"]
    return as_table(heads, rows)


def in_all(records: list[dict]) -> str:
    """One row for each metric: how often its interval holds the best value, whatever the size and the kind."""
    rows = []
    for metric in dict.fromkeys(record["metric"] for record in records):
        own = [record for record in records if record["metric"] == metric]
        held = sum(each["low"] - TOLERANCE <= each["truth"] <= each["high"] + TOLERANCE for each in own)
        rows.append([metric, f"{held} of {len(own)}"])
    return as_table(["metric", "covers"], rows)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--records", type=Path, default=RECORDS)
    chosen = parser.parse_args()
    records = said_of_metrics(read_records(chosen.records), chosen.half)
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    parts = ["# How near the truth, by every metric", about, notes_of("truth_metrics")]
    for kind, title in KINDS.items():
        for half in HALVES:
            own = [record for record in records if (record["problems"], record["half"]) == (kind, half)]
            if own:
                parts += [f"## {title}: the {half} half", table_of(own)]
    for half in HALVES:
        if own := [record for record in records if record["half"] == half]:
            parts += [f"## All sizes and kinds: the {half} half", in_all(own)]
    if chosen.half is None:
        write_page("truth_metrics", *parts)
    else:
        print("\n\n".join(parts))


if __name__ == "__main__":
    main()
