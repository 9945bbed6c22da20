"""How right is the floor from votes? Simulated annotators with known confusion, 2 to 10 votes, 2 to 10 classes.

    python -m benchmarks.truth.votes run --half design   record one half in benchmarks/results/votes.jsonl
    python -m benchmarks.truth.votes table               write benchmarks/results/votes.md from what was recorded

A problem has a share for each hidden class, a law of annotators and a law of how hard rows are. A pool of annotators is
drawn from that law, rows get votes of so many of the pool, and some votes go missing. The truth is the floor of
predicting the vote of one more annotator of the law, which quadrature gives. In half of the problems all rows are
equally hard ("confusion"); in the others they differ ("varied"). Choices in the library were made on the half "design";
"held-out" was looked at once they were made.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from bayesfloor import vote_floor
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import HALVES, RESULTS, as_table, notes_of, write_page
from benchmarks.tools.records import append_record, read_records

RECORDS = RESULTS / "votes.jsonl"
VOTES = (2, 3, 5, 10)
CLASSES = (2, 3, 5, 10)
REPEATS = 6
#: By how much the errors of an annotator are multiplied at a row, and how frequent that is.
DIFFICULTY = {
    "confusion": ((1.0,), (1.0,)),
    "two kinds of rows": ((0.3, 3.0), (0.75, 0.25)),
    "even from 0 to 2": (tuple(np.linspace(0, 2, 9)), (1 / 9,) * 9),
    "mostly clear": ((0.0, 1.0, 4.0), (0.6, 0.3, 0.1)),
}
#: No annotator errs more often than this at any row.
MOST_WRONG = 0.95


@dataclass(frozen=True)
class Problem:
    """A law of rows and annotators."""

    n_classes: int
    n_votes: int
    n_rows: int
    pool: int
    missing: float
    error: float
    spread: float
    shape: str
    difficulty: str
    shares: NDArray[np.float64]
    wrong: NDArray[np.float64]  # where the wrong votes of each hidden class go

    def laws(self) -> tuple[float, float]:
        """Return the parameters of the Beta law of an annotator's error."""
        total = 1.0 / self.spread**2
        return self.error * total, (1.0 - self.error) * total

    def truth(self) -> tuple[float, float]:
        """Return the floor and the agreement, by quadrature over the annotators' errors."""
        levels = beta.ppf((np.arange(4000) + 0.5) / 4000, *self.laws())
        floor = agreement = 0.0
        for factor, share in zip(*DIFFICULTY[self.difficulty], strict=True):
            error = np.minimum(factor * levels, MOST_WRONG).mean()
            p = (1.0 - error) * np.eye(self.n_classes) + error * self.wrong
            floor += share * float(self.shares @ (1.0 - p.max(axis=1)))
            agreement += share * float(self.shares @ (p**2).sum(axis=1))
        return floor, agreement

    def draw(self, rng: np.random.Generator) -> tuple[NDArray[np.int64], ...]:
        """Draw a pool of annotators, rows, and the row, annotator and label of each vote."""
        n, m = self.n_rows, self.n_votes
        errors = rng.beta(*self.laws(), self.pool)
        hidden = rng.choice(self.n_classes, n, p=self.shares)
        factors, frequency = DIFFICULTY[self.difficulty]
        factor = np.array(factors)[rng.choice(len(factors), n, p=frequency)]
        who = np.argsort(rng.random((n, self.pool)), axis=1)[:, :m]
        is_wrong = rng.random((n, m)) < np.minimum(errors[who] * factor[:, None], MOST_WRONG)
        other = (rng.random((n, m))[:, :, None] > self.wrong.cumsum(axis=1)[hidden][:, None, :]).sum(axis=2)
        label = np.where(is_wrong, np.minimum(other, self.n_classes - 1), hidden[:, None])
        row, place = np.nonzero(rng.random((n, m)) >= self.missing)
        return row, who[row, place], label[row, place]


def problems(half: str) -> list[Problem]:
    """Return the problems of a half: two for each number of votes and of classes."""
    rng = np.random.default_rng([7, HALVES.index(half)])
    found = []
    for n_votes in VOTES:
        for n_classes in CLASSES:
            for kind in ("confusion", "varied"):
                shape = str(rng.choice(["even", "neighbours", "pairs", "random"]))
                varied = str(rng.choice(list(DIFFICULTY)[1:]))
                found.append(
                    Problem(
                        n_classes=n_classes,
                        n_votes=n_votes,
                        n_rows=int(rng.choice([300, 600, 1200])),
                        pool=int(rng.choice([12, 40, 200])),
                        missing=float(rng.choice([0.0, 0.3, 0.6])),
                        error=float(rng.choice([0.05, 0.1, 0.2, 0.3])),
                        spread=float(rng.choice([0.1, 0.2])),
                        shape=shape,
                        difficulty=kind if kind == "confusion" else varied,
                        shares=rng.dirichlet(np.full(n_classes, 5.0)),
                        wrong=_wrong(shape, n_classes, rng),
                    )
                )
    return found


