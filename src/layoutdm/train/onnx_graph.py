"""Build a network's ONNX graph node by node: few nodes, known names, weights in half precision.

The initialisers carry the names of the torch parameters, so that the same file serves as the
weights for fine-tuning (`read_weights`). Weights of linear layers are stored transposed, as
MatMul wants them, under the name `NAME.T`. Every weight is cast to float32 once, when a session
is made: ONNX Runtime folds constants before it runs anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from layoutdm.errors import LayoutdmError
from layoutdm.tokens import MODALITIES
from layoutdm.train.networks import NetworkConfig
from layoutdm.train.networks.edges import NO_EDGE, edge_tables
from layoutdm.train.networks.element import COVER, COVER_MOST

OPSET = 17
MICROSOFT = "com.microsoft"  # ONNX Runtime's own operators: fused attention, GELU, add + norm
TRANSPOSED = ".T"
HALF_LARGEST = float(np.finfo(np.float16).max)

Weights = dict[str, NDArray[np.generic]]


class Graph:
    """Collects nodes and initialisers; each method returns the name of what it computes."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._made: dict[str, str] = {}

    def op(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        return self.ops(kind, *inputs, outputs=outputs, **attributes)[0]

    def ops(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> list[str]:
        names = [f"{kind.lower()}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names

    def name(self, source: str, target: str) -> None:
        self.nodes.append(helper.make_node("Identity", [source], [target]))

    def constant(self, value: NDArray[np.generic]) -> str:
        name = f"constant_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(value, name))
        return name

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, dtype=np.int64))

    def number(self, value: float) -> str:
        return self.constant(np.array(value, dtype=np.float32))

    def weight(self, name: str, *, transposed: bool = False) -> str:
        """A parameter, stored as float16 under its own name, cast to float32."""
        stored = name + TRANSPOSED if transposed else name
        if stored not in self._made:
            value = self.weights[name].T if transposed else self.weights[name]
            if np.abs(value).max(initial=0.0) > HALF_LARGEST:
                raise LayoutdmError(
                    f"weight {name!r} is too large for half precision; the training has diverged"
                )
            half = np.ascontiguousarray(value).astype(np.float16)
            self.initializers.append(numpy_helper.from_array(half, stored))
            self._made[stored] = self.op("Cast", stored, to=TensorProto.FLOAT)
        return self._made[stored]

    def product(self, x: str, name: str) -> str:
        return self.op("MatMul", x, self.weight(f"{name}.weight", transposed=True))

    def linear(self, x: str, name: str) -> str:
        return self.op("Add", self.product(x, name), self.weight(f"{name}.bias"))

    def norm(self, x: str, name: str) -> str:
        scale, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-5)

    def lookup(self, table: str, index: str) -> str:
        return self.op("Gather", self.weight(f"{table}.weight"), index, axis=0)

    def columns(self, array: str, count: int) -> list[str]:
        """array[..., 0], array[..., 1], ... of an array with three axes."""
        return [
            self.op("Gather", array, self.constant(np.array(i, dtype=np.int64)), axis=2)
            for i in range(count)
        ]

    def total(self, parts: list[str]) -> str:
        """The sum of several arrays."""
        x = parts[0]
        for part in parts[1:]:
            x = self.op("Add", x, part)
        return x


def network_model(config: NetworkConfig, weights: Weights) -> onnx.ModelProto:
    """The whole network: from tokens to log-probabilities of every modality."""
    graph = Graph(weights)
    if config.kind == "element":
        edges = _edge_places(graph, config) if config.edges else ""
        x, mask = _element_inputs(graph, config, edges)
        _element_outputs(graph, config, _blocks(graph, config, x, mask), edges)
    else:
        x, mask = _paper_inputs(graph, config)
        _paper_outputs(graph, config, _blocks(graph, config, x, mask))
    model = helper.make_model(
        helper.make_graph(graph.nodes, "layoutdm", *_signature(config), graph.initializers),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)],
        producer_name="layoutdm",
        ir_version=8,
    )
    onnx.checker.check_model(model)
    return model


def read_weights(path: Path) -> Weights:
    """The parameters of a model file, as float32, under their torch names."""
    try:
        model = onnx.load(path)
    except Exception as error:  # the protobuf decoder raises types of its own
        raise LayoutdmError(f"{path}: not a readable ONNX file: {error}") from None
    weights: Weights = {}
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT16:
            value = numpy_helper.to_array(tensor).astype(np.float32)
            transposed = tensor.name.endswith(TRANSPOSED)
            name = tensor.name.removesuffix(TRANSPOSED)
            weights[name] = np.ascontiguousarray(value.T) if transposed else value
    return weights


