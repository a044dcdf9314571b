"""The OpenAPI schema: complete enough to write a client from it alone."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from layoutdm.serve import schemas
from layoutdm.serve.converting import MEDIA
from layoutdm.spec import Spec
from layoutdm.spec.json_words import JsonWords

REFERENCE = "#/components/schemas/{model}"
BODIES: tuple[type[BaseModel], ...] = (
    schemas.GenerateBody,
    schemas.CheckBody,
    schemas.JobBody,
    schemas.TidyBody,
    schemas.ConvertBody,
)
ABOUT = """Controllable layout generation: say what you know about a layout, get complete ones back.

- A request (`Spec`) lists what is known; every field that is absent is free. An empty one asks for
  anything.
- Boxes are centre x, centre y, width and height, as shares of the canvas (0 to 1).
- The same request, seed and model give the same layouts, whoever asks at the same time.
- Errors are JSON with one sentence and the places in the request: paths inside `spec` are written
  as the command line writes them (`elements[0].x`), those of other fields by name (`count`).
- Every answer carries `X-Request-Id`, which the server's log names, too.
- On another address than this machine's own, send `Authorization: Bearer TOKEN`.
"""
_WORDS = {
    400: "The body is not JSON (also: a field given twice, NaN, nesting too deep).",
    401: "The token is missing or wrong.",
    403: "The Host or Origin header is foreign.",
    404: "There is no such thing.",
    408: "The body did not arrive in time.",
    409: "It is not in a state for that.",
    413: "The body is larger than the limit.",
    415: "The body is not sent as application/json.",
    422: "The request has problems; all of them are listed.",
    429: "Too many wait already; `Retry-After` says for how many seconds.",
    501: "This version cannot do that.",
    503: "The server is stopping, or others kept it busy for too long.",
}
_RETRY = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}

LINES: dict[str, Any] = {
    "description": "The layouts: all at once, or one a line as they are drawn.",
    "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
}
FILES: dict[str, Any] = {
    "description": "The file.",
    "content": {
        media.partition(";")[0]: {
            "schema": {} if "json" in media else {"type": "string", "format": "binary"}
        }
        for media, _ in MEDIA.values()
    },
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The answers of a route besides its good one; some can come from every route."""
    found: dict[int | str, dict[str, Any]] = {}
    for status in sorted({401, 403, 429, *statuses}):
        found[status] = {"model": schemas.Error, "description": _WORDS[status]}
        if status in (429, 503):
            found[status]["headers"] = _RETRY
    return found


def takes(body: type[BaseModel]) -> dict[str, Any]:
    """The body of a route; it is read by us, so that it is JSON in the strict sense."""
    schema = {"$ref": REFERENCE.format(model=body.__name__)}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def describe(app: FastAPI) -> None:
    """Let /openapi.json hold the bodies and the request beside what FastAPI finds itself."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _schema(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _schema(app: FastAPI) -> dict[str, Any]:
    found = get_openapi(title=app.title, version=app.version, description=ABOUT, routes=app.routes)
    parts = found.setdefault("components", {}).setdefault("schemas", {})
    _, bodies = models_json_schema(
        [(body, "validation") for body in BODIES],
        ref_template=REFERENCE, schema_generator=JsonWords,
    )  # fmt: skip
    parts.update(bodies["$defs"])
    spec = Spec.model_json_schema(by_alias=True, ref_template=REFERENCE, schema_generator=JsonWords)
    parts.update(spec.pop("$defs", {}))
    parts["Spec"] = {**spec, "examples": [schemas.SPEC_EXAMPLE]}
    for name in ("GenerateBody", "CheckBody", "JobBody"):
        parts[name]["properties"]["spec"] = {"$ref": REFERENCE.format(model="Spec")}
    for name in ("TidyBody", "ConvertBody"):
        items = {"$ref": REFERENCE.format(model="LayoutView")}
        parts[name]["properties"]["layouts"]["items"] = items
    parts["ConvertBody"]["properties"]["to"]["enum"] = sorted(MEDIA)
    parts.pop("HTTPValidationError", None)
    parts.pop("ValidationError", None)
    for path in found["paths"].values():
        for operation in path.values():
            _own_errors(operation["responses"])
    scheme = {"type": "http", "scheme": "bearer", "description": "Only where a token is set."}
    found["components"]["securitySchemes"] = {"token": scheme}
    found["security"] = [{}, {"token": []}]
    return found


def _own_errors(responses: dict[str, Any]) -> None:
    """FastAPI adds its own 422 to routes with parameters; ours never looks like that."""
    schema = responses.get("422", {}).get("content", {}).get("application/json", {})
    if schema.get("schema", {}).get("$ref", "").endswith("/HTTPValidationError"):
        del responses["422"]
