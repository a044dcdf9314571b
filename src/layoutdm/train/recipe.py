"""The recipe: everything that decides how a LayoutDM model is trained, in nested frozen values.

`layoutdm train DATA --out MODEL` is this recipe as it stands, for the embedded models as well.

>>> Settings().network.width
256
>>> with_text(Settings(), ["network.width=128", "budget.minutes=20"]).budget.minutes
20.0
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from layoutdm.diffusion import Schedule
from layoutdm.errors import LayoutdmError
from layoutdm.tokens import Tokenizer
from layoutdm.train.networks import NetworkConfig
from layoutdm.train.settings import Budget, Optimiser, require, require_choice

TASKS = ("unconditional", "labels", "labels_sizes", "completion", "refinement")
BINS = ("measured", "kmeans", "uniform", "percentile", "percentile-unique")


@dataclass(frozen=True)
class Data:
    """What the network sees of the data. Most of it is measured; see `measure`."""

    max_elements: int = 25  # longer layouts are left out, and counted, with what a higher one keeps
    bins: str = "measured"  # as many of each attribute as the data's own grid and density ask for
    bin_count: int = 256  # at most; of the other kinds exactly this many

    def __post_init__(self) -> None:
        require_choice("data.bins", self.bins, BINS)
        require(self.max_elements >= 1, "data.max_elements", self.max_elements, "at least 1")
        right = 1 <= self.bin_count <= 1024
        require(right, "data.bin_count", self.bin_count, "from 1 to 1024")


@dataclass(frozen=True)
class Shape:
    """The network. 4 million weights learn 12,000 screens in an hour, and draw in milliseconds."""

    kind: str = "element"  # one token per element; "paper": one per attribute, as published
    width: int = 256
    layers: int = 4
    dropout: float = 0.15  # the data sets are small: without it the bound rises again
    lines: int = 511  # of the grid on which edges are scored: half of what eyes see
    repeats: bool = True  # score values by the edges, sizes and gaps that they would repeat
    positions: str = "decoupled"  # of the paper's network; "flat" is its ablation

    def __post_init__(self) -> None:
        require_choice("network.kind", self.kind, ("element", "paper"))
        require_choice("network.positions", self.positions, ("decoupled", "flat"))
        require(0 <= self.dropout < 1, "network.dropout", self.dropout, "from 0 up to 1")
        for name in ("width", "layers"):
            value = getattr(self, name)
            require(value >= 1, f"network.{name}", value, "at least 1")
        require(self.width % self.heads == 0, "network.width", self.width, "a multiple of 8")
        require(3 <= self.lines <= 4096, "network.lines", self.lines, "from 3 to 4096")

    @property
    def heads(self) -> int:
        """Of attention: 32 wide each in the usual network; the published one has 8."""
        return 8 if self.width >= 128 else 4


@dataclass(frozen=True)
class Recipe:
    """What is learned, and when."""

    # How often layouts are shown as each of TASKS. Drawing from nothing is drawing from labels,
    # which the label network draws first; so labels have the largest share.
    tasks: tuple[float, ...] = (0.08, 0.38, 0.16, 0.19, 0.19)
    completion_share: float = 0.3  # at most this share of the elements is known in completion
    about_noise: tuple[float, ...] = (0.025, 0.05, 0.1, 0.2)  # standard deviations of drafts
    ordered: float = 0.85  # of layouts whose task has a reading order come in it, with ranks
    mixed: float = 0.2  # of layouts list any of their fields besides: a request may fix anything
    ahead: float = 0.5  # weight of an element's values after the next one, for few steps
    number: float = 0.2  # weight of -log p(number of elements): it is easily learned
    # The loss for boxes on top of others: its weight, and from which share of the run on. A
    # network must draw well before it can learn from what it draws.
    apart: float = 0.3
    apart_from: float = 0.8
    # As the paper trained: the variational bound with importance-sampled levels, no conditions.
    published: bool = False
    schedule: str = "published"  # of the noise; "mask-and-replace" is the paper's other form

    def __post_init__(self) -> None:
        right = len(self.tasks) == len(TASKS) and min(self.tasks) >= 0 and sum(self.tasks) > 0
        require(right, "recipe.tasks", self.tasks, f"shares of {', '.join(TASKS)}")
        for name in ("completion_share", "ordered", "mixed", "ahead", "apart_from"):
            value = getattr(self, name)
            require(0 <= value <= 1, f"recipe.{name}", value, "from 0 to 1")
        for name in ("number", "apart"):
            value = getattr(self, name)
            require(value >= 0, f"recipe.{name}", value, "0 or more")
        levels = tuple(self.about_noise)
        wanted = "standard deviations of drafts"
        require(min(levels, default=0) > 0, "recipe.about_noise", levels, wanted)
        self.noise_schedule()

    def phase(self, done: float) -> str:
        """What is learned at this share of the budget."""
        return "apart" if self.apart and done >= self.apart_from else "plain"

    def noise_schedule(self) -> Schedule:
        return Schedule.preset(self.schedule)


@dataclass(frozen=True)
class Settings:
    """All of it; written as JSON into the run folder and the model folder."""

    data: Data = field(default_factory=Data)
    network: Shape = field(default_factory=Shape)
    recipe: Recipe = field(default_factory=Recipe)
    optimiser: Optimiser = field(default_factory=Optimiser)
    budget: Budget = field(default_factory=Budget)

    def __post_init__(self) -> None:
        paper = self.network.kind == "paper"
        require(
            paper == self.recipe.published, "recipe.published", self.recipe.published,
            "true for the paper's network and false for any other",
        )  # fmt: skip

    def network_config(self, tokenizer: Tokenizer) -> NetworkConfig:
        shape, element = self.network, self.network.kind == "element"
        return NetworkConfig(
            sizes=tokenizer.sizes,
            kind=shape.kind,
            max_elements=tokenizer.max_elements,
            width=shape.width,
            layers=shape.layers,
            heads=shape.heads,
            feedforward=4 * shape.width,
            dropout=shape.dropout,
            time="none" if element else "adaln",
            steps=self.recipe.noise_schedule().steps,
            positions=shape.positions,
            number=element,
            about_levels=len(self.recipe.about_noise) if element else 0,
            edges=shape.lines if element else 0,
            centres=tuple(tuple(map(float, part)) for part in tokenizer.bins.centres)
            if element
            else (),
            space=element,
            repeats=element and shape.repeats,
            ordered=element,
            in_turn=element,
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Settings:
        """From what `to_dict` gave, or a part of it."""
        parts: dict[str, Any] = {}
        for name, values in record.items():
            if name not in PARTS:
                known = ", ".join(PARTS)
                raise LayoutdmError(f"training settings: unknown part {name!r}; there are {known}")
            part = PARTS[name]
            unknown = sorted(set(values) - {field.name for field in fields(part)})
            if unknown:
                raise LayoutdmError(f"training settings: {name} has no {unknown[0]!r}")
            parts[name] = part(**{key: _tuples(value) for key, value in values.items()})
        return cls(**parts)

    def changed(self, part: str, **values: Any) -> Settings:
        """With other values of one part.

        >>> Settings().changed("budget", steps=200, seed=1).budget.steps
        200
        """
        return replace(self, **{part: replace(getattr(self, part), **values)})


PARTS: dict[str, Any] = {
    "data": Data, "network": Shape, "recipe": Recipe, "optimiser": Optimiser, "budget": Budget,
}  # fmt: skip

PRESETS: dict[str, Settings] = {
    # All elements of a layout learn in one pass, so that few layouts make a step.
    "recipe": Settings(optimiser=Optimiser(learning_rate=7e-4), budget=Budget(batch_size=16)),
    # The published model: 12.4 million weights, plateau schedule, no tasks. Averaged weights are
    # an addition; optimiser.average=0 is as published.
    "paper": Settings(
        data=Data(bins="kmeans", bin_count=32),
        network=Shape("paper", width=464, dropout=0.0, repeats=False),
        recipe=Recipe(tasks=(1, 0, 0, 0, 0), apart=0.0, published=True),
        optimiser=Optimiser(learning_rate=5e-4, schedule="plateau", warm_up=0),
    ),
    # For tests and laptops: seconds to a first result.
    "tiny": Settings(
        network=Shape(width=64, layers=2, dropout=0.0),
        optimiser=Optimiser(warm_up=20),
        budget=Budget(batch_size=32),
    ),
}


def preset(name: str, **budget: Any) -> Settings:
    """A named recipe, with a budget.

    >>> preset("tiny", epochs=5).budget.epochs
    5
    """
    if name not in PRESETS:
        raise LayoutdmError(f"unknown preset {name!r}; choose one of: {', '.join(PRESETS)}")
    return PRESETS[name].changed("budget", **budget)


def names() -> list[str]:
    """Of all settings, as `--set` takes them."""
    return [f"{part}.{one.name}" for part, kind in PARTS.items() for one in fields(kind)]


def with_text(settings: Settings, assignments: list[str]) -> Settings:
    """The settings with `part.name=value` texts applied, as `--set` gives them.

    >>> with_text(Settings(), ["recipe.tasks=1,0,0,0,0"]).recipe.tasks
    (1.0, 0.0, 0.0, 0.0, 0.0)
    """
    changes: dict[str, dict[str, Any]] = {}
    known = names()
    for assignment in assignments:
        name, separator, text = assignment.partition("=")
        if not separator or name not in known:
            raise LayoutdmError(
                f"--set {assignment}: write NAME=VALUE with one of the settings: {', '.join(known)}"
            )
        part, own = name.split(".")
        kind = next(str(one.type) for one in fields(PARTS[part]) if one.name == own)
        changes.setdefault(part, {})[own] = _parse(name, kind, text)
    parts = {part: replace(getattr(settings, part), **values) for part, values in changes.items()}
    return replace(settings, **parts)


def _parse(name: str, kind: str, text: str) -> Any:
    try:
        if kind.startswith("tuple"):
            return tuple(float(part) for part in text.split(",") if part.strip())
        if text == "none" and "None" in kind:
            return None
        if kind.startswith("int"):
            return int(text)
        if kind == "bool":
            return {"true": True, "false": False}[text.lower()]
        return float(text) if kind.startswith("float") else text
    except (ValueError, KeyError):
        raise LayoutdmError(f"--set {name}={text}: {text!r} should be of type {kind}") from None


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
