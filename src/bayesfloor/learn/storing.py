"""Rows of any number -> parts on disk, rows to test, and a sample in memory.

::

    keys      0 ─── the sample ──┬── rows to test ──┬──────────── all other rows ───────────── 2⁶⁴
              features were      │ more of a rare   │
              learnt from it     │ class            │
    parts     ■■■■■■■■■■■■■■■■■■■                    ■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■

A row has a random key, so that a range of keys is a random sample. How columns become features was learnt from the
sample, perhaps from its labels: no row of it is tested.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.problem import Problem
from bayesfloor.data.row_parts import PartWriter, RowPart, StoredRows
from bayesfloor.data.sampling import RARE_ROWS, Keys
from bayesfloor.learn.by_parts import RowEncoder
from bayesfloor.learn.training_rows import Codes, Train, standardised_with
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.settings import limits
from bayesfloor.runtime.threads import WorkerPool

#: Share of a class that is tested at the most, and rows that are encoded at a time.
MOST_TESTED, ROWS_AT_ONCE = 0.2, 2**15


class Batch(NamedTuple):
    """Some rows of a table.

    Attributes
    ----------
    keys : ndarray of shape (n,), uint64
        A random number for each row.
    numbers : ndarray of shape (n,)
        Which rows of the table these are.
    X : ndarray of shape (n, d)
        Features.
    table : ndarray of shape (n, n_columns) or None
        The same rows as codes with gaps.
    y : ndarray of shape (n,)
        Classes from 0, or numbers.
    """

    keys: Keys
    numbers: Ints
    X: Floats
    table: Floats | None
    y: NDArray[Any]

    def take(self, rows: Any) -> "Batch":
        """Keep some of the rows."""
        table = None if self.table is None else self.table[rows]
        return Batch(self.keys[rows], self.numbers[rows], self.X[rows], table, self.y[rows])


def store_rows(
    sample: Problem,
    of_sample: Batch,
    batches: Iterable[Batch],
    n_samples: int,
    seed: int,
    pool: WorkerPool,
) -> Problem:
    """Write all rows to disk, but for those that are tested.

    Parameters
    ----------
    sample : Problem
        The rows with the smallest keys, from which features were learnt.
    of_sample : Batch
        The same rows.
    batches : iterable of Batch
        All rows; those of the sample are passed over.
    n_samples : int
        How many rows there are.
    seed : int
        Seeds the trees that importances of features are taken from.
    pool : WorkerPool
        Threads to work with.

    Returns
    -------
    Problem
        The tested rows and the sample, with all others on disk.
    """
    by_key = np.argsort(of_sample.keys, kind="stable")  # learners take the first rows for a random sample of all
    sample, of_sample = sample.take(by_key), of_sample.take(by_key)
    tabular, units, is_classes = sample.tabular, (0.0, 1.0), sample.task == "classification"
    if not is_classes:
        units = float(sample.y.mean()), float(sample.y.std()) or 1.0
    points, scaling = standardised_with(sample.X)
    y = sample.codes if is_classes else (sample.y - units[0]) / units[1]
    train = Train(points, y, len(sample.classes) if is_classes else 0)
    if tabular is not None:
        train = train._replace(table=Codes(tabular.values, tabular.is_category))
    encoder = RowEncoder.of_sample(train, scaling, () if tabular is None else tabular.from_labels, seed)
    writer = PartWriter(n_samples, encoder.n_directions, len(encoder.sources), np.int32 if is_classes else np.float64)
    last_key = of_sample.keys.max()
    limits = _limits(last_key, n_samples, sample.class_counts)
    counts = np.zeros(len(sample.classes), np.int64)

    def encoded(rows: Batch) -> tuple[NDArray[np.float32], NDArray[np.uint8], NDArray[Any]]:
        """Return what is stored of rows."""
        pieces = [rows.take(slice(at, at + ROWS_AT_ONCE)) for at in range(0, len(rows.keys), ROWS_AT_ONCE)]
        made = pool.run(lambda piece: encoder.encode(piece.X, piece.table), [(p,) for p in pieces])
        in_units = rows.y if is_classes else (rows.y - units[0]) / units[1]
        return np.concatenate([p for p, _ in made]), np.concatenate([b for _, b in made]), in_units

    tested: list[Batch] = []
    for batch in batches:
        pool.check()
        others = batch.take(batch.keys > last_key)
        if is_classes:
            counts += np.bincount(batch.y, minlength=len(counts))
        is_tested = others.keys <= (limits[others.y] if is_classes else limits[0])
        tested.append(others.take(is_tested))
        rest = others.take(~is_tested)
        if len(rest.keys):
            writer.add(rest.keys, *encoded(rest))
    writer.add(of_sample.keys, *encoded(of_sample))
    joined: Any = [None if each[0] is None else np.concatenate(each) for each in zip(*tested, strict=True)]
    drawn = Batch(*joined)
    drawn = drawn.take(np.argsort(drawn.keys, kind="stable"))
    stored = StoredRows(
        parts=writer.parts(pool),
        n_samples=n_samples,
        class_counts=counts if is_classes else None,
        tested=RowPart(*encoded(drawn)),
        is_category=encoder.is_category,
        numbers=np.concatenate([drawn.numbers, of_sample.numbers]),
        units=units,
    )
    return _with_tested(sample, drawn, stored)


def _limits(last_key: np.uint64, n_samples: int, in_sample: Ints) -> Keys:
    """Return the largest key of a row that is tested, for each class, from the rows of each in the sample."""
    counts = np.maximum(in_sample, 1) * (n_samples / in_sample.sum())
    wanted = np.maximum(limits().learned_rows * counts / n_samples, np.minimum(RARE_ROWS, MOST_TESTED * counts))
    share = np.minimum(wanted / counts, MOST_TESTED)
    largest: Keys = last_key + (share * 2.0**64).astype(np.uint64)
    return largest


def _with_tested(sample: Problem, drawn: Batch, stored: StoredRows) -> Problem:
    """Put the tested rows before those of the sample."""
    tabular = sample.tabular
    if tabular is not None and drawn.table is not None:
        tabular = replace(tabular, values=np.concatenate([drawn.table, tabular.values]))
    is_classes = stored.class_counts is not None
    return replace(
        sample,
        X=np.concatenate([drawn.X, sample.X]),
        codes=np.concatenate([drawn.y if is_classes else np.zeros(len(drawn.y), np.int64), sample.codes]),
        y=sample.y if is_classes else np.concatenate([drawn.y, sample.y]),
        tabular=tabular,
        stored=stored,
    )
