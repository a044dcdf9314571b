"""Terms: each adjusts log p(z_0) of the tokens that are drawn now, and all work with any sampler.

| term | what it does |
|---|---|
| `Allowed` | labels that an element may have, and where PAD may stand |
| `OnCanvas` | sizes and centres whose boxes lie on the canvas |
| `Possible` | values from which wishes can no longer be met are out |
| `Near` | weak wishes: values near a wished one become more likely |
| `Related` | relations, areas, aspect ratios and reading order |
| `KeepApart` | the last value of a box leaves the others free |
| `LeaveRoom` | sizes and x look ahead for room |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from layoutdm.plan.batch import Batch
from layoutdm.settle import pins
from layoutdm.terms.allowed import Allowed
from layoutdm.terms.apart import Apart, KeepApart
from layoutdm.terms.canvas import OnCanvas
from layoutdm.terms.energies import Relaxation
from layoutdm.terms.near import Near
from layoutdm.terms.possible import Possible
from layoutdm.terms.related import Related
from layoutdm.terms.room import LeaveRoom
from layoutdm.terms.rows import Rows, State, Term, View
from layoutdm.tokens import Tokenizer

if TYPE_CHECKING:
    from layoutdm.generator.options import LayoutDMOptions

__all__ = [
    "Allowed",
    "Apart",
    "KeepApart",
    "LeaveRoom",
    "Near",
    "OnCanvas",
    "Possible",
    "Related",
    "Rows",
    "State",
    "Term",
    "View",
    "usual_terms",
]


def usual_terms(
    batch: Batch,
    tokenizer: Tokenizer,
    apart: Apart | None,
    options: LayoutDMOptions,
    *,
    in_turn: bool,
    draws_pad: bool = False,
) -> tuple[Term, ...]:
    """The terms that a batch needs, in their order: what is ruled out, wished, kept apart.

    in_turn: sizes are decided before places, and boxes one after the other. draws_pad: the network
    draws PAD, and would lose elements for which no place is free.
    """
    bins = tokenizer.bins
    terms: list[Term] = [Allowed(batch)]
    if not options.published:
        terms.append(OnCanvas(bins))
    if options.relations == "hold" and any(pins(one) for one in batch.conditions):
        terms.append(Possible(batch, bins, in_turn=in_turn))
    if any(np.isfinite(condition.about).any() for condition in batch.conditions):
        terms.append(Near(batch, bins.centres))
    if options.relation_strength and any(condition.guided for condition in batch.conditions):
        strength = options.relation_strength
        form: Relaxation = "box" if options.relations == "published" else "bins"
        terms.append(Related(batch, bins.centres, strength, form, move_sizes=not in_turn))
    if apart is not None and options.keep_apart and not draws_pad and not options.published:
        terms.append(KeepApart(batch, apart, bins.centres))
        if in_turn:
            terms.append(LeaveRoom(batch, apart, bins.centres))
    return tuple(terms)
