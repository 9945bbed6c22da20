"""How much a Parquet file unpacks to, from the headers of its pages, before any of them is unpacked.

A page of a few kilobytes can hold gigabytes of text. The file's own summary may say otherwise, so that only the headers
of the pages themselves are believed: a reader allocates what they say. Headers are Thrift structs in the compact
protocol, read here into dictionaries from field numbers to values.
"""

from collections import Counter
from typing import Any

#: Physical type of text, and of binary values of any length.
_BYTE_ARRAY = 6
#: Deepest nesting of structs and lists; the format needs eight.
_DEEPEST = 32


class _Reader:
    """A Thrift struct in the compact protocol, and where it ends."""

    def __init__(self, data: bytes, place: int):
        self.data = data
        self.place = place

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.place]
            self.place += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("a number of more than 64 bits")

    def integer(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def struct(self, depth: int = 0) -> dict[int, Any]:
        if depth > _DEEPEST:
            raise ValueError("a header that is too deep")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self.integer()
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth + 1)
        return fields

    def _byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self.integer()
        if kind in (7, 8):  # a double, or bytes after their number
            length = 8 if kind == 7 else self.varint()
            self.place += length
            if self.place > len(self.data):
                raise ValueError("a header that is cut off")
            return self.data[self.place - length : self.place]
        if kind in (9, 10):  # a list or a set
            head = self._byte()
            length = head >> 4 if head >> 4 < 15 else self.varint()
            if length > len(self.data):
                raise ValueError("a list that is longer than the file")
            return [self._value(head & 15, depth + 1) for _ in range(length)]
        if kind == 12:
            return self.struct(depth)
        raise ValueError(f"a header with a value of kind {kind}")


def unpacked_sizes(data: bytes) -> tuple[int, int, int, int]:
    """Count what the columns of a Parquet file unpack to; columns of lists and structs are left out.

    Parameters
    ----------
    data : bytes
        The file.

    Returns
    -------
    n_rows, n_columns : int
        Its rows, by its summary or by its pages, whichever are more, and its columns, those left out among them.
    n_text_bytes, n_other_bytes : int
        Unpacked bytes of columns of text, and of all others.

    Raises
    ------
    ValueError
        When its headers cannot be read.
    """
    try:
        length = int.from_bytes(data[-8:-4], "little")
        if data[-4:] != b"PAR1" or length + 12 > len(data):
            raise ValueError("no footer")
        footer = _Reader(data, len(data) - 8 - length).struct()
        n_columns = int(footer[2][0].get(5, 0))  # the root of the schema counts its children
        if n_columns < 0:
            raise ValueError("a negative number of columns")
        sizes = {True: 0, False: 0}
        n_values = Counter[bytes]()
        for group in footer.get(4, ()):
            for chunk in group[1]:
                about = chunk[3]
                if len(about[3]) == 1:
                    n_bytes, n_own = _sizes_of_pages(data, about)
                    sizes[about[1] == _BYTE_ARRAY] += n_bytes
                    n_values[about[3][0]] += n_own
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"headers that cannot be read ({type(error).__name__})") from error
    n_rows = max(int(footer.get(3, 0)), *n_values.values(), 0)
    return n_rows, n_columns, sizes[True], sizes[False]


def _sizes_of_pages(data: bytes, about: dict[int, Any]) -> tuple[int, int]:
    """Add up the unpacked pages of one column in one group of rows: bytes, and values."""
    start = min(place for place in (about[9], about.get(11) or about[9]) if place)
    end, total, n_values = start + about[7], 0, 0
    reader = _Reader(data, start)
    while reader.place < end:
        page = reader.struct()
        total += page[2]
        n_values += (page.get(5) or page.get(8) or {1: 0})[1]  # a page of data, of either version
        if page[2] < 0 or page[3] < 0:
            raise ValueError("a page of a negative size")
        reader.place += page[3]
    return total, n_values
