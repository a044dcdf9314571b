"""What the systems share at run time: their config.json, refusals, numbers of elements, results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.draw import draw
from layoutdm.errors import LayoutdmError
from layoutdm.generator.protocol import Drawn, Options
from layoutdm.spec import Condition
from layoutdm.tokens import Bins, Tokenizer

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Value = TypeVar("Value")
OptionsType = TypeVar("OptionsType", bound=Options)

FORMAT = 1
BATCH = 64  # layouts that are drawn together


@dataclass(frozen=True, eq=False)
class Common:
    """The part of config.json that every system has."""

    tokenizer: Tokenizer
    canvas: tuple[float, float] = (1.0, 1.0)
    histogram: Floats = field(
        default_factory=lambda: np.ones(25)
    )  # layouts with 1, 2, ... elements
    sampling: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by task
    fingerprint: str = ""

    def options(self, options: OptionsType, task: str) -> OptionsType:
        """The model's own options for a task, on top of the system's."""
        own = {**self.sampling.get("default", {}), **self.sampling.get(task, {})}
        return options.replaced(**own)


def read_common(folder: Path, record: Mapping[str, Any], fingerprint: str) -> Common:
    """From config.json; a damaged one is told in one sentence."""

    def parts() -> Common:
        if record.get("format") != FORMAT:
            raise ValueError(f"format {record.get('format')!r}; this version reads {FORMAT}")
        width, height = record["canvas"]
        most = int(record["max_elements"])
        histogram = np.asarray(record["number_histogram"], dtype=np.float64)
        if histogram.shape != (most,) or not (histogram >= 0).all() or histogram.sum() <= 0:
            raise ValueError(f"number_histogram must hold {most} counts")
        labels = tuple(str(label) for label in record["labels"])
        return Common(
            Tokenizer(labels, Bins.from_dict(record["bins"]), most),
            (float(width), float(height)), histogram, record.get("sampling") or {}, fingerprint,
        )  # fmt: skip

    return understood(folder, parts)


def understood(folder: Path, read: Callable[[], Value]) -> Value:
    """What `read` makes of a folder's config.json, or one sentence about what is wrong in it."""
    try:
        return read()
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise LayoutdmError(f"{folder / 'config.json'}: damaged: {reason}") from None


@dataclass(frozen=True, eq=False)
class System:
    """What every generator of this room has; `common` comes from its folder."""

    common: Common

    @property
    def labels(self) -> tuple[str, ...]:
        return self.common.tokenizer.labels

    @property
    def max_elements(self) -> int:
        return self.common.tokenizer.max_elements

    @property
    def fingerprint(self) -> str:
        return self.common.fingerprint

    @property
    def canvas(self) -> tuple[float, float]:
        return self.common.canvas


def refusal(
    name: str,
    condition: Condition,
    *,
    draft: bool = False,
    relations: bool = False,
) -> str | None:
    """Why a system without drafts, relations or other wishes cannot take a condition."""
    if np.isfinite(condition.about).any() and not draft:
        return f"{name} cannot start from a draft; fix the values or leave `about` out"
    if len(condition.relations) and not relations:
        return f"{name} knows no relations; leave `relations` out or use layoutdm"
    others = {
        "area": np.isfinite(condition.area).any(),
        "aspect_ratio": np.isfinite(condition.aspect_ratio).any(),
        "reading_order": len(condition.reading_order) > 1,
    }
    wished = [wish for wish, there in others.items() if there]
    if wished:
        return f"{name} takes no wish for {wished[0]}; leave it out or use layoutdm"
    return None


def labels_only(name: str, condition: Condition) -> str | None:
    """Why a system that places a known set of labels cannot take a condition."""
    if not len(condition) or condition.more or condition.min_elements > len(condition):
        return f"{name} places given elements; list every element with its label"
    if (condition.label_choices.sum(axis=1) != 1).any():
        return f"{name} needs the label of every element; give each exactly one"
    return None


def draw_number(histogram: Floats, condition: Condition, stream: np.random.Generator) -> int:
    """How many elements: as often as in the train split, within what the condition allows."""
    low, high = max(condition.min_elements, len(condition), 1), condition.max_elements
    if low >= high:
        return low
    weights = histogram[low - 1 : high].astype(np.float64)
    if not weights.sum():  # never seen so many: any is as good
        weights = np.ones_like(weights)
    return low + int(draw(weights[None], np.array([stream.random()]))[0])


def batches(sizes: Sequence[int], batch: int = BATCH) -> Iterator[list[int]]:
    """Indices of layouts of like size, at most `batch` together.

    >>> list(batches([3, 9, 1], batch=2))
    [[2, 0], [1]]
    """
    order = sorted(range(len(sizes)), key=lambda i: sizes[i])
    for begin in range(0, len(order), batch):
        yield order[begin : begin + batch]


def put_tokens(
    drawn: Drawn, row: int, tokens: Ints, tokenizer: Tokenizer, condition: Condition
) -> None:
    """Put the elements of (S, 5) local ids into a row; invalid ones are left out."""
    decoded = tokenizer.decode(tokens)
    put_boxes(drawn, row, decoded.labels, decoded.boxes, condition)


def put_boxes(drawn: Drawn, row: int, labels: Ints, boxes: Floats, condition: Condition) -> None:
    """Put elements into a row; what the condition fixes is put back exactly."""
    boxes, n = boxes.copy(), min(len(condition), len(labels))
    given = np.isfinite(condition.fixed[:n])
    boxes[:n][given] = condition.fixed[:n][given]
    drawn.label[row, : len(labels)], drawn.box[row, : len(labels)] = labels, boxes
    drawn.mask[row, : len(labels)] = True
