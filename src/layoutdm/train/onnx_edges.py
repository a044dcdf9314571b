"""The part of the element network's graph that embeds edges and scores values by them.

For one layout an operator costs more by being there than by what it computes, so both axes and all
four edges go through the same operators.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from layoutdm.train.networks import NetworkConfig
from layoutdm.train.networks.edges import NO_EDGE, edge_tables
from layoutdm.train.networks.element import COVER
from layoutdm.train.onnx_nodes import MICROSOFT, Graph
from layoutdm.train.onnx_repeats import repeat_scores
from layoutdm.train.onnx_sight import Sight

STARTS_FIRST = (0, 2, 1, 3)  # the order of edges in this graph: left, top, right, bottom


def edge_rows(graph: Graph, config: NetworkConfig) -> str:
    """Where the flattened edge tables hold the four edges of each element: (batch, slots, 4)."""
    tables = edge_tables(config.centres, config.edges)
    starts = np.cumsum([0, *(table.size for table in tables)])[:-1].astype(np.int64)
    pick = np.zeros((5, 4), dtype=np.int64)  # tokens to rows: size * columns + centre
    for column, k in enumerate(STARTS_FIRST):
        pick[1 + k // 2, column], pick[3 + k // 2, column] = 1, tables[k].shape[1]
    found = graph.op("MatMul", "tokens", graph.constant(pick))
    return graph.op("Add", found, graph.constant(starts[list(STARTS_FIRST)]))


def edge_places(graph: Graph, config: NetworkConfig, rows: str) -> str:
    """Where the four edges of each element are, (batch, slots, 4)."""
    tables = edge_tables(config.centres, config.edges)
    flat = graph.constant(np.concatenate([table.ravel() for table in tables]))
    return graph.op("Gather", graph.op("Cast", flat, to=TensorProto.INT64), rows, axis=0)


def _cover_weights(graph: Graph, config: NetworkConfig, label: str, sight: Sight) -> str:
    """What it costs the asked element i to cover a line of element j, (batch, 1, j, i)."""
    labels = graph.op("Gather", "tokens", graph.scalar(0), axis=2)
    other = graph.op("Reshape", labels, graph.ints(0, 1, -1, 1))
    row = graph.op("Mul", label, graph.ints(config.sizes[0] + 2))
    mine = graph.op("Reshape", row, graph.ints(0, 1, 1, -1))
    flat = graph.op("Reshape", graph.weight("cover"), graph.ints(-1))
    weight = graph.op("Gather", flat, graph.op("Add", mine, other), axis=0)
    others = graph.op("Transpose", sight.others, perm=[0, 2, 1])
    others = graph.op("Unsqueeze", others, graph.ints(1))
    return graph.op("Where", others, weight, graph.number(0.0))


def _covered_before(
    graph: Graph, config: NetworkConfig, label: str, rows: str, scale: str, sight: Sight
) -> str:
    """For each axis and line, what of other elements lies before it: (batch, asked, 2 lines + 2).

    See ElementNetwork._covered. What a box covers is this at its end, less this at its start.
    """
    lines = config.edges
    tables = edge_tables(config.centres, lines)
    for k in (0, 2):  # boxes that begin outside the canvas cover it from its first line
        tables[k] = np.where(tables[k] == lines, 0, tables[k]).astype(np.int16)
    flat = graph.constant(np.concatenate([table.ravel() for table in tables]))
    sides = graph.op("Gather", graph.op("Cast", flat, to=TensorProto.FLOAT), rows, axis=0)
    asked = graph.op("Unsqueeze", "asked", graph.ints(2))
    mine = graph.op("GatherND", sides, asked, batch_dims=1)
    my_start, my_end = _starts_and_ends(graph, mine, 2)  # as rows
    start, end = _starts_and_ends(graph, sides, 3)  # as columns
    shared = graph.op("Sub", graph.op("Min", my_end, end), graph.op("Max", my_start, start))
    whole = graph.op("Max", graph.op("Sub", my_end, my_start), graph.number(1.0))
    share = graph.op("Div", graph.op("Relu", shared), whole)
    share = graph.op("Gather", share, graph.ints(1, 0), axis=1)  # of the other axis
    grid = graph.constant(np.arange(lines + 1, dtype=np.float32))
    extent = graph.op("Relu", graph.op("Sub", end, start))
    within = graph.op("Min", graph.op("Relu", graph.op("Sub", grid, start)), extent)
    weight = graph.op("Mul", share, _cover_weights(graph, config, label, sight))
    before = graph.op("FusedMatMul", weight, within, domain=MICROSOFT, transA=1)
    before = graph.op("Transpose", before, perm=[0, 2, 1, 3])
    before = graph.op("Mul", before, graph.op("Unsqueeze", scale, graph.ints(3)))
    return graph.op("Reshape", before, graph.ints(0, 0, 2 * (lines + 1)))


def _starts_and_ends(graph: Graph, sides: str, axis: int) -> list[str]:
    """Starts and ends of (batch, elements, 4) sides: (batch, 2, elements) with one more axis."""
    sides = graph.op("Unsqueeze", graph.op("Transpose", sides, perm=[0, 2, 1]), graph.ints(axis))
    return graph.ops("Split", sides, graph.ints(2, 2), outputs=2, axis=1)


def _value_places(config: NetworkConfig, attribute: int) -> NDArray[np.int16]:
    """For each token of the partner and each value: where its scores and covers stand.

    (tokens, 2 or 4, values + 1): the scores of the two edges, then with `space` what lies before
    the start and the end. One row holds the scores of all edges, a 0, and both axes' covers.
    """
    lines, axis, is_size = config.edges, attribute % 2, attribute >= 2
    tables = edge_tables(config.centres, lines)
    both = [
        (tables[k].T if is_size else tables[k])[:, : config.sizes[1 + attribute] + 1]
        for k in (2 * axis, 2 * axis + 1)
    ]
    nothing = 4 * (lines + 1)
    found = [
        np.where(table == lines + NO_EDGE, nothing, (2 * axis + side) * (lines + 1) + table)
        for side, table in enumerate(both)
    ]
    if config.space:
        first = nothing + 1 + axis * (lines + 1)  # nothing lies before the first line
        start, end = both
        found.append(first + np.where(start >= lines, 0, start))
        found.append(first + np.where(end == lines + NO_EDGE, 0, end))
    return np.stack(found, axis=1).astype(np.int16)


def joined_heads(graph: Graph, config: NetworkConfig, x: str) -> list[str]:
    """Logits of labels, of all boxes, scores of edges with a 0 at the end, the scale of covers."""
    width = config.width
    total = sum(size + 1 for size in config.sizes[1:])
    names = ["heads", "edge_heads"]
    weights = [graph.weight(f"{name}.weight", transposed=True) for name in names]
    biases = [graph.weight(f"{name}.bias") for name in names]
    weights.append(graph.constant(np.zeros((width, 1), dtype=np.float32)))
    biases.append(graph.number_row(0.0))
    splits = [config.sizes[0] + 1, total, 4 * (config.edges + 1) + 1]
    if config.space:
        factor = graph.number(COVER / config.cover_most)  # see edge_outputs
        more = graph.weight("cover_more.weight", transposed=True)
        weights.append(graph.op("Mul", more, factor))
        one = graph.op("Add", graph.weight("cover_more.bias"), graph.number(1.0))
        biases.append(graph.op("Mul", one, factor))
        splits.append(2)
    matrix = graph.op("Concat", *weights, axis=1)
    row = graph.op("Concat", *biases, axis=0)
    logits = graph.op("Add", graph.op("MatMul", x, matrix), row)
    return graph.ops("Split", logits, graph.ints(*splits), outputs=len(splits), axis=2)


def edge_outputs(graph: Graph, config: NetworkConfig, x: str, rows: str, sight: Sight) -> list[str]:
    """The logits of every modality, with the scores of the edges that each value would have.

    For each attribute a table says where the scores of its values' edges stand, given the token
    of its partner.
    """
    parts = joined_heads(graph, config, x)
    asked = graph.op("Unsqueeze", "asked", graph.ints(2))
    tokens = graph.op("GatherND", "tokens", asked, batch_dims=1)
    columns = graph.ops("Split", tokens, graph.ints(1, 1, 1, 1, 1), outputs=5, axis=2)
    found = []
    for attribute in range(4):
        table = graph.constant(_value_places(config, attribute))
        table = graph.op("Cast", table, to=TensorProto.INT32)
        found.append(graph.op("Gather", table, columns[1 + (attribute + 2) % 4], axis=0))
    places = graph.op("Reshape", graph.op("Concat", *found, axis=4), graph.ints(0, 0, -1))
    scores, boxes = parts[2], parts[1]
    if config.repeats:
        places_of_all = edge_places(graph, config, rows)
        values, lines = repeat_scores(graph, config, x, columns[0], places_of_all, sight)
        scores, boxes = graph.op("Add", scores, lines), graph.op("Add", boxes, values)
    if config.space:
        before = _covered_before(graph, config, columns[0], rows, parts[3], sight)
        scores = graph.op("Concat", scores, before, axis=2)
    values = graph.op("GatherElements", scores, places, axis=2)
    total = sum(size + 1 for size in config.sizes[1:])
    kinds = 4 if config.space else 2
    terms = graph.ops("Split", values, graph.ints(*[total] * kinds), outputs=kinds, axis=2)
    if config.space:
        # The scale of covers grows with what the network knows, the cost not beyond cover_most.
        cost = graph.op("Tanh", graph.op("Sub", terms[3], terms[2]))
        cost = graph.op("Mul", cost, graph.number(config.cover_most))
        terms = [*terms[:2], cost]
    boxes = graph.op("Sum", boxes, *terms)
    splits = graph.ints(*(size + 1 for size in config.sizes[1:]))
    return [parts[0], *graph.ops("Split", boxes, splits, outputs=4, axis=2)]
