"""`layoutdm serve`: the HTTP API."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from layoutdm.cli.options import Threads

Models = Annotated[
    list[str] | None,
    typer.Option("--model", "-m", help="Embedded name, folder or hub id; can be repeated."),
]
Host = Annotated[str, typer.Option("--host", help="Address; all but this machine's need a token.")]
Port = Annotated[int, typer.Option("--port", "-p", min=0, max=65535, help="0 takes a free one.")]
Token = Annotated[
    str | None, typer.Option("--token", envvar="LAYOUTDM_TOKEN", help="What clients must send.")
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="NAME", help="A name under which the server is called."),
]
Limit = Annotated[
    list[str] | None,
    typer.Option(
        "--limit", metavar="NAME=NUMBER", help="Such as count=64; /v1/health has them all."
    ),
]
JobsFolder = Annotated[
    Path | None, typer.Option("--jobs", help="Folder for large jobs; else in the user's state.")
]


def serve(
    model: Models = None,
    host: Host = "127.0.0.1",
    port: Port = 8377,
    token: Token = None,
    allow_host: AllowHost = None,
    limit: Limit = None,
    jobs: JobsFolder = None,
    threads: Threads = None,
) -> None:
    """Serve the models over HTTP: JSON in, layouts out; /openapi.json describes it all.

    Only this machine can reach the server, unless --host says otherwise; then clients need a
    token, which is made and printed if --token gives none.

    Examples:

      layoutdm serve

      layoutdm serve --model rico25 --port 9000 --limit count=64 --limit seconds=10

      layoutdm serve --host 0.0.0.0 --token "$(openssl rand -hex 16)" --jobs /var/lib/layoutdm
    """
    start("serve", model, host, port, token, allow_host, limit, jobs, threads, open_browser=False)


def start(
    name: str,
    model: list[str] | None,
    host: str,
    port: int,
    token: str | None,
    allow_host: list[str] | None,
    limit: list[str] | None,
    jobs: Path | None,
    threads: int | None,
    *,
    open_browser: bool,
) -> None:
    """What `serve` and `studio` share."""
    from layoutdm.serve.limits import Limits
    from layoutdm.serve.run import run, with_token
    from layoutdm.serve.settings import Settings

    settings = Settings(
        models=tuple(model or ()),
        host=host,
        port=port,
        token=with_token(host, token),
        allowed_hosts=tuple(allow_host or ()),
        limits=Limits.from_pairs(limit or []),
        jobs=jobs or _state() / "jobs",
        threads=threads,
    )
    run(settings, name=name, open_browser=open_browser)


def _state() -> Path:
    """Where programs of this user keep what should outlive them."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "layoutdm"
