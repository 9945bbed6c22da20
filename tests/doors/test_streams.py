"""Files that are none, links and folders without a right to write: what a command says before it begins to work."""

import os

import pytest

from helpers.one_case import for_each
from helpers.terminal import complaint

pytestmark = pytest.mark.skipif(os.name != "posix", reason="FIFOs, links and devices are those of POSIX")
no_proc = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no /proc here, where nobody may write")


def test_pipes_and_devices_are_no_files(run, table, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for call in ("floor pipe", "predict pipe table.csv", "predict table.csv pipe"):
        assert "'pipe' is not a plain file" in complaint(run(call), 2)
    assert "'/dev/zero' is not a plain file" in complaint(run("floor /dev/zero"), 2)


@for_each("call", ["fit table.csv --out pointer", "report table.csv --effort fast --out pointer.html"])
def test_a_link_to_nothing_is_not_written_through(run, table, tmp_path, call):
    (tmp_path / call.split()[-1]).symlink_to(tmp_path / "elsewhere")
    assert "is a link to a file that is not there; --force writes it" in complaint(run(call), 2)
    assert not (tmp_path / "elsewhere").exists()


@no_proc
def test_a_folder_that_cannot_be_written_to_is_noticed_before_the_work(run):
    for call in ("report table.csv --out /proc/a.html", "fit table.csv --out /proc/a", "predict a t.csv --out /proc/a"):
        assert "'/proc/a" in complaint(run(call), 3)  # whoever begins to work finds no file
