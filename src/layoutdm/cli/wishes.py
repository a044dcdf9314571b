"""Short forms of common wishes on the command line, as parts of a request."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layoutdm.errors import LayoutdmError

RELATIONS = (
    "above", "below", "left_of", "right_of", "overlapping", "smaller", "equal_size", "larger",
    "top", "middle", "bottom",
)  # fmt: skip
OF_CANVAS = ("top", "middle", "bottom")
_SPOKEN = {"left of": "left_of", "right of": "right_of", "equal size": "equal_size"}
_RELATION = re.compile(
    rf"^(?P<of>.+?)\s+(?:is\s+)?(?P<is>{'|'.join((*RELATIONS, *_SPOKEN))})(?:\s+(?P<to>.+))?$"
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
        request = _load(self.spec) if self.spec is not None else {}
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


def relation(text: str) -> dict[str, str]:
    """`hero below bar`, `hero is larger canvas`, `cta bottom` (of the canvas).

    >>> relation("Text Button left of hero")
    {'of': 'Text Button', 'is': 'left_of', 'to': 'hero'}
    """
    found = _RELATION.match(" ".join(text.split()))
    if found is None:
        raise LayoutdmError(
            f'--relation {text!r}: write it as "hero below bar"; the relations are: '
            f"{', '.join(RELATIONS)}"
        )
    kind = _SPOKEN.get(found["is"], found["is"])
    to = found["to"] or ("canvas" if kind in OF_CANVAS else None)
    if to is None:
        raise LayoutdmError(f'--relation {text!r}: say to what, as in "hero {found["is"]} bar"')
    return {"of": found["of"], "is": kind, "to": to.removeprefix("of ").removeprefix("the ")}


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


def _load(source: str) -> dict[str, Any]:
    """The request of a file, as plain data; what it says is checked later, all at once."""
    where = "standard input" if source == "-" else source
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
        data = json.loads(text)
    except FileNotFoundError:
        raise LayoutdmError(f"{source}: no such file; --spec takes a JSON file or -") from None
    except UnicodeDecodeError:
        raise LayoutdmError(f"{where}: is not UTF-8 text; a request is JSON") from None
    except (ValueError, RecursionError) as error:
        raise LayoutdmError(f"{where}: is not valid JSON: {error}") from None
    if not isinstance(data, dict):
        raise LayoutdmError(f"{where}: a request is a JSON object, such as {{}}")
    if not isinstance(data.get("elements", []), list) or not isinstance(
        data.get("relations", []), list
    ):
        raise LayoutdmError(f"{where}: elements and relations must be lists")
    return data


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


def _named(elements: list[Any], relations: Sequence[dict[str, str]]) -> list[Any]:
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
