"""A table of any size -> a problem whose rows are on disk.

::

    Source ── first pass ──> a sample of its rows ── make_table ──> Preparation, classes
           ── second pass ─> chunks ── prepared alike ── store_rows ──> Problem with parts on disk

Features are learnt from the sample by the rules for tables in memory. Whatever needs all rows at once is left to these:
groups, time and weights, copies of rows, classes that are rare in the sample or not in it. Then rows are drawn instead.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.data.prepared_table import Table
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.copies import distinct_rows
from bayesfloor.floor.trees.problem import Progress
from bayesfloor.learn.storing import Batch, store_rows
from bayesfloor.runtime.checks import check_int, is_int
from bayesfloor.runtime.limits import check_n_jobs
from bayesfloor.runtime.settings import limits
from bayesfloor.runtime.threads import WorkerPool, supervise
from bayesfloor.tables.arguments import problem_and_table
from bayesfloor.tables.columns import RawTable, text_column
from bayesfloor.tables.preparation import Preparation, decimal_signs, text_columns
from bayesfloor.tables.prepare import prepare_alike
from bayesfloor.tables.sources import Sampled, Source, keys_of_numbers, sample_of, source_of
from bayesfloor.tables.targets import labels_alike
from bayesfloor.tables.unlabelled import LEFT_OUT, find_left_out, missing_labels, without_label

#: Rows of the sample, at the most, and its values: fewer rows of a wide table.
SAMPLE_ROWS, SAMPLE_VALUES = 2**17, 4_000_000
#: Share of all rows that are in the sample at the most, and rows of a class in it at the least.
MOST_SAMPLED, FEWEST_OF_CLASS = 0.25, 30
#: Rows that are made ready at a time.
AT_ONCE = 2**15


class Given(NamedTuple):
    """What a caller passed.

    Attributes
    ----------
    problem : Problem
        What models are trained on: in memory, or with its rows on disk.
    table : Table or None
        As from `problem_and_table`.
    sample : Problem
        Rows in memory, in the order of the table: those of `problem`, or a sample where these are on disk.
    """

    problem: Problem
    table: Table | None
    sample: Problem


def problem_of_any_size(
    X: Any,
    y: Any,
    *,
    task: str,
    prepare: Any,
    beside: Mapping[str, Any],
    choices: Mapping[str, Any],
    seed: int,
    n_jobs: int | None,
    progress: Progress,
) -> Given:
    """Check what a caller passes, and put the rows of a large table on disk.

    Parameters
    ----------
    X, y, task, prepare
        As for `problem_and_table`.
    beside : mapping of str to object
        Its other parameters: groups, time and the like. With any of them rows are in memory.
    choices : mapping of str to object
        `cv`, `max_rows`, `learners`, `effort` and `return_model`, of which some values need rows in memory.
    seed, n_jobs, progress
        As for `problem_on_disk`.

    Returns
    -------
    Given
    """
    if is_int(choices["cv"]):
        check_int("cv", choices["cv"], 2)
    is_plain = prepare == "auto" if isinstance(prepare, str) else False
    if is_plain and all(value is None for value in beside.values()) and _are_usual(choices):
        stored = problem_on_disk(X, y, task=task, seed=seed, n_jobs=n_jobs, progress=progress)
        if stored is not None:
            return stored
    problem, table = problem_and_table(X, y, task=task, prepare=prepare, seed=seed, **beside)
    return Given(problem, table, problem)


def _are_usual(choices: Mapping[str, Any]) -> bool:
    """Tell whether a caller chose nothing that rows on disk do not have."""
    return (
        is_int(choices["cv"])
        and choices["repeats"] is None
        and choices["max_rows"] is None
        and isinstance(choices["learners"], str)
        and choices["learners"] == "default"
        and choices["effort"] != "fast"
        and not choices["return_model"]
    )


def problem_on_disk(
    X: Any, y: Any, *, task: str, seed: int, n_jobs: int | None, progress: Progress = False
) -> Given | None:
    """Put the rows of a table on disk, where there are many and nothing speaks against it.

    Parameters
    ----------
    X : object
        What the caller passes as X.
    y : object
        The name of the column of labels; with anything else, no table is put on disk.
    task : {"classification", "regression"}
        Whether the labels are classes or numbers.
    seed : int
        Seeds which rows are in the sample, and which are tested.
    n_jobs, progress
        As for `learned_floor`.

    Returns
    -------
    Given or None
        None where the rows are few or in memory, or need all to be looked at together.
    """
    source = source_of(X) if isinstance(y, str) else None
    n_expected = None if source is None else source.n_expected()
    if source is None or (n_expected is not None and n_expected < limits().disk_rows):
        return None
    n_sample = min(SAMPLE_ROWS, SAMPLE_VALUES // len(source.columns))
    if n_expected is not None:
        n_sample = min(n_sample, int(MOST_SAMPLED * n_expected))
    sampled = sample_of(source, n_sample, seed, target=y)
    if sampled.n_rows < limits().disk_rows:
        return None
    if len(sampled.rows) > 2 * MOST_SAMPLED * sampled.n_rows:  # there are fewer rows than were expected
        sampled = sampled.fewer(int(MOST_SAMPLED * sampled.n_rows))
    raw = replace(sampled.raw, lines=sampled.rows, files=(), file_codes=None)
    sample, table = problem_and_table(raw, y, task=task)
    assert table is not None
    is_few = task == "classification" and _is_a_class_rare(sampled, sample)
    copies = distinct_rows(replace(sample, n_drawn_from=sampled.n_rows), seed)
    if is_few or copies.are_left_out or copies.problem.groups is not None or len(copies.rows) < len(sample.X):
        return None
    problem = supervise(
        lambda pool: _stored(source, sampled, sample, table, seed, pool), check_n_jobs(n_jobs), progress
    )
    return Given(problem, table, replace(sample, n_drawn_from=problem.n_samples))


def _is_a_class_rare(sampled: Sampled, sample: Problem) -> bool:
    """Tell whether the sample has few rows of some class, or none although the table has."""
    if sample.class_counts.min() < FEWEST_OF_CLASS or sampled.counts is None:  # too many labels to be counted
        return True
    labels, missing = list(sampled.counts), frozenset(missing_labels(sampled.raw.label_counts[sampled.target]))
    column = text_column(str(sampled.target), labels, np.arange(len(labels)), missing)
    table = RawTable(sampled.source.name, [column], len(labels), np.arange(len(labels)))
    return bool((labels_alike(table, column.name, sample.classes)[~column.gaps] < 0).any())


def _stored(source: Source, sampled: Sampled, sample: Problem, table: Table, seed: int, pool: WorkerPool) -> Problem:
    """Write the rows, in a second pass."""
    pool.expect(sampled.n_rows)
    y = sample.codes if sample.task == "classification" else sample.y
    keys = keys_of_numbers(table.lines, seed)
    codes = None if sample.tabular is None else sample.tabular.values
    of_sample = Batch(keys, table.lines, sample.X, codes, y)
    batches = _batches(source, table.preparation, sample, seed, pool)
    found = store_rows(sample, of_sample, batches, sampled.n_rows, seed, pool)
    assert found.stored is not None
    n_left_out = sampled.n_rows - found.stored.n_rows
    counts = sampled.raw.label_counts.get(sampled.target, {})
    marks = {label: counts[label] for label in missing_labels(counts) if label}
    what = "label" if sample.task == "classification" else "number"
    left_out = {without_label(what, table.target, marks): n_left_out}
    others = [each for each in sample.findings if each.code != LEFT_OUT]
    return replace(found, findings=(*find_left_out(left_out, sampled.n_rows), *others))


def _batches(source: Source, preparation: Preparation, sample: Problem, seed: int, pool: WorkerPool) -> Iterator[Batch]:
    """Make all rows ready as the sample was, chunk by chunk; rows without a label are left out."""
    classes, target = sample.classes if sample.task == "classification" else None, preparation.target
    text, decimals = text_columns(preparation), decimal_signs(preparation)

    def batch_of(chunk: RawTable) -> Batch | None:
        y = labels_alike(chunk, target, classes)
        kept = np.flatnonzero(np.isfinite(y) if classes is None else y >= 0)
        if not len(kept):
            return None
        columns = [column for column in chunk.columns if column.name != target]
        some = replace(chunk, columns=columns)
        made = prepare_alike(some if len(kept) == chunk.n_rows else some.take(kept), preparation)
        table = None if sample.tabular is None or made.tabular is None else made.tabular.values
        return Batch(keys_of_numbers(made.lines, seed), made.lines, made.X, table, y[kept])

    for chunk in source.chunks(text=text, decimals=decimals, target=target):
        pieces = [chunk.take(np.arange(at, min(at + AT_ONCE, chunk.n_rows))) for at in range(0, chunk.n_rows, AT_ONCE)]
        for batch in pool.run(batch_of, [(piece,) for piece in pieces]):
            if batch is not None:
                yield batch
        pool.advance(chunk.n_rows)
