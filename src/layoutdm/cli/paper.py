"""`layoutdm paper`: the paper's tables and figures, from systems trained and judged alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def paper(
    items: Annotated[
        list[str], typer.Argument(help="Tables and figures: table1, violation, ..., or all.")
    ],
    data: Annotated[
        Path, typer.Option(help="Folder that holds rico25 and publaynet, or one data set.")
    ],
    runs: Annotated[Path, typer.Option(help="Folder of trained systems; missing ones go there.")],
    out: Annotated[Path, typer.Option(help="Folder of tables and figures.")] = Path("docs/paper"),
    train: Annotated[
        bool, typer.Option("--train/--no-train", help="Train systems that are missing; hours.")
    ] = True,
    layouts: Annotated[
        int | None, typer.Option(help="Layouts that each system sees in training.")
    ] = None,
    tuning_steps: Annotated[
        int | None, typer.Option(help="Steps of each of the three short runs that choose a rate.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="At most so many layouts in a cell, for a quick look.")
    ] = None,
) -> None:
    """Make the paper's tables and figures: train what is missing, generate, score, write.

    Interrupted, the same command goes on. Systems that are not trained are dashes with --no-train.

    Examples:

        layoutdm paper table2 --data data/ --runs runs/ --no-train

        layoutdm paper all --data data/ --runs runs/ --out docs/paper
    """
    import sys

    from layoutdm.paper.run import make

    def notice(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    written = make(
        items, data, runs, out, train=train, layouts=layouts, tuning_steps=tuning_steps,
        limit=limit, notice=notice,
    )  # fmt: skip
    for path in written:
        print(path)
