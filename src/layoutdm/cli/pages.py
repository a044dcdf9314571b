"""`layoutdm pages`: page images with content, and everything that is known about them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from layoutdm.cli.options import Ray, output_format
from layoutdm.cli.scaling import connected, in_shards
from layoutdm.errors import LayoutdmError
from layoutdm.extras import need

if TYPE_CHECKING:
    from layoutdm.jobs import Job
    from layoutdm.pages.recipe import Recipe
    from layoutdm.pages.sets import Source

DEFAULT = 100  # pages, where nothing says how many
PAGES_OF_A_SHARD = 256


def pages(
    source: Annotated[
        str | None,
        typer.Argument(metavar="[LAYOUTS]", help="File or folder of layouts; else --model."),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", "-m", help="Embedded name, folder, or hub id (user/model).")
    ] = "publaynet",
    out: Annotated[
        str, typer.Option("--out", "-o", help="Folder of the set, or an address: s3://...")
    ] = "pages",
    count: Annotated[
        int | None,
        typer.Option("--count", "-n", min=1, help="How many pages (100, or all of LAYOUTS)."),
    ] = None,
    formats: Annotated[
        str,
        output_format("With commas: coco, yolo, labelstudio, parquet, voc, hocr, alto, jsonl."),
    ] = "coco,yolo",
    style: Annotated[str, typer.Option("--style", help="clean, varied or scanned.")] = "varied",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Same seed, same bytes.")] = 0,
    height: Annotated[
        int, typer.Option("--height", min=100, max=8000, help="Pixels of a page's longer side.")
    ] = 1000,
    size: Annotated[
        str, typer.Option("--size", help="Shapes with weights: a4:2,letter,slide or 800x600.")
    ] = "",
    landscape: Annotated[
        float, typer.Option("--landscape", min=0, max=1, help="Share of pages on their side.")
    ] = 0.0,
    labels: Annotated[
        str, typer.Option("--labels", help="Wished shares of elements: table:0.3,figure:0.2.")
    ] = "",
    elements: Annotated[
        str | None, typer.Option("--elements", help="How many on a page: 8, 6-12, 6- or -12.")
    ] = None,
    spec: Annotated[
        str | None, typer.Option("--spec", "-s", help="Request for every page, a JSON file.")
    ] = None,
    text: Annotated[
        list[Path] | None, typer.Option("--text", help="Your own text (UTF-8), in any language.")
    ] = None,
    language: Annotated[
        str, typer.Option("--language", help="Filler: en, de, fr, es, ru, el; several by commas.")
    ] = "en",
    fonts: Annotated[
        list[str] | None,
        typer.Option("--fonts", help="Font file or folder, `system`, `box`; may be repeated."),
    ] = None,
    pool: Annotated[
        Path | None, typer.Option("--pool", help="Your own elements: FOLDER/LABEL/*.png.")
    ] = None,
    roles: Annotated[
        list[str] | None,
        typer.Option("--as", metavar="LABEL=ROLE", help="What a label looks like: stamp=figure."),
    ] = None,
    split: Annotated[
        str, typer.Option("--split", help="Shares of train, val and test.")
    ] = "0.8,0.1,0.1",
    image: Annotated[str, typer.Option("--image", help="jpg or png.")] = "jpg",
    boxes: Annotated[
        str, typer.Option("--boxes", help="ink: tight around what is drawn; layout: as asked for.")
    ] = "ink",
    words: Annotated[
        bool, typer.Option("--words/--no-words", help="Words, cells and order (truth/*.json).")
    ] = True,
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Also a PDF of each page with selectable text.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes (one for each core).")
    ] = None,
    ray: Ray = None,
    shard: Annotated[
        int | None,
        typer.Option("--shard", min=1, help="Write shards of so many pages, jsonl or parquet."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the set in --out, or begin it.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Make the set in --out anew.")
    ] = False,
    progress: Annotated[
        bool | None,
        typer.Option("--progress/--no-progress", help="Show a bar; by default on a terminal."),
    ] = None,
) -> None:
    """Make pages for training: images with titles, text, lists, tables, figures and formulas.

    Layouts come from a model or from a file. Every box, word and table cell is known exactly;
    elements are listed in reading order. The same seed gives the same bytes, with any number of
    processes or machines.

    Examples:

      layoutdm pages --count 1000 --out set --format coco,yolo

      layoutdm pages layouts.jsonl --out set --style scanned

      layoutdm pages --count 500 --labels table:0.3,figure:0.2 --size a4,letter --landscape 0.2

      layoutdm pages --text corpus.txt --fonts NotoSansTamil.ttf --pool crops --out set

      layoutdm pages --count 100000 --out big --ray auto --resume
    """
    if resume and overwrite:
        raise typer.BadParameter("excludes --overwrite; choose one", param_hint="--resume")
    for name, given, known in (
        ("--style", style, ("clean", "varied", "scanned")),
        ("--image", image, ("jpg", "png")),
        ("--boxes", boxes, ("ink", "layout")),
    ):
        if given not in known:
            raise typer.BadParameter(
                f"{given!r} is unknown; choose from {', '.join(known)}", param_hint=name
            )
    if labels and (spec or elements):
        raise typer.BadParameter("cannot be used with --spec or --elements", param_hint="--labels")
    if source is not None and (spec or elements):
        raise typer.BadParameter("needs a model, not LAYOUTS", param_hint="--spec, --elements")
    wanted = _formats(formats, words)
    need("layoutdm pages", "fontTools")

    from layoutdm.pages import choices
    from layoutdm.pages import roles as role_names
    from layoutdm.pages.recipe import Recipe

    recipe = Recipe(
        seed=seed,
        model="" if source else model,
        request=_request(spec, elements),
        height=height,
        style=style,
        languages=tuple(part.strip() for part in language.split(",") if part.strip()),
        texts=tuple((path.name, _read(path)) for path in text or ()),
        fonts=tuple(fonts or ()),
        pool=str(pool) if pool else "",
        roles=role_names.parse(roles or []),
        sizes=choices.parse_sizes(size),
        landscape=landscape,
        splits=choices.parse_shares(split),
        image=image,
        boxes=boxes,
        words=words,
        pdf=pdf,
    )  # fmt: skip
    wishes = choices.parse_weights(labels, "--labels")
    for note in recipe.voices[1]:
        print(f"warning: {note}", file=sys.stderr)

    from layoutdm.cli.generating import bar
    from layoutdm.pages import sets

    found = sets.from_file(source) if source is not None else None
    number = count or (found.count if found is not None else DEFAULT)
    if wishes:
        recipe = sets.balanced(recipe, wishes, found)
    job = sets.job_of(recipe, number, wanted, found)
    run = _Run(recipe, found, job, out, workers, ray, shard, resume, overwrite)
    with bar(number, progress, "pages") as advance:
        made = run.sharded(advance) if in_shards(out, shard) else run.folder(advance)
    note = f", {number - made:,} of them from before" if made < number else ""
    print(f"{out}: {number:,} pages{note}", file=sys.stderr)


@dataclass(frozen=True)
class _Run:
    recipe: Recipe
    source: Source | None
    job: Job
    out: str
    workers: int | None
    ray: str | None
    shard: int | None
    resume: bool
    overwrite: bool

    def folder(self, progress: Callable[[int], None]) -> int:
        """Into a folder, with a journal; how many pages were made now."""
        from layoutdm.jobs import run
        from layoutdm.pages import sets
        from layoutdm.pages.outputs import OUTPUTS
        from layoutdm.scale.work import cores

        with connected(self.ray) as (runner, hands):
            if runner is None:
                hands = min(self.workers or cores(), self.job.count)
            make = sets.make(self.recipe, self.source, hands, runner)
            outcome = run(self.job, Path(self.out), make=make, resume=self.resume,
                          overwrite=self.overwrite, progress=progress, outputs=OUTPUTS)  # fmt: skip
        return outcome.made

    def sharded(self, progress: Callable[[int], None]) -> int:
        """In shards at an address, written by the workers themselves."""
        from layoutdm.pages import sets
        from layoutdm.pages.making import PageMaker
        from layoutdm.pages.outputs import IN_SHARDS
        from layoutdm.scale import shards
        from layoutdm.scale.parquet_shards import of_pages
        from layoutdm.scale.work import Work

        parquet = of_pages if "parquet" in self.job.formats else None
        plan = shards.Shards(self.job, Work(PageMaker, (self.recipe,)), self.out,
                             self.shard or PAGES_OF_A_SHARD, parquet)  # fmt: skip
        layouts = None
        if self.source is not None:
            layouts = sets.layouts_of(self.recipe, self.source)
        with connected(self.ray):
            return shards.run(
                plan, IN_SHARDS, layouts=layouts, on_cluster=self.ray is not None,
                resume=self.resume, overwrite=self.overwrite, progress=progress,
            )  # fmt: skip


def _formats(text: str, words: bool) -> list[str]:
    from layoutdm.pages.outputs import FORMATS, NEED_WORDS

    wanted = [part.strip() for part in text.split(",") if part.strip()]
    for name in wanted:
        if name not in FORMATS:
            raise typer.BadParameter(
                f"{name!r} is unknown; choose from {', '.join(FORMATS)}", param_hint="--format"
            )
        if name in NEED_WORDS and not words:
            raise typer.BadParameter(f"{name} needs --words", param_hint="--format")
    if "yolo" in wanted:
        wanted.insert(wanted.index("yolo") + 1, "yolo-data")
    return wanted or ["jsonl"]


def _request(spec: str | None, elements: str | None) -> dict[str, Any]:
    from layoutdm.cli.wishes import Wishes

    return Wishes(spec, elements=elements).request()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise LayoutdmError(f"--text {path}: is not UTF-8 text; save it as UTF-8") from None
