"""What config.json of a LayoutDM model holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from layoutdm.diffusion.network import Bools, Traits
from layoutdm.diffusion.schedule import Schedule
from layoutdm.errors import LayoutdmError
from layoutdm.generator.options import LayoutDMOptions
from layoutdm.terms.apart import Apart
from layoutdm.tokens import Bins, Tokenizer

FORMAT = 1
MOST_ELEMENTS = 1_000
MOST_LABELS = 10_000
MOST_BINS = 10_000
LARGEST = 1e12  # of any number that is no bin


@dataclass(frozen=True, eq=False)
class LayoutDMConfig:
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
    aliases: Mapping[str, str] = field(default_factory=dict)  # other words for labels

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
    def from_dict(cls, record: Mapping[str, Any], where: str = "config.json") -> LayoutDMConfig:
        if record.get("format") != FORMAT:
            raise LayoutdmError(
                f"{where}: format {str(record.get('format'))[:60]!r} is unknown; this version "
                f"reads {FORMAT}"
            )
        try:
            config = _config(cls, record)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise LayoutdmError(f"{where}: damaged: {missing[:300]}") from None
        tokenizer = config.tokenizer
        if config.traits.sizes != tokenizer.sizes:
            raise LayoutdmError(
                f"{where}: the network's sizes {config.traits.sizes} differ from those of the "
                f"labels and bins {tokenizer.sizes}"
            )
        return config


def _config(cls: type[LayoutDMConfig], record: Mapping[str, Any]) -> LayoutDMConfig:
    network = _mapping("network", record["network"])
    labels, most = _labels(record["labels"]), record["max_elements"]
    if not isinstance(most, int) or isinstance(most, bool) or not 1 <= most <= MOST_ELEMENTS:
        raise ValueError(
            f"max_elements must be a whole number from 1 to {MOST_ELEMENTS:,}, got {most!r}"
        )
    width, height = _numbers("canvas", record.get("canvas") or (1.0, 1.0), 1e-9)
    bins = Bins.from_dict(_mapping("bins", record["bins"]))
    if max(bins.counts) > MOST_BINS:
        raise ValueError(f"bins must be at most {MOST_BINS:,}, got {max(bins.counts):,}")
    tokenizer = Tokenizer(labels, bins, most)
    noise = _numbers("about_noise", record.get("about_noise") or ())
    label_network = record.get("label_network")
    if label_network not in (None, True, False):
        raise ValueError(f"label_network must be true or false, got {label_network!r}")
    return cls(
        tokenizer=tokenizer,
        schedule=Schedule.from_dict(_mapping("schedule", record["schedule"])),
        traits=_traits(network, noise),
        network=network,
        sampling=_sampling(record.get("sampling")),
        canvas=(width, height),
        number_histogram=_numbers("number_histogram", record.get("number_histogram") or ()),
        label_network=label_network,
        apart=_apart(record.get("apart"), tokenizer),
        aliases=read_aliases(record, labels),
    )


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} must be an object in braces, got {value!r}")
    return value


def _labels(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise ValueError(f"labels must be a list of texts, got {value!r}")
    if len(value) > MOST_LABELS:
        raise ValueError(f"labels must be at most {MOST_LABELS:,}, got {len(value):,}")
    return tuple(value)


def _numbers(name: str, value: Any, least: float = 0.0) -> tuple[float, ...]:
    good = isinstance(value, (list, tuple)) and all(
        isinstance(one, (int, float)) and not isinstance(one, bool) and least <= one <= LARGEST
        for one in value
    )
    if not good:
        raise ValueError(f"{name} must be a list of numbers from {least:g}, got {value!r}")
    return tuple(float(one) for one in value)


def _sampling(value: Any) -> Mapping[str, Mapping[str, Any]]:
    """The model's own options by task; each set of them must be one that can be used."""
    found = {
        str(task): dict(_mapping(f"sampling of {task}", options))
        for task, options in _mapping("sampling", value or {}).items()
    }
    for task, options in found.items():
        try:
            LayoutDMOptions().replaced(**{**found.get("default", {}), **options})
        except (LayoutdmError, TypeError) as error:
            raise ValueError(f"sampling of {task}: {error}") from None
    return found


def read_aliases(record: Mapping[str, Any], labels: Sequence[str]) -> dict[str, str]:
    """Other words for a model's labels, from its config.json: {"Navbar": "Toolbar", ...}."""
    aliases = record.get("aliases") or {}
    if not isinstance(aliases, Mapping):
        raise ValueError("aliases must be an object of words and labels")
    for word, label in aliases.items():
        if label not in labels:
            raise ValueError(f"aliases: {word!r} stands for {label!r}, which is not a label")
    return {str(word): str(label) for word, label in aliases.items()}


def apart_record(apart: Apart, labels: Sequence[str]) -> dict[str, Any]:
    """As config.json has it: each label with those that it keeps apart from."""
    others = {
        label: [other for other, keeps in zip(labels, row, strict=True) if keeps]
        for label, row in zip(labels, apart.labels, strict=True)
        if row.any()
    }
    return {"free": round(apart.free, 4), "labels": others}


def _apart(record: Any, tokenizer: Tokenizer) -> Apart | None:
    if record is None:
        return None
    record = _mapping("apart", record)
    pairs = _pairs(record["labels"], tokenizer)
    free = float(record["free"])
    if not 0 <= free < 1:
        raise ValueError(f"apart: free must be from 0 to less than 1, got {free}")
    return Apart(pairs, free)


def _pairs(record: Mapping[str, Any], tokenizer: Tokenizer) -> Bools:
    """(labels, labels), from each label with a list of others."""
    number = {label: i for i, label in enumerate(tokenizer.labels)}
    pairs = np.zeros((len(number), len(number)), dtype=bool)
    for label, others in _mapping("apart: labels", record).items():
        if not isinstance(others, list):
            raise ValueError(f"apart: {label!r} must have a list of labels, got {others!r}")
        for one in (label, *others):
            if not isinstance(one, str) or one not in number:
                raise ValueError(f"apart: {one!r} is not one of the model's labels")
        pairs[number[label], [number[other] for other in others]] = True
    return pairs


def _traits(network: Mapping[str, Any], noise: Sequence[float]) -> Traits:
    traits = read_traits(network)
    if not noise:
        return traits
    if len(noise) != traits.about_levels:
        raise ValueError(f"about_noise must hold {traits.about_levels} numbers, got {len(noise)}")
    return replace(traits, about_noise=tuple(float(value) for value in noise))


def read_traits(record: Mapping[str, Any]) -> Traits:
    """What the run half needs to know of a network, from the `network` part of config.json."""
    try:
        a, b, c, d, e = (int(size) for size in record["sizes"])
        return Traits(
            sizes=(a, b, c, d, e),
            max_elements=int(record.get("max_elements", 25)),
            number_first=record.get("kind", "element") == "element"
            and bool(record.get("number", True)),
            about_levels=int(record.get("about_levels", 0)),
            ordered=bool(record.get("ordered", record.get("ahead", False))),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise LayoutdmError(f"the model's network config is damaged: {error}") from None
