"""`layoutdm train`: a model of one's own data in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def train(
    data: Annotated[
        str, typer.Argument(help="Data set: a file or folder in any readable format, or a name.")
    ],
    out: Annotated[Path, typer.Option(help="Folder to write the model to.")],
    preset: Annotated[
        str, typer.Option(help="element (small and fast), paper (as published) or tiny.")
    ] = "element",
    minutes: Annotated[float | None, typer.Option(help="Budget in minutes of training.")] = None,
    epochs: Annotated[float | None, typer.Option(help="Budget in passes over the data.")] = None,
    steps: Annotated[int | None, typer.Option(help="Budget in steps.")] = None,
    base: Annotated[
        str | None, typer.Option("--from", help="Fine-tune this model: a folder or a name.")
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
        str | None, typer.Option(help="kmeans, uniform, percentile or percentile-unique.")
    ] = None,
    bin_count: Annotated[int | None, typer.Option(help="Bins per attribute.")] = None,
    portrait: Annotated[bool, typer.Option(help="Leave landscape layouts out.")] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave unreadable records out and count them.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="Start of all random draws.")] = None,
    threads: Annotated[int, typer.Option(help="CPU cores to use; 0 lets torch choose.")] = 0,
    precision: Annotated[
        str | None, typer.Option(help="no (float32), fp16 or bf16; for GPUs.")
    ] = None,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write TensorBoard files.")
    ] = False,
    format: Annotated[str | None, typer.Option(help="Format of the data, if not obvious.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any other setting, NAME=VALUE; may be repeated."),
    ] = None,
) -> None:
    """Train a model on your own layouts and write a folder that `generate --model` uses.

    It fits the bins, trains, keeps the weights with the best bound on the val split and writes
    model.onnx, config.json, a model card and the curves, and labels.npz with label_epochs. A run
    that was interrupted goes on with --resume. Several GPUs or machines: put `accelerate launch`
    and `-m layoutdm` in front.

    Examples:

        layoutdm train posters/ --out my_model --minutes 20

        layoutdm train pages.json --out my_model --preset tiny --epochs 5

        layoutdm train posters/ --out my_model --from rico25 --minutes 10

        layoutdm train posters/ --out my_model --resume

        accelerate launch -m layoutdm train rico/ --out my_model --preset paper --epochs 50
    """
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
            skip_bad=skip_bad,
            threads=threads,
            tensorboard=tensorboard,
            format=format,
        )
    )
