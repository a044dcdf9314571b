"""`evaluate`: models by the paper's protocol on one data set, in a folder that can be resumed.

```python
results = layoutdm.evaluate("rico25", "data/rico25", tasks=["c", "cwh"], out="results")
results["summary"][0]["fid"]["mean"]
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import count
from pathlib import Path
from typing import Any

from layoutdm.data import Dataset
from layoutdm.data import open as open_data
from layoutdm.errors import LayoutdmError, RefusedError
from layoutdm.evaluate.drawing import Draw, drawn_here
from layoutdm.evaluate.files import choose_network
from layoutdm.evaluate.plan import Cell, Plan, cells, layouts_hash
from layoutdm.evaluate.report import collect, compare, write_report, write_sheet
from layoutdm.evaluate.run import (
    REPORT,
    Judge,
    floor,
    generate,
    prepare,
    read_json,
    score_cell,
    write_json,
)
from layoutdm.folders import refuse_taken
from layoutdm.lock import locked
from layoutdm.metrics.features import load_features
from layoutdm.model import Model, load
from layoutdm.spec import SpecError
from layoutdm.spec.tasks import TASKS

OTHER_SPLIT = {"test": "val", "val": "test", "train": "val"}
Progress = Callable[[str, Cell, int, int], None]  # model, cell, made, of


@dataclass(frozen=True)
class Protocol:
    """What is evaluated, for every model alike."""

    tasks: Sequence[str] = TASKS
    split: str = "test"
    steps: Sequence[int | None] = (None,)  # None: the model's own
    seeds: Sequence[int] = (0, 1, 2)
    options: Mapping[str, Any] = field(default_factory=dict)  # of the model, in every cell
    strengths: Sequence[float] = ()  # of relation guidance
    samples: int = 1000  # unconditional layouts
    limit: int = 0  # use only the first layouts of the split
    batch_size: int = 64

    def cells(self) -> list[Cell]:
        return cells(self.tasks, self.steps, self.seeds, self.options, self.strengths)


def evaluate(
    model: Model | str | Path | Sequence[Model | str | Path],
    data: Dataset | str | Path,
    *,
    tasks: str | Sequence[str] = "all",
    out: str | Path = "evaluation",
    features: str | None = None,
    portrait: bool = False,
    threads: int = 0,
    progress: Progress | None = None,
    draw: Draw = drawn_here,
    **protocol: Any,
) -> dict[str, Any]:
    """Evaluate one model or several; what `results.json` holds. See `Protocol` for the rest.

    Several models come into one table, each with a folder of its own below `out`. What is done
    already in a folder is not done again. portrait: landscape layouts are left out, as in `train`.
    draw: who draws the layouts; `scale.evaluation.drawn_by` has a cluster do it.
    """
    known = [item.name for item in fields(Protocol)]
    for name in protocol:
        if name not in known:
            raise LayoutdmError(f"evaluate has no {name!r}; there are: {', '.join(known)}")
    wanted = (tasks,) if isinstance(tasks, str) and tasks != "all" else tasks
    given = Protocol(tasks=TASKS if wanted == "all" else tuple(wanted), **protocol)
    given.cells()  # a wrong task is told before all else
    folder = Path(out)
    asked = [model] if isinstance(model, (Model, str, Path)) else list(model)
    if not asked:
        raise LayoutdmError("there is no model to evaluate; give at least one")
    some = threads or None
    models = [one if isinstance(one, Model) else load(one, threads=some) for one in asked]
    most = max(one.max_elements for one in models)
    opened = (
        data if isinstance(data, Dataset) else open_data(data, max_elements=most, portrait=portrait)
    )
    named = load_features(features, threads=threads) if features else None
    judge = _judge(opened, given, named)
    names = _names(models)
    if len(models) > 1 and not any((folder / name / "plan.json").exists() for name in names):
        refuse_taken(folder, REPORT)
    found = []
    for one, name in zip(models, names, strict=True):
        own = folder / name if len(models) > 1 else folder
        found.append(_evaluate_one(one, opened, given, judge, own, progress, draw))
    if len(found) == 1:
        return found[0]
    results = compare(found, names)
    write_json(folder / "results.json", results)
    write_report(results, folder)
    return results


def _names(models: Sequence[Model]) -> list[str]:
    """What the models' folders are called: their names, numbered where two are alike."""
    names: list[str] = []
    for model in models:
        name = Path(model.name).name or model.generator.name
        others = (f"{name}-{number}" for number in count(2))
        names.append(name if name not in names else next(o for o in others if o not in names))
    return names


