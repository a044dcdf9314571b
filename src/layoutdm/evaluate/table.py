"""Results as Markdown tables in the paper's layout, with the floor and the paper's own row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from layoutdm.evaluate.paper import paper_rows
from layoutdm.evaluate.plan import TITLES
from layoutdm.evaluate.score import METRICS

SHOWN = (*METRICS, "outside")

# The paper's columns come first; the others are ours.
COLUMNS: Mapping[str, Sequence[str]] = {
    "unconditional": (
        "fid",
        "alignment",
        "precision",
        "recall",
        "density",
        "coverage",
        "overlap",
        "outside",
    ),
    "c": ("fid", "max_iou", "ltsim", "density", "coverage", "alignment", "overlap", "outside"),
    "cwh": ("fid", "max_iou", "ltsim", "density", "coverage", "alignment", "overlap", "outside"),
    "completion": (
        "fid",
        "max_iou",
        "ltsim",
        "density",
        "coverage",
        "alignment",
        "overlap",
        "outside",
    ),
    "refinement": (
        "fid",
        "max_iou",
        "docsim",
        "ltsim",
        "density",
        "coverage",
        "alignment",
        "outside",
    ),
    "relation": (
        "fid",
        "violation",
        "max_iou",
        "ltsim",
        "density",
        "coverage",
        "alignment",
        "outside",
    ),
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
    "ltsim": "LTSim ↑",
    "outside": "Outside ↓",
}


def distinct_rows(results: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The summary without rows of a number of steps that is the model's own, if that has a row."""
    rows, steps = results["summary"], results["own_steps"]
    own = {_row_key(row) for row in rows if row["options"].get("steps") is None}
    return [
        row
        for row in rows
        if row["options"].get("steps") is None
        or row["options"]["steps"] != steps.get(row["task"])
        or _row_key(row) not in own
    ]


def _row_key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    others = sorted((name, str(v)) for name, v in row["options"].items() if name != "steps")
    return row["task"], *others


def summary(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Mean and standard deviation over seeds, for each task and each set of options.

    A task that the model refuses has a row with the reason and without figures.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        cell = record["cell"]
        key = json.dumps([cell["task"], cell["options"]], sort_keys=True)
        groups.setdefault(key, []).append(record)
    rows = []
    for members in groups.values():
        cell = members[0]["cell"]
        row: dict[str, Any] = {"task": cell["task"], "options": dict(cell["options"])}
        row["seeds"] = [member["cell"]["seed"] for member in members]
        row["refused"] = next((m["refused"] for m in members if m.get("refused")), None)
        made = [member["ms_per_layout"] for member in members if "ms_per_layout" in member]
        row["ms_per_layout"] = mean(made) if made else 0.0
        for name in SHOWN:
            values = [member.get("scores", {}).get(name, {}).get("value") for member in members]
            known = [value for value in values if value is not None]
            row[name] = {
                "mean": mean(known) if known else None,
                "std": stdev(known) if len(known) > 1 else None,
            }
        rows.append(row)
    return sorted(rows, key=_place)


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Tasks as the paper lists them; a model's own number of steps first, then most to fewest."""
    task, options = row["task"], row["options"]
    known = list(TITLES).index(task) if task in TITLES else len(TITLES)
    others = [f"{name}={value}" for name, value in sorted(options.items()) if name != "steps"]
    return known, len(others), -(options.get("steps") or float("inf")), others


def lines(results: Mapping[str, Any]) -> list[str]:
    """The paper's columns for a terminal, one line a row."""
    found = []
    for row in results["summary"]:
        names = COLUMNS[row["task"]][: 3 if row["task"] == "refinement" else 2]
        values = "   ".join(f"{HEADS[name]} {spread(row[name])}" for name in names)
        values = row["refused"] or values
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
    columns, floor = COLUMNS[task], results["floor"]
    text = [
        f"| Model | FID / floor | at {_number(task, results)} | "
        + " | ".join(HEADS[name] for name in columns)
        + " | ms a layout |",
        "|---|" + "---:|" * (len(columns) + 3),
    ]
    for row in results["summary"]:
        if row["task"] == task:
            text.append(_line(row, results, columns))
    if floor:
        values = " | ".join(plain(floor_value(floor, task, name)) for name in columns)
        text.append(f"| Real data | 1 | {plain(same_number(floor, task, results))} | {values} | |")
    paper = paper_rows(results["labels"], task)
    if paper:
        for title, side in (("LayoutDM, paper †", 0), ("Real data, paper †", 1)):
            if all(paper[name][side] is None for name in paper):
                continue
            values = " | ".join(
                plain(paper[name][side]) if name in paper else "" for name in columns
            )
            text.append(f"| *{title}* | | | {values} | |")
        text += ["", "† Made on other data with another feature network: not comparable."]
    refused = {row_name(row, results): row["refused"] for row in results["summary"]
               if row["task"] == task and row["refused"]}  # fmt: skip
    return text + [line for name, why in refused.items() for line in ("", f"{name}: {why}")]


def _line(row: Mapping[str, Any], results: Mapping[str, Any], columns: Sequence[str]) -> str:
    """One row of a table; what a model refuses is a dash."""
    name = row_name(row, results)
    if row["refused"]:
        return f"| {name} |" + " – |" * (len(columns) + 3)
    floor, found = results["floor"], row["fid"]["mean"]
    ratios = []
    for lowest in (
        floor_value(floor, row["task"], "fid") if floor else None,
        same_number(floor, row["task"], results) if floor else None,
    ):
        ratios.append(f"{found / lowest:.2f}" if found is not None and lowest else "–")
    values = " | ".join(spread(row[name]) for name in columns)
    return f"| {name} | {' | '.join(ratios)} | {values} | {row['ms_per_layout']:.1f} |"


def _number(task: str, results: Mapping[str, Any]) -> int:
    """How many layouts a task generates."""
    plan = results["plan"]
    return int(plan["samples"] if task == "unconditional" else plan["layouts"])


def same_number(floor: Mapping[str, Any], task: str, results: Mapping[str, Any]) -> float | None:
    """FID of as many real layouts as a task generates."""
    found: float | None = floor.get("same_number", {}).get(str(_number(task, results)))
    return found


def row_name(row: Mapping[str, Any], results: Mapping[str, Any]) -> str:
    """The model, its steps, and other options where they were given."""
    model = row.get("model", results["plan"]["model"])
    options = dict(row["options"])
    steps = options.pop("steps", None)
    said = ["own number of steps" if steps is None else f"{steps} steps"]
    said += [f"{name}={value}" for name, value in sorted(options.items())]
    return f"{short_name(model)}, {', '.join(said)}"


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
    if name == "ltsim":
        return 1.0
    if name in ("violation", "outside"):
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
