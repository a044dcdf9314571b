"""Labels as people write them: any case and spelling, other words, and the nearest ones.

>>> find("text button", ("Text", "Text Button"))
'Text Button'
>>> find("Navbar", ("Toolbar",), {"Navbar": "Toolbar"})
'Toolbar'
>>> hint("Buton", ("Text Button", "Image"), {"Button": "Text Button"})
"did you mean 'Text Button'? `layoutdm labels` lists all"
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

NEAREST = 3
LISTED = 12
LIST = "`layoutdm labels` lists all"


def find(word: str, labels: Sequence[str], aliases: Mapping[str, str] | None = None) -> str | None:
    """The label that a word stands for, or None."""
    if word in labels:
        return word
    return spellings(labels, aliases).get(folded(word))


def spellings(labels: Sequence[str], aliases: Mapping[str, str] | None = None) -> dict[str, str]:
    """Every word, folded, that stands for a label."""
    known = {folded(word): label for word, label in (aliases or {}).items() if label in labels}
    return known | {folded(label): label for label in reversed(labels)}


def hint(word: str, labels: Sequence[str], aliases: Mapping[str, str] | None = None) -> str:
    """The nearest labels, or which ones there are when none is near."""
    if len(word) <= 100 and len(labels) <= 2000:  # the comparison is quadratic
        words = spellings(labels, aliases)
        near = difflib.get_close_matches(folded(word), list(words), n=8, cutoff=0.55)
        found = list(dict.fromkeys(words[one] for one in near))[:NEAREST]
        if found:
            return f"did you mean {' or '.join(repr(one) for one in found)}? {LIST}"
    if not labels:
        return "there are no labels"
    shown = ", ".join(repr(label) for label in labels[:LISTED])
    return f"the labels are {shown}" + (f" and others; {LIST}" if len(labels) > LISTED else "")


def folded(word: str) -> str:
    letters = "".join(c for c in word.casefold() if c.isalnum())
    return letters or word
