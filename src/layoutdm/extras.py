"""Packages that not every installation has, and the extra that brings each.

>>> sentence("torch", "training")
"training needs the package 'torch'; install it with: pip install 'layoutdm[train]'"
"""

from __future__ import annotations

from importlib.util import find_spec

from layoutdm.errors import LayoutdmError

EXTRAS = {
    "torch": "train",
    "accelerate": "train",
    "sklearn": "train",
    "scipy": "train",
    "prdc": "train",
    "matplotlib": "train",
    "onnx": "train",
    "safetensors": "train",
    "huggingface_hub": "train",
    "tensorboard": "train",
    "pyarrow": "parquet",
    "pptx": "pptx",
    "fastapi": "serve",
    "uvicorn": "serve",
    "ray": "ray",
    "fontTools": "pages",
}


def need(what: str, *packages: str) -> None:
    """Raise, in one sentence, before work begins for which a package is missing."""
    for package in packages:
        try:
            there = find_spec(package) is not None
        except (ImportError, ValueError):
            there = False
        if not there:
            raise LayoutdmError(sentence(package, what))


def sentence(package: str, what: str = "this") -> str:
    """What is missing and how to get it."""
    extra = EXTRAS.get(package)
    how = f"'layoutdm[{extra}]'" if extra else package
    return f"{what} needs the package {package!r}; install it with: pip install {how}"
