"""Run an evaluation in a folder; started again, it goes on where it stopped.

folder/
  plan.json              what is evaluated; another plan in the same folder is refused
  layouts/CELL.jsonl     what was generated, written as it is made
  scores/CELL.json       the score sheet of each cell
  floor.json             what real layouts of another split score
  results.json, table.md, *.png
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from layoutdm.atomic import write_text
from layoutdm.errors import LayoutdmError
from layoutdm.evaluate.drawing import Draw, drawn_here
from layoutdm.evaluate.plan import Cell, Plan, request_count, requests
from layoutdm.evaluate.requests import asked_relations
from layoutdm.evaluate.score import Floats, Options, score
from layoutdm.folders import refuse_taken
from layoutdm.formats.jsonl import dumps, from_record
from layoutdm.layout import Layout
from layoutdm.metrics.features import FeatureNetwork
from layoutdm.metrics.fid import fid
from layoutdm.model import Model

REPORT = ("results.json", "table.md", "*.png")
WRITES = (*REPORT, "floor.json", "layouts/*", "scores/*", "samples/*")
FLUSH = 8  # layouts between two writes: what an interruption can cost
Progress = Callable[[Cell, int, int], None]  # cell, made, of


@dataclass(frozen=True)
class Made:
    """The layouts of a cell, and how long the generator worked on them."""

    layouts: tuple[Layout, ...]
    seconds: float
    outside: int = 0  # elements that were drawn beyond the canvas, before they were moved onto it


@dataclass(frozen=True, eq=False)
class Judge:
    """What layouts are scored against; the reference's features are made once for all cells."""

    reference: Sequence[Layout]
    network: FeatureNetwork | None = None
    missing: str = "no feature network was given"

    @cached_property
    def features(self) -> Floats | None:
        full = [layout for layout in self.reference if len(layout)]
        return self.network.extract(full) if self.network and len(full) > 1 else None

    def score(
        self,
        layouts: Sequence[Layout],
        relations: Sequence[Any] | None = None,
        options: Options | None = None,
    ) -> dict[str, Any]:
        return score(
            layouts, self.reference, network=self.network, missing=self.missing,
            relations=relations, options=options, real_features=self.features,
        )  # fmt: skip


def prepare(folder: Path, plan: Plan) -> None:
    """Make the folder, or check that it belongs to the same plan."""
    path = folder / "plan.json"
    wanted = json.loads(json.dumps(plan.as_dict()))
    if path.exists():
        found = read_json(path)
        differ = [key for key in wanted if found.get(key) != wanted[key]]
        if differ:
            key = differ[0]
            raise LayoutdmError(
                f"{folder}: holds an evaluation with another {key} ({found.get(key)!r}, now "
                f"{wanted[key]!r}); choose another --out or remove the folder"
            )
    else:
        refuse_taken(folder, WRITES)
    (folder / "layouts").mkdir(parents=True, exist_ok=True)
    (folder / "scores").mkdir(exist_ok=True)
    if not path.exists():
        write_json(path, wanted)


def generate(
    model: Model,
    cell: Cell,
    plan: Plan,
    reference: Sequence[Layout],
    folder: Path,
    on_progress: Progress | None = None,
    draw: Draw = drawn_here,
) -> Made:
    """All layouts of a cell; those that an earlier run has written are kept."""
    path, clock = folder / "layouts" / f"{cell.name}.jsonl", _clock(folder, cell)
    total, done = request_count(cell, plan), _complete_lines(path)
    told = read_json(clock) if done and clock.exists() else {}
    seconds, outside = float(told.get("seconds", 0.0)), int(told.get("outside", 0))
    if on_progress:
        on_progress(cell, done, total)
    if not done:  # its layouts were removed, or never made
        (folder / "scores" / f"{cell.name}.json").unlink(missing_ok=True)
    if done < total:
        stream = draw(model, cell, plan, reference, range(done, total))
        with path.open("ab") as out:
            while part := list(islice(stream, FLUSH)):
                seconds += sum(sample.seconds for sample in part)
                outside += sum(sample.outside for sample in part)
                out.write(b"".join(dumps(sample.layout).encode() + b"\n" for sample in part))
                out.flush()
                write_json(clock, {"seconds": seconds, "outside": outside})
                done += len(part)
                if on_progress:
                    on_progress(cell, done, total)
    if done != total:
        raise LayoutdmError(
            f"{path}: holds {done} layouts where {total} are due; remove it and start again"
        )
    return Made(tuple(_read(path)), seconds, outside)


