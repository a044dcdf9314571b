"""Makes the fonts of this folder from the originals: fewer letters, no hints, another name.

    python src/layoutdm/pages/fonts/make.py FOLDER_WITH_ORIGINALS

The Open Font License reserves the original names, so a smaller version needs its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

FAMILIES = {
    "Serif": "LiberationSerif",
    "Sans": "LiberationSans",
    "Open": "OpenSans",
}
FACES = ("Regular", "Bold", "Italic")
# Latin with its extensions, Greek, Cyrillic, punctuation, currency, letters, arrows, mathematics.
LETTERS = (
    (0x20, 0x7E), (0xA0, 0x24F), (0x2B0, 0x2DD), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x52F),
    (0x1E00, 0x1EFF), (0x2010, 0x2044), (0x2070, 0x209C), (0x20A0, 0x20BF), (0x2100, 0x214F),
    (0x2190, 0x21FF), (0x2200, 0x22FF), (0x25A0, 0x25FF), (0x2610, 0x2612),
)  # fmt: skip


def make(source: Path, target: Path, family: str, face: str) -> None:
    """One font file, in the order of its letters and without a date: same input, same bytes."""
    font = TTFont(source, recalcTimestamp=False)
    options = subset.Options(hinting=False, layout_features=["kern", "mark", "ccmp", "locl"])
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
    options.notdef_outline = True
    chooser = subset.Subsetter(options)
    chooser.populate(unicodes=[c for first, last in LETTERS for c in range(first, last + 1)])
    chooser.subset(font)
    name = f"Layoutdm {family}"
    for record in font["name"].names:
        text = {
            1: name,
            2: face,
            3: f"{name} {face}",
            4: f"{name} {face}",
            6: f"Layoutdm{family}-{face}",
        }.get(record.nameID)
        if text is not None:
            record.string = text
    font.save(target)


def main(folder: Path) -> None:
    here = Path(__file__).parent
    for family, original in FAMILIES.items():
        for face in FACES:
            source = next(folder.rglob(f"{original}-{face}.ttf"))
            make(source, here / f"{family}-{face}.ttf", family, face)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
