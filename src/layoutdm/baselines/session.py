"""A network of a model folder, run by ONNX Runtime: named arrays in, a tuple of arrays out."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from layoutdm.errors import LayoutdmError
from layoutdm.generator.onnx import _cores

Array = NDArray[Any]


class Network(Protocol):
    """Anything that answers: an ONNX file, a torch module, or a test's function."""

    def __call__(self, **inputs: Array) -> tuple[Array, ...]: ...


class Session:
    """An ONNX file as a function of its inputs."""

    def __init__(self, path: Path, threads: int | None = None) -> None:
        import onnxruntime as ort

        if not path.is_file():
            raise LayoutdmError(f"{path}: no such file; the model folder is not complete")
        options = ort.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = threads or _cores()
        options.inter_op_num_threads = 1
        try:
            self._session = ort.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the runtime's own exceptions share no useful base class
            reason = str(error).splitlines()[0][:200]
            raise LayoutdmError(f"{path}: ONNX Runtime cannot load it: {reason}") from None
        self._value = ort.OrtValue.ortvalue_from_numpy
        self.inputs = {item.name: item.shape for item in self._session.get_inputs()}
        self._outputs = [item.name for item in self._session.get_outputs()]

    def __call__(self, **inputs: Array) -> tuple[Array, ...]:
        """Inputs that the file does not have are left out."""
        feed = {name: value for name, value in inputs.items() if name in self.inputs}
        return tuple(self._session.run(None, feed))

    def held(self, **inputs: Any) -> tuple[Any, ...]:
        """The same with values that stay with the runtime, so that a cache is not copied."""
        feed = {
            name: self._value(np.ascontiguousarray(value))
            if isinstance(value, np.ndarray)
            else value
            for name, value in inputs.items()
        }
        return tuple(self._session.run_with_ort_values(self._outputs, feed))
