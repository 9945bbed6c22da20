"""Where ``bayesfloor`` begins and ends."""

import errno
import io
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from bayesfloor.cli.exits import INTERNAL, INTERRUPTED, OK, USAGE, exit_code_of, one_line
from bayesfloor.cli.interrupts import was_interrupted
from bayesfloor.cli.streams import abandon, fill_closed_descriptors, tell

if TYPE_CHECKING:
    from cyclopts import App

#: What a lone hyphen is called while options are read: to the parser it is an option without a name.
HYPHEN = "::hyphen"


def main(arguments: Sequence[str] | None = None, *, app: "App | None" = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        What follows ``bayesfloor``; None takes it from the command line.
    app : App or None, default=None
        Commands to run in place of those of ``bayesfloor``.

    Returns
    -------
    int
        The exit code: 0 done, 1 a floor is above ``--fail-above`` or below ``--fail-below``, 2 usage, 3 bad data,
        4 something missing, 70 an error of bayesfloor itself, 130 interrupted.
    """
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    fill_closed_descriptors()
    if sys.stdout is None:
        return _report(OSError(errno.EBADF, os.strerror(errno.EBADF), "stdout"), debug=False)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    show_warning = warnings.showwarning
    try:
        warnings.showwarning = _ignore if "--quiet" in tokens else _warn_in_one_line
        code = _run(tokens, app)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        abandon(sys.stdout)
        return OK
    except BaseException as error:
        if isinstance(error, SystemExit):
            if isinstance(error.__context__, BrokenPipeError):  # rich, which writes the help, ends the process itself
                return OK
            raise
        # a library that is interrupted while it loads may raise an error of its own
        return _report(KeyboardInterrupt() if was_interrupted() else error, debug="--debug" in tokens)
    finally:
        warnings.showwarning = show_warning


def _run(tokens: list[str], app: "App | None") -> int:
    from cyclopts import CycloptsError

    if app is None:
        from bayesfloor.cli.app import app as own

        app = own
    given = [HYPHEN if token == "-" else token for token in tokens]
    try:
        command, bound, _ = app.parse_args(given, exit_on_error=False, print_error=False)
        code = command(*map(_with_hyphens, bound.args), **{k: _with_hyphens(v) for k, v in bound.kwargs.items()})
    except CycloptsError as error:
        if "--debug" in tokens:
            tell(traceback.format_exc().rstrip())
        _complain(f"{one_line(error)} See '{app.name[0]} --help'.")
        return USAGE
    return OK if code is None else int(code)


def _with_hyphens(value: Any) -> Any:
    """Put lone hyphens back into what was read from the command line."""
    if isinstance(value, str):
        return "-" if value == HYPHEN else value
    if isinstance(value, tuple | list):
        return type(value)(map(_with_hyphens, value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _with_hyphens(getattr(value, field.name)) for field in fields(value)})
    return value


def _report(error: BaseException, *, debug: bool) -> int:
    """Say what went wrong; return the exit code."""
    code = exit_code_of(error)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:  # it is stdout that is full: closing it must not fail again
        abandon(sys.stdout)
    if debug and code != INTERRUPTED:
        tell("".join(traceback.format_exception(error)).rstrip())
    if code is None:
        _complain(f"unexpected {type(error).__name__}: {one_line(error)}; --debug shows where. Please report this.")
        return INTERNAL
    _complain(one_line(error))
    return code


def _complain(text: str) -> None:
    tell(f"bayesfloor: {text}")


def _warn_in_one_line(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
) -> None:
    _complain(f"warning: {one_line(message if isinstance(message, Warning) else Warning(message))}")


def _ignore(*_: Any, **__: Any) -> None:
    """Show nothing."""
