"""Collect the nodes and weights of an ONNX graph: a small language for the networks' graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from layoutdm.errors import LayoutdmError

TRANSPOSED = ".T"
MICROSOFT = "com.microsoft"  # ONNX Runtime's own operators: fused attention, GELU, add + norm
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

    def scalar(self, value: int) -> str:
        return self.constant(np.array(value, dtype=np.int64))

    def number(self, value: float) -> str:
        return self.constant(np.array(value, dtype=np.float32))

    def number_row(self, *values: float) -> str:
        return self.constant(np.array(values, dtype=np.float32))

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

    def skip_norm(self, added: str, x: str, bias: str, name: str) -> tuple[str, str]:
        """Normalised x + added + bias, and that sum itself, in one operator."""
        normed, _, _, total = self.ops(
            "SkipLayerNormalization",
            added,
            x,
            self.weight(f"{name}.weight"),
            self.weight(f"{name}.bias"),
            self.weight(bias),
            outputs=4,
            domain=MICROSOFT,
            epsilon=1e-5,
        )
        return normed, total

    def lookup(self, table: str, index: str) -> str:
        return self.op("Gather", self.weight(f"{table}.weight"), index, axis=0)
