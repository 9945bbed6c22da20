"""What Ctrl-C and SIGTERM do: the first stops the work, which cleans up after itself; the next ends the process."""

import signal
from typing import Any

_SIGNALS = signal.SIGINT, signal.SIGTERM
#: The signal that came.
_came: list[int] = []


def catch_interrupts() -> None:
    """Have either signal raise KeyboardInterrupt once; where it is ignored, as nohup asks for, it stays so."""
    for number in _SIGNALS:
        if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(number, _interrupt)


def was_interrupted() -> bool:
    """Tell whether one of them came."""
    return bool(_came)


def code_of_interrupt() -> int:
    """Return the exit code of a process that was interrupted: 143 by SIGTERM, else 130."""
    from bayesfloor.cli.exits import INTERRUPTED, TERMINATED  # no module before interrupts are caught

    return TERMINATED if signal.SIGTERM in _came[:1] else INTERRUPTED


def stop_catching() -> None:
    """Have them end the process from now on: the work is done."""
    _leave_at_the_next()
    # an interrupt inside exec, which is how dataclasses are made, has Python end a module by a signal, caught or not,
    # unless another exec ends well after it
    exec("")


def _leave_at_the_next() -> None:
    for number in _SIGNALS:
        if signal.getsignal(number) is _interrupt:
            signal.signal(number, _leave)


def _interrupt(number: int, _: Any) -> None:
    _came.append(number)
    _leave_at_the_next()
    raise KeyboardInterrupt


def _leave(number: int, _: Any) -> None:
    import os

    os._exit(128 + number)
