"""What a Layout can be made from and turned into: one line for each format.

>>> import tempfile
>>> from layoutdm import Layout
>>> path = Path(tempfile.mkdtemp()) / "page.json"
>>> page = Layout.create(["text"], [[0.5, 0.5, 0.8, 0.2]], width=600, height=800, id="7")
>>> Layout.from_coco(page.as_coco(path)) == page
True

`from_x(path)` gives the first layout of a file or folder, or the one with the given id;
`as_x(path)` writes a file or folder with this one layout; SVG, HTML and images need no path. For
many layouts at once there are `layoutdm.formats.read` and `write`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from layoutdm.errors import LayoutdmError

if TYPE_CHECKING:
    from PIL.Image import Image

    from layoutdm.layout import Layout

Name = str | Path


class OneLiners:
    """The part of Layout that knows the formats, each imported when it is asked for."""

    @classmethod
    def from_file(cls, path: Name, format: str | None = None, id: str | None = None) -> Layout:
        """The first layout, or that with the given id, in any readable format."""
        from layoutdm.formats import read

        for layout in read(path, format=format):
            if id is None or layout.id == id:
                return layout
        if id is None:
            raise LayoutdmError(f"{path}: holds no layout; it should hold at least one")
        raise LayoutdmError(f"{path}: holds no layout with the id {id!r}; check the id")

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Layout:
        """From a native record: {"id", "width", "height", "labels", "boxes"}."""
        from layoutdm.formats.jsonl import from_record

        return from_record(record)

    @classmethod
    def from_jsonl(cls, path: Name, id: str | None = None) -> Layout:
        return cls.from_file(path, "jsonl", id)

    @classmethod
    def from_coco(cls, path: Name, id: str | None = None) -> Layout:
        return cls.from_file(path, "coco", id)

    @classmethod
    def from_yolo(cls, path: Name, id: str | None = None) -> Layout:
        return cls.from_file(path, "yolo", id)

    @classmethod
    def from_voc(cls, path: Name, id: str | None = None) -> Layout:
        return cls.from_file(path, "voc", id)

    @classmethod
    def from_labelstudio(cls, path: Name, id: str | None = None) -> Layout:
        return cls.from_file(path, "labelstudio", id)

    @classmethod
    def from_csv(cls, path: Name, id: str | None = None) -> Layout:
        return cls.from_file(path, "csv", id)

    @classmethod
    def from_parquet(cls, path: Name, id: str | None = None) -> Layout:
        return cls.from_file(path, "parquet", id)

    @classmethod
    def from_rico(cls, path: Name, id: str | None = None) -> Layout:
        return cls.from_file(path, "rico", id)

    @classmethod
    def from_publaynet(cls, path: Name, id: str | None = None) -> Layout:
        return cls.from_file(path, "publaynet", id)

    def save(self, path: Name, format: str | None = None, **options: Any) -> Path:
        """Write this one layout; the format follows from the path unless given."""
        from layoutdm.formats import write

        return write([self._layout], path, format=format, **options)

    def as_dict(self) -> dict[str, Any]:
        """As a native record, ready for json.dumps."""
        from layoutdm.formats.jsonl import to_record

        return to_record(self._layout)

    def as_jsonl(self, path: Name) -> Path:
        return self.save(path, "jsonl")

    def as_coco(self, path: Name) -> Path:
        return self.save(path, "coco")

    def as_yolo(self, path: Name) -> Path:
        return self.save(path, "yolo")

    def as_voc(self, path: Name) -> Path:
        return self.save(path, "voc")

    def as_labelstudio(self, path: Name, kind: str = "annotations") -> Path:
        return self.save(path, "labelstudio", kind=kind)

    def as_csv(self, path: Name) -> Path:
        return self.save(path, "csv")

    def as_parquet(self, path: Name) -> Path:
        return self.save(path, "parquet")

    def as_png(self, path: Name) -> Path:
        return self.save(path, "png")

    def as_jpg(self, path: Name) -> Path:
        return self.save(path, "jpg")

    def as_pdf(self, path: Name) -> Path:
        return self.save(path, "pdf")

    def as_pptx(self, path: Name) -> Path:
        return self.save(path, "pptx")

    def as_image(self, height: int | None = None) -> Image:
        """As a Pillow image whose canvas is `height` pixels high."""
        from layoutdm.pictures.png import to_image

        return to_image(self._layout, height)

    def as_svg(self) -> str:
        from layoutdm.pictures.svg import to_svg

        return to_svg(self._layout)

    def as_html(self, mode: str = "absolute") -> str:
        """As a page of its own; `mode` is absolute or grid."""
        from layoutdm.pictures.html import to_html

        return to_html(self._layout, mode=mode)

    @property
    def _layout(self) -> Layout:
        return cast("Layout", self)
