"""`layoutdm studio`: the page on which layouts are drawn, locked, related and made."""

from __future__ import annotations

from typing import Annotated

import typer

from layoutdm.cli.options import Threads
from layoutdm.cli.serve import (
    AllowHost,
    Host,
    JobsFolder,
    Limit,
    Models,
    Port,
    Token,
    start,
)


def studio(
    model: Models = None,
    host: Host = "127.0.0.1",
    port: Port = 8377,
    token: Token = None,
    allow_host: AllowHost = None,
    limit: Limit = None,
    jobs: JobsFolder = None,
    threads: Threads = None,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in the browser.")
    ] = True,
) -> None:
    """Open the studio in the browser: draw boxes, lock some, relate others, get whole layouts.

    The same process answers the HTTP API, as `layoutdm serve` does.

    Examples:

      layoutdm studio

      layoutdm studio --model publaynet --port 0 --no-open
    """
    start("studio", model, host, port, token, allow_host, limit, jobs, threads,
          open_browser=open_browser)  # fmt: skip
