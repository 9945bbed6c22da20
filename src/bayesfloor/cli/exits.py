"""What went wrong, as one line and an exit code."""

#: Exit codes.
OK = 0
FAILED = 1
USAGE = 2
BAD_DATA = 3
MISSING = 4
INTERNAL = 70
INTERRUPTED = 130
TERMINATED = 143

#: Letters of a line that says what went wrong; names and values out of a file may be of any length.
_LONGEST_LINE = 800


class UsageError(Exception):
    """The command cannot be carried out as it was given."""


def exit_code_of(error: BaseException) -> int | None:
    """Return the exit code for an exception; None for one that nobody expects.

    Parameters
    ----------
    error : BaseException
        What was raised.

    Returns
    -------
    int or None
    """
    if isinstance(error, KeyboardInterrupt | InterruptedError):
        return INTERRUPTED
    if isinstance(error, UsageError) or _names_no_column(error):
        return USAGE
    if isinstance(error, ImportError | ConnectionError) or _lacks_device(error):
        return MISSING
    if isinstance(error, ValueError | TypeError | MemoryError | OSError):
        return BAD_DATA
    return None


def _names_no_column(error: BaseException) -> bool:
    if not isinstance(error, ValueError):
        return False
    from bayesfloor.tables.columns import UnknownColumnError

    return isinstance(error, UnknownColumnError)


def _lacks_device(error: BaseException) -> bool:
    if not isinstance(error, RuntimeError):
        return False
    from bayesfloor.forest.gpu.device import DeviceError

    return isinstance(error, DeviceError)


def one_line(error: BaseException) -> str:
    """Describe an exception in one line, with control characters written out."""
    from bayesfloor.runtime.text import cut_middle, visible

    if isinstance(error, KeyboardInterrupt | InterruptedError):
        return "interrupted"
    if isinstance(error, OSError) and error.strerror:
        named = f"{str(error.filename)!r}: " if error.filename is not None else ""
        text = named + error.strerror
    else:
        text = str(error) or type(error).__name__
    if isinstance(error, ImportError) and error.name:
        text += f" (something that bayesfloor needs is not installed: {error.name})"
    # a MemoryError of numpy and some of scikit-learn's messages have several lines
    return cut_middle(visible(" ".join(text.split())), _LONGEST_LINE)
