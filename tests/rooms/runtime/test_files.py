"""Files that appear whole or not at all."""

import errno
import os
import stat

import pytest

from bayesfloor.runtime.files import write_whole


def no_hard_links(*_):
    raise OSError(errno.EPERM, "no hard links here")


@pytest.fixture(params=["hard links", "no hard links"])
def link(request, monkeypatch):
    """What os.link does on this file system, and on one without hard links."""
    if request.param == "no hard links":
        monkeypatch.setattr(os, "link", no_hard_links)
    return os.link


def test_a_new_file_and_one_that_is_replaced(tmp_path, link):
    file = tmp_path / "a.txt"
    write_whole(file, b"one", replace=False)
    assert file.read_bytes() == b"one"
    write_whole(file, b"two")
    with pytest.raises(FileExistsError, match="exists"):
        write_whole(file, b"three", replace=False)
    assert file.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_appears_at_the_last_moment_is_kept(tmp_path, monkeypatch, link):
    file = tmp_path / "a.txt"
    rename = os.replace

    def first_theirs(then):
        def call(*arguments):
            if not file.exists():
                file.write_bytes(b"theirs")
            return then(*arguments)

        return call

    monkeypatch.setattr(os, "link", first_theirs(link))
    monkeypatch.setattr(os, "replace", first_theirs(rename))
    with pytest.raises(FileExistsError, match="exists"):
        write_whole(file, b"ours", replace=False)
    assert file.read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("replace", [True, False])
def test_links_are_followed_only_to_replace(tmp_path, replace):
    pointer, target = tmp_path / "pointer", tmp_path / "target"
    pointer.symlink_to(target)
    if replace:
        write_whole(pointer, b"new")
        assert pointer.is_symlink()
        assert target.read_bytes() == b"new"
    else:
        with pytest.raises(FileExistsError, match="exists"):
            write_whole(pointer, b"new", replace=False)
        assert not target.exists()


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_permissions_are_those_of_any_new_file(tmp_path, monkeypatch):
    (tmp_path / "usual").write_bytes(b"")

    def not_for_threads(_):
        raise AssertionError("the umask is one for all threads")

    monkeypatch.setattr(os, "umask", not_for_threads)
    write_whole(tmp_path / "a.txt", b"new")
    usual, ours = (stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "a.txt"))
    assert ours == usual


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: .*a\.txt"):
        write_whole(tmp_path / "a.txt", b"new", replace=False)
    assert list(tmp_path.iterdir()) == []
