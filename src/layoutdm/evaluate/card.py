"""The scores of an evaluation as one short table, put into Markdown files such as a model card.

<!-- scores of rico25 -->
what stands here is replaced
<!-- end of scores -->
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from layoutdm.atomic import write_text
from layoutdm.errors import LayoutdmError
from layoutdm.evaluate.paper import mark
from layoutdm.evaluate.plan import TITLES
from layoutdm.evaluate.table import HEADS, distinct_rows, floor_value, plain, short_name, spread

COLUMNS = ("max_iou", "alignment", "overlap", "density", "coverage", "violation")
END = "<!-- end of scores -->"


def score_table(results: Mapping[str, Any]) -> str:
    """Every task in a few lines: each number of calls, beside the floor and the mark to beat."""
    plan, floor = results["plan"], results["floor"]
    heads = [HEADS[name] for name in COLUMNS]
    rows = [
        f"| task | calls | seeds | FID ↓ | FID / floor | mark | {' | '.join(heads)} |",
        "|---|---:|---:|---:|---:|---:|" + "---:|" * len(COLUMNS),
    ]
    for row in distinct_rows(results):
        task, found = row["task"], row["fid"]["mean"]
        lowest = floor_value(floor, task, "fid") if floor else None
        ratio = f"{found / lowest:.2f}" if found is not None and lowest else "–"
        goal = mark(results["labels"], task)
        if row["refused"]:
            continue
        options = dict(row["options"])
        steps = options.pop("steps", None)
        calls = str(steps or results["own_steps"].get(task, "own"))
        calls = f"**{calls}**" if steps is None else calls
        calls += "".join(f", {name}={value}" for name, value in sorted(options.items()))
        values = " | ".join(
            "–" if name == "violation" and task != "relation" else spread(row[name])
            for name in COLUMNS
        )
        rows.append(
            f"| {TITLES[task]} | {calls} | {len(row['seeds'])} | {spread(row['fid'])} | {ratio} | "
            f"{'–' if goal is None else goal} | {values} |"
        )
    if floor:
        values = " | ".join(
            "–" if name == "violation" else plain(floor_value(floor, "c", name)) for name in COLUMNS
        )
        lowest = floor_value(floor, "c", "fid")
        rows.append(f"| real data | | | {plain(lowest)} | 1 | – | {values} |")
    facts = (
        f"Split {plan['split']}, {plan['layouts']:,} layouts"
        f"{' (the first ones only)' if plan['limited'] else ''}; {plan['samples']:,} unconditional "
        f"layouts, else one for each of the split. Mean ± standard deviation over sampling seeds. "
        f"In bold: the model's own number of calls. Real data: "
        f"{floor['layouts'] if floor else 0:,} layouts of another split. Mark: the better of the "
        "paper and the best released rival, each divided by its own floor, made on other data. "
        f"Model {plan['model_hash']}, feature network {plan['features_hash']}."
    )
    return "\n".join([facts, "", *rows])


def insert_scores(path: Path, results: Mapping[str, Any]) -> None:
    """Put the table between its two marks in the file; without them, at the end of it."""
    name = short_name(results["plan"]["model"])
    start = f"<!-- scores of {name} -->"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LayoutdmError(f"{path}: cannot be read as a Markdown file ({error})") from None
    made = f"{start}\n{score_table(results)}\n{END}"
    before, found, after = text.partition(start)
    if not found:
        text = f"{text.rstrip()}\n\n## Scores\n\n{made}\n"
    elif END in after:
        text = before + made + after.partition(END)[2]
    else:
        raise LayoutdmError(f"{path}: has {start!r} but no {END!r} after it; add that line")
    write_text(path, text)
