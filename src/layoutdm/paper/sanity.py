"""What must hold, or be explained: orders of the paper that no small budget should turn around."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from layoutdm.paper import table1, table2, table3
from layoutdm.paper.cells import INPUT, Cell
from layoutdm.paper.results import NAMES, NOT_YET, TITLES, Results, figure_text, table, write_page

NAME, TITLE = "sanity", "What must hold"
NEAR = 2.0  # "near" is within this factor
FAR = 0.5  # "far below" is below this share


@dataclass(frozen=True)
class Claim:
    """The FID of one cell is below a share of another's."""

    words: str
    low: Cell
    high: Cell
    share: float = 1.0


def _name(cell: Cell) -> str:
    return f"{NAMES[cell.system].strip('*')}, {TITLES[cell.task]}"


def claims() -> list[Claim]:
    ours = Cell("layoutdm-paper", "unconditional")
    found = [
        Claim("LayoutDM below the others without a condition", ours, Cell(name, "unconditional"))
        for name in ("vqdiffusion", "maskgit")
    ]
    draft = Cell(INPUT, "refinement")
    for cell in table3.cells(""):
        if cell.system != INPUT:
            found.append(Claim("far below the noisy input", cell, draft, FAR))
    ruite, refined = Cell("ruite", "refinement"), Cell("layoutdm-paper", "refinement")
    found.append(Claim("RUITE near LayoutDM in refinement", ruite, refined, NEAR))
    found.append(Claim("LayoutDM near RUITE in refinement", refined, ruite, NEAR))
    for system in table1.SYSTEMS:
        easy, hard = Cell(system, "cwh"), Cell(system, "c")
        found.append(Claim("easier with more given", easy, hard))
    return found


def cells(data: str) -> list[Cell]:
    found = [*table2.cells(data), *table1.cells(data), *table3.cells(data)]
    return [cell for cell in found if not cell.options]


def write(results: Results, out: Path) -> list[Path]:
    head = ["data", "claim", "FID of", "", "against", "", "holds"]
    rows = []
    for data in results.data:
        for claim in claims():
            low, high = (results.value(data, cell, "fid") for cell in (claim.low, claim.high))
            holds = NOT_YET
            if low is not None and high is not None:
                holds = "yes" if low < claim.share * high else "**no**"
            words = claim.words if claim.share == 1 else f"{claim.words} (× {claim.share:g})"
            row = [_name(claim.low), figure_text(low), _name(claim.high), figure_text(high)]
            rows.append([data, words, *row, holds])
    note = "Orders that must hold whatever the budget, or be explained below.\n"
    return write_page(out / f"{NAME}.md", TITLE, f"{note}\n{table(head, rows)}")
