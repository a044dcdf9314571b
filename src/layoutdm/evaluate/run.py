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
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from layoutdm.errors import LayoutdmError
from layoutdm.evaluate.plan import Cell, Generator, Plan, request_count, requests
from layoutdm.evaluate.requests import asked_relations
from layoutdm.evaluate.score import Options, score
from layoutdm.formats.jsonl import dumps, from_record
from layoutdm.layout import Layout
from layoutdm.metrics.features import FeatureNetwork

FLUSH = 100  # layouts between two writes: what an interruption can cost
Progress = Callable[[Cell, int, int], None]  # cell, made, of


@dataclass(frozen=True)
class Made:
    """The layouts of a cell, and how long the generator worked on them."""

    layouts: tuple[Layout, ...]
    seconds: float


def prepare(folder: Path, plan: Plan) -> None:
    """Make the folder, or check that it belongs to the same plan."""
    path = folder / "plan.json"
    wanted = json.loads(json.dumps(plan.as_dict()))
    if path.exists():
        found = json.loads(path.read_text())
        differ = [key for key in wanted if found.get(key) != wanted[key]]
        if differ:
            key = differ[0]
            raise LayoutdmError(
                f"{folder}: holds an evaluation with another {key} ({found.get(key)!r}, now "
                f"{wanted[key]!r}); choose another --out or remove the folder"
            )
        return
    (folder / "layouts").mkdir(parents=True, exist_ok=True)
    (folder / "scores").mkdir(exist_ok=True)
    write_json(path, wanted)


def generate(
    generator: Generator,
    cell: Cell,
    plan: Plan,
    reference: Sequence[Layout],
    folder: Path,
    on_progress: Progress | None = None,
) -> Made:
    """All layouts of a cell; those that an earlier run has written are kept."""
    path, clock = folder / "layouts" / f"{cell.name}.jsonl", _clock(folder, cell)
    total, done = request_count(cell, plan), _complete_lines(path)
    seconds = json.loads(clock.read_text())["seconds"] if clock.exists() else 0.0
    settings: dict[str, Any] = dict(plan.sampling)
    if cell.strength is not None:
        settings["relation_strength"] = cell.strength
    numbered = islice(requests(cell, reference, plan), done, None)
    if on_progress:
        on_progress(cell, done, total)
    if done < total:
        stream = generator.stream_many(
            numbered, cell.seed, cell.steps, batch_size=plan.batch_size, **settings
        )
        with path.open("ab") as out:
            while True:
                started = time.perf_counter()
                part = list(islice(stream, FLUSH))
                seconds += time.perf_counter() - started
                if not part:
                    break
                out.write(b"".join(dumps(_numbered(r.layout)).encode() + b"\n" for r in part))
                out.flush()
                write_json(clock, {"seconds": seconds})
                done += len(part)
                if on_progress:
                    on_progress(cell, done, total)
    if done != total:
        raise LayoutdmError(
            f"{path}: holds {done} layouts where {total} are due; remove it and start again"
        )
    return Made(tuple(_read(path)), seconds)


def _clock(folder: Path, cell: Cell) -> Path:
    return folder / "layouts" / f"{cell.name}.time.json"


def _numbered(layout: Layout) -> Layout:
    """Without an id: a model may give the same one to layouts of several requests."""
    return replace(layout, id="")


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
    with path.open("rb") as lines:
        return [from_record(json.loads(line)) for line in lines]


def score_cell(
    cell: Cell,
    made: Made,
    plan: Plan,
    reference: Sequence[Layout],
    network: FeatureNetwork | None,
    missing: str,
    folder: Path,
) -> dict[str, Any]:
    """The score sheet of a cell, from its file when it was made before."""
    path = folder / "scores" / f"{cell.name}.json"
    if path.exists():
        found: dict[str, Any] = json.loads(path.read_text())
        return found
    relations = None
    if cell.task == "relation":
        relations = [asked_relations(spec) for _, spec in requests(cell, reference, plan)]
    options = Options(paired=cell.task != "unconditional", published=True, seed=cell.seed)
    sheet = score(
        made.layouts,
        reference,
        network=network,
        missing=missing,
        relations=relations,
        options=options,
    )
    sheet["counts"] = {
        "generated": len(made.layouts),
        "reference": len(reference),
        "elements": sum(map(len, made.layouts)),
        "empty": sum(not len(layout) for layout in made.layouts),
    }
    record = {
        "cell": asdict(cell),
        "seconds": round(made.seconds, 3),
        "ms_per_layout": round(1000 * made.seconds / max(len(made.layouts), 1), 3),
        "scores": sheet,
    }
    write_json(path, record)
    return record


def floor(
    other: Sequence[Layout],
    reference: Sequence[Layout],
    plan: Plan,
    network: FeatureNetwork | None,
    missing: str,
    folder: Path,
) -> dict[str, Any] | None:
    """What real layouts of another split score against the reference; None without any.

    For unconditional generation the other split is cut to as many layouts as are generated, since
    FID falls with their number.
    """
    path = folder / "floor.json"
    if path.exists():
        found: dict[str, Any] = json.loads(path.read_text())
        return found
    if not other:
        return None
    options = Options(published=True, fid_resamples=20)
    whole = score(other, reference, network=network, missing=missing, options=options)
    cut = other[: plan.samples]
    record = {
        "layouts": len(other),
        "scores": whole,
        "unconditional_layouts": len(cut),
        "unconditional": whole
        if len(cut) == len(other)
        else score(cut, reference, network=network, missing=missing, options=options),
        # DocSim and relations compare a layout with itself: the best any model can reach.
        "itself": score(
            reference, reference, missing=missing, options=Options(paired=True, resamples=2)
        )["docsim"],
    }
    write_json(path, record)
    return record


def write_json(path: Path, value: object) -> None:
    """In one rename, so that an interruption never leaves half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(value, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    part.replace(path)
