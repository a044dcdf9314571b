"""One frozen value that decides a training run: data recipe, network, schedule, optimiser, budget.

>>> config = preset("tiny", steps=200)
>>> config.steps, config.width
(200, 64)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from layoutdm.diffusion import Schedule
from layoutdm.errors import LayoutdmError
from layoutdm.tokens import Tokenizer
from layoutdm.train.networks import NetworkConfig

CHOICES = {
    "bins": ("kmeans", "uniform", "percentile", "percentile-unique"),
    "learning_rate_schedule": ("cosine", "plateau", "constant"),
    "times": ("uniform", "stratified", "importance"),
    "optimizer": ("adamw", "muon"),
    "loss_scale": ("mean", "published"),
    "auxiliary": ("constant", "adaptive"),
    "precision": ("no", "fp16", "bf16"),
}
AT_LEAST_ONE = (
    "batch_size", "bin_count", "max_elements", "width", "layers", "heads", "feedforward",
    "schedule_steps", "number_every", "validate_steps", "validate_levels", "validate_limit",
)  # fmt: skip
NOT_NEGATIVE = (
    "auxiliary_weight", "number_weight", "weight_decay", "learning_rate_floor", "warmup_steps",
    "clip", "patience", "checkpoint_minutes", "seed", "edges", "label_epochs", "clear",
)  # fmt: skip
TASKS = ("unconditional", "labels", "labels_sizes", "completion", "refinement")


@dataclass(frozen=True)
class TrainConfig:
    """Every value with its reason; written as JSON into the run folder and the model folder."""

    # Data
    bins: str = "kmeans"
    bin_count: int = 32
    max_elements: int = 25

    # Network; see NetworkConfig. `kind` element: the number of elements comes first, no PAD.
    kind: str = "element"
    width: int = 256
    layers: int = 4
    heads: int = 8
    feedforward: int = 1024
    dropout: float = 0.0
    time: str = "none"
    positions: str = "decoupled"
    block: str = "prenorm"
    normalise: str = "modality"
    edges: int = 255  # lines of the grid on which the element network scores edges; 0 for none
    space: bool = True  # with edges: see what other elements cover, so that free space is found
    # At most so many nats for what a value would cover; None: as the model it starts from, or 10.
    cover_most: float | None = None

    # Diffusion: a preset's name; see Schedule.preset
    schedule: str = "published"
    schedule_steps: int = 100
    schedule_numbers: tuple[float, ...] = ()  # keep and mask at the first and last level instead

    # What a layout is shown with: probabilities of the tasks, in the order of TASKS. Half of the
    # layouts come without any condition, the rest as people will use the model.
    tasks: tuple[float, ...] = (0.45, 0.15, 0.12, 0.10, 0.18)
    completion_share: float = 0.3  # at most this share of the elements is known in completion
    about_noise: tuple[float, ...] = (0.025, 0.05, 0.1, 0.2)  # standard deviations of drafts
    # Drafts use the third level (0.1, the paper's) this often, else any of the levels.
    about_usual: float = 0.6
    ordered: float = 0.0  # share of unconditional layouts in top-left order with position ids
    # Requests of labels alone and completion in top-left order, too, as often as `ordered` says;
    # requests of labels and sizes with the largest element first.
    ordered_tasks: bool = False
    # Of those, without any condition or with labels, the share that learns the order of labels
    # alone, boxes unknown. With labels the network reads how often each is still to come.
    label_order: float = 0.4
    # Passes over the data of the small network that draws labels in reading order; 0: the large
    # network draws them. It helps where labels come first.
    label_epochs: int = 0
    in_sequence: float = 0.0  # share of layouts masked element by element, as `order` may sample
    # Of their auxiliary loss, the share of the element whose turn is next; the rest is of all.
    next_element: float = 0.0
    # Weight of a loss for places on top of other elements, after sizes that the network has drawn.
    # Labels that share room in the data, such as text and cards, do not count.
    clear: float = 0.0
    # Shares of a box that may be covered for nothing: what rounding to few bins makes of real
    # elements that touch. With a bin for every value of the data it is 0.
    clear_from: float = 0.0
    # Sizes and x learn from it, too, and leaving the canvas counts as much as covering.
    clear_room: bool = False

    # Loss
    auxiliary_weight: float = 0.1
    auxiliary: str = "constant"  # "adaptive" adds the published factor 2 - t / T
    loss_scale: str = "mean"  # "published" divides by p(t) itself: 100 times larger, so it clips
    times: str = "stratified"  # one level from each of batch-size strata: less noise than uniform
    number_weight: float = 0.02  # of -log p(number of elements), every `number_every` steps
    number_every: int = 4
    # As the embedded models were trained, by mistake: of layouts that are masked in sequence the
    # number is guessed without seeing the elements that completion gives. Only to repeat them.
    number_blind: bool = False

    # Of the model that training starts from, in the weights that are kept: their weighted mean is
    # often better than either at what each does best (Wortsman et al. 2022).
    base_share: float = 0.0
    # Passes over the data that fit the guess of the number of elements anew at the end, and
    # nothing else: after a mean of weights that guess is off.
    number_epochs: int = 0

    # Optimiser
    optimizer: str = "adamw"  # "muon" orthogonalises the updates of the blocks' matrices
    learning_rate: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.98)
    weight_decay: float = 0.1  # on the weights of linear layers only, as published
    learning_rate_schedule: str = "cosine"
    learning_rate_floor: float = 0.02  # the cosine ends at this share of the learning rate
    warmup_steps: int = 200
    clip: float = 1.0
    ema: float = 0.999  # warms up as (1 + step) / (10 + step); 0 switches it off

    # Budget: whichever is given; the first that is reached ends the run
    batch_size: int = 128
    epochs: float | None = None
    steps: int | None = None
    minutes: float | None = None  # of training, validation included, over all resumed parts
    patience: int = 0  # evaluations without a better bound before an early stop; 0 is never

    # Validation and checkpoints. With a budget in minutes validation goes by the clock,
    # otherwise by steps (None: once an epoch), so that a resumed run repeats exactly.
    validate_steps: int | None = None
    validate_levels: int = 10  # noise levels per layout, spread evenly over the schedule
    validate_limit: int = 2000  # at most this many layouts of the val split
    checkpoint_minutes: float = 4.0

    seed: int = 0
    precision: str = "no"

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            _require(
                getattr(self, name) in allowed,
                f"{name} {getattr(self, name)!r} is unknown; choose one of: {', '.join(allowed)}",
            )
        for name in AT_LEAST_ONE:
            value = getattr(self, name)
            _require(value is None or value >= 1, f"{name} must be at least 1, got {value}")
        for name in NOT_NEGATIVE:
            value = getattr(self, name)
            _require(math.isfinite(value) and value >= 0, f"{name} must be 0 or more, got {value}")
        _require(0 <= self.dropout < 1, f"dropout must be from 0 up to 1, got {self.dropout}")
        _require(
            len(self.betas) == 2 and all(0 <= beta < 1 for beta in self.betas),
            "betas must be two numbers from 0 up to 1",
        )
        for name in ("epochs", "steps", "minutes"):
            value = getattr(self, name)
            finite = value is None or (math.isfinite(value) and value > 0)
            _require(finite, f"{name} must be greater than 0, got {value}")
        _require(
            len(self.tasks) == len(TASKS) and min(self.tasks) >= 0 and sum(self.tasks) > 0,
            f"tasks must be {len(TASKS)} probabilities, for {', '.join(TASKS)}",
        )
        _require(
            len(self.schedule_numbers) in (0, 4),
            "schedule_numbers must be four: keep at the first and last level, mask at both",
        )
        self.noise_schedule()  # refuses numbers that make no schedule
        _require(0 <= self.ema < 1, f"ema must be from 0 up to 1, got {self.ema}")
        for name in ("ordered", "label_order", "in_sequence", "next_element", "base_share"):
            value = getattr(self, name)
            _require(0 <= value <= 1, f"{name} must be from 0 to 1, got {value}")
        _require(
            not self.next_element or self.in_sequence > 0,
            "next_element needs layouts that are masked in sequence; set in_sequence above 0",
        )
        _require(
            not self.clear or (self.kind == "element" and self.edges > 0),
            "clear needs an element network with edges; set edges above 0, or clear to 0",
        )
        _require(
            0 <= self.clear_from < 1 and (not self.clear_from or self.clear > 0),
            f"clear_from must be from 0 up to 1, and 0 without clear, got {self.clear_from}",
        )
        _require(
            not self.clear_room or self.clear > 0,
            "clear_room says what clear counts; set clear above 0, or clear_room to false",
        )
        cover_most = self.cover_most
        _require(
            cover_most is None or (math.isfinite(cover_most) and cover_most > 0),
            f"cover_most must be greater than 0, got {cover_most}",
        )
        _require(
            cover_most is None or (self.kind == "element" and self.edges > 0 and self.space),
            "cover_most needs an element network with edges and space; leave it out",
        )
        _require(
            isinstance(self.label_epochs, int),
            f"label_epochs must be a whole number, got {self.label_epochs}",
        )
        _require(
            isinstance(self.number_epochs, int) and self.number_epochs >= 0,
            f"number_epochs must be a whole number from 0, got {self.number_epochs}",
        )
        _require(
            not self.number_epochs or self.kind == "element",
            "number_epochs needs an element network, which decides the number of elements first",
        )
        used = self.kind == "element" and self.ordered > 0 and self.in_sequence > 0
        _require(
            not self.label_epochs or used,
            "label_epochs needs an element network and layouts in order that are masked in "
            "sequence; set ordered and in_sequence above 0, or label_epochs to 0",
        )
        _require(self.learning_rate > 0, "learning_rate must be greater than 0")
        _require(
            self.tasks[TASKS.index("refinement")] == 0 or len(self.about_noise) > 0,
            "refinement needs about_noise: the standard deviations of its drafts",
        )
        _require(
            self.kind == "element" or self.plain,
            "the paper network is trained without tasks and orders; "
            "set tasks to 1,0,0,0,0 and ordered to 0",
        )

    @property
    def plain(self) -> bool:
        """Whether every layout is trained unconditionally and in random order."""
        return sum(self.tasks[1:]) == 0 and self.ordered == 0

    @property
    def about_levels(self) -> int:
        return len(self.about_noise) if self.tasks[TASKS.index("refinement")] > 0 else 0

    def network_config(self, tokenizer: Tokenizer) -> NetworkConfig:
        return NetworkConfig(
            sizes=tokenizer.sizes,
            kind=self.kind,
            max_elements=self.max_elements,
            width=self.width,
            layers=self.layers,
            heads=self.heads,
            feedforward=self.feedforward,
            dropout=self.dropout,
            time=self.time,
            steps=self.schedule_steps,
            positions=self.positions,
            block=self.block,
            normalise=self.normalise,
            number=self.kind == "element",
            about_levels=self.about_levels,
            edges=self.edges if self.kind == "element" else 0,
            centres=tuple(tuple(map(float, part)) for part in tokenizer.bins.centres)
            if self.edges and self.kind == "element"
            else (),
            space=self.space and self.edges > 0 and self.kind == "element",
            ahead=self.ordered_tasks and self.kind == "element",
            **({} if self.cover_most is None else {"cover_most": self.cover_most}),
        )

    def noise_schedule(self) -> Schedule:
        if self.schedule_numbers:
            return Schedule(self.schedule_steps, *self.schedule_numbers)
        return Schedule.preset(self.schedule, self.schedule_steps)

    def usual_sampling(self) -> dict[str, dict[str, Any]]:
        """How models trained like this sample well, by task, until somebody tunes them.

        It is what the val splits of Rico and PubLayNet chose; see docs/models.md.
        """
        if self.kind == "paper":
            return {}
        usual: dict[str, Any] = {"steps": 50, "top_p": 0.95}
        relation: dict[str, Any] = {}
        if self.in_sequence:
            usual |= {"steps": 30, "order": "elements", "size_at_once": False}
            usual["keep_apart"] = "all"
            relation = {"relation_sizes": False}  # guidance must not stretch what is placed later
        if not self.ordered:
            return {"default": usual, **({"relation": relation} if relation else {})}
        by_task: dict[str, dict[str, Any]] = {"unconditional": {"ordered": True}}
        by_task["c"] = {"ordered": True}
        if self.ordered_tasks:
            by_task["completion"] = {"ordered": True}
        learned = self.label_epochs or (self.ordered_tasks and self.label_order)
        if self.in_sequence and learned:
            by_task["unconditional"] |= {"labels_first": True, "label_top_p": 1.0}
            by_task["c"] |= {"label_top_p": 1.0}
        if self.in_sequence and self.label_epochs and self.ordered_tasks:
            relation["ordered"] = True
        if relation:
            by_task["relation"] = relation
        return {"default": usual, **by_task}

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> TrainConfig:
        names = {field.name for field in fields(cls)}
        unknown = sorted(set(record) - names)
        _require(not unknown, f"unknown setting {', '.join(unknown)}")
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in record.items()
        }
        try:
            return cls(**values)
        except TypeError as error:
            raise LayoutdmError(f"training settings: {error}") from None


PRESETS: dict[str, dict[str, Any]] = {
    # The default for models that people use: five times faster than the paper's network.
    "element": {
        "batch_size": 64,
        "tasks": (0.45, 0.18, 0.10, 0.10, 0.17),
        "ordered": 0.5,
        "in_sequence": 0.5,
    },
    # The published recipe: 12.4 million parameters, plateau schedule, no tasks. Averaged weights
    # are an addition; ema=0 is as published.
    "paper": {
        "kind": "paper",
        "width": 464,
        "feedforward": 1856,
        "time": "adaln",
        "tasks": (1.0, 0.0, 0.0, 0.0, 0.0),
        "times": "importance",
        "auxiliary": "adaptive",
        "learning_rate": 5e-4,
        "learning_rate_schedule": "plateau",
        "warmup_steps": 0,
        "batch_size": 64,
    },
    # For tests and laptops: seconds to a first result.
    "tiny": {"width": 64, "layers": 2, "heads": 4, "feedforward": 128, "batch_size": 32,
             "warmup_steps": 20, "validate_levels": 5},
}  # fmt: skip


def preset(name: str, **changes: Any) -> TrainConfig:
    """A named recipe with some values changed."""
    if name not in PRESETS:
        raise LayoutdmError(f"unknown preset {name!r}; choose one of: {', '.join(PRESETS)}")
    return TrainConfig.from_dict({**PRESETS[name], **changes})


def with_text(config: TrainConfig, assignments: list[str]) -> TrainConfig:
    """The config with `name=value` texts applied, as `--set` gives them.

    >>> with_text(TrainConfig(), ["width=128", "tasks=1,0,0,0,0"]).tasks
    (1.0, 0.0, 0.0, 0.0, 0.0)
    """
    changes: dict[str, Any] = {}
    kinds = {field.name: str(field.type) for field in fields(TrainConfig)}
    for assignment in assignments:
        name, separator, text = assignment.partition("=")
        if not separator or name not in kinds:
            raise LayoutdmError(
                f"--set {assignment}: write NAME=VALUE with one of the settings: {', '.join(kinds)}"
            )
        changes[name] = _parse(name, kinds[name], text)
    return replace(config, **changes)


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


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise LayoutdmError(f"training settings: {message}")
