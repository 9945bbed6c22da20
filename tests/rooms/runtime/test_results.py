"""What follows from the fields of a record: its text, its table, its JSON and its picture."""

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from bayesfloor import results
from bayesfloor.display import VoteFloorDisplay
from bayesfloor.runtime.arrays import Bools, Floats, Range
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.results import PlottedResult, Result, columns_of, plain


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass(frozen=True, eq=False, repr=False)
class Part(Result, says="size"):
    """A part of an answer.

    Attributes
    ----------
    size : float
        How large it is.
    """

    size: float


@dataclass(frozen=True, eq=False, repr=False)
class Answer(
    PlottedResult,
    says="estimate reached share names is_odd n_samples n_classes word part bounds nothing",
    rows="name=names share interval=share_interval n_samples",
    omits="part_of_input",
    display="VoteFloorDisplay",
):
    """An answer.

    Attributes
    ----------
    estimate, reached : float
        What is
        best.
    """

    estimate: float
    interval: Range
    confidence: float
    reached: float
    names: NDArray[Any]
    share: Floats
    share_interval: Floats
    is_odd: Bools
    n_samples: int
    n_rows: int
    n_classes: int
    word: str
    part: Part
    pair: Pair
    by_name: dict[int, float]
    bounds: Range
    nothing: float | None = None
    findings: tuple[Finding, ...] = ()
    part_of_input: Floats = field(default_factory=lambda: np.zeros(10**6))
    seconds: float = 3.0
    _secret: int = 7

    @property
    def double(self) -> float:
        """Twice the estimate.

        And more.
        """
        return 2 * self.estimate

    def sentence(self) -> str:
        """Say it."""
        return "It is so."


@pytest.fixture
def answer():
    return Answer(
        estimate=0.25,
        interval=(0.125, 0.5),
        confidence=0.9,
        reached=1234.5678,
        names=np.array([7, 8]),
        share=np.array([0.5, np.nan]),
        share_interval=np.array([[0.0, 1.0], [np.nan, np.inf]]),
        is_odd=np.array([True, False]),
        n_samples=20,
        n_rows=10,
        n_classes=2,
        word="it's",
        part=Part(1e-7),
        pair=Pair(np.int64(3), np.datetime64("2020-01-01")),
        by_name={3: np.float64(0.5)},
        bounds=(0.0, 12.0),
        findings=(Finding("BF001", "What.", "Do."),),
    )


def test_repr_says_what_was_declared(answer):
    assert repr(answer) == (
        "Answer(0.2500, 90% interval 0.1250 to 0.5000, reached 1235, share 0.5 to 0.5, 2 names, 1 odd, 10 of 20 "
        'samples, 2 classes, word "it\'s", part Part(size 1e-07), bounds 0.0000 to 12)'
    )
    assert str(answer) == repr(answer)
    assert answer.part.sentence() == repr(answer.part) == "Part(size 1e-07)"


def test_the_frame_has_a_row_for_each_entry_of_the_columns(answer):
    expected = {
        "name": [7, 8],
        "share": [0.5, np.nan],
        "interval_low": [0.0, np.nan],
        "interval_high": [1.0, np.inf],
        "n_samples": [20, 20],
    }
    pd.testing.assert_frame_equal(answer.frame(), pd.DataFrame(expected))


def test_without_rows_the_frame_has_one_of_numbers_and_text():
    @dataclass(frozen=True, eq=False, repr=False)
    class Plain(Result):
        word: str
        interval: Range
        many: Floats

    frame = Plain("w", (1.0, 2.0), np.zeros(3)).frame()
    assert frame.to_dict("list") == {"word": ["w"], "interval_low": [1.0], "interval_high": [2.0]}


def test_the_dict_holds_every_attribute_as_json_can_have_it(answer):
    found = answer.to_dict()
    assert found == {
        "sentence": "It is so.",
        "estimate": 0.25,
        "interval": [0.125, 0.5],
        "confidence": 0.9,
        "reached": 1234.5678,
        "names": [7, 8],
        "share": [0.5, None],
        "share_interval": [[0.0, 1.0], [None, None]],
        "is_odd": [True, False],
        "n_samples": 20,
        "n_rows": 10,
        "n_classes": 2,
        "word": "it's",
        "part": {"size": 1e-7},
        "pair": {"first": 3, "second": "2020-01-01"},
        "by_name": {"3": 0.5},
        "bounds": [0.0, 12.0],
        "nothing": None,
        "findings": [{"code": "BF001", "sentence": "What.", "hint": "Do."}],
        "double": 0.5,
    }
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_it_is_drawn_by_its_display(answer):
    columns = {"measure": ["m"], "value": [0.1], "interval_low": [0.0], "interval_high": [0.2]}
    display = answer.plot(columns=columns)
    assert isinstance(display, VoteFloorDisplay)
    assert (display.columns, display.confidence) == (columns, 0.9)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        answer.plot(columns=columns, colour="red")


def test_columns_are_of_one_length():
    found = columns_of({"a": np.arange(3), "reached_interval": (0.0, 1.0), "text": "x", "b": ("p", "q", "r")})
    assert {name: list(value) for name, value in found.items()} == {
        "a": [0, 1, 2],
        "reached_low": [0.0] * 3,
        "reached_high": [1.0] * 3,
        "text": ["x"] * 3,
        "b": ["p", "q", "r"],
    }


def test_plain_values_stay_as_they_are():
    values = {"a": [1, 2.5, "x", None, True], "b": {"c": []}}
    assert plain(values) == values


def test_no_record_has_more_than_seventeen_fields():
    from dataclasses import fields, is_dataclass

    kinds = {name: getattr(results, name) for name in results.__all__}
    many = {name for name, kind in kinds.items() if is_dataclass(kind) and len(fields(kind)) > 17}
    assert not many
