"""Files that appear whole or not at all."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def write_whole(file: Path, contents: bytes, *, replace: bool = True) -> None:
    """Write a file aside and rename it.

    Parameters
    ----------
    file : Path
        Where to.
    contents : bytes
        What.
    replace : bool, default=True
        Whether a file that is there may be replaced. If not, one that came meanwhile is kept.

    Raises
    ------
    FileExistsError
        If there is one that may not be replaced.
    OSError
        If it cannot be written; nothing is left behind.
    """
    file = file.resolve()  # where a link leads to
    try:
        handle, aside = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name[:50]}.", suffix=".part")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(contents)
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(aside, 0o666 & ~mask)  # a file made aside is for its owner only
        if not replace and file.exists():
            raise FileExistsError(f"{str(file)!r} exists")
        os.replace(aside, file)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(aside)
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(file)) from error
        raise
