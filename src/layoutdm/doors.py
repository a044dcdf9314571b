"""Rooms that are front doors, too: `layoutdm.evaluate(...)` calls what the room is for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect import Signature


def make_callable(name: str, find: Callable[[], Callable[..., Any]]) -> None:
    """Let a package be called; what it calls is found, and imported, on the first call.

    `help` of the package shows how it is called.

    >>> import layoutdm
    >>> callable(layoutdm.evaluate)
    True
    """
    room = sys.modules[name]
    about = room.__doc__ or ""

    class Door(ModuleType):
        def __call__(self, *arguments: Any, **options: Any) -> Any:
            return find()(*arguments, **options)

        @property
        def __signature__(self) -> Signature:
            from inspect import signature

            return signature(find())

        @property
        def __doc__(self) -> str:  # type: ignore[override]
            from inspect import getdoc

            return f"{about}\n\n{name}{self.__signature__}\n\n{getdoc(find()) or ''}"

    room.__class__ = Door
