"""Short forms of common wishes on the command line, as parts of a request."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layoutdm.cli.request_file import read_request
from layoutdm.errors import LayoutdmError
from layoutdm.relations.table import NAMES, suggested

RELATIONS = NAMES
OF_CANVAS = ("top", "middle", "bottom")
_SPOKEN = {name.replace("_", " "): name for name in RELATIONS if "_" in name}
_WORDS = "|".join(sorted((*RELATIONS, *_SPOKEN), key=len, reverse=True))
_RELATION = re.compile(
    rf"^(?P<of>.+?)\s+(?:is\s+)?(?P<is>{_WORDS})(?:\s+(?P<to>.+?))?(?:\s+by\s+(?P<gap>[\d.]+))?$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Wishes:
    """What the options of `layoutdm generate` say about the layouts."""

    spec: str | None = None  # path of a request, or - for standard input
    labels: Sequence[str] = ()
    relations: Sequence[str] = ()
    complete: Path | None = None
    refine: Path | None = None
    within: float | None = None
    more: bool | None = None
    elements: str | None = None

    def request(self) -> dict[str, Any]:
        """One request out of all of them; short forms add to what the file says."""
        request = read_request(self.spec) if self.spec is not None else {}
        listed = [
            *request.get("elements", ()),
            *(_completed(self.complete) if self.complete else ()),
            *(_refined(self.refine, self.within) if self.refine else ()),
            *(element(text) for text in self.labels),
        ]
        related = [relation(text) for text in self.relations]
        if listed:
            request["elements"] = _named(listed, related)
        if related:
            request["relations"] = [*request.get("relations", ()), *related]
        for path in (self.refine, self.complete):
            if path is not None and "canvas" not in request:
                layout = _first_layout(path)
                if (layout.width, layout.height) != (1.0, 1.0):
                    request["canvas"] = {"width": layout.width, "height": layout.height}
        if self.complete and self.more is None:
            request.setdefault("more", True)
        if self.more is not None:
            request["more"] = self.more
        if self.elements is not None:
            request["number_of_elements"] = number(self.elements)
        return request


def element(text: str) -> dict[str, Any]:
    """`Image`, `hero=Image` (with a name) or `Icon|Image` (one of several).

    >>> element("hero=Icon|Image")
    {'name': 'hero', 'label': ['Icon', 'Image']}
    """
    name, equals, label = text.rpartition("=")
    choices = [part.strip() for part in label.split("|")]
    if not all(choices) or (equals and not name.strip()):
        raise LayoutdmError(
            f"--label {text!r}: write a label, a name and a label (hero=Image), "
            "or a choice (Icon|Image)"
        )
    record: dict[str, Any] = {"name": name.strip()} if equals else {}
    record["label"] = choices if len(choices) > 1 else choices[0]
    return record


def relation(text: str) -> dict[str, Any]:
    """`hero below bar`, `hero is larger canvas`, `cta bottom` (of the canvas), `a below b by 0.02`.

    >>> relation("Text Button left of hero")
    {'of': 'Text Button', 'is': 'left_of', 'to': 'hero'}
    """
    found = _RELATION.match(" ".join(text.split()))
    if found is None:
        meant = next((m for word in text.split() if (m := suggested(word))), None)
        hint = f"did you mean {meant!r}? " if meant else ""
        raise LayoutdmError(
            f'--relation {text!r}: write it as "hero below bar"; {hint}the relations are: '
            f"{', '.join(RELATIONS)}"
        )
    kind = _SPOKEN.get(found["is"].lower(), found["is"].lower())
    to = found["to"] or ("canvas" if kind in OF_CANVAS else None)
    if to is None:
        raise LayoutdmError(f'--relation {text!r}: say to what, as in "hero {found["is"]} bar"')
    wish: dict[str, Any] = {"of": found["of"], "is": kind}
    wish["to"] = to.removeprefix("of ").removeprefix("the ")
    if found["gap"]:
        try:
            wish["gap"] = float(found["gap"])
        except ValueError:
            raise LayoutdmError(f"--relation {text!r}: {found['gap']!r} is no distance") from None
    return wish


def number(text: str) -> int | dict[str, int]:
    """`8`, `6-12`, `6-` or `-12`.

    >>> number("6-12")
    {'min': 6, 'max': 12}
    """
    found = re.fullmatch(r"\s*(\d*)\s*(-?)\s*(\d*)\s*", text)
    if found and found[1] and not found[2]:
        return int(found[1])
    if found and found[2] and (found[1] or found[3]):
        bounds = {"min": found[1], "max": found[3]}
        return {key: int(value) for key, value in bounds.items() if value}
    raise LayoutdmError(f"--elements {text!r}: write a number (8) or bounds (6-12, 6-, -12)")


def _completed(path: Path) -> list[dict[str, Any]]:
    return [dict(zip(_FIELDS, (e.label, *e.box), strict=True)) for e in _first_layout(path)]


def _refined(path: Path, within: float | None) -> list[dict[str, Any]]:
    more = {} if within is None else {"within": within}
    return [
        {
            "label": e.label,
            **{
                field: {"about": value, **more}
                for field, value in zip(_FIELDS[1:], e.box, strict=True)
            },
        }
        for e in _first_layout(path)
    ]


_FIELDS = ("label", "x", "y", "width", "height")


def _first_layout(path: Path) -> Any:
    from layoutdm.layout import Layout

    text = ""
    if path.suffix.lower() == ".json" and path.is_file():
        text = path.read_text(encoding="utf-8", errors="replace")
    try:  # a single native record spread over several lines is JSON, but no line of JSONL
        record = json.loads(text)
        if isinstance(record, dict) and {"labels", "boxes"} <= record.keys():
            return Layout.from_dict(record)
    except ValueError:
        pass
    return Layout.from_file(path)


def _named(elements: list[Any], relations: Sequence[dict[str, Any]]) -> list[Any]:
    """An element without a name may be called by its label in --relation, if it is the only one."""
    called = {end for wish in relations for end in (wish["of"], wish["to"])}
    labels = Counter(e["label"] for e in elements if _plainly_labelled(e))
    names = {e.get("name") for e in elements if isinstance(e, dict)}
    for label in sorted(called - names):
        if labels[label] > 1:
            raise LayoutdmError(
                f"--relation: {label!r} could be any of {labels[label]} elements; "
                f"give them names, as in --label first={label}"
            )
    return [
        {"name": e["label"], **e}
        if _plainly_labelled(e) and e["label"] in called - names and not e.get("name")
        else e
        for e in elements
    ]


def _plainly_labelled(element: Any) -> bool:
    return isinstance(element, dict) and isinstance(element.get("label"), str)
