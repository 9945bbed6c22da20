"""The engine's settings. None of them changes a result; tests run with all kinds of values to show it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Plan:
    """How the engine cuts up its work."""

    # Points in a tile; None chooses by the number of axes.
    tile_size: int | None = None
    # Axes in which tiles are cut and compared: "none", "pca" or "auto".
    projection: str = "auto"
    # How a block of distances is computed: "differences", "products" or "auto".
    kernel: str = "auto"
    # Surviving edges that one thread collects before it hands them on.
    buffer_edges: int = 1 << 16
    # Tiles searched for the seed's neighbours; None chooses by the number of axes.
    near_tiles: int | None = None
    # Features up to which the forests of a set come from Borůvka's rounds; a sweep serves more.
    most_axes_of_rounds: int = 4
    # Points up to which every edge is a candidate.
    all_pairs_below: int = 200
    # Distances from which a block is worth sending to a device.
    device_pairs: int = 1 << 20
    # Survivors per point and tree from which the trees are settled anew.
    survivors_per_point: float = 6.0
    # Rows in a partition, on a cluster or out of core; None chooses by the number of workers.
    partition_rows: int | None = None

    def tile_points(self, n_axes: int, exact_axes: bool) -> int:
        """Return the largest number of points in a tile: few where boxes keep tiles apart, many for products."""
        if self.tile_size is not None:
            return self.tile_size
        if self.use_products(n_axes, exact_axes):
            return 192
        if n_axes <= 3:
            return 32
        return 160 if n_axes <= 8 else 128

    def use_products(self, n_axes: int, exact_axes: bool) -> bool:
        """Tell whether blocks of distances come from matrix products, which win where little can be left out."""
        return self.kernel == "products" or (self.kernel == "auto" and (n_axes > 20 or not exact_axes))


_DEFAULT = Plan()
_current: ContextVar[Plan] = ContextVar("plan", default=_DEFAULT)


def current() -> Plan:
    """Return the settings in force."""
    return _current.get()


@contextlib.contextmanager
def override(**settings: object) -> Iterator[Plan]:
    """Run the engine with other settings inside a with block."""
    token = _current.set(replace(_current.get(), **settings))  # type: ignore[arg-type]
    try:
        yield _current.get()
    finally:
        _current.reset(token)
