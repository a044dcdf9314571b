"""`layoutdm train`: a model of one's own data in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from layoutdm.cli.options import (
    INPUT,
    AsJson,
    InputFormat,
    OnError,
    Settings,
    Threads,
    check_input,
)


def train(
    data: Annotated[
        str, typer.Argument(help="Data set: a file or folder in any readable format, or a name.")
    ],
    out: Annotated[Path, typer.Option(help="Folder to write the model to.")],
    system: Annotated[
        str, typer.Option(help="layoutdm, or a system of the paper; see `layoutdm systems`.")
    ] = "layoutdm",
    size: Annotated[
        str, typer.Option(help="Of a system of the paper: compact or published.")
    ] = "compact",
    preset: Annotated[
        str, typer.Option(help="recipe (the usual), paper (as published) or tiny (to try).")
    ] = "recipe",
    minutes: Annotated[float | None, typer.Option(help="Budget in minutes, of all.")] = None,
    epochs: Annotated[float | None, typer.Option(help="Budget in passes over the data.")] = None,
    steps: Annotated[int | None, typer.Option(help="Budget in steps.")] = None,
    base: Annotated[
        str | None, typer.Option("--base", help="Fine-tune this model: a folder or a name.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in the folder.")
    ] = False,
    batch_size: Annotated[int | None, typer.Option(help="Layouts in one step.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Highest learning rate.")] = None,
    patience: Annotated[
        int | None, typer.Option(help="Stop after so many validations without a better bound.")
    ] = None,
    max_elements: Annotated[
        int | None, typer.Option(help="Leave longer layouts out; 25 by default.")
    ] = None,
    bins: Annotated[
        str | None, typer.Option(help="measured, kmeans, uniform, percentile, percentile-unique.")
    ] = None,
    bin_count: Annotated[int | None, typer.Option(help="Bins per attribute, at most.")] = None,
    portrait: Annotated[bool, typer.Option(help="Leave landscape layouts out.")] = False,
    on_error: OnError = "raise",
    seed: Annotated[int | None, typer.Option(help="Start of all random draws.")] = None,
    threads: Threads = None,
    precision: Annotated[
        str | None, typer.Option(help="auto (bf16 where there is such hardware), fp32 or bf16.")
    ] = None,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write TensorBoard files.")
    ] = False,
    format: InputFormat = None,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Train a model on your own layouts and write a folder that `generate --model` uses.

    It is the recipe that made the embedded models: what fits the data is measured from them, the
    weights with the best figure on the val split are kept, and model.onnx, labels.npz,
    config.json, a model card and the curves are written. A run that was interrupted goes on with
    --resume. Several GPUs or machines: put `accelerate launch` and `-m layoutdm` in front.

    Examples:

        layoutdm train posters/ --out my_model --minutes 20

        layoutdm train pages.json --out my_model --preset tiny --epochs 5

        layoutdm train posters/ --out my_model --base rico25 --minutes 10

        layoutdm train posters/ --out my_model --system layouttrans --minutes 20

        layoutdm train posters/ --out my_model --resume

        accelerate launch -m layoutdm train rico/ --out my_model --preset paper --epochs 50
    """
    if format is not None and format not in INPUT:
        raise typer.BadParameter(
            f"is the format of the data ({', '.join(INPUT)}), got {format!r}; "
            "a model to fine-tune is given with --base",
            param_hint="--from",
        )
    check_input(format, on_error)
    from layoutdm.cli.training import TrainOptions, run_training

    given = {
        "minutes": minutes,
        "epochs": epochs,
        "steps": steps,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "patience": patience,
        "max_elements": max_elements,
        "bins": bins,
        "bin_count": bin_count,
        "seed": seed,
        "precision": precision,
    }
    if system != "layoutdm":
        from layoutdm.baselines.systems import facts_of
        from layoutdm.cli.train_system import run_system
        from layoutdm.data import open as open_data
        from layoutdm.formats.problems import Problems

        facts_of(system)
        del given["max_elements"]
        dataset = open_data(
            data, format=format, max_elements=max_elements or 25, portrait=portrait,
            problems=Problems(skip=on_error == "skip"),
        )  # fmt: skip
        run_system(
            dataset, system, out, size=size, changes=given, resume=resume, threads=threads or 0
        )
        return
    run_training(
        TrainOptions(
            data=data,
            out=out,
            preset=preset,
            base=base,
            resume=resume,
            changes={name: value for name, value in given.items() if value is not None},
            settings=list(settings or []),
            portrait=portrait,
            skip_bad=on_error == "skip",
            threads=threads or 0,
            tensorboard=tensorboard,
            format=format,
            as_json=as_json,
        )
    )
