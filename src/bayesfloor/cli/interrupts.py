"""What Ctrl-C does: the first one stops the work, which removes what is half written; the next ends the process."""

import signal
from typing import Any


def catch_interrupts() -> None:
    """Have Ctrl-C raise KeyboardInterrupt once; where it is ignored, as nohup asks for, it stays so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def was_interrupted() -> bool:
    """Tell whether Ctrl-C came."""
    return signal.getsignal(signal.SIGINT) is _leave


def stop_catching() -> None:
    """Have Ctrl-C end the process from now on: the work is done."""
    if signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, _leave)
    # an interrupt inside exec, which is how dataclasses are made, has Python end a module by a signal, caught or not,
    # unless another exec ends well after it
    exec("")


def _interrupt(*_: Any) -> None:
    signal.signal(signal.SIGINT, _leave)
    raise KeyboardInterrupt


def _leave(*_: Any) -> None:
    import os

    os._exit(130)
