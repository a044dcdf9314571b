"""The file of a model's label network: arrays in half precision, without pickles."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from layoutdm.errors import LayoutdmError
from layoutdm.plan.labels import Floats, LabelModel, feature_count

FILE = "labels.npz"
LARGEST = 64 * 2**20  # bytes when unpacked
MOST_ARRAYS = 64


def to_bytes(model: LabelModel) -> bytes:
    stream = io.BytesIO()
    arrays = {
        f"{kind}{i}": array.astype(np.float16)
        for i, pair in enumerate(model.layers)
        for kind, array in zip(("weight", "bias"), pair, strict=True)
    }
    np.savez(stream, **arrays)  # type: ignore[arg-type]  # its stub takes all names for flags
    return stream.getvalue()


def read(path: Path, labels: int) -> LabelModel | None:
    """The label network of a model folder; None where it has none."""
    if not path.is_file():
        return None
    try:
        _check_size(path)
        with np.load(path, allow_pickle=False) as arrays:
            return from_arrays(arrays, labels)
    except (
        OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, zlib.error,
        zipfile.BadZipFile, MemoryError, OverflowError, AttributeError,
    ) as error:  # fmt: skip
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise LayoutdmError(
            f"{path}: is not a label network as `layoutdm train` writes it: {reason}"
        ) from None


def _check_size(path: Path) -> None:
    """Refuse what would unpack to more than any label network holds."""
    with zipfile.ZipFile(path) as packed:
        members = packed.infolist()
    if len(members) > MOST_ARRAYS or sum(member.file_size for member in members) > LARGEST:
        raise ValueError(f"it holds more than {MOST_ARRAYS} arrays or {LARGEST >> 20} MB")


def from_arrays(arrays: Mapping[str, Floats], labels: int) -> LabelModel:
    layers = []
    width = feature_count(labels)
    for i in range(len(arrays) // 2):
        weight = np.asarray(arrays[f"weight{i}"], dtype=np.float64)
        bias = np.asarray(arrays[f"bias{i}"], dtype=np.float64)
        if weight.shape != (len(bias), width):
            raise ValueError(f"weight{i} has the shape {weight.shape}, not {len(bias), width}")
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise ValueError(f"weight{i} and bias{i} must be finite numbers")
        width = len(bias)
        layers.append((weight, bias))
    if len(layers) < 2 or width != labels:
        raise ValueError(f"it must end with {labels} labels, got {width}")
    return LabelModel(tuple(layers))
