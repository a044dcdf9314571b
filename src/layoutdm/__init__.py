"""Controllable layout generation by discrete diffusion.

>>> import layoutdm
>>> layoutdm.Layout.create(["text"], [[0.5, 0.5, 0.8, 0.2]]).labels
('text',)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from layoutdm.errors import LayoutdmError

if TYPE_CHECKING:
    from layoutdm.evaluate.evaluation import evaluate
    from layoutdm.evaluate.files import score
    from layoutdm.layout import Element, Layout
    from layoutdm.model import Model, load
    from layoutdm.spec import Spec
    from layoutdm.train.door import train_model as train

__version__ = "0.1.0"

__all__ = [
    "Element",
    "Layout",
    "LayoutdmError",
    "Model",
    "Spec",
    "__version__",
    "evaluate",
    "load",
    "score",
    "train",
]

# Loaded on first use: `import layoutdm` and `layoutdm --help` must not wait for numpy, pydantic or
# onnxruntime.
_LAZY = {
    "Element": "layoutdm.layout",
    "Layout": "layoutdm.layout",
    "Model": "layoutdm.model",
    "Spec": "layoutdm.spec",
    "load": "layoutdm.model",
    "score": "layoutdm.evaluate.files",
}
_DOORS = ("evaluate", "train")  # packages that can be called


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name in _DOORS:
        return import_module(f"layoutdm.{name}")
    raise AttributeError(f"module 'layoutdm' has no attribute {name!r}")
