"""The part of the element network's graph that says who sees whom; see `networks/sight.py`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from onnx import TensorProto

from layoutdm.train.networks import NetworkConfig
from layoutdm.train.onnx_nodes import Graph

HIDDEN = -1e4  # added to the score of what is not seen


@dataclass(frozen=True)
class Sight:
    """Names in the graph.

    asked (batch, asked, 1): places of those that are asked about, after the first token. wanted
    (batch, n, 1): places of the sequence whose last values are asked for; "": all. others (batch,
    asked, slots): with whom each is compared. sees (batch, slots, slots): whose gaps reach to
    whom; "": to all. mask (batch, n): what may be attended to; or bias (batch, 1, n, n) and
    bias_of_wanted, for networks that learn in turn.
    """

    mask: str = ""
    asked: str = ""
    wanted: str = ""
    others: str = ""
    sees: str = ""
    bias: str = ""
    bias_of_wanted: str = ""

    @property
    def of_all(self) -> tuple[str, ...]:
        """Further inputs of attention, for all places."""
        return ("", "", self.bias) if self.bias else (self.mask,)

    @property
    def of_wanted(self) -> tuple[str, ...]:
        """Further inputs of attention, for the wanted places."""
        return ("", self.bias_of_wanted) if self.bias else (self.mask,)


def in_front(graph: Graph, x: str, value: str, axes: int) -> str:
    """A row of this value before the others on the second of so many axes."""
    pads = [0] * (2 * axes)
    pads[1] = 1
    return graph.op("Pad", x, graph.ints(*pads), value)


def who_sees_whom(graph: Graph, config: NetworkConfig) -> Sight:
    """Of the element network: the first token, the elements and, in turn, the asked ones again."""
    places = graph.op("Add", "asked", graph.ints(1))
    asked = graph.op("Unsqueeze", places, graph.ints(2))
    slot = _range(graph, _length(graph, "valid"))
    other = graph.op("Not", graph.op("Equal", graph.op("Unsqueeze", "asked", graph.ints(2)), slot))
    if not config.in_turn:
        shown = graph.constant(np.array(1, dtype=np.int32))
        mask = in_front(graph, graph.op("Cast", "valid", to=TensorProto.INT32), shown, 2)
        wanted = graph.op("Unsqueeze", in_front(graph, places, graph.scalar(0), 2), graph.ints(2))
        return Sight(mask=mask, asked=asked, wanted=wanted, others=other)
    sizes = graph.ints(*config.sizes)
    decided = graph.op("Cast", graph.op("Less", "tokens", sizes), to=TensorProto.INT32)
    whole = graph.op("ReduceMin", decided, axes=[2], keepdims=0)
    whole = graph.op("And", graph.op("Cast", whole, to=TensorProto.BOOL), "valid")
    unfinished = graph.op("And", "valid", graph.op("Not", whole))
    sees = _among(graph, whole, unfinished)
    valid = graph.op("Unsqueeze", "valid", graph.ints(1))
    looks = graph.op("And", other, valid)
    bias = _joined(graph, sees, looks, valid)
    wanted = _wanted(graph)
    flat = graph.op("Squeeze", graph.op("Slice", wanted, *map(graph.ints, (0, 1, 0))),
                    graph.ints(0, 2))  # fmt: skip
    return Sight(
        asked=asked, wanted=wanted, sees=sees, bias=bias,
        bias_of_wanted=graph.op("Gather", bias, flat, axis=2),
        others=graph.op("And", other, graph.op("Unsqueeze", whole, graph.ints(1))),
    )  # fmt: skip


def _among(graph: Graph, whole: str, unfinished: str) -> str:
    """See `sight.among`."""

    def both(part: str) -> str:
        return graph.op("And", _column(graph, part), _row(graph, part))

    mine, theirs = _column(graph, "turn"), _row(graph, "turn")
    earlier = graph.op("And", both(whole), graph.op("Less", theirs, mine))
    later = graph.op("And", both(unfinished), graph.op("Greater", theirs, mine))
    return graph.op("Or", earlier, later)


def _joined(graph: Graph, sees: str, looks: str, valid: str) -> str:
    """See `sight.joined`, as what is added to scores: 0 for what is seen."""
    rows = [graph.op("Cast", part, to=TensorProto.INT32) for part in (valid, sees, looks)]
    found = graph.op("Concat", *rows, axis=1)
    count = _length(graph, "asked", keep=True)
    pads = graph.op("Concat", graph.ints(0, 0, 1, 0, 0), count, axis=0)
    found = graph.op("Pad", found, pads, graph.constant(np.array(0, dtype=np.int32)))
    place = _range(graph, _length(graph, found))
    itself = graph.op("Equal", graph.op("Unsqueeze", place, graph.ints(1)), place)
    found = graph.op("Or", graph.op("Cast", found, to=TensorProto.BOOL), itself)
    found = graph.op("Unsqueeze", found, graph.ints(1))
    return graph.op("Where", found, graph.number(0.0), graph.number(HIDDEN))


def _wanted(graph: Graph) -> str:
    """The first token, and the asked elements at the end of the sequence; (batch, 1 + asked, 1)."""
    slots = _length(graph, "valid", keep=True)
    after = graph.op("Add", _range(graph, _length(graph, "asked")), graph.ints(1))
    after = graph.op("Add", after, slots)
    found = graph.op("Mul", "asked", graph.scalar(0))  # as many rows as there are layouts
    found = in_front(graph, graph.op("Add", found, after), graph.scalar(0), 2)
    return graph.op("Unsqueeze", found, graph.ints(2))


def _length(graph: Graph, x: str, *, keep: bool = False) -> str:
    """Of the second axis."""
    shape = graph.op("Shape", x)
    return graph.op("Gather", shape, graph.ints(1) if keep else graph.scalar(1), axis=0)


def _range(graph: Graph, length: str) -> str:
    return graph.op("Range", graph.scalar(0), length, graph.scalar(1))


def _column(graph: Graph, x: str) -> str:
    return graph.op("Unsqueeze", x, graph.ints(2))


def _row(graph: Graph, x: str) -> str:
    return graph.op("Unsqueeze", x, graph.ints(1))