def _signature(
    config: NetworkConfig,
) -> tuple[list[onnx.ValueInfoProto], list[onnx.ValueInfoProto]]:
    """Inputs and outputs; an input that the network does not use is not there."""

    def value(name: str, kind: int, *dims: str | int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, dims)

    inputs = [value("tokens", TensorProto.INT64, "batch", "slots", 5)]
    if config.time == "adaln":
        inputs.append(value("level", TensorProto.INT64, "batch"))
    inputs.append(value("valid", TensorProto.BOOL, "batch", "slots"))
    outputs = [
        value(name, TensorProto.FLOAT, "batch", "slots", size + 1)
        for name, size in zip(MODALITIES, config.sizes, strict=True)
    ]
    if config.kind == "element":
        if config.about_levels:
            inputs.append(value("about", TensorProto.INT64, "batch", "slots", 4))
        inputs.append(value("position", TensorProto.INT64, "batch", "slots"))
        outputs.append(value("number", TensorProto.FLOAT, "batch", config.max_elements))
    return inputs, outputs


def _element_inputs(graph: Graph, config: NetworkConfig, edges: str) -> tuple[str, str]:
    """One vector per element after the first, and the mask of what may be attended to.

    All embeddings of an element are rows of one table: a single lookup and a single sum, since for
    one layout an operator costs more by being there than by what it computes.
    """
    tables = [f"embed.{m}" for m in range(5)]
    ids = ["tokens"]
    if config.about_levels:
        tables += [f"about.{a}" for a in range(4)]
        ids.append("about")
    if config.edges:
        tables += [f"edge.{k}" for k in range(4)]
        ids.append(edges)
    tables.append("position")
    ids.append(graph.op("Unsqueeze", "position", graph.ints(2)))
    starts = np.cumsum([0, *(len(graph.weights[f"{name}.weight"]) for name in tables)])[:-1]
    rows = graph.op("Add", graph.op("Concat", *ids, axis=2), graph.ints(*starts.tolist()))
    table = graph.op("Concat", *(graph.weight(f"{name}.weight") for name in tables), axis=0)
    vectors = graph.op("Gather", table, rows, axis=0)
    elements = graph.op("ReduceSum", vectors, graph.ints(2), keepdims=0)
    batch = graph.op("Slice", graph.op("Shape", "valid"), graph.ints(0), graph.ints(1))
    column = graph.op("Concat", batch, graph.ints(1), axis=0)
    first_shape = graph.op("Concat", column, graph.ints(config.width), axis=0)
    first = graph.op("Expand", graph.weight("first.weight"), first_shape)
    x = graph.op("Concat", first, elements, axis=1)
    shown = graph.op("Expand", graph.constant(np.array([[1]], dtype=np.int32)), column)
    mask = graph.op("Concat", shown, graph.op("Cast", "valid", to=TensorProto.INT32), axis=1)
    return x, mask


def _edge_places(graph: Graph, config: NetworkConfig) -> str:
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


def _paper_inputs(graph: Graph, config: NetworkConfig) -> tuple[str, str]:
    """One vector per attribute, and the mask of what may be attended to."""
    starts = np.concatenate([[0], np.cumsum(config.sizes)[:-1]]).astype(np.int64)
    pad = graph.constant(np.array(config.sizes, dtype=np.int64))
    values = sum(config.sizes)
    flat = graph.op(
        "Where",
        graph.op("Less", "tokens", pad),
        graph.op("Add", "tokens", graph.constant(starts)),
        graph.op("Add", graph.op("Sub", "tokens", pad), graph.ints(values)),
    )
    flat = graph.op("Reshape", flat, graph.ints(0, -1))
    x = graph.lookup("embed", flat)
    length = graph.op("Slice", graph.op("Shape", flat), graph.ints(1), graph.ints(2))
    if config.positions == "flat":
        table = graph.weight("flat_position.weight")
    else:
        element = graph.op("Unsqueeze", graph.weight("element_position.weight"), graph.ints(1))
        table = graph.op("Add", element, graph.weight("attribute_position.weight"))
        table = graph.op("Reshape", table, graph.ints(-1, config.width))
    x = graph.op("Add", x, graph.op("Slice", table, graph.ints(0), length, graph.ints(0)))
    mask = graph.op("Cast", "valid", to=TensorProto.INT32)
    mask = graph.op("Unsqueeze", mask, graph.ints(2))
    mask = graph.op("Tile", mask, graph.ints(1, 1, 5))
    return x, graph.op("Reshape", mask, graph.ints(0, -1))


