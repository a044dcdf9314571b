"""How to sample, in one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from layoutdm.diffusion.grid import GRIDS
from layoutdm.errors import LayoutdmError

CHOICES = {
    "grid": GRIDS,
    "posterior": ("exact", "published"),
    "filter": ("prediction", "published"),
    "remask_form": ("cap", "rescale"),
    "about": ("auto", "network", "prior", "both"),
    "order": ("random", "elements"),
    "keep_apart": ("no", "step", "all"),
}


@dataclass(frozen=True)
class Settings:
    """Every choice a run of the sampler leaves open.

    >>> Settings().replaced(steps=20, top_p=0.95).steps
    20
    """

    steps: int | None = None  # None: all levels of the schedule
    grid: str = "uniform"
    posterior: str = "exact"  # "published": the released code's approximation of skipped levels
    temperature: float = 1.0
    top_p: float = 1.0
    # Of labels; None: as top_p. Rare labels are no mistakes, as unlikely places often are.
    label_top_p: float | None = None
    top_k: int = 0  # 0: all
    # Temperature, top-p and top-k act on the prediction of z_0; "published": on p(z_s | z_t),
    # MASK included, and top-p also drops the token that crosses p.
    filter: str = "prediction"
    remask: float = 0.0  # chance that a decided free token becomes MASK again, in each step
    remask_form: str = "cap"  # or "rescale": a share of the largest chance that keeps marginals
    remask_range: tuple[float, float] = (0.0, 1.0)  # share of the levels in which it happens
    about: str = "auto"  # where drafts go: into the network, into a prior, or both
    # On Rico's val split 50 brings violated relations under a third of the unguided share; guiding
    # the last levels too does as much at half the strength and a smaller cost in FID.
    relation_strength: float = 50.0
    relation_updates: int = 3
    relation_range: tuple[float, float] = (0.0, 1.0)  # share of the levels that are guided
    # Relations of place may change sizes, too. Where sizes are decided before places, as with
    # order=elements, that stretches elements towards those that they should be beside.
    relation_sizes: bool = True
    ordered: bool = False  # elements in top-left order, where no box is known
    # Which tokens are decided first: any, as the forward process masks them, or one element after
    # the other, each label, width, height, x, y. The grid says how many in each step. Always
    # random where tokens may change again: priors, published forms, schedules that replace.
    order: str = "random"
    # With order=elements: width and height in the same step, for fewer calls. Where they depend on
    # each other, as those of icons do, it costs quality; on pages it costs none.
    size_at_once: bool = True
    # With order=elements: the labels of all elements before any box, as for requests of labels.
    labels_first: bool = False
    # With order=elements, where the model says which labels keep apart: boxes that are completed in
    # the same step are drawn one after the other, each where those before it leave room; "all":
    # where all others do, also those that the network has seen, and sizes and x look ahead.
    keep_apart: str = "step"
    lazy: bool = True  # ask the network only about layouts that decide a token in this step

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise LayoutdmError(
                    f"{name} {getattr(self, name)!r} is unknown; choose one of: "
                    f"{', '.join(allowed)}"
                )
        for name in ("ordered", "size_at_once", "labels_first", "relation_sizes", "lazy"):
            value = getattr(self, name)
            _check(isinstance(value, bool), name, value, "true or false")
        _check(self.steps is None or _whole(self.steps, 1), "steps", self.steps, "1 or more")
        _check(
            _real(self.temperature) and self.temperature > 0,
            "temperature",
            self.temperature,
            "more than 0",
        )
        for name, share in (("top_p", self.top_p), ("label_top_p", self.top_p_of(0))):
            right = _real(share) and 0 < share <= 1
            _check(right, name, share, "more than 0 and at most 1")
        _check(_whole(self.top_k, 0), "top_k", self.top_k, "0 (all) or a whole number")
        _check(_real(self.remask) and 0 <= self.remask <= 1, "remask", self.remask, "from 0 to 1")
        _check(
            _real(self.relation_strength) and self.relation_strength >= 0,
            "relation_strength",
            self.relation_strength,
            "0 or more",
        )
        _check(
            _whole(self.relation_updates, 0), "relation_updates", self.relation_updates, "0 or more"
        )
        for name in ("remask_range", "relation_range"):
            low, high = getattr(self, name)
            _check(0 <= low <= high <= 1, name, (low, high), "two rising shares from 0 to 1")

    def replaced(self, **changes: Any) -> Settings:
        """With these settings changed; None leaves a setting as it is."""
        known = {item.name for item in fields(self)}
        for name in changes:
            if name not in known:
                raise LayoutdmError(
                    f"unknown sampling setting {name!r}; the settings are: "
                    f"{', '.join(sorted(known))}"
                )
        given = {name: _plain(value) for name, value in changes.items() if value is not None}
        return replace(self, **given)

    def top_p_of(self, modality: int) -> float:
        """Of the label, x, y, width and height, in this order."""
        if modality == 0 and self.label_top_p is not None:
            return self.label_top_p
        return self.top_p

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Settings:
        return cls().replaced(**record)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _real(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check(right: bool, name: str, value: object, wanted: str) -> None:
    if not right:
        raise LayoutdmError(f"{name} must be {wanted}, got {value!r}")
