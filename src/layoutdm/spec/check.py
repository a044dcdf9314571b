"""What no layout could satisfy, found before sampling (filled in below)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from layoutdm.spec.problems import Problem

if TYPE_CHECKING:
    from layoutdm.spec.model import Spec


def check(spec: Spec, labels: Sequence[str], max_elements: int) -> list[Problem]:
    """All problems of a request for a model with these labels and this many elements."""
    return []
