"""The options that several commands share: each has one name, one meaning and one check.

| option | in every command |
|---|---|
| `--from FORMAT` | the format of what is read, where it is not recognised |
| `--to FORMAT`, or `--format` | the format of what is written; `generate` takes several |
| `--on-error raise\\|skip` | a bad record stops the command, or is left out and counted |
| `--json` | the result as JSON on standard output, and nothing else there |
| `--out`, `-o` | the file or folder to write |
| `--threads N` | processor threads; all cores if not given |
| `--set NAME=VALUE` | a setting by its name; may be repeated |
| `--seed N` | the start of all random draws |
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

INPUT = ("jsonl", "coco", "yolo", "voc", "labelstudio", "csv", "parquet", "rico", "publaynet")
OUTPUT = ("jsonl", "coco", "yolo", "voc", "labelstudio", "csv", "parquet", "svg", "png", "html",
          "pptx")  # fmt: skip
ON_ERROR = ("raise", "skip")

InputFormat = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        help="Format of what is read, when it is not recognised: jsonl, coco, yolo, voc, "
        "labelstudio, csv, parquet, rico or publaynet.",
    ),
]
OnError = Annotated[
    str,
    typer.Option(
        "--on-error",
        metavar="raise|skip",
        help="What to do about a bad record: stop, or leave it out and count it.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="The result as JSON on standard output.")]
Threads = Annotated[
    int | None, typer.Option("--threads", min=1, help="Processor threads; all cores by default.")
]
Ray = Annotated[
    str | None,
    typer.Option("--ray", metavar="ADDRESS", help="On a Ray cluster: auto, local, HOST:PORT."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting by its name; may be repeated."),
]
ShowProgress = Annotated[
    bool | None,
    typer.Option("--progress/--no-progress", help="Show a bar; by default on a terminal."),
]


def output_format(help: str) -> Any:
    """`--to`, also called `--format` and `-f`: the format of what is written."""
    return typer.Option("--to", "--format", "-f", metavar="FORMAT", help=help)


def check_choice(value: str | None, allowed: Iterable[str], option: str) -> None:
    """A wrong word on the command line is a usage error."""
    if value is not None and value not in allowed:
        raise typer.BadParameter(
            f"must be one of {', '.join(allowed)}, got {value!r}", param_hint=option
        )


def check_input(format: str | None, on_error: str | None = None) -> None:
    """--from and --on-error, as every command that reads layouts has them."""
    check_choice(format, INPUT, "--from")
    check_choice(on_error, ON_ERROR, "--on-error")


def source(path: str | Path) -> Path:
    """What is read for a path: the folder of a finished job stands for its layouts.

    >>> source("pages.jsonl")
    PosixPath('pages.jsonl')
    """
    path = Path(path)
    layouts = path / "layouts.jsonl"
    return layouts if layouts.is_file() and (path / "job.json").is_file() else path


def choices(text: str, allowed: Sequence[str], option: str) -> list[str]:
    """Comma-separated words, each once.

    >>> choices("coco, yolo,coco", ("coco", "yolo"), "--to")
    ['coco', 'yolo']
    """
    wanted = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in wanted:
        if name not in allowed:
            raise typer.BadParameter(
                f"{name!r} is unknown; choose from {', '.join(allowed)}", param_hint=option
            )
    return wanted


def settings(pairs: Sequence[str] | None) -> dict[str, Any]:
    """NAME=VALUE pairs; values are numbers, true or false, words, or several with commas.

    >>> settings(["top_p=0.9", "sampler=plain", "published=true", "tasks=1,0.5"])
    {'top_p': 0.9, 'sampler': 'plain', 'published': True, 'tasks': [1, 0.5]}
    """
    found: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, text = (part.strip() for part in pair.partition("="))
        if not equals or not name:
            raise typer.BadParameter(f"write NAME=VALUE, got {pair!r}", param_hint="--set")
        try:
            found[name] = json.loads(f"[{text}]" if "," in text else text)
        except (ValueError, RecursionError):
            found[name] = text
    return found


def options_of(given: dict[str, Any], generator: Any, commands: Iterable[str]) -> None:
    """Refuse a --set whose name is an option of the command, or none of the generator's."""
    for name in given:
        option = f"--{name.replace('_', '-')}"
        if option in commands:
            raise typer.BadParameter(
                f"{name} has an option of its own: {option}", param_hint="--set"
            )
    generator.options().replaced(**given)
