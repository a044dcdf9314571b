"""Everything that decides a set of pages, as one value that travels to every worker."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from layoutdm.pages import pool, typefaces, voices
from layoutdm.pages.balance import Bag
from layoutdm.pages.render import Look, Voice

IMAGES = {"jpg": "JPEG", "png": "PNG"}


@dataclass(frozen=True)
class Recipe:
    """How layouts become files; plain data only, so that it can be sent to another machine."""

    seed: int = 0
    model: str = ""  # name or folder; "" when layouts come from a file
    weights_of_model: str = ""  # fingerprint that every worker's model must have
    request: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    bags: tuple[Bag, ...] = ()  # of --labels, with their weights
    weights: tuple[float, ...] = ()
    height: int = 1000
    style: str = "varied"
    languages: tuple[str, ...] = ("en",)
    texts: tuple[tuple[str, str], ...] = ()  # names and contents
    fonts: tuple[str, ...] = ()
    pool: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)
    sizes: tuple[tuple[float, float], ...] = ()
    landscape: float = 0.0
    splits: tuple[float, float, float] = (0.8, 0.1, 0.1)
    image: str = "jpg"
    boxes: str = "ink"
    words: bool = True
    pdf: bool = False

    @cached_property
    def voices(self) -> tuple[tuple[Voice, ...], tuple[str, ...]]:
        """The words with their fonts, and what there is to tell about them."""
        families = typefaces.families(self.fonts)
        if not self.texts:
            return voices.of_languages(self.languages, families), ()
        system = "system" in self.fonts
        found = [voices.of_text(name, text, families, system=system) for name, text in self.texts]
        return tuple(voice for voice, _ in found), tuple(note for _, note in found if note)

    def look(self) -> Look:
        some = pool.load(Path(self.pool)) if self.pool else None
        return Look(self.height, self.style, self.voices[0], self.roles, some)

    def describe(self) -> dict[str, Any]:
        """What a resumed job is compared by: contents by their fingerprints, not by paths."""
        families = typefaces.families(self.fonts)
        return {
            "height": self.height,
            "style": self.style,
            "languages": list(self.languages),
            "texts": [_digest(text) for _, text in self.texts],
            "fonts": typefaces.fingerprint(families),
            "pool": pool.load(Path(self.pool)).fingerprint() if self.pool else "",
            "roles": dict(self.roles),
            "sizes": [list(size) for size in self.sizes],
            "landscape": self.landscape,
            "splits": list(self.splits),
            "image": self.image,
            "boxes": self.boxes,
            "words": self.words,
            "pdf": self.pdf,
            "bags": _digest(repr((self.bags, self.weights))) if self.bags else "",
            **self.settings,
        }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