def _wrong(shape: str, n_classes: int, rng: np.random.Generator) -> NDArray[np.float64]:
    others = 1.0 - np.eye(n_classes)
    if shape == "neighbours":
        others = others * np.exp(-np.abs(np.subtract.outer(np.arange(n_classes), np.arange(n_classes))))
    elif shape == "pairs":
        partner = np.arange(n_classes) ^ 1
        partner[partner >= n_classes] = 0
        others = np.eye(n_classes)[partner]
    elif shape == "random":
        others = others * rng.gamma(0.5, size=(n_classes, n_classes)) + 1e-9 * others
    return np.asarray(others / others.sum(axis=1, keepdims=True))


def measure(half: str, done: set[int]) -> Iterator[list[dict[str, float | str]]]:
    """Estimate every problem of a half several times, but those that are done."""
    for number, problem in enumerate(problems(half)):
        if number in done:
            continue
        records: list[dict[str, float | str]] = []
        floor, agreement = problem.truth()
        for repeat in range(REPEATS):
            row, who, label = problem.draw(np.random.default_rng([HALVES.index(half), number, repeat]))
            found = vote_floor(label, rows=row, annotators=who)
            records.append(
                {
                    "half": half,
                    "problem": number,
                    "kind": "confusion" if problem.difficulty == "confusion" else "varied",
                    "votes": problem.n_votes,
                    "classes": problem.n_classes,
                    "missing": problem.missing,
                    "truth": round(floor, 5),
                    "error": round(found.estimate - floor, 5),
                    "naive": round(found.majority.naive - floor, 5),
                    "covered": float(found.interval[0] <= floor <= found.interval[1]),
                    "width": round(found.interval[1] - found.interval[0], 5),
                    "agreement": round(found.agreement - agreement, 5),
                    "agreement covered": float(found.agreement_interval[0] <= agreement <= found.agreement_interval[1]),
                    "seconds": round(found.seconds, 2),
                }
            )
        yield records


def table(records: list[dict[str, float | str]], by: str) -> str:
    """Return a table with a row for each half, kind and value."""
    lines = []
    cells = {(r["half"], r["kind"], r[by]) for r in records}
    cells = sorted(cells, key=lambda cell: (HALVES.index(cell[0]), *cell[1:]))
    for half, kind, value in cells:
        rows = [r for r in records if (r["half"], r["kind"], r[by]) == (half, kind, value)]
        columns = {name: np.array([float(r[name]) for r in rows]) for name in ("error", "naive", "covered", "width")}
        of_agreement = np.mean([float(r["agreement covered"]) for r in rows])
        errors = [f"{columns[name].mean():+.4f}" for name in ("error", "naive")]
        errors.append(f"{np.abs(columns['error']).mean():.4f}")
        covered = [f"{columns['covered'].mean():.1%}", f"{columns['width'].mean():.3f}", f"{of_agreement:.1%}"]
        lines.append([half, kind, f"{value:g}", len({r["problem"] for r in rows}), *errors, *covered])
    heads = ["half", "rows", by, "problems", "bias", "bias of the naive share", "mean absolute error", "coverage"]
    return as_table([*heads, "mean width", "coverage of the agreement"], lines)


def summary(records: list[dict[str, float | str]]) -> list[str]:
    """Return a line for each half and kind, over problems with three votes or more."""
    lines = []
    for half in HALVES:
        for kind in ("confusion", "varied"):
            rows = [r for r in records if r["half"] == half and r["kind"] == kind and float(r["votes"]) >= 3]
            if rows:
                error = np.array([float(r["error"]) for r in rows])
                naive = np.array([float(r["naive"]) for r in rows])
                covered = np.mean([float(r["covered"]) for r in rows])
                lines.append(
                    f"- {half}, {kind}, 3 votes or more: bias {error.mean():+.4f} (naive {naive.mean():+.4f}), mean "
                    f"absolute error {np.abs(error).mean():.4f} (naive {np.abs(naive).mean():.4f}), coverage "
                    f"{100 * covered:.1f}% of {len(rows)}."
                )
    return lines


def write_table(records: list[dict[str, float | str]]) -> None:
    """Write the page of results."""
    seconds = np.median([float(r["seconds"]) for r in records])
    write_page(
        "votes",
        "# The floor from votes, beside the truth",
        notes_of("votes"),
        "\n".join(summary(records)),
        *(table(records, by) for by in ("votes", "missing", "classes")),
        f"{len(records)} estimates, {seconds:.2f} s each (median), one thread.",
    )


def main() -> None:
    """Record a half, or write the page."""
    parser = parser_of(__doc__)
    parser.add_argument("action", choices=("run", "table"))
    parser.add_argument("--half", choices=HALVES, default="design")
    given = parser.parse_args()
    records = read_records(RECORDS)
    if given.action == "run":
        for new in measure(given.half, {r["problem"] for r in records if r["half"] == given.half}):
            for record in new:
                append_record(RECORDS, record)
            records += new
        print("\n".join(summary(records)))
    else:
        write_table(records)


if __name__ == "__main__":
    main()
