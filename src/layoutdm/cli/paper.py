"""`layoutdm paper`: the paper's tables and figures, from systems trained and judged alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from layoutdm.cli.options import Threads


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
        int | None,
        typer.Option(min=1, help="Layouts that each system sees in training; usually 240,000."),
    ] = None,
    tuning_steps: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Steps of each of the three short runs that choose a rate; 0: no choice is made, "
            "each system has its recipe's rate and top-p 1.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="At most so many layouts in a cell, the same for all systems."),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            help="Page to fill: what stands between <!-- table1 --> and <!-- /table1 -->."
        ),
    ] = None,
    threads: Threads = None,
) -> None:
    """Make the paper's tables and figures: train what is missing, generate, score, write.

    Interrupted, the same command goes on. Several processes may run it at once: each takes systems
    that no other is at. With --no-train, systems that are not trained yet are named so.

    Examples:

        layoutdm paper table2 --data data/ --runs runs/ --no-train

        layoutdm paper all --data data/ --runs runs/ --out docs/paper --page docs/paper.md

        layoutdm paper all --data data/ --runs runs/ --layouts 24000 --tuning-steps 0 --limit 256
    """
    import sys

    from layoutdm.errors import LayoutdmError
    from layoutdm.paper.run import make

    if train:
        try:
            import torch
        except ImportError as error:
            raise LayoutdmError(
                f"training needs the package {error.name!r}; install it with: "
                "pip install 'layoutdm[train]', or leave missing systems out with --no-train"
            ) from None
        torch.set_num_threads(threads or torch.get_num_threads())

    def notice(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    written = make(
        items, data, runs, out, train=train, layouts=layouts, tuning_steps=tuning_steps,
        limit=limit, page=page, notice=notice,
    )  # fmt: skip
    for path in written:
        print(path)
