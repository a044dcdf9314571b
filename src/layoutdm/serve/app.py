"""The application: every route of the API, its schema, and the studio's page.

app = create_app(Settings(models=("rico25",)))      # any ASGI server runs it
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from layoutdm import __version__
from layoutdm.errors import LayoutdmError
from layoutdm.serve.failures import ServeError, as_failure
from layoutdm.serve.guard import Guard
from layoutdm.serve.job_routes import add_job_routes
from layoutdm.serve.openapi import describe
from layoutdm.serve.pages import add_pages
from layoutdm.serve.room import Room, dumps
from layoutdm.serve.routes import add_routes
from layoutdm.serve.settings import Settings


def create_app(settings: Settings | None = None) -> FastAPI:
    """The server as an ASGI application; its models are loaded here, its thread starts here."""
    room = Room(settings or Settings())

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        room.open_jobs()
        yield
        room.close()

    app = FastAPI(
        title="layoutdm",
        version=__version__,
        lifespan=life,
        docs_url=None,  # the usual pages load their scripts from other hosts
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,  # what generated clients call them
    )
    app.state.room = room
    app.add_middleware(Guard, room=room)
    for kind in (LayoutdmError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _answer)
    add_routes(app, room)
    add_job_routes(app, room)
    add_pages(app, room)
    describe(app)
    return app


async def _answer(request: Request, error: Exception) -> Response:
    """Every error as JSON with one sentence."""
    failure = _failure(request, error)
    headers = {}
    if failure.retry_after is not None:
        headers["Retry-After"] = str(failure.retry_after)
    if isinstance(error, HTTPException) and error.headers:
        headers.update(error.headers)
    id = request.state.request_id
    return Response(
        dumps(failure.as_dict(id)), failure.status, headers, media_type="application/json"
    )


def _failure(request: Request, error: Exception) -> ServeError:
    if isinstance(error, LayoutdmError):
        return as_failure(error)
    if isinstance(error, HTTPException):
        path = request.url.path[:100]
        if error.status_code == 404:
            return ServeError(404, f"there is no {path!r} here; /openapi.json lists all addresses")
        if error.status_code == 405:
            return ServeError(405, f"{path!r} does not take {request.method}; see /openapi.json")
        return ServeError(error.status_code, str(error.detail))
    return ServeError(422, "the address has a part that cannot be read; see /openapi.json")
