"""What all displays have: a figure of their own where no axes are given, and a table of what is drawn."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from bayesfloor.display import canvas
from bayesfloor.runtime.frames import Framed


@dataclass(eq=False, repr=False)
class Display(Framed):
    """A picture, with what it draws.

    A subclass is a dataclass of plain values. It checks them in ``__post_init__`` and draws in ``_draw``. Unless its
    ``columns`` are those of `frame`, it names these in ``_columns``.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure that it is on.
    """

    #: Width and height of a figure of its own, in inches, where they do not depend on what is drawn.
    _size: ClassVar[tuple[float, float]] = (5.6, 3.6)

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure, large enough for all that is drawn.

        Returns
        -------
        display
            This display.
        """
        self._draw(self._open(ax))
        return self

    def frame(self) -> Any:
        """Return what is drawn as a data frame of the caller's library."""
        return self._frame_of(self._columns())

    def _open(self, ax: Any) -> Any:
        """Return the axes to draw on, and remember them."""
        canvas.load_pyplot()
        ax = self._new_axes() if ax is None else ax
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _new_axes(self) -> Any:
        return canvas.new_axes(*self._size)

    def _columns(self: Any) -> dict[str, Any]:
        return dict(self.columns)

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError
