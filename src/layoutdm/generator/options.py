"""The options of LayoutDM: how its layouts are sampled, in one frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from layoutdm.errors import LayoutdmError
from layoutdm.generator.protocol import Options

Sampling = Literal["element", "plain"]
Wishes = Literal["hold", "guided", "published"]


@dataclass(frozen=True)
class LayoutDMOptions(Options):
    """Every choice that LayoutDM leaves open.

    >>> LayoutDMOptions().replaced(steps=20, top_p=0.95).steps
    20
    """

    steps: int | None = None  # None: all levels of the schedule
    # Which sampler: one element after the other, or the paper's, in which the schedule decides.
    # None: "element" where the number of elements is drawn first, "plain" where PAD is drawn.
    sampler: Sampling | None = None
    # The released code's step: its way of skipping levels, and its forms of filter and prior.
    published: bool = False
    temperature: float = 1.0
    top_p: float = 1.0  # of boxes; published: of labels as well
    label_top_p: float = 1.0  # rare labels are no mistakes, as unlikely places often are
    remask: float = 0.0  # chance that a decided token becomes MASK again, in each step (plain)
    # Elements whose labels keep apart in the data do so here, and leave room for what follows.
    keep_apart: bool = True
    # On Rico's val split 50 brings violated relations under a third of the unguided share.
    relation_strength: float = 50.0
    # Values from which a wish could no longer be met are ruled out; "guided" only pulls, and
    # "published" pulls as the paper does, by the gradient of the expected boxes.
    relations: Wishes = "hold"

    def __post_init__(self) -> None:
        for name, kind in (
            ("sampler", Sampling), ("relations", Wishes),
        ):  # fmt: skip
            value, allowed = getattr(self, name), get_args(kind)
            if value not in allowed and not (name == "sampler" and value is None):
                raise LayoutdmError(f"{name} must be {' or '.join(allowed)}, got {value!r}")
        for name in ("published", "keep_apart"):
            value = getattr(self, name)
            _check(isinstance(value, bool), name, value, "true or false")
        whole = isinstance(self.steps, int) and not isinstance(self.steps, bool)
        right = self.steps is None or (whole and self.steps >= 1)
        _check(right, "steps", self.steps, "a whole number from 1")
        for name, low, high, wanted in (
            ("temperature", 1e-6, 1e6, "more than 0 (from 1e-6 to 1e6)"),
            ("top_p", 1e-9, 1, "more than 0 (from 1e-9) and at most 1"),
            ("label_top_p", 1e-9, 1, "more than 0 (from 1e-9) and at most 1"),
            ("remask", 0, 1, "from 0 to 1"),
            ("relation_strength", 0, 1e9, "from 0 to 1e9"),
        ):
            value = getattr(self, name)
            real = isinstance(value, (int, float)) and not isinstance(value, bool)
            _check(real and low <= value <= high, name, value, wanted)


def _check(right: bool, name: str, value: object, wanted: str) -> None:
    if not right:
        raise LayoutdmError(f"{name} must be {wanted}, got {value!r}")
