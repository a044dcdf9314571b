"""The whole process: listen, say where, serve until told to stop, and stop in good order."""

from __future__ import annotations

import logging
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING

from layoutdm.errors import LayoutdmError
from layoutdm.serve.settings import Settings, is_loopback

if TYPE_CHECKING:
    import uvicorn

    from layoutdm.serve.room import Room

PATIENCE = 20  # seconds that requests at work get to end when the server stops
BACKLOG = 512


def with_token(settings_host: str, token: str | None) -> str | None:
    """The token to use: on addresses that other machines reach, one is made if none is given.

    >>> with_token("127.0.0.1", None) is None, len(with_token("0.0.0.0", None)) > 30
    (True, True)
    """
    if token is None and not is_loopback(settings_host):
        return secrets.token_urlsafe(24)
    return token


def run(settings: Settings, *, name: str = "serve", open_browser: bool = False) -> None:
    """Serve until SIGINT or SIGTERM."""
    try:
        from layoutdm.serve.app import create_app
    except ModuleNotFoundError as error:
        raise LayoutdmError(
            f"the server needs {error.name}, which is not installed; "
            "install it with: pip install 'layoutdm[serve]'"
        ) from None
    _log_to_stderr()
    listening = _listen(settings)
    port = listening.getsockname()[1]
    settings = replace(settings, port=port)
    app = create_app(settings)
    server = _server(app.state.room, app)
    address = address_of(settings)
    print(f"layoutdm {name}: {address} (Ctrl+C stops it)", flush=True)
    if open_browser:
        # The page is asked for only when the server listens, which it does already.
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    server.run(sockets=[listening])


def address_of(settings: Settings) -> str:
    """What to open in a browser; where a token is needed, the address brings it.

    >>> address_of(Settings(port=8000))
    'http://127.0.0.1:8000/'
    """
    host = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(
        settings.host, settings.host
    )
    host = f"[{host}]" if ":" in host else host
    token = f"?token={settings.token}" if settings.token is not None else ""
    return f"http://{host}:{settings.port}/{token}"


def _listen(settings: Settings) -> socket.socket:
    """A listening socket, before the models are loaded: a port in use is told at once."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named as TCP, or asyncio would not switch off the delay of small packets: 40 ms an answer.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((settings.host, settings.port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise LayoutdmError(
            f"{settings.host}:{settings.port}: {error.strerror or error}; "
            "choose another --port (0 takes a free one) or --host"
        ) from None
    return listening


def _server(room: Room, app: object) -> uvicorn.Server:
    import uvicorn

    from layoutdm.serve.prompt import protocol

    class Server(uvicorn.Server):
        """Tells the room at the first signal, so that streams end and nothing new begins."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            room.stopping = True
            self.force_exit = self.should_exit and sig == signal.SIGINT  # Ctrl+C once more
            self.should_exit = True

    config = uvicorn.Config(
        app,  # type: ignore[arg-type]
        http=protocol(room.limits.header_seconds),
        log_config=None,
        access_log=False,  # the guard writes its own line, without the token of an address
        lifespan="on",
        server_header=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=PATIENCE,
        backlog=BACKLOG,
        ws="none",
    )
    return Server(config)


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    own = logging.getLogger("layoutdm.serve")
    own.addHandler(handler)
    own.setLevel(logging.INFO)
    own.propagate = False
    other = logging.getLogger("uvicorn.error")
    other.addHandler(handler)
    other.setLevel(logging.WARNING)
