"""The requests behind generated layouts, one JSON object a line, and the relations they ask for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from layoutdm.errors import LayoutdmError
from layoutdm.relations import CANVAS, CANVAS_NAME, CANVAS_NAMES, ELEMENT_NAMES
from layoutdm.spec import Spec


def read_requests(path: Path) -> Iterator[Spec]:
    """Requests of a .jsonl file, in order; a bad one raises with its line."""
    if not path.is_file():
        raise LayoutdmError(f"{path}: no such file; it should hold one request a line")
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                yield Spec.parse(json.loads(line))
            except (LayoutdmError, ValueError) as error:
                raise LayoutdmError(f"{path}, line {number}: {error}") from None


def asked_relations(spec: Spec) -> NDArray[np.int64]:
    """(r, 3) rows of, is, to: numbers of the listed elements, -1 for the canvas.

    >>> spec = Spec.parse({"elements": [{"name": "a"}, {"name": "b"}],
    ...                    "relations": [{"of": "b", "is": "below", "to": "a"}]})
    >>> asked_relations(spec).tolist()
    [[1, 8, 0]]
    """
    place = {element.name: row for row, element in enumerate(spec.elements) if element.name}
    rows = []
    for relation in spec.relations:
        if relation.to == CANVAS_NAME:
            rows.append((place[relation.of], int(CANVAS_NAMES[relation.is_]), CANVAS))
        else:
            rows.append((place[relation.of], int(ELEMENT_NAMES[relation.is_]), place[relation.to]))
    return np.array(rows, dtype=np.int64).reshape(-1, 3)
