"""The routes of jobs: order, watch, cancel, download."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse, StreamingResponse

from layoutdm.serve import schemas
from layoutdm.serve.asking import ordered
from layoutdm.serve.failures import ServeError
from layoutdm.serve.openapi import errors, takes
from layoutdm.serve.reading import read
from layoutdm.serve.room import Room, dumps

if TYPE_CHECKING:
    from layoutdm.serve.job_room import JobRoom

PAUSE = 0.2  # seconds between looks at a job that someone watches
HEARTBEAT = 15.0  # seconds after which a silent stream says that it is still there
ENDED = ("finished", "cancelled", "failed", "deleted")
EVENTS: dict[str, Any] = {
    "description": "Server-sent events: `progress` with the job's record; the last one is `end`.",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}
FILE: dict[str, Any] = {
    "description": "The file.",
    "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
}


def add_job_routes(app: FastAPI, room: Room) -> None:
    """Everything under /v1/jobs."""

    @app.post(
        "/v1/jobs", response_model=schemas.JobView, status_code=202, tags=["jobs"],
        responses=errors(400, 408, 413, 415, 422, 429, 503),
        openapi_extra=takes(schemas.JobBody), summary="Draw many layouts into files",
    )  # fmt: skip
    async def create_job(request: Request) -> Response:
        body = await read(request, schemas.JobBody, room)
        jobs = _jobs(room)
        most = room.limits.job_count
        order = await room.aside(ordered, body, room.catalogue, room.limits, most=most)
        name = body.model or room.catalogue.usual
        record = await room.aside(jobs.add, order, name, body.formats)
        headers = {"Location": f"/v1/jobs/{record.id}"}
        return Response(dumps(record.view()), 202, headers, media_type="application/json")

    @app.get(
        "/v1/jobs", response_model=schemas.Jobs, tags=["jobs"], responses=errors(503),
        summary="All jobs, the newest first",
    )  # fmt: skip
    async def list_jobs() -> Response:
        views = [record.view() for record in _jobs(room).all()]
        return Response(dumps({"jobs": views}), media_type="application/json")

    @app.get(
        "/v1/jobs/{id}", response_model=schemas.JobView, tags=["jobs"], responses=errors(404, 503),
        summary="One job: how far it is, and its files when it is finished",
    )  # fmt: skip
    async def get_job(id: str) -> Response:
        return _answer(await _view(room, id))

    @app.delete(
        "/v1/jobs/{id}", response_model=schemas.JobView, tags=["jobs"],
        responses=errors(404, 503), summary="Cancel a job, or forget one that has ended",
    )  # fmt: skip
    async def delete_job(id: str) -> Response:
        record = await room.aside(_jobs(room).remove, id)
        return _answer(record.view())

    @app.get(
        "/v1/jobs/{id}/events", response_class=Response, tags=["jobs"],
        responses={**errors(404, 503), 200: EVENTS}, summary="Progress as server-sent events",
    )  # fmt: skip
    async def watch_job(id: str) -> Response:
        _jobs(room).find(id)
        return StreamingResponse(_events(room, id), media_type="text/event-stream")

    @app.get(
        "/v1/jobs/{id}/files/{name:path}", response_class=Response, tags=["jobs"],
        responses={**errors(404, 409, 503), 200: FILE}, summary="Download a file of a finished job",
    )  # fmt: skip
    async def download_file(id: str, name: str) -> Response:
        path = await room.aside(_jobs(room).path, id, name)
        return FileResponse(path, filename=path.name)


def _jobs(room: Room) -> JobRoom:
    if room.jobs is None:
        raise ServeError(503, f"this server does no jobs: {room.no_jobs}", retry_after=60)
    return room.jobs


def _answer(view: dict[str, Any]) -> Response:
    return Response(dumps(view), media_type="application/json")


async def _view(room: Room, id: str) -> dict[str, Any]:
    jobs = _jobs(room)
    record = jobs.find(id)
    files = await room.aside(jobs.files, id) if record.state == "finished" else ()
    return record.view(files)


async def _events(room: Room, id: str) -> AsyncIterator[bytes]:
    last, silent = None, 0.0
    while not room.stopping:
        try:
            view = await _view(room, id)
        except ServeError:  # deleted while someone watched
            view = {"id": id, "state": "deleted"}
        ended = view["state"] in ENDED
        if view != last:
            name = "end" if ended else "progress"
            yield f"event: {name}\ndata: {json.dumps(view)}\n\n".encode()
            last, silent = view, 0.0
        if ended:
            return
        await asyncio.sleep(PAUSE)
        silent += PAUSE
        if silent >= HEARTBEAT:
            silent = 0.0
            yield b": still here\n\n"
