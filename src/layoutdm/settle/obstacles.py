"""Which wishes are in each other's way: without one of them, the others would hold.

>>> from layoutdm.layout import Layout
>>> from layoutdm.spec import Condition, Spec
>>> spec = Spec.parse({"elements": [{"name": "a", "width": 0.9, "height": 0.9}, {"name": "b"}],
...                    "relations": [{"of": "b", "is": "larger", "to": "a"},
...                                  {"of": "b", "is": "apart", "to": "a"}]})
>>> condition = Condition.from_spec(spec, ("text",), 5)
>>> page = Layout.create(["text", "text"], [[0.45, 0.45, 0.9, 0.9], [0.95, 0.5, 0.05, 0.9]])
>>> obstacles(condition, page)
['b larger a', 'b apart a']
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from layoutdm.layout import FIELDS, Layout
from layoutdm.settle.settle import settle
from layoutdm.spec import Condition
from layoutdm.spec.report import report

MOST = 60  # wishes that are looked at, one after the other


def obstacles(condition: Condition, layout: Layout) -> list[str]:
    """The wishes of which each alone, left out, lets all others hold; [] when it takes more."""
    if report(condition, layout).holds:
        return []
    index = {label: k for k, label in enumerate(condition.labels)}
    labels = np.array([index[label] for label in layout.labels], np.intp)
    found = []
    for _, (wanted, without) in zip(range(MOST), _each_left_out(condition), strict=False):
        settled = settle(without, layout.boxes, labels)
        trial = replace(layout, boxes=np.clip(settled.boxes, 0.0, 1.0))
        if report(without, trial).holds:
            found.append(wanted)
    return found


def _each_left_out(condition: Condition) -> Iterator[tuple[str, Condition]]:
    """(what is left out, the condition without it)."""
    told = report(condition, Layout.create([], [])).wishes
    relations = [wish for wish in told if wish.kind == "relation"]
    for k, wish in enumerate(relations):
        rest = np.arange(len(relations)) != k
        yield (
            wish.wanted,
            replace(
                condition,
                relations=condition.relations[rest],
                relation_paths=tuple(np.array(condition.relation_paths)[rest].tolist()),
                gap=condition.gap[rest],
                relation_strength=condition.relation_strength[rest],
            ),
        )
    for row in np.flatnonzero(np.isfinite(condition.area)).tolist():
        area = condition.area.copy()
        area[row] = np.nan
        wanted = f"area {condition.area[row]:g} of {_called(condition, row)}"
        yield wanted, replace(condition, area=area)
    for row in np.flatnonzero(np.isfinite(condition.aspect_ratio)).tolist():
        ratio = condition.aspect_ratio.copy()
        ratio[row] = np.nan
        wanted = f"aspect ratio {condition.aspect_ratio[row]:g} of {_called(condition, row)}"
        yield wanted, replace(condition, aspect_ratio=ratio)
    for place, column in np.argwhere(condition.bound).tolist():
        bound = condition.bound.copy()
        bound[place, column] = False
        field, within = FIELDS[column], condition.within[place, column]
        wanted = f"{field} within {within:g} of {_called(condition, place)}"
        yield wanted, replace(condition, bound=bound)
    if len(condition.reading_order) > 1:
        yield "the reading order", replace(condition, reading_order=np.zeros(0, np.intp))
    if any(condition.margins):
        yield "the margins", replace(condition, margins=(0.0,) * 4)
    if condition.equal_gaps:
        yield "equal gaps", replace(condition, equal_gaps=())


def _called(condition: Condition, row: int) -> str:
    return condition.names[row] or f"elements[{row}]"
