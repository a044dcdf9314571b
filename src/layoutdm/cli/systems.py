"""`layoutdm systems`: what can be trained and compared."""

from __future__ import annotations

from typing import Annotated

import typer


def systems(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on standard output.")] = False,
) -> None:
    """List the systems of the paper: what they are, their tasks and sizes.

    Each is trained with `layoutdm train DATA --out MODEL --system NAME`. Tasks: c gives labels,
    cwh labels and sizes; completion, refinement and relation are as in `layoutdm evaluate`.

    Examples:

        layoutdm systems

        layoutdm systems --json
    """
    import json
    from dataclasses import asdict

    from layoutdm.baselines.systems import SYSTEMS

    if as_json:
        shown = ("name", "what", "paper", "tasks", "parameters")
        rows = [{key: asdict(facts)[key] for key in shown} for facts in SYSTEMS.values()]
        print(json.dumps(rows, indent=1))
        return
    width = max(map(len, SYSTEMS))
    for facts in SYSTEMS.values():
        rico, publaynet = facts.parameters
        print(f"{facts.name:<{width}}  {facts.what}")
        print(f"{'':<{width}}  {', '.join(facts.tasks)}")
        print(f"{'':<{width}}  {facts.paper}; published size {rico} M (Rico), {publaynet} M")
