"""What all displays have: a figure of their own where no axes are given, and the ways to make one."""

from dataclasses import dataclass, fields
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

    @classmethod
    def from_data(cls, *data: Any, ax: Any = None, **options: Any) -> Self:
        """Make a display of plain values and draw it.

        Parameters
        ----------
        *data : object
            The first parameters of the class.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        **options
            Further parameters of the class, and those of `plot`.

        Returns
        -------
        display
            Drawn.
        """
        own = {field.name: options.pop(field.name) for field in fields(cls) if field.name in options}
        return cls(*data, **own).plot(ax, **options)

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


@dataclass(eq=False, repr=False)
class EstimatorDisplay(Display):
    """A picture of what a fitted estimator has found."""

    #: The estimator's attribute that can be drawn, and what it is.
    _fitted: ClassVar[tuple[str, str]]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **options: Any) -> Any:
        """Draw what a fitted estimator has found.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted; of a pipeline, the last step.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        **options
            Those of the ``plot`` of the result.

        Returns
        -------
        display
            Drawn.
        """
        name, what = cls._fitted
        estimator = fitted_step(estimator)
        found: Any = getattr(estimator, name, None)
        if not hasattr(found, "plot"):
            raise TypeError(f"{type(estimator).__name__} has no {what}: no {name}")
        return found.plot(ax, **options)


def fitted_step(estimator: Any) -> Any:
    """Return a fitted estimator itself; of a pipeline, its last step."""
    from sklearn.utils.validation import check_is_fitted

    if hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    check_is_fitted(estimator)
    return estimator