def _clock(folder: Path, cell: Cell) -> Path:
    return folder / "layouts" / f"{cell.name}.time.json"


def _complete_lines(path: Path) -> int:
    """Whole lines of a file; half a line at its end, left by an interruption, is cut off."""
    if not path.exists():
        return 0
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with path.open("r+b") as file:
            file.truncate(whole)
    return content.count(b"\n")


def _read(path: Path) -> list[Layout]:
    layouts = []
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                layouts.append(from_record(json.loads(line)))
            except (ValueError, RecursionError) as error:
                raise LayoutdmError(
                    f"{path}, line {number}: is damaged ({error}); remove the file to have its "
                    "layouts made again"
                ) from None
    return layouts


def score_cell(cell: Cell, made: Made, plan: Plan, judge: Judge, folder: Path) -> dict[str, Any]:
    """The score sheet of a cell, from its file when it was made before."""
    path = folder / "scores" / f"{cell.name}.json"
    if path.exists():
        return read_json(path)
    relations = None
    if cell.task == "relation":
        relations = [asked_relations(spec) for _, spec in requests(cell, judge.reference, plan)]
    options = Options(paired=cell.task != "unconditional", published=True, seed=cell.seed)
    sheet = judge.score(made.layouts, relations, options)
    elements = sum(map(len, made.layouts))
    sheet["outside"] = {"value": made.outside / max(elements, 1)}
    sheet["counts"] = {
        "generated": len(made.layouts),
        "reference": len(judge.reference),
        "elements": elements,
        "empty": sum(not len(layout) for layout in made.layouts),
    }
    record = {
        "cell": cell.as_dict(),
        "seconds": round(made.seconds, 3),
        "ms_per_layout": round(1000 * made.seconds / max(len(made.layouts), 1), 3),
        "scores": sheet,
    }
    write_json(path, record)
    return record


def floor(
    other: Sequence[Layout], pool: Sequence[Layout], plan: Plan, judge: Judge, folder: Path
) -> dict[str, Any] | None:
    """What real layouts of another split score against the reference; None without any.

    FID falls with the number of layouts, so `same_number` also has that of as many real layouts as
    a task generates, drawn evenly from `pool`, the layouts of all other splits.
    """
    path = folder / "floor.json"
    if path.exists():
        return read_json(path)
    if not other:
        return None
    options = Options(published=True, fid_resamples=20)
    whole = judge.score(other, options=options)
    cut = other[: plan.samples]
    itself = Judge(judge.reference, missing=judge.missing)
    record = {
        "layouts": len(other),
        "scores": whole,
        "unconditional_layouts": len(cut),
        "unconditional": whole if len(cut) == len(other) else judge.score(cut, options=options),
        # DocSim, LTSim and relations compare a layout with itself: the best any model can reach.
        "itself": itself.score(judge.reference, options=Options(paired=True, resamples=2))[
            "docsim"
        ],
        "same_number": {
            str(number): _drawn_fid(pool, number, judge) for number in {plan.samples, plan.layouts}
        },
    }
    write_json(path, record)
    return record


def _drawn_fid(pool: Sequence[Layout], number: int, judge: Judge) -> float | None:
    """FID of this many real layouts; None where there are too few of them."""
    if judge.network is None or judge.features is None or len(pool) < number or number < 2:
        return None
    chosen = np.random.default_rng(0).permutation(len(pool))[:number]
    drawn = [pool[i] for i in sorted(chosen) if len(pool[i])]
    return float(fid(judge.network.extract(drawn), judge.features))


def read_json(path: Path) -> dict[str, Any]:
    """What `write_json` wrote."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise LayoutdmError(
            f"{path}: is damaged ({error}); remove it to have it made again"
        ) from None
    if not isinstance(found, dict):
        raise LayoutdmError(f"{path}: is damaged; remove it to have it made again")
    return found


def write_json(path: Path, value: object) -> None:
    """In one rename, so that an interruption never leaves half a file."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")
