"""What every kind of content is drawn with: the sheet, the style, the words, the random numbers."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from layoutdm.pages.content import Text
from layoutdm.pages.sheet import Sheet
from layoutdm.pages.style import Style


@dataclass(frozen=True)
class Brush:
    sheet: Sheet
    style: Style
    text: Text
    random: Random  # of this element alone, so that no element changes another
    page: int  # the page's number, for headers, footers and captions
    screen: bool = False  # the page is a screen
    holds: bool = False  # on a screen: other elements lie on this one
