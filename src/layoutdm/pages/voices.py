"""Words with fonts that can write them; letters that no font has are told, never drawn as boxes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from layoutdm.errors import LayoutdmError
from layoutdm.pages import content, typefaces
from layoutdm.pages.render import Voice
from layoutdm.pages.typefaces import Family

ENOUGH = 0.99  # of a text's letters: a family that has fewer is not used for it


def of_languages(names: Iterable[str], families: Sequence[Family]) -> tuple[Voice, ...]:
    """Embedded filler; each language with the families that have its letters."""
    voices = []
    for name in names:
        text = content.filler(name)
        letters = set("".join(content.vocabulary_of(name)))
        fit = tuple(f for f in families if not typefaces.missing([f], letters))
        if not fit:
            raise LayoutdmError(
                f"--language {name}: no font has its letters; add one that does with --fonts, "
                "or use the fonts in the box"
            )
        voices.append(Voice(text, fit))
    return tuple(voices)


def of_text(
    name: str, text: str, families: Sequence[Family], *, system: bool = False
) -> tuple[Voice, str]:
    """The user's own text, and what to tell about letters that had to be left out ("" if none).

    system: the fonts of this machine are among the families already.
    """
    letters = Counter(c for c in text if not c.isspace())
    total = sum(letters.values())
    have = {f: total - sum(letters[c] for c in typefaces.missing([f], letters)) for f in families}
    fit = tuple(f for f in families if have[f] >= ENOUGH * total)
    if not fit:
        best = max(families, key=lambda f: have[f])
        lost = "".join(sorted(typefaces.missing([best], letters), key=lambda c: -letters[c]))[:12]
        raise LayoutdmError(
            f"--text {name}: no font has its letters ({lost} are missing, among others); "
            "give a font that has them with --fonts FILE"
            + ("" if system else ", or try --fonts system")
        )
    lacking = set().union(*(typefaces.missing([f], letters) for f in fit))
    if not lacking:
        return Voice(content.own(text, name), fit), ""
    kept = [word for word in text.split() if not lacking & set(word)]
    note = (
        f"{name}: {len(text.split()) - len(kept):,} words are left out, as no font has "
        f"{' '.join(sorted(lacking)[:12])}; --fonts FILE adds one that does"
    )
    return Voice(content.own(" ".join(kept), name), fit), note
