"""How a server is set up: models, address, token, limits, and the folder of its jobs.

>>> Settings(host="127.0.0.1").is_local, Settings(host="0.0.0.0", token="open-sesame").is_local
(True, False)
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

from layoutdm.errors import LayoutdmError
from layoutdm.serve.limits import Limits

PORT = 8377
SHORTEST_TOKEN = 8


@dataclass(frozen=True)
class Settings:
    """Everything that the server needs to know before it starts."""

    models: tuple[str, ...] = ()  # names, folders or hub ids; none: the embedded ones
    host: str = "127.0.0.1"
    port: int = PORT
    token: str | None = None
    allowed_hosts: tuple[str, ...] = ()  # further names under which the server may be called
    limits: Limits = field(default_factory=Limits)
    jobs: Path | None = None  # None: there are no jobs
    threads: int | None = None  # of the processor; None: all cores
    linger: float = 0.002  # seconds in which requests that arrive together find each other
    static: Path | None = None  # None: the studio's files of the package

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise LayoutdmError(f"port must be from 0 to 65535, got {self.port}")
        if self.token is not None and not _sendable(self.token):
            raise LayoutdmError(
                f"token must have at least {SHORTEST_TOKEN} letters, digits or other signs of "
                "ASCII without spaces, so that it can be sent in a header"
            )
        if not self.is_local and self.token is None:
            raise LayoutdmError(
                f"host {self.host} can be reached by other machines, so a token is needed"
            )

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """localhost and the loopback addresses.

    >>> is_loopback("localhost"), is_loopback("127.0.0.7"), is_loopback("::1"), is_loopback("x.y")
    (True, True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _sendable(token: str) -> bool:
    return len(token) >= SHORTEST_TOKEN and all(33 <= ord(sign) <= 126 for sign in token)
