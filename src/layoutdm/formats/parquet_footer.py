"""What a Parquet file says about its sizes, read without the library that would unpack it.

    total, longest = sizes(Path("a.parquet"), frozenset({"bbox", "label"}))

The library ends the whole process over some damaged footers when it is asked about columns one by
one; reading them here, in the compact protocol of Thrift, can only end in an error.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from layoutdm.errors import LayoutdmError

MAGIC = b"PAR1"
BYTE_ARRAY = 6
# Numbers of the fields in the file's metadata, its row groups and their columns.
ROWS, GROUPS, COLUMNS, DETAILS = 3, 4, 1, 3
TYPE, PATH, VALUES, UNPACKED = 1, 3, 5, 6


def sizes(path: Path, columns: frozenset[str]) -> tuple[int, int]:
    """Bytes that these columns unpack to (equal values counted), and the most texts of a chunk."""
    try:
        metadata, _ = _struct(_footer(path), 0)
        total, longest = 8 * int(metadata[ROWS]), 1
        for group in metadata.get(GROUPS, []):
            for column in group[COLUMNS]:
                found = column[DETAILS]
                if found[PATH][0].decode("utf-8", "replace") not in columns:
                    continue
                total += max(int(found[UNPACKED]), 8 * int(found[VALUES]))
                if found[TYPE] == BYTE_ARRAY:
                    longest = max(longest, int(found[UNPACKED]))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
        if isinstance(error, LayoutdmError):
            raise
        raise LayoutdmError(
            f"{path}: is not a readable Parquet file (damaged footer); copy or write it again"
        ) from None
    return total, longest


def _footer(path: Path) -> bytes:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if size < 12:
            raise ValueError
        file.seek(size - 8)
        length, magic = struct.unpack("<I4s", file.read(8))
        if magic != MAGIC or length > size - 8:
            raise ValueError
        file.seek(size - 8 - length)
        return file.read(length)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError


def _whole(data: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def _struct(data: bytes, at: int) -> tuple[dict[int, Any], int]:
    """Field number to value."""
    found: dict[int, Any] = {}
    number = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _whole(data, at)
        kind = head & 0x0F
        if kind in (1, 2):  # a field's truth is in its kind
            found[number] = kind == 1
        else:
            found[number], at = _value(data, at, kind)
    return found, at + 1


def _value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in (1, 2, 3):
        return data[at], at + 1
    if kind in (4, 5, 6):
        return _whole(data, at)
    if kind == 7:
        return None, at + 8
    if kind == 8:
        length, at = _varint(data, at)
        if at + length > len(data):
            raise ValueError
        return data[at : at + length], at + length
    if kind in (9, 10):
        return _list(data, at)
    if kind == 11:
        return _map(data, at)
    if kind == 12:
        return _struct(data, at)
    raise ValueError


def _list(data: bytes, at: int) -> tuple[list[Any], int]:
    head = data[at]
    count, kind, at = head >> 4, head & 0x0F, at + 1
    if count == 15:
        count, at = _varint(data, at)
    items = []
    for _ in range(count):
        item, at = _value(data, at, kind)
        items.append(item)
    return items, at


def _map(data: bytes, at: int) -> tuple[None, int]:
    count, at = _varint(data, at)
    if count:
        kinds, at = data[at], at + 1
        for _ in range(count):
            _, at = _value(data, at, kinds >> 4)
            _, at = _value(data, at, kinds & 0x0F)
    return None, at
