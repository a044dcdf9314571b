"""A denoiser that runs model.onnx with ONNX Runtime."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from layoutdm.boxes import ELEMENT_FIELDS
from layoutdm.diffusion.network import Prediction, Query, Traits, only_asked
from layoutdm.errors import LayoutdmError
from layoutdm.generator.onnx_names import names

FILE = "model.onnx"
OUTPUTS = ELEMENT_FIELDS


class OnnxDenoiser:
    """Answers queries with an ONNX file; inputs that the file does not have are left out."""

    def __init__(self, path: Path, traits: Traits, threads: int | None = None) -> None:
        import onnxruntime as ort

        _check(path)
        options = ort.SessionOptions()
        options.log_severity_level = 3
        # More threads than cores of one's own slow a small network down many times over.
        options.intra_op_num_threads = threads or _cores()
        options.inter_op_num_threads = 1
        try:
            # From memory, where a file cannot ask for others by their paths.
            self._session = ort.InferenceSession(
                path.read_bytes(), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the runtime's own exceptions share no useful base class
            raise LayoutdmError(f"{path}: ONNX Runtime cannot load it: {_reason(error)}") from None
        self._path = path
        self._inputs = {item.name for item in self._session.get_inputs()}
        available = [item.name for item in self._session.get_outputs()]
        self._number = "number" in available
        self._outputs = [*OUTPUTS, *(["number"] if self._number else [])]
        self._traits = traits
        self._try()

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
        if "turn" in self._inputs:
            slot = np.tile(np.arange(slots), (batch, 1))
            feed["turn"] = slot if query.turn is None else query.turn
        if "ahead" in self._inputs:  # the labels still to come, which older networks could read
            feed["ahead"] = np.zeros((batch, self._traits.sizes[0]), dtype=np.int64)
        asked = query.asked
        if "asked" in self._inputs:
            if asked is None:
                asked = np.tile(np.arange(slots), (batch, 1))
            feed["asked"], asked = asked, None
        try:
            results = self._session.run(self._outputs, feed)
        except Exception as error:
            raise LayoutdmError(
                f"{self._path}: does not fit its config.json: {_reason(error)}"
            ) from None
        found = tuple(only_asked(part, asked) for part in results[:5])
        return Prediction(found, results[5] if self._number else None)

    def _try(self) -> None:
        """Predict once: a file that fits neither config.json nor this program is told here."""
        sizes = self._traits.sizes
        slots = self._traits.max_elements if self._traits.draws_pad else 2
        tokens = np.tile(np.array(sizes, dtype=np.int64) + 1, (1, slots, 1))
        query = Query(tokens, np.ones(1, dtype=np.int64), np.ones((1, slots), dtype=bool))
        found = self(query)
        for name, part, size in zip(OUTPUTS, found.log_probs, sizes, strict=True):
            _expect(self._path, name, part, (1, slots, size + 1))
        if self._traits.number_first or found.number is not None:
            _expect(self._path, "number", found.number, (1, self._traits.max_elements))


def _check(path: Path) -> None:
    """Refuse what is no layout model before anything of it is loaded."""
    if not path.is_file():
        raise LayoutdmError(f"{path}: no such file; a model folder holds {FILE}")
    try:
        inputs, outputs = names(path)
    except (ValueError, OSError) as error:
        raise LayoutdmError(f"{path}: is not an ONNX file: {error}") from None
    missing = [name for name in OUTPUTS if name not in outputs]
    if missing:
        raise LayoutdmError(f"{path}: has no output {missing[0]!r}; it is not a layout model")
    if "tokens" not in inputs:
        raise LayoutdmError(f"{path}: has no input 'tokens'; it is not a layout model")


def _expect(path: Path, name: str, part: Any, shape: tuple[int, ...]) -> None:
    if np.shape(part) != shape:
        raise LayoutdmError(
            f"{path}: does not fit its config.json: output {name!r} has the shape "
            f"{np.shape(part)}, not {shape}"
        )
    if part.dtype.kind != "f" or np.isnan(part).any():
        raise LayoutdmError(f"{path}: output {name!r} holds values that are no numbers")


def _reason(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def _cores() -> int:
    wished = os.environ.get("OMP_NUM_THREADS", "")
    if wished.isdigit() and int(wished) > 0:
        return int(wished)
    available = getattr(os, "sched_getaffinity", None)
    return len(available(0)) if available else (os.cpu_count() or 1)
