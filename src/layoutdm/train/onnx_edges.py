"""The part of the element network's graph that embeds edges and scores values by them."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from layoutdm.train.networks import NetworkConfig
from layoutdm.train.networks.edges import NO_EDGE, edge_tables
from layoutdm.train.networks.element import COVER, COVER_MOST
from layoutdm.train.onnx_nodes import Graph


def edge_places(graph: Graph, config: NetworkConfig) -> str:
    """Where the four edges of each element are, (batch, slots, 4)."""
    tables = edge_tables(config.centres, config.edges)
    starts = np.cumsum([0, *(table.size for table in tables)])[:-1].astype(np.int64)
    # x, x, y, y and width, width, height, height: the columns that decide the four edges.
    centre = graph.op("Gather", "tokens", graph.ints(1, 1, 2, 2), axis=2)
    size = graph.op("Gather", "tokens", graph.ints(3, 3, 4, 4), axis=2)
    row = graph.op("Mul", size, graph.ints(*(table.shape[1] for table in tables)))
    at = graph.op("Add", graph.op("Add", row, centre), graph.constant(starts))
    flat = graph.constant(np.concatenate([table.ravel() for table in tables]))
    return graph.op("Gather", graph.op("Cast", flat, to=TensorProto.INT64), at, axis=0)


def _cover_costs(graph: Graph, config: NetworkConfig, x: str, edges: str) -> str:
    """What each place of an edge adds to what is covered; see ElementNetwork._covered."""
    lines = config.edges
    labels = graph.op("Gather", "tokens", graph.constant(np.array(0, dtype=np.int64)), axis=2)
    states = graph.ints(config.sizes[0] + 2)
    row = graph.op("Mul", graph.op("Unsqueeze", labels, graph.ints(2)), states)
    pair = graph.op("Add", row, graph.op("Unsqueeze", labels, graph.ints(1)))
    flat = graph.op("Reshape", graph.weight("cover"), graph.ints(-1))
    weight = graph.op("Gather", flat, pair, axis=0)
    # No element covers itself: ones without the diagonal, and without slots that only fill up.
    shown = graph.op("Unsqueeze", graph.op("Cast", "valid", to=TensorProto.FLOAT), graph.ints(1))
    weight = graph.op("Mul", weight, shown)
    itself = graph.op("EyeLike", graph.op("ReduceMax", weight, axes=[0], keepdims=0), dtype=1)
    weight = graph.op("Mul", weight, graph.op("Sub", graph.number(1.0), itself))
    places = graph.op("Cast", edges, to=TensorProto.FLOAT)
    sides = graph.ops("Split", places, graph.ints(1, 1, 1, 1), outputs=4, axis=2)  # (B, S, 1)
    for k in (0, 2):  # boxes that begin outside the canvas cover it from its first line
        outside = graph.op("Equal", sides[k], graph.number(float(lines)))
        sides[k] = graph.op("Where", outside, graph.number(0.0), sides[k])
    flipped = [graph.op("Transpose", side, perm=[0, 2, 1]) for side in sides]
    grid = graph.constant(np.arange(lines, dtype=np.float32))
    more = graph.op("Add", graph.linear(x, "cover_more"), graph.number(1.0))
    scales = graph.ops("Split", more, graph.ints(1, 1), outputs=2, axis=2)
    parts = []
    for axis in range(2):
        low, high = 2 - 2 * axis, 3 - 2 * axis
        shared = graph.op(
            "Sub",
            graph.op("Min", sides[high], flipped[high]),
            graph.op("Max", sides[low], flipped[low]),
        )
        extent = graph.op("Max", graph.op("Sub", sides[high], sides[low]), graph.number(1.0))
        share = graph.op("Div", graph.op("Relu", shared), extent)
        after = graph.op("GreaterOrEqual", grid, sides[2 * axis])
        inside = graph.op("And", after, graph.op("Less", grid, sides[2 * axis + 1]))
        inside = graph.op("Cast", inside, to=TensorProto.FLOAT)
        taken = graph.op("MatMul", graph.op("Mul", weight, share), inside)
        scale = graph.op("Mul", scales[axis], graph.number(COVER))
        taken = graph.op("Mul", taken, scale)
        # One line more: what lies before it is everything, which is what ends outside covers.
        taken = graph.op("Pad", taken, graph.ints(0, 0, 0, 0, 0, 1))
        before = graph.op("CumSum", taken, graph.constant(np.array(2, dtype=np.int64)), exclusive=1)
        inner = graph.op("Slice", before, graph.ints(0), graph.ints(lines), graph.ints(2))
        starts = graph.op("Pad", graph.op("Neg", inner), graph.ints(0, 0, 0, 0, 0, 1))
        parts += [starts, before]
    return graph.op("Concat", *parts, axis=2)


def edge_outputs(graph: Graph, config: NetworkConfig, x: str, logits: str, edges: str) -> str:
    """The logits of x, y, width, height, with the scores of the edges that each value would have.

    One row of scores holds all four edges and a 0 for no edge. For each attribute a table says
    which two of them belong to its values, given the token of its partner.
    """
    lines = config.edges
    end = graph.ints(0, 0, 0, 0, 0, 1)
    scores = graph.op("Pad", graph.linear(x, "edge_heads"), end)
    tables = edge_tables(config.centres, lines)
    found = []
    for attribute in range(4):
        axis, is_size = attribute % 2, attribute >= 2
        both = []
        for k in (2 * axis, 2 * axis + 1):
            table = (tables[k].T if is_size else tables[k])[:, : config.sizes[1 + attribute] + 1]
            nowhere = table == lines + NO_EDGE
            both.append(np.where(nowhere, 4 * (lines + 1), k * (lines + 1) + table))
        rows = graph.constant(np.stack(both, axis=1).astype(np.int16))
        partner = np.array(1 + (attribute + 2) % 4, dtype=np.int64)
        token = graph.op("Gather", "tokens", graph.constant(partner), axis=2)
        rows = graph.op("Cast", rows, to=TensorProto.INT32)
        found.append(graph.op("Gather", rows, token, axis=0))
    places = graph.op("Concat", *found, axis=3)
    flat = graph.op("Reshape", places, graph.ints(0, 0, -1))
    total = sum(size + 1 for size in config.sizes[1:])

    def at_edges(row: str) -> str:
        """For each value the sum of what stands at its two edges."""
        found = graph.op("GatherElements", row, flat, axis=2)
        found = graph.op("Reshape", found, graph.ints(0, 0, 2, total))
        return graph.op("ReduceSum", found, graph.ints(2), keepdims=0)

    logits = graph.op("Add", logits, at_edges(scores))
    if config.space:
        cost = at_edges(graph.op("Pad", _cover_costs(graph, config, x, edges), end))
        most = graph.number(COVER_MOST)
        cost = graph.op("Mul", graph.op("Tanh", graph.op("Div", cost, most)), most)
        logits = graph.op("Add", logits, cost)
    return logits
