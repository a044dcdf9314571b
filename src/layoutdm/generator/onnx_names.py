"""Names of an ONNX file's inputs and outputs, read without loading its weights.

A model folder may hold any file: what is not a layout model is refused after a few kilobytes, not
after ONNX Runtime has unpacked it. An ONNX file is a protocol buffer: fields, each with a number, a
kind and (kind 2) a length, so everything else is skipped. The numbers are those of onnx.proto.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

GRAPH, INPUT, OUTPUT, NAME = 7, 11, 12, 1  # Model.graph, Graph.input and .output, ValueInfo.name
MOST_FIELDS = 1_000_000
LONGEST = 100_000  # bytes of one input's or output's description


def names(path: Path) -> tuple[list[str], list[str]]:
    """Inputs and outputs in their order; ValueError where the file is no ONNX file."""
    inputs: list[str] = []
    outputs: list[str] = []
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        for number, start, end in _fields(file, 0, size):
            if number != GRAPH:
                continue
            for inner, begin, stop in _fields(file, start, end):
                if inner in (INPUT, OUTPUT) and stop - begin <= LONGEST:
                    (inputs if inner == INPUT else outputs).append(_name(file, begin, stop))
    if not outputs:
        raise ValueError("it has no outputs")
    return inputs, outputs


def _name(file: BinaryIO, start: int, end: int) -> str:
    for number, begin, stop in _fields(file, start, end):
        if number == NAME:
            file.seek(begin)
            return file.read(stop - begin).decode("utf-8", "replace")
    return ""


def _fields(file: BinaryIO, start: int, end: int) -> list[tuple[int, int, int]]:
    """(number, first byte, byte after the last) of every field with a length."""
    found: list[tuple[int, int, int]] = []
    at = start
    for _ in range(MOST_FIELDS):
        if at >= end:
            return found
        file.seek(at)
        key, at = _varint(file, at)
        kind = key & 7
        if key >> 3 == 0:
            raise ValueError("it is not a protocol buffer")
        if kind == 0:
            _, at = _varint(file, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        elif kind == 2:
            length, at = _varint(file, at)
            found.append((key >> 3, at, at + length))
            at += length
        else:
            raise ValueError("it is not a protocol buffer")
        if at > end:
            raise ValueError("it is cut off")
    raise ValueError("it has too many fields")


def _varint(file: BinaryIO, at: int) -> tuple[int, int]:
    value = 0
    for place in range(10):
        byte = file.read(1)
        if not byte:
            raise ValueError("it is cut off")
        value |= (byte[0] & 127) << (7 * place)
        if byte[0] < 128:
            return value, at + place + 1
    raise ValueError("it is not a protocol buffer")
