"""Public records can be compared: by value where all of their fields can be, else by identity."""

import dataclasses

import numpy as np

import bayesfloor
from bayesfloor import results

#: Records of plain numbers and text alone.
BY_VALUE = {results.ClassNode, results.Finding}


def test_two_readings_of_a_table_can_be_compared(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("x,kind\n1,a\n2,b\n3,a\n")
    first, second = bayesfloor.read_table(file), bayesfloor.read_table(file)
    assert first == first
    assert first != second
    assert len({first, second}) == 2


def test_records_that_hold_arrays_compare_by_identity():
    public = [getattr(results, name) for name in results.__all__]
    records = {kind for kind in public if isinstance(kind, type) and dataclasses.is_dataclass(kind)}
    assert records > BY_VALUE
    for kind in records - BY_VALUE:
        first, second = object.__new__(kind), object.__new__(kind)
        for record in (first, second):
            for field in dataclasses.fields(kind):
                object.__setattr__(record, field.name, np.zeros(2))
        assert first == first
        assert first != second
        assert len({first, second}) == 2
