"""Build a network's ONNX graph node by node: few nodes, known names, weights in half precision.

The initialisers carry the names of the torch parameters, so that the same file serves as the
weights for fine-tuning (`read_weights`). Weights of linear layers are stored transposed, as
MatMul wants them, under the name `NAME.T`. Every weight is cast to float32 once, when a session
is made: ONNX Runtime folds constants before it runs anything.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from layoutdm.errors import LayoutdmError
from layoutdm.tokens import MODALITIES
from layoutdm.train.networks import NetworkConfig
from layoutdm.train.onnx_edges import STARTS_FIRST, edge_outputs, edge_places, edge_rows
from layoutdm.train.onnx_nodes import MICROSOFT, TRANSPOSED, Graph, Weights
from layoutdm.train.onnx_sight import Sight, in_front, who_sees_whom

OPSET = 17


def network_model(config: NetworkConfig, weights: Weights) -> onnx.ModelProto:
    """The whole network: from tokens to log-probabilities of every modality."""
    graph = Graph(weights)
    if config.kind == "element":
        rows = edge_rows(graph, config) if config.edges else ""
        sight = who_sees_whom(graph, config)
        x = _element_inputs(graph, config, rows)
        if config.in_turn:  # those that are asked about come once more at the end
            x = graph.op("Concat", x, graph.op("GatherND", x, sight.asked, batch_dims=1), axis=1)
        _element_outputs(graph, config, _blocks(graph, config, x, sight), rows, sight)
    else:
        x, mask = _paper_inputs(graph, config)
        _paper_outputs(graph, config, _blocks(graph, config, x, Sight(mask=mask)))
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
    predicted = "asked slots" if config.kind == "element" else "slots"
    outputs = [
        value(name, TensorProto.FLOAT, "batch", predicted, size + 1)
        for name, size in zip(MODALITIES, config.sizes, strict=True)
    ]
    if config.kind == "element":
        inputs.append(value("asked", TensorProto.INT64, "batch", "asked slots"))
        if config.about_levels:
            inputs.append(value("about", TensorProto.INT64, "batch", "slots", 4))
        inputs.append(value("position", TensorProto.INT64, "batch", "slots"))
        if config.in_turn:
            inputs.append(value("turn", TensorProto.INT64, "batch", "slots"))
        outputs.append(value("number", TensorProto.FLOAT, "batch", config.max_elements))
    return inputs, outputs


def _element_inputs(graph: Graph, config: NetworkConfig, rows: str) -> str:
    """One vector per element after the first.

    All embeddings of an element are rows of one table: a single lookup and a single sum, since for
    one layout an operator costs more by being there than by what it computes.
    """
    tables = [f"embed.{m}" for m in range(5)]
    ids = ["tokens"]
    if config.about_levels:
        tables += [f"about.{a}" for a in range(4)]
        ids.append("about")
    if config.edges:
        tables += [f"edge.{k}" for k in STARTS_FIRST]
        ids.append(edge_places(graph, config, rows))
    tables.append("position")
    ids.append(graph.op("Unsqueeze", "position", graph.ints(2)))
    # Each table has a row in front of its own: that of the first token, which has no other values.
    nothing = graph.constant(np.zeros((1, config.width), dtype=np.float32))
    fronts = [graph.weight("first.weight"), *[nothing] * (len(tables) - 1)]
    pairs = [
        (front, graph.weight(f"{name}.weight")) for front, name in zip(fronts, tables, strict=True)
    ]
    table = graph.op("Concat", *(part for pair in pairs for part in pair), axis=0)
    lengths = [1 + len(graph.weights[f"{name}.weight"]) for name in tables]
    starts = 1 + np.cumsum([0, *lengths])[:-1]
    every = in_front(graph, graph.op("Concat", *ids, axis=2), graph.scalar(-1), 3)
    joined = graph.op("Add", every, graph.ints(*starts.tolist()))
    return graph.op(
        "ReduceSum", graph.op("Gather", table, joined, axis=0), graph.ints(2), keepdims=0
    )


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


def _blocks(graph: Graph, config: NetworkConfig, x: str, sight: Sight) -> str:
    """All blocks and the final norm.

    Where the next norm is a plain one, it is joined with the sum before it.
    """
    wanted = sight.wanted
    plain = config.time != "adaln"
    normed = graph.norm(x, "blocks.0.norm1") if plain else ""
    for layer in range(config.layers):
        name = f"blocks.{layer}"
        if not plain:
            normed = _adaptive_norm(graph, x, f"{name}.norm1", config.width)
        last = layer + 1 == config.layers
        base = normed if config.block == "published" else x
        if last and wanted:
            attended = _attend_from(graph, config, normed, sight, f"{name}.attention")
            base = graph.op("GatherND", base, wanted, batch_dims=1)
        else:
            attended = graph.op(
                "Attention",
                normed,
                graph.weight(f"{name}.attention.project_in.weight", transposed=True),
                graph.weight(f"{name}.attention.project_in.bias"),
                *sight.of_all,
                domain=MICROSOFT,
                num_heads=config.heads,
            )
        attended = graph.product(attended, f"{name}.attention.project_out")
        bias = f"{name}.attention.project_out.bias"
        normed, x = graph.skip_norm(attended, base, bias, f"{name}.norm2")
        hidden = graph.product(normed, f"{name}.feedforward.0")
        inner = graph.weight(f"{name}.feedforward.0.bias")
        if config.kind == "paper":
            hidden = graph.op("Relu", graph.op("Add", hidden, inner))
        else:
            hidden = graph.op("FastGelu", hidden, inner, domain=MICROSOFT)
        if plain or last:
            following = "norm" if last else f"blocks.{layer + 1}.norm1"
            out = graph.product(hidden, f"{name}.feedforward.2")
            normed, x = graph.skip_norm(out, x, f"{name}.feedforward.2.bias", following)
        else:
            x = graph.op("Add", x, graph.linear(hidden, f"{name}.feedforward.2"))
    return normed


def _attend_from(graph: Graph, config: NetworkConfig, normed: str, sight: Sight, name: str) -> str:
    """Attention of some places to all."""
    width = config.width
    weights = graph.weight(f"{name}.project_in.weight", transposed=True)
    ask, answer = graph.ops("Split", weights, graph.ints(width, 2 * width), outputs=2, axis=1)
    query = graph.op("MatMul", graph.op("GatherND", normed, sight.wanted, batch_dims=1), ask)
    both = graph.op("MatMul", normed, answer)
    key, value = graph.ops("Split", both, graph.ints(width, width), outputs=2, axis=2)
    bias = graph.weight(f"{name}.project_in.bias")
    return graph.op(
        "MultiHeadAttention", query, key, value, bias, *sight.of_wanted,
        domain=MICROSOFT, num_heads=config.heads,
    )  # fmt: skip


def _element_outputs(graph: Graph, config: NetworkConfig, x: str, rows: str, sight: Sight) -> None:
    first, rest = graph.ints(0), graph.ints(1)
    axis, end = graph.ints(1), graph.ints(np.iinfo(np.int64).max)
    elements = graph.op("Slice", x, rest, end, axis)
    if config.edges:
        parts = edge_outputs(graph, config, elements, rows, sight)
    else:
        splits = graph.ints(*(size + 1 for size in config.sizes))
        parts = graph.ops("Split", graph.linear(elements, "heads"), splits, outputs=5, axis=2)
    for name, part in zip(MODALITIES, parts, strict=True):
        graph.name(graph.op("LogSoftmax", part, axis=-1), name)
    number = graph.op("Squeeze", graph.op("Slice", x, first, rest, axis), axis)
    graph.name(graph.op("LogSoftmax", graph.linear(number, "number"), axis=-1), "number")


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
