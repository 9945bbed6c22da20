"""Which format a file has, told by its first bytes and then by its name, and the reader for it."""

from bayesfloor.tables.arff import looks_like_arff, read_arff
from bayesfloor.tables.binary_tables import read_frame, read_npz
from bayesfloor.tables.columns import RawTable
from bayesfloor.tables.libsvm import looks_like_libsvm, read_libsvm
from bayesfloor.tables.text_tables import read_text_table
from bayesfloor.tables.unpacking import UNPACKED_LIMIT, Contents, read_contents

_LIBSVM_SUFFIXES = (".libsvm", ".svm", ".svmlight")


def detect_format(contents: Contents) -> str:
    """Return "parquet", "arrow", "stream", "npz", "arff", "libsvm" or "text".

    Parameters
    ----------
    contents : Contents
        The file.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        When the name promises a format that the bytes do not hold, and for pickles.
    """
    data, suffix, name = contents.data, contents.suffix, contents.name
    if data.startswith(b"PAR1"):
        return "parquet"
    if data.startswith(b"ARROW1"):
        return "arrow"
    if data.startswith(b"FEA1"):
        raise ValueError(f"{name} is a Feather file of version 1; write it again as version 2")
    if suffix == ".npz":
        return "npz"
    if data.startswith(b"\x93NUMPY"):
        raise ValueError(f"{name} is a single NumPy array; save it with numpy.savez(..., X=..., y=...)")
    if data[0] == 0x80 and len(data) > 1 and data[1] <= 5:
        raise ValueError(f"{name} is a pickle, and reading one can run code; save the table as Parquet, CSV or NPZ")
    if data.startswith(b"\xff\xff\xff\xff"):
        return "stream"
    if suffix in (".parquet", ".pq", ".arrow", ".feather", ".ipc"):
        raise ValueError(f"{name} is named like a {suffix[1:].capitalize()} file, but it is not one, or it is damaged")
    if suffix == ".arff" or looks_like_arff(data):
        return "arff"
    if suffix in _LIBSVM_SUFFIXES or looks_like_libsvm(data):
        return "libsvm"
    return "text"


def read_raw(
    path: object,
    *,
    target: str | int | None,
    categorical: tuple[str, ...],
    dropped: tuple[str, ...],
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    limit: int = UNPACKED_LIMIT,
) -> RawTable:
    """Read a file of any format; see `bayesfloor.tables.read.read_table` for the parameters."""
    contents = read_contents(path, limit=limit)
    kind = detect_format(contents)
    if kind == "text":
        table = read_text_table(
            contents,
            target=target,
            categorical=categorical,
            dropped=dropped,
            separator=separator,
            decimal=decimal,
            encoding=encoding,
            header=header,
        )
    elif kind == "arff":
        table = read_arff(contents)
    elif kind == "libsvm":
        table = read_libsvm(contents)
    elif kind == "npz":
        table = read_npz(contents)
    else:
        table = read_frame(contents, kind)
    table.notes[:0] = contents.notes
    return table
