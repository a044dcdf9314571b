"""The scores that a table or figure is written from, and how they are written in a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from layoutdm.atomic import write_bytes
from layoutdm.layout import Layout
from layoutdm.paper.cells import Bench, Cell

SHIPPED = "layoutdm"  # the model of the same labels that comes with the package
ANCHOR = "layoutdm-paper@published"  # the network of the paper's own size
TITLES = {
    "unconditional": "Unconditional", "c": "C→S+P", "cwh": "C+S→P", "completion": "Completion",
    "refinement": "Refinement", "relation": "Relation",
}  # fmt: skip
NAMES = {
    "layoutdm-paper": "LayoutDM, as published", ANCHOR: "LayoutDM, published size",
    SHIPPED: "**LayoutDM, shipped**",
    "layouttrans": "LayoutTrans", "layouttrans-fixed": "LayoutTrans-fixed",
    "maskgit": "MaskGIT*", "blt": "BLT", "blt-original": "BLT, original", "bart": "BART",
    "vqdiffusion": "VQDiffusion*", "layoutgan++": "LayoutGAN++", "layoutvae": "LayoutVAE",
    "ndn-none": "NDN-none", "ndn-partial": "NDN-partial", "clg-lo": "CLG-LO", "ruite": "RUITE",
    "diffusionlm": "Diffusion-LM", "input": "Noisy input",
    "layoutdm-paper-joint": "without modality-wise diffusion",
    "layoutdm-paper-flat": "without decoupled positions",
    "layoutdm-paper-uniform": "with uniform bins",
    "layoutdm-paper-percentile": "with percentile bins",
}  # fmt: skip
DASH = "–"
NOT_YET = "not trained yet"


@dataclass(frozen=True)
class Results:
    """Records by data set and cell; cells of systems that are not trained yet are not there."""

    benches: Mapping[str, Bench]
    records: Mapping[tuple[str, str], Mapping[str, Any]]
    floors: Mapping[str, Mapping[str, float | None]]  # real layouts of val against test
    training: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    layouts: Mapping[tuple[str, str], Sequence[Layout]] = field(default_factory=dict)

    @property
    def data(self) -> tuple[str, ...]:
        return tuple(self.benches)

    def record(self, data: str, cell: Cell) -> Mapping[str, Any] | None:
        return self.records.get((data, cell.name))

    def value(self, data: str, cell: Cell, metric: str) -> float | None:
        found = self.record(data, cell)
        value = found["scores"].get(metric) if found else None
        return None if value is None else float(value)

    def text(
        self, data: str, cell: Cell, metric: str, paper: float | None = None, digits: int = 2
    ) -> str:
        """A cell's figure as a table has it, with the paper's in brackets."""
        missing = self.record(data, cell) is None and cell.system != SHIPPED
        if not missing:
            return with_paper(self.value(data, cell, metric), paper, digits)
        return NOT_YET if paper is None else f"{NOT_YET} [{figure_text(paper, digits)}]"

    @property
    def note(self) -> str:
        """How the figures were made: on how many layouts, from systems that saw how many."""
        counts = sorted({int(record["layouts"]) for record in self.records.values()})
        seen = sorted({int(own["seen"]) for own in self.training.values() if own.get("seen")})
        made = f"Each figure is of {_span(counts)} generated layouts. " if counts else ""
        trained = f"Each system saw {_span(seen)} layouts in training. " if seen else ""
        return f"{made}{trained}{NOTE}"


def _span(numbers: Sequence[int]) -> str:
    """
    >>> _span([200, 1000]), _span([500])
    ('200 to 1,000', '500')
    """
    low, high = numbers[0], numbers[-1]
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


class Item(Protocol):
    """A table or figure: which cells it needs, and how it is written."""

    NAME: str
    TITLE: str

    def cells(self, data: str) -> list[Cell]: ...

    def write(self, results: Results, out: Path) -> list[Path]: ...


def figure_text(value: float | None, digits: int = 2) -> str:
    """Three figures that count, as the paper has them.

    >>> figure_text(6.6543), figure_text(134.2), figure_text(0.27712, 3), figure_text(None)
    ('6.65', '134', '0.277', '–')
    """
    if value is None:
        return DASH
    return f"{value:.0f}" if value >= 100 else f"{value:.{digits}f}"


def with_paper(ours: float | None, paper: float | None, digits: int = 2) -> str:
    """Our figure, and the paper's in brackets.

    >>> with_paper(6.1, 6.65)
    '6.10 [6.65]'
    """
    text = figure_text(ours, digits)
    return text if paper is None else f"{text} [{figure_text(paper, digits)}]"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table.

    >>> print(table(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


NOTE = (
    "Lower FID and alignment are better, higher Maximum IoU and DocSim. In brackets: the paper's "
    "figure, made on other data with another feature network, so only the order may be compared. "
    "– means that the system does not do the task.\n"
)


def write_page(path: Path, title: str, body: str) -> list[Path]:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, f"# {title}\n\n{body}\n".encode())
    return [path]


def number_of(data: str) -> int | None:
    """Which of the paper's two columns a data set belongs to."""
    return {"rico25": 0, "publaynet": 1}.get(data)
