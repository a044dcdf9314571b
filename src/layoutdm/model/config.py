"""What a model folder's config.json holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from layoutdm.diffusion.apart import Apart
from layoutdm.diffusion.network import Traits
from layoutdm.diffusion.schedule import Schedule
from layoutdm.errors import LayoutdmError
from layoutdm.tokens import Bins, Tokenizer

CONFIG = "config.json"
FORMAT = 1


@dataclass(frozen=True, eq=False)
class ModelConfig:
    """Labels, bins, schedule and network of a model, and the sampling it does best with."""

    tokenizer: Tokenizer
    schedule: Schedule
    traits: Traits
    network: Mapping[str, Any]  # the network's own config, for whoever builds it
    sampling: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by task
    canvas: tuple[float, float] = (1.0, 1.0)
    number_histogram: tuple[float, ...] = ()
    label_network: bool | None = None  # None: as the files say
    apart: Apart | None = None  # which labels keep apart in the data, where that is known

    @property
    def labels(self) -> tuple[str, ...]:
        return self.tokenizer.labels

    @property
    def max_elements(self) -> int:
        return self.tokenizer.max_elements

    def sampling_of(self, task: str) -> dict[str, Any]:
        """The model's own sampling settings for a task, on top of its defaults."""
        return {**self.sampling.get("default", {}), **self.sampling.get(task, {})}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any], where: str = "config.json") -> ModelConfig:
        if record.get("format") != FORMAT:
            raise LayoutdmError(
                f"{where}: format {record.get('format')!r} is unknown; this version reads {FORMAT}"
            )
        try:
            network = record["network"]
            labels = tuple(str(label) for label in record["labels"])
            width, height = record.get("canvas") or (1.0, 1.0)
            tokenizer = Tokenizer(
                labels, Bins.from_dict(record["bins"]), int(record["max_elements"])
            )
            config = cls(
                tokenizer=tokenizer,
                schedule=Schedule.from_dict(record["schedule"]),
                traits=_traits(network, record.get("about_noise") or ()),
                network=network,
                sampling=record.get("sampling") or {},
                canvas=(float(width), float(height)),
                number_histogram=tuple(record.get("number_histogram") or ()),
                label_network=record.get("label_network"),
                apart=_apart(record.get("apart"), tokenizer),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise LayoutdmError(f"{where}: damaged: {missing}") from None
        if config.traits.sizes != tokenizer.sizes:
            raise LayoutdmError(
                f"{where}: the network's sizes {config.traits.sizes} differ from those of the "
                f"labels and bins {tokenizer.sizes}"
            )
        return config

    @classmethod
    def read(cls, folder: Path) -> ModelConfig:
        path = folder / CONFIG
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise LayoutdmError(f"{folder}: holds no {CONFIG}; it is not a model folder") from None
        except (ValueError, UnicodeDecodeError) as error:
            raise LayoutdmError(f"{path}: is not valid JSON: {error}") from None
        if not isinstance(record, dict):
            raise LayoutdmError(f"{path}: must hold a JSON object")
        return cls.from_dict(record, str(path))


def apart_record(apart: Apart, labels: Sequence[str]) -> dict[str, Any]:
    """As config.json has it: each label with those that it keeps apart from."""
    others = {
        label: [other for other, keeps in zip(labels, row, strict=True) if keeps]
        for label, row in zip(labels, apart.labels, strict=True)
        if row.any()
    }
    return {"free": round(apart.free, 4), "labels": others}


def _apart(record: Mapping[str, Any] | None, tokenizer: Tokenizer) -> Apart | None:
    if record is None:
        return None
    number = {label: i for i, label in enumerate(tokenizer.labels)}
    pairs = np.zeros((len(number), len(number)), dtype=bool)
    for label, others in record["labels"].items():
        if not isinstance(others, list):
            raise ValueError(f"apart: {label!r} must have a list of labels, got {others!r}")
        for one in (label, *others):
            if one not in number:
                raise ValueError(f"apart: {one!r} is not one of the model's labels")
        pairs[number[label], [number[other] for other in others]] = True
    free = float(record["free"])
    if not 0 <= free < 1:
        raise ValueError(f"apart: free must be from 0 to less than 1, got {free}")
    return Apart(pairs, free, tokenizer.bins.centres)


def _traits(network: Mapping[str, Any], noise: Sequence[float]) -> Traits:
    traits = Traits.from_config(network)
    if not noise:
        return traits
    if len(noise) != traits.about_levels:
        raise ValueError(f"about_noise must hold {traits.about_levels} numbers, got {len(noise)}")
    return replace(traits, about_noise=tuple(float(value) for value in noise))
