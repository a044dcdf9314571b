"""`layoutdm generate`: a request in, layouts out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from layoutdm.cli.generating import (
    bar,
    say_missed,
    say_obstacles,
    say_outcome,
    show,
    show_made,
)
from layoutdm.cli.options import (
    AsJson,
    Ray,
    Settings,
    ShowProgress,
    Threads,
    choices,
    options_of,
    output_format,
    settings,
)
from layoutdm.errors import LayoutdmError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layoutdm.model import Model, Result

SIDE_BY_SIDE = 3  # layouts in an animation
AT_ONCE = 48  # layouts that are shown together; more are shown as they come
OWN = ("--count", "--seed", "--steps", "--tries", "--require", "--batch-size", "--threads")
MISSED = 3  # exit code when --require could not be met
FORMATS = (
    "jsonl", "coco", "yolo", "voc", "labelstudio", "csv", "parquet", "svg", "png", "html", "pptx",
    "sheet",
)  # fmt: skip


def generate(
    model: Annotated[
        str, typer.Option("--model", "-m", help="Embedded name, folder, or hub id (user/model).")
    ] = "rico25",
    spec: Annotated[
        str | None, typer.Option("--spec", "-s", help="Request, a JSON or YAML file; - reads JSON.")
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
        str | None, typer.Option("--out", "-o", help="Folder to write to; else standard output.")
    ] = None,
    formats: Annotated[
        str, output_format(f"What to write to --out, with commas: {', '.join(FORMATS)}.")
    ] = "jsonl",
    require: Annotated[
        bool, typer.Option("--require", help="Draw again until every wish is met; best first.")
    ] = False,
    tries: Annotated[
        int, typer.Option("--tries", min=1, help="Attempts a layout, with --require.")
    ] = 20,
    tidy: Annotated[
        bool, typer.Option("--tidy", help="Make equal what is nearly equal: edges, sizes, gaps.")
    ] = False,
    animate: Annotated[
        Path | None, typer.Option("--animate", help="Also draw the way there into this .gif file.")
    ] = None,
    as_json: AsJson = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the job in --out, or begin it.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Make the job in --out anew.")
    ] = False,
    setting: Settings = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1, help="Layouts at once.")] = 64,
    threads: Threads = None,
    ray: Ray = None,
    shard: Annotated[
        int | None,
        typer.Option("--shard", min=1, help="Write shards of so many layouts, jsonl or parquet."),
    ] = None,
    progress: ShowProgress = None,
) -> None:
    """Generate layouts: say what you know, the model fills in the rest.

    Without --out the layouts go to standard output, one JSON object a line. Each says which
    wishes it meets (metadata.report). An element without a name may be called by its label in
    --relation. With --out a job of any size runs in constant memory and can be resumed. Exit code
    3: with --require, some layouts miss a wish all the same.

    Examples:

      layoutdm generate --count 4

      layoutdm generate --label Toolbar --label Image --relation "Image below Toolbar" --out my

      layoutdm generate --spec request.json --count 20 --require --out my --to jsonl,svg,sheet

      layoutdm generate --complete half.json --elements 6-12 --animate way.gif

      layoutdm generate --count 100000 --out big --to jsonl,coco --resume

      layoutdm generate --count 10000000 --ray --out s3://bucket/set --to jsonl,parquet
    """
    from layoutdm.cli.scaling import run_scaled, scaled
    from layoutdm.cli.wishes import Wishes

    wanted = choices(formats, FORMATS, "--to") or ["jsonl"]
    for name, asked in (("--resume", resume), ("--overwrite", overwrite)):
        if asked and out is None:
            raise typer.BadParameter("needs --out, the folder of the job", param_hint=name)
    if resume and overwrite:
        raise typer.BadParameter("excludes --overwrite; choose one", param_hint="--resume")
    given = settings(setting)
    wishes = Wishes(spec, label or (), relation or (), complete, refine, within, more, elements)
    request = wishes.request()

    from layoutdm.model import load

    loaded = load(model, threads=threads)
    options_of(given, loaded.generator, OWN)  # a wrong name is told here
    options: dict[str, Any] = {"require": require, "tries": tries, **given, "steps": steps}
    if tidy:
        options["tidy"] = True
    with _told_of_pixels(request), bar(count, progress) as advance:
        if out is None:
            drawn = _drawn(loaded, request, count, seed, {**options, "batch_size": batch_size})
            tally = show(drawn, as_json, advance)
        else:
            from layoutdm.jobs import Job, maker, run

            job = Job.of(loaded, request, count, seed, formats=wanted, **options)
            if scaled(out, ray, shard):
                outcome = run_scaled(
                    job, model, out, ray, shard, batch_size, resume, overwrite, advance
                )
            else:
                with _told_to_resume():
                    outcome = run(
                        job, Path(out), make=maker(loaded, job, batch_size), resume=resume,
                        overwrite=overwrite, progress=advance,
                        on_made=show_made if as_json else None,
                    )  # fmt: skip
            tally = outcome.tally
    if out is not None:
        say_outcome(outcome)
    if animate is not None:
        from layoutdm.model.animate import animate as draw

        some = loaded.generate(request, min(count, SIDE_BY_SIDE), seed, trace=True, **options)
        draw(some, animate)
        print(f"wrote {animate}", file=sys.stderr)
    say_missed(tally, require, tries)
    if tally.met < tally.count:
        say_obstacles(loaded, request, seed)
    if require and tally.met < tally.count:
        raise typer.Exit(MISSED)


@contextmanager
def _told_of_pixels(request: dict[str, Any]) -> Iterator[None]:
    """A request in pixels gets a sentence more: how to say it in shares of the canvas."""
    from layoutdm.cli.request_file import pixels_hint
    from layoutdm.spec.problems import SpecError

    try:
        yield
    except SpecError as error:
        hint = pixels_hint(request)
        raise (LayoutdmError(f"{error}\n{hint}") if hint else error) from None


@contextmanager
def _told_to_resume() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        print("stopped; go on with the same command and --resume", file=sys.stderr)
        raise


def _drawn(
    model: Model, request: Any, count: int, seed: int, options: dict[str, Any]
) -> Iterable[Result]:
    """Few layouts together, or best first; many as they come."""
    if options["require"] or count <= AT_ONCE:
        return model.generate(request, count, seed, **options)
    return model.stream(request, range(count), seed, **options)
