"""A denoiser that runs model.onnx with ONNX Runtime."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from layoutdm.diffusion.network import Prediction, Query, Traits, only_asked
from layoutdm.errors import LayoutdmError

FILE = "model.onnx"
OUTPUTS = ("label", "x", "y", "width", "height")


class OnnxDenoiser:
    """Answers queries with an ONNX file; inputs that the file does not have are left out."""

    def __init__(self, path: Path, traits: Traits, threads: int | None = None) -> None:
        import onnxruntime as ort

        if not path.is_file():
            raise LayoutdmError(f"{path}: no such file; a model folder holds {FILE}")
        options = ort.SessionOptions()
        options.log_severity_level = 3
        # More threads than cores of one's own slow a small network down many times over.
        options.intra_op_num_threads = threads or _cores()
        options.inter_op_num_threads = 1
        try:
            self._session = ort.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the runtime's own exceptions share no useful base class
            reason = str(error).splitlines()[0][:200]
            raise LayoutdmError(f"{path}: ONNX Runtime cannot load it: {reason}") from None
        self._inputs = {item.name for item in self._session.get_inputs()}
        available = [item.name for item in self._session.get_outputs()]
        self._number = "number" in available
        self._outputs = [*OUTPUTS, *(["number"] if self._number else [])]
        missing = [name for name in OUTPUTS if name not in available]
        if missing:
            raise LayoutdmError(f"{path}: has no output {missing[0]!r}; it is not a layout model")
        self._traits = traits

    @property
    def traits(self) -> Traits:
        return self._traits

    def __call__(self, query: Query) -> Prediction:
        feed: dict[str, Any] = {"tokens": query.tokens}
        batch, slots = query.valid.shape
        if "level" in self._inputs:
            feed["level"] = query.level
        if "valid" in self._inputs:
            feed["valid"] = query.valid
        if "about" in self._inputs:
            feed["about"] = (
                query.about
                if query.about is not None
                else np.zeros((batch, slots, 4), dtype=np.int64)
            )
        if "position" in self._inputs:
            feed["position"] = (
                query.position
                if query.position is not None
                else np.zeros((batch, slots), dtype=np.int64)
            )
        if "ahead" in self._inputs:
            feed["ahead"] = (
                query.ahead
                if query.ahead is not None
                else np.zeros((batch, self._traits.sizes[0]), dtype=np.int64)
            )
        asked = query.asked
        if "asked" in self._inputs:
            if asked is None:
                asked = np.tile(np.arange(slots), (batch, 1))
            feed["asked"], asked = asked, None
        results = self._session.run(self._outputs, feed)
        found = tuple(only_asked(part, asked) for part in results[:5])
        return Prediction(found, results[5] if self._number else None)


def _cores() -> int:
    wished = os.environ.get("OMP_NUM_THREADS", "")
    if wished.isdigit() and int(wished) > 0:
        return int(wished)
    available = getattr(os, "sched_getaffinity", None)
    return len(available(0)) if available else (os.cpu_count() or 1)
