"""JPEG pictures, for tools that take no PNG (write only).

>>> import tempfile
>>> from layoutdm import Layout
>>> path = Path(tempfile.mkdtemp()) / "a.jpg"
>>> _ = write([Layout.create(["text"], [[0.5, 0.5, 0.8, 0.2]])], path)
>>> path.read_bytes()[:3]
b'\\xff\\xd8\\xff'

The pictures are those of `png`; fine print in full quality, since JPEG blurs letters otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PIL import Image

from layoutdm.layout import Layout
from layoutdm.pictures.png import Look, write_images


def write(
    layouts: Iterable[Layout],
    path: Path,
    *,
    height: int | None = None,
    labels: bool = True,
    names: bool = False,
    legend: bool = True,
    columns: int | None = None,
    captions: bool = True,
) -> Path:
    """One layout: its picture. Several: a contact sheet. A folder as path: one file each."""
    look = Look(height, labels, names, legend, columns, captions)
    return write_images(layouts, path, ".jpg", _save, look)


def _save(image: Image.Image, path: Path) -> None:
    image.save(path, format="JPEG", quality=93, subsampling=0, optimize=True)
