"""Does the race of the learners lose a signal that one family alone can see? Sixty problems, with it and without.

    python -m benchmarks.truth.race run [--half design|held-out] [--workers 2] [--records FILE]
    python -m benchmarks.truth.race table     write benchmarks/results/race.md from what was recorded

The log-odds of two classes are the sum of an easy part, linear in two columns, which every learner sees from few rows,
and of a planted one: a parity of bits, signs of two or three numbers, effects of levels, a table of two nominal
columns, a chessboard, waves, a motif. A race that judged by the easy part would stop just those learners that see the
other with more rows. Each problem is a new sample at 500, 1000 (twice), 2000 and 4000 rows; half of the kinds are for
design, half were looked at once the rules of the race stood. "Without" trains all learners on all training sets, and
is the same in all else. What is compared is the log-loss and the error that the stack reaches; a difference is paired,
row by row. Figures are recorded in benchmarks/results/race.jsonl.
"""

from collections import Counter
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy.special import expit

from bayesfloor.floor.learned import learning
from bayesfloor.floor.learned.estimate import learned_floor_of
from bayesfloor.floor.learned.racing import LearnerRace
from bayesfloor.tables.arguments import check_problem
from benchmarks.problems.truth_families import (
    beside,
    bits,
    generator,
    levels,
    normal,
    parity_of,
    products,
    signs,
    waves,
)
from benchmarks.problems.truth_scenarios import box
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import HALVES, RESULTS, as_table, notes_of, write_page
from benchmarks.tools.records import measure_all, read_records

RECORDS = RESULTS / "race.jsonl"
#: Rows of each sample of a problem.
SIZES = (500, 1000, 1000, 2000, 4000)


def plus_minus(score):
    return lambda Z: 2.0 * score(Z) - 1.0


def effects(column: int, n_levels: int, name: str):
    values = generator(name).standard_normal(n_levels)
    return lambda Z: values[Z[:, column].astype(int)]


def table_of(first: int, second: int, name: str):
    values = generator(name).choice([-1.0, 1.0], (first, second))
    return lambda Z: values[Z[:, 0].astype(int), Z[:, 1].astype(int)]


def board(Z):
    return 2.0 * (np.floor(Z[:, :2]).sum(axis=1) % 2) - 1.0


def motif(Z):
    """Tell whether the first of twenty numbers is followed by a pattern, or by the reverse of it, somewhere."""
    pattern = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    windows = np.lib.stride_tricks.sliding_window_view(Z[:, :20], 6, axis=1)
    return np.tanh((windows @ pattern).max(axis=1) - (windows @ pattern[::-1]).max(axis=1))


#: The half of each kind, how its columns are drawn, and its planted part. The last two columns are the easy part.
KINDS = {
    "parity of 2 of 20 bits": ("design", bits(20), plus_minus(parity_of([0, 1]))),
    "parity of 3 of 20 bits": ("held-out", bits(20), plus_minus(parity_of([0, 1, 2]))),
    "parity of 4 of 12 bits": ("design", bits(12), plus_minus(parity_of([0, 1, 2, 3]))),
    "signs of 2 of 25": ("held-out", normal(25), plus_minus(signs([0, 1]))),
    "signs of 3 of 12": ("design", normal(12), plus_minus(signs([0, 1, 2]))),
    "product of 2 of 30": ("held-out", normal(30), products([(0, 1)], 1.0)),
    "100 levels": ("design", beside(levels(100), normal(3)), effects(0, 100, "race-a")),
    "250 levels": ("held-out", beside(levels(250), normal(4)), effects(0, 250, "race-b")),
    "table of 12 x 10 levels": ("design", beside(levels(12, 10), normal(2)), table_of(12, 10, "race-c")),
    "chessboard in 2 of 5": ("held-out", beside(box(2, 4), normal(3)), board),
    "waves in 2 of 5": ("design", beside(box(2, 4), normal(3)), lambda Z: waves([1, 1], 0.6)(Z)),
    "motif in 20": ("held-out", normal(22), motif),
}
#: Log-odds of the planted part, and of the easy one, before noise.
PLANTED, EASY = 3.0, 1.0


class NoRace(LearnerRace):
    """Train all learners on all training sets."""

    def __call__(self, fitted, size):
        """Let everybody go on."""
        return np.ones((fitted.n_folds, len(fitted.names)), bool)


