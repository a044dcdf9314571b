"""`layoutdm fit-features`: train a feature network for FID on a data set of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def fit_features(
    data: Annotated[
        str, typer.Argument(help="Data set: a file or folder in any readable format, or a name.")
    ],
    out: Annotated[Path, typer.Option(help="Folder to write; an unfinished run in it goes on.")],
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
    threads: Annotated[int, typer.Option(help="Cores to use; 0 takes all.")] = 0,
    format: Annotated[str | None, typer.Option(help="Format of the data, if not obvious.")] = None,
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
    import torch
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from layoutdm.data import open as open_data
    from layoutdm.metrics.features import load_features
    from layoutdm.train.features import FeatureTraining, train_features
    from layoutdm.train.features_data import Noise

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
    if threads > 0:
        torch.set_num_threads(threads)
    dataset = open_data(data, format=format, max_elements=max_elements, portrait=False)
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
            on_progress=lambda done, text: progress.update(task, completed=done, description=text),
        )
    network = load_features(out)
    chosen = report.chosen
    print(f"feature network  {out}  hash {network.hash}")
    print(f"labels           {', '.join(network.labels)}")
    stop = ", stopped early" if report.stopped_early else ""
    print(f"training         {report.steps} steps, {report.minutes:.1f} minutes{stop}")
    print(
        f"on val           loss {chosen.val_loss:.3f}, labels rebuilt "
        f"{100 * chosen.val_label_accuracy:.1f} %, boxes off by {chosen.val_box_error:.4f}, "
        f"noise judged rightly {100 * chosen.val_noisy_accuracy:.1f} %"
    )
    test = dataset.splits.get("test", ())
    if len(test) > 1 and len(dataset["val"]) > 1:
        from layoutdm.metrics.fid import fid

        floor = fid(network.extract(dataset["val"]), network.extract(test))
        print(
            f"floor            FID {floor:.2f} between val ({len(dataset['val'])}) "
            f"and test ({len(test)})"
        )
