"""`layoutdm evaluate`: the paper's protocol for one model on one data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def evaluate(
    model: Annotated[str, typer.Option(help="Model: an embedded name, a folder or a hub id.")],
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
    batch_size: Annotated[int, typer.Option(min=1, help="Layouts generated together.")] = 64,
    threads: Annotated[int, typer.Option(min=0, help="Cores to use; 0 takes all.")] = 0,
) -> None:
    """Evaluate a model by the paper's protocol.

    1,000 layouts for the unconditional task, one for each layout of the split otherwise; the
    reference is the whole split, and real layouts of another split give the floor. Writes
    results.json with every setting, table.md in the paper's layout, plots and sample sheets. What
    is done already is not done again when the command is started once more, and everything that was
    done in the folder is in the report.

    Examples:

      layoutdm evaluate --model rico25 --data rico25/ --out results/rico25

      layoutdm evaluate --model rico25 --data rico25/ --task c,cwh --steps 10,20,50 --seeds 0

      layoutdm evaluate --model my_model --data my_layouts/ --task unconditional --split val
    """
    import json

    from layoutdm.cli.evaluation import Choice, run, step_numbers, whole_numbers
    from layoutdm.evaluate.card import insert_scores
    from layoutdm.evaluate.table import lines

    choice = Choice(
        model=model,
        data=data,
        tasks=task,
        split=split,
        steps=step_numbers(steps),
        seeds=whole_numbers(seeds, "--seeds", 0),
        out=out or Path("evaluation") / Path(model).name / Path(data).stem,
        samples=samples,
        limit=limit,
        strengths=strengths,
        features=features,
        batch_size=batch_size,
        threads=threads,
    )
    for path in into or ():
        if not path.is_file():
            raise typer.BadParameter(f"{path} is no file; give one", param_hint="--into")
    paths = run(choice)
    results = json.loads(paths[0].read_text(encoding="utf-8"))
    for line in lines(results):
        print(line)
    for path in into or ():
        insert_scores(path, results)
    print()
    for path in paths:
        print(path)
