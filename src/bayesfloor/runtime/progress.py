"""Whom to tell how far some work is: a bar on a terminal or a callable; and one bar for work that has several parts.

`WorkerPool` of `bayesfloor.runtime.threads` counts the work itself.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayesfloor.runtime.checks import Progress

#: Letters of a full bar.
_BAR_LETTERS = 30
#: Steps of a bar that several parts share.
_STEPS = 10_000


def reporter(progress: bool | Progress) -> Progress | None:
    """Return whom to tell how far the work is: a bar on a terminal, a callable, or nobody."""
    if not isinstance(progress, bool) and not callable(progress):
        raise _refused(progress)
    if progress is True:
        return Bar(end="\n") if sys.stderr.isatty() else None
    return progress or None


def _refused(progress: object) -> Exception:
    from bayesfloor.runtime.checks import ParameterError  # loads NumPy

    return ParameterError("progress", "a bool or a callable", progress)


class Bar:
    """A bar on stderr, with the seconds that are left if the work goes on as it does.

    Parameters
    ----------
    patience : float, default=0.0
        Seconds before it appears.
    end : str, default=""
        What is written after it once all is done.
    """

    def __init__(self, patience: float = 0.0, end: str = "") -> None:
        self._started, self._patience, self._end = time.monotonic(), patience, end
        self.is_drawn = False

    def __call__(self, done: int, total: int) -> None:
        """Draw it anew."""
        elapsed, share = time.monotonic() - self._started, done / max(total, 1)
        if elapsed < self._patience:
            return
        left = f"{elapsed / share - elapsed:.0f} s left" if 0 < share < 1 else f"{elapsed:.0f} s"
        bar = ("#" * int(_BAR_LETTERS * share)).ljust(_BAR_LETTERS, ".")
        end = self._end if done == total else ""
        print(f"\r\033[K[{bar}] {share:4.0%} {left}", end=end, file=sys.stderr, flush=True)
        self.is_drawn = True

    def clear(self) -> None:
        """Remove it from the line."""
        if self.is_drawn:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


class Stages:
    """One progress for several parts, of which some turn out on the way to be needed or not. It never goes back.

    Parameters
    ----------
    progress : bool or callable
        Whom to tell.
    """

    def __init__(self, progress: bool | Progress) -> None:
        self._tell = reporter(progress)
        self._end = self._shown = 0.0

    def begin(self, size: float, after: float) -> bool | Callable[[int, int], None]:
        """Begin the next part, and return what takes its progress; False where nobody is told.

        Parameters
        ----------
        size : float
            How long it takes, in any unit.
        after : float
            How long what is expected to come after it takes, in the same unit.

        Returns
        -------
        callable or False
        """
        tell, start = self._tell, self._end
        if tell is None:
            return False
        self._end = start + (1.0 - start) * size / (size + after)
        self._show(tell, start)
        width = self._end - start
        return lambda done, total: self._show(tell, start + width * done / max(total, 1))

    def finish(self) -> None:
        """Say that all is done."""
        if self._tell is not None:
            self._show(self._tell, 1.0)

    def _show(self, tell: Progress, share: float) -> None:
        self._shown = max(self._shown, share)
        tell(round(_STEPS * self._shown), _STEPS)
