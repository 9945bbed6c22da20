"""Every fault of benchmarks/tools/planted_faults.py can be planted: a line that changes takes its fault along."""

from benchmarks.tools.planted_faults import FAULTS, planted, stale


def test_every_fault_can_be_planted():
    assert stale(FAULTS) == []
    assert all(fault.new in planted(fault) for fault in FAULTS)


def test_a_stale_fault_is_named():
    gone = [FAULTS[0]._replace(old="a line that is gone"), FAULTS[1]._replace(file="data/gone.py")]
    assert [line.partition(":")[0] for line in stale(gone)] == [FAULTS[0].file, "data/gone.py"]
    untested = FAULTS[0]._replace(tests="runtime/test_gone.py")
    assert stale([untested]) == [f"{untested.file}: no tests runtime/test_gone.py"]
