"""The sample set: layouts of our own making, so that everything can be tried without a download.

>>> layouts = generate("screen", 2, seed=0)
>>> layouts[0].id, layouts == generate("screen", 2, seed=0)
('screen-000', True)

Two styles: "screen" (phone screens with the label names of Rico) and "page" (article pages with
those of PubLayNet). A layout depends on style, seed and its number only, not on how many are made.
The set that ships with the package is `shipped()`, packed in `PATH`.
"""

from __future__ import annotations

from pathlib import Path

from layoutdm.data.sample_pages import draw_page
from layoutdm.data.sample_screens import draw_screen
from layoutdm.data.sketch import Dice
from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout

PATH = Path(__file__).with_name("sample.jsonl.gz")
SHIPPED = {"screen": 100, "page": 100}

_STYLES = {"screen": draw_screen, "page": draw_page}


def generate(style: str, count: int, seed: int = 0) -> list[Layout]:
    """Layouts number 0 to count - 1 of a style."""
    if style not in _STYLES:
        raise LayoutdmError(f"style must be one of {', '.join(_STYLES)}, got {style!r}")
    if count < 0:
        raise LayoutdmError(f"count must not be negative, got {count}")
    return [_one(style, number, seed) for number in range(count)]


def shipped() -> list[Layout]:
    """The layouts of the shipped file, made anew."""
    return [layout for style, count in SHIPPED.items() for layout in generate(style, count)]


def load() -> list[Layout]:
    """The layouts of the shipped file, read from it."""
    from layoutdm.formats import read

    return list(read(PATH, format="jsonl"))


def _one(style: str, number: int, seed: int) -> Layout:
    sketch = _STYLES[style](Dice(f"{style} {seed} {number}"))
    return sketch.layout(f"{style}-{number:03d}")


if __name__ == "__main__":
    from layoutdm.formats import write

    print(write(shipped(), PATH))
