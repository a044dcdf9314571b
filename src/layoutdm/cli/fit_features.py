"""`layoutdm fit-features`: train a feature network for FID on a data set of one's own."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from layoutdm.cli.convert import say
from layoutdm.cli.options import AsJson, InputFormat, OnError, Threads, check_input
from layoutdm.cli.options import source as layouts_of
from layoutdm.extras import need

if TYPE_CHECKING:
    from layoutdm.data import Dataset
    from layoutdm.metrics.features import FeatureNetwork


def fit_features(
    data: Annotated[
        str, typer.Argument(help="Data set: a file or folder in any readable format, or a name.")
    ],
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in the folder, or begin one.")
    ] = False,
    minutes: Annotated[float, typer.Option(help="Time budget; small sets stop earlier.")] = 15.0,
    steps: Annotated[
        int | None,
        typer.Option(help="Budget in steps instead of minutes; repeatable on any machine."),
    ] = None,
    evaluate_steps: Annotated[
        int, typer.Option(help="Look at val, and save, after this many steps.")
    ] = 200,
    batch_size: Annotated[int, typer.Option(help="Layouts in one step.")] = 32,
    learning_rate: Annotated[float, typer.Option(help="Highest rate, after the warm-up.")] = 4e-4,
    patience: Annotated[
        int, typer.Option(help="Stop after this many evaluations without a better val loss.")
    ] = 8,
    max_elements: Annotated[int, typer.Option(help="Leave longer layouts out.")] = 25,
    published: Annotated[
        bool, typer.Option("--published", help="Noise as in the published recipe: one size only.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Start of all random draws.")] = 0,
    threads: Threads = None,
    format: InputFormat = None,
    on_error: OnError = "raise",
    as_json: AsJson = False,
) -> None:
    """Train the feature network that FID, precision, recall, density and coverage need.

    It is chosen by its loss on the val split. FID figures can only be compared when they were made
    with the same network, so keep the folder and quote its hash.

    Examples:

        layoutdm fit-features my_layouts/ --out my_features

        layoutdm fit-features pages.jsonl --out my_features --minutes 5

        layoutdm fit-features pages.jsonl --out my_features --steps 20000

        layoutdm score out.jsonl --reference test.jsonl --features my_features
    """
    check_input(format, on_error)
    need("fit-features", "torch", "onnx")
    import torch
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from layoutdm.data import open as open_data
    from layoutdm.formats.problems import Problems
    from layoutdm.metrics.features import load_features
    from layoutdm.train.features import train_features
    from layoutdm.train.features_data import Noise
    from layoutdm.train.features_run import FeatureTraining

    settings = FeatureTraining(
        minutes=minutes,
        steps=steps,
        evaluate_steps=evaluate_steps,
        learning_rate=learning_rate,
        batch_size=batch_size,
        patience=patience,
        noise=Noise(published=published),
        seed=seed,
    )
    if threads:
        torch.set_num_threads(threads)
    problems = Problems(skip=on_error == "skip")
    dataset = open_data(
        layouts_of(data), format=format, max_elements=max_elements, portrait=False,
        problems=problems,
    )  # fmt: skip
    console = Console(stderr=True)
    with Progress(
        TextColumn("training"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %  {task.description}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as progress:
        task = progress.add_task("", total=1.0)
        report = train_features(
            dataset["train"],
            dataset["val"],
            dataset.labels,
            out,
            settings,
            max_elements=max_elements,
            resume=resume,
            on_progress=lambda done, text: progress.update(task, completed=done, description=text),
        )
    network, chosen = load_features(out), report.chosen
    say(problems)
    floor = _floor(network, dataset)
    if as_json:
        record = {
            "folder": str(out),
            "hash": network.hash,
            "labels": list(network.labels),
            "steps": report.steps,
            "stopped_early": report.stopped_early,
            "floor": floor,
            **asdict(chosen),
        }
        print(json.dumps(record, indent=2))
        return
    print(f"feature network  {out}  hash {network.hash}")
    print(f"labels           {', '.join(network.labels)}")
    stop = ", stopped early" if report.stopped_early else ""
    print(f"training         {report.steps} steps, {report.minutes:.1f} minutes{stop}")
    print(
        f"on val           loss {chosen.val_loss:.3f}, labels rebuilt "
        f"{100 * chosen.val_label_accuracy:.1f} %, boxes off by {chosen.val_box_error:.4f}, "
        f"noise judged rightly {100 * chosen.val_noisy_accuracy:.1f} %"
    )
    if floor is not None:
        val, test = (len(dataset[split]) for split in ("val", "test"))
        print(f"floor            FID {floor:.2f} between val ({val}) and test ({test})")


def _floor(network: FeatureNetwork, dataset: Dataset) -> float | None:
    """FID between two real splits; None where one is too small."""
    from layoutdm.metrics.fid import fid

    test = dataset.splits.get("test", ())
    if min(len(test), len(dataset["val"])) < 2:
        return None
    return fid(network.extract(dataset["val"]), network.extract(test))
