"""Are copies of rows known as such, and are rows that are alike by nature left alone?

    python -m benchmarks.truth.copies run [--workers 2]
    python -m benchmarks.truth.copies table           write benchmarks/results/copies.md from what was recorded

Copies: 40 tables whose rows are there 1.5, 2, 3 or 5 times, as they are, rounded, or with one or two columns changed in
each row; labels are as they are, or drawn at random. A floor is flattered where its 95% range lies below that of the
rows before they were copied, or, of random labels, where what was reached is below the error of guessing by more than
three standard errors. Alike: 40 tables of answers, counts, codes and rounded measurements, in which many rows equal
another and none is a copy. There it counts whether any row was left out, put into a group with others, or warned of.

What tells them apart was chosen on other tables and on the half "design"; "held-out" was looked at once it was made.
Each table is recorded in benchmarks/results/copies.jsonl as soon as it is measured.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from bayesfloor import learned_floor
from bayesfloor.floor.learned.copies import distinct_rows
from bayesfloor.tables.arguments import check_problem
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import HALVES, RESULTS, as_table, write_page
from benchmarks.tools.records import measure_all, read_records

RECORDS = RESULTS / "copies.jsonl"
LEARNERS = ["neighbours", "gaussian", "logistic"]
#: BF037 and BF038: rows are copies of others, or nearly so.
ABOUT_COPIES = ("BF037", "BF038")
Array = NDArray[np.float64]
Rng = np.random.Generator

# --- tables whose rows were copied


def normals(rng: Rng) -> tuple[Array, Array]:
    """Two classes 1.683 standard deviations apart, whose Bayes error is .2, in four columns."""
    y = rng.integers(0, 2, 400)
    X = rng.standard_normal((400, 4))
    X[:, 0] += 1.683 * y
    return X, y


def real(load: Callable[..., tuple[Array, Array]]) -> Callable[[Rng], tuple[Array, Array]]:
    return lambda rng: load(return_X_y=True)


SOURCES = {"normals": normals, "breast cancer": real(load_breast_cancer), "wine": real(load_wine)}
#: Times each row is there, digits that are kept, columns that are changed in each copy, whether labels are drawn.
Made = tuple[str, float, int | None, int, bool]
COPIED: dict[str, list[Made]] = {
    "design": [
        *((source, 2.0, digits, changed, drawn) for source in SOURCES for digits, changed, drawn in (
            (None, 0, True), (3, 0, False), (None, 1, True), (None, 2, False),
        )),
        ("normals", 1.5, None, 0, True),
        ("breast cancer", 1.5, 2, 0, True),
        ("wine", 1.5, None, 0, False),
        ("normals", 5.0, 3, 0, True),
        ("breast cancer", 5.0, None, 1, True),
        ("wine", 5.0, 2, 0, True),
        ("normals", 5.0, 2, 0, False),
        ("breast cancer", 1.5, None, 1, False),
    ],
    "held-out": [
        *((source, 3.0, digits, changed, drawn) for source in SOURCES for digits, changed, drawn in (
            (None, 0, False), (3, 0, True), (None, 1, False), (None, 2, True),
        )),
        ("normals", 1.5, 3, 0, True),
        ("breast cancer", 1.5, None, 0, True),
        ("wine", 1.5, 2, 0, True),
        ("normals", 5.0, None, 1, True),
        ("breast cancer", 5.0, 3, 0, True),
        ("wine", 5.0, None, 0, True),
        ("normals", 5.0, None, 2, False),
        ("wine", 1.5, None, 1, True),
    ],
}  # fmt: skip


def copied(made: Made, rng: Rng) -> tuple[Array, Array, Array, Array]:
    """Return rows and labels before they were copied, and after."""
    source, times, digits, n_changed, is_drawn = made
    X, y = SOURCES[source](rng)
    if digits is not None:
        # so many significant digits of the spread of a column
        step = 10.0 ** np.floor(np.log10(X.std(axis=0) + 1e-12) - digits + 1)
        X = np.round(X / step) * step
    if is_drawn:
        y = rng.permutation(y)
    n_copies = round(len(X) * times)
    rows = np.concatenate([np.arange(len(X)), rng.permutation(np.tile(np.arange(len(X)), 5))])
    rows = np.sort(rows[:n_copies]) if times < 2 else np.repeat(np.arange(len(X)), int(times))
    after = X[rows]
    for column in rng.permutation(X.shape[1])[:n_changed]:
        after[:, column] = rng.permutation(after[:, column])
    order = rng.permutation(len(rows))
    return X, y, after[order], y[rows][order]


# --- tables whose rows are alike by nature


def answers(rng: Rng, n: int, n_items: int, n_levels: int, load: float = 0.7) -> Array:
    """Answers to a questionnaire, which one trait of a person decides in part."""
    trait = rng.standard_normal((n, 1))
    latent = load * trait + (1 - load**2) ** 0.5 * rng.standard_normal((n, n_items))
    return np.digitize(latent, np.linspace(-1.5, 1.5, n_levels - 1)).astype(float)


def counts(rng: Rng, n: int, n_columns: int, mean: float) -> Array:
    """Counts whose mean differs from row to row."""
    return rng.poisson(rng.gamma(1.5, mean / 1.5, (n, 1)) * rng.uniform(0.2, 2, n_columns)).astype(float)


def codes(rng: Rng, n: int, n_columns: int, n_levels: int) -> Array:
    """Codes of which a few are frequent, and each depends on the one before."""
    p = 1.0 / np.arange(1, n_levels + 1)
    X = rng.choice(n_levels, (n, n_columns), p=p / p.sum()).astype(float)
    for column in range(1, n_columns):
        same = rng.random(n) < 0.5
        X[same, column] = (X[same, column - 1] * 7 + column) % n_levels
    return X


def segments(rng: Rng, n: int, n_columns: int, n_kinds: int) -> Array:
    """Ones and zeros of people of a few kinds."""
    return (rng.random((n, n_columns)) < rng.beta(0.4, 0.4, (n_kinds, n_columns))[rng.integers(0, n_kinds, n)]) * 1.0


def rounded(rng: Rng, n: int, n_columns: int, step: float) -> Array:
    """Measurements that hang together, read off a scale."""
    X = rng.standard_normal((n, n_columns)) @ (np.eye(n_columns) + 0.6)
    return np.round(X / step) * step


def trial(rng: Rng, n: int, n_doses: int, n_sites: int) -> Array:
    """A design: dose, site, sex, and the age in years."""
    return np.column_stack(
        [
            rng.choice(np.round(rng.uniform(0, 9, n_doses), 2), n),
            rng.integers(0, n_sites, n),
            rng.integers(0, 2, n),
            np.round(rng.normal(45, 12, n)),
        ]
    )


def words(rng: Rng, n: int, n_words: int) -> Array:
    """How often words occur in short texts."""
    p = 1.0 / np.arange(1, n_words + 1)
    return rng.poisson(2.0 * p / p.sum(), (n, n_words)).astype(float)


def purchases(rng: Rng, n: int, n_items: int) -> Array:
    """A price from a list, a number of pieces, an item, and what they cost together."""
    item, pieces = rng.integers(0, n_items, n), rng.geometric(0.5, n)
    price = np.round(rng.uniform(1, 50, n_items), 2)[item]
    return np.column_stack([item, price, pieces, price * pieces])


def images(rng: Rng, n: int, side: int) -> Array:
    """Small pictures of one blot each."""
    at = rng.integers(0, side, (n, 2))
    grid = np.indices((side, side)).reshape(2, -1)
    return np.round(3 * np.exp(-((at[:, :, None] - grid[None]) ** 2).sum(axis=1) / 2))


def moves(rng: Rng, n: int, n_pieces: int) -> Array:
    """Places of pieces on a board."""
    return rng.integers(0, 8, (n, 2 * n_pieces)).astype(float)


Draw = tuple[Callable[..., Array], tuple]
ALIKE: dict[str, list[Draw]] = {
    "design": [
        *((answers, (n, k, levels)) for n, k, levels in ((400, 5, 5), (2000, 8, 5), (1000, 12, 3), (300, 4, 7))),
        *((counts, (n, k, mean)) for n, k, mean in ((500, 4, 1.0), (2000, 6, 3.0), (1000, 10, 0.4))),
        *((codes, (n, k, levels)) for n, k, levels in ((500, 4, 12), (2000, 7, 6), (3000, 10, 30))),
        *((segments, (n, k, kinds)) for n, k, kinds in ((600, 8, 3), (2000, 15, 5))),
        *((rounded, (n, k, step)) for n, k, step in ((400, 3, 0.5), (2000, 4, 1.0), (1000, 6, 2.0))),
        *((trial, (n, doses, sites)) for n, doses, sites in ((400, 5, 3), (2000, 8, 10))),
        (words, (800, 40)),
        (purchases, (1500, 30)),
        (lambda rng: load_iris().data, ()),
    ],
    "held-out": [
        *((answers, (n, k, levels, load)) for n, k, levels, load in (
            (600, 6, 5, 0.9), (5000, 10, 4, 0.8), (800, 20, 2, 0.8), (1500, 7, 11, 0.95),
        )),
        *((counts, (n, k, mean)) for n, k, mean in ((800, 3, 2.0), (3000, 12, 0.3))),
        *((codes, (n, k, levels)) for n, k, levels in ((1000, 5, 50), (5000, 12, 4))),
        *((segments, (n, k, kinds)) for n, k, kinds in ((1000, 20, 4), (3000, 10, 8))),
        *((rounded, (n, k, step)) for n, k, step in ((600, 2, 0.1), (3000, 5, 1.5), (1000, 8, 3.0))),
        *((trial, (n, doses, sites)) for n, doses, sites in ((800, 4, 20), (3000, 12, 5))),
        (words, (2000, 100)),
        (purchases, (400, 12)),
        (images, (1000, 6)),
        (moves, (3000, 2)),
        (lambda rng: load_digits().data[:, 16:48:3], ()),
    ],
}  # fmt: skip


def measure(kind: str, half: str, place: int) -> dict:
    """Judge one table."""
    rng = np.random.default_rng([["copied", "alike"].index(kind), HALVES.index(half), place])
    record: dict = {"kind": kind, "half": half, "place": place}
    if kind == "alike":
        draw, args = ALIKE[half][place]
        X = draw(rng, *args)
        y = (X[:, 0] + X.std(axis=0)[0] * rng.standard_normal(len(X)) > np.median(X[:, 0])).astype(int)
        repeats = 1 - len(np.unique(X, axis=0)) / len(X)
        distinct = distinct_rows(check_problem(X, y), 0)
        name = " ".join([getattr(draw, "__name__", "").replace("<lambda>", "real"), *map(str, args)])
        told = [each.code for each in distinct.findings if each.code in ABOUT_COPIES]
        return {**record, "name": name, "rows": len(X), "repeats": round(repeats, 4), "told": told}
    made = COPIED[half][place]
    source, times, digits, changed, drawn = made
    X, y, X_after, y_after = copied(made, rng)
    before = learned_floor(X, y, learners=LEARNERS, n_jobs=1)
    after = learned_floor(X_after, y_after, learners=LEARNERS, n_jobs=1, checks=False)
    guess = 1 - np.bincount(y).max() / len(y)
    least = guess - 3 * (guess * (1 - guess) / len(y)) ** 0.5 if drawn else before.interval[0]
    reached = after.reached if drawn else after.interval[1]
    return {
        **record,
        "name": source,
        "times": times,
        "digits": digits,
        "changed": changed,
        "labels": "drawn" if drawn else "own",
        "before": [round(before.reached, 4), *np.round(before.interval, 4).tolist()],
        "after": [round(after.reached, 4), *np.round(after.interval, 4).tolist()],
        "told": [each.code for each in after.findings if each.code in ABOUT_COPIES],
        "is_flattered": bool(reached < least),
    }


def run(workers: int) -> None:
    """Measure the tables that were not measured yet."""
    done = {(record["kind"], record["half"], record["place"]) for record in read_records(RECORDS)}
    keys = [
        (kind, half, place)
        for kind, tables in (("copied", COPIED), ("alike", ALIKE))
        for half in HALVES
        for place in range(len(tables[half]))  # type: ignore[arg-type]
    ]
    measure_all(measure, [key for key in keys if key not in done], RECORDS, workers)


def write_table() -> None:
    """Write the page."""
    records = sorted(read_records(RECORDS), key=lambda record: (HALVES.index(record["half"]), record["place"]))
    counts, copies, alike = [], [], []
    for half in HALVES:
        own = [record for record in records if record["half"] == half]
        made = [record for record in own if record["kind"] == "copied"]
        natural = [record for record in own if record["kind"] == "alike"]
        counts.append(
            (
                half,
                f"{sum(bool(record['told']) for record in made)} of {len(made)}",
                f"{sum(record['is_flattered'] for record in made)} of {len(made)}",
                f"{sum(bool(record['told']) for record in natural)} of {len(natural)}",
            )
        )
    for record in records:
        told = ", ".join(record["told"]) or "–"
        if record["kind"] == "alike":
            alike.append((record["half"], record["name"], record["rows"], f"{record['repeats']:.1%}", told))
            continue
        figures = [
            f"{reached:.1%} ({low:.1%}–{high:.1%})" for reached, low, high in (record["before"], record["after"])
        ]
        cells = [record[key] for key in ("half", "name", "times", "digits", "changed", "labels")]
        cells[3] = "all" if cells[3] is None else cells[3]
        copies.append((*cells, *figures, told, "**yes**" if record["is_flattered"] else "no"))
    write_page(
        "copies",
        "# Copies of rows",
        (__doc__ or "").split("\n\n", 2)[2].strip(),
        as_table(("half", "copies that are told", "flattered", "alike by nature, called copies"), counts),
        "## Tables whose rows were copied",
        "Reached, and the 95% range of the floor.",
        as_table(
            ("half", "table", "times", "digits", "columns changed", "labels", "before", "after", "told", "flattered"),
            copies,
        ),
        "## Tables whose rows are alike",
        as_table(("half", "table", "rows", "rows that equal another", "told"), alike),
    )


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    if chosen.what == "run":
        run(chosen.workers)
    else:
        write_table()
