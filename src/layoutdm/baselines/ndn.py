"""NDN: relations first, then boxes, then refinement, by graph networks (Lee et al., ECCV 2020).

A layout is a graph: the canvas and its elements are nodes, and each pair has a relation of place
and one of size. Three parts: (1) relations that are not known are predicted, one network for places
and one for sizes, each with a latent vector a node; (2) boxes are drawn one after the other from
the graph and the boxes so far; (3) all boxes are refined at once. `ndn-none` is given no relations,
`ndn-partial` the tenth that the relation task gives. Where sizes are given (the LayoutDM paper's
adaptation), the second part sees them; relations of size are predicted all the same, where the
paper's smaller count of parameters suggests that it left that network out.

The authors released no code. Relations are those of the LayoutDM paper, elements are decided by
label and then in the order of the request (learned: from the top left). Not copied from the public
re-implementation: a learned prior that is overwritten, activations on means and variances, none
inside the graph layers, and batch norm, which makes a layout depend on its neighbours; layer norm
takes its place. Changed on purpose: a box is drawn knowing its own node as well as the mean of the
graph, which alone would not say whose turn it is; refinement says how far a box moves, not where it
lies, so that an untrained one does no harm; as many relations are hidden in learning as in use
(all, or nine tenths), not half; all parts learn in one run, the second from one element a layout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.baselines.common import (
    Common,
    System,
    batches,
    labels_only,
    put_boxes,
    read_common,
    refusal,
)
from layoutdm.baselines.session import Network, Session
from layoutdm.generator.protocol import Drawn, Options, empty
from layoutdm.relations import CANVAS, CANVAS_BOX, SIZES, Relation, relation_name
from layoutdm.spec import Condition

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Array = NDArray[Any]

RELATE, GENERATE, REFINE = "relations.onnx", "boxes.onnx", "refinement.onnx"
LATENT = 32
UNKNOWN = 0
PLACES = (
    Relation.LEFT_OF, Relation.ABOVE, Relation.RIGHT_OF, Relation.BELOW, Relation.OVERLAPPING,
)  # fmt: skip
PLACE_IDS = {int(code): 1 + i for i, code in enumerate(PLACES)}  # 0: unknown
SIZE_IDS = {int(code): 1 + i for i, code in enumerate(SIZES)}
INVERSE = {
    Relation.LEFT_OF: Relation.RIGHT_OF, Relation.RIGHT_OF: Relation.LEFT_OF,
    Relation.ABOVE: Relation.BELOW, Relation.BELOW: Relation.ABOVE,
    Relation.SMALLER: Relation.LARGER, Relation.LARGER: Relation.SMALLER,
}  # fmt: skip


def pairs(nodes: int) -> tuple[Ints, Ints]:
    """The pairs i < j of nodes; node 0 is the canvas. A relation describes j relative to i."""
    first, second = np.triu_indices(nodes, 1)
    return first.astype(np.int64), second.astype(np.int64)


@dataclass(frozen=True)
class NDNOptions(Options):
    """There is nothing to choose."""


@dataclass(frozen=True, eq=False)
class NDN(System):
    """`relate`, `generate` and `refine` are the three parts; see `learn/ndn.py`."""

    common: Common
    relate: Network
    generate: Network
    refine: Network
    name: str = "ndn-none"
    options: type[NDNOptions] = NDNOptions

    def usual(self, task: str) -> NDNOptions:
        return self.common.options(NDNOptions(), task)

    def refuses(self, condition: Condition) -> str | None:
        partial = self.name == "ndn-partial"
        reason = refusal(self.name, condition, relations=partial)
        return reason or labels_only(self.name, condition) or unknown_relation(condition)

    def draw(
        self,
        conditions: Sequence[Condition],
        options: NDNOptions,
        streams: Sequence[np.random.Generator],
    ) -> Drawn:
        drawn = empty(len(conditions), self.max_elements)
        for group in batches([len(condition) for condition in conditions]):
            found = self._boxes([conditions[i] for i in group], [streams[i] for i in group])
            for i, boxes in zip(group, found, strict=True):
                labels = conditions[i].label_choices.argmax(axis=1)
                put_boxes(drawn, i, labels, boxes, conditions[i])
        return drawn

    def _boxes(
        self, conditions: Sequence[Condition], streams: Sequence[np.random.Generator]
    ) -> list[Floats]:
        """(n, 4) boxes of each condition, in the order of its elements."""
        graph = Graph(conditions, len(self.labels))
        size, nodes = graph.labels.shape
        noise = np.zeros((size, 2, nodes, LATENT), np.float32)
        steps = np.zeros((size, nodes, LATENT), np.float32)
        for row, (condition, stream) in enumerate(zip(conditions, streams, strict=True)):
            n = len(condition) + 1
            noise[row, :, :n] = stream.standard_normal((2, n, LATENT))
            steps[row, :n] = stream.standard_normal((n, LATENT))
        shape = {"labels": graph.labels, "valid": graph.valid}
        shape |= {"first": graph.first, "second": graph.second}
        places, sizes = self.relate(
            **shape, places=graph.places, sizes=graph.sizes, place_noise=noise[:, 0],
            size_noise=noise[:, 1],
        )  # fmt: skip
        shape["places"] = complete(graph.places, places)
        shape["sizes"] = complete(graph.sizes, sizes)
        boxes = graph.boxes.copy()
        for at in range(1, nodes):
            turn = np.full(size, at, np.int64)
            (found,) = self.generate(**shape, boxes=boxes, turn=turn, noise=steps[:, at])
            here = graph.valid[:, at]
            boxes[here, at] = np.where(graph.known[here, at], graph.boxes[here, at], found[here])
        (refined,) = self.refine(**shape, boxes=boxes)
        refined = np.where(graph.known, graph.boxes, refined).astype(np.float64)
        return [graph.in_order(row, refined[row]) for row in range(size)]


def unknown_relation(condition: Condition) -> str | None:
    """Why a request has a relation that no node or pair of the graph can hold."""
    known = {**PLACE_IDS, **SIZE_IDS}
    for _, code, to in condition.relations.tolist():
        if code not in known:
            name = relation_name(code, canvas=to == CANVAS)
            names = ", ".join(relation_name(int(own)) for own in known)
            return f"ndn-partial does not know the relation {name}; it has the paper's: {names}"
    return None


class Graph:
    """Some conditions as graphs: elements by label, the canvas first."""

    def __init__(self, conditions: Sequence[Condition], canvas_label: int) -> None:
        size, nodes = len(conditions), 1 + max(len(condition) for condition in conditions)
        self.first, self.second = pairs(nodes)
        self.labels = np.full((size, nodes), canvas_label, np.int64)
        self.valid = np.zeros((size, nodes), bool)
        self.boxes = np.zeros((size, nodes, 4), np.float32)
        self.known = np.zeros((size, nodes, 4), bool)
        self.places = np.zeros((size, len(self.first)), np.int64)
        self.sizes = np.zeros((size, len(self.first)), np.int64)
        self._order: list[Ints] = []
        number = {pair: k for k, pair in enumerate(zip(self.first, self.second, strict=True))}
        for row, condition in enumerate(conditions):
            labels, n = condition.label_choices.argmax(axis=1), len(condition)
            order = np.argsort(labels, kind="stable")
            self._order.append(order)
            self.labels[row, 1 : n + 1] = labels[order]
            self.valid[row, : n + 1] = True
            self.boxes[row, 0], self.known[row, 0] = CANVAS_BOX, True
            given = np.isfinite(condition.fixed[order])
            self.boxes[row, 1 : n + 1] = np.nan_to_num(condition.fixed[order])
            self.known[row, 1 : n + 1] = given
            node = np.argsort(order) + 1
            for of, code, to in condition.relations:
                j, i = int(node[of]), 0 if to == CANVAS else int(node[to])
                self._relate(row, number, i, j, Relation(int(code)))

    def _relate(self, row: int, number: Mapping[Any, int], i: int, j: int, code: Relation) -> None:
        """j relative to i; where j comes first, i relative to j."""
        if j < i:
            i, j, code = j, i, INVERSE.get(code, code)
        if code in SIZE_IDS:
            self.sizes[row, number[i, j]] = SIZE_IDS[code]
        else:
            self.places[row, number[i, j]] = PLACE_IDS[code]

    def in_order(self, row: int, boxes: Floats) -> Floats:
        """Boxes of nodes as boxes of the condition's elements."""
        order = self._order[row]
        found = np.zeros((len(order), 4))
        found[order] = boxes[1 : len(order) + 1]
        return found


def complete(known: Ints, scores: Array) -> Ints:
    """Relations that are not known become the likeliest; scores are of all but unknown.

    >>> complete(np.array([[0, 2]]), np.array([[[0.1, 0.9, 0.0], [1.0, 0.0, 0.0]]])).tolist()
    [[2, 2]]
    """
    return np.where(known == UNKNOWN, 1 + scores.argmax(axis=-1), known).astype(np.int64)


def load(
    folder: Path, record: Mapping[str, Any], fingerprint: str, threads: int | None = None
) -> NDN:
    """The generator of a model folder; `record` is its config.json."""
    common = read_common(folder, record, fingerprint)
    parts = [Session(folder / name, threads) for name in (RELATE, GENERATE, REFINE)]
    return NDN(common, parts[0], parts[1], parts[2], str(record["generator"]))
