"""`layoutdm generate`: a request in, layouts out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from layoutdm.cli.generating import SHEET, TARGETS, Job, bar, show
from layoutdm.errors import LayoutdmError

SIDE_BY_SIDE = 3  # layouts in an animation


def generate(
    model: Annotated[
        str, typer.Option("--model", "-m", help="Embedded name, folder, or hub id (user/model).")
    ] = "rico25",
    spec: Annotated[
        str | None, typer.Option("--spec", "-s", help="Request, a JSON file; - is standard input.")
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label", "-l", help="An element: Image, hero=Image (named), Icon|Image (either)."
        ),
    ] = None,
    relation: Annotated[
        list[str] | None,
        typer.Option("--relation", "-r", help='Such as "hero below bar" or "cta bottom".'),
    ] = None,
    complete: Annotated[
        Path | None,
        typer.Option("--complete", help="Keep the first layout of this file and add to it."),
    ] = None,
    refine: Annotated[
        Path | None,
        typer.Option("--refine", help="Take the first layout of this file as a rough draft."),
    ] = None,
    within: Annotated[
        float | None, typer.Option("--within", help="Margin around --refine's values (0.1).")
    ] = None,
    more: Annotated[
        bool | None, typer.Option("--more/--no-more", help="May elements be added?")
    ] = None,
    elements: Annotated[
        str | None, typer.Option("--elements", help="How many in all: 8, 6-12, 6- or -12.")
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many layouts.")] = 8,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Same seed, same layouts.")] = 0,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="Steps of the sampler; fewer is faster.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder to write to; else standard output.")
    ] = None,
    formats: Annotated[
        str, typer.Option("--format", "-f", help=f"Comma-separated: {', '.join(TARGETS)}.")
    ] = "jsonl",
    require: Annotated[
        bool, typer.Option("--require", help="Draw again until every wish is met; best first.")
    ] = False,
    tries: Annotated[
        int, typer.Option("--tries", min=1, help="Attempts a layout, with --require.")
    ] = 20,
    animate: Annotated[
        Path | None, typer.Option("--animate", help="Also draw the way there into this .gif file.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON lines on standard output, with --out too.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted job in --out.")
    ] = False,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A sampling setting: top_p=0.95."),
    ] = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1, help="Layouts at once.")] = 64,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="Processor threads (all cores).")
    ] = None,
    progress: Annotated[
        bool | None,
        typer.Option("--progress/--no-progress", help="Show a bar; by default on a terminal."),
    ] = None,
) -> None:
    """Generate layouts: say what you know, the model fills in the rest.

    Without --out the layouts go to standard output, one JSON object a line. Each says which
    wishes it meets (metadata.report). An element without a name may be called by its label in
    --relation. With --out a job of any size runs in constant memory and can be resumed.

    Examples:

      layoutdm generate --count 4

      layoutdm generate --label Toolbar --label Image --relation "Image below Toolbar" --out my

      layoutdm generate --spec request.json --count 20 --require --out my --format jsonl,svg,sheet

      layoutdm generate --complete half.json --elements 6-12 --animate way.gif

      layoutdm generate --count 100000 --out big --format jsonl,coco --resume
    """
    from layoutdm.cli.wishes import Wishes

    wanted = _formats(formats)
    if resume and out is None:
        raise typer.BadParameter("needs --out, the folder of the job", param_hint="--resume")
    settings = {**_settings(setting or ()), "steps": steps}
    wishes = Wishes(spec, label or (), relation or (), complete, refine, within, more, elements)
    request = wishes.request()

    from layoutdm.model import load

    loaded = load(model, threads=threads)
    options = {"require": require, "tries": tries, "batch_size": batch_size, **settings}
    with bar(count, progress) as advance:
        if out is not None:
            job = Job(loaded, request, seed, count, options, out, tuple(wanted), as_json)
            tally = job.run(resume, advance)
        elif require or count <= SHEET:
            results = loaded.generate(request, count, seed, **options)
            tally = show(results, as_json, advance)
        else:
            tally = show(loaded.stream(request, range(count), seed, **options), as_json, advance)
    if animate is not None:
        from layoutdm.model.animate import animate as draw

        some = loaded.generate(request, min(count, SIDE_BY_SIDE), seed, trace=True, **options)
        draw(some, animate)
        print(f"wrote {animate}", file=sys.stderr)
    tally.say()


def _formats(text: str) -> list[str]:
    wanted = [part.strip() for part in text.split(",") if part.strip()]
    for name in wanted:
        if name not in TARGETS:
            raise typer.BadParameter(
                f"{name!r} is unknown; choose from {', '.join(TARGETS)}", param_hint="--format"
            )
    return wanted or ["jsonl"]


def _settings(pairs: Any) -> dict[str, Any]:
    """NAME=VALUE pairs; values are numbers, words, or two numbers with a comma."""
    import json

    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise typer.BadParameter(f"write NAME=VALUE, got {pair!r}", param_hint="--set")
        try:
            value = json.loads(f"[{text}]" if "," in text else text)
        except ValueError:
            value = text
        settings[name.strip()] = value
    if "steps" in settings:
        raise LayoutdmError("--set steps: use --steps")
    return settings
