"""Everything that decides a network's shape, in one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from layoutdm.errors import LayoutdmError

CHOICES = {
    "kind": ("element", "paper"),
    "time": ("none", "adaln"),
    "positions": ("decoupled", "flat"),
    "block": ("prenorm", "published"),
    "normalise": ("modality", "vocabulary"),
}


@dataclass(frozen=True)
class NetworkConfig:
    """`sizes` are the numbers of values of label, x, y, width, height, without PAD and MASK."""

    sizes: tuple[int, int, int, int, int]
    kind: str = "element"  # one token per element, or "paper": one token per attribute
    max_elements: int = 25
    width: int = 256
    layers: int = 4
    heads: int = 8
    feedforward: int = 1024
    dropout: float = 0.0  # the published code has 0.0 inside its blocks as well
    time: str = "none"  # mask-only diffusion: the best prediction does not depend on the level
    steps: int = 100  # levels of the schedule, for AdaLN's table
    positions: str = "decoupled"  # paper network only: element + attribute tables, or one flat one
    block: str = "prenorm"  # "published" takes its residual from the normalised input
    normalise: str = "modality"  # "vocabulary": as published, mass on foreign tokens is lost
    number: bool = True  # element network only: predict how many elements, before the elements
    about_levels: int = 0  # element network only: noise levels of drafts that it can read
    edges: int = 0  # element network only: lines of the grid that edges are scored on; 0 for none
    centres: tuple[tuple[float, ...], ...] = ()  # bin centres of x, y, width, height, for `edges`
    space: bool = False  # with edges: score values by how much of other elements they would cover
    cover_most: float = 20.0  # with space: no more nats than this for covering others
    repeats: bool = False  # with edges: score values by what of other elements they would repeat
    ordered: bool = False  # element network only: trained on elements in reading order
    # Element network only: who sees whom follows from whose turn comes first, see `sight`, so that
    # all elements of a layout learn in one pass.
    in_turn: bool = False

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise LayoutdmError(
                    f"network {name} {getattr(self, name)!r} is unknown; "
                    f"choose one of: {', '.join(allowed)}"
                )
        if self.width % self.heads:
            raise LayoutdmError(
                f"network width {self.width} must be a multiple of its heads {self.heads}"
            )

        if self.space and not self.edges:
            raise LayoutdmError("network space needs edges; set edges to a number of lines")
        if self.repeats and not self.edges:
            raise LayoutdmError("network repeats need edges; set edges to a number of lines")
        if self.edges and tuple(len(part) for part in self.centres) != self.sizes[1:]:
            raise LayoutdmError(
                "network edges need the bin centres of x, y, width and height, "
                f"{self.sizes[1:]} of them"
            )

    @property
    def number_first(self) -> bool:
        """Whether the number of elements is decided before the elements, and PAD never drawn."""
        return self.kind == "element" and self.number

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> NetworkConfig:
        """From config.json. Of networks that could read labels still to come, without that."""
        try:
            a, b, c, d, e = record["sizes"]
            centres = tuple(tuple(float(v) for v in part) for part in record.get("centres", ()))
            known = {key: value for key, value in record.items() if key != "ahead"}
            known.setdefault("ordered", record.get("ahead", False))
            return cls(**{**known, "sizes": (a, b, c, d, e), "centres": centres})
        except (KeyError, TypeError, ValueError) as error:
            raise LayoutdmError(f"network config is damaged: {error}") from None
