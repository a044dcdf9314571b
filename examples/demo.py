"""A gallery of what the embedded models do: every condition, the input beside the results.

    python examples/demo.py demo-output

Inputs of the paper's six tasks come from layouts of the sample set, a mixed request from
examples/specs/. Writes gallery.html.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

import layoutdm
from layoutdm.data import open as open_data
from layoutdm.layout import FIELDS, Layout
from layoutdm.model import Model, Result, embedded
from layoutdm.pictures.scene import picture
from layoutdm.pictures.svg import paint
from layoutdm.spec import Spec

RESULTS = 4
WIDTH = 230  # pixels of a picture
SPECS = Path(__file__).resolve().parent / "specs"
MIXED = {"rico25": "app_screen.json", "publaynet": "paper_page.json"}
TITLES = {
    "unconditional": ("Anything", "Nothing is known."),
    "c": ("Labels", "Which elements there are; places and sizes are up to the model."),
    "cwh": ("Labels and sizes", "Elements and their sizes; the model arranges them."),
    "completion": ("Completion", "Some elements are there already; the model adds the rest."),
    "refinement": ("Refinement", "A rough draft; the model tidies it up."),
    "relation": ("Relations", "Elements, and how some of them relate."),
    "mixed": ("All of it together", "Fixed, wished and free, relations, bounds, reading order."),
}
STYLE = """
:root { color-scheme: light; font: 15px/1.45 system-ui, sans-serif; color: #24292f }
body { margin: 0 auto; max-width: 1240px; padding: 24px; background: #f4f5f7 }
h1 { font-size: 26px; margin: 0 0 4px } h2 { font-size: 21px; margin: 40px 0 8px }
p { margin: 0; color: #646c76 }
section { background: #fff; border: 1px solid #dde1e6; border-radius: 10px; padding: 18px;
  margin: 14px 0; display: grid; grid-template-columns: 250px 1fr; gap: 24px }
h3 { margin: 0 0 2px; font-size: 17px } ul { margin: 10px 0 0; padding-left: 18px }
li { overflow-wrap: anywhere } .row { display: grid; gap: 14px;
  grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)) }
figure { margin: 0 } svg { width: 100%; height: auto; display: block }
figcaption { color: #646c76; font-size: 13px; margin-top: 4px }
.known { max-width: 170px; margin-top: 10px } .missed { color: #8a5a00 }
@media (max-width: 760px) { section { grid-template-columns: 1fr } }
"""


@dataclass(frozen=True)
class Shown:
    """One request and what came of it."""

    task: str
    spec: Spec
    results: list[Result]


def requests(model: Model, name: str) -> dict[str, Spec]:
    """One request a task, each from another layout of the sample set."""
    layouts = [
        layout
        for split in open_data("sample").splits.values()
        for layout in split
        if set(layout.labels) <= set(model.labels) and 5 <= len(layout) <= 10
    ]
    tasks = [task for task in TITLES if task != "mixed"]
    specs = {
        task: Spec.from_layout(layouts[number * len(layouts) // len(tasks)], task=task, seed=1)
        for number, task in enumerate(tasks)
    }
    if name in MIXED:
        specs["mixed"] = Spec.parse(SPECS / MIXED[name])
    return specs


def known_part(spec: Spec, canvas: tuple[float, float]) -> Layout | None:
    """The elements whose whole box is given, fixed or as a draft, as a layout."""
    labels, boxes = [], []
    for element in spec.elements:
        values = [getattr(element, field) for field in FIELDS]
        numbers = [getattr(value, "about", value) for value in values]
        if None in numbers or not element.label_choices:
            continue
        x, y, width, height = (float(number) for number in numbers)
        left, right = np.clip([x - width / 2, x + width / 2], 0, 1)
        top, bottom = np.clip([y - height / 2, y + height / 2], 0, 1)
        if right - left > 0.004 and bottom - top > 0.004:  # a noisy draft may have lost a box
            labels.append(element.label_choices[0])
            boxes.append([(left + right) / 2, (top + bottom) / 2, right - left, bottom - top])
    if not boxes:
        return None
    return Layout.create(labels, boxes, width=canvas[0], height=canvas[1])


def described(spec: Spec) -> list[str]:
    """The wishes in words."""
    lines = []
    for element in spec.elements:
        name = f"{element.name}: " if element.name else ""
        parts = [
            _value(field, getattr(element, field)) for field in (*FIELDS, "area", "aspect_ratio")
        ]
        said = ", ".join(part for part in parts if part)
        label = " or ".join(element.label_choices) or "any element"
        lines.append(f"{name}{label}" + (f", {said}" if said else ""))
    lines += [f"{r.of} {r.is_.replace('_', ' ')} {r.to}" for r in spec.relations]
    if spec.reading_order:
        lines.append("read in the order " + ", ".join(spec.reading_order))
    if spec.elements and spec.may_add:
        lines.append("more elements may be added")
    return lines


def _value(field: str, value: Any) -> str:
    if value is None:
        return ""
    if hasattr(value, "about"):
        return f"{field} about {value.about:.2f}"
    return f"{field.replace('_', ' ')} {value:.2f}"


def section(shown: Shown, canvas: tuple[float, float]) -> str:
    title, explained = TITLES[shown.task]
    known = known_part(shown.spec, canvas)
    draws_all = known is not None and len(known) == len(shown.spec.elements)
    words = [] if draws_all and shown.task == "refinement" else described(shown.spec)
    image = f'<div class="known">{drawn(known)}</div>' if known is not None else ""
    items = "".join(f"<li>{escape(line)}</li>" for line in words)
    cells = []
    for result in shown.results:
        wishes = result.report.wishes
        met = sum(wish.met for wish in wishes)
        missed = "; ".join(f"{wish.path}: {wish.wanted}" for wish in result.report.missed)
        said = "meets every wish" if result.met else f"meets {met} of {len(wishes)} wishes"
        kind = "" if result.met else ' class="missed"'
        caption = "" if len(wishes) <= 1 else f"<span{kind}>{said}</span>"
        cells.append(
            f'<figure title="{escape(missed)}">{drawn(result.layout)}'
            f"<figcaption>{caption}</figcaption></figure>"
        )
    return (
        f"<section><div><h3>{title}</h3><p>{explained}</p>{image}<ul>{items}</ul></div>"
        f'<div class="row">{"".join(cells)}</div></section>'
    )


def drawn(layout: Layout) -> str:
    """An SVG at the size it is shown in, so that names stay readable."""
    height = round(WIDTH * layout.height / layout.width)
    return paint(picture(layout, WIDTH, height), inline=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", type=Path, default=Path("demo-output"), help="folder")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    if not embedded():
        sys.exit("there are no embedded models; train one with: layoutdm train")
    start, made, parts = time.perf_counter(), 0, []
    for name in embedded():
        model = layoutdm.load(name)
        canvas = model.canvas
        all_shown = []
        for task, spec in requests(model, name).items():
            results = model.generate(spec, RESULTS, seed=1)
            made += len(results)
            all_shown.append(Shown(task, spec, results))
        parts.append(f"<h2>{name}</h2>" + "".join(section(shown, canvas) for shown in all_shown))
    seconds = time.perf_counter() - start
    intro = f"{made} layouts, made in {seconds:.0f} seconds on this machine's processor."
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>layoutdm gallery</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style>'
        f"<h1>What layoutdm does</h1><p>{intro}</p>{''.join(parts)}</html>\n"
    )
    (out / "gallery.html").write_text(page, encoding="utf-8")
    print(f"{intro} Open {out / 'gallery.html'}.")
    print("To draw, lock and relate by hand in a browser: make studio")


if __name__ == "__main__":
    main()
