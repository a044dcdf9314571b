"""Write the encoder of a feature network as ONNX: stored in half precision, computed in single.

The graph is built node by node, since the encoder is small and a hand-made graph has exactly the
inputs it should: `boxes` (batch, elements, 4), `labels` (batch, elements), `mask` (batch,
elements); output `features` (batch, width). Batch and element count are free.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from layoutdm.atomic import write_bytes
from layoutdm.train.features_net import FeatureAutoencoder

OPSET = 17


class _Graph:
    """Collects nodes and weights; weights are stored as float16 and cast once at load."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._count = 0

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        self._count += 1
        output = f"{kind.lower()}_{self._count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def constant(self, value: NDArray[np.generic]) -> str:
        self._count += 1
        name = f"constant_{self._count}"
        self.initializers.append(numpy_helper.from_array(value, name))
        return name

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, dtype=np.int64))

    def weight(self, value: NDArray[np.generic]) -> str:
        half = self.constant(np.ascontiguousarray(value).astype(np.float16))
        return self.op("Cast", half, to=TensorProto.FLOAT)

    def linear(self, x: str, weights: dict[str, NDArray[np.generic]], name: str) -> str:
        product = self.op("MatMul", x, self.weight(weights[f"{name}.weight"].T))
        return self.op("Add", product, self.weight(weights[f"{name}.bias"]))

    def norm(self, x: str, weights: dict[str, NDArray[np.generic]], name: str) -> str:
        scale, bias = (self.weight(weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-5)


def _block(
    graph: _Graph,
    x: str,
    bias: str,
    weights: dict[str, NDArray[np.generic]],
    name: str,
    width: int,
    heads: int,
) -> str:
    stacked = graph.linear(x, weights, f"{name}.attention_in")
    split = graph.ints(0, 0, 3 * heads, width // heads)
    stacked = graph.op("Reshape", stacked, split)
    stacked = graph.op("Transpose", stacked, perm=[0, 2, 1, 3])
    query, key, value = (
        graph.op(
            "Slice", stacked, graph.ints(i * heads), graph.ints((i + 1) * heads), graph.ints(1)
        )
        for i in range(3)
    )
    scores = graph.op("MatMul", query, graph.op("Transpose", key, perm=[0, 1, 3, 2]))
    scale = graph.constant(np.array(1 / math.sqrt(width // heads), dtype=np.float32))
    scores = graph.op("Add", graph.op("Mul", scores, scale), bias)
    mixed = graph.op("MatMul", graph.op("Softmax", scores, axis=-1), value)
    mixed = graph.op("Transpose", mixed, perm=[0, 2, 1, 3])
    mixed = graph.op("Reshape", mixed, graph.ints(0, 0, width))
    attended = graph.linear(mixed, weights, f"{name}.attention_out")
    x = graph.norm(graph.op("Add", x, attended), weights, f"{name}.norm1")
    hidden = graph.op("Relu", graph.linear(x, weights, f"{name}.feedforward_in"))
    hidden = graph.linear(hidden, weights, f"{name}.feedforward_out")
    return graph.norm(graph.op("Add", x, hidden), weights, f"{name}.norm2")


def export_encoder(network: FeatureAutoencoder, labels: Sequence[str], path: Path) -> Path:
    """Write the encoder with its label names inside, so that the file is complete by itself."""
    shape = network.shape
    weights: dict[str, NDArray[np.generic]] = {
        name: value.detach().cpu().numpy() for name, value in network.encoder.state_dict().items()
    }
    graph = _Graph()
    boxes = graph.linear("boxes", weights, "box")
    names = graph.op("Gather", graph.weight(weights["label.weight"]), "labels", axis=0)
    x = graph.op("Relu", graph.linear(graph.op("Concat", boxes, names, axis=-1), weights, "join"))
    batch = graph.op("Slice", graph.op("Shape", "labels"), graph.ints(0), graph.ints(1))
    column = graph.op("Concat", batch, graph.ints(1), axis=0)
    token_shape = graph.op("Concat", column, graph.ints(shape.width), axis=0)
    token = graph.op("Expand", graph.weight(weights["token"]), token_shape)
    x = graph.op("Concat", token, x, axis=1)
    real = graph.op("Expand", graph.constant(np.array([[True]])), column)
    mask = graph.op("Concat", real, "mask", axis=1)
    zero, never = (graph.constant(np.array(v, dtype=np.float32)) for v in (0.0, -1e9))
    bias = graph.op("Unsqueeze", graph.op("Where", mask, zero, never), graph.ints(1, 2))
    for layer in range(shape.layers):
        x = _block(graph, x, bias, weights, f"blocks.{layer}", shape.width, shape.heads)
    first = graph.op("Gather", x, graph.constant(np.array(0, dtype=np.int64)), axis=1)
    graph.nodes.append(helper.make_node("Identity", [first], ["features"]))

    def value(name: str, kind: int, *dims: str | int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, dims)

    inputs = [
        value("boxes", TensorProto.FLOAT, "batch", "elements", 4),
        value("labels", TensorProto.INT64, "batch", "elements"),
        value("mask", TensorProto.BOOL, "batch", "elements"),
    ]
    outputs = [value("features", TensorProto.FLOAT, "batch", shape.width)]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "features", inputs, outputs, graph.initializers),
        opset_imports=[helper.make_opsetid("", OPSET)],
        producer_name="layoutdm",
        ir_version=8,
    )
    facts = {"labels": json.dumps(list(labels)), "max_elements": str(shape.max_elements)}
    helper.set_model_props(model, facts)
    onnx.checker.check_model(model)
    write_bytes(path, model.SerializeToString())
    return path
