"""Tables of any number of rows whose floor is known, written as folders of Parquet files, one file at a time.

    table = TABLES["made"]()
    truth = write_folder(table, 10_000_000, Path("build/large_tables/made-10000000"))

Each file has `FILE_ROWS` rows, and is drawn from the name of the table and the number of the file alone: a table of
10^6 rows is the beginning of that of 10^7, and memory is that of one file. The probability of each class given a row is
an explicit function of what the row shows, gaps included. So the floor of the error is the mean over all drawn rows of
1 - max P(class | row), and that of the log-loss the mean of the entropy. Fresh rows to judge a model on come from
numbers of files that no folder reaches.

``made`` has twenty columns: twelve numbers, of which three are skewed and five have gaps, six categories of 2 to 40
levels, one of 500, and a date; three classes. What decides about the class goes from coarse to fine:

- waves, products and thresholds of numbers, and effects of levels: a few thousand rows show them
- effects of the 500 levels, slopes of a number for each of them, and effects of pairs of levels (16 × 40)
- a grid of 24 × 24 cells over two numbers, each with effects of its own: cells of 170 rows in the mean with 10^5 rows,
  of 17 000 with 10^7. Its effects are drawn apart for each class.

``covertype-like`` is resampled from the real table covertype: a row is drawn with replacement, its ten numbers get
normal noise of a twentieth of their deviation, and its label is drawn from what boosting, fitted to a part of the real
rows, says of the jittered row. It has the columns and the marginal distributions of the real table, with the four
areas and forty soils as two categories, and the labels of a known function of them.

``covertype`` is the real table itself, in random order: 550 000 rows at the most, and the other 31 012 are fresh. Its
floor is not known, and the probabilities of a row are 1 for its label.
"""

import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.problems.stored_sets import stored_arrays

Array = NDArray[np.float64]
Rng = np.random.Generator
#: Rows of a file; the last one of a folder may have fewer.
FILE_ROWS = 250_000
#: The first file of fresh rows.
FRESH_FILE = 1_000_000
#: Name of the column of classes.
TARGET = "label"


class Part(NamedTuple):
    """Rows of a table, and the probabilities of all classes given each of them."""

    frame: pl.DataFrame
    shares: Array


class LargeTable(Protocol):
    """What can be written as a folder."""

    name: str
    classes: tuple[str, ...]

    def draw(self, n_rows: int, rng: Rng) -> Part:
        """Draw rows with their labels."""
        ...


def part_of(table: LargeTable, number: int, n_rows: int = FILE_ROWS) -> Part:
    """Return the first rows of one file of a table."""
    if isinstance(table, Covertype):
        return table.part(number, n_rows)
    part = table.draw(FILE_ROWS, np.random.default_rng([zlib.crc32(table.name.encode()), number]))
    return part if n_rows == FILE_ROWS else Part(part.frame[:n_rows], part.shares[:n_rows])


def fresh_parts(table: LargeTable, n_rows: int) -> Iterator[Part]:
    """Yield rows that are in no folder."""
    n_rows = min(n_rows, table.n_fresh) if isinstance(table, Covertype) else n_rows
    for number, first in enumerate(range(0, n_rows, FILE_ROWS)):
        yield part_of(table, FRESH_FILE + number, min(FILE_ROWS, n_rows - first))


def floors_of(shares: Array) -> Array:
    """Return the sums over rows of the lowest error and of the lowest log-loss."""
    tiny = np.finfo(np.float64).tiny
    return np.array([(1.0 - shares.max(axis=1)).sum(), -(shares * np.log(np.maximum(shares, tiny))).sum()])


def write_folder(table: LargeTable, n_rows: int, folder: Path) -> dict[str, Any]:
    """Write a table, file by file, and beside the folder what is known of it; a folder that is whole is left as it is.

    Parameters
    ----------
    table : LargeTable
        What to write.
    n_rows : int
        Rows in all.
    folder : Path
        Where to; ``folder.json`` beside it has what is returned.

    Returns
    -------
    dict
        The floors of error and log-loss over the rows that were drawn, rows, files, and bytes on disk.
    """
    about = folder.with_suffix(".json")
    if about.is_file():
        return dict(json.loads(about.read_text(encoding="utf-8")))
    folder.mkdir(parents=True, exist_ok=True)
    sums = np.zeros(2)
    firsts = range(0, n_rows, FILE_ROWS)
    for number, first in enumerate(firsts):
        part = part_of(table, number, min(FILE_ROWS, n_rows - first))
        part.frame.write_parquet(folder / f"part-{number:04d}.parquet", row_group_size=FILE_ROWS)
        sums += floors_of(part.shares)
    error, log_loss = (sums / n_rows).tolist()
    n_bytes = sum(file.stat().st_size for file in folder.glob("*.parquet"))
    truth = {"table": table.name, "n_rows": n_rows, "n_files": len(firsts), "n_bytes": n_bytes}
    if not isinstance(table, Covertype):
        truth |= {"error": error, "log_loss": log_loss}
    about.write_text(json.dumps(truth) + "\n", encoding="utf-8")
    return truth


