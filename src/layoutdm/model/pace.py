"""How many layouts are drawn together before they are handed on."""

from __future__ import annotations

FIRST = 8  # layouts that are drawn together at first
SECONDS = 1.0  # that drawing together may take: so much is lost when a job is killed


def next_size(size: int, seconds: float, most: int) -> int:
    """How many to draw next, when `size` took so long: at most twice or half as many.

    More than a second's layouts would be lost when a job is killed, fewer would cost time. A
    layout is the same in any company, so the pace changes nothing else.

    >>> next_size(8, 0.1, 256), next_size(64, 1.6, 256), next_size(1, 30.0, 256)
    (16, 40, 1)
    """
    factor = min(max(SECONDS / max(seconds, 1e-9), 0.5), 2.0)
    return max(1, min(round(size * factor), most))