def _adaptive_norm(graph: Graph, x: str, name: str, width: int) -> str:
    level = graph.op("Sub", "level", graph.ints(1))
    vector = graph.lookup(f"{name}.table", level)
    vector = graph.op("Mul", vector, graph.op("Sigmoid", vector))
    both = graph.op("Unsqueeze", graph.linear(vector, f"{name}.project"), graph.ints(1))
    scale, shift = graph.ops("Split", both, graph.ints(width, width), outputs=2, axis=2)
    ones = graph.constant(np.ones(width, dtype=np.float32))
    zeros = graph.constant(np.zeros(width, dtype=np.float32))
    normed = graph.op("LayerNormalization", x, ones, zeros, axis=-1, epsilon=1e-5)
    scale = graph.op("Add", scale, graph.number(1.0))
    return graph.op("Add", graph.op("Mul", normed, scale), shift)


def _blocks(graph: Graph, config: NetworkConfig, x: str, mask: str) -> str:
    """All blocks and the final norm."""
    for layer in range(config.layers):
        name = f"blocks.{layer}"
        if config.time == "adaln":
            normed = _adaptive_norm(graph, x, f"{name}.norm1", config.width)
        else:
            normed = graph.norm(x, f"{name}.norm1")
        attended = graph.op(
            "Attention",
            normed,
            graph.weight(f"{name}.attention.project_in.weight", transposed=True),
            graph.weight(f"{name}.attention.project_in.bias"),
            mask,
            domain=MICROSOFT,
            num_heads=config.heads,
        )
        attended = graph.product(attended, f"{name}.attention.project_out")
        base = normed if config.block == "published" else x
        # One operator adds the residual and the bias and normalises; its fourth output is the sum.
        normed, _, _, x = graph.ops(
            "SkipLayerNormalization",
            attended,
            base,
            graph.weight(f"{name}.norm2.weight"),
            graph.weight(f"{name}.norm2.bias"),
            graph.weight(f"{name}.attention.project_out.bias"),
            outputs=4,
            domain=MICROSOFT,
            epsilon=1e-5,
        )
        hidden = graph.product(normed, f"{name}.feedforward.0")
        bias = graph.weight(f"{name}.feedforward.0.bias")
        if config.kind == "paper":
            hidden = graph.op("Relu", graph.op("Add", hidden, bias))
        else:
            hidden = graph.op("FastGelu", hidden, bias, domain=MICROSOFT)
        x = graph.op("Add", x, graph.linear(hidden, f"{name}.feedforward.2"))
    return graph.norm(x, "norm")


def _element_outputs(graph: Graph, config: NetworkConfig, x: str, edges: str) -> None:
    first, rest = graph.ints(0), graph.ints(1)
    axis, end = graph.ints(1), graph.ints(np.iinfo(np.int64).max)
    elements = graph.op("Slice", x, rest, end, axis)
    logits = graph.linear(elements, "heads")
    if config.edges:
        named = config.sizes[0] + 1
        splits = graph.ints(named, sum(size + 1 for size in config.sizes[1:]))
        label, boxes = graph.ops("Split", logits, splits, outputs=2, axis=2)
        boxes = _edge_outputs(graph, config, elements, boxes, edges)
        logits = graph.op("Concat", label, boxes, axis=2)
    splits = graph.ints(*(size + 1 for size in config.sizes))
    parts = graph.ops("Split", logits, splits, outputs=5, axis=2)
    for name, part in zip(MODALITIES, parts, strict=True):
        graph.name(graph.op("LogSoftmax", part, axis=-1), name)
    number = graph.op("Squeeze", graph.op("Slice", x, first, rest, axis), axis)
    graph.name(graph.op("LogSoftmax", graph.linear(number, "number"), axis=-1), "number")


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


def _edge_outputs(graph: Graph, config: NetworkConfig, x: str, logits: str, edges: str) -> str:
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


def _paper_outputs(graph: Graph, config: NetworkConfig, x: str) -> None:
    values = sum(config.sizes)
    flat = graph.product(x, "head")
    flat = graph.op("Reshape", flat, graph.ints(0, -1, 5, values + 2))
    flat = graph.op("Slice", flat, graph.ints(0), graph.ints(values + 1), graph.ints(3))
    if config.normalise == "vocabulary":
        flat = graph.op("LogSoftmax", flat, axis=-1)
    starts = np.concatenate([[0], np.cumsum(config.sizes)[:-1]])
    for m, (name, size) in enumerate(zip(MODALITIES, config.sizes, strict=True)):
        own_columns = np.append(np.arange(starts[m], starts[m] + size), values).astype(np.int64)
        row = graph.op("Gather", flat, graph.constant(np.array(m, dtype=np.int64)), axis=2)
        own = graph.op("Gather", row, graph.constant(own_columns), axis=2)
        whole = config.normalise == "vocabulary"
        graph.name(own if whole else graph.op("LogSoftmax", own, axis=-1), name)
