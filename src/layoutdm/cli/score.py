"""`layoutdm score`: all metrics of one file of layouts against another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def score(
    generated: Annotated[Path, typer.Argument(help="Layouts to score, in any readable format.")],
    reference: Annotated[Path, typer.Option(help="Real layouts to compare with.")],
    paired: Annotated[
        bool, typer.Option("--paired", help="The i-th generated belongs to the i-th reference.")
    ] = False,
    features: Annotated[
        str | None,
        typer.Option(help="Feature network: rico25, publaynet or a folder; default: by labels."),
    ] = None,
    floor: Annotated[
        Path | None, typer.Option(help="A second real file: what real layouts themselves score.")
    ] = None,
    requests: Annotated[
        Path | None,
        typer.Option(help="Requests, one JSON object a line, whose relations are checked."),
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Add the figures of LayoutDM's released code.")
    ] = False,
    json_out: Annotated[
        str | None, typer.Option("--json", help="Write the sheet to this file; - prints it.")
    ] = None,
    limit: Annotated[
        int, typer.Option(min=0, help="Draw at most this many layouts of a file; 0 takes all.")
    ] = 50_000,
    resamples: Annotated[
        int, typer.Option(min=0, help="Redraws for FID's interval; 0 leaves it out.")
    ] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Start of all random draws.")] = 0,
    format: Annotated[
        str | None, typer.Option("--from", help="Format of all files, when not recognised.")
    ] = None,
) -> None:
    """Score layouts: FID, precision, recall, density, coverage, Maximum IoU, DocSim, alignment,
    overlap, average IoU and relation violations.

    What the metrics mean, and which figures may be compared: docs/metrics.md. FID needs a feature
    network that knows the labels; without one, it and its relatives are null with the reason.

    Examples:

      layoutdm score generated.jsonl --reference test.jsonl

      layoutdm score out.json --reference real.json --floor val.json --json sheet.json

      layoutdm score refined.jsonl --reference test.jsonl --paired --published

      layoutdm score mine.jsonl --reference test.jsonl --features my_features
    """
    from rich.console import Console

    from layoutdm.evaluate.files import score_files
    from layoutdm.evaluate.score import Options
    from layoutdm.evaluate.score_view import show

    options = Options(paired=paired, published=published, fid_resamples=resamples, seed=seed)
    sheet = score_files(
        generated,
        reference,
        floor=floor,
        requests=requests,
        features=features,
        format=format,
        limit=limit,
        options=options,
    )
    import json

    text = json.dumps(sheet, indent=2, allow_nan=False) + "\n"
    if json_out == "-":
        print(text, end="")
        return
    if json_out is not None:
        target = Path(json_out)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    show(sheet, Console(width=None))
