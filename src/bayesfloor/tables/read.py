"""A file -> its format, its columns, and from these X, y and names, with every assumption stated."""

from collections.abc import Sequence
from typing import Any

from bayesfloor.data.prepared_table import Table
from bayesfloor.runtime.checks import ParameterError, Progress, check_option, check_random_state_seed
from bayesfloor.runtime.frames import column_named, column_texts, like_input
from bayesfloor.runtime.progress import reporter
from bayesfloor.runtime.settings import limits
from bayesfloor.tables.columns import likely_target
from bayesfloor.tables.formats import read_raw
from bayesfloor.tables.frames import is_eager_frame, raw_of_frame
from bayesfloor.tables.labelled_rows import subgroups_by
from bayesfloor.tables.options import ReadOptions, as_names, check_prepare, is_transformer, kinds_given
from bayesfloor.tables.preparation import Preparation, decimal_signs, text_columns
from bayesfloor.tables.prepare import make_table, prepare_alike, transformed_table
from bayesfloor.tables.sources import collected, draw_rows


@like_input
def read_table(
    source: Any,
    *,
    target: str | int | None = None,
    task: str = "auto",
    groups: str | int | None = None,
    time: str | int | None = None,
    by: str | int | None = None,
    prepare: Any = "auto",
    encode: str | None = None,
    scale: str = "standard",
    impute: str | None = None,
    drop_missing: bool = False,
    keep_missing_as_class: bool = False,
    drop: str | Sequence[str] = (),
    categorical: str | Sequence[str] = (),
    numeric: str | Sequence[str] = (),
    text: str | Sequence[str] = (),
    date: str | Sequence[str] = (),
    max_rows: int | None = None,
    random_state: Any = 0,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    max_bytes: int | None = None,
    preparation: Preparation | None = None,
    progress: bool | Progress = False,
) -> Table:
    r"""Read a file of samples, or a data frame, and make it ready: labels apart, every column as numbers.

    CSV and its relatives, Excel workbooks, JSON, Parquet, Arrow and Feather, ARFF and KEEL, NPZ and libsvm files are
    read, plain or packed by gzip, bzip2, xz or zip.
    Each column is treated by what it holds: numbers, categories, dates, text, ids. Whatever is detected, assumed or
    done is stated in `Table.notes` and `Table.columns`. Nothing in a file is ever run.

    Parameters
    ----------
    source : str, path-like, sequence of these, or data frame
        The file; ``"-"`` for stdin, ``"book.xlsx::sheet"`` for one sheet of a workbook, or a folder of Parquet files.
        Several files need the same columns, in any order; their rows follow each other. Or a pandas, polars or other
        data frame, a lazy frame of polars, or a Dask data frame or array.
    target : str, int or None, default=None
        The column of labels, by name or position. A number that a data frame has as the name of a column is a name.
        None takes the one that the file names (KEEL, NPZ, libsvm), or one that is called "target", "class" or the like,
        else the last if it can hold classes, or no column can.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether the target holds classes or a number. "auto" decides by its values: text and a few whole numbers are
        classes; fractions, and many whole numbers with few rows each, are a number. A note says which.
    groups : str, int or None, default=None
        The column that tells which rows belong together, such as a patient; it is no feature.
    time : str, int or None, default=None
        The column that tells when a row was seen; it is no feature.
    by : str, int or None, default=None
        The column whose values figures are wanted for, one by one. It stays a feature, unless it is dropped.
    prepare : {"auto", None} or transformer, default="auto"
        "auto" decides for each column. None takes numbers as they are, and refuses a column with text, dates or gaps.
        Any scikit-learn transformer, or a Pipeline of them, makes numbers of a data frame of the columns. `encode`,
        `scale`, `impute` and the kinds of columns are for "auto".
    encode : {"onehot", "ordinal", "drop"} or None, default=None
        What to do with categories: k - 1 columns of 0 and 1 for k values, codes in the order of the values, or leave
        them out. None decides by the number of values.
    scale : {"standard", "minmax", "none"}, default="standard"
        Mean 0 and standard deviation 1, or the range from 0 to 1. Dummies stay 0 and 1: two rows that differ in a text
        column are then about as far apart as two rows are in a standardised number.
    impute : {"mean", "median", "most_frequent"} or None, default=None
        How to fill missing numbers; text is filled by its most frequent value. None takes the median, plus a
        was-missing flag where there are enough gaps.
    drop_missing : bool, default=False
        Leave out rows with missing values. Rows without a label are always left out.
    keep_missing_as_class : bool, default=False
        Whether a label such as ``null``, ``?``, ``.`` or ``-`` is a class of its own. By default it is a missing one,
        which a note says, and so are ``None``, ``NA`` and ``unknown`` where less than 2% of the rows have them and
        other such marks stand beside them. ``-`` beside ``+``, and a sign beside one other label alone, are classes
        always.
    drop : str or sequence of str, default=()
        Columns to leave out, such as an id.
    categorical, numeric, text, date : str or sequence of str, default=()
        Columns that hold categories, numbers, free text or dates, where the guess errs.
    max_rows : int or None, default=None
        Use at most so many rows, as large a share of each class, or of low and high numbers. The choice does not depend
        on the order of the rows.
    random_state : int, None, numpy Generator or RandomState, default=0
        Seed of that choice, and of which rows are drawn of a table that is too large for memory.
    separator, decimal, encoding, header : optional
        How a text table is written, where detection errs: for example ``";"``, ``","``, ``"cp1252"``, ``False``.
    max_bytes : int, default=None
        Larger files, and packed files that unpack to more, are refused; None for 4 GiB. With that, or more, rows of
        Parquet files and text tables beyond it, or beyond 64 million values, are drawn at random: a million, fewer of
        more than 32 columns.
    preparation : Preparation or None, default=None
        Make this file ready as another was (`Table.preparation`); whatever else is said about columns is then taken
        from there, and the target may be missing.
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
    ...     table = read_table(file)
    >>> table
    Table('fruit.csv': 3 rows, 2 features, 2 classes of 'sweet')
    >>> [(column.name, column.kind, column.treatment) for column in table.columns]
    [('weight', 'number', 'scaled'), ('kind', 'category', '0 and 1')]
    >>> table.notes[0]
    'Text table: separator semicolon, encoding utf-8, decimal comma, column names from line 1.'
    """
    check_prepare(prepare)
    if separator is not None and (not isinstance(separator, str) or len(separator) != 1):
        raise ParameterError("separator", "one character or None", separator)
    check_option("decimal", decimal, (None, ".", ","))
    target, groups, time, by = (
        wanted if (name := column_named(source, wanted)) is None else name for wanted in (target, groups, time, by)
    )
    options = ReadOptions(
        target=target,
        task=task,
        groups=groups,
        time=time,
        as_given=prepare is None,
        encode=encode,
        scale="none" if prepare is None else scale,
        impute=impute,
        drop_missing=drop_missing,
        drop=as_names(drop, "drop", source),
        kinds=kinds_given(source, categorical=categorical, numeric=numeric, text=text, date=date),
        max_rows=max_rows,
        seed=check_random_state_seed(random_state),
        keep_missing_as_class=keep_missing_as_class,
    )
    if preparation is not None:
        options = ReadOptions(target=preparation.target, kinds=dict.fromkeys(text_columns(preparation), "category"))
    of_columns: dict[str, Any] = {
        "categorical": [name for name, kind in options.kinds.items() if kind != "number"],
        "dropped": tuple(name for name in options.drop if name != by),
        "decimals": {} if preparation is None else decimal_signs(preparation),
    }
    how = {"separator": separator, "decimal": decimal, "encoding": encoding, "header": header}
    of_frame = options.target
    if of_frame is None:
        of_frame = likely_target(column_texts(source), options.drop) if is_eager_frame(source) else -1
    drawn = None
    if preparation is not None:
        source = collected(source)  # a file that is made ready as another was is used as a whole, or refused
    elif max_bytes is None or max_bytes >= limits().unpacked_bytes:
        drawn = draw_rows(source, options.seed, target=of_frame, how=how, **of_columns)
    if drawn is not None:
        raw, drawn = drawn.raw, None  # what the rows were read as is needed no more
    elif is_eager_frame(source):
        raw = raw_of_frame(source, of_frame)
    else:
        told = reporter(progress)
        raw = read_raw(source, max_bytes, target=options.target, progress=told, **of_columns, **how)
    if by is not None:
        raw.by = subgroups_by(raw, by)
    if preparation is not None:
        return prepare_alike(raw, preparation, keep_missing_as_class=keep_missing_as_class)
    if is_transformer(prepare):
        return transformed_table(raw, options, prepare)
    return make_table(raw, options)