def _judge(dataset: Dataset, protocol: Protocol, named: Any) -> Judge:
    reference = dataset[protocol.split]
    if protocol.limit:
        reference = reference[: protocol.limit]
    everything = [layout for layouts in dataset.splits.values() for layout in layouts]
    network, missing = choose_network(named, [everything])
    return Judge(reference, network, missing)


def _evaluate_one(
    model: Model,
    dataset: Dataset,
    protocol: Protocol,
    judge: Judge,
    folder: Path,
    progress: Progress | None,
    draw: Draw,
) -> dict[str, Any]:
    foreign = sorted(set(dataset.labels) - set(model.labels))
    if foreign and set(protocol.tasks) - {"unconditional"}:
        raise LayoutdmError(
            f"data set {dataset.name!r} has labels that model {model.name!r} does not know "
            f"({', '.join(foreign[:5])}); evaluate it on data with its own labels"
        )
    network, reference = judge.network, judge.reference
    plan = Plan(
        model=model.name,
        model_hash=model.generator.fingerprint,
        data=dataset.name,
        data_hash=layouts_hash(reference),
        split=protocol.split,
        layouts=len(reference),
        limited=0 < protocol.limit < len(dataset[protocol.split]),
        samples=protocol.samples,
        features=network.name if network else None,
        features_hash=network.hash if network else None,
        batch_size=protocol.batch_size,
    )
    with locked(folder, "evaluate"):
        prepare(folder, plan)
        records = _cells(model, plan, protocol.cells(), judge, folder, progress, draw)
        other = dataset.splits.get(OTHER_SPLIT.get(protocol.split, "val"), ())
        pool = [layout for name, part in dataset.splits.items() if name != protocol.split
                for layout in part]  # fmt: skip
        lowest = floor(other, pool, plan, judge, folder)
        labels = sorted({name for layout in reference for name in layout.labels})
        results = collect(plan, records, lowest, labels, judge.missing, own_steps(model))
        write_report(results, folder)
    return results


def _cells(
    model: Model,
    plan: Plan,
    todo: Sequence[Cell],
    judge: Judge,
    folder: Path,
    progress: Progress | None,
    draw: Draw,
) -> list[dict[str, Any]]:
    """The records of these cells, and of those that earlier calls left in the folder."""
    records: list[dict[str, Any]] = []
    drawn: set[str] = set()
    for cell in todo:

        def show(cell: Cell, made: int, of: int) -> None:
            if progress is not None:
                progress(model.name, cell, made, of)

        try:
            made = generate(model, cell, plan, judge.reference, folder, show, draw)
        except (RefusedError, SpecError) as error:  # a task of which it cannot do every request
            records.append({"cell": cell.as_dict(), "refused": str(error).splitlines()[0]})
            continue
        records.append(score_cell(cell, made, plan, judge, folder))
        if cell.task not in drawn:
            drawn.add(cell.task)
            write_sheet(cell, made, plan, judge.reference, folder)
    names = {cell.name for cell in todo}
    for path in sorted((folder / "scores").glob("*.json")):
        if path.stem not in names:
            records.append(read_json(path))
    return records


def own_steps(model: Model) -> dict[str, int]:
    """The steps that a model takes when none are asked for, where it has any."""
    found = {}
    for task in TASKS:
        steps = getattr(model.generator.usual(task), "steps", None)
        if steps is None:
            schedule = getattr(getattr(model.generator, "config", None), "schedule", None)
            steps = getattr(schedule, "steps", None)
        if isinstance(steps, int):
            found[task] = steps
    return found
