"""What `layoutdm evaluate` does with its options: load, plan, generate, score, report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from layoutdm.errors import LayoutdmError

if TYPE_CHECKING:
    from layoutdm.evaluate.plan import Cell, Generator, Plan
    from layoutdm.layout import Layout
    from layoutdm.metrics.features import FeatureNetwork

OTHER_SPLIT = {"test": "val", "val": "test", "train": "val"}


@dataclass(frozen=True)
class Choice:
    """The options of the command."""

    model: str
    data: str
    tasks: str
    split: str
    steps: Sequence[int | None]
    seeds: Sequence[int]
    out: Path
    samples: int
    limit: int
    strengths: str | None
    features: str | None
    batch_size: int
    threads: int


def whole_numbers(text: str, option: str, least: int) -> tuple[int, ...]:
    """Comma-separated whole numbers, each once.

    >>> whole_numbers("0,1,2", "--seeds", 0)
    (0, 1, 2)
    """
    try:
        found = tuple(int(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or min(found) < least:
        raise typer.BadParameter(
            f"must be whole numbers from {least}, with commas between them, got {text!r}",
            param_hint=option,
        )
    return tuple(dict.fromkeys(found))


def step_numbers(text: str) -> tuple[int | None, ...]:
    """Numbers of steps; `own` is the model's default.

    >>> step_numbers("own,20")
    (None, 20)
    """
    parts = [part.strip() for part in text.split(",")]
    given = ",".join(part for part in parts if part != "own")
    numbers = whole_numbers(given, "--steps", 1) if given or "own" not in parts else ()
    return (None, *numbers) if "own" in parts else numbers


def _numbers(text: str | None) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise typer.BadParameter(
            f"must be numbers with commas between them, got {text!r}", param_hint="--strengths"
        ) from None


def _own_steps(model: Any, tasks: Sequence[str]) -> dict[str, int]:
    """The steps that a model takes when none are asked for, where it tells."""
    config = getattr(model, "config", None)
    if config is None:
        return {}
    return {
        task: int(config.sampling_of(task).get("steps") or config.schedule.steps) for task in tasks
    }


def run(choice: Choice) -> list[Path]:
    """Do what is not done yet, and write the report."""
    import layoutdm
    from layoutdm.data import open as open_data
    from layoutdm.evaluate.files import choose_network
    from layoutdm.evaluate.plan import Plan, cells, layouts_hash
    from layoutdm.evaluate.run import prepare
    from layoutdm.metrics.features import load_features
    from layoutdm.model.store import fingerprint
    from layoutdm.spec.tasks import TASKS

    tasks = TASKS if choice.tasks == "all" else tuple(choice.tasks.split(","))
    todo = cells(tasks, choice.steps, choice.seeds, _numbers(choice.strengths))
    named = load_features(choice.features, threads=choice.threads) if choice.features else None
    model = layoutdm.load(choice.model, threads=choice.threads or None)
    dataset = open_data(choice.data, max_elements=model.max_elements)
    reference = dataset[choice.split]
    if choice.limit:
        reference = reference[: choice.limit]
    foreign = sorted(set(dataset.labels) - set(model.labels))
    if foreign and set(tasks) - {"unconditional"}:
        raise LayoutdmError(
            f"data set {dataset.name!r} has labels that model {choice.model!r} does not know "
            f"({', '.join(foreign[:5])}); evaluate it on data with its own labels"
        )
    other = dataset.splits.get(OTHER_SPLIT.get(choice.split, "val"), ())
    everything = [layout for layouts in dataset.splits.values() for layout in layouts]
    network, missing = choose_network(named, [everything])
    plan = Plan(
        model=choice.model,
        model_hash=fingerprint(choice.model),
        data=dataset.name,
        data_hash=layouts_hash(reference),
        split=choice.split,
        layouts=len(reference),
        limited=0 < choice.limit < len(dataset[choice.split]),
        samples=choice.samples,
        features=network.name if network else None,
        features_hash=network.hash if network else None,
        batch_size=choice.batch_size,
    )
    prepare(choice.out, plan)
    own = _own_steps(model, TASKS)  # the report also holds tasks of earlier calls
    return evaluate_cells(model, plan, todo, reference, other, network, missing, own, choice.out)


def evaluate_cells(
    model: Generator,
    plan: Plan,
    todo: Sequence[Cell],
    reference: Sequence[Layout],
    other: Sequence[Layout],
    network: FeatureNetwork | None,
    missing: str,
    own_steps: dict[str, int],
    out: Path,
) -> list[Path]:
    """Generate and score each cell under one progress bar, then write the report."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from layoutdm.evaluate.plan import request_count
    from layoutdm.evaluate.report import collect, write_report, write_sheet
    from layoutdm.evaluate.run import floor, generate, score_cell

    records: list[dict[str, Any]] = []
    sheets: list[Path] = []
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    ) as progress:
        whole = progress.add_task("all", total=sum(request_count(c, plan) for c in todo))
        finished = 0
        for cell in todo:
            bar = progress.add_task(cell.name, total=request_count(cell, plan))

            def show(_: Cell, made: int, of: int, bar: Any = bar, before: int = finished) -> None:
                progress.update(bar, completed=made, total=of)
                progress.update(whole, completed=before + made)

            made = generate(model, cell, plan, reference, out, show)
            finished += len(made.layouts)
            records.append(score_cell(cell, made, plan, reference, network, missing, out))
            sheet = out / "samples" / f"{cell.task}.png"
            if sheet not in sheets:
                sheets.append(write_sheet(cell, made, plan, reference, out))
            progress.remove_task(bar)
    todo_names = {cell.name for cell in todo}
    for path in sorted((out / "scores").glob("*.json")):  # of earlier calls with the same plan
        if path.stem not in todo_names:
            records.append(json.loads(path.read_text(encoding="utf-8")))
    lowest = floor(other, reference, plan, network, missing, out)
    labels = sorted({name for layout in reference for name in layout.labels})
    results = collect(plan, records, lowest, labels, missing, own_steps)
    return [*write_report(results, out), *sheets]
