"""A file -> its format, its columns, and from these X, y and names, with every assumption stated."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.points import check_points
from bayesfloor.data.prepared_table import Table
from bayesfloor.data.sampling import copy_numbers, stratified_rows
from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.checks import ParameterError, Progress, check_option, check_random_state_seed, is_int
from bayesfloor.runtime.hashing import GOLDEN, mix64
from bayesfloor.runtime.text import counted, listed
from bayesfloor.runtime.threads import reporter
from bayesfloor.tables.columns import DateColumn, NumberColumn, RawTable, TextColumn, as_text, count_gaps, find_gaps
from bayesfloor.tables.encoding import ENCODINGS, IMPUTATIONS, SCALES, Preparation, learn_preparation
from bayesfloor.tables.formats import Source, read_raw
from bayesfloor.tables.targets import choose_target, find_column, find_missing_labels, read_labels
from bayesfloor.tables.unpacking import UNPACKED_LIMIT


def read_table(
    path: Source | Sequence[Source],
    *,
    target: str | int | None = None,
    encode: str | None = None,
    scale: str = "standard",
    impute: str | None = None,
    drop_missing: bool = False,
    drop: str | Sequence[str] = (),
    categorical: str | Sequence[str] = (),
    max_rows: int | None = None,
    random_state: Any = 0,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    max_bytes: int = UNPACKED_LIMIT,
    preparation: Preparation | None = None,
    progress: bool | Progress = False,
) -> Table:
    r"""Read a file of samples and make it ready: labels apart, text encoded, numbers scaled.

    CSV and its relatives, Excel workbooks, JSON, SQLite, Parquet, Arrow and Feather, ARFF and KEEL, NPZ and libsvm
    files are read, plain or packed by gzip, bzip2, xz or zip. Whatever is detected or assumed is stated in
    `Table.notes`; what cannot be used is refused with the line and the column. Nothing in a file is ever run.

    Parameters
    ----------
    path : str, path-like or sequence of these
        The file; ``"-"`` for stdin, ``"book.xlsx::sheet"`` for one sheet of a workbook, ``"data.sqlite::table"`` for
        one table of a database, or a folder of Parquet files. Several files need the same columns, in any order; their
        rows follow each other.
    target : str, int or None, default=None
        The column of labels, by name or position. None takes the one that the file names (KEEL, NPZ, libsvm), else the
        last.
    encode : {"onehot", "ordinal", "drop"} or None, default=None
        What to do with text: k - 1 columns of 0 and 1 for k values, codes in the order of the values, or leave it out.
        None refuses text.
    scale : {"standard", "minmax", "none"}, default="standard"
        Mean 0 and standard deviation 1, or the range from 0 to 1. Dummies stay 0 and 1: two rows that differ in a text
        column are then about as far apart as two rows are in a standardised number.
    impute : {"mean", "median", "most_frequent"} or None, default=None
        How to fill missing numbers; text is filled by its most frequent value. None refuses missing values.
    drop_missing : bool, default=False
        Leave out rows with missing values or without a label.
    drop : str or sequence of str, default=()
        Columns to leave out, such as an id.
    categorical : str or sequence of str, default=()
        Columns to treat as text although they hold numbers, such as codes of states.
    max_rows : int or None, default=None
        Use at most so many rows, as large a share of each class. The choice does not depend on the order of the rows.
    random_state : int, None, numpy Generator or RandomState, default=0
        Seed of that choice.
    separator, decimal, encoding, header : optional
        How a text table is written, where detection errs: for example ``";"``, ``","``, ``"cp1252"``, ``False``.
    max_bytes : int, default=4 GiB
        Larger files, and packed files that unpack to more, are refused.
    preparation : Preparation or None, default=None
        Make this file ready as another was (`Table.preparation`); `encode`, `scale`, `impute`, `drop`, `categorical`
        and `target` are then taken from there, and the target may be missing.
    progress : bool or callable, default=False
        Show progress on a terminal, or call ``progress(done, total)`` with numbers of bytes; for text tables.

    Returns
    -------
    Table

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError
        When the file cannot be opened.
    UnknownColumnError
        A ValueError: a column was named that is not there; close names are suggested.
    ValueError
        When something in the file cannot be used; the message names the file, line and column.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bayesfloor.tables.read import read_table
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "fruit.csv")
    ...     _ = file.write_text("weight;kind;sweet\n1,5;pear;yes\n2,5;apple;no\n2;apple;yes\n")
    ...     table = read_table(file, encode="onehot")
    >>> table
    Table('fruit.csv': 3 rows, 2 features, 2 classes of 'sweet')
    >>> table.feature_names
    ('weight', 'kind=pear')
    >>> table.notes[0]
    'Text table: separator semicolon, encoding utf-8, decimal comma, column names from line 1.'
    """
    _check_options(encode, scale, impute, separator, decimal, max_rows)
    seed = check_random_state_seed(random_state)
    dropped, as_categories = _as_names(drop, "drop"), _as_names(categorical, "categorical")
    wanted: str | int | None = target
    if preparation is not None:
        wanted = preparation.target
        dropped = ()
        as_categories = tuple(column.name for column in preparation.columns if column.categories)
    how_written: dict[str, Any] = {"separator": separator, "decimal": decimal, "encoding": encoding, "header": header}
    how_written["progress"] = reporter(progress)
    raw = read_raw(path, max_bytes, target=wanted, categorical=as_categories, dropped=dropped, **how_written)
    if preparation is not None:
        return _prepare_alike(raw, preparation)
    if wanted is not None:
        wanted = find_column(raw, wanted)
    _choose_columns(raw, wanted, dropped, as_categories)
    name = choose_target(raw, wanted)
    return make_table(
        raw, name, encode=encode, scale=scale, impute=impute, drop_missing=drop_missing, max_rows=max_rows, seed=seed
    )


def make_table(
    raw: RawTable,
    target: str,
    *,
    encode: str | None,
    scale: str,
    impute: str | None = None,
    drop_missing: bool = False,
    max_rows: int | None = None,
    seed: int = 0,
) -> Table:
    """Make the columns of a file ready; see `read_table` for the parameters."""
    n_samples = raw.n_rows
    raw = _without_missing(raw, target, encode=encode, impute=impute, drop_missing=drop_missing)
    y, classes, codes = read_labels(raw, target)
    if max_rows is not None and max_rows < raw.n_rows:
        if max_rows < 2 * len(classes):
            raise ValueError(f"max_rows={max_rows} is less than two rows for each of the {len(classes)} classes")
        rows = stratified_rows(codes, max_rows, _row_keys(raw, codes, seed))
        raw.notes.append(
            f"A sample of {counted(len(rows))} of {counted(raw.n_rows)} rows is used, as large a share of each class."
        )
        raw, y = raw.take(rows), y[rows]
    learnt = learn_preparation(raw, target, encode=encode, scale=scale, impute=impute)
    return _assemble(raw, learnt, y, classes, n_samples)


def _row_keys(table: RawTable, codes: Ints, seed: int) -> NDArray[np.uint64]:
    """Return a random number for each row, from its values and the seed; copies of a row get different ones."""
    hashes = np.zeros(len(codes), np.uint64)
    for column in table.columns:
        if isinstance(column, NumberColumn):
            values = np.where(np.isnan(column.values), np.nan, column.values + 0.0).view(np.uint64)
        elif isinstance(column, TextColumn):
            texts = [*column.categories, "\0missing"]
            values = np.array([_text_hash(text) for text in texts], np.uint64)[column.codes]
        else:
            continue
        hashes = mix64(hashes + GOLDEN ^ values)
    copy = copy_numbers(hashes, codes)
    return mix64(hashes + copy * GOLDEN ^ mix64(np.array([seed], np.uint64) + GOLDEN))


def _text_hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _assemble(
    raw: RawTable, preparation: Preparation, y: NDArray[Any] | None, classes: NDArray[Any], n_samples: int
) -> Table:
    X = check_points(preparation.apply(raw, consume=True), min_rows=1)
    return Table(
        X=X,
        y=y,
        feature_names=preparation.feature_names,
        classes=classes,
        target=preparation.target,
        feature_groups=preparation.feature_groups,
        column_names=preparation.column_names,
        source=raw.source,
        lines=raw.lines,
        n_samples=n_samples,
        notes=tuple(raw.notes),
        cautions=tuple(raw.cautions),
        preparation=preparation,
        row_word=raw.unit,
        files=raw.files,
        file_codes=raw.file_codes,
    )


def _prepare_alike(raw: RawTable, preparation: Preparation) -> Table:
    """Make a table ready as another was; its target may be missing."""
    used = {column.name for column in preparation.columns}
    unused = [name for name in raw.names if name not in used and name != preparation.target]
    if unused:
        raw.notes.append(f"Columns not used: {', '.join(map(repr, unused[:6]))}{' and more' * (len(unused) > 6)}.")
    y, classes = None, np.empty(0)
    if preparation.target in raw.names and not len(find_missing_labels(raw, preparation.target)):
        y, classes, _ = read_labels(raw, preparation.target)
    raw.notes.append("The columns were made ready as those of the first table were.")
    return _assemble(raw, preparation, y, classes, raw.n_rows)


def _choose_columns(raw: RawTable, target: str | None, dropped: Sequence[str], categorical: Sequence[str]) -> None:
    """Leave out the columns named in `dropped`, and turn those in `categorical` into text."""
    for name in (*dropped, *categorical):
        find_column(raw, name)
    if target in dropped:
        raise ValueError(f"{raw.source}: {target!r} is the target, and cannot be left out")
    raw.columns = [column for column in raw.columns if column.name not in dropped]
    raw.columns = [as_text(c) if c.name in categorical and c.name != target else c for c in raw.columns]
    if dropped:
        raw.notes.append(f"Left out as asked: {', '.join(map(repr, dropped))}.")
    if categorical:
        raw.notes.append(f"Treated as text, as asked: {', '.join(map(repr, categorical))}.")


def _without_missing(
    raw: RawTable, target: str, *, encode: str | None, impute: str | None, drop_missing: bool
) -> RawTable:
    """Leave out rows with gaps where that was asked for; refuse gaps that nothing was asked about."""
    no_label = find_missing_labels(raw, target)
    features = [column for column in raw.columns if column.name != target and not isinstance(column, DateColumn)]
    if encode == "drop":
        features = [column for column in features if not hasattr(column, "categories")]
    gaps = [(column.name, count_gaps(column)) for column in features]
    gaps = [(name, number) for name, number in gaps if number]
    if not len(no_label) and not gaps:
        return raw
    has_gap = np.zeros(raw.n_rows, dtype=bool)
    if impute is None and gaps:
        has_gap = np.logical_or.reduce([marked for column in features if len(marked := find_gaps(column))])
    if not drop_missing:
        if len(no_label) == raw.n_rows:
            raise ValueError(
                f"{raw.source}: the target {target!r} has no values at all; name another column with target= (--target)"
                f"{', or leave it out with drop= (--drop) where lines end in a separator' * (raw.unit == 'line')}"
            )
        if len(no_label):
            raise ValueError(
                f"{raw.at(int(no_label[0]))}: {counted(len(no_label))} missing label{'s' * (len(no_label) > 1)} in "
                f"{target!r}, the first here; drop_missing=True (--drop-missing) leaves such rows out"
            )
        if impute is None:
            columns = listed([f"{name!r} ({counted(number)})" for name, number in gaps], 6)
            first = int(np.flatnonzero(has_gap)[0])
            raise ValueError(
                f"{raw.at(first)}: missing values in {counted(int(has_gap.sum()))} rows, the first here, columns "
                f"{columns}; add impute='median' (--impute median) to fill them, or drop_missing=True "
                "(--drop-missing) to leave the rows out"
            )
        return raw
    has_gap[no_label] = True
    if not has_gap.any():
        return raw
    if has_gap.all():
        raise ValueError(f"{raw.source}: every row has a missing value; none is left")
    raw.notes.append(
        f"{counted(int(has_gap.sum()))} of {counted(raw.n_rows)} rows were left out: a value or the label is missing."
    )
    return raw.take(np.flatnonzero(~has_gap))


def _check_options(encode: Any, scale: Any, impute: Any, separator: Any, decimal: Any, max_rows: Any) -> None:
    check_option("encode", encode, ENCODINGS)
    check_option("scale", scale, SCALES)
    check_option("impute", impute, IMPUTATIONS)
    if separator is not None and (not isinstance(separator, str) or len(separator) != 1):
        raise ParameterError("separator", "one character or None", separator)
    check_option("decimal", decimal, (None, ".", ","))
    if max_rows is not None and not is_int(max_rows):
        raise ParameterError("max_rows", "an int or None", max_rows)


def _as_names(names: Any, what: str) -> tuple[str, ...]:
    names = (names,) if isinstance(names, str) else tuple(names)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"The '{what}' parameter must name columns. Got {names!r} instead.")
    return names
