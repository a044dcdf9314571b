"""The part of the element network's graph that scores values by what they would repeat.

See `networks/repeats.py`, whose steps these are, for both axes at once.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from layoutdm.train.networks import NetworkConfig
from layoutdm.train.networks.repeats import EDGES, FAR, GAPS, LENGTHS, MOST, SAME, SCALE
from layoutdm.train.onnx_nodes import Graph
from layoutdm.train.onnx_sight import Sight


def repeat_scores(
    graph: Graph, config: NetworkConfig, x: str, label: str, places: str, sight: Sight
) -> tuple[str, str]:
    """Scores of the values of all boxes, and of the lines of all edges with a 0 at the end.

    (batch, asked, values), (batch, asked, 4 (lines + 1) + 1). x (batch, asked, width); label
    (batch, asked, 1); places (batch, slots, 4): left, top, right, bottom of all elements.
    """
    same, on_edges, gaps, lengths = _weights(graph, config, label, sight)
    more = graph.op("Add", graph.linear(x, "repeat.more"), graph.number(1.0))
    more = graph.op("Unsqueeze", graph.op("Transpose", more, perm=[0, 2, 1]), graph.ints(3))
    more_same, more_edges, more_gaps = graph.ops(
        "Split", more, graph.ints(SAME, 4, GAPS), outputs=3, axis=1
    )
    values = _values(graph, config, same, more_same)
    sides = graph.op("Gather", places, graph.ints(0, 2, 1, 3), axis=2)
    sides = graph.op("Transpose", sides, perm=[0, 2, 1])  # left, right, top, bottom
    hot = _near(graph, sides, config.edges, 3)
    hot = graph.op("Gather", hot, graph.ints(0, 1, 0, 1, 2, 3, 2, 3), axis=1)
    found = graph.op("MatMul", on_edges, hot)
    found = graph.op("Reshape", found, graph.ints(0, 4, 2, -1, config.edges))
    found = graph.op("ReduceSum", found, graph.ints(2), keepdims=0)
    found = graph.op("Mul", found, more_edges)
    after = graph.op("Mul", _gaps(graph, config, places, gaps, lengths, sight), more_gaps)
    x_after, y_after = graph.ops("Split", after, graph.ints(1, 1), outputs=2, axis=1)
    nothing = graph.op("Mul", x_after, graph.number(0.0))
    after = graph.op("Concat", x_after, nothing, y_after, nothing, axis=1)
    lines = _bounded(graph, graph.op("Add", found, after))
    lines = graph.op("Pad", lines, graph.ints(0, 0, 0, 0, 0, 0, 0, 1), graph.number(0.0))
    lines = graph.op("Transpose", lines, perm=[0, 2, 1, 3])
    lines = graph.op("Reshape", lines, graph.ints(0, 0, 4 * (config.edges + 1)))
    return values, graph.op("Pad", lines, graph.ints(0, 0, 0, 0, 0, 1), graph.number(0.0))


def _weights(graph: Graph, config: NetworkConfig, label: str, sight: Sight) -> list[str]:
    """Of each kind of repeating, (batch, tables, asked, slots)."""
    labels = graph.op("Gather", "tokens", graph.scalar(0), axis=2)
    row = graph.op("Mul", label, graph.ints(config.sizes[0] + 2))
    pair = graph.op("Add", row, graph.op("Unsqueeze", labels, graph.ints(1)))
    table = graph.op("Mul", graph.weight("repeat.tables"), graph.number(SCALE))
    weights = graph.op("Transpose", graph.op("Gather", table, pair, axis=0), perm=[0, 3, 1, 2])
    others = graph.op("Unsqueeze", sight.others, graph.ints(1))
    weights = graph.op("Where", others, weights, graph.number(0.0))
    splits = graph.ints(SAME, EDGES, GAPS, LENGTHS)
    return graph.ops("Split", weights, splits, outputs=4, axis=1)


def _values(graph: Graph, config: NetworkConfig, same: str, more: str) -> str:
    """How many have the same value, for all values of all boxes in a row."""
    sizes = config.sizes[1:]
    most = max(sizes)
    boxes = graph.op("Gather", "tokens", graph.ints(1, 2, 3, 4), axis=2)
    hot = _one_hot(graph, graph.op("Transpose", boxes, perm=[0, 2, 1]), most, 3)
    found = _bounded(graph, graph.op("Mul", graph.op("MatMul", same, hot), more))
    found = graph.op("Transpose", found, perm=[0, 2, 1, 3])
    found = graph.op("Reshape", found, graph.ints(0, 0, 4 * most))
    found = graph.op("Pad", found, graph.ints(0, 0, 0, 0, 0, 1), graph.number(0.0))
    columns = [np.append(a * most + np.arange(size), 4 * most) for a, size in enumerate(sizes)]
    return graph.op("Gather", found, graph.constant(np.concatenate(columns)), axis=2)


def _gaps(
    graph: Graph, config: NetworkConfig, places: str, gaps: str, lengths: str, sight: Sight
) -> str:
    """See `repeated_gaps`; (batch, 2, asked, lines)."""
    lines = graph.scalar(config.edges)
    start, end = _starts_and_ends(graph, places)
    mine = graph.op("GatherND", places, graph.op("Unsqueeze", "asked", graph.ints(2)), batch_dims=1)
    my_start, my_end = _starts_and_ends(graph, mine)
    other = graph.ints(1, 0)
    across = [graph.op("Gather", part, other, axis=1) for part in (start, end)]
    my_across = [graph.op("Gather", part, other, axis=1) for part in (my_start, my_end)]

    gap = graph.op("Sub", _column(graph, start), _row(graph, end))
    known = graph.op("Less", graph.op("Max", start, end), lines)
    labels = graph.op("Gather", "tokens", graph.ints(0), axis=2)
    labels = graph.op("Unsqueeze", labels, graph.ints(1))
    alike = graph.op("Equal", labels, graph.op("Transpose", labels, perm=[0, 1, 3, 2]))
    right = graph.op("Not", graph.op("Less", gap, graph.scalar(0)))
    for condition in (
        alike,
        _share_column(graph, across, across, lines),
        _column(graph, known),
        _row(graph, known),
    ):
        right = graph.op("And", right, condition)
    if sight.sees:
        right = graph.op("And", right, graph.op("Unsqueeze", sight.sees, graph.ints(1)))
    smallest = graph.op("ReduceMin", graph.op("Where", right, gap, graph.scalar(FAR)),
                        axes=[3], keepdims=0)  # fmt: skip
    histogram = graph.op("MatMul", lengths, _near(graph, smallest, config.edges, 3))

    unknown = graph.op("Not", graph.op("Less", _column(graph, my_across[0]), lines))
    beside = graph.op("Or", _share_column(graph, my_across, across, lines), unknown)
    beside = graph.op("And", beside, _row(graph, graph.op("Less", end, lines)))
    weight = graph.op("Mul", gaps, graph.op("Cast", beside, to=TensorProto.FLOAT))

    grid = graph.constant(np.arange(config.edges, dtype=np.int64))
    behind = graph.op("Sub", grid, _column(graph, end))  # (batch, 2, slots, lines)
    after = graph.op("Not", graph.op("Less", behind, graph.scalar(0)))
    index = graph.op("Clip", behind, graph.scalar(0), graph.scalar(config.edges - 1))
    shape = graph.op("Shape", weight)
    whole = graph.op("Concat", shape, graph.ints(config.edges), axis=0)
    index = graph.op("Expand", graph.op("Unsqueeze", index, graph.ints(2)), whole)
    spread = graph.op("Expand", graph.op("Unsqueeze", histogram, graph.ints(3)), whole)
    spread = graph.op("GatherElements", spread, index, axis=4)
    after = graph.op("Cast", graph.op("Unsqueeze", after, graph.ints(2)), to=TensorProto.FLOAT)
    weight = graph.op("Mul", graph.op("Unsqueeze", weight, graph.ints(4)), after)
    return graph.op("ReduceSum", graph.op("Mul", weight, spread), graph.ints(3), keepdims=0)


def _share_column(graph: Graph, one: list[str], others: list[str], lines: str) -> str:
    """See `share_column`; (batch, 2, A, S) of starts and ends (batch, 2, A) and (batch, 2, S)."""
    (low, high), (lows, highs) = one, others
    shared = graph.op(
        "Sub",
        graph.op("Min", _column(graph, high), _row(graph, highs)),
        graph.op("Max", _column(graph, low), _row(graph, lows)),
    )
    narrower = graph.op(
        "Min",
        _column(graph, graph.op("Sub", high, low)),
        _row(graph, graph.op("Sub", highs, lows)),
    )
    enough = graph.op("Less", graph.op("Mul", shared, graph.scalar(2)), narrower)
    known = graph.op("Less", graph.op("Max", low, high), lines)
    all_known = graph.op("Less", graph.op("Max", lows, highs), lines)
    found = graph.op("And", graph.op("Not", enough), _column(graph, known))
    return graph.op("And", found, _row(graph, all_known))


def _starts_and_ends(graph: Graph, places: str) -> list[str]:
    """Of (batch, elements, 4) places: left and top, right and bottom, (batch, 2, elements)."""
    sides = graph.op("Transpose", places, perm=[0, 2, 1])
    return graph.ops("Split", sides, graph.ints(2, 2), outputs=2, axis=1)


def _column(graph: Graph, x: str) -> str:
    return graph.op("Unsqueeze", x, graph.ints(3))


def _row(graph: Graph, x: str) -> str:
    return graph.op("Unsqueeze", x, graph.ints(2))


def _one_hot(graph: Graph, index: str, count: int, axis: int) -> str:
    values = graph.constant(np.arange(count, dtype=np.int64))
    hot = graph.op("Equal", graph.op("Unsqueeze", index, graph.ints(axis)), values)
    return graph.op("Cast", hot, to=TensorProto.FLOAT)


def _near(graph: Graph, line: str, count: int, axis: int) -> str:
    """See `_near` of the network: 1 at the line, a half beside it."""
    known = graph.op("Less", line, graph.scalar(count))
    line = graph.op("Where", known, line, graph.scalar(-FAR))
    line = graph.op("Unsqueeze", graph.op("Cast", line, to=TensorProto.FLOAT), graph.ints(axis))
    grid = graph.constant(np.arange(count, dtype=np.float32))
    distance = graph.op("Abs", graph.op("Sub", grid, line))
    half = graph.op("Mul", distance, graph.number(0.5))
    return graph.op("Relu", graph.op("Sub", graph.number(1.0), half))


def _bounded(graph: Graph, score: str) -> str:
    scaled = graph.op("Tanh", graph.op("Mul", score, graph.number(1 / MOST)))
    return graph.op("Mul", scaled, graph.number(MOST))
