"""Pages with content: images of documents whose every box, word and cell is known.

>>> from layoutdm.layout import Layout
>>> from layoutdm.pages import render
>>> page = render(Layout.create(["text"], [[0.5, 0.5, 0.8, 0.3]]), seed=3)
>>> page.image.size
(773, 1000)
"""

from layoutdm.pages.render import Look, Page, render
from layoutdm.pages.truth import Block, Cell, Truth, Word

__all__ = ["Block", "Cell", "Look", "Page", "Truth", "Word", "render"]
