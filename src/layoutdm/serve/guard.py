"""Who may ask, and what every answer carries: host, origin, token, request id, headers, log.

A page of another site must not reach a server on this machine through the visitor's browser. So a
request is refused when it calls the server by a foreign name (DNS rebinding), when another origin's
page sends it, and, on addresses that other machines reach, when it brings no token.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import logging
import secrets
import time
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from layoutdm.errors import LayoutdmError
from layoutdm.serve.failures import ServeError, as_failure
from layoutdm.serve.settings import Settings, is_loopback

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from layoutdm.serve.room import Room

log = logging.getLogger("layoutdm.serve")

COOKIE = "layoutdm_token"
CSP = (
    "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
)
GONE = 499  # the client left before its answer; only in the log and the metrics


class Guard:
    """ASGI middleware around everything; no exception passes it."""

    def __init__(self, app: ASGIApp, room: Room) -> None:
        self.app, self.room = app, room
        self.busy = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = _Answer(send, secrets.token_hex(6))
        scope.setdefault("state", {})["request_id"] = answer.id
        self.busy += 1
        try:
            await self._pass(scope, receive, answer)
        except LayoutdmError as error:
            await answer.fail(as_failure(error))
        except Exception:
            log.exception("%s failed", answer.id)
            await answer.fail(ServeError(500, "the server failed; its log says why"))
        finally:
            self.busy -= 1
            self._note(scope, answer)

    async def _pass(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        headers = _headers(scope)
        settings = self.room.settings
        check_host(headers.get("host", ""), settings)
        check_origin(headers.get("origin"), headers.get("host", ""))
        if settings.token is not None and not has_token(headers, settings.token):
            if _opens(scope, settings.token):
                await answer.enter(settings.token)
                return
            raise ServeError(
                401,
                "this server needs its token: send the header `Authorization: Bearer TOKEN`, or "
                "open the address that it printed when it started",
            )
        if self.busy > settings.limits.connections:
            most = settings.limits.connections
            raise ServeError(429, f"more than {most:,} requests at the same time", retry_after=1)
        await self.app(scope, receive, answer.send)

    def _note(self, scope: Scope, answer: _Answer) -> None:
        seconds = time.perf_counter() - answer.began
        route = getattr(scope.get("route"), "path", "")
        if not route.startswith(("/v1", "/metrics")) or "{rest" in route:
            route = "other"
        self.room.requests.add(1, route, str(answer.status))
        self.room.seconds.observe(seconds, route)
        # A path is a client's text: quoted, so that it cannot forge lines of the log.
        path = ascii(scope["path"][:200])[1:-1]
        log.info(
            "%s %s %s %d %.3f s", answer.id, scope["method"], path, answer.status, seconds,
        )  # fmt: skip


class _Answer:
    """The way back: adds our headers, remembers the status, and can say what went wrong."""

    def __init__(self, send: Send, id: str) -> None:
        self._send, self.id = send, id
        self.began = time.perf_counter()
        self.status = GONE

    @property
    def started(self) -> bool:
        return self.status != GONE

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = [*HEADERS, (b"x-request-id", self.id.encode())]
            names = {name for name, _ in message.get("headers", ())}
            more = [(name, value) for name, value in own if name not in names]
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        await self._send(message)

    async def fail(self, failure: ServeError) -> None:
        if self.started:
            return
        headers = [(b"content-type", b"application/json")]
        if failure.retry_after is not None:
            headers.append((b"retry-after", str(failure.retry_after).encode()))
        if failure.status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        body = json.dumps(failure.as_dict(self.id)).encode()
        headers.append((b"content-length", str(len(body)).encode()))
        start = {"type": "http.response.start", "status": failure.status, "headers": headers}
        await self.send(start)
        await self.send({"type": "http.response.body", "body": body})

    async def enter(self, token: str) -> None:
        """The token came in the address: keep it in a cookie and show a clean address."""
        cookie = f"{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode())]
        await self.send({"type": "http.response.start", "status": 303, "headers": headers})
        await self.send({"type": "http.response.body", "body": b""})


def check_host(host: str, settings: Settings) -> None:
    """Refuse names under which a foreign site might call us.

    A name can be made to point to any address, an address cannot: only names need to be known.

    >>> check_host("localhost:8377", Settings())
    >>> check_host("evil.example", Settings())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    layoutdm.serve.failures.ServeError: host 'evil.example' is not this server's; ...
    """
    name = _name(host)
    if name in (*(n.lower() for n in settings.allowed_hosts), settings.host.lower()):
        return
    if is_loopback(name) or (not settings.is_local and _is_address(name)):
        return
    raise ServeError(
        403,
        f"host {host[:100]!r} is not this server's; call it by its address, or start it with "
        "--allow-host NAME",
    )


def check_origin(origin: str | None, host: str) -> None:
    """Refuse what a page of another origin sends.

    >>> check_origin("http://localhost:8377", "localhost:8377")
    >>> check_origin("http://localhost:3000", "localhost:8377")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    layoutdm.serve.failures.ServeError: origin 'http://localhost:3000' is foreign; ...
    """
    if origin is None or origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}"):
        return
    raise ServeError(
        403, f"origin {origin[:100]!r} is foreign; only this server's own pages may ask it"
    )


def has_token(headers: dict[str, str], token: str) -> bool:
    """Whether the header or the cookie brings the token; compared in constant time."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and _same(given.strip(), token):
        return True
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return False
    return cookie is not None and _same(cookie.value, token)


def _opens(scope: Scope, token: str) -> bool:
    """The address that the server printed: /?token=..."""
    if scope["path"] != "/" or scope["method"] != "GET":
        return False
    given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
    return _same(given[0], token)


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1").lower(): v.decode("latin-1") for name, v in scope["headers"]}


def _name(host: str) -> str:
    """The name in a Host header, without port and brackets; "" if it is none."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
