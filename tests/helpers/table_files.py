"""Files of any content, and that they are refused in one line that names them."""

import re

import pytest

from bayesfloor import read_table


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file and return its path."""

    def write(content, name="data.csv", encoding="utf-8"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write


@pytest.fixture
def refused(write):
    """Assert that a file is refused with these words, on one line."""

    def refused(content, words, error=ValueError, name="data.csv", **options):
        with pytest.raises(error, match=re.escape(words)) as caught:
            read_table(write(content, name), **options)
        assert "\n" not in str(caught.value)
        assert name in str(caught.value)

    return refused


def raw(path, **options):
    """Read numbers as they are; text as the options say."""
    prepare = "auto" if options.keys() & {"encode", "categorical", "impute"} else None
    return read_table(path, scale="none", prepare=prepare, **options)
