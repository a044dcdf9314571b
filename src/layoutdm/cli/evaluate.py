"""`layoutdm evaluate`: the paper's protocol for one model on one data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from layoutdm.cli.options import (
    AsJson,
    InputFormat,
    OnError,
    Ray,
    Settings,
    Threads,
    check_input,
    settings,
)
from layoutdm.cli.options import source as layouts_of
from layoutdm.cli.scaling import connected
from layoutdm.extras import need


def evaluate(
    model: Annotated[
        list[str],
        typer.Option(help="Model: an embedded name, a folder or a hub id; several in one table."),
    ],
    data: Annotated[str, typer.Option(help="Data set: a file or folder, or a name.")],
    task: Annotated[
        str,
        typer.Option(
            help="unconditional, c, cwh, completion, refinement, relation, several with commas, "
            "or all."
        ),
    ] = "all",
    split: Annotated[str, typer.Option(help="Split that is the reference.")] = "test",
    steps: Annotated[
        str, typer.Option(help="Number of steps, or several: own,20,10. own: the model's default.")
    ] = "own",
    seeds: Annotated[str, typer.Option(help="Sampling seeds, with commas.")] = "0,1,2",
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results; an unfinished run goes on.")
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="Layouts of the unconditional task.")] = 1000,
    limit: Annotated[
        int, typer.Option(min=0, help="Use only the first layouts of the split; 0: all of them.")
    ] = 0,
    strengths: Annotated[
        str | None, typer.Option(help="Relation guidance strengths to compare: 0,100,420.")
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(help="Feature network: rico25, publaynet or a folder; default: by labels."),
    ] = None,
    into: Annotated[
        list[Path] | None,
        typer.Option(help="Markdown file, such as a model card, to put the table of scores into."),
    ] = None,
    setting: Settings = None,
    portrait: Annotated[bool, typer.Option(help="Leave landscape layouts out.")] = False,
    batch_size: Annotated[int, typer.Option(min=1, help="Layouts generated together.")] = 64,
    threads: Threads = None,
    format: InputFormat = None,
    on_error: OnError = "raise",
    ray: Ray = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate models by the paper's protocol.

    1,000 layouts for the unconditional task, one for each layout of the split otherwise; the
    reference is the whole split, and real layouts of another split give the floor. Writes
    results.json with every setting, table.md in the paper's layout, plots and sample sheets. What
    is done already is not done again when the command is started once more, and everything that was
    done in the folder is in the report. Relations come twice: wishes that hold, and the paper's
    guidance. A task that a model cannot do is a dash with its reason.

    Examples:

      layoutdm evaluate --model rico25 --data rico25/ --out results/rico25

      layoutdm evaluate --model rico25 --data rico25/ --task c,cwh --steps 10,20,50 --seeds 0

      layoutdm evaluate --model my_model --data my_layouts/ --task unconditional --split val

      layoutdm evaluate --model rico25 --model my_model --data rico25/ --set published=true

      layoutdm evaluate --model rico25 --data rico25/ --ray
    """
    check_input(format, on_error)
    need("evaluate", "matplotlib")
    import json

    import layoutdm
    from layoutdm.cli.evaluation import bars, numbers, step_numbers, whole_numbers
    from layoutdm.data import open as open_data
    from layoutdm.evaluate.card import insert_scores
    from layoutdm.evaluate.table import lines
    from layoutdm.formats.problems import Problems
    from layoutdm.scale.evaluation import drawn_by

    for path in into or ():
        if not path.is_file():
            raise typer.BadParameter(f"{path} is no file; give one", param_hint="--into")
    folder = out or Path("evaluation") / Path(model[0]).name / Path(data).stem
    how: dict[str, Any] = {
        "split": split,
        "steps": step_numbers(steps),
        "samples": samples,
        "limit": limit,
        "seeds": whole_numbers(seeds, "--seeds", 0),
        "strengths": numbers(strengths),
        "options": settings(setting),
        "batch_size": batch_size,
    }
    models = [layoutdm.load(one, threads=threads) for one in model]
    dataset = open_data(
        layouts_of(data), format=format, max_elements=max(one.max_elements for one in models),
        portrait=portrait, problems=Problems(skip=on_error == "skip"),
    )  # fmt: skip
    with connected(ray) as (runner, workers), bars() as progress:
        if ray is not None:
            how["draw"] = drawn_by(runner, workers)
        results = layoutdm.evaluate(
            models, dataset, tasks=task if task == "all" else task.split(","), out=folder,
            features=features, threads=threads or 0, progress=progress, **how,
        )  # fmt: skip
    for path in into or ():
        insert_scores(path, results)
    if as_json:
        print(json.dumps(results, indent=2))
        return
    for line in lines(results):
        print(line)
    print()
    for path in sorted(folder.glob("*.*")):
        print(path)
