"""Checkpoints that are whole or not there: tensors as safetensors, everything else as JSON.

A checkpoint is two files, `checkpoint-STEP.safetensors` and `checkpoint-STEP.json`. The JSON is
written last and holds the checksum of the tensors, so its presence is the commit. Where a step is
saved a second time, the new tensors go beside the old ones, until the JSON names them. The
checkpoint before is kept: a run falls back to it when the newest turns out to be damaged.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from layoutdm.atomic import clean_folder, write_bytes
from layoutdm.errors import LayoutdmError

KEEP = 2
Notice = Callable[[str], None]


@dataclass(frozen=True)
class Checkpoint:
    """All that a run needs to go on: named tensors and a JSON record."""

    step: int
    tensors: Mapping[str, Tensor]
    record: Mapping[str, Any]


def save(folder: Path, checkpoint: Checkpoint, notice: Notice) -> bool:
    """Write a checkpoint and drop the oldest. A full disk costs this checkpoint, not the run."""
    name = f"checkpoint-{checkpoint.step:09d}"
    tensors = {key: value.detach().cpu().contiguous() for key, value in checkpoint.tensors.items()}
    data = safetensors.torch.save(tensors)
    record: dict[str, Any] = {
        "step": checkpoint.step,
        "sha256": hashlib.sha256(data).hexdigest(),
        "record": dict(checkpoint.record),
    }
    record["record_sha256"] = _record_hash(record["record"])
    record["tensors"] = _tensors_name(folder, name, record["sha256"])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_bytes(folder / record["tensors"], data)
        write_bytes(folder / f"{name}.json", json.dumps(record).encode())
        _sync(folder)
    except OSError as error:
        if record["tensors"] != _committed(folder, name).get("tensors"):
            (folder / record["tensors"]).unlink(missing_ok=True)
        earlier = steps(folder)
        kept = f"the one of step {earlier[-1]} is kept" if earlier else "there is none before it"
        notice(
            f"could not write the checkpoint of step {checkpoint.step} to {folder} "
            f"({error.strerror or error}); {kept}, training goes on"
        )
        return False
    _drop_old(folder)
    return True


def load(folder: Path, notice: Notice) -> Checkpoint | None:
    """The newest whole checkpoint, or None where there is none at all."""
    found = steps(folder)
    for step in reversed(found):
        try:
            return _read(folder, step)
        except (OSError, ValueError, KeyError, TypeError, safetensors.SafetensorError) as error:
            others = [other for other in found if other < step]
            back = f"falling back to step {others[-1]}" if others else "and there is none before it"
            notice(f"checkpoint of step {step} in {folder} is damaged ({error}); {back}")
    if found:
        raise LayoutdmError(
            f"{folder}: every checkpoint is damaged; start again without --resume, "
            "in a new folder or after removing this one"
        )
    return None


def steps(folder: Path) -> list[int]:
    """Steps of the committed checkpoints, in order."""
    names = (path.stem.removeprefix("checkpoint-") for path in folder.glob("checkpoint-*.json"))
    return sorted(int(name) for name in names if name.isdigit())


def flatten_optimizer(name: str, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """An optimiser's state as named tensors."""
    return {
        f"{name}.{index}.{key}": torch.as_tensor(value)
        for index, values in optimizer.state_dict()["state"].items()
        for key, value in values.items()
    }


def restore_optimizer(
    name: str, optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]
) -> None:
    """Put back what `flatten_optimizer` took out."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        if key.startswith(f"{name}."):
            index, part = key.removeprefix(f"{name}.").split(".")
            state.setdefault(int(index), {})[part] = value
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def _read(folder: Path, step: int) -> Checkpoint:
    stem = folder / f"checkpoint-{step:09d}"
    record = json.loads(stem.with_suffix(".json").read_bytes())
    if _record_hash(record["record"]) != record["record_sha256"]:
        raise ValueError("its JSON does not match its checksum")
    data = (folder / record.get("tensors", f"{stem.name}.safetensors")).read_bytes()
    if hashlib.sha256(data).hexdigest() != record["sha256"]:
        raise ValueError("its tensors do not match their checksum")
    return Checkpoint(step, safetensors.torch.load(data), record["record"])


def _record_hash(record: Mapping[str, Any]) -> str:
    # Through JSON once, because tuples come back as lists.
    text = json.dumps(json.loads(json.dumps(record)), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _drop_old(folder: Path) -> None:
    for step in steps(folder)[:-KEEP]:
        stem = folder / f"checkpoint-{step:09d}"
        stem.with_suffix(".json").unlink(missing_ok=True)
    used = {_committed(folder, f"checkpoint-{step:09d}").get("tensors") for step in steps(folder)}
    for tensors in folder.glob("checkpoint-*.safetensors*"):  # also what a killed run left behind
        if tensors.name not in used:
            tensors.unlink(missing_ok=True)
    clean_folder(folder)


def _committed(folder: Path, name: str) -> dict[str, Any]:
    """What the JSON of a checkpoint says, damaged or not; nothing where there is none."""
    try:
        usual = {"tensors": f"{name}.safetensors"}
        return {**usual, **json.loads((folder / f"{name}.json").read_bytes())}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError):
        return usual


def _tensors_name(folder: Path, name: str, sha256: str) -> str:
    """Where tensors may be written without harm to a committed checkpoint of the same step."""
    usual, before = f"{name}.safetensors", _committed(folder, name)
    taken = before.get("tensors") == usual and before.get("sha256") != sha256
    return f"{name}-again.safetensors" if taken else usual


def _sync(folder: Path) -> None:
    """Make the renames themselves durable."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
