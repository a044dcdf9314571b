"""The orders in which the elements of a layout can stand.

>>> from layoutdm import Layout
>>> page = Layout.create(["text", "title"], [[0.5, 0.6, 0.8, 0.7], [0.5, 0.1, 0.8, 0.1]])
>>> top_left(page, ("text", "title")).labels
('title', 'text')
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, get_args

import numpy as np

from layoutdm.boxes import reading_order
from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout

Order = Literal["dataset", "random", "top-left"]
ORDERS: tuple[str, ...] = get_args(Order)


def reorder(
    layouts: Iterable[Layout],
    order: str,
    labels: Sequence[str] = (),
    seed: int | Sequence[int] = 0,
) -> Iterator[Layout]:
    """The layouts with their elements in this order; `random` is the same for the same seed."""
    check_order(order)
    generator = np.random.default_rng(seed)
    for layout in layouts:
        if order == "random":
            yield layout.take(generator.permutation(len(layout)))
        elif order == "top-left":
            yield top_left(layout, labels)
        else:
            yield layout


def check_order(order: str) -> None:
    if order not in ORDERS:
        raise LayoutdmError(f"order {order!r} is unknown; it should be one of {', '.join(ORDERS)}")


def top_left(layout: Layout, labels: Sequence[str] = ()) -> Layout:
    """By top edge, then left edge; equal corners by label index, then as they stood.

    This is the order of the paper's "ordered" experiments. Labels not in `labels` come after
    those that are, by name.
    """
    index = {label: position for position, label in enumerate(labels)}
    unknown = sorted(set(layout.labels) - index.keys())
    index.update((label, len(labels) + position) for position, label in enumerate(unknown))
    corners = layout.corners()
    label_keys = np.array([index[label] for label in layout.labels], dtype=np.intp)
    return layout.take(reading_order(corners[:, 0], corners[:, 1], label_keys))
