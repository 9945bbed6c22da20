"""Dense ARFF, and KEEL's dialect of it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bayesfloor.runtime.text import quoted
from bayesfloor.tables.column_builders import BLOCK_ROWS, NumberBuilder, TextBuilder
from bayesfloor.tables.columns import Column, OtherColumn, RawTable, TextColumn, check_names, without_unused
from bayesfloor.tables.sniffing import detect_encoding, open_text
from bayesfloor.tables.unpacking import Contents, check_n_columns, check_size

#: Maximum number of values in a block of rows: rows can be wide.
_BLOCK_CELLS = 2_000_000
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
_VALUE = re.compile(rf"\s*({_QUOTED}|[^,'\"\s][^,]*|)\s*(,|$)")
_NUMERIC = ("numeric", "real", "integer")
_ARFF_MISSING = frozenset({"?", "<null>", ""})


@dataclass(frozen=True)
class Attribute:
    """A column as the header declares it: ``kind`` is "number", "nominal", "text" or another type's name."""

    name: str
    kind: str
    values: tuple[str, ...] = ()


def looks_like_arff(data: bytes) -> bool:
    """Tell whether a text begins with a relation or an attribute, after comments."""
    for line in data[:65536].lstrip(b"\xef\xbb\xbf").splitlines():
        text = line.strip().lower()
        if text and not text.startswith(b"%"):
            return text.startswith((b"@relation", b"@attribute"))
    return False


def read_arff(contents: Contents) -> RawTable:
    """Read an ARFF or KEEL file.

    Parameters
    ----------
    contents : Contents
        The file.

    Returns
    -------
    RawTable
        Nominal columns keep the declared order of their values. KEEL's ``@outputs`` is the target.

    Raises
    ------
    ValueError
        Naming the line: a header that cannot be read, sparse rows or those of another length, values that are no
        numbers or not among those declared.
    """
    name = contents.name
    encoding, reason = detect_encoding(contents.data, name)
    lines = enumerate(open_text(contents.data, encoding), start=1)
    attributes, outputs, relation = _read_header(lines, name)
    check_n_columns(len(attributes), name)
    check_names([attribute.name for attribute in attributes], name)
    builders = [_builder(attribute) for attribute in attributes]
    starts: list[int] = []
    rows: list[list[str]] = []
    for number, line in lines:
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        if line.startswith("{"):
            raise ValueError(
                f"{name}, line {number}: sparse rows are not read; write dense ones, as Weka's SparseToNonSparse does"
            )
        row = split_values(line, f"{name}, line {number}")
        if len(row) != len(attributes):
            raise ValueError(f"{name}, line {number}: {len(row)} values, but {len(attributes)} attributes are declared")
        rows.append(row)
        starts.append(number)
        if len(rows) == BLOCK_ROWS or len(rows) * len(attributes) > _BLOCK_CELLS:
            check_size(len(starts), len(attributes), name)
            _add(builders, rows)
            rows = []
    check_size(len(starts), len(attributes), name)
    _add(builders, rows)
    if not starts:
        raise ValueError(f"{name} has a header and no rows")

    table = RawTable(name, [], len(starts), np.array(starts, dtype=np.int64))
    table.columns = [_finish(a, b, table) for a, b in zip(attributes, builders, strict=True)]
    kind = "KEEL" if outputs else "ARFF"
    parts = [f"{kind} file, relation {relation!r}", f"encoding {encoding}" + (f" ({reason})" if reason else "")]
    table.notes = [", ".join(parts) + "."]
    if len(outputs) == 1:
        (table.target,) = outputs
    elif outputs:
        raise ValueError(f"{name} has {len(outputs)} outputs; one is needed")
    return table


def _read_header(lines: Iterator[tuple[int, str]], name: str) -> tuple[list[Attribute], list[str], str]:
    """Read up to ``@data``: the attributes, the outputs that KEEL names, and the relation."""
    attributes: list[Attribute] = []
    outputs: list[str] = []
    relation = ""
    for number, line in lines:
        line = line.strip().lstrip("\ufeff")
        word = line.split(None, 1)[0].lower() if line else ""
        if not line or line.startswith("%") or word in ("@inputs", "@input"):
            continue
        if word == "@relation":
            relation = _unquoted(line[len(word) :].strip())
        elif word in ("@outputs", "@output"):
            outputs = [_unquoted(text.strip()) for text in line[len(word) :].split(",")]
        elif word == "@attribute":
            attributes.append(_read_attribute(line, f"{name}, line {number}"))
        elif word == "@data":
            if not attributes:
                raise ValueError(f"{name}, line {number}: @data before any @attribute")
            return attributes, outputs, relation
        else:
            raise ValueError(f"{name}, line {number}: {quoted(line)} is no part of an ARFF header")
    raise ValueError(f"{name} ends before @data")


def _read_attribute(line: str, where: str) -> Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None or not match[2]:
        raise ValueError(f"{where}: {quoted(line)} is no attribute with a name and a type")
    name, declared = _unquoted(match[1]), match[2].strip()
    if declared.startswith("{"):
        if not declared.endswith("}"):
            raise ValueError(f"{where}: the values of attribute {name!r} are not closed by }}")
        return Attribute(name, "nominal", tuple(split_values(declared[1:-1], where)))
    word = re.split(r"[\s\[]", declared, maxsplit=1)[0].lower()
    if word in _NUMERIC:
        return Attribute(name, "number")
    return Attribute(name, "text" if word == "string" else word)


def split_values(line: str, where: str) -> list[str]:
    """Split a row at its commas; quotes, single or double, keep commas and blanks inside a value."""
    if "'" not in line and '"' not in line:
        return [text.strip() for text in line.split(",")]
    values, place = [], 0
    while True:
        match = _VALUE.match(line, place)
        if match is None:
            raise ValueError(f"{where}: a quote is not closed, or text follows it, at {quoted(line[place:])}")
        values.append(_unquoted(match[1].strip()))
        place = match.end()
        if not match[2]:
            return values


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _builder(attribute: Attribute) -> NumberBuilder | TextBuilder:
    if attribute.kind == "number":
        return NumberBuilder(attribute.name)
    return TextBuilder(attribute.name, missing=_ARFF_MISSING)


def _add(builders: Sequence[NumberBuilder | TextBuilder], rows: list[list[str]]) -> None:
    if rows:
        for builder, texts in zip(builders, zip(*rows, strict=True), strict=True):
            builder.add(texts)


def _finish(attribute: Attribute, builder: NumberBuilder | TextBuilder, table: RawTable) -> Column:
    if isinstance(builder, NumberBuilder):
        builder.complain(table, "; the header declares it as numeric")
        return builder.column()
    if attribute.kind == "text":
        return builder.column()
    if attribute.kind != "nominal":
        return OtherColumn(attribute.name, attribute.kind)
    text_codes = builder.codes
    texts = list(builder.code_of)
    missing = _ARFF_MISSING - set(attribute.values)
    place = {value.strip(): code for code, value in enumerate(attribute.values)}
    new_code = np.array([-1 if text in missing else place.get(text, -2) for text in texts], dtype=np.int64)
    codes = new_code[text_codes]
    if (codes == -2).any():
        row = int(np.flatnonzero(codes == -2)[0])
        text = texts[text_codes[row]]
        declared = ", ".join(attribute.values[:8]) + (" …" if len(attribute.values) > 8 else "")
        raise ValueError(
            f"{table.at(row)}, column {attribute.name!r}: {quoted(text)} is not among its declared values {declared}"
        )
    return without_unused(TextColumn(attribute.name, tuple(place), codes))
