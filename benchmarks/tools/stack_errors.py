"""On which rows is the stack of a learned floor wrong? The result does not say; this looks inside."""

from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from bayesfloor.floor.learned import estimate


def stack_errors(*data: Any, **options: Any) -> tuple[Any, NDArray[np.int64], NDArray[np.bool_]]:
    """Run `learned_floor`; return its result, the rows that were tested, and whether the stack is wrong on each."""
    caught: list[Any] = []

    def keep(*given: Any, **more: Any) -> Any:
        caught.append(whole(*given, **more))
        return caught[-1]

    whole = estimate.learned_floor_of
    with mock.patch.object(estimate, "learned_floor_of", keep):
        floor = estimate.learned_floor(*data, **options)
    held = caught[-1][1]
    wrong = held.stack != held.counted.codes
    if abs(wrong.mean() - floor.reached) > 1e-12:
        raise RuntimeError(f"The errors that were found are {wrong.mean()}, and {floor.reached} was reached.")
    return floor, held.given[held.tested], wrong
