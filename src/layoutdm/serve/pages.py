"""The studio's page at /, or a sentence where this version has none."""

from __future__ import annotations

import mimetypes
from pathlib import Path

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from layoutdm.serve.room import Room

STATIC = Path(__file__).resolve().parent.parent / "studio" / "static"
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
NO_STUDIO = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>layoutdm</title></head><body>
<h1>layoutdm</h1>
<p>The server works, but this installation has no studio: its static files are missing.</p>
<p>The API is at <a href="/openapi.json">/openapi.json</a>,
<a href="/v1/models">/v1/models</a> and <a href="/v1/health">/v1/health</a>.</p>
</body></html>
"""


class _Files(StaticFiles):
    """Files that a browser asks about again, so that a new version shows at once."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response


def add_pages(app: FastAPI, room: Room) -> None:
    """Everything that is not the API; added last, since it takes every other address."""

    @app.api_route("/v1/{rest:path}", methods=METHODS, include_in_schema=False)
    async def unknown(request: Request) -> Response:
        allowed = _allowed(app, request)
        if allowed:
            raise HTTPException(405, headers={"Allow": ", ".join(allowed)})
        raise HTTPException(404)

    folder = room.settings.static or STATIC
    if (folder / "index.html").is_file():
        # A machine's own table of types may be wrong, and a browser runs no script of a wrong one.
        for ending in (".js", ".mjs"):
            mimetypes.add_type("text/javascript", ending)
        app.mount("/", _Files(directory=folder, html=True), name="studio")
        return

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return Response(NO_STUDIO, media_type="text/html")


def _allowed(app: FastAPI, request: Request) -> list[str]:
    """The methods that the address of a request takes, when it takes others than this one."""
    found: set[str] = set()
    for route in app.routes:
        methods = getattr(route, "methods", None)
        if methods and len(methods) < len(METHODS):
            match, _ = route.matches(request.scope)
            if match is Match.PARTIAL:
                found |= set(methods)
    return sorted(found)