def sample(kind: str, n: int, repeat: int) -> tuple[np.ndarray, np.ndarray]:
    _, draw, planted = KINDS[kind]
    rng = np.random.default_rng([n, repeat, len(kind)])
    Z = draw(n, rng)
    easy = Z[:, -2:] - Z[:, -2:].mean(axis=0)
    log_odds = PLANTED * planted(Z) + EASY * easy.sum(axis=1) / easy.std(axis=0).mean()
    return Z, (rng.random(n) < expit(log_odds)).astype(int)


def measure(kind: str, n: int, repeat: int) -> dict:
    """Reach what can be reached with the race and without it, from the same folds."""
    problem = check_problem(*sample(kind, n, repeat))
    record: dict = {"kind": kind, "half": KINDS[kind][0], "n": n, "repeat": repeat}
    losses = {}
    for name, race in (("with", LearnerRace), ("without", NoRace)):
        with patch.object(learning, "LearnerRace", race):
            _, seconds, (floor, held_out) = timed(
                lambda: learned_floor_of(problem, metric=["error", "log_loss"], n_jobs=1)
            )
        q, codes = held_out.reached_by["log_loss"], held_out.counted.codes
        losses[name] = -np.log(np.clip(q[:, np.arange(len(codes)), codes], 1e-12, None)).mean(axis=0)
        record[name] = {
            "error": round(floor.metrics["error"].reached, 5),
            "estimate": round(floor.metrics["error"].estimate, 5),
            "log_loss": round(floor.metrics["log_loss"].reached, 5),
            "seconds": round(seconds, 2),
            "members": [learner for learner, weight in floor.weights.items() if weight >= 0.01],
        }
    both = min(map(len, losses.values()))
    away = losses["with"][:both] - losses["without"][:both]
    return record | {"log_loss_se": round(float(away.std() / both**0.5), 5)}


def run(half: str | None, workers: int, file: Path) -> None:
    """Measure the samples that were not measured yet."""
    done = {(record["kind"], record["n"], record["repeat"]) for record in read_records(file)}
    keys = [(kind, n, repeat) for repeat, n in enumerate(SIZES) for kind in KINDS if half in (None, KINDS[kind][0])]
    measure_all(measure, [key for key in sorted(keys, key=lambda key: -key[1]) if key not in done], file, workers)


def write_table(file: Path) -> None:
    """Write the page."""
    records = read_records(file)
    head = ("planted", "rows", "error without", "with", "log-loss without", "with", "difference", "CPU s", "")
    parts = []
    for half in HALVES:
        own = [record for record in records if record["half"] == half]
        rows = []
        for record in sorted(own, key=lambda each: (list(KINDS).index(each["kind"]), each["n"], each["repeat"])):
            raced, other = record["with"], record["without"]
            away = raced["log_loss"] - other["log_loss"]
            rows.append(
                (
                    record["kind"],
                    record["n"],
                    f"{100 * other['error']:.2f}%",
                    f"{100 * raced['error']:.2f}%",
                    f"{other['log_loss']:.4f}",
                    f"{raced['log_loss']:.4f}",
                    f"{away:+.4f} ± {record['log_loss_se']:.4f}",
                    f"{raced['seconds']:.1f} of {other['seconds']:.1f}",
                    "lost" if away > max(2 * record["log_loss_se"], 0.01) else "",
                )
            )
        away = np.array([record["with"]["log_loss"] - record["without"]["log_loss"] for record in own])
        errors = np.array([record["with"]["error"] - record["without"]["error"] for record in own])
        times = np.array([record["with"]["seconds"] / record["without"]["seconds"] for record in own])
        parts += [
            f"## {half.capitalize()}: {sum(row[-1] == 'lost' for row in rows)} of {len(rows)} lost",
            f"Log-loss {away.mean():+.4f} and error {100 * errors.mean():+.2f}% in the mean with the race; CPU time "
            f"{np.median(times):.2f} of that without, in the median.",
            as_table(head, rows),
        ]
    dropped = Counter(name for record in records for name in record["without"]["members"])
    kept = Counter(name for record in records for name in record["with"]["members"])
    rows = [(name, n, kept[name]) for name, n in dropped.most_common()]
    parts += ["## Members of the stack", as_table(("learner", "samples without the race", "with it"), rows)]
    about = (__doc__ or "").split("\n\n", 2)[2].strip()
    write_page("race", "# The race of the learners", about, notes_of("race"), *parts)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--records", type=Path, default=RECORDS)
    given = parser.parse_args()
    if given.what == "run":
        run(given.half, given.workers, given.records)
    else:
        write_table(given.records)