def _softmax(scores: Array) -> Array:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def _drawn(shares: Array, rng: Rng) -> NDArray[np.int64]:
    """Draw a class for each row."""
    places = (rng.random(len(shares))[:, np.newaxis] > shares.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return np.asarray(places, np.int64)


def _levels(codes: NDArray[Any], names: list[str]) -> pl.Series:
    """Return codes as a column of text, without an object for each row."""
    return pl.Series(names).gather(codes)


# --- made

#: Levels of each category.
LEVELS = {"sex": 2, "plan": 3, "region": 5, "device": 8, "trade": 16, "state": 40, "product": 500}
#: Numbers, by place, that are shown as their exponentials.
SKEWED = (2, 7, 10)
#: Share of gaps of each number that has some, by place.
GAPS = {1: 0.05, 4: 0.1, 7: 0.02, 9: 0.2, 11: 0.3}
#: Cells of the grid of fine structure, in each of two numbers.
N_CELLS = 24
FIRST_DAY, N_DAYS = date(2019, 1, 1), 2000
#: Deviation of the effects of the cells.
GRID_EFFECT = 1.2


@dataclass(frozen=True)
class Made:
    """Twenty mixed columns, three classes, and structure from coarse to fine."""

    name: str = "made"
    classes: tuple[str, ...] = ("bronze", "gold", "silver")

    @cached_property
    def effects(self) -> dict[str, Array]:
        """Effects of levels and cells on each class, fixed once."""
        rng, k = np.random.default_rng(20_261_118), len(self.classes)
        of_levels = {name: rng.normal(0.0, 0.35, (n, k)) for name, n in LEVELS.items()}
        return of_levels | {
            "slopes": rng.normal(0.0, 0.4, (LEVELS["product"], k)),
            "pairs": rng.normal(0.0, 0.4, (LEVELS["trade"], LEVELS["state"], k)),
            "grid": rng.normal(0.0, GRID_EFFECT, (N_CELLS, N_CELLS, k)),
            "gaps": rng.normal(0.0, 0.3, (12, k)),
        }

    def draw(self, n_rows: int, rng: Rng) -> Part:
        """Draw rows with their labels."""
        z = np.round(rng.standard_normal((12, n_rows)), 4)
        z[8] = np.round(0.6 * z[0] + 0.8 * z[8], 4)  # two numbers that go together
        codes = {name: self._codes(name, n, n_rows, rng) for name, n in LEVELS.items()}
        days = rng.integers(0, N_DAYS, n_rows)
        is_gap = {place: rng.random(n_rows) < share for place, share in GAPS.items()}
        shares = self.shares(z, codes, days, is_gap)
        columns: dict[str, Any] = {}
        for place, values in enumerate(z):
            shown = np.exp(values) if place in SKEWED else values
            column = pl.Series(shown.astype(np.float32))
            gaps = is_gap.get(place)
            columns[f"x{place}"] = column if gaps is None else column.zip_with(pl.Series(~gaps), _GAP)
        for name, own in codes.items():
            columns[name] = _levels(own, [f"{name}{level}" for level in range(LEVELS[name])])
        columns["day"] = (pl.Series(days.astype(np.int32)) + (FIRST_DAY - date(1970, 1, 1)).days).cast(pl.Date)
        columns[TARGET] = _levels(_drawn(shares, rng), list(self.classes))
        return Part(pl.DataFrame(columns), shares)

    def shares(self, z: Array, codes: dict[str, Any], days: Any, is_gap: dict[int, Any]) -> Array:
        """Return P(class | row) by what the row shows: a number that is a gap counts as 0, and has an effect."""
        effects, seen = self.effects, z.copy()
        for place, gaps in is_gap.items():
            seen[place, gaps] = 0.0
        wave = np.sin(2.0 * seen[0]) + 0.5 * seen[1] * seen[2]
        steps = 1.2 * (seen[3] > 0.6) * (codes["region"] < 2) - 0.8 * ((seen[4] > 0) ^ (seen[7] > 0.3))
        season = 0.5 * np.sin(2 * np.pi * days / 365.25) * (codes["plan"] - 1.0) + 0.4 * (days % 7 < 2)
        bent = np.abs(seen[9]) - 0.8 - 0.3 * seen[10] * (codes["sex"] == 1) + 0.25 * seen[11] ** 2
        scores = np.stack([wave + season, steps + bent, -0.5 * wave + 0.6 * seen[8]], axis=1)
        for name in LEVELS:
            scores += effects[name][codes[name]]
        scores += effects["slopes"][codes["product"]] * seen[8][:, np.newaxis]
        scores += effects["pairs"][codes["trade"], codes["state"]]
        cells = [np.clip((seen[place] + 3.0) / 6.0 * N_CELLS, 0, N_CELLS - 1).astype(np.int64) for place in (5, 6)]
        scores += effects["grid"][cells[0], cells[1]]
        for place, gaps in is_gap.items():
            scores[gaps] += effects["gaps"][place]
        return _softmax(scores)

    @staticmethod
    def _codes(name: str, n_levels: int, n_rows: int, rng: Rng) -> NDArray[np.int64]:
        """Draw levels, the first ones more often; of the product, as often as in a long tail."""
        power = 1.6 if name == "product" else 1.2
        return np.asarray(n_levels * rng.random(n_rows) ** power, np.int64)


_GAP = pl.Series([None], dtype=pl.Float32)

# --- covertype-like

#: Real rows that the teacher is fitted to, and its rounds.
TEACHER_ROWS, TEACHER_ROUNDS = 100_000, 40
#: Noise of each number, as a share of its deviation.
JITTER = 0.05


class CovertypeLike:
    """Rows of covertype, jittered, with labels drawn by a teacher."""

    name = "covertype-like"

    def __init__(self) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier

        arrays = stored_arrays("extra/covertype")
        X, y = arrays["X"].astype(np.float32), arrays["y"]
        self.numbers = X[:, :10]
        self.names = [str(name) for name in arrays["feature_names"][:10]]
        self.area, self.soil = X[:, 10:14].argmax(axis=1), X[:, 14:].argmax(axis=1)
        self.noise = JITTER * self.numbers.std(axis=0)
        self.classes = tuple(f"cover{label}" for label in range(int(y.max()) + 1))
        rows = np.random.default_rng(0).permutation(len(y))[:TEACHER_ROWS]
        # balanced bins and no early stopping: the same teacher wherever it is fitted
        self.teacher = HistGradientBoostingClassifier(
            max_iter=TEACHER_ROUNDS, max_leaf_nodes=63, learning_rate=0.3, early_stopping=False, random_state=0
        ).fit(self._columns(self.numbers[rows], rows), y[rows])

    def _columns(self, numbers: Any, rows: NDArray[np.int64]) -> Any:
        return np.column_stack([numbers, self.area[rows], self.soil[rows]])

    def draw(self, n_rows: int, rng: Rng) -> Part:
        """Draw rows with their labels."""
        rows = rng.integers(0, len(self.numbers), n_rows)
        noise = rng.standard_normal((n_rows, 10), dtype=np.float32) * self.noise
        numbers = np.round(self.numbers[rows] + noise, 1)
        shares = self.teacher.predict_proba(self._columns(numbers, rows))
        columns: dict[str, Any] = {name: numbers[:, place] for place, name in enumerate(self.names)}
        columns["area"] = _levels(self.area[rows], [f"area{level}" for level in range(4)])
        columns["soil"] = _levels(self.soil[rows], [f"soil{level}" for level in range(40)])
        columns[TARGET] = _levels(_drawn(shares, rng), list(self.classes))
        return Part(pl.DataFrame(columns), shares)


# --- covertype

#: Rows that a folder may have.
MOST_OF_COVERTYPE = 550_000


class Covertype:
    """The real table, in random order."""

    name = "covertype"

    def __init__(self) -> None:
        arrays = stored_arrays("extra/covertype")
        order = np.random.default_rng(0).permutation(len(arrays["y"]))
        self.X, self.y = arrays["X"][order].astype(np.float32), arrays["y"][order].astype(np.int64)
        self.names = [str(name) for name in arrays["feature_names"][:10]]
        self.classes = tuple(f"cover{label}" for label in range(int(self.y.max()) + 1))
        self.n_fresh = len(self.y) - MOST_OF_COVERTYPE

    def draw(self, n_rows: int, rng: Rng) -> Part:
        """Return rows that are in no folder."""
        return self.part(FRESH_FILE, n_rows)

    def part(self, number: int, n_rows: int) -> Part:
        """Return the first rows of a file."""
        first = MOST_OF_COVERTYPE if number == FRESH_FILE else number * FILE_ROWS
        last = first + n_rows
        if last > (len(self.y) if number == FRESH_FILE else MOST_OF_COVERTYPE):
            raise ValueError(f"covertype has {MOST_OF_COVERTYPE} rows for folders and {self.n_fresh} others")
        X, y = self.X[first:last], self.y[first:last]
        columns: dict[str, Any] = {name: X[:, place] for place, name in enumerate(self.names)}
        columns["area"] = _levels(X[:, 10:14].argmax(axis=1), [f"area{level}" for level in range(4)])
        columns["soil"] = _levels(X[:, 14:].argmax(axis=1), [f"soil{level}" for level in range(40)])
        columns[TARGET] = _levels(y, list(self.classes))
        return Part(pl.DataFrame(columns), np.eye(len(self.classes))[y])


#: Tables by name; what makes one may take a while.
TABLES: dict[str, Callable[[], LargeTable]] = {"made": Made, "covertype-like": CovertypeLike, "covertype": Covertype}
