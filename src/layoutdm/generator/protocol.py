"""`Generator`: what a system must offer to be used by `Model`, `evaluate`, the server and all else.

>>> import numpy as np
>>> drawn = empty(batch=2, slots=3)
>>> drawn.mask[0, :2] = True
>>> drawn.counts.tolist()
[2, 0]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from layoutdm.errors import LayoutdmError
from layoutdm.spec import Condition

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Options:
    """The options of a generator: a frozen dataclass whose field names are the names of `--set`.

    A generator's own class inherits from this one, gives every field a default, and checks values
    in `__post_init__`, raising LayoutdmError with one sentence.
    """

    def replaced(self, **changes: Any) -> Self:
        """With these options changed; None leaves an option as it is."""
        known = [item.name for item in fields(self)]
        for name in changes:
            if name not in known:
                all_names = ", ".join(sorted(known)) or "none"
                raise LayoutdmError(f"unknown option {name!r}; the options are: {all_names}")
        given = {name: _plain(value) for name, value in changes.items() if value is not None}
        return replace(self, **given)


@dataclass(frozen=True, eq=False)
class Drawn:
    """B drawn layouts of up to S elements; listed elements come first, in their order."""

    label: Ints  # (B, S): index into the generator's labels
    box: Floats  # (B, S, 4): centre x, centre y, width, height, 0..1
    mask: Bools  # (B, S): True where there is an element

    @property
    def counts(self) -> Ints:
        """(B,): how many elements each layout has."""
        return np.asarray(self.mask.sum(axis=1), dtype=np.int64)


def check_drawn(drawn: Drawn, batch: int, generator: Generator) -> None:
    """Say in one sentence what a generator did wrong, where it did."""
    label, box, there = (np.shape(part) for part in (drawn.label, drawn.box, drawn.mask))
    if label != there or box != (*there, 4) or there[:1] != (batch,) or len(there) != 2:
        fault = f"{label}, {box}, {there} as shapes of label, box, mask; it should be (B, S), "
        fault += f"(B, S, 4), (B, S) with B = {batch}"
    elif not np.isfinite(drawn.box[drawn.mask]).all():
        fault = "boxes that are no numbers"
    elif not np.isin(drawn.label[drawn.mask], np.arange(len(generator.labels))).all():
        fault = f"labels that are not from 0 to {len(generator.labels) - 1}"
    else:
        return
    raise LayoutdmError(f"generator {generator.name!r} drew {fault}")


def empty(batch: int, slots: int) -> Drawn:
    """Arrays of the right shapes without an element, to be filled."""
    return Drawn(
        np.zeros((batch, slots), dtype=np.int64),
        np.full((batch, slots, 4), 0.5),
        np.zeros((batch, slots), dtype=bool),
    )


@dataclass(frozen=True, eq=False)
class Frame:
    """A state on the way: what is decided so far of each element at a level of noise."""

    level: int
    labels: tuple[str | None, ...]
    boxes: Floats  # (elements, 4), NaN where not decided


class Generator(Protocol):
    """One system, ready to draw; the run half: numpy and onnxruntime, never torch.

    Some things are optional: `canvas`, the (width, height) of its layouts; `aliases`, other words
    for its labels; `apart`, which labels keep apart in its data (`terms.Apart`);
    `check(options)`, which raises where options do not fit each other or the model; and
    `trace(conditions, options, streams)`, the frames on the way of what `draw` makes.
    """

    @property
    def name(self) -> str:
        """The system's name, as in config.json: "layoutdm", "layouttrans", ..."""
        ...

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def max_elements(self) -> int: ...

    @property
    def fingerprint(self) -> str:
        """Changes when anything that decides the drawn layouts does."""
        ...

    @property
    def options(self) -> type[Options]:
        """The class of this generator's options."""
        ...

    def usual(self, task: str) -> Options:
        """The options that this generator does a task best with (see `spec.tasks.TASKS`)."""
        ...

    def refuses(self, condition: Condition) -> str | None:
        """Why this system cannot draw for a condition, in one sentence; None: it can."""
        ...

    def draw(
        self,
        conditions: Sequence[Condition],
        options: Any,
        streams: Sequence[np.random.Generator],
    ) -> Drawn:
        """One layout a condition, each from its own stream, whatever its neighbours are.

        Fixed labels are honoured. Fixed values are put back exactly by `Model`; a generator uses
        them as well as its system can. Only conditions that it does not refuse come here.
        """
        ...


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
