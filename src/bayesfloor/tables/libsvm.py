"""libsvm's sparse text: a label, then ``index:value`` for what is not zero."""

import io
import re

import numpy as np

from bayesfloor.data.points import SPARSE_LIMIT
from bayesfloor.runtime.limits import check_memory, in_gib
from bayesfloor.runtime.text import counted
from bayesfloor.tables.columns import Column, NumberColumn, RawTable
from bayesfloor.tables.unpacking import Contents, check_n_columns, check_n_rows

_LINE = re.compile(rb"[^\s:]+(\s+(qid:\d+|\d+:[^\s:]+))+\s*(#.*)?")


def looks_like_libsvm(data: bytes) -> bool:
    """Tell whether the first lines are labels with ``index:value`` pairs."""
    lines = [line for line in data[:65536].splitlines()[:20] if line.strip() and not line.startswith(b"#")]
    if len(data) > 65536:
        lines = lines[:-1]
    return bool(lines) and all(_LINE.fullmatch(line.strip()) for line in lines)


def read_libsvm(contents: Contents) -> RawTable:
    """Read a libsvm file.

    Parameters
    ----------
    contents : Contents
        The file.

    Returns
    -------
    RawTable
        Columns x1, x2 and so on, by their index, and the labels, numbers, as "label".

    Raises
    ------
    ValueError
        In scikit-learn's words where it cannot read the file; and for a table that would be larger than `SPARSE_LIMIT`
        as a dense one.
    """
    from sklearn.datasets import load_svmlight_file

    name = contents.name
    try:
        X, y = load_svmlight_file(io.BytesIO(contents.data), zero_based=True)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name} cannot be read as libsvm: {error}") from error
    if not len(y):
        raise ValueError(f"{name} holds no rows")
    if not X.nnz:
        raise ValueError(f"{name} has labels and no values")
    if not (np.isfinite(X.data).all() and np.isfinite(y).all()):
        raise ValueError(f"{name} has labels or values that are not finite")
    first = 0 if X.indices.min() == 0 else 1
    X = X[:, first:]
    n_rows, n_columns = X.shape
    n_bytes = 8 * n_rows * n_columns
    if n_bytes > SPARSE_LIMIT:
        raise ValueError(
            f"{name}: {counted(n_rows)} rows of {counted(n_columns)} columns take {in_gib(n_bytes)} as a dense table; "
            f"the limit is {in_gib(SPARSE_LIMIT)}"
        )
    check_n_rows(n_rows, name)
    check_n_columns(n_columns, name)
    check_memory(n_bytes, name)
    columns: list[Column] = [NumberColumn(f"x{j + first}", values) for j, values in enumerate(X.T.toarray(order="C"))]
    columns.append(NumberColumn("label", y))
    note = f"libsvm file, indices from {first}; what is not given is 0."
    return RawTable(name, columns, n_rows, np.arange(1, n_rows + 1), "label", [note], row_word="row")
