"""Which rows does a learned floor train on and test, and where is its stack wrong? The result does not say."""

from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from bayesfloor.floor.learned import estimate


def held_out_rows(*data: Any, **options: Any) -> tuple[Any, Any]:
    """Run `learned_floor`; return its result, and its `HeldOut`."""
    caught: list[Any] = []

    def keep(*given: Any, **more: Any) -> Any:
        caught.append(whole(*given, **more))
        return caught[-1]

    whole = estimate.learned_floor_of
    with mock.patch.object(estimate, "learned_floor_of", keep):
        estimate.learned_floor(*data, **options)
    return caught[-1]


def stack_errors(*data: Any, **options: Any) -> tuple[Any, NDArray[np.int64], NDArray[np.float64]]:
    """Run `learned_floor`; return its result, the tested rows, and in which share of repeats each is wrong."""
    floor, held = held_out_rows(*data, **options)
    wrong = (held.stack != held.counted.codes).mean(axis=0)
    if abs(wrong.mean() - floor.reached) > 1e-12:
        raise RuntimeError(f"The errors that were found are {wrong.mean()}, and {floor.reached} was reached.")
    return floor, held.learned.plan.given[held.tested], wrong
