"""Results as Markdown tables in the paper's layout, with the floor and the paper's own row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from layoutdm.evaluate.paper import paper_rows
from layoutdm.evaluate.plan import TITLES
from layoutdm.evaluate.score import METRICS

# The paper's columns come first; the others are ours.
COLUMNS: Mapping[str, Sequence[str]] = {
    "unconditional": ("fid", "alignment", "precision", "recall", "density", "coverage", "overlap"),
    "c": ("fid", "max_iou", "density", "coverage", "alignment", "overlap"),
    "cwh": ("fid", "max_iou", "density", "coverage", "alignment", "overlap"),
    "completion": ("fid", "max_iou", "density", "coverage", "alignment", "overlap"),
    "refinement": ("fid", "max_iou", "docsim", "density", "coverage", "alignment"),
    "relation": ("fid", "violation", "max_iou", "density", "coverage", "alignment"),
}
HEADS = {
    "fid": "FID ↓",
    "alignment": "Align. ↓",
    "max_iou": "Max. ↑",
    "docsim": "Sim ↑",
    "violation": "Violation ↓",
    "precision": "Precision ↑",
    "recall": "Recall ↑",
    "density": "Density ↑",
    "coverage": "Coverage ↑",
    "overlap": "Overlap",
}


def distinct_rows(results: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The summary without rows of a number of steps that is the model's own, if that has a row."""
    rows, steps = results["summary"], results["own_steps"]
    own = {(row["task"], row["strength"]) for row in rows if row["steps"] is None}
    return [
        row
        for row in rows
        if row["steps"] is None
        or row["steps"] != steps.get(row["task"])
        or (row["task"], row["strength"]) not in own
    ]


def summary(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Mean and standard deviation over seeds, for each task, step count and strength."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for record in records:
        cell = record["cell"]
        groups.setdefault((cell["task"], cell["steps"], cell["strength"]), []).append(record)
    rows = []
    for (task, steps, strength), members in sorted(groups.items(), key=lambda g: _place(*g[0])):
        row: dict[str, Any] = {"task": task, "steps": steps, "strength": strength}
        row["seeds"] = [member["cell"]["seed"] for member in members]
        row["ms_per_layout"] = mean(member["ms_per_layout"] for member in members)
        for name in METRICS:
            values = [member["scores"][name]["value"] for member in members]
            known = [value for value in values if value is not None]
            row[name] = {
                "mean": mean(known) if known else None,
                "std": stdev(known) if len(known) > 1 else None,
            }
        rows.append(row)
    return rows


def _place(task: str, steps: int | None, strength: float | None) -> tuple[float, ...]:
    """Tasks as the paper lists them; a model's own number of steps first, then most to fewest."""
    known = list(TITLES).index(task) if task in TITLES else len(TITLES)
    return known, -(steps or float("inf")), -1.0 if strength is None else strength


def lines(results: Mapping[str, Any]) -> list[str]:
    """The paper's columns for a terminal, one line a row."""
    found = []
    for row in results["summary"]:
        names = COLUMNS[row["task"]][: 3 if row["task"] == "refinement" else 2]
        values = "   ".join(f"{HEADS[name]} {spread(row[name])}" for name in names)
        found.append(f"{TITLES[row['task']]:<14} {row_name(row, results)}:   {values}")
        if results["floor"]:
            real = "   ".join(
                f"{HEADS[name]} {plain(floor_value(results['floor'], row['task'], name))}"
                for name in names
            )
            found.append(f"{'':<14} real data:   {real}")
    return found


def markdown(results: Mapping[str, Any]) -> str:
    """The whole page."""
    plan = results["plan"]
    text = [f"# {short_name(plan['model'])} on {plan['data']}", "", *_facts(results)]
    for task in dict.fromkeys(row["task"] for row in results["summary"]):
        text += ["", f"## {TITLES[task]}", "", *_task(task, results)]
    return "\n".join(text) + "\n"


def _facts(results: Mapping[str, Any]) -> list[str]:
    plan = results["plan"]
    network = (
        f"{plan['features']}, hash {plan['features_hash']}"
        if plan["features"]
        else f"none: {results['missing']}"
    )
    facts = [
        f"Model {short_name(plan['model'])} (hash {plan['model_hash']}); reference: "
        f"{plan['layouts']:,} layouts of split {plan['split']} (hash {plan['data_hash']}"
        f"{', the first ones only' if plan['limited'] else ''}); feature network {network}; "
        f"layoutdm {results['version']}.",
        "",
        "Mean ± standard deviation over sampling seeds of one trained model. FID needs the same "
        "feature network and the same reference to be compared.",
    ]
    if results["floor"]:
        facts += [
            "",
            "**Real data** is the floor: layouts of another split, "
            f"{results['floor']['layouts']:,} of them, scored like generated ones.",
        ]
    return facts


def _task(task: str, results: Mapping[str, Any]) -> list[str]:
    columns = COLUMNS[task]
    text = [
        "| Model | " + " | ".join(HEADS[name] for name in columns) + " | ms a layout |",
        "|---|" + "---:|" * (len(columns) + 1),
    ]
    for row in results["summary"]:
        if row["task"] != task:
            continue
        values = " | ".join(spread(row[name]) for name in columns)
        text.append(f"| {row_name(row, results)} | {values} | {row['ms_per_layout']:.1f} |")
    if results["floor"]:
        values = " | ".join(plain(floor_value(results["floor"], task, name)) for name in columns)
        text.append(f"| Real data | {values} | |")
    paper = paper_rows(results["labels"], task)
    if paper:
        for title, side in (("LayoutDM, paper †", 0), ("Real data, paper †", 1)):
            if all(paper[name][side] is None for name in paper):
                continue
            values = " | ".join(
                plain(paper[name][side]) if name in paper else "" for name in columns
            )
            text.append(f"| *{title}* | {values} | |")
        text += ["", "† Made on other data with another feature network: not comparable."]
    return text


def row_name(row: Mapping[str, Any], results: Mapping[str, Any]) -> str:
    """The model, its steps, and the strength of guidance where that was varied."""
    steps = "own number of steps" if row["steps"] is None else f"{row['steps']} steps"
    strength = "" if row["strength"] is None else f", strength {row['strength']:g}"
    return f"{short_name(results['plan']['model'])}, {steps}{strength}"


def short_name(model: str) -> str:
    """A folder's own name; names and hub ids as they are.

    >>> short_name("/home/me/my_model"), short_name("user/model")
    ('my_model', 'user/model')
    """
    return model if model.count("/") < 2 and not model.startswith(("/", ".")) else Path(model).name


def floor_value(floor: Mapping[str, Any], task: str, name: str) -> float | None:
    """The floor of one metric in one task."""
    if name == "docsim":
        value: float | None = floor["itself"]["value"]
        return value
    if name == "violation":
        return 0.0
    part = "unconditional" if task == "unconditional" else "scores"
    value = floor[part][name]["value"]
    return value


def plain(value: float | None) -> str:
    """Three digits that count.

    >>> plain(6.6512), plain(0.0214), plain(None)
    ('6.65', '0.021', '–')
    """
    if value is None:
        return "–"
    return (
        f"{value:.1f}"
        if abs(value) >= 100
        else f"{value:.2f}"
        if abs(value) >= 1
        else (f"{value:.3f}")
    )


def spread(found: Mapping[str, float | None]) -> str:
    """A mean, and its standard deviation where there are several seeds."""
    if found["std"] is None:
        return plain(found["mean"])
    return f"{plain(found['mean'])} ± {plain(found['std'])}"
