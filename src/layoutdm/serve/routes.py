"""The routes that answer at once: models, schema, health, generate, check, tidy, convert."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse

from layoutdm import __version__
from layoutdm.errors import LayoutdmError
from layoutdm.model import Result
from layoutdm.serve import schemas
from layoutdm.serve.asking import ordered, problems_in
from layoutdm.serve.converting import convert, tidied
from layoutdm.serve.drawing import Drawing, all_results, slowly
from layoutdm.serve.failures import ServeError, as_failure
from layoutdm.serve.openapi import FILES, LINES, errors, takes
from layoutdm.serve.reading import read, wants_lines
from layoutdm.serve.room import Room, dumps
from layoutdm.spec import Spec


def add_routes(app: FastAPI, room: Room) -> None:
    """Add every route but those of jobs and pages."""
    _add_reading(app, room)
    _add_drawing(app, room)
    _add_changing(app, room)


def answer(value: object) -> Response:
    return Response(dumps(value), media_type="application/json")


def _add_reading(app: FastAPI, room: Room) -> None:
    described = room.catalogue.described

    @app.get(
        "/v1/models", response_model=schemas.Models, responses=errors(), tags=["models"],
        summary="The models that can be asked",
    )  # fmt: skip
    async def list_models() -> Response:
        return answer({"models": list(described.values())})

    @app.get(
        "/v1/models/{name}", response_model=schemas.ModelView, responses=errors(404),
        tags=["models"], summary="One model: its labels, bounds, and what it refuses",
    )  # fmt: skip
    async def get_model(name: str) -> Response:
        if name not in described:
            known = ", ".join(described)
            raise ServeError(404, f"model {name[:100]!r} is unknown; the models are {known}")
        return answer(described[name])

    @app.get(
        "/v1/schema", responses=errors(), tags=["models"],
        summary="The JSON schema of a request, for editors and other programs",
    )  # fmt: skip
    async def schema() -> Response:
        return answer(Spec.json_schema())

    @app.get(
        "/v1/health", response_model=schemas.Health, responses=errors(), tags=["server"],
        summary="Whether the server answers, its version, and every limit",
    )  # fmt: skip
    async def health() -> Response:
        status = "stopping" if room.stopping else "ok"
        limits = room.limits.as_dict()
        return answer({"status": status, "version": __version__, "limits": limits})

    @app.get(
        "/metrics", response_class=Response, tags=["server"],
        summary="Counters and histograms in the form of Prometheus",
        responses={**errors(), 200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )  # fmt: skip
    async def metrics() -> Response:
        return Response(room.metrics.text(), media_type="text/plain; version=0.0.4")


def _add_drawing(app: FastAPI, room: Room) -> None:
    @app.post(
        "/v1/generate", response_model=schemas.Generated, tags=["layouts"],
        responses={**errors(400, 408, 413, 415, 422, 429, 503), 200: LINES},
        openapi_extra=takes(schemas.GenerateBody), summary="Draw layouts for a request",
    )  # fmt: skip
    async def generate(request: Request) -> Response:
        """Answer with all results at once, or, asked for with `Accept: application/x-ndjson`,
        with one result a line as they are drawn; a line with `error` then is the last."""
        began = time.perf_counter()
        body = await read(request, schemas.GenerateBody, room)
        most = room.limits.count
        order = await room.aside(ordered, body, room.catalogue, room.limits, most=most)
        if wants_lines(request):
            drawing = Drawing(room, order)
            lines = _lines(drawing, request.state.request_id)
            return StreamingResponse(lines, media_type="application/x-ndjson")
        results = await all_results(room, order, request)
        seconds = round(time.perf_counter() - began, 4)
        name = body.model or room.catalogue.usual
        return await room.aside(_generated, name, results, seconds)

    @app.post(
        "/v1/check", response_model=schemas.Problems, tags=["layouts"],
        responses=errors(400, 408, 413, 415, 422, 429),
        openapi_extra=takes(schemas.CheckBody), summary="All problems of a request at once",
    )  # fmt: skip
    async def check(request: Request) -> Response:
        body = await read(request, schemas.CheckBody, room)
        problems = await room.aside(problems_in, body, room.catalogue, room.limits)
        return answer({"problems": [problem.as_dict() for problem in problems[:1_000]]})


def _generated(name: str, results: list[Result], seconds: float) -> Response:
    records = [result.as_dict() for result in results]
    return answer({"model": name, "results": records, "seconds": seconds})


async def _lines(drawing: Drawing, id: str) -> AsyncIterator[bytes]:
    try:
        async for part in drawing.parts():
            for result in part:
                yield dumps(result.as_dict()) + b"\n"
    except LayoutdmError as error:
        yield dumps(as_failure(error).as_dict(id)) + b"\n"
    finally:
        drawing.close()


def _add_changing(app: FastAPI, room: Room) -> None:
    @app.post(
        "/v1/tidy", response_model=schemas.Layouts, tags=["layouts"],
        responses=errors(400, 408, 413, 415, 422, 429, 503),
        openapi_extra=takes(schemas.TidyBody), summary="Settle edges that nearly meet",
    )  # fmt: skip
    async def tidy_layouts(request: Request) -> Response:
        body = await read(request, schemas.TidyBody, room)
        until = time.monotonic() + room.limits.seconds
        layouts = await slowly(room, request, tidied, body.layouts, room.limits, until)
        return answer({"layouts": layouts})

    @app.post(
        "/v1/convert", response_class=Response, tags=["layouts"],
        responses={**errors(400, 408, 413, 415, 422, 429, 503), 200: FILES},
        openapi_extra=takes(schemas.ConvertBody), summary="Layouts as a file in any format",
    )  # fmt: skip
    async def convert_layouts(request: Request) -> Response:
        body = await read(request, schemas.ConvertBody, room)
        file = await slowly(room, request, convert, body.layouts, body.to, room.limits)
        disposition = {"Content-Disposition": f'attachment; filename="{file.name}"'}
        return Response(file.data, 200, disposition, media_type=file.media_type)
