"""The HTTP server: the same requests, results and sentences as everywhere else, over JSON.

    layoutdm serve --model rico25        # http://127.0.0.1:8377/v1/...

`create_app(Settings(...))` gives the ASGI application, `run(Settings(...))` the whole process.
docs/api.md shows every call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from layoutdm.serve.app import create_app
    from layoutdm.serve.limits import Limits
    from layoutdm.serve.run import run
    from layoutdm.serve.settings import Settings

__all__ = ["Limits", "Settings", "create_app", "run"]

_HOMES = {"Limits": "limits", "Settings": "settings", "create_app": "app", "run": "run"}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(f"layoutdm.serve.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'layoutdm.serve' has no attribute {name!r}")
