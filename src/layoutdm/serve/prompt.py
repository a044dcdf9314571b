"""HTTP for clients that send what they owe in time.

Someone who opens many connections and sends a byte now and then (slowloris) would hold them all:
uvicorn waits for headers without end, and so it does for the rest of a body that was answered
already. Here both have a time, which further bytes do not prolong.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from http import HTTPStatus
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from layoutdm.serve.failures import ServeError

log = logging.getLogger("layoutdm.serve")

UNREADABLE = (
    "not a request in HTTP/1.1 that can be read: its first line, a header, or the framing of its "
    "body is wrong, or its headers are too long"
)


def protocol(header_seconds: float) -> type[asyncio.Protocol]:
    """uvicorn's protocol, with this many seconds for the headers of a request."""

    class Prompt(H11Protocol):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._limit: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(cast(asyncio.Transport, transport))
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            super().connection_lost(exc)

        def send_400_response(self, msg: str) -> None:
            """Bytes that are not HTTP; after an answer has begun there is only leaving."""
            if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                self.transport.write(_answer(ServeError(400, UNREADABLE)))
            if self.cycle is not None:  # whoever works on it has nobody to answer any more
                self.cycle.disconnected = True
                self.cycle.message_event.set()
            self.transport.close()

        def _watch(self) -> None:
            if not self._owes():
                self._forget()
            elif self._limit is None:
                self._limit = self.loop.call_later(header_seconds, self._too_late)

        def _owes(self) -> bool:
            """Whether headers are awaited, or a body that nobody reads."""
            if self.conn.their_state is h11.IDLE:
                return True
            answered = self.cycle is not None and self.cycle.response_complete
            return answered and self.conn.their_state is h11.SEND_BODY

        def _forget(self) -> None:
            if self._limit is not None:
                self._limit.cancel()
                self._limit = None

        def _too_late(self) -> None:
            self._limit = None
            if self.transport.is_closing():
                return
            if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
                late = f"the headers did not arrive within {header_seconds:g} seconds"
                self.transport.write(_answer(ServeError(408, late)))
            self.transport.close()

    return Prompt


def _answer(failure: ServeError) -> bytes:
    id = secrets.token_hex(6)
    log.info("%s - - %d %s", id, failure.status, failure)
    body = json.dumps(failure.as_dict(id)).encode()
    return (
        b"HTTP/1.1 %d %b\r\nconnection: close\r\ncontent-type: application/json\r\n"
        b"x-request-id: %b\r\ncontent-length: %d\r\n\r\n%b"
        % (failure.status, HTTPStatus(failure.status).phrase.encode(), id.encode(), len(body), body)
    )
