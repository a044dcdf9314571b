"""PDF documents: one page per layout (write only).

>>> import tempfile
>>> from layoutdm import Layout
>>> path = Path(tempfile.mkdtemp()) / "a.pdf"
>>> _ = write([Layout.create(["text"], [[0.5, 0.5, 0.8, 0.2]])] * 2, path)
>>> path.read_bytes()[:5]
b'%PDF-'

The pages are the pictures of `png`, at 150 dots per inch; they print well, but are no vectors: for
those there is SVG. The same layouts give the same bytes: no date is written.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from layoutdm.layout import Layout
from layoutdm.pictures.output import write_pictures
from layoutdm.pictures.palette import Scheme, scheme
from layoutdm.pictures.png import Look

RESOLUTION = 150.0
TOGETHER = 20  # pages


def write(
    layouts: Iterable[Layout],
    path: Path,
    *,
    height: int | None = None,
    labels: bool = True,
    names: bool = False,
    legend: bool = True,
) -> Path:
    """A page each; a folder as path: one document each."""
    look = Look(height, labels, names, legend)

    def one(layout: Layout, target: Path, colours: Scheme) -> None:
        _save([layout], target, look, colours)

    def many(all_layouts: list[Layout], target: Path) -> None:
        labels_of_all = (label for layout in all_layouts for label in layout.labels)
        _save(all_layouts, target, look, scheme(labels_of_all))

    return write_pictures(layouts, path, ".pdf", one, many)


def _save(layouts: list[Layout], target: Path, look: Look, colours: Scheme) -> None:
    """A few pages at a time: the library holds in memory what it is given at once."""
    for start in range(0, max(len(layouts), 1), TOGETHER):
        some = layouts[start : start + TOGETHER]
        pages = [look.one(layout, colours) for layout in some] or [look.many([])]
        pages[0].save(
            target,
            format="PDF",
            append=start > 0,
            save_all=True,
            append_images=pages[1:],
            resolution=RESOLUTION,
            quality=93,
            subsampling=0,
            title=None,  # by default the name of the part that is being written
            creationDate=None,
            modDate=None,
        )
