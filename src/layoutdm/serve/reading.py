"""A request's body from the wire: bounded in bytes and time, JSON only."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from pydantic import BaseModel
from starlette.requests import ClientDisconnect, Request

from layoutdm.serve.asking import validated
from layoutdm.serve.body import parse
from layoutdm.serve.failures import ServeError
from layoutdm.serve.guard import GONE
from layoutdm.serve.limits import Limits
from layoutdm.serve.room import Room

Body = TypeVar("Body", bound=BaseModel)

SMALL = 64 * 1024  # bytes that are parsed at once, without a thread
DRAINED = 16  # times the limit: so much of a body is thrown away, to let its sender read why
LONGEST = 18  # digits of a length that is worth reading as a number


async def read(request: Request, kind: type[Body], room: Room) -> Body:
    """The body of a request as a value of this kind, or a ServeError."""
    room.ensure_open()
    _check_type(request)
    _check_length(request, room.limits)
    try:
        async with asyncio.timeout(room.limits.body_seconds):
            data = await _bytes(request, room.limits)
    except TimeoutError:
        raise ServeError(
            408, f"the body did not arrive within {room.limits.body_seconds} seconds"
        ) from None
    except ClientDisconnect:
        raise ServeError(GONE, "the client left") from None
    if len(data) <= SMALL:
        return _value(data, kind, room.limits)
    return await room.aside(_value, data, kind, room.limits)


def _value(data: bytes, kind: type[Body], limits: Limits) -> Body:
    return validated(kind, parse(data, limits.depth))


def _check_type(request: Request) -> None:
    """JSON and nothing else: other types can be sent by any page without asking first."""
    given = request.headers.get("content-type", "")
    name = given.partition(";")[0].strip().lower()
    if name != "application/json":
        raise ServeError(415, f"a body must be sent as application/json, got {given[:100]!r}")
    packed = request.headers.get("content-encoding", "identity").strip().lower()
    if packed != "identity":
        raise ServeError(415, f"a body must be sent as it is, not packed with {packed[:100]!r}")


def _check_length(request: Request, limits: Limits) -> None:
    """Refuse at once what would not be drained, or what its sender asks about before sending."""
    told = request.headers.get("content-length", "0")
    asks = request.headers.get("expect", "").strip().lower() == "100-continue"
    most = limits.body_bytes * (1 if asks else DRAINED)
    if told.isdecimal() and (len(told) > LONGEST or int(told) > most):
        raise _too_large(limits)


async def _bytes(request: Request, limits: Limits) -> bytes:
    """Never keeps more than the limit; what comes beyond it is read and thrown away."""
    kept: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= limits.body_bytes:
            kept.append(chunk)
        else:
            kept.clear()
            if size > DRAINED * limits.body_bytes:
                break
    if size > limits.body_bytes:
        raise _too_large(limits)
    return b"".join(kept)


def _too_large(limits: Limits) -> ServeError:
    return ServeError(
        413, f"the body is larger than {limits.body_bytes:,} bytes, this server's limit"
    )


def wants_lines(request: Request) -> bool:
    """Whether the client asks for a stream of JSON lines."""
    accepted = request.headers.get("accept", "")
    return any(
        part.partition(";")[0].strip().lower() == "application/x-ndjson"
        for part in accepted.split(",")
    )


__all__: list[Any] = ["read", "wants_lines"]
