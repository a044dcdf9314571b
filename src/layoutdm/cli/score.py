"""`layoutdm score`: all metrics of one file of layouts against another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from layoutdm.cli.options import AsJson, InputFormat, OnError, Threads, check_input
from layoutdm.cli.options import source as layouts_of


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
    c2st: Annotated[
        bool,
        typer.Option("--c2st", help="Train a classifier to tell both files apart; takes minutes."),
    ] = False,
    published: Annotated[
        bool, typer.Option("--published", help="Add the figures of LayoutDM's released code.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the sheet as JSON to this file.")
    ] = None,
    as_json: AsJson = False,
    limit: Annotated[
        int, typer.Option(min=0, help="Draw at most this many layouts of a file; 0 takes all.")
    ] = 50_000,
    resamples: Annotated[
        int, typer.Option(min=0, help="Redraws for FID's interval; 0 leaves it out.")
    ] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Start of all random draws.")] = 0,
    format: InputFormat = None,
    on_error: OnError = "skip",
    threads: Threads = None,
) -> None:
    """Score layouts: FID, precision, recall, density, coverage, Maximum IoU, DocSim, alignment,
    overlap, average IoU, relation violations and regularity; with --c2st also whether a
    classifier can tell them from real ones.

    What the metrics mean, and which figures may be compared: docs/metrics.md. FID needs a feature
    network that knows the labels; without one, it and its relatives are null with the reason. Bad
    records are a generator's mistakes: they are counted in the sheet unless --on-error raise.

    Examples:

      layoutdm score generated.jsonl --reference test.jsonl

      layoutdm score out.json --reference real.json --floor val.json --out sheet.json

      layoutdm score refined.jsonl --reference test.jsonl --paired --published

      layoutdm score mine.jsonl --reference test.jsonl --features my_features
    """
    import json

    from rich.console import Console

    check_input(format, on_error)
    from layoutdm.evaluate.files import score_files
    from layoutdm.evaluate.score import Options
    from layoutdm.evaluate.score_view import show

    options = Options(
        paired=paired, published=published, fid_resamples=resamples, seed=seed, c2st=c2st
    )
    sheet = score_files(
        layouts_of(generated),
        layouts_of(reference),
        floor=floor and layouts_of(floor),
        requests=requests,
        features=features,
        format=format,
        limit=limit,
        strict=on_error == "raise",
        threads=threads or 0,
        options=options,
    )
    text = json.dumps(sheet, indent=2, allow_nan=False) + "\n"
    if out is not None:
        from layoutdm.atomic import replacing

        with replacing(out) as part:
            part.write_text(text, encoding="utf-8")
    if as_json:
        print(text, end="")
    else:
        show(sheet, Console(width=None))
