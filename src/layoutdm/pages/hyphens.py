"""Where an English word is parted at the end of a line."""

from __future__ import annotations

from layoutdm.pages.typefaces import Face

VOWELS = "aeiouy"
ONE_SOUND = {"ch", "ck", "gh", "ng", "ph", "qu", "sh", "th", "wh", "bl", "br", "cl", "cr", "dr"}
ONE_SOUND |= {"fl", "fr", "gl", "gr", "pl", "pr", "sc", "st", "tr", "nd", "wn"}
SHORTEST = 7  # letters of a word that is parted


def parted(word: str, face: Face, room: float) -> tuple[str, str]:
    """The part of a long word that still fits a line, with its hyphen, and the rest.

    Only between two consonants that stand between vowels, where English words mostly part.

    >>> from layoutdm.pages.typefaces import BOX, Face
    >>> face = Face(BOX[0].regular, 12)
    >>> parted("important.", face, face.width("impor-")), parted("large", face, 100)
    (('impor-', 'tant.'), ('', 'large'))
    """
    letters = word.rstrip(".,;:)")
    plain = letters.isascii() and letters.isalpha() and letters[1:].islower()
    if len(letters) < SHORTEST or not plain:
        return "", word
    for at in range(len(letters) - 3, 2, -1):
        before, first, second, after = list(word[at - 2 : at + 2].lower())
        between = before in VOWELS and first not in VOWELS and second not in VOWELS
        if not between or after not in VOWELS or first + second in ONE_SOUND:
            continue
        if face.width(word[:at] + "-") <= room:
            return word[:at] + "-", word[at:]
    return "", word
